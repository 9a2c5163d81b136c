/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What one host can do that calls itself a subnet manager: nothing, unless somebody announced it.
 */
#include <config.h>

#include "sa/sim/sim_state.h"
#include "sa/sm/discover/keyring.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

enum { HANDOVER = 1, DISABLE = 3, STAND_BY = 4, DISCOVER = 5 };
enum { STANDBY_STATE = 2, MASTER_STATE = 3 };
enum { REFUSED = 0x1c };

static struct sweep_fixture *fixture;
static struct tap tap;

static void setup(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture->config.sm_priority = 5;
}

static void teardown(void)
{
	fixture_free(fixture);
}

static uint32_t host(uint32_t i)
{
	return fixture->g->hosts[i];
}

/* A program on the last host calls itself an SM. */
static void stranger(uint8_t priority, uint8_t state)
{
	const struct graph *g = fixture->g;

	tap.other_guid = g->nodes[g->ports[host(g->n_hosts - 1)].node].guid;
	tap.other_priority = priority;
	tap.other_state = state;
}

static uint64_t stranger_guid(void)
{
	return fixture->g->ports[host(fixture->g->n_hosts - 1)].guid;
}

static uint64_t us(void)
{
	return fixture->g->ports[fixture->g->sm_port].guid;
}

static void announce(uint64_t guid)
{
	fixture->config.allowed_sm_guids = (struct option_guids){ { us(), guid }, 2 };
}

/* Set(SMInfo) that came over a directed route from a node. */
static uint16_t control(uint32_t node, uint32_t what, uint64_t guid, uint8_t state)
{
	memset(tap.in, 0, sizeof(tap.in));
	tap_comes_from(&tap, fixture, node);
	field_set(tap.in, MAD_ATTR_MOD, what);
	field_set(tap.in + 64, SMI_GUID, guid);
	field_set(tap.in + 64, SMI_SM_KEY, 1);
	field_set(tap.in + 64, SMI_PRIORITY, 15);
	field_set(tap.in + 64, SMI_SM_STATE, state);
	tap.n_out = 0;
	tap_bring(&tap, fixture, UMAD_CLASS_SUBN_DIRECTED_ROUTE, UMAD_METHOD_SET,
	          UMAD_SM_ATTR_SM_INFO, MAD_BYTES);
	ck_assert_uint_eq(tap.n_out, 1);
	return (uint16_t)field_get(tap.out, MAD_STATUS) & 0x7fff;
}

static uint32_t node_of_host(uint32_t i)
{
	return fixture->g->ports[host(i)].node;
}

static void run_to_standby(void)
{
	for (unsigned i = 0; i < FIXTURE_TURNS && !sweep_status(fixture->sweep)->standby;
	     i++) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert(sweep_status(fixture->sweep)->standby);
}

/* With no configuration at all, and with each half of one, a higher SM gets nothing, as a standby and as
 * a master, and the log names its host and the remedy. */
START_TEST(not_handed_over)
{
	static const struct {
		uint64_t sm_key, shown, m_key;
		bool shared;
	} rows[] = { { 1, 1, 0, false },
		     { 77, 77, 0, false },
		     { 77, 0, 0, false },
		     { 77, 0, 11, true },
		     { 1, 1, 11, false } };

	fixture->config.sm_key = rows[_i / 2].sm_key;
	fixture->config.m_key = rows[_i / 2].m_key;
	fixture->config.m_key_per_port = !rows[_i / 2].shared;
	tap.other_key = rows[_i / 2].shown;
	stranger(15, 0);
	fixture_log(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	tap.other_state = _i % 2 ? MASTER_STATE : STANDBY_STATE;
	fixture_run_ms(fixture, 60000);
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_eq(tap.n_controls, 0);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	ck_assert_uint_eq(fixture_logged(fixture, "was announced by nobody"), 1);
	ck_assert_uint_eq(fixture_logged(fixture, "set allowed_sm_guids 0x"), 1);
}
END_TEST

/* Announced by its GUID, by a secret SM_Key behind M_Keys, or with sm_trust any, it gets the fabric. */
START_TEST(handed_over)
{
	stranger(15, 0);
	if (_i == 0) {
		announce(stranger_guid());
	} else if (_i == 1) {
		fixture->config.sm_trust = SM_TRUST_ANY;
	} else {
		fixture->config.sm_key = tap.other_key = 77;
		fixture->config.m_key = 11;
	}
	fixture_start(fixture);
	fixture_up(fixture);
	tap.other_state = STANDBY_STATE;
	fixture_run_ms(fixture, 30000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(tap.n_controls, 1);
}
END_TEST

/* One that started after the sweep is told when it is gone, too, which ends its alarm. */
START_TEST(gone_again)
{
	stranger(15, STANDBY_STATE);
	tap.other_left = true;
	fixture_log(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	tap.other_left = false;
	sim_port_issm(fixture->sim, host(fixture->g->n_hosts - 1), true, true);
	fixture_run_ms(fixture, 30000);
	ck_assert_uint_eq(fixture_logged(fixture, "was announced by nobody"), 1);
	tap.other_left = true;
	sim_port_issm(fixture->sim, host(fixture->g->n_hosts - 1), false, true);
	fixture_run_ms(fixture, 30000);
	ck_assert_uint_eq(fixture_logged(fixture, "is gone"), 1);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
}
END_TEST

/* It is announced while it runs: the configuration is read again, and it gets the fabric. */
START_TEST(announced_later)
{
	stranger(15, 0);
	fixture_start(fixture);
	fixture_up(fixture);
	tap.other_state = STANDBY_STATE;
	fixture_run_ms(fixture, 30000);
	ck_assert(sweep_status(fixture->sweep)->master);
	announce(stranger_guid());
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	fixture_run_ms(fixture, 30000);
	ck_assert(sweep_status(fixture->sweep)->standby);
}
END_TEST

/* A master that runs when we start is respected, also one that hides its SM_Key from us as we do from it:
 * two with the same sm_key, and nothing else, must not both be master. */
START_TEST(respected_at_the_start)
{
	stranger(0, MASTER_STATE);
	if (_i > 0) {
		fixture->config.sm_key = _i == 3 ? 1 : 77;
		tap.other_key = 0;
		fixture->config.m_key = _i == 2 ? 11 : 0;
		fixture->config.m_key_per_port = _i != 2;
	}
	fixture_log(fixture);
	fixture_start(fixture);
	run_to_standby();
	fixture_run_ms(fixture, 30000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_ge(fixture_logged(fixture, "was announced by nobody"), 1);
}
END_TEST

/* One with another SM_Key is not, nor one that hides it although the key of its port would have told
 * it that it is one of ours who asks, or although it stands in allowed_sm_guids. */
START_TEST(without_the_key)
{
	stranger(0, MASTER_STATE);
	fixture->config.sm_key = 77;
	tap.other_key = _i == 0 ? 78 : 0;
	if (_i == 1) {
		fixture->config.m_key = 11;
	} else if (_i == 2) {
		announce(stranger_guid());
	}
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 30000);
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_eq(tap.n_controls, 0);
}
END_TEST

/* Of two that start together the higher one becomes master. One that only says so is waited for in vain. */
START_TEST(start_together)
{
	stranger(15, 1); /* DISCOVERING */
	fixture_start(fixture);
	run_to_standby();
	tap.other_state = _i ? MASTER_STATE : 1;
	fixture_run_ms(fixture, 120000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->standby, _i);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->master, !_i);
	ck_assert_uint_eq(tap.n_controls, 0);
}
END_TEST

START_TEST(not_respected_later)
{
	stranger(0, MASTER_STATE);
	announce(stranger_guid());
	fixture_start(fixture);
	run_to_standby();
	fixture->config.allowed_sm_guids = (struct option_guids){ { 0 }, 1 };
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	tap.other_silent = true;
	fixture_run_ms(fixture, 10000);
	ck_assert(sweep_status(fixture->sweep)->master);
	tap.other_silent = false;
	tap.other_priority = 15;
	fixture_run_ms(fixture, 60000);
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_eq(tap.n_controls, 0);
}
END_TEST

/* A master that we stood by for, and that nobody announced, comes back beside us, as when two halves of a
 * fabric are joined: one of us ends to be master, whoever is higher. */
START_TEST(joined_again)
{
	stranger(_i ? 15 : 0, MASTER_STATE);
	fixture_start(fixture);
	run_to_standby();
	tap.other_silent = true;
	fixture_run_ms(fixture, 10000);
	ck_assert(sweep_status(fixture->sweep)->master);
	tap.other_silent = false;
	fixture_run_ms(fixture, _i ? 11000 : 20000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(tap.n_controls, 1);
}
END_TEST

/* Another host says DISABLE, DISCOVER, STANDBY and HANDOVER in the name of the master that we wait for: refused,
 * because it comes from another port, by whatever way back it writes. */
START_TEST(in_the_name_of_the_master)
{
	static const uint32_t what[] = { DISABLE, DISCOVER, STAND_BY, HANDOVER };

	stranger(15, MASTER_STATE);
	announce(stranger_guid());
	fixture_log(fixture);
	fixture_start(fixture);
	run_to_standby();
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(
			control(node_of_host(1), what[i], stranger_guid(), MASTER_STATE),
			REFUSED);
	}
	fixture_run_ms(fixture, 10000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	ck_assert_uint_eq(fixture_logged(fixture, "says the GUID of another port"), 4);
	/* the master itself may */
	ck_assert_uint_eq(control(node_of_host(fixture->g->n_hosts - 1), DISABLE,
	                          stranger_guid(), MASTER_STATE),
	                  0);
}
END_TEST

/* The ports that a sender writes in front of those of the switches lead nowhere: hosts pass nothing on. */
START_TEST(way_back_is_not_forged)
{
	unsigned hops;

	stranger(15, MASTER_STATE);
	announce(stranger_guid());
	fixture_start(fixture);
	run_to_standby();
	for (unsigned extra = 1; extra < 4; extra++) {
		memset(tap.in, 0, sizeof(tap.in));
		tap_comes_from(&tap, fixture, node_of_host(1));
		hops = (unsigned)field_get(tap.in, SMP_HOP_COUNT);
		for (unsigned i = hops; i > 0; i--) {
			tap.in[SMP_RETURN_PATH_AT + i + extra] =
				tap.in[SMP_RETURN_PATH_AT + i];
		}
		for (unsigned i = 1; i <= extra; i++) {
			tap.in[SMP_RETURN_PATH_AT + i] = 1;
		}
		field_set(tap.in, SMP_HOP_COUNT, hops + extra);
		field_set(tap.in, MAD_ATTR_MOD, DISABLE);
		field_set(tap.in + 64, SMI_GUID, stranger_guid());
		field_set(tap.in + 64, SMI_SM_KEY, 1);
		field_set(tap.in + 64, SMI_SM_STATE, MASTER_STATE);
		tap_bring(&tap, fixture, UMAD_CLASS_SUBN_DIRECTED_ROUTE, UMAD_METHOD_SET,
		          UMAD_SM_ATTR_SM_INFO, MAD_BYTES);
		ck_assert_uint_eq(field_get(tap.out, MAD_STATUS) & 0x7fff, REFUSED);
	}
}
END_TEST

/* A host repeats HANDOVER to us while we are master: a few sweeps in an hour, and no client registers anew. */
START_TEST(handover_in_a_loop)
{
	stranger(0, MASTER_STATE);
	fixture_start(fixture);
	run_to_standby();
	tap.other_silent = true;
	fixture_run_ms(fixture, 10000);
	ck_assert(sweep_status(fixture->sweep)->master);
	fixture_up(fixture);
	uint32_t before = fixture_sweeps(fixture);

	for (unsigned i = 0; i < 3600; i++) {
		(void)control(node_of_host(fixture->g->n_hosts - 1), HANDOVER,
		              stranger_guid(), MASTER_STATE);
		fixture_run_ms(fixture, 1000);
	}
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_le(fixture_sweeps(fixture) - before, 12);
	ck_assert_uint_ge(fixture_sweeps(fixture) - before, 1);
}
END_TEST

/* A host says that it is master and that it is standby, in turn: no more sweeps than for the
 * HANDOVERs above. */
START_TEST(master_and_standby_in_a_loop)
{
	stranger(0, 0);
	fixture->config.sweep_interval = 1;
	fixture_start(fixture);
	fixture_up(fixture);
	for (unsigned i = 0; i < 1800; i++) {
		tap.other_state = i % 2 ? STANDBY_STATE : MASTER_STATE;
		fixture_run_ms(fixture, 2000);
	}
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_le(fixture_sweeps(fixture), 1 + 12);
	ck_assert_uint_ge(fixture_sweeps(fixture), 2);
}
END_TEST

/* A master that was announced hands over again and again, as when a fabric falls apart and is joined
 * several times: each time a sweep follows within ten seconds, and one in ten seconds at most. */
START_TEST(announced_hands_over_again)
{
	stranger(0, MASTER_STATE);
	announce(stranger_guid());
	fixture_start(fixture);
	run_to_standby();
	tap.other_silent = true;
	fixture_run_ms(fixture, 10000);
	ck_assert(sweep_status(fixture->sweep)->master);
	fixture_up(fixture);
	for (unsigned i = 0; i < 8; i++) {
		uint32_t before = fixture_sweeps(fixture);

		(void)control(node_of_host(fixture->g->n_hosts - 1), HANDOVER,
		              stranger_guid(), MASTER_STATE);
		fixture_run_ms(fixture, 10500);
		ck_assert_uint_gt(fixture_sweeps(fixture), before);
	}
	fixture_up(fixture);
	uint32_t before = fixture_sweeps(fixture);

	for (unsigned i = 0; i < 600; i++) {
		(void)control(node_of_host(fixture->g->n_hosts - 1), HANDOVER,
		              stranger_guid(), MASTER_STATE);
		fixture_run_ms(fixture, 1000);
	}
	ck_assert_uint_le(fixture_sweeps(fixture) - before, 62);
	ck_assert(sweep_status(fixture->sweep)->master);
}
END_TEST

static uint64_t spied[4096]; /* keys of requests that went to programs */
static unsigned n_spied;

static void spy(uint8_t *mad)
{
	if (field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SM_INFO &&
	    field_get(mad, MAD_METHOD) == UMAD_METHOD_GET && n_spied < 4096) {
		spied[n_spied++] = field_get(mad, SMP_M_KEY);
	}
}

#ifdef HAVE_GNUTLS
/* What a program on a host reads in our requests: the key of its own port at most, never one that is of use
 * elsewhere, also while ports are moved from one key for all to keys of their own. */
START_TEST(keys_in_our_requests)
{
	struct keyring k = { 0 };

	stranger(0, STANDBY_STATE);
	tap.out_filter = spy;
	n_spied = 0;
	fixture->config.m_key = 0x1234567;
	fixture->config.m_key_per_port = _i != 0;
	if (_i == 2) {
		fixture->config.m_key_per_port = false;
	}
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 15000);
	if (_i == 2) { /* from one key for all to keys of their own */
		fixture->config.m_key = 0x7654321;
		fixture->config.m_key_per_port = true;
		sweep_reconfigure(fixture->sweep, &fixture->deps);
		fixture_run_ms(fixture, 30000);
	}
	ck_assert_int_eq(keyring_configure(&k, fixture->config.m_key, 0, true), E_OK);
	ck_assert_uint_gt(n_spied, 1);
	for (unsigned i = 0; i < n_spied; i++) {
		ck_assert(spied[i] == 0 ||
		          (_i != 0 && spied[i] == keyring_wanted(&k, stranger_guid())));
	}
	keyring_done(&k);
}
END_TEST
#endif

TEST_SUITE(sweep_trust)
{
	TCase *t = tcase_create("trust");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, not_handed_over, 0, 10);
	tcase_add_loop_test(t, handed_over, 0, 3);
	tcase_add_test(t, gone_again);
	tcase_add_test(t, announced_later);
	tcase_add_loop_test(t, respected_at_the_start, 0, 4);
	tcase_add_loop_test(t, without_the_key, 0, 3);
	tcase_add_loop_test(t, start_together, 0, 2);
	tcase_add_test(t, not_respected_later);
	tcase_add_loop_test(t, joined_again, 0, 2);
	tcase_add_test(t, in_the_name_of_the_master);
	tcase_add_test(t, way_back_is_not_forged);
	tcase_add_test(t, handover_in_a_loop);
	tcase_add_test(t, master_and_standby_in_a_loop);
	tcase_add_test(t, announced_hands_over_again);
#ifdef HAVE_GNUTLS
	tcase_add_loop_test(t, keys_in_our_requests, 0, 3);
#endif
	suite_add_tcase(suite, t);
}
