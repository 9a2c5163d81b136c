/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Longer than most: every promise of one public header, and the damages of one file. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "db/lmdb/env.h"
#include "db/lmdb/layout.h"
#include "db/state/state.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

static char dir[256];
static struct arena *arena;
static const char *why;

static void setup(void)
{
	make_tmp(dir);
	arena = arena_new();
	why = "";
}

static void teardown(void)
{
	arena_free(arena);
	remove_tree(dir);
}

static const char *in_dir(const char *name)
{
	return arena_printf(arena, "%s/%s", dir, name);
}

static struct state *open_ok(const char *path)
{
	struct state *s = NULL;
	int ret = state_open(path, arena, &why, &s);
	ck_assert_msg(ret == E_OK, "%s", why);
	return s;
}

static void refused(const char *path, int expected, const char *word)
{
	struct state *s = NULL;
	ck_assert_int_eq(state_open(path, arena, &why, &s), expected);
	ck_assert_ptr_null(s);
	ck_assert_msg(strstr(why, path), "no folder in: %s", why);
	ck_assert_msg(strstr(why, word), "no '%s' in: %s", word, why);
}

START_TEST(test_lids_survive)
{
	struct lid_memory m[] = { { .guid = 0x9, .range = { 8, 3 } },
		                  { .guid = 0x2, .range = { 1, 0 } },
		                  { .guid = UINT64_MAX, .range = { 0xbff8, 2 } } };
	struct lid_memory *got;
	size_t n;
	struct state *s = open_ok(in_dir("a/b/main"));
	ck_assert_int_eq(state_lids(s, arena, &got, &n), E_OK);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(state_put_lids(s, m, 3, false), E_OK);
	m[0].range.base = 16;
	m[0].gone_epoch = 7;
	m[0].gone_time = -1;
	ck_assert_int_eq(state_put_lids(s, m, 1, false), E_OK);
	state_close(s);
	s = open_ok(in_dir("a/b/main"));
	ck_assert_int_eq(state_lids(s, arena, &got, &n), E_OK);
	ck_assert_uint_eq(n, 3);
	ck_assert(got[0].guid == 0x2 && got[0].range.base == 1 && got[0].range.lmc == 0);
	ck_assert(got[1].guid == 0x9 && got[1].range.base == 16 && got[1].range.lmc == 3);
	ck_assert(got[1].gone_epoch == 7 && got[1].gone_time == -1);
	ck_assert(got[0].gone_epoch == 0 && got[0].gone_time == 0);
	ck_assert(got[2].guid == UINT64_MAX && got[2].range.base == 0xbff8 &&
	          got[2].range.lmc == 2);
	m[1].range.base = 0; /* forgotten, whether it is there or not */
	ck_assert_int_eq(state_put_lids(s, m, 2, false), E_OK);
	ck_assert_int_eq(state_put_lids(s, m, 2, false), E_OK);
	ck_assert_int_eq(state_lids(s, arena, &got, &n), E_OK);
	ck_assert_uint_eq(n, 2);
	ck_assert(got[0].guid == 0x9);
	ck_assert_int_eq(state_put_lids(s, m, 1, true), E_OK);
	ck_assert_int_eq(state_lids(s, arena, &got, &n), E_OK);
	ck_assert_uint_eq(n, 1);
	state_close(s);
}
END_TEST

START_TEST(test_epochs_never_repeat)
{
	uint64_t last = 0, e = 0;
	for (unsigned round = 0; round < 3; round++) {
		struct state *s = open_ok(dir);
		for (unsigned i = 0; i < 5; i++) {
			ck_assert_int_eq(state_next_epoch(s, 0, &e), E_OK);
			ck_assert_uint_gt(e, last);
			last = e;
		}
		/* nor what a snapshot has that is older than this state */
		ck_assert_int_eq(state_next_epoch(s, last + 7, &e), E_OK);
		ck_assert_uint_eq(e, last + 8);
		ck_assert_int_eq(state_next_epoch(s, 3, &e), E_OK);
		ck_assert_uint_eq(e, last + 9);
		last = e;
		state_close(s);
	}
}
END_TEST

START_TEST(test_modes)
{
	struct stat st;
	state_close(open_ok(in_dir("main")));
	ck_assert_int_eq(stat(in_dir("main"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(stat(in_dir("main/data.mdb"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(stat(in_dir("main/lock.mdb"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}
END_TEST

START_TEST(test_locked)
{
	struct state *s = open_ok(dir);
	refused(dir, E_LOCKED, arena_printf(arena, "process %ld", (long)getpid()));
	state_close(s);
	state_close(open_ok(dir));
}
END_TEST

/* A lock file from before a crash, from another machine or from another program: nobody holds it, so
 * it stops nobody, and what the state has is there. */
START_TEST(test_stale_lock_file)
{
	static const size_t sizes[] = { 0, 1, 64, 100, 4096, 8192, 100000 };
	const char *path = in_dir("lock.mdb");
	unsigned seed = test_seed() + (unsigned)_i;
	uint64_t before, after;
	struct state *s = open_ok(dir);
	uint8_t *bytes = arena_alloc(arena, 100000);

	ck_assert_int_eq(state_next_epoch(s, 41, &before), E_OK);
	state_close(s);
	for (unsigned k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		FILE *f = fopen(path, _i == 0 ? "w" : "r+"); /* cut, or its beginning replaced */

		ck_assert_ptr_nonnull(f);
		for (size_t i = 0; i < sizes[k]; i++) {
			bytes[i] = (uint8_t)(_i == 2 ? 0xff : rand_r(&seed));
		}
		ck_assert_uint_eq(fwrite(bytes, 1, sizes[k], f), sizes[k]);
		ck_assert_int_eq(fclose(f), 0);
		s = open_ok(dir);
		ck_assert_int_eq(state_next_epoch(s, 0, &after), E_OK);
		ck_assert_uint_eq(after, before + 1);
		before = after;
		refused(dir, E_LOCKED, "process"); /* and it locks again */
		state_close(s);
	}
	ck_assert_int_eq(unlink(path), 0);
	state_close(open_ok(dir));
}
END_TEST

START_TEST(test_not_a_folder)
{
	FILE *f = fopen(in_dir("file"), "w");
	ck_assert_ptr_nonnull(f);
	fclose(f);
	refused(in_dir("file"), -ENOTDIR, "--state-dir");
	refused(in_dir("file/below"), -ENOTDIR, "--state-dir");
}
END_TEST

START_TEST(test_unwritable)
{
	ck_assert_int_eq(mkdir(in_dir("ro"), 0555), 0);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(seteuid(65534), 0);
	}
	refused(in_dir("ro"), -EACCES, "not writable");
	refused(in_dir("ro/new"), -EACCES, "cannot create");
	if (getuid() == 0) {
		ck_assert_int_eq(seteuid(0), 0);
	}
}
END_TEST

/* Things that can lie in the folder instead of our database. */
static void put_garbage(void)
{
	FILE *f = fopen(in_dir("data.mdb"), "w");
	for (unsigned i = 0; i < 20000; i++) {
		fputc((int)(i * 7919 >> 3), f);
	}
	fclose(f);
}

static void put_short(void)
{
	FILE *f = fopen(in_dir("data.mdb"), "w");
	fputs("short", f);
	fclose(f);
}

/* The head of a database of another machine: LMDB's magic after a page header. */
static void put_head(size_t word, uint32_t magic)
{
	uint8_t page[8192] = { 0 };
	FILE *f = fopen(in_dir("data.mdb"), "w");
	memcpy(page + word + 8, &magic, sizeof(magic));
	fwrite(page, sizeof(page), 1, f);
	fclose(f);
}

enum { OTHER_WORD = sizeof(size_t) == 8 ? 4 : 8 };

static void put_other_order(void)
{
	put_head(sizeof(size_t), 0xDEC0EFBE);
}

static void put_other_word(void)
{
	put_head(OTHER_WORD, 0xBEEFC0DE);
}

static void put_other_order_and_word(void)
{
	put_head(OTHER_WORD, 0xDEC0EFBE);
}

static void raw_open(MDB_env **env, MDB_txn **txn)
{
	ck_assert_int_eq(mdb_env_create(env), 0);
	ck_assert_int_eq(mdb_env_set_maxdbs(*env, 8), 0);
	ck_assert_int_eq(mdb_env_open(*env, dir, 0, 0600), 0);
	ck_assert_int_eq(mdb_txn_begin(*env, NULL, 0, txn), 0);
}

static void raw_put(const char *table, const char *key, size_t key_len, const void *val,
                    size_t len)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val k = { key_len, (void *)key }, v = { len, (void *)val };
	raw_open(&env, &txn);
	ck_assert_int_eq(mdb_dbi_open(txn, table, table ? MDB_CREATE : 0, &dbi), 0);
	ck_assert_int_eq(mdb_put(txn, dbi, &k, &v, 0), 0);
	ck_assert_int_eq(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

static void put_other_lmdb(void)
{
	raw_put(NULL, "layout", 6, "theirs", 6);
}

static void put_other_tables(void)
{
	raw_put("theirs", "a", 1, "b", 1);
}

static void put_layout(const char *kind, uint32_t number)
{
	struct row_layout row = { .layout = number };
	state_close(open_ok(dir));
	snprintf(row.kind, sizeof(row.kind), "%s", kind);
	raw_put("layout", DB_KEY_LAYOUT, sizeof(DB_KEY_LAYOUT), &row, sizeof(row));
}

static void put_newer(void)
{
	put_layout("state", kind_state.layout + 1);
}

static void put_older(void)
{
	put_layout("state", kind_state.oldest - 1);
}

static void put_other_kind(void)
{
	put_layout("snapshot", kind_state.layout);
}

static void put_short_layout(void)
{
	state_close(open_ok(dir));
	raw_put("layout", DB_KEY_LAYOUT, sizeof(DB_KEY_LAYOUT), "x", 1);
}

static void cut_file(void)
{
	struct stat st;
	state_close(open_ok(dir));
	ck_assert_int_eq(stat(in_dir("data.mdb"), &st), 0);
	ck_assert_int_eq(truncate(in_dir("data.mdb"), 3 * sysconf(_SC_PAGESIZE)), 0);
}

/* A page size of zero would make LMDB divide by it. */
static void damage_head(void)
{
	uint32_t zero = 0;
	off_t at = sizeof(size_t) == 8 ? 40 : 28;
	state_close(open_ok(dir));
	int fd = open(in_dir("data.mdb"), O_WRONLY);
	ck_assert_int_eq(pwrite(fd, &zero, 4, at), 4);
	close(fd);
}

static void damage_magic(void)
{
	off_t at = sysconf(_SC_PAGESIZE) + (off_t)sizeof(size_t) + 8;
	state_close(open_ok(dir));
	int fd = open(in_dir("data.mdb"), O_WRONLY);
	ck_assert_int_eq(pwrite(fd, "\0\0\0\0", 4, at), 4);
	close(fd);
}

static const struct {
	void (*put)(void);
	int expected;
	const char *word;
} bad_files[] = {
	{ put_garbage, E_FOREIGN, "not an LMDB database" },
	{ put_short, E_FOREIGN, "not an LMDB database" },
	{ put_other_order, E_FOREIGN, "another kind of machine" },
	{ put_other_word, E_FOREIGN, "another kind of machine" },
	{ put_other_order_and_word, E_FOREIGN, "another kind of machine" },
	{ put_other_lmdb, E_FOREIGN, "no Saguaro database" },
	{ put_other_tables, E_FOREIGN, "no Saguaro database" },
	{ put_other_kind, E_FOREIGN, "another kind" },
	{ put_short_layout, E_FOREIGN, "no Saguaro database" },
	{ put_newer, E_LAYOUT, "a newer Saguaro" },
	{ put_older, E_LAYOUT, "an older Saguaro" },
	{ cut_file, E_MALFORMED, "truncated" },
	{ damage_head, E_MALFORMED, "damaged" },
	{ damage_magic, E_FOREIGN, "not an LMDB database" },
};

START_TEST(test_bad_file)
{
	bad_files[_i].put();
	refused(dir, bad_files[_i].expected, bad_files[_i].word);
}
END_TEST

/* Rows that nobody could use are found at the start, not in the middle of a sweep. */
static const struct {
	const char *table, *key;
	size_t key_len;
	const char *value;
	size_t len;
	const char *named;
} bad_rows[] = {
	{ "lids", "\0\0\0\0\0\0\0\1", 8, "12345", 5,
	  "0x0000000000000001 of its table lids" },
	{ "lids", "\0\0\0\0\0\0\1", 7, "\1\0\0\0\0\0\0\0", 8, "0x00000000000001 of" },
	{ "lids", "\0\0\0\0\0\0\0\1", 8, "\0\0\0\0\0\0\0\0", 8, "of its table lids" },
	{ "lids", "\0\0\0\0\0\0\0\1", 8, "\1\1\1\1\0\0\0\1", 8, "of its table lids" },
	{ "lids", "\0\0\0\0\0\0\0\1", 8, "\10\0\0\0\11\0\0\0", 8, "of its table lids" },
	{ "epoch", DB_KEY_EPOCH, sizeof(DB_KEY_EPOCH), "123", 3,
	  "the row 0x65706f636800 of its table epoch has a wrong length" },
};

START_TEST(test_bad_values)
{
	state_close(open_ok(dir));
	raw_put(bad_rows[_i].table, bad_rows[_i].key, bad_rows[_i].key_len,
	        bad_rows[_i].value, bad_rows[_i].len);
	refused(dir, E_MALFORMED,
	        "restore data.mdb there from a backup, or move it away");
	refused(dir, E_MALFORMED, bad_rows[_i].named);
}
END_TEST

static void keep_ret(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

static int refuse_second(void *ctx, const uint8_t *key, size_t key_len,
                         const uint8_t *value, size_t len)
{
	(void)ctx;
	(void)key_len;
	(void)value;
	(void)len;
	return key[0] == 'b' ? E_MALFORMED : E_OK;
}

/* A row that its reader refuses is named, with the begin of a long key. */
START_TEST(test_refused_row)
{
	struct state *s = open_ok(dir);
	struct state_batch *b;
	char key[100], text[200];
	int ret = -1;

	memset(key, 'b', sizeof(key));
	ck_assert_ptr_null(strstr(state_err_text(s, E_MALFORMED, arena), "row"));
	ck_assert_int_eq(state_batch_new(&b), E_OK);
	ck_assert_int_eq(state_batch_put(b, RECORDS_SERVICES, "a", 1, "", 0), E_OK);
	ck_assert_int_eq(state_batch_put(b, RECORDS_SERVICES, key, sizeof(key), "", 0),
	                 E_OK);
	state_batch_commit(s, b, keep_ret, &ret);
	state_flush(s);
	ck_assert_int_eq(ret, E_OK);
	ck_assert_int_eq(state_records(s, RECORDS_SERVICES, refuse_second, NULL),
	                 E_MALFORMED);
	snprintf(text, sizeof(text), "the row 0x%s... of its table services",
	         "626262626262626262626262626262626262626262626262"
	         "626262626262626262626262626262626262626262626262");
	why = state_err_text(s, E_MALFORMED, arena);
	ck_assert_msg(strstr(why, text) != NULL, "%s", why);
	ck_assert_msg(strstr(why, dir) != NULL, "%s", why);
	ck_assert_str_eq(state_err_text(s, E_FULL, arena), err_text(E_FULL));
	state_close(s);
}
END_TEST

/* Tables that an older layout lacks are made; what it has stays. */
START_TEST(test_older_layout_is_taken_over)
{
	struct lid_memory m = { .guid = 0x9, .range = { 8, 3 } }, *got;
	size_t n;
	struct state *s = open_ok(dir);
	ck_assert_int_eq(state_put_lids(s, &m, 1, false), E_OK);
	state_close(s);
	put_layout("state", kind_state.oldest);
	s = open_ok(dir);
	ck_assert_int_eq(state_lids(s, arena, &got, &n), E_OK);
	ck_assert_uint_eq(n, 1);
	state_close(s);
	put_layout("state", kind_state.layout + 1); /* it is of this layout now */
	refused(dir, E_LAYOUT, "a newer Saguaro");
}
END_TEST

/* Writes the file of an older saguarod into the folder. */
static void put_golden(const char *name)
{
	const char *srcdir = getenv("srcdir");
	FILE *in = fopen(
		arena_printf(arena, "%s/tests/golden/%s", srcdir ? srcdir : ".", name),
		"r");
	int out = open(in_dir("data.mdb"), O_WRONLY | O_CREAT, 0600);
	unsigned size = 0;
	char line[160];

	ck_assert_ptr_nonnull(in);
	ck_assert_int_ge(out, 0);
	while (fgets(line, sizeof(line), in)) {
		unsigned at;
		char hex[65];
		uint8_t bytes[32];

		if (line[0] == '#' || sscanf(line, "size %u", &size) == 1) {
			continue;
		}
		ck_assert_int_eq(sscanf(line, "%x %64[0-9a-f]", &at, hex), 2);
		for (unsigned i = 0; i < 32; i++) {
			ck_assert_int_eq(sscanf(hex + 2 * i, "%2hhx", &bytes[i]), 1);
		}
		ck_assert_int_eq(pwrite(out, bytes, 32, at), 32);
	}
	ck_assert_int_eq(ftruncate(out, size), 0);
	close(out);
	fclose(in);
}

/* A machine without 64-bit words in little-endian order refuses the golden files. */
static bool is_of_other_machine(void)
{
	if (sizeof(size_t) == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
		return false;
	}
	refused(dir, E_FOREIGN, "another kind of machine");
	fprintf(stderr,
	        "skipped: take over the golden state of another kind of machine\n");
	return true;
}

/* The file of a saguarod of layout 4: all LIDs and the epoch are there, and stay. */
START_TEST(test_file_of_layout_4)
{
	struct lid_memory *got, *again;
	size_t n, n_again;
	uint64_t e;

	put_golden("state-layout-4.hex");
	if (is_of_other_machine()) {
		return;
	}
	struct state *s = open_ok(dir);
	ck_assert_int_eq(state_lids(s, arena, &got, &n), E_OK);
	ck_assert_uint_eq(n, 6);
	for (size_t i = 0; i < n; i++) {
		ck_assert(got[i].range.base >= 1 && got[i].range.base <= 6);
		ck_assert_uint_eq(got[i].range.lmc, 0);
		ck_assert(got[i].gone_epoch == 0 && got[i].gone_time == 0);
		for (size_t k = 0; k < i; k++) {
			ck_assert_uint_ne(got[i].range.base, got[k].range.base);
			ck_assert_uint_lt(got[k].guid, got[i].guid);
		}
	}
	ck_assert_int_eq(state_next_epoch(s, 0, &e), E_OK);
	ck_assert_uint_eq(e, 2);
	got[3].gone_epoch = 2;
	ck_assert_int_eq(state_put_lids(s, &got[3], 1, false), E_OK);
	state_close(s);
	s = open_ok(dir); /* converted once */
	ck_assert_int_eq(state_lids(s, arena, &again, &n_again), E_OK);
	ck_assert_uint_eq(n_again, n);
	ck_assert_mem_eq(again, got, n * sizeof(*got));
	state_close(s);
}
END_TEST

static int count_row(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                     size_t len)
{
	ck_assert(state_partition_fits(key, key_len, value, len));
	++*(unsigned *)ctx;
	return E_OK;
}

struct told {
	unsigned n;
	int ret;
};

static void count_done(void *ctx, int ret)
{
	struct told *t = ctx;
	t->n++;
	t->ret |= ret;
}

/* The file of a saguarod of layout 5, which had no partitions: LIDs stay, partitions are kept. */
START_TEST(test_file_of_layout_5)
{
	const uint8_t head[2] = { 0, 0 };
	const struct row_runtime_head row = { .version = 1, .changed_s = 2 };
	struct state_batch *b;
	struct told told = { 0 };
	struct lid_memory *got;
	unsigned rows = 0;
	size_t n;

	put_golden("state-layout-5.hex");
	if (is_of_other_machine()) {
		return;
	}
	struct state *s = open_ok(dir);
	ck_assert_int_eq(state_lids(s, arena, &got, &n), E_OK);
	ck_assert_uint_eq(n, 6);
	for (size_t i = 0; i < n; i++) {
		ck_assert(got[i].range.base >= 1 && got[i].range.base <= 6);
	}
	ck_assert_int_eq(state_records(s, RECORDS_PARTITIONS, count_row, &rows), E_OK);
	ck_assert_uint_eq(rows, 0);
	ck_assert_int_eq(state_batch_new(&b), E_OK);
	ck_assert_int_eq(state_batch_put(b, RECORDS_PARTITIONS, head, sizeof(head), &row,
	                                 sizeof(row)),
	                 E_OK);
	state_batch_commit(s, b, count_done, &told);
	state_flush(s);
	ck_assert(told.n == 1 && told.ret == E_OK);
	state_close(s);
	s = open_ok(dir);
	ck_assert_int_eq(state_records(s, RECORDS_PARTITIONS, count_row, &rows), E_OK);
	ck_assert_uint_eq(rows, 1);
	state_close(s);
}
END_TEST

static int append_row(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                      size_t len)
{
	char *text = ctx;
	sprintf(text + strlen(text), "%.*s=%.*s ", (int)key_len, key, (int)len, value);
	return E_OK;
}

static const char *rows_of(struct state *s, enum record_table table)
{
	static char text[200];
	text[0] = '\0';
	ck_assert_int_eq(state_records(s, table, append_row, text), E_OK);
	return text;
}

static void commit(struct state *s, struct told *t, const char *key, const char *value)
{
	struct state_batch *b;
	ck_assert_int_eq(state_batch_new(&b), E_OK);
	ck_assert_int_eq(state_batch_put(b, RECORDS_SERVICES, key, strlen(key), value,
	                                 value ? strlen(value) : 0),
	                 E_OK);
	ck_assert_int_eq(state_batch_put(b, RECORDS_SUBSCRIPTIONS, "last", 4, key,
	                                 strlen(key)),
	                 E_OK);
	state_batch_commit(s, b, count_done, t);
}

START_TEST(test_records_survive)
{
	struct told t = { 0 };
	struct state *s = open_ok(dir);
	ck_assert_str_eq(rows_of(s, RECORDS_SERVICES), "");
	commit(s, &t, "b", "1");
	commit(s, &t, "a", "2");
	commit(s, &t, "c", "3");
	commit(s, &t, "b", "4");
	commit(s, &t, "c", NULL);
	commit(s, &t, "none", NULL);
	state_flush(s);
	ck_assert_uint_eq(t.n, 6);
	ck_assert_int_eq(t.ret, E_OK);
	ck_assert_str_eq(rows_of(s, RECORDS_SERVICES), "a=2 b=4 ");
	ck_assert_str_eq(rows_of(s, RECORDS_SUBSCRIPTIONS), "last=none ");
	state_close(s);
	s = open_ok(dir);
	ck_assert_str_eq(rows_of(s, RECORDS_SERVICES), "a=2 b=4 ");
	commit(s, &t, "d", "5");
	state_close(s); /* what was queued is done before it ends */
	ck_assert_uint_eq(t.n, 7);
	s = open_ok(dir);
	ck_assert_str_eq(rows_of(s, RECORDS_SERVICES), "a=2 b=4 d=5 ");
	state_close(s);
}
END_TEST

/* A change that fails is told to all of its turn, and nothing of them is stored. */
START_TEST(test_records_fail_whole)
{
	struct told t = { 0 };
	char long_key[600];
	struct state *s = open_ok(dir);
	memset(long_key, 'x', sizeof(long_key) - 1);
	long_key[sizeof(long_key) - 1] = '\0';
	commit(s, &t, long_key, "1");
	state_flush(s);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_int_ne(t.ret, E_OK);
	ck_assert_str_eq(rows_of(s, RECORDS_SUBSCRIPTIONS), "");
	state_batch_free(NULL);
	state_close(s);
}
END_TEST

enum { THREADS = 4, TURNS = 50 };

struct turn {
	struct state *s;
	unsigned id;
	uint64_t epoch[TURNS];
	int failed;
};

static void *take_turns(void *arg)
{
	struct turn *t = arg;
	for (unsigned i = 0; i < TURNS; i++) {
		struct lid_memory m = { .guid = t->id * 1000 + i,
			                .range = { t->id * 1000 + i, 0 } };
		t->failed |= state_next_epoch(t->s, 0, &t->epoch[i]);
		t->failed |= state_put_lids(t->s, &m, 1, false);
	}
	return NULL;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

START_TEST(test_many_threads)
{
	struct state *s = open_ok(dir);
	struct turn t[THREADS] = { { 0 } };
	pthread_t id[THREADS];
	uint64_t all[THREADS * TURNS];
	struct lid_memory *got;
	size_t n;
	for (unsigned i = 0; i < THREADS; i++) {
		t[i].s = s;
		t[i].id = i + 1;
		ck_assert_int_eq(pthread_create(&id[i], NULL, take_turns, &t[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(id[i], NULL);
		ck_assert_int_eq(t[i].failed, 0);
		memcpy(all + i * TURNS, t[i].epoch, sizeof(t[i].epoch));
	}
	qsort(all, THREADS * TURNS, sizeof(all[0]), compare_u64);
	for (unsigned i = 0; i < THREADS * TURNS; i++) {
		ck_assert_uint_eq(all[i], i + 1);
	}
	ck_assert_int_eq(state_lids(s, arena, &got, &n), E_OK);
	ck_assert_uint_eq(n, THREADS * TURNS);
	state_close(s);
}
END_TEST

/* Writes ever more assignments; a number goes into the pipe once it is acknowledged. */
static void write_for_ever(int fd)
{
	struct state *s = NULL;
	uint64_t e;
	if (state_open(dir, arena, &why, &s) != E_OK) {
		_exit(1);
	}
	for (uint32_t i = 1;; i++) {
		struct lid_memory m[8];
		for (uint32_t k = 0; k < 8; k++) {
			m[k] = (struct lid_memory){ .guid = (uint64_t)i << 8 | k,
				                    .range = { i * 8 + k, 0 } };
		}
		if (state_next_epoch(s, 0, &e) != E_OK ||
		    state_put_lids(s, m, 8, false) != E_OK ||
		    write(fd, &e, sizeof(e)) != sizeof(e)) {
			_exit(1);
		}
	}
}

/* Kills a writer after a random number of acknowledged turns; returns the last epoch
 * told. */
static uint64_t run_and_kill(unsigned turns)
{
	int fds[2];
	uint64_t e = 0, last = 0;
	ck_assert_int_eq(pipe(fds), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(fds[0]);
		write_for_ever(fds[1]);
	}
	close(fds[1]);
	for (unsigned i = 0; i < turns; i++) {
		ck_assert_int_eq(read(fds[0], &e, sizeof(e)), sizeof(e));
		last = e;
	}
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	while (read(fds[0], &e, sizeof(e)) == sizeof(e)) {
		last = e;
		turns++;
	}
	close(fds[0]);
	/* the folder is free at once, and all that was told is there */
	struct lid_memory *got;
	size_t n;
	struct state *s = open_ok(dir);
	ck_assert_int_eq(state_lids(s, arena, &got, &n), E_OK);
	ck_assert_uint_ge(n, 8 * turns);
	ck_assert_uint_eq(n % 8, 0);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(got[i].guid, (uint64_t)(i / 8 + 1) << 8 | i % 8);
		ck_assert_uint_eq(got[i].range.base, i + 8);
	}
	ck_assert_int_eq(state_next_epoch(s, 0, &e), E_OK);
	ck_assert_uint_gt(e, last);
	state_close(s);
	return e;
}

START_TEST(test_kill)
{
	unsigned seed = test_seed();
	uint64_t last = 0;
	for (unsigned i = 0; i < 8; i++) {
		uint64_t e = run_and_kill(1 + (unsigned)rand_r(&seed) % 20);
		ck_assert_uint_gt(e, last);
		last = e;
	}
}
END_TEST

TEST_SUITE(state)
{
	TCase *t = tcase_create("state");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_lids_survive);
	tcase_add_test(t, test_epochs_never_repeat);
	tcase_add_test(t, test_modes);
	tcase_add_test(t, test_locked);
	tcase_add_loop_test(t, test_stale_lock_file, 0, 3);
	tcase_add_test(t, test_not_a_folder);
	tcase_add_test(t, test_unwritable);
	tcase_add_loop_test(t, test_bad_file, 0,
	                    sizeof(bad_files) / sizeof(bad_files[0]));
	tcase_add_loop_test(t, test_bad_values, 0,
	                    (int)(sizeof(bad_rows) / sizeof(bad_rows[0])));
	tcase_add_test(t, test_refused_row);
	tcase_add_test(t, test_older_layout_is_taken_over);
	tcase_add_test(t, test_file_of_layout_4);
	tcase_add_test(t, test_file_of_layout_5);
	tcase_add_test(t, test_records_survive);
	tcase_add_test(t, test_records_fail_whole);
	tcase_add_test(t, test_many_threads);
	tcase_add_test(t, test_kill);
	suite_add_tcase(suite, t);
}
