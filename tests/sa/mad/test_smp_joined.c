/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Requests of one Omni-Path agent that share a MAD: bytes of Aggregates and of runs of blocks by hand, and
 * what becomes of each request when the agent refuses one of them, or does not say which.
 */
#include <check.h>
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/mad/smp.h"
#include "tests/lib/suite.h"

enum {
	SENT_MAX = 64,
	DONE_MAX = 64,
	MAD_MAX = 2048,
	DATA = 176,
	AGGREGATE = 0x80,
	NO_FIELD = 0x1c
};

static struct fake {
	struct transport t;
	uint64_t now;
	unsigned n_sent;
	size_t len[SENT_MAX];
	uint8_t sent[SENT_MAX][MAD_MAX];
} fake;

static struct smp *smp;
static struct smp_dest dest;
static struct {
	uint16_t attr, status;
	uint32_t mod;
	int ret;
	uint8_t first; /* byte of the data */
} done[DONE_MAX];
static unsigned n_done;

static int fake_send(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	ck_assert_uint_lt(fake.n_sent, SENT_MAX);
	ck_assert_uint_le(m->len, MAD_MAX);
	fake.len[fake.n_sent] = m->len;
	memcpy(fake.sent[fake.n_sent++], m->data, m->len);
	return E_OK;
}

static uint64_t fake_now(struct transport *t)
{
	(void)t;
	return fake.now;
}

static const struct transport_ops fake_ops = { .name = "fake",
	                                       .send = fake_send,
	                                       .now_ms = fake_now };

static void on_done(void *ctx, const struct smp_reply *r)
{
	(void)ctx;
	ck_assert_uint_lt(n_done, DONE_MAX);
	done[n_done].attr = r->attr;
	done[n_done].mod = r->mod;
	done[n_done].ret = r->ret;
	done[n_done].status = r->status;
	done[n_done++].first = r->native != NULL ? r->native[0] : 0;
}

static void setup(void)
{
	const struct smp_limits l = { .timeout_ms = 200 };
	const struct smp_path p = { .hops = 1, .port = { 0, 1 } };

	memset(&fake, 0, sizeof(fake));
	fake.t.ops = &fake_ops;
	fake.now = 1000;
	n_done = 0;
	ck_assert_int_eq(smp_new(&fake.t, &l, &smp), E_OK);
	smp_set_omni_path(smp, 2);
	smp_dest_init(&dest, &p);
}

static void teardown(void)
{
	smp_free(smp);
	smp = NULL;
}

static void submit(uint8_t method, uint16_t attr, uint32_t mod, const uint8_t *data)
{
	static const uint8_t basis[OPA_BYTES_PORT_INFO];

	ck_assert_int_eq(smp_submit(smp, &(struct smp_request){ .dest = &dest,
	                                                        .method = method,
	                                                        .attr = attr,
	                                                        .mod = mod,
	                                                        .data = data,
	                                                        .basis = basis,
	                                                        .retries = 1,
	                                                        .done = on_done }),
	                 E_OK);
}

static unsigned attr_of(unsigned k)
{
	return fake.sent[k][16] << 8 | fake.sent[k][17];
}

static uint32_t mod_of(unsigned k)
{
	return (uint32_t)field_get(fake.sent[k], 160, 32);
}

/* Answers the k-th MAD. bad: part of an Aggregate that is refused, -1: none; then the parts behind it are
 * as they were asked. error: its error bit is set. */
static void answer(unsigned k, int bad, unsigned status, bool error)
{
	uint8_t mad[MAD_MAX] = { 0 };
	struct mad_msg m = { .mgmt_class = 0x81, .len = MAD_MAX, .data = mad };
	size_t at = DATA;

	memcpy(mad, fake.sent[k], fake.len[k]);
	mad[3] = UMAD_METHOD_GET_RESP;
	mad[4] = (uint8_t)(0x80 | status >> 8);
	mad[5] = (uint8_t)status;
	for (unsigned i = 0; attr_of(k) == AGGREGATE && i < mod_of(k); i++) {
		uint8_t *part = mad + at;

		at += 8 + 8 * (size_t)(part[3] & 0x7f);
		if ((int)i == bad) {
			part[2] |= error ? 0x80 : 0;
			break;
		}
		part[8] = (uint8_t)(0x40 + i);
	}
	for (unsigned i = 0; attr_of(k) != AGGREGATE && i < mod_of(k) >> 24; i++) {
		mad[DATA + 64 * i] = (uint8_t)(0x50 + i);
	}
	m.addr.directed = true;
	ck_assert_int_eq(smp_receive(smp, &m), MAD_ANSWER);
}

static void ask_three(void)
{
	submit(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_DESC, 0, NULL);
	submit(UMAD_METHOD_GET, UMAD_SM_ATTR_SWITCH_INFO, 0, NULL);
	submit(UMAD_METHOD_GET, UMAD_SM_ATTR_PORT_INFO, 5, NULL);
	smp_run(smp);
}

/* Three headers, lengths in 8 bytes; a Get ends behind the last header. */
START_TEST(bytes)
{
	static const uint8_t description[] = { 0, 0x10, 0, 8, 0, 0, 0, 0 };
	static const uint8_t switch_info[] = { 0, 0x12, 0, 11, 0, 0, 0, 0 };
	static const uint8_t port_info[] = { 0, 0x15, 0, 31, 1, 0, 2, 5 };

	ask_three();
	ck_assert_uint_eq(fake.n_sent, 1);
	ck_assert_uint_eq(attr_of(0), AGGREGATE);
	ck_assert_uint_eq(mod_of(0), 3);
	ck_assert_mem_eq(fake.sent[0] + DATA, description, 8);
	ck_assert_mem_eq(fake.sent[0] + DATA + 72, switch_info, 8);
	ck_assert_mem_eq(fake.sent[0] + DATA + 72 + 96, port_info, 8);
	ck_assert_uint_eq(fake.len[0], DATA + 72 + 96 + 8);
	answer(0, -1, 0, false);
	ck_assert_uint_eq(n_done, 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(done[i].ret, E_OK);
		ck_assert_uint_eq(done[i].first, 0x40 + i);
	}
	ck_assert_uint_eq(done[2].attr, UMAD_SM_ATTR_PORT_INFO);
	ck_assert_uint_eq(done[2].mod, 5);
	ck_assert_uint_eq(smp_pending(smp), 0);
	ck_assert_uint_eq(smp_counters(smp)->sent, 1);
}
END_TEST

/* The one with the error bit was refused, those before it are done, those behind are asked again. */
START_TEST(one_is_refused)
{
	ask_three();
	answer(0, 1, 0x0c, true);
	ck_assert_uint_eq(n_done, 2);
	ck_assert_int_eq(done[0].ret, E_OK);
	ck_assert_int_eq(done[1].ret, E_MALFORMED);
	ck_assert_uint_eq(done[1].status, 0x0c);
	ck_assert_uint_eq(fake.n_sent, 2);
	ck_assert_uint_eq(attr_of(1), UMAD_SM_ATTR_PORT_INFO);
	answer(1, -1, 0, false);
	ck_assert_uint_eq(n_done, 3);
	ck_assert_int_eq(done[2].ret, E_OK);
	ck_assert(!dest.not_joined);
}
END_TEST

/* An adapter refuses a field without saying which: all are asked again, one by one. */
START_TEST(nobody_says_which)
{
	ask_three();
	answer(0, 1, NO_FIELD, false);
	ck_assert_uint_eq(n_done, 0);
	ck_assert_uint_eq(fake.n_sent, 4);
	for (unsigned k = 1; k < 4; k++) {
		ck_assert_uint_ne(attr_of(k), AGGREGATE);
		answer(k, -1, attr_of(k) == UMAD_SM_ATTR_SWITCH_INFO ? NO_FIELD : 0,
		       false);
	}
	ck_assert_uint_eq(n_done, 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(done[i].ret, done[i].attr == UMAD_SM_ATTR_SWITCH_INFO
		                                      ? E_MALFORMED
		                                      : E_OK);
	}
	ask_three(); /* it knows Aggregates */
	ck_assert_uint_eq(attr_of(4), AGGREGATE);
}
END_TEST

/* An agent that does not know Aggregates is not sent another one. */
START_TEST(not_known)
{
	ask_three();
	answer(0, -1, 0x0c, false);
	ck_assert_uint_eq(fake.n_sent, 4);
	for (unsigned k = 1; k < 4; k++) {
		answer(k, -1, 0, false);
	}
	ask_three();
	ck_assert_uint_eq(fake.n_sent, 7);
	ck_assert_uint_ne(attr_of(4), AGGREGATE);
}
END_TEST

/* No answer: each is tried again by itself. */
START_TEST(lost)
{
	ask_three();
	fake.now += 200;
	smp_run(smp);
	fake.now += 1;
	for (unsigned k = 1; k < fake.n_sent; k++) {
		ck_assert_uint_ne(attr_of(k), AGGREGATE);
		answer(k, -1, 0, false);
	}
	ck_assert_uint_eq(n_done, 3);
	ck_assert_uint_eq(fake.n_sent, 4);
	ck_assert_uint_eq(smp_pending(smp), 0);
	ck_assert_uint_eq(smp_counters(smp)->retries, 3);
}
END_TEST

/* Seven PortInfos fit; a Set that may change the M_Key goes by itself. */
START_TEST(ports)
{
	static const uint8_t info[64];

	for (unsigned i = 0; i < 9; i++) {
		submit(UMAD_METHOD_GET, UMAD_SM_ATTR_PORT_INFO, i, NULL);
	}
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 2);
	ck_assert_uint_eq(mod_of(0), 7);
	ck_assert_uint_eq(mod_of(1), 2);
	answer(0, -1, 0, false);
	answer(1, -1, 0, false);
	ck_assert_uint_eq(n_done, 9);
	for (unsigned i = 0; i < 3; i++) {
		submit(UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO, i, info);
	}
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 4);
	ck_assert_uint_eq(attr_of(2), UMAD_SM_ATTR_PORT_INFO);
	ck_assert_uint_eq(attr_of(3), AGGREGATE);
	ck_assert_uint_eq(fake.len[3], DATA + 2 * 256);
}
END_TEST

/* Blocks behind each other: 29 in a MAD, and none across a gap. */
START_TEST(blocks)
{
	uint8_t block[64];

	for (unsigned i = 0; i < 31; i++) {
		memset(block, (int)i, sizeof(block));
		submit(UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT, i < 30 ? 2 + i : 99,
		       block);
	}
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 3);
	ck_assert_uint_eq(attr_of(0), UMAD_SM_ATTR_LINEAR_FT);
	ck_assert_uint_eq(mod_of(0), 29u << 24 | 2);
	ck_assert_uint_eq(fake.len[0], DATA + 29 * 64);
	ck_assert_uint_eq(fake.sent[0][DATA + 64 * 28 + 63], 28);
	ck_assert_uint_eq(mod_of(1), 1u << 24 | 31);
	ck_assert_uint_eq(mod_of(2), 1u << 24 | 99);
	answer(0, -1, 0, false);
	ck_assert_uint_eq(n_done, 29);
	ck_assert_uint_eq(done[28].first, 0x50 + 28);
	ck_assert_uint_eq(done[28].mod, 30);
}
END_TEST

static void submit_map(uint16_t attr, const uint8_t *data, bool shares)
{
	enum { MAP = 32 };
	struct smp_request o = { .dest = &dest,
		                 .method = data != NULL ? UMAD_METHOD_SET
		                                        : UMAD_METHOD_GET,
		                 .attr = attr,
		                 .data = data,
		                 .native_len = MAP,
		                 .shares = shares,
		                 .done = on_done };

	ck_assert_int_eq(smp_submit(smp, &o), E_OK);
}

/* What has Omni-Path's own form shares a MAD if the agent is an adapter's. */
START_TEST(native)
{
	static const uint8_t sl_to_sc[] = { 0, 0x17, 0, 4, 0, 0, 0, 0, 0x11 };
	static const uint8_t sc_to_sl[] = { 0, 0x82, 0, 4, 0, 0, 0, 0, 0x22 };
	bool adapter = _i == 0;
	uint8_t map[32];

	memset(map, 0x11, sizeof(map));
	submit_map(OPA_ATTR_SL_TO_SC, map, adapter);
	memset(map, 0x22, sizeof(map));
	submit_map(OPA_ATTR_SC_TO_SL, map, adapter);
	submit_map(OPA_ATTR_SC_TO_SL, NULL, adapter); /* a Get is another MAD */
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, adapter ? 2 : 3);
	if (adapter) {
		ck_assert_uint_eq(attr_of(0), AGGREGATE);
		ck_assert_uint_eq(mod_of(0), 2);
		ck_assert_mem_eq(fake.sent[0] + DATA, sl_to_sc, sizeof(sl_to_sc));
		ck_assert_mem_eq(fake.sent[0] + DATA + 40, sc_to_sl, sizeof(sc_to_sl));
		ck_assert_uint_eq(fake.len[0], DATA + 80);
		answer(0, 1, 0x0c, true);
		ck_assert_uint_eq(n_done, 2);
		ck_assert_int_eq(done[0].ret, E_OK);
		ck_assert_uint_eq(done[0].first, 0x40);
		ck_assert_int_eq(done[1].ret, E_MALFORMED);
	}
}
END_TEST

/* An answer that is cut short or of something else proves nothing. */
START_TEST(cut_short)
{
	uint8_t mad[MAD_MAX] = { 0 };
	struct mad_msg m = { .mgmt_class = 0x81, .len = DATA + 72 + 40, .data = mad };

	ask_three();
	memcpy(mad, fake.sent[0], fake.len[0]);
	mad[3] = UMAD_METHOD_GET_RESP;
	mad[4] = 0x80;
	m.addr.directed = true;
	if (_i == 1) {
		m.len = MAD_MAX;
		mad[DATA + 72 + 1] = 0x11;
	}
	ck_assert_int_eq(smp_receive(smp, &m), MAD_ANSWER);
	ck_assert_uint_eq(n_done, 1); /* the first part is whole */
	ck_assert_uint_eq(fake.n_sent, 3);
	smp_abort(smp);
	ck_assert_uint_eq(smp_pending(smp), 0);
}
END_TEST

TEST_SUITE(smp_joined)
{
	TCase *tc = tcase_create("smp_joined");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, native, 0, 2);
	tcase_add_test(tc, bytes);
	tcase_add_test(tc, one_is_refused);
	tcase_add_test(tc, nobody_says_which);
	tcase_add_test(tc, not_known);
	tcase_add_test(tc, lost);
	tcase_add_test(tc, ports);
	tcase_add_test(tc, blocks);
	tcase_add_loop_test(tc, cut_short, 0, 2);
	suite_add_tcase(suite, tc);
}
