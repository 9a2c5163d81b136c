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
 * The heartbeat is a number of CLOCK_BOOTTIME milliseconds: a reader on the same machine
 * compares it with its own clock.
 */
struct stats; /*!< writer side */

/*! MADs of subnet management that were sent, which is also SMInfo.ActCount. */
#define STATS_SMPS_SENT "mad_sent_total{class=\"smp\"}"

int stats_open(const char *snapshot_dir, struct arena *a, const char **ret_why, struct stats **ret);
void stats_close(struct stats *s);

/*! Collects values in memory; stats_commit() writes those that changed in one transaction. */
void stats_set(struct stats *s, const char *series, double value);
void stats_text(struct stats *s, const char *name, const char *text);
int stats_commit(struct stats *s, uint64_t boottime_ms);

enum { STATS_NAME_MAX = 120, STATS_TEXT_MAX = 400, STALE_AFTER_MS = 5000 };

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
};

struct stats_reader;
int stats_reader_open(const char *snapshot_dir, struct stats_reader **ret);
void stats_reader_close(struct stats_reader *r);

/*! \brief Another clock than CLOCK_BOOTTIME, for tests. */
void stats_reader_clock(struct stats_reader *r, uint64_t (*clock_ms)(void *arg), void *arg);

/*! \brief Copies everything into \a a. \retval E_NOTREADY  Nothing was ever written. */
int stats_read(struct stats_reader *r, struct arena *a, struct stats_copy *ret);

/*! \brief Text by name, or NULL. */
const char *stats_copy_text(const struct stats_copy *c, const char *name);
