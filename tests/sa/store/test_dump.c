/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Dumps of subnet administration. The lines are those that OpenSM 3.3.23 wrote on a
 * simulated fabric; what has to be in the store follows from the specification's records.
 */
#include <check.h>
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "sa/mad/wire.h"
#include "sa/store/alias.h"
#include "sa/store/dump.h"
#include "sa/store/mcast.h"
#include "sa/store/service.h"
#include "sa/store/store.h"
#include "sa/store/subscription.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

#define GROUP                                                                            \
	"MC Group 0xc000  (well known): mgid=0xff12401bffff0000:0x00000000ffffffff "     \
	"port_gid=0x0000000000000000:0x0000000000000000 qkey=0x00000b1b mlid=0xc000 "    \
	"mtu=0x84 tclass=0x00 pkey=0xffff rate=0x83 pkt_life=0x92 "                      \
	"sl_flow_hop=0x30000140 scope_state=0x21 proxy_join=0x0\n\n"
#define OTHER_GROUP                                                                      \
	"MC Group 0xc001 : mgid=0xff12a01cfe800000:0x0000000012345678 "                  \
	"port_gid=0x0000000000000000:0x0000000000000000 qkey=0x00000000 mlid=0xc001 "    \
	"mtu=0x84 tclass=0x00 pkey=0xffff rate=0x83 pkt_life=0x92 "                      \
	"sl_flow_hop=0x00000000 scope_state=0x21 proxy_join=0x0\n\n"
#define MEMBER                                                                           \
	"mcm_port: port_gid=0xfe80000000000000:0x0002c90400007001 scope_state=0x25 "     \
	"proxy_join=0x1\n\n"
#define INFORM                                                                           \
	"InformInfo Record: subscriber_gid=0xfe80000000000000:0x0002c90400001001 "       \
	"subscriber_enum=0x7 InformInfo: gid=0x0000000000000000:0x0000000000000000 "     \
	"lid_range_begin=0xffff lid_range_end=0x0 is_generic=0x1 subscribe=0x1 "         \
	"trap_type=0xffff trap_num=0x41 qpn_resp_time_val=0x112 node_type=0xffffff "     \
	"rep_addr: lid=0x0008 path_bits=0x00 static_rate=0x00 remote_qp=0x00000001 "     \
	"remote_qkey=0x00000000 pkey_ix=0x0000 sl=0x03\n\n"
#define SERVICE_OF(name, modified, period)                                               \
	"Service Record: id=0x0000000019490097 "                                         \
	"gid=0xfe80000000000000:0x0002c90400007001 pkey=0xffff lease=0xa "               \
	"key=0x0102030405060708:0x090a0b0c0d0e0f10 name='" name "' "                     \
	"data8=0x0002000000000000:0x0000000000000000 "                                   \
	"data16=0x0000000300000000:0x0000000000000000 "                                  \
	"data32=0x0000000000000004:0x0000000000000000 "                                  \
	"data64=0x0000000000000000:0x0000000000000005 modified_time=" modified           \
	" lease_period=" period "\n\n"
#define GUIDS                                                                            \
	"GUIDInfo Record: base_guid=0x0002c90400007001 lid=0x0008 block_num=0x0 "        \
	"guid0=0x0002c90400007001 guid1=0x0014050000000001 guid2=0x0014050000000002 "    \
	"guid3=0x0 guid4=0x0 guid5=0x0 guid6=0x0 guid7=0x0\n"
#define SERVICE SERVICE_OF("osmt.srvc.719885380.23651", "0x6b023560", "0xffffffff")
#define NOW INT64_C(0x6b023564)

static struct arena *a;
static struct diags d;
static struct sa_store *st;
static struct dump_counts counts;

static void setup(void)
{
	a = arena_new();
	diags_init(&d, a);
	ck_assert_int_eq(store_new(NULL, NOW, &st), E_OK);
}

static void teardown(void)
{
	store_free(st);
	arena_free(a);
}

static int parse(const char *text)
{
	return dump_read("file", text, strlen(text), &d, st, &counts);
}

static const struct store_row *only(enum record_table table)
{
	ck_assert_uint_eq(store_count(st, table), 1);
	return store_seek(st, table, NULL, 0);
}

START_TEST(groups)
{
	struct mcast_group_row g;
	struct mcast_member_row m;

	ck_assert_int_eq(parse(GROUP MEMBER), E_OK);
	ck_assert(mcast_group_of(only(RECORDS_GROUPS), &g));
	ck_assert_uint_eq(g.well_known, 1);
	ck_assert_uint_eq(field_get(g.record, 0, 64), UINT64_C(0xff12401bffff0000));
	ck_assert_uint_eq(field_get(g.record, 64, 64), 0xffffffff);
	ck_assert_uint_eq(mcast_get(g.record, MC_Q_KEY), 0xb1b);
	ck_assert_uint_eq(mcast_get(g.record, MC_MLID), 0xc000);
	ck_assert_uint_eq(mcast_get(g.record, MC_MTU_SELECTOR), 2);
	ck_assert_uint_eq(mcast_get(g.record, MC_MTU), 4);
	ck_assert_uint_eq(mcast_get(g.record, MC_P_KEY), 0xffff);
	ck_assert_uint_eq(mcast_get(g.record, MC_RATE), 3);
	ck_assert_uint_eq(mcast_get(g.record, MC_LIFE), 18);
	ck_assert_uint_eq(mcast_get(g.record, MC_SL), 3);
	ck_assert_uint_eq(mcast_get(g.record, MC_FLOW_LABEL), 1);
	ck_assert_uint_eq(mcast_get(g.record, MC_HOP_LIMIT), 0x40);
	ck_assert_uint_eq(mcast_get(g.record, MC_SCOPE), 2);
	ck_assert_uint_eq(mcast_get(g.record, MC_JOIN_STATE), 0);
	const struct store_row *row = only(RECORDS_MEMBERS);
	ck_assert_mem_eq(row->bytes, g.record, 16);
	ck_assert_uint_eq(field_get(row->bytes, 192, 64), 0x0002c90400007001);
	ck_assert(mcast_member_find(st, g.record, row->bytes + 16, &m));
	ck_assert_uint_eq(m.port_guid, 0x0002c90400007001);
	ck_assert_uint_eq(m.join_state, 5);
	ck_assert_uint_eq(m.proxy_join, 1);
}
END_TEST

START_TEST(services)
{
	ck_assert_int_eq(parse(SERVICE), E_OK);
	const struct store_row *row = only(RECORDS_SERVICES);
	const uint8_t *record = store_value(row) + 8;
	ck_assert_uint_eq(row->len, 184);
	ck_assert_mem_eq(row->bytes, record, 26);
	ck_assert_int_eq(row->expires, STORE_FOR_EVER);
	ck_assert_uint_eq(field_get(store_value(row), 0, 64), 0x0002c90400007001);
	ck_assert_uint_eq(field_get(record, 0, 64), 0x19490097);
	ck_assert_uint_eq(field_get(record, 192, 16), 0xffff);
	ck_assert_uint_eq(field_get(record, 224, 32), 10);
	ck_assert_uint_eq(record[32], 1);
	ck_assert_uint_eq(record[47], 16);
	ck_assert_str_eq((const char *)record + 48, "osmt.srvc.719885380.23651");
	ck_assert_uint_eq(record[113], 2);                      /* ServiceData8.2 */
	ck_assert_uint_eq(field_get(record, 1024 + 16, 16), 3); /* ServiceData16.2 */
	ck_assert_uint_eq(field_get(record, 1152 + 32, 32), 4);
	ck_assert_uint_eq(field_get(record, 1280 + 64, 64), 5);
}
END_TEST

/* A lease goes on from when the dump was written. */
START_TEST(leases)
{
	ck_assert_int_eq(parse(SERVICE_OF("a", "0x6b023560", "0x6")), E_OK);
	ck_assert_int_eq(only(RECORDS_SERVICES)->expires, NOW + 2);
	ck_assert_int_eq(parse(SERVICE_OF("b", "0x6b023560", "0x4")), E_OK);
	ck_assert_uint_eq(counts.left_out, 1);
}
END_TEST

START_TEST(subscriptions)
{
	struct subscription s;

	ck_assert_int_eq(parse(INFORM), E_OK);
	const struct store_row *row = only(RECORDS_SUBSCRIPTIONS);
	const uint8_t *inform = row->bytes + 8;
	ck_assert_uint_eq(row->key_len, 44);
	ck_assert_uint_eq(field_get(row->bytes, 0, 64), 0x0002c90400001001);
	ck_assert_uint_eq(field_get(inform, INF_LID_RANGE_BEGIN), 0xffff);
	ck_assert_uint_eq(inform[22], 1);
	ck_assert_uint_eq(inform[23], 1);
	ck_assert_uint_eq(field_get(inform, INF_TRAP_NUMBER), 65);
	ck_assert_uint_eq(field_get(inform, INF_QPN), 1);
	ck_assert_uint_eq(field_get(inform, INF_RESP_TIME_VALUE), 0x12);
	ck_assert_uint_eq(field_get(inform, INF_PRODUCER_TYPE), 0xffffff);
	memcpy(&s, store_value(row), sizeof(s));
	ck_assert(s.qpn == 1 && s.number == 7 && s.sl == 3 && s.pkey_index == 0);
}
END_TEST

/* Every bad line, each with its number; lines that are good are not to blame. */
START_TEST(bad_lines)
{
	static const unsigned lines[] = { 1, 3, 7, 9, 11, 13, 15 };

	ck_assert_int_eq(
		parse("hello\n\n" MEMBER GROUP
	              "mcm_port: port_gid=0x1:0x2 scope_state=0x121 proxy_join=0x0\n\n" GROUP
	              "MC Group 0xc002 : mgid=0xff12401bffff0000:0x2 port_gid=0x0:0x0 qkey=0x0 mlid=0xbfff mtu=0x84 tclass=0x0 pkey=0xffff rate=0x83 pkt_life=0x92 sl_flow_hop=0x0 scope_state=0x21 proxy_join=0x0\n\n"
	              "Service Record: id=0x1\n\n"
	              "InformInfo Record: subscriber_gid=0x0\n\n"),
		E_SYNTAX);
	ck_assert_uint_eq(d.n_errors, sizeof(lines) / sizeof(lines[0]));
	for (unsigned i = 0; i < d.n; i++) {
		ck_assert_uint_eq(d.items[i].line, lines[i]);
		ck_assert_str_eq(d.items[i].file, "file");
	}
}
END_TEST

/* A line has at most 2047 bytes, and the longest is read like any other. */
START_TEST(longest_line)
{
	char text[2050];

	for (size_t n = 2046; n <= 2048; n++) {
		memset(text, ' ', n);
		text[n] = '\0';
		diags_init(&d, a);
		ck_assert_int_eq(parse(text), E_SYNTAX);
		ck_assert_uint_eq(d.n_errors, 1);
		ck_assert((strstr(diags_first_error(&d), "longer than 2047 bytes") != NULL) ==
		          (n > 2047));
	}
}
END_TEST

START_TEST(odd_ones)
{
	static char text[5000];

	ck_assert_int_eq(parse(""), E_OK);
	ck_assert_int_eq(parse("GUIDInfo Record: base_guid=0x1\n"), E_SYNTAX);
	ck_assert_int_eq(parse(SERVICE_OF("it's 'x' name='y", "0x0", "0xffffffff")),
	                 E_OK);
	ck_assert_str_eq((const char *)store_value(only(RECORDS_SERVICES)) + 56,
	                 "it's 'x' name='y");
	ck_assert_int_eq(dump_read("file", "a\0b", 3, &d, st, &counts), E_SYNTAX);
	memset(text, 'x', sizeof(text) - 1);
	ck_assert_int_eq(parse(text), E_SYNTAX);
}
END_TEST

/* --- stores and the state --------------------------------------------------------------
 */

static char *written(const struct sa_store *from)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	dump_write(f, from, UINT64_C(0xfe80000000000000), &counts);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

/* A dump of OpenSM is written the same, but for what it does not mean. */
START_TEST(written_as_read)
{
	char *text;

	ck_assert_int_eq(parse(GROUP MEMBER OTHER_GROUP INFORM SERVICE), E_OK);
	text = written(st);
	ck_assert(counts.groups == 2 && counts.members == 1 && counts.services == 1 &&
	          counts.subscriptions == 1);
	ck_assert_ptr_nonnull(strstr(text, GROUP));
	ck_assert_ptr_nonnull(strstr(text, MEMBER));
	ck_assert_ptr_nonnull(strstr(text, OTHER_GROUP));
	struct sa_store *first = st;
	ck_assert_int_eq(store_new(NULL, NOW, &st), E_OK);
	ck_assert_int_eq(parse(text), E_OK);
	char *again = written(st);
	ck_assert_str_eq(text, again);
	free(again);
	free(text);
	store_free(first);
}
END_TEST

START_TEST(merge)
{
	struct sa_store *to;
	struct mcast_group_row g;

	/* there: the same MGID with another Q_Key; and another group with the MLID of
	 * ours */
	ck_assert_int_eq(parse(GROUP MEMBER OTHER_GROUP MEMBER SERVICE INFORM), E_OK);
	ck_assert_int_eq(store_new(NULL, NOW, &to), E_OK);
	ck_assert(mcast_group_of(store_seek(st, RECORDS_GROUPS, NULL, 0), &g));
	mcast_put(g.record, MC_Q_KEY, 0x77);
	ck_assert_int_eq(mcast_group_put(to, &g), E_OK);
	g.record[15] ^= 1;
	mcast_put(g.record, MC_MLID, 0xc001);
	ck_assert_int_eq(mcast_group_put(to, &g), E_OK);
	counts = (struct dump_counts){ .kept = 0 };
	ck_assert_int_eq(dump_merge(st, to, &counts), E_OK);
	ck_assert_uint_eq(counts.groups, 0);
	ck_assert_uint_eq(counts.kept, 1);     /* the group that is there */
	ck_assert_uint_eq(counts.left_out, 2); /* the one without an MLID, its member */
	ck_assert_uint_eq(counts.members, 1);
	ck_assert_uint_eq(counts.services, 1);
	ck_assert_uint_eq(counts.subscriptions, 1);
	g.record[15] ^= 1;
	ck_assert(mcast_group_find(to, g.record, &g));
	ck_assert_uint_eq(mcast_get(g.record, MC_Q_KEY), 0x77);
	store_free(to);
}
END_TEST

/* Two groups on one MLID: their tables would be one. */
START_TEST(alias_guids)
{
	struct alias_row row;
	struct mcast_member_row m;
	struct sa_store *to;
	struct alias_block b = { .owned = 2 };
	char *text;

	ck_assert_int_eq(
		parse(GROUP
	              "mcm_port: port_gid=0xfe80000000000000:0x0014050000000001 scope_state=0x21 proxy_join=0x0\n" GUIDS),
		E_OK);
	ck_assert(alias_find(st, 0x0014050000000001, &row));
	ck_assert_uint_eq(row.port_guid, 0x0002c90400007001);
	ck_assert(row.block == 0 && row.index == 1);
	ck_assert(!alias_find(st, 0x0002c90400007001, &row)); /* the PortGUID is none */
	text = written(st);
	ck_assert_ptr_nonnull(strstr(
		text, "block_num=0x0 guid0=0x0002c90400007001 guid1=0x0014050000000001"));
	free(text);
	/* there another port has one of both */
	ck_assert_int_eq(store_new(NULL, NOW, &to), E_OK);
	field_set(b.guid, 64, 64, 0x0014050000000002);
	ck_assert_int_eq(alias_block_put(to, 0x77, 0, &b), E_OK);
	counts = (struct dump_counts){ .kept = 0 };
	ck_assert_int_eq(dump_merge(st, to, &counts), E_OK);
	ck_assert(counts.guids == 1 && counts.left_out == 1);
	ck_assert(alias_find(to, 0x0014050000000001, &row) && row.port_guid != 0x77);
	ck_assert(alias_find(to, 0x0014050000000002, &row) && row.port_guid == 0x77);
	const struct store_row *member = store_seek(to, RECORDS_MEMBERS, NULL, 0);
	memcpy(&m, store_value(member), sizeof(m));
	ck_assert_uint_eq(m.port_guid, 0x0002c90400007001);
	store_free(to);
}
END_TEST

START_TEST(shared_mlid)
{
	ck_assert_int_eq(
		parse(GROUP MEMBER
	              "MC Group 0xc000 : mgid=0xff12601bffff0000:0x1 port_gid=0x0:0x0 qkey=0x0 mlid=0xc000 mtu=0x84 tclass=0x0 pkey=0xffff rate=0x83 pkt_life=0x92 sl_flow_hop=0x0 scope_state=0x21 proxy_join=0x0\n\n" MEMBER),
		E_OK);
	ck_assert_uint_eq(d.n_warnings, 1);
	ck_assert_uint_eq(counts.left_out, 2);
	ck_assert_uint_eq(store_count(st, RECORDS_GROUPS), 1);
	ck_assert_uint_eq(store_count(st, RECORDS_MEMBERS), 1);
}
END_TEST

static char dir[256];

static const char *file_of(const char *text)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/dump", dir);
	FILE *f = fopen(path, "w");
	ck_assert(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
	return path;
}

static size_t in_state(struct state *state, enum record_table table)
{
	struct sa_store *now;

	ck_assert_int_eq(store_new(state, NOW, &now), E_OK);
	size_t n = store_count(now, table);
	store_free(now);
	return n;
}

static void settle(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

START_TEST(import)
{
	struct state *state;
	struct sa_store *now;
	const char *why = "";

	make_tmp(dir);
	ck_assert_int_eq(state_open(dir, a, &why, &state), E_OK);
	ck_assert_int_eq(dump_import(state, "/nonexistent", NOW, &d, &counts), -ENOENT);
	/* a bad line: nothing */
	ck_assert_int_eq(dump_import(state, file_of(GROUP MEMBER SERVICE "hello\n"), NOW,
	                             &d, &counts),
	                 E_SYNTAX);
	ck_assert_uint_eq(in_state(state, RECORDS_SERVICES), 0);
	/* a good one: all, once */
	ck_assert_int_eq(dump_import(state, file_of(GROUP MEMBER SERVICE INFORM), NOW, &d,
	                             &counts),
	                 E_OK);
	ck_assert_uint_eq(counts.services, 1);
	ck_assert_uint_eq(in_state(state, RECORDS_SERVICES), 1);
	ck_assert_uint_eq(in_state(state, RECORDS_MEMBERS), 1);
	ck_assert_int_eq(store_new(state, NOW, &now), E_OK);
	const struct store_row *row = store_seek(now, RECORDS_SERVICES, NULL, 0);
	ck_assert_int_eq(store_drop(now, RECORDS_SERVICES, row->bytes, row->key_len),
	                 E_OK);
	int settled = -1;
	state_batch_commit(state, store_take_changes(now), settle, &settled);
	state_flush(state);
	store_free(now);
	ck_assert_int_eq(dump_import(state, file_of(GROUP MEMBER SERVICE INFORM), NOW, &d,
	                             &counts),
	                 E_OK);
	ck_assert_uint_eq(counts.services + counts.kept, 0);
	ck_assert_uint_eq(in_state(state, RECORDS_SERVICES), 0); /* stays deleted */
	/* our own, neither */
	ck_assert_int_eq(dump_export(state, dir, NOW, 0, &counts), E_OK);
	ck_assert_uint_eq(counts.groups, 1);
	char path[300];
	snprintf(path, sizeof(path), "%s/" DUMP_FILE_NAME, dir);
	ck_assert_int_eq(dump_import(state, path, NOW, &d, &counts), E_OK);
	ck_assert_uint_eq(counts.kept, 0);
	/* other content: what is not there */
	ck_assert_int_eq(dump_import(state, file_of(GROUP SERVICE), NOW, &d, &counts),
	                 E_OK);
	ck_assert_uint_eq(counts.services, 1);
	ck_assert_uint_eq(counts.kept, 1);
	state_close(state);
	remove_tree(dir);
}
END_TEST

TEST_SUITE(dump)
{
	TCase *tc = tcase_create("dump");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, groups);
	tcase_add_test(tc, services);
	tcase_add_test(tc, leases);
	tcase_add_test(tc, subscriptions);
	tcase_add_test(tc, bad_lines);
	tcase_add_test(tc, longest_line);
	tcase_add_test(tc, odd_ones);
	tcase_add_test(tc, written_as_read);
	tcase_add_test(tc, merge);
	tcase_add_test(tc, alias_guids);
	tcase_add_test(tc, shared_mlid);
	tcase_add_test(tc, import);
	suite_add_tcase(suite, tc);
}
