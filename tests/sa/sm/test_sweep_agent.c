/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Answers of the sweep to other SMs, and handover between them. Longer than most: all cases
 * share one scripted peer on the virtual clock, and the order of its messages.
 */
#include <errno.h>

#include "sa/sm/discover/keyring.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

static struct sweep_fixture *fixture;
static struct tap tap;

static void setup(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
}

static void teardown(void)
{
	fixture_free(fixture);
}

static void up(void)
{
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "%s",
	              sweep_status(fixture->sweep)->not_ready);
}

/* SMInfo (IBA vol. 1, table 161): GUID, SM_Key, ActCount, Priority and SMState, by hand.
 */
START_TEST(sm_info)
{
	uint8_t mgmt_class =
		_i ? UMAD_CLASS_SUBN_LID_ROUTED : UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	uint8_t guid[8];

	fixture->config.sm_priority = 5;
	up();
	tap.n_out = 0;
	tap.in[4] = 0;
	field_set(tap.in, MAD_TID, 0x0102030405060708);
	tap_bring(&tap, fixture, mgmt_class, UMAD_METHOD_GET, UMAD_SM_ATTR_SM_INFO,
	          MAD_BYTES);
	ck_assert_uint_eq(tap.n_out, 1);
	ck_assert_uint_eq(tap.out[1], mgmt_class);
	ck_assert_uint_eq(tap.out[3], 0x81);
	ck_assert_uint_eq(tap.out[4], _i ? 0 : 0x80);
	ck_assert_uint_eq(tap.out[5], 0);
	ck_assert_uint_eq(tap.out[15], 8);
	field_set(guid, 0, 64, sim_transport(fixture->sim)->local.port_guid);
	ck_assert_mem_eq(tap.out + 64, guid, 8);
	ck_assert_uint_gt(field_get(tap.out + 64, SMI_ACT_COUNT), 100);
	ck_assert_uint_eq(tap.out[64 + 20], 5 << 4 | 3);
	ck_assert_uint_eq(tap.out_msg.addr.directed, !_i);
	ck_assert_uint_eq(tap.out_msg.addr.lid, _i ? 77 : 0xffff);
}
END_TEST

/* Brings a Set(SMInfo) that came over a directed route from a node. \return Its status. */
static uint16_t control_from(uint32_t node, uint32_t mod, uint64_t guid, uint8_t state,
                             uint64_t key)
{
	memset(tap.in, 0, sizeof(tap.in));
	tap_comes_from(&tap, fixture, node);
	field_set(tap.in, MAD_ATTR_MOD, mod);
	field_set(tap.in + 64, SMI_GUID, guid);
	field_set(tap.in + 64, SMI_SM_KEY, key);
	field_set(tap.in + 64, SMI_PRIORITY, 1);
	field_set(tap.in + 64, SMI_SM_STATE, state);
	tap.n_out = 0;
	tap_bring(&tap, fixture, UMAD_CLASS_SUBN_DIRECTED_ROUTE, UMAD_METHOD_SET,
	          UMAD_SM_ATTR_SM_INFO, MAD_BYTES);
	ck_assert_uint_eq(tap.n_out, 1);
	return (uint16_t)field_get(tap.out, MAD_STATUS) & 0x7fff;
}

/* The same from the node on which the other SM runs. */
static uint16_t control(uint32_t mod, uint64_t guid, uint8_t state, uint64_t key)
{
	return control_from(graph_node_by_guid(fixture->g, tap.other_guid), mod, guid,
	                    state, key);
}

/* Another SM runs on the last host. */
static void other(uint8_t priority, uint8_t state)
{
	tap.other_guid = fixture->g->nodes[fixture->g->n_nodes - 1].guid;
	if (fixture->g->nodes[fixture->g->n_nodes - 1].type == NODE_SWITCH) {
		tap.other_guid = fixture->g->nodes[0].guid;
	}
	tap.other_priority = priority;
	tap.other_state = state;
	fixture->config.sm_trust = SM_TRUST_ANY;
}

static uint64_t other_sm_guid(void)
{
	return tap.other_sm_guid ? tap.other_sm_guid : tap.other_guid + 1;
}

/* A secret SM_Key is shown to who knows it, who knows the key of our port, which follows from the M_Key,
 * or whose port somebody named; without an M_Key and with sm_trust any to all. The M_Key is never in an
 * answer. */
START_TEST(sm_key_shown)
{
	enum { OWN = 1 }; /* the key of our port */
	static const struct {
		uint64_t sm_key, m_key, asked_with, asked_with_sm_key, shown;
		bool named, any;
	} rows[] = {
		{ 1, 0, 0, 0, 1, false, false },     { 77, 0, 0, 0, 0, false, false },
		{ 77, 0, 0, 0, 77, false, true },    { 77, 0, 0, 0, 77, true, false },
		{ 77, 0, 0, 77, 77, false, false },  { 77, 11, 0, 0, 0, false, false },
		{ 77, 11, 11, 0, 0, false, false },  { 77, 11, OWN, 0, 77, false, false },
		{ 77, 11, 0, 77, 77, false, false }, { 77, 11, 0, 78, 0, false, false },
		{ 77, 11, 0, 0, 77, true, false },   { 77, 11, 0, 0, 0, false, true },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct keyring k = { 0 };
		uint64_t us = sim_transport(fixture->sim)->local.port_guid;
		uint64_t own;

		other(0, 0);
		fixture->config.sm_trust = rows[i].any ? SM_TRUST_ANY : SM_TRUST_ANNOUNCED;
		fixture->config.allowed_sm_guids =
			(struct option_guids){ { other_sm_guid() }, rows[i].named };
		fixture->config.sm_key = rows[i].sm_key;
		fixture->config.m_key = rows[i].m_key;
		ck_assert_int_eq(keyring_configure(&k, rows[i].m_key, 0,
		                                   fixture->config.m_key_per_port),
		                 E_OK);
		own = keyring_wanted(&k, us);
		up();
		memset(tap.in, 0, sizeof(tap.in));
		tap_comes_from(&tap, fixture,
		               graph_node_by_guid(fixture->g, tap.other_guid));
		field_set(tap.in, SMP_M_KEY,
		          rows[i].asked_with == OWN ? own : rows[i].asked_with);
		field_set(tap.in + 64, SMI_SM_KEY, rows[i].asked_with_sm_key);
		tap_bring(&tap, fixture, UMAD_CLASS_SUBN_DIRECTED_ROUTE, UMAD_METHOD_GET,
		          UMAD_SM_ATTR_SM_INFO, MAD_BYTES);
		ck_assert_msg(field_get(tap.out + 64, SMI_SM_KEY) == rows[i].shown,
		              "row %u", i);
		ck_assert_uint_eq(field_get(tap.out, SMP_M_KEY), 0);
		fixture_stop(fixture);
		keyring_done(&k);
	}
}
END_TEST

/* A master takes HANDOVER of a second master, and nothing else. No Set makes it standby. */
START_TEST(sm_info_set)
{
	other(0, 0);
	up();
	for (uint32_t mod = 0; mod < 8; mod++) {
		for (uint8_t state = 0; state < 4; state++) {
			ck_assert_uint_eq(control(mod, other_sm_guid(), state, 1),
			                  mod == 1 && state == 3 ? 0 : 0x1c);
			ck_assert_uint_eq(control(mod, other_sm_guid(), state, 2), 0x1c);
			ck_assert_uint_eq(control(mod, 42, state, 1), 0x1c);
		}
	}
	ck_assert(sweep_status(fixture->sweep)->master);
	fixture_heavy(fixture, 2);
	fixture_up(fixture);
}
END_TEST

/* The other part comes with the LIDs that its master gave. They stay if that master was announced. */
START_TEST(keeps_lids_of_the_other_part)
{
	enum { OTHER_LID = 61 };
	uint32_t host = fixture_host(fixture, 3);
	uint64_t node = fixture_host_guid(fixture, 3);

	other(0, 0);
	fixture->config.sm_trust = _i == 0 ? SM_TRUST_ANNOUNCED : SM_TRUST_ANY;
	up();
	uint32_t own = sim_peek_lid(fixture->sim, host);
	ck_assert_uint_ne(own, OTHER_LID);
	ck_assert_int_eq(
		sim_set_lid(fixture->sim, node, fixture_host_num(fixture, 3), OTHER_LID),
		E_OK);
	ck_assert_uint_eq(control(1, other_sm_guid(), 3, 1), 0);
	fixture_heavy(fixture, 2);
	fixture_up(fixture);
	ck_assert_uint_eq(sim_peek_lid(fixture->sim, host), _i == 0 ? own : OTHER_LID);
}
END_TEST

/* A trap as a node would send it: set what differs before send_trap() is called. */
static struct trap {
	unsigned number;
	uint32_t issuer, sender, about; /* LIDs */
	uint32_t mask;
	uint8_t port;
	bool other;
} told;

static void send_trap(void)
{
	memset(tap.in, 0, sizeof(tap.in));
	field_set(tap.in, MAD_STATUS, 0x1c); /* reserved in a trap */
	field_set(tap.in + 64, NTC_IS_GENERIC, 1);
	field_set(tap.in + 64, NTC_TRAP_NUMBER, told.number);
	field_set(tap.in + 64, NTC_ISSUER_LID, told.issuer);
	if (told.number == 128) {
		field_set(tap.in + 64, NTC_128_LID, told.about);
	} else {
		field_set(tap.in + 64, NTC_144_LID, told.about);
		field_set(tap.in + 64, NTC_144_CAPABILITY_MASK, told.mask);
		field_set(tap.in + 64, NTC_144_OTHER_CHANGES, told.other);
	}
	if (told.number >= 129 && told.number <= 131) {
		field_set(tap.in + 64, NTC_129_PORT, told.port);
	} else if (told.number == UMAD_SM_BAD_SWITCH_PKEY_TRAP) {
		field_set(tap.in + 64, NTC_259_PORT, told.port);
	}
	tap_bring_from(&tap, fixture, told.sender, UMAD_CLASS_SUBN_LID_ROUTED,
	               UMAD_METHOD_TRAP, UMAD_ATTR_NOTICE);
}

/* An honest trap of a LID about itself. */
static void trap(unsigned number, uint32_t lid)
{
	told = (struct trap){
		.number = number, .issuer = lid, .sender = lid, .about = lid
	};
	send_trap();
}

static uint32_t lid_of(uint32_t port)
{
	return (uint32_t)fixture_peek(fixture, port, PI_LID);
}

static uint32_t switch_lid(uint32_t sw)
{
	return lid_of(fixture->g->nodes[fixture->g->switches[sw]].first_port);
}

/* The LID of a host that is not ours. */
static uint32_t host_port(void)
{
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t port = fixture->g->end_ports[i];

		if (fixture->g->ports[port].num != 0 && port != fixture->g->sm_port) {
			return port;
		}
	}
	return GRAPH_NONE;
}

/* The first cable between switches, from its lower end. */
static const struct port *switch_cable(void)
{
	const struct graph *g = fixture->g;

	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];

		if (p->peer != GRAPH_NONE && g->nodes[p->node].type == NODE_SWITCH &&
		    g->nodes[g->ports[p->peer].node].type == NODE_SWITCH) {
			return p;
		}
	}
	ck_abort_msg("no cable between switches");
	return NULL;
}

static void set_cable(const struct port *p, bool up)
{
	ck_assert_int_eq(
		sim_set_link(fixture->sim, fixture->g->nodes[p->node].guid, p->num, up),
		E_OK);
}

/* A port has another PortInfo than the subnet manager has read. */
static uint32_t changed_lid, changed_bits;

static void change_mask(uint8_t *mad)
{
	uint8_t *data = mad + SMP_DATA_AT;

	if (field_get(mad, MAD_METHOD) == UMAD_METHOD_GET_RESP &&
	    field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_PORT_INFO &&
	    field_get(data, PI_LID) == changed_lid) {
		field_set(data, PI_CAPABILITY_MASK,
		          field_get(data, PI_CAPABILITY_MASK) ^ changed_bits);
	}
}

/* Every trap is repressed. A sweep follows if something changed and sweep_on_trap is on. */
/* clang-format off */
static const struct {
	unsigned number;
	bool sweep_on_trap, changes, sweeps;
} traps[] = {
	{ 128, true,  true,  true },
	{ 128, true,  false, false },
	{ 128, false, true,  false },
	{ 144, true,  true,  true },
	{ 144, true,  false, false },
	{ 144, false, true,  false },
	{ 129, true,  true,  false },
	{ 257, true,  true,  false },
};
/* clang-format on */

/* A port that met a wrong M_Key (trap 256) hears the right one, so that its lease does not run
 * out. Without a lease nothing does. */
START_TEST(lease_kept)
{
	uint32_t port;
	size_t at;

	fixture->config.m_key = 11;
	fixture->config.m_key_lease_period = _i == 0 ? 0 : 60;
	fixture->config.sweep_interval = 0;
	up();
	port = fixture->g->end_ports[fixture->g->n_end_ports - 1];
	tap_record(&tap, fixture);
	trap(UMAD_SM_BAD_MKEY_TRAP, lid_of(port));
	fixture_run_ms(fixture, 10000);
	at = tap_find(&tap, 0, TAP_SENT, UMAD_METHOD_GET, UMAD_SM_ATTR_PORT_INFO);
	if (_i == 0) {
		ck_assert_uint_eq(at, tap.n_events);
	} else {
		ck_assert_uint_lt(at, tap.n_events);
		ck_assert_uint_eq(tap.event[at].node, fixture->g->ports[port].node);
	}
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1);
	tap_record_done(&tap);
}
END_TEST

START_TEST(repressed)
{
	uint32_t lid;

	fixture->config.sweep_on_trap = traps[_i].sweep_on_trap;
	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 3000);
	lid = traps[_i].number == 128 ? switch_lid(0) : lid_of(host_port());
	if (traps[_i].changes && traps[_i].number == 128) {
		set_cable(switch_cable(), false);
	} else if (traps[_i].changes && traps[_i].number == 144) {
		changed_lid = lid;
		changed_bits = 1 << 19;
		tap.in_filter = change_mask;
	}
	tap.n_out = 0;
	trap(traps[_i].number, lid);
	ck_assert_uint_ge(tap.n_out, 1);
	ck_assert_uint_eq(tap.out[3], UMAD_METHOD_TRAP_REPRESS);
	ck_assert_uint_eq(field_get(tap.out, MAD_STATUS), 0);
	ck_assert_uint_eq(tap.out_msg.addr.lid, lid);
	ck_assert_uint_eq(field_get(tap.out + 64, NTC_TRAP_NUMBER), traps[_i].number);
	fixture_run_ms(fixture, 3000);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1u + traps[_i].sweeps);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->forged_traps, 0);
}
END_TEST

static void run_to_standby(void);

/* A standby does not repress a trap that came to it because the port does not know the new master yet: the
 * port says it again, to that one. */
START_TEST(trap_to_a_standby)
{
	up(); /* so that all have LIDs */
	fixture_stop(fixture);
	other(0, 3);
	fixture_start(fixture);
	run_to_standby();
	tap.n_out = 0;
	trap(144, lid_of(host_port()));
	ck_assert_uint_eq(tap.n_out, 0);
	fixture_run_ms(fixture, 3000);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
}
END_TEST

/* Wrong P_Keys and Q_Keys are counted; a port that goes on is told at the 1st, 10th, 100th, by
 * each of those who tell of it. */
START_TEST(wrong_keys)
{
	uint32_t host, sw;
	uint64_t rows;

	fixture->with_stats = true;
	up();
	host = lid_of(host_port());
	sw = switch_lid(0);
	rows = stats_event_next(fixture->stats);
	for (unsigned i = 0; i < 120; i++) {
		memset(tap.in, 0, sizeof(tap.in));
		field_set(tap.in + 64, NTC_IS_GENERIC, 1);
		field_set(tap.in + 64, NTC_PRODUCER_TYPE, i % 2 ? 2 : 1);
		field_set(tap.in + 64, NTC_TRAP_NUMBER, i % 2 ? 259 : 257);
		field_set(tap.in + 64, NTC_ISSUER_LID, i % 2 ? sw : host);
		field_set(tap.in + 64, NTC_257_LID_1, 5);
		field_set(tap.in + 64, NTC_257_LID_2, host);
		field_set(tap.in + 64, NTC_257_KEY, i % 2 ? UINT64_C(0x80200000) : 0x8020);
		tap_bring_from(&tap, fixture, i % 2 ? sw : host, UMAD_CLASS_SUBN_LID_ROUTED,
		               UMAD_METHOD_TRAP, UMAD_ATTR_NOTICE);
	}
	ck_assert_uint_eq(sweep_status(fixture->sweep)->p_key_violations, 120);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->q_key_violations, 0);
	trap(258, host);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->q_key_violations, 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->p_key_violations, 120);
	ck_assert_uint_eq(stats_event_next(fixture->stats), rows + 4);
}
END_TEST

/* A host that is not cabled to the first switch. */
static uint32_t far_host(void)
{
	const struct graph *g = fixture->g;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		const struct port *p = &g->ports[g->end_ports[i]];

		if (p->num != 0 && g->ports[p->peer].node != g->switches[0]) {
			return g->end_ports[i];
		}
	}
	return GRAPH_NONE;
}

/* Traps that contradict the fabric. */
enum { NOBODY = 999 };

static struct trap forged_trap(int kind)
{
	uint32_t sw = switch_lid(0), other = switch_lid(1), host = lid_of(host_port());

	switch (kind) {
	case 0: return (struct trap){ 128, NOBODY, NOBODY, NOBODY, 0, 0, false };
	case 1: return (struct trap){ 128, NOBODY, host, NOBODY, 0, 0, false };
	case 2: return (struct trap){ 128, sw, host, sw, 0, 0, false };
	case 3: return (struct trap){ 128, host, host, host, 0, 0, false };
	case 4: return (struct trap){ 128, sw, sw, other, 0, 0, false };
	case 5: return (struct trap){ 144, host, host, sw, 0, 0, true };
	case 6: return (struct trap){ 144, sw, host, sw, 0, 0, true };
	case 7: return (struct trap){ 129, host, host, host, 0, 77, false };
	case 8: return (struct trap){ 64, host, host, host, 0, 0, false };
	case 9: return (struct trap){ 257, sw, host, sw, 0, 0, false };
	case 10: return (struct trap){ 257, host, host, sw, 0, 0, false };
	case 11: return (struct trap){ 258, host, host, other, 0, 0, false };
	case 12: return (struct trap){ 259, host, host, host, 0, 0, false };
	case 13: return (struct trap){ 259, sw, sw, lid_of(far_host()), 0, 0, false };
	case 14: return (struct trap){ 259, sw, sw, host, 0, 77, false };
	case 15: return (struct trap){ VPORT_TRAP_CHANGES, sw, sw, sw, 0, 0, false };
	case 16: return (struct trap){ VPORT_TRAP_CHANGES, host, host, sw, 0, 0, false };
	default: return (struct trap){ 128, 0, 0, 0, 0, 0, false };
	}
}

enum { FORGED_KINDS = 18 };

/* Forged traps, 10 each second, have no effect but an answer and a count, also while
 * PortStateChange is set on the switches. */
START_TEST(forged)
{
	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 1000);
	uint64_t smps = sweep_status(fixture->sweep)->smps_sent;
	tap.n_out = 0;
	for (unsigned i = 0; i < 100; i++) {
		told = forged_trap(_i);
		send_trap();
		fixture_run_ms(fixture, 100);
	}
	ck_assert_uint_eq(tap.n_out, 100);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->smps_sent, smps);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->forged_traps, 100);
}
END_TEST

/* Traps come by LID; one over a directed route is none of a port. */
START_TEST(trap_over_directed_route)
{
	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 1000);
	fixture_log(fixture);
	memset(tap.in, 0, sizeof(tap.in));
	tap_comes_from(&tap, fixture, fixture->g->ports[host_port()].node);
	field_set(tap.in + 64, NTC_IS_GENERIC, 1);
	field_set(tap.in + 64, NTC_TRAP_NUMBER, 144);
	field_set(tap.in + 64, NTC_ISSUER_LID, lid_of(host_port()));
	field_set(tap.in + 64, NTC_144_LID, lid_of(host_port()));
	tap_bring(&tap, fixture, UMAD_CLASS_SUBN_DIRECTED_ROUTE, UMAD_METHOD_TRAP,
	          UMAD_ATTR_NOTICE, MAD_BYTES);
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->forged_traps, 1);
	ck_assert_uint_eq(fixture_logged(fixture, "it came over a directed route"), 1);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
}
END_TEST

/* How often a sender may have been looked at since: it waits longer and longer, up to 5 s. */
static uint64_t looks_since(uint64_t start_ms)
{
	return 9 + (fixture_now(fixture) - start_ms) / 5000;
}

/* An honest sender that says so again and again costs an SMP or two now and then, and once a look
 * at all ports of a switch. */
START_TEST(insisting)
{
	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 1000);
	trap(128, switch_lid(0)); /* clears PortStateChange */
	fixture_run_ms(fixture, 10000);
	uint64_t smps = sweep_status(fixture->sweep)->smps_sent;
	uint64_t start = fixture_now(fixture);
	uint32_t lid = _i == 0 ? switch_lid(0) : lid_of(host_port());
	for (unsigned i = 0; i < 1000; i++) {
		trap(_i == 0 ? 128 : 144, lid);
		fixture_run_ms(fixture, 10);
	}
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->smps_sent, smps + 1);
	ck_assert_uint_le(sweep_status(fixture->sweep)->smps_sent,
	                  smps + 2 * looks_since(start) +
	                          (_i == 0 ? 2 * (fixture->g->max_port + 1U) : 0));
}
END_TEST

/* A cable that goes out and in 150 times: few sweeps, and the last one sees it as it is.
 * Both ends tell of it. */
START_TEST(flapping)
{
	const struct port *p = switch_cable();

	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 1000);
	uint64_t start = fixture_now(fixture);
	for (unsigned i = 0; i < 150; i++) {
		set_cable(p, i % 2 != 0);
		fixture_run_ms(fixture, 50);
	}
	set_cable(p, _i != 0);
	fixture_run_ms(fixture, 20000);
	ck_assert_uint_ge(fixture_sweeps(fixture), 3);
	ck_assert_uint_le(fixture_sweeps(fixture), 1 + 2 * looks_since(start));
	ck_assert_uint_eq(
		fixture_peek(fixture, (uint32_t)(p - fixture->g->ports), PI_PORT_STATE),
		_i ? PORT_ACTIVE : PORT_DOWN);
	ck_assert(sweep_status(fixture->sweep)->up);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->forged_traps, 0);
}
END_TEST

/* One cable, two traps, one sweep. */
START_TEST(both_ends)
{
	const struct port *p = switch_cable();

	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 1000);
	trap(128, switch_lid(0)); /* clears PortStateChange of one end only */
	fixture_run_ms(fixture, 10000);
	for (unsigned i = 0; i < 2; i++) {
		set_cable(p, i != 0);
		fixture_run_ms(fixture, 10000);
		ck_assert_uint_eq(fixture_sweeps(fixture), 2 + i);
	}
}
END_TEST

enum { IS_SM = 1 << 1, OTHER_BIT = 1 << 19 };

static uint32_t mask_published(void)
{
	const struct port *p = &fixture->g->ports[fixture->g->sm_port];
	struct snap_reader *r;
	const uint8_t *info;
	uint16_t len;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_int_eq(snap_attr(r, UMAD_SM_ATTR_PORT_INFO, fixture->g->nodes[p->node].guid,
	                           p->num, &info, &len),
	                 E_OK);
	uint32_t mask = (uint32_t)field_get(info, PI_CAPABILITY_MASK);
	snap_reader_close(r);
	return mask;
}

/* Our own IsSM bit is no reason to sweep; what else changed on our port is. */
/* clang-format off */
static const struct {
	uint32_t flips; /* bits of the CapabilityMask that changed */
	bool sweeps;
} own_traps[] = {
	{ 0,                 false },
	{ IS_SM,             false },
	{ OTHER_BIT,         true },
	{ IS_SM | OTHER_BIT, true },
};
/* clang-format on */

START_TEST(own_capabilities)
{
	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 3000);
	uint32_t sm_lid = lid_of(fixture->g->sm_port), mask = mask_published();

	changed_lid = sm_lid;
	changed_bits = own_traps[_i].flips;
	tap.in_filter = change_mask;
	trap(144, sm_lid);
	fixture_run_ms(fixture, 3000);
	ck_assert_uint_eq(tap.out[3], UMAD_METHOD_TRAP_REPRESS);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1u + own_traps[_i].sweeps);
	ck_assert_uint_eq(mask_published(), mask ^ own_traps[_i].flips);
}
END_TEST

/* A port that shows the bit late: it is published when the trap tells. */
START_TEST(own_is_sm_late)
{
	fixture->config.sweep_interval = 0;
	fixture_start(fixture);
	ck_assert_int_eq(fixture->transport->ops->set_issm(fixture->transport, false), E_OK);
	fixture_heavy(fixture, 1);
	ck_assert_uint_eq(mask_published() & IS_SM, 0);
	ck_assert_int_eq(fixture->transport->ops->set_issm(fixture->transport, true),
	                 E_OK);
	trap(144, lid_of(fixture->g->sm_port));
	fixture_run_ms(fixture, 3000);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	ck_assert_uint_eq(mask_published() & IS_SM, IS_SM);
}
END_TEST

/* The device does not let us set the IsSM bit, so others may not find us: the log says
 * so, and the fabric is served all the same. */
START_TEST(no_issm)
{
	tap.set_issm_ret = -EPERM;
	fixture_log(fixture);
	up();
	ck_assert_uint_eq(fixture_logged(fixture, "SAG-SM-001"), 1);
}
END_TEST

/* The device is gone: the status says so, and the program that runs the sweep ends. */
START_TEST(transport_gone)
{
	up();
	tap.recv_ret = -ENODEV;
	ck_assert_int_eq(sweep_run_once(fixture->sweep), -EIO);
	ck_assert(!sweep_status(fixture->sweep)->up);
	ck_assert_ptr_nonnull(
		strstr(sweep_status(fixture->sweep)->not_ready, " is gone: "));
	tap.recv_ret = E_OK;
}
END_TEST

/* A trap comes while the first sweep is on its way, from a LID of the life before, or from
 * one that nobody has. */
START_TEST(early)
{
	fixture->config.sweep_interval = 0;
	up();
	uint32_t lid = _i ? NOBODY : lid_of(fixture->g->sm_port);
	fixture_stop(fixture);
	fixture_start(fixture);
	trap(144, lid);
	ck_assert_uint_eq(fixture_sweeps(fixture), 0);
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
}
END_TEST

/* Traps of very many LIDs before the first sweep has ended make one more sweep. */
START_TEST(early_flood)
{
	fixture->config.sweep_interval = 0;
	fixture_start(fixture);
	for (unsigned i = 0; i < 100; i++) {
		trap(128, 1000 + i);
	}
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(fixture_sweeps(fixture), 2);
}
END_TEST

/* A burst makes one sweep, not many. */
START_TEST(burst)
{
	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 1000);
	tap.n_out = 0;
	set_cable(switch_cable(), false);
	for (unsigned i = 0; i < 50; i++) {
		trap(128, switch_lid(i % 2));
	}
	fixture_run_ms(fixture, 3000);
	ck_assert_uint_ge(tap.n_out, 50);
	ck_assert_uint_eq(fixture_sweeps(fixture), 2);
}
END_TEST

/* --- what the log says ---------------------------------------------------------------- */

/* "SUBNET UP" is said when something changed, and each change once with both its ends. */
START_TEST(log_of_changes)
{
	const struct port *p = switch_cable(), *far = &fixture->g->ports[p->peer];
	const struct port *host = &fixture->g->ports[host_port()];
	const struct node *nodes = fixture->g->nodes;
	char text[300];

	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 5000);
	fixture_log(fixture);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(fixture_logged(fixture, "SUBNET UP"), 0);
	ck_assert_uint_eq(fixture_logged(fixture, "nothing changed"), 1);
	for (unsigned i = 0; i < 2; i++) {
		fixture_log(fixture);
		set_cable(p, i != 0);
		fixture_run_ms(fixture, 10000);
		ck_assert_uint_eq(fixture_logged(fixture, "SUBNET UP"), 1);
		snprintf(text, sizeof(text), "cable %s: '%s' port %u - '%s' port %u",
		         i ? "connected" : "lost", nodes[p->node].description, p->num,
		         nodes[far->node].description, far->num);
		ck_assert_uint_eq(fixture_logged(fixture, "cable "), 1);
		if (p < far && fixture_logged(fixture, text) ==
		                       0) { /* the graph may number them otherwise */
			snprintf(text, sizeof(text), "'%s' port %u",
			         nodes[far->node].description, far->num);
		}
		ck_assert_uint_eq(fixture_logged(fixture, text), 1);
	}
	for (unsigned i = 0; i < 2; i++) {
		fixture_log(fixture);
		ck_assert_int_eq(
			sim_set_node(fixture->sim, nodes[host->node].guid, i != 0), E_OK);
		fixture_run_ms(fixture, 10000);
		snprintf(text, sizeof(text), "'%s' is %s", nodes[host->node].description,
		         i ? "new" : "gone");
		ck_assert_uint_eq(fixture_logged(fixture, text), 1);
		ck_assert_uint_eq(fixture_logged(fixture, "cable "), 0);
	}
}
END_TEST

/* Many changes at once: 20 lines, and how many more there are. */
START_TEST(log_of_many_changes)
{
	const struct graph *g;
	char text[60];
	unsigned n = 0;

	teardown();
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 8 4 4", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.sweep_interval = 0;
	g = fixture->g;
	up();
	fixture_run_ms(fixture, 5000);
	fixture_log(fixture);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (g->nodes[i].type != NODE_SWITCH && i != g->ports[g->sm_port].node) {
			sim_set_node(fixture->sim, g->nodes[i].guid, false);
			n++;
		}
	}
	fixture_run_ms(fixture, 20000);
	ck_assert_uint_eq(fixture_logged(fixture, "is gone"), 20);
	ck_assert_uint_gt(n, 20);
	snprintf(text, sizeof(text), "and %u more changes", n - 20);
	ck_assert_uint_eq(fixture_logged(fixture, text), 1);
}
END_TEST

/* Repeated lines are limited, and the next one says how many were skipped. */
START_TEST(log_limited)
{
	uint64_t us;

	other(0, 0);
	us = other_sm_guid();
	up();
	fixture_log(fixture);
	for (unsigned i = 0; i < 13; i++) {
		ck_assert_uint_eq(control(1, us, 3, 2), 0x1c);
		trap(128, switch_lid(0));
	}
	ck_assert_uint_eq(fixture_logged(fixture, "SAG-SM-005: Set(SMInfo) of the SM"),
	                  10);
	ck_assert_uint_eq(fixture_logged(fixture, "trap 128 from LID"), 10);
	ck_assert_uint_eq(fixture_logged(fixture, "skipped"), 0);
	fixture_run_ms(fixture, 60000);
	ck_assert_uint_eq(control(1, us, 3, 2), 0x1c);
	trap(128, switch_lid(0));
	ck_assert_uint_eq(fixture_logged(fixture, "skipped"), 2);
	ck_assert_uint_eq(
		fixture_logged(fixture, "of a subnet; 3 more such lines were skipped"),
		1);
}
END_TEST

/* Any length and content from outside: nothing happens, nothing breaks. */
START_TEST(nonsense)
{
	uint64_t seed = 99;

	up();
	for (unsigned i = 0; i < 2000; i++) {
		for (unsigned k = 0; k < MAD_BYTES; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			tap.in[k] = (uint8_t)(seed >> 56);
		}
		static const uint8_t classes[] = { 0x81, 0x01, 0x03, 0x04 };
		tap_bring(&tap, fixture, classes[i % 4], tap.in[3], (uint16_t)(seed >> 30),
		          seed >> 40 & 1 ? MAD_BYTES : seed >> 41 & 0xff);
	}
	fixture_up(fixture);
}
END_TEST

/* Turns until it is standby. */
static void run_to_standby(void)
{
	for (unsigned i = 0; i < FIXTURE_TURNS && !sweep_status(fixture->sweep)->standby; i++) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert(!sweep_status(fixture->sweep)->master);
}

/* Another master was first, whatever its priority: nothing is touched, SMInfo says
 * standby; when it goes, we take over. */
START_TEST(another_master)
{
	other(0, 3);
	fixture->config.sm_priority = 15;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	const struct sweep_status *st = sweep_status(fixture->sweep);
	ck_assert(!st->up);
	ck_assert(!st->master);
	ck_assert(st->standby);
	ck_assert_ptr_nonnull(strstr(st->not_ready, "another SM is master: GUID 0x"));
	fixture_run_ms(fixture, 60000);
	ck_assert_uint_eq(tap.n_sets + tap.n_controls, 0);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	tap.n_out = 0;
	memset(tap.in, 0, sizeof(tap.in));
	tap_bring(&tap, fixture, UMAD_CLASS_SUBN_LID_ROUTED, UMAD_METHOD_GET,
	          UMAD_SM_ATTR_SM_INFO, MAD_BYTES);
	ck_assert_uint_eq(tap.out[64 + 20] & 0xf, 2);
	tap.other_silent = _i == 0;
	tap.other_left = _i == 1;
	tap.other_state = _i == 2 ? 2 : 3;
	sim_set_deaf(fixture->sim, tap.other_guid, _i == 3);
	uint64_t began = fixture_now(fixture);
	for (unsigned i = 0; i < FIXTURE_TURNS && st->standby; i++) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		st = sweep_status(fixture->sweep);
	}
	/* the last good poll was 300 ms ago at most; without the IsSM bit one poll and its
	 * timeout are enough */
	uint64_t took = fixture_now(fixture) - began;
	ck_assert_uint_le(took, (_i == 1 ? 300 + 200 : 4 * 300) + 10);
	ck_assert_uint_ge(took, _i == 0 || _i == 3 ? 3 * 300 - 200 - 10 : 0);
	fixture_run_ms(fixture, 5000);
	sim_set_deaf(fixture->sim, tap.other_guid, false);
	ck_assert(sweep_status(fixture->sweep)->master);
	fixture_up(fixture);
	ck_assert(sweep_status(fixture->sweep)->master);
}
END_TEST

/* A standby that is higher than the master tells it by trap 144, not more than every 10 s. */
START_TEST(priority_told)
{
	fixture->config.sm_priority = 10;
	up(); /* so that all have LIDs */
	fixture_stop(fixture);
	other(_i ? 15 : 0, 3);
	fixture_start(fixture);
	run_to_standby();
	fixture_run_ms(fixture, 60000);
	ck_assert_uint_eq(tap.n_traps, _i ? 0 : 6);
}
END_TEST

/* Before we are master a higher SM that is standby or discovering comes first. If it does not
 * become master, we do, and offer it the fabric; if it does not take it, it stays ours. */
START_TEST(other_standby)
{
	other(15, (uint8_t)(1 + _i % 2));
	tap.other_handover = (unsigned)_i / 2;
	fixture_start(fixture);
	run_to_standby();
	ck_assert_uint_eq(tap.n_sets, 0);
	tap.other_state = 2;
	fixture_run_ms(fixture, 50000);
	ck_assert_uint_eq(tap.n_controls, tap.other_handover == TAP_IGNORES ? 4 : 1);
	for (unsigned i = 0; i < tap.n_controls; i++) {
		ck_assert_uint_eq(tap.control[i], 1);
	}
	ck_assert_uint_eq(sweep_status(fixture->sweep)->master,
	                  tap.other_handover != TAP_TAKES);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->standby,
	                  tap.other_handover == TAP_TAKES);
}
END_TEST

/* A higher SM that did not take the fabric is left alone for a while, but not if it is master after all. */
START_TEST(master_after_all)
{
	other(15, 2);
	tap.other_handover = TAP_IGNORES;
	fixture_start(fixture);
	run_to_standby();
	fixture_run_ms(fixture, 20000);
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_eq(tap.n_controls, 4);
	tap.other_state = 3;
	tap.other_handover = TAP_TAKES;
	fixture_run_ms(fixture, 12000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(tap.n_controls, 5);
	/* nor if it was master, is not any more, and is master once again */
	tap.other_state = 2;
	tap.other_handover = TAP_IGNORES;
	fixture_run_ms(fixture, 20000);
	ck_assert(sweep_status(fixture->sweep)->master);
	tap.other_state = 3;
	tap.other_handover = TAP_TAKES;
	fixture_run_ms(fixture, 12000);
	ck_assert(sweep_status(fixture->sweep)->standby);
}
END_TEST

/* One that did not take the fabric is master later, and refuses it at first. It gets it again soon. */
START_TEST(master_refuses_first)
{
	other(15, 2);
	tap.other_handover = TAP_IGNORES;
	fixture_start(fixture);
	run_to_standby();
	fixture_run_ms(fixture, 20000);
	ck_assert_uint_eq(tap.n_controls, 4);
	tap.other_state = 3;
	tap.other_handover = TAP_REFUSES;
	while (tap.n_controls == 4) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	tap.other_handover = TAP_TAKES;
	fixture_run_ms(fixture, 2500);
	ck_assert(sweep_status(fixture->sweep)->standby);
}
END_TEST

static bool loses_sm_info(const uint8_t *mad)
{
	return field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SM_INFO;
}

/* An SM that is stopped does not answer. The adapter that it runs on does, so its tables are read as those of
 * others. */
START_TEST(other_stopped)
{
	bool read = false;

	other(0, 3);
	tap.loses = loses_sm_info;
	fixture->config.sweep_interval = 0;
	fixture_start(fixture);
	tap_record(&tap, fixture);
	fixture_up(fixture);
	for (size_t i = 0; i < tap.n_events; i++) {
		const struct tap_event *e = &tap.event[i];

		read |= e->kind == TAP_ANSWERED && e->attr == UMAD_SM_ATTR_PKEY_TABLE &&
		        e->node == graph_node_by_guid(fixture->g, tap.other_guid);
	}
	ck_assert(read);
	tap_record_done(&tap);
}
END_TEST

/* SMs that are lower or not active are none of our business. Nor is one, master or not, that is
 * not to be believed: with another SM_Key, with the GUID of another port than that on which it
 * runs, on a port that is not in allowed_sm_guids. */
enum { NOT_BELIEVED = 2 };

START_TEST(others_ignored)
{
	bool master = _i >= NOT_BELIEVED + 3;
	unsigned wrong = _i < NOT_BELIEVED ? 3 : (unsigned)(_i - NOT_BELIEVED) % 3;

	fixture->config.sm_priority = 5;
	other(_i == 0 ? 0 : 15, _i == 1 ? 0 : master ? 3 : 2);
	tap.other_key = wrong == 0 ? 99 : 1;
	tap.other_lies = wrong == 1;
	tap.other_sm_guid = wrong == 1 ? tap.other_guid + 77 : 0;
	if (wrong == 2) {
		fixture->config.allowed_sm_guids =
			(struct option_guids){ { tap.other_guid + 2, 42 }, 2 };
	}
	up();
	fixture_run_ms(fixture, 60000);
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	ck_assert_uint_eq(tap.n_controls, 0);
}
END_TEST

/* Another master of this priority, and of equal priority with a lower or higher GUID. */
static const struct {
	uint8_t priority;
	int guid; /* -1: below ours, 1: above */
	bool we_stay;
} masters[] = {
	{ 3, 1, true },   { 3, -1, true }, { 9, 1, false },
	{ 9, -1, false }, { 5, 1, true },  { 5, -1, false },
};

static void other_master(unsigned i, uint8_t state)
{
	fixture->config.sm_priority = 5;
	other(masters[i].priority, state);
	tap.other_sm_guid =
		fixture->g->ports[fixture->g->sm_port].guid + (uint64_t)masters[i].guid;
}

static void check_master(unsigned i)
{
	ck_assert_uint_eq(sweep_status(fixture->sweep)->master, masters[i].we_stay);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->up, masters[i].we_stay);
	ck_assert_uint_eq(tap.n_controls, !masters[i].we_stay);
}

/* Two masters meet (two fabrics were joined): the lower one hands over. At equal priority it
 * is the one with the higher GUID, so exactly one of the two steps down. */
START_TEST(second_master)
{
	fixture->config.sm_priority = 5;
	up();
	other_master((unsigned)_i, 3);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	check_master((unsigned)_i);
}
END_TEST

/* Another SM becomes standby or master on a port that has the IsSM bit: a light sweep sees
 * it, without a heavy one, and hands over if it is higher. One that is DISCOVERING would lose a
 * HANDOVER, so it gets it when it is standby. */
START_TEST(appears)
{
	uint8_t state = 1 + (uint8_t)_i % 3;
	unsigned i = (unsigned)_i / 3;

	other_master(i, 0);
	up();
	tap.other_state = state;
	fixture_run_ms(fixture, 30000);
	if (state == 1) {
		ck_assert(sweep_status(fixture->sweep)->master);
		ck_assert_uint_eq(tap.n_controls, 0);
		tap.other_state = 2;
		fixture_run_ms(fixture, masters[i].we_stay ? 30000 : 1500);
	}
	check_master(i);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
}
END_TEST

/* An SM answers HANDOVER and loses it. It gets it again. */
START_TEST(handover_lost)
{
	other(9, 0);
	fixture->config.sm_priority = 5;
	tap.other_handover = TAP_FORGETS;
	up();
	tap.other_state = 2;
	fixture_run_ms(fixture, 12000);
	ck_assert_uint_eq(tap.n_controls, 2);
	ck_assert_uint_eq(tap.control[1], 1);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
}
END_TEST

/* Two halves are joined, and the higher master refuses HANDOVER because it has not found our port
 * yet. It gets it again soon: two masters must not last. One that always refuses gets it less
 * and less often. */
START_TEST(handover_refused)
{
	other(9, 0);
	fixture->config.sm_priority = 5;
	tap.other_handover = TAP_REFUSES;
	up();
	tap.other_state = 3;
	while (tap.n_controls == 0) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	if (_i == 0) {
		tap.other_handover = TAP_TAKES;
		fixture_run_ms(fixture, 2000);
		ck_assert_uint_eq(tap.n_controls, 2);
		ck_assert(sweep_status(fixture->sweep)->standby);
	} else {
		fixture_run_ms(fixture, 300000);
		ck_assert_uint_ge(tap.n_controls, 8);
		ck_assert_uint_le(tap.n_controls, 14);
		ck_assert(sweep_status(fixture->sweep)->master);
	}
}
END_TEST

/* Another SM was master beside us, and is none any more: it restarted, or is gone. It handed
 * nothing over, so nobody tells us to look, but it wrote to the fabric. One heavy sweep reads
 * what devices have. */
START_TEST(master_beside_us_ends)
{
	enum {
		STANDS_BY,
		STARTS,
		LEAVES,
		FALLS_SILENT,
		IS_CUT_OFF,
		REFUSED_US,
		HANDS_OVER,
		STAYS
	};
	bool ends = _i < STAYS;
	unsigned read, local;

	other(_i == REFUSED_US ? 9 : 0, 0);
	fixture->config.sm_priority = 5;
	fixture->config.audit_interval = 0;
	tap.other_handover = TAP_REFUSES;
	up();
	fixture_run_ms(fixture, 1000);
	tap.other_state = 3;
	fixture_run_ms(fixture, 12000); /* until a light sweep has seen it */
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	fixture_log(fixture);
	read = sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_LINEAR_FT);
	switch (_i) {
	case STANDS_BY:
	case REFUSED_US: tap.other_state = 2; break;
	case STARTS: tap.other_state = 1; break;
	case LEAVES: tap.other_left = true; break;
	case FALLS_SILENT: tap.other_silent = true; break;
	case IS_CUT_OFF:
		ck_assert_int_eq(sim_set_node(fixture->sim, tap.other_guid, false), E_OK);
		break;
	case HANDS_OVER:
		ck_assert_uint_eq(control(1, other_sm_guid(), 3, 1), 0);
		tap.other_state = 2;
		break;
	case STAYS: break;
	}
	fixture_run_ms(fixture, 30000);
	ck_assert(sweep_status(fixture->sweep)->master);
	local = sweep_status(fixture->sweep)->local_sweeps;
	ck_assert_uint_eq(local, _i == IS_CUT_OFF);
	ck_assert_uint_eq(fixture_sweeps(fixture) - local, 1 + ends);
	ck_assert_uint_eq(fixture_logged(fixture, "is no master any more"),
	                  ends && _i != HANDS_OVER);
	ck_assert_uint_eq(
		sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_LINEAR_FT) > read,
		ends);
}
END_TEST

/* Time passes, and the sweep does not run, as after SIGSTOP. */
static void freeze(uint64_t ms)
{
	uint64_t end = fixture_now(fixture) + ms;
	struct mad_msg m;

	while (fixture_now(fixture) < end) {
		(void)tap.inner->ops->recv(tap.inner, end, &m);
	}
}

/* A master that refused three times takes the fabric when its pause is over, although who is master
 * was asked for another reason meanwhile; and at once when it says by trap 144 that it is there. */
START_TEST(handover_taken_later)
{
	uint32_t lid;

	other(9, 0);
	fixture->config.sm_priority = 5;
	fixture->config.sweep_interval = 0; /* no light sweep sees it */
	tap.other_handover = TAP_REFUSES;
	up();
	fixture_run_ms(fixture, 1000);
	lid = lid_of(graph_port(fixture->g,
	                        graph_node_by_guid(fixture->g, tap.other_guid), 1));
	tap.other_state = 3;
	trap(144, lid);
	while (tap.n_controls < 3) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	fixture_run_ms(fixture, 100); /* until the answer */
	tap.other_handover = TAP_TAKES;
	if (_i == 0) {
		freeze(1500);
		fixture_run_ms(fixture, 1000);
		ck_assert_uint_eq(tap.n_controls, 3);
		fixture_run_ms(fixture, 2000);
	} else {
		fixture_run_ms(fixture, 1000);
		trap(144, lid);
		fixture_run_ms(fixture, 300);
	}
	ck_assert_uint_eq(tap.n_controls, 4);
	ck_assert(sweep_status(fixture->sweep)->standby);
}
END_TEST

/* Our switch was silent, so our sweeps were given up. It answers again, and another master hands over
 * from a port that is not known: we look at once, and not when the next sweep is due. */
START_TEST(handover_from_unknown)
{
	const struct graph *g = fixture->g;
	uint64_t next = g->nodes[g->ports[g->ports[g->sm_port].peer].node].guid;

	other(0, 0);
	fixture->config.sm_priority = 5;
	up();
	ck_assert_int_eq(sim_set_deaf(fixture->sim, next, true), E_OK);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 30000);
	ck_assert(!sweep_status(fixture->sweep)->up);
	ck_assert_int_eq(sim_set_deaf(fixture->sim, next, false), E_OK);
	ck_assert_uint_eq(control(1, other_sm_guid(), 3, 1), 0x1c);
	fixture_run_ms(fixture, 1000);
	ck_assert(sweep_status(fixture->sweep)->up);
}
END_TEST

/* Turns until tables are being sent by the first sweep. */
static void run_to_tables(void)
{
	fixture_start(fixture);
	while (strcmp(sweep_status(fixture->sweep)->phase, "tables") != 0 ||
	       sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT) < 3) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert(sweep_status(fixture->sweep)->master);
}

/* A master is stopped while it sends tables, and another one takes its place. When it goes on, it
 * asks before it writes anything more: nothing if the other one is higher. */
START_TEST(woken)
{
	unsigned sets;
	uint64_t began;

	other_master((unsigned)_i, 0);
	run_to_tables();
	tap.other_state = 3;
	freeze(3000);
	sets = tap.n_sets;
	began = fixture_now(fixture);
	if (masters[_i].we_stay) {
		fixture_up(fixture);
		ck_assert_uint_gt(tap.n_sets, sets);
		ck_assert_uint_eq(tap.n_traps, 1); /* tells the other one */
	} else {
		run_to_standby();
		ck_assert_uint_le(fixture_now(fixture) - began, 1000);
		fixture_run_ms(fixture, 10000);
		ck_assert_uint_eq(tap.n_sets, sets);
	}
	check_master((unsigned)_i);
}
END_TEST

/* The same between sweeps. */
START_TEST(woken_idle)
{
	unsigned sets;

	other_master((unsigned)_i, 2);
	tap.other_priority = 0; /* a standby until then */
	up();
	fixture_run_ms(fixture, 12000);
	tap.other_priority = masters[_i].priority;
	tap.other_state = 3;
	freeze(1500);
	sets = tap.n_sets;
	fixture_run_ms(fixture, 300);
	check_master((unsigned)_i);
	ck_assert_uint_eq(tap.n_sets, sets);
	ck_assert_uint_eq(tap.n_traps, masters[_i].we_stay);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
}
END_TEST

/* A higher master says by trap 144 that it is there while we send tables: the sweep is given up. */
START_TEST(told_by_trap)
{
	unsigned sets;
	uint32_t port;

	other_master((unsigned)_i, 0);
	run_to_tables();
	port = graph_port(fixture->g, graph_node_by_guid(fixture->g, tap.other_guid), 1);
	for (unsigned i = 0; i < 6; i++) { /* a while after it became master */
		freeze(200);
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	tap.other_state = 3;
	trap(144, lid_of(port));
	if (masters[_i].we_stay) {
		fixture_up(fixture);
	} else {
		run_to_standby();
		ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 1);
	}
	sets = tap.n_sets;
	fixture_run_ms(fixture, 300);
	check_master((unsigned)_i);
	ck_assert_uint_eq(tap.n_sets, sets);
}
END_TEST

/* Trap 144 of a port where an SM starts: only this port is asked, and gets the fabric if it
 * is higher. Many such traps make no heavy sweep. */
START_TEST(appears_by_trap)
{
	uint32_t other_port;

	fixture->config.sm_priority = 5;
	fixture->config.sweep_interval = 0;
	other(masters[_i].priority, 2);
	tap.other_sm_guid =
		fixture->g->ports[fixture->g->sm_port].guid + (uint64_t)masters[_i].guid;
	tap.other_left = true; /* IsSM is not set yet */
	up();
	tap.other_left = false;
	other_port = graph_port(fixture->g,
	                        graph_node_by_guid(fixture->g, tap.other_guid), 1);
	for (unsigned n = 0; n < 50; n++) {
		trap(144, lid_of(other_port));
		fixture_run_ms(fixture, 100);
	}
	check_master((unsigned)_i);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
}
END_TEST

/* Priority while master: a higher SM that appears gets nothing as long as it is not above. */
START_TEST(master_priority)
{
	fixture->config.master_sm_priority = _i ? 9 : 14;
	fixture->config.sm_priority = 5;
	other(10, 0);
	up();
	tap.other_state = 2;
	fixture_run_ms(fixture, 30000);
	ck_assert_uint_eq(tap.n_controls, (unsigned)_i);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->master, !_i);
}
END_TEST

/* HANDOVER to a standby: it is acknowledged, we are master at once, and LIDs and tables that
 * the former master left stay as they are. */
START_TEST(handover_to_us)
{
	uint64_t sets;

	fixture->config.sm_priority = 15;
	up();
	fixture_stop(fixture);
	ck_assert_int_eq(nftw(fixture->state_dir, fixture_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
	other(0, 3);
	fixture_start(fixture);
	run_to_standby();
	sets = sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT);
	ck_assert_uint_eq(control(1, other_sm_guid(), 3, 1), 0);
	ck_assert_uint_eq(tap.out[64 + 20] & 0xf, 2); /* as it was before */
	tap.other_state = 2;
	ck_assert(sweep_status(fixture->sweep)->master);
	fixture_up(fixture);
	ck_assert_uint_eq(tap.n_controls, 1);
	ck_assert_uint_eq(tap.control[0], 2);
	ck_assert_uint_eq(sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT),
	                  sets);
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
}
END_TEST

/* A HANDOVER during our first sweep is refused, because it is not known yet where it comes from. The other
 * one is found to be master then, and hands over when it is told by trap 144 that we are higher. */
START_TEST(handover_while_discovering)
{
	fixture->config.sm_priority = 15;
	other(0, 3);
	fixture_start(fixture);
	while (strcmp(sweep_status(fixture->sweep)->phase, "discover") != 0) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert_uint_eq(control(1, other_sm_guid(), 3, 1), 0x1c);
	run_to_standby();
	ck_assert_uint_eq(control(1, other_sm_guid(), 3, 1), 0);
	tap.other_state = 2;
	fixture_run_ms(fixture, 9000);
	fixture_up(fixture);
	ck_assert(sweep_status(fixture->sweep)->master);
}
END_TEST

/* The durable LID of a host is another one than the port has, as if another SM had given
 * that. */
static uint32_t remember_other_lid(uint32_t port)
{
	struct lid_memory *lids;
	size_t n;

	ck_assert_int_eq(state_lids(fixture->state, fixture->run, &lids, &n), E_OK);
	for (size_t i = 0; i < n; i++) {
		if (lids[i].guid == fixture->g->ports[port].guid) {
			lids[i].range.base += 100;
		}
	}
	ck_assert_int_eq(state_put_lids(fixture->state, lids, n, true), E_OK);
	state_flush(fixture->state);
	return (uint32_t)fixture_peek(fixture, port, PI_LID);
}

/* A master may step down when it has sent HANDOVER, whatever the answer. It sent that
 * during our first discovery, so its port is not found yet. It is found, answers as
 * standby, and has handed over: LIDs that it gave stay. Nothing follows from a HANDOVER
 * in the name of an SM that is not there or was ignored. */
START_TEST(handover_before_found)
{
	enum { CAME, NO_SUCH_SM, IGNORED, NOT_MASTER };
	uint32_t port;

	up();
	fixture_stop(fixture);
	fixture_log(fixture);
	fixture->config.sm_priority = 15;
	other(0, 2);
	tap.other_left = _i == NO_SUCH_SM;
	tap.other_key = _i == IGNORED ? 9 : 1;
	fixture_start(fixture);
	port = fixture_host(fixture, 5);
	uint32_t found = remember_other_lid(port);
	while (strcmp(sweep_status(fixture->sweep)->phase, "discover") != 0) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert_uint_eq(control(1, other_sm_guid(), _i == NOT_MASTER ? 2 : 3, 1), 0x1c);
	fixture_up(fixture);
	fixture_run_ms(fixture, 20000);
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_eq(fixture_logged(fixture, "Entering MASTER state (the SM 0x"),
	                  _i == CAME);
	ck_assert_uint_eq(fixture_peek(fixture, port, PI_LID),
	                  found + (_i == CAME ? 0 : 100));
	ck_assert_uint_eq(fixture_logged(fixture, "SAG-SM-005"), _i == NOT_MASTER);
}
END_TEST

/* A standby takes commands of the master that it waits for, and of SMs that are
 * announced. Another one is refused, although its SMInfo is in order. */
START_TEST(control_of_unannounced)
{
	uint32_t third;

	other(15, 3);
	fixture->config.sm_trust = SM_TRUST_ANNOUNCED;
	fixture_start(fixture);
	run_to_standby();
	fixture_log(fixture);
	third = fixture_host(fixture, 5);
	ck_assert_uint_ne(fixture->g->ports[third].guid, other_sm_guid());
	for (uint32_t mod = 1; mod <= 5; mod++) {
		ck_assert_uint_eq(control_from(fixture->g->ports[third].node, mod,
		                               fixture->g->ports[third].guid, 3, 1),
		                  0x1c);
	}
	ck_assert_uint_eq(
		fixture_logged(fixture, "was announced by nobody; see allowed_sm_guids"),
		5);
	ck_assert(sweep_status(fixture->sweep)->standby);
	fixture->config.allowed_sm_guids =
		(struct option_guids){ { fixture->g->ports[third].guid, other_sm_guid() },
		                       2 };
	ck_assert_uint_eq(control_from(fixture->g->ports[third].node, 1,
	                               fixture->g->ports[third].guid, 3, 1),
	                  0);
	ck_assert(sweep_status(fixture->sweep)->master);
}
END_TEST

static bool loses_control(const uint8_t *mad)
{
	return field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SM_INFO &&
	       field_get(mad, MAD_METHOD) == UMAD_METHOD_SET;
}

/* The other SM does not answer until we look at the fabric, and is master then. */
static void silent_until_discovery(void)
{
	tap.other_silent = true;
	while (strcmp(sweep_status(fixture->sweep)->phase, "discover") != 0) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	tap.other_silent = false;
	tap.other_state = 3;
	fixture_run_ms(fixture, 10000);
}

static uint64_t key_of_handover;

static void keep_key(uint8_t *mad)
{
	if (loses_control(mad) && field_get(mad, MAD_ATTR_MOD) == 1) {
		key_of_handover = field_get(mad + 64, SMI_SM_KEY);
	}
}

/* We were master or stood by for an announced one, so one that nobody announced is no
 * reason any more to stand by at an election. It is if we stood by for it before. */
START_TEST(settled)
{
	bool respected = _i == 1;
	uint64_t us = sim_transport(fixture->sim)->local.port_guid;

	other(15, respected ? 3 : 2);
	tap.other_key = respected ? 0 : 1;
	tap.out_filter = keep_key;
	fixture->config.sm_trust = SM_TRUST_ANNOUNCED;
	if (respected) {
		fixture_start(fixture);
		run_to_standby();
		tap.other_silent = true;
		fixture_run_ms(fixture, 10000);
		ck_assert(sweep_status(fixture->sweep)->master);
		tap.other_silent = false;
		sweep_request_heavy(fixture->sweep);
	} else {
		fixture->config.allowed_sm_guids =
			(struct option_guids){ { other_sm_guid(), us }, 2 };
		tap.other_left = true;
		fixture_start(fixture);
		fixture_up(fixture);
		tap.other_left = false;
		sweep_request_heavy(fixture->sweep);
	}
	fixture_run_ms(fixture, 10000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(key_of_handover,
	                  respected ? 0 : 1); /* it showed none, and gets none */
	fixture->config.allowed_sm_guids.n = 0;
	tap.n_controls = 0;
	silent_until_discovery();
	ck_assert_uint_eq(tap.n_controls, 0); /* we were not master again in between */
	ck_assert(sweep_status(fixture->sweep)->standby == respected);
	ck_assert(sweep_status(fixture->sweep)->master == !respected);
}
END_TEST

/* The answer to our HANDOVER is lost, and ACKNOWLEDGE says that it was taken. */
START_TEST(handover_acknowledged)
{
	other(15, 2);
	tap.other_left = true;
	up();
	ck_assert_uint_eq(control(2, other_sm_guid(), 3, 1), 0x1c); /* of nothing */
	tap.other_left = false;
	tap.loses = loses_control;
	sweep_request_heavy(fixture->sweep);
	for (unsigned i = 0; i < FIXTURE_TURNS && tap.n_controls == 0; i++) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert_uint_eq(control(2, other_sm_guid() + 1, 3, 1), 0x1c);
	ck_assert_uint_eq(control(2, other_sm_guid(), 3, 1), 0);
	tap.other_state = 3;
	fixture_run_ms(fixture, 3000);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(control(2, other_sm_guid(), 3, 1), 0); /* once more */
	fixture_run_ms(fixture, 20000);
	ck_assert(sweep_status(fixture->sweep)->standby);
}
END_TEST

/* A state that no specification knows is no state in which an SM could be master, neither
 * at an election nor of the master that we wait for. */
START_TEST(unknown_state)
{
	fixture_log(fixture);
	other(15, _i == 0 ? 9 : 3);
	fixture_start(fixture);
	if (_i == 1) {
		run_to_standby();
		tap.other_state = 9;
	}
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert_uint_ge(fixture_logged(fixture, "priority 15, state unknown"), 1);
}
END_TEST

/* The master shows another SM_Key all at once, so it is not believed any more, and gone. */
START_TEST(master_changes_key)
{
	other(15, 3);
	fixture_start(fixture);
	run_to_standby();
	tap.other_key = 9;
	fixture_run_ms(fixture, 20000);
	ck_assert(sweep_status(fixture->sweep)->master);
}
END_TEST

/* The ACKNOWLEDGE gets lost: its retries are waited for, not polled for. */
START_TEST(handover_not_acknowledged)
{
	unsigned turns = 0;
	uint64_t end;

	fixture->config.sm_priority = 15;
	fixture->config.sminfo_polling_timeout = 600000;
	other(0, 3);
	tap.loses = loses_control;
	fixture_start(fixture);
	run_to_standby();
	while (strcmp(sweep_status(fixture->sweep)->phase, "idle") != 0) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert_uint_eq(control(1, other_sm_guid(), 3, 1), 0);
	tap.other_state = 2;
	for (end = fixture_now(fixture) + 20000; fixture_now(fixture) < end; turns++) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		ck_assert_uint_lt(turns, 20000);
	}
	ck_assert(sweep_status(fixture->sweep)->master);
	ck_assert(sweep_status(fixture->sweep)->up);
}
END_TEST

/* DISABLE, STANDBY and DISCOVER count only from the master that we wait for, and only in the
 * state that they are for. */
START_TEST(disabled)
{
	uint64_t guid;

	other(15, 3);
	fixture_start(fixture);
	run_to_standby();
	guid = other_sm_guid();
	ck_assert_uint_eq(control(4, guid, 3, 1), 0x1c); /* STANDBY: we are */
	ck_assert_uint_eq(control(3, guid, 2, 1), 0x1c); /* not from a standby */
	ck_assert_uint_eq(control(3, guid + 9, 3, 1), 0x1c);
	ck_assert_uint_eq(control(5, guid, 3, 1), 0); /* DISCOVER */
	fixture_heavy(fixture, 2);
	ck_assert(sweep_status(fixture->sweep)->standby);
	ck_assert_uint_eq(control(3, guid, 3, 1), 0); /* DISABLE */
	tap.other_silent = true;
	fixture_run_ms(fixture, 60000);
	ck_assert_uint_eq(fixture_sweeps(fixture), 2);
	ck_assert_uint_eq(control(1, guid, 3, 1), 0x1c);
	ck_assert_uint_eq(control(5, guid, 3, 1), 0x1c);
	ck_assert_uint_eq(control(0, guid, 3, 1), 0x1c);
	ck_assert_uint_eq(tap.out[64 + 20] & 0xf, 0); /* NOT-ACTIVE */
	ck_assert_uint_eq(control(4, guid, 3, 1), 0);
	fixture_run_ms(fixture, 5000);
	fixture_up(fixture);
}
END_TEST

TEST_SUITE(sweep_agent)
{
	TCase *t = tcase_create("others");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, sm_info, 0, 2);
	tcase_add_test(t, sm_info_set);
	tcase_add_loop_test(t, keeps_lids_of_the_other_part, 0, 2);
	tcase_add_test(t, sm_key_shown);
	tcase_add_loop_test(t, lease_kept, 0, 2);
	tcase_add_loop_test(t, repressed, 0, sizeof(traps) / sizeof(traps[0]));
	tcase_add_test(t, trap_to_a_standby);
	tcase_add_test(t, wrong_keys);
	tcase_add_loop_test(t, forged, 0, FORGED_KINDS);
	tcase_add_test(t, trap_over_directed_route);
	tcase_add_loop_test(t, insisting, 0, 2);
	tcase_add_loop_test(t, flapping, 0, 2);
	tcase_add_test(t, both_ends);
	tcase_add_loop_test(t, own_capabilities, 0,
	                    sizeof(own_traps) / sizeof(own_traps[0]));
	tcase_add_test(t, own_is_sm_late);
	tcase_add_test(t, no_issm);
	tcase_add_test(t, transport_gone);
	tcase_add_loop_test(t, early, 0, 2);
	tcase_add_test(t, early_flood);
	tcase_add_test(t, log_of_changes);
	tcase_add_test(t, log_of_many_changes);
	tcase_add_test(t, log_limited);
	tcase_add_test(t, burst);
	tcase_add_test(t, nonsense);
	tcase_add_loop_test(t, another_master, 0, 4);
	tcase_add_loop_test(t, priority_told, 0, 2);
	tcase_add_loop_test(t, other_standby, 0, 6);
	tcase_add_test(t, master_after_all);
	tcase_add_test(t, master_refuses_first);
	tcase_add_test(t, other_stopped);
	tcase_add_loop_test(t, others_ignored, 0, NOT_BELIEVED + 6);
	tcase_add_loop_test(t, handover_refused, 0, 2);
	tcase_add_loop_test(t, handover_taken_later, 0, 2);
	tcase_add_loop_test(t, master_beside_us_ends, 0, 8);
	tcase_add_test(t, handover_from_unknown);
	tcase_add_loop_test(t, second_master, 0, sizeof(masters) / sizeof(masters[0]));
	tcase_add_loop_test(t, appears, 0, 3 * sizeof(masters) / sizeof(masters[0]));
	tcase_add_loop_test(t, appears_by_trap, 0, sizeof(masters) / sizeof(masters[0]));
	tcase_add_test(t, handover_lost);
	tcase_add_loop_test(t, woken, 0, sizeof(masters) / sizeof(masters[0]));
	tcase_add_loop_test(t, woken_idle, 0, sizeof(masters) / sizeof(masters[0]));
	tcase_add_loop_test(t, told_by_trap, 0, sizeof(masters) / sizeof(masters[0]));
	tcase_add_loop_test(t, master_priority, 0, 2);
	tcase_add_loop_test(t, handover_to_us, 0, 1);
	tcase_add_test(t, handover_while_discovering);
	tcase_add_loop_test(t, handover_before_found, 0, 4);
	tcase_add_test(t, control_of_unannounced);
	tcase_add_test(t, handover_not_acknowledged);
	tcase_add_loop_test(t, settled, 0, 2);
	tcase_add_test(t, handover_acknowledged);
	tcase_add_loop_test(t, unknown_state, 0, 2);
	tcase_add_test(t, master_changes_key);
	tcase_add_test(t, disabled);
	suite_add_tcase(suite, t);
}
