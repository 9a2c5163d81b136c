/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What readers and writers of routing/text and the generators make of good and damaged
 * texts, as sums in tests/golden/texts. Other tests say what is right; this one says
 * that something is no longer as it was. Where that is meant, `make golden` writes the
 * files anew.
 */
#include <check.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/text/chain_conf.h"
#include "routing/text/guid2lid.h"
#include "routing/text/lftfile.h"
#include "routing/text/matrixfile.h"
#include "routing/text/topofile.h"
#include "routing/text/torus_conf.h"
#include "routing/topogen/topogen.h"
#include "tests/lib/golden.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"
#include "tests/lib/words.h"

enum { DAMAGED = 60 };

static struct arena *arena;
static struct temp_folder folder;

static void setup(void)
{
	arena = arena_new();
	temp_folder_new(&folder);
}

static void teardown(void)
{
	static const char *const names[] = { "text", NULL };

	temp_folder_end(&folder, names);
	arena_free(arena);
}

/* ---- readers ---- */

static char *text_of(const struct graph *g)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	ck_assert_int_eq(topo_write(g, f), E_OK);
	fclose(f);
	return text;
}

static int read_topo_in(bool strict, const char *text, struct diags *d, uint64_t *sum)
{
	struct graph *g = NULL;
	int ret = topo_parse(text, strlen(text), "text", strict, arena, d, &g);

	if (ret == E_OK) {
		char *again = text_of(g);

		*sum = golden_sum_text(*sum, again);
		free(again);
	}
	return ret;
}

static int read_topo(const char *text, struct diags *d, uint64_t *sum)
{
	return read_topo_in(false, text, d, sum);
}

static int read_topo_strict(const char *text, struct diags *d, uint64_t *sum)
{
	return read_topo_in(true, text, d, sum);
}

static int read_guid2lid(const char *text, struct diags *d, uint64_t *sum)
{
	struct lid_memory *m = NULL;
	size_t n = 0;
	int ret = guid2lid_read("text", text, strlen(text), arena, d, &m, &n);

	for (size_t i = 0; ret == E_OK && i < n; i++) {
		*sum = golden_sum_number(*sum, m[i].guid);
		*sum = golden_sum_number(*sum, m[i].range.base);
		*sum = golden_sum_number(*sum, m[i].range.lmc);
	}
	return ret;
}

static struct graph *grid(void)
{
	return fabric_make("mesh 3x2 1", 0, 1, arena);
}

static int read_tables(const char *text, struct diags *d, uint64_t *sum)
{
	struct graph *g = grid();
	struct lids lids;
	struct lft lft;
	int ret;

	temp_file_write("text", text);
	ret = lftfile_read("text", g, 0xbfff, arena, d, &lft, &lids);
	for (uint32_t s = 0; ret == E_OK && s < lft.n_switches; s++) {
		*sum = golden_sum(*sum, lft_row(&lft, s), lft.n_lids);
	}
	for (uint32_t lid = 0; ret == E_OK && lid <= lids.top; lid++) {
		*sum = golden_sum_number(*sum, lids.owner[lid]);
	}
	return ret;
}

static int read_matrix(const char *text, struct diags *d, uint64_t *sum)
{
	struct matrix_dump m = { .path = NULL };
	int ret;

	temp_file_write("text", text);
	ret = matrix_dump_read("text", arena, d, &m);
	for (uint32_t i = 0; ret == E_OK && i < m.n_tables; i++) {
		const struct matrix_dump_table *t = &m.tables[i];

		*sum = golden_sum_number(*sum, t->guid);
		*sum = golden_sum(*sum, t->hops, (size_t)t->n * t->width);
		for (uint32_t k = 0; k < t->n; k++) {
			*sum = golden_sum_number(*sum, t->lid[k]);
			*sum = golden_sum_number(*sum, t->row_line[k]);
		}
	}
	return ret;
}

static int read_torus(const char *text, struct diags *d, uint64_t *sum)
{
	const struct torus_conf *c = NULL;
	int ret = torus_conf_parse("text", text, strlen(text), arena, d, &c);

	*sum = golden_sum_number(*sum, c != NULL);
	return ret;
}

static int read_topologies(const char *text, struct diags *d, uint64_t *sum)
{
	const struct chain_topologies *t;
	const void *value = NULL;
	int ret;

	temp_file_write("text", text);
	ret = chain_topologies_read("text", arena, d, &value);
	t = value;
	for (uint32_t i = 0; ret == E_OK && i < t->n; i++) {
		*sum = golden_sum_number(*sum, t->topology[i].id);
		*sum = golden_sum_text(*sum, t->topology[i].sw_grp);
		*sum = golden_sum_text(*sum, t->topology[i].hca_grp);
	}
	return ret;
}

static int read_steps(const char *text, struct diags *d, uint64_t *sum)
{
	const struct chain_steps *t;
	const void *value = NULL;
	int ret;

	temp_file_write("text", text);
	ret = chain_steps_read("text", arena, d, &value);
	t = value;
	for (uint32_t i = 0; ret == E_OK && i < t->n; i++) {
		*sum = golden_sum_number(*sum, t->step[i].id);
		*sum = golden_sum_number(*sum, t->step[i].topology);
		*sum = golden_sum_number(*sum, t->step[i].fallback_to);
		*sum = golden_sum_number(*sum, t->step[i].path_bit);
		*sum = golden_sum_text(*sum, t->step[i].engine);
	}
	return ret;
}

/* ---- texts ---- */

static char *topo_text(void)
{
	return text_of(fabric_make("ft2 3 2 2", 0, 1, arena));
}

static char *guid2lid_text(void)
{
	return strdup(
		"0x0002c90300a0b0c1 0x0010 0x0013\n\n0x0002c90300a0b0c0 0x0001 0x0001\n\n"
		"0x5 0x20 0x20\n\n0x7 0x30 0x37\n\n0x9 5 5\n\n");
}

static char *tables_text(void)
{
	struct graph *g = grid();
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft t;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	ck_assert_int_eq(lft_init(&t, g->n_switches, l.top, arena), E_OK);
	for (uint32_t s = 0; s < t.n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			lft_row(&t, s)[lid] = (uint8_t)((s + lid) % 4);
		}
	}
	ck_assert_int_eq(lftfile_write(g, &l, &t, f), E_OK);
	fclose(f);
	return text;
}

static char *matrix_text(void)
{
	struct graph *g = grid();
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct hops h;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	ck_assert_int_eq(hops_init(&h, g, arena), E_OK);
	ck_assert_int_eq(matrixfile_write(g, &l, &h, f), E_OK);
	fclose(f);
	return text;
}

static char *torus_text(void)
{
	return strdup(
		"torus 4 5t 3\n# the first\nxp_link 0x1 0x2\nyp_link 0x1 0x3\nzp_link 0x1 0x4\n"
		"xm_link 0x1 0x5\nnext_seed\nxp_link 0x11 0x12\nportgroup_max_ports 20\n"
		"port_order 3 1 2\nx_dateline 1\nmax_changes 7\n");
}

static char *topologies_text(void)
{
	return strdup(
		"topology\nid: 1\nsw-grp: a\nhca-grp: b\nend-topology\n"
		"topology\nid: 2\nsw-grp: ALL_SWITCHES\nhca-grp: ALL_CAS\nend-topology\n");
}

static char *steps_text(void)
{
	return strdup(
		"unicast-step\nid: 1\nengine: updn\ntopology: 1\nend-unicast-step\n"
		"unicast-step\nid: 2\nengine: minhop\nuse: text\nfallback-to: 1\npath-bit: 1\nend-unicast-step\n"
		"unicast-step\nid: 3\nengine: ftree\ntopology: 2\nconfig: text\nend-unicast-step\n");
}

static const struct reader {
	const char *name;
	char *(*text)(void);
	int (*read)(const char *text, struct diags *d, uint64_t *sum);
} readers[] = {
	{ "topology", topo_text, read_topo },
	{ "topology-strict", topo_text, read_topo_strict },
	{ "guid2lid", guid2lid_text, read_guid2lid },
	{ "tables", tables_text, read_tables },
	{ "matrix", matrix_text, read_matrix },
	{ "torus", torus_text, read_torus },
	{ "chain-topologies", topologies_text, read_topologies },
	{ "chain-steps", steps_text, read_steps },
};

START_TEST(test_readers)
{
	const struct reader *r = &readers[_i];
	char *text = r->text();
	struct golden golden;
	uint64_t state = 3;

	golden_begin(&golden, arena_printf(arena, "texts/%s", r->name));
	temp_folder_enter(&folder);
	for (unsigned k = 0; k < DAMAGED; k++) {
		struct diags *d = arena_alloc(arena, sizeof(*d));
		uint64_t sum = GOLDEN_SUM;
		size_t len;
		char *bad = k == 0 ? strdup(text)
		                   : golden_damage(text, strlen(text), &state, &len);
		int ret;

		diags_init(d, arena);
		ret = r->read(bad, d, &sum);
		fprintf(golden.f, "%u %s %016llx\n%s", k,
		        ret == E_OK ? "" : err_text(ret), (unsigned long long)sum,
		        take_problems(d));
		free(bad);
	}
	temp_folder_leave(&folder);
	golden_end(&golden);
	free(text);
}
END_TEST

/* ---- generators ---- */

static const char *const commands[] = {
	"ft2 4 3 2",
	"ft2 4 3 2 3",
	"ft2 0 1 1",
	"ft2 1 1 1",
	"ft2 4",
	"ft2 4 3 2 3 4",
	"ft2 4 300 2",
	"ft2 x 3 2",
	"ft3 2",
	"ft3 4",
	"ft3 6",
	"ft3 3",
	"ft3 0",
	"tree3 2 3 2 2 2",
	"tree3 2 3 2 2",
	"tree3 4 6 6 4 4",
	"director 4 2 1 2 2",
	"director 6 4 2 3 2 2",
	"director 1 1 1 1 1",
	"mesh 3 1",
	"mesh 3x2 2",
	"mesh 1x1 1",
	"mesh 0x2 1",
	"mesh 2x2x2x2 1",
	"torus 2x2 1",
	"torus 3x3 0",
	"torus 4x3x2 1",
	"torus 5 2",
	"hypercube 1 1",
	"hypercube 4 2",
	"hypercube 0 1",
	"hypercube 40 1",
	"dragonfly 1 2 1",
	"dragonfly 2 4 2",
	"dragonfly 4 2 2 5",
	"dragonfly 2 2 2 90",
	"jellyfish 8 3 1",
	"jellyfish 9 3 1",
	"jellyfish 12 4 2",
	"jellyfish 3 9 1",
	"jellyfish 2 1 0",
	"nothing 1",
	"ft2",
	"mesh",
};

START_TEST(test_generators)
{
	struct golden golden;

	golden_begin(&golden, "texts/generators");
	for (unsigned i = 0; i < 4 * sizeof(commands) / sizeof(*commands); i++) {
		struct topogen_opts o = { .fail = i % 4 == 1   ? 0.2
			                          : i % 4 == 2 ? 0.5
			                                       : 0,
			                  .seed = i,
			                  .spine_hosts = i % 4 == 3 ? 3 : 0,
			                  .aggregation_nodes = i % 4 == 3 };
		struct diags *d = arena_alloc(arena, sizeof(*d));
		struct graph *g = NULL;
		char *argv[8];
		int n = words_split(commands[i / 4], arena, argv, 8);
		int ret;

		diags_init(d, arena);
		ret = topogen(argv[0], n - 1, argv + 1, &o, arena, d, &g);
		fprintf(golden.f, "%s, %u: %s ", commands[i / 4], i % 4,
		        ret == E_OK ? "" : err_text(ret));
		if (ret == E_OK) {
			char *text = text_of(g);
			uint64_t sum = golden_sum_text(GOLDEN_SUM, text);

			for (uint32_t k = 0; k < g->n_nodes; k++) {
				sum = golden_sum_number(sum, g->nodes[k].vendor_id);
				sum = golden_sum_number(sum, g->nodes[k].device_id);
				sum = golden_sum_number(sum, g->nodes[k].aggregation);
			}
			fprintf(golden.f, "%u nodes, %u links, %016llx", g->n_nodes,
			        g->n_links, (unsigned long long)sum);
			free(text);
		}
		fprintf(golden.f, "\n%s", take_problems(d));
	}
	golden_end(&golden);
}
END_TEST

TEST_SUITE(text_golden)
{
	TCase *t = tcase_create("text_golden");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_readers, 0, sizeof(readers) / sizeof(*readers));
	tcase_add_test(t, test_generators);
	suite_add_tcase(suite, t);
}
