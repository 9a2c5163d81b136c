/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Runs a fuzz target over files: those named, or the corpus of the target, which is
 * $srcdir/tests/fuzz/corpus/NAME for a program called fuzz_NAME. Fails when there are
 * none: a corpus that was left out of a tarball must not look like a passed test.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}

	uint8_t *data = NULL;
	size_t size = 0, room = 4096, n;
	do {
		room *= 2;
		uint8_t *bigger = realloc(data, room);
		if (!bigger) {
			abort();
		}
		data = bigger;
		n = fread(data + size, 1, room - size, f);
		size += n;
	} while (n);
	fclose(f);

	uint8_t *exact =
		malloc(size + !size); /* so that a sanitizer sees one byte too far */
	if (!exact) {
		abort();
	}
	memcpy(exact, data, size);
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	return 0;
}

static int replay_folder(const char *dir)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, NULL, alphasort), done = 0, failed = n < 0;

	for (int i = 0; i < n; i++) {
		char *path = NULL;
		if (list[i]->d_name[0] != '.') {
			if (asprintf(&path, "%s/%s", dir, list[i]->d_name) < 0) {
				abort();
			}
			failed |= replay(path) != 0;
			done++;
			free(path);
		}
		free(list[i]);
	}
	free(list);
	if (!done) {
		fprintf(stderr, "%s: no inputs\n", dir);
	}
	return failed || !done;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		failed |= replay(argv[i]) != 0;
	}
	if (argc > 1) {
		return failed;
	}

	const char *srcdir = getenv("srcdir"), *name = strrchr(argv[0], '/');
	char dir[PATH_MAX];
	name = name ? name + 1 : argv[0];
	name = strncmp(name, "fuzz_", 5) ? name : name + 5;
	snprintf(dir, sizeof(dir), "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".",
	         name);
	return replay_folder(dir);
}
