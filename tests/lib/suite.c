/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/*
 * Check sends a message to its parent at every assertion that holds, so that the report on a
 * case that crashes can name the last one. The write and the parent's reading of millions of
 * them took half of the time of all tests. So each line is sent when it is first reached, and
 * the last one before the end, whatever ends the case: a signal, a sanitizer, exit(). Only
 * after a time-out may the report name an earlier line of a loop. The programs are linked
 * with --wrap=_mark_point.
 */
void __wrap__mark_point(const char *file, int line);
void __real__mark_point(const char *file, int line);
void __sanitizer_set_death_callback(void (*f)(void)) __attribute__((weak));

static const char *point_file; /* where the last assertion held */
static int point_line;
static pid_t runner; /* process that forks the cases; 0 with CK_FORK=no */

void __wrap__mark_point(const char *file, int line)
{
	static unsigned char is_sent[1 << 16]; /* a collision costs one message */
	unsigned place = (unsigned)((uintptr_t)file * 31 + (unsigned)line) % (1 << 16);

	point_file = file;
	point_line = line;
	if (!is_sent[place]) {
		is_sent[place] = 1;
		__real__mark_point(file, line);
	}
}

/* A process that a case forks has no report of its own. */
static void send_last_point(void)
{
	if (point_file != NULL && getppid() == runner) {
		__real__mark_point(point_file, point_line);
	}
}

static void send_point_and_die(int sig)
{
	send_last_point();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* A sanitizer keeps its own handlers. */
static void watch_for_the_end(void)
{
	static const int deadly[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV };

	atexit(send_last_point);
	if (__sanitizer_set_death_callback != NULL) {
		__sanitizer_set_death_callback(send_last_point);
	}
	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++) {
		struct sigaction old;

		if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
			signal(deadly[i], send_point_and_die);
		}
	}
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

/* Runs all suites, or the one of CK_RUN_SUITE. */
static int run_suites(void)
{
	SRunner *all = srunner_create(NULL);
	int failed;

	for (const struct test_suite *s = suites; s != NULL; s = s->next_ref) {
		Suite *suite = suite_create(s->name);

		s->fill(suite);
		srunner_add_suite(all, suite);
	}
	runner = srunner_fork_status(all) == CK_FORK ? getpid() : 0;
	watch_for_the_end();
	srunner_run_all(all, CK_ENV);
	failed = srunner_ntests_failed(all);
	srunner_free(all);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Runs all cases of the suite of CK_RUN_SUITE in one process, which costs far less under a
 * sanitizer than a process for each. */
static bool passes_in_one_process(void)
{
	/* A case that ends the process, though with success, gives another status. */
	const int all_passed = 100;
	int result;
	pid_t pid;

	fflush(stdout); /* the child would print it again */
	pid = fork();
	if (pid == 0) {
		setenv("CK_FORK", "no", 1);
		alarm(1200); /* Check has no time limits then */
		exit(run_suites() == EXIT_SUCCESS ? all_passed : EXIT_FAILURE);
	}
	return pid > 0 && waitpid(pid, &result, 0) == pid && WIFEXITED(result) &&
	       WEXITSTATUS(result) == all_passed;
}

int test_suite_run(const struct test_suite *s)
{
	setenv("CK_RUN_SUITE", s->name, 1);
	if (getenv("TEST_ONE_PROCESS") == NULL || s->forked) {
		return run_suites();
	}
	if (passes_in_one_process()) {
		return EXIT_SUCCESS;
	}
	printf("%s fails with all cases in one process. If a process for each mends it, free or reset what cases leave behind, or register it with TEST_SUITE_FORKED:\n",
	       s->name);
	run_suites();
	return EXIT_FAILURE; /* also if it passes now */
}

/* Copies what a suite printed. */
static void print_output(FILE *from)
{
	char text[4096];
	size_t n;

	rewind(from);
	while ((n = fread(text, 1, sizeof(text), from)) > 0) {
		fwrite(text, 1, n, stdout);
	}
	fflush(stdout); /* a later child would print it again */
	fclose(from);
}

/* Runs each suite in a process of its own, \a jobs at a time. The output comes suite by
 * suite, in the order in which they end. */
static int run_parallel(unsigned jobs)
{
	struct {
		pid_t pid;
		FILE *output;
	} job[16] = { { 0 } };
	const struct test_suite *next = suites;
	int status = EXIT_SUCCESS;

	jobs = jobs > 16 ? 16 : jobs;
	for (unsigned running = 0; next != NULL || running > 0;) {
		int result;
		pid_t pid;
		unsigned k = 0;

		if (next != NULL && running < jobs) {
			while (job[k].pid != 0) {
				k++;
			}
			job[k].output = tmpfile();
			job[k].pid = job[k].output != NULL ? fork() : -1;
			if (job[k].pid == 0) {
				dup2(fileno(job[k].output), STDOUT_FILENO);
				dup2(fileno(job[k].output), STDERR_FILENO);
				exit(test_suite_run(next));
			}
			if (job[k].pid < 0) {
				perror("a suite does not start");
				return EXIT_FAILURE;
			}
			running++;
			next = next->next_ref;
			continue;
		}
		pid = wait(&result);
		while (k < jobs && job[k].pid != pid) {
			k++;
		}
		if (k == jobs) {
			continue;
		}
		print_output(job[k].output);
		job[k].pid = 0;
		running--;
		if (!WIFEXITED(result) || WEXITSTATUS(result) != EXIT_SUCCESS) {
			status = EXIT_FAILURE;
		}
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *only = getenv("CK_RUN_SUITE"), *jobs = getenv("TEST_JOBS");

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
	if (only == NULL && (jobs != NULL || getenv("TEST_ONE_PROCESS") != NULL)) {
		return run_parallel(jobs != NULL && atoi(jobs) > 1 ? (unsigned)atoi(jobs)
		                                                   : 1);
	}
	return run_suites();
}
