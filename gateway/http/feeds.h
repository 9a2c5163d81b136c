/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct feed;
struct sockaddr;
struct source;

/*!
 * Listeners to events: connections that stay open and get Server-Sent Events.
 *
 * The HTTP server hands the socket of such a request over, and one thread serves all
 * listeners. An idle one costs its socket and some 300 bytes, and takes no place among the
 * connections of the HTTP server. While there are listeners, the thread looks for new events
 * every FEEDS_LOOK_MS; without any it sleeps.
 *
 * Each listener has a place in the history, so one that reads slowly holds nothing up: it
 * goes on from its place when its socket takes more. If it takes nothing for
 * FEEDS_STALLED_MS, it is cut off. Every FEEDS_BEAT_MS a comment shows a listener that the
 * connection still works, and shows us where it does not.
 */
struct feeds;

enum { FEEDS_LOOK_MS = 200, FEEDS_BEAT_MS = 15000, FEEDS_STALLED_MS = 30000 };

struct feeds_options {
	struct source *source; /*!< joined */
	uint32_t most;         /*!< listeners at a time */
	uint32_t per_address;  /*!< of them from one address, 0: no limit of its own */
	_Atomic uint64_t *count; /*!< of listeners, for metrics; borrowed; NULL: none */
	uint32_t beat_ms,
		stalled_ms; /*!< 0: FEEDS_BEAT_MS, FEEDS_STALLED_MS; for tests */
};

/*! \brief Starts the thread. \retval -ENOMEM \retval -errno */
int feeds_new(const struct feeds_options *o, struct feeds **ret_feeds);

/*!
 * \brief Serves a connection from now on: sends the head of the answer, then the feed.
 *
 * \param fd    Socket whose request was read; it does not block. Taken on success.
 * \param from  Address of the client; NULL: not known.
 * \param feed  Copied.
 * \retval E_FULL  There are enough, in all or from this address. \retval -ENOMEM
 */
int feeds_add(struct feeds *f, int fd, const struct sockaddr *from,
              const struct feed *feed);

/*! \brief Closes all connections and ends the thread. NULL is fine. */
void feeds_free(struct feeds *f);
