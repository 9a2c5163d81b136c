/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Records of class version 0x80 of a node that was read by SMPs of Omni-Path: they are the bytes that it
 * showed, at the place that opasaquery reads them. Neighbours that were read as InfiniBand's keep
 * records made of what InfiniBand has.
 */
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/suite.h"

enum { RID_LEN = 8, MAP = 32, BLOCK = 64 };

static uint8_t *native(unsigned attr, uint64_t guid, uint32_t row, uint32_t col,
                       uint16_t len)
{
	uint8_t *data = query_fixture_attr(w, (uint16_t)(SNAP_ATTR_OPA | attr), guid,
	                                   row << SNAP_OPA_ROW | col, len);

	for (unsigned i = 0; i < len; i++) {
		data[i] = (uint8_t)(attr + 3 * row + 5 * col + i);
	}
	return data;
}

static void setup(void)
{
	start_lmc(1, 0, PATH_MINIMAL);
	for (unsigned port = 0; port < 3; port++) {
		native(0x15, SW_A, 0, port, 242);
	}
	native(0x15, HOST, 0, 1, 242);
}

static void publish(void)
{
	query_fixture_publish(w, PATH_MINIMAL);
	open_store();
	asker = lid_of(HOST + 1);
}

static void teardown(void)
{
	close_store();
	stop();
}

static size_t ask_all(unsigned attr, uint64_t mask, uint32_t lid)
{
	struct request q = request(GET_TABLE, attr, mask);

	q.mad[0] = q.mad[2] = 0x80;
	put_component(&q, 0, 4, lid);
	ck_assert_uint_eq(status_of(&q), 0);
	return n_records();
}

/* M_Key is hidden, all else is as it was read. */
START_TEST(port_info)
{
	enum { M_KEY = 112 };

	publish();
	ck_assert_uint_eq(ask_all(0x12, 1, lid_of(SW_A)), 3);
	for (unsigned port = 0; port < 3; port++) {
		const uint8_t *r = record(port);

		ck_assert_uint_eq(r[4], port);
		for (unsigned i = 0; i < 242; i++) {
			bool key = i >= M_KEY && i < M_KEY + 8;

			ck_assert_uint_eq(r[RID_LEN + i],
			                  key ? 0 : (uint8_t)(0x15 + 5 * port + i));
		}
	}
	ck_assert_uint_eq(ask_all(0x12, 1, lid_of(HOST + 1)), 1);
	ck_assert_uint_eq(record(0)[RID_LEN + 20], (uint8_t)(0x15 + 5 + 20));
}
END_TEST

START_TEST(switch_info)
{
	native(0x12, SW_A, 0, 0, 84);
	publish();
	ck_assert_uint_eq(ask_all(0x14, 1, lid_of(SW_A)), 1);
	for (unsigned i = 0; i < 84; i++) {
		ck_assert_uint_eq(record(0)[RID_LEN + i], (uint8_t)(0x12 + i));
	}
}
END_TEST

/* SA attribute, SMA attribute, bytes, and where row and column stand in the record */
static const struct table {
	const char *what;
	uint8_t sa, sma;
	uint16_t bytes;
	uint8_t row, col;
	int row_at, col_at; /* byte, -1: nowhere */
	uint64_t lid_of;
} tables[] = {
	{ "SLtoSC", 0x80, 0x17, MAP, 1, 0, -1, -1, HOST },
	{ "SCtoSL", 0x81, 0x82, MAP, 1, 0, -1, -1, HOST },
	{ "SCtoVLnt", 0x82, 0x85, MAP, 2, 0, 4, -1, SW_A },
	{ "SCtoVLt", 0x83, 0x84, MAP, 2, 0, 4, -1, SW_A },
	{ "SCtoVLr", 0x84, 0x83, MAP, 2, 0, 4, -1, SW_A },
	{ "port group of LIDs", 0x85, 0x88, BLOCK, 0, 4, -1, 7, SW_A },
	{ "port groups", 0x8b, 0x89, BLOCK, 0, 4, -1, 5, SW_A },
	{ "arbitration", 0x36, 0x18, 256, 2, 1, 4, 5, SW_A },
	{ "buffers", 0x8c, 0x8a, 132, 2, 0, 4, -1, SW_A },
	{ "multicast", 0x17, 0x1b, BLOCK, 0, 6, -1, 7, SW_A },
	{ "congestion of a switch", 0x91, 0x8b, 4, 0, 0, -1, -1, SW_A },
	{ "congestion of a host", 0x91, 0x8b, 4, 1, 0, -1, -1, HOST },
	{ "congestion, switch", 0x92, 0x8d, 76, 0, 0, -1, -1, SW_A },
	{ "congestion, port of a switch", 0x93, 0x8e, 4, 2, 0, 4, -1, SW_A },
	{ "congestion, host", 0x94, 0x90, 198, 1, 0, -1, -1, HOST },
	{ "congestion, table of a host", 0x95, 0x91, 130, 1, 3, -1, 5, HOST },
};

START_TEST(table)
{
	const struct table *t = &tables[_i];
	uint64_t port_guid = t->lid_of == HOST ? HOST + 1 : t->lid_of;

	native(t->sma, t->lid_of, t->row, t->col, t->bytes);
	publish();
	ck_assert_uint_eq(ask_all(t->sa, 1, lid_of(port_guid)), 1);
	ck_assert_uint_eq(get(record(0), 4), lid_of(port_guid));
	if (t->row_at >= 0) {
		ck_assert_uint_eq(record(0)[t->row_at], t->row);
	}
	if (t->col_at >= 0) {
		ck_assert_uint_eq(record(0)[t->col_at], t->col);
	}
	for (unsigned i = 0; i < t->bytes; i++) {
		ck_assert_uint_eq(record(0)[RID_LEN + i],
		                  (uint8_t)(t->sma + 3 * t->row + 5 * t->col + i));
	}
}
END_TEST

/* Names of components and their bits, on bytes that tell them from each other. */
static const struct component {
	uint8_t sa, sma;
	uint16_t bytes;
	uint64_t lid_of;
	unsigned row;
	const char *name;
	unsigned at, width; /* bits of the attribute */
} components[] = {
	{ 0x91, 0x8b, 4, HOST, 1, "ControlTableCap", 16, 8 },
	{ 0x91, 0x8b, 4, HOST, 1, "CongestionLogLength", 24, 8 },
	{ 0x92, 0x8d, 76, SW_A, 0, "ControlMap", 0, 32 },
	{ 0x92, 0x8d, 76, SW_A, 0, "Threshold", 544, 4 },
	{ 0x92, 0x8d, 76, SW_A, 0, "PacketSize", 552, 8 },
	{ 0x92, 0x8d, 76, SW_A, 0, "CSThreshold", 560, 4 },
	{ 0x92, 0x8d, 76, SW_A, 0, "CSReturnDelay", 576, 16 },
	{ 0x92, 0x8d, 76, SW_A, 0, "MarkingRate", 592, 16 },
	{ 0x93, 0x8e, 4, SW_A, 2, "Valid", 0, 1 },
	{ 0x93, 0x8e, 4, SW_A, 2, "ControlType", 1, 1 },
	{ 0x93, 0x8e, 4, SW_A, 2, "Threshold", 4, 4 },
	{ 0x93, 0x8e, 4, SW_A, 2, "PacketSize", 8, 8 },
	{ 0x93, 0x8e, 4, SW_A, 2, "MarkingRate", 16, 16 },
	{ 0x94, 0x90, 198, HOST, 1, "ControlMap", 0, 32 },
	{ 0x94, 0x90, 198, HOST, 1, "PortControl", 32, 16 },
	{ 0x95, 0x91, 130, HOST, 1, "CCTILimit", 0, 16 },
};

/* A request by a component finds the record that has its value, and no other. */
START_TEST(component)
{
	const struct component *c = &components[_i];
	const struct sa_attr *a = sa_attr_find(0x80, c->sa, SA_GETTABLE);
	uint8_t *data = native(c->sma, c->lid_of, c->row, 0, c->bytes);
	struct request q;
	unsigned i = 0;
	size_t room;

	while (i < a->n_fields && strcmp(a->fields[i].name, c->name) != 0) {
		i++;
	}
	ck_assert_uint_lt(i, a->n_fields);
	q = request(GET_TABLE, c->sa, UINT64_C(1) << i);
	q.mad[0] = q.mad[2] = 0x80;
	room = sizeof(q.mad) - DATA - RID_LEN; /* components of longer ones are at their begin */
	ck_assert_uint_le(c->at + c->width, 8 * room);
	memcpy(q.mad + DATA + RID_LEN, data, c->bytes < room ? c->bytes : room);
	publish();
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 1);
	for (unsigned bit = 0; bit < c->width; bit++) {
		unsigned at = c->at + bit;

		q.mad[DATA + RID_LEN + at / 8] ^= (uint8_t)(0x80 >> at % 8);
		ck_assert_uint_eq(status_of(&q), 0);
		ck_assert_uint_eq(n_records(), 0);
		q.mad[DATA + RID_LEN + at / 8] ^= (uint8_t)(0x80 >> at % 8);
	}
}
END_TEST

/* Pairs of ports with a cable have maps, plain ones where none is published. A row is a port out. */
START_TEST(maps_between_ports)
{
	size_t n = 0, at = 0;
	unsigned ports[8];

	for (unsigned i = 1; i <= 8; i++) {
		uint32_t node = graph_node_by_guid(w->g, SW_A);

		if (w->g->ports[graph_port(w->g, node, i)].peer != GRAPH_NONE) {
			ports[n++] = i;
		}
	}
	ck_assert_uint_ge(n, 3);
	publish();
	ck_assert_uint_eq(ask_all(0x13, 1, lid_of(SW_A)), n * n);
	ck_assert_uint_eq(ask_all(0x13, 1, lid_of(HOST + 1)), 0);
	native(0x81, SW_A, ports[1], ports[2], MAP);
	query_fixture_publish(w, PATH_MINIMAL);
	ck_assert_uint_eq(ask_all(0x13, 1, lid_of(SW_A)), n * n);
	for (size_t i = 0; i < n * n; i++) {
		const uint8_t *r = record(i);

		ck_assert_uint_eq(r[4], ports[i / n]);
		ck_assert_uint_eq(r[5], ports[i % n]);
		at = r[4] == ports[2] && r[5] == ports[1] ? i : at;
		for (unsigned sc = 0; i != at && sc < MAP; sc++) {
			ck_assert_uint_eq(r[RID_LEN + sc], sc);
		}
	}
	ck_assert_uint_ne(at, 0);
	for (unsigned sc = 0; sc < MAP; sc++) {
		ck_assert_uint_eq(record(at)[RID_LEN + sc],
		                  (uint8_t)(0x81 + 3 * ports[1] + 5 * ports[2] + sc));
	}
}
END_TEST

/* A table of which nothing was read has no record, although InfiniBand's would make one. */
START_TEST(nothing_is_invented)
{
	put(query_fixture_attr(w, UMAD_SM_ATTR_SLVL_TABLE, HOST, 1, 8), 8, 0x123);
	publish();
	ck_assert_uint_eq(ask_all(0x80, 1, lid_of(HOST + 1)), 0);
	ck_assert_uint_eq(ask_all(0x83, 1, lid_of(HOST + 1)), 0);
}
END_TEST

/* A host's map that is not of a port is that of its port. */
START_TEST(map_of_a_node)
{
	native(0x17, HOST, 0, 0, MAP);
	publish();
	ck_assert_uint_eq(ask_all(0x80, 1, lid_of(HOST + 1)), 1);
	ck_assert_uint_eq(record(0)[RID_LEN + 1], 0x18);
}
END_TEST

/* The upper page in two records, or what the request names of it. */
START_TEST(cables)
{
	enum { LENGTH = 5, ADDRESS = 6, DATA_AT = 56 };
	struct request q;

	native(0x32, SW_A, 1, 2, BLOCK);
	native(0x32, SW_A, 1, 3, BLOCK);
	native(0x32, SW_A, 2, 2, BLOCK); /* half of it is not known */
	publish();
	ck_assert_uint_eq(ask_all(0x88, 1, lid_of(SW_A)), 2);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(record(i)[4], 1);
		ck_assert_uint_eq(record(i)[LENGTH] >> 1, 63);
		ck_assert_uint_eq(get(record(i) + ADDRESS, 2) >> 4, 128 + 64 * i);
		ck_assert_uint_eq(get(record(i) + ADDRESS, 2) & 15,
		                  (0x15 + 5 + 20) & 15); /* PortType of PortInfo */
		ck_assert_uint_eq(record(i)[RID_LEN], (uint8_t)(0x32 + 3 + 5 * (2 + i)));
	}
	q = request(GET_TABLE, 0x88, 1 | 4 | 16);
	q.mad[0] = q.mad[2] = 0x80;
	put_component(&q, 0, 4, lid_of(SW_A));
	q.mad[DATA_AT + LENGTH] = 15 << 1;
	put_component(&q, ADDRESS, 2, (128 + 20) << 4);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 1);
	ck_assert_uint_eq(record(0)[LENGTH] >> 1, 15);
	ck_assert_uint_eq(record(0)[RID_LEN], (uint8_t)(0x32 + 3 + 10 + 20));
	ck_assert_uint_eq(record(0)[RID_LEN + 16], 0);
	put_component(&q, ADDRESS, 2, 64 << 4); /* the lower page changes all the time */
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 0);
	q.mad[DATA_AT + LENGTH] = 127 << 1;
	put_component(&q, ADDRESS, 2, 4095 << 4);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 0);
}
END_TEST

TEST_SUITE(opa_native)
{
	TCase *tc = tcase_create("records");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, port_info);
	tcase_add_test(tc, switch_info);
	tcase_add_loop_test(tc, table, 0, sizeof(tables) / sizeof(tables[0]));
	tcase_add_loop_test(tc, component, 0, sizeof(components) / sizeof(components[0]));
	tcase_add_test(tc, maps_between_ports);
	tcase_add_test(tc, nothing_is_invented);
	tcase_add_test(tc, map_of_a_node);
	tcase_add_test(tc, cables);
	suite_add_tcase(suite, tc);
}
