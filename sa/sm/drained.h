/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/drained.h"
#include "routing/graph/drain.h"
#include "sa/sm/record_list.h"

struct arena;
struct graph;
struct job;
struct sm;

/*! Sets of switches that may change last (transition_plan_late()). When routes leave what is drained: those
 *  that nothing passes any more, with both ends of drained cables; or both ends of all links that are cut.
 *  When routes return: all but those that are back in service, with both ends of cables. */
enum { DRAINED_LATE = 3, DRAINED_BACK = 16 };

/*!
 * Nodes and cables that are out of service. This is the one mechanism for it, with a reason: an
 * operator's maintenance, or the health of a link.
 *
 * A request is checked against the fabric as it is known, becomes a row of the state, and asks for a
 * sweep. Each sweep gives routing the fabric without what is drained (routing/graph/drain.h), so the
 * routes leave it by the same proof and the same transition as for a lost cable, while it still
 * carries what is on its way.
 *
 *   request --refused: pairs of other hosts, or the SM's own way, would be cut--> nothing changed
 *      |
 *      v
 *   DRAINING --sweep: tables are in all switches--> DRAINED --may be switched off, and on again
 *      |                                              ^ |
 *      | no engine routes without it, another one     | | another fault makes it necessary
 *      | than serves, or no order of updates leaves   | v
 *      | each host its routes (force allows that)   NEEDED: routes use it until others exist
 *      '--> refused by an event, row gone
 *
 *   any --end, or its time has come--> row gone; a sweep moves routes back
 *
 * A host carries no traffic of others. Its row, and that of its cable, is QUIET: alarms alone are
 * expected.
 *
 * The rows are in the durable state, so that a restart and a standby that takes over go on where the
 * last sweep was.
 */
struct drained {
	struct drained_row *list; /*!< [n] malloc; by NodeGUID, port and reason */
	size_t n;
	struct record_list rows;
	uint64_t cut;      /*!< drained_plan.cut of the last routing */
	uint64_t failed;   /*!< graph_digest() of a fabric that could not be routed; 0: none */
	uint64_t back[DRAINED_BACK]; /*!< [n_back] NodeGUIDs of switches to which routes return */
	unsigned n_back;
	unsigned back_sweeps; /*!< that still have to give them routes */
	bool returned;     /*!< something is back in service: routes are balanced after the next sweep */
};

/*! Limits of a reason. A maximum of 0 is no limit. */
struct drained_limits {
	uint32_t rows;          /*!< rows of this reason at the same time */
	uint8_t switch_percent; /*!< of the cables to switches that either switch has */
};

struct drained_request {
	enum drained_reason reason;
	bool end;          /*!< back to service, in place of out of it */
	bool dry_run;      /*!< only what would happen */
	bool force;        /*!< also if pairs of other hosts lose their routes */
	const char *place; /*!< NAME, GUID or LID: the node; with :PORT the cable there; NULL: */
	uint64_t node_guid; /*!< the cable of this port; port 0: the node */
	uint8_t port;
	int64_t until_s;   /*!< when it ends by itself, seconds since 1970; 0: never */
	const char *by;    /*!< who asks, for the row and the events; NULL: not known */
	const char *note;  /*!< NULL: none */
	const struct drained_limits *limits; /*!< NULL: none */
};

struct drained_outcome {
	struct drained_row row;     /*!< as it is now, or was when it ended */
	struct drain_effect effect; /*!< of switching it off; zeros if it is not in the fabric */
	char cut_host[128];         /*!< a host that would lose routes; "": none */
	bool changed;               /*!< false: a dry run, or it was like that already */
};

/*!
 * \brief Takes something out of service, or back. Durable when it returns; a sweep follows.
 *
 * A request for a row that there is changes its end, its note and its force alone.
 *
 * \param ret_outcome  Its effect is set with E_UNSUITABLE, too.
 * \param why          Sentence on failure.
 * \retval E_NOTREADY    We are not master, or no fabric is known yet.
 * \retval E_NOTFOUND E_AMBIGUOUS E_RANGE  Of the place; there is no such row to end.
 * \retval E_UNSUITABLE  Pairs of other hosts or switches would be cut off, which \a force allows; or the
 *                       subnet manager itself, which nothing does.
 * \retval E_FULL        Above the limits.
 * \retval -ENOMEM and errors of the state
 */
int drained_request(struct sm *sm, const struct drained_request *rq,
                    struct drained_outcome *ret_outcome, char *why, size_t why_bytes);

/*! \brief When the next row ends by itself, by sm_now(); UINT64_MAX: none does. */
uint64_t drained_deadline(const struct sm *sm);

/*! \brief Ends the rows whose time has come. */
void drained_expire(struct sm *sm);

/* --- for the sweep ---------------------------------------------------------------------------- */

/*! Fabrics that routing tries, in this order, until one can be routed by the engine that serves. */
enum drained_try {
	DRAINED_ALL,  /*!< without all that is to be drained */
	DRAINED_OLD,  /*!< without what was drained before */
	DRAINED_NONE, /*!< the whole fabric */
	DRAINED_TRIES
};

/*! One routing, as it was begun. In the arena of the job. */
struct drained_plan {
	const struct graph *g[DRAINED_TRIES];
	uint64_t cut[DRAINED_TRIES]; /*!< digest of the links that are left out; 0: none are */
	struct drained_row *rows;    /*!< [n] copy of the list; state is what a good end makes of it */
	uint8_t *use;                /*!< [n] enum drained_use */
	size_t n;
	const uint8_t *late[DRAINED_LATE]; /*!< [n_switches] each; NULL: nothing is drained */
	enum drained_try used; /*!< which one was routed */
	uint64_t failed;       /*!< as in struct drained */
	char refusal[300];     /*!< why none before it; "": it is the first */
};

/*! \brief Before a routing: which fabrics it may try. \retval -ENOMEM and errors of the state */
int drained_plan(struct sm *sm, const struct job *j, struct arena *a,
                 struct drained_plan *ret_plan);

/*! \brief May no host be without a route while routes leave what is drained? Something is drained for the first
 *  time, and nobody forced that. */
bool drained_is_careful(const struct drained_plan *p);

/*! \brief After a sweep that ended well: what became of the rows. A row is drained when the tables that
 *  switches confirmed have no route through it. */
void drained_settle(struct sm *sm, const struct job *j);

void drained_done(struct drained *d);
