/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <errno.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"

/*
 * Clock and event queue of the simulated fabric.
 *
 * Events are in a heap ordered by (time, sequence number), so that a run on the virtual clock
 * depends only on its input. The virtual clock stands still while the SM computes, and recv
 * advances it to the next event or the deadline. On the real clock responses have time 0 and
 * arrive without delay; only traps and timers wait.
 *
 * A MAD takes effect when it is sent, and its delay is added to the response. So a fault that
 * is injected between a send and its response does not undo the effect of the send.
 */

uint64_t sim_now_us(const struct sim *s)
{
	return s->o.virtual_clock ? s->now_us : wakeup_now_us();
}

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at_us != b->at_us ? a->at_us < b->at_us : a->seq < b->seq;
}

static void sift_up(struct sim_event *h, size_t i)
{
	struct sim_event e = h[i];
	for (; i > 0 && is_before(&e, &h[(i - 1) / 2]); i = (i - 1) / 2) {
		h[i] = h[(i - 1) / 2];
	}
	h[i] = e;
}

static void sift_down(struct sim_event *h, size_t n)
{
	struct sim_event e = h[0];
	size_t i = 0;
	for (;;) {
		size_t c = 2 * i + 1;
		if (c + 1 < n && is_before(&h[c + 1], &h[c])) {
			c++;
		}
		if (c >= n || !is_before(&h[c], &e)) {
			break;
		}
		h[i] = h[c];
		i = c;
	}
	h[i] = e;
}

int sim_event_add(struct sim *s, const struct sim_event *e, uint64_t delay_us)
{
	if (VECTOR_RESERVE(s->heap, s->cap_events, s->n_events + 1) != E_OK) {
		return -ENOMEM;
	}
	struct sim_event *slot = &s->heap[s->n_events];
	*slot = *e;
	slot->seq = s->seq++;
	/* time 0 on the real clock saves reading the clock for each MAD */
	slot->at_us = s->o.virtual_clock || delay_us > 0 ? sim_now_us(s) + delay_us : 0;
	sift_up(s->heap, s->n_events++);
	return E_OK;
}

struct sim_event sim_event_pop(struct sim *s)
{
	struct sim_event e = s->heap[0];
	s->heap[0] = s->heap[--s->n_events];
	if (s->n_events > 0) {
		sift_down(s->heap, s->n_events);
	}
	return e;
}

int sim_queue_init(struct sim *s)
{
	return wakeup_init(&s->wakeup);
}

void sim_queue_done(struct sim *s)
{
	mad_pool_done(&s->pool);
	free(s->heap);
	wakeup_done(&s->wakeup);
}

uint64_t sim_next_us(const struct sim *s)
{
	return s->n_events > 0 ? s->heap[0].at_us : UINT64_MAX;
}

bool sim_event_is_due(const struct sim *s)
{
	return s->n_events > 0 &&
	       (s->heap[0].at_us == 0 || s->heap[0].at_us <= sim_now_us(s));
}

void sim_event_drop_mads(struct sim *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_events; i++) {
		if (s->heap[i].kind == EVENT_MAD) {
			mad_pool_put(&s->pool, s->heap[i].msg);
			continue;
		}
		s->heap[kept] = s->heap[i];
		sift_up(s->heap, kept++);
	}
	s->n_events = kept;
}
