/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct body;
struct resources;
struct snap_meta;
struct snap_reader;
struct stats_copy;

/*!
 * Metrics in Prometheus' text format 0.0.4, prefix saguaro_: what the gateway counts of
 * its own requests, the head of the epoch, and every series of the daemon's stats. Of a daemon
 * that is gone there are only its last sign of life, daemon_up 0 and subnet_up 0: what it said
 * last is not shown as if it were so now.
 */
enum { HTTP_ROUTES_MAX = 64, HTTP_CODES_MAX = 16, HTTP_BUCKETS = 9 };

/*! Counters of all threads of one server; zeroed at first. */
struct http_stats {
	_Atomic uint64_t
		requests[HTTP_ROUTES_MAX]
			[HTTP_CODES_MAX]; /*!< by position in the list of codes */
	_Atomic uint64_t
		bucket[HTTP_ROUTES_MAX]
		      [HTTP_BUCKETS + 1]; /*!< not cumulative; last: slower than all */
	_Atomic uint64_t micros[HTTP_ROUTES_MAX];
	_Atomic uint64_t listeners;               /*!< to events, now */
	_Atomic uint64_t streams, stream_records; /*!< open now; records written so far */
};

/*! \brief Counts one answer. \a route is a row of the resources, or their number for
 * none. */
void http_stats_count(struct http_stats *s, unsigned route, unsigned status, uint64_t us);

/*! \brief Build, requests by route and code, durations. */
void metrics_http(struct body *b, const struct http_stats *s,
                  const struct resources *rows);

/*! \brief Epoch, engine, proof, load, counts. Walks the nodes. \retval E_MALFORMED
 * E_STALE */
int metrics_fabric(struct body *b, struct snap_reader *r);

/*! \brief Are the daemon's series, and the epoch that it published, of now? \param c  NULL: there
 *  are none. */
bool metrics_fresh(const struct stats_copy *c, uint64_t now_ms);

/*! \brief Heartbeat and, while it is fresh, the daemon's series; a series that does not follow the
 * grammar is counted and not copied. \param c  NULL: there are none. */
void metrics_daemon(struct body *b, const struct stats_copy *c, uint64_t now_ms);

/*! \brief Readiness as 0 or 1. */
void metrics_ready(struct body *b, int ready);

/*!
 * \brief Does a text follow the grammar of a series, name{label="value",...}?
 * \return Length of the name, 0: no.
 */
size_t metrics_series_name(const char *series);
