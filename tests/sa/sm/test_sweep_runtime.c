/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Partitions changed at run time on a simulated fabric: which ports are programmed, restarts,
 * ports that come later, lost MADs, tables that are too small.
 */
#include <signal.h>
#include <sys/resource.h>

#include "conf/base/p_key.h"
#include "conf/policy/partitions.h"
#include "sa/partition/plan.h"
#include "sa/partition/runtime.h"
#include "sa/partition/runtime_change.h"
#include "sa/sim/sim_state.h"
#include "sa/sm/sweep/p_keys.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { SEEDS = 6, STEPS = 60, KEYS_MAX = 64, TURNS = 200000 };

static struct sweep_fixture *fixture;
static char why[300];

static void stop(void)
{
	fixture_free(fixture);
	fixture = NULL;
}

static void up(const char *topo)
{
	fixture = fixture_new();
	fixture_topo(fixture, topo, 0, 1);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
}

static uint64_t sets(uint16_t attr)
{
	return sim_count(fixture->sim, UMAD_METHOD_SET, attr);
}

static uint32_t host(unsigned i)
{
	return fixture_host(fixture, i);
}

static uint64_t guid(unsigned i)
{
	return fixture->g->ports[host(i)].guid;
}

static uint32_t peer(unsigned i)
{
	return fixture->g->ports[host(i)].peer;
}

static bool has_key(uint32_t port, uint16_t key)
{
	for (unsigned i = 0; i < KEYS_MAX; i++) {
		if (sim_pkey_at(fixture->sim, port, i) == key) {
			return true;
		}
	}
	return false;
}

static int change(enum runtime_action action, uint16_t p_key,
                  const struct runtime_member *members, uint32_t n)
{
	struct runtime_member copy[600];
	struct runtime_change c = { .action = action,
		                    .p_key = p_key,
		                    .create = true,
		                    .indx0 = RUNTIME_SAME,
		                    .ipoib = RUNTIME_SAME,
		                    .sl = RUNTIME_SAME,
		                    .rate = RUNTIME_SAME,
		                    .mtu = RUNTIME_SAME,
		                    .members = copy,
		                    .n_members = n };
	struct partition_outcome out;

	memcpy(copy, members, n * sizeof(*copy));
	why[0] = '\0';
	return sweep_change_partitions(fixture->sweep, &c, &out, why, sizeof(why));
}

static int change_one(enum runtime_action action, uint16_t p_key, uint64_t member,
                      uint8_t membership)
{
	return change(action, p_key, &(struct runtime_member){ member, membership }, 1);
}

/* Turns until the last version is in ports and snapshot. */
static void settle(void)
{
	uint64_t version = sweep_runtime_partitions(fixture->sweep)->version;
	const struct p_keys_port *missing;
	unsigned turns = 0;
	uint32_t n = 1;

	while (sweep_partitions_settled(fixture->sweep, &missing, &n) < version ||
	       n != 0 || strcmp(sweep_status(fixture->sweep)->phase, "idle") != 0) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		ck_assert_msg(++turns < TURNS, "version %llu is not programmed",
		              (unsigned long long)version);
	}
}

/* --- two ports and no sweep --------------------------------------------------------------- */

START_TEST(programs_two_ports)
{
	uint64_t keys, infos;
	uint32_t sweeps;

	up("ft2 6 6 3");
	keys = sets(UMAD_SM_ATTR_PKEY_TABLE);
	infos = sets(UMAD_SM_ATTR_PORT_INFO);
	sweeps = fixture_sweeps(fixture);
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(3), PARTITION_FULL), E_OK);
	settle();
	ck_assert_uint_eq(sets(UMAD_SM_ATTR_PKEY_TABLE), keys + 2);
	ck_assert_uint_eq(sets(UMAD_SM_ATTR_PORT_INFO), infos);
	ck_assert_uint_eq(fixture_sweeps(fixture), sweeps);
	ck_assert(has_key(host(3), 0x8010) && has_key(peer(3), 0x8010));
	ck_assert(!has_key(host(4), 0x8010) && !has_key(peer(4), 0x8010));
	/* the same once more is nothing, also to the state */
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(3), PARTITION_FULL), E_OK);
	ck_assert_uint_eq(sweep_runtime_partitions(fixture->sweep)->version, 1);
	ck_assert_int_eq(change_one(RUNTIME_REMOVE, 0x10, guid(3), 0), E_OK);
	settle();
	ck_assert_uint_eq(sets(UMAD_SM_ATTR_PKEY_TABLE), keys + 4);
	ck_assert(!has_key(host(3), 0x8010) && !has_key(peer(3), 0x8010));
	/* a sweep finds nothing to do */
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, sweeps + 1);
	fixture_up(fixture);
	ck_assert_uint_eq(sets(UMAD_SM_ATTR_PKEY_TABLE), keys + 4);
}
END_TEST

/* --- what outlives what ------------------------------------------------------------------- */

/* A killed daemon, another configuration. */
START_TEST(outlives_restart_and_reload)
{
	struct sweep_deps deps;

	up("ft2 3 2 2");
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(1), PARTITION_LIMITED), E_OK);
	fixture_stop(fixture); /* before it is programmed */
	ck_assert(!has_key(host(1), 0x0010));
	fixture_start(fixture);
	fixture_up(fixture);
	settle();
	ck_assert(has_key(host(1), 0x0010) && has_key(peer(1), 0x0010));
	fixture_partitions(fixture, "Other=0x11:ALL=full;");
	deps = fixture->deps;
	sweep_reconfigure(fixture->sweep, &deps);
	fixture_heavy(fixture, 2);
	fixture_up(fixture);
	ck_assert(has_key(host(1), 0x0010) && has_key(host(1), 0x8011));
	ck_assert(has_key(host(2), 0x8011) && !has_key(host(2), 0x0010));
}
END_TEST

/* A step that is given up while tables are under way: nobody knows which ports have them, so none
 * keeps a P_Key that it is not to have any more. */
START_TEST(given_up_on_the_way)
{
	struct sweep_deps deps;
	uint64_t keys;

	up("ft2 3 2 2");
	keys = sets(UMAD_SM_ATTR_PKEY_TABLE);
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(1), PARTITION_FULL), E_OK);
	while (!has_key(host(1), 0x8010)) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert_str_eq(sweep_status(fixture->sweep)->phase, "partitions");
	deps = fixture->deps;
	sweep_reconfigure(fixture->sweep, &deps);
	ck_assert_int_eq(change_one(RUNTIME_REMOVE, 0x10, guid(1), 0), E_OK);
	settle();
	ck_assert(!has_key(host(1), 0x8010) && !has_key(peer(1), 0x8010));
	ck_assert_uint_gt(sets(UMAD_SM_ATTR_PKEY_TABLE), keys + 1);
}
END_TEST

/* A change that cannot be stored does not happen. */
START_TEST(full_disk)
{
	struct rlimit before, none;
	struct runtime_member many[500];
	uint64_t keys;

	up("ft2 3 2 2");
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(1), PARTITION_FULL), E_OK);
	settle();
	keys = sets(UMAD_SM_ATTR_PKEY_TABLE);
	for (unsigned i = 0; i < 500; i++) {
		many[i] = (struct runtime_member){ i == 0 ? guid(2) : 0x900 + i,
			                           PARTITION_FULL };
	}
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){ .rlim_cur = 4096, .rlim_max = before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	int ret = change(RUNTIME_ADD, 0x10, many, 500);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_ne(ret, E_OK);
	ck_assert_int_ne(ret, E_FULL); /* which is for tables of ports */
	ck_assert_msg(strstr(why, "the state cannot be written") != NULL, "%s", why);
	ck_assert_uint_eq(sweep_runtime_partitions(fixture->sweep)->version, 1);
	fixture_run_ms(fixture, 15000);
	ck_assert_uint_eq(sets(UMAD_SM_ATTR_PKEY_TABLE), keys);
	ck_assert_int_eq(change(RUNTIME_ADD, 0x10, many, 500), E_OK);
	settle();
	ck_assert(has_key(host(2), 0x8010));
}
END_TEST

/* Transactions that write something. */
struct transactions {
	unsigned n;
	bool writes;
};

static void note_write(void *ctx, const struct state_write *w)
{
	struct transactions *t = ctx;

	(void)w;
	t->writes = true;
}

static void note_end(void *ctx)
{
	struct transactions *t = ctx;

	t->n += t->writes;
	t->writes = false;
}

static void ignore(void *ctx)
{
	(void)ctx;
}

/* Changes that are held share a transaction. Each is in memory at once; its event comes when all are stored. */
START_TEST(held_together)
{
	struct transactions all = { 0 };
	const struct state_follower f = {
		.write = note_write, .committed = note_end, .settle = ignore, .ctx = &all
	};
	struct state_copy *copy;
	const struct runtime_partition *t;
	uint64_t keys;

	up("ft2 3 2 2");
	ck_assert_int_eq(state_copy_begin(fixture->state, &f, NULL, NULL, &copy), E_OK);
	state_copy_end(copy);
	keys = sets(UMAD_SM_ATTR_PKEY_TABLE);
	sweep_hold_partitions(fixture->sweep);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(i), PARTITION_FULL),
		                 E_OK);
		ck_assert_uint_eq(sweep_runtime_partitions(fixture->sweep)->version,
		                  i + 1);
	}
	ck_assert_int_eq(change_one(RUNTIME_REMOVE, 0x10, guid(0), PARTITION_FULL), E_OK);
	ck_assert_int_ne(change_one(RUNTIME_REMOVE, 0x11, guid(0), PARTITION_FULL), E_OK);
	ck_assert_uint_eq(all.n, 0);
	ck_assert_int_eq(sweep_settle_partitions(fixture->sweep, why, sizeof(why)), E_OK);
	ck_assert_uint_eq(all.n, 1);
	ck_assert_int_eq(sweep_settle_partitions(fixture->sweep, why, sizeof(why)), E_OK);
	ck_assert_uint_eq(all.n, 1);
	settle();
	ck_assert_uint_eq(sets(UMAD_SM_ATTR_PKEY_TABLE),
	                  keys + 2 * 3); /* ports and their switch ports, once each */
	ck_assert(!has_key(host(0), 0x8010) && has_key(host(1), 0x8010) &&
	          has_key(host(3), 0x8010));
	state_follow_end(fixture->state);
	fixture_stop(fixture); /* the state has what memory has */
	fixture_start(fixture);
	fixture_up(fixture);
	t = runtime_find(sweep_runtime_partitions(fixture->sweep), 0x10);
	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(t->n_members, 3);
	ck_assert_uint_eq(sweep_runtime_partitions(fixture->sweep)->version, 5);
	/* one that is not held is durable at once */
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(0), PARTITION_FULL), E_OK);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_runtime_partitions(fixture->sweep)->version, 6);
}
END_TEST

/* If they cannot be stored, none of them has happened. */
START_TEST(held_and_full_disk)
{
	struct rlimit before, none;
	struct runtime_member many[500];
	uint64_t keys;

	up("ft2 3 2 2");
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(1), PARTITION_FULL), E_OK);
	settle();
	keys = sets(UMAD_SM_ATTR_PKEY_TABLE);
	for (unsigned i = 0; i < 500; i++) {
		many[i] = (struct runtime_member){ 0x900 + i, PARTITION_FULL };
	}
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){ .rlim_cur = 4096, .rlim_max = before.rlim_max };
	sweep_hold_partitions(fixture->sweep);
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(2), PARTITION_FULL), E_OK);
	ck_assert_int_eq(change(RUNTIME_ADD, 0x11, many, 500), E_OK);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	int ret = sweep_settle_partitions(fixture->sweep, why, sizeof(why));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_ne(ret, E_OK);
	ck_assert_msg(strstr(why, "the state cannot be written") != NULL, "%s", why);
	ck_assert_uint_eq(sweep_runtime_partitions(fixture->sweep)->version, 1);
	ck_assert_ptr_null(runtime_find(sweep_runtime_partitions(fixture->sweep), 0x11));
	fixture_run_ms(fixture, 15000);
	ck_assert_uint_eq(sets(UMAD_SM_ATTR_PKEY_TABLE), keys);
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(2), PARTITION_FULL), E_OK);
	settle();
	ck_assert(has_key(host(2), 0x8010));
}
END_TEST

/* GUIDs that are not there are members as soon as they come. */
START_TEST(members_come_later)
{
	uint64_t node;

	up("ft2 3 2 2");
	node = fixture->g->nodes[fixture->g->ports[host(2)].node].guid;
	ck_assert_int_eq(sim_set_node(fixture->sim, node, false), E_OK);
	fixture_run_ms(fixture, 30000);
	fixture_up(fixture);
	ck_assert(!sweep_has_port(fixture->sweep, guid(2)));
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(2), PARTITION_FULL), E_OK);
	settle();
	ck_assert_int_eq(sim_set_node(fixture->sim, node, true), E_OK);
	fixture_run_ms(fixture, 30000);
	fixture_up(fixture);
	ck_assert(sweep_has_port(fixture->sweep, guid(2)));
	ck_assert(has_key(host(2), 0x8010) && has_key(peer(2), 0x8010));
}
END_TEST

/* --- refusals ----------------------------------------------------------------------------- */

/* Of many members one has no place: nothing of the change happens. */
START_TEST(full_table)
{
	struct runtime_member all[8];
	char said[80];
	uint64_t keys;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 2 2", 0, 1);
	fixture->g->nodes[fixture->g->ports[host(5)].node].partition_cap = 2;
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
	for (unsigned i = 0; i < 8; i++) {
		all[i] = (struct runtime_member){ guid(i), PARTITION_FULL };
	}
	ck_assert_int_eq(change(RUNTIME_ADD, 0x10, all, 8), E_OK);
	settle();
	keys = sets(UMAD_SM_ATTR_PKEY_TABLE);
	ck_assert_int_eq(change(RUNTIME_ADD, 0x11, all, 8), E_FULL);
	snprintf(said, sizeof(said), "(0x%016llx) has 2 entries, too few for 3 P_Keys",
	         (unsigned long long)guid(5));
	ck_assert_msg(strstr(why, said) != NULL, "%s", why);
	ck_assert_uint_eq(sweep_runtime_partitions(fixture->sweep)->version, 1);
	fixture_run_ms(fixture, 20000);
	ck_assert_uint_eq(sets(UMAD_SM_ATTR_PKEY_TABLE), keys);
	/* the others may, and the full one may leave */
	ck_assert_int_eq(change(RUNTIME_ADD, 0x11, all, 5), E_OK);
	ck_assert_int_eq(change(RUNTIME_REMOVE, 0x10, &all[5], 1), E_OK);
	ck_assert_int_eq(change(RUNTIME_ADD, 0x11, &all[5], 1), E_OK);
	settle();
	ck_assert(has_key(host(5), 0x8011) && !has_key(host(5), 0x8010));
}
END_TEST

/* A table that the configuration alone has filled concerns nobody who waits for a change elsewhere;
 * one in which the change finds no place is named. */
START_TEST(full_elsewhere)
{
	const struct p_keys_port *missing;
	struct sweep_deps deps;
	uint32_t n, ports = 0;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 2 2", 0, 1);
	fixture->g->nodes[fixture->g->ports[host(5)].node].partition_cap = 2;
	fixture_partitions(fixture, "A=0x20:ALL_CAS=full;B=0x21:ALL_CAS=full;");
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(1), PARTITION_FULL), E_OK);
	settle();
	ck_assert(has_key(host(1), 0x8010) && has_key(peer(1), 0x8010));

	fixture_partitions(fixture, "Default=0x7fff:ALL=full;");
	deps = fixture->deps;
	sweep_reconfigure(fixture->sweep, &deps);
	fixture_heavy(fixture, 2);
	fixture_up(fixture);
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x30, guid(5), PARTITION_FULL), E_OK);
	settle();
	fixture_partitions(fixture, "A=0x20:ALL_CAS=full;B=0x21:ALL_CAS=full;");
	sweep_reconfigure(fixture->sweep, &deps);
	fixture_heavy(fixture, 3);
	fixture_up(fixture);
	(void)sweep_partitions_settled(fixture->sweep, &missing, &n);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_msg(strstr(missing[i].place, "P_Key table is full") != NULL,
		              "%s", missing[i].place);
		ports |= missing[i].node_guid ==
		         fixture->g->nodes[fixture->g->ports[host(5)].node].guid;
	}
	ck_assert_uint_eq(ports, 1);
}
END_TEST

/* A switch that enforces has a table, too: for a change as for a new file. */
START_TEST(full_switch_port)
{
	struct config next;
	uint32_t sw;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 3 2 2", 0, 1);
	sw = fixture->g->ports[peer(1)].node;
	fixture->g->nodes[sw].partition_cap = 2;
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x10, guid(1), PARTITION_FULL), E_OK);
	ck_assert_int_eq(change_one(RUNTIME_ADD, 0x11, guid(1), PARTITION_FULL), E_FULL);
	ck_assert_msg(strstr(why, fixture->g->nodes[sw].description) != NULL, "%s", why);
	next = fixture->config;
	next.part_enforce = PART_ENFORCE_OFF;
	fixture_partitions(fixture, "A=0x20:ALL_CAS=full;");
	next.partitions = fixture->config.partitions;
	ck_assert_int_eq(sweep_suits(fixture->sweep, &next, why, sizeof(why)), E_OK);
	next.part_enforce = PART_ENFORCE_IN;
	ck_assert_int_eq(sweep_suits(fixture->sweep, &next, why, sizeof(why)), E_FULL);
	ck_assert_msg(strstr(why, fixture->g->nodes[sw].description) != NULL, "%s", why);
	fixture->config.partitions = NULL;
}
END_TEST

/* --- many changes ------------------------------------------------------------------------- */

static uint32_t keys_of(uint32_t port, uint16_t *ret_keys)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < KEYS_MAX; i++) {
		uint16_t key = sim_pkey_at(fixture->sim, port, i);

		if (key != 0) {
			ret_keys[n++] = key;
		}
	}
	return n;
}

static bool holds_all(uint32_t port, const uint16_t *want, uint32_t n)
{
	uint16_t is[KEYS_MAX];
	bool all = keys_of(port, is) == n;

	for (uint32_t i = 0; i < n; i++) {
		all &= has_key(port, want[i]);
	}
	return all;
}

/* The tables of all ports are those of a computation that knows only the partitions. */
static void check_tables(void)
{
	struct arena *a = arena_new();
	const struct partitions *p;
	struct partition_plan plan;

	ck_assert_int_eq(sweep_configured_partitions(fixture->sweep, a, &p), E_OK);
	ck_assert_int_eq(
		runtime_merge(p, sweep_runtime_partitions(fixture->sweep), a, &p), E_OK);
	ck_assert_int_eq(
		partition_plan(p, fixture->g, fixture->config.allow_both_pkeys, a, &plan),
		E_OK);
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t port = fixture->g->end_ports[i];
		uint16_t enforced[KEYS_MAX];
		const uint16_t *keys;
		uint32_t n = partition_plan_keys(&plan, port, &keys);

		ck_assert(holds_all(port, keys, n));
		if (graph_is_host(fixture->g, port)) {
			n = partition_plan_enforced(keys, n, enforced);
			ck_assert(holds_all(fixture->g->ports[port].peer, enforced, n));
		}
	}
	arena_free(a);
}

/* Random changes, several before the fabric thread gets to program them; MADs are lost; the daemon
 * is killed; the tables are right whenever all is settled, and no confirmed change is lost. */
START_TEST(random_changes)
{
	uint64_t seed = (uint64_t)_i + 1;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 1);
	fixture_sim(fixture, (uint32_t)_i + 1, _i % 2 ? 20000 : 0);
	fixture->config.allow_both_pkeys = _i % 3 == 0;
	fixture_start(fixture);
	fixture_up(fixture);
	for (unsigned i = 0; i < STEPS; i++) {
		struct runtime_member m[20];
		uint32_t n = random_below(&seed, 10);
		uint16_t p_key = (uint16_t)(1 + random_below(&seed, 5));
		enum runtime_action action = random_below(&seed, 3)   ? RUNTIME_ADD
		                             : random_below(&seed, 2) ? RUNTIME_REMOVE
		                                                      : RUNTIME_SET;

		for (uint32_t k = 0; k < n; k++) {
			unsigned h = (i + k * 3) % fixture->g->n_hosts;

			m[k] = (struct runtime_member){
				guid(h), (uint8_t)(1 + random_below(&seed, 3))
			};
			m[k].guid += k == 0 && random_below(&seed, 4) == 0;
		}
		int ret = change(action, p_key, m, n);
		ck_assert_msg(ret == E_OK || ret == E_NOTFOUND || ret == E_RANGE, "%s",
		              why);
		if (random_below(&seed, 15) == 0) {
			uint64_t version =
				sweep_runtime_partitions(fixture->sweep)->version;

			fixture_stop(fixture);
			fixture_start(fixture);
			ck_assert_uint_eq(
				sweep_runtime_partitions(fixture->sweep)->version,
				version);
			fixture_up(fixture);
		}
		for (uint32_t k = random_below(&seed, 60); k > 0; k--) {
			ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		}
		if (random_below(&seed, 5) == 0) {
			settle();
			check_tables();
		}
	}
	settle();
	check_tables();
}
END_TEST

TEST_SUITE(sweep_runtime)
{
	TCase *t = tcase_create("runtime");

	tcase_add_checked_fixture(t, NULL, stop);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, programs_two_ports);
	tcase_add_test(t, outlives_restart_and_reload);
	tcase_add_test(t, given_up_on_the_way);
	tcase_add_test(t, full_disk);
	tcase_add_test(t, held_together);
	tcase_add_test(t, held_and_full_disk);
	tcase_add_test(t, members_come_later);
	tcase_add_test(t, full_table);
	tcase_add_test(t, full_elsewhere);
	tcase_add_test(t, full_switch_port);
	tcase_add_loop_test(t, random_changes, 0, test_seeds(SEEDS));
	suite_add_tcase(suite, t);
}
