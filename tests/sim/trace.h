/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mad_msg;
struct sim;
struct snap_writer;

/*!
 * The log of a run. The log module writes to standard error, which is a file in memory
 * meanwhile.
 *
 * It is printed, with the virtual time and the number of the subnet manager before each
 * line; or its lines are counted: those that differ in nothing but numbers, names and
 * times are the same. The counts of some seeds, with those of their MADs, are in
 * tests/golden/simulate, so that a change of what the subnet manager does is noticed
 * even where no invariant is violated. So do sums of all that it wrote: MADs and lines as they are, and
 * the rows of the snapshots at the end.
 */

/*! \brief Takes standard error. Without memory for that, lines have no time. */
void trace_begin(void);

/*! \brief Are lines counted from now on, instead of being printed? */
void trace_count(bool instead);

/*! \brief Prints or counts what manager number \a who has written since the last call;
 * nothing unless traced. */
void trace_print(uint64_t now_ms, unsigned who);

/*! \brief Adds a MAD that leaves a subnet manager to the sums. Its transaction ID is no part of them. */
void trace_count_mad(const struct mad_msg *m);

/*! \brief Adds the requests of a run that ends, and its virtual time. */
void trace_count_run(const struct sim *s, uint64_t now_ms);

/*! \brief Adds the snapshot of a subnet manager at the end of a run to the sums. */
void trace_count_snapshot(struct snap_writer *w);

/*! \brief Prints the sums of a run that ended: of the counts, of lines, of MADs and of rows; where lines are
 * counted. */
void trace_end_run(uint32_t seed);

/*! \brief Prints the counts of all runs. */
void trace_print_counts(void);
