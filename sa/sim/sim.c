/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/sim/sim_state.h"

/*
 * The simulated fabric from outside: creation, faults and changes, and what tests look at.
 */

static uint32_t choose_sm_port(const struct graph *g, const struct sim_options *o)
{
	if (o->sm_port_guid != 0) {
		return graph_port_by_guid(g, o->sm_port_guid);
	}
	if (g->sm_port != GRAPH_NONE) {
		return g->sm_port;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) { /* the first host */
		uint32_t p = g->end_ports[i];
		if (g->nodes[g->ports[p].node].type != NODE_SWITCH) {
			return p;
		}
	}
	return g->n_end_ports > 0 ? g->end_ports[0] : GRAPH_NONE;
}

/* Sets LIDs and port states as found in the graph. */
static void set_found(struct sim *s)
{
	for (uint32_t i = 0; i < s->g->n_nodes; i++) {
		const struct node *n = &s->g->nodes[i];
		for (unsigned num = 0; num <= n->n_ports; num++) {
			uint32_t p = n->first_port + num;
			const struct port *found = &s->g->ports[p];
			if (graph_is_end_port(s->g, p)) {
				field_set(s->ports[p].info, PI_LID, found->lid);
				field_set(s->ports[p].info, PI_LMC, found->lmc);
				if (s->opa != NULL) {
					sim_opa_set_lid(s, p, found->lid, found->lmc);
				}
			}
			if (s->ports[p].up && found->state > PORT_INIT) {
				sim_port_state(s, p, found->state);
			}
		}
	}
}

static int fabric_init(struct sim *s, bool keep_lids)
{
	s->ports = calloc(s->g->n_ports, sizeof(*s->ports));
	s->nodes = calloc(s->g->n_nodes, sizeof(*s->nodes));
	if (s->ports == NULL || s->nodes == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->g->n_nodes; i++) {
		sim_node_reset(s, i);
	}
	if (s->o.omni_path && sim_opa_new(s) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t p = 0; p < s->g->n_ports; p++) {
		if (s->g->ports[p].peer != GRAPH_NONE) {
			sim_link_update(s, p);
		}
	}
	if (keep_lids) {
		set_found(s);
	}
	return sim_queue_init(s);
}

int sim_new(const struct graph *g, const struct sim_options *o, bool keep_lids,
            struct sim **ret_sim)
{
	uint32_t sm_port = choose_sm_port(g, o);
	if (sm_port == GRAPH_NONE) {
		return E_NOTFOUND;
	}
	struct sim *s = calloc(1, sizeof(*s));
	if (s == NULL) {
		return -ENOMEM;
	}
	s->g = g;
	s->o = *o;
	s->sm_port = sm_port;
	s->rng = (uint64_t)o->seed * 0x9E3779B97F4A7C15u + 1;
	/* AllPortSelect, extended counters with unicast and error counters, PortXmitWait, QP1Dropped */
	sim_perf_set_caps(s, 1 << 8 | 1 << 9 | 1 << 12 | 1 << 15, 1 << 1);
	s->transport.ops = &sim_ops;
	s->transport.secret[0] = o->seed;
	pthread_mutex_init(&s->lock, NULL);
	const struct port *p = &g->ports[sm_port];
	const struct node *n = &g->nodes[p->node];
	struct transport_port *l = &s->transport.local;
	l->port_guid = p->guid;
	l->node_guid = n->guid;
	l->port = p->num;
	snprintf(l->name, sizeof(l->name), "sim %.64s/%u", n->description, p->num);
	int r = fabric_init(s, keep_lids);
	if (r != E_OK) {
		sim_free(s);
		return r;
	}
	l->port_guid = sim_port_guid(s, sm_port);
	*ret_sim = s;
	return E_OK;
}

void sim_free(struct sim *s)
{
	if (s == NULL) {
		return;
	}
	for (uint32_t i = 0; s->nodes != NULL && i < s->g->n_nodes; i++) {
		free(s->nodes[i].lft);
	}
	sim_queue_done(s);
	sim_clients_done(s);
	free(s->several);
	pthread_mutex_destroy(&s->lock);
	sim_vport_done(s);
	sim_congestion_done(s);
	sim_opa_done(s);
	free(s->stored);
	hash_done(&s->stored_at);
	free(s->nodes);
	free(s->ports);
	free(s);
}

struct transport *sim_transport(struct sim *s)
{
	return &s->transport;
}

uint32_t sim_lock_node(struct sim *s, uint64_t node_guid)
{
	pthread_mutex_lock(&s->lock);
	return graph_node_by_guid(s->g, node_guid);
}

int sim_unlock(struct sim *s, int ret)
{
	pthread_mutex_unlock(&s->lock);
	wakeup_notify(&s->wakeup);
	return ret;
}

static int set_cable(struct sim *s, uint64_t node_guid, uint8_t port, bool cut,
                     bool one_lane)
{
	uint32_t node = sim_lock_node(s, node_guid);
	uint32_t p = node != GRAPH_NONE ? graph_port(s->g, node, port) : GRAPH_NONE;
	if (p == GRAPH_NONE || s->g->ports[p].peer == GRAPH_NONE) {
		return sim_unlock(s, E_NOTFOUND);
	}
	struct sim_port *ends[2] = { &s->ports[p], &s->ports[s->g->ports[p].peer] };
	bool retrains = ends[0]->one_lane != one_lane && !cut;
	for (unsigned i = 0; i < 2; i++) {
		ends[i]->cut = cut;
		ends[i]->one_lane = one_lane;
	}
	if (retrains) {
		sim_link_bounce(s, p);
	}
	sim_link_update(s, p);
	return sim_unlock(s, E_OK);
}

int sim_set_link(struct sim *s, uint64_t node_guid, uint8_t port, bool up)
{
	return set_cable(s, node_guid, port, !up, false);
}

int sim_wear_link(struct sim *s, uint64_t node_guid, uint8_t port)
{
	return set_cable(s, node_guid, port, false, true);
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

static void update_links(struct sim *s, uint32_t node)
{
	const struct node *n = &s->g->nodes[node];
	for (unsigned num = 1; num <= n->n_ports; num++) {
		if (s->g->ports[n->first_port + num].peer != GRAPH_NONE) {
			sim_link_update(s, n->first_port + num);
		}
	}
}

int sim_set_node(struct sim *s, uint64_t node_guid, bool up)
{
	uint32_t node = sim_lock_node(s, node_guid);
	if (node == GRAPH_NONE) {
		return sim_unlock(s, E_NOTFOUND);
	}
	s->nodes[node].down = !up;
	update_links(s, node);
	return sim_unlock(s, E_OK);
}

int sim_set_deaf(struct sim *s, uint64_t node_guid, bool deaf)
{
	uint32_t node = sim_lock_node(s, node_guid);
	if (node == GRAPH_NONE) {
		return sim_unlock(s, E_NOTFOUND);
	}
	s->nodes[node].deaf = deaf;
	return sim_unlock(s, E_OK);
}

int sim_set_directed(struct sim *s, uint64_t node_guid, bool directed)
{
	uint32_t node = sim_lock_node(s, node_guid);
	if (node == GRAPH_NONE) {
		return sim_unlock(s, E_NOTFOUND);
	}
	s->nodes[node].directed = directed;
	return sim_unlock(s, E_OK);
}

int sim_reboot(struct sim *s, uint64_t node_guid)
{
	uint32_t node = sim_lock_node(s, node_guid);
	if (node == GRAPH_NONE) {
		return sim_unlock(s, E_NOTFOUND);
	}
	bool was_down = s->nodes[node].down;
	s->nodes[node].down = true;
	update_links(s, node);
	sim_node_reset(s, node);
	s->nodes[node].down = was_down;
	update_links(s, node);
	return sim_unlock(s, E_OK);
}

int sim_set_description(struct sim *s, uint64_t node_guid, const char *text)
{
	uint8_t data[SMP_DATA_BYTES] = { 0 };
	uint32_t node = sim_lock_node(s, node_guid);
	if (node == GRAPH_NONE) {
		return sim_unlock(s, E_NOTFOUND);
	}
	memcpy(data, text, strnlen(text, sizeof(data)));
	uint16_t attr = UMAD_SM_ATTR_NODE_DESC;
	int ret = sim_stored_put(s, s->g->nodes[node].first_port, attr, 0, data);
	if (ret == E_OK && s->opa != NULL) {
		memcpy(s->opa[node].device->description, data, sizeof(data) - 1);
	}
	if (ret == E_OK) {
		sim_trap_raise(s, node, 1);
		s->nodes[node].traps[1].description = true;
	}
	return sim_unlock(s, ret);
}

void sim_set_drop(struct sim *s, uint32_t ppm)
{
	pthread_mutex_lock(&s->lock);
	s->o.drop_ppm = ppm;
	pthread_mutex_unlock(&s->lock);
}

int sim_set_hostile(struct sim *s, uint64_t node_guid, bool hostile)
{
	uint32_t node = sim_lock_node(s, node_guid);
	if (node == GRAPH_NONE) {
		return sim_unlock(s, E_NOTFOUND);
	}
	s->nodes[node].hostile = hostile;
	return sim_unlock(s, E_OK);
}

uint64_t sim_count(const struct sim *s, uint8_t method, uint16_t attr)
{
	return method < SIM_METHODS ? s->counts[method][sim_count_column(attr)] : 0;
}

uint64_t sim_changes(const struct sim *s)
{
	return s->changes;
}
