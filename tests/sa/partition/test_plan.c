/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Members and places, compared with what their definitions say about one port at a time.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/p_key.h"
#include "conf/policy/partitions.h"
#include "sa/partition/named.h"
#include "sa/partition/plan.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

enum { SEEDS = 40, CAP_MAX = 70 };

/* --- members -------------------------------------------------------------------------- */

/* A partitions.conf with members of every kind, among them GUIDs that are not there. */
static const struct partitions *random_partitions(const struct graph *g, uint64_t *seed,
                                                  struct arena *a)
{
	static const char *const keywords[] = { "ALL",         "ALL_CAS",  "ALL_SWITCHES",
		                                "ALL_ROUTERS", "ALL_VCAS", "SELF" };
	static const char *const memberships[] = { "full", "limited", "both" };
	const struct partitions *p = NULL;
	static char text[65536];
	size_t at = 0;

	for (uint32_t i = random_below(seed, 20); i > 0; i--) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "P%u=0x%x%s:", i,
		                       random_below(seed, 4) ? 1 + random_below(seed, 9)
		                                             : PARTITION_DEFAULT,
		                       random_below(seed, 5) ? "" : ",indx0");
		for (uint32_t k = random_below(seed, 12); k > 0; k--) {
			const char *as = memberships[random_below(seed, 3)];
			uint32_t port = g->end_ports[random_below(seed, g->n_end_ports)];
			uint64_t guid =
				g->ports[port].guid + (random_below(seed, 9) == 0);

			if (random_below(seed, 6) == 0) {
				at += (size_t)snprintf(
					text + at, sizeof(text) - at, "%s=%s,",
					keywords[random_below(seed, 6)], as);
			} else if (random_below(seed, 6) == 0) {
				at += (size_t)snprintf(
					text + at, sizeof(text) - at, "0x%llx-0x%llx=%s,",
					(unsigned long long)guid,
					(unsigned long long)guid + random_below(seed, 16),
					as);
			} else {
				at += (size_t)snprintf(text + at, sizeof(text) - at,
				                       "0x%llx=%s,",
				                       (unsigned long long)guid, as);
			}
		}
		at += (size_t)snprintf(text + at, sizeof(text) - at, ";\n");
	}
	ck_assert_int_eq(partitions_parse("p", text, at, a, NULL, &p), E_OK);
	return p;
}

static bool member_fits(const struct graph *g, uint32_t port,
                        const struct partition_member *m)
{
	enum node_type type = g->nodes[g->ports[port].node].type;

	return m->who == PARTITION_ALL ||
	       (m->who == PARTITION_ALL_CAS && type == NODE_CA) ||
	       (m->who == PARTITION_ALL_SWITCHES && type == NODE_SWITCH) ||
	       (m->who == PARTITION_ALL_ROUTERS && type == NODE_ROUTER) ||
	       (m->who == PARTITION_SELF && port == g->sm_port) ||
	       (m->who == PARTITION_GUIDS && m->first <= g->ports[port].guid &&
	        g->ports[port].guid <= m->last);
}

static unsigned expected_membership(const struct partition *t, const struct graph *g,
                                    uint32_t port, bool allow_both)
{
	unsigned is = 0;

	for (uint32_t i = 0; i < t->n_members; i++) {
		is = member_fits(g, port, &t->members[i]) ? t->members[i].membership : is;
	}
	if (t->p_key == PARTITION_DEFAULT && port == g->sm_port) {
		is |= PARTITION_FULL;
	}
	return is == PARTITION_BOTH && !allow_both ? PARTITION_FULL : is;
}

static void check_port(const struct partitions *p, const struct graph *g,
                       const struct partition_plan *plan, uint32_t port, bool allow_both)
{
	const uint16_t *keys;
	uint32_t n = partition_plan_keys(plan, port, &keys), at = 0;
	uint16_t index0 = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		unsigned is = expected_membership(&p->all[i], g, port, allow_both);

		if (is & PARTITION_LIMITED) {
			ck_assert(at < n && keys[at++] == p->all[i].p_key);
		}
		if (is & PARTITION_FULL) {
			ck_assert(at < n && keys[at++] == (p->all[i].p_key | P_KEY_FULL));
		}
		index0 = is != 0 && p->all[i].indx0 ? p->all[i].p_key : index0;
	}
	ck_assert_uint_eq(at, n);
	ck_assert_uint_eq(plan->index0[port], index0);
}

START_TEST(members)
{
	static const char *const fabrics[] = { "ft2 4 3 2", "director 8 4 2 4 2 2" };
	uint64_t seed = (uint64_t)_i + 1;
	struct arena *a = arena_new();
	struct graph *g = fabric_make(fabrics[_i % 2], 0, (uint32_t)_i + 1, a);
	bool allow_both = _i % 3 == 0;
	struct partition_plan plan;

	g->sm_port = g->end_ports[random_below(&seed, g->n_end_ports)];
	const struct partitions *p = random_partitions(g, &seed, a);
	ck_assert_int_eq(partition_plan(p, g, allow_both, a, &plan), E_OK);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		check_port(p, g, &plan, g->end_ports[i], allow_both);
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		ck_assert(graph_is_end_port(g, i) || plan.first[i] == plan.first[i + 1]);
	}
	arena_free(a);
}
END_TEST

/* --- names of hosts ------------------------------------------------------------------- */

/* A name that one port has is its GUID; nobody is a member by another. */
START_TEST(names)
{
	static const char text[] =
		"A=0x1: \"alpha\"=full, \"twin\", \"twin HCA-2\"=both, \"gone\", \"spine-0000\", \"alpha\"=limited;";
	static const struct {
		uint32_t host, n_ports; /* GRAPH_NONE: its name stays */
	} want[] = { { 0, 0 }, { GRAPH_NONE, 2 }, { 2, 0 }, { GRAPH_NONE, 0 }, { GRAPH_NONE, 0 }, { 0, 0 } };
	struct arena *a = arena_new();
	struct graph *g = fabric_make("ft2 3 2 2", 0, 1, a);
	const struct partitions *p = NULL, *found = NULL, *again = NULL;
	struct partition_plan plan;
	const uint16_t *keys;

	g->nodes[g->ports[g->hosts[0]].node].description = "alpha HCA-1";
	g->nodes[g->ports[g->hosts[1]].node].description = "twin HCA-1";
	g->nodes[g->ports[g->hosts[2]].node].description = "twin HCA-2";
	ck_assert_int_eq(partitions_parse("p", text, sizeof(text) - 1, a, NULL, &p), E_OK);
	ck_assert_int_eq(partitions_find_hosts(p, g, a, &found), E_OK);
	ck_assert_uint_eq(found->all[0].n_members, sizeof(want) / sizeof(want[0]));
	for (uint32_t i = 0; i < found->all[0].n_members; i++) {
		const struct partition_member *m = &found->all[0].members[i];

		if (want[i].host == GRAPH_NONE) {
			ck_assert_uint_eq(m->who, PARTITION_HOST);
			ck_assert_uint_eq(m->n_ports, want[i].n_ports);
			continue;
		}
		ck_assert_uint_eq(m->who, PARTITION_GUIDS);
		ck_assert_uint_eq(m->first, g->ports[g->hosts[want[i].host]].guid);
		ck_assert_uint_eq(m->last, m->first);
	}
	/* the file itself is as it was, and what has no names is not copied */
	ck_assert_uint_eq(p->all[0].members[0].who, PARTITION_HOST);
	ck_assert_int_eq(partition_plan(found, g, true, a, &plan), E_OK);
	ck_assert_uint_eq(partition_plan_keys(&plan, g->hosts[0], &keys), 2);
	ck_assert_uint_eq(keys[0], 0x0001); /* the last one counts */
	ck_assert_uint_eq(partition_plan_keys(&plan, g->hosts[1], &keys), 1);
	ck_assert_uint_eq(partition_plan_keys(&plan, g->hosts[2], &keys), 3);
	ck_assert_int_eq(partitions_default("p", a, &p), E_OK);
	ck_assert_int_eq(partitions_find_hosts(p, g, a, &again), E_OK);
	ck_assert_ptr_eq(p, again);
	arena_free(a);
}
END_TEST

/* --- places --------------------------------------------------------------------------- */

static unsigned place_of(const uint16_t *table, unsigned cap, uint16_t key)
{
	for (unsigned i = 0; i < cap; i++) {
		if (table[i] == key) {
			return i;
		}
	}
	return cap;
}

static uint32_t random_keys(uint64_t *seed, uint32_t most, uint16_t *ret_keys)
{
	uint32_t n = 0;

	for (uint16_t key = 1; key < 60 && n + 1 < most; key++) {
		unsigned is = random_below(seed, 8);

		if (is == 1 || is == 3) {
			ret_keys[n++] = key;
		}
		if (is == 2 || is == 3) {
			ret_keys[n++] = key | P_KEY_FULL;
		}
	}
	return n;
}

/* Every wanted P_Key once, and nothing else. */
static void check_holds(const uint16_t *want, uint32_t n, const uint16_t *table,
                        unsigned cap)
{
	unsigned there = 0;

	for (unsigned i = 0; i < cap; i++) {
		there += table[i] != 0;
	}
	ck_assert_uint_eq(there, n);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_lt(place_of(table, cap, want[i]), cap);
	}
}

/* Nothing moves but what indx0 sends away, and new P_Keys avoid places that become free. */
static void check_stable(const uint16_t *want, uint32_t n, uint16_t first,
                         const uint16_t *now, const uint16_t *table, unsigned cap)
{
	bool freed_is_used = false, empty_is_left = false;

	for (uint32_t i = 0; i < n; i++) {
		unsigned before = place_of(now, cap, want[i]);

		if (before < cap && want[i] != first && (first == 0 || before != 0)) {
			ck_assert_uint_eq(place_of(table, cap, want[i]), before);
		}
	}
	for (unsigned i = first != 0; i < cap; i++) {
		bool other = table[i] != 0 && now[i] != 0 &&
		             ((table[i] ^ now[i]) & P_KEY_BASE) != 0;

		freed_is_used |= other;
		empty_is_left |= table[i] == 0 && now[i] == 0;
	}
	ck_assert(!(freed_is_used && empty_is_left));
}

START_TEST(places)
{
	uint64_t seed = (uint64_t)_i + 77;
	uint16_t now[CAP_MAX] = { 0xffff }, table[CAP_MAX], again[CAP_MAX], want[CAP_MAX];

	for (unsigned step = 0; step < 200; step++) {
		unsigned cap = 40 + (unsigned)_i % 30;
		uint32_t n = random_keys(&seed, cap, want);
		uint16_t index0 = n && random_below(&seed, 4) == 0
		                          ? want[random_below(&seed, n)] & P_KEY_BASE
		                          : 0;
		uint16_t first = 0;

		for (uint32_t i = 0; index0 && i < n; i++) {
			first = (want[i] & P_KEY_BASE) == index0 ? want[i] : first;
		}
		/* what stands behind a table is nobody's */
		now[cap] = n != 0 ? want[random_below(&seed, n)] : 0;
		table[cap] = again[cap] = 0;
		ck_assert(partition_plan_place(want, n, index0, now, cap, table));
		ck_assert_uint_eq(table[cap], 0);
		check_holds(want, n, table, cap);
		ck_assert(first == 0 || table[0] == first);
		check_stable(want, n, first, now, table, cap);
		ck_assert(partition_plan_place(want, n, index0, table, cap, again));
		ck_assert_mem_eq(again, table, (cap + 1) * sizeof(*table));
		memcpy(now, table, sizeof(now));
	}
}
END_TEST

/* Tables as OpenSM 3.3.23 makes them out of one that holds 0xffff. */
static const struct {
	uint16_t want[8], index0, table[8];
} as_opensm[] = {
	{ { 0x8010, 0x7fff }, 0, { 0x7fff, 0x8010 } },
	{ { 0x8020, 0xffff }, 0x20, { 0x8020, 0xffff } },
	{ { 0x8001, 0x8002, 0x0005, 0x8006, 0xffff },
	  0,
	  { 0xffff, 0x8001, 0x8002, 0x0005, 0x8006 } },
	{ { 0x8010, 0x8011, 0x8012, 0x8013, 0xffff },
	  0x13,
	  { 0x8013, 0x8010, 0x8011, 0x8012, 0xffff } },
	{ { 0x0010, 0x8010, 0x8012, 0x7fff, 0xffff },
	  0x12,
	  { 0x8012, 0x0010, 0x8010, 0x7fff, 0xffff } },
	{ { 0x0010, 0x7fff, 0xffff }, 0, { 0xffff, 0x0010, 0x7fff } },
};

START_TEST(as_opensm_does)
{
	uint16_t now[8] = { 0xffff }, table[8];
	uint32_t n = 0;

	while (n < 8 && as_opensm[_i].want[n]) {
		n++;
	}
	ck_assert(partition_plan_place(as_opensm[_i].want, n, as_opensm[_i].index0, now,
	                               8, table));
	ck_assert_mem_eq(table, as_opensm[_i].table, sizeof(table));
}
END_TEST

START_TEST(too_many)
{
	const uint16_t want[] = { 1, 0x8002, 0x8003, 0x7fff };
	const uint16_t now[] = { 0x8002, 0x8003, 0 };
	uint16_t table[3];

	ck_assert(!partition_plan_place(want, 4, 0, now, 3, table));
	ck_assert_mem_eq(table, ((uint16_t[]){ 0x7fff, 1, 0x8002 }), sizeof(table));
	ck_assert(!partition_plan_place(want, 4, 2, now, 1, table));
	ck_assert_uint_eq(table[0], 0x8002);
	ck_assert(!partition_plan_place(want, 4, 0, now, 0, table));
	ck_assert(partition_plan_place(want, 0, 0, now, 0, table));
	/* of switches that enforce: the full one of a partition suffices */
	uint16_t enforced[5];
	ck_assert_uint_eq(
		partition_plan_enforced((uint16_t[]){ 1, 0x8001, 2, 0x8003, 0xffff }, 5,
	                                enforced),
		4);
	ck_assert_mem_eq(enforced, ((uint16_t[]){ 0x8001, 2, 0x8003, 0xffff }), 8);
}
END_TEST

TEST_SUITE(plan)
{
	TCase *t = tcase_create("plan");

	tcase_add_loop_test(t, members, 0, SEEDS);
	tcase_add_loop_test(t, places, 0, SEEDS);
	tcase_add_loop_test(t, as_opensm_does, 0,
	                    (int)(sizeof(as_opensm) / sizeof(as_opensm[0])));
	tcase_add_test(t, too_many);
	tcase_add_test(t, names);
	suite_add_tcase(suite, t);
}
