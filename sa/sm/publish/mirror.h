/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/log.h"

struct election;
struct sm;

/*!
 * What readers see move between two publishes: client records in the snapshot and in
 * opensm-sa.dump, and the figures of the stats environment.
 *
 * Client records are mirrored once a second, and before events are written, in one transaction
 * and by what changed. ServiceKeys are not. Mirroring takes a fifth of the thread's processor time at
 * most: the pause after it is four times as long as it took. A pause feeds itself, because
 * rows that come in it make the next mirroring longer, and that the next pause. At 4 us a
 * row, pauses of this length stay stable up to 50,000 rows per second. By the wall clock it
 * would be fewer where other threads use the processor.
 */
struct mirror {
	struct sm *sm;
	bool all; /*!< all rows have to be written: it is not known which are mirrored */
	uint64_t next_ms;   /*!< not before, unless events wait */
	uint64_t rested_ms; /*!< not before in any case */
	uint64_t dumped_version; /*!< of client records in the last dump; 0: none was written */
	struct log_limit mirror_lines, dump_lines;
};

/*! \brief Mirrors client records if it is time. A failure is logged; the next one writes all. */
void mirror_records(struct mirror *m);

/*! \brief Mirrors them although less than a second has passed. A reader of an event that a switch is gone
 *  then finds what went with it (sa/sm/known.h). */
void mirror_records_soon(struct mirror *m);

/*! \brief Writes opensm-sa.dump if it is wanted (sa_db_dump) and records changed. */
void mirror_dump(struct mirror *m);

/*!
 * \brief Heartbeat: writes the figures of status, SA and election.
 *
 * \param with_stages  The job is not at work, so its stages are complete.
 */
void mirror_figures(struct sm *sm, const struct election *e, bool with_stages);
