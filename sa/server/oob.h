/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct sa_server;

/*!
 * Out-of-band requests: subnet administration over TCP (oob_frame.h), for hosts that need
 * no fabric port. Requests wait in the same queue as those from the fabric; all
 * connections of one address are one requester to it.
 *
 * A client sees every record, because it has no P_Key. So it is off unless the operator turns it
 * on, and is meant for a loopback address.
 */
struct oob;

enum {
	OOB_CONNECTIONS = 64,
	OOB_OF_ADDRESS = OOB_CONNECTIONS / 4 * 3
}; /*!< at a time, and those of one address; a new one displaces the one that is idle longest, or reads slowest */

struct oob_options {
	const char *listen;        /*!< "ADDR:PORT" */
	uint32_t idle_ms;          /*!< a connection without traffic for so long is closed; 0: 30 s */
	uint32_t
		least_rate; /*!< bytes a second; who takes an answer more slowly is closed; 0: 65,536 */
	uint64_t max_answer_bytes; /*!< of all answers that wait to be read; 0: 256 MiB */
};

/*!
 * \brief Listens and starts the thread.
 * \param s        Borrowed until oob_stop().
 * \param ret_why  On failure a sentence in \a a.
 * \retval E_SYNTAX -errno
 */
int oob_new(const struct oob_options *o, struct sa_server *s, struct arena *a,
            const char **ret_why, struct oob **ret_oob);

/*! \brief Ends the thread: no more requests. To be called before the server is freed, which may still bring answers. */
void oob_stop(struct oob *o);

/*! \brief After the server was freed. */
void oob_free(struct oob *o);

/*! \brief Port that it listens on. */
unsigned oob_port(const struct oob *o);
