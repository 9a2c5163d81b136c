/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/err.h"
#include "conf/config.h"
#include "db/snapshot/reader.h"

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
	uint64_t src_alias, dst_alias; /*!< alias GUIDs by which they were named, 0: records show PortGUIDs */
	uint32_t slid, dlid;       /*!< side fixed to this LID, 0: all LIDs of the port */
	enum path_selection mode;
	uint32_t numb_path;        /*!< most paths wanted, 0: no limit */
	struct path_limit mtu, rate, packet_life_time;
	bool has_p_key, has_sl, has_service_id, has_qos_class;
	bool raw_traffic;          /*!< raw packets have no P_Key: that of the query is for the policy's rules alone */
	bool reversible;           /*!< only paths whose route back exists */
	uint16_t p_key;            /*!< with or without the membership bit */
	uint16_t qos_class; /*!< the policy may decide by it, and by the service ID */
	uint8_t sl;
	uint64_t service_id;
};

/*! Limits that the policy sets for a query. */
struct path_level {
	uint16_t p_key;         /*!< as it stands in the source's table */
	uint8_t sl;             /*!< POLICY_ANY: that of the lane */
	uint8_t qos;            /*!< where sl is given: its level of snap_sl() */
	uint8_t mtu, rate;      /*!< limits, 0: none */
	uint8_t life_time;      /*!< POLICY_ANY: that of the route */
	uint8_t life_time_mult; /*!< times 2^this */
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

/*! One switch of a route. Between the two ends of one cable there is none. */
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
 * its port has. No pair comes twice. Minimal begins Pairwise, Pairwise begins OrderAll.
 *
 * \return false: k is past the last.
 * Cost: O(1).
 * Source: the PathSelection parameter of the Omni-Path fabric manager's manual.
 */
bool path_order(enum path_selection mode, unsigned n, unsigned m, int fixed_src, int fixed_dst,
                unsigned k, unsigned *ret_s, unsigned *ret_d);

/*! \brief How many pairs a mode gives when no side is fixed. */
unsigned path_order_count(enum path_selection mode, unsigned n, unsigned m);

/*!
 * The records of one query, one after the other, without memory of its own:
 *
 *   ret = path_iter_init(&it, r, &q);
 *   while (ret == E_OK && path_iter_next(&it, &rec)) ...
 *
 * Reader and query are borrowed as long as the iterator is used, the epoch stays pinned.
 */
struct path_iter {
	struct snap_reader *r;
	const struct path_query *q;
	unsigned n, m, k;         /*!< LIDs of each side, next position in the order */
	int fixed_src, fixed_dst;
	bool loopback;
	uint32_t given;           /*!< records handed out */
	uint32_t routed;          /*!< pairs that have a route, wanted or not */
	int ret;                  /*!< why it ended: E_OK, or -errno and E_MALFORMED of the database */
	const struct policy *policy; /*!< of the epoch, NULL: none */
	uint32_t next_rule;          /*!< of the policy, for the level after this one */
	struct path_level level;
	struct path_record same;  /*!< what all records share */
};

/*! \brief Checks the query. \retval E_NOPATH (an end without LID) E_PARTITION E_POLICY E_RANGE, as path_query_run(). */
int path_iter_init(struct path_iter *it, struct snap_reader *r, const struct path_query *q);

/*! \brief Is this why a pair of ports has no paths, which is no failure? */
static inline bool path_none(int ret)
{
	return ret == E_NOPATH || ret == E_PARTITION || ret == E_POLICY;
}

/*! \brief Next record that matches. \return false: no more, or it->ret is set. */
bool path_iter_next(struct path_iter *it, struct path_record *ret_record);

/*!
 * \brief Answers a query from a pinned snapshot.
 *
 * Selectors: MTU and rate can be used below what a path allows, so "exactly" and "less than"
 * lower them to the value asked or the next one below; "greater than" and "largest" give the
 * path's own. A packet life time is a bound from above: it can be stated longer, never
 * shorter, so "exactly" and "greater than" raise it; "less than" and "smallest" give the
 * path's own. Rates are compared by speed, not by code.
 *
 * A policy (db/snapshot/policy.h) decides first: by service ID, QoS class, P_Key and the two ends it
 * finds levels, whose SL, limits, life time and P_Key the paths have; with virtual fabrics
 * several, whose paths come one after the other, those of one SL and P_Key together once. The SL
 * of a level means a QoS class: on routing that takes several lanes the paths have the SL that
 * the class has on their lane.
 *
 * \param ret_record    At most \a max records, in the mode's order, those that match.
 * \param ret_n  How many; may be 0 with E_OK when selectors exclude all.
 * \retval E_NOPATH     Routes of every pair are missing (different parts, holes).
 * \retval E_PARTITION  No common P_Key, or not the one asked for.
 * \retval E_POLICY     The policy has no level for this query.
 * \retval E_RANGE      A selector, value or mode that does not exist, or a LID that is not the port's.
 * \retval E_MALFORMED  A stored value makes no sense.
 * Cost: two array reads per record, and two more to see whether the route back exists.
 * Source: IBA vol. 1, 15.2.5.16 and 15.2.5.17 (PathRecord components and selectors).
 */
int path_query_run(struct snap_reader *r, const struct path_query *q,
                   struct path_record *ret_record, size_t max, size_t *ret_n);

/*!
 * \brief Walks the LFTs from a source LID to a destination LID.
 * \param ret_hop    At most PATH_HOPS_MAX hops. None between the ends of one cable, or
 *        from a port to itself.
 * \param ret_n  Filled on E_OK, E_NOPATH and E_LOOP.
 * \retval E_NOTFOUND  Nobody has one of the LIDs.
 * \retval E_NOPATH    A hole; the hops up to and with the switch without a route are filled (its out_port: where
 *                     the table points, 0xff nowhere).
 * \retval E_LOOP      The hops up to the switch that is passed twice are filled.
 */
int path_hops(struct snap_reader *r, uint32_t slid, uint32_t dlid,
              struct path_hop *ret_hop, unsigned *ret_n);

/*! The meaning of a selector text. */
struct endpoint {
	struct snap_end end;
	uint32_t lid;      /*!< the LID written, 0: not named by LID, so all LIDs of the port count */
	uint64_t alias;    /*!< the alias GUID written, 0: not named by one */
};

struct endpoint_candidates {
	unsigned n;        /*!< kept */
	unsigned total;    /*!< E_AMBIGUOUS: end ports that fit; E_NOTFOUND: as n */
	char text[8][128]; /*!< selectors that would be unambiguous ("description:port", GUIDs), or near descriptions */
	char what[8][96];  /*!< what each is: "ca h00000 port 1, LID 5" */
};

/*!
 * \brief End port by text: a LID (number), GUID (port, alias, or node with one end port), GID (IPv6
 *        form; the prefix must be the subnet's or link-local), node description, or
 *        "description:port" (also "guid:port").
 *
 * Tried in that order; the first form that names something decides. Descriptions are compared
 * as written first, without regard to case when that finds nothing. End ports have a LID.
 *
 * \param c  Filled for E_AMBIGUOUS (the candidates) and E_NOTFOUND (descriptions that are near); may be NULL.
 * \retval E_SYNTAX     Empty, longer than 127 bytes, or with control characters.
 * \retval E_NOTFOUND E_AMBIGUOUS
 * Cost: a few look-ups; a walk over all nodes when the text is no exact name.
 */
int endpoint_resolve(struct snap_reader *r, const char *text,
                     struct endpoint *ret_endpoint, struct endpoint_candidates *c);

/*!
 * \brief Likewise, but only as written, and without candidates: for many texts at once.
 * \retval E_SYNTAX E_NOTFOUND E_AMBIGUOUS  Cost: a few look-ups.
 */
int endpoint_find(struct snap_reader *r, const char *text, struct endpoint *ret_endpoint);
