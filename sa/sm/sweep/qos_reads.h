/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sa/sm/table/table_io.h"

struct arena;
struct election;
struct job;
struct mad_msg;
struct qos_request;
struct sm;
struct transport;

/*!
 * SL-to-VL and VL arbitration tables that a client asks for.
 *
 * Quality of service programs the tables of ports with cables, and so knows them. While it
 * is off nothing needs these tables, and a switch of 36 ports has 1,500 of them, more than
 * all else that a bring-up reads of it. So they are read for the first request: it waits
 * here while the fabric thread, when idle, reads what it asks for, publishes, and hands it
 * to the SA. The tables are kept until their port restarts, so this happens once.
 *
 * Unless the subnet is up, no request waits here: it is answered from the snapshot.
 */
struct qos_reads {
	struct sm *sm;
	const struct election *election;
	_Atomic(struct qos_request *) arrived; /*!< from the SA server, the last first; any
	                                            thread */
	struct transport *transport;           /*!< to be woken then; never changes */
	struct qos_request *first, **end;      /*!< waiting; NULL: none */
	unsigned n;
	struct arena *arena;           /*!< of the reads at work */
	struct table_io io;            /*!< of these */
	struct table **at_work; /*!< [n_at_work] both tables of nodes that are read */
	uint32_t n_at_work;
	bool unpublished; /*!< tables were read that the snapshot does not have */
};

/*! \brief Lets the SA server leave requests for such tables here (sa_server_on_tables()), or no
 *  longer. */
void qos_reads_serve(struct qos_reads *w, bool on);

/*! \brief Holds the requests that the SA server left here, or hands them back. */
void qos_reads_take_pushed(struct qos_reads *w);

/*! \brief When idle: may a request be answered once the tables that were read are published? */
bool qos_reads_want_publish(const struct qos_reads *w, const struct job *j);

/*!
 * \brief When idle: hands on the requests whose tables are published and queues reads for
 *        the others.
 * \return false: there is nothing to read.
 */
bool qos_reads_start(struct qos_reads *w, struct job *j);

/*! \brief When the reads are answered. */
void qos_reads_end(struct qos_reads *w);

/*! \brief Drops the requests that wait. */
void qos_reads_done(struct qos_reads *w);
