/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"

/*
 * Omni-Path devices (sa/sim/opa) in the simulated fabric: makes them from the graph, tells them of cables, and does
 * what a Set orders.
 *
 * On an Omni-Path fabric each node has two agents: that of InfiniBand's SMPs (sim_node.c) and that of class version
 * 0x80. A node belongs to the SM that was the last to Set something: from a Set of class version 0x80 on its LID,
 * LFT, P_Keys and traps are those of the Omni-Path device (sim_is_opa_managed()), and from one of InfiniBand
 * on those of InfiniBand. States of ports are the same for both. A host that nobody has Set has the
 * device's P_Keys.
 */

/* LinkSpeed of a port of the graph: a lane of 12.5, 25, 50 or 100 Gb/s. */
static uint16_t opa_speed(uint8_t speed)
{
	switch (speed) {
	case SPEED_SDR:
	case SPEED_DDR:
	case SPEED_QDR:
	case SPEED_FDR10: return OPA_SPEED_12G;
	case SPEED_HDR: return OPA_SPEED_50G;
	case SPEED_NDR:
	case SPEED_XDR: return OPA_SPEED_100G;
	default: return OPA_SPEED_25G;
	}
}

static unsigned opa_lanes(uint8_t width)
{
	return width == WIDTH_1X ? 1 : width == WIDTH_2X ? 2 : 4;
}

static void on_link(void *ctx, unsigned num, enum opa_link_order order)
{
	struct sim_opa *o = ctx;
	const uint32_t port = sim_port_index(o->s, o->node, num);

	o->reason_port = (uint8_t)num;
	switch (order) {
	case OPA_LINK_DISABLE:
		o->reason = OPA_REASON_DISABLED;
		o->s->ports[port].disabled = true;
		sim_link_update(o->s, port);
		break;
	case OPA_LINK_ENABLE:
		o->s->ports[port].disabled = false;
		sim_link_update(o->s, port);
		break;
	case OPA_LINK_BOUNCE:
		o->reason = OPA_REASON_SM_BOUNCE;
		sim_link_bounce(o->s, port);
		break;
	}
	o->reason = 0;
}

/* Shows in InfiniBand's PortInfo, which is what /sys of a host has, what an Omni-Path SM has Set. */
static void on_port(void *ctx, unsigned num)
{
	struct sim_opa *o = ctx;
	const uint32_t port = sim_port_index(o->s, o->node, num);
	const uint8_t *from = o->device->ports[num].info;
	uint8_t *to = o->s->ports[port].info;

	o->s->changes++;
	field_set(to, PI_PORT_STATE, field_get(from, OPI_STATE));
	if (opa_is_end_port(&o->device->ports[num])) {
		field_set(to, PI_LID, field_get(from, OPI_LID) & 0xFFFF);
		field_set(to, PI_LMC, field_get(from, OPI_LMC));
		field_set(to, PI_MASTER_SM_LID,
		          field_get(from, OPI_MASTER_SM_LID) & 0xFFFF);
		field_set(to, PI_MASTER_SM_SL, field_get(from, OPI_MASTER_SM_SL));
		field_set(to, PI_GID_PREFIX, field_get(from, OPI_SUBNET_PREFIX));
		field_set(to, PI_SUBNET_TIMEOUT, field_get(from, OPI_SUBNET_TIMEOUT));
	} else {
		field_set(to, PI_PARTITION_ENFORCEMENT_INBOUND,
		          field_get(from, OPI_ENFORCE_IN));
		field_set(to, PI_PARTITION_ENFORCEMENT_OUTBOUND,
		          field_get(from, OPI_ENFORCE_OUT));
	}
}

static void on_m_key(void *ctx, const uint8_t *mad)
{
	struct sim_opa *o = ctx;

	memcpy(o->violation, mad, sizeof(o->violation));
	sim_trap_raise(o->s, o->node, 4);
}

static void on_repress(void *ctx, uint64_t tid)
{
	struct sim_opa *o = ctx;

	for (unsigned i = 0; i < SIM_TRAP_COUNT; i++) {
		if ((uint32_t)o->s->nodes[o->node].traps[i].tid == (uint32_t)tid) {
			o->s->nodes[o->node].traps[i].left = 0;
		}
	}
}

static const struct opa_ops ops = {
	.link = on_link, .port = on_port, .m_key = on_m_key, .repress = on_repress
};

static int new_device(struct sim *s, uint32_t node)
{
	const struct node *n = &s->g->nodes[node];
	struct sim_opa *o = &s->opa[node];
	struct opa_port_row *rows = calloc(n->n_ports + 1u, sizeof(*rows));
	const struct opa_device_row row = { .guid = n->guid,
		                            .system_image_guid = n->system_image_guid,
		                            .is_switch = n->type == NODE_SWITCH,
		                            .esp0 = n->esp0,
		                            .n_ports = n->n_ports,
		                            .version = 1,
		                            .lft_cap = n->linear_fdb_cap,
		                            .description = n->description,
		                            .ops = &ops,
		                            .ctx = o };

	if (rows == NULL) {
		return -ENOMEM;
	}
	for (unsigned num = n->type == NODE_SWITCH ? 0 : 1; num <= n->n_ports; num++) {
		const struct port *p = &s->g->ports[n->first_port + num];

		rows[num].speed = num != 0 ? opa_speed(p->speed) : 0;
		/* what the cable does not carry, the port does */
		rows[num].widths = (uint16_t)((1u << opa_lanes(p->width)) - 1);
	}
	o->s = s;
	o->node = node;
	int ret = opa_device_new(&row, rows, &o->device);
	free(rows);
	return ret;
}

int sim_opa_new(struct sim *s)
{
	s->opa = calloc(s->g->n_nodes, sizeof(*s->opa));
	if (s->opa == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->g->n_nodes; i++) {
		int ret = new_device(s, i);
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
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
	sim_opa_adapt_soon(s, s->g->ports[port].node);
	sim_opa_adapt_soon(s, s->g->ports[peer].node);
	return true;
}

void sim_opa_state(struct sim *s, uint32_t port, unsigned state)
{
	if (s->g->ports[port].num != 0) {
		opa_port_state(sim_opa_port(s, port), state);
	}
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

/* NodeInfo shows the GUIDs of another node, if it was told to lie. */
static void lie(const struct sim *s, const struct sim_at *at, uint8_t *mad)
{
	const uint32_t shown = s->nodes[at->node].guids;

	if (shown == 0 || field_get(mad, MAD_ATTR_ID) != OPA_NODE_INFO) {
		return;
	}
	const struct node *other = &s->g->nodes[shown - 1];
	uint8_t *info = mad + opa_data_at(mad);

	field_set(info, ONI_NODE_GUID, other->guid);
	field_set(info, ONI_PORT_GUID,
	          sim_port_guid(s, other->first_port +
	                                   (other->type == NODE_SWITCH ? 0 : 1)));
}

static struct opa_from from_of(const struct sim *s, const struct sim_at *at,
                               uint32_t from)
{
	return (struct opa_from){ .port = at->port,
		                  .local = s->g->ports[from].node == at->node &&
		                           at->hops == 0,
		                  .p_key = at->p_key };
}

bool sim_opa_is_perf(const struct sim *s, const uint8_t *mad)
{
	enum { CLASS_PERF = 4 };

	return sim_is_opa_mad(s, mad) && mad[1] == CLASS_PERF &&
	       (mad[3] == OPA_GET || mad[3] == OPA_SET);
}

size_t sim_opa_agent(struct sim *s, const struct sim_at *at, uint32_t from,
                     struct mad_buf *m)
{
	const struct opa_from sender = from_of(s, at, from);
	const bool set = m->data[3] == OPA_SET;
	size_t len;

	if (s->nodes[at->node].down || s->nodes[at->node].deaf) {
		return 0;
	}
	len = opa_agent(s->opa[at->node].device, &sender, m->data, m->len);
	if (len != 0) {
		lie(s, at, m->data);
	}
	if (set) {
		s->opa[at->node].infiniband &=
			len == 0 || !s->opa[at->node].device->managed;
		s->changes++;
		sim_opa_adapt_soon(s, at->node);
	}
	return len;
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
	const struct opa_from sender = from_of(s, at, from);

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

static int set_lanes(struct sim *s, uint32_t port, unsigned lanes)
{
	const uint32_t peer = s->g->ports[port].peer;

	if (s->opa == NULL || peer == GRAPH_NONE || !s->ports[port].up) {
		return E_UNSUITABLE;
	}
	if (!opa_link_lanes(sim_opa_port(s, port), lanes)) {
		return E_UNSUITABLE;
	}
	s->changes++;
	sim_trap_raise(s, s->g->ports[port].node, 3);
	sim_trap_raise(s, s->g->ports[peer].node, 3);
	return E_OK;
}

/* --- adaptive routing ------------------------------------------------------------------------------- */

void sim_opa_adapt_soon(struct sim *s, uint32_t node)
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
		sim_opa_adapt_soon(
			s, node); /* what is still congested moves the next time */
	}
}

int sim_set_lanes(struct sim *s, uint64_t node_guid, uint8_t port, unsigned lanes)
{
	pthread_mutex_lock(&s->lock);
	const uint32_t node = graph_node_by_guid(s->g, node_guid);
	const uint32_t p = node != GRAPH_NONE ? graph_port(s->g, node, port) : GRAPH_NONE;
	const int ret = p != GRAPH_NONE ? set_lanes(s, p, lanes) : E_NOTFOUND;
	pthread_mutex_unlock(&s->lock);
	wakeup_notify(&s->wakeup);
	return ret;
}

int sim_opa_count(struct sim *s, uint64_t node_guid, uint8_t port, const char *name,
                  uint64_t n)
{
	const enum opa_counter i = opa_counter_find(name);
	int ret = E_UNKNOWN;

	pthread_mutex_lock(&s->lock);
	const uint32_t node = graph_node_by_guid(s->g, node_guid);
	if (node == GRAPH_NONE || port == 0 || port > s->g->nodes[node].n_ports) {
		ret = E_NOTFOUND;
	} else if (s->opa != NULL && i < OPA_COUNTERS) {
		s->opa[node].device->ports[port].counters[i] += n;
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
			sim_opa_adapt_soon(s, node);
		}
	}
	pthread_mutex_unlock(&s->lock);
	wakeup_notify(&s->wakeup);
	return ret;
}
