/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Two masters were apart, and one of them has become standby (sa/standby/join.h). It gives its
 * log as frames of rows when it has connected; the master joins them with its state, and gives
 * its copy then. The standby forgets its log when it has stored that copy.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "sa/standby/standby_int.h"

enum { JOIN_LINES = 3, JOIN_LINES_MS = 60000 };

static const char *const source = "standby";

void standby_join_follow(struct standby *l)
{
	struct state_copy *c = NULL;

	if (state_copy_begin(l->o.state, &l->follower, NULL, NULL, &c) == E_OK) {
		state_copy_end(c);
	}
}

void standby_join_settle(struct standby *l)
{
	bool any = false;

	for (const struct peer *p = l->attached; p != NULL; p = p->next) {
		if (p->complete && !p->dropped) {
			if (p->acked != l->sequence) {
				return;
			}
			any = true;
		}
	}
	if (any) {
		join_log_settled(&l->log);
	}
}

/* --- the standby's side ---------------------------------------------------------------------- */

/* Rows from \a at on that fit into one frame. */
static size_t rows_of_frame(const uint8_t *at, const uint8_t *end, size_t *n_rows)
{
	const uint8_t *from = at, *next = at;
	struct state_write w;

	while (frame_read_row(&next, end, &w) == E_OK &&
	       (size_t)(next - from) <= FRAME_PAYLOAD_MAX) {
		at = next;
		(*n_rows)++;
	}
	return (size_t)(at - from);
}

int standby_join_give(struct peer *p)
{
	struct standby *l = peer_link(p);
	uint8_t head[FRAME_HEAD_BYTES], end[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES];
	struct conn_bytes made = { 0 };
	size_t n_rows = 0, len;
	int ret;

	pthread_mutex_lock(&l->lock);
	ret = join_log_compact(&l->log);
	for (size_t at = 0; ret == E_OK && at < l->log.n; at += len) {
		len = rows_of_frame(l->log.bytes + at, l->log.bytes + l->log.n, &n_rows);
		frame_head(head, FRAME_ROWS, len);
		ret = len == 0 ? E_MALFORMED : conn_bytes_add(&made, head, sizeof(head));
		if (ret == E_OK) {
			ret = conn_bytes_add(&made, l->log.bytes + at, len);
		}
	}
	if (l->log.missed > 0) {
		log_message(
			MSG_STANDBY_JOIN_FAILED, source,
			"%zu changes since the last copy had no room in the log of changes and cannot be joined",
			l->log.missed);
	}
	pthread_mutex_unlock(&l->lock);
	if (ret == E_OK) {
		frame_number(end, FRAME_JOIN_END, n_rows);
		ret = conn_bytes_add(&made, end, sizeof(end));
		log_info(
			source,
			"gives %zu changes of the time when we were master, too, to the master %s",
			n_rows, p->name);
	}
	if (ret == E_OK) {
		conn_send_bytes(&p->conn, &made);
	}
	conn_bytes_done(&made);
	return ret;
}

/* --- the master's side ----------------------------------------------------------------------- */

/* The standby that waits until its rows are stored. The connection may be gone by then. */
struct join_wait {
	struct standby *link;
	uint32_t number; /* of its connection */
};

/* On the state's writing thread. An empty answer lets the standby go on. One whose rows are not
 * stored is closed, so that it keeps them and gives them again. */
static void on_joined(void *ctx, int ret)
{
	const struct join_wait wait = *(struct join_wait *)ctx;
	struct standby *l = wait.link;
	char skipped[LOG_SKIPPED_BYTES];

	free(ctx);
	(void)conn_post(l->set, wait.number, ret == E_OK ? malloc(1) : NULL, 0);
	if (ret != E_OK) {
		if (log_allowed(&l->join_lines, monotonic_ms(), JOIN_LINES, JOIN_LINES_MS,
		                skipped)) {
			log_message(
				MSG_STANDBY_JOIN_FAILED, source,
				"what another master was told could not be stored: %s; it keeps that and gives it again%s",
				err_text(ret), skipped);
		}
		return;
	}
	pthread_mutex_lock(&l->lock);
	l->joined = true;
	pthread_mutex_unlock(&l->lock);
	if (l->o.changed != NULL) {
		l->o.changed(l->o.ctx);
	}
}

static int keep_rows(struct peer *p, const struct frame *f)
{
	const uint8_t *at = f->payload, *end = at + f->len;
	struct state_write w;
	int ret;

	while ((ret = frame_read_row(&at, end, &w)) == E_OK) {
		if (w.clears || w.table < COPIED_RECORDS) {
			return E_MALFORMED;
		}
		p->n_joining++;
	}
	if (ret != E_NOTFOUND || p->joining.n + f->len > JOIN_LOG_BYTES) {
		return E_MALFORMED;
	}
	return conn_bytes_add(&p->joining, f->payload, f->len);
}

/* Compares without the lock, because that reads all of the state. */
static int join(struct peer *p)
{
	struct standby *l = peer_link(p);
	struct join_wait *wait = malloc(sizeof(*wait));
	struct join_log own = { 0 };
	struct join_counts counts;
	int ret;

	if (wait == NULL) {
		return -ENOMEM;
	}
	*wait = (struct join_wait){ l, p->conn.number };
	conn_wait(&p->conn);
	pthread_mutex_lock(&l->lock);
	ret = join_log_copy(&l->log, &own);
	pthread_mutex_unlock(&l->lock);
	if (ret == E_OK) {
		ret = join_rows(l->o.state, &own, p->joining.data, p->joining.n, p->name,
		                on_joined, wait, &counts);
	}
	join_log_done(&own);
	if (ret != E_OK) {
		free(wait);
	}
	if (ret == E_OK) {
		log_info(
			source,
			"the standby %s (0x%016" PRIx64
			") was master, too: of %zu changes there %zu are taken, %zu were known, %zu dropped",
			p->name, p->guid, p->n_joining, counts.taken, counts.same,
			counts.dropped);
	}
	return ret;
}

int standby_join_take(struct peer *p, const struct frame *f)
{
	uint64_t n;
	int ret;

	if (f->type == FRAME_ROWS) {
		return keep_rows(p, f);
	}
	ret = f->type == FRAME_JOIN_END ? frame_read_number(f, &n) : E_MALFORMED;
	if (ret == E_OK && n != p->n_joining) {
		ret = E_MALFORMED;
	}
	if (ret == E_OK) {
		ret = join(p);
	}
	p->joins = false;
	conn_bytes_done(&p->joining);
	return ret;
}
