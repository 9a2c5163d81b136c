/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <stdbool.h>

/*!
 * One check program per source folder, one suite per test file. A file ends in
 *
 *	TEST_SUITE(ftree)
 *	{
 *		TCase *t = tcase_create("ftree");
 *		...
 *		suite_add_tcase(suite, t);
 *	}
 *
 * and needs no other registration than its line in the folder's Makefile.inc: main() in
 * suite.c runs every suite that the program links. CK_RUN_SUITE=ftree runs this one alone,
 * CK_RUN_CASE one of its cases. TEST_JOBS=4 runs so many suites of the program at a time.
 *
 * Each case has a process of its own. With TEST_ONE_PROCESS set, as for the sanitizers in
 * `./quickstart check`, the cases of a suite share one, and only a suite that fails there is
 * run once more with a process for each, to name the case. TEST_SUITE_FORKED marks a suite
 * whose cases leave something behind in their process, so that they never share one.
 */

/*! \brief Cases of one file; one per file and program. */
struct test_suite {
	const char *name;
	void (*fill)(Suite *suite);
	bool forked; /*!< each case needs a process of its own */
	struct test_suite *next_ref;
};

/*! \brief What the program does instead when a test starts it once more with this word. */
struct test_role {
	const char *name;
	int (*run)(char **argv); /*!< the words after the name, NULL at the end */
	struct test_role *next_ref;
};

void test_suite_register(struct test_suite *s);
void test_role_register(struct test_role *r);

/*! \brief argv[0], for a test that starts its own program with the name of a role. */
extern const char *test_program;

/*! \brief Runs the cases of \a s, which is registered; the report on a case that dies names
 * its last assertion.
 *
 * \return EXIT_SUCCESS, or EXIT_FAILURE when a case failed.
 */
int test_suite_run(const struct test_suite *s);

/*! \brief A new seed at every run, printed; TEST_SEED=number repeats a run. */
unsigned test_seed(void);

/*! \brief How many of \a n seeds to try: all; with TEST_SHORT set, as for the sanitizers in
 * `./quickstart check`, a quarter, at least one. `make check-long` tries all. */
int test_seeds(int n);

/*! \brief Registers the function body that follows as the suite \a name; in it, \a suite is
 * the Suite to fill. */
#define TEST_SUITE(name_) TEST_SUITE_REGISTER(name_, false)

/*! \brief The same for cases that cannot share a process; a comment says why. */
#define TEST_SUITE_FORKED(name_) TEST_SUITE_REGISTER(name_, true)

#define TEST_SUITE_REGISTER(name_, forked_)                                              \
	static void suite_##name_(Suite *suite);                                         \
	__attribute__((constructor)) static void register_suite_##name_(void)            \
	{                                                                                \
		static struct test_suite suite_ = { .name = #name_,                      \
			                            .fill = suite_##name_,               \
			                            .forked = forked_ };                 \
                                                                                         \
		test_suite_register(&suite_);                                            \
	}                                                                                \
	static void suite_##name_(Suite *suite)

/*! \brief `program name_ WORD...` calls \a run_ with the words and exits with its value. */
#define TEST_ROLE(name_, run_)                                                           \
	__attribute__((constructor)) static void register_role_##name_(void)             \
	{                                                                                \
		static struct test_role role_ = { .name = #name_, .run = run_ };         \
                                                                                         \
		test_role_register(&role_);                                              \
	}
