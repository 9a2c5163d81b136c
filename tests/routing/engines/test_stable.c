/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Routes stay where they are: a host that goes or comes changes the entries and lanes of
 * its own LIDs only, whatever the engine; a cable that goes, the routes that took it.
 * Earlier tables are handed in as a sweep does: rows follow their switches, the top LID
 * is that of today.
 */
#include <check.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/proof.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static const struct {
	const char *command;
	double fail;
} fabrics[] = {
	{ "ft3 4", 0 },
	{ "ft3 8", 0 },
	{ "ft2 6 4 3", 0 },
	{ "ft2 3 5 2 2", 0 },
	{ "tree3 3 4 4 2 3", 0 },
	{ "director 6 4 2 3 2", 0 },
	{ "ft3 6", 0.05 },
	{ "ft2 12 6 4", 0.1 },
	{ "mesh 4x3 2", 0 },
	{ "torus 4x4 2", 0 },
	{ "hypercube 4 2", 0 },
	{ "dragonfly 2 4 2", 0 },
	{ "jellyfish 16 4 2", 0 },
};

enum { N_FABRICS = sizeof(fabrics) / sizeof(*fabrics), N_TREES = 8, SEEDS = 4 };

static struct arena *arena;
static uint8_t max_lanes; /* as route_in.max_lanes */

static void setup(void)
{
	arena = arena_new();
#ifdef _OPENMP
	omp_set_num_threads(1); /* waiting threads spin: slow on a busy machine */
#endif
}

static void teardown(void)
{
	arena_free(arena);
}

static unsigned engine_count(void)
{
	unsigned n = 0;

	while (engines[n]) {
		n++;
	}
	return n;
}

/* A fabric, its LIDs and what an engine made of them. */
struct routed {
	const struct graph *g;
	struct lids lids;
	struct route_out out;
};

static void *default_options(const struct engine *e)
{
	struct option_sets s = { .n = 0 };
	void *base;

	if (!e->options) {
		return NULL;
	}
	base = arena_alloc(arena, e->opt_size);
	ck_assert_int_eq(option_sets_add(&s, e->options, base), E_OK);
	ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	for (const struct option_row *o = e->options; o->name && max_lanes; o++) {
		if (!strcmp(o->name, "nue_max_num_vls")) {
			*(uint32_t *)(void *)((char *)base + o->offset) = max_lanes;
		}
	}
	return base;
}

/* LIDs that every port of \a all has keep; what is gone leaves its own unused. */
static struct lids lids_kept(const struct graph *g, const struct graph *all)
{
	struct lids of_all = fabric_lids(all, 0, 0, arena), lids;
	struct lid_memory *m = arena_array(arena, all->n_end_ports, sizeof(*m));
	struct lids_in in = { .g = g, .memory = m, .n_memory = all->n_end_ports };

	for (uint32_t i = 0; i < all->n_end_ports; i++) {
		uint32_t port = all->by_guid[i];

		m[i] = (struct lid_memory){ .guid = all->ports[port].guid,
			                    .range = of_all.of[port] };
	}
	ck_assert_int_eq(lids_assign(&in, arena, NULL, &lids, NULL, NULL), E_OK);
	return lids;
}

/* Rows of earlier tables by today's switches and LIDs. */
static uint8_t *carry(const struct routed *from, const struct routed *to,
                      const uint8_t *rows, size_t stride, size_t to_stride, uint8_t empty)
{
	uint32_t n = to->g->n_switches;
	uint8_t *carried = arena_array(arena, n, to_stride);

	memset(carried, empty, n * to_stride);
	for (uint32_t s = 0; s < n; s++) {
		uint32_t node = graph_node_by_guid(from->g,
		                                   to->g->nodes[to->g->switches[s]].guid);
		uint32_t top =
			from->lids.top < to->lids.top ? from->lids.top : to->lids.top;

		if (node != GRAPH_NONE) {
			memcpy(carried + s * to_stride,
			       rows + from->g->nodes[node].sw * stride, top + 1);
		}
	}
	return carried;
}

static int route(const struct engine *e, struct routed *r, const struct routed *before)
{
	struct route_in in = { .g = r->g,
		               .lids = &r->lids,
		               .options = default_options(e),
		               .max_lanes = max_lanes };
	struct why why = { "" };
	struct lanes lanes;
	struct lft lft;
	int ret = e->check ? e->check(&in, &why) : E_OK;

	r->out = (struct route_out){ 0 };
	if (before) {
		ck_assert_int_eq(lft_init(&lft, r->g->n_switches, r->lids.top, arena),
		                 E_OK);
		lft.rows = carry(before, r, before->out.lft.rows, before->out.lft.stride,
		                 lft.stride, LFT_NO_ROUTE);
		in.prev = &lft;
		lanes = before->out.lanes;
		lanes.stride = lft.stride;
		if (lanes.rows) {
			lanes.rows =
				carry(before, r, before->out.lanes.rows,
			              before->out.lanes.stride, lft.stride, LANE_UNKNOWN);
		}
		in.prev_lanes = lanes.rule ? NULL : &lanes;
	}
	return ret == E_OK ? e->route(&in, arena, &r->out) : ret;
}

/* Is the LID that of a port on both sides? */
static bool is_common(const struct routed *a, const struct routed *b, uint32_t lid)
{
	return lid <= a->lids.top && lid <= b->lids.top &&
	       a->lids.owner[lid] != GRAPH_NONE && b->lids.owner[lid] != GRAPH_NONE;
}

/* LIDs of both fabrics with another entry or lane at some switch. */
static uint32_t count_moved(const struct routed *a, const struct routed *b)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid <= a->lids.top; lid++) {
		bool moved = false;

		for (uint32_t s = 0; is_common(a, b, lid) && s < a->g->n_switches; s++) {
			uint32_t hosts = a->g->host_first[s + 1] - a->g->host_first[s];

			moved |= lft_row(&a->out.lft, s)[lid] !=
			         lft_row(&b->out.lft, s)[lid];
			moved |= hosts && lane_of(&a->out.lanes, s, lid) !=
			                          lane_of(&b->out.lanes, s, lid);
		}
		n += moved;
	}
	return n;
}

static void check_proof(const struct engine *e, const struct routed *r, const char *what)
{
	struct proof p;

	ck_assert_int_eq(proof_run(r->g, &r->lids, &r->out.lft, &r->out.lanes, arena, &p),
	                 E_OK);
	ck_assert_msg(p.unreachable_pairs + p.holes + p.forwarding_loops == 0,
	              "%s on %s: %s", e->name, what, proof_text(&p, r->g, arena));
	ck_assert_msg(!(e->flags & ENGINE_DEADLOCK_FREE) || r->out.beyond_rule ||
	                      p.credit_loops + p.management_credit_loops == 0,
	              "%s on %s: %s", e->name, what, proof_text(&p, r->g, arena));
}

/* The fabric without one host. \param may_be_last  Also the last one of its switch. */
static const struct graph *without_host(const struct graph *g, bool may_be_last,
                                        uint64_t *state)
{
	bool *gone = arena_array(arena, g->n_nodes, sizeof(*gone));
	uint32_t h, s;

	do {
		h = random_below(state, g->host_first[g->n_switches]);
		s = graph_switch_of(g, g->hosts[h]);
	} while (!may_be_last && g->host_first[s + 1] - g->host_first[s] == 1);
	gone[g->ports[g->hosts[h]].node] = true;
	return fabric_without(g, gone, NULL, arena);
}

static bool is_in(const char *const *list, size_t n, const struct engine *e)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(list[i], e->name)) {
			return true;
		}
	}
	return false;
}

/* Their shape of a fabric follows from which switches have hosts. */
static const char *const by_leaves[] = { "minhop", "updn", "dnup", "dmodc", "fattree" };

enum { N_BY_LEAVES = sizeof(by_leaves) / sizeof(*by_leaves) };

/* One host goes and comes back; in half of the runs others are missing from the start. */
START_TEST(one_host)
{
	const struct engine *e = engines[(unsigned)_i % engine_count()];
	unsigned f = (unsigned)_i / engine_count() % N_FABRICS;
	uint64_t seed = (unsigned)_i / engine_count() / N_FABRICS + 1,
		 state = seed * 7919 + f;
	const char *command = fabrics[f].command;
	const struct graph *g =
		fabric_make(command, fabrics[f].fail, (uint32_t)seed, arena);
	struct routed first = { .g = g }, less, again;
	uint32_t moved;

	max_lanes = seed % 2 ? 8 : 0;
	for (uint32_t k = 0; k < seed / 2 * g->n_hosts / 8; k++) {
		first.g = without_host(first.g, true, &state);
	}
	less.g = without_host(first.g, !is_in(by_leaves, N_BY_LEAVES, e), &state);
	again = first;
	first.lids = again.lids = lids_kept(first.g, g);
	less.lids = lids_kept(less.g, g);
	if (route(e, &first, NULL) != E_OK) {
		return;
	}
	ck_assert_int_eq(route(e, &less, &first), E_OK);
	ck_assert_int_eq(route(e, &again, &less), E_OK);
	check_proof(e, &less, command);
	check_proof(e, &again, command);
	moved = count_moved(&first, &less);
	ck_assert_msg(moved == 0, "%s on %s, seed %u: %u LIDs move when a host goes",
	              e->name, command, (unsigned)seed, moved);
	moved = count_moved(&less, &again);
	ck_assert_msg(moved == 0, "%s on %s, seed %u: %u LIDs move when a host comes",
	              e->name, command, (unsigned)seed, moved);
}
END_TEST

/* A host comes into a broken tree. With these seeds its routes, computed as if there were no
 * others before, would meet many routes on one link. */
START_TEST(ftree_host_comes)
{
	static const uint32_t seeds[] = { 4, 7, 16 };
	const struct engine *e = engine_find("ftree");
	uint64_t state = seeds[_i] * 17;
	const struct graph *g = fabric_make("ft3 16", 0.02, seeds[_i], arena);
	struct routed less = { .g = without_host(g, true, &state) }, all = { .g = g };
	uint32_t moved;

	less.lids = lids_kept(less.g, g);
	all.lids = lids_kept(g, g);
	ck_assert_int_eq(route(e, &less, NULL), E_OK);
	ck_assert_int_eq(route(e, &all, &less), E_OK);
	check_proof(e, &all, "ft3 16");
	moved = count_moved(&less, &all);
	ck_assert_msg(moved == 0, "seed %u: %u LIDs move", seeds[_i], moved);
}
END_TEST

/* Engines that keep entry by entry what a lost cable leaves. */
static const char *const patient[] = { "sssp", "dfsssp", "lash" };

enum { N_PATIENT = sizeof(patient) / sizeof(*patient) };

/* Does the route of some switch to the LID take the port, or the other end of its cable?
 */
static bool uses_cable(const struct routed *r, uint32_t lid, uint32_t port)
{
	const struct graph *g = r->g;

	for (unsigned end = 0; end < 2; end++) {
		const struct port *p = &g->ports[end ? g->ports[port].peer : port];

		if (lft_row(&r->out.lft, g->nodes[p->node].sw)[lid] == p->num) {
			return true;
		}
	}
	return false;
}

/* A port of some cable between switches. */
static uint32_t some_cable(const struct graph *g, uint64_t *state)
{
	uint32_t c = random_below(state, g->n_adj), s = 0;

	while (g->adj_first[s + 1] <= c) {
		s++;
	}
	return graph_port(g, g->switches[s], g->adj[c].port);
}

/* A cable of a tree goes: the routes that did not take it stay. Elsewhere loads may get
 * so uneven that all is routed anew. */
START_TEST(one_cable)
{
	const struct engine *e = engine_find(patient[_i % N_PATIENT]);
	unsigned f = (unsigned)_i / N_PATIENT % N_TREES;
	uint64_t seed = (unsigned)_i / N_PATIENT / N_TREES + 1, state = seed * 104729 + f;
	const char *command = fabrics[f].command;
	const struct graph *g =
		fabric_make(command, fabrics[f].fail, (uint32_t)seed, arena);
	struct routed first = { .g = g }, less = { .g = g };
	bool *cut = arena_array(arena, g->n_ports, sizeof(*cut));
	uint32_t port = some_cable(g, &state);

	cut[port] = true;
	first.lids = lids_kept(g, g);
	less.g = fabric_without(g, NULL, cut, arena);
	less.lids = lids_kept(less.g, g);
	ck_assert_int_eq(route(e, &first, NULL), E_OK);
	ck_assert_int_eq(route(e, &less, &first), E_OK);
	for (uint32_t lid = 1; lid <= first.lids.top; lid++) {
		for (uint32_t s = 0; is_common(&first, &less, lid) && s < g->n_switches;
		     s++) {
			ck_assert_msg(lft_row(&first.out.lft, s)[lid] ==
			                              lft_row(&less.out.lft, s)[lid] ||
			                      uses_cable(&first, lid, port),
			              "%s on %s, seed %u: LID %u moves", e->name, command,
			              (unsigned)seed, lid);
		}
	}
}
END_TEST

/* Does the route of a switch to the LID take the port, or the other end of its cable? */
static bool takes_cable(const struct routed *r, uint32_t s, uint32_t lid, uint32_t port)
{
	const struct graph *g = r->g;
	uint32_t t = graph_switch_of(g, r->lids.owner[lid]);

	while (s != t) {
		uint32_t out = graph_port(g, g->switches[s], lft_row(&r->out.lft, s)[lid]);

		if (out == port || g->ports[out].peer == port) {
			return true;
		}
		s = g->nodes[g->ports[g->ports[out].peer].node].sw;
	}
	return false;
}

/* Entries and lanes that others have although the cable was none of theirs. */
static uint32_t count_disturbed(const struct routed *a, const struct routed *b,
                                uint32_t port)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid <= a->lids.top; lid++) {
		uint32_t t = a->lids.owner[lid];

		t = t == GRAPH_NONE ? t : graph_switch_of(a->g, t);
		for (uint32_t s = 0; t != GRAPH_NONE && s < a->g->n_switches; s++) {
			uint32_t own = graph_port(a->g, a->g->switches[s], 0);
			uint32_t back = a->lids.of[own].base;

			n += !takes_cable(a, s, lid, port) &&
			     !takes_cable(a, t, back, port) &&
			     (lft_row(&a->out.lft, s)[lid] !=
			              lft_row(&b->out.lft, s)[lid] ||
			      lane_of(&a->out.lanes, s, lid) !=
			              lane_of(&b->out.lanes, s, lid));
		}
	}
	return n;
}

/* lash: a cable goes, and only what took it moves, while there are lanes for that. */
static const char *const lash_fabrics[] = {
	"torus 6x6 2", "torus 8x8 1", "torus 5x5x5 1", "mesh 6x6 2",
	"hypercube 5 2", "dragonfly 2 4 2", "jellyfish 24 6 3", "ft2 6 4 3",
};

START_TEST(lash_cable)
{
	const struct engine *e = engine_find("lash");
	const char *command = lash_fabrics[_i];
	uint32_t disturbed = 0;

	max_lanes = 8;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		const struct graph *g = fabric_make(command, 0, 1, arena);
		struct routed first = { .g = g }, less = { .g = g };
		bool *cut = arena_array(arena, g->n_ports, sizeof(*cut));
		uint64_t state = seed * 7577 + (unsigned)_i;
		uint32_t port = some_cable(g, &state);

		cut[port] = true;
		first.lids = lids_kept(g, g);
		less.g = fabric_without(g, NULL, cut, arena);
		less.lids = lids_kept(less.g, g);
		ck_assert_int_eq(route(e, &first, NULL), E_OK);
		ck_assert_int_eq(route(e, &less, &first), E_OK);
		check_proof(e, &less, command);
		disturbed += count_disturbed(&first, &less, port) > 0;
	}
	ck_assert_msg(disturbed == 0, "%s: others moved in %u runs", command, disturbed);
}
END_TEST

/* After a restart the lanes of switches without hosts are not known. The tables stay,
 * and each route has a lane. */
static const struct {
	const char *engine, *command;
} restarted[] = {
	{ "nue", "tree3 3 4 4 2 3" },    { "nue", "ft3 6" },
	{ "dfsssp", "tree3 3 4 4 2 3" }, { "lash", "ft3 6" },
	{ "dfsssp", "ft3 6" },           { "lash", "tree3 3 4 4 2 3" },
	{ "nue", "torus 4x4 2" },        { "dfsssp", "mesh 4x3 2" },
};

START_TEST(lanes_after_restart)
{
	const struct engine *e = engine_find(restarted[_i].engine);
	struct graph *g = fabric_make(restarted[_i].command, 0.05, 3, arena);
	struct routed first = { .g = g, .lids = lids_kept(g, g) }, again = first;
	const struct lanes *l = &again.out.lanes;

	max_lanes = 4;
	ck_assert_int_eq(route(e, &first, NULL), E_OK);
	for (uint32_t s = 0; s < g->n_switches && first.out.lanes.rows != NULL; s++) {
		if (g->host_first[s] == g->host_first[s + 1]) {
			memset(first.out.lanes.rows + s * first.out.lanes.stride,
			       LANE_UNKNOWN, first.out.lanes.stride);
		}
	}
	ck_assert_int_eq(route(e, &again, &first), E_OK);
	ck_assert_uint_eq(count_moved(&first, &again), 0);
	check_proof(e, &again, restarted[_i].command);
	for (uint32_t lid = 1; lid <= again.lids.top; lid++) {
		for (uint32_t s = 0; s < g->n_switches; s++) {
			ck_assert_msg(lft_row(&again.out.lft, s)[lid] == LFT_NO_ROUTE ||
			                      l->rule != 0 || lane_of(l, s, lid) < l->n,
			              "%s: switch %u to LID %u", restarted[_i].command, s,
			              lid);
		}
	}
}
END_TEST

/* A cable that comes back does not stay empty. lash: one that joins switches anew. */
START_TEST(cable_returns)
{
	const struct engine *e = engine_find(_i % 2 ? "lash" : "sssp");
	const struct graph *g =
		fabric_make(fabrics[_i / 2].command, fabrics[_i / 2].fail, 1, arena);
	struct routed less = { .g = g }, again = { .g = g };
	bool *cut = arena_array(arena, g->n_ports, sizeof(*cut));
	uint64_t state = 40 + (unsigned)_i;
	uint32_t port = some_cable(g, &state), n = 0;

	if (_i % 2 && !strcmp(fabrics[_i / 2].command, "ft2 3 5 2 2")) {
		return; /* parallel cables */
	}
	cut[port] = true;
	again.lids = lids_kept(g, g);
	less.g = fabric_without(g, NULL, cut, arena);
	less.lids = lids_kept(less.g, g);
	ck_assert_int_eq(route(e, &less, NULL), E_OK);
	ck_assert_int_eq(route(e, &again, &less), E_OK);
	for (uint32_t lid = 1; lid <= again.lids.top; lid++) {
		n += again.lids.owner[lid] != GRAPH_NONE && uses_cable(&again, lid, port);
	}
	ck_assert_msg(n > 0, "%s on %s: nobody takes a cable that came back", e->name,
	              fabrics[_i / 2].command);
}
END_TEST

/* Engines that count by places on whole trees: they need no earlier tables for it. */
static const struct {
	const char *engine, *command;
} placed[] = {
	{ "dmodc", "ft3 8" },           { "fattree", "ft3 8" },
	{ "dmodc", "ft2 12 6 4" },      { "fattree", "ft2 12 6 4" },
	{ "dmodc", "tree3 3 4 4 2 3" }, { "fattree", "tree3 3 4 4 2 3" },
	{ "ftree", "ft3 8" },           { "ftree", "ft2 12 6 4" },
	{ "ftree", "tree3 3 4 4 2 3" },
};

/* Likewise when all hosts of a leaf go: the entries of the other hosts are those they
 * were. */
START_TEST(one_leaf)
{
	const struct engine *e = engine_find(placed[_i].engine);
	const struct graph *g = fabric_make(placed[_i].command, 0, 1, arena);
	struct routed first = { .g = g, .lids = lids_kept(g, g) }, less;
	uint64_t state = 815;
	bool *gone = arena_array(arena, g->n_nodes, sizeof(*gone));
	uint32_t leaf = graph_switch_of(g, g->hosts[random_below(&state, g->n_hosts)]);

	for (uint32_t h = g->host_first[leaf]; h < g->host_first[leaf + 1]; h++) {
		gone[g->ports[g->hosts[h]].node] = true;
	}
	less.g = fabric_without(g, gone, NULL, arena);
	less.lids = lids_kept(less.g, g);
	ck_assert_int_eq(route(e, &first, NULL), E_OK);
	ck_assert_int_eq(route(e, &less, NULL), E_OK);
	for (uint32_t lid = 1; lid <= less.lids.top; lid++) {
		uint32_t owner = less.lids.owner[lid];

		for (uint32_t s = 0; s < g->n_switches; s++) {
			ck_assert_msg(owner == GRAPH_NONE ||
			                      less.g->ports[owner].num == 0 ||
			                      s == leaf ||
			                      lft_row(&first.out.lft, s)[lid] ==
			                              lft_row(&less.out.lft, s)[lid],
			              "%s on %s: LID %u moves", e->name,
			              placed[_i].command, lid);
		}
	}
}
END_TEST

START_TEST(by_place)
{
	const struct engine *e = engine_find(placed[_i].engine);
	const struct graph *g = fabric_make(placed[_i].command, 0, 1, arena);
	struct routed first = { .g = g, .lids = lids_kept(g, g) }, less;
	uint64_t state = 4711;

	ck_assert_int_eq(route(e, &first, NULL), E_OK);
	less.g = g;
	for (unsigned k = 0; k < 4; k++) {
		uint32_t moved;

		less.g = without_host(less.g, true, &state);
		less.lids = lids_kept(less.g, g);
		ck_assert_int_eq(route(e, &less, NULL), E_OK);
		moved = count_moved(&first, &less);
		ck_assert_msg(moved == 0, "%s on %s: %u LIDs move with %u hosts gone",
		              e->name, placed[_i].command, moved, k + 1);
	}
}
END_TEST

TEST_SUITE(stable)
{
	TCase *t = tcase_create("stable");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, one_host, 0,
	                    (int)(engine_count() * N_FABRICS) * test_seeds(SEEDS));
	tcase_add_loop_test(t, ftree_host_comes, 0, 3);
	tcase_add_loop_test(t, one_cable, 0, N_PATIENT * N_TREES * test_seeds(SEEDS));
	tcase_add_loop_test(t, lash_cable, 0,
	                    sizeof(lash_fabrics) / sizeof(*lash_fabrics));
	tcase_add_loop_test(t, lanes_after_restart, 0,
	                    sizeof(restarted) / sizeof(*restarted));
	tcase_add_loop_test(t, cable_returns, 0, 2 * N_TREES);
	tcase_add_loop_test(t, by_place, 0, sizeof(placed) / sizeof(*placed));
	tcase_add_loop_test(t, one_leaf, 0, sizeof(placed) / sizeof(*placed));
	suite_add_tcase(suite, t);
}
