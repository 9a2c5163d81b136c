/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <errno.h>
#include <infiniband/umad_types.h>

#include "conf/base/err.h"

/*
 * The simulated fabric as a transport at the SM's port: recv handles the events that are due
 * until one of them is a MAD for the SM.
 */

static void handle_event(struct sim *s, const struct sim_event *e)
{
	switch ((enum sim_event_kind)e->kind) {
	case EVENT_MAD: s->receiver->take(s->receiver_ctx, e->port, e->msg); break;
	case EVENT_SEND: sim_send_mad(s, e->port, e->msg); break;
	case EVENT_TRAP: sim_trap_due(s, e->node, e->trap, e->timer); break;
	case EVENT_ADAPT: sim_opa_adapt(s, e->node); break;
	case EVENT_TIMER: s->receiver->timer(s->receiver_ctx, e->id, e->timer); break;
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
	if (!sim_event_is_due(s)) {
		return false;
	}
	struct sim_event e = sim_event_pop(s);
	handle_event(s, &e);
	return true;
}

/* Advances the virtual clock to the next event, or sleeps; no event is due.
 * \retval E_OK  An event may be due now. */
static int pass_time(struct sim *s, uint64_t deadline_us)
{
	uint64_t next = sim_next_us(s);
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
	wakeup_arm(&s->wakeup);
	pthread_mutex_unlock(&s->lock);
	wakeup_sleep(&s->wakeup, next < deadline_us ? next : deadline_us);
	pthread_mutex_lock(&s->lock);
	return E_OK;
}

static int sim_recv(struct transport *t, uint64_t deadline_ms, struct mad_msg *ret_msg)
{
	struct sim *s = (struct sim *)t;
	uint64_t deadline_us = wakeup_deadline_us(deadline_ms);
	int ret;

	pthread_mutex_lock(&s->lock);
	mad_pool_put(&s->pool, s->held);
	s->held = NULL;
	do {
		if (wakeup_take_interrupt(&s->wakeup)) {
			ret = -EINTR;
			break;
		}
		if (!sim_event_is_due(s)) {
			ret = pass_time(s, deadline_us);
			continue;
		}
		struct sim_event e = sim_event_pop(s);
		if (e.kind == EVENT_MAD) {
			s->held = e.msg;
			*ret_msg = mad_buf_msg(e.msg);
			ret = E_OK;
			break;
		}
		handle_event(s, &e);
		ret = E_OK;
	} while (ret == E_OK);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

int sim_send_from(struct sim *s, uint32_t port, const struct mad_msg *m)
{
	bool smp = m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	           m->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED;

	if (m->len < sizeof(struct umad_hdr) ||
	    (smp && (sim_is_opa_mad(s, m->data)
	                     ? m->len < OPA_LR_DATA_AT || m->len > OPA_MAD_BYTES
	                     : m->len != MAD_BYTES))) {
		return -EINVAL;
	}
	pthread_mutex_lock(&s->lock);
	struct mad_buf *msg = mad_pool_get(&s->pool, m->data, m->len);
	if (msg != NULL) {
		msg->addr = m->addr;
		if (!sim_fault_request(s, port, msg)) {
			sim_send_mad(s, port, msg);
		}
	}
	pthread_mutex_unlock(&s->lock);
	wakeup_notify(&s->wakeup);
	return msg != NULL ? E_OK : -ENOMEM;
}

static int sim_send(struct transport *t, const struct mad_msg *m)
{
	struct sim *s = (struct sim *)t;

	return sim_send_from(s, s->sm_port, m);
}

static void sim_wake(struct transport *t)
{
	wakeup_interrupt(&((struct sim *)t)->wakeup);
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

/* Detaches the SM. The fabric stays, but MADs on their way to the SM are lost, as they are
 * when a process ends. */
static void sim_close(struct transport *t)
{
	struct sim *s = (struct sim *)t;

	sim_set_issm(t, false);
	pthread_mutex_lock(&s->lock);
	mad_pool_put(&s->pool, s->held);
	s->held = NULL;
	sim_event_drop_mads(s);
	wakeup_take_interrupt(&s->wakeup);
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
