/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/stats/stats.h"

struct alarm_ack;
struct arena;
struct inventory;
struct snap_meta;
struct snap_reader;

/*!
 * What is wrong at this moment. Some of it stands in the snapshot (slow cables, pairs without
 * a route); some is known only from what happened: a cable that is gone leaves nothing but
 * its event. An event counts as long as nothing later undoes it and the snapshot does not
 * show otherwise.
 *
 * Alarms are a tree: alarm_causes.h says which alarm stands for which others.
 */
#define ALARM(id, ...) ALARM_##id,
enum alarm_kind {
#include "gateway/inventory/alarms.def"
	ALARM_KINDS
};
#undef ALARM

#define ALARM_NONE UINT32_MAX

/*! The higher the worse. */
enum alarm_severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR, SEVERITY_CRITICAL, SEVERITIES };
extern const char *const alarm_severity_names[SEVERITIES];

struct alarm_type {
	const char *name; /*!< "link_down" */
	enum alarm_severity severity; /*!< at least; alarm_consequence.h */
	const char *help;
	const char *advice; /*!< what to do about it */
};
extern const struct alarm_type alarm_types[ALARM_KINDS];

/*! The meaning of an alarm for the fabric; alarm_consequence.h has the rules. */
struct consequence {
	uint64_t pairs_cut;     /*!< pairs of end ports without a route */
	uint64_t next_fault_cuts; /*!< pairs of host ports that one more fault would cut off */
	double bisection_lost;  /*!< share of the cables of a level, 0-1 */
	uint32_t hosts_down;
	const char *text; /*!< the same in words; NULL: nothing */
};

struct alarm {
	enum alarm_kind kind;
	enum alarm_severity severity;
	const char *id; /*!< names it as long as its subject lasts: "link_down-0x0002c90300000001-3" */
	uint8_t port, peer_port;
	uint64_t node_guid, peer_guid; /*!< 0: none */
	const char *node, *peer;       /*!< names, or NULL */
	uint64_t event;                /*!< its number; 0: none */
	int64_t since;                 /*!< of the event, seconds since 1970 */
	const char *text;              /*!< sentence */
	struct consequence consequence;
	uint32_t with;     /*!< how many others it stands for: alarm_causes_join() */
	uint32_t above;    /*!< place of the one that stands for this one, before alarms_sort(); ALARM_NONE: none does */
	const char *cause; /*!< its id; NULL: none does */
	const struct alarm_ack *ack; /*!< who knows of it; NULL: nobody said so */
	bool maintenance; /*!< its subject is out of service on purpose, so it is information */
};

/*! A cable between switches that an alarm is about, or that went with its switch. */
struct alarm_cable {
	uint32_t alarm;    /*!< place in the list, before alarms_sort() */
	uint64_t guid[2];  /*!< the switches at its ends */
	double lost;       /*!< share of it, 0-1 */
};

struct alarms {
	struct alarm *list; /*!< [n] the worst first */
	size_t n, cap;
	struct alarm_cable *cables; /*!< [n_cables] */
	size_t n_cables, cap_cables;
	uint32_t routes_fresh; /*!< on the busiest link of routes that keep nothing; 0: not known. Of alarms_of_stats() */
	struct arena *arena;
};

/*!
 * \brief Adds one without node and port.
 * \param subject  What its id has behind the kind; NULL: nothing.
 * \return NULL: out of memory.
 */
struct alarm *alarms_add(struct alarms *a, enum alarm_kind kind, const char *subject,
                         const char *text);

/*! \brief Adds one about a node, or about one of its ports (0: the node). \return NULL: out of memory. */
struct alarm *alarms_add_port(struct alarms *a, enum alarm_kind kind, uint64_t guid, uint8_t port,
                              const char *text);

/*! \brief Adds one about the cable that leaves by port \a p of the graph, whose text is both ends and then
 *  \a what. \return NULL: out of memory. */
struct alarm *alarms_add_link(struct alarms *a, enum alarm_kind kind, const struct inventory *v,
                              uint32_t p, const char *what);

/*! \brief Notes a cable of an alarm. \retval -ENOMEM */
int alarms_add_cable(struct alarms *a, const struct alarm *of, uint64_t guid, uint64_t peer,
                     double lost);

/*! \brief Adds what the snapshot shows, after alarms_of_stats(). \param v  With its shape. \retval -ENOMEM */
int alarms_of_snapshot(struct alarms *a, const struct snap_meta *m,
                       const struct inventory *v);

/*! \brief Adds what the last heavy sweep could not make sense of, and that the copy of a standby pauses.
 *  \retval -ENOMEM */
int alarms_of_stats(struct alarms *a, const struct stats_copy *stats);

/*! \brief Adds what events of the past left behind. \retval -ENOMEM  Cost: O(n log n). */
int alarms_of_events(struct alarms *a, const struct fabric_event *e, size_t n,
                     const struct inventory *v);

/*! \brief Marks those that are acknowledged now, in seconds since 1970. \retval -ENOMEM E_MALFORMED E_STALE
 *  Cost: O((alarms + acknowledgements) log acknowledgements). */
int alarms_acknowledge(struct alarms *a, struct snap_reader *r, int64_t now_s);

/*! \brief Marks alarms about nodes and cables that are out of service for maintenance. \retval E_MALFORMED E_STALE
 *  Cost: O(alarms * rows). */
int alarms_mark_maintenance(struct alarms *a, struct snap_reader *r);

void alarms_sort(struct alarms *a);
void alarms_done(struct alarms *a);

/*! \return NULL: out of memory. */
json_t *alarms_json(const struct alarm *a);
