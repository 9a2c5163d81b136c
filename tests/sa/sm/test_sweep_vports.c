/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Virtual ports of channel adapters on a simulated fabric: they come up with LIDs and routes, at the
 * start and later, and adapters that lie about them cost little. */
#include "sa/sim/sim_state.h" /* before db/lmdb/layout.h, which names LFT_NO_ROUTE, too */

#include <ftw.h>

#include "conf/base/p_key.h"
#include "sa/path/path_query.h"
#include "sa/sm/sm.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { CAP = 100, OWN = 1, SHARED = 0, INTERVAL_MS = 10000 };

static struct sweep_fixture *fixture;

static void prepare(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 2 2", 0, 1);
	fixture->vport_cap = CAP;
	fixture->config.virt_enabled = 2;
	fixture->config.sweep_interval = INTERVAL_MS / 1000;
	fixture_sim(fixture, 1, 0);
}

static void stop(void)
{
	fixture_free(fixture);
	fixture = NULL;
}

static void up(void)
{
	fixture_start(fixture);
	fixture_up(fixture);
}

static uint32_t host(unsigned i)
{
	return fixture_host(fixture, i);
}

static uint64_t node_guid(unsigned h)
{
	return fixture_host_guid(fixture, h);
}

static uint8_t num(unsigned h)
{
	return fixture_host_num(fixture, h);
}

static uint16_t add(unsigned h, uint64_t guid, bool own)
{
	return fixture_add_vport(fixture, h, guid, own);
}

static uint64_t peek(unsigned h, uint16_t index, unsigned bit, unsigned width)
{
	uint8_t data[64];

	ck_assert_int_eq(
		sim_peek(fixture->sim, node_guid(h), VPORT_ATTR_INFO, index, data), E_OK);
	return field_get(data, bit, width);
}

static uint32_t base_lid(unsigned h)
{
	return (uint32_t)field_get(fixture->sim->ports[host(h)].info, PI_LID);
}

static bool is_up(unsigned h, uint16_t index)
{
	return peek(h, index, VPI_STATE) == PORT_ACTIVE;
}

/* The LID of a virtual port that has one; all switches have routes to it as to its port. */
static uint32_t check_own(unsigned h, uint16_t index)
{
	uint32_t lid = (uint32_t)peek(h, index, VPI_LID), base = base_lid(h);

	ck_assert_msg(is_up(h, index), "virtual port %u is in state %u", index,
	              (unsigned)peek(h, index, VPI_STATE));
	ck_assert_uint_ne(lid, 0);
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		const struct sim_node *n = &fixture->sim->nodes[fixture->g->switches[i]];

		ck_assert_uint_gt(n->lft_len, lid);
		ck_assert_uint_ne(n->lft[lid], LFT_NO_ROUTE);
		ck_assert_uint_eq(n->lft[lid], n->lft[base]);
		ck_assert_uint_le(lid, field_get(n->sw_info, SI_LINEAR_FDB_TOP));
	}
	return lid;
}

static uint64_t smps(uint16_t attr)
{
	return sim_count(fixture->sim, UMAD_METHOD_GET, attr) +
	       sim_count(fixture->sim, UMAD_METHOD_SET, attr);
}

static uint64_t vport_smps(void)
{
	uint64_t n = smps(
		ATTR_GENERAL_INFO); /* and all others that have no counter of their own */

	for (uint16_t attr = VPORT_ATTR_VIRTUALIZATION_INFO; attr <= VPORT_ATTR_P_KEYS;
	     attr++) {
		n += smps(attr);
	}
	return n;
}

START_TEST(come_up_with_the_fabric)
{
	uint16_t a = add(0, 0, OWN), b = add(0, 0, OWN), c = add(1, 0, SHARED);
	uint32_t lid_a, lid_b;

	up();
	lid_a = check_own(0, a);
	lid_b = check_own(0, b);
	ck_assert_uint_ne(lid_a, lid_b);
	ck_assert(is_up(1, c));
	ck_assert_uint_eq(peek(1, c, VPI_LID), 0);
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t lid = (uint32_t)field_get(
			fixture->sim->ports[fixture->g->end_ports[i]].info, PI_LID);

		ck_assert(lid != lid_a && lid != lid_b);
	}
}
END_TEST

START_TEST(left_alone_by_default)
{
	uint16_t a = add(0, 0, OWN);

	fixture->config.virt_enabled = 0;
	up();
	ck_assert_uint_eq(peek(0, a, VPI_STATE), PORT_DOWN);
	ck_assert_uint_eq(vport_smps(), 0);
}
END_TEST

START_TEST(disabled)
{
	uint16_t a = add(0, 0, OWN);

	up();
	ck_assert(is_up(0, a));
	fixture->config.virt_enabled = 1;
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	fixture_up(fixture);
	ck_assert_uint_eq(peek(0, a, VPI_STATE), PORT_DOWN);
}
END_TEST

START_TEST(appear_without_a_heavy_sweep)
{
	uint32_t heavy;
	uint16_t a;

	up();
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	a = add(2, 0xabc, OWN);
	fixture_run_ms(fixture, INTERVAL_MS + 2000);
	check_own(2, a);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->local_sweeps, 1);
	ck_assert(sweep_job(fixture->sweep)->route.incremental);
}
END_TEST

START_TEST(trap_is_enough)
{
	uint16_t a;

	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 5000);
	a = add(2, 0xabc, OWN);
	fixture_run_ms(fixture, 8000);
	check_own(2, a);
}
END_TEST

START_TEST(lids_are_kept)
{
	uint16_t a, b;
	uint32_t lid, other;

	a = add(0, 0xabc, OWN);
	b = add(0, 0xdef, OWN);
	up();
	lid = check_own(0, a);
	other = check_own(0, b);
	/* another process finds them in its state, although the ports lost them */
	fixture_stop(fixture);
	ck_assert_int_eq(sim_reboot(fixture->sim, node_guid(0)), E_OK);
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 3 * INTERVAL_MS);
	ck_assert_uint_eq(check_own(0, a), lid);
	ck_assert_uint_eq(check_own(0, b), other);
	/* a virtual machine moves to another host */
	ck_assert_int_eq(sim_vport_remove(fixture->sim, node_guid(0), num(0), a), E_OK);
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	a = add(3, 0xabc, OWN);
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	ck_assert_uint_eq(check_own(3, a), lid);
	ck_assert_uint_eq(check_own(0, b), other);
}
END_TEST

/* Another subnet manager without our state sees the LIDs that virtual ports have; one that is new
 * gets none of them, also where its GUID is the lowest. */
START_TEST(lids_are_kept_without_a_state)
{
	uint16_t a = add(0, 0xdef, OWN), b;
	uint32_t lid;

	up();
	lid = check_own(0, a);
	fixture_stop(fixture);
	nftw(fixture->state_dir, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
	b = add(2, 0xabc, OWN);
	up();
	ck_assert_uint_eq(check_own(0, a), lid);
	ck_assert_uint_ne(check_own(2, b), lid);
}
END_TEST

/* The tables from which a sweep plans its transition have the LIDs of virtual ports, also those
 * that are new. */
START_TEST(earlier_tables_have_their_lids)
{
	const struct job *j;
	uint32_t lid;

	up();
	for (unsigned i = 0; i < 80; i++) {
		add(i % 4, 0, OWN);
	}
	for (unsigned k = 0; k < 2; k++) {
		sweep_request_heavy(fixture->sweep);
		fixture_heavy(fixture, 2 + k);
		fixture_up(fixture);
		j = sweep_job(fixture->sweep);
		ck_assert_uint_eq(j->prev.n_lids, j->vport_lids.all.top + 1);
	}
	lid = j->vport_lids.own[0].lid;
	ck_assert_uint_gt(lid, j->lids.lids.top);
	for (uint32_t s = 0; s < j->prev.n_switches; s++) {
		ck_assert_uint_ne(lft_row(&j->prev, s)[lid], LFT_NO_ROUTE);
	}
}
END_TEST

START_TEST(rebooted_host)
{
	uint16_t a = add(1, 0, OWN), b = add(1, 0, SHARED);
	uint32_t lid;

	up();
	lid = check_own(1, a);
	ck_assert_int_eq(sim_reboot(fixture->sim, node_guid(1)), E_OK);
	fixture_run_ms(fixture, 3 * INTERVAL_MS);
	ck_assert_uint_eq(check_own(1, a), lid);
	ck_assert(is_up(1, b));
}
END_TEST

START_TEST(guid_belongs_to_the_first)
{
	uint64_t port_guid = fixture->g->ports[host(3)].guid;
	uint16_t first = add(0, 0xabc, OWN), second, thief;

	up();
	check_own(0, first);
	second = add(1, 0xabc, OWN);
	thief = add(1, port_guid, OWN);
	fixture_run_ms(fixture, 3 * INTERVAL_MS);
	check_own(0, first);
	ck_assert_uint_eq(peek(1, second, VPI_LID), 0);
	ck_assert(!is_up(1, second));
	ck_assert(!is_up(1, thief));
	ck_assert_int_eq(sim_vport_remove(fixture->sim, node_guid(0), num(0), first),
	                 E_OK);
	fixture_run_ms(fixture, 3 * INTERVAL_MS);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, INTERVAL_MS);
	check_own(1, second);
}
END_TEST

/* An adapter claimed the GUID of a switch, and is gone. Its virtual ports are not those of the switch. */
START_TEST(adapter_with_the_guid_of_a_switch)
{
	struct vport one = { .guid = 0xabc };
	struct vport_host gone = {
		.node_guid = fixture->g->nodes[fixture->g->switches[0]].guid,
		.num = 1,
		.list = &one,
		.n = 1
	};
	struct vport_host *hosts[] = { &gone };
	struct vports v = { .hosts = hosts, .n_hosts = 1 };

	ck_assert_int_eq(vports_index(&v, fixture->g), E_OK);
	ck_assert_uint_eq(gone.port, GRAPH_NONE);
	ck_assert(!vports_has_guid(&v, 0xabc));
	hash_done(&v.by_guid);
}
END_TEST

START_TEST(quiet_when_nothing_changes)
{
	uint64_t before;

	for (unsigned i = 0; i < 20; i++) {
		add(i % 4, 0, i % 2);
	}
	up();
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	before = vport_smps();
	fixture_run_ms(fixture, 10 * INTERVAL_MS);
	/* one VirtualizationInfo of each host in each light sweep */
	ck_assert_uint_le(vport_smps() - before, 11 * fixture->g->n_hosts);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1);
}
END_TEST

/* An adapter that lies: what it costs in ten minutes, beside what honest ones cost. */
START_TEST(lies_cost_little)
{
	static const struct {
		enum sim_vport_lie lie;
		uint64_t most; /* SMPs about virtual ports */
	} cases[] = {
		{ SIM_VPORT_MANY, 8000 },
		{ SIM_VPORT_CHANGES, 400 },
		{ SIM_VPORT_NONSENSE, 60000 },
	};
	uint16_t honest = add(0, 0, OWN), liar = add(1, 0, OWN);
	uint64_t before, cost;
	uint32_t lid;

	up();
	lid = check_own(0, honest);
	ck_assert_int_eq(
		sim_vport_lie(fixture->sim, node_guid(1), num(1), cases[_i].lie), E_OK);
	before = vport_smps();
	fixture_run_ms(fixture, 60 * INTERVAL_MS);
	cost = vport_smps() - before - 60 * fixture->g->n_hosts;
	ck_assert_msg(cost <= cases[_i].most, "%llu SMPs",
	              (unsigned long long)cost);
	ck_assert_uint_eq(check_own(0, honest), lid);
	ck_assert(sweep_status(fixture->sweep)->up);
	ck_assert_int_eq(
		sim_vport_lie(fixture->sim, node_guid(1), num(1), SIM_VPORT_TRUTH), E_OK);
	fixture_run_ms(fixture, 100 * INTERVAL_MS);
	check_own(1, liar);
}
END_TEST

/* Where the routes to a port change, so do those to the LIDs of its virtual ports. */
START_TEST(lids_change_with_their_ports)
{
	static const struct vport_lid own[] = {
		{ 40, 5 }, { 41, 7 }, { 42, 9 }, { 43, 5 }
	};
	static const uint32_t some[] = { 3, 5, 9, 60 },
			      want[] = { 3, 5, 9, 40, 42, 43, 60 };
	const struct vports_lids l = { .own = own, .n_own = 4 }, none = { .n_own = 0 };
	const uint32_t *lid = some;
	uint32_t n = 4;

	ck_assert_int_eq(vports_extend_changes(&none, fixture->a, &lid, &n), E_OK);
	ck_assert(lid == some && n == 4);
	ck_assert_int_eq(vports_extend_changes(&l, fixture->a, &lid, &n), E_OK);
	ck_assert_uint_eq(n, 7);
	ck_assert_mem_eq(lid, want, sizeof(want));
	n = 0;
	lid = some;
	ck_assert_int_eq(vports_extend_changes(&l, fixture->a, &lid, &n), E_OK);
	ck_assert(lid == some && n == 0);
}
END_TEST

/* An adapter whose virtual ports have changed for long is read ever more rarely, but one quiet look ends that. */
START_TEST(quiet_again)
{
	const struct sim_virtual *v;
	uint16_t later;
	unsigned looks = 0;

	add(1, 0, OWN);
	up();
	v = fixture->sim->ports[fixture_host(fixture, 1)].virtual_ports;
	ck_assert_int_eq(
		sim_vport_lie(fixture->sim, node_guid(1), num(1), SIM_VPORT_CHANGES),
		E_OK);
	fixture_run_ms(fixture, 60 * INTERVAL_MS);
	ck_assert_int_eq(
		sim_vport_lie(fixture->sim, node_guid(1), num(1), SIM_VPORT_TRUTH), E_OK);
	for (; v->changed; looks++) {
		fixture_run_ms(fixture, INTERVAL_MS);
		ck_assert_uint_lt(looks, 60);
	}
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	later = add(1, 0xd00d, OWN);
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	check_own(1, later);
}
END_TEST

/* Virtual machines with new GUIDs come and go, more in all than an adapter may have LIDs at a time: each of
 * them gets a LID all the same, and others keep theirs. */
START_TEST(guids_come_and_go)
{
	enum { MACHINES = 90, ROUNDS = VPORTS_LIDS_MAX / MACHINES + 3 };
	uint16_t honest = add(0, 0xabc, OWN), index[MACHINES];
	uint32_t lid;

	for (unsigned i = 0; i < MACHINES; i++) {
		index[i] = add(1, 0xd000000 + i, OWN);
	}
	up();
	lid = check_own(0, honest);
	for (unsigned round = 1; round < ROUNDS; round++) {
		for (unsigned i = 0; i < MACHINES; i++) {
			ck_assert_int_eq(sim_vport_set_guid(fixture->sim, node_guid(1), num(1),
			                                    index[i],
			                                    0xd000000 + (round << 8) + i),
			                 E_OK);
		}
		fixture_run_ms(fixture, 2 * INTERVAL_MS);
		for (unsigned i = 0; i < MACHINES; i++) {
			ck_assert_msg(is_up(1, index[i]), "round %u, machine %u", round, i);
		}
	}
	check_own(1, index[MACHINES - 1]);
	ck_assert_uint_eq(check_own(0, honest), lid);
	/* the state does not hold more of them than that */
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_eq(check_own(0, honest), lid);
}
END_TEST

/* --- what readers see ------------------------------------------------------------------- */

static struct snap_reader *pinned(void)
{
	struct snap_reader *r;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	return r;
}

/* The path from a host's port to a virtual port by GUIDs. */
static int path_to(struct snap_reader *r, unsigned from, uint64_t guid,
                   struct path_record *ret_record)
{
	struct path_query q = { .numb_path = 1, .dst_alias = guid };
	size_t n = 0;
	int ret = snap_port_guid(r, fixture->g->ports[host(from)].guid, &q.src);

	ck_assert_int_eq(ret, E_OK);
	ret = snap_port_guid(r, guid, &q.dst);
	return ret == E_OK ? path_query_run(r, &q, ret_record, 1, &n) : ret;
}

START_TEST(paths)
{
	uint16_t own = add(0, 0xabc, OWN);
	struct snap_reader *r;
	struct path_record rec;
	struct snap_vport v;
	struct snap_end end;
	uint32_t lid;

	add(0, 0xdef, SHARED);
	up();
	lid = check_own(0, own);
	r = pinned();
	ck_assert_int_eq(path_to(r, 3, 0xabc, &rec), E_OK);
	ck_assert_uint_eq(rec.dlid, lid);
	ck_assert_uint_eq(rec.dgid_guid, 0xabc);
	ck_assert_uint_eq(rec.hop_limit, 2);
	ck_assert_uint_eq(rec.reversible, 1);
	ck_assert_int_eq(path_to(r, 3, 0xdef, &rec), E_OK);
	ck_assert_uint_eq(rec.dlid, base_lid(0));
	ck_assert_uint_eq(rec.dgid_guid, 0xdef);
	ck_assert_uint_eq(rec.hop_limit, 2);
	ck_assert_int_eq(path_to(r, 3, fixture->g->ports[host(0)].guid, &rec), E_OK);
	ck_assert_uint_eq(rec.dlid, base_lid(0));
	ck_assert_uint_eq(rec.hop_limit, 0);
	ck_assert_int_eq(snap_lid(r, lid, &end), E_OK);
	ck_assert_uint_eq(end.port_guid, 0xabc);
	ck_assert_uint_eq(end.node_guid, node_guid(0));
	ck_assert_int_eq(snap_vport_by_guid(r, 0xdef, &v), E_OK);
	ck_assert_uint_eq(v.lid, base_lid(0));
	ck_assert_uint_eq(v.state, PORT_ACTIVE);
	ck_assert_uint_eq(v.index, 2);
	ck_assert(strstr(v.description, " vport 2") != NULL);
	ck_assert_int_eq(snap_vport(r, node_guid(0), 2, &v), E_NOTFOUND);
	snap_reader_close(r);
}
END_TEST

START_TEST(lid_by_index)
{
	uint16_t own = add(0, 0xabc, OWN), other = add(0, 0xdef, SHARED);
	uint8_t data[64] = { 0 };
	struct snap_reader *r;
	struct path_record rec;
	uint32_t lid;

	field_set(data, VPI_LID_BY_INDEX, own);
	ck_assert_int_eq(
		sim_poke(fixture->sim, node_guid(0), VPORT_ATTR_INFO, other, data), E_OK);
	up();
	lid = check_own(0, own);
	ck_assert(is_up(0, other));
	ck_assert_uint_eq(peek(0, other, VPI_LID_BY_INDEX), own);
	r = pinned();
	ck_assert_int_eq(path_to(r, 2, 0xdef, &rec), E_OK);
	ck_assert_uint_eq(rec.dlid, lid);
	snap_reader_close(r);
}
END_TEST

START_TEST(a_cable_is_lost)
{
	uint16_t a = add(0, 0xabc, OWN), b = add(7, 0xdef, OWN);
	uint32_t lids[2];

	up();
	lids[0] = check_own(0, a);
	lids[1] = check_own(7, b);
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		const struct node *n = &fixture->g->nodes[fixture->g->switches[i]];

		for (unsigned k = 1; k <= n->n_ports; k++) {
			uint32_t peer = fixture->g->ports[n->first_port + k].peer;

			if (peer == GRAPH_NONE || graph_is_host(fixture->g, peer)) {
				continue;
			}
			sim_set_link(fixture->sim, n->guid, (uint8_t)k, false);
			fixture_run_ms(fixture, 2 * INTERVAL_MS);
			ck_assert_uint_eq(check_own(0, a), lids[0]);
			ck_assert_uint_eq(check_own(7, b), lids[1]);
			sim_set_link(fixture->sim, n->guid, (uint8_t)k, true);
			fixture_run_ms(fixture, 2 * INTERVAL_MS);
			ck_assert_uint_eq(check_own(0, a), lids[0]);
		}
	}
}
END_TEST

/* Does the switch port of a host let packets of a partition pass? */
static bool switch_has_key(unsigned h, uint16_t key)
{
	return sim_pkey_find(fixture->sim, fixture->g->ports[host(h)].peer, key) >= 0;
}

START_TEST(their_tables_are_left_alone)
{
	struct path_record rec;
	struct snap_reader *r;
	uint16_t a = add(0, 0xabc, OWN);

	fixture_partitions(fixture, "t=0x10: 0xabc=full;\nv=0x11: ALL_VCAS=full;\n");
	up();
	check_own(0, a);
	ck_assert_uint_eq(smps(VPORT_ATTR_P_KEYS) + smps(VPORT_ATTR_GUID_INFO), 0);
	ck_assert(!switch_has_key(0, 0x8010) && !switch_has_key(0, 0x8011));
	/* a path has a P_Key of the port, which is in the default partition only */
	r = pinned();
	ck_assert_int_eq(path_to(r, 3, 0xabc, &rec), E_OK);
	ck_assert_uint_eq(rec.p_key & P_KEY_BASE, 0x7fff);
	snap_reader_close(r);
}
END_TEST

static void sweep_twice(void)
{
	fixture_log(fixture);
	up();
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->heavy_sweeps, 2);
}

/* Tables of virtual ports are not written, so ALL_VCAS does nothing: the log says so, and
 * not in each sweep. */
START_TEST(all_vcas_has_no_effect)
{
	add(0, 0xabc, OWN);
	fixture_partitions(fixture, "v=0x11: ALL_VCAS=full;\n");
	sweep_twice();
	ck_assert_uint_eq(fixture_logged(fixture, "ALL_VCAS has no effect"), 1);
	ck_assert(!switch_has_key(0, 0x8011));
}
END_TEST

/* An adapter whose answers are late changes while it is read. It is read again at once, and the end of the
 * first reading does not replace what the second one found. */
START_TEST(changes_while_it_is_read)
{
	static const struct sim_noise late = { .delay_ppm = 300000, .delay_us = 190000 };
	struct snap_reader *r;
	struct snap_end end;
	uint16_t a;

	fixture->config.sweep_interval = 0;
	a = add(2, 0xabc, OWN);
	for (unsigned i = 0; i < 20; i++) {
		add(2, 0, OWN);
	}
	up();
	for (uint64_t guid = 0xa00; guid < 0xa30; guid += 2) {
		fixture_run_ms(fixture, 5000);
		sim_set_noise(fixture->sim, &late);
		for (unsigned i = 0; i < 2; i++) {
			ck_assert_int_eq(sim_vport_set_guid(fixture->sim, node_guid(2),
			                                    num(2), a, guid + i),
			                 E_OK);
			fixture_run_ms(fixture, 120 + guid % 16);
		}
		sim_set_noise(fixture->sim, &(struct sim_noise){ 0 });
		fixture_run_ms(fixture, 8000);
		check_own(2, a);
		ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
		ck_assert_int_eq(snap_pin(r), E_OK);
		ck_assert_int_eq(snap_port_guid(r, guid + 1, &end), E_OK);
		ck_assert_uint_eq(end.base_lid, peek(2, a, VPI_LID));
		snap_reader_close(r);
	}
}
END_TEST

/* Another master has set up our port. Meanwhile a virtual port was added, P_Keys were changed, and it cleared
 * the bits that would have told us. */
START_TEST(another_master_wrote)
{
	const struct port *own = &fixture->g->ports[fixture->g->sm_port];
	uint64_t guid = fixture->g->nodes[own->node].guid;
	uint16_t a = add(2, 0xabc, OWN), b;
	uint8_t info[64], keys[64] = { 0x12, 0x34 };
	struct sim_virtual *v;

	fixture_partitions(fixture, "t=0x10: ALL=full, 0xabc=full;\n");
	up();
	check_own(2, a);
	b = add(2, 0xdef, OWN);
	v = fixture->sim->ports[host(2)].virtual_ports;
	v->changed = false;
	v->cleared_ups = fixture->sim->ports[host(2)].ups;
	ck_assert_int_eq(
		sim_poke(fixture->sim, node_guid(2), UMAD_SM_ATTR_PKEY_TABLE, 0, keys),
		E_OK);
	ck_assert_int_eq(
		sim_peek(fixture->sim, guid, UMAD_SM_ATTR_PORT_INFO, own->num, info),
		E_OK);
	field_set(info, PI_MASTER_SM_LID, 99);
	field_set(info, PI_PORT_STATE, 0);
	field_set(info, PI_PORT_PHYSICAL_STATE, 0);
	ck_assert_int_eq(
		sim_poke(fixture->sim, guid, UMAD_SM_ATTR_PORT_INFO, own->num, info),
		E_OK);
	fixture_run_ms(fixture, 3 * INTERVAL_MS);
	fixture_up(fixture);
	check_own(2, a);
	check_own(2, b);
	ck_assert_int_eq(
		sim_peek(fixture->sim, node_guid(2), UMAD_SM_ATTR_PKEY_TABLE, 0, info),
		E_OK);
	ck_assert_int_ne(memcmp(info, keys, 2), 0);
}
END_TEST

TEST_SUITE(sweep_vports)
{
	TCase *t = tcase_create("virtual ports");

	tcase_add_checked_fixture(t, prepare, stop);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, come_up_with_the_fabric);
	tcase_add_test(t, left_alone_by_default);
	tcase_add_test(t, disabled);
	tcase_add_test(t, appear_without_a_heavy_sweep);
	tcase_add_test(t, trap_is_enough);
	tcase_add_test(t, lids_are_kept);
	tcase_add_test(t, lids_are_kept_without_a_state);
	tcase_add_test(t, earlier_tables_have_their_lids);
	tcase_add_test(t, rebooted_host);
	tcase_add_test(t, guid_belongs_to_the_first);
	tcase_add_test(t, adapter_with_the_guid_of_a_switch);
	tcase_add_test(t, quiet_when_nothing_changes);
	tcase_add_test(t, paths);
	tcase_add_test(t, lid_by_index);
	tcase_add_test(t, a_cable_is_lost);
	tcase_add_test(t, their_tables_are_left_alone);
	tcase_add_test(t, all_vcas_has_no_effect);
	tcase_add_test(t, changes_while_it_is_read);
	tcase_add_test(t, another_master_wrote);
	tcase_add_test(t, guids_come_and_go);
	tcase_add_loop_test(t, lies_cost_little, 0, 3);
	tcase_add_test(t, quiet_again);
	tcase_add_test(t, lids_change_with_their_ports);
	suite_add_tcase(suite, t);
}
