/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/stats/stats.h"

struct arena;
struct inventory;
struct snap_meta;
struct snap_reader;

/*!
 * What is wrong at this moment. Some of it stands in the snapshot (slow cables, pairs without
 * a route); some is known only from what happened: a cable that is gone leaves nothing but
 * its event. An event counts as long as nothing later undoes it and the snapshot does not
 * show otherwise.
 */
#define ALARM(id, ...) ALARM_##id,
enum alarm_kind {
#include "gateway/inventory/alarms.def"
	ALARM_KINDS
};
#undef ALARM

struct alarm_type {
	const char *name; /*!< "link_down" */
	enum event_severity severity;
	const char *help;
	const char *advice; /*!< what to do about it */
};
extern const struct alarm_type alarm_types[ALARM_KINDS];

struct alarm {
	enum alarm_kind kind;
	uint8_t port, peer_port;
	uint64_t node_guid, peer_guid; /*!< 0: none */
	const char *node, *peer;       /*!< names, or NULL */
	uint64_t event;                /*!< its number; 0: none */
	int64_t since;                 /*!< of the event, seconds since 1970 */
	const char *text;              /*!< sentence */
	uint32_t with; /*!< how many others have the same cause: alarm_causes_join() */
	bool joined;   /*!< it is one of those others */
	bool maintenance; /*!< its subject is out of service on purpose, so it is information */
};

struct alarms {
	struct alarm *list; /*!< [n] the worst first */
	size_t n, cap;
	struct arena *arena;
};

/*! \brief Adds one. \return NULL: out of memory. */
struct alarm *alarms_add(struct alarms *a, enum alarm_kind kind, const char *text);

/*! \brief Adds what the snapshot shows. \param v  With its shape. \retval -ENOMEM */
int alarms_of_snapshot(struct alarms *a, const struct snap_meta *m,
                       const struct inventory *v);

/*! \brief Adds what the last heavy sweep could not make sense of, and that the copy of a standby pauses.
 *  \retval -ENOMEM */
int alarms_of_stats(struct alarms *a, const struct stats_copy *stats);

/*! \brief Adds what events of the past left behind. \retval -ENOMEM  Cost: O(n log n). */
int alarms_of_events(struct alarms *a, const struct fabric_event *e, size_t n,
                     const struct inventory *v);

/*! \brief Marks alarms about nodes and cables that are out of service for maintenance. \retval E_MALFORMED E_STALE
 *  Cost: O(alarms * rows). */
int alarms_mark_maintenance(struct alarms *a, struct snap_reader *r);

/*! \brief That of its kind, or information during a maintenance. */
enum event_severity alarms_severity(const struct alarm *a);

void alarms_sort(struct alarms *a);

/*! \return NULL: out of memory. */
json_t *alarms_json(const struct alarm *a);
