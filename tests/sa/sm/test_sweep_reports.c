/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What subscribers hear of traps: the master reports them, and nobody else. A sweep hands the
 * fabric over to another SM, which is then lost; the subscriber of the traps stays.
 */
#include <pthread.h>
#include <sched.h>

#include "sa/mad/wire.h"
#include "sa/server/server.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

enum { INFORM_INFO = 0x03, REPORT = 0x06, QPN = 1, TURNS = 1000000 };

static struct sweep_fixture *fixture;
static struct tap tap;

/* A transport of the SA that counts what leaves, and keeps the trap of the first report. */
static struct {
	struct transport t;
	pthread_mutex_t lock;
	unsigned n_replies, n_reports, first_trap;
} sink = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int sink_send(struct transport *t, const struct mad_msg *m)
{
	unsigned trap = (unsigned)field_get(m->data + SA_HDR_BYTES, NTC_TRAP_NUMBER);

	(void)t;
	pthread_mutex_lock(&sink.lock);
	if (field_get(m->data, MAD_METHOD) != REPORT) {
		ck_assert_uint_eq(field_get(m->data, MAD_STATUS), 0);
		sink.n_replies++;
	} else if (trap >= 128 && sink.n_reports++ == 0) { /* not what the SA itself reports */
		sink.first_trap = trap;
	}
	pthread_mutex_unlock(&sink.lock);
	return E_OK;
}

static void sink_wake(struct transport *t)
{
	(void)t;
}

static const struct transport_ops sink_ops = { .name = "sink",
	                                       .send = sink_send,
	                                       .wake = sink_wake };

static void wait_for(const unsigned *count)
{
	unsigned n = 0;

	while (n == 0) {
		sched_yield();
		pthread_mutex_lock(&sink.lock);
		n = *count;
		pthread_mutex_unlock(&sink.lock);
	}
}

static uint32_t lid_of(uint32_t port)
{
	return (uint32_t)fixture_peek(fixture, port, PI_LID);
}

/* Set(InformInfo) of a host: all generic traps of all ports. */
static void subscribe(uint32_t lid)
{
	uint8_t mad[MAD_BYTES] = { 1, 3, 2, UMAD_METHOD_SET },
		*record = mad + SA_HDR_BYTES;
	const struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_ADM,
		                   .addr = { .lid = lid, .qpn = QPN },
		                   .len = sizeof(mad),
		                   .data = mad };

	field_set(mad, MAD_ATTR_ID, INFORM_INFO);
	memset(record + 16, 0xff, 2); /* LIDRangeBegin: any */
	record[22] = record[23] = 1;  /* IsGeneric, Subscribe */
	memset(record + 24, 0xff, 4); /* Type, TrapNumber */
	memset(record + 33, 0xff, 3); /* ProducerType */
	sa_server_receive(fixture->deps.sa, &m, 1, true);
	wait_for(&sink.n_replies);
}

/* An honest trap of a switch that one of its ports changed. */
static void trap_of_switch(unsigned number)
{
	const struct node *n = &fixture->g->nodes[fixture->g->switches[0]];
	uint32_t lid = lid_of(n->first_port);

	memset(tap.in, 0, sizeof(tap.in));
	field_set(tap.in + SMP_DATA_AT, NTC_IS_GENERIC, 1);
	field_set(tap.in + SMP_DATA_AT, NTC_PRODUCER_TYPE, 2);
	field_set(tap.in + SMP_DATA_AT, NTC_TRAP_NUMBER, number);
	field_set(tap.in + SMP_DATA_AT, NTC_ISSUER_LID, lid);
	if (number == 128) {
		field_set(tap.in + SMP_DATA_AT, NTC_128_LID, lid);
	} else {
		field_set(tap.in + SMP_DATA_AT, NTC_144_LID, lid);
	}
	tap_bring_from(&tap, fixture, lid, UMAD_CLASS_SUBN_LID_ROUTED, UMAD_METHOD_TRAP,
	               UMAD_ATTR_NOTICE);
}

static void start(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	tap.other_guid =
		fixture->g
			->nodes[fixture->g
	                                ->ports[fixture->g
	                                                ->hosts[fixture->g->n_hosts - 1]]
	                                .node]
			.guid;
	tap.other_priority = 15;
	tap.other_state = 0; /* NOT-ACTIVE */
	fixture->config.sm_trust = SM_TRUST_ANY;
	fixture_start(fixture);
	sink.t.ops = &sink_ops;
	fixture_serve(fixture, &sink.t);
	fixture_up(fixture);
}

static void end(void)
{
	fixture_free(fixture);
}

static bool is_discovering(void)
{
	const struct sweep_status *st = sweep_status(fixture->sweep);

	return !st->master && !st->standby;
}

/* The master reports a trap. While it was standby, and while it looked whether it should be
 * master again, it did not. */
START_TEST(traps_of_the_master)
{
	subscribe(lid_of(fixture->g->hosts[0]));
	tap.other_state = 2; /* it becomes standby: the fabric is handed over to it */
	for (unsigned i = 0; i < TURNS && !sweep_status(fixture->sweep)->standby; i++) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert(sweep_status(fixture->sweep)->standby);
	trap_of_switch(144);
	tap.other_silent = true;
	for (unsigned i = 0; i < TURNS && !is_discovering(); i++) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert(is_discovering());
	trap_of_switch(144);
	ck_assert(is_discovering());
	fixture_up(fixture);
	ck_assert(sweep_status(fixture->sweep)->master);
	trap_of_switch(128);
	wait_for(&sink.n_reports);
	ck_assert_uint_eq(sink.first_trap, 128);
}
END_TEST

TEST_SUITE(sweep_reports)
{
	TCase *tc = tcase_create("sim");

	tcase_add_checked_fixture(tc, start, end);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, traps_of_the_master);
	suite_add_tcase(suite, tc);
}
