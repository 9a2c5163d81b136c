/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct job;
struct sm;

/*!
 * P_Key and GUID tables of ports. Both are read once and then remembered as long as the
 * port's link stays up and we stay master, because nobody else writes them. p_keys.h sets
 * P_Keys. Alias GUIDs
 * that clients registered, as the durable state has them, are set over the GUIDs of the
 * port, by difference. Those of virtual ports are, too, in blocks that vports_read_guids() has read.
 *
 * End ports have both tables. An external port of a switch has a P_Key table that matters
 * only while it enforces partitions, or is to do so; only then it is read.
 */
struct alias_guids {
	struct sm *sm;
	struct job *job;
	struct arena *arena; /*!< of the step at work, NULL: none */
	uint64_t version;    /*!< of alias GUIDs when the last step began */
	unsigned n_silent;   /*!< virtual ports that did not answer */
};

/*!
 * \brief Queues reads of the tables of which no copy is kept, and of virtual ports.
 * \param forget  No sweep ended yet since we became master: copies do not count.
 * \retval -ENOMEM
 */
int port_tables_read(struct sm *sm, struct job *j, bool forget);

/*! \brief Queues the blocks of GUIDs that differ. \retval -ENOMEM */
int alias_guids_start(struct alias_guids *a, struct job *j);

/*! \brief When they are acknowledged, or the step was given up. */
void alias_guids_end(struct alias_guids *a);

/*! \brief Did alias GUIDs change since the last start? */
bool alias_guids_changed(const struct alias_guids *a);
