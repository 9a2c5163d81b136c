/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/httpd/connections.h"

struct arena;
struct listening;
struct origin_rules;
struct reply;

/*!
 * The HTTP server under saguaro-gateway and saguaro-admin: libmicrohttpd, its threads, connections
 * with their times and numbers, strict heads, bodies with their limits. What the answers are is the
 * matter of a site.
 */
struct httpd;

/*! One request, from its target to its end. */
struct httpd_request {
	struct httpd *server;
	struct MHD_Connection *conn;
	struct connection *place; /*!< NULL: none */
	const char *method;
	const char *target; /*!< as sent */
	const char *fault;  /*!< why its head is refused, a sentence; NULL: it is not */
	bool has_body;
	uint64_t body_bytes; /*!< as announced; UINT64_MAX: no number that fits; 0: not */
	size_t body_max;     /*!< set by the site; 0: the body is dropped */
	int refused; /*!< E_OK, E_HTTP_LARGE, E_FULL (too many bodies at a time), -ENOMEM: why there is
	                no body */
	char *body; /*!< NULL: empty */
	size_t len;
	void *own; /*!< struct httpd_site own_bytes, zero at first */

	/* of server.c */
	size_t cap;
	uint64_t dropped;
	bool begun; /* the first call was made */
	uintptr_t target_end;
};

/*! What answers requests. */
struct httpd_site {
	size_t own_bytes; /*!< what it keeps of a request */
	/*! The head is there. \return false: the answer is sent at once, without the body, which closes
	 *  the connection; the site may set \a refused. */
	bool (*head)(void *ctx, struct httpd_request *rq);
	/*! Queues the answer, or suspends the connection and is called again when it is resumed. */
	enum MHD_Result (*answer)(void *ctx, struct httpd_request *rq);
	void (*end)(struct httpd_request *rq); /*!< frees what \a own has */
};

struct httpd_options {
	const struct httpd_site *site;
	void *ctx;
	const char *listen; /*!< "ADDR:PORT", "[ADDR]:PORT"; port 0: any */
	bool is_path;       /*!< or the path of a Unix socket */
	int socket;         /*!< that listens already, and is used instead; 0: none */
	unsigned
		threads; /*!< 0: one for each connection, where answers wait for others */
	size_t head_bytes;   /*!< of a request head and a reply head together */
	unsigned silent_s;   /*!< a connection may send and take nothing for so long */
	size_t bodies_bytes; /*!< of all requests, while they come */
	struct connections_options places;
	const struct MHD_OptionItem
		*tls; /*!< of tls_options(), in the arena; NULL: none */
};

/*!
 * \brief Listens and starts to answer. Signals must be blocked by the caller: the threads inherit
 * its mask.
 * \param o        Its strings, site and context are borrowed until httpd_stop().
 * \param ret_why  On failure a sentence with the remedy; in \a a.
 * \retval E_SYNTAX  The address does not parse. \retval -EAGAIN  The threads. \retval -errno
 */
int httpd_start(const struct httpd_options *o, struct arena *a, const char **ret_why,
                struct httpd **ret_httpd);

/*! \brief Ends after the answers being sent. No connection is suspended. NULL is fine. */
void httpd_stop(struct httpd *h);

/*! \brief Borrowed until httpd_stop(). */
const struct listening *httpd_listening(const struct httpd *h);
struct connections *httpd_connections(struct httpd *h); /*!< the same */

/*! \brief A header of the request; NULL: it has none. */
const char *httpd_header(const struct httpd_request *rq, const char *name);

/*! \brief Address of the client; NULL: not known. */
const struct sockaddr *httpd_client(struct MHD_Connection *conn);
int httpd_socket(struct MHD_Connection *conn); /*!< -1: not known */

/*! \brief Adds the headers that every answer has. */
void httpd_add_head(struct MHD_Response *r, const struct reply *reply,
                    const char *cache_control);
void httpd_add(struct MHD_Response *r, const char *name,
               const char *value); /*!< NULL, "": it is left out */

/*!
 * \brief Lets pages of another origin read an answer, where the rules name that origin (CORS).
 *        An answer with status 204 is that to OPTIONS.
 * \param takes  Headers that such a page may send. \param shows  Headers that it may read.
 */
void httpd_add_origin(struct MHD_Response *r, const struct httpd_request *rq,
                      const struct origin_rules *rules, const struct reply *reply,
                      const char *takes, const char *shows);

/*! \brief Queues a response, which is taken. */
enum MHD_Result httpd_queue(const struct httpd_request *rq, unsigned status,
                            struct MHD_Response *r);
