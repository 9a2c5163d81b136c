/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A feed of events has no end, and its connection would take one of the places of a thread for good.
 * So its socket is duplicated and handed to another thread (feeds.h), and the library is
 * told to close the connection. With MHD_USE_TURBO it closes its descriptor without a
 * shutdown of the socket, and it takes the descriptor out of its epoll set first.
 */
#include "gateway/http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
#include "gateway/httpd/server.h"
#include "gateway/view/accept.h"
#include "gateway/view/json_text.h"
#include "gateway/view/origin.h"
#include "gateway/view/problem.h"
#include "gateway/view/source.h"
#include "gateway/web/page.h"

enum {
	CONNECTIONS_PER_THREAD =
		120, /* under 128 with the listening socket and the wake-up descriptor */
	HEAD_BYTES = 32 * 1024, /* request head and reply head */
	SILENT_SECONDS = 30,
	BODIES_BYTES = 64 << 20, /* of all requests, while they come */
	STREAMS_PER_ADDRESS = STREAMS_MAX / 2,
	ORIGIN_BYTES = 280 /* of saguaro-admin; names of hosts have less than 256 */
};

struct http {
	struct httpd *httpd;
	struct source *source; /* never used for answers: threads join it */
	pthread_key_t key;     /* struct api_thread of each server thread */
	bool has_key;
	struct feeds *feeds;
	struct jobs *jobs;
	const struct page *page;   /* borrowed; NULL: none */
	const char *admin_url;     /* borrowed; NULL: none */
	char csp[sizeof(PAGE_CSP) + ORIGIN_BYTES];
	struct origin_rules rules; /* borrowed, but the name of this machine */
	char machine[256];
	struct http_stats stats;
};

/* What is kept of a request that a job answers. */
struct visit {
	struct MHD_Connection *conn; /* suspended meanwhile */
	unsigned route;
	bool finished;
	struct job_result result;
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
	t->admin_url = h->admin_url;
	t->source = source_join(h->source);
	if (t->source == NULL || pthread_setspecific(h->key, t) != 0) {
		thread_free(t);
		return NULL;
	}
	return t;
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
	httpd_add(r, MHD_HTTP_HEADER_LINK, link);
	free(link);
}

static enum encoding encoding_of(const struct httpd_request *rq)
{
	return encoding_choose(httpd_header(rq, MHD_HTTP_HEADER_ACCEPT_ENCODING));
}

/* Sends a reply; its body or stream is taken. */
static enum MHD_Result send_reply(const struct http *h, const struct httpd_request *rq,
                                  struct api_reply *reply)
{
	enum encoding encoding = encoding_of(rq);
	struct MHD_Response *r = sending_new(reply, &encoding, rq->place);
	char number[24];

	if (r == NULL) {
		body_clear(&reply->base.body);
		stream_free(reply->stream);
		return MHD_NO;
	}
	httpd_add_head(r, &reply->base, "no-cache");
	if (reply->epoch != 0) {
		*json_put_number(number, reply->epoch) = '\0';
		httpd_add(r, "Fabric-Epoch", number);
	}
	httpd_add(r, MHD_HTTP_HEADER_CONTENT_ENCODING, encoding_name(encoding));
	httpd_add(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	add_link(r, rq->target, reply->next_cursor);
	if (page_shares(h->page, rq->target)) {
		httpd_add(r, MHD_HTTP_HEADER_VARY, "Accept");
	}
	httpd_add_origin(r, rq, &h->rules, &reply->base,
	                 "Accept, Content-Type, If-None-Match, Last-Event-ID",
	                 "ETag, Fabric-Epoch, Link");
	if (reply->stream != NULL && strcmp(rq->method, "HEAD") == 0) {
		/* else the end of the chunks follows, which the client takes for the
		 * begin of its next answer (0.9.75) */
		MHD_set_response_options(r, MHD_RF_HTTP_VERSION_1_0_ONLY, MHD_RO_END);
	}
	return httpd_queue(rq, reply->base.status, r);
}

static enum MHD_Result refuse(struct http *h, const struct httpd_request *rq, int ret,
                              const char *detail)
{
	struct problem p = { .detail = detail };
	struct api_reply reply = { .epoch = 0 };

	problem_reply(&p, ret, 0, &reply.base);
	http_stats_count(&h->stats, api_resources.n, reply.base.status, 0);
	return send_reply(h, rq, &reply);
}

/* Why a body did not come, or may not. */
static const char *refusal(const struct httpd_request *rq)
{
	return rq->refused == E_SYNTAX      ? rq->fault
	       : rq->refused == E_HTTP_BODY ? "this resource takes no request body"
	       : rq->refused == E_HTTP_LARGE
	               ? "the body is longer than this resource takes"
	               : "too many request bodies at a time";
}

static enum MHD_Result refuse_feed(const struct http *h, const struct httpd_request *rq,
                                   int ret)
{
	struct problem p = {
		.detail = ret == E_FULL ? "there are enough listeners; see --listeners"
		                        : "there is no descriptor for one more listener"
	};
	struct api_reply reply = { .epoch = 0 };

	problem_reply(&p, E_FULL, 0, &reply.base);
	reply.base.retry_after = 30;
	return send_reply(h, rq, &reply);
}

/* Lets the thread of feeds have the connection. */
static enum MHD_Result hand_over(struct http *h, const struct httpd_request *rq,
                                 struct api_reply *reply)
{
	int fd, ret;

	if (strcmp(rq->method, "HEAD") == 0) { /* the head alone */
		free(reply->feed);
		reply->feed = NULL;
		return send_reply(h, rq, reply);
	}
	connections_leave(httpd_connections(rq->server), rq->place);
	fd = fcntl(httpd_socket(rq->conn), F_DUPFD_CLOEXEC, 0);
	ret = fd >= 0 ? feeds_add(h->feeds, fd, httpd_client(rq->conn), reply->feed)
	              : -EMFILE;
	free(reply->feed);
	if (ret == E_OK) {
		return MHD_NO;
	}
	if (fd >= 0) {
		close(fd);
	}
	return refuse_feed(h, rq, ret);
}

/* Of the thread of the jobs. */
static void job_done(void *arg, struct job_result *r)
{
	struct visit *v = arg;

	v->result = *r;
	v->finished = true;
	MHD_resume_connection(v->conn);
}

/* Lets the connection sleep until a job has its answer. */
static enum MHD_Result start_job(struct http *h, const struct httpd_request *rq,
                                 struct api_reply *reply)
{
	struct visit *v = rq->own;

	v->conn = rq->conn;
	v->route = reply->route;
	MHD_suspend_connection(rq->conn);
	jobs_start(h->jobs, reply->job, reply->job_file, job_done, v);
	arena_free(reply->arena);
	return MHD_YES;
}

static enum MHD_Result answer_by_job(struct http *h, const struct httpd_request *rq,
                                     struct api_thread *t)
{
	struct visit *v = rq->own;
	struct api_reply reply;

	api_job_reply(t, v->route, v->result.ret, v->result.exit_status, &v->result.out,
	              v->result.error.data != NULL ? v->result.error.data : "", &reply);
	v->result.out = (struct body){ .len = 0 };
	return send_reply(h, rq, &reply);
}

/* Sends a file of the page, which lives as long as the server. */
static enum MHD_Result send_page(struct http *h, const struct httpd_request *rq,
                                 const struct page_file *f)
{
	const char *known = httpd_header(rq, MHD_HTTP_HEADER_IF_NONE_MATCH);
	bool same = accept_knows(known, f->etag);
	struct reply reply = { .status = same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK,
		               .content_type = f->type };
	struct MHD_Response *r = MHD_create_response_from_buffer(
		same ? 0 : f->len, (void *)f->data, MHD_RESPMEM_PERSISTENT);

	if (r == NULL) {
		return MHD_NO;
	}
	snprintf(reply.etag, sizeof(reply.etag), "%s", f->etag);
	httpd_add_head(r, &reply, "no-cache");
	httpd_add(r, MHD_HTTP_HEADER_CONTENT_ENCODING, same ? NULL : f->encoding);
	httpd_add(r, MHD_HTTP_HEADER_VARY, f->vary);
	httpd_add(r, "Content-Security-Policy", h->csp);
	httpd_add(r, "Referrer-Policy", "no-referrer");
	http_stats_count(&h->stats, api_resources.n, reply.status, 0);
	return httpd_queue(rq, reply.status, r);
}

static enum MHD_Result answer_here(struct http *h, const struct httpd_request *rq,
                                   struct api_thread *t)
{
	const struct api_request request = {
		.method = rq->method,
		.target = rq->target,
		.if_none_match = httpd_header(rq, MHD_HTTP_HEADER_IF_NONE_MATCH),
		.accept = httpd_header(rq, MHD_HTTP_HEADER_ACCEPT),
		.last_event_id = httpd_header(rq, "Last-Event-ID"),
		.content_type = httpd_header(rq, MHD_HTTP_HEADER_CONTENT_TYPE),
		.encoding = encoding_name(encoding_of(rq)),
		.body = rq->body,
		.body_len = rq->len,
	};
	struct connections *connections = httpd_connections(rq->server);
	struct api_reply reply;

	if (atomic_load(&h->stats.streams) >= STREAMS_MAX) {
		connections_cut_stalled(connections, monotonic_ms());
	}
	api_serve(t, &request, &reply);
	if (reply.job != NULL) {
		return start_job(h, rq, &reply);
	}
	if (reply.stream != NULL &&
	    connections_streams(connections, rq->place) >= STREAMS_PER_ADDRESS) {
		stream_free(reply.stream);
		return refuse(h, rq, E_FULL,
		              "there are enough streams to this address; end one first");
	}
	return reply.feed != NULL ? hand_over(h, rq, &reply) : send_reply(h, rq, &reply);
}

static enum MHD_Result answer(void *ctx, struct httpd_request *rq)
{
	struct http *h = ctx;
	const struct visit *v = rq->own;
	const struct page_request page = {
		.method = rq->method,
		.target = rq->target,
		.accept = httpd_header(rq, MHD_HTTP_HEADER_ACCEPT),
		.accept_encoding = httpd_header(rq, MHD_HTTP_HEADER_ACCEPT_ENCODING),
	};
	struct page_file file;

	if (rq->refused != E_OK) {
		return refuse(h, rq, rq->refused, refusal(rq));
	}
	struct api_thread *t = thread_state(h);
	if (t == NULL) {
		return MHD_NO;
	}
	if (v->finished) {
		return answer_by_job(h, rq, t);
	}
	if (!origin_host_fits(&h->rules, httpd_header(rq, MHD_HTTP_HEADER_HOST))) {
		return refuse(
			h, rq, E_HTTP_HOST,
			"the Host header names another server; ask by address, or let the name in with --allow-host");
	}
	return page_find(h->page, &page, &file) ? send_page(h, rq, &file)
	                                        : answer_here(h, rq, t);
}

/* The head of a request is there. A head that could be read in two ways and a body that may not
 * come are answered at once. */
static bool head(void *ctx, struct httpd_request *rq)
{
	(void)ctx;
	if (rq->fault != NULL) {
		rq->refused = E_SYNTAX;
		return false;
	}
	if (!rq->has_body) {
		return true;
	}
	if (api_expects_body(rq->method, rq->target, &rq->body_max) != E_OK) {
		return false;
	}
	if (rq->body_max == 0) {
		rq->refused = E_HTTP_BODY;
	} else if (rq->body_bytes > rq->body_max) {
		rq->refused = E_HTTP_LARGE;
	}
	return rq->refused == E_OK;
}

static void end(struct httpd_request *rq)
{
	struct visit *v = rq->own;

	body_clear(&v->result.out);
	body_clear(&v->result.error);
}

static const struct httpd_site site = {
	.own_bytes = sizeof(struct visit), .head = head, .answer = answer, .end = end
};

/* The page may also ask saguaro-admin, if it is known. */
static void set_admin(struct http *h, const char *url)
{
	char origin[ORIGIN_BYTES] = "";
	size_t len;

	if (url != NULL && origin_is_safe(url, true, &len)) {
		h->admin_url = url;
		snprintf(origin, sizeof(origin), " %.*s", (int)len, url);
	}
	snprintf(h->csp, sizeof(h->csp), PAGE_CSP, origin);
}

int http_start(const struct http_options *o, struct arena *a, const char **ret_why,
               struct http **ret_http)
{
	struct http *h = calloc(1, sizeof(*h));
	int ret = -ENOMEM;

	*ret_why = NULL;
	if (h == NULL) {
		goto out;
	}
	h->page = o->page;
	set_admin(h, o->admin_url);
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
	ret = feeds_new(&feeds, &h->feeds);
	if (ret != E_OK) {
		goto out;
	}
	const struct jobs_options jobs = { .program = o->program ? o->program
		                                                 : SAGUARO_BINDIR
		                                              "/saguaro",
		                           .snapshot_dir = o->snapshot_dir,
		                           .seconds = o->job_seconds };
	ret = jobs_new(&jobs, &h->jobs);
	if (ret != E_OK) {
		goto out;
	}
	const struct httpd_options options = {
		.site = &site,
		.ctx = h,
		.listen = o->listen,
		.socket = o->socket,
		.threads = o->threads,
		.head_bytes = HEAD_BYTES,
		.silent_s = SILENT_SECONDS,
		.bodies_bytes = BODIES_BYTES,
		.places = { .most = o->threads * CONNECTIONS_PER_THREAD,
		            .per_address = o->per_address,
		            .fresh_ms = o->fresh_ms },
	};
	ret = httpd_start(&options, a, ret_why, &h->httpd);
	if (ret != E_OK) {
		goto out;
	}
	*ret_http = h;
	return E_OK;
out:
	if (*ret_why == NULL) {
		*ret_why = err_text(ret);
	}
	http_stop(h);
	return ret;
}

void http_stop(struct http *h)
{
	if (h == NULL) {
		return;
	}
	jobs_stop(h->jobs); /* no connection sleeps after this */
	httpd_stop(h->httpd);
	jobs_free(h->jobs);
	feeds_free(h->feeds);
	if (h->has_key) {
		pthread_key_delete(h->key);
	}
	source_free(h->source);
	free(h);
}

const char *http_address(const struct http *h)
{
	return httpd_listening(h->httpd)->address;
}

unsigned http_port(const struct http *h)
{
	return httpd_listening(h->httpd)->port;
}

int http_look(struct http *h, const char **ret_why, uint64_t *ret_epoch)
{
	struct snap_reader *snap;
	int ret = source_pin(h->source, boottime_ms(), ret_why, &snap);

	if (ret == E_OK) {
		*ret_epoch = snap_meta(snap)->epoch;
		snap_unpin(snap);
	}
	return ret;
}

bool http_is_public(const struct http *h)
{
	return !httpd_listening(h->httpd)->loopback;
}
