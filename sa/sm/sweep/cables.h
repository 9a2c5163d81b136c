/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/sm/table/table_io.h"

struct arena;
struct job;
struct sm;

/*!
 * What the modules at the ends of Omni-Path's cables say of themselves (CableInfo): who made them, and of
 * optical ones how warm they are and how much light they send and get.
 *
 * The memory of a module has 4,096 bytes, of which bytes 128 to 255 describe it. They are read once in
 * the life of a link, when the subnet is up and nothing else is to be done. While port counters
 * are read, bytes 0 to 63 of optical modules are read as often as these. A port
 * refuses the read when it has no module; it is asked again by the next sweep.
 *
 * The blocks are a table of each node (TABLE_OPA_CABLE) and are published as such.
 */
struct cables {
	struct sm *sm;
	struct arena *arena; /*!< of the reads at work */
	struct table_io io;  /*!< of these */
	uint32_t swept;      /*!< sweeps when the reads of the present fabric began */
	uint32_t node;       /*!< the next one, of its graph */
	bool live;           /*!< what changes is read again; else what is not known */
	bool changed;        /*!< since the last publish */
	uint64_t next_live;  /*!< ms */
};

/*! \brief After a discovery: forgets the modules of ports whose link was down since. */
void cables_forget(struct sm *sm, const struct job *j);

/*! \brief When cables_start() has something to do, ms; UINT64_MAX: never. */
uint64_t cables_deadline(const struct cables *c);

/*! \brief When idle: queues reads. \return false: there are none, and all that was read is published. */
bool cables_start(struct cables *c);

/*! \brief When the reads are answered. \return true: publish what they said. */
bool cables_end(struct cables *c);

void cables_done(struct cables *c);
