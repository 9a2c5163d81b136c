/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/cabling.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

struct named {
	const char *name;
	uint32_t node;
};

struct compare {
	const struct graph *plan, *found;
	uint32_t *to;   /* [plan->n_nodes] the found node, or GRAPH_NONE */
	uint32_t *from; /* [found->n_nodes] the planned node, or GRAPH_NONE */
	struct cabling *ret;
};

const char *cabling_kind_name(enum cabling_kind kind)
{
	static const char *const names[CABLING_KINDS] = {
		[CABLING_NODE_MISSING] = "node-missing",
		[CABLING_NODE_EXTRA] = "node-extra",
		[CABLING_SWAPPED] = "swapped",
		[CABLING_WRONG] = "wrong",
		[CABLING_MISSING] = "missing",
		[CABLING_EXTRA] = "extra",
		[CABLING_SLOWER] = "slower",
	};

	return names[kind];
}

/* --- which node is which ------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d != 0 ? d : x->node < y->node ? -1 : x->node > y->node;
}

/* Names of the nodes that have no partner yet, in order. \return How many. */
static uint32_t list_names(const struct graph *g, const uint32_t *partner,
                           struct named *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (partner[i] == GRAPH_NONE && *node_name(&g->nodes[i]) != '\0') {
			list[n++] = (struct named){ node_name(&g->nodes[i]), i };
		}
	}
	qsort(list, n, sizeof(*list), by_name);
	return n;
}

static bool is_unique(const struct named *list, uint32_t n, uint32_t i)
{
	return (i == 0 || strcmp(list[i].name, list[i - 1].name) != 0) &&
	       (i + 1 == n || strcmp(list[i].name, list[i + 1].name) != 0);
}

static void join(struct compare *c, uint32_t planned, uint32_t found)
{
	if (c->plan->nodes[planned].type == c->found->nodes[found].type) {
		c->to[planned] = found;
		c->from[found] = planned;
	}
}

static int match_nodes(struct compare *c, struct arena *a)
{
	struct named *x = arena_array(a, c->plan->n_nodes + 1, sizeof(*x));
	struct named *y = arena_array(a, c->found->n_nodes + 1, sizeof(*y));

	c->to = arena_array(a, c->plan->n_nodes + 1, sizeof(*c->to));
	c->from = arena_array(a, c->found->n_nodes + 1, sizeof(*c->from));
	if (x == NULL || y == NULL || c->to == NULL || c->from == NULL) {
		return -ENOMEM;
	}
	memset(c->to, 0xff, (c->plan->n_nodes + 1) * sizeof(*c->to));
	memset(c->from, 0xff, (c->found->n_nodes + 1) * sizeof(*c->from));
	for (uint32_t i = 0; i < c->plan->n_nodes; i++) {
		uint32_t same = graph_node_by_guid(c->found, c->plan->nodes[i].guid);

		if (same != GRAPH_NONE) {
			join(c, i, same);
		}
	}
	uint32_t n = list_names(c->plan, c->to, x), m = list_names(c->found, c->from, y);
	for (uint32_t i = 0, k = 0; i < n && k < m;) {
		int d = strcmp(x[i].name, y[k].name);

		if (d == 0 && is_unique(x, n, i) && is_unique(y, m, k)) {
			join(c, x[i].node, y[k].node);
		}
		i += d <= 0;
		k += d >= 0;
	}
	return E_OK;
}

/* The same port on the other side. \return GRAPH_NONE: there is none. */
static uint32_t map_port(const struct graph *g, const uint32_t *to, const struct graph *h,
                         uint32_t port)
{
	uint32_t node = to[g->ports[port].node];

	return node == GRAPH_NONE ? GRAPH_NONE : graph_port(h, node, g->ports[port].num);
}

static uint32_t found_of(const struct compare *c, uint32_t port)
{
	return map_port(c->plan, c->to, c->found, port);
}

static uint32_t planned_of(const struct compare *c, uint32_t port)
{
	return map_port(c->found, c->from, c->plan, port);
}

static uint32_t peer_of(const struct graph *g, uint32_t port)
{
	return port == GRAPH_NONE ? GRAPH_NONE : g->ports[port].peer;
}

/* --- rows ---------------------------------------------------------------------------------- */

static struct cabling_row *add_row(struct compare *c, enum cabling_kind kind)
{
	struct cabling_row *row = &c->ret->row[c->ret->n_rows++];

	memset(row, 0xff, sizeof(*row));
	row->kind = kind;
	c->ret->count[kind]++;
	return row;
}

static void add_nodes(struct compare *c)
{
	for (uint32_t i = 0; i < c->plan->n_nodes; i++) {
		if (c->to[i] == GRAPH_NONE) {
			add_row(c, CABLING_NODE_MISSING)->node = i;
		}
	}
	for (uint32_t i = 0; i < c->found->n_nodes; i++) {
		if (c->from[i] == GRAPH_NONE) {
			add_row(c, CABLING_NODE_EXTRA)->node = i;
		}
	}
}

static bool is_slower(const struct compare *c, uint32_t planned, uint32_t found)
{
	const struct port *p = &c->plan->ports[planned], *f = &c->found->ports[found];

	return rate_speed(link_rate(f->width, f->speed)) <
	       rate_speed(link_rate(p->width, p->speed));
}

/*
 * The cable of the plan whose far end is exchanged with that of (a, b): found are a to d and
 * c to b, planned are a to b and c to d. \return Its port c, or GRAPH_NONE.
 */
static uint32_t swapped_with(const struct compare *c, uint32_t a, uint32_t b)
{
	uint32_t at_a = peer_of(c->found, found_of(c, a));
	uint32_t at_b = peer_of(c->found, found_of(c, b));
	uint32_t d = at_a == GRAPH_NONE ? GRAPH_NONE : planned_of(c, at_a);
	uint32_t third = at_b == GRAPH_NONE ? GRAPH_NONE : planned_of(c, at_b);

	return d != GRAPH_NONE && third != GRAPH_NONE && c->plan->ports[d].peer == third
	               ? third
	               : GRAPH_NONE;
}

static void add_planned(struct compare *c, uint32_t a, uint32_t b)
{
	uint32_t found[2] = { found_of(c, a), found_of(c, b) };
	uint32_t peer[2] = { peer_of(c->found, found[0]), peer_of(c->found, found[1]) };
	struct cabling_row *row = NULL;

	if (found[0] != GRAPH_NONE && peer[0] == found[1]) {
		c->ret->n_good++;
		row = is_slower(c, a, found[0]) ? add_row(c, CABLING_SLOWER) : NULL;
	} else if (peer[0] == GRAPH_NONE && peer[1] == GRAPH_NONE) {
		row = c->to[c->plan->ports[a].node] != GRAPH_NONE &&
		                      c->to[c->plan->ports[b].node] != GRAPH_NONE
		              ? add_row(c, CABLING_MISSING)
		              : NULL;
	} else {
		uint32_t third = swapped_with(c, a, b);

		if (third == GRAPH_NONE) {
			row = add_row(c, CABLING_WRONG);
			memcpy(row->at_peer, peer, sizeof(peer));
		} else {
			uint32_t fourth = c->plan->ports[third].peer;
			uint32_t lower = third < fourth ? third : fourth;

			if (lower < a) {
				return; /* the other cable has the row */
			}
			row = add_row(c, CABLING_SWAPPED);
			row->other[0] = third;
			row->other[1] = fourth;
		}
	}
	if (row != NULL) {
		row->plan[0] = a;
		row->plan[1] = b;
		memcpy(row->found, found, sizeof(found));
	}
}

/* Is a cable planned at this found port? */
static bool is_planned_at(const struct compare *c, uint32_t port)
{
	uint32_t planned = planned_of(c, port);

	return planned != GRAPH_NONE && c->plan->ports[planned].peer != GRAPH_NONE;
}

static void add_extra(struct compare *c, uint32_t a, uint32_t b)
{
	bool known = c->from[c->found->ports[a].node] != GRAPH_NONE &&
	             c->from[c->found->ports[b].node] != GRAPH_NONE;

	if (known && !is_planned_at(c, a) && !is_planned_at(c, b)) {
		struct cabling_row *row = add_row(c, CABLING_EXTRA);

		row->found[0] = a;
		row->found[1] = b;
	}
}

/* The same differences in the order of their kinds. */
static int by_kind(const void *a, const void *b)
{
	const struct cabling_row *x = a, *y = b;
	enum { NUMBERS = 5 };

	if (x->kind != y->kind) {
		return x->kind < y->kind ? -1 : 1;
	}
	/* node, plan[2] or found[2]: one of them is set, and no two rows share it */
	const uint32_t kx[NUMBERS] = { x->node, x->plan[0], x->plan[1], x->found[0],
		                       x->found[1] };
	const uint32_t ky[NUMBERS] = { y->node, y->plan[0], y->plan[1], y->found[0],
		                       y->found[1] };
	for (unsigned i = 0; i < NUMBERS; i++) {
		if (kx[i] != ky[i]) {
			return kx[i] < ky[i] ? -1 : 1;
		}
	}
	return 0;
}

int cabling_compare(const struct graph *plan, const struct graph *found, struct arena *a,
                    struct cabling *ret_cabling)
{
	struct cabling r = { .n_rows = 0 };
	struct compare c = { .plan = plan, .found = found, .ret = &r };
	size_t most =
		(size_t)plan->n_nodes + found->n_nodes + plan->n_links + found->n_links;
	int ret = match_nodes(&c, a);

	r.row = arena_array(a, most + 1, sizeof(*r.row));
	if (ret != E_OK || r.row == NULL) {
		return ret != E_OK ? ret : -ENOMEM;
	}
	add_nodes(&c);
	for (uint32_t i = 0; i < plan->n_ports; i++) {
		uint32_t peer = plan->ports[i].peer;

		if (peer != GRAPH_NONE && i < peer) {
			r.n_planned++;
			add_planned(&c, i, peer);
		}
	}
	for (uint32_t i = 0; i < found->n_ports; i++) {
		if (found->ports[i].peer != GRAPH_NONE && i < found->ports[i].peer) {
			add_extra(&c, i, found->ports[i].peer);
		}
	}
	qsort(r.row, r.n_rows, sizeof(*r.row), by_kind);
	*ret_cabling = r;
	return E_OK;
}
