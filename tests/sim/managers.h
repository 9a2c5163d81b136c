/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/config.h"
#include "sa/mad/transport.h"
#include "sa/sm/sweep.h"
#include "tests/sim/clients.h"

struct arena;
struct run;
struct snap_writer;
struct state;

/*!
 * The subnet managers of a run: each is the real sweep with databases of its own, at a port
 * of its own. One SM waits for its MADs itself; several take turns.
 */
enum { MANAGERS_MAX = 3, MANAGER_KEPT = 128 };

struct manager {
	struct transport wire; /*!< first: in front of the simulation's; drops MADs after a crash */
	struct transport *inner;
	bool detaches;        /*!< inner is closed when the process ends */
	uint32_t port;        /*!< of the graph */
	struct arena *daemon; /*!< of the present process */
	char state_dir[80], snap_dir[80];
	struct config config;
	struct state *state;
	struct snap_writer *snap;
	struct sweep_deps deps;
	struct sweep *sweep; /*!< NULL: it does not run */
	struct clients clients;
	uint64_t frozen_until;    /*!< ms; stopped as by SIGSTOP, 0: not */
	unsigned n_kept, kept_at; /*!< MADs that came meanwhile; more get lost */
	struct mad_msg kept[MANAGER_KEPT];
	uint8_t kept_bytes[MANAGER_KEPT][MAD_BYTES];
};

/*! \brief Chooses their ports and priorities. \param draw  A random number. */
bool managers_init(struct run *r, uint32_t draw);

bool manager_start(struct run *r, struct manager *m);

/*! \brief As a kill would: nothing is finished, only what was committed stays. */
void manager_kill(struct manager *m);

/*! \brief The subnet manager crashes after so many MADs and writes to its databases. */
void manager_crash_soon(struct manager *m, unsigned steps);

/*! \brief Stops it for some virtual time. What comes meanwhile waits for it. */
void manager_freeze(struct run *r, struct manager *m, uint64_t ms);

/*! \brief One turn of all that run, until \a end of the virtual clock at most. Those that
 * crashed are started again. */
bool managers_turn(struct run *r, uint64_t end);

uint64_t managers_now(const struct run *r);
