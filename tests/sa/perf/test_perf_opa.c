/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Port counters of Omni-Path. The bytes of attributes are written here, after the layouts of opa-fm's
 * public header stl_pm.h; the devices of simulated fabrics have tables of their own.
 */
#include "conf/base/arena.h"
#include "db/lmdb/counters.h"
#include "sa/mad/transport.h"
#include "sa/perf/opa_counters.h"
#include "sa/perf/perf.h"
#include "tests/lib/suite.h"
#include "tests/sa/perf/perf_fixture.h"

enum {
	HEADER = 24,
	STATUS = 216,
	MASKS = 40,
	DATA = 136,
	ERROR = 96,
	CLASS_VERSION = 0x80
};

/* Where counters are in PortStatus, and in a record: of DataPortCounters up to MarkFECN, of
 * ErrorPortCounters after it. Names are those of opapmaquery. */
static const struct {
	const char *name;
	enum port_counter counter;
	unsigned status, record, bytes, unit;
} places[] = {
	{ "XmitData", COUNTER_XMIT_DATA, 8, 8, 8, 8 },
	{ "RcvData", COUNTER_RCV_DATA, 16, 16, 8, 8 },
	{ "XmitPkts", COUNTER_XMIT_PKTS, 24, 24, 8, 1 },
	{ "RcvPkts", COUNTER_RCV_PKTS, 32, 32, 8, 1 },
	{ "MulticastXmitPkts", COUNTER_MULTICAST_XMIT_PKTS, 40, 40, 8, 1 },
	{ "MulticastRcvPkts", COUNTER_MULTICAST_RCV_PKTS, 48, 48, 8, 1 },
	{ "XmitWait", COUNTER_XMIT_WAIT, 56, 56, 8, 1 },
	{ "RcvFECN", COUNTER_RCV_FECN, 72, 72, 8, 1 },
	{ "RcvBECN", COUNTER_RCV_BECN, 80, 80, 8, 1 },
	{ "MarkFECN", COUNTER_MARK_FECN, 120, 120, 8, 1 },
	{ "RcvConstraintErrors", COUNTER_RCV_CONSTRAINT_ERRORS, 128, 8, 8, 1 },
	{ "RcvSwitchRelayErrors", COUNTER_RCV_SWITCH_RELAY_ERRORS, 136, 16, 8, 1 },
	{ "XmitDiscards", COUNTER_XMIT_DISCARDS, 144, 24, 8, 1 },
	{ "XmitConstraintErrors", COUNTER_XMIT_CONSTRAINT_ERRORS, 152, 32, 8, 1 },
	{ "RcvRemotePhysicalErrors", COUNTER_RCV_REMOTE_PHYSICAL_ERRORS, 160, 40, 8, 1 },
	{ "LocalLinkIntegrityErrors", COUNTER_LINK_REPLAYS, 168, 48, 8, 1 },
	{ "RcvErrors", COUNTER_RCV_ERRORS, 176, 56, 8, 1 },
	{ "ExcessiveBufferOverruns", COUNTER_EXCESSIVE_BUFFER_OVERRUN_ERRORS, 184, 64, 8,
	  1 },
	{ "FMConfigErrors", COUNTER_FM_CONFIG_ERRORS, 192, 72, 8, 1 },
	{ "LinkErrorRecovery", COUNTER_LINK_ERROR_RECOVERY, 200, 80, 4, 1 },
	{ "LinkDowned", COUNTER_LINK_DOWNED, 204, 84, 4, 1 },
	{ "UncorrectableErrors", COUNTER_UNCORRECTABLE_ERRORS, 208, 88, 1, 1 },
};

enum { PLACES = sizeof(places) / sizeof(places[0]), FIRST_QUIET = 4, FIRST_ERROR = 10 };

static bool is_error(unsigned i)
{
	return i >= FIRST_ERROR;
}

/* Different in each byte, so that a wrong place is a wrong value. */
static uint64_t put(uint8_t *at, unsigned bytes, unsigned seed)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++) {
		at[i] = (uint8_t)(1 + seed * 7 + i);
		v = v << 8 | at[i];
	}
	return v;
}

/* --- decoders ----------------------------------------------------------------------------- */

START_TEST(port_status)
{
	uint8_t data[STATUS] = { 7 };
	uint64_t want[PLACES];
	struct counter_reading r = { .known = 0 };
	uint32_t known = UINT32_C(1) << COUNTER_LINK_QUALITY;

	for (unsigned i = 0; i < PLACES; i++) {
		want[i] =
			put(data + places[i].status, places[i].bytes, i) * places[i].unit;
		known |= UINT32_C(1) << places[i].counter;
	}
	data[209] = 0xFB; /* reserved bits are not those of the quality */
	ck_assert(opa_counters_status(data, sizeof(data), 7, &r));
	for (unsigned i = 0; i < PLACES; i++) {
		ck_assert_msg(r.value[places[i].counter] == want[i], "%s",
		              places[i].name);
	}
	ck_assert_uint_eq(r.value[COUNTER_LINK_QUALITY], 3);
	ck_assert_uint_eq(r.known, known);
	ck_assert_uint_eq(r.saturated, 0);
	ck_assert(!opa_counters_status(data, sizeof(data), 8, &r));
	ck_assert(!opa_counters_status(data, sizeof(data) - 1, 7, &r));
}
END_TEST

/* Counters that stay at their limit are marked; those of 64 bits, too. */
START_TEST(limits)
{
	uint8_t data[STATUS] = { 1 };
	struct counter_reading r = { .known = 0 };

	memset(data + 200, 0xff, 9);
	memset(data + 176, 0xff, 8);
	ck_assert(opa_counters_status(data, sizeof(data), 1, &r));
	ck_assert_uint_eq(r.value[COUNTER_LINK_DOWNED], UINT32_MAX);
	ck_assert_uint_eq(r.value[COUNTER_UNCORRECTABLE_ERRORS], UINT8_MAX);
	ck_assert_uint_eq(r.saturated, UINT32_C(1) << COUNTER_LINK_ERROR_RECOVERY |
	                                       UINT32_C(1) << COUNTER_LINK_DOWNED |
	                                       UINT32_C(1)
	                                               << COUNTER_UNCORRECTABLE_ERRORS |
	                                       UINT32_C(1) << COUNTER_RCV_ERRORS);
	data[208] = 254;
	ck_assert(opa_counters_status(data, sizeof(data), 1, &r));
	ck_assert(!(r.saturated >> COUNTER_UNCORRECTABLE_ERRORS & 1));
}
END_TEST

/* Two records in an answer; of the second one the counters are taken. */
static void second_record(uint16_t attr, size_t bytes, bool errors)
{
	uint8_t data[MASKS + 2 * DATA] = { 0 }, *at = data + MASKS + bytes;
	uint64_t want[PLACES], sum = 77, want_sum = 0;
	struct counter_reading r = { .known = 0 };
	uint32_t known = errors ? 0 : UINT32_C(1) << COUNTER_LINK_QUALITY;

	memset(data + MASKS, 0xEE, bytes);
	data[MASKS] = 2;
	at[0] = 130;
	for (unsigned i = 0; i < PLACES; i++) {
		if (is_error(i) == errors) {
			want[i] = put(at + places[i].record, places[i].bytes, i) *
			          places[i].unit;
			known |= UINT32_C(1) << places[i].counter;
		}
	}
	if (!errors) {
		at[7] = 0xFD; /* quality: the low 3 bits of 32 */
		want_sum = put(at + 128, 8, 99);
	}
	ck_assert(opa_counters_record(attr, data, MASKS + 2 * bytes, 1, 130, &r, &sum));
	for (unsigned i = 0; i < PLACES; i++) {
		if (is_error(i) == errors) {
			ck_assert_msg(r.value[places[i].counter] == want[i], "%s",
			              places[i].name);
		}
	}
	ck_assert_uint_eq(r.known, known);
	ck_assert_uint_eq(sum, errors ? 77 : want_sum);
	if (!errors) {
		ck_assert_uint_eq(r.value[COUNTER_LINK_QUALITY], 5);
	}
	ck_assert(!opa_counters_record(attr, data, MASKS + 2 * bytes, 0, 130, &r, &sum));
	ck_assert(!opa_counters_record(attr, data, MASKS + 2 * bytes - 1, 1, 130, &r,
	                               &sum));
	ck_assert(!opa_counters_record(attr, data, MASKS + 2 * bytes, 2, 130, &r, &sum));
}

START_TEST(records)
{
	second_record(0x42, DATA, false);
	second_record(0x43, ERROR, true);
}
END_TEST

/* Four words of 64 bits, the most significant first: port p is bit p mod 64 of word 3 - p / 64. */
START_TEST(mask_of_ports)
{
	uint8_t mask[32] = { 0 }, want[32] = { 0 };

	opa_counters_select(mask, 0);
	opa_counters_select(mask, 9);
	opa_counters_select(mask, 64);
	opa_counters_select(mask, 255);
	want[31] = 1 << 0;
	want[30] = 1 << 1;
	want[23] = 1 << 0;
	want[0] = 1 << 7;
	ck_assert_mem_eq(mask, want, sizeof(mask));
}
END_TEST

/* --- with a subnet manager, on simulated fabrics ------------------------------------------- */

static void up(const char *topo, uint32_t drop_ppm)
{
	perf_fixture_up(topo, drop_ppm, true);
}

static void add(uint32_t port, const char *name, uint64_t n)
{
	ck_assert_int_eq(sim_opa_count(fixture->sim, guid_of(port),
	                               fixture->g->ports[port].num, name, n),
	                 E_OK);
}

/* The last cabled port of the first node of a kind. */
static uint32_t port_of(uint8_t type)
{
	uint32_t found = GRAPH_NONE;

	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		const struct port *p = &fixture->g->ports[i];

		if (fixture->g->nodes[p->node].type == type && p->peer != GRAPH_NONE &&
		    (found == GRAPH_NONE || fixture->g->ports[found].node == p->node)) {
			found = i;
		}
	}
	ck_assert_uint_ne(found, GRAPH_NONE);
	return found;
}

/* Every cabled port has a row, and what is counted at one shows there and at no other. */
START_TEST(counters_of_ports)
{
	struct stats_counter_list list;
	struct port_counters c;
	uint32_t n = 0;

	up("ft2 20 20 4", _i == 0 ? 0 : 20000);
	one_sweep();
	const uint32_t ports[] = { port_of(NODE_SWITCH), port_of(NODE_CA) };
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned i = 0; i < PLACES; i++) {
			add(ports[k], places[i].name, 100 * k + i + 1);
		}
	}
	for (unsigned i = 0; i < 3; i++) {
		one_sweep();
	}
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		n += fixture->g->ports[i].peer != GRAPH_NONE;
	}
	ck_assert_int_eq(
		stats_read_counters(reader, 0, 0, 10000, false, fixture->run, &list),
		E_OK);
	ck_assert_uint_eq(list.n, n);
	for (unsigned k = 0; k < 2; k++) {
		ck_assert_int_eq(row(ports[k], &c), E_OK);
		for (unsigned i = 0; i < PLACES; i++) {
			uint64_t want = (100 * k + i + 1) * places[i].unit;

			ck_assert_msg(c.known >> places[i].counter & 1, "%s",
			              places[i].name);
			/* MADs are data, too */
			ck_assert_msg(c.value[places[i].counter] == want ||
			                      (i < FIRST_QUIET &&
			                       c.value[places[i].counter] > want),
			              "%s: %llu, not %llu", places[i].name,
			              (unsigned long long)c.value[places[i].counter],
			              (unsigned long long)want);
		}
		ck_assert_uint_eq(c.value[COUNTER_LINK_QUALITY], 5);
	}
	for (size_t i = 0; i < list.n; i++) {
		bool counted = list.ports[i].node_guid == guid_of(ports[0]) ||
		               list.ports[i].node_guid == guid_of(ports[1]);

		ck_assert(counted || list.ports[i].value[COUNTER_RCV_ERRORS] == 0);
	}
}
END_TEST

/* Error counters that move at every sweep are read at every sweep; those that are cleared rise by what
 * they show. */
START_TEST(errors_that_move)
{
	struct port_counters c;

	up("ft2 6 6 3", 0);
	one_sweep();
	uint32_t port = port_of(NODE_SWITCH);
	for (unsigned i = 1; i <= 4; i++) {
		add(port, "RcvErrors", 3);
		one_sweep();
		ck_assert_int_eq(row(port, &c), E_OK);
		ck_assert_uint_eq(c.value[COUNTER_RCV_ERRORS], 3 * i);
	}
}
END_TEST

/* --- alone: what is sent, and what comes of answers ---------------------------------------- */

enum { SENT_MAX = 2000, ANSWER_MAX = 2048 };

static struct {
	struct transport transport;
	uint64_t now;
	struct mad_msg msg[SENT_MAX];
	uint8_t mad[SENT_MAX][64];
	unsigned n;
	bool refuses_groups; /* switches do */
	uint64_t sum;        /* of all error counters of each port */
	uint8_t quality;
} wire;

static int keep(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	ck_assert_uint_lt(wire.n, SENT_MAX);
	ck_assert_uint_eq(m->len, sizeof(wire.mad[0]));
	memcpy(wire.mad[wire.n], m->data, sizeof(wire.mad[0]));
	wire.msg[wire.n] = *m;
	wire.msg[wire.n].data = wire.mad[wire.n];
	wire.n++;
	return E_OK;
}

static uint64_t wire_now(struct transport *t)
{
	(void)t;
	return wire.now;
}

static const struct transport_ops wire_ops = { .name = "wire",
	                                       .send = keep,
	                                       .now_ms = wire_now };
static struct perf *perf;
static struct arena *arena;
static struct graph *graph;
static struct lids lids;

/* The counters of a fabric of two leaves with 20 hosts and 4 spines each. */
static void alone(void)
{
	struct config config = { .perfmgr_sweep_time_s = 2,
		                 .perfmgr_max_outstanding_queries = 500,
		                 .perfmgr_query_cpi = true,
		                 .perfmgr_log_errors = true,
		                 .perfmgr_alarm_errors = 10,
		                 .perfmgr_link_quality = 4,
		                 .transaction_timeout = 100,
		                 .transaction_retries = 2 };
	char *words[] = { "2", "20", "4" };
	const struct topogen_opts o = { 0 };
	struct lanes lanes = { .n = 1 };
	struct diags d = { 0 };

	memset(&wire, 0, sizeof(wire));
	wire.transport.ops = &wire_ops;
	wire.now = 1000;
	wire.quality = 5;
	arena = arena_new();
	ck_assert_int_eq(topogen("ft2", 3, words, &o, arena, &d, &graph), E_OK);
	struct lids_in in = { .g = graph };
	ck_assert_int_eq(lids_assign(&in, arena, &d, &lids, NULL, NULL), E_OK);
	ck_assert_int_eq(perf_new(&wire.transport, NULL, &config, NULL, &perf), E_OK);
	ck_assert_int_eq(perf_fabric(perf, graph, &lids, &lanes, true, 2), E_OK);
}

static void alone_ends(void)
{
	perf_free(perf);
	arena_free(arena);
}

static bool is_switch(uint32_t lid)
{
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const struct node *n = &graph->nodes[i];

		if (n->type == NODE_SWITCH && lids.of[n->first_port].base == lid) {
			return true;
		}
	}
	return false;
}

/* Answers as a device does. \return Bytes. */
static size_t answer_of(const uint8_t *request, bool refuses, uint8_t mad[ANSWER_MAX])
{
	uint8_t attr = request[17];
	size_t bytes = attr == 0x42 ? DATA : ERROR, at = HEADER + MASKS;

	memset(mad, 0, ANSWER_MAX);
	memcpy(mad, request, 64);
	mad[3] = 0x81;
	if (refuses && attr != 0x40) {
		mad[4] = 1; /* 0x0100: too large */
		return HEADER;
	}
	if (attr == 0x40) {
		mad[HEADER + 209] = wire.quality;
		return HEADER + STATUS;
	}
	for (unsigned port = 0; port < 256; port++) {
		if ((request[HEADER + 31 - port / 8] >> port % 8 & 1) == 0) {
			continue;
		}
		mad[at] = (uint8_t)port;
		if (attr == 0x42) {
			mad[at + 7] = wire.quality;
			mad[at + 135] = (uint8_t)wire.sum;
		}
		at += bytes;
	}
	return at;
}

static enum mad_kind deliver(unsigned i, uint8_t *mad, size_t len)
{
	struct mad_msg m = wire.msg[i];

	m.data = mad;
	m.len = len;
	return perf_receive(perf, &m);
}

/* One sweep, with answers to everything. */
static void sweep(void)
{
	uint8_t mad[ANSWER_MAX];
	uint64_t end = perf_counters(perf)->sweeps + 1, began = wire.now;
	unsigned answered = 0;

	wire.n = 0;
	while (perf_counters(perf)->sweeps < end) {
		perf_run(perf, true);
		for (; answered < wire.n; answered++) {
			bool sw = is_switch(wire.msg[answered].addr.lid);
			size_t len = answer_of(wire.mad[answered],
			                       sw && wire.refuses_groups, mad);

			ck_assert_int_eq(deliver(answered, mad, len), MAD_ANSWER);
		}
		wire.now++;
		ck_assert_uint_lt(wire.now, began + 10000);
	}
}

static unsigned sent(uint8_t attr, bool to_switch)
{
	unsigned n = 0;

	for (unsigned i = 0; i < wire.n; i++) {
		n += wire.mad[i][17] == attr &&
		     is_switch(wire.msg[i].addr.lid) == to_switch;
	}
	return n;
}

/* Each MAD is one that a device takes, and a sweep has few of them: of an adapter one, of a switch one
 * per 14 ports, and one per 20 of those whose errors moved. */
START_TEST(few_mads)
{
	enum { HOSTS = 40, LEAVES = 2, SPINES = 4 };

	alone();
	sweep();
	ck_assert_uint_eq(perf_counters(perf)->read, perf_counters(perf)->ports);
	for (unsigned i = 0; i < wire.n; i++) {
		const uint8_t *m = wire.mad[i];
		unsigned ports = 0;

		ck_assert_uint_eq(m[0], CLASS_VERSION);
		ck_assert_uint_eq(m[1], 4);
		ck_assert_uint_eq(m[2], CLASS_VERSION);
		ck_assert_uint_eq(m[3], UMAD_METHOD_GET);
		for (unsigned k = 0; k < 32; k++) {
			ports += (unsigned)__builtin_popcount(m[HEADER + k]);
		}
		ck_assert_uint_eq(m[20],
		                  m[17] == 0x40 ? 1 : ports); /* modifier: N << 24 */
		ck_assert(m[21] == 0 && m[22] == 0 && m[23] == 0);
		ck_assert_uint_eq(wire.msg[i].addr.pkey_index, 2);
		ck_assert_uint_eq(wire.msg[i].addr.qpn, 1);
		ck_assert_uint_eq(wire.msg[i].addr.qkey, 0x80010000);
	}
	ck_assert_uint_eq(sent(0x40, false), HOSTS);
	ck_assert_uint_eq(sent(0x40, true), 0);
	ck_assert_uint_eq(sent(0x42, true), 2 * LEAVES + SPINES); /* 24 ports, and 2 */
	ck_assert_uint_eq(sent(0x43, true), 2 * LEAVES + SPINES);
	ck_assert_uint_eq(wire.n, HOSTS + 2 * (2 * LEAVES + SPINES));
	sweep(); /* nothing moved */
	ck_assert_uint_eq(wire.n, HOSTS + 2 * LEAVES + SPINES);
	wire.sum = 5;
	sweep();
	ck_assert_uint_eq(sent(0x43, true), 2 * LEAVES + SPINES);
	sweep();
	ck_assert_uint_eq(sent(0x43, true), 0);
}
END_TEST

/* A switch that takes no request for several ports is asked for each of them, and not in groups again. */
START_TEST(no_groups)
{
	alone();
	wire.refuses_groups = true;
	sweep();
	ck_assert_uint_eq(perf_counters(perf)->read, perf_counters(perf)->ports);
	ck_assert_uint_gt(sent(0x42, true), 0);
	sweep();
	ck_assert_uint_eq(perf_counters(perf)->read, perf_counters(perf)->ports);
	ck_assert_uint_eq(wire.n, perf_counters(perf)->ports);
	ck_assert_uint_eq(sent(0x40, true) + sent(0x40, false), wire.n);
}
END_TEST

/* Answers that are cut short or are about other ports are no readings. */
START_TEST(wrong_answers)
{
	uint8_t mad[ANSWER_MAX];

	alone();
	for (unsigned done = 0; perf_counters(perf)->sweeps == 0; wire.now++) {
		perf_run(perf, true);
		for (; done < wire.n; done++) {
			size_t len = answer_of(wire.mad[done], false, mad);

			if (_i == 0) {
				len = HEADER + MASKS - 1;
			} else if (_i == 1) {
				mad[HEADER + 20] ^= 1;
				mad[HEADER] ^= 1;
			} else if (_i == 2) { /* another port */
				mad[HEADER + (wire.mad[done][17] == 0x40 ? 0 : MASKS)]++;
			} else {
				len = 0;
			}
			(void)deliver(done, mad, len);
		}
		ck_assert_uint_lt(wire.now, 30000);
	}
	ck_assert_uint_eq(perf_counters(perf)->read, 0);
}
END_TEST

/* Link quality is a level: poor at two readings is one report, and so is better and poor again later. */
START_TEST(poor_link)
{
	struct perf_alarm a;

	alone();
	sweep();
	wire.quality = 4;
	sweep();
	ck_assert(!perf_next_alarm(perf, &a));
	wire.quality = 2;
	sweep();
	ck_assert(perf_next_alarm(perf, &a));
	ck_assert_str_eq(a.what, "link_quality 2 in 2 s");
	while (perf_next_alarm(perf, &a)) {
	}
	sweep();
	ck_assert(!perf_next_alarm(perf, &a));
}
END_TEST

TEST_SUITE(perf_opa)
{
	TCase *bytes = tcase_create("bytes"),
	      *with_sm = tcase_create("with a subnet manager"),
	      *tc = tcase_create("alone");

	tcase_add_test(bytes, port_status);
	tcase_add_test(bytes, limits);
	tcase_add_test(bytes, records);
	tcase_add_test(bytes, mask_of_ports);
	suite_add_tcase(suite, bytes);
	tcase_add_checked_fixture(with_sm, NULL, perf_fixture_done);
	tcase_add_loop_test(with_sm, counters_of_ports, 0, 2);
	tcase_add_test(with_sm, errors_that_move);
	suite_add_tcase(suite, with_sm);
	tcase_add_checked_fixture(tc, NULL, alone_ends);
	tcase_add_test(tc, few_mads);
	tcase_add_test(tc, no_groups);
	tcase_add_loop_test(tc, wrong_answers, 0, 4);
	tcase_add_test(tc, poor_link);
	suite_add_tcase(suite, tc);
}
