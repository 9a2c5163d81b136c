/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Files that are cut short, at many lengths, before they are opened and while they are mapped. None of it
 * may end a reader, and a writer ends only where it says so.
 */
#include <check.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <sys/wait.h>

#include "conf/base/log.h"
#include "db/lmdb/layout.h"
#include "db/state/state.h"
#include "db/stats/stats.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

enum { PAGE = 4096, LIDS = 3000, ENDED = 1 };

static char dir[256], file[300], said[300];
static struct arena *arena;
static struct fabric fabric;
static uint8_t *whole; /* [size] the file before it was cut */
static off_t size;

static void setup(void)
{
	make_tmp(dir);
	arena = arena_new();
	snprintf(said, sizeof(said), "%s/log", dir);
	ck_assert_int_eq(log_open(said), E_OK);
	memset(&fabric, 0, sizeof(fabric));
}

static void teardown(void)
{
	log_open(NULL);
	fabric_done(&fabric);
	free(whole);
	whole = NULL;
	arena_free(arena);
	remove_tree(dir);
}

static void keep(const char *path)
{
	struct stat st;
	int fd;

	snprintf(file, sizeof(file), "%s/%s", dir, path);
	fd = open(file, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	size = st.st_size;
	whole = malloc((size_t)size);
	ck_assert_int_eq(read(fd, whole, (size_t)size), size);
	close(fd);
}

static void restore(void)
{
	int fd = open(file, O_WRONLY);

	ck_assert_int_eq(pwrite(fd, whole, (size_t)size, 0), size);
	ck_assert_int_eq(ftruncate(fd, size), 0);
	close(fd);
}

static void cut(off_t length)
{
	ck_assert_int_eq(truncate(file, length), 0);
}

/* Lengths at and around the ends of pages, and between them. 0 ends the list. */
static off_t next_length(off_t length)
{
	switch (length % PAGE) {
	case 0: length += 1; break;
	case 1: length += 150; break;
	case 151: length += 2000; break;
	case 2151: length += PAGE - 2151 - 1; break;
	default: length += 1; break;
	}
	return length < size ? length : 0;
}

static bool log_has(const char *text)
{
	char line[2000];
	bool found = false;
	FILE *f = fopen(said, "r");

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		found |= strstr(line, text) != NULL;
	}
	fclose(f);
	return found;
}

/* --- the state ------------------------------------------------------------------------- */

static struct state *open_state(int *ret_err, const char **ret_why)
{
	struct state *s = NULL;

	*ret_why = "";
	*ret_err = state_open(dir, arena, ret_why, &s);
	return s;
}

static void fill_state(void)
{
	struct lid_memory *m = calloc(LIDS, sizeof(*m));
	const char *why;
	int ret;
	struct state *s = open_state(&ret, &why);

	ck_assert_msg(ret == E_OK, "%s", why);
	for (uint32_t i = 0; i < LIDS; i++) {
		m[i] = (struct lid_memory){ .guid = i + 1, .range = { i + 1, 0 } };
	}
	ck_assert_int_eq(state_put_lids(s, m, LIDS, false), E_OK);
	state_close(s);
	free(m);
	keep("data.mdb");
}

/* A state that lost pages is refused with its folder and what to do, and nothing of it is changed. One
 * that lost empty pages alone is as good as before. */
START_TEST(cut_state)
{
	unsigned n_refused = 0, n_good = 0;

	fill_state();
	for (off_t length = 1; length > 0; length = next_length(length)) {
		struct lid_memory *got;
		const char *why;
		struct stat st;
		size_t n = 0;
		int ret;

		cut(length);
		struct state *s = open_state(&ret, &why);

		if (ret == E_OK) {
			ck_assert_int_eq(state_lids(s, arena, &got, &n), E_OK);
			ck_assert_uint_eq(n, LIDS);
			n_good++;
		} else {
			ck_assert_msg(ret == E_MALFORMED || ret == E_FOREIGN,
			              "%lld bytes: %d", (long long)length, ret);
			ck_assert_msg(strstr(why, dir) && strstr(why, "move it away"),
			              "%lld bytes: %s", (long long)length, why);
			ck_assert_msg(length < 2 * PAGE || strstr(why, "truncated"),
			              "%lld bytes: %s", (long long)length, why);
			ck_assert_int_eq(stat(file, &st), 0);
			ck_assert_int_eq(st.st_size, length);
			ck_assert_msg(n_good == 0, "%lld bytes, less was good",
			              (long long)length);
			n_refused++;
		}
		state_close(s);
		restore();
	}
	ck_assert_uint_ge(n_refused, 40);
	ck_assert_uint_ge(n_good, 4);
}
END_TEST

/* A state that is cut while it is open: what is asked next fails with the remedy. */
START_TEST(cut_open_state)
{
	static const off_t lengths[] = { 0, 1, PAGE, 2 * PAGE, 3 * PAGE + 1, 10 * PAGE };

	fill_state();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct lid_memory m = { .guid = 5, .range = { 9, 0 } }, *got;
		struct stat st;
		const char *why;
		size_t n;
		int ret;
		struct state *s = open_state(&ret, &why);

		ck_assert_int_eq(ret, E_OK);
		cut(lengths[i]);
		ck_assert_int_eq(state_lids(s, arena, &got, &n), E_MALFORMED);
		ret = state_put_lids(s, &m, 1, false);
		ck_assert_int_eq(ret, E_MALFORMED);
		why = state_err_text(s, ret, arena);
		ck_assert_msg(strstr(why, dir) && strstr(why, "move it away"), "%s", why);
		ck_assert_int_eq(stat(file, &st), 0);
		ck_assert_int_eq(st.st_size, lengths[i]); /* nothing was written to it */
		state_close(s);
		restore();
	}
}
END_TEST

/* --- snapshot and stats ------------------------------------------------------------------ */

static struct snap_writer *open_snapshot(const char **ret_why)
{
	struct snap_options o = { .grace_ms = 10000 };
	struct snap_writer *w = NULL;

	*ret_why = "";
	ck_assert_int_eq(snap_writer_open(dir, &o, arena, ret_why, &w), E_OK);
	return w;
}

static void publish(struct snap_writer *w, uint64_t epoch)
{
	struct snap_content c = fabric_content(&fabric, epoch);
	struct snap_published p;

	ck_assert_int_eq(snap_publish(w, &c, epoch * 100, &p), E_OK);
}

static struct stats *open_stats(const char **ret_why)
{
	struct stats *s = NULL;

	*ret_why = "";
	ck_assert_int_eq(stats_open(dir, arena, ret_why, &s), E_OK);
	return s;
}

static void fill_stats(struct stats *s)
{
	char name[64];

	for (unsigned i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "figure_%u", i);
		stats_set(s, name, i + 1);
	}
	ck_assert_int_eq(stats_commit(s, 7), E_OK);
}

/* Cut before the writer opens it: made anew, said, and published to; or whole still. */
START_TEST(cut_snapshot)
{
	unsigned n_anew = 0;
	const char *why;

	fabric_init(&fabric, "ft2 6 6 3", 0);
	struct snap_writer *w = open_snapshot(&why);

	publish(w, 1);
	snap_writer_close(w);
	keep("snapshot/data.mdb");
	for (off_t length = 1; length > 0; length = next_length(length)) {
		cut(length);
		w = open_snapshot(&why);
		ck_assert_msg((snap_epoch(w) == 0) == (strstr(why, "made anew") != NULL),
		              "%lld bytes: epoch %llu, %s", (long long)length,
		              (unsigned long long)snap_epoch(w), why);
		n_anew += snap_epoch(w) == 0;
		publish(w, 2);
		snap_writer_close(w);
		restore();
	}
	ck_assert_uint_ge(n_anew, 40);
}
END_TEST

START_TEST(cut_stats)
{
	unsigned n_anew = 0;
	const char *why;
	struct stats *s = open_stats(&why);

	fill_stats(s);
	stats_close(s);
	keep("stats/data.mdb");
	for (off_t length = 1; length > 0; length = next_length(length)) {
		cut(length);
		s = open_stats(&why);
		n_anew += strstr(why, "made anew") != NULL;
		fill_stats(s);
		stats_close(s);
		restore();
	}
	ck_assert_uint_ge(n_anew, 20);
}
END_TEST

/* Cut while a reader of another process has it mapped, in the middle of an epoch: it reads on to an error or
 * to nothing, and what the writer publishes later is found again. */
START_TEST(cut_under_a_reader)
{
	const char *why;

	fabric_init(&fabric, "ft2 6 6 3", 0);
	struct snap_writer *w = open_snapshot(&why);

	publish(w, 1);
	snap_writer_close(w);
	keep("snapshot/data.mdb");
	for (off_t length = 1; length > 0; length = next_length(length)) {
		struct snap_reader *r = NULL;
		struct snap_node n = { .guid = 0 };
		uint64_t from = 0;
		int ret;

		ck_assert_int_eq(snap_reader_open(dir, arena, &why, &r), E_OK);
		ck_assert_int_eq(snap_pin(r), E_OK);
		cut(length);
		while ((ret = snap_node_from(r, from, &n)) == E_OK) {
			from = n.guid + 1;
		}
		ck_assert_msg(ret == E_NOTFOUND || ret == E_STALE || ret == E_MALFORMED,
		              "%lld bytes: %d", (long long)length, ret);
		if (length < 2 * PAGE) {
			ck_assert_int_ne(snap_check(r), E_OK);
			ck_assert_int_ne(snap_pin(r), E_OK);
		}
		restore();
		ck_assert_int_eq(snap_pin(r), E_OK);
		ck_assert_int_eq(snap_node_from(r, 0, &n), E_OK);
		ck_assert_int_eq(snap_check(r), E_OK);
		snap_reader_close(r);
	}
}
END_TEST

/* `writer` is cut to nothing: whoever opened is not known any more, which is no fault. */
START_TEST(cut_count_of_writers)
{
	struct snap_reader *r = NULL;
	struct snap_node n;
	const char *why;

	fabric_init(&fabric, "ft2 6 6 3", 0);
	struct snap_writer *w = open_snapshot(&why);

	publish(w, 1);
	ck_assert_int_eq(snap_reader_open(dir, arena, &why, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	snprintf(file, sizeof(file), "%s/snapshot/writer", dir);
	cut(0);
	ck_assert_int_eq(snap_node_from(r, 0, &n), E_OK);
	publish(w, 2);
	ck_assert_int_eq(snap_node_from(r, 0, &n), E_STALE);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_int_eq(snap_node_from(r, 0, &n), E_OK);
	snap_reader_close(r);
	snap_writer_close(w);
}
END_TEST

/* --- the process that writes --------------------------------------------------------------- */

/* Runs a part of saguarod that meets a cut file; how it ended. */
static int run_apart(void (*part)(off_t length), off_t length)
{
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		omp_set_num_threads(1); /* its other threads are not in a child */
		part(length);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static void commit_stats(off_t length)
{
	const char *why;
	struct stats *s = open_stats(&why);

	snprintf(file, sizeof(file), "%s/stats/data.mdb", dir);
	fill_stats(s);
	cut(length);
	stats_set(s, "figure_1", 7);
	stats_commit(s, 8);
}

/* The next heartbeat finds it, the process ends with a line that says what to do, and the next start makes it anew. */
START_TEST(cut_under_the_writer)
{
	static const off_t lengths[] = { 0, PAGE + 1, 3 * PAGE };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		const char *why;

		ck_assert_int_eq(truncate(said, 0), 0);
		ck_assert_int_eq(run_apart(commit_stats, lengths[i]), ENDED);
		ck_assert_msg(log_has("was cut short while saguarod used it"), "%lld",
		              (long long)lengths[i]);
		ck_assert(log_has("restart saguarod, which makes it anew"));
		struct stats *s = open_stats(&why);

		ck_assert(lengths[i] == 0 || strstr(why, "made anew"));
		stats_close(s);
	}
}
END_TEST

static void read_snapshot(off_t length)
{
	struct snap_reader *r;
	struct snap_node n = { .guid = 0 };
	const char *why;
	uint64_t from = 0;

	fabric_init(&fabric, "ft2 6 6 3", 0);
	struct snap_writer *w = open_snapshot(&why);
	snprintf(file, sizeof(file), "%s/snapshot/data.mdb", dir);
	publish(w, 1);
	ck_assert_int_eq(snap_reader_local(w, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	cut(length);
	while (snap_node_from(r, from, &n) == E_OK) {
		from = n.guid + 1;
	}
}

/* A thread of saguarod is in the middle of an epoch: the process ends with a line, not with a signal. */
START_TEST(cut_under_an_answer)
{
	ck_assert_int_eq(run_apart(read_snapshot, 2 * PAGE), ENDED);
	ck_assert(log_has("a file was cut short while saguarod had it mapped"));
}
END_TEST

TEST_SUITE(cut)
{
	TCase *t = tcase_create("cut");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, cut_state);
	tcase_add_test(t, cut_open_state);
	tcase_add_test(t, cut_snapshot);
	tcase_add_test(t, cut_stats);
	tcase_add_test(t, cut_under_a_reader);
	tcase_add_test(t, cut_count_of_writers);
	tcase_add_test(t, cut_under_the_writer);
	tcase_add_test(t, cut_under_an_answer);
	suite_add_tcase(suite, t);
}
