/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>

#include "sa/mad/transport.h"
#include "sa/server/answer.h"
#include "tests/lib/query_fixture.h"

/*!
 * Requests to sa_answer() by bytes, over the small fabric of query_fixture.h, and a look
 * at what came back.
 */

/* Numbers of the specification (IBA vol. 1, chapters 13 and 15), not our names for them.
 */
enum {
	GET = 0x01,
	SET = 0x02,
	GET_TABLE = 0x12,
	GET_MULTI = 0x14,
	DELETE = 0x15,
	CLASS_PORT_INFO = 0x01,
	NODE_RECORD = 0x11,
	PORT_INFO_RECORD = 0x12,
	SL_TO_VL_RECORD = 0x13,
	SWITCH_INFO_RECORD = 0x14,
	LFT_RECORD = 0x15,
	MFT_RECORD = 0x17,
	SM_INFO_RECORD = 0x18,
	LINK_RECORD = 0x20,
	GUID_INFO_RECORD = 0x30,
	P_KEY_RECORD = 0x33,
	PATH_RECORD = 0x35,
	VL_ARB_RECORD = 0x36,
	TRACE_RECORD = 0x39,
	MULTI_PATH_RECORD = 0x3a,
	SERVICE_RECORD = 0x31,
	INFORM_INFO = 0x03,
	INFORM_INFO_RECORD = 0xf3,
	GET_TRACE_TABLE = 0x13,
	NO_RESOURCES = 0x0100,
	REQ_INVALID = 0x0200,
	NO_RECORDS = 0x0300,
	TOO_MANY = 0x0400,
	INVALID_GID = 0x0500,
	INSUF_COMPS = 0x0600,
	DENIED = 0x0700,
	UNSUPPORTED = 0x000c,
	BUSY = 0x0001,
	BAD_VERSION = 0x0004,
	DATA = 56, /* where records start */
	/* component bits of PathRecord */
	PR_SERVICE = 0x3,
	PR_DGID = 0x4,
	PR_SGID = 0x8,
	PR_DLID = 0x10,
	PR_SLID = 0x20,
	PR_RAW = 0x40,
	PR_FLOW = 0x100,
	PR_HOP = 0x200,
	PR_TCLASS = 0x400,
	PR_REVERSIBLE = 0x800,
	PR_NUMB = 0x1000,
	PR_PKEY = 0x2000,
	PR_QOS = 0x4000,
	PR_SL = 0x8000,
	PR_MTU = 0x30000,
	PR_RATE = 0xc0000,
	PR_LIFE = 0x300000,
	PR_PREFERENCE = 0x400000
};

#define SA_KEY UINT64_C(0x0123456789abcdef)
#define TID UINT64_C(0x1122334455667788)

static struct query_fixture *w;
static struct sa_limits limits = { .sa_key = SA_KEY };
static struct sa_reply reply;
static uint32_t asker = 1; /* LID of who asks */
static struct sa_store *store; /* of records that clients write, NULL: none */
static const uint32_t asker_qpn = 0x1234;

static inline void start_lmc(unsigned lmc, unsigned lmc_esp0, enum path_selection mode)
{
	w = query_fixture_small(lmc, lmc_esp0, mode);
}

static inline void start(void)
{
	start_lmc(0, 0, PATH_MINIMAL);
}

static inline void stop(void)
{
	sa_reply_done(&reply);
	query_fixture_free(w);
	w = NULL;
}

static inline void put(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++) {
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	}
}

static inline uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++) {
		v = v << 8 | at[i];
	}
	return v;
}

struct request {
	uint8_t mad[256];
};

static inline struct request request(unsigned method, unsigned attr, uint64_t mask)
{
	struct request q = { { 1, 3, 2, (uint8_t)method } };

	put(q.mad + 8, 8, TID);
	put(q.mad + 16, 2, attr);
	put(q.mad + 48, 8, mask);
	return q;
}

/* Adds a component of so many bytes. */
static inline void put_component(struct request *q, unsigned at, unsigned bytes,
                                 uint64_t value)
{
	put(q->mad + DATA + at, bytes, value);
}

static inline void trust_me(struct request *q)
{
	put(q->mad + 36, 8, SA_KEY);
}

static inline uint32_t lid_of(uint64_t port_guid)
{
	return query_fixture_end(w, port_guid).base_lid;
}

static inline void put_gid(struct request *q, unsigned at, uint64_t prefix, uint64_t guid)
{
	put(q->mad + DATA + at, 8, prefix);
	put(q->mad + DATA + at + 8, 8, guid);
}

static inline struct request by_lids(unsigned method, uint64_t src, uint64_t dst,
                                     uint64_t more)
{
	struct request q = request(method, PATH_RECORD, PR_SLID | PR_DLID | more);

	put(q.mad + DATA + 40, 2, lid_of(dst));
	put(q.mad + DATA + 42, 2, lid_of(src));
	return q;
}

static inline struct request by_gids(unsigned method, uint64_t src, uint64_t dst,
                                     uint64_t more)
{
	struct request q = request(method, PATH_RECORD,
	                           (src ? PR_SGID : 0) | (dst ? PR_DGID : 0) | more);

	put_gid(&q, 8, FIXTURE_PREFIX, dst);
	put_gid(&q, 24, FIXTURE_PREFIX, src);
	return q;
}

static inline int ask(const struct request *q)
{
	const struct mad_addr from = {
		.lid = asker, .qpn = asker_qpn, .pkey_index = 3, .sl = 2
	};

	return sa_serve(w->r, store, &limits, q->mad, sizeof(q->mad), &from, &reply);
}

/* Asks, checks what every reply promises, returns the status. */
static inline unsigned status_of(const struct request *q)
{
	ck_assert_int_eq(ask(q), E_OK);
	const uint8_t *m = reply.data;
	ck_assert_uint_ge(reply.len, DATA);
	ck_assert(m[0] == q->mad[0] && m[1] == 3 && m[2] == q->mad[2]);
	ck_assert_uint_eq(m[3], q->mad[3] == SET ? 0x81 : q->mad[3] | 0x80);
	ck_assert_uint_eq(get(m + 8, 8), TID);
	ck_assert_mem_eq(m + 18, q->mad + 18, 6); /* attribute modifier */
	ck_assert_uint_eq(get(m + 36, 8), 0);     /* SM_Key */
	ck_assert_mem_eq(m + 48, q->mad + 48, 8); /* ComponentMask */
	unsigned status = (unsigned)get(m + 4, 2), rmpp = m[26] & 1,
		 offset = (unsigned)get(m + 44, 2);
	if (status || q->mad[3] == GET || q->mad[3] == GET_TABLE) {
		ck_assert_mem_eq(m + 16, q->mad + 16, 2); /* attribute */
	}
	ck_assert_uint_eq(rmpp, q->mad[3] >= GET_TABLE && q->mad[3] <= GET_MULTI &&
	                                status == 0);
	if (rmpp) {
		ck_assert(m[24] == 1 && m[25] == 1);
		ck_assert(offset ? (reply.len - DATA) % (8 * offset) == 0
		                 : reply.len == DATA);
	} else {
		ck_assert_uint_eq(reply.len, q->mad[0] == 1 ? 256 : DATA + 8 * offset);
		ck_assert_uint_eq(get(m + 24, 8) | get(m + 32, 4), 0);
		ck_assert_uint_eq(offset != 0, status == 0);
	}
	return status;
}

/* Records in the last reply to a table. */
static inline size_t n_records(void)
{
	size_t offset = 8 * get(reply.data + 44, 2);

	return offset ? (reply.len - DATA) / offset : 0;
}

static inline const uint8_t *record(size_t i)
{
	return reply.data + DATA + i * 8 * get(reply.data + 44, 2);
}
