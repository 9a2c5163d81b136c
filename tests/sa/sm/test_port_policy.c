/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What options make of ports, and what both ends of a cable agree on. All is read out of the
 * simulated nodes, none of it out of the sweep.
 */
#include "db/snapshot/reader.h"
#include "sa/path/path_query.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

static struct sweep_fixture *fixture;

static void setup(void)
{
	fixture = fixture_new();
}

static void teardown(void)
{
	fixture_free(fixture);
	fixture = NULL;
}

static uint64_t next_random(uint64_t *s)
{
	*s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *s >> 33;
}

static void set_option(const char *key, const char *value)
{
	ck_assert_int_eq(option_set(&fixture->sets, fixture->a, key, value, "test", 1,
	                            &fixture->diags),
	                 E_OK);
}

static bool on_switch(uint32_t port)
{
	return fixture->g->nodes[fixture->g->ports[port].node].type == NODE_SWITCH;
}

/* --- options ----------------------------------------------------------------------------- */

enum where {
	END_PORT = 1, /* of a host or a switch's port 0 */
	HOST = 2,     /* port of a host */
	LEAF = 4,     /* port of a switch to a host */
	BETWEEN = 8,  /* port between switches */
	SWITCH = 16,  /* SwitchInfo */
	CABLED = HOST | LEAF | BETWEEN
};

static unsigned where_is(uint32_t port)
{
	const struct port *p = &fixture->g->ports[port];

	if (!on_switch(port)) {
		return p->peer == GRAPH_NONE ? 0 : END_PORT | HOST;
	}
	if (p->num == 0) {
		return END_PORT | SWITCH;
	}
	return p->peer == GRAPH_NONE ? 0 : on_switch(p->peer) ? BETWEEN : LEAF;
}

/* All ports can do XDR, 4x, an MTU of 4096 and 8 VLs. */
static const struct {
	const char *key, *value;
	unsigned where;
	struct {
		unsigned bit, width;
	} field;
	uint64_t has;
} options[] = {
	{ "subnet_timeout", "20", END_PORT, { PI_SUBNET_TIMEOUT }, 20 },
	{ "packet_life_time", "0x11", SWITCH, { SI_LIFE_TIME_VALUE }, 0x11 },
	{ "head_of_queue_lifetime", "0x13", BETWEEN, { PI_HOQ_LIFE }, 0x13 },
	{ "head_of_queue_lifetime", "0x13", LEAF, { PI_HOQ_LIFE }, 0x10 },
	{ "leaf_head_of_queue_lifetime", "0x0f", LEAF, { PI_HOQ_LIFE }, 0x0f },
	{ "vl_stall_count", "3", BETWEEN, { PI_VL_STALL_COUNT }, 3 },
	{ "leaf_vl_stall_count", "5", LEAF, { PI_VL_STALL_COUNT }, 5 },
	{ "local_phy_errors_threshold", "4", CABLED, { PI_LOCAL_PHY_ERRORS }, 4 },
	{ "overrun_errors_threshold", "6", CABLED, { PI_OVERRUN_ERRORS }, 6 },
	{ "max_op_vls", "2", CABLED, { PI_OPERATIONAL_VLS }, 2 },
	{ "max_op_vls_ca", "1", HOST | LEAF, { PI_OPERATIONAL_VLS }, 1 },
	{ "max_op_vls_ca", "1", BETWEEN, { PI_OPERATIONAL_VLS }, 4 },
	{ "max_op_vls_sw", "3", CABLED, { PI_OPERATIONAL_VLS }, 3 },
	{ "max_neighbor_mtu", "4", CABLED, { PI_NEIGHBOR_MTU }, 4 },
	{ "max_neighbor_mtu", "0", CABLED, { PI_NEIGHBOR_MTU }, 5 },
	{ "force_link_speed", "3", CABLED, { PI_LINK_SPEED_ENABLED }, 3 },
	{ "force_link_speed", "0", CABLED, { PI_LINK_SPEED_ENABLED }, 7 },
	{ "force_link_speed_ext", "6", CABLED, { PI_LINK_SPEED_EXT_ENABLED }, 6 },
	{ "force_link_speed_ext", "30", CABLED, { PI_LINK_SPEED_EXT_ENABLED }, 0 },
	{ "force_link_speed_ext", "0", CABLED, { PI_LINK_SPEED_EXT_ENABLED }, 15 },
	{ "force_link_speed_ext2", "1", CABLED, { PI_LINK_SPEED_EXT_ENABLED_2 }, 1 },
	{ "force_link_width", "1", CABLED, { PI_LINK_WIDTH_ENABLED }, 1 },
	{ "force_link_width", "0", CABLED, { PI_LINK_WIDTH_ENABLED }, 3 },
	{ "sm_sl", "3", END_PORT, { PI_MASTER_SM_SL }, 3 },
	{ "lmc", "2", HOST, { PI_LMC }, 2 },
	{ "m_key", "0x77", END_PORT, { PI_M_KEY }, 0x77 },
};

static void make_fast(uint8_t speed)
{
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		struct port *p = &fixture->g->ports[i];

		p->speed = speed;
		p->width = WIDTH_4X;
		p->mtu = 5;
		p->vls = 4;
	}
}

static uint64_t held(uint32_t port, unsigned where, unsigned bit, unsigned width)
{
	uint8_t data[64];

	if (!(where & SWITCH)) {
		return fixture_peek(fixture, port, bit, width);
	}
	ck_assert_int_eq(sim_peek(fixture->sim,
	                          fixture->g->nodes[fixture->g->ports[port].node].guid,
	                          UMAD_SM_ATTR_SWITCH_INFO, 0, data),
	                 E_OK);
	return field_get(data, bit, width);
}

static void check_option(int i)
{
	unsigned n = 0;

	for (uint32_t p = 0; p < fixture->g->n_ports; p++) {
		if (!(where_is(p) & options[i].where)) {
			continue;
		}
		n++;
		ck_assert_msg(held(p, options[i].where, options[i].field.bit,
		                   options[i].field.width) == options[i].has,
		              "%s %s: port %u of node %u has %u", options[i].key,
		              options[i].value, fixture->g->ports[p].num,
		              fixture->g->ports[p].node,
		              (unsigned)held(p, options[i].where, options[i].field.bit,
		                             options[i].field.width));
	}
	ck_assert_uint_ge(n, 2);
}

/* Each option acts from the start, and when it is set later. Nothing is set a second time. */
START_TEST(option_acts)
{
	uint64_t sets;

	for (unsigned later = 0; later < 2; later++) {
		fixture_topo(fixture, "ft2 4 4 2", 0, 0);
		make_fast(SPEED_XDR);
		fixture_sim(fixture, 1, 0);
		set_option("m_key_per_port", "FALSE");
		if (!later) {
			set_option(options[_i].key, options[_i].value);
		}
		fixture_start(fixture);
		fixture_up(fixture);
		if (later) {
			set_option(options[_i].key, options[_i].value);
			sweep_reconfigure(fixture->sweep, &fixture->deps);
			fixture_heavy(fixture, 2);
			fixture_run_ms(fixture, 20000);
			fixture_up(fixture);
		}
		check_option(_i);
		sets = sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO);
		sweep_request_heavy(fixture->sweep);
		fixture_run_ms(fixture, 1000);
		fixture_up(fixture);
		ck_assert_uint_eq(
			sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO),
			sets);
		check_option(_i);
		teardown();
		setup();
	}
}
END_TEST

/* A heavy sweep follows so many light ones; -1: none, 0: all are heavy. */
START_TEST(heavy_after_light)
{
	static const struct {
		const char *window;
		uint32_t light, heavy; /* after 60 s of one sweep a second, at least */
		uint32_t light_most, heavy_most;
	} cases[] = {
		{ "-1", 50, 1, 61, 1 },
		{ "0", 0, 50, 0, 61 },
		{ "4", 40, 11, 50, 13 },
	};
	const struct sweep_status *st;

	set_option("sweep_interval", "1");
	set_option("force_heavy_sweep_window", cases[_i].window);
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 60000);
	st = sweep_status(fixture->sweep);
	ck_assert_uint_ge(st->light_sweeps, cases[_i].light);
	ck_assert_uint_le(st->light_sweeps, cases[_i].light_most);
	ck_assert_uint_ge(st->heavy_sweeps, cases[_i].heavy);
	ck_assert_uint_le(st->heavy_sweeps, cases[_i].heavy_most);
}
END_TEST

/* --- both ends --------------------------------------------------------------------------- */

static uint64_t node_guid(uint32_t port)
{
	return fixture->g->nodes[fixture->g->ports[port].node].guid;
}

/* Speeds, widths, MTUs and VLs at random; most are fast, as in a fabric that is being renewed. */
static void mix(uint64_t *seed)
{
	static const uint8_t speeds[] = { SPEED_SDR, SPEED_QDR, SPEED_FDR, SPEED_EDR,
		                          SPEED_HDR, SPEED_NDR, SPEED_NDR, SPEED_NDR,
		                          SPEED_XDR, SPEED_XDR, SPEED_XDR };
	static const uint8_t widths[] = { WIDTH_4X, WIDTH_4X, WIDTH_4X,
		                          WIDTH_2X, WIDTH_8X, WIDTH_12X };

	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		struct port *p = &fixture->g->ports[i];

		p->speed = speeds[next_random(seed) % sizeof(speeds)];
		p->width = widths[next_random(seed) % sizeof(widths)];
		p->mtu = (uint8_t)(3 + next_random(seed) % 3);
		p->vls = (uint8_t)(1 + next_random(seed) % 4); /* as VLArb*Cap allows */
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* VLs that a code of OperationalVLs allows. */
static unsigned vls_of(uint64_t code)
{
	return code >= 5 ? 15 : 1U << (code - 1);
}

/* The lanes on which a port sends are there at both ends, and arbitration serves them. */
static void check_tables(uint32_t port, unsigned vls)
{
	const struct port *p = &fixture->g->ports[port];
	const struct node *n = &fixture->g->nodes[p->node];
	unsigned ins = on_switch(port) ? n->n_ports : 0;
	uint32_t num = on_switch(port) ? p->num : 0;
	uint8_t data[64], weight[16] = { 0 };

	for (uint32_t block = 1; block <= 3; block += 2) {
		ck_assert_int_eq(sim_peek(fixture->sim, n->guid,
		                          UMAD_SM_ATTR_VL_ARB_TABLE, block << 16 | num,
		                          data),
		                 E_OK);
		for (unsigned i = 0; i < 8; i++) {
			weight[data[2 * i] & 15] |= data[2 * i + 1];
		}
	}
	for (unsigned in = 0; in <= ins; in++) {
		ck_assert_int_eq(sim_peek(fixture->sim, n->guid, UMAD_SM_ATTR_SLVL_TABLE,
		                          on_switch(port) ? in << 8 | p->num : 0, data),
		                 E_OK);
		for (unsigned sl = 0; in != p->num && sl < 16; sl++) {
			unsigned vl = (unsigned)field_get(data, 4 * sl, 4);

			ck_assert_msg(vl == 15 ||
			                      (vl < vls && (vls == 1 || weight[vl] != 0)),
			              "%s port %u: SL %u goes to VL %u of %u, weight %u",
			              n->description, p->num, sl, vl, vls, weight[vl]);
			ck_assert_msg(sl != 0 || vl != 15, "%s port %u drops SL 0",
			              n->description, p->num);
		}
	}
}

static void check_cable(uint32_t port, bool tables)
{
	const struct port *a = &fixture->g->ports[port];
	const struct port *b = &fixture->g->ports[a->peer];
	uint64_t mtu = least(a->mtu, b->mtu), vls = least(a->vls, b->vls);

	ck_assert_uint_eq(fixture_peek(fixture, port, PI_PORT_STATE), PORT_ACTIVE);
	ck_assert_uint_eq(fixture_peek(fixture, a->peer, PI_PORT_STATE), PORT_ACTIVE);
	ck_assert_uint_eq(fixture_peek(fixture, port, PI_NEIGHBOR_MTU), mtu);
	ck_assert_uint_eq(fixture_peek(fixture, a->peer, PI_NEIGHBOR_MTU), mtu);
	ck_assert_uint_eq(fixture_peek(fixture, port, PI_OPERATIONAL_VLS), vls);
	ck_assert_uint_eq(fixture_peek(fixture, a->peer, PI_OPERATIONAL_VLS), vls);
	if (tables) {
		check_tables(port, vls_of(vls));
	}
}

static unsigned lanes_of(unsigned width)
{
	return width == WIDTH_12X  ? 12
	       : width == WIDTH_8X ? 8
	       : width == WIDTH_2X ? 2
	       : width == WIDTH_4X ? 4
	                           : 1;
}

/* Gb/s of a cable, 10 times. A port supports 1x, 4x and its own width (2x: 1x and 2x) and all
 * slower speeds. */
static unsigned cable_speed(const struct port *a, const struct port *b)
{
	static const unsigned of[SPEED_COUNT] = {
		[SPEED_SDR] = 25,   [SPEED_QDR] = 100, [SPEED_FDR] = 140,
		[SPEED_EDR] = 250,  [SPEED_HDR] = 500, [SPEED_NDR] = 1000,
		[SPEED_XDR] = 2000,
	};
	unsigned wide = a->width == b->width ? lanes_of(a->width)
	                : a->width == WIDTH_2X || b->width == WIDTH_2X ? 1
	                                                               : 4;

	return wide * least(of[a->speed], of[b->speed]);
}

/* Rate codes of IBA vol. 1, 15.2.5.16 with those for HDR, NDR and XDR. */
static uint8_t rate_code(unsigned speed)
{
	static const struct {
		unsigned speed;
		uint8_t code;
	} rates[] = {
		{ 25, 2 },    { 50, 5 },    { 100, 3 },    { 140, 11 },  { 200, 6 },
		{ 250, 15 },  { 280, 19 },  { 300, 4 },    { 400, 7 },   { 500, 20 },
		{ 560, 12 },  { 600, 8 },   { 800, 9 },    { 1000, 16 }, { 1120, 13 },
		{ 1200, 10 }, { 1680, 14 }, { 2000, 17 },  { 3000, 18 }, { 4000, 21 },
		{ 6000, 22 }, { 8000, 23 }, { 12000, 24 },
	};
	uint8_t code = 0;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		code = rates[i].speed <= speed ? rates[i].code : code;
	}
	return code;
}

static uint8_t entry(uint32_t node, uint32_t lid)
{
	uint8_t block[64];

	ck_assert_int_eq(sim_peek(fixture->sim, fixture->g->nodes[node].guid,
	                          UMAD_SM_ATTR_LINEAR_FT, lid / 64, block),
	                 E_OK);
	return block[lid % 64];
}

static void narrow(uint32_t port, unsigned *rate_of_path, uint64_t *mtu)
{
	const struct port *a = &fixture->g->ports[port];
	const struct port *b = &fixture->g->ports[a->peer];
	unsigned speed = cable_speed(a, b);

	*rate_of_path = (unsigned)least(*rate_of_path, speed);
	*mtu = least(*mtu, least(a->mtu, b->mtu));
}

/* Rate and MTU of a record are those of the cables on the way that the switches' tables give. */
static void check_path(struct snap_reader *reader, uint32_t from, uint32_t to)
{
	const struct graph *g = fixture->g;
	struct path_query q = { .mode = PATH_MINIMAL };
	struct path_record rec;
	size_t n = 0;
	unsigned speed = UINT32_MAX;
	uint64_t mtu = 5;
	uint32_t at;

	ck_assert_int_eq(snap_port_guid(reader, g->ports[from].guid, &q.src), E_OK);
	ck_assert_int_eq(snap_port_guid(reader, g->ports[to].guid, &q.dst), E_OK);
	ck_assert_int_eq(path_query_run(reader, &q, &rec, 1, &n), E_OK);
	ck_assert_uint_eq(n, 1);
	narrow(from, &speed, &mtu);
	at = g->ports[from].peer;
	for (unsigned hops = 0; at != to; hops++) {
		uint32_t node = g->ports[at].node;
		uint32_t out = graph_port(g, node, entry(node, rec.dlid));

		ck_assert_uint_lt(hops, 16);
		narrow(out, &speed, &mtu);
		at = g->ports[out].peer;
	}
	ck_assert_msg(rec.rate == rate_code(speed), "rate %u, not %u (%u)", rec.rate,
	              rate_code(speed), speed);
	ck_assert_uint_eq(rec.mtu, mtu);
}

static void check_paths(void)
{
	struct snap_reader *reader;
	const struct graph *g = fixture->g;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &reader), E_OK);
	ck_assert_int_eq(snap_pin(reader), E_OK);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		for (uint32_t k = 0; k < g->n_end_ports; k++) {
			uint32_t from = g->end_ports[i], to = g->end_ports[k];

			if (from != to && !on_switch(from) && !on_switch(to)) {
				check_path(reader, from, to);
			}
		}
	}
	snap_reader_close(reader);
}

static void check_fabric(bool tables)
{
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		if (fixture->g->ports[i].peer != GRAPH_NONE) {
			check_cable(i, tables);
		}
	}
	check_paths();
}

/* Some cables go down and come back with other speeds at one end, as after another transceiver. */
static void replug(uint64_t *seed)
{
	for (unsigned k = 0; k < 4; k++) {
		uint32_t i;

		do {
			i = (uint32_t)(next_random(seed) % fixture->g->n_ports);
		} while (fixture->g->ports[i].peer == GRAPH_NONE);
		ck_assert_int_eq(sim_set_link(fixture->sim, node_guid(i),
		                              fixture->g->ports[i].num, false),
		                 E_OK);
		fixture_run_ms(fixture, 500);
		ck_assert_int_eq(sim_set_link(fixture->sim, node_guid(i),
		                              fixture->g->ports[i].num, true),
		                 E_OK);
	}
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
}

/* A fabric of NDR, XDR and slower ports of any width, MTU and number of VLs: once its links are
 * active, both ends of each agree, and so do the records of paths. */
START_TEST(both_ends_agree)
{
	static const char *const topos[] = { "ft2 4 4 2", "torus 3x3 1", "ft3 4" };
	uint64_t seed = (uint64_t)_i + 1;
	bool qos = _i % 2 != 0;

	set_option("qos", qos ? "TRUE" : "auto");
	fixture_topo(fixture, topos[_i % 3], 0, 0);
	mix(&seed);
	fixture_sim(fixture, (uint32_t)seed, _i % 4 == 3 ? 20000 : 0);
	fixture_start(fixture);
	fixture_up(fixture);
	check_fabric(qos);
	replug(&seed);
	check_fabric(qos);
}
END_TEST

/* A whole fabric of the fastest ports: nobody falls back to what OpenSM knows. */
START_TEST(fast_fabric)
{
	uint8_t speed = _i == 0 ? SPEED_NDR : SPEED_XDR;

	set_option("qos", "TRUE");
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	make_fast(speed);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
	check_fabric(true);
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		if (fixture->g->ports[i].peer != GRAPH_NONE) {
			ck_assert_uint_eq(
				fixture_peek(fixture, i, PI_LINK_SPEED_EXT_ACTIVE),
				_i == 0 ? 8 : 0);
			ck_assert_uint_eq(
				fixture_peek(fixture, i, PI_LINK_SPEED_EXT_ACTIVE_2), _i);
			ck_assert_uint_eq(fixture_peek(fixture, i, PI_NEIGHBOR_MTU), 5);
		}
	}
}
END_TEST

TEST_SUITE(port_policy)
{
	TCase *t = tcase_create("port_policy");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, option_acts, 0, sizeof(options) / sizeof(options[0]));
	tcase_add_loop_test(t, heavy_after_light, 0, 3);
	tcase_add_loop_test(t, both_ends_agree, 0, 24);
	tcase_add_loop_test(t, fast_fabric, 0, 2);
	suite_add_tcase(suite, t);
}
