/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <string.h>

#include "conf/base/err.h"
#include "db/lmdb/acks.h"
#include "db/lmdb/known.h"
#include "tests/lib/suite.h"

static const struct known_node sample = { .node_guid = UINT64_C(0x0002c90300001234),
	                                  .port_guid = UINT64_C(0x0002c90300001235),
	                                  .switch_guid = UINT64_C(0x0002c90300005000),
	                                  .first_s = 1700000000,
	                                  .gone_s = 1700000060,
	                                  .lid = 0xfffffe,
	                                  .port = 2,
	                                  .switch_port = 36,
	                                  .type = 1,
	                                  .cause = KNOWN_SILENT,
	                                  .name = "node010",
	                                  .switch_name = "leaf-0000" };

/* A row gives what was put into it. */
START_TEST(round_trip)
{
	uint8_t key[KNOWN_KEY_BYTES], row[KNOWN_ROW_MAX];
	struct known_node in = sample, out;

	if (_i == 1) { /* names of full length, which have no NUL in the row */
		memset(in.name, 'x', KNOWN_NAME_BYTES);
		memset(in.switch_name, 'y', KNOWN_NAME_BYTES);
		in.system_guid = UINT64_C(0x0002c90300007000);
	} else if (_i == 2) {
		in = (struct known_node){ .node_guid = 7 };
	} else if (_i == 3) { /* a row without names */
		in = (struct known_node){ .node_guid = 7, .system_guid = 8 };
	}
	known_key(in.node_guid, in.port, key);
	size_t len = known_encode(&in, row);
	ck_assert_uint_le(len, sizeof(row));
	memset(&out, 0xa5, sizeof(out));
	ck_assert_int_eq(known_decode(key, sizeof(key), row, len, &out), E_OK);
	ck_assert_uint_eq(out.node_guid, in.node_guid);
	ck_assert_uint_eq(out.port_guid, in.port_guid);
	ck_assert_uint_eq(out.switch_guid, in.switch_guid);
	ck_assert_int_eq(out.first_s, in.first_s);
	ck_assert_int_eq(out.gone_s, in.gone_s);
	ck_assert_uint_eq(out.lid, in.lid);
	ck_assert_uint_eq(out.system_guid, in.system_guid);
	ck_assert_uint_eq(out.port, in.port);
	ck_assert_uint_eq(out.switch_port, in.switch_port);
	ck_assert_uint_eq(out.type, in.type);
	ck_assert_uint_eq(out.cause, in.cause);
	ck_assert_str_eq(out.name, in.name);
	ck_assert_str_eq(out.switch_name, in.switch_name);
}
END_TEST

/* A row of any other length is refused, and so are lengths of names that do not fit. */
START_TEST(lengths)
{
	uint8_t key[KNOWN_KEY_BYTES], row[KNOWN_ROW_MAX + 1] = { 0 };
	struct known_node out;
	size_t len = known_encode(&sample, row);

	known_key(sample.node_guid, sample.port, key);
	for (size_t n = 0; n <= sizeof(row); n++) {
		ck_assert_int_eq(known_decode(key, sizeof(key), row, n, &out),
		                 n == len ? E_OK : E_MALFORMED);
	}
	for (size_t n = 0; n < sizeof(key); n++) {
		ck_assert_int_eq(known_decode(key, n, row, len, &out), E_MALFORMED);
	}
	for (size_t at = 0; at < len; at++) { /* any byte at all */
		for (unsigned v = 0; v < 256; v += 5) {
			uint8_t was = row[at];

			row[at] = (uint8_t)v;
			int ret = known_decode(key, sizeof(key), row, len, &out);
			ck_assert(ret == E_OK || ret == E_MALFORMED);
			ck_assert_uint_lt(strnlen(out.name, sizeof(out.name)), sizeof(out.name));
			row[at] = was;
		}
	}
}
END_TEST

/* Each cause has a name and a text of its own; a number that is none counts as gone. */
START_TEST(causes)
{
	for (unsigned i = 0; i < KNOWN_CAUSES; i++) {
		for (unsigned k = 0; k < i; k++) {
			ck_assert_str_ne(known_cause_name(i), known_cause_name(k));
			ck_assert_str_ne(known_cause_text(i), known_cause_text(k));
		}
	}
	ck_assert_str_eq(known_cause_name(255), "gone");
	ck_assert_str_eq(known_cause_text(KNOWN_CAUSES), known_cause_text(KNOWN_GONE));
}
END_TEST

/* The same of acknowledgements: what was put in, and nothing of another length or id. */
START_TEST(acks)
{
	const struct alarm_ack in = { .at_s = 1, .until_s = 2, .ended_s = 3, .id = "link_down-0x01-2",
		                      .by = "me", .note = "why" };
	const uint8_t *key = (const uint8_t *)in.id;
	uint8_t row[ACK_ROW_MAX + 1] = { 0 };
	struct alarm_ack out;
	size_t len = acks_encode(&in, row);

	for (size_t n = 0; n <= sizeof(row); n++) {
		ck_assert_int_eq(acks_decode(key, strlen(in.id), row, n, &out),
		                 n == len ? E_OK : E_MALFORMED);
	}
	ck_assert_mem_eq(&in, &out, sizeof(in));
	ck_assert_int_eq(acks_decode(key, 0, row, len, &out), E_MALFORMED);
	ck_assert_int_eq(acks_decode(key, ACK_ID_BYTES + 1, row, len, &out), E_MALFORMED);
	ck_assert_int_eq(acks_decode((const uint8_t *)"a b", 3, row, len, &out), E_MALFORMED);
}
END_TEST

TEST_SUITE(known)
{
	TCase *tc = tcase_create("known");

	tcase_add_loop_test(tc, round_trip, 0, 4);
	tcase_add_test(tc, lengths);
	tcase_add_test(tc, causes);
	tcase_add_test(tc, acks);
	suite_add_tcase(suite, tc);
}
