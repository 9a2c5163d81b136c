/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/client_records.h"
#include "sa/mad/fields.h"

struct sa_store;
struct snap_end;
struct snap_reader;
struct store_row;

/*!
 * Multicast groups and their members, as rows of the store:
 *
 *   groups   MGID (16 bytes)                 -> struct mcast_group_row
 *   members  MGID, PortGID (32 bytes)        -> struct mcast_member_row
 *
 * A group is deleted with its last full member, unless it is well-known.
 */
enum { MGID_BYTES = 16, MC_RECORD_BYTES = 52, MC_MEMBER_KEY_BYTES = 32 };

/*! Components of MCMemberRecord. */
enum {
	MC_MGID,
	MC_PORT_GID,
	MC_Q_KEY,
	MC_MLID,
	MC_MTU_SELECTOR,
	MC_MTU,
	MC_T_CLASS,
	MC_P_KEY,
	MC_RATE_SELECTOR,
	MC_RATE,
	MC_LIFE_SELECTOR,
	MC_LIFE,
	MC_SL,
	MC_FLOW_LABEL,
	MC_HOP_LIMIT,
	MC_SCOPE,
	MC_JOIN_STATE,
	MC_PROXY_JOIN,
	MC_RESERVED,
	MC_COUNT
};

/*! The fields of MCMemberRecord, by component. */
extern const struct sa_field mcast_fields[MC_COUNT];

/*! The first multicast LID of 32 bits, as in Omni-Path's layouts; the first one of 16 bits is
 * MLID_FIRST. */
#define MLID32_FIRST UINT32_C(0xf0000000)

/*! JoinState. */
enum {
	MC_FULL_MEMBER = 1,
	MC_NON_MEMBER = 2,
	MC_SEND_ONLY_NON_MEMBER = 4,
	MC_SEND_ONLY_FULL_MEMBER = 8,
	MC_KEEPS_GROUP = MC_FULL_MEMBER | MC_SEND_ONLY_FULL_MEMBER,
	MC_RECEIVES = MC_FULL_MEMBER | MC_NON_MEMBER
};

/*! Selectors: how the value compares with the requested one. */
enum { MC_GREATER, MC_LESS, MC_EXACTLY, MC_LARGEST };

struct mcast_group_row {
	uint8_t record[MC_RECORD_BYTES]; /*!< wire order; the components of members are 0 */
	uint8_t well_known;              /*!< stays without members */
	uint8_t reserved[3];
};

struct mcast_member_row {
	uint64_t port_guid;
	uint8_t join_state;
	uint8_t proxy_join; /*!< another port joined on behalf of this one */
	uint8_t reserved[6];
};

/*! \brief Reads and writes a component of MCMemberRecord. */
uint64_t mcast_get(const uint8_t *record, unsigned component);
void mcast_put(uint8_t *record, unsigned component, uint64_t value);

/*! \brief Decodes the row of a group or a member. \return false: the row is damaged. */
bool mcast_group_decode(const struct client_row *row,
                        struct mcast_group_row *ret_group_row);
bool mcast_member_decode(const struct client_row *row,
                         struct mcast_member_row *ret_member_row);

/*! \brief The group with this MGID. \return false: there is none. O(log n) */
bool mcast_group_find(const struct sa_store *st, const uint8_t *mgid,
                      struct mcast_group_row *ret_group_row);
/*! \brief Decodes a row of the store. \return false: NULL, or the row is damaged. */
bool mcast_group_of(const struct store_row *row, struct mcast_group_row *ret_group_row);

/*! \brief The membership of a PortGID. \return false: it has none. */
bool mcast_member_find(const struct sa_store *st, const uint8_t *mgid,
                       const uint8_t *port_gid, struct mcast_member_row *ret_member_row);

/*! \brief Enumerates the members of a group; \a *at is NULL for the first. \return PortGID, NULL: no more. */
const uint8_t *mcast_member_next(const struct sa_store *st, const uint8_t *mgid,
                                 const struct store_row **at,
                                 struct mcast_member_row *ret_member_row);

/*! \brief Whether a port joined any group with this GUID in its PortGID. Cost: its memberships. */
bool mcast_is_member_by(const struct sa_store *st, uint64_t port_guid, uint64_t guid);

/*! \retval -ENOMEM \retval E_FULL  The store is full. */
int mcast_group_put(struct sa_store *st, const struct mcast_group_row *g);
int mcast_member_put(struct sa_store *st, const uint8_t *mgid, const uint8_t *port_gid,
                      const struct mcast_member_row *m);

/*!
 * \brief Sets memory aside, so that dropping a membership, and with it the group and its members if
 *        nobody else keeps it, cannot fail half way.
 * \param port_gid  The membership; there need not be one. \retval -ENOMEM
 */
int mcast_reserve_leave(struct sa_store *st, const uint8_t *mgid, const uint8_t *port_gid);

/*! \brief Removes a membership, and the group if no full member is left. */
int mcast_member_leave(struct sa_store *st, const uint8_t *mgid, const uint8_t *port_gid);

/*! \brief Deletes a group, with its remaining members, if it has no full member and is not well-known. */
int mcast_group_drop_unused(struct sa_store *st, const uint8_t *mgid);

/*!
 * \brief The lowest free MLID that all switches can forward.
 *
 * One in 16, but no more than 64, is kept for broadcast groups, so that a host that creates
 * many groups does not keep a partition from IPoIB.
 * \param broadcast  It is for such a group.
 * \retval E_FULL  None is free. Cost: one look-up per group below it.
 */
int mcast_mlid_new(const struct sa_store *st, struct snap_reader *r, bool broadcast,
                   uint32_t *ret_lid);

/*! \brief Whether a partition has at least \a n groups. Cost: a look at each group. */
bool mcast_partition_has(const struct sa_store *st, uint16_t p_key, size_t n);

/*!
 * \brief Updates the store after a new fabric was published: creates the groups that partitions
 *        have from the start, lets go of those that they have no more, and removes the
 *        memberships of ports that left, or that left the partition of the group.
 * Cost: a look-up per port with memberships and per membership.
 */
int mcast_after_sweep(struct sa_store *st, struct snap_reader *r);

/*! \brief Whether an end port has the P_Key in its table, as full or limited member. */
bool mcast_has_p_key(struct snap_reader *r, const struct snap_end *end, uint16_t p_key);

/*! \brief Whether a value (or a rate, which is compared by speed) fits the requested one. */
bool mcast_fits_value(unsigned selector, uint64_t asked, uint64_t value);
bool mcast_fits_rate(unsigned selector, uint8_t asked, uint8_t rate);
