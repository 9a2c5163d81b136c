/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/proof/paths_int.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

enum { RATES = 64, MTU_MAX = 7 }; /* rate codes have 6 bits */

/* Rates of a path are compared by rank, because codes are not in order of speed. */
struct ranks {
	uint8_t code[RATES]; /* by rank, slowest first */
	uint8_t of[RATES];   /* rank of a code */
	unsigned n;
};

/* Limits of one cable, and then of a whole path. */
struct limit {
	uint8_t mtu, rank, hops, reserved;
};

struct rows {
	const struct column_map *map;
	const struct lanes *lanes; /* NULL: one lane */
	struct ranks ranks;
	struct limit *cable; /* [n_adj] of each channel; hops unused */
	struct paths out;
	uint32_t *source_of;    /* [n] row of a switch in out, GRAPH_NONE */
	struct limit *path;     /* [threads][n] */
	struct path_row *block; /* [threads][n_sources][COLUMN_BLOCK] */
	struct limit *paths;    /* [threads][n][COLUMN_BLOCK] of paths to a block */
};

static void rank_rates(struct ranks *r)
{
	for (unsigned code = 0; code < RATES; code++) {
		unsigned k = r->n;

		if (code && !rate_speed((uint8_t)code)) {
			continue;
		}
		for (; k && rate_speed(r->code[k - 1]) > rate_speed((uint8_t)code); k--) {
			r->code[k] = r->code[k - 1];
		}
		r->code[k] = (uint8_t)code;
		r->n++;
	}
	for (unsigned k = 0; k < r->n; k++) {
		r->of[r->code[k]] = (uint8_t)k;
	}
}

static struct limit smaller(struct limit a, struct limit b)
{
	return (struct limit){ .mtu = a.mtu < b.mtu ? a.mtu : b.mtu,
		               .rank = a.rank < b.rank ? a.rank : b.rank };
}

static struct limit port_limit(const struct rows *b, const struct port *p)
{
	return (struct limit){
		.mtu = p->mtu, .rank = b->ranks.of[link_rate(p->width, p->speed) % RATES]
	};
}

/* Limits of the cable on a port, from both of its ends. */
static struct limit cable_limit(const struct rows *r, const struct port *here)
{
	return smaller(port_limit(r, here), port_limit(r, &r->map->g->ports[here->peer]));
}

static void measure_cables(struct rows *r)
{
	const struct graph *g = r->map->g;

	for (uint32_t s = 0; s < r->map->n; s++) {
		const struct port *first = &g->ports[g->nodes[g->switches[s]].first_port];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			r->cable[i] = cable_limit(r, first + g->adj[i].port);
		}
	}
}

static int choose_sources(struct rows *r, struct arena *a)
{
	struct paths *out = &r->out;

	for (uint32_t s = 0; s < r->map->n; s++) {
		r->source_of[s] = GRAPH_NONE;
		/* with lanes a switch's own port 0 must know which one it may use */
		if (r->map->n_hosts[s] || r->lanes) {
			r->source_of[s] = out->n_sources;
			out->source[out->n_sources++] = s;
		}
	}
	out->n_lids = r->map->lids->top + 1;
	out->rows =
		arena_array(a, (size_t)out->n_sources * out->n_lids, sizeof(*out->rows));
	return out->rows ? E_OK : -ENOMEM;
}

struct rows *rows_new(const struct column_map *m, const struct lanes *lanes,
                      unsigned threads, struct arena *a, struct arena *tmp)
{
	struct rows *r = arena_alloc(tmp, sizeof(*r));
	uint32_t n = m->n;

	if (!r) {
		return NULL;
	}
	*r = (struct rows){ .map = m, .lanes = lanes && lanes->rows ? lanes : NULL };
	r->out.source = arena_array(a, n, sizeof(*r->out.source));
	r->source_of = arena_array(tmp, n, sizeof(*r->source_of));
	r->cable = arena_array(tmp, m->g->n_adj, sizeof(*r->cable));
	r->path = arena_array(tmp, (size_t)threads * n, sizeof(*r->path));
	if (!r->out.source || !r->source_of || !r->cable || !r->path ||
	    choose_sources(r, a) != E_OK) {
		return NULL;
	}
	r->block = arena_array(tmp, (size_t)threads * r->out.n_sources * COLUMN_BLOCK,
	                       sizeof(*r->block));
	r->paths =
		arena_array(tmp, (size_t)threads * n * COLUMN_BLOCK, sizeof(*r->paths));
	rank_rates(&r->ranks);
	measure_cables(r);
	return r->block && r->paths ? r : NULL;
}

static struct path_row *block_of(const struct rows *r, unsigned thread)
{
	return r->block + (size_t)thread * r->out.n_sources * COLUMN_BLOCK;
}

void rows_clear_block(struct rows *r, unsigned thread)
{
	memset(block_of(r, thread), 0,
	       (size_t)r->out.n_sources * COLUMN_BLOCK * sizeof(*r->block));
}

/* Limits of the last cable: that of the owner, or none for the LID of a switch. */
static struct limit home_limit(const struct rows *r, uint32_t owner)
{
	struct limit last = { .mtu = MTU_MAX, .rank = (uint8_t)(r->ranks.n - 1) };

	if (graph_switch_port_of(r->map->g, owner)) {
		last = cable_limit(r, &r->map->g->ports[owner]);
	}
	last.hops = 1;
	return last;
}

/*
 * A path is one cable more than that of the next switch, which comes earlier in order. A
 * row's place in the block is (source, LID).
 */
void rows_column(struct rows *r, unsigned thread, const struct column *c)
{
	const uint32_t *order = c->order, *to = c->next, *channel = c->channel;
	const uint32_t *source_of = r->source_of, n = c->n_order;
	const struct limit *cable = r->cable;
	struct limit *path = r->path + (size_t)thread * r->map->n, here;
	struct path_row *block = block_of(r, thread) + c->lid % COLUMN_BLOCK;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = order[i], row = source_of[s];

		if (i == 0) {
			here = home_limit(r, c->owner);
		} else {
			struct limit next = path[to[s]];

			here = smaller(cable[channel[s]], next);
			here.hops = (uint8_t)(next.hops + (next.hops < UINT8_MAX));
		}
		path[s] = here;
		if (row != GRAPH_NONE) {
			block[(size_t)row * COLUMN_BLOCK] = (struct path_row){
				.mtu = here.mtu,
				.rate = r->ranks.code[here.rank],
				.hops = here.hops,
				.lane = r->lanes ? lane_of(r->lanes, s, c->lid) : 0
			};
		}
	}
}

void rows_store_block(struct rows *r, unsigned thread, uint32_t lid)
{
	const struct paths *out = &r->out;
	const struct path_row *block = block_of(r, thread);
	uint32_t n = out->n_lids - lid < COLUMN_BLOCK ? out->n_lids - lid : COLUMN_BLOCK;

	for (uint32_t i = 0; i < out->n_sources; i++) {
		memcpy(out->rows + (size_t)i * out->n_lids + lid,
		       block + (size_t)i * COLUMN_BLOCK, n * sizeof(*block));
	}
}

static struct path_row row_of(const struct rows *r, struct limit limit, uint32_t s,
                              uint32_t lid)
{
	return (struct path_row){ .mtu = limit.mtu,
		                  .rate = r->ranks.code[limit.rank],
		                  .hops = limit.hops,
		                  .lane = r->lanes ? lane_of(r->lanes, s, lid) : 0 };
}

/* Where the rows of a source begin for a block; NULL: it is none. */
static struct path_row *place_of(const struct rows *r, uint32_t s, uint32_t lid)
{
	uint32_t row = r->source_of[s];

	return row == GRAPH_NONE ? NULL : r->out.rows + (size_t)row * r->out.n_lids + lid;
}

/* LIDs of the block that hang on the switch itself. */
static void start_paths(const struct rows *r, const struct column_block *b,
                        struct limit *paths)
{
	for (uint64_t lids = b->owned; lids; lids &= lids - 1) {
		unsigned k = (unsigned)__builtin_ctzll(lids);
		uint32_t home = b->home[k], owner = r->map->lids->owner[b->lid + k];
		struct path_row *out = place_of(r, home, b->lid);

		paths[(size_t)home * COLUMN_BLOCK + k] = home_limit(r, owner);
		if (out) {
			out[k] = row_of(r, paths[(size_t)home * COLUMN_BLOCK + k], home,
			                b->lid + k);
		}
	}
}

/* Of one switch one cable more than of the next ones. */
static void extend_paths(const struct rows *r, const struct column_block *b,
                         const struct column_group *group, struct limit *paths)
{
	uint32_t s = group->sw;
	const struct column_hop *hop = r->map->hop + (size_t)s * r->map->width;
	struct path_row *out = place_of(r, s, b->lid);
	struct limit *here = paths + (size_t)s * COLUMN_BLOCK;

	for (uint32_t i = 0; i < group->n; i++) {
		const struct column_run *run = &b->run[group->first + i];
		struct column_hop to = hop[run->port];
		const struct limit *next = paths + (size_t)to.next * COLUMN_BLOCK;
		uint64_t lids = column_run_lids(run) & b->passed[s];

		for (; lids; lids &= lids - 1) {
			unsigned k = (unsigned)__builtin_ctzll(lids);
			struct limit x = smaller(r->cable[to.channel], next[k]);

			x.hops = (uint8_t)(next[k].hops + (next[k].hops < UINT8_MAX));
			here[k] = x;
			if (out) {
				out[k] = row_of(r, x, s, b->lid + k);
			}
		}
	}
}

/* Do the cables that the block takes allow the same at both switches? */
static bool has_like_cables(const struct rows *r, const struct column_block *b,
                            const struct column_group *group, uint32_t other)
{
	const struct column_hop *x = r->map->hop + (size_t)group->sw * r->map->width;
	const struct column_hop *y = r->map->hop + (size_t)other * r->map->width;

	for (uint32_t i = 0; i < group->n; i++) {
		uint8_t port = b->run[group->first + i].port;

		if (memcmp(&r->cable[x[port].channel], &r->cable[y[port].channel],
		           sizeof(*r->cable))) {
			return false;
		}
	}
	return true;
}

/* The rows of a switch that is like another one. false: they are not the same. */
static bool copy_paths(const struct rows *r, const struct column_block *b,
                       const struct column_group *group, struct limit *paths)
{
	uint32_t s = group->sw, other = b->group[group->like].sw;
	struct path_row *to = place_of(r, s, b->lid), *from = place_of(r, other, b->lid);
	uint32_t n = r->out.n_lids - b->lid;

	if (other == s || r->lanes || !to != !from || b->passed[s] != b->passed[other] ||
	    !has_like_cables(r, b, group, other)) {
		return false;
	}
	memcpy(paths + (size_t)s * COLUMN_BLOCK, paths + (size_t)other * COLUMN_BLOCK,
	       COLUMN_BLOCK * sizeof(*paths));
	if (to) {
		memcpy(to, from, (n < COLUMN_BLOCK ? n : COLUMN_BLOCK) * sizeof(*to));
	}
	return true;
}

void rows_block(struct rows *r, unsigned thread, struct column_block *b)
{
	struct limit *paths = r->paths + (size_t)thread * r->map->n * COLUMN_BLOCK;

	column_block_pass(r->map, b, b->owned);
	if (r->lanes) { /* all switches are sources */
		memset(b->passed, 0xff, r->map->n * sizeof(*b->passed));
	}
	start_paths(r, b, paths);
	for (uint32_t i = 0; i < b->n_groups; i++) {
		if (!copy_paths(r, b, &b->group[i], paths)) {
			extend_paths(r, b, &b->group[i], paths);
		}
	}
}

struct rows *rows_of_paths(const struct column_map *m, const struct paths *made,
                           struct arena *tmp)
{
	struct rows *r = arena_alloc(tmp, sizeof(*r));

	if (!r) {
		return NULL;
	}
	*r = (struct rows){ .map = m, .out = *made };
	r->source_of = arena_array(tmp, m->n, sizeof(*r->source_of));
	r->cable = arena_array(tmp, m->g->n_adj, sizeof(*r->cable));
	if (!r->source_of || !r->cable) {
		return NULL;
	}
	memset(r->source_of, 0xff, m->n * sizeof(*r->source_of));
	for (uint32_t i = 0; i < made->n_sources; i++) {
		r->source_of[made->source[i]] = i;
	}
	rank_rates(&r->ranks);
	measure_cables(r);
	return r;
}

void rows_path(struct rows *r, uint32_t s, uint32_t lid)
{
	const struct column_map *m = r->map;
	uint32_t owner = m->lids->owner[lid], home, hops = 0;
	struct path_row *out = place_of(r, s, lid);
	struct limit path;

	if (out == NULL) {
		return;
	}
	home = owner != GRAPH_NONE ? graph_switch_of(m->g, owner) : GRAPH_NONE;
	*out = (struct path_row){ 0 };
	if (home == GRAPH_NONE) {
		return;
	}
	path = home_limit(r, owner);
	for (uint32_t at = s; at != home; hops++) {
		uint8_t port = lft_row(m->lft, at)[lid];
		const struct column_hop *hop = m->hop + (size_t)at * m->width + port;

		if (hops > m->n || port >= m->width || hop->channel == GRAPH_NONE) {
			return;
		}
		path = smaller(path, r->cable[hop->channel]);
		at = hop->next;
	}
	path.hops = (uint8_t)(hops < UINT8_MAX ? hops + 1 : UINT8_MAX);
	*out = row_of(r, path, s, lid);
}

struct paths rows_paths(const struct rows *r)
{
	return r->out;
}
