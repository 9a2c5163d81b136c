/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A state database of which bytes were changed: a saguarod that starts with it either refuses it and
 * says what helps, or brings the subnet up.
 */
#include <fcntl.h>

#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { PAGE = 4096, FLIPS = 12 };

static struct sweep_fixture *fixture;
static char file[128];
static uint8_t *sound; /* [size] the file as it was */
static size_t size;
static uint64_t seed;

static uint32_t below(size_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % n);
}

static void write_file(size_t at, const uint8_t *bytes, size_t len)
{
	int fd = open(file, O_WRONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, len, (off_t)at), (ssize_t)len);
	close(fd);
}

static void setup(void)
{
	struct stat st;
	int fd;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 6 6 3", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_stop(fixture);
	snprintf(file, sizeof(file), "%s/data.mdb", fixture->state_dir);
	fd = open(file, O_RDONLY);
	ck_assert_int_eq(fstat(fd, &st), 0);
	size = (size_t)st.st_size;
	sound = malloc(size);
	ck_assert_int_eq(read(fd, sound, size), (ssize_t)size);
	close(fd);
}

static void teardown(void)
{
	free(sound);
	fixture_free(fixture);
}

/* The place of a byte: in a head, in that of a page, or anywhere that is in use. */
static size_t draw_place(void)
{
	size_t at;

	switch (below(4)) {
	case 0: return below(2) * PAGE + below(160);
	case 1: return (2 + below(size / PAGE - 2)) * PAGE + below(64);
	default: break;
	}
	do {
		at = below(size);
	} while (sound[at] == 0 && below(50) != 0);
	return at;
}

/* \return false: it refuses the file, and says why and what helps. */
static bool accepts(void)
{
	struct arena *a = arena_new();
	const char *why = "";
	struct state *s = NULL;
	int ret = state_open(fixture->state_dir, a, &why, &s);

	if (ret != E_OK) {
		ck_assert_msg(strstr(why, fixture->state_dir) != NULL &&
		                      (strstr(why, "move it away") != NULL ||
		                       strstr(why, "choose another folder") != NULL),
		              "%s", why);
	}
	state_close(s);
	arena_free(a);
	return ret == E_OK;
}

START_TEST(flipped)
{
	seed = (uint64_t)_i + 1;
	for (unsigned n = 0; n < FLIPS; n++) {
		size_t at = draw_place();
		uint8_t byte = sound[at] ^ (uint8_t)(1u << below(8));

		write_file(at, &byte, 1);
		if (accepts()) {
			fixture_start(fixture);
			fixture_run_ms(fixture, 40000);
			ck_assert_msg(sweep_status(fixture->sweep)->up,
			              "byte %zu is 0x%02x, was 0x%02x: %s", at, byte,
			              sound[at], sweep_status(fixture->sweep)->not_ready);
			fixture_stop(fixture);
		}
		write_file(0, sound, size);
	}
	ck_assert(accepts());
}
END_TEST

/* --- a row that nobody here wrote --------------------------------------------------- */

static void on_stored(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

static const struct {
	enum record_table table;
	const char *code; /* what the log says in the next heavy sweep */
} wrong[] = {
	{ RECORDS_KNOWN, "SAG-SM-022" },
	{ RECORDS_ACKS, "SAG-SM-023" },
	{ RECORDS_PARTITIONS, "SAG-PKEY-003" },
};

/* Partitions that operators made say who may speak to whom, so nothing is done without
 * them. */
static void refuses_to_start(const char *code)
{
	struct sweep_deps deps = fixture->deps;
	struct arena *a = arena_new();
	struct sweep *s = NULL;
	const char *why = "";

	fixture_stop(fixture);
	ck_assert_int_eq(state_open(fixture->state_dir, a, &why, &deps.state), E_OK);
	deps.snap = NULL;
	deps.stats = NULL;
	fixture_log(fixture);
	ck_assert_int_eq(sweep_new(&deps, &s), E_MALFORMED);
	ck_assert_ptr_null(s);
	ck_assert_uint_eq(fixture_logged(fixture, code), 1);
	state_close(deps.state);
	arena_free(a);
}

static void put_wrong(enum record_table table)
{
	struct state_batch *b;
	int stored = -1;

	ck_assert_int_eq(state_batch_new(&b), E_OK);
	ck_assert_int_eq(state_batch_put(b, table, "xy", 2, "z", 1), E_OK);
	state_batch_commit(fixture->state, b, on_stored, &stored);
	state_flush(fixture->state);
	ck_assert_int_eq(stored, E_OK);
}

/* A row of a size that this version does not know comes while saguarod runs. What an
 * operator or the sweep keeps there is not read, which the log says, and the fabric is
 * served. */
START_TEST(wrong_row)
{
	fixture_start(fixture);
	fixture_up(fixture);
	put_wrong(wrong[_i].table);
	fixture_log(fixture);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 20000);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "table %d: %s", wrong[_i].table,
	              sweep_status(fixture->sweep)->not_ready);
	ck_assert_uint_gt(fixture_logged(fixture, wrong[_i].code), 0);
	if (wrong[_i].table == RECORDS_PARTITIONS) { /* those that were read before */
		fixture_log(fixture);
		ck_assert_ptr_nonnull(sweep_runtime_partitions(fixture->sweep));
		ck_assert_uint_eq(fixture_logged(fixture, wrong[_i].code), 1);
		refuses_to_start(wrong[_i].code);
		ck_assert_uint_eq(
			fixture_logged(fixture, "0x7879 of its table partitions"), 1);
	}
}
END_TEST

/* Tables without which hosts would lose what they have: the fabric is not changed, and the row and
 * the remedy are named. */
static const struct {
	enum record_table table;
	const char *name;
} stops[] = {
	{ RECORDS_GROUPS, "row 0x7879 of its table groups" },
	{ RECORDS_MEMBERS, "row 0x7879 of its table members" },
	{ RECORDS_GUIDS, "row 0x7879 of its table guids" },
};

START_TEST(wrong_row_is_named)
{
	const struct sweep_status *st;

	fixture_start(fixture);
	fixture_up(fixture);
	put_wrong(stops[_i].table);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 20000);
	st = sweep_status(fixture->sweep);
	ck_assert(!st->up);
	ck_assert_msg(strstr(st->not_ready, stops[_i].name) != NULL, "%s", st->not_ready);
	ck_assert_msg(strstr(st->not_ready, fixture->state_dir) != NULL, "%s",
	              st->not_ready);
	ck_assert_msg(strstr(st->not_ready, "restore data.mdb there") != NULL, "%s",
	              st->not_ready);
}
END_TEST

TEST_SUITE(sweep_state)
{
	TCase *tc = tcase_create("state");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, flipped, 0, 20);
	tcase_add_loop_test(tc, wrong_row, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_loop_test(tc, wrong_row_is_named, 0, sizeof(stops) / sizeof(stops[0]));
	suite_add_tcase(suite, tc);
}
