/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The read-only records by the bytes of their MADs, over the small fabric with LMC 1. */
#include "tests/lib/answer_util.h"
#include "tests/lib/suite.h"

enum { SWITCH_INFO_MASK_TOP = 1 << 5 };

/* More payloads than the fixture has: of HOST's port and of switch A. */
static void more_attrs(void)
{
	uint8_t *sm = query_fixture_attr(w, UMAD_SM_ATTR_SM_INFO, HOST, 1, 64);
	field_set(sm, SMI_GUID, HOST + 1);
	field_set(sm, SMI_SM_KEY, 0x77);
	field_set(sm, SMI_ACT_COUNT, 5);
	field_set(sm, SMI_PRIORITY, 9);
	field_set(sm, SMI_SM_STATE, 3);
	sm = query_fixture_attr(w, UMAD_SM_ATTR_SM_INFO, SW_B, 0, 64);
	field_set(sm, SMI_GUID, SW_B);
	field_set(sm, SMI_PRIORITY, 2);
	field_set(sm, SMI_SM_STATE, 2);
	for (unsigned block = 0; block < 2; block++) {
		put(query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, HOST, 1 << 16 | block,
		                       64),
		    2, block ? 0x8123 : 0xffff);
		put(query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, SW_A, block << 16, 64),
		    2, 0xffff);
	}
	for (unsigned position = 0; position < 16; position += 15) {
		memset(query_fixture_attr(w, UMAD_SM_ATTR_MCAST_FT, SW_A,
		                          (uint32_t)position << 28 | 0x1ff, 64),
		       (int)position, 64);
	}
	memset(query_fixture_attr(w, UMAD_SM_ATTR_VL_ARB_TABLE, SW_A, 2 << 8 | 3, 64), 7,
	       64);
	memset(query_fixture_attr(w, UMAD_SM_ATTR_SLVL_TABLE, SW_A, 2, 3 * 8), 0x12,
	       3 * 8);
	memset(query_fixture_attr(w, UMAD_SM_ATTR_VL_ARB_TABLE, HOST, 1 << 8 | 1, 64), 8,
	       64);
	memset(query_fixture_attr(w, UMAD_SM_ATTR_SLVL_TABLE, HOST, 1, 8), 0x13, 8);
}

static void start_more(void)
{
	start_lmc(1, 0, PATH_MINIMAL);
	more_attrs();
	query_fixture_publish(w, PATH_MINIMAL);
}

/* Values that stand for a LID of the fabric. */
#define LID_OF(guid) (UINT64_C(1) << 32 | (guid))
#define LID_OF_SECOND(guid) (UINT64_C(1) << 33 | (guid))

static uint64_t meant(uint64_t value)
{
	uint32_t guid = (uint32_t)value;

	return value >> 33 ? lid_of(guid) + 1 : value >> 32 ? lid_of(guid) : value;
}

struct component {
	unsigned at, bytes;
	uint64_t value;
};

struct record_case {
	const char *what;
	unsigned attr;
	uint64_t mask;
	struct component asked[2];
	unsigned n;
	struct component first[3]; /* of the first record */
};

/* clang-format off */
static const struct record_case cases[] = {
	{ "SwitchInfo: all",            SWITCH_INFO_RECORD, 0, {{0}}, 3, {{ 4, 2, 0xc000 }} },
	{ "SwitchInfo: LID",            SWITCH_INFO_RECORD, 1, {{ 0, 2, LID_OF(SW_B) }}, 1, {{ 0, 2, LID_OF(SW_B) }} },
	{ "SwitchInfo: LID of a host",  SWITCH_INFO_RECORD, 1, {{ 0, 2, LID_OF(HOST + 1) }}, 0, {{0}} },
	{ "SwitchInfo: LID of nobody",  SWITCH_INFO_RECORD, 1, {{ 0, 2, 0xbfff }}, 0, {{0}} },
	{ "SwitchInfo: LinearFDBTop",   SWITCH_INFO_RECORD, SWITCH_INFO_MASK_TOP, {{ 10, 2, 1 }}, 0, {{0}} },
	{ "SwitchInfo: EnhancedPort0",  SWITCH_INFO_RECORD, 1 << 18, {{ 20, 1, 0x08 }}, 2, {{ 20, 1, 0x08 }} },
	{ "LFT: all",                   LFT_RECORD, 0, {{0}}, 3, {{ 2, 2, 0 }} },
	{ "LFT: LID and block",         LFT_RECORD, 3, {{ 0, 2, LID_OF(SW_A) }, { 2, 2, 0 }}, 1, {{ 0, 2, LID_OF(SW_A) }} },
	{ "LFT: block beyond",          LFT_RECORD, 2, {{ 2, 2, 1 }}, 0, {{0}} },
	{ "LFT: highest number",        LFT_RECORD, 2, {{ 2, 2, 0xffff }}, 0, {{0}} },
	{ "MFT: all",                   MFT_RECORD, 0, {{0}}, 2, {{ 2, 2, 0x01ff }, { 8, 2, 0 }} },
	{ "MFT: position",              MFT_RECORD, 2, {{ 2, 1, 0xf0 }}, 1, {{ 2, 2, 0xf1ff }, { 8, 2, 0x0f0f }} },
	{ "MFT: no such position",      MFT_RECORD, 2, {{ 2, 1, 0xe0 }}, 0, {{0}} },
	{ "MFT: block",                 MFT_RECORD, 8, {{ 2, 2, 0x01ff }}, 2, {{ 0, 2, LID_OF(SW_A) }} },
	{ "MFT: reserved is not asked", MFT_RECORD, 4, {{ 2, 2, 0x0e00 }}, 2, {{0}} },
	{ "SMInfo: all",                SM_INFO_RECORD, 0, {{0}}, 2, {{0}} },
	{ "SMInfo: GUID",               SM_INFO_RECORD, 4, {{ 4, 8, HOST + 1 }}, 1, {{ 0, 2, LID_OF(HOST + 1) }, { 12, 8, 0 }, { 20, 5, 0x593 }} },
	{ "SMInfo: second LID",         SM_INFO_RECORD, 1, {{ 0, 2, LID_OF_SECOND(HOST + 1) }}, 1, {{ 4, 8, HOST + 1 }} },
	{ "SMInfo: priority, state",    SM_INFO_RECORD, 0x60, {{ 24, 1, 0x22 }}, 1, {{ 4, 8, SW_B }} },
	{ "SMInfo: the key is secret",  SM_INFO_RECORD, 8, {{ 12, 8, 0x77 }}, 0, {{0}} },
	{ "Link: all",                  LINK_RECORD, 0, {{0}}, 16, {{0}} },
	{ "Link: from a switch",        LINK_RECORD, 1, {{ 0, 2, LID_OF(SW_A) }}, 4, {{ 0, 2, LID_OF(SW_A) }} },
	{ "Link: from a host port",     LINK_RECORD, 1, {{ 0, 2, LID_OF_SECOND(DUAL + 2) }}, 1, {{ 0, 2, LID_OF(DUAL + 2) }, { 2, 2, 0x0203 }, { 4, 2, LID_OF(SW_B) }} },
	{ "Link: from port",            LINK_RECORD, 3, {{ 0, 2, LID_OF(SW_C) }, { 2, 1, 2 }}, 1, {{ 3, 1, 1 }, { 4, 2, LID_OF(SW_B) }} },
	{ "Link: to",                   LINK_RECORD, 8, {{ 4, 2, LID_OF(SW_B) }}, 3, {{ 4, 2, LID_OF(SW_B) }} },
	{ "Link: to second LID",        LINK_RECORD, 8, {{ 4, 2, LID_OF_SECOND(LEFT + 1) }}, 1, {{ 0, 2, LID_OF(RIGHT + 1) }} },
	{ "Link: to port",              LINK_RECORD, 0xc, {{ 3, 1, 3 }, { 4, 2, LID_OF(SW_B) }}, 1, {{ 0, 2, LID_OF(DUAL + 2) }} },
	{ "Link: between",              LINK_RECORD, 9, {{ 0, 2, LID_OF(SW_A) }, { 4, 2, LID_OF(SW_B) }}, 0, {{0}} },
	{ "Link: to nobody",            LINK_RECORD, 8, {{ 4, 2, 0xbfff }}, 0, {{0}} },
	{ "GUIDInfo: all",              GUID_INFO_RECORD, 0, {{0}}, 20, {{0}} },
	{ "GUIDInfo: LID",              GUID_INFO_RECORD, 1, {{ 0, 2, LID_OF(DUAL + 2) }}, 2, {{ 8, 8, DUAL + 2 }} },
	{ "GUIDInfo: LID, block",       GUID_INFO_RECORD, 3, {{ 0, 2, LID_OF(DUAL + 1) }, { 2, 1, 1 }}, 1, {{ 2, 1, 1 }, { 8, 8, 0 }} },
	{ "GUIDInfo: of a switch",      GUID_INFO_RECORD, 0x11, {{ 0, 2, LID_OF(SW_B) }, { 8, 8, SW_B }}, 1, {{ 0, 2, LID_OF(SW_B) }} },
	{ "GUIDInfo: GUID 0",           GUID_INFO_RECORD, 0x10, {{ 8, 8, TWIN_2 + 1 }}, 1, {{ 0, 2, LID_OF(TWIN_2 + 1) }} },
	{ "P_KeyTable: all",            P_KEY_RECORD, 0, {{0}}, 4, {{0}} },
	{ "P_KeyTable: LID",            P_KEY_RECORD, 1, {{ 0, 2, LID_OF(HOST + 1) }}, 2, {{ 2, 3, 1 }, { 8, 2, 0xffff }} },
	{ "P_KeyTable: block",          P_KEY_RECORD, 2, {{ 2, 2, 1 }}, 1, {{ 8, 2, 0x8123 }} },
	{ "P_KeyTable: port",           P_KEY_RECORD, 4, {{ 4, 1, 1 }}, 3, {{0}} },
	{ "P_KeyTable: a host's port",  P_KEY_RECORD, 5, {{ 0, 2, LID_OF(HOST + 1) }, { 4, 1, 7 }}, 2, {{ 4, 1, 1 }} },
	{ "P_KeyTable: port of switch", P_KEY_RECORD, 5, {{ 0, 2, LID_OF(SW_A) }, { 4, 1, 1 }}, 1, {{ 4, 1, 1 }} },
	{ "VLArb: all",                 VL_ARB_RECORD, 0, {{0}}, 2, {{0}} },
	{ "VLArb: block",               VL_ARB_RECORD, 4, {{ 3, 1, 2 }}, 0, {{0}} },
	{ "SLtoVL: all",                SL_TO_VL_RECORD, 0, {{0}}, 9 * 9 + 1, {{0}} },
	{ "SLtoVL: port in, and hosts", SL_TO_VL_RECORD, 2, {{ 2, 1, 1 }}, 9 + 1, {{0}} },
	{ "SLtoVL: a host's ports",     SL_TO_VL_RECORD, 7, {{ 0, 2, LID_OF(HOST + 1) }, { 2, 2, 0x0507 }}, 1, {{ 2, 2, 0x0001 }} },
	{ "VLArb: a host's port",       VL_ARB_RECORD, 3, {{ 0, 2, LID_OF(HOST + 1) }, { 2, 1, 0 }}, 1, {{ 2, 2, 0x0101 }} },
	{ "SLtoVL: port out of switch", SL_TO_VL_RECORD, 7, {{ 0, 2, LID_OF(SW_A) }, { 2, 2, 0x0102 }}, 1, {{ 2, 2, 0x0102 }, { 8, 2, 0x1212 }} },
	{ "SLtoVL: other port out",     SL_TO_VL_RECORD, 5, {{ 0, 2, LID_OF(SW_A) }, { 3, 1, 1 }}, 9, {{ 2, 2, 0x0001 }, { 8, 8, 0 }} },
	{ "SLtoVL: no such port out",   SL_TO_VL_RECORD, 5, {{ 0, 2, LID_OF(SW_A) }, { 3, 1, 9 }}, 0, {{0}} },
	{ "SLtoVL: no such port in",    SL_TO_VL_RECORD, 3, {{ 0, 2, LID_OF(SW_A) }, { 2, 1, 9 }}, 0, {{0}} },
};
/* clang-format on */

START_TEST(record_cases)
{
	const struct record_case *c = &cases[_i];
	struct request q = request(GET_TABLE, c->attr, c->mask);

	for (unsigned i = 0; i < 2 && c->asked[i].bytes; i++) {
		put_component(&q, c->asked[i].at, c->asked[i].bytes,
		              meant(c->asked[i].value));
	}
	trust_me(&q);
	ck_assert_msg(status_of(&q) == 0, "%s", c->what);
	ck_assert_msg(n_records() == c->n, "%s: %zu", c->what, n_records());
	for (unsigned i = 0; i < 3 && c->n && c->first[i].bytes; i++) {
		const struct component *want = &c->first[i];
		uint64_t value = get(record(0) + want->at, want->bytes);
		ck_assert_msg(value == meant(want->value), "%s: byte %u is 0x%llx",
		              c->what, want->at, (unsigned long long)value);
	}
	q.mad[3] = GET;
	unsigned status = status_of(&q);
	ck_assert_msg(status == (c->n == 0   ? NO_RECORDS
	                         : c->n == 1 ? 0
	                                     : TOO_MANY),
	              "%s: Get 0x%04x", c->what, status);
}
END_TEST

/* Every record of a table says where it is: asked for by its own bytes it comes alone. */
START_TEST(each_record_finds_itself)
{
	static const struct {
		unsigned attr, bytes;
		uint64_t mask;
	} keys[] = {
		{ SWITCH_INFO_RECORD, 2, 1 }, { LFT_RECORD, 4, 3 },
		{ MFT_RECORD, 4, 0xb },       { SM_INFO_RECORD, 2, 1 },
		{ LINK_RECORD, 6, 0xf },      { GUID_INFO_RECORD, 3, 3 },
		{ P_KEY_RECORD, 5, 7 },       { VL_ARB_RECORD, 4, 7 },
		{ SL_TO_VL_RECORD, 4, 7 },
	};
	struct request q = request(GET_TABLE, keys[_i].attr, 0);
	static uint8_t all[4096];

	trust_me(&q);
	ck_assert_uint_eq(status_of(&q), 0);
	size_t n = n_records(), stride = 8 * get(reply.data + 44, 2);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_le(n * stride, sizeof(all));
	memcpy(all, record(0), n * stride);
	q.mad[3] = GET;
	put(q.mad + 48, 8, keys[_i].mask);
	for (size_t i = 0; i < n; i++) {
		memcpy(q.mad + DATA, all + i * stride, keys[_i].bytes);
		ck_assert_uint_eq(status_of(&q), 0);
		ck_assert_mem_eq(record(0), all + i * stride, stride);
	}
}
END_TEST

START_TEST(forwarding_tables)
{
	struct request q = request(GET, LFT_RECORD, 1);
	static const uint64_t switches[] = { SW_A, SW_B, SW_C };

	for (unsigned s = 0; s < 3; s++) {
		put_component(&q, 0, 2, lid_of(switches[s]));
		ck_assert_uint_eq(status_of(&q), 0);
		for (uint32_t lid = 0; lid < 64; lid++) {
			uint8_t port;
			ck_assert_int_eq(snap_lft(w->r, switches[s], lid, &port), E_OK);
			ck_assert_uint_eq(record(0)[8 + lid], port);
		}
		ck_assert_uint_eq(record(0)[8 + lid_of(switches[s])], 0);
	}
}
END_TEST

START_TEST(p_key_tables_are_for_the_trusted)
{
	struct request q = request(GET_TABLE, P_KEY_RECORD, 0);

	ck_assert_uint_eq(status_of(&q), REQ_INVALID);
	trust_me(&q);
	ck_assert_uint_eq(status_of(&q), 0);
	q.mad[3] = SET;
	ck_assert_uint_eq(status_of(&q), UNSUPPORTED);
}
END_TEST

TEST_SUITE(records)
{
	TCase *tc = tcase_create("small fabric");

	tcase_add_checked_fixture(tc, start_more, stop);
	tcase_add_loop_test(tc, record_cases, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tc, each_record_finds_itself, 0, 9);
	tcase_add_test(tc, forwarding_tables);
	tcase_add_test(tc, p_key_tables_are_for_the_trusted);
	suite_add_tcase(suite, tc);
}
