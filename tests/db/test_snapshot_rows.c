/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What a publish stores beside the tables of the fabric: every number of the head, on a
 * sweep whose numbers all differ, and the version of exactly those tables that changed.
 */
#include <check.h>
#include <errno.h>
#include <infiniband/umad_sm.h>

#include "conf/policy/partitions.h"
#include "db/snapshot/policy.h"
#include "db/snapshot/reader.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

static char dir[256];
static struct arena *arena;
static struct snap_writer *w;
static struct snap_reader *r;
static struct fabric fabric;
static struct snap_content content;

static void setup(void)
{
	struct snap_options o = { .grace_ms = 10000 };
	const char *why = "";

	make_tmp(dir);
	arena = arena_new();
	ck_assert_msg(snap_writer_open(dir, &o, arena, &why, &w) == E_OK, "%s", why);
	ck_assert_int_eq(snap_reader_local(w, &r), E_OK);
	fabric_init(&fabric, "ft2 3 2 2", 1);
	content = fabric_content(&fabric, 1);
}

static void teardown(void)
{
	snap_reader_close(r);
	snap_writer_close(w);
	fabric_done(&fabric);
	arena_free(arena);
	remove_tree(dir);
}

static uint64_t publish(void)
{
	struct snap_published p;

	ck_assert_int_eq(snap_publish(w, &content, 0, &p), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	return p.txn;
}

START_TEST(test_head)
{
	struct graph g = *fabric.g;
	struct route_result *route = &fabric.route;

	route->proof.pairs = 101;
	route->proof.unreachable_pairs = 102;
	route->proof.forwarding_loops = 103;
	route->proof.credit_loops = 104;
	route->proof.management_unreachable = 105;
	route->proof.management_credit_loops = 106;
	route->proof.vls_used = 7;
	route->proof.management_vls = 3;
	route->load.max = 108;
	route->load.p99 = 109;
	route->load.mean = 110.5;
	route->seconds_route = 111.5;
	route->seconds_prove = 112.5;
	route->engine_asked = "asked";
	snprintf(route->fallback_reason.text, sizeof(route->fallback_reason.text),
	         "reason");
	snprintf(route->out.notes.text, sizeof(route->out.notes.text), "notes");
	snprintf(route->warning.text, sizeof(route->warning.text), "warning");
	content.g = &g;
	g.n_hosts = 113;
	g.n_links = 114;
	content.epoch = 115;
	content.computed_at = 116;
	content.subnet_prefix = 117;
	content.sm_port_guid = 118;
	content.sm_lid = 119;
	content.sm_priority = 12;
	content.sm_state = 2;
	content.packet_life_time = 17;
	content.path_selection = 3;
	content.multicast_fdb_cap = 120;
	content.qos = true;
	for (uint8_t i = 0; i < SNAP_HOPS_MAX; i++) {
		content.life_time_by_hops[i] = 20 + i;
	}
	content.n_stages = 2;
	content.stage[0] = (struct snap_stage){ "one", 121.5 };
	content.stage[1] = (struct snap_stage){ "two", 122.5 };
	uint64_t txn = publish();

	const struct snap_meta *m = snap_meta(r);
	ck_assert_uint_eq(m->txn, txn);
	ck_assert_uint_eq(m->pairs, 101);
	ck_assert_uint_eq(m->unreachable_pairs, 102);
	ck_assert_uint_eq(m->forwarding_loops, 103);
	ck_assert_uint_eq(m->credit_loops, 104);
	ck_assert_uint_eq(m->management_unreachable, 105);
	ck_assert_uint_eq(m->management_credit_loops, 106);
	ck_assert_uint_eq(m->vls_used, 7);
	ck_assert_uint_eq(m->management_vls, 3);
	ck_assert_uint_eq(m->load_max, 108);
	ck_assert_uint_eq(m->load_p99, 109);
	ck_assert(m->load_mean == 110.5);
	ck_assert(m->seconds_route == 111.5);
	ck_assert(m->seconds_prove == 112.5);
	ck_assert_str_eq(m->engine_asked, "asked");
	ck_assert_str_eq(m->engine_used, "minhop");
	ck_assert_str_eq(m->fallback_reason, "reason");
	ck_assert_str_eq(m->notes, "notes");
	ck_assert_str_eq(m->warning, "warning");
	ck_assert_uint_eq(m->n_nodes, g.n_nodes);
	ck_assert_uint_eq(m->n_switches, g.n_switches);
	ck_assert_uint_eq(m->n_end_ports, g.n_end_ports);
	ck_assert_uint_eq(m->n_hosts, 113);
	ck_assert_uint_eq(m->n_links, 114);
	ck_assert_uint_eq(m->n_lids, fabric.lids.count);
	ck_assert_uint_eq(m->top_lid, fabric.lids.top);
	ck_assert_uint_eq(m->n_sources, route->paths.n_sources);
	ck_assert_uint_eq(m->lmc, 1);
	ck_assert_uint_eq(m->epoch, 115);
	ck_assert_int_eq(m->computed_at, 116);
	ck_assert_uint_eq(m->subnet_prefix, 117);
	ck_assert_uint_eq(m->sm_port_guid, 118);
	ck_assert_uint_eq(m->sm_lid, 119);
	ck_assert_uint_eq(m->sm_priority, 12);
	ck_assert_uint_eq(m->sm_state, 2);
	ck_assert_uint_eq(m->packet_life_time, 17);
	ck_assert_uint_eq(m->path_selection, 3);
	ck_assert_uint_eq(m->multicast_fdb_cap, 120);
	ck_assert(m->qos);
	for (unsigned i = 0; i < SNAP_HOPS_MAX; i++) {
		ck_assert_uint_eq(m->life_time_by_hops[i], 20 + i);
	}
	ck_assert_uint_eq(m->n_stages, 2);
	ck_assert_str_eq(m->stage[0].name, "one");
	ck_assert(m->stage[0].seconds == 121.5);
	ck_assert_str_eq(m->stage[1].name, "two");
	ck_assert(m->stage[1].seconds == 122.5);
}
END_TEST

START_TEST(test_transition)
{
	content.transition = (struct snap_transition){ .epoch = 130,
		                                       .changed = 131,
		                                       .stages = 132,
		                                       .withdrawn = 133,
		                                       .may_loop = 134,
		                                       .credit_loops = 135,
		                                       .blocks = 136,
		                                       .safe = true,
		                                       .seconds_plan = 137.5,
		                                       .seconds_send = 138.5,
		                                       .reason = "together" };
	publish();

	const struct snap_transition *t = &snap_meta(r)->transition;
	ck_assert_uint_eq(t->epoch, 130);
	ck_assert_uint_eq(t->changed, 131);
	ck_assert_uint_eq(t->stages, 132);
	ck_assert_uint_eq(t->withdrawn, 133);
	ck_assert_uint_eq(t->may_loop, 134);
	ck_assert_uint_eq(t->credit_loops, 135);
	ck_assert_uint_eq(t->blocks, 136);
	ck_assert(t->safe);
	ck_assert(t->seconds_plan == 137.5);
	ck_assert(t->seconds_send == 138.5);
	ck_assert_str_eq(t->reason, "together");
}
END_TEST

static uint8_t p_keys[64] = { 0x80, 0x01, 0xff, 0xff };
static struct snap_attr p_key_table = { .attr = UMAD_SM_ATTR_PKEY_TABLE,
	                                .data = p_keys,
	                                .len = sizeof(p_keys) };

static void nothing(void)
{
}

static void change_options(void)
{
	content.options_text = "another text\n";
}

static void change_node(void)
{
	fabric.g->nodes[1].vendor_id++;
}

static void change_port(void)
{
	fabric.g->ports[fabric.g->hosts[0]].state = PORT_ARMED;
}

static void change_load(void)
{
	fabric.route.load.all[0]++;
}

static void change_lft(void)
{
	lft_row(&fabric.route.out.lft, 0)[1] ^= 1;
}

static void change_path(void)
{
	fabric.route.paths.rows[1].lane ^= 1;
}

static void change_p_keys(void)
{
	p_keys[1]++;
}

#define TABLE(id) (UINT32_C(1) << SNAP_##id)
static const struct {
	const char *what;
	void (*change)(void);
	uint32_t tables; /* whose versions move, besides that of the head */
	bool new_epoch;
} changes[] = {
	{ "nothing", nothing, 0, false },
	{ "options", change_options, TABLE(OPTIONS), false },
	{ "a node", change_node, TABLE(NODES), true },
	{ "a port state", change_port, TABLE(PORTS), false },
	{ "routes on a link", change_load, TABLE(LOAD), false },
	{ "an LFT entry", change_lft, TABLE(LFT), true },
	{ "a path", change_path, TABLE(PATHS), true },
	{ "a P_Key", change_p_keys, TABLE(ATTRS) | TABLE(P_KEY_SETS), false },
};

START_TEST(test_versions)
{
	struct snap_published p;

	p_key_table.guid = fabric.g->nodes[fabric.g->ports[fabric.g->hosts[0]].node].guid;
	p_key_table.block = 1 << 16;
	content.attrs = &p_key_table;
	content.n_attrs = 1;
	uint64_t first = publish();
	changes[_i].change();
	/* an epoch stands for one routing, so what changes routing needs another */
	ck_assert_int_eq(snap_publish(w, &content, 0, &p),
	                 changes[_i].new_epoch ? -EINVAL : E_OK);
	content.epoch++;
	uint64_t second = changes[_i].new_epoch ? publish() : p.txn;
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (unsigned t = SNAP_META; t < SNAP_SERVICES; t++) {
		bool stored = snap_meta(r)->version[t] != 0;
		bool moved = snap_meta(r)->version[t] == second;
		bool moves = t == SNAP_META || (changes[_i].tables >> t & 1) != 0;
		ck_assert_msg(moved == moves, "%s: table %u", changes[_i].what, t);
		ck_assert(moved || !stored || snap_meta(r)->version[t] == first);
	}
	ck_assert_uint_eq(snap_version(snap_meta(r), changes[_i].tables),
	                  changes[_i].tables ? second : 0);
}
END_TEST

/* A port that claims the PortGUID of another one as its alias does not get its traffic; an
 * alias that is nobody's PortGUID leads to the port that claims it. */
START_TEST(test_own_guid_first)
{
	const struct graph *g = fabric.g;
	uint8_t guids[64] = { 0 };
	struct snap_attr info = { .attr = UMAD_SM_ATTR_GUID_INFO, .data = guids, .len = 64 };
	struct snap_end end;

	for (uint32_t i = 0; i < g->n_hosts; i++) {
		const struct port *own = &g->ports[g->hosts[i]];
		const struct port *thief = &g->ports[g->hosts[i ? 0 : 1]];

		for (unsigned b = 0; b < 8; b++) {
			guids[8 + b] = (uint8_t)(own->guid >> (56 - 8 * b));
		}
		guids[23] = 0x77;
		info.guid = g->nodes[thief->node].guid;
		info.block = (uint32_t)thief->num << 8;
		content.attrs = &info;
		content.n_attrs = 1;
		publish();
		ck_assert_int_eq(snap_port_guid(r, own->guid, &end), E_OK);
		ck_assert_uint_eq(end.port_guid, own->guid);
		ck_assert_int_eq(snap_port_guid(r, 0x77, &end), E_OK);
		ck_assert_uint_eq(end.port_guid, thief->guid);
	}
}
END_TEST

/* Partitions come back by P_Key, with groups, members and names. */
START_TEST(test_partitions)
{
	static const char text[] = "A long name=0x10,ipoib,indx0,sl=3:ALL=full,0x5-0x9;=0x7:mgid=ff12::1,mtu=2\n";
	static const uint32_t ports[3][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
	struct snap_partition p;

	publish();
	ck_assert_int_eq(snap_partition_from(r, 0, &p), E_NOTFOUND);
	ck_assert_int_eq(partitions_parse("p", text, sizeof(text) - 1, arena, NULL, &content.partitions), E_OK);
	content.partition_ports = ports;
	publish();
	ck_assert_int_eq(snap_partition_from(r, 0, &p), E_OK);
	ck_assert_uint_eq(p.p_key, 7);
	ck_assert(p.is.n_limited == 1 && p.is.n_full == 2 && p.is.name_len == 0);
	ck_assert(p.is.n_members == 0 && p.is.n_groups == 1);
	ck_assert_uint_eq(snap_partition_group(&p, 0).prefix, UINT64_C(0xff12000000000000));
	ck_assert(snap_partition_group(&p, 0).guid == 1 && snap_partition_group(&p, 0).mtu == 2);
	ck_assert_int_eq(snap_partition_from(r, 8, &p), E_OK);
	ck_assert(p.p_key == 16 && p.is.indx0 && p.is.sl == 3 && p.is.n_full == 4);
	ck_assert(p.is.name_len == 11 && memcmp(p.name, "A long name", 11) == 0);
	ck_assert(snap_partition_group(&p, 0).broadcast && snap_partition_group(&p, 0).sl == 3);
	ck_assert_uint_eq(p.is.n_members, 2);
	ck_assert_uint_eq(snap_partition_member(&p, 0).who, PARTITION_ALL);
	ck_assert_uint_eq(snap_partition_member(&p, 1).last, 9);
	ck_assert_int_eq(snap_partition_from(r, 17, &p), E_OK);
	ck_assert_uint_eq(p.p_key, PARTITION_DEFAULT);
	ck_assert_int_eq(snap_partition_from(r, 0x7fff + 1, &p), E_NOTFOUND);
}
END_TEST

/* Names of hosts stand behind that of the partition. */
START_TEST(partition_hosts)
{
	static const char text[] = "Name=0x10: \"node[7-8]\", 0x9=full, \"rack 1\"=both;";
	static const char *const names[] = { "node7", "node8", NULL, "rack 1" };
	static const uint32_t ports[2][2] = { { 1, 2 }, { 3, 4 } };
	struct snap_partition p;

	ck_assert_int_eq(partitions_parse("p", text, sizeof(text) - 1, arena, NULL,
	                                  &content.partitions),
	                 E_OK);
	content.partition_ports = ports;
	publish();
	ck_assert_int_eq(snap_partition_from(r, 0, &p), E_OK);
	ck_assert(p.is.name_len == 4 && memcmp(p.name, "Name", 4) == 0);
	ck_assert_uint_eq(p.is.n_members, 4);
	for (uint32_t i = 0; i < 4; i++) {
		struct snap_partition_member m = snap_partition_member(&p, i);
		size_t len;
		const char *name = snap_partition_host(&p, &m, &len);

		if (names[i] == NULL) {
			ck_assert(m.who == PARTITION_GUIDS && m.first == 9);
			continue;
		}
		ck_assert_uint_eq(m.who, PARTITION_HOST);
		ck_assert_uint_eq(len, strlen(names[i]));
		ck_assert_mem_eq(name, names[i], len);
		m.last = 1000; /* a damaged row */
		snap_partition_host(&p, &m, &len);
		ck_assert_uint_eq(len, 0);
	}
}
END_TEST

TEST_SUITE(snapshot_rows)
{
	TCase *t = tcase_create("rows");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_head);
	tcase_add_test(t, test_transition);
	tcase_add_test(t, test_own_guid_first);
	tcase_add_test(t, test_partitions);
	tcase_add_test(t, partition_hosts);
	tcase_add_loop_test(t, test_versions, 0, sizeof(changes) / sizeof(changes[0]));
	suite_add_tcase(suite, t);
}
