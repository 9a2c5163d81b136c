/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Alternates of adaptive routing: found, grouped, proven, thinned. */
#include <check.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/alternates.h"
#include "routing/route.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct graph *g;
static struct lids lids;
static struct route_out out;
static struct alternates x;

static void setup(void)
{
	arena = arena_new();
	out = (struct route_out){ 0 };
}

static void teardown(void)
{
	arena_free(arena);
}

static struct adaptive_options options(bool fine)
{
	return (struct adaptive_options){ .enable = true,
		                          .fine_grained = fine,
		                          .port_groups = 255 };
}

static void route_by(const char *engine, const char *fabric, double fail, uint32_t seed,
                     uint32_t lmc)
{
	struct route_request r = { .g = NULL };
	struct route_result result;
	struct why why = { "" };

	g = fabric_make(fabric, fail, seed, arena);
	lids = fabric_lids(g, lmc, 0, arena);
	r.g = g;
	r.lids = &lids;
	ck_assert_int_eq(route_list_parse(engine, &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_uint_eq(result.proof.credit_loops, 0);
	ck_assert_ptr_null(result.alternates.rows); /* nobody asked */
	out = result.out;
}

static void build(const struct adaptive_options *o)
{
	ck_assert_int_eq(alternates_build(g, &lids, &out.lft, o, arena, &x), E_OK);
}

static bool is_host_lid(uint32_t lid)
{
	uint32_t owner = lids.owner[lid];

	return owner != GRAPH_NONE && g->nodes[g->ports[owner].node].type != NODE_SWITCH;
}

/* Switch behind a port, GRAPH_NONE: none. */
static uint32_t behind(uint32_t s, unsigned port)
{
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		if (g->adj[i].port == port) {
			return g->adj[i].to;
		}
	}
	return GRAPH_NONE;
}

static unsigned rate(uint32_t s, unsigned port)
{
	const struct port *p = &g->ports[g->nodes[g->switches[s]].first_port + port];

	return link_rate(p->width, p->speed);
}

/* Hops by the tables, one walk; 1000: does not arrive. */
static unsigned walked(uint32_t s, uint32_t lid)
{
	uint32_t home = graph_switch_of(g, lids.owner[lid]);
	unsigned hops = 0;

	for (; s != home && hops < 1000; hops++) {
		s = behind(s, lft_row(&out.lft, s)[lid]);
		if (s == GRAPH_NONE) {
			return 1000;
		}
	}
	return hops;
}

/* Every set against the definition. Fine: all such ports. Coarse: those of all LIDs there. */
static void check_sets(bool fine)
{
	uint64_t routes = 0, served = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= lids.top; lid++) {
			const struct port_set *set = alternates_of(&x, s, lid);
			unsigned own = lft_row(&out.lft, s)[lid], n = 0;

			if (!is_host_lid(lid)) {
				ck_assert_ptr_null(set);
				continue;
			}
			unsigned hops = walked(s, lid);
			if (hops == 0 || hops == 1000) {
				ck_assert_ptr_null(set);
				continue;
			}
			routes++;
			served += set != NULL;
			ck_assert(!set || port_set_has(set, own));
			for (unsigned p = 1; p <= g->max_port; p++) {
				uint32_t next = behind(s, p);
				bool fits = next != GRAPH_NONE && rate(s, p) == rate(s, own) &&
				            walked(next, lid) + 1 == hops;

				n += fits;
				ck_assert(!set || !port_set_has(set, p) || fits);
				ck_assert(!set || !fine || port_set_has(set, p) == fits);
			}
			ck_assert(!fine || (set != NULL) == (n > 1));
			ck_assert(!set || port_set_count(set) > 1);
		}
	}
	ck_assert_uint_eq(x.routes, routes);
	ck_assert_uint_eq(x.served, served);
	ck_assert_uint_eq(x.full, 0);
}

/* LIDs on one switch share the group wherever they have one. */
static void check_coarse(void)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct port_set **of = arena_array(arena, g->n_switches, sizeof(*of));

		for (uint32_t lid = 1; lid <= lids.top; lid++) {
			const struct port_set *set = alternates_of(&x, s, lid);
			uint32_t home = set ? graph_switch_of(g, lids.owner[lid]) : 0;

			ck_assert(!set || !of[home] || of[home] == set);
			of[home] = set ? set : of[home];
		}
	}
}

/* clang-format off */
static const struct {
	const char *engine, *fabric;
	double fail;
	uint32_t lmc;
} cases[] = {
	{ "minhop", "ft2 6 4 3",         0,    0 },
	{ "updn",   "ft3 4",             0,    2 },
	{ "ftree",  "ft3 6",             0.05, 0 },
	{ "updn",   "ft3 6",             0.1,  0 },
	{ "dnup",   "torus 4x4 1",       0,    1 },
	{ "dor",    "mesh 4x3 2",        0,    0 },
	{ "dfsssp", "torus 5x5 1",       0,    0 },
	{ "dnup",   "jellyfish 20 5 2",  0,    0 },
	{ "lash",   "hypercube 4 1",     0,    0 },
	{ "minhop", "ft2 6 4 3",         0.3,  0 },
};
/* clang-format on */

START_TEST(equal_cost)
{
	struct adaptive_options fine = options(true), coarse = options(false);

	route_by(cases[_i].engine, cases[_i].fabric, cases[_i].fail, 3, cases[_i].lmc);
	build(&fine);
	check_sets(true);
	build(&coarse);
	check_sets(false);
	check_coarse();
}
END_TEST

/* On a healthy tree a leaf may use every spine, and both kinds are the same. */
START_TEST(tree)
{
	for (unsigned fine = 0; fine < 2; fine++) {
		struct adaptive_options o = options(fine);

		route_by("ftree", "ft2 6 4 3", 0, 1, 0);
		build(&o);
		for (uint32_t s = 0; s < g->n_switches; s++) {
			bool leaf = g->host_first[s] < g->host_first[s + 1];

			ck_assert_uint_eq(x.groups[s].n, leaf ? 1 : 0);
			ck_assert(!leaf || port_set_count(&x.groups[s].set[0]) == 3);
		}
		ck_assert_uint_eq(x.routes, 24 * (5 + 3));
		ck_assert_uint_eq(x.served, 24 * 5);
	}
}
END_TEST

/* A slower cable is no alternate of a faster one. */
START_TEST(rates)
{
	struct adaptive_options o = options(true);

	route_by("minhop", "ft2 6 4 3", 0, 1, 0);
	for (uint32_t i = g->adj_first[0]; i < g->adj_first[0] + 2; i++) {
		g->ports[g->nodes[g->switches[0]].first_port + g->adj[i].port].speed = SPEED_SDR;
		g->ports[g->nodes[g->switches[0]].first_port + g->adj[i].port].width = WIDTH_1X;
	}
	build(&o);
	check_sets(true);
	ck_assert_uint_eq(x.groups[0].n, 1); /* the third cable is alone */
	ck_assert_uint_eq(port_set_count(&x.groups[0].set[0]), 2);
}
END_TEST

/* No room: the groups that serve most stay, the others are counted. */
START_TEST(room)
{
	struct adaptive_options o = options(true);

	route_by("updn", "ft3 6", 0.1, 3, 0);
	build(&o);
	struct alternates all = x;
	uint64_t dropped = 0;

	o.port_groups = 1;
	build(&o);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint64_t wanted[256] = { 0 }, best = 0;

		for (uint32_t lid = 1; lid <= lids.top; lid++) {
			uint8_t group = all.rows[s * all.stride + lid];

			if (group != PORT_GROUP_NONE) {
				wanted[group]++;
				dropped++;
				best = wanted[group] > best ? wanted[group] : best;
			}
		}
		dropped -= best;
		ck_assert_uint_le(x.groups[s].n, 1);
		ck_assert(all.groups[s].n == 0 || wanted[0] == best);
	}
	ck_assert_uint_gt(dropped, 0);
	ck_assert_uint_eq(x.full, dropped);
	ck_assert_uint_eq(x.served + x.full, all.served);
}
END_TEST

START_TEST(collector)
{
	struct port_collector *c = port_collector_new();
	struct port_groups groups;
	const uint8_t *final;

	for (unsigned round = 0; round < 2; round++) {
		port_collector_clear(c);
		for (unsigned i = 0; i < 1000; i++) {
			struct port_set s = { { 0 } };

			port_set_add(&s, i % 250);
			port_set_add(&s, 255);
			uint32_t number = port_collector_add(c, &s);

			ck_assert_uint_eq(number, i % 250);
			port_collector_want(c, number);
			if (i % 250 == 77) {
				port_collector_want(c, number);
			}
		}
		ck_assert_int_eq(port_collector_finish(c, 3, arena, &groups, &final), E_OK);
		ck_assert_uint_eq(groups.n, 3);
		ck_assert_uint_eq(final[77], 0);
		ck_assert(port_set_has(&groups.set[0], 77) && port_set_has(&groups.set[0], 255));
		ck_assert_uint_eq(port_set_count(&groups.set[0]), 2);
		for (unsigned i = 0, kept = 0; i < 250; i++) {
			kept += final[i] != PORT_GROUP_NONE;
			ck_assert_uint_le(kept, 3);
		}
	}
	port_collector_free(c);
}
END_TEST

/* --- credit loops ------------------------------------------------------------------- */

/* Dependencies by brute force: each source, LID and VL, every way; Floyd-Warshall. */
static bool loops_by_hand(const struct alternates *with)
{
	uint32_t n = g->n_adj;
	unsigned lanes = out.lanes.n ? out.lanes.n : 1;
	bool found = false;

	for (unsigned vl = 0; vl < lanes && !found; vl++) {
		uint8_t *reach = arena_array(arena, n, n);

		for (uint32_t lid = 1; lid <= lids.top; lid++) {
			uint8_t *come = arena_alloc(arena, g->n_switches);
			uint32_t home;

			if (!is_host_lid(lid)) {
				continue;
			}
			home = graph_switch_of(g, lids.owner[lid]);
			for (uint32_t s = 0; s < g->n_switches; s++) {
				come[s] = g->host_first[s] < g->host_first[s + 1] &&
				          lane_of(&out.lanes, s, lid) == vl;
			}
			for (unsigned again = 0; again < g->n_switches; again++) {
				for (uint32_t c = 0; c < n; c++) {
					uint32_t s = 0, to = g->adj[c].to;

					while (g->adj_first[s + 1] <= c) {
						s++;
					}
					const struct port_set *set = alternates_of(with, s, lid);
					bool used = lft_row(&out.lft, s)[lid] == g->adj[c].port ||
					            (set && port_set_has(set, g->adj[c].port));

					if (!come[s] || s == home || !used) {
						continue;
					}
					come[to] = 1;
					set = alternates_of(with, to, lid);
					for (uint32_t d = g->adj_first[to];
					     to != home && d < g->adj_first[to + 1]; d++) {
						if (lft_row(&out.lft, to)[lid] == g->adj[d].port ||
						    (set && port_set_has(set, g->adj[d].port))) {
							reach[c * n + d] = 1;
						}
					}
				}
			}
		}
		for (uint32_t k = 0; k < n; k++) {
			for (uint32_t i = 0; i < n; i++) {
				for (uint32_t j = 0; reach[i * n + k] && j < n; j++) {
					reach[i * n + j] |= reach[k * n + j];
				}
			}
		}
		for (uint32_t i = 0; i < n; i++) {
			found |= reach[i * n + i];
		}
	}
	return found;
}

/* clang-format off */
static const struct {
	const char *engine, *fabric;
	double fail;
	bool loops;
} loops[] = {
	{ "ftree",  "ft2 4 2 2",        0,   false },
	{ "updn",   "ft3 4",            0.2, true },
	{ "dnup",   "torus 4x4 1",      0,   true },
	{ "dor",    "mesh 3x3 1",       0,   true },
	{ "dfsssp", "torus 5x5 1",      0,   true },
	{ "lash",   "hypercube 3 1",    0,   true },
};
/* clang-format on */

START_TEST(credit_loops)
{
	struct adaptive_options o = options(true);
	uint64_t n = 99;

	route_by(loops[_i].engine, loops[_i].fabric, loops[_i].fail, 2, 0);
	build(&o);
	ck_assert_int_eq(
		alternates_prove(g, &lids, &out.lft, &out.lanes, &x, &n), E_OK);
	ck_assert_int_eq(n > 0, loops[_i].loops);
	ck_assert_int_eq(loops_by_hand(&x), loops[_i].loops);
}
END_TEST

static struct alternates copy_of(const struct alternates *from)
{
	struct alternates c = *from;

	c.rows = arena_alloc(arena, g->n_switches * from->stride);
	memcpy(c.rows, from->rows, g->n_switches * from->stride);
	c.groups = arena_array(arena, g->n_switches, sizeof(*c.groups));
	memcpy(c.groups, from->groups, g->n_switches * sizeof(*c.groups));
	return c;
}

/* Thinned ones have no loop and are among those that there were. */
START_TEST(thinned)
{
	struct adaptive_options o = options(_i % 2);
	const unsigned k = (unsigned)_i / 2;
	uint64_t n = 99, kept = 0, ports = 0;

	route_by(cases[k].engine, cases[k].fabric, cases[k].fail, 5, cases[k].lmc);
	build(&o);
	struct alternates all = copy_of(&x);

	ck_assert_int_eq(alternates_thin(g, &lids, &out.lft, &out.lanes, &o, arena, &x), E_OK);
	ck_assert_int_eq(alternates_prove(g, &lids, &out.lft, &out.lanes, &x, &n), E_OK);
	ck_assert_uint_eq(n, 0);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= lids.top; lid++) {
			const struct port_set *was = alternates_of(&all, s, lid);
			const struct port_set *is = alternates_of(&x, s, lid);

			ports += was ? port_set_count(was) - 1 : 0;
			kept += is ? port_set_count(is) - 1 : 0;
			for (unsigned w = 0; is && w < PORT_SET_WORDS; w++) {
				ck_assert_ptr_nonnull(was);
				ck_assert_uint_eq(is->word[w] & ~was->word[w], 0);
			}
			ck_assert(!is || port_set_has(is, lft_row(&out.lft, s)[lid]));
		}
	}
	ck_assert_uint_eq(kept + x.thinned, ports);
}
END_TEST

/* The same fabric without some of its hosts. */
static struct graph *without_hosts(const struct graph *from, unsigned bits)
{
	struct graph *to = graph_new(arena);
	uint32_t *at = arena_array(arena, from->n_nodes, sizeof(*at));
	struct diags *d = arena_alloc(arena, sizeof(*d));
	unsigned host = 0;

	diags_init(d, arena);
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		const struct node *n = &from->nodes[i];

		at[i] = GRAPH_NONE;
		if (n->type == NODE_SWITCH || (bits >> host++ % 8 & 1)) {
			ck_assert_int_eq(graph_add_node(to, n->type, n->guid, n->n_ports,
			                                n->description, n->id, &at[i]),
			                 E_OK);
		}
	}
	for (uint32_t i = 0; i < from->n_ports; i++) {
		const struct port *p = &from->ports[i];
		uint32_t a = at[p->node], b;

		if (p->peer == GRAPH_NONE || p->peer < i || a == GRAPH_NONE) {
			continue;
		}
		b = at[from->ports[p->peer].node];
		if (b != GRAPH_NONE) {
			ck_assert_int_eq(graph_connect(to, graph_port(to, a, p->num),
			                               graph_port(to, b,
			                                          from->ports[p->peer].num)),
			                 E_OK);
		}
	}
	ck_assert_int_eq(graph_freeze(to, d), E_OK);
	return to;
}

/* By the tables no packet comes to a switch without hosts, and with alternates some do. */
START_TEST(thinned_without_hosts)
{
	static const char *const fabrics[] = { "dragonfly 1 2 1", "mesh 3x3 1", "torus 5 1",
		                               "jellyfish 8 3 1" };
	struct adaptive_options o = options(_i & 1);

	for (unsigned bits = 3; bits <= 0xff; bits += 4) {
		struct route_request r = { .max_lanes = 1 };
		struct route_result result;
		struct why why = { "" };
		uint64_t n = 99;

		g = without_hosts(fabric_make(fabrics[_i / 2], 0, 1, arena), bits);
		lids = fabric_lids(g, bits >> 2 & 1, 0, arena);
		r.g = g;
		r.lids = &lids;
		ck_assert_int_eq(route_list_parse("dor,nue", &r.list, &why), E_OK);
		ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
		out = result.out;
		build(&o);
		ck_assert_int_eq(alternates_thin(g, &lids, &out.lft, &out.lanes, &o, arena,
		                                 &x),
		                 E_OK);
		ck_assert_int_eq(alternates_prove(g, &lids, &out.lft, &out.lanes, &x, &n),
		                 E_OK);
		ck_assert_msg(n == 0, "%s, hosts 0x%x: %u loops", fabrics[_i / 2], bits,
		              (unsigned)n);
	}
}
END_TEST

/* --- as part of a routing job ------------------------------------------------------- */

static struct route_result job(const char *fabric, const char *list,
                               enum credit_loops policy, bool enable, bool fine)
{
	struct adaptive_options o = options(fine);
	struct route_request r = { .adaptive = &o, .credit_loops = policy };
	struct route_result result;
	struct why why = { "" };

	g = fabric_make(fabric, 0, 1, arena);
	lids = fabric_lids(g, 0, 0, arena);
	r.g = g;
	r.lids = &lids;
	o.enable = enable;
	ck_assert_int_eq(route_list_parse(list, &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	return result;
}

START_TEST(jobs)
{
	struct route_result result = job("ft3 4", "minhop", CREDIT_FALLBACK, true, false);

	ck_assert_ptr_nonnull(result.alternates.rows);
	ck_assert_uint_gt(result.alternates.served, 0);
	ck_assert_str_eq(result.warning.text, "");

	result = job("ft3 4", "minhop", CREDIT_FALLBACK, false, true);
	ck_assert_ptr_null(result.alternates.rows);

	result = job("mesh 4x4 1", "dor", CREDIT_FALLBACK, true, true);
	ck_assert_uint_gt(result.alternates.thinned, 0);
	ck_assert_uint_gt(result.alternates.served, 0);
	ck_assert_ptr_nonnull(
		strstr(result.out.notes.text, "are left out as alternates"));
	ck_assert_str_eq(result.warning.text, "");

	result = job("mesh 4x4 1", "dor", CREDIT_PROGRAM, true, true);
	ck_assert_uint_eq(result.alternates.thinned, 0);
	ck_assert_ptr_nonnull(
		strstr(result.warning.text, "alternates of adaptive routing can"));

	/* the SL says which datelines the way of the tables crosses */
	result = job("torus 4x4 1", "torus-2QoS", CREDIT_FALLBACK, true, true);
	ck_assert_ptr_null(result.alternates.rows);
	ck_assert_ptr_nonnull(
		strstr(result.out.notes.text, "no alternates, the SL-to-VL rule"));
}
END_TEST

START_TEST(same_on_any_number_of_threads)
{
	struct adaptive_options o = options(_i % 2);
	struct alternates first;
	uint64_t a, b;

	route_by("updn", "ft3 8", 0.1, 9, 1);
	omp_set_num_threads(1);
	build(&o);
	first = x;
	ck_assert_int_eq(alternates_prove(g, &lids, &out.lft, &out.lanes, &x, &a), E_OK);
	omp_set_num_threads(4);
	build(&o);
	ck_assert_int_eq(alternates_prove(g, &lids, &out.lft, &out.lanes, &x, &b), E_OK);
	for (size_t i = 0; i < g->n_switches * x.stride; i++) {
		ck_assert_msg(first.rows[i] == x.rows[i], "switch %zu, LID %zu: %u and %u",
		              i / x.stride, i % x.stride, first.rows[i], x.rows[i]);
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		ck_assert_uint_eq(first.groups[s].n, x.groups[s].n);
		ck_assert_mem_eq(first.groups[s].set, x.groups[s].set,
		                 x.groups[s].n * sizeof(struct port_set));
	}
	ck_assert(first.served == x.served && first.routes == x.routes && a == b);
}
END_TEST

TEST_SUITE(alternates)
{
	TCase *t = tcase_create("alternates");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, equal_cost, 0, sizeof(cases) / sizeof(*cases));
	tcase_add_test(t, tree);
	tcase_add_test(t, rates);
	tcase_add_test(t, room);
	tcase_add_test(t, collector);
	tcase_add_loop_test(t, credit_loops, 0, sizeof(loops) / sizeof(*loops));
	tcase_add_loop_test(t, thinned, 0, 2 * sizeof(cases) / sizeof(*cases));
	tcase_add_loop_test(t, thinned_without_hosts, 0, 8);
	tcase_add_test(t, jobs);
	tcase_add_loop_test(t, same_on_any_number_of_threads, 0, 2);
	suite_add_tcase(suite, t);
}
