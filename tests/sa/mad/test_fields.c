/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "tests/lib/suite.h"

enum { BYTES = 24, BITS = 8 * BYTES };

static unsigned bit_of(const uint8_t *p, unsigned bit)
{
	return p[bit / 8] >> (7 - bit % 8) & 1;
}

static void fill(uint8_t *p, uint32_t *seed)
{
	for (unsigned i = 0; i < BYTES; i++) {
		*seed = *seed * 1664525 + 1013904223;
		p[i] = (uint8_t)(*seed >> 24);
	}
}

/* Against the definition, bit by bit: every offset and width. */
START_TEST(get_is_bits)
{
	uint8_t p[BYTES];
	uint32_t seed = 20261120;

	fill(p, &seed);
	for (unsigned width = 1; width <= 64; width++) {
		for (unsigned bit = 0; bit + width <= BITS; bit++) {
			uint64_t want = 0;
			for (unsigned i = 0; i < width; i++) {
				want = want << 1 | bit_of(p, bit + i);
			}
			ck_assert_msg(field_get(p, bit, width) == want, "bit %u width %u",
			              bit, width);
		}
	}
}
END_TEST

START_TEST(set_leaves_the_rest)
{
	uint8_t before[BYTES], after[BYTES];
	uint32_t seed = 7;

	for (unsigned width = 1; width <= 64; width++) {
		for (unsigned bit = 0; bit + width <= BITS; bit++) {
			fill(before, &seed);
			memcpy(after, before, BYTES);
			uint64_t value = ((uint64_t)seed << 32 | (seed * 2654435761u));
			field_set(after, bit, width, value);
			uint64_t mask =
				width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
			ck_assert_msg(field_get(after, bit, width) == (value & mask),
			              "bit %u width %u", bit, width);
			field_set(after, bit, width, field_get(before, bit, width));
			ck_assert_mem_eq(before, after, BYTES);
		}
	}
}
END_TEST

/* Values of PortInfo by the IBTA specification, vol. 1: LinkSpeedActive 1, 2, 4 are 2.5, 5 and
 * 10 Gb/s per lane; LinkSpeedExtActive 1, 2, 4, 8 are FDR, EDR, HDR, NDR and come first. */
START_TEST(speed_of_a_port)
{
	static const struct {
		uint8_t active, ext, speed;
	} known[] = {
		{ 1, 0, SPEED_SDR }, { 2, 0, SPEED_DDR }, { 4, 0, SPEED_QDR },
		{ 4, 1, SPEED_FDR }, { 4, 2, SPEED_EDR }, { 4, 4, SPEED_HDR },
		{ 4, 8, SPEED_NDR },
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++) {
		uint8_t info[64] = { 0 };

		field_set(info, PI_LINK_SPEED_ACTIVE, known[i].active);
		field_set(info, PI_LINK_SPEED_EXT_ACTIVE, known[i].ext);
		ck_assert_msg(port_info_speed(info) == known[i].speed,
		              "%u, extended %u: %u", known[i].active, known[i].ext,
		              port_info_speed(info));
		field_set(info, PI_LINK_SPEED_EXT_ACTIVE_2, 1);
		ck_assert_uint_eq(port_info_speed(info), SPEED_XDR);
	}
}
END_TEST

TEST_SUITE(fields)
{
	TCase *tc = tcase_create("bits");

	tcase_add_test(tc, get_is_bits);
	tcase_add_test(tc, set_leaves_the_rest);
	tcase_add_test(tc, speed_of_a_port);
	suite_add_tcase(suite, tc);
}
