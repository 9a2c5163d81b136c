/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snap_reader;

/*!
 * Multicast groups and their members as the snapshot mirrors them, in host order, for
 * programs that speak no MADs. All functions read the pinned epoch.
 */
enum { GROUP_KEY_BYTES = 16, GROUP_MEMBER_KEY_BYTES = 32, GROUP_PORT_WORDS = 4 };

struct group {
	uint8_t key[GROUP_KEY_BYTES];      /*!< MGID in wire order; groups ascend by it */
	uint64_t mgid_prefix, mgid_suffix; /*!< its halves */
	uint32_t q_key, mlid, flow_label;
	uint16_t p_key;
	uint8_t mtu, rate, packet_life_time; /*!< codes */
	uint8_t t_class, sl, hop_limit, scope;
	bool well_known; /*!< it stays without members */
};

struct group_member {
	uint8_t key[GROUP_MEMBER_KEY_BYTES]; /*!< MGID and PortGID in wire order */
	uint64_t port_gid_prefix, port_gid_suffix;
	uint64_t port_guid;
	uint8_t join_state; /*!< bits of MCMemberRecord.JoinState */
	bool receives;      /*!< full member or non-member */
	bool proxy_join;    /*!< another port joined on behalf of this one */
};

/*!
 * \brief The first group with a key not below the given one. Rows that make no sense are
 *        passed over.
 * \param key_len  0: the first group of all.
 * \retval E_NOTFOUND  There is none. \retval E_STALE E_MALFORMED
 */
int group_from(struct snap_reader *r, const uint8_t *key, size_t key_len,
               struct group *ret_group);

/*! \brief The group with this MGID. \retval E_NOTFOUND \retval E_STALE E_MALFORMED */
int group_find(struct snap_reader *r, uint64_t mgid_prefix, uint64_t mgid_suffix,
               struct group *ret_group);

/*! \brief The group after the last one that group_from() or group_next() found. */
int group_next(struct snap_reader *r, struct group *ret_group);

/*!
 * \brief The first member of a group with a key not below the given one.
 * \param key  [GROUP_MEMBER_KEY_BYTES]; NULL: the first member.
 * \retval E_NOTFOUND  The group has no more members. \retval E_STALE E_MALFORMED
 */
int group_member_from(struct snap_reader *r, const struct group *g, const uint8_t *key,
                      struct group_member *ret_member);

/*! \brief The member after the last one that was found. No other group's members may have
 *  been read meanwhile. */
int group_member_next(struct snap_reader *r, const struct group *g,
                      struct group_member *ret_member);

/*!
 * \brief Ports of a switch that send the packets of an MLID on, from its multicast table.
 * \param ret_ports  A bit for each port; none is set where the table has no entry.
 * \retval E_STALE E_MALFORMED
 */
int group_egress_ports(struct snap_reader *r, uint64_t sw_guid, uint8_t n_ports,
                       uint32_t mlid, uint64_t ret_ports[GROUP_PORT_WORDS]);
