/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/server/answer.h"

struct snap_writer;
struct state;
struct transport;

/*!
 * Where a request came in when that is not the fabric (mad_addr.origin): its answer goes
 * there. addr.lid then is a number of the requester that is no LID, for fairness alone.
 * Such requests see every record and change none.
 */
struct sa_origin {
	/*! Takes an answer, or NULL: there will be none. Borrowed for the call; must not wait.
	 *  Any thread, also inside sa_server_receive(). \retval E_OK \retval -errno  It cannot take it. */
	int (*send)(struct sa_origin *origin, const struct mad_addr *to, const uint8_t *data, size_t len);
};

/*! SA server: a thread that answers the requests that come in, through the transport or their origin. */
struct sa_server;

struct sa_counters {
	uint64_t requests, answered, dropped_malformed, dropped_key, dropped_overload,
		dropped_standby, refused_large, no_records, records, services,
		subscriptions, groups, members, reports_sent, reports_answered,
		reports_given_up, reports_dropped,
		reports_forged; /*!< answers to reports that nobody sent, or not from where they went */
};

/*!
 * \brief Starts the answer thread. Requests that the transport hands over on a thread of its own
 *        (transport_divert()) come in from here on.
 * \param state  Where client records are durable, borrowed; NULL: nowhere.
 * \retval -ENOMEM \retval others  The records that are there cannot be read.
 */
int sa_server_new(struct transport *t, struct snap_writer *w, struct state *state,
                  const struct sa_limits *l, struct sa_server **ret_server);
void sa_server_free(struct sa_server *s);

/*!
 * \brief Requests have come in, from the fabric or over TCP (mad_addr.origin). Borrowed for the call.
 * \param server   The struct sa_server: this is transport_receiver.take, too.
 * \param pressed  More may wait behind them, or another thread brings them than the one that the
 *                 transport has for requests: they are queued. Otherwise short ones may be answered
 *                 before it returns. When the queue is full, BUSY is sent at once, to a new request
 *                 or to one of the requester that has most waiting. Any thread.
 */
void sa_server_receive(void *server, const struct mad_msg *m, unsigned n, bool pressed);

/*!
 * Asks the SM to read tables of the fabric before a request is answered (see
 * sa_attr.tables_on_request). It copies the request and hands it back with
 * sa_server_resume(). On the answer thread. \return false: nothing is to be read, or no
 * memory.
 */
typedef bool sa_tables_f(void *ctx, const struct mad_msg *m);
/*! \brief From now on \a read is asked; NULL: nobody is, and no call is under way any more. */
void sa_server_on_tables(struct sa_server *s, sa_tables_f *read, void *ctx);
/*! \brief The tables that a request needs are read and published: it is queued. Any thread. */
void sa_server_resume(struct sa_server *s, const struct mad_msg *m);

/*!
 * \brief Another subnet manager is master: requests are counted and dropped as long as \a on, and
 *        no lease runs out. When it returns, no request changes client records any more. Any
 *        thread but that of the server.
 */
void sa_server_standby(struct sa_server *s, bool on);
/*! \brief The state has other client records now: they are read again before the next answer. Any thread. */
void sa_server_reload(struct sa_server *s);
/*! \brief A trap came in (64 bytes of Notice): sends it to its subscribers. Any thread.
 *  \param wide  Its LIDs are as sa/mad/notice.h has them; else as a device of InfiniBand sent them. */
void sa_server_trap(struct sa_server *s, const uint8_t notice[64], bool wide);
/*! \brief A sweep ended and published: reports ports that came or went. Any thread. */
void sa_server_swept(struct sa_server *s);
/*! \brief What SMInfo.ActCount is from now on. Any thread. */
void sa_server_activity(struct sa_server *s, uint64_t act_count);
void sa_server_counters(struct sa_server *s, struct sa_counters *ret_counters);
