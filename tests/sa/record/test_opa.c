/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Omni-Path's records by the bytes of their MADs, over the small fabric: against the
 * payloads that were published, and against the same records in InfiniBand's layout.
 * Byte positions and component bits are those of opa-fm and opasaquery. Longer than most:
 * all layouts are compared over one fabric by the same few functions.
 */
#include "db/snapshot/policy.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/suite.h"

enum {
	MCMEMBER_RECORD = 0x38,
	SL_TO_SC = 0x80,
	SC_TO_SL,
	SC_TO_VLNT,
	SC_TO_VLT,
	SC_TO_VLR,
	PORT_GROUP_FT,
	CABLE_INFO = 0x88,
	PORT_GROUP_TABLE = 0x8b,
	FABRIC_INFO = 0x8d,
	GROUP_MEMBER = 0x9b,
	GROUP_NAME,
	DEVICE_TREE,
	SC_TO_SC = 0x13,
	SWITCH_COST = 0xa3
};

static void setup(void)
{
	start_lmc(1, 0, PATH_MINIMAL);
	give(HOST, 0xffff, 0x8001);
	give(TWIN_1, 0x8001, 0);
	give(LEFT, 0x8002, 0);
	for (unsigned position = 0; position < 3; position++) {
		uint8_t *block = query_fixture_attr(w, UMAD_SM_ATTR_MCAST_FT, SW_A,
		                                    position << 28 | 0x1ff, 64);
		for (unsigned i = 0; i < 32; i++) {
			put(block + 2 * (size_t)i, 2, position << 8 | i);
		}
	}
	for (unsigned block = 1; block <= 4; block++) {
		memset(query_fixture_attr(w, UMAD_SM_ATTR_VL_ARB_TABLE, SW_A,
		                          2 << 8 | block, 64),
		       (int)block, 64);
		memset(query_fixture_attr(w, UMAD_SM_ATTR_VL_ARB_TABLE, HOST,
		                          1 << 8 | block, 64),
		       (int)(4 + block), 64);
	}
	/* switch A: port 2 treats all alike, port 3 not; port 4 does, as far as it was
	 * told */
	for (unsigned out = 2; out <= 4; out++) {
		uint8_t *maps =
			query_fixture_attr(w, UMAD_SM_ATTR_SLVL_TABLE, SW_A, out, 9 * 8);
		for (unsigned in = 0; in < 9; in++) {
			put(maps + 8 * (size_t)in, 8,
			    out == 4 && in != 5 ? UINT64_MAX
			                        : UINT64_C(0x0123456701234567) +
			                                  (out == 3 && in == 4));
		}
	}
	put(query_fixture_attr(w, UMAD_SM_ATTR_SLVL_TABLE, HOST, 1, 8), 8,
	    UINT64_C(0x0000111122223333));
	w->content.multicast_fdb_cap = 8;
	query_fixture_publish(w, PATH_MINIMAL);
	open_store();
	asker = lid_of(HOST + 1);
}

static void teardown(void)
{
	close_store();
	stop();
}

static struct request opa(unsigned method, unsigned attr, uint64_t mask)
{
	struct request q = request(method, attr, mask);

	q.mad[0] = q.mad[2] = 0x80;
	return q;
}

/* Asks for all, or for those of a LID (0: any). \return records */
static size_t ask_all(unsigned attr, uint32_t lid)
{
	struct request q = opa(GET_TABLE, attr, lid != 0);

	put_component(&q, 0, 4, lid);
	ck_assert_uint_eq(status_of(&q), 0);
	return n_records();
}

/* A port's PortInfo of the fabric, which the test may change. */
static uint8_t *port_info_of(uint64_t guid, uint32_t port)
{
	for (size_t i = 0; i < w->content.n_attrs; i++) {
		const struct snap_attr *a = &w->attrs[i];
		if (a->attr == UMAD_SM_ATTR_PORT_INFO && a->guid == guid &&
		    a->block == port) {
			return (uint8_t *)a->data;
		}
	}
	ck_abort_msg("no PortInfo");
	return NULL;
}

/* PortInfo in Omni-Path's layout and codes; bytes as opasaquery reads them. */
START_TEST(port_info)
{
	enum { PI = 8, M_KEY_AT = PI + 112, CAPABILITY_MASK_AT = PI + 216 };
	uint8_t *ib = port_info_of(HOST, 1);
	uint32_t lid = lid_of(HOST + 1);
	uint32_t peer =
		w->g->ports[graph_port(w->g, graph_node_by_guid(w->g, HOST), 1)].peer;

	field_set(ib, PI_M_KEY, 0x1122334455667788);
	field_set(ib, PI_GID_PREFIX, 0xfe80000000000123);
	field_set(ib, PI_CAPABILITY_MASK, 0x02514868);
	field_set(ib, PI_MASTER_SM_LID, 0x1234);
	field_set(ib, PI_PORT_STATE, PORT_ACTIVE);
	field_set(ib, PI_PORT_PHYSICAL_STATE, 5);
	field_set(ib, PI_VL_CAP, 4);          /* 8 lanes */
	field_set(ib, PI_OPERATIONAL_VLS, 3); /* 4 lanes */
	field_set(ib, PI_NEIGHBOR_MTU, 4);
	field_set(ib, PI_MTU_CAP, 5);
	field_set(ib, PI_VL_STALL_COUNT, 3);
	field_set(ib, PI_HOQ_LIFE, 9);
	field_set(ib, PI_SUBNET_TIMEOUT, 18);
	field_set(ib, PI_LINK_WIDTH_SUPPORTED, 1 | 2 | 16); /* 1x, 4x, 2x */
	field_set(ib, PI_LINK_WIDTH_ENABLED, 2);
	field_set(ib, PI_LINK_WIDTH_ACTIVE, 16);
	field_set(ib, PI_LINK_SPEED_EXT_SUPPORTED, 1 | 2);
	field_set(ib, PI_LINK_SPEED_EXT_ENABLED, 1); /* 14 Gb/s has no code */
	field_set(ib, PI_LINK_SPEED_EXT_ACTIVE, 2);
	query_fixture_publish(w, PATH_MINIMAL);

	ck_assert_uint_eq(ask_all(PORT_INFO_RECORD, lid), 1);
	const uint8_t *r = record(0);
	ck_assert_uint_eq(get(r, 4), lid);
	ck_assert_uint_eq(r[4], 1); /* PortNum */
	ck_assert_uint_eq(get(r + PI, 4), lid);
	ck_assert_uint_eq(r[PI + 9] & 0x1f, 8);               /* VL.Cap */
	ck_assert_uint_eq(r[PI + 19], 5 << 4 | PORT_ACTIVE);  /* PortStates */
	ck_assert_uint_eq(r[PI + 25] & 0x1f, 4);              /* OperationalVL */
	ck_assert_uint_eq(get(r + PI + 40, 4), 1);            /* SA_QP */
	ck_assert_uint_eq(r[PI + 44], w->g->ports[peer].num); /* NeighborPortNum */
	ck_assert_uint_eq(r[PI + 47] & 0x1f, 18);             /* Subnet.Timeout */
	ck_assert_uint_eq(get(r + PI + 48, 2), 2);            /* LinkSpeed */
	ck_assert_uint_eq(get(r + PI + 50, 2), 0);
	ck_assert_uint_eq(get(r + PI + 52, 2), 2);
	ck_assert_uint_eq(get(r + PI + 54, 2), 1 | 2 | 8); /* LinkWidth */
	ck_assert_uint_eq(get(r + PI + 56, 2), 8);
	ck_assert_uint_eq(get(r + PI + 58, 2), 2);
	ck_assert_uint_eq(get(r + PI + 108, 4), 0x1234); /* MasterSMLID */
	ck_assert_uint_eq(get(r + M_KEY_AT, 8), 0);
	ck_assert_uint_eq(get(r + PI + 120, 8), 0xfe80000000000123); /* SubnetPrefix */
	ck_assert_uint_eq(get(r + PI + 128, 4), 0x44440000); /* NeighborMTU of 4 lanes */
	ck_assert_uint_eq(get(r + PI + 144, 8),
	                  0x6969696900000000); /* XmitQ of 4 lanes */
	ck_assert_uint_eq(get(r + PI + 208, 8), w->g->nodes[w->g->ports[peer].node].guid);
	ck_assert_uint_eq(get(r + CAPABILITY_MASK_AT, 4), 0x02514868);
	ck_assert_uint_eq(r[PI + 236] & 1, 1);   /* the neighbor is a switch */
	ck_assert_uint_eq(r[PI + 237] & 0xf, 5); /* MTU.Cap */
	ck_assert_uint_eq(r[PI + 239], 1);       /* LocalPortNum */

	struct request q = opa(GET_TABLE, PORT_INFO_RECORD, 1 | 2);
	trust_me(&q);
	put_component(&q, 0, 4, lid);
	put_component(&q, 4, 1, 1);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(record(0) + M_KEY_AT, 8), 0x1122334455667788);

	/* a switch has a record for each port with a PortInfo, port 0 included */
	size_t ports = 0;
	for (size_t i = 0; i < w->content.n_attrs; i++) {
		ports += w->attrs[i].attr == UMAD_SM_ATTR_PORT_INFO &&
		         w->attrs[i].guid == SW_A;
	}
	ck_assert_uint_eq(ask_all(PORT_INFO_RECORD, lid_of(SW_A)), ports);
	ck_assert_uint_gt(ports, 3);
	q = opa(GET_TABLE, PORT_INFO_RECORD, 1 | 2);
	put_component(&q, 0, 4, lid_of(SW_A));
	put_component(&q, 4, 1, 2);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 1);
	ck_assert_uint_eq(record(0)[4], 2);
}
END_TEST

/* The own ActCount is that of the answer, another SM's what it said. */
START_TEST(sm_info)
{
	enum { GUID_AT = 8, ACT_COUNT_AT = 24 };

	for (unsigned own = 0; own < 2; own++) {
		uint8_t *sm = query_fixture_attr(w, UMAD_SM_ATTR_SM_INFO,
		                                 own ? HOST : SW_B, own, 64);
		field_set(sm, SMI_GUID, own ? HOST + 1 : SW_B);
		field_set(sm, SMI_ACT_COUNT, own ? 0 : 7);
	}
	w->content.sm_port_guid = HOST + 1;
	query_fixture_publish(w, PATH_MINIMAL);
	limits.act_count = 4711;
	for (unsigned own = 0; own < 2; own++) {
		ck_assert_uint_eq(ask_all(SM_INFO_RECORD, lid_of(own ? HOST + 1 : SW_B)),
		                  1);
		ck_assert_uint_eq(get(record(0) + GUID_AT, 8), own ? HOST + 1 : SW_B);
		ck_assert_uint_eq(get(record(0) + ACT_COUNT_AT, 4), own ? 4711 : 7);
	}
	limits.act_count = 0;
}
END_TEST

/* Without an SM_Key a host reads its own table, and of others the P_Keys of its own
 * partitions; with it all. */
START_TEST(p_key_tables)
{
	static const struct {
		uint64_t asker, of;
		size_t records;
		uint16_t has, hides;
	} rows[] = {
		{ HOST, HOST, 1, 0x8001, 0 },        { HOST, TWIN_1, 1, 0x8001, 0 },
		{ HOST, LEFT, 0, 0, 0 },             { TWIN_1, HOST, 1, 0x8001, 0xffff },
		{ LEFT, HOST, 0, 0, 0 },             { LEFT, LEFT, 1, 0x8002, 0 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool has = false, hides = true;

		asker = lid_of(rows[i].asker + 1);
		ck_assert_uint_eq(ask_all(P_KEY_RECORD, lid_of(rows[i].of + 1)),
		                  rows[i].records);
		for (unsigned k = 0; rows[i].records != 0 && k < 32; k++) {
			uint64_t key = get(record(0) + 8 + 2 * k, 2);

			has |= key == rows[i].has;
			hides &= rows[i].hides == 0 || key != rows[i].hides;
		}
		ck_assert(has == (rows[i].records != 0) && hides);
	}
}
END_TEST

/* --- tables ----------------------------------------------------------------------------
 */

START_TEST(multicast_tables)
{
	uint32_t lid = lid_of(SW_A);

	ck_assert_uint_eq(ask_all(MFT_RECORD, 0), 4);
	for (unsigned part = 0; part < 4; part++) {
		ck_assert_uint_eq(get(record(part), 4), lid);
		ck_assert_uint_eq(get(record(part) + 4, 4), 0x1ff * 4 + part);
		for (unsigned i = 0; i < 8; i++) {
			uint64_t n = 8 * part + i;
			ck_assert_uint_eq(get(record(part) + 8 + 8 * (size_t)i, 8),
			                  (0x200 | n) << 32 | (0x100 | n) << 16 | n);
		}
	}
	struct request q = opa(GET, MFT_RECORD, 1 | 2 | 8);
	put_component(&q, 0, 4, lid);
	put_component(&q, 4, 4, 0x1ff * 4 + 2);
	ck_assert_uint_eq(status_of(&q), 0);
	put_component(&q, 4, 4, UINT32_C(1) << 30 | (0x1ff * 4 + 2));
	ck_assert_uint_eq(status_of(&q), NO_RECORDS); /* no port above 63 */
}
END_TEST

START_TEST(arbitration_tables)
{
	uint8_t want[256] = { 0 };

	ck_assert_uint_eq(ask_all(VL_ARB_RECORD, 0), 4);
	ck_assert_uint_eq(ask_all(VL_ARB_RECORD, lid_of(SW_A)), 2);
	for (unsigned table = 0; table < 2; table++) {
		memset(want, (int)(2 * table + 1), 64);
		memset(want + 64, (int)(2 * table + 2), 64);
		ck_assert_uint_eq(get(record(table) + 4, 4), 2 << 24 | table << 16);
		ck_assert_mem_eq(record(table) + 8, want, sizeof(want));
	}
	struct request q = opa(GET, VL_ARB_RECORD, 5);
	put_component(&q, 0, 4, lid_of(HOST + 1) + 1);
	put_component(&q, 5, 1, 1);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(record(0) + 4, 2), 0x0101);
	ck_assert_uint_eq(record(0)[8], 7);
	put_component(&q, 5, 1, 2);
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
}
END_TEST

static void check_identity(const uint8_t *map)
{
	for (unsigned i = 0; i < 32; i++) {
		ck_assert_uint_eq(map[i], i < 16 ? i : 15);
	}
}

static void check_vls(const uint8_t *map, uint64_t sl2vl)
{
	for (unsigned i = 0; i < 32; i++) {
		ck_assert_uint_eq(map[i], i < 16 ? sl2vl >> (60 - 4 * i) & 15 : 15);
	}
}

START_TEST(service_channels)
{
	for (unsigned attr = SL_TO_SC; attr <= SC_TO_SL; attr++) {
		ck_assert_uint_eq(ask_all(attr, 0), 2);
		check_identity(record(0) + 8);
		ck_assert_uint_eq(ask_all(attr, lid_of(SW_A)), 1);
		ck_assert_uint_eq(ask_all(attr, lid_of(SW_B)), 0);
	}
	/* 8 ports in for ports 2 and 3, one that is known for port 4 */
	ck_assert_uint_eq(ask_all(SC_TO_SC, 0), 8 + 8 + 1);
	check_identity(record(16) + 8);
	ck_assert_uint_eq(get(record(16) + 4, 2), 0x0504);
	ck_assert_uint_eq(ask_all(SC_TO_SC, lid_of(HOST + 1)), 0);
	/* own tables: not of port 3, where the VL depends on the way in */
	ck_assert_uint_eq(ask_all(SC_TO_VLT, lid_of(SW_A)), 2);
	ck_assert_uint_eq(record(0)[4] << 8 | record(1)[4], 0x0204);
	check_vls(record(0) + 8, UINT64_C(0x0123456701234567));
	ck_assert_uint_eq(ask_all(SC_TO_VLT, lid_of(HOST + 1)), 1);
	check_vls(record(0) + 8, UINT64_C(0x0000111122223333));
	/* the neighbour's: HOST is at port 2, TWIN_1 at port 4 */
	ck_assert_uint_eq(ask_all(SC_TO_VLNT, 0), 3);
	ck_assert_uint_eq(ask_all(SC_TO_VLNT, lid_of(SW_A)), 1);
	ck_assert_uint_eq(record(0)[4], 2);
	check_vls(record(0) + 8, UINT64_C(0x0000111122223333));
	ck_assert_uint_eq(ask_all(SC_TO_VLNT, lid_of(HOST + 1)), 1);
	check_vls(record(0) + 8, UINT64_C(0x0123456701234567));
	ck_assert_uint_eq(ask_all(SC_TO_VLNT, lid_of(TWIN_1 + 1)), 1);
	ck_assert_uint_eq(ask_all(SC_TO_VLR, 0), 0);
}
END_TEST

/* --- the whole -------------------------------------------------------------------------
 */

static const uint8_t *fabric_info(void)
{
	struct request q = opa(GET, FABRIC_INFO, 0);

	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(reply.data + 44, 2), 408 / 8);
	return record(0);
}

static void set_link(uint64_t guid, uint8_t port, unsigned enabled, unsigned active)
{
	field_set(port_info_of(guid, port), PI_LINK_WIDTH_ENABLED, enabled);
	field_set(port_info_of(guid, port), PI_LINK_WIDTH_ACTIVE, active);
}

static struct port *port_of(uint64_t guid, unsigned num)
{
	return &w->g->ports[graph_port(w->g, graph_node_by_guid(w->g, guid), num)];
}

START_TEST(fabric)
{
	static const uint32_t ups[] = { 6, 3, 0, 6, 0, 2, 0, 0, 6, 2 };

	/* as made, all ports are INIT: the cables are omitted */
	for (unsigned i = 0; i < 10; i++) {
		ck_assert_uint_eq(get(fabric_info() + 4 * (size_t)i, 4), ups[i]);
	}
	for (uint32_t p = 0; p < w->g->n_ports; p++) {
		w->g->ports[p].state = PORT_ACTIVE;
	}
	port_of(SW_A, 1)->state = port_of(SW_C, 1)->state = PORT_INIT;
	w->g->nodes[graph_node_by_guid(w->g, SW_B)].system_image_guid = 77;
	w->g->nodes[graph_node_by_guid(w->g, SW_C)].system_image_guid = 77;
	set_link(SW_B, 3, 2 | 1, 1); /* 4x and 1x are enabled, it runs at 1x */
	set_link(DUAL, 2, 2 | 1, 1);
	set_link(SW_B, 4, 2 | 8, 2); /* 12x, but the far end has 4x */
	set_link(TWIN_2, 1, 2, 2);
	query_fixture_publish(w, PATH_MINIMAL);
	static const uint32_t now[] = { 6, 3, 0, 6, 1, 1, 1, 0, 0, 1 };
	for (unsigned i = 0; i < 10; i++) {
		ck_assert_uint_eq(get(fabric_info() + 4 * (size_t)i, 4), now[i]);
	}
	struct request q = opa(GET_TABLE, FABRIC_INFO, 0);
	ck_assert_uint_eq(status_of(&q), UNSUPPORTED);
}
END_TEST

START_TEST(device_tree)
{
	port_of(SW_A, 0)->state = port_of(SW_A, 1)->state = PORT_ACTIVE;
	port_of(DUAL, 2)->state = PORT_ACTIVE;
	query_fixture_publish(w, PATH_MINIMAL);
	ck_assert_uint_eq(ask_all(DEVICE_TREE, 0),
	                  8); /* one per node; LEFT is not seen */
	ck_assert_uint_eq(ask_all(DEVICE_TREE, lid_of(SW_A)), 1);
	ck_assert_uint_eq(get(record(0) + 4, 2), 0x0802);
	ck_assert_uint_eq(get(record(0) + 8 + 24, 8), 3); /* ports 0 and 1 */
	ck_assert_uint_eq(get(record(0) + 104, 8), SW_A);
	ck_assert_str_eq((const char *)record(0) + 120, "sw-a");
	ck_assert_uint_eq(ask_all(DEVICE_TREE, lid_of(DUAL + 2)), 1);
	ck_assert_uint_eq(get(record(0) + 8 + 24, 8), 4);
	ck_assert_uint_eq(get(record(0) + 104, 8), DUAL + 2);
}
END_TEST

/* Entry number i of the record number n: the cost, of the way to this LID. */
static void check_cost(size_t n, unsigned i, uint32_t lid, unsigned cost)
{
	const uint8_t *entry = record(n) + 4 + 8 * (size_t)i;

	ck_assert_uint_lt(lid, 256); /* the entry is little-endian, as opa-fm has it */
	ck_assert_uint_eq(get(entry, 4), lid << 24);
	ck_assert_msg(get(entry + 4, 2) == cost << 8, "LID %u costs %u, not %u", lid,
	              entry[4], cost);
	ck_assert_uint_eq(get(entry + 6, 2), 0);
}

/* Switches are in a row, A 200G C 100G B, and their LIDs as A, B, C. opa-fm gives a link 1,200 over its Gb/s. */
START_TEST(switch_cost)
{
	uint32_t a = lid_of(SW_A), b = lid_of(SW_B), c = lid_of(SW_C);

	ck_assert(a < b && b < c);
	ck_assert_uint_eq(ask_all(SWITCH_COST, a), 1);
	ck_assert_uint_eq(get(reply.data + 44, 2), 520 / 8);
	ck_assert_uint_eq(get(record(0), 4), a);
	check_cost(0, 0, a, 0);
	check_cost(0, 1, b, 18);
	check_cost(0, 2, c, 6);
	check_cost(0, 3, 0, 0);
	ck_assert_uint_eq(ask_all(SWITCH_COST, 0), 3);
	ck_assert_uint_eq(get(record(1), 4), b);
	check_cost(1, 0, a, 18);
	check_cost(1, 1, b, 0);
	ck_assert_uint_eq(get(record(2), 4), c);
	check_cost(2, 0, a, 6);
	check_cost(2, 1, b, 12);
	ck_assert_uint_eq(ask_all(SWITCH_COST, lid_of(HOST + 1)), 0);
	ck_assert_uint_eq(ask_all(SWITCH_COST, 999), 0);
	port_of(SW_B, 1)->width = WIDTH_1X;
	query_fixture_publish(w, PATH_MINIMAL);
	ck_assert_uint_eq(ask_all(SWITCH_COST, b), 1);
	check_cost(0, 0, a, 54);
	check_cost(0, 2, c, 48);
	asker = lid_of(TWIN_1 + 1); /* no full member of the default partition */
	ck_assert_uint_eq(ask_all(SWITCH_COST, b), 0);
}
END_TEST

/* Ten groups, so that the last ones are in a second byte: Even has the hosts, Odd ports 2 and on of switch A. */
static void use_groups(void)
{
	for (unsigned i = 0; i < 10; i++) {
		uint8_t *name = query_fixture_attr(w, SNAP_ATTR_DEVICE_GROUPS, 0, i, 64);

		snprintf((char *)name, 64, "%s",
		         i == 1   ? "Even"
		         : i == 9 ? "Odd"
		                  : "Nobody");
	}
	query_fixture_attr(w, SNAP_ATTR_DEVICE_GROUPS, HOST, 0, 2)[0] = 1 << 1;
	query_fixture_attr(w, SNAP_ATTR_DEVICE_GROUPS, TWIN_1, 0, 2)[0] = 1 << 1;
	query_fixture_attr(w, SNAP_ATTR_DEVICE_GROUPS, LEFT, 0, 2)[0] = 1 << 1;
	query_fixture_attr(w, SNAP_ATTR_DEVICE_GROUPS, SW_A, 0, 2);
	query_fixture_attr(w, SNAP_ATTR_DEVICE_GROUPS, SW_A, 2, 2)[1] = 1 << 1;
	query_fixture_publish(w, PATH_MINIMAL);
}

static size_t members_by(uint64_t mask, unsigned at, unsigned bytes, uint64_t value)
{
	struct request q = opa(GET_TABLE, GROUP_MEMBER, mask);

	put_component(&q, at, bytes, value);
	ck_assert_uint_eq(status_of(&q), 0);
	return n_records();
}

START_TEST(device_groups)
{
	unsigned with_cable = 0;

	ck_assert_uint_eq(ask_all(GROUP_NAME, 0), 0); /* no file defines any */
	ck_assert_uint_eq(ask_all(GROUP_MEMBER, 0), 0);
	use_groups();
	for (unsigned i = 2; i <= 8; i++) {
		with_cable += port_of(SW_A, i)->peer != GRAPH_NONE;
	}
	ck_assert_uint_eq(ask_all(GROUP_NAME, 0), 10);
	ck_assert_uint_eq(get(reply.data + 44, 2), 64 / 8);
	ck_assert_str_eq((const char *)record(0), "Nobody");
	ck_assert_str_eq((const char *)record(9), "Odd");
	/* LEFT shares no P_Key with who asks */
	ck_assert_uint_eq(ask_all(GROUP_MEMBER, 0), 2 + with_cable);
	ck_assert_uint_eq(get(reply.data + 44, 2), 144 / 8);
	const uint8_t *r = record(0);
	ck_assert_uint_eq(get(r, 4), lid_of(HOST + 1));
	ck_assert_uint_eq(get(r + 4, 4), 1u << 24);
	ck_assert_str_eq((const char *)r + 8, "Even");
	ck_assert_uint_eq(get(r + 72, 8), HOST + 1);
	ck_assert_str_eq((const char *)r + 80, "host");
	r = record(2);
	ck_assert_uint_eq(get(r, 4), lid_of(SW_A));
	ck_assert_uint_eq(r[4], 2);
	ck_assert_str_eq((const char *)r + 8, "Odd");
	ck_assert_uint_eq(get(r + 72, 8), SW_A);
	/* by LID, port, name of the group, GUID, name of the node */
	ck_assert_uint_eq(members_by(1, 0, 4, lid_of(SW_A)), with_cable);
	ck_assert_uint_eq(members_by(2, 4, 1, 1), 2);
	ck_assert_uint_eq(members_by(8, 8, 4, 0x4f646400), with_cable); /* Odd */
	ck_assert_uint_eq(members_by(8, 8, 4, 0x4f640000), 0);
	ck_assert_uint_eq(members_by(0x10, 72, 8, TWIN_1 + 1), 1);
	ck_assert_uint_eq(members_by(0x20, 80, 8, UINT64_C(0x73772d6100000000)),
	                  with_cable);
}
END_TEST

/* What only Omni-Path's devices have is known, and there is none of it, for any LID. */
START_TEST(none)
{
	enum { CONGESTION_FIRST = 0x91, CONGESTION_LAST = 0x95 };

	for (unsigned id = CONGESTION_FIRST; id <= CONGESTION_LAST; id++) {
		struct request q = opa(GET, id, 1);

		ck_assert_uint_eq(ask_all(id, 0), 0);
		put_component(&q, 0, 4, lid_of(SW_A));
		ck_assert_uint_eq(status_of(&q), NO_RECORDS);
	}
	ck_assert_uint_eq(ask_all(PORT_GROUP_FT, 0), 0); /* no adaptive routing */
	ck_assert_uint_eq(ask_all(PORT_GROUP_TABLE, 0), 0);
}
END_TEST

/* --- virtual fabrics -------------------------------------------------------------------
 */

enum { VF_INFO = 0x89 };

/* "Default" has what no other has; "Fast" a service, a range of them and a masked MGID.
 */
static void use_fabrics(void)
{
	static const struct policy_level level;
	static const struct policy_rule rules[2];
	static const struct policy_id ids[] = {
		{ .a_low = 7, .b_low = 7 },
		{ .a_low = 0x100, .b_low = 0x1ff },
		{ .a_high = UINT64_C(0xff12) << 48,
		  .b_high = UINT64_C(0xffff) << 48,
		  .masked = 1 },
	};
	static const struct policy_fabric fabrics[] = {
		{ .name = "Default",
		  .p_key = 0x7fff,
		  .flags = FABRIC_UNMATCHED_SERVICE | FABRIC_UNMATCHED_MGID,
		  .hoq_life = 0xff },
		{ .name = "Fast",
		  .services = { 0, 2 },
		  .mgids = { 2, 1 },
		  .p_key = 0x0002,
		  .sl = 4,
		  .multicast_sl = 5,
		  .mtu = 4,
		  .rate = 15,
		  .life_time_mult = 2,
		  .flags = FABRIC_QOS | FABRIC_SECURITY | FABRIC_HIGH_PRIORITY,
		  .bandwidth = 30,
		  .preempt_rank = 9,
		  .hoq_life = 8 },
	};
	static struct policy p;

	p = (struct policy){
		.head = { .kind = POLICY_EACH,
		          .n_levels = 1,
		          .n_rules = 2,
		          .n_fabrics = 2,
		          .n_ids = 3,
		          .words = 1 },
		.levels = &level,
		.rules = rules,
		.fabrics = fabrics,
		.ids = ids,
		.sets = arena_array(w->a, (size_t)w->g->n_ports * POLICY_SETS,
		                    sizeof(uint64_t)),
	};
	w->content.policy = &p;
	query_fixture_publish(w, PATH_MINIMAL);
}

static size_t fabrics_by(uint64_t mask, unsigned at, unsigned bytes, uint64_t value)
{
	struct request q = opa(GET_TABLE, VF_INFO, mask);

	put_component(&q, at, bytes, value);
	ck_assert_uint_eq(status_of(&q), 0);
	return n_records();
}

START_TEST(virtual_fabrics)
{
	/* none is configured: that of the default partition */
	ck_assert_uint_eq(fabrics_by(0, 0, 1, 0), 1);
	ck_assert_uint_eq(get(record(0), 4),
	                  0xffff); /* without Security full members, as opa-fm says it */
	ck_assert_str_eq((const char *)record(0) + 8, "Default");
	ck_assert_uint_eq(record(0)[96], 0);
	ck_assert_uint_eq(record(0)[99], 0x80); /* PktLifeTimeMult 1 */
	ck_assert_uint_eq(fabrics_by(2, 2, 2, 0xffff), 1);
	ck_assert_uint_eq(fabrics_by(2, 2, 2, 2), 0);
	ck_assert_uint_eq(fabrics_by(0x10, 72, 8, 0x1ff), 1);
	ck_assert_uint_eq(fabrics_by(0x20, 80, 2, 0xff12), 1);
	field_set(port_info_of(SW_A, 1), PI_HOQ_LIFE, 0x12);
	use_fabrics();
	ck_assert_uint_eq(fabrics_by(0, 0, 1, 0), 2);
	ck_assert_str_eq((const char *)record(0) + 8, "Default");
	ck_assert_uint_eq(record(0)[105], 0x12); /* that of all */
	const uint8_t *r = record(1);
	ck_assert_uint_eq(get(r, 4), 0x00010002);
	ck_assert_str_eq((const char *)r + 8, "Fast");
	ck_assert_uint_eq(get(r + 72, 8) | get(r + 80, 8) | get(r + 88, 8), 0);
	ck_assert_uint_eq(r[96], 3 << 6 | 4);
	ck_assert_uint_eq(r[97], 0x80 | 4);
	ck_assert_uint_eq(r[98], 0x80 | 15);
	ck_assert_uint_eq(r[99], 0x80 | 2);
	ck_assert_uint_eq(get(r + 100, 4), UINT32_C(0x031e0101)); /* options to SLs */
	ck_assert_uint_eq(get(r + 104, 4), UINT32_C(0x09080085));
	/* by index, P_Key with either membership, name, SL */
	ck_assert_uint_eq(fabrics_by(1, 0, 2, 1), 1);
	ck_assert_uint_eq(fabrics_by(1, 0, 2, 2), 0);
	ck_assert_uint_eq(fabrics_by(2, 2, 2, 0x8002), 1);
	ck_assert_uint_eq(fabrics_by(2, 2, 2, 3), 0);
	ck_assert_uint_eq(fabrics_by(8, 8, 4, 0x46617374), 1); /* Fast */
	ck_assert_uint_eq(fabrics_by(0x80, 96, 1, 4), 1);
	ck_assert_uint_eq(fabrics_by(0x80, 96, 1, 5), 0);
	/* by what they hold; it comes back */
	ck_assert_uint_eq(fabrics_by(0x10, 72, 8, 0x1ff), 1);
	ck_assert_uint_eq(get(record(0), 2), 1);
	ck_assert_uint_eq(get(record(0) + 72, 8), 0x1ff);
	ck_assert_uint_eq(fabrics_by(0x10, 72, 8, 0x200), 1);
	ck_assert_uint_eq(get(record(0), 2), 0);
	ck_assert_uint_eq(fabrics_by(0x20, 80, 2, 0xff12), 1);
	ck_assert_uint_eq(get(record(0), 2), 1);
	ck_assert_uint_eq(fabrics_by(0x20, 80, 2, 0xff13), 1);
	ck_assert_uint_eq(get(record(0), 2), 0);
	/* who is no full member of the default partition sees its own */
	asker = lid_of(TWIN_1 + 1);
	ck_assert_uint_eq(fabrics_by(0, 0, 1, 0), 0);
}
END_TEST

/* --- traces ----------------------------------------------------------------------------
 */

START_TEST(traces)
{
	struct request ib = by_gids(GET_TRACE_TABLE, HOST + 1, TWIN_2 + 1, 0);
	uint8_t want[5 * 48];

	ib.mad[17] = TRACE_RECORD;
	ck_assert_uint_eq(status_of(&ib), 0);
	ck_assert_uint_eq(n_records(), 5); /* HOST, A, C, B, TWIN_2 */
	memcpy(want, record(0), sizeof(want));
	for (unsigned attr = PATH_RECORD; attr <= TRACE_RECORD;
	     attr += TRACE_RECORD - PATH_RECORD) {
		struct request q = ib;
		q.mad[0] = q.mad[2] = 0x80;
		q.mad[17] = (uint8_t)attr;
		ck_assert_uint_eq(status_of(&q), 0);
		ck_assert_uint_eq(get(reply.data + 16, 2), TRACE_RECORD);
		ck_assert_uint_eq(n_records(), 5);
		for (unsigned i = 0; i < 5; i++) {
			const uint8_t *a = want + 48 * (size_t)i, *b = record(i);
			ck_assert_mem_eq(b, a + 8, 4);       /* IDGeneration, NodeType */
			ck_assert_mem_eq(b + 4, a + 44, 2);  /* ports */
			for (unsigned k = 0; k < 4; k++) {   /* NodeID to ExitPortID */
				ck_assert_uint_eq(get(b + 8 + 8 * k, 8) ^ 0x55555555,
				                  get(a + 12 + 8 * k, 8));
			}
		}
	}
	struct request l = opa(GET_TRACE_TABLE, TRACE_RECORD, PR_SLID | PR_DLID);
	put_component(&l, 40, 2, lid_of(TWIN_2 + 1)); /* as InfiniBand has it */
	put_component(&l, 42, 2, lid_of(HOST + 1));
	ck_assert_uint_eq(status_of(&l), 0);
	ck_assert_uint_eq(n_records(), 5);
}
END_TEST

/* --- what clients write ----------------------------------------------------------------
 */

static unsigned say(const struct request *q)
{
	unsigned status = status_of(q);

	ck_assert_int_eq(make_durable(), E_OK);
	return status;
}

/* Written in Omni-Path's layout, read in both. */
START_TEST(services)
{
	struct request q = opa(SET, SERVICE_RECORD, 0x1 | 0x2 | 0x20 | 0x80 | 0x100);

	put_component(&q, 0, 8, 0x1122334455667788);
	put_component(&q, 8, 4, lid_of(HOST + 1));
	put_component(&q, 32, 4, 60);
	put_component(&q, 40, 8, 0x99);
	memcpy(q.mad + DATA + 56, "storage", 7);
	put_component(&q, 176, 8, 0xaabb);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(get(record(0) + 8, 4), lid_of(HOST + 1));
	ck_assert_uint_eq(get(record(0) + 12, 2), 0xffff); /* the default partition */
	ck_assert_uint_eq(get(record(0) + 16, 8), FIXTURE_PREFIX);
	ck_assert_uint_eq(get(record(0) + 24, 8), HOST + 1);
	ck_assert_uint_eq(get(record(0) + 40, 8), 0); /* the key is secret */
	struct request ib = request(GET, SERVICE_RECORD, 0x40);
	memcpy(ib.mad + DATA + 48, "storage", 7);
	ck_assert_uint_eq(status_of(&ib), 0);
	ck_assert_uint_eq(get(record(0), 8), 0x1122334455667788);
	ck_assert_uint_eq(get(record(0) + 28, 4), 60);
	ck_assert_uint_eq(get(record(0) + 168, 8), 0xaabb);
	q = opa(GET_TABLE, SERVICE_RECORD, 0x100);
	memcpy(q.mad + DATA + 56, "storage", 7);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 1);
	ck_assert_uint_eq(get(reply.data + 44, 2), 184 / 8);
	q = opa(GET, SERVICE_RECORD, 0x2); /* by LID, of somebody else */
	put_component(&q, 8, 4, lid_of(TWIN_2 + 1));
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
	put_component(&q, 8, 4, 0x12345);
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
	q = opa(DELETE, SERVICE_RECORD, 0x1 | 0x10);
	put_component(&q, 0, 8, 0x1122334455667788);
	put_gid(&q, 16, FIXTURE_PREFIX, HOST + 1);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(status_of(&ib), NO_RECORDS);
}
END_TEST

#define GROUP_TOP UINT64_C(0xff12beef00000000)

static struct request join(uint64_t mgid, uint64_t more)
{
	struct request q = opa(SET, MCMEMBER_RECORD, 0x1 | 0x2 | 0x20000 | more);

	put_gid(&q, 0, GROUP_TOP, mgid);
	put_gid(&q, 16, FIXTURE_PREFIX, HOST + 1);
	put_component(&q, 48, 1, 0x21); /* Scope 2, full member */
	return q;
}

START_TEST(groups)
{
	struct request q = join(0x1234, 0x4 | 0x80 | 0x40 | 0x1000);

	put_component(&q, 32, 4, 0xb1b);
	put_component(&q, 40, 2, 0xffff);
	ck_assert_uint_eq(say(&q), 0);
	uint32_t mlid = (uint32_t)get(record(0) + 52, 4);
	ck_assert_uint_ge(mlid, 0xf0000000);
	ck_assert_uint_eq(get(record(0) + 32, 4), 0xb1b);
	ck_assert_uint_eq(record(0)[48], 0x21);
	struct request ib = request(GET, MCMEMBER_RECORD, 1);
	put_gid(&ib, 0, GROUP_TOP, 0x1234);
	ck_assert_uint_eq(status_of(&ib), 0);
	ck_assert_uint_eq(get(record(0) + 36, 2), mlid - 0xf0000000 + 0xc000);
	q = opa(GET, MCMEMBER_RECORD, 0x80000); /* by MLID */
	put_component(&q, 52, 4, mlid);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(record(0) + 8, 8), 0x1234);
	put_component(&q, 52, 4, mlid - 0xf0000000 + 0xc000);
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
	q = opa(GET, MCMEMBER_RECORD, 0x1 | 0x1000); /* an SL that 4 bits cannot hold */
	put_gid(&q, 0, GROUP_TOP, 0x1234);
	ck_assert_uint_eq(status_of(&q), 0);
	put_component(&q, 44, 1, 16 << 3);
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
	/* a path to the group, in both layouts */
	q = opa(GET, PATH_RECORD, PR_SGID | PR_DGID);
	put_gid(&q, 8, GROUP_TOP, 0x1234);
	put_gid(&q, 24, FIXTURE_PREFIX, HOST + 1);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(record(0) + 40, 4), mlid);
	ck_assert_uint_eq(get(record(0) + 44, 4), lid_of(HOST + 1));
	ck_assert_uint_eq(get(record(0) + 54, 2), 0xffff);
	q = join(0x1234, 0);
	q.mad[3] = DELETE;
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(status_of(&ib), NO_RECORDS);
	/* a value that the record cannot hold is no value */
	q = join(0x1235, 0x4 | 0x80 | 0x40 | 0x1000);
	put_component(&q, 40, 2, 0xffff);
	put_component(&q, 44, 1, 16 << 3);
	ck_assert_uint_eq(say(&q), REQ_INVALID);
}
END_TEST

static struct request subscribe(unsigned on)
{
	struct request q = opa(SET, INFORM_INFO, 0);

	put_component(&q, 16, 4, UINT32_MAX); /* all LIDs */
	put_component(&q, 24, 2, 0x0100 | on);
	put_component(&q, 26, 2, 0xffff);
	put_component(&q, 30, 2, 64);
	put_component(&q, 37, 3, 0xffffff);
	return q;
}

START_TEST(subscriptions)
{
	struct request q = subscribe(1);

	ck_assert_uint_eq(say(&q), 0);
	ck_assert_mem_eq(record(0), q.mad + DATA, 40);
	q = opa(GET_TABLE, INFORM_INFO_RECORD, 1);
	put_component(&q, 0, 4, lid_of(HOST + 1));
	trust_me(&q);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 1);
	ck_assert_uint_eq(get(record(0), 4), lid_of(HOST + 1));
	ck_assert_uint_eq(get(record(0) + 8 + 16, 4), UINT32_MAX);
	ck_assert_uint_eq(get(record(0) + 8 + 24, 8), UINT64_C(0x0101ffff00000040));
	ck_assert_uint_eq(get(record(0) + 8 + 32, 3), asker_qpn);
	ck_assert_uint_eq(record(0)[8 + 35], 0); /* nothing of ours shows */
	put_component(&q, 0, 4, lid_of(TWIN_2 + 1));
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 0);
	/* in InfiniBand's layout it is another one, which reports by that layout */
	struct request ib = request(SET, INFORM_INFO, 0);
	put_component(&ib, 16, 2, 0xffff);
	put_component(&ib, 22, 2, 0x0101);
	put_component(&ib, 24, 4, UINT32_C(0xffff0040));
	put_component(&ib, 33, 3, 0xffffff);
	ck_assert_uint_eq(say(&ib), 0);
	ck_assert_uint_eq(ask_all(INFORM_INFO_RECORD, 0), 2);
	q = subscribe(0);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(ask_all(INFORM_INFO_RECORD, 0), 1);
	ck_assert_uint_eq(say(&q), REQ_INVALID);
	q = subscribe(1);
	put_component(&q, 16, 4, 0x10000); /* nobody's LID, and too wide */
	ck_assert_uint_ne(say(&q), 0);
}
END_TEST

/* --- LIDs above 0xbfff -----------------------------------------------------------------
 */

enum { HIGH = 0x12342 };
#define OPA_GUID(lid) (UINT64_C(0x00066a) << 40 | (lid))

static void setup_high(void)
{
	w = query_fixture_small_high(
		1, 0, PATH_PAIRWISE,
		(struct lid_memory){ .guid = TWIN_2 + 1,
	                             .range = { .base = HIGH, .lmc = 1 } });
	asker = lid_of(HOST + 1);
	ck_assert_uint_eq(lid_of(TWIN_2 + 1), HIGH);
}

static void teardown_high(void)
{
	stop();
}

START_TEST(high_lids)
{
	struct request q = by_gids(GET_TABLE, HOST + 1, TWIN_2 + 1, 0);
	uint32_t host = lid_of(HOST + 1);

	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 2);
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *r = record(i);
		ck_assert_uint_eq(get(r + 8, 8), FIXTURE_PREFIX);
		ck_assert_uint_eq(get(r + 16, 8), OPA_GUID(HIGH + i));
		ck_assert_uint_eq(get(r + 24, 8), FIXTURE_PREFIX);
		ck_assert_uint_eq(get(r + 32, 8), OPA_GUID(host + i));
		ck_assert_uint_eq(get(r + 40, 2), 0x2342 + i); /* low 14 bits */
		ck_assert_uint_eq(get(r + 42, 2), host + i);
		ck_assert_uint_eq(get(r + 44, 4), 1); /* HopLimit */
	}
	/* by such GIDs, one path between these LIDs; and by all that the record said */
	q = by_gids(GET_TABLE, OPA_GUID(host + 1), OPA_GUID(HIGH), 0);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(status_of(&q), 0);
		ck_assert_uint_eq(n_records(), 1);
		ck_assert_uint_eq(get(record(0) + 16, 8), OPA_GUID(HIGH));
		ck_assert_uint_eq(get(record(0) + 32, 8), OPA_GUID(host + 1));
		memcpy(q.mad + DATA, record(0), 64);
		put(q.mad + 48, 8, PR_SGID | PR_DGID | PR_SLID | PR_DLID);
	}
	q = by_gids(GET, HOST + 1, OPA_GUID(0x54321), 0);
	ck_assert_uint_eq(status_of(&q), INVALID_GID);
	/* Omni-Path's layout has room: GIDs stay */
	q = by_gids(GET, HOST + 1, TWIN_2 + 1, 0);
	q.mad[0] = q.mad[2] = 0x80;
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(record(0) + 16, 8), TWIN_2 + 1);
	ck_assert_uint_eq(get(record(0) + 40, 4), HIGH);
	ck_assert_uint_eq(get(record(0) + 48, 4) & 0xff, 0);
	/* low LIDs: as ever */
	q = by_gids(GET, HOST + 1, TWIN_1 + 1, 0);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(record(0) + 16, 8), TWIN_1 + 1);
	ck_assert_uint_eq(get(record(0) + 44, 4), 0);
}
END_TEST

/* MultiPathRecord: the GIDs of the request and of the answer. */
START_TEST(high_lids_of_many)
{
	struct request q = request(GET_MULTI, MULTI_PATH_RECORD, 0x180000);

	q.mad[DATA + 15] = q.mad[DATA + 16] = 1;
	put_gid(&q, 24, FIXTURE_PREFIX, HOST + 1);
	put_gid(&q, 40, FIXTURE_PREFIX, OPA_GUID(HIGH + 1));
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_ge(n_records(), 1);
	ck_assert_uint_eq(get(record(0) + 16, 8), OPA_GUID(HIGH + 1));
	ck_assert_uint_eq(get(record(0) + 47, 1), 1);
}
END_TEST

TEST_SUITE(opa)
{
	TCase *tc = tcase_create("records");
	TCase *high = tcase_create("high");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, port_info);
	tcase_add_test(tc, sm_info);
	tcase_add_test(tc, p_key_tables);
	tcase_add_test(tc, multicast_tables);
	tcase_add_test(tc, arbitration_tables);
	tcase_add_test(tc, service_channels);
	tcase_add_test(tc, fabric);
	tcase_add_test(tc, device_tree);
	tcase_add_test(tc, switch_cost);
	tcase_add_test(tc, device_groups);
	tcase_add_test(tc, none);
	tcase_add_test(tc, virtual_fabrics);
	tcase_add_test(tc, traces);
	tcase_add_test(tc, services);
	tcase_add_test(tc, groups);
	tcase_add_test(tc, subscriptions);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(high, setup_high, teardown_high);
	tcase_add_test(high, high_lids);
	tcase_add_test(high, high_lids_of_many);
	suite_add_tcase(suite, high);
}
