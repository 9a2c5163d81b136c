/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/server/fair_queue.h"
#include "tests/lib/suite.h"

static struct fair_queue *q;

static void start(void)
{
	ck_assert_int_eq(fair_queue_new(100, &q), E_OK);
}

static void stop(void)
{
	fair_queue_free(q);
	fair_queue_free(NULL);
}

static struct fair_request victim;

/* A request number n of a LID. */
static enum fair_outcome push(uint32_t lid, uint16_t n)
{
	uint8_t mad[MAD_BYTES] = { (uint8_t)(n >> 8), (uint8_t)n };
	struct mad_msg m = { .addr.lid = lid, .len = MAD_BYTES, .data = mad };

	const struct sa_request request = { .attr = NULL };

	return fair_queue_push(q, &m, &request, &victim);
}

static unsigned number(const struct fair_request *r)
{
	return (unsigned)r->mad[0] << 8 | r->mad[1];
}

/* "LID:n LID:n ..." of what comes out, charging cost bytes for each of `dear`. */
static const char *order(unsigned most, uint32_t dear, size_t cost)
{
	static char text[4000];
	char *at = text;
	struct fair_request *r;

	*at = '\0';
	for (unsigned i = 0; i < most && (r = fair_queue_pop(q)) != NULL; i++) {
		at += sprintf(at, "%s%u:%u", i ? " " : "", r->addr.lid, number(r));
		if (r->addr.lid == dear) {
			fair_queue_charge(q, r->line, cost);
		}
		fair_queue_release(q, r);
	}
	return text;
}

START_TEST(in_turn)
{
	for (uint16_t i = 0; i < 4; i++) {
		ck_assert_int_eq(push(1, i), FAIR_TAKEN);
	}
	push(2, 0);
	push(2, 1);
	push(3, 0);
	ck_assert_uint_eq(fair_queue_length(q), 7);
	ck_assert_str_eq(order(100, 0, 0), "1:0 2:0 3:0 1:1 2:1 1:2 1:3");
	ck_assert_uint_eq(fair_queue_length(q), 0);
	ck_assert_str_eq(order(1, 0, 0), "");
}
END_TEST

/* A requester with large answers skips rounds: 10 turns of 4096 bytes. */
START_TEST(debts)
{
	for (uint16_t i = 0; i < 3; i++) {
		push(1, i);
	}
	for (uint16_t i = 0; i < 15; i++) {
		push(2, i);
	}
	ck_assert_str_eq(
		order(100, 1, 11 * 4096),
		"1:0 2:0 2:1 2:2 2:3 2:4 2:5 2:6 2:7 2:8 2:9 2:10 1:1 2:11 2:12 2:13 2:14 1:2");
	/* what the last answer cost still counts, but nobody waits who is alone */
	push(1, 7);
	push(2, 7);
	ck_assert_str_eq(order(100, 0, 0), "2:7 1:7");
	push(1, 8);
	push(2, 8);
	ck_assert_str_eq(order(100, 0, 0), "1:8 2:8");
}
END_TEST

START_TEST(full)
{
	for (uint16_t i = 0; i < 60; i++) {
		ck_assert_int_eq(push(1, i), FAIR_TAKEN);
	}
	for (uint16_t i = 0; i < 40; i++) {
		ck_assert_int_eq(push(2, i), FAIR_TAKEN);
	}
	ck_assert_int_eq(push(1, 60), FAIR_REFUSED);
	ck_assert_int_eq(push(3, 0), FAIR_EVICTED); /* the oldest of the longest */
	ck_assert(victim.addr.lid == 1 && number(&victim) == 0);
	ck_assert_int_eq(push(2, 40), FAIR_EVICTED);
	ck_assert(victim.addr.lid == 1 && number(&victim) == 1);
	ck_assert_uint_eq(fair_queue_length(q), 100);
	ck_assert_str_eq(order(4, 0, 0), "1:2 2:0 3:0 1:3");
	ck_assert_int_eq(push(1, 61), FAIR_TAKEN);
}
END_TEST

/* 100 of one each: a newcomer is not served better than those who are there. */
START_TEST(all_equal)
{
	for (uint16_t i = 0; i < 100; i++) {
		ck_assert_int_eq(push(1 + i, i), FAIR_TAKEN);
	}
	ck_assert_int_eq(push(500, 0), FAIR_REFUSED);
}
END_TEST

/* Requests that were taken and returned keep their order. */
START_TEST(returned)
{
	struct fair_request *r[6];

	for (uint16_t i = 0; i < 4; i++) {
		push(1, i);
	}
	push(2, 0);
	push(3, 0);
	push(3, 1);
	for (unsigned i = 0; i < 5; i++) { /* 1:0 2:0 3:0 1:1 3:1 */
		r[i] = fair_queue_pop(q);
		ck_assert_ptr_nonnull(r[i]);
	}
	ck_assert_uint_eq(fair_queue_length(q), 2);
	fair_queue_release(q, r[0]);
	fair_queue_charge(q, r[0]->line, 3 * 4096);
	for (unsigned i = 5; i-- > 1;) {
		fair_queue_return(q, r[i]);
	}
	ck_assert_uint_eq(fair_queue_length(q), 6);
	ck_assert_str_eq(order(100, 0, 0), "2:0 3:0 3:1 1:1 1:2 1:3");
	ck_assert_ptr_null(fair_queue_pop(q));
}
END_TEST

/* Taken ones keep their room. */
START_TEST(room)
{
	struct fair_request *r[100];

	for (uint16_t i = 0; i < 100; i++) {
		ck_assert_int_eq(push(1, i), FAIR_TAKEN);
		r[i] = fair_queue_pop(q);
	}
	ck_assert_int_eq(push(2, 0), FAIR_REFUSED);
	fair_queue_release(q, r[50]);
	ck_assert_int_eq(push(2, 0), FAIR_TAKEN);
	ck_assert_int_eq(push(2, 1), FAIR_REFUSED);
	ck_assert_str_eq(order(100, 0, 0), "2:0");
}
END_TEST

/* Random pushes, pops and returns against counts: nothing is lost, each line keeps its
 * order. */
START_TEST(random_use)
{
	enum { HELD = 5 };
	uint32_t seed = 5 + (uint32_t)_i;
	unsigned there = 0, n_held = 0, last[8] = { 0 };
	uint16_t sent[8] = { 0 };
	struct fair_request *held[HELD], *r;

	for (unsigned step = 0; step < 20000; step++) {
		seed = seed * 1664525 + 1013904223;
		uint32_t lid = seed >> 8 & 7;
		if (seed >> 30) {
			switch (push(lid, ++sent[lid])) {
			case FAIR_TAKEN: there++; break;
			case FAIR_REFUSED: break;
			case FAIR_EVICTED:
				ck_assert_uint_gt(number(&victim), last[victim.addr.lid]);
				last[victim.addr.lid] = number(&victim);
				break;
			}
		} else if (n_held < HELD) {
			r = fair_queue_pop(q);
			ck_assert((r != NULL) == (there > 0));
			if (r != NULL) {
				there--;
				ck_assert_uint_gt(number(r), last[r->addr.lid]);
				last[r->addr.lid] = number(r);
				fair_queue_charge(q, r->line, seed >> 12);
				held[n_held++] = r;
			}
		} else {
			while (n_held > 2) {
				r = held[--n_held];
				last[r->addr.lid] = number(r) - 1;
				fair_queue_return(q, r);
				there++;
			}
			while (n_held > 0) {
				fair_queue_release(q, held[--n_held]);
			}
		}
		ck_assert_uint_eq(fair_queue_length(q), there);
		ck_assert_uint_le(there + n_held, 100);
	}
}
END_TEST

TEST_SUITE(fair_queue)
{
	TCase *tc = tcase_create("queue");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, in_turn);
	tcase_add_test(tc, debts);
	tcase_add_test(tc, full);
	tcase_add_test(tc, all_equal);
	tcase_add_test(tc, returned);
	tcase_add_test(tc, room);
	tcase_add_loop_test(tc, random_use, 0, 5);
	suite_add_tcase(suite, tc);
}
