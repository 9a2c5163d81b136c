/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Which hosts are compute nodes, the rank of every switch, and whether that is a tree.
 *
 * With a root file, ranks are distances from the roots. Without one, the switches with
 * hosts are the lowest and the height of the others is their distance from these; so a
 * missing cable moves nobody but the switch that lost its last way down. Which hosts are
 * compute nodes has no say in it: their list decides the order of balancing alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "conf/guidfile.h"
#include "routing/ftree.h"
#include "routing/guid_switches.h"
#include "routing/lids.h"
#include "routing/node_text.h"

enum { NAMED_MAX = 3, UNRANKED = 0xff };

/* ---- GUID files ---- */

struct unknown {
	const struct guid_file *file;
	struct why *why;
	const char *what;
	uint32_t n;
};

static void complain(struct unknown *u, const struct guid_record *r)
{
	if (u->n++ < NAMED_MAX) {
		why_add(u->why, "%s:%u: 0x%016" PRIx64 " is no %s", u->file->path,
		        r->line, r->guid, u->what);
	}
}

static void complain_rest(const struct unknown *u)
{
	if (u->n > NAMED_MAX) {
		why_add(u->why, "%s: %" PRIu32 " more lines have no effect",
		        u->file->path, u->n - NAMED_MAX);
	}
}

static bool is_host(const struct graph *g, uint32_t port)
{
	return port != GRAPH_NONE && g->ports[port].num != 0 &&
	       graph_switch_of(g, port) != GRAPH_NONE;
}

/* Marks the CA or router ports of a list; others than of the kind "other" stay. */
static void mark_list(struct ftree *f, const struct guid_file *list, uint8_t kind,
                      struct why *why)
{
	struct unknown u = { list, why, "CA or router port on a switch", 0 };

	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t port = graph_port_by_guid(f->g, list->records[i].guid);

		if (!is_host(f->g, port)) {
			complain(&u, &list->records[i]);
		} else if (f->kind[port] == FTREE_OTHER) {
			f->kind[port] = kind;
		}
	}
	complain_rest(&u);
}

/* With a list of compute nodes these are it; else all CAs that are no I/O nodes. */
static void mark_hosts(struct ftree *f, struct why *why)
{
	const struct graph *g = f->g;

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
}

/* ---- ranks ---- */

/* Breadth first from the switches that are queued and have their value already. */
static unsigned spread_rank(const struct ftree *f, uint32_t *queue, uint32_t tail,
                            uint8_t *value)
{
	const struct graph *g = f->g;
	unsigned most = 0;

	for (uint32_t head = 0; head < tail; head++) {
		uint32_t s = queue[head];

		most = value[s] > most ? value[s] : most;
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (value[to] == UNRANKED && value[s] + 1 < UNRANKED) {
				value[to] = (uint8_t)(value[s] + 1);
				queue[tail++] = to;
			}
		}
	}
	return most;
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

/* A host in the root file stands for its switches. Gives the roots found. */
static int queue_roots(struct ftree *f, uint32_t *queue, struct why *why, uint32_t *ret_n)
{
	struct root_queue x = { .f = f, .queue = queue };
	uint32_t n_lines;
	int ret = E_OK;

	if (f->opt->roots) {
		ret = guid_switches(f->g, f->opt->roots, queue_root, &x, why, &n_lines);
	}
	*ret_n = x.n;
	return ret;
}

/*
 * Few hosts on a switch next to one with at least twice as many: a spine that also
 * carries some management nodes, not a leaf.
 */
static bool is_stray(const struct ftree *f, uint32_t s)
{
	const struct graph *g = f->g;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		if (ftree_hosts_on(f, g->adj[i].to) >= 2 * ftree_hosts_on(f, s)) {
			return true;
		}
	}
	return false;
}

enum lowest { LOWEST_LEAF, LOWEST_STRAY, LOWEST_ANY, LOWEST_COUNT };

static bool is_lowest(const struct ftree *f, uint32_t s, enum lowest kind)
{
	switch (kind) {
	case LOWEST_LEAF: return ftree_hosts_on(f, s) && !is_stray(f, s);
	case LOWEST_STRAY: return ftree_hosts_on(f, s);
	case LOWEST_ANY:
	case LOWEST_COUNT: break;
	}
	return true;
}

/*
 * Ranks what no root reaches, by height: hosts of any kind make a leaf, whatever is
 * listed. In parts without hosts one switch is enough to start at.
 */
static void rank_by_height(struct ftree *f, uint8_t *height, uint32_t *queue)
{
	unsigned top = 0;

	memset(height, UNRANKED, f->n);
	for (unsigned kind = 0; kind < LOWEST_COUNT; kind++) {
		for (uint32_t s = 0; s < f->n;) {
			uint32_t tail = 0;

			for (; s < f->n && (kind != LOWEST_ANY || tail == 0); s++) {
				if (f->rank[s] == UNRANKED && height[s] == UNRANKED &&
				    is_lowest(f, s, kind)) {
					height[s] = 0;
					queue[tail++] = s;
				}
			}
			unsigned most = spread_rank(f, queue, tail, height);
			top = most > top ? most : top;
		}
	}
	for (uint32_t s = 0; s < f->n; s++) {
		if (f->rank[s] == UNRANKED) {
			f->rank[s] = (uint8_t)(top - height[s]);
		}
	}
}

/* ---- verdict ---- */

/* Cables between equal ranks: how many, and the first. */
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

static int judge(const struct ftree *f, struct why *why)
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
	if (3 * siblings > f->g->n_adj / 2) {
		why_add(why,
		        "ftree: not a tree: %u of %u cables join switches of equal rank, "
		        "such as %s and %s; a root_guid_file may help",
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

int ftree_rank(struct ftree *f, struct arena *a, struct why *why)
{
	uint32_t *queue = arena_array(a, f->n + 1u, sizeof(*queue));
	uint8_t *height = arena_alloc(a, f->n + 1u);
	struct why unknown = { "" };

	f->kind = arena_alloc(a, f->g->n_ports + 1u);
	f->non_cn = arena_array(a, f->g->n_ports + 1u, sizeof(*f->non_cn));
	f->only_non_cn = arena_array(a, f->n + 1u, sizeof(*f->only_non_cn));
	f->rank = arena_alloc(a, f->n + 1u);
	f->n_cn = arena_array(a, f->n + 1u, sizeof(*f->n_cn));
	if (!queue || !height || !f->kind || !f->non_cn || !f->only_non_cn || !f->rank ||
	    !f->n_cn) {
		return -ENOMEM;
	}
	memset(f->rank, UNRANKED, f->n);
	mark_hosts(f, why);
	uint32_t n_roots;
	int ret = queue_roots(f, queue, &unknown, &n_roots);

	if (ret != E_OK) {
		return ret;
	}
	spread_rank(f, queue, n_roots, f->rank);
	if (unknown.text[0]) {
		why_add(why, "%s", unknown.text);
	}
	rank_by_height(f, height, queue);
	for (uint32_t s = 0; s < f->n; s++) {
		f->n_ranks =
			f->rank[s] >= f->n_ranks ? (uint8_t)(f->rank[s] + 1) : f->n_ranks;
	}
	return judge(f, why);
}
