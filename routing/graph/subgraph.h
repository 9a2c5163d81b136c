/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "routing/graph/device_set.h"
#include "routing/graph/lids.h"

struct arena;

/*!
 * A part of a fabric as a fabric of its own: some switches with some of their ports, some
 * CAs and routers, and the cables that have both ends among them. For engines that route a
 * part (routing/engines/chains.c).
 */
struct subgraph {
	struct graph *g;     /*!< frozen */
	struct lids lids;    /*!< the same LIDs as in the whole */
	uint32_t *whole_sw;  /*!< [g->n_switches] index of a switch in the whole */
	uint32_t *whole_port; /*!< [g->n_ports] index of a port in the whole */
};

enum { SUBGRAPH_ALL_LIDS = UINT32_MAX };

/*!
 * \brief Cuts it out.
 *
 * \param switches  A switch is in by its port 0, its cables by their ports.
 * \param hosts     A CA or router port is in by itself.
 * \param path_bit  Each CA and router port keeps only the LID base + path_bit, where its
 *                  range has that; SUBGRAPH_ALL_LIDS: all of them.
 * \retval -ENOMEM
 * Cost: O(N + P log P).
 */
int subgraph_cut(const struct graph *g, const struct lids *lids,
                 const struct device_set *switches, const struct device_set *hosts,
                 uint32_t path_bit, struct arena *a, struct subgraph *ret_subgraph);
