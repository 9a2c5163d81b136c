/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Differences between two streams of answers to the same queries, a line each:
 *
 *   NUMBER ATTRIBUTE METHOD trusted|untrusted|... [COMPONENT=VALUE ...] status=A/B
 *   records=A/B only=A/B [COMPONENT=A/B ...]
 *
 * First what was asked for, last which components differ in the first record that only
 * one side has, where both have as many of those.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sa.h>

#include "tests/differential/differential.h"

struct line {
	char *text;
	size_t cap;
	char *words; /* what is left of it: " RECORD RECORD ..." */
	const struct sa_attr *attr;
	char name[64];
	char request[2 * DIFF_DATA_BYTES + 1];
	unsigned method, status;
	int trusted;
	uint64_t number, mask;
	uint32_t attr_mod;
	size_t n;
};

static bool read_line(FILE *f, struct line *l)
{
	int used = 0;
	ssize_t len = getline(&l->text, &l->cap, f);

	if (len <= 0) {
		return false;
	}
	l->text[len - 1] = '\0';
	if (sscanf(l->text,
	           "%" SCNu64 " %63s %x %d %" SCNx64 " %" SCNx32 " %400s %x %zu%n",
	           &l->number, l->name, &l->method, &l->trusted, &l->mask, &l->attr_mod,
	           l->request, &l->status, &l->n, &used) != 9 ||
	    diff_attr_by_name(l->name) < 0) {
		diff_die("not a line of answers", l->text);
	}
	l->words = l->text + used;
	l->attr = diff_attrs[diff_attr_by_name(l->name)].attr;
	return true;
}

static void write_value(FILE *out, const struct sa_field *f, const uint8_t *record)
{
	for (unsigned at = 0; at < f->width && at < 128; at += 64) {
		unsigned width = f->width - at < 64 ? f->width - at : 64;
		fprintf(out, f->width > 64 ? "%016" PRIx64 : "%" PRIx64,
		        field_get(record, f->bit + at, width));
	}
	if (f->width > 128) {
		fputs("...", out);
	}
}

static void write_query(FILE *out, const struct line *l)
{
	uint8_t data[DIFF_DATA_BYTES];
	const char *between = "";
	const char *method = l->method == UMAD_SA_METHOD_GET_TABLE   ? "GetTable"
	                     : l->method == UMAD_SA_METHOD_GET_MULTI ? "GetMulti"
	                                                             : "Get";

	diff_unhex(l->request, data, sizeof(data));
	fprintf(out, "%" PRIu64 " %s %s %s%s [", l->number, l->name, method,
	        l->trusted ? "trusted" : "untrusted", l->attr_mod ? " matchall" : "");
	for (unsigned c = 0; c < 64; c++) {
		if (l->mask >> c & 1 && c < l->attr->n_fields) {
			fprintf(out, "%s%s=", between, l->attr->fields[c].name);
			write_value(out, &l->attr->fields[c], data);
			between = " ";
		}
	}
	fputs("]", out);
}

/* The next record of a side, NULL: none is left. */
static const char *record_of(char **words)
{
	return strsep(words, " ");
}

struct only {
	size_t n;
	const char *first;
};

static void only_one(struct only *o, const char *record)
{
	if (o->n++ == 0) {
		o->first = record;
	}
}

/* Both are sorted: what is on one side only. */
static void merge(char *a_words, char *b_words, struct only *only_a, struct only *only_b)
{
	const char *a = record_of(&a_words), *b = record_of(&b_words);

	while (a != NULL || b != NULL) {
		int order = a == NULL ? 1 : b == NULL ? -1 : strcmp(a, b);
		if (order < 0) {
			only_one(only_a, a);
		} else if (order > 0) {
			only_one(only_b, b);
		}
		if (order <= 0) {
			a = record_of(&a_words);
		}
		if (order >= 0) {
			b = record_of(&b_words);
		}
	}
}

static bool same_bits(const struct sa_field *f, const uint8_t *a, const uint8_t *b)
{
	for (unsigned at = 0; at < f->width; at += 64) {
		unsigned width = f->width - at < 64 ? f->width - at : 64;
		if (field_get(a, f->bit + at, width) !=
		    field_get(b, f->bit + at, width)) {
			return false;
		}
	}
	return true;
}

static void write_components(FILE *out, const struct sa_attr *attr, const char *a_hex,
                             const char *b_hex)
{
	uint8_t a[DIFF_DATA_BYTES] = { 0 }, b[DIFF_DATA_BYTES] = { 0 };
	const char *between = "";

	diff_unhex(a_hex, a, sizeof(a));
	diff_unhex(b_hex, b, sizeof(b));
	for (unsigned c = 0; c < attr->n_fields; c++) {
		const struct sa_field *f = &attr->fields[c];
		if (!same_bits(f, a, b)) {
			fprintf(out, "%s%s=", between, f->name);
			write_value(out, f, a);
			putc('/', out);
			write_value(out, f, b);
			between = " ";
		}
	}
}

static void write_difference(FILE *out, struct line *a, struct line *b)
{
	struct only only_a = { 0 }, only_b = { 0 };

	write_query(out, a);
	merge(a->n ? a->words + 1 : NULL, b->n ? b->words + 1 : NULL, &only_a, &only_b);
	fprintf(out, " status=%04x/%04x records=%zu/%zu only=%zu/%zu [", a->status,
	        b->status, a->n, b->n, only_a.n, only_b.n);
	if (only_a.n == only_b.n && only_a.n > 0) {
		write_components(out, sa_reply_attr(a->attr), only_a.first, only_b.first);
	}
	fputs("]\n", out);
}

static bool same_query(const struct line *a, const struct line *b)
{
	return a->number == b->number && a->attr == b->attr && a->method == b->method &&
	       a->trusted == b->trusted && a->mask == b->mask &&
	       a->attr_mod == b->attr_mod && strcmp(a->request, b->request) == 0;
}

uint64_t diff_compare(FILE *a_file, FILE *b_file, FILE *out)
{
	struct line a = { 0 }, b = { 0 };
	uint64_t n = 0, asked = 0;

	for (;; asked++) {
		bool more_a = read_line(a_file, &a), more_b = read_line(b_file, &b);
		if (more_a != more_b) {
			diff_die("one side ends early", NULL);
		}
		if (!more_a) {
			break;
		}
		if (!same_query(&a, &b)) {
			diff_die("these are not answers to the same queries", NULL);
		}
		if (a.status != b.status || a.n != b.n || strcmp(a.words, b.words) != 0) {
			write_difference(out, &a, &b);
			n++;
		}
	}
	free(a.text);
	free(b.text);
	fprintf(out, "# %" PRIu64 " queries, %" PRIu64 " differences\n", asked, n);
	return n;
}
