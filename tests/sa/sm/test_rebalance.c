/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A cable that was out and is back carries its share again: once the fabric is quiet, the
 * tables are those of a fresh start. Nothing of that happens in a fabric in motion, and
 * nothing twice.
 */
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { PERIOD_MS = 10000, QUIET = 6 };

static struct sweep_fixture *fixture;

static void teardown(void)
{
	if (fixture != NULL) {
		fixture_free(fixture);
		fixture = NULL;
	}
}

static unsigned n_fresh; /* routings that got no earlier tables */

static int watched_route(const struct route_in *in, struct arena *a,
                         struct route_out *ret_out)
{
	n_fresh += in->prev == NULL;
	return engine_find("minhop")->route(in, a, ret_out);
}

/* minhop on trees is free of deadlock, so it runs once in each routing. */
static const struct engine engine_watched = { .name = "watched",
	                                      .flags = ENGINE_DEADLOCK_FREE,
	                                      .route = watched_route };

static void start(const char *topo, const char *list, unsigned mode, uint32_t gain)
{
	struct why why = { "" };

	if (fixture == NULL) {
		fixture = fixture_new();
	}
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.rebalance = mode;
	fixture->config.rebalance_quiet = QUIET * PERIOD_MS / 1000;
	fixture->config.rebalance_gain = gain;
	if (list != NULL) {
		ck_assert_int_eq(route_list_parse(list, &fixture->deps.list, &why), E_OK);
	} else {
		fixture->deps.list =
			(struct route_list){ .engine = { &engine_watched }, .n = 1 };
	}
	n_fresh = 0;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_up(fixture);
}

static void periods(unsigned n)
{
	fixture_run_ms(fixture, (uint64_t)n * PERIOD_MS);
	fixture_up(fixture);
}

/* The cable at adjacency i of the fabric. */
static void set_cable(uint32_t i, bool up)
{
	const struct graph *g = fixture->g;
	uint32_t s = 0;

	while (g->adj_first[s + 1] <= i) {
		s++;
	}
	ck_assert_int_eq(sim_set_link(fixture->sim, g->nodes[g->switches[s]].guid,
	                              g->adj[i].port, up),
	                 E_OK);
}

static void out_and_in(uint32_t cable)
{
	set_cable(cable, false);
	periods(2);
	set_cable(cable, true);
	periods(2);
}

/* The tables of the sweep's engines without earlier tables. */
static void route_cold(struct arena *a, struct route_result *ret_result)
{
	struct route_request cold = sweep_job(fixture->sweep)->request;

	cold.memory = NULL;
	cold.cancel = NULL;
	ck_assert_int_eq(route_run(&cold, a, ret_result), E_OK);
}

/* Are the tables of the last sweep those of a fresh start? */
static bool is_cold(const struct route_result *cold)
{
	const struct job *j = sweep_job(fixture->sweep);
	const struct lft *t = &j->route.out.lft;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		if (memcmp(lft_row(t, s), lft_row(&cold->out.lft, s), t->n_lids) != 0) {
			return false;
		}
	}
	return true;
}

/* clang-format off */
static const struct {
	const char *topo, *list;
} lives[] = {
	{ "ft2 6 6 3",       "minhop" },
	{ "ft2 4 6 3 2",     "updn" },
	{ "ft3 4",           "ftree" },
	{ "tree3 3 3 3 2 2", "minhop" },
	{ "ft3 4",           "dmodc" },
	{ "torus 4x3 2",     "dfsssp" },
};
/* clang-format on */

START_TEST(as_fresh_when_quiet)
{
	uint64_t seed = 0x5eed + (uint64_t)_i;

	start(lives[_i].topo, lives[_i].list, REBALANCE_AUTO, 1);
	for (unsigned step = 0; step < 6; step++) {
		const struct graph *g = fixture->g;
		struct arena *a = arena_new();
		struct route_result cold;
		uint32_t heavy;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		out_and_in((uint32_t)((seed >> 33) % g->adj_first[g->n_switches]));
		periods(2 * QUIET);
		route_cold(a, &cold);
		const struct load *load = &sweep_job(fixture->sweep)->route.load;

		ck_assert_msg(
			load_gain(load, &cold.load).percent < 1,
			"step %u: %u routes on the busiest link, a fresh start has %u",
			step, load->max, cold.load.max);
		ck_assert_msg(load_gain(load, &cold.load).filled == 0,
		              "step %u: %u links are nearly idle", step,
		              load_gain(load, &cold.load).filled);
		heavy = sweep_status(fixture->sweep)->heavy_sweeps;
		periods(3 * QUIET);
		ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
		arena_free(a);
	}
}
END_TEST

/* The case of the manual: one of three spines loses a cable, and it comes back. */
START_TEST(cable_takes_its_share_back)
{
	struct arena *a = arena_new();
	struct route_result cold;
	uint32_t max, heavy;
	uint64_t sets;

	start("ft2 6 6 3", NULL, REBALANCE_AUTO, 20);
	ck_assert_uint_eq(n_fresh, 1);
	max = sweep_status(fixture->sweep)->routes_per_link_max;
	out_and_in(0);
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	ck_assert_uint_gt(sweep_status(fixture->sweep)->routes_per_link_max, max);
	ck_assert_uint_eq(n_fresh, 1);
	periods(QUIET);
	route_cold(a, &cold);
	ck_assert(is_cold(&cold));
	ck_assert_uint_eq(sweep_status(fixture->sweep)->routes_per_link_max, max);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy + 1);
	ck_assert_uint_ge(sweep_job(fixture->sweep)->transition.changed, 1);
	sets = sweep_status(fixture->sweep)->lft_sets;
	n_fresh = 0;
	periods(5 * QUIET);
	ck_assert_uint_eq(n_fresh, 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy + 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->lft_sets, sets);
	arena_free(a);
}
END_TEST

static uint64_t spine_guid(void)
{
	const struct graph *g = fixture->g;
	uint32_t s = 0;

	while (g->host_first[s] != g->host_first[s + 1]) {
		s++;
	}
	return g->nodes[g->switches[s]].guid;
}

/* clang-format off */
static const struct {
	const char *topo, *list;
	bool spine, at_once; /* at_once: a whole tree has the same routes whatever was before */
} returned[] = {
	{ "ft2 6 6 3",   "minhop", true, false },  { "ft2 6 6 3",   "dmodc", true, true },
	{ "ft2 6 6 3",   "minhop", false, false }, { "ft2 6 6 3",   "dmodc", false, false },
	{ "ft2 6 8 4 2", "updn",   true, false },  { "ft2 6 8 4 2", "minhop", false, false },
};
/* clang-format on */

/* A spine or a cable that is back is used again, however little that eases the busiest links, and
 * the log says what was gained. */
START_TEST(no_link_stays_idle)
{
	struct load before;
	uint64_t guid;
	uint32_t idle;

	start(returned[_i].topo, returned[_i].list, REBALANCE_AUTO, 99);
	before = sweep_job(fixture->sweep)->route.load;
	ck_assert_uint_eq(before.idle, 0);
	fixture_log(fixture);
	if (returned[_i].spine) {
		guid = spine_guid();
		ck_assert_int_eq(sim_set_node(fixture->sim, guid, false), E_OK);
		periods(2);
		ck_assert_int_eq(sim_set_node(fixture->sim, guid, true), E_OK);
		periods(2);
	} else {
		out_and_in(0);
	}
	idle = sweep_job(fixture->sweep)->route.load.idle;
	periods(2 * QUIET);
	ck_assert_uint_eq(sweep_job(fixture->sweep)->route.load.idle, 0);
	ck_assert_uint_eq(sweep_job(fixture->sweep)->route.load.max, before.max);
	if (returned[_i].at_once) {
		ck_assert_uint_eq(idle, 0);
		return;
	}
	ck_assert_uint_gt(idle, 0);
	ck_assert_uint_ge(
		fixture_logged(fixture, "rebalance: routes on the busiest link"), 1);
	ck_assert_uint_ge(fixture_logged(fixture, "links without routes"), 1);
	ck_assert_uint_eq(fixture_logged(fixture, "move now, because the option rebalance is auto"), 1);
}
END_TEST

/* An operator's order does not call routes balanced while links are idle. */
START_TEST(order_fills_idle_links)
{
	start("ft2 6 6 3", "minhop", REBALANCE_NEVER, 99);
	out_and_in(0);
	ck_assert_uint_gt(sweep_job(fixture->sweep)->route.load.idle, 0);
	fixture_log(fixture);
	sweep_request_rebalance(fixture->sweep, NULL);
	periods(1);
	ck_assert_uint_eq(sweep_job(fixture->sweep)->route.load.idle, 0);
	ck_assert_uint_eq(fixture_logged(fixture, "balanced"), 0);
}
END_TEST

static const uint32_t intervals[] = { 0, 1, 1000 };

/* The quiet time is one of the clock, whatever the time between sweeps. */
START_TEST(quiet_time_is_seconds)
{
	uint32_t idle;

	start("ft2 6 6 3", NULL, REBALANCE_AUTO, 1);
	fixture->config.sweep_interval = intervals[_i];
	out_and_in(0);
	idle = sweep_job(fixture->sweep)->route.load.idle;
	ck_assert_uint_gt(idle, 0);
	periods(QUIET - 4);
	ck_assert_uint_eq(sweep_job(fixture->sweep)->route.load.idle, idle);
	periods(4);
	ck_assert_uint_eq(sweep_job(fixture->sweep)->route.load.idle, 0);
}
END_TEST

START_TEST(not_in_motion)
{
	start("ft2 6 6 3", NULL, REBALANCE_AUTO, 1);
	for (unsigned i = 0; i < 4 * QUIET; i++) {
		set_cable(0, i % 2);
		periods(2);
	}
	ck_assert_uint_eq(n_fresh, 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->routes_per_link_fresh, 0);
}
END_TEST

/* A cable is pulled between the comparison and the sweep that follows from it. */
START_TEST(not_for_another_fabric)
{
	const struct sweep_status *st;
	uint64_t turns = 0;

	start("ft2 6 6 3", NULL, REBALANCE_AUTO, 1);
	out_and_in(0);
	do {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		st = sweep_status(fixture->sweep);
		ck_assert_uint_lt(++turns, FIXTURE_TURNS);
	} while (st->routes_per_link_fresh == 0);
	ck_assert_uint_lt(st->routes_per_link_fresh, st->routes_per_link_max);
	set_cable(5, false);
	n_fresh = 0;
	periods(2);
	ck_assert_uint_eq(n_fresh, 0);
}
END_TEST

START_TEST(asks_first)
{
	const struct sweep_status *st;
	uint32_t heavy;

	start("ft2 6 6 3", NULL, REBALANCE_ASK, 20);
	fixture_log(fixture);
	out_and_in(0);
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	periods(5 * QUIET);
	st = sweep_status(fixture->sweep);
	ck_assert_uint_eq(st->heavy_sweeps, heavy);
	ck_assert_uint_gt(st->routes_per_link_fresh, 0);
	ck_assert_uint_lt(st->routes_per_link_fresh, st->routes_per_link_max);
	ck_assert_uint_eq(n_fresh, 2);
	ck_assert_uint_eq(fixture_logged(fixture, "LIDs would move: routes on the busiest link"), 1);
	ck_assert_uint_eq(fixture_logged(fixture, "'saguaro rebalance' moves them"), 1);
	ck_assert_uint_eq(fixture_logged(fixture, "move now"), 0);
	sweep_request_rebalance(fixture->sweep, NULL);
	periods(1);
	st = sweep_status(fixture->sweep);
	ck_assert_uint_eq(st->heavy_sweeps, heavy + 1);
	ck_assert_uint_eq(st->routes_per_link_fresh, st->routes_per_link_max);
}
END_TEST

START_TEST(never)
{
	uint32_t max;

	start("ft2 6 6 3", NULL, REBALANCE_NEVER, 1);
	out_and_in(0);
	max = sweep_status(fixture->sweep)->routes_per_link_max;
	periods(5 * QUIET);
	ck_assert_uint_eq(n_fresh, 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->routes_per_link_fresh, 0);
	sweep_request_rebalance(fixture->sweep, NULL); /* an order counts all the same */
	periods(1);
	ck_assert_uint_lt(sweep_status(fixture->sweep)->routes_per_link_max, max);
}
END_TEST

/* With the cache the tables that were adopted are the ones that serve on. */
START_TEST(cache_has_the_new_tables)
{
	uint32_t max;

	start("ft2 6 6 3", NULL, REBALANCE_NEVER, 1);
	max = sweep_status(fixture->sweep)->routes_per_link_max;
	fixture->config.use_ucast_cache = true;
	out_and_in(0);
	sweep_request_rebalance(fixture->sweep, NULL);
	periods(1);
	for (unsigned i = 0; i < 3; i++) {
		sweep_request_heavy(fixture->sweep);
		periods(1);
		ck_assert_uint_eq(sweep_status(fixture->sweep)->routes_per_link_max, max);
	}
	ck_assert_uint_gt(sweep_status(fixture->sweep)->cache_hits, 0);
}
END_TEST

/* Routes with credit loops, which the operator allows, can be left in no order that is safe: they
 * stay, also when an operator asks, and the event says why. */
START_TEST(no_safe_order)
{
	const uint8_t *before;
	uint32_t max;

	fixture = fixture_new();
	fixture->config.credit_loops = CREDIT_PROGRAM;
	start("torus 4x4 2", "minhop", REBALANCE_NEVER, 1);
	out_and_in(0);
	max = sweep_status(fixture->sweep)->routes_per_link_max;
	before = fixture_tables(fixture);
	fixture_log(fixture);
	sweep_request_rebalance(fixture->sweep, NULL);
	periods(1);
	ck_assert_uint_eq(
		fixture_logged(
			fixture,
			"rebalance: the routes stay: no order of updates is safe: the old tables alone have a credit loop"),
		1);
	ck_assert_mem_eq(fixture_tables(fixture), before,
	                 (size_t)fixture->g->n_switches * 64);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->routes_per_link_max, max);
	fixture_up(fixture);
}
END_TEST

TEST_SUITE(rebalance)
{
	TCase *t = tcase_create("rebalance");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, as_fresh_when_quiet, 0, sizeof(lives) / sizeof(lives[0]));
	tcase_add_test(t, cable_takes_its_share_back);
	tcase_add_loop_test(t, no_link_stays_idle, 0,
	                    sizeof(returned) / sizeof(returned[0]));
	tcase_add_test(t, order_fills_idle_links);
	tcase_add_loop_test(t, quiet_time_is_seconds, 0,
	                    sizeof(intervals) / sizeof(intervals[0]));
	tcase_add_test(t, not_in_motion);
	tcase_add_test(t, not_for_another_fabric);
	tcase_add_test(t, asks_first);
	tcase_add_test(t, never);
	tcase_add_test(t, cache_has_the_new_tables);
	tcase_add_test(t, no_safe_order);
	suite_add_tcase(suite, t);
}
