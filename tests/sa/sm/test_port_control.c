/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Ports that an operator switches off and on. */
#include <inttypes.h>

#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

static struct sweep_fixture *fixture;
static uint64_t seen; /* events before this number were looked at */

static void setup(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->with_stats = true;
	fixture->config.sweep_interval = 0;
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 30000);
	seen = stats_event_next(fixture->stats);
}

static void teardown(void)
{
	fixture_free(fixture);
}

/* How many new events of a kind there are. */
static unsigned count(enum event_kind kind)
{
	struct stats_events ev;
	struct stats_reader *r;
	unsigned n = 0;

	ck_assert_int_eq(stats_commit(fixture->stats, 1), E_OK);
	ck_assert_int_eq(stats_reader_open(fixture->snap_dir, &r), E_OK);
	ck_assert_int_eq(stats_read_events(r, seen, SIZE_MAX, fixture->run, &ev), E_OK);
	stats_reader_close(r);
	for (size_t i = 0; i < ev.n; i++) {
		n += ev.events[i].kind == kind;
		if (ev.events[i].kind == EVENT_PORT_DISABLED ||
		    ev.events[i].kind == EVENT_PORT_ENABLED) {
			ck_assert_str_eq(ev.events[i].detail,
			                 "operator request; by alice, control socket");
		}
	}
	return n;
}

static int ask(const char *place, bool disable, struct port_choice *ret_choice,
               char why[300])
{
	const struct port_request rq = { .place = place,
		                         .disable = disable,
		                         .by = "alice, control socket" };

	why[0] = '\0';
	return sweep_request_port(fixture->sweep, &rq, ret_choice, why, 300);
}

static struct port_choice switch_port(const char *place, bool disable)
{
	struct port_choice c;
	char why[300];

	ck_assert_msg(ask(place, disable, &c, why) == E_OK, "%s: %s", place, why);
	fixture_run_ms(fixture, 10000);
	fixture_up(fixture);
	return c;
}

static uint32_t node(const char *name)
{
	for (uint32_t i = 0; i < fixture->g->n_nodes; i++) {
		if (strcmp(fixture->g->nodes[i].description, name) == 0) {
			return i;
		}
	}
	ck_abort_msg("no node %s", name);
	return GRAPH_NONE;
}

static uint64_t state(const char *name, uint8_t port)
{
	return fixture_peek(fixture, graph_port(fixture->g, node(name), port),
	                    PI_PORT_STATE);
}

/* A cable between switches, named in every way: off over sweeps and a restart, then on. */
START_TEST(cable)
{
	char place[64];
	struct port_choice c;
	uint32_t sw = node("leaf-0000");

	switch (_i) {
	case 0: snprintf(place, sizeof(place), "leaf-0000:5"); break;
	case 1:
		snprintf(place, sizeof(place), "0x%016" PRIx64 ":5",
		         fixture->g->nodes[sw].guid);
		break;
	default:
		snprintf(place, sizeof(place), "%" PRIu64 ":5",
		         fixture_peek(fixture, graph_port(fixture->g, sw, 0), PI_LID));
	}
	c = switch_port(place, true);
	ck_assert_str_eq(c.node, "'leaf-0000'");
	ck_assert_uint_eq(c.port, 5);
	ck_assert_str_eq(c.peer, "'spine-0000'");
	ck_assert_uint_eq(c.cut_off, 0);
	ck_assert_uint_eq(state("leaf-0000", 5), PORT_DOWN);
	ck_assert_uint_eq(count(EVENT_PORT_DISABLED), 1);
	ck_assert_uint_eq(count(EVENT_CABLE_LOST), 1);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 10000);
	sweep_request_audit(fixture->sweep, NULL);
	fixture_run_ms(fixture, 10000);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_run_ms(fixture, 10000);
	ck_assert_uint_eq(state("leaf-0000", 5), PORT_DOWN);
	ck_assert_uint_eq(count(EVENT_CABLE_BACK), 0);
	c = switch_port(place, false);
	ck_assert_str_eq(c.peer, "");
	ck_assert_uint_eq(state("leaf-0000", 5), PORT_ACTIVE);
	ck_assert_uint_eq(count(EVENT_PORT_ENABLED), 1);
	ck_assert_uint_eq(count(EVENT_CABLE_BACK), 1);
}
END_TEST

/* A host is switched at its switch, which can switch it on again. */
START_TEST(host)
{
	const struct graph *g = fixture->g;
	uint32_t port = graph_port(g, node("node03"), 1);
	struct port_choice c;
	char why[300], place[64];

	c = switch_port(_i == 0 ? "node03" : "node03:1", true);
	ck_assert_str_eq(c.peer, "'node03'");
	ck_assert_uint_eq(c.port, g->ports[g->ports[port].peer].num);
	ck_assert_uint_eq(c.cut_off, 1);
	ck_assert_uint_eq(count(EVENT_HOST_GONE), 1);
	ck_assert_int_eq(ask("node03", false, &c, why), E_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(why, "name the port of its switch"));
	snprintf(place, sizeof(place), "%s:%u",
	         g->nodes[g->ports[g->ports[port].peer].node].description,
	         g->ports[g->ports[port].peer].num);
	c = switch_port(place, false);
	ck_assert_uint_eq(count(EVENT_HOST_NEW), 1);
	ck_assert_uint_eq(state("node03", 1), PORT_ACTIVE);
}
END_TEST

/* The last cable to a switch is switched at the far end, from the SM's view the near one. */
START_TEST(near_end)
{
	struct port_choice c;

	for (unsigned p = 1; p <= 4; p++) {
		char place[32];
		const struct port *port = &fixture->g->ports[graph_port(
			fixture->g, node("spine-0001"), (uint8_t)p)];

		snprintf(place, sizeof(place), "spine-0001:%u", p);
		c = switch_port(place, true);
		if (p < 4) {
			ck_assert_str_eq(c.node, "'spine-0001'");
			ck_assert_uint_eq(c.cut_off, 0);
		} else {
			ck_assert_uint_eq(c.port, fixture->g->ports[port->peer].num);
			ck_assert_str_eq(c.peer, "'spine-0001'");
			ck_assert_uint_eq(c.cut_off, 1);
			snprintf(place, sizeof(place), "%.*s:%u", (int)strlen(c.node) - 2,
			         c.node + 1, c.port);
			(void)switch_port(place, false);
			ck_assert_uint_eq(count(EVENT_SWITCH_NEW), 1);
		}
	}
}
END_TEST

START_TEST(own_port)
{
	const struct graph *g = fixture->g;
	const struct port *sm = &g->ports[g->sm_port], *sw = &g->ports[sm->peer];
	const struct port_request force = { .place = g->nodes[sm->node].description,
		                            .disable = true,
		                            .force = true };
	struct port_choice c;
	char why[300], place[64];

	ck_assert_int_eq(ask(g->nodes[sm->node].description, true, &c, why),
	                 E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(why, "--force"));
	snprintf(place, sizeof(place), "%s:%u", g->nodes[sw->node].description, sw->num);
	ck_assert_int_eq(ask(place, true, &c, why), E_UNSUITABLE);
	ck_assert_int_eq(ask(place, false, &c, why), E_OK);
	fixture_run_ms(fixture, 10000);
	ck_assert_int_eq(sweep_request_port(fixture->sweep, &force, &c, why, sizeof(why)),
	                 E_OK);
	ck_assert_uint_eq(c.cut_off, g->n_nodes - 1);
}
END_TEST

/* clang-format off */
static const struct {
	const char *place;
	int ret;
} wrong[] = {
	{ "", E_NOTFOUND },           { "leaf-0000", E_RANGE },   { "leaf-0000:0", E_RANGE },
	{ "leaf-0000:99", E_RANGE },  { "leaf-0000:", E_NOTFOUND }, { "leaf-0000:300", E_NOTFOUND },
	{ "leaf-9:1", E_NOTFOUND },   { ":1", E_NOTFOUND },       { "0:1", E_NOTFOUND },
	{ "0x123456:1", E_NOTFOUND },      { "node02:2", E_RANGE },    { "leaf-0000:-1", E_NOTFOUND },
	{ "99999999999999999999:1", E_NOTFOUND },
};
/* clang-format on */

START_TEST(refused)
{
	struct port_choice c;
	char why[300];

	ck_assert_int_eq(ask(wrong[_i].place, true, &c, why), wrong[_i].ret);
	ck_assert_str_ne(why, "");
}
END_TEST

START_TEST(ambiguous)
{
	struct port_choice c;
	char why[300];

	ck_assert_int_eq(sim_set_description(fixture->sim,
	                                     fixture->g->nodes[node("node02")].guid,
	                                     "node03"),
	                 E_OK);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 10000);
	ck_assert_int_eq(ask("node03", true, &c, why), E_AMBIGUOUS);
}
END_TEST

/* What opa-fm calls a host is the first word of its description. Each of its ports is
 * found, and so is the end port at either end of a cable. */
START_TEST(end_ports_by_name)
{
	const char *const names[] = { "node03", "nobody", "node05", "node03" };
	const struct graph *g = fixture->g;
	uint32_t ca = node("node03"), n;
	const struct port *p = &g->ports[graph_port(g, ca, 1)], *far = &g->ports[p->peer];
	struct sweep_host_port *ports;
	struct arena *a = arena_new();
	unsigned seen_3 = 0, seen_5 = 0;

	ck_assert_int_eq(sweep_host_ports(fixture->sweep, names, 4, a, &ports, &n), E_OK);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_ne(ports[i].host, 1);
		seen_3 += ports[i].host != 2 && ports[i].guid == p->guid;
		seen_5 += ports[i].host == 2 && ports[i].guid != p->guid;
	}
	ck_assert_uint_eq(seen_3 + seen_5, n);
	ck_assert_uint_ge(seen_3, 1);
	ck_assert_uint_eq(seen_5, 1);
	ck_assert_uint_eq(sweep_end_port(fixture->sweep, g->nodes[ca].guid, 1), p->guid);
	ck_assert_uint_eq(
		sweep_end_port(fixture->sweep, g->nodes[far->node].guid, far->num),
		p->guid);
	ck_assert_uint_eq(sweep_end_port(fixture->sweep, g->nodes[ca].guid, 77), 0);
	ck_assert_uint_eq(sweep_end_port(fixture->sweep, 77, 1), 0);
	arena_free(a);
}
END_TEST

/* A switch that does not answer: said, and the next request is taken. */
START_TEST(no_answer)
{
	struct port_choice c;
	char why[300];

	ck_assert_int_eq(ask("leaf-0002:5", true, &c, why), E_OK);
	ck_assert_int_eq(ask("leaf-0002:6", true, &c, why), E_NOTREADY);
	ck_assert_int_eq(sim_set_deaf(fixture->sim,
	                              fixture->g->nodes[node("leaf-0002")].guid, true),
	                 E_OK);
	fixture_run_ms(fixture, 20000);
	ck_assert_uint_eq(count(EVENT_PORT_UNCHANGED), 1);
	ck_assert_msg(ask("leaf-0001:5", true, &c, why) == E_OK, "%s", why);
}
END_TEST

TEST_SUITE(port_control)
{
	TCase *t = tcase_create("ports");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, cable, 0, 3);
	tcase_add_loop_test(t, host, 0, 2);
	tcase_add_test(t, near_end);
	tcase_add_test(t, own_port);
	tcase_add_loop_test(t, refused, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(t, ambiguous);
	tcase_add_test(t, end_ports_by_name);
	tcase_add_test(t, no_answer);
	suite_add_tcase(suite, t);
}
