/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/routing/fabric_life.h"

void life_make_fabric(struct life *l)
{
	struct lids_in in = { .memory = l->memory, .n_memory = l->whole->n_end_ports };
	struct diags d;

	diags_init(&d, l->arena);
	l->g = fabric_without(l->whole, l->gone, l->cut, l->arena);
	in.g = l->g;
	ck_assert_int_eq(lids_assign(&in, l->arena, &d, &l->lids, NULL, NULL), E_OK);
	l->request.g = l->g;
	l->request.lids = &l->lids;
}

void life_start(struct life *l, struct graph *whole, const char *list, uint32_t lmc,
                struct arena *a)
{
	struct why why = { "" };
	struct lids lids;

	l->arena = a;
	l->whole = whole;
	l->gone = arena_array(a, whole->n_nodes, sizeof(*l->gone));
	l->cut = arena_array(a, whole->n_ports, sizeof(*l->cut));
	l->memory = arena_array(a, whole->n_end_ports, sizeof(*l->memory));
	lids = fabric_lids(whole, lmc, 0, a);
	for (uint32_t i = 0; i < whole->n_end_ports; i++) {
		uint32_t p = whole->by_guid[i];

		l->memory[i] = (struct lid_memory){ .guid = whole->ports[p].guid,
			                            .range = lids.of[p] };
	}
	l->request.memory = &l->left;
	l->request.threads = 1;
	ck_assert_int_eq(route_list_parse(list, &l->request.list, &why), E_OK);
	life_make_fabric(l);
}

bool life_has_link(const struct graph *g, uint32_t port)
{
	uint32_t peer = g->ports[port].peer;

	return peer != GRAPH_NONE && g->nodes[g->ports[port].node].type == NODE_SWITCH &&
	       g->nodes[g->ports[peer].node].type == NODE_SWITCH;
}

void life_change(struct life *l, uint64_t *state)
{
	const struct graph *g = l->whole;

	l->routes = false;
	for (unsigned n = 1 + random_below(state, 2); n > 0;) {
		uint32_t port = random_below(state, g->n_ports);
		uint32_t node = random_below(state, g->n_nodes);

		if (random_below(state, 2) && life_has_link(g, port)) {
			l->cut[port] ^= 1;
			l->routes = true;
			n--;
		} else if (g->nodes[node].type == NODE_CA) {
			l->gone[node] ^= 1;
			l->routes |= !l->gone[node];
			n--;
		}
	}
	life_make_fabric(l);
}

void life_keep_tables(struct life *l, const struct lft *t)
{
	ck_assert_int_eq(lft_init(&l->prev, t->n_switches, t->n_lids - 1, l->arena),
	                 E_OK);
	memcpy(l->prev.rows, t->rows, t->n_switches * t->stride);
	l->left.tables = &l->prev;
}
