/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
#include "routing/spread/leaves.h"
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

static struct lft route(const struct graph *g, const struct lids *l,
                        const struct lft *prev)
{
	struct route_in in = { .g = g, .lids = l, .prev = prev };
	struct route_out *out = arena_alloc(arena, sizeof(*out));

	ck_assert_int_eq(engine_find("minhop")->route(&in, arena, out), E_OK);
	ck_assert_uint_eq(out->lft.n_lids, l->top + 1);
	ck_assert_ptr_null(out->lanes.rows);
	return out->lft;
}

/* Hops by a plain breadth-first search from one switch, UINT32_MAX: not connected. */
static uint32_t *plain_hops(const struct graph *g, uint32_t from)
{
	uint32_t *hops = arena_array(arena, g->n_switches, sizeof(*hops));
	uint32_t *queue = arena_array(arena, g->n_switches, sizeof(*queue)), head = 0,
		 tail = 0;

	memset(hops, 0xff, g->n_switches * sizeof(*hops));
	hops[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t s = queue[head++];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (hops[g->adj[i].to] == UINT32_MAX) {
				hops[g->adj[i].to] = hops[s] + 1;
				queue[tail++] = g->adj[i].to;
			}
		}
	}
	return hops;
}

/* Every entry is what minhop allows, and the rest is empty. */
static void check_minimal(const struct graph *g, const struct lids *l,
                          const struct lft *lft)
{
	for (uint32_t lid = 0; lid < lft->stride; lid++) {
		uint32_t owner = lid <= l->top ? l->owner[lid] : GRAPH_NONE;
		uint32_t home =
			owner == GRAPH_NONE ? GRAPH_NONE : graph_switch_of(g, owner);
		uint32_t *hops = home == GRAPH_NONE ? NULL : plain_hops(g, home);

		for (uint32_t s = 0; s < g->n_switches; s++) {
			uint8_t p = lft_row(lft, s)[lid];

			if (!hops || hops[s] == UINT32_MAX) {
				ck_assert_uint_eq(p, LFT_NO_ROUTE);
			} else if (s == home) {
				uint32_t here = graph_port(g, g->switches[s], p);

				ck_assert_uint_eq(p ? g->ports[here].peer : here, owner);
			} else {
				uint32_t here = graph_port(g, g->switches[s], p);
				uint32_t to =
					g->nodes[g->ports[g->ports[here].peer].node].sw;

				ck_assert_uint_eq(hops[to] + 1, hops[s]);
			}
		}
	}
}

static void set_threads(int n)
{
#ifdef _OPENMP
	omp_set_num_threads(n);
#else
	(void)n;
#endif
}

static const char *const fabrics[] = {
	"ft2 6 4 3",  "ft2 3 5 2 2",  "ft3 4",         "ft3 6",
	"ft3 8",      "torus 4x4 2",  "torus 3x3x3 1", "torus 5x4 3",
	"mesh 4x4 2", "mesh 2x3x4 1", "mesh 12 1",
};
static const double fails[] = { 0, 0.01, 0.05, 0.2 };

enum {
	N_FABRICS = sizeof(fabrics) / sizeof(*fabrics),
	N_FAILS = sizeof(fails) / sizeof(*fails),
	SEEDS = 3
};

/* Complete, minimal, the same on any number of threads and for any order of input. */
START_TEST(every_fabric)
{
	const char *command = fabrics[_i % N_FABRICS];
	double fail = fails[_i / N_FABRICS % N_FAILS];
	uint32_t seed = (uint32_t)(_i / (N_FABRICS * N_FAILS)) + 1;
	struct graph *g = fabric_make(command, fail, seed, arena);
	struct graph *other = fabric_reordered(g, seed + 17, arena);
	struct lids l = fabric_lids(g, seed % 3, 0, arena);
	struct lids lo = fabric_lids(other, seed % 3, 0, arena);
	struct lft one, two, shuffled;
	struct proof p;

	set_threads(1);
	one = route(g, &l, NULL);
	set_threads(2);
	two = route(g, &l, NULL);
	shuffled = route(other, &lo, NULL);
	check_minimal(g, &l, &one);
	ck_assert_mem_eq(one.rows, two.rows, one.n_switches * one.stride);
	ck_assert_uint_eq(shuffled.stride, one.stride);
	ck_assert_mem_eq(one.rows, shuffled.rows, one.n_switches * one.stride);

	ck_assert_int_eq(proof_run(g, &l, &one, NULL, arena, &p), E_OK);
	ck_assert_uint_eq(p.unreachable_pairs + p.holes + p.forwarding_loops, 0);
	ck_assert_uint_eq(p.management_unreachable, 0);
	ck_assert(p.pairs > 0);
}
END_TEST

/* Healthy fabrics: busiest link against the mean, and whether shifts pass freely. */
static const struct {
	const char *command;
	double ratio; /* of max to mean routes per link, with each LMC from 0 to 2 */
	bool shifts;  /* hosts are as many as uplinks on every level */
} balanced[] = {
	{ "ft2 6 4 4", 1.0, true },      { "ft2 18 9 9", 1.0, true },
	{ "ft2 6 8 4", 1.0, false },     { "ft3 4", 1.2, true },
	{ "ft3 8", 1.06, true },         { "ft3 12", 1.04, true },
	{ "torus 4x4x4 2", 1.5, false }, { "torus 5x5 4", 1.2, false },
	{ "torus 6x6x6 1", 1.5, false }, { "torus 8x8x8 4", 1.35, false },
};

/* Largest number of flows on one link when host i sends to host i + shift. */
static uint32_t shift_congestion(const struct graph *g, const struct lids *l,
                                 const struct lft *lft, uint32_t shift)
{
	uint32_t n = g->host_first[g->n_switches], most = 0;
	uint32_t *flows = arena_array(arena, g->n_ports, sizeof(*flows));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = g->hosts[(i + shift) % n],
			 s = graph_switch_of(g, g->hosts[i]);

		while (s != graph_switch_of(g, to)) {
			uint32_t out = graph_port(g, g->switches[s],
			                          lft_row(lft, s)[l->of[to].base]);

			flows[out]++;
			most = flows[out] > most ? flows[out] : most;
			s = g->nodes[g->ports[g->ports[out].peer].node].sw;
		}
	}
	return most;
}

START_TEST(balance)
{
	struct graph *g = fabric_make(balanced[_i].command, 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = route(g, &l, NULL);
	struct load load;

	for (uint32_t lmc = 0; lmc <= 2; lmc++) {
		struct lids more = fabric_lids(g, lmc, 0, arena);
		struct lft wide = route(g, &more, NULL);

		ck_assert_int_eq(load_build(g, &more, &wide, arena, &load), E_OK);
		ck_assert_msg(load.max <= balanced[_i].ratio * load.mean + 1e-6,
		              "%s: LMC %u max %u mean %.2f", balanced[_i].command, lmc,
		              load.max, load.mean);
	}
	for (uint32_t shift = 1; balanced[_i].shifts && shift < g->n_hosts; shift++) {
		ck_assert_msg(shift_congestion(g, &l, &lft, shift) <= 1, "%s: shift %u",
		              balanced[_i].command, shift);
	}
}
END_TEST

/* Does the way of the tables from a switch climb again after it has descended, or end? */
static bool turns(const struct graph *g, const uint16_t *height, const struct lft *lft,
                  uint32_t s, uint32_t home, uint32_t lid)
{
	bool descended = false;

	for (uint32_t steps = 0; s != home && steps < g->n_switches; steps++) {
		uint32_t port = graph_port(g, g->switches[s], lft_row(lft, s)[lid]);
		uint32_t peer = port == GRAPH_NONE ? GRAPH_NONE : g->ports[port].peer;
		uint32_t to = peer == GRAPH_NONE ? GRAPH_NONE
		                                 : g->nodes[g->ports[peer].node].sw;

		if (to == GRAPH_NONE || (descended && height[to] > height[s])) {
			return true;
		}
		descended |= height[to] < height[s];
		s = to;
	}
	return s != home;
}

/* Previous tables: nothing moves without need, and what must move is right. A route between
 * hosts that would turn upwards has a need; what a spine does with the LID of a host when
 * no host's route passes it there is nobody's loss. */
START_TEST(prev_is_kept)
{
	const char *command = fabrics[_i % N_FABRICS];
	struct graph *g = fabric_make(command, 0, 1, arena);
	struct graph *broken = fabric_make(command, 0.05, 3, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct lft first = route(g, &l, NULL), again, without, back;
	uint32_t kept = 0, moved = 0;
	uint16_t *height;

	ck_assert_int_eq(leaves_heights(broken, arena, &height), E_OK);
	again = route(g, &l, &first);
	ck_assert_mem_eq(first.rows, again.rows, first.n_switches * first.stride);

	without = route(broken, &l, &first);
	check_minimal(broken, &l, &without);
	for (uint32_t lid = 1; lid <= l.top; lid++) {
		uint32_t home = l.owner[lid] == GRAPH_NONE
		                        ? GRAPH_NONE
		                        : graph_switch_of(g, l.owner[lid]);
		uint32_t *hops = home == GRAPH_NONE ? NULL : plain_hops(broken, home);

		for (uint32_t s = 0; hops && s < g->n_switches; s++) {
			uint8_t old = lft_row(&first, s)[lid],
				new = lft_row(&without, s)[lid];
			uint32_t here = graph_port(broken, broken->switches[s], old),
				 peer;

			if (s == home || hops[s] == UINT32_MAX) {
				continue;
			}
			peer = broken->ports[here].peer;
			bool free = graph_is_host(g, l.owner[lid]) &&
			            (g->host_first[s] == g->host_first[s + 1] ||
			             turns(broken, height, &first, s, home, lid));

			if (peer != GRAPH_NONE &&
			    hops[broken->nodes[broken->ports[peer].node].sw] + 1 ==
			            hops[s]) {
				ck_assert(old == new || free);
				kept++;
			} else {
				moved++;
			}
		}
	}
	ck_assert_uint_gt(kept, moved);
	/* tables of another shape are no previous tables */
	struct lft small = first;
	small.n_lids = 2;
	back = route(g, &l, &small);
	ck_assert_mem_eq(first.rows, back.rows, first.n_switches * first.stride);
}
END_TEST

/* The LIDs of a port leave a leaf through as many systems as there are. */
START_TEST(lmc_spreads_over_systems)
{
	struct graph *g = fabric_make("ft2 4 2 4 2", 0, 1, arena);
	struct lids l;
	struct lft lft;

	/* spines 0,1 and 2,3 share a chassis each; all leaves are one system each */
	for (uint32_t s = 0, spine = 0; s < g->n_switches; s++) {
		struct node *n = &g->nodes[g->switches[s]];

		n->system_image_guid = n->guid;
		if (g->host_first[s] == g->host_first[s + 1]) {
			n->system_image_guid = 0x900 + spine++ / 2;
		}
	}
	l = fabric_lids(g, 2, 0, arena);
	lft = route(g, &l, NULL);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
			uint64_t systems[4], nodes[4];

			if (g->host_first[s] == g->host_first[s + 1] ||
			    graph_switch_of(g, g->hosts[h]) == s) {
				continue;
			}
			for (unsigned k = 0; k < 4; k++) {
				uint8_t p = lft_row(&lft, s)[l.of[g->hosts[h]].base + k];
				uint32_t peer =
					g->ports[graph_port(g, g->switches[s], p)].peer;
				const struct node *to = &g->nodes[g->ports[peer].node];

				systems[k] = to->system_image_guid;
				nodes[k] = to->guid;
			}
			ck_assert_uint_ne(systems[0],
			                  systems[1]);     /* a system not used yet */
			for (unsigned a = 0; a < 4; a++) { /* then a node not used yet */
				for (unsigned b = 0; b < a; b++) {
					ck_assert_uint_ne(nodes[a], nodes[b]);
				}
			}
		}
	}
}
END_TEST

START_TEST(enhanced_port_0_with_lmc)
{
	struct graph *g = fabric_make("ft3 4", 0, 1, arena);
	struct lids l;
	struct lft lft;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		g->nodes[g->switches[s]].esp0 = true;
	}
	l = fabric_lids(g, 0, 2, arena);
	lft = route(g, &l, NULL);
	check_minimal(g, &l, &lft);
}
END_TEST

START_TEST(no_switch_and_parts)
{
	struct graph *g = graph_new(arena);
	struct diags *d = arena_alloc(arena, sizeof(*d));
	uint32_t a, b, s1, s2, c;
	struct lids l;
	struct lft lft;

	diags_init(d, arena);
	ck_assert_int_eq(graph_add_node(g, NODE_CA, 1, 1, "a", NULL, &a), E_OK);
	ck_assert_int_eq(graph_add_node(g, NODE_CA, 100, 1, "b", NULL, &b), E_OK);
	ck_assert_int_eq(graph_connect(g, graph_port(g, a, 1), graph_port(g, b, 1)),
	                 E_OK);
	ck_assert_int_eq(graph_freeze(g, d), E_OK);
	l = fabric_lids(g, 0, 0, arena);
	lft = route(g, &l, NULL);
	ck_assert_uint_eq(lft.n_switches, 0);

	/* two switches that only a CA with two ports joins: it forwards nothing */
	g = graph_new(arena);
	ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 10, 4, "s1", NULL, &s1), E_OK);
	ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 20, 4, "s2", NULL, &s2), E_OK);
	ck_assert_int_eq(graph_add_node(g, NODE_CA, 30, 2, "c", NULL, &c), E_OK);
	ck_assert_int_eq(graph_connect(g, graph_port(g, s1, 1), graph_port(g, c, 1)),
	                 E_OK);
	ck_assert_int_eq(graph_connect(g, graph_port(g, s2, 4), graph_port(g, c, 2)),
	                 E_OK);
	ck_assert_int_eq(graph_freeze(g, d), E_OK);
	l = fabric_lids(g, 0, 0, arena);
	lft = route(g, &l, NULL);
	check_minimal(g, &l, &lft);
}
END_TEST

/* ---- options ---- */

/* Options of the engine: pairs of key and value, NULL at the end. A value that begins
 * with a new line is the text of a file. */
static void *options_new(const char *const *pairs)
{
	struct option_sets s = { .n = 0 };
	const struct engine *e = engine_find("minhop");
	void *base = arena_alloc(arena, e->opt_size);
	struct diags *d = arena_alloc(arena, sizeof(*d));

	diags_init(d, arena);
	ck_assert_int_eq(option_sets_add(&s, e->options, base), E_OK);
	ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	for (; pairs[0]; pairs += 2) {
		char path[] = "/tmp/saguaro-minhop-XXXXXX";
		const char *value = pairs[1];
		int fd = -1;

		if (value[0] == '\n') {
			fd = mkstemp(path);
			ck_assert_int_ge(fd, 0);
			ck_assert_int_eq(write(fd, value, strlen(value)),
			                 (ssize_t)strlen(value));
			value = path;
		}
		ck_assert_msg(option_set(&s, arena, pairs[0], value, NULL, 0, d) == E_OK,
		              "%s", diags_first_error(d));
		if (fd >= 0) {
			close(fd);
			unlink(path);
		}
	}
	return base;
}

static struct route_out *route_with(const struct graph *g, const struct lids *l,
                                    const char *const *pairs)
{
	struct route_in in = { .g = g, .lids = l, .options = options_new(pairs) };
	struct route_out *out = arena_alloc(arena, sizeof(*out));
	struct proof p;

	ck_assert_int_eq(engine_find("minhop")->route(&in, arena, out), E_OK);
	ck_assert_int_eq(proof_run(g, l, &out->lft, NULL, arena, &p), E_OK);
	ck_assert_uint_eq(p.unreachable_pairs + p.holes + p.forwarding_loops, 0);
	return out;
}

#define OPTIONS(...)                                                                     \
	(const char *const[])                                                            \
	{                                                                                \
		__VA_ARGS__, NULL                                                        \
	}

static bool same_tables(const struct lft *a, const struct lft *b)
{
	return memcmp(a->rows, b->rows, a->n_switches * a->stride) == 0;
}

static bool is_leaf(const struct graph *g, uint32_t s)
{
	return g->host_first[s] != g->host_first[s + 1];
}

static const char *switch_line(const char *before, const struct graph *g, uint32_t s,
                               const char *rest)
{
	return arena_printf(arena, "%s\n0x%016" PRIx64 " %s", before,
	                    g->nodes[g->switches[s]].guid, rest);
}

START_TEST(defaults_are_none)
{
	struct graph *g = fabric_make("ft3 4", 0.05, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct lft plain = route(g, &l, NULL);

	ck_assert(same_tables(&plain,
	                      &route_with(g, &l, OPTIONS("scatter_ports", "0"))->lft));
}
END_TEST

/* An uplink whose routes do not count takes nearly all. */
START_TEST(ignored_port)
{
	struct graph *g = fabric_make("ft2 4 3 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint32_t leaf = graph_switch_of(g, g->hosts[0]);
	uint8_t port = g->adj[g->adj_first[leaf] + 1].port;
	const char *list = switch_line("", g, leaf, arena_printf(arena, "%u", port));
	uint32_t elsewhere = 0;
	struct route_out *out;

	list = arena_printf(arena, "%s\n0x%016" PRIx64 "\n0xdead 1\n", list,
	                    g->ports[g->hosts[0]].guid);
	out = route_with(g, &l, OPTIONS("port_prof_ignore_file", list));
	for (uint32_t h = 0; h < g->n_hosts; h++) {
		elsewhere += graph_switch_of(g, g->hosts[h]) != leaf &&
		             lft_row(&out->lft, leaf)[l.of[g->hosts[h]].base] != port;
	}
	ck_assert_uint_le(elsewhere, 2); /* while the other uplinks are empty, too */
	ck_assert_ptr_nonnull(strstr(out->notes.text, "0x000000000000dead"));
	ck_assert_ptr_null(strstr(out->notes.text, "2 more"));
}
END_TEST

/* Hosts whose ports are listed by GUID: all others are routed as if those had no LIDs. */
START_TEST(ignored_hosts)
{
	static const char *const few[] = { "ft2 6 4 3", "ft3 4", "torus 4x4 2",
		                           "jellyfish 12 4 3" };
	uint64_t seed = (uint64_t)_i * UINT64_C(0x9e3779b97f4a7c15) + 1;
	struct graph *g = fabric_make(few[_i % 4], 0.1, (uint64_t)_i + 1, arena);
	unsigned lmc = (unsigned)_i / 4 % 2;
	struct lids l = fabric_lids(g, lmc, 0, arena), fewer = l;
	const char *list = "\n# left out\n";
	struct lft plain = route(g, &l, NULL), others;
	const struct lft *lft;
	bool differs = false;

	fewer.of = arena_array(arena, g->n_ports, sizeof(*fewer.of));
	memcpy(fewer.of, l.of, g->n_ports * sizeof(*fewer.of));
	for (uint32_t h = 0; h < g->n_hosts; h++) {
		const struct port *p = &g->ports[g->hosts[h]];
		bool by_node = (seed >> 40 & 1) != 0;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
		if (seed >> 62 == 0) {
			list = arena_printf(arena, "%s0x%016" PRIx64 "\n", list,
			                    by_node ? g->nodes[p->node].guid : p->guid);
			fewer.of[g->hosts[h]].base = 0;
		}
	}
	others = route(g, &fewer, NULL);
	lft = &route_with(g, &l, OPTIONS("port_prof_ignore_file", list))->lft;
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			uint32_t owner = l.owner[lid];
			uint8_t is = lft_row(lft, s)[lid];

			if (owner != GRAPH_NONE && fewer.of[owner].base) {
				ck_assert_uint_eq(is, lft_row(&others, s)[lid]);
				differs |= is != lft_row(&plain, s)[lid];
			} else if (owner != GRAPH_NONE) {
				ck_assert(is != LFT_NO_ROUTE ||
				          lft_row(&plain, s)[lid] == is);
			}
		}
	}
	ck_assert(differs || _i % 4 != 3); /* an irregular fabric shows it */
}
END_TEST

/* The GUID of a switch stands for its ports. */
START_TEST(ignored_switch)
{
	struct graph *g = fabric_make("jellyfish 12 5 3", 0.1, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const char *ports = "";
	struct lft one, all;

	for (unsigned num = 1; num <= g->nodes[g->switches[0]].n_ports; num++) {
		ports = switch_line(ports, g, 0, arena_printf(arena, "%u", num));
	}
	all = route_with(g, &l, OPTIONS("port_prof_ignore_file", ports))->lft;
	one = route_with(g, &l,
	                 OPTIONS("port_prof_ignore_file", switch_line("", g, 0, "")))
	              ->lft;
	ck_assert(same_tables(&all, &one));
	one = route(g, &l, NULL);
	ck_assert(!same_tables(&all, &one));
}
END_TEST

/* Ports looked at backwards: the first host of a leaf goes through the last uplink. */
START_TEST(search_order)
{
	struct graph *g = fabric_make("ft2 4 3 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const char *list = "";
	const struct lft *plain, *back;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		list = switch_line(list, g, s, is_leaf(g, s) ? "6 5 4" : "4 3 2 1");
	}
	plain = &route_with(g, &l, OPTIONS("port_shifting", "FALSE"))->lft;
	back = &route_with(g, &l,
	                   OPTIONS(_i ? "dimn_ports_file" : "port_search_ordering_file",
	                           list))
	                ->lft;
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t h = 0; is_leaf(g, s) && h < g->n_hosts; h++) {
			uint32_t lid = l.of[g->hosts[h]].base;

			if (graph_switch_of(g, g->hosts[h]) != s) {
				ck_assert_uint_eq(lft_row(plain, s)[lid], 4 + h % 3);
				ck_assert_uint_eq(lft_row(back, s)[lid], 6 - h % 3);
			}
		}
	}
}
END_TEST

/* Most hosts of a list that one leaf sends through one uplink. */
static uint32_t most_listed(const struct graph *g, const struct lids *l,
                            const struct lft *lft, unsigned step)
{
	uint32_t most = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t n[256] = { 0 };

		for (uint32_t h = 0; is_leaf(g, s) && h < g->n_hosts; h += step) {
			uint8_t p = lft_row(lft, s)[l->of[g->hosts[h]].base];

			if (graph_switch_of(g, g->hosts[h]) != s) {
				most = ++n[p] > most ? n[p] : most;
			}
		}
	}
	return most;
}

/* The first host of each leaf: all through one uplink, unless they are listed. */
START_TEST(routing_order)
{
	struct graph *g = fabric_make("ft2 7 3 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const char *list = "";
	struct lft plain = route(g, &l, NULL);
	struct route_out *out;

	for (uint32_t h = 0; h < g->n_hosts; h += 3) {
		list = arena_printf(arena, "%s\n0x%016" PRIx64, list,
		                    g->ports[g->hosts[h]].guid);
	}
	list = arena_printf(arena, "%s\n0xbeef\n", list);
	out = route_with(g, &l, OPTIONS("guid_routing_order_file", list));
	ck_assert_uint_eq(most_listed(g, &l, &plain, 3), 6);
	ck_assert_uint_le(most_listed(g, &l, &out->lft, 3), 3);
	ck_assert_uint_le(most_listed(g, &l, &out->lft, 1), 7);
	ck_assert_ptr_nonnull(strstr(out->notes.text, "0x000000000000beef"));
}
END_TEST

START_TEST(scatter)
{
	struct graph *g = fabric_make("ft2 8 6 6", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft plain = route(g, &l, NULL);
	const char *list = "";
	const struct lft *one, *again, *two, *none;

	for (uint32_t h = 0; h < g->n_hosts; h++) {
		list = arena_printf(arena, "%s\n0x%016" PRIx64, list,
		                    g->ports[g->hosts[h]].guid);
	}
	one = &route_with(g, &l, OPTIONS("scatter_ports", "7"))->lft;
	again = &route_with(g, &l, OPTIONS("scatter_ports", "7"))->lft;
	two = &route_with(g, &l, OPTIONS("scatter_ports", "8"))->lft;
	ck_assert(same_tables(one, again));
	ck_assert(!same_tables(one, two));
	ck_assert(!same_tables(one, &plain));
	/* each uplink of a leaf still has its 7 of the 42 hosts elsewhere */
	ck_assert_uint_eq(most_listed(g, &l, one, 1), 7);

	none = &route_with(g, &l, OPTIONS("guid_routing_order_file", list))->lft;
	one = &route_with(g, &l,
	                  OPTIONS("guid_routing_order_file", list, "scatter_ports", "7"))
	               ->lft;
	two = &route_with(g, &l,
	                  OPTIONS("guid_routing_order_file", list, "scatter_ports", "7",
	                          "guid_routing_order_no_scatter", "TRUE"))
	               ->lft;
	ck_assert(!same_tables(none, one));
	ck_assert(same_tables(none, two));
}
END_TEST

/* The second leaf's hosts begin one uplink further on than the first one's. */
START_TEST(shifting)
{
	struct graph *g = fabric_make("ft2 7 3 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct lft *lft = &route_with(g, &l, OPTIONS("port_shifting", "TRUE"))->lft;

	ck_assert_uint_eq(most_listed(g, &l, lft, 1), 6);
	ck_assert_uint_lt(most_listed(g, &l, lft, 3), 6);
}
END_TEST

/* Routes of a leaf to other switches: over all uplinks, or over the lowest neighbour. */
START_TEST(switch_nodes)
{
	struct graph *g = fabric_make("ft2 7 3 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, _i, arena);
	struct lft plain = route(g, &l, NULL);
	const struct lft *lft =
		&route_with(g, &l, OPTIONS("port_profile_switch_nodes", "TRUE"))->lft;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t n[256] = { 0 }, m[256] = { 0 };

		for (uint32_t t = 0; is_leaf(g, s) && t < g->n_switches; t++) {
			if (t != s && is_leaf(g, t)) {
				uint32_t p = graph_port(g, g->switches[t], 0);

				n[lft_row(lft, s)[l.of[p].base]]++;
				m[lft_row(&plain, s)[l.of[p].base]]++;
			}
		}
		for (unsigned p = 4; is_leaf(g, s) && p <= 6; p++) {
			ck_assert_uint_eq(n[p], 2);
			ck_assert(m[p] == 0 || m[p] == 6);
		}
	}
}
END_TEST

/* A dear port is left alone, in its direction only. */
START_TEST(weights)
{
	struct graph *g = fabric_make("ft2 3 2 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint32_t leaf = graph_switch_of(g, g->hosts[0]);
	const char *list = switch_line("", g, leaf, _i ? "3 2" : "3 70000");
	struct route_out *out;

	list = switch_line(list, g, leaf, "99 1\n");
	out = route_with(g, &l, OPTIONS("hop_weights_file", list));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		bool used[256] = { false };

		for (uint32_t h = 0; is_leaf(g, s) && h < g->n_hosts; h++) {
			if (graph_switch_of(g, g->hosts[h]) != s) {
				used[lft_row(&out->lft, s)[l.of[g->hosts[h]].base]] =
					true;
			}
		}
		ck_assert(!is_leaf(g, s) || used[4]);
		ck_assert(!is_leaf(g, s) || used[3] == (s != leaf));
	}
	ck_assert_ptr_nonnull(strstr(out->notes.text, ":3:"));
}
END_TEST

/* Sums far above a byte, and the same weight everywhere as good as none. */
START_TEST(heavy_weights)
{
	static const char *const commands[] = { "mesh 40 1", "ft3 6", "torus 4x4 2" };
	struct graph *g = fabric_make(commands[_i], 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft plain = route(g, &l, NULL);
	const char *list = "";

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			list = switch_line(list, g, s,
			                   arena_printf(arena, "%u 255", g->adj[i].port));
		}
	}
	ck_assert(same_tables(
		&plain, &route_with(g, &l, OPTIONS("hop_weights_file", list))->lft));
}
END_TEST

TEST_SUITE(minhop)
{
	TCase *t = tcase_create("minhop");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, every_fabric, 0, N_FABRICS * N_FAILS * test_seeds(SEEDS));
	tcase_add_loop_test(t, balance, 0, sizeof(balanced) / sizeof(*balanced));
	tcase_add_loop_test(t, prev_is_kept, 0, N_FABRICS);
	tcase_add_test(t, lmc_spreads_over_systems);
	tcase_add_test(t, enhanced_port_0_with_lmc);
	tcase_add_test(t, no_switch_and_parts);
	tcase_add_test(t, defaults_are_none);
	tcase_add_test(t, ignored_port);
	tcase_add_loop_test(t, ignored_hosts, 0, 16);
	tcase_add_test(t, ignored_switch);
	tcase_add_loop_test(t, search_order, 0, 2);
	tcase_add_test(t, routing_order);
	tcase_add_test(t, scatter);
	tcase_add_test(t, shifting);
	tcase_add_loop_test(t, switch_nodes, 0, 2);
	tcase_add_loop_test(t, weights, 0, 2);
	tcase_add_loop_test(t, heavy_weights, 0, 3);
	suite_add_tcase(suite, t);
}
