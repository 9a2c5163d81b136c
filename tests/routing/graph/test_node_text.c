/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/node_names.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/proof/proof.h"
#include "routing/text/topofile.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct diags diags;
static struct graph *g;

/* Three switches, two of one name, and a host; the third switch has no name. */
static const char text[] =
	"switchguid=0xa1\nSwitch 4 \"a\" # \"leaf\" base port 0 lid 11 lmc 0\n"
	"[1] \"b\"[1]\n[2] \"h\"[1]\n\n"
	"switchguid=0xa2\nSwitch 4 \"b\" # \"leaf\" base port 0 lid 0 lmc 0\n[2] \"c\"[1]\n\n"
	"switchguid=0xa3\nSwitch 4 \"c\" # \"\" base port 0 lid 13 lmc 0\n\n"
	"caguid=0xc0\nCa 2 \"h\" # \"node 1\"\n[1] \"a\"[2] # lid 7 lmc 0\n";

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	ck_assert_int_eq(topo_parse(text, strlen(text), "t", true, arena, &diags, &g),
	                 E_OK);
}

static void teardown(void)
{
	arena_free(arena);
}

static void set_names(const char *map)
{
	const struct node_names *names;

	ck_assert_int_eq(node_names_parse("map", map, strlen(map), arena, &diags, &names),
	                 E_OK);
	ck_assert_int_eq(graph_set_names(g, names), E_OK);
}

static void said(uint64_t guid, const char *want)
{
	ck_assert_str_eq(node_text(g, NULL, graph_node_by_guid(g, guid)).text, want);
}

START_TEST(descriptions)
{
	said(0xa1, "'leaf' (0x00000000000000a1, LID 11)");
	said(0xa2, "'leaf' (0x00000000000000a2)");
	said(0xa3, "0x00000000000000a3");
	said(0xc0, "'node 1'");
	ck_assert_str_eq(switch_text(g, NULL, 2).text, "0x00000000000000a3");
}
END_TEST

START_TEST(names_of_the_map)
{
	set_names("0xa2 \"node 1\"\n0xa3 \"top\"\n0xffff \"nobody\"\n");
	said(0xa1, "'leaf'");
	said(0xa2, "'node 1' (0x00000000000000a2)");
	said(0xa3, "'top'");
	said(0xc0, "'node 1' (0x00000000000000c0, LID 7)");
	ck_assert_str_eq(g->nodes[graph_node_by_guid(g, 0xa2)].description, "leaf");
	ck_assert_int_eq(graph_set_names(g, NULL), E_OK);
	said(0xa3, "'top'");
}
END_TEST

START_TEST(lids_of_a_run)
{
	const struct lids_in in = { .g = g, .max_lid = 100, .reassign = true };
	struct lids lids;

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &lids, NULL, NULL), E_OK);
	uint32_t node = graph_node_by_guid(g, 0xa2);
	uint32_t lid = lids.of[g->nodes[node].first_port].base;
	ck_assert_uint_ne(lid, 0);
	ck_assert_str_eq(node_text(g, &lids, node).text,
	                 arena_printf(arena, "'leaf' (0x00000000000000a2, LID %u)", lid));
}
END_TEST

/* The longest there is. */
START_TEST(room)
{
	char name[65];
	uint32_t a = graph_node_by_guid(g, 0xa1), b = graph_node_by_guid(g, 0xa2);

	memset(name, 'x', 64);
	name[64] = '\0';
	g->nodes[a].description = g->nodes[b].description = name;
	g->ports[g->nodes[a].first_port].lid = 0xffffff;
	ck_assert_str_eq(
		node_text(g, NULL, a).text,
		arena_printf(arena, "'%s' (0x00000000000000a1, LID 16777215)", name));
}
END_TEST

START_TEST(proof_names_switches)
{
	struct lids lids;
	struct lft lft;
	struct proof p;
	const struct lids_in in = { .g = g, .max_lid = 100 };

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &lids, NULL, NULL), E_OK);
	ck_assert_int_eq(lft_init(&lft, g->n_switches, lids.top, arena), E_OK);
	ck_assert_int_eq(proof_run(g, &lids, &lft, NULL, arena, &p), E_OK);
	ck_assert_ptr_nonnull(
		strstr(proof_text(&p, g, arena), "'leaf' (0x00000000000000a1, LID 11)"));
	set_names("0xa1 \"top\"");
	ck_assert_ptr_nonnull(strstr(proof_text(&p, g, arena), "'top'"));
}
END_TEST

static const struct {
	const char *a, *b;
	int order;
} hosts[] = {
	{ "n1 mlx5_0", "n1 mlx5_1", 0 },
	{ "n1", "n1\tHCA-1", 0 },
	{ "n1 x", "n10 a", -1 },
	{ "n10", "n1 z", 1 },
	{ "n1", "n2 a", -1 },
	{ "", "", 0 },
	{ "", "n1", -1 },
	{ " n1", "", 0 }, /* no word at the beginning */
};

START_TEST(hosts_in_order)
{
	struct node a = { .description = hosts[_i].a };
	struct node b = { .description = "x", .name = hosts[_i].b };
	int there = node_compare_hosts(&a, &b), back = node_compare_hosts(&b, &a);

	ck_assert_int_eq((there > 0) - (there < 0), hosts[_i].order);
	ck_assert_int_eq((back > 0) - (back < 0), -hosts[_i].order);
}
END_TEST

TEST_SUITE(node_text)
{
	TCase *t = tcase_create("node_text");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, descriptions);
	tcase_add_test(t, names_of_the_map);
	tcase_add_test(t, lids_of_a_run);
	tcase_add_test(t, room);
	tcase_add_test(t, proof_names_switches);
	tcase_add_loop_test(t, hosts_in_order, 0, sizeof(hosts) / sizeof(hosts[0]));
	suite_add_tcase(suite, t);
}
