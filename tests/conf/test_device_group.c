/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/xml.h"
#include "conf/device_group.h"
#include "conf/option.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct diags diags;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void teardown(void)
{
	arena_free(arena);
}

/* --- patterns -------------------------------------------------------------------- */

static const struct {
	const char *pattern, *yes, *no; /* descriptions with '|' between */
} patterns[] = {
	{ "leaf 1", "leaf 1", "leaf 11|Leaf 1|leaf |xleaf 1" },
	{ "*", "|a|leaf 1|MF0;sw:SX6036/U1", NULL },
	{ "leaf*", "leaf|leaf01", "xleaf|lea" },
	{ "*Rack1*", "Rack1|a Rack1 b|Rack12", "Rack 1|rack1" },
	{ "a*b*c", "abc|axbyc|abbc", "ab|acb|abcd" },
	{ "n?", "n|n1|nx", "n12|m" },
	{ "n??x", "nx|n1x|n12x", "n123x|n" },
	{ "n[1-3]", "n1|n2|n3", "n0|n4|n01|n|n12|nx" },
	{ "n[1-12]", "n1|n9|n10|n12", "n13|n0|n01|n012" },
	{ "n[01-12]", "n01|n09|n12", "n1|n13|n001|n00" },
	{ "n[001-120]", "n001|n099|n120", "n01|n1|n121" },
	{ "n[1-2]*", "n1|n2x|n1-5", "n15|n|n3" },
	{ "n[1-2]0", "n10|n20", "n1|n30|n100" },
	{ "n[1-2][0-9]", "n10|n29", "n30|n1|n123" },
	{ "r[01-02]n[1-16] hfi1_0", "r01n1 hfi1_0|r02n16 hfi1_0", "r1n1 hfi1_0|r02n17 hfi1_0" },
	{ "n[0-99999]", "n0|n99999", "n100000|n00" },
	{ "a]b", "a]b", "a" },
	{ "a:b", "a:b", "a" },
	{ "sw:3 x", "sw:3 x", "sw" },
};

START_TEST(test_pattern)
{
	struct device_pattern p;
	const char *why = "";
	int ret = device_pattern_parse(patterns[_i].pattern, arena, &p, &why);
	ck_assert_msg(ret == E_OK, "%s: %s", patterns[_i].pattern, why);
	ck_assert(!p.some_ports);
	for (int expected = 1; expected >= 0; expected--) {
		const char *list = expected ? patterns[_i].yes : patterns[_i].no;
		char *rest = list ? arena_strdup(arena, list) : NULL, *word;
		while ((word = strsep(&rest, "|")) != NULL) {
			ck_assert_msg(device_pattern_match(&p, word) == expected,
			              "%s, %s", patterns[_i].pattern, word);
		}
	}
}
END_TEST

static const struct {
	const char *pattern;
	unsigned from, to;
	const char *matches;
} ports[] = {
	{ "leaf 1:3", 3, 3, "leaf 1" },
	{ "leaf*:[1-18]", 1, 18, "leaf 7" },
	{ "sw:U1:0", 0, 0, "sw:U1" },
	{ "n[1-2]:[01-04]", 1, 4, "n2" },
};

START_TEST(test_pattern_ports)
{
	struct device_pattern p;
	const char *why = "";
	ck_assert_int_eq(device_pattern_parse(ports[_i].pattern, arena, &p, &why), E_OK);
	ck_assert(p.some_ports);
	ck_assert_uint_eq(p.port_from, ports[_i].from);
	ck_assert_uint_eq(p.port_to, ports[_i].to);
	ck_assert(device_pattern_match(&p, ports[_i].matches));
}
END_TEST

static const struct {
	const char *pattern, *why; /* part of the reason */
} bad_patterns[] = {
	{ "", "no description" },
	{ ":3", "no description" },
	{ "n[1-3", "without its end" },
	{ "n[1", "without its end" },
	{ "n[", "without its end" },
	{ "n[]", "[n-m]" },
	{ "n[1]", "[n-m]" },
	{ "n[a-b]", "[n-m]" },
	{ "n[1-]", "[n-m]" },
	{ "n[-3]", "[n-m]" },
	{ "n[1-2-3]", "[n-m]" },
	{ "n[1-123456]", "5 digits" },
	{ "n[3-1]", "before it begins" },
	{ "n[01-3]", "equally many digits" },
	{ "n[1-03]", "equally many digits" },
	{ "n*[1-3]", "right after *" },
	{ "n?[1-3]", "right after *" },
	{ "n[1-12]0", "differ in length" },
	{ "n[1-12][1-3]", "differ in length" },
	{ "[1-2]a[1-2]a[1-2]a[1-2]a[1-2]a[1-2]a[1-2]a[1-2]a[1-2]a[1-2]a[1-2]", "10 ranges" },
	{ "sw:255", "254" },
	{ "sw:[1-300]", "254" },
	{ "sw:[2-1]", "before it begins" },
	{ "sw:[1-2", "without its end" },
	{ "sw:123456", "5 digits" },
};

START_TEST(test_bad_pattern)
{
	struct device_pattern p;
	const char *why = "";
	ck_assert_int_eq(device_pattern_parse(bad_patterns[_i].pattern, arena, &p, &why),
	                 E_SYNTAX);
	ck_assert_msg(strstr(why, bad_patterns[_i].why) != NULL, "%s: %s",
	              bad_patterns[_i].pattern, why);
}
END_TEST

START_TEST(test_long_pattern)
{
	struct device_pattern p;
	const char *why = "";
	char text[DEVICE_PATTERN_MAX + 2];

	memset(text, '?', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(device_pattern_parse(text, arena, &p, &why), E_SYNTAX);
	text[sizeof(text) - 2] = '\0';
	ck_assert_int_eq(device_pattern_parse(text, arena, &p, &why), E_OK);
	ck_assert(device_pattern_match(&p, "any"));
	/* worst case of a naive matcher */
	ck_assert_int_eq(device_pattern_parse("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", arena,
	                                      &p, &why),
	                 E_OK);
	ck_assert(!device_pattern_match(
		&p, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}
END_TEST

/* --- patterns at random ---------------------------------------------------------- */

static uint32_t below(uint64_t *state, uint32_t n)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32) % n;
}

/* The meaning of a pattern without ranges, written down plainly: tries everything. */
static bool plain_match(const char *p, const char *s)
{
	switch (*p) {
	case '\0': return *s == '\0';
	case '*': return plain_match(p + 1, s) || (*s != '\0' && plain_match(p, s + 1));
	case '?': return plain_match(p + 1, s) || (*s != '\0' && plain_match(p + 1, s + 1));
	default: return *p == *s && plain_match(p + 1, s + 1);
	}
}

static void random_word(uint64_t *state, const char *letters, uint32_t most,
                        char *ret_text)
{
	uint32_t n = below(state, most + 1);
	for (uint32_t i = 0; i < n; i++) {
		ret_text[i] = letters[below(state, (uint32_t)strlen(letters))];
	}
	ret_text[n] = '\0';
}

START_TEST(test_random_patterns)
{
	uint64_t state = 0x9e3779b97f4a7c15ULL + (uint64_t)_i;
	unsigned matched = 0;

	for (unsigned round = 0; round < 1500; round++) {
		struct device_pattern p;
		const char *why = "";
		char pattern[16], text[16];
		random_word(&state, "ab*?", 7, pattern);
		random_word(&state, "ab", 7, text);
		if (*pattern == '\0') {
			continue;
		}
		ck_assert_int_eq(device_pattern_parse(pattern, arena, &p, &why), E_OK);
		bool expected = plain_match(pattern, text);
		ck_assert_msg(device_pattern_match(&p, text) == expected, "seed %d: %s, %s", _i,
		              pattern, text);
		matched += expected;
	}
	ck_assert_uint_gt(matched, 40);
}
END_TEST

/* A range matches the numbers it stands for, written its way, and no others. */
START_TEST(test_random_ranges)
{
	uint64_t state = 0x2545f4914f6cdd1dULL + (uint64_t)_i;

	for (unsigned round = 0; round < 50; round++) {
		struct device_pattern p;
		const char *why = "";
		unsigned from = below(&state, 200), to = from + below(&state, 200);
		unsigned width = below(&state, 2) ? 4 : 0; /* four digits, or as many as needed */
		const char *text = arena_printf(arena, "n[%0*u-%0*u]x*", (int)width, from,
		                                (int)width, to);
		ck_assert_msg(device_pattern_parse(text, arena, &p, &why) == E_OK, "%s: %s", text,
		              why);
		for (unsigned i = 0; i < 420; i += 1 + below(&state, 7)) {
			for (int digits = 0; digits <= 5; digits++) {
				char name[32];
				snprintf(name, sizeof(name), "n%0*ux7", digits, i);
				size_t len = strspn(name + 1, "0123456789");
				bool written = width ? len == width : len == 1 || name[1] != '0';
				ck_assert_msg(device_pattern_match(&p, name) ==
				                      (written && i >= from && i <= to),
				              "%s, %s", text, name);
			}
		}
	}
}
END_TEST

/* --- groups ---------------------------------------------------------------------- */

static int parse(const char *text, const struct device_groups **ret_groups)
{
	struct xml_element *root = NULL;
	ck_assert_int_eq(xml_parse("g.xml", text, strlen(text), arena, &diags, &root),
	                 E_OK);
	return device_groups_parse("g.xml", &root, 1, arena, &diags, ret_groups);
}

#define GROUP(name, rules) "<DeviceGroup><Name>" name "</Name>" rules "</DeviceGroup>\n"
#define INCLUDE(name) "<IncludeGroup>" name "</IncludeGroup>"
#define GROUPS(in) "<DeviceGroups>\n" in "</DeviceGroups>\n"

START_TEST(test_groups)
{
	const struct device_groups *g = NULL;
	int ret = parse(
		GROUPS(GROUP(
			"Storage",
			"<NodeGUID>0x11</NodeGUID><PortGUID>0000:0000:0000:0012</PortGUID><SystemImageGUID>0x13</SystemImageGUID><NodeDesc>io[1-4]:1</NodeDesc><NodeType>SW</NodeType>" INCLUDE(
				"Later") "<Select>TFIs</Select>")
	                       GROUP("Later", "<Select>AllSMs</Select>")
	                               GROUP("Self", "<NodeGUID>0x5</NodeGUID>")),
		&g);
	ck_assert_int_eq(ret, E_OK);
	ck_assert_uint_eq(diags.n, 0);
	ck_assert_uint_eq(g->n, 9 + 2);
	const struct device_group *s = &g->groups[device_group_find(g, "Storage")];
	ck_assert_uint_eq(s->line, 2);
	ck_assert_uint_eq(s->n_rules, 7);
	ck_assert_uint_eq(s->rules[0].guid, 0x11);
	ck_assert_uint_eq(s->rules[1].guid, 0x12);
	ck_assert_uint_eq(s->rules[2].guid, 0x13);
	ck_assert_uint_eq(s->rules[3].pattern->port_from, 1);
	ck_assert_uint_eq(s->rules[4].value, 2);
	ck_assert_uint_eq(s->rules[5].value, device_group_find(g, "Later"));
	ck_assert_uint_eq(s->rules[6].value, DEVICE_TFI);
	/* what the file defines itself is not the one that always exists */
	s = &g->groups[device_group_find(g, "Self")];
	ck_assert_uint_eq(s->line, 4);
	/* includes of the others still lead where they should */
	s = &g->groups[device_group_find(g, "AllEndNodes")];
	ck_assert_uint_eq(s->rules[0].value, device_group_find(g, "AllFIs"));
	ck_assert_uint_eq(s->rules[1].value, device_group_find(g, "AllSWE0s"));
	ck_assert_uint_eq(device_group_find(g, "storage"), DEVICE_GROUP_NONE);
}
END_TEST

START_TEST(test_builtin)
{
	static const char *const names[] = { "All", "AllFIs", "AllTFIs", "AllSWs",
		                             "AllSWE0s", "AllEndNodes",
		                             "HFIDirectConnect", "AllMgmtAllowed",
		                             "Self" };
	const struct device_groups *g = device_groups_builtin();

	ck_assert_uint_eq(g->n, sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < g->n; i++) {
		ck_assert_uint_ne(device_group_find(g, names[i]), DEVICE_GROUP_NONE);
	}
	const struct device_group *e = &g->groups[device_group_find(g, "AllEndNodes")];
	for (uint32_t i = 0; i < e->n_rules; i++) {
		ck_assert_str_eq(g->groups[e->rules[i].value].name, e->rules[i].name);
	}
}
END_TEST

static const struct {
	const char *what, *text;
	unsigned line;
	const char *error; /* part of it */
} bad[] = {
	{ "no name", GROUPS("<DeviceGroup/>"), 2, "without a Name" },
	{ "an empty name", GROUPS("<DeviceGroup><Name/></DeviceGroup>"), 2, "without a Name" },
	{ "two names", GROUPS(GROUP("a", "\n<Name>b</Name>")), 3, "second Name" },
	{ "a long name",
	  GROUPS(GROUP("12345678901234567890123456789012345678901234567890123456789012345", "")),
	  2, "64 characters" },
	{ "the same name", GROUPS(GROUP("a", "") GROUP("b", "") GROUP("a", "")), 4,
	  "'a' is already defined in line 2" },
	{ "a GUID with letters", GROUPS(GROUP("a", "\n<NodeGUID>leaf</NodeGUID>")), 3,
	  "NodeGUID 'leaf': expected a GUID" },
	{ "GUID 0", GROUPS(GROUP("a", "<PortGUID>0x0</PortGUID>")), 2, "expected a GUID" },
	{ "no GUID", GROUPS(GROUP("a", "<SystemImageGUID/>")), 2, "expected a GUID" },
	{ "a range without end", GROUPS(GROUP("a", "\n\n<NodeDesc>n[1-4</NodeDesc>")), 4,
	  "NodeDesc 'n[1-4': a range without its end" },
	{ "a type", GROUPS(GROUP("a", "<NodeType>Switch</NodeType>")), 2, "expected FI, SW or RT" },
	{ "a selector", GROUPS(GROUP("a", "<Select>Everything</Select>")), 2,
	  "Select 'Everything': expected All, Self" },
	{ "nothing included", GROUPS(GROUP("a", "<IncludeGroup/>")), 2, "unknown device group ''" },
	{ "an unknown group", GROUPS(GROUP("Compute", "") GROUP("a", INCLUDE("Compote"))), 3,
	  "unknown device group 'Compote'; did you mean 'Compute'?" },
	{ "an unknown group, nothing near", GROUPS(GROUP("a", INCLUDE("Zwiebel"))), 2,
	  "unknown device group 'Zwiebel'; define it in DeviceGroups" },
	{ "itself", GROUPS(GROUP("a", INCLUDE("a"))), 2, "a cycle, 'a' includes 'a'" },
	{ "a cycle of three",
	  GROUPS(GROUP("a", INCLUDE("b")) GROUP("b", INCLUDE("c")) GROUP("c", INCLUDE("a"))), 4,
	  "IncludeGroup 'a': a cycle, 'a' includes 'b' includes 'c' includes 'a'; take one" },
	{ "a cycle over a group that always exists",
	  GROUPS(GROUP("AllFIs", INCLUDE("AllEndNodes"))), 2,
	  "'AllEndNodes' includes 'AllFIs' includes 'AllEndNodes'" },
};

START_TEST(test_bad)
{
	const struct device_groups *g = NULL;

	ck_assert_int_eq(parse(bad[_i].text, &g), E_SYNTAX);
	ck_assert_ptr_null(g);
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_msg(strstr(diags.items[0].text, bad[_i].error) != NULL, "%s: %s",
	              bad[_i].what, diags.items[0].text);
	ck_assert_uint_eq(diags.items[0].line, bad[_i].line);
	ck_assert_str_eq(diags.items[0].file, "g.xml");
}
END_TEST

/* A diamond is no cycle; a chain of all groups is walked without recursion. */
START_TEST(test_includes)
{
	const struct device_groups *g = NULL;
	ck_assert_int_eq(parse(GROUPS(GROUP("a", INCLUDE("b") INCLUDE("c"))
	                              GROUP("b", INCLUDE("d")) GROUP("c", INCLUDE("d"))
	                              GROUP("d", "<Select>All</Select>")),
	                       &g),
	                 E_OK);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	fputs("<DeviceGroups>", f);
	for (unsigned i = 0; i < DEVICE_GROUPS_MAX; i++) {
		fprintf(f, "<DeviceGroup><Name>g%u</Name><IncludeGroup>", i);
		if (i + 1 < DEVICE_GROUPS_MAX) {
			fprintf(f, "g%u", i + 1);
		} else {
			fputs("All", f);
		}
		fputs("</IncludeGroup></DeviceGroup>", f);
	}
	fputs("</DeviceGroups>", f);
	fclose(f);
	ck_assert_int_eq(parse(text, &g), E_OK);
	ck_assert_uint_eq(g->n, DEVICE_GROUPS_MAX + 9);
	free(text);
}
END_TEST

START_TEST(test_sections)
{
	static const char common[] = GROUPS(GROUP("a", "<NodeGUID>0x1</NodeGUID>")
	                                    GROUP("b", INCLUDE("a")));
	static const char fm[] = GROUPS(GROUP("a", "<NodeGUID>0x2</NodeGUID>"));
	struct xml_element *roots[2];
	const struct device_groups *g = NULL;

	ck_assert_int_eq(xml_parse("g", common, strlen(common), arena, &diags, &roots[0]),
	                 E_OK);
	ck_assert_int_eq(xml_parse("g", fm, strlen(fm), arena, &diags, &roots[1]), E_OK);
	ck_assert_int_eq(device_groups_parse("g", roots, 2, arena, &diags, &g), E_OK);
	ck_assert_uint_eq(diags.n, 0);
	uint32_t a = device_group_find(g, "a"), b = device_group_find(g, "b");
	ck_assert_uint_eq(g->groups[a].rules[0].guid, 2);
	ck_assert_uint_eq(g->groups[b].rules[0].value, a);
}
END_TEST

START_TEST(test_unknown_elements)
{
	const struct device_groups *g = NULL;
	ck_assert_int_eq(parse(GROUPS("<What/>" GROUP("a", "<Colour>red</Colour>")), &g),
	                 E_OK);
	ck_assert_uint_eq(diags.n_warnings, 2);
	ck_assert_uint_eq(g->groups[device_group_find(g, "a")].n_rules, 0);
}
END_TEST

/* --- values of options ----------------------------------------------------------- */

struct values {
	const struct device_list *one, *many;
};

/* clang-format off */
static const struct option_row rows[] = {
	{ .name = "one", .type = OPT_DEVICE_GROUP, .offset = offsetof(struct values, one), .help = "One" },
	{ .name = "many", .type = OPT_DEVICE_GROUPS, .offset = offsetof(struct values, many),
	  .help = "Many" },
	{ .name = NULL }
};
/* clang-format on */

START_TEST(test_values)
{
	struct values v, second;
	struct option_sets sets = { .n = 0 };
	static const char text[] = "one AllSWs\nmany \" AllFIs ,All\"\n";

	ck_assert_int_eq(option_sets_add(&sets, rows, &v), E_OK);
	ck_assert_int_eq(option_sets_add(&sets, rows, &second), E_OK);
	ck_assert_int_eq(option_set_defaults(&sets, arena), E_OK);
	ck_assert_ptr_null(v.one);
	ck_assert_int_eq(option_bind_groups(&sets, device_groups_builtin(), arena, &diags),
	                 E_OK);
	ck_assert_int_eq(option_read_text(&sets, arena, "f", text, strlen(text), &diags),
	                 E_OK);
	ck_assert_int_eq(option_bind_groups(&sets, device_groups_builtin(), arena, &diags),
	                 E_OK);
	ck_assert_uint_eq(v.one->n, 1);
	ck_assert_uint_eq(v.many->n, 2);
	ck_assert_str_eq(v.many->names[0], "AllFIs");
	ck_assert_str_eq(v.many->groups->groups[v.many->index[1]].name, "All");
	ck_assert_str_eq(second.one->groups->groups[second.one->index[0]].name, "AllSWs");
	ck_assert_str_eq(option_text(&rows[0], &v, arena), "AllSWs");
}
END_TEST

static const struct {
	const char *text;
	int ret, bind;
	unsigned line;
	const char *error;
} bad_values[] = {
	{ "one All, AllFIs\n", E_SYNTAX, 0, 1, "expected the name of one device group" },
	{ "many All,,AllFIs\n", E_SYNTAX, 0, 1, "expected names of device groups" },
	{ "many All,All\n", E_SYNTAX, 0, 1, "each once" },
	{ "\nmany All,AllSws\n", E_OK, E_UNKNOWN, 2,
	  "many: unknown device group 'AllSws'; did you mean 'AllSWs'?" },
};

START_TEST(test_bad_values)
{
	struct values v, second;
	struct option_sets sets = { .n = 0 };
	const char *text = bad_values[_i].text;

	ck_assert_int_eq(option_sets_add(&sets, rows, &v), E_OK);
	ck_assert_int_eq(option_sets_add(&sets, rows, &second), E_OK);
	ck_assert_int_eq(option_set_defaults(&sets, arena), E_OK);
	ck_assert_int_eq(option_read_text(&sets, arena, "f", text, strlen(text), &diags),
	                 bad_values[_i].ret);
	if (bad_values[_i].ret == E_OK) {
		ck_assert_int_eq(option_bind_groups(&sets, device_groups_builtin(), arena,
		                                    &diags),
		                 bad_values[_i].bind);
	}
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_uint_eq(diags.items[0].line, bad_values[_i].line);
	ck_assert_msg(strstr(diags.items[0].text, bad_values[_i].error) != NULL, "%s",
	              diags.items[0].text);
}
END_TEST

TEST_SUITE(device_group)
{
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
	TCase *t = tcase_create("device_group");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_pattern, 0, COUNT(patterns));
	tcase_add_loop_test(t, test_pattern_ports, 0, COUNT(ports));
	tcase_add_loop_test(t, test_bad_pattern, 0, COUNT(bad_patterns));
	tcase_add_test(t, test_long_pattern);
	tcase_add_loop_test(t, test_random_patterns, 0, 4);
	tcase_add_loop_test(t, test_random_ranges, 0, 4);
	tcase_add_test(t, test_groups);
	tcase_add_test(t, test_builtin);
	tcase_add_loop_test(t, test_bad, 0, COUNT(bad));
	tcase_add_test(t, test_includes);
	tcase_add_test(t, test_sections);
	tcase_add_test(t, test_unknown_elements);
	tcase_add_test(t, test_values);
	tcase_add_loop_test(t, test_bad_values, 0, COUNT(bad_values));
	suite_add_tcase(suite, t);
}
