/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Tables that are changed behind the SM's back, with LinearFDBTop and port states as they
 * were: an audit in the background, and a sweep that an operator asks for, bring back what
 * was programmed, and touch nothing else.
 */
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

enum { INTERVAL_S = 60, TABLES_MAX = 64, BLOCK = 64 };

static struct sweep_fixture *fixture;
static struct tap tap;
static uint8_t lfts[TABLES_MAX][BLOCK]; /* block 0 of each switch as programmed */
static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) * n >> 31);
}

static uint64_t switch_guid(uint32_t i)
{
	return fixture->g->nodes[fixture->g->switches[i]].guid;
}

static void peek(uint64_t guid, uint16_t attr, uint32_t mod, uint8_t data[BLOCK])
{
	ck_assert_int_eq(sim_peek(fixture->sim, guid, attr, mod, data), E_OK);
}

static void poke(uint64_t guid, uint16_t attr, uint32_t mod, const uint8_t data[BLOCK])
{
	ck_assert_int_eq(sim_poke(fixture->sim, guid, attr, mod, data), E_OK);
}

static void up(uint64_t with_seed, uint32_t drop_ppm, uint32_t interval_s)
{
	seed = with_seed;
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 6 6 3", 0, 0);
	fixture_sim(fixture, (uint32_t)with_seed, drop_ppm);
	fixture->config.audit_interval = interval_s;
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 25000); /* the light sweep that sees ports gone ACTIVE */
	fixture_up(fixture);
	ck_assert_uint_le(fixture->g->n_switches, TABLES_MAX);
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		peek(switch_guid(i), UMAD_SM_ATTR_LINEAR_FT, 0, lfts[i]);
	}
}

static void teardown(void)
{
	fixture_free(fixture);
	fixture = NULL;
	tap_record_done(&tap);
}

/* Other ports, or none, for some LIDs of some switches. \return Blocks that differ. */
static unsigned overwrite_lfts(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		uint8_t block[BLOCK];

		if (below(2)) {
			continue;
		}
		memcpy(block, lfts[i], sizeof(block));
		for (unsigned k = 0; k < 1 + below(8); k++) {
			block[1 + below(BLOCK - 1)] =
				(uint8_t)(below(2) ? 0xff : 1 + below(6));
		}
		poke(switch_guid(i), UMAD_SM_ATTR_LINEAR_FT, 0, block);
		n += memcmp(block, lfts[i], sizeof(block)) != 0;
	}
	return n;
}

static void check_lfts(void)
{
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		uint8_t block[BLOCK];

		peek(switch_guid(i), UMAD_SM_ATTR_LINEAR_FT, 0, block);
		ck_assert_mem_eq(block, lfts[i], sizeof(block));
	}
}

static uint64_t lft_sets(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT);
}

/* Exactly the blocks that differ are sent, and what was programmed stays the routing. */
START_TEST(operator_asks)
{
	uint64_t sent;
	unsigned n;

	up(1 + (uint64_t)_i, 0, 0);
	n = overwrite_lfts();
	sent = lft_sets();
	uint64_t epoch = sweep_status(fixture->sweep)->epoch;
	sweep_request_audit(fixture->sweep, NULL);
	fixture_heavy(fixture, sweep_status(fixture->sweep)->heavy_sweeps + 1);
	check_lfts();
	ck_assert_uint_eq(lft_sets() - sent, n);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, n);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->epoch, epoch);
	sent = lft_sets();
	sweep_request_audit(fixture->sweep, NULL);
	fixture_heavy(fixture, sweep_status(fixture->sweep)->heavy_sweeps + 1);
	ck_assert_uint_eq(lft_sets(), sent);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, n);
}
END_TEST

/* A switch answers no more when a heavy sweep looks, and its tables change. An operator asks for all
 * tables while that sweep is still at work: the next one, which finds the switch, has to read them. */
START_TEST(asked_while_at_work)
{
	uint8_t block[BLOCK];
	uint64_t guid;

	up(1 + (uint64_t)_i, 0, 0);
	guid = switch_guid(fixture->g->n_switches - 1);
	ck_assert_int_eq(sim_set_deaf(fixture->sim, guid, true), E_OK);
	sweep_request_heavy(fixture->sweep);
	while (strcmp(sweep_status(fixture->sweep)->phase, "discover") != 0) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	sweep_request_audit(fixture->sweep, NULL);
	while (strcmp(sweep_status(fixture->sweep)->phase, "discover") == 0) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert_int_eq(sim_set_deaf(fixture->sim, guid, false), E_OK);
	memset(block, 1 + _i % 3, sizeof(block));
	poke(guid, UMAD_SM_ATTR_LINEAR_FT, 0, block);
	fixture_run_ms(fixture, 30000);
	fixture_up(fixture);
	const struct job *j = sweep_job(fixture->sweep);
	uint32_t node = graph_node_by_guid(j->disc.g, guid);
	ck_assert_uint_ne(node, GRAPH_NONE);
	peek(guid, UMAD_SM_ATTR_LINEAR_FT, 0, block);
	ck_assert_mem_eq(block + 1,
	                 lft_row((struct lft *)&j->route.out.lft,
	                         j->disc.g->nodes[node].sw) +
	                         1,
	                 j->lids.lids.top);
}
END_TEST

START_TEST(in_the_background)
{
	uint64_t sent;
	uint32_t heavy;
	unsigned n;

	up(1 + (uint64_t)_i, 0, INTERVAL_S);
	fixture_run_ms(fixture, 3 * INTERVAL_S * 1000);
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	sent = lft_sets();
	ck_assert_uint_ge(sweep_status(fixture->sweep)->audits, 2);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, 0);
	n = overwrite_lfts();
	fixture_run_ms(fixture, (INTERVAL_S + 10) * 1000);
	check_lfts();
	ck_assert_uint_eq(lft_sets() - sent, n);
	if (n > 0) {
		ck_assert_uint_gt(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
	}
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, n);
}
END_TEST

START_TEST(switched_off)
{
	up(1, 0, 0);
	fixture_run_ms(fixture, 2 * 3600 * 1000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->audits, 0);
}
END_TEST

static uint64_t reads(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_LINEAR_FT) +
	       sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_MCAST_FT) +
	       sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_PKEY_TABLE) +
	       sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_GUID_INFO);
}

/* One thousand reads a second at most, in each interval of time. */
START_TEST(bounded_rate)
{
	uint64_t end, before;

	up(1, 0, INTERVAL_S);
	before = reads();
	end = fixture_now(fixture) + (INTERVAL_S + 20) * 1000;
	while (fixture_now(fixture) < end) {
		uint64_t from = fixture_now(fixture), n = reads();

		fixture_run_ms(fixture, 10);
		ck_assert_uint_le(reads() - n, fixture_now(fixture) - from + 2);
	}
	ck_assert_uint_gt(reads(), before + fixture->g->n_switches);
}
END_TEST

/* Lost MADs are no difference. */
START_TEST(lost_mads)
{
	up(20 + (uint64_t)_i, 20000, INTERVAL_S);
	for (unsigned round = 0; round < 3; round++) {
		fixture_run_ms(fixture, INTERVAL_S * 1000);
		sweep_request_audit(fixture->sweep, NULL);
	}
	fixture_up(fixture);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->audits, 3);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, 0);
	(void)overwrite_lfts();
	sweep_request_audit(fixture->sweep, NULL);
	fixture_run_ms(fixture, 2 * INTERVAL_S * 1000);
	fixture_up(fixture);
	check_lfts();
}
END_TEST

/* Nodes that come and go during a round. */
START_TEST(changing_fabric)
{
	up(40 + (uint64_t)_i, 0, 1);
	for (unsigned round = 0; round < 30; round++) {
		uint64_t guid = fixture->g->nodes[below(fixture->g->n_nodes)].guid;

		if (guid ==
		    fixture->g->nodes[fixture->g->ports[fixture->g->sm_port].node].guid) {
			continue;
		}
		if (below(2)) {
			ck_assert_int_eq(sim_reboot(fixture->sim, guid), E_OK);
		} else {
			ck_assert_int_eq(sim_set_node(fixture->sim, guid, false), E_OK);
			fixture_run_ms(fixture, below(3000));
			ck_assert_int_eq(sim_set_node(fixture->sim, guid, true), E_OK);
		}
		fixture_run_ms(fixture, below(3000));
	}
	fixture_run_ms(fixture, 60000);
	fixture_up(fixture);
	ck_assert_uint_gt(sweep_status(fixture->sweep)->audits, 10);
}
END_TEST

/* --- Sets that arrive late ------------------------------------------------------------------- */

static uint8_t late_block[BLOCK];
static uint32_t late_mod;
static bool is_kept; /* a Set got lost, as it seemed */

/* The first Set of an LFT is as good as lost: it stays in the network. */
static bool keeps_one(const uint8_t *mad)
{
	if (field_get(mad, MAD_METHOD) != UMAD_METHOD_SET ||
	    field_get(mad, MAD_ATTR_ID) != UMAD_SM_ATTR_LINEAR_FT || is_kept) {
		return false;
	}
	is_kept = true;
	memcpy(late_block, mad + SMP_DATA_AT, BLOCK);
	late_mod = (uint32_t)field_get(mad, MAD_ATTR_MOD);
	return true;
}

static uint64_t lft_reads(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_LINEAR_FT);
}

/* A cable whose loss makes other routes. */
static void set_cable(bool up)
{
	const struct port *p = &fixture->g->ports[graph_port(
		fixture->g, fixture->g->switches[fixture->g->n_switches - 1], 1)];

	ck_assert_int_eq(
		sim_set_link(fixture->sim, fixture->g->nodes[p->node].guid, p->num, up),
		E_OK);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 2000);
	fixture_up(fixture);
}

/* A Set that was sent again arrives a second time after a newer one: it is found within seconds
 * without any audit, and one block is read for each such Set. */
START_TEST(late_set)
{
	uint8_t now[BLOCK];
	uint64_t guid = 0, before;

	is_kept = true; /* not yet */
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 6 6 3", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	tap.loses = keeps_one;
	fixture->config.audit_interval = 0;
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 25000);
	before = lft_reads();
	tap_record(&tap, fixture);
	is_kept = false;
	set_cable(false);
	ck_assert(is_kept);
	guid = fixture->g
	               ->nodes[tap.event[tap_find(&tap, 0, TAP_SENT, UMAD_METHOD_SET,
	                                          UMAD_SM_ATTR_LINEAR_FT)]
	                               .node]
	               .guid;
	set_cable(true);
	peek(guid, UMAD_SM_ATTR_LINEAR_FT, late_mod, now);
	if (_i == 0) { /* nothing comes late: nothing changes */
		fixture_run_ms(fixture, 20000);
		ck_assert_uint_eq(lft_reads() - before, 1);
		ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, 0);
		return;
	}
	poke(guid, UMAD_SM_ATTR_LINEAR_FT, late_mod, late_block);
	ck_assert_mem_ne(now, late_block, BLOCK);
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
	peek(guid, UMAD_SM_ATTR_LINEAR_FT, late_mod, late_block);
	ck_assert_mem_eq(now, late_block, BLOCK);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, 1);
	ck_assert_uint_le(lft_reads() - before, 2);
}
END_TEST

/* P_Keys that somebody else has taken away come back, at their indexes. */
START_TEST(p_keys_of_our_own_port)
{
	static const uint8_t none[BLOCK];
	const struct port *own;
	struct snap_reader *r;
	const uint8_t *data;
	uint16_t len;

	up(1, 0, _i ? INTERVAL_S : 0);
	own = &fixture->g->ports[fixture->g->sm_port];
	poke(fixture->g->nodes[own->node].guid, UMAD_SM_ATTR_PKEY_TABLE, 0, none);
	if (_i == 0) {
		sweep_request_audit(fixture->sweep, NULL);
	}
	fixture_run_ms(fixture, (INTERVAL_S + 10) * 1000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, 1);
	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_int_eq(snap_attr(r, UMAD_SM_ATTR_PKEY_TABLE,
	                           fixture->g->nodes[own->node].guid,
	                           (uint32_t)own->num << 16, &data, &len),
	                 E_OK);
	ck_assert_uint_eq(field_get(data, 0, 16), 0xffff);
	ck_assert_mem_eq(data + 2, none + 2, sizeof(none) - 2);
	snap_reader_close(r);
}
END_TEST

/* Another master has set tables while we were standby: our copies do not count. */
START_TEST(after_another_master)
{
	seed = 1;
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 6 6 3", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture->config.audit_interval = 0;
	fixture->config.sm_priority = 5;
	fixture_start(fixture);
	fixture_up(fixture);
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		peek(switch_guid(i), UMAD_SM_ATTR_LINEAR_FT, 0, lfts[i]);
	}
	for (uint32_t i = fixture->g->n_nodes; i > 0 && tap.other_guid == 0; i--) {
		tap.other_guid = fixture->g->nodes[i - 1].type != NODE_SWITCH
		                         ? fixture->g->nodes[i - 1].guid
		                         : 0;
	}
	tap.other_priority = 9;
	tap.other_state = 3;
	fixture->config.sm_trust = SM_TRUST_ANY;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 1000);
	ck_assert(!sweep_status(fixture->sweep)->master);
	for (uint32_t i = 0; i < fixture->g->n_switches;
	     i++) { /* the first LID is lost */
		uint8_t block[BLOCK];

		memcpy(block, lfts[i], sizeof(block));
		block[1] = 0xff;
		poke(switch_guid(i), UMAD_SM_ATTR_LINEAR_FT, 0, block);
	}
	tap.other_state = 2;
	tap.other_handover = TAP_IGNORES;
	fixture_run_ms(fixture, 30000);
	fixture_up(fixture);
	ck_assert(sweep_status(fixture->sweep)->master);
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		uint8_t block[BLOCK];

		peek(switch_guid(i), UMAD_SM_ATTR_LINEAR_FT, 0, block);
		ck_assert_uint_ne(block[1], 0xff);
	}
}
END_TEST

/* SL-to-VL tables are sent again while qos is on. */
START_TEST(sl_to_vl)
{
	uint8_t before[BLOCK], now[BLOCK],
		other[BLOCK] = { 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11 };
	uint32_t mod = 1 << 8 | 2;

	seed = 1;
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 6 6 3", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.qos = QOS_ON;
	fixture->config.audit_interval = _i ? INTERVAL_S : 0;
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 25000);
	fixture_up(fixture);
	peek(switch_guid(0), UMAD_SM_ATTR_SLVL_TABLE, mod, before);
	ck_assert_mem_ne(before, other, 8);
	poke(switch_guid(0), UMAD_SM_ATTR_SLVL_TABLE, mod, other);
	if (_i == 0) {
		sweep_request_audit(fixture->sweep, NULL);
	}
	fixture_run_ms(fixture, (INTERVAL_S + 20) * 1000);
	peek(switch_guid(0), UMAD_SM_ATTR_SLVL_TABLE, mod, now);
	ck_assert_mem_eq(now, before, 8);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, 1);
}
END_TEST

/* --- the pace of a round ----------------------------------------------------------------- */

static uint64_t port_reads(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_PORT_INFO);
}

/* A round is spread over its interval: each tenth of it has its share of the reads. */
START_TEST(even_pace)
{
	uint64_t before, all, from;

	up(1, 0, INTERVAL_S);
	fixture->config.sweep_interval = 0;
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	while (sweep_status(fixture->sweep)->audits < 2) {
		fixture_run_ms(fixture, 10);
	}
	from = fixture_now(fixture);
	before = all = reads() + port_reads();
	for (unsigned tenth = 0; tenth < 10; tenth++) {
		uint64_t n = reads() + port_reads();

		fixture_run_ms(fixture, INTERVAL_S * 100);
		n = reads() + port_reads() - n;
		ck_assert_msg(n >= 10 && n <= 100, "tenth %u of the round has %u reads",
		              tenth, (unsigned)n);
	}
	all = reads() + port_reads() - before;
	ck_assert_uint_ge(all, 200);
	fixture_run_ms(fixture, 100);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->audits, 3);
	ck_assert_uint_le(fixture_now(fixture) - from, INTERVAL_S * 1000 + 1000);
}
END_TEST

/* More blocks than fit at 1,000 reads a second: the round takes longer, which is said once. */
START_TEST(longer_than_the_interval)
{
	uint64_t end, n;

	seed = 1;
	fixture = fixture_new();
	fixture_topo(fixture, "ft3 8", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.audit_interval = 1;
	fixture_log(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	end = fixture_now(fixture) + 20000;
	while (fixture_now(fixture) < end) {
		uint64_t from = fixture_now(fixture);

		n = reads();
		fixture_run_ms(fixture, 10);
		ck_assert_uint_le(reads() - n, fixture_now(fixture) - from + 2);
	}
	n = sweep_status(fixture->sweep)->audits;
	ck_assert_uint_ge(n, 4);
	ck_assert_uint_le(n, 18);
	ck_assert_uint_eq(fixture_logged(fixture, "a round of the audit reads"), 1);
}
END_TEST

/* --- PortInfo ------------------------------------------------------------------------------ */

static uint32_t port_mod(unsigned num)
{
	return DISC_PORT_MOD | num;
}

/* Overwrites one component of PortInfo. */
static void set_component(uint64_t guid, unsigned num, unsigned at, unsigned bits,
                          uint64_t value)
{
	uint8_t info[BLOCK];

	peek(guid, UMAD_SM_ATTR_PORT_INFO, port_mod(num), info);
	field_set(info, at, bits, value);
	field_set(info, PI_PORT_STATE, 0);
	field_set(info, PI_PORT_PHYSICAL_STATE, 0);
	poke(guid, UMAD_SM_ATTR_PORT_INFO, port_mod(num), info);
}

static uint64_t component(uint64_t guid, unsigned num, unsigned at, unsigned bits)
{
	uint8_t info[BLOCK];

	peek(guid, UMAD_SM_ATTR_PORT_INFO, port_mod(num), info);
	return field_get(info, at, bits);
}

static const struct {
	const char *name;
	bool on_switch;
	unsigned at, bits;
	uint64_t value;
} port_cases[] = {
	{ "MasterSMLID of a host", false, PI_MASTER_SM_LID, 0x77 },
	{ "LID of a host", false, PI_LID, 0x1234 },
	{ "SubnetTimeOut of a host", false, PI_SUBNET_TIMEOUT, 3 },
	{ "GidPrefix of a host", false, PI_GID_PREFIX, 0x1234 },
	{ "HOQLife of a switch port", true, PI_HOQ_LIFE, 1 },
	{ "NeighborMTU of a switch port", true, PI_NEIGHBOR_MTU, 1 },
	{ "OperationalVLs of a switch port", true, PI_OPERATIONAL_VLS, 1 },
	{ "PartitionEnforcementInbound of a switch port", true,
	  PI_PARTITION_ENFORCEMENT_INBOUND, 0 },
	{ "PartitionEnforcementOutbound of a switch port", true,
	  PI_PARTITION_ENFORCEMENT_OUTBOUND, 0 },
};

/* A light sweep looks at none of this, as long as no state changes; the audit brings it back. */
START_TEST(port_info)
{
	unsigned i = (unsigned)_i / 2, at = port_cases[i].at, bits = port_cases[i].bits,
		 num;
	bool audits = _i % 2;
	uint64_t guid, was;

	up(1, 0, audits ? INTERVAL_S : 0);
	guid = port_cases[i].on_switch ? switch_guid(0) : fixture_host_guid(fixture, 2);
	num = port_cases[i].on_switch ? 1 : fixture_host_num(fixture, 2);
	was = component(guid, num, at, bits);
	ck_assert_uint_ne(was, port_cases[i].value);
	set_component(guid, num, at, bits, port_cases[i].value);
	ck_assert_uint_eq(component(guid, num, at, bits), port_cases[i].value);
	fixture_run_ms(fixture, (INTERVAL_S + 20) * 1000);
	fixture_up(fixture);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->light_sweeps, 3);
	ck_assert_msg(component(guid, num, at, bits) ==
	                      (audits ? was : port_cases[i].value),
	              "%s is %s", port_cases[i].name,
	              audits ? "not set again" : "set by somebody else");
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, audits);
}
END_TEST

/* A host does not enforce partitions, so what its port says of that is nobody's change. */
START_TEST(enforcement_of_a_host)
{
	uint64_t guid;
	unsigned num;

	up(1, 0, INTERVAL_S);
	guid = fixture_host_guid(fixture, 2);
	num = fixture_host_num(fixture, 2);
	set_component(guid, num, PI_PARTITION_ENFORCEMENT_INBOUND, 1);
	ck_assert_uint_eq(component(guid, num, PI_PARTITION_ENFORCEMENT_INBOUND), 1);
	fixture_run_ms(fixture, (INTERVAL_S + 20) * 1000);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->audits, 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, 0);
}
END_TEST

/* --- suspicion ----------------------------------------------------------------------------- */

enum { DAY_S = 86400 };

static uint32_t host_lid(unsigned i)
{
	return (uint32_t)component(fixture_host_guid(fixture, i),
	                           fixture_host_num(fixture, i), PI_LID);
}

/* The sweep behind a tap, after its first round, and long before the next. */
static void up_with_tap(void)
{
	seed = 1;
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 6 6 3", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture->config.audit_interval = 1;
	fixture_start(fixture);
	fixture_up(fixture);
	while (sweep_status(fixture->sweep)->audits < 1) {
		fixture_run_ms(fixture, 10);
	}
	fixture->config.audit_interval = DAY_S;
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	fixture_run_ms(fixture, 100000);
}

/* A trap of a LID, as its port would send it. */
static void bring_trap(uint32_t lid, unsigned number, bool is_own)
{
	uint8_t *notice = tap.in + SMP_DATA_AT;

	memset(tap.in, 0, sizeof(tap.in));
	field_set(notice, NTC_IS_GENERIC, 1);
	field_set(notice, NTC_TRAP_NUMBER, number);
	field_set(notice, NTC_ISSUER_LID, is_own ? lid : lid + 1);
	tap_bring_from(&tap, fixture, lid, UMAD_CLASS_SUBN_LID_ROUTED, UMAD_METHOD_TRAP,
	               UMAD_ATTR_NOTICE);
}

/* The first host, and the table of the switch that it hangs on, which somebody changed. */
static uint64_t leaf_guid(void)
{
	const struct port *p = &fixture->g->ports[fixture_host(fixture, 2)];

	return fixture->g->nodes[fixture->g->ports[p->peer].node].guid;
}

/* A port that met a wrong M_Key, and one that sends traps in the name of others: its switch is read at
 * once, though the next round is far away. */
START_TEST(suspicious_port)
{
	uint8_t before[BLOCK], now[BLOCK];
	uint64_t n;

	up_with_tap();
	peek(leaf_guid(), UMAD_SM_ATTR_LINEAR_FT, 0, before);
	memcpy(now, before, sizeof(now));
	now[1] = 0xff;
	poke(leaf_guid(), UMAD_SM_ATTR_LINEAR_FT, 0, now);
	fixture_run_ms(fixture, 30000);
	peek(leaf_guid(), UMAD_SM_ATTR_LINEAR_FT, 0, now);
	ck_assert_uint_eq(now[1], 0xff); /* nobody looked */
	n = reads();
	for (unsigned i = 0; i < (_i ? 10 : 1); i++) {
		bring_trap(host_lid(2), _i ? 128 : UMAD_SM_BAD_MKEY_TRAP, _i == 0);
	}
	fixture_run_ms(fixture, 5000);
	fixture_up(fixture);
	peek(leaf_guid(), UMAD_SM_ATTR_LINEAR_FT, 0, now);
	ck_assert_mem_eq(now, before, sizeof(now));
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, 1);
	ck_assert_uint_le(reads() - n, 100);
}
END_TEST

/* Who gives cause again and again has its tables read once a minute, and no faster than all reads. */
START_TEST(suspicion_is_limited)
{
	uint64_t once, n, end;

	up_with_tap();
	n = reads() + port_reads();
	bring_trap(host_lid(2), UMAD_SM_BAD_MKEY_TRAP, true);
	fixture_run_ms(fixture, 1000);
	once = reads() + port_reads() - n;
	ck_assert_uint_gt(once, 3);
	fixture->config.sweep_interval = 0;
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	fixture_run_ms(fixture, 70000);
	n = reads() + port_reads();
	end = fixture_now(fixture) + 150000;
	while (fixture_now(fixture) < end) {
		bring_trap(host_lid(2), UMAD_SM_BAD_MKEY_TRAP, true);
		fixture_run_ms(fixture, 100);
	}
	ck_assert_uint_ge(reads() + port_reads() - n, 2 * once);
	ck_assert_uint_le(reads() + port_reads() - n, 4 * once);
}
END_TEST

TEST_SUITE(sweep_audit)
{
	TCase *tc = tcase_create("audit");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, operator_asks, 0, 10);
	tcase_add_loop_test(tc, asked_while_at_work, 0, 3);
	tcase_add_loop_test(tc, in_the_background, 0, 5);
	tcase_add_test(tc, switched_off);
	tcase_add_test(tc, bounded_rate);
	tcase_add_loop_test(tc, lost_mads, 0, 3);
	tcase_add_loop_test(tc, changing_fabric, 0, 3);
	tcase_add_loop_test(tc, p_keys_of_our_own_port, 0, 2);
	tcase_add_test(tc, after_another_master);
	tcase_add_loop_test(tc, sl_to_vl, 0, 2);
	tcase_add_loop_test(tc, late_set, 0, 2);
	tcase_add_test(tc, even_pace);
	tcase_add_test(tc, longer_than_the_interval);
	tcase_add_test(tc, enforcement_of_a_host);
	tcase_add_loop_test(tc, port_info, 0,
	                    2 * (int)(sizeof(port_cases) / sizeof(port_cases[0])));
	tcase_add_loop_test(tc, suspicious_port, 0, 2);
	tcase_add_test(tc, suspicion_is_limited);
	suite_add_tcase(suite, tc);
}
