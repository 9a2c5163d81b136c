/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/lftdump.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/tables.h"

enum { SL_MAX = 15 };

/* One entry line. */
struct entry {
	uint32_t lid;
	uint32_t value;    /* port or SL */
	uint64_t portguid; /* 0: no remark */
};

/* The table that is being read goes into working memory that grows with the highest LID. */
struct lft_reader {
	struct dump_reader in;
	struct lft_dump *dump;
	struct arena *a, *tmp;
	bool is_sl;
	uint32_t max_lid;
	struct lft_dump_table now;
	uint8_t *value; /* [cap_value] of now */
	struct lft_dump_run *runs;
	size_t cap_runs, cap_tables;
	uint32_t cap_value;
};

/* Stores the table that was being read. */
static int end_table(void *ctx)
{
	struct lft_reader *r = ctx;
	struct lft_dump *d = r->dump;

	if (ARENA_RESERVE(r->a, d->tables, d->n_tables, r->cap_tables, d->n_tables + 1U) !=
	    E_OK) {
		return -ENOMEM;
	}
	r->now.value = dump_copy(r->a, r->value, r->now.n, 1);
	r->now.runs = dump_copy(r->a, r->runs, r->now.n_runs, sizeof(*r->runs));
	if (!r->now.value || !r->now.runs) {
		return -ENOMEM;
	}
	memset(r->value, LFT_NO_ROUTE, r->now.n);
	d->tables[d->n_tables++] = r->now;
	return E_OK;
}

static int begin_table(void *ctx, uint64_t guid)
{
	struct lft_reader *r = ctx;

	r->now = (struct lft_dump_table){ .guid = guid, .line = r->in.line };
	return E_OK;
}

/* "0xLID VALUE [# ... portguid 0xGUID...]" */
static bool parse_entry(const char *text, struct entry *e)
{
	char *end;
	unsigned long long lid = strtoull(text, &end, 16), value;

	if (end == text || !isblank((unsigned char)*end) || lid > UINT32_MAX) {
		return false;
	}
	while (isblank((unsigned char)*end)) {
		end++;
	}
	if (!isdigit((unsigned char)*end)) {
		return false;
	}
	value = strtoull(end, &end, 10);
	if ((*end && !isspace((unsigned char)*end)) || value > UINT8_MAX) {
		return false;
	}
	*e = (struct entry){ .lid = (uint32_t)lid,
		             .value = (uint32_t)value,
		             .portguid = dump_guid_after(end, " portguid 0x") };
	return true;
}

static int store_entry(struct lft_reader *r, const struct entry *e)
{
	struct lft_dump_run *run = r->now.n_runs ? &r->runs[r->now.n_runs - 1] : NULL;
	uint8_t *value =
		dump_reach(r->tmp, r->value, e->lid, &r->cap_value, 1, LFT_NO_ROUTE);

	if (!value) {
		return -ENOMEM;
	}
	r->value = value;
	r->value[e->lid] = (uint8_t)e->value;
	r->now.n = e->lid >= r->now.n ? e->lid + 1 : r->now.n;
	if (run && run->lid + run->n == e->lid && run->line + run->n == r->in.line) {
		run->n++;
	} else {
		if (ARENA_RESERVE(r->tmp, r->runs, r->now.n_runs, r->cap_runs,
		                  r->now.n_runs + 1U) != E_OK) {
			return -ENOMEM;
		}
		r->runs[r->now.n_runs++] = (struct lft_dump_run){ e->lid, r->in.line, 1 };
	}
	return dump_lids_note(&r->dump->lids, e->lid, e->portguid, r->in.line, r->a);
}

static int read_entry(void *ctx, const char *text)
{
	struct lft_reader *r = ctx;
	struct entry e;

	if (!parse_entry(text, &e)) {
		dump_complain(&r->in,
		              r->is_sl ? "expected '0xLID SL'"
		                       : "expected '0xLID PORT # ...'",
		              text);
	} else if (e.lid == 0 || e.lid > r->max_lid) {
		dump_complain(&r->in,
		              "not a unicast LID (unicast_lid_limit is the highest)",
		              text);
	} else if (r->is_sl && e.value > SL_MAX) {
		dump_complain(&r->in, "an SL is 0 to 15", text);
	} else {
		return store_entry(r, &e);
	}
	return E_OK;
}

static const struct dump_form form = {
	.what = "a dump of forwarding tables",
	.header = "Unicast lids",
	.other = "Multicast mlids",
	.other_text = "this is a dump of multicast tables",
	.early = "entry before any 'Unicast lids' header",
	.begin = begin_table,
	.row = read_entry,
	.end = end_table,
};

int lft_dump_read(const char *path, bool is_sl, uint32_t max_lid, struct arena *a,
                  struct diags *d, struct lft_dump *ret_dump)
{
	struct lft_dump dump = { .path = arena_strdup(a, path) };
	struct lft_reader r = { .in = { dump.path, d, &form, &r },
		                .dump = &dump,
		                .a = a,
		                .tmp = arena_new(),
		                .is_sl = is_sl,
		                .max_lid = max_lid };
	int ret = -ENOMEM;

	r.value = r.tmp ? dump_reach(r.tmp, NULL, 0, &r.cap_value, 1, LFT_NO_ROUTE)
	                : NULL;
	if (!dump.path || !r.value || dump_lids_init(&dump.lids, a) != E_OK) {
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

unsigned lft_dump_line(const struct lft_dump_table *t, uint32_t lid)
{
	for (uint32_t i = t->n_runs; i-- > 0;) {
		if (lid >= t->runs[i].lid && lid - t->runs[i].lid < t->runs[i].n) {
			return t->runs[i].line + (lid - t->runs[i].lid);
		}
	}
	return t->line;
}
