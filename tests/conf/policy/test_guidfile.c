/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "conf/policy/guidfile.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

struct values {
	const struct guid_file *list;
};

/* clang-format off */
static const struct option_row rows[] = {
	{ .name = "list", .type = OPT_GUID_FILE, .offset = offsetof(struct values, list),
	  .letter = 'a', .flags_long = "the-list", .arg = "FILE", .help = "A list" },
	{ .name = NULL }
};
static const struct option_row engine_rows[] = {
	{ .name = "list", .type = OPT_GUID_FILE, .offset = offsetof(struct values, list),
	  .help = "The same list for an engine" },
	{ .name = NULL }
};
/* clang-format on */

static struct arena *arena;
static struct diags diags;
static struct values one, two;
static struct option_sets sets;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	sets.n = 0;
	ck_assert_int_eq(option_sets_add(&sets, rows, &one), E_OK);
	ck_assert_int_eq(option_sets_add(&sets, engine_rows, &two), E_OK);
	ck_assert_int_eq(option_set_defaults(&sets, arena), E_OK);
}

static void teardown(void)
{
	arena_free(arena);
}

/* A list as "line guid[rest] ...". */
static const char *shown(const struct guid_file *f)
{
	const char *text = "";
	for (uint32_t i = 0; i < f->n; i++) {
		text = arena_printf(arena, "%s%u %" PRIx64 "[%s] ", text,
		                    f->records[i].line, f->records[i].guid,
		                    f->records[i].rest);
	}
	return text;
}

static const struct {
	const char *what, *text;
	int ret;
	const char *list, *said;
} texts[] = {
	{ "nothing", "", E_OK, "", "" },
	{ "comments and blanks", "\n \t\n#x\n  # 0x1\n\r\n", E_OK, "", "" },
	{ "hex", "0x2c9\n0X2C9", E_OK, "1 2c9[] 2 2c9[] ", "" },
	{ "bare hex", "0002c90300000001\n", E_OK, "1 2c90300000001[] ", "" },
	{ "decimal and octal", "20\n020\n0\n", E_OK, "1 14[] 2 10[] 3 0[] ", "" },
	{ "the rest", " 0x1\t 5  6 \r\n0x2 a#b # c\n0x3 #\n0x4# 1\n", E_SYNTAX, NULL,
	  "f:4: error: expected a GUID (0x and up to 16 hex digits): '0x4#'\n" },
	{ "rest and comment", " 0x1\t 5  6 \r\n0x2 a#b # c\n0x3 #\n", E_OK,
	  "1 1[5  6] 2 2[a#b] 3 3[] ", "" },
	{ "twice", "0x1\n0x1\n", E_OK, "1 1[] 2 1[] ", "" },
	{ "all errors", "host1\n0x1\n0x1g\n99999999999999999999\n-1\n", E_SYNTAX, NULL,
	  "f:1: error: expected a GUID (0x and up to 16 hex digits): 'host1'\n"
	  "f:3: error: expected a GUID (0x and up to 16 hex digits): '0x1g'\n"
	  "f:4: error: a GUID of more than 64 bits: '99999999999999999999'\n"
	  "f:5: error: expected a GUID (0x and up to 16 hex digits): '-1'\n" },
	{ "control characters", "0x1\n0x\0012\n", E_SYNTAX, NULL,
	  "f:2: error: a byte that is not text: '0x?2'\n" },
};

START_TEST(test_parse)
{
	const struct guid_file *f = NULL;
	int ret = guid_file_parse("f", texts[_i].text, strlen(texts[_i].text), false,
	                          arena, &diags, &f);
	ck_assert_msg(ret == texts[_i].ret, "%s: %d", texts[_i].what, ret);
	ck_assert_str_eq(take_problems(&diags), texts[_i].said);
	ck_assert_msg((f == NULL) == (texts[_i].list == NULL), "%s", texts[_i].what);
	if (f != NULL) {
		ck_assert_str_eq(f->path, "f");
		ck_assert_str_eq(shown(f), texts[_i].list);
	}
}
END_TEST

/* A line far beyond any buffer, and a NUL that would hide what follows. */
START_TEST(test_odd)
{
	const struct guid_file *f = NULL;
	size_t len = 300000;
	char *text = arena_alloc(arena, len + 1);

	memset(text, 'x', len);
	memcpy(text, "0x7 ", 4);
	memcpy(text + len - 5, "\n0x8\n", 5);
	ck_assert_int_eq(guid_file_parse("f", text, len, false, arena, &diags, &f), E_OK);
	ck_assert_uint_eq(f->n, 2);
	ck_assert_uint_eq(strlen(f->records[0].rest), len - 4 - 5);
	ck_assert_uint_eq(f->records[1].guid, 8);
	ck_assert_uint_eq(f->records[1].line, 2);

	static const char nul[] = "0x1\n0x2\0 0x3\n";
	ck_assert_int_eq(
		guid_file_parse("f", nul, sizeof(nul) - 1, false, arena, &diags, &f),
		E_SYNTAX);
	ck_assert_str_eq(take_problems(&diags),
	                 "f:2: error: a byte that is not text: '0x2'\n");
}
END_TEST

/* The list is read when the value is stored, once for all sets; text is the path. */
START_TEST(test_option)
{
	char *path = temp_file("0x1\n0x2 x\n", arena);

	ck_assert_ptr_null(one.list);
	ck_assert_int_eq(option_set(&sets, arena, "list", path, "f", 3, &diags), E_OK);
	unlink(path);
	ck_assert_str_eq(take_problems(&diags), "");
	ck_assert_str_eq(shown(one.list), "1 1[] 2 2[x] ");
	ck_assert_ptr_eq(one.list, two.list);
	ck_assert_str_eq(option_text(&rows[0], &one, arena), path);

	const struct guid_file *before = one.list;
	ck_assert_int_eq(option_set(&sets, arena, "list", path, "f", 4, &diags), -ENOENT);
	ck_assert_str_eq(
		take_problems(&diags),
		arena_printf(
			arena,
			"%s: error: cannot be read: No such file or directory; correct the name, or write a list of GUIDs there\n"
			"f:4: error: list '%s': No such file or directory\n",
			path, path));
	ck_assert_ptr_eq(one.list, before);

	ck_assert_int_eq(option_set(&sets, arena, "list", "(null)", "f", 5, &diags),
	                 E_OK);
	ck_assert_ptr_null(one.list);
	ck_assert_ptr_null(two.list);
	ck_assert_str_eq(option_text(&rows[0], &one, arena), "(null)");
}
END_TEST

START_TEST(test_option_errors)
{
	char *path = temp_file("0x1\nspine-1\n", arena);
	char *argv[] = { "p", "-a", path, NULL };

	ck_assert_int_eq(
		option_read_argv(&sets, arena, 3, argv, "Doc", NULL, NULL, &diags),
		E_SYNTAX);
	unlink(path);
	ck_assert_str_eq(
		take_problems(&diags),
		arena_printf(
			arena,
			"%s:2: error: expected a GUID (0x and up to 16 hex digits): 'spine-1'\n"
			"error: --the-list '%s': the file has errors\n",
			path, path));
	ck_assert_ptr_null(one.list);
	ck_assert_int_eq(option_set(&sets, arena, "list", "/", "f", 1, &diags), -EISDIR);
	ck_assert_int_eq(option_set(&sets, arena, "list", "/dev/zero", "f", 1, &diags),
	                 E_SYNTAX);
	ck_assert_ptr_nonnull(strstr(take_problems(&diags), "not a list of GUIDs"));
}
END_TEST

/* A dump names the file, and reading the dump gives the same list. */
START_TEST(test_dump)
{
	char *path = temp_file("0x1\n0x2 x\n", arena), *text = NULL;
	struct values again = { NULL };
	struct option_sets s = { .n = 0 };
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_int_eq(option_set(&sets, arena, "list", path, "f", 1, &diags), E_OK);
	ck_assert_int_eq(option_dump(&sets, arena, true, f), E_OK);
	fclose(f);
	ck_assert_str_eq(text, arena_printf(arena, "# A list\nlist %s\n\n", path));
	option_sets_add(&s, rows, &again);
	ck_assert_int_eq(option_read_text(&s, arena, "dump", text, len, &diags), E_OK);
	free(text);
	unlink(path);
	ck_assert_str_eq(shown(again.list), "1 1[] 2 2[x] ");
	ck_assert_int_eq(option_read_text(&s, arena, "f", "list\n", 5, &diags), E_OK);
	ck_assert_str_eq(take_problems(&diags),
	                 "f:1: warning: no value for list: taken as (null)\n");
	ck_assert_ptr_null(again.list);
}
END_TEST

/* ---- files of any form ---- */

struct word {
	const char *path;
	char text[16];
};

struct words {
	const struct word *word;
};

static unsigned n_reads;

/* One word of at most 15 letters. */
static int read_word(const char *path, struct arena *a, struct diags *d,
                     const void **ret_value)
{
	struct word *w = arena_alloc(a, sizeof(*w));
	FILE *f = fopen(path, "re");

	n_reads++;
	if (f == NULL) {
		diag_add(d, DIAG_ERROR, path, 0, "cannot be opened");
		return -errno;
	}
	bool good = fscanf(f, "%15[a-z]", w->text) == 1;
	fclose(f);
	if (!good) {
		diag_add(d, DIAG_ERROR, path, 1, "expected a word");
		return E_SYNTAX;
	}
	w->path = arena_strdup(a, path);
	*ret_value = w;
	return E_OK;
}

static int read_nothing(const char *path, struct arena *a, struct diags *d,
                        const void **ret_value)
{
	struct word *w = arena_alloc(a, sizeof(*w));

	(void)d;
	w->path = arena_strdup(a, path);
	*ret_value = w;
	return E_OK;
}

/* Sets with the same reader share what it made; another reader reads for itself. */
START_TEST(test_any_file)
{
	static const struct option_row word_rows[] = {
		{ .name = "word", .type = OPT_FILE, .read = read_word }, { .name = NULL }
	};
	static const struct option_row other_rows[] = {
		{ .name = "word", .type = OPT_FILE, .read = read_nothing },
		{ .name = NULL }
	};
	char *path = temp_file("yes\n", arena), *bad = temp_file("4\n", arena);
	struct words a, b, c;
	struct option_sets s = { .n = 0 };

	n_reads = 0;
	option_sets_add(&s, word_rows, &a);
	option_sets_add(&s, word_rows, &b);
	option_sets_add(&s, other_rows, &c);
	ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	ck_assert_ptr_null(a.word);
	ck_assert_int_eq(option_set(&s, arena, "word", path, "f", 1, &diags), E_OK);
	ck_assert_str_eq(a.word->text, "yes");
	ck_assert_ptr_eq(a.word, b.word);
	ck_assert_ptr_ne(a.word, c.word);
	ck_assert_str_eq(c.word->path, path);
	ck_assert_uint_eq(n_reads, 1);
	ck_assert_str_eq(option_text(word_rows, &a, arena), path);

	ck_assert_int_eq(option_set(&s, arena, "word", bad, "f", 2, &diags), E_SYNTAX);
	ck_assert_str_eq(a.word->text, "yes");
	ck_assert_str_eq(take_problems(&diags),
	                 arena_printf(arena,
	                              "%s:1: error: expected a word\n"
	                              "f:2: error: word '%s': the file has errors\n",
	                              bad, bad));
	ck_assert_int_eq(option_set(&s, arena, "word", "", "f", 3, &diags), E_OK);
	ck_assert_ptr_null(a.word);
	ck_assert_ptr_null(c.word);
	ck_assert_str_eq(option_text(word_rows, &a, arena), "(null)");
	unlink(path);
	unlink(bad);
}
END_TEST

TEST_SUITE(guidfile)
{
	TCase *tc = tcase_create("guidfile");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_parse, 0, (int)(sizeof(texts) / sizeof(texts[0])));
	tcase_add_test(tc, test_odd);
	tcase_add_test(tc, test_option);
	tcase_add_test(tc, test_option_errors);
	tcase_add_test(tc, test_dump);
	tcase_add_test(tc, test_any_file);
	suite_add_tcase(suite, tc);
}
