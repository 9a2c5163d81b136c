/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/*!
 * Stats environment: what moves between sweeps without moving the routing epoch. LMDB on
 * tmpfs in <snapshot dir>/stats, written by saguarod only, read by foreign processes with
 * MDB_RDONLY|MDB_NOLOCK under the same rule as the snapshot.
 *
 * Values are named numbers in the form of a Prometheus series without the "saguaro_" prefix,
 * for instance `mad_sent_total{class="smp"}`; and named texts (`phase`, `not_ready`, `progress`).
 * `problem.0` and so on are what the last heavy sweep could not make sense of, and `ended` is
 * why a saguarod ended; "" where there is nothing.
 * The heartbeat is a number of CLOCK_BOOTTIME milliseconds: a reader on the same machine
 * compares it with its own clock.
 *
 * Events are rows of what happened, oldest first, each with a number. The number of a row is
 * one more than that of the row before. It is never given twice, not even by a later process,
 * as long as the folder is there. Only the newest rows are kept; see stats_event_limit().
 */
struct stats; /*!< writer side */

/*! MADs of subnet management that were sent, which is also SMInfo.ActCount. */
#define STATS_SMPS_SENT "mad_sent_total{class=\"smp\"}"

/*! Routes on the busiest link, if the engine that is in force routed this fabric from nothing; 0: not compared yet. */
#define STATS_ROUTES_FRESH "link_routes_max_fresh"

int stats_open(const char *snapshot_dir, struct arena *a, const char **ret_why,
               struct stats **ret_stats);
void stats_close(struct stats *s);

/*! Collects values in memory; stats_commit() writes those that changed in one transaction. */
void stats_set(struct stats *s, const char *series, double value);
void stats_text(struct stats *s, const char *name, const char *text);
/*! \brief Removes a series or text. There need not be one. */
void stats_remove(struct stats *s, const char *name);
/*! The port counters (db/lmdb/counters.h) are dropped if they are what cannot be written, and the
 *  error is returned though the rest was. */
int stats_commit(struct stats *s, uint64_t boottime_ms);

/* --- events ---------------------------------------------------------------------------- */

enum event_severity { EVENT_INFO, EVENT_WARNING, EVENT_ERROR, EVENT_SEVERITIES };
extern const char *const event_severity_names[EVENT_SEVERITIES];

#define EVENT(id, ...) EVENT_##id,
enum event_kind {
#include "db/stats/events.def"
	EVENT_KINDS
};
#undef EVENT

struct event_type {
	const char *name; /*!< "cable_lost" */
	enum event_severity severity;
	const char *sentence; /*!< with {node} and so on; see events.def */
	const char *help;
};

extern const struct event_type event_types[EVENT_KINDS];

/*! More of the name than that of the node is needed to find it. */
enum { EVENT_NODE_SHARES_NAME = 1, EVENT_PEER_SHARES_NAME = 2 };

struct fabric_event {
	uint64_t seq;      /*!< number, from 1; set by stats_event() */
	int64_t time_s;    /*!< wall clock, seconds since 1970 */
	uint64_t clock_ms; /*!< the sweep's clock */
	enum event_kind kind;
	uint8_t flags; /*!< EVENT_NODE_SHARES_NAME and so on */
	uint8_t port, peer_port;
	uint64_t node_guid, peer_guid; /*!< 0: there is none */
	uint64_t epoch;                /*!< published after it; 0: none */
	uint32_t duration_ms; /*!< of the sweep that found it; 0: none, or below 1 ms */
	uint32_t
		paths_moved; /*!< by that sweep: table entries with another port than before */
	uint32_t lft_blocks;     /*!< that this sweep sent */
	const char *node, *peer; /*!< names; NULL or "": none */
	const char *cause;       /*!< of the sweep: "trap: ..."; NULL or "": none */
	const char *detail;      /*!< NULL or "": none */
};

/*! \brief The sentence of an event, cut at \a size. \return \a buf. */
char *event_text(const struct fabric_event *e, char *buf, size_t size);

/*! Most bytes of a name, a cause and a detail; the rest is cut off. */
enum {
	EVENT_NAME_BYTES = 128,
	EVENT_CAUSE_BYTES = 200,
	EVENT_DETAIL_BYTES = 400,
	EVENT_TEXT_BYTES = 800
};

/*!
 * \brief Keeps an event for the next stats_commit() and numbers it. The texts that it points to are
 * copied.
 * \return Its number; 0: out of memory, which the next stats_commit() returns.
 */
uint64_t stats_event(struct stats *s, const struct fabric_event *e);

/*! \brief How many rows are kept, from the next stats_commit() on. */
void stats_event_limit(struct stats *s, uint32_t rows);

/*! \brief The number of the next event. */
uint64_t stats_event_next(const struct stats *s);

/*! \brief Sets it, where the folder was lost and the number is known from elsewhere. Ignored
 *  where it is higher. */
void stats_event_raise(struct stats *s, uint64_t next);

enum {
	STATS_NAME_MAX = 120,
	STATS_TEXT_MAX = 400,
	STATS_PROBLEMS = 10, /* that are kept of a heavy sweep */
	STALE_AFTER_MS = 5000
};

/*! Reader side: one consistent copy. */
struct stats_value {
	const char *name;
	double value;
	const char *text; /*!< NULL: a number */
};

struct stats_copy {
	uint64_t heartbeat_ms; /*!< CLOCK_BOOTTIME of the last commit */
	int64_t heartbeat_realtime_s; /*!< the same as wall-clock seconds since 1970 */
	uint32_t pid;
	const struct stats_value *values; /*!< by name */
	size_t n;
	uint64_t alive_ms;  /*!< as heartbeat_ms, of the last commit or attempt at one */
	int trouble;        /*!< E_OK, or why that attempt failed */
	const char *folder; /*!< of the files, where it is known; borrowed */
};

struct stats_reader;
int stats_reader_open(const char *snapshot_dir, struct stats_reader **ret_reader);
void stats_reader_close(struct stats_reader *r);

/*! \brief Copies everything into \a a. \retval E_NOTREADY  Nothing was ever written. */
int stats_read(struct stats_reader *r, struct arena *a, struct stats_copy *ret_copy);

/*! \brief Text by name, or NULL. */
const char *stats_copy_text(const struct stats_copy *c, const char *name);

struct stats_events {
	uint64_t first;       /*!< number of the oldest row; next where there is none */
	uint64_t next;        /*!< number that the next event will have */
	struct fabric_event *events; /*!< [n] in the arena, as their texts are; oldest first */
	size_t n;
};

/*!
 * \brief Reads events from a number on, at most \a max of them, into \a a.
 *
 * \param from  Below the oldest row: from there on. From the next number on: none.
 * \retval E_NOTREADY  Nothing was ever written.
 * Cost: one look-up where there is none.
 */
int stats_read_events(struct stats_reader *r, uint64_t from, size_t max, struct arena *a,
                      struct stats_events *ret_events);
