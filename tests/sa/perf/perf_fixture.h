/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/lmdb/counters.h"
#include "db/stats/stats.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

/*! A subnet manager that reads counters of a simulated fabric, and a reader of its stats. */
enum { INTERVAL_S = 4 };

static struct sweep_fixture *fixture;
static struct stats_reader *reader;

static inline void perf_fixture_up(const char *topo, uint32_t drop_ppm, bool omni_path)
{
	fixture = fixture_new();
	fixture->omni_path = omni_path;
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, 1, drop_ppm);
	fixture->config.perfmgr = true;
	fixture->config.perfmgr_sweep_time_s = INTERVAL_S;
	fixture->with_stats = true;
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_int_eq(stats_reader_open(fixture->snap_dir, &reader), E_OK);
}

static inline void perf_fixture_done(void)
{
	stats_reader_close(reader);
	reader = NULL;
	if (fixture != NULL) {
		fixture_free(fixture);
	}
	fixture = NULL;
}

/* Long enough for a sweep that begins now at the latest to end and to be written. */
static inline void one_sweep(void)
{
	fixture_run_ms(fixture, INTERVAL_S * 1000 + INTERVAL_S * 500 + 2500);
}

static inline uint64_t guid_of(uint32_t port)
{
	return fixture->g->nodes[fixture->g->ports[port].node].guid;
}

static inline int row(uint32_t port, struct port_counters *ret_counters)
{
	return read_port_counters(reader, guid_of(port), fixture->g->ports[port].num,
	                          fixture->run, ret_counters);
}
