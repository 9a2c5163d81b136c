/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/xml.h"
#include "conf/option.h"
#include "routing/graph/device_set.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct diags diags;
static struct graph *g;

static uint32_t add(enum node_type type, uint64_t guid, unsigned n_ports, const char *name)
{
	uint32_t node;
	ck_assert_int_eq(graph_add_node(g, type, guid, n_ports, name, NULL, &node), E_OK);
	return node;
}

/*
 * leaf1 and leaf2 (one system, 0x90) joined by core (enhanced port 0); cn1, cn2 on leaf1,
 * cn10 with two ports on both leaves, io1 (storage target) on leaf2, a router on leaf1. The
 * subnet manager runs on cn2, io1 could run one.
 */
static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	g = graph_new(arena);
	uint32_t leaf1 = add(NODE_SWITCH, 0x11, 8, "leaf1"),
	         leaf2 = add(NODE_SWITCH, 0x12, 8, "leaf2"),
	         core = add(NODE_SWITCH, 0x21, 8, "core"), cn1 = add(NODE_CA, 0x100, 1, "cn1"),
	         cn2 = add(NODE_CA, 0x200, 1, "cn2"), cn10 = add(NODE_CA, 0x300, 2, "cn10"),
	         io1 = add(NODE_CA, 0x400, 1, "io1"), rt = add(NODE_ROUTER, 0x500, 1, "rt");
	const struct {
		uint32_t a, b;
		unsigned pa, pb;
	} cables[] = { { leaf1, core, 8, 1 }, { leaf2, core, 8, 2 }, { leaf1, cn1, 1, 1 },
		       { leaf1, cn2, 2, 1 },  { leaf1, cn10, 3, 1 }, { leaf2, cn10, 1, 2 },
		       { leaf2, io1, 2, 1 },  { leaf1, rt, 4, 1 } };

	for (size_t i = 0; i < sizeof(cables) / sizeof(cables[0]); i++) {
		ck_assert_int_eq(graph_connect(g, graph_port(g, cables[i].a, cables[i].pa),
		                               graph_port(g, cables[i].b, cables[i].pb)),
		                 E_OK);
	}
	g->nodes[leaf1].system_image_guid = g->nodes[leaf2].system_image_guid = 0x90;
	g->nodes[core].esp0 = true;
	g->ports[graph_port(g, io1, 1)].capability_mask = 1 << 19 | 1 << 1;
	g->ports[graph_port(g, core, 0)].capability_mask = 1 << 19; /* no target */
	g->sm_port = graph_port(g, cn2, 1);
	ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
}

static void teardown(void)
{
	arena_free(arena);
}

/* End ports of a set as "name:port name:port". */
static const char *shown(const struct device_set *s)
{
	const char *text = "";
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		const struct port *p = &g->ports[g->end_ports[i]];
		if (device_set_has(s, g->end_ports[i])) {
			text = arena_printf(arena, "%s%s%s:%u", text, *text ? " " : "",
			                    g->nodes[p->node].description, p->num);
			n++;
		}
	}
	ck_assert_uint_eq(n, s->n_end_ports);
	return text;
}

static const struct device_groups *groups_of(const char *rules)
{
	const char *text = arena_printf(
		arena,
		"<DeviceGroups><DeviceGroup><Name>x</Name>%s</DeviceGroup></DeviceGroups>",
		rules);
	struct xml_element *root = NULL;
	const struct device_groups *groups = NULL;
	ck_assert_int_eq(xml_parse("g", text, strlen(text), arena, &diags, &root), E_OK);
	ck_assert_int_eq(device_groups_parse("g", &root, 1, arena, &diags, &groups), E_OK);
	return groups;
}

static const struct {
	const char *rules, *members;
} cases[] = {
	{ "", "" },
	{ "<NodeGUID>0x300</NodeGUID>", "cn10:1 cn10:2" },
	{ "<NodeGUID>0x11</NodeGUID>", "leaf1:0" },
	{ "<NodeGUID>0x999</NodeGUID>", "" },
	{ "<PortGUID>0x302</PortGUID>", "cn10:2" },
	{ "<PortGUID>0x21</PortGUID>", "core:0" },
	{ "<SystemImageGUID>0x90</SystemImageGUID>", "leaf1:0 leaf2:0" },
	{ "<NodeDesc>cn*</NodeDesc>", "cn1:1 cn2:1 cn10:1 cn10:2" },
	{ "<NodeDesc>cn[1-9]</NodeDesc>", "cn1:1 cn2:1" },
	{ "<NodeDesc>cn*:2</NodeDesc>", "cn10:2" },
	{ "<NodeDesc>*:[0-1]</NodeDesc>",
	  "leaf1:0 leaf2:0 core:0 cn1:1 cn2:1 cn10:1 io1:1 rt:1" },
	{ "<NodeType>FI</NodeType>", "cn1:1 cn2:1 cn10:1 cn10:2 io1:1" },
	{ "<NodeType>SW</NodeType>", "leaf1:0 leaf2:0 core:0" },
	{ "<NodeType>RT</NodeType>", "rt:1" },
	{ "<Select>All</Select>",
	  "leaf1:0 leaf2:0 core:0 cn1:1 cn2:1 cn10:1 cn10:2 io1:1 rt:1" },
	{ "<Select>Self</Select>", "cn2:1" },
	{ "<Select>SWE0</Select>", "core:0" },
	{ "<Select>TFIs</Select>", "io1:1" },
	{ "<Select>AllMgmtAllowed</Select>", "cn2:1 io1:1" },
	{ "<Select>HFIDirectConnect</Select>", "" },
	{ "<IncludeGroup>AllEndNodes</IncludeGroup>",
	  "core:0 cn1:1 cn2:1 cn10:1 cn10:2 io1:1" },
	{ "<IncludeGroup>AllTFIs</IncludeGroup><IncludeGroup>Self</IncludeGroup><NodeDesc>rt</NodeDesc>",
	  "cn2:1 io1:1 rt:1" },
};

START_TEST(test_rules)
{
	const struct device_groups *groups = groups_of(cases[_i].rules);
	struct device_set s;

	ck_assert_int_eq(device_set_group(g, groups, device_group_find(groups, "x"), arena,
	                                  &s),
	                 E_OK);
	ck_assert_str_eq(shown(&s), cases[_i].members);
}
END_TEST

/* External ports of switches are there for readers that want them. */
START_TEST(test_external_ports)
{
	const struct device_groups *groups = groups_of("<NodeDesc>leaf1:[2-3]</NodeDesc>");
	struct device_set s;

	ck_assert_int_eq(device_set_group(g, groups, device_group_find(groups, "x"), arena,
	                                  &s),
	                 E_OK);
	ck_assert_uint_eq(s.n_end_ports, 0);
	for (uint32_t p = 0; p < g->n_ports; p++) {
		const struct port *port = &g->ports[p];
		bool leaf1 = g->nodes[port->node].guid == 0x11;
		ck_assert_int_eq(device_set_has(&s, p),
		                 leaf1 && (port->num == 2 || port->num == 3));
	}
}
END_TEST

static struct device_list *list_of(const char *text, const struct device_groups *groups)
{
	struct device_list *list = NULL;
	ck_assert_int_eq(device_list_parse(text, 8, arena, &list), E_OK);
	ck_assert_int_eq(device_list_bind(list, "key", groups, arena, &diags), E_OK);
	return list;
}

START_TEST(test_lists)
{
	const struct device_groups *groups = groups_of("<NodeDesc>io*</NodeDesc>");
	const struct device_list *list = list_of("x, AllSWs,All", groups);
	struct device_set s, *each;

	ck_assert_int_eq(device_sets_of(g, list, arena, &each), E_OK);
	ck_assert_str_eq(shown(&each[0]), "io1:1");
	ck_assert_str_eq(shown(&each[1]), "leaf1:0 leaf2:0 core:0");
	ck_assert_uint_eq(each[2].n_end_ports, g->n_end_ports);
	ck_assert(device_group_is_all(groups, list->index[2]));
	ck_assert(!device_group_is_all(groups, list->index[1]));
	ck_assert_int_eq(device_set_of(g, list_of("x,AllSWs", groups), arena, &s), E_OK);
	ck_assert_str_eq(shown(&s), "leaf1:0 leaf2:0 core:0 io1:1");
	for (uint32_t i = 0; i < g->n_switches; i++) {
		ck_assert(device_set_has_switch(&s, g, i));
	}
	ck_assert_int_eq(device_set_of(g, NULL, arena, &s), E_OK);
	ck_assert_str_eq(shown(&s), "");
}
END_TEST

START_TEST(test_direct)
{
	g = graph_new(arena);
	uint32_t a = add(NODE_CA, 1, 1, "a"), b = add(NODE_CA, 2, 1, "b");
	ck_assert_int_eq(graph_connect(g, graph_port(g, a, 1), graph_port(g, b, 1)), E_OK);
	ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
	struct device_set s;
	ck_assert_int_eq(device_set_of(g, list_of("HFIDirectConnect", device_groups_builtin()),
	                               arena, &s),
	                 E_OK);
	ck_assert_str_eq(shown(&s), "a:1 b:1");
}
END_TEST

/* Random groups that include each other over a random fabric: a group is the union of its
 * own rules and of the groups it includes, each taken alone. */
START_TEST(test_random)
{
	enum { N = 12 };
	uint64_t state = 77 + (uint64_t)_i;
	const char *text = "<DeviceGroups>";
	struct device_set alone[N], all;
	uint32_t includes[N][2];

	g = fabric_make("jellyfish 20 4 3", 0, (uint32_t)_i + 1, arena);
	for (unsigned i = 0; i < N; i++) {
		uint32_t node = random_below(&state, g->n_nodes);
		const char *rules =
			arena_printf(arena, "<NodeGUID>0x%llx</NodeGUID><NodeDesc>%s:1</NodeDesc>",
		                     (unsigned long long)g->nodes[node].guid,
		                     g->nodes[random_below(&state, g->n_nodes)].description);
		const struct device_groups *one = groups_of(rules);
		ck_assert_int_eq(device_set_group(g, one, device_group_find(one, "x"), arena,
		                                  &alone[i]),
		                 E_OK);
		text = arena_printf(arena, "%s<DeviceGroup><Name>g%u</Name>%s", text, i, rules);
		for (unsigned k = 0; k < 2; k++) {
			/* only later ones: no cycles, some several times */
			includes[i][k] = i + 1 + random_below(&state, N);
			if (includes[i][k] < N) {
				text = arena_printf(arena, "%s<IncludeGroup>g%u</IncludeGroup>",
				                    text, includes[i][k]);
			}
		}
		text = arena_printf(arena, "%s</DeviceGroup>", text);
	}
	text = arena_printf(arena, "%s</DeviceGroups>", text);
	struct xml_element *root = NULL;
	const struct device_groups *groups = NULL;
	ck_assert_int_eq(xml_parse("g", text, strlen(text), arena, &diags, &root), E_OK);
	ck_assert_int_eq(device_groups_parse("g", &root, 1, arena, &diags, &groups), E_OK);
	for (unsigned i = N; i-- > 0;) {
		for (unsigned k = 0; k < 2; k++) {
			uint32_t of = includes[i][k];
			for (uint32_t w = 0; of < N && w <= g->n_ports / 64; w++) {
				alone[i].bits[w] |= alone[of].bits[w];
			}
		}
		uint32_t at = device_group_find(groups, arena_printf(arena, "g%u", i));
		ck_assert_int_eq(device_set_group(g, groups, at, arena, &all), E_OK);
		ck_assert_mem_eq(all.bits, alone[i].bits,
		                 (g->n_ports / 64 + 1) * sizeof(*all.bits));
		ck_assert_uint_gt(all.n_end_ports, 0);
	}
}
END_TEST

/* Omni-Path: adapters whose switch lets them manage the fabric. */
START_TEST(allowed_by_the_switch)
{
	const struct device_groups *groups = groups_of("<Select>AllMgmtAllowed</Select>");
	struct device_set s;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		struct port *p = &g->ports[g->end_ports[i]];

		p->may_manage =
			strcmp(g->nodes[p->node].description, "cn10") == 0 && p->num == 2;
	}
	ck_assert_int_eq(
		device_set_group(g, groups, device_group_find(groups, "x"), arena, &s),
		E_OK);
	ck_assert_str_eq(shown(&s), "cn2:1 cn10:2 io1:1");
}
END_TEST

TEST_SUITE(device_set)
{
	TCase *t = tcase_create("device_set");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, allowed_by_the_switch);
	tcase_add_loop_test(t, test_rules, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, test_external_ports);
	tcase_add_test(t, test_lists);
	tcase_add_test(t, test_direct);
	tcase_add_loop_test(t, test_random, 0, 6);
	suite_add_tcase(suite, t);
}
