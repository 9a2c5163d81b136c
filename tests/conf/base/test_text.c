/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "tests/lib/suite.h"

enum { UNTOUCHED = 77 };

static const struct {
	const char *text;
	uint64_t max;
	int ret;
	uint64_t value;
} numbers[] = {
	{ "0", 0, E_OK, 0 },
	{ "10", 10, E_OK, 10 },
	{ "010", 10, E_OK, 10 }, /* not octal */
	{ "0x12", 255, E_OK, 18 },
	{ "0XfF", 255, E_OK, 255 },
	{ "18446744073709551615", UINT64_MAX, E_OK, UINT64_MAX },
	{ "0xffffffffffffffff", UINT64_MAX, E_OK, UINT64_MAX },
	{ "11", 10, E_RANGE, 0 },
	{ "18446744073709551616", UINT64_MAX, E_RANGE, 0 },
	{ "0x10000000000000000", UINT64_MAX, E_RANGE, 0 },
	{ "99999999999999999999999", UINT64_MAX, E_RANGE, 0 },
	{ "", 9, E_SYNTAX, 0 },
	{ "0x", 9, E_SYNTAX, 0 },
	{ "-1", UINT64_MAX, E_SYNTAX, 0 },
	{ "+1", 9, E_SYNTAX, 0 },
	{ " 1", 9, E_SYNTAX, 0 },
	{ "1 ", 9, E_SYNTAX, 0 },
	{ "1a", 99, E_SYNTAX, 0 },
	{ "0xg", 99, E_SYNTAX, 0 },
	{ "99999999999999999999999x", UINT64_MAX, E_SYNTAX, 0 },
};

static const struct {
	const char *glob, *text;
	bool fits;
} globs[] = {
	{ "", "", true },
	{ "", "a", false },
	{ "*", "", true },
	{ "*", "abc", true },
	{ "?", "", false },
	{ "a?c", "abc", true },
	{ "a*c", "abbbc", true },
	{ "a*c", "abbbd", false },
	{ "*b*b*", "abab", true },
	{ "*b*b*", "aba", false },
	{ "A", "a", false },
	{ "a**", "a", true },
	{ "leaf-*", "leaf-07", true },
};

START_TEST(test_glob)
{
	ck_assert_int_eq(text_glob(globs[_i].glob, globs[_i].text), globs[_i].fits);
}
END_TEST

START_TEST(test_number)
{
	uint64_t v = UNTOUCHED;
	int ret = text_u64(numbers[_i].text, numbers[_i].max, &v);
	ck_assert_msg(ret == numbers[_i].ret, "'%s' gives %d", numbers[_i].text, ret);
	ck_assert_uint_eq(v, ret == E_OK ? numbers[_i].value : UNTOUCHED);
}
END_TEST

static const struct {
	const char *text;
	int ret;
	uint64_t guid;
} guids[] = {
	{ "0x0002c9030000abcd", E_OK, 0x0002c9030000abcd },
	{ "0x1", E_OK, 1 },
	{ "0XFFFFFFFFFFFFFFFF", E_OK, UINT64_MAX },
	{ "0002c9030000ABCD", E_OK, 0x0002c9030000abcd },
	{ "0002:c903:0000:abcd", E_OK, 0x0002c9030000abcd },
	{ "", E_SYNTAX, 0 },
	{ "0x", E_SYNTAX, 0 },
	{ "1", E_SYNTAX, 0 },
	{ "0x12345678901234567", E_SYNTAX, 0 },
	{ "0002c9030000abc", E_SYNTAX, 0 },
	{ "0002c9030000abcdef0", E_SYNTAX, 0 }, /* 19 characters, no groups */
	{ "0002:c903:0000-abcd", E_SYNTAX, 0 },
	{ "0002:c903:000:abcdd", E_SYNTAX, 0 },
	{ "0xzz", E_SYNTAX, 0 },
};

START_TEST(test_guid)
{
	uint64_t v = UNTOUCHED;
	int ret = text_guid(guids[_i].text, &v);
	ck_assert_msg(ret == guids[_i].ret, "'%s' gives %d", guids[_i].text, ret);
	ck_assert_uint_eq(v, ret == E_OK ? guids[_i].guid : UNTOUCHED);
}
END_TEST

static const struct {
	const char *text;
	int ret;
	uint64_t v;
} c_numbers[] = {
	{ "0", E_OK, 0 },
	{ "12", E_OK, 12 },
	{ "012", E_OK, 10 },
	{ "0x12", E_OK, 18 },
	{ "1234567890123456789", E_OK, 1234567890123456789u }, /* 19 digits, no groups */
	{ "0002c9030000abcd", E_OK, 0x0002c9030000abcd },
	{ "0002:c903:0000:abcd", E_OK, 0x0002c9030000abcd },
	{ "18446744073709551615", E_OK, UINT64_MAX },
	{ "18446744073709551616", E_RANGE, 0 },
	{ "018", E_SYNTAX, 0 },
	{ "abc", E_SYNTAX, 0 },
	{ "0x", E_SYNTAX, 0 },
	{ "-1", E_SYNTAX, 0 },
	{ "1,", E_SYNTAX, 0 },
	{ "", E_SYNTAX, 0 },
};

START_TEST(test_c_number)
{
	uint64_t v = UNTOUCHED;
	int ret = text_number(c_numbers[_i].text, &v);
	ck_assert_msg(ret == c_numbers[_i].ret, "'%s' gives %d", c_numbers[_i].text, ret);
	ck_assert_uint_eq(v, ret == E_OK ? c_numbers[_i].v : UNTOUCHED);
}
END_TEST

START_TEST(test_gid)
{
	uint64_t prefix = UNTOUCHED, guid = UNTOUCHED;

	ck_assert_int_eq(text_gid("fe80::2:c903:0:abcd", &prefix, &guid), E_OK);
	ck_assert_uint_eq(prefix, 0xfe80000000000000);
	ck_assert_uint_eq(guid, 0x0002c9030000abcd);
	ck_assert_int_eq(text_gid("1:2:3:4:5:6:7:8", &prefix, &guid), E_OK);
	ck_assert_uint_eq(prefix, 0x0001000200030004);
	ck_assert_uint_eq(guid, 0x0005000600070008);

	static const char *const bad[] = { "",    "fe80",     "fe80::1::2",
		                           "0x1", "::1%eth0", "1.2.3.4" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(text_gid(bad[i], &prefix, &guid) == E_SYNTAX, "'%s'",
		              bad[i]);
		ck_assert_uint_eq(prefix, 0x0001000200030004);
	}
}
END_TEST

static const struct {
	const char *a, *b;
	unsigned limit, distance;
} words[] = {
	{ "", "", 3, 0 },
	{ "lmc", "lmc", 3, 0 },
	{ "lmc", "lm", 3, 1 },
	{ "lmc", "lmcc", 3, 1 },
	{ "lmc", "lxc", 3, 1 },
	{ "kitten", "sitting", 9, 3 },
	{ "sweep_intervall", "sweep_interval", 2, 1 },
	{ "", "abc", 9, 3 },
	{ "abc", "xyz", 2, 3 }, /* one over the limit means "more" */
};

START_TEST(test_distance)
{
	ck_assert_uint_eq(text_distance(words[_i].a, words[_i].b, words[_i].limit),
	                  words[_i].distance);
	ck_assert_uint_eq(text_distance(words[_i].b, words[_i].a, words[_i].limit),
	                  words[_i].distance);
}
END_TEST

START_TEST(test_distance_long)
{
	char big[5000];
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	ck_assert_uint_eq(text_distance(big, "lmc", 3), 4);
	ck_assert_uint_eq(text_distance(big, big, 3), 0);
}
END_TEST

/* What a terminal, an editor or a line of a log would obey becomes '?', and all else stays. */
static const struct {
	const char *text, *printable;
} printables[] = {
	{ "", "" },
	{ "a\033[31m\nb\x7f\t\xc3\xa9", "a?[31m?b??\xc3\xa9" },
	{ "\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "???\xc2\xa0" },
	{ "\x9b\xff\xfe\xc0\xaf", "?????" },
	{ "\xe2\x80\x8d|\xe2\x80\x8e|\xe2\x80\x8f|\xe2\x80\x90",
	  "\xe2\x80\x8d|?|?|\xe2\x80\x90" },
	{ "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf",
	  "\xe2\x80\xa7????\xe2\x80\xaf" },
	{ "\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa",
	  "\xe2\x81\xa5??\xe2\x81\xaa" },
	{ "\xd8\x9b\xd8\x9c\xd8\x9d", "\xd8\x9b?\xd8\x9d" },
	{ "\xed\xa0\x80", "???" }, /* a surrogate */
	{ "a\xe2\x80", "a??" },    /* cut off */
	{ "\xf0\x9f\x98\x80 \xe6\x97\xa5", "\xf0\x9f\x98\x80 \xe6\x97\xa5" },
};

START_TEST(test_printable)
{
	char text[64], lines[80], expected[80];

	snprintf(text, sizeof(text), "%s", printables[_i].text);
	text_printable(text);
	ck_assert_str_eq(text, printables[_i].printable);
	text_printable(text);
	ck_assert_str_eq(text, printables[_i].printable);
	snprintf(lines, sizeof(lines), "\t%s\n", printables[_i].printable);
	strcpy(expected, lines);
	text_printable_lines(lines);
	ck_assert_str_eq(lines, expected);
}
END_TEST

START_TEST(test_one_line)
{
	char text[] = "a\n\033\x7f\xff\xc2\x9b";

	text_one_line(text);
	ck_assert_str_eq(text, "a???\xff\xc2\x9b");
}
END_TEST

/* Every code has a text and a name of its own. */
/* Each line as "length at its beginning"; a newline at the end begins no other line. */
static const struct {
	const char *text, *lines;
} texts[] = {
	{ "", "" },
	{ "a", "1@0 " },
	{ "a\n", "1@0 " },
	{ "\n\n", "0@0 0@1 " },
	{ "ab\n\ncde", "2@0 0@3 3@4 " },
};

START_TEST(test_line)
{
	const char *text = texts[_i].text;
	char got[64] = "";

	for (size_t at = 0; at < strlen(text);) {
		size_t from = at, n = text_line(text, strlen(text), &at),
		       end = strlen(got);

		snprintf(got + end, sizeof(got) - end, "%zu@%zu ", n, from);
	}
	ck_assert_str_eq(got, texts[_i].lines);
}
END_TEST

START_TEST(test_errors)
{
	for (int i = E_SYNTAX; i < E_END; i++) {
		ck_assert_str_ne(err_text(i), "unknown error");
		ck_assert_str_ne(err_name(i), "system");
		for (int k = E_SYNTAX; k < i; k++) {
			ck_assert_str_ne(err_text(i), err_text(k));
			ck_assert_str_ne(err_name(i), err_name(k));
		}
		ck_assert_uint_eq(strspn(err_name(i), "abcdefghijklmnopqrstuvwxyz-"),
		                  strlen(err_name(i)));
	}
	ck_assert_int_lt(E_END, -999);
	ck_assert_str_eq(err_text(-2), strerror(2));
	ck_assert_str_eq(err_text(5), "unknown error");
	ck_assert_str_eq(err_text(E_SYNTAX - 1), "unknown error");
}
END_TEST

#define N(x) (int)(sizeof(x) / sizeof((x)[0]))

/* Times to come: points in time, and from now on. */
START_TEST(until)
{
	static const struct {
		const char *text;
		int ret;
		int64_t at;
	} cases[] = {
		{ "30m", E_OK, 1000 + 1800 },   { "2h", E_OK, 1000 + 7200 },
		{ "7d", E_OK, 1000 + 604800 },  { "1970-01-02", E_OK, 86400 },
		{ "1970-01-02T00:00:01Z", E_OK, 86401 },
		{ "0h", E_RANGE, 0 },           { "1970-02-31", E_RANGE, 0 },
		{ "", E_SYNTAX, 0 },            { "h", E_SYNTAX, 0 },
		{ "-1h", E_SYNTAX, 0 },         { "2hh", E_SYNTAX, 0 },
		{ "2", E_SYNTAX, 0 },           { "1970-01-02T00:00:01", E_SYNTAX, 0 },
	};
	int64_t at = 0;

	ck_assert_int_eq(text_until(cases[_i].text, 1000, &at), cases[_i].ret);
	ck_assert_int_eq(at, cases[_i].at);
}
END_TEST

TEST_SUITE(text)
{
	TCase *tc = tcase_create("text");
	tcase_add_loop_test(tc, test_glob, 0, sizeof(globs) / sizeof(globs[0]));
	tcase_add_loop_test(tc, test_number, 0, N(numbers));
	tcase_add_loop_test(tc, test_guid, 0, N(guids));
	tcase_add_loop_test(tc, test_c_number, 0, N(c_numbers));
	tcase_add_test(tc, test_gid);
	tcase_add_loop_test(tc, test_distance, 0, N(words));
	tcase_add_test(tc, test_distance_long);
	tcase_add_loop_test(tc, test_printable, 0, N(printables));
	tcase_add_test(tc, test_one_line);
	tcase_add_loop_test(tc, test_line, 0, N(texts));
	tcase_add_test(tc, test_errors);
	tcase_add_loop_test(tc, until, 0, 13);
	suite_add_tcase(suite, tc);
}
