/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/state.h"

/*!
 * Records that clients write: rows in memory, by key, for the one thread that answers; the
 * durable state gets every change in batches and gives the rows back after a restart.
 *
 * A row may run out: its time is kept as wall-clock seconds, so that it goes on running
 * while the daemon does not. Bytes of a row on disk: i64 expires, then the value.
 *
 *   services       ServiceID, ServiceGID, ServiceP_Key (26 bytes, wire order)
 *                  -> PortGUID of who set it, ServiceRecord (8 and 176 bytes, wire order)
 *   subscriptions  PortGUID, InformInfo (8 and 36 bytes, wire order)
 *                  -> struct subscription (sa/store/subscription.h)
 *   groups, members   as sa/store/mcast.h describes them
 *   guids, aliases    as sa/store/alias.h describes them
 *
 * Besides the order of keys every table has a second one, by the owner of a row: the port
 * that a service, subscription or membership belongs to, the MLID of a group.
 *
 * Both orders are arrays of pointers in leaves of a few kilobytes, so that a row that comes
 * or goes moves a part of one leaf. A row is found by two binary searches, O(log n), and the
 * one behind it in O(1).
 */
struct sa_store;

#define STORE_FOR_EVER INT64_MAX

enum { STORE_OWNED_MAX = 4096 }; /*!< rows of a table that one port may have, if not said otherwise */

struct store_row {
	int64_t expires;       /*!< seconds since 1970; STORE_FOR_EVER */
	uint16_t key_len, len;
	uint8_t bytes[];       /*!< the key, then the value */
};

static inline const uint8_t *store_value(const struct store_row *row)
{
	return row->bytes + row->key_len;
}

/*!
 * \brief Opens the store with the rows that the state has.
 * \param state  Borrowed; NULL: nothing is durable. \param now  Seconds since 1970.
 * \retval -ENOMEM \retval E_MALFORMED and others  The state makes no sense or cannot be read.
 */
int store_new(struct state *state, int64_t now, struct sa_store **ret);
void store_free(struct sa_store *st); /*!< NULL is fine */

/*! \brief Throws the rows in memory away and reads them again: after a batch that was not committed. */
int store_reload(struct sa_store *st);

/*! \brief Sets the time and removes what has run out by then. Cost: O(1) until something has. \retval -ENOMEM */
int store_tick(struct sa_store *st, int64_t now);
int64_t store_now(const struct sa_store *st);
/*! \brief When the next row runs out; STORE_FOR_EVER: none does. */
int64_t store_next_tick(const struct sa_store *st);

/*! \brief So many services, subscriptions, memberships each may a port have; 0: as many as there is room for. */
void store_limit(struct sa_store *st, size_t of_a_port);

size_t store_count(const struct sa_store *st, enum record_table table);
/*! \brief So many more can a table take: no number of clients can fill the memory. */
size_t store_room(const struct sa_store *st, enum record_table table);

/*! \brief The first row whose key is \a key or above it (a beginning of a key is below all that begin with it). \return NULL: none. */
const struct store_row *store_from(const struct sa_store *st, enum record_table table,
                                   const void *key, size_t key_len);
/*! \brief The row behind one of the table. \return NULL: none. */
const struct store_row *store_next(const struct sa_store *st, enum record_table table,
                                   const struct store_row *row);

/*! \brief The first row of an owner, whose bytes are those in the row. \return NULL: it has none. */
const struct store_row *store_of(const struct sa_store *st, enum record_table table,
                                 const void *owner);
/*! \brief The next row of the same owner. \return NULL: that was the last. */
const struct store_row *store_of_next(const struct sa_store *st, enum record_table table,
                                      const struct store_row *row);
/*! \brief The first row of the owner behind this one; NULL: of the first. \return NULL: none. */
const struct store_row *store_of_others(const struct sa_store *st, enum record_table table,
                                        const void *owner);

/*! \return NULL: none. Borrowed until the next change. */
const struct store_row *store_find(const struct sa_store *st, enum record_table table,
                                   const void *key, size_t key_len);

/*! \brief Adds a row or replaces the one with this key. \retval E_FULL  The table is full, or its owner has as many as it may. \retval -ENOMEM */
int store_put(struct sa_store *st, enum record_table table, const void *key, size_t key_len,
              int64_t expires, const void *value, size_t len);
/*! \retval E_NOTFOUND \retval -ENOMEM */
int store_drop(struct sa_store *st, enum record_table table, const void *key, size_t key_len);

/*! \brief Hands the changes since the last call over, to be committed. \return NULL: none. */
struct state_batch *store_changes(struct sa_store *st);

/*! A multicast group that was created or deleted, to be told when that is durable. */
struct store_event {
	uint8_t mgid[16];
	uint16_t p_key;
	bool created;
};

/*! \brief Notes an event; one that undoes the last takes that back. \retval -ENOMEM */
int store_note(struct sa_store *st, const struct store_event *e);

/*! \brief Hands the events since the last call over. \return How many; *ret is the caller's to free, NULL: none. */
size_t store_events(struct sa_store *st, struct store_event **ret);
