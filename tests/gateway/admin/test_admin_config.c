/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Options of saguaro-admin: defaults, fabrics, what is refused. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "gateway/admin/admin_config.h"
#include "tests/lib/suite.h"
#include "tests/lib/words.h"

static struct arena *arena;
static struct diags diags;
static struct admin_config config;

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
	char *argv[32] = { (char *)"saguaro-admin" };
	int argc = 1 + words_split(words, arena, argv + 1, 30);

	return admin_config_read(&config, arena, argc, argv, &diags);
}

START_TEST(test_defaults)
{
	ck_assert_int_eq(read_words(""), E_OK);
	ck_assert(config.is_unix);
	ck_assert_ptr_nonnull(strstr(config.listen, "/saguaro-admin/http.sock"));
	ck_assert_ptr_nonnull(strstr(config.users, "/saguaro-admin/users"));
	ck_assert_uint_eq(config.n_fabrics, 1);
	ck_assert_str_eq(config.fabric[0].name, "main");
	ck_assert_ptr_nonnull(strstr(config.fabric[0].socket, "/saguaro/main.control"));
	ck_assert(!admin_config_is_command(&config));
}
END_TEST

START_TEST(test_fabrics)
{
	ck_assert_int_eq(read_words("--fabrics ib0,ib1=/run/x.control"), E_OK);
	ck_assert_uint_eq(config.n_fabrics, 2);
	ck_assert_ptr_nonnull(strstr(config.fabric[0].socket, "/saguaro/ib0.control"));
	ck_assert_str_eq(config.fabric[1].name, "ib1");
	ck_assert_str_eq(config.fabric[1].socket, "/run/x.control");
}
END_TEST

START_TEST(test_commands)
{
	ck_assert_int_eq(read_words("--add-token a --role viewer --listen 127.0.0.1:1"),
	                 E_OK);
	ck_assert(admin_config_is_command(&config));
	ck_assert_str_eq(config.expires, "365d");
}
END_TEST

static const char *const bad[] = {
	"--listen 127.0.0.1:0", "--listen 127.0.0.1:0 --tls-certificate a",
	"--fabrics ,",          "--fabrics a/b",
	"--fabrics v1",         "--fabrics a,a",
	"--fabrics a=relative", "--connections 0",
	"--request-seconds 0",  "word"
};

START_TEST(test_no_secret_in_a_flag)
{
	for (const struct option_row *row = admin_config_rows; row->name != NULL; row++) {
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

TEST_SUITE(admin_config)
{
	TCase *t = tcase_create("admin_config");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_defaults);
	tcase_add_test(t, test_fabrics);
	tcase_add_test(t, test_commands);
	tcase_add_test(t, test_no_secret_in_a_flag);
	tcase_add_loop_test(t, test_refused, 0, sizeof(bad) / sizeof(bad[0]));
	suite_add_tcase(suite, t);
}
