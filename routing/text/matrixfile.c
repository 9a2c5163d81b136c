/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/matrixfile.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"

enum { WIDTH_MAX = 256 };

/* ---- writing ---- */

static void write_row(const uint8_t *row, unsigned width, uint32_t lid, uint64_t guid,
                      FILE *f)
{
	static const char hex[] = "0123456789abcdef";
	char text[3 * WIDTH_MAX + 1], *p = text;

	for (unsigned i = 0; i < width; i++) {
		*p++ = ' ';
		*p++ = hex[row[i] >> 4];
		*p++ = hex[row[i] & 15];
	}
	*p = '\0';
	fprintf(f, "0x%04" PRIx32 ":%s # portguid 0x%016" PRIx64 "\n", lid, text, guid);
}

static void write_switch(const struct graph *g, const struct lids *lids,
                         const struct hops *h, uint32_t s, FILE *f)
{
	const struct node *n = &g->nodes[g->switches[s]];
	uint8_t row[WIDTH_MAX];

	fprintf(f, "Switch: guid 0x%016" PRIx64 "\n", n->guid);
	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		uint32_t owner = lids->owner[lid];

		if (owner == GRAPH_NONE || g->ports[owner].num != 0 ||
		    lids->of[owner].base != lid) {
			continue;
		}
		uint32_t t = g->nodes[g->ports[owner].node].sw;

		/* least hops in front, then one more than the neighbour behind each port has */
		memset(row, MATRIX_NONE, WIDTH_MAX);
		row[0] = (uint8_t)hops_between(h, s, t);
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			unsigned hops = hops_between(h, g->adj[i].to, t);

			row[g->adj[i].port] = hops < MATRIX_NONE - 1 ? (uint8_t)(hops + 1)
			                                             : MATRIX_NONE;
		}
		write_row(row, n->n_ports + 1u, lid, g->ports[owner].guid, f);
	}
}

int matrixfile_write(const struct graph *g, const struct lids *lids,
                     const struct hops *hops, FILE *f)
{
	for (uint32_t s = 0; s < g->n_switches && !ferror(f); s++) {
		write_switch(g, lids, hops, s, f);
	}
	return fflush(f) == 0 && !ferror(f) ? E_OK : -EIO;
}

/* ---- reading ---- */

/* The table that is being read goes into working memory, rows at their full width. */
struct matrix_reader {
	struct dump_reader in;
	struct matrix_dump *dump;
	struct arena *a, *tmp;
	struct matrix_dump_table now;
	uint32_t *lid;
	unsigned *row_line;
	uint8_t (*row)[WIDTH_MAX];
	size_t cap_lid, cap_line, cap_row, cap_tables;
};

static int end_table(void *ctx)
{
	struct matrix_reader *r = ctx;
	struct matrix_dump_table *t;
	uint8_t *hops;

	if (ARENA_RESERVE(r->a, r->dump->tables, r->dump->n_tables, r->cap_tables,
	                  r->dump->n_tables + 1U) != E_OK) {
		return -ENOMEM;
	}
	t = r->dump->tables;
	hops = arena_array(r->a, r->now.n, r->now.width);
	r->now.lid = dump_copy(r->a, r->lid, r->now.n, sizeof(*r->lid));
	r->now.row_line = dump_copy(r->a, r->row_line, r->now.n, sizeof(*r->row_line));
	if (!hops || !r->now.lid || !r->now.row_line) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->now.n; i++) {
		memcpy(hops + (size_t)i * r->now.width, r->row[i], r->now.width);
	}
	r->now.hops = hops;
	r->dump->tables = t;
	t[r->dump->n_tables++] = r->now;
	return E_OK;
}

static int begin_table(void *ctx, uint64_t guid)
{
	struct matrix_reader *r = ctx;

	r->now = (struct matrix_dump_table){ .guid = guid, .line = r->in.line };
	return E_OK;
}

/* " HH HH ...", up to a remark. Returns how many, 0: not of this form. */
static unsigned parse_hops(const char *text, uint8_t row[WIDTH_MAX])
{
	unsigned n = 0;

	memset(row, MATRIX_NONE, WIDTH_MAX);
	for (const char *p = text;;) {
		char *end;
		unsigned long v;

		p += strspn(p, " \t");
		if (!*p || *p == '#') {
			return n;
		}
		v = isxdigit((unsigned char)*p) ? strtoul(p, &end, 16) : ULONG_MAX;
		if (v > UINT8_MAX || (*end && !strchr(" \t#", *end)) || n == WIDTH_MAX) {
			return 0;
		}
		row[n++] = (uint8_t)v;
		p = end;
	}
}

static int store_row(struct matrix_reader *r, uint32_t lid, const uint8_t *row,
                     unsigned width, uint64_t guid)
{
	uint32_t n = r->now.n;

	if (ARENA_RESERVE(r->tmp, r->lid, n, r->cap_lid, n + 1U) != E_OK ||
	    ARENA_RESERVE(r->tmp, r->row_line, n, r->cap_line, n + 1U) != E_OK ||
	    ARENA_RESERVE(r->tmp, r->row, n, r->cap_row, n + 1U) != E_OK) {
		return -ENOMEM;
	}
	r->lid[n] = lid;
	r->row_line[n] = r->in.line;
	memcpy(r->row[n], row, WIDTH_MAX);
	r->now.n++;
	r->now.width = width > r->now.width ? width : r->now.width;
	return dump_lids_note(&r->dump->lids, lid, guid, r->in.line, r->a);
}

/* "0xLID: HH HH ... # portguid 0xGUID" */
static int read_row(void *ctx, const char *text)
{
	struct matrix_reader *r = ctx;
	char *end;
	unsigned long lid = strtoul(text, &end, 16);
	uint8_t row[WIDTH_MAX];
	unsigned width = *end == ':' ? parse_hops(end + 1, row) : 0;

	if (width == 0) {
		dump_complain(
			&r->in,
			"expected '0xLID: HOPS HOPS ... # ...', hops as two hex digits",
			text);
	} else if (lid == 0 || lid > LID_LIMIT_MAX) {
		dump_complain(&r->in, "not a unicast LID", text);
	} else {
		return store_row(r, (uint32_t)lid, row, width,
		                 dump_guid_after(end, " portguid 0x"));
	}
	return E_OK;
}

static const struct dump_form form = {
	.what = "a dump of a hop matrix",
	.header = "Switch",
	.other = "Unicast lids",
	.other_text = "this is a dump of forwarding tables",
	.early = "row before any 'Switch' header",
	.begin = begin_table,
	.row = read_row,
	.end = end_table,
};

int matrix_dump_read(const char *path, struct arena *a, struct diags *d,
                     struct matrix_dump *ret_dump)
{
	struct matrix_dump dump = { .path = arena_strdup(a, path) };
	struct matrix_reader r = { .in = { dump.path, d, &form, &r },
		                   .dump = &dump,
		                   .a = a,
		                   .tmp = arena_new() };
	int ret = -ENOMEM;

	if (!dump.path || !r.tmp || dump_lids_init(&dump.lids, a) != E_OK) {
		goto out;
	}
	ret = dump_read_tables(&r.in);
	if (ret == E_OK) {
		dump.errors = r.in.errors;
		*ret_dump = dump;
	}
out:
	arena_free(r.tmp);
	return ret;
}
