/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/sm/multicast.h"
#include "sa/sm/port_tables.h"

struct sm;

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
