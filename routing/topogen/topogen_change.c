/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Changes to a fabric that was generated.
 *
 * Hosts on spines and aggregation nodes need switch ports that the kind does not know, so
 * the fabric is copied with larger switches first. Hosts come after those of the kind and
 * continue its numbering, on one switch after the other. Aggregation nodes come last, each
 * on the last port of its switch, as on real switches.
 *
 * Cables fail in a random order of all switch-to-switch cables. The order is drawn again
 * while the failures disconnect the fabric. If that keeps happening, cables that connect
 * the fabric change places with others, so that as many fail as possible.
 */
#include "routing/topogen/topogen_change.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/union_find.h"
#include "routing/graph/graph.h"
#include "routing/topogen/topogen.h"
#include "routing/topogen/topogen_maker.h"

/* ---- further hosts, aggregation nodes ---- */

/* Switches without hosts, by number. \return How many. */
static uint32_t list_spines(const struct graph *g, uint32_t *ret_switches)
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
			ret_switches[n++] = i;
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

static int refuse_kind(struct maker *m, const char *what)
{
	diag_add(m->d, DIAG_ERROR, NULL, 0, "%s: %s", m->kind->name, what);
	return E_RANGE;
}

int topogen_add_extras(struct maker *m, const struct topogen_opts *o)
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
		return refuse_kind(
			m,
			"every switch has hosts already, so there is no spine for --spine-hosts");
	}
	each = n_spines ? (o->spine_hosts + n_spines - 1) / n_spines : 0;
	if (m->radix + each + o->aggregation_nodes > MAKER_MAX_RADIX) {
		return refuse_kind(m, "switches would need more than 254 ports");
	}
	ret = copy_nodes(from, to, each + o->aggregation_nodes);
	if (ret == E_OK) {
		ret = copy_cables(from, to);
	}
	m->g = to;
	for (uint32_t i = 0; i < o->spine_hosts && ret == E_OK; i++) {
		ret = maker_host(m, spine[i % n_spines], m->radix + 1 + i / n_spines);
	}
	for (uint32_t s = 0; o->aggregation_nodes && s < m->n_switches && ret == E_OK;
	     s++) {
		ret = maker_aggregation_node(m, s, m->radix + each + 1);
	}
	return ret;
}

/* ---- failing cables ---- */

/* Drawings that may cut the fabric before a connected one is made to order. */
enum { TRIES = 16 };

/* Switch-to-switch cables and what is drawn from them. */
struct draw {
	uint32_t *cable; /* [n] one port of each cable */
	uint32_t *group; /* [n_nodes] union-find: parent */
	uint32_t n;
	uint32_t want; /* the first want of cable[] fail */
	uint64_t state;
};

/* \return Whether the cable joined two groups that were apart. */
static bool join_ends(const struct graph *g, struct draw *w, uint32_t port)
{
	return union_join(w->group, g->ports[port].node,
	                  g->ports[g->ports[port].peer].node);
}

/* Number of joins that cables first..n-1 make: nodes minus joins = parts. */
static uint32_t count_joins(const struct graph *g, struct draw *w, uint32_t first)
{
	uint32_t made = 0;

	union_init(w->group, g->n_nodes);
	for (uint32_t i = first; i < w->n; i++) {
		made += join_ends(g, w, w->cable[i]);
	}
	return made;
}

/*
 * Brings cables that the fabric needs to stay together behind the failing ones: those
 * that join two groups when all others stay. Needed when chance alone keeps cutting it.
 */
static void spare_bridges(const struct graph *g, struct draw *w)
{
	uint32_t *needed = w->cable + w->n; /* the second half is room for this */
	uint32_t n_needed = 0, n = 0;

	/* Cables meant to stay come last in the order and are joined first, so most trees
	   use them; the cables that are still needed are taken out of the failing ones,
	   and others, that close a cycle, move up in their place. */
	union_init(w->group, g->n_nodes);
	for (uint32_t i = w->n; i-- > 0;) {
		if (join_ends(g, w, w->cable[i])) {
			needed[n_needed++] = w->cable[i];
			w->cable[i] = GRAPH_NONE;
		}
	}
	for (uint32_t i = 0; i < w->n; i++) {
		if (w->cable[i] != GRAPH_NONE) {
			w->cable[n++] = w->cable[i];
		}
	}
	memcpy(w->cable + n, needed, n_needed * sizeof(*needed));
	w->want = w->want < n ? w->want : n;
}

static int draw_init(struct draw *w, const struct graph *g, const struct topogen_opts *o)
{
	*w = (struct draw){ .state = o->seed };
	w->cable = arena_array(g->arena, g->n_ports, sizeof(*w->cable));
	w->group = arena_array(g->arena, g->n_nodes, sizeof(*w->group));
	if (!w->cable || !w->group) {
		return -ENOMEM;
	}

	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		if (p->peer == GRAPH_NONE || p->peer < i) {
			continue;
		}
		if (g->nodes[p->node].type == NODE_SWITCH &&
		    g->nodes[g->ports[p->peer].node].type == NODE_SWITCH) {
			w->cable[w->n++] = i;
		}
	}
	/* In whole numbers: processors that calculate with more digits than a double has
	 * would round halves otherwise. */
	uint64_t billionths = (uint64_t)(o->fail * 1e9 + 0.5);
	w->want = (uint32_t)((billionths * w->n + 500000000) / 1000000000);
	return E_OK;
}

int topogen_fail_cables(struct graph *g, const struct topogen_opts *o, struct diags *d)
{
	if (!(o->fail >= 0 && o->fail <= 1)) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "fail is %g, expected a fraction from 0 to 1", o->fail);
		return E_RANGE;
	}
	struct draw w;
	int ret = draw_init(&w, g, o);
	if (ret != E_OK || !w.want) {
		return ret;
	}

	uint32_t whole = count_joins(g, &w, 0);
	unsigned try = 0;
	do {
		for (uint32_t i = w.n; i > 1; i--) { /* shuffle */
			uint32_t k = (uint32_t)(topogen_random(&w.state) % i);
			uint32_t t = w.cable[i - 1];

			w.cable[i - 1] = w.cable[k];
			w.cable[k] = t;
		}
	} while (count_joins(g, &w, w.want) != whole && ++try < TRIES);
	if (try == TRIES) {
		uint32_t asked = w.want;
		spare_bridges(g, &w);
		if (w.want < asked) {
			diag_add(
				d, DIAG_WARNING, NULL, 0,
				"only %u of %u links removed, the others hold it together",
				w.want, asked);
		}
	}
	for (uint32_t i = 0; i < w.want; i++) {
		graph_disconnect(g, w.cable[i]);
	}
	return E_OK;
}
