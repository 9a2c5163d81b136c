/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/proof/disjoint.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/hash.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

enum { PATH_MAX_HOPS = 255, RANGE_MAX = 128, BLOCKS = RANGE_MAX / COLUMN_BLOCK };

const char *const disjoint_names[DISJOINT_COUNT] = { "switch", "asic", "link" };

/* Marks of the counted routes of the present pair, at one level: the number of the pair
 * that took it last. */
struct marks {
	uint64_t *system, *node, *link;
};

/* One route: the switches between the ends, and the links. */
struct path {
	unsigned n_nodes, n_links;
	uint32_t node[PATH_MAX_HOPS], link[PATH_MAX_HOPS + 1];
};

/* Working memory of one thread. */
struct walker {
	struct column *col[BLOCKS]; /* entries of up to RANGE_MAX LIDs, by block */
	struct path *path;          /* [RANGE_MAX] */
	uint64_t *taken; /* [n] systems that any route takes, likewise */
	uint64_t *first; /* [n_adj] links that any route begins with, likewise */
	struct marks marks[DISJOINT_COUNT];
	uint64_t now; /* number of the pair, from 1 */
	struct disjoint sum;
};

struct count {
	struct column_map map;
	uint32_t *system; /* [n] smallest switch of the system */
	struct walker *walker;
};

static uint64_t system_of(const struct graph *g, uint32_t s)
{
	return g->nodes[g->switches[s]].system_image_guid;
}

/* Numbers systems by their first switch. */
static int find_systems(struct count *c, struct arena *tmp)
{
	const struct graph *g = c->map.g;
	struct hash_table first = { .arena = tmp };

	c->system = arena_array(tmp, g->n_switches, sizeof(*c->system));
	if (!c->system || hash_reserve(&first, g->n_switches) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint64_t guid = system_of(g, s);
		uint32_t known = guid ? hash_get(&first, guid) : HASH_NONE;

		c->system[s] = known != HASH_NONE ? known : s;
		if (guid && known == HASH_NONE) {
			(void)hash_add(&first, guid, s); /* has room */
		}
	}
	return E_OK;
}

static int walkers_init(struct count *c, struct arena *tmp)
{
	unsigned threads = column_threads();
	struct column *col = column_new(&c->map, threads * BLOCKS, tmp);

	c->walker = arena_array(tmp, threads, sizeof(*c->walker));
	if (!col || !c->walker) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < threads; i++) {
		struct walker *w = &c->walker[i];

		w->path = arena_array(tmp, RANGE_MAX, sizeof(*w->path));
		w->taken = arena_array(tmp, c->map.n, sizeof(*w->taken));
		w->first = arena_array(tmp, c->map.g->n_adj + 1U, sizeof(*w->first));
		if (!w->path || !w->taken || !w->first) {
			return -ENOMEM;
		}

		for (unsigned b = 0; b < BLOCKS; b++) {
			w->col[b] = col++;
		}
		for (unsigned k = 0; k < DISJOINT_COUNT; k++) {
			struct marks *m = &w->marks[k];

			m->system = arena_array(tmp, c->map.n, sizeof(*m->system));
			m->node = arena_array(tmp, c->map.n, sizeof(*m->node));
			m->link = arena_array(tmp, c->map.g->n_adj + 1U, sizeof(*m->link));
			if (!m->system || !m->node || !m->link) {
				return -ENOMEM;
			}
			w->sum.level[k].least = UINT32_MAX;
		}
		w->sum.unique.least = w->sum.first.least = UINT32_MAX;
	}
	return E_OK;
}

/* Follows the entries of one LID from s to t. */
static bool walk(const struct count *c, const uint8_t *port, uint32_t s, uint32_t t,
                 struct path *ret_path)
{
	ret_path->n_nodes = ret_path->n_links = 0;
	while (s != t) {
		const struct column_hop *hop = c->map.hop + (size_t)s * c->map.width;

		if (port[s] >= c->map.width || hop[port[s]].channel == GRAPH_NONE ||
		    ret_path->n_nodes == PATH_MAX_HOPS) {
			return false;
		}
		hop += port[s];
		ret_path->link[ret_path->n_links++] = hop->channel;
		s = hop->next;
		ret_path->node[ret_path->n_nodes] = s;
		ret_path->n_nodes += s != t;
	}
	return true;
}

/*
 * The common case: no system in common with any earlier route, so apart from all of them
 * at each level. Routes without a switch between may share a link all the same.
 */
static bool takes_new_systems(const struct count *c, struct walker *w,
                              const struct path *path)
{
	bool fresh = path->n_nodes > 0;

	for (unsigned i = 0; i < path->n_nodes; i++) {
		fresh &= w->taken[c->system[path->node[i]]] != w->now;
	}
	for (unsigned i = 0; i < path->n_nodes; i++) {
		w->taken[c->system[path->node[i]]] = w->now;
	}
	return fresh;
}

static bool is_apart(const struct count *c, const struct walker *w,
                     const struct path *path, enum disjoint_level level)
{
	const struct marks *m = &w->marks[level];

	for (unsigned i = 0; i < path->n_links; i++) {
		if (m->link[path->link[i]] == w->now) {
			return false;
		}
	}
	for (unsigned i = 0; level == DISJOINT_ASIC && i < path->n_nodes; i++) {
		if (m->node[path->node[i]] == w->now) {
			return false;
		}
	}
	for (unsigned i = 0; level == DISJOINT_SWITCH && i < path->n_nodes; i++) {
		if (m->system[c->system[path->node[i]]] == w->now) {
			return false;
		}
	}
	return true;
}

/* Counts a route at each level where it is apart from those counted before. */
static void count_path(const struct count *c, struct walker *w, const struct path *path,
                       uint32_t *apart)
{
	for (unsigned level = 0; level < DISJOINT_COUNT; level++) {
		const struct marks *m = &w->marks[level];

		if (!is_apart(c, w, path, (enum disjoint_level)level)) {
			continue;
		}
		apart[level]++;
		for (unsigned i = 0; i < path->n_links; i++) {
			m->link[path->link[i]] = w->now;
		}
		for (unsigned i = 0; i < path->n_nodes; i++) {
			m->node[path->node[i]] = w->now;
			m->system[c->system[path->node[i]]] = w->now;
		}
	}
}

/* Is the route the same as an earlier one, \a path[k] as any before it? */
static bool is_repeated(const struct path *path, unsigned k)
{
	for (unsigned i = 0; i < k; i++) {
		if (path[i].n_links == path[k].n_links &&
		    !memcmp(path[i].link, path[k].link,
		            path[k].n_links * sizeof(*path[k].link))) {
			return true;
		}
	}
	return false;
}

static unsigned count_first_links(struct walker *w, unsigned n_paths)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_paths; i++) {
		uint32_t link = w->path[i].link[0];

		n += w->first[link] != w->now;
		w->first[link] = w->now;
	}
	return n;
}

static void add_figure(struct disjoint_sum *x, uint32_t count, uint32_t routes)
{
	x->sum += count;
	x->all += count == routes;
	x->least = count < x->least ? count : x->least;
}

static void sum_pair(struct walker *w, uint32_t n, const uint32_t *apart, uint32_t unique,
                     uint32_t first)
{
	w->sum.pairs++;
	w->sum.routes += n;
	for (unsigned level = 0; level < DISJOINT_COUNT; level++) {
		add_figure(&w->sum.level[level], apart[level], n);
	}
	add_figure(&w->sum.unique, unique, n);
	add_figure(&w->sum.first, first, n);
}

/* While all routes are apart nothing is marked at any level; the first that is not makes
 * up for it. */
static void count_pair(const struct count *c, struct walker *w, uint32_t s, uint32_t t,
                       const struct lid_range *r)
{
	uint32_t n = UINT32_C(1) << r->lmc, apart[DISJOINT_COUNT] = { 0 }, n_paths = 0;
	uint32_t unique = 0, first;
	bool all_new = true;

	w->now++;
	for (uint32_t k = 0; k < n; k++) {
		size_t at = (r->base + k) % COLUMN_BLOCK * (size_t)c->map.n;
		const uint8_t *port = w->col[k / COLUMN_BLOCK]->block + at;
		struct path *path = &w->path[n_paths];

		if (!walk(c, port, s, t, path)) {
			continue;
		}
		n_paths++;
		if (all_new && !takes_new_systems(c, w, path)) {
			all_new = false;
			for (uint32_t i = 0; i + 1 < n_paths; i++) {
				count_path(c, w, &w->path[i], apart);
			}
		}
		if (!all_new) {
			count_path(c, w, path, apart);
		}
	}
	for (unsigned level = 0; all_new && level < DISJOINT_COUNT; level++) {
		apart[level] = n_paths;
	}
	first = count_first_links(w, n_paths);
	for (uint32_t k = 0; first < n_paths && k < n_paths; k++) {
		unique += !is_repeated(w->path, k);
	}
	sum_pair(w, n, apart, first < n_paths ? unique : n_paths, first);
}

/* From all other switches with hosts of the same part. */
static void count_port(const struct count *c, struct walker *w, uint32_t t,
                       const struct lid_range *r)
{
	const struct column_map *m = &c->map;
	uint32_t part = m->part[t];

	for (uint32_t i = m->part_first[part]; i < m->part_first[part + 1]; i++) {
		if (m->n_hosts[m->member[i]] && m->member[i] != t) {
			count_pair(c, w, m->member[i], t, r);
		}
	}
}

/* All ports whose ranges begin in a block. */
static void count_block(const struct count *c, struct walker *w, uint32_t lid)
{
	const struct lids *lids = c->map.lids;

	for (unsigned b = 0; b < BLOCKS; b++) {
		column_load_block(&c->map, w->col[b], lid + b * COLUMN_BLOCK);
	}
	for (uint32_t k = lid; k < lid + COLUMN_BLOCK && k <= lids->top; k++) {
		uint32_t port = lids->owner[k], t;

		if (port == GRAPH_NONE || lids->of[port].base != k || !lids->of[port].lmc ||
		    c->map.g->ports[port].num == 0) {
			continue;
		}
		t = graph_switch_of(c->map.g, port);
		if (t != GRAPH_NONE) {
			count_port(c, w, t, &lids->of[port]);
		}
	}
}

static void add_sum(struct disjoint_sum *sum, const struct disjoint_sum *x)
{
	sum->sum += x->sum;
	sum->all += x->all;
	sum->least = x->least < sum->least ? x->least : sum->least;
}

static void add_up(const struct count *c, struct disjoint *ret_disjoint)
{
	*ret_disjoint = c->walker[0].sum;
	for (unsigned i = 1; i < column_threads(); i++) {
		const struct disjoint *x = &c->walker[i].sum;

		ret_disjoint->pairs += x->pairs;
		ret_disjoint->routes += x->routes;
		for (unsigned k = 0; k < DISJOINT_COUNT; k++) {
			add_sum(&ret_disjoint->level[k], &x->level[k]);
		}
		add_sum(&ret_disjoint->unique, &x->unique);
		add_sum(&ret_disjoint->first, &x->first);
	}
	for (unsigned k = 0; !ret_disjoint->pairs && k < DISJOINT_COUNT; k++) {
		ret_disjoint->level[k].least = 0;
	}
	if (!ret_disjoint->pairs) {
		ret_disjoint->unique.least = ret_disjoint->first.least = 0;
	}
}

static bool any_range(const struct graph *g, const struct lids *lids)
{
	for (uint32_t i = 0; i < g->host_first[g->n_switches]; i++) {
		if (lids->of[g->hosts[i]].lmc) {
			return true;
		}
	}
	return false;
}

int disjoint_count(const struct graph *g, const struct lids *lids, const struct lft *lft,
                   struct disjoint *ret_disjoint)
{
	struct arena *tmp;
	struct count c = { .walker = NULL };
	uint32_t n_blocks = lids->top / COLUMN_BLOCK + 1;
	int ret;

	if (!any_range(g, lids)) {
		*ret_disjoint = (struct disjoint){ .pairs = 0 };
		return E_OK;
	}
	tmp = arena_new();
	ret = tmp ? column_map_init(&c.map, g, lids, lft, tmp) : -ENOMEM;
	if (ret == E_OK) {
		ret = find_systems(&c, tmp);
	}
	if (ret == E_OK) {
		ret = walkers_init(&c, tmp);
	}
	if (ret != E_OK) {
		goto out;
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		count_block(&c, &c.walker[column_thread()], i * COLUMN_BLOCK);
	}
	add_up(&c, ret_disjoint);
out:
	arena_free(tmp);
	return ret;
}
