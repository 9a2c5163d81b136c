/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/port_rows.h"

struct arena;
struct db_txn;
struct stats;
struct stats_reader;
struct view;

/*!
 * Health of the link at a port, as stored in the stats environment: how often it erred in the
 * last minute, hour and day, and what follows. There is a row for each port whose errors say
 * something: one that is not well, or that erred within the windows. The writer is the
 * performance manager (sa/perf/link_health.h says how it judges), and it reads the rows again
 * after a restart.
 */

/*! Counts of a link. */
enum link_metric {
	LINK_SYMBOL_ERRORS,
	LINK_FEC_UNCORRECTED,
	LINK_FEC_CORRECTED, /*!< blocks, or replays of Omni-Path; shown, never judged */
	LINK_RECOVERIES,
	LINK_DOWNS,
	LINK_DROPS,    /*!< packets that came in damaged */
	LINK_DISCARDS, /*!< packets not sent: congestion; shown, never judged */
	LINK_METRICS
};

extern const char *const link_metric_names[LINK_METRICS]; /*!< "symbol_errors" */

/*! \brief The metric that a counter (enum port_counter) is. \return LINK_METRICS: none. */
enum link_metric link_metric_of(unsigned counter);

enum link_span { LINK_MINUTE, LINK_HOUR, LINK_DAY, LINK_SPANS };
extern const char *const link_span_names[LINK_SPANS]; /*!< "minute" */
extern const uint32_t link_span_s[LINK_SPANS];

/*!
 * What was counted in a part of time. "errors" are bit errors, the judged ones: of symbol
 * errors, uncorrected blocks and damaged packets of a reading the largest, because one bit error may
 * count as each. A minute adds only so many to errors and retrains that it proves nothing alone.
 */
struct link_window {
	float seconds;  /*!< that were observed */
	float allowed;  /*!< errors that the specification allows meanwhile */
	float errors;   /*!< judged */
	float retrains; /*!< judged: recoveries and downs */
	uint32_t dirty; /*!< minutes that were bad by themselves */
	uint32_t n[LINK_METRICS]; /*!< all that was counted; UINT32_MAX: that or more */
};

enum link_state {
	LINK_WELL,
	LINK_SUSPECT, /*!< too many errors at times, but that proves nothing yet */
	LINK_SICK,
	LINK_STATES
};
extern const char *const link_state_names[LINK_STATES];

/*! Proofs that a link is sick. */
enum link_proof { LINK_NO_PROOF, LINK_BURSTS, LINK_ERROR_RATE, LINK_RETRAINS };

enum link_trend { LINK_STEADY, LINK_RISING, LINK_FALLING, LINK_TRENDS };
extern const char *const link_trend_names[LINK_TRENDS];

/*! Answers to a sick link, each with the reason why there is no stronger one. */
#define LINK_DECISION(id, name, text) LINK_DECISION_##id,
enum link_decision {
#include "db/lmdb/link_decisions.def"
	LINK_DECISIONS
};
#undef LINK_DECISION

/*! \brief "watched": for programs. \param decision  Any number. */
const char *link_decision_name(unsigned decision);

/*! \brief "link_health is watch, so ...": a sentence without its full stop. */
const char *link_decision_text(unsigned decision);

/*! Bits of link_health.flags. */
enum {
	LINK_HAS_FEC = 1,  /*!< its errors are those that are left after correction */
	LINK_OF_SWITCH = 2, /*!< a switch counts; else the port of a host does */
	LINK_CLEARED = 4,  /*!< somebody cleared its counters in the present incident */
	LINK_LEFT = 8,     /*!< the port left the fabric */
	LINK_OUT = 16      /*!< the link is out of service for its health */
};

struct link_health {
	struct link_window now[LINK_SPANS]; /*!< the present part of each window */
	struct link_window before[LINK_SPANS];
	int64_t time_s;     /*!< of the last reading, wall clock */
	int64_t since_s;    /*!< of the present state, wall clock */
	int64_t out_s;      /*!< since when the link is out of service, if it is */
	uint64_t peer_guid; /*!< NodeGUID of the other end; 0: not known */
	float open_s;       /*!< the present incident: observed, allowed and judged as in a window */
	float open_allowed, open_errors, open_retrains;
	float calm_s;       /*!< observed without a bad minute */
	float gbps;         /*!< rate of the link */
	uint32_t blind;     /*!< bits of enum link_metric: at its limit, so it says nothing */
	uint8_t peer_port;
	uint8_t state;      /*!< enum link_state */
	uint8_t proof;      /*!< enum link_proof */
	uint8_t span;       /*!< enum link_span of the proof */
	uint8_t decision;   /*!< enum link_decision */
	uint8_t times;      /*!< that it became sick, at most 255 */
	uint8_t flags;
	uint8_t reserved[5];
};

/*! \brief A window that slides: all of its present part, and of the one before what is still within. */
struct link_window link_window(const struct link_health *h, enum link_span span);

/*! \brief Rate of a metric, per hour. */
double link_rate_of(const struct link_health *h, enum link_span span, enum link_metric m);

/*! \brief Times the errors that the specification allows; 0: nothing was observed. */
double link_excess(const struct link_health *h, enum link_span span);

/*!
 * \brief Is it getting worse? The last hour against the day, or the last minute against the hour as long
 *        as the day is young. A change that may be chance is none.
 */
enum link_trend link_trend(const struct link_health *h);

/*!
 * \brief What is wrong, such as "12 times the errors that are allowed in the last hour (120 symbol
 *        errors), rising".
 * \return \a buf
 */
char *link_health_text(const struct link_health *h, char *buf, size_t size);

/* --- rows ------------------------------------------------------------------------------- */

struct link_health_row {
	uint64_t node_guid;
	uint8_t port;
	struct link_health health;
};

struct link_health_list {
	struct link_health_row *rows; /*!< [n] in the arena, by NodeGUID and port */
	size_t n;
};

/*! \brief Keeps a row for the next stats_commit(). \param h  Copied; NULL: there is none any more. \retval -ENOMEM */
int stats_link_health(struct stats *s, uint64_t node_guid, uint8_t port,
                      const struct link_health *h);

/*! \brief The rows that an earlier process left; call it once, before the first commit. The
 *         rows stay. \retval -ENOMEM E_MALFORMED */
int stats_link_health_load(struct stats *s, struct arena *a, struct link_health_list *ret_list);

/*! \brief All rows. \retval E_NOTREADY  Nothing was ever written. Cost: O(rows). */
int stats_read_link_health(struct stats_reader *r, struct arena *a,
                           struct link_health_list *ret_list);

/* --- for db/stats/stats.c ------------------------------------------------------------------ */

/*! \brief Adds a row. \param h  NULL: it goes. \retval -ENOMEM */
int link_health_wait(struct port_rows *w, uint64_t node_guid, uint8_t port,
                     const struct link_health *h);

/*! \brief Writes what waits. It still waits until port_rows_clear(). */
void link_health_put(const struct port_rows *w, struct db_txn *t);

int link_health_load(struct db_txn *t, struct arena *a, struct link_health_list *ret_list);
int link_health_copy(struct view *v, struct arena *a, struct link_health_list *ret_list);
