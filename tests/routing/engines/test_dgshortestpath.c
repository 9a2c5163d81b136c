/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <inttypes.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/xml.h"
#include "conf/device_group.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/engine_options.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/disjoint.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
#include "routing/route.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct diags diags;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void teardown(void)
{
	arena_free(arena);
}

/* ---- groups ---- */

/* Which hosts are storage, by index in graph.hosts. */
enum pattern { LAST_PORT, EVERY_TENTH, RANDOM_THIRD, FEW_LEAVES, PATTERN_COUNT };

static bool is_storage(const struct graph *g, enum pattern p, uint32_t h)
{
	uint64_t seed = h * UINT64_C(0x9e3779b97f4a7c15) + 1;
	uint32_t s = graph_switch_of(g, g->hosts[h]);

	switch (p) {
	case LAST_PORT: return h + 1 == g->host_first[s + 1];
	case EVERY_TENTH: return h % 10 == 3;
	case RANDOM_THIRD: return random_below(&seed, 3) == 0;
	case FEW_LEAVES: return s % 7 == 2;
	case PATTERN_COUNT: break;
	}
	return false;
}

static const char *guids(const struct graph *g, enum pattern p, bool storage)
{
	size_t size = g->n_hosts * 40 + 1, at = 0;
	char *text = arena_alloc(arena, size);

	for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
		if (is_storage(g, p, h) == storage) {
			at += (size_t)snprintf(text + at, size - at,
			                       "<PortGUID>0x%" PRIx64 "</PortGUID>",
			                       g->ports[g->hosts[h]].guid);
		}
	}
	return text;
}

/* Groups Storage, Compute (the other hosts), Nobody, Everything, and those of \a more. */
static const struct device_groups *groups_of(const struct graph *g, enum pattern p,
                                             const char *more)
{
	const char *text = arena_printf(
		arena,
		"<DeviceGroups><DeviceGroup><Name>Storage</Name>%s</DeviceGroup><DeviceGroup><Name>Compute</Name>%s</DeviceGroup><DeviceGroup><Name>Nobody</Name></DeviceGroup><DeviceGroup><Name>Everything</Name><Select>All</Select></DeviceGroup>%s</DeviceGroups>",
		guids(g, p, true), guids(g, p, false), more);
	const struct device_groups *groups = NULL;
	struct xml_element *root = NULL;

	ck_assert_int_eq(xml_parse("g", text, strlen(text), arena, &diags, &root), E_OK);
	ck_assert_msg(device_groups_parse("g", &root, 1, arena, &diags, &groups) == E_OK,
	              "%s", diags_first_error(&diags));
	return groups;
}

/* ---- tables ---- */

static struct route_out *route_engine(const char *engine, const struct graph *g,
                                      const struct lids *l,
                                      const struct device_groups *groups,
                                      const char *order)
{
	const struct engine *e = engine_find(engine);
	struct option_sets s = { .n = 0 };
	struct route_in in = { .g = g, .lids = l };
	struct route_out *out = arena_alloc(arena, sizeof(*out));
	void *base = arena_alloc(arena, e->opt_size);

	ck_assert_int_eq(option_sets_add(&s, e->options, base), E_OK);
	ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	if (order) {
		ck_assert_int_eq(option_set(&s, arena, "dg_routing_order", order, NULL, 0,
		                            &diags),
		                 E_OK);
		ck_assert_int_eq(option_bind_groups(&s, groups, arena, &diags), E_OK);
	}
	in.options = base;
	ck_assert_int_eq(e->route(&in, arena, out), E_OK);
	return out;
}

static struct lft route(const struct graph *g, const struct lids *l,
                        const struct device_groups *groups, const char *order)
{
	struct route_out *out = route_engine("dgshortestpath", g, l, groups, order);

	ck_assert_str_eq(out->notes.text, "");
	return out->lft;
}

static void prove(const struct graph *g, const struct lids *l, const struct lft *lft)
{
	const struct lanes one = { .n = 1 };
	struct proof p;

	ck_assert_int_eq(proof_run(g, l, lft, &one, arena, &p), E_OK);
	ck_assert_msg(proof_passed(&p, false), "%s", proof_text(&p, g, arena));
}

static bool same_entries(const struct graph *g, const struct lids *l, const struct lft *a,
                         const struct lft *b, enum pattern p, bool storage)
{
	bool same = true;

	for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
		uint32_t lid = l->of[g->hosts[h]].base;

		for (uint32_t s = 0; is_storage(g, p, h) == storage && s < g->n_switches;
		     s++) {
			same = same && lft_row(a, s)[lid] == lft_row(b, s)[lid];
		}
	}
	return same;
}

/* ---- balance ---- */

enum part { BASE, OTHERS };

/* Routes per link to the LIDs of one set of hosts only. */
static uint32_t *load_of(const struct graph *g, const struct lids *l,
                         const struct lft *lft, enum pattern p, int storage,
                         enum part part)
{
	struct lids some = *l;
	struct load load;

	some.owner = arena_array(arena, l->top + 1U, sizeof(*some.owner));
	memset(some.owner, 0xff, (l->top + 1U) * sizeof(*some.owner));
	for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
		struct lid_range r = l->of[g->hosts[h]];

		for (uint32_t k = part == BASE ? 0 : 1;
		     k < (part == BASE ? 1U : 1U << r.lmc); k++) {
			if (storage < 0 || is_storage(g, p, h) == (storage != 0)) {
				some.owner[r.base + k] = g->hosts[h];
			}
		}
	}
	ck_assert_int_eq(load_build(g, &some, lft, arena, &load), E_OK);
	return load.all;
}

/* Busiest link out of a leaf switch against the mean of these. */
static double ratio_up(const struct graph *g, const uint32_t *load, double *ret_most)
{
	double sum = 0, most = 0;
	unsigned n = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s];
		     g->host_first[s] != g->host_first[s + 1] && i < g->adj_first[s + 1];
		     i++, n++) {
			sum += load[i];
			most = load[i] > most ? load[i] : most;
		}
	}
	*ret_most = most;
	return most * n / sum;
}

/*
 * At most a tenth above the mean, or no more than the share of a link in the set rounded
 * up, for each LID of a host: a leaf switch can't send half a destination over a link, and
 * its own hosts are not its destinations.
 */
static void check_up(const struct graph *g, const struct lids *l, const struct lft *lft,
                     enum pattern p, int storage, enum part part)
{
	uint32_t members = 0, hosts = g->host_first[1] - g->host_first[0];
	uint32_t up = g->adj_first[1] - g->adj_first[0];
	double most, ratio = ratio_up(g, load_of(g, l, lft, p, storage, part), &most);

	uint32_t lids = part == BASE ? 1 : (1U << l->of[g->hosts[0]].lmc) - 1;

	for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
		members += is_storage(g, p, h) == (storage != 0);
	}
	ck_assert_msg(ratio <= 1.1 || most <= (members + up - 1) / up * lids * hosts,
	              "ratio %g, most %g, %u hosts over %u links", ratio, most, members, up);
}

static double ratio_all(const struct graph *g, const uint32_t *load)
{
	double sum = 0, most = 0;

	for (uint32_t i = 0; i < g->n_adj; i++) {
		sum += load[i];
		most = load[i] > most ? load[i] : most;
	}
	return most * g->n_adj / sum;
}

static const char *const trees[] = { "ft2 36 18 18", "ft3 16", "ft2 24 12 6 2" };
static const uint32_t lmcs[] = { 0, 2 };

enum { N_TREES = sizeof(trees) / sizeof(*trees), N_LMCS = sizeof(lmcs) / sizeof(*lmcs) };

/* Each set by itself, and both together. */
START_TEST(sets_balanced)
{
	enum pattern p = (enum pattern)(_i / N_TREES % PATTERN_COUNT);
	struct graph *g = fabric_make(trees[_i % N_TREES], 0, 1, arena);
	uint32_t lmc = lmcs[_i / N_TREES / PATTERN_COUNT];
	struct lids l = fabric_lids(g, lmc, 0, arena);
	const struct device_groups *groups = groups_of(g, p, "");
	struct lft lft = route(g, &l, groups, "Compute,Storage");

	prove(g, &l, &lft);
	for (enum part part = BASE; part <= (lmc ? OTHERS : BASE); part++) {
		for (int storage = 0; storage < 2; storage++) {
			check_up(g, &l, &lft, p, storage, part);
		}
		ck_assert_double_le(ratio_all(g, load_of(g, &l, &lft, p, -1, part)), 1.1);
	}
}
END_TEST

/* The purpose of groups: without them storage on one port of each leaf shares one path. */
START_TEST(better_than_without)
{
	struct graph *g = fabric_make("ft3 16", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct device_groups *groups = groups_of(g, LAST_PORT, "");
	struct lft plain = route_engine("shortestpath", g, &l, NULL, NULL)->lft;
	struct lft lft = route(g, &l, groups, "Storage");
	double most, without, with;

	without = ratio_up(g, load_of(g, &l, &plain, LAST_PORT, 1, BASE), &most);
	with = ratio_up(g, load_of(g, &l, &lft, LAST_PORT, 1, BASE), &most);

	ck_assert_double_gt(without, 4);
	ck_assert_double_le(with, 1.1);
}
END_TEST

/* All LIDs of a port take ways apart also when they are placed group by group. */
START_TEST(dispersed)
{
	static const struct {
		const char *tree;
		uint32_t lmc, sw, asic, link;
	} want[] = {
		{ "ft3 16", 3, 8, 8, 8 },
		{ "ft2 24 12 6 2", 3, 6, 6, 8 },
		{ "tree3 4 8 8 8 8", 3, 8, 8, 8 },
		{ "director 8 4 2 4 4 2", 2, 2, 4, 4 },
	};
	struct graph *g = fabric_make(want[_i].tree, 0, 1, arena);
	struct lids l = fabric_lids(g, want[_i].lmc, 0, arena);
	struct lft lft =
		route(g, &l, groups_of(g, EVERY_TENTH, ""), "Storage,Compute");
	struct disjoint d;

	prove(g, &l, &lft);
	ck_assert_int_eq(disjoint_count(g, &l, &lft, &d), E_OK);
	ck_assert_uint_eq(d.level[DISJOINT_SWITCH].least, want[_i].sw);
	ck_assert_uint_eq(d.level[DISJOINT_ASIC].least, want[_i].asic);
	ck_assert_uint_eq(d.level[DISJOINT_LINK].least, want[_i].link);
}
END_TEST

/* ---- order ---- */

/* The first group is placed as if there were no other. */
START_TEST(order_counts)
{
	struct graph *g = fabric_make("ft3 8", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct device_groups *groups = groups_of(g, RANDOM_THIRD, "");
	struct lft storage = route(g, &l, groups, "Storage,Compute");
	struct lft compute = route(g, &l, groups, "Compute,Storage");
	struct lft rest = route(g, &l, groups, "Storage");
	struct lft all_first = route(g, &l, groups, "Everything,Storage");
	struct lft all_last = route(g, &l, groups, "Storage,Everything,Compute");
	struct lft first_counts = route(g, &l, groups, "Storage,AllFIs");
	size_t bytes = storage.n_switches * storage.stride;

	ck_assert(!same_entries(g, &l, &storage, &compute, RANDOM_THIRD, true));
	/* who is in no group comes last, and so does a group that takes what is left */
	ck_assert(!memcmp(storage.rows, rest.rows, bytes));
	ck_assert(!memcmp(storage.rows, first_counts.rows, bytes));
	/* a group of all is asked last, but placed where it stands */
	ck_assert(!memcmp(compute.rows, all_first.rows, bytes));
	ck_assert(!same_entries(g, &l, &all_first, &storage, RANDOM_THIRD, true));
	ck_assert(same_entries(g, &l, &all_last, &storage, RANDOM_THIRD, true));
	/* one group of all hosts is all hosts together */
	struct lft everything = route(g, &l, groups, "Everything");
	struct lft hosts = route(g, &l, groups, "AllFIs");

	ck_assert(!memcmp(everything.rows, hosts.rows, bytes));
}
END_TEST

/* Groups without hosts are named; so is the want of an order, which is no order. */
START_TEST(noted)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct device_groups *groups = groups_of(g, RANDOM_THIRD, "");
	struct route_out *nobody =
		route_engine("dgshortestpath", g, &l, groups, "Nobody,AllSWs,Storage");
	struct route_out *none = route_engine("dgshortestpath", g, &l, NULL, NULL);
	struct route_out *plain = route_engine("shortestpath", g, &l, NULL, NULL);

	ck_assert_ptr_nonnull(strstr(nobody->notes.text, "group Nobody has no host"));
	ck_assert_ptr_nonnull(strstr(nobody->notes.text, "group AllSWs has no host"));
	ck_assert_ptr_null(strstr(nobody->notes.text, "Storage"));
	prove(g, &l, &nobody->lft);
	ck_assert_ptr_nonnull(strstr(none->notes.text, "no dg_routing_order"));
	ck_assert(!memcmp(none->lft.rows, plain->lft.rows,
	                  plain->lft.n_switches * plain->lft.stride));
}
END_TEST

/* A group per host, on fabrics of all kinds, broken ones too: complete, and the same on
 * any number of threads. */
static const char *const fabrics[] = { "ft3 4",       "torus 4x4 2",       "ft2 3 5 2 2",
	                               "mesh 4x3 2",  "director 6 4 2 3 2", "jellyfish 16 4 2",
	                               "hypercube 4 2", "dragonfly 2 4 2" };

START_TEST(many_groups)
{
	for (uint32_t seed = 1; seed <= 3; seed++) {
		struct graph *g = fabric_make(fabrics[_i], (seed - 1) * 0.1, seed, arena);
		struct lids l = fabric_lids(g, seed - 1, 0, arena);
		const char *more = "", *order = "";
		const struct lanes lanes = { .n = 1 };
		const struct device_groups *groups;
		struct lft one, two;
		struct proof p;

		for (uint32_t h = g->host_first[g->n_switches]; h-- > 0;) {
			more = arena_printf(
				arena,
				"%s<DeviceGroup><Name>g%u</Name><PortGUID>0x%" PRIx64
				"</PortGUID></DeviceGroup>",
				more, h, g->ports[g->hosts[h]].guid);
			order = arena_printf(arena, "%s%sg%u", order, *order ? "," : "", h);
		}
		groups = groups_of(g, LAST_PORT, more);
#ifdef _OPENMP
		omp_set_num_threads(2);
#endif
		two = route(g, &l, groups, order);
#ifdef _OPENMP
		omp_set_num_threads(1);
#endif
		one = route(g, &l, groups, order);
		ck_assert(!memcmp(one.rows, two.rows, one.n_switches * one.stride));
		ck_assert_int_eq(proof_run(g, &l, &one, &lanes, arena, &p), E_OK);
		ck_assert_msg(p.unreachable_pairs + p.holes + p.forwarding_loops == 0,
		              "%s", proof_text(&p, g, arena));
	}
}
END_TEST

/* ---- fallback ---- */

/* A job that asks for dgshortestpath alone; \a order NULL: without an order. */
static struct route_result run_job(const struct graph *g, const struct lids *l,
                                   const struct device_groups *groups,
                                   const char *order)
{
	struct engine_options o;
	struct route_request r = { .g = g, .lids = l, .options = &o };
	struct route_result result;
	struct why why;

	ck_assert_int_eq(engine_options_init(&o, arena), E_OK);
	ck_assert_int_eq(option_set_defaults(&o.sets, arena), E_OK);
	if (order) {
		ck_assert_int_eq(option_set(&o.sets, arena, "dg_routing_order", order,
		                            NULL, 0, &diags),
		                 E_OK);
		ck_assert_int_eq(option_bind_groups(&o.sets, groups, arena, &diags),
		                 E_OK);
	}
	ck_assert_int_eq(route_list_parse("dgshortestpath", &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	return result;
}

/* On a tree without some of its cables shortest paths close a credit loop. The engine in whose
 * place that leads keeps the order, and its first group is placed as if there were no other. */
START_TEST(fallback_keeps_order)
{
	unsigned n = 0;

	for (uint32_t seed = 1; seed <= 8; seed++) {
		struct graph *g = fabric_make("ft3 8", 0.15, seed, arena);
		struct lids l = fabric_lids(g, 0, 0, arena);
		const struct device_groups *groups = groups_of(g, RANDOM_THIRD, "");
		struct route_result storage = run_job(g, &l, groups, "Storage,Compute");
		struct route_result compute = run_job(g, &l, groups, "Compute,Storage");
		struct route_result rest = run_job(g, &l, groups, "Storage");

		if (!strcmp(storage.used->name, "dgshortestpath") ||
		    compute.used != storage.used || rest.used != storage.used) {
			continue;
		}
		n++;
		ck_assert_str_eq(storage.engine_asked, "dgshortestpath");
		ck_assert_msg(storage.used == engine_find("updn") ||
		                      storage.used == engine_find("minhop"),
		              "%s", storage.used->name);
		ck_assert_ptr_nonnull(strstr(storage.fallback_reason.text, "credit loop"));
		ck_assert_ptr_null(
			strstr(storage.fallback_reason.text, "no longer counts"));
		ck_assert(!same_entries(g, &l, &storage.out.lft, &compute.out.lft,
		                        RANDOM_THIRD, true));
		ck_assert_mem_eq(storage.out.lft.rows, rest.out.lft.rows,
		                 storage.out.lft.n_switches * storage.out.lft.stride);
	}
	ck_assert_uint_ge(n, 3);
}
END_TEST

/* Where none of these fits, the order does not count, which is said; without an order there is
 * nothing to say, and the usual engine comes first. */
START_TEST(fallback_without_order)
{
	struct graph *g = fabric_make("torus 4x4 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct device_groups *groups = groups_of(g, RANDOM_THIRD, "");
	struct route_result with = run_job(g, &l, groups, "Storage,Compute");
	struct route_result without = run_job(g, &l, NULL, NULL);

	ck_assert_ptr_ne(with.used, engine_find("dgshortestpath"));
	ck_assert_ptr_eq(with.used, without.used);
	ck_assert_ptr_nonnull(strstr(
		with.fallback_reason.text,
		"dg_routing_order, in opafm.xml Sm/DGShortestPathTopology/RoutingOrder/DeviceGroup of dgshortestpath no longer counts: "));
	ck_assert_ptr_nonnull(strstr(with.fallback_reason.text, with.used->name));
	ck_assert_ptr_null(strstr(without.fallback_reason.text, "no longer counts"));
}
END_TEST

TEST_SUITE(dgshortestpath)
{
	TCase *t = tcase_create("dgshortestpath");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, sets_balanced, 0, N_TREES * PATTERN_COUNT * N_LMCS);
	tcase_add_test(t, better_than_without);
	tcase_add_loop_test(t, dispersed, 0, 4);
	tcase_add_test(t, order_counts);
	tcase_add_test(t, noted);
	tcase_add_loop_test(t, many_groups, 0, sizeof(fabrics) / sizeof(*fabrics));
	tcase_add_test(t, fallback_keeps_order);
	tcase_add_test(t, fallback_without_order);
	suite_add_tcase(suite, t);
}
