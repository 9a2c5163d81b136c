/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct sssp;
struct why;

/*! Groups of destinations, in the order of routing; each group is balanced by itself. */
enum sssp_group { SSSP_CN, SSSP_IO, SSSP_OTHER, SSSP_SWITCH, SSSP_COUNT };

/*! LIDs of one group on one switch. */
struct sssp_target {
	uint32_t sw;
	uint32_t first; /*!< into lid */
	uint32_t n;
	enum sssp_group group;
	uint32_t offset; /*!< index of the LIDs in their LMC ranges */
};

struct sssp_targets {
	struct sssp_target *target; /*!< [n] */
	uint32_t n;
	uint32_t *lid;      /*!< [n_lids] by target */
	uint8_t *home_port; /*!< [n_lids] last port to the destination */
	uint32_t n_lids;
};

/*! \brief Lists destinations: base LIDs of all groups first; in a group switches with
 * most hosts first, equal ones in an order that follows the cables. \param notes
 * GUIDs of the lists that are no end port of the fabric. \retval -ENOMEM */
int sssp_targets_init(struct sssp_targets *ret_targets, const struct sssp *in,
                      struct why *notes, struct arena *a);

/*! \brief Group of each port. \return [graph.n_ports], NULL: out of memory. */
uint8_t *sssp_groups(const struct sssp *in, struct why *notes, struct arena *a);

/*! \brief The largest number of LIDs of a port. */
uint32_t sssp_longest_range(const struct sssp *in);
