/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * updn: routes climb towards root switches and descend from them, never the other way
 * round; free of credit loops on any fabric.
 *
 * The rank of a switch is its distance from the nearest root; where ranks are equal, the
 * smaller id stands higher, by default the GUID. Paths and tables are those of updown.c.
 *
 * Roots come from a file, or are found: in a tree the hosts hang on the lowest switches,
 * so the height of a switch is its distance from the nearest one with hosts, and the
 * highest are the roots. That is accepted as a tree when at least half of all pairs of
 * switches with hosts are joined by a path that climbs, then descends, with a change of
 * height in each step: true of trees with a fifth of their cables gone, not of rings,
 * meshes or cubes.
 *
 * What differs from OpenSM 3.3.23, all towards what the manual says or to routes that
 * OpenSM leaves out:
 * - The GUID of a host or router in the root file stands for its switch (the manual);
 *   OpenSM ignores it.
 * - Roots are found on broken trees, too. OpenSM counts hosts by distance and wants
 * nearly all of them at one, so a root with few missing cables is none and much of the
 * tree is turned upside down.
 * - Every pair of a connected fabric has a route, root to root and management included,
 * by the line that updown.c grows. OpenSM leaves such pairs without a route. So
 * connect_roots has nothing to add; and as nothing is broken for it, it brings no credit
 * loops either.
 * - Of the ports that lead closer, the one with the fewest routes that really pass is
 * taken; see spread.c, and spread_options.h for the options of this stage.
 *
 * Source: MLNX_OFED user manual, "UPDN Algorithm"; opensm(8), "UPDN ROUTING ALGORITHM".
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "conf/guidfile.h"
#include "conf/text.h"
#include "routing/engine.h"
#include "routing/graph.h"
#include "routing/guid_switches.h"
#include "routing/spread_options.h"
#include "routing/updown.h"

struct updn_options {
	struct spread_options spread;
	const struct guid_file *root_guid_file, *ids_guid_file;
	bool connect_roots;
};

enum { BITS = 64 };

/* ---- GUIDs of the files ---- */

static void mark_root(void *ctx, uint32_t sw, const struct guid_record *r)
{
	uint16_t *rank = ctx;
	(void)r;

	rank[sw] = 0;
}

static void set_id(void *ctx, uint32_t sw, const struct guid_record *r)
{
	uint64_t *id = ctx, v;

	if (text_number(r->rest, &v) == E_OK) {
		id[sw] = v;
	}
}

/* ---- ranks ---- */

static const struct updn_options no_options;

static const struct updn_options *options_of(const struct route_in *in)
{
	return in->options ? in->options : &no_options;
}

/* Distance from the roots, which have rank 0 already; the others UPDOWN_RANK_NONE. */
static int rank_from_roots(const struct graph *g, uint16_t *rank, struct arena *a)
{
	uint32_t *queue = arena_array(a, g->n_switches, sizeof(*queue)), head = 0,
		 tail = 0;

	if (!queue) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (rank[s] == 0) {
			queue[tail++] = s;
		}
	}
	while (head < tail) {
		uint32_t s = queue[head++];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (rank[to] == UPDOWN_RANK_NONE &&
			    rank[s] + 1U < UPDOWN_RANK_NONE) {
				rank[to] = (uint16_t)(rank[s] + 1U);
				queue[tail++] = to;
			}
		}
	}
	return E_OK;
}

/* Ranks by the root file. E_UNSUITABLE: it names nothing that is there. */
static int ranks_of_file(const struct graph *g, const struct guid_file *roots,
                         struct arena *a, uint16_t **ret, struct why *why)
{
	uint16_t *rank = arena_array(a, g->n_switches, sizeof(*rank));

	if (!rank) {
		return -ENOMEM;
	}
	memset(rank, 0xff, g->n_switches * sizeof(*rank));
	if (!guid_switches(g, roots, mark_root, rank, why) && g->n_switches) {
		why_add(why, "updn: no root switch: none of %s is in the fabric",
		        roots->path);
		return E_UNSUITABLE;
	}
	*ret = rank;
	return rank_from_roots(g, rank, a);
}

static int ranks_of_heights(const struct graph *g, struct arena *a, uint16_t **ret)
{
	uint16_t *rank, top = 0;
	int ret_code = updown_heights(g, a, &rank);

	if (ret_code != E_OK) {
		return ret_code;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		top = rank[s] != UPDOWN_RANK_NONE && rank[s] > top ? rank[s] : top;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		rank[s] =
			rank[s] == UPDOWN_RANK_NONE ? rank[s] : (uint16_t)(top - rank[s]);
	}
	*ret = rank;
	return E_OK;
}

/* ---- is it a tree? ---- */

struct tree {
	const struct graph *g;
	const uint16_t *rank;
	uint32_t *by_rank; /* [n] switches, the roots first */
	uint32_t *leaf;    /* [n_leaves] switches with hosts */
	uint32_t n_leaves;
	uint64_t *reach; /* [n] bit per leaf of the block: descends, then climbs and
	                    descends */
};

static int tree_init(struct tree *t, const struct graph *g, const uint16_t *rank,
                     struct arena *a)
{
	uint32_t *fill = arena_array(a, UPDOWN_RANK_NONE + 2, sizeof(*fill)), sum = 0;

	*t = (struct tree){ .g = g, .rank = rank };
	t->by_rank = arena_array(a, g->n_switches, sizeof(*t->by_rank));
	t->leaf = arena_array(a, g->n_switches, sizeof(*t->leaf));
	t->reach = arena_array(a, g->n_switches, sizeof(*t->reach));
	if (!fill || !t->by_rank || !t->leaf || !t->reach) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		fill[rank[s] + 1U]++;
		if (g->host_first[s] != g->host_first[s + 1]) {
			t->leaf[t->n_leaves++] = s;
		}
	}
	for (uint32_t r = 0; r <= UPDOWN_RANK_NONE; r++) {
		sum += fill[r];
		fill[r] = sum;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		t->by_rank[fill[rank[s]]++] = s;
	}
	return E_OK;
}

/* Adds what the neighbours of lower (or else of higher) rank number reach. */
static void gather(struct tree *t, uint32_t s, bool from_above)
{
	const struct graph *g = t->g;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if (from_above ? t->rank[to] < t->rank[s] : t->rank[to] > t->rank[s]) {
			t->reach[s] |= t->reach[to];
		}
	}
}

/* Ordered pairs of switches with hosts that a path of up, then down steps joins. */
static uint64_t joined_pairs(struct tree *t)
{
	uint32_t n = t->g->n_switches;
	uint64_t joined = 0;

	for (uint32_t first = 0; first < t->n_leaves; first += BITS) {
		memset(t->reach, 0, n * sizeof(*t->reach));
		for (uint32_t k = first; k < t->n_leaves && k < first + BITS; k++) {
			t->reach[t->leaf[k]] = UINT64_C(1) << (k - first);
		}
		for (uint32_t i = n; i-- > 0;) {
			gather(t, t->by_rank[i], false);
		}
		for (uint32_t i = 0; i < n; i++) {
			gather(t, t->by_rank[i], true);
		}
		for (uint32_t k = 0; k < t->n_leaves; k++) {
			joined += (unsigned)__builtin_popcountll(t->reach[t->leaf[k]]);
		}
	}
	return joined - t->n_leaves;
}

/* Pairs of switches with hosts in one part. */
static int connected_pairs(const struct tree *t, struct arena *a, uint64_t *ret)
{
	const struct updown_rule rule = { .rank = t->rank };
	uint32_t *pos, *part;
	int ret_code = updown_order(t->g, &rule, a, &pos, &part);
	uint32_t *count = arena_array(a, t->g->n_switches, sizeof(*count));
	uint64_t pairs = 0;

	if (ret_code != E_OK || !count) {
		return ret_code != E_OK ? ret_code : -ENOMEM;
	}
	for (uint32_t k = 0; k < t->n_leaves; k++) {
		pairs += 2 * (uint64_t)count[part[t->leaf[k]]]++;
	}
	*ret = pairs;
	return E_OK;
}

static int check_tree(const struct graph *g, struct arena *a, struct why *why)
{
	uint64_t joined, pairs = 0;
	uint16_t *rank = NULL;
	struct tree t;
	int ret = ranks_of_heights(g, a, &rank);

	if (ret == E_OK) {
		ret = tree_init(&t, g, rank, a);
	}
	if (ret == E_OK) {
		ret = connected_pairs(&t, a, &pairs);
	}
	if (ret == E_RANGE) {
		why_add(why, "updn: more than %u switches", UINT16_MAX);
		return E_UNSUITABLE;
	}
	if (ret != E_OK) {
		return ret;
	}
	joined = joined_pairs(&t);
	if (2 * joined < pairs) {
		why_add(why,
		        "updn: no root switches were found: only %" PRIu64 " of %" PRIu64
		        " pairs of switches with hosts are joined over switches further "
		        "from hosts; name the roots with root_guid_file",
		        joined, pairs);
		return E_UNSUITABLE;
	}
	return E_OK;
}

/* ---- the engine ---- */

static int check_ids(const struct guid_file *f, struct why *why)
{
	uint64_t v;

	for (uint32_t i = 0; f && i < f->n; i++) {
		if (text_number(f->records[i].rest, &v) != E_OK) {
			why_add(why,
			        "updn: %s:%u: expected a switch GUID and a number, not "
			        "'%.64s' behind the GUID",
			        f->path, f->records[i].line, f->records[i].rest);
			return E_UNSUITABLE;
		}
	}
	return E_OK;
}

static int updn_check(const struct route_in *in, struct why *why)
{
	const struct updn_options *o = options_of(in);
	struct arena *tmp = arena_new();
	struct why unknown = { "" };
	uint16_t *rank;
	int ret;

	if (!tmp) {
		return -ENOMEM;
	}
	ret = check_ids(o->ids_guid_file, why);
	if (ret == E_OK && o->root_guid_file) {
		ret = ranks_of_file(in->g, o->root_guid_file, tmp, &rank, &unknown);
		if (ret == E_UNSUITABLE) {
			*why = unknown;
		}
	} else if (ret == E_OK) {
		ret = check_tree(in->g, tmp, why);
	}
	arena_free(tmp);
	return ret;
}

static int ids_of_file(const struct graph *g, const struct guid_file *f, struct arena *a,
                       uint64_t **ret, struct why *why)
{
	uint64_t *id = arena_array(a, g->n_switches, sizeof(*id));

	if (!id) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		id[s] = g->nodes[g->switches[s]].guid;
	}
	guid_switches(g, f, set_id, id, why);
	*ret = id;
	return E_OK;
}

static int updn_route(const struct route_in *in, struct arena *a, struct route_out *ret)
{
	const struct updn_options *o = options_of(in);
	struct arena *tmp = arena_new();
	uint16_t *rank = NULL;
	uint64_t *id = NULL;
	int ret_code = tmp ? E_OK : -ENOMEM;

	if (ret_code == E_OK) {
		ret_code = o->root_guid_file ? ranks_of_file(in->g, o->root_guid_file,
		                                             tmp, &rank, &ret->notes)
		                             : ranks_of_heights(in->g, tmp, &rank);
	}
	if (ret_code == E_OK && o->ids_guid_file) {
		ret_code = ids_of_file(in->g, o->ids_guid_file, tmp, &id, &ret->notes);
	}
	if (ret_code == E_OK) {
		const struct updown_rule rule = { .rank = rank, .id = id };

		ret_code = updown_route(in, &rule, &o->spread, a, ret);
	}
	arena_free(tmp);
	return ret_code;
}

#define MEMBER(m) .offset = offsetof(struct updn_options, m)

/* clang-format off */
static const struct option_row updn_rows[] = {
	SPREAD_OPTION_ROWS(struct updn_options, spread),
	{ .name = "root_guid_file", .type = OPT_GUID_FILE, MEMBER(root_guid_file), .letter = 'a',
	  .flags_long = "root_guid_file", .arg = "FILE",
	  .help = "GUIDs of the root switches of a tree, or of hosts on them; none: they are found" },
	{ .name = "ids_guid_file", .type = OPT_GUID_FILE, MEMBER(ids_guid_file), .letter = 'm',
	  .flags_long = "ids_guid_file", .arg = "FILE",
	  .help = "Switch GUIDs and the numbers that stand for them where updn compares equal ranks" },
	{ .name = "connect_roots", .type = OPT_BOOL, MEMBER(connect_roots), .def = "FALSE",
	  .letter = 'z', .flags_long = "connect_roots", .flags = OPT_NO_ARG,
	  .help = "Routes between root switches; updn and dnup have them always, free of credit loops" },
	{ .name = NULL }
};
/* clang-format on */

const struct engine engine_updn = {
	.name = "updn",
	.adaptive_name = "ar_updn",
	.summary = "Up towards the roots of a tree, then down; free of credit loops",
	.deadlock_free_order = 70,
	.flags = ENGINE_DEADLOCK_FREE | ENGINE_STAGE2,
	.options = updn_rows,
	.opt_size = sizeof(struct updn_options),
	.check = updn_check,
	.route = updn_route,
};
