/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*!
 * Requests as bytes, for each HTTP server: those that a proxy in front could read in another way get
 * status 400 and the end of the connection, those that look alike but are right get 200.
 */
struct raw_request {
	const char *what;
	const char *bytes;
	size_t len;
	unsigned status;
};

extern const struct raw_request raw_requests[];
extern const unsigned n_raw_requests;

/*!
 * \brief Sends a request over a new connection and checks the answer. A connection that stays open has to
 *        answer a second request.
 * \param fd  Of the connection; closed.
 */
void raw_request_check(const struct raw_request *r, int fd);

/*! \brief Sends bytes, all of them. \return false: the connection is gone. */
bool raw_send(int fd, const char *bytes, size_t len);

/*! \brief Reads until the server closes the connection. */
void raw_await_end(int fd);
