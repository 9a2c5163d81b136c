/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Texts of the fat-tree engine: what the tree lacks, and the order of its compute nodes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/node_text.h"

static uint32_t cables_up(const struct ftree *f, uint32_t s)
{
	return f->first_down[s] - f->first[s];
}

/* Compute nodes on switches of another rank than most. */
static void note_ranks(const struct ftree *f, struct why *notes)
{
	uint32_t n = 0, first = 0;

	for (uint32_t s = 0; s < f->n; s++) {
		if (f->n_cn[s] && f->rank[s] != f->cn_rank) {
			first = n ? first : s;
			n += f->n_cn[s];
		}
	}
	if (n) {
		why_add(notes,
		        "ftree: %u compute nodes hang on switches of another rank than most, such as %s; balance is degraded; a cn_guid_file without them helps",
		        n, switch_text(f->g, f->lids, first).text);
	}
}

void ftree_note(const struct ftree *f, struct why *notes)
{
	uint32_t full[FTREE_RANKS_MAX] = { 0 }, n = 0, missing = 0, first = 0;

	/* switches with fewer cables up than others of their rank */
	for (uint32_t s = 0; s < f->n; s++) {
		uint32_t *most = &full[f->rank[s]];

		*most = cables_up(f, s) > *most ? cables_up(f, s) : *most;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		uint32_t lacks = full[f->rank[s]] - cables_up(f, s);

		if (lacks && f->rank[s] > 0) {
			first = n++ ? first : s;
			missing += lacks;
		}
	}
	if (n) {
		why_add(notes,
		        "ftree: %u of %u switches have fewer cables up than others of their rank, %u in all, such as %s with %u of %u; balance is degraded",
		        n, f->n, missing, switch_text(f->g, f->lids, first).text,
		        cables_up(f, first), full[f->rank[first]]);
	}
	note_ranks(f, notes);
	/* pairs of switches with hosts that the tree does not join */
	if (f->n_apart) {
		why_add(notes,
		        "ftree: %u pairs of switches with hosts have no route that climbs, then descends; they are routed by an up/down order of switches, which has no credit loops but uses few links%s",
		        f->n_apart / 2,
		        f->opt->cn || f->opt->io
		                ? ", unless none of their hosts is a compute node"
		                : "");
	}
	if (f->order.n_conflicts) {
		why_add(notes,
		        "ftree: %" PRIu32
		        " switches, such as %s, join a part of the tree that is joined twice; routes by the up/down order may deadlock there, which only the proof tells",
		        f->order.n_conflicts,
		        switch_text(f->g, f->lids, f->order.conflict).text);
	}
}

/* Does switch s have no entry for some host on switch t? */
static bool misses_route(const struct ftree *f, uint32_t s, uint32_t t)
{
	for (uint32_t h = f->g->host_first[t]; h < f->g->host_first[t + 1]; h++) {
		if (f->lid[h] && lft_row(f->lft, s)[f->lid[h]] == LFT_NO_ROUTE) {
			return true;
		}
	}
	return false;
}

bool ftree_misses(const struct ftree *f)
{
	for (uint32_t i = 0; i < f->n_leaves; i++) {
		for (uint32_t k = 0; k < f->n_leaves; k++) {
			uint32_t s = f->leaf[i], t = f->leaf[k];

			if (ftree_dist(f, s, t) == FTREE_NONE && ftree_hosts_on(f, s) &&
			    f->order.part[s] == f->order.part[t] &&
			    misses_route(f, s, t)) {
				return true;
			}
		}
	}
	return false;
}

/* ---- order of compute nodes ---- */

enum { LINE_MAX_BYTES = 8 + 64 + 2 };

struct cn_text {
	char *text;
	size_t room, at;
};

/* The compute nodes of a switch at one of its places, GRAPH_NONE: at any. \return How many. */
static uint32_t list_place(const struct ftree *f, uint32_t s, uint32_t place,
                           struct cn_text *t)
{
	const struct graph *g = f->g;
	uint32_t n = 0;

	for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
		if (f->kind[g->hosts[h]] != FTREE_CN ||
		    (place != GRAPH_NONE && f->place[h] != place)) {
			continue;
		}
		t->at += (size_t)snprintf(
			t->text + t->at, t->room - t->at, "0x%04x\t%.64s\n", f->lid[h],
			node_name(&g->nodes[g->ports[g->hosts[h]].node]));
		n++;
	}
	return n;
}

static void list_dummies(uint32_t n, struct cn_text *t)
{
	while (n--) {
		t->at += (size_t)snprintf(t->text + t->at, t->room - t->at,
		                          "0xFFFF\tDUMMY\n");
	}
}

char *ftree_cn_text(const struct ftree *f, struct arena *a)
{
	size_t lines = f->n_hosts + (size_t)f->n_leaves * f->cn_stride;
	struct cn_text t = { .room = lines * LINE_MAX_BYTES + 1 };

	t.text = arena_alloc(a, t.room);
	for (uint32_t i = 0; t.text && i < f->n_leaves; i++) {
		uint32_t s = f->leaf[i];
		uint32_t missing = f->rank[s] == f->cn_rank && f->cn_stride > f->n_cn[s]
		                           ? f->cn_stride - f->n_cn[s]
		                           : 0;
		bool placed = f->place && f->rank[s] == f->cn_rank;

		for (uint32_t p = 0; placed && p < f->cn_stride; p++) {
			/* two may share a place */
			if (!list_place(f, s, p, &t) && missing) {
				list_dummies(1, &t);
				missing--;
			}
		}
		if (!placed) {
			(void)list_place(f, s, GRAPH_NONE, &t);
		}
		list_dummies(missing, &t);
	}
	return t.text;
}
