/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sa/perf/link_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sa/perf/link_health.h"
#include "sa/perf/link_verdict.h"
#include "sa/perf/perf_int.h"

enum { HOUR = 3600, DAY = 24 * HOUR, RUNS_MAX = 4096, SWITCH_MAX = 64 };

#define NARROW16 UINT64_C(0xffff)
#define NARROW8 UINT64_C(0xff)

/* A link while it runs. Rates are per second. */
struct run {
	uint64_t random;
	double gbps, spec; /* spec: errors per second that are allowed */
	bool fec, narrow;
	bool bad;          /* the truth at this moment */
	double now, step;  /* seconds */
	double next;       /* of the process, seconds */
	uint64_t count[PORT_COUNTERS];
	uint32_t forged;   /* readings that a host forges from now on */
	bool missed;       /* this sweep does not read it */
	bool changed;      /* its cable was changed: it was seen without a link */
};

static double uniform(struct run *r)
{
	r->random += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t z = r->random;

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t poisson(struct run *r, double mean)
{
	if (mean > 60) { /* a normal one is near enough */
		double n = mean + sqrt(mean) * sqrt(-2 * log(uniform(r))) *
		                          cos(6.283185307179586 * uniform(r));

		return n > 0 ? (uint64_t)(n + 0.5) : 0;
	}
	double limit = exp(-mean), product = uniform(r);
	uint64_t n = 0;

	while (product > limit) {
		product *= uniform(r);
		n++;
	}
	return n;
}

static void err(struct run *r, uint64_t n)
{
	r->count[r->fec ? COUNTER_FEC_UNCORRECTED : COUNTER_SYMBOL_ERRORS] += n;
}

static void err_at(struct run *r, double times)
{
	err(r, poisson(r, times * r->spec * r->step));
}

/* Is an event due that comes every \a mean seconds? */
static bool is_due(struct run *r, double mean)
{
	return uniform(r) < 1 - exp(-r->step / mean);
}

/* --- processes: each makes the errors of a step -------------------------------------------- */

static void silent(struct run *r)
{
	(void)r;
}

static void at_spec(struct run *r)
{
	err_at(r, 1);
}

static void at_spec_fec(struct run *r)
{
	r->fec = true;
	r->gbps = 100;
	r->count[COUNTER_FEC_CORRECTED] += poisson(r, 1000 * r->step);
	err_at(r, 1);
}

static void touched(struct run *r)
{
	err_at(r, 0.1);
	if (r->next <= r->now && r->next > 0) {
		err(r, 5000);
		r->next = -1;
	}
	r->next = r->next < 0 || r->next > 0 ? r->next : uniform(r) * DAY + 1;
}

static void reboots(struct run *r)
{
	if (r->next <= r->now) {
		r->next = r->now + 4 * HOUR + uniform(r) * 8 * HOUR;
		r->count[COUNTER_LINK_DOWNED] += 3;
		err(r, poisson(r, 2000));
	}
	err_at(r, 0.1);
}

static void congested(struct run *r)
{
	double hour = fmod(r->now / HOUR, 24);

	err_at(r, 0.5);
	if (hour > 9 && hour < 13) {
		r->count[COUNTER_XMIT_DISCARDS] += poisson(r, 10000 * r->step);
	}
}

static void cleared(struct run *r)
{
	err_at(r, 1);
	if (is_due(r, 2 * HOUR)) {
		memset(r->count, 0, sizeof(r->count));
	}
}

static void missed_sweeps(struct run *r)
{
	err_at(r, 1);
	r->missed = uniform(r) < 0.5;
}

static void at_limit(struct run *r)
{
	r->narrow = true;
	if (r->now <= r->step) {
		err(r, 1000000);
	}
	err_at(r, 1);
}

static void forged(struct run *r)
{
	bool first = r->next <= 0;

	err_at(r, 0.2);
	r->next = first ? uniform(r) * DAY + 1 : r->next;
	if (r->next <= r->now && r->next < 2 * DAY) {
		r->forged = 1;
		r->next = 2 * DAY;
	}
}

static void times_1_5(struct run *r)
{
	r->bad = true;
	err_at(r, 1.5);
}

static void times_10(struct run *r)
{
	r->bad = true;
	err_at(r, 10);
}

static void times_10_fec(struct run *r)
{
	r->bad = true;
	r->fec = true;
	r->gbps = 100;
	err_at(r, 10);
}

/* Doubles every two hours. */
static void dying(struct run *r)
{
	double times = exp2(r->now / (2 * HOUR) - 8);

	times = times < 1e5 ? times : 1e5;
	r->bad = times > 1;
	err_at(r, times);
}

static void dying_narrow(struct run *r)
{
	r->narrow = true;
	dying(r);
}

static void dying_neglected(struct run *r)
{
	dying(r);
	r->missed = uniform(r) < 0.7;
	if (is_due(r, 4 * HOUR)) {
		memset(r->count, 0, sizeof(r->count));
	}
}

static void dirty(struct run *r)
{
	r->bad = true;
	if (is_due(r, 20 * 60)) {
		err(r, 50 + poisson(r, 200));
	}
}

static void dirty_rarely(struct run *r)
{
	r->bad = true;
	if (is_due(r, 3 * HOUR)) {
		err(r, 50 + poisson(r, 200));
	}
}

static void flapping(struct run *r)
{
	r->bad = true;
	if (is_due(r, 5 * 60)) {
		r->count[COUNTER_LINK_DOWNED]++;
		err(r, poisson(r, 300));
	}
}

static void retraining(struct run *r)
{
	r->bad = true;
	if (is_due(r, 10 * 60)) {
		r->count[COUNTER_LINK_ERROR_RECOVERY]++;
	}
}

/* Bad for two days, then its cable is changed. */
static void repaired(struct run *r)
{
	bool was = r->bad;

	r->bad = r->now < 2 * DAY;
	r->changed = was && !r->bad;
	err_at(r, r->bad ? 20 : 0.1);
}

/* Bad for two days, then good by itself: nobody saw why. */
static void recovered(struct run *r)
{
	r->bad = r->now < 2 * DAY;
	err_at(r, r->bad ? 20 : 0.1);
}

/* It comes and goes every six hours, as with the temperature of the hall. */
static void by_day(struct run *r)
{
	r->bad = true;
	err_at(r, fmod(r->now / HOUR, 12) < 6 ? 20 : 0.1);
}

/* It goes down for a minute every two hours, and a sweep sees that: each time it looks new. */
static void loose(struct run *r)
{
	r->bad = true;
	err_at(r, 20);
	r->changed = is_due(r, 2 * HOUR);
	r->count[COUNTER_LINK_DOWNED] += r->changed;
}

static const struct process {
	struct link_process p;
	void (*step)(struct run *r);
} processes[] = {
	{ { "silent", "no errors at all", false }, silent },
	{ { "at-spec", "errs at exactly the allowed rate", false }, at_spec },
	{ { "at-spec-fec", "the same with error correction", false }, at_spec_fec },
	{ { "touched", "one burst of 5,000 errors", false }, touched },
	{ { "reboots", "its host restarts three times a day", false }, reboots },
	{ { "congested", "a job makes discards, four hours a day", false }, congested },
	{ { "cleared", "at-spec, and somebody clears counters", false }, cleared },
	{ { "missed", "at-spec, and half of the sweeps miss it", false }, missed_sweeps },
	{ { "at-limit", "its narrow counters stand at their limit", false }, at_limit },
	{ { "forged", "one forged answer: 4 billion errors", false }, forged },
	{ { "times-1.5", "errs at 1.5 times the allowed rate", true }, times_1_5 },
	{ { "times-10", "errs at 10 times the allowed rate", true }, times_10 },
	{ { "times-10-fec", "the same with error correction", true }, times_10_fec },
	{ { "dying", "its rate doubles every two hours", true }, dying },
	{ { "dying-narrow", "the same with counters of 16 bits", true }, dying_narrow },
	{ { "dying-neglected", "dying, cleared and mostly missed", true }, dying_neglected },
	{ { "dirty", "a burst every 20 minutes", true }, dirty },
	{ { "dirty-rarely", "a burst every three hours", true }, dirty_rarely },
	{ { "flapping", "goes down every five minutes", true }, flapping },
	{ { "retraining", "recovers from errors every ten minutes", true }, retraining },
	{ { "repaired", "bad, after two days a new cable", true }, repaired },
	{ { "recovered", "bad, after two days good by itself", true }, recovered },
	{ { "by-day", "bad and good in turn, six hours each", true }, by_day },
	{ { "loose", "bad, and looks new every two hours", true }, loose },
};

unsigned link_processes(void)
{
	return sizeof(processes) / sizeof(processes[0]);
}

const struct link_process *link_process(unsigned i)
{
	return &processes[i].p;
}

/* --- a run -------------------------------------------------------------------------------- */

static const struct link_rules rules = { .incident_s = 60, .calm_s = HOUR };

static uint64_t limit_of(unsigned counter)
{
	return counter == COUNTER_LINK_DOWNED || counter == COUNTER_LINK_ERROR_RECOVERY ? NARROW8
	                                                                               : NARROW16;
}

/* What the agent of the port answers. */
static struct counter_reading answer_of(struct run *r)
{
	static const uint8_t shown[] = { COUNTER_SYMBOL_ERRORS,  COUNTER_LINK_ERROR_RECOVERY,
		                         COUNTER_LINK_DOWNED,    COUNTER_RCV_ERRORS,
		                         COUNTER_XMIT_DISCARDS,  COUNTER_FEC_CORRECTED,
		                         COUNTER_FEC_UNCORRECTED };
	struct counter_reading a = { .known = 0 };

	for (unsigned i = 0; i < sizeof(shown); i++) {
		unsigned c = shown[i];
		uint64_t v = r->count[c], most = r->narrow ? limit_of(c) : UINT64_MAX;

		if (r->forged > 0 && c == COUNTER_SYMBOL_ERRORS) {
			v += UINT32_MAX;
		}
		a.value[c] = v < most ? v : most;
		a.known |= UINT32_C(1) << c;
		a.saturated |= v >= most ? UINT32_C(1) << c : 0;
	}
	r->forged -= r->forged > 0;
	return a;
}

static enum link_decision allow(void *ctx, const struct link_cable *c)
{
	(void)ctx;
	(void)c;
	return LINK_DECISION_DUE;
}

static bool decide(struct link_health *h, bool out)
{
	const struct link_policy policy = { LINK_HEALTH_ISOLATE, 4 };
	struct link_cable c = { .guid = { 1, 2 },
		                .port = { 1, 1 },
		                .is_switch = { true, true },
		                .end = { h, NULL },
		                .cables = { 36, 36 },
		                .out = out };
	size_t take;

	link_verdict(&c, 1, &policy, allow, NULL, &take);
	return out ? !c.returns : take == 0;
}

struct outcome {
	bool sick, wrong, taken, stuck;
	uint32_t flaps;
	double bad_since, sick_at, good_at, back_at; /* seconds; below 0: never */
};

static struct outcome run_link(const struct process *p, uint64_t seed, uint32_t interval_s,
                               uint32_t days)
{
	struct run r = { .random = seed, .gbps = 40, .step = interval_s };
	struct counted_port port = { .num = 1 };
	struct outcome o = { .bad_since = -1, .sick_at = -1, .good_at = -1, .back_at = -1 };
	bool out = false;
	double read_at = -1;

	for (r.now = interval_s; r.now < days * (double)DAY; r.now += interval_s) {
		r.spec = link_allowed_per_s(r.gbps, r.fec);
		r.missed = r.changed = false;
		p->step(&r);
		o.bad_since = r.bad && o.bad_since < 0 ? r.now : o.bad_since;
		o.good_at = !r.bad && o.bad_since >= 0 && o.good_at < 0 ? r.now : o.good_at;
		port.health.gbps = (float)r.gbps;
		port.health.flags |= (uint8_t)(LINK_OF_SWITCH | (r.fec ? LINK_HAS_FEC : 0));
		if (r.changed) {
			link_health_changed(&port.health, (int64_t)r.now);
		}
		if (r.missed) {
			continue;
		}
		struct counter_reading a = answer_of(&r);
		struct port_counters c = { .time_s = (int64_t)r.now };
		uint32_t clear = perf_rise(&port, &a, &c);

		if (read_at >= 0) {
			c.interval_ms = (uint32_t)((r.now - read_at) * 1000);
			struct link_reading reading = link_reading_of(&c, clear);

			(void)link_health_take(&port.health, &rules, &reading);
		}
		read_at = r.now;
		if (port.health.state == LINK_SICK) {
			o.wrong |= o.bad_since < 0;
			o.sick_at = o.sick_at < 0 ? r.now : o.sick_at;
			o.sick = true;
		}
		bool was = out;

		out = decide(&port.health, out);
		o.taken |= out;
		o.flaps += was && !out && r.bad;
		o.back_at = was && !out && !r.bad ? r.now : o.back_at;
	}
	o.stuck = out && !r.bad;
	return o;
}

static int compare_doubles(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

struct judged link_judge(unsigned process, uint32_t runs, uint64_t seed, uint32_t interval_s,
                         uint32_t days)
{
	static double minutes[RUNS_MAX], back[RUNS_MAX];
	struct judged j = { .runs = runs < RUNS_MAX ? runs : RUNS_MAX };
	uint32_t n = 0, n_back = 0;

	for (uint32_t i = 0; i < j.runs; i++) {
		struct outcome o = run_link(&processes[process],
		                            seed * 1000003 + i * UINT64_C(7919), interval_s, days);

		j.sick += o.sick;
		j.wrong += o.wrong;
		j.taken += o.taken;
		j.flaps += o.flaps;
		j.stuck += o.stuck;
		j.missed += processes[process].p.is_bad && !o.sick;
		if (o.sick && o.bad_since >= 0 && !o.wrong) {
			minutes[n++] = (o.sick_at - o.bad_since) / 60;
		}
		if (o.back_at >= 0 && o.good_at >= 0) {
			back[n_back++] = (o.back_at - o.good_at) / 60;
		}
	}
	if (n_back > 0) {
		qsort(back, n_back, sizeof(back[0]), compare_doubles);
		j.back_min = back[n_back / 2];
	}
	if (n > 0) {
		qsort(minutes, n, sizeof(minutes[0]), compare_doubles);
		j.median_min = minutes[n / 2];
		j.p95_min = minutes[n * 95 / 100];
	}
	return j;
}

uint32_t link_judge_switch(uint32_t cables, uint64_t seed, uint32_t *ret_blamed)
{
	static struct link_health health[SWITCH_MAX];
	static struct counted_port ports[SWITCH_MAX];
	static struct run runs[SWITCH_MAX];
	struct link_cable list[SWITCH_MAX];
	const struct link_policy policy = { LINK_HEALTH_ISOLATE, 4 };
	uint32_t taken = 0;
	size_t take;

	*ret_blamed = 0;
	memset(ports, 0, sizeof(ports));
	memset(health, 0, sizeof(health));
	for (uint32_t i = 0; i < cables; i++) {
		runs[i] = (struct run){ .random = seed + i, .gbps = 40, .step = 180 };
		runs[i].spec = link_allowed_per_s(40, false);
		list[i] = (struct link_cable){ .guid = { 100, 200 + i },
			                       .port = { (uint8_t)(i + 1), 1 },
			                       .is_switch = { true, true },
			                       .end = { NULL, &health[i] },
			                       .cables = { cables, 36 } };
		health[i].gbps = 40;
	}
	/* what it sends is bad, so the ports at the other ends count it; some more, some less */
	for (uint32_t t = 0; t < 480; t++) {
		for (uint32_t i = 0; i < cables; i++) {
			struct port_counters c = { .interval_ms = 180000, .time_s = t * 180 };

			err_at(&runs[i], 5 + 10 * i);
			struct counter_reading a = answer_of(&runs[i]);
			uint32_t clear = perf_rise(&ports[i], &a, &c);
			struct link_reading r = link_reading_of(&c, clear);

			(void)link_health_take(&health[i], &rules, &r);
		}
		link_verdict(list, cables, &policy, allow, NULL, &take);
		if (take < cables) {
			list[take].out = true;
			taken++;
		}
	}
	for (uint32_t i = 0; i < cables; i++) {
		*ret_blamed += list[i].decision == LINK_DECISION_SWITCH;
	}
	return taken;
}
