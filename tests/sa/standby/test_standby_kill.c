/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A standby is killed between any two writes of a copy, and in the middle of each. What is then
 * in its state is what it had before, or the whole state of the master as of one transaction.
 *
 * The standby is a process of its own: this program once more, in the role `copier`. The
 * functions by which LMDB and the state write count its steps.
 */
#include <config.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/suite.h"

#ifdef HAVE_GNUTLS

#include "tests/lib/standby_fixture.h"

/* --- steps ------------------------------------------------------------------------------- */

static atomic_long steps_left = -1; /* until this process dies; below 0: it does not */
static bool halves;                 /* a write that is the last step is done by half */

ssize_t count_pwrite(int fd, const void *buf, size_t n, off_t at) __asm__("pwrite");
ssize_t count_writev(int fd, const struct iovec *v, int n) __asm__("writev");
int count_fdatasync(int fd) __asm__("fdatasync");
int count_ftruncate(int fd, off_t len) __asm__("ftruncate");

#define REAL(name, ...) ((__typeof__(&count_##name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

/* \return true: this is the last step. */
static bool is_last(void)
{
	return steps_left >= 0 && atomic_fetch_sub(&steps_left, 1) == 0;
}

static void die(void)
{
	(void)kill(getpid(), SIGKILL);
}

ssize_t count_pwrite(int fd, const void *buf, size_t n, off_t at)
{
	if (is_last()) {
		if (halves) {
			(void)REAL(pwrite, fd, buf, n / 2, at);
		}
		die();
	}
	return REAL(pwrite, fd, buf, n, at);
}

ssize_t count_writev(int fd, const struct iovec *v, int n)
{
	if (is_last()) {
		if (halves) {
			(void)REAL(writev, fd, v, (n + 1) / 2);
		}
		die();
	}
	return REAL(writev, fd, v, n);
}

int count_fdatasync(int fd)
{
	if (is_last()) {
		die();
	}
	return REAL(fdatasync, fd);
}

int count_ftruncate(int fd, off_t len)
{
	if (is_last()) {
		die();
	}
	return REAL(ftruncate, fd, len);
}

/* --- the standby ------------------------------------------------------------------------- */

/* copier DIR PORT STEPS HALVES: copies until standard input ends. No test runs here, so nothing is
 * asserted. */
static int run_copier(char **argv)
{
	struct arena *a = arena_new();
	struct standby_options o = { .peers = arena_printf(a, "127.0.0.1:%s", argv[1]),
		                     .secret = arena_printf(a, "%s/m", argv[0]),
		                     .guid = STANDBY_GUID,
		                     .prefix = PREFIX };
	struct standby *link;
	const char *reason = "";
	char byte;

	if (state_open(arena_printf(a, "%s/to", argv[0]), a, &reason, &o.state) != E_OK) {
		return EXIT_FAILURE;
	}
	halves = atoi(argv[3]) != 0;
	steps_left = atol(argv[2]);
	if (standby_new(&o, a, &reason, &link) != E_OK) {
		return EXIT_FAILURE;
	}
	standby_set_role(link, STANDBY_TAKES);
	while (read(STDIN_FILENO, &byte, 1) > 0) {
	}
	steps_left = -1; /* all was copied */
	standby_free(link);
	state_close(o.state);
	arena_free(a);
	return EXIT_SUCCESS;
}
TEST_ROLE(copier, run_copier)

static pid_t start_copier(unsigned port, long steps, bool by_half, int *ret_input)
{
	char words[3][24];
	int ends[2];
	pid_t pid;

	snprintf(words[0], sizeof(words[0]), "%u", port);
	snprintf(words[1], sizeof(words[1]), "%ld", steps);
	snprintf(words[2], sizeof(words[2]), "%d", by_half);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[0], STDIN_FILENO);
		execl(test_program, test_program, "copier", dir, words[0], words[1],
		      words[2], (char *)NULL);
		_exit(127);
	}
	ck_assert_int_gt(pid, 0);
	close(ends[0]);
	*ret_input = ends[1];
	return pid;
}

static bool is_dead(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	return info.si_pid == pid;
}

/* --- what it leaves ----------------------------------------------------------------------- */

enum { LIDS = 8000, CHANGES = 3 };

struct round {
	const char *before;                /* of the standby */
	const char *expected[CHANGES + 1]; /* of the master, after so many changes */
	uint64_t sequence[CHANGES + 1];
	int n, known; /* changes that were made; the last one acknowledged, -1: no copy */
};

/* A service of its own, as of a start long ago. */
static const char *prepare_state(void)
{
	const struct state_copy_mark ours = { 0 };
	const char *text;

	to = open_state("to");
	ck_assert_int_eq(state_apply(to, NULL, 0, true, &ours), E_OK);
	change_service(to, 99, 99);
	text = dump(to);
	state_close(to);
	to = NULL;
	return text;
}

static void note_state(struct round *r)
{
	const struct standby_status st = status(master);

	r->expected[r->n] = dump(from);
	r->sequence[r->n] = st.sequence;
	r->known = st.n_in_step == 1 ? r->n : r->known;
}

/* The master changes while the standby copies and then while it is in step. */
static void make_changes(struct round *r, pid_t pid)
{
	WAIT_UNTIL(status(master).n_in_step == 1 || is_dead(pid));
	note_state(r);
	while (r->n < CHANGES && !is_dead(pid)) {
		change_service(from, (uint8_t)r->n, (int)(r->sequence[r->n] & 0x7f));
		r->n++;
		note_state(r);
	}
}

/* Nothing torn, nothing mixed, and all that was acknowledged. */
static void check_state(const struct round *r, long steps)
{
	struct state_copy_mark mark;
	const char *got;
	int at = r->n;

	to = open_state("to");
	ck_assert_int_eq(state_copy_mark(to, &mark), E_OK);
	got = dump(to);
	while (at >= 0 && strcmp(got, r->expected[at]) != 0) {
		at--;
	}
	ck_assert_msg(at >= r->known, "killed at step %ld: change %d was acknowledged",
	              steps, r->known);
	if (at < 0) {
		ck_assert_msg(strcmp(got, r->before) == 0, "killed at step %ld: torn",
		              steps);
		ck_assert_uint_eq(mark.guid, 0);
	} else {
		ck_assert_uint_eq(mark.guid, MASTER_GUID);
		ck_assert_uint_eq(mark.sequence, r->sequence[at]);
	}
}

/* It starts again when the master is gone. */
static void check_takeover(void)
{
	char text[200] = "";

	open_standby(1, secret_text, PREFIX);
	ck_assert(!standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
	ck_assert_str_eq(text, "no master has given its state since the start");
	standby_free(standby);
	standby = NULL;
}

/* \return true: the standby was not killed, because it took fewer steps. */
static bool try_kill(unsigned port, long steps, bool by_half)
{
	struct round r = { .known = -1 };
	int input, st;
	pid_t pid;

	WAIT_UNTIL(status(master).n_standbys == 0);
	r.before = prepare_state();
	pid = start_copier(port, steps, by_half, &input);
	make_changes(&r, pid);
	close(input);
	ck_assert_int_eq(waitpid(pid, &st, 0), pid);
	ck_assert(WIFEXITED(st) ? WEXITSTATUS(st) == EXIT_SUCCESS
	                        : WTERMSIG(st) == SIGKILL);
	check_state(&r, steps);
	check_takeover();
	state_close(to);
	to = NULL;
	return WIFEXITED(st);
}

START_TEST(test_killed_at_any_step)
{
	struct lid_memory *m = calloc(LIDS, sizeof(*m));
	struct arena *all = arena;
	unsigned port;
	long steps = 0;

	for (uint32_t i = 0; i < LIDS; i++) {
		m[i] = (struct lid_memory){ .guid = 1 + i, .range = { 1 + i, 0 } };
	}
	ck_assert_int_eq(state_put_lids(from, m, LIDS, false), E_OK);
	free(m);
	port = standby_port(open_master(60000));
	state_close(to);
	to = NULL;
	for (bool lives = false; !lives; steps++) {
		arena = arena_new();
		lives = try_kill(port, steps, _i == 1);
		arena_free(arena);
		arena = all;
	}
	fprintf(stderr, "killed at each of %ld steps\n", steps - 1);
	ck_assert_int_gt(steps, 3 * CHANGES); /* a write, a sync and a root for each */
}
END_TEST

TEST_SUITE(standby_kill)
{
	TCase *t = tcase_create("standby_kill");

	tcase_add_checked_fixture(t, open_states, close_links);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_killed_at_any_step, 0, 2);
	suite_add_tcase(suite, t);
}

#else

START_TEST(test_without_gnutls)
{
	ck_assert(true);
}
END_TEST

TEST_SUITE(standby_kill)
{
	TCase *t = tcase_create("standby_kill");

	tcase_add_test(t, test_without_gnutls);
	suite_add_tcase(suite, t);
}

#endif
