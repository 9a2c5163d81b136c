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
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/matrix.h"
#include "routing/text/matrixfile.h"
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

static struct hops plain_hops(const struct graph *g)
{
	struct hops h;

	ck_assert_int_eq(hops_init(&h, g, arena), E_OK);
	return h;
}

/* The file that the writer makes of a fabric. */
static char *written(const struct graph *g, const struct lids *l)
{
	struct hops h = plain_hops(g);
	char *text = NULL, *copy;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_int_eq(matrixfile_write(g, l, &h, f), E_OK);
	fclose(f);
	copy = arena_strdup(arena, text);
	free(text);
	return copy;
}

static struct matrix_dump *read_dump(const char *text)
{
	struct matrix_dump *dump = arena_alloc(arena, sizeof(*dump));

	temp_file_write(path, text);
	ck_assert_int_eq(matrix_dump_read(path, arena, &diags, dump), E_OK);
	return dump;
}

/*
 * Three switches in a row with a host each. Written by opensm 3.3.23 over ibsim 0.10
 * ("opensm -D 0x43", opensm-lid-matrix.dump) for the net that "saguaro topo mesh 3 1"
 * makes.
 */
/* clang-format off */
static const char from_opensm[] =
	"Switch: guid 0x0002c90300000000\n"
	"0x0002: 00 02 ff ff # portguid 0x0002c90300000000\n"
	"0x0003: 01 01 ff ff # portguid 0x0002c90300001000\n"
	"0x0004: 02 02 ff ff # portguid 0x0002c90300002000\n"
	"Switch: guid 0x0002c90300001000\n"
	"0x0002: 01 03 01 ff # portguid 0x0002c90300000000\n"
	"0x0003: 00 02 02 ff # portguid 0x0002c90300001000\n"
	"0x0004: 01 01 03 ff # portguid 0x0002c90300002000\n"
	"Switch: guid 0x0002c90300002000\n"
	"0x0002: 02 ff 02 ff # portguid 0x0002c90300000000\n"
	"0x0003: 01 ff 01 ff # portguid 0x0002c90300001000\n"
	"0x0004: 00 ff 02 ff # portguid 0x0002c90300002000\n";
/* clang-format on */

/* OpenSM serves the SM's port first, then switches: LIDs 1, 2-4, 5-6. */
static struct lids lids_of_opensm(const struct graph *g)
{
	static const struct {
		uint64_t guid;
		uint32_t lid;
	} given[] = { { 0x2c90300000000, 2 }, { 0x2c90300001000, 3 },
		      { 0x2c90300002000, 4 }, { 0x2c90400000001, 1 },
		      { 0x2c90400001001, 5 }, { 0x2c90400002001, 6 } };
	struct lids l;

	for (unsigned i = 0; i < 6; i++) {
		g->ports[graph_port_by_guid(g, given[i].guid)].lid = given[i].lid;
	}
	ck_assert_int_eq(lids_as_found(g, 0, arena, &diags, &l), E_OK);
	return l;
}

START_TEST(as_opensm_writes)
{
	struct graph *g = fabric_make("mesh 3 1", 0, 1, arena);
	struct lids l = lids_of_opensm(g);

	ck_assert_str_eq(written(g, &l), from_opensm);
}
END_TEST

static const char *const fabrics[] = { "ft2 4 3 2 2",      "ft3 4",
	                               "torus 5x4 1",      "mesh 3x3 1",
	                               "jellyfish 20 3 1", "hypercube 4 1" };

enum { N_FABRICS = sizeof(fabrics) / sizeof(*fabrics) };

/* Written, read and held against the fabric: the same distances and the same choices. */
START_TEST(round_trip)
{
	struct graph *g = fabric_make(fabrics[_i % N_FABRICS], 0.1, 2, arena);
	struct lids l = fabric_lids(g, _i >= N_FABRICS, 0, arena);
	struct matrix_dump *dump = read_dump(written(g, &l));
	struct hops h = plain_hops(g);
	struct why notes = { "" };
	struct matrix m;

	ck_assert_uint_eq(dump->errors + dump->lids.n_claims, 0);
	ck_assert_uint_eq(dump->n_tables, g->n_switches);
	ck_assert_int_eq(matrix_init(&m, dump, g, &l, arena, &notes), E_OK);
	ck_assert_str_eq(notes.text, "");
	ck_assert_uint_eq(m.hops.diameter, h.diameter);
	ck_assert_uint_eq(m.hops.stride, h.stride);
	ck_assert_mem_eq(m.hops.dist, h.dist, h.n * h.stride);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct sw_link *link = g->adj + g->adj_first[s];
		uint32_t n = g->adj_first[s + 1] - g->adj_first[s];

		for (uint32_t t = 0; t < g->n_switches; t++) {
			struct spread_ports a = { 0 }, b = { 0 };

			if (s != t) {
				matrix_closer(&m, s, t, link, n, SPREAD_PORTS_MAX, &a);
				spread_shortest(&h, s, t, link, n, SPREAD_PORTS_MAX, &b);
				ck_assert_uint_gt(a.n, 0);
				ck_assert_uint_eq(a.n, b.n);
				ck_assert_mem_eq(a.port, b.port, a.n);
			}
		}
	}
}
END_TEST

/* Other LIDs than those of the file: columns follow the remarks. */
START_TEST(lids_that_moved)
{
	struct graph *g = fabric_make("mesh 3 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 2, 2, arena);
	struct matrix_dump *dump = read_dump(from_opensm);
	struct hops h = plain_hops(g);
	struct why notes = { "" };
	struct matrix m;

	ck_assert_int_eq(matrix_init(&m, dump, g, &l, arena, &notes), E_OK);
	ck_assert_str_eq(notes.text, "");
	ck_assert_mem_eq(m.hops.dist, h.dist, h.n * h.stride);
}
END_TEST

#define ROW(s, text) "Switch: guid 0x0002c9030000" s "000\n" text

/* A dump that fits only in part; distances [from][to] that come out, and what is said. */
static const struct {
	const char *what, *text;
	uint8_t dist[9];
	const char *note;
} odd[] = {
	{ "longer hops, as weights make them",
	  ROW("0", "0x3: 05 05 # portguid 0x0002c90300001000\n"
	           "0x4: 09 09 # portguid 0x0002c90300002000\n"),
	  { 0, 5, 9, 1, 0, 1, 2, 1, 0 },
	  "no hops for 2 switches, the first 't-001'" },
	{ "towards a switch that is farther",
	  ROW("1", "0x4: 01 ff 01 # portguid 0x0002c90300002000\n"),
	  { 0, 1, 2, 1, 0, 1, 2, 1, 0 },
	  ":2: hops of 1 pairs of switches do not fit the cables, such as from 't-001' to 't-002'" },
	{ "over a port without a cable",
	  ROW("2", "0x2: 02 02 # portguid 0x0002c90300000000\n"),
	  { 0, 1, 2, 1, 0, 1, 2, 1, 0 },
	  "hops of 1 pairs" },
	{ "two that send to one another",
	  ROW("0", "0x4: 01 01 # portguid 0x0002c90300002000\n")
	          ROW("1", "0x4: 02 ff 02 # portguid 0x0002c90300002000\n"),
	  { 0, 1, 2, 1, 0, 1, 2, 1, 0 },
	  "hops of 2 pairs" },
	{ "no remarks: LIDs as they are now",
	  ROW("0", "0x3: 04 04\n"),
	  { 0, 4, 2, 1, 0, 1, 2, 1, 0 },
	  "no hops for 2 switches" },
	{ "a switch that is away",
	  ROW("7", "0x3: 04 04\n"),
	  { 0, 1, 2, 1, 0, 1, 2, 1, 0 },
	  "1 tables are for switches that the fabric does not have" },
	{ "a destination that is away",
	  ROW("0", "0x3: 09 09 # portguid 0x0002c90300009000\n"),
	  { 0, 1, 2, 1, 0, 1, 2, 1, 0 },
	  "no hops for 2" },
	{ "a second table",
	  ROW("0", "0x3: 04 04\n") ROW("0", "0x3: 05 05\n"),
	  { 0, 4, 2, 1, 0, 1, 2, 1, 0 },
	  ":3: a second table for switch 't-000'" },
	{ "unreachable, they say",
	  ROW("0", "0x3: ff ff\n0x4: ff ff\n"),
	  { 0, 1, 2, 1, 0, 1, 2, 1, 0 },
	  "hops of 2 pairs" },
};

START_TEST(dumps_that_do_not_fit)
{
	struct graph *g = fabric_make("mesh 3 1", 0, 1, arena);
	struct lids l = lids_of_opensm(g);
	struct matrix_dump *dump = read_dump(odd[_i].text);
	struct why notes = { "" };
	struct matrix m;

	ck_assert_uint_eq(dump->errors, 0);
	ck_assert_int_eq(matrix_init(&m, dump, g, &l, arena, &notes), E_OK);
	ck_assert_msg(strstr(notes.text, odd[_i].note), "%s: %s", odd[_i].what,
	              notes.text);
	for (uint32_t i = 0; i < 9; i++) {
		ck_assert_msg(hops_between(&m.hops, i / 3, i % 3) == odd[_i].dist[i],
		              "%s: from %u to %u: %u", odd[_i].what, i / 3, i % 3,
		              hops_between(&m.hops, i / 3, i % 3));
	}
}
END_TEST

/* Random hops: whatever they say, every switch gets nearer to every other. */
START_TEST(random_hops_end)
{
	uint64_t seed = (uint64_t)_i + 1;
	struct graph *g = fabric_make("torus 4x4 1", 0.1, (uint32_t)_i, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	char *text = written(g, &l);
	struct why notes = { "" };
	struct matrix_dump *dump;
	struct matrix m;

	for (unsigned k = 1 + random_below(&seed, 400); k; k--) {
		char *p = text + random_below(&seed, (uint32_t)strlen(text));

		if (p > text + 2 && *p >= '0' && *p <= '9' && p[-2] == ' ') {
			*p = (char)('0' + random_below(&seed, 10));
		}
	}
	dump = read_dump(text);
	ck_assert_int_eq(matrix_init(&m, dump, g, &l, arena, &notes), E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct sw_link *link = g->adj + g->adj_first[s];
		uint32_t n = g->adj_first[s + 1] - g->adj_first[s];

		for (uint32_t t = 0; t < g->n_switches; t++) {
			struct spread_ports p = { 0 };

			if (s == t) {
				continue;
			}
			matrix_closer(&m, s, t, link, n, SPREAD_PORTS_MAX, &p);
			ck_assert_msg(p.n > 0, "seed %d", _i + 1);
			for (unsigned i = 0; i < p.n; i++) {
				ck_assert_msg(hops_between(&m.hops, p.to[i], t) <
				                      hops_between(&m.hops, s, t),
				              "seed %d", _i + 1);
			}
		}
	}
}
END_TEST

/* clang-format off */
static const struct {
	const char *text;
	unsigned line;
	const char *says;
} bad[] = {
	{ ROW("0", "0x3: 0g 01\n"),       2, "expected '0xLID: HOPS" },
	{ ROW("0", "0x3: 100 01\n"),      2, "expected '0xLID: HOPS" },
	{ ROW("0", "0x3: -1\n"),          2, "expected '0xLID: HOPS" },
	{ ROW("0", "0x3:\n"),             2, "expected '0xLID: HOPS" },
	{ ROW("0", "0x3: # portguid\n"),  2, "expected '0xLID: HOPS" },
	{ ROW("0", "0x3 01 01\n"),        2, "expected '0xLID: HOPS" },
	{ ROW("0", "0x: 01 01\n"),        2, "expected '0xLID: HOPS" },
	{ ROW("0", "\n0x0: 01 01\n"),     3, "not a unicast LID" },
	{ ROW("0", "0x1000000: 01\n"),    2, "not a unicast LID" },
	{ "\n0x3: 01\n0x4: 01\n",         2, "before any 'Switch' header" },
	{ "Switch 0x1234\n0x3: 01\n",     1, "without ' guid 0x" },
	{ "Unicast lids [0-4]\n0x1 2\n",  1, "forwarding tables" },
};
/* clang-format on */

START_TEST(bad_lines)
{
	struct matrix_dump *dump = read_dump(bad[_i].text);

	ck_assert_uint_eq(dump->errors, 1);
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_uint_eq(diags.items[0].line, bad[_i].line);
	ck_assert_msg(strstr(diags.items[0].text, bad[_i].says), "%s",
	              diags.items[0].text);
}
END_TEST

START_TEST(good_lines_count)
{
	struct matrix_dump *dump =
		read_dump(ROW("0", "0x2: 00 01 # portguid 0x1\n0x3: x\nwords\n"
	                           "0x4:02 02 03# portguid 0x2\n0x4: 01\n"));
	static char wide[4 * 300] = "Switch: guid 0x1\n0x1:";
	struct matrix_dump none = { .errors = 77 };

	ck_assert_uint_eq(dump->errors, 1);
	ck_assert_uint_eq(dump->tables[0].n, 3);
	ck_assert_uint_eq(dump->tables[0].width, 3);
	ck_assert_uint_eq(dump->tables[0].row_line[1], 5);
	ck_assert_uint_eq(dump->tables[0].hops[5], 3);
	ck_assert_uint_eq(dump->tables[0].hops[7], MATRIX_NONE);
	ck_assert_uint_eq(dump->lids.guid[4], 2);

	for (unsigned i = 0; i < 256; i++) {
		strcat(wide, " 01");
	}
	dump = read_dump(wide);
	ck_assert_uint_eq(dump->errors, 0);
	ck_assert_uint_eq(dump->tables[0].width, 256);
	ck_assert_uint_eq(read_dump(strcat(wide, " 01"))->errors, 1);
	ck_assert_int_eq(matrix_dump_read("/nonexistent/file", arena, &diags, &none),
	                 -ENOENT);
	ck_assert_uint_eq(none.errors, 77);
}
END_TEST

/* Any damage: errors or rows, never a crash, and what is left can be used. */
START_TEST(damaged)
{
	uint64_t seed = (uint64_t)_i + 1;
	struct graph *g = fabric_make("mesh 3 1", 0, 1, arena);
	struct lids l = lids_of_opensm(g);
	char *text = arena_strdup(arena, from_opensm);
	struct why notes = { "" };
	struct matrix_dump *dump;
	struct matrix m;

	for (unsigned k = 1 + random_below(&seed, 8); k; k--) {
		text[random_below(&seed, (uint32_t)strlen(text))] =
			(char)(1 + random_below(&seed, 255));
	}
	dump = read_dump(text);
	ck_assert_uint_eq(dump->errors, diags.n_errors);
	ck_assert_int_eq(matrix_init(&m, dump, g, &l, arena, &notes), E_OK);
}
END_TEST

#define ADD_LOOP(t, f, table)                                                            \
	tcase_add_loop_test(t, f, 0, sizeof(table) / sizeof(*(table)))

TEST_SUITE(matrixfile)
{
	TCase *t = tcase_create("matrixfile");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, as_opensm_writes);
	tcase_add_loop_test(t, round_trip, 0, 2 * N_FABRICS);
	tcase_add_test(t, lids_that_moved);
	ADD_LOOP(t, dumps_that_do_not_fit, odd);
	tcase_add_loop_test(t, random_hops_end, 0, 40);
	ADD_LOOP(t, bad_lines, bad);
	tcase_add_test(t, good_lines_count);
	tcase_add_loop_test(t, damaged, 0, 200);
	suite_add_tcase(suite, t);
}
