/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/stats/stats.h"
#include "gateway/view/body.h"
#include "gateway/view/event_json.h"

struct source;

/*!
 * A feed of events: Server-Sent Events, text for one listener that has no end.
 *
 *   retry: 2000            first: when the client shall connect again if it is cut off
 *   id: 41                 and the number after which it goes on then
 *
 *   id: 42
 *   data: {"id":42,"kind":"cable_lost",...}
 *
 *   event: resync          the number of the client is not in the history
 *   id: 99
 *   data: {"reason":"trimmed","first":100,"next":260}
 *
 * The reason is "trimmed" if the next event is not kept any more, and "unknown" if there
 * was no event of such a number yet, for instance because the daemon lost its folders. In
 * both cases the client does not know what it missed and asks for the whole state again;
 * the feed goes on with the oldest row.
 *
 * No HTTP and no socket in here. Source: WHATWG HTML, "Server-sent events".
 */
struct feed {
	struct list_filter filter;
	uint64_t at;   /*!< number of the next event */
	uint64_t last_id; /*!< last id that the client has */
};

/*! Rows that were read, with their text, for all listeners at the same place. Zeroed at
 *  first. */
struct feed_page {
	struct arena *arena;
	uint64_t from; /*!< number of the first */
	struct stats_events events;
	struct body text; /*!< of all, */
	size_t *end;      /*!< [events.n] and where each ends in it */
};

enum { FEED_PAGE_EVENTS = 64, FEED_RETRY_MS = 2000 };

/*! \brief Sets the place. \param since  Number of the last event that the client saw; NULL: it
 *  wants what comes. */
void feed_begin(struct feed *f, struct source *s, uint64_t now_ms, const uint64_t *since);

/*! \brief The first text. */
void feed_head(struct feed *f, struct body *out);

/*!
 * \brief Adds what there is, at most a page.
 * \return true: there may be more at once.
 */
bool feed_pull(struct feed *f, struct feed_page *page, struct source *s, uint64_t now_ms,
               struct body *out);

/*! \brief A comment that keeps the connection open, and the number that was reached. */
void feed_heartbeat(struct feed *f, struct body *out);

/*! \brief Why a client whose next event is \a at has to start anew. \return NULL: it has not. */
const char *feed_resync(uint64_t at, const struct stats_events *ev);

void feed_page_clear(struct feed_page *p);
