/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A published policy is checked when it is first read: each index in it is one, or it is refused
 * (db/snapshot/policy.h). A row is the smallest policy that uses everything, changed in one place.
 */
#include <check.h>

#include "db/snapshot/policy.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

enum { N_LEVELS = 2, N_RULES = 2, N_RANGES = 3, N_FABRICS = 2, N_IDS = 2 };

static char dir[256];
static struct arena *arena;
static struct snap_writer *w;
static struct fabric fabric;

/* The policy at work, changed by the rows below. */
static struct policy policy;
static struct policy_level level[N_LEVELS];
static struct policy_rule rule[N_RULES];
static struct policy_range range[N_RANGES];
static struct policy_fabric virtual[N_FABRICS];
static struct policy_id id[N_IDS];

static void setup(void)
{
	struct snap_options o = { .grace_ms = 10000 };
	const char *why = "";

	make_tmp(dir);
	arena = arena_new();
	ck_assert_int_eq(snap_writer_open(dir, &o, arena, &why, &w), E_OK);
	fabric_init(&fabric, "ft2 2 2 2", 0);
	memset(level, 0, sizeof(level));
	memset(rule, 0, sizeof(rule));
	memset(range, 0, sizeof(range));
	memset(virtual, 0, sizeof(virtual));
	memset(id, 0, sizeof(id));
	policy = (struct policy){ .head = { .kind = POLICY_FIRST,
		                            .default_level = N_LEVELS - 1,
		                            .n_levels = N_LEVELS,
		                            .n_rules = N_RULES,
		                            .n_ranges = N_RANGES,
		                            .n_fabrics = N_FABRICS,
		                            .n_ids = N_IDS,
		                            .words = 1 },
		                  .levels = level,
		                  .rules = rule,
		                  .ranges = range,
		                  .fabrics = virtual,
		                  .ids = id,
		                  .sets = arena_array(arena, fabric.g->n_ports,
		                                      POLICY_SETS * sizeof(uint64_t)) };
}

static void teardown(void)
{
	snap_writer_close(w);
	fabric_done(&fabric);
	arena_free(arena);
	remove_tree(dir);
}

/* The last index and the longest list that there may be in each place, and one too many. */
static struct {
	const char *what;
	uint32_t *at;
	uint32_t last; /* that is good */
} places[] = {
	{ "level of a rule", &rule[1].level, N_LEVELS - 1 },
	{ "services of a rule", &rule[1].services.n, N_RANGES },
	{ "first service of a rule", &rule[0].services.first, N_RANGES },
	{ "QoS classes of a rule", &rule[0].qos_classes.n, N_RANGES },
	{ "P_Keys of a rule", &rule[1].p_keys.n, N_RANGES },
	{ "P_Keys of a level", &level[1].p_keys.n, N_RANGES },
	{ "first P_Key of a level", &level[0].p_keys.first, N_RANGES },
	{ "services of a virtual fabric", &virtual[1].services.n, N_IDS },
	{ "MGIDs of a virtual fabric", &virtual[0].mgids.n, N_IDS },
	{ "first MGID of a virtual fabric", &virtual[1].mgids.first, N_IDS },
	{ "default level", &policy.head.default_level, N_LEVELS - 1 },
	{ "kind", &policy.head.kind, POLICY_EACH },
};

static int publish_and_read(uint64_t epoch)
{
	struct snap_content c = fabric_content(&fabric, epoch);
	const struct policy *read = NULL;
	struct snap_published p;
	struct snap_reader *r;
	int ret;

	c.policy = &policy;
	ck_assert_int_eq(snap_publish(w, &c, epoch, &p), E_OK);
	ck_assert_int_eq(snap_reader_local(w, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ret = snap_policy(r, &read);
	ck_assert((ret == E_OK) == (read != NULL));
	if (ret == E_OK) {
		ck_assert_mem_eq(&read->head, &policy.head, sizeof(policy.head));
		ck_assert_mem_eq(read->rules, rule, sizeof(rule));
		ck_assert_mem_eq(read->levels, level, sizeof(level));
		ck_assert_mem_eq(read->fabrics, virtual, sizeof(virtual));
	}
	snap_reader_close(r);
	return ret;
}

START_TEST(indexes)
{
	*places[_i].at = places[_i].last;
	ck_assert_msg(publish_and_read(1) == E_OK, "%s", places[_i].what);
	*places[_i].at = places[_i].last + 1;
	ck_assert_msg(publish_and_read(2) == E_MALFORMED, "%s", places[_i].what);
	*places[_i].at = UINT32_MAX;
	ck_assert_msg(publish_and_read(3) == E_MALFORMED, "%s", places[_i].what);
}
END_TEST

/* A list that ends behind the last range is refused wherever it begins. */
START_TEST(ends_of_lists)
{
	rule[0].services = (struct policy_list){ .first = 1, .n = N_RANGES - 1 };
	ck_assert_int_eq(publish_and_read(1), E_OK);
	rule[0].services.n++;
	ck_assert_int_eq(publish_and_read(2), E_MALFORMED);
	rule[0].services = (struct policy_list){ .first = 2, .n = UINT32_MAX };
	ck_assert_int_eq(publish_and_read(3), E_MALFORMED);
}
END_TEST

TEST_SUITE(policy_rows)
{
	TCase *t = tcase_create("policy_rows");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, indexes, 0, sizeof(places) / sizeof(places[0]));
	tcase_add_test(t, ends_of_lists);
	suite_add_tcase(suite, t);
}
