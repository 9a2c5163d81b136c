/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <lmdb.h>

#include "db/stats.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

static char dir[256];
static struct arena *arena;
static struct stats *s;

static void open_writer(void)
{
	const char *why = "";
	int ret = stats_open(dir, arena, &why, &s);
	ck_assert_msg(ret == E_OK, "%s", why);
}

static void setup(void)
{
	make_tmp(dir);
	arena = arena_new();
	open_writer();
}

static void teardown(void)
{
	stats_close(s);
	arena_free(arena);
	remove_tree(dir);
}

/* A foreign reader belongs into another process; LMDB only minds locks, which it has not.
 */
static struct stats_reader *reader(void)
{
	struct stats_reader *r = NULL;
	ck_assert_int_eq(stats_reader_open(dir, &r), E_OK);
	return r;
}

static const struct stats_value *find(const struct stats_copy *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->values[i].name, name) == 0) {
			return &c->values[i];
		}
	}
	return NULL;
}

START_TEST(test_values)
{
	struct stats_copy c;
	struct stats_reader *r = reader();
	stats_set(s, "b_total{class=\"smp\"}", 1.5);
	stats_set(s, "a", -3);
	stats_text(s, "sweep_phase", "discover");
	stats_text(s, "not_ready", "");
	ck_assert_int_eq(stats_commit(s, 1234567), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.heartbeat_ms, 1234567);
	ck_assert_uint_eq(c.pid, (uint32_t)getpid());
	ck_assert_int_gt(c.heartbeat_realtime_s, 1600000000);
	ck_assert_uint_eq(c.n, 4);
	for (size_t i = 1; i < c.n; i++) {
		ck_assert_int_lt(strcmp(c.values[i - 1].name, c.values[i].name), 0);
	}
	ck_assert(find(&c, "a")->value == -3 && !find(&c, "a")->text);
	ck_assert(find(&c, "b_total{class=\"smp\"}")->value == 1.5);
	ck_assert_str_eq(stats_copy_text(&c, "sweep_phase"), "discover");
	ck_assert_str_eq(stats_copy_text(&c, "not_ready"), "");
	ck_assert_ptr_null(stats_copy_text(&c, "nothing"));
	ck_assert_ptr_null(stats_copy_text(&c, "a"));
	stats_set(s, "a", 4);
	stats_text(s, "sweep_phase", "idle");
	ck_assert_int_eq(stats_commit(s, 1234568), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.heartbeat_ms, 1234568);
	ck_assert(find(&c, "a")->value == 4);
	ck_assert_str_eq(stats_copy_text(&c, "sweep_phase"), "idle");
	ck_assert_uint_eq(c.n, 4);
	stats_reader_close(r);
}
END_TEST

START_TEST(test_not_ready)
{
	struct stats_copy c;
	struct stats_reader *r = NULL;
	char other[300];
	snprintf(other, sizeof(other), "%s/nowhere", dir);
	ck_assert_int_eq(stats_reader_open(other, &r), E_NOTREADY);
	r = reader();
	ck_assert_int_eq(stats_read(r, arena, &c), E_NOTREADY);
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.n, 0);
	stats_reader_close(r);
}
END_TEST

START_TEST(test_restart_forgets)
{
	struct stats_copy c;
	struct stats_reader *r = reader();
	stats_set(s, "old", 1);
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	stats_close(s);
	open_writer();
	/* until the first commit the last values and their old heartbeat are what there
	 * is */
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_ptr_nonnull(find(&c, "old"));
	stats_set(s, "new", 1);
	ck_assert_int_eq(stats_commit(s, 2), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_ptr_null(find(&c, "old"));
	ck_assert_ptr_nonnull(find(&c, "new"));
	stats_reader_close(r);
}
END_TEST

START_TEST(test_limits)
{
	struct stats_copy c;
	struct stats_reader *r = reader();
	char name[STATS_NAME_MAX + 2], text[STATS_TEXT_MAX + 10];
	memset(name, 'n', sizeof(name));
	name[STATS_NAME_MAX + 1] = '\0';
	memset(text, 't', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	stats_set(s, name, 1);
	ck_assert_int_eq(stats_commit(s, 1), E_RANGE);
	stats_set(s, "", 1);
	ck_assert_int_eq(stats_commit(s, 1), E_RANGE);
	name[STATS_NAME_MAX] = '\0';
	stats_text(s, name, text);
	ck_assert_int_eq(stats_commit(s, 2), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(strlen(stats_copy_text(&c, name)), STATS_TEXT_MAX);
	stats_reader_close(r);
}
END_TEST

/* Each commit's values all carry the same number: a mixture of two would show. */
START_TEST(test_never_torn)
{
	struct stats_reader *r = reader();
	char name[32];
	for (unsigned i = 1; i <= 300; i++) {
		struct stats_copy c;
		for (unsigned k = 0; k < 40; k++) {
			snprintf(name, sizeof(name), "v%u", k);
			stats_set(s, name, i);
		}
		ck_assert_int_eq(stats_commit(s, i * 500), E_OK);
		ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
		ck_assert_uint_eq(c.n, 40);
		for (unsigned k = 0; k < 40; k++) {
			ck_assert(c.values[k].value == i);
		}
	}
	struct stat st;
	char path[300];
	snprintf(path, sizeof(path), "%s/stats/data.mdb", dir);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_lt(st.st_size, 1 << 20);
	stats_reader_close(r);
}
END_TEST

START_TEST(test_damaged)
{
	struct stats_copy c;
	struct stats_reader *r = NULL;
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val k = { 1, (void *)"x" }, v = { 3, (void *)"\0ab" };
	char path[300];
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	stats_close(s);
	snprintf(path, sizeof(path), "%s/stats", dir);
	ck_assert_int_eq(mdb_env_create(&env), 0);
	ck_assert_int_eq(mdb_env_set_maxdbs(env, 8), 0);
	ck_assert_int_eq(mdb_env_open(env, path, 0, 0600), 0);
	ck_assert_int_eq(mdb_txn_begin(env, NULL, 0, &txn), 0);
	ck_assert_int_eq(mdb_dbi_open(txn, "values", 0, &dbi), 0);
	ck_assert_int_eq(mdb_put(txn, dbi, &k, &v, 0), 0);
	ck_assert_int_eq(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
	/* a commit of ours rewrites the head: with another's id the root counts as torn
	 */
	ck_assert_int_ne(stats_reader_open(dir, &r), E_OK);
	ck_assert_ptr_null(r);
	open_writer();
	stats_set(s, "y", 1);
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	r = reader();
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.n, 1);
	stats_reader_close(r);
}
END_TEST

TEST_SUITE(stats)
{
	TCase *t = tcase_create("stats");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_values);
	tcase_add_test(t, test_not_ready);
	tcase_add_test(t, test_restart_forgets);
	tcase_add_test(t, test_limits);
	tcase_add_test(t, test_never_torn);
	tcase_add_test(t, test_damaged);
	suite_add_tcase(suite, t);
}
