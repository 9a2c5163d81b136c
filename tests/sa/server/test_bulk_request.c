/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Bulk requests: which are made at once, which wait, which are refused; each answer is the whole one, whatever is made
 * between its slices.
 */
#include "sa/server/bulk_request.h"

#include <errno.h>

#include "sa/server/fair_queue.h"
#include "tests/lib/answer_util.h"
#include "tests/lib/suite.h"

enum { SLOTS = 4, WAITING = 1024, ATTRS = 5, MANY = 3000 };

static const unsigned attrs[ATTRS] = { NODE_RECORD, PORT_INFO_RECORD, LFT_RECORD,
	                               LINK_RECORD, PATH_RECORD };
static struct bulk_requests *bulk;
static struct fair_queue *queue;
static struct sa_work *work;
static struct sa_reply begun;
static unsigned n_done[ATTRS];
static unsigned n_all_done, n_refused, last_refused; /* by LID */

/* Requests of LID 1 + k are for attribute k. */
static struct request table_of(unsigned k)
{
	struct request q =
		request(GET_TABLE, attrs[k], attrs[k] == PATH_RECORD ? PR_SLID : 0);

	if (attrs[k] == PATH_RECORD) {
		put_component(&q, 42, 2, 1); /* SLID */
	}
	return q;
}

static void done(void *ctx, struct fair_queue *from, struct fair_request *q, int ret,
                 struct sa_reply *made, uint64_t ns)
{
	unsigned k = q->addr.lid - 1;
	struct request again = table_of(k);
	struct sa_reply whole = { 0 };

	ck_assert_ptr_eq(ctx, &n_done);
	ck_assert_uint_lt(ns, UINT64_C(60000000000));
	ck_assert_int_eq(ret, E_OK);
	ck_assert_int_eq(sa_answer(w->r, &limits, again.mad, 256, 1, &whole), E_OK);
	ck_assert_uint_eq(made->len, whole.len);
	ck_assert_mem_eq(made->data, whole.data, whole.len);
	sa_reply_done(&whole);
	fair_queue_release(from, q);
	n_done[k]++;
	n_all_done++;
}

static void refuse(void *ctx, const struct fair_request *q)
{
	ck_assert_ptr_eq(ctx, &n_done);
	n_refused++;
	last_refused = q->addr.lid;
}

static void setup(void)
{
	const struct bulk_requests_user user = { done, refuse, &n_done };

	start();
	memset(n_done, 0, sizeof(n_done));
	n_all_done = n_refused = 0;
	ck_assert_int_eq(fair_queue_new(MANY, &queue), E_OK);
	ck_assert_int_eq(sa_work_new(&work), E_OK);
	ck_assert_int_eq(bulk_requests_new(w->r, NULL, &limits, &user, &bulk), E_OK);
}

static void teardown(void)
{
	bulk_requests_free(bulk);
	bulk_requests_free(NULL);
	sa_work_free(work);
	sa_reply_done(&begun);
	fair_queue_free(queue);
	stop();
}

/* A request comes in and is begun. */
static struct fair_request *begin(unsigned k)
{
	struct request asked = table_of(k);
	const struct mad_msg m = { .mgmt_class = 3,
		                   .addr = { .lid = 1 + k, .qpn = 1 },
		                   .len = 256,
		                   .data = asked.mad };
	struct sa_request what;
	struct fair_request victim, *q;

	ck_assert_int_eq(sa_request_read(&m, &limits, &what), E_OK);
	ck_assert_int_eq(fair_queue_push(queue, &m, &what, &victim), FAIR_TAKEN);
	q = fair_queue_pop(queue);
	ck_assert_ptr_nonnull(q);
	ck_assert_int_eq(
		sa_work_begin(work, w->r, NULL, &limits, &q->request, &m, &begun),
		-EINPROGRESS);
	return q;
}

static enum bulk_outcome take(unsigned k)
{
	struct fair_request *q = begin(k);
	enum bulk_outcome outcome =
		bulk_requests_take(bulk, w->r, queue, q, &work, &begun);

	if (outcome != BULK_KEPT) {
		fair_queue_release(queue, q);
	}
	return outcome;
}

static void run(void)
{
	for (unsigned turns = 0; bulk_requests_busy(bulk); turns++) {
		ck_assert_uint_lt(turns, 1000000);
		bulk_requests_run(bulk);
	}
	bulk_requests_run(bulk); /* there is nothing */
}

START_TEST(takes_four_at_once)
{
	ck_assert(!bulk_requests_busy(bulk));
	for (unsigned i = 0; i < 3 * ATTRS; i++) {
		ck_assert_int_eq(take(i % ATTRS), i < SLOTS ? BULK_KEPT : BULK_WAITS);
		ck_assert(bulk_requests_busy(bulk));
	}
	run();
	for (unsigned k = 0; k < ATTRS; k++) {
		ck_assert_uint_eq(n_done[k], 3);
	}
	ck_assert_uint_eq(n_refused, 0);
	/* and their slots are free again */
	for (unsigned i = 0; i <= SLOTS; i++) {
		ck_assert_int_eq(take(0), i < SLOTS ? BULK_KEPT : BULK_WAITS);
	}
	run();
	ck_assert_uint_eq(n_all_done, 3 * ATTRS + SLOTS + 1);
}
END_TEST

/* A turn is a slice of one answer, so it ends one at most. */
START_TEST(makes_one_slice_at_a_time)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		ck_assert_int_eq(take(i), BULK_KEPT);
	}
	for (unsigned i = 0; i < SLOTS; i++) {
		unsigned before = n_all_done;

		bulk_requests_run(bulk);
		ck_assert_uint_le(n_all_done, before + 1);
	}
	run();
	ck_assert_uint_eq(n_all_done, SLOTS);
}
END_TEST

/* When no more can wait, the longest line of a requester has to yield, which may be that of the new one. */
START_TEST(refuses_what_cannot_wait)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		ck_assert_int_eq(take(0), BULK_KEPT);
	}
	for (unsigned i = 0; i < WAITING; i++) {
		ck_assert_int_eq(take(1), BULK_WAITS);
	}
	ck_assert_uint_eq(n_refused, 0);
	ck_assert_int_eq(take(1), BULK_WAITS);
	ck_assert_uint_eq(n_refused, 1);
	ck_assert_uint_eq(last_refused, 2);
	ck_assert_int_eq(take(2), BULK_WAITS);
	ck_assert_uint_eq(n_refused, 2);
	ck_assert_uint_eq(last_refused, 2);
	run();
	ck_assert_uint_eq(n_done[0], SLOTS);
	ck_assert_uint_eq(n_done[1], WAITING - 1);
	ck_assert_uint_eq(n_done[2], 1);
}
END_TEST

/* An answer that was begun with an epoch which is not the newest any more cannot be pinned anew. */
START_TEST(refuses_an_old_epoch)
{
	struct fair_request *q = begin(0);

	query_fixture_publish(w, PATH_MINIMAL);
	struct snap_reader *old = NULL;

	ck_assert_int_eq(snap_reader_clone(w->r, &old), E_OK);
	ck_assert_int_eq(snap_pin(old), E_OK);
	w->content.epoch++;
	query_fixture_publish(w, PATH_MINIMAL);
	ck_assert_int_eq(bulk_requests_take(bulk, old, queue, q, &work, &begun),
	                 BULK_REFUSED);
	ck_assert(!bulk_requests_busy(bulk));
	fair_queue_release(queue, q);
	snap_unpin(old);
	snap_reader_close(old);
	/* of the new one they can */
	ck_assert_int_eq(take(1), BULK_KEPT);
	run();
	ck_assert_uint_eq(n_done[1], 1);
}
END_TEST

TEST_SUITE(bulk_request)
{
	TCase *tc = tcase_create("bulk_request");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, takes_four_at_once);
	tcase_add_test(tc, makes_one_slice_at_a_time);
	tcase_add_test(tc, refuses_what_cannot_wait);
	tcase_add_test(tc, refuses_an_old_epoch);
	suite_add_tcase(suite, tc);
}
