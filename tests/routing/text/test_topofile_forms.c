/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/text/topofile.h"
#include "tests/lib/graph_check.h"
#include "tests/lib/suite.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/*
 * The topology reader on files as they come: the forms that tools write, lines that
 * nobody understands, statements that contradict each other.
 */
static struct arena *arena;
static struct diags diags;
static struct graph *g;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	g = NULL;
}

static void teardown(void)
{
	arena_free(arena);
}

static void parse_ok(const char *text)
{
	int ret = topo_parse(text, strlen(text), "t", true, arena, &diags, &g);

	ck_assert_msg(ret == E_OK, "%s", diags_first_error(&diags));
	ck_assert_uint_eq(diags.n, 0);
	graph_check(g);
}

static const struct port *port(uint64_t guid, unsigned num)
{
	uint32_t p = graph_port(g, graph_node_by_guid(g, guid), num);

	ck_assert_uint_ne(p, GRAPH_NONE);
	return &g->ports[p];
}

static const struct node *node(uint64_t guid)
{
	uint32_t n = graph_node_by_guid(g, guid);

	ck_assert_uint_ne(n, GRAPH_NONE);
	return &g->nodes[n];
}

static const char *fabric(const char *name)
{
	const char *dir = getenv("srcdir");

	return arena_printf(arena, "%s/tests/fabrics/%s", dir ? dir : ".", name);
}

static struct graph *again(const struct graph *was)
{
	char *text = NULL;
	size_t len = 0;
	struct graph *graph = NULL;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(topo_write(was, f), E_OK);
	fclose(f);
	int ret = topo_parse(text, len, "written", true, arena, &diags, &graph);
	ck_assert_msg(ret == E_OK, "%s\n%s", diags_first_error(&diags), text);
	free(text);
	return graph;
}

/* Which cables of three switches remain, and how wide, when lines contradict each other:
 * a, b and c are switches with 4 ports. */
static const struct {
	const char *a, *b, *c;
	const char *cables; /* "a1-b1 4xSDR " */
} conflicts[] = {
	{ "[1] \"b\"[1]", "", "", "a1-b1 4xSDR " },
	{ "[1] \"b\"[1] 4xEDR", "[1] \"a\"[1] 1xHDR", "", "a1-b1 1xEDR " },
	{ "[1] \"b\"[1] 12xEDR", "[1] \"a\"[1] 8xEDR", "", "a1-b1 8xEDR " },
	{ "[1] \"b\"[1]", "[1] \"a\"[2]", "", "" },
	{ "[1] \"b\"[1]\n[2] \"b\"[1]", "[1] \"a\"[2]", "", "a2-b1 4xSDR " },
	{ "[1] \"b\"[1]", "[1] \"c\"[1]", "[1] \"b\"[1]", "b1-c1 4xSDR " },
	{ "[1] \"b\"[1]", "[1] \"c\"[1]", "[1] \"a\"[1]", "" },
	{ "[1] \"b\"[1]", "[1] \"c\"[1]", "", "" },
	{ "[1] \"c\"[1]", "[1] \"c\"[1]", "", "" },
	{ "[1] \"c\"[1]", "[1] \"c\"[1]", "[1] \"b\"[1]", "b1-c1 4xSDR " },
	{ "[1] \"b\"[1]\n[1] \"b\"[2]", "", "", "a1-b1 4xSDR " },
	{ "[1] \"b\"[1]\n[1] \"b\"[1]", "", "", "a1-b1 4xSDR " },
	{ "[1] \"b\"[1]\n[2] \"gone\"[2]", "[1] \"a\"[1]", "", "a1-b1 4xSDR " },
	{ "[1] \"gone\"[1]", "[1] \"a\"[1]", "", "" },
	{ "[1] \"b\"[7]\n[2] \"b\"[2]", "", "", "a2-b2 4xSDR " },
};

START_TEST(safer_of_two_statements_holds)
{
	const char *text = arena_printf(
		arena, "Switch 4 \"a\"\n%s\n\nSwitch 4 \"b\"\n%s\n\nSwitch 4 \"c\"\n%s\n",
		conflicts[_i].a, conflicts[_i].b, conflicts[_i].c);
	char cables[200] = "";

	ck_assert_int_eq(topo_parse(text, strlen(text), "t", false, arena, &diags, &g),
	                 E_OK);
	graph_check(g);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		if (p->peer == GRAPH_NONE || p->peer < i) {
			continue;
		}
		const struct port *far = &g->ports[p->peer];
		size_t n = strlen(cables);
		snprintf(cables + n, sizeof(cables) - n, "%s%u-%s%u %s%s ",
		         g->nodes[p->node].id, p->num, g->nodes[far->node].id, far->num,
		         link_width_name(p->width), link_speed_name(p->speed));
	}
	ck_assert_str_eq(cables, conflicts[_i].cables);
}
END_TEST

START_TEST(warnings_have_a_limit)
{
	size_t room = 64 * 1024, len = 0;
	char *text = arena_alloc(arena, room);

	for (unsigned i = 0; i < 1000; i++) {
		len += (size_t)snprintf(text + len, room - len, "noise %u\n", i);
	}
	snprintf(text + len, room - len, "Switch 2 \"a\"\n");
	ck_assert_int_eq(topo_parse(text, strlen(text), "t", false, arena, &diags, &g),
	                 E_OK);
	ck_assert_uint_eq(diags.n, 21);
	ck_assert_uint_eq(diags.n_warnings, 21);
	ck_assert_ptr_nonnull(strstr(diags.items[19].text, "'noise 19'"));
	ck_assert_ptr_nonnull(strstr(diags.items[20].text, "980 more"));
}
END_TEST

/* Whatever it says, a file without a node gets one sentence. */
START_TEST(no_topology_is_refused_in_one_sentence)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"root:x:0:0:root:/root:/bin/bash\nbin:x:1:1:bin:/bin:/bin/sh\n",
		"[1] \"a\"[1]\n[2] \"a\"[2]\n",
		"Ca 3 b\n[1] \"a\"[1]\n",
	};

	diag_add(&diags, DIAG_WARNING, NULL, 0, "said before");
	ck_assert_int_eq(
		topo_parse(texts[_i], strlen(texts[_i]), "t", false, arena, &diags, &g),
		E_SYNTAX);
	ck_assert_uint_eq(diags.n, 2);
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_uint_eq(diags.n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(diags.items[1].text, "it is no topology"));
}
END_TEST

/* Many node lines whose descriptions look like attributes must not overfill the id table.
 */
START_TEST(many_nodes_with_equal_signs)
{
	size_t room = 2000 * 64, len = 0;
	char *text = arena_alloc(arena, room);

	for (unsigned i = 0; i < 2000; i++) {
		len += (size_t)snprintf(text + len, room - len,
		                        "Ca 1 \"h%u\" # \"a=b\"\n\n", i);
	}
	parse_ok(text);
	ck_assert_uint_eq(g->n_nodes, 2000);
}
END_TEST

START_TEST(unreadable_files)
{
	ck_assert_int_eq(topo_read("/nonexistent/x.topo", true, arena, &diags, &g),
	                 -ENOENT);
	ck_assert_ptr_nonnull(
		strstr(diags_first_error(&diags), "write a topology there"));
	ck_assert_str_eq(diags.items[0].file, "/nonexistent/x.topo");
	ck_assert_int_eq(topo_read("/", true, arena, &diags, &g), -EISDIR);
	ck_assert_ptr_null(g);
}
END_TEST

/* "switchguid=SYSTEM(NODE)" of a director, and guid lines that were damaged. */
START_TEST(id_tells_the_guid_of_a_directors_switch)
{
	static const char text[] = "switchguid=0x10(20)\n"
				   "Switch 2 \"S-0000000000000020\"\n\n"
				   "sysimgguid=0x99\n"
				   "switchguid=0x10(30)\n"
				   "Switch 2 \"S-0000000000000030\"\n\n"
				   "switchguid=0x40(41)\n"
				   "Switch 2 \"S-0000000000000040\"\n\n"
				   "switchguid=0x50(51)\n"
				   "Switch 2 \"S-51\"\n\n";

	parse_ok(text);
	ck_assert_uint_eq(node(0x20)->system_image_guid, 0x10);
	ck_assert_uint_eq(node(0x30)->system_image_guid, 0x99);
	ck_assert_uint_eq(port(0x20, 0)->guid, 0x20);
	ck_assert_uint_eq(port(0x40, 0)->guid, 0x41);
	ck_assert_uint_eq(node(0x40)->system_image_guid, 0);
	ck_assert_uint_eq(port(0x50, 0)->guid, 0x51);

	static const char damaged[] = "switchguid=zz\nSwitch 2 \"S-0000000000000020\"\n";
	ck_assert_int_eq(
		topo_parse(damaged, strlen(damaged), "t", false, arena, &diags, &g),
		E_OK);
	ck_assert_uint_eq(g->nodes[0].guid, 0x20);
}
END_TEST

/* The name of a socket on the box is no PortGUID. */
static const struct {
	const char *near, *far;
	uint64_t guid; /* of the CA */
} labels[] = {
	{ "[1]", "[1](abc)", 0xabc },
	{ "[1](1/1/1)", "[1](abc)", 0xabc },
	{ "[1](41)", "[1](abc)", 0xabc },
	{ "[1](B9D0F0/0/0/1)", "[1](B9D0F0/0/0/1)(abc)", 0xabc },
	{ "[1](B9D0F0/0/0/1) (77)", "[1](1)(abc)", 0xabc },
	{ "[1][ext 2]", "[1](abc) [ext 3]", 0xabc },
	{ "[1][ext 2]", "[1][ext 3]", 0x801 },
	{ "[1] (aa/1) [x]", "[1] (aa/1)", 0x801 },
};

START_TEST(labels_of_ports)
{
	parse_ok(arena_printf(arena,
	                      "switchguid=0x700\nSwitch 2 \"s\"\n%s \"c\"%s\n\n"
	                      "caguid=0x800\nCa 1 \"c\"\n",
	                      labels[_i].near, labels[_i].far));
	ck_assert_uint_eq(port(0x800, 1)->guid, labels[_i].guid);
	ck_assert_uint_eq(port(0x700, 1)->guid, 0x700);

	parse_ok(arena_printf(arena,
	                      "switchguid=0x700\nSwitch 2 \"s\"\n\n"
	                      "caguid=0x800\nCa 1 \"c\"\n%s \"s\"%s\n",
	                      labels[_i].far, labels[_i].near));
	ck_assert_uint_eq(port(0x800, 1)->guid, labels[_i].guid);
	ck_assert_uint_eq(port(0x700, 1)->guid, 0x700);
}
END_TEST

#define LIST_CA(lid)                                                                     \
	"{ CA Ports:01 SystemGUID:0000000000000803 NodeGUID:0000000000000800 "           \
	"PortGUID:0000000000000801 VenID:000002c9 DevID:1021 Rev:00000000 {n {1} x} "    \
	"LID:" lid " PN:01 } "
#define LIST_SW                                                                          \
	"{ SW Ports:41 SystemGUID:0000000000000700 NodeGUID:0000000000000700 "           \
	"PortGUID:0000000000000707 VenID:000002C9 DevID:D2F20000 Rev:000000A0 {sw} "     \
	"LID:00b6 PN:0c } "

static const struct {
	const char *link;
	uint32_t n_links;
	uint8_t width, speed;
} list_links[] = {
	{ "PHY=4x LOG=ACT SPD=100", 1, WIDTH_4X, SPEED_NDR },
	{ "PHY=1x LOG=INI SPD=2.5", 1, WIDTH_1X, SPEED_SDR },
	{ "PHY=12x LOG=ARM SPD=5", 1, WIDTH_12X, SPEED_DDR },
	{ "PHY=4x LOG=ACT SPD=10", 1, WIDTH_4X, SPEED_QDR },
	{ "PHY=4x LOG=ACT SPD=FDR10", 1, WIDTH_4X, SPEED_FDR10 },
	{ "PHY=2x LOG=ACT SPD=14", 1, WIDTH_2X, SPEED_FDR },
	{ "PHY=4x LOG=ACT SPD=25", 1, WIDTH_4X, SPEED_EDR },
	{ "PHY=4x LOG=ACT SPD=200", 1, WIDTH_4X, SPEED_XDR },
	{ "PHY=4x LOG=DWN SPD=25", 0, WIDTH_4X, SPEED_EDR },
};

START_TEST(links_of_a_list)
{
	parse_ok(
		arena_printf(arena, LIST_CA("00b5") LIST_SW "%s\n", list_links[_i].link));
	ck_assert_uint_eq(g->n_nodes, 2);
	ck_assert_uint_eq(g->n_links, list_links[_i].n_links);
	ck_assert_str_eq(node(0x800)->description, "n {1} x");
	ck_assert_str_eq(node(0x700)->id, "S-0000000000000700");
	ck_assert_uint_eq(node(0x700)->n_ports, 65);
	ck_assert_uint_eq(node(0x700)->device_id, 0xd2f2);
	ck_assert_uint_eq(node(0x800)->device_id, 0x1021);
	ck_assert_uint_eq(port(0x700, 0)->lid, 0xb6);
	if (list_links[_i].n_links) {
		ck_assert_uint_eq(port(0x800, 1)->lid, 0xb5);
		ck_assert_uint_eq(port(0x800, 1)->guid, 0x801);
		ck_assert_uint_eq(port(0x700, 12)->width, list_links[_i].width);
		ck_assert_uint_eq(port(0x700, 12)->speed, list_links[_i].speed);
		ck_assert_uint_eq(port(0x700, 12)->guid, 0x707);
	}
}
END_TEST

/* Files as they come, in the forms that tools write. */
static const struct {
	const char *name;
	uint32_t switches, nodes, links;
	unsigned warnings;
} shapes[] = {
	{ "shapes/chassis.topo", 4, 8, 7, 0 },
	{ "shapes/director.topo", 3, 7, 8, 0 },
	{ "shapes/ibdiagnet.lst", 3, 10, 11, 0 },
	{ "shapes/ibdiagnet.topo", 3, 10, 11, 0 },
	{ "shapes/session.topo", 2, 5, 6, 7 },
};

START_TEST(files_as_they_come)
{
	int ret = topo_read(fabric(shapes[_i].name), false, arena, &diags, &g);
	ck_assert_msg(ret == E_OK, "%s", diags_first_error(&diags));
	ck_assert_uint_eq(diags.n_warnings, shapes[_i].warnings);
	graph_check(g);
	ck_assert_uint_eq(g->n_switches, shapes[_i].switches);
	ck_assert_uint_eq(g->n_nodes, shapes[_i].nodes);
	ck_assert_uint_eq(g->n_links, shapes[_i].links);
	graph_check_same(g, again(g));

	struct graph *was = g;
	ret = topo_read(fabric(shapes[_i].name), true, arena, &diags, &g);
	ck_assert_int_eq(ret, shapes[_i].warnings ? E_SYNTAX : E_OK);
	if (ret == E_OK) {
		graph_check_same(g, was);
	}
}
END_TEST

START_TEST(list_is_the_same_fabric_as_the_topology)
{
	struct graph *list;

	ck_assert_int_eq(
		topo_read(fabric("shapes/ibdiagnet.topo"), true, arena, &diags, &g),
		E_OK);
	ck_assert_int_eq(
		topo_read(fabric("shapes/ibdiagnet.lst"), true, arena, &diags, &list),
		E_OK);
	list->sm_port = g->sm_port; /* the first node differs */
	graph_check_same(g, list);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		ck_assert_str_eq(g->nodes[i].id, list->nodes[i].id);
	}
}
END_TEST

TEST_SUITE(topofile_forms)
{
	TCase *t = tcase_create("topofile_forms");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, safer_of_two_statements_holds, 0, N(conflicts));
	tcase_add_test(t, warnings_have_a_limit);
	tcase_add_loop_test(t, no_topology_is_refused_in_one_sentence, 0, 5);
	tcase_add_test(t, many_nodes_with_equal_signs);
	tcase_add_test(t, unreadable_files);
	tcase_add_test(t, id_tells_the_guid_of_a_directors_switch);
	tcase_add_loop_test(t, labels_of_ports, 0, N(labels));
	tcase_add_loop_test(t, links_of_a_list, 0, N(list_links));
	tcase_add_loop_test(t, files_as_they_come, 0, N(shapes));
	tcase_add_test(t, list_is_the_same_fabric_as_the_topology);
	suite_add_tcase(suite, t);
}
