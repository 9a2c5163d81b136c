/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sim/trace.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/umad_types.h>

#include "conf/base/digest.h"
#include "db/lmdb/txn.h"
#include "db/snapshot/snapshot_int.h"
#include "sa/mad/fields.h"
#include "sa/mad/transport.h"
#include "sa/sim/sim.h"
#include "tests/lib/db_util.h"

enum { LINE_BYTES = 4096, SHAPES_MAX = 2000 };

/* When client records are mirrored depends on the thread that writes them. */
#define LEFT_OUT "debug sweep: records of clients: "
/* This line has the size of memory, which depends on the machine. */
#define OF_THE_MACHINE "debug sweep: seconds: "

static FILE *lines; /* NULL: not traced */
static bool counts;
static struct shapes {
	struct shape {
		char *text;
		uint64_t n;
	} shape[SHAPES_MAX];
	unsigned n;
} now, all; /* of this run, and of all */
static struct {
	uint64_t lines, mads, rows;
} sums; /* of this run */

void trace_begin(void)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd >= 0 && (lines = fdopen(dup(fd), "r")) != NULL) {
		dup2(fd, STDERR_FILENO);
		close(fd);
	}
}

void trace_count(bool instead)
{
	counts = instead;
}

static void add(struct shapes *to, const char *text, uint64_t n)
{
	unsigned i = 0;

	while (i < to->n && strcmp(to->shape[i].text, text) != 0) {
		i++;
	}
	if (i == SHAPES_MAX || n == 0) {
		return;
	}
	if (i == to->n) {
		to->shape[to->n++] = (struct shape){ .text = strdup(text) };
	}
	to->shape[i].n += n;
}

static uint64_t sum_bytes(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *p = data;

	sum = digest_add(sum, len);
	for (size_t i = 0; i < len; i++) {
		sum = digest_add(sum, p[i]);
	}
	return sum;
}

/* Counts a line: # for each word that has a digit or a slash. */
static void count_line(char *line)
{
	char *to = line, *from = line;

	while (*from != '\0') {
		size_t n = strcspn(from, " \n");
		bool plain = true;

		for (size_t i = 0; i < n; i++) {
			plain &= !isdigit((unsigned char)from[i]) && from[i] != '/';
		}
		if (plain) {
			memmove(to, from, n);
			to += n;
		} else {
			*to++ = '#';
		}
		from += n;
		if (*from == ' ') {
			*to++ = *from;
		}
		from += *from != '\0';
	}
	*to = '\0';
	add(&now, line, 1);
}

void trace_print(uint64_t now_ms, unsigned who)
{
	static off_t seen;
	char line[LINE_BYTES];

	if (lines == NULL || lseek(STDERR_FILENO, 0, SEEK_END) == seen) {
		return;
	}
	fseeko(lines, seen, SEEK_SET);
	while (fgets(line, sizeof(line), lines) != NULL) {
		if (counts) {
			if (strstr(line, LEFT_OUT) == NULL &&
			    strstr(line, OF_THE_MACHINE) == NULL) {
				sums.lines = sum_bytes(digest_add(sums.lines, who), line,
				                       strlen(line));
			}
			count_line(line);
		} else {
			printf("%10.3f s  %u: %s", (double)now_ms / 1000, who, line);
		}
	}
	seen = ftello(lines);
	fflush(stdout);
	lseek(STDERR_FILENO, 0, SEEK_END);
}

void trace_count_mad(const struct mad_msg *m)
{
	enum { BEHIND_TID = 16 };

	if (!counts) {
		return;
	}
	const uint64_t to[] = { m->addr.directed, m->addr.sl,  m->addr.path_bits,
		                m->addr.lid,      m->addr.qpn, m->addr.pkey_index };

	for (unsigned i = 0; i < sizeof(to) / sizeof(*to); i++) {
		sums.mads = digest_add(sums.mads, to[i]);
	}
	sums.mads = sum_bytes(sums.mads, m->data, 8);
	sums.mads = sum_bytes(sums.mads, m->data + BEHIND_TID, m->len - BEHIND_TID);
}

static void add_row(void *ctx, const struct db_val *k, const struct db_val *v)
{
	bool only_counted = *(const bool *)ctx;

	sums.rows = sum_bytes(sums.rows, k->data, k->len);
	sums.rows = sum_bytes(sums.rows, v->data, only_counted ? 0 : v->len);
}

void trace_count_snapshot(struct snap_writer *w)
{
	for (unsigned i = 0; counts && i < SNAP_TABLE_COUNT; i++) {
		/* these have times of the real clock and numbers of transactions */
		bool only_counted = i == SNAP_META || i == SNAP_CHANGES;

		each_row(w, i, add_row, &only_counted);
	}
}

void trace_count_run(const struct sim *s, uint64_t now_ms)
{
	static const uint8_t methods[] = { UMAD_METHOD_GET, UMAD_METHOD_SET,
		                           UMAD_METHOD_TRAP_REPRESS };
	char text[64];

	for (unsigned k = 0; counts && k < sizeof(methods); k++) {
		for (uint16_t attr = 0; attr <= 0x40; attr++) {
			snprintf(text, sizeof(text), "MAD method 0x%02x attribute 0x%02x",
			         methods[k], attr);
			add(&now, text, sim_count(s, methods[k], attr));
		}
	}
	add(&now, "virtual milliseconds", counts ? now_ms : 0);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct shape *)a)->text, ((const struct shape *)b)->text);
}

static void sort(struct shapes *x)
{
	qsort(x->shape, x->n, sizeof(*x->shape), by_text);
}

void trace_end_run(uint32_t seed)
{
	uint64_t sum = 0;

	if (!counts) {
		return;
	}
	sort(&now);
	for (unsigned i = 0; i < now.n; i++) {
		struct shape *x = &now.shape[i];

		if (strstr(x->text, LEFT_OUT) == NULL) {
			sum = digest_add(sum, x->n);
			for (const char *p = x->text; *p != '\0'; p++) {
				sum = digest_add(sum, (unsigned char)*p);
			}
			add(&all, x->text, x->n);
		}
		free(x->text);
	}
	now.n = 0;
	printf("seed %u: %016lx %016lx %016lx %016lx\n", seed, (unsigned long)sum,
	       (unsigned long)sums.lines, (unsigned long)sums.mads,
	       (unsigned long)sums.rows);
	memset(&sums, 0, sizeof(sums));
}

void trace_print_counts(void)
{
	sort(&all);
	for (unsigned i = 0; i < all.n; i++) {
		printf("%8lu %s\n", (unsigned long)all.shape[i].n, all.shape[i].text);
		free(all.shape[i].text);
	}
	all.n = 0;
}
