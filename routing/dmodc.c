/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * dmodc: trees by closed form, also broken ones.
 *
 * Hosts are numbered leaf by leaf (their topological index t). A switch of rank r deals
 * them over its uplinks: host t takes slot floor(t / D) mod U, where U is the number of
 * uplink slots and D, the divider of the rank, the product of U over the ranks below. Of
 * parallel cables it takes number floor(t / (D * U)). Downwards there is one neighbour
 * that leads to a leaf, or, where there are more, the one that the other direction would
 * take. No counters, no order of work: each entry is a function of the switch and the
 * host alone.
 *
 * What is missing moves only what used it. Slots mean the same part of the tree
 * everywhere (dmodc_tree.c) and dividers come from the widest switch of a rank, so a lost
 * cable does not shift the others. A host whose slot leads nowhere, because the cable is
 * gone here or somewhere further on, takes one of the neighbours that do lead closer:
 * number (floor(t / (D * U)) + place of the switch) mod how many there are. So both the
 * hosts of a lost uplink and the traffic of all sources to a host behind a lost downlink
 * are spread over all others. A neighbour that has less than half of its own uplinks left
 * for a destination serves only those hosts whose slots there are left.
 *
 * Routes climb to the first rank from which the destination can be reached by descending,
 * then descend; who can descend, does. So no route climbs after it has descended, and
 * there is no circle of waiting links. Where cables are missing in great number, some
 * pairs have no such route, and in any tree there are some between the upper switches,
 * which management traffic may want. They are routed over a line of switches that
 * contains all these routes (dmodc_line.c), so that still no circle can close.
 *
 * With an LMC, LID number k of a port takes the k-th next of the neighbours that lead
 * closer: different ones as long as there are, then different cables.
 *
 * Earlier tables are not looked at: the same fabric gives the same entries, and what is
 * not concerned by a change does not move.
 *
 * Differences from the paper: slots instead of the position among the neighbours that are
 * left, the choice by place, planes instead of the order of GUIDs, the mirrored choice
 * downwards, the line.
 *
 * Source: Gliksberg, Capra, Louvet, Garcia, Sohier, "High-Quality Fault-Resiliency in
 * Fat-Tree Networks", IEEE Micro 40(1), 2020; Zahavi 2012, "Fat-trees routing and node
 * ordering providing contention free traffic for MPI global collectives".
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "conf/option.h"
#include "routing/column.h"
#include "routing/dmodc_job.h"
#include "routing/engine.h"
#include "routing/lids.h"
#include "routing/updown.h"

struct dmodc_options {
	const struct guid_file *root_guid_file;
};

/* ---- what is whole ---- */

/* Destinations k ranks up to which all slots lead, here and all the way up. */
static void find_whole(const struct dmodc_job *j, uint32_t s, unsigned k)
{
	const uint32_t *above = j->above + (size_t)s * j->width;
	uint64_t *row = dmodc_whole(j, s, k);

	memcpy(row, dmodc_row(&j->reach, s, k), j->reach.words * sizeof(*row));
	for (unsigned i = 0; k && i < j->t.slots[s]; i++) {
		const uint64_t *there =
			above[i] == GRAPH_NONE ? NULL : dmodc_whole(j, above[i], k - 1);

		for (uint32_t w = 0; w < j->reach.words; w++) {
			row[w] &= there ? there[w] : 0;
		}
	}
}

static int find_above(struct dmodc_job *j, struct arena *tmp)
{
	const struct dmodc_tree *t = &j->t;

	for (uint32_t s = 0; s < t->n; s++) {
		j->width = t->slots[s] > j->width ? t->slots[s] : j->width;
	}
	j->above = arena_array(tmp, (size_t)t->n * j->width, sizeof(*j->above));
	j->whole = arena_array(tmp, (size_t)t->n * j->reach.rows * j->reach.words,
	                       sizeof(*j->whole));
	if (!j->above || !j->whole) {
		return -ENOMEM;
	}
	memset(j->above, 0xff, (size_t)t->n * j->width * sizeof(*j->above));
	for (uint32_t s = 0; s < t->n; s++) {
		for (uint32_t i = t->up.first[s]; i < t->up.first[s + 1]; i++) {
			const struct dmodc_group *group = &t->up.group[i];

			if (group->slot != DMODC_NO_SLOT) {
				j->above[(size_t)s * j->width + group->slot] = group->to;
			}
		}
	}
	for (unsigned k = 0; k < j->reach.rows; k++) {
#pragma omp parallel for schedule(static)
		for (uint32_t s = 0; s < t->n; s++) {
			find_whole(j, s, k);
		}
	}
	return E_OK;
}
/* ---- the whole ---- */

/* Of all pairs of switches with hosts, half at least must be joined by ranks. */
static int judge_pairs(struct dmodc_job *j, struct why *why)
{
	const struct dmodc_tree *t = &j->t;
	uint64_t joined = 0, pairs = (uint64_t)t->n_homes * t->n_homes;

#pragma omp parallel for schedule(static) reduction(+ : joined)
	for (uint32_t a = 0; a < t->n_homes; a++) {
		for (uint32_t b = 0; b < t->n_homes; b++) {
			joined += t->part[t->home[a]] != t->part[t->home[b]] ||
			          dmodc_reaches(&j->reach, t->home[a], t->home[b]);
		}
	}
	if (joined * 2 < pairs) {
		why_add(why,
		        "dmodc: not a tree: of %" PRIu64
		        " pairs of switches with hosts only %" PRIu64
		        " have a switch above both",
		        pairs - t->n_homes, joined - t->n_homes);
		return E_UNSUITABLE;
	}
	j->n_unjoined = pairs - joined;
	return E_OK;
}

/* The table of floor(column / divider) mod slots for a switch, made when nobody has it
 * yet.
 */
static int share_deal(struct dmodc_job *j, uint32_t s, struct arena *tmp)
{
	unsigned rank = j->t.rank[s], slots = j->t.slots[s];
	struct dmodc_deal *d = j->deal;

	while (d < j->deal + j->n_deals && (d->rank != rank || d->slots != slots)) {
		d++;
	}
	if (d == j->deal + j->n_deals) {
		*d = (struct dmodc_deal){ .rank = rank, .slots = slots };
		d->slot = arena_alloc(tmp, j->t.n_cols);
		if (!d->slot) {
			return -ENOMEM;
		}
		for (uint32_t c = 0; c < j->t.n_cols; c++) {
			d->slot[c] = (uint8_t)(c / j->t.divider[rank] % slots);
		}
		j->n_deals++;
	}
	j->slot[s] = d->slot;
	return E_OK;
}

static int find_hosts(struct dmodc_job *j, struct arena *tmp)
{
	const struct graph *g = j->g;

	j->base = arena_array(tmp, j->t.n_cols, sizeof(*j->base));
	j->lid = arena_array(tmp, j->t.n_cols, sizeof(*j->lid));
	j->lmc = arena_alloc(tmp, j->t.n_cols);
	if (!j->base || !j->lid || !j->lmc) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < j->t.n_homes; i++) {
		uint32_t s = j->t.home[i], c = j->t.col[s];

		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++, c++) {
			j->base[c] = j->lids->of[g->hosts[h]].base;
			j->lmc[c] = j->lids->of[g->hosts[h]].lmc;
		}
	}
	return E_OK;
}

static int find_own(struct dmodc_job *j, struct arena *tmp)
{
	const struct graph *g = j->g;

	j->own = arena_array(tmp, j->t.n, sizeof(*j->own));
	j->single = arena_array(tmp, j->reach.words, sizeof(*j->single));
	j->homes = arena_array(tmp, j->reach.words, sizeof(*j->homes));
	if (!j->own || !j->single || !j->homes) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < j->t.n; s++) {
		struct lid_range own = j->lids->of[graph_port(g, g->switches[s], 0)];
		uint64_t bit = UINT64_C(1) << s % 64;

		j->own[s] = own.base;
		j->single[s / 64] |= own.base && own.lmc == 0 ? bit : 0;
		j->homes[s / 64] |= dmodc_hosts_on(g, s) ? bit : 0;
	}
	return E_OK;
}

static int job_init(struct dmodc_job *j, const struct route_in *in, struct arena *tmp,
                    struct why *why)
{
	const struct dmodc_options *o = in->options;
	uint32_t n = in->g->n_switches;
	int ret = dmodc_tree_init(&j->t, in->g, o ? o->root_guid_file : NULL, tmp, why);

	if (ret == E_OK) {
		ret = dmodc_reach_init(&j->reach, &j->t, tmp);
	}
	if (ret == E_OK) {
		ret = judge_pairs(j, why);
	}
	if (ret == E_OK) {
		ret = dmodc_line_init(&j->line, &j->t, &j->reach, tmp);
	}
	if (ret == E_OK) {
		ret = find_above(j, tmp);
	}
	if (ret == E_OK) {
		ret = find_hosts(j, tmp);
	}
	if (ret == E_OK) {
		ret = find_own(j, tmp);
	}
	if (ret != E_OK) {
		return ret;
	}
	j->deal = arena_array(tmp, n, sizeof(*j->deal));
	j->slot = arena_array(tmp, n, sizeof(*j->slot));
	j->scratch = arena_array(tmp, (size_t)column_threads() * j->reach.words,
	                         sizeof(*j->scratch));
	if (!j->deal || !j->slot || !j->scratch) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < n && ret == E_OK; s++) {
		ret = j->t.slots[s] ? share_deal(j, s, tmp) : E_OK;
	}
	return ret;
}

/* LIDs of this pass. \return false when no port has that many. */
static bool start_pass(struct dmodc_job *j, unsigned k)
{
	bool some = k == 0;

	j->k = k;
	for (uint32_t c = 0; c < j->t.n_cols; c++) {
		bool in_range = j->base[c] && k >> j->lmc[c] == 0;

		j->lid[c] = in_range ? j->base[c] + k : 0;
		some |= in_range;
	}
	return some;
}

/* What was written for LID 0 stands for hosts without a LID. */
static void clear_nobody(const struct dmodc_job *j)
{
	for (uint32_t s = 0; s < j->t.n; s++) {
		lft_row(j->lft, s)[0] = LFT_NO_ROUTE;
	}
}

static int fill_tables(struct dmodc_job *j, const _Atomic bool *cancel, struct arena *tmp,
                       struct why *notes)
{
	int ret = E_OK;

	for (unsigned k = 0; start_pass(j, k); k++) {
		if (cancel && *cancel) {
			return -ECANCELED;
		}
		dmodc_fill_hosts(j);
	}
	clear_nobody(j);
	dmodc_fill_switches(j);
	dmodc_fill_line(j);
	if (j->line.n_left) {
		ret = dmodc_fill_left(j, tmp);
	}
	if (j->t.n_missing) {
		why_add(notes,
		        "dmodc: %" PRIu32 " uplinks are missing that like switches have; "
		        "what they would take is spread over the others",
		        j->t.n_missing);
	}
	if (j->t.n_unused) {
		why_add(notes,
		        "dmodc: %" PRIu32 " cables join switches of one rank and are not "
		        "used",
		        j->t.n_unused);
	}
	if (j->n_unjoined) {
		why_add(notes,
		        "dmodc: %" PRIu64
		        " pairs of switches with hosts have no switch above both and "
		        "take longer routes",
		        j->n_unjoined / 2);
	}
	return ret;
}

static int dmodc_route(const struct route_in *in, struct arena *a, struct route_out *ret)
{
	struct arena *tmp = arena_new();
	struct lft lft;
	struct dmodc_job j = { .g = in->g, .lids = in->lids, .lft = &lft };
	int ret_code = -ENOMEM;

	if (!tmp) {
		goto out;
	}
	ret_code = job_init(&j, in, tmp, &ret->notes);
	if (ret_code == E_OK) {
		ret_code = lft_init(&lft, in->g->n_switches, in->lids->top, a);
	}
	if (ret_code == E_OK) {
		ret_code = fill_tables(&j, in->cancel, tmp, &ret->notes);
	}
	if (ret_code == E_OK) {
		ret->lft = lft;
		ret->lanes = (struct lanes){ .n = 1 };
	}
out:
	arena_free(tmp);
	return ret_code;
}

/* clang-format off */
static const struct option_row dmodc_options[] = {
	{ .name = "root_guid_file", .type = OPT_GUID_FILE,
	  .offset = offsetof(struct dmodc_options, root_guid_file), .letter = 'a',
	  .flags_long = "root_guid_file", .arg = "FILE",
	  .help = "GUIDs of the root switches of a tree, or of hosts on them; none: they are found" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_dmodc = {
	.name = "dmodc",
	.summary = "Trees by closed form, near optimal also with missing links",
	.flags = ENGINE_DEADLOCK_FREE,
	.options = dmodc_options,
	.opt_size = sizeof(struct dmodc_options),
	.route = dmodc_route,
};
