/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Windows slide in two parts: what is counted now, and the part before, of which as much counts
 * as is still within the window. A part ends when it is as long as its window, so a reading
 * that took longer than a minute is a minute's window of its own. Time is that which was observed.
 */
#include "sa/perf/link_health.h"

#include <math.h>
#include <string.h>

#include "db/lmdb/counters.h"

enum { DAY_S = 86400, TIMES_MAX = 255 };

#define BIT(m) (UINT32_C(1) << (m))
#define JUDGED (BIT(LINK_SYMBOL_ERRORS) | BIT(LINK_FEC_UNCORRECTED) | BIT(LINK_DROPS))

struct link_reading link_reading_of(const struct port_counters *c, uint32_t cleared)
{
	struct link_reading r = { .interval_ms = c->interval_ms, .time_s = c->time_s };

	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		enum link_metric m = link_metric_of(i);

		if (m == LINK_METRICS || (c->known >> i & 1) == 0) {
			continue;
		}
		r.known |= BIT(m);
		r.saturated |= (c->saturated >> i & 1) << m;
		r.cleared |= (cleared >> i & 1) << m;
		r.rise[m] += c->delta[i];
	}
	return r;
}

double link_evidence(double n, double allowed)
{
	return n > allowed && allowed > 0 ? n * log(n / allowed) - n + allowed : 0;
}

double link_allowed_per_s(double gbps, bool fec)
{
	return gbps * 1e9 * (fec ? LINK_BER_EFFECTIVE : LINK_BER_RAW);
}

/* The largest count that has no more evidence than \a nats. */
static double count_of(double nats, double allowed)
{
	double low = allowed, high = allowed + nats + 1;

	while (link_evidence(high, allowed) < nats) {
		high *= 2;
	}
	for (unsigned i = 0; i < 40; i++) {
		double middle = (low + high) / 2;

		if (link_evidence(middle, allowed) < nats) {
			low = middle;
		} else {
			high = middle;
		}
	}
	return low;
}

static double at_most(double n, double nats, double allowed)
{
	return link_evidence(n, allowed) > nats ? count_of(nats, allowed) : n;
}

/* --- what a reading adds ---------------------------------------------------------------- */

static uint32_t add_up(uint32_t n, uint64_t more)
{
	return more < UINT32_MAX - n ? n + (uint32_t)more : UINT32_MAX;
}

static double judged_errors(const struct link_reading *r)
{
	uint64_t most = 0;

	for (unsigned m = 0; m < LINK_METRICS; m++) {
		if ((JUDGED >> m & 1) != 0 && r->rise[m] > most) {
			most = r->rise[m];
		}
	}
	return (double)most;
}

/* A part that is as long as its window becomes the part before. */
static void turn_over(struct link_health *h)
{
	for (unsigned s = 0; s < LINK_SPANS; s++) {
		if (h->now[s].seconds >= (float)link_span_s[s]) {
			h->before[s] = h->now[s];
			h->now[s] = (struct link_window){ .seconds = 0 };
		}
	}
}

/* Counts are shown at once, and are judged when the incident ends. */
static void add_counts(struct link_health *h, const struct link_reading *r, double seconds)
{
	for (unsigned s = 0; s < LINK_SPANS; s++) {
		struct link_window *w = &h->now[s];

		w->seconds += (float)seconds;
		for (unsigned m = 0; m < LINK_METRICS; m++) {
			w->n[m] = add_up(w->n[m], r->rise[m]);
		}
	}
}

/* The incident ends: it adds to the windows, but never a whole proof. */
static void close_incident(struct link_health *h)
{
	double allowed = (double)h->open_allowed, errors = (double)h->open_errors;
	double retrains_each = (double)h->open_s * LINK_RETRAINS_PER_DAY / DAY_S;
	float counted = (float)at_most(errors, LINK_MINUTE_NATS, allowed);
	float retrains = (float)at_most((double)h->open_retrains, LINK_MINUTE_NATS, retrains_each);
	bool bad = link_evidence(errors, allowed) > LINK_DIRTY_NATS;

	for (unsigned s = 0; s < LINK_SPANS; s++) {
		struct link_window *w = &h->now[s];

		w->allowed += h->open_allowed;
		w->errors += counted;
		w->retrains += retrains;
		w->dirty += bad && (h->flags & LINK_CLEARED) == 0;
	}
	h->calm_s = bad ? 0 : h->calm_s;
	h->open_s = h->open_allowed = h->open_errors = h->open_retrains = 0;
	h->flags &= (uint8_t)~LINK_CLEARED;
}

/* --- what follows ----------------------------------------------------------------------- */

static double retrains_allowed(const struct link_window *w)
{
	return (double)w->seconds * LINK_RETRAINS_PER_DAY / DAY_S;
}

static enum link_proof proof_in(const struct link_window *w, uint32_t dirty, double nats)
{
	if (w->dirty >= dirty) {
		return LINK_BURSTS;
	}
	if (link_evidence((double)w->errors, (double)w->allowed) > nats) {
		return LINK_ERROR_RATE;
	}
	return link_evidence((double)w->retrains, retrains_allowed(w)) > nats
	               ? LINK_RETRAINS
	               : LINK_NO_PROOF;
}

/* The proof in the shortest window that has one. \param of_hour  Bad minutes, as of_day. */
static enum link_proof find_proof(const struct link_health *h, uint32_t of_hour, uint32_t of_day,
                                  double nats, uint8_t *ret_span)
{
	for (unsigned s = LINK_HOUR; s < LINK_SPANS; s++) {
		struct link_window w = link_window(h, s);
		enum link_proof proof = proof_in(&w, s == LINK_HOUR ? of_hour : of_day, nats);

		if (proof != LINK_NO_PROOF) {
			*ret_span = (uint8_t)s;
			return proof;
		}
	}
	return LINK_NO_PROOF;
}

static void enter(struct link_health *h, enum link_state state, int64_t time_s)
{
	h->times += state == LINK_SICK && h->state != LINK_SICK && h->times < TIMES_MAX;
	h->since_s = h->state != state ? time_s : h->since_s;
	h->state = (uint8_t)state;
	h->proof = state == LINK_SICK ? h->proof : LINK_NO_PROOF;
}

static bool is_calm(const struct link_health *h, const struct link_rules *rules)
{
	unsigned relapses = h->times > 0 ? h->times - 1u : 0;
	uint8_t span;

	relapses = h->state != LINK_SICK ? 0 : relapses < LINK_RELAPSES ? relapses : LINK_RELAPSES;
	return h->calm_s >= (float)((uint64_t)rules->calm_s << relapses) &&
	       find_proof(h, 1, LINK_DIRTY_DAY / 2, LINK_CALM_NATS, &span) == LINK_NO_PROOF;
}

static void judge(struct link_health *h, const struct link_rules *rules, int64_t time_s)
{
	uint8_t span = h->span;
	enum link_proof proof = find_proof(h, LINK_DIRTY_HOUR, LINK_DIRTY_DAY,
	                                   LINK_PROOF_NATS, &span);

	if (proof != LINK_NO_PROOF) {
		h->proof = (uint8_t)proof;
		h->span = span;
		enter(h, LINK_SICK, time_s);
	} else if (h->state == LINK_WELL) {
		if (find_proof(h, 1, LINK_DIRTY_DAY / 2, LINK_DIRTY_NATS, &span) !=
		    LINK_NO_PROOF) {
			h->span = span;
			enter(h, LINK_SUSPECT, time_s);
		} else if (h->times != 0 && !link_health_matters(h)) {
			h->times = 0; /* a whole day without a sign */
		}
	} else if (is_calm(h, rules)) {
		enter(h, LINK_WELL, time_s);
	}
}

bool link_health_take(struct link_health *h, const struct link_rules *rules,
                      const struct link_reading *r)
{
	uint8_t was = h->state;
	double seconds = r->interval_ms / 1000.0, errors = judged_errors(r);
	double allowed = link_allowed_per_s((double)h->gbps, (h->flags & LINK_HAS_FEC) != 0);
	uint64_t retrains = r->rise[LINK_RECOVERIES] + r->rise[LINK_DOWNS];

	h->blind = 0;
	for (unsigned m = 0; m < LINK_METRICS; m++) {
		h->blind |= r->rise[m] == 0 ? r->saturated & BIT(m) : 0;
	}
	bool blind = (h->blind & JUDGED) != 0 || (r->known & JUDGED) == 0;

	turn_over(h);
	add_counts(h, r, seconds);
	h->calm_s = blind || retrains > 0 ? 0 : h->calm_s + (float)seconds;
	if (r->rise[LINK_DOWNS] == 0 && !(blind && errors == 0)) {
		h->open_allowed += (float)(allowed * seconds);
		h->open_errors += (float)errors;
	}
	h->open_retrains += (float)retrains;
	h->open_s += (float)seconds;
	h->flags |= (r->cleared & JUDGED) != 0 ? LINK_CLEARED : 0;
	h->time_s = r->time_s;
	if (h->open_s >= (float)rules->incident_s) {
		close_incident(h);
		judge(h, rules, r->time_s);
	}
	return h->state != was;
}

void link_health_changed(struct link_health *h, int64_t time_s)
{
	memset(h->now, 0, sizeof(h->now));
	memset(h->before, 0, sizeof(h->before));
	h->calm_s = h->open_s = h->open_allowed = h->open_errors = h->open_retrains = 0;
	if (h->state == LINK_SICK && h->times <= LINK_CHANGES) {
		enter(h, LINK_SUSPECT, time_s);
	}
}

void link_health_gap(struct link_health *h, int64_t seconds)
{
	for (unsigned s = 0; s < LINK_SPANS; s++) {
		if (seconds >= (int64_t)link_span_s[s]) {
			h->now[s] = h->before[s] = (struct link_window){ .seconds = 0 };
		}
	}
}

bool link_health_matters(const struct link_health *h)
{
	struct link_window day = link_window(h, LINK_DAY);

	return h->state != LINK_WELL || (h->flags & LINK_OUT) != 0 || day.dirty > 0 || day.retrains > 0 ||
	       day.errors > day.allowed;
}
