/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * LIDs above 0xBFFF: in a GRH, and in notices. The bytes of the GRH are those that the kernel's hfi1 driver makes
 * of a LID (OPA_MAKE_ID): the OUI 00 06 6A, a zero, and 32 bits of LID. Notices are read from Omni-Path's layout
 * by the field tables of the simulated devices, which were written independently.
 */
#include "sa/mad/opa_lid.h"

#include <string.h>

#include "sa/mad/fields.h"
#include "sa/mad/notice.h"
#include "sa/mad/opa_smp.h"
#include "sa/mad/transport.h"
#include "sa/sim/opa/opa_fields.h"
#include "tests/lib/suite.h"

#define PREFIX UINT64_C(0xfe80000000000000)

static const uint8_t gid_of_c123[16] = { 0xfe, 0x80, 0,    0, 0, 0, 0,    0,
	                                 0x00, 0x06, 0x6a, 0, 0, 0, 0xc1, 0x23 };
static const uint8_t gid_of_123456[16] = { 0xfe, 0x80, 0,    0, 0, 0,    0,    0,
	                                   0x00, 0x06, 0x6a, 0, 0, 0x12, 0x34, 0x56 };

static const struct {
	const char *what;
	uint32_t own, to;
	const uint8_t *gid; /* NULL: no GRH */
} addresses[] = {
	{ "both low", 5, 6, NULL },
	{ "the highest low ones", 0xbfff, 0xbfff, NULL },
	{ "a high destination", 5, 0xc123, gid_of_c123 },
	{ "one of 24 bits", 5, 0x123456, gid_of_123456 },
	{ "a high source that is not known yet", 0, 6, NULL },
	{ "a directed route from a high LID", 0xc000, 0xffff, NULL },
};

START_TEST(addresses_get_a_grh)
{
	struct mad_addr a = { .lid = addresses[_i].to };
	bool high = opa_addr_encode(addresses[_i].own, PREFIX, &a);

	ck_assert_msg(high == (addresses[_i].gid != NULL), "%s", addresses[_i].what);
	ck_assert_int_eq(a.has_grh, high);
	ck_assert_uint_eq(a.lid, addresses[_i].to);
	if (high) {
		ck_assert_mem_eq(a.gid, addresses[_i].gid, 16);
		a.lid &= 0xffff; /* as it comes from the kernel */
		opa_addr_decode(&a);
		ck_assert_uint_eq(a.lid, addresses[_i].to);
	}
}
END_TEST

/* Also the way from a high LID to a low one. */
START_TEST(from_a_high_lid)
{
	struct mad_addr a = { .lid = 6 };

	ck_assert(opa_addr_encode(0xc000, PREFIX, &a));
	ck_assert_uint_eq(opa_lid_of_gid(a.gid), 6);
}
END_TEST

/* A GRH of InfiniBand says a port, and changes nothing. */
START_TEST(other_gids)
{
	struct mad_addr a = { .lid = 6, .has_grh = true };

	field_set(a.gid, 0, 64, PREFIX);
	field_set(a.gid, 64, 64, UINT64_C(0x0011750101020304));
	opa_addr_decode(&a);
	ck_assert_uint_eq(a.lid, 6);
	ck_assert_uint_eq(opa_lid_of_gid(a.gid), 0);
	a = (struct mad_addr){ .lid = 6 }; /* bytes without a GRH mean nothing */
	opa_gid_of_lid(PREFIX, 0xc123, a.gid);
	opa_addr_decode(&a);
	ck_assert_uint_eq(a.lid, 6);
}
END_TEST

/* Generic traps of devices, by number; the two LIDs of a violation. */
static const uint16_t traps[] = { 128, 129, 130, 131, 144, 145, 256, 257, 258, 259 };

START_TEST(notices_keep_24_bits)
{
	enum { ISSUER = 0x123456, FIRST = 0x01c001, SECOND = 0xefffff };
	uint8_t wide[OPA_BYTES_NOTICE] = { 0 }, shape[NOTICE_SHAPE_BYTES];
	unsigned number = traps[_i];
	bool two = number >= 257;

	field_set(wide, ONT_GENERIC, 1);
	field_set(wide, ONT_NUMBER, number);
	field_set(wide, ONT_ISSUER_LID, ISSUER);
	if (number == 145) { /* SystemImageGUID, LID */
		field_set(wide, 320, 32, FIRST);
	} else if (number == 259) { /* valid bits, P_Key, LID1, LID2 */
		field_set(wide, 288, 32, FIRST);
		field_set(wide, 320, 32, SECOND);
	} else {
		field_set(wide, ONT_LID, FIRST);
		field_set(wide, 288, 32, two ? SECOND : 0);
	}
	opa_notice_decode(wide, shape);
	ck_assert_uint_eq(notice_issuer(shape), ISSUER);
	ck_assert_uint_eq(notice_lid(shape), FIRST);
	ck_assert_uint_eq(notice_lid_2(shape), two ? SECOND : 0);
	notice_narrow(shape);
	ck_assert_uint_eq(notice_issuer(shape), 0);
	ck_assert_uint_eq(notice_lid(shape), 0);
	ck_assert_uint_eq(notice_lid_2(shape), 0);
}
END_TEST

/* InfiniBand's notices are read as they were before: what is reserved there is no part of a LID. */
START_TEST(notices_of_infiniband)
{
	uint8_t notice[NOTICE_SHAPE_BYTES];
	unsigned number = traps[_i];

	memset(notice, 0xff, sizeof(notice));
	field_set(notice, NTC_TRAP_NUMBER, number);
	field_set(notice, NTC_ISSUER_LID, 0x21);
	field_set(notice, 80, 48, UINT64_C(0xffff00220023));
	if (number == 128) {
		field_set(notice, NTC_128_LID, 0x22);
	}
	notice_clear_high(notice);
	ck_assert_uint_eq(notice_issuer(notice), 0x21);
	ck_assert_uint_eq(notice_lid(notice), 0x22);
	ck_assert_uint_eq(notice_lid_2(notice), number >= 257 ? 0x23 : 0);
	memcpy(notice, (uint8_t[]){ 1, 2, 3, 4 }, 4); /* a vendor's: nothing is known */
	field_set(notice, NTC_IS_GENERIC, 0);
	memset(notice + 10, 0xff, sizeof(notice) - 10);
	notice_clear_high(notice);
	ck_assert_uint_eq(notice[10], 0xff);
	ck_assert_uint_eq(notice_issuer(notice), 0x21);
}
END_TEST

TEST_SUITE(opa_lid)
{
	TCase *t = tcase_create("opa_lid");

	tcase_add_loop_test(t, addresses_get_a_grh, 0,
	                    sizeof(addresses) / sizeof(addresses[0]));
	tcase_add_test(t, from_a_high_lid);
	tcase_add_test(t, other_gids);
	tcase_add_loop_test(t, notices_keep_24_bits, 0, sizeof(traps) / sizeof(traps[0]));
	tcase_add_loop_test(t, notices_of_infiniband, 0,
	                    sizeof(traps) / sizeof(traps[0]));
	suite_add_tcase(suite, t);
}
