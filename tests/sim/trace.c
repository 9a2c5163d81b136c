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

#include "sa/sim/sim.h"

enum { LINE_BYTES = 4096, SHAPES_MAX = 2000 };

static FILE *lines; /* NULL: not traced */
static bool counts;
static struct shape {
	char *text;
	uint64_t n;
} shapes[SHAPES_MAX];
static unsigned n_shapes;

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

static void add(const char *text, uint64_t n)
{
	unsigned i = 0;

	while (i < n_shapes && strcmp(shapes[i].text, text) != 0) {
		i++;
	}
	if (i == SHAPES_MAX || n == 0) {
		return;
	}
	if (i == n_shapes) {
		shapes[n_shapes++] = (struct shape){ .text = strdup(text) };
	}
	shapes[i].n += n;
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
	add(line, 1);
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
			add(text, sim_count(s, methods[k], attr));
		}
	}
	add("virtual milliseconds", counts ? now_ms : 0);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct shape *)a)->text, ((const struct shape *)b)->text);
}

void trace_print_counts(uint32_t seed)
{
	if (!counts) {
		return;
	}
	qsort(shapes, n_shapes, sizeof(*shapes), by_text);
	printf("seed %u\n", seed);
	for (unsigned i = 0; i < n_shapes; i++) {
		printf("%8lu %s\n", (unsigned long)shapes[i].n, shapes[i].text);
		free(shapes[i].text);
	}
	n_shapes = 0;
}
