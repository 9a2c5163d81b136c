/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Expectations: RFC 9457 section 3.1 for the members, RFC 3629 for UTF-8, RFC 5952 for
 * GIDs. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/view/body.h"
#include "gateway/view/json_text.h"
#include "gateway/view/path_json.h"
#include "gateway/view/problem.h"
#include "tests/lib/suite.h"

START_TEST(test_every_error_has_a_status)
{
	for (int ret = E_SYNTAX; ret < E_END; ret++) {
		unsigned status = gw_status(ret);
		ck_assert_msg(status >= 400 && status <= 599, "%s", err_name(ret));
		/* 500 means that nobody thought about it, but for stored bytes that make
		 * no sense. */
		ck_assert_msg(status != 500 || ret == E_MALFORMED, "%s", err_name(ret));
	}
	for (int ret = E_HTTP_METHOD; ret < E_HTTP_END; ret++) {
		ck_assert_uint_lt(gw_status(ret), 500);
	}
	ck_assert_uint_eq(gw_status(-EIO), 500);
	ck_assert_uint_eq(gw_status(E_NOPATH), 422);
	ck_assert_uint_eq(gw_status(E_AMBIGUOUS), 409);
	ck_assert_uint_gt(gw_retry_after(E_NOTREADY), 0);
	ck_assert_uint_gt(gw_retry_after(E_TIMEOUT), 0);
	ck_assert_uint_eq(gw_retry_after(E_NOTFOUND), 0);
}
END_TEST

static const char *text_of(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

START_TEST(test_members)
{
	struct arena *a = arena_new();
	struct problem p = { .ret = 0 };

	ck_assert_int_eq(
		problem_param(&p, a, E_AMBIGUOUS, "src", "'%s' stands for %d", "n1", 2),
		E_AMBIGUOUS);
	problem_member(&p, "candidates", json_pack("[s, s]", "n1:1", "n1:2"));
	json_t *o = problem_json(&p, 7);
	ck_assert_str_eq(text_of(o, "type"), "urn:saguaro:problem:ambiguous");
	ck_assert_str_eq(text_of(o, "title"), err_text(E_AMBIGUOUS));
	ck_assert_str_eq(text_of(o, "detail"), "'n1' stands for 2");
	ck_assert_str_eq(text_of(o, "parameter"), "src");
	ck_assert_int_eq(json_integer_value(json_object_get(o, "status")), 409);
	ck_assert_int_eq(json_integer_value(json_object_get(o, "epoch")), 7);
	ck_assert_uint_eq(json_array_size(json_object_get(o, "candidates")), 2);
	json_decref(o);
	problem_clear(&p);
	ck_assert_ptr_null(p.members);
	arena_free(a);
}
END_TEST

START_TEST(test_bare)
{
	struct problem p = { .ret = E_HTTP_GONE };

	json_t *o = problem_json(&p, 0);
	ck_assert_str_eq(text_of(o, "type"), "urn:saguaro:problem:epoch-gone");
	ck_assert_str_eq(text_of(o, "detail"), text_of(o, "title"));
	ck_assert_ptr_null(json_object_get(o, "epoch"));
	ck_assert_ptr_null(json_object_get(o, "parameter"));
	json_decref(o);
}
END_TEST

#define BAD "\xef\xbf\xbd"

static const struct {
	const char *bytes, *want;
} texts[] = {
	{ "", "" },
	{ "node1 HCA-1", "node1 HCA-1" },
	{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
	{ "\xf0\x9f\x8c\xb5", "\xf0\x9f\x8c\xb5" },
	{ "a\x01"
	  "b",
	  "a\x01"
	  "b" },
	{ "a\xff"
	  "b",
	  "a" BAD "b" },
	{ "\xc3", BAD },         /* cut short */
	{ "\xc0\xaf", BAD BAD }, /* overlong */
	{ "\xe0\x80\xaf", BAD BAD BAD },
	{ "\xed\xa0\x80", BAD BAD BAD },         /* surrogate */
	{ "\xf4\x90\x80\x80", BAD BAD BAD BAD }, /* above U+10FFFF */
	{ "\xf5\x80\x80\x80", BAD BAD BAD BAD },
	{ "x\xe2\x82", "x" BAD BAD },
	{ "\x80\xc3\xa4", BAD "\xc3\xa4" },
};

START_TEST(test_text)
{
	json_t *v = text_json(texts[_i].bytes);
	ck_assert_ptr_nonnull(v);
	ck_assert_str_eq(json_string_value(v), texts[_i].want);
	json_decref(v);
}
END_TEST

START_TEST(test_values)
{
	/* clang-format off */
	json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"guid", guid_json(0x2c90300a0b0c0),
		"gid", gid_json(0xfe80000000000000, 0x2c90300a0b0c0),
		"edr", rate_gbps_json(16), /* PathRecord.Rate 16: 100 Gb/s */
		"sdr1", rate_gbps_json(2), /* 2: 2.5 Gb/s */
		"none", rate_gbps_json(0),
		"time", time_json(86400),
		"nan", real_json(0.0 / 0.0));
	/* clang-format on */
	ck_assert_ptr_nonnull(o);
	ck_assert_str_eq(text_of(o, "guid"), "0x0002c90300a0b0c0");
	ck_assert_str_eq(text_of(o, "gid"), "fe80::2:c903:a0:b0c0");
	/* RFC 5952, section 4.2.3: of two longest runs of zeros the first is shortened */
	json_object_set_new(o, "gid", gid_json(0x20010db800000000, 0x0001000000000001));
	ck_assert_str_eq(text_of(o, "gid"), "2001:db8::1:0:0:1");
	ck_assert_int_eq(json_integer_value(json_object_get(o, "edr")), 100);
	ck_assert_double_eq(json_number_value(json_object_get(o, "sdr1")), 2.5);
	ck_assert(json_is_null(json_object_get(o, "none")));
	ck_assert_str_eq(text_of(o, "time"), "1970-01-02T00:00:00Z");
	ck_assert(json_is_null(json_object_get(o, "nan")));
	ck_assert_int_eq(mtu_bytes(1), 256);
	ck_assert_int_eq(mtu_bytes(5), 4096);
	ck_assert_int_eq(mtu_bytes(0), 0);
	ck_assert_int_eq(mtu_bytes(6), 8192);
	ck_assert_int_eq(mtu_bytes(7), 10240);
	ck_assert_int_eq(mtu_bytes(8), 0);
	json_decref(o);
}
END_TEST

/* Text written in place is what jansson writes, which is taken. */
static void check_put(const char *begin, const char *end, json_t *want)
{
	char *text = json_dumps(want, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));

	ck_assert_msg(strlen(text) == (size_t)(end - begin) &&
	                      memcmp(text, begin, strlen(text)) == 0,
	              "%.*s, not %s", (int)(end - begin), begin, text);
	free(text);
	json_decref(want);
}

START_TEST(test_put)
{
	static const uint64_t numbers[] = { 0, 9, 10, 65535, UINT32_MAX, INT64_MAX };
	char p[GID_TEXT_BYTES + 1];

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		check_put(p, json_put_number(p, numbers[i]),
		          json_integer((json_int_t)numbers[i]));
		check_put(p, json_put_guid(p, numbers[i]), guid_json(numbers[i]));
		check_put(p, json_put_gid(p, numbers[i], ~numbers[i]),
		          gid_json(numbers[i], ~numbers[i]));
	}
	for (unsigned rate = 0; rate <= UINT8_MAX; rate++) {
		check_put(p, json_put_rate_gbps(p, (uint8_t)rate),
		          rate_gbps_json((uint8_t)rate));
	}
}
END_TEST

START_TEST(test_longest_path)
{
	char text[PATH_RECORD_BYTES];
	struct path_record rec;

	memset(&rec, 0xff, sizeof(rec));
	ck_assert_int_le(path_record_put(text, &rec) - text, PATH_RECORD_BYTES);
	rec.mtu = 5; /* of known codes those with the longest text */
	rec.rate = 5;
	ck_assert_int_le(path_record_put(text, &rec) - text, PATH_RECORD_BYTES);
	ck_assert_int_le(path_brief_put(text, &rec) - text, PATH_BRIEF_BYTES);
}
END_TEST

START_TEST(test_list)
{
	struct body b = { .len = 0 };

	body_list_begin(&b, json_pack("{s:i}", "epoch", 3), "nodes");
	body_list_end(&b, NULL);
	ck_assert_str_eq(b.data, "{\"epoch\":3,\"nodes\":[]}\n");
	body_clear(&b);

	body_list_begin(&b, json_object(), "nodes");
	body_list_add(&b, json_integer(1));
	body_list_add(&b, json_integer(2));
	body_list_end(&b, json_pack("{s:s}", "next_cursor", "x"));
	ck_assert_str_eq(b.data, "{\"nodes\":[1,2],\"next_cursor\":\"x\"}\n");
	ck_assert_int_eq(body_done(&b), E_OK);
	body_clear(&b);

	body_json(&b, json_object());
	body_json(&b, NULL);
	body_printf(&b, "%d", 1);
	ck_assert_int_eq(body_done(&b), -ENOMEM); /* sticks */
	body_clear(&b);
}
END_TEST

TEST_SUITE(problem)
{
	TCase *t = tcase_create("problem");
	tcase_add_test(t, test_every_error_has_a_status);
	tcase_add_test(t, test_members);
	tcase_add_test(t, test_bare);
	tcase_add_loop_test(t, test_text, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(t, test_values);
	tcase_add_test(t, test_put);
	tcase_add_test(t, test_longest_path);
	tcase_add_test(t, test_list);
	suite_add_tcase(suite, t);
}
