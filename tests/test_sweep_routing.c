/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What the routing of one sweep gets from the sweep before it, over the simulated fabric.
 */
#include "routing/lids.h"
#include "tests/sweep_rig.h"

static struct rig *rig;

static void teardown(void)
{
	if (rig != NULL) {
		rig_free(rig);
		rig = NULL;
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

static int witness_route(const struct route_in *in, struct arena *a, struct route_out *ret)
{
	int err = engine_find("minhop")->route(in, a, ret);
	struct lft *t = &ret->lft;
	size_t bytes = t->n_switches * t->stride;

	ck_assert_int_eq(err, E_OK);
	ck_assert_uint_le(bytes, TABLE_MAX);
	keep_given(in, bytes);
	witness.runs++;
	witness.n_switches = t->n_switches;
	witness.n_lids = t->n_lids;
	witness.stride = t->stride;
	memcpy(witness.lft, t->rows, bytes);
	if (witness.lanes > 1) {
		ret->lanes = (struct lanes){ .rows = arena_alloc(a, bytes),
			                     .stride = t->stride,
			                     .n = (uint8_t)witness.lanes };
		for (size_t i = 0; i < bytes; i++) {
			ret->lanes.rows[i] = (uint8_t)(i * 7 / 3 % witness.lanes);
		}
		memcpy(witness.lane, ret->lanes.rows, bytes);
	}
	return E_OK;
}

static const struct engine engine_witness = { .name = "witness",
	                                      .flags = ENGINE_MAY_USE_LANES,
	                                      .route = witness_route };

static struct rig *rig_witness(const char *topo, unsigned lanes)
{
	struct rig *r = rig_new();

	rig_topo(r, topo, 0, 0);
	rig_sim(r, 1, 0);
	r->deps.list = (struct route_list){ .engine = { &engine_witness }, .n = 1 };
	memset(&witness, 0, sizeof(witness));
	witness.lanes = lanes;
	return r;
}

static void sweep_again(struct rig *r)
{
	sweep_request_heavy(r->sweep);
	rig_heavy(r, sweep_status(r->sweep)->heavy_sweeps + 1);
}

/* --- lanes --------------------------------------------------------------------------- */

START_TEST(lanes_come_with_tables)
{
	static uint8_t lft[TABLE_MAX], lane[TABLE_MAX];

	rig = rig_witness("ft2 6 6 3", 3);
	rig_start(rig);
	rig_heavy(rig, 1);
	ck_assert(!witness.had_lanes);
	memcpy(lft, witness.lft, sizeof(lft));
	memcpy(lane, witness.lane, sizeof(lane));
	sweep_again(rig);
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

	rig = rig_witness("ft2 6 6 3", 2);
	rig_start(rig);
	rig_heavy(rig, 1);
	memcpy(lane, witness.lane, sizeof(lane));
	ck_assert_int_eq(sim_reboot(rig->sim, rig->g->nodes[rig->g->switches[2]].guid), E_OK);
	sweep_again(rig);
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

/* Tables of one lane are known to be of one; those found in the switches at the start
 * tell nothing about lanes. */
START_TEST(one_lane)
{
	rig = rig_witness("ft2 6 6 3", 1);
	rig_start(rig);
	rig_heavy(rig, 1);
	sweep_again(rig);
	ck_assert(witness.had_lanes);
	ck_assert_uint_eq(witness.prev_lanes.n, 1);
	ck_assert_ptr_null(witness.prev_lanes.rows);
	rig_stop(rig);
	rig_start(rig);
	rig_heavy(rig, 1);
	ck_assert(witness.had_prev && !witness.had_lanes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sweep_routing");
	TCase *t = tcase_create("lanes");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, lanes_come_with_tables);
	tcase_add_test(t, lanes_of_restarted_switch);
	tcase_add_test(t, one_lane);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
