/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim_state.h"

#include <infiniband/umad_sm.h>

/*
 * How MADs get through the simulated fabric, cable by cable.
 *
 * Directed route (IBA vol. 1, 14.2.2): the request carries the egress ports in its
 * initial path; each node on the way notes in the return path where the SMP came in; the
 * answer goes back along the return path with the direction bit set. A first part that is
 * LID routed (the address has a LID that is not permissive) leads to a switch where the
 * directed part starts; a last LID-routed part (DrDLID) is not offered: such an SMP
 * vanishes.
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

static bool lost(struct sim *s)
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

static bool is_sm_port(const struct sim *s, const struct sim_at *at)
{
	return sim_end_port(s, at) == s->sm_port;
}

/* What the agent leaves to the programs on its node: answers, traps, SMInfo. */
static bool is_for_sm(const uint8_t *mad)
{
	uint8_t method = mad[3];
	uint32_t attr = (uint32_t)field_get(mad, MAD_ATTR_ID);
	return (method & UMAD_METHOD_RESP_MASK) != 0 || method == UMAD_METHOD_TRAP ||
	       attr == UMAD_SM_ATTR_SM_INFO;
}

/* Where the agent's part is done: true when the MAD now is an answer to carry back. */
static bool arrive(struct sim *s, struct mad_buf *m, const struct sim_at *at)
{
	if (lost(s)) {
		return false;
	}
	return sim_agent(s, at, m->data) && !lost(s);
}

static void finish(struct sim *s, struct mad_buf *m, const struct sim_at *at,
                   uint32_t from)
{
	if (!is_sm_port(s, at)) {
		mad_pool_put(&s->pool, m);
		return;
	}
	m->addr = (struct mad_addr){
		.directed = m->data[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE,
		.lid = from,
	};
	sim_deliver(s, m, at->hops);
}

static bool send_directed(struct sim *s, struct mad_buf *m, struct sim_at *at)
{
	struct umad_smp *smp = (struct umad_smp *)m->data;
	uint32_t dr_slid = (uint32_t)field_get(m->data, SMP_DR_SLID);

	if (field_get(m->data,
	              SMP_DIRECTION)) { /* an answer of ours, to a request of SMInfo */
		return dr_back(s, at, smp);
	}
	if (field_get(m->data, SMP_DR_DLID) != LID_PERMISSIVE) {
		return false;
	}
	if (m->addr.lid != LID_PERMISSIVE && m->addr.lid != 0 &&
	    dr_slid != LID_PERMISSIVE &&
	    !(sim_walk_lid(s, at, m->addr.lid, false) && sim_is_switch(s, at->node))) {
		return false;
	}
	if (!dr_out(s, at, smp)) {
		return false;
	}
	if (is_sm_port(s, at) && is_for_sm(m->data)) {
		return true;
	}
	if (!arrive(s, m, at)) {
		return false;
	}
	return dr_back(s, at, smp) &&
	       (dr_slid == LID_PERMISSIVE || sim_walk_lid(s, at, dr_slid, false));
}

static bool send_by_lid(struct sim *s, struct mad_buf *m, struct sim_at *at)
{
	if (!sim_walk_lid(s, at, m->addr.lid, false)) {
		return false;
	}
	if (is_sm_port(s, at) && is_for_sm(m->data)) {
		return true;
	}
	if (!arrive(s, m, at)) {
		return false;
	}
	uint32_t sm_lid = (uint32_t)field_get(s->ports[s->sm_port].info, PI_LID);
	return sim_walk_lid(s, at, sm_lid, false);
}

static void count(struct sim *s, const uint8_t *mad)
{
	uint64_t attr = field_get(mad, MAD_ATTR_ID);
	if (mad[3] < SIM_METHODS) { /* requests */
		s->counts[mad[3]][attr < SIM_ATTRS ? attr : SIM_ATTRS]++;
	}
}

void sim_send_smp(struct sim *s, struct mad_buf *m)
{
	const struct port *sm = &s->g->ports[s->sm_port];
	struct sim_at at = { .node = sm->node, .port = sm->num };
	bool directed = m->data[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	uint32_t from = directed ? LID_PERMISSIVE : m->addr.lid;

	count(s, m->data);
	if (directed ? !send_directed(s, m, &at) : !send_by_lid(s, m, &at)) {
		mad_pool_put(&s->pool, m);
		return;
	}
	finish(s, m, &at, from);
}
