/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "routing/graph/graph.h"
#include "sa/path/path_query.h"

/*! The result of a walk along the forwarding tables, behind the source's own cable. */
struct path_route {
	uint8_t mtu, rate, hops;
};

/*!
 * \brief Walks the LFTs from the source's switch to the destination's LID.
 *
 * \param src   Has a switch (sw_guid != 0).
 * \param hops  [PATH_HOPS_MAX] filled as path_hops() says, or NULL.
 * \param route   On E_OK: smallest MTU and slowest rate. hops: switches passed, also on E_NOPATH and E_LOOP.
 * \retval E_NOPATH E_LOOP -errno
 * Cost: four database look-ups per hop.
 */
int path_walk(struct snap_reader *r, const struct snap_end *src, const struct snap_end *dst,
              uint32_t dlid, struct path_hop *hops, struct path_route *route);

/*! \brief The slower of two rate codes; a code that is 0 (unknown) does not count. */
static inline uint8_t path_slower(uint8_t a, uint8_t b)
{
	if (a == b || b == 0) {
		return a;
	}
	return a == 0 || rate_speed(b) < rate_speed(a) ? b : a;
}
