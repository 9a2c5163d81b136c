/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct partitions;
struct state;
struct state_batch;

/*!
 * Partitions that operators make and change at run time. They are kept in the state, so they
 * outlive the daemon, and a standby has them, too. They are laid over the partitions of the
 * configuration, which they never change: a partition of the configuration may get further
 * members, and reading the configuration again leaves them as they are. Each change that
 * changes something raises the version by one (runtime_change.h).
 */
enum {
	RUNTIME_NAME_MAX = 127,       /*!< bytes of a name */
	RUNTIME_MEMBERS_MAX = 1000000 /*!< of all partitions together */
};

struct runtime_member {
	uint64_t guid;      /*!< PortGUID, also of a port that is not there */
	uint8_t membership; /*!< enum partition_membership; 0 in a change: that of the
	                       partition */
};

struct runtime_partition {
	const char *name;                     /*!< "" without one */
	const struct runtime_member *members; /*!< [n_members] by GUID */
	uint32_t n_members;
	uint64_t version;   /*!< of its last change */
	int64_t changed_s;  /*!< when that was, seconds since 1970 */
	uint16_t p_key;     /*!< 15 bits */
	uint8_t membership; /*!< of members that come without one */
	bool indx0, ipoib;
	uint8_t sl, rate, mtu; /*!< of its broadcast group; rate and mtu are codes */
};

struct runtime_partitions {
	struct arena *arena;                 /*!< holds all of it */
	const struct runtime_partition *all; /*!< [n] by P_Key */
	uint32_t n;
	uint32_t n_members; /*!< of all */
	uint64_t version;
	int64_t changed_s;
};

/*!
 * \brief Reads what the state has.
 * \param state  NULL: there are none.
 * \retval E_MALFORMED  It is damaged. \retval -ENOMEM and others
 */
int runtime_load(struct state *state, struct runtime_partitions **ret_partitions);
void runtime_free(struct runtime_partitions *r); /*!< NULL is fine */

/*! \brief An empty list with room for \a n partitions. \return NULL: out of memory. */
struct runtime_partitions *runtime_new(uint32_t n);

/*! \return NULL: none. */
const struct runtime_partition *runtime_find(const struct runtime_partitions *r,
                                             uint16_t p_key);

/*! \brief Makes a batch durable, also at standbys that are in step. Takes it. \retval -errno
 *  E_FULL  Nothing of it is stored. */
int runtime_store(struct state *state, struct state_batch *batch);

/*!
 * \brief Partitions in effect: those of the configuration with what was made at run time.
 *        Members made at run time come last, so they count where both name a port.
 * \param ret_partitions  In \a a; borrows from \a configured, but not from \a r.
 * \retval -ENOMEM
 */
int runtime_merge(const struct partitions *configured, const struct runtime_partitions *r,
                  struct arena *a, const struct partitions **ret_partitions);
