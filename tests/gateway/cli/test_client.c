/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Lists that the commands of `saguaro` print: every page once, in order, the first known
 * as such, and an end where printing fails.
 */
#include "gateway/cli/client.h"
#include "gateway/cli/command.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct client client;

/* Arguments of the calls of print(). */
static struct {
	unsigned pages, items;
	unsigned stop_at; /* page that fails, 0: none */
} seen;

static int print(const struct client *s, const json_t *body, bool first)
{
	const json_t *nodes = json_object_get(body, "nodes");
	size_t i;
	json_t *n;

	ck_assert_ptr_eq(s, &client);
	ck_assert(first == (seen.pages == 0));
	seen.pages++;
	json_array_foreach(nodes, i, n)
	{
		seen.items++;
		ck_assert_str_ne(member_text(n, "guid"), "");
	}
	return seen.pages == seen.stop_at ? EXIT_BAD : EXIT_GOOD;
}

/* 3 switches and 4 hosts. */
static void setup(void)
{
	static char *args[] = { (char *)"2", (char *)"2", (char *)"1" };
	char *argv[] = { (char *)"saguaro nodes", (char *)"--snapshot-dir", fixture.dir,
		         NULL };

	unsetenv("SAGUARO_URL");
	gateway_fixture_init(&fixture, "ft2", 3, args);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 3);
	memset(&seen, 0, sizeof(seen));
	ck_assert_int_eq(client_init(&client, NULL, "", NULL, 0, 3, argv), EXIT_GOOD);
}

static void teardown(void)
{
	client_done(&client);
	gateway_fixture_done(&fixture);
}

static const struct {
	const char *what, *target;
	unsigned pages, items;
} lists[] = {
	{ "all on one page", "/v1/nodes", 1, 7 },
	{ "the page is full", "/v1/nodes?limit=7", 1, 7 },
	{ "one more than a page", "/v1/nodes?limit=6", 2, 7 },
	{ "one per page", "/v1/nodes?limit=1", 7, 7 },
	{ "a filter stays", "/v1/nodes?type=ca&limit=2", 2, 4 },
	{ "nothing", "/v1/nodes?type=router", 1, 0 },
};

START_TEST(test_pages)
{
	ck_assert_int_eq(client_print_list(&client, lists[_i].target, print), EXIT_GOOD);
	ck_assert_msg(seen.pages == lists[_i].pages && seen.items == lists[_i].items,
	              "%s: %u pages, %u items", lists[_i].what, seen.pages, seen.items);
}
END_TEST

START_TEST(test_printing_fails)
{
	seen.stop_at = 2;
	ck_assert_int_eq(client_print_list(&client, "/v1/nodes?limit=1", print),
	                 EXIT_BAD);
	ck_assert_uint_eq(seen.pages, 2);
}
END_TEST

START_TEST(test_refused)
{
	ck_assert_int_eq(client_print_list(&client, "/v1/nodes?type=hub", print),
	                 EXIT_USAGE);
	ck_assert_int_eq(client_print_list(&client, NULL, print), EXIT_USAGE);
	ck_assert_uint_eq(seen.pages, 0);
}
END_TEST

TEST_SUITE(client)
{
	TCase *tc = tcase_create("lists");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_pages, 0, sizeof(lists) / sizeof(lists[0]));
	tcase_add_test(tc, test_printing_fails);
	tcase_add_test(tc, test_refused);
	suite_add_tcase(suite, tc);
}
