/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/fabric.h"

#include "tests/lib/words.h"

uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

uint32_t random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((random_next(state) >> 32) * n >> 32);
}

struct graph *fabric_make(const char *command, double fail, uint32_t seed,
                          struct arena *a)
{
	struct topogen_opts o = { .fail = fail, .seed = seed };
	char *argv[16];
	struct diags *d = arena_alloc(a, sizeof(*d));
	struct graph *g = NULL;
	int n = words_split(command, a, argv, 16), argc = 0;

	diags_init(d, a);
	for (int i = 0; i < n; i++) {
		char *w = argv[i];

		if (strcmp(w, "--aggregation-nodes") == 0) {
			o.aggregation_nodes = true;
		} else if (strncmp(w, "--spine-hosts=", 14) == 0) {
			o.spine_hosts = (uint32_t)atoi(w + 14);
		} else {
			argv[argc++] = w;
		}
	}
	ck_assert_msg(topogen(argv[0], argc - 1, argv + 1, &o, a, d, &g) == E_OK,
	              "%s: %s", command, diags_first_error(d));
	return g;
}

uint32_t *fabric_shuffle(uint32_t n, uint64_t *state, struct arena *a)
{
	uint32_t *order = arena_array(a, n, sizeof(*order));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = random_below(state, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	return order;
}

struct graph *fabric_renamed(const struct graph *g, uint64_t seed, struct arena *a)
{
	uint32_t *name = fabric_shuffle(g->n_nodes, &seed, a), at;
	struct graph *x = graph_new(a);
	struct diags *d = arena_alloc(a, sizeof(*d));

	diags_init(d, a);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];

		ck_assert_int_eq(graph_add_node(x, n->type, (uint64_t)(name[i] + 1) << 12,
		                                n->n_ports, n->description, NULL, &at),
		                 E_OK);
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];

		if (p->peer != GRAPH_NONE && p->peer > i) {
			const struct port *q = &g->ports[p->peer];

			ck_assert_int_eq(graph_connect(x, graph_port(x, p->node, p->num),
			                               graph_port(x, q->node, q->num)),
			                 E_OK);
		}
	}
	ck_assert_int_eq(graph_freeze(x, d), E_OK);
	return x;
}

struct graph *fabric_reordered(const struct graph *g, uint64_t seed, struct arena *a)
{
	uint32_t *nodes = fabric_shuffle(g->n_nodes, &seed, a);
	uint32_t *ports = fabric_shuffle(g->n_ports, &seed, a);
	uint32_t *now = arena_array(a, g->n_nodes, sizeof(*now));
	struct graph *x = graph_new(a);
	struct diags *d = arena_alloc(a, sizeof(*d));

	diags_init(d, a);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[nodes[i]];
		uint32_t *at = &now[nodes[i]];

		ck_assert_int_eq(graph_add_node(x, n->type, n->guid, n->n_ports,
		                                n->description, n->id, at),
		                 E_OK);
		x->nodes[*at].esp0 = n->esp0;
		x->nodes[*at].system_image_guid = n->system_image_guid;
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[ports[i]];
		uint32_t here = graph_port(x, now[p->node], p->num);

		x->ports[here].width = p->width;
		x->ports[here].speed = p->speed;
		x->ports[here].mtu = p->mtu;
		if (ports[i] == g->sm_port) {
			x->sm_port = here;
		}
		if (p->peer != GRAPH_NONE && p->peer > ports[i]) {
			const struct port *q = &g->ports[p->peer];

			ck_assert_int_eq(
				graph_connect(x, here,
			                      graph_port(x, now[q->node], q->num)),
				E_OK);
		}
	}
	ck_assert_int_eq(graph_freeze(x, d), E_OK);
	return x;
}

struct graph *fabric_without(const struct graph *g, const bool *gone, const bool *cut,
                             struct arena *a)
{
	uint32_t *now = arena_array(a, g->n_nodes, sizeof(*now));
	struct graph *x = graph_new(a);
	struct diags *d = arena_alloc(a, sizeof(*d));

	diags_init(d, a);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];

		if (gone && gone[i]) {
			continue;
		}
		ck_assert_int_eq(graph_add_node(x, n->type, n->guid, n->n_ports,
		                                n->description, n->id, &now[i]),
		                 E_OK);
		for (unsigned p = 0; p <= n->n_ports; p++) {
			const struct port *from = &g->ports[n->first_port + p];
			struct port *to = &x->ports[graph_port(x, now[i], p)];

			to->guid = from->guid;
			to->width = from->width;
			to->speed = from->speed;
			to->mtu = from->mtu;
			to->vls = from->vls;
		}
		x->nodes[now[i]].esp0 = n->esp0;
		x->nodes[now[i]].system_image_guid = n->system_image_guid;
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i], *q;

		if (p->peer == GRAPH_NONE || p->peer < i) {
			continue;
		}
		q = &g->ports[p->peer];
		if (!(gone && (gone[p->node] || gone[q->node])) &&
		    !(cut && (cut[i] || cut[p->peer]))) {
			ck_assert_int_eq(
				graph_connect(x, graph_port(x, now[p->node], p->num),
			                      graph_port(x, now[q->node], q->num)),
				E_OK);
		}
	}
	ck_assert_int_eq(graph_freeze(x, d), E_OK);
	return x;
}

struct lids fabric_lids(const struct graph *g, uint32_t lmc, uint32_t lmc_esp0,
                        struct arena *a)
{
	struct lids_in in = {
		.g = g, .lmc = lmc, .lmc_esp0 = lmc_esp0, .reassign = true
	};
	struct lids l;

	ck_assert_int_eq(lids_assign(&in, a, NULL, &l, NULL, NULL), E_OK);
	return l;
}

struct lids fabric_lids_high(const struct graph *g, uint32_t high, struct arena *a)
{
	const struct lid_memory m = { .guid = g->ports[g->by_guid[0]].guid,
		                      .range = { .base = high } };
	const struct lids_in in = {
		.g = g, .memory = &m, .n_memory = 1, .max_lid = LID_LIMIT_MAX
	};
	struct lids l;

	ck_assert_int_eq(lids_assign(&in, a, NULL, &l, NULL, NULL), E_OK);
	ck_assert_uint_eq(l.top, high);
	return l;
}
