/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Every destination switch is a column of distances. Cells come from the dump; those that
 * it lacks are one hop more than the nearest neighbour. A cell of the dump is dropped
 * when none of its ports leads to a switch that is nearer by the column as it stands,
 * then the column is worked out again. So routes always come nearer and end, whatever the
 * dump says.
 */
#include "routing/spread/matrix.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/text/matrixfile.h"

enum { FAR = HOPS_NONE - 1 };

/* Unusable parts of one column. */
struct misfit {
	uint32_t n;    /* cells */
	uint32_t from; /* one of them */
};

static const struct matrix_dump_table *table_of(const struct matrix *m, uint32_t s)
{
	return &m->dump->tables[m->table[s]];
}

static const uint8_t *row_of(const struct matrix *m, uint32_t s, uint32_t t)
{
	uint32_t row = m->row[(size_t)s * m->hops.n + t];

	return row == GRAPH_NONE
	               ? NULL
	               : table_of(m, s)->hops + (size_t)row * table_of(m, s)->width;
}

static uint8_t *cell(const struct matrix *m, uint32_t s, uint32_t t)
{
	return m->hops.dist + (size_t)s * m->hops.stride + t;
}

/* Does the link lead closer? \param row  Of s towards t, NULL: not from the dump. */
static bool leads_closer(const struct matrix *m, const uint8_t *row, uint32_t s,
                         uint32_t t, const struct sw_link *l)
{
	unsigned here = *cell(m, s, t), there = *cell(m, l->to, t);

	if (!row) {
		return there + 1 == here;
	}
	return here < HOPS_NONE && l->port < table_of(m, s)->width &&
	       row[l->port] == here && there < here;
}

void matrix_closer(const void *ctx, uint32_t s, uint32_t t, const struct sw_link *link,
                   uint32_t n_links, unsigned max, struct spread_ports *ret_ports)
{
	const struct matrix *m = ctx;
	const uint8_t *row = row_of(m, s, t);
	unsigned n = 0;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		if (leads_closer(m, row, s, t, &link[i])) {
			ret_ports->port[n] = link[i].port;
			ret_ports->to[n] = link[i].to;
			n++;
		}
	}
	ret_ports->n = n;
}

/* ---- from the dump ---- */

/* The switch whose LID it is. */
static uint32_t column_of(const struct matrix_dump *dump, const struct graph *g,
                          const struct lids *lids, uint32_t lid)
{
	uint64_t guid = dump->lids.guid[lid];
	uint32_t port = GRAPH_NONE;

	if (guid) {
		port = graph_port_by_guid(g, guid);
	} else if (lid <= lids->top) {
		port = lids->owner[lid];
	}
	return port == GRAPH_NONE || g->ports[port].num
	               ? GRAPH_NONE
	               : g->nodes[g->ports[port].node].sw;
}

static void take_tables(struct matrix *m, const struct graph *g, struct why *notes)
{
	uint32_t unknown = 0;

	memset(m->table, 0xff, m->hops.n * sizeof(*m->table));
	for (uint32_t i = 0; i < m->dump->n_tables; i++) {
		const struct matrix_dump_table *t = &m->dump->tables[i];
		uint32_t node = graph_node_by_guid(g, t->guid);
		uint32_t s = node == GRAPH_NONE ? GRAPH_NONE : g->nodes[node].sw;

		unknown += s == GRAPH_NONE;
		if (s != GRAPH_NONE && m->table[s] != GRAPH_NONE) {
			why_add(notes, "%s:%u: a second table for switch %s is not used",
			        m->dump->path, t->line, switch_text(g, NULL, s).text);
		} else if (s != GRAPH_NONE) {
			m->table[s] = i;
		}
	}
	if (unknown) {
		why_add(notes,
		        "%s: %" PRIu32
		        " tables are for switches that the fabric does not have",
		        m->dump->path, unknown);
	}
}

static void take_rows(struct matrix *m, const uint32_t *column)
{
	for (uint32_t s = 0; s < m->hops.n; s++) {
		uint32_t *row = m->row + (size_t)s * m->hops.n;

		memset(row, 0xff, m->hops.n * sizeof(*row));
		for (uint32_t i = 0; m->table[s] != GRAPH_NONE && i < table_of(m, s)->n;
		     i++) {
			uint32_t t = column[table_of(m, s)->lid[i]];

			if (t != GRAPH_NONE && t != s) {
				row[t] = i;
			}
		}
	}
}

/* ---- columns ---- */

/* Works out cells without a row from near to far. */
static void fill_column(const struct matrix *m, const struct graph *g, uint32_t t)
{
	unsigned last = FAR;

	for (unsigned d = 0; d < last; d++) {
		bool any = false;

		for (uint32_t s = 0; s < m->hops.n; s++) {
			unsigned here = *cell(m, s, t);

			any |= here > d && here < HOPS_NONE;
			for (uint32_t i = g->adj_first[s];
			     here == d && i < g->adj_first[s + 1]; i++) {
				uint8_t *to = cell(m, g->adj[i].to, t);

				if (*to > d + 1 && !row_of(m, g->adj[i].to, t)) {
					*to = (uint8_t)(d + 1);
					any = true;
				}
			}
		}
		last = any ? last : 0;
	}
}

/* Whether a row leads nowhere although some neighbour gets there. */
static bool misleads(const struct matrix *m, const struct graph *g, uint32_t s,
                     uint32_t t)
{
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		if (*cell(m, g->adj[i].to, t) < HOPS_NONE) {
			return true;
		}
	}
	return *cell(m, s, t) < HOPS_NONE;
}

/* Drops rows that lead nowhere. Returns whether there were any. */
static bool drop_rows(const struct matrix *m, const struct graph *g, uint32_t t,
                      struct misfit *x)
{
	bool any = false;

	for (uint32_t s = 0; s < m->hops.n; s++) {
		uint32_t i = g->adj_first[s];
		const uint8_t *row = row_of(m, s, t);

		if (!row) {
			continue;
		}
		while (i < g->adj_first[s + 1] &&
		       !leads_closer(m, row, s, t, &g->adj[i])) {
			i++;
		}
		if (i < g->adj_first[s + 1]) {
			continue;
		}
		m->row[(size_t)s * m->hops.n + t] = GRAPH_NONE;
		any = true;
		if (misleads(m, g, s, t)) {
			x->from = x->n ? x->from : s;
			x->n++;
		}
	}
	return any;
}

/* \return The greatest distance. */
static unsigned settle_column(const struct matrix *m, const struct graph *g, uint32_t t,
                              struct misfit *x)
{
	unsigned diameter = 0;

	do {
		uint32_t n_others = 0;

		/* the distances of the cells that the dump has */
		for (uint32_t s = 0; s < m->hops.n; s++) {
			const uint8_t *row = row_of(m, s, t);

			*cell(m, s, t) = s == t ? 0 : row ? row[0] : HOPS_NONE;
			n_others += s != t && !row;
		}
		if (n_others) {
			fill_column(m, g, t);
		}
	} while (drop_rows(m, g, t, x));
	for (uint32_t s = 0; s < m->hops.n; s++) {
		unsigned d = *cell(m, s, t);

		diameter = d > diameter && d < HOPS_NONE ? d : diameter;
	}
	return diameter;
}

/* ---- the whole ---- */

static void note_misfits(const struct matrix *m, const struct graph *g,
                         const struct misfit *x, const uint32_t *at, struct why *notes)
{
	uint32_t n = 0, first = 0;

	for (uint32_t t = m->hops.n; t-- > 0;) {
		n += x[t].n;
		first = x[t].n ? t : first;
	}
	if (n) {
		uint32_t row = at[(size_t)x[first].from * m->hops.n + first];

		why_add(notes,
		        "%s:%u: hops of %" PRIu32
		        " pairs of switches do not fit the cables, such as from %s to %s: shortest paths are used there",
		        m->dump->path, table_of(m, x[first].from)->row_line[row], n,
		        switch_text(g, NULL, x[first].from).text,
		        switch_text(g, NULL, first).text);
	}
}

static int settle(struct matrix *m, const struct graph *g, struct arena *tmp,
                  struct why *notes)
{
	struct misfit *x = arena_array(tmp, m->hops.n, sizeof(*x));
	size_t cells = (size_t)m->hops.n * m->hops.n;
	uint32_t *asked = arena_array(tmp, cells, sizeof(*asked));
	uint32_t n_without = 0, first = 0;
	unsigned diameter = 0;

	if (!x || !asked) {
		return -ENOMEM;
	}
	memcpy(asked, m->row, cells * sizeof(*asked));
#pragma omp parallel for schedule(dynamic, 64) reduction(max : diameter)
	for (uint32_t t = 0; t < m->hops.n; t++) {
		unsigned d = settle_column(m, g, t, &x[t]);

		diameter = d > diameter ? d : diameter;
	}
	m->hops.diameter = diameter;
	for (uint32_t s = m->hops.n; s-- > 0;) {
		n_without += m->table[s] == GRAPH_NONE;
		first = m->table[s] == GRAPH_NONE ? s : first;
	}
	if (n_without) {
		why_add(notes,
		        "%s: no hops for %" PRIu32
		        " switches, the first %s: shortest paths are used there",
		        m->dump->path, n_without, switch_text(g, NULL, first).text);
	}
	note_misfits(m, g, x, asked, notes);
	return E_OK;
}

int matrix_init(struct matrix *m, const struct matrix_dump *dump, const struct graph *g,
                const struct lids *lids, struct arena *a, struct why *notes)
{
	struct arena *tmp = arena_new();
	struct matrix x = { .dump = dump };
	uint32_t *column = NULL;
	int ret = tmp ? hops_alloc(&x.hops, g->n_switches, a) : -ENOMEM;

	if (ret != E_OK) {
		goto out;
	}
	x.table = arena_array(a, x.hops.n, sizeof(*x.table));
	x.row = arena_array(a, x.hops.n, x.hops.n * sizeof(*x.row));
	column = arena_array(tmp, (size_t)dump->lids.top + 1, sizeof(*column));
	if (!x.table || !x.row || !column) {
		ret = -ENOMEM;
		goto out;
	}
	for (uint32_t lid = 0; lid <= dump->lids.top; lid++) {
		column[lid] = column_of(dump, g, lids, lid);
	}
	take_tables(&x, g, notes);
	take_rows(&x, column);
	ret = settle(&x, g, tmp, notes);
	if (ret == E_OK) {
		ret = hops_index(&x.hops, a);
	}
	if (ret == E_OK) {
		*m = x;
	}
out:
	arena_free(tmp);
	return ret;
}
