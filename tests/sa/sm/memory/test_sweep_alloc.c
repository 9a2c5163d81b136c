/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Memory runs out once, at any place of a sweep: the sweep may be given up, but the next one brings the fabric to
 * where it is without that.
 */
#include "conf/base/digest.h"
#include "conf/policy/qos_policy.h"
#include "db/lmdb/txn.h"
#include "db/snapshot/snapshot_int.h"
#include "tests/alloc/alloc_fail.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

/* Allocations fail at the first places all, and further on at each n-th one after n * STEP. */
enum { STEP = 80 };

static struct sweep_fixture *fixture;

static void teardown(void)
{
	if (fixture != NULL) {
		fixture_free(fixture);
		fixture = NULL;
	}
}

/* --- the fabric has memory ------------------------------------------------------------- */

static int wire_send(struct transport *t, const struct mad_msg *m)
{
	struct transport *sim = sim_transport(fixture->sim);

	(void)t;
	alloc_fail_pause(true);
	int ret = sim->ops->send(sim, m);
	alloc_fail_pause(false);
	return ret;
}

static int wire_recv(struct transport *t, uint64_t deadline_ms, struct mad_msg *ret_msg)
{
	struct transport *sim = sim_transport(fixture->sim);

	(void)t;
	alloc_fail_pause(true);
	int ret = sim->ops->recv(sim, deadline_ms, ret_msg);
	alloc_fail_pause(false);
	return ret;
}

static uint64_t wire_now_ms(struct transport *t)
{
	(void)t;
	return fixture_now(fixture);
}

static void wire_wake(struct transport *t)
{
	struct transport *sim = sim_transport(fixture->sim);

	(void)t;
	sim->ops->wake(sim);
}

static int wire_set_issm(struct transport *t, bool on)
{
	struct transport *sim = sim_transport(fixture->sim);

	(void)t;
	return sim->ops->set_issm(sim, on);
}

static const struct transport_ops wire_ops = { .name = "wire",
	                                       .send = wire_send,
	                                       .recv = wire_recv,
	                                       .wake = wire_wake,
	                                       .now_ms = wire_now_ms,
	                                       .set_issm = wire_set_issm };
static struct transport wire;

/* --- sweeps ---------------------------------------------------------------------------- */

static void set(const char *key, const char *value)
{
	ck_assert_int_eq(option_set(&fixture->sets, fixture->a, key, value, "test", 1,
	                            &fixture->diags),
	                 E_OK);
}

static void prepare_infiniband(void)
{
	fixture_topo(fixture, "ft2 3 2 2", 0, 0);
	fixture_partitions(fixture,
	                   "Default=0x7fff,ipoib:ALL=full;A=0x10,sl=1:ALL_CAS=full;");
	set("qos", "TRUE");
	set("qos_max_vls", "2");
	set("qos_vlarb_low", "0:1,1:4");
	set("qos_sl2vl", "0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1");
	fixture->config.lmc = 1;
	fixture->config.m_key = 0x1234;
}

static void prepare_lanes(void)
{
	fixture_topo(fixture, "torus 3x3 1", 0, 0);
	fixture->deps.list =
		(struct route_list){ .engine = { engine_find("dfsssp") }, .n = 1 };
}

static void prepare_omni_path(void)
{
	fixture->omni_path = true;
	fixture->config.adaptive.enable = true;
	fixture->config.adaptive.algorithm = 1;
	fixture_topo(fixture, "ft2 3 2 2 2", 0, 0);
}

static void (*const prepare[])(void) = { prepare_infiniband, prepare_lanes,
	                                 prepare_omni_path };

/* Times are rows of the snapshot, too. */
static int64_t wall_clock(void)
{
	return 1800000000;
}

static void start(int which)
{
	fixture = fixture_new();
	fixture->deps.wall_clock = wall_clock;
	prepare[which]();
	fixture_sim(fixture, 1, 0);
	wire = *sim_transport(fixture->sim);
	wire.ops = &wire_ops;
	fixture->transport = &wire;
	fixture_start(fixture);
}

static void add_row(void *ctx, const struct db_val *k, const struct db_val *v)
{
	uint64_t *sum = ctx;

	*sum = digest_bytes(digest_bytes(*sum, k->data, k->len), v->data, v->len);
}

/* Sums of the tables of the snapshot. 0 are those of tables with numbers that each publish gets, of the attributes,
 * which show over which port a node was found and whether a port has changed since the last light sweep, and of client
 * records, which another thread writes. */
static void sum_tables(uint64_t ret_sums[SNAP_TABLE_COUNT])
{
	memset(ret_sums, 0, SNAP_TABLE_COUNT * sizeof(*ret_sums));
	for (unsigned i = 0; i < SNAP_SERVICES; i++) {
		if (i != SNAP_META && i != SNAP_CHANGES && i != SNAP_ATTRS) {
			each_row(fixture->snap, i, add_row, &ret_sums[i]);
		}
	}
}

/* Until the sweep has ended well or was given up. */
static bool first_sweep(void)
{
	const struct sweep_status *st = sweep_status(fixture->sweep);

	fixture_heavy(fixture, 1);
	return st->failed_sweeps == 0;
}

START_TEST(sweeps)
{
	uint64_t want[SNAP_TABLE_COUNT], is[SNAP_TABLE_COUNT];
	size_t n_given_up = 0, step = (size_t)test_seeds(STEP);

	ck_assert_ptr_nonnull(
		freopen("/dev/null", "w", stderr)); /* each one is an error */
	start(_i);
	fixture_up(fixture);
	fixture_run_ms(fixture, 1000);
	sum_tables(want);
	for (size_t n = 1;; n += 1 + n / step) {
		teardown();
		start(_i);
		alloc_fail_at(n);
		bool good = first_sweep(), any = alloc_fail_end();

		n_given_up += !good;
		fixture_up(fixture);
		fixture_run_ms(fixture, 1000);
		sum_tables(is);
		for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
			ck_assert_msg(
				is[i] == want[i],
				"table %u is another one after allocation %zu failed", i,
				n);
		}
		if (!any) {
			ck_assert(good);
			break;
		}
	}
	ck_assert_uint_gt(n_given_up, 0);
}
END_TEST

TEST_SUITE(sweep_alloc)
{
	TCase *tc = tcase_create("sweep_alloc");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, sweeps, 0, sizeof(prepare) / sizeof(prepare[0]));
	suite_add_tcase(suite, tc);
}
