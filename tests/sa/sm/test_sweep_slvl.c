/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * SL-to-VL tables by wildcards: switches end up with the very tables that they get one by
 * one, in fewer requests, and ports that carry packets never have a wrong one meanwhile.
 * The tables of ports are read out of the simulation.
 */
#include "sa/mad/wire.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

static struct sweep_fixture *fixture, *other;

static void teardown(void)
{
	if (other != NULL) {
		fixture_free(other);
		other = NULL;
	}
	if (fixture != NULL) {
		fixture_free(fixture);
		fixture = NULL;
	}
}

static unsigned lanes_dealt = 3;

/* minhop with its routes dealt out over lanes. */
static int deal_lanes(const struct route_in *in, struct arena *a,
                      struct route_out *ret_out)
{
	int ret = engine_find("minhop")->route(in, a, ret_out);
	struct lft *t = &ret_out->lft;

	ck_assert_int_eq(ret, E_OK);
	ret_out->lanes = (struct lanes){ .rows = arena_array(a, t->n_switches, t->stride),
		                         .stride = t->stride,
		                         .n = (uint8_t)lanes_dealt };
	for (size_t i = 0; i < t->n_switches * t->stride; i++) {
		ret_out->lanes.rows[i] = (uint8_t)(i % lanes_dealt);
	}
	return E_OK;
}

static const struct engine dealer = { .name = "dealer",
	                              .flags = ENGINE_NEEDS_LANES,
	                              .route = deal_lanes };

static void set_option(struct sweep_fixture *r, const char *key, const char *value)
{
	ck_assert_int_eq(option_set(&r->sets, r->a, key, value, "test", 1, &r->diags),
	                 E_OK);
}

static struct sweep_fixture *fixture_engine(const char *topo, double fail, uint32_t seed,
                                            const struct engine *e)
{
	struct sweep_fixture *r = fixture_new();

	fixture_topo(r, topo, fail, seed);
	r->deps.list = (struct route_list){ .engine = { e }, .n = 1 };
	r->config.credit_loops = CREDIT_PROGRAM;
	log_set_level((enum log_level) - 1);
	return r;
}

static uint64_t map_sets(const struct sweep_fixture *r)
{
	return sim_count(r->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_SLVL_TABLE);
}

/* --- what switches hold --------------------------------------------------------------
 */

static bool cabled(const struct graph *g, uint32_t node, unsigned num)
{
	return g->ports[graph_port(g, node, num)].peer != GRAPH_NONE;
}

static uint64_t map_of(const struct sweep_fixture *r, uint32_t node, unsigned in,
                       unsigned out)
{
	uint8_t data[64];

	ck_assert_int_eq(sim_peek(r->sim, r->g->nodes[node].guid, UMAD_SM_ATTR_SLVL_TABLE,
	                          in << 8 | out, data),
	                 E_OK);
	return field_get(data, 0, 64);
}

typedef void each_map_f(uint32_t node, unsigned in, unsigned out, size_t i);

/* Tables of pairs of ports with cables, and of port 0 as a way in. \return How many. */
static size_t each_map(const struct graph *g, each_map_f *f)
{
	size_t n = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t node = g->switches[s];

		for (unsigned out = 1; out <= g->nodes[node].n_ports; out++) {
			for (unsigned in = 0; in <= g->nodes[node].n_ports; in++) {
				if (cabled(g, node, out) &&
				    (in == 0 || cabled(g, node, in))) {
					f(node, in, out, n++);
				}
			}
		}
	}
	return n;
}

static void same_in_both(uint32_t node, unsigned in, unsigned out, size_t i)
{
	(void)i;
	ck_assert_msg(map_of(fixture, node, in, out) == map_of(other, node, in, out),
	              "switch %u, from port %u to %u", node, in, out);
}

/* --- tests -----------------------------------------------------------------------------
 */

/* clang-format off */
static const struct {
	const char *topo, *engine; /* NULL: lanes dealt out */
	double fail;
	bool mixed; /* hosts with any number of VLs */
} fabrics[] = {
	{ "ft2 6 6 3", NULL, 0, false },
	{ "ft2 6 6 3", NULL, 0.2, true },
	{ "jellyfish 8 4 3", NULL, 0.1, true },
	{ "torus 5x3 1", "torus-2QoS", 0, false },
	{ "torus 4x4 2", "torus-2QoS", 0, false },
	{ "ft3 4", "dfsssp", 0.1, true },
};
/* clang-format on */

/* Brings it up and returns the Sets that this took. */
static uint64_t bring_up(struct sweep_fixture *r, uint32_t seed)
{
	fixture_sim(r, seed, 0);
	fixture_start(r);
	fixture_heavy(r, 1);
	ck_assert_msg(sweep_status(r->sweep)->up, "%s",
	              sweep_status(r->sweep)->not_ready);
	return map_sets(r);
}

static struct sweep_fixture *fixture_case(int i, uint32_t seed)
{
	const struct engine *e =
		fabrics[i].engine ? engine_find(fabrics[i].engine) : &dealer;
	struct sweep_fixture *r =
		fixture_engine(fabrics[i].topo, fabrics[i].fail, seed, e);
	uint32_t draw = seed * 2654435761u + 1;

	for (uint32_t h = 0; fabrics[i].mixed && h < r->g->n_hosts; h++) {
		draw = draw * 1664525u + 1013904223u;
		r->g->ports[r->g->hosts[h]].vls = (uint8_t)(1 + (draw >> 24) % 4);
	}
	if (seed % 2) {
		set_option(r, "qos_sl2vl", "1,0,3,2,0,0,0,0,0,0,0,0,0,0,0,15");
	}
	return r;
}

START_TEST(same_tables)
{
	for (uint32_t seed = 1; seed <= 2; seed++) {
		uint64_t some, all;

		fixture = fixture_case(_i, seed);
		other = fixture_case(_i, seed);
		other->slvl_one_by_one = seed % 2;
		other->config.use_optimized_slvl = seed % 2;
		some = bring_up(fixture, seed);
		all = bring_up(other, seed);
		each_map(fixture->g, same_in_both);
		ck_assert_uint_lt(some, all);
		if (!fabrics[_i].mixed && fabrics[_i].engine == NULL) {
			ck_assert_uint_eq(some,
			                  fixture->g->n_switches + fixture->g->n_hosts);
		}
		/* and all of it is known: nothing is sent again */
		sweep_request_heavy(fixture->sweep);
		fixture_heavy(fixture, 2);
		ck_assert_uint_eq(map_sets(fixture), some);
		teardown();
	}
}
END_TEST

enum { MAPS_MAX = 4096, STATES_MAX = 4000 };

static uint64_t states[STATES_MAX][MAPS_MAX];
static size_t n_states;

static void note_map(uint32_t node, unsigned in, unsigned out, size_t i)
{
	ck_assert_uint_lt(i, MAPS_MAX);
	states[n_states][i] = map_of(fixture, node, in, out);
}

/* While packets flow every table is the old one or the new one. Known tables, a daemon
 * that knows none, an engine with a rule of its own. */
START_TEST(never_wrong)
{
	uint64_t sets;
	size_t n;

	fixture = fixture_engine(_i == 2 ? "torus 3x3 1" : "ft2 3 3 2", 0, 0, &dealer);
	fixture->g->ports[fixture->g->hosts[1]].vls = 1;
	fixture->g->ports[fixture->g->hosts[4]].vls = 2;
	fixture->config.qos = QOS_ON;
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	lanes_dealt = 2;
	sets = bring_up(fixture, 1);
	n_states = 0;
	n = each_map(fixture->g, note_map);
	n_states++;
	lanes_dealt = 5;
	if (_i == 1) {
		fixture_stop(fixture);
		fixture_start(fixture);
	} else if (_i == 2) {
		fixture->deps.list.engine[0] = engine_find("torus-2QoS");
		sweep_reconfigure(fixture->sweep, &fixture->deps);
	}
	sweep_request_heavy(fixture->sweep);
	for (uint32_t end = _i == 1 ? 1 : 2;
	     sweep_status(fixture->sweep)->heavy_sweeps < end;) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		if (map_sets(fixture) != sets && n_states < STATES_MAX) {
			sets = map_sets(fixture);
			(void)each_map(fixture->g, note_map);
			n_states++;
		}
	}
	(void)each_map(fixture->g, note_map);
	ck_assert_uint_gt(n_states, 3);
	ck_assert_uint_lt(n_states, STATES_MAX);
	for (size_t k = 1; k < n_states; k++) {
		for (size_t i = 0; i < n; i++) {
			ck_assert(states[k][i] == states[0][i] ||
			          states[k][i] == states[n_states][i]);
		}
	}
	lanes_dealt = 3;
}
END_TEST

/* --- switches that say more than they do ----------------------------------------------
 */

static struct {
	uint64_t tid, mod;
} changed[1024];
static bool refuses;

/* Passes a wildcard on as the request for one table, or as one that is refused. */
static void break_promise(uint8_t *mad)
{
	uint64_t mod = field_get(mad, MAD_ATTR_MOD), tid = field_get(mad, MAD_TID);

	if (field_get(mad, MAD_ATTR_ID) != UMAD_SM_ATTR_SLVL_TABLE ||
	    !(mod & SLVL_ALL_IN)) {
		return;
	}
	changed[tid % 1024].tid = tid;
	changed[tid % 1024].mod = mod;
	field_set(mad, MAD_ATTR_MOD,
	          refuses              ? 0xffff
	          : mod & SLVL_ALL_OUT ? 1
	                               : mod & 0xff);
}

/* Its answer is one to the wildcard. */
static void keep_face(uint8_t *mad)
{
	uint64_t tid = field_get(mad, MAD_TID);

	if (field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SLVL_TABLE &&
	    changed[tid % 1024].tid == tid && changed[tid % 1024].mod) {
		field_set(mad, MAD_ATTR_MOD, changed[tid % 1024].mod);
	}
}

START_TEST(empty_promises)
{
	static struct tap tap; /* until stop() */

	other = fixture_case(1, 3);
	other->slvl_one_by_one = true;
	bring_up(other, 1);
	fixture = fixture_case(1, 3);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	tap.out_filter = break_promise;
	tap.in_filter = keep_face;
	refuses = _i;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "%s",
	              sweep_status(fixture->sweep)->not_ready);
	each_map(fixture->g, same_in_both);
	ck_assert_uint_gt(map_sets(fixture), map_sets(other));
	fixture_stop(fixture);
}
END_TEST

/* Lost packets: in the end all tables are right. */
START_TEST(drops)
{
	other = fixture_case(1, (uint32_t)_i + 1);
	bring_up(other, 1);
	fixture = fixture_case(1, (uint32_t)_i + 1);
	fixture_sim(fixture, 77u + (uint32_t)_i, 100000);
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 30000);
	sim_set_drop(fixture->sim, 0);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, sweep_status(fixture->sweep)->heavy_sweeps + 1);
	fixture_up(fixture);
	each_map(fixture->g, same_in_both);
}
END_TEST

TEST_SUITE(sweep_slvl)
{
	TCase *t = tcase_create("slvl");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, same_tables, 0, sizeof(fabrics) / sizeof(fabrics[0]));
	tcase_add_loop_test(t, never_wrong, 0, 3);
	tcase_add_loop_test(t, empty_promises, 0, 2);
	tcase_add_loop_test(t, drops, 0, 6);
	suite_add_tcase(suite, t);
}
