/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/cabling.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/text/cable_list.h"
#include "tests/lib/fabric.h"
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

/* --- ports -------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	unsigned port;
} ports[] = {
	{ "1", 1 },       { " 36 ", 36 },   { "p1", 1 },      { "P12", 12 },
	{ "port 7", 7 },  { "Port#7", 7 },  { "swp3", 3 },    { "swp3s0", 5 },
	{ "swp3s1", 6 },  { "p12s1", 24 },  { "swp3s2", 0 },  { "1/12", 12 },
	{ "IB1/5", 5 },   { "1/1/1", 1 },   { "1/12/2", 24 }, { "1/12/3", 0 },
	{ "2/1", 0 },     { "1/0/1", 0 },   { "", 0 },        { "x", 0 },
	{ "1x", 0 },      { "254", 254 },   { "255", 0 },     { "99999999999", 0 },
	{ "-1", 0 },      { "1/1/1/1", 0 }, { "1/", 0 },      { "0", 0 },
};

START_TEST(port_forms)
{
	ck_assert_msg(cable_list_port(ports[_i].text) == ports[_i].port, "'%s': %u",
	              ports[_i].text, cable_list_port(ports[_i].text));
}
END_TEST

/* --- forms of a list ---------------------------------------------------------------------- */

/* Each says: a port 3 to b port 1. */
static const struct {
	const char *what, *text;
	unsigned line;
} forms[] = {
	{ "no names", "a,3,b,1\n", 1 },
	{ "no end of line", "a,3,b,1", 1 },
	{ "source", "Source,Src Port,Destination,Dst Port\na,3,b,1\n", 2 },
	{ "sides", "A-side;A-side port;B-side;B-side port\r\na;3;b;1\r\n", 2 },
	{ "mark", "\xef\xbb\xbf" "Source;Port;Target;Port\na;3;b;1\n", 2 },
	{ "tabs", "device\tport name\tdevice\tport name\na\t3\tb\t1\n", 2 },
	{ "one end after the other", "port a,port b,switch a,switch b\n3,1,a,b\n", 2 },
	{ "words together", "SrcPort,SrcDevice,dstport,dstdevice\n3,a,1,b\n", 2 },
	{ "other columns", "Cable,Length (m),From,From Port,Port speed,To,To Port\nC1,3,a,3,HDR,b,1\n", 2 },
	{ "ports behind nodes", "From,To\na:3,b port 1\n", 2 },
	{ "cages behind nodes", "From,To\na/1/2/1,b/p1\n", 2 },
	{ "without names", "a/3\tb/1\n", 1 },
	{ "quotes", "\"Source\",\"Port\",\"Destination\",\"Port\"\n\"a\", \"3\",\"b\",1\n", 2 },
	{ "blank rows", "\n# a comment, with commas; and more\n\r\nNode,Port,Peer,Peer Port\n\n a ,3, b,1 \n", 6 },
	{ "numbered", "Node 1,Port 1,Node 2,Port 2\na,3,b,1\n", 2 },
	{ "lines in quotes", "Note,Node A,Port A,Node B,Port B\n\"x\ny\",a,3,b,1\n", 2 },
};

START_TEST(list_forms)
{
	struct cable_list l;
	const char *text = forms[_i].text;

	ck_assert_msg(cable_list_is(text, strlen(text)), "%s", forms[_i].what);
	ck_assert_int_eq(cable_list_parse(text, strlen(text), "t", arena, &diags, &l),
	                 E_OK);
	ck_assert_msg(l.n == 1, "%s: %u rows", forms[_i].what, l.n);
	ck_assert_msg(strcmp(l.row[0].end[0].node, "a") == 0 &&
	                      cable_list_port(l.row[0].end[0].port) == 3 &&
	                      strcmp(l.row[0].end[1].node, "b") == 0 &&
	                      cable_list_port(l.row[0].end[1].port) == 1,
	              "%s: '%s' '%s' to '%s' '%s'", forms[_i].what, l.row[0].end[0].node,
	              l.row[0].end[0].port, l.row[0].end[1].node, l.row[0].end[1].port);
	ck_assert_uint_eq(l.row[0].line, forms[_i].line);
	ck_assert_uint_eq(diags.n_warnings, 0);
}
END_TEST

static const char *const no_lists[] = {
	"",
	"\n\n",
	"vendid=0x2c9\ndevid=0xb924\nSwitch 36 \"S-1\" # \"a,b\" base port 0 lid 1 lmc 0\n",
	"{ CA Ports:01 SystemGUID:1 } { SW Ports:24 } PHY=4x LOG=ACT SPD=100\n",
	"#\n# Topology file: generated on Mon, 1, a, 2\n#\nvendid=0x2c9\n",
	"[root@mgmt ~]# ibnetdiscover\n",
	"name,colour\nx,red\n",
};

START_TEST(other_texts)
{
	ck_assert(!cable_list_is(no_lists[_i], strlen(no_lists[_i])));
}
END_TEST

/* --- plans -------------------------------------------------------------------------------- */

/* Compares a list with "ft2 2 2 2" of leaf-0000, leaf-0001, spine-0000, spine-0001, node1 to node4. */
static struct cabling compare(const char *text, const struct graph *g)
{
	struct graph *plan;
	struct cable_list l;
	struct cabling c;

	ck_assert_int_eq(cable_list_parse(text, strlen(text), "t", arena, &diags, &l),
	                 E_OK);
	ck_assert_int_eq(cable_list_plan(&l, "t", g, arena, &diags, &plan), E_OK);
	ck_assert_int_eq(cabling_compare(plan, g, arena, &c), E_OK);
	return c;
}

static const char *const said_of[] = {
	"leaf-0000,3,spine-0000,1\nleaf-0000,4,spine-0001,1\nleef-0001,3,spine-0000,2\nleaf-0001,4,spine-0001,2\n",
	"leaf-0000,3,spine-0000,1\nleaf-0000,77,spine-0001,1\n",
	"leaf-0000,3,spine-0000,1\nleaf-0000,top,spine-0001,1\n",
	"leaf-0000,3,spine-0000,1\nleaf-0001,3,spine-0000,1\n",
};

static const char *const says[] = {
	"no node is 'leef-0001'; near: 'leaf-0001', 'leaf-0000'; the other end, 'spine-0000' port 2, leads to 'leaf-0001' port 3",
	"'leaf-0000' has 4 ports, and none 77",
	"'top' of 'leaf-0000' is no port",
	"an earlier one has 'leaf-0001' port 3 or 'spine-0000' port 1",
};

static const unsigned said_lines[] = { 3, 2, 2, 2 };

START_TEST(wrong_ends)
{
	struct graph *g = fabric_make("ft2 2 2 2", 0, 1, arena);

	(void)compare(said_of[_i], g);
	ck_assert_uint_eq(diags.n_warnings, 1);
	ck_assert_msg(strstr(diags.items[0].text, says[_i]) != NULL, "%s",
	              diags.items[0].text);
	ck_assert_uint_eq(diags.items[0].line, said_lines[_i]);
}
END_TEST

/* Cables between switches alone: hosts are not compared. */
START_TEST(switches_only)
{
	struct graph *g = fabric_make("ft2 2 2 2", 0, 1, arena);
	struct cabling c = compare(
		"leaf-0000,3,spine-0000,1\nLEAF-0000,4,spine-0001,1\nleaf-0001,3,spine-0000,2\nleaf-0001,4,spine-0001,2\n",
		g);

	ck_assert_uint_eq(c.n_rows, 0);
	c = compare("leaf-0000,3,spine-0000,1\nleaf-0000,4,spine-0001,1\nleaf-0001,4,spine-0000,2\nleaf-0001,3,spine-0001,2\n",
	            g);
	ck_assert_uint_eq(c.n_rows, 1);
	ck_assert_int_eq(c.row[0].kind, CABLING_SWAPPED);
	c = compare("leaf-0000,3,spine-0000,1\nleaf-0000,4,spine-0001,1\nleaf-0001,3,spine-0000,2\n",
	            g);
	ck_assert_uint_eq(c.count[CABLING_EXTRA], 1);
	ck_assert_uint_eq(c.n_rows, 1);
}
END_TEST

/* A switch with two adapters of one host, and another host. */
static struct graph *adapters(void)
{
	static const char *const names[] = { "n1 HCA-1", "n1 HCA-2", "n2 mlx5_0" };
	struct graph *g = graph_new(arena);
	uint32_t sw, host;

	ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 0x100, 8, "sw", NULL, &sw), E_OK);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(graph_add_node(g, NODE_CA, 0x200 + 0x10 * i, 1, names[i],
		                                NULL, &host),
		                 E_OK);
		ck_assert_int_eq(graph_connect(g, graph_port(g, host, 1),
		                               graph_port(g, sw, 1 + i)),
		                 E_OK);
	}
	ck_assert_int_eq(graph_freeze(g, NULL), E_OK);
	return g;
}

static const struct {
	const char *text;
	const char *warning; /* NULL: as planned */
} hosts[] = {
	{ "n1 HCA-1,1,sw,1\nn1 HCA-2,1,sw,2\nn2 mlx5_0,1,sw,3\n", NULL },
	{ "n1/U1/P1,,sw,1\nN1/u2/p1,,sw,2\nn2,,sw,3\n", NULL },
	{ "n1/U1,1,sw,1\nn1 hca-2,P1,sw,swp2\nn2 HCA-1,1,sw,3\n", NULL },
	{ "0x200,1,0x100,1\n0x0000000000000210,1,sw,2\nn2/U1,1,sw,3\n", NULL },
	{ "n1,1,sw,1\nn1 HCA-2,1,sw,2\nn2,1,sw,3\n", "2 nodes fit the name 'n1'" },
	{ "n1 HCA-1,1,sw,1\nn1/U3/P1,1,sw,2\nn2,1,sw,3\n", "no node is 'n1/U3/P1'" },
	{ "n1 HCA-1,1,sw,1\nn1 HCA-2,1,sw,\nn2,1,sw,3\n", "there is no port of 'sw'" },
};

START_TEST(host_names)
{
	struct cabling c = compare(hosts[_i].text, adapters());

	if (hosts[_i].warning == NULL) {
		ck_assert_uint_eq(diags.n_warnings, 0);
		ck_assert_uint_eq(c.n_rows, 0);
		ck_assert_uint_eq(c.n_planned, 3);
	} else {
		ck_assert_uint_ge(diags.n_warnings, 1);
		ck_assert_msg(strstr(diags.items[0].text, hosts[_i].warning) != NULL,
		              "%s", diags.items[0].text);
		ck_assert_uint_gt(c.n_rows, 0);
	}
}
END_TEST

START_TEST(nothing_to_plan)
{
	struct graph *g = fabric_make("ft2 2 2 2", 0, 1, arena), *plan;
	struct cable_list l;

	ck_assert_int_eq(cable_list_parse("x,y\n", 4, "t", arena, &diags, &l), E_OK);
	ck_assert_int_eq(cable_list_plan(&l, "t", g, arena, &diags, &plan), E_SYNTAX);
	diags_init(&diags, arena);
	ck_assert_int_eq(cable_list_parse("node a,port a,node b,port b\n", 28, "t", arena,
	                                  &diags, &l),
	                 E_SYNTAX);
	ck_assert_uint_eq(diags.n_errors, 1);
}
END_TEST

TEST_SUITE(cable_list)
{
	TCase *t = tcase_create("cable_list");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, port_forms, 0, sizeof(ports) / sizeof(*ports));
	tcase_add_loop_test(t, list_forms, 0, sizeof(forms) / sizeof(*forms));
	tcase_add_loop_test(t, other_texts, 0, sizeof(no_lists) / sizeof(*no_lists));
	tcase_add_loop_test(t, wrong_ends, 0, sizeof(says) / sizeof(*says));
	tcase_add_test(t, switches_only);
	tcase_add_loop_test(t, host_names, 0, sizeof(hosts) / sizeof(*hosts));
	tcase_add_test(t, nothing_to_plan);
	suite_add_tcase(suite, t);
}
