/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Forwarding tables sent by LID, in waves from the SM outwards: the same tables as by directed
 * routes, whatever the fabric does to the SMPs.
 */
#include "sa/mad/smp.h"
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"
#include "tests/lib/sweep_tap.h"

static struct sweep_fixture *fixture;

static void setup(void)
{
	fixture = fixture_new();
	ck_assert_uint_eq(fixture->config.smp_routing,
	                  SMP_ROUTING_AUTO); /* the default */
}

static void teardown(void)
{
	fixture_free(fixture);
}

static void make_sim(uint32_t drop_ppm, bool no_mixed)
{
	struct sim_options o = { .virtual_clock = true,
		                 .seed = 3,
		                 .delay_us = 1,
		                 .smp_us = 10,
		                 .drop_ppm = drop_ppm,
		                 .no_mixed = no_mixed };

	ck_assert_int_eq(sim_new(fixture->g, &o, false, &fixture->sim), E_OK);
}

static const struct smp_counters *counters(void)
{
	return smp_counters(sweep_job(fixture->sweep)->program.smp);
}

/* Does the switch hold what was computed? */
static bool has_tables(uint32_t sw)
{
	const struct job *j = sweep_job(fixture->sweep);
	uint64_t guid = fixture->g->nodes[fixture->g->switches[sw]].guid;
	uint32_t of_job = j->disc.g->nodes[graph_node_by_guid(j->disc.g, guid)].sw;
	const uint8_t *row = lft_row(&j->route.out.lft, of_job);
	uint8_t data[64];

	ck_assert_int_eq(sim_peek(fixture->sim, guid, UMAD_SM_ATTR_SWITCH_INFO, 0, data),
	                 E_OK);
	if (field_get(data, SI_LINEAR_FDB_TOP) != j->lids.lids.top) {
		return false;
	}
	for (uint32_t lid = 0; lid <= j->lids.lids.top; lid++) {
		if (lid % 64 == 0) {
			ck_assert_int_eq(sim_peek(fixture->sim, guid,
			                          UMAD_SM_ATTR_LINEAR_FT, lid / 64, data),
			                 E_OK);
		}
		if (data[lid % 64] != row[lid]) {
			return false;
		}
	}
	return true;
}

static void check_tables(void)
{
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		ck_assert_msg(has_tables(i), "switch %u", i);
	}
}

static const struct {
	const char *topo, *engine;
	uint32_t drop_ppm;
	bool no_mixed;
} cases[] = {
	{ "ft2 6 4 3", "minhop", 0, false },   { "ft3 4", "ftree", 0, false },
	{ "torus 3x3 2", "dfsssp", 0, false }, { "mesh 4x4 2", "updn", 0, false },
	{ "torus 4x4x2 1", "lash", 0, false }, { "ft2 2 1 2", "minhop", 0, false },
	{ "ft3 4", "minhop", 0, true },        { "mesh 4x4 2", "updn", 0, true },
	{ "ft3 4", "minhop", 30000, false },   { "torus 3x3 2", "dfsssp", 30000, true },
};

/* All switches hold the computed tables. Where nothing is lost, no SMP by LID is in vain, and
 * each switch beyond the first is reached without a directed route. */
START_TEST(bring_up)
{
	struct why why = { "" };

	fixture_topo(fixture, cases[_i].topo, 0, 0);
	ck_assert_int_eq(route_list_parse(cases[_i].engine, &fixture->deps.list, &why),
	                 E_OK);
	make_sim(cases[_i].drop_ppm, cases[_i].no_mixed);
	fixture_start(fixture);
	fixture_up(fixture);
	check_tables();
	const struct smp_counters *c = counters();
	uint32_t n = fixture->g->n_switches;

	ck_assert_uint_ge(c->by_lid, n); /* port states, at least */
	ck_assert_uint_eq(sweep_status(fixture->sweep)->smps_by_lid, c->by_lid);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->smps_mixed, c->mixed);
	if (cases[_i].drop_ppm == 0 && !cases[_i].no_mixed) {
		ck_assert_uint_eq(c->repeated_directed, 0);
		ck_assert_uint_ge(c->mixed, n - 1);
		/* two blocks and LinearFDBTop */
		ck_assert_uint_le(c->mixed, 3 * (n - 1));
	}
	if (cases[_i].drop_ppm == 0 && cases[_i].no_mixed) {
		/* one probe: those that began before it was given up */
		ck_assert_uint_eq(c->repeated_directed, c->mixed);
		ck_assert_uint_lt(c->mixed, 4 * n);
	}
	/* nothing by LID between sweeps */
	uint64_t by_lid = c->by_lid;
	fixture_run_ms(fixture, 25000);
	ck_assert_uint_eq(counters()->by_lid, by_lid);
}
END_TEST

static bool is_phase(const char *name)
{
	return strcmp(sweep_status(fixture->sweep)->phase, name) == 0;
}

static const struct sweep_status *status(void)
{
	return sweep_status(fixture->sweep);
}

static uint64_t switch_guid(uint32_t sw)
{
	return fixture->g->nodes[fixture->g->switches[sw]].guid;
}

/* The switch next to the SM. */
static uint32_t first_switch(void)
{
	const struct port *sm = &fixture->g->ports[fixture->g->sm_port];

	return fixture->g->nodes[fixture->g->ports[sm->peer].node].sw;
}

/* One with a cable to that one. */
static uint32_t next_switch(void)
{
	const struct graph *g = fixture->g;
	const struct node *n = &g->nodes[g->switches[first_switch()]];

	for (uint32_t i = 1; i <= n->n_ports; i++) {
		uint32_t peer = g->ports[n->first_port + i].peer;

		if (peer != GRAPH_NONE &&
		    g->nodes[g->ports[peer].node].type == NODE_SWITCH) {
			return g->nodes[g->ports[peer].node].sw;
		}
	}
	ck_abort_msg("one switch");
}

/* A switch that restarts gets its tables again, in one more sweep. */
static void restart(uint32_t sw)
{
	ck_assert_int_eq(sim_reboot(fixture->sim, switch_guid(sw)), E_OK);
	fixture_run_ms(fixture, 30000);
	ck_assert(status()->up);
	check_tables();
}

/* A heavy sweep that changes nothing. */
static void sweep_again(void)
{
	uint32_t n = fixture_sweeps(fixture);

	sweep_request_heavy(fixture->sweep);
	while (fixture_sweeps(fixture) == n) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	fixture_up(fixture);
}

/* A parent that did not pass on SMPs is not tried by the next sweep, and then again by one, which
 * is remembered longer. With smp_routing lid each sweep tries it. */
START_TEST(parent_is_remembered)
{
	bool no_mixed = _i != 0, always = _i == 2;

	fixture->config.smp_routing = always ? SMP_ROUTING_LID : SMP_ROUTING_AUTO;
	fixture_topo(fixture, "ft2 6 4 3", 0, 0);
	make_sim(0, no_mixed);
	fixture_start(fixture);
	fixture_up(fixture);
	uint64_t mixed = counters()->mixed, repeated = counters()->repeated_directed;
	ck_assert_uint_gt(mixed, 0);
	ck_assert_uint_eq(repeated, no_mixed ? mixed : 0);
	sweep_again(); /* it sends nothing, so the next one is the first that could try */
	uint32_t other = next_switch();
	restart(other);
	ck_assert_uint_eq(counters()->mixed > mixed, !no_mixed || always);
	ck_assert_uint_eq(counters()->repeated_directed > repeated, always);
	mixed = counters()->mixed;
	restart(other);
	ck_assert_uint_gt(counters()->mixed, mixed);
}
END_TEST

/* --- switches that do not carry SMPs by LID ------------------------------------------------- */

/* How long the sweep at work sends tables, in ms. */
static uint64_t tables_ms(struct sweep_fixture *r)
{
	uint64_t start;

	while (strcmp(sweep_status(r->sweep)->phase, "tables") != 0) {
		ck_assert_int_eq(sweep_run_once(r->sweep), E_OK);
	}
	start = fixture_now(r);
	while (strcmp(sweep_status(r->sweep)->phase, "tables") == 0) {
		ck_assert_int_eq(sweep_run_once(r->sweep), E_OK);
	}
	return fixture_now(r) - start;
}

enum { NEXT_TO_SM, ANOTHER, ALL };

static const struct {
	const char *topo;
	unsigned which;
	uint8_t lmc; /* 3: several blocks */
} lost_in[] = {
	{ "ft2 6 4 3", NEXT_TO_SM, 0 },
	{ "ft3 4", NEXT_TO_SM, 0 },
	{ "mesh 4x4 2", NEXT_TO_SM, 0 },
	{ "ft2 6 4 3", ALL, 0 },
	{ "ft3 4", ALL, 0 },
	{ "mesh 4x4 2", ALL, 0 },
	{ "ft2 6 4 3", ANOTHER, 0 },
	{ "ft3 4", ANOTHER, 0 },
	{ "mesh 4x4 2", ANOTHER, 0 },
	{ "ft2 6 4 6", NEXT_TO_SM, 3 },
	{ "ft3 6", ANOTHER, 3 },
	{ "mesh 4x4 4", ANOTHER, 3 },
	{ "mesh 8x2 2", ALL, 3 },
	{ "torus 4x4 2", ALL, 0 },
};

static void set_directed(unsigned which, bool directed)
{
	uint32_t n = fixture->g->n_switches, first = first_switch();

	for (uint32_t i = 0; i < n; i++) {
		if (which == ALL ||
		    i == (which == NEXT_TO_SM ? first : (first + 1) % n)) {
			ck_assert_int_eq(
				sim_set_directed(fixture->sim, switch_guid(i), directed),
				E_OK);
		}
	}
}

/* Time that the same fabric takes by directed routes alone. */
static uint64_t directed_ms(const char *topo, uint8_t lmc)
{
	struct sweep_fixture *r = fixture_new();
	struct sim_options o = {
		.virtual_clock = true, .seed = 3, .delay_us = 1, .smp_us = 10
	};
	uint64_t ms;

	r->config.smp_routing = SMP_ROUTING_DIRECTED;
	r->config.lmc = lmc;
	fixture_topo(r, topo, 0, 0);
	ck_assert_int_eq(sim_new(r->g, &o, false, &r->sim), E_OK);
	fixture_start(r);
	ms = tables_ms(r);
	fixture_free(r);
	return ms;
}

/* Switches in which SMPs by LID get lost cost one timeout in the sweep that finds out, and nothing
 * in the next one. All switches have their tables, and the status says which way and why. When
 * they carry SMPs again, that is found out, too. */
START_TEST(lost_by_lid)
{
	const struct sweep_status *st;
	unsigned which = lost_in[_i].which;

	fixture->config.lmc = lost_in[_i].lmc;
	fixture_topo(fixture, lost_in[_i].topo, 0, 0);
	make_sim(0, false);
	set_directed(which, true);
	fixture_start(fixture);
	uint32_t n = fixture->g->n_switches;
	uint64_t took = tables_ms(fixture);
	uint64_t limit = directed_ms(lost_in[_i].topo, lost_in[_i].lmc);
	ck_assert_uint_le(took, limit + fixture->config.transaction_timeout + 2);
	fixture_up(fixture);
	check_tables();
	st = status();
	ck_assert_uint_ge(st->switches_way[WAY_UNANSWERED], 1);
	ck_assert_uint_eq(st->switches_way[WAY_BY_LID] == 0, which != ANOTHER);
	uint32_t sum = 0;
	for (unsigned k = 0; k < WAY_COUNT; k++) {
		sum += st->switches_way[k];
	}
	ck_assert_uint_eq(sum, n);

	/* the next sweep remembers */
	uint64_t repeated = counters()->repeated_directed;
	sweep_again();
	ck_assert_uint_eq(counters()->repeated_directed, repeated);

	/* and one of those that follow tries again */
	set_directed(which, false);
	for (unsigned k = 0; k < 3; k++) {
		sweep_again();
		restart((first_switch() + 1) % n);
		if (which != ANOTHER) {
			restart(first_switch());
		}
	}
	ck_assert_uint_eq(status()->switches_way[WAY_BY_LID], n);
	ck_assert_uint_eq(counters()->repeated_directed, repeated);
}
END_TEST

/* Nothing is tried by LID that is known to be in vain, at growing intervals: 63 sweeps at most. */
START_TEST(tried_ever_more_rarely)
{
	unsigned tries = 0;
	uint64_t repeated;

	fixture_topo(fixture, "ft2 3 2 2", 0, 0);
	make_sim(0, false);
	set_directed(NEXT_TO_SM, true);
	fixture_start(fixture);
	fixture_up(fixture);
	repeated = counters()->repeated_directed;
	for (unsigned k = 0; k < 31; k++) {
		restart(next_switch());
		sweep_again();
		tries += counters()->repeated_directed > repeated;
		repeated = counters()->repeated_directed;
	}
	ck_assert_uint_ge(tries, 2);
	ck_assert_uint_le(tries, 6);
}
END_TEST

/* Hosts that do not answer by LID cost one timeout for all of them. */
START_TEST(silent_hosts)
{
	uint64_t repeated;

	fixture_topo(fixture, "ft2 6 4 3", 0, 0);
	make_sim(0, false);
	for (uint32_t i = 0; i < fixture->g->n_hosts; i++) {
		uint64_t guid =
			fixture->g->nodes[fixture->g->ports[fixture->g->hosts[i]].node]
				.guid;

		if (fixture->g->hosts[i] != fixture->g->sm_port) {
			ck_assert_int_eq(sim_set_directed(fixture->sim, guid, true),
			                 E_OK);
		}
	}
	fixture_start(fixture);
	while (status()->smps_by_lid == 0 || is_phase("tables")) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	uint64_t start = fixture_now(fixture), end = start;
	while (!is_phase("idle")) {
		end = fixture_now(fixture);
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert(status()->up);
	ck_assert_uint_le(end - start, fixture->config.transaction_timeout + 10);
	ck_assert_uint_eq(status()->switches_way[WAY_BY_LID], fixture->g->n_switches);
	repeated = counters()->repeated_directed;
	ck_assert_uint_gt(repeated, 0);
	restart((first_switch() + 1) % fixture->g->n_switches);
	ck_assert_uint_eq(counters()->repeated_directed, repeated);
}
END_TEST

/* --- the order of blocks --------------------------------------------------------------------- */

static struct tap tap;

static bool is_leaf(uint32_t sw)
{
	const struct graph *g = fixture->g;

	for (uint32_t i = 0; i < g->n_hosts; i++) {
		if (graph_switch_of(g, g->hosts[i]) == sw) {
			return true;
		}
	}
	return false;
}

/* The last time at which a switch got a block, for each block; SIZE_MAX: it did not. */
struct stripe {
	size_t sent[8];
};

/* Is the block one of those that open a switch? */
static bool is_opening(uint32_t sw, unsigned block)
{
	const struct job *j = sweep_job(fixture->sweep);
	uint32_t node = graph_node_by_guid(j->disc.g, switch_guid(sw));
	uint32_t own = j->lids.lids.of[j->disc.g->nodes[node].first_port].base;

	return block == own / 64 || block == j->program.sm_lid / 64;
}

/* Block N leaves for all switches of a wave, and is confirmed by them, before block N + 1 of any of
 * them. By directed routes all switches are one wave; by LID those that are equally far away. */
START_TEST(striped)
{
	struct stripe *at;
	unsigned compared = 0;

	fixture->config.smp_routing = _i == 0 ? SMP_ROUTING_DIRECTED : SMP_ROUTING_AUTO;
	fixture->config.lmc = 3;
	fixture_topo(fixture, "ft2 8 4 6", 0, 0);
	make_sim(0, false);
	tap_init(&tap, fixture);
	fixture_start(fixture);
	tap_record(&tap, fixture);
	fixture_up(fixture);
	check_tables();
	const struct graph *g = fixture->g;
	at = calloc(g->n_switches, sizeof(*at));
	/* what opens a switch comes before its wave: only the last of several Sets counts, and of
	 * those blocks none */
	for (size_t i = 0; i < tap.n_events; i++) {
		const struct tap_event *e = &tap.event[i];

		if (e->kind == TAP_SENT && e->method == UMAD_METHOD_SET &&
		    e->attr == UMAD_SM_ATTR_LINEAR_FT) {
			ck_assert_uint_lt(e->node, g->n_nodes);
			ck_assert_uint_lt(e->mod, 8);
			at[g->nodes[e->node].sw].sent[e->mod] = i + 1;
		}
	}
	for (uint32_t a = 0; a < g->n_switches; a++) {
		for (uint32_t b = 0; b < g->n_switches; b++) {
			bool same = _i == 0 || is_leaf(a) == is_leaf(b);

			for (unsigned n = 2; n + 1 < 8 && a != first_switch() &&
			                     b != first_switch() && same;
			     n++) {
				if (at[a].sent[n] == 0 || at[b].sent[n + 1] == 0 ||
				    (_i == 1 &&
				     (is_opening(a, n) || is_opening(b, n + 1)))) {
					continue;
				}
				ck_assert_uint_lt(at[a].sent[n], at[b].sent[n + 1]);
				compared++;
			}
		}
	}
	ck_assert_uint_gt(compared, 20);
	free(at);
	tap_record_done(&tap);
}
END_TEST

/* A switch that falls silent while tables are sent: all others have theirs in that sweep,
 * unless the fabric behind it is reached only through it. */
START_TEST(silent_switch)
{
	uint32_t n;

	fixture_topo(fixture, "ft2 6 4 3", 0, 0);
	make_sim(0, false);
	fixture_start(fixture);
	for (unsigned i = 0; i < FIXTURE_TURNS && !is_phase("tables"); i++) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	n = fixture->g->n_switches;
	const struct port *sm = &fixture->g->ports[fixture->g->sm_port];
	uint32_t first = fixture->g->nodes[fixture->g->ports[sm->peer].node].sw;
	uint32_t deaf = (first + 1 + (uint32_t)_i) % n;
	ck_assert_int_eq(sim_set_deaf(fixture->sim,
	                              fixture->g->nodes[fixture->g->switches[deaf]].guid,
	                              true),
	                 E_OK);
	for (unsigned i = 0; i < FIXTURE_TURNS && is_phase("tables"); i++) {
		for (uint32_t k = 0, have = 0; k < n; k++) {
			have += has_tables(k);
			if (have == n - 1) {
				return;
			}
		}
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_abort_msg("some switch waited for switch %u", deaf);
}
END_TEST

/* By LID it takes a fraction of the time of directed routes, where processors need time for
 * each SMP. */
START_TEST(faster)
{
	uint64_t took[2];

	for (unsigned k = 0; k < 2; k++) {
		struct sweep_fixture *r = fixture_new();
		struct sim_options o = { .virtual_clock = true,
			                 .delay_us = 1,
			                 .smp_us = 20 };

		r->config.smp_routing = k;
		fixture_topo(r, "ft3 8", 0, 0);
		ck_assert_int_eq(sim_new(r->g, &o, false, &r->sim), E_OK);
		fixture_start(r);
		while (strcmp(sweep_status(r->sweep)->phase, "tables") != 0) {
			ck_assert_int_eq(sweep_run_once(r->sweep), E_OK);
		}
		took[k] = fixture_now(r);
		while (strcmp(sweep_status(r->sweep)->phase, "activate") != 0) {
			ck_assert_int_eq(sweep_run_once(r->sweep), E_OK);
		}
		took[k] = fixture_now(r) - took[k];
		fixture_free(r);
	}
	ck_assert_msg(took[1] < took[0] / 4, "%lu ms, %lu ms by directed routes",
	              (unsigned long)took[1], (unsigned long)took[0]);
}
END_TEST

TEST_SUITE(sweep_waves)
{
	TCase *t = tcase_create("sweep_waves");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, bring_up, 0, sizeof(cases) / sizeof(*cases));
	tcase_add_loop_test(t, parent_is_remembered, 0, 3);
	tcase_add_loop_test(t, lost_by_lid, 0, sizeof(lost_in) / sizeof(*lost_in));
	tcase_add_test(t, tried_ever_more_rarely);
	tcase_add_test(t, silent_hosts);
	tcase_add_loop_test(t, striped, 0, 2);
	tcase_add_loop_test(t, silent_switch, 0, 9);
	tcase_add_test(t, faster);
	suite_add_tcase(suite, t);
}
