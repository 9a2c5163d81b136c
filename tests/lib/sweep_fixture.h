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
#include "db/reader.h"
#include "db/snapshot.h"
#include "db/state.h"
#include "routing/graph/graph.h"
#include "routing/route.h"
#include "routing/text/topofile.h"
#include "routing/topogen/topogen.h"
#include "sa/mad/fields.h"
#include "sa/sim/sim.h"
#include "sa/sm/sweep.h"

/*!
 * A simulated fabric on a virtual clock, databases in a temporary folder, and a sweep
 * that can be dropped and made anew, as a killed and restarted daemon would be.
 */
struct rig {
	struct arena *a;   /* of the fabric */
	struct arena *run; /* of the present daemon */
	struct graph *g;
	struct sim *sim;
	struct transport *transport; /* NULL: the simulation's own */
	struct config config;
	struct engine_options engines;
	struct option_sets sets;
	char dir[64], state_dir[80], snap_dir[80];
	struct state *state;
	struct snap_writer *snap;
	struct sweep_deps deps;
	struct sweep *sweep;
	struct diags diags;
	uint8_t guid_cap;     /* of end ports, 0: 8 */
	bool slvl_one_by_one; /* switches take no wildcards for SL-to-VL tables */
};

enum { RIG_TURNS = 3000000 };

struct rig *rig_new(void);

void rig_topo(struct rig *r, const char *text, double fail, uint32_t seed);

void rig_file(struct rig *r, const char *name);

void rig_sim(struct rig *r, uint32_t seed, uint32_t drop_ppm);

/* Opens the databases and starts the sweep. */
void rig_start(struct rig *r);

/* As a kill would: nothing is finished, only what was committed stays. */
void rig_stop(struct rig *r);

int rig_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw);

void rig_free(struct rig *r);

uint64_t rig_now(const struct rig *r);

/* Turns until this many heavy sweeps ended since the start of the present sweep. */
void rig_heavy(struct rig *r, uint32_t n);

/* Turns for some virtual time. */
void rig_run_ms(struct rig *r, uint64_t ms);

/* Turns until the subnet is up and the sweep idle. */
void rig_up(struct rig *r);

/* Brings the fabric of r->sim up from nothing. */
struct rig *rig_bring_up(const char *topo, uint32_t seed, uint32_t drop_ppm);

uint64_t rig_peek(const struct rig *r, uint32_t port, unsigned bit, unsigned width);
