/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sockaddr;

/*!
 * The connections of the HTTP server and what each of them does, so that none holds its place
 * for ever.
 *
 * The library limits how long a connection may be silent, but a client that sends or takes a
 * byte now and then is never silent. So each step of a request has a time in all, and a thread
 * cuts off the connections that exceed it. To cut a connection off is to shut its socket
 * down; the library then closes it.
 *
 *   FRESH --head--> BODY --> ANSWER or STREAM --> IDLE --head--> BODY ...
 *
 * Before all places are taken, or all that one address may have, a connection gives its place to
 * the new one: first one that no user has authenticated, if the server has users, then one that
 * waits for a request, then one whose body or answer has made no progress for BUSY_MS. Of these it
 * is one of the address with most connections, and of those the one that has been longest in its
 * step. So a crowd of idle connections keeps nobody out.
 *
 * The functions may be called by any thread. connections_enter() takes no lock.
 */
struct connections;

enum connection_step {
	CONNECTION_FREE,  /*!< no connection */
	CONNECTION_FRESH, /*!< accepted, waits for its first request */
	CONNECTION_IDLE,  /*!< waits for its next request */
	CONNECTION_BODY,  /*!< the head is there, the body comes */
	CONNECTION_ANSWER,
	CONNECTION_STREAM, /*!< an answer whose parts are entered one by one */
	CONNECTION_LEFT,   /*!< cut off, or its socket belongs to somebody else */
};

struct connections_options {
	unsigned most;        /*!< connections at a time */
	unsigned per_address; /*!< of them from one address, 0: no limit of its own */
	unsigned
		spare; /*!< places of those that were cut off and that the library has yet to close */
	uint32_t fresh_ms, idle_ms,
		body_ms;    /*!< most time of a step; 0: the usual ones */
	uint32_t answer_ms; /*!< the same of an answer; 0: any */
	bool has_users;     /*!< connections_trust() tells of those with one */
	bool paced; /*!< each has a thread of its own; see connections_pace() */
};

enum {
	CONNECTIONS_FRESH_MS = 10000,
	CONNECTIONS_IDLE_MS = 30000,
	CONNECTIONS_BODY_MS = 60000,
	CONNECTIONS_BUSY_MS = 30000,
	CONNECTIONS_STALLED_MS = 2000 /*!< a stream that is not read */
};

/*! A place. The other members belong to connections.c. */
struct connection {
	void *request;           /*!< of who serves it, for its own use; NULL at first */
	struct in6_addr address; /* IPv4 mapped; of IPv6 the network of 64 bits; of a Unix
	                            socket the user */
	int fd;
	uint64_t number; /* in the order in which they came */
	bool counted;    /* in the crowd of its address */
	_Atomic bool trusted;
	_Atomic uint64_t state; /* since when in ms, and in the low byte the step */
};

/*! \brief Makes the places and starts the thread. \retval -ENOMEM \retval -errno */
int connections_new(const struct connections_options *o,
                    struct connections **ret_connections);

/*! \brief Ends the thread. All connections are gone by now. NULL is fine. */
void connections_free(struct connections *c);

/*!
 * \brief Called after a connection was accepted: a pause while many that were cut off have yet to end.
 *
 * With a thread for each connection, one that was cut off ends when its thread runs. A crowd that comes
 * faster than these threads get the processor would fill all places, and the library would refuse whoever
 * comes next. The pause is spare / 2 ms at most.
 */
void connections_pace(struct connections *c);

/*!
 * \brief A new connection, which may cost an older one its place.
 * \param from  NULL: not known. \param fd  Open until connections_remove().
 * \return NULL: it gets no place, and was cut off.
 *
 * Cost: O(places).
 */
struct connection *connections_add(struct connections *c, int fd,
                                   const struct sockaddr *from, uint64_t now_ms);

/*! \brief Its socket will be closed. NULL is fine. */
void connections_remove(struct connections *c, struct connection *conn);

/*! \brief Its socket belongs to somebody else from now on, and is not cut off. NULL is fine. */
void connections_leave(struct connections *c, struct connection *conn);

/*! \brief It enters a step, or the next part of a stream. NULL is fine. */
void connections_enter(struct connection *conn, enum connection_step step,
                       uint64_t now_ms);

/*! \brief A user has authenticated a request of it. NULL is fine. */
void connections_trust(struct connection *conn);

/*! \brief Streams to the address of a connection. NULL: 0. */
unsigned connections_streams(struct connections *c, const struct connection *conn);

/*! \brief Cuts off the stream that has stalled longest, for STALLED_MS at least. */
void connections_cut_stalled(struct connections *c, uint64_t now_ms);

/*! \brief Cuts off those whose time is over. The thread does so; tests do so, too. */
void connections_tend(struct connections *c, uint64_t now_ms);
