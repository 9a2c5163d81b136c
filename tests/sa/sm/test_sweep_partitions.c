/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Partitions on a simulated fabric: P_Key tables, enforcement by switches, changes, repairs. */
#include "conf/base/p_key.h"
#include "sa/sim/sim_state.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { SEEDS = 12, KEYS_MAX = 128 };

static struct sweep_fixture *fixture;

static void stop(void)
{
	fixture_free(fixture);
	fixture = NULL;
}

static void up(const char *topo, const char *partitions)
{
	fixture = fixture_new();
	fixture_topo(fixture, topo, 0, 1);
	fixture_sim(fixture, 1, 0);
	fixture_partitions(fixture, partitions);
	fixture_start(fixture);
	fixture_up(fixture);
}

static void sweep_again(void)
{
	uint32_t n = sweep_status(fixture->sweep)->heavy_sweeps;

	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, n + 1);
	fixture_up(fixture);
}

static uint64_t sets(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PKEY_TABLE);
}

static uint32_t host(unsigned i)
{
	return fixture_host(fixture, i);
}

/* Table of a port as text, without the empty places at its end: "ffff 8010 - 0011". */
static const char *table(uint32_t port)
{
	static char text[KEYS_MAX * 5 + 1];
	unsigned n = 0;

	for (unsigned i = 0; i < KEYS_MAX; i++) {
		n = sim_pkey_at(fixture->sim, port, i) ? i + 1 : n;
	}
	text[0] = '\0';
	for (unsigned i = 0; i < n; i++) {
		unsigned key = sim_pkey_at(fixture->sim, port, i);

		snprintf(text + strlen(text), 6, key ? "%s%04x" : "%s-", i ? " " : "",
		         key);
	}
	return text;
}

static unsigned enforcement(uint32_t port)
{
	return (unsigned)(fixture_peek(fixture, port, PI_PARTITION_ENFORCEMENT_INBOUND) +
	                  2 * fixture_peek(fixture, port,
	                                   PI_PARTITION_ENFORCEMENT_OUTBOUND));
}

/* --- tables ------------------------------------------------------------------------- */

START_TEST(tables_and_enforcement)
{
	char text[400];

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 3 2 2", 0, 1);
	snprintf(
		text, sizeof(text),
		"A=0x10:0x%llx=full,0x%llx;B=0x20,indx0:0x%llx=full;C=0x30:ALL_SWITCHES=full;",
		(unsigned long long)fixture->g->ports[host(1)].guid,
		(unsigned long long)fixture->g->ports[host(2)].guid,
		(unsigned long long)fixture->g->ports[host(2)].guid);
	fixture_sim(fixture, 1, 0);
	fixture_partitions(fixture, text);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_str_eq(table(fixture->g->sm_port), "ffff");
	ck_assert_str_eq(table(host(1)), "7fff 8010");
	ck_assert_str_eq(table(host(2)), "8020 0010 7fff");
	ck_assert_str_eq(table(fixture->g->ports[host(2)].peer), "8020 0010 7fff");
	ck_assert_str_eq(table(host(3)), "7fff");
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		const struct port *p = &fixture->g->ports[i];
		bool on_switch = fixture->g->nodes[p->node].type == NODE_SWITCH;
		bool leaf = on_switch && p->num && p->peer != GRAPH_NONE &&
		            graph_is_host(fixture->g, p->peer);

		ck_assert_uint_eq(enforcement(i), leaf ? 3 : 0);
		if (on_switch && p->num == 0) {
			ck_assert_str_eq(table(i), "7fff 8030");
		}
	}
	uint64_t before = sets();
	sweep_again();
	ck_assert_uint_eq(sets(), before);
}
END_TEST

/* By difference: two ports get something for a change of one GUID, and nothing moves. */
START_TEST(change_of_one_guid)
{
	char text[300];
	uint64_t before;

	up("ft2 3 2 2", "A=0x10:ALL=full;B=0x20:ALL=full;C=0x30:ALL=full;");
	ck_assert_str_eq(table(host(1)), "7fff 8010 8020 8030");
	snprintf(text, sizeof(text),
	         "A=0x10:ALL=full;B=0x20:ALL=full,0x%llx=limited;C=0x30:ALL=full;",
	         (unsigned long long)fixture->g->ports[host(1)].guid);
	fixture_partitions(fixture, text);
	before = sets();
	sweep_again();
	ck_assert_uint_eq(sets(), before + 2);
	ck_assert_str_eq(table(host(1)), "7fff 8010 0020 8030");
	fixture_partitions(fixture, "D=0x5:ALL=full;C=0x30:ALL=full;");
	sweep_again();
	ck_assert_str_eq(table(host(1)),
	                 "7fff - - 8030 8005"); /* no index is used anew at once */
	fixture_partitions(fixture, "D=0x5:ALL=full;C=0x30:ALL=full;E=0x6:ALL=full;");
	fixture->config.keep_pkey_indexes = false;
	sweep_again();
	ck_assert_str_eq(table(host(1)), "7fff 8005 8006 8030");
}
END_TEST

START_TEST(directions)
{
	static const unsigned expected[] = { 3, 1, 2, 0 };
	uint32_t leaf;

	up("ft2 2 2 1", "A=0x10:ALL=full;");
	leaf = fixture->g->ports[host(1)].peer;
	for (unsigned i = 0; i < 4; i++) {
		fixture->config.part_enforce = i;
		sweep_again();
		ck_assert_uint_eq(enforcement(leaf), expected[i]);
	}
	fixture->config.part_enforce = PART_ENFORCE_BOTH;
	fixture->config.no_partition_enforcement = true;
	sweep_again();
	ck_assert_uint_eq(enforcement(leaf), 0);
}
END_TEST

/* Another manager left enforcement on at the end of a cable between switches. It ends, and the next sweep finds what
 * this one has published. */
START_TEST(none_between_switches)
{
	const struct graph *g;
	uint32_t port = 0;
	struct snap_reader *r;
	const uint8_t *block;
	uint16_t len;
	uint64_t epoch;

	up("ft2 2 2 1", "A=0x10:ALL=full;");
	g = fixture->g;
	while (g->ports[port].num == 0 || g->ports[port].peer == GRAPH_NONE ||
	       g->nodes[g->ports[port].node].type != NODE_SWITCH ||
	       graph_is_host(g, g->ports[port].peer)) {
		port++;
	}
	field_set(fixture->sim->ports[port].info, PI_PARTITION_ENFORCEMENT_INBOUND, 1);
	sweep_again();
	ck_assert_uint_eq(enforcement(port), 0);
	epoch = sweep_status(fixture->sweep)->epoch;
	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_int_eq(snap_attr(r, UMAD_SM_ATTR_PKEY_TABLE,
	                           g->nodes[g->ports[port].node].guid,
	                           (uint32_t)g->ports[port].num << 16, &block, &len),
	                 E_NOTFOUND);
	snap_reader_close(r);
	sweep_again();
	ck_assert_uint_eq(sweep_status(fixture->sweep)->epoch, epoch);
}
END_TEST

/* P_Keys programmed for a file go away with it; the default partition is enforced, too. */
START_TEST(without_a_file)
{
	up("ft2 2 2 1", "A=0x10:ALL=full;");
	ck_assert_str_eq(table(host(1)), "7fff 8010");
	fixture->config.partitions = NULL;
	sweep_again();
	ck_assert_str_eq(table(host(1)), "ffff");
	ck_assert_str_eq(table(fixture->g->ports[host(1)].peer), "ffff");
	ck_assert_uint_eq(enforcement(fixture->g->ports[host(1)].peer), 3);
}
END_TEST

/* Hosts and switches that were restarted, tables that somebody else wrote. */
START_TEST(repairs)
{
	static const uint8_t all[64] = { 0xff, 0xff, 0x80, 0x99 };
	struct sim_at at;
	uint8_t data[64];

	up("ft2 3 2 2", "A=0x10:ALL=full;");
	for (unsigned i = 0; i < 2; i++) {
		uint32_t port = i ? fixture->g->ports[host(1)].peer : host(1);
		const struct port *p = &fixture->g->ports[port];

		at = (struct sim_at){ .node = p->node, .port = p->num };
		memcpy(data, all, sizeof(data));
		ck_assert_uint_eq(sim_attr(fixture->sim, &at, true,
		                           UMAD_SM_ATTR_PKEY_TABLE,
		                           i ? (uint32_t)p->num << 16 : 0, data),
		                  0);
		ck_assert_str_eq(table(port), "ffff 8099");
		sweep_request_audit(fixture->sweep, NULL);
		fixture_run_ms(fixture, 5000);
		fixture_up(fixture);
		ck_assert_str_eq(table(port), "7fff 8010");
		ck_assert_int_eq(
			sim_reboot(fixture->sim, fixture->g->nodes[p->node].guid), E_OK);
		ck_assert_str_eq(table(port), "ffff");
		fixture_run_ms(fixture, 30000);
		fixture_up(fixture);
		ck_assert_str_eq(table(port), "7fff 8010");
		ck_assert_uint_eq(enforcement(fixture->g->ports[host(1)].peer), 3);
	}
}
END_TEST

/* A host with too small a table gets what fits, and the others what they are to have. */
START_TEST(small_table)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 3 2 2", 0, 1);
	fixture->g->nodes[fixture->g->ports[host(1)].node].partition_cap = 2;
	fixture_sim(fixture, 1, 0);
	fixture_partitions(fixture, "A=0x10:ALL=full;B=0x20:ALL=full;");
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_str_eq(table(host(1)), "7fff 8010");
	ck_assert_str_eq(table(host(2)), "7fff 8010 8020");
}
END_TEST

/* A new file that does not fit is refused before anything of it is programmed. */
START_TEST(does_not_fit)
{
	struct config next;
	char why[300], said[80];

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 3 2 2", 0, 1);
	fixture->g->nodes[fixture->g->ports[host(1)].node].partition_cap = 2;
	fixture_sim(fixture, 1, 0);
	fixture_partitions(fixture, "A=0x10:ALL=full;");
	fixture_start(fixture);
	ck_assert_int_eq(sweep_suits(fixture->sweep, &fixture->config, why, sizeof(why)),
	                 E_OK);
	fixture_up(fixture);
	next = fixture->config;
	ck_assert_int_eq(sweep_suits(fixture->sweep, &next, why, sizeof(why)), E_OK);
	fixture_partitions(fixture, "A=0x10:ALL=full;B=0x20:ALL_CAS=full;");
	next.partitions = fixture->config.partitions;
	ck_assert_int_eq(sweep_suits(fixture->sweep, &next, why, sizeof(why)), E_FULL);
	snprintf(said, sizeof(said), "(0x%016llx) has 2 entries, too few for 3 P_Keys",
	         (unsigned long long)fixture->g->ports[host(1)].guid);
	ck_assert_msg(strstr(why, said) != NULL, "%s", why);
}
END_TEST

/* --- who reaches whom ------------------------------------------------------------------ */

static uint8_t membership(const bool full[2], const bool in[2], unsigned p)
{
	return in[p] ? full[p] ? 2 : 1 : 0;
}

/* Does a packet of partition \a key arrive, sent by somebody who does not care what is in its own
 * table? */
static bool arrives(uint32_t from, uint32_t to, uint16_t key)
{
	const struct port *p = &fixture->g->ports[from];
	struct sim_at at = { .node = p->node, .port = p->num };

	return sim_walk_lid(fixture->sim, &at,
	                    (uint32_t)fixture_peek(fixture, to, PI_LID), key) &&
	       sim_pkey_find(fixture->sim, to, key) >= 0;
}

/* Random members of two partitions: a packet passes exactly if both ends are members and one of
 * them is a full one; also when the sender lies about its membership of other partitions. */
START_TEST(isolation)
{
	uint64_t seed = (uint64_t)_i + 5;
	bool in[40][2], full[40][2];
	char text[8000] = "";
	unsigned n = 0;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 1);
	n = fixture->g->n_hosts;
	for (unsigned p = 0; p < 2; p++) {
		snprintf(text + strlen(text), 30, "P=0x%x:", 16 + p);
		for (unsigned i = 0; i < n; i++) {
			in[i][p] = random_below(&seed, 2);
			full[i][p] = random_below(&seed, 2);
			if (in[i][p]) {
				snprintf(text + strlen(text), 40, "0x%llx=%s,",
				         (unsigned long long)fixture->g->ports[host(i)]
				                 .guid,
				         full[i][p] ? "full" : "limited");
			}
		}
		strcat(text, ";");
	}
	fixture_sim(fixture, (uint32_t)_i + 1, 0);
	fixture_partitions(fixture, text);
	fixture_start(fixture);
	fixture_up(fixture);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < n; k++) {
			for (unsigned p = 0; p < 2 && i != k; p++) {
				uint8_t a = membership(full[i], in[i], p);
				uint8_t b = membership(full[k], in[k], p);
				bool may = a && b && a + b > 2;
				uint16_t own =
					(uint16_t)((16 + p) | (a == 2 ? P_KEY_FULL : 0));

				ck_assert_int_eq(arrives(host(i), host(k), own), may);
				ck_assert(a ||
				          !arrives(host(i), host(k), own | P_KEY_FULL));
			}
		}
	}
}
END_TEST

TEST_SUITE(sweep_partitions)
{
	TCase *t = tcase_create("partitions");

	tcase_add_checked_fixture(t, NULL, stop);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, tables_and_enforcement);
	tcase_add_test(t, change_of_one_guid);
	tcase_add_test(t, directions);
	tcase_add_test(t, none_between_switches);
	tcase_add_test(t, without_a_file);
	tcase_add_test(t, repairs);
	tcase_add_test(t, small_table);
	tcase_add_test(t, does_not_fit);
	tcase_add_loop_test(t, isolation, 0, test_seeds(SEEDS));
	suite_add_tcase(suite, t);
}
