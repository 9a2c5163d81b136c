/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_sm.h>

/*
 * How MADs get through the simulated fabric, cable by cable.
 *
 * Directed route (IBA vol. 1, 14.2.2): the request carries the egress ports in its
 * initial path; each node on the way notes in the return path where the SMP came in; the
 * answer goes back along the return path with the direction bit set. A first part that is
 * LID routed (the address has a LID that is not permissive) leads to a switch where the
 * directed part starts; a last part by LID leads from the node where it ends to DrDLID.
 * Answers take the parts in the opposite order, to DrSLID at last.
 *
 * LID routed: from switch to switch by the LFTs as they were programmed, LinearFDBTop
 * respected. Management packets (VL 15) pass each cable that is up; data packets leave
 * only by ACTIVE ports and come in by ARMED or ACTIVE ones, an ARMED port turning ACTIVE
 * by it (7.2.7).
 *
 * What finds no way is gone without a word, as in a fabric; the SMP engine's timers tell.
 */

enum {
	HOPS_MAX = 64
}; /* LID routed: more switches than any route has, so a loop ends here */

static bool leave(struct sim *s, struct sim_at *at, unsigned out)
{
	if (out == 0 || out > s->g->nodes[at->node].n_ports) {
		return false;
	}
	uint32_t p = sim_port_index(s, at->node, out);
	if (!s->ports[p].up) {
		return false;
	}
	const struct port *peer = &s->g->ports[s->g->ports[p].peer];
	sim_perf_count(s, p, s->g->ports[p].peer);
	at->node = peer->node;
	at->port = peer->num;
	at->hops++;
	return true;
}

static unsigned port_state(const struct sim *s, uint32_t port)
{
	return (unsigned)field_get(s->ports[port].info, PI_PORT_STATE);
}

static bool leave_data(struct sim *s, struct sim_at *at, unsigned out)
{
	uint32_t from = sim_port_index(s, at->node, out);
	if (port_state(s, from) != PORT_ACTIVE || !leave(s, at, out)) {
		return false;
	}
	uint32_t in = sim_port_index(s, at->node, at->port);
	if (port_state(s, in) == PORT_ARMED) {
		field_set(s->ports[in].info, PI_PORT_STATE, PORT_ACTIVE);
		s->changes++;
	}
	return port_state(s, in) == PORT_ACTIVE;
}

static bool lid_is_mine(const struct sim *s, uint32_t port, uint32_t dlid)
{
	const uint8_t *info = s->ports[port].info;
	uint32_t lid = (uint32_t)field_get(info, PI_LID);
	return lid != 0 && (lid ^ dlid) >> field_get(info, PI_LMC) == 0;
}

static unsigned lft_port(const struct sim *s, uint32_t node, uint32_t dlid)
{
	const struct sim_node *n = &s->nodes[node];
	if (dlid >= n->lft_len || dlid > field_get(n->sw_info, SI_LINEAR_FDB_TOP)) {
		return LFT_NO_ROUTE;
	}
	return n->lft[dlid];
}

static bool leave_by(struct sim *s, struct sim_at *at, unsigned out, bool data)
{
	if (out == 0 || out > s->g->nodes[at->node].n_ports) {
		return false;
	}
	return data ? leave_data(s, at, out) : leave(s, at, out);
}

bool sim_walk_lid(struct sim *s, struct sim_at *at, uint32_t dlid, bool data)
{
	if (dlid == 0 || dlid >= LID_UNICAST_END) {
		return false;
	}
	if (!sim_is_switch(s, at->node)) {
		uint32_t own = sim_end_port(s, at);
		if (lid_is_mine(s, own, dlid)) {
			return !data || port_state(s, own) == PORT_ACTIVE;
		}
		if (!leave_by(s, at, at->port, data)) {
			return false;
		}
	}
	while (sim_is_switch(s, at->node)) {
		unsigned out = lft_port(s, at->node, dlid);
		if (out == 0) {
			at->port = 0;
			break;
		}
		if (at->hops > HOPS_MAX || !leave_by(s, at, out, data)) {
			return false;
		}
	}
	return lid_is_mine(s, sim_end_port(s, at), dlid);
}

/* From the sender to the end of the initial path. */
static bool dr_out(struct sim *s, struct sim_at *at, struct umad_smp *smp)
{
	if (smp->hop_ptr != 0 || smp->hop_cnt >= UMAD_SMP_MAX_HOPS) {
		return false;
	}
	for (unsigned i = 1; i <= smp->hop_cnt; i++) {
		unsigned out = smp->initial_path[i];
		/* A channel adapter passes nothing on: it can only be the first node. */
		if (!sim_is_switch(s, at->node) && (at->hops > 0 || out != at->port)) {
			return false;
		}
		if (!leave(s, at, out)) {
			return false;
		}
		smp->return_path[i] = at->port;
	}
	smp->hop_ptr = (uint8_t)(smp->hop_cnt + 1);
	return true;
}

/* From the end of the initial path back to its start. */
static bool dr_back(struct sim *s, struct sim_at *at, struct umad_smp *smp)
{
	if (smp->hop_cnt >= UMAD_SMP_MAX_HOPS || smp->hop_ptr != smp->hop_cnt + 1) {
		return false;
	}
	for (unsigned i = smp->hop_cnt; i >= 1; i--) {
		if (!sim_is_switch(s, at->node) && i != smp->hop_cnt) {
			return false;
		}
		if (!leave(s, at, smp->return_path[i])) {
			return false;
		}
	}
	smp->hop_ptr = 0;
	return true;
}

bool sim_lost(struct sim *s)
{
	if (s->o.drop_ppm == 0) {
		return false;
	}
	/* xorshift64 (Marsaglia, Xorshift RNGs, 2003) */
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return (s->rng >> 11) % 1000000 < s->o.drop_ppm;
}

static bool is_silent(const struct sim *s, uint32_t node)
{
	return s->nodes[node].down || s->nodes[node].deaf;
}

/* What the agent leaves to the programs on its node: answers, traps, SMInfo. */
static bool is_for_programs(const struct sim *s, const struct sim_at *at,
                            const uint8_t *mad)
{
	uint8_t method = mad[3];
	if (s->taker == NULL && sim_end_port(s, at) != s->sm_port) {
		return false;
	}
	return (method & UMAD_METHOD_RESP_MASK) != 0 || method == UMAD_METHOD_TRAP ||
	       field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SM_INFO;
}

/* Hands the MAD to the programs where it is; lid: whom they see as the sender. */
static bool deliver(struct sim *s, struct mad_buf *m, const struct sim_at *at,
                    uint32_t lid)
{
	if (is_silent(s, at->node)) {
		return false;
	}
	m->addr = (struct mad_addr){
		.directed = m->data[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE,
		.lid = lid,
	};
	sim_deliver(s, sim_end_port(s, at), m, at->hops);
	return true;
}

/* The node's agent: true when the MAD now is an answer to carry back. */
static bool agent_answers(struct sim *s, struct mad_buf *m, const struct sim_at *at)
{
	return !sim_lost(s) && sim_agent(s, at, m->data) && !sim_lost(s);
}

static uint32_t lid_at(const struct sim *s, const struct sim_at *at)
{
	return (uint32_t)field_get(s->ports[sim_end_port(s, at)].info, PI_LID);
}

static bool walk_to_switch(struct sim *s, struct sim_at *at, uint32_t lid)
{
	return sim_walk_lid(s, at, lid, false) && sim_is_switch(s, at->node);
}

/* An answer from the end of the initial path to who asked. */
static bool directed_home(struct sim *s, struct mad_buf *m, struct sim_at *at)
{
	uint32_t dr_slid = (uint32_t)field_get(m->data, SMP_DR_SLID);
	uint32_t lid = LID_PERMISSIVE;

	if (!dr_back(s, at, (struct umad_smp *)m->data)) {
		return false;
	}
	if (dr_slid != LID_PERMISSIVE) {
		lid = lid_at(s, at);
		if (!sim_walk_lid(s, at, dr_slid, false)) {
			return false;
		}
	}
	return deliver(s, m, at, lid);
}

/* A program's answer: by LID to the switch where the directed part ended, if any. */
static bool directed_answer(struct sim *s, struct mad_buf *m, struct sim_at *at)
{
	uint32_t lid = m->addr.lid;
	if (lid != LID_PERMISSIVE && lid != 0 &&
	    field_get(m->data, SMP_DR_DLID) != LID_PERMISSIVE &&
	    !walk_to_switch(s, at, lid)) {
		return false;
	}
	return directed_home(s, m, at);
}

static bool directed_request(struct sim *s, struct mad_buf *m, struct sim_at *at)
{
	uint32_t dr_slid = (uint32_t)field_get(m->data, SMP_DR_SLID);
	uint32_t dr_dlid = (uint32_t)field_get(m->data, SMP_DR_DLID);
	bool by_lid = m->addr.lid != LID_PERMISSIVE && m->addr.lid != 0 &&
	              dr_slid != LID_PERMISSIVE;

	if ((by_lid && !walk_to_switch(s, at, m->addr.lid)) ||
	    !dr_out(s, at, (struct umad_smp *)m->data)) {
		return false;
	}
	struct sim_at turn = *at; /* here the directed part ends */
	uint32_t turn_lid = LID_PERMISSIVE;
	if (dr_dlid != LID_PERMISSIVE) {
		turn_lid = lid_at(s, &turn);
		if (!sim_is_switch(s, turn.node) ||
		    !sim_walk_lid(s, at, dr_dlid, false)) {
			return false;
		}
	}
	if (is_for_programs(s, at, m->data)) {
		return deliver(s, m, at, turn_lid);
	}
	if (!agent_answers(s, m, at)) {
		return false;
	}
	if (dr_dlid != LID_PERMISSIVE) {
		if (!walk_to_switch(s, at, turn_lid)) {
			return false;
		}
		turn.hops = at->hops;
		*at = turn;
	}
	return directed_home(s, m, at);
}

static uint32_t own_lid(const struct sim *s, uint32_t from, const struct mad_buf *m)
{
	const uint8_t *info = s->ports[from].info;
	uint32_t mask = (1u << field_get(info, PI_LMC)) - 1;
	return (uint32_t)field_get(info, PI_LID) | (m->addr.path_bits & mask);
}

static bool send_by_lid(struct sim *s, uint32_t from, struct mad_buf *m,
                        struct sim_at *at)
{
	uint32_t dlid = m->addr.lid;
	uint32_t slid = own_lid(s, from, m);

	if (!sim_walk_lid(s, at, dlid, false)) {
		return false;
	}
	if (is_for_programs(s, at, m->data)) {
		return deliver(s, m, at, slid);
	}
	if (!agent_answers(s, m, at) || !sim_walk_lid(s, at, slid, false)) {
		return false;
	}
	return deliver(s, m, at, dlid);
}

/* The P_Key must be in the receiver's table (IBA vol. 1, 10.9.3). */
static bool translate_pkey(struct sim *s, uint32_t from, uint32_t to, struct mad_addr *a)
{
	int index = sim_pkey_find(s, to, sim_pkey_at(s, from, a->pkey_index));
	if (index < 0) {
		return false;
	}
	a->pkey_index = (uint16_t)index;
	return true;
}

static bool send_gmp(struct sim *s, uint32_t from, struct mad_buf *m, struct sim_at *at)
{
	uint32_t dlid = m->addr.lid;
	uint32_t slid = own_lid(s, from, m);

	if (!sim_walk_lid(s, at, dlid, true) || is_silent(s, at->node)) {
		return false;
	}
	uint32_t to = sim_end_port(s, at);
	if (s->taker != NULL && (sim_lost(s) || !translate_pkey(s, from, to, &m->addr))) {
		return false;
	}
	if (sim_perf_agent(s, at, m->data)) { /* counters: the node itself answers */
		if (!sim_walk_lid(s, at, slid, true)) {
			return false;
		}
		m->addr.lid = dlid;
	} else {
		m->addr.path_bits =
			(uint8_t)(dlid - field_get(s->ports[to].info, PI_LID));
		m->addr.lid = slid;
	}
	sim_deliver(s, sim_end_port(s, at), m, at->hops);
	return true;
}

static void count(struct sim *s, const uint8_t *mad)
{
	uint64_t attr = field_get(mad, MAD_ATTR_ID);
	if (mad[3] < SIM_METHODS) { /* requests */
		s->counts[mad[3]][attr < SIM_ATTRS ? attr : SIM_ATTRS]++;
	}
}

static bool send_smp(struct sim *s, uint32_t from, struct mad_buf *m, struct sim_at *at)
{
	count(s, m->data);
	if (m->data[1] == UMAD_CLASS_SUBN_LID_ROUTED) {
		return send_by_lid(s, from, m, at);
	}
	return field_get(m->data, SMP_DIRECTION) ? directed_answer(s, m, at)
	                                         : directed_request(s, m, at);
}

void sim_send_mad(struct sim *s, uint32_t from, struct mad_buf *m)
{
	const struct port *p = &s->g->ports[from];
	struct sim_at at = { .node = p->node, .port = p->num };
	bool smp = m->data[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	           m->data[1] == UMAD_CLASS_SUBN_LID_ROUTED;

	if (smp ? !send_smp(s, from, m, &at) : !send_gmp(s, from, m, &at)) {
		mad_pool_put(&s->pool, m);
	}
}
