/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What a hostile host sends in the name of others: answers to our requests, and traps that accuse.
 * None of it is believed, and it leaves room for what honest nodes say.
 */
#include "sa/sm/discover/senders.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

static struct sweep_fixture *fixture;
static struct tap tap;
static uint64_t seen; /* rows before this number were looked at */

static void setup(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture->with_stats = true;
	fixture->config.sweep_interval = 0;
	seen = 0;
}

static void teardown(void)
{
	fixture_free(fixture);
}

/* Rows that were not looked at yet. */
static struct stats_events new_rows(void)
{
	struct stats_events ev;
	struct stats_reader *r;

	ck_assert_int_eq(stats_commit(fixture->stats, 1), E_OK);
	ck_assert_int_eq(stats_reader_open(fixture->snap_dir, &r), E_OK);
	ck_assert_int_eq(stats_read_events(r, seen, SIZE_MAX, fixture->run, &ev), E_OK);
	stats_reader_close(r);
	seen = ev.next;
	return ev;
}

static void up(void)
{
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_up(fixture);
	fixture_run_ms(fixture, 30000);
	(void)new_rows();
}

static uint32_t lid_of_host(unsigned i)
{
	return (uint32_t)fixture_peek(fixture, fixture_host(fixture, i), PI_LID);
}

/* A trap 257 that says: this LID sent me a packet with this P_Key. */
static void accuse(uint32_t sender, uint32_t accused, uint32_t receiver, uint16_t p_key)
{
	memset(tap.in, 0, sizeof(tap.in));
	field_set(tap.in + 64, NTC_IS_GENERIC, 1);
	field_set(tap.in + 64, NTC_PRODUCER_TYPE, 1);
	field_set(tap.in + 64, NTC_TRAP_NUMBER, 257);
	field_set(tap.in + 64, NTC_ISSUER_LID, sender);
	field_set(tap.in + 64, NTC_257_LID_1, accused);
	field_set(tap.in + 64, NTC_257_LID_2, receiver);
	field_set(tap.in + 64, NTC_257_KEY, p_key);
	tap_bring_from(&tap, fixture, sender, UMAD_CLASS_SUBN_LID_ROUTED,
	               UMAD_METHOD_TRAP, UMAD_ATTR_NOTICE);
}

/* 100,000 accusations of one host, each of them of another LID and P_Key. Then an honest one has
 * its row and its line, and the rows that were there before are not pushed out. */
START_TEST(accuser)
{
	char text[EVENT_TEXT_BYTES];
	struct stats_events ev;
	uint32_t liar, honest;

	up();
	liar = lid_of_host(1);
	honest = lid_of_host(2);
	for (uint32_t i = 0; i < 100000; i++) {
		accuse(liar, 1 + i % 20, liar, (uint16_t)(i / 20));
	}
	ev = new_rows();
	ck_assert_uint_ge(ev.n, 1);
	ck_assert_uint_le(ev.n, SENDER_ROWS);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->p_key_violations, 100000);
	accuse(honest, liar, honest, 0x8020);
	ev = new_rows();
	ck_assert_uint_eq(ev.n, 1);
	event_text(&ev.events[0], text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "sends packets with P_Key 0x8020"));
	ck_assert_uint_eq(
		ev.events[0].node_guid,
		fixture->g->nodes[fixture->g->ports[fixture_host(fixture, 1)].node].guid);
	/* nor does the liar say anything new within the hour; a day later it may */
	accuse(liar, honest, liar, 0x8021);
	ck_assert_uint_eq(new_rows().n, 0);
}
END_TEST

/* Who is at neither end of the packet saw nothing: 10,000 of them make no row of the accused. */
START_TEST(not_involved)
{
	struct stats_events ev;

	up();
	for (uint32_t i = 0; i < 10000; i++) {
		accuse(lid_of_host(1), lid_of_host(2), lid_of_host(3), (uint16_t)i);
	}
	ev = new_rows();
	ck_assert_uint_eq(ev.n, 4); /* the 10th, 100th, 1,000th, 10,000th */
	for (size_t i = 0; i < ev.n; i++) {
		ck_assert_int_eq(ev.events[i].kind, EVENT_FORGED_MADS);
		ck_assert_uint_eq(ev.events[i].node_guid, fixture_host_guid(fixture, 1));
	}
	ck_assert_uint_eq(sweep_status(fixture->sweep)->forged_traps, 10000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->p_key_violations, 0);
}
END_TEST

/* Answers to what nobody asked have no effect, and their sender is named. */
START_TEST(answers)
{
	const struct sweep_status *st;
	struct stats_events ev;
	uint64_t smps;

	up();
	smps = sweep_status(fixture->sweep)->smps_sent;
	for (uint32_t i = 0; i < 1000; i++) {
		memset(tap.in, 0, sizeof(tap.in));
		field_set(tap.in, MAD_TID, i);
		tap_bring_from(&tap, fixture, lid_of_host(1),
		               _i ? UMAD_CLASS_SUBN_DIRECTED_ROUTE
		                  : UMAD_CLASS_SUBN_LID_ROUTED,
		               UMAD_METHOD_GET_RESP, UMAD_SM_ATTR_SWITCH_INFO);
	}
	st = sweep_status(fixture->sweep);
	ck_assert_uint_ge(st->forged_answers, 990);
	ck_assert_uint_eq(st->smps_sent, smps);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	ev = new_rows();
	ck_assert_uint_ge(ev.n, 2);
	ck_assert_uint_le(ev.n, 3);
	ck_assert_int_eq(ev.events[0].kind, EVENT_FORGED_MADS);
	ck_assert_uint_eq(ev.events[0].node_guid, fixture_host_guid(fixture, 1));
}
END_TEST

/* The last request that left, for an answer that comes from elsewhere. */
static uint8_t asked[MAD_BYTES];

static void keep_switch_info(uint8_t *mad)
{
	if (field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SWITCH_INFO) {
		memcpy(asked, mad, MAD_BYTES);
	}
}

/* A host that knows one transaction ID, because it saw a request, answers those that would follow
 * if IDs were counted, with a SwitchInfo that asks for a sweep. */
START_TEST(next_ids)
{
	uint8_t first[MAD_BYTES];

	fixture->config.sweep_interval = 10;
	up();
	tap.out_filter = keep_switch_info;
	fixture_run_ms(fixture, 15000);
	memcpy(first, asked, sizeof(first));
	ck_assert_uint_ne(field_get(first, MAD_TID_LOW), 0);
	for (unsigned round = 0; round < 20; round++) {
		for (uint32_t i = 1; i <= 64; i++) {
			memcpy(tap.in, first, MAD_BYTES);
			field_set(tap.in, MAD_TID,
			          field_get(first, MAD_TID) + i + (round << 8));
			field_set(tap.in, SMP_DIRECTION, 1);
			memset(tap.in + 64, 0xff, 64);
			tap_bring(&tap, fixture, UMAD_CLASS_SUBN_DIRECTED_ROUTE,
			          UMAD_METHOD_GET_RESP, UMAD_SM_ATTR_SWITCH_INFO,
			          MAD_BYTES);
		}
		fixture_run_ms(fixture, 1000);
	}
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	ck_assert_uint_gt(sweep_status(fixture->sweep)->forged_answers, 1200);
}
END_TEST

/* A node that was away and is back with its LID is no forger: its trap has the fabric looked at. */
START_TEST(returned)
{
	const struct port *p;
	uint32_t lid, light;
	uint64_t start;

	fixture->config.sweep_on_trap = true;
	up();
	lid = lid_of_host(2);
	p = &fixture->g->ports[fixture_host(fixture, 2)];
	ck_assert_int_eq(sim_set_link(fixture->sim, fixture->g->nodes[p->node].guid,
	                              p->num, false),
	                 E_OK);
	fixture_run_ms(fixture, 20000);
	ck_assert_uint_eq(fixture_sweeps(fixture), 2);
	light = sweep_status(fixture->sweep)->light_sweeps;
	start = fixture_now(fixture);
	for (unsigned i = 0; i < 100; i++) {
		memset(tap.in, 0, sizeof(tap.in));
		field_set(tap.in + 64, NTC_IS_GENERIC, 1);
		field_set(tap.in + 64, NTC_TRAP_NUMBER, 144);
		field_set(tap.in + 64, NTC_ISSUER_LID, lid);
		field_set(tap.in + 64, NTC_144_LID, lid);
		tap_bring_from(&tap, fixture, lid, UMAD_CLASS_SUBN_LID_ROUTED,
		               UMAD_METHOD_TRAP, UMAD_ATTR_NOTICE);
		fixture_run_ms(fixture, 100);
	}
	ck_assert_uint_eq(sweep_status(fixture->sweep)->forged_traps, 0);
	ck_assert_uint_gt(sweep_status(fixture->sweep)->light_sweeps, light);
	ck_assert_uint_le(sweep_status(fixture->sweep)->light_sweeps,
	                  light + 1 + (fixture_now(fixture) - start) / 5000);
}
END_TEST

TEST_SUITE(sweep_forged)
{
	TCase *t = tcase_create("forged");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, accuser);
	tcase_add_test(t, not_involved);
	tcase_add_loop_test(t, answers, 0, 2);
	tcase_add_test(t, next_ids);
	tcase_add_test(t, returned);
	suite_add_tcase(suite, t);
}
