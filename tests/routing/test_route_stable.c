/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The choice of the engine depends on the fabric alone: earlier tables are kept where they
 * can be, but they neither let an engine pass that would fail without them, nor make one
 * fail that would pass.
 */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "routing/engine_options.h"
#include "routing/route.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;

static void setup(void)
{
#ifdef _OPENMP
	/* Small fabrics, many tests at a time: threads that spin for work only get in the
	 * way. */
	omp_set_num_threads(1);
#endif
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* --- a fabric that hosts and cables leave and come back to -----------------------------
 */

struct life {
	const struct graph *all;
	bool *gone, *cut; /* nodes, ports */
	uint64_t seed;
	struct lid_memory *memory;
	size_t n_memory;
};

static int by_guid(const void *a, const void *b)
{
	const struct lid_memory *x = a, *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

static void life_init(struct life *f, const char *topo, double fail, uint32_t seed)
{
	struct lids l;

	f->all = fabric_make(topo, fail, seed, arena);
	f->gone = arena_alloc(arena, f->all->n_nodes);
	f->cut = arena_alloc(arena, f->all->n_ports);
	f->seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	f->memory = arena_array(arena, f->all->n_end_ports, sizeof(*f->memory));
	f->n_memory = f->all->n_end_ports;
	l = fabric_lids(f->all, 0, 0, arena);
	for (uint32_t i = 0; i < f->all->n_end_ports; i++) {
		uint32_t port = f->all->end_ports[i];

		f->memory[i] = (struct lid_memory){ .guid = f->all->ports[port].guid,
			                            .range = l.of[port] };
	}
	qsort(f->memory, f->n_memory, sizeof(*f->memory), by_guid);
}

/* One to three hosts or cables between switches leave or come back. */
static struct graph *life_step(struct life *f, struct arena *a)
{
	const struct graph *g = f->all;
	uint32_t n = 1 + random_below(&f->seed, 3);

	while (n-- > 0) {
		uint32_t i = random_below(&f->seed, g->n_ports);
		uint32_t peer = g->ports[i].peer;

		if (random_below(&f->seed, 2) && g->n_hosts > 1) {
			uint32_t h = 1 + random_below(&f->seed, g->n_hosts - 1);
			uint32_t node = g->ports[g->hosts[h]].node;

			f->gone[node] = !f->gone[node];
		} else if (peer != GRAPH_NONE &&
		           g->nodes[g->ports[i].node].type == NODE_SWITCH &&
		           g->nodes[g->ports[peer].node].type == NODE_SWITCH) {
			f->cut[i] = f->cut[peer] = !f->cut[i];
		}
	}
	return fabric_without(g, f->gone, f->cut, a);
}

static struct lids life_lids(const struct life *f, const struct graph *g, struct arena *a)
{
	struct lids_in in = { .g = g, .memory = f->memory, .n_memory = f->n_memory };
	struct lids l;

	ck_assert_int_eq(lids_assign(&in, a, NULL, &l, NULL, NULL), E_OK);
	return l;
}

/* Tables in the shape of other LIDs. */
static struct lft in_shape(const struct lft *from, const struct lids *l, struct arena *a)
{
	struct lft t;

	ck_assert_int_eq(lft_init(&t, from->n_switches, l->top, a), E_OK);
	for (uint32_t s = 0; s < t.n_switches; s++) {
		memcpy(lft_row(&t, s), lft_row(from, s),
		       t.n_lids < from->n_lids ? t.n_lids : from->n_lids);
	}
	return t;
}

static struct lanes lanes_in_shape(const struct lanes *from, const struct lft *t,
                                   struct arena *a)
{
	struct lanes l = { .n = from->n, .stride = t->stride };
	size_t n = from->stride < t->stride ? from->stride : t->stride;

	if (from->rows) {
		l.rows = arena_array(a, t->n_switches, t->stride);
		memset(l.rows, LANE_UNKNOWN, t->n_switches * t->stride);
		for (uint32_t s = 0; s < t->n_switches; s++) {
			memcpy(l.rows + s * t->stride, from->rows + s * from->stride, n);
		}
	}
	return l;
}

static uint64_t moved(const struct lft *was, const struct lft *is, const struct lids *l)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < is->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l->top; lid++) {
			n += l->owner[lid] != GRAPH_NONE &&
			     lft_row(was, s)[lid] != lft_row(is, s)[lid];
		}
	}
	return n;
}

/* --- tests
 * ------------------------------------------------------------------------------ */

static void same_choice(const struct route_result *cold, int cold_ret,
                        const struct route_result *warm, int warm_ret, const char *what,
                        unsigned step)
{
	ck_assert_msg(cold_ret == warm_ret, "%s, step %u: %d from nothing, %d (%s)", what,
	              step, cold_ret, warm_ret, warm->fallback_reason.text);
	if (cold_ret == E_OK) {
		ck_assert_msg(cold->used == warm->used,
		              "%s, step %u: %s from nothing, %s with earlier tables",
		              what, step, cold->used->name, warm->used->name);
		ck_assert_str_eq(cold->fallback_reason.text, warm->fallback_reason.text);
	}
}

/* clang-format off */
static const struct {
	const char *topo;
	double fail;
} fabrics[] = {
	{ "ft2 6 4 3 2", 0.1 },
	{ "ft3 4", 0 },
	{ "tree3 3 3 3 2 2", 0.02 },
	{ "ft3 4", 0.2 },
	{ "ft3 6", 0.15 },
	{ "tree3 3 3 3 2 2", 0.2 },
	{ "tree3 4 3 2 3 2 --spine-hosts=3", 0.1 },
	{ "torus 4x3 2", 0.1 },
	{ "mesh 4x3 2", 0.1 },
	{ "jellyfish 10 4 2", 0.1 },
};
static const char *const lists[] = {
	"", "fattree", "updn minhop", "sssp", "ftree dor minhop", "deadlockfree",
	"minhop deadlockfree", "lash,no_fallback", "dfsssp", "shortestpath,no_fallback",
};
/* clang-format on */

enum {
	FABRICS = sizeof(fabrics) / sizeof(fabrics[0]),
	LISTS = sizeof(lists) / sizeof(lists[0]),
	STEPS = 6
};

/* The tables of each step are the earlier ones of the next. */
START_TEST(as_from_nothing)
{
	const char *list = lists[_i % LISTS];
	struct route_memory memory = { 0 };
	struct lft last = { .rows = NULL };
	struct lanes last_lanes = { .n = 0 };
	uint64_t kept = 0, anew = 0;
	struct why why = { "" };
	struct life f;

	life_init(&f, fabrics[_i / LISTS].topo, fabrics[_i / LISTS].fail,
	          1 + (uint32_t)_i);
	for (unsigned step = 0; step < STEPS; step++) {
		struct graph *g = life_step(&f, arena);
		struct lids l = life_lids(&f, g, arena);
		struct route_request r = { .g = g,
			                   .lids = &l,
			                   .max_lanes = _i % 3 ? 0 : 2 };
		struct route_result cold, warm;
		struct lft prev;
		struct lanes prev_lanes;
		int cold_ret, warm_ret;

		ck_assert_int_eq(route_list_parse(list, &r.list, &why), E_OK);
		cold_ret = route_run(&r, arena, &cold);
		if (last.rows) {
			prev = in_shape(&last, &l, arena);
			memory.tables = &prev;
			memory.lanes = NULL;
			if (last_lanes.n && !last_lanes.rule) {
				prev_lanes = lanes_in_shape(&last_lanes, &prev, arena);
				memory.lanes = &prev_lanes;
			}
		}
		r.memory = &memory;
		for (unsigned again = 0; again < 2; again++) {
			warm_ret = route_run(&r, arena, &warm);
			same_choice(&cold, cold_ret, &warm, warm_ret,
			            fabrics[_i / LISTS].topo, step);
		}
		if (warm_ret == E_OK && memory.tables) {
			kept += moved(&prev, &warm.out.lft, &l);
			anew += moved(&prev, &cold.out.lft, &l);
		}
		if (warm_ret == E_OK) {
			last = warm.out.lft;
			last_lanes = warm.out.lanes;
		}
	}
	ck_assert_msg(kept <= anew, "%s, %s: %llu entries moved, %llu from nothing",
	              fabrics[_i / LISTS].topo, list, (unsigned long long)kept,
	              (unsigned long long)anew);
}
END_TEST

static struct lft noise_tables(const struct graph *g, const struct lids *l,
                               uint64_t *seed)
{
	struct lft t;

	ck_assert_int_eq(lft_init(&t, g->n_switches, l->top, arena), E_OK);
	for (uint32_t s = 0; s < t.n_switches; s++) {
		for (uint32_t lid = 1; lid <= l->top; lid++) {
			lft_row(&t, s)[lid] = (uint8_t)random_below(seed, 12);
		}
	}
	return t;
}

/* Tables of any other engine, or of nobody, as the earlier ones. */
START_TEST(after_any_tables)
{
	const char *list = lists[_i % 4 * 3];
	struct why why = { "" };
	struct life f;

	life_init(&f, fabrics[_i / 4].topo, fabrics[_i / 4].fail, 77 + (uint32_t)_i);
	struct graph *g = life_step(&f, arena);
	struct lids l = life_lids(&f, g, arena);
	struct route_request r = { .g = g, .lids = &l };
	struct route_result cold, warm, other;
	struct lft noise = noise_tables(g, &l, &f.seed);

	ck_assert_int_eq(route_list_parse(list, &r.list, &why), E_OK);
	int cold_ret = route_run(&r, arena, &cold);

	struct route_memory memory = { .tables = &noise };

	r.memory = &memory;
	int warm_ret = route_run(&r, arena, &warm);
	same_choice(&cold, cold_ret, &warm, warm_ret, "noise", 0);
	for (const struct engine *const *e = engines; *e; e++) {
		struct route_request own = { .g = g, .lids = &l };

		own.list = (struct route_list){ .engine = { *e }, .n = 1 };
		if (route_run(&own, arena, &other) != E_OK) {
			continue;
		}
		memory = (struct route_memory){ .tables = &other.out.lft,
			                        .lanes = other.out.lanes.rule ? NULL : &other.out.lanes };
		warm_ret = route_run(&r, arena, &warm);
		same_choice(&cold, cold_ret, &warm, warm_ret, (*e)->name, 0);
	}
}
END_TEST

/* An engine that says that it ignores earlier tables does. */
START_TEST(ignores)
{
	struct life f;

	life_init(&f, fabrics[_i].topo, fabrics[_i].fail, 5 + (uint32_t)_i);
	struct graph *g = life_step(&f, arena);
	struct lids l = life_lids(&f, g, arena);

	for (const struct engine *const *e = engines; *e; e++) {
		struct route_in in = { .g = g, .lids = &l, .max_lanes = 8 };
		struct route_out cold = { .lanes = { 0 } }, warm = { .lanes = { 0 } };
		struct engine_options o;
		struct why why = { "" };
		struct lft noise;

		if (!((*e)->flags & ENGINE_IGNORES_PREV)) {
			continue;
		}
		ck_assert_int_eq(engine_options_init(&o, arena), E_OK);
		ck_assert_int_eq(option_set_defaults(&o.sets, arena), E_OK);
		in.options = o.base[e - engines];
		if (((*e)->check && (*e)->check(&in, &why) != E_OK) ||
		    (*e)->route(&in, arena, &cold) != E_OK) {
			continue;
		}
		noise = noise_tables(g, &l, &f.seed);
		in.prev = &noise;
		ck_assert_int_eq((*e)->route(&in, arena, &warm), E_OK);
		ck_assert_uint_eq(cold.lft.stride, warm.lft.stride);
		ck_assert_msg(memcmp(cold.lft.rows, warm.lft.rows,
		                     cold.lft.n_switches * cold.lft.stride) == 0,
		              "%s on %s", (*e)->name, fabrics[_i].topo);
	}
}
END_TEST

static unsigned n_refused;

static int refuse(const struct route_in *in, struct why *why)
{
	(void)in;
	n_refused++;
	why_add(why, "sour: no");
	return E_UNSUITABLE;
}

static const struct engine sour = { .name = "sour", .check = refuse };

/* While nothing changes, engines that failed are not tried again. */
START_TEST(tried_once)
{
	struct route_memory memory = { 0 };
	struct route_result result;
	struct life f;

	n_refused = 0;
	life_init(&f, "ft3 4", 0, 1);
	for (unsigned step = 0; step < 3; step++) {
		struct graph *g = life_step(&f, arena);
		struct lids l = life_lids(&f, g, arena);
		struct route_request r = { .g = g, .lids = &l, .memory = &memory };

		r.list = (struct route_list){ .engine = { &sour }, .n = 1 };
		for (unsigned again = 0; again < 3; again++) {
			ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
			ck_assert_str_eq(result.used->name, "minhop");
			ck_assert_str_eq(result.fallback_reason.text, "sour: no");
			ck_assert_uint_eq(n_refused, step + 1);
		}
		r.max_lanes = 2; /* other lanes, another question */
		ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
		ck_assert_uint_eq(n_refused, step + 2);
		n_refused = step + 1;
	}
}
END_TEST

/* Tables that are said to pass with any earlier ones of which the rule keeps some do. */
START_TEST(promise)
{
	static const char *const trees[] = { "ft3 4", "ft2 5 4 3", "tree3 4 3 2 3 2",
		                             "tree3 3 3 3 2 2 --spine-hosts=4",
		                             "director 4 2 2 3 2" };
	const struct engine *minhop = engine_find("minhop");
	unsigned n = 0;

	for (uint32_t seed = 1; seed <= 24; seed++) {
		struct life f;
		struct route_out out = { .lanes = { 0 } };
		struct proof proof;

		life_init(&f, trees[_i], seed % 3 ? 0.02 * seed : 0, seed);
		struct graph *g = life_step(&f, arena);
		struct lids l = life_lids(&f, g, arena);
		struct lft noise = noise_tables(g, &l, &f.seed);
		struct route_in in = {
			.g = g,
			.lids = &l,
			.prev = &noise,
			.keep_by_rule = true,
			.max_lanes = 8
		};

		ck_assert_int_eq(minhop->route(&in, arena, &out), E_OK);
		if (out.passes_always) {
			n++;
			ck_assert_int_eq(
				proof_run(g, &l, &out.lft, &out.lanes, arena, &proof),
				E_OK);
			ck_assert(proof_passed(&proof, false));
		}
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

TEST_SUITE(route_stable)
{
	TCase *t = tcase_create("choice");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, as_from_nothing, 0, FABRICS * LISTS);
	tcase_add_loop_test(t, after_any_tables, 0, FABRICS * 4);
	tcase_add_test(t, tried_once);
	tcase_add_loop_test(t, promise, 0, 5);
	tcase_add_loop_test(t, ignores, 0, FABRICS);
	suite_add_tcase(suite, t);
}
