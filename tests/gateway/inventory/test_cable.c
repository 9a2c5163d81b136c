/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Modules of cables: bytes as SFF-8636 and CMIS place them, and any bytes. */
#include <check.h>
#include <string.h>

#include "gateway/inventory/cable.h"
#include "tests/lib/suite.h"

static uint8_t low[CABLE_LOW_BYTES], upper[CABLE_UPPER_BYTES];

static void setup(void)
{
	memset(low, 0, sizeof(low));
	memset(upper, ' ', sizeof(upper));
}

/* Bytes from \a at of the whole memory on. */
static void put(unsigned at, const char *text)
{
	memcpy(upper + at - 128, text, strlen(text));
}

static void fill_qsfp(uint8_t technology, uint8_t connector)
{
	upper[0] = 0x11;
	upper[129 - 128] = 0x40; /* class 2 */
	upper[130 - 128] = connector;
	upper[146 - 128] = 7;
	upper[147 - 128] = technology;
	put(148, "ACME");
	put(168, "AOC-7M");
	put(184, "A1");
	put(196, "SN12345");
	put(212, "240229");
	upper[250 - 128] = 0xAB;
}

START_TEST(qsfp)
{
	struct cable c;

	fill_qsfp(0x00, 0x23);
	low[22] = 41;
	low[23] = 0x80;
	low[26] = 0x80; /* 32,768: 3.2768 V */
	low[34] = 0x27; /* 10,000: 1 mW */
	low[35] = 0x10;
	low[56] = 0x13; /* 5,000: 0.5 mW on the last lane */
	low[57] = 0x88;
	ck_assert(cable_decode(low, upper, &c));
	ck_assert_str_eq(c.vendor, "ACME");
	ck_assert_str_eq(c.part, "AOC-7M");
	ck_assert_str_eq(c.revision, "A1");
	ck_assert_str_eq(c.serial, "SN12345");
	ck_assert_str_eq(c.date, "20240229");
	ck_assert_str_eq(c.technology, "active optical");
	ck_assert_double_eq(c.length_m, 7);
	ck_assert_double_eq(c.power_w, 2.0);
	ck_assert(c.certified && c.measures);
	ck_assert_double_eq(c.temperature_c, 41.5);
	ck_assert_double_eq_tol(c.supply_v, 3.2768, 1e-9);
	ck_assert_double_eq_tol(c.rx_mw[0], 1, 1e-9);
	ck_assert_double_eq_tol(c.tx_mw[3], 0.5, 1e-9);
}
END_TEST

static const struct technology {
	uint8_t byte, connector;
	const char *name;
	double length_m;
} technologies[] = {
	{ 0xA0, 0x23, "copper", 7 },         { 0xB0, 0x23, "copper", 7 },
	{ 0xC0, 0x23, "active copper", 7 },  { 0xF0, 0x23, "active copper", 7 },
	{ 0x00, 0x23, "active optical", 7 }, { 0x00, 0x0C, "optical", 0 },
	{ 0x90, 0x0C, "optical", 0 },        { 0x80, 0x23, "other", 7 },
};

START_TEST(technology)
{
	const struct technology *t = &technologies[_i];
	struct cable c;

	fill_qsfp(t->byte, t->connector);
	ck_assert(cable_decode(NULL, upper, &c));
	ck_assert_str_eq(c.technology, t->name);
	ck_assert_double_eq(c.length_m, t->length_m);
	ck_assert(!c.measures);
}
END_TEST

START_TEST(qsfp_dd)
{
	struct cable c;

	upper[0] = 0x18;
	put(129, "ACME");
	put(148, "DD-400G");
	put(166, "SN9");
	put(182, "250101");
	upper[201 - 128] = 48;       /* 12 W */
	upper[202 - 128] = 0x40 | 5; /* 5 x 1 m */
	upper[203 - 128] = 0x23;
	upper[212 - 128] = 10;
	low[14] = 0xFF; /* -1.0 */
	low[16] = 0x80;
	ck_assert(cable_decode(low, upper, &c));
	ck_assert_str_eq(c.part, "DD-400G");
	ck_assert_str_eq(c.serial, "SN9");
	ck_assert_str_eq(c.technology, "copper");
	ck_assert_double_eq(c.length_m, 5);
	ck_assert_double_eq(c.power_w, 12);
	ck_assert_double_eq(c.temperature_c, -1);
}
END_TEST

/* Any bytes: texts end, and the JSON can be written. */
START_TEST(any_bytes)
{
	uint32_t x = 2463534242u + (uint32_t)_i;

	for (unsigned round = 0; round < 200; round++) {
		struct cable c;

		for (unsigned i = 0; i < sizeof(upper) + sizeof(low); i++) {
			x ^= x << 13;
			x ^= x >> 17;
			x ^= x << 5;
			*(i < sizeof(upper) ? &upper[i] : &low[i - sizeof(upper)]) =
				(uint8_t)x;
		}
		upper[0] = round % 2 ? 0x18 : 0x0D;
		ck_assert(cable_decode(low, upper, &c));
		ck_assert_uint_le(strlen(c.vendor), 16);
		ck_assert_uint_le(strlen(c.date), 8);
		json_t *json = cable_json(&c);
		ck_assert_ptr_nonnull(json);
		json_decref(json);
	}
	upper[0] = 0x03; /* SFP */
	struct cable c;
	ck_assert(!cable_decode(low, upper, &c));
}
END_TEST

TEST_SUITE(cable)
{
	TCase *tc = tcase_create("cable");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, qsfp);
	tcase_add_loop_test(tc, technology, 0,
	                    sizeof(technologies) / sizeof(technologies[0]));
	tcase_add_test(tc, qsfp_dd);
	tcase_add_loop_test(tc, any_bytes, 0, 4);
	suite_add_tcase(suite, tc);
}
