/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/guid2lid.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "routing/graph/lids.h"
#include "routing/text/span.h"

enum { LMC_MAX = 7 };

struct entry {
	struct lid_memory m;
	unsigned line;
};

struct guid2lid_reader {
	const char *path;
	struct diags *d;
	struct entry *entries; /* [n] */
	size_t n;
	unsigned errors;
	unsigned *line_of; /* [LID_LIMIT_DEFAULT + 1] line that has the LID, 0: none */
};

/* Turns lowest and highest LID into base and LMC. \return false: they are no such range. */
static bool to_range(uint64_t low, uint64_t high, struct lid_range *ret_range)
{
	uint8_t lmc = 0;

	while (lmc < LMC_MAX && low + (UINT64_C(1) << lmc) - 1 < high) {
		lmc++;
	}
	*ret_range = (struct lid_range){ (uint32_t)low, lmc };
	return low != 0 && low + (UINT64_C(1) << lmc) - 1 == high &&
	       (low & ((UINT64_C(1) << lmc) - 1)) == 0;
}

static void take_line(struct guid2lid_reader *r, struct span s, unsigned line)
{
	struct entry e = { .line = line };
	struct shown shown = span_shown(s);
	uint64_t low, high;

	if (!span_take_number(&s, 16, UINT64_MAX, &e.m.guid) || e.m.guid == 0 ||
	    !span_take_number(&s, 16, LID_LIMIT_DEFAULT, &low) ||
	    !span_take_number(&s, 16, LID_LIMIT_DEFAULT, &high) ||
	    (span_skip_blank(&s), s.n != 0)) {
		r->errors++;
		diag_add(
			r->d, DIAG_ERROR, r->path, line,
			"expected '0x<port GUID> 0x<lowest LID> 0x<highest LID>' with LIDs up to 0x%x, not '%s'",
			LID_LIMIT_DEFAULT, shown.text);
		return;
	}
	if (!to_range(low, high, &e.m.range)) {
		r->errors++;
		diag_add(r->d, DIAG_ERROR, r->path, line,
		         "LIDs 0x%04" PRIx64 " to 0x%04" PRIx64
		         " are no aligned range of 1, 2, 4 ... 128 LIDs",
		         low, high);
		return;
	}
	for (uint64_t lid = low; lid <= high; lid++) {
		if (r->line_of[lid] != 0) {
			r->errors++;
			diag_add(r->d, DIAG_ERROR, r->path, line,
			         "LID 0x%04" PRIx64 " is in line %u, too", lid,
			         r->line_of[lid]);
			return;
		}
	}
	for (uint64_t lid = low; lid <= high; lid++) {
		r->line_of[lid] = line;
	}
	r->entries[r->n++] = e;
}

static int compare_entries(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	if (a->m.guid != b->m.guid) {
		return a->m.guid < b->m.guid ? -1 : 1;
	}
	return a->line < b->line ? -1 : 1;
}

static void take_lines(struct guid2lid_reader *r, const char *text, size_t len)
{
	unsigned line = 1;

	for (size_t at = 0; at < len; line++) {
		struct span s = { .p = text + at };

		s.n = text_line(text, len, &at);
		if (s.n && s.p[s.n - 1] == '\r') {
			s.n--;
		}
		span_skip_blank(&s);
		if (s.n) {
			take_line(r, s, line);
		}
	}
}

int guid2lid_read(const char *path, const char *text, size_t len, struct arena *a,
                  struct diags *d, struct lid_memory **ret_memory, size_t *ret_n)
{
	struct guid2lid_reader r = { .path = path, .d = d };
	struct lid_memory *m;

	r.entries = arena_array(a, text_count(text, len, '\n') + 1, sizeof(*r.entries));
	r.line_of = arena_array(a, LID_LIMIT_DEFAULT + 1, sizeof(*r.line_of));
	if (r.entries == NULL || r.line_of == NULL) {
		return -ENOMEM;
	}
	take_lines(&r, text, len);
	qsort(r.entries, r.n, sizeof(*r.entries), compare_entries);
	m = arena_array(a, r.n, sizeof(*m));
	if (m == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < r.n; i++) {
		m[i] = r.entries[i].m;
		if (i && m[i].guid == m[i - 1].guid) {
			r.errors++;
			diag_add(d, DIAG_ERROR, path, r.entries[i].line,
			         "GUID 0x%016" PRIx64 " is in line %u, too", m[i].guid,
			         r.entries[i - 1].line);
		}
	}
	if (r.errors) {
		return E_SYNTAX;
	}
	*ret_memory = m;
	*ret_n = r.n;
	return E_OK;
}

void guid2lid_write(const struct lid_memory *m, size_t n, FILE *f)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "0x%016" PRIx64 " 0x%04" PRIx32 " 0x%04" PRIx32 "\n\n",
		        m[i].guid, m[i].range.base,
		        m[i].range.base + (UINT32_C(1) << m[i].range.lmc) - 1);
	}
}
