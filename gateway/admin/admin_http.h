/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "gateway/admin/admin.h"
#include "gateway/httpd/tls.h"

struct arena;

/*!
 * The write door as a site of the HTTP server (gateway/httpd/server.h). A thread for each
 * connection, because an answer waits for saguarod.
 */
struct admin_http_options {
	const char *listen; /*!< "ADDR:PORT", or the path of a Unix socket */
	struct tls_files tls; /*!< of an address */
	uint32_t connections, per_address, request_s;
	struct admin *admin; /*!< borrowed until admin_http_stop() */
};

struct admin_http;

/*!
 * \brief Listens and starts to answer. Signals must be blocked by the caller.
 * \param ret_why  On failure a sentence; in \a a.
 * \retval E_SYNTAX  An address or a PEM file. \retval -errno
 */
int admin_http_start(const struct admin_http_options *o, struct arena *a,
                     const char **ret_why, struct admin_http **ret_http);
void admin_http_stop(struct admin_http *h); /*!< NULL is fine */

/*! \brief "https://127.0.0.1:8621", "unix:/path". Borrowed until admin_http_stop(). */
const char *admin_http_address(const struct admin_http *h);
unsigned admin_http_port(const struct admin_http *h); /*!< 0: a Unix socket */
