/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/sm/multicast.h"
#include "sa/sm/table/table_io.h"

struct arena;
struct job;
struct sm;

/*!
 * Alias GUIDs that clients registered, as the durable state has them. They are set over the GUIDs
 * of the port, by difference.
 */
struct alias_guids {
	struct sm *sm;
	struct job *job;
	struct arena *arena; /*!< of the step at work, NULL: none */
	uint64_t version;    /*!< of alias GUIDs when the last step began */
	struct table_io io;
};

/*! \brief Queues the blocks of GUIDs that differ. \retval -ENOMEM */
int alias_guids_start(struct alias_guids *a, struct job *j);

/*! \brief When they are acknowledged, or the step was given up. */
void alias_guids_end(struct alias_guids *a);

/*! \brief Did alias GUIDs change since the last start? */
bool alias_guids_changed(const struct alias_guids *a);

/*! \brief Blocks of GUIDs that the last start sent. */
static inline uint32_t alias_guids_sets(const struct alias_guids *a)
{
	return a->io.n_sets[TABLE_GUIDS];
}

/*!
 * Tables that follow from client records: multicast trees and alias GUIDs. Heavy sweeps
 * program them with all others; between sweeps they are programmed alone, when a client
 * wrote a record.
 */
struct client_tables {
	struct sm *sm;
	struct multicast multicast;
	struct alias_guids alias_guids;
	uint64_t began, next; /*!< ms; not before next */
};

/*! \brief Did clients write something that is not programmed yet? */
bool client_tables_changed(const struct client_tables *c);

/*! \brief Queues the requests for what changed, over sm->job. */
void client_tables_start(struct client_tables *c);

/*!
 * \brief When they are answered.
 * \return true: tables were sent, and the snapshot is to be published.
 */
bool client_tables_end(struct client_tables *c);

/*! \brief When the step is over: the next one begins only after as long as this one took, so a flood
 *  of joins has half of the thread's time. */
void client_tables_pause(struct client_tables *c);

/*! \brief Frees what a step at work holds. */
void client_tables_done(struct client_tables *c);
