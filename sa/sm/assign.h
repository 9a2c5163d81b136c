/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "routing/graph/lids.h"

struct arena;
struct graph;
struct sm;

/*!
 * LIDs of one sweep. They are assigned from what the durable state remembers, and made
 * durable only after the tables over them have passed their proof: a refused proof leaves
 * the memory of LIDs as it was.
 */
struct assignment {
	struct lids lids;
	struct lid_memory *memory; /*!< [n_memory] what the state remembered, by GUID */
	size_t n_memory;
	uint32_t *moved; /*!< [n_moved] end ports whose base LID differs from memory */
	size_t n_moved;
};

/*!
 * \brief Assigns a LID range to every end port.
 *
 * \param reassign  Forget what is remembered (option reassign_lids, once in a process).
 * \param ret       In \a a; set on success only.
 * \retval -ENOMEM and errors of lids_assign() and state_lids(), with sm_fail().
 */
int assign_lids(struct sm *sm, const struct graph *g, struct arena *a, bool reassign,
                struct assignment *ret);

/*!
 * \brief Makes the ranges durable that differ from memory, and logs those that moved.
 *
 * \param reassign  As for assign_lids(): the state forgets all others.
 * \retval -ENOMEM and errors of state_put_lids(), with sm_fail().
 */
int assign_keep(struct sm *sm, const struct graph *g, struct arena *a, bool reassign,
                const struct assignment *as);
