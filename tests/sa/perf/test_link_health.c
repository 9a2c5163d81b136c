/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The judge of links. Its figures: evidence against known values, windows that slide, what makes
 * a link sick, and what does not. Links of known truth: the short form of `make judge-links`. And
 * what is done about sick cables, for every reason not to take one out.
 */
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/lmdb/counters.h"
#include "sa/perf/link_health.h"
#include "sa/perf/link_verdict.h"
#include "sa/perf/perf_int.h"
#include "tests/lib/suite.h"
#include "tests/sa/perf/link_judge.h"
#include "tests/sa/perf/perf_fixture.h"

static const struct link_rules rules = { .incident_s = 60, .calm_s = 3600 };

static struct link_health link_of(float gbps, uint8_t flags)
{
	return (struct link_health){ .gbps = gbps, .flags = (uint8_t)(flags | LINK_OF_SWITCH) };
}

static void read_one(struct link_health *h, uint32_t seconds, enum link_metric m, uint64_t n)
{
	struct link_reading r = { .interval_ms = seconds * 1000,
		                  .time_s = h->time_s + seconds,
		                  .known = (1u << LINK_METRICS) - 1 };

	r.rise[m] = n;
	(void)link_health_take(h, &rules, &r);
}

static void read_some(struct link_health *h, unsigned readings, enum link_metric m, uint64_t n)
{
	for (unsigned i = 0; i < readings; i++) {
		read_one(h, 180, m, n);
	}
}

/* The limits of the specification: 40 Gb/s err 144 times an hour, 100 Gb/s behind correction 8.6 a day. */
START_TEST(limits)
{
	ck_assert_double_eq_tol(link_allowed_per_s(40, false) * 3600, 144, 1e-6);
	ck_assert_double_eq_tol(link_allowed_per_s(100, true) * 86400, 8.64, 1e-6);
	/* n ln(n/m) - n + m by hand */
	ck_assert_double_eq_tol(link_evidence(20, 2.4), 20 * log(20 / 2.4) - 17.6, 1e-9);
	ck_assert_double_eq(link_evidence(2, 2.4), 0);
	ck_assert_double_eq(link_evidence(5, 0), 0);
}
END_TEST

/* All of the present part, and of the one before what is still within. */
START_TEST(windows)
{
	struct link_health h = link_of(40, 0);

	read_some(&h, 20, LINK_SYMBOL_ERRORS, 3); /* an hour */
	ck_assert_double_eq_tol(link_rate_of(&h, LINK_HOUR, LINK_SYMBOL_ERRORS), 60, 0.1);
	read_some(&h, 10, LINK_SYMBOL_ERRORS, 0); /* half an hour more */
	struct link_window w = link_window(&h, LINK_HOUR);
	ck_assert_float_eq_tol(w.seconds, 3600, 1);
	ck_assert_uint_eq(w.n[LINK_SYMBOL_ERRORS], 30);
	ck_assert_uint_eq(link_window(&h, LINK_DAY).n[LINK_SYMBOL_ERRORS], 60);
	ck_assert_uint_eq(link_window(&h, LINK_MINUTE).n[LINK_SYMBOL_ERRORS], 0);
	read_some(&h, 10, LINK_SYMBOL_ERRORS, 0);
	ck_assert_uint_eq(link_window(&h, LINK_HOUR).n[LINK_SYMBOL_ERRORS], 0);
}
END_TEST

START_TEST(trends)
{
	struct link_health h = link_of(40, 0);

	read_some(&h, 100, LINK_SYMBOL_ERRORS, 100);
	ck_assert_int_eq(link_trend(&h), LINK_STEADY);
	read_some(&h, 20, LINK_SYMBOL_ERRORS, 1000);
	ck_assert_int_eq(link_trend(&h), LINK_RISING);
	read_some(&h, 60, LINK_SYMBOL_ERRORS, 1);
	ck_assert_int_eq(link_trend(&h), LINK_FALLING);
	/* a young link: the minute against the hour */
	h = link_of(40, 0);
	read_some(&h, 5, LINK_SYMBOL_ERRORS, 10);
	read_some(&h, 1, LINK_SYMBOL_ERRORS, 500);
	ck_assert_int_eq(link_trend(&h), LINK_RISING);
}
END_TEST

/* One incident, however bad, makes no link sick; so neither a touch nor a forged answer does. */
START_TEST(one_incident_proves_nothing)
{
	for (unsigned m = 0; m < LINK_METRICS; m++) {
		struct link_health h = link_of(40, _i ? LINK_HAS_FEC : 0);
		struct link_reading r = { .interval_ms = 180000, .known = (1u << LINK_METRICS) - 1 };

		read_some(&h, 1, m, UINT32_MAX);
		ck_assert_int_ne(h.state, LINK_SICK);
		/* the next true answer has less, as if somebody had cleared the counter */
		r.rise[m] = 100000;
		r.cleared = 1u << m;
		(void)link_health_take(&h, &rules, &r);
		ck_assert_int_ne(h.state, LINK_SICK);
		for (unsigned i = 0; i < 1000; i++) {
			read_some(&h, 1, m, 0);
			ck_assert_int_ne(h.state, LINK_SICK);
		}
		ck_assert_int_eq(h.state, LINK_WELL);
	}
}
END_TEST

START_TEST(three_bad_minutes)
{
	struct link_health h = link_of(40, 0);

	read_some(&h, 2, LINK_SYMBOL_ERRORS, 1000);
	ck_assert_int_eq(h.state, LINK_SUSPECT);
	read_some(&h, 1, LINK_SYMBOL_ERRORS, 1000);
	ck_assert_int_eq(h.state, LINK_SICK);
	ck_assert_int_eq(h.proof, LINK_BURSTS);
	ck_assert_int_eq(h.span, LINK_HOUR);
	/* but within a minute they are one incident */
	h = link_of(40, 0);
	for (unsigned i = 0; i < 100; i++) {
		read_one(&h, 1, LINK_SYMBOL_ERRORS, i < 50 ? 1000 : 0);
	}
	ck_assert_int_eq(h.state, LINK_SUSPECT);
}
END_TEST

/* Discards and repaired blocks are shown, and prove nothing. */
START_TEST(congestion)
{
	struct link_health h = link_of(100, LINK_HAS_FEC);
	char text[200];

	read_some(&h, 500, _i ? LINK_DISCARDS : LINK_FEC_CORRECTED, 1000000);
	ck_assert_int_eq(h.state, LINK_WELL);
	ck_assert_double_gt(link_rate_of(&h, LINK_HOUR, _i ? LINK_DISCARDS : LINK_FEC_CORRECTED),
	                    1e7);
	ck_assert(!link_health_matters(&h));
	ck_assert_str_eq(link_health_text(&h, text, sizeof(text)), "no errors");
}
END_TEST

/* A counter at its limit says neither that a link errs nor that it does not. */
START_TEST(saturated)
{
	struct link_health h = link_of(40, 0);
	struct link_reading r = { .interval_ms = 180000,
		                  .known = (1u << LINK_METRICS) - 1,
		                  .saturated = 1u << LINK_SYMBOL_ERRORS };

	read_some(&h, 3, LINK_SYMBOL_ERRORS, 1000);
	ck_assert_int_eq(h.state, LINK_SICK);
	for (unsigned i = 0; i < 10000; i++) {
		(void)link_health_take(&h, &rules, &r);
	}
	ck_assert_int_eq(h.state, LINK_SICK);
	ck_assert_uint_eq(h.blind, 1u << LINK_SYMBOL_ERRORS);
	h = link_of(40, 0);
	for (unsigned i = 0; i < 1000; i++) {
		(void)link_health_take(&h, &rules, &r);
	}
	ck_assert_int_eq(h.state, LINK_WELL);
}
END_TEST

/* A new cable is believed at once, but not for ever. */
START_TEST(changed)
{
	struct link_health h = link_of(40, 0);

	for (unsigned i = 0; i < LINK_CHANGES; i++) {
		read_some(&h, 3, LINK_SYMBOL_ERRORS, 1000);
		ck_assert_int_eq(h.state, LINK_SICK);
		link_health_changed(&h, h.time_s);
		ck_assert_int_eq(h.state, LINK_SUSPECT);
	}
	read_some(&h, 3, LINK_SYMBOL_ERRORS, 1000);
	link_health_changed(&h, h.time_s);
	ck_assert_int_eq(h.state, LINK_SICK);
	/* calm for an hour, twice as long for each of two relapses */
	read_some(&h, 4 * 20 - 1, LINK_SYMBOL_ERRORS, 0);
	ck_assert_int_eq(h.state, LINK_SICK);
	read_some(&h, 2, LINK_SYMBOL_ERRORS, 0);
	ck_assert_int_eq(h.state, LINK_WELL);
}
END_TEST

/* After a stop, what is older than its window is forgotten, the state is not. */
START_TEST(gap)
{
	struct link_health h = link_of(40, 0);

	read_some(&h, 30, LINK_SYMBOL_ERRORS, 1000);
	link_health_gap(&h, 3600);
	ck_assert_float_eq(link_window(&h, LINK_HOUR).seconds, 0);
	ck_assert_float_gt(link_window(&h, LINK_DAY).seconds, 0);
	ck_assert_int_eq(h.state, LINK_SICK);
}
END_TEST

START_TEST(sentences)
{
	struct link_health h = link_of(40, 0);
	char text[200];

	read_some(&h, 3, LINK_SYMBOL_ERRORS, 1000);
	ck_assert_str_eq(link_health_text(&h, text, sizeof(text)),
	                 "3 minutes of the last hour were full of errors (3000 symbol errors), steady");
	h = link_of(40, 0);
	read_some(&h, 400, LINK_SYMBOL_ERRORS, 12);
	ck_assert_str_eq(link_health_text(&h, text, sizeof(text)),
	                 "1.7 times the errors that are allowed in the last day (4800 symbol errors), steady");
	h = link_of(40, 0);
	read_some(&h, 100, LINK_DOWNS, 1);
	ck_assert_str_eq(link_health_text(&h, text, sizeof(text)),
	                 "it trained anew again and again in the last hour (20 link downs), steady");
}
END_TEST

/* --- links whose truth is known ----------------------------------------------------------- */

START_TEST(known_truth)
{
	const uint32_t runs = 6;
	struct judged j = link_judge((unsigned)_i, runs, 4711, 180, 4);
	const struct link_process *p = link_process((unsigned)_i);

	ck_assert_msg(j.wrong == 0, "%s: %u good ones are called sick", p->name, j.wrong);
	ck_assert_msg(j.missed == 0, "%s: %u bad ones are missed", p->name, j.missed);
	ck_assert_msg(j.stuck == 0, "%s: %u good ones stay out", p->name, j.stuck);
	ck_assert_msg(j.flaps <= LINK_CHANGES * runs, "%s: %u returns too early", p->name, j.flaps);
	ck_assert_uint_eq(j.sick, p->is_bad ? runs : 0);
}
END_TEST

START_TEST(bad_switch)
{
	uint32_t blamed;

	ck_assert_uint_eq(link_judge_switch(36, 1, &blamed), 0);
	ck_assert_uint_eq(blamed, 36);
}
END_TEST

/* --- what is done ------------------------------------------------------------------------- */

static struct link_health sick_link(void)
{
	struct link_health h = link_of(40, 0);

	read_some(&h, 4, LINK_SYMBOL_ERRORS, 1000);
	return h;
}

static struct link_cable cable_of(uint64_t n, struct link_health *a, struct link_health *b)
{
	return (struct link_cable){ .guid = { n, n + 100 },
		                    .port = { 1, 2 },
		                    .is_switch = { true, true },
		                    .end = { a, b },
		                    .cables = { 36, 36 } };
}

static enum link_decision answer;
static unsigned asked;

static enum link_decision answers(void *ctx, const struct link_cable *c)
{
	(void)ctx;
	(void)c;
	asked++;
	return answer;
}

static size_t decide(struct link_cable *c, size_t n, enum link_health_mode mode, uint32_t most)
{
	const struct link_policy policy = { mode, most };
	size_t take;

	asked = 0;
	link_verdict(c, n, &policy, answers, NULL, &take);
	return take;
}

START_TEST(reasons_to_stay)
{
	struct link_health bad = sick_link(), good = link_of(40, 0);
	struct link_cable c = cable_of(1, &good, &bad);

	answer = LINK_DECISION_DUE;
	ck_assert_uint_eq(decide(&c, 1, LINK_HEALTH_WATCH, 4), 1);
	ck_assert_int_eq(c.decision, LINK_DECISION_WATCHED);
	ck_assert_uint_eq(asked, 0);
	ck_assert_uint_eq(decide(&c, 1, LINK_HEALTH_ISOLATE, 4), 0);
	ck_assert_int_eq(c.worse, 1);
	answer = LINK_DECISION_PAIRS;
	ck_assert_uint_eq(decide(&c, 1, LINK_HEALTH_ISOLATE, 4), 1);
	ck_assert_int_eq(c.decision, LINK_DECISION_PAIRS);
	answer = LINK_DECISION_DUE;
	/* what a host says of itself */
	c.is_switch[1] = false;
	ck_assert_uint_eq(decide(&c, 1, LINK_HEALTH_ISOLATE, 4), 1);
	ck_assert_int_eq(c.decision, LINK_DECISION_HOST_SAYS);
	/* what its switch says */
	c.end[0] = &bad;
	ck_assert_uint_eq(decide(&c, 1, LINK_HEALTH_ISOLATE, 4), 1);
	ck_assert_int_eq(c.decision, LINK_DECISION_HOST);
	ck_assert_uint_eq(asked, 0);
	c.is_switch[1] = true;
	c.out_by_operator = true;
	ck_assert_uint_eq(decide(&c, 1, LINK_HEALTH_ISOLATE, 4), 1);
	ck_assert_int_eq(c.decision, LINK_DECISION_OPERATOR);
}
END_TEST

/* Of two ends that are equally sick a switch tells more than a host, and then the one with more errors. */
START_TEST(worse_end)
{
	static const struct {
		bool is_switch[2];
		unsigned more; /* the end with more errors */
		unsigned worse;
	} rows[] = { { { true, true }, 0, 0 },   { { true, true }, 1, 1 },
		     { { false, false }, 0, 0 }, { { false, false }, 1, 1 },
		     { { true, false }, 1, 0 },  { { false, true }, 0, 1 } };
	struct link_health bad = sick_link(), worse = link_of(40, 0), good = link_of(40, 0);

	read_some(&worse, 4, LINK_SYMBOL_ERRORS, 5000);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct link_cable c = cable_of(1, &bad, &bad);

		c.end[rows[i].more] = &worse;
		memcpy(c.is_switch, rows[i].is_switch, sizeof(c.is_switch));
		(void)decide(&c, 1, LINK_HEALTH_WATCH, 4);
		ck_assert_msg(c.worse == rows[i].worse, "row %u: %u", i, c.worse);
		ck_assert_int_eq(c.state, LINK_SICK);
		/* a sick host is worse than a switch that is well */
		c.end[!rows[i].more] = &good;
		(void)decide(&c, 1, LINK_HEALTH_WATCH, 4);
		ck_assert_uint_eq(c.worse, rows[i].more);
		ck_assert_int_eq(c.state, LINK_SICK);
	}
}
END_TEST

/* One at a time, the worst first, and never more than the most. */
START_TEST(one_at_a_time)
{
	struct link_health bad = sick_link(), worse = link_of(40, 0);
	struct link_cable c[3] = { cable_of(1, &bad, NULL), cable_of(2, &worse, NULL),
		                   cable_of(3, &bad, NULL) };

	read_some(&worse, 4, LINK_SYMBOL_ERRORS, 5000);
	answer = LINK_DECISION_DUE;
	ck_assert_uint_eq(decide(c, 3, LINK_HEALTH_ISOLATE, 2), 1);
	ck_assert_uint_eq(asked, 1);
	c[1].out = true;
	ck_assert_uint_eq(decide(c, 3, LINK_HEALTH_ISOLATE, 2), 0);
	ck_assert_int_eq(c[1].decision, LINK_DECISION_TAKEN_OUT);
	c[0].out = true;
	ck_assert_uint_eq(decide(c, 3, LINK_HEALTH_ISOLATE, 2), 3);
	ck_assert_int_eq(c[2].decision, LINK_DECISION_MOST);
	/* the first one is well again: it returns, and there is room */
	worse = link_of(40, 0);
	ck_assert_uint_eq(decide(c, 3, LINK_HEALTH_ISOLATE, 2), 2);
	ck_assert(c[1].returns && !c[0].returns);
	/* all return when nobody wants it any more */
	(void)decide(c, 3, LINK_HEALTH_WATCH, 2);
	ck_assert(c[0].returns && c[1].returns);
}
END_TEST

/* A proof that fails is asked for once, and the next cable is looked at. */
START_TEST(all_refused)
{
	struct link_health bad = sick_link();
	struct link_cable c[3] = { cable_of(1, &bad, NULL), cable_of(2, &bad, NULL),
		                   cable_of(3, &bad, NULL) };

	answer = LINK_DECISION_BISECTION;
	ck_assert_uint_eq(decide(c, 3, LINK_HEALTH_ISOLATE, 9), 3);
	ck_assert_uint_eq(asked, 3);
}
END_TEST

/* --- with a subnet manager ---------------------------------------------------------------- */

static int row_of(uint32_t port, struct link_health *ret_health)
{
	struct arena *a = arena_new();
	struct link_health_list list;
	int ret = stats_read_link_health(reader, a, &list), found = E_NOTFOUND;

	ck_assert_int_eq(ret, E_OK);
	for (size_t i = 0; i < list.n; i++) {
		if (list.rows[i].node_guid == guid_of(port) &&
		    list.rows[i].port == fixture->g->ports[port].num) {
			*ret_health = list.rows[i].health;
			found = E_OK;
		}
	}
	arena_free(a);
	return found;
}

static uint32_t switch_link(void)
{
	const struct graph *g = fixture->g;

	for (uint32_t i = 0; i < g->n_ports; i++) {
		if (g->ports[i].peer != GRAPH_NONE &&
		    g->nodes[g->ports[i].node].type == NODE_SWITCH &&
		    g->nodes[g->ports[g->ports[i].peer].node].type == NODE_SWITCH) {
			return i;
		}
	}
	return GRAPH_NONE;
}

static void err(uint32_t port, uint64_t n)
{
	ck_assert_int_eq(sim_perf_add(fixture->sim, guid_of(port), fixture->g->ports[port].num,
	                              "SymbolErrorCounter", n),
	                 E_OK);
}

/* What ports count becomes rows with a decision, which a new process goes on with. */
START_TEST(rows_over_a_restart)
{
	struct link_health h;

	perf_fixture_up("ft2 4 4 2", 0, false);
	uint32_t port = switch_link();

	for (unsigned i = 0; i < 60; i++) {
		err(port, 100000);
		one_sweep();
	}
	ck_assert_int_eq(row_of(port, &h), E_OK);
	ck_assert_int_eq(h.state, LINK_SICK);
	ck_assert_int_eq(h.decision, LINK_DECISION_WATCHED);
	ck_assert_uint_ne(h.flags & LINK_OF_SWITCH, 0);
	ck_assert_float_gt(h.gbps, 0);
	uint64_t since = (uint64_t)h.since_s;

	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	one_sweep();
	one_sweep();
	ck_assert_int_eq(row_of(port, &h), E_OK);
	ck_assert_int_eq(h.state, LINK_SICK);
	ck_assert_int_eq(h.decision, LINK_DECISION_WATCHED);
	ck_assert_uint_eq((uint64_t)h.since_s, since);
	/* the other end is well, and has no row */
	ck_assert_int_eq(row_of(fixture->g->ports[port].peer, &h), E_NOTFOUND);
}
END_TEST

/* A subnet manager that takes sick links out of service, as far as it may. */
static void up_to_isolate(const char *topo, uint32_t bisection)
{
	perf_fixture_up(topo, 0, false);
	fixture->config.link_health = LINK_HEALTH_ISOLATE;
	fixture->config.link_health_bisection = bisection;
	fixture_log(fixture);
}

static enum link_decision decision_of(uint32_t port)
{
	struct link_health h;

	ck_assert_int_eq(row_of(port, &h), E_OK);
	ck_assert_int_eq(h.state, LINK_SICK);
	return h.decision;
}

static void err_for_long(uint32_t port)
{
	for (unsigned i = 0; i < 60; i++) {
		err(port, 100000);
		one_sweep();
	}
}

static void set_cable(uint32_t port, bool is_up)
{
	ck_assert_int_eq(sim_set_link(fixture->sim, guid_of(port),
	                              fixture->g->ports[port].num, is_up),
	                 E_OK);
}

/* The metrics name the port. */
static void check_series(uint32_t port)
{
	char name[STATS_NAME_MAX];
	struct stats_copy copy;
	unsigned found = 0;

	snprintf(name, sizeof(name), "link_sick{guid=\"0x%016llx\",port=\"%u\"}",
	         (unsigned long long)guid_of(port), fixture->g->ports[port].num);
	ck_assert_int_eq(stats_read(reader, fixture->run, &copy), E_OK);
	for (size_t i = 0; i < copy.n; i++) {
		found += strcmp(copy.values[i].name, name) == 0 && copy.values[i].value > 0;
	}
	ck_assert_uint_eq(found, 1);
}

static void take_errors(struct perf *p, struct counted_port *port, uint64_t errors)
{
	struct port_counters c = { .interval_ms = 180000,
		                   .known = 1u << COUNTER_SYMBOL_ERRORS };

	c.time_s = port->health.time_s + 180;
	c.delta[COUNTER_SYMBOL_ERRORS] = errors;
	perf_health_take(p, port, &c, 0);
}

static void fall_sick(struct perf *p, struct counted_port *port)
{
	while (port->health.state != LINK_SICK) {
		take_errors(p, port, 1000);
	}
}

static void get_well(struct perf *p, struct counted_port *port)
{
	while (port->health.state == LINK_SICK) {
		take_errors(p, port, 0);
	}
}

/* \return 1: its series says that it is sick, 0: that it is not, -1: it has none. */
static int series_of(struct perf *p, struct arena *a, const struct counted_port *port,
                     unsigned *ret_n)
{
	struct stats_copy copy;
	char name[100];
	int found = -1;

	snprintf(name, sizeof(name), "link_sick{guid=\"0x%016llx\",port=\"%u\"}",
	         (unsigned long long)port->guid, port->num);
	ck_assert_int_eq(stats_commit(p->stats, 1), E_OK);
	ck_assert_int_eq(stats_read(reader, a, &copy), E_OK);
	*ret_n = 0;
	for (size_t i = 0; i < copy.n; i++) {
		*ret_n += strncmp(copy.values[i].name, "link_sick{", 10) == 0;
		found = strcmp(copy.values[i].name, name) == 0 ? (int)copy.values[i].value
		                                               : found;
	}
	return found;
}

/* The metrics name so many sick ports and no more. One that is well again says so, and is shown
 * again when it comes back; another one that falls sick takes the place of one that is well. */
START_TEST(series_have_a_limit)
{
	enum { MOST = 1000, PORTS = MOST + 3, RELAPSES = 7, WELL = 3, LATE = MOST + 1 };
	static struct counted_port port[PORTS];
	struct perf p = { .judges = true, .rules = rules };
	struct arena *a = arena_new();
	const char *why = "";
	unsigned n;
	char dir[256];

	make_tmp(dir);
	ck_assert_int_eq(stats_open(dir, a, &why, &p.stats), E_OK);
	for (unsigned i = 0; i < PORTS; i++) {
		port[i] = (struct counted_port){ .guid = i + 1, .num = 1, .health = link_of(40, 0) };
		fall_sick(&p, &port[i]);
	}
	ck_assert_int_eq(stats_commit(p.stats, 1), E_OK);
	ck_assert_int_eq(stats_reader_open(dir, &reader), E_OK);
	ck_assert_int_eq(series_of(&p, a, &port[MOST - 1], &n), 1);
	ck_assert_int_eq(series_of(&p, a, &port[LATE], &n), -1);
	ck_assert_uint_eq(n, MOST);
	get_well(&p, &port[RELAPSES]);
	ck_assert_int_eq(series_of(&p, a, &port[RELAPSES], &n), 0);
	fall_sick(&p, &port[RELAPSES]);
	ck_assert_int_eq(series_of(&p, a, &port[RELAPSES], &n), 1);
	get_well(&p, &port[LATE]); /* it has no series to say so */
	fall_sick(&p, &port[LATE]);
	ck_assert_int_eq(series_of(&p, a, &port[LATE], &n), -1);
	get_well(&p, &port[WELL]);
	get_well(&p, &port[LATE]);
	fall_sick(&p, &port[LATE]);
	ck_assert_int_eq(series_of(&p, a, &port[LATE], &n), 1);
	ck_assert_int_eq(series_of(&p, a, &port[WELL], &n), -1);
	ck_assert_uint_eq(n, MOST);
	perf_fixture_done();
	stats_close(p.stats);
	free(p.series);
	arena_free(a);
	remove_tree(dir);
}
END_TEST

/* A sick cable loses its routes, and gets them back when it was changed. */
START_TEST(taken_out_and_back)
{
	struct link_health h;

	up_to_isolate("ft2 4 4 2", 99);
	uint32_t port = switch_link();

	err_for_long(port);
	ck_assert_int_eq(decision_of(port), LINK_DECISION_TAKEN_OUT);
	ck_assert_uint_eq(fixture_logged(fixture, "is drained: health"), 1);
	check_series(port);
	ck_assert_int_eq(row_of(port, &h), E_OK);
	ck_assert_uint_ne(h.flags & LINK_OUT, 0);
	/* it is out after a restart, too */
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	one_sweep();
	one_sweep();
	ck_assert_int_eq(decision_of(port), LINK_DECISION_TAKEN_OUT);
	ck_assert_uint_eq(fixture_logged(fixture, "is in service again: the health ends"), 0);
	set_cable(port, false);
	fixture_run_ms(fixture, 30000);
	set_cable(port, true);
	fixture_run_ms(fixture, 60000);
	ck_assert_uint_eq(fixture_logged(fixture, "is in service again: the health ends"), 1);
	ck_assert_int_eq(row_of(port, &h), E_OK);
	ck_assert_int_eq(h.state, LINK_SUSPECT);
	ck_assert_uint_eq(h.flags & LINK_OUT, 0);
}
END_TEST

/* The state knows what is out; without the stats it has to be calm before it returns. */
START_TEST(stats_are_lost)
{
	char dir[300];

	up_to_isolate("ft2 4 4 2", 99);
	uint32_t port = switch_link();

	err_for_long(port);
	ck_assert_int_eq(decision_of(port), LINK_DECISION_TAKEN_OUT);
	fixture_stop(fixture);
	stats_reader_close(reader);
	snprintf(dir, sizeof(dir), "%s/stats", fixture->snap_dir);
	ck_assert_int_eq(nftw(dir, fixture_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
	fixture->config.link_health_calm = 100;
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_int_eq(stats_reader_open(fixture->snap_dir, &reader), E_OK);
	for (unsigned i = 0; i < 6; i++) {
		one_sweep();
	}
	ck_assert_int_eq(decision_of(port), LINK_DECISION_TAKEN_OUT);
	ck_assert_uint_eq(fixture_logged(fixture, "is in service again: the health ends"), 0);
	for (unsigned i = 0; i < 20; i++) {
		one_sweep();
	}
	ck_assert_uint_eq(fixture_logged(fixture, "is in service again: the health ends"), 1);
}
END_TEST

/* What is not safe is not done, and the row says why. */
START_TEST(not_taken_out)
{
	static const struct {
		const char *topo;
		uint32_t bisection;
		enum link_decision why;
	} cases[] = {
		{ "ft2 4 4 2", 5, LINK_DECISION_BISECTION },
		{ "ft2 4 4 1", 99, LINK_DECISION_PAIRS },
	};

	up_to_isolate(cases[_i].topo, cases[_i].bisection);
	uint32_t port = switch_link();

	err_for_long(port);
	enum link_decision d = decision_of(port);
	ck_assert_msg(d == cases[_i].why ||
	                      (cases[_i].why == LINK_DECISION_PAIRS &&
	                       (d == LINK_DECISION_LAST || d == LINK_DECISION_SM)),
	              "%s", link_decision_name(d));
	ck_assert_uint_eq(fixture_logged(fixture, "out of service"), 0);
}
END_TEST

/* What a host counts takes no cable out, neither its own nor another. */
START_TEST(host_says)
{
	up_to_isolate("ft2 4 4 2", 99);
	uint32_t port = fixture_host(fixture, 1);

	err_for_long(port);
	ck_assert_int_eq(decision_of(port), LINK_DECISION_HOST_SAYS);
	ck_assert_uint_eq(fixture_logged(fixture, "out of service"), 0);
}
END_TEST

/* All return when links are no longer judged. */
START_TEST(switched_off)
{
	up_to_isolate("ft2 4 4 2", 99);
	uint32_t port = switch_link();

	err_for_long(port);
	ck_assert_int_eq(decision_of(port), LINK_DECISION_TAKEN_OUT);
	fixture->config.link_health = LINK_HEALTH_OFF;
	one_sweep();
	one_sweep();
	ck_assert_uint_eq(fixture_logged(fixture, "is in service again: the health ends"), 1);
}
END_TEST

TEST_SUITE(link_health)
{
	TCase *tc = tcase_create("one link"), *truth = tcase_create("known truth"),
	      *deed = tcase_create("what is done"), *sm = tcase_create("with a subnet manager");

	tcase_add_test(tc, limits);
	tcase_add_test(tc, windows);
	tcase_add_test(tc, trends);
	tcase_add_loop_test(tc, one_incident_proves_nothing, 0, 2);
	tcase_add_test(tc, three_bad_minutes);
	tcase_add_loop_test(tc, congestion, 0, 2);
	tcase_add_test(tc, saturated);
	tcase_add_test(tc, changed);
	tcase_add_test(tc, gap);
	tcase_add_test(tc, sentences);
	suite_add_tcase(suite, tc);
	tcase_add_loop_test(truth, known_truth, 0, (int)link_processes());
	tcase_add_test(truth, bad_switch);
	suite_add_tcase(suite, truth);
	tcase_add_test(deed, reasons_to_stay);
	tcase_add_test(deed, worse_end);
	tcase_add_test(deed, series_have_a_limit);
	tcase_add_test(deed, one_at_a_time);
	tcase_add_test(deed, all_refused);
	suite_add_tcase(suite, deed);
	tcase_add_checked_fixture(sm, NULL, perf_fixture_done);
	tcase_add_test(sm, rows_over_a_restart);
	tcase_add_test(sm, taken_out_and_back);
	tcase_add_test(sm, stats_are_lost);
	tcase_add_loop_test(sm, not_taken_out, 0, 2);
	tcase_add_test(sm, host_says);
	tcase_add_test(sm, switched_off);
	suite_add_tcase(suite, sm);
}
