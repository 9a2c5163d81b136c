/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conf/device_group.h"
#include "conf/policy/partitions.h"
#include "conf/virtual_fabric.h"
#include "sa/partition/fabrics.h"
#include "sa/partition/plan.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *a;
static struct graph *g;
static uint32_t hosts, switches, all; /* device groups */

static void start(void)
{
	const struct device_groups *groups = device_groups_builtin();

	a = arena_new();
	g = fabric_make("ft2 3 2 2", 0, 1, a);
	g->sm_port = g->hosts[0];
	hosts = device_group_find(groups, "AllFIs");
	switches = device_group_find(groups, "AllSWs");
	all = device_group_find(groups, "All");
}

static void stop(void)
{
	arena_free(a);
}

/* P_Keys of a port as text. */
static const char *keys_of(const struct virtual_fabric *vf, uint32_t n, uint32_t port)
{
	const struct virtual_fabrics f = { .all = vf,
		                           .n = n,
		                           .groups = device_groups_builtin() };
	const struct partitions *p = NULL;
	struct partition_plan plan;
	static char text[100];
	const uint16_t *keys;

	ck_assert_int_eq(partitions_of_fabrics(&f, g, a, &p), E_OK);
	ck_assert_int_eq(partition_plan(p, g, false, a, &plan), E_OK);
	text[0] = '\0';
	for (uint32_t i = 0, m = partition_plan_keys(&plan, port, &keys); i < m; i++) {
		snprintf(text + strlen(text), 8, "%s%04x", i ? " " : "", keys[i]);
	}
	return text;
}

/* As opa-fm ships it: applications in 0x0001, management in 0x7fff. */
START_TEST(default_and_admin)
{
	const struct virtual_fabric vf[] = {
		{ .name = "Admin",
		  .enable = true,
		  .security = true,
		  .pkey = 0x7fff,
		  .members = &switches,
		  .n_members = 1,
		  .limited = &all,
		  .n_limited = 1 },
		{ .name = "Default",
		  .enable = true,
		  .pkey = 1,
		  .members = &hosts,
		  .n_members = 1 },
		{ .name = "Off", .pkey = 5, .members = &all, .n_members = 1 },
		{ .name = "Later",
		  .enable = true,
		  .standby = true,
		  .pkey = 6,
		  .members = &all,
		  .n_members = 1 },
	};

	ck_assert_str_eq(keys_of(vf, 4, g->hosts[0]), "8001 ffff");
	ck_assert_str_eq(keys_of(vf, 4, g->hosts[1]), "8001 7fff");
	ck_assert_str_eq(keys_of(vf, 4, g->nodes[g->switches[0]].first_port), "ffff");
}
END_TEST

/* Limited members count as full ones without Security; two of one P_Key are one partition. */
START_TEST(security)
{
	struct virtual_fabric vf[] = {
		{ .name = "A",
		  .enable = true,
		  .pkey = 0x10,
		  .limited = &hosts,
		  .n_limited = 1 },
		{ .name = "B",
		  .enable = true,
		  .pkey = 0x10,
		  .security = true,
		  .limited = &all,
		  .n_limited = 1 },
	};

	ck_assert_str_eq(keys_of(vf, 2, g->hosts[1]), "8010 ffff");
	ck_assert_str_eq(keys_of(vf, 2, g->nodes[g->switches[0]].first_port),
	                 "0010 ffff");
	vf[0].security = true;
	ck_assert_str_eq(keys_of(vf, 2, g->hosts[1]), "0010 ffff");
}
END_TEST

TEST_SUITE(fabrics)
{
	TCase *t = tcase_create("fabrics");

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, default_and_admin);
	tcase_add_test(t, security);
	suite_add_tcase(suite, t);
}
