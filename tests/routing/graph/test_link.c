/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>

#include "routing/graph/graph.h"
#include "tests/lib/suite.h"

/* Codes and speeds from IBTA vol. 1, PathRecord.Rate: "2: 2.5 Gb/s, 3: 10 Gb/s, ..." */
static const struct {
	uint8_t width, speed, rate;
	uint32_t tenths;
} cases[] = {
	{ WIDTH_1X, SPEED_SDR, 2, 25 },
	{ WIDTH_4X, SPEED_SDR, 3, 100 },
	{ WIDTH_12X, SPEED_SDR, 4, 300 },
	{ WIDTH_2X, SPEED_SDR, 5, 50 },
	{ WIDTH_8X, SPEED_SDR, 6, 200 },
	{ WIDTH_1X, SPEED_DDR, 5, 50 },
	{ WIDTH_4X, SPEED_DDR, 6, 200 },
	{ WIDTH_12X, SPEED_DDR, 8, 600 },
	{ WIDTH_8X, SPEED_DDR, 7, 400 },
	{ WIDTH_1X, SPEED_QDR, 3, 100 },
	{ WIDTH_4X, SPEED_QDR, 7, 400 },
	{ WIDTH_8X, SPEED_QDR, 9, 800 },
	{ WIDTH_12X, SPEED_QDR, 10, 1200 },
	{ WIDTH_4X, SPEED_FDR10, 7, 400 },
	{ WIDTH_1X, SPEED_FDR, 11, 140 },
	{ WIDTH_2X, SPEED_FDR, 19, 280 },
	{ WIDTH_4X, SPEED_FDR, 12, 560 },
	{ WIDTH_8X, SPEED_FDR, 13, 1120 },
	{ WIDTH_12X, SPEED_FDR, 14, 1680 },
	{ WIDTH_1X, SPEED_EDR, 15, 250 },
	{ WIDTH_2X, SPEED_EDR, 20, 500 },
	{ WIDTH_4X, SPEED_EDR, 16, 1000 },
	{ WIDTH_8X, SPEED_EDR, 17, 2000 },
	{ WIDTH_12X, SPEED_EDR, 18, 3000 },
	{ WIDTH_1X, SPEED_HDR, 20, 500 },
	{ WIDTH_2X, SPEED_HDR, 16, 1000 },
	{ WIDTH_4X, SPEED_HDR, 17, 2000 },
	{ WIDTH_8X, SPEED_HDR, 21, 4000 },
	{ WIDTH_12X, SPEED_HDR, 22, 6000 },
	{ WIDTH_1X, SPEED_NDR, 16, 1000 },
	{ WIDTH_2X, SPEED_NDR, 17, 2000 },
	{ WIDTH_4X, SPEED_NDR, 21, 4000 },
	{ WIDTH_8X, SPEED_NDR, 23, 8000 },
	{ WIDTH_12X, SPEED_NDR, 24, 12000 },
	{ WIDTH_1X, SPEED_XDR, 17, 2000 },
	{ WIDTH_2X, SPEED_XDR, 21, 4000 },
	{ WIDTH_4X, SPEED_XDR, 23, 8000 },
	{ WIDTH_8X, SPEED_XDR, 25, 16000 },
	{ WIDTH_12X, SPEED_XDR, 25,
	  16000 }, /* no code for 2400 Gb/s: the next slower one */
	{ 0, SPEED_EDR, 0, 0 },
	{ 3, SPEED_EDR, 0, 0 },
	{ WIDTH_4X, SPEED_COUNT, 0, 0 },
	{ WIDTH_4X, 255, 0, 0 },
};

START_TEST(rate_of_width_and_speed)
{
	uint8_t rate = link_rate(cases[_i].width, cases[_i].speed);

	ck_assert_uint_eq(rate, cases[_i].rate);
	ck_assert_uint_eq(rate_speed(rate), cases[_i].tenths);
}
END_TEST

START_TEST(unknown_codes_have_no_speed)
{
	ck_assert_uint_eq(rate_speed(0), 0);
	ck_assert_uint_eq(rate_speed(1), 0);
	for (unsigned code = 26; code < 256; code++) {
		ck_assert_uint_eq(rate_speed((uint8_t)code), 0);
	}
}
END_TEST

START_TEST(names)
{
	ck_assert_str_eq(link_width_name(WIDTH_4X), "4x");
	ck_assert_str_eq(link_width_name(WIDTH_2X), "2x");
	ck_assert_str_eq(link_width_name(WIDTH_12X), "12x");
	ck_assert_str_eq(link_width_name(0), "?");
	ck_assert_str_eq(link_speed_name(SPEED_SDR), "SDR");
	ck_assert_str_eq(link_speed_name(SPEED_FDR10), "FDR10");
	ck_assert_str_eq(link_speed_name(SPEED_XDR), "XDR");
	ck_assert_str_eq(link_speed_name(SPEED_COUNT), "?");
	ck_assert_str_eq(node_type_name(NODE_CA), "ca");
	ck_assert_str_eq(node_type_name(NODE_SWITCH), "switch");
	ck_assert_str_eq(node_type_name(NODE_ROUTER), "router");
	ck_assert_str_eq(node_type_name(0), "?");
}
END_TEST

/* PortInfo.VLCap (IBTA vol. 1, 14.2.5.6): "1: VL0, 2: VL0, VL1, 3: VL0 - VL3, 4: VL0 -
 * VL7, 5: VL0 - VL14". */
START_TEST(data_vls)
{
	static const uint8_t vls[] = { 1, 1, 2, 4, 8, 15, 1, 1, 1 };

	for (unsigned i = 0; i < sizeof(vls); i++) {
		ck_assert_uint_eq(link_vls((uint8_t)i), vls[i]);
	}
	ck_assert_uint_eq(link_vls(255), 1);
}
END_TEST

TEST_SUITE(link)
{
	TCase *t = tcase_create("link");

	tcase_add_loop_test(t, rate_of_width_and_speed, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, unknown_codes_have_no_speed);
	tcase_add_test(t, names);
	tcase_add_test(t, data_vls);
	suite_add_tcase(suite, t);
}
