/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The master's side. The state's writing thread encodes each committed transaction once and adds
 * it to the queue of every standby that is attached; then it may wait for their
 * acknowledgements. The link's thread sends the rows of the copy first, as the socket takes
 * them, and then what is in the queue.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "sa/standby/standby_int.h"

static const char *const source = "standby";

/* Adds a row to the frame of rows that begins at *frame_at, or to a new one. */
static int add_row(struct conn_bytes *b, size_t *frame_at, const struct state_write *w)
{
	size_t len = frame_row_bytes(w);
	uint8_t head[FRAME_HEAD_BYTES];

	if (b->n == *frame_at || b->n - *frame_at + len > FRAME_PAYLOAD_MAX) {
		*frame_at = b->n;
		frame_head(head, FRAME_ROWS, 0);
		if (conn_bytes_add(b, head, sizeof(head)) != E_OK) {
			return -ENOMEM;
		}
	}
	if (VECTOR_RESERVE(b->data, b->cap, b->n + len) != E_OK) {
		return -ENOMEM;
	}
	frame_put_row(b->data + b->n, w);
	b->n += len;
	frame_head(b->data + *frame_at, FRAME_ROWS, b->n - *frame_at - FRAME_HEAD_BYTES);
	return E_OK;
}

static int add_number(struct conn_bytes *b, enum frame_type type, uint64_t number)
{
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES];

	frame_number(bytes, type, number);
	return conn_bytes_add(b, bytes, sizeof(bytes));
}

/* --- the state's writing thread ---------------------------------------------------------- */

void standby_link_write(void *ctx, const struct state_write *w)
{
	struct standby *l = ctx;

	pthread_mutex_lock(&l->lock);
	join_log_add(&l->log, w); /* also while our role ends: a client gets its reply */
	pthread_mutex_unlock(&l->lock);
	if (l->n_attached > 0 && !l->txn_failed) {
		l->txn_failed = add_row(&l->txn, &l->frame_at, w) != E_OK;
	}
}

void standby_link_committed(void *ctx)
{
	struct standby *l = ctx;

	pthread_mutex_lock(&l->lock);
	join_log_committed(&l->log);
	if (l->txn.n == 0 && !l->txn_failed) {
		pthread_mutex_unlock(&l->lock);
		return;
	}
	l->sequence++;
	if (!l->txn_failed) {
		l->txn_failed =
			add_number(&l->txn, FRAME_CHANGES_END, l->sequence) != E_OK;
	}
	for (struct peer *p = l->attached; p != NULL; p = p->next) {
		p->dropped = p->dropped || l->txn_failed ||
		             p->queue.n + l->txn.n > LINK_QUEUE_BYTES ||
		             conn_bytes_add(&p->queue, l->txn.data, l->txn.n) != E_OK;
	}
	pthread_mutex_unlock(&l->lock);
	l->txn.n = l->frame_at = 0;
	l->txn_failed = false;
	l->unsettled = true;
	loop_wake(conn_loop(l->set));
}

/* The first standby that has to acknowledge and has not. Under the lock. */
static struct peer *late_peer(struct standby *l)
{
	for (struct peer *p = l->attached; p != NULL; p = p->next) {
		if (p->complete && !p->dropped && p->acked < l->sequence) {
			return p;
		}
	}
	return NULL;
}

static struct timespec after_ms(uint32_t ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	t.tv_sec += (time_t)(ms / 1000) + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

void standby_link_settle(void *ctx)
{
	struct standby *l = ctx;
	struct timespec end;
	struct peer *p;
	int late = 0;

	if (!l->unsettled || l->o.wait_ms == 0) {
		return;
	}
	l->unsettled = false;
	end = after_ms(l->o.wait_ms);
	pthread_mutex_lock(&l->lock);
	while (late == 0 && !l->stop && late_peer(l) != NULL) {
		late = pthread_cond_timedwait(&l->acked, &l->lock, &end);
	}
	while ((p = late_peer(l)) != NULL) {
		p->dropped = true;
		l->status.dropped++;
		log_message(
			MSG_STANDBY_SLOW, source,
			"the standby %s does not acknowledge within %u ms (standby_wait): clients get their replies without it until it has a new copy",
			p->name, l->o.wait_ms);
	}
	pthread_mutex_unlock(&l->lock);
	if (late != 0) {
		loop_wake(conn_loop(l->set));
	}
}

bool standby_in_step(struct standby *l, uint64_t guid, uint32_t wait_ms)
{
	struct timespec end = after_ms(wait_ms);
	bool found = true, in_step = false;
	int late = 0;

	if (l == NULL) {
		return false;
	}
	pthread_mutex_lock(&l->lock);
	while (found && !in_step && late == 0) {
		found = false;
		for (const struct peer *p = l->attached; p != NULL; p = p->next) {
			if (!p->dropped && p->guid == guid) {
				found = true;
				in_step = p->complete && p->acked == l->sequence;
			}
		}
		if (found && !in_step) {
			late = wait_ms == 0 ? ETIMEDOUT
			                    : pthread_cond_timedwait(&l->acked, &l->lock,
			                                             &end);
		}
	}
	pthread_mutex_unlock(&l->lock);
	return in_step;
}

/* --- the link's thread --------------------------------------------------------------------- */

static void attach(void *ctx)
{
	struct peer *p = ctx;
	struct standby *l = peer_link(p);

	pthread_mutex_lock(&l->lock);
	p->attached = true;
	p->next = l->attached;
	l->attached = p;
	p->first = p->acked = l->sequence;
	l->n_attached++;
	pthread_mutex_unlock(&l->lock);
}

int standby_give_begin(struct peer *p)
{
	struct standby *l = peer_link(p);

	return state_copy_begin(l->o.state, &l->follower, attach, p, &p->copy);
}

/* Rows of the copy, up to what is to be made ahead. */
static int send_copy(struct peer *p)
{
	struct conn_bytes made = { 0 };
	size_t frame_at = 0;
	struct state_write w;
	int ret = E_OK;

	while (ret == E_OK && made.n < LINK_OUT_BYTES) {
		ret = state_copy_next(p->copy, &w);
		if (ret == E_OK) {
			ret = add_row(&made, &frame_at, &w);
		}
	}
	if (ret == E_NOTFOUND) {
		state_copy_end(p->copy);
		p->copy = NULL;
		p->copied_ms = monotonic_ms();
		ret = add_number(&made, FRAME_COPY_END, p->first);
	}
	p->conn.more = p->copy != NULL;
	if (ret == E_OK) {
		conn_send_bytes(&p->conn, &made);
	}
	conn_bytes_done(&made);
	return ret;
}

int standby_give_more(struct peer *p, uint64_t now)
{
	struct standby *l = peer_link(p);
	uint8_t ping[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES];
	const bool waits = p->conn.out.n > 0;
	struct conn_bytes queue = { 0 };
	bool dropped;

	if (p->copy != NULL) {
		return waits ? E_OK : send_copy(p);
	}
	pthread_mutex_lock(&l->lock);
	dropped = p->dropped;
	if (!waits) {
		queue = p->queue;
		p->queue = (struct conn_bytes){ 0 };
	}
	frame_number(ping, FRAME_PING, l->sequence);
	pthread_mutex_unlock(&l->lock);
	if (!dropped && queue.n > 0) {
		conn_send_bytes(&p->conn, &queue);
	} else if (!dropped && !waits && p->complete &&
	           now >= p->pinged_ms + LINK_TICK_MS) {
		p->pinged_ms = now;
		conn_send(&p->conn, ping, sizeof(ping));
	}
	conn_bytes_done(&queue);
	return dropped ? -ETIMEDOUT : E_OK;
}

int standby_give_acked(struct peer *p, const struct frame *f)
{
	struct standby *l = peer_link(p);
	uint64_t number;
	bool first = false;
	int ret = f->type == FRAME_ACK ? frame_read_number(f, &number) : E_MALFORMED;

	if (ret != E_OK) {
		return ret;
	}
	pthread_mutex_lock(&l->lock);
	if (!p->attached || number < p->acked || number > l->sequence ||
	    p->copy != NULL) {
		ret = E_MALFORMED;
	} else {
		first = !p->complete;
		p->complete = true;
		p->acked = number;
		l->status.copies += first;
		l->arrived |= first;
		standby_join_settle(l);
		pthread_cond_broadcast(&l->acked);
	}
	pthread_mutex_unlock(&l->lock);
	if (first && ret == E_OK) {
		log_info(source,
		         "the standby %s (0x%016" PRIx64 ") has a copy of the state",
		         p->name, p->guid);
		if (l->o.changed != NULL) {
			l->o.changed(l->o.ctx);
		}
	}
	return ret;
}

void standby_give_end(struct peer *p, int ret)
{
	struct standby *l = peer_link(p);
	struct peer **at;

	state_copy_end(p->copy);
	p->copy = NULL;
	pthread_mutex_lock(&l->lock);
	bool lost = p->complete;

	l->lost |= lost;
	if (p->attached) {
		l->status.dropped += ret == -ETIMEDOUT && !p->dropped;
		l->n_attached--;
		for (at = &l->attached; *at != p; at = &(*at)->next) {
		}
		*at = p->next;
	}
	p->attached = p->complete = false;
	conn_bytes_done(&p->queue);
	pthread_cond_broadcast(&l->acked);
	pthread_mutex_unlock(&l->lock);
	if (lost && l->o.changed != NULL) {
		l->o.changed(l->o.ctx);
	}
}
