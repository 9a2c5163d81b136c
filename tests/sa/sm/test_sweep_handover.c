/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A master with a link to standbys hands the fabric to a higher SM: when that has a copy of what
 * clients registered, or after a wait, and then with a line that says what it costs. A standby takes
 * over with its copy, or without one. An operator gives the fabric to another.
 */
#include <config.h>

#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

#ifdef HAVE_GNUTLS

#include "tests/lib/standby_fixture.h"

static struct sweep_fixture *fixture;
static struct tap tap;

static void setup(void)
{
	open_states();
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture->config.sweep_interval = 1;
	fixture->config.sm_priority = 5;
	open_master(60000);
	fixture->deps.standby = master;
	fixture->config.allowed_sm_guids =
		(struct option_guids){ { STANDBY_GUID, STANDBY_GUID + 1 }, 2 };
}

/* We are master; on a host runs another SM that is not active yet. */
static void up(uint64_t other_sm_guid)
{
	tap.other_guid = fixture_host_guid(fixture, 3);
	tap.other_sm_guid = other_sm_guid;
	tap.other_priority = 9;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_up(fixture);
	fixture_log(fixture);
}

static void teardown(void)
{
	fixture_free(fixture);
	close_links();
}

static unsigned n_waits(void)
{
	return fixture_logged(fixture, "is higher; it is handed over to when");
}

static unsigned n_without_copy(void)
{
	return fixture_logged(fixture, "SAG-SM-006");
}

/* No standby connects: the fabric stays here for as long as a copy may take, and is then
 * handed over all the same. */
START_TEST(without_copy)
{
	up(STANDBY_GUID);
	tap.other_state = 2;
	fixture_run_ms(fixture, 9000);
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_eq(tap.n_controls, 0);
	ck_assert_uint_eq(n_waits(), 1);
	ck_assert_uint_eq(n_without_copy(), 0);
	fixture_run_ms(fixture, 4000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(tap.n_controls, 1);
	ck_assert_uint_eq(tap.control[0], 1);
	ck_assert_uint_eq(n_without_copy(), 1);
}
END_TEST

/* The copy is in step: the fabric is handed over at the next look, and nothing is lost. */
START_TEST(with_copy)
{
	up(STANDBY_GUID);
	open_standby(standby_port(master), secret_text, PREFIX);
	WAIT_UNTIL(status(master).n_in_step == 1);
	tap.other_state = 2;
	fixture_run_ms(fixture, 3000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(tap.n_controls, 1);
	ck_assert_uint_eq(tap.control[0], 1);
	ck_assert_uint_eq(n_waits(), 0);
	ck_assert_uint_eq(n_without_copy(), 0);
}
END_TEST

/* A copy of somebody else does not count. */
START_TEST(copy_of_another)
{
	up(STANDBY_GUID + 1);
	open_standby(standby_port(master), secret_text, PREFIX);
	WAIT_UNTIL(status(master).n_in_step == 1);
	tap.other_state = 2;
	fixture_run_ms(fixture, 9000);
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_eq(tap.n_controls, 0);
	ck_assert_uint_eq(n_waits(), 1);
}
END_TEST

/* The copy comes while it is waited for: the wait is over. */
START_TEST(copy_arrives)
{
	up(STANDBY_GUID);
	tap.other_state = 2;
	fixture_run_ms(fixture, 5000);
	ck_assert(sweep_status(fixture->sweep)->master);
	open_standby(standby_port(master), secret_text, PREFIX);
	WAIT_UNTIL(status(master).n_in_step == 1);
	fixture_run_ms(fixture, 3000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(n_without_copy(), 0);
}
END_TEST

/* --- the other SM is master, and we take over --------------------------------------- */

enum { FAR = 100 }; /* LIDs of the copy are that much higher than those of ports */

static void setup_standby(void)
{
	open_states();
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture); /* so that ports have LIDs */
	fixture_up(fixture);
	fixture_stop(fixture);
	tap_init(&tap, fixture);
	fixture->config.sm_priority = 15;
	fixture->config.allowed_sm_guids = (struct option_guids){
		{ MASTER_GUID, sim_transport(fixture->sim)->local.port_guid }, 2
	};
	tap.other_guid = fixture_host_guid(fixture, 3);
	tap.other_sm_guid = MASTER_GUID;
}

static void teardown_standby(void)
{
	standby_free(standby); /* it writes into the state of the fixture */
	standby = NULL;
	fixture->deps.standby = NULL;
	if (fixture->sweep != NULL) {
		sweep_reconfigure(fixture->sweep, &fixture->deps);
	}
	fixture_free(fixture);
	close_links();
}

/* The LID that the state remembers of a port. */
static uint32_t lid_in(struct state *s, uint64_t guid)
{
	struct lid_memory *lids;
	size_t n;

	ck_assert_int_eq(state_lids(s, arena, &lids, &n), E_OK);
	for (size_t i = 0; i < n; i++) {
		if (lids[i].guid == guid) {
			return lids[i].range.base;
		}
	}
	return 0;
}

/* In the state of the master this port has a LID that it does not have now. */
static void remember_far_lid(uint32_t port)
{
	const struct lid_memory m = {
		.guid = fixture->g->ports[port].guid,
		.range = { (uint32_t)fixture_peek(fixture, port, PI_LID) + FAR, 0 },
	};

	ck_assert_int_eq(state_put_lids(from, &m, 1, false), E_OK);
}

static void run_as_standby(void)
{
	tap.other_state = 3;
	fixture_start(fixture);
	for (unsigned i = 0; i < FIXTURE_TURNS && !sweep_status(fixture->sweep)->standby;
	     i++) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	fixture_log(fixture);
}

static void link_with_master(void)
{
	const struct standby_options o = {
		.peers = arena_printf(arena, "127.0.0.1:%u",
		                      standby_port(open_master(60000))),
		.secret = write_secret("s", secret_text),
		.guid = sim_transport(fixture->sim)->local.port_guid,
		.prefix = PREFIX,
		.state = fixture->state
	};

	standby = open_link(&o);
	fixture->deps.standby = standby;
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	standby_set_role(standby, STANDBY_TAKES);
}

static void master_is_gone(void)
{
	tap.other_left = true;
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
	ck_assert(sweep_status(fixture->sweep)->master);
}

/* What clients of the old master registered, and the LIDs that it gave, are ours. */
START_TEST(takeover_with_copy)
{
	uint32_t port = fixture_host(fixture, 5);

	change_service(from, 7, 7);
	remember_far_lid(port);
	run_as_standby();
	link_with_master();
	WAIT_UNTIL(status(master).n_in_step == 1);
	const char *copy = dump(from);
	master_is_gone();
	ck_assert_uint_eq(
		fixture_logged(fixture, "takes over with the state of the master 0x"), 1);
	ck_assert_ptr_nonnull(strstr(copy, ":0700"));
	ck_assert_ptr_nonnull(strstr(dump(fixture->state), ":0700"));
	ck_assert_uint_eq(fixture_peek(fixture, port, PI_LID),
	                  lid_in(from, fixture->g->ports[port].guid));
}
END_TEST

/* There is no copy of the last master, so what clients registered here before that is of
 * no use: they register again. LIDs stay as the ports have them. */
START_TEST(takeover_without_copy)
{
	uint32_t port = fixture_host(fixture, 5);
	uint64_t lid = fixture_peek(fixture, port, PI_LID);

	run_as_standby();
	change_service(fixture->state, 7, 7);
	master = NULL;
	link_with_master();
	standby_set_role(master, STANDBY_IDLE);
	standby_free(master);
	master = NULL;
	WAIT_UNTIL(!standby_hears(standby));
	tap.other_sm_guid = 0; /* another one was master last */
	master_is_gone();
	ck_assert_uint_eq(fixture_logged(fixture, "SAG-SM-007"), 1);
	ck_assert_ptr_null(strstr(dump(fixture->state), ":0700"));
	ck_assert_uint_eq(fixture_peek(fixture, port, PI_LID), lid);
	ck_assert_uint_eq(lid_in(fixture->state, fixture->g->ports[port].guid), lid);
}
END_TEST

/* We stood by when we were stopped, and nobody else is there at our start: others may
 * have been master since that copy, so it is not used. */
START_TEST(copy_from_before)
{
	const struct state_copy_mark mark = { MASTER_GUID, PREFIX, 5, 1700000000, true };
	uint32_t port = fixture_host(fixture, 5);
	uint64_t lid = fixture_peek(fixture, port, PI_LID);

	fixture_start(fixture);
	change_service(fixture->state, 7, 7);
	ck_assert_int_eq(state_apply(fixture->state, NULL, 0, false, &mark), E_OK);
	fixture_log(fixture);
	tap.other_left = true;
	fixture_up(fixture);
	ck_assert_uint_eq(
		fixture_logged(
			fixture,
			"the copy is from before this start, of the master 0x00000000000000a1"),
		1);
	ck_assert_ptr_null(strstr(dump(fixture->state), ":0700"));
	ck_assert_uint_eq(fixture_peek(fixture, port, PI_LID), lid);
}
END_TEST

/* --- an operator gives the fabric to another ---------------------------------------- */

static void setup_yield(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture->config.sm_priority = 5;
	fixture->config.sweep_interval = 1;
	fixture->config.sm_trust = SM_TRUST_ANY;
	tap.other_guid = fixture_host_guid(fixture, 3);
	tap.other_state = 2;
}

static void teardown_yield(void)
{
	fixture_free(fixture);
}

static void yield(int expected, const char *word)
{
	char text[300] = "";

	ck_assert_int_eq(sweep_request_handover(fixture->sweep, text, sizeof(text)),
	                 expected);
	ck_assert_msg(strstr(text, word) != NULL, "no '%s' in: %s", word, text);
}

/* To a lower one, which hands nothing back because our priority is 0; then we are not
 * master any more. */
START_TEST(yields)
{
	tap.other_priority = 1;
	fixture_start(fixture);
	yield(E_NOTREADY, "is not master, but DISCOVERING");
	fixture_up(fixture);
	fixture_run_ms(fixture, 3000);
	ck_assert(sweep_status(fixture->sweep)->master);
	yield(E_OK, "");
	fixture_run_ms(fixture, 20000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(tap.n_controls, 1);
	ck_assert_uint_eq(tap.control[0], 1);
	tap.n_out = 0;
	memset(tap.in, 0, sizeof(tap.in));
	tap_bring(&tap, fixture, UMAD_CLASS_SUBN_LID_ROUTED, UMAD_METHOD_GET,
	          UMAD_SM_ATTR_SM_INFO, MAD_BYTES);
	ck_assert_uint_eq(tap.out[64 + 20], 0 << 4 | 2); /* priority 0, STANDBY */
	yield(E_NOTREADY, "is not master, but STANDBY");
}
END_TEST

/* Nobody is there who could take it, or one that would give it back. */
START_TEST(yields_to_nobody)
{
	bool hands_back = _i == 1;

	tap.other_priority = 0;
	tap.other_left = !hands_back;
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 3000);
	yield(E_NOTREADY, hands_back ? "would hand back at once"
	                             : "there is no other subnet manager");
	fixture_run_ms(fixture, 20000);
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_eq(tap.n_controls, 0);
}
END_TEST

TEST_SUITE(sweep_handover)
{
	TCase *s = tcase_create("takeover"), *y = tcase_create("yield");

	tcase_set_timeout(s, 60);
	tcase_add_checked_fixture(s, setup_standby, teardown_standby);
	tcase_add_test(s, takeover_with_copy);
	tcase_add_test(s, takeover_without_copy);
	tcase_add_test(s, copy_from_before);
	suite_add_tcase(suite, s);
	tcase_set_timeout(y, 60);
	tcase_add_checked_fixture(y, setup_yield, teardown_yield);
	tcase_add_test(y, yields);
	tcase_add_loop_test(y, yields_to_nobody, 0, 2);
	suite_add_tcase(suite, y);
	TCase *t = tcase_create("copy");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, without_copy);
	tcase_add_test(t, with_copy);
	tcase_add_test(t, copy_of_another);
	tcase_add_test(t, copy_arrives);
	suite_add_tcase(suite, t);
}

#else

TEST_SUITE(sweep_handover)
{
	(void)suite;
}

#endif
