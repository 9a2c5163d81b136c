/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sim/faults.h"

#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/sim/sim.h"
#include "sa/sm/drained.h"
#include "sa/sm/sm.h"
#include "sa/sm/sweep.h"
#include "sa/sm/sweep/sweep_int.h"
#include "tests/sim/clients.h"
#include "tests/sim/disk.h"
#include "tests/sim/invariants.h"

/* A node that may be disturbed: not that of the subnet manager. */
static uint32_t pick_node(const struct run *r, uint32_t what)
{
	uint32_t own = r->g->ports[r->g->sm_port].node, n = what % (r->g->n_nodes - 1);

	return n >= own ? n + 1 : n;
}

/* A port with a cable, not the subnet manager's. GRAPH_NONE: there is none. */
static uint32_t pick_cable(const struct run *r, uint32_t what)
{
	const struct graph *g = r->g;

	for (uint32_t k = 0; k < g->n_ports; k++) {
		uint32_t port = (what + k) % g->n_ports, peer = g->ports[port].peer;

		if (peer != GRAPH_NONE && port != g->sm_port && peer != g->sm_port) {
			return port;
		}
	}
	return GRAPH_NONE;
}

/* The subnet manager is told something false. \a identity: perhaps about who a port is, so
 * that ports may get other LIDs. */
static void mislead(struct run *r, bool identity)
{
	r->misled = true;
	if (identity) {
		memset(r->lid, 0, r->g->n_ports * sizeof(*r->lid));
	}
}

static void make_noise(struct run *r, uint32_t what)
{
	struct sim_noise noise = { 0 };

	if (what % 4 != 0) {
		noise.delay_us = what % 400000;
		noise.delay_ppm = (what >> 3) % 100000;
	}
	if (what % 4 >= 2) { /* an old Set that arrives again undoes a newer one */
		noise.duplicate_ppm = (what >> 5) % 50000;
		mislead(r, false);
	}
	if (what % 4 == 2) {
		noise.corrupt_ppm = (what >> 7) % 50000;
		mislead(r, true);
	}
	sim_set_noise(r->sim, &noise);
}

static void set_hostile(struct run *r, uint32_t node, bool hostile)
{
	r->hostile[node] = hostile;
	r->has_lied[node] |= hostile;
	sim_set_hostile(r->sim, r->g->nodes[node].guid, hostile);
}

/* \a shown: the node whose GUIDs it shows; itself: the truth. */
static void set_twin(struct run *r, uint32_t node, uint32_t shown)
{
	r->twin[node] = shown != node;
	sim_set_guids(r->sim, r->g->nodes[node].guid, r->g->nodes[shown].guid);
}

static void lose_lid(struct run *r, uint32_t what)
{
	const struct graph *g = r->g;
	uint32_t port = g->end_ports[what % g->n_end_ports],
		 other = g->end_ports[(what >> 8) % g->n_end_ports];

	sim_set_lid(r->sim, g->nodes[g->ports[port].node].guid, g->ports[port].num,
	            what >> 24 & 1 ? 0 : r->lid[other]);
	mislead(r, false);
}

/* The routes of a switch that answers again are those of earlier times until a heavy sweep
 * has ended: the one at work may not see it. */
static void set_deaf(struct run *r, uint32_t node, bool deaf)
{
	r->deaf[node] = deaf;
	sim_set_deaf(r->sim, r->g->nodes[node].guid, deaf);
	if (!deaf && r->judge->sweep != NULL) {
		r->stale_until = sweep_status(r->judge->sweep)->heavy_sweeps + 2;
	}
}

static void set_cable(struct run *r, uint32_t port, bool cut)
{
	const struct graph *g = r->g;

	r->cut[port] = r->cut[g->ports[port].peer] = cut;
	sim_set_link(r->sim, g->nodes[g->ports[port].node].guid, g->ports[port].num,
	             !cut);
}

/* A node has no packet format in common with its neighbours, so it is refused. It comes back as another one, since
 * nothing else would say so. Not one with a subnet manager, and not the neighbour of one, which would keep the
 * others waiting while it manages nobody but itself. */
static void set_refused(struct run *r, uint32_t node, bool refused)
{
	enum { FORMAT_8B = 1, FORMATS = 10 };
	const struct node *n = &r->g->nodes[node];

	for (unsigned i = 0; i < r->n_managers; i++) {
		const struct port *p = &r->g->ports[r->m[i].port];

		if (p->node == node || r->g->ports[p->peer].node == node) {
			return;
		}
	}
	r->refused[node] = refused;
	sim_set_node(r->sim, n->guid, false);
	for (unsigned k = 0; k <= n->n_ports; k++) {
		sim_opa_lie(r->sim, n->guid, (uint8_t)k, "PacketFormats",
		            refused ? FORMAT_8B : FORMATS);
	}
	sim_set_node(r->sim, n->guid, !r->down[node]);
}

bool faults_end_refusals(struct run *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->g->n_nodes; i++) {
		if (r->refused[i]) {
			set_refused(r, i, false);
			any = true;
		}
	}
	return any;
}

/* The cable is in the end as it was before. */
static bool flap(struct run *r, uint32_t port, uint32_t what)
{
	for (unsigned k = 4 + 2 * (what % 4); k > 0; k--) {
		set_cable(r, port, !r->cut[port]);
		if (!run_until(r, managers_now(r) + 1 + (what >> k) % 150)) {
			return false;
		}
	}
	return true;
}

/* Cuts all cables of a switch to other switches, or plugs them in. */
static void split(struct run *r, uint32_t node)
{
	const struct node *n = &r->g->nodes[node];
	bool cut = true;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned k = 1; n->type == NODE_SWITCH && k <= n->n_ports; k++) {
			uint32_t port = n->first_port + k, peer = r->g->ports[port].peer;

			if (peer == GRAPH_NONE ||
			    r->g->nodes[r->g->ports[peer].node].type != NODE_SWITCH) {
				continue;
			}
			if (pass == 0) {
				cut = cut && !r->cut[port];
			} else {
				set_cable(r, port, cut);
			}
		}
	}
}

static unsigned count_running(const struct run *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_managers; i++) {
		n += r->m[i].sweep != NULL;
	}
	return n;
}

static bool start_all(struct run *r)
{
	for (unsigned i = 0; i < r->n_managers; i++) {
		if (r->m[i].sweep == NULL && !manager_start(r, &r->m[i])) {
			return false;
		}
	}
	return true;
}

/* One of several may stay away for a while. */
static bool kill_or_start(struct run *r, uint32_t what)
{
	struct manager *m = &r->m[what % r->n_managers];

	if (m->sweep == NULL) {
		return manager_start(r, m);
	}
	if (!clients_register(r, m, what)) {
		return false;
	}
	manager_kill(m);
	return (count_running(r) != 0 && what >> 8 & 1) || manager_start(r, m);
}

/* With the subnet manager on it. */
static bool reboot(struct run *r, uint32_t node)
{
	sim_reboot(r->sim, r->g->nodes[node].guid);
	for (unsigned i = 0; i < r->n_managers; i++) {
		if (r->m[i].sweep != NULL && r->g->ports[r->m[i].port].node == node) {
			manager_kill(&r->m[i]);
			return manager_start(r, &r->m[i]);
		}
	}
	return true;
}

static bool request_heavy(struct run *r, uint32_t what)
{
	for (unsigned i = 0; i < r->n_managers; i++) {
		if (r->m[i].sweep != NULL && (what >> 20 & 3) == 0) {
			sweep_reconfigure(r->m[i].sweep, &r->m[i].deps);
		} else if (r->m[i].sweep != NULL) {
			sweep_request_heavy(r->m[i].sweep);
		}
	}
	return r->m[what % r->n_managers].sweep == NULL ||
	       clients_register(r, &r->m[what % r->n_managers], what);
}

/* While the master works, so mostly in the middle of a sweep; a client registers meanwhile. */
static bool crash(struct run *r, uint32_t what)
{
	struct manager *m = &r->m[what % r->n_managers];

	if (m->sweep == NULL) {
		return manager_start(r, m);
	}
	manager_crash_soon(m, (what >> 4) % ((what >> 2 & 3) == 0 ? 10 : 600));
	sweep_request_heavy(m->sweep);
	return clients_register(r, m, what);
}

/* The master mostly; for a moment, or long enough for another one to take its place. A client may
 * have registered before. */
static bool freeze(struct run *r, uint32_t what)
{
	struct manager *m = &r->m[what % r->n_managers];

	for (unsigned i = 0; i < r->n_managers && what >> 8 & 3; i++) {
		if (r->m[i].sweep != NULL && sweep_status(r->m[i].sweep)->master) {
			m = &r->m[i];
		}
	}
	if (m->sweep == NULL || !r->takes_turns) {
		return true;
	}
	if (what >> 10 & 1) { /* in the middle of it */
		sweep_request_heavy(m->sweep);
	}
	manager_freeze(r, m, 200 + (what >> 12) % ((what >> 11 & 1) ? 8000 : 2000));
	return (what >> 10 & 1) || clients_register(r, m, what);
}

/* A port of a switch that leads to another one, or to a host. */
static void set_busy(struct run *r, uint32_t what)
{
	const struct graph *g = r->g;
	uint32_t node = g->switches[what % g->n_switches];
	uint8_t port = (uint8_t)(1 + (what >> 8) % g->nodes[node].n_ports);

	sim_opa_congest(r->sim, g->nodes[node].guid, port,
	                what >> 20 & 1 ? 0 : (what >> 21) % 101);
}

static struct manager *find_master(struct run *r)
{
	for (unsigned i = 0; i < r->n_managers; i++) {
		if (r->m[i].sweep != NULL && sweep_status(r->m[i].sweep)->master) {
			return &r->m[i];
		}
	}
	return NULL;
}

/* Of the master. A request that it refuses is of no consequence. */
static void drain(struct run *r, uint32_t what)
{
	const struct graph *g = r->g;
	uint32_t port = what % g->n_ports;
	struct manager *m = find_master(r);
	struct drained_request rq = { .node_guid = g->nodes[g->switches[what % g->n_switches]].guid,
		                      .end = (what >> 8) % 3 == 0 };
	struct drained_outcome o;
	char why[400];

	if (what >> 10 & 1) {
		rq.node_guid = g->nodes[g->ports[port].node].guid;
		rq.port = g->ports[port].num;
	}
	if (m != NULL) {
		(void)sweep_request_drained(m->sweep, &rq, &o, why, sizeof(why));
	}
}

bool faults_end_drains(struct run *r)
{
	bool any = false;
	struct manager *m = find_master(r);
	struct drained_outcome o;
	char why[400];

	while (m != NULL && m->sweep->sm.drained.n > 0) {
		const struct drained_row *row = &m->sweep->sm.drained.list[0];
		struct drained_request rq = { .node_guid = row->node_guid,
			                      .port = row->port,
			                      .reason = (enum drained_reason)row->reason,
			                      .end = true };

		if (sweep_request_drained(m->sweep, &rq, &o, why, sizeof(why)) != E_OK) {
			return any;
		}
		any = true;
	}
	return any;
}

bool faults_do(struct run *r, const struct event *e)
{
	const struct graph *g = r->g;
	uint32_t node = pick_node(r, e->what), port = pick_cable(r, e->what);
	char text[32];

	switch (e->kind) {
	case EVENT_LINK:
		if (port != GRAPH_NONE) {
			set_cable(r, port, !r->cut[port]);
		}
		return true;
	case EVENT_NODE:
		r->down[node] = !r->down[node];
		sim_set_node(r->sim, g->nodes[node].guid, !r->down[node]);
		return true;
	case EVENT_DEAF: set_deaf(r, node, !r->deaf[node]); return true;
	case EVENT_REBOOT: return reboot(r, node);
	case EVENT_DESCRIBE:
		snprintf(text, sizeof(text), "renamed %u", e->what % 1000);
		sim_set_description(r->sim, g->nodes[node].guid, text);
		return true;
	case EVENT_LOSS:
		r->lossy = e->what % 3 != 0;
		sim_set_drop(r->sim, r->lossy ? e->what % 100000 : 0);
		return true;
	case EVENT_KILL: return kill_or_start(r, e->what);
	case EVENT_HEAVY: return request_heavy(r, e->what);
	case EVENT_NOISE: make_noise(r, e->what); return true;
	case EVENT_HOSTILE:
		set_hostile(r, node, !r->hostile[node]);
		mislead(r, true);
		return true;
	case EVENT_TWIN:
		set_twin(r, node, r->twin[node] ? node : pick_node(r, e->what >> 8));
		mislead(r, true);
		return true;
	case EVENT_LID: lose_lid(r, e->what); return true;
	case EVENT_FLAP: return port == GRAPH_NONE || flap(r, port, e->what);
	case EVENT_SPLIT: split(r, node); return true;
	case EVENT_CLOCK:
		run_step_clock((int64_t)(e->what % 63072000) - 31536000);
		return true;
	case EVENT_CRASH: return crash(r, e->what);
	case EVENT_DISK:
		disk_set(disk_fault() == DISK_GOOD
		                 ? (enum disk_fault)(1 + e->what % (DISK_FAULTS - 1))
		                 : DISK_GOOD);
		return true;
	case EVENT_VPORT: return vports_disturb(r, e->what, r->nonsense);
	case EVENT_FREEZE: return freeze(r, e->what);
	case EVENT_BUSY:
		if (e->what >> 28 < 4) {
			set_refused(r, node, !r->refused[node]);
		} else {
			set_busy(r, e->what);
		}
		return true;
	case EVENT_DRAIN: drain(r, e->what); return true;
	case EVENT_COUNT: break;
	}
	return true;
}

/* The first one that runs has a working cable to its neighbour. */
static void connect_judge(struct run *r)
{
	uint32_t port, next;

	for (r->judge = &r->m[0]; r->judge->sweep == NULL;) {
		r->judge++;
	}
	port = r->judge->port;
	next = r->g->ports[r->g->ports[port].peer].node;
	for (unsigned k = 0; k < 2; k++) {
		uint32_t node = k == 0 ? next : r->g->ports[port].node;

		if (r->down[node]) {
			r->down[node] = false;
			sim_set_node(r->sim, r->g->nodes[node].guid, true);
		}
	}
	if (r->cut[port]) {
		set_cable(r, port, false);
	}
}

bool faults_end(struct run *r, bool all_run)
{
	disk_set(DISK_GOOD);
	disk_crash_soon(NULL, 0);
	if ((count_running(r) == 0 || all_run) && !start_all(r)) {
		return false;
	}
	connect_judge(r);
	sim_set_drop(r->sim, 0);
	r->lossy = false;
	for (unsigned i = 0; i < r->n_managers; i++) {
		r->m[i].frozen_until = 0;
	}
	for (uint32_t i = 0; i < r->g->n_nodes; i++) {
		if (r->deaf[i]) {
			set_deaf(r, i, false);
		}
		set_hostile(r, i, false);
		set_twin(r, i, i);
	}
	sim_set_noise(r->sim, &(struct sim_noise){ 0 });
	if (find_is_parted(r)) {
		(void)faults_end_refusals(r);
	}
	vports_settle(r);
	(void)faults_end_drains(r);
	return true;
}
