/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Rows of the stats environment for what happens to a fabric. */
#include <inttypes.h>

#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

static struct sweep_fixture *fixture;
static struct tap tap;
static uint64_t seen; /* rows before this number were looked at */

static int64_t wall_clock(void)
{
	return 1700000000;
}

static void setup(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->with_stats = true;
	fixture->deps.wall_clock = wall_clock;
	fixture->config.sweep_interval = 0;
	seen = 0;
}

static void teardown(void)
{
	fixture_free(fixture);
}

/* Rows that were not looked at yet. */
static struct stats_events new_rows(void)
{
	struct stats_events ev;
	struct stats_reader *r;

	ck_assert_int_eq(stats_commit(fixture->stats, 1), E_OK);
	ck_assert_int_eq(stats_reader_open(fixture->snap_dir, &r), E_OK);
	ck_assert_int_eq(stats_read_events(r, seen, SIZE_MAX, fixture->run, &ev), E_OK);
	stats_reader_close(r);
	seen = ev.next;
	return ev;
}

static void up(void)
{
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_up(fixture);
	fixture_run_ms(fixture, 30000);
	(void)new_rows();
}

/* The kinds and sentences of rows must be these, SUBNET UP left out. */
static void expect(const struct stats_events *ev, const char *const *want)
{
	char text[EVENT_TEXT_BYTES];

	for (size_t i = 0; i < ev->n; i++) {
		const struct fabric_event *e = &ev->events[i];

		ck_assert_int_eq(e->time_s, 1700000000);
		if (e->kind == EVENT_SUBNET_UP) {
			continue;
		}
		event_text(e, text, sizeof(text));
		ck_assert_msg(*want != NULL, "not expected: %s", text);
		ck_assert_str_eq(text, *want);
		want++;
	}
	ck_assert_msg(*want == NULL, "missing: %s", *want);
}

static void set_link(uint64_t guid, uint8_t port, bool is_up)
{
	ck_assert_int_eq(sim_set_link(fixture->sim, guid, port, is_up), E_OK);
}

/* First cable from one kind of node to another, from its end at the former. */
static const struct port *cable(enum node_type from, enum node_type to)
{
	const struct graph *g = fixture->g;

	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];

		if (p->peer != GRAPH_NONE && g->nodes[p->node].type == from &&
		    g->nodes[g->ports[p->peer].node].type == to && i != g->sm_port) {
			return p;
		}
	}
	ck_abort_msg("no such cable");
	return NULL;
}

static char sentence[3][300];

static const char *cable_text(char *buf, const char *what, const struct port *p)
{
	const struct graph *g = fixture->g;
	const struct port *q = &g->ports[p->peer];

	if (g->nodes[p->node].guid > g->nodes[q->node].guid) {
		const struct port *swap = p;

		p = q;
		q = swap;
	}
	snprintf(buf, sizeof(sentence[0]), "cable %s: '%s' port %u - '%s' port %u", what,
	         g->nodes[p->node].description, p->num, g->nodes[q->node].description,
	         q->num);
	return buf;
}

static const char *node_sentence(char *buf, const char *type, uint32_t node,
                                 const char *what)
{
	const struct graph *g = fixture->g;
	const struct node *n = &g->nodes[node];
	int len = snprintf(buf, sizeof(sentence[0]), "%s '%s' is %s", type, n->description, what);

	for (unsigned num = 1; n->type != NODE_SWITCH && num <= n->n_ports; num++) {
		uint32_t peer = g->ports[graph_port(g, node, num)].peer;

		if (peer != GRAPH_NONE) {
			snprintf(buf + len, sizeof(sentence[0]) - (size_t)len,
			         ",%s on '%s' port %u", strcmp(what, "gone") == 0 ? " it was" : "",
			         g->nodes[g->ports[peer].node].description, g->ports[peer].num);
			break;
		}
	}
	return buf;
}

/* Routes that got another port; one that was made or lost is none. */
static uint32_t n_moved(const uint8_t *before, const uint8_t *after)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fixture->g->n_switches * 64; i++) {
		n += before[i] != after[i] && before[i] != LFT_NO_ROUTE &&
		     after[i] != LFT_NO_ROUTE;
	}
	return n;
}

/* A cable out and in: a row each, with what the sweep cost. */
START_TEST(cable_out_and_in)
{
	const struct port *p = cable(NODE_SWITCH, NODE_SWITCH);
	const struct sweep_status *st;
	struct stats_events ev;
	const uint8_t *before;

	up();
	before = fixture_tables(fixture);
	st = sweep_status(fixture->sweep);
	uint64_t epoch = st->epoch, blocks = st->lft_sets;
	set_link(fixture->g->nodes[p->node].guid, p->num, false);
	fixture_run_ms(fixture, 10000);
	ev = new_rows();
	expect(&ev, (const char *const[]){ cable_text(sentence[0], "lost", p), NULL });
	const struct fabric_event *e = &ev.events[0];
	st = sweep_status(fixture->sweep);
	ck_assert_int_eq(e->kind, EVENT_CABLE_LOST);
	ck_assert_uint_eq(e->node_guid, fixture->g->nodes[p->node].guid);
	ck_assert_uint_eq(e->port, p->num);
	ck_assert_uint_eq(e->peer_guid,
	                  fixture->g->nodes[fixture->g->ports[p->peer].node].guid);
	ck_assert_uint_gt(e->epoch, epoch);
	ck_assert_uint_eq(e->epoch, st->epoch);
	ck_assert_uint_eq(e->lft_blocks, st->lft_sets - blocks);
	ck_assert_uint_gt(e->lft_blocks, 0);
	ck_assert_uint_gt(e->paths_moved, 0);
	ck_assert_uint_eq(e->paths_moved, n_moved(before, fixture_tables(fixture)));
	ck_assert_msg(strncmp(e->cause, "trap: ", 6) == 0, "%s", e->cause);
	ck_assert_int_eq(ev.events[ev.n - 1].kind, EVENT_SUBNET_UP);

	set_link(fixture->g->nodes[p->node].guid, p->num, true);
	fixture_run_ms(fixture, 10000);
	ev = new_rows();
	expect(&ev,
	       (const char *const[]){ cable_text(sentence[0], "connected", p), NULL });
}
END_TEST

/* A light sweep finds what no trap told. */
START_TEST(cause)
{
	const struct port *p = cable(NODE_SWITCH, NODE_SWITCH);
	struct stats_events ev;

	fixture->config.sweep_on_trap = false;
	up();
	set_link(fixture->g->nodes[p->node].guid, p->num, false);
	if (_i == 0) {
		sweep_request_light(fixture->sweep, NULL);
	} else {
		sweep_request_audit(fixture->sweep, NULL);
	}
	fixture_run_ms(fixture, 10000);
	ev = new_rows();
	expect(&ev, (const char *const[]){ cable_text(sentence[0], "lost", p), NULL });
	ck_assert_msg(strncmp(ev.events[0].cause,
	                      _i == 0 ? "light sweep: " : "operator request",
	                      _i == 0 ? 13 : 16) == 0,
	              "%s", ev.events[0].cause);
}
END_TEST

/* A host, and a switch without hosts, out and in. Their cables have no rows. */
START_TEST(node_out_and_in)
{
	uint32_t node = GRAPH_NONE;
	struct stats_events ev;

	if (_i == 0) {
		node = cable(NODE_CA, NODE_SWITCH)->node;
	} else {
		for (uint32_t i = 0; i < fixture->g->n_nodes; i++) {
			const struct node *n = &fixture->g->nodes[i];
			bool has_host = n->type != NODE_SWITCH;

			for (unsigned k = 1; k <= n->n_ports && !has_host; k++) {
				uint32_t peer = fixture->g->ports[n->first_port + k].peer;

				has_host = peer != GRAPH_NONE &&
				           fixture->g->nodes[fixture->g->ports[peer].node]
				                           .type == NODE_CA;
			}
			node = has_host ? node : i;
		}
	}
	ck_assert_uint_ne(node, GRAPH_NONE);
	up();
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(
			sim_set_node(fixture->sim, fixture->g->nodes[node].guid, i),
			E_OK);
		fixture_run_ms(fixture, 20000);
		ev = new_rows();
		expect(&ev, (const char *const[]){
				    node_sentence(sentence[0], _i ? "switch" : "host",
		                                  node, i ? "new" : "gone"),
				    NULL });
	}
}
END_TEST

/* A host that stops answering while its cable is up has one row, not one of each sweep. */
START_TEST(deaf)
{
	uint32_t node = cable(NODE_CA, NODE_SWITCH)->node;
	uint64_t guid = fixture->g->nodes[node].guid;
	struct stats_events ev;

	up();
	ck_assert_int_eq(sim_set_deaf(fixture->sim, guid, true), E_OK);
	for (unsigned i = 0; i < 3; i++) {
		sweep_request_heavy(fixture->sweep);
		fixture_run_ms(fixture, 10000);
	}
	ev = new_rows();
	const struct port *place = &fixture->g->ports[cable(NODE_CA, NODE_SWITCH)->peer];
	snprintf(sentence[0], sizeof(sentence[0]),
	         "'%s' does not answer any more, though a cable to it is up, on '%s' port %u",
	         fixture->g->nodes[node].description,
	         fixture->g->nodes[place->node].description, place->num);
	expect(&ev, (const char *const[]){ sentence[0], NULL });
	ck_assert_int_eq(sim_set_deaf(fixture->sim, guid, false), E_OK);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 10000);
	ev = new_rows();
	expect(&ev, (const char *const[]){
			    node_sentence(sentence[0], "host", node, "new"), NULL });
}
END_TEST

/* A cable that goes out and in all the time: its switches are said to flap, and to be quiet
 * at last; rows stay few. */
START_TEST(flapping)
{
	const struct port *p = cable(NODE_SWITCH, NODE_SWITCH);
	unsigned n_flapping = 0, n_quiet = 0, n_cable = 0;
	struct stats_events ev;

	up();
	for (unsigned i = 0; i < 100; i++) {
		set_link(fixture->g->nodes[p->node].guid, p->num, i % 2 != 0);
		fixture_run_ms(fixture, 100);
	}
	fixture_run_ms(fixture, 40000);
	ev = new_rows();
	for (size_t i = 0; i < ev.n; i++) {
		enum event_kind k = ev.events[i].kind;

		n_flapping += k == EVENT_PORT_FLAPPING;
		n_quiet += k == EVENT_PORT_QUIET;
		n_cable += k == EVENT_CABLE_LOST || k == EVENT_CABLE_BACK;
	}
	ck_assert_uint_ge(n_flapping, 1);
	ck_assert_uint_eq(n_flapping, n_quiet);
	ck_assert_uint_ge(n_cable, 2);
	ck_assert_uint_le(n_cable, 30);
	ck_assert_uint_eq(n_cable % 2, 0); /* it is in at last */
}
END_TEST

/* The SM is up, and another one appears on a host. \return Its port. */
static const struct port *other_sm_appears(void)
{
	const struct port *host = cable(NODE_CA, NODE_SWITCH);

	fixture->config.sm_priority = 5;
	tap_init(&tap, fixture);
	up();
	tap.other_guid = fixture->g->nodes[host->node].guid;
	tap.other_priority = 1;
	tap.other_state = 2;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 5000);
	return host;
}

/* Another subnet manager appears and goes. */
START_TEST(other_sm)
{
	const struct graph *g = fixture->g;
	const struct port *host = other_sm_appears();
	const char *name = g->nodes[host->node].description;
	struct stats_events ev;

	ev = new_rows();
	snprintf(sentence[0], sizeof(sentence[0]),
	         "subnet manager on '%s' port %u is new", name, host->num);
	snprintf(sentence[1], sizeof(sentence[1]),
	         "another SM on '%s' port %u: GUID 0x%016" PRIx64
	         ", priority 1, state STANDBY",
	         name, host->num, tap.other_guid + 1);
	snprintf(
		sentence[2], sizeof(sentence[2]),
		"the SM on '%s' port %u was announced by nobody and changes nothing (STANDBY, priority 1); if it is yours, set allowed_sm_guids 0x%016" PRIx64
		",0x%016" PRIx64 " on both and run 'saguaro reload'",
		name, host->num, g->ports[g->sm_port].guid, tap.other_guid + 1);
	expect(&ev, (const char *const[]){ sentence[0], sentence[1], sentence[2], NULL });
	tap.other_guid = 0;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 5000);
	ev = new_rows();
	snprintf(sentence[0], sizeof(sentence[0]),
	         "subnet manager on '%s' port %u is gone", name, host->num);
	expect(&ev, (const char *const[]){ sentence[0], NULL });
}
END_TEST

/* Another subnet manager ends: a light sweep says so, and the next heavy one not again. */
START_TEST(other_sm_ends)
{
	const struct graph *g = fixture->g;
	const struct port *host = other_sm_appears();
	struct stats_events ev;

	(void)new_rows();
	uint32_t sweeps = fixture_sweeps(fixture);
	tap.other_guid = 0;
	sweep_request_light(fixture->sweep, NULL);
	fixture_run_ms(fixture, 10000);
	ev = new_rows();
	snprintf(sentence[0], sizeof(sentence[0]),
	         "subnet manager on '%s' port %u is gone", g->nodes[host->node].description,
	         host->num);
	expect(&ev, (const char *const[]){ sentence[0], NULL });
	ck_assert_uint_eq(fixture_sweeps(fixture), sweeps);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 5000);
	ev = new_rows();
	expect(&ev, (const char *const[]){ NULL });
}
END_TEST

static bool lose_all(const uint8_t *mad)
{
	(void)mad;
	return true;
}

/* A sweep that fails over and over for one reason has one row. */
START_TEST(failures)
{
	struct stats_events ev;

	tap_init(&tap, fixture);
	up();
	tap.loses = lose_all;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 60000);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->failed_sweeps, 3);
	ev = new_rows();
	ck_assert_uint_eq(ev.n, 1);
	ck_assert_int_eq(ev.events[0].kind, EVENT_SWEEP_FAILED);
	ck_assert_str_eq(ev.events[0].cause, "operator request");
	tap.loses = NULL;
	fixture_up(fixture);
	ev = new_rows();
	ck_assert_uint_eq(ev.n, 1);
	ck_assert_int_eq(ev.events[0].kind, EVENT_SUBNET_UP);
	tap.loses = lose_all;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 60000);
	ck_assert_uint_eq(new_rows().n, 1);
}
END_TEST

/* The numbers go on after a kill, and after the folder of the stats is lost as well. */
START_TEST(restart)
{
	struct stats_events ev;
	char path[200];

	up();
	uint64_t next = seen;
	for (unsigned i = 0; i < 2; i++) {
		fixture_stop(fixture);
		if (i == 1) {
			snprintf(path, sizeof(path), "%s/stats", fixture->snap_dir);
			nftw(path, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
		}
		fixture_start(fixture);
		fixture_heavy(fixture, 1);
		fixture_up(fixture);
		ev = new_rows();
		ck_assert_uint_ge(ev.n, 2);
		ck_assert_int_eq(ev.events[0].kind, EVENT_STARTED);
		ck_assert_uint_ge(ev.events[0].seq, next);
		ck_assert(i == 1 || ev.events[0].seq == next);
		next = seen;
	}
}
END_TEST

/* A table that somebody else changed: its row names the place. */
START_TEST(audit)
{
	const struct graph *g = fixture->g;
	uint64_t guid = g->nodes[g->switches[0]].guid;
	uint8_t block[64];
	struct stats_events ev;

	up();
	ck_assert_int_eq(sim_peek(fixture->sim, guid, UMAD_SM_ATTR_LINEAR_FT, 0, block),
	                 E_OK);
	block[1] ^= 1;
	ck_assert_int_eq(sim_poke(fixture->sim, guid, UMAD_SM_ATTR_LINEAR_FT, 0, block),
	                 E_OK);
	sweep_request_audit(fixture->sweep, NULL);
	fixture_run_ms(fixture, 5000);
	ev = new_rows();
	snprintf(
		sentence[0], sizeof(sentence[0]),
		"'%s' port 0: LinearForwardingTable, block 0x0, was changed by somebody else; it is sent again",
		g->nodes[g->switches[0]].description);
	expect(&ev, (const char *const[]){ sentence[0], NULL });
	ck_assert_uint_eq(ev.events[0].lft_blocks, 1);
}
END_TEST

/* --- series ---------------------------------------------------------------------------- */

static const char *const families[] = {
#define SERIES(name, help) #name,
#include "db/stats/series.def"
#undef SERIES
};
enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

static unsigned family_of(const char *series)
{
	size_t len = strcspn(series, "{");

	for (unsigned i = 0; i < FAMILIES; i++) {
		if (strlen(families[i]) == len && memcmp(families[i], series, len) == 0) {
			return i;
		}
	}
	ck_abort_msg("db/stats/series.def has no %s", series);
}

/* Every number has a family with a help, and every family has a number. */
START_TEST(series)
{
	bool written[FAMILIES] = { false };
	struct stats_copy copy;
	struct stats_reader *r;
	double heavy = 0;

	fixture->config.perfmgr = true;
	fixture->config.congestion.on = true;
	up();
	ck_assert_int_eq(stats_reader_open(fixture->snap_dir, &r), E_OK);
	ck_assert_int_eq(stats_read(r, fixture->run, &copy), E_OK);
	stats_reader_close(r);
	for (size_t i = 0; i < copy.n; i++) {
		const struct stats_value *v = &copy.values[i];

		if (v->text == NULL) {
			written[family_of(v->name)] = true;
			heavy += strcmp(v->name,
			                "last_sweep_timestamp_seconds{kind=\"heavy\"}") ==
			                         0
			                 ? v->value
			                 : 0;
		}
	}
	ck_assert_double_eq(heavy, 1700000000);
	for (unsigned i = 0; i < FAMILIES; i++) {
		/* this daemon has no subnet administration, and no link of its fabric is sick */
		ck_assert_msg(written[i] || strncmp(families[i], "sa_", 3) == 0 ||
		                      strcmp(families[i], "link_sick") == 0,
		              "nobody writes %s", families[i]);
	}
}
END_TEST

TEST_SUITE(sweep_events)
{
	TCase *t = tcase_create("events");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, cable_out_and_in);
	tcase_add_loop_test(t, cause, 0, 2);
	tcase_add_loop_test(t, node_out_and_in, 0, 2);
	tcase_add_test(t, deaf);
	tcase_add_test(t, flapping);
	tcase_add_test(t, other_sm);
	tcase_add_test(t, other_sm_ends);
	tcase_add_test(t, failures);
	tcase_add_test(t, restart);
	tcase_add_test(t, audit);
	tcase_add_test(t, series);
	suite_add_tcase(suite, t);
}
