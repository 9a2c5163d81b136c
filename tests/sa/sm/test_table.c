/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The shadow copy of tables, and how requests name their blocks. The modifiers are those of IBA vol. 1,
 * 14.2.5.6 to 14.2.5.12; that of virtual ports is the one of sa/mad/fields.h.
 */
#include <check.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/table/table_io.h"
#include "tests/lib/suite.h"

enum { GUID = 7, PORTS = 36 };

static struct table_store store;
static struct disc_port ports[PORTS + 1];
static struct disc_node node = { .guid = GUID, .ports = ports, .n_ports = PORTS };

static const uint8_t *filled(uint8_t value)
{
	static uint8_t data[TABLE_BYTES_MOST];

	memset(data, value, sizeof(data));
	return data;
}

/* clang-format off */
static const struct {
	enum table_kind_id kind;
	uint8_t type;
	uint32_t unit;
	unsigned row;
	uint32_t col, mod;
	unsigned port;
} names[] = {
	{ TABLE_LFT,          NODE_SWITCH, 0,                        0,  767, 767,        0 },
	{ TABLE_MFT,          NODE_SWITCH, 0,                        2,  5,   0x20000005, 0 },
	{ TABLE_P_KEYS,       NODE_SWITCH, 12,                       0,  1,   0x000c0001, 12 },
	{ TABLE_P_KEYS,       NODE_CA,     2,                        0,  3,   3,          2 },
	{ TABLE_GUIDS,        NODE_SWITCH, 0,                        0,  4,   4,          0 },
	{ TABLE_GUIDS,        NODE_CA,     2,                        0,  4,   4,          2 },
	{ TABLE_VL_ARB,       NODE_SWITCH, 0,                        36, 3,   0x00040024, 36 },
	{ TABLE_VL_ARB,       NODE_CA,     0,                        2,  0,   0x00010000, 2 },
	{ TABLE_SL2VL,        NODE_SWITCH, 0,                        7,  36,  0x00002407, 7 },
	{ TABLE_SL2VL,        NODE_CA,     0,                        2,  0,   0,          2 },
	{ TABLE_OPA_SL2SC,    NODE_SWITCH, 0,                        0,  0,   0,          0 },
	{ TABLE_OPA_SC2SL,    NODE_CA,     2,                        0,  0,   0,          2 },
	{ TABLE_OPA_SC2SC,    NODE_SWITCH, 0,                        7,  36,  0x01002407, 7 },
	{ TABLE_OPA_SC2VL_R,  NODE_SWITCH, 0,                        7,  0,   0x01000007, 7 },
	{ TABLE_OPA_SC2VL_T,  NODE_SWITCH, 0,                        7,  0,   0x01000007, 7 },
	{ TABLE_OPA_SC2VL_NT, NODE_CA,     0,                        2,  0,   0x01000002, 2 },
	{ TABLE_OPA_VL_ARB,   NODE_SWITCH, 0,                        7,  1,   0x01010007, 7 },
	{ TABLE_OPA_BUFFERS,  NODE_CA,     0,                        1,  0,   0x01000001, 1 },
};
/* clang-format on */

START_TEST(modifiers)
{
	node.type = names[_i].type;
	ck_assert_uint_eq(table_kind_mod(names[_i].kind, &node, names[_i].unit,
	                                 names[_i].row, names[_i].col),
	                  names[_i].mod);
	ck_assert_uint_eq(table_port_of(names[_i].kind, names[_i].unit, names[_i].row),
	                  names[_i].port);
}
END_TEST

/* Each kind: what is put is known, what is dropped has the bytes of the kind. */
START_TEST(blocks)
{
	size_t bytes = table_kinds[_i].bytes;
	struct table *t = table_get(&store, _i, GUID, 3, 2, 4);
	uint32_t at = table_at(t, 1, 2);
	uint8_t none[TABLE_BYTES_MOST];

	memset(none, table_kinds[_i].unknown, sizeof(none));
	ck_assert_uint_eq(table_size(t), 8);
	for (uint32_t b = 0; b < 8; b++) {
		ck_assert(!table_knows(t, b) && !table_holds(t, b, none));
		ck_assert_mem_eq(table_block(t, b), none, bytes);
	}
	table_put(t, at, filled(5), bytes);
	ck_assert(table_holds(t, at, filled(5)) && !table_holds(t, at, filled(6)));
	ck_assert(!table_is_known(t));
	t->state[at] |= TABLE_DOUBTFUL;
	ck_assert(table_knows(t, at) && !table_holds(t, at, filled(5)));
	table_drop(t, at);
	ck_assert(!table_knows(t, at));
	ck_assert_mem_eq(table_block(t, at), none, bytes);
	for (uint32_t b = 0; b < 8; b++) {
		table_put(t, b, filled(5), bytes);
	}
	ck_assert(table_is_known(t));
	ck_assert_ptr_eq(table_find(&store, _i, GUID, 3), t);
	ck_assert_ptr_null(table_find(&store, _i, GUID, 4));
	ck_assert_ptr_null(table_find(&store, _i, GUID + 1, 3));
	tables_forget_all(&store);
	ck_assert(table_size(t) == 0 || !table_knows(t, at));
	tables_done(&store);
}
END_TEST

/* A table that grows keeps each row; another one that gets another shape forgets. */
START_TEST(shapes)
{
	struct table *mft = table_get(&store, TABLE_MFT, GUID, 0, 3, 2);
	struct table *keys = table_get(&store, TABLE_P_KEYS, GUID, 0, 1, 2);

	for (unsigned row = 0; row < 3; row++) {
		table_put(mft, table_at(mft, row, 1), filled((uint8_t)(row + 1)), 64);
	}
	ck_assert_ptr_eq(table_get(&store, TABLE_MFT, GUID, 0, 3, 5), mft);
	ck_assert_ptr_eq(table_get(&store, TABLE_MFT, GUID, 0, 3, 1), mft);
	ck_assert_uint_eq(mft->cols, 5);
	for (unsigned row = 0; row < 3; row++) {
		ck_assert(!table_knows(mft, table_at(mft, row, 0)));
		ck_assert(table_holds(mft, table_at(mft, row, 1),
		                      filled((uint8_t)(row + 1))));
		ck_assert(!table_knows(mft, table_at(mft, row, 4)));
	}
	table_put(keys, 0, filled(1), 64);
	ck_assert_ptr_eq(table_get(&store, TABLE_P_KEYS, GUID, 0, 1, 2), keys);
	ck_assert(table_knows(keys, 0));
	ck_assert_ptr_eq(table_get(&store, TABLE_P_KEYS, GUID, 0, 1, 3), keys);
	ck_assert(!table_knows(keys, 0));
	table_clear(keys);
	ck_assert_uint_eq(table_size(keys), 0);
	tables_done(&store);
}
END_TEST

/* A restarted switch loses its forwarding tables, a restarted port its row and column. */
START_TEST(forgetting)
{
	struct table *lft = table_get(&store, TABLE_LFT, GUID, 0, 1, 1);
	struct table *keys = table_get(&store, TABLE_P_KEYS, GUID, 0, 1, 1);
	struct table *map = table_get(&store, TABLE_SL2VL, GUID, 0, 3, 3);
	struct table *arb = table_get(&store, TABLE_VL_ARB, GUID, 0, 3, 4);

	table_put(lft, 0, filled(1), 64);
	table_put(keys, 0, filled(1), 64);
	for (uint32_t b = 0; b < 12; b++) {
		table_put(arb, b, filled(1), 64);
		if (b < 9) {
			table_put(map, b, filled(1), SL2VL_BYTES);
		}
	}
	map->asked = arb->asked = true;
	table_note_late(&store, lft, 0);
	tables_forget(&store, TABLE_GOES_WITH_SWITCH, GUID, 0);
	ck_assert(!table_knows(lft, 0) && table_knows(keys, 0));
	ck_assert(lft->state[0] & TABLE_LATE_NOTED); /* it may still be on its way */
	table_forget_port(map, 1);
	table_forget_port(arb, 1);
	ck_assert(!map->asked && !arb->asked);
	for (unsigned out = 0; out < 3; out++) {
		for (unsigned in = 0; in < 3; in++) {
			ck_assert_int_eq(table_knows(map, table_at(map, out, in)),
			                 out != 1 && in != 1);
		}
		ck_assert_int_eq(table_knows(arb, table_at(arb, out, 1)), out != 1);
	}
	tables_done(&store);
}
END_TEST

START_TEST(late)
{
	struct table *lft = table_get(&store, TABLE_LFT, GUID, 0, 1, 3);

	ck_assert(!tables_late_due(&store));
	table_note_late(&store, lft, 2);
	table_note_late(&store, lft, 2);
	ck_assert_uint_eq(store.n_late, 1);
	ck_assert(tables_late_due(&store));
	ck_assert_uint_eq(lft->state[2], TABLE_LATE_DUE);
	ck_assert(!tables_late_due(&store));
	table_note_late(&store, lft, 2); /* another one is later still */
	ck_assert_uint_eq(lft->state[2], TABLE_LATE_NOTED);
	tables_done(&store);
}
END_TEST

/* What an answer says of a block. */
START_TEST(answers)
{
	struct table *t = table_get(&store, TABLE_LFT, GUID, 0, 1, 2);
	struct table_io io = { .store = &store };
	struct smp_reply r = { .method = UMAD_METHOD_GET, .data = filled(9) };

	table_take(&store, &node, t, 0, &r);
	ck_assert(table_holds(t, 0, filled(9)));
	r.ret = E_TIMEOUT; /* of a Get: nothing new */
	table_take(&store, &node, t, 0, &r);
	ck_assert(table_holds(t, 0, filled(9)));
	r.method = UMAD_METHOD_SET;
	table_begin_set(&io, t, 0);
	ck_assert_uint_eq(io.n_sets[TABLE_LFT], 1);
	ck_assert(!table_holds(t, 0, filled(9)) && table_knows(t, 0));
	table_take(&store, &node, t, 0, &r); /* it may or may not have arrived */
	ck_assert(!table_knows(t, 0));
	r.ret = E_OK;
	r.repeated = true;
	table_begin_set(&io, t, 0);
	table_take(&store, &node, t, 0, &r);
	ck_assert(table_holds(t, 0, filled(9)) && store.n_late == 1);
	table_begin_set(&io, t, 0);
	table_forget(
		t); /* the switch was restarted: the answer is about the one before */
	table_take(&store, &node, t, 0, &r);
	ck_assert(!table_knows(t, 0));
	table_take(&store, &node, t, 2, &r); /* no such block any more */
	tables_done(&store);
}
END_TEST

/* Of a block of arbitration only the pairs that the port has count. */
START_TEST(lengths)
{
	struct table *t;

	node.type = NODE_SWITCH;
	memset(ports, 0, sizeof(ports));
	field_set(ports[2].info, PI_VL_CAP, 4);
	field_set(ports[2].info, PI_VL_ARB_LOW_CAP, 40);
	t = table_get_egress(&store, TABLE_VL_ARB, &node);
	ck_assert_uint_eq(table_length(&node, t, table_at(t, 2, 0)), 64);
	ck_assert_uint_eq(table_length(&node, t, table_at(t, 2, 1)), 16);
	ck_assert_uint_eq(table_length(&node, t, table_at(t, 2, 2)), 0);
	ck_assert_uint_eq(table_length(&node, t, table_at(t, 3, 0)), 0);
	ck_assert_ptr_eq(table_find_egress(&store, TABLE_VL_ARB, &node), t);
	ck_assert_uint_eq(table_get_egress(&store, TABLE_SL2VL, &node)->cols, PORTS + 1);
	node.n_ports--; /* another node with this GUID */
	ck_assert_ptr_null(table_find_egress(&store, TABLE_VL_ARB, &node));
	node.n_ports++;
	node.type = NODE_CA;
	ck_assert_ptr_null(table_find_egress(&store, TABLE_SL2VL, &node));
	ck_assert_uint_eq(table_get_egress(&store, TABLE_SL2VL, &node)->cols, 1);
	tables_done(&store);
}
END_TEST

TEST_SUITE(table)
{
	TCase *t = tcase_create("table");

	tcase_add_loop_test(t, modifiers, 0, sizeof(names) / sizeof(names[0]));
	tcase_add_loop_test(t, blocks, 0, TABLE_KIND_COUNT);
	tcase_add_test(t, shapes);
	tcase_add_test(t, forgetting);
	tcase_add_test(t, late);
	tcase_add_test(t, answers);
	tcase_add_test(t, lengths);
	suite_add_tcase(suite, t);
}
