/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/qos_policy.h"
#include "tests/lib/suite.h"

static struct arena *a;
static struct diags d;

static void make(void)
{
	a = arena_new();
	ck_assert_ptr_nonnull(a);
	diags_init(&d, a);
}

static void drop(void)
{
	arena_free(a);
}

static const struct qos_policy *parse(const char *text)
{
	const struct qos_policy *p = NULL;
	int ret = qos_policy_parse("q.conf", text, strlen(text), a, &d, &p);

	ck_assert_int_eq(ret == E_OK, p != NULL);
	ck_assert_int_eq(ret == E_OK, d.n_errors == 0);
	return p;
}

/* --- lists of ranges -------------------------------------------------------------- */

/* clang-format off */
static const struct {
	const char *text;
	uint64_t max, mask;
	int ret;
	const char *joined;
} lists[] = {
	{ "7",                 100, UINT64_MAX, E_OK,     "7-7" },
	{ "7-9,11",            100, UINT64_MAX, E_OK,     "7-9 11-11" },
	{ " 11 , 7 - 9 ,10",   100, UINT64_MAX, E_OK,     "7-11" },
	{ "1-50,3-4,60,50-59", 100, UINT64_MAX, E_OK,     "1-60" },
	{ "0xf,0x1",           100, UINT64_MAX, E_OK,     "1-1 15-15" },
	{ "0x8001,0x7fff", 0xffff, 0x7fff,      E_OK,     "1-1 32767-32767" },
	{ "0-18446744073709551615,5", UINT64_MAX, UINT64_MAX, E_OK, "0-18446744073709551615" },
	{ "",                  100, UINT64_MAX, E_SYNTAX, "" },
	{ "1,",                100, UINT64_MAX, E_SYNTAX, "" },
	{ "1-2-3",             100, UINT64_MAX, E_SYNTAX, "" },
	{ "x",                 100, UINT64_MAX, E_SYNTAX, "" },
	{ "101",               100, UINT64_MAX, E_RANGE,  "" },
	{ "9-7",               100, UINT64_MAX, E_RANGE,  "" },
	{ "0x7fff-0x8001",  0xffff, 0x7fff,     E_RANGE,  "" },
};
/* clang-format on */

START_TEST(range_lists)
{
	struct qos_ranges r = { NULL, 0 };
	char got[200] = "";

	ck_assert_int_eq(
		qos_ranges_add(lists[_i].text, lists[_i].max, lists[_i].mask, a, &r),
		lists[_i].ret);
	for (uint32_t i = 0; i < r.n; i++) {
		size_t len = strlen(got);
		snprintf(got + len, sizeof(got) - len, "%s%llu-%llu", i ? " " : "",
		         (unsigned long long)r.range[i].from,
		         (unsigned long long)r.range[i].to);
	}
	ck_assert_str_eq(got, lists[_i].joined);
}
END_TEST

/* The members of a list, against each range as it was written. */
START_TEST(range_random)
{
	uint32_t seed = 12345;

	for (unsigned round = 0; round < 300; round++) {
		struct qos_ranges r = { NULL, 0 };
		bool has[64] = { false };

		for (unsigned k = 0; k < 8; k++) {
			char text[32];
			unsigned from, to;
			seed = seed * 1664525 + 1013904223;
			from = seed >> 8 & 63;
			to = from + (seed >> 20 & 7);
			to = to < 63 ? to : 63;
			snprintf(text, sizeof(text), "%u-%u", from, to);
			ck_assert_int_eq(qos_ranges_add(text, 63, UINT64_MAX, a, &r),
			                 E_OK);
			for (; from <= to; from++) {
				has[from] = true;
			}
		}
		for (unsigned v = 0; v < 64; v++) {
			ck_assert_msg(qos_ranges_have(&r, v) == has[v],
			              "round %u, number %u", round, v);
		}
	}
}
END_TEST

/* --- files ------------------------------------------------------------------------ */

static const char *corpus(const char *name)
{
	const char *src = getenv("srcdir");
	static char text[8192];
	char path[500];

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/qos_policy/%s",
	         src ? src : ".", name);
	FILE *f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

START_TEST(whole_file)
{
	const struct qos_policy *p = parse(corpus("full"));

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->n_groups, 4);
	ck_assert_str_eq(p->groups[0].name, "Storage");
	ck_assert_uint_eq(p->groups[0].port_guids.n, 3);
	ck_assert_uint_eq(p->groups[1].n_names, 3);
	ck_assert_str_eq(p->groups[1].names[1].description, "vs2 HCA-1");
	ck_assert_uint_eq(p->groups[1].names[1].port, 2);
	ck_assert(qos_ranges_have(&p->groups[2].p_keys, 0x7fff));
	ck_assert(qos_ranges_have(&p->groups[2].p_keys, 0x1));
	ck_assert_uint_eq(p->groups[3].node_types, QOS_NODE_CA | QOS_NODE_SELF);
	ck_assert_uint_eq(p->n_rules, 4);
	const struct qos_match_rule *m = &p->rules[1];
	ck_assert_uint_eq(m->n_sources, 3);
	ck_assert_uint_eq(m->sources[1], 3);
	ck_assert_uint_eq(m->sources[2], 2);
	ck_assert_uint_eq(m->destinations[0], 0);
	ck_assert(qos_ranges_have(&m->service_ids, 22));
	ck_assert_str_eq(p->levels[m->level].name, "Whole");
	ck_assert_int_eq(p->levels[m->level].sl, 1);
	ck_assert_uint_eq(p->levels[m->level].mtu_limit, 4);
	ck_assert_uint_eq(p->levels[m->level].rate_limit, 5);
	ck_assert_int_eq(p->levels[m->level].packet_life, 8);
	ck_assert(qos_ranges_have(&p->levels[m->level].p_keys, 0x1234));
	ck_assert_str_eq(p->levels[p->default_level].name, "DEFAULT");
	/* qos-setup, path-bits, the partition Blue */
	ck_assert_uint_eq(d.n_warnings, 3);
}
END_TEST

START_TEST(ulps_file)
{
	const struct qos_policy *p = parse(corpus("ulps"));

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->n_rules, 15);
	ck_assert_int_eq(p->levels[p->default_level].sl, 0);
	/* in the order of the file */
	ck_assert_uint_eq(p->rules[0].service_ids.range[0].from, 0x10000 + 30000);
	ck_assert_uint_eq(p->rules[1].service_ids.range[0].from, 0x10000 + 7);
	ck_assert_uint_eq(p->rules[1].service_ids.range[1].to, 0x10000 + 20000);
	ck_assert_uint_eq(p->rules[2].service_ids.range[0].to, 0x1ffff);
	ck_assert_int_eq(p->levels[p->rules[2].level].sl, 1);
	ck_assert_uint_eq(p->rules[3].service_ids.range[0].from, 0x10648ca);
	ck_assert_uint_eq(p->rules[7].service_ids.range[0].from, 0x1060cbc);
	ck_assert_uint_eq(p->rules[9].p_keys.range[0].from, 0x7fff);
	const struct qos_match_rule *srp = &p->rules[12];
	ck_assert_uint_eq(srp->n_destinations, 1);
	ck_assert_uint_eq(p->groups[srp->destinations[0]].port_guids.range[0].from,
	                  0x1234);
	ck_assert_uint_eq(p->rules[14].n_sources, 1);
	/* levels of one SL are one */
	ck_assert_uint_eq(p->rules[10].level, p->rules[11].level);
}
END_TEST

#define LEVELS                                                                           \
	"qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\nend-qos-levels\n"
#define RULE(text)                                                                       \
	LEVELS "qos-match-rules\nqos-match-rule\n" text                                  \
	       "\nend-qos-match-rule\nend-qos-match-rules\n"

/* clang-format off */
static const struct {
	const char *text, *place, *says;
	unsigned n_errors;
} errors[] = {
	{ "", "q.conf", "needs a qos-level named DEFAULT", 1 },
	{ LEVELS "colour: red\n", "q.conf:7", "has nothing of that name", 1 },
	{ LEVELS "colour\n", "q.conf:7", "expected a keyword", 1 },
	{ LEVELS "qos-level\nname: x\nend-qos-level\n", "q.conf:7", "belongs in qos-levels", 2 },
	{ LEVELS "end-qos-levels\n", "q.conf:7", "'end-qos-levels' inside of the file", 1 },
	{ LEVELS "qos-ulps\n", "q.conf:8", "ends inside of qos-ulps", 1 },
	{ LEVELS "qos-ulps\nsrp : 1\nend-qos-ulps\n", "q.conf:8", "expected default, sdp", 1 },
	{ LEVELS "qos-ulps\nsdp : 16\nend-qos-ulps\n", "q.conf:8", "expected an SL from 0 to 15", 1 },
	{ LEVELS "qos-ulps\nsdp 1\nend-qos-ulps\n", "q.conf:8", "expected an upper layer protocol", 1 },
	{ LEVELS "qos-ulps\nsdp, port-num 65536 : 1\nend-qos-ulps\n", "q.conf:8", "expected a port number", 1 },
	{ LEVELS "qos-ulps\nany, pkey : 1\nend-qos-ulps\n", "q.conf:8", "expected a P_Key", 1 },
	{ "qos-ulps\ndefault : 1\ndefault : 2\nend-qos-ulps\n", "q.conf:3", "twice", 1 },
	{ "qos-levels\nqos-level\nname: default\nsl: 16\nmtu-limit: 6\nrate-limit: 1\npacket-life: 64\nend-qos-level\nend-qos-levels\n", "q.conf:4", "'16': expected a number from 0 to 15", 4 },
	{ "qos-levels\nqos-level\nname: DEFAULT\nsl: 1\nsl: 2\nend-qos-level\nend-qos-levels\n", "q.conf:5", "'sl' stands twice", 1 },
	{ "qos-levels\nqos-level\nname: DEFAULT\nend-qos-level\nqos-level\nname: default\nend-qos-level\nqos-level\nend-qos-level\nend-qos-levels\n", "q.conf:6", "stands here twice", 2 },
	{ RULE("qos-level-name: nothing"), "q.conf:9", "there is no qos-level 'nothing'", 1 },
	{ RULE("service-id: 1"), "q.conf:10", "has no qos-level-name", 1 },
	{ RULE("qos-level-name: default\nsource: nobody, no one"), "q.conf:10", "there is no port-group 'nobody'", 1 },
	{ RULE("qos-level-name: default\nservice-id: 5-3"), "q.conf:10", "expected a service ID", 1 },
	{ RULE("qos-level-name: default\nqos-class: 4096"), "q.conf:10", "expected a QoS class up to 0xfff", 1 },
	{ RULE("qos-level-name: default\npkey:"), "q.conf:10", "'pkey' has no value", 1 },
	{ LEVELS "port-groups\nport-group\nname: g\nport-name: node\nnode-type: TOASTER\nport-guid: g\nend-port-group\nend-port-groups\n", "q.conf:10", "expected a node description and a port", 3 },
	{ LEVELS "qos-setup\nsl2vl-tables\nsl2vl-scope\nsl2vl-table: 1,2\nend-sl2vl-scope\nend-sl2vl-tables\nend-qos-setup\n", "q.conf:10", "expected 16 VLs", 1 },
};
/* clang-format on */

START_TEST(error_places)
{
	char place[200];
	unsigned first = 0;

	ck_assert_ptr_null(parse(errors[_i].text));
	ck_assert_uint_eq(d.n_errors, errors[_i].n_errors);
	while (d.items[first].level != DIAG_ERROR) {
		first++;
	}
	diag_place(&d.items[first], place, sizeof(place));
	ck_assert_msg(strncmp(place, errors[_i].place, strlen(errors[_i].place)) == 0,
	              "%s%s", place, d.items[first].text);
	ck_assert_msg(strstr(d.items[first].text, errors[_i].says) != NULL, "%s",
	              d.items[first].text);
}
END_TEST

/* Groups and levels may stand after the rules that name them. */
START_TEST(any_order)
{
	const struct qos_policy *p = parse(
		"qos-match-rules\nqos-match-rule\nsource: HOSTS\nqos-level-name: Default\nend-qos-match-rule\nend-qos-match-rules\nport-groups\n"
		"port-group\nname: hosts\nnode-type: ca\nend-port-group\n"
		"end-port-groups\n" LEVELS);

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->rules[0].level, p->default_level);
	ck_assert_uint_eq(p->rules[0].sources[0], 0);
}
END_TEST

START_TEST(no_such_file)
{
	const void *got = NULL;

	ck_assert_int_eq(qos_policy_read("/nonexistent/qos.conf", a, &d, &got), E_OK);
	ck_assert_uint_eq(((const struct qos_policy *)got)->default_level,
	                  QOS_LEVEL_NONE);
	ck_assert_uint_eq(d.n_warnings, 1);
}
END_TEST

TEST_SUITE(qos_policy)
{
	TCase *tc = tcase_create("qos_policy");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(tc, range_lists, 0, sizeof(lists) / sizeof(lists[0]));
	tcase_add_test(tc, range_random);
	tcase_add_test(tc, whole_file);
	tcase_add_test(tc, ulps_file);
	tcase_add_loop_test(tc, error_places, 0, sizeof(errors) / sizeof(errors[0]));
	tcase_add_test(tc, any_order);
	tcase_add_test(tc, no_such_file);
	suite_add_tcase(suite, tc);
}
