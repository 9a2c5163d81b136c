/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <errno.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/transport.h"
#include "tests/sa/sim/sim_tests.h"

/*
 * The fabric of most cases:
 *
 *   h1[1] -- [1]A[3] -- [3]B[1] -- [1]h2        A: enhanced port 0, B: base port 0
 *                 A[4] -- [4]B                  h1: the SM
 *
 * Expectations are the specification's (IBA vol. 1, the sections named beside them).
 */
enum { A = 0xA0, B = 0xB0, H1 = 0x100, H2 = 0x200, PORT1 = 1 };

struct sim_fixture {
	struct arena *arena;
	struct graph *g;
	struct sim *s;
	struct transport *t;
	uint64_t tid;
	uint8_t path[64]; /* initial path; [0] is its length */
	uint8_t data[64]; /* of the last answer */
	uint8_t mad[MAD_BYTES];
};

static struct sim_fixture fixture;

static inline uint32_t add(struct graph *g, enum node_type type, uint64_t guid,
                           unsigned ports, const char *name)
{
	uint32_t n;
	ck_assert_int_eq(graph_add_node(g, type, guid, ports, name, NULL, &n), E_OK);
	return n;
}

static inline void cable(struct graph *g, uint32_t a, unsigned pa, uint32_t b,
                         unsigned pb)
{
	ck_assert_int_eq(graph_connect(g, graph_port(g, a, pa), graph_port(g, b, pb)),
	                 E_OK);
}

static inline void open_fixture(const struct sim_options *o)
{
	memset(&fixture, 0, sizeof(fixture));
	fixture.arena = arena_new();
	struct graph *g = fixture.g = graph_new(fixture.arena);
	uint32_t a = add(g, NODE_SWITCH, A, 4, "switch a");
	uint32_t b = add(g, NODE_SWITCH, B, 4, "switch b");
	uint32_t h1 = add(g, NODE_CA, H1, 1, "h1");
	uint32_t h2 = add(g, NODE_CA, H2, 1, "h2");
	g->nodes[a].esp0 = true;
	cable(g, h1, 1, a, 1);
	cable(g, h2, 1, b, 1);
	cable(g, a, 3, b, 3);
	cable(g, a, 4, b, 4);
	ck_assert_int_eq(graph_freeze(g, NULL), E_OK);
	struct sim_options opts = *o;
	opts.sm_port_guid = H1 + PORT1;
	ck_assert_int_eq(sim_new(g, &opts, false, &fixture.s), E_OK);
	fixture.t = sim_transport(fixture.s);
}

static inline void setup(void)
{
	open_fixture(&(struct sim_options){ .virtual_clock = true, .delay_us = 10 });
}

static inline void teardown(void)
{
	sim_free(fixture.s);
	arena_free(fixture.arena);
}

/* Sets the initial path: to(n, p1, p2, ...). */
#define TO(...)                                                                          \
	to((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static inline void to(const uint8_t *path, size_t n)
{
	fixture.path[0] = (uint8_t)n;
	memcpy(fixture.path + 1, path, n);
}

static inline void to_self(void)
{
	fixture.path[0] = 0;
}

static inline void fill(uint8_t method, uint16_t attr, uint32_t mod)
{
	memset(fixture.mad, 0, sizeof(fixture.mad));
	field_set(fixture.mad, MAD_BASE_VERSION, 1);
	field_set(fixture.mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_DIRECTED_ROUTE);
	field_set(fixture.mad, MAD_CLASS_VERSION, 1);
	field_set(fixture.mad, MAD_METHOD, method);
	field_set(fixture.mad, MAD_TID, ++fixture.tid);
	field_set(fixture.mad, MAD_ATTR_ID, attr);
	field_set(fixture.mad, MAD_ATTR_MOD, mod);
	field_set(fixture.mad, SMP_DR_SLID, 0xFFFF);
	field_set(fixture.mad, SMP_DR_DLID, 0xFFFF);
	field_set(fixture.mad, SMP_HOP_COUNT, fixture.path[0]);
	memcpy(fixture.mad + SMP_INITIAL_PATH_AT + 1, fixture.path + 1, fixture.path[0]);
	if (method == UMAD_METHOD_SET) {
		memcpy(fixture.mad + SMP_DATA_AT, fixture.data, sizeof(fixture.data));
	}
}

/* Sends fixture.mad and waits for its answer, which replaces it. Returns status or -1. */
static inline int exchange_to(uint32_t lid)
{
	uint8_t mgmt_class = (uint8_t)field_get(fixture.mad, MAD_MGMT_CLASS);
	struct mad_msg m = { .mgmt_class = mgmt_class,
		             .len = MAD_BYTES,
		             .data = fixture.mad };
	m.addr.directed = mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	m.addr.lid = lid;
	uint64_t tid = field_get(fixture.mad, MAD_TID);
	ck_assert_int_eq(transport_send(fixture.t, &m), E_OK);
	struct mad_msg r;
	uint64_t deadline = fixture.t->ops->now_ms(fixture.t) + 5;
	do { /* traps may come in between */
		int ret = fixture.t->ops->recv(fixture.t, deadline, &r);
		if (ret == E_TIMEOUT) {
			return -1;
		}
		ck_assert_int_eq(ret, E_OK);
	} while (field_get(r.data, MAD_METHOD) == UMAD_METHOD_TRAP);
	ck_assert_uint_eq(r.len, MAD_BYTES);
	ck_assert_uint_eq(r.mgmt_class, mgmt_class);
	memcpy(fixture.mad, r.data, MAD_BYTES);
	ck_assert_uint_eq(field_get(fixture.mad, MAD_TID), tid);
	memcpy(fixture.data, fixture.mad + SMP_DATA_AT, sizeof(fixture.data));
	return (int)field_get(fixture.mad, MAD_STATUS) & 0x7FFF;
}

static inline int smp(uint8_t method, uint16_t attr, uint32_t mod)
{
	fill(method, attr, mod);
	return exchange_to(0xFFFF);
}

static inline int get(uint16_t attr, uint32_t mod)
{
	return smp(UMAD_METHOD_GET, attr, mod);
}

static inline int set(uint16_t attr, uint32_t mod)
{
	return smp(UMAD_METHOD_SET, attr, mod);
}

/* Get, change one field, Set. */
static inline int change(uint32_t mod, unsigned bit, unsigned width, uint64_t v)
{
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, mod), 0);
	field_set(fixture.data, PI_PORT_STATE, 0);
	field_set(fixture.data, PI_PORT_PHYSICAL_STATE, 0);
	field_set(fixture.data, bit, width, v);
	return set(UMAD_SM_ATTR_PORT_INFO, mod);
}

static inline uint64_t port_field(uint32_t mod, unsigned bit, unsigned width)
{
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, mod), 0);
	return field_get(fixture.data, bit, width);
}

static inline void give_lid(uint32_t lid)
{
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, 0), 0);
	field_set(fixture.data, PI_PORT_STATE, 0);
	field_set(fixture.data, PI_PORT_PHYSICAL_STATE, 0);
	field_set(fixture.data, PI_LID, lid);
	field_set(fixture.data, PI_MASTER_SM_LID, 1);
	ck_assert_int_eq(set(UMAD_SM_ATTR_PORT_INFO, 0), 0);
}

static inline void give_lft(const uint8_t *ports, size_t n)
{
	ck_assert_int_eq(get(UMAD_SM_ATTR_SWITCH_INFO, 0), 0);
	field_set(fixture.data, SI_LINEAR_FDB_TOP, n - 1);
	ck_assert_int_eq(set(UMAD_SM_ATTR_SWITCH_INFO, 0), 0);
	memset(fixture.data, 0xFF, sizeof(fixture.data));
	memcpy(fixture.data, ports, n);
	ck_assert_int_eq(set(UMAD_SM_ATTR_LINEAR_FT, 0), 0);
}

/* LIDs 1 h1, 2 A, 3 B, 4 h2; A and B talk over port 3. */
static inline void program(void)
{
	to_self();
	give_lid(1);
	TO(1);
	give_lid(2);
	give_lft((const uint8_t[]){ 0xFF, 1, 0, 3, 3 }, 5);
	TO(1, 3);
	give_lid(3);
	give_lft((const uint8_t[]){ 0xFF, 3, 3, 0, 1 }, 5);
	TO(1, 3, 1);
	give_lid(4);
}

static inline void activate_port(uint32_t mod)
{
	ck_assert_int_eq(change(mod, PI_PORT_STATE, PORT_ARMED), 0);
	ck_assert_int_eq(change(mod, PI_PORT_STATE, PORT_ACTIVE), 0);
}

static inline void activate(void)
{
	to_self();
	activate_port(1);
	TO(1);
	activate_port(1);
	activate_port(3);
	TO(1, 3);
	activate_port(1);
	activate_port(3);
	TO(1, 3, 1);
	activate_port(1);
}

/* Next message for the SM within ms; false: none. */
static inline bool next(uint64_t ms, struct mad_msg *ret_msg)
{
	return fixture.t->ops->recv(fixture.t, fixture.t->ops->now_ms(fixture.t) + ms,
	                            ret_msg) == E_OK;
}

/* The same, LID routed. */
static inline int by_lid(uint8_t method, uint16_t attr, uint32_t lid)
{
	fixture.path[0] = 0;
	fill(method, attr, 0);
	field_set(fixture.mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_LID_ROUTED);
	return exchange_to(lid);
}
