/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <inttypes.h>

#include "sa/path/path_query.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

static struct query_fixture *w;

static void start(void)
{
	w = query_fixture_small(1, 0, PATH_MINIMAL);
}

static void stop(void)
{
	query_fixture_free(w);
	w = NULL;
}

struct text_case {
	const char *text;
	int ret;
	uint64_t port_guid;
	unsigned n; /* candidates */
};

/* clang-format off */
static const struct text_case texts[] = {
	{ "host",                    E_OK, HOST + 1, 0 },
	{ "host:1",                  E_OK, HOST + 1, 0 },
	{ "HOST",                    E_OK, HOST + 1, 0 },
	{ "Host:1",                  E_OK, HOST + 1, 0 },
	{ "sw-c",                    E_OK, SW_C, 0 },
	{ "sw-c:0",                  E_OK, SW_C, 0 },
	{ "0x101",                   E_OK, HOST + 1, 0 }, /* node GUID of an HCA with one port */
	{ "0x0000000000000102",      E_OK, HOST + 1, 0 },
	{ "0000000000000102",        E_OK, HOST + 1, 0 },
	{ "0000:0000:0000:0102",     E_OK, HOST + 1, 0 },
	{ "0x3000",                  E_OK, SW_C, 0 },
	{ "0x3000:0",                E_OK, SW_C, 0 },
	{ "0x201:2",                 E_OK, DUAL + 2, 0 },
	{ "0x203",                   E_OK, DUAL + 2, 0 },
	{ "0x203:2",                 E_OK, DUAL + 2, 0 },
	{ "dual:1",                  E_OK, DUAL + 1, 0 },
	{ "fe80::203",               E_OK, DUAL + 2, 0 },
	{ "fec0::7:0:0:0:102",       E_OK, HOST + 1, 0 },
	{ "dual",                    E_AMBIGUOUS, 0, 2 },
	{ "DUAL",                    E_AMBIGUOUS, 0, 2 },
	{ "0x201",                   E_AMBIGUOUS, 0, 2 },
	{ "twin",                    E_AMBIGUOUS, 0, 2 },
	{ "twin:1",                  E_AMBIGUOUS, 0, 2 },
	{ "hos",                     E_NOTFOUND, 0, 1 },
	{ "hots",                    E_NOTFOUND, 0, 1 },
	{ "sw-",                     E_NOTFOUND, 0, 3 },
	{ "sw-c:1",                  E_NOTFOUND, 0, 3 }, /* no end port */
	{ "dual:3",                  E_NOTFOUND, 0, 1 },
	{ "dual:999",                E_NOTFOUND, 0, 0 },
	{ "0x203:1",                 E_NOTFOUND, 0, 0 }, /* port GUID of port 2 */
	{ "0xdeadbeefdeadbeef",      E_NOTFOUND, 0, 0 },
	{ "fe80::999",               E_NOTFOUND, 0, 0 },
	{ "fec0::102",               E_NOTFOUND, 0, 0 }, /* prefix of another subnet */
	{ "65000",                   E_NOTFOUND, 0, 0 },
	{ "0",                       E_NOTFOUND, 0, 0 },
	{ "99999999999999999999999", E_NOTFOUND, 0, 0 },
	{ ":",                       E_NOTFOUND, 0, 0 },
	{ ":1",                      E_NOTFOUND, 0, 0 },
	{ "host:",                   E_NOTFOUND, 0, 1 },
	{ "",                        E_SYNTAX, 0, 0 },
	{ "ho\nst",                  E_SYNTAX, 0, 0 },
	{ "host\x7f",                E_SYNTAX, 0, 0 },
};
/* clang-format on */

enum { N_TEXTS = sizeof(texts) / sizeof(texts[0]) };

START_TEST(named)
{
	const struct text_case *c = &texts[_i];
	struct endpoint e = { .lid = 77 };
	struct endpoint_candidates cand;

	int ret = endpoint_resolve(w->r, c->text, &e, &cand);
	ck_assert_msg(ret == c->ret, "\"%s\": %s", c->text, err_text(ret));
	ck_assert_msg(cand.n == c->n && cand.total == c->n, "\"%s\": %u candidates",
	              c->text, cand.n);
	if (ret == E_OK) {
		ck_assert_uint_eq(e.end.port_guid, c->port_guid);
		ck_assert_uint_eq(e.lid, 0);
	} else {
		ck_assert_uint_eq(e.lid, 77);
	}
	ck_assert_int_eq(endpoint_resolve(w->r, c->text, &e, NULL), ret);
}
END_TEST

/* Every candidate of an ambiguous text is a selector for one end port, and all differ. */
START_TEST(candidates_resolve)
{
	const struct text_case *c = &texts[_i];
	struct endpoint_candidates cand;
	struct endpoint e[8];

	if (c->ret != E_AMBIGUOUS) {
		return;
	}
	ck_assert_int_eq(endpoint_resolve(w->r, c->text, &e[0], &cand), E_AMBIGUOUS);
	for (unsigned i = 0; i < cand.n; i++) {
		ck_assert_msg(endpoint_resolve(w->r, cand.text[i], &e[i], NULL) == E_OK,
		              "\"%s\" of \"%s\"", cand.text[i], c->text);
		ck_assert_ptr_nonnull(strstr(cand.what[i], "ca "));
		for (unsigned k = 0; k < i; k++) {
			ck_assert_uint_ne(e[i].end.port_guid, e[k].end.port_guid);
		}
	}
}
END_TEST

/* The operator's name of a node finds it, and so does its description. */
START_TEST(operator_names)
{
	struct endpoint_candidates cand;
	struct endpoint e;

	for (uint32_t i = 0; i < w->g->n_nodes; i++) {
		struct node *n = &w->g->nodes[i];
		n->name = n->guid == HOST     ? "rack 7"
		          : n->guid == TWIN_2 ? "Twin B"
		                              : NULL;
	}
	query_fixture_publish(w, PATH_MINIMAL);
	static const char *const texts_of_host[] = { "rack 7", "RACK 7:1", "host",
		                                     "Host:1" };
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(endpoint_resolve(w->r, texts_of_host[i], &e, &cand),
		                 E_OK);
		ck_assert_uint_eq(e.end.port_guid, HOST + 1);
	}
	ck_assert_int_eq(endpoint_resolve(w->r, "twin b", &e, &cand), E_OK);
	ck_assert_uint_eq(e.end.port_guid, TWIN_2 + 1);
	ck_assert_int_eq(endpoint_resolve(w->r, "twin", &e, &cand), E_AMBIGUOUS);
	ck_assert_ptr_nonnull(strstr(cand.what[1], "Twin B"));
	ck_assert_int_eq(endpoint_resolve(w->r, "rakc 7", &e, &cand), E_NOTFOUND);
	ck_assert_uint_eq(cand.n, 1);
	ck_assert_str_eq(cand.text[0], "rack 7");
}
END_TEST

START_TEST(by_lid)
{
	struct snap_end host = query_fixture_end(w, HOST + 1);
	struct endpoint e;
	char text[32];

	for (unsigned offset = 0; offset < 2; offset++) {
		for (unsigned hex = 0; hex < 2; hex++) {
			snprintf(text, sizeof(text), hex ? "0x%04x" : "%u",
			         host.base_lid + offset);
			ck_assert_msg(endpoint_resolve(w->r, text, &e, NULL) == E_OK,
			              "%s", text);
			ck_assert_uint_eq(e.end.port_guid, HOST + 1);
			ck_assert_uint_eq(e.lid, host.base_lid + offset);
		}
	}
}
END_TEST

START_TEST(near_names)
{
	struct endpoint_candidates cand;
	struct endpoint e;

	ck_assert_int_eq(endpoint_resolve(w->r, "rigth", &e, &cand), E_NOTFOUND);
	ck_assert_uint_eq(cand.n, 1);
	ck_assert_str_eq(cand.text[0], "right");
	ck_assert_str_eq(cand.what[0], "ca 0x0000000000000601");
	ck_assert_int_eq(endpoint_resolve(w->r, "sw-x", &e, &cand), E_NOTFOUND);
	ck_assert_uint_eq(cand.n, 3);
}
END_TEST

/* Many nodes of one description, one named like a number, one with the longest
 * description. */
START_TEST(odd_names)
{
	static const char longest[] =
		"0123456789012345678901234567890123456789012345678901234567890123";
	struct query_fixture *t = query_fixture_new();
	struct endpoint_candidates cand;
	struct endpoint e;
	uint32_t sw = query_fixture_add(t, NODE_SWITCH, 0x10, 40, "core:1");

	for (unsigned i = 1; i <= 20; i++) {
		uint32_t n = query_fixture_add(t, NODE_CA, 0x1000 * i, 1,
		                               i <= 17   ? "same"
		                               : i == 18 ? "50000"
		                               : i == 19 ? longest
		                                         : "");
		query_fixture_cable(t, sw, i, n, 1, WIDTH_4X, SPEED_EDR, 5);
	}
	query_fixture_start(t, 0, 0, PATH_MINIMAL);
	ck_assert_int_eq(endpoint_resolve(t->r, "same", &e, &cand), E_AMBIGUOUS);
	ck_assert(cand.n == 8 && cand.total == 17);
	ck_assert_int_eq(endpoint_resolve(t->r, "50000", &e, &cand), E_OK);
	ck_assert_uint_eq(e.end.port_guid, 0x12001);
	ck_assert_int_eq(endpoint_resolve(t->r, longest, &e, &cand), E_OK);
	ck_assert_uint_eq(e.end.port_guid, 0x13001);
	ck_assert_int_eq(endpoint_resolve(t->r, "core:1", &e, &cand), E_OK);
	ck_assert_uint_eq(e.end.port_guid, 0x10);
	char text[300];
	memset(text, 'x', sizeof(text));
	text[127] = '\0';
	ck_assert_int_eq(endpoint_resolve(t->r, text, &e, &cand), E_NOTFOUND);
	text[127] = 'x';
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(endpoint_resolve(t->r, text, &e, &cand), E_SYNTAX);
	query_fixture_free(t);
}
END_TEST

TEST_SUITE(endpoint)
{
	TCase *tc = tcase_create("small fabric");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_loop_test(tc, named, 0, N_TEXTS);
	tcase_add_loop_test(tc, candidates_resolve, 0, N_TEXTS);
	tcase_add_test(tc, operator_names);
	tcase_add_test(tc, by_lid);
	tcase_add_test(tc, near_names);
	suite_add_tcase(suite, tc);
	TCase *own = tcase_create("own fabric");
	tcase_add_test(own, odd_names);
	suite_add_tcase(suite, own);
}
