/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/acks.h"
#include "db/lmdb/drained.h"
#include "db/lmdb/known.h"
#include "sa/standby/frame.h"
#include "sa/standby/secret.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

/* A LID row and a service row, as they travel; the service is 26 and 192 bytes long. */
static size_t two_rows(uint8_t *to)
{
	const uint8_t lid_key[8] = { 0, 2, 0xc9, 0, 0, 0, 0, 7 };
	const struct {
		uint32_t base;
		uint8_t lmc, zero[3];
		uint64_t gone_epoch, gone_time;
	} lid = { 16, 2, { 0 }, 0, 0 };
	uint8_t service[26 + 192];
	const struct state_write w[] = {
		{ .table = COPIED_LIDS,
		  .key = lid_key,
		  .key_len = 8,
		  .value = (const uint8_t *)&lid,
		  .len = sizeof(lid) },
		{ .table = COPIED_RECORDS + RECORDS_SERVICES,
		  .key = service,
		  .key_len = 26,
		  .value = service + 26,
		  .len = 192 },
		{ .table = COPIED_RECORDS + RECORDS_SERVICES,
		  .key = service,
		  .key_len = 26 },
		{ .table = COPIED_RECORDS + RECORDS_MEMBERS, .clears = true },
	};
	size_t n = 0;

	memset(service, 0x5a, sizeof(service));
	for (size_t i = 0; i < sizeof(w) / sizeof(w[0]); i++) {
		frame_put_row(to + n, &w[i]);
		n += frame_row_bytes(&w[i]);
	}
	return n;
}

START_TEST(test_rows)
{
	uint8_t bytes[1024], again[1024];
	size_t n = two_rows(bytes), m = 0;
	const uint8_t *at = bytes;
	struct state_write w;
	int ret;

	while ((ret = frame_read_row(&at, bytes + n, &w)) == E_OK) {
		frame_put_row(again + m, &w);
		m += frame_row_bytes(&w);
	}
	ck_assert_int_eq(ret, E_NOTFOUND);
	ck_assert_uint_eq(m, n);
	ck_assert_mem_eq(again, bytes, n);
}
END_TEST

/* Values of rows are in the byte order of the machine. */
enum { TOP_BYTE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 3 : 0 };

/* Where the rows are wrong: at a byte, with a value. */
static const struct {
	const char *what;
	size_t at;
	uint8_t value;
} bad_rows[] = {
	{ "a table that does not exist", 0, COPIED_TABLES },
	{ "something else than put, remove, clear", 1, 3 },
	{ "a key that is longer than the frame", 2, 0xff },
	{ "a key of another length", 3, 7 },
	{ "a value that is longer than the frame", 4, 0xff },
	{ "a value of another length", 7, 9 },
	{ "a LID above the limit", 8 + 8 + TOP_BYTE, 0x7f },
	{ "an LMC above 7", 8 + 8 + 4, 8 },
	{ "a removed row with a value", 1, 1 },
	{ "a service of another length", 8 + 32 + 7, 191 },
	{ "a table that is cleared, with a key", 8 + 32 + 8 + 26 + 192 + 1, 2 },
};

START_TEST(test_bad_rows)
{
	uint8_t bytes[1024];
	size_t n = two_rows(bytes);
	const uint8_t *at = bytes;
	struct state_write w;
	int ret;

	bytes[bad_rows[_i].at] = bad_rows[_i].value;
	while ((ret = frame_read_row(&at, bytes + n, &w)) == E_OK) {
	}
	ck_assert_msg(ret == E_MALFORMED, "%s is taken", bad_rows[_i].what);
}
END_TEST

/* Rows that end in the middle of one. */
START_TEST(test_rows_cut)
{
	uint8_t bytes[1024];
	size_t n = two_rows(bytes), whole = 0;
	struct state_write w;

	for (size_t i = 1; i <= n; i++) {
		const uint8_t *at = bytes;
		int ret;

		while ((ret = frame_read_row(&at, bytes + i, &w)) == E_OK) {
		}
		ck_assert_int_eq(ret, at == bytes + i ? E_NOTFOUND : E_MALFORMED);
		whole += ret == E_NOTFOUND;
	}
	ck_assert_uint_eq(whole, 4);
}
END_TEST

/* Rows of each table whose key or value has another size than those of this table. */
static const struct {
	unsigned table;
	uint16_t good_key,
		bad_key; /* bytes; the good one is taken where the row is removed */
} row_sizes[] = {
	{ COPIED_LIDS, 8, 7 },
	{ COPIED_RECORDS + RECORDS_SERVICES, 26, 25 },
	{ COPIED_RECORDS + RECORDS_PARTITIONS, 2, 3 },
	{ COPIED_RECORDS + RECORDS_PARTITIONS, 10, 11 },
	{ COPIED_RECORDS + RECORDS_KNOWN, KNOWN_KEY_BYTES, KNOWN_KEY_BYTES - 1 },
	{ COPIED_RECORDS + RECORDS_ACKS, ACK_ID_BYTES, ACK_ID_BYTES + 1 },
	{ COPIED_RECORDS + RECORDS_ACKS, 1, 0 },
	{ COPIED_RECORDS + RECORDS_DRAINED, DRAINED_KEY_BYTES, DRAINED_KEY_BYTES + 1 },
};

static int read_one(unsigned table, uint16_t key_len, bool has_value)
{
	static const uint8_t key[ACK_ID_BYTES + 1] = { 0x7f, 0xff },
						value[3] = { 1, 2, 3 };
	const struct state_write w = { .table = (uint8_t)table,
		                       .key = key,
		                       .key_len = key_len,
		                       .value = has_value ? value : NULL,
		                       .len = has_value ? sizeof(value) : 0 };
	uint8_t bytes[256];
	const uint8_t *at = bytes;
	struct state_write got;

	frame_put_row(bytes, &w);
	return frame_read_row(&at, bytes + frame_row_bytes(&w), &got);
}

START_TEST(test_row_sizes)
{
	ck_assert_int_eq(read_one(row_sizes[_i].table, row_sizes[_i].good_key, false),
	                 E_OK);
	ck_assert_int_eq(read_one(row_sizes[_i].table, row_sizes[_i].bad_key, false),
	                 E_MALFORMED);
	ck_assert_int_eq(read_one(row_sizes[_i].table, row_sizes[_i].good_key, true),
	                 E_MALFORMED);
}
END_TEST

START_TEST(test_cut)
{
	uint8_t bytes[1024];
	size_t n = two_rows(bytes + FRAME_HEAD_BYTES) + FRAME_HEAD_BYTES;
	struct frame f;

	frame_head(bytes, FRAME_ROWS, n - FRAME_HEAD_BYTES);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(frame_read(bytes, i, &f), -EAGAIN);
	}
	ck_assert_int_eq(frame_read(bytes, n, &f), E_OK);
	ck_assert(f.type == FRAME_ROWS && f.bytes == n &&
	          f.payload == bytes + FRAME_HEAD_BYTES);
	bytes[0] = 1; /* 16 MiB */
	ck_assert_int_eq(frame_read(bytes, FRAME_HEAD_BYTES, &f), E_MALFORMED);
	bytes[0] = 0;
	bytes[4] = FRAME_JOIN_END + 1;
	ck_assert_int_eq(frame_read(bytes, n, &f), E_MALFORMED);
	bytes[4] = FRAME_ROWS;
	bytes[6] = 1;
	ck_assert_int_eq(frame_read(bytes, n, &f), E_MALFORMED);
	bytes[6] = 0;
	bytes[4] = 0;
	ck_assert_int_eq(frame_read(bytes, n, &f), E_MALFORMED);
}
END_TEST

/* A number has 8 bytes, and a frame that says another length has none. */
START_TEST(test_number)
{
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES];
	uint64_t number = 0;
	struct frame f;

	frame_number(bytes, FRAME_PING, 0x0102030405060708);
	ck_assert_int_eq(frame_read(bytes, sizeof(bytes), &f), E_OK);
	ck_assert_int_eq(frame_read_number(&f, &number), E_OK);
	ck_assert_uint_eq(number, 0x0102030405060708);
	f.len--;
	ck_assert_int_eq(frame_read_number(&f, &number), E_MALFORMED);
}
END_TEST

START_TEST(test_hello)
{
	const struct frame_hello h = { 0x2c9000000000001, 0xfe80000000000000, true,
		                       false };
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES];
	struct frame_hello got;
	struct frame f;

	frame_hello(bytes, &h);
	ck_assert_int_eq(frame_read(bytes, sizeof(bytes), &f), E_OK);
	ck_assert_int_eq(frame_read_hello(&f, &got), E_OK);
	ck_assert(got.guid == h.guid && got.prefix == h.prefix && got.master);
	bytes[FRAME_HEAD_BYTES + 5]++; /* version */
	ck_assert_int_eq(frame_read_hello(&f, &got), E_LAYOUT);
	bytes[FRAME_HEAD_BYTES + 5]--;
	bytes[FRAME_HEAD_BYTES + 7]++; /* layout of the rows */
	ck_assert_int_eq(frame_read_hello(&f, &got), E_LAYOUT);
	bytes[FRAME_HEAD_BYTES + 7]--;
	bytes[FRAME_HEAD_BYTES + 8] ^= 0xff; /* byte order */
	ck_assert_int_eq(frame_read_hello(&f, &got), E_FOREIGN);
	bytes[FRAME_HEAD_BYTES] ^= 1; /* magic */
	ck_assert_int_eq(frame_read_hello(&f, &got), E_MALFORMED);
	frame_hello(bytes, &h);
	bytes[FRAME_HEAD_BYTES + 28] = 2; /* neither master nor standby */
	ck_assert_int_eq(frame_read_hello(&f, &got), E_MALFORMED);
	frame_hello(bytes, &(struct frame_hello){ .guid = 0 });
	ck_assert_int_eq(frame_read_hello(&f, &got), E_MALFORMED);
	frame_hello(bytes, &h);
	ck_assert_int_eq(frame_read_hello(&f, &got), E_OK);
	f.len--;
	ck_assert_int_eq(frame_read_hello(&f, &got), E_MALFORMED);
	f.len++;
	f.type = FRAME_ROWS;
	ck_assert_int_eq(frame_read_hello(&f, &got), E_MALFORMED);
}
END_TEST

static const struct {
	const char *text;
	mode_t mode;
	int expected;
	const char *word; /* in the sentence */
} secrets[] = {
	{ "0123456789abcdef", 0600, E_OK, "" },
	{ "\n 0123456789abcdef\n\n", 0400, E_OK, "" },
	{ "0123456789abcdef", 0640, -EPERM, "chmod 0600" },
	{ "0123456789abcdef", 0604, -EPERM, "chmod 0600" },
	{ "0123456789abcde \n", 0600, E_RANGE, "holds 15 bytes" },
	{ "", 0600, E_RANGE, "/dev/urandom" },
};

START_TEST(test_secret)
{
	char dir[256], path[300];
	struct arena *a = arena_new();
	const char *why = "";
	const uint8_t *secret;
	size_t len = 0;
	FILE *f;

	make_tmp(dir);
	snprintf(path, sizeof(path), "%s/secret", dir);
	f = fopen(path, "w");
	fputs(secrets[_i].text, f);
	fclose(f);
	chmod(path, secrets[_i].mode);
	ck_assert_int_eq(secret_read(path, a, &why, &secret, &len), secrets[_i].expected);
	ck_assert_msg(strstr(why, secrets[_i].word) != NULL, "no '%s' in: %s",
	              secrets[_i].word, why);
	if (secrets[_i].expected == E_OK) {
		ck_assert_uint_eq(len, 16);
		ck_assert_mem_eq(secret, "0123456789abcdef", 16);
	} else {
		ck_assert_msg(strstr(why, path) != NULL, "no file in: %s", why);
	}
	if (geteuid() == 0) { /* neither root nor who reads it owns it */
		ck_assert_int_eq(chown(path, 65533, (gid_t)-1), 0);
		ck_assert_int_eq(secret_read(path, a, &why, &secret, &len), -EPERM);
		ck_assert_msg(strstr(why, "belongs to user 65533;") != NULL, "%s", why);
	}
	ck_assert_int_eq(secret_read(dir, a, &why, &secret, &len), -EPERM);
	remove_tree(dir);
	ck_assert_int_eq(secret_read(path, a, &why, &secret, &len), -ENOENT);
	arena_free(a);
}
END_TEST

/* A file that is far too long is not read to its end. */
START_TEST(test_long_secret)
{
	char dir[256], path[300];
	struct arena *a = arena_new();
	const char *why = "";
	const uint8_t *secret;
	size_t len;
	FILE *f;

	make_tmp(dir);
	snprintf(path, sizeof(path), "%s/secret", dir);
	f = fopen(path, "w");
	fprintf(f, "%0100000d", 0);
	fclose(f);
	chmod(path, 0600);
	ck_assert_int_eq(secret_read(path, a, &why, &secret, &len), E_RANGE);
	ck_assert_msg(strstr(why, "holds 1025 bytes") != NULL, "%s", why);
	remove_tree(dir);
	arena_free(a);
}
END_TEST

TEST_SUITE(standby_frame)
{
	TCase *t = tcase_create("standby_frame");

	tcase_add_test(t, test_rows);
	tcase_add_loop_test(t, test_bad_rows, 0, sizeof(bad_rows) / sizeof(bad_rows[0]));
	tcase_add_test(t, test_rows_cut);
	tcase_add_loop_test(t, test_row_sizes, 0,
	                    sizeof(row_sizes) / sizeof(row_sizes[0]));
	tcase_add_test(t, test_cut);
	tcase_add_test(t, test_number);
	tcase_add_test(t, test_hello);
	tcase_add_loop_test(t, test_secret, 0, sizeof(secrets) / sizeof(secrets[0]));
	tcase_add_test(t, test_long_secret);
	suite_add_tcase(suite, t);
}
