/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Which names and origins are let in. */
#include <check.h>

#include "gateway/view/origin.h"
#include "tests/lib/suite.h"

static const struct origin_rules plain = { .machine = "sm1.cluster.example" };
static const struct origin_rules listed = { .hosts = "fabric.example, b.example",
	                                    .origins = "https://a.example,http://b:8080",
	                                    .machine = "sm1" };
static const struct origin_rules any = { .hosts = "*", .origins = "*" };

static const struct {
	const struct origin_rules *rules;
	const char *host;
	bool fits;
} hosts[] = {
	{ &plain, NULL, true },
	{ &plain, "127.0.0.1:8620", true },
	{ &plain, "127.0.0.1", true },
	{ &plain, "10.1.2.3:80", true },
	{ &plain, "[::1]:8620", true },
	{ &plain, "[fe80::1]", true },
	{ &plain, "localhost:8620", true },
	{ &plain, "LOCALHOST", true },
	{ &plain, "localhost.", true },
	{ &plain, "sm1:8620", true },
	{ &plain, "SM1.cluster.example", true },
	{ &plain, "sm1.evil.example", false },
	{ &plain, "s", false },
	{ &plain, "evil.example:8620", false },
	{ &plain, "localhost.evil.example", false },
	{ &plain, "127.0.0.1.evil.example", false },
	{ &plain, "", false },
	{ &plain, ":8620", false },
	{ &plain, "[::1", false },
	{ &plain, "[evil]", false },
	{ &plain, "localhost:x", false },
	{ &plain, "localhost:80:80", false },
	{ &plain, "127.1", false },
	{ &listed, "fabric.example:443", true },
	{ &listed, "b.example", true },
	{ &listed, "a.fabric.example", false },
	{ &listed, "fabric.example.", true },
	{ &any, "evil.example", true },
	{ &any, "", false },
};

START_TEST(test_hosts)
{
	ck_assert_msg(origin_host_fits(hosts[_i].rules, hosts[_i].host) == hosts[_i].fits,
	              "%s", hosts[_i].host);
}
END_TEST

static const struct {
	const struct origin_rules *rules;
	const char *origin;
	bool fits;
} origins[] = {
	{ &plain, NULL, false },
	{ &plain, "http://localhost:8620", false },
	{ &listed, "https://a.example", true },
	{ &listed, "http://b:8080", true },
	{ &listed, "http://a.example", false },
	{ &listed, "https://a.example.evil", false },
	{ &listed, "null", false },
	{ &listed, "", false },
	{ &any, "https://evil.example", true },
};

START_TEST(test_origins)
{
	ck_assert_msg(origin_fits(origins[_i].rules, origins[_i].origin) ==
	                      origins[_i].fits,
	              "%s", origins[_i].origin);
}
END_TEST

/* clang-format off */
static const struct { const char *text; bool path; size_t len; } safe[] = { /* len 0: not safe */
	{ "https://fabric.example", false, 22 }, { "HTTPS://fabric.example:8621", false, 27 },
	{ "https://sm.example:8621/ib1", true, 23 }, { "https://sm.example/ib1", false, 0 },
	{ "https://[2001:db8::1]:8621", false, 26 }, { "http://localhost:8620", false, 21 },
	{ "http://127.0.0.1:8620", false, 21 }, { "http://[::1]", false, 12 },
	{ "http://fabric.example", false, 0 }, { "http://localhost.evil.example", false, 0 },
	{ "http://127.0.0.1.evil.example", false, 0 }, { "https://", false, 0 }, { "https:///x", true, 0 },
	{ "https://a.example:port", false, 0 }, { "https://user@a.example", false, 0 },
	{ "https://a.example; script-src *", true, 0 }, { "https://a.example,b", false, 0 },
	{ "https://a.example\r\nX: y", true, 0 }, { "ftp://a.example", false, 0 }, { "*", false, 0 },
	{ "null", false, 0 }, { "", false, 0 },
};
/* clang-format on */

START_TEST(test_safe)
{
	size_t len = 0;
	bool is = origin_is_safe(safe[_i].text, safe[_i].path, &len);

	ck_assert_msg(is == (safe[_i].len != 0) && len == safe[_i].len, "%s: %zu", safe[_i].text,
	              len);
}
END_TEST

START_TEST(test_safe_lists)
{
	ck_assert(origin_list_is_safe(NULL));
	ck_assert(origin_list_is_safe("https://a.example, http://localhost:8620,"));
	ck_assert(!origin_list_is_safe("https://a.example,*"));
	ck_assert(!origin_list_is_safe("https://a.example,http://b.example"));
}
END_TEST

TEST_SUITE(origin)
{
	TCase *t = tcase_create("origin");

	tcase_add_loop_test(t, test_hosts, 0, sizeof(hosts) / sizeof(hosts[0]));
	tcase_add_loop_test(t, test_origins, 0, sizeof(origins) / sizeof(origins[0]));
	tcase_add_loop_test(t, test_safe, 0, sizeof(safe) / sizeof(safe[0]));
	tcase_add_test(t, test_safe_lists);
	suite_add_tcase(suite, t);
}
