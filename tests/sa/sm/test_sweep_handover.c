/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A master with a link to standbys hands the fabric to a higher SM: when that has a copy of what
 * clients registered, or after a wait, and then with a line that says what it costs.
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

TEST_SUITE(sweep_handover)
{
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
