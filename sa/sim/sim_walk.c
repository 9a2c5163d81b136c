/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_sm.h>

#include "conf/base/p_key.h"

/*
 * How a MAD moves through the simulated fabric, cable by cable.
 *
 * Directed route (IBA vol. 1, 14.2.2): the request has the egress ports in its initial path,
 * and each node writes the ingress port into the return path. The processor of each switch
 * on the way handles it; what moves by LID costs no processor time.
 *
 * LID routed: from switch to switch by the programmed LFTs, up to LinearFDBTop. Management
 * packets (VL 15) pass every cable that is up, and every node that was not told to lose them. Data packets leave only by ACTIVE ports and
 * enter by ARMED or ACTIVE ones; an ARMED port becomes ACTIVE by it (7.2.7). A switch port that
 * enforces partitions drops data packets of a partition that is not in its P_Key table (10.9.3).
 */

enum { HOPS_MAX = 64 }; /* LID routed: longer than any route, so that a loop ends here */

/* Passes the cable at a port, by the rules of VL 15. */
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
	if (s->opa != NULL && at->slid != 0) {
		struct opa_port *in = sim_opa_port(s, s->g->ports[p].peer);

		if (!opa_source_allowed(in, at->slid)) {
			in->counters[OPA_RCV_CONSTRAINT]++;
			return false;
		}
	}
	return true;
}

static unsigned port_state(const struct sim *s, uint32_t port)
{
	return (unsigned)field_get(s->ports[port].info, PI_PORT_STATE);
}

/* Lets a switch port a packet of this partition pass, in the direction of the field? */
static bool passes(struct sim *s, uint32_t port, unsigned bit, unsigned width, uint16_t p_key)
{
	return !sim_is_switch(s, s->g->ports[port].node) ||
	       !field_get(s->ports[port].info, bit, width) ||
	       sim_pkey_find(s, port, p_key | P_KEY_FULL) >= 0;
}

/* Passes the cable at a port, by the rules of VL 15, or of data VLs if there is a P_Key. */
static bool leave_by(struct sim *s, struct sim_at *at, unsigned out, uint16_t p_key)
{
	if (p_key == SIM_MANAGEMENT) {
		return leave(s, at, out);
	}
	if (out == 0 || out > s->g->nodes[at->node].n_ports ||
	    port_state(s, sim_port_index(s, at->node, out)) != PORT_ACTIVE ||
	    !passes(s, sim_port_index(s, at->node, out),
	            PI_PARTITION_ENFORCEMENT_OUTBOUND, p_key) ||
	    !leave(s, at, out)) {
		return false;
	}
	uint32_t in = sim_port_index(s, at->node, at->port);
	if (port_state(s, in) == PORT_ARMED) {
		sim_port_state(s, in, PORT_ACTIVE);
		s->changes++;
	}
	return port_state(s, in) == PORT_ACTIVE &&
	       passes(s, in, PI_PARTITION_ENFORCEMENT_INBOUND, p_key);
}

static bool has_lid(const struct sim *s, uint32_t port, uint32_t dlid)
{
	uint32_t lid = sim_lid(s, port);
	return (lid != 0 && (lid ^ dlid) >> sim_lmc(s, port) == 0) ||
	       sim_vport_has_lid(&s->ports[port], dlid);
}

/* Egress port of a LID in the LFT of a switch. */
static unsigned routed_by(const struct sim *s, uint32_t node, uint32_t dlid)
{
	const struct sim_node *n = &s->nodes[node];

	if (sim_is_opa_managed(s, node)) {
		return opa_route(s->opa[node].device, dlid);
	}
	return dlid < n->lft_len && dlid <= field_get(n->sw_info, SI_LINEAR_FDB_TOP)
	               ? n->lft[dlid]
	               : LFT_NO_ROUTE;
}

bool sim_walk_lid(struct sim *s, struct sim_at *at, uint32_t dlid, uint16_t p_key)
{
	/* an Omni-Path adapter loops packets to its own LID or the permissive one back, in any state */
	if (s->opa != NULL && !sim_is_switch(s, at->node) && at->hops == 0 &&
	    (dlid == LID_PERMISSIVE || dlid == sim_lid(s, sim_end_port(s, at)))) {
		return true;
	}
	if (dlid == 0 ||
	    dlid >= (s->opa != NULL ? (uint32_t)OPA_MLIDS : (uint32_t)LID_UNICAST_END)) {
		return false;
	}
	if (!sim_is_switch(s, at->node)) {
		uint32_t own = sim_end_port(s, at);
		if (has_lid(s, own, dlid)) {
			return p_key == SIM_MANAGEMENT || port_state(s, own) == PORT_ACTIVE;
		}
		if (!leave_by(s, at, at->port, p_key)) {
			return false;
		}
	}
	while (sim_is_switch(s, at->node)) {
		unsigned out = routed_by(s, at->node, dlid);
		if (s->nodes[at->node].directed && at->smp) {
			return false;
		}
		if (out == 0) {
			at->port = 0;
			break;
		}
		if (at->hops > HOPS_MAX || !leave_by(s, at, out, p_key)) {
			return false;
		}
	}
	return has_lid(s, sim_end_port(s, at), dlid) &&
	       !(s->nodes[at->node].directed && at->smp);
}

void sim_handle_smp(struct sim *s, struct sim_at *at)
{
	struct sim_node *n = &s->nodes[at->node];
	uint64_t arrives = s->now_us + at->hops * (uint64_t)s->o.delay_us + at->late_us;
	uint64_t begins = arrives > n->busy_us ? arrives : n->busy_us;

	if (s->o.virtual_clock && s->o.smp_us != 0) {
		n->busy_us = begins + s->o.smp_us;
		at->late_us += n->busy_us - arrives;
	}
}

/* The paths of Omni-Path's SMPs are elsewhere; the hop pointer and count are where InfiniBand has them. */
static uint8_t *initial_path(const struct sim *s, uint8_t *mad)
{
	return mad + (sim_is_opa_mad(s, mad) ? OPA_DR_INITIAL_AT : SMP_INITIAL_PATH_AT);
}

static uint8_t *return_path(const struct sim *s, uint8_t *mad)
{
	return mad + (sim_is_opa_mad(s, mad) ? OPA_DR_RETURN_AT : SMP_RETURN_PATH_AT);
}

bool sim_walk_initial_path(struct sim *s, struct sim_at *at, uint8_t *mad)
{
	struct umad_smp *smp = (struct umad_smp *)mad;
	const uint8_t *initial = initial_path(s, mad);
	uint8_t *back = return_path(s, mad);

	if (smp->hop_ptr != 0 || smp->hop_cnt >= UMAD_SMP_MAX_HOPS) {
		return false;
	}
	at->slid = 0;
	for (unsigned i = 1; i <= smp->hop_cnt; i++) {
		unsigned out = initial[i];
		/* a channel adapter forwards nothing, so it can only be the first node */
		if (!sim_is_switch(s, at->node) && (at->hops > 0 || out != at->port)) {
			return false;
		}
		if (sim_is_switch(s, at->node)) {
			sim_handle_smp(s, at);
		}
		if (!leave(s, at, out)) {
			return false;
		}
		back[i] = at->port;
	}
	smp->hop_ptr = (uint8_t)(smp->hop_cnt + 1);
	return true;
}

bool sim_walk_return_path(struct sim *s, struct sim_at *at, uint8_t *mad)
{
	struct umad_smp *smp = (struct umad_smp *)mad;
	const uint8_t *back = return_path(s, mad);

	at->slid = 0;
	if (smp->hop_cnt >= UMAD_SMP_MAX_HOPS || smp->hop_ptr != smp->hop_cnt + 1) {
		return false;
	}
	for (unsigned i = smp->hop_cnt; i >= 1; i--) {
		if (!sim_is_switch(s, at->node) && i != smp->hop_cnt) {
			return false;
		}
		if (i != smp->hop_cnt) {
			sim_handle_smp(s, at);
		}
		if (!leave(s, at, back[i])) {
			return false;
		}
	}
	smp->hop_ptr = 0;
	return true;
}
