/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sa/sim/sim_wire.h"

/*!
 * The sockets between saguaro-sim and its clients, for both ends; sim_wire.h has the protocol.
 * Uses only the C library, because it is part of the preload library.
 */

/*! \brief SAGUARO_SIM_SOCKET, else saguaro-sim.sock in XDG_RUNTIME_DIR, else in /tmp with
 * the user's number. \param buf [108] */
void sim_socket_path(char *buf);

/*!
 * \brief Connects and sends the hello.
 *
 * \param ret_welcome      Welcome; on failure its text says what to do.
 * \param ret_data Descriptor of the reply, -1: none. May be NULL.
 * \return The connection, or -errno.
 */
int sim_socket_call(const char *path, const struct sim_hello *hello,
                    struct sim_welcome *ret_welcome, int *ret_data);

/*! \brief Sends one packet, with a descriptor or -1. \param flags of sendmsg.
 * \retval -errno */
int sim_socket_put(int fd, const void *head, size_t head_len, const void *body,
                   size_t body_len, int along, int flags);

/*!
 * \brief Receives one packet into two buffers; \a body may be NULL.
 * \param ret_along  Descriptor of the packet, -1: none. NULL: not wanted.
 * \return Bytes of the packet, also those that did not fit; 0: the other end is gone; -errno.
 */
ssize_t sim_socket_get(int fd, void *head, size_t head_len, void *body, size_t body_len,
                       int *ret_along, int flags);

/*! \brief Sends a header and a MAD, which is in the packet or in a memory file. \retval -errno */
int sim_socket_put_mad(int fd, const void *header, const void *mad, size_t len,
                       int flags);

/*! \brief A memory file with these bytes. \return descriptor or -errno */
int sim_socket_memory(const void *data, size_t len);
/*! \brief Reads a memory file whole. \param ret_data malloc()ed. \retval -EFBIG -errno */
int sim_socket_memory_read(int fd, size_t most, void **ret_data, size_t *ret_len);
