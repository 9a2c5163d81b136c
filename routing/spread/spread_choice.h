/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/spread/spread_job.h"

/*!
 * The ports of one switch that lead closer to one destination switch, with what each
 * carries. Private to routing/spread*.c.
 */
enum { SPREAD_MASK_BITS = 64 };

struct spread_choice {
	struct spread_ports p;
	uint64_t load[SPREAD_PORTS_MAX]; /*!< routes of this round << 32 | of earlier ones */
	uint64_t least;      /*!< smallest load; this and the next two are set when asked for */
	unsigned n_least;    /*!< ports that have it; 0: not found yet */
	uint64_t least_mask; /*!< bit per port that has it, of the first SPREAD_MASK_BITS */
	const bool *ignored; /*!< by port number: its routes do not count; NULL: none */
	uint8_t at[SPREAD_PORTS_MAX]; /*!< by port number: its index; of other ports anything */
};

/*! \brief Finds them. */
void spread_find_choice(const struct spread_job *j, uint32_t s, uint32_t t,
                        struct spread_choice *c);

/*! \brief Writes the loads back to the job. */
void spread_store_loads(const struct spread_job *j, uint32_t s,
                        const struct spread_choice *c);

/*! \brief Finds the least loads unless they are known. */
void spread_find_least(struct spread_choice *c);

/*! \brief Adds port \a i of another choice of the same switch. */
void spread_copy_port(struct spread_choice *c, const struct spread_choice *from, unsigned i);

/*! \brief Adds routes to port \a i. */
void spread_add_load(struct spread_choice *c, unsigned i, uint32_t flow);

/*! \brief First of the least loaded, searching from \a start. */
unsigned spread_pick_least(struct spread_choice *c, unsigned start);

/*! \brief The neighbour of the lowest index. */
unsigned spread_pick_lowest_peer(const struct spread_choice *c);

/*!
 * \brief A port for a further LID of a port, away from those of its lower LIDs.
 *
 * By priority: a port that the fewest lower LIDs take, a neighbour system that none goes
 * through, a node likewise, the share of each of these; then a port that takes few of
 * those that come by the same link, a neighbour that carries none of them on any way, and
 * the least load, searching from \a start.
 *
 * \param base    Base LID; \a offset of the LID in its range, from 1.
 * \param hosts   The LID is a host's: lower LIDs count where traffic passes, and so does
 *                load. For switches all lower LIDs count, and load does not.
 */
unsigned spread_pick_apart(const struct spread_job *j, uint32_t s, uint32_t base,
                           unsigned offset, struct spread_choice *c, unsigned start,
                           bool hosts);

/*! \brief Does no lower LID of the range leave the switch through port \a i? */
bool spread_is_free(const struct spread_job *j, uint32_t s, uint32_t base,
                    unsigned offset, const struct spread_choice *c, unsigned i);

/*! \brief After a round: notes which of its LIDs pass each switch. */
void spread_note_carried(const struct spread_job *j);

/*! \brief After a pass: LIDs that no host sends through a switch, to the ports with the
 * fewest. */
void spread_unused(const struct spread_job *j);

/*! \brief The LIDs of switches and what hangs on the switch itself; after all rounds. */
int spread_switches(const struct spread_job *j, struct arena *tmp);
