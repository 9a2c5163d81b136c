/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct arena;

/*! A listening socket and what it is bound to. */
struct listening {
	int fd;
	unsigned port;
	bool loopback;    /*!< only this machine reaches it */
	char address[80]; /*!< "127.0.0.1:8620", "[::1]:8620" */
};

/*!
 * \brief Binds and listens on "ADDR:PORT" or "[ADDR]:PORT"; ADDR may be a host name.
 *
 * \param option   What sets \a text, for the remedy: "--listen".
 * \param ret_why  On failure a sentence in \a a with the address and the remedy.
 * \retval E_SYNTAX \retval -errno
 */
int listen_on(const char *text, const char *option, struct arena *a, const char **ret_why,
              struct listening *ret_listening);

/*!
 * \brief Binds and listens on a Unix socket. The file of a socket on which nobody
 *        listens any more is replaced; anything else of that name is not.
 *
 * \param mode     Of the file: 0600, 0660.
 * \param ret_why  As above.
 * \retval -EADDRINUSE  Another process listens there. \retval -errno
 */
int listen_on_path(const char *path, mode_t mode, const char *option, struct arena *a,
                   const char **ret_why, struct listening *ret_listening);

/*! \brief The same for a socket that somebody else has bound: that of a socket unit. */
void listen_take(int fd, struct listening *ret_listening);
