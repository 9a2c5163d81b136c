/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

/* Rows of every type, as a program and as an engine would bring them. */
struct values {
	bool flag;
	uint32_t number, kind, esp0, count;
	int32_t limit;
	uint64_t guid;
	const char *text;
	struct option_guids guids;
};

struct engine_values {
	const char *text;
	const char *shared;
};

enum kind { RED, GREEN, BLUE };
static const char *const kinds[] = { "red", "green", "blue", NULL };

/* clang-format off */
static const struct option_row rows[] = {
	{ .name = "flag", .type = OPT_BOOL, .offset = offsetof(struct values, flag), .def = "FALSE",
	  .letter = 'b', .flags_long = "the_flag", .flags = OPT_NO_ARG, .help = "A flag" },
	{ .name = "number", .type = OPT_UINT, .offset = offsetof(struct values, number), .def = "0x12",
	  .min = 2, .max = 100, .letter = 'n', .help = "A number" },
	{ .name = "most", .type = OPT_UINT, .offset = offsetof(struct values, number), .def = "18",
	  .max = 100, .flags = OPT_CLAMP, .flags_long = "most", .help = "The same, clamped" },
	{ .name = "limit", .type = OPT_INT, .offset = offsetof(struct values, limit), .def = "-1",
	  .help = "A signed number" },
	{ .name = "guid", .type = OPT_GUID, .offset = offsetof(struct values, guid), .def = "0",
	  .help = "A GUID" },
	{ .name = "text", .type = OPT_STRING, .offset = offsetof(struct values, text),
	  .flags_long = "other-text,text", .help = "A text" },
	{ .name = "kind", .type = OPT_ENUM, .offset = offsetof(struct values, kind), .def = "green",
	  .names = kinds, .help = "A kind" },
	{ .name = "esp0", .type = OPT_LMC_ESP0, .offset = offsetof(struct values, esp0), .def = "TRUE",
	  .help = "LMC of port 0" },
	{ .name = "count", .type = OPT_UINT, .offset = offsetof(struct values, count), .def = "0",
	  .letter = 'v', .flags = OPT_NO_ARG | OPT_CLI_ONLY, .help = "Counted" },
	{ .name = "unused", .type = OPT_IGNORED, .def = "0x07", .help = "No effect" },
	{ .name = "unused_file", .type = OPT_IGNORED, .letter = 'a', .flags_long = "unused_file",
	  .help = "No effect" },
	{ .name = "guids", .type = OPT_GUIDS, .offset = offsetof(struct values, guids), .def = "0",
	  .help = "Several GUIDs" },
	{ .name = "shared", .type = OPT_IGNORED, .letter = 's', .flags_long = "shared_file",
	  .help = "No effect until an engine has it" },
	{ .name = NULL }
};
static const struct option_row engine_rows[] = {
	{ .name = "text", .type = OPT_STRING, .offset = offsetof(struct engine_values, text),
	  .help = "Of several engines" },
	{ .name = "shared", .type = OPT_STRING, .offset = offsetof(struct engine_values, shared),
	  .help = "Used by an engine" },
	{ .name = NULL }
};
/* clang-format on */

static struct arena *arena;
static struct diags diags;
static struct values v;
static struct engine_values ev;
static struct option_sets own, both;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	own.n = 0;
	ck_assert_int_eq(option_sets_add(&own, rows, &v), E_OK);
	both = own;
	ck_assert_int_eq(option_sets_add(&both, engine_rows, &ev), E_OK);
	ck_assert_int_eq(option_set_defaults(&both, arena), E_OK);
}

static void teardown(void)
{
	arena_free(arena);
}

START_TEST(test_defaults)
{
	ck_assert(!v.flag);
	ck_assert_uint_eq(v.number, 18);
	ck_assert_int_eq(v.limit, -1);
	ck_assert_uint_eq(v.guid, 0);
	ck_assert_ptr_null(v.text);
	ck_assert_uint_eq(v.kind, GREEN);
	ck_assert_uint_eq(v.esp0, UINT32_MAX);

	struct option_row bad[] = { rows[1], { .name = NULL } };
	struct option_sets s = { .n = 0 };
	bad[0].def = "101";
	ck_assert_int_eq(option_sets_add(&s, bad, &v), E_OK);
	ck_assert_int_eq(option_set_defaults(&s, arena), E_SYNTAX);
}
END_TEST

START_TEST(test_sets_full)
{
	struct option_sets s = { .n = 0 };
	for (unsigned i = 0; i < OPTION_SETS_MAX; i++) {
		ck_assert_int_eq(option_sets_add(&s, rows, &v), E_OK);
	}
	ck_assert_int_eq(option_sets_add(&s, rows, &v), E_FULL);
	ck_assert_uint_eq(s.n, OPTION_SETS_MAX);
}
END_TEST

/* text: what option_text() gives afterwards; said: the message, NULL for none. */
static const struct {
	const char *key, *value;
	int ret;
	const char *text, *said;
} sets[] = {
	{ "flag", "TRUE", E_OK, "TRUE", NULL },
	{ "flag", "Yes", E_OK, "TRUE", NULL },
	{ "flag", "on", E_OK, "TRUE", NULL },
	{ "flag", "1", E_OK, "TRUE", NULL },
	{ "flag", "false", E_OK, "FALSE", NULL },
	{ "flag", "no", E_OK, "FALSE", NULL },
	{ "flag", "OFF", E_OK, "FALSE", NULL },
	{ "flag", "0", E_OK, "FALSE", NULL },
	{ "flag", "2", E_SYNTAX, "FALSE",
	  "f:7: error: flag '2': expected TRUE or FALSE\n" },
	{ "flag", "", E_SYNTAX, "FALSE",
	  "f:7: error: flag '': expected TRUE or FALSE\n" },
	{ "number", "2", E_OK, "2", NULL },
	{ "number", "0x64", E_OK, "100", NULL },
	{ "number", "1", E_RANGE, "18",
	  "f:7: error: number '1': expected a number from 2 to 100\n" },
	{ "number", "101", E_RANGE, "18",
	  "f:7: error: number '101': expected a number from 2 to 100\n" },
	{ "number", "-3", E_SYNTAX, "18",
	  "f:7: error: number '-3': expected a number from 2 to 100\n" },
	{ "number", "5x", E_SYNTAX, "18",
	  "f:7: error: number '5x': expected a number from 2 to 100\n" },
	{ "most", "101", E_OK, "100",
	  "f:7: warning: most '101': 100 is the most here and is used\n" },
	{ "most", "2147483648", E_OK, "100",
	  "f:7: warning: most '2147483648': 100 is the most here and is used\n" },
	{ "most", "x", E_SYNTAX, "18",
	  "f:7: error: most 'x': expected a number from 0 to 100\n" },
	{ "limit", "-2147483648", E_OK, "-2147483648", NULL },
	{ "limit", "0x10", E_OK, "16", NULL },
	{ "limit", "2147483648", E_RANGE, "-1",
	  "f:7: error: limit '2147483648': expected a number from -2147483648 to 2147483647\n" },
	{ "limit", "--1", E_SYNTAX, "-1",
	  "f:7: error: limit '--1': expected a number from -2147483648 to 2147483647\n" },
	{ "guid", "0x0002c9030000abcd", E_OK, "0x0002c9030000abcd", NULL },
	{ "guid", "fe80000000000000", E_OK, "0xfe80000000000000", NULL },
	{ "guid", "1", E_OK, "0x0000000000000001", NULL },
	{ "guid", "host1", E_SYNTAX, "0x0000000000000000",
	  "f:7: error: guid 'host1': expected 0x and up to 16 hex digits\n" },
	{ "guids", "0x1", E_OK, "0x0000000000000001", NULL },
	{ "guids", "0xa,2 0x3", E_OK,
	  "0x000000000000000a,0x0000000000000002,0x0000000000000003", NULL },
	{ "guids", "0x1,host", E_SYNTAX, "0x0000000000000000",
	  "f:7: error: guids '0x1,host': expected up to 16 times 0x and up to 16 hex digits, with commas between\n" },
	{ "text", "/etc/a b", E_OK, "/etc/a b", NULL },
	{ "text", "(null)", E_OK, "(null)", NULL },
	{ "text", "", E_OK, "(null)", NULL },
	{ "text", "a\nb", E_SYNTAX, "(null)",
	  "f:7: error: text 'a?b': expected text without control characters\n" },
	{ "kind", "BLUE", E_OK, "blue", NULL },
	{ "kind", "violet", E_SYNTAX, "green",
	  "f:7: error: kind 'violet': expected red, green or blue\n" },
	{ "esp0", "FALSE", E_OK, "FALSE", NULL },
	{ "esp0", "0", E_OK, "FALSE", NULL },
	{ "esp0", "1", E_OK, "1", NULL },
	{ "esp0", "7", E_OK, "7", NULL },
	{ "esp0", "8", E_RANGE, "TRUE",
	  "f:7: error: esp0 '8': expected FALSE, TRUE or a number from 0 to 7\n" },
	{ "unused", "7", E_OK, "0x07", NULL }, /* the peer's default: no warning */
	{ "unused", "8", E_OK, "0x07", "f:7: warning: unused '8': no effect here\n" },
	{ "unused_file", "(null)", E_OK, "(null)", NULL },
	{ "unused_file", "/x", E_OK, "(null)",
	  "f:7: warning: unused_file '/x': no effect here\n" },
};

START_TEST(test_set)
{
	int ret = option_set(&own, arena, sets[_i].key, sets[_i].value, "f", 7, &diags);
	ck_assert_msg(ret == sets[_i].ret, "%s %s gives %d", sets[_i].key, sets[_i].value,
	              ret);
	ck_assert_str_eq(option_text(option_find(&own, sets[_i].key), &v, arena),
	                 sets[_i].text);
	ck_assert_str_eq(take_problems(&diags),
	                 sets[_i].said != NULL ? sets[_i].said : "");
}
END_TEST

START_TEST(test_unknown)
{
	ck_assert_int_eq(option_set(&own, arena, "unsued_file", "x", "f", 1, &diags),
	                 E_UNKNOWN);
	ck_assert_int_eq(option_set(&own, arena, "Number", "3", "f", 2, &diags),
	                 E_UNKNOWN);
	ck_assert_int_eq(option_set(&own, arena, "zzzzzz", "x", "f", 3, &diags),
	                 E_UNKNOWN);
	ck_assert_int_eq(option_set(&own, arena, "cuont", "x", "f", 4, &diags),
	                 E_UNKNOWN);
	ck_assert_int_eq(option_set(&own, arena, "count", "2", "f", 5, &diags),
	                 E_UNKNOWN);
	ck_assert_str_eq(
		take_problems(&diags),
		"f:1: error: unknown key 'unsued_file'; did you mean 'unused_file'?\n"
		"f:2: error: unknown key 'Number'; did you mean 'number'?\n"
		"f:3: error: unknown key 'zzzzzz'\n"
		"f:4: error: unknown key 'cuont'\n"
		"f:5: error: 'count' is a flag of the command line, not a key of the file\n");
	ck_assert_uint_eq(v.number, 18);
}
END_TEST

/* A key of several sets reaches all; an engine's row counts, not the ignored one. */
START_TEST(test_shared)
{
	ck_assert_int_eq(option_set(&both, arena, "text", "all", "f", 1, &diags), E_OK);
	ck_assert_str_eq(v.text, "all");
	ck_assert_str_eq(ev.text, "all");
	ck_assert_int_eq(option_set(&both, arena, "shared", "here", "f", 2, &diags),
	                 E_OK);
	ck_assert_str_eq(ev.shared, "here");
	ck_assert_str_eq(take_problems(&diags), "");
	ck_assert_int_eq(option_set(&own, arena, "shared", "here", "f", 2, &diags), E_OK);
	ck_assert_str_eq(take_problems(&diags),
	                 "f:2: warning: shared 'here': no effect here\n");
}
END_TEST

static const struct {
	const char *what, *file;
	int ret;
	const char *number, *text; /* afterwards */
	const char *said;
} files[] = {
	{ "nothing", "", E_OK, "18", "(null)", "" },
	{ "blanks and comments", "\n  \t\n# number 1\n   # x\n\r\n", E_OK, "18", "(null)",
	  "" },
	{ "values", "number 5\n\ttext \t /a/b \n", E_OK, "5", "/a/b", "" },
	{ "CR LF", "number 5\r\ntext x y\r\n", E_OK, "5", "x y", "" },
	{ "comment after a value", "number 5 # five\ntext a#b #c\n", E_OK, "5", "a#b",
	  "" },
	{ "quotes", "text \" a #b \\\"c\\\" \\\\ \\d\" # x\n", E_OK, "18",
	  " a #b \"c\" \\ \\d", "" },
	{ "single quotes", "text 'a \"b\" \\' c'\n", E_OK, "18", "a \"b\" ' c", "" },
	{ "quoted nothing", "text \"\"\n", E_OK, "18", "(null)", "" },
	{ "null", "text (null)\n", E_OK, "18", "(null)", "" },
	{ "no closing quote", "text \"abc\nnumber 5\n", E_SYNTAX, "5", "(null)",
	  "f:1: error: no closing quote: '\"abc'\n" },
	{ "escaped closing quote", "text \"abc\\\"\n", E_SYNTAX, "18", "(null)",
	  "f:1: error: no closing quote: '\"abc\\\"'\n" },
	{ "text after quote", "text \"a\" b\n", E_SYNTAX, "18", "(null)",
	  "f:1: error: text after the closing quote: 'b'\n" },
	{ "all errors", "number x\nnope 1\nguid -\n", E_SYNTAX, "18", "(null)",
	  "f:1: error: number 'x': expected a number from 2 to 100\n"
	  "f:2: error: unknown key 'nope'\n"
	  "f:3: error: guid '-': expected 0x and up to 16 hex digits\n" },
	{ "twice", "number 5\n\nnumber 6\nnumber 7\n", E_OK, "7", "(null)",
	  "f:3: warning: number was already set in line 1; the last one counts\n"
	  "f:4: warning: number was already set in line 3; the last one counts\n" },
	{ "ignored twice", "unused 7\nunused 7\n", E_OK, "18", "(null)",
	  "f:2: warning: unused was already set in line 1; the last one counts\n" },
	{ "no number", "number\n", E_SYNTAX, "18", "(null)",
	  "f:1: error: no value for the key: 'number'\n" },
	{ "no number, but a comment", "number # 5\n", E_SYNTAX, "18", "(null)",
	  "f:1: error: no value for the key: 'number'\n" },
	{ "no text", "text\n", E_OK, "18", "(null)",
	  "f:1: warning: no value for text: taken as (null)\n" },
	{ "a cut file", "number 50", E_OK, "50", "(null)",
	  "f:1: warning: the last line has no newline; is the file complete?\n" },
	{ "control characters", "num\001ber 3\nnumber 4\n", E_SYNTAX, "4", "(null)",
	  "f:1: error: a byte that is not text: 'num?ber 3'\n" },
};

START_TEST(test_file)
{
	int ret = option_read_text(&own, arena, "f", files[_i].file,
	                           strlen(files[_i].file), &diags);
	ck_assert_msg(ret == files[_i].ret, "%s: %d", files[_i].what, ret);
	ck_assert_msg((diags.n_errors > 0) == (ret != E_OK), "%s", files[_i].what);
	ck_assert_str_eq(take_problems(&diags), files[_i].said);
	ck_assert_str_eq(option_text(&rows[1], &v, arena), files[_i].number);
	ck_assert_str_eq(option_text(&rows[5], &v, arena), files[_i].text);
}
END_TEST

START_TEST(test_file_odd)
{
	static const char nul[] = "number 5\nnumber\0 6\nnumber 7\n";
	ck_assert_int_eq(option_read_text(&own, arena, "f", nul, sizeof(nul) - 1, &diags),
	                 E_SYNTAX);
	ck_assert_ptr_nonnull(strstr(take_problems(&diags),
	                             "f:2: error: a byte that is not text: 'number'"));
	ck_assert_uint_eq(v.number, 7);

	size_t len = 20000;
	char *big = arena_alloc(arena, len + 1);
	memset(big, 'k', len);
	big[len - 1] = '\n';
	ck_assert_int_eq(option_read_text(&own, arena, "f", big, len, &diags), E_SYNTAX);
	ck_assert_str_eq(
		take_problems(&diags),
		"f:1: error: a line of 19999 bytes; the longest allowed has 16384\n");
}
END_TEST

#define ARGS_MAX 8

static const struct {
	const char *what;
	char *argv[ARGS_MAX];
	int ret;
	const char *number, *text, *said;
} lines[] = {
	{ "nothing", { "p" }, E_OK, "18", "(null)", "" },
	{ "letter", { "p", "-n", "5" }, E_OK, "5", "(null)", "" },
	{ "joined", { "p", "-n5", "-b" }, E_OK, "5", "(null)", "" },
	{ "long", { "p", "--most=6", "--text", "x" }, E_OK, "6", "x", "" },
	{ "underscores", { "p", "--other_text", "x" }, E_OK, "18", "x", "" },
	{ "dashes", { "p", "--other-text=x", "--the-flag" }, E_OK, "18", "x", "" },
	{ "key", { "p", "--number=7" }, E_OK, "7", "(null)", "" },
	{ "last wins", { "p", "-n", "5", "-n", "6" }, E_OK, "6", "(null)", "" },
	{ "range",
	  { "p", "-n", "500", "--text=x" },
	  E_SYNTAX,
	  "18",
	  "x",
	  "error: number '500': expected a number from 2 to 100\n" },
	{ "name of the flag",
	  { "p", "--most", "x" },
	  E_SYNTAX,
	  "18",
	  "(null)",
	  "error: --most 'x': expected a number from 0 to 100\n" },
	{ "ignored",
	  { "p", "-a", "f" },
	  E_OK,
	  "18",
	  "(null)",
	  "warning: --unused_file 'f': no effect here\n" },
	{ "ignored, dashes",
	  { "p", "--unused-file=f" },
	  E_OK,
	  "18",
	  "(null)",
	  "warning: --unused_file 'f': no effect here\n" },
};

static int count(char *const *argv)
{
	int n = 0;
	while (argv[n] != NULL) {
		n++;
	}
	return n;
}

START_TEST(test_argv)
{
	char *argv[ARGS_MAX];
	memcpy(argv, lines[_i].argv, sizeof(argv));
	int ret = option_read_argv(&own, arena, count(argv), argv, "Doc", NULL, NULL,
	                           &diags);
	ck_assert_msg(ret == lines[_i].ret, "%s: %d", lines[_i].what, ret);
	ck_assert_str_eq(take_problems(&diags), lines[_i].said);
	ck_assert_str_eq(option_text(&rows[1], &v, arena), lines[_i].number);
	ck_assert_str_eq(option_text(&rows[5], &v, arena), lines[_i].text);
}
END_TEST

/* Usage errors say a sentence on standard error and store nothing. */
START_TEST(test_argv_usage)
{
	static char *bad[][4] = {
		{ "p", "--nope", NULL },  { "p", "-q", NULL },
		{ "p", "file", NULL },    { "p", "-n", NULL },
		{ "p", "--numbers", "3" }, { "p", "-n3", "--the-flag=1", NULL },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char path[] = "/tmp/test_option.XXXXXX", text[512];
		int old = dup(STDERR_FILENO), fd = mkstemp(path);
		unlink(path);
		dup2(fd, STDERR_FILENO);
		int ret = option_read_argv(&own, arena, count(bad[i]), bad[i], "Doc",
		                           NULL, NULL, &diags);
		dup2(old, STDERR_FILENO);
		close(old);
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
		close(fd);
		ck_assert_int_eq(ret, E_SYNTAX);
		text[n] = '\0';
		ck_assert_msg(strncmp(text, "p: ", 3) == 0, "%s", text);
		ck_assert_msg(strstr(text, "--help") != NULL, "%s", text);
		ck_assert_uint_eq(v.number, 18);
	}
}
END_TEST

START_TEST(test_argv_files)
{
	char *argv[] = { "p", "one", "-n", "5", "two", "--", "-b", NULL };
	int first = 0;
	ck_assert_int_eq(
		option_read_argv(&own, arena, 7, argv, "Doc", "FILE...", &first, &diags),
		E_OK);
	ck_assert_uint_eq(v.number, 5);
	ck_assert(!v.flag);
	ck_assert_int_eq(first, 4);
	ck_assert_str_eq(argv[4], "one");
	ck_assert_str_eq(argv[5], "two");
	ck_assert_str_eq(argv[6], "-b");
	ck_assert_int_eq(
		option_read_argv(&own, arena, 1, argv, "Doc", "FILE...", &first, &diags),
		E_OK);
	ck_assert_int_eq(first, 1);
}
END_TEST

/* Flags of the ignored row stay valid for the engine's row of the same key. */
START_TEST(test_argv_shared)
{
	char *argv[] = { "p", "-s", "one", NULL },
	     *again[] = { "p", "--shared-file=two", NULL };
	ck_assert_int_eq(
		option_read_argv(&both, arena, 3, argv, "Doc", NULL, NULL, &diags), E_OK);
	ck_assert_str_eq(ev.shared, "one");
	ck_assert_int_eq(
		option_read_argv(&both, arena, 2, again, "Doc", NULL, NULL, &diags),
		E_OK);
	ck_assert_str_eq(ev.shared, "two");
	ck_assert_str_eq(take_problems(&diags), "");
}
END_TEST

START_TEST(test_argv_count)
{
	char *argv[] = { "p", "-vv", "-b", "-v", NULL };
	ck_assert_int_eq(
		option_read_argv(&own, arena, 4, argv, "Doc", NULL, NULL, &diags), E_OK);
	ck_assert_uint_eq(v.count, 3);
	ck_assert(v.flag);
}
END_TEST

START_TEST(test_help)
{
	static char *asks[] = { "--help", "-h", "-?", "--usage", "--version" };
	char *argv[] = { "p", asks[_i], NULL };
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
	option_read_argv(&both, arena, 2, argv, "Doc", NULL, NULL, &diags);
	exit(99); /* not reached */
}
END_TEST

START_TEST(test_keep)
{
	struct option_row r[] = { rows[1], rows[5], rows[4], { .name = NULL } };
	struct values now = { .number = 5, .text = "old", .guid = 1 };
	struct values next = { .number = 6, .text = NULL, .guid = 2 };
	struct option_sets a = { .n = 0 }, b = { .n = 0 };

	r[0].flags = r[1].flags = OPT_RESTART;
	option_sets_add(&a, r, &now);
	option_sets_add(&b, r, &next);
	ck_assert_int_eq(option_keep(&a, &b, arena, &diags), E_OK);
	ck_assert_uint_eq(next.number, 5);
	ck_assert_str_eq(next.text, "old");
	ck_assert_uint_eq(next.guid, 2);
	ck_assert_str_eq(take_problems(&diags),
	                 "warning: number: '6' needs a restart; '5' stays in use\n"
	                 "warning: text: '(null)' needs a restart; 'old' stays in use\n");
	ck_assert_int_eq(option_keep(&a, &b, arena, &diags), E_OK);
	ck_assert_str_eq(take_problems(&diags), "");
}
END_TEST

START_TEST(test_dump_full)
{
	FILE *full = fopen("/dev/full", "w");
	ck_assert_ptr_nonnull(full);
	ck_assert_int_eq(option_dump(&both, arena, true, full), -ENOSPC);
	fclose(full);
}
END_TEST

#define N(x) (int)(sizeof(x) / sizeof((x)[0]))

/* --help ends its process. */
TEST_SUITE_FORKED(option)
{
	TCase *tc = tcase_create("option");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_defaults);
	tcase_add_test(tc, test_sets_full);
	tcase_add_loop_test(tc, test_set, 0, N(sets));
	tcase_add_test(tc, test_unknown);
	tcase_add_test(tc, test_shared);
	tcase_add_loop_test(tc, test_file, 0, N(files));
	tcase_add_test(tc, test_file_odd);
	tcase_add_loop_test(tc, test_argv, 0, N(lines));
	tcase_add_test(tc, test_argv_usage);
	tcase_add_test(tc, test_argv_files);
	tcase_add_test(tc, test_argv_shared);
	tcase_add_test(tc, test_argv_count);
	tcase_add_loop_exit_test(tc, test_help, 0, 0, 5);
	tcase_add_test(tc, test_keep);
	tcase_add_test(tc, test_dump_full);
	suite_add_tcase(suite, tc);
}
