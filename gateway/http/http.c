/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Three properties of libmicrohttpd shape this file. If a reply is queued in the first call
 * of the access handler, it closes the connection. So replies are queued in the second
 * call, except those that refuse a body, where the connection shall be closed. An epoll
 * thread with exactly 128 ready descriptors waits for a further event before it serves
 * them, so a thread never has that many.
 *
 * A feed of events has no end, and its connection would take one of those places for good.
 * So its socket is duplicated and handed to another thread (feeds.h), and the library is
 * told to close the connection. With MHD_USE_TURBO it closes its descriptor without a
 * shutdown of the socket, and it takes the descriptor out of its epoll set first.
 *
 * The URI callback keeps the request target as it was sent, because libmicrohttpd's own
 * decoding accepts malformed escapes. The library would take the parameters apart after that
 * callback, and it never answers a request with more of them than fit its memory (0.9.75). So
 * the callback makes one parameter of all in the library's copy.
 */
#include "gateway/http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/listen.h"
#include "gateway/api/api.h"
#include "gateway/api/metrics.h"
#include "gateway/api/stream.h"
#include "gateway/http/feeds.h"
#include "gateway/http/jobs.h"
#include "gateway/http/sending.h"
#include "gateway/httpd/connections.h"
#include "gateway/httpd/strict.h"
#include "gateway/view/json_text.h"
#include "gateway/view/origin.h"
#include "gateway/view/problem.h"
#include "gateway/view/source.h"
#include "gateway/web/page.h"

enum {
	CONNECTIONS_PER_THREAD =
		120, /* under 128 with the listening socket and the wake-up descriptor */
	CONNECTION_BYTES = 32 * 1024, /* request head and reply head */
	IDLE_SECONDS = 30,
	BODIES_BYTES = 64 << 20, /* of all requests, while they come */
	STREAMS_PER_ADDRESS = STREAMS_MAX / 2
};

struct http {
	struct MHD_Daemon *daemon;
	struct listening listening;
	struct source *source; /* never used for answers: threads join it */
	pthread_key_t key;     /* struct api_thread of each server thread */
	bool has_key;
	struct connections *connections;
	struct feeds *feeds;
	struct jobs *jobs;
	_Atomic size_t bodies; /* bytes reserved for request bodies */
	const struct page *page;   /* borrowed; NULL: none */
	struct origin_rules rules; /* borrowed, but the name of this machine */
	char machine[256];
	struct http_stats stats;
};

/* One request, from handler call to handler call. */
struct exchange {
	struct http *http;
	struct connection *place; /* NULL: none */
	bool begun;  /* the first call was made */
	int refused; /* why its body is not kept; E_OK: it is */
	char *body;  /* as far as it has come */
	size_t len, cap, max;
	/* of a request that a job answers: */
	struct MHD_Connection *conn; /* suspended meanwhile */
	unsigned route;
	bool finished;
	struct job_result result;
	uintptr_t target_end; /* where it came in */
	char target[];
};

static void thread_free(void *data)
{
	struct api_thread *t = data;

	api_thread_done(t);
	source_free(t->source);
	free(t);
}

/* State of the calling thread, made when it first answers. */
static struct api_thread *thread_state(struct http *h)
{
	struct api_thread *t = pthread_getspecific(h->key);

	if (t != NULL) {
		return t;
	}
	t = calloc(1, sizeof(*t));
	if (t == NULL) {
		return NULL;
	}
	t->stats = &h->stats;
	t->source = source_join(h->source);
	if (t->source == NULL || pthread_setspecific(h->key, t) != 0) {
		thread_free(t);
		return NULL;
	}
	return t;
}

static void add_header(struct MHD_Response *r, const char *name, const char *value)
{
	if (value != NULL && value[0] != '\0') {
		MHD_add_response_header(r, name, value);
	}
}

static void add_headers(struct MHD_Response *r, const struct api_reply *reply)
{
	char number[24];

	if (reply->status != 304) {
		add_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
	}
	add_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	add_header(r, MHD_HTTP_HEADER_ETAG, reply->etag);
	add_header(r, MHD_HTTP_HEADER_ALLOW, reply->allow);
	add_header(r, "X-Content-Type-Options", "nosniff");
	if (reply->epoch != 0) {
		*json_put_number(number, reply->epoch) = '\0';
		add_header(r, "Fabric-Epoch", number);
	}
	if (reply->retry_after != 0) {
		snprintf(number, sizeof(number), "%u", reply->retry_after);
		add_header(r, MHD_HTTP_HEADER_RETRY_AFTER, number);
	}
}

/* Copies a part of a target; what may not stand in a header between < and > is escaped. */
static char *put_target(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char ch = (unsigned char)from[i];

		if (ch > ' ' && ch < 0x7f && strchr("<>\"", ch) == NULL) {
			*to++ = (char)ch;
		} else {
			to += sprintf(to, "%%%02X", ch);
		}
	}
	return to;
}

/* Link to the next page: this target with another cursor. Without memory it has none. */
static void add_link(struct MHD_Response *r, const char *target, const char *cursor)
{
	size_t path = strcspn(target, "?");
	const char *p = target + path;
	char *link, *to;

	if (cursor[0] == '\0' ||
	    (link = malloc(3 * strlen(target) + strlen(cursor) + 32)) == NULL) {
		return;
	}
	to = link;
	*to++ = '<';
	to = put_target(to, target, path);
	*to++ = '?';
	while (*p != '\0') { /* p: in front of a parameter */
		size_t n = strcspn(p + 1, "&");

		if (n > 0 && strncmp(p + 1, "cursor=", 7) != 0) {
			to = put_target(to, p + 1, n);
			*to++ = '&';
		}
		p += 1 + n;
	}
	sprintf(to, "cursor=%s>; rel=\"next\"", cursor);
	add_header(r, MHD_HTTP_HEADER_LINK, link);
	free(link);
}

/* Lets pages of another origin read the answer, where the operator says so. */
static void add_origin(struct MHD_Response *r, const struct http *h,
                       struct MHD_Connection *conn, const struct api_reply *reply)
{
	const char *origin = MHD_lookup_connection_value(conn, MHD_HEADER_KIND,
	                                                 MHD_HTTP_HEADER_ORIGIN);

	if (h->rules.origins == NULL) {
		return;
	}
	add_header(r, MHD_HTTP_HEADER_VARY, "Origin");
	if (!origin_fits(&h->rules, origin)) {
		return;
	}
	add_header(r, "Access-Control-Allow-Origin", origin);
	add_header(r, "Access-Control-Expose-Headers", "ETag, Fabric-Epoch, Link");
	if (reply->status == MHD_HTTP_NO_CONTENT) { /* the answer to OPTIONS */
		add_header(r, "Access-Control-Allow-Methods", reply->allow);
		add_header(r, "Access-Control-Allow-Headers",
		           "Accept, Content-Type, If-None-Match, Last-Event-ID");
		add_header(r, "Access-Control-Max-Age", "600");
	}
}

static const char *header_of(struct MHD_Connection *conn, const char *name)
{
	return MHD_lookup_connection_value(conn, MHD_HEADER_KIND, name);
}

/* The place of a connection; NULL: none. */
static struct connection *place_of(struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

/* Sends a reply; its body or stream is taken. */
static enum MHD_Result send_reply(const struct http *h, struct MHD_Connection *conn,
                                  const char *method, const char *target,
                                  struct api_reply *reply)
{
	enum encoding encoding =
		encoding_choose(header_of(conn, MHD_HTTP_HEADER_ACCEPT_ENCODING));
	struct MHD_Response *r = sending_new(reply, &encoding, place_of(conn));

	if (r == NULL) {
		body_clear(&reply->body);
		stream_free(reply->stream);
		return MHD_NO;
	}
	add_headers(r, reply);
	add_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, encoding_name(encoding));
	add_header(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	add_link(r, target, reply->next_cursor);
	if (page_shares(h->page, target)) {
		add_header(r, MHD_HTTP_HEADER_VARY, "Accept");
	}
	add_origin(r, h, conn, reply);
	if (reply->stream != NULL && strcmp(method, "HEAD") == 0) {
		/* else the end of the chunks follows, which the client takes for the
		 * begin of its next answer (0.9.75) */
		MHD_set_response_options(r, MHD_RF_HTTP_VERSION_1_0_ONLY, MHD_RO_END);
	}
	enum MHD_Result queued = MHD_queue_response(conn, reply->status, r);
	MHD_destroy_response(r);
	return queued;
}

/* Does the head announce a body? */
static bool has_body(struct MHD_Connection *conn)
{
	const char *length = MHD_lookup_connection_value(conn, MHD_HEADER_KIND,
	                                                 MHD_HTTP_HEADER_CONTENT_LENGTH);
	return (length != NULL && strcmp(length, "0") != 0) ||
	       MHD_lookup_connection_value(conn, MHD_HEADER_KIND,
	                                   MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
}

static enum MHD_Result refuse_as(struct http *h, struct MHD_Connection *conn,
                                 const char *method, int err, const char *detail)
{
	struct problem p = { .err = err, .detail = detail };
	struct api_reply reply = { .status = gw_status(err),
		                   .content_type = "application/problem+json",
		                   .retry_after = gw_retry_after(err) };

	body_json(&reply.body, problem_json(&p, 0));
	http_stats_count(&h->stats, api_resources.n, reply.status, 0);
	return send_reply(h, conn, method, "", &reply);
}

static enum MHD_Result refuse(struct http *h, struct MHD_Connection *conn,
                              const char *method, int err)
{
	const char *detail =
		err == E_HTTP_HOST
			? "the Host header names another server; ask by address, or let "
			  "the name in with --allow-host"
		: err == E_HTTP_BODY  ? "this resource takes no request body"
		: err == E_HTTP_LARGE ? "the body is longer than this resource takes"
		: has_body(conn)
			? "too many request bodies at a time"
			: "there are enough streams to this address; end one first";

	return refuse_as(h, conn, method, err, detail);
}

/* Room for so many bytes more, out of what all requests may take. */
static int reserve(struct exchange *x, size_t more)
{
	size_t cap = x->cap == 0 ? 16384 : x->cap;

	if (x->len + more > x->max) {
		return E_HTTP_LARGE;
	}
	while (cap < x->len + more) {
		cap *= 2;
	}
	if (cap == x->cap) {
		return E_OK;
	}
	if (atomic_fetch_add(&x->http->bodies, cap - x->cap) + cap - x->cap >
	    BODIES_BYTES) {
		atomic_fetch_sub(&x->http->bodies, cap - x->cap);
		return E_FULL;
	}
	char *body = realloc(x->body, cap);
	if (body == NULL) {
		atomic_fetch_sub(&x->http->bodies, cap - x->cap);
		return -ENOMEM;
	}
	x->body = body;
	x->cap = cap;
	return E_OK;
}

static void drop_body(struct exchange *x)
{
	atomic_fetch_sub(&x->http->bodies, x->cap);
	free(x->body);
	x->body = NULL;
	x->len = x->cap = 0;
}

/* A piece of the body. One that is refused is read to its end, but not kept. */
static void take_body(struct exchange *x, const char *data, size_t len)
{
	if (x->refused == E_OK) {
		x->refused = reserve(x, len);
		if (x->refused == E_OK) {
			memcpy(x->body + x->len, data, len);
			x->len += len;
		} else {
			drop_body(x);
		}
	}
}

static enum MHD_Result refuse_feed(const struct http *h, struct MHD_Connection *conn,
                              const char *method, int err)
{
	struct problem p = {
		.err = E_FULL,
		.detail = err == E_FULL ? "there are enough listeners; see --listeners"
		                        : "there is no descriptor for one more listener"
	};
	struct api_reply reply = { .status = 503,
		                   .content_type = "application/problem+json",
		                   .retry_after = 30 };

	body_json(&reply.body, problem_json(&p, 0));
	return send_reply(h, conn, method, "", &reply);
}

/* Lets the thread of feeds have the connection. */
static enum MHD_Result hand_over(struct http *h, struct MHD_Connection *conn,
                                 const char *method, struct api_reply *reply)
{
	const union MHD_ConnectionInfo *socket =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *from =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	int fd, err;

	if (strcmp(method, "HEAD") == 0) { /* the head alone */
		free(reply->feed);
		reply->feed = NULL;
		return send_reply(h, conn, method, "", reply);
	}
	connections_leave(h->connections, place_of(conn));
	fd = socket != NULL ? fcntl(socket->connect_fd, F_DUPFD_CLOEXEC, 0) : -1;
	err = fd >= 0 ? feeds_add(h->feeds, fd, from != NULL ? from->client_addr : NULL,
	                          reply->feed)
	              : -EMFILE;
	free(reply->feed);
	if (err == E_OK) {
		return MHD_NO;
	}
	if (fd >= 0) {
		close(fd);
	}
	return refuse_feed(h, conn, method, err);
}

/* Of the thread of the jobs. */
static void job_done(void *arg, struct job_result *r)
{
	struct exchange *x = arg;

	x->result = *r;
	x->finished = true;
	MHD_resume_connection(x->conn);
}

/* Lets the connection sleep until a job has its answer. */
static enum MHD_Result start_job(struct http *h, struct MHD_Connection *conn,
                                 struct exchange *x, struct api_reply *reply)
{
	x->conn = conn;
	x->route = reply->route;
	MHD_suspend_connection(conn);
	jobs_start(h->jobs, reply->job, reply->job_file, job_done, x);
	arena_free(reply->arena);
	return MHD_YES;
}

static enum MHD_Result answer_by_job(struct http *h, struct MHD_Connection *conn,
                                     const char *method, struct exchange *x)
{
	struct api_thread *t = thread_state(h);
	struct api_reply reply;

	if (t == NULL) {
		return MHD_NO;
	}
	api_job_reply(t, x->route, x->result.err, x->result.exit_status, &x->result.out,
	              x->result.error.data != NULL ? x->result.error.data : "", &reply);
	x->result.out = (struct body){ .len = 0 };
	return send_reply(h, conn, method, x->target, &reply);
}

/* Sends a file of the page, which lives as long as the server. */
static enum MHD_Result send_page(struct http *h, struct MHD_Connection *conn,
                                 const struct page_file *f)
{
	const char *known = header_of(conn, MHD_HTTP_HEADER_IF_NONE_MATCH);
	bool same = known != NULL && api_etag_matches(known, f->etag);
	unsigned status = same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK;
	struct MHD_Response *r = MHD_create_response_from_buffer(
		same ? 0 : f->len, (void *)f->data, MHD_RESPMEM_PERSISTENT);

	if (r == NULL) {
		return MHD_NO;
	}
	if (!same) {
		add_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, f->type);
		add_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, f->encoding);
	}
	add_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	add_header(r, MHD_HTTP_HEADER_ETAG, f->etag);
	add_header(r, MHD_HTTP_HEADER_VARY, f->vary);
	add_header(r, "Content-Security-Policy", PAGE_CSP);
	add_header(r, "Referrer-Policy", "no-referrer");
	add_header(r, "X-Content-Type-Options", "nosniff");
	enum MHD_Result queued = MHD_queue_response(conn, status, r);
	MHD_destroy_response(r);
	http_stats_count(&h->stats, api_resources.n, status, 0);
	return queued;
}

static enum MHD_Result answer(struct http *h, struct MHD_Connection *conn,
                              const char *method, struct exchange *x)
{
	struct api_thread *t = thread_state(h);

	if (t == NULL) {
		return MHD_NO;
	}
	if (!origin_host_fits(&h->rules, header_of(conn, MHD_HTTP_HEADER_HOST))) {
		return refuse(h, conn, method, E_HTTP_HOST);
	}
	const struct page_request page = {
		.method = method,
		.target = x->target,
		.accept = header_of(conn, MHD_HTTP_HEADER_ACCEPT),
		.accept_encoding = header_of(conn, MHD_HTTP_HEADER_ACCEPT_ENCODING),
	};
	struct page_file file;
	if (page_find(h->page, &page, &file)) {
		return send_page(h, conn, &file);
	}
	struct api_request rq = {
		.method = method,
		.target = x->target,
		.if_none_match = header_of(conn, MHD_HTTP_HEADER_IF_NONE_MATCH),
		.accept = header_of(conn, MHD_HTTP_HEADER_ACCEPT),
		.last_event_id = header_of(conn, "Last-Event-ID"),
		.content_type = header_of(conn, MHD_HTTP_HEADER_CONTENT_TYPE),
		.encoding = encoding_name(encoding_choose(
			header_of(conn, MHD_HTTP_HEADER_ACCEPT_ENCODING))),
		.body = x->body,
		.body_len = x->len,
	};
	struct api_reply reply;
	if (atomic_load(&h->stats.streams) >= STREAMS_MAX) {
		connections_cut_stalled(h->connections, monotonic_ms());
	}
	api_serve(t, &rq, &reply);
	if (reply.job != NULL) {
		return start_job(h, conn, x, &reply);
	}
	if (reply.stream != NULL &&
	    connections_streams(h->connections, x->place) >= STREAMS_PER_ADDRESS) {
		stream_free(reply.stream);
		return refuse(h, conn, method, E_FULL);
	}
	return reply.feed != NULL ? hand_over(h, conn, method, &reply)
	                          : send_reply(h, conn, method, x->target, &reply);
}

/* The head of a request is there. A head that could be read in two ways and a body that may not
 * come are answered at once, which closes the connection. */
static enum MHD_Result begin_exchange(struct http *h, struct MHD_Connection *conn,
                                      const char *method, const char *version,
                                      struct exchange *x)
{
	const char *fault = strict_fault(conn, method, x->target_end, version);
	const char *length = header_of(conn, MHD_HTTP_HEADER_CONTENT_LENGTH);
	bool body = has_body(conn);

	x->begun = true;
	x->place = place_of(conn);
	connections_enter(x->place, body ? CONNECTION_BODY : CONNECTION_ANSWER,
	                  monotonic_ms());
	if (fault != NULL) {
		return refuse_as(h, conn, method, E_SYNTAX, fault);
	}
	int err = body ? api_expects_body(method, x->target, &x->max) : E_OK;
	if (err != E_OK) {
		return answer(h, conn, method, x);
	}
	if (body && x->max == 0) {
		return refuse(h, conn, method, E_HTTP_BODY);
	}
	if (body && length != NULL && strtoull(length, NULL, 10) > x->max) {
		return refuse(h, conn, method, E_HTTP_LARGE);
	}
	return MHD_YES;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *conn, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **con_cls)
{
	struct http *h = cls;
	struct exchange *x = *con_cls;

	(void)url;
	if (x == NULL) {
		return MHD_NO;
	}
	if (!x->begun) {
		return begin_exchange(h, conn, method, version, x);
	}
	if (x->finished) {
		return answer_by_job(h, conn, method, x);
	}
	if (*upload_size != 0) {
		if (x->max == 0) {
			return MHD_NO; /* a body that was not announced */
		}
		take_body(x, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	if (x->max != 0) { /* the body is there */
		connections_enter(x->place, CONNECTION_ANSWER, monotonic_ms());
	}
	return x->refused != E_OK ? refuse(h, conn, method, x->refused)
	                          : answer(h, conn, method, x);
}

static void exchange_free(struct exchange *x)
{
	if (x != NULL) {
		drop_body(x);
		body_clear(&x->result.out);
		body_clear(&x->result.error);
	}
	free(x);
}

/* The library tells of the end of a request by end(), but not of every one: among some hundred thousand that
 * a fuzzer had damaged, four were left. So the place knows its request, and the next one or the end of the
 * connection frees it. */
static void keep_request(struct connection *place, struct exchange *x)
{
	if (place != NULL) {
		exchange_free(place->request);
		place->request = x;
	}
}

static void *begin(void *cls, const char *target, struct MHD_Connection *conn)
{
	size_t bytes = strlen(target) + 1;
	struct exchange *x = calloc(1, sizeof(*x) + bytes);

	keep_request(place_of(conn), x);
	if (x != NULL) {
		x->http = cls;
		memcpy(x->target, target, bytes);
		x->target_end = (uintptr_t)target + bytes - 1;
	}
	/* the library's own copy, which it changes itself after this call */
	for (char *at = (char *)target; (at = strchr(at, '&')) != NULL;) {
		*at = ' ';
	}
	return x;
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
	exchange_free(*con_cls);
	*con_cls = NULL;
}

static void on_connection(void *cls, struct MHD_Connection *conn, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
	struct http *h = cls;
	const union MHD_ConnectionInfo *socket =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *from =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		keep_request(*context, NULL);
		connections_remove(h->connections, *context);
		*context = NULL;
	} else if (socket != NULL) {
		*context = connections_add(h->connections, socket->connect_fd,
		                           from != NULL ? from->client_addr : NULL,
		                           monotonic_ms());
	}
}

static struct MHD_Daemon *start_daemon(struct http *h, const struct http_options *o)
{
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_TURBO |
	                 MHD_ALLOW_SUSPEND_RESUME;

	/* clang-format off */
	return MHD_start_daemon(flags, 0, NULL, NULL, handle, h,
		MHD_OPTION_LISTEN_SOCKET, h->listening.fd,
		MHD_OPTION_THREAD_POOL_SIZE, (unsigned)o->threads,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)o->threads * CONNECTIONS_PER_THREAD,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
		MHD_OPTION_STRICT_FOR_CLIENT, (int)STRICT_LEVEL,
		MHD_OPTION_URI_LOG_CALLBACK, begin, h,
		MHD_OPTION_NOTIFY_COMPLETED, end, h,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
		MHD_OPTION_END);
	/* clang-format on */
}

int http_start(const struct http_options *o, struct arena *a, const char **ret_why,
               struct http **ret)
{
	struct http *h = calloc(1, sizeof(*h));
	int err = -ENOMEM;

	*ret_why = err_text(err);
	if (h == NULL) {
		return err;
	}
	h->listening.fd = -1;
	h->page = o->page;
	h->rules = (struct origin_rules){ .hosts = o->hosts,
		                          .origins = o->origins,
		                          .machine = h->machine };
	if (gethostname(h->machine, sizeof(h->machine) - 1) != 0) {
		h->machine[0] = '\0';
	}
	h->source = source_new(o->snapshot_dir);
	h->has_key = pthread_key_create(&h->key, thread_free) == 0;
	if (h->source == NULL || !h->has_key) {
		goto out;
	}
	json_object_seed(0); /* before threads make objects */
	const struct feeds_options feeds = { .source = h->source,
		                             .most = o->listeners,
		                             .per_address = o->listeners_per_address,
		                             .count = &h->stats.listeners };
	err = feeds_new(&feeds, &h->feeds);
	if (err != E_OK) {
		*ret_why = err_text(err);
		goto out;
	}
	const struct connections_options places = {
		.most = o->threads * CONNECTIONS_PER_THREAD,
		.per_address = o->per_address,
		.fresh_ms = o->fresh_ms,
	};
	err = connections_new(&places, &h->connections);
	if (err != E_OK) {
		*ret_why = err_text(err);
		goto out;
	}
	const struct jobs_options jobs = { .program = o->program ? o->program
		                                                 : SAGUARO_BINDIR
		                                              "/saguaro",
		                           .snapshot_dir = o->snapshot_dir,
		                           .seconds = o->job_seconds };
	err = jobs_new(&jobs, &h->jobs);
	if (err != E_OK) {
		*ret_why = err_text(err);
		goto out;
	}
	if (o->socket > 0) {
		listen_take(o->socket, &h->listening);
	} else {
		err = listen_on(o->listen, "--listen", a, ret_why, &h->listening);
		if (err != E_OK) {
			goto out;
		}
	}
	h->daemon = start_daemon(h, o);
	if (h->daemon == NULL) {
		err = -EAGAIN;
		*ret_why = arena_printf(a,
		                        "cannot start %u server threads; try fewer with "
		                        "--threads, or raise the limit of open files",
		                        (unsigned)o->threads);
		goto out;
	}
	*ret = h;
	return E_OK;
out:
	http_stop(h);
	return err;
}

void http_stop(struct http *h)
{
	if (h == NULL) {
		return;
	}
	jobs_stop(h->jobs); /* no connection sleeps after this */
	if (h->daemon != NULL) {
		MHD_stop_daemon(
			h->daemon); /* closes the listening socket, ends the threads */
	} else if (h->listening.fd >= 0) {
		close(h->listening.fd);
	}
	jobs_free(h->jobs);
	feeds_free(h->feeds);
	connections_free(h->connections);
	if (h->has_key) {
		pthread_key_delete(h->key);
	}
	source_free(h->source);
	free(h);
}

const char *http_address(const struct http *h)
{
	return h->listening.address;
}

unsigned http_port(const struct http *h)
{
	return h->listening.port;
}

int http_look(struct http *h, const char **ret_why, uint64_t *ret_epoch)
{
	struct snap_reader *snap;
	int err = source_pin(h->source, source_now_ms(), ret_why, &snap);

	if (err == E_OK) {
		*ret_epoch = snap_meta(snap)->epoch;
		snap_unpin(snap);
	}
	return err;
}

bool http_is_public(const struct http *h)
{
	return !h->listening.loopback;
}
