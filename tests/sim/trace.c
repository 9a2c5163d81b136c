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
#include "sa/sim/sim.h"

enum { LINE_BYTES = 4096, SHAPES_MAX = 2000 };

/* When client records are mirrored depends on the thread that writes them. */
#define LEFT_OUT "debug sweep: records of clients: "

static FILE *lines; /* NULL: not traced */
static bool counts;
static struct shapes {
	struct shape {
		char *text;
		uint64_t n;
	} shape[SHAPES_MAX];
	unsigned n;
} now, all; /* of this run, and of all */

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
			count_line(line);
		} else {
			printf("%10.3f s  %u: %s", (double)now_ms / 1000, who, line);
		}
	}
	seen = ftello(lines);
	fflush(stdout);
	lseek(STDERR_FILENO, 0, SEEK_END);
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
	printf("seed %u: %016lx\n", seed, (unsigned long)sum);
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
