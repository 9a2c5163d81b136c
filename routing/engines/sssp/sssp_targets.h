/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct sssp;
struct why;

/*! Groups of destinations, in the order in which they are routed; each is balanced by
 * itself. */
enum sssp_group { SSSP_CN, SSSP_IO, SSSP_OTHER, SSSP_SWITCH, SSSP_COUNT };

/*! LIDs of one group on one switch. */
struct sssp_target {
	uint32_t sw;
	uint32_t first; /*!< into lid */
	uint32_t n;
	enum sssp_group group;
	uint32_t offset; /*!< of the LIDs in their ranges */
};

struct sssp_targets {
	struct sssp_target *target; /*!< [n] */
	uint32_t n;
	uint32_t *lid;      /*!< [n_lids] by target */
	uint8_t *home_port; /*!< [n_lids] port that delivers */
	uint32_t n_lids;
};

/*!
 * \brief Lists them: base LIDs of all groups first; in a group switches with most hosts
 *        first, equal ones in an order that follows the cables.
 * \param notes  GUIDs of the lists that are no end port here. \retval -ENOMEM
 */
int sssp_targets_init(struct sssp_targets *ret, const struct sssp *in, struct why *notes,
                      struct arena *a);

/*! \brief Group of each port. \return [graph.n_ports], NULL: out of memory. */
uint8_t *sssp_groups(const struct sssp *in, struct why *notes, struct arena *a);

/*! \brief LIDs of the port that has most. */
uint32_t sssp_longest_range(const struct sssp *in);
