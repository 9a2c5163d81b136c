/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The file of users: lines, modes, changes; secrets. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "gateway/admin/secret.h"
#include "gateway/admin/users.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

/* crypt(3) of "correct-horse-battery" with bcrypt, yescrypt; both made by mkpasswd(1) */
#define BCRYPT "$2b$04$abcdefghijklmnopqrstuupOWRSKKNe562z1DsLEArFuJDHVyRIMa"

static struct arena *arena;
static struct diags diags;
static struct users users;
static char dir[64], path[96];

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	snprintf(dir, sizeof(dir), "/tmp/saguaro-users.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/users", dir);
}

static void teardown(void)
{
	char lock[128];

	snprintf(lock, sizeof(lock), "%s.lock", path);
	unlink(path);
	unlink(lock);
	rmdir(dir);
	arena_free(arena);
}

static int parse(const char *text)
{
	return users_parse("users", text, strlen(text), arena, &diags, &users);
}

START_TEST(test_lines)
{
	ck_assert_int_eq(parse("# comment\n\n  a  viewer\tnever " BCRYPT "\n"
	                       "b-c@d operator 2027-01-31T12:00:00Z -"),
	                 E_OK);
	ck_assert_uint_eq(users.n, 2);
	ck_assert_int_eq(users_find(&users, "a")->role, ROLE_VIEWER);
	ck_assert_int_eq(users_find(&users, "a")->expires, 0);
	ck_assert_str_eq(users_find(&users, "a")->hash, BCRYPT);
	ck_assert_int_eq(users_find(&users, "b-c@d")->role, ROLE_OPERATOR);
	ck_assert_int_eq(users_find(&users, "b-c@d")->expires,
	                 1801396800); /* date -u +%s */
	ck_assert_ptr_null(users_find(&users, "b-c@d")->hash);
	ck_assert_ptr_null(users_find(&users, "c"));
}
END_TEST

/* clang-format off */
static const struct { const char *line, *says; } wrong[] = {
	{ "a viewer never", "four words" },
	{ "a viewer never - -", "four words" },
	{ "a.b viewer never -", "a name has" },
	{ "a admin never -", "'admin' is no role" },
	{ "a none never -", "'none' is no role" },
	{ "a viewer soon -", "'soon' is no time" },
	{ "a viewer 90d -", "'90d' is no time" },
	{ "a viewer 2027-02-30 -", "is no time" },
	{ "a viewer 2027-1-1 -", "is no time" },
	{ "a viewer 2027-01-01T25:00:00Z -", "is no time" },
	{ "a viewer 2027-01-01T00:00:00 -", "is no time" },
	{ "a viewer never hunter2", "is no hash" },
	{ "a viewer never $1$salt$qJH7.N4xYta3aEG/dfqo/0", "is no hash" }, /* MD5 */
	{ "a viewer never $2b$", "is no hash" },
	{ "a viewer never -\na viewer never -", "there twice" },
};
/* clang-format on */

START_TEST(test_wrong_lines)
{
	const char *said;

	ck_assert_int_eq(parse(wrong[_i].line), E_SYNTAX);
	said = take_problems(&diags);
	ck_assert_msg(strstr(said, wrong[_i].says) != NULL, "%s", said);
	ck_assert_ptr_null(strstr(said, "hunter2"));
}
END_TEST

START_TEST(test_mode)
{
	struct stat st;

	temp_file_write(path, "a viewer never -\n");
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(users_read(path, arena, &diags, &users), E_SYNTAX);
	ck_assert_int_eq(chmod(path, 0660), 0);
	ck_assert_int_eq(users_read(path, arena, &diags, &users), E_SYNTAX);
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert_int_eq(users_read(path, arena, &diags, &users), E_OK);
	ck_assert_int_eq(stat(path, &st), 0);
	unlink(path);
	ck_assert_int_eq(users_read(path, arena, &diags, &users), -ENOENT);
}
END_TEST

START_TEST(test_add_and_remove)
{
	const struct user a = { "a", ROLE_VIEWER, 0, BCRYPT };
	const struct user b = { "b", ROLE_OPERATOR, 1801396800, NULL };
	struct stat st;

	ck_assert_int_eq(users_add(path, &a, &diags), E_OK);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	ck_assert_int_eq(users_add(path, &b, &diags), E_OK);
	ck_assert_int_eq(users_add(path, &b, &diags), E_DUPLICATE);
	ck_assert_int_eq(users_read(path, arena, &diags, &users), E_OK);
	ck_assert_uint_eq(users.n, 2);
	ck_assert_int_eq(users_find(&users, "b")->expires, 1801396800);
	ck_assert_int_eq(users_remove(path, "a", &diags), E_OK);
	ck_assert_int_eq(users_remove(path, "a", &diags), E_NOTFOUND);
	ck_assert_int_eq(users_read(path, arena, &diags, &users), E_OK);
	ck_assert_uint_eq(users.n, 1);
	ck_assert_ptr_nonnull(users_find(&users, "b"));
}
END_TEST

START_TEST(test_damaged_file_is_not_changed)
{
	const struct user a = { "a", ROLE_VIEWER, 0, NULL };

	temp_file_write(path, "what is this\n");
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert_int_eq(users_add(path, &a, &diags), E_SYNTAX);
	ck_assert_int_eq(users_remove(path, "what", &diags), E_SYNTAX);
}
END_TEST

START_TEST(test_expiry)
{
	char text[32];
	int64_t at = 1;

	ck_assert_int_eq(user_expiry_parse("never", 5, &at), E_OK);
	ck_assert_int_eq(at, 0);
	ck_assert_int_eq(user_expiry_parse("90d", 5, &at), E_OK);
	ck_assert_int_eq(at, 5 + 90 * 86400);
	ck_assert_int_eq(user_expiry_parse("0d", 5, &at), E_RANGE);
	ck_assert_int_eq(user_expiry_parse("2027-01-31", 5, &at), E_OK);
	user_expiry_text(at, text);
	ck_assert_str_eq(text, "2027-01-31T00:00:00Z");
	user_expiry_text(0, text);
	ck_assert_str_eq(text, "never");
}
END_TEST

START_TEST(test_secrets)
{
	char a[SECRET_BYTES], b[SECRET_BYTES], hash[SECRET_HASH_BYTES];

	ck_assert_int_eq(secret_make(a), E_OK);
	ck_assert_int_eq(secret_make(b), E_OK);
	ck_assert_str_ne(a, b);
	ck_assert_uint_eq(strlen(a), 43);
	ck_assert_int_eq(secret_hash(a, hash), E_OK);
	ck_assert_ptr_nonnull(strstr(hash, "$y$"));
	ck_assert(secret_is_hash(hash));
	ck_assert(secret_matches(a, hash));
	ck_assert(!secret_matches(b, hash));
	ck_assert(!secret_mismatch(a));
	ck_assert(secret_matches("correct-horse-battery", BCRYPT));
	ck_assert(!secret_matches("correct-horse-batter", BCRYPT));
	ck_assert(!secret_matches("", BCRYPT));
	ck_assert(!secret_matches("x", "no hash"));
}
END_TEST

TEST_SUITE(users)
{
	TCase *t = tcase_create("users");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_lines);
	tcase_add_loop_test(t, test_wrong_lines, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(t, test_mode);
	tcase_add_test(t, test_add_and_remove);
	tcase_add_test(t, test_damaged_file_is_not_changed);
	tcase_add_test(t, test_expiry);
	tcase_add_test(t, test_secrets);
	suite_add_tcase(suite, t);
}
