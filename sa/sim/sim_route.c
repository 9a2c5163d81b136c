/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/p_key.h"

/*
 * Sending a MAD: where it moves (sim_walk.c), who answers it, and how the response returns.
 *
 * A directed-route SMP (IBA vol. 1, 14.2.2) may have three parts. If its address has a LID
 * that is not permissive, a part by LID leads to the switch where the directed part begins.
 * After the directed part, a last part by LID leads to DrDLID. The response takes the parts in
 * the opposite order and ends at DrSLID.
 *
 * A MAD that finds no route is dropped, as in a fabric; the SMP engine has timers for that.
 */

static bool is_silent(const struct sim *s, uint32_t node)
{
	return s->nodes[node].down || s->nodes[node].deaf;
}

/* Whether programs on the node get this SMP, not the agent: responses, traps, SMInfo. */
static bool is_for_programs(const struct sim *s, const struct sim_at *at,
                            const uint8_t *mad)
{
	uint8_t method = mad[3];
	if (s->receiver == NULL && sim_end_port(s, at) != s->sm_port) {
		return false;
	}
	return (method & UMAD_METHOD_RESP_MASK) != 0 || method == UMAD_METHOD_TRAP ||
	       field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SM_INFO;
}

/* Delivers a SMP to the programs at its end port; lid: the source LID that they see. */
static bool deliver_smp(struct sim *s, struct mad_buf *m, const struct sim_at *at,
                        uint32_t lid)
{
	if (is_silent(s, at->node)) {
		return false;
	}
	const uint16_t index = sim_is_opa_mad(s, m->data)
	                               ? sim_pkey_index(s, sim_end_port(s, at), at->p_key)
	                               : 0;
	m->addr = (struct mad_addr){
		.directed = m->data[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE,
		.pkey_index = index,
		.lid = lid,
	};
	sim_opa_show_source(s, sim_end_port(s, at), &m->addr);
	sim_deliver(s, at, m);
	return true;
}

/* P_Key of an Omni-Path agent's answer: an adapter's agent is a member only, a switch answers with the one that
 * it was asked with. */
static uint16_t answer_p_key(const struct sim *s, const struct sim_at *at)
{
	return sim_is_switch(s, at->node) ? at->p_key : (uint16_t)P_KEY_BASE;
}

/* Gives the SMP to the node's agent. \return true: it is a response now. */
static bool agent_answers(struct sim *s, uint32_t from, struct mad_buf *m,
                          struct sim_at *at)
{
	sim_handle_smp(s, at);
	if (sim_lost(s)) {
		return false;
	}
	if (sim_is_opa_mad(s, m->data)) {
		m->len = sim_opa_agent(s, at, from, m);
		if (m->len == 0) {
			return false;
		}
		at->p_key = answer_p_key(s, at);
	} else if (!sim_agent(s, at, m->data)) {
		return false;
	}
	at->slid = 0;
	sim_fault_answer(s, at->node, m);
	return !sim_lost(s);
}

static uint32_t lid_at(const struct sim *s, const struct sim_at *at)
{
	return sim_lid(s, sim_end_port(s, at));
}

/* DrSLID or DrDLID, in both layouts; LID_PERMISSIVE if it is permissive. */
static uint32_t dr_slid_of(const struct sim *s, const uint8_t *mad)
{
	if (!sim_is_opa_mad(s, mad)) {
		return (uint32_t)field_get(mad, SMP_DR_SLID);
	}
	uint32_t lid = (uint32_t)field_get(mad, OPA_SMP_DR_SLID);
	return lid == UINT32_MAX ? LID_PERMISSIVE : lid;
}

static uint32_t dr_dlid_of(const struct sim *s, const uint8_t *mad)
{
	if (!sim_is_opa_mad(s, mad)) {
		return (uint32_t)field_get(mad, SMP_DR_DLID);
	}
	uint32_t lid = (uint32_t)field_get(mad, OPA_SMP_DR_DLID);
	return lid == UINT32_MAX ? LID_PERMISSIVE : lid;
}

static bool walk_to_switch(struct sim *s, struct sim_at *at, uint32_t lid)
{
	return sim_walk_lid(s, at, lid, SIM_MANAGEMENT) && sim_is_switch(s, at->node);
}

/* Returns a response from the end of the initial path to the requester. */
static bool return_directed(struct sim *s, struct mad_buf *m, struct sim_at *at)
{
	uint32_t dr_slid = dr_slid_of(s, m->data);
	uint32_t lid = LID_PERMISSIVE;

	if (!sim_walk_return_path(s, at, m->data)) {
		return false;
	}
	if (dr_slid != LID_PERMISSIVE) {
		lid = lid_at(s, at);
		if (!sim_walk_lid(s, at, dr_slid, SIM_MANAGEMENT)) {
			return false;
		}
	}
	return deliver_smp(s, m, at, lid);
}

static bool directed_request(struct sim *s, uint32_t from, struct mad_buf *m,
                             struct sim_at *at)
{
	uint32_t dr_slid = dr_slid_of(s, m->data);
	uint32_t dr_dlid = dr_dlid_of(s, m->data);
	bool by_lid = m->addr.lid != LID_PERMISSIVE && m->addr.lid != 0 &&
	              dr_slid != LID_PERMISSIVE;

	if (by_lid && s->o.no_mixed) {
		return false;
	}
	if ((by_lid && !walk_to_switch(s, at, m->addr.lid)) ||
	    !sim_walk_initial_path(s, at, m->data)) {
		return false;
	}
	struct sim_at end = *at; /* of the directed part */
	uint32_t end_lid = LID_PERMISSIVE;
	if (dr_dlid != LID_PERMISSIVE) {
		end_lid = lid_at(s, &end);
		if (!sim_is_switch(s, end.node) || !sim_walk_lid(s, at, dr_dlid, SIM_MANAGEMENT)) {
			return false;
		}
	}
	if (is_for_programs(s, at, m->data)) {
		return deliver_smp(s, m, at, end_lid);
	}
	if (!agent_answers(s, from, m, at)) {
		return false;
	}
	if (dr_dlid != LID_PERMISSIVE) {
		if (!walk_to_switch(s, at, end_lid)) {
			return false;
		}
		end.hops = at->hops;
		end.late_us = at->late_us;
		*at = end;
	}
	return return_directed(s, m, at);
}

static uint32_t own_lid(const struct sim *s, uint32_t from, const struct mad_buf *m)
{
	uint32_t mask = (1u << sim_lmc(s, from)) - 1;
	return sim_lid(s, from) | (m->addr.path_bits & mask);
}

static bool send_by_lid(struct sim *s, uint32_t from, struct mad_buf *m,
                        struct sim_at *at)
{
	uint32_t dlid = m->addr.lid;
	uint32_t slid = own_lid(s, from, m);

	at->slid = slid;
	if (!sim_walk_lid(s, at, dlid, SIM_MANAGEMENT)) {
		return false;
	}
	if (is_for_programs(s, at, m->data)) {
		return deliver_smp(s, m, at, slid);
	}
	if (!agent_answers(s, from, m, at)) {
		return false;
	}
	at->slid = lid_at(s, at);
	if (!sim_walk_lid(s, at, slid, SIM_MANAGEMENT)) {
		return false;
	}
	return deliver_smp(s, m, at, dlid);
}

static bool send_gmp(struct sim *s, uint32_t from, struct mad_buf *m, struct sim_at *at)
{
	uint32_t dlid = m->addr.lid;
	uint32_t slid = own_lid(s, from, m);
	uint16_t p_key = sim_pkey_at(s, from, m->addr.pkey_index);

	at->slid = slid;
	if ((p_key & P_KEY_BASE) == 0 || !sim_walk_lid(s, at, dlid, p_key) || is_silent(s, at->node)) {
		return false;
	}
	uint32_t to = sim_end_port(s, at);
	if (s->receiver != NULL) {
		/* the P_Key must be in the table of the destination (IBA vol. 1, 10.9.3) */
		int index =
			sim_lost(s)
				? -1
				: sim_pkey_find(s, to, p_key);
		if (index < 0) {
			return false;
		}
		m->addr.pkey_index =
			s->opa != NULL ? sim_pkey_index(s, to, p_key) : (uint16_t)index;
	}
	const bool opa = sim_opa_is_perf(s, m->data);
	if (opa && (m->len = sim_opa_perf(s, at, from, m)) == 0) {
		return false;
	}
	const bool congestion = sim_is_congestion(s, m->data);
	if (congestion) {
		bool lost = s->receiver == NULL && sim_lost(s);

		if (lost || !sim_congestion_agent(s, at, m)) {
			return false;
		}
		sim_fault_answer(s, at->node, m);
	}
	if (opa || congestion || sim_perf_agent(s, at, m->data)) { /* the node itself answers */
		const uint16_t key = answer_p_key(s, at);

		at->slid = dlid;
		if (!sim_walk_lid(s, at, slid, p_key)) {
			return false;
		}
		m->addr.lid = dlid;
		m->addr.pkey_index =
			opa ? sim_pkey_index(s, from, key) : m->addr.pkey_index;
	} else {
		m->addr.path_bits = (uint8_t)(dlid - sim_lid(s, to));
		m->addr.lid = slid;
	}
	sim_opa_show_source(s, sim_end_port(s, at), &m->addr);
	sim_deliver(s, at, m);
	return true;
}

/* The attributes in an Aggregate, which itself does not count. */
static void count_parts(struct sim *s, const struct mad_buf *m, uint8_t method)
{
	enum { PARTS = 0xFF, DIRECTED_AT = 176, BY_LID_AT = 32, HEADER = 8 };
	size_t at = m->data[1] == UMAD_CLASS_SUBN_LID_ROUTED ? BY_LID_AT : DIRECTED_AT;
	unsigned n = field_get(m->data, MAD_ATTR_MOD) & PARTS;

	s->n_more--;
	for (unsigned i = 0; i < n && at + HEADER <= m->len; i++) {
		const uint8_t *part = m->data + at;

		s->counts[method][sim_count_column(field_get(part, OAG_ATTRIBUTE))]++;
		s->n_more++;
		at += HEADER + HEADER * (size_t)field_get(part, OAG_LENGTH);
	}
}

static bool send_smp(struct sim *s, uint32_t from, struct mad_buf *m, struct sim_at *at)
{
	uint64_t attr = field_get(m->data, MAD_ATTR_ID);
	uint8_t method = m->data[3];
	uint32_t lid = m->addr.lid;

	if (method < SIM_METHODS) { /* a request */
		if (m->data[0] == OPA_VERSION && attr == OPA_AGGREGATE) {
			count_parts(s, m, method);
		} else {
			s->counts[method][sim_count_column(attr)]++;
		}
	}
	if (m->data[1] == UMAD_CLASS_SUBN_LID_ROUTED) {
		return send_by_lid(s, from, m, at);
	}
	if (!field_get(m->data, SMP_DIRECTION)) {
		return directed_request(s, from, m, at);
	}
	/* the response of a program: first by LID to the switch where the directed part ended */
	if (lid != LID_PERMISSIVE && lid != 0 &&
	    dr_dlid_of(s, m->data) != LID_PERMISSIVE && !walk_to_switch(s, at, lid)) {
		return false;
	}
	return return_directed(s, m, at);
}

/* An agent answers in place, with up to 2,048 bytes. */
static struct mad_buf *with_room(struct sim *s, struct mad_buf *m)
{
	uint8_t whole[OPA_MAD_BYTES] = { 0 };

	if (m->cap >= sizeof(whole) || m->len > sizeof(whole)) {
		return m;
	}
	memcpy(whole, m->data, m->len);
	struct mad_buf *wide = mad_pool_get(&s->pool, whole, sizeof(whole));
	if (wide != NULL) {
		wide->len = m->len;
		wide->addr = m->addr;
	}
	mad_pool_put(&s->pool, m);
	return wide;
}

void sim_send_mad(struct sim *s, uint32_t from, struct mad_buf *m)
{
	if (!sim_opa_may_send(s, from, &m->addr)) {
		mad_pool_put(&s->pool, m);
		return;
	}
	if (sim_is_opa_mad(s, m->data) && (m = with_room(s, m)) == NULL) {
		return; /* lost, like a packet without a buffer */
	}
	const struct port *p = &s->g->ports[from];
	bool smp = m->data[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	           m->data[1] == UMAD_CLASS_SUBN_LID_ROUTED;
	struct sim_at at = { .node = p->node,
		             .port = p->num,
		             .smp = smp,
		             .p_key = s->opa != NULL
		                              ? sim_pkey_at(s, from, m->addr.pkey_index)
		                              : 0 };

	if (smp ? !send_smp(s, from, m, &at) : !send_gmp(s, from, m, &at)) {
		mad_pool_put(&s->pool, m);
	}
}
