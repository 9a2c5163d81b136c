/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "routing/graph/port_groups.h"
#include "sa/path/path_query.h"

/*!
 * Why a path goes the way it goes, read from the pinned snapshot: at each switch the ports
 * of equal cost and the routes on them, the VL, and the cable that limits rate and MTU.
 * Nothing is computed anew, so all of it is a fact about the running tables.
 *
 * The cost of a port is the number of switches that the tables pass behind it. A port is a
 * candidate when its cable leads to a switch that is nearer by one hop, by its own table.
 * So the port in the table is a candidate itself, and ports of adaptive routing
 * (routing/proof/alternates.h) are candidates whose cables are as fast. Switches of Omni-Path are programmed
 * with these, and may move a route to them.
 */
enum path_choice {
	PATH_CHOICE_DELIVERS, /*!< the destination is cabled to this switch, or is its port 0 */
	PATH_CHOICE_ONLY,  /*!< no other port is a candidate */
	PATH_CHOICE_LEAST, /*!< no candidate of the same speed carries fewer routes */
	PATH_CHOICE_SPREAD, /*!< some carry fewer: the engine spread its routes otherwise */
	PATH_CHOICE_COUNT
};

/*! A cable from a port to the one at its far end. */
struct path_cable {
	uint64_t guid, to_guid; /*!< NodeGUIDs */
	uint8_t port, to_port;
	uint8_t rate, mtu; /*!< of both ends */
};

#define PATH_LOAD_UNKNOWN UINT32_MAX

struct path_port_choice {
	struct path_cable cable;
	uint32_t routes; /*!< on this link, all LIDs; PATH_LOAD_UNKNOWN */
	bool taken;
};

enum { PATH_CHOICES_MAX = 254, PATH_VL_UNKNOWN = 0xff };

struct path_hop_why {
	enum path_choice choice;
	struct path_cable cable; /*!< by which the packet leaves; zeros at port 0 */
	uint32_t routes;         /*!< on that cable */
	uint32_t least,
		most; /*!< routes on the candidates of its speed, itself included */
	uint8_t vl;   /*!< behind this switch; PATH_VL_UNKNOWN */
	bool vl_programmed; /*!< by the SL-to-VL table as programmed, else by the rule of the routing */
	struct port_set alternates; /*!< ports that the switch may put into its table by itself, its own
	                                 included; empty: it has no adaptive routing in force */
	unsigned n; /*!< candidates, by port number */
	struct path_port_choice port[PATH_CHOICES_MAX];
};

/*!
 * \brief Explains one switch of a path.
 *
 * \param dlid  Of \a dst.
 * \param hop   The switch, as path_hops() gives it.
 * \param rest  Switches from this one to the last one, both counted.
 * \param sl    Of the record, for the VL.
 * \retval E_NOTFOUND  The snapshot has no such port. \retval E_MALFORMED E_STALE
 * Cost: for each port that leads to a switch a walk of \a rest hops.
 */
int path_hop_why(struct snap_reader *r, const struct snap_end *dst, uint32_t dlid,
                 const struct path_hop *hop, unsigned rest, uint8_t sl,
                 struct path_hop_why *ret_why);

/*! The first slowest cable of a path and the first with the least MTU. Between the end ports
 * of one node, and on the way to a port 0 behind the last cable, there is none: guid 0. */
struct path_bounds {
	struct path_cable rate, mtu;
};

/*!
 * \brief Finds them among the cable of the source and those behind each switch.
 * \param hops  [n] as path_hops() gives them.
 * \retval E_NOTFOUND E_MALFORMED E_STALE  Cost: two look-ups per hop.
 */
int path_bounds(struct snap_reader *r, const struct snap_end *src,
                const struct path_hop *hops, unsigned n, struct path_bounds *ret_bounds);
