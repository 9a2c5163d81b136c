/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engine_options.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/proof/proof.h"
#include "routing/route.h"
#include "routing/text/lftfile.h"
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

/* ---- running it ---- */

/* Options as the configuration makes them: the text goes through a file. */
struct given {
	struct option_sets sets;
	void *base;
};

static struct given *no_options(void)
{
	const struct engine *e = engine_find("file");
	struct given *o = arena_alloc(arena, sizeof(*o));

	o->base = arena_alloc(arena, e->opt_size);
	ck_assert_int_eq(option_sets_add(&o->sets, e->options, o->base), E_OK);
	ck_assert_int_eq(option_set_defaults(&o->sets, arena), E_OK);
	return o;
}

static int give(struct given *o, const char *key, const char *text)
{
	temp_file_write(path, text);
	return option_set(&o->sets, arena, key, path, "conf", 1, &diags);
}

static struct given *lfts(const char *text)
{
	struct given *o = no_options();

	ck_assert_msg(give(o, "lfts_file", text) == E_OK, "%s",
	              diags_first_error(&diags));
	return o;
}

static int run(const char *engine, const struct graph *g, const struct lids *l,
               const struct given *o, struct route_out **ret_out)
{
	struct route_in in = { .g = g, .lids = l, .options = o ? o->base : NULL };

	*ret_out = arena_alloc(arena, sizeof(**ret_out));
	return engine_find(engine)->route(&in, arena, *ret_out);
}

static struct route_out *route(const char *engine, const struct graph *g,
                               const struct lids *l, const struct given *o)
{
	struct route_out *out;

	ck_assert_int_eq(run(engine, g, l, o, &out), E_OK);
	ck_assert_uint_eq(out->lft.n_lids, l->top + 1);
	return out;
}

/* Tables as text; damage is done to it. */
static char *lft_text(const struct graph *g, const struct lids *l, const struct lft *lft)
{
	char *text = NULL, *copy;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_int_eq(lftfile_write(g, l, lft, f), E_OK);
	fclose(f);
	copy = arena_strdup(arena, text);
	free(text);
	return copy;
}

/* The text without the table of one switch. */
static char *without_switch(const char *text, uint64_t guid)
{
	char *copy = arena_strdup(arena, text);
	char *at = strstr(copy, arena_printf(arena, "guid 0x%016" PRIx64 " ('", guid));
	char *next;

	ck_assert_ptr_nonnull(at);
	while (at > copy && at[-1] != '\n') {
		at--;
	}
	next = strstr(at + 1, "Unicast lids");
	if (next) {
		memmove(at, next, strlen(next) + 1);
	} else {
		*at = '\0';
	}
	return copy;
}

/* The text without the lines that name a port GUID. */
static char *without_port(const char *text, uint64_t guid)
{
	const char *word = arena_printf(arena, " portguid 0x%016" PRIx64, guid);
	char *copy = arena_alloc(arena, strlen(text) + 1), *to = copy;

	while (*text) {
		size_t len = strcspn(text, "\n") + 1;
		const char *hit = strstr(text, word);

		if (!hit || hit > text + len) {
			memcpy(to, text, len);
			to += len;
		}
		text += len;
	}
	return copy;
}

static void check_same(const struct lft *a, const struct lft *b)
{
	ck_assert_uint_eq(a->n_switches, b->n_switches);
	ck_assert_uint_eq(a->stride, b->stride);
	ck_assert_mem_eq(a->rows, b->rows, a->n_switches * a->stride);
}

static void check_complete(const struct graph *g, const struct lids *l,
                           const struct lft *lft)
{
	struct proof p;

	ck_assert_int_eq(proof_run(g, l, lft, NULL, arena, &p), E_OK);
	ck_assert_uint_eq(p.unreachable_pairs + p.holes + p.forwarding_loops, 0);
}

/* ---- tables ---- */

static const char *const fabrics[] = {
	"ft2 4 3 2 2", "ft3 4",         "torus 5x4 1",
	"mesh 3x3 2",  "hypercube 4 2", "jellyfish 20 3 2"
};

enum { N_FABRICS = sizeof(fabrics) / sizeof(*fabrics) };

/* Tables of an engine are read back unchanged, without a message. */
START_TEST(round_trip)
{
	struct graph *g = fabric_make(fabrics[_i % N_FABRICS], 0.05, 1, arena);
	struct lids l = fabric_lids(g, (uint32_t)_i / N_FABRICS, 0, arena);
	struct lft made = route("dor", g, &l, NULL)->lft;
	struct route_out *out = route("file", g, &l, lfts(lft_text(g, &l, &made)));

	check_same(&out->lft, &made);
	ck_assert_str_eq(out->notes.text, "");
}
END_TEST

/* LIDs of 24 bits, as on Omni-Path; those of other ports below stay as they are. */
START_TEST(lids_of_24_bits)
{
	struct graph *g = fabric_make("ft2 4 3 2 2", 0, 1, arena);
	struct lids l = fabric_lids_high(g, 0x54321, arena);
	struct lids low = fabric_lids(g, 0, 0, arena);
	struct lft made = route("minhop", g, &l, NULL)->lft;
	const char *text = lft_text(g, &l, &made);
	struct route_out *out = route("file", g, &l, lfts(text));

	check_same(&out->lft, &made);
	ck_assert_str_eq(out->notes.text, "");
	check_complete(g, &low, &route("file", g, &low, lfts(text))->lft);
}
END_TEST

/* All LIDs are others now: entries go with the GUIDs of the remarks. */
START_TEST(lids_that_moved)
{
	struct graph *g = fabric_make("ft2 4 3 2 2", 0, 1, arena);
	struct lids l = fabric_lids(g, (uint32_t)_i, 0, arena), moved = l;
	struct lft made = route("minhop", g, &l, NULL)->lft;
	struct route_out *out;
	uint32_t top = (l.top + 40) | 7;

	/* backwards: highest first, so that LIDs of the file belong to others now */
	moved.top = top;
	moved.of = arena_array(arena, g->n_ports, sizeof(*moved.of));
	moved.owner = arena_array(arena, top + 1, sizeof(*moved.owner));
	memset(moved.owner, 0xff, (top + 1) * sizeof(*moved.owner));
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i], n = 1u << l.of[port].lmc;

		moved.of[port] = (struct lid_range){ top - n + 1 - l.of[port].base,
			                             l.of[port].lmc };
		for (uint32_t k = 0; k < n; k++) {
			ck_assert_uint_eq(moved.owner[moved.of[port].base + k],
			                  GRAPH_NONE);
			moved.owner[moved.of[port].base + k] = port;
		}
	}
	out = route("file", g, &moved, lfts(lft_text(g, &l, &made)));
	ck_assert_str_eq(out->notes.text, "");
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i], n = 1u << l.of[port].lmc;

		for (uint32_t s = 0; s < g->n_switches; s++) {
			for (uint32_t k = 0; k < n; k++) {
				uint32_t old = l.of[port].base + k;
				uint32_t now = moved.of[port].base + (old & (n - 1));

				ck_assert_uint_eq(lft_row(&out->lft, s)[now],
				                  lft_row(&made, s)[old]);
			}
		}
	}
	check_complete(g, &moved, &out->lft);
}
END_TEST

/* A larger LMC than in the file: new LIDs are filled. A smaller one: the rest is dropped.
 */
START_TEST(lmc_that_changed)
{
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lids one = fabric_lids(g, 0, 0, arena), four = fabric_lids(g, 2, 0, arena);
	struct lft small = route("minhop", g, &one, NULL)->lft;
	struct lft large = route("minhop", g, &four, NULL)->lft;
	struct route_out *out = route("file", g, &four, lfts(lft_text(g, &one, &small)));

	ck_assert_msg(strstr(out->notes.text, "no entry for 36 LIDs"), "%s",
	              out->notes.text);
	check_complete(g, &four, &out->lft);
	out = route("file", g, &one, lfts(lft_text(g, &four, &large)));
	ck_assert_str_eq(out->notes.text, "");
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];

		for (uint32_t s = 0; s < g->n_switches; s++) {
			ck_assert_uint_eq(lft_row(&out->lft, s)[one.of[port].base],
			                  lft_row(&large, s)[four.of[port].base]);
		}
	}
}
END_TEST

/* A switch that the file leaves out has routes, the others keep theirs. */
START_TEST(a_switch_left_out)
{
	struct graph *g = fabric_make(fabrics[_i], 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft made = route("minhop", g, &l, NULL)->lft;
	uint32_t gone = g->n_switches / 2;
	uint64_t guid = g->nodes[g->switches[gone]].guid;
	struct route_out *out =
		route("file", g, &l, lfts(without_switch(lft_text(g, &l, &made), guid)));

	ck_assert_msg(strstr(out->notes.text, "no table for 1 switches"), "%s",
	              out->notes.text);
	ck_assert_ptr_nonnull(
		strstr(out->notes.text, g->nodes[g->switches[gone]].description));
	check_same(&out->lft, &made); /* minhop fills as minhop did */
}
END_TEST

/*
 * Tables that are not of shortest paths: what minhop would take leads into loops with
 * them. Two switches are left out, neighbours of one another.
 */
START_TEST(switches_left_out_of_longer_paths)
{
	struct graph *g = fabric_make("torus 5x5 1", 0.05, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct lft made = route("updn", g, &l, NULL)->lft;
	uint32_t gone = (uint32_t)_i, also = g->adj[g->adj_first[gone]].to;
	char *text =
		without_switch(lft_text(g, &l, &made), g->nodes[g->switches[gone]].guid);
	struct route_out *out;

	text = without_switch(text, g->nodes[g->switches[also]].guid);
	out = route("file", g, &l, lfts(text));
	check_complete(g, &l, &out->lft);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		ck_assert(s == gone || s == also ||
		          !memcmp(lft_row(&out->lft, s), lft_row(&made, s), made.stride));
	}
}
END_TEST

START_TEST(a_host_left_out)
{
	struct graph *g = fabric_make(fabrics[_i], 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft made = route("dor", g, &l, NULL)->lft;
	uint32_t host = g->hosts[3];
	char *text = without_port(lft_text(g, &l, &made), g->ports[host].guid);
	struct route_out *out = route("file", g, &l, lfts(text));

	ck_assert_msg(strstr(out->notes.text, "no entry for 1 LIDs"), "%s",
	              out->notes.text);
	ck_assert_ptr_nonnull(
		strstr(out->notes.text, g->nodes[g->ports[host].node].description));
	check_complete(g, &l, &out->lft);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t lid = l.of[host].base;

		for (uint32_t other = 1; other <= l.top; other++) {
			ck_assert(other == lid || lft_row(&out->lft, s)[other] ==
			                                  lft_row(&made, s)[other]);
		}
	}
}
END_TEST

#define HEAD(n) "Unicast lids [0-4] of switch Lid 2 guid 0x0002c9030000" n "000 ('t'):\n"

/* Of a row of three switches with a host each: switch 0 to the LID of host 2. */
static const struct {
	const char *what, *text;
	uint8_t port;
	const char *note;
} entries[] = {
	{ "by remark", HEAD("0") "0x0077 001 # c portguid 0x0002c90400002001: 'x'\n", 1,
	  "no entry for 5 LIDs" },
	{ "without a remark: LID as it is", HEAD("0") "0x0003 002\n", 2, "" },
	{ "the remark's owner is away: not the LID as it is",
	  HEAD("0") "0x0003 002 # c portguid 0x0002c90400009001: 'x'\n", 1,
	  "no entry for 6 LIDs" },
	{ "a remark counts more than a bare LID",
	  HEAD("0") "0x0003 002\n0x0078 001 # c portguid 0x0002c90400002001: 'x'\n", 1,
	  "" },
	{ "a table of a switch that is away", HEAD("7") "0x0003 002\n", 1,
	  "1 tables are for switches that the fabric does not have" },
	{ "the first of two tables", HEAD("0") "0x0003 002\n" HEAD("0") "0x0003 001\n", 2,
	  ":3: a second table for switch 't-000'" },
	{ "255 is no entry", HEAD("0") "0x0003 255\n", 1, "no entry for 6 LIDs" },
};

START_TEST(entries_find_their_lid)
{
	struct graph *g = fabric_make("mesh 3 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out = route("file", g, &l, lfts(entries[_i].text));
	uint32_t lid = l.of[graph_port_by_guid(g, 0x0002c90400002001)].base;

	/* the rows above say 3 for it */
	if (lid != 3) {
		struct lids swapped = l;
		uint32_t other = l.owner[3], port = l.owner[lid];

		swapped.owner[3] = port;
		swapped.owner[lid] = other;
		swapped.of[port].base = 3;
		swapped.of[other].base = lid;
		out = route("file", g, &swapped, lfts(entries[_i].text));
		lid = 3;
	}
	ck_assert_msg(lft_row(&out->lft, 0)[lid] == entries[_i].port, "%s: %u",
	              entries[_i].what, lft_row(&out->lft, 0)[lid]);
	ck_assert_msg(strstr(out->notes.text, entries[_i].note), "%s: %s",
	              entries[_i].what, out->notes.text);
}
END_TEST

START_TEST(ports_that_do_not_exist)
{
	struct graph *g = fabric_make("mesh 3 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out;

	ck_assert_int_eq(run("file", g, &l,
	                     lfts(HEAD("0") "0x0001 001\n\n0x0002 004\n0x0003 005\n"
	                                    "0x0004 006\n0x0005 007\n"),
	                     &out),
	                 E_UNSUITABLE);
	ck_assert_msg(strstr(out->notes.text, ":4: port 4, and switch 't-000' has 3"),
	              "%s", out->notes.text);
	ck_assert_ptr_nonnull(strstr(out->notes.text, ":6: port 6"));
	ck_assert_ptr_null(strstr(out->notes.text, ":7:"));
	ck_assert_ptr_nonnull(strstr(out->notes.text, "4 entries with ports"));
}
END_TEST

/* Tables that do not connect everything: the proof says so and minhop has its turn. */
START_TEST(the_proof_decides)
{
	struct graph *g = fabric_make("mesh 3 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_request r = { .g = g, .lids = &l };
	struct engine_options o;
	struct route_result result;
	struct why why = { "" };
	char *text = arena_strdup(arena, HEAD("0"));

	for (uint32_t lid = 1; lid <= l.top; lid++) { /* everything goes back and forth */
		text = arena_printf(arena, "%s0x%04x 001\n", text, lid);
	}
	text = arena_printf(arena, "%s" HEAD("1"), text);
	for (uint32_t lid = 1; lid <= l.top; lid++) {
		text = arena_printf(arena, "%s0x%04x 002\n", text, lid);
	}
	temp_file_write(path, text);
	ck_assert_int_eq(engine_options_init(&o, arena), E_OK);
	ck_assert_int_eq(option_set_defaults(&o.sets, arena), E_OK);
	ck_assert_int_eq(option_set(&o.sets, arena, "lfts_file", path, NULL, 0, &diags),
	                 E_OK);
	r.options = &o;
	ck_assert_int_eq(route_list_parse("file", &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.used->name, "minhop");
	ck_assert_str_eq(result.engine_asked, "file");
	ck_assert_msg(strstr(result.fallback_reason.text, "loop"), "%s",
	              result.fallback_reason.text);
	ck_assert_int_eq(route_list_parse("file,no_fallback", &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), E_LOOP);
}
END_TEST

/* ---- hops ---- */

static char *hops_text(const struct graph *g, const struct lids *l)
{
	struct hops h;
	char *text = NULL, *copy;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_int_eq(hops_init(&h, g, arena), E_OK);
	ck_assert_int_eq(matrixfile_write(g, l, &h, f), E_OK);
	fclose(f);
	copy = arena_strdup(arena, text);
	free(text);
	return copy;
}

/* With the hops of all shortest paths the tables are those of minhop, but for broken
 * trees of three levels, where minhop avoids some of these paths. */
START_TEST(hops_of_minhop)
{
	const char *command = fabrics[_i % N_FABRICS];
	double fail = strncmp(command, "ft3", 3) ? 0.05 : 0;
	struct graph *g = fabric_make(command, fail, 1, arena);
	struct lids l = fabric_lids(g, (uint32_t)_i / N_FABRICS, 0, arena);
	struct given *o = no_options();
	struct route_out *out;

	ck_assert_int_eq(give(o, "lid_matrix_dump_file", hops_text(g, &l)), E_OK);
	out = route("file", g, &l, o);
	ck_assert_str_eq(out->notes.text, "");
	check_same(&out->lft, &route("minhop", g, &l, NULL)->lft);
}
END_TEST

/* A ring of five whose cable between 0 and 4 counts 9 hops: all go the other way. */
START_TEST(hops_decide)
{
	struct graph *g = fabric_make("torus 5 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct given *o = no_options();
	char *text = arena_strdup(arena, "");
	struct route_out *out;

	for (uint32_t s = 0; s < 5; s++) {
		text = arena_printf(arena, "%sSwitch: guid 0x%llx\n", text,
		                    0x0002c90300000000ull + (s << 12));
		for (uint32_t t = 0; t < 5; t++) {
			uint32_t d = s > t ? s - t : t - s;

			text = arena_printf(arena, "%s0x%x: %02x %s%02x %s%02x\n", text,
			                    l.of[graph_port(g, g->switches[t], 0)].base,
			                    d, "", s < t ? d : 20, "", s > t ? d : 20);
		}
	}
	ck_assert_int_eq(give(o, "lid_matrix_dump_file", text), E_OK);
	out = route("file", g, &l, o);
	ck_assert_str_eq(out->notes.text, "");
	check_complete(g, &l, &out->lft);
	for (uint32_t s = 0; s < 5; s++) {
		for (uint32_t t = 0; t < 5; t++) {
			uint32_t lid = l.of[g->hosts[t]].base;

			ck_assert_uint_eq(lft_row(&out->lft, s)[lid], s == t  ? 3
			                                              : s < t ? 1
			                                                      : 2);
		}
	}
}
END_TEST

/* Both: the tables count, and what they leave out follows the hops. */
START_TEST(tables_and_hops)
{
	struct graph *g = fabric_make("mesh 4x4 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft made = route("dor", g, &l, NULL)->lft;
	struct given *o = lfts(
		without_switch(lft_text(g, &l, &made), g->nodes[g->switches[0]].guid));
	struct route_out *out;

	ck_assert_int_eq(give(o, "lid_matrix_dump_file", hops_text(g, &l)), E_OK);
	out = route("file", g, &l, o);
	check_complete(g, &l, &out->lft);
	ck_assert_mem_eq(lft_row(&out->lft, 1), lft_row(&made, 1), made.stride * 15);
	ck_assert_mem_eq(lft_row(&out->lft, 0),
	                 lft_row(&route("minhop", g, &l, NULL)->lft, 0), made.stride);
}
END_TEST

START_TEST(no_file_at_all)
{
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct route_out *out = route("file", g, &l, _i ? no_options() : NULL);

	check_same(&out->lft, &route("minhop", g, &l, NULL)->lft);
	ck_assert_ptr_nonnull(strstr(out->notes.text, "neither lfts_file nor"));
}
END_TEST

/* ---- configuration ---- */

/* clang-format off */
static const struct {
	const char *key, *text;
	unsigned line;
	const char *says;
} refused[] = {
	{ "lfts_file", "hello\n", 0, "not a dump of forwarding tables" },
	{ "lfts_file", "", 0, "not a dump of forwarding tables" },
	{ "lfts_file", HEAD("0") "0x1 1\n0x2 x\n", 3, "expected '0xLID PORT" },
	{ "lfts_file", HEAD("0") "0x1 1 # portguid 0x5:\n" HEAD("1") "0x1 1 # portguid 0x6:\n", 4,
	  "LID 0x0001 is of port GUID 0x0000000000000006 here, and of 0x0000000000000005 above" },
	{ "lid_matrix_dump_file", "hello\n", 0, "not a dump of a hop matrix" },
	{ "lid_matrix_dump_file", "Switch: guid 0x1\n0x1: 00 zz\n", 2, "expected '0xLID: HOPS" },
	{ "lid_matrix_dump_file", "Switch: guid 0x1\n0x1: 00 # portguid 0x5\n"
	  "Switch: guid 0x2\n0x1: 00 # portguid 0x6\n", 4, "LID 0x0001 is of port GUID" },
};
/* clang-format on */

START_TEST(bad_files_are_refused)
{
	struct given *o = no_options();
	const void *before[2] = { NULL, NULL };

	ck_assert_int_eq(give(o, refused[_i].key, refused[_i].text), E_SYNTAX);
	ck_assert_mem_eq(o->base, before, sizeof(before));
	ck_assert_uint_eq(diags.n_errors, 2);
	ck_assert_str_eq(diags.items[0].file, path);
	ck_assert_uint_eq(diags.items[0].line, refused[_i].line);
	ck_assert_msg(strstr(diags.items[0].text, refused[_i].says), "%s",
	              diags.items[0].text);
	ck_assert_str_eq(diags.items[1].file, "conf");
	ck_assert_ptr_nonnull(strstr(diags.items[1].text, refused[_i].key));
	ck_assert_int_eq(option_set(&o->sets, arena, refused[_i].key, "/nonexistent/file",
	                            "conf", 2, &diags),
	                 -ENOENT);
}
END_TEST

#define ADD_LOOP(t, f, table)                                                            \
	tcase_add_loop_test(t, f, 0, sizeof(table) / sizeof(*(table)))

TEST_SUITE(file)
{
	TCase *t = tcase_create("file");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, round_trip, 0, 3 * N_FABRICS);
	tcase_add_test(t, lids_of_24_bits);
	tcase_add_loop_test(t, lids_that_moved, 0, 3);
	tcase_add_test(t, lmc_that_changed);
	tcase_add_loop_test(t, a_switch_left_out, 0, N_FABRICS);
	tcase_add_loop_test(t, switches_left_out_of_longer_paths, 0, 25);
	tcase_add_loop_test(t, a_host_left_out, 0, N_FABRICS);
	ADD_LOOP(t, entries_find_their_lid, entries);
	tcase_add_test(t, ports_that_do_not_exist);
	tcase_add_test(t, the_proof_decides);
	tcase_add_loop_test(t, hops_of_minhop, 0, 2 * N_FABRICS);
	tcase_add_test(t, hops_decide);
	tcase_add_test(t, tables_and_hops);
	tcase_add_loop_test(t, no_file_at_all, 0, 2);
	ADD_LOOP(t, bad_files_are_refused, refused);
	suite_add_tcase(suite, t);
}
