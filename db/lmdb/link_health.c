/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/lmdb/link_health.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/counters.h"
#include "db/lmdb/layout.h"
#include "db/lmdb/txn.h"
#include "db/lmdb/view.h"

enum { HOUR_S = 3600 };

_Static_assert(sizeof(struct link_window) == 20 + 4 * LINK_METRICS, "link_window");
_Static_assert(sizeof(struct link_health) == 6 * sizeof(struct link_window) + 72, "link_health");

const char *const link_metric_names[LINK_METRICS] = {
	"symbol_errors", "fec_uncorrected", "fec_corrected", "link_error_recovery",
	"link_downed",   "rcv_errors",      "xmit_discards"
};
const char *const link_span_names[LINK_SPANS] = { "minute", "hour", "day" };
const uint32_t link_span_s[LINK_SPANS] = { 60, HOUR_S, 24 * HOUR_S };
const char *const link_state_names[LINK_STATES] = { "well", "suspect", "sick" };
const char *const link_trend_names[LINK_TRENDS] = { "steady", "rising", "falling" };

/* Names of the metrics in a sentence. */
static const char *const metric_words[LINK_METRICS] = {
	"symbol errors", "uncorrected blocks", "corrected blocks", "recoveries",
	"link downs",    "damaged packets",    "discards"
};

#define LINK_DECISION(id, name, text) { #name, text },
static const struct {
	const char *name, *text;
} decisions[LINK_DECISIONS] = {
#include "db/lmdb/link_decisions.def"
};
#undef LINK_DECISION

const char *link_decision_name(unsigned decision)
{
	return decision < LINK_DECISIONS ? decisions[decision].name : "unknown";
}

const char *link_decision_text(unsigned decision)
{
	return decision < LINK_DECISIONS ? decisions[decision].text
	                                 : "what is done is not known here";
}

enum link_metric link_metric_of(unsigned counter)
{
	switch (counter) {
	case COUNTER_SYMBOL_ERRORS: return LINK_SYMBOL_ERRORS;
	case COUNTER_FEC_UNCORRECTED: return LINK_FEC_UNCORRECTED;
	case COUNTER_FEC_CORRECTED:
	case COUNTER_LINK_REPLAYS: return LINK_FEC_CORRECTED;
	case COUNTER_LINK_ERROR_RECOVERY: return LINK_RECOVERIES;
	case COUNTER_LINK_DOWNED: return LINK_DOWNS;
	case COUNTER_RCV_ERRORS: return LINK_DROPS;
	case COUNTER_XMIT_DISCARDS: return LINK_DISCARDS;
	default: return LINK_METRICS;
	}
}

/* --- windows ---------------------------------------------------------------------------- */

struct link_window link_window(const struct link_health *h, enum link_span span)
{
	const struct link_window *now = &h->now[span], *old = &h->before[span];
	float span_s = (float)link_span_s[span];
	float share = now->seconds < span_s ? 1 - now->seconds / span_s : 0;
	struct link_window w = *now;

	w.seconds += share * old->seconds;
	w.allowed += share * old->allowed;
	w.errors += share * old->errors;
	w.retrains += share * old->retrains;
	w.dirty += (uint32_t)lrintf(share * (float)old->dirty);
	for (unsigned m = 0; m < LINK_METRICS; m++) {
		double n = (double)now->n[m] + (double)share * old->n[m];

		w.n[m] = n < UINT32_MAX ? (uint32_t)lrint(n) : UINT32_MAX;
	}
	return w;
}

double link_rate_of(const struct link_health *h, enum link_span span, enum link_metric m)
{
	struct link_window w = link_window(h, span);

	return w.seconds > 0 ? w.n[m] * (double)HOUR_S / (double)w.seconds : 0;
}

/* The judged errors, but as they were counted. */
static double raw_errors(const struct link_window *w)
{
	uint32_t most = w->n[LINK_SYMBOL_ERRORS];

	most = w->n[LINK_FEC_UNCORRECTED] > most ? w->n[LINK_FEC_UNCORRECTED] : most;
	return w->n[LINK_DROPS] > most ? w->n[LINK_DROPS] : most;
}

double link_excess(const struct link_health *h, enum link_span span)
{
	struct link_window w = link_window(h, span);

	return w.allowed > 0 ? raw_errors(&w) / (double)w.allowed : 0;
}

enum link_trend link_trend(const struct link_health *h)
{
	const double times = 1.5, sigmas = 3;
	struct link_window day = link_window(h, LINK_DAY), hour = link_window(h, LINK_HOUR);
	struct link_window minute = link_window(h, LINK_MINUTE);
	bool old = day.seconds >= 3 * HOUR_S;
	const struct link_window *near = old ? &hour : &minute, *far = old ? &day : &hour;

	if (near->seconds <= 0 || far->seconds <= 0) {
		return LINK_STEADY;
	}
	double n = raw_errors(near) + near->n[LINK_RECOVERIES] + near->n[LINK_DOWNS];
	double all = raw_errors(far) + far->n[LINK_RECOVERIES] + far->n[LINK_DOWNS];
	double expected = all * (double)near->seconds / (double)far->seconds;
	double chance = sigmas * sqrt(expected) + sigmas;

	if (n > times * expected && n > expected + chance) {
		return LINK_RISING;
	}
	return n * times < expected && n < expected - chance ? LINK_FALLING : LINK_STEADY;
}

/* --- sentences -------------------------------------------------------------------------- */

/* "120 symbol errors, 3 link downs" */
static void name_counts(const struct link_window *w, bool retrains, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned m = 0; m < LINK_METRICS && len < size; m++) {
		bool is_retrain = m == LINK_RECOVERIES || m == LINK_DOWNS;

		if (w->n[m] > 0 && m != LINK_FEC_CORRECTED && m != LINK_DISCARDS &&
		    is_retrain == retrains) {
			len += (size_t)snprintf(buf + len, size - len, "%s%u %s",
			                        len > 0 ? ", " : "", w->n[m],
			                        metric_words[m]);
		}
	}
}

char *link_health_text(const struct link_health *h, char *buf, size_t size)
{
	enum link_span span = h->span < LINK_SPANS ? h->span : LINK_HOUR;
	struct link_window w = link_window(h, span);
	const char *trend = link_trend_names[link_trend(h)];
	double excess = link_excess(h, span);
	char counts[160];

	name_counts(&w, h->proof == LINK_RETRAINS, counts, sizeof(counts));
	if (h->proof == LINK_RETRAINS) {
		snprintf(buf, size, "it trained anew again and again in the last %s (%s), %s",
		         link_span_names[span], counts, trend);
	} else if (h->proof == LINK_BURSTS) {
		snprintf(buf, size, "%u minutes of the last %s were full of errors (%s), %s",
		         w.dirty, link_span_names[span], counts, trend);
	} else if (h->proof == LINK_ERROR_RATE && excess >= 10) {
		snprintf(buf, size,
		         "%.0f times the errors that are allowed in the last %s (%s), %s",
		         excess, link_span_names[span], counts, trend);
	} else if (h->proof == LINK_ERROR_RATE) {
		snprintf(buf, size,
		         "%.1f times the errors that are allowed in the last %s (%s), %s",
		         excess, link_span_names[span], counts, trend);
	} else {
		snprintf(buf, size, "%s%s%s", counts, *counts != '\0' ? " in the last " : "",
		         *counts != '\0' ? link_span_names[span] : "no errors");
	}
	return buf;
}

/* --- rows that wait ---------------------------------------------------------------------- */

int link_health_wait(struct port_rows *w, uint64_t node_guid, uint8_t port,
                     const struct link_health *h)
{
	return port_rows_wait(w, node_guid, port, h, sizeof(*h));
}

void link_health_put(const struct port_rows *w, struct db_txn *t)
{
	for (size_t i = 0; i < w->n && t->ret == E_OK; i++) {
		const void *row;
		const uint8_t *key = port_rows_at(w, i, sizeof(struct link_health), &row);

		if (row == NULL) {
			db_del(t, STATS_LINK_HEALTH, key, PORT_KEY_BYTES);
		} else {
			db_put(t, STATS_LINK_HEALTH, key, PORT_KEY_BYTES, row,
			       sizeof(struct link_health));
		}
	}
}

/* --- readers ---------------------------------------------------------------------------- */

static int copy_row(const struct db_val *k, const struct db_val *v,
                    struct link_health_row *ret_row)
{
	if (k->len != PORT_KEY_BYTES || v->len != sizeof(ret_row->health)) {
		return E_MALFORMED;
	}
	ret_row->node_guid = key_read_u64(k->data);
	ret_row->port = k->data[8];
	memcpy(&ret_row->health, v->data, sizeof(ret_row->health));
	if (ret_row->health.state >= LINK_STATES || ret_row->health.span >= LINK_SPANS) {
		return E_MALFORMED;
	}
	return E_OK;
}

/* \param v  NULL: \a t is a transaction of the writer. */
static int copy_all(struct db_txn *t, struct view *v, struct arena *a,
                    struct link_health_list *ret_list)
{
	uint64_t n = db_count(t, STATS_LINK_HEALTH);
	struct link_health_list list = { .n = 0 };
	struct db_val k, val;
	int ret = t->ret;

	if (ret != E_OK) {
		return ret;
	}
	list.rows = arena_array(a, n > 0 ? (size_t)n : 1, sizeof(*list.rows));
	if (list.rows == NULL) {
		return -ENOMEM;
	}
	ret = v != NULL ? view_seek(v, STATS_LINK_HEALTH, NULL, 0, &k, &val)
	                : db_seek(t, STATS_LINK_HEALTH, NULL, 0, &k, &val);
	while (ret == E_OK && list.n < n) {
		ret = copy_row(&k, &val, &list.rows[list.n]);
		if (ret == E_OK) {
			list.n++;
			ret = v != NULL ? view_next(v, STATS_LINK_HEALTH, &k, &val)
			                : db_next(t, STATS_LINK_HEALTH, &k, &val);
		}
	}
	if (ret != E_OK && ret != E_NOTFOUND) {
		return ret;
	}
	*ret_list = list;
	return E_OK;
}

int link_health_load(struct db_txn *t, struct arena *a, struct link_health_list *ret_list)
{
	return copy_all(t, NULL, a, ret_list);
}

int link_health_copy(struct view *v, struct arena *a, struct link_health_list *ret_list)
{
	return copy_all(&v->t, v, a, ret_list);
}
