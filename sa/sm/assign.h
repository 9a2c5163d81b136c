/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "routing/graph/lids.h"

struct arena;
struct disc;
struct graph;
struct job;
struct sm;

/*! Whose LIDs count. */
enum assign_how {
	/*! forget what is remembered: reassign_lids, once in a process */
	ASSIGN_REASSIGN = 1,
	/*! LIDs that ports have come first, because another SM gave them */
	ASSIGN_KEEP_FOUND = 2,
	/*! LIDs of guid2lid_file come first: honor_guid2lid_file */
	ASSIGN_READ_FILE = 4,
};

/*!
 * LIDs of one sweep. They are assigned from what the durable state remembers, and made
 * durable only after the tables over them have passed their proof: a refused proof leaves
 * the memory of LIDs as it was.
 */
struct assignment {
	unsigned how; /*!< of enum assign_how */
	struct lids lids;
	struct lid_memory *memory; /*!< [n_memory] what the state remembered, by GUID */
	size_t n_memory;
	uint32_t *moved; /*!< [n_moved] end ports whose base LID differs from memory */
	size_t n_moved;
	bool from_file; /*!< memory holds what guid2lid_file says */
};

/*!
 * \brief Assigns a LID range to every end port.
 *
 * An adapter of Omni-Path without MaxLID or without packets of format 16B, of its own or of the port of its switch, gets
 * none above 0xBFFF, and then the port of the subnet manager gets none, either. A guid2lid_file that cannot be read, or has wrong lines, counts for nothing; the log says so.
 *
 * \param how  Of enum assign_how.
 * \param ret_assignment  In \a a; set on success only.
 * \retval -ENOMEM and errors of lids_assign() and state_lids(), with sm_fail().
 */
int assign_lids(struct sm *sm, const struct disc *d, struct arena *a, unsigned how,
                struct assignment *ret_assignment);

/*!
 * \brief Assigns the LIDs of virtual ports that were read, behind those of ports. From then on
 *        j->program.lids has them all.
 * \retval -ENOMEM
 */
int assign_vports(struct sm *sm, struct job *j);

/*!
 * \brief Makes the ranges durable that differ from memory, and logs those that moved and those
 *        of absent ports that others got.
 * \retval -ENOMEM and errors of state_put_lids(), with sm_fail().
 */
int assign_keep(struct sm *sm, const struct graph *g, struct arena *a,
                const struct assignment *as);

/*! \brief Makes those of virtual ports durable, after assign_keep(), with the same errors. */
int assign_keep_vports(struct sm *sm, const struct job *j);

/*!
 * \brief When the fabric is up: notes which remembered ports are gone since this sweep, and
 *        which are back, and writes guid2lid_file.
 *
 * Cost: O(ports + remembered ports), and a commit when some came or went.
 * A failure to write is only logged; the next sweep tries again.
 */
void assign_note_presence(struct sm *sm, const struct graph *g, struct arena *a,
                          const struct assignment *as);
