/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * updn: routes climb towards root switches, then descend, never the reverse; so they are
 * free of credit loops on any fabric.
 *
 * The rank of a switch is its distance from the nearest root. Among equal ranks the smaller
 * id is higher, by default the GUID. Paths and tables are described in
 * routing/spread/updown.h.
 *
 * Roots come from a file or are found: in a tree the hosts are on the lowest switches, so
 * the height of a switch is its distance from the nearest switch with hosts, and the highest
 * switches are the roots. The fabric is accepted as a tree if at least half of all pairs of
 * switches with hosts are joined by a path that climbs, then descends, and changes its
 * height in each hop. This holds for trees with a fifth of their cables missing, but not for
 * rings, meshes or cubes.
 *
 * Differences from OpenSM 3.3.23, all towards the manual or towards routes that OpenSM does
 * not have:
 * - The GUID of a host or router in the root file stands for its switch (as in the manual);
 *   OpenSM ignores it.
 * - Roots are found on broken trees, too. OpenSM counts hosts by distance and requires nearly
 *   all of them at one distance. So a root with few missing cables is no root, and much of
 *   the tree is inverted.
 * - Every pair of a connected fabric has a route, also between roots and for management, by
 *   the up/down order of all switches. OpenSM leaves such pairs without a route. So
 *   connect_roots has nothing to add, and it brings no credit loops.
 * - Among the ports that lead closer, the one with the fewest routes that really pass is
 *   taken (routing/spread).
 *
 * Source: MLNX_OFED user manual, "UPDN Algorithm"; opensm(8), "UPDN ROUTING ALGORITHM".
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/policy/guidfile.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/guid_switches.h"
#include "routing/spread/leaves.h"
#include "routing/spread/spread_options.h"
#include "routing/spread/updown.h"

struct updn_options {
	struct spread_options spread;
	const struct guid_file *root_guid_file, *ids_guid_file;
	const struct port_policy *groups;
	bool connect_roots;
};


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

/* Ranks by the root file. E_UNSUITABLE: it names nothing that is there. */
static int ranks_of_file(const struct graph *g, const struct guid_file *roots,
                         struct arena *a, uint16_t **ret_ranks, struct why *why)
{
	uint16_t *rank = arena_array(a, g->n_switches, sizeof(*rank));
	uint32_t n_found;
	uint32_t *queue, head, tail;

	if (!rank) {
		return -ENOMEM;
	}
	memset(rank, 0xff, g->n_switches * sizeof(*rank));
	int ret = guid_switches(g, roots, mark_root, rank, why, &n_found);

	if (ret != E_OK) {
		return ret;
	}
	if (!n_found && g->n_switches) {
		why_add(why, "updn: no root switch: none of %s is in the fabric",
		        roots->path);
		return E_UNSUITABLE;
	}
	*ret_ranks = rank;
	/* Distance from the roots, which have rank 0 already; the others
	 * UPDOWN_RANK_NONE. */
	queue = arena_array(a, g->n_switches, sizeof(*queue));
	head = 0;
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

/* ---- is it a tree? ---- */

static int check_tree(const struct graph *g, struct arena *a, struct why *why)
{
	struct leaves_pairs pairs = { 0, 0 };
	uint16_t *height = NULL;
	int ret = leaves_heights(g, a, &height);

	if (ret == E_OK) {
		ret = leaves_pairs(g, height, a, &pairs);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (g->n_switches > UINT16_MAX) {
		why_add(why, "updn: more than %u switches", UINT16_MAX);
		return E_UNSUITABLE;
	}
	if (2 * pairs.connected < pairs.all) {
		why_add(why,
		        "updn: no root switches were found: only %" PRIu64 " of %" PRIu64
		        " pairs of hosts are joined over switches further from hosts; name the roots with root_guid_file",
		        pairs.connected, pairs.all);
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
			        "updn: %s:%u: expected a switch GUID and a number, not '%.64s' behind the GUID",
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
                       uint64_t **ret_ids, struct why *why)
{
	uint64_t *id = arena_array(a, g->n_switches, sizeof(*id));

	if (!id) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		id[s] = g->nodes[g->switches[s]].guid;
	}
	uint32_t n_found;

	*ret_ids = id;
	return guid_switches(g, f, set_id, id, why, &n_found);
}

static int updn_rule(const struct route_in *in, struct arena *tmp,
                     struct updown_rule *ret_rule, struct why *notes)
{
	const struct updn_options *o = options_of(in);
	uint16_t *rank = NULL;
	uint64_t *id = NULL;
	int ret = o->root_guid_file
	                  ? ranks_of_file(in->g, o->root_guid_file, tmp, &rank, notes)
	                  : leaves_ranks(in->g, tmp, &rank);

	if (ret == E_OK && o->ids_guid_file) {
		ret = ids_of_file(in->g, o->ids_guid_file, tmp, &id, notes);
	}
	*ret_rule = (struct updown_rule){ .rank = rank, .id = id, .keeps_paths = true };
	return ret;
}

static int updn_route(const struct route_in *in, struct arena *a,
                      struct route_out *ret_out)
{
	struct arena *tmp = arena_new();
	struct updown_rule rule;
	int ret = tmp ? updn_rule(in, tmp, &rule, &ret_out->notes) : -ENOMEM;

	if (ret == E_OK) {
		ret = updown_route(in, &rule, &options_of(in)->spread, a, ret_out);
	}
	arena_free(tmp);
	return ret;
}

static int updn_repair(const struct route_in *in, struct route_repair *r,
                       struct arena *tmp, struct why *why)
{
	struct why notes = { "" };
	struct updown_rule rule;
	int ret = updn_rule(in, tmp, &rule, &notes);

	return ret == E_OK ? updown_repair(in, &rule, r, tmp, why) : ret;
}

static int updn_bind(void *options, const struct engine_options *all, struct arena *a,
                     struct diags *d)
{
	struct updn_options *o = options;
	(void)all;

	return guid_file_bind(&o->root_guid_file, o->groups, a, d);
}

#define MEMBER(m) .offset = offsetof(struct updn_options, m)

/* clang-format off */
static const struct option_row updn_rows[] = {
	SPREAD_OPTION_ROWS(struct updn_options, spread),
	ROOT_OPTION_ROWS(struct updn_options, root_guid_file, groups),
	{ .name = "ids_guid_file", .type = OPT_GUID_FILE, MEMBER(ids_guid_file), .letter = 'm',
	  .flags_long = "ids_guid_file", .arg = "FILE",
	  .help = "Switch GUIDs and the numbers that stand for them where updn compares equal ranks" },
	{ .name = "connect_roots", .type = OPT_BOOL, MEMBER(connect_roots), .def = "FALSE",
	  .letter = 'z', .flags_long = "connect_roots", .flags = OPT_NO_ARG,
	  .help = "Routes between root switches; ftree, updn and dnup have them always, free of credit loops" },
	{ .name = NULL }
};
/* clang-format on */

const struct engine engine_updn = {
	.name = "updn",
	.adaptive_name = "ar_updn",
	.summary = "Up towards the roots of a tree, then down; free of credit loops",
	.deadlock_free_order = 10,
	.flags = ENGINE_DEADLOCK_FREE | ENGINE_STAGE2 | ENGINE_KEEPS_ORDER,
	.options = updn_rows,
	.opt_size = sizeof(struct updn_options),
	.bind = updn_bind,
	.check = updn_check,
	.route = updn_route,
	.repair = updn_repair,
};
