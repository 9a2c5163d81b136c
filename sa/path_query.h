/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/config.h"
#include "db/reader.h"

/*!
 * Path query: the one core behind the SA, HTTP and the command line. No transport, no JSON.
 */

/*! Selector of MTU, Rate, PacketLifeTime (IBA vol. 1, 15.2.5.16). */
enum path_selector { SEL_GREATER, SEL_LESS, SEL_EXACT, SEL_LARGEST };

struct path_limit {
	bool given;
	uint8_t selector; /*!< enum path_selector */
	uint8_t value;    /*!< code */
};

struct path_query {
	struct snap_end src, dst;
	uint32_t slid, dlid;       /*!< side fixed to this LID, 0: all LIDs of the port */
	enum path_selection mode;
	uint32_t numb_path;        /*!< most paths wanted, 0: no limit */
	struct path_limit mtu, rate, packet_life_time;
	bool has_p_key, has_sl;
	uint16_t p_key;            /*!< with or without the membership bit */
	uint8_t sl;
};

/*! PathRecord in host order; names are the specification's in snake case. */
struct path_record {
	uint64_t service_id;
	uint64_t dgid_prefix, dgid_guid, sgid_prefix, sgid_guid;
	uint32_t dlid, slid;
	uint32_t flow_label;
	uint16_t p_key, qos_class;
	uint8_t raw_traffic, hop_limit, t_class, reversible, numb_path, sl;
	uint8_t mtu_selector, mtu, rate_selector, rate;
	uint8_t packet_life_time_selector, packet_life_time, preference;
	uint8_t hops;              /*!< switches passed; not part of the wire record */
};

/*! One switch on the way (or the two ends of a direct cable: none). */
struct path_hop {
	uint64_t node_guid;
	uint32_t lid;      /*!< base LID of the switch */
	uint8_t in_port;   /*!< where the packet comes in; 0: it starts at this switch's port 0 */
	uint8_t out_port;  /*!< 0: it ends at this switch's port 0 */
};

enum { PATH_HOPS_MAX = 64 };

/*!
 * \brief k-th (SLID offset, DLID offset) of a mode, for N source and M destination LIDs.
 *
 * N and M are powers of two (1-128). Fixed sides pass fixed_src or fixed_dst >= 0 (the
 * offset F in its range); that side then has just this LID, N or M still say how many LIDs
 * its port has. No pair comes twice.
 *
 * \return false: k is past the last.
 * Cost: O(1) for minimal, pairwise, srcdstall; at most O(N * M) for orderall's rest.
 * Source: the PathSelection section of the fabric manual; order table in house of doc/paths.
 */
bool path_order(enum path_selection mode, unsigned n, unsigned m, int fixed_src, int fixed_dst,
                unsigned k, unsigned *ret_s, unsigned *ret_d);

/*!
 * \brief Answers a query from a pinned snapshot.
 *
 * \param ret    At most \a max records, in the mode's order, those that match.
 * \param ret_n  How many; may be 0 with E_OK when selectors exclude all.
 * \retval E_NOPATH     Routes of every pair are missing (different parts, holes).
 * \retval E_PARTITION  No common P_Key, or not the one asked for.
 * \retval E_RANGE      A selector or value that does not exist.
 * \retval E_MALFORMED  A stored value makes no sense.
 * Cost: two array reads per record.
 */
int path_query_run(struct snap_reader *r, const struct path_query *q, struct path_record *ret,
                   size_t max, size_t *ret_n);

/*!
 * \brief Walks the LFTs from a source LID to a destination LID.
 * \param ret  At most PATH_HOPS_MAX hops.
 * \retval E_NOPATH  A hole; ret_n hops up to the switch without a route are filled.
 * \retval E_LOOP
 */
int path_hops(struct snap_reader *r, uint32_t slid, uint32_t dlid,
              struct path_hop *ret, unsigned *ret_n);

/*! What a selector text named. */
struct endpoint {
	struct snap_end end;
	uint32_t lid;      /*!< the LID written, 0: not named by LID, so all LIDs of the port count */
};

struct endpoint_candidates {
	unsigned n;        /*!< kept */
	unsigned total;
	char text[8][128]; /*!< selectors that would be unambiguous: "description:port" or GUIDs, with what they are */
};

/*!
 * \brief End port by text: a LID (number), GUID (port, or node with one end port), GID (IPv6
 *        form; the prefix must be the subnet's or link-local), node description, or
 *        "description:port" (also "guid:port").
 *
 * \param c  Filled for E_AMBIGUOUS (the candidates) and E_NOTFOUND (descriptions that are near); may be NULL.
 * \retval E_SYNTAX E_NOTFOUND E_AMBIGUOUS
 */
int endpoint_resolve(struct snap_reader *r, const char *text, struct endpoint *ret,
                     struct endpoint_candidates *c);
