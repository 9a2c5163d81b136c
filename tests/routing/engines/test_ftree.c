/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The fat-tree engine: properties over seeded trees, healthy and broken, with lists and
 * with hosts on spines; and the manual's picture.
 *
 * Longer than most: all of it shares the plain search for routes that climb, then
 * descend, the fabrics made by hand and what runs the engine.
 */
#include <check.h>
#include <inttypes.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/guidfile.h"
#include "routing/engine.h"
#include "routing/engine_options.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
#include "routing/route.h"
#include "routing/route_cache.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static void set_threads(int n)
{
#ifdef _OPENMP
	omp_set_num_threads(n);
#else
	(void)n;
#endif
}

static int run(const struct graph *g, const struct lids *l, const struct ftree_options *o,
               struct route_out *out)
{
	const struct route_in in = { .g = g, .lids = l, .options = o };

	*out = (struct route_out){ 0 };
	return engine_find("ftree")->route(&in, arena, out);
}

static struct route_out route(const struct graph *g, const struct lids *l,
                              const struct ftree_options *o)
{
	struct route_out out;
	int ret = run(g, l, o, &out);

	ck_assert_msg(ret == E_OK, "%s", out.notes.text);
	return out;
}

static const struct guid_file *guids(const char *text)
{
	const struct guid_file *f;

	ck_assert_int_eq(
		guid_file_parse("list", text, strlen(text), false, arena, NULL, &f),
		E_OK);
	return f;
}

/* Fabric by hand: switches by letters, hosts, cables between letters. */
struct maker_by_hand {
	struct graph *g;
	uint32_t node[96];
	unsigned used[96], n;
};

static unsigned add(struct maker_by_hand *m, enum node_type type)
{
	unsigned ports = type == NODE_SWITCH ? 24 : 1;

	ck_assert_int_eq(graph_add_node(m->g, type, 0x1000 + 0x10 * m->n, ports,
	                                arena_printf(arena, "n%u", m->n), NULL,
	                                &m->node[m->n]),
	                 E_OK);
	return m->n++;
}

static void join(struct maker_by_hand *m, unsigned x, unsigned y)
{
	ck_assert_int_eq(graph_connect(m->g, graph_port(m->g, m->node[x], ++m->used[x]),
	                               graph_port(m->g, m->node[y], ++m->used[y])),
	                 E_OK);
}

static unsigned add_host(struct maker_by_hand *m, unsigned sw)
{
	unsigned h = add(m, NODE_CA);

	join(m, sw, h);
	return h;
}

static void freeze(struct maker_by_hand *m)
{
	ck_assert_int_eq(graph_freeze(m->g, NULL), E_OK);
}

/* Host port GUIDs are node GUID + 1; see graph_add_node(). */
static const char *guid_line(unsigned n, unsigned port)
{
	return arena_printf(arena, "0x%x\n", 0x1000 + 0x10 * n + port);
}

/* ---- what must hold for every tree ---- */

/* Rank by distance from the nearest switch with hosts, computed plainly. */
static uint32_t *plain_heights(const struct graph *g)
{
	uint32_t *height = arena_array(arena, g->n_switches, sizeof(*height));
	bool changed = true;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		height[s] = g->host_first[s] == g->host_first[s + 1] ? 1000 : 0;
	}
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < g->n_switches; s++) {
			for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
				if (height[g->adj[i].to] + 1 < height[s]) {
					height[s] = height[g->adj[i].to] + 1;
					changed = true;
				}
			}
		}
	}
	return height;
}

static bool is_up(const uint32_t *height, uint32_t from, uint32_t to)
{
	return height[to] != height[from] ? height[to] > height[from] : to < from;
}

/* Does some route that climbs, then descends, exist? Plain search over (switch, phase).
 */
static bool *plain_reach(const struct graph *g, const uint32_t *height, uint32_t t)
{
	bool *down = arena_array(arena, g->n_switches, sizeof(*down));
	bool *any = arena_array(arena, g->n_switches, sizeof(*any)), changed = true;

	down[t] = any[t] = true;
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < g->n_switches; s++) {
			for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
				uint32_t to = g->adj[i].to;
				bool up = is_up(height, s, to);

				if (!up && down[to] && !down[s]) {
					down[s] = any[s] = changed = true;
				}
				if (up && any[to] && !any[s]) {
					any[s] = changed = true;
				}
			}
		}
	}
	return any;
}

/* Follows every entry: it arrives, and never up after down where such a route exists. */
static void check_legal(const struct graph *g, const struct lids *l,
                        const struct lft *lft)
{
	const uint32_t *height = plain_heights(g);

	for (uint32_t e = 0; e < g->n_end_ports; e++) {
		uint32_t owner = g->end_ports[e], t = graph_switch_of(g, owner);
		bool *reach = plain_reach(g, height, t);

		for (uint32_t s0 = 0; s0 < g->n_switches; s0++) {
			uint32_t s = s0, lid = l->of[owner].base;
			bool fell = false;

			for (unsigned hops = 0; s != t; hops++) {
				uint8_t p = lft_row(lft, s)[lid];
				ck_assert_uint_ne(p, LFT_NO_ROUTE);
				ck_assert_uint_lt(hops, 16);
				uint32_t here = graph_port(g, g->switches[s], p);
				uint32_t to =
					g->nodes[g->ports[g->ports[here].peer].node].sw;
				bool up = is_up(height, s, to);

				ck_assert(!(up && fell && reach[s0]));
				fell = !up;
				s = to;
			}
		}
	}
}

static const char *const fabrics[] = { "ft2 6 4 3", "ft2 5 3 2 2", "ft2 4 8 2",
	                               "ft3 4",     "ft3 6",       "ft3 8" };
static const double fails[] = { 0, 0.01, 0.05, 0.2 };

enum {
	N_FABRICS = sizeof(fabrics) / sizeof(*fabrics),
	N_FAILS = sizeof(fails) / sizeof(*fails),
	SEEDS = 4
};

/* Legal, complete, proven, the same on any number of threads and for any order of input.
 */
START_TEST(every_tree)
{
	const char *command = fabrics[_i % N_FABRICS];
	double fail = fails[_i / N_FABRICS % N_FAILS];
	uint32_t seed = (uint32_t)(_i / (N_FABRICS * N_FAILS)) + 1;
	struct graph *g = fabric_make(command, fail, seed, arena);
	struct graph *other = fabric_reordered(g, seed + 5, arena);
	struct lids l = fabric_lids(g, 0, 0, arena), lo = fabric_lids(other, 0, 0, arena);
	struct route_out one, two, shuffled;
	struct proof p;

	set_threads(1);
	if (run(g, &l, NULL, &one) != E_OK) { /* so broken that many leaves are apart */
		ck_assert(fail > 0 && strstr(one.notes.text, "no route that climbs"));
		return;
	}
	set_threads(2);
	two = route(g, &l, NULL);
	shuffled = route(other, &lo, NULL);
	ck_assert_mem_eq(one.lft.rows, two.lft.rows, one.lft.n_switches * one.lft.stride);
	ck_assert_mem_eq(one.lft.rows, shuffled.lft.rows,
	                 one.lft.n_switches * one.lft.stride);
	check_legal(g, &l, &one.lft);
	ck_assert(fail > 0 || !strstr(one.notes.text, "order of switches"));
	ck_assert_int_eq(proof_run(g, &l, &one.lft, NULL, arena, &p), E_OK);
	ck_assert_uint_eq(p.unreachable_pairs + p.holes + p.forwarding_loops, 0);
	ck_assert_uint_eq(p.management_unreachable, 0);
	ck_assert(one.beyond_rule || p.credit_loops + p.management_credit_loops == 0);
	ck_assert(p.pairs > 0);
	ck_assert(!one.may_deadlock && !one.may_miss);
	ck_assert_int_eq(fail > 0 &&
	                         g->n_links < fabric_make(command, 0, 1, arena)->n_links,
	                 one.notes.text[0] != 0);
}
END_TEST

/* ---- quality ---- */

/* Flows on the busiest link when host i of a list sends to i + shift. */
static uint32_t shift_congestion(const struct graph *g, const struct lids *l,
                                 const struct lft *lft, const uint32_t *host, uint32_t n,
                                 uint32_t shift)
{
	uint32_t *flows = calloc(g->n_ports, sizeof(*flows)), most = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = host[(i + shift) % n], s = graph_switch_of(g, host[i]);

		while (s != graph_switch_of(g, to)) {
			uint32_t out = graph_port(g, g->switches[s],
			                          lft_row(lft, s)[l->of[to].base]);

			flows[out]++;
			most = flows[out] > most ? flows[out] : most;
			s = g->nodes[g->ports[g->ports[out].peer].node].sw;
		}
	}
	free(flows);
	return most;
}

static double mean_congestion(const struct graph *g, const struct lids *l,
                              const struct lft *lft, const uint32_t *host, uint32_t n)
{
	double sum = 0;

	for (uint32_t k = 1; k < n; k++) {
		sum += shift_congestion(g, l, lft, host, n, k);
	}
	return sum / (n - 1);
}

static const struct {
	const char *command;
	double fail;
	double ratio, shift; /* bounds: busiest link to mean, mean worst congestion of a
	                        shift */
} quality[] = {
	{ "ft2 18 9 9", 0, 1.0, 1.0 },
	{ "ft2 8 6 3 2", 0, 1.0, 1.0 },
	{ "ft3 4", 0, 1.2, 1.0 },
	{ "ft3 8", 0, 1.06, 1.0 },
	{ "ft3 12", 0, 1.04, 1.0 },
	{ "ft3 16", 0, 1.03, 1.0 },
	{ "ft3 16", 0.01, 1.4, 2.5 },
	{ "ft3 16", 0.05, 1.7, 3.2 },
	{ "ft3 16", 0.2, 1.8, 8 },
	{ "tree3 4 6 8 6 4", 0.1, 1.3, 8 }, /* repaired pair by pair: 1.43 */
};

/* No table can do better: what leaves a leaf switch, over the cables it has left. */
static double leaf_bound(const struct graph *g)
{
	uint32_t all = g->host_first[g->n_switches];
	double most = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t here = g->host_first[s + 1] - g->host_first[s];
		uint32_t up = g->adj_first[s + 1] - g->adj_first[s];
		double each = (double)here * (all - here) / up;

		most = here && each > most ? each : most;
	}
	return most;
}

START_TEST(links_are_shared)
{
	struct graph *g = fabric_make(quality[_i].command, quality[_i].fail, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out = route(g, &l, NULL);
	struct load load;
	double shift, best = leaf_bound(g);

	ck_assert_int_eq(load_build(g, &l, &out.lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= quality[_i].ratio * load.mean + 1e-6 ||
	                      load.max <= 1.05 * best,
	              "%s %.2f: max %u mean %.2f", quality[_i].command, quality[_i].fail,
	              load.max, load.mean);
	shift = mean_congestion(g, &l, &out.lft, g->hosts, g->host_first[g->n_switches]);
	ck_assert_msg(shift <= quality[_i].shift, "%s %.2f: shifts %.3f",
	              quality[_i].command, quality[_i].fail, shift);
}
END_TEST

START_TEST(one_link_gone)
{
	struct graph *g = fabric_make("ft3 16", 0.0005, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out = route(g, &l, NULL);
	struct load load;

	ck_assert_uint_eq(g->n_links, fabric_make("ft3 16", 0, 1, arena)->n_links - 1);
	ck_assert_int_eq(load_build(g, &l, &out.lft, arena, &load), E_OK);
	ck_assert(load.max <= 1.2 * load.mean);
	ck_assert(mean_congestion(g, &l, &out.lft, g->hosts,
	                          g->host_first[g->n_switches]) <= 2.0);
}
END_TEST

/* Every other host is a compute node: their shifts pass freely, too, and so the others'.
 */
START_TEST(compute_nodes_are_balanced_by_themselves)
{
	struct graph *g = fabric_make("ft3 8", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint32_t n = g->host_first[g->n_switches], *cn = arena_array(arena, n, 4),
		 n_cn = 0;
	char *text = arena_alloc(arena, 32 * n + 1), *at = text;
	struct ftree_options o = { 0 };
	struct route_out out;

	for (uint32_t i = 0; i < n; i++) {
		if (i % 4 < 2) {
			cn[n_cn++] = g->hosts[i];
			at += sprintf(at, "0x%016" PRIx64 "\n",
			              g->ports[g->hosts[i]].guid);
		}
	}
	o.cn = guids(text);
	out = route(g, &l, &o);
	ck_assert_str_eq(out.notes.text, "");
	ck_assert_uint_gt(n_cn, 2);
	ck_assert(mean_congestion(g, &l, &out.lft, cn, n_cn) == 1.0);
}
END_TEST

/* Some hosts of each leaf switch are I/O nodes, or all of some: links share all routes,
 * and shifts of the compute nodes pass freely. */
START_TEST(lists_keep_balance)
{
	struct graph *g = fabric_make("ft3 8", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint32_t n = g->host_first[g->n_switches], *cn = arena_array(arena, n, 4),
		 n_cn = 0;
	char *text = arena_alloc(arena, 32 * n + 1), *at = text;
	bool list_cn = _i % 2;
	struct ftree_options o = { 0 };
	struct route_out out;
	struct load load;

	for (uint32_t i = 0; i < n; i++) {
		bool io = _i < 6 ? i % 4 < (uint32_t)_i / 2 + 1 : i / 4 % 5 == 0;

		if (!io) {
			cn[n_cn++] = g->hosts[i];
		}
		if (io != list_cn) {
			at += sprintf(at, "0x%016" PRIx64 "\n",
			              g->ports[g->hosts[i]].guid);
		}
	}
	*(list_cn ? &o.cn : &o.io) = guids(text);
	out = route(g, &l, &o);
	ck_assert_str_eq(out.notes.text, "");
	ck_assert_int_eq(load_build(g, &l, &out.lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= 1.06 * load.mean, "%d: max %u mean %.1f", _i, load.max,
	              load.mean);
	ck_assert(_i >= 6 || mean_congestion(g, &l, &out.lft, cn, n_cn) == 1.0);
}
END_TEST

/* ---- order of compute nodes ---- */

START_TEST(order_of_compute_nodes)
{
	struct graph *g = fabric_make("ft2 3 2 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct ftree_options o = { 0 };
	struct route_in in = { .g = g, .lids = &l, .options = &o };
	char gone[32], line[64];
	const char *text, *at;
	struct why why = { "" };

	snprintf(gone, sizeof(gone), "0x%016" PRIx64 "\n", g->ports[g->hosts[3]].guid);
	o.io = guids(gone);
	ck_assert_int_eq(ftree_cn_order(&in, arena, &text, &why), E_OK);
	at = text;
	for (unsigned i = 0; i < 6; i++) {
		uint32_t p = g->hosts[i];

		snprintf(line, sizeof(line), "0x%04x\t%s\n", l.of[p].base,
		         g->nodes[g->ports[p].node].description);
		if (i == 3) {
			strcpy(line, "0xFFFF\tDUMMY\n");
		}
		ck_assert_msg(!strncmp(at, line, strlen(line)), "%s", text);
		at += strlen(line);
	}
	ck_assert_str_eq(at, "");
}
END_TEST

static const struct {
	const char *command;
	double fail, shift; /* bound on the mean worst congestion */
} orders[] = {
	{ "ft2 8 4 4", 0, 1 },   { "ft3 6", 0, 1 },       { "ft3 8", 0, 1 },
	{ "ft2 6 6 3 2", 0, 1 }, { "ft3 16", 0.01, 2.5 }, { "ft3 16", 0.05, 3.3 },
};

/* In the order of the dump shifts pass freely, whatever the GUIDs. */
START_TEST(shifts_in_order)
{
	struct graph *g =
		fabric_renamed(fabric_make(orders[_i].command, orders[_i].fail, 1, arena),
	                       7, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_in in = { .g = g, .lids = &l };
	struct route_out out = route(g, &l, NULL);
	uint32_t *cn = arena_array(arena, g->n_hosts, sizeof(*cn)), n = 0;
	const char *text;
	struct why why = { "" };
	double shift;

	ck_assert_int_eq(ftree_cn_order(&in, arena, &text, &why), E_OK);
	for (const char *p = text; *p; p = strchr(p, '\n') + 1) {
		cn[n++] = l.owner[strtoul(p, NULL, 16)];
	}
	ck_assert_uint_eq(n, g->n_hosts);
	shift = mean_congestion(g, &l, &out.lft, cn, n);
	ck_assert_msg(shift <= orders[_i].shift, "%s: %.3f", orders[_i].command, shift);
}
END_TEST

/* A host that goes away leaves the routes of all others as they are. */
START_TEST(missing_host_keeps_its_number)
{
	struct graph *g = fabric_make("ft3 6", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct ftree_options o = { 0 };
	struct route_out all = route(g, &l, NULL), less;
	uint32_t last = g->hosts[2]; /* the last of the first leaf switch */
	char gone[32];

	ck_assert_uint_eq(g->host_first[1], 3);
	snprintf(gone, sizeof(gone), "0x%016" PRIx64 "\n", g->ports[last].guid);
	o.io = guids(gone);
	less = route(g, &l, &o);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			if (lid != l.of[last].base) {
				ck_assert_uint_eq(lft_row(&all.lft, s)[lid],
				                  lft_row(&less.lft, s)[lid]);
			}
		}
	}
}
END_TEST

/* ---- reverse hops ---- */

/*
 * The manual's picture: S1 - A, S2 - A, S2 - B, S3 - B above, one I/O node on each S,
 * compute nodes on A and B. Returns hosts n1 n2 n3.
 */
static struct maker_by_hand picture(unsigned n[3], const struct guid_file **io)
{
	struct maker_by_hand m = { .g = graph_new(arena) };
	unsigned s[3], a, b;

	for (unsigned i = 0; i < 3; i++) {
		s[i] = add(&m, NODE_SWITCH);
	}
	a = add(&m, NODE_SWITCH);
	b = add(&m, NODE_SWITCH);
	join(&m, s[0], a);
	join(&m, s[1], a);
	join(&m, s[1], b);
	join(&m, s[2], b);
	for (unsigned i = 0; i < 3; i++) {
		n[i] = add_host(&m, s[i]);
		add_host(&m, a);
		add_host(&m, b);
	}
	freeze(&m);
	*io = guids(arena_printf(arena, "%s%s%s", guid_line(n[0], 1), guid_line(n[1], 1),
	                         guid_line(n[2], 1)));
	return m;
}

static uint32_t host_port(const struct graph *g, unsigned n)
{
	return graph_port_by_guid(g, 0x1000 + 0x10 * n + 1);
}

static bool reaches(const struct graph *g, const struct lids *l, const struct lft *lft,
                    uint32_t from, uint32_t to)
{
	uint32_t s = graph_switch_of(g, from), t = graph_switch_of(g, to);

	for (unsigned hops = 0; s != t; hops++) {
		uint8_t p = lft_row(lft, s)[l->of[to].base];

		if (p == LFT_NO_ROUTE) {
			return false;
		}
		ck_assert_uint_lt(hops, 16);
		s = g->nodes[g->ports[g->ports[graph_port(g, g->switches[s], p)].peer]
		                     .node]
		            .sw;
	}
	return true;
}

static const struct {
	uint32_t max;
	bool next, far; /* N1-N2 and N2-N3; N1-N3 */
} reverse[] = { { 0, true, false }, { 1, true, false }, { 2, true, true } };

/*
 * "All the CN have routes to and from them", at any max_reverse_hops. Between N1, N2 and
 * N3 there are routes, that is both ways, as this allows. Compute nodes on B reach N1 over S2, so
 * N2 does, too, even if it allows none: then N1 has the way back. The same with N3.
 */
START_TEST(reverse_hops)
{
	struct ftree_options o = { .max_reverse_hops = reverse[_i].max };
	unsigned n[3];
	struct maker_by_hand m = picture(n, &o.io);
	struct lids l = fabric_lids(m.g, 0, 0, arena);
	struct route_out out = route(m.g, &l, &o);
	const struct lft *lft = &out.lft;
	uint32_t n_pairs = m.g->host_first[m.g->n_switches], reached = 0;
	struct proof p;

	for (unsigned i = 0; i < 3; i++) {
		uint32_t a = host_port(m.g, n[i]), b = host_port(m.g, n[(i + 1) % 3]);
		bool want = i == 2 ? reverse[_i].far : reverse[_i].next;

		ck_assert_int_eq(reaches(m.g, &l, lft, a, b), want);
		ck_assert_int_eq(reaches(m.g, &l, lft, b, a), want);
	}
	for (uint32_t i = 0; i < n_pairs * n_pairs; i++) {
		uint32_t a = m.g->hosts[i / n_pairs], b = m.g->hosts[i % n_pairs];
		bool yes = reaches(m.g, &l, lft, a, b);

		reached += yes;
		ck_assert(yes == reaches(m.g, &l, lft, b, a));
		ck_assert(yes || (out.may_miss && out.may_miss[l.of[a].base] &&
		                  out.may_miss[l.of[b].base]));
	}
	ck_assert_int_eq(strstr(out.notes.text, "high availability only") != NULL,
	                 reverse[_i].max > 0);
	ck_assert(!out.may_deadlock && !out.beyond_rule);
	ck_assert_int_eq(out.may_miss != NULL, reverse[_i].max < 2);
	ck_assert_int_eq(proof_run_missing(m.g, &l, lft, NULL, out.may_miss, arena, &p),
	                 E_OK);
	ck_assert_uint_eq(p.missed_pairs, n_pairs * n_pairs - reached);
	ck_assert(proof_passed(&p, false));
}
END_TEST

/* The compute nodes are listed, and some of the three as I/O nodes, N2 alone among them. Whatever
 * max_reverse_hops is, a pair has routes both ways or none, and only the three lack some. */
START_TEST(reverse_hops_of_some)
{
	struct ftree_options o = { .max_reverse_hops = (uint32_t)_i / 8 };
	unsigned listed = (unsigned)_i % 8, n[3];
	struct maker_by_hand m = picture(n, &o.io);
	const char *text = "", *rest = "";
	uint32_t n_hosts = m.g->host_first[m.g->n_switches];
	struct lids l = fabric_lids(m.g, 0, 0, arena);
	bool *high = arena_array(arena, m.g->n_ports, sizeof(*high));
	struct route_out out;
	struct proof p;

	for (unsigned i = 0; i < 3; i++) {
		high[host_port(m.g, n[i])] = true;
		if (listed >> i & 1) {
			text = arena_printf(arena, "%s%s", text, guid_line(n[i], 1));
		}
		for (unsigned k = 1; k <= 2; k++) { /* on A and B */
			rest = arena_printf(arena, "%s%s", rest, guid_line(n[i] + k, 1));
		}
	}
	o.io = listed ? guids(text) : NULL;
	o.cn = guids(rest);
	out = route(m.g, &l, &o);
	for (uint32_t i = 0; i < n_hosts * n_hosts; i++) {
		uint32_t a = m.g->hosts[i / n_hosts], b = m.g->hosts[i % n_hosts];
		bool yes = reaches(m.g, &l, &out.lft, a, b);

		ck_assert(yes == reaches(m.g, &l, &out.lft, b, a));
		ck_assert(yes || (high[a] && high[b]));
	}
	ck_assert_int_eq(
		proof_run_missing(m.g, &l, &out.lft, NULL, out.may_miss, arena, &p),
		E_OK);
	ck_assert(proof_passed(&p, false));
}
END_TEST

/*
 * A hop is a reverse hop when it climbs after the first descent, not before: from the I/O
 * node on leaf C the route climbs to S1, descends to A and climbs once to the one on S2.
 */
START_TEST(climbs_before_the_descent)
{
	struct maker_by_hand m = { .g = graph_new(arena) };
	struct ftree_options o = { .max_reverse_hops = 1 };
	unsigned s1 = add(&m, NODE_SWITCH), s2 = add(&m, NODE_SWITCH);
	unsigned a = add(&m, NODE_SWITCH), c = add(&m, NODE_SWITCH), n[2];
	struct route_out out;
	struct lids l;

	join(&m, s1, a);
	join(&m, s2, a);
	join(&m, s1, c);
	n[0] = add_host(&m, c);
	n[1] = add_host(&m, s2);
	add_host(&m, a);
	freeze(&m);
	o.io = guids(arena_printf(arena, "%s%s", guid_line(n[0], 1), guid_line(n[1], 1)));
	l = fabric_lids(m.g, 0, 0, arena);
	out = route(m.g, &l, &o);
	ck_assert(reaches(m.g, &l, &out.lft, host_port(m.g, n[0]), host_port(m.g, n[1])));
	ck_assert(reaches(m.g, &l, &out.lft, host_port(m.g, n[1]), host_port(m.g, n[0])));
	o.max_reverse_hops = 0;
	out = route(m.g, &l, &o);
	ck_assert(!reaches(m.g, &l, &out.lft, host_port(m.g, n[0]), host_port(m.g, n[1])));
}
END_TEST

/* Through the whole job: the operator's choice is not overruled by a fallback. */
START_TEST(reverse_hops_in_a_job)
{
	struct engine_options eo;
	struct route_memory memory = { .tables = NULL };
	struct route_request r = { .credit_loops = CREDIT_REFUSE, .options = &eo };
	struct route_result result;
	const struct guid_file *io;
	unsigned n[3];
	struct maker_by_hand m = picture(n, &io);
	struct lids l = fabric_lids(m.g, 0, 0, arena);
	struct why why;

	ck_assert_int_eq(engine_options_init(&eo, arena), E_OK);
	ck_assert_int_eq(option_set_defaults(&eo.sets, arena), E_OK);
	for (unsigned i = 0; engines[i]; i++) {
		if (engines[i] == engine_find("ftree")) {
			struct ftree_options *o = eo.base[i];

			o->io = io;
			o->max_reverse_hops = reverse[_i].max;
		}
	}
	r.g = m.g;
	r.lids = &l;
	ck_assert_int_eq(route_list_parse("ftree,no_fallback", &r.list, &why), E_OK);
	memory.cache = route_cache_new();
	r.memory = &memory;
	for (unsigned again = 0; again < 2; again++) {
		const char *list;

		ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
		ck_assert_str_eq(result.used->name, "ftree");
		ck_assert_int_eq(result.cached, again);
		ck_assert_int_eq(result.proof.unreachable_pairs > 0, reverse[_i].max < 2);
		list = strstr(result.out.notes.text, "pairs of hosts have no route: 'n");
		ck_assert_int_eq(list != NULL, reverse[_i].max < 2);
		ck_assert(!list || !strstr(list + 1, "pairs of hosts have no route"));
	}
	route_cache_free(memory.cache);
}
END_TEST

/* Two fabrics that only CAs with two ports join are two parts. */
START_TEST(two_rails)
{
	struct maker_by_hand m = { .g = graph_new(arena) };
	unsigned spine[2], leaf[2][3];
	struct proof p;

	for (unsigned rail = 0; rail < 2; rail++) {
		spine[rail] = add(&m, NODE_SWITCH);
		for (unsigned i = 0; i < 3; i++) {
			leaf[rail][i] = add(&m, NODE_SWITCH);
			join(&m, leaf[rail][i], spine[rail]);
		}
	}
	for (unsigned i = 0; i < 9; i++) {
		uint64_t guid = 0x9000 + 0x10 * i;

		ck_assert_int_eq(
			graph_add_node(m.g, NODE_CA, guid, 2, "", NULL, &m.node[m.n]),
			E_OK);
		join(&m, leaf[0][i / 3], m.n);
		join(&m, leaf[1][i / 3], m.n++);
	}
	freeze(&m);
	struct lids l = fabric_lids(m.g, 0, 0, arena);
	struct route_out out = route(m.g, &l, NULL);

	ck_assert_str_eq(out.notes.text, "");
	ck_assert_int_eq(proof_run(m.g, &l, &out.lft, NULL, arena, &p), E_OK);
	ck_assert(proof_passed(&p, true));
	ck_assert_uint_eq(p.pairs, 2 * 9 * 8);
}
END_TEST

/* Roots are always joined, so connect_roots adds nothing. */
START_TEST(roots_are_connected)
{
	struct graph *g = fabric_make("ft3 4", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct ftree_options o = { .connect_roots = true };
	struct route_out out = route(g, &l, NULL), joined = route(g, &l, &o);
	struct proof p;

	ck_assert_int_eq(proof_run(g, &l, &out.lft, NULL, arena, &p), E_OK);
	ck_assert(proof_passed(&p, true));
	ck_assert_mem_eq(out.lft.rows, joined.lft.rows,
	                 out.lft.n_switches * out.lft.stride);
	ck_assert_str_eq(joined.notes.text, "");
}
END_TEST

/* ---- lists of compute nodes and I/O nodes ---- */

/* Kinds of hosts at random: all of one kind on some leaf switches, mixed on others. */
static bool *random_kinds(const struct graph *g, uint64_t seed, char **ret_listed)
{
	bool *other = arena_array(arena, g->n_ports, sizeof(*other));
	char *text = arena_alloc(arena, 32 * g->n_hosts + 1), *at = text;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t kind = random_below(&seed, 4); /* 0, 1: all of one kind */

		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
			uint32_t port = g->hosts[h];

			other[port] = kind < 2 ? kind : random_below(&seed, 2);
			if (other[port]) {
				at += sprintf(at, "0x%016" PRIx64 "\n",
				              g->ports[port].guid);
			}
		}
	}
	*ret_listed = text;
	return other;
}

static const char *const listed_fabrics[] = {
	"ft2 4 4 2",
	"ft2 6 4 3",
	"ft3 4",
	"ft3 6",
	"tree3 3 3 2 2 2",
	"ft2 6 4 3 --spine-hosts=2",
	"ft2 8 6 4 --spine-hosts=9",
	"ft3 4 --spine-hosts=3",
	"ft3 6 --spine-hosts=20",
};
enum { N_LISTED = sizeof(listed_fabrics) / sizeof(*listed_fabrics), LISTED_SEEDS = 12 };

/*
 * Whatever the lists, on a healthy tree a pair without a route has two non-compute nodes
 * for ends, and no route between their switches climbs, then descends.
 */
START_TEST(lists_cut_off_nobody)
{
	uint64_t seed = (uint64_t)(_i / N_LISTED) + 1;
	struct graph *g = fabric_make(listed_fabrics[_i % N_LISTED], 0, 1, arena);
	struct graph *plain = fabric_make(
		strtok(arena_strdup(arena, listed_fabrics[_i % N_LISTED]), "-"), 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint32_t n = g->host_first[g->n_switches];
	struct ftree_options o = { 0 };
	const uint32_t *height;
	struct route_out out;
	struct proof p;
	char *listed;
	bool *other = random_kinds(g, seed, &listed), list_cn = seed % 2;

	ck_assert_uint_eq(plain->n_switches, g->n_switches);
	height = plain_heights(plain);
	*(list_cn ? &o.cn : &o.io) = guids(listed);
	o.max_reverse_hops = (uint32_t)seed % 3;
	if (run(g, &l, &o, &out) != E_OK) {
		ck_assert_ptr_nonnull(strstr(out.notes.text, "no compute node"));
		return;
	}
	for (uint32_t k = 0; k < n; k++) {
		bool *up_down = plain_reach(g, height, graph_switch_of(g, g->hosts[k]));

		for (uint32_t i = 0; i < n; i++) {
			uint32_t a = g->hosts[i], b = g->hosts[k];

			ck_assert(reaches(g, &l, &out.lft, a, b) ==
			          reaches(g, &l, &out.lft, b, a)); /* never one way alone */
			if (other[a] == list_cn || other[b] == list_cn ||
			    up_down[graph_switch_of(g, a)]) {
				ck_assert(reaches(g, &l, &out.lft, a, b));
			}
		}
	}
	ck_assert_int_eq(
		proof_run_missing(g, &l, &out.lft, NULL, out.may_miss, arena, &p), E_OK);
	ck_assert(proof_reaches(&p) && p.forwarding_loops == 0);
	ck_assert(out.may_deadlock || p.credit_loops == 0);
	ck_assert(o.max_reverse_hops || !out.may_deadlock);
	ck_assert_uint_eq(p.management_unreachable, 0);
}
END_TEST

/* I/O nodes that fill whole leaf switches take part like all others. */
START_TEST(io_on_whole_leaves)
{
	struct graph *g = fabric_make(_i ? "ft3 8" : "ft2 4 4 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct ftree_options o = { 0 };
	char *text = arena_alloc(arena, 32 * g->n_hosts + 1), *at = text;
	struct route_out out, all = route(g, &l, NULL);
	struct proof p;

	for (uint32_t h = 0; h < g->host_first[2]; h++) {
		at += sprintf(at, "0x%016" PRIx64 "\n", g->ports[g->hosts[h]].guid);
	}
	o.io = guids(text);
	out = route(g, &l, &o);
	ck_assert_ptr_null(out.may_miss);
	ck_assert_int_eq(proof_run(g, &l, &out.lft, NULL, arena, &p), E_OK);
	ck_assert(proof_passed(&p, true));
	ck_assert_str_eq(out.notes.text, all.notes.text);
}
END_TEST

/* ---- hosts on spines ---- */

static const char *const spine_hosts[] = {
	"ft2 6 4 3 --spine-hosts=1 --aggregation-nodes",
	"ft2 8 6 4 --spine-hosts=4",
	"ft2 8 8 4 2 --spine-hosts=16",
	"ft3 4 --spine-hosts=1",
	"ft3 4 --spine-hosts=7 --aggregation-nodes",
	"ft3 8 --spine-hosts=40",
	"tree3 3 3 4 2 2 --spine-hosts=20 --aggregation-nodes",
	"director 8 6 2 4 3 --spine-hosts=4 --aggregation-nodes",
	"director 12 8 2 6 3 2 --spine-hosts=16",
};
enum { N_SPINE_HOSTS = sizeof(spine_hosts) / sizeof(*spine_hosts) };

/* Every pair has a route, without credit loops; also where cables are missing. */
START_TEST(hosts_on_spines)
{
	const char *command = spine_hosts[_i % N_SPINE_HOSTS];
	uint32_t seed = (uint32_t)(_i / N_SPINE_HOSTS);
	struct graph *g = fabric_make(command, seed ? 0.05 : 0, seed + 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_request r = { .g = g, .lids = &l, .strict = true };
	struct route_result result;
	struct why why;

	ck_assert_int_eq(route_list_parse("ftree,no_fallback", &r.list, &why), E_OK);
	ck_assert_msg(route_run(&r, arena, &result) == E_OK, "%s: %s %s", command,
	              result.fallback_reason.text, proof_text(&result.proof, g, arena));
	ck_assert_uint_eq(result.proof.unreachable_pairs, 0);
}
END_TEST

/* ---- root file, stray hosts, refusals ---- */

/* Hosts on a spine: with few of them it stays a spine. */
START_TEST(stray_host_on_a_spine)
{
	struct maker_by_hand m = { .g = graph_new(arena) };
	unsigned spine[2], leaf[3];
	struct proof p;

	for (unsigned i = 0; i < 2; i++) {
		spine[i] = add(&m, NODE_SWITCH);
	}
	for (unsigned i = 0; i < 3; i++) {
		leaf[i] = add(&m, NODE_SWITCH);
		join(&m, leaf[i], spine[0]);
		join(&m, leaf[i], spine[1]);
		for (unsigned k = 0; k < 4; k++) {
			add_host(&m, leaf[i]);
		}
	}
	add_host(&m, spine[0]);
	freeze(&m);
	struct lids l = fabric_lids(m.g, 0, 0, arena);
	struct route_out out = route(m.g, &l, NULL);

	ck_assert_ptr_nonnull(strstr(out.notes.text, "another rank"));
	ck_assert_int_eq(proof_run(m.g, &l, &out.lft, NULL, arena, &p), E_OK);
	ck_assert_uint_eq(p.unreachable_pairs + p.holes + p.credit_loops, 0);
}
END_TEST

/*
 * Pods whose leaf switches join each plane by two switches, so that the line has none
 * that joins a plane once. All is proven, and hosts in the middle come over many cables.
 */
START_TEST(planes_joined_twice)
{
	enum { PODS = 3, LEAVES = 3, PLANES = 2, CORES = 4, HOSTS = 4 };
	struct maker_by_hand m = { .g = graph_new(arena) };
	unsigned core[PLANES * CORES], leaf[LEAVES], mid = 0;
	struct load load;
	struct proof p;

	for (unsigned i = 0; i < PLANES * CORES; i++) {
		core[i] = add(&m, NODE_SWITCH);
	}
	for (unsigned pod = 0; pod < PODS; pod++) {
		for (unsigned i = 0; i < LEAVES; i++) {
			leaf[i] = add(&m, NODE_SWITCH);
			for (unsigned k = 0; k < HOSTS; k++) {
				add_host(&m, leaf[i]);
			}
		}
		for (unsigned i = 0; i < 2 * PLANES; i++) {
			mid = add(&m, NODE_SWITCH);
			for (unsigned k = 0; k < LEAVES; k++) {
				join(&m, leaf[k], mid);
			}
			for (unsigned k = 0; k < CORES; k++) {
				join(&m, core[i / 2 * CORES + k], mid);
			}
		}
	}
	for (unsigned k = 0; k < HOSTS; k++) {
		add_host(&m, mid);
	}
	freeze(&m);
	struct lids l = fabric_lids(m.g, 0, 0, arena);
	struct route_out out = route(m.g, &l, NULL);

	ck_assert(out.beyond_rule && strstr(out.notes.text, "joined twice"));
	ck_assert_int_eq(proof_run(m.g, &l, &out.lft, NULL, arena, &p), E_OK);
	ck_assert_msg(proof_passed(&p, true), "%s", proof_text(&p, m.g, arena));
	ck_assert_int_eq(load_build(m.g, &l, &out.lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= 2 * load.mean, "max %u mean %.1f", load.max, load.mean);
}
END_TEST

/* Leaves that hang at two depths: the roots decide; a host's GUID stands for its switch.
 */
START_TEST(root_file)
{
	struct maker_by_hand m = { .g = graph_new(arena) };
	unsigned root[2], mid[2], low[2], deep, host;
	struct ftree_options o = { 0 };
	struct proof p;

	for (unsigned i = 0; i < 2; i++) {
		root[i] = add(&m, NODE_SWITCH);
		mid[i] = add(&m, NODE_SWITCH);
		low[i] = add(&m, NODE_SWITCH);
		add_host(&m, low[i]);
		add_host(&m, low[i]);
		join(&m, low[i], mid[i]);
	}
	deep = add(&m, NODE_SWITCH);
	host = add_host(&m, deep);
	join(&m, deep, root[0]);
	join(&m, deep, root[1]);
	for (unsigned i = 0; i < 4; i++) {
		join(&m, root[i % 2], mid[i / 2]);
	}
	(void)host;
	host = add_host(&m, root[1]);
	freeze(&m);
	o.roots = guids(arena_printf(arena, "%s%s0x99\n", guid_line(root[0], 0),
	                             guid_line(host, 1)));
	struct lids l = fabric_lids(m.g, 0, 0, arena);
	struct route_out out = route(m.g, &l, &o);

	ck_assert_ptr_nonnull(strstr(out.notes.text, "list:3: 0x0000000000000099"));
	ck_assert_ptr_nonnull(strstr(out.notes.text, "another rank"));
	ck_assert_int_eq(proof_run(m.g, &l, &out.lft, NULL, arena, &p), E_OK);
	ck_assert_uint_eq(p.unreachable_pairs + p.holes + p.credit_loops, 0);
}
END_TEST

static const struct {
	const char *command, *reason;
} refused[] = {
	{ "torus 4x4 2", "not a tree" },     { "torus 5 1", "not a tree" },
	{ "mesh 3x3 1", "not a tree" },      { "hypercube 3 2", "not a tree" },
	{ "jellyfish 8 3 2", "not a tree" }, { "ft2 1 4 0", "" },
};

START_TEST(what_is_no_tree_is_refused)
{
	struct graph *g;
	struct lids l;
	struct route_out out;

	if (!refused[_i].reason[0]) {
		struct maker_by_hand m = { .g = graph_new(arena) };

		add_host(&m, add(&m, NODE_SWITCH)); /* one switch */
		freeze(&m);
		g = m.g;
	} else {
		g = fabric_make(refused[_i].command, 0, 1, arena);
	}
	l = fabric_lids(g, 0, 0, arena);
	ck_assert_int_eq(run(g, &l, NULL, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "not a tree"));
}
END_TEST

START_TEST(no_compute_node_is_refused)
{
	struct graph *g = fabric_make("ft2 2 1 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct ftree_options o = { .cn = guids("0x99\n") };
	struct route_out out;

	ck_assert_int_eq(run(g, &l, &o, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "no compute node"));
	ck_assert_ptr_nonnull(strstr(out.notes.text, "list:1"));
}
END_TEST

START_TEST(lmc_falls_back)
{
	struct graph *g = fabric_make("ft2 3 2 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct route_request r = { .g = g, .lids = &l };
	struct route_result result;
	struct why why;

	ck_assert_int_eq(route_list_parse("ftree", &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.used->name, "minhop");
	ck_assert_ptr_nonnull(
		strstr(result.fallback_reason.text, "ftree: works with LMC 0"));
	ck_assert_int_eq(route_list_parse("ftree no_fallback", &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), E_UNSUITABLE);
}
END_TEST

#define ADD_LOOP(t, f, table)                                                            \
	tcase_add_loop_test(t, f, 0, sizeof(table) / sizeof(*(table)))

TEST_SUITE(ftree)
{
	TCase *t = tcase_create("ftree");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, every_tree, 0, N_FABRICS * N_FAILS * test_seeds(SEEDS));
	ADD_LOOP(t, links_are_shared, quality);
	tcase_add_test(t, one_link_gone);
	tcase_add_test(t, compute_nodes_are_balanced_by_themselves);
	tcase_add_loop_test(t, lists_keep_balance, 0, 8);
	tcase_add_test(t, order_of_compute_nodes);
	ADD_LOOP(t, shifts_in_order, orders);
	tcase_add_test(t, missing_host_keeps_its_number);
	ADD_LOOP(t, reverse_hops, reverse);
	tcase_add_loop_test(t, reverse_hops_of_some, 0, 24);
	tcase_add_test(t, climbs_before_the_descent);
	ADD_LOOP(t, reverse_hops_in_a_job, reverse);
	tcase_add_test(t, two_rails);
	tcase_add_test(t, roots_are_connected);
	tcase_add_loop_test(t, lists_cut_off_nobody, 0, N_LISTED * test_seeds(LISTED_SEEDS));
	tcase_add_loop_test(t, io_on_whole_leaves, 0, 2);
	tcase_add_loop_test(t, hosts_on_spines, 0, N_SPINE_HOSTS * test_seeds(SEEDS));
	tcase_add_test(t, stray_host_on_a_spine);
	tcase_add_test(t, planes_joined_twice);
	tcase_add_test(t, root_file);
	ADD_LOOP(t, what_is_no_tree_is_refused, refused);
	tcase_add_test(t, no_compute_node_is_refused);
	tcase_add_test(t, lmc_falls_back);
	suite_add_tcase(suite, t);
}
