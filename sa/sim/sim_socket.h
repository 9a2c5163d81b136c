/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sa/sim/sim_wire.h"

/*!
 * The sockets between saguaro-sim and its clients, for both ends (sa/sim/sim_wire.h says what
 * goes over them). Depends on the C library alone: the preload library contains it.
 */

/*! \brief SAGUARO_SIM_SOCKET, else saguaro-sim.sock in XDG_RUNTIME_DIR, else in /tmp with
 * the user's number. \param buf [108] */
void sim_socket_path(char *buf);

/*!
 * \brief Connects and says hello.
 *
 * \param ret      Welcome; on failure its text is a sentence that names the remedy.
 * \param ret_data Descriptor that came along, -1: none. May be NULL.
 * \return The connection, or -errno.
 */
int sim_socket_call(const char *path, const struct sim_hello *hello,
                    struct sim_welcome *ret, int *ret_data);

/*! \brief One packet, with a descriptor to go along or -1. \param flags of sendmsg.
 * \retval -errno */
int sim_socket_put(int fd, const void *head, size_t head_len, const void *body,
                   size_t body_len, int along, int flags);

/*!
 * \brief Takes one packet into two pieces; \a body may be NULL.
 * \param ret_along  Descriptor that came, -1: none. NULL: it is not wanted.
 * \return Bytes that came, also those that had no room; 0: the other end is gone; -errno.
 */
ssize_t sim_socket_get(int fd, void *head, size_t head_len, void *body, size_t body_len,
                       int *ret_along, int flags);

/*! \brief A MAD behind its header: in the packet, or in a memory file. \retval -errno */
int sim_socket_put_mad(int fd, const void *header, const void *mad, size_t len,
                       int flags);

/*! \brief A memory file with these bytes. \return descriptor or -errno */
int sim_socket_memory(const void *data, size_t len);
/*! \brief Reads a memory file whole. \param ret_data malloc()ed. \retval -EFBIG -errno */
int sim_socket_memory_read(int fd, size_t most, void **ret_data, size_t *ret_len);
