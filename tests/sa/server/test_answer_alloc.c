/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Memory runs out at any place of an answer: the client gets the whole answer, or hears that there
 * are no resources, and a refused change leaves no part of itself behind.
 */
#include <check.h>
#include <errno.h>

#include "sa/record/attributes.h"
#include "sa/server/port_watch.h"
#include "sa/store/mcast.h"
#include "tests/alloc/alloc_fail.h"
#include "tests/lib/client_rows.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/suite.h"

enum { MCMEMBER_RECORD = 0x38, MP_COUNTS = 0x180000, MP_INDEPENDENCE = 1 << 17 };

static void setup(void)
{
	start_lmc(1, 0, PATH_PAIRWISE);
	w->content.multicast_fdb_cap = 8;
	query_fixture_publish(w, PATH_PAIRWISE);
	query_fixture_written(w);
	open_store();
	ck_assert_int_eq(mcast_after_sweep(store, w->r), E_OK);
	ck_assert_int_eq(make_durable(), E_OK);
	asker = lid_of(HOST + 1);
}

static void teardown(void)
{
	close_store();
	stop();
}

/* The n-th allocation fails alone, or with all later ones. */
static void fail_next(size_t n, bool with_later)
{
	if (with_later) {
		alloc_fail_from(n);
	} else {
		alloc_fail_at(n);
	}
}

static bool is_refused(int ret)
{
	return ret == -ENOMEM ||
	       (ret == E_OK && get(reply.data + 4, 2) == NO_RESOURCES);
}

/* Asks until no allocation fails. Each answer is the whole one, or none. */
static void check_read(const struct request *q, bool with_later)
{
	size_t len;
	uint8_t *whole;

	ck_assert_int_eq(ask(q), E_OK);
	len = reply.len;
	whole = arena_alloc(w->a, len);
	memcpy(whole, reply.data, len);
	for (size_t n = 1;; n++) {
		sa_reply_done(&reply);
		fail_next(n, with_later);
		int ret = ask(q);

		if (!alloc_fail_end()) {
			ck_assert_int_eq(ret, E_OK);
			return;
		}
		if (!is_refused(ret)) {
			ck_assert_int_eq(ret, E_OK);
			ck_assert_uint_eq(reply.len, len);
			ck_assert_mem_eq(reply.data, whole, len);
		}
	}
}

START_TEST(table_without_memory)
{
	for (unsigned i = 0; i < n_sa_attrs; i++) {
		struct request q = request(GET_TABLE, sa_attrs[i]->id, 0);

		if (sa_attrs[i]->version != q.mad[2]) { /* Omni-Path */
			q.mad[0] = q.mad[2] = sa_attrs[i]->version;
		}
		trust_me(&q);
		check_read(&q, _i != 0);
	}
}
END_TEST

START_TEST(paths_without_memory)
{
	struct request gids = by_gids(GET_TABLE, HOST + 1, 0, PR_NUMB);
	struct request one = by_lids(GET, HOST + 1, TWIN_2 + 1, 0);
	struct request multi = request(GET_MULTI, MULTI_PATH_RECORD, MP_COUNTS);

	put_component(&gids, 49, 1, 7);
	put_gid(&multi, 24, FIXTURE_PREFIX, HOST + 1);
	put_gid(&multi, 40, FIXTURE_PREFIX, TWIN_2 + 1);
	put_gid(&multi, 56, FIXTURE_PREFIX, DUAL + 1);
	multi.mad[DATA + 15] = 1;
	multi.mad[DATA + 16] = 2;
	check_read(&gids, _i != 0);
	check_read(&one, _i != 0);
	check_read(&multi, _i != 0);
	put(multi.mad + 48, 8, MP_COUNTS | MP_INDEPENDENCE);
	multi.mad[DATA + 14] = 0x40;
	check_read(&multi, _i != 0);
}
END_TEST

/* --- changes ---------------------------------------------------------------------------------- */

/* What a store has: rows and their bytes, table by table. */
static uint64_t digest_of_store(void)
{
	uint64_t h = 1469598103934665603u;

	for (unsigned t = 0; t < RECORDS_OF_CLIENTS; t++) {
		const struct store_row *row = store_seek(store, t, "", 0);

		for (; row != NULL; row = store_next(store, t, row)) {
			for (unsigned i = 0; i < row->key_len + row->len; i++) {
				h = (h ^ row->bytes[i]) * 1099511628211u;
			}
			h = (h ^ t) * 1099511628211u;
		}
	}
	return h;
}

static struct request service(unsigned method)
{
	struct request q = request(method, SERVICE_RECORD, 0x43);

	put_component(&q, 0, 8, 77);
	put_gid(&q, 8, FIXTURE_PREFIX, HOST + 1);
	q.mad[DATA + 48] = 'x';
	return q;
}

static struct request subscription(unsigned method)
{
	struct request q = request(SET, INFORM_INFO, 0);

	put_component(&q, 16, 2, 0xffff); /* LIDRangeBegin: all */
	q.mad[DATA + 22] = 1;             /* IsGeneric */
	q.mad[DATA + 23] = method == SET; /* Subscribe */
	put_component(&q, 24, 2, 0xffff); /* Type: all */
	put_component(&q, 26, 2, 64);     /* TrapNumber */
	put_component(&q, 28, 4, asker_qpn << 8);
	put_component(&q, 33, 3, 4);
	return q;
}

/* Creates a group and joins it, or leaves it, which deletes it. */
static struct request member(unsigned method)
{
	struct request q = request(method, MCMEMBER_RECORD,
	                           method == SET ? 0x130c7 : 0x10003);

	put_gid(&q, 0, UINT64_C(0xff18a01b00000000), 5);
	put_gid(&q, 16, FIXTURE_PREFIX, HOST + 1);
	put_component(&q, 32, 4, 0x1234);
	put_component(&q, 40, 2, 0xffff);
	q.mad[DATA + 48] = 1;
	return q;
}

static struct request (*const changes[])(unsigned method) = { service, subscription, member };

enum { N_CHANGES = sizeof(changes) / sizeof(changes[0]) };

/* Tries until no allocation fails. */
static void check_change(const struct request *q, bool with_later)
{
	const uint64_t before = digest_of_store();

	for (size_t n = 1;; n++) {
		sa_reply_done(&reply);
		fail_next(n, with_later);
		int ret = ask(q);
		bool any = alloc_fail_end();

		if (!is_refused(ret)) {
			ck_assert_int_eq(ret, E_OK);
			ck_assert_uint_eq(get(reply.data + 4, 2), 0);
			ck_assert_uint_ne(digest_of_store(), before);
			ck_assert_int_eq(make_durable(), E_OK);
			return;
		}
		ck_assert_msg(any, "refused: %s, status 0x%04x", err_text(ret),
		              ret == E_OK ? (unsigned)get(reply.data + 4, 2) : 0);
		ck_assert_msg(digest_of_store() == before,
		              "allocation %zu failed, and something is left", n);
		ck_assert_int_eq(make_durable(), E_OK);
		ck_assert_int_eq(store_reload(store), E_OK);
		ck_assert_msg(digest_of_store() == before,
		              "allocation %zu failed, and something was stored", n);
	}
}

START_TEST(change_without_memory)
{
	struct request there = changes[_i / 2](SET), gone = changes[_i / 2](DELETE);
	const uint64_t before = digest_of_store();
	uint64_t after;

	check_change(&there, _i % 2 != 0);
	after = digest_of_store();
	ck_assert_int_eq(store_reload(store), E_OK);
	ck_assert_uint_eq(digest_of_store(), after);
	check_change(&gone, _i % 2 != 0);
	ck_assert_uint_eq(digest_of_store(), before);
	ck_assert_int_eq(store_reload(store), E_OK);
	ck_assert_uint_eq(digest_of_store(), before);
}
END_TEST

/* --- the fabric's ports ----------------------------------------------------------------------- */

START_TEST(port_list_without_memory)
{
	struct port_list whole, l;

	ck_assert_int_eq(port_watch_read(w->r, &whole), E_OK);
	ck_assert_uint_gt(whole.n_keys, 0);
	for (size_t n = 1;; n++) {
		fail_next(n, _i != 0);
		int ret = port_watch_read(w->r, &l);

		if (!alloc_fail_end()) {
			ck_assert_int_eq(ret, E_OK);
			break;
		}
		ck_assert_int_eq(ret, -ENOMEM);
	}
	ck_assert_uint_eq(l.n_keys, whole.n_keys);
	port_watch_done(&l);
	port_watch_done(&whole);
}
END_TEST

TEST_SUITE(answer_alloc)
{
	TCase *t = tcase_create("answer_alloc");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, table_without_memory, 0, 2);
	tcase_add_loop_test(t, paths_without_memory, 0, 2);
	tcase_add_loop_test(t, change_without_memory, 0, 2 * N_CHANGES);
	tcase_add_loop_test(t, port_list_without_memory, 0, 2);
	suite_add_tcase(suite, t);
}
