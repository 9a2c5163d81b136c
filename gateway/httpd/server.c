/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Three properties of libmicrohttpd shape this file. If a reply is queued in the first call
 * of the access handler, it closes the connection. So replies are queued in the second
 * call, except those that refuse a body, where the connection shall be closed. If the client is
 * still sending its body then, the kernel may reset the connection before the client has read the
 * reply. So a site may let a body that it does not want be read and dropped.
 *
 * An epoll thread with exactly 128 ready descriptors waits for a further event before it serves
 * them, so a site with epoll threads gives each of them fewer connections.
 *
 * The URI callback keeps the request target as it was sent, because libmicrohttpd's own
 * decoding accepts malformed escapes. The library would take the parameters apart after that
 * callback, and it never answers a request with more of them than fit its memory (0.9.75). So
 * the callback makes one parameter of all in the library's copy.
 */
#include "gateway/httpd/server.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/listen.h"
#include "conf/base/log.h"
#include "conf/base/text.h"
#include "gateway/httpd/strict.h"
#include "gateway/view/body.h"
#include "gateway/view/origin.h"
#include "gateway/view/problem.h"

enum {
	STACK_BYTES = 1 << 20,
	BODY_LEAST = 16 << 10,
	DROP_MAX = 16 << 20 /* bytes of a body above its most that are read and dropped */
};

struct httpd {
	struct MHD_Daemon *daemon;
	struct listening listening;
	char *path; /* of the Unix socket, or NULL */
	const struct httpd_site *site;
	void *ctx;
	size_t bodies_bytes;
	_Atomic size_t bodies; /* bytes reserved for request bodies */
	struct connections *connections;
};

/* A request, what its site keeps of it, and behind that its target. */
struct exchange {
	struct httpd_request rq;
	_Alignas(max_align_t) char own[];
};

/* ---- connections ---- */

static struct connection *place_of(struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

int httpd_socket(struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info != NULL ? info->connect_fd : -1;
}

const struct sockaddr *httpd_client(struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info != NULL ? info->client_addr : NULL;
}

static void drop_body(struct httpd_request *rq)
{
	atomic_fetch_sub(&rq->server->bodies, rq->cap);
	free(rq->body);
	rq->body = NULL;
	rq->len = rq->cap = 0;
}

static void request_free(struct httpd_request *rq)
{
	if (rq != NULL) {
		rq->server->site->end(rq);
		drop_body(rq);
	}
	free(rq);
}

/* The library tells of the end of a request by end(), but not of every one: among some hundred thousand that
 * a fuzzer had damaged, four were left. So the place knows its request, and the next one or the end of the
 * connection frees it. */
static void keep_request(struct connection *place, struct httpd_request *rq)
{
	if (place != NULL) {
		request_free(place->request);
		place->request = rq;
	}
}

static void on_connection(void *cls, struct MHD_Connection *conn, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
	struct httpd *h = cls;
	int fd = httpd_socket(conn);

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		keep_request(*context, NULL);
		connections_remove(h->connections, *context);
		*context = NULL;
	} else if (fd >= 0) {
		*context = connections_add(h->connections, fd, httpd_client(conn),
		                           monotonic_ms());
		connections_pace(h->connections);
	}
}

/* ---- requests ---- */

/* Room for so many bytes more, out of what all requests may take. */
static int reserve(struct httpd_request *rq, size_t more)
{
	struct httpd *h = rq->server;
	size_t cap = rq->cap == 0 ? BODY_LEAST : rq->cap;

	if (rq->len + more > rq->body_max) {
		return E_HTTP_LARGE;
	}
	while (cap < rq->len + more) {
		cap *= 2;
	}
	if (cap == rq->cap) {
		return E_OK;
	}
	if (atomic_fetch_add(&h->bodies, cap - rq->cap) + cap - rq->cap >
	    h->bodies_bytes) {
		atomic_fetch_sub(&h->bodies, cap - rq->cap);
		return E_FULL;
	}
	char *body = realloc(rq->body, cap);
	if (body == NULL) {
		atomic_fetch_sub(&h->bodies, cap - rq->cap);
		return -ENOMEM;
	}
	rq->body = body;
	rq->cap = cap;
	return E_OK;
}

/* A piece of the body. One that is refused is read to its end, but not kept. */
static enum MHD_Result take_body(struct httpd_request *rq, const char *data, size_t len)
{
	if (rq->refused == E_OK) {
		rq->refused = reserve(rq, len);
		if (rq->refused == E_OK) {
			memcpy(rq->body + rq->len, data, len);
			rq->len += len;
			return MHD_YES;
		}
		drop_body(rq);
	}
	rq->dropped += len;
	return rq->dropped <= DROP_MAX + (uint64_t)rq->body_max ? MHD_YES : MHD_NO;
}

static void read_head(struct httpd_request *rq, struct MHD_Connection *conn,
                      const char *method, const char *version)
{
	rq->conn = conn;
	rq->method = method;
	rq->begun = true;
	rq->fault = strict_fault(conn, method, rq->target_end, version);
	const char *length = httpd_header(rq, MHD_HTTP_HEADER_CONTENT_LENGTH);
	if (length != NULL && text_u64(length, UINT64_MAX, &rq->body_bytes) != E_OK) {
		rq->body_bytes = UINT64_MAX;
	}
	rq->has_body = rq->body_bytes > 0 ||
	               httpd_header(rq, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *conn, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **con_cls)
{
	struct httpd *h = cls;
	struct httpd_request *rq = *con_cls;

	(void)url;
	if (rq == NULL) {
		return MHD_NO; /* out of memory */
	}
	if (!rq->begun) {
		read_head(rq, conn, method, version);
		connections_enter(rq->place,
		                  rq->has_body ? CONNECTION_BODY : CONNECTION_ANSWER,
		                  monotonic_ms());
		return h->site->head(h->ctx, rq) ? MHD_YES : h->site->answer(h->ctx, rq);
	}
	if (*upload_size != 0) {
		size_t len = *upload_size;

		*upload_size = 0;
		return take_body(rq, upload, len);
	}
	if (rq->has_body) { /* it is there */
		connections_enter(rq->place, CONNECTION_ANSWER, monotonic_ms());
	}
	return h->site->answer(h->ctx, rq);
}

static void *begin(void *cls, const char *target, struct MHD_Connection *conn)
{
	struct httpd *h = cls;
	size_t own = h->site->own_bytes, bytes = strlen(target) + 1;
	struct exchange *x = calloc(1, sizeof(*x) + own + bytes);
	struct connection *place = place_of(conn);

	keep_request(place, x != NULL ? &x->rq : NULL);
	if (x != NULL) {
		x->rq.server = h;
		x->rq.place = place;
		x->rq.own = x->own;
		x->rq.target = memcpy(x->own + own, target, bytes);
		x->rq.target_end = (uintptr_t)target + bytes - 1;
	}
	/* the library's own copy, which it changes itself after this call */
	for (char *at = (char *)target; (at = strchr(at, '&')) != NULL;) {
		*at = ' ';
	}
	return x != NULL ? &x->rq : NULL;
}

static void end(void *cls, struct MHD_Connection *conn, void **con_cls,
                enum MHD_RequestTerminationCode why)
{
	struct connection *place = place_of(conn);

	(void)cls;
	(void)why;
	connections_enter(place, CONNECTION_IDLE, monotonic_ms());
	if (place != NULL && place->request == *con_cls) {
		place->request = NULL;
	}
	request_free(*con_cls);
	*con_cls = NULL;
}

const char *httpd_header(const struct httpd_request *rq, const char *name)
{
	return MHD_lookup_connection_value(rq->conn, MHD_HEADER_KIND, name);
}

/* ---- answers ---- */

void httpd_add(struct MHD_Response *r, const char *name, const char *value)
{
	if (value != NULL && value[0] != '\0') {
		MHD_add_response_header(r, name, value);
	}
}

void httpd_add_head(struct MHD_Response *r, const struct reply *reply,
                    const char *cache_control)
{
	char number[16];

	if (reply->status != MHD_HTTP_NOT_MODIFIED) {
		httpd_add(r, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
	}
	httpd_add(r, MHD_HTTP_HEADER_CACHE_CONTROL, cache_control);
	httpd_add(r, MHD_HTTP_HEADER_ETAG, reply->etag);
	httpd_add(r, MHD_HTTP_HEADER_ALLOW, reply->allow);
	httpd_add(r, "X-Content-Type-Options", "nosniff");
	if (reply->retry_after != 0) {
		snprintf(number, sizeof(number), "%u", reply->retry_after);
		httpd_add(r, MHD_HTTP_HEADER_RETRY_AFTER, number);
	}
}

void httpd_add_origin(struct MHD_Response *r, const struct httpd_request *rq,
                      const struct origin_rules *rules, const struct reply *reply,
                      const char *takes, const char *shows)
{
	const char *origin = httpd_header(rq, MHD_HTTP_HEADER_ORIGIN);

	if (rules->origins == NULL) {
		return;
	}
	httpd_add(r, MHD_HTTP_HEADER_VARY, "Origin");
	if (!origin_fits(rules, origin)) {
		return;
	}
	httpd_add(r, "Access-Control-Allow-Origin", origin);
	httpd_add(r, "Access-Control-Expose-Headers", shows);
	if (reply->status == MHD_HTTP_NO_CONTENT) {
		httpd_add(r, "Access-Control-Allow-Methods", reply->allow);
		httpd_add(r, "Access-Control-Allow-Headers", takes);
		httpd_add(r, "Access-Control-Max-Age", "600");
	}
}

enum MHD_Result httpd_queue(const struct httpd_request *rq, unsigned status,
                            struct MHD_Response *r)
{
	enum MHD_Result queued = MHD_queue_response(rq->conn, status, r);

	MHD_destroy_response(r);
	return queued;
}

/* ---- begin and end ---- */

__attribute__((format(printf, 2, 0))) static void log_library(void *cls, const char *fmt,
                                                              va_list ap)
{
	char text[256];

	(void)cls;
	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\r\n")] = '\0';
	text_printable(text);
	log_debug("httpd", "libmicrohttpd: %s", text);
}

static int listen_there(struct httpd *h, const struct httpd_options *o, struct arena *a,
                        const char **ret_why)
{
	int ret;

	if (o->socket > 0) {
		listen_take(o->socket, &h->listening);
		return E_OK;
	}
	if (!o->is_path) {
		return listen_on(o->listen, "--listen", a, ret_why, &h->listening);
	}
	ret = listen_on_path(o->listen, 0660, "--listen", a, ret_why, &h->listening);
	if (ret == E_OK && (h->path = strdup(o->listen)) == NULL) {
		unlink(o->listen);
		ret = -ENOMEM;
	}
	return ret;
}

static int start_daemon(struct httpd *h, const struct httpd_options *o, struct arena *a,
                        const char **ret_why)
{
	unsigned flags =
		MHD_USE_ITC | MHD_USE_ERROR_LOG |
		(o->threads != 0 ? MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO |
	                                   MHD_ALLOW_SUSPEND_RESUME
	                         : MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
	                                   MHD_USE_THREAD_PER_CONNECTION) |
		(o->tls != NULL ? MHD_USE_TLS : 0);
	const struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };
	const struct MHD_OptionItem threads[] = {
		o->threads != 0 ? (struct MHD_OptionItem){ MHD_OPTION_THREAD_POOL_SIZE,
		                                           (intptr_t)o->threads, NULL }
				: (struct MHD_OptionItem){ MHD_OPTION_THREAD_STACK_SIZE,
		                                           STACK_BYTES, NULL },
		{ MHD_OPTION_END, 0, NULL }
	};

	/* clang-format off */
	h->daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, h,
		MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,
		MHD_OPTION_LISTEN_SOCKET, h->listening.fd,
		MHD_OPTION_CONNECTION_LIMIT, o->places.most + o->places.spare,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->head_bytes,
		MHD_OPTION_CONNECTION_TIMEOUT, o->silent_s,
		MHD_OPTION_STRICT_FOR_CLIENT, (int)STRICT_LEVEL,
		MHD_OPTION_URI_LOG_CALLBACK, begin, h,
		MHD_OPTION_NOTIFY_COMPLETED, end, h,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
		MHD_OPTION_ARRAY, threads,
		MHD_OPTION_ARRAY, o->tls != NULL ? o->tls : none,
		MHD_OPTION_END);
	/* clang-format on */
	if (h->daemon != NULL) {
		return E_OK;
	}
	*ret_why =
		o->threads != 0
			? arena_printf(
				  a,
				  "cannot start %u server threads; try fewer with --threads, or raise the limit of open files",
				  o->threads)
			: "cannot start the server";
	return -EAGAIN;
}

int httpd_start(const struct httpd_options *o, struct arena *a, const char **ret_why,
                struct httpd **ret_httpd)
{
	struct httpd *h = calloc(1, sizeof(*h));
	int ret;

	*ret_why = err_text(-ENOMEM);
	if (h == NULL) {
		return -ENOMEM;
	}
	h->listening.fd = -1;
	h->site = o->site;
	h->ctx = o->ctx;
	h->bodies_bytes = o->bodies_bytes;
	ret = listen_there(h, o, a, ret_why);
	if (ret == E_OK) {
		struct connections_options places = o->places;

		places.paced = o->threads == 0;
		ret = connections_new(&places, &h->connections);
		*ret_why = err_text(ret);
	}
	if (ret == E_OK) {
		ret = start_daemon(h, o, a, ret_why);
	}
	if (ret != E_OK) {
		httpd_stop(h);
		return ret;
	}
	*ret_httpd = h;
	return E_OK;
}

void httpd_stop(struct httpd *h)
{
	if (h == NULL) {
		return;
	}
	if (h->daemon != NULL) {
		MHD_stop_daemon(
			h->daemon); /* closes the listening socket, ends the threads */
	} else if (h->listening.fd >= 0) {
		close(h->listening.fd);
	}
	connections_free(h->connections);
	if (h->path != NULL) {
		unlink(h->path);
	}
	free(h->path);
	free(h);
}

const struct listening *httpd_listening(const struct httpd *h)
{
	return &h->listening;
}

struct connections *httpd_connections(struct httpd *h)
{
	return h->connections;
}
