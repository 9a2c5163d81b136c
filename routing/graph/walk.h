/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct graph;
struct lids;
struct lft;

/*! The path of one packet through forwarding tables, hop by hop. */
enum { WALK_MAX = 64 }; /*!< hops after which a packet is lost */

struct walk_hop {
	uint32_t node;    /*!< node index */
	uint8_t in, out;  /*!< ports; 0 at the ends, or the port of a CA */
};

struct walk {
	struct walk_hop hop[WALK_MAX + 2]; /*!< source first, destination last where it arrives */
	uint32_t n;
};

/*!
 * \brief Follows the tables from an end port to a LID.
 *
 * \param src  Port index of a CA, router or switch port 0 with a cable.
 * \param ret_walk  What was passed, also when it does not arrive: then the last hop is
 *             where it ends.
 * \retval E_OK      It arrives at the LID's owner.
 * \retval E_NOPATH  A hole, or delivered to another port.
 * \retval E_LOOP    More than WALK_MAX hops.
 * \retval E_NOTFOUND  Nobody owns the LID.
 */
int walk_route(const struct graph *g, const struct lids *lids, const struct lft *lft,
               uint32_t src, uint32_t lid, struct walk *ret_walk);
