/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Who is let in: secrets, expiry, certificates, rates, the file while it changes. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "gateway/admin/auth.h"
#include "gateway/admin/limits.h"
#include "gateway/view/problem.h"
#include "tests/gateway/admin/admin_fixture.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

static struct admin_fixture f;
static struct auth_who who;
static unsigned wait_s;

static void setup(void)
{
	admin_fixture_init(&f, 3);
}

static void teardown(void)
{
	admin_fixture_done(&f);
}

static int check_from(const char *authorization, const char *certificate,
                      const char *address)
{
	struct auth_request rq = { .authorization = authorization,
		                   .certificate = certificate,
		                   .address = address,
		                   .now = f.now,
		                   .now_ms = f.now_ms };
	struct arena *a = arena_new();
	struct problem p = { .ret = 0 };
	int ret = auth_check(f.admin.auth, &rq, a, &p, &who, &wait_s);

	ck_assert(ret == E_OK || p.ret == ret);
	problem_clear(&p);
	arena_free(a);
	return ret;
}

static int check(const char *authorization)
{
	return check_from(authorization, NULL, "192.0.2.1");
}

START_TEST(test_let_in)
{
	ck_assert_int_eq(check(admin_fixture_basic("viewer", ADMIN_SECRET)), E_OK);
	ck_assert_str_eq(who.name, "viewer");
	ck_assert_int_eq(who.role, ROLE_VIEWER);
	ck_assert_int_eq(check("Bearer operator." ADMIN_SECRET), E_OK);
	ck_assert_int_eq(who.role, ROLE_OPERATOR);
	ck_assert_int_eq(check("bearer  operator." ADMIN_SECRET), E_OK);
	ck_assert_int_eq(check_from(NULL, "robot", "192.0.2.1"), E_OK);
	ck_assert_int_eq(who.role, ROLE_VIEWER);
}
END_TEST

static const char *const bad[] = { "",
	                           "Basic",
	                           "Basic ",
	                           "Basic !!",
	                           "Basic dmlld2Vy" /* "viewer" */,
	                           "Digest x",
	                           "Bearer operator",
	                           "Bearer .x",
	                           "Bearer operator.",
	                           "Bearer operator.wrong",
	                           "Bearer nobody." ADMIN_SECRET,
	                           "Bearer expired." ADMIN_SECRET,
	                           "Bearer robot.-",
	                           "Bearer robot." ADMIN_SECRET,
	                           "Bearer operator." ADMIN_SECRET " x",
	                           "Basic b3BlcmF0b3I6AAAA", /* a zero byte */
	                           "Bearer operator." ADMIN_SECRET "x" };

START_TEST(test_refused)
{
	ck_assert_int_eq(check(bad[_i]), E_HTTP_AUTH);
}
END_TEST

START_TEST(test_nothing_shown)
{
	ck_assert_int_eq(check(NULL), E_HTTP_AUTH);
	ck_assert_int_eq(check_from(NULL, "nobody", "x"), E_HTTP_AUTH);
	ck_assert_int_eq(check_from(NULL, "expired", "x"), E_HTTP_AUTH);
}
END_TEST

START_TEST(test_expiry)
{
	const char *admin = "Bearer partition-admin." ADMIN_SECRET;

	ck_assert_int_eq(check(admin), E_OK);
	f.now = 1798761599; /* 2026-12-31T23:59:59Z */
	ck_assert_int_eq(check(admin), E_OK);
	f.now++;
	ck_assert_int_eq(check(admin), E_HTTP_AUTH);
}
END_TEST

/* Above the rate nobody is let in who was not before; the rate is that of an address, and of a
 * whole network for IPv6. */
START_TEST(test_rate)
{
	const char *good = "Bearer operator." ADMIN_SECRET;
	const char *other = "Bearer viewer." ADMIN_SECRET;

	ck_assert_int_eq(check_from(good, NULL, "2001:db8::1"), E_OK);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(check_from("Bearer operator.x", NULL, "2001:db8::2"),
		                 E_HTTP_AUTH);
	}
	ck_assert_int_eq(check_from("Bearer operator.x", NULL, "2001:db8::3"),
	                 E_HTTP_RATE);
	ck_assert_uint_gt(wait_s, 0);
	ck_assert_int_eq(check_from("nonsense", NULL, "2001:db8::3"), E_HTTP_RATE);
	ck_assert_int_eq(check_from(other, NULL, "2001:db8::3"), E_HTTP_RATE);
	ck_assert_int_eq(check_from(good, NULL, "2001:db8::3"), E_OK);
	ck_assert_int_eq(check_from(other, NULL, "2001:db8:0:1::3"), E_OK);
	f.now_ms += 20000;
	ck_assert_int_eq(check_from("Bearer operator.x", NULL, "2001:db8::3"),
	                 E_HTTP_AUTH);
	ck_assert_int_eq(check_from("Bearer operator.x", NULL, "2001:db8::3"),
	                 E_HTTP_RATE);
}
END_TEST

/* A right secret does not count. */
START_TEST(test_right_ones_do_not_count)
{
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(check("Bearer operator." ADMIN_SECRET), E_OK);
		ck_assert_int_eq(check("Bearer viewer." ADMIN_SECRET), E_OK);
	}
}
END_TEST

static void replace_users(const char *text)
{
	char beside[128];

	snprintf(beside, sizeof(beside), "%s.new", f.users);
	temp_file_write(beside, text);
	ck_assert_int_eq(chmod(beside, 0640), 0);
	ck_assert_int_eq(rename(beside, f.users), 0);
}

START_TEST(test_file_changes)
{
	const char *good = "Bearer operator." ADMIN_SECRET;

	ck_assert_int_eq(check(good), E_OK);
	replace_users("operator viewer never " ADMIN_HASH "\n");
	ck_assert_int_eq(check(good), E_OK);
	ck_assert_int_eq(who.role, ROLE_VIEWER);
	/* Another hash: the secret that was right is not any more. */
	replace_users(
		"operator viewer never $2b$04$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n");
	ck_assert_int_eq(check(good), E_HTTP_AUTH);
	replace_users("operator viewer never\n");
	ck_assert_int_eq(check(good), E_NOTREADY);
	ck_assert_int_eq(check(good), E_NOTREADY);
	unlink(f.users);
	ck_assert_int_eq(check(good), E_NOTREADY);
	replace_users("operator operator never " ADMIN_HASH "\n");
	ck_assert_int_eq(check(good), E_OK);
	ck_assert_int_eq(chmod(f.users, 0644), 0);
	ck_assert_int_eq(check(good), E_NOTREADY);
}
END_TEST

/* The log has a line for each fault of the file, and one when it is good again. */
START_TEST(test_faults_are_logged)
{
	static const char *const said[] = {
		"users:1: ", "users:2: ", "; nobody is let in until it is mended", "users: 1 users",
	};
	static const unsigned times[] = { 1, 1, 2, 1 };
	char path[100], line[1000];
	unsigned n[4] = { 0 };
	FILE *log;

	snprintf(path, sizeof(path), "%s/log", f.dir);
	ck_assert_int_eq(log_open(path), E_OK);
	replace_users("operator viewer never\noperator\n");
	ck_assert_int_eq(check("Bearer operator." ADMIN_SECRET), E_NOTREADY);
	ck_assert_int_eq(check("Bearer operator." ADMIN_SECRET), E_NOTREADY);
	replace_users("operator operator never " ADMIN_HASH "\n");
	ck_assert_int_eq(check("Bearer operator." ADMIN_SECRET), E_OK);
	log_open(NULL);
	log = fopen(path, "r");
	ck_assert_ptr_nonnull(log);
	while (fgets(line, sizeof(line), log) != NULL) {
		for (unsigned i = 0; i < 4; i++) {
			n[i] += strstr(line, said[i]) != NULL;
		}
	}
	fclose(log);
	unlink(path);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_msg(n[i] == times[i], "'%s': %u times", said[i], n[i]);
	}
}
END_TEST

START_TEST(test_limits)
{
	struct limits *l = limits_new(2, 6), *none = limits_new(1, 0);
	char key[24];

	ck_assert(limits_take(l, "a", 0, NULL) && limits_take(l, "a", 0, NULL));
	ck_assert(!limits_take(l, "a", 0, &wait_s));
	ck_assert_uint_eq(wait_s, 11); /* 10 s, rounded up */
	ck_assert(limits_take(l, "b", 0, NULL));
	ck_assert(!limits_take(l, "a", 9999, NULL));
	ck_assert(limits_take(l, "a", 10000, NULL));
	limits_give(l, "a", 10000);
	ck_assert(limits_take(l, "a", 10000, NULL));
	ck_assert(!limits_take(l, "a", 5,
	                       NULL)); /* a clock that steps back gives nothing */
	/* More keys than there is room: all of them are served. */
	for (int i = 0; i < 3 * LIMITS_KEYS; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		ck_assert(limits_take(l, key, 20000 + (uint64_t)i, NULL));
		ck_assert(limits_take(none, "a", 0, NULL));
	}
	limits_free(l);
	limits_free(none);
}
END_TEST

TEST_SUITE(auth)
{
	TCase *t = tcase_create("auth");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_let_in);
	tcase_add_loop_test(t, test_refused, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(t, test_nothing_shown);
	tcase_add_test(t, test_expiry);
	tcase_add_test(t, test_rate);
	tcase_add_test(t, test_right_ones_do_not_count);
	tcase_add_test(t, test_file_changes);
	tcase_add_test(t, test_faults_are_logged);
	tcase_add_test(t, test_limits);
	suite_add_tcase(suite, t);
}
