/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/key_file.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* It is made once, private, and another one each time; afterwards it is read. */
START_TEST(made_once)
{
	const char *why = NULL;
	char *path = temp_file("", arena);
	uint64_t key = 0, again = 0, other = 0;
	struct stat st;
	bool made = false;

	unlink(path);
	ck_assert_int_eq(key_file_read("sa_key_file", path, arena, &why, &key, &made), E_OK);
	ck_assert(made);
	ck_assert_uint_gt(key, 1);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(key_file_read("sa_key_file", path, arena, &why, &again, &made), E_OK);
	ck_assert(!made);
	ck_assert_uint_eq(again, key);
	unlink(path);
	ck_assert_int_eq(key_file_read("sa_key_file", path, arena, &why, &other, &made), E_OK);
	ck_assert_uint_ne(other, key);
	unlink(path);
}
END_TEST

static const struct {
	const char *text;
	unsigned mode;
	uint64_t key; /* 0: refused */
} files[] = {
	{ "0x5ec2e7a11ce0b0b1\n", 0600, UINT64_C(0x5ec2e7a11ce0b0b1) },
	{ "7", 0400, 7 },
	{ "7 \r\n\n", 0600, 7 },
	{ "0x5ec2e7a11ce0b0b1\n", 0640, 0 },
	{ "0x5ec2e7a11ce0b0b1\n", 0604, 0 },
	{ "0x5ec2e7a11ce0b0b1x\n", 0600, 0 },
	{ "0x5ec2e7a11ce0b0b17\n", 0600, 0 },
	{ "0x5ec2e7a11ce0b0b1 0x1\n", 0600, 0 },
	{ "1\n", 0600, 0 },
	{ "0\n", 0600, 0 },
	{ "", 0600, 0 },
};

/* A refusal does not tell the key, and the file stays as it is. */
START_TEST(read_or_refused)
{
	char *path = temp_file(files[_i].text, arena);
	const char *why = NULL;
	uint64_t key = 99;
	bool made = false;
	int ret;

	ck_assert_int_eq(chmod(path, files[_i].mode), 0);
	ret = key_file_read("sa_key_file", path, arena, &why, &key, &made);
	if (files[_i].key != 0) {
		ck_assert_int_eq(ret, E_OK);
		ck_assert_uint_eq(key, files[_i].key);
	} else {
		ck_assert_int_ne(ret, E_OK);
		ck_assert_uint_eq(key, 99);
		ck_assert_ptr_nonnull(strstr(why, path));
		ck_assert_ptr_null(strstr(why, "5ec2e7"));
	}
	ck_assert(!made);
	unlink(path);
}
END_TEST

START_TEST(cannot_be_made)
{
	const char *why = NULL;
	uint64_t key = 99;
	bool made = false;

	ck_assert_int_ne(key_file_read("sa_key_file", "/nonexistent/sa_key", arena, &why, &key, &made),
	                 E_OK);
	ck_assert_ptr_nonnull(strstr(why, "/nonexistent/sa_key"));
	ck_assert_uint_eq(key, 99);
}
END_TEST

TEST_SUITE(key_file)
{
	TCase *t = tcase_create("key_file");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, made_once);
	tcase_add_loop_test(t, read_or_refused, 0, sizeof(files) / sizeof(files[0]));
	tcase_add_test(t, cannot_be_made);
	suite_add_tcase(suite, t);
}
