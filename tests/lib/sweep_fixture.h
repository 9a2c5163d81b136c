/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/config.h"
#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot.h"
#include "db/state/state.h"
#include "db/stats/stats.h"
#include "routing/engine_options.h"
#include "routing/graph/graph.h"
#include "routing/route.h"
#include "routing/text/topofile.h"
#include "routing/topogen/topogen.h"
#include "sa/mad/fields.h"
#include "sa/sm/sweep.h"
#include "tests/sa/sim/sim_tests.h"

/*!
 * A simulated fabric on a virtual clock, databases in a temporary folder, and a sweep
 * that can be dropped and made anew, as a killed and restarted daemon would be.
 */
struct sweep_fixture {
	struct arena *a;   /* of the fabric */
	struct arena *run; /* of the present daemon */
	struct graph *g;
	struct sim *sim;
	struct transport *transport; /* NULL: the simulation's own */
	struct config config;
	struct engine_options engines;
	struct option_sets sets;
	char dir[64], state_dir[80], snap_dir[80], log[80];
	struct state *state;
	struct snap_writer *snap;
	struct stats *stats; /* NULL unless with_stats */
	bool with_stats;
	struct sweep_deps deps;
	struct sweep *sweep;
	struct diags diags;
	uint8_t guid_cap;     /* of end ports, 0: 8 */
	uint16_t vport_cap;   /* virtual ports of each port of a host, 0: none */
	bool slvl_one_by_one; /* switches take no wildcards for SL-to-VL tables */
	bool omni_path;       /* its nodes are Omni-Path devices */
	bool keep_lids;       /* ports begin with the LIDs of the graph */
};

enum { FIXTURE_TURNS = 3000000 };

struct sweep_fixture *fixture_new(void);

void fixture_topo(struct sweep_fixture *r, const char *text, double fail, uint32_t seed);

void fixture_file(struct sweep_fixture *r, const char *name);

void fixture_sim(struct sweep_fixture *r, uint32_t seed, uint32_t drop_ppm);

/* Text of a partitions.conf as the configuration of the next sweep. */
void fixture_partitions(struct sweep_fixture *r, const char *text);

/* The port of a host, from 0. */
uint32_t fixture_host(const struct sweep_fixture *r, unsigned i);

/* Its node, and the number of the port there. */
uint64_t fixture_host_guid(const struct sweep_fixture *r, unsigned i);
uint8_t fixture_host_num(const struct sweep_fixture *r, unsigned i);

/* A virtual port more on the port of a host; own: it wants a LID of its own. Its index. */
uint16_t fixture_add_vport(struct sweep_fixture *r, unsigned i, uint64_t guid, bool own);

/* Opens the databases and starts the sweep. */
void fixture_start(struct sweep_fixture *r);

/* The sweep speaks to an SA server that sends by \a t from now on. It ends with the sweep. */
void fixture_serve(struct sweep_fixture *r, struct transport *t);

/* As a kill would: nothing is finished, only what was committed stays. */
void fixture_stop(struct sweep_fixture *r);

int fixture_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw);

void fixture_free(struct sweep_fixture *r);

uint64_t fixture_now(const struct sweep_fixture *r);

/* Keeps the log from here on, until the fixture ends; what was kept before is forgotten. */
void fixture_log(struct sweep_fixture *r);

/* How many lines of it have this text. */
unsigned fixture_logged(const struct sweep_fixture *r, const char *text);

/* Turns until this many heavy sweeps ended since the start of the present sweep. */
void fixture_heavy(struct sweep_fixture *r, uint32_t n);

/* Sweeps that ended since the start of the present sweep: heavy and local ones. */
uint32_t fixture_sweeps(const struct sweep_fixture *r);

/* Turns for some virtual time. */
void fixture_run_ms(struct sweep_fixture *r, uint64_t ms);

/* Turns until the subnet is up and the sweep idle. */
void fixture_up(struct sweep_fixture *r);

/* Brings the fabric of r->sim up from nothing. */
struct sweep_fixture *fixture_bring_up(const char *topo, uint32_t seed,
                                       uint32_t drop_ppm);

uint64_t fixture_peek(const struct sweep_fixture *r, uint32_t port, unsigned bit,
                      unsigned width);

/* The first block of the forwarding table that each switch holds: [n_switches][64]. */
const uint8_t *fixture_tables(const struct sweep_fixture *r);
