/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/lib/suite.h"

const char *test_program;

static struct test_suite *suites; /* by name */
static struct test_role *roles;

void test_suite_register(struct test_suite *s)
{
	struct test_suite **at = &suites;

	while (*at != NULL && strcmp((*at)->name, s->name) < 0) {
		at = &(*at)->next_ref;
	}
	s->next_ref = *at;
	*at = s;
}

void test_role_register(struct test_role *r)
{
	r->next_ref = roles;
	roles = r;
}

unsigned test_seed(void)
{
	const char *text = getenv("TEST_SEED");
	unsigned seed = text ? (unsigned)strtoul(text, NULL, 0) : (unsigned)time(NULL);

	printf("TEST_SEED=%u\n", seed);
	fflush(stdout); /* the case may crash */
	return seed;
}

int test_seeds(int n)
{
	return getenv("TEST_SHORT") == NULL || n < 1 ? n : (n + 3) / 4;
}

/* A suite that CK_RUN_SUITE misspells would pass with no case run. */
static bool is_known(const char *name)
{
	for (const struct test_suite *s = suites; s != NULL; s = s->next_ref) {
		if (strcmp(s->name, name) == 0) {
			return true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	const char *only = getenv("CK_RUN_SUITE");
	SRunner *runner;
	int failed;

	test_program = argv[0];
	for (const struct test_role *r = roles; r != NULL && argc > 1; r = r->next_ref) {
		if (strcmp(argv[1], r->name) == 0) {
			return r->run(argv + 2);
		}
	}
	if (only != NULL && !is_known(only)) {
		fprintf(stderr, "%s has no suite %s\n", argv[0], only);
		return EXIT_FAILURE;
	}
	runner = srunner_create(NULL);
	for (const struct test_suite *s = suites; s != NULL; s = s->next_ref) {
		Suite *suite = suite_create(s->name);

		s->fill(suite);
		srunner_add_suite(runner, suite);
	}
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
