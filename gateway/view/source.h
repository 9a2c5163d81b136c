/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "db/lmdb/counters.h"
#include "db/lmdb/link_health.h"
#include "db/snapshot/reader.h"
#include "db/stats/stats.h"

struct arena;

/*!
 * Where answers come from: the snapshot and stats environments of one daemon, which stay
 * open while the files are the same. One per thread. Sources made by source_join() share
 * the open files, because a process opens a snapshot only once.
 *
 * The folder may appear after this program started, and a service manager may remove and
 * make it again. So the files are opened, and their identity is compared, at most once in
 * SOURCE_RETRY_MS. All sources on the same files follow a change that one of them found.
 * Nothing is ever written.
 */
enum { SOURCE_RETRY_MS = 1000, SOURCE_HEARTBEAT_MS = 200 };

struct source;

/*! \param snapshot_dir  Copied. \return NULL: out of memory. */
struct source *source_new(const char *snapshot_dir);

/*! \brief Another source on the same files, for another thread. \return NULL: out of memory. */
struct source *source_join(struct source *s);

/*! \brief Files are closed with the last source on them. NULL is fine. */
void source_free(struct source *s);

/*! \brief Seconds since 1970, the clock of readings and events. */
int64_t source_wall_clock(void);

/*!
 * \brief Pins the newest epoch.
 *
 * \param ret_why  On failure a sentence, borrowed until the next call.
 * \param ret_reader      Borrowed until the next call: a changed file is opened anew.
 * \retval E_NOTREADY  No folder, no file, or nothing published. \retval -EACCES E_LAYOUT
 * E_FOREIGN
 */
int source_pin(struct source *s, uint64_t now_ms, const char **ret_why,
               struct snap_reader **ret_reader);

/*! \brief What is said of a damaged database: which folder, and what helps. In \a a. */
const char *source_damaged(const struct source *s, struct arena *a);

/*! \brief One consistent copy of the stats in \a a; source_stale() uses its heartbeat
 * from then on. \retval E_NOTREADY  There are none. */
int source_stats(struct source *s, uint64_t now_ms, struct arena *a,
                 struct stats_copy *ret_copy);

/*! \brief Events, as stats_read_events(). \retval E_NOTREADY  There are none. */
int source_events(struct source *s, uint64_t now_ms, uint64_t from, size_t max,
                  struct arena *a, struct stats_events *ret_events);

/*! \brief Port counters, as stats_read_counters(). \retval E_NOTREADY  There are none. */
int source_counters(struct source *s, uint64_t now_ms, uint64_t node_guid, uint8_t port,
                    size_t max, bool samples, struct arena *a,
                    struct stats_counter_list *ret_counter_list);

/*! \brief Health of links, as stats_read_link_health(). \retval E_NOTREADY  There is none. */
int source_link_health(struct source *s, uint64_t now_ms, struct arena *a,
                       struct link_health_list *ret_list);

/*! \brief Is the daemon's heartbeat too old, or missing? Read at most once in
 * SOURCE_HEARTBEAT_MS. */
bool source_stale(struct source *s, uint64_t now_ms);
