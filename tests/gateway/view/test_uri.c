/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Expectations: RFC 3986 sections 2.1, 3.3 and 3.4; '+' as a blank is that of HTML forms.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/view/problem.h"
#include "gateway/view/uri.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct problem problem;

static void setup(void)
{
	arena = arena_new();
	memset(&problem, 0, sizeof(problem));
}

static void teardown(void)
{
	problem_clear(&problem);
	arena_free(arena);
}

/* Segments and parameters as one line: "a|b?n=v&m=w". */
static void flatten(const struct uri *u, char *text, size_t room)
{
	size_t len = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < u->n_segments; i++) {
		len += (size_t)snprintf(text + len, room - len, "%s%s", i > 0 ? "|" : "",
		                        u->segment[i]);
	}
	for (unsigned i = 0; i < u->n_params; i++) {
		len += (size_t)snprintf(text + len, room - len, "%s%s=%s",
		                        i > 0 ? "&" : "?", u->param[i].name,
		                        u->param[i].value);
	}
}

static const struct {
	const char *target;
	int ret;
	const char *want; /* flattened, or a word of the detail */
} cases[] = {
	{ "/", E_OK, "" },
	{ "/paths", E_OK, "paths" },
	{ "/v1/nodes/0x1", E_OK, "v1|nodes|0x1" },
	{ "/v1/nodes/", E_OK, "v1|nodes|" },
	{ "//", E_OK, "|" },
	{ "/a%2Fb/c", E_OK, "a/b|c" },
	{ "/paths?src=1&dst=2", E_OK, "paths?src=1&dst=2" },
	{ "/paths?&&src=1&", E_OK, "paths?src=1" },
	{ "/paths?src", E_OK, "paths?src=" },
	{ "/paths?src=a=b", E_OK, "paths?src=a=b" },
	{ "/paths?src=node+1%20HCA%2b1", E_OK, "paths?src=node 1 HCA+1" },
	{ "/a+b", E_OK, "a+b" },
	{ "/paths?s%72c=%C3%A4", E_OK, "paths?src=\xc3\xa4" },
	{ "http://host:8620/paths?src=1", E_OK, "paths?src=1" },
	{ "HTTP://host", E_OK, "" },
	{ "http://host?src=1", E_OK, "" }, /* no path: "/", which has no parameters */
	{ "/?=x", E_OK, "?=x" },
	{ "/paths?src=%", E_SYNTAX, "'%'" },
	{ "/paths?src=%4", E_SYNTAX, "'%4'" },
	{ "/paths?src=%zz&dst=2", E_SYNTAX, "'%zz'" },
	{ "/paths?src=%4&dst=2", E_SYNTAX, "'%4'" },
	{ "/paths?src=a%00b", E_SYNTAX, "'%00'" },
	{ "/%", E_SYNTAX, "'%'" },
	{ "paths", E_SYNTAX, "begin with '/'" },
	{ "", E_SYNTAX, "begin with '/'" },
	{ "/paths?src=1&src=2", E_HTTP_PARAMETER, "twice" },
	{ "/paths?src=1&s%72c=2", E_HTTP_PARAMETER, "twice" },
	{ "/1/2/3/4/5/6/7/8/9", E_HTTP_ENDPOINT, "8" },
};

START_TEST(test_parse)
{
	struct uri u = { .n_params = 77 };
	char text[256];

	int ret = uri_parse(cases[_i].target, arena, &u, &problem);
	ck_assert_msg(ret == cases[_i].ret, "%s: %d", cases[_i].target, ret);
	if (ret != E_OK) {
		ck_assert_uint_eq(u.n_params, 77); /* untouched on failure */
		ck_assert_ptr_nonnull(problem.detail);
		ck_assert_msg(strstr(problem.detail, cases[_i].want) != NULL, "%s",
		              problem.detail);
		return;
	}
	flatten(&u, text, sizeof(text));
	ck_assert_str_eq(text, cases[_i].want);
}
END_TEST

START_TEST(test_value_at_fault_is_named)
{
	struct uri u;

	ck_assert_int_eq(uri_parse("/paths?src=1&dst=%x", arena, &u, &problem), E_SYNTAX);
	ck_assert_str_eq(problem.parameter, "dst");
}
END_TEST

START_TEST(test_limits)
{
	struct uri u;
	char target[URI_MAX + 8];

	/* The longest target passes, one byte more does not. */
	memset(target, '&', sizeof(target));
	memcpy(target, "/?", 2);
	target[URI_MAX] = '\0';
	ck_assert_int_eq(uri_parse(target, arena, &u, &problem), E_OK);
	target[URI_MAX] = '&';
	target[URI_MAX + 1] = '\0';
	ck_assert_int_eq(uri_parse(target, arena, &u, &problem), E_HTTP_LONG);

	memset(target, 'x', sizeof(target));
	memcpy(target, "/?a=", 4);
	target[4 + URI_VALUE_MAX] = '\0';
	ck_assert_int_eq(uri_parse(target, arena, &u, &problem), E_OK);
	target[4 + URI_VALUE_MAX] = 'x';
	target[5 + URI_VALUE_MAX] = '\0';
	ck_assert_int_eq(uri_parse(target, arena, &u, &problem), E_HTTP_LONG);

	size_t len = (size_t)sprintf(target, "/?");
	for (unsigned i = 0; i < URI_PARAMS_MAX; i++) {
		len += (size_t)sprintf(target + len, "p%u=1&", i);
	}
	ck_assert_int_eq(uri_parse(target, arena, &u, &problem), E_OK);
	strcpy(target + len, "q=1");
	ck_assert_int_eq(uri_parse(target, arena, &u, &problem), E_HTTP_PARAMETER);
}
END_TEST

/* Random bytes, many of them meaningful ones: no crash, and what comes out keeps the
 * limits. */
START_TEST(test_random)
{
	static const char alphabet[] = "/?&=%+0123456789abcdefABCDEFgx:\xc3\xff\x01 ";
	unsigned seed = test_seed();

	for (unsigned round = 0; round < 20000; round++) {
		char target[96];
		struct uri u;
		struct problem p = { .ret = 0 };
		struct arena *a = arena_new();
		unsigned len = (unsigned)rand_r(&seed) % (sizeof(target) - 1);
		for (unsigned i = 0; i < len; i++) {
			target[i] = alphabet[(unsigned)rand_r(&seed) %
			                     (sizeof(alphabet) - 1)];
		}
		target[len] = '\0';
		if ((unsigned)rand_r(&seed) % 8 != 0) {
			target[0] = len > 0 ? '/' : '\0';
		}
		/* An exact copy on the heap: AddressSanitizer sees reads past its end. */
		char *copy = strdup(target);
		int ret = uri_parse(copy, a, &u, &p);
		free(copy);
		if (ret == E_OK) {
			ck_assert_uint_le(u.n_params, URI_PARAMS_MAX);
			ck_assert_uint_le(u.n_segments, URI_SEGMENTS_MAX);
			for (unsigned i = 0; i < u.n_params; i++) {
				ck_assert_ptr_eq(uri_param(&u, u.param[i].name),
				                 u.param[i].value);
			}
		} else {
			ck_assert_int_eq(ret, p.ret);
			ck_assert_ptr_nonnull(p.detail);
		}
		problem_clear(&p);
		arena_free(a);
	}
}
END_TEST

/* clang-format off */
static const struct { const char *target, *path, *first, *second; bool fits; } templates[] = {
	{ "/", "/", NULL, NULL, true },
	{ "/a", "/", NULL, NULL, false },
	{ "/", "/a", NULL, NULL, false },
	{ "/a/b", "/a/b", NULL, NULL, true },
	{ "/a/bc", "/a/b", NULL, NULL, false },
	{ "/a/5", "/a/{x}", "5", NULL, true },
	{ "/a/", "/a/{x}", NULL, NULL, false },
	{ "/a/5/b/6%2f7", "/a/{x}/b/{y}", "5", "6/7", true },
	{ "/a/5/b", "/a/{x}/b/{y}", NULL, NULL, false },
};
/* clang-format on */

START_TEST(test_templates)
{
	struct arena *a = arena_new();
	struct problem p = { .ret = 0 };
	const char *capture[2] = { NULL, NULL };
	struct uri u;

	ck_assert_int_eq(uri_parse(templates[_i].target, a, &u, &p), E_OK);
	ck_assert_int_eq(uri_fits(&u, templates[_i].path, 2, capture), templates[_i].fits);
	ck_assert_pstr_eq(capture[0], templates[_i].first);
	ck_assert_pstr_eq(capture[1], templates[_i].second);
	arena_free(a);
}
END_TEST

TEST_SUITE(uri)
{
	TCase *t = tcase_create("uri");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_parse, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, test_value_at_fault_is_named);
	tcase_add_test(t, test_limits);
	tcase_add_test(t, test_random);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_templates, 0, sizeof(templates) / sizeof(templates[0]));
	suite_add_tcase(suite, t);
}
