/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/mad_buf.h"
#include "sa/mad/wakeup.h"
#include "tests/lib/suite.h"

/* Buffers, and the queue that both transports make of them and a waker. */

START_TEST(first_in_first_out)
{
	struct mad_pool pool = { 0 };
	struct mad_list list = { 0 };
	uint8_t mad[MAD_BYTES] = { 1, 0x81 };

	ck_assert_ptr_null(mad_list_pop(&list));
	for (unsigned i = 0; i < 200; i++) {
		mad[8] = (uint8_t)i;
		struct mad_buf *m = mad_pool_get(&pool, mad, sizeof(mad));
		ck_assert_ptr_nonnull(m);
		mad_list_push(&list, m);
	}
	ck_assert_uint_eq(list.n, 200);
	for (unsigned i = 0; i < 200; i++) {
		struct mad_buf *m = mad_list_pop(&list);
		struct mad_msg msg = mad_buf_msg(m);
		ck_assert_uint_eq(msg.mgmt_class, 0x81);
		ck_assert_uint_eq(msg.len, MAD_BYTES);
		ck_assert_uint_eq(msg.data[8], i);
		mad_pool_put(&pool, m);
	}
	ck_assert_ptr_null(mad_list_pop(&list));
	ck_assert_uint_eq(list.n, 0);
	mad_pool_done(&pool);
}
END_TEST

START_TEST(buffers_come_back)
{
	enum { LONG = 100000 };
	struct mad_pool pool = { 0 };
	uint8_t *data = calloc(1, LONG);

	data[LONG - 1] = 9;
	struct mad_buf *m = mad_pool_get(&pool, data, LONG);
	m->status = E_TIMEOUT;
	m->addr.lid = 7;
	ck_assert_uint_eq(m->data[LONG - 1], 9);
	mad_pool_put(&pool, m);
	for (unsigned i = 0; i < 1000; i++) {
		struct mad_buf *again = mad_pool_get(&pool, data, 24);
		ck_assert_ptr_eq(again, m);
		ck_assert_int_eq(again->status, 0);
		ck_assert_uint_eq(again->addr.lid, 0);
		ck_assert_uint_eq(again->len, 24);
		mad_pool_put(&pool, again);
	}
	ck_assert_uint_eq(pool.n_chunks, 1);
	mad_pool_put(&pool, NULL);
	mad_pool_done(&pool);
	free(data);
}
END_TEST

enum { PUTTERS = 4, EACH = 20000 };

struct queue {
	pthread_mutex_t lock;
	struct wakeup waker;
	struct mad_pool pool;
	struct mad_list list;
};

struct putter {
	struct queue *q;
	uint8_t id;
};

static void *put(void *arg)
{
	const struct putter *p = arg;
	uint8_t mad[MAD_BYTES] = { p->id };
	for (uint32_t i = 0; i < EACH; i++) {
		memcpy(mad + 4, &i, sizeof(i));
		pthread_mutex_lock(&p->q->lock);
		mad_list_push(&p->q->list, mad_pool_get(&p->q->pool, mad, sizeof(mad)));
		pthread_mutex_unlock(&p->q->lock);
		wakeup_notify(&p->q->waker);
	}
	return NULL;
}

START_TEST(no_wake_up_is_lost)
{
	/* The taker sleeps without a deadline: a lost wake-up is the test's time limit.
	 */
	struct queue q = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct putter p[PUTTERS];
	pthread_t thread[PUTTERS];
	uint32_t next[PUTTERS] = { 0 };

	ck_assert_int_eq(wakeup_init(&q.waker), E_OK);
	for (uint8_t i = 0; i < PUTTERS; i++) {
		p[i] = (struct putter){ &q, i };
		ck_assert_int_eq(pthread_create(&thread[i], NULL, put, &p[i]), 0);
	}
	for (uint32_t got = 0; got < PUTTERS * EACH;) {
		pthread_mutex_lock(&q.lock);
		struct mad_buf *m = mad_list_pop(&q.list);
		if (m == NULL) {
			wakeup_arm(&q.waker);
			pthread_mutex_unlock(&q.lock);
			wakeup_sleep(&q.waker, UINT64_MAX);
			continue;
		}
		uint32_t i;
		memcpy(&i, m->data + 4, sizeof(i));
		ck_assert_uint_eq(i, next[m->data[0]]++);
		mad_pool_put(&q.pool, m);
		pthread_mutex_unlock(&q.lock);
		got++;
	}
	for (unsigned i = 0; i < PUTTERS; i++) {
		pthread_join(thread[i], NULL);
	}
	mad_pool_done(&q.pool);
	wakeup_done(&q.waker);
}
END_TEST

START_TEST(wake_is_seen_once)
{
	struct wakeup w = { 0 };
	ck_assert_int_eq(wakeup_init(&w), E_OK);
	ck_assert(!wakeup_take_interrupt(&w));
	wakeup_interrupt(&w);
	wakeup_interrupt(&w);
	wakeup_arm(&w);
	wakeup_sleep(&w, UINT64_MAX); /* does not sleep */
	ck_assert(wakeup_take_interrupt(&w));
	ck_assert(!wakeup_take_interrupt(&w));
	uint64_t t0 = wakeup_now_us();
	do { /* what is left in the descriptor may end one sleep early */
		wakeup_arm(&w);
		wakeup_sleep(&w, t0 + 3000);
	} while (wakeup_now_us() < t0 + 3000);
	ck_assert(!wakeup_take_interrupt(&w));
	wakeup_done(&w);
}
END_TEST

TEST_SUITE(mad_buf)
{
	TCase *tc = tcase_create("queue");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, first_in_first_out);
	tcase_add_test(tc, buffers_come_back);
	tcase_add_test(tc, no_wake_up_is_lost);
	tcase_add_test(tc, wake_is_seen_once);
	suite_add_tcase(suite, tc);
}
