/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The request engine over a transport made for it, with a client that only notes what it is
 * told and then does what the test wants. Header bytes are those of IBA vol. 1, 13.4.3, by hand.
 */
#include <check.h>
#include <errno.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/mad/request.h"
#include "tests/lib/suite.h"

enum { SENT_MAX = 1024, MAD_MAX = 2048, CLASS = 0x21, LID = 0x0123, TIMEOUT_MS = 100 };

static struct {
	struct transport t;
	bool full;
	unsigned n;
	struct mad_msg msg[SENT_MAX];
	uint8_t mad[SENT_MAX][MAD_MAX];
} wire;

static struct requests *rs;
static struct request_client client;
static uint64_t now;
static unsigned answered, unanswered,
	tries_max; /* tries_max: of a request that has no answer */

static int keep(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	if (wire.full) {
		return -EAGAIN;
	}
	ck_assert_uint_lt(wire.n, SENT_MAX);
	wire.msg[wire.n] = *m;
	wire.msg[wire.n].data = wire.mad[wire.n];
	memcpy(wire.mad[wire.n++], m->data, m->len);
	return E_OK;
}

static const struct transport_ops wire_ops = { .name = "wire", .send = keep };

static void on_answer(void *ctx, struct mad_request *r, const struct mad_msg *m)
{
	ck_assert_ptr_eq(ctx, &wire);
	ck_assert_ptr_eq(r->job, &wire);
	ck_assert_ptr_nonnull(m->data);
	answered++;
	request_end(rs, r);
}

static void on_no_answer(void *ctx, struct mad_request *r)
{
	ck_assert_ptr_eq(ctx, &wire);
	unanswered++;
	if (r->tries < tries_max) {
		(void)request_send(rs, r, now);
	} else {
		request_end(rs, r);
	}
}

static void start(uint8_t slot_bits, uint16_t mad_bytes)
{
	memset(&wire, 0, sizeof(wire));
	wire.t.ops = &wire_ops;
	wire.t.secret[0] = 0x1234;
	client = (struct request_client){ .mgmt_class = CLASS,
		                          .slot_bits = slot_bits,
		                          .mad_bytes = mad_bytes,
		                          .answer_bytes = mad_bytes,
		                          .answered = on_answer,
		                          .unanswered = on_no_answer };
	ck_assert_int_eq(requests_new(&wire.t, &client, &wire, &rs), E_OK);
	requests_set_limits(rs, 8, TIMEOUT_MS);
	now = 1000;
	answered = unanswered = 0;
	tries_max = 1;
}

static void setup(void)
{
	start(4, MAD_BYTES);
}

static void teardown(void)
{
	requests_free(rs);
	requests_free(NULL);
}

static struct mad_request *begin(uint8_t method, uint32_t mod)
{
	struct mad_request *r = request_begin(rs, CLASS, 1, method, 0x1234, mod);

	if (r != NULL) {
		r->job = &wire;
		r->addr = (struct mad_addr){ .lid = LID, .qpn = 1 };
		r->lmc = 0;
	}
	return r;
}

/* A Get that is sent; which one of the wire. */
static unsigned ask(uint32_t mod)
{
	struct mad_request *r = begin(UMAD_METHOD_GET, mod);

	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(request_send(rs, r, now), E_OK);
	return wire.n - 1;
}

static uint64_t tid(unsigned k)
{
	return field_get(wire.mad[k], MAD_TID_LOW);
}

/* Answers the k-th MAD of the wire; one byte of it may be other than it should be. */
static enum mad_kind reply_but(unsigned k, unsigned byte)
{
	uint8_t mad[MAD_MAX];
	struct mad_msg m = wire.msg[k];

	memcpy(mad, wire.mad[k], m.len);
	mad[3] = mad[3] == UMAD_METHOD_SET ? 0x81 : mad[3] | 0x80;
	mad[8] = 0xaa; /* the upper half of the transaction ID is the kernel's */
	mad[byte] ^= byte != 0;
	m.data = mad;
	return requests_receive(rs, &m);
}

static enum mad_kind reply(unsigned k)
{
	return reply_but(k, 0);
}

static enum mad_kind hand_back(unsigned k)
{
	struct mad_msg m = wire.msg[k];

	m.status = E_TIMEOUT;
	m.len = 24; /* that is all the kernel has */
	return requests_receive(rs, &m);
}

START_TEST(header)
{
	static const uint8_t ib[] = { 1, 0x21, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t attr[] = { 0x12, 0x34, 0, 0, 1, 2, 3, 4 };
	struct mad_request *r = begin(UMAD_METHOD_SET, 0x01020304);

	r->mad[40] = 0x77;
	ck_assert_int_eq(request_send(rs, r, now), E_OK);
	ck_assert_uint_eq(wire.n, 1);
	ck_assert_uint_eq(wire.msg[0].len, MAD_BYTES);
	ck_assert_uint_eq(wire.msg[0].mgmt_class, CLASS);
	ck_assert_uint_eq(wire.msg[0].addr.lid, LID);
	ck_assert_mem_eq(wire.mad[0], ib, sizeof(ib));
	ck_assert_mem_eq(wire.mad[0] + 16, attr, sizeof(attr));
	ck_assert_int_eq(reply(0), MAD_ANSWER); /* a GetResp */
	ck_assert_uint_eq(answered, 1);
	ck_assert_uint_eq(requests_deadline(rs, now), UINT64_MAX);
	r = begin(UMAD_METHOD_GET, 0);
	for (unsigned i = 24; i < MAD_BYTES; i++) { /* nothing of the last one */
		ck_assert_uint_eq(r->mad[i], 0);
	}
}
END_TEST

/* Omni-Path's MADs have 2,048 bytes and both versions 0x80. */
START_TEST(omni_path)
{
	teardown();
	start(4, 2048);
	struct mad_request *r = request_begin(rs, CLASS, 0x80, UMAD_METHOD_GET, 1, 0);

	r->job = &wire;
	r->mad[2047] = 9;
	ck_assert_int_eq(request_send(rs, r, now), E_OK);
	ck_assert_uint_eq(wire.msg[0].len, 2048);
	ck_assert(wire.mad[0][0] == 0x80 && wire.mad[0][2] == 0x80 &&
	          wire.mad[0][2047] == 9);
	wire.msg[0].len = 2047;
	ck_assert_int_eq(reply(0), MAD_LATE); /* cut short */
	wire.msg[0].len = 2048;
	ck_assert_int_eq(reply(0), MAD_ANSWER);
}
END_TEST

/* The window is the client's to keep; of slots there are no more than there are. */
START_TEST(window)
{
	for (unsigned i = 0; i < 8; i++) {
		ck_assert(requests_have_room(rs));
		ask(i);
	}
	ck_assert(!requests_have_room(rs));
	ck_assert_int_eq(reply(3), MAD_ANSWER);
	ck_assert(requests_have_room(rs));
	requests_set_limits(rs, 1000, TIMEOUT_MS);
	for (unsigned i = 0; i < 9; i++) {
		ck_assert(requests_have_room(rs));
		ask(i);
	}
	ck_assert(!requests_have_room(rs));
	ck_assert_ptr_null(begin(UMAD_METHOD_GET, 0));
	for (unsigned i = 0; i < wire.n; i++) {
		for (unsigned k = 0; k < i; k++) {
			ck_assert_uint_ne(tid(i), tid(k));
		}
		ck_assert_int_eq(reply(i), i == 3 ? MAD_LATE : MAD_ANSWER);
	}
	ck_assert_uint_eq(answered, 17);
	ck_assert_ptr_null(requests_first(rs));
}
END_TEST

/* An answer has to have the ID, method, attribute and modifier, and to come from the LID. */
START_TEST(forged)
{
	static const unsigned bytes[] = { 3, 12, 15, 17, 23 };

	ask(7);
	for (unsigned i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		ck_assert_int_eq(reply_but(0, bytes[i]), MAD_FORGED);
	}
	wire.msg[0].addr.lid = LID + 1;
	ck_assert_int_eq(reply(0), MAD_FORGED);
	wire.msg[0].addr.lid = LID;
	wire.msg[0].mgmt_class = 4;
	ck_assert_int_eq(reply(0), MAD_FORGED);
	wire.msg[0].mgmt_class = CLASS;
	wire.msg[0].len = 20;
	ck_assert_int_eq(reply(0), MAD_LATE); /* no header */
	wire.msg[0].len = MAD_BYTES;
	ck_assert_uint_eq(answered, 0);
	ck_assert_int_eq(reply_but(0, 100), MAD_ANSWER); /* its data are its own */
	ck_assert_uint_eq(answered, 1);
}
END_TEST

/* A port with an LMC may answer from any LID of its own; over a directed route no LID counts. */
START_TEST(addresses)
{
	struct mad_request *r = begin(UMAD_METHOD_GET, 0);

	r->addr.lid = 0x40;
	r->lmc = 2;
	ck_assert_int_eq(request_send(rs, r, now), E_OK);
	static const uint32_t wrong[] = { 0x3f, 0x44, 0 };
	for (unsigned i = 0; i < 3; i++) {
		wire.msg[0].addr.lid = wrong[i];
		ck_assert_int_eq(reply(0), MAD_FORGED);
	}
	wire.msg[0].addr.lid = 0x43;
	ck_assert_int_eq(reply(0), MAD_ANSWER);
	r = begin(UMAD_METHOD_GET, 0);
	r->addr.directed = true;
	ck_assert_int_eq(request_send(rs, r, now), E_OK);
	wire.msg[1].addr.lid = 0xffff;
	ck_assert_int_eq(reply(1), MAD_ANSWER);
}
END_TEST

static bool first_data_byte(void *ctx, const struct mad_request *r,
                            const struct mad_msg *m)
{
	ck_assert_ptr_eq(ctx, &wire);
	return r->mad[64] == m->data[64];
}

START_TEST(client_compares)
{
	client.is_answer = first_data_byte;
	ask(0);
	ck_assert_int_eq(reply_but(0, 64), MAD_FORGED);
	ck_assert_int_eq(reply_but(0, 65), MAD_ANSWER);
}
END_TEST

/* Tries end in the order of sending, each after its time, and the last one ends the request. */
START_TEST(time_out)
{
	ask(0);
	now += 10;
	ask(1);
	ck_assert_uint_eq(requests_deadline(rs, now), 1100);
	requests_run(rs, 1099);
	ck_assert_uint_eq(unanswered, 0);
	requests_run(rs, 1100);
	ck_assert_uint_eq(unanswered, 1);
	ck_assert_uint_eq(requests_deadline(rs, now), 1110);
	ck_assert_uint_eq(field_get(requests_first(rs)->mad, MAD_ATTR_MOD), 1);
	ck_assert_int_eq(reply(0), MAD_LATE);
	ck_assert_uint_eq(answered, 0);
	requests_run(rs, 5000);
	ck_assert_uint_eq(unanswered, 2);
	ck_assert_ptr_null(requests_first(rs));
}
END_TEST

/* Each try has an ID of its own, and an answer to any of them ends the request. */
START_TEST(tries)
{
	tries_max = 3;
	ask(5);
	for (unsigned i = 1; i < 3; i++) {
		now += TIMEOUT_MS;
		requests_run(rs, now);
		ck_assert_uint_eq(wire.n, i + 1);
		ck_assert_uint_ne(tid(i), tid(i - 1));
		ck_assert_mem_eq(wire.mad[i] + 16, wire.mad[0] + 16, MAD_BYTES - 16);
	}
	ck_assert_int_eq(reply_but((unsigned)_i, 23), MAD_FORGED);
	ck_assert_int_eq(reply((unsigned)_i), MAD_ANSWER);
	ck_assert_uint_eq(answered, 1);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(reply(i), MAD_LATE);
	}
	for (unsigned i = 0; i < 16; i++) { /* the slot's next user is not that request */
		ask(5);
		ck_assert_int_eq(reply((unsigned)_i), MAD_LATE);
		ck_assert_int_eq(reply(wire.n - 1), MAD_ANSWER);
	}
}
END_TEST

/* If the client wants so, all tries are the same bytes. */
START_TEST(one_id)
{
	client.keeps_id = true;
	tries_max = 2;
	ask(5);
	requests_run(rs, now += TIMEOUT_MS);
	ck_assert_uint_eq(wire.n, 2);
	ck_assert_mem_eq(wire.mad[0], wire.mad[1], MAD_BYTES);
	ck_assert_int_eq(reply(0), MAD_ANSWER);
	ck_assert_int_eq(reply(1), MAD_LATE);
	ask(5);
	ck_assert_uint_ne(tid(2), tid(1));
}
END_TEST

/* The kernel hands a request back: its try is over. One that is over itself is nothing new. */
START_TEST(handed_back)
{
	tries_max = 2;
	ask(5);
	ck_assert_int_eq(hand_back(0), MAD_ANSWER);
	ck_assert_uint_eq(unanswered, 1);
	ck_assert_uint_eq(wire.n, 2);
	ck_assert_int_eq(hand_back(0), MAD_ANSWER); /* the first try, not the second */
	ck_assert_uint_eq(unanswered, 1);
	ck_assert_int_eq(hand_back(1), MAD_ANSWER);
	ck_assert_uint_eq(unanswered, 2);
	ck_assert_ptr_null(requests_first(rs));
	ck_assert_int_eq(hand_back(1), MAD_ANSWER);
	ck_assert_uint_eq(unanswered, 2);
}
END_TEST

/* What a full transport refuses waits, in order, for the next run, and that was no try. */
START_TEST(full)
{
	struct mad_request *a = begin(UMAD_METHOD_GET, 1), *b = begin(UMAD_METHOD_GET, 2);

	wire.full = true;
	ck_assert_int_eq(request_send(rs, a, now), -EAGAIN);
	ck_assert_uint_eq(requests_deadline(rs, now), now + 10);
	requests_run(rs, now + TIMEOUT_MS);
	ck_assert_uint_eq(unanswered, 0);
	wire.full = false;
	requests_run(rs, now);
	ck_assert_uint_eq(wire.n, 2);
	ck_assert_uint_eq(field_get(wire.mad[0], MAD_ATTR_MOD), 1);
	ck_assert_uint_eq(field_get(wire.mad[1], MAD_ATTR_MOD), 2);
	ck_assert(a->tries == 1 && b->tries == 1);
	ck_assert_uint_eq(requests_deadline(rs, now), now + TIMEOUT_MS);
	tries_max = 2;
	wire.full = true;
	requests_run(rs, now += TIMEOUT_MS); /* the same of a second try */
	ck_assert_uint_eq(unanswered, 2);
	ck_assert_int_eq(reply(0), MAD_ANSWER); /* the first try's, meanwhile */
	wire.full = false;
	requests_run(rs, now);
	ck_assert_uint_eq(wire.n, 3);
	ck_assert_uint_eq(b->tries, 2);
	ck_assert_int_eq(reply(2), MAD_ANSWER);
	wire.full = true;
	a = begin(UMAD_METHOD_GET, 3);
	ck_assert_int_eq(request_send(rs, a, now), -EAGAIN);
	request_end(rs, a);
	wire.full = false;
	requests_run(rs, now);
	ck_assert_uint_eq(wire.n, 3);
	ck_assert_ptr_null(requests_first(rs));
}
END_TEST

/* With 16 bits of slots there are 65,536 generations. IDs do not repeat when they wrap, and an
 * answer that is 16 of them late is as good as forged. */
START_TEST(generations_wrap)
{
	enum { GENERATIONS = 1 << 16, OTHERS = 255 };
	uint32_t *seen = calloc(GENERATIONS, sizeof(*seen));

	teardown();
	start(16, MAD_BYTES);
	ck_assert_ptr_nonnull(seen);
	for (unsigned i = 0; i < OTHERS;
	     i++) { /* so that one slot is used again and again */
		ck_assert_ptr_nonnull(begin(UMAD_METHOD_GET, 0));
	}
	for (unsigned i = 0; i < GENERATIONS + 20; i++) {
		static const struct {
			unsigned age;
			enum mad_kind kind;
		} ages[] = { { 16, MAD_FORGED },
			     { 15, MAD_LATE },
			     { 1, MAD_LATE },
			     { 0, MAD_ANSWER } };

		wire.n = 0;
		ask(0);
		if (i < GENERATIONS) {
			seen[i] = (uint32_t)tid(0);
		}
		ck_assert_uint_eq(seen[i % GENERATIONS], tid(0));
		for (unsigned k = 0; k < 4; k++) {
			if (i >= ages[k].age) {
				field_set(wire.mad[0], MAD_TID_LOW,
				          seen[(i - ages[k].age) % GENERATIONS]);
				ck_assert_int_eq(reply(0), ages[k].kind);
			}
		}
	}
	ck_assert_uint_eq(answered, GENERATIONS + 20);
	for (unsigned i = 0; i + 1 < GENERATIONS; i++) {
		ck_assert_uint_ne(seen[i], seen[i + 1]);
	}
	free(seen);
}
END_TEST

/* Vectors of the authors of SipHash: key 00 01 .. 0f, message 00 01 .. 07. */
START_TEST(siphash)
{
	static const uint64_t key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };

	ck_assert_uint_eq(request_siphash(key, 0x0706050403020100), 0x93f5f5799a932462);
}
END_TEST

TEST_SUITE(request)
{
	TCase *t = tcase_create("engine");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, header);
	tcase_add_test(t, omni_path);
	tcase_add_test(t, window);
	tcase_add_test(t, forged);
	tcase_add_test(t, addresses);
	tcase_add_test(t, client_compares);
	tcase_add_test(t, time_out);
	tcase_add_loop_test(t, tries, 0, 3);
	tcase_add_test(t, one_id);
	tcase_add_test(t, handed_back);
	tcase_add_test(t, full);
	tcase_add_test(t, generations_wrap);
	tcase_add_test(t, siphash);
	suite_add_tcase(suite, t);
}
