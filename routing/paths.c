/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Path rows and load, column by column: in the order of struct column each switch comes
 * after its next switch, so a path is one cable more than the path of the next switch,
 * and read backwards each switch has received all routes it passes on.
 */
#include "routing/paths.h"

#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/column.h"
#include "routing/graph.h"
#include "routing/lids.h"

enum { RATES = 64, MTU_MAX = 5 }; /* rate codes have 6 bits */

/* Rates of a path are compared by rank, because codes are not in order of speed. */
struct ranks {
	uint8_t code[RATES]; /* by rank, slowest first */
	uint8_t of[RATES];   /* rank of a code */
	unsigned n;
};

/* What one cable, and then a whole path, allows. */
struct limit {
	uint8_t mtu, rank, hops;
};

struct builder {
	struct column_map map;
	const struct lanes *lanes;
	struct ranks ranks;
	struct limit *cable; /* [n][width] of the cable on a port; hops unused */
	struct paths *out;
	uint32_t *source_of; /* [n] row of a switch in out, GRAPH_NONE */
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

static struct limit port_limit(const struct builder *b, const struct port *p)
{
	return (struct limit){
		.mtu = p->mtu, .rank = b->ranks.of[link_rate(p->width, p->speed) % RATES]
	};
}

static void measure_cables(struct builder *b)
{
	const struct graph *g = b->map.g;

	for (uint32_t s = 0; s < b->map.n; s++) {
		const struct node *node = &g->nodes[g->switches[s]];

		for (uint32_t p = 1; p <= node->n_ports; p++) {
			const struct port *here = &g->ports[node->first_port + p];

			if (here->peer != GRAPH_NONE) {
				b->cable[(size_t)s * b->map.width + p] =
					smaller(port_limit(b, here),
				                port_limit(b, &g->ports[here->peer]));
			}
		}
	}
}

/* Paths of all switches to the LID of a resolved column. */
static void limit_column(const struct builder *b, const struct column *c,
                         struct limit *path)
{
	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];
		struct limit cable = b->cable[(size_t)s * b->map.width + c->port[s]];
		uint8_t hops = 0;

		if (i == 0 && !c->to_host) {
			/* port 0 of the switch itself: no cable, no limit */
			cable = (struct limit){ .mtu = MTU_MAX,
				                .rank = (uint8_t)(b->ranks.n - 1) };
		} else if (i) {
			hops = path[c->next[s]].hops;
			cable = smaller(cable, path[c->next[s]]);
		}
		cable.hops = (uint8_t)(hops < UINT8_MAX ? hops + 1 : hops);
		path[s] = cable;
	}
}

/* Stores the rows of one column in a block of rows. */
static void fill_column(const struct builder *b, const struct column *c,
                        const struct limit *path, struct path_row *block)
{
	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i], row = b->source_of[s];

		if (row != GRAPH_NONE) {
			block[(size_t)row * COLUMN_BLOCK + c->lid % COLUMN_BLOCK] =
				(struct path_row){ .mtu = path[s].mtu,
				                   .rate = b->ranks.code[path[s].rank],
				                   .hops = path[s].hops,
				                   .lane = lane_of(b->lanes, s, c->lid) };
		}
	}
}

static void store_block(const struct paths *out, uint32_t lid,
                        const struct path_row *block)
{
	uint32_t n = out->n_lids - lid < COLUMN_BLOCK ? out->n_lids - lid : COLUMN_BLOCK;

	for (uint32_t i = 0; i < out->n_sources; i++) {
		memcpy(out->rows + (size_t)i * out->n_lids + lid,
		       block + (size_t)i * COLUMN_BLOCK, n * sizeof(*block));
	}
}

static void build_block(const struct builder *b, struct column *c, struct limit *path,
                        struct path_row *block, uint32_t lid)
{
	memset(block, 0, (size_t)b->out->n_sources * COLUMN_BLOCK * sizeof(*block));
	column_load_block(&b->map, c, lid);
	for (uint32_t k = 0; k < COLUMN_BLOCK; k++) {
		if (column_resolve(&b->map, c, lid + k)) {
			limit_column(b, c, path);
			fill_column(b, c, path, block);
		}
	}
	store_block(b->out, lid, block);
}

static int build_rows(const struct builder *b, struct arena *tmp)
{
	unsigned threads = column_threads();
	size_t block_rows = (size_t)b->out->n_sources * COLUMN_BLOCK;
	uint32_t n_blocks = (b->out->n_lids + COLUMN_BLOCK - 1) / COLUMN_BLOCK;
	struct column *col = column_new(&b->map, threads, tmp);
	struct limit *path = arena_array(tmp, (size_t)threads * b->map.n, sizeof(*path));
	struct path_row *block = arena_array(tmp, threads * block_rows, sizeof(*block));

	if (!col || !path || !block) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		unsigned t = column_thread();

		build_block(b, &col[t], path + (size_t)t * b->map.n,
		            block + t * block_rows, i * COLUMN_BLOCK);
	}
	return E_OK;
}

static int choose_sources(struct builder *b, struct paths *out, struct arena *a,
                          struct arena *tmp)
{
	out->source = arena_array(a, b->map.n, sizeof(*out->source));
	b->source_of = arena_array(tmp, b->map.n, sizeof(*b->source_of));
	if (!out->source || !b->source_of) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < b->map.n; s++) {
		b->source_of[s] = GRAPH_NONE;
		if (b->map.n_hosts[s]) {
			b->source_of[s] = out->n_sources;
			out->source[out->n_sources++] = s;
		}
	}
	out->rows =
		arena_array(a, (size_t)out->n_sources * out->n_lids, sizeof(*out->rows));
	return out->rows ? E_OK : -ENOMEM;
}

int paths_build(const struct graph *g, const struct lids *lids, const struct lft *lft,
                const struct lanes *lanes, struct arena *a, struct paths *ret)
{
	struct paths out = { .n_lids = lids->top + 1 };
	const struct lanes one = { .n = 1 };
	struct builder b = { .lanes = lanes ? lanes : &one, .out = &out };
	struct arena *tmp = arena_new();
	int ret_code = -ENOMEM;

	if (!tmp) {
		goto out;
	}
	ret_code = column_map_init(&b.map, g, lids, lft, tmp);
	if (ret_code != E_OK) {
		goto out;
	}
	b.cable = arena_array(tmp, (size_t)b.map.n * b.map.width, sizeof(*b.cable));
	ret_code = b.cable ? choose_sources(&b, &out, a, tmp) : -ENOMEM;
	if (ret_code == E_OK) {
		rank_rates(&b.ranks);
		measure_cables(&b);
		ret_code = build_rows(&b, tmp);
	}
	if (ret_code == E_OK) {
		*ret = out;
	}
out:
	arena_free(tmp);
	return ret_code;
}
