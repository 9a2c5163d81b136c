/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/link_health.h"
#include "sa/mad/request.h"
#include "sa/perf/perf_alarms.h"

struct config;
struct graph;
struct lanes;
struct lids;
struct mad_msg;
struct stats;
struct transport;

/*!
 * The performance manager: reads the counters of all cabled ports, again and again, by MADs
 * of class PerfMgt (IBA vol. 1, 16.1), and keeps them in the stats environment
 * (db/lmdb/counters.h). It never clears a counter.
 *
 * A sweep asks each node's agent once what it can do. Then it reads of each port
 * PortCountersExtended; PortCounters where the agent has no 64-bit error counters, but of a
 * switch only if the sum over all its ports (PortSelect 255) says that an error counter
 * moved; and PortExtendedSpeedsCounters of links of FDR and faster, for forward error
 * correction. Of an Omni-Path adapter it reads PortStatus, of an Omni-Path switch
 * DataPortCounters of many ports at once, and ErrorPortCounters of those whose sum of all error
 * counters moved. The MADs of a sweep are spread over half of its interval, so their rate is
 * bounded whatever the fabric does.
 *
 * A counter that is smaller than before was cleared, by somebody or by a restart: what it
 * shows is the rise since. A narrow counter that is at its limit stays there, and is marked.
 *
 * Runs on the fabric thread. Time is that of the transport. The owner says when it may send,
 * which is never beside a heavy sweep.
 */
struct perf;

/*!
 * \brief New performance manager that knows no port.
 * \param stats       Gets the rows; may be NULL.
 * \param config      Read here only.
 * \param wall_clock  Seconds since 1970; NULL: 0.
 * \retval -ENOMEM
 */
int perf_new(struct transport *t, struct stats *stats, const struct config *config,
             int64_t (*wall_clock)(void), struct perf **ret_perf);
void perf_free(struct perf *p); /*!< NULL is fine */

/*!
 * \brief The fabric as it is now. Ports that were there keep their counters; of those that are
 *        gone the rows go, if perfmgr_rm_nodes says so. A sweep at work goes on behind the
 *        nodes that it had finished.
 *
 * \param lanes       SLs of the paths; its rows may be NULL.
 * \param omni_path   Its agents are those of Omni-Path.
 * \param pkey_index  Index of the P_Key of managers, 0xFFFF, at the local port.
 * \retval -ENOMEM  It is as it was.
 * Cost: O(ports), with a copy of all counters.
 */
int perf_fabric(struct perf *p, const struct graph *g, const struct lids *l,
                const struct lanes *lanes, bool omni_path, uint16_t pkey_index);

/*! \brief Repeats what was not answered in time, and sends what is due if it \a may_send. */
void perf_run(struct perf *p, bool may_send);

/*! \brief Takes a MAD of this class; \a p may be NULL. */
enum mad_kind perf_receive(struct perf *p, const struct mad_msg *m);

/*! \brief When perf_run() has something to do, ms; UINT64_MAX: never. */
uint64_t perf_deadline(const struct perf *p, bool may_send);

/*! \brief Takes the oldest alarm. \return false: there is none. */
bool perf_next_alarm(struct perf *p, struct perf_alarm *ret_alarm);

/*! \brief Health of the link at a port, as the last reading left it. \return NULL: it is not read.
 *         Borrowed until the next perf_fabric(). */
struct link_health *perf_health(struct perf *p, uint64_t node_guid, uint8_t port);

/*! \brief Writes its row again, after its owner changed its decision. */
void perf_health_write(struct perf *p, uint64_t node_guid, uint8_t port);

/*! \brief Removes the rows that an earlier process left, where links are not judged. NULL is fine. */
void perf_health_forget(struct stats *stats);

/*!
 * \brief The ports that are not well, or about which something was decided, by (NodeGUID, port).
 * \return How many, at most \a most. Cost: O(ports).
 */
size_t perf_health_unwell(const struct perf *p, struct link_health_row *rows, size_t most);

struct perf_counters {
	uint64_t sent;       /*!< MADs */
	uint64_t timeouts;   /*!< tries without an answer */
	uint64_t forged;     /*!< answers to nothing that was asked, or from elsewhere */
	uint64_t sweeps;     /*!< that ended */
	uint32_t ports;      /*!< that are to be read */
	uint32_t read;       /*!< of them in the last sweep that ended */
	uint32_t duration_ms; /*!< of that sweep */
};

const struct perf_counters *perf_counters(const struct perf *p);

/*! \brief Writes them into the stats, for the metrics. Any argument may be NULL. */
void perf_figures(const struct perf *p, struct stats *to);
