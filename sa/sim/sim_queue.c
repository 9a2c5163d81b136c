/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <errno.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"

/*
 * Clock, events and messages of the simulated fabric.
 *
 * What will happen is a heap ordered by (time, sequence number), so a run on the virtual
 * clock depends on its input alone. The virtual clock stands still while the SM computes
 * and jumps, inside recv, to the next event or to the deadline. On the real clock answers
 * are there at once (time 0) and only traps wait for their time.
 *
 * A MAD acts on its target when it is sent; the delay is put on the answer. So a fault
 * that is injected between a send and its answer does not undo what the send did.
 */

uint64_t sim_now_us(const struct sim *s)
{
	return s->o.virtual_clock ? s->now_us : wakeup_now_us();
}

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at_us != b->at_us ? a->at_us < b->at_us : a->seq < b->seq;
}

static void sift_up(struct sim_event *h, size_t i)
{
	struct sim_event e = h[i];
	for (; i > 0 && before(&e, &h[(i - 1) / 2]); i = (i - 1) / 2) {
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
		if (c + 1 < n && before(&h[c + 1], &h[c])) {
			c++;
		}
		if (c >= n || !before(&h[c], &e)) {
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
	/* Time 0 on the real clock spares a look at the clock for each MAD. */
	slot->at_us = s->o.virtual_clock || delay_us > 0 ? sim_now_us(s) + delay_us : 0;
	sift_up(s->heap, s->n_events++);
	return E_OK;
}

static struct sim_event event_pop(struct sim *s)
{
	struct sim_event e = s->heap[0];
	s->heap[0] = s->heap[--s->n_events];
	if (s->n_events > 0) {
		sift_down(s->heap, s->n_events);
	}
	return e;
}

int sim_deliver(struct sim *s, uint32_t port, struct mad_buf *m, unsigned hops)
{
	struct sim_event e = { .kind = EVENT_MAD, .msg = m, .port = port };
	uint64_t delay = s->o.virtual_clock ? (uint64_t)hops * s->o.delay_us : 0;
	if (s->taker == NULL && port != s->sm_port) {
		sim_client_take(s, port, m);
		return E_OK;
	}
	int ret = sim_event_add(s, &e, delay);
	if (ret != E_OK) {
		mad_pool_put(&s->pool, m);
	}
	return ret;
}

int sim_queue_init(struct sim *s)
{
	return wakeup_init(&s->waker);
}

void sim_queue_done(struct sim *s)
{
	mad_pool_done(&s->pool);
	free(s->heap);
	wakeup_done(&s->waker);
}

/* Nothing is due: moves the virtual clock or sleeps. E_OK: look again. */
static int pass_time(struct sim *s, uint64_t deadline_us)
{
	uint64_t next = s->n_events > 0 ? s->heap[0].at_us : UINT64_MAX;
	uint64_t now = sim_now_us(s);

	if (now >= deadline_us) {
		return E_TIMEOUT;
	}
	if (s->o.virtual_clock && (next != UINT64_MAX || deadline_us != UINT64_MAX)) {
		if (next > deadline_us) {
			s->now_us = deadline_us;
			return E_TIMEOUT;
		}
		s->now_us = next;
		return E_OK;
	}
	wakeup_arm(&s->waker);
	pthread_mutex_unlock(&s->lock);
	wakeup_sleep(&s->waker, next < deadline_us ? next : deadline_us);
	pthread_mutex_lock(&s->lock);
	return E_OK;
}

static bool is_due(const struct sim *s)
{
	return s->n_events > 0 &&
	       (s->heap[0].at_us == 0 || s->heap[0].at_us <= sim_now_us(s));
}

uint64_t sim_next_us(const struct sim *s)
{
	return s->n_events > 0 ? s->heap[0].at_us : UINT64_MAX;
}

static void do_event(struct sim *s, const struct sim_event *e)
{
	switch ((enum sim_event_kind)e->kind) {
	case EVENT_MAD: s->taker->take(s->taker_ctx, e->port, e->msg); break;
	case EVENT_TRAP: sim_trap_due(s, e->node, e->trap, e->timer); break;
	case EVENT_TIMER: s->taker->timer(s->taker_ctx, e->id, e->timer); break;
	}
}

bool sim_step(struct sim *s, uint64_t deadline_us)
{
	if (s->n_events == 0 || s->heap[0].at_us > deadline_us) {
		if (s->o.virtual_clock && deadline_us != UINT64_MAX &&
		    deadline_us > s->now_us) {
			s->now_us = deadline_us;
		}
		return false;
	}
	if (s->o.virtual_clock && s->heap[0].at_us > s->now_us) {
		s->now_us = s->heap[0].at_us;
	}
	if (!is_due(s)) {
		return false;
	}
	struct sim_event e = event_pop(s);
	do_event(s, &e);
	return true;
}

static int recv_locked(struct sim *s, uint64_t deadline_us, struct mad_msg *ret_msg)
{
	for (;;) {
		if (wakeup_take_interrupt(&s->waker)) {
			return -EINTR;
		}
		if (is_due(s)) {
			struct sim_event e = event_pop(s);
			if (e.kind == EVENT_MAD) {
				s->held = e.msg;
				*ret_msg = mad_buf_msg(e.msg);
				return E_OK;
			}
			do_event(s, &e);
			continue;
		}
		int ret = pass_time(s, deadline_us);
		if (ret != E_OK) {
			return ret;
		}
	}
}

static int sim_recv(struct transport *t, uint64_t deadline_ms, struct mad_msg *ret_msg)
{
	struct sim *s = (struct sim *)t;
	pthread_mutex_lock(&s->lock);
	mad_pool_put(&s->pool, s->held);
	s->held = NULL;
	int ret = recv_locked(s, wakeup_deadline_us(deadline_ms), ret_msg);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static int send_locked(struct sim *s, const struct mad_msg *m)
{
	bool smp = m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	           m->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED;
	if (smp && m->len != MAD_BYTES) {
		return -EINVAL;
	}
	struct mad_buf *msg = mad_pool_get(&s->pool, m->data, m->len);
	if (msg == NULL) {
		return -ENOMEM;
	}
	msg->addr = m->addr;
	sim_send_mad(s, s->sm_port, msg);
	return E_OK;
}

static int sim_send(struct transport *t, const struct mad_msg *m)
{
	struct sim *s = (struct sim *)t;
	if (m->len < sizeof(struct umad_hdr)) {
		return -EINVAL;
	}
	pthread_mutex_lock(&s->lock);
	int ret = send_locked(s, m);
	pthread_mutex_unlock(&s->lock);
	wakeup_notify(&s->waker);
	return ret;
}

static void sim_wake(struct transport *t)
{
	wakeup_interrupt(&((struct sim *)t)->waker);
}

static uint64_t sim_now_ms(struct transport *t)
{
	struct sim *s = (struct sim *)t;
	if (!s->o.virtual_clock) {
		return wakeup_now_us() / 1000;
	}
	pthread_mutex_lock(&s->lock);
	uint64_t now = s->now_us / 1000;
	pthread_mutex_unlock(&s->lock);
	return now;
}

static int sim_set_issm(struct transport *t, bool on)
{
	struct sim *s = (struct sim *)t;
	pthread_mutex_lock(&s->lock);
	sim_port_issm(s, s->sm_port, on, false);
	pthread_mutex_unlock(&s->lock);
	return E_OK;
}

/* The sim stays; what was on its way to this SM is gone, as with a process that ends. */
static void sim_close(struct transport *t)
{
	struct sim *s = (struct sim *)t;
	size_t kept = 0;

	sim_set_issm(t, false);
	pthread_mutex_lock(&s->lock);
	mad_pool_put(&s->pool, s->held);
	s->held = NULL;
	for (size_t i = 0; i < s->n_events; i++) {
		if (s->heap[i].msg != NULL) {
			mad_pool_put(&s->pool, s->heap[i].msg);
			continue;
		}
		s->heap[kept] = s->heap[i];
		sift_up(s->heap, kept++);
	}
	s->n_events = kept;
	wakeup_take_interrupt(&s->waker);
	pthread_mutex_unlock(&s->lock);
}

const struct transport_ops sim_ops = {
	.name = "sim",
	.send = sim_send,
	.recv = sim_recv,
	.wake = sim_wake,
	.now_ms = sim_now_ms,
	.set_issm = sim_set_issm,
	.close = sim_close,
};
