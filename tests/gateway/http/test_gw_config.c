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
	tcase_add_test(t, test_no_secret_in_a_flag);
	tcase_add_loop_test(t, test_refused, 0, sizeof(bad) / sizeof(bad[0]));
	suite_add_tcase(suite, t);
}
