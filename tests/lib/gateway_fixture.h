/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "db/snapshot/snapshot.h"
#include "db/stats/stats.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/route.h"
#include "routing/topogen/topogen.h"

/*!
 * A published fabric for the gateway's tests: what saguarod would have put in the folder.
 */
struct gateway_fixture {
	char dir[64]; /* snapshot folder */
	struct arena *arena;
	struct diags diags;
	struct graph *g;
	struct lids lids;
	struct route_result route;
	struct snap_writer *writer;
	struct stats *stats;
	uint64_t epoch;
	uint32_t grace_ms; /* 0: the usual one */
};

/* A fabric that is not routed yet, so that a test can change it. */
void gateway_fixture_init(struct gateway_fixture *w, const char *kind, int argc,
                          char **argv);

void gateway_fixture_route(struct gateway_fixture *w, uint32_t lmc);

void gateway_fixture_open(struct gateway_fixture *w);

void gateway_fixture_publish(struct gateway_fixture *w, uint64_t epoch);

/* A sign of life that is age_ms old, of a daemon whose subnet is up or not. Age 0 is that
 * of one that goes on: it does not get old while the test waits for its turn. */
void gateway_fixture_heartbeat(struct gateway_fixture *w, uint64_t age_ms, bool up);

/* Removes the snapshot folder with all that is in it. */
void gateway_fixture_remove(const struct gateway_fixture *w);

void gateway_fixture_done(struct gateway_fixture *w);
