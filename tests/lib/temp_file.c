/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/temp_file.h"

void temp_file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

char *temp_file(const char *text, struct arena *a)
{
	char *path = arena_strdup(a, "/tmp/saguaro-test.XXXXXX");
	const int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	temp_file_write(path, text);
	return path;
}

void temp_folder_new(struct temp_folder *f)
{
	const char *below = getenv("TMPDIR");

	ck_assert_int_ge(asprintf(&f->path, "%s/saguaro-test.XXXXXX",
	                          below != NULL ? below : "/tmp"),
	                 0);
	ck_assert_ptr_nonnull(mkdtemp(f->path));
	f->home = getcwd(NULL, 0);
	ck_assert_ptr_nonnull(f->home);
}

void temp_folder_enter(const struct temp_folder *f)
{
	ck_assert_int_eq(chdir(f->path), 0);
}

void temp_folder_leave(const struct temp_folder *f)
{
	ck_assert_int_eq(chdir(f->home), 0);
}

void temp_folder_end(struct temp_folder *f, const char *const *names)
{
	temp_folder_enter(f);
	for (; *names != NULL; names++) {
		unlink(*names);
	}
	temp_folder_leave(f);
	rmdir(f->path);
	free(f->path);
	free(f->home);
}

const char *take_problems(struct diags *d)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	diags_print(d, f, DIAG_NOTE);
	fclose(f);
	const char *copy = arena_strdup(d->arena, text);
	free(text);
	diags_init(d, d->arena);
	return copy;
}
