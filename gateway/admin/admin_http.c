/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The write door as a site of the HTTP server. A body that nobody wants is read to its end and
 * dropped, unless it is announced as very long, or the client waits for leave to send it, or where
 * it ends is in doubt. */
#include "gateway/admin/admin_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/listen.h"
#include "gateway/admin/users.h"
#include "gateway/httpd/server.h"
#include "gateway/httpd/tls.h"
#include "gateway/view/origin.h"

enum {
	HEAD_BYTES = 48 * 1024, /* request head and reply head */
	SILENT_SECONDS = 15,
	ADDRESS_BYTES = 64,
	SPARE = 64, /* connections above their number, which have been cut off and end */
	LONG_BODY = 16 << 20 /* that is not read only to be dropped */
};

struct admin_http {
	struct httpd *httpd;
	char address[160];
	struct admin *admin;
	bool is_unix, wants_certificates;
};

/* What is kept of a request. */
struct visit {
	struct admin_request request;
	struct admin_call *call;
	char address[ADDRESS_BYTES];
	char name[USER_NAME_MAX + 1]; /* of a client certificate */
};

/* Where a client is: its address, or the user of a process on this machine. */
static void tell_address(const struct httpd_request *rq, char ret_text[ADDRESS_BYTES])
{
	const struct sockaddr *from = httpd_client(rq->conn);
	struct ucred peer;
	socklen_t len = sizeof(peer);

	strcpy(ret_text, "?");
	if (from != NULL && from->sa_family == AF_INET) {
		inet_ntop(AF_INET,
		          &((const struct sockaddr_in *)(const void *)from)->sin_addr,
		          ret_text, ADDRESS_BYTES);
	} else if (from != NULL && from->sa_family == AF_INET6) {
		const struct in6_addr *a =
			&((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
		bool mapped = IN6_IS_ADDR_V4MAPPED(a);

		inet_ntop(mapped ? AF_INET : AF_INET6,
		          mapped ? (const void *)(a->s6_addr + 12) : (const void *)a,
		          ret_text, ADDRESS_BYTES);
	} else if (getsockopt(httpd_socket(rq->conn), SOL_SOCKET, SO_PEERCRED, &peer,
	                      &len) == 0) {
		snprintf(ret_text, ADDRESS_BYTES, "local-user-%u", (unsigned)peer.uid);
	}
}

static void read_head(const struct admin_http *h, const struct httpd_request *rq,
                      struct visit *v)
{
	tell_address(rq, v->address);
	v->request = (struct admin_request){
		.method = rq->method,
		.target = rq->target,
		.authorization = httpd_header(rq, MHD_HTTP_HEADER_AUTHORIZATION),
		.host = h->is_unix ? NULL : httpd_header(rq, MHD_HTTP_HEADER_HOST),
		.origin = httpd_header(rq, "Origin"),
		.content_type = httpd_header(rq, MHD_HTTP_HEADER_CONTENT_TYPE),
		.if_match = httpd_header(rq, MHD_HTTP_HEADER_IF_MATCH),
		.if_none_match = httpd_header(rq, MHD_HTTP_HEADER_IF_NONE_MATCH),
		.address = v->address,
		.has_body = rq->has_body,
		.body_bytes = rq->body_bytes,
		.fault = rq->fault,
		.now = (int64_t)time(NULL),
		.now_ms = monotonic_ms()
	};
	if (h->wants_certificates &&
	    tls_client_name(rq->conn, v->name, sizeof(v->name)) &&
	    user_name_is_good(v->name)) {
		v->request.certificate = v->name;
	}
}

static bool head(void *ctx, struct httpd_request *rq)
{
	struct admin_http *h = ctx;
	struct visit *v = rq->own;

	read_head(h, rq, v);
	v->call = admin_begin(h->admin, &v->request);
	if (v->call == NULL || rq->fault != NULL) {
		return false;
	}
	if (admin_has_user(v->call)) {
		connections_trust(rq->place);
	}
	if (!admin_is_refused(v->call)) {
		rq->body_max = ADMIN_BODY_MAX;
		return true;
	}
	return !rq->has_body || (rq->body_bytes <= LONG_BODY &&
	                         httpd_header(rq, MHD_HTTP_HEADER_EXPECT) == NULL);
}

/* Sends a reply; its body is taken. */
static enum MHD_Result send_reply(const struct admin_http *h,
                                  const struct httpd_request *rq, struct reply *reply)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		reply->body.len, reply->body.data,
		reply->body.data != NULL ? MHD_RESPMEM_MUST_FREE
					 : MHD_RESPMEM_PERSISTENT);

	if (r == NULL) {
		body_clear(&reply->body);
		return MHD_NO;
	}
	httpd_add_head(r, reply, "no-store");
	httpd_add_origin(r, rq, &(struct origin_rules){ .origins = h->admin->origins }, reply,
	                 "Authorization, Content-Type, If-Match, If-None-Match",
	                 "ETag, Retry-After");
	if (reply->status == MHD_HTTP_UNAUTHORIZED) {
		httpd_add(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
		          "Basic realm=\"saguaro-admin\", charset=\"UTF-8\"");
		httpd_add(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	}
	return httpd_queue(rq, reply->status, r);
}

static enum MHD_Result answer(void *ctx, struct httpd_request *rq)
{
	const struct visit *v = rq->own;
	struct reply reply;

	if (v->call == NULL) {
		return MHD_NO;
	}
	if (rq->refused != E_OK && !admin_is_refused(v->call)) {
		admin_refuse_body(v->call, rq->refused, &reply);
	} else {
		admin_answer(v->call, rq->body != NULL ? rq->body : "", rq->len, &reply);
	}
	return send_reply(ctx, rq, &reply);
}

static void end(struct httpd_request *rq)
{
	struct visit *v = rq->own;

	admin_free(v->call);
}

static const struct httpd_site site = {
	.own_bytes = sizeof(struct visit), .head = head, .answer = answer, .end = end
};

int admin_http_start(const struct admin_http_options *o, struct arena *a,
                     const char **ret_why, struct admin_http **ret_http)
{
	struct admin_http *h = calloc(1, sizeof(*h));
	struct MHD_OptionItem tls[TLS_OPTIONS];
	const uint32_t ms = o->request_s * 1000;
	int ret = E_OK;

	*ret_why = err_text(-ENOMEM);
	if (h == NULL) {
		return -ENOMEM;
	}
	h->admin = o->admin;
	h->is_unix = strchr(o->listen, '/') != NULL;
	h->wants_certificates = o->tls.client_ca != NULL;
	json_object_seed(0); /* before threads make objects */
	if (!h->is_unix) {
		ret = tls_options(&o->tls, a, ret_why, tls);
	}
	if (ret == E_OK) {
		const struct httpd_options options = {
			.site = &site,
			.ctx = h,
			.listen = o->listen,
			.is_path = h->is_unix,
			.head_bytes = HEAD_BYTES,
			.silent_s = SILENT_SECONDS,
			.bodies_bytes = ((size_t)o->connections + SPARE) * ADMIN_BODY_MAX,
			.places = { .most = o->connections,
			            .spare = SPARE,
			            .per_address = h->is_unix ? 0 : o->per_address,
			            .fresh_ms = ms,
			            .idle_ms = ms,
			            .body_ms = ms,
			            .answer_ms = ms,
			            .has_users = true },
			.tls = h->is_unix ? NULL : tls,
		};

		ret = httpd_start(&options, a, ret_why, &h->httpd);
	}
	if (ret == -EAGAIN && !h->is_unix) {
		*ret_why = arena_printf(
			a,
			"cannot start the server; do the certificate %s and the key %s belong together?",
			o->tls.certificate, o->tls.key);
		ret = E_SYNTAX;
	}
	if (ret != E_OK) {
		free(h);
		return ret;
	}
	snprintf(h->address, sizeof(h->address), "%s%s",
	         h->is_unix ? "unix:" : "https://",
	         h->is_unix ? o->listen : httpd_listening(h->httpd)->address);
	*ret_http = h;
	return E_OK;
}

void admin_http_stop(struct admin_http *h)
{
	if (h != NULL) {
		httpd_stop(h->httpd);
		free(h);
	}
}

const char *admin_http_address(const struct admin_http *h)
{
	return h->address;
}

unsigned admin_http_port(const struct admin_http *h)
{
	return h->is_unix ? 0 : httpd_listening(h->httpd)->port;
}
