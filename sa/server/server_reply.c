/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Replies: how they are sent and counted. The reply to a request that changed client
 * records goes to the state's writing thread together with the change, and is sent when
 * that is on disk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/base/err.h"
#include "db/state/state.h"
#include "sa/mad/wire.h"
#include "sa/server/server_int.h"

enum {
	LARGE_LINES = 5, /* log lines about refused tables */
	LARGE_LINES_MS = 60000,
	COMMIT_LINES = 1, /* log lines about commits that failed */
	COMMIT_LINES_MS = 60000,
	COMMIT_TRIES = 10 /* as SEND_TRIES, on the state's writing thread */
};

static const char *const source = "sa";

void server_drop(const struct mad_addr *from)
{
	if (from->origin != NULL) {
		(void)from->origin->send(from->origin, from, NULL, 0);
	}
}

/* Logs a table that is too large for MADs: who asked, and where to ask instead. */
static void report_large(struct sa_server *s, const struct fair_request *q,
                       const struct sa_reply *reply)
{
	char skipped[LOG_SKIPPED_BYTES];

	s->refused_large++;
	if (log_allowed(&s->large_lines, monotonic_ms(), LARGE_LINES, LARGE_LINES_MS,
	                skipped)) {
		log_message(
			MSG_SA_TOO_LARGE, source,
			"%s %u asks for %s of more than %zu bytes (sa_max_response): refused; saguaro-gateway streams it: GET /v1/records/%s?stream=1%s",
			q->addr.origin ? "TCP client" : "LID",
			q->addr.origin ? q->addr.qpn : q->addr.lid, reply->too_large,
			s->limits.max_response, reply->too_large, skipped);
	}
}

/* Over the fabric, or to where the request came in. */
static int send_reply(struct sa_server *s, const struct mad_addr *to,
                      const struct sa_reply *reply)
{
	struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_ADM,
		             .addr = *to,
		             .len = reply->len,
		             .data = reply->data };

	m.addr.qkey = UMAD_QKEY;
	return to->origin != NULL
	               ? to->origin->send(to->origin, to, reply->data, reply->len)
	               : transport_send(s->transport, &m);
}

int server_reply(struct sa_server *s, const struct mad_addr *to, int ret,
                 const struct sa_reply *reply, unsigned tries)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	if (ret == E_OK) {
		ret = send_reply(s, to, reply);
	}
	for (unsigned i = 1; i < tries && ret == -EAGAIN && !s->stop; i++) {
		(void)nanosleep(&pause, NULL);
		ret = send_reply(s, to, reply);
	}
	if (ret == -EAGAIN && tries == 1) {
		return ret;
	}
	switch (ret) {
	case E_OK: /* the answer last: with it, its records are counted */
		s->records += reply->n_records;
		if (reply->status == UMAD_SA_STATUS_NO_RECORDS << SA_STATUS_SHIFT ||
		    (reply->status == UMAD_STATUS_SUCCESS && reply->n_records == 0)) {
			s->no_records++;
		}
		s->answered++;
		break;
	case E_MALFORMED: s->dropped_malformed++; break;
	case -EPERM: s->dropped_key++; break;
	default: s->dropped_overload++; break;
	}
	if (ret != E_OK) {
		server_drop(to);
	}
	return ret;
}

/* --- replies that wait for their commit ------------------------------------------------
 */

struct waiting {
	struct sa_server *s;
	struct mad_addr addr;
	struct sa_reply reply;
	uint8_t mad[SA_MAD_BYTES];
	bool answers; /* else no client waits: a lease ran out, a port is gone */
	struct store_event *events;
	size_t n_events;
};

/* On the state's writing thread. */
static void on_commit(void *ctx, int ret)
{
	struct waiting *w = ctx;
	struct sa_server *s = w->s;

	if (ret != E_OK) {
		char skipped[LOG_SKIPPED_BYTES];

		if (log_allowed(&s->commit_lines, monotonic_ms(), COMMIT_LINES,
		                COMMIT_LINES_MS, skipped)) {
			log_message(
				MSG_SA_NOT_STORED, source,
				"client records are not stored, requests are refused: %s%s%s",
				err_text(ret),
				ret == E_FULL ? "; free space in the state folder" : "",
				skipped);
		}
		s->reload = true;
		free(w->events);
	} else {
		server_announce(s, w->events, w->n_events);
	}
	s->transport->ops->wake(s->transport); /* tables follow from some of them */
	if (w->answers) {
		w->reply.data = w->mad;
		if (ret != E_OK) {
			(void)sa_reply_refuse(w->mad, ret, &w->reply);
		}
		(void)server_reply(s, &w->addr, E_OK, &w->reply, COMMIT_TRIES);
	}
	free(w);
}

int server_commit(struct sa_server *s, struct state_batch *b, const struct mad_addr *to,
                  const struct sa_reply *reply)
{
	struct waiting *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		state_batch_free(b);
		s->reload = true;
		return -ENOMEM;
	}
	w->s = s;
	w->n_events = store_take_events(s->store, &w->events);
	if (reply != NULL) { /* to Set and Delete: one MAD */
		w->answers = true;
		w->addr = *to;
		w->reply = *reply;
		w->reply.cap = sizeof(w->mad);
		memcpy(w->mad, reply->data, sizeof(w->mad));
	}
	state_batch_commit(s->state, b, on_commit, w);
	return E_OK;
}

void server_conclude(struct sa_server *s, struct sa_store *st,
                     const struct fair_request *q, int ret, struct sa_reply *reply)
{
	struct state_batch *b = st != NULL ? store_take_changes(st) : NULL;

	if (b != NULL &&
	    server_commit(s, b, &q->addr, ret == E_OK ? reply : NULL) == E_OK) {
		return;
	}
	if (st != NULL && s->state == NULL) {
		server_announce_groups(s); /* nothing is durable, nothing waits */
	}
	if (ret == E_OK && reply->too_large != NULL) {
		report_large(s, q, reply);
	}
	(void)server_reply(s, &q->addr, ret, reply, SEND_TRIES);
}

void server_refuse(struct sa_server *s, const struct mad_addr *to, const uint8_t *mad)
{
	s->dropped_overload++;
	if (mad[3] & UMAD_METHOD_RESP_MASK) { /* a ReportResp: nobody waits */
		return;
	}
	pthread_mutex_lock(&s->refusing);
	int ret = sa_reply_refuse(mad, -EBUSY, &s->busy);
	if (ret == E_OK) {
		ret = send_reply(s, to, &s->busy);
	}
	if (ret != E_OK) {
		server_drop(to);
	}
	pthread_mutex_unlock(&s->refusing);
}
