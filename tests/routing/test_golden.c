/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The results of routing on two dozen fabrics, as sums in tests/golden/routing: a file for
 * each engine with its tables, lanes, alternates, trees and remarks, with default
 * options and with others; and what it makes of a row of small changes. Other tests say
 * what is right; this one says that something is no longer as it was. Where that is
 * meant, `make golden` writes the files anew.
 *
 * Longer than most: engines, changes and damaged tables share the fabrics and what is written of a result.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "conf/policy/adaptive.h"
#include "routing/engine.h"
#include "routing/engine_options.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/multicast.h"
#include "routing/proof/compare.h"
#include "routing/proof/disjoint.h"
#include "routing/proof/transition.h"
#include "routing/proof/validate.h"
#include "routing/route.h"
#include "routing/route_base.h"
#include "routing/route_cache.h"
#include "routing/text/lftfile.h"
#include "tests/lib/golden.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"
#include "tests/lib/words.h"
#include "tests/routing/fabric_life.h"

/* Changes of a fabric once it is made. */
enum { RENAMED = 1, FEWER_HOSTS = 2, SPEEDS = 4 };

static const struct fabric {
	const char *command;
	double fail;
	uint32_t seed;
	unsigned how;
} fabrics[] = {
	{ "ft2 6 4 3", 0, 1, 0 },
	{ "ft2 7 4 5 2", 0.15, 2, RENAMED | SPEEDS },
	{ "ft3 4", 0, 1, RENAMED },
	{ "ft3 6", 0.1, 3, FEWER_HOSTS },
	{ "tree3 3 4 4 2 3", 0.06, 4, RENAMED },
	{ "director 6 4 2 3 2", 0.05, 5, FEWER_HOSTS },
	{ "ft2 6 4 3 --aggregation-nodes --spine-hosts=1", 0, 6, 0 },
	{ "mesh 4x3 2", 0, 1, RENAMED },
	{ "torus 4x4 2", 0, 1, 0 },
	{ "torus 5x3 1", 0.08, 7, RENAMED },
	{ "torus 3x3x3 1", 0, 8, FEWER_HOSTS },
	{ "hypercube 4 2", 0, 1, SPEEDS },
	{ "dragonfly 2 4 2", 0, 9, RENAMED },
	{ "jellyfish 18 5 2", 0.12, 10, FEWER_HOSTS | SPEEDS },
	/* from here on a sum alone, of default options */
	{ "ft3 8", 0.04, 11, RENAMED | FEWER_HOSTS },
	{ "tree3 4 4 6 4 3", 0.1, 12, FEWER_HOSTS },
	{ "tree3 3 6 5 6 4", 0, 13, RENAMED },
	{ "ft2 14 7 8 3", 0.08, 14, FEWER_HOSTS },
	{ "director 8 4 2 4 4 2", 0.04, 15, RENAMED | SPEEDS },
	{ "director 6 3 3 2 2 1", 0.1, 16, FEWER_HOSTS },
	{ "ft2 9 5 4 --spine-hosts=3", 0.1, 17, FEWER_HOSTS },
	{ "mesh 3x4x2 2", 0.05, 18, FEWER_HOSTS },
	{ "torus 5x5 2", 0.04, 19, FEWER_HOSTS },
	{ "torus 4x3x4 1", 0.03, 20, RENAMED },
	{ "hypercube 5 1", 0.06, 21, FEWER_HOSTS },
	{ "dragonfly 2 6 2", 0.05, 22, FEWER_HOSTS },
	{ "jellyfish 30 4 3", 0, 23, RENAMED },
};

enum { FABRICS = sizeof(fabrics) / sizeof(*fabrics), WITH_OPTIONS = 14 };

/* Engines with options: words "key=value", and "lanes=N" for the most lanes. */
static const struct {
	const char *engine;
	const char *options[12]; /* NULL: no more */
} variants[] = {
	{ "minhop",
	  { "", "scatter_ports=7", "port_shifting=TRUE", "port_profile_switch_nodes=TRUE",
	    "hop_weights_file=weights", "port_prof_ignore_file=ignored",
	    "port_search_ordering_file=search", "guid_routing_order_file=listed" } },
	{ "updn",
	  { "", "root_guid_file=roots", "connect_roots=TRUE", "ids_guid_file=ids",
	    "port_shifting=TRUE port_prof_ignore_file=ignored",
	    "scatter_ports=3 port_profile_switch_nodes=TRUE" } },
	{ "dnup",
	  { "", "root_guid_file=roots connect_roots=TRUE", "port_shifting=TRUE" } },
	{ "dor", { "", "port_search_ordering_file=search", "lanes=2" } },
	{ "sssp",
	  { "", "cn_guid_file=nodes", "cn_guid_file=nodes io_guid_file=listed" } },
	{ "dfsssp", { "", "cn_guid_file=nodes", "lanes=2", "lanes=15" } },
	{ "lash",
	  { "", "do_mesh_analysis=TRUE", "lash_start_vl=2", "lanes=2", "lanes=15" } },
	{ "ftree",
	  { "", "cn_guid_file=nodes", "root_guid_file=roots",
	    "cn_guid_file=nodes io_guid_file=listed max_reverse_hops=2",
	    "connect_roots=TRUE", "port_shifting=TRUE" } },
	{ "dmodc", { "", "root_guid_file=roots", "port_profile_switch_nodes=TRUE" } },
	{ "shortestpath", { "", "spine_first_routing=FALSE", "port_shifting=TRUE" } },
	{ "fattree",
	  { "", "fattree_on_same_tier=FALSE", "fattree_tier_count=2",
	    "fattree_converge=TRUE", "spine_first_routing=FALSE",
	    "adaptive_routing=TRUE adaptive_fine_grained=TRUE" } },
	{ "nue",
	  { "", "nue_max_num_vls=4", "nue_include_switches=TRUE nue_max_num_vls=2" } },
	{ "torus-2QoS", { "", "lanes=4" } },
	{ "file", { "", "lfts_file=tables" } },
	{ "deadlockfree", { "", "lanes=1" } },
	{ "chains",
	  { "pgrp_policy_file=groups topo_policy_file=topologies rch_policy_file=steps" } },
};

enum { TEXTS_MAX = 4000 };

static struct arena *arena;
static struct temp_folder folder;
static uint64_t texts[TEXTS_MAX]; /* of the file, as sums */
static unsigned n_texts;

static void setup(void)
{
	arena = arena_new();
	n_texts = 0;
	column_use_threads(1); /* the fabrics are too small for more */
	temp_folder_new(&folder);
}

static void teardown(void)
{
	static const char *const names[] = { "weights", "ignored",    "search", "listed",
		                             "roots",   "ids",        "nodes",  "tables",
		                             "groups",  "topologies", "steps",  NULL };

	temp_folder_end(&folder, names);
	arena_free(arena);
}

/* ---- fabrics ---- */

static struct graph *without_hosts(const struct graph *g, uint64_t *state)
{
	bool *gone = arena_array(arena, g->n_nodes, sizeof(*gone));

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		gone[i] = g->nodes[i].type == NODE_CA && random_below(state, 5) == 0;
	}
	return fabric_without(g, gone, NULL, arena);
}

/* Cables of different width, speed, MTU and number of lanes. */
static void vary(struct graph *g, uint64_t *state)
{
	static const uint8_t widths[] = { WIDTH_4X, WIDTH_4X, WIDTH_1X, WIDTH_12X };
	static const uint8_t speeds[] = { SPEED_EDR, SPEED_HDR, SPEED_FDR, SPEED_EDR };

	for (uint32_t i = 0; i < g->n_ports; i++) {
		struct port *p = &g->ports[i], *q;

		if (p->peer == GRAPH_NONE || p->peer < i) {
			continue;
		}
		q = &g->ports[p->peer];
		p->width = q->width = widths[random_below(state, 4)];
		p->speed = q->speed = speeds[random_below(state, 4)];
		p->mtu = random_below(state, 4) == 0 ? 4 : 5;
		q->mtu = random_below(state, 4) == 0 ? 3 : 5;
		p->vls = random_below(state, 6) == 0 ? 3 : 5;
		q->vls = 5;
	}
}

static struct graph *make(const struct fabric *f)
{
	uint64_t state = f->seed * 7919;
	struct graph *g = fabric_make(f->command, f->fail, f->seed, arena);

	g = f->how & RENAMED ? fabric_renamed(g, f->seed, arena) : g;
	g = f->how & FEWER_HOSTS ? without_hosts(g, &state) : g;
	if (f->how & SPEEDS) {
		vary(g, &state);
	}
	return g;
}

/* ---- files that options name ---- */

static void write_host_files(const struct graph *g, uint64_t *state)
{
	FILE *nodes = fopen("nodes", "w"), *listed = fopen("listed", "w");

	for (uint32_t h = 0; h < g->n_hosts; h++) {
		uint64_t guid = g->ports[g->hosts[h]].guid;

		if (random_below(state, 4) != 0) {
			fprintf(nodes, "0x%016llx\n", (unsigned long long)guid);
		} else {
			fprintf(listed, "0x%016llx\n", (unsigned long long)guid);
		}
	}
	fputs("0x77\n", nodes); /* nobody */
	fclose(nodes);
	fclose(listed);
}

static void write_switch_files(const struct graph *g, uint64_t *state)
{
	FILE *weights = fopen("weights", "w"), *ignored = fopen("ignored", "w"),
	     *search = fopen("search", "w"), *roots = fopen("roots", "w"),
	     *ids = fopen("ids", "w");

	for (uint32_t s = 0; s < g->n_switches; s++) {
		unsigned long long guid = g->nodes[g->switches[s]].guid;
		uint32_t links = g->adj_first[s + 1] - g->adj_first[s];
		uint32_t at = g->adj_first[s] + (links ? random_below(state, links) : 0);

		fprintf(ids, "0x%016llx %u\n", guid, random_below(state, 1000));
		if (g->host_first[s] == g->host_first[s + 1]) {
			fprintf(roots, "0x%016llx\n", guid);
		}
		if (links == 0) {
			continue;
		}
		if (random_below(state, 3) == 0) {
			fprintf(weights, "0x%016llx %u %u\n", guid, g->adj[at].port,
			        random_below(state, 4));
		}
		if (random_below(state, 4) == 0) {
			fprintf(ignored, "0x%016llx %u\n", guid, g->adj[at].port);
		}
		fprintf(search, "0x%016llx", guid);
		for (uint32_t i = g->adj_first[s + 1]; i-- > g->adj_first[s];) {
			fprintf(search, " %u", g->adj[i].port);
		}
		fputc('\n', search);
	}
	fclose(weights);
	fclose(ignored);
	fclose(search);
	fclose(roots);
	fclose(ids);
}

/* Tables of another engine, as "file" reads them. */
static void write_tables(const struct graph *g)
{
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_request r = { .g = g, .lids = &l, .threads = 1 };
	struct route_result result;
	struct why why = { "" };
	FILE *f = fopen("tables", "w");

	ck_assert_int_eq(route_list_parse("minhop", &r.list, &why), E_OK);
	r.credit_loops = CREDIT_PROGRAM;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_int_eq(lftfile_write(g, &l, &result.out.lft, f), E_OK);
	fclose(f);
}

/* Parts of a fabric: its even switches and its odd ones. */
static void write_chain_files(void)
{
	temp_file_write(
		"groups",
		"port-group\nname: even\nport-regexp: ^[a-z].*[02468]$\nend-port-group\n"
		"port-group\nname: odd\nsubtract-rule: ALL_SWITCHES, even\nend-port-group\n");
	temp_file_write("topologies",
	                "topology\nid: 1\nsw-grp: even\nhca-grp: ALL_CAS\nend-topology\n"
	                "topology\nid: 2\nsw-grp: odd\nhca-grp: ALL_CAS\nend-topology\n");
	temp_file_write(
		"steps",
		"unicast-step\nid: 1\nengine: minhop\nend-unicast-step\n"
		"unicast-step\nid: 2\nengine: updn\ntopology: 1\nend-unicast-step\n"
		"unicast-step\nid: 3\nengine: ftree\ntopology: 2\nend-unicast-step\n"
		"unicast-step\nid: 4\nengine: dnup\nfallback-to: 3\ntopology: 2\nend-unicast-step\n");
}

static void write_files(const struct graph *g, uint64_t seed)
{
	uint64_t state = seed * 31;

	write_chain_files();
	write_host_files(g, &state);
	write_switch_files(g, &state);
	write_tables(g);
}

/* Options of all engines, as the words say. Remarks about the files go to \a f. */
static struct engine_options *options_of(const char *text, uint8_t *ret_lanes, FILE *f)
{
	struct engine_options *o = arena_alloc(arena, sizeof(*o));
	struct diags *d = arena_alloc(arena, sizeof(*d));
	char *words[8];
	int n = words_split(text, arena, words, 8);

	diags_init(d, arena);
	ck_assert_int_eq(engine_options_init(o, arena), E_OK);
	ck_assert_int_eq(option_set_defaults(&o->sets, arena), E_OK);
	for (int i = 0; i < n; i++) {
		char *value = strchr(words[i], '=');

		*value++ = '\0';
		if (strcmp(words[i], "lanes") == 0) {
			*ret_lanes = (uint8_t)atoi(value);
			continue;
		}
		ck_assert_msg(option_set(&o->sets, arena, words[i], value, "o",
		                         (unsigned)i, d) == E_OK,
		              "%s: %s", words[i], take_problems(d));
	}
	ck_assert_int_eq(engine_options_bind(o, arena, d), E_OK);
	fputs(take_problems(d), f);
	return o;
}

/* ---- sums ---- */

static uint64_t sum_lft(const struct lft *t)
{
	uint64_t sum = GOLDEN_SUM;

	for (uint32_t s = 0; t->rows != NULL && s < t->n_switches; s++) {
		sum = golden_sum(sum, lft_row(t, s), t->n_lids);
	}
	return sum;
}

static uint64_t sum_lanes(const struct lanes *l, const struct lft *t)
{
	const struct vl_rule *r = l->rule;
	uint64_t sum = golden_sum_number(GOLDEN_SUM, l->n);

	for (uint32_t s = 0; l->rows != NULL && s < t->n_switches; s++) {
		sum = golden_sum(sum, l->rows + s * l->stride, t->n_lids);
	}
	if (r != NULL) {
		sum = golden_sum_number(sum, r->vls);
		sum = golden_sum_number(sum, r->levels);
		sum = golden_sum_number(sum, r->level_shift);
		sum = golden_sum(sum, r->vl, sizeof(r->vl));
		sum = golden_sum(sum, r->port_class, (size_t)t->n_switches * r->width);
	}
	return sum;
}

static uint64_t sum_load(const struct load *l)
{
	uint64_t sum = golden_sum_number(GOLDEN_SUM, l->n);

	for (uint32_t i = 0; i < l->n; i++) {
		sum = golden_sum_number(sum, l->all[i]);
		sum = golden_sum_number(sum, l->base[i]);
	}
	return sum;
}

static uint64_t sum_paths(const struct paths *p)
{
	uint64_t sum = golden_sum_number(GOLDEN_SUM, p->n_lids);

	for (uint32_t i = 0; i < p->n_sources; i++) {
		sum = golden_sum_number(sum, p->source[i]);
		for (uint32_t lid = 0; lid < p->n_lids; lid++) {
			const struct path_row *r = &p->rows[(size_t)i * p->n_lids + lid];
			const uint8_t bytes[] = { r->mtu, r->rate, r->hops, r->lane };

			sum = golden_sum(sum, bytes, sizeof(bytes));
		}
	}
	return sum;
}

static uint64_t sum_alternates(const struct alternates *x, const struct lft *t)
{
	uint64_t sum = golden_sum_number(GOLDEN_SUM, x->routes);

	sum = golden_sum_number(sum, x->served);
	sum = golden_sum_number(sum, x->full);
	sum = golden_sum_number(sum, x->thinned);
	for (uint32_t s = 0; x->rows != NULL && s < t->n_switches; s++) {
		sum = golden_sum(sum, x->rows + s * x->stride, t->n_lids);
		for (unsigned k = 0; k < x->groups[s].n; k++) {
			for (unsigned w = 0; w < PORT_SET_WORDS; w++) {
				sum = golden_sum_number(sum, x->groups[s].set[k].word[w]);
			}
		}
	}
	return sum;
}

static uint64_t sum_trees(const struct mcast_tree *t, uint32_t n)
{
	uint64_t sum = GOLDEN_SUM;

	for (uint32_t i = 0; i < n; i++) {
		sum = golden_sum_number(sum, t[i].root);
		sum = golden_sum_number(sum, t[i].missed);
		for (uint32_t k = 0; k < t[i].n; k++) {
			sum = golden_sum_number(sum, t[i].ports[k].sw);
			sum = golden_sum_number(sum, t[i].ports[k].port);
		}
	}
	return sum;
}

static uint64_t sum_blocks(const struct mft_block *b, uint32_t n)
{
	uint64_t sum = golden_sum_number(GOLDEN_SUM, n);

	for (uint32_t i = 0; i < n; i++) {
		sum = golden_sum_number(sum, b[i].sw);
		sum = golden_sum_number(sum, b[i].position);
		sum = golden_sum_number(sum, b[i].block);
		for (unsigned k = 0; k < MFT_BLOCK_MLIDS; k++) {
			sum = golden_sum_number(sum, b[i].mask[k]);
		}
	}
	return sum;
}

static uint64_t sum_numbers(const uint32_t *v, uint32_t n)
{
	uint64_t sum = golden_sum_number(GOLDEN_SUM, n);

	for (uint32_t i = 0; i < n; i++) {
		sum = golden_sum_number(sum, v[i]);
	}
	return sum;
}

static uint64_t sum_figure(uint64_t sum, const struct disjoint_sum *x)
{
	sum = golden_sum_number(sum, x->sum);
	sum = golden_sum_number(sum, x->all);
	return golden_sum_number(sum, x->least);
}

static uint64_t sum_disjoint(const struct disjoint *x)
{
	uint64_t sum = golden_sum_number(GOLDEN_SUM, x->pairs);

	for (unsigned i = 0; i < DISJOINT_COUNT; i++) {
		sum = sum_figure(sum, &x->level[i]);
	}
	return sum_figure(sum_figure(sum, &x->unique), &x->first);
}

/* ---- lines ---- */

/* A text of several sentences on one line; its number alone where it came before. */
static void put_text(FILE *f, const char *what, const char *text)
{
	uint64_t sum = golden_sum_text(GOLDEN_SUM, text);
	unsigned i = 0;

	if (text == NULL || text[0] == '\0') {
		return;
	}
	while (i < n_texts && texts[i] != sum) {
		i++;
	}
	if (i < n_texts || n_texts == TEXTS_MAX) {
		fprintf(f, "  %s %u\n", what, i);
		return;
	}
	texts[n_texts++] = sum;
	fprintf(f, "  %s %u: ", what, i);
	for (; *text != '\0'; text++) {
		fputc(*text == '\n' ? '|' : *text, f);
	}
	fputc('\n', f);
}

static void put_result(FILE *f, const struct route_result *r, const struct graph *g,
                       const struct lids *l)
{
	const struct route_out *o = &r->out;
	uint64_t may_miss =
		o->may_miss ? golden_sum(GOLDEN_SUM, o->may_miss, o->lft.n_lids) : 0;
	struct disjoint apart = { 0 };
	struct validation valid;

	fprintf(f, "  by %s: tables %016llx lanes %u %016llx flags %d%d%d%d %llx\n",
	        r->used->name, (unsigned long long)sum_lft(&o->lft), o->lanes.n,
	        (unsigned long long)sum_lanes(&o->lanes, &o->lft), o->may_deadlock,
	        o->beyond_rule, o->passes_always, o->keeps_others,
	        (unsigned long long)may_miss);
	fprintf(f, "  load %016llx max %u p99 %u idle %u mean %.3f, paths %016llx\n",
	        (unsigned long long)sum_load(&r->load), r->load.max, r->load.p99,
	        r->load.idle, r->load.mean, (unsigned long long)sum_paths(&r->paths));
	ck_assert_int_eq(disjoint_count(g, l, &o->lft, &apart), E_OK);
	fprintf(f, "  disjoint %llu %016llx\n", (unsigned long long)apart.routes,
	        (unsigned long long)sum_disjoint(&apart));
	ck_assert_int_eq(validate_routes(g, l, &o->lft, 5, arena, &valid), E_OK);
	fprintf(f, "  valid %llu %llu %llu %llu %llu\n",
	        (unsigned long long)valid.analyzed, (unsigned long long)valid.incomplete,
	        (unsigned long long)valid.host_analyzed,
	        (unsigned long long)valid.host_incomplete,
	        (unsigned long long)valid.decisions);
	if (r->alternates.rows != NULL) {
		fprintf(f, "  alternates %llu of %llu, %016llx\n",
		        (unsigned long long)r->alternates.served,
		        (unsigned long long)r->alternates.routes,
		        (unsigned long long)sum_alternates(&r->alternates, &o->lft));
	}
	put_text(f, "notes", o->notes.text);
	put_text(f, "fallback", r->fallback_reason.text);
	put_text(f, "warning", r->warning.text);
	put_text(f, "proof", proof_text(&r->proof, g, arena));
}

/* Trees of some groups. */
static void put_trees(FILE *f, const struct route_request *r, const struct engine *used,
                      uint64_t *state)
{
	enum { GROUPS = 4 };
	struct mcast_group groups[GROUPS];
	struct mcast_in in = { .groups = groups, .n_groups = GROUPS };
	struct mcast_tree trees[GROUPS];
	struct mft_block *blocks;
	struct why why = { "" };
	uint32_t n;

	for (unsigned i = 0; i < GROUPS; i++) {
		struct mcast_member *m =
			arena_array(arena, r->g->n_end_ports, sizeof(*m));

		groups[i] =
			(struct mcast_group){ .mlid = MLID_FIRST + i * 11, .members = m };
		for (uint32_t k = 0; k < r->g->n_end_ports; k++) {
			if (random_below(state, 2 + i) == 0) {
				m[groups[i].n++] = (struct mcast_member){
					.port = r->g->end_ports[k],
					.sends_only = random_below(state, 5) == 0
				};
			}
		}
	}
	ck_assert_int_eq(route_multicast(r, used, &in, arena, trees, &why), E_OK);
	ck_assert_int_eq(mcast_blocks(&in, trees, arena, &blocks, &n), E_OK);
	fprintf(f, "  trees %016llx blocks %016llx\n",
	        (unsigned long long)sum_trees(trees, GROUPS),
	        (unsigned long long)sum_blocks(blocks, n));
	put_text(f, "trees", why.text);
}

static void put_order(FILE *f, const struct engine *e, const struct route_request *r)
{
	struct route_in in = { .g = r->g, .lids = r->lids };
	struct why why = { "" };
	const char *text = "";
	int ret;

	if (e->node_order == NULL) {
		return;
	}
	ck_assert_int_eq(engine_options_of(r->options, e, arena, &in.options), E_OK);
	ret = e->node_order(&in, arena, &text, &why);
	fprintf(f, "  order %s %016llx\n", ret == E_OK ? "" : err_text(ret),
	        (unsigned long long)golden_sum_text(GOLDEN_SUM, text));
	put_text(f, "order", why.text);
}

static void route_once(FILE *f, const char *engine, const char *options,
                       const struct graph *g, uint32_t lmc, uint64_t seed)
{
	struct adaptive_options adaptive = { .enable = true,
		                             .fine_grained = lmc == 0,
		                             .port_groups = 12 };
	struct lids l = fabric_lids(g, lmc, lmc, arena);
	struct route_request r = { .g = g,
		                   .lids = &l,
		                   .threads = 1,
		                   .credit_loops =
		                           lmc == 0 ? CREDIT_PROGRAM : CREDIT_FALLBACK,
		                   .adaptive = &adaptive };
	struct route_result result = { 0 };
	struct why why = { "" };
	char list[64];
	int ret;

	snprintf(list, sizeof(list), "%s%s", engine, lmc == 0 ? ",no_fallback" : "");
	ck_assert_msg(route_list_parse(list, &r.list, &why) == E_OK, "%s", why.text);
	r.options = options_of(options, &r.max_lanes, f);
	ret = route_run(&r, arena, &result);
	if (ret != E_OK) {
		fprintf(f, "  %s\n", err_text(ret));
		put_text(f, "refused", result.fallback_reason.text);
		put_text(f, "notes", result.out.notes.text);
		return;
	}
	put_result(f, &result, g, &l);
	put_trees(f, &r, result.used, &seed);
	put_order(f, result.used, &r);
}

/* Lines that stand in the file as a sum. */
struct summed {
	FILE *f;
	char *text;
	size_t len;
};

static void begin_sum(struct summed *x)
{
	x->f = open_memstream(&x->text, &x->len);
	ck_assert_ptr_nonnull(x->f);
}

static void end_sum(struct summed *x, FILE *f)
{
	fclose(x->f);
	fprintf(f, "  %016llx\n",
	        (unsigned long long)golden_sum(GOLDEN_SUM, x->text, x->len));
	free(x->text);
}

START_TEST(tables_of_an_engine)
{
	const char *engine = variants[_i].engine;
	struct golden golden;

	golden_begin(&golden, arena_printf(arena, "routing/%s", engine));
	temp_folder_enter(&folder);
	for (unsigned i = 0; i < WITH_OPTIONS; i++) {
		const struct graph *g = make(&fabrics[i]);

		write_files(g, fabrics[i].seed);
		for (const char *const *o = variants[_i].options; *o != NULL; o++) {
			for (uint32_t lmc = 0; lmc <= (**o == '\0'); lmc++) {
				fprintf(golden.f, "%s, LMC %u, %s\n", fabrics[i].command,
				        lmc, *o);
				route_once(golden.f, engine, *o, g, lmc, 99 + i);
			}
		}
	}
	for (unsigned i = WITH_OPTIONS; i < FABRICS; i++) {
		const struct graph *g = make(&fabrics[i]);
		struct summed x;

		write_files(g, fabrics[i].seed);
		begin_sum(&x);
		route_once(x.f, engine, variants[_i].options[0], g, 0, 99 + i);
		fprintf(golden.f, "%s\n", fabrics[i].command);
		end_sum(&x, golden.f);
	}
	temp_folder_leave(&folder);
	golden_end(&golden);
}
END_TEST

/* ---- small changes ---- */

static const struct {
	const char *engine;
	unsigned fabric;
	uint32_t lmc;
} lives[] = {
	{ "minhop", 0, 0 },  { "minhop", 3, 1 },     { "minhop", 13, 0 },
	{ "updn", 2, 0 },    { "updn", 4, 1 },       { "dnup", 9, 0 },
	{ "dnup", 13, 0 },   { "dor", 7, 0 },        { "ftree", 2, 0 },
	{ "ftree", 4, 0 },   { "dmodc", 3, 0 },      { "dmodc", 5, 1 },
	{ "fattree", 3, 0 }, { "sssp", 13, 0 },      { "dfsssp", 9, 0 },
	{ "dfsssp", 12, 0 }, { "lash", 9, 0 },       { "lash", 13, 0 },
	{ "nue", 8, 0 },     { "torus-2QoS", 8, 0 }, { "shortestpath", 1, 0 },
};

static void put_comparison(FILE *f, const struct life *l, const struct lft *old,
                           const struct lft *now)
{
	struct compared_tables before = { .g = l->g, .lids = &l->lids, .lft = old };
	struct compared_tables after = { .g = l->g, .lids = &l->lids, .lft = now };
	struct transition_in in = { .g = l->g, .lids = &l->lids, .from = old, .to = now };
	struct transition t;
	struct comparison c;
	int ret;

	ck_assert_int_eq(compare_tables(&before, &after, arena, &c), E_OK);
	fprintf(f,
	        "  compared %llu %llu %llu %llu %llu %llu %llu %llu %llu %u, lost %u\n",
	        (unsigned long long)c.pairs, (unsigned long long)c.moved,
	        (unsigned long long)c.longer, (unsigned long long)c.shorter,
	        (unsigned long long)c.lost, (unsigned long long)c.gained,
	        (unsigned long long)c.gone, (unsigned long long)c.entries,
	        (unsigned long long)c.blocks, c.switches,
	        c.n_lost > 0 ? c.lost_pair[0].lid : 0);
	ret = transition_plan(&in, arena, &t);
	if (ret != E_OK) {
		fprintf(f, "  no stages: %s\n", err_text(ret));
		return;
	}
	fprintf(f, "  stages %u changed %u withdrawn %u loops %u %u %016llx\n",
	        t.n_stages, t.changed, t.withdrawn, t.may_loop, t.credit_loops,
	        (unsigned long long)golden_sum(GOLDEN_SUM, t.stage, l->lids.top + 1));
	put_text(f, "why", t.why.text);
}

static void live(FILE *f, unsigned which, uint64_t seed)
{
	struct life l = { 0 };
	uint64_t state = 77 + which + 1000 * seed;
	struct route_result result;
	struct lanes lanes;

	life_start(&l, make(&fabrics[lives[which].fabric]), lives[which].engine,
	           lives[which].lmc, arena);
	l.left.base = route_base_new();
	l.left.cache = route_cache_new();
	l.request.incremental = (which + seed) % 3 != 2;
	for (unsigned step = 0; step < 10; step++) {
		int ret = route_run(&l.request, arena, &result);

		fprintf(f, " step %u: %s\n", step, ret == E_OK ? "" : err_text(ret));
		if (ret == E_OK) {
			put_result(f, &result, l.g, &l.lids);
			fprintf(f,
			        "  %s%s%s, touched %016llx changed %016llx circling %016llx\n",
			        result.incremental ? "incremental" : "full",
			        result.cached ? " cached" : "",
			        result.mixtures_proven ? " mixtures" : "",
			        (unsigned long long)sum_numbers(result.touched_lid,
			                                        result.n_touched),
			        (unsigned long long)sum_numbers(result.changed_lid,
			                                        result.n_changed),
			        (unsigned long long)sum_numbers(result.circling,
			                                        result.n_circling));
			put_text(f, "full", result.full_reason.text);
			put_text(f, "miss", result.cache_miss.text);
			if (l.prev.rows != NULL &&
			    l.prev.n_lids == result.out.lft.n_lids &&
			    l.prev.n_switches == result.out.lft.n_switches) {
				put_comparison(f, &l, &l.prev, &result.out.lft);
			}
			life_keep_tables(&l, &result.out.lft);
			lanes = result.out.lanes;
			lanes.rows =
				lanes.rows == NULL
					? NULL
					: memcpy(arena_alloc(arena, l.prev.n_switches *
			                                                    lanes.stride),
			                         lanes.rows,
			                         l.prev.n_switches * lanes.stride);
			l.left.lanes = lanes.rule == NULL ? &lanes : NULL;
		}
		if (step % 4 != 3) {
			life_change(&l, &state);
		}
	}
	route_base_free(l.left.base);
	route_cache_free(l.left.cache);
}

START_TEST(changes_of_a_fabric)
{
	struct golden golden;

	golden_begin(&golden, "routing/changes");
	for (unsigned i = 0; i < sizeof(lives) / sizeof(*lives); i++) {
		fprintf(golden.f, "%s, LMC %u, %s\n", fabrics[lives[i].fabric].command,
		        lives[i].lmc, lives[i].engine);
		live(golden.f, i, 0);
		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct summed x;

			begin_sum(&x);
			live(x.f, i, seed);
			end_sum(&x, golden.f);
		}
	}
	golden_end(&golden);
}
END_TEST

/* ---- tables that are not right ---- */

START_TEST(damaged_tables)
{
	struct golden golden;
	uint64_t state = 4711;

	golden_begin(&golden, "routing/damaged");
	for (unsigned i = 0; i < 3 * FABRICS; i++) {
		const struct graph *g = make(&fabrics[i / 3]);
		struct lids l = fabric_lids(g, i % 3 == 2, 0, arena);
		struct route_request r = {
			.g = g, .lids = &l, .threads = 1, .credit_loops = CREDIT_PROGRAM
		};
		struct life x = { .g = (struct graph *)(uintptr_t)g, .lids = l };
		struct route_result result, checked;
		struct why why = { "" };
		struct lft was;
		int ret;

		ck_assert_int_eq(route_list_parse("minhop", &r.list, &why), E_OK);
		ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
		ck_assert_int_eq(lft_init(&was, g->n_switches, l.top, arena), E_OK);
		memcpy(was.rows, result.out.lft.rows, was.n_switches * was.stride);
		for (unsigned k = 0; k <= i % 3 * 8; k++) {
			uint8_t *row = lft_row(&result.out.lft,
			                       random_below(&state, g->n_switches));

			row[1 + random_below(&state, l.top)] =
				random_below(&state, 5) == 0
					? LFT_NO_ROUTE
					: (uint8_t)random_below(&state, g->max_port + 1u);
		}
		ret = route_check(&r, &result.out.lft, &result.out.lanes, arena,
		                  &checked);
		fprintf(golden.f, "%s, %u: %s\n", fabrics[i / 3].command, i % 3,
		        ret == E_OK ? "" : err_text(ret));
		put_text(golden.f, "proof", proof_text(&checked.proof, g, arena));
		fprintf(golden.f,
		        "  pairs %llu unreachable %llu holes %llu loops %llu %llu management %llu %llu vls %u %u\n",
		        (unsigned long long)checked.proof.pairs,
		        (unsigned long long)checked.proof.unreachable_pairs,
		        (unsigned long long)checked.proof.holes,
		        (unsigned long long)checked.proof.forwarding_loops,
		        (unsigned long long)checked.proof.credit_loops,
		        (unsigned long long)checked.proof.management_unreachable,
		        (unsigned long long)checked.proof.management_credit_loops,
		        checked.proof.vls_used, checked.proof.management_vls);
		put_comparison(golden.f, &x, &was, &result.out.lft);
	}
	golden_end(&golden);
}
END_TEST

TEST_SUITE(golden)
{
	TCase *t = tcase_create("golden");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, tables_of_an_engine, 0,
	                    sizeof(variants) / sizeof(*variants));
	tcase_add_test(t, changes_of_a_fabric);
	tcase_add_test(t, damaged_tables);
	suite_add_tcase(suite, t);
}
