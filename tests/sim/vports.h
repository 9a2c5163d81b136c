/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct run;

/*!
 * Virtual ports that hypervisors add, move and remove while a simulation runs. A GUID is at one
 * host at a time, as a hypervisor sees to it.
 */
enum { VPORTS_KNOWN = 24 };

struct sim_vports {
	struct {
		uint64_t host; /*!< NodeGUID, 0: it is nowhere */
		uint32_t port; /*!< of the graph */
		uint16_t index;
		bool own;
		uint32_t
			lid; /*!< that it had when it was up, for life; 0: none was seen */
		bool misled; /*!< its host lied: it may have the LID of a GUID that was
		                invented, until all is settled */
	} known[VPORTS_KNOWN]; /*!< by GUID */
};

/*! \brief Adds, moves or removes one, or lets a host lie about its own (if \a may_lie). */
bool vports_disturb(struct run *r, uint32_t what, bool may_lie);

/*! \brief They may get other LIDs from here on: a master does not know those that they had. */
void vports_forget_lids(struct run *r);

/*! \brief All hosts tell the truth again. */
void vports_settle(struct run *r);

/*! \brief Are all virtual ports up that the judge reaches? */
bool vports_are_up(struct run *r, const bool *reached);

/*!
 * \brief LIDs of virtual ports are unique and the same for life. Settled, they are routed as their
 *        ports are, and the SA knows them.
 * \return false: violated, see run_fail().
 */
bool vports_check(struct run *r, const bool *reached, bool settled);
