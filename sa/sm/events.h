/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/stats/stats.h"
#include "routing/graph/node_text.h"

struct disc;
struct job;
struct sm;

/*!
 * What happened: one call makes the log line and the row in the stats environment, both from
 * the kind's entry in db/stats/events.def.
 *
 * The line is written at once. An event of a heavy sweep waits for the end of the sweep,
 * because its row says what the sweep cost: how long it took, which epoch it published, how
 * many table entries moved and how many blocks were sent. Rows become readable with the
 * next heartbeat, which follows within EVENTS_DELAY_MS.
 */
enum { EVENTS_DELAY_MS = 200 };

struct events {
	bool sweeping;                     /*!< a heavy sweep is at work: rows wait */
	uint64_t started_ms;               /*!< of this sweep */
	char cause[EVENT_CAUSE_BYTES + 1]; /*!< of this sweep */
	struct arena *arena;               /*!< texts of the rows that wait */
	struct fabric_event *waiting;             /*!< [n] malloc */
	size_t n, cap;
	bool fresh; /*!< rows were handed to stats since events_fresh() */
	uint64_t
		reserved; /*!< numbers below are not given again after a loss of the stats */
	char failure[EVENT_DETAIL_BYTES +
	             1]; /*!< reason of the last failed sweep; "": none */
	char fallback[EVENT_DETAIL_BYTES + 1]; /*!< in force; "": none */
};

/*! \brief At the start of the daemon. */
void events_start(struct sm *sm);

/*! \brief A heavy or local sweep begins for the reason in sm->cause. */
void events_sweep_begin(struct sm *sm);

/*!
 * \brief It has ended: hands its rows over.
 * \param j  NULL: it sent nothing.
 */
void events_sweep_end(struct sm *sm, const struct job *j);

/*! \brief Logs an event and keeps its row. The texts that it points to are copied. */
void events_note(struct sm *sm, const struct fabric_event *e);

/*! \brief The same; \a fmt gives the detail. */
void events_say(struct sm *sm, enum event_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*! \brief Names a node of a graph in an event. Cost: O(nodes). */
void events_set_node(struct fabric_event *e, const struct graph *g, uint32_t node);

/*! \brief Names the other end of a cable, a port of the graph. Cost: O(nodes). */
void events_set_peer(struct fabric_event *e, const struct graph *g, uint32_t port);

/*! \brief A sweep was given up: logs why; the row is only for another reason than last time. */
void events_sweep_failed(struct sm *sm, const char *why);

/*! \brief The routing that is in force. \param fallback  What is used instead of \a asked,
 *  with the reason; NULL: it is what was asked for. */
void events_routing(struct sm *sm, const char *asked, const char *fallback);

/*!
 * \brief Notes nodes, cables and subnet managers that differ from the last sweep's. The log
 *        has a line for each of the first 20; each has a row. A cable of a node that is
 *        gone or new has none.
 *
 * \param prev  Graph of the last sweep; NULL: there is none, and no event.
 * \return How many there are.
 */
uint32_t events_compare(struct sm *sm, const struct disc *d, const struct graph *prev);

/*! \brief Notes Omni-Path nodes that are refused now and were not, and places behind which none is any more.
 *  \param was  The discovery before; NULL: there is none. */
void events_quarantine(struct sm *sm, const struct disc *now, const struct disc *was);

/*! \return true: a row waits for the heartbeat, since the last call. */
bool events_fresh(struct events *e);

void events_done(struct events *e);
