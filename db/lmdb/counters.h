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
 * Port counters as stored in the stats environment: one row per port with what was read last,
 * what that is more than the reading before, and the newest readings. The writer is the
 * performance manager (sa/perf/perf.h).
 */

#define COUNTER(id, ...) COUNTER_##id,
enum port_counter {
#include "db/lmdb/counters.def"
	PORT_COUNTERS
};
#undef COUNTER

_Static_assert(PORT_COUNTERS < 32, "a bit for each in a word");

/*! What a counter says. RELAY: losses that also occur in a sound fabric. FEC: what the link repaired.
 *  LEVEL: no count, but what is now; it never rises. */
enum counter_kind {
	COUNTER_IS_DATA,
	COUNTER_IS_WAIT,
	COUNTER_IS_ERROR,
	COUNTER_IS_RELAY,
	COUNTER_IS_FEC,
	COUNTER_IS_LEVEL
};

struct counter_type {
	const char *name;   /*!< "symbol_errors" */
	const char *series; /*!< "port_symbol_error_total" */
	enum counter_kind kind;
	const char *help;
};

extern const struct counter_type counter_types[PORT_COUNTERS];

/*! \brief Counter by name. \return PORT_COUNTERS: there is none. */
enum port_counter counters_by_name(const char *name, size_t len);

/*! One reading, for the history. */
struct counter_sample {
	int64_t time_s;   /*!< wall clock, seconds since 1970 */
	float xmit, rcv;  /*!< octets per second since the reading before */
	uint32_t errors;  /*!< more of all counters of kind ERROR; UINT32_MAX: that or more */
	uint32_t wait;    /*!< more ticks of XMIT_WAIT; UINT32_MAX: that or more */
};

/*! The counters of a port. */
struct port_counters {
	uint64_t node_guid;
	uint8_t port;
	int64_t time_s;       /*!< of the last reading */
	uint32_t interval_ms; /*!< between the last two; 0: there was only one */
	uint32_t known;       /*!< bit for each enum port_counter that the port has */
	uint32_t saturated;   /*!< bit for each that is at its limit and does not move */
	uint64_t value[PORT_COUNTERS]; /*!< as the port says */
	uint64_t delta[PORT_COUNTERS]; /*!< more than at the reading before */
	const struct counter_sample *samples; /*!< [n_samples] oldest first; a reader has them */
	uint32_t n_samples;
};

/*! The newest readings that are kept of a port, at most. */
enum { COUNTER_SAMPLES_MAX = 1000, COUNTER_SAMPLES_DEFAULT = 60 };

/*! \brief How fast a counter rises, per second; 0 where there was only one reading. */
double counters_rate(const struct port_counters *c, enum port_counter which);

/*! \brief By how much all counters of a kind rose between the last two readings. */
uint64_t counters_rise(const struct port_counters *c, enum counter_kind kind);

/* --- writer --------------------------------------------------------------------------- */

/*!
 * \brief Keeps a row for the next stats_commit(), which also adds the reading to the history of
 *        the port if it has an interval. The first commit removes the rows of an earlier process.
 * \param c  Copied; its samples are ignored.
 * \retval -ENOMEM
 */
int stats_counters(struct stats *s, const struct port_counters *c);

/*! \brief How many readings the history of a port has, from the next stats_commit() on. */
void stats_counters_history(struct stats *s, uint32_t samples);

/*! \brief Removes the row of a port with the next stats_commit(). \retval -ENOMEM */
int stats_counters_gone(struct stats *s, uint64_t node_guid, uint8_t port);

/* --- reader --------------------------------------------------------------------------- */

struct stats_counter_list {
	struct port_counters *ports; /*!< [n] in the arena, by NodeGUID and port */
	size_t n;
	bool more; /*!< there are rows behind the last one */
};

/*!
 * \brief Reads rows in the order of (NodeGUID, port), from a place on.
 *
 * \param node_guid, port  Where to begin; 0, 0: at the first row.
 * \param max              At most so many.
 * \param samples          With the history; else n_samples is 0.
 * \retval E_NOTREADY  Nothing was ever written.
 * Cost: O(log rows + max).
 */
int stats_read_counters(struct stats_reader *r, uint64_t node_guid, uint8_t port,
                        size_t max, bool samples, struct arena *a,
                        struct stats_counter_list *ret_counter_list);

/* --- for db/stats/stats.c --------------------------------------------------------------------- */

/*! Rows that wait for a commit. Zeroed is none. */
struct counter_rows {
	struct port_rows rows;
	uint32_t history; /*!< readings per port; 0: COUNTER_SAMPLES_DEFAULT */
};

/*! \brief Adds a row. \param c  NULL: the port is gone. \retval -ENOMEM */
int counters_wait(struct counter_rows *w, uint64_t node_guid, uint8_t port,
                     const struct port_counters *c);

/*! \brief Writes what waits. It still waits until port_rows_clear(). */
void counters_put(const struct counter_rows *w, struct db_txn *t);

/*! \brief stats_read_counters() of the pinned epoch. */
int counters_copy(struct view *v, uint64_t node_guid, uint8_t port, size_t max,
                  bool samples, struct arena *a,
                  struct stats_counter_list *ret_counter_list);
