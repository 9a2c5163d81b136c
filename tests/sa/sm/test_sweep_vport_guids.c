/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Alias GUIDs of virtual ports on a simulated fabric: as the durable state has them, they are
 * written to the adapters, by difference, and the snapshot names them. */
#include "sa/sim/sim_state.h" /* before db/lmdb/layout.h, which names LFT_NO_ROUTE, too */

#include "sa/path/path_query.h"
#include "sa/sm/sm.h"
#include "sa/store/alias.h"
#include "sa/store/store.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { CAP = 100, GUID_CAP = 20, OWN = 1, SHARED = 0, INTERVAL_MS = 10000 };
enum { VPORT = 0xabc, OTHER = 0xdef, ALIAS = 0x5000 };

static struct sweep_fixture *fixture;

static void prepare_with(struct sim_options o)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 2 2", 0, 1);
	fixture->config.virt_enabled = 2;
	fixture->config.virt_unverified_layouts = true;
	fixture->config.enable_virt_rec_ext = true;
	fixture->config.sweep_interval = INTERVAL_MS / 1000;
	o.virtual_clock = true;
	o.seed = 1;
	o.delay_us = 1;
	o.guid_cap = GUID_CAP;
	o.vport_cap = CAP;
	ck_assert_int_eq(sim_new(fixture->g, &o, false, &fixture->sim), E_OK);
}

static void prepare(void)
{
	prepare_with((struct sim_options){ .no_mixed = false });
}

static void stop(void)
{
	fixture_free(fixture);
	fixture = NULL;
}

static void up(void)
{
	fixture_start(fixture);
	fixture_up(fixture);
}

static uint64_t node_guid(unsigned h)
{
	return fixture_host_guid(fixture, h);
}

static uint8_t num(unsigned h)
{
	return fixture_host_num(fixture, h);
}

static uint16_t add(unsigned h, uint64_t guid, bool own)
{
	return fixture_add_vport(fixture, h, guid, own);
}

static void commit_done(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

/* A client wants a GUID in a place of a virtual port; 0 empties it. */
static void want(uint64_t vport, unsigned place, uint64_t guid)
{
	struct state_batch *batch;
	struct alias_block b;
	struct sa_store *st;
	int ret = -1;

	ck_assert_int_eq(store_new(fixture->state, 0, &st), E_OK);
	(void)alias_block(st, vport, place / 8, &b);
	field_set(b.guid, 64 * (place % 8), 64, guid);
	b.owned |= (uint8_t)(1u << place % 8);
	ck_assert_int_eq(alias_block_put(st, vport, place / 8, &b), E_OK);
	batch = store_take_changes(st);
	state_batch_commit(fixture->state, batch, commit_done, &ret);
	state_flush(fixture->state);
	ck_assert_int_eq(ret, E_OK);
	store_free(st);
}

static uint64_t held(unsigned h, uint16_t index, unsigned place)
{
	uint8_t data[64];

	ck_assert_int_eq(sim_peek(fixture->sim, node_guid(h), VPORT_ATTR_GUID_INFO,
	                          (uint32_t)index << 16 | place / 8, data),
	                 E_OK);
	return field_get(data, 64 * (place % 8), 64);
}

static uint64_t reads(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_GET, VPORT_ATTR_GUID_INFO);
}

static uint64_t sets(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_SET, VPORT_ATTR_GUID_INFO);
}

static struct snap_reader *pinned(void)
{
	struct snap_reader *r;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	return r;
}

/* Do readers find the LID of a virtual port by a GUID? */
static bool is_named(uint64_t guid, uint64_t vport)
{
	struct snap_reader *r = pinned();
	struct snap_end own, by_alias;
	struct path_query q = { .numb_path = 1, .dst_alias = guid };
	struct path_record rec;
	size_t n = 0;
	bool named;

	ck_assert_int_eq(snap_port_guid(r, vport, &own), E_OK);
	named = snap_port_guid(r, guid, &by_alias) == E_OK && by_alias.is_vport &&
	        by_alias.base_lid == own.base_lid && by_alias.port_guid == vport;
	if (named) {
		uint64_t from = fixture->g->ports[fixture_host(fixture, 3)].guid;

		ck_assert_int_eq(snap_port_guid(r, from, &q.src), E_OK);
		q.dst = by_alias;
		ck_assert_int_eq(path_query_run(r, &q, &rec, 1, &n), E_OK);
		ck_assert_uint_eq(rec.dlid, own.base_lid);
		ck_assert_uint_eq(rec.dgid_guid, guid);
	}
	snap_reader_close(r);
	return named;
}

/* Those that clients set before the daemon, and while it runs. */
START_TEST(written_and_named)
{
	uint16_t index = add(0, VPORT, OWN);
	uint32_t heavy;

	fixture_start(fixture);
	want(VPORT, 1, ALIAS);
	want(VPORT, 17, ALIAS + 17);
	fixture_up(fixture);
	ck_assert_uint_eq(held(0, index, 0), VPORT);
	ck_assert_uint_eq(held(0, index, 1), ALIAS);
	ck_assert_uint_eq(held(0, index, 17), ALIAS + 17);
	ck_assert_uint_eq(sets(), 2);
	ck_assert(is_named(ALIAS, VPORT) && is_named(ALIAS + 17, VPORT));
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	want(VPORT, 1, 0);
	want(VPORT, 2, ALIAS + 2);
	fixture_run_ms(fixture, 1000);
	ck_assert_uint_eq(held(0, index, 1), 0);
	ck_assert_uint_eq(held(0, index, 2), ALIAS + 2);
	ck_assert(!is_named(ALIAS, VPORT) && is_named(ALIAS + 2, VPORT));
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
}
END_TEST

/* The rows of the record, by the virtual port's GUID, and its number of places. */
START_TEST(published)
{
	struct snap_reader *r;
	struct snap_vport v;
	const uint8_t *data;
	uint16_t len;

	add(0, VPORT, OWN);
	add(0, OTHER, SHARED);
	fixture_start(fixture);
	want(VPORT, 9, ALIAS);
	fixture_up(fixture);
	r = pinned();
	ck_assert_int_eq(snap_vport_by_guid(r, VPORT, &v), E_OK);
	ck_assert_uint_eq(v.guid_cap, GUID_CAP);
	for (unsigned b = 0; b < 3; b++) {
		ck_assert_int_eq(
			snap_attr(r, VPORT_ATTR_GUID_INFO, VPORT, b, &data, &len), E_OK);
		ck_assert_uint_eq(len, 64);
		ck_assert_uint_eq(field_get(data, 0, 64), b == 0 ? VPORT : 0);
		ck_assert_uint_eq(field_get(data, 64, 64), b == 1 ? ALIAS : 0);
	}
	ck_assert_int_eq(snap_attr(r, VPORT_ATTR_GUID_INFO, VPORT, 3, &data, &len),
	                 E_NOTFOUND);
	/* no record leads to one without a LID of its own */
	ck_assert_int_eq(snap_vport_by_guid(r, OTHER, &v), E_OK);
	ck_assert_uint_eq(v.guid_cap, 0);
	ck_assert_int_eq(snap_attr(r, VPORT_ATTR_GUID_INFO, OTHER, 0, &data, &len),
	                 E_NOTFOUND);
	snap_reader_close(r);
}
END_TEST

/* A virtual machine moves with its GUIDs, and its host restarts. No heavy sweep does it. */
START_TEST(follow_the_virtual_port)
{
	uint16_t index = add(0, VPORT, OWN);
	uint32_t heavy;

	fixture_start(fixture);
	want(VPORT, 1, ALIAS);
	fixture_up(fixture);
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	ck_assert_int_eq(sim_vport_remove(fixture->sim, node_guid(0), num(0), index),
	                 E_OK);
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	index = add(2, VPORT, OWN);
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	ck_assert_uint_eq(held(2, index, 1), ALIAS);
	ck_assert(is_named(ALIAS, VPORT));
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
	ck_assert_int_eq(sim_reboot(fixture->sim, node_guid(2)), E_OK);
	ck_assert_uint_eq(held(2, index, 1), 0);
	fixture_run_ms(fixture, 4 * INTERVAL_MS);
	ck_assert_uint_eq(held(2, index, 1), ALIAS);
	ck_assert(is_named(ALIAS, VPORT));
}
END_TEST

/* Nothing is read or sent again where nothing changed, nor by a daemon that restarts. */
START_TEST(by_difference)
{
	uint64_t n_reads;

	add(0, VPORT, OWN);
	fixture_start(fixture);
	want(VPORT, 1, ALIAS);
	fixture_up(fixture);
	ck_assert_uint_eq(sets(), 1);
	n_reads = reads();
	ck_assert_uint_eq(n_reads, 3);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	fixture_up(fixture);
	fixture_run_ms(fixture, 3 * INTERVAL_MS);
	ck_assert_uint_eq(reads(), n_reads);
	ck_assert_uint_eq(sets(), 1);
	fixture_stop(fixture);
	up();
	ck_assert_uint_gt(reads(), n_reads);
	ck_assert_uint_eq(sets(), 1);
	ck_assert(is_named(ALIAS, VPORT));
}
END_TEST

/* Somebody else empties the table, as a subnet manager that was master meanwhile. */
START_TEST(audit_finds_what_differs)
{
	static const uint8_t none[64];
	uint16_t index = add(0, VPORT, OWN);

	fixture_start(fixture);
	want(VPORT, 1, ALIAS);
	fixture_up(fixture);
	ck_assert_int_eq(sim_poke(fixture->sim, node_guid(0), VPORT_ATTR_GUID_INFO,
	                          (uint32_t)index << 16, none),
	                 E_OK);
	ck_assert_uint_eq(held(0, index, 1), 0);
	sweep_request_audit(fixture->sweep, NULL);
	fixture_heavy(fixture, 2);
	fixture_up(fixture);
	ck_assert_uint_eq(held(0, index, 1), ALIAS);
}
END_TEST

/* Without the option, without the capability, and where the adapter expects the block in the upper
 * 16 bits of the AttributeModifier. */
START_TEST(left_alone)
{
	uint16_t index;

	stop();
	prepare_with((struct sim_options){ .no_vport_guids = _i == 1,
	                                   .vport_block_first = _i == 2 });
	fixture->config.virt_unverified_layouts = _i != 0;
	index = add(0, VPORT, OWN);
	fixture_start(fixture);
	want(VPORT, 1, ALIAS);
	fixture_up(fixture);
	fixture_run_ms(fixture, 5 * INTERVAL_MS);
	ck_assert_uint_eq(sets(), 0);
	ck_assert(_i == 2 || reads() == 0);
	ck_assert_uint_eq(field_get(fixture->sim->ports[fixture_host(fixture, 0)]
	                                    .virtual_ports->vport[index]
	                                    .guids[0],
	                            64, 64),
	                  0);
	ck_assert(!is_named(ALIAS, VPORT));
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1);
}
END_TEST

/* Three SMPs of a hundred are lost: what is not answered is asked and sent again. */
START_TEST(lost_smps)
{
	uint16_t index[4];

	stop();
	prepare_with((struct sim_options){ .drop_ppm = 30000 });
	for (unsigned i = 0; i < 4; i++) {
		index[i] = add(i, VPORT + i, OWN);
	}
	fixture_start(fixture);
	for (unsigned i = 0; i < 4; i++) {
		want(VPORT + i, 1, ALIAS + i);
	}
	fixture_up(fixture);
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < 4; i++) {
			want(VPORT + i, 2 + round, ALIAS + 0x100 * (round + 1) + i);
		}
		fixture_run_ms(fixture, 12 * INTERVAL_MS);
		for (unsigned i = 0; i < 4; i++) {
			ck_assert_uint_eq(held(i, index[i], 1), ALIAS + i);
			ck_assert_uint_eq(held(i, index[i], 2 + round),
			                  ALIAS + 0x100 * (round + 1) + i);
		}
	}
}
END_TEST

TEST_SUITE(sweep_vport_guids)
{
	TCase *t = tcase_create("alias GUIDs of virtual ports");

	tcase_add_checked_fixture(t, prepare, stop);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, written_and_named);
	tcase_add_test(t, published);
	tcase_add_test(t, follow_the_virtual_port);
	tcase_add_test(t, by_difference);
	tcase_add_test(t, audit_finds_what_differs);
	tcase_add_loop_test(t, left_alone, 0, 3);
	tcase_add_test(t, lost_smps);
	suite_add_tcase(suite, t);
}
