/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Options of saguaro-gateway: each reaches its member, defaults and limits hold. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "gateway/http/gw_config.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"
#include "tests/lib/words.h"

static struct arena *arena;
static struct diags diags;
static struct gw_config config;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void teardown(void)
{
	arena_free(arena);
}

/* Reads words that are separated by spaces. */
static int read_words(const char *words)
{
	char *argv[32] = { (char *)"saguaro-gateway" };
	int argc = 1 + words_split(words, arena, argv + 1, 30);

	return gw_config_read(&config, arena, argc, argv, &diags);
}

START_TEST(test_defaults)
{
	ck_assert_int_eq(read_words(""), E_OK);
	ck_assert_str_eq(config.listen, "127.0.0.1:8620");
	ck_assert_str_eq(config.instance, "main");
	ck_assert_ptr_nonnull(strstr(config.snapshot_dir, "/saguaro/main"));
	ck_assert_ptr_null(config.server.log_file);
	ck_assert_ptr_null(config.server.port_file);
	ck_assert_uint_eq(config.threads, 4);
	ck_assert_uint_eq(config.per_address, 120);
	ck_assert_uint_eq(config.listeners_per_address, 1000);
	ck_assert_uint_eq(config.server.log_format, LOG_FORMAT_TEXT);
	ck_assert_uint_eq(config.server.verbose, 0);
}
END_TEST

START_TEST(test_each_option)
{
	ck_assert_int_eq(
		read_words(
			"--listen [::1]:1 --instance two --snapshot-dir /three --log-file /four --port-file /five --threads 6 --connections-per-address 7 --log-format json --verbose 1"),
		E_OK);
	ck_assert_str_eq(config.listen, "[::1]:1");
	ck_assert_str_eq(config.instance, "two");
	ck_assert_str_eq(config.snapshot_dir, "/three");
	ck_assert_str_eq(config.server.log_file, "/four");
	ck_assert_str_eq(config.server.port_file, "/five");
	ck_assert_uint_eq(config.threads, 6);
	ck_assert_uint_eq(config.per_address, 7);
	ck_assert_uint_eq(config.server.log_format, LOG_FORMAT_JSON);
	ck_assert_uint_eq(config.server.verbose, 1);
}
END_TEST

START_TEST(test_instance)
{
	ck_assert_int_eq(read_words("--instance two"), E_OK);
	ck_assert_ptr_nonnull(strstr(config.snapshot_dir, "/saguaro/two"));
}
END_TEST

/* A program that stands beside config.status was not installed: what it needs is in the build and in its
 * sources, which configure knows absolute or from the build. */
static const struct {
	const char *status; /* NULL: there is none */
	const char *page;   /* %s: the folder; NULL: that of an installed program */
} builds[] = {
	{ "#! /bin/bash\nac_pwd='/b'\nsrcdir='/src/saguaro'\nx=1\n",
	  "/src/saguaro/gateway/web/dist" },
	{ "srcdir='/first'\nsrcdir='/other'\n", "/first/gateway/web/dist" },
	{ "srcdir='..'\n", "%s/../gateway/web/dist" },
	{ "# srcdir='..'\nsrcdir=..\nsrcdir='\n", NULL },
	{ "", NULL },
	{ NULL, NULL },
};

START_TEST(test_build_tree)
{
	static const char *const names[] = { "config.status", NULL };
	struct temp_folder dir;
	struct gw_config installed = { .program = NULL }, named = { .program = "/a", .web_dir = "/b" };

	temp_folder_new(&dir);
	config = installed;
	const char *self = arena_printf(arena, "%s/saguaro-gateway", dir.path);
	ck_assert_int_eq(gw_config_fill(&installed, "/nowhere/saguaro-gateway", arena), E_OK);
	if (builds[_i].status != NULL) {
		temp_file_write(arena_printf(arena, "%s/config.status", dir.path),
		                builds[_i].status);
	}
	ck_assert_int_eq(gw_config_fill(&config, self, arena), E_OK);
	if (builds[_i].page == NULL) {
		ck_assert_str_eq(config.program, installed.program);
		ck_assert_str_eq(config.web_dir, installed.web_dir);
	} else {
		const char *rest = strncmp(builds[_i].page, "%s", 2) == 0
		                           ? builds[_i].page + 2
		                           : NULL;

		ck_assert_str_eq(config.program, arena_printf(arena, "%s/saguaro", dir.path));
		ck_assert_str_eq(config.web_dir,
		                 rest != NULL ? arena_printf(arena, "%s%s", dir.path, rest)
		                              : builds[_i].page);
	}
	ck_assert_int_eq(gw_config_fill(&named, self, arena), E_OK); /* what was named stays */
	ck_assert_str_eq(named.program, "/a");
	ck_assert_str_eq(named.web_dir, "/b");
	temp_folder_end(&dir, names);
}
END_TEST

static const char *const bad[] = { "--threads 0", "--threads 65",     "--threads x",
	                           "--verbose 2", "--log-format xml", "--no-such 1",
	                           "word",        "--instance a/b" };

START_TEST(test_no_secret_in_a_flag)
{
	for (const struct option_row *row = gw_config_rows; row->name != NULL; row++) {
		bool secret = strstr(row->name, "key") || strstr(row->name, "secret") ||
		              strstr(row->name, "password") || strstr(row->name, "token");

		ck_assert_msg((row->flags & OPT_SECRET) == 0, "%s", row->name);
		ck_assert_msg(!secret || strcmp(row->arg, "FILE") == 0 ||
		                      strcmp(row->arg, "NAME") == 0,
		              "%s: its value is shown in the list of processes",
		              row->name);
	}
}
END_TEST

START_TEST(test_refused)
{
	ck_assert_int_ne(read_words(bad[_i]), E_OK);
}
END_TEST

TEST_SUITE(gw_config)
{
	TCase *t = tcase_create("gw_config");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_defaults);
	tcase_add_test(t, test_each_option);
	tcase_add_test(t, test_instance);
	tcase_add_loop_test(t, test_build_tree, 0, sizeof(builds) / sizeof(builds[0]));
	tcase_add_test(t, test_no_secret_in_a_flag);
	tcase_add_loop_test(t, test_refused, 0, sizeof(bad) / sizeof(bad[0]));
	suite_add_tcase(suite, t);
}
