/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "conf/policy/qos.h"
#include "tests/lib/suite.h"

/* clang-format off */
static const struct {
	const char *text;
	int ret;
	unsigned n, last_vl, last_weight;
} weights[] = {
	{ "0:4",                  E_OK,      1,  0,   4 },
	{ "0:4,1:0,14:255",       E_OK,      3, 14, 255 },
	{ " 0 : 4 ,\t7:3 ",       E_OK,      2,  7,   3 },
	{ "",                     E_SYNTAX,  0,  0,   0 },
	{ "0",                    E_SYNTAX,  0,  0,   0 },
	{ "0:",                   E_SYNTAX,  0,  0,   0 },
	{ "0:4,",                 E_SYNTAX,  0,  0,   0 },
	{ ",0:4",                 E_SYNTAX,  0,  0,   0 },
	{ "0:4 1:4",              E_SYNTAX,  0,  0,   0 },
	{ "0:-1",                 E_SYNTAX,  0,  0,   0 },
	{ "0x1:1",                E_SYNTAX,  0,  0,   0 },
	{ "15:1",                 E_RANGE,   0,  0,   0 },
	{ "0:256",                E_RANGE,   0,  0,   0 },
	{ "0:99999999999999999999", E_RANGE, 0,  0,   0 },
};

static const struct {
	const char *text;
	int ret;
} maps[] = {
	{ "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",   E_OK },
	{ "0, 0, 0, 0, 1,1,1,1,2,2,2,2,3,3,3,3 ",    E_OK },
	{ "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14",      E_SYNTAX },
	{ "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,0", E_SYNTAX },
	{ "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,",     E_SYNTAX },
	{ "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,16",   E_RANGE },
	{ "",                                        E_SYNTAX },
};
/* clang-format on */

START_TEST(weights_text)
{
	struct qos_weights w = { .n = 77 };

	ck_assert_int_eq(qos_weights_parse(weights[_i].text, &w), weights[_i].ret);
	if (weights[_i].ret != E_OK) {
		ck_assert_uint_eq(w.n, 77);
		return;
	}
	ck_assert_uint_eq(w.n, weights[_i].n);
	ck_assert_uint_eq(w.entry[w.n - 1].vl, weights[_i].last_vl);
	ck_assert_uint_eq(w.entry[w.n - 1].weight, weights[_i].last_weight);
}
END_TEST

START_TEST(as_many_weights_as_a_table_holds)
{
	char text[66 * 4] = "";
	struct qos_weights w;

	for (unsigned i = 0; i < QOS_WEIGHTS_MAX; i++) {
		strcat(text, i ? ",1:2" : "1:2");
	}
	ck_assert_int_eq(qos_weights_parse(text, &w), E_OK);
	ck_assert_uint_eq(w.n, QOS_WEIGHTS_MAX);
	strcat(text, ",1:2");
	ck_assert_int_eq(qos_weights_parse(text, &w), E_RANGE);
}
END_TEST

START_TEST(map_text)
{
	uint8_t map[QOS_SLS];

	ck_assert_int_eq(qos_sl2vl_parse(maps[_i].text, map), maps[_i].ret);
}
END_TEST

/* Defaults as the manual page of OpenSM 3.3.23 names them, then the keys of all ports,
 * then those of the kind. */
START_TEST(who_wins)
{
	struct qos_keys keys[QOS_CLASS_COUNT];
	struct qos_setup q;

	for (unsigned i = 0; i < QOS_CLASS_COUNT; i++) {
		keys[i] = (struct qos_keys){ .high_limit = -1 };
	}
	qos_setup_of(keys, QOS_CA, &q);
	ck_assert_uint_eq(q.max_vls, 15);
	ck_assert_uint_eq(q.high_limit, 0);
	ck_assert_uint_eq(q.high.n, 15);
	ck_assert_uint_eq(q.high.entry[0].weight, 4);
	ck_assert_uint_eq(q.high.entry[14].weight, 0);
	ck_assert_uint_eq(q.low.entry[0].weight, 0);
	ck_assert_uint_eq(q.low.entry[14].vl, 14);
	ck_assert_uint_eq(q.low.entry[14].weight, 4);
	ck_assert_uint_eq(q.sl2vl[14], 14);
	ck_assert_uint_eq(q.sl2vl[15], 7);

	keys[QOS_ALL] = (struct qos_keys){ 8, 9, "0:1", "1:1",
		                           "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1" };
	keys[QOS_SWE].max_vls = 4;
	keys[QOS_SWE].high_limit = 0;
	keys[QOS_SWE].vlarb_low = "3:9";
	qos_setup_of(keys, QOS_CA, &q);
	ck_assert_uint_eq(q.max_vls, 8);
	ck_assert_uint_eq(q.high_limit, 9);
	ck_assert_uint_eq(q.sl2vl[15], 1);
	qos_setup_of(keys, QOS_SWE, &q);
	ck_assert_uint_eq(q.max_vls, 4);
	ck_assert_uint_eq(q.high_limit, 0);
	ck_assert_uint_eq(q.high.entry[0].vl, 0);
	ck_assert_uint_eq(q.low.entry[0].vl, 3);
	ck_assert_uint_eq(q.low.n, 1);
}
END_TEST

START_TEST(lanes_for_routing)
{
	struct config c = { .max_op_vls = 5, .qos = QOS_AUTO };

	for (unsigned i = 0; i < QOS_CLASS_COUNT; i++) {
		c.qos_keys[i].high_limit = -1;
	}
	ck_assert_uint_eq(config_lanes(&c), 15);
	c.max_op_vls = 4;
	ck_assert_uint_eq(config_lanes(&c), 8);
	c.qos_keys[QOS_ALL].max_vls = 6;
	ck_assert_uint_eq(config_lanes(&c), 6);
	c.qos_keys[QOS_SWE].max_vls = 12;
	ck_assert_uint_eq(config_lanes(&c), 8);
	c.max_op_vls_of[QOS_CA] = 1;
	c.max_op_vls_of[QOS_SWE] = 3;
	ck_assert_uint_eq(config_lanes(&c), 4);
	c.max_op_vls_of[QOS_SWE] = 0;
	c.max_op_vls = 1;
	ck_assert_uint_eq(config_lanes(&c), 1);
	c.max_op_vls = 5;
	c.qos = QOS_OFF;
	ck_assert_uint_eq(config_lanes(&c), 1);
}
END_TEST

/* clang-format off */
static const struct {
	const char *line;
	const char *error; /* NULL: none */
} lines[] = {
	{ "qos TRUE",                            NULL },
	{ "qos no",                              NULL },
	{ "qos auto",                            NULL },
	{ "qos maybe",                           "qos 'maybe': expected TRUE, FALSE or auto" },
	{ "qos_max_vls 16",                      "expected a number from 0 to 15" },
	{ "qos_ca_high_limit -1",                NULL },
	{ "qos_ca_high_limit 255",               NULL },
	{ "qos_ca_high_limit 256",               "expected a number from -1 to 255" },
	{ "qos_ca_high_limit -2",                "expected a number from -1 to 255" },
	{ "qos_swe_vlarb_high 0:4,1:0",          NULL },
	{ "qos_swe_vlarb_high 0:4,15:0",         "VLs from 0 to 14" },
	{ "qos_rtr_sl2vl 0,1,2",                 "16 VLs from 0 to 15" },
	{ "qos_sw0_sl2vl (null)",                NULL },
};
/* clang-format on */

START_TEST(rows)
{
	struct arena *a = arena_new();
	struct diags d;
	struct config c;
	struct option_sets s = { .n = 0 };
	const char *text = lines[_i].line;

	diags_init(&d, a);
	ck_assert_int_eq(option_sets_add(&s, config_rows, &c), E_OK);
	ck_assert_int_eq(option_set_defaults(&s, a), E_OK);
	int ret = option_read_text(&s, a, "file", text, strlen(text), &d);
	ck_assert_msg((ret == E_OK) == (lines[_i].error == NULL), "%s", text);
	ck_assert_msg(lines[_i].error == NULL ||
	                      strstr(diags_first_error(&d), lines[_i].error) != NULL,
	              "%s", diags_first_error(&d));
	arena_free(a);
}
END_TEST

TEST_SUITE(qos)
{
	TCase *t = tcase_create("qos");

	tcase_add_loop_test(t, weights_text, 0, sizeof(weights) / sizeof(weights[0]));
	tcase_add_test(t, as_many_weights_as_a_table_holds);
	tcase_add_loop_test(t, map_text, 0, sizeof(maps) / sizeof(maps[0]));
	tcase_add_test(t, who_wins);
	tcase_add_test(t, lanes_for_routing);
	tcase_add_loop_test(t, rows, 0, sizeof(lines) / sizeof(lines[0]));
	suite_add_tcase(suite, t);
}
