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

static int run_dying(char **argv)
{
	Suite *suite = suite_create("dying");
	TCase *t = tcase_create("dying");
	SRunner *all = srunner_create(suite);
	int failed;

	death = (unsigned)atoi(argv[0]);
	tcase_add_test(t, dies);
	suite_add_tcase(suite, t);
	failed = test_run(all, CK_NORMAL);
	srunner_free(all);
	return failed;
}
TEST_ROLE(dying, run_dying)

START_TEST(report_names_the_last_line)
{
	char command[512], line[512], expected[64] = "no line", report[512] = "no report";
	FILE *output;

	snprintf(command, sizeof(command),
	         "unset CK_RUN_SUITE CK_RUN_CASE; CK_FORK=yes '%s' dying %d 2>/dev/null",
	         test_program, _i);
	output = popen(command, "r");
	ck_assert_ptr_nonnull(output);
	while (fgets(line, sizeof(line), output) != NULL) {
		int number;

		if (sscanf(line, "at %d", &number) == 1) {
			snprintf(expected, sizeof(expected), ":%d:E:dying:dies:", number);
		} else if (strstr(line, ":E:") != NULL) {
			memcpy(report, line, sizeof(report));
		}
	}
	pclose(output);
	ck_assert_msg(strstr(report, expected) != NULL, "%s: not %s but %s",
	              deaths[_i].name, expected, report);
}
END_TEST

TEST_SUITE(suite)
{
	TCase *t = tcase_create("suite");

	tcase_add_loop_test(t, report_names_the_last_line, 0,
	                    sizeof(deaths) / sizeof(*deaths));
	suite_add_tcase(suite, t);
}
