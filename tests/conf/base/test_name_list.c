/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Lists of host names in short: what they stand for, and what is refused. */
#include "conf/base/name_list.h"

#include <check.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "tests/lib/suite.h"

static const struct {
	const char *text;
	int ret;
	const char *names;
} cases[] = {
	{ "node010", E_OK, "node010" },
	{ "node01 HCA-1", E_OK, "node01 HCA-1" },
	{ "node[011-013]", E_OK, "node011 node012 node013" },
	{ "node[9-11]", E_OK, "node9 node10 node11" },
	{ "node[1,07,3-4]-ib", E_OK, "node1-ib node07-ib node3-ib node4-ib" },
	{ "r[1-2]n[01-02]", E_OK, "r1n01 r1n02 r2n01 r2n02" },
	{ "[1-2]", E_OK, "1 2" },
	{ "", E_SYNTAX, NULL },
	{ "node[1", E_SYNTAX, NULL },
	{ "node[]", E_SYNTAX, NULL },
	{ "node[a-b]", E_SYNTAX, NULL },
	{ "node[1-]", E_SYNTAX, NULL },
	{ "node[1-2-3]", E_SYNTAX, NULL },
	{ "node[1,]", E_SYNTAX, NULL },
	{ "node[1x]", E_SYNTAX, NULL },
	{ "node[12345678901]", E_SYNTAX, NULL },
	{ "node[3-2]", E_RANGE, NULL },
	{ "node[1-70000]", E_RANGE, NULL },
	{ "r[1-300]n[1-300]", E_RANGE, NULL },
};

START_TEST(lists)
{
	struct arena *a = arena_new();
	struct name_list l = { .n = 0 };
	const char *all = "";
	int ret = name_list_add(&l, cases[_i].text, a);

	ck_assert_msg(ret == cases[_i].ret, "%s: %d", cases[_i].text, ret);
	for (uint32_t i = 0; i < l.n; i++) {
		all = arena_printf(a, "%s%s%s", all, i > 0 ? " " : "", l.names[i]);
		if (ret != E_OK) {
			break;
		}
	}
	ck_assert_msg(ret != E_OK || strcmp(all, cases[_i].names) == 0, "%s: %s",
	              cases[_i].text, all);
	arena_free(a);
}
END_TEST

TEST_SUITE(name_list)
{
	TCase *t = tcase_create("name_list");

	tcase_add_loop_test(t, lists, 0, sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(suite, t);
}
