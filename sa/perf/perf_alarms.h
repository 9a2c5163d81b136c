/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct port_counters;

/*!
 * Ports whose counters say that something is wrong: the error counters rose by a limit or more
 * between two readings, or PortXmitWait by more than another, or the link quality of Omni-Path
 * is below a third. A port is reported once, and again
 * only after some readings without.
 */
struct perf_alarm {
	uint64_t node_guid;
	uint8_t port;
	char what[200]; /*!< "symbol_errors +120, link_downed +1 in 60 s" */
};

enum { PERF_ALARMS_MAX = 64 };

/*! Reports that nobody has taken yet. Zeroed but for the limits is none. */
struct perf_alarms {
	uint64_t error_limit, wait_limit; /*!< UINT64_MAX: never */
	uint64_t quality_limit;           /*!< 0: never */
	struct perf_alarm list[PERF_ALARMS_MAX]; /*!< a ring: [n] from first on */
	uint32_t first, n;
	uint64_t lost; /*!< because the ring was full */
};

/*!
 * \brief Looks at a reading.
 * \param c         With an interval.
 * \param ret_left  Of the port: readings left until a report is a new one; 0 at first.
 */
void perf_alarms_watch(struct perf_alarms *a, const struct port_counters *c, uint8_t *ret_left);

/*! \brief Takes the oldest one. \return false: there is none. */
bool perf_alarms_next(struct perf_alarms *a, struct perf_alarm *ret_alarm);
