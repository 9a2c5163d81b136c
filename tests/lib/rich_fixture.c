/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/rich_fixture.h"

#include "conf/policy/partitions.h"
#include "db/lmdb/acks.h"
#include "db/lmdb/counters.h"
#include "db/lmdb/drained.h"
#include "db/lmdb/known.h"
#include "db/lmdb/link_health.h"
#include "tests/lib/client_rows.h"
#include "tests/lib/gateway_fixture.h"

static const char partitions[] =
	"Red=0x10,ipoib,indx0:ALL_CAS=full,0x5-0x9;Blue=0x20:SELF=both;"
	"job-7=0x30:0x102,0x202=full,0x203=full,0x402=full,0x77=full;";

static void add_events(struct stats *stats)
{
	const char *const names[] = { "", "sw-a" };

	for (unsigned k = 0; k < EVENT_KINDS; k++) {
		struct fabric_event e = { .kind = (enum event_kind)k,
			                  .node_guid = k % 3 ? SW_A : 0,
			                  .peer_guid = k % 3 == 1 ? 0x990 : 0,
			                  .port = k % 2 ? 7 : 0,
			                  .peer_port = k % 2 ? 7 : 0,
			                  .time_s = 1767225600,
			                  .epoch = k,
			                  .node = names[k % 2],
			                  .cause = k % 4 ? "trap" : NULL,
			                  .detail = "so it is" };
		ck_assert_uint_ne(stats_event(stats, &e), 0);
	}
}

/* A chassis of two switches goes: see known[]. */
static void add_chassis_gone(struct stats *stats)
{
	for (unsigned i = 0; i < 2; i++) {
		struct fabric_event e = { .kind = EVENT_SWITCH_GONE,
			                  .node_guid = i == 0 ? 0x4000 : 0x5000,
			                  .time_s = 1767225600,
			                  .epoch = EVENT_KINDS + i,
			                  .node = i == 0 ? "sw-gone" : "sw-gone-too" };

		ck_assert_uint_ne(stats_event(stats, &e), 0);
	}
}

/* Of a port read once, of one read twice with a history, and of a port that left. */
static void add_counters(struct stats *stats)
{
	for (unsigned n = 0; n < 3; n++) {
		struct port_counters c = { .node_guid = SW_A,
			                   .port = n < 2 ? 1 : 2,
			                   .time_s = 1767225600 + n,
			                   .interval_ms = n == 1 ? 2000 : 0,
			                   .known = n < 2 ? (1u << PORT_COUNTERS) - 1 : 7,
			                   .saturated = 5 };

		c.value[COUNTER_SYMBOL_ERRORS] = n * 3;
		c.delta[COUNTER_SYMBOL_ERRORS] = n == 1 ? 3 : 0;
		ck_assert_int_eq(stats_counters(stats, &c), E_OK);
		c.node_guid = 0x990;
		ck_assert_int_eq(stats_counters(stats, &c), E_OK);
		ck_assert_int_eq(stats_commit(stats, boottime_ms() + 3600000), E_OK);
	}
}

/* The cable between sw-a and sw-c errs, and becomes worse. */
static void add_health(struct stats *stats)
{
	struct link_health h = { .time_s = 1767225600,
		                 .since_s = 1767225540,
		                 .state = LINK_SICK,
		                 .proof = LINK_ERROR_RATE,
		                 .span = LINK_HOUR,
		                 .decision = LINK_DECISION_WATCHED,
		                 .blind = 1u << LINK_DROPS,
		                 .flags = LINK_OF_SWITCH | LINK_HAS_FEC };

	h.now[LINK_HOUR] =
		(struct link_window){ .seconds = 1800, .allowed = 10, .dirty = 1 };
	h.now[LINK_HOUR].n[LINK_FEC_UNCORRECTED] = 120;
	h.now[LINK_MINUTE] = (struct link_window){ .seconds = 60, .allowed = 1 };
	h.now[LINK_MINUTE].n[LINK_FEC_UNCORRECTED] = 90;
	ck_assert_int_eq(stats_link_health(stats, SW_A, 1, &h), E_OK);
	ck_assert_int_eq(stats_commit(stats, boottime_ms() + 3600000), E_OK);
}

/* P_Key tables as the partitions above make them; other ports show none. */
static const struct {
	uint64_t node_guid;
	uint8_t port;
	uint16_t keys[4];
} p_keys[] = {
	{ HOST, 1, { 0xffff, 0x0030 } },         { DUAL, 1, { 0xffff, 0x8010, 0x8030 } },
	{ DUAL, 2, { 0x7fff, 0x0010, 0x8030 } }, { TWIN_2, 1, { 0xffff, 0x8030 } },
	{ LEFT, 1, { 0xffff, 0x8010 } },         { RIGHT, 1, { 0xffff, 0x8020 } },
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void add_p_keys(struct query_fixture *w)
{
	for (size_t i = 0; i < N(p_keys); i++) {
		uint8_t *table = query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE,
		                                    p_keys[i].node_guid,
		                                    (uint32_t)p_keys[i].port << 16, 64);

		for (unsigned k = 0; k < N(p_keys[i].keys); k++) {
			field_set(table, k * 16, 16, p_keys[i].keys[k]);
		}
	}
}

enum { FIRST_S = 1767139200, GONE_S = 1767225000 };

/* Nodes that are gone, each for another reason, two that are there, a cable that is
 * gone, and one that is not. */
static const struct known_node known[] = {
	{ .node_guid = HOST,
	  .port_guid = HOST + 1,
	  .port = 1,
	  .type = NODE_CA,
	  .lid = 2,
	  .switch_guid = SW_A,
	  .switch_port = 2,
	  .first_s = FIRST_S,
	  .name = "host",
	  .switch_name = "sw-a" },
	{ .node_guid = 0x701,
	  .port_guid = 0x702,
	  .port = 1,
	  .type = NODE_CA,
	  .lid = 40,
	  .switch_guid = SW_A,
	  .switch_port = 6,
	  .first_s = FIRST_S,
	  .gone_s = GONE_S,
	  .cause = KNOWN_LINK_DOWN,
	  .name = "departed",
	  .switch_name = "sw-a" },
	{ .node_guid = 0x801,
	  .port_guid = 0x802,
	  .port = 1,
	  .type = NODE_ROUTER,
	  .switch_guid = SW_B,
	  .switch_port = 6,
	  .first_s = FIRST_S,
	  .gone_s = GONE_S + 60,
	  .cause = KNOWN_SILENT,
	  .name = "old-router",
	  .switch_name = "sw-b" },
	{ .node_guid = SW_A,
	  .port_guid = SW_A,
	  .type = NODE_SWITCH,
	  .lid = 1,
	  .first_s = FIRST_S,
	  .name = "sw-a" },
	{ .node_guid = SW_A,
	  .port = 1,
	  .type = NODE_SWITCH,
	  .switch_guid = SW_C,
	  .switch_port = 1,
	  .first_s = FIRST_S },
	{ .node_guid = 0x4000,
	  .port_guid = 0x4000,
	  .type = NODE_SWITCH,
	  .lid = 50,
	  .first_s = FIRST_S,
	  .gone_s = GONE_S,
	  .cause = KNOWN_GONE,
	  .system_guid = 0x4f00,
	  .name = "sw-gone" },
	{ .node_guid = 0x4000,
	  .port = 3,
	  .type = NODE_SWITCH,
	  .switch_guid = 0x5000,
	  .switch_port = 4,
	  .first_s = FIRST_S,
	  .gone_s = GONE_S,
	  .cause = KNOWN_SWITCH_GONE },
	{ .node_guid = 0x5000,
	  .port_guid = 0x5000,
	  .type = NODE_SWITCH,
	  .lid = 51,
	  .first_s = FIRST_S,
	  .gone_s = GONE_S,
	  .cause = KNOWN_GONE,
	  .system_guid = 0x4f00,
	  .name = "sw-gone-too" },
};

/* A host with an end and a note, the cable behind it without, and a link that is not
 * healthy. */
static const struct drained_row drained[] = {
	{ .node_guid = HOST,
	  .type = NODE_CA,
	  .since_s = GONE_S,
	  .until_s = INT64_C(4102444800),
	  .state_s = GONE_S,
	  .reason = DRAINED_MAINTENANCE,
	  .state = DRAINED_QUIET,
	  .force = true,
	  .name = "host",
	  .by = "root",
	  .note = "=1+1, \"new\" memory" },
	{ .node_guid = SW_A,
	  .port = 1,
	  .peer_guid = SW_C,
	  .peer_port = 1,
	  .since_s = GONE_S,
	  .state_s = GONE_S + 1,
	  .reason = DRAINED_HEALTH,
	  .state = DRAINED_NEEDED,
	  .name = "sw-a",
	  .peer_name = "sw-c",
	  .by = "saguarod" },
};

static const struct alarm_ack acks[] = {
	{ .id = "flapping",
	  .at_s = GONE_S,
	  .until_s = INT64_C(4102444800),
	  .by = "operator",
	  .note = "cable is ordered" },
	{ .id = "isolated", .at_s = GONE_S + 1, .by = "root" },
};

static void add_written_rows(struct query_fixture *w)
{
	static uint8_t key[N(known) + N(drained) + N(acks)][ACK_ID_BYTES];
	static uint8_t value[N(known) + N(drained) + N(acks)][512];
	struct client_row row[N(known) + N(drained) + N(acks)];
	struct snap_published done;
	size_t n = 0;

	_Static_assert(KNOWN_ROW_MAX <= 512 && DRAINED_ROW_MAX <= 512 &&
	                       ACK_ROW_MAX <= 512,
	               "a value has room");
	for (size_t i = 0; i < N(known); i++, n++) {
		known_key(known[i].node_guid, known[i].port, key[n]);
		row[n] = (struct client_row){
			key[n], value[n], RECORDS_KNOWN, KNOWN_KEY_BYTES,
			(uint16_t)known_encode(&known[i], value[n])
		};
	}
	for (size_t i = 0; i < N(acks); i++, n++) {
		memcpy(key[n], acks[i].id, strlen(acks[i].id));
		row[n] = (struct client_row){ key[n], value[n], RECORDS_ACKS,
			                      (uint16_t)strlen(acks[i].id),
			                      (uint16_t)acks_encode(&acks[i], value[n]) };
	}
	for (size_t i = 0; i < N(drained); i++, n++) {
		drained_key(drained[i].node_guid, drained[i].port, drained[i].reason,
		            key[n]);
		row[n] = (struct client_row){
			key[n], value[n], RECORDS_DRAINED, DRAINED_KEY_BYTES,
			(uint16_t)drained_encode(&drained[i], value[n])
		};
	}
	ck_assert_int_eq(snap_mirror(w->w, row, n, false, 1, &done), E_OK);
	ck_assert_int_eq(snap_pin(w->r), E_OK);
}

void rich_fixture_start(struct query_fixture **ret_fixture, struct stats **ret_stats)
{
	struct query_fixture *w;
	struct stats *stats = NULL;
	static const uint32_t ports[4][2] = { { 1, 2 }, { 0, 1 }, { 1, 3 }, { 3, 4 } };
	const char *why = "";

	w = query_fixture_small(1, 0, PATH_MINIMAL);
	ck_assert_int_eq(partitions_parse("p", partitions, sizeof(partitions) - 1, w->a,
	                                  NULL, &w->content.partitions),
	                 E_OK);
	w->content.partition_ports = ports;
	for (size_t i = 0; i < w->content.n_attrs; i++) {
		uint8_t *info = (uint8_t *)(uintptr_t)w->attrs[i].data;

		if (w->attrs[i].attr == UMAD_SM_ATTR_PORT_INFO && i % 4 != 0) {
			field_set(info, PI_LINK_WIDTH_SUPPORTED, WIDTH_1X | WIDTH_4X);
			field_set(info, PI_LINK_SPEED_EXT_SUPPORTED, i % 8);
			field_set(info, PI_PORT_PHYSICAL_STATE, 5);
		}
	}
	uint8_t *sm = query_fixture_attr(w, UMAD_SM_ATTR_SM_INFO, HOST, 1, 21);
	field_set(sm, SMI_GUID, HOST + 1);
	field_set(sm, SMI_PRIORITY, 14);
	field_set(sm, SMI_SM_STATE, 3);
	sm = query_fixture_attr(w, UMAD_SM_ATTR_SM_INFO, RIGHT, 1, 21);
	field_set(sm, SMI_GUID, 0x999);
	field_set(sm, SMI_SM_STATE, 2);
	add_p_keys(w);
	query_fixture_publish(w, PATH_MINIMAL);
	query_fixture_written(w);
	add_written_rows(w);
	ck_assert_int_eq(stats_open(w->dir, w->a, &why, &stats), E_OK);
	stats_set(stats, "subnet_up", 1);
	stats_text(stats, "sm.state", "master");
	stats_set(stats, "switches_programmed{way=\"by_lid\"}", 3);
	stats_set(stats, "switches_programmed{way=\"unanswered\"}", 1);
	stats_set(stats, "switches_programmed{way=\"behind\"}", 2);
	stats_set(stats, "config_hole{hole=\"m_key\"}", 1);
	stats_set(stats, "config_hole{hole=\"sm_trust\"}", 0);
	stats_set(stats, "config_hole{hole=\"sa_key\"}", 1);
	stats_text(stats, "sm.guid", "0x0000000000000102");
	stats_text(stats, "sm.master.guid", "0x0000000000000602");
	stats_text(stats, "sm.master.name", "right");
	stats_set(stats, "standby_link", 1);
	add_events(stats);
	add_chassis_gone(stats);
	add_counters(stats);
	add_health(stats);
	ck_assert_int_eq(stats_commit(stats, boottime_ms() + 3600000), E_OK);
	*ret_fixture = w;
	*ret_stats = stats;
}

void rich_fixture_stop(struct query_fixture *w, struct stats *stats)
{
	stats_close(stats);
	query_fixture_free(w);
}
