/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The SMP engine over a transport made for it: the test sees each MAD that leaves and
 * decides what comes back and when. Longer than most: all cases share that transport.
 */
#include <check.h>
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "tests/lib/suite.h"

enum { SENT_MAX = 4096, DONE_MAX = 1024 };

/* A transport that keeps what is sent. */
static struct fake {
	struct transport t;
	uint64_t now;
	unsigned room; /* sends until -EAGAIN; UINT32_MAX: no end */
	unsigned n_sent;
	uint8_t sent[SENT_MAX][MAD_BYTES];
	uint32_t lid[SENT_MAX]; /* where to */
} fake;

static struct smp *smp;
static struct smp_dest dest[16];

static struct {
	struct smp_reply reply;
	uint8_t data[64];
	bool has_data;
} done[DONE_MAX];
static unsigned n_done;

static int fake_send(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	ck_assert_uint_eq(m->mgmt_class, m->data[1]);
	ck_assert_int_eq(m->addr.directed,
	                 m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE);
	ck_assert(m->addr.directed || m->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED);
	ck_assert_uint_eq(m->addr.qpn, 0);
	ck_assert_uint_eq(m->len, MAD_BYTES);
	if (fake.room == 0) {
		return -EAGAIN;
	}
	fake.room -= fake.room != UINT32_MAX;
	ck_assert_uint_lt(fake.n_sent, SENT_MAX);
	fake.lid[fake.n_sent] = m->addr.lid;
	memcpy(fake.sent[fake.n_sent++], m->data, MAD_BYTES);
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
	done[n_done].reply = *r;
	done[n_done].has_data = r->data != NULL;
	if (r->data != NULL) {
		memcpy(done[n_done].data, r->data, 64);
	}
	n_done++;
}

static void start(unsigned window)
{
	struct smp_limits l = { .window = window, .timeout_ms = 200, .m_key = 0x1122 };

	ck_assert_int_eq(smp_new(&fake.t, &l, &smp), E_OK);
}

static void setup(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.t.ops = &fake_ops;
	fake.now = 1000;
	fake.room = UINT32_MAX;
	n_done = 0;
	for (unsigned i = 0; i < 16; i++) {
		struct smp_path p = { .hops = 2, .port = { 0, 1, (uint8_t)(i + 1) } };

		smp_dest_init(&dest[i], &p);
	}
}

static void teardown(void)
{
	smp_free(smp);
	smp = NULL;
}

static void get(unsigned d, uint32_t mod, unsigned retries)
{
	ck_assert_int_eq(
		smp_submit(smp, &(struct smp_request){ .dest = &dest[d],
	                                               .method = UMAD_METHOD_GET,
	                                               .attr = UMAD_SM_ATTR_PORT_INFO,
	                                               .mod = mod,
	                                               .retries = retries,
	                                               .done = on_done }),
		E_OK);
}

/* Answers the k-th MAD that was sent: as its node would, or changed by the caller. */
static enum mad_kind answer(unsigned k, void (*change)(uint8_t *mad))
{
	uint8_t mad[MAD_BYTES];
	struct mad_msg m = { .mgmt_class = fake.sent[k][1],
		             .addr = { .lid = fake.lid[k] },
		             .len = MAD_BYTES,
		             .data = mad };

	memcpy(mad, fake.sent[k], MAD_BYTES);
	mad[3] = UMAD_METHOD_GET_RESP;
	mad[4] = 0x80; /* direction: on the way back */
	mad[8] = 0xaa; /* the upper half of the transaction id is not ours */
	memset(mad + 64, 0x5a, 64);
	if (change != NULL) {
		change(mad);
	}
	return smp_receive(smp, &m);
}

static unsigned to_dest(unsigned k)
{
	return fake.sent[k][128 + 2] - 1u;
}

/* Bytes of IBA vol. 1, figure 156 (directed-route SMP), by hand. */
START_TEST(wire)
{
	uint8_t data[64];

	start(32);
	memset(data, 0x77, sizeof(data));
	ck_assert_int_eq(
		smp_submit(smp, &(struct smp_request){ .dest = &dest[4],
	                                               .method = UMAD_METHOD_SET,
	                                               .attr = UMAD_SM_ATTR_LINEAR_FT,
	                                               .mod = 0x01020304,
	                                               .data = data,
	                                               .done = on_done }),
		E_OK);
	ck_assert_uint_eq(fake.n_sent, 0);
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 1);
	const uint8_t *m = fake.sent[0];
	static const uint8_t head[] = { 1, 0x81, 1, 2, 0, 0, 0, 2, 0, 0, 0, 0 };
	static const uint8_t attr[] = { 0, 0x19, 0, 0, 1, 2, 3, 4 };
	static const uint8_t key[] = { 0,    0,    0,    0,    0,    0,
		                       0x11, 0x22, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t path[] = { 0, 1, 5, 0 };
	ck_assert_mem_eq(m, head, sizeof(head));
	ck_assert_mem_eq(m + 16, attr, sizeof(attr));
	ck_assert_mem_eq(m + 24, key, sizeof(key));
	ck_assert_mem_eq(m + 64, data, 64);
	ck_assert_mem_eq(m + 128, path, sizeof(path));
	ck_assert(answer(0, NULL));
	ck_assert_uint_eq(n_done, 1);
	ck_assert_int_eq(done[0].reply.ret, E_OK);
	ck_assert_uint_eq(done[0].reply.mod, 0x01020304);
	ck_assert_uint_eq(done[0].data[0], 0x5a);
	ck_assert_uint_eq(smp_pending(smp), 0);
	ck_assert(smp_deadline(smp) == UINT64_MAX);
}
END_TEST

START_TEST(window)
{
	start(8);
	for (unsigned i = 0; i < 64; i++) {
		get(i % 16, i, 3);
	}
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 8);
	for (unsigned k = 0; k < 64; k++) {
		ck_assert(answer(k, NULL));
		ck_assert_uint_le(fake.n_sent, k + 1 + 8);
	}
	ck_assert_uint_eq(fake.n_sent, 64);
	ck_assert_uint_eq(n_done, 64);
}
END_TEST

/* One destination with much to do and others with little: they take turns. */
START_TEST(fair)
{
	start(8);
	for (unsigned i = 0; i < 100; i++) {
		get(0, i, 3);
	}
	for (unsigned d = 1; d < 16; d++) {
		get(d, 0, 3);
	}
	smp_run(smp);
	for (unsigned k = 0; k < 30; k++) {
		ck_assert(answer(k, NULL));
	}
	unsigned others = 0;
	for (unsigned k = 0; k < fake.n_sent; k++) {
		others += to_dest(k) != 0;
	}
	ck_assert_uint_eq(others, 15);
}
END_TEST

/* Never answered: retries + 1 tries, one timeout apart, then E_TIMEOUT once. */
START_TEST(timeout)
{
	start(32);
	get(0, 7, (unsigned)_i);
	for (unsigned k = 0; k <= (unsigned)_i; k++) {
		smp_run(smp);
		ck_assert_uint_eq(fake.n_sent, k + 1);
		ck_assert_uint_eq(smp_deadline(smp), fake.now + 200);
		fake.now += 199;
		smp_run(smp);
		ck_assert_uint_eq(fake.n_sent, k + 1);
		ck_assert_uint_eq(n_done, 0);
		fake.now += 1;
	}
	smp_run(smp);
	ck_assert_uint_eq(n_done, 1);
	ck_assert_int_eq(done[0].reply.ret, E_TIMEOUT);
	ck_assert(dest[0].dead);
	ck_assert_uint_eq(smp_counters(smp)->retries, (unsigned)_i);
	ck_assert_uint_eq(smp_counters(smp)->timeouts, 1);
	/* The dead stay dead until revived. */
	get(0, 8, 3);
	ck_assert_uint_eq(smp_deadline(smp), 0);
	smp_run(smp);
	ck_assert_uint_eq(n_done, 2);
	ck_assert_int_eq(done[1].reply.ret, E_TIMEOUT);
	smp_dest_revive(&dest[0]);
	get(0, 9, 3);
	smp_run(smp);
	ck_assert(answer(fake.n_sent - 1, NULL));
	ck_assert_int_eq(done[2].reply.ret, E_OK);
}
END_TEST

/* A destination that is silent fails as a whole, and never fills the window. */
START_TEST(silent_delays_nobody)
{
	unsigned answered = 0, at = 0;

	start(8);
	for (unsigned i = 0; i < 200; i++) {
		get(0, i, 3);
		get(1 + i % 15, i, 3);
	}
	for (unsigned turn = 0; turn < 2000 && smp_pending(smp); turn++) {
		smp_run(smp);
		for (; at < fake.n_sent; at++) {
			if (to_dest(at) != 0) {
				ck_assert(answer(at, NULL));
				answered++;
			}
		}
		if (answered == 200) {
			/* All others are through before the silent one even failed once.
			 */
			ck_assert_uint_le(fake.now, 1000 + 4 * 200);
		}
		fake.now += 10;
	}
	ck_assert_uint_eq(answered, 200);
	ck_assert_uint_eq(n_done, 400);
	ck_assert_uint_eq(smp_counters(smp)->timeouts, 200);
	ck_assert_uint_lt(fake.now, 1000 + 2000);
	ck_assert_uint_lt(fake.n_sent, 200 + 40);
}
END_TEST

static void bad_status(uint8_t *mad)
{
	mad[5] = 0x1c;
}

START_TEST(status)
{
	start(8);
	get(0, 1, 3);
	smp_run(smp);
	ck_assert(answer(0, bad_status));
	ck_assert_uint_eq(n_done, 1);
	ck_assert_int_eq(done[0].reply.ret, E_MALFORMED);
	ck_assert_uint_eq(done[0].reply.status, 0x1c);
	ck_assert(!done[0].has_data);
	ck_assert_uint_eq(smp_counters(smp)->bad_status, 1);
	ck_assert(!dest[0].dead);
}
END_TEST

static void other_tid(uint8_t *mad)
{
	mad[14] ^= 0x40;
}

static void other_attr(uint8_t *mad)
{
	mad[17] ^= 1;
}

static void other_mod(uint8_t *mad)
{
	mad[23] ^= 1;
}

static void other_hops(uint8_t *mad)
{
	mad[7]++;
}

static void other_route(uint8_t *mad)
{
	mad[128 + 2] ^= 1;
}

static void other_end(uint8_t *mad)
{
	mad[35] ^= 1;
}

static void (*const wrong[])(uint8_t *) = { other_tid,  other_attr,  other_mod,
	                                    other_hops, other_route, other_end };

START_TEST(unexpected)
{
	start(8);
	get(0, 1, 3);
	smp_run(smp);
	ck_assert_int_eq(answer(0, wrong[_i]), MAD_FORGED);
	ck_assert_uint_eq(n_done, 0);
	ck_assert_uint_eq(smp_counters(smp)->forged, 1);
	ck_assert_int_eq(answer(0, NULL), MAD_ANSWER);
	ck_assert_uint_eq(n_done, 1);
	ck_assert_int_eq(answer(0, NULL), MAD_LATE); /* doubled */
	ck_assert_uint_eq(n_done, 1);
	ck_assert_uint_eq(smp_counters(smp)->unexpected, 1);
	ck_assert_uint_eq(smp_counters(smp)->forged, 1);
}
END_TEST

/* The answer to the first try comes after the second try left: it counts as late. */
START_TEST(late)
{
	start(8);
	get(0, 1, 3);
	smp_run(smp);
	fake.now += 200;
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 2);
	ck_assert(answer(0, NULL));
	ck_assert_uint_eq(n_done, 0);
	ck_assert(answer(1, NULL));
	ck_assert_uint_eq(n_done, 1);
}
END_TEST

START_TEST(queue_full)
{
	start(8);
	fake.room = 3;
	for (unsigned i = 0; i < 8; i++) {
		get(i, i, 3);
	}
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 3);
	fake.room = 1;
	ck_assert(answer(0, NULL));
	ck_assert_uint_eq(fake.n_sent, 4);
	fake.room = UINT32_MAX;
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 8);
	for (unsigned k = 1; k < 8; k++) {
		ck_assert(answer(k, NULL));
	}
	ck_assert_uint_eq(n_done, 8);
	ck_assert_uint_eq(smp_counters(smp)->retries, 0);
}
END_TEST

/* The queue is full and nothing is under way: there must be a deadline, and soon. */
START_TEST(queue_full_alone)
{
	start(8);
	fake.room = 0;
	get(0, 0, 3);
	smp_run(smp);
	ck_assert_uint_gt(smp_deadline(smp), fake.now);
	ck_assert_uint_le(smp_deadline(smp), fake.now + 10);
	fake.room = UINT32_MAX;
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 1);
}
END_TEST

/* A transport that gives the request back at once saves the wait, not the tries. */
START_TEST(given_back)
{
	start(8);
	get(0, 5, 2);
	smp_run(smp);
	for (unsigned k = 0; k < 3; k++) {
		struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE,
			             .status = E_TIMEOUT,
			             .len = MAD_BYTES,
			             .data = fake.sent[k] };

		ck_assert_uint_eq(fake.n_sent, k + 1);
		ck_assert_uint_eq(n_done, 0);
		ck_assert(smp_receive(smp, &m));
	}
	smp_run(smp);
	ck_assert_uint_eq(n_done, 1);
	ck_assert_int_eq(done[0].reply.ret, E_TIMEOUT);
	ck_assert_uint_eq(fake.now, 1000);
}
END_TEST

/* Requests of others are not ours to take; bytes cut short are never read beyond. */
START_TEST(foreign)
{
	uint8_t mad[MAD_BYTES] = { 1, 0x81, 1, UMAD_METHOD_GET };
	struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE, .data = mad };

	start(8);
	m.len = MAD_BYTES;
	ck_assert(!smp_receive(smp, &m));
	mad[3] = UMAD_METHOD_TRAP;
	ck_assert(!smp_receive(smp, &m));
	m.mgmt_class = UMAD_CLASS_SUBN_ADM;
	mad[3] = UMAD_METHOD_GET_RESP;
	ck_assert(!smp_receive(smp, &m));
	get(0, 0, 0);
	smp_run(smp);
	for (size_t len = 0; len < 128; len++) {
		uint8_t *cut = malloc(len + 1);

		ck_assert_ptr_nonnull(cut);
		memcpy(cut, fake.sent[0], len);
		if (len > 3) {
			cut[3] = UMAD_METHOD_GET_RESP;
		}
		m = (struct mad_msg){ .mgmt_class = 0x81, .len = len, .data = cut };
		smp_receive(smp, &m);
		free(cut);
	}
	ck_assert_uint_eq(n_done, 0);
}
END_TEST

static void set(unsigned d, uint16_t attr)
{
	ck_assert_int_eq(smp_submit(smp, &(struct smp_request){ .dest = &dest[d],
	                                                        .method = UMAD_METHOD_SET,
	                                                        .attr = attr,
	                                                        .retries = 1,
	                                                        .done = on_done }),
	                 E_OK);
}

/* Writes wait while it is not known who is master, those that are due again, too; what only asks
 * overtakes them. Then they are sent, or fail without being sent. */
START_TEST(writes_wait)
{
	unsigned sent;

	start(0);
	set(0, UMAD_SM_ATTR_LINEAR_FT);
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 1);
	smp_set_writes(smp, SMP_WRITES_WAIT);
	fake.now += 200;
	set(1, UMAD_SM_ATTR_PORT_INFO);
	set(2, UMAD_SM_ATTR_SM_INFO);
	get(3, 0, 0);
	get(1, 0, 0); /* behind a write, so it waits */
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 3);
	ck_assert_uint_eq(to_dest(1), 2);
	ck_assert_uint_eq(to_dest(2), 3);
	ck_assert(answer(1, NULL));
	ck_assert(answer(2, NULL));
	smp_run(smp);
	ck_assert_uint_eq(smp_pending(smp), 3);
	ck_assert_uint_eq(smp_deadline(smp), UINT64_MAX);
	sent = fake.n_sent;
	smp_set_writes(smp, _i ? SMP_WRITES_REFUSED : SMP_WRITES_GO);
	smp_run(smp);
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent - sent, _i ? 1 : 3);
	if (_i) {
		ck_assert_uint_eq(n_done, 4);
		ck_assert_int_eq(done[2].reply.ret, E_TIMEOUT);
		ck_assert_int_eq(done[3].reply.ret, E_TIMEOUT);
		ck_assert(!dest[0].dead && !dest[1].dead);
		ck_assert_uint_eq(fake.sent[sent][3], UMAD_METHOD_GET);
	}
}
END_TEST

START_TEST(abort_all)
{
	start(4);
	for (unsigned i = 0; i < 100; i++) {
		get(i % 16, i, 3);
	}
	smp_run(smp);
	fake.now += 200;
	smp_run(smp);
	smp_abort(smp);
	ck_assert_uint_eq(smp_pending(smp), 0);
	ck_assert(smp_deadline(smp) == UINT64_MAX);
	for (unsigned k = 0; k < fake.n_sent; k++) {
		ck_assert(answer(k, NULL));
	}
	ck_assert_uint_eq(n_done, 0);
}
END_TEST

START_TEST(paths)
{
	struct smp_path p = { 0 };
	char text[SMP_PATH_TEXT];

	ck_assert_str_eq(smp_path_text(&p, text), "0");
	for (unsigned i = 0; i < SMP_HOPS_MAX; i++) {
		ck_assert_int_eq(smp_path_extend(&p, (uint8_t)(254 - i), &p), E_OK);
	}
	ck_assert_int_eq(smp_path_extend(&p, 1, &p), E_RANGE);
	ck_assert_int_eq(strncmp(smp_path_text(&p, text), "0,254,253,", 10), 0);
	ck_assert_str_eq(text + strlen(text) - 4, ",192");
}
END_TEST

/* --- routes by LID ------------------------------------------------------------------------ */

static unsigned number_at(const uint8_t *mad, unsigned at)
{
	return (unsigned)mad[at] << 8 | mad[at + 1];
}

static void check_directed(unsigned k)
{
	const uint8_t *mad = fake.sent[k];

	ck_assert_uint_eq(mad[1], 0x81);
	ck_assert_uint_eq(fake.lid[k], 0xffff);
	ck_assert_uint_eq(mad[7], 2);
	ck_assert_uint_eq(number_at(mad, 32), 0xffff);
	ck_assert_uint_eq(number_at(mad, 34), 0xffff);
	ck_assert_uint_eq(mad[129], 1);
}

/* Bytes of IBA vol. 1, figures 155 and 156. A LID of the destination comes before that of a
 * neighbour; without a LID of our own there is neither. */
START_TEST(by_lid)
{
	start(0);
	dest[0].lid = 0x1234;
	dest[0].via_lid = 0x55;
	dest[1].via_lid = 0x55;
	dest[1].via_port = 7;
	get(0, 1, 0);
	get(1, 2, 0);
	smp_run(smp);
	check_directed(0);
	check_directed(1);
	ck_assert(answer(0, NULL) && answer(1, NULL));

	smp_set_lid(smp, 0x17);
	get(0, 1, 0);
	get(1, 2, 0);
	get(2, 3, 0);
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 5);
	const uint8_t *mad = fake.sent[2];
	ck_assert_uint_eq(mad[1], 0x01);
	ck_assert_uint_eq(fake.lid[2], 0x1234);
	ck_assert_uint_eq(mad[6], 0); /* class specific */
	ck_assert_uint_eq(mad[7], 0);
	ck_assert_uint_eq(mad[24 + 6] << 8 | mad[24 + 7], 0x1122); /* M_Key */
	for (unsigned i = 32; i < 256; i++) {
		ck_assert_uint_eq(mad[i], 0);
	}
	mad = fake.sent[3];
	ck_assert_uint_eq(mad[1], 0x81);
	ck_assert_uint_eq(fake.lid[3], 0x55);
	ck_assert_uint_eq(mad[6], 0); /* hop pointer */
	ck_assert_uint_eq(mad[7], 1); /* hop count */
	ck_assert_uint_eq(number_at(mad, 32), 0x17);
	ck_assert_uint_eq(number_at(mad, 34), 0xffff);
	ck_assert_uint_eq(mad[129], 7);
	check_directed(4);
	for (unsigned i = 2; i < 5; i++) {
		ck_assert(answer(i, NULL));
	}
	ck_assert_uint_eq(n_done, 5);
	ck_assert_uint_eq(smp_counters(smp)->by_lid, 1);
	ck_assert_uint_eq(smp_counters(smp)->mixed, 1);
}
END_TEST

/* Whoever does not answer by LID is asked by a directed route at once and for good. That
 * costs one timeout and none of the retries. Others are not delayed. */
START_TEST(not_by_lid)
{
	start(0);
	smp_set_lid(smp, 0x17);
	dest[0].lid = _i == 0 ? 0x1234 : 0;
	dest[0].via_lid = 0x55;
	dest[1].lid = 0x1235;
	dest[3].lid = 0x1237;
	dest[4].via_lid = 0x56;
	get(3, 20, 1);
	get(4, 21, 1);
	smp_run(smp);
	ck_assert(answer(0, NULL) && answer(1, NULL));
	fake.n_sent = n_done = 0;
	for (unsigned i = 0; i < 6; i++) {
		get(0, i, 1);
	}
	get(1, 9, 1);
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 5); /* 4 and 1 */
	fake.now += 200;
	smp_run(smp);
	ck_assert(dest[0].not_by_lid);
	unsigned directed = 0;
	for (unsigned k = 5; k < fake.n_sent; k++) {
		if (fake.lid[k] == 0xffff && fake.sent[k][130] == 1) {
			check_directed(k);
			directed++;
			ck_assert(answer(k, NULL));
		}
	}
	ck_assert_uint_gt(directed, 0);
	for (unsigned k = 5; k < fake.n_sent; k++) {
		(void)answer(k, NULL); /* what followed, and again what was answered */
	}
	for (unsigned k = 5; k < fake.n_sent; k++) {
		(void)answer(k, NULL);
	}
	ck_assert_uint_eq(n_done, 7);
	for (unsigned i = 0; i < n_done; i++) {
		ck_assert_int_eq(done[i].reply.ret, E_OK);
	}
	ck_assert_uint_eq(smp_counters(smp)->repeated_directed, 5);
	ck_assert_uint_eq(smp_counters(smp)->retries, 0);
	ck_assert_uint_eq(smp_pending(smp), 0);

	/* a destination that is silent has all its retries by directed route */
	unsigned before = fake.n_sent;
	dest[2].lid = 0x1236;
	get(2, 1, 2);
	for (unsigned i = 0; i < 6; i++) {
		smp_run(smp);
		fake.now += 200;
	}
	ck_assert_uint_eq(fake.n_sent - before, 1 + 3);
	ck_assert_int_eq(done[7].reply.ret, E_TIMEOUT);
	ck_assert(dest[2].dead);
}
END_TEST

/* A fabric that carries nothing by LID costs one timeout, not one for each destination. */
START_TEST(nothing_by_lid)
{
	struct smp_probe probe = { 0 };

	start(0);
	smp_set_lid(smp, 0x17);
	for (unsigned i = 0; i < 16; i++) {
		dest[i].probe = &probe;
		dest[i].lid = _i == 0 ? 0x100 + i : 0;
		dest[i].via_lid = 0x55;
	}
	for (unsigned i = 0; i < 4; i++) {
		get(i, i, 1);
	}
	smp_run(smp);
	fake.now += 200;
	smp_run(smp);
	for (unsigned i = 4; i < 16; i++) {
		get(i, i, 1);
	}
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 4 + 16);
	for (unsigned k = 4; k < 20; k++) {
		check_directed(k);
		ck_assert(answer(k, NULL));
	}
	ck_assert_uint_eq(n_done, 16);
	ck_assert_uint_eq(smp_counters(smp)->repeated_directed, 4);

	ck_assert_uint_eq(probe.unanswered, 4);
	ck_assert_uint_eq(probe.answered, 0);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert(dest[i].not_by_lid && !dest[i].lid_answered);
	}
	probe = (struct smp_probe){
		0
	}; /* the next sweep tries again; one answer is enough */
	for (unsigned i = 4; i < 12; i++) {
		get(i, i, 1);
	}
	smp_run(smp);
	ck_assert(answer(20, NULL));
	fake.now += 200;
	smp_run(smp);
	get(12, 12, 1);
	smp_run(smp);
	ck_assert_uint_ne(fake.lid[fake.n_sent - 1], 0xffff);
}
END_TEST

/* An answer counts only in the class of its request, and from the LID to which that went. */
START_TEST(answer_from_elsewhere)
{
	uint8_t mad[MAD_BYTES];
	struct mad_msg m = { .len = MAD_BYTES, .data = mad };

	start(0);
	smp_set_lid(smp, 0x17);
	dest[0].lid = 0x1234;
	get(0, 1, 0);
	get(1, 2, 0);
	smp_run(smp);
	for (unsigned k = 0; k < 2; k++) {
		memcpy(mad, fake.sent[k], MAD_BYTES);
		mad[3] = UMAD_METHOD_GET_RESP;
		m.mgmt_class = k == 0 ? 0x81 : 0x01;
		m.addr.lid = fake.lid[k];
		ck_assert(smp_receive(smp, &m));
		ck_assert_uint_eq(n_done, 0);
	}
	memcpy(mad, fake.sent[0], MAD_BYTES);
	mad[3] = UMAD_METHOD_GET_RESP;
	m.mgmt_class = 0x01;
	m.addr.lid = 0x1235;
	ck_assert(smp_receive(smp, &m));
	ck_assert_uint_eq(n_done, 0);
	ck_assert_uint_eq(smp_counters(smp)->forged, 3);
	ck_assert(answer(0, NULL) && answer(1, NULL));
	ck_assert_uint_eq(n_done, 2);
}
END_TEST

/* An answer by LID and a hop shows where that hop began. */
static void other_begin(uint8_t *mad)
{
	mad[33] ^= 1;
}

START_TEST(mixed_from_elsewhere)
{
	start(0);
	smp_set_lid(smp, 0x17);
	dest[0].via_lid = 0x1234;
	dest[0].via_port = 3;
	get(0, 1, 0);
	smp_run(smp);
	ck_assert_int_eq(answer(0, other_begin), MAD_FORGED);
	ck_assert_uint_eq(n_done, 0);
	ck_assert_int_eq(answer(0, NULL), MAD_ANSWER);
	ck_assert_uint_eq(n_done, 1);
}
END_TEST

static void back_by_port_9(uint8_t *mad)
{
	mad[192 + 1] = 9;
	mad[192 + 2] = 4;
}

static void back_by_port_8(uint8_t *mad)
{
	mad[192 + 1] = 8;
	mad[192 + 2] = 4;
}

/* The way back is learned from the first answer, and holds for all destinations behind. */
START_TEST(way_back)
{
	struct smp_path behind;

	start(0);
	get(0, 1, 0);
	smp_run(smp);
	ck_assert_int_eq(answer(0, back_by_port_9), MAD_ANSWER);
	get(0, 2, 0);
	smp_run(smp);
	ck_assert_int_eq(answer(1, back_by_port_8), MAD_FORGED);
	ck_assert_int_eq(answer(1, back_by_port_9), MAD_ANSWER);
	ck_assert_int_eq(smp_path_extend(&dest[0].path, 7, &behind), E_OK);
	smp_dest_init(&dest[1], &behind);
	get(1, 3, 0);
	smp_run(smp);
	ck_assert_int_eq(answer(2, back_by_port_8), MAD_FORGED);
	ck_assert_int_eq(answer(2, back_by_port_9), MAD_ANSWER);
	ck_assert_uint_eq(n_done, 3);
	ck_assert_uint_eq(dest[1].path.n_back, 3);
}
END_TEST

static uint32_t low_tid(unsigned k)
{
	return (uint32_t)field_get(fake.sent[k], MAD_TID_LOW);
}

/* A host that sees IDs of requests learns nothing about those of others: they are all over
 * the 32 bits, no step between two of them comes again, and another secret gives others. */
START_TEST(ids_cannot_be_predicted)
{
	enum { N = 1000 };
	static uint32_t seen[N], steps[N];
	unsigned bits[32] = { 0 };

	for (unsigned round = 0; round < 2; round++) {
		fake.t.secret[0] = 0x1234 + round;
		start(0);
		for (unsigned k = 0; k < N; k++) {
			get(k % 16, k, 0);
			smp_run(smp);
			ck_assert_uint_eq(fake.n_sent, round * N + k + 1);
			ck_assert_int_eq(answer(round * N + k, NULL), MAD_ANSWER);
			ck_assert(round == 0 || seen[k] != low_tid(N + k));
			seen[k] = low_tid(round * N + k);
		}
		smp_free(smp);
		smp = NULL;
		n_done = 0;
	}
	for (unsigned k = 0; k + 1 < N; k++) {
		steps[k] = seen[k + 1] - seen[k];
		for (unsigned i = 0; i < k; i++) {
			ck_assert(seen[i] != seen[k] && steps[i] != steps[k]);
		}
		for (unsigned b = 0; b < 32; b++) {
			bits[b] += seen[k] >> b & 1;
		}
	}
	for (unsigned b = 0; b < 32; b++) {
		ck_assert_uint_gt(bits[b], 400);
		ck_assert_uint_lt(bits[b], 600);
	}
	start(0); /* for the teardown */
}
END_TEST

/* The host that got a request sprays answers to those that follow it, as a counter and as a
 * counter of slots would number them. */
START_TEST(sprayed_answers)
{
	uint8_t mad[MAD_BYTES];
	struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE,
		             .len = MAD_BYTES,
		             .data = mad };

	start(0);
	get(0, 1, 0);
	get(1, 1, 0);
	smp_run(smp);
	memcpy(mad, fake.sent[1], MAD_BYTES); /* all but the ID is right */
	mad[3] = UMAD_METHOD_GET_RESP;
	for (uint32_t i = 1; i <= 100000; i++) {
		field_set(mad, MAD_TID_LOW, low_tid(0) + i % 2 * 255 * i + i);
		if (field_get(mad, MAD_TID_LOW) != low_tid(1)) {
			(void)smp_receive(smp, &m);
		}
	}
	ck_assert_uint_eq(n_done, 0);
	ck_assert_uint_gt(smp_counters(smp)->forged, 99000);
}
END_TEST

/* A destination that lets one request wait gets no other until it has answered this one. */
START_TEST(one_at_a_time)
{
	start(8);
	get(0, 1, 3);
	smp_run(smp);
	fake.now += 200;
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 2);
	for (unsigned i = 0; i < 6; i++) {
		get(0, 2 + i, 3);
	}
	smp_run(smp);
	ck_assert_uint_eq(fake.n_sent, 2);
	ck_assert(answer(1, NULL));
	smp_run(smp);
	ck_assert_uint_gt(fake.n_sent, 3);
}
END_TEST

TEST_SUITE(smp)
{
	TCase *t = tcase_create("engine");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, wire);
	tcase_add_test(t, window);
	tcase_add_test(t, fair);
	tcase_add_loop_test(t, timeout, 0, 5);
	tcase_add_test(t, silent_delays_nobody);
	tcase_add_test(t, status);
	tcase_add_loop_test(t, unexpected, 0, 6);
	tcase_add_test(t, late);
	tcase_add_test(t, one_at_a_time);
	tcase_add_test(t, queue_full);
	tcase_add_test(t, queue_full_alone);
	tcase_add_test(t, given_back);
	tcase_add_test(t, foreign);
	tcase_add_test(t, mixed_from_elsewhere);
	tcase_add_test(t, way_back);
	tcase_add_test(t, ids_cannot_be_predicted);
	tcase_add_test(t, sprayed_answers);
	tcase_add_loop_test(t, writes_wait, 0, 2);
	tcase_add_test(t, abort_all);
	tcase_add_test(t, paths);
	tcase_add_test(t, by_lid);
	tcase_add_loop_test(t, not_by_lid, 0, 2);
	tcase_add_loop_test(t, nothing_by_lid, 0, 2);
	tcase_add_test(t, answer_from_elsewhere);
	suite_add_tcase(suite, t);
}
