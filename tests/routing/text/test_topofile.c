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
#include "routing/topogen/topogen.h"
#include "tests/lib/graph_check.h"
#include "tests/lib/suite.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

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

static int parse(const char *text)
{
	return topo_parse(text, strlen(text), "t", true, arena, &diags, &g);
}

static void parse_ok(const char *text)
{
	int ret = parse(text);

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

/* ---- what is read ---- */

/*
 * In the form that ibnetdiscover 3.x prints: blanks, tabs, the order of lines and the
 * brackets are those of its output over ibsim 0.10, the values are made up.
 */
static const char discovered[] =
	"#\n"
	"# Topology file: generated on Fri Nov 20 11:41:27 2026\n"
	"#\n"
	"# Initiated from node 0002c90500001000 port 0002c90500001001\n"
	"\n"
	"vendid=0x2c9\n"
	"devid=0xd2f0\n"
	"sysimgguid=0x2c90600000200\n"
	"switchguid=0x2c90600000200(2c90600000207)\n"
	"Switch\t6 \"S-0002c90600000200\"\t\t# \"MF0;sw-b:MSX6036/U1\" base port 0 lid 5 lmc 0\n"
	"[1]\t\"H-0002c90500001000\"[2](2c90500001002) \t\t# \"node1 HCA-1\" lid 8 4xEDR\n"
	"[3]\t\"R-0002c90700000100\"[1](2c90700000101) \t\t# \"router \"x\" 1\" lid 12 1xFDR10\n"
	"[5]\t\"S-0002c90600000100\"[5]\t\t# \"plane A\" lid 4 12xDDR\n"
	"\n"
	"vendid=0x0\n"
	"devid=0x0\n"
	"sysimgguid=0x0\n"
	"switchguid=0x2c90600000100(2c90600000100)\n"
	"Switch\t6 \"S-0002c90600000100\"\t\t# \"plane A\" enhanced port 0 lid 4 lmc 1\n"
	"[1]\t\"H-0002c90500001000\"[1](2c90500001000) \t\t# \"node1 HCA-1\" lid 16 8xQDR\n"
	"[5]\t\"S-0002c90600000200\"[5]\t\t# \"MF0;sw-b:MSX6036/U1\" lid 5 12xDDR\n"
	"\n"
	"vendid=0x2c9\n"
	"devid=0x1013\n"
	"sysimgguid=0x2c90500001003\n"
	"caguid=0x2c90500001000\n"
	"Ca\t2 \"H-0002c90500001000\"\t\t# \"node1 HCA-1\"\n"
	"[2](2c90500001002) \t\"S-0002c90600000200\"[1]\t\t# lid 8 lmc 3 \"MF0;sw-b:MSX6036/U1\" lid 5 4xEDR\n"
	"[1](2c90500001000) \t\"S-0002c90600000100\"[1]\t\t# lid 16 lmc 2 \"plane A\" lid 4 8xQDR\n"
	"\n"
	"vendid=0x0\n"
	"devid=0x0\n"
	"rtguid=0x2c90700000100\n"
	"Rt\t2 \"R-0002c90700000100\"\t\t# \"router \"x\" 1\"\n"
	"[1](2c90700000101) \t\"S-0002c90600000200\"[3]\t\t# lid 12 lmc 0 \"MF0;sw-b:MSX6036/U1\" lid 5 1xFDR10\n";

static void check_discovered(void)
{
	const struct node *b = node(0x2c90600000200), *a = node(0x2c90600000100);
	const struct node *ca = node(0x2c90500001000), *rt = node(0x2c90700000100);

	ck_assert_uint_eq(g->n_nodes, 4);
	ck_assert_uint_eq(g->n_links, 4);
	ck_assert_uint_eq(b->vendor_id, 0x2c9);
	ck_assert_uint_eq(b->device_id, 0xd2f0);
	ck_assert_uint_eq(b->system_image_guid, 0x2c90600000200);
	ck_assert_str_eq(b->description, "MF0;sw-b:MSX6036/U1");
	ck_assert_str_eq(rt->description, "router \"x\" 1");
	ck_assert_uint_eq(rt->type, NODE_ROUTER);
	ck_assert(!b->esp0 && a->esp0);
	ck_assert_uint_eq(a->vendor_id, 0);
	ck_assert_uint_eq(ca->system_image_guid, 0x2c90500001003);
	ck_assert_uint_eq(rt->system_image_guid, 0);
	ck_assert_uint_eq(port(b->guid, 0)->guid, 0x2c90600000207);
	ck_assert_uint_eq(port(b->guid, 0)->lid, 5);
	ck_assert_uint_eq(port(a->guid, 0)->lmc, 1);
	ck_assert_uint_eq(port(ca->guid, 1)->guid, 0x2c90500001000);
	ck_assert_uint_eq(port(ca->guid, 1)->lid, 16);
	ck_assert_uint_eq(port(ca->guid, 1)->lmc, 2);
	ck_assert_uint_eq(port(ca->guid, 2)->lid, 8);
	ck_assert_uint_eq(port(ca->guid, 2)->lmc, 3);
	ck_assert_uint_eq(port(ca->guid, 1)->width, WIDTH_8X);
	ck_assert_uint_eq(port(ca->guid, 1)->speed, SPEED_QDR);
	ck_assert_uint_eq(port(b->guid, 3)->width, WIDTH_1X);
	ck_assert_uint_eq(port(b->guid, 3)->speed, SPEED_FDR10);
	ck_assert_uint_eq(port(b->guid, 5)->width, WIDTH_12X);
	ck_assert_uint_eq(port(b->guid, 5)->speed, SPEED_DDR);
	ck_assert_uint_eq(g->sm_port, b->first_port);
}

START_TEST(ibnetdiscover_output)
{
	parse_ok(discovered);
	check_discovered();
}
END_TEST

START_TEST(crlf_and_byte_order_mark)
{
	char *text = arena_alloc(arena, 2 * sizeof(discovered) + 4), *t = text;

	t = stpcpy(t, "\xef\xbb\xbf");
	for (const char *s = discovered; *s; s++) {
		if (*s == '\n') {
			*t++ = '\r';
		}
		*t++ = *s;
	}
	parse_ok(text);
	check_discovered();
}
END_TEST

/*
 * GUIDs as ibsim 0.10 numbers them, read from its console command Dump for this very text
 * (its router got GUID 0, which is none).
 */
START_TEST(nodes_without_guid)
{
	parse_ok("Switch 4 \"swA\" # \"Alpha switch\"\n"
	         "[1] \"hostA\" [1]\n"
	         "\n"
	         "Switch 6 \"S-00000000000000aa\"\n"
	         "\n"
	         "Ca 1 \"hostA\" # \"Host Alpha\"\n"
	         "[1] \"swA\" [1]\n"
	         "\n"
	         "Hca 2 \"hostB\"\n"
	         "\n"
	         "Ca 1 \"hostD\"\n"
	         "\n"
	         "caguid=0x500\n"
	         "Ca 2 \"hostE\"\n"
	         "\n"
	         "Ca 2 \"hostF\"\n"
	         "\n"
	         "switchguid=0x700(700)\n"
	         "Switch 2 \"swD\"\n"
	         "\n"
	         "Switch 2 \"swE\"\n"
	         "Rt 2 \"hostR\"\n");
	static const struct {
		uint64_t guid;
		const char *id, *description;
	} want[] = {
		{ 0x200000, "swA", "Alpha switch" },
		{ 0x200001, "S-00000000000000aa", "S-00000000000000aa" },
		{ 0x100000, "hostA", "Host Alpha" },
		{ 0x100002, "hostB", "hostB" },
		{ 0x100005, "hostD", "hostD" },
		{ 0x500, "hostE", "hostE" },
		{ 0x503, "hostF", "hostF" },
		{ 0x700, "swD", "swD" },
		{ 0x701, "swE", "swE" },
		{ 0x300000, "hostR", "hostR" },
	};
	for (unsigned i = 0; i < N(want); i++) {
		ck_assert_str_eq(node(want[i].guid)->id, want[i].id);
		ck_assert_str_eq(node(want[i].guid)->description, want[i].description);
	}
	ck_assert_uint_eq(g->n_nodes, N(want));
	ck_assert_uint_eq(port(0x100000, 1)->guid, 0x100001);
}
END_TEST

static const struct {
	const char *tail;
	uint8_t width, speed;
} tails[] = {
	{ "", WIDTH_4X, SPEED_SDR },
	{ " w=1", WIDTH_1X, SPEED_SDR },
	{ " w=12 s=2", WIDTH_12X, SPEED_DDR },
	{ "\ts=4 w=8", WIDTH_8X, SPEED_QDR },
	{ " 4xEDR", WIDTH_4X, SPEED_EDR },
	{ " # 4xEDR is what this could be", WIDTH_4X, SPEED_SDR },
	{ " # lid 0 4xHDR", WIDTH_4X, SPEED_HDR },
	{ " # lid off the box", WIDTH_4X, SPEED_SDR },
	{ "# \"b\" lid 7 2xNDR", WIDTH_2X, SPEED_NDR },
	{ " # \"b\" lid 7 8xXDR", WIDTH_8X, SPEED_XDR },
	{ " # \"b \"4xEDR\" b\" lid 7 4xFDR", WIDTH_4X, SPEED_FDR },
	{ " w=1 s=1 # \"b\" lid 7 4xFDR", WIDTH_4X, SPEED_FDR },
};

START_TEST(width_and_speed_of_one_end_serve_both)
{
	parse_ok(arena_printf(arena, "Switch 2 \"a\"\n[1] \"b\"[2]%s\n\nSwitch 2 \"b\"\n",
	                      tails[_i].tail));
	ck_assert_uint_eq(port(0x200000, 1)->width, tails[_i].width);
	ck_assert_uint_eq(port(0x200000, 1)->speed, tails[_i].speed);
	ck_assert_uint_eq(port(0x200001, 2)->width, tails[_i].width);
	ck_assert_uint_eq(port(0x200001, 2)->speed, tails[_i].speed);
}
END_TEST

START_TEST(unknown_link_is_a_warning)
{
	ck_assert_int_eq(
		parse("Switch 1 \"a\"\n[1] \"b\"[1] # \"b\" lid 3 4xZDR\n\nCa 1 \"b\"\n"),
		E_OK);
	ck_assert_uint_eq(diags.n_warnings, 1);
	ck_assert_uint_eq(diags.items[0].line, 2);
	ck_assert_ptr_nonnull(strstr(diags.items[0].text, "4xZDR"));
}
END_TEST

/* Where the SM runs: the first end port in the file. */
static const struct {
	const char *text;
	uint64_t guid;
	unsigned num;
} firsts[] = {
	{ "Switch 2 \"s\"\n[1] \"a\"[1]\n\nCa 1 \"a\"\n", 0x200000, 0 },
	{ "Ca 2 \"a\"\n[2] \"s\"[1]\n[1] \"s\"[2]\n\nSwitch 2 \"s\"\n", 0x100000, 2 },
	{ "Ca 2 \"a\"\n\nSwitch 2 \"s\"\n[1] \"a\"[2]\n", 0x100000, 2 },
	{ "Ca 2 \"a\"\n\nSwitch 2 \"s\"\n", 0x100000, 1 },
};

START_TEST(first_end_port_is_the_sm)
{
	parse_ok(firsts[_i].text);
	ck_assert_uint_eq(g->ports[g->sm_port].num, firsts[_i].num);
	ck_assert_uint_eq(g->nodes[g->ports[g->sm_port].node].guid, firsts[_i].guid);
}
END_TEST

START_TEST(loops_and_one_sided_cables)
{
	parse_ok(
		"Switch 8 \"a\"\n[1] \"a\"[2]\n[3] \"a\"[3]\n[4] \"a\"[5]\n[5] \"a\"[4]\n"
		"\nCa 1 \"b\"\n[1] \"a\"[8]\n");
	ck_assert_uint_eq(g->n_links, 4);
	ck_assert_uint_eq(g->n_adj, 0);
	ck_assert_uint_eq(port(0x200000, 2)->peer,
	                  graph_port(g, port(0x200000, 2)->node, 1));
	ck_assert_uint_eq(port(0x200000, 3)->peer,
	                  graph_port(g, port(0x200000, 3)->node, 3));
	ck_assert_uint_eq(port(0x200000, 8)->peer, port(0x100000, 1) - g->ports);
}
END_TEST

/* ---- what is refused ---- */

#define AB "Switch 2 \"a\"\n[1] \"b\"[1]\n\n" /* three lines; b comes after them */

static const struct {
	const char *text;
	unsigned line;
	const char *message;
} bad[] = {
	{ "", 0, "no nodes" },
	{ "# nothing\n\n", 0, "no nodes" },
	{ "swtich 2 \"a\"\n", 1, "'swtich 2 \"a\"': expected a node" },
	{ "\n\x01\x02\xff\n", 2, "expected a node" },
	{ "Switch x \"a\"\n", 1, "number of ports from 1 to 254" },
	{ "Switch 0 \"a\"\n", 1, "number of ports from 1 to 254" },
	{ "Switch 255 \"a\"\n", 1, "number of ports from 1 to 254" },
	{ "Switch 99999999999999999999 \"a\"\n", 1, "number of ports" },
	{ "Switch \"a\"\n", 1, "number of ports" },
	{ "Switch 2 a\n", 1, "node id in quotes" },
	{ "Switch 2 \"a\n", 1, "node id in quotes" },
	{ "Switch 2 \"\"\n", 1, "node id in quotes" },
	{ "Switch 2\n", 1, "node id in quotes" },
	{ "Switch 2 \"a\" b\n", 1, "remark with '#'" },
	{ "Switch 2 \"a\"\n\nCa 1 \"a\"\n", 3, "\"a\" is used already in line 1" },
	{ "switchguid=0x\nSwitch 2 \"a\"\n", 1, "expected a GUID" },
	{ "switchguid=0\nSwitch 2 \"a\"\n", 1, "expected a GUID" },
	{ "caguid 12\nCa 2 \"a\"\n", 1, "expected a GUID" },
	{ "caguid=0x11112222333344445\nCa 2 \"a\"\n", 1, "expected a GUID" },
	{ "switchguid=0x1(2\nSwitch 2 \"a\"\n", 1, "expected a GUID" },
	{ "vendid=0x1000000\nSwitch 2 \"a\"\n", 1, "up to 0xffffff" },
	{ "devid=0x10000\nSwitch 2 \"a\"\n", 1, "up to 0xffff" },
	{ "devid=zz\nSwitch 2 \"a\"\n", 1, "up to 0xffff" },
	{ "include more.topo\n", 1, "'include' lines of ibsim are not supported" },
	{ "module M\n", 1, "'module' lines of ibsim" },
	{ "do Unlink \"a\"[1]\n", 1, "'do' lines of ibsim" },
	{ "[1] \"a\"[1]\n", 1, "a node line" },
	{ "Switch 2 \"a\"\n\n[1] \"a\"[2]\n", 3, "a node line" },
	{ "Switch 2 \"a\"\n[1] \"a\"\n", 2, "a cable like" },
	{ "Switch 2 \"a\"\n[1 \"a\"[2]\n", 2, "a cable like" },
	{ "Switch 2 \"a\"\n[1](x \"a\"[2]\n", 2, "a cable like" },
	{ "Switch 2 \"a\"\n[1][ext \"a\"[2\n", 2, "a cable like" },
	{ "{ SW Ports:02 SystemGUID:1 NodeGUID:1 PortGUID:1 VenID:1 DevID:1 Rev:0 {a} LID:0001 PN:03 }\n",
	  1, "expected a link like { CA" },
	{ "Switch 2 \"a\"\n[1] \"a\"[2](12\n", 2, "a cable like" },
	{ "Switch 2 \"a\"\n[1] \"a\"[256]\n", 2, "a cable like" },
	{ "Switch 2 \"a\"\n[0] \"a\"[1]\n", 2, "port 0, expected one from 1 to 2" },
	{ "Switch 2 \"a\"\n[3] \"a\"[1]\n", 2, "port 3, expected one from 1 to 2" },
	{ "Switch 2 \"a\"\n[1] \"a\"[0]\n", 2, "port 0 has no cable" },
	{ AB "Switch 2 \"b\"\n[1] \"a\"[1] w=3\n", 5, "w=1|2|4|8|12" },
	{ AB "Switch 2 \"b\"\n[1] \"a\"[1] s=8\n", 5, "s=1|2|4" },
	{ AB "Switch 2 \"b\"\n[1] \"a\"[1] fast\n", 5, "behind the far port" },
	{ AB "Switch 2 \"b\" # \"b\" base port 0 lid 16777216 lmc 0\n", 4,
	  "up to 16777215" },
	{ AB "Switch 2 \"b\" # \"b\" base port 0 lid 1 lmc 8\n", 4, "LMC from 0 to 7" },
	{ AB "Ca 2 \"b\"\n[1] \"a\"[1] # lid 1 lmc 9 \"a\" lid 2 4xSDR\n", 5,
	  "LMC from 0" },
	{ AB, 2, "cable to \"b\", but no node has this id" },
	{ AB "\nCa 1 \"c\"\n[1] \"d\"[1]\n", 6,
	  "cable to \"d\", but no node has this id" },
	{ "Switch 2 \"a\"\n[1] \"b\"[4]\n\nSwitch 3 \"b\"\n", 2,
	  "port 4 of \"b\", which has ports 1 to 3 (line 4)" },
	{ AB "Switch 3 \"b\"\n[1] \"a\"[2]\n", 2,
	  "\"a\"[1] leads to \"b\"[1] here, but line 5 says that \"b\"[1] leads to \"a\"[2]" },
	{ AB "Switch 3 \"b\"\n\nCa 1 \"c\"\n[1] \"b\"[1]\n", 7,
	  "\"b\"[1] is at the end of this cable and of that in line 2" },
	{ "Switch 2 \"a\"\n[1] \"b\"[1]\n[1] \"b\"[2]\n\nSwitch 3 \"b\"\n", 3,
	  "\"a\"[1] is cabled already in line 2" },
	{ "Switch 2 \"a\"\n[1] \"b\"[1] 4xEDR\n\nSwitch 3 \"b\"\n[1] \"a\"[1] 4xHDR\n", 5,
	  "\"b\"[1] is 4xHDR here, but the other end says 4xEDR in line 2" },
	{ "Switch 2 \"a\"\n[1] \"b\"[1](1234)\n\nCa 3 \"b\"\n[1](1235) \"a\"[1]\n", 2,
	  "different PortGUIDs for \"b\"[1]" },
	{ "caguid=0x5\nCa 1 \"a\"\n\ncaguid=5\nCa 1 \"b\"\n", 5,
	  "NodeGUID 0x0000000000000005 of ca \"b\" is already that of ca \"a\" (line 2)" },
	{ "caguid=5\nCa 1 \"a\"\n[1] \"b\"[1]\n\ncaguid=6\nCa 1 \"b\"\n[1](6) \"a\"[1]\n",
	  6,
	  "PortGUID 0x0000000000000006 of ca \"b\" is already that of ca \"a\" (line 2)" },
};

START_TEST(bad_text_is_named_with_its_line)
{
	static const char tail[] = "\nCa 1 \"ok\"\n";

	ck_assert_int_eq(parse(bad[_i].text), E_SYNTAX);
	ck_assert_ptr_null(g);
	const struct diag *first = NULL;
	for (unsigned i = 0; i < diags.n && !first; i++) {
		bool found = strstr(diags.items[i].text, bad[_i].message) != NULL;
		first = found ? &diags.items[i] : NULL;
	}
	ck_assert_msg(first, "'%s' instead of '%s'", diags_first_error(&diags),
	              bad[_i].message);
	ck_assert_uint_eq(first->line, bad[_i].line);
	ck_assert_str_eq(first->file, "t");
	ck_assert_int_eq(first->level, DIAG_ERROR);

	if (bad[_i].line) { /* a good block behind the error does not hide it */
		ck_assert_int_eq(parse(arena_printf(arena, "%s%s", bad[_i].text, tail)),
		                 E_SYNTAX);
	}
	ck_assert_int_eq(topo_parse(bad[_i].text, strlen(bad[_i].text), "t", true, arena,
	                            NULL, &g),
	                 E_SYNTAX);
}
END_TEST

/* The same texts with a good block behind: read all the same, and the warning says what
 * is done. */
START_TEST(bad_text_is_skipped_unless_strict)
{
	const char *text = arena_printf(arena,
	                                "%s\nCa 1 \"fine\"\n[1] \"fine too\"[1]\n\n"
	                                "Ca 1 \"fine too\"\n",
	                                bad[_i].text);

	int ret = topo_parse(text, strlen(text), "t", false, arena, &diags, &g);
	ck_assert_msg(ret == E_OK, "%s", diags_first_error(&diags));
	graph_check(g);
	ck_assert_uint_ge(g->n_links, 1);
	ck_assert_uint_ne(g->sm_port, GRAPH_NONE);
	if (!bad[_i].line) {
		return;
	}
	const struct diag *first = NULL;
	for (unsigned i = 0; i < diags.n && !first; i++) {
		bool found = strstr(diags.items[i].text, bad[_i].message) != NULL;
		first = found ? &diags.items[i] : NULL;
	}
	ck_assert_msg(first, "'%s' is not told", bad[_i].message);
	ck_assert_uint_eq(first->line, bad[_i].line);
	ck_assert_int_eq(first->level, DIAG_WARNING);
	ck_assert_ptr_nonnull(strrchr(first->text, ';'));
}
END_TEST

START_TEST(all_errors_are_reported)
{
	ck_assert_int_eq(
		parse("Switch 2 \"a\"\n[1] \"b\"[1]\n[2] \"c\"[1]\n\nCa 0 \"b\"\n"
	              "\nfoo\nvendid=q\nCa 1 \"d\"\n[1] \"d\"[7]\n"),
		E_SYNTAX);
	static const unsigned lines[] = { 5, 7, 8, 3,
		                          10 }; /* nothing about b: it was wrong */
	ck_assert_uint_eq(diags.n_errors, N(lines));
	for (unsigned i = 0; i < N(lines); i++) {
		ck_assert_uint_eq(diags.items[i].line, lines[i]);
	}
}
END_TEST

/* ---- fabric files ---- */

static const char *fabric(const char *name)
{
	const char *dir = getenv("srcdir");

	return arena_printf(arena, "%s/tests/fabrics/%s", dir ? dir : ".", name);
}

static const struct {
	const char *name;
	int ret;
	uint32_t switches, hosts, links, parts;
} files[] = {
	{ "demo-648.topo", E_OK, 54, 648, 1296, 1 },
	{ "two-switch.topo", E_OK, 2, 4, 6, 1 },
	{ "ring-4.topo", E_OK, 4, 8, 12, 1 },
	{ "split.topo", E_OK, 4, 4, 5, 3 },
	{ "dual-port.topo", E_OK, 2, 5, 7, 1 },
	{ "router.topo", E_OK, 2, 4, 5, 1 },
	{ "back-to-back.topo", E_OK, 0, 2, 1, 1 },
	{ "bad/duplicate-guid.topo", E_SYNTAX, 0, 0, 0, 0 },
	{ "bad/truncated.topo", E_SYNTAX, 0, 0, 0, 0 },
};

START_TEST(fabric_files)
{
	uint32_t *part, n;

	int ret = topo_read(fabric(files[_i].name), true, arena, &diags, &g);
	ck_assert_msg(ret == files[_i].ret, "%s: %d %s", files[_i].name, ret,
	              diags_first_error(&diags));
	if (ret != E_OK) {
		ck_assert_uint_gt(diags.n_errors, 0);
		return;
	}
	graph_check(g);
	ck_assert_uint_eq(g->n_switches, files[_i].switches);
	ck_assert_uint_eq(g->n_hosts, files[_i].hosts);
	ck_assert_uint_eq(g->n_links, files[_i].links);
	ck_assert_int_eq(graph_check_components(g, arena, &part, &n), E_OK);
	ck_assert_uint_eq(n, files[_i].parts);
}
END_TEST

/* ---- writing ---- */

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

static struct graph *generate(const char *kind, int argc, char **argv, double fail,
                              uint32_t seed)
{
	const struct topogen_opts o = { .fail = fail, .seed = seed };
	struct graph *made = NULL;

	ck_assert_int_eq(topogen(kind, argc, argv, &o, arena, &diags, &made), E_OK);
	return made;
}

START_TEST(demo_is_what_its_first_line_says)
{
	char *argv[] = { "36", "18", "18" };

	ck_assert_int_eq(topo_read(fabric("demo-648.topo"), true, arena, &diags, &g),
	                 E_OK);
	graph_check_same(g, generate("ft2", 3, argv, 0, 1));
}
END_TEST

/* Values that text can carry, on everything: what is written must be what is read. */
static void decorate(struct graph *x, unsigned seed)
{
	static const uint8_t widths[] = { WIDTH_1X, WIDTH_2X, WIDTH_4X, WIDTH_8X,
		                          WIDTH_12X };
	static const char *const names[] = {
		"",    "plain", "two words",   "q\"uo\"te",
		"#\"", "4xEDR", "lid 3 lmc 1", "umlaut \xc3\xa4"
	};

	srand(seed);
	for (uint32_t i = 0; i < x->n_nodes; i++) {
		struct node *n = &x->nodes[i];
		n->description = names[(unsigned)rand() % N(names)];
		n->system_image_guid = rand() % 2 ? 0 : n->guid + 3;
		n->vendor_id = (uint32_t)rand() % 0x1000000;
		n->device_id = (uint16_t)(rand() % 0x10000);
		n->esp0 = n->type == NODE_SWITCH && rand() % 2;
		if (rand() % 16 == 0) {
			n->id = NULL; /* as in a discovered fabric */
		}
	}
	for (uint32_t i = 0; i < x->n_end_ports; i++) {
		struct port *p = &x->ports[x->end_ports[i]];
		p->lid = (uint32_t)rand() % 0xc000;
		p->lmc = (uint8_t)(rand() % 8);
	}
	for (uint32_t i = 0; i < x->n_ports; i++) {
		struct port *p = &x->ports[i];
		if (p->peer != GRAPH_NONE && p->peer > i) {
			p->width = x->ports[p->peer].width =
				widths[(unsigned)rand() % N(widths)];
			p->speed = x->ports[p->peer].speed =
				(uint8_t)(rand() % SPEED_COUNT);
		}
	}
	x->sm_port = x->end_ports[(uint32_t)rand() % x->n_end_ports];
}

START_TEST(written_and_read_again)
{
	static char *args[][4] = {
		{ "4", "3", "2", "2" }, { "4" },      { "3x3", "2" },
		{ "2x3x2", "1" },       { "5", "0" },
	};
	static const struct {
		const char *kind;
		int argc;
	} kinds[] = {
		{ "ft2", 4 }, { "ft3", 1 }, { "torus", 2 }, { "mesh", 2 }, { "torus", 2 }
	};
	unsigned kind = (unsigned)_i % N(kinds), seed = (unsigned)_i + 1;

	g = generate(kinds[kind].kind, kinds[kind].argc, args[kind], seed % 4 * 0.1,
	             seed);
	decorate(g, seed);
	struct graph *copy = again(g);
	graph_check(copy);
	graph_check_same(g, copy);
}
END_TEST

START_TEST(fabric_files_written_and_read_again)
{
	if (files[_i].ret != E_OK) {
		return;
	}
	ck_assert_int_eq(topo_read(fabric(files[_i].name), true, arena, &diags, &g),
	                 E_OK);
	struct graph *copy = again(g);
	graph_check_same(g, copy);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		ck_assert_str_eq(g->nodes[i].id, copy->nodes[i].id);
	}
}
END_TEST

START_TEST(ids_that_cannot_be_written_are_replaced)
{
	uint32_t a, b;
	static const char *const ids[][2] = {
		{ "same", "same" },
		{ "a", NULL },
		{ "a", "" },
		{ "a", "b\"" },
		{ "a#", "b" },
		{ "a",
		  "a-very-long-id-a-very-long-id-a-very-long-id-a-very-long-id-a-very-long-id" },
	};

	g = graph_new(arena);
	ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 1, 2, "x\ny", ids[_i][0], &a),
	                 E_OK);
	ck_assert_int_eq(graph_add_node(g, NODE_ROUTER, 2, 2, "z", ids[_i][1], &b), E_OK);
	ck_assert_int_eq(graph_connect(g, graph_port(g, a, 1), graph_port(g, b, 2)),
	                 E_OK);
	ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
	struct graph *copy = again(g);
	ck_assert_uint_eq(copy->n_links, 1);
	ck_assert_str_eq(copy->nodes[0].id, "S-0000000000000001");
	ck_assert_str_eq(copy->nodes[1].id, "R-0000000000000002");
	ck_assert_str_eq(copy->nodes[0].description, "x y");
}
END_TEST

START_TEST(full_disk_is_an_error)
{
	char *argv[] = { "6" };
	FILE *f = fopen("/dev/full", "w");

	if (!f) {
		return; /* not on this system */
	}
	ck_assert_int_eq(topo_write(generate("ft3", 1, argv, 0, 1), f), -EIO);
	fclose(f);
}
END_TEST

/* ---- damage ---- */

/* Cuts, flips, deletions, repeated pieces and other bytes at random places. */
static size_t damage(char *text, size_t len, size_t room)
{
	unsigned n = (unsigned)rand() % 8 + 1;

	for (unsigned i = 0; i < n && len; i++) {
		size_t at = (size_t)rand() % len, piece = (size_t)rand() % 40;
		piece = piece > len - at ? len - at : piece;
		switch (rand() % 6) {
		case 0: len = at; break;
		case 1: text[at] = (char)rand(); break;
		case 2: text[at] = "[]\"()#=0 9\n\r\txw"[rand() % 16]; break;
		case 3:
			memmove(text + at, text + at + piece, len - at - piece);
			len -= piece;
			break;
		case 4:
			if (len + piece < room) {
				memmove(text + at + piece, text + at, len - at);
				len += piece;
			}
			break;
		case 5:
			memmove(text + (size_t)rand() % (len - piece + 1), text + at,
			        piece);
			break;
		}
	}
	return len;
}

/* A written fabric reads back the same, unless its SM has lost its cable. */
static void check_written(const struct graph *was)
{
	struct graph *copy = again(was);
	const struct port *sm = &was->ports[was->sm_port];

	if (sm->num && sm->peer == GRAPH_NONE) {
		ck_assert_uint_eq(copy->n_links, was->n_links);
		return;
	}
	graph_check_same(was, copy);
}

START_TEST(damaged_text_never_crashes)
{
	unsigned seed = (unsigned)_i + 1, good = 0;
	size_t room = 2 * sizeof(discovered);

	srand(seed);
	for (unsigned i = 0; i < 400; i++) {
		/* A block of its own size, so that a sanitizer sees the first byte too
		 * far. */
		char *text = malloc(room);
		memcpy(text, discovered, sizeof(discovered));
		size_t len = damage(text, sizeof(discovered) - 1, room);
		char *exact = malloc(len + !len);
		memcpy(exact, text, len);
		diags_init(&diags, arena);
		g = NULL;
		int ret = topo_parse(exact, len, "t", true, arena, &diags, &g);
		ck_assert_msg(ret == E_OK || ret == E_SYNTAX, "seed %u: %d", seed, ret);
		ck_assert_msg((ret == E_OK) == (diags.n_errors == 0), "seed %u", seed);
		if (ret == E_OK) {
			graph_check(g);
			graph_check_same(g, again(g));
			good++;
		}
		struct graph *strict = g;
		diags_init(&diags, arena);
		g = NULL;
		int ret2 = topo_parse(exact, len, "t", false, arena, &diags, &g);
		ck_assert_msg(ret2 == E_OK || ret2 == E_SYNTAX, "seed %u: %d", seed,
		              ret2);
		if (ret2 == E_OK) {
			graph_check(g);
			check_written(g);
		}
		if (ret == E_OK) {
			ck_assert_int_eq(ret2, E_OK);
			graph_check_same(g, strict);
		}
		free(exact);
		free(text);
	}
	ck_assert_msg(good < 400, "seed %u: nothing was damaged", seed);
}
END_TEST

START_TEST(random_bytes_never_crash)
{
	char text[300];

	srand((unsigned)_i + 1);
	for (unsigned i = 0; i < 400; i++) {
		size_t len = (size_t)rand() % sizeof(text);
		for (size_t k = 0; k < len; k++) {
			text[k] = (char)(rand() % 3 ? rand() : '\n');
		}
		diags_init(&diags, arena);
		ck_assert_int_eq(topo_parse(text, len, "t", true, arena, &diags, &g),
		                 E_SYNTAX);
	}
}
END_TEST

TEST_SUITE(topofile)
{
	TCase *t = tcase_create("topofile");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, ibnetdiscover_output);
	tcase_add_test(t, crlf_and_byte_order_mark);
	tcase_add_test(t, nodes_without_guid);
	tcase_add_loop_test(t, width_and_speed_of_one_end_serve_both, 0, N(tails));
	tcase_add_test(t, unknown_link_is_a_warning);
	tcase_add_loop_test(t, first_end_port_is_the_sm, 0, N(firsts));
	tcase_add_test(t, loops_and_one_sided_cables);
	tcase_add_loop_test(t, bad_text_is_named_with_its_line, 0, N(bad));
	tcase_add_loop_test(t, bad_text_is_skipped_unless_strict, 0, N(bad));
	tcase_add_test(t, all_errors_are_reported);
	tcase_add_loop_test(t, fabric_files, 0, N(files));
	tcase_add_test(t, demo_is_what_its_first_line_says);
	tcase_add_loop_test(t, written_and_read_again, 0, 40);
	tcase_add_loop_test(t, fabric_files_written_and_read_again, 0, N(files));
	tcase_add_loop_test(t, ids_that_cannot_be_written_are_replaced, 0, 6);
	tcase_add_test(t, full_disk_is_an_error);
	tcase_add_loop_test(t, damaged_text_never_crashes, 0, 10);
	tcase_add_loop_test(t, random_bytes_never_crash, 0, 4);
	suite_add_tcase(suite, t);
}
