/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as answers to SMPs of Omni-Path, also to MADs that several requests share: no read behind their
 * end, and each request ends exactly once, with data only where it has a good answer.
 *
 * Input: the number of requests and what they are (a byte each), then for each MAD that is sent the status, the
 * length of the answer in 8 bytes, how many bytes of it are others than those of the request, and these: place
 * in 8 bytes and value. Without input there is no answer.
 */
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/mad/smp.h"
#include "tests/fuzz/fuzz.h"

enum { REQUESTS = 40, TURNS = 1000 };

static struct fake {
	struct transport t;
	uint64_t now;
	uint8_t sent[512][OPA_MAD_MOST];
	size_t len[512];
	unsigned first, end; /* not answered yet */
} fake;

static unsigned n_done;
static uint8_t ended[REQUESTS];

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static int fake_send(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	require(m->len <= OPA_MAD_MOST && m->len % 4 == 0);
	if (fake.end < 512) {
		memcpy(fake.sent[fake.end], m->data, m->len);
		fake.len[fake.end++] = m->len;
	}
	return E_OK;
}

static uint64_t fake_now(struct transport *t)
{
	(void)t;
	return fake.now;
}

static const struct transport_ops ops = { .name = "fake",
	                                  .send = fake_send,
	                                  .now_ms = fake_now };

static void on_done(void *ctx, const struct smp_reply *r)
{
	uint8_t *end = ctx;
	volatile uint8_t sum = 0;

	require(++*end == 1);
	require((r->data != NULL) == (r->ret == E_OK));
	for (unsigned i = 0; r->data != NULL && i < SMP_DATA_BYTES; i++) {
		sum = (uint8_t)(sum + r->data[i]);
	}
	for (size_t i = 0; r->native != NULL && i < r->native_len; i++) {
		sum = (uint8_t)(sum + r->native[i]);
	}
	n_done++;
}

static void submit(struct smp *s, struct smp_dest *d, uint8_t what, unsigned i)
{
	static const uint16_t attrs[] = {
		UMAD_SM_ATTR_NODE_DESC,  UMAD_SM_ATTR_SWITCH_INFO, UMAD_SM_ATTR_PORT_INFO,
		UMAD_SM_ATTR_PKEY_TABLE, UMAD_SM_ATTR_LINEAR_FT,   UMAD_SM_ATTR_MCAST_FT,
		OPA_ATTR_CABLE_INFO,     UMAD_SM_ATTR_NODE_INFO
	};
	static const uint8_t zeros[OPA_BYTES_PORT_INFO];

	require(smp_submit(s,
	                   &(struct smp_request){ .dest = d,
	                                          .method = what & 8 ? UMAD_METHOD_SET
	                                                             : UMAD_METHOD_GET,
	                                          .attr = attrs[what & 7],
	                                          .mod = (what & 7) == 4 ? i : what >> 4,
	                                          .data = zeros,
	                                          .basis = zeros,
	                                          .retries = 1,
	                                          .done = on_done,
	                                          .ctx = &ended[i] }) == E_OK);
}

/* The answer to a MAD that was sent; advances the input. */
static void answer(struct smp *s, unsigned k, const uint8_t **at, const uint8_t *end)
{
	uint8_t mad[OPA_MAD_MOST] = { 0 };
	struct mad_msg m = { .mgmt_class = fake.sent[k][1], .data = mad };
	unsigned changes;

	memcpy(mad, fake.sent[k], fake.len[k]);
	mad[3] = UMAD_METHOD_GET_RESP;
	mad[4] = 0x80;
	mad[5] = (*at)[0];
	m.len = (size_t)8 * (*at)[1];
	changes = (*at)[2];
	*at += 3;
	for (unsigned i = 0; i < changes && *at + 2 <= end; i++, *at += 2) {
		size_t to = OPA_DR_DATA + (size_t)8 * (*at)[0] + i % 8;

		if (to < sizeof(mad)) {
			mad[to] = (*at)[1];
		}
	}
	m.addr.directed = true;
	(void)smp_receive(s, &m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct smp_limits limits = { .timeout_ms = 10 };
	const struct smp_path path = { .hops = 1, .port = { 0, 1 } };
	const uint8_t *at = data, *end = data + size;
	struct smp_dest dest;
	struct smp *s;
	unsigned n;

	if (size < 1 || size < 1u + data[0] % REQUESTS) {
		return 0;
	}
	n = *at++ % REQUESTS;
	memset(&fake, 0, sizeof(fake));
	memset(ended, 0, sizeof(ended));
	fake.t.ops = &ops;
	fake.now = 1;
	n_done = 0;
	require(smp_new(&fake.t, &limits, &s) == E_OK);
	smp_set_omni_path(s, 2);
	smp_dest_init(&dest, &path);
	for (unsigned i = 0; i < n; i++) {
		submit(s, &dest, *at++, i);
	}
	for (unsigned turn = 0; turn < TURNS && smp_pending(s) != 0; turn++) {
		smp_run(s);
		if (fake.first < fake.end && end - at >= 3) {
			answer(s, fake.first++, &at, end);
		} else {
			fake.first = fake.end;
			fake.now += 10;
		}
	}
	require(smp_pending(s) == 0 && n_done == n);
	smp_free(s);
	return 0;
}
