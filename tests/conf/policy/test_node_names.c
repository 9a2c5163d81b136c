/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/node_names.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

#define N(x) (int)(sizeof(x) / sizeof((x)[0]))

static struct arena *arena;
static struct diags diags;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void teardown(void)
{
	arena_free(arena);
}

static const struct node_names *parse(const char *text)
{
	const struct node_names *names = NULL;

	ck_assert_int_eq(
		node_names_parse("map", text, strlen(text), arena, &diags, &names), E_OK);
	return names;
}

/* One line each: the name of GUID 0x12, and what a warning says of the line. */
static const struct {
	const char *text, *name, *said;
} lines[] = {
	{ "", NULL, NULL },
	{ "# 0x12 \"leaf\"", NULL, NULL },
	{ "0x12 \"leaf\"", "leaf", NULL },
	{ "0x12\t\"leaf 7\" # rack 3", "leaf 7", NULL },
	{ "  0x0000000000000012   \"leaf # 7\"\r", "leaf # 7", NULL },
	{ "0000000000000012 \"leaf\"", "leaf", NULL },
	{ "18 \" leaf \"#", "leaf", NULL },
	{ "0x12 leaf 7 # rack", "leaf 7", NULL },
	{ "0x12 leaf", "leaf", NULL },
	{ "0x12\"leaf\"", "leaf", NULL },
	{ "0x12 \"Bl\xc3\xa4tter\"", "Bl\xc3\xa4tter", NULL },
	{ "0x12", NULL, "expected a GUID and a name" },
	{ "0x12 \"\"", NULL, "expected a GUID and a name" },
	{ "0x12 # leaf", NULL, "expected a GUID and a name" },
	{ "0x12 \"leaf", NULL, "expected a GUID and a name" },
	{ "\"leaf\"", NULL, "expected a GUID and a name" },
	{ "0x12 \"leaf\" 7", NULL, "expected nothing or a comment" },
	{ "leaf 0x12", NULL, "expected a GUID (0x" },
	{ "0x0 \"leaf\"", NULL, "expected a GUID (0x" },
	{ "0x12345678123456781 \"leaf\"", NULL, "expected a GUID (0x" },
	{ "0x12 \"le\x01"
	  "af\"",
	  NULL, "a byte that is not text" },
};

START_TEST(test_lines)
{
	const struct node_names *names = parse(arena_printf(
		arena, "0x11 \"before\"\n%s\n0x13 \"behind\"", lines[_i].text));
	const char *name = node_names_find(names, 0x12);

	ck_assert_str_eq(node_names_find(names, 0x11), "before");
	ck_assert_str_eq(node_names_find(names, 0x13), "behind");
	ck_assert_ptr_null(node_names_find(names, 0x14));
	ck_assert_str_eq(name ? name : "", lines[_i].name ? lines[_i].name : "");
	ck_assert_uint_eq(diags.n_errors, 0);
	ck_assert_uint_eq(diags.n_warnings, lines[_i].said != NULL);
	if (lines[_i].said != NULL) {
		ck_assert_uint_eq(diags.items[0].line, 2);
		ck_assert_ptr_nonnull(strstr(diags.items[0].text, lines[_i].said));
	}
}
END_TEST

START_TEST(test_first_name_holds)
{
	const struct node_names *names =
		parse("9 \"i\"\n1 \"a\"\n9 \"j\"\n1 \"a\"\n5 \"e\"\n9 \"k\"\n");

	ck_assert_uint_eq(names->n, 3);
	ck_assert_str_eq(node_names_find(names, 1), "a");
	ck_assert_str_eq(node_names_find(names, 5), "e");
	ck_assert_str_eq(node_names_find(names, 9), "i");
	ck_assert_uint_eq(diags.n_warnings, 2);
	ck_assert_uint_eq(diags.items[0].line, 3);
	ck_assert_ptr_nonnull(strstr(diags.items[0].text, "'i' already in line 1"));
}
END_TEST

START_TEST(test_long_names)
{
	char name[70] = "";

	memset(name, 'x', 63);
	const struct node_names *names = parse(arena_printf(
		arena, "1 \"%s\xc3\xa4y\"\n2 \"%sab\"\n3 \"%sa\"", name, name, name));
	ck_assert_str_eq(node_names_find(names, 1), name);
	name[63] = 'a';
	ck_assert_str_eq(node_names_find(names, 2), name);
	ck_assert_str_eq(node_names_find(names, 3), name);
	ck_assert_uint_eq(diags.n_warnings, 2);
	ck_assert_ptr_null(node_names_find(NULL, 1));
}
END_TEST

START_TEST(test_files)
{
	char *path = temp_file("0x12 \"leaf\"\n", arena);
	const void *names = NULL;

	ck_assert_int_eq(node_names_read(path, arena, &diags, &names), E_OK);
	ck_assert_str_eq(node_names_find(names, 0x12), "leaf");
	ck_assert_uint_eq(diags.n, 0);
	unlink(path);
	ck_assert_int_eq(node_names_read(path, arena, &diags, &names), E_OK);
	ck_assert_ptr_null(node_names_find(names, 0x12));
	ck_assert_uint_eq(diags.n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(diags.items[0].text, "named by their descriptions"));
	ck_assert_int_eq(node_names_read("/proc/self/exe", arena, &diags, &names),
	                 E_SYNTAX);
	ck_assert_int_eq(node_names_read("/", arena, &diags, &names), -EISDIR);
}
END_TEST

TEST_SUITE(node_names)
{
	TCase *tc = tcase_create("node_names");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_lines, 0, N(lines));
	tcase_add_test(tc, test_first_name_holds);
	tcase_add_test(tc, test_long_names);
	tcase_add_test(tc, test_files);
	suite_add_tcase(suite, tc);
}
