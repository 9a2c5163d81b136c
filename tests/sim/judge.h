/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct manager;
struct run;
struct snap_writer;

/*!
 * The judge of local sweeps. A local sweep computes, sends and publishes only what it believes to
 * have changed. After each the judge does all of it anew from the answers that the sweep
 * had, and compares: the graph, the tables that switches are to have, and each row of the snapshot.
 */
struct judge {
	struct snap_writer *snap; /*!< what is published anew; NULL: nothing so far */
	uint64_t epoch;           /*!< of it */
	uint32_t n_seen; /*!< local sweeps of the manager that was looked at last */
	const struct manager *of;
	uint32_t n_judged;
};

/*! \brief After a turn of a manager. \return false: something differs, see run_fail(). */
bool judge_turn(struct run *r, struct manager *m);

/*! \brief Closes the snapshot. Zeroed is fine. */
void judge_done(struct judge *j);
