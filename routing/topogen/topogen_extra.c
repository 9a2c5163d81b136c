/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Hosts on spines and aggregation nodes. Both need switch ports that the kind does not
 * know, so the fabric is copied with larger switches first. Hosts come after those of the
 * kind and in its numbering, on one switch after the other; aggregation nodes come last,
 * each on the last port of its switch, as real switches show them.
 */
#include "routing/topogen/topogen_extra.h"

#include <errno.h>
#include <stdbool.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/topogen/topogen.h"
#include "routing/topogen/topogen_maker.h"

/* Switches without hosts, by number. \return How many. */
static uint32_t list_spines(const struct graph *g, uint32_t *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *node = &g->nodes[i];
		bool hosts = false;

		for (unsigned num = 1; num <= node->n_ports; num++) {
			uint32_t peer = g->ports[node->first_port + num].peer;

			hosts |= peer != GRAPH_NONE &&
			         g->nodes[g->ports[peer].node].type == NODE_CA;
		}
		if (node->type == NODE_SWITCH && !hosts) {
			ret[n++] = i;
		}
	}
	return n;
}

/* The nodes of a fabric with \a more ports on every switch. */
static int copy_nodes(const struct graph *from, struct graph *to, unsigned more)
{
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		const struct node *n = &from->nodes[i];
		unsigned n_ports = n->n_ports + (n->type == NODE_SWITCH ? more : 0);
		uint32_t node;
		int ret = graph_add_node(to, n->type, n->guid, n_ports, n->description,
		                         n->id, &node);

		if (ret != E_OK) {
			return ret;
		}
		to->nodes[node].system_image_guid = n->system_image_guid;
	}
	return E_OK;
}

static uint32_t same_port(const struct graph *from, const struct graph *to, uint32_t port)
{
	const struct port *p = &from->ports[port];

	return graph_port(to, p->node, p->num);
}

static int copy_cables(const struct graph *from, struct graph *to)
{
	for (uint32_t i = 0; i < from->n_ports; i++) {
		const struct port *p = &from->ports[i];
		uint32_t a = same_port(from, to, i);

		to->ports[a].speed = p->speed;
		if (p->peer != GRAPH_NONE && p->peer > i) {
			int ret = graph_connect(to, a, same_port(from, to, p->peer));

			if (ret != E_OK) {
				return ret;
			}
		}
	}
	to->sm_port = from->sm_port == GRAPH_NONE ? GRAPH_NONE
	                                          : same_port(from, to, from->sm_port);
	return E_OK;
}

static int refuse(struct maker *m, const char *what)
{
	diag_add(m->d, DIAG_ERROR, NULL, 0, "%s: %s", m->kind->name, what);
	return E_RANGE;
}

int topogen_extra(struct maker *m, const struct topogen_opts *o)
{
	const struct graph *from = m->g;
	uint32_t *spine = arena_array(from->arena, from->n_nodes, sizeof(*spine));
	uint32_t n_spines = spine ? list_spines(from, spine) : 0, each;
	struct graph *to = graph_new(from->arena);
	int ret = E_OK;

	if (!spine || !to) {
		return -ENOMEM;
	}
	if (o->spine_hosts && !n_spines) {
		return refuse(m, "every switch has hosts already, so there is no spine "
		                 "for --spine-hosts");
	}
	each = n_spines ? (o->spine_hosts + n_spines - 1) / n_spines : 0;
	if (m->radix + each + o->aggregation_nodes > MAKER_MAX_RADIX) {
		return refuse(m, "switches would need more than 254 ports");
	}
	ret = copy_nodes(from, to, each + o->aggregation_nodes);
	if (ret == E_OK) {
		ret = copy_cables(from, to);
	}
	m->g = to;
	for (uint32_t i = 0; i < o->spine_hosts && ret == E_OK; i++) {
		ret = maker_host(m, spine[i % n_spines], m->radix + 1 + i / n_spines);
	}
	for (uint32_t s = 0; o->aggregation_nodes && s < m->n_switches && ret == E_OK; s++) {
		ret = maker_aggregation_node(m, s, m->radix + each + 1);
	}
	return ret;
}
