/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sim/managers.h"

#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/snapshot/snapshot.h"
#include "db/state/state.h"
#include "tests/sim/disk.h"
#include "tests/sim/judge.h"
#include "tests/sim/simulate.h"
#include "tests/sim/trace.h"

/* ---- the wire: after a crash nothing leaves any more ---- */

static struct manager *manager_of(struct transport *t)
{
	return (struct manager *)t;
}

static int wire_send(struct transport *t, const struct mad_msg *msg)
{
	struct manager *m = manager_of(t);

	disk_step(m->state_dir);
	if (disk_crashed(m->state_dir)) {
		return E_OK;
	}
	trace_count_mad(msg);
	return transport_send(m->inner, msg);
}

static int wire_recv(struct transport *t, uint64_t deadline_ms, struct mad_msg *ret_msg)
{
	struct manager *m = manager_of(t);
	struct transport *inner = m->inner;

	if (m->kept_at < m->n_kept) {
		*ret_msg = m->kept[m->kept_at++];
		return E_OK;
	}
	m->n_kept = m->kept_at = 0;
	return inner->ops->recv(inner, deadline_ms, ret_msg);
}

static void wire_wake(struct transport *t)
{
	struct transport *inner = manager_of(t)->inner;

	inner->ops->wake(inner);
}

static uint64_t wire_now_ms(struct transport *t)
{
	struct transport *inner = manager_of(t)->inner;

	return inner->ops->now_ms(inner);
}

static int wire_set_issm(struct transport *t, bool on)
{
	struct transport *inner = manager_of(t)->inner;

	return inner->ops->set_issm(inner, on);
}

static void wire_close(struct transport *t)
{
	(void)t;
}

static const struct transport_ops wire_ops = {
	.name = "sim",
	.send = wire_send,
	.recv = wire_recv,
	.wake = wire_wake,
	.now_ms = wire_now_ms,
	.set_issm = wire_set_issm,
	.close = wire_close,
};

/* ---- life ---- */

static int64_t wall_clock(void)
{
	return run_wall_clock();
}

/* A host other than those of the managers before it; GRAPH_NONE: there is none. */
static uint32_t pick_host(const struct run *r, unsigned number, uint32_t what)
{
	const struct graph *g = r->g;

	for (uint32_t k = 0; k < g->n_end_ports; k++) {
		uint32_t port = g->end_ports[(what + k) % g->n_end_ports];
		bool taken = !graph_is_host(g, port);

		for (unsigned i = 0; i < number; i++) {
			taken = taken || r->m[i].port == port;
		}
		if (!taken) {
			return port;
		}
	}
	return GRAPH_NONE;
}

/* A master hands over to those that are named to it, or to any. */
static void announce(struct run *r, bool by_name)
{
	struct option_guids guids = { .n = by_name ? r->n_managers : 1 };

	for (unsigned i = 0; i < guids.n; i++) {
		guids.guid[i] = by_name ? r->g->ports[r->m[i].port].guid : 0;
	}
	for (unsigned i = 0; i < r->n_managers; i++) {
		r->m[i].config.allowed_sm_guids = guids;
		r->m[i].config.sm_trust = by_name ? SM_TRUST_ANNOUNCED : SM_TRUST_ANY;
	}
}

bool managers_init(struct run *r, uint32_t draw)
{
	for (unsigned i = 0; i < r->n_managers; i++) {
		struct manager *m = &r->m[i];
		uint32_t port = i == 0 ? r->g->sm_port : pick_host(r, i, draw >> 4);

		if (port == GRAPH_NONE) {
			r->n_managers = i;
			break;
		}
		m->port = port;
		m->config = r->config;
		m->detaches = r->takes_turns;
		m->config.sm_priority = draw >> 2 * i & 3;
		snprintf(m->state_dir, sizeof(m->state_dir), "%s/state%u", r->dir, i);
		snprintf(m->snap_dir, sizeof(m->snap_dir), "%s/run%u", r->dir, i);
		if (!r->takes_turns) {
			m->inner = sim_transport(r->sim);
		} else if (sim_transport_at(r->sim, r->g->ports[port].guid, &m->inner) !=
		           E_OK) {
			return run_fail(r, "no transport at port %u", port);
		}
		m->wire.ops = &wire_ops;
		m->wire.local = m->inner->local;
	}
	announce(r, draw >> 31);
	r->judge = &r->m[0];
	return true;
}

bool manager_start(struct run *r, struct manager *m)
{
	struct snap_options o = {
		.grace_ms = m->config.snapshot_grace,
		.history_bytes = (uint64_t)m->config.epoch_history << 20,
	};
	const char *why = "";

	m->daemon = arena_new();
	if (m->daemon == NULL ||
	    state_open(m->state_dir, m->daemon, &why, &m->state) != E_OK ||
	    snap_writer_open(m->snap_dir, &o, m->daemon, &why, &m->snap) != E_OK) {
		bool again = disk_crashed(m->state_dir); /* it crashed while it started */

		manager_kill(m);
		if (again) {
			return manager_start(r, m);
		}
		return disk_fault() != DISK_GOOD ||
		       run_fail(r, "the databases do not open: %s", why);
	}
	m->deps = (struct sweep_deps){ .transport = &m->wire,
		                       .state = m->state,
		                       .snap = m->snap,
		                       .config = &m->config,
		                       .engines = &r->engines,
		                       .list = r->list,
		                       .single_thread = true,
		                       .wall_clock = wall_clock };
	return clients_open(r, m) && (sweep_new(&m->deps, &m->sweep) == E_OK ||
	                              run_fail(r, "the subnet manager does not start"));
}

void manager_kill(struct manager *m)
{
	sweep_free(m->sweep);
	clients_close(m);
	snap_writer_close(m->snap);
	state_close(m->state);
	arena_free(m->daemon);
	if (m->detaches) {
		m->inner->ops->close(m->inner);
	}
	m->frozen_until = 0;
	m->n_kept = m->kept_at = 0;
	m->sweep = NULL;
	m->snap = NULL;
	m->state = NULL;
	m->daemon = NULL;
	if (disk_crashed(m->state_dir)) {
		disk_crash_soon(NULL, 0);
	}
}

void manager_crash_soon(struct manager *m, unsigned steps)
{
	disk_crash_soon(m->state_dir, steps);
}

uint64_t managers_now(const struct run *r)
{
	struct transport *t = r->m[0].inner;

	return t->ops->now_ms(t);
}

void manager_freeze(struct run *r, struct manager *m, uint64_t ms)
{
	m->frozen_until = managers_now(r) + ms;
}

/* Is it stopped? Its host keeps what comes. */
static bool is_frozen(const struct run *r, struct manager *m)
{
	struct mad_msg msg;

	if (m->frozen_until == 0 || m->sweep == NULL ||
	    managers_now(r) >= m->frozen_until) {
		m->frozen_until = 0;
		return false;
	}
	while (m->inner->ops->recv(m->inner, m->frozen_until, &msg) == E_OK) {
		if (m->n_kept == MANAGER_KEPT || msg.len > MAD_BYTES) {
			continue;
		}
		memcpy(m->kept_bytes[m->n_kept], msg.data, msg.len);
		msg.data = m->kept_bytes[m->n_kept];
		m->kept[m->n_kept++] = msg;
	}
	return true;
}

bool managers_turn(struct run *r, uint64_t end)
{
	for (unsigned i = 0; i < r->n_managers; i++) {
		struct manager *m = &r->m[i];

		if (is_frozen(r, m)) {
			continue;
		}
		if (m->sweep != NULL && sweep_run_once(m->sweep) != E_OK) {
			return run_fail(r, "the transport is gone");
		}
		if (!judge_turn(r, m)) {
			return false;
		}
		trace_print(managers_now(r), i);
		if (m->sweep != NULL && disk_crashed(m->state_dir)) {
			manager_kill(m);
			if (!manager_start(r, m)) {
				return false;
			}
		}
	}
	if (r->takes_turns) {
		sim_pass(r->sim, end);
	}
	return true;
}
