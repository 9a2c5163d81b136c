/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

enum { MAX = 100000 };

static struct arena *arena;
static struct diags diags;
static char *path;
static char *text;
static size_t len;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	path = temp_file("", arena);
	text = NULL;
	len = 0;
}

static void teardown(void)
{
	free(text);
	unlink(path);
	arena_free(arena);
}

static void fill(const char *data, size_t n)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

/* Bytes that tell where they stand, zeros among them. */
static char *pattern(size_t n)
{
	char *p = arena_alloc(arena, n + 1);

	for (size_t i = 0; i < n; i++) {
		p[i] = (char)((i * 2654435761u) >> 7);
	}
	return p;
}

static const struct text_file_kind kind = { .what = "a list", .max_bytes = MAX };

/* Sizes about those that the reading takes steps at, and as many as may be. */
static const size_t sizes[] = {
	0, 1, 2, 16383, 16384, 16385, 32768, 65536, MAX - 1, MAX
};

START_TEST(test_whole)
{
	const size_t n = sizes[_i];
	const char *want = pattern(n);

	fill(want, n);
	ck_assert_int_eq(text_file_read(path, &kind, &diags, &text, &len), E_OK);
	ck_assert_uint_eq(len, n);
	ck_assert_int_eq(memcmp(text, want, n), 0);
	ck_assert_int_eq(text[n], '\0');
	ck_assert_uint_eq(diags.n, 0);
}
END_TEST

struct flow {
	int fd;
	const char *data;
	size_t n;
};

/* A pipe holds less than this: it is read as it comes. */
static void *pour(void *ctx)
{
	struct flow *f = ctx;

	for (size_t at = 0; at < f->n;) {
		ssize_t n = write(f->fd, f->data + at, f->n - at);
		if (n < 0) {
			break;
		}
		at += (size_t)n;
	}
	close(f->fd);
	return NULL;
}

/* Nobody knows how much a pipe will bring. \a max: of the kind. */
static int read_pipe(const char *data, size_t n, size_t max)
{
	const struct text_file_kind of_pipe = { .what = "a list", .max_bytes = max };
	char name[32];
	pthread_t writer;
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	struct flow flow = { fd[1], data, n };
	ck_assert_int_eq(pthread_create(&writer, NULL, pour, &flow), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd[0]);
	int ret = text_file_read(name, &of_pipe, &diags, &text, &len);
	close(fd[0]);
	pthread_join(writer, NULL);
	return ret;
}

START_TEST(test_pipe)
{
	const size_t n = 1000003;
	const char *want = pattern(n);

	ck_assert_int_eq(read_pipe(want, n, SIZE_MAX), E_OK);
	ck_assert_uint_eq(len, n);
	ck_assert_int_eq(memcmp(text, want, n), 0);
	ck_assert_int_eq(text[n], '\0');
}
END_TEST

/* One byte too many; of what has no end, no more is read. Text that was there stays. */
START_TEST(test_too_large)
{
	fill(pattern(MAX + 1), MAX + 1);
	ck_assert_int_eq(text_file_read(path, &kind, &diags, &text, &len), E_SYNTAX);
	ck_assert_int_eq(text_file_read("/dev/zero", &kind, &diags, &text, &len),
	                 E_SYNTAX);
	ck_assert_int_eq(text_file_fits("it", &kind, MAX + 1, &diags), E_SYNTAX);
	ck_assert_uint_eq(diags.n, 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_str_eq(diags.items[i].text,
		                 "larger than 100000 bytes: not a list");
	}
	ck_assert_str_eq(diags.items[0].file, path);
	ck_assert_ptr_null(text);
	ck_assert_uint_eq(len, 0);
	ck_assert_int_eq(text_file_fits("it", &kind, MAX, &diags), E_OK);
	ck_assert_uint_eq(diags.n, 3);
}
END_TEST

/* Binary data is refused from its head, whatever its size; of a file that is too large
 * nothing is read. */
START_TEST(test_binary)
{
	const struct text_file_kind a_text = { .what = "a list",
		                               .max_bytes = 1 << 30,
		                               .text_only = true };

	ck_assert_int_eq(text_file_read("/proc/self/exe", &a_text, &diags, &text, &len),
	                 E_SYNTAX);
	ck_assert_int_eq(text_file_read("/dev/zero", &a_text, &diags, &text, &len),
	                 E_SYNTAX);
	fill("", 0);
	ck_assert_int_eq(truncate(path, 1 << 29), 0);
	ck_assert_int_eq(text_file_read(path, &a_text, &diags, &text, &len), E_SYNTAX);
	ck_assert_uint_eq(diags.n_errors, 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_str_eq(diags.items[i].text,
		                 "holds binary data, not text: expected a list");
	}
	ck_assert_int_eq(truncate(path, (off_t)(UINT64_C(1) << 32)), 0);
	ck_assert_int_eq(text_file_read(path, &a_text, &diags, &text, &len), E_SYNTAX);
	ck_assert_str_eq(diags.items[3].text, "larger than 1073741824 bytes: not a list");
	ck_assert_ptr_null(text);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *want = memset(arena_alloc(arena, sizes[i] + 1), 'x', sizes[i]);
		fill(want, sizes[i]);
		free(text);
		ck_assert_int_eq(text_file_read(path, &a_text, &diags, &text, &len),
		                 E_OK);
		ck_assert_uint_eq(len, sizes[i]);
		ck_assert_mem_eq(text, want, len);
	}
}
END_TEST

/* The sentence names the place and what helps. */
static const struct {
	const char *path, *said;
	int ret;
} unreadable[] = {
	{ "/nonexistent/x",
	  "cannot be read: No such file or directory; correct the name, or write a list there",
	  -ENOENT },
	{ "/dev/null/x",
	  "cannot be read: Not a directory; correct the name, or write a list there",
	  -ENOTDIR },
	{ "/", "cannot be read: Is a directory; expected a list", -EISDIR },
};

START_TEST(test_unreadable)
{
	ck_assert_int_eq(text_file_read(unreadable[_i].path, &kind, &diags, &text, &len),
	                 unreadable[_i].ret);
	ck_assert_str_eq(diags_first_error(&diags), unreadable[_i].said);
	ck_assert_str_eq(diags.items[0].file, unreadable[_i].path);
	ck_assert_ptr_null(text);
	ck_assert_int_eq(text_file_read(unreadable[_i].path, &kind, NULL, &text, &len),
	                 unreadable[_i].ret);
}
END_TEST

START_TEST(test_forbidden)
{
	const uid_t me = geteuid(), who = me != 0 ? me : 65534;
	char said[96];

	fill("x", 1);
	ck_assert_int_eq(chmod(path, 0), 0);
	ck_assert_int_eq(seteuid(who), 0); /* root may read all */
	int ret = text_file_read(path, &kind, &diags, &text, &len);
	ck_assert_int_eq(seteuid(me), 0);
	ck_assert_int_eq(ret, -EACCES);
	snprintf(said, sizeof(said),
	         "cannot be read: Permission denied; let user %u read it", (unsigned)who);
	ck_assert_str_eq(diags_first_error(&diags), said);
}
END_TEST

/* Where there may be none there is nothing to say; elsewhere a warning, or an error. */
START_TEST(test_optional)
{
	static const struct {
		const char *path, *without;
		int ret;
		unsigned warnings, errors;
	} files[] = {
		{ "/nonexistent/usual", "no rules", E_OK, 0, 0 },
		{ "/nonexistent/usual", NULL, E_OK, 0, 0 },
		{ "/nonexistent/other", "no rules", E_OK, 1, 0 },
		{ "/nonexistent/other", NULL, -ENOENT, 0, 1 },
		{ "/", "no rules", -EISDIR, 0, 1 },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const struct text_file_kind may_lack = { .what = "a list",
			                                 .max_bytes = MAX,
			                                 .usual = "/nonexistent/usual",
			                                 .without = files[i].without };
		struct diags d;
		char *got = path;
		diags_init(&d, arena);
		ck_assert_int_eq(text_file_read(files[i].path, &may_lack, &d, &got, &len),
		                 files[i].ret);
		ck_assert_uint_eq(d.n_warnings, files[i].warnings);
		ck_assert_uint_eq(d.n_errors, files[i].errors);
		ck_assert_ptr_eq(got, files[i].ret == E_OK ? NULL : path);
	}
}
END_TEST

/* The usual place of another installation has the same folder and file name behind another
 * prefix; a relative path is nobody's usual place. */
START_TEST(test_places)
{
	static const struct {
		const char *path;
		bool usual;
	} paths[] = {
		{ "/etc/opensm/x.conf", true },
		{ "/usr/local/etc/opensm/x.conf", true },
		{ "/opensm/x.conf", true },
		{ "/usr/local/etc/other/x.conf", false },
		{ "/etc/opensm/y.conf", false },
		{ "local/etc/opensm/x.conf", false },
		{ "x.conf", false },
	};

	for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		ck_assert_msg(text_file_is_usual(paths[i].path, "/etc/opensm/x.conf") ==
		                      paths[i].usual,
		              "%s", paths[i].path);
	}
	ck_assert(!text_file_is_missing("/dev/null"));
	ck_assert(text_file_is_missing("/dev/null/x")); /* below what is no folder */
	ck_assert(text_file_is_missing("/nowhere"));
}
END_TEST

#define N(x) (int)(sizeof(x) / sizeof((x)[0]))

TEST_SUITE(text_file)
{
	TCase *tc = tcase_create("text_file");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_whole, 0, N(sizes));
	tcase_add_test(tc, test_pipe);
	tcase_add_test(tc, test_too_large);
	tcase_add_test(tc, test_binary);
	tcase_add_loop_test(tc, test_unreadable, 0, N(unreadable));
	tcase_add_test(tc, test_forbidden);
	tcase_add_test(tc, test_optional);
	tcase_add_test(tc, test_places);
	suite_add_tcase(suite, tc);
}
