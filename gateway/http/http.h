/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct page;

/*!
 * The resources of api.h and the page as a site of the HTTP server (gateway/httpd/server.h).
 *
 * A pool of threads, each with its own epoll set and its own reader of the snapshot, so an
 * answer takes no lock.
 */
struct http_options {
	const char *listen; /*!< "ADDR:PORT", "[ADDR]:PORT"; port 0: any */
	int socket;         /*!< that listens already, and is used instead; 0: none */
	const char *snapshot_dir;
	uint32_t threads;     /*!< 1-64 */
	uint32_t per_address; /*!< connections from one address, 0: no limit of its own */
	uint32_t fresh_ms;    /*!< until the first request; 0: CONNECTIONS_FRESH_MS */
	uint32_t
		listeners; /*!< to events, at a time; they are no connections of threads */
	uint32_t listeners_per_address; /*!< of them, 0: no limit of its own */
	const char *
		program; /*!< `saguaro` for what-ifs and checks; NULL: where it is installed */
	uint32_t job_seconds; /*!< of one of them, 0: JOB_SECONDS */
	const struct page *page; /*!< at "/" for browsers, or NULL; borrowed likewise */
	const char *admin_url; /*!< of saguaro-admin, of origin_is_safe(), or NULL; borrowed likewise */
	const char *hosts,
		*origins; /*!< struct origin_rules; borrowed until http_stop() */
};

struct http;

/*!
 * \brief Binds, listens and starts the threads that answer.
 *
 * Signals must be blocked by the caller: the threads inherit its mask.
 *
 * \param ret_why  On failure a sentence that names the address and the remedy; in \a a.
 * \retval E_SYNTAX  The address does not parse. \retval -errno  Bind failed.
 */
int http_start(const struct http_options *o, struct arena *a, const char **ret_why,
               struct http **ret_http);

/*! \brief Ends after the answers being sent; NULL is fine. */
void http_stop(struct http *h);

/*! \brief Address in use, "127.0.0.1:8620" with the real port. Borrowed until
 * http_stop(). */
const char *http_address(const struct http *h);
unsigned http_port(const struct http *h);

/*!
 * \brief Does it have something to answer with? For the thread that started it.
 * \param ret_why  If not, the sentence of source_pin().
 * \param ret_epoch  The newest epoch.
 * \retval E_NOTREADY  Nothing is published. \retval -EACCES E_LAYOUT E_FOREIGN
 */
int http_look(struct http *h, const char **ret_why, uint64_t *ret_epoch);

/*! \brief Can other machines reach it? */
bool http_is_public(const struct http *h);
