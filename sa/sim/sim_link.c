/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"

/*
 * Cables of the simulated fabric, and the traps that report changes.
 *
 * A cable is up if it was not pulled, both nodes run and neither port is disabled. Training
 * takes no time: both ports go from DOWN to INIT with the best width and speed that both have
 * enabled. Such a change sets PortStateChange of a switch and raises trap 128 (IBA vol. 1,
 * 14.2.5.1, 14.2.5.4). It does not if the SM arms or activates a port.
 *
 * Traps go by LID to the master SM that the node knows. They repeat at the port's subnet
 * timeout until they are repressed or have been sent TRAP_SENDS times.
 */

enum { TRAP_SENDS = 5, SUBNET_TIMEOUT_LEAST = 18 };

/* the other two are of Omni-Path */
static const uint16_t trap_numbers[SIM_TRAP_COUNT] = { UMAD_SM_LINK_STATE_CHANGED_TRAP,
	                                               UMAD_SM_LOCAL_CHANGES_TRAP,
	                                               VPORT_TRAP_STATE, 0,
	                                               UMAD_SM_BAD_MKEY_TRAP };

static void report_change(struct sim *s, uint32_t node)
{
	if (sim_is_switch(s, node)) {
		field_set(s->nodes[node].sw_info, SI_PORT_STATE_CHANGE, 1);
		sim_trap_raise(s, node, 0);
	}
}

static unsigned highest(uint64_t bits)
{
	return bits == 0 ? 0 : 1u << (31 - __builtin_clz((unsigned)bits));
}

/* Sets width and speed of both ends; widths: those that both and their cable have.
 * LinkSpeedActive shows the best of its own speeds also
 * beside an extended one, as adapters and switches do for old programs. */
static void train(uint8_t *a, uint8_t *b, uint64_t widths)
{
#define COMMON(field) (field_get(a, field) & field_get(b, field))
	uint64_t wide = widths & (WIDTH_4X | WIDTH_8X | WIDTH_12X);
	/* 2x has the highest code but is not the widest */
	unsigned width = highest(wide != 0 ? wide : widths);
	unsigned ext2 = highest(COMMON(PI_LINK_SPEED_EXT_ENABLED_2));
	unsigned ext = ext2 != 0 ? 0 : highest(COMMON(PI_LINK_SPEED_EXT_ENABLED));
	unsigned base = highest(COMMON(PI_LINK_SPEED_ENABLED));
#undef COMMON
	uint8_t *ends[2] = { a, b };
	for (unsigned i = 0; i < 2; i++) {
		field_set(ends[i], PI_LINK_WIDTH_ACTIVE, width);
		field_set(ends[i], PI_LINK_SPEED_EXT_ACTIVE_2, ext2);
		field_set(ends[i], PI_LINK_SPEED_EXT_ACTIVE, ext);
		field_set(ends[i], PI_LINK_SPEED_ACTIVE, base);
	}
}

static void set_end(struct sim *s, uint32_t port, bool up)
{
	struct sim_port *p = &s->ports[port];
	s->changes++;
	unsigned phys = up ? PHYS_LINK_UP : p->disabled ? PHYS_DISABLED : PHYS_POLLING;
	p->up = up;
	field_set(p->info, PI_PORT_STATE, up ? PORT_INIT : PORT_DOWN);
	field_set(p->info, PI_PORT_PHYSICAL_STATE, phys);
	p->ups++;
}

static bool can_be_up(const struct sim *s, uint32_t port)
{
	const struct sim_port *p = &s->ports[port];
	return !p->cut && !p->disabled && !s->nodes[s->g->ports[port].node].down;
}

void sim_link_update(struct sim *s, uint32_t port)
{
	uint32_t peer = s->g->ports[port].peer;
	if (peer == GRAPH_NONE) {
		set_end(s, port, false);
		return;
	}
	uint8_t *a = s->ports[port].info;
	uint8_t *b = s->ports[peer].info;
	uint64_t widths = field_get(a, PI_LINK_WIDTH_ENABLED) &
	                  field_get(b, PI_LINK_WIDTH_ENABLED);
	if (s->ports[port].one_lane) {
		widths &= WIDTH_1X;
	}
	bool up = can_be_up(s, port) && can_be_up(s, peer) && widths != 0;
	if (up == s->ports[port].up) {
		return;
	}
	if (up) {
		train(a, b, widths);
	}
	set_end(s, port, up);
	set_end(s, peer, up);
	if (!sim_opa_link(s, port)) {
		set_end(s, port, false);
		set_end(s, peer, false);
	}
	report_change(s, s->g->ports[port].node);
	report_change(s, s->g->ports[peer].node);
}

void sim_link_bounce(struct sim *s, uint32_t port)
{
	uint32_t peer = s->g->ports[port].peer;
	if (!s->ports[port].up) {
		return;
	}
	s->bounces += field_get(s->ports[port].info, PI_PORT_STATE) >= PORT_ARMED;
	s->bounces += field_get(s->ports[peer].info, PI_PORT_STATE) >= PORT_ARMED;
	set_end(s, port, false);
	set_end(s, peer, false);
	sim_opa_link(s, port);
	sim_link_update(s, port);
}

/* The port whose MasterSMLID and LID a node's traps use; GRAPH_NONE if no port knows an SM. */
static uint32_t trap_port(const struct sim *s, uint32_t node)
{
	const struct node *n = &s->g->nodes[node];
	unsigned first = n->type == NODE_SWITCH ? 0 : 1;
	unsigned last = n->type == NODE_SWITCH ? 0 : n->n_ports;

	for (unsigned num = first; num <= last; num++) {
		if (sim_sm_lid(s, n->first_port + num) != 0) {
			return n->first_port + num;
		}
	}
	return GRAPH_NONE;
}

static void start_trap_timer(struct sim *s, uint32_t node, unsigned trap,
                             uint64_t delay_us)
{
	struct sim_event e = { .kind = EVENT_TRAP,
		               .node = node,
		               .trap = (uint8_t)trap,
		               .timer = ++s->timer };
	/* out of memory the trap is lost, which may happen to traps */
	if (sim_event_add(s, &e, delay_us) == E_OK) {
		s->nodes[node].traps[trap].timer = e.timer;
	}
}

void sim_trap_raise(struct sim *s, uint32_t node, unsigned trap)
{
	struct sim_trap *t = &s->nodes[node].traps[trap];
	bool pending = t->left > 0;

	if (trap_port(s, node) == GRAPH_NONE || s->nodes[node].down) {
		return;
	}
	t->left = TRAP_SENDS;
	if (!pending) {
		t->tid = ++s->tid;
		t->description = false;
		start_trap_timer(s, node, trap, 0);
	}
}

static void encode_trap(const struct sim *s, uint32_t port, unsigned trap, uint8_t *mad)
{
	const struct node *n = &s->g->nodes[s->g->ports[port].node];
	const uint8_t *info = s->ports[port].info;
	uint8_t *ntc = mad + SMP_DATA_AT;

	field_set(mad, MAD_BASE_VERSION, UMAD_BASE_VERSION);
	field_set(mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_LID_ROUTED);
	field_set(mad, MAD_CLASS_VERSION, 1);
	field_set(mad, MAD_METHOD, UMAD_METHOD_TRAP);
	field_set(mad, MAD_TID, s->nodes[s->g->ports[port].node].traps[trap].tid);
	field_set(mad, MAD_ATTR_ID, UMAD_ATTR_NOTICE);
	field_set(mad, SMP_M_KEY, field_get(info, PI_M_KEY));
	field_set(ntc, NTC_IS_GENERIC, 1);
	field_set(ntc, NTC_TYPE,
	          trap == 0   ? 1
	          : trap == 4 ? 2
	                      : 4); /* urgent, security, informational */
	field_set(ntc, NTC_PRODUCER_TYPE, n->type);
	field_set(ntc, NTC_TRAP_NUMBER, trap_numbers[trap]);
	field_set(ntc, NTC_ISSUER_LID, field_get(info, PI_LID));
	if (trap == 0) {
		field_set(ntc, NTC_128_LID, field_get(info, PI_LID));
		return;
	}
	if (trap == 4) { /* whose SMP it was is not told */
		return;
	}
	field_set(ntc, NTC_144_LID, field_get(info, PI_LID));
	if (trap == 2) {
		return;
	}
	bool description = s->nodes[s->g->ports[port].node].traps[trap].description;
	field_set(ntc, NTC_144_OTHER_CHANGES, description);
	field_set(ntc, NTC_144_CAPABILITY_MASK, field_get(info, PI_CAPABILITY_MASK));
	field_set(ntc, NTC_144_NODE_DESCRIPTION_CHANGE, description);
}

static void send_trap(struct sim *s, uint32_t port, unsigned trap)
{
	uint8_t mad[OPA_MAD_BYTES] = { 0 };
	const struct port *p = &s->g->ports[port];
	struct sim_at at = { .node = p->node,
		             .port = p->num,
		             .p_key = P_KEY_BASE,
		             .slid = sim_lid(s, port) };
	uint32_t sm_lid = sim_sm_lid(s, port);
	size_t len = MAD_BYTES;

	if (sim_is_opa_managed(s, p->node)) {
		len = sim_opa_trap(s, port, trap, mad);
	} else {
		encode_trap(s, port, trap, mad);
	}
	if (!sim_walk_lid(s, &at, sm_lid, SIM_MANAGEMENT)) {
		return;
	}
	struct mad_buf *m = mad_pool_get(&s->pool, mad, len);
	if (m != NULL) {
		m->addr.lid = sim_lid(s, port);
		m->addr.pkey_index =
			sim_is_opa_mad(s, mad)
				? sim_pkey_index(s, sim_end_port(s, &at), P_KEY_BASE)
				: 0;
		sim_opa_show_source(s, sim_end_port(s, &at), &m->addr);
		sim_deliver(s, &at, m);
	}
}

void sim_trap_due(struct sim *s, uint32_t node, unsigned trap, uint32_t timer)
{
	struct sim_trap *t = &s->nodes[node].traps[trap];
	uint32_t port = trap_port(s, node);

	if (t->left == 0 || t->timer != timer || port == GRAPH_NONE) {
		return;
	}
	uint64_t code = field_get(s->ports[port].info, PI_SUBNET_TIMEOUT);
	if (code < SUBNET_TIMEOUT_LEAST) {
		code = SUBNET_TIMEOUT_LEAST;
	}
	send_trap(s, port, trap);
	/* Omni-Path's agents repeat a trap until it is repressed */
	t->left -= !sim_is_opa_managed(s, node);
	if (t->left > 0) {
		start_trap_timer(s, node, trap,
		                 (4096ull << code) / 1000); /* 4.096 us * 2^code */
	}
}

void sim_port_issm(struct sim *s, uint32_t port, bool on, bool tell)
{
	uint8_t *info = s->ports[port].info;
	uint32_t mask = (uint32_t)field_get(info, PI_CAPABILITY_MASK);
	uint32_t now = on ? mask | CAP_SM : mask & ~(uint32_t)CAP_SM;

	field_set(info, PI_CAPABILITY_MASK, now);
	s->changes += now != mask;
	sim_opa_issm(s, port, on);
	if (tell && now != mask) {
		sim_trap_raise(s, s->g->ports[port].node, 1);
	}
}

void sim_trap_repress(struct sim *s, uint32_t node, const uint8_t *mad)
{
	uint32_t tid = (uint32_t)field_get(mad, MAD_TID_LOW);
	for (unsigned i = 0; i < SIM_TRAP_COUNT; i++) {
		if ((uint32_t)s->nodes[node].traps[i].tid == tid) {
			s->nodes[node].traps[i].left = 0;
		}
	}
}
