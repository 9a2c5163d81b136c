/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Rows of nodes and cables out of service: encoded, decoded, and what is no row.
 */
#include "db/lmdb/drained.h"

#include <check.h>
#include <string.h>

#include "conf/base/err.h"
#include "tests/lib/suite.h"

static const struct drained_row sample = { .node_guid = UINT64_C(0x0002c90300001234),
	                                   .peer_guid = UINT64_C(0x0002c90300005678),
	                                   .since_s = 1700000000,
	                                   .until_s = 1700003600,
	                                   .state_s = 1700000010,
	                                   .port = 7,
	                                   .peer_port = 12,
	                                   .reason = DRAINED_HEALTH,
	                                   .state = DRAINED_DRAINED,
	                                   .force = true,
	                                   .apart = true,
	                                   .name = "leaf 1",
	                                   .peer_name = "spine 1",
	                                   .by = "root, by the control socket",
	                                   .note = "the cable flaps" };

static void round_trip(struct drained_row in)
{
	uint8_t key[DRAINED_KEY_BYTES], row[DRAINED_ROW_MAX];
	struct drained_row out;

	drained_key(in.node_guid, in.port, in.reason, key);
	size_t len = drained_encode(&in, row);
	ck_assert_uint_le(len, sizeof(row));
	ck_assert_int_eq(drained_decode(key, sizeof(key), row, len, &out), E_OK);
	ck_assert_uint_eq(out.node_guid, in.node_guid);
	ck_assert_uint_eq(out.peer_guid, in.peer_guid);
	ck_assert_int_eq(out.since_s, in.since_s);
	ck_assert_int_eq(out.until_s, in.until_s);
	ck_assert_int_eq(out.state_s, in.state_s);
	ck_assert_uint_eq(out.port, in.port);
	ck_assert_uint_eq(out.peer_port, in.peer_port);
	ck_assert_uint_eq(out.type, in.type);
	ck_assert_uint_eq(out.reason, in.reason);
	ck_assert_uint_eq(out.state, in.state);
	ck_assert_int_eq(out.force, in.force);
	ck_assert_int_eq(out.apart, in.apart);
	ck_assert_str_eq(out.name, in.name);
	ck_assert_str_eq(out.peer_name, in.peer_name);
	ck_assert_str_eq(out.by, in.by);
	ck_assert_str_eq(out.note, in.note);
}

START_TEST(rows)
{
	struct drained_row full = sample;

	round_trip(sample);
	round_trip((struct drained_row){ .node_guid = 1, .type = 2 });
	memset(full.name, 'n', DRAINED_NAME_BYTES);
	memset(full.peer_name, 'p', DRAINED_NAME_BYTES);
	memset(full.by, 'b', DRAINED_NAME_BYTES);
	memset(full.note, 'o', DRAINED_NOTE_BYTES);
	round_trip(full);
}
END_TEST

START_TEST(no_rows)
{
	uint8_t key[DRAINED_KEY_BYTES], row[DRAINED_ROW_MAX + 1];
	struct drained_row out;
	size_t len = drained_encode(&sample, row);

	drained_key(sample.node_guid, sample.port, sample.reason, key);
	for (size_t n = 0; n <= len + 1; n++) {
		ck_assert_int_eq(drained_decode(key, sizeof(key), row, n, &out),
		                 n == len ? E_OK : E_MALFORMED);
	}
	for (size_t n = 0; n < sizeof(key); n++) {
		ck_assert_int_eq(drained_decode(key, n, row, len, &out), E_MALFORMED);
	}
	key[9] = DRAINED_REASONS;
	ck_assert_int_eq(drained_decode(key, sizeof(key), row, len, &out), E_MALFORMED);
	key[9] = 0;
	for (unsigned i = 0; i < 48; i++) { /* no byte of the head reads outside the row */
		for (unsigned value = 0; value < 256; value++) {
			uint8_t was = row[i];

			row[i] = (uint8_t)value;
			int ret = drained_decode(key, sizeof(key), row, len, &out);
			ck_assert(ret == E_OK || ret == E_MALFORMED);
			row[i] = was;
		}
	}
}
END_TEST

START_TEST(what_it_is_about)
{
	struct drained_row node = { .node_guid = 5, .type = 2 };

	ck_assert(drained_concerns(&sample, sample.node_guid, 7));
	ck_assert(drained_concerns(&sample, sample.peer_guid, 12));
	ck_assert(!drained_concerns(&sample, sample.node_guid, 12));
	ck_assert(!drained_concerns(&sample, sample.node_guid, 0));
	ck_assert(!drained_concerns(&sample, sample.peer_guid, 7));
	ck_assert(drained_concerns(&node, 5, 0));
	ck_assert(drained_concerns(&node, 5, 3));
	ck_assert(!drained_concerns(&node, 0, 0));
}
END_TEST

START_TEST(names)
{
	for (unsigned i = 0; i < DRAINED_STATES; i++) {
		for (unsigned k = 0; k < i; k++) {
			ck_assert_str_ne(drained_state_name(i), drained_state_name(k));
		}
	}
	ck_assert_str_ne(drained_reason_name(0), drained_reason_name(1));
	ck_assert_str_eq(drained_reason_name(200), "maintenance");
	ck_assert_str_eq(drained_state_name(200), "draining");
}
END_TEST

TEST_SUITE(drained)
{
	TCase *t = tcase_create("rows");

	tcase_add_test(t, rows);
	tcase_add_test(t, no_rows);
	tcase_add_test(t, what_it_is_about);
	tcase_add_test(t, names);
	suite_add_tcase(suite, t);
}
