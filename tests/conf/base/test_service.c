/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A server from the end of its start to its end: the port file, and signals, which are pending
 * before it waits, so nothing depends on time.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/service.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

static struct arena *arena;
static sigset_t mask;

static void setup(void)
{
	arena = arena_new();
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	service_block_signals();
}

static void teardown(void)
{
	log_open(NULL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	arena_free(arena);
}

static void count(void *ctx)
{
	++*(unsigned *)ctx;
}

static const char *text_of(const char *path)
{
	static char text[4096];
	FILE *f = fopen(path, "r");
	size_t n = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;

	ck_assert_ptr_nonnull(f);
	fclose(f);
	text[n] = '\0';
	return text;
}

START_TEST(test_port_file)
{
	char *path = temp_file("", arena);
	unsigned reopened = 0;
	const struct service_options options = { .port_file = path };
	const struct service_server s = { .source = "test",
		                          .options = &options,
		                          .address = "127.0.0.1:4711",
		                          .port = 4711,
		                          .reopen = count,
		                          .ctx = &reopened };

	raise(SIGTERM);
	ck_assert_int_eq(service_run_server(&s), E_OK);
	ck_assert_str_eq(text_of(path), "4711\n");
	ck_assert_uint_eq(reopened, 0);
	unlink(path);
}
END_TEST

/* It ends before it waits for a signal. */
START_TEST(test_no_port_file)
{
	const struct service_options options = { .port_file = "/proc/none/port" };
	const struct service_server s = { .source = "test",
		                          .options = &options,
		                          .address = "" };

	ck_assert_int_eq(service_run_server(&s), -ENOENT);
}
END_TEST

/* Of signals that are pending the lowest number comes first: SIGHUP is 1, SIGINT 2. */
START_TEST(test_rotation)
{
	char *path = temp_file("", arena);
	unsigned reopened = 0;
	const struct service_options options = { .log_file = path };
	const struct service_server s = { .source = "test",
		                          .options = &options,
		                          .address = "",
		                          .reopen = count,
		                          .ctx = &reopened };

	service_open_log("test", path, false);
	ck_assert_int_eq(unlink(path), 0);
	raise(SIGHUP);
	raise(SIGINT);
	ck_assert_int_eq(service_run_server(&s), E_OK);
	ck_assert_uint_eq(reopened, 1);
	ck_assert_ptr_nonnull(strstr(text_of(path), "log file opened again"));
	ck_assert_ptr_nonnull(strstr(text_of(path), "signal INT: stopping"));
	unlink(path);
}
END_TEST

START_TEST(test_log_failures)
{
	char *path = temp_file("", arena);

	service_open_log("test", path, false);
	service_open_log("test", "/proc/none/log", false); /* goes on without any */
	log_info("test", "not into the file before");
	ck_assert_str_eq(text_of(path), "");
	unlink(path);
	ck_assert_int_eq(service_reopen_log("test", "/proc/none/log"), -ENOENT);
	ck_assert_int_eq(service_reopen_log("test", NULL), E_OK);
}
END_TEST

/* A program, what its parts return, and which of them ran. */
struct program {
	int read, command, serve;
	bool is_command, commanded, served;
	struct service_options options;
};

static int read_line(void *config, struct arena *a, int argc, char **argv,
                     struct diags *d)
{
	const struct program *p = config;

	(void)a;
	(void)argc;
	(void)argv;
	(void)d;
	return p->read;
}

static bool is_command(const void *config)
{
	return ((const struct program *)config)->is_command;
}

static int run_command(const void *config, struct arena *a, struct diags *d)
{
	(void)a;
	(void)d;
	((struct program *)config)->commanded = true;
	return ((const struct program *)config)->command;
}

static int serve(const void *config, struct arena *a)
{
	(void)a;
	((struct program *)config)->served = true;
	return ((const struct program *)config)->serve;
}

static const struct {
	struct program program;
	int status;
} programs[] = {
	{ { .served = true }, 0 },
	{ { .served = true, .serve = -EIO }, 1 },
	{ { .read = E_SYNTAX }, 2 },
	{ { .read = E_SYNTAX, .is_command = true }, 2 },
	{ { .is_command = true, .commanded = true }, 0 },
	{ { .is_command = true, .commanded = true, .command = E_RANGE }, 1 },
};

START_TEST(test_main)
{
	const struct program *want = &programs[_i].program;
	struct program program = *want;
	const struct service_program p = { .name = "test",
		                           .source = "test",
		                           .config = &program,
		                           .options = &program.options,
		                           .read = read_line,
		                           .is_command = is_command,
		                           .command = run_command,
		                           .serve = serve };

	program.commanded = program.served = false;
	ck_assert_int_eq(service_main(&p, 0, NULL), programs[_i].status);
	ck_assert_int_eq(program.commanded, want->commanded);
	ck_assert_int_eq(program.served, want->served);
}
END_TEST

/* Forked, because it blocks signals and raises them. */
TEST_SUITE_FORKED(service)
{
	TCase *tc = tcase_create("server");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_port_file);
	tcase_add_test(tc, test_no_port_file);
	tcase_add_test(tc, test_rotation);
	tcase_add_test(tc, test_log_failures);
	tcase_add_loop_test(tc, test_main, 0, sizeof(programs) / sizeof(programs[0]));
	suite_add_tcase(suite, tc);
}
