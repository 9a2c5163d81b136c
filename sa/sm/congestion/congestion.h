/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/hash.h"
#include "sa/mad/request.h"
#include "sa/sm/congestion/congestion_image.h"
#include "sa/sm/table/table_io.h"

struct job;
struct sm;
struct stats;

struct congestion_counters {
	uint64_t sent, timeouts, traps, forged;
	uint32_t set, waiting, alone; /*!< ports, after the last pass */
};

/*!
 * Congestion control of InfiniBand: after each sweep the switches and the ports of channel adapters get the
 * settings that differ from what they hold (sa/sm/table). The MADs have a class of their own and go to QP 1 by LID
 * and SL 0, beside what a master does between sweeps.
 *
 * A port whose agent leaves three passes without an answer, or says that it does not have the class or an attribute,
 * is left alone until it restarts or the configuration is read again. Until then a pass follows
 * sweep_interval after the one before, as long as some port did not answer.
 *
 * Without congestion_control nothing is sent, also not to take back what was set.
 */
struct congestion {
	struct sm *sm;
	struct requests *requests; /*!< NULL: off */
	struct congestion_image image;
	struct table_io io; /*!< its counts only */
	struct hash_table cares; /*!< PortGUID -> passes without an answer; see congestion.c */
	bool passing;
	uint32_t pass;  /*!< number of the one at work, or the last one */
	uint32_t swept; /*!< sweeps when it began */
	uint32_t port;  /*!< of the graph: the next one */
	uint32_t part;  /*!< of that port */
	unsigned in_flight;
	uint64_t next_ms; /*!< the next pass, unless a sweep ends before; UINT64_MAX: none */
	struct congestion_counters counters;
};

/*! \brief Takes the options. All ports are asked again. \retval -ENOMEM  It is off. */
int congestion_configure(struct congestion *c);

/*! \brief After a discovery: forgets what ports held whose link was down since; of all, so that it is set
 *         again, if tables are to be read back. */
void congestion_forget(struct congestion *c, const struct job *j);

/*! \brief Repeats what was not answered in time, and sends what is due if it \a may_send. */
void congestion_run(struct congestion *c, bool may_send);

/*! \brief When congestion_run() has something to do, ms; UINT64_MAX: never. */
uint64_t congestion_deadline(const struct congestion *c, bool may_send);

/*! \brief Takes a MAD of this class. */
enum mad_kind congestion_receive(struct congestion *c, const struct mad_msg *m);

/*! \brief Writes the counters into the stats, for the metrics. \param to  NULL is fine. */
void congestion_figures(const struct congestion *c, struct stats *to);

void congestion_done(struct congestion *c);
