/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/err.h"

/*
 * Omni-Path devices (sa/sim/opa) in the simulated fabric: their links, traps, counters and adaptive routing. The
 * agents are called in sim_node.c.
 *
 * On an Omni-Path fabric each node has two agents: that of InfiniBand's SMPs (sim_node.c) and that of class version
 * 0x80. A node belongs to the SM that was the last to Set something: from a Set of class version 0x80 on its LID,
 * LFT, P_Keys and traps are those of the Omni-Path device (sim_is_opa_managed()), and from one of InfiniBand
 * on those of InfiniBand. States of ports are the same for both. A host that nobody has Set has the
 * device's P_Keys.
 */

/* The GID of a LID: OUI, then the LID, in place of a PortGUID. */
#define GID_OUI 64, 24
#define GID_LID 96, 32
enum { OUI_OF_LIDS = 0x00066A, FIRST_IN_GRH = 0xC000 };

static bool is_in_grh(uint32_t lid)
{
	return lid >= FIRST_IN_GRH && lid != LID_PERMISSIVE;
}

uint32_t sim_opa_lid_of_gid(const uint8_t gid[16])
{
	return field_get(gid, GID_OUI) == OUI_OF_LIDS ? (uint32_t)field_get(gid, GID_LID)
	                                              : 0;
}

/* Without the GRH a packet has 16 bits of LID, and those from 0xC000 on are multicast. */
bool sim_opa_may_send(const struct sim *s, uint32_t from, const struct mad_addr *to)
{
	return s->opa == NULL || to->lid == LID_PERMISSIVE ||
	       (!is_in_grh(to->lid) && !is_in_grh(sim_lid(s, from))) ||
	       (to->has_grh && sim_opa_lid_of_gid(to->gid) == to->lid);
}

void sim_opa_show_source(const struct sim *s, uint32_t at, struct mad_addr *a)
{
	if (s->opa == NULL || a->lid == LID_PERMISSIVE) {
		return;
	}
	if (a->has_grh && sim_opa_lid_of_gid(a->gid) != 0) { /* of the other direction */
		a->has_grh = false;
	}
	if (is_in_grh(a->lid) || is_in_grh(sim_lid(s, at))) {
		a->has_grh = true;
		field_set(a->gid, 0, 64, 0xFE80000000000000u);
		field_set(a->gid, 64, 64, 0);
		field_set(a->gid, GID_OUI, OUI_OF_LIDS);
		field_set(a->gid, GID_LID, a->lid);
	}
}

void sim_opa_done(struct sim *s)
{
	for (uint32_t i = 0; s->opa != NULL && i < s->g->n_nodes; i++) {
		opa_device_free(s->opa[i].device);
		free(s->opa[i].percent);
	}
	free(s->opa);
}

void sim_opa_reset(struct sim *s, uint32_t node)
{
	if (s->opa != NULL) {
		opa_device_reset(s->opa[node].device);
		s->opa[node].infiniband = false;
	}
}

bool sim_opa_lft(struct sim *s, uint32_t node, bool set, uint32_t block,
                 uint8_t data[SMP_DATA_BYTES])
{
	enum { ONE_BLOCK = 1 << 24 };
	size_t len;

	return opa_attribute(s->opa[node].device, 0, set, OPA_LFT, ONE_BLOCK | block,
	                     data, SMP_DATA_BYTES, &len) == OPA_GOOD;
}

static void down(struct sim *s, uint32_t port)
{
	const struct port *p = &s->g->ports[port];
	const struct sim_opa *o = &s->opa[p->node];
	const struct sim_opa *other =
		p->peer != GRAPH_NONE ? &s->opa[s->g->ports[p->peer].node] : NULL;
	uint8_t reason = OPA_REASON_DISCONNECTED;

	if (o->reason != 0 && o->reason_port == p->num) {
		reason = o->reason;
	} else if (other != NULL && other->reason != 0) {
		reason = OPA_REASON_NEIGHBOR;
	}
	opa_link_down(sim_opa_port(s, port), reason);
}

bool sim_opa_link(struct sim *s, uint32_t port)
{
	const uint32_t peer = s->g->ports[port].peer;

	if (s->opa == NULL) {
		return true;
	}
	if (!s->ports[port].up) {
		down(s, port);
		down(s, peer);
	} else if (opa_link_up(sim_opa_port(s, port), sim_opa_port(s, peer),
	                       s->ports[port].one_lane ? 1 : 4) != E_OK) {
		return false;
	}
	sim_opa_schedule_adapt(s, s->g->ports[port].node);
	sim_opa_schedule_adapt(s, s->g->ports[peer].node);
	return true;
}

void sim_opa_issm(struct sim *s, uint32_t port, bool on)
{
	if (s->opa != NULL) {
		uint8_t *info = sim_opa_port(s, port)->info;
		const uint64_t mask =
			field_get(info, OPI_CAPABILITY) & ~(uint64_t)OPA_CAP_IS_SM;

		field_set(info, OPI_CAPABILITY, on ? mask | OPA_CAP_IS_SM : mask);
	}
}

bool sim_opa_is_perf(const struct sim *s, const uint8_t *mad)
{
	enum { CLASS_PERF = 4 };

	return sim_is_opa_mad(s, mad) && mad[1] == CLASS_PERF &&
	       (mad[3] == OPA_GET || mad[3] == OPA_SET);
}

/* Data and packets are counted by the fabric. */
static void settle(struct sim *s, uint32_t node)
{
	const struct node *n = &s->g->nodes[node];

	for (unsigned num = n->type == NODE_SWITCH ? 0 : 1; num <= n->n_ports; num++) {
		struct sim_perf *perf = &s->ports[n->first_port + num].perf;
		uint64_t *c = s->opa[node].device->ports[num].counters;

		sim_perf_settle(s, n->first_port + num);
		c[OPA_XMIT_DATA] +=
			perf->count[SIM_XMIT_DATA] / 2; /* 4 octets are half a flit */
		c[OPA_RCV_DATA] += perf->count[SIM_RCV_DATA] / 2;
		c[OPA_XMIT_PKTS] += perf->count[SIM_XMIT_PKTS];
		c[OPA_RCV_PKTS] += perf->count[SIM_RCV_PKTS];
		perf->count[SIM_XMIT_DATA] %= 2;
		perf->count[SIM_RCV_DATA] %= 2;
		perf->count[SIM_XMIT_PKTS] = perf->count[SIM_RCV_PKTS] = 0;
	}
}

size_t sim_opa_perf(struct sim *s, const struct sim_at *at, uint32_t from,
                    struct mad_buf *m)
{
	const struct opa_from sender = sim_opa_from(s, at, from);

	settle(s, at->node);
	return opa_perf_agent(s->opa[at->node].device, &sender, m->data, m->len);
}

size_t sim_opa_trap(struct sim *s, uint32_t port, unsigned trap, uint8_t *mad)
{
	enum { DESCRIPTION_CHANGED = 1 };
	static const enum opa_trap numbers[SIM_TRAP_COUNT] = {
		OPA_TRAP_PORT_STATE, OPA_TRAP_CAPABILITY, OPA_TRAP_CAPABILITY,
		OPA_TRAP_WIDTH, OPA_TRAP_M_KEY
	};
	const uint32_t node = s->g->ports[port].node;
	const struct sim_trap *t = &s->nodes[node].traps[trap];

	return opa_trap(sim_opa_port(s, port), numbers[trap], t->tid,
	                t->description ? DESCRIPTION_CHANGED : 0, s->opa[node].violation,
	                mad);
}

/* --- adaptive routing ------------------------------------------------------------------------------- */

void sim_opa_schedule_adapt(struct sim *s, uint32_t node)
{
	struct sim_opa *o = &s->opa[node];
	const uint64_t now = sim_now_us(s), due = opa_adapt_due_us(o->device);
	const struct sim_event e = { .kind = EVENT_ADAPT, .node = node };

	if (!o->adapts && opa_adapt_enabled(o->device)) {
		/* at least 1, so that what a Set or a cable does is done first */
		o->adapts = sim_event_add(s, &e, due > now ? due - now : 1) == E_OK;
	}
}

void sim_opa_adapt(struct sim *s, uint32_t node)
{
	struct sim_opa *o = &s->opa[node];
	const struct opa_load load = { .percent = o->percent };
	const uint64_t before = o->device->adapted_us;

	o->adapts = false;
	s->changes += opa_adapt(o->device, sim_now_us(s),
	                        o->percent != NULL ? &load : NULL, NULL, NULL);
	if (o->device->adapted_us != before && o->percent != NULL) {
		sim_opa_schedule_adapt(
			s, node); /* what is still congested moves the next time */
	}
}

int sim_opa_lie(struct sim *s, uint64_t node_guid, uint8_t port, const char *name,
                uint64_t value)
{
	const enum opa_lie what = opa_lie_find(name);
	int ret = E_UNKNOWN;

	pthread_mutex_lock(&s->lock);
	const uint32_t node = graph_node_by_guid(s->g, node_guid);
	if (node == GRAPH_NONE || port > s->g->nodes[node].n_ports) {
		ret = E_NOTFOUND;
	} else if (s->opa != NULL && what != OPA_LIES) {
		opa_lie(&s->opa[node].device->ports[port], what, value);
		s->changes++;
		ret = E_OK;
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

int sim_opa_count(struct sim *s, uint64_t node_guid, uint8_t port, const char *name,
                  uint64_t n)
{
	enum { QUALITY_MAX = 5 };
	const enum opa_counter i = opa_counter_find(name);
	int ret = E_UNKNOWN;

	pthread_mutex_lock(&s->lock);
	const uint32_t node = graph_node_by_guid(s->g, node_guid);
	if (node == GRAPH_NONE || port == 0 || port > s->g->nodes[node].n_ports) {
		ret = E_NOTFOUND;
	} else if (s->opa != NULL && i < OPA_COUNTERS) {
		s->opa[node].device->ports[port].counters[i] += n;
		ret = E_OK;
	} else if (s->opa != NULL && strcasecmp(name, "LinkQualityIndicator") == 0 &&
	           n <= QUALITY_MAX) {
		s->opa[node].device->ports[port].quality = (uint8_t)n;
		ret = E_OK;
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

int sim_opa_congest(struct sim *s, uint64_t node_guid, uint8_t port, unsigned percent)
{
	int ret = E_OK;

	pthread_mutex_lock(&s->lock);
	const uint32_t node = graph_node_by_guid(s->g, node_guid);
	if (node == GRAPH_NONE || s->opa == NULL || !sim_is_switch(s, node) ||
	    port == 0 || port > s->g->nodes[node].n_ports) {
		ret = E_NOTFOUND;
	} else {
		struct sim_opa *o = &s->opa[node];

		if (o->percent == NULL) {
			o->percent = calloc(s->g->nodes[node].n_ports + 1u, 1);
		}
		if (o->percent == NULL) {
			ret = -ENOMEM;
		} else {
			o->percent[port] = (uint8_t)(percent < 100 ? percent : 100);
			sim_opa_schedule_adapt(s, node);
		}
	}
	pthread_mutex_unlock(&s->lock);
	wakeup_notify(&s->wakeup);
	return ret;
}
