/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/policy/congestion.h"
#include "sa/sm/table/table_io.h"

struct arena;
struct job;
struct sm;

/*!
 * Congestion control of Omni-Path. When idle after a sweep, switches get SwitchCongestionSetting, and adapters
 * HFICongestionSetting and a control table for the MTU and the rate of their link, where they differ. CongestionInfo
 * of an adapter, which says how many blocks its table has, is read before. That of a switch is read, too, and
 * SwitchPortCongestionSetting after the switch was set; this SM sets neither. The blocks are tables of each node
 * (TABLE_OPA_CC_SWITCH and so on) and are published as such.
 *
 * Without congestion_control nothing is sent.
 */
struct congestion_opa {
	struct sm *sm;
	struct arena *arena; /*!< of the requests at work */
	struct table_io io;  /*!< of these */
	uint32_t swept;      /*!< sweeps when the present pass began */
	uint32_t node;       /*!< the next one of it */
	unsigned passes;     /*!< that were begun, up to the first that sets what is not known */
	bool read;           /*!< the pass read CongestionInfo of somebody, so another one follows */
	bool changed;        /*!< since the last publish */
};

/*! \brief After a discovery: forgets what adapters held whose link was down since. */
void congestion_opa_forget(struct sm *sm, const struct job *j);

/*! \brief When congestion_opa_start() has something to do, ms; UINT64_MAX: never. */
uint64_t congestion_opa_deadline(const struct congestion_opa *c);

/*! \brief When idle: queues requests. \return false: there are none, and all is published. */
bool congestion_opa_start(struct congestion_opa *c);

/*! \brief When they are answered. \return true: publish what they said. */
bool congestion_opa_end(struct congestion_opa *c);

void congestion_opa_done(struct congestion_opa *c);

enum { CONGESTION_OPA_BLOCK = 130 }; /*!< bytes of a block of the control table */

/*! A link, as the control table of its adapter needs it. */
struct congestion_opa_link {
	uint32_t mtu_bytes;
	uint64_t bytes_per_s;
	uint32_t cap; /*!< blocks that the adapter has */
};

/*!
 * \brief A block of the control table: CCTI_Limit, then entries by which a packet waits.
 *
 * Entry i is {shift, multiplier}: 2^-shift times multiplier times the time of a packet of the MTU. The shift is
 * the largest one with which the multiplier of the last entry fits.
 */
void congestion_opa_table(const struct congestion_opa_options *o,
                          const struct congestion_opa_link *link, uint32_t block,
                          uint8_t ret_data[CONGESTION_OPA_BLOCK]);

/*! \brief Blocks that the table needs, at most as many as there are. */
uint32_t congestion_opa_blocks(const struct congestion_opa_options *o,
                               const struct congestion_opa_link *link);
