/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct mad_msg;
struct sa_server;

/*!
 * The out-of-band door: subnet administration requests over TCP (oob_frame.h), from hosts
 * that need no fabric port. Requests wait in the same queue as those from the fabric; all
 * connections of one address are one requester to it.
 *
 * Who gets in sees every record: there is no P_Key to go by. So it is shut unless the
 * operator opens it, and is meant for a loopback address.
 */
struct oob;

enum { OOB_CONNECTIONS = 64 }; /*!< at a time; a newcomer takes the place of the one idle longest */

struct oob_options {
	const char *listen;        /*!< "ADDR:PORT" */
	uint32_t idle_ms;          /*!< a connection on which nothing moves for so long is closed; 0: 30 s */
	/*! Takes a request for which tables have to be read first; false: it is for the SA. Any
	 * thread, until oob_stop(). NULL: none is. */
	bool (*take)(void *ctx, const struct mad_msg *m);
	void *take_ctx;
	uint64_t max_answer_bytes; /*!< all answers that wait to be read; 0: 256 MiB */
};

/*!
 * \brief Listens and starts the thread.
 * \param s        Borrowed until oob_stop().
 * \param ret_why  On failure a sentence in \a a.
 * \retval E_SYNTAX -errno
 */
int oob_new(const struct oob_options *o, struct sa_server *s, struct arena *a,
            const char **ret_why, struct oob **ret);

/*! \brief Ends the thread: no more requests. Before the server is freed, which may still bring answers. */
void oob_stop(struct oob *o);

/*! \brief After the server was freed. */
void oob_free(struct oob *o);

/*! \brief Port that it listens on. */
unsigned oob_port(const struct oob *o);
