/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What the routing of one sweep gets from the sweep before it, over the simulated fabric.
 */
#include "routing/graph/lids.h"
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

static struct sweep_fixture *fixture;

static void teardown(void)
{
	if (fixture != NULL) {
		fixture_free(fixture);
		fixture = NULL;
	}
}

/* --- an engine that keeps what it was given ---------------------------------------- */

enum { TABLE_MAX = 1 << 16 };

static struct {
	unsigned runs, lanes; /* lanes: of its tables, 0 or 1: minhop's own */
	uint32_t n_switches, n_lids;
	size_t stride;
	bool had_prev, had_lanes;
	struct lanes prev_lanes;
	uint8_t prev[TABLE_MAX], prev_lane[TABLE_MAX]; /* what it was given */
	uint8_t lft[TABLE_MAX], lane[TABLE_MAX];       /* what it gave */
} witness;

static void keep_given(const struct route_in *in, size_t bytes)
{
	witness.had_prev = in->prev != NULL;
	witness.had_lanes = in->prev_lanes != NULL;
	if (in->prev != NULL) {
		memcpy(witness.prev, in->prev->rows, bytes);
	}
	if (in->prev_lanes != NULL) {
		witness.prev_lanes = *in->prev_lanes;
		if (in->prev_lanes->rows != NULL) {
			ck_assert_uint_eq(in->prev_lanes->stride, in->prev->stride);
			memcpy(witness.prev_lane, in->prev_lanes->rows, bytes);
		}
	}
}

static int witness_route(const struct route_in *in, struct arena *a,
                         struct route_out *ret_out)
{
	int ret = engine_find("minhop")->route(in, a, ret_out);
	struct lft *t = &ret_out->lft;
	size_t bytes = t->n_switches * t->stride;

	ck_assert_int_eq(ret, E_OK);
	ck_assert_uint_le(bytes, TABLE_MAX);
	keep_given(in, bytes);
	witness.runs++;
	witness.n_switches = t->n_switches;
	witness.n_lids = t->n_lids;
	witness.stride = t->stride;
	memcpy(witness.lft, t->rows, bytes);
	if (witness.lanes > 1) {
		ret_out->lanes = (struct lanes){ .rows = arena_alloc(a, bytes),
			                         .stride = t->stride,
			                         .n = (uint8_t)witness.lanes };
		for (size_t i = 0; i < bytes; i++) {
			ret_out->lanes.rows[i] = (uint8_t)(i * 7 / 3 % witness.lanes);
		}
		memcpy(witness.lane, ret_out->lanes.rows, bytes);
	}
	return E_OK;
}

static const struct engine engine_witness = { .name = "witness",
	                                      .flags = ENGINE_MAY_USE_LANES,
	                                      .route = witness_route };

static struct sweep_fixture *fixture_witness(const char *topo, unsigned lanes)
{
	struct sweep_fixture *r = fixture_new();

	fixture_topo(r, topo, 0, 0);
	fixture_sim(r, 1, 0);
	r->deps.list = (struct route_list){ .engine = { &engine_witness }, .n = 1 };
	memset(&witness, 0, sizeof(witness));
	witness.lanes = lanes;
	return r;
}

static void sweep_again(struct sweep_fixture *r)
{
	sweep_request_heavy(r->sweep);
	fixture_heavy(r, sweep_status(r->sweep)->heavy_sweeps + 1);
	fixture_up(r);
}

/* --- lanes ---------------------------------------------------------------------------
 */

START_TEST(lanes_come_with_tables)
{
	static uint8_t lft[TABLE_MAX], lane[TABLE_MAX];

	fixture = fixture_witness("ft2 6 6 3", 3);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert(!witness.had_lanes);
	memcpy(lft, witness.lft, sizeof(lft));
	memcpy(lane, witness.lane, sizeof(lane));
	sweep_again(fixture);
	ck_assert_uint_eq(witness.runs, 2);
	ck_assert(witness.had_prev && witness.had_lanes);
	ck_assert_uint_eq(witness.prev_lanes.n, 3);
	ck_assert_ptr_null(witness.prev_lanes.rule);
	for (uint32_t s = 0; s < witness.n_switches; s++) {
		size_t at = s * witness.stride;

		ck_assert_mem_eq(witness.prev + at, lft + at, witness.n_lids);
		ck_assert_mem_eq(witness.prev_lane + at, lane + at, witness.n_lids);
	}
}
END_TEST

/* A switch that lost its tables has no lanes either; the others have theirs. */
START_TEST(lanes_of_restarted_switch)
{
	static uint8_t lane[TABLE_MAX];
	uint32_t n = 0;

	fixture = fixture_witness("ft2 6 6 3", 2);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	memcpy(lane, witness.lane, sizeof(lane));
	ck_assert_int_eq(
		sim_reboot(fixture->sim, fixture->g->nodes[fixture->g->switches[2]].guid),
		E_OK);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	ck_assert(witness.had_lanes);
	for (uint32_t s = 0; s < witness.n_switches; s++) {
		const uint8_t *row = witness.prev_lane + s * witness.stride;

		if (row[1] == LANE_UNKNOWN) {
			n++;
			for (uint32_t lid = 0; lid < witness.n_lids; lid++) {
				ck_assert_uint_eq(row[lid], LANE_UNKNOWN);
			}
		} else {
			ck_assert_mem_eq(row, lane + s * witness.stride, witness.n_lids);
		}
	}
	ck_assert_uint_eq(n, 1);
}
END_TEST

/* A switch that was away while the others got fewer lanes still has its own. */
START_TEST(lanes_of_switch_that_returns)
{
	uint64_t away;
	uint32_t n_others = 0;

	fixture = fixture_witness("ft2 6 6 3", 5);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	away = fixture->g->nodes[fixture->g->switches[fixture->g->n_switches - 1]].guid;
	sim_set_node(fixture->sim, away, false);
	witness.lanes = _i ? 1 : 2;
	sweep_again(fixture);
	ck_assert_uint_eq(witness.prev_lanes.n, 5);
	sim_set_node(fixture->sim, away, true);
	sweep_again(fixture);
	ck_assert_uint_eq(witness.prev_lanes.n, 5);
	for (uint32_t s = 0; s < witness.n_switches; s++) {
		for (uint32_t lid = 0; lid < witness.n_lids; lid++) {
			uint8_t lane = witness.prev_lane[s * witness.stride + lid];

			ck_assert(lane == LANE_UNKNOWN || lane < witness.prev_lanes.n);
			n_others += lane != LANE_UNKNOWN && lane >= (_i ? 1 : 2);
		}
	}
	ck_assert_uint_gt(n_others, 0);
	sweep_again(fixture);
	ck_assert_uint_eq(witness.prev_lanes.n, _i ? 1 : 2);
}
END_TEST

/* After a restart the lanes of the tables in the switches are those that were published, except
 * where a switch has another table now. Without a snapshot they are not known. */
START_TEST(lanes_after_restart)
{
	static uint8_t lane[TABLE_MAX];
	uint8_t block[64];
	uint64_t guid;
	uint32_t n = 0, n_unknown = 0;

	fixture = fixture_witness("ft2 6 6 3", 3);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	memcpy(lane, witness.lane, sizeof(lane));
	fixture_stop(fixture);
	guid = fixture->g->nodes[fixture->g->switches[0]].guid;
	ck_assert_int_eq(sim_peek(fixture->sim, guid, UMAD_SM_ATTR_LINEAR_FT, 0, block),
	                 E_OK);
	block[5] ^= 1;
	ck_assert_int_eq(sim_poke(fixture->sim, guid, UMAD_SM_ATTR_LINEAR_FT, 0, block),
	                 E_OK);
	if (_i) {
		ck_assert_int_eq(nftw(fixture->snap_dir, fixture_remove, 8,
		                      FTW_DEPTH | FTW_PHYS),
		                 0);
	}
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert(witness.had_prev);
	ck_assert_int_eq(witness.had_lanes, !_i);
	for (uint32_t s = 0; !_i && s < witness.n_switches; s++) {
		for (uint32_t lid = 1; lid < witness.n_lids; lid++) {
			size_t at = s * witness.stride + lid;

			n += witness.prev_lane[at] == lane[at];
			n_unknown += lid == 5 && witness.prev_lane[at] == LANE_UNKNOWN;
		}
	}
	/* six of nine switches have hosts */
	ck_assert(_i || n >= witness.n_switches * (witness.n_lids - 1) * 6 / 9 - 1);
	ck_assert(_i || n_unknown > 0);
}
END_TEST

/* dfsssp keeps all its routes over a restart. */
START_TEST(restart_sends_nothing)
{
	static const char *const topos[] = { "torus 5 1", "ft2 6 6 3", "jellyfish 8 3 1" };
	struct why why = { "" };
	uint64_t sets;

	fixture = fixture_new();
	fixture_topo(fixture, topos[_i], 0, 0);
	fixture_sim(fixture, 1, 0);
	ck_assert_int_eq(route_list_parse("dfsssp", &fixture->deps.list, &why), E_OK);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	sim_set_link(fixture->sim, fixture->g->nodes[fixture->g->switches[1]].guid, 2, false);
	sweep_again(fixture); /* what remains are not the routes of a fresh start */
	sets = sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_up(fixture);
	ck_assert_uint_eq(sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT),
	                  sets);
}
END_TEST

/* Tables of one lane are known to be of one, also after a restart. */
START_TEST(one_lane)
{
	fixture = fixture_witness("ft2 6 6 3", 1);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	sweep_again(fixture);
	ck_assert(witness.had_lanes);
	ck_assert_uint_eq(witness.prev_lanes.n, 1);
	ck_assert_ptr_null(witness.prev_lanes.rows);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert(witness.had_prev && witness.had_lanes);
	ck_assert_uint_eq(witness.prev_lanes.n, 1);
	ck_assert_ptr_null(witness.prev_lanes.rows);
}
END_TEST

/* --- which engine serves ---------------------------------------------------------------
 */

static void set_list(struct sweep_fixture *r, const char *text)
{
	struct why why = { "" };

	ck_assert_int_eq(route_list_parse(text, &r->deps.list, &why), E_OK);
}

/* The engine is the one that a start from nothing takes on the fabric as it is now, with
 * the same reason; and the snapshot says so. */
static void check_choice(struct sweep_fixture *r, unsigned step, const char **ret_used)
{
	const struct job *j = sweep_job(r->sweep);
	struct route_request cold = j->request;
	struct arena *a = arena_new();
	struct route_result result;
	struct snap_reader *reader;

	cold.memory = NULL;
	ck_assert_int_eq(route_run(&cold, a, &result), E_OK);
	ck_assert_msg(result.used == j->route.used,
	              "step %u: %s from nothing, %s in the sweep", step,
	              result.used->name, j->route.used->name);
	/* kept routes keep the reason for their engine */
	ck_assert_int_eq(result.fallback_reason.text[0],
	                 j->route.fallback_reason.text[0]);
	ck_assert(j->route.cached || strcmp(result.fallback_reason.text,
	                                    j->route.fallback_reason.text) == 0);
	ck_assert_int_eq(snap_reader_local(r->snap, &reader), E_OK);
	ck_assert_int_eq(snap_pin(reader), E_OK);
	ck_assert_str_eq(snap_meta(reader)->engine_used, result.used->name);
	ck_assert_str_eq(snap_meta(reader)->engine_asked, result.engine_asked);
	ck_assert_str_eq(snap_meta(reader)->fallback_reason,
	                 j->route.fallback_reason.text);
	snap_reader_close(reader);
	*ret_used = result.used->name;
	arena_free(a);
}

static void toggle_host(struct sweep_fixture *r, uint64_t *seed, bool *gone)
{
	uint32_t h = 1 + (uint32_t)((*seed >> 33) % (r->g->n_hosts - 1));
	uint64_t guid = r->g->nodes[r->g->ports[r->g->hosts[h]].node].guid;

	gone[h] = !gone[h];
	ck_assert_int_eq(sim_set_node(r->sim, guid, !gone[h]), E_OK);
}

static void toggle_cable(struct sweep_fixture *r, uint64_t *seed, bool *cut)
{
	uint32_t i = (uint32_t)((*seed >> 33) % r->g->adj_first[r->g->n_switches]), s = 0;

	while (r->g->adj_first[s + 1] <= i) {
		s++;
	}
	cut[i] = !cut[i];
	ck_assert_int_eq(sim_set_link(r->sim, r->g->nodes[r->g->switches[s]].guid,
	                              r->g->adj[i].port, !cut[i]),
	                 E_OK);
}

static uint64_t next_draw(uint64_t seed)
{
	return seed * 6364136223846793005u + 1442695040888963407u;
}

/* clang-format off */
static const struct {
	const char *topo, *list;
	double fail;
} lives[] = {
	{ "ft3 4",            "minhop",        0.2 },
	{ "ft3 4",            "",              0.3 },
	{ "tree3 3 3 3 2 2",  "minhop",        0.2 },
	{ "torus 4x3 2",      "minhop",        0.1 },
	{ "ft3 4",            "fattree",       0.1 },
	{ "jellyfish 8 4 3",  "sssp updn",     0 },
	{ "ft3 4",            "dfsssp",        0.1 },
	{ "mesh 4x3 2",       "deadlockfree",  0.1 },
};
/* clang-format on */

START_TEST(engine_as_from_nothing)
{
	bool gone[256] = { false }, cut[1024] = { false };
	uint64_t seed = 0x5eed + (uint64_t)_i;
	const char *used;

	fixture = fixture_new();
	fixture_topo(fixture, lives[_i].topo, lives[_i].fail, 1 + (uint32_t)_i);
	fixture_sim(fixture, 1, 0);
	set_list(fixture, lives[_i].list);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_up(fixture);
	for (unsigned step = 0; step < 10; step++) {
		check_choice(fixture, step, &used);
		for (unsigned n = 1 + step % 3; n > 0; n--) {
			seed = next_draw(seed);
			if (seed >> 60 & 1) {
				toggle_host(fixture, &seed, gone);
			} else {
				toggle_cable(fixture, &seed, cut);
			}
		}
		if (step == 6) { /* a new daemon finds the tables in the switches */
			fixture_stop(fixture);
			fixture_start(fixture);
		}
		sweep_again(fixture);
	}
}
END_TEST

/* The engine asked for and the reason for another one are reported while they differ: after
 * sweeps that find nothing new, by the cache, and by a new daemon. */
START_TEST(fallback_is_never_hidden)
{
	const char *used;

	fixture = fixture_new();
	fixture_topo(fixture, "torus 4x3 2", 0, 1);
	fixture_sim(fixture, 1, 0);
	set_list(fixture, "minhop");
	fixture->config.use_ucast_cache = _i;
	fixture_start(fixture);
	for (unsigned step = 0; step < 6; step++) {
		if (step == 3) {
			fixture_stop(fixture);
			fixture_start(fixture);
		}
		if (step == 4) {
			ck_assert_int_eq(
				sim_set_node(
					fixture->sim,
					fixture->g
						->nodes[fixture->g
			                                        ->ports[fixture->g->hosts
			                                                        [7]]
			                                        .node]
						.guid,
					false),
				E_OK);
		}
		sweep_again(fixture);
		check_choice(fixture, step, &used);
		ck_assert_str_ne(used, "minhop");
		ck_assert_ptr_nonnull(
			strstr(sweep_job(fixture->sweep)->route.fallback_reason.text,
		               "minhop: credit loop"));
	}
	ck_assert(!_i || sweep_status(fixture->sweep)->cache_hits > 0);
}
END_TEST

/* --- how new tables came to the switches ----------------------------------------------- */

static struct snap_transition published_transition(uint64_t *ret_epoch)
{
	struct snap_reader *r;
	struct snap_transition t;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	t = snap_meta(r)->transition;
	ck_assert(t.epoch == 0 ||
	          (t.reason[0] != '\0') == (t.stages > 1 || t.withdrawn || !t.safe));
	*ret_epoch = snap_meta(r)->epoch;
	t.reason = NULL; /* ends with the reader */
	snap_reader_close(r);
	return t;
}

/* A cable is pulled: the transition is published with its epoch, and stays what it was when sweeps
 * that find nothing follow, until a restart. */
START_TEST(transition_published)
{
	struct snap_transition t, later;
	uint64_t epoch;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 6 6 3", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.transition = _i == 0 ? TRANSITION_SAFE : TRANSITION_ANY;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	t = published_transition(&epoch);
	ck_assert_uint_eq(t.epoch, 0); /* nothing was replaced */
	sim_set_link(fixture->sim, fixture->g->nodes[fixture->g->switches[1]].guid, 7, false);
	uint64_t sets = sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT);
	sweep_again(fixture);
	sets = sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT) - sets;
	ck_assert_uint_gt(sets, 0);
	t = published_transition(&epoch);
	ck_assert_uint_eq(t.epoch, _i == 0 ? epoch : 0);
	if (_i == 0) {
		ck_assert_uint_gt(t.changed, 0);
		ck_assert_uint_ge(t.stages, 1);
		ck_assert_uint_eq(t.blocks, sets);
		ck_assert(t.safe);
	}
	sweep_again(fixture);
	sim_set_link(fixture->sim, fixture->g->nodes[fixture->g->switches[1]].guid, 1, false);
	sweep_again(fixture); /* a host is gone: another epoch, the same routes */
	later = published_transition(&epoch);
	ck_assert_uint_eq(later.epoch, t.epoch);
	ck_assert_uint_eq(later.changed, t.changed);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_up(fixture);
	ck_assert_uint_eq(published_transition(&epoch).epoch, 0);
}
END_TEST

TEST_SUITE(sweep_routing)
{
	TCase *t = tcase_create("lanes");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, lanes_come_with_tables);
	tcase_add_test(t, lanes_of_restarted_switch);
	tcase_add_loop_test(t, lanes_of_switch_that_returns, 0, 2);
	tcase_add_loop_test(t, lanes_after_restart, 0, 2);
	tcase_add_loop_test(t, restart_sends_nothing, 0, 3);
	tcase_add_test(t, one_lane);
	suite_add_tcase(suite, t);
	t = tcase_create("engine");
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, engine_as_from_nothing, 0,
	                    sizeof(lives) / sizeof(lives[0]));
	tcase_add_loop_test(t, fallback_is_never_hidden, 0, 2);
	suite_add_tcase(suite, t);
	t = tcase_create("transition");
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, transition_published, 0, 2);
	suite_add_tcase(suite, t);
}
