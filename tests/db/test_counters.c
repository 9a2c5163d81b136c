/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Rows of port counters: what is read is what was written, histories, ports that go. */
#include <check.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/counters.h"
#include "db/stats/stats.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

static char dir[256];
static struct arena *arena;
static struct stats *s;
static struct stats_reader *r;

static void open_writer(void)
{
	const char *why = "";

	ck_assert_msg(stats_open(dir, arena, &why, &s) == E_OK, "%s", why);
}

static void setup(void)
{
	make_tmp(dir);
	arena = arena_new();
	open_writer();
	ck_assert_int_eq(stats_reader_open(dir, &r), E_OK);
}

static void teardown(void)
{
	stats_reader_close(r);
	stats_close(s);
	arena_free(arena);
	remove_tree(dir);
}

/* A reading whose every member depends on the arguments. */
static struct port_counters reading(uint64_t guid, uint8_t port, unsigned n)
{
	struct port_counters c = { .node_guid = guid,
		                   .port = port,
		                   .time_s = 1700000000 + n,
		                   .interval_ms = n > 0 ? 2000 : 0,
		                   .known = 0xffffffu >> (n % 3),
		                   .saturated = n % 2 };

	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		c.value[i] = guid * 1000 + port * 100 + n * 10 + i;
		c.delta[i] = n * (i + 1);
	}
	return c;
}

static void commit(void)
{
	static uint64_t ms = 1000;

	ck_assert_int_eq(stats_commit(s, ms += 1000), E_OK);
}

static void same(const struct port_counters *a, const struct port_counters *b)
{
	ck_assert_uint_eq(a->node_guid, b->node_guid);
	ck_assert_uint_eq(a->port, b->port);
	ck_assert_int_eq(a->time_s, b->time_s);
	ck_assert_uint_eq(a->interval_ms, b->interval_ms);
	ck_assert_uint_eq(a->known, b->known);
	ck_assert_uint_eq(a->saturated, b->saturated);
	ck_assert_mem_eq(a->value, b->value, sizeof(a->value));
	ck_assert_mem_eq(a->delta, b->delta, sizeof(a->delta));
}

/* Rows come in the order of GUID and port, from any place on, and no more than wanted. */
START_TEST(rows_in_order)
{
	const uint64_t guid[] = { 9, 3, 0xfffffffffffffffe };
	struct stats_counter_list list;

	for (unsigned i = 0; i < 3; i++) {
		for (uint8_t port = 4; port > 0; port--) {
			struct port_counters c = reading(guid[i], port, 1);
			ck_assert_int_eq(stats_counters(s, &c), E_OK);
		}
	}
	commit();
	ck_assert_int_eq(stats_read_counters(r, 0, 0, 100, false, arena, &list), E_OK);
	ck_assert_uint_eq(list.n, 12);
	ck_assert(!list.more);
	const uint64_t order[] = { 3, 9, 0xfffffffffffffffe };
	for (unsigned i = 0; i < 12; i++) {
		struct port_counters c = reading(order[i / 4], (uint8_t)(i % 4 + 1), 1);
		same(&list.ports[i], &c);
	}
	ck_assert_int_eq(stats_read_counters(r, 9, 3, 2, false, arena, &list), E_OK);
	ck_assert_uint_eq(list.n, 2);
	ck_assert(list.more);
	ck_assert_uint_eq(list.ports[0].port, 3);
	ck_assert_uint_eq(list.ports[1].port, 4);
	ck_assert_int_eq(stats_read_counters(r, 9, 5, 4, false, arena, &list), E_OK);
	ck_assert_uint_eq(list.n, 4);
	ck_assert(!list.more);
	ck_assert_uint_eq(list.ports[0].node_guid, 0xfffffffffffffffe);
}
END_TEST

/* The history has the newest readings, oldest first; the first reading, which has no interval,
 * is none of them. */
START_TEST(history)
{
	struct port_counters c;

	stats_counters_history(s, 5);
	for (unsigned n = 0; n < 9; n++) {
		c = reading(7, 1, n);
		ck_assert_int_eq(stats_counters(s, &c), E_OK);
		if (n == 4) { /* a reading that replaces one that was not committed */
			continue;
		}
		commit();
	}
	ck_assert_int_eq(read_port_counters(r, 7, 1, arena, &c), E_OK);
	ck_assert_uint_eq(c.n_samples, 5);
	const unsigned kept[] = { 3, 5, 6, 7, 8 };
	for (unsigned i = 0; i < 5; i++) {
		const struct counter_sample *sample = &c.samples[i];
		unsigned n = kept[i];
		uint64_t errors = 0;

		for (unsigned k = 0; k < PORT_COUNTERS; k++) {
			errors += counter_types[k].kind == COUNTER_IS_ERROR ? n * (k + 1) : 0;
		}
		ck_assert_int_eq(sample->time_s, 1700000000 + n);
		ck_assert_float_eq(sample->xmit, (float)(n * (COUNTER_XMIT_DATA + 1) / 2.0));
		ck_assert_float_eq(sample->rcv, (float)(n * (COUNTER_RCV_DATA + 1) / 2.0));
		ck_assert_uint_eq(sample->errors, errors);
		ck_assert_uint_eq(sample->wait, n * (COUNTER_XMIT_WAIT + 1));
	}
	stats_counters_history(s, 2); /* shorter from now on */
	c = reading(7, 1, 20);
	ck_assert_int_eq(stats_counters(s, &c), E_OK);
	commit();
	ck_assert_int_eq(read_port_counters(r, 7, 1, arena, &c), E_OK);
	ck_assert_uint_eq(c.n_samples, 2);
	ck_assert_int_eq(c.samples[0].time_s, 1700000008);
	ck_assert_int_eq(c.samples[1].time_s, 1700000020);
}
END_TEST

START_TEST(port_is_gone)
{
	struct port_counters c = reading(7, 1, 1), other = reading(7, 2, 1);

	ck_assert_int_eq(read_port_counters(r, 7, 1, arena, &c), E_NOTREADY);
	commit();
	ck_assert_int_eq(read_port_counters(r, 7, 1, arena, &c), E_NOTFOUND);
	ck_assert_int_eq(stats_counters(s, &c), E_OK);
	ck_assert_int_eq(stats_counters(s, &other), E_OK);
	commit();
	ck_assert_int_eq(stats_counters(s, &c), E_OK); /* read and gone before a commit */
	ck_assert_int_eq(stats_counters_gone(s, 7, 1), E_OK);
	ck_assert_int_eq(stats_counters_gone(s, 8, 1), E_OK); /* never was there */
	commit();
	ck_assert_int_eq(read_port_counters(r, 7, 1, arena, &c), E_NOTFOUND);
	ck_assert_int_eq(read_port_counters(r, 7, 2, arena, &c), E_OK);
}
END_TEST

/* Counters of an earlier process are not shown as those of this one. */
START_TEST(next_process_begins_anew)
{
	struct port_counters c = reading(7, 1, 1);

	ck_assert_int_eq(stats_counters(s, &c), E_OK);
	commit();
	stats_close(s);
	open_writer();
	commit();
	ck_assert_int_eq(read_port_counters(r, 7, 1, arena, &c), E_NOTFOUND);
}
END_TEST

START_TEST(names)
{
	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		const char *name = counter_types[i].name;

		ck_assert_uint_eq(counters_by_name(name, strlen(name)), i);
		ck_assert_uint_eq(counters_by_name(name, strlen(name) - 1), PORT_COUNTERS);
	}
}
END_TEST

TEST_SUITE(counters)
{
	TCase *tc = tcase_create("counters");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rows_in_order);
	tcase_add_test(tc, history);
	tcase_add_test(tc, port_is_gone);
	tcase_add_test(tc, next_process_begins_anew);
	tcase_add_test(tc, names);
	suite_add_tcase(suite, tc);
}
