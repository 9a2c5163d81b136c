/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <lmdb.h>
#include <signal.h>
#include <sys/resource.h>

#include "db/stats/stats.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

static char dir[256];
static struct arena *arena;
static struct stats *s;

static void open_writer(void)
{
	const char *why = "";
	int ret = stats_open(dir, arena, &why, &s);
	ck_assert_msg(ret == E_OK, "%s", why);
}

static void setup(void)
{
	make_tmp(dir);
	arena = arena_new();
	open_writer();
}

static void teardown(void)
{
	stats_close(s);
	arena_free(arena);
	remove_tree(dir);
}

/* A foreign reader belongs into another process; LMDB only minds locks, which it has not.
 */
static struct stats_reader *reader(void)
{
	struct stats_reader *r = NULL;
	ck_assert_int_eq(stats_reader_open(dir, &r), E_OK);
	return r;
}

static const struct stats_value *find(const struct stats_copy *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->values[i].name, name) == 0) {
			return &c->values[i];
		}
	}
	return NULL;
}

START_TEST(test_values)
{
	struct stats_copy c;
	struct stats_reader *r = reader();
	stats_set(s, "b_total{class=\"smp\"}", 1.5);
	stats_set(s, "a", -3);
	stats_text(s, "sweep_phase", "discover");
	stats_text(s, "not_ready", "");
	ck_assert_int_eq(stats_commit(s, 1234567), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.heartbeat_ms, 1234567);
	ck_assert_uint_eq(c.pid, (uint32_t)getpid());
	ck_assert_int_gt(c.heartbeat_realtime_s, 1600000000);
	ck_assert_uint_eq(c.n, 4);
	for (size_t i = 1; i < c.n; i++) {
		ck_assert_int_lt(strcmp(c.values[i - 1].name, c.values[i].name), 0);
	}
	ck_assert(find(&c, "a")->value == -3 && !find(&c, "a")->text);
	ck_assert(find(&c, "b_total{class=\"smp\"}")->value == 1.5);
	ck_assert_str_eq(stats_copy_text(&c, "sweep_phase"), "discover");
	ck_assert_str_eq(stats_copy_text(&c, "not_ready"), "");
	ck_assert_ptr_null(stats_copy_text(&c, "nothing"));
	ck_assert_ptr_null(stats_copy_text(&c, "a"));
	stats_set(s, "a", 4);
	stats_text(s, "sweep_phase", "idle");
	ck_assert_int_eq(stats_commit(s, 1234568), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.heartbeat_ms, 1234568);
	ck_assert(find(&c, "a")->value == 4);
	ck_assert_str_eq(stats_copy_text(&c, "sweep_phase"), "idle");
	ck_assert_uint_eq(c.n, 4);
	stats_reader_close(r);
}
END_TEST

/* One that is removed is gone for readers, also before the first commit, and may come again. */
START_TEST(test_removed)
{
	struct stats_reader *r = reader();
	struct stats_copy c;

	stats_set(s, "never", 1);
	stats_remove(s, "never");
	stats_set(s, "a", 1);
	stats_set(s, "b", 2);
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	stats_remove(s, "a");
	stats_remove(s, "nothing");
	ck_assert_int_eq(stats_commit(s, 2), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.n, 1);
	ck_assert_ptr_nonnull(find(&c, "b"));
	stats_set(s, "a", 1);
	ck_assert_int_eq(stats_commit(s, 3), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.n, 2);
	ck_assert(find(&c, "a")->value == 1);
	stats_reader_close(r);
}
END_TEST

/* No room for a commit: the figures stay those of the last one, and the sign of life goes on and says
 * why, until there is room again. */
START_TEST(test_full)
{
	struct stats_copy c;
	struct stats_reader *r = reader();
	struct rlimit limit, old;

	ck_assert_int_eq(stats_commit(s, 1000), E_OK);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 4096; /* no page behind the first */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	stats_set(s, "a", 1);
	ck_assert_int_ne(stats_commit(s, 2000), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.heartbeat_ms, 1000);
	ck_assert_uint_eq(c.alive_ms, 2000);
	ck_assert_int_eq(c.trouble, E_FULL);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_int_eq(stats_commit(s, 3000), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.heartbeat_ms, 3000);
	ck_assert_uint_eq(c.alive_ms, 3000);
	ck_assert_int_eq(c.trouble, E_OK);
	stats_reader_close(r);
}
END_TEST

START_TEST(test_not_ready)
{
	struct stats_copy c;
	struct stats_reader *r = NULL;
	char other[300];
	snprintf(other, sizeof(other), "%s/nowhere", dir);
	ck_assert_int_eq(stats_reader_open(other, &r), E_NOTREADY);
	r = reader();
	ck_assert_int_eq(stats_read(r, arena, &c), E_NOTREADY);
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.n, 0);
	stats_reader_close(r);
}
END_TEST

START_TEST(test_restart_forgets)
{
	struct stats_copy c;
	struct stats_reader *r = reader();
	stats_set(s, "old", 1);
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	stats_close(s);
	open_writer();
	/* until the first commit the last values and their old heartbeat are what there
	 * is */
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_ptr_nonnull(find(&c, "old"));
	stats_set(s, "new", 1);
	ck_assert_int_eq(stats_commit(s, 2), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_ptr_null(find(&c, "old"));
	ck_assert_ptr_nonnull(find(&c, "new"));
	stats_reader_close(r);
}
END_TEST

START_TEST(test_limits)
{
	struct stats_copy c;
	struct stats_reader *r = reader();
	char name[STATS_NAME_MAX + 2], text[STATS_TEXT_MAX + 10];
	memset(name, 'n', sizeof(name));
	name[STATS_NAME_MAX + 1] = '\0';
	memset(text, 't', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	stats_set(s, name, 1);
	ck_assert_int_eq(stats_commit(s, 1), E_RANGE);
	stats_set(s, "", 1);
	ck_assert_int_eq(stats_commit(s, 1), E_RANGE);
	name[STATS_NAME_MAX] = '\0';
	stats_text(s, name, text);
	ck_assert_int_eq(stats_commit(s, 2), E_OK);
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(strlen(stats_copy_text(&c, name)), STATS_TEXT_MAX);
	stats_reader_close(r);
}
END_TEST

/* Each commit's values all carry the same number: a mixture of two would show. */
START_TEST(test_never_torn)
{
	struct stats_reader *r = reader();
	char name[32];
	for (unsigned i = 1; i <= 300; i++) {
		struct stats_copy c;
		for (unsigned k = 0; k < 40; k++) {
			snprintf(name, sizeof(name), "v%u", k);
			stats_set(s, name, i);
		}
		ck_assert_int_eq(stats_commit(s, i * 500), E_OK);
		ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
		ck_assert_uint_eq(c.n, 40);
		for (unsigned k = 0; k < 40; k++) {
			ck_assert(c.values[k].value == i);
		}
	}
	struct stat st;
	char path[300];
	snprintf(path, sizeof(path), "%s/stats/data.mdb", dir);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_lt(st.st_size, 1 << 20);
	stats_reader_close(r);
}
END_TEST

START_TEST(test_damaged)
{
	struct stats_copy c;
	struct stats_reader *r = NULL;
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_val k = { 1, (void *)"x" }, v = { 3, (void *)"\0ab" };
	char path[300];
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	stats_close(s);
	snprintf(path, sizeof(path), "%s/stats", dir);
	ck_assert_int_eq(mdb_env_create(&env), 0);
	ck_assert_int_eq(mdb_env_set_maxdbs(env, 8), 0);
	ck_assert_int_eq(mdb_env_open(env, path, 0, 0600), 0);
	ck_assert_int_eq(mdb_txn_begin(env, NULL, 0, &txn), 0);
	ck_assert_int_eq(mdb_dbi_open(txn, "values", 0, &dbi), 0);
	ck_assert_int_eq(mdb_put(txn, dbi, &k, &v, 0), 0);
	ck_assert_int_eq(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
	/* a commit of ours rewrites the head: with another's id the root counts as torn
	 */
	ck_assert_int_ne(stats_reader_open(dir, &r), E_OK);
	ck_assert_ptr_null(r);
	open_writer();
	stats_set(s, "y", 1);
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	r = reader();
	ck_assert_int_eq(stats_read(r, arena, &c), E_OK);
	ck_assert_uint_eq(c.n, 1);
	stats_reader_close(r);
}
END_TEST

/* --- events ------------------------------------------------------------------------------ */

static struct stats_events events_from(uint64_t from, size_t max)
{
	struct stats_events ev;
	struct stats_reader *r = reader();

	ck_assert_int_eq(stats_read_events(r, from, max, arena, &ev), E_OK);
	stats_reader_close(r);
	return ev;
}

static void add_events(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct fabric_event e = { .kind = EVENT_HOST_GONE,
			           .node_guid = stats_event_next(s) };
		ck_assert_uint_eq(stats_event(s, &e), e.node_guid);
	}
}

/* Rows are numbered without a gap, and each has what it was given. */
static void check_numbers(const struct stats_events *ev, uint64_t from, size_t n)
{
	ck_assert_uint_eq(ev->n, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(ev->events[i].seq, from + i);
		ck_assert_uint_eq(ev->events[i].node_guid, from + i);
	}
}

START_TEST(test_event_row)
{
	const struct fabric_event e = { .time_s = 1700000000,
		                 .clock_ms = 77,
		                 .kind = EVENT_CABLE_LOST,
		                 .flags = EVENT_PEER_SHARES_NAME,
		                 .port = 3,
		                 .peer_port = 254,
		                 .node_guid = UINT64_MAX,
		                 .peer_guid = 0x10,
		                 .epoch = 9,
		                 .duration_ms = 1,
		                 .paths_moved = 2,
		                 .lft_blocks = 4,
		                 .node = "leaf {port}",
		                 .peer = "spine",
		                 .cause = "trap",
		                 .detail = "d" };
	char text[EVENT_TEXT_BYTES];
	struct stats_events ev;

	ck_assert_uint_eq(stats_event(s, &e), 1);
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	ev = events_from(0, 10);
	ck_assert_uint_eq(ev.first, 1);
	ck_assert_uint_eq(ev.next, 2);
	ck_assert_uint_eq(ev.n, 1);
	const struct fabric_event *f = ev.events;
	ck_assert(f->seq == 1 && f->time_s == e.time_s && f->clock_ms == 77 &&
	          f->kind == e.kind && f->flags == e.flags && f->port == 3 &&
	          f->peer_port == 254 && f->node_guid == e.node_guid &&
	          f->peer_guid == 0x10 && f->epoch == 9 && f->duration_ms == 1 &&
	          f->paths_moved == 2 && f->lft_blocks == 4);
	ck_assert_str_eq(f->node, e.node);
	ck_assert_str_eq(f->peer, e.peer);
	ck_assert_str_eq(f->cause, e.cause);
	ck_assert_str_eq(f->detail, e.detail);
	ck_assert_str_eq(
		event_text(f, text, sizeof(text)),
		"cable lost: 'leaf {port}' port 3 - 'spine' (0x0000000000000010) port 254");
	ck_assert_str_eq(event_text(f, text, 9), "cable lo");
}
END_TEST

/* Every kind has a name of its own, a sentence of known words, and help. */
START_TEST(test_event_kinds)
{
	const struct event_type *t = &event_types[_i];
	struct fabric_event e = { .kind = (enum event_kind)_i, .node_guid = 1, .peer_guid = 2 };
	char text[EVENT_TEXT_BYTES];

	for (int i = 0; i < _i; i++) {
		ck_assert_str_ne(event_types[i].name, t->name);
	}
	ck_assert_uint_lt(t->severity, EVENT_SEVERITIES);
	ck_assert(t->help[0] != '\0' && t->help[strlen(t->help) - 1] != '.');
	event_text(&e, text, sizeof(text));
	ck_assert_msg(text[0] != '\0' && strpbrk(text, "{}") == NULL, "%s", text);
	for (const char *p = t->sentence; (p = strchr(p, '{')) != NULL; p++) {
		static const char *const words[] = { "{node}", "{port}", "{peer}",
			                             "{peer_port}", "{detail}" };
		bool known = false;

		for (unsigned i = 0; i < 5; i++) {
			known |= strncmp(p, words[i], strlen(words[i])) == 0;
		}
		ck_assert_msg(known, "%s", p);
	}
}
END_TEST

/* The number of a row never comes again, and rows outlive the daemon. */
START_TEST(test_event_numbers)
{
	struct stats_events ev = { .n = 1 };
	struct stats_reader *r = reader();

	ck_assert_int_eq(stats_read_events(r, 0, 10, arena, &ev), E_NOTREADY);
	stats_reader_close(r);
	add_events(3);
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	add_events(2); /* lost with the process */
	stats_close(s);
	open_writer();
	ck_assert_uint_eq(stats_event_next(s), 4);
	stats_set(s, "x", 1);
	ck_assert_int_eq(stats_commit(s, 2), E_OK);
	ev = events_from(0, 10);
	check_numbers(&ev, 1, 3);
	add_events(2);
	ck_assert_int_eq(stats_commit(s, 3), E_OK);
	ev = events_from(3, 10);
	check_numbers(&ev, 3, 3);
	ck_assert_uint_eq(ev.next, 6);
	ev = events_from(3, 2);
	check_numbers(&ev, 3, 2);
	ck_assert_uint_eq(events_from(6, 10).n, 0);
	ck_assert_uint_eq(events_from(7, 10).n, 0);
	ck_assert_uint_eq(events_from(UINT64_MAX, 10).n, 0);
	stats_event_raise(s, 100);
	stats_event_raise(s, 50);
	add_events(1);
	ck_assert_int_eq(stats_commit(s, 4), E_OK);
	ev = events_from(6, 10);
	check_numbers(&ev, 100, 1);
	ck_assert_uint_eq(ev.first, 1);
}
END_TEST

/* Only the newest rows stay, however the limit and the commits lie. */
START_TEST(test_event_limit)
{
	static const unsigned burst[] = { 1, 4, 5, 6, 9, 10, 11, 100 };
	struct stats_events ev;
	uint64_t next = 1;

	stats_event_limit(s, 5);
	for (unsigned i = 0; i < sizeof(burst) / sizeof(burst[0]); i++) {
		add_events(burst[i]);
		next += burst[i];
		ck_assert_int_eq(stats_commit(s, i + 1), E_OK);
		ev = events_from(0, 1000);
		ck_assert_uint_eq(ev.next, next);
		ck_assert_uint_eq(ev.first, next > 6 ? next - 5 : 1);
		check_numbers(&ev, ev.first, next > 6 ? 5 : next - 1);
	}
	stats_event_limit(s, 2);
	add_events(1);
	ck_assert_int_eq(stats_commit(s, 20), E_OK);
	ev = events_from(0, 1000);
	check_numbers(&ev, next - 1, 2);
	stats_close(s);
	open_writer();
	stats_event_limit(s, 1);
	ck_assert_int_eq(stats_commit(s, 21),
	                 E_OK); /* the limit holds for old rows, too */
	ev = events_from(0, 1000);
	check_numbers(&ev, next, 1);
	ck_assert_uint_eq(ev.first, next);
}
END_TEST

/* Texts that are too long, and bytes that are none, neither fail nor spill. */
START_TEST(test_event_long)
{
	char longer[1000];
	struct fabric_event e = { .kind = EVENT_SWEEP_FAILED,
		           .node = longer,
		           .peer = longer,
		           .cause = longer,
		           .detail = longer };
	struct stats_events ev;

	memset(longer, 0xc3, sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	stats_event(s, &e);
	ck_assert_int_eq(stats_commit(s, 1), E_OK);
	ev = events_from(0, 1);
	ck_assert_uint_eq(strlen(ev.events[0].node), EVENT_NAME_BYTES);
	ck_assert_uint_eq(strlen(ev.events[0].peer), EVENT_NAME_BYTES);
	ck_assert_uint_eq(strlen(ev.events[0].cause), EVENT_CAUSE_BYTES);
	ck_assert_uint_eq(strlen(ev.events[0].detail), EVENT_DETAIL_BYTES);
}
END_TEST

TEST_SUITE(stats)
{
	TCase *t = tcase_create("stats");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_values);
	tcase_add_test(t, test_removed);
	tcase_add_test(t, test_full);
	tcase_add_test(t, test_not_ready);
	tcase_add_test(t, test_restart_forgets);
	tcase_add_test(t, test_limits);
	tcase_add_test(t, test_never_torn);
	tcase_add_test(t, test_damaged);
	tcase_add_test(t, test_event_row);
	tcase_add_loop_test(t, test_event_kinds, 0, EVENT_KINDS);
	tcase_add_test(t, test_event_numbers);
	tcase_add_test(t, test_event_limit);
	tcase_add_test(t, test_event_long);
	suite_add_tcase(suite, t);
}
