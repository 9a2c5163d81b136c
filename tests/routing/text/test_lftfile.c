/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/text/lftfile.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

static struct arena *arena;
static struct diags diags;
static char *path;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	path = temp_file("", arena);
}

static void teardown(void)
{
	unlink(path);
	arena_free(arena);
}

static char *get(void)
{
	FILE *f = fopen(path, "r");
	char *text = arena_alloc(arena, 1 << 20);

	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/*
 * Two switches with a host each. Written by opensm 3.3.23 over ibsim 0.10 ("opensm -o -D
 * 0x43", opensm-lfts.dump) for the net that "saguaro topo mesh 2 1" makes.
 */
/* clang-format off */
static const char from_opensm[] =
	"Unicast lids [0-4] of switch Lid 2 guid 0x0002c90300000000 ('t-000'):\n"
	"0x0001 003 # Channel Adapter portguid 0x0002c90400000001: 'node1'\n"
	"0x0002 000 # Switch portguid 0x0002c90300000000: 't-000'\n"
	"0x0003 001 # Switch portguid 0x0002c90300001000: 't-001'\n"
	"0x0004 001 # Channel Adapter portguid 0x0002c90400001001: 'node2'\n"
	"4 lids dumped\n"
	"Unicast lids [0-4] of switch Lid 3 guid 0x0002c90300001000 ('t-001'):\n"
	"0x0001 002 # Channel Adapter portguid 0x0002c90400000001: 'node1'\n"
	"0x0002 002 # Switch portguid 0x0002c90300000000: 't-000'\n"
	"0x0003 000 # Switch portguid 0x0002c90300001000: 't-001'\n"
	"0x0004 003 # Channel Adapter portguid 0x0002c90400001001: 'node2'\n"
	"4 lids dumped\n";

/* The same by "dump_lfts" of infiniband-diags 44: other headers, other order, other remarks. */
static const char from_diags[] =
	"Unicast lids [0x0-0x4] of switch DR path slid 0; dlid 0; 0,1,1 guid 0x0002c90300001000 (t-001):\n"
	"  Lid  Out   Destination\n"
	"       Port     Info \n"
	"0x0001 002 : (Channel Adapter portguid 0x0002c90400000001: 'node1')\n"
	"0x0002 002 : (Switch portguid 0x0002c90300000000: 't-000')\n"
	"0x0003 000 : (Switch portguid 0x0002c90300001000: 't-001')\n"
	"0x0004 003 : (Channel Adapter portguid 0x0002c90400001001: 'node2')\n"
	"4 valid lids dumped \n"
	"Unicast lids [0x0-0x4] of switch DR path slid 0; dlid 0; 0,1 guid 0x0002c90300000000 (t-000):\n"
	"  Lid  Out   Destination\n"
	"       Port     Info \n"
	"0x0001 003 : (Channel Adapter portguid 0x0002c90400000001: 'node1')\n"
	"0x0002 000 : (Switch portguid 0x0002c90300000000: 't-000')\n"
	"0x0003 001 : (Switch portguid 0x0002c90300001000: 't-001')\n"
	"0x0004 001 : (Channel Adapter portguid 0x0002c90400001001: 'node2')\n"
	"4 valid lids dumped \n";
/* clang-format on */

/* The fabric of those dumps. */
static struct graph *dumped_fabric(void)
{
	struct graph *g = graph_new(arena);
	uint32_t s0, s1, h0, h1;

	ck_assert_int_eq(
		graph_add_node(g, NODE_SWITCH, 0x2c90300000000, 3, "t-000", NULL, &s0),
		E_OK);
	ck_assert_int_eq(
		graph_add_node(g, NODE_SWITCH, 0x2c90300001000, 3, "t-001", NULL, &s1),
		E_OK);
	ck_assert_int_eq(
		graph_add_node(g, NODE_CA, 0x2c90400000000, 1, "node1", NULL, &h0), E_OK);
	ck_assert_int_eq(
		graph_add_node(g, NODE_CA, 0x2c90400001000, 1, "node2", NULL, &h1), E_OK);
	ck_assert_int_eq(graph_connect(g, graph_port(g, s0, 1), graph_port(g, s1, 2)),
	                 E_OK);
	ck_assert_int_eq(graph_connect(g, graph_port(g, s0, 3), graph_port(g, h0, 1)),
	                 E_OK);
	ck_assert_int_eq(graph_connect(g, graph_port(g, s1, 3), graph_port(g, h1, 1)),
	                 E_OK);
	ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
	return g;
}

static struct lft minhop(const struct graph *g, const struct lids *l)
{
	struct route_in in = { .g = g, .lids = l };
	struct route_out *out = arena_alloc(arena, sizeof(*out));

	ck_assert_int_eq(engine_find("minhop")->route(&in, arena, out), E_OK);
	return out->lft;
}

static void write_lfts(const struct graph *g, const struct lids *l, const struct lft *lft)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(lftfile_write(g, l, lft, f), E_OK);
	fclose(f);
}

/* A dump of OpenSM is read, and written again byte by byte; one of infiniband-diags is the same. */
START_TEST(dumps_of_others)
{
	struct graph *g = dumped_fabric();
	struct lft lft;
	struct lids l;

	temp_file_write(path, _i ? from_diags : from_opensm);
	ck_assert_int_eq(lftfile_read(path, g, 0, arena, &diags, &lft, &l), E_OK);
	ck_assert_uint_eq(diags.n_errors + diags.n_warnings, 0);
	ck_assert_uint_eq(l.top, 4);
	ck_assert_uint_eq(l.count, 4);
	ck_assert_uint_eq(l.of[graph_port_by_guid(g, 0x2c90400001001)].base, 4);
	ck_assert_uint_eq(lft_row(&lft, 0)[4], 1);
	ck_assert_uint_eq(lft_row(&lft, 1)[3], 0);
	ck_assert_uint_eq(lft_row(&lft, 1)[0], LFT_NO_ROUTE);
	write_lfts(g, &l, &lft);
	ck_assert_str_eq(get(), from_opensm);
}
END_TEST

static const char *const fabrics[] = { "ft2 4 3 2", "ft3 4", "torus 3x3 2" };

/* Written and read again: the same tables and LIDs. */
START_TEST(round_trip)
{
	struct graph *g = fabric_make(fabrics[_i % 3], 0, 1, arena);
	struct lids l = fabric_lids(g, (uint32_t)_i / 3, 0, arena), back;
	struct lft lft = minhop(g, &l), read, again;

	write_lfts(g, &l, &lft);
	ck_assert_int_eq(lftfile_read(path, g, 0, arena, &diags, &read, &back), E_OK);
	ck_assert_uint_eq(diags.n_errors + diags.n_warnings, 0);
	ck_assert_uint_eq(back.top, l.top);
	ck_assert_mem_eq(back.owner, l.owner, (l.top + 1) * sizeof(*l.owner));
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		ck_assert_uint_eq(back.of[g->end_ports[i]].base,
		                  l.of[g->end_ports[i]].base);
		ck_assert_uint_eq(back.of[g->end_ports[i]].lmc,
		                  l.of[g->end_ports[i]].lmc);
	}
	ck_assert_uint_eq(read.stride, lft.stride);
	ck_assert_mem_eq(read.rows, lft.rows, lft.n_switches * lft.stride);
	ck_assert_int_eq(lftfile_read(path, g, 0, arena, &diags, &again, NULL), E_OK);
	ck_assert_mem_eq(again.rows, lft.rows, lft.n_switches * lft.stride);
}
END_TEST

/* LIDs of more than 16 bits up to the limit that is given, and none above it. */
START_TEST(lids_of_24_bits)
{
	enum { HIGH = 0x12345 };
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lids l = fabric_lids_high(g, HIGH, arena), back;
	struct lft lft = minhop(g, &l), read;
	struct lanes lanes;

	write_lfts(g, &l, &lft);
	ck_assert_int_eq(lftfile_read(path, g, HIGH, arena, &diags, &read, &back), E_OK);
	ck_assert_uint_eq(back.top, HIGH);
	ck_assert_uint_eq(back.owner[HIGH], l.owner[HIGH]);
	ck_assert_uint_eq(read.stride, lft.stride);
	ck_assert_mem_eq(read.rows, lft.rows, lft.n_switches * lft.stride);
	temp_file_write(
		path,
		"Unicast lids [0-4] of switch Lid 2 guid 0x0002c90300000000 ('t-000'):\n"
		"0x12345 3\n");
	ck_assert_int_eq(lftfile_read_sl(path, g, &read, arena, &diags, &lanes), E_OK);
	ck_assert_uint_eq(lane_of(&lanes, 0, HIGH), 3);
	ck_assert_uint_eq(diags.n_errors, 0);
	write_lfts(g, &l, &lft);
	for (uint32_t limit = HIGH - 1;; limit = 0) {
		diags_init(&diags, arena);
		ck_assert_int_eq(
			lftfile_read(path, g, limit, arena, &diags, &read, &back),
			E_SYNTAX);
		ck_assert_uint_eq(diags.n_errors, g->n_switches);
		ck_assert_ptr_nonnull(strstr(diags.items[0].text, "unicast_lid_limit"));
		if (limit == 0) {
			break;
		}
	}
}
END_TEST

/* A dump that does not fit on the disk is an error of the writer. */
START_TEST(full_disk)
{
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	FILE *f = fopen("/dev/full", "w");

	if (f == NULL) {
		return; /* no such device here */
	}
	ck_assert_int_eq(lftfile_write(g, &l, &lft, f), -EIO);
	fclose(f);
}
END_TEST

/* Ports that the file leaves out need LIDs, too. */
START_TEST(no_room_above)
{
	struct graph *g = dumped_fabric();
	struct lft lft;
	struct lids l;

	temp_file_write(
		path,
		"Unicast lids [0-4] of switch Lid 2 guid 0x0002c90300000000 ('t-000'):\n"
		"0x0004 003 # c portguid 0x0002c90400000001: 'node1'\n");
	ck_assert_int_eq(lftfile_read(path, g, 6, arena, &diags, &lft, &l), E_SYNTAX);
	ck_assert_ptr_nonnull(
		strstr(diags.items[diags.n - 1].text, "more than 6 LIDs"));
	ck_assert_int_eq(lftfile_read(path, g, 7, arena, &diags, &lft, &l), E_OK);
	ck_assert_uint_eq(l.top, 7);
}
END_TEST

START_TEST(lanes_round_trip)
{
	uint64_t seed = 5;
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct lft lft = minhop(g, &l);
	struct lanes lanes = { .stride = lft.stride, .n = 6 }, back;
	FILE *f = fopen(path, "w");

	lanes.rows = arena_array(arena, lft.n_switches, lft.stride);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			if (l.owner[lid] != GRAPH_NONE) {
				lanes.rows[s * lanes.stride + lid] =
					(uint8_t)random_below(&seed, 6);
			}
		}
	}
	ck_assert_int_eq(lftfile_write_sl(g, &l, &lanes, f), E_OK);
	fclose(f);
	ck_assert_int_eq(lftfile_read_sl(path, g, &lft, arena, &diags, &back), E_OK);
	ck_assert_uint_eq(back.n, 6);
	ck_assert_uint_eq(back.stride, lanes.stride);
	ck_assert_mem_eq(back.rows, lanes.rows, lft.n_switches * lft.stride);
}
END_TEST

#define HEAD0 "Unicast lids [0-4] of switch Lid 2 guid 0x0002c90300000000 ('t-000'):\n"

/* clang-format off */
static const struct {
	const char *text;
	unsigned line;
	const char *says;
} bad[] = {
	{ "",                                   0, "no 'Unicast lids' header: not a dump" },
	{ "root:x:0:0:\nbin:x:1:1:\n",          0, "no 'Unicast lids' header: not a dump" },
	{ HEAD0 "0x0001 004 # x\n",             2, "no such port" },
	{ HEAD0 "0x0001 254\n",                 2, "no such port" },
	{ HEAD0 "0x0001 256\n",                 2, "expected '0xLID PORT" },
	{ HEAD0 "0x0001\n",                     2, "expected '0xLID PORT" },
	{ HEAD0 "0x0001 three\n",               2, "expected '0xLID PORT" },
	{ HEAD0 "0x0001 1x\n",                  2, "expected '0xLID PORT" },
	{ HEAD0 "0x1 -1\n",                     2, "expected '0xLID PORT" },
	{ HEAD0 "0xzz 1\n",                     2, "expected '0xLID PORT" },
	{ HEAD0 "0x0000 1\n",                   2, "not a unicast LID" },
	{ HEAD0 "0xc000 1\n",                   2, "not a unicast LID" },
	{ HEAD0 "0xffffffffffff 1\n",           2, "expected '0xLID PORT" },
	{ HEAD0 "\n\n" HEAD0,                   4, "a second table" },
	{ "\n0x0001 001 # early\n",             2, "before any 'Unicast lids' header" },
	{ "Unicast lids [0-4] of switch ('t')\n", 1, "without ' guid 0x" },
	{ "Unicast lids of guid 0x1234 ('t')\n", 1, "no switch with this GUID" },
	{ "Unicast lids guid 0x2c90400000000\n", 1, "no switch with this GUID" },
	{ "Multicast mlids [0xc000-0xc3ff]\n",  1, "multicast" },
	{ HEAD0 "0x0001 003 # c portguid 0x0002c90400000001:\n"
	        "0x0003 001 # c portguid 0x0002c90400000001:\n", 0, "not one aligned range" },
	{ HEAD0 "0x0001 003 # c portguid 0x0002c90400000001:\n"
	        "0x0002 003 # c portguid 0x0002c90400000001:\n", 0, "not one aligned range" },
	{ HEAD0 "0x0001 003 # c portguid 0x0002c90400000001:\n"
	        "0x0001 003 # c portguid 0x0002c90400001001:\n", 3, "another port GUID" },
};
/* clang-format on */

START_TEST(bad_files)
{
	struct graph *g = dumped_fabric();
	struct lft lft = { .stride = 7 };
	struct lids l;

	temp_file_write(path, bad[_i].text);
	ck_assert_int_eq(lftfile_read(path, g, 0, arena, &diags, &lft, &l), E_SYNTAX);
	ck_assert_uint_eq(lft.stride, 7);
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_uint_eq(diags.items[0].line, bad[_i].line);
	ck_assert_msg(strstr(diags.items[0].text, bad[_i].says) != NULL, "%s",
	              diags.items[0].text);
}
END_TEST

/* A program, zeros without an end, a line without an end: one sentence. */
START_TEST(binary_data)
{
	static const char *const paths[] = { "/proc/self/exe", "/dev/zero", NULL };
	struct graph *g = dumped_fabric();
	struct lft lft;
	char *text = arena_alloc(arena, 100001);

	temp_file_write(path, memset(text, '0', 100000));
	ck_assert_int_eq(lftfile_read(paths[_i] ? paths[_i] : path, g, 0, arena, &diags,
	                              &lft, NULL),
	                 E_SYNTAX);
	ck_assert_uint_eq(diags.n, 1);
	ck_assert_str_eq(
		diags.items[0].text,
		"holds binary data, not text: expected a dump of forwarding tables");
}
END_TEST

START_TEST(every_error_is_reported)
{
	struct graph *g = dumped_fabric();
	struct lft lft;

	temp_file_write(path, HEAD0
	                "0x0001 009\n0x0002 001\n0x0003 oops\nother words\n0x0004 010\n");
	ck_assert_int_eq(lftfile_read(path, g, 0, arena, &diags, &lft, NULL), E_SYNTAX);
	ck_assert_uint_eq(diags.n_errors, 3);
	ck_assert_uint_eq(diags.items[2].line, 6);
	ck_assert_int_eq(lftfile_read("/nonexistent/file", g, 0, arena, &diags, &lft, NULL),
	                 -ENOENT);
	ck_assert_uint_eq(diags.n_errors, 4);
}
END_TEST

/* A switch and a host that the file does not mention: warnings, and LIDs to prove them
 * by. */
START_TEST(left_out)
{
	struct graph *g = dumped_fabric();
	struct lft lft;
	struct lids l;

	temp_file_write(
		path, HEAD0
		"0x0001 003 # c portguid 0x0002c90400000001: 'node1'\n"
		"0x0002 000 # s portguid 0x0002c90300000000: 't-000'\n"
		"0x0003 001 # s portguid 0x0002c90300001000: 't-001'\n"
		"0x0009 001 # gone portguid 0x0000000000001234: 'not in the fabric'\n");
	ck_assert_int_eq(lftfile_read(path, g, 0, arena, &diags, &lft, &l), E_OK);
	ck_assert_uint_eq(diags.n_errors, 0);
	ck_assert_uint_eq(diags.n_warnings, 2);
	ck_assert_uint_eq(l.count, 4);
	ck_assert_uint_eq(l.of[graph_port_by_guid(g, 0x2c90400001001)].base, 10);
	ck_assert_uint_eq(l.top, 10);
	ck_assert_uint_eq(l.owner[9], GRAPH_NONE);
	ck_assert_uint_eq(lft.n_lids, 11);
	ck_assert_uint_eq(lft_row(&lft, 0)[10], LFT_NO_ROUTE);
	ck_assert_uint_eq(lft_row(&lft, 1)[1], LFT_NO_ROUTE);
}
END_TEST

START_TEST(bad_sls)
{
	struct graph *g = dumped_fabric();
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	struct lanes lanes;

	temp_file_write(path, HEAD0 "0x0001 15\n0x0002 16\n");
	ck_assert_int_eq(lftfile_read_sl(path, g, &lft, arena, &diags, &lanes), E_SYNTAX);
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_uint_eq(diags.items[0].line, 3);
}
END_TEST

/* Any damage: an error or tables, never a crash. */
START_TEST(damaged)
{
	uint64_t seed = (uint64_t)_i + 1;
	struct graph *g = dumped_fabric();
	char *text = arena_strdup(arena, _i % 2 ? from_opensm : from_diags);
	size_t len = strlen(text);
	struct lft lft;
	struct lids l;
	int ret;

	for (unsigned k = 1 + random_below(&seed, 6); k; k--) {
		text[random_below(&seed, (uint32_t)len)] =
			(char)(1 + random_below(&seed, 255));
	}
	if (_i % 5 == 0) {
		text[random_below(&seed, (uint32_t)len)] = '\0';
	}
	temp_file_write(path, text);
	ret = lftfile_read(path, g, 0, arena, &diags, &lft, &l);
	ck_assert(ret == E_OK || ret == E_SYNTAX);
	ck_assert_int_eq(ret == E_SYNTAX, diags.n_errors > 0);
}
END_TEST

TEST_SUITE(lftfile)
{
	TCase *t = tcase_create("lftfile");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, dumps_of_others, 0, 2);
	tcase_add_loop_test(t, round_trip, 0, 12);
	tcase_add_test(t, lids_of_24_bits);
	tcase_add_test(t, full_disk);
	tcase_add_test(t, no_room_above);
	tcase_add_test(t, lanes_round_trip);
	tcase_add_loop_test(t, bad_files, 0, sizeof(bad) / sizeof(*bad));
	tcase_add_loop_test(t, binary_data, 0, 3);
	tcase_add_test(t, every_error_is_reported);
	tcase_add_test(t, left_out);
	tcase_add_test(t, bad_sls);
	tcase_add_loop_test(t, damaged, 0, 200);
	suite_add_tcase(suite, t);
}
