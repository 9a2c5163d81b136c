/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The performance manager. With the subnet manager, on simulated fabrics: agents of all
 * kinds, losses, nodes that do not answer, ports that come and go. And alone, with a
 * transport that the test holds in its hand: pace, redirection, forged answers.
 */
#include "conf/base/arena.h"
#include "db/lmdb/counters.h"
#include "sa/mad/transport.h"
#include "sa/perf/perf.h"
#include "tests/lib/suite.h"
#include "tests/sa/perf/perf_fixture.h"

/* Counters as the simulation and as the stats name them. */
static const struct {
	const char *name;
	enum port_counter counter;
	uint64_t narrow; /* highest value of PortCounters; 0: not there */
} pairs[] = {
	{ "SymbolErrorCounter", COUNTER_SYMBOL_ERRORS, 0xffff },
	{ "LinkErrorRecoveryCounter", COUNTER_LINK_ERROR_RECOVERY, 0xff },
	{ "LinkDownedCounter", COUNTER_LINK_DOWNED, 0xff },
	{ "PortRcvErrors", COUNTER_RCV_ERRORS, 0xffff },
	{ "PortRcvRemotePhysicalErrors", COUNTER_RCV_REMOTE_PHYSICAL_ERRORS, 0xffff },
	{ "PortRcvSwitchRelayErrors", COUNTER_RCV_SWITCH_RELAY_ERRORS, 0xffff },
	{ "PortXmitDiscards", COUNTER_XMIT_DISCARDS, 0xffff },
	{ "PortXmitConstraintErrors", COUNTER_XMIT_CONSTRAINT_ERRORS, 0xff },
	{ "PortRcvConstraintErrors", COUNTER_RCV_CONSTRAINT_ERRORS, 0xff },
	{ "LocalLinkIntegrityErrors", COUNTER_LOCAL_LINK_INTEGRITY_ERRORS, 0xf },
	{ "ExcessiveBufferOverrunErrors", COUNTER_EXCESSIVE_BUFFER_OVERRUN_ERRORS, 0xf },
	{ "VL15Dropped", COUNTER_VL15_DROPPED, 0xffff },
	{ "PortXmitWait", COUNTER_XMIT_WAIT, 0xffffffff },
	{ "QP1Dropped", COUNTER_QP1_DROPPED, 0xffff },
	{ "PortUnicastXmitPkts", COUNTER_UNICAST_XMIT_PKTS, 0 },
	{ "PortUnicastRcvPkts", COUNTER_UNICAST_RCV_PKTS, 0 },
	{ "PortMulticastXmitPkts", COUNTER_MULTICAST_XMIT_PKTS, 0 },
	{ "PortMulticastRcvPkts", COUNTER_MULTICAST_RCV_PKTS, 0 },
};

enum { N_PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) * n >> 31);
}

static void up(const char *topo, uint32_t drop_ppm)
{
	perf_fixture_up(topo, drop_ppm, false);
}

static uint32_t cabled_port(void)
{
	uint32_t p;

	do {
		p = below(fixture->g->n_ports);
	} while (fixture->g->ports[p].peer == GRAPH_NONE);
	return p;
}

static void add(uint32_t port, const char *name, uint64_t n)
{
	ck_assert_int_eq(sim_perf_add(fixture->sim, guid_of(port), fixture->g->ports[port].num,
	                              name, n),
	                 E_OK);
}

enum { ALL = 1 << 8, WIDE = 1 << 9, NO_UNICAST = 1 << 10, WAIT = 1 << 12, QP1 = 1 << 15 };

static const struct {
	uint16_t mask;
	uint32_t mask2;
} agents[] = {
	{ ALL | WIDE | WAIT | QP1, 2 }, /* all in one attribute */
	{ ALL | WIDE | WAIT, 0 },       /* errors apart, and their sum */
	{ WIDE | QP1, 0 },              /* no sum */
	{ ALL | NO_UNICAST | WAIT, 0 },
	{ ALL | WAIT, 0 }, /* narrow ones only */
	{ 0, 0 },
};

/* What an agent with these capabilities shows of a counter, and whether that is all it can. */
static bool shown(unsigned agent, unsigned i, uint64_t *v, bool *full)
{
	bool is_unicast = pairs[i].narrow == 0, wide_errors = agents[agent].mask2 & 2;

	*full = false;
	if (is_unicast) {
		return agents[agent].mask & WIDE;
	}
	if (wide_errors) {
		return true;
	}
	if ((pairs[i].counter == COUNTER_XMIT_WAIT && !(agents[agent].mask & WAIT)) ||
	    (pairs[i].counter == COUNTER_QP1_DROPPED && !(agents[agent].mask & QP1))) {
		return false;
	}
	*full = *v >= pairs[i].narrow;
	*v = *full ? pairs[i].narrow : *v;
	return true;
}

/* Whatever an agent can do, a row shows what its port counted, how much that is more than
 * before, and which counters are at their limit. */
START_TEST(every_kind_of_agent)
{
	static uint64_t total[64][N_PAIRS], before[64][N_PAIRS];
	static uint32_t port[64];
	struct port_counters c;

	seed = 7 + (uint64_t)_i;
	memset(total, 0, sizeof(total));
	up("ft2 6 6 3", 0);
	sim_perf_set_caps(fixture->sim, agents[_i].mask, agents[_i].mask2);
	for (unsigned k = 0; k < 12; k++) { /* different ports: hosts and switches */
		bool again;
		do {
			port[k] = cabled_port();
			again = false;
			for (unsigned j = 0; j < k; j++) {
				again |= port[j] == port[k];
			}
		} while (again);
	}
	one_sweep();
	for (unsigned round = 0; round < 4; round++) {
		memcpy(before, total, sizeof(before));
		for (unsigned k = 0; k < 12; k++) {
			for (unsigned i = 0; i < N_PAIRS && round < 3; i++) {
				uint64_t n = below(3) ? 0 : round == 2 ? 70000 : below(9);

				add(port[k], pairs[i].name, n);
				total[k][i] += n;
			}
		}
		one_sweep();
		for (unsigned k = 0; k < 12; k++) {
			ck_assert_int_eq(row(port[k], &c), E_OK);
			ck_assert_uint_gt(c.interval_ms, 0);
			for (unsigned i = 0; i < N_PAIRS; i++) {
				uint32_t bit = UINT32_C(1) << pairs[i].counter;
				bool full, was_full;
				uint64_t v = total[k][i], was = before[k][i];

				shown((unsigned)_i, i, &was, &was_full);
				if (!shown((unsigned)_i, i, &v, &full)) {
					ck_assert(!(c.known & bit));
					continue;
				}
				ck_assert_msg(c.known & bit, "%s", pairs[i].name);
				ck_assert_msg(c.value[pairs[i].counter] == v, "%s: %llu, not %llu",
				              pairs[i].name,
				              (unsigned long long)c.value[pairs[i].counter],
				              (unsigned long long)v);
				ck_assert_msg(!(c.saturated & bit) == !full, "%s", pairs[i].name);
				/* the sweep that saw it may not have been the last one */
				ck_assert(c.delta[pairs[i].counter] == v - was ||
				          c.delta[pairs[i].counter] == 0);
			}
		}
	}
}
END_TEST

/* Every cabled port has a row, those of hosts and of switches, and nothing else has one. */
START_TEST(all_ports)
{
	struct stats_counter_list list;
	uint32_t n = 0;

	up("ft2 6 6 3", 0);
	one_sweep();
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		n += fixture->g->ports[i].peer != GRAPH_NONE;
	}
	ck_assert_int_eq(stats_read_counters(reader, 0, 0, 10000, false, fixture->run, &list),
	                 E_OK);
	ck_assert_uint_eq(list.n, n);
	for (uint32_t i = 0; i < list.n; i++) {
		uint32_t node = graph_node_by_guid(fixture->g, list.ports[i].node_guid);
		uint32_t port = graph_port(fixture->g, node, list.ports[i].port);

		ck_assert_uint_ne(port, GRAPH_NONE);
		ck_assert_uint_ne(fixture->g->ports[port].peer, GRAPH_NONE);
	}
}
END_TEST

/* Rates are those of the traffic, at both ends of a cable. */
START_TEST(rates_follow_traffic)
{
	struct port_counters c;

	up("ft2 6 6 3", 0);
	uint32_t port = cabled_port(), peer = fixture->g->ports[port].peer;
	ck_assert_int_eq(sim_perf_traffic(fixture->sim, guid_of(port), fixture->g->ports[port].num,
	                                  1000000000),
	                 E_OK);
	one_sweep();
	one_sweep();
	one_sweep();
	ck_assert_int_eq(row(port, &c), E_OK);
	ck_assert_double_eq_tol(counters_rate(&c, COUNTER_XMIT_DATA), 1e9, 1e6);
	ck_assert_uint_ge(c.n_samples, 2);
	ck_assert_double_eq_tol((double)c.samples[c.n_samples - 1].xmit, 1e9, 1e6);
	ck_assert_int_eq(row(peer, &c), E_OK);
	ck_assert_double_eq_tol(counters_rate(&c, COUNTER_RCV_DATA), 1e9, 1e6);
	ck_assert_double_lt(counters_rate(&c, COUNTER_XMIT_DATA), 1e6);
}
END_TEST

/* A counter that was cleared shows what it counted since. */
START_TEST(cleared_counter)
{
	struct port_counters c;
	uint32_t port = 0;

	up("ft2 6 6 3", 0);
	while (fixture->g->nodes[fixture->g->ports[port].node].type != NODE_CA ||
	       fixture->g->ports[port].peer == GRAPH_NONE || port == fixture->g->sm_port) {
		port++;
	}
	add(port, "SymbolErrorCounter", 900);
	one_sweep();
	one_sweep();
	ck_assert_int_eq(row(port, &c), E_OK);
	ck_assert_uint_eq(c.value[COUNTER_SYMBOL_ERRORS], 900);
	ck_assert_int_eq(sim_reboot(fixture->sim, guid_of(port)), E_OK);
	add(port, "SymbolErrorCounter", 5);
	uint64_t rise = 0;
	for (unsigned i = 0; i < 4 * INTERVAL_S; i++) {
		fixture_run_ms(fixture, 1000);
		ck_assert_int_eq(row(port, &c), E_OK);
		rise = c.delta[COUNTER_SYMBOL_ERRORS] > rise ? c.delta[COUNTER_SYMBOL_ERRORS] : rise;
	}
	ck_assert_uint_eq(c.value[COUNTER_SYMBOL_ERRORS], 5);
	ck_assert_uint_eq(rise, 5);
}
END_TEST

/* Losses delay a sweep and change nothing; a node that answers nothing delays no other. */
START_TEST(losses_and_a_deaf_switch)
{
	struct port_counters c;
	uint32_t deaf = 0, port;

	up("ft2 6 6 3", 20000);
	do {
		port = cabled_port();
		deaf = fixture->g->ports[port].node;
	} while (fixture->g->nodes[deaf].type != NODE_CA || port == fixture->g->sm_port);
	one_sweep();
	ck_assert_int_eq(sim_set_deaf(fixture->sim, guid_of(port), true), E_OK);
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		if (fixture->g->ports[i].peer != GRAPH_NONE) {
			add(i, "PortRcvErrors", i + 1);
		}
	}
	for (unsigned i = 0; i < 4; i++) {
		one_sweep();
	}
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		if (fixture->g->ports[i].peer != GRAPH_NONE && fixture->g->ports[i].node != deaf &&
		    fixture->g->ports[fixture->g->ports[i].peer].node != deaf) {
			ck_assert_int_eq(row(i, &c), E_OK);
			ck_assert_uint_eq(c.value[COUNTER_RCV_ERRORS], i + 1);
		}
	}
}
END_TEST

static unsigned count_events(enum event_kind kind, struct fabric_event *ret_event)
{
	struct stats_events e;
	unsigned n = 0;

	ck_assert_int_eq(stats_read_events(reader, 0, 10000, fixture->run, &e), E_OK);
	for (size_t i = 0; i < e.n; i++) {
		if (e.events[i].kind == kind) {
			*ret_event = e.events[i];
			n++;
		}
	}
	return n;
}

/* One event while errors go on, with both ends of the cable and what rose; another one after it
 * was quiet. */
START_TEST(alarm_once)
{
	struct fabric_event e;

	up("ft2 6 6 3", 0);
	uint32_t port = cabled_port(), peer = fixture->g->ports[port].peer;
	one_sweep();
	add(port, "SymbolErrorCounter", 9);
	one_sweep();
	ck_assert_uint_eq(count_events(EVENT_PORT_ERRORS, &e), 0);
	add(port, "PortRcvSwitchRelayErrors", 500); /* no error of the cable */
	one_sweep();
	ck_assert_uint_eq(count_events(EVENT_PORT_ERRORS, &e), 0);
	for (unsigned i = 0; i < 4; i++) {
		add(port, "SymbolErrorCounter", 120);
		add(port, "LinkDownedCounter", 1);
		one_sweep();
	}
	ck_assert_uint_eq(count_events(EVENT_PORT_ERRORS, &e), 1);
	ck_assert_uint_eq(e.node_guid, guid_of(port));
	ck_assert_uint_eq(e.port, fixture->g->ports[port].num);
	ck_assert_uint_eq(e.peer_guid, guid_of(peer));
	ck_assert_uint_eq(e.peer_port, fixture->g->ports[peer].num);
	ck_assert_ptr_nonnull(strstr(e.detail, "symbol_errors +120, link_downed +1 in "));
	for (unsigned i = 0; i < 6; i++) {
		one_sweep();
	}
	add(port, "SymbolErrorCounter", 10);
	one_sweep();
	ck_assert_uint_eq(count_events(EVENT_PORT_ERRORS, &e), 2);
}
END_TEST

static double mads(void)
{
	struct stats_copy c;

	ck_assert_int_eq(stats_read(reader, fixture->run, &c), E_OK);
	for (size_t i = 0; i < c.n; i++) {
		if (strcmp(c.values[i].name, "mad_sent_total{class=\"perf\"}") == 0) {
			return c.values[i].value;
		}
	}
	return 0;
}

/* Where nothing goes wrong a sweep takes one MAD per port, one more for error correction on its
 * fast link, and one more per switch for the sum of its error counters. */
START_TEST(few_mads)
{
	uint32_t ports = 0, hosts = 0;
	double before;

	up("ft2 6 6 3", 0);
	sim_perf_set_caps(fixture->sim, ALL | WIDE | WAIT, 0);
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		bool cabled = fixture->g->ports[i].peer != GRAPH_NONE;

		ports += cabled;
		hosts += cabled && fixture->g->nodes[fixture->g->ports[i].node].type == NODE_CA;
	}
	fixture_run_ms(fixture, 3 * INTERVAL_S * 1000);
	before = mads();
	fixture_run_ms(fixture, 20 * INTERVAL_S * 1000);
	/* hosts have no sum: their errors are read each time */
	double each = 2.0 * ports + hosts + fixture->g->n_switches;
	ck_assert_double_eq_tol(mads() - before, 20 * each, each);
}
END_TEST

/* The row of a port goes with the port. */
START_TEST(port_is_gone)
{
	struct port_counters c;

	up("ft2 6 6 3", 0);
	uint32_t port = cabled_port();
	while (port == fixture->g->sm_port || fixture->g->ports[port].peer == fixture->g->sm_port) {
		port = cabled_port();
	}
	one_sweep();
	ck_assert_int_eq(row(port, &c), E_OK);
	ck_assert_int_eq(sim_set_link(fixture->sim, guid_of(port), fixture->g->ports[port].num,
	                              false),
	                 E_OK);
	for (unsigned i = 0; i < 4; i++) {
		one_sweep();
	}
	ck_assert_int_eq(row(port, &c), E_NOTFOUND);
	ck_assert_int_eq(sim_set_link(fixture->sim, guid_of(port), fixture->g->ports[port].num,
	                              true),
	                 E_OK);
	for (unsigned i = 0; i < 4; i++) {
		one_sweep();
	}
	ck_assert_int_eq(row(port, &c), E_OK);
}
END_TEST

/* --- alone ------------------------------------------------------------------------------ */

enum { SENT_MAX = 4096 };

static struct {
	struct transport transport;
	uint64_t now;
	struct mad_msg msg[SENT_MAX];
	uint8_t mad[SENT_MAX][MAD_BYTES];
	uint64_t at[SENT_MAX];
	unsigned n;
} wire;

static int keep(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	ck_assert_uint_lt(wire.n, SENT_MAX);
	memcpy(wire.mad[wire.n], m->data, MAD_BYTES);
	wire.msg[wire.n] = *m;
	wire.msg[wire.n].data = wire.mad[wire.n];
	wire.at[wire.n++] = wire.now;
	return E_OK;
}

static uint64_t wire_now(struct transport *t)
{
	(void)t;
	return wire.now;
}

static const struct transport_ops wire_ops = { .name = "wire", .send = keep, .now_ms = wire_now };
static struct perf *perf;
static struct arena *arena;
static struct graph *graph;
static struct lids lids;

/* A performance manager of a small fabric, whose time is wire.now. */
static void alone(uint32_t interval_s)
{
	struct config config = { .perfmgr_sweep_time_s = interval_s,
		                 .perfmgr_max_outstanding_queries = 500,
		                 .perfmgr_redir = true,
		                 .perfmgr_query_cpi = true,
		                 .perfmgr_log_errors = true,
		                 .perfmgr_alarm_errors = 10,
		                 .transaction_timeout = 100,
		                 .transaction_retries = 2 };
	char *words[] = { "6", "6", "3" };
	const struct topogen_opts o = { 0 };
	struct lanes lanes = { .n = 1 };
	struct diags d = { 0 };

	memset(&wire, 0, sizeof(wire));
	wire.transport.ops = &wire_ops;
	wire.now = 1000;
	arena = arena_new();
	ck_assert_int_eq(topogen("ft2", 3, words, &o, arena, &d, &graph), E_OK);
	struct lids_in in = { .g = graph };
	ck_assert_int_eq(lids_assign(&in, arena, &d, &lids, NULL, NULL), E_OK);
	ck_assert_int_eq(perf_new(&wire.transport, NULL, &config, NULL, &perf), E_OK);
	ck_assert_int_eq(perf_fabric(perf, graph, &lids, &lanes, false, 0), E_OK);
}

static void alone_ends(void)
{
	perf_free(perf);
	arena_free(arena);
}

/* Answers a MAD as an agent that has nothing but PortCounters. */
static void reply(unsigned i)
{
	uint8_t mad[MAD_BYTES];
	struct mad_msg m = wire.msg[i];

	memcpy(mad, wire.mad[i], MAD_BYTES);
	mad[3] = UMAD_METHOD_GET_RESP;
	m.data = mad;
	ck_assert(perf_receive(perf, &m));
}

/* Without leave nothing is sent; with it the MADs of a sweep are spread over half of the interval,
 * so that no moment has many more than another. */
START_TEST(pace)
{
	unsigned answered = 0;

	alone(10);
	for (; wire.now < 3000; wire.now += 5) {
		perf_run(perf, false);
	}
	ck_assert_uint_eq(wire.n, 0);
	uint64_t began = wire.now;
	while (perf_counters(perf)->sweeps == 0) {
		perf_run(perf, true);
		while (answered < wire.n) {
			reply(answered++);
		}
		ck_assert_uint_gt(perf_deadline(perf, true), wire.now - 1);
		wire.now++;
		ck_assert_uint_lt(wire.now, began + 10000);
	}
	ck_assert_uint_eq(perf_counters(perf)->read, perf_counters(perf)->ports);
	unsigned most = 0;
	for (unsigned i = 0, first = 0; i < wire.n; i++) { /* in any 100 ms */
		while (wire.at[i] - wire.at[first] >= 100) {
			first++;
		}
		most = i - first + 1 > most ? i - first + 1 : most;
	}
	double even = (3.0 * graph->n_links * 2 + 2.0 * graph->n_end_ports) / 5000 * 100;
	ck_assert_double_lt(most, even * 1.3 + 2);
}
END_TEST

/* An agent that answers nothing costs one request and its repetitions in a sweep. */
START_TEST(silence)
{
	alone(10);
	while (perf_counters(perf)->sweeps == 0) {
		perf_run(perf, true);
		wire.now++;
		ck_assert_uint_lt(wire.now, 30000);
	}
	ck_assert_uint_eq(perf_counters(perf)->read, 0);
	ck_assert_uint_eq(wire.n, graph->n_end_ports * 3);
}
END_TEST

/* The kernel refuses a request with the ID of one that waits for its answer, so each try has its
 * own, and an answer to the first one counts after the second left, too. */
START_TEST(slow_agent)
{
	alone(10);
	for (; wire.n == 0; wire.now++) {
		perf_run(perf, true);
	}
	struct perf_counters before = *perf_counters(perf);
	unsigned first = wire.n - 1, again = 0;
	wire.now += 120;
	perf_run(perf, false);
	for (unsigned i = first + 1; i < wire.n; i++) {
		ck_assert(field_get(wire.mad[i], MAD_TID) !=
		          field_get(wire.mad[first], MAD_TID));
		again += wire.msg[i].addr.lid == wire.msg[first].addr.lid;
	}
	ck_assert_uint_eq(again, 1);
	ck_assert_uint_gt(perf_counters(perf)->timeouts, before.timeouts);
	reply(first);
	reply(wire.n - 1); /* its repetition: late */
	ck_assert_uint_eq(perf_counters(perf)->forged, 0);
	unsigned n = wire.n;
	for (unsigned i = 0; i < 40;
	     i++) { /* nothing is repeated, something new is asked */
		wire.now += 10;
		perf_run(perf, i > 25);
		for (; n < wire.n; n++) {
			again += wire.msg[n].addr.lid == wire.msg[first].addr.lid &&
			         field_get(wire.mad[n], MAD_ATTR_ID) ==
			                 UMAD_ATTR_CLASS_PORT_INFO;
		}
	}
	ck_assert_uint_eq(again, 1);
}
END_TEST

/* An agent that sends us elsewhere is asked there, and only once sent on. */
START_TEST(redirection)
{
	uint8_t mad[MAD_BYTES];
	struct mad_msg m;

	alone(10);
	for (; wire.n == 0; wire.now++) {
		perf_run(perf, true);
	}
	for (unsigned i = 0; i < 2; i++) {
		m = wire.msg[i];
		memcpy(mad, wire.mad[i], MAD_BYTES);
		mad[3] = UMAD_METHOD_GET_RESP;
		mad[5] = 2; /* status: redirection */
		mad[64 + 25] = 0x70; /* SL 7 */
		mad[64 + 28] = 0x01; /* LID 0x0123 */
		mad[64 + 29] = 0x23;
		mad[64 + 33] = 0x12; /* QP 0x123456 */
		mad[64 + 34] = 0x34;
		mad[64 + 35] = 0x56;
		mad[64 + 36] = 0x80; /* Q_Key */
		mad[64 + 37] = 0x02;
		mad[64 + 38] = 0x00;
		mad[64 + 39] = 0x01;
		m.data = mad;
		unsigned n = wire.n;
		ck_assert(perf_receive(perf, &m));
		ck_assert_uint_eq(wire.n, n + (i == 0));
	}
	ck_assert_uint_eq(wire.msg[1].addr.lid, 0x0123);
	ck_assert_uint_eq(wire.msg[1].addr.sl, 7);
	ck_assert_uint_eq(wire.msg[1].addr.qpn, 0x123456);
	ck_assert_uint_eq(wire.msg[1].addr.qkey, 0x80020001);
	ck_assert(field_get(wire.mad[0], MAD_TID) != field_get(wire.mad[1], MAD_TID));
	memcpy(wire.mad[1] + 8, wire.mad[0] + 8, 8);
	ck_assert_mem_eq(wire.mad[0], wire.mad[1], MAD_BYTES); /* else the same request */
}
END_TEST

/* An answer counts only from the port that was asked, about what it was asked. */
START_TEST(from_elsewhere)
{
	uint8_t mad[MAD_BYTES];
	struct mad_msg m;

	alone(10);
	for (; wire.n < 2; wire.now++) {
		perf_run(perf, true);
	}
	m = wire.msg[0];
	m.data = mad;
	for (unsigned i = 0; i < 4; i++) {
		memcpy(mad, wire.mad[0], MAD_BYTES);
		mad[3] = UMAD_METHOD_GET_RESP;
		m.addr.lid = wire.msg[0].addr.lid + (i == 0);
		mad[17] ^= i == 1 ? 1 : 0; /* the attribute */
		mad[23] ^= i == 2 ? 1 : 0; /* its modifier */
		if (i == 3) {              /* the next number, as if it were a counter */
			field_set(mad, MAD_TID, field_get(mad, MAD_TID) + 1);
		}
		ck_assert_int_eq(perf_receive(perf, &m), MAD_FORGED);
		ck_assert_uint_eq(perf_counters(perf)->forged, i + 1);
	}
	memcpy(mad, wire.mad[0], MAD_BYTES);
	mad[3] = UMAD_METHOD_GET_RESP;
	ck_assert_int_eq(perf_receive(perf, &m), MAD_ANSWER);
	ck_assert_int_eq(perf_receive(perf, &m), MAD_LATE); /* again */
	ck_assert_uint_eq(perf_counters(perf)->forged, 4);
}
END_TEST

/* Answers to nothing, twice, or with random bytes do no harm, and the sweep ends. */
START_TEST(forged_answers)
{
	uint8_t mad[MAD_BYTES];

	seed = 99 + (uint64_t)_i;
	alone(10);
	for (unsigned round = 0; perf_counters(perf)->sweeps < 2 && round < 60000; round++) {
		perf_run(perf, true);
		for (unsigned k = 0; k < 4; k++) {
			struct mad_msg m = { .mgmt_class = UMAD_CLASS_PERF_MGMT,
				             .len = below(10) ? MAD_BYTES : below(MAD_BYTES),
				             .status = below(20) ? 0 : E_TIMEOUT,
				             .data = mad };
			unsigned from = below(wire.n + 1);

			for (unsigned i = 0; i < MAD_BYTES; i++) {
				mad[i] = (uint8_t)below(256);
			}
			if (below(4) && from < wire.n) { /* the header of a request of ours */
				memcpy(mad, wire.mad[from], below(2) ? 24 : 66);
				mad[3] = UMAD_METHOD_GET_RESP;
				mad[4] = mad[5] = 0;
			}
			ck_assert(perf_receive(perf, &m));
		}
		wire.n = wire.n > 64 ? 0 : wire.n;
		wire.now++;
	}
	ck_assert_uint_ge(perf_counters(perf)->sweeps, 2);
	struct perf_alarm a;
	while (perf_next_alarm(perf, &a)) {
		ck_assert_uint_lt(strlen(a.what), sizeof(a.what));
	}
}
END_TEST

TEST_SUITE(perf)
{
	TCase *with_sm = tcase_create("with a subnet manager"), *tc = tcase_create("alone");

	tcase_add_checked_fixture(with_sm, NULL, perf_fixture_done);
	tcase_add_loop_test(with_sm, every_kind_of_agent, 0,
	                    (int)(sizeof(agents) / sizeof(agents[0])));
	tcase_add_test(with_sm, all_ports);
	tcase_add_test(with_sm, rates_follow_traffic);
	tcase_add_test(with_sm, cleared_counter);
	tcase_add_test(with_sm, losses_and_a_deaf_switch);
	tcase_add_test(with_sm, alarm_once);
	tcase_add_test(with_sm, few_mads);
	tcase_add_test(with_sm, port_is_gone);
	suite_add_tcase(suite, with_sm);
	tcase_add_checked_fixture(tc, NULL, alone_ends);
	tcase_add_test(tc, pace);
	tcase_add_test(tc, silence);
	tcase_add_test(tc, slow_agent);
	tcase_add_test(tc, redirection);
	tcase_add_loop_test(tc, forged_answers, 0, 8);
	tcase_add_test(tc, from_elsewhere);
	suite_add_tcase(suite, tc);
}
