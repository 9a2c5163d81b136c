/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as a MAD to subnet administration, over the small fabric with P_Key tables,
 * multicast tables and subnet managers: no crash; what is answered has a sound header,
 * records of whole strides, and none beside an error. The first two bytes are who asks.
 * Records that clients write are kept, in memory, for one input after the other.
 */
#include <errno.h>
#include <unistd.h>

#include "sa/mad/transport.h"
#include "sa/mad/wire.h"
#include "sa/server/answer.h"
#include "sa/store/store.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/query_fixture.h"

enum { HEAD = 56, MAD = 256 };

static struct query_fixture *w;
static struct sa_store *store;

static void stop(void)
{
	store_free(store);
	query_fixture_free(w);
}

static void key(uint64_t node, unsigned port, uint16_t p_key)
{
	field_set(query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, node, port << 16, 64), 0,
	          16, p_key);
}

static void start(void)
{
	if (access("/dev/shm", W_OK) == 0) {
		setenv("TMPDIR", "/dev/shm", 0);
	}
	w = query_fixture_small(1, 1, PATH_ORDERALL);
	key(HOST, 1, 0x8001);
	key(TWIN_1, 1, 0x0001);
	key(LEFT, 1, 0x7fff);
	query_fixture_attr(w, UMAD_SM_ATTR_MCAST_FT, SW_A, 15u << 28 | 7, 64);
	query_fixture_attr(w, UMAD_SM_ATTR_SM_INFO, DUAL, 1, 64);
	query_fixture_attr(w, UMAD_SM_ATTR_SLVL_TABLE, SW_A, 2, 24);
	query_fixture_attr(w, UMAD_SM_ATTR_VL_ARB_TABLE, SW_A, 2 << 8 | 3, 64);
	query_fixture_publish(w, PATH_ORDERALL);
	MUST(store_new(NULL, 0, &store) == E_OK);
	atexit(stop);
}

static unsigned u16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static void check(const uint8_t *mad, const struct sa_reply *r)
{
	size_t stride = 8u * u16(r->data + 44), body = r->len - HEAD;
	bool table = r->data[26] & 1, opa = r->data[0] == SA_OPA_VERSION;

	MUST(r->len >= HEAD && r->len <= r->cap);
	MUST((r->data[0] == 1 || opa) && r->data[0] == mad[0]);
	MUST(r->data[1] == 3 && (r->data[3] & 0x80));
	MUST(memcmp(r->data + 8, mad + 8, 8) == 0);
	MUST(u16(r->data + 4) == 0 || (stride == 0 && !table));
	MUST(table || r->len == MAD || opa);
	MUST(table || !opa || body == stride);
	MUST(!table || (stride ? body % stride == 0 && body > 0 : body == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sa_limits limits = { .sa_key = 1, .max_response = 1 << 20 };
	static struct sa_reply reply;

	if (w == NULL) {
		start();
	}
	if (size < 2) {
		return 0;
	}
	static int64_t now;
	const struct mad_addr from = { .lid = u16(data), .qpn = 1 };
	int ret = sa_serve(w->r, store, &limits, data + 2, size - 2, &from, &reply);
	MUST(store_expire(store, now++) == E_OK);
	MUST(ret == E_OK || ret == E_MALFORMED || ret == -EPERM);
	if (ret == E_OK) {
		check(data + 2, &reply);
	}
	return 0;
}
