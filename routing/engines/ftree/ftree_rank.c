/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Tells which hosts are compute nodes, ranks every switch, and decides whether the fabric
 * is a tree.
 *
 * With a root file, the rank is the distance from the roots. Without one, the leaf switches
 * (routing/spread/leaves.h) are the lowest and the height of the others is their distance
 * from a leaf. So a missing cable changes the rank of a switch only if it was its last
 * cable down, and one that loses its hosts stays a leaf. The list of compute nodes does not influence the ranks: it only decides which
 * hosts are balanced first.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/union_find.h"
#include "conf/policy/guidfile.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/guid_switches.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/spread/leaves.h"

enum { NAMED_MAX = 3, UNRANKED = 0xff };

/* ---- GUID files ---- */

struct unknown {
	const struct guid_file *file;
	struct why *why;
	const char *what;
	uint32_t n;
};

/* Gives the CA or router ports of a list their kind, unless they have one already. */
static void mark_list(struct ftree *f, const struct guid_file *list, uint8_t kind,
                      struct why *why)
{
	struct unknown u = { list, why, "CA or router port on a switch", 0 };

	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t port = graph_port_by_guid(f->g, list->records[i].guid);

		if (!(port != GRAPH_NONE && f->g->ports[port].num != 0 &&
		      graph_switch_of(f->g, port) != GRAPH_NONE)) {
			if (u.n++ < NAMED_MAX) {
				why_add(u.why, "%s:%u: 0x%016" PRIx64 " is no %s",
				        u.file->path, list->records[i].line,
				        list->records[i].guid, u.what);
			}
		} else if (f->kind[port] == FTREE_OTHER) {
			f->kind[port] = kind;
		}
	}
	if (u.n > NAMED_MAX) {
		why_add(u.why, "%s: %" PRIu32 " more lines have no effect", u.file->path,
		        u.n - NAMED_MAX);
	}
}

/* ---- ranks ---- */

/* Breadth-first search from the queued switches, whose values are set. */
static void spread_rank(const struct ftree *f, uint32_t *queue, uint32_t tail,
                        uint8_t *value)
{
	const struct graph *g = f->g;

	for (uint32_t head = 0; head < tail; head++) {
		uint32_t s = queue[head];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (value[to] == UNRANKED && value[s] + 1 < UNRANKED) {
				value[to] = (uint8_t)(value[s] + 1);
				queue[tail++] = to;
			}
		}
	}
}

struct root_queue {
	struct ftree *f;
	uint32_t *queue, n;
};

static void queue_root(void *ctx, uint32_t sw, const struct guid_record *r)
{
	struct root_queue *x = ctx;
	(void)r;

	if (x->f->rank[sw] == UNRANKED) {
		x->f->rank[sw] = 0;
		x->queue[x->n++] = sw;
	}
}

/* Is a switch a leaf that lost its hosts? It is as high above the leaves as the switches of
 * the next rank but one, but joins nothing that leaves below do not join. */
static bool is_empty_leaf(const struct ftree *f, const uint16_t *height, uint32_t *unions,
                          uint32_t s)
{
	const struct graph *g = f->g;
	uint32_t first = g->adj_first[s], i = first;

	if (height[s] != 2 || ftree_hosts_on(f, s)) {
		return false;
	}
	while (i < g->adj_first[s + 1] && height[g->adj[i].to] == 1 &&
	       union_find(unions, g->adj[i].to) == union_find(unions, g->adj[first].to)) {
		i++;
	}
	return i == g->adj_first[s + 1];
}

/* Heights above the leaves, independent of the lists. */
static int heights_from_leaves(const struct ftree *f, uint8_t *height, struct arena *a)
{
	const struct graph *g = f->g;
	uint32_t *unions = arena_array(a, f->n + 1u, sizeof(*unions));
	uint16_t *from_leaves;

	if (!unions || leaves_heights(g, a, &from_leaves) != E_OK) {
		return -ENOMEM;
	}
	union_init(unions, f->n);
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (from_leaves[s] == 0 && from_leaves[g->adj[i].to] == 1) {
				union_join(unions, s, g->adj[i].to);
			}
		}
	}
	for (uint32_t s = 0; s < f->n; s++) {
		height[s] =
			from_leaves[s] < UNRANKED ? (uint8_t)from_leaves[s] : UNRANKED;
		height[s] = is_empty_leaf(f, from_leaves, unions, s) ? 0 : height[s];
	}
	return E_OK;
}

static bool has_cn_beside(const struct ftree *f, uint32_t s)
{
	const struct graph *g = f->g;
	uint32_t i = g->adj_first[s];

	while (i < g->adj_first[s + 1] && !f->n_cn[g->adj[i].to]) {
		i++;
	}
	return i < g->adj_first[s + 1];
}

/* Ranks by height the switches that no root reaches. In a part without hosts the search
 * starts at any one switch. */
static void rank_by_height(const struct ftree *f, const uint8_t *from_roots,
                           uint8_t *height, uint32_t *queue)
{
	unsigned top = 0;

	for (uint32_t s = 0; s < f->n; s++) {
		if (height[s] == UNRANKED) {
			height[s] = 0;
			queue[0] = s;
			spread_rank(f, queue, 1, height);
		}
	}
	for (uint32_t s = 0; s < f->n; s++) {
		top = height[s] > top ? height[s] : top;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		f->rank[s] = from_roots[s] != UNRANKED ? from_roots[s]
		                                       : (uint8_t)(top - height[s]);
	}
}

/* ---- is it a tree? ---- */

/* Counts the cables between switches of equal rank. \param ret_first  Ends of the first one. */
static uint32_t count_siblings(const struct ftree *f, uint32_t ret_first[2])
{
	const struct graph *g = f->g;
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (to > s && f->rank[to] == f->rank[s] && n++ == 0) {
				ret_first[0] = s;
				ret_first[1] = to;
			}
		}
	}
	return n;
}

/* Do more than a third of the cables join switches of equal rank? */
static bool is_flat(const struct ftree *f, uint32_t siblings)
{
	return 3 * siblings > f->g->n_adj / 2;
}

static int check_tree(const struct ftree *f, struct why *why)
{
	uint32_t pair[2] = { 0 }, cn = 0;
	uint32_t siblings = count_siblings(f, pair);

	for (uint32_t s = 0; s < f->n; s++) {
		cn += f->n_cn[s];
	}
	if (cn == 0) {
		why_add(why, "ftree: no compute node hangs on a switch");
		return E_UNSUITABLE;
	}
	if (is_flat(f, siblings)) {
		why_add(why,
		        "ftree: not a tree: %u of %u cables join switches of equal rank, such as %s and %s; a root_guid_file or cn_guid_file may help",
		        siblings, f->g->n_adj / 2,
		        switch_text(f->g, f->lids, pair[0]).text,
		        switch_text(f->g, f->lids, pair[1]).text);
		return E_UNSUITABLE;
	}
	if (f->n_ranks < 2 || f->n_ranks > FTREE_RANKS_MAX) {
		why_add(why, "ftree: not a tree of 2 to %u levels: %u found",
		        FTREE_RANKS_MAX, f->n_ranks);
		return E_UNSUITABLE;
	}
	return E_OK;
}

/* Ranks the switches that those of the root file reach. */
static int rank_from_roots(struct ftree *f, uint32_t *queue, struct why *why)
{
	struct why unknown = { "" };
	struct root_queue roots = { .f = f, .queue = queue };
	uint32_t n_lines;
	int ret = E_OK;

	memset(f->rank, UNRANKED, f->n);
	if (f->opt->roots) {
		ret = guid_switches(f->g, f->opt->roots, queue_root, &roots, &unknown,
		                    &n_lines);
	}
	if (ret == E_OK) {
		spread_rank(f, queue, roots.n, f->rank);
	}
	if (ret == E_OK && unknown.text[0]) {
		why_add(why, "%s", unknown.text);
	}
	return ret;
}

static int find_ranks(struct ftree *f, struct arena *a, struct why *why)
{
	uint32_t *queue = arena_array(a, f->n + 1u, sizeof(*queue)), pair[2];
	uint8_t *height = arena_alloc(a, f->n + 1u);
	uint8_t *from_roots = arena_alloc(a, f->n + 1u);
	int ret =
		queue && height && from_roots ? rank_from_roots(f, queue, why) : -ENOMEM;

	if (ret == E_OK) {
		ret = heights_from_leaves(f, height, a);
	}
	if (ret != E_OK) {
		return ret;
	}
	memcpy(from_roots, f->rank, f->n);
	rank_by_height(f, from_roots, height, queue);
	if ((f->opt->cn || f->opt->io) && is_flat(f, count_siblings(f, pair))) {
		uint32_t tail = 0;

		/* Cabling may not show which switches are leaves, as in the manual's
		 * picture with an I/O node on every upper switch. Then a switch without
		 * compute nodes next to one with compute nodes is no leaf. */
		memset(height, UNRANKED, f->n);
		for (uint32_t s = 0; s < f->n; s++) {
			if (f->n_cn[s] ||
			    (ftree_hosts_on(f, s) && !has_cn_beside(f, s))) {
				height[s] = 0;
				queue[tail++] = s;
			}
		}
		spread_rank(f, queue, tail, height);
		rank_by_height(f, from_roots, height, queue);
	}
	for (uint32_t s = 0; s < f->n; s++) {
		f->n_ranks =
			f->rank[s] >= f->n_ranks ? (uint8_t)(f->rank[s] + 1) : f->n_ranks;
	}
	return E_OK;
}

int ftree_rank(struct ftree *f, struct arena *a, struct why *why)
{
	const struct graph *g = f->g;
	int ret;

	f->kind = arena_alloc(a, f->g->n_ports + 1u);
	f->non_cn = arena_array(a, f->g->n_ports + 1u, sizeof(*f->non_cn));
	f->only_non_cn = arena_array(a, f->n + 1u, sizeof(*f->only_non_cn));
	f->rank = arena_alloc(a, f->n + 1u);
	f->n_cn = arena_array(a, f->n + 1u, sizeof(*f->n_cn));
	if (!f->kind || !f->non_cn || !f->only_non_cn || !f->rank || !f->n_cn) {
		return -ENOMEM;
	}
	/* Compute nodes are those of the list; without a list, all CAs that are no I/O
	 * nodes. */
	if (f->opt->cn) {
		mark_list(f, f->opt->cn, FTREE_CN, why);
	}
	if (f->opt->io) {
		mark_list(f, f->opt->io, FTREE_IO, why);
	}
	for (uint32_t s = 0; s < f->n; s++) {
		uint32_t n = 0;

		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
			uint8_t *kind = &f->kind[g->hosts[h]];
			bool ca = g->nodes[g->ports[g->hosts[h]].node].type == NODE_CA;

			if (!f->opt->cn && ca && *kind == FTREE_OTHER) {
				*kind = FTREE_CN;
			}
			f->n_cn[s] += *kind == FTREE_CN;
			f->non_cn[g->hosts[h]] =
				f->opt->cn ? *kind != FTREE_CN : *kind == FTREE_IO;
			n += f->non_cn[g->hosts[h]];
		}
		f->only_non_cn[s] = n && n == ftree_hosts_on(f, s);
	}
	ret = find_ranks(f, a, why);
	return ret == E_OK ? check_tree(f, why) : ret;
}
