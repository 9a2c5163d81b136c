/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/acks.h"
#include "sa/sm/record_list.h"

struct fabric_event;
struct graph;
struct sm;

/*!
 * Acknowledgements of alarms, in the durable state, so that they outlive restarts and are copied
 * to standbys. Readers make the alarms (gateway/inventory/alarms.h); here is only known which ids
 * are acknowledged.
 *
 * One ends at its `until`. It also ends with its alarm: when an event ended that
 * (db/stats/alarm_events.def), or the node or cable is there again, and nothing begins it again
 * for ACKS_QUIET_S. So a cable that comes and goes is acknowledged once. Of alarms that have no
 * such end, as those about routing, an acknowledgement lasts ACKS_UNTRACKED_S at most. At most
 * ACKS_MAX are kept.
 */
enum { ACKS_QUIET_S = 3600, ACKS_UNTRACKED_S = 7 * 86400, ACKS_MAX = 1000 };

struct acks {
	struct alarm_ack *list; /*!< [n] malloc; by id */
	size_t n, cap;
	struct record_list rows;
};

/*!
 * \brief Acknowledges an alarm, or changes that.
 *
 * \param until  When it ends, as text_until(); NULL: with the alarm.
 * \param now_s  The wall clock, seconds since 1970.
 * \param note, by  Why and who; longer ones are cut off. \param why  Sentence on failure.
 * \retval E_NOTREADY  We are not master. \retval E_SYNTAX  No alarm has such an id, or \a until is no time.
 * \retval E_RANGE  \a until is over. \retval E_FULL  Too many. \retval -ENOMEM and errors of the state
 */
int acks_put(struct sm *sm, const char *id, const char *until, const char *note, const char *by,
             int64_t now_s, char *why, size_t why_bytes);

/*! \brief Takes it back. \retval E_NOTREADY E_NOTFOUND -ENOMEM and errors of the state */
int acks_drop(struct sm *sm, const char *id, const char *by, char *why, size_t why_bytes);

/*! \brief What an event means for them. Cost: O(1) where there are none. */
void acks_note_event(struct sm *sm, const struct fabric_event *e, int64_t now_s);

/*! \brief After a heavy sweep, which found \a g: what the fabric means for them. Cost: O(acknowledgements * log nodes). */
void acks_note_sweep(struct sm *sm, const struct graph *g, int64_t now_s);

void acks_done(struct acks *a);
