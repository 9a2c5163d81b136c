/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Figures in the stats environment, for metrics and graphs: each is the counter of the SA server or of
 * the sweep that its name says.
 */
#include <endian.h>
#include <sched.h>

#include "sa/mad/wire.h"
#include "sa/server/server.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"
#include "tests/lib/sweep_tap.h"

enum {
	METHOD_GET = 0x01,      /* IBA vol. 1, 13.4.5 */
	METHOD_GETTABLE = 0x12, /* 15.2.2 */
	ATTR_NODE_RECORD = 0x11,
	COMP_LID = 1, /* 15.2.5.2: position of the component */
	TURNS = 100000000
};

static struct sweep_fixture *fixture;
static struct sa_counters now;

static int64_t wall_clock(void)
{
	return 1700000000;
}

static void start(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->with_stats = true;
	fixture->deps.wall_clock = wall_clock;
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_serve(fixture, fixture->deps.transport);
}

static void stop(void)
{
	fixture_free(fixture);
}

/* Asks for NodeRecords and waits until the server has dealt with it. */
static void ask(unsigned method, uint64_t mask, uint16_t lid, uint64_t sm_key)
{
	struct umad_sa_packet mad;
	const uint64_t guid = fixture->g->ports[fixture_host(fixture, 1)].guid;
	const struct sa_counters before = now;

	memset(&mad, 0, sizeof(mad));
	mad.mad_hdr.base_version = 1;
	mad.mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	mad.mad_hdr.class_version = 2;
	mad.mad_hdr.method = (uint8_t)method;
	mad.mad_hdr.tid = htobe64(0x1234);
	mad.mad_hdr.attr_id = htobe16(ATTR_NODE_RECORD);
	mad.comp_mask = htobe64(mask);
	sm_key = htobe64(sm_key);
	memcpy(mad.sm_key, &sm_key, sizeof(sm_key));
	mad.data[0] = (uint8_t)(lid >> 8);
	mad.data[1] = (uint8_t)lid;
	ck_assert_int_eq(
		sim_client_send(fixture->sim, guid, (const uint8_t *)&mad, sizeof(mad)),
		E_OK);
	for (unsigned turns = 0;
	     now.answered == before.answered && now.dropped_key == before.dropped_key;
	     turns++) {
		ck_assert_uint_lt(turns, TURNS);
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		sched_yield();
		sa_server_counters(fixture->deps.sa, &now);
	}
}

static void assert_figure(const struct stats_copy *c, const char *name, double want)
{
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->values[i].name, name) == 0) {
			ck_assert_msg(c->values[i].value == want, "%s is %g, not %g",
			              name, c->values[i].value, want);
			return;
		}
	}
	ck_abort_msg("%s is missing", name);
}

START_TEST(figures)
{
	struct stats_copy c;
	struct stats_reader *r;

	start();
	sa_server_counters(fixture->deps.sa, &now);
	ask(METHOD_GET, COMP_LID, 1, 0);
	ask(METHOD_GET, COMP_LID, 0x7777, 0); /* nobody has this LID */
	ask(METHOD_GETTABLE, 0, 0, 0);        /* all nodes */
	ask(METHOD_GETTABLE, 0, 0, 0x6b6579); /* a wrong key */
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_ge(now.requests, 4);
	ck_assert_uint_ge(now.answered, 3);
	ck_assert_uint_ge(now.no_records, 1);
	ck_assert_uint_ge(now.records, 1 + fixture->g->n_nodes);
	ck_assert_int_eq(stats_reader_open(fixture->snap_dir, &r), E_OK);
	ck_assert_int_eq(stats_read(r, fixture->run, &c), E_OK);
	sa_server_counters(fixture->deps.sa, &now);

	const struct sweep_status *st = sweep_status(fixture->sweep);
	const struct {
		const char *name;
		double want;
	} all[] = {
		{ "sa_requests_total", (double)now.requests },
		{ "sa_answered_total", (double)now.answered },
		{ "sa_records_total", (double)now.records },
		{ "sa_no_records_total", (double)now.no_records },
		{ "sa_dropped_total{reason=\"malformed\"}",
		  (double)now.dropped_malformed },
		{ "sa_dropped_total{reason=\"key\"}", (double)now.dropped_key },
		{ "sa_dropped_total{reason=\"overload\"}", (double)now.dropped_overload },
		{ "sa_dropped_total{reason=\"standby\"}", (double)now.dropped_standby },
		{ "sa_refused_large_total", (double)now.refused_large },
		{ "sa_services", (double)now.services },
		{ "sa_subscriptions", (double)now.subscriptions },
		{ "sa_groups", (double)now.groups },
		{ "sa_members", (double)now.members },
		{ "sa_reports_sent_total", (double)now.reports_sent },
		{ "sa_reports_answered_total", (double)now.reports_answered },
		{ "sa_reports_given_up_total", (double)now.reports_given_up },
		{ "sa_reports_dropped_total", (double)now.reports_dropped },
		{ "sa_reports_forged_total", (double)now.reports_forged },
		{ "heavy_sweeps_total", st->heavy_sweeps },
		{ "local_sweeps_total", st->local_sweeps },
		{ "light_sweeps_total", st->light_sweeps },
		{ "failed_sweeps_total", st->failed_sweeps },
		{ "last_sweep_timestamp_seconds{kind=\"heavy\"}", 1700000000 },
		{ "last_sweep_timestamp_seconds{kind=\"local\"}",
		  (double)st->local_ended_s },
		{ "last_sweep_timestamp_seconds{kind=\"light\"}",
		  (double)st->light_ended_s },
		{ "route_cache_hits_total", st->cache_hits },
		{ "route_cache_misses_total", st->cache_misses },
		{ "fabric_switches", st->switches },
		{ "fabric_hosts", st->hosts },
		{ "unreachable_nodes", 0 },
		{ "subnet_up", 1 },
		{ "epoch", (double)st->epoch },
		{ "port_infos_sent_total", (double)st->port_sets },
	};
	ck_assert_uint_gt(st->port_sets, 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_figure(&c, all[i].name, all[i].want);
	}
	stats_reader_close(r);
	stop();
}
END_TEST

/* The state as the next turn shows it, without waiting for the next heartbeat. */
START_TEST(state_at_once)
{
	struct stats_copy c;
	struct stats_reader *r;
	struct tap tap;
	unsigned turns = 0;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->with_stats = true;
	tap_init(&tap, fixture);
	tap.other_guid = fixture_host_guid(fixture, 3);
	tap.other_priority = 9;
	fixture->config.sweep_interval = 1;
	fixture->config.allowed_sm_guids =
		(struct option_guids){ { tap.other_guid + 1 }, 1 };
	fixture_start(fixture);
	fixture_up(fixture);
	tap.other_state = 2;
	ck_assert_int_eq(stats_reader_open(fixture->snap_dir, &r), E_OK);
	while (!sweep_status(fixture->sweep)->standby) {
		ck_assert_uint_lt(turns++, FIXTURE_TURNS);
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	ck_assert_int_eq(stats_read(r, fixture->run, &c), E_OK);
	ck_assert_str_eq(stats_copy_text(&c, "sm.state"), "standby");
	stats_reader_close(r);
	stop();
}
END_TEST

TEST_SUITE(sweep_figures)
{
	TCase *t = tcase_create("sweep_figures");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, figures);
	tcase_add_test(t, state_at_once);
	suite_add_tcase(suite, t);
}
