/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad_sm.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/route.h"
#include "routing/topogen/topogen.h"
#include "sa/mad/fields.h"

/* Ends the program; needs no test runner, so that benchmarks can use it too. */
void query_fixture_fail(const char *what, int line);

#define MUST(condition) ((condition) ? (void)0 : query_fixture_fail(#condition, __LINE__))

/*!
 * A fabric, routed and published into a snapshot in a temporary folder, with a pinned
 * reader.
 */
struct query_fixture {
	struct arena *a;
	struct graph *g;
	struct lids lids;
	struct route_result route;
	struct snap_content content;
	struct snap_attr *attrs;
	size_t cap_attrs;
	char dir[64];
	struct snap_writer *w;
	struct snap_reader *r;
	struct lid_memory
		high; /*!< a port with this LID, of up to 24 bits; guid 0: none */
};

enum { FIXTURE_LIFE_TIME = 18, FIXTURE_M_KEY = 0x1234 };

#define FIXTURE_PREFIX UINT64_C(0xfec0000000000007)
#define FIXTURE_CAPABILITY_MASK UINT32_C(0x00410048)

struct query_fixture *query_fixture_new(void);

uint32_t query_fixture_add(struct query_fixture *w, enum node_type type, uint64_t guid,
                           unsigned ports, const char *description);

/* Cables two ports, both with this width, speed and MTU code. */
void query_fixture_cable(struct query_fixture *w, uint32_t node_a, unsigned port_a,
                         uint32_t node_b, unsigned port_b, enum link_width width,
                         enum link_speed speed, uint8_t mtu);

/* A payload to publish, zeroed, to be filled; len bytes. */
uint8_t *query_fixture_attr(struct query_fixture *w, uint16_t attr, uint64_t guid,
                            uint32_t block, uint16_t len);

void query_fixture_publish(struct query_fixture *w, enum path_selection mode);

/* Freezes (if need be), assigns LIDs, routes, publishes. */
void query_fixture_start(struct query_fixture *w, unsigned lmc, unsigned lmc_esp0,
                         enum path_selection mode);

void query_fixture_free(struct query_fixture *w);

/* GUIDs of the small fabric below. */
enum {
	SW_A = 0x1000,
	SW_B = 0x2000,
	SW_C = 0x3000, /* C has no hosts; A and C have enhanced ports 0 */
	HOST = 0x101,
	DUAL = 0x201,
	TWIN_1 = 0x301,
	TWIN_2 = 0x401,
	LEFT = 0x501,
	RIGHT = 0x601
};

/*
 *   HOST (NDR)  --- A --- (HDR) --- C --- (EDR, MTU 2048) --- B --- TWIN_2 (FDR)
 *   TWIN_1 (QDR) -- A                                         B --- DUAL/2 (EDR)
 *   DUAL/1 (EDR) -- A                                LEFT --- (EDR) --- RIGHT
 *
 * Port GUIDs are node GUID + port number for hosts. All 4x.
 */
struct query_fixture *query_fixture_small_high(unsigned lmc, unsigned lmc_esp0,
                                               enum path_selection mode,
                                               struct lid_memory high);

struct query_fixture *query_fixture_small(unsigned lmc, unsigned lmc_esp0,
                                          enum path_selection mode);

/* End port by port GUID. */
struct snap_end query_fixture_end(struct query_fixture *w, uint64_t port_guid);
