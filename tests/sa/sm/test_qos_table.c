/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Tables of one port against small cases worked out by hand from IBA vol. 1, 14.2.5.9 and
 * 14.2.5.10: four bits per SL, SL 0 first; pairs of a byte with the VL and a byte of
 * weight.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/virtual_fabric.h"
#include "sa/mad/fields.h"
#include "sa/sm/program/opa_lanes.h"
#include "sa/sm/program/qos_table.h"
#include "tests/lib/suite.h"

#define IDENTITY "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define ZEROS "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"

static struct qos_setup setup_of(const char *sl2vl, const char *high, const char *low,
                                 uint8_t max_vls)
{
	struct qos_setup q = { .max_vls = max_vls };

	ck_assert_int_eq(qos_sl2vl_parse(sl2vl, q.sl2vl), E_OK);
	ck_assert_int_eq(qos_weights_parse(high, &q.high), E_OK);
	ck_assert_int_eq(qos_weights_parse(low, &q.low), E_OK);
	return q;
}

/* clang-format off */
static const struct {
	const char *sl2vl;
	uint8_t max_vls, vls, lanes;
	const char *want; /* hex digits, one per SL */
} maps[] = {
	{ IDENTITY, 15, 15,  1, "0123456789abcdef" },
	{ IDENTITY, 15,  8,  1, "012345670123456f" }, /* folded, SL 15 dropped as asked */
	{ IDENTITY, 15,  4,  1, "012301230123012f" },
	{ IDENTITY, 15,  1,  1, "000000000000000f" },
	{ IDENTITY,  2,  8,  1, "010101010101010f" },
	{ ZEROS,    15, 15,  1, "0000000000000000" },
	{ ZEROS,    15,  8,  3, "0120000000000000" }, /* lanes are where they must be */
	{ ZEROS,    15, 15, 15, "0123456789abcde0" },
	{ ZEROS,    15,  2,  4, "0101000000000000" }, /* a host's cable with fewer VLs */
	{ "15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15", 15, 8, 2, "01ffffffffffffff" },
};
/* clang-format on */

START_TEST(sl2vl)
{
	struct qos_setup q = setup_of(maps[_i].sl2vl, "0:1", "0:1", maps[_i].max_vls);
	struct qos_port p = { .setup = &q, .vls = maps[_i].vls, .lanes = maps[_i].lanes };
	uint8_t table[8];

	qos_table_sl2vl(&p, 0, table);
	for (unsigned sl = 0; sl < 16; sl++) {
		unsigned vl = sl % 2 ? table[sl / 2] & 0xf : table[sl / 2] >> 4;
		char digit = "0123456789abcdef"[vl];

		ck_assert_msg(digit == maps[_i].want[sl], "SL %u has VL %u", sl, vl);
	}
}
END_TEST

/* clang-format off */
static const struct {
	const char *high, *low;
	uint8_t vls, lanes;
	unsigned high_cap, low_cap;
	const char *want_high, *want_low;
	unsigned missing;
} arbs[] = {
	{ "0:4,1:0",     "0:0,1:4,2:4",     8, 1, 8, 8, "0:4,1:0",     "0:0,1:4,2:4",     0 },
	{ "0:4,9:3",     "8:1",             8, 1, 8, 8, "0:4,1:3",     "0:1",             0 },
	/* more pairs than the port holds */
	{ "0:4,1:0,2:0", "0:1,1:1,2:1,3:1", 8, 1, 2, 3, "0:4,1:0",     "0:1,1:1,2:1",     0 },
	{ "0:4",         "0:1",             8, 1, 0, 0, "",            "",                0 },
	/* a lane without a weight: its own pair, a free place, another's pair */
	{ "0:4",         "1:0,2:4",         8, 3, 8, 8, "0:4",         "1:1,2:4",         0 },
	{ "0:4",         "0:4",             8, 3, 8, 8, "0:4",         "0:4,1:1,2:1",     0 },
	{ "0:4",         "0:4,7:0",         8, 2, 8, 2, "0:4",         "0:4,1:1",         0 },
	/* only the high table has room; then none has */
	{ "0:4",         "0:4,0:4",         8, 2, 8, 2, "0:4,1:1",     "0:4,0:4",         0 },
	{ "0:4,0:1",     "0:4,0:4",         8, 3, 2, 2, "0:4,0:1",     "0:4,0:4",         2 },
	/* two lanes share a VL of a host's cable */
	{ "0:4",         "0:4",             2, 4, 8, 8, "0:4",         "0:4,1:1",         0 },
};
/* clang-format on */

static void expect(const char *what, const char *want, uint8_t (*got)[64])
{
	struct qos_weights w = { .n = 0 };

	if (want[0]) {
		ck_assert_int_eq(qos_weights_parse(want, &w), E_OK);
	}
	for (unsigned i = 0; i < 64; i++) {
		const uint8_t *pair = &got[i / 32][i % 32 * 2];
		unsigned vl = i < w.n ? w.entry[i].vl : 0;
		unsigned weight = i < w.n ? w.entry[i].weight : 0;

		ck_assert_msg(pair[0] == vl && pair[1] == weight,
		              "%s %u: %u:%u instead of %u:%u", what, i, pair[0], pair[1],
		              vl, weight);
	}
}

START_TEST(arbitration)
{
	uint8_t got[4][64];
	struct qos_setup q = setup_of(IDENTITY, arbs[_i].high, arbs[_i].low, 15);
	struct qos_port p = { .setup = &q, .vls = arbs[_i].vls, .lanes = arbs[_i].lanes };

	ck_assert_uint_eq(qos_table_arb(&p, arbs[_i].low_cap, arbs[_i].high_cap, got),
	                  arbs[_i].missing);
	expect("low", arbs[_i].want_low, got);
	expect("high", arbs[_i].want_high, got + 2);
}
END_TEST

/* A rule with two classes of ports between switches and two QoS levels. */
static struct vl_rule small_rule(void)
{
	struct vl_rule r = { .vls = 4, .levels = 2, .level_shift = 3 };

	for (unsigned sl = 0; sl < VL_SLS; sl++) {
		for (unsigned in = 0; in < VL_CLASSES; in++) {
			r.vl[in][0][sl] = (uint8_t)(sl >> 3);
			r.vl[in][1][sl] = (uint8_t)((sl & 1) | (sl >> 3) << 1);
			r.vl[in][2][sl] = (uint8_t)((in == 1) | (sl >> 3) << 1);
			r.vl[in][3][sl] = r.vl[in][2][sl]; /* no port has it */
		}
	}
	return r;
}

/* clang-format off */
static const struct {
	uint8_t class_in, class_out, vls;
	const char *want;
} rule_maps[] = {
	{ 0, 0, 8, "0000000011111111" },
	{ 2, 1, 8, "0101010123232323" },
	{ 0, 2, 8, "0000000022222222" },
	{ 1, 2, 8, "1111111133333333" },
	{ 0, 0, 1, "0000000000000000" }, /* a host's cable with one VL */
};
/* clang-format on */

/* The rule decides, not the keys. */
START_TEST(rule_sl2vl)
{
	struct vl_rule r = small_rule();
	struct qos_setup q = setup_of(IDENTITY, "0:1", "0:1", 15);
	struct qos_port p = { .setup = &q,
		              .vls = rule_maps[_i].vls,
		              .lanes = 2,
		              .rule = &r,
		              .class_out = rule_maps[_i].class_out };
	uint8_t table[8];

	qos_table_sl2vl(&p, rule_maps[_i].class_in, table);
	for (unsigned sl = 0; sl < 16; sl++) {
		unsigned vl = sl % 2 ? table[sl / 2] & 0xf : table[sl / 2] >> 4;

		ck_assert_msg((char)('0' + vl) == rule_maps[_i].want[sl],
		              "SL %u has VL %u", sl, vl);
	}
}
END_TEST

/* clang-format off */
static const struct {
	uint8_t class_out;
	bool swe;
	const char *high, *low, *want_high, *want_low;
} rule_arbs[] = {
	{ 1, true,  "2:9",     "0:1,1:2,2:3,3:4", "2:9", "0:1,1:2,2:3,3:4" },
	{ 1, true,  "2:9",     "0:1",             "2:9", "0:1,1:1,3:1" },
	/* towards a CA: those of VL 0 stay, those of VL 2 are VL 1's, the others go */
	{ 0, true,  "2:9,3:7", "1:1,0:5,2:6,3:4", "1:9", "0:5,1:6" },
	{ 0, true,  "3:7",     "1:1",             "",    "0:1,1:1" },
	/* a CA's own are written for its VLs */
	{ 0, false, "1:9",     "0:1,1:2,2:3",     "1:9", "0:1,1:2,2:3" },
};
/* clang-format on */

START_TEST(rule_arbitration)
{
	struct vl_rule r = small_rule();
	uint8_t got[4][64];
	struct qos_setup q =
		setup_of(IDENTITY, rule_arbs[_i].high, rule_arbs[_i].low, 15);
	struct qos_port p = { .setup = &q,
		              .vls = 8,
		              .lanes = 2,
		              .rule = &r,
		              .class_out = rule_arbs[_i].class_out,
		              .swe = rule_arbs[_i].swe };

	ck_assert_uint_eq(qos_table_arb(&p, 8, 8, got), 0);
	expect("low", rule_arbs[_i].want_low, got);
	expect("high", rule_arbs[_i].want_high, got + 2);
}
END_TEST

START_TEST(rule_weights)
{
	struct vl_rule r = small_rule();
	struct qos_setup even = setup_of(IDENTITY, "2:9,3:9", "0:1,1:1,2:3,3:3", 15);
	struct qos_setup uneven = setup_of(IDENTITY, "2:9", "0:1,1:1,2:3,3:3", 15);

	ck_assert(!qos_table_uneven(&even, &r)); /* levels may differ */
	ck_assert(qos_table_uneven(&uneven, &r));
	qos_table_even(&uneven, 4);
	ck_assert(!qos_table_uneven(&uneven, &r));
	ck_assert(uneven.high.n == 0 && uneven.low.n == 4);
}
END_TEST

START_TEST(long_tables)
{
	struct qos_setup q = setup_of(IDENTITY, "0:1", "0:1", 15);
	struct qos_port p = { .setup = &q, .vls = 8, .lanes = 1 };
	uint8_t got[4][64];

	q.low.n = 64;
	for (unsigned i = 0; i < 64; i++) {
		q.low.entry[i].vl = i % 8;
		q.low.entry[i].weight = (uint8_t)(i + 1);
	}
	ck_assert_uint_eq(qos_table_arb(&p, 64, 64, got), 0);
	ck_assert_uint_eq(got[0][63], 32);
	ck_assert_uint_eq(got[1][0], 0);
	ck_assert_uint_eq(got[1][1], 33);
	ck_assert_uint_eq(got[1][63], 64);
}
END_TEST

START_TEST(overruled)
{
	struct qos_setup q =
		setup_of("0,1,1,3,4,5,6,7,8,9,10,11,12,13,14,15", "0:1", "0:1", 15);

	ck_assert_uint_eq(qos_table_overruled(&q, 1), QOS_SLS);
	ck_assert_uint_eq(qos_table_overruled(&q, 2), QOS_SLS);
	ck_assert_uint_eq(qos_table_overruled(&q, 3), 2);
}
END_TEST

/* --- Omni-Path ------------------------------------------------------------------------------
 *
 * Arbitration and buffers are those that opa-fm 10.10 leaves on a simulated fabric (tests/e2e/omnipath_diff.sh)
 * with the same virtual fabrics: 10, 37, 20 and 33 per cent, one of high priority.
 */

static const struct virtual_fabric fabric_list[] = {
	{ .name = "a",
	  .enable = true,
	  .qos = true,
	  .sl = 0,
	  .multicast_sl = 0,
	  .service = { .bandwidth = 10, .hoq_life = -1 } },
	{ .name = "b",
	  .enable = true,
	  .sl = 1,
	  .multicast_sl = 1,
	  .service = { .hoq_life = -1 } },
	{ .name = "c",
	  .enable = true,
	  .qos = true,
	  .sl = 2,
	  .multicast_sl = 2,
	  .service = { .bandwidth = 20, .hoq_life = -1 } },
	{ .name = "d",
	  .enable = true,
	  .qos = true,
	  .sl = 3,
	  .multicast_sl = 3,
	  .max_mtu = 4,
	  .service = { .bandwidth = 33, .hoq_life = 13 } },
	{ .name = "e",
	  .enable = true,
	  .qos = true,
	  .sl = 4,
	  .multicast_sl = 4,
	  .service = { .high_priority = true, .hoq_life = -1 } },
	{ .name = "off", .sl = 9, .multicast_sl = 9 },
};
static const struct virtual_fabrics fabrics = { .all = fabric_list, .n = 6 };
static const struct lanes one_lane = { .n = 1 };
static const struct opa_link usual = {
	.vls = 8, .mtu = 7, .low_cap = 16, .high_cap = 16
};

static unsigned pairs_sum(const uint8_t *table, unsigned vl)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < OPA_BYTES_VL_ARB; i += 2) {
		sum += table[i] == vl ? table[i + 1] : 0;
	}
	return sum;
}

START_TEST(opa_fabrics)
{
	struct opa_profile f;
	struct opa_lanes l;

	ck_assert(opa_lanes_init(&l, &one_lane, &fabrics, 0));
	opa_lanes_profile(&l, &usual, &f);
	for (unsigned i = 0; i < OPA_LANES; i++) {
		ck_assert_uint_eq(l.sl_to_sc[i], i < 5 ? i : OPA_MAP_NONE);
		ck_assert_uint_eq(l.sc_to_sl[i], i < 5 ? i : OPA_MAP_NONE);
		ck_assert_uint_eq(f.sc_to_vl[i], i == 15 ? 15 : i % 8);
		ck_assert_uint_eq(f.sc_to_vl_r[i], i < 5 ? i : 15);
		ck_assert_uint_eq(f.mtu[i], i == 3 ? 4 : i < 5 ? 7 : 0);
		ck_assert_int_eq(f.hoq_life[i], i == 3 ? 13 : -1);
	}
	ck_assert_uint_eq(f.vls, 0x1f);
	ck_assert_uint_eq(pairs_sum(f.arb[0], 0), 254);
	ck_assert_uint_eq(pairs_sum(f.arb[0], 1), 3 * 254 + 160);
	ck_assert_uint_eq(pairs_sum(f.arb[0], 2), 2 * 254);
	ck_assert_uint_eq(pairs_sum(f.arb[0], 3),
	                  3 * 254 + 127); /* its packets are smaller */
	ck_assert_uint_eq(pairs_sum(f.arb[0], 4), 0);
	ck_assert_uint_eq(pairs_sum(f.arb[1], 4), 160);
	ck_assert_uint_eq(f.missing, 0);
}
END_TEST

/* Nobody is without a weight in a small table, and one that is too small says so. */
START_TEST(opa_small_tables)
{
	struct opa_link k = usual;
	struct opa_profile f;
	struct opa_lanes l;

	ck_assert(opa_lanes_init(&l, &one_lane, &fabrics, 0));
	for (unsigned cap = 0; cap <= 16; cap++) {
		unsigned with = 0;

		k.low_cap = (uint8_t)cap;
		opa_lanes_profile(&l, &k, &f);
		for (unsigned vl = 0; vl < 4; vl++) {
			with += pairs_sum(f.arb[0], vl) != 0;
		}
		ck_assert_uint_eq(with, cap < 4 ? cap : 4);
		ck_assert_uint_eq(f.missing, 4 - with);
		ck_assert_uint_eq(f.arb[0][2 * cap + 1], 0);
	}
}
END_TEST

/* Many SLs of both priorities on few VLs: each has an SC that leads to its own VLs. */
START_TEST(opa_many_sls)
{
	struct virtual_fabric many[15];
	struct virtual_fabrics list = { .all = many, .n = 15 };
	struct opa_profile f;
	struct opa_lanes l;
	uint32_t high = 0, low = 0;

	memset(many, 0, sizeof(many));
	for (unsigned i = 0; i < 15; i++) {
		many[i] =
			(struct virtual_fabric){ .enable = true,
			                         .qos = true,
			                         .sl = (uint8_t)i,
			                         .multicast_sl = (uint8_t)i,
			                         .service = { .high_priority = i % 5 == 4,
			                                      .bandwidth = 5,
			                                      .hoq_life = -1 } };
	}
	ck_assert(opa_lanes_init(&l, &one_lane, &list, 0));
	opa_lanes_profile(&l, &usual, &f);
	for (unsigned i = 0; i < 15; i++) {
		unsigned sc = l.sl_to_sc[i], vl = f.sc_to_vl[sc];

		ck_assert_uint_ne(sc, OPA_MAP_NONE);
		ck_assert_uint_eq(l.sc_to_sl[sc], i);
		*(i % 5 == 4 ? &high : &low) |= 1U << vl;
		ck_assert_uint_gt(pairs_sum(f.arb[i % 5 == 4], vl), 0);
	}
	ck_assert_uint_eq(high & low, 0);
	ck_assert_uint_eq((high | low) & 0x8000, 0);
}
END_TEST

static unsigned lanes_sum(const uint8_t *b, unsigned *ret_shared)
{
	unsigned sum = 0;

	*ret_shared = (unsigned)field_get(b, OPA_BC_SHARED_LIMIT);
	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		sum += (unsigned)field_get(b, OPA_BC_DEDICATED(vl));
	}
	return sum + *ret_shared;
}

/* clang-format off */
static const struct {
	const struct virtual_fabrics *fabrics;
	unsigned space;
	bool shared;
	unsigned vl0, vl15, rest;
} buffers[] = {
	{ NULL,     2176, true,  244, 150, 1782 },
	{ &fabrics, 2176, true,  244, 150,  934 }, /* VL 3 has packets of 2,048 bytes */
	{ NULL,     2176, false, 2026, 150,    0 },
	{ &fabrics, 1200, true,  162, 150,   40 }, /* the smallest share loses the part for the wire */
	{ &fabrics,  800, true,    0, 150,  130 }, /* all did, and the smallest one its packet */
	{ &fabrics,  160, true,    0, 150,   10 }, /* all share */
};
/* clang-format on */

START_TEST(opa_buffers)
{
	uint8_t own[OPA_BYTES_PORT_INFO] = { 0 }, far[OPA_BYTES_PORT_INFO] = { 0 },
		table[OPA_BYTES_BUFFER_CONTROL];
	struct opa_profile f;
	struct opa_lanes l;
	unsigned shared;

	field_set(own, OPA_PI_REPLAY_BUFFER, 128);
	field_set(own, OPA_PI_REPLAY_WIRE, 8);
	field_set(far, OPA_PI_REPLAY_WIRE, 8);
	field_set(own, OPA_PI_LTP_CRC_ACTIVE, 2);
	field_set(far, OPA_PI_BUFFER_ALLOC, 3);
	field_set(far, OPA_PI_OVERALL_BUFFER_SPACE, buffers[_i].space);
	ck_assert(opa_lanes_init(&l, &one_lane, buffers[_i].fabrics, 0));
	opa_lanes_profile(&l, &usual, &f);
	opa_lanes_buffers(&f, own, far, buffers[_i].shared, table);
	ck_assert_uint_le(lanes_sum(table, &shared), buffers[_i].space);
	ck_assert_uint_eq(field_get(table, OPA_BC_DEDICATED(0)), buffers[_i].vl0);
	ck_assert_uint_eq(field_get(table, OPA_BC_DEDICATED(15)), buffers[_i].vl15);
	ck_assert_uint_eq(shared, buffers[_i].rest);
	ck_assert_uint_eq(field_get(table, OPA_BC_SHARED(0)), buffers[_i].rest);
}
END_TEST

/* A rule under which every SL takes two VLs out of each class needs 32 SCs with all SLs. */
START_TEST(opa_rule_too_large)
{
	struct vl_rule rule = { .vls = 2, .levels = 2, .level_shift = 3 };
	struct lanes lanes = { .n = 8, .rule = &rule };
	struct opa_lanes l;

	for (unsigned i = 0; i < VL_CLASSES * VL_CLASSES * VL_SLS; i++) {
		rule.vl[i / VL_SLS / VL_CLASSES][i / VL_SLS % VL_CLASSES][i % VL_SLS] =
			i / VL_SLS / VL_CLASSES > 1;
	}
	ck_assert(opa_lanes_init(&l, &lanes, NULL, 1)); /* one level */
	ck_assert_uint_eq(l.sls, 0xff);
	ck_assert(!opa_lanes_init(&l, &lanes, NULL, 1 | 1 << 8));
}
END_TEST

TEST_SUITE(qos_table)
{
	TCase *t = tcase_create("qos_table");

	tcase_add_loop_test(t, sl2vl, 0, sizeof(maps) / sizeof(maps[0]));
	tcase_add_loop_test(t, arbitration, 0, sizeof(arbs) / sizeof(arbs[0]));
	tcase_add_loop_test(t, rule_sl2vl, 0, sizeof(rule_maps) / sizeof(rule_maps[0]));
	tcase_add_loop_test(t, rule_arbitration, 0,
	                    sizeof(rule_arbs) / sizeof(rule_arbs[0]));
	tcase_add_test(t, rule_weights);
	tcase_add_test(t, long_tables);
	tcase_add_test(t, overruled);
	tcase_add_test(t, opa_fabrics);
	tcase_add_test(t, opa_small_tables);
	tcase_add_test(t, opa_many_sls);
	tcase_add_loop_test(t, opa_buffers, 0, sizeof(buffers) / sizeof(buffers[0]));
	tcase_add_test(t, opa_rule_too_large);
	suite_add_tcase(suite, t);
}
