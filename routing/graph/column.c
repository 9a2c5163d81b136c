/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/column.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/hash.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

unsigned column_threads(void)
{
#ifdef _OPENMP
	return (unsigned)omp_get_max_threads();
#else
	return 1;
#endif
}

void column_use_threads(unsigned n)
{
#ifdef _OPENMP
	omp_set_num_threads((int)n);
#else
	(void)n;
#endif
}

unsigned column_thread(void)
{
#ifdef _OPENMP
	return (unsigned)omp_get_thread_num();
#else
	return 0;
#endif
}

/* Where the ports lead. */
static void map_ports(struct column_map *m)
{
	const struct graph *g = m->g;

	memset(m->hop, 0xff, (size_t)m->n * m->width * sizeof(*m->hop));
	for (uint32_t s = 0; s < m->n; s++) {
		const struct node *node = &g->nodes[g->switches[s]];
		struct column_hop *hop = m->hop + (size_t)s * m->width;

		for (uint32_t p = 1; p <= node->n_ports; p++) {
			uint32_t peer = g->ports[node->first_port + p].peer;

			if (peer != GRAPH_NONE) {
				hop[p].next = g->nodes[g->ports[peer].node].sw;
			}
		}
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			hop[g->adj[i].port].channel = i;
		}
		m->n_hosts[s] = g->host_first[s + 1] - g->host_first[s];
	}
}

/* Flood fill over switch-to-switch links; member serves as the queue. */
static void map_parts(struct column_map *m)
{
	const struct graph *g = m->g;
	uint32_t head = 0, tail = 0;

	memset(m->part, 0xff, m->n * sizeof(*m->part));
	for (uint32_t root = 0; root < m->n; root++) {
		if (m->part[root] != GRAPH_NONE) {
			continue;
		}
		m->part[root] = m->n_parts;
		m->member[tail++] = root;
		while (head < tail) {
			uint32_t s = m->member[head++];

			m->part_hosts[m->n_parts] += m->n_hosts[s];
			for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
				uint32_t to = g->adj[i].to;

				if (m->part[to] == GRAPH_NONE) {
					m->part[to] = m->n_parts;
					m->member[tail++] = to;
				}
			}
		}
		m->part_first[++m->n_parts] = tail;
	}
	/* Once more in ascending order: the flood fill left them in order of distance. */
	memcpy(m->fill, m->part_first, m->n_parts * sizeof(*m->fill));
	for (uint32_t s = 0; s < m->n; s++) {
		m->member[m->fill[m->part[s]]++] = s;
	}
}

/*
 * The order in which columns are settled: farthest from switches with hosts first. In a
 * tree these are the roots, which are next to every destination; then each level leads to
 * one that is settled already, whatever the destination.
 */
static void map_visit(struct column_map *m, uint32_t *level, uint32_t *queue)
{
	const struct graph *g = m->g;
	uint32_t head = 0, tail = 0;

	memset(level, 0xff, m->n * sizeof(*level));
	for (uint32_t s = 0; s < m->n; s++) {
		if (m->n_hosts[s]) {
			level[s] = 0;
			queue[tail++] = s;
		}
	}
	while (head < tail) {
		uint32_t s = queue[head++];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (level[to] == GRAPH_NONE) {
				level[to] = level[s] + 1;
				queue[tail++] = to;
			}
		}
	}
	/* the queue ascends in level: read backwards, each switch goes to its part */
	memcpy(m->fill, m->part_first, m->n_parts * sizeof(*m->fill));
	while (tail--) {
		m->visit[m->fill[m->part[queue[tail]]]++] = queue[tail];
	}
	for (uint32_t s = 0; s < m->n; s++) {
		if (level[s] == GRAPH_NONE) { /* no host in its part */
			m->visit[m->fill[m->part[s]]++] = s;
		}
	}
}

int column_map_init(struct column_map *m, const struct graph *g, const struct lids *lids,
                    const struct lft *lft, struct arena *a)
{
	uint32_t n = g->n_switches, *level, *queue;

	*m = (struct column_map){ .g = g,
		                  .lids = lids,
		                  .lft = lft,
		                  .n = n,
		                  .width = (uint32_t)g->max_port + 1 };
	m->hop = arena_array(a, (size_t)n * m->width, sizeof(*m->hop));
	m->n_hosts = arena_array(a, n, sizeof(*m->n_hosts));
	m->part = arena_array(a, n, sizeof(*m->part));
	m->part_first = arena_array(a, (size_t)n + 1, sizeof(*m->part_first));
	m->member = arena_array(a, n, sizeof(*m->member));
	m->part_hosts = arena_array(a, n, sizeof(*m->part_hosts));
	m->visit = arena_array(a, n, sizeof(*m->visit));
	level = arena_array(a, n, sizeof(*level));
	queue = arena_array(a, n, sizeof(*queue));
	m->fill = arena_array(a, n, sizeof(*m->fill));
	if (!m->hop || !m->n_hosts || !m->part || !m->part_first || !m->member ||
	    !m->part_hosts || !m->fill || !m->visit || !level || !queue) {
		return -ENOMEM;
	}
	map_ports(m);
	map_parts(m);
	map_visit(m, level, queue);
	return E_OK;
}

struct column *column_new(const struct column_map *m, unsigned n, struct arena *a)
{
	struct column *c = arena_array(a, n, sizeof(*c));

	for (unsigned i = 0; c && i < n; i++) {
		c[i].next = arena_array(a, m->n, sizeof(*c->next));
		c[i].channel = arena_array(a, m->n, sizeof(*c->channel));
		c[i].state = arena_array(a, m->n, sizeof(*c->state));
		c[i].order = arena_array(a, m->n, sizeof(*c->order));
		c[i].loop_at = arena_array(a, m->n, sizeof(*c->loop_at));
		c[i].stack = arena_array(a, m->n, sizeof(*c->stack));
		c[i].block = arena_array(a, m->n, COLUMN_BLOCK);
		if (!c[i].next || !c[i].channel || !c[i].state || !c[i].order ||
		    !c[i].loop_at || !c[i].stack || !c[i].block) {
			return NULL;
		}
	}
	return c;
}

/* One step of transposing: swaps the bytes of two words that the mask and shift pair up.
 */
static void swap_bytes(uint64_t *a, uint64_t *b, unsigned shift, uint64_t mask)
{
	uint64_t t = (*a >> shift ^ *b) & mask;

	*a ^= t << shift;
	*b ^= t;
}

/* Eight bytes of eight rows become eight bytes of eight columns. */
static void transpose_8(const uint8_t *from, size_t from_stride, uint8_t *to,
                        size_t to_stride)
{
	uint64_t w[8];

	for (unsigned i = 0; i < 8; i++) {
		memcpy(&w[i], from + i * from_stride, sizeof(*w));
		w[i] = le64toh(w[i]); /* byte 0 in the lowest bits */
	}
	for (unsigned i = 0; i < 4; i++) {
		swap_bytes(&w[i], &w[i + 4], 32, UINT64_C(0x00000000ffffffff));
	}
	for (unsigned i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) {
		swap_bytes(&w[i], &w[i + 2], 16, UINT64_C(0x0000ffff0000ffff));
	}
	for (unsigned i = 0; i < 8; i += 2) {
		swap_bytes(&w[i], &w[i + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
	}
	for (unsigned i = 0; i < 8; i++) {
		w[i] = htole64(w[i]);
		memcpy(to + i * to_stride, &w[i], sizeof(*w));
	}
}

void column_load_block(const struct column_map *m, struct column *c, uint32_t lid)
{
	size_t n = m->n, s = 0;

	c->block_lid = lid;
	if (m->lft->stride < (size_t)lid + COLUMN_BLOCK) {
		memset(c->block, LFT_NO_ROUTE, n * COLUMN_BLOCK);
		return;
	}
	for (; s + 8 <= n; s += 8) {
		for (uint32_t k = 0; k < COLUMN_BLOCK; k += 8) {
			transpose_8(lft_row(m->lft, (uint32_t)s) + lid + k,
			            m->lft->stride, c->block + k * n + s, n);
		}
	}
	for (; s < n; s++) {
		for (size_t k = 0; k < COLUMN_BLOCK; k++) {
			c->block[k * n + s] = lft_row(m->lft, (uint32_t)s)[lid + k];
		}
	}
}

/* The hop that a switch's entry leads to. */
static inline struct column_hop hop_of(const struct column_map *m, const struct column *c,
                                       uint32_t s)
{
	uint32_t p = c->port[s];

	return p < m->width ? m->hop[(size_t)s * m->width + p]
	                    : (struct column_hop){ GRAPH_NONE, GRAPH_NONE };
}

/* Follows entries from s until a switch whose state is known, then settles all on that
 * path. */
static void settle_from(const struct column_map *m, struct column *c, uint32_t s)
{
	uint32_t depth = 0;
	uint8_t end;

	while (c->state[s] == COLUMN_UNKNOWN) {
		struct column_hop hop = hop_of(m, c, s);

		c->state[s] = COLUMN_ON_PATH;
		c->stack[depth++] = s;
		c->channel[s] = hop.channel;
		s = c->next[s] = hop.next;
		if (s == GRAPH_NONE) {
			s = c->stack[--depth];
			c->state[s] = COLUMN_HOLE;
		}
	}
	end = c->state[s];
	if (end == COLUMN_ON_PATH) {
		c->loop_at[c->n_loops++] = s;
		end = COLUMN_LOOP;
	} else if (end == COLUMN_HOLE) {
		end = COLUMN_TO_HOLE;
	}
	while (depth) {
		s = c->stack[--depth];
		c->state[s] = end;
		if (end == COLUMN_ARRIVES) {
			c->order[c->n_order++] = s;
		}
	}
}

/*
 * Settles all switches of a part. In the order of visit most lead to one that is known.
 * Everything that does not change is held in locals, because a store through a byte
 * pointer may change anything else.
 */
static void settle_part(const struct column_map *m, struct column *c, uint32_t part)
{
	const uint32_t *visit = m->visit, end = m->part_first[part + 1];
	uint32_t *next = c->next, *channel = c->channel, *order = c->order;
	uint8_t *state = c->state;
	struct column_map map = *m;
	struct column col = *c;

	for (uint32_t i = m->part_first[part]; i < end; i++) {
		uint32_t s = visit[i];
		struct column_hop hop;

		if (state[s] != COLUMN_UNKNOWN) {
			continue;
		}
		hop = hop_of(&map, &col, s);
		if (hop.next != GRAPH_NONE && state[hop.next] == COLUMN_ARRIVES) {
			next[s] = hop.next;
			channel[s] = hop.channel;
			state[s] = COLUMN_ARRIVES;
			order[c->n_order++] = s;
		} else {
			settle_from(m, c, s);
		}
	}
}

bool column_resolve(const struct column_map *m, struct column *c, uint32_t lid)
{
	if (lid > m->lids->top || m->lids->owner[lid] == GRAPH_NONE) {
		return false;
	}
	c->lid = lid;
	c->owner = m->lids->owner[lid];
	c->to_host = graph_is_host(m->g, c->owner);
	c->home = graph_switch_of(m->g, c->owner);
	if (c->home == GRAPH_NONE) {
		return false;
	}
	c->home_port = graph_switch_port_of(m->g, c->owner);
	c->port = c->block + (size_t)(lid - c->block_lid) * m->n;
	c->n_order = 0;
	c->n_loops = 0;
	memset(c->state, COLUMN_UNKNOWN, m->n);
	if (c->port[c->home] == c->home_port) {
		c->next[c->home] = GRAPH_NONE;
		c->state[c->home] = COLUMN_ARRIVES;
		c->order[c->n_order++] = c->home;
	}
	settle_part(m, c, m->part[c->home]);
	return true;
}

/* ---- blocks ---- */

enum {
	DEPTH_MAX = 256, /* switches on a path; longer ones are left to columns */
	RUNS_OF =
		2, /* a block is for tables in which a run has so many LIDs on average */
	BLOCKS_LEFT = 15 /* blocks left to columns until another one is tried */
};

static bool leads_alike(const struct column_map *m, uint32_t a, uint32_t b)
{
	const struct column_hop *x = m->hop + (size_t)a * m->width;
	const struct column_hop *y = m->hop + (size_t)b * m->width;

	for (uint32_t p = 0; p < m->width; p++) {
		if (x[p].next != y[p].next) {
			return false;
		}
	}
	return true;
}

/* The first switch in the order of visit whose ports lead to the same switches. */
static uint32_t *find_alike(const struct column_map *m, struct arena *a)
{
	uint32_t *alike = arena_array(a, m->n, sizeof(*alike));
	struct hash_table known = { .arena = a };

	if (!alike || hash_reserve(&known, m->n) != E_OK) {
		return NULL;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t s = m->visit[i];
		uint64_t key = 0;

		for (uint32_t p = 0; p < m->width; p++) {
			key = digest_add(key, m->hop[(size_t)s * m->width + p].next);
		}
		alike[s] = HASH_FIND(&known, key, k, leads_alike(m, k, s));
		if (alike[s] == HASH_NONE) {
			alike[s] = s;
			(void)hash_add(&known, key, s); /* has room */
		}
	}
	return alike;
}

struct column_block *column_blocks_new(const struct column_map *m, unsigned n,
                                       struct arena *a)
{
	struct column_block *b = arena_array(a, n, sizeof(*b));
	const uint32_t *alike = find_alike(m, a);

	for (unsigned i = 0; b && i < n; i++) {
		b[i].alike = alike;
		b[i].homes = arena_array(a, m->n, sizeof(*b->homes));
		b[i].run = arena_array(a, m->n, COLUMN_BLOCK * sizeof(*b->run));
		b[i].group = arena_array(a, m->n, COLUMN_BLOCK * sizeof(*b->group));
		b[i].passed = arena_array(a, m->n, sizeof(*b->passed));
		b[i].entry = arena_array(a, m->n, COLUMN_BLOCK);
		b[i].group_of = arena_array(a, m->n, sizeof(*b->group_of));
		b[i].arrives = arena_array(a, m->n, sizeof(*b->arrives));
		b[i].on_path = arena_array(a, m->n, sizeof(*b->on_path));
		b[i].at_home = arena_array(a, m->n_parts, sizeof(*b->at_home));
		if (!alike || !b[i].homes || !b[i].run || !b[i].group || !b[i].passed ||
		    !b[i].entry || !b[i].group_of || !b[i].arrives || !b[i].on_path ||
		    !b[i].at_home) {
			return NULL;
		}
	}
	return b;
}

unsigned column_run_rest(const uint8_t *row, unsigned k, uint64_t lids)
{
	uint64_t gaps = ~(lids >> k);
	unsigned n = 1, end = gaps ? (unsigned)__builtin_ctzll(gaps) : COLUMN_BLOCK;

	end = end < COLUMN_BLOCK - k ? end : COLUMN_BLOCK - k;
	for (; n + 8 <= end; n += 8) {
		uint64_t word;

		memcpy(&word, row + k + n, sizeof(word));
		word ^= row[k] * UINT64_C(0x0101010101010101);
		if (word) {
			return n + (unsigned)__builtin_ctzll(le64toh(word)) / 8;
		}
	}
	while (n < end && row[k + n] == row[k]) {
		n++;
	}
	return n;
}

/* Where the LIDs of a block are delivered. false: one is not. */
static bool find_homes(const struct column_map *m, struct column_block *b)
{
	const struct lids *lids = m->lids;

	for (uint32_t k = 0; k < COLUMN_BLOCK && b->lid + k <= lids->top; k++) {
		uint32_t owner = lids->owner[b->lid + k];
		uint32_t home =
			owner == GRAPH_NONE ? GRAPH_NONE : graph_switch_of(m->g, owner);
		uint64_t bit = UINT64_C(1) << k;

		if (home == GRAPH_NONE) {
			continue;
		}
		if (lft_row(m->lft, home)[b->lid + k] !=
		    graph_switch_port_of(m->g, owner)) {
			return false;
		}
		b->home[k] = home;
		b->owned |= bit;
		b->to_host |= graph_is_host(m->g, owner) ? bit : 0;
		b->base |= lids->of[owner].base == b->lid + k ? bit : 0;
		b->homes[home] |= bit;
		b->arrives[home] |= bit;
		b->at_home[m->part[home]] |= bit;
	}
	return true;
}

/* Writes the runs of LIDs at a switch behind those that are there. Returns how many, 0
 * when a LID goes nowhere. \a ret_open: do some go to a switch that has not settled them?
 */
static uint32_t list_runs(const struct column_map *m, struct column_block *b, uint32_t s,
                          uint64_t lids, bool *ret_open)
{
	const uint8_t *row = column_block_row(b, s);
	const struct column_hop *hop = m->hop + (size_t)s * m->width;
	const uint64_t *arrives = b->arrives;
	struct column_run *list = b->run + b->n_runs;
	uint64_t open = 0;
	uint32_t n = 0;

	while (lids) {
		unsigned k = (unsigned)__builtin_ctzll(lids);
		struct column_run run = { .port = row[k], .first = (uint8_t)k };
		uint32_t next = run.port < m->width ? hop[run.port].next : GRAPH_NONE;

		if (next == GRAPH_NONE) {
			return 0;
		}
		run.n = (uint8_t)column_run_length(row, k, lids);
		lids &= ~column_run_lids(&run);
		open |= column_run_lids(&run) & ~arrives[next];
		list[n++] = run;
	}
	*ret_open = open != 0;
	return n;
}

static bool settle_runs(const struct column_map *m, struct column_block *b, uint32_t s,
                        uint64_t lids, unsigned depth);

/* Settles LIDs where they go on from a switch. */
static bool settle_next(const struct column_map *m, struct column_block *b, uint32_t s,
                        uint64_t lids, unsigned depth)
{
	const uint8_t *row = column_block_row(b, s);
	bool settled = depth < DEPTH_MAX;

	b->on_path[s] |= lids;
	for (uint64_t left = lids; settled && left;) {
		struct column_run run = { .first = (uint8_t)__builtin_ctzll(left) };
		uint32_t next = m->hop[(size_t)s * m->width + row[run.first]].next;
		uint64_t open;

		run.n = (uint8_t)column_run_length(row, run.first, left);
		left &= ~column_run_lids(&run);
		open = column_run_lids(&run) & ~b->arrives[next];
		settled = !open || (!(open & b->on_path[next]) &&
		                    settle_runs(m, b, next, open, depth + 1));
	}
	b->on_path[s] &= ~lids;
	return settled;
}

/* Settles LIDs at a switch, first where they go on from there if that is not known. */
static bool settle_runs(const struct column_map *m, struct column_block *b, uint32_t s,
                        uint64_t lids, unsigned depth)
{
	bool open;
	uint32_t n = list_runs(m, b, s, lids, &open);

	if (n && open) {
		n = settle_next(m, b, s, lids, depth) ? list_runs(m, b, s, lids, &open)
		                                      : 0;
	}
	if (!n) {
		return false;
	}
	b->group[b->n_groups] = (struct column_group){
		.sw = s, .first = b->n_runs, .n = n, .like = b->n_groups
	};
	b->n_groups++;
	b->n_runs += n;
	b->arrives[s] |= lids;
	return true;
}

/* Takes the runs of a switch that is settled if they are the same. */
static bool settle_like(const struct column_map *m, struct column_block *b, uint32_t s,
                        uint64_t lids)
{
	uint32_t other = b->alike[s], like = b->group_of[other];
	struct column_group *group;

	if (like == GRAPH_NONE || b->arrives[s] || m->part[s] != m->part[other] ||
	    memcmp(column_block_row(b, s), column_block_row(b, other), COLUMN_BLOCK)) {
		return false;
	}
	group = &b->group[b->n_groups];
	*group = b->group[like];
	group->sw = s;
	b->group[like].more = b->n_groups++;
	b->arrives[s] = lids;
	return true;
}

/* Settles the LIDs at a switch that were not settled on a path from another one. */
static bool settle_switch(const struct column_map *m, struct column_block *b, uint32_t s)
{
	uint64_t before = b->arrives[s], lids = b->at_home[m->part[s]] & ~before;

	if (!lids || settle_like(m, b, s, lids)) {
		return true;
	}
	if (!settle_runs(m, b, s, lids, 0)) {
		return false;
	}
	b->group_of[s] = before ? GRAPH_NONE : b->n_groups - 1;
	return true;
}

bool column_block_resolve(const struct column_map *m, struct column_block *b,
                          uint32_t lid)
{
	size_t bytes = m->n * sizeof(*b->homes);

	if (b->n_left) {
		b->n_left--;
		return false;
	}
	b->lid = lid;
	b->owned = b->to_host = b->base = 0;
	b->n_runs = b->n_groups = 0;
	memset(b->homes, 0, bytes);
	memset(b->arrives, 0, bytes);
	memset(b->on_path, 0, bytes);
	memset(b->at_home, 0, m->n_parts * sizeof(*b->at_home));
	memset(b->group_of, 0xff, m->n * sizeof(*b->group_of));
	if (m->lft->stride < (size_t)lid + COLUMN_BLOCK || !find_homes(m, b)) {
		return false;
	}
	for (uint32_t s = 0; s < m->n; s++) {
		memcpy(b->entry + (size_t)s * COLUMN_BLOCK, lft_row(m->lft, s) + lid,
		       COLUMN_BLOCK);
	}
	for (uint32_t i = 0; i < m->n; i++) {
		if (!settle_switch(m, b, m->visit[i])) {
			return false;
		}
	}

	/* where most runs are of one LID, columns are faster: the next blocks take them */
	size_t entries = (size_t)m->n * (unsigned)__builtin_popcountll(b->owned);

	b->n_left = (size_t)b->n_runs * RUNS_OF > entries ? BLOCKS_LEFT : 0;
	return true;
}

void column_block_pass(const struct column_map *m, struct column_block *b, uint64_t lids)
{
	for (uint32_t s = 0; s < m->n; s++) {
		b->passed[s] = m->n_hosts[s] ? lids : 0;
	}
	/* each switch comes after all switches that send through it */
	for (uint32_t i = b->n_groups; i-- > 0;) {
		const struct column_group *group = &b->group[i];
		const struct column_hop *hop = m->hop + (size_t)group->sw * m->width;
		uint64_t passed = b->passed[group->sw];

		/* the same LIDs take the same routes from a switch that is still to be
		 * visited */
		if (group->like != i &&
		    !(passed & ~b->passed[b->group[group->like].sw])) {
			continue;
		}
		for (uint32_t k = 0; passed && k < group->n; k++) {
			const struct column_run *r = &b->run[group->first + k];

			b->passed[hop[r->port].next] |= passed & column_run_lids(r);
		}
	}
}
