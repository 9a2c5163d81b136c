/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Lanes and quality of service through whole sweeps over the simulated fabric. The tables of ports
 * are read out of the simulation.
 *
 * Longer than most: setups of the operator, lanes of engines and a rule of an engine's own
 * are told apart by the same tables, read by the same functions.
 */
#include "sa/sim/sim_state.h"

#include "conf/policy/qos_policy.h"
#include "db/snapshot/reader.h"
#include "routing/graph/lids.h"
#include "sa/path/path_query.h"
#include "sa/record/attributes.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

static struct sweep_fixture *fixture;

static void teardown(void)
{
	if (fixture != NULL) {
		fixture_free(fixture);
		fixture = NULL;
	}
}

enum { LANES = 3, AUDIT_S = 60 };

static unsigned lane_wanted(uint32_t sw, uint32_t lid)
{
	return (sw + lid) % LANES;
}

/* minhop with its routes dealt out over lanes. */
static int deal_lanes(const struct route_in *in, struct arena *a,
                      struct route_out *ret_out)
{
	int ret = engine_find("minhop")->route(in, a, ret_out);
	struct lft *t = &ret_out->lft;

	ck_assert_int_eq(ret, E_OK);
	ret_out->lanes = (struct lanes){ .rows = arena_array(a, t->n_switches, t->stride),
		                         .stride = t->stride,
		                         .n = LANES };
	for (uint32_t s = 0; s < t->n_switches; s++) {
		for (uint32_t lid = 0; lid < t->n_lids; lid++) {
			ret_out->lanes.rows[s * t->stride + lid] =
				(uint8_t)lane_wanted(s, lid);
		}
	}
	return E_OK;
}

static const struct engine dealer = { .name = "dealer",
	                              .flags = ENGINE_NEEDS_LANES,
	                              .route = deal_lanes };

static struct sweep_fixture *fixture_lanes(const char *topo)
{
	struct sweep_fixture *r = fixture_new();

	fixture_topo(r, topo, 0, 0);
	r->deps.list = (struct route_list){ .engine = { &dealer }, .n = 1 };
	return r;
}

static void set_option(struct sweep_fixture *r, const char *key, const char *value)
{
	ck_assert_int_eq(option_set(&r->sets, r->a, key, value, "test", 1, &r->diags),
	                 E_OK);
}

static uint64_t sets(const struct sweep_fixture *r, uint16_t attr)
{
	return sim_count(r->sim, UMAD_METHOD_SET, attr);
}

static uint64_t gets(const struct sweep_fixture *r, uint16_t attr)
{
	return sim_count(r->sim, UMAD_METHOD_GET, attr);
}

/* --- what ports hold --------------------------------------------------------------- */

static bool is_switch(const struct sweep_fixture *r, uint32_t port)
{
	return r->g->nodes[r->g->ports[port].node].type == NODE_SWITCH;
}

static uint64_t guid_of(const struct sweep_fixture *r, uint32_t port)
{
	return r->g->nodes[r->g->ports[port].node].guid;
}

static void map_of(const struct sweep_fixture *r, uint32_t port, unsigned in,
                   uint8_t ret_sl2vl[16])
{
	uint32_t mod = is_switch(r, port) ? in << 8 | r->g->ports[port].num : 0;
	uint8_t data[64];

	ck_assert_int_eq(
		sim_peek(r->sim, guid_of(r, port), UMAD_SM_ATTR_SLVL_TABLE, mod, data),
		E_OK);
	for (unsigned sl = 0; sl < 16; sl++) {
		ret_sl2vl[sl] = (uint8_t)field_get(data, 4 * sl, 4);
	}
}

static unsigned weight_of(const struct sweep_fixture *r, uint32_t port, unsigned vl)
{
	uint32_t num = is_switch(r, port) ? r->g->ports[port].num : 0;
	unsigned weight = 0;
	uint8_t data[64];

	for (uint32_t block = 1; block <= 3; block += 2) { /* low, high */
		ck_assert_int_eq(sim_peek(r->sim, guid_of(r, port),
		                          UMAD_SM_ATTR_VL_ARB_TABLE, block << 16 | num,
		                          data),
		                 E_OK);
		for (unsigned i = 0; i < 8;
		     i++) { /* the simulation's tables hold 8 pairs */
			weight += data[2 * i] == vl ? data[2 * i + 1] : 0;
		}
	}
	return weight;
}

static bool cabled(const struct sweep_fixture *r, uint32_t node, unsigned num)
{
	return r->g->ports[graph_port(r->g, node, num)].peer != GRAPH_NONE;
}

typedef void map_check_f(const struct sweep_fixture *r, uint32_t port, unsigned in,
                         const uint8_t map[16]);

/* Every (port in, port out) of a switch and every port of a host. */
static void each_map(const struct sweep_fixture *r, map_check_f *check)
{
	uint8_t map[16];

	for (uint32_t n = 0; n < r->g->n_nodes; n++) {
		bool sw = r->g->nodes[n].type == NODE_SWITCH;

		for (unsigned out = 1; out <= r->g->nodes[n].n_ports; out++) {
			for (unsigned in = 0; in <= (sw ? r->g->nodes[n].n_ports : 0);
			     in++) {
				uint32_t port = graph_port(r->g, n, out);

				if (cabled(r, n, out) && (in == 0 || cabled(r, n, in))) {
					map_of(r, port, in, map);
					check(r, port, in, map);
				}
			}
		}
	}
}

/* qos_sl2vl is all zeros: what is not zero is there for the lanes. */
static void lanes_map(const struct sweep_fixture *r, uint32_t port, unsigned in,
                      const uint8_t map[16])
{
	unsigned vls = link_vls((uint8_t)fixture_peek(r, port, PI_OPERATIONAL_VLS));

	for (unsigned sl = 0; sl < 16; sl++) {
		ck_assert_msg(map[sl] == (sl < LANES ? sl % vls : 0),
		              "port %u in %u: SL %u has VL %u", port, in, sl, map[sl]);
	}
}

static void check_weights(const struct sweep_fixture *r)
{
	for (uint32_t i = 0; i < r->g->n_ports; i++) {
		if (r->g->ports[i].peer == GRAPH_NONE) {
			continue;
		}
		unsigned vls = link_vls((uint8_t)fixture_peek(r, i, PI_OPERATIONAL_VLS));
		for (unsigned vl = 0; vl < LANES && vl < vls && vls > 1; vl++) {
			ck_assert_uint_gt(weight_of(r, i, vl), 0);
		}
	}
}

static void check_master_sl(const struct sweep_fixture *r)
{
	uint32_t sm_lid = (uint32_t)fixture_peek(r, r->g->sm_port, PI_LID);

	for (uint32_t i = 0; i < r->g->n_end_ports; i++) {
		uint32_t p = r->g->end_ports[i];

		ck_assert_uint_eq(fixture_peek(r, p, PI_MASTER_SM_SL),
		                  lane_wanted(graph_switch_of(r->g, p), sm_lid));
	}
}

/* PathRecords between hosts and switches carry the lane's SL; asked for another, there is
 * none. */
static void check_paths(struct sweep_fixture *r)
{
	struct snap_reader *reader;

	ck_assert_int_eq(snap_reader_local(r->snap, &reader), E_OK);
	ck_assert_int_eq(snap_pin(reader), E_OK);
	for (uint32_t i = 0; i < r->g->n_end_ports; i += 2) {
		for (uint32_t k = 0; k < r->g->n_end_ports; k += 3) {
			const struct port *a = &r->g->ports[r->g->end_ports[i]];
			const struct port *b = &r->g->ports[r->g->end_ports[k]];
			struct path_query q = { .mode = PATH_MINIMAL };
			struct path_record rec;
			size_t n = 0;

			if (a == b) {
				continue;
			}
			ck_assert_int_eq(snap_port_guid(reader, a->guid, &q.src), E_OK);
			ck_assert_int_eq(snap_port_guid(reader, b->guid, &q.dst), E_OK);
			unsigned sl =
				lane_wanted(graph_switch_of(r->g, r->g->end_ports[i]),
			                    q.dst.base_lid);
			ck_assert_int_eq(path_query_run(reader, &q, &rec, 1, &n), E_OK);
			ck_assert_uint_eq(n, 1);
			ck_assert_uint_eq(rec.sl, sl);
			q.has_sl = true;
			q.sl = (uint8_t)sl;
			ck_assert_int_eq(path_query_run(reader, &q, &rec, 1, &n), E_OK);
			ck_assert_uint_eq(n, 1);
			q.sl = (uint8_t)((sl + 1) % LANES);
			ck_assert_int_eq(path_query_run(reader, &q, &rec, 1, &n), E_OK);
			ck_assert_uint_eq(n, 0);
		}
	}
	snap_reader_close(reader);
}

/* Payloads in the snapshot are those in the ports. */
static void check_attrs(struct sweep_fixture *r)
{
	struct snap_reader *reader;
	uint32_t sw = r->g->switches[0];
	const struct node *n = &r->g->nodes[sw];
	const uint8_t *data;
	uint8_t map[16], arb[64];
	uint16_t len;

	ck_assert_int_eq(snap_reader_local(r->snap, &reader), E_OK);
	ck_assert_int_eq(snap_pin(reader), E_OK);
	for (unsigned out = 1; out <= n->n_ports; out++) {
		uint32_t port = graph_port(r->g, sw, out);

		if (!cabled(r, sw, out)) {
			ck_assert_int_eq(snap_attr(reader, UMAD_SM_ATTR_SLVL_TABLE,
			                           n->guid, out, &data, &len),
			                 E_NOTFOUND);
			continue;
		}
		ck_assert_int_eq(snap_attr(reader, UMAD_SM_ATTR_SLVL_TABLE, n->guid, out,
		                           &data, &len),
		                 E_OK);
		ck_assert(len == 8 || len == 8 * (n->n_ports + 1));
		map_of(r, port, 0, map);
		for (unsigned sl = 0; sl < 16; sl++) {
			ck_assert_uint_eq(field_get(data, 4 * sl, 4), map[sl]);
		}
		ck_assert_int_eq(snap_attr(reader, UMAD_SM_ATTR_VL_ARB_TABLE, n->guid,
		                           out << 8 | 1, &data, &len),
		                 E_OK);
		sim_peek(r->sim, n->guid, UMAD_SM_ATTR_VL_ARB_TABLE, 1 << 16 | out, arb);
		ck_assert_mem_eq(data, arb, 64);
	}
	snap_reader_close(reader);
}

/* How many records of an attribute there are for these values of its first components. */
static unsigned count_records(struct sweep_fixture *r, const struct sa_attr *attr,
                              uint64_t mask, uint32_t lid, unsigned second,
                              unsigned third, uint8_t *ret_first)
{
	uint8_t record[72] = { 0 };
	struct sa_query q = {
		.attr = attr, .comp_mask = mask, .record = record, .table = true
	};
	struct sa_out out = { .max = SIZE_MAX, .max_bytes = SIZE_MAX };
	struct snap_reader *reader;

	field_set(record, 0, 16, lid);
	field_set(record, 16, 8, second);
	field_set(record, 24, 8, third);
	ck_assert_int_eq(snap_reader_local(r->snap, &reader), E_OK);
	ck_assert_int_eq(snap_pin(reader), E_OK);
	ck_assert_int_eq(sa_collect(reader, &q, &out), E_OK);
	if (ret_first != NULL && out.n) {
		memcpy(ret_first, out.data, attr->size);
	}
	free(out.data);
	snap_reader_close(reader);
	return (unsigned)out.n;
}

/* Component masks of both records as clients of the field give them: LID 1, then 2 and 4
 * in the order of the components. */
static void check_records(struct sweep_fixture *r)
{
	uint32_t node = r->g->switches[0], host = r->g->hosts[0];
	uint32_t lid = (uint32_t)fixture_peek(r, graph_port(r->g, node, 0), PI_LID);
	uint32_t host_lid = (uint32_t)fixture_peek(r, host, PI_LID);
	uint8_t out = r->g->ports[r->g->ports[host].peer].num, rec[72], map[16], arb[64];
	unsigned n_of_node = r->g->nodes[node].n_ports, n_ports = 0;

	ck_assert_uint_eq(count_records(r, &rec_slvl_table, 1, lid, 0, 0, NULL),
	                  (n_of_node + 1) * (n_of_node + 1));
	ck_assert_uint_eq(count_records(r, &rec_slvl_table, 5, lid, 0, out, NULL),
	                  n_of_node + 1);
	ck_assert_uint_eq(count_records(r, &rec_slvl_table, 7, lid, 0, out, rec), 1);
	map_of(r, r->g->ports[host].peer, 0, map);
	for (unsigned sl = 0; sl < 16; sl++) {
		ck_assert_uint_eq(field_get(rec + 8, 4 * sl, 4), map[sl]);
	}
	ck_assert_uint_eq(field_get(rec, 0, 16), lid);
	ck_assert_uint_eq(rec[3], out);
	ck_assert_uint_eq(count_records(r, &rec_slvl_table, 1, host_lid, 0, 0, rec), 1);
	ck_assert_uint_eq(rec[2], 0);
	ck_assert_uint_eq(rec[3], r->g->ports[host].num);
	ck_assert_uint_eq(count_records(r, &rec_vl_arb, 3, lid, out, 0, NULL), 4);
	ck_assert_uint_eq(count_records(r, &rec_vl_arb, 7, lid, out, 3, rec), 1);
	sim_peek(r->sim, r->g->nodes[node].guid, UMAD_SM_ATTR_VL_ARB_TABLE,
	         3u << 16 | out, arb);
	ck_assert_mem_eq(rec + 8, arb, 64);
	/* a block that the port has not got is empty, as are those of ports without a
	 * cable */
	memset(arb, 0, sizeof(arb));
	ck_assert_uint_eq(count_records(r, &rec_vl_arb, 7, lid, out, 2, rec), 1);
	ck_assert_mem_eq(rec + 8, arb, 64);
	for (uint32_t i = 0; i < r->g->n_nodes; i++) {
		n_ports += r->g->nodes[i].n_ports + (r->g->nodes[i].type == NODE_SWITCH);
	}
	ck_assert_uint_eq(count_records(r, &rec_vl_arb, 0, 0, 0, 0, NULL), 4 * n_ports);
}

static void check_lanes(struct sweep_fixture *r)
{
	ck_assert_msg(sweep_status(r->sweep)->up, "%s",
	              sweep_status(r->sweep)->not_ready);
	each_map(r, lanes_map);
	check_weights(r);
	check_master_sl(r);
	check_paths(r);
	check_attrs(r);
	check_records(r);
}

/* --- tests ------------------------------------------------------------------------- */

static const char *const fabrics[] = { "ft2 6 6 3", "ft3 4", "torus 3x3 1" };

START_TEST(lanes)
{
	fixture = fixture_lanes(fabrics[_i]);
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	set_option(fixture, "qos_vlarb_low", "0:9"); /* would starve the others */
	fixture->config.credit_loops = CREDIT_PROGRAM;
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	check_lanes(fixture);
	ck_assert_uint_gt(sets(fixture, UMAD_SM_ATTR_SLVL_TABLE), 0);
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
}
END_TEST

/* --- an SL-to-VL rule of the engine's own ------------------------------------------ */

static const uint32_t radix[] = { 5, 3, 1 };

/* Class of a port of the generator's torus: 1 and 2 lead along x, 3 and 4 along y. */
static unsigned class_of(unsigned num)
{
	return num == 0 || num > 4 ? 0 : (num + 1) / 2;
}

/* As the manual states it; the sweep's tables have 8 VLs to work with. */
static void rule_map(const struct sweep_fixture *r, uint32_t port, unsigned in,
                     const uint8_t map[16])
{
	unsigned out = is_switch(r, port) ? class_of(r->g->ports[port].num) : 0;

	for (unsigned sl = 0; sl < 16; sl++) {
		unsigned from = is_switch(r, port) ? class_of(in) : 0;
		unsigned vl = out == 0 ? sl >> 3
		                       : (sl >> (out - 1) & 1) | (from > out ? 2 : 0) |
		                                 (sl >> 3) << 2;

		ck_assert_msg(map[sl] == vl, "port %u in %u: SL %u has VL %u", port, in,
		              sl, map[sl]);
	}
}

static void rule_weights(const struct sweep_fixture *r)
{
	for (uint32_t i = 0; i < r->g->n_ports; i++) {
		bool between = is_switch(r, i) && class_of(r->g->ports[i].num);

		for (unsigned vl = 0; r->g->ports[i].peer != GRAPH_NONE && vl < 8; vl++) {
			if (is_switch(r, i)) {
				ck_assert_uint_eq(weight_of(r, i, vl) > 0,
				                  between || vl < 2);
			} else if (vl < 2) {
				ck_assert_uint_gt(weight_of(r, i, vl), 0);
			}
		}
	}
}

/* Bit d: the shorter way along d wraps. Odd rings have no ties. */
static unsigned rule_sl(const struct sweep_fixture *r, uint32_t from, uint32_t to)
{
	uint32_t a[2], b[2];
	unsigned sl = 0;

	const char *name_a = r->g->nodes[r->g->switches[from]].description;
	const char *name_b = r->g->nodes[r->g->switches[to]].description;
	for (unsigned d = 0; d < 2; d++) {
		a[d] = (uint32_t)atoi(name_a + 2 + 4 * d);
		b[d] = (uint32_t)atoi(name_b + 2 + 4 * d);
		uint32_t direct = a[d] > b[d] ? a[d] - b[d] : b[d] - a[d];
		sl |= (unsigned)(radix[d] - direct < direct) << d;
	}
	return sl;
}

/* Records for an SL, 99: for any. The SL of the first in *ret_sl. */
static size_t ask_path(struct snap_reader *reader, const struct port *a,
                       const struct port *b, unsigned sl, unsigned *ret_sl)
{
	struct path_query q = { .mode = PATH_MINIMAL, .has_sl = sl != 99 };
	struct path_record rec = { 0 };
	size_t n = 0;

	q.sl = (uint8_t)sl;
	ck_assert_int_eq(snap_port_guid(reader, a->guid, &q.src), E_OK);
	ck_assert_int_eq(snap_port_guid(reader, b->guid, &q.dst), E_OK);
	ck_assert_int_eq(path_query_run(reader, &q, &rec, 1, &n), E_OK);
	*ret_sl = rec.sl;
	return n;
}

static void rule_paths(struct sweep_fixture *r, unsigned levels)
{
	struct snap_reader *reader;

	ck_assert_int_eq(snap_reader_local(r->snap, &reader), E_OK);
	ck_assert_int_eq(snap_pin(reader), E_OK);
	for (uint32_t i = 0; i < r->g->n_end_ports; i += 2) {
		for (uint32_t k = 0; k < r->g->n_end_ports; k += 3) {
			uint32_t pa = r->g->end_ports[i], pb = r->g->end_ports[k];
			const struct port *a = &r->g->ports[pa], *b = &r->g->ports[pb];
			unsigned sl = rule_sl(r, graph_switch_of(r->g, pa),
			                      graph_switch_of(r->g, pb));
			unsigned got;

			ck_assert_uint_eq(ask_path(reader, a, b, 99, &got), 1);
			ck_assert_uint_eq(got, sl);
			for (unsigned asked = 0; asked < 16; asked++) {
				bool there =
					asked == sl || (levels == 2 && asked == sl + 8);

				ck_assert_uint_eq(ask_path(reader, a, b, asked, &got),
				                  there);
				ck_assert(!there || got == asked);
			}
		}
	}
	snap_reader_close(reader);
}

static void rule_master_sl(const struct sweep_fixture *r, unsigned level)
{
	for (uint32_t i = 0; i < r->g->n_end_ports; i++) {
		uint32_t p = r->g->end_ports[i];

		ck_assert_uint_eq(fixture_peek(r, p, PI_MASTER_SM_SL),
		                  rule_sl(r, graph_switch_of(r->g, p),
		                          graph_switch_of(r->g, r->g->sm_port)) |
		                          level << 3);
	}
}

/* The snapshot says what the ports have. */
static void rule_published(struct sweep_fixture *r)
{
	struct snap_reader *reader;
	struct snap_vl_rule rule;
	uint8_t map[16];

	ck_assert_int_eq(snap_reader_local(r->snap, &reader), E_OK);
	ck_assert_int_eq(snap_pin(reader), E_OK);
	ck_assert_int_eq(snap_vl_rule(reader, &rule), E_OK);
	ck_assert(rule.vls == 8 && rule.levels == 2 && rule.level_shift == 3);
	for (uint32_t s = 0; s < r->g->n_switches; s++) {
		uint32_t node = r->g->switches[s];
		uint64_t guid = r->g->nodes[node].guid;

		for (unsigned i = 1; i <= r->g->nodes[node].n_ports; i++) {
			uint8_t in, out;
			unsigned from = i % 5; /* 0 and ports that are cabled */

			ck_assert_int_eq(snap_vl_class(reader, guid, (uint8_t)i, &out),
			                 E_OK);
			ck_assert_int_eq(snap_vl_class(reader, guid, (uint8_t)from, &in),
			                 E_OK);
			map_of(r, graph_port(r->g, node, i), from, map);
			ck_assert_mem_eq(map, rule.vl[in][out], sizeof(map));
		}
		ck_assert_int_eq(snap_vl_class(reader, guid, 200, map), E_NOTFOUND);
	}
	ck_assert_int_eq(snap_vl_class(reader, 1, 0, map), E_NOTFOUND);
	snap_reader_close(reader);
}

/* torus-2QoS through a sweep: tables, records and MasterSMSL by its rule; nothing is sent
 * again by the next sweep. */
START_TEST(own_rule)
{
	fixture = fixture_new();
	fixture_topo(fixture, "torus 5x3 1", 0, 0);
	fixture->deps.list =
		(struct route_list){ .engine = { engine_find("torus-2QoS") }, .n = 1 };
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	fixture->config.sm_sl = 9; /* bit 3: the level */
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "%s",
	              sweep_status(fixture->sweep)->not_ready);
	each_map(fixture, rule_map);
	rule_weights(fixture);
	rule_master_sl(fixture, 1);
	rule_paths(fixture, 2);
	rule_published(fixture);
	uint64_t maps = sets(fixture, UMAD_SM_ATTR_SLVL_TABLE);
	ck_assert_uint_gt(maps, 0);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_SLVL_TABLE), maps);
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
}
END_TEST

/* With 4 VLs there is one QoS level; with 1 there is no torus-2QoS. */
START_TEST(own_rule_few_vls)
{
	fixture = fixture_new();
	fixture_topo(fixture, "torus 5x3 1", 0, 0);
	fixture->deps.list =
		(struct route_list){ .engine = { engine_find("torus-2QoS") }, .n = 1 };
	fixture->config.max_op_vls = _i ? 1 : 3;
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_run_ms(fixture, 3000);
	if (_i == 0) {
		fixture_up(fixture);
		rule_paths(fixture, 1);
		rule_master_sl(fixture, 0);
		return;
	}
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_SLVL_TABLE), 0);
}
END_TEST

/* Nothing is sent again: not by the next sweep, which does not even ask, and not by a new
 * daemon, which asks once; or for the SL-to-VL tables of a switch that takes them by one
 * request, sends that one. */
START_TEST(unchanged)
{
	uint64_t n_sw = _i ? 0 : 9; /* such switches */

	fixture = fixture_lanes("ft2 6 6 3");
	fixture->slvl_one_by_one = _i;
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	uint64_t maps = sets(fixture, UMAD_SM_ATTR_SLVL_TABLE);
	uint64_t arbs = sets(fixture, UMAD_SM_ATTR_VL_ARB_TABLE);
	uint64_t epoch = sweep_status(fixture->sweep)->epoch;

	ck_assert_uint_eq(gets(fixture, UMAD_SM_ATTR_SLVL_TABLE), n_sw);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_SLVL_TABLE), maps);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_VL_ARB_TABLE), arbs);
	ck_assert_uint_eq(gets(fixture, UMAD_SM_ATTR_SLVL_TABLE), n_sw);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->epoch, epoch);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_SLVL_TABLE), maps + n_sw);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_VL_ARB_TABLE), arbs);
	ck_assert_uint_eq(gets(fixture, UMAD_SM_ATTR_SLVL_TABLE), maps + n_sw);
	check_lanes(fixture);
}
END_TEST

/* A switch or host that forgot its tables gets them again, and no other. */
START_TEST(rebooted)
{
	fixture = fixture_lanes("ft2 6 6 3");
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	uint64_t all = sets(fixture, UMAD_SM_ATTR_SLVL_TABLE);
	uint32_t node =
		_i ? fixture->g->ports[fixture->g->hosts[fixture->g->n_hosts - 1]].node
		   : fixture->g->switches[fixture->g->n_switches - 1];

	ck_assert_int_eq(sim_reboot(fixture->sim, fixture->g->nodes[node].guid), E_OK);
	fixture_run_ms(fixture, 12000);
	fixture_up(fixture);
	check_lanes(fixture);
	ck_assert_uint_lt(sets(fixture, UMAD_SM_ATTR_SLVL_TABLE) - all, all / 2);
}
END_TEST

/* A switch forgot its tables while a port of it was without a cable. What that port had is forgotten,
 * too, so the audit accuses nobody of a change; it gets its tables when the cable is back. */
START_TEST(rebooted_without_cable)
{
	fixture = fixture_lanes("ft2 6 6 3");
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	log_set_level((enum log_level) - 1);
	fixture->config.audit_interval = AUDIT_S;
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	const struct graph *g = fixture->g;
	uint32_t port = g->hosts[g->n_hosts - 1];
	uint64_t host = g->nodes[g->ports[port].node].guid;
	uint64_t sw = g->nodes[g->ports[g->ports[port].peer].node].guid;

	ck_assert_int_eq(sim_set_link(fixture->sim, host, g->ports[port].num, false),
	                 E_OK);
	fixture_run_ms(fixture, 3000);
	fixture_up(fixture);
	ck_assert_int_eq(sim_reboot(fixture->sim, sw), E_OK);
	fixture_run_ms(fixture, 2 * AUDIT_S * 1000);
	fixture_up(fixture);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->audits, 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, 0);
	ck_assert_int_eq(sim_set_link(fixture->sim, host, g->ports[port].num, true),
	                 E_OK);
	fixture_run_ms(fixture, 12000);
	fixture_up(fixture);
	check_lanes(fixture);
}
END_TEST

/* Lost packets, and daemons killed in any phase: in the end every table is right. */
START_TEST(drops_and_kills)
{
	uint64_t seed = 0x51f15eed + 7919u * (unsigned)_i;

	log_set_level((enum log_level) - 1);
	fixture = fixture_lanes("ft2 4 4 2");
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	fixture_sim(fixture, (uint32_t)_i + 1, _i % 2 ? 50000 : 0);
	fixture_start(fixture);
	for (unsigned life = 0; life < 8; life++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		for (unsigned turn = (unsigned)(seed >> 33) % 1500; turn; turn--) {
			ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		}
		fixture_stop(fixture);
		fixture_start(fixture);
	}
	fixture_up(fixture);
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
	check_lanes(fixture);
}
END_TEST

static uint32_t switch_link(const struct sweep_fixture *r)
{
	return r->g->nodes[r->g->switches[0]].first_port + r->g->adj[0].port;
}

/* One link between switches without the VLs: no tables with lanes, and minhop instead. */
START_TEST(too_few_vls)
{
	fixture = fixture_lanes("ft2 6 6 3");
	fixture->g->ports[switch_link(fixture)].vls = (uint8_t)(_i + 1); /* 1, 2 VLs */
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "%s",
	              sweep_status(fixture->sweep)->not_ready);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_SLVL_TABLE), 0);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_VL_ARB_TABLE), 0);
	ck_assert_uint_eq(fixture_peek(fixture, fixture->g->hosts[0], PI_MASTER_SM_SL),
	                  0);
}
END_TEST

/* The arbitration tables of one link between switches have no room for all lanes. Without a weight a lane would
 * stand still, so no route is programmed. A link of a host may do without. */
START_TEST(no_room_to_arbitrate)
{
	static const char says[] = "has no room in its VL arbitration tables for all";
	uint32_t port;
	uint8_t *info;

	fixture = fixture_lanes("ft2 6 6 3");
	port = _i == 0 ? switch_link(fixture)
	               : fixture->g->ports[fixture->g->hosts[1]].peer;
	fixture_log(fixture);
	fixture_sim(fixture, 1, 0);
	info = fixture->sim->ports[port].info;
	field_set(info, PI_VL_ARB_LOW_CAP, 1);
	field_set(info, PI_VL_ARB_HIGH_CAP, 1);
	fixture_start(fixture);
	fixture_run_ms(fixture, 60000);
	ck_assert_int_eq(sweep_status(fixture->sweep)->up, _i != 0);
	ck_assert_int_eq(strstr(sweep_status(fixture->sweep)->not_ready, says) != NULL, _i == 0);
	ck_assert_int_eq(fixture_logged(fixture, says) != 0, _i == 0);
	ck_assert_int_eq(sets(fixture, UMAD_SM_ATTR_LINEAR_FT) != 0, _i != 0);
}
END_TEST

/* A host's cable may have fewer: SLs are folded there. So may all of them by option. */
START_TEST(narrow_hosts)
{
	fixture = fixture_lanes("ft2 6 6 3");
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	fixture->g->ports[fixture->g->hosts[1]].vls = 1;
	fixture->g->ports[fixture->g->hosts[2]].vls = 2;
	fixture->config.max_op_vls = _i ? 1 : 3;
	fixture->config.max_op_vls_of[QOS_SWE] = _i ? 3 : 0; /* and CAs as ever */
	fixture->config.max_op_vls_of[QOS_CA] = _i ? 4 : 0;
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	check_lanes(fixture);
	ck_assert_uint_eq(fixture_peek(fixture, fixture->g->hosts[0], PI_OPERATIONAL_VLS),
	                  3);
	ck_assert_uint_eq(fixture_peek(fixture, switch_link(fixture), PI_OPERATIONAL_VLS),
	                  3);
	ck_assert_uint_eq(fixture_peek(fixture, fixture->g->hosts[1], PI_OPERATIONAL_VLS),
	                  1);
	ck_assert_uint_eq(fixture_peek(fixture,
	                               fixture->g->ports[fixture->g->hosts[2]].peer,
	                               PI_OPERATIONAL_VLS),
	                  2);
}
END_TEST

/* Another engine while all is up: from one lane to several and back. */
START_TEST(engine_changes)
{
	fixture = fixture_lanes("ft2 6 6 3");
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	log_set_level((enum log_level) - 1);
	fixture->deps.list =
		(struct route_list){ .engine = { engine_find("minhop") }, .n = 1 };
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert_uint_eq(gets(fixture, UMAD_SM_ATTR_SLVL_TABLE), 0);
	for (unsigned round = 0; round < 2; round++) {
		fixture->deps.list.engine[0] = &dealer;
		sweep_reconfigure(fixture->sweep, &fixture->deps);
		fixture_heavy(fixture, 2 + 2 * round);
		check_lanes(fixture);
		fixture->deps.list.engine[0] = engine_find("minhop");
		sweep_reconfigure(fixture->sweep, &fixture->deps);
		fixture_heavy(fixture, 3 + 2 * round);
		ck_assert(sweep_status(fixture->sweep)->up);
		ck_assert_uint_eq(
			fixture_peek(fixture, fixture->g->hosts[0], PI_MASTER_SM_SL), 0);
		check_attrs(fixture); /* ports keep what they were given, and it shows */
	}
	/* read once, set once: nothing was forgotten in between */
	ck_assert_uint_eq(gets(fixture, UMAD_SM_ATTR_SLVL_TABLE),
	                  sets(fixture, UMAD_SM_ATTR_SLVL_TABLE));
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
}
END_TEST

/* qos FALSE, or fewer VLs by option: no lanes. */
START_TEST(lanes_forbidden)
{
	fixture = fixture_lanes("ft2 4 4 2");
	set_option(fixture,
	           _i == 0   ? "qos"
	           : _i == 1 ? "max_op_vls"
	                     : "qos_swe_max_vls",
	           _i == 0 ? "FALSE" : "2");
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert(sweep_status(fixture->sweep)->up);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_SLVL_TABLE), 0);
}
END_TEST

/* One lane and nobody who asked for quality of service: not a packet about it. */
/* How many of the 16 SLs have a path between two hosts; each is the one asked for. */
static unsigned count_sls(struct sweep_fixture *r)
{
	const struct graph *g = r->g;
	struct snap_reader *reader;
	unsigned n = 0, got;

	ck_assert_int_eq(snap_reader_local(r->snap, &reader), E_OK);
	ck_assert_int_eq(snap_pin(reader), E_OK);
	for (unsigned sl = 0; sl < 16; sl++) {
		if (ask_path(reader, &g->ports[g->hosts[0]], &g->ports[g->hosts[7]], sl,
		             &got)) {
			ck_assert_uint_eq(got, sl);
			n++;
		}
	}
	ck_assert_uint_eq(ask_path(reader, &g->ports[g->hosts[0]], &g->ports[g->hosts[7]],
	                           99, &got),
	                  1);
	ck_assert_uint_eq(got, 0);
	snap_reader_close(reader);
	return n;
}

START_TEST(not_wanted)
{
	fixture = fixture_bring_up("ft2 6 6 3", 1, 0);
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	fixture_heavy(fixture, 1);
	ck_assert(sweep_status(fixture->sweep)->up);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_SLVL_TABLE), 0);
	ck_assert_uint_eq(gets(fixture, UMAD_SM_ATTR_SLVL_TABLE), 0);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_VL_ARB_TABLE), 0);
	ck_assert_uint_eq(gets(fixture, UMAD_SM_ATTR_VL_ARB_TABLE), 0);
	ck_assert_uint_eq(fixture_peek(fixture, fixture->g->hosts[0], PI_VL_HIGH_LIMIT),
	                  0);
	ck_assert_uint_eq(count_records(fixture, &rec_slvl_table, 0, 0, 0, 0, NULL), 0);
	ck_assert_uint_eq(count_records(fixture, &rec_vl_arb, 0, 0, 0, 0, NULL), 0);
	ck_assert_uint_eq(count_sls(fixture), 1); /* nobody has said where others lead */
}
END_TEST

/* Asked for by the operator, kind of port by kind of port. */
static void asked_map(const struct sweep_fixture *r, uint32_t port, unsigned in,
                      const uint8_t map[16])
{
	static const uint8_t by_switch[] = { 3, 2, 1, 0, 4, 5, 6, 7,
		                             0, 1, 2, 3, 4, 5, 6, 15 };
	static const uint8_t by_host[] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 15
	};

	(void)in;
	ck_assert_mem_eq(map, is_switch(r, port) ? by_switch : by_host, 16);
}

START_TEST(asked_for)
{
	fixture = fixture_bring_up("ft2 6 6 3", 1, 0);
	set_option(fixture, "qos", "TRUE");
	set_option(fixture, "qos_swe_sl2vl", "3,2,1,0,4,5,6,7,8,9,10,11,12,13,14,15");
	set_option(fixture, "qos_ca_sl2vl", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,15");
	set_option(fixture, "qos_high_limit", "7");
	set_option(fixture, "qos_ca_high_limit", "255");
	set_option(fixture, "qos_vlarb_low", "0:1,1:2,9:3");
	set_option(fixture, "qos_vlarb_high", "2:200");
	fixture_heavy(fixture, 1);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "%s",
	              sweep_status(fixture->sweep)->not_ready);
	each_map(fixture, asked_map);
	ck_assert_uint_eq(count_sls(fixture), 15); /* 15 is dropped */
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		if (fixture->g->ports[i].peer != GRAPH_NONE) {
			ck_assert_uint_eq(fixture_peek(fixture, i, PI_VL_HIGH_LIMIT),
			                  is_switch(fixture, i) ? 7 : 255);
			ck_assert_uint_eq(weight_of(fixture, i, 0), 1);
			ck_assert_uint_eq(weight_of(fixture, i, 1), 5); /* 9 modulo 8 */
			ck_assert_uint_eq(weight_of(fixture, i, 2), 200);
			ck_assert_uint_eq(weight_of(fixture, i, 3), 0);
		}
	}
	/* Other words, by a reload: only what differs is sent. */
	uint64_t maps = sets(fixture, UMAD_SM_ATTR_SLVL_TABLE);
	set_option(fixture, "qos_ca_sl2vl", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,7");
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	fixture_heavy(fixture, 2);
	ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_SLVL_TABLE) - maps,
	                  fixture->g->n_hosts);
	set_option(fixture, "qos_swe_sl2vl", "0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7");
	set_option(fixture, "qos_sw0_sl2vl", "0,1,2,3,4,15,6,7,0,15,2,3,4,5,6,7");
	set_option(fixture, "qos_rtr_sl2vl", "0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7");
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	fixture_heavy(fixture, 3);
	ck_assert_uint_eq(count_sls(fixture), 14);
}
END_TEST

/* --- switches that do not go along -------------------------------------------------- */

/* Between the sweep and the simulation: SL-to-VL Sets come back refused, or changed. */
struct stubborn {
	struct transport t;
	struct transport *inner;
	uint8_t mad[256];
	bool changes, hosts_only;
	bool honest;     /* answers stay as they are */
	bool loses;      /* requests for SL-to-VL tables */
	unsigned op_vls; /* not 0: every port shows this OperationalVLs */
};

static struct stubborn *stubborn_of(struct transport *t)
{
	return (struct stubborn *)t;
}

static int stubborn_send(struct transport *t, const struct mad_msg *m)
{
	struct stubborn *b = stubborn_of(t);

	if (b->loses && field_get(m->data, MAD_ATTR_ID) == UMAD_SM_ATTR_SLVL_TABLE) {
		return E_OK;
	}
	return b->inner->ops->send(b->inner, m);
}

static int stubborn_recv(struct transport *t, uint64_t deadline, struct mad_msg *ret_msg)
{
	struct stubborn *b = stubborn_of(t);
	int ret = b->inner->ops->recv(b->inner, deadline, ret_msg);

	if (ret == E_OK && b->op_vls) {
		memcpy(b->mad, ret_msg->data, sizeof(b->mad));
		ret_msg->data = b->mad;
		if (b->mad[3] == UMAD_METHOD_GET_RESP &&
		    field_get(b->mad, MAD_ATTR_ID) == UMAD_SM_ATTR_PORT_INFO) {
			field_set(b->mad + SMP_DATA_AT, PI_OPERATIONAL_VLS, b->op_vls);
		}
		return ret;
	}

	if (ret != E_OK || b->honest || ret_msg->data[3] != UMAD_METHOD_GET_RESP ||
	    field_get(ret_msg->data, MAD_ATTR_ID) != UMAD_SM_ATTR_SLVL_TABLE ||
	    (b->hosts_only && field_get(ret_msg->data, MAD_ATTR_MOD) != 0)) {
		return ret;
	}
	memcpy(b->mad, ret_msg->data, sizeof(b->mad));
	if (b->changes) {
		field_set(b->mad + SMP_DATA_AT, 4, 4, 0); /* SL 1: VL 0 */
	} else {
		field_set(b->mad, MAD_STATUS, 0x801c);
	}
	ret_msg->data = b->mad;
	return ret;
}

static uint64_t stubborn_now(struct transport *t)
{
	return stubborn_of(t)->inner->ops->now_ms(stubborn_of(t)->inner);
}

static void stubborn_wake(struct transport *t)
{
	stubborn_of(t)->inner->ops->wake(stubborn_of(t)->inner);
}

static int stubborn_issm(struct transport *t, bool on)
{
	return stubborn_of(t)->inner->ops->set_issm(stubborn_of(t)->inner, on);
}

static const struct transport_ops stubborn_ops = { .name = "stubborn",
	                                           .send = stubborn_send,
	                                           .recv = stubborn_recv,
	                                           .wake = stubborn_wake,
	                                           .now_ms = stubborn_now,
	                                           .set_issm = stubborn_issm };

/* clang-format off */
static const struct {
	bool changes, hosts_only, lanes, up;
	const char *why;
} refusals[] = {
	{ false, false, true,  false, "does not take its tables" },
	{ true,  false, true,  false, "keeps other tables than it is given" },
	{ false, true,  true,  true,  "" }, /* a host's own lanes hold nothing up */
	{ false, false, false, true,  "" }, /* qos TRUE, one lane */
};
/* clang-format on */

START_TEST(refused)
{
	struct stubborn b = { .t.ops = &stubborn_ops,
		              .changes = refusals[_i].changes,
		              .hosts_only = refusals[_i].hosts_only };

	fixture = fixture_lanes("ft2 6 6 3");
	if (!refusals[_i].lanes) {
		fixture->deps.list =
			(struct route_list){ .engine = { engine_find("minhop") },
			                     .n = 1 };
		set_option(fixture, "qos", "TRUE");
	}
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	b.inner = sim_transport(fixture->sim);
	b.t.local = b.inner->local;
	fixture->transport = &b.t;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	const struct sweep_status *st = sweep_status(fixture->sweep);
	ck_assert_msg(st->up == refusals[_i].up, "%s", st->not_ready);
	ck_assert_ptr_nonnull(strstr(st->not_ready, refusals[_i].why));
	if (!refusals[_i].up) {
		ck_assert_uint_eq(sets(fixture, UMAD_SM_ATTR_LINEAR_FT), 0);
		ck_assert_uint_eq(st->epoch, 0);
	}
	fixture_stop(fixture);
}
END_TEST

static unsigned lanes_published(struct sweep_fixture *r)
{
	struct snap_reader *reader;
	unsigned n;

	ck_assert_int_eq(snap_reader_local(r->snap, &reader), E_OK);
	ck_assert_int_eq(snap_pin(reader), E_OK);
	n = snap_meta(reader)->vls_used;
	snap_reader_close(reader);
	return n;
}

/* Ports that keep an OperationalVLs of their own, whatever they are told: their links are
 * not restarted for it again and again, and the lanes are those they have. */
START_TEST(own_vls)
{
	static const struct {
		unsigned op_vls, wanted;
		bool enough;
	} cases[] = { { 4, 3, true }, { 3, 4, true }, { 2, 4, false }, { 1, 4, false } };
	struct stubborn b = { .t.ops = &stubborn_ops,
		              .op_vls = cases[_i].op_vls,
		              .hosts_only = true };

	fixture = fixture_lanes("ft2 6 6 3");
	fixture->config.max_op_vls = cases[_i].wanted;
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	b.inner = sim_transport(fixture->sim);
	b.t.local = b.inner->local;
	fixture->transport = &b.t;
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_le(sweep_status(fixture->sweep)->heavy_sweeps, 2);
	uint64_t bounces = sim_bounces(fixture->sim);
	for (unsigned i = 0; i < 3; i++) {
		sweep_request_heavy(fixture->sweep);
		fixture_run_ms(fixture, 3000);
		fixture_up(fixture);
	}
	ck_assert_uint_le(sweep_status(fixture->sweep)->heavy_sweeps, 5);
	ck_assert_uint_eq(sim_bounces(fixture->sim), bounces);
	ck_assert_uint_eq(lanes_published(fixture), cases[_i].enough ? LANES : 1);
	b.op_vls = 0; /* after a restart they take what they are told: nothing limits the lanes */
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		sim_reboot(fixture->sim, fixture->g->nodes[fixture->g->switches[i]].guid);
	}
	for (unsigned i = 0; i < 2; i++) {
		sweep_request_heavy(fixture->sweep);
		fixture_run_ms(fixture, 3000);
		fixture_up(fixture);
	}
	ck_assert_uint_eq(lanes_published(fixture), LANES);
	fixture_stop(fixture);
}
END_TEST

/* A sweep that is given up after it armed the ports of a node that had forgotten its tables
 * leaves no sign of that in the fabric. The next one gives the node its tables all the same. */
START_TEST(rebooted_and_given_up)
{
	struct stubborn b = { .t.ops = &stubborn_ops, .honest = true };

	fixture = fixture_lanes("ft2 6 6 3");
	set_option(fixture, "qos_sl2vl", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	log_set_level((enum log_level) - 1);
	fixture_sim(fixture, 1, 0);
	b.inner = sim_transport(fixture->sim);
	b.t.local = b.inner->local;
	fixture->transport = &b.t;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	uint32_t node =
		_i ? fixture->g->ports[fixture->g->hosts[fixture->g->n_hosts - 1]].node
		   : fixture->g->switches[fixture->g->n_switches - 1];

	ck_assert_int_eq(sim_reboot(fixture->sim, fixture->g->nodes[node].guid), E_OK);
	b.loses = true;
	while (sweep_status(fixture->sweep)->failed_sweeps == 0) {
		fixture_run_ms(fixture, 100);
	}
	b.loses = false;
	fixture_run_ms(fixture, 30000);
	fixture_up(fixture);
	check_lanes(fixture);
	fixture_stop(fixture);
}
END_TEST

/* --- what an operator asks for in vain ---------------------------------------------- */

static void policy_of(const char *text)
{
	struct diags bad;

	diags_init(&bad, fixture->a);
	ck_assert_int_eq(qos_policy_parse("q", text, strlen(text), fixture->a, &bad,
	                                  &fixture->config.qos_policy),
	                 E_OK);
}

static void sweep_twice(void)
{
	fixture_log(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_heavy(fixture, 1);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	fixture_up(fixture);
}

/* What has no effect, or names nothing, is said once and not in each sweep. */
START_TEST(policy_without_effect)
{
	static const char rules[] =
		"port-groups\nport-group\nname: nobody\nport-name: nowhere/P1\n"
		"end-port-group\nend-port-groups\n"
		"qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\n"
		"qos-level\nname: low\nsl: 1\nend-qos-level\nend-qos-levels\n"
		"qos-match-rules\nqos-match-rule\nsource: nobody\n"
		"qos-level-name: low\nend-qos-match-rule\nend-qos-match-rules\n";
	bool off = _i == 0;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	policy_of(rules);
	fixture->config.qos = off ? QOS_OFF : QOS_ON;
	sweep_twice();
	ck_assert_uint_eq(
		fixture_logged(fixture, "qos_policy_file has no effect: qos is FALSE"),
		off);
	ck_assert_uint_eq(fixture_logged(fixture, "SAG-QOS-002") > 0, !off);
	ck_assert_uint_eq(fixture_logged(fixture, "nobody"), !off);
}
END_TEST

/* The SL of a partition has no effect while qos is FALSE. */
START_TEST(sl_without_effect)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_partitions(fixture, "Default=0x7fff:ALL=full;Blue=0x22,sl=5:ALL=full;");
	sweep_twice();
	ck_assert_uint_eq(fixture_logged(fixture, "SAG-QOS-001"), 1);
	ck_assert_uint_eq(fixture_logged(fixture, "SL 5 of partition 0x"), 1);
}
END_TEST

TEST_SUITE(sweep_qos)
{
	TCase *t = tcase_create("qos");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, lanes, 0, sizeof(fabrics) / sizeof(fabrics[0]));
	tcase_add_test(t, own_rule);
	tcase_add_loop_test(t, own_rule_few_vls, 0, 2);
	tcase_add_loop_test(t, unchanged, 0, 2);
	tcase_add_loop_test(t, rebooted, 0, 2);
	tcase_add_test(t, rebooted_without_cable);
	tcase_add_loop_test(t, rebooted_and_given_up, 0, 2);
	tcase_add_loop_test(t, policy_without_effect, 0, 2);
	tcase_add_test(t, sl_without_effect);
	tcase_add_loop_test(t, drops_and_kills, 0, 10);
	tcase_add_loop_test(t, too_few_vls, 0, 2);
	tcase_add_loop_test(t, no_room_to_arbitrate, 0, 2);
	tcase_add_loop_test(t, narrow_hosts, 0, 2);
	tcase_add_loop_test(t, lanes_forbidden, 0, 3);
	tcase_add_test(t, engine_changes);
	tcase_add_test(t, not_wanted);
	tcase_add_test(t, asked_for);
	tcase_add_loop_test(t, refused, 0, sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_loop_test(t, own_vls, 0, 4);
	suite_add_tcase(suite, t);
}
