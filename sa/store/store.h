/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/state/state.h"

/*!
 * Client records: the rows that clients registered, in memory, by key. Only the thread that
 * answers uses a store. The durable state receives all changes in batches and returns the
 * rows after a restart.
 *
 * A row may expire. The time is stored as wall-clock seconds, so that leases also run while
 * the daemon does not. Bytes of a row on disk: i64 expires, then the value.
 *
 *   services       ServiceID, ServiceGID, ServiceP_Key (26 bytes, wire order)
 *                  -> PortGUID of the client, ServiceRecord (8 and 176 bytes, wire order)
 *   subscriptions  PortGUID, InformInfo (8 and 36 bytes, wire order)
 *                  -> struct subscription (sa/store/subscription.h)
 *   groups, members   see sa/store/mcast.h
 *   guids, aliases    see sa/store/alias.h
 *
 * Each table has two indexes: by key, and by the owner of a row. The owner is the port that a
 * service, subscription or membership belongs to, and the MLID of a group.
 *
 * An index is a B+ tree of two levels with leaves of a few kilobytes, so that an insertion
 * moves a part of one leaf only. Finding a row takes two binary searches, O(log n); the row
 * after it takes O(1).
 */
struct sa_store;

#define STORE_FOR_EVER INT64_MAX

enum { STORE_OWNED_MAX = 4096 }; /*!< default of store_set_owner_limit() */

struct store_row {
	int64_t expires;       /*!< seconds since 1970; STORE_FOR_EVER: never */
	uint16_t key_len, len;
	uint8_t bytes[];       /*!< the key, then the value */
};

static inline const uint8_t *store_value(const struct store_row *row)
{
	return row->bytes + row->key_len;
}

/*!
 * \brief Creates a store and loads the rows that the state has.
 * \param state  Borrowed; NULL: nothing is durable. \param now  Seconds since 1970.
 * \retval -ENOMEM \retval E_MALFORMED and others  The state is damaged or cannot be read.
 */
int store_new(struct state *state, int64_t now, struct sa_store **ret_store);
void store_free(struct sa_store *st); /*!< NULL is fine */

/*! \brief Discards the rows in memory and loads them again, after a batch that was not committed. */
int store_reload(struct sa_store *st);

/*! \brief Sets the time and removes the rows that have expired. Cost: O(1) if there are none. \retval -ENOMEM */
int store_expire(struct sa_store *st, int64_t now);
int64_t store_now(const struct sa_store *st);
/*! \brief The earliest time at which a row expires; STORE_FOR_EVER: none does. */
int64_t store_next_expiry(const struct sa_store *st);

/*! \brief Sets how many services, subscriptions and memberships (each) one port may have; 0: no limit. */
void store_set_owner_limit(struct sa_store *st, size_t limit);

size_t store_count(const struct sa_store *st, enum record_table table);
/*! \brief How many more rows fit into a table. Tables are bounded so that clients cannot fill the memory. */
size_t store_room(const struct sa_store *st, enum record_table table);

/*! \brief The first row whose key is not below \a key; a prefix is below all keys that begin with it. \return NULL: none. */
const struct store_row *store_seek(const struct sa_store *st, enum record_table table,
                                   const void *key, size_t key_len);
/*! \brief The next row of the table. \return NULL: none. */
const struct store_row *store_next(const struct sa_store *st, enum record_table table,
                                   const struct store_row *row);

/*! \brief The first row of an owner. \param owner  Its bytes as in the row. \return NULL: it has none. */
const struct store_row *store_first_of_owner(const struct sa_store *st, enum record_table table,
                                 const void *owner);
/*! \brief The next row of the same owner. \return NULL: that was the last. */
const struct store_row *store_next_of_owner(const struct sa_store *st, enum record_table table,
                                      const struct store_row *row);
/*! \brief The first row of the next owner after this one, or of the first owner if NULL. \return NULL: none. */
const struct store_row *store_next_owner(const struct sa_store *st, enum record_table table,
                                        const void *owner);

/*! \return NULL: none. Borrowed until the next change. */
const struct store_row *store_find(const struct sa_store *st, enum record_table table,
                                   const void *key, size_t key_len);

/*! \brief Whether an owner has at least \a n rows, n > 0. Cost: that of
 *  row_index_has(). */
bool store_owner_has(const struct sa_store *st, enum record_table table, const void *owner,
                     size_t n);

/*! \brief Adds a row or replaces the one with this key. \retval E_FULL  The table is full, or the owner has reached its limit. \retval -ENOMEM */
int store_put(struct sa_store *st, enum record_table table, const void *key, size_t key_len,
              int64_t expires, const void *value, size_t len);
/*! \retval E_NOTFOUND \retval -ENOMEM */
int store_drop(struct sa_store *st, enum record_table table, const void *key, size_t key_len);

/*! \brief Has a row of another daemon the lengths that the readers of the table rely on?
 *  \param has_value  false: only the key is of interest. \param len  As on disk. */
bool store_row_fits(enum record_table table, size_t key_len, bool has_value, size_t len);

/*! \brief Sets memory aside, so that the next \a n rows are dropped without fail. Keys have at most
 *  STATE_RESERVED_KEY_BYTES. \retval -ENOMEM */
int store_reserve_drops(struct sa_store *st, size_t n);

/*! \brief Hands over the changes since the last call; the caller commits them. \return NULL: none. */
struct state_batch *store_take_changes(struct sa_store *st);

/*! A multicast group that was created or deleted. Subscribers are notified when that is durable. */
struct store_event {
	uint8_t mgid[16];
	uint16_t p_key;
	bool created;
};

/*! \brief Adds an event. A deletion right after the creation of the same group cancels both. \retval -ENOMEM */
int store_add_event(struct sa_store *st, const struct store_event *e);

/*! \brief Hands over the events since the last call. \return Their number; the caller
 * frees *ret_event, which is NULL if there are none. */
size_t store_take_events(struct sa_store *st, struct store_event **ret_event);
