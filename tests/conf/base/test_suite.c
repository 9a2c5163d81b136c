/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The runner of the tests itself: the report on a case that dies names the assertion that
 * held last, also one that a loop has passed before.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/suite.h"

static void abort_here(void)
{
	abort();
}

static void break_off(void)
{
	raise(SIGFPE);
}

static void leave(void)
{
	exit(3);
}

static const struct {
	const char *name;
	void (*die)(void);
} deaths[] = {
	{ "abort", abort_here },
	{ "signal", break_off },
	{ "exit", leave },
};

enum { N_DEATHS = sizeof(deaths) / sizeof(*deaths) };

static unsigned death; /* in the program that runs the dying case */

static void say_line(int line)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "at %d\n", line);

	if (write(STDOUT_FILENO, text, (size_t)n) != n) {
		_exit(4);
	}
}

#define HOLDS(condition)                                                                 \
	say_line(__LINE__);                                                              \
	ck_assert(condition)

START_TEST(dies)
{
	for (int i = 0; i < 3; i++) {
		HOLDS(i < 3);
		if (i == 2) {
			deaths[death].die();
		}
		HOLDS(i < 2);
	}
}
END_TEST

static int n_before;

START_TEST(needs_fresh_process)
{
	ck_assert_int_eq(n_before++, 0);
}
END_TEST

START_TEST(ends_process)
{
	exit(EXIT_SUCCESS);
}
END_TEST

/* Suites of which no case dies. */
enum { LEAVES_SOMETHING = N_DEATHS, ENDS_PROCESS, N_SUITES };

static void fill_dying(Suite *suite)
{
	TCase *t = tcase_create("dying");

	if (death < N_DEATHS) {
		tcase_add_test(t, dies);
	}
	if (death == ENDS_PROCESS) {
		tcase_add_exit_test(t, ends_process, EXIT_SUCCESS);
	} else {
		tcase_add_loop_test(t, needs_fresh_process, 0, 2);
	}
	suite_add_tcase(suite, t);
}

static int run_dying(char **argv)
{
	static struct test_suite dying = { .name = "dying", .fill = fill_dying };

	death = (unsigned)atoi(argv[0]);
	setenv("CK_VERBOSITY", "normal", 1); /* the report is read */
	dying.forked = argv[1] != NULL;
	test_suite_register(&dying);
	return test_suite_run(&dying);
}
TEST_ROLE(dying, run_dying)

/* How much whoever runs this program wants to read. */
static const char *const verbosities[] = { "silent", "minimal", "normal", "verbose" };

enum { N_VERBOSITIES = sizeof(verbosities) / sizeof(*verbosities) };

static FILE *start_dying(int which, const char *how)
{
	char command[512];
	FILE *output;

	snprintf(command, sizeof(command),
	         "unset CK_RUN_CASE; export CK_VERBOSITY=%s CK_FORK=yes %s; '%s' dying %d %s 2>/dev/null",
	         verbosities[which % N_VERBOSITIES],
	         *how ? "TEST_ONE_PROCESS=1" : "; unset TEST_ONE_PROCESS", test_program,
	         which, strcmp(how, "forked") == 0 ? how : "");
	output = popen(command, "r");
	ck_assert_ptr_nonnull(output);
	return output;
}

/* With a process for each case, or for all cases and then again for each. */
static const char *const ways[] = { "", "one process", "forked" };

enum { N_WAYS = sizeof(ways) / sizeof(*ways) };

START_TEST(report_names_the_last_line)
{
	const char *name = deaths[_i % N_DEATHS].name, *way = ways[_i / N_DEATHS];
	char line[512], expected[64] = "no line", report[512] = "no report";
	FILE *output = start_dying(_i % N_DEATHS, way);

	while (fgets(line, sizeof(line), output) != NULL) {
		int number;

		if (sscanf(line, "at %d", &number) == 1) {
			snprintf(expected, sizeof(expected), ":%d:E:dying:dies:", number);
		} else if (strstr(line, ":E:") != NULL) {
			memcpy(report, line, sizeof(report));
		}
	}
	ck_assert_int_ne(pclose(output), 0);
	ck_assert_msg(strstr(report, expected) != NULL, "%s %s: not %s but %s", name, way,
	              expected, report);
}
END_TEST

/* Cases that only fail together fail too, unless the suite says that they cannot share. */
START_TEST(suite_fails_in_one_process)
{
	char line[512];
	int way = _i % N_WAYS;
	FILE *output = start_dying(LEAVES_SOMETHING + _i / N_WAYS, ways[way]);
	bool says = false;

	while (fgets(line, sizeof(line), output) != NULL) {
		says = says ||
		       strstr(line, "fails with all cases in one process") != NULL;
	}
	ck_assert_int_eq(pclose(output) != 0, way == 1);
	ck_assert_int_eq(says, way == 1);
}
END_TEST

TEST_SUITE(suite)
{
	TCase *t = tcase_create("suite");

	tcase_add_loop_test(t, report_names_the_last_line, 0, N_DEATHS * N_WAYS);
	tcase_add_loop_test(t, suite_fails_in_one_process, 0,
	                    (N_SUITES - LEAVES_SOMETHING) * N_WAYS);
	suite_add_tcase(suite, t);
}
