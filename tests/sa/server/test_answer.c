/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>

#include "tests/lib/answer_util.h"
#include "tests/lib/suite.h"

START_TEST(path_bytes)
{
	struct request q = by_lids(GET, HOST + 1, TWIN_2 + 1,
	                           PR_SERVICE | PR_TCLASS | PR_QOS | PR_FLOW | PR_HOP);
	uint8_t *a = q.mad + DATA;

	put(a, 8, 0x1000000000000042);
	put(a + 44, 4, 0x0abcde07);
	a[48] = 0x5a;
	put(a + 52, 2, 0x123f);
	ck_assert_uint_eq(status_of(&q), 0);
	const uint8_t *r = record(0);
	ck_assert_uint_eq(get(reply.data + 44, 2), 8);
	ck_assert_uint_eq(get(r, 8), 0x1000000000000042);
	ck_assert_uint_eq(get(r + 8, 8), FIXTURE_PREFIX);
	ck_assert_uint_eq(get(r + 16, 8), TWIN_2 + 1);
	ck_assert_uint_eq(get(r + 24, 8), FIXTURE_PREFIX);
	ck_assert_uint_eq(get(r + 32, 8), HOST + 1);
	ck_assert_uint_eq(get(r + 40, 2), lid_of(TWIN_2 + 1));
	ck_assert_uint_eq(get(r + 42, 2), lid_of(HOST + 1));
	ck_assert_uint_eq(get(r + 44, 4), 0x000abcde << 8);
	ck_assert_uint_eq(r[48], 0x5a);
	ck_assert_uint_eq(r[49], 0x80); /* reversible, NumbPath 0 */
	ck_assert_uint_eq(get(r + 50, 2), 0xffff);
	ck_assert_uint_eq(get(r + 52, 2), 0x1230); /* class as asked, SL 0 */
	ck_assert_uint_eq(r[54], 0x80 | 4);
	ck_assert_uint_eq(r[55], 0x80 | 12);
	ck_assert_uint_eq(r[56], 0x80 | FIXTURE_LIFE_TIME);
	ck_assert_uint_eq(r[57], 0);
	for (unsigned i = 58; i < 200; i++) {
		ck_assert_uint_eq(r[i], 0);
	}
}
END_TEST

/* The effect of a single component on Get(PathRecord HOST -> TWIN_2). */
struct path_case {
	const char *what;
	uint64_t mask;
	unsigned at, bytes;
	uint64_t value;
	unsigned status;
};

/* clang-format off */
static const struct path_case path_cases[] = {
	{ "half a service id",      0x1,                    0, 8, 5, INSUF_COMPS },
	{ "other half",             0x2,                    0, 8, 5, INSUF_COMPS },
	{ "SGID of this port",      PR_SGID,               32, 8, HOST + 1, 0 },
	{ "SGID of another port",   PR_SGID,               32, 8, TWIN_1 + 1, REQ_INVALID },
	{ "SGID unknown",           PR_SGID,               32, 8, 0x999, INVALID_GID },
	{ "SGID zero",              PR_SGID,               32, 8, 0, INVALID_GID },
	{ "SGID is a node's",       PR_SGID,               32, 8, HOST, INVALID_GID },
	{ "DGID of another port",   PR_DGID,               16, 8, TWIN_1 + 1, REQ_INVALID },
	{ "DGID unknown",           PR_DGID,               16, 8, 0x999, INVALID_GID },
	{ "SLID unknown",           0,                     42, 2, 5000, NO_RECORDS },
	{ "DLID 0",                 0,                     40, 2, 0, NO_RECORDS },
	{ "DLID multicast",         0,                     40, 2, 0xc000, NO_RECORDS },
	{ "DLID permissive",        0,                     40, 2, 0xffff, NO_RECORDS },
	{ "other part",             0,                     40, 2, 0xfffe /* LEFT */, NO_RECORDS },
	{ "raw traffic",            PR_RAW,                44, 1, 0x80, 0 },
	{ "no raw traffic",         PR_RAW,                44, 1, 0, 0 },
	{ "reversible",             PR_REVERSIBLE,         49, 1, 0x80, 0 },
	{ "NumbPath 0 of a Get",    PR_NUMB,               49, 1, 0, 0 },
	{ "NumbPath 5 of a Get",    PR_NUMB,               49, 1, 5, 0 },
	{ "P_Key limited",          PR_PKEY,               50, 2, 0x7fff, 0 },
	{ "P_Key other",            PR_PKEY,               50, 2, 0x8001, NO_RECORDS },
	{ "SL 0",                   PR_SL,                 52, 2, 0, 0 },
	{ "SL 1",                   PR_SL,                 52, 2, 1, NO_RECORDS },
	{ "MTU exactly 2048",       PR_MTU,                54, 1, 0x84, 0 },
	{ "MTU more than 2048",     PR_MTU,                54, 1, 0x04, NO_RECORDS },
	{ "MTU that is none",       PR_MTU,                54, 1, 0x80, REQ_INVALID },
	{ "MTU selector alone",     0x10000,               54, 1, 0x3f, 0 },
	{ "MTU value alone",        0x20000,               54, 1, 0x3f, 0 },
	{ "rate exactly 100",       PR_RATE,               55, 1, 0x90, NO_RECORDS },
	{ "rate that is none",      PR_RATE,               55, 1, 0x81, REQ_INVALID },
	{ "largest rate",           PR_RATE,               55, 1, 0xc0, 0 },
	{ "life time below 18",     PR_LIFE,               56, 1, 0x52, NO_RECORDS },
	{ "preference 0",           PR_PREFERENCE,         57, 1, 0, 0 },
	{ "preference 1",           PR_PREFERENCE,         57, 1, 1, 0 },
	{ "bits beyond the record", UINT64_C(0xff) << 56,  63, 1, 0xff, 0 },
	{ "a reserved bit",         0x80,                  44, 1, 0x70, 0 },
};
/* clang-format on */

enum { N_PATH_CASES = sizeof(path_cases) / sizeof(path_cases[0]) };

START_TEST(path_component)
{
	const struct path_case *c = &path_cases[_i];
	struct request q = by_lids(GET, HOST + 1, TWIN_2 + 1, c->mask);

	put_gid(&q, 8, FIXTURE_PREFIX, TWIN_2 + 1);
	put_gid(&q, 24, UINT64_C(0xfe80000000000000), HOST + 1);
	put(q.mad + DATA + c->at, c->bytes,
	    c->value == 0xfffe ? lid_of(LEFT + 1) : c->value);
	unsigned status = status_of(&q);
	ck_assert_msg(status == c->status, "%s: 0x%04x", c->what, status);
	q.mad[3] = GET_TABLE;
	if (c->mask == PR_NUMB && c->value == 0) {
		ck_assert_uint_eq(status_of(&q), REQ_INVALID);
		return;
	}
	status = status_of(&q); /* a table without records is no error */
	ck_assert_msg(status == (c->status == NO_RECORDS ? 0 : c->status), "%s: 0x%04x",
	              c->what, status);
	ck_assert_uint_eq(status ? 0 : n_records(), c->status == 0);
}
END_TEST

/* Raw packets have no P_Key: what is asked for in it does not matter. */
START_TEST(raw_traffic)
{
	struct request q = by_lids(GET, HOST + 1, TWIN_2 + 1, PR_RAW | PR_PKEY);

	put_component(&q, 44, 1, 0x80);
	put_component(&q, 50, 2, 0x8001);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(reply.data + DATA + 44, 1), 0x80);
	ck_assert_uint_eq(get(reply.data + DATA + 50, 2), 0);
	put_component(&q, 44, 1, 0);
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
}
END_TEST

START_TEST(foreign_gids)
{
	struct request q = by_gids(GET, HOST + 1, TWIN_2 + 1, 0);

	ck_assert_uint_eq(status_of(&q), 0);
	put_gid(&q, 8, UINT64_C(0xfec0000000000008), TWIN_2 + 1);
	ck_assert_uint_eq(status_of(&q), INVALID_GID);
	put_gid(&q, 8, UINT64_C(0xff12401bffff0000), 1);
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
}
END_TEST

/* One side not named: every end port, by port GUID; those without a path are left out. */
START_TEST(one_to_all)
{
	static const uint64_t reached[] = { HOST + 1,   DUAL + 1, DUAL + 2, TWIN_1 + 1,
		                            TWIN_2 + 1, SW_A,     SW_B,     SW_C };
	struct request q = by_gids(GET_TABLE, HOST + 1, 0, 0);

	for (unsigned way = 0; way < 2; way++) {
		unsigned guid_at = way ? 32 : 16;
		ck_assert_uint_eq(status_of(&q), 0);
		ck_assert_uint_eq(n_records(), 8);
		for (size_t i = 0; i < 8; i++) {
			ck_assert_uint_eq(get(record(i) + guid_at, 8), reached[i]);
		}
		q = by_gids(GET_TABLE, 0, HOST + 1, 0);
	}
	q.mad[3] = GET; /* the first one */
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(record(0) + 32, 8), HOST + 1);
}
END_TEST

START_TEST(whole_table_and_limit)
{
	struct request q = request(GET_TABLE, PATH_RECORD, 0);
	struct sa_limits before = limits;

	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 8 * 8 + 2 * 2);
	limits.max_response = DATA + 100 * 64; /* 10 end ports: at most 100 */
	ck_assert_uint_eq(status_of(&q), 0);
	limits.max_response--;
	ck_assert_uint_eq(status_of(&q), NO_RESOURCES);
	ck_assert_uint_eq(get(reply.data + 44, 2), 0);
	q = request(GET_TABLE, NODE_RECORD, 0);
	limits.max_response = DATA + 10 * 112;
	ck_assert_uint_eq(status_of(&q), 0);
	limits.max_response--;
	ck_assert_uint_eq(status_of(&q), NO_RESOURCES);
	limits = before;
}
END_TEST

struct mode_case {
	enum path_selection mode;
	const char *want;
};

/* Source LMC 1 (a switch's enhanced port 0), destination LMC 2. */
static const struct mode_case modes[] = {
	{ PATH_MINIMAL, "00 11" },
	{ PATH_PAIRWISE, "00 11 02 13" },
	{ PATH_ORDERALL, "00 11 02 13 01 03 10 12" },
	{ PATH_SRCDSTALL, "00 01 02 03 10 11 12 13" },
};

static void check_order(const struct request *q, const char *want)
{
	char text[100], *at = text;

	ck_assert_uint_eq(status_of(q), 0);
	for (size_t i = 0; i < n_records(); i++) {
		at += sprintf(at, "%s%u%u", i ? " " : "",
		              (unsigned)get(record(i) + 42, 2) - lid_of(SW_A),
		              (unsigned)get(record(i) + 40, 2) - lid_of(HOST + 1));
	}
	*at = '\0';
	ck_assert_str_eq(text, want);
}

START_TEST(mode_order)
{
	const struct mode_case *c = &modes[_i];

	start_lmc(2, 1, c->mode);
	struct request q = by_gids(GET_TABLE, SW_A, HOST + 1, 0);
	check_order(&q, c->want);
	q = by_gids(GET_TABLE, SW_A, HOST + 1, PR_NUMB);
	q.mad[DATA + 49] = 1;
	check_order(&q, "00");
	q = by_gids(GET_TABLE, SW_A, HOST + 1, PR_SLID); /* its second LID */
	put(q.mad + DATA + 42, 2, lid_of(SW_A) + 1);
	check_order(&q, c->mode == PATH_MINIMAL    ? "11"
	                : c->mode == PATH_PAIRWISE ? "11 13"
	                : c->mode == PATH_ORDERALL ? "11 13 10 12"
	                                           : "10 11 12 13");
	stop();
}
END_TEST

/* libibumad's words for the rest of the gate. */
struct gate_case {
	unsigned attr, method, class_version, status;
};

static const struct gate_case gates[] = {
	{ 0x7777, GET, 2, UNSUPPORTED },
	{ 0x7777, GET_TABLE, 2, UNSUPPORTED },
	{ PATH_RECORD, SET, 2, UNSUPPORTED },
	{ PATH_RECORD, DELETE, 2, UNSUPPORTED },
	{ PATH_RECORD, GET_MULTI, 2, UNSUPPORTED },
	{ PATH_RECORD, 0x42, 2, UNSUPPORTED },
	{ CLASS_PORT_INFO, GET_TABLE, 2, UNSUPPORTED },
	{ CLASS_PORT_INFO, GET, 1, BAD_VERSION },
	{ CLASS_PORT_INFO, GET, 2, 0 },
	{ NODE_RECORD, GET, 2, TOO_MANY },
	{ NODE_RECORD, GET_TABLE, 2, 0 },
	{ PORT_INFO_RECORD, GET, 2, TOO_MANY },
	{ PORT_INFO_RECORD, GET_TABLE, 2, 0 },
};

START_TEST(gate)
{
	const struct gate_case *c = &gates[_i];
	struct request q = request(c->method, c->attr, 0);

	q.mad[2] = (uint8_t)c->class_version;
	ck_assert_uint_eq(status_of(&q), c->status);
}
END_TEST

START_TEST(class_port_info)
{
	struct request q = request(GET, CLASS_PORT_INFO, 0);

	ck_assert_uint_eq(status_of(&q), 0);
	const uint8_t *r = record(0);
	ck_assert(r[0] == 1 && r[1] == 2);
	/* PortInfo capability mask match, MultiPathRecord, multicast groups */
	ck_assert_uint_eq(get(r + 2, 2), 0x2600);
	ck_assert_uint_eq(get(r + 4, 4) & 0x1f, 16);
	/* MulticastFDBTop in SwitchInfoRecords, PortInfo CapabilityMask2 match, alias
	 * GUIDs, send-only full members (bit 12: without it Linux IPoIB joins as a member that does not
	 * keep the group); no other optional service */
	ck_assert_uint_eq(get(r + 4, 4) >> 5 & 0x5d3f, 0x1428);
}
END_TEST

START_TEST(nodes)
{
	start_lmc(1, 0, PATH_MINIMAL);
	struct request q = request(GET_TABLE, NODE_RECORD, 0);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 10); /* three switches, seven host ports */
	ck_assert_uint_eq(get(reply.data + 44, 2), 14);

	q = request(GET, NODE_RECORD, 1); /* LID: any of the port's */
	put(q.mad + DATA, 2, lid_of(DUAL + 2) + 1);
	ck_assert_uint_eq(status_of(&q), 0);
	const uint8_t *r = record(0);
	ck_assert_uint_eq(get(r, 2), lid_of(DUAL + 2));
	ck_assert_uint_eq(r[4], 1);              /* BaseVersion */
	ck_assert_uint_eq(r[6], 1);              /* a CA */
	ck_assert_uint_eq(r[7], 2);              /* with two ports */
	ck_assert_uint_eq(get(r + 16, 8), DUAL); /* NodeGUID */
	ck_assert_uint_eq(get(r + 24, 8), DUAL + 2);
	ck_assert_uint_eq(r[40], 2); /* LocalPortNum */
	ck_assert_str_eq((const char *)r + 44, "dual");
	put(q.mad + DATA, 2, 4000);
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);

	q = request(GET_TABLE, NODE_RECORD, 1 << 14); /* NodeDescription */
	memcpy(q.mad + DATA + 44, "twin", 4);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 2);
	q = request(GET_TABLE, NODE_RECORD, 1 << 4); /* NodeType */
	q.mad[DATA + 6] = 2;
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 3);
	q = request(GET, NODE_RECORD, 1 << 8); /* PortGUID */
	put(q.mad + DATA + 24, 8, SW_B);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(record(0) + 16, 8), SW_B);
	stop();
}
END_TEST

START_TEST(ports)
{
	start_lmc(1, 0, PATH_MINIMAL);
	struct request q = request(GET_TABLE, PORT_INFO_RECORD, 0);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 3 * 9 + 7);
	ck_assert_uint_eq(get(reply.data + 44, 2), 9);

	q = request(GET_TABLE, PORT_INFO_RECORD,
	            1); /* all ports of a switch are under its LID */
	put(q.mad + DATA, 2, lid_of(SW_B));
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 9);
	for (unsigned i = 0; i < 9; i++) {
		ck_assert_uint_eq(get(record(i), 2), lid_of(SW_B));
		ck_assert_uint_eq(record(i)[2], i);
		ck_assert_uint_eq(get(record(i) + 4, 8), 0); /* M_Key */
	}
	put(q.mad + DATA, 2, lid_of(DUAL + 2) + 1); /* under LMC; a host port alone */
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 1);
	ck_assert_uint_eq(record(0)[2], 2);
	ck_assert_uint_eq(get(record(0), 2), lid_of(DUAL + 2));

	q = request(GET, PORT_INFO_RECORD, 3); /* LID and port */
	put(q.mad + DATA, 2, lid_of(SW_A));
	q.mad[DATA + 2] = 4;
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(record(0)[2], 4);
	q.mad[DATA + 2] = 9;
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
	put(q.mad + DATA, 2, lid_of(HOST + 1));
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
	stop();
}
END_TEST

START_TEST(capability_masks)
{
	struct request q = request(GET_TABLE, PORT_INFO_RECORD, 1 << 7);
	struct request q2 = request(GET_TABLE, PORT_INFO_RECORD, UINT64_C(1) << 53);

	put(q.mad + DATA + 4 + 20, 4, FIXTURE_CAPABILITY_MASK);
	put(q2.mad + DATA + 4 + 60, 2, 0x0100);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 3 * 9 + 7);
	put(q.mad + DATA + 4 + 20, 4, 0x40);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 0);
	ck_assert_uint_eq(status_of(&q2), 0);
	ck_assert_uint_eq(n_records(), 0);
	put(q.mad + 20, 4, 0x80000000); /* AttributeModifier: all bits asked for */
	put(q2.mad + 20, 4, 0x80000000);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 3 * 9 + 7);
	ck_assert_uint_eq(status_of(&q2), 0);
	ck_assert_uint_eq(n_records(), 3 * 9 + 7);
	put(q.mad + DATA + 4 + 20, 4, 0x41);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 0);
}
END_TEST

START_TEST(trust)
{
	struct request q = request(GET_TABLE, PORT_INFO_RECORD, 8); /* M_Key */

	put(q.mad + DATA + 4, 8, FIXTURE_M_KEY);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 0); /* not shown, not compared with */
	put(q.mad + 36, 8, SA_KEY);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 3 * 9 + 7);
	ck_assert_uint_eq(get(record(0) + 4, 8), FIXTURE_M_KEY);
	put(q.mad + 36, 8, SA_KEY + 1);
	ck_assert_int_eq(ask(&q), -EPERM);
}
END_TEST

struct drop_case {
	const char *what;
	unsigned at;
	uint8_t value;
};

static const struct drop_case drops[] = {
	{ "base version 0x81", 0, 0x81 },
	{ "base version 0", 0, 0 },
	{ "SMP class", 1, 0x01 },
	{ "GetResp", 3, 0x81 },
	{ "GetTableResp", 3, 0x92 },
	{ "method 0", 3, 0 },
	{ "Send", 3, 0x03 },
	{ "Trap", 3, 0x05 },
	{ "Report", 3, 0x06 },
	{ "TrapRepress", 3, 0x07 },
};

START_TEST(dropped)
{
	const struct drop_case *c = &drops[_i];
	struct request q = by_lids(GET, HOST + 1, TWIN_2 + 1, 0);

	ck_assert_uint_eq(status_of(&q), 0);
	q.mad[c->at] = c->value;
	ck_assert_msg(ask(&q) == E_MALFORMED, "%s", c->what);
}
END_TEST

/* Base and class version belong together: the one of InfiniBand, or Omni-Path's. */
START_TEST(versions)
{
	struct request q = by_lids(GET, HOST + 1, TWIN_2 + 1, 0);

	q.mad[0] = q.mad[2] = 0x80;
	q.mad[17] = CLASS_PORT_INFO;
	put(q.mad + 48, 8, 0);

	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(reply.len, 56 + 80); /* as long as its record */
	ck_assert_uint_eq(get(reply.data + 44, 2), 80 / 8);
	ck_assert_uint_eq(get(reply.data + DATA, 2), 0x8080);
	q.mad[2] = 2;
	ck_assert_uint_eq(status_of(&q), BAD_VERSION);
	q.mad[0] = 1;
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(reply.len, 256);
	q.mad[2] = 0x80;
	ck_assert_uint_eq(status_of(&q), BAD_VERSION);
}
END_TEST

/* Omni-Path's PathRecord has the values of InfiniBand's, at the places of Linux' struct
 * opa_path_rec. */
START_TEST(opa_path_bytes)
{
	struct request q =
		by_gids(GET, HOST + 1, TWIN_2 + 1, PR_SERVICE | PR_FLOW | PR_TCLASS);
	uint8_t ib[64];

	put(q.mad + DATA, 8, 0x1000000000000042);
	put(q.mad + DATA + 44, 4, 0x000abcde << 8);
	ck_assert_uint_eq(status_of(&q), 0);
	memcpy(ib, record(0), sizeof(ib));
	q.mad[0] = q.mad[2] = 0x80;
	put(q.mad + DATA + 44, 4, 0);
	put(q.mad + DATA + 48, 4, 0x000abcde << 8);
	ck_assert_uint_eq(status_of(&q), 0);
	const uint8_t *r = record(0);
	ck_assert_mem_eq(r, ib, 40);
	ck_assert_uint_eq(get(r + 40, 4), get(ib + 40, 2));
	ck_assert_uint_eq(get(r + 44, 4), get(ib + 42, 2));
	ck_assert_mem_eq(r + 48, ib + 44, 8); /* flow label to P_Key */
	ck_assert_uint_eq(r[58] & 31, ib[53] & 15);
	ck_assert_mem_eq(r + 60, ib + 54, 4);
	/* by LID, 32 bits wide */
	struct request l = by_lids(GET, HOST + 1, TWIN_2 + 1, 0);
	l.mad[0] = l.mad[2] = 0x80;
	put(l.mad + DATA + 44, 4, lid_of(HOST + 1));
	put(l.mad + DATA + 40, 4, lid_of(TWIN_2 + 1));
	ck_assert_uint_eq(status_of(&l), 0);
	ck_assert_uint_eq(get(record(0) + 40, 4), lid_of(TWIN_2 + 1));
	put(l.mad + DATA + 40, 4, 0x10000 | lid_of(TWIN_2 + 1));
	ck_assert_uint_eq(status_of(&l), NO_RECORDS);
}
END_TEST

START_TEST(rmpp_control_and_length)
{
	struct request q = by_lids(GET_TABLE, HOST + 1, TWIN_2 + 1, 0);

	q.mad[24] = 1;
	q.mad[26] = 1; /* Active */
	for (unsigned type = 0; type < 6; type++) {
		q.mad[25] = (uint8_t)type;
		ck_assert_int_eq(ask(&q), type == 1 ? E_OK : E_MALFORMED);
	}
	q.mad[25] = 1;
	for (size_t len = 0; len <= sizeof(q.mad); len++) {
		uint8_t *exact = malloc(
			len ? len : 1); /* so that a sanitizer sees a read beyond */
		memcpy(exact, q.mad, len);
		ck_assert_int_eq(sa_answer(w->r, &limits, exact, len, 1, &reply),
		                 len < DATA ? E_MALFORMED : E_OK);
		free(exact);
	}
}
END_TEST

START_TEST(before_the_first_publish)
{
	struct request q = by_lids(GET, HOST + 1, TWIN_2 + 1, 0);

	ck_assert_int_eq(sa_answer(NULL, &limits, q.mad, sizeof(q.mad), 1, &reply), E_OK);
	ck_assert_uint_eq(reply.len, 256);
	ck_assert_uint_eq(get(reply.data + 4, 2), BUSY);
	ck_assert_uint_eq(reply.data[3], 0x81);
	q.mad[3] = 0x81;
	ck_assert_int_eq(sa_answer(NULL, &limits, q.mad, sizeof(q.mad), 1, &reply),
	                 E_MALFORMED);
}
END_TEST

START_TEST(every_error_has_a_status)
{
	ck_assert_uint_eq(sa_status(E_OK), 0);
	for (int e = E_SYNTAX; e < E_END; e++) {
		ck_assert_uint_ne(sa_status(e), 0);
	}
	ck_assert_uint_eq(sa_status(E_NOTFOUND), NO_RECORDS);
	ck_assert_uint_eq(sa_status(E_NOTREADY), BUSY);
	ck_assert_uint_eq(sa_status(-ENOMEM), NO_RESOURCES);
	ck_assert_uint_eq(sa_status(E_RANGE), REQ_INVALID);
}
END_TEST

static uint32_t seed = 20261120;

static uint32_t next(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* Every table comes out the same when it is made in parts of any size, however seldom the
 * walk goes on. */
START_TEST(in_parts)
{
	const struct mad_addr from = { .lid = asker, .qpn = 1 };
	struct sa_reply parts = { .data = NULL };
	struct sa_work *work;
	unsigned paused = 0;

	ck_assert_int_eq(sa_work_new(&work), E_OK);
	for (unsigned i = 0; i < 256 * 7; i++) {
		struct request q = request(GET_TABLE, i / 7, 0);
		size_t steps = (size_t[]){ 1, 2, 3, 5, 8, 13, 1000000 }[i % 7];
		trust_me(&q);
		int whole = ask(&q);
		const struct mad_msg m = { .addr = from, .len = sizeof(q.mad), .data = q.mad };
		struct sa_request request;
		int ret = sa_request_read(&m, &limits, &request);
		if (ret == E_OK) {
			ret = sa_work_begin(work, w->r, store, &limits, &request, &m,
			                    &parts);
		}
		while (ret == -EINPROGRESS) {
			ret = sa_work_continue(work, w->r, steps, &parts);
			paused += ret == -EINPROGRESS;
		}
		ck_assert_int_eq(ret, whole);
		ck_assert_uint_eq(parts.len, reply.len);
		ck_assert_mem_eq(parts.data, reply.data, reply.len);
	}
	ck_assert_uint_gt(paused, 100);
	sa_work_free(work);
	sa_work_free(NULL);
	sa_reply_done(&parts);
}
END_TEST

/* Any bytes: random ones, and good requests with some bytes changed. */
START_TEST(any_bytes)
{
	static const uint8_t attrs[] = { CLASS_PORT_INFO, NODE_RECORD, PORT_INFO_RECORD,
		                         PATH_RECORD };
	unsigned answered = 0;

	for (unsigned i = 0; i < 25000; i++) {
		struct request q =
			by_gids(i & 1 ? GET : GET_TABLE, HOST + 1, TWIN_2 + 1, 0);
		q.mad[17] = attrs[next() % 4];
		for (unsigned n = next() % 12; n > 0; n--) {
			q.mad[next() % 256] = (uint8_t)next();
		}
		if (i % 8 == 0) {
			put(q.mad + 48, 8,
			    (uint64_t)next() << 40 ^ (uint64_t)next() << 20 ^ next());
		}
		if (i % 64 == 0) {
			for (unsigned k = 3; k < 256; k++) {
				q.mad[k] = (uint8_t)next();
			}
		}
		size_t len = next() % 16 ? 256 : next() % 257;
		int ret = sa_answer(w->r, &limits, q.mad, len, next(), &reply);
		ck_assert(ret == E_OK || ret == E_MALFORMED || ret == -EPERM);
		if (ret == E_OK) {
			answered++;
			ck_assert_uint_ge(reply.len, DATA);
			ck_assert_uint_ge(reply.cap, reply.len);
			ck_assert(reply.data[3] & 0x80);
		}
	}
	ck_assert_msg(answered > 5000, "seed 20261120: %u answered", answered);
}
END_TEST

TEST_SUITE(answer)
{
	TCase *tc = tcase_create("small fabric");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, path_bytes);
	tcase_add_loop_test(tc, path_component, 0, N_PATH_CASES);
	tcase_add_test(tc, raw_traffic);
	tcase_add_test(tc, foreign_gids);
	tcase_add_test(tc, one_to_all);
	tcase_add_test(tc, whole_table_and_limit);
	tcase_add_loop_test(tc, gate, 0, sizeof(gates) / sizeof(gates[0]));
	tcase_add_test(tc, class_port_info);
	tcase_add_test(tc, capability_masks);
	tcase_add_test(tc, trust);
	tcase_add_loop_test(tc, dropped, 0, sizeof(drops) / sizeof(drops[0]));
	tcase_add_test(tc, versions);
	tcase_add_test(tc, opa_path_bytes);
	tcase_add_test(tc, rmpp_control_and_length);
	tcase_add_test(tc, before_the_first_publish);
	tcase_add_test(tc, in_parts);
	tcase_add_test(tc, any_bytes);
	suite_add_tcase(suite, tc);
	TCase *own = tcase_create("own fabric");
	tcase_add_loop_test(own, mode_order, 0, PATH_SELECTION_COUNT);
	tcase_add_test(own, nodes);
	tcase_add_test(own, ports);
	tcase_add_test(own, every_error_has_a_status);
	suite_add_tcase(suite, own);
}
