/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Is another SM master, too? A master asks this beside what it does, when it may have been
 * replaced, and remembers who was. Writes wait meanwhile, but not for long, so that an SM that does not answer
 * delays a sweep by HOLD_TRIES time-outs at most.
 */
#include "sa/sm/manager/election.h"

#include <infiniband/umad_sm.h>
#include <inttypes.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "sa/mad/notice.h"
#include "sa/sm/discover/trap.h"
#include "sa/sm/sm.h"

enum { HOLD_TRIES = 2 };

static const char *const source = "sweep";

/* A higher master that refused the fabric is asked again when its pause is over, whatever others are
 * asked for until then. */
static void plan_next(struct election *e, uint64_t now)
{
	bool pauses = e->passed_over.offered &&
	              e->passed_over.pause < HANDOVER_PAUSE_MS &&
	              now < e->passed_over.until;

	e->doubt.wanted = pauses;
	e->doubt.at = e->passed_over.until;
}

void election_doubt(struct election *e, bool hold, const char *why)
{
	const struct job *known = sm_known_job(e->sm);
	struct disc *d = known != NULL ? (struct disc *)&known->disc : NULL;
	uint64_t now = sm_now(e->sm);

	plan_next(e, now);
	if (e->state != SM_MASTER || d == NULL || e->doubt.arena != NULL) {
		return;
	}
	e->doubt.arena = arena_new();
	if (e->doubt.arena == NULL) {
		sm_request_heavy(e->sm, "out of memory while other SMs are asked");
		return;
	}
	e->doubt.again = now + DOUBT_AGAIN_MS;
	e->doubt.seen = (struct sm_answers){ .pending = 0 };
	for (uint32_t i = 0; i < d->g->n_end_ports; i++) {
		election_ask_beside(e, d, d->g->end_ports[i], e->doubt.arena,
		                    &e->doubt.seen);
	}
	if (hold && e->doubt.seen.pending != 0) {
		log_info(source, "%s: asks who is master before it writes more", why);
		e->doubt.holds = true;
		e->doubt.until =
			now + (uint64_t)HOLD_TRIES * e->sm->d.config->transaction_timeout;
		smp_set_writes(e->sm->smp, SMP_WRITES_WAIT);
	}
}

void election_doubt_later(struct election *e)
{
	e->doubt.wanted = true;
	e->doubt.at = sm_now(e->sm) + DOUBT_AGAIN_MS;
}

/* As election_doubt_later(), but at once, though not more than once in DOUBT_AGAIN_MS. */
static void doubt_at_once(struct election *e)
{
	uint64_t now = sm_now(e->sm);

	e->doubt.wanted = true;
	e->doubt.at = now > e->doubt.again ? now : e->doubt.again;
}

void election_heard_trap(struct election *e, const uint8_t *notice)
{
	const struct job *known = sm_known_job(e->sm);
	uint32_t port;

	if (e->state != SM_MASTER || known == NULL ||
	    field_get(notice, NTC_TRAP_NUMBER) != UMAD_SM_LOCAL_CHANGES_TRAP) {
		return;
	}
	port = trap_owner(known->program.lids, notice_issuer(notice));
	if (port == GRAPH_NONE ||
	    !(known->disc.g->ports[port].capability_mask & CAP_IS_SM)) {
		return;
	}
	if (known->disc.g->ports[port].guid == e->passed_over.guid &&
	    e->passed_over.pause < HANDOVER_PAUSE_MS) {
		e->passed_over.until = 0; /* it refused, and has found us now */
	}
	doubt_at_once(e);
}

bool election_misses_one(const struct election *e)
{
	const struct job *j = e->sm->job;

	for (unsigned i = 0; i < ELECTION_SEEN; i++) {
		if (e->seen[i].guid != 0 &&
		    sm_now(e->sm) < e->seen[i].at_ms + MISSED_MS && j != NULL &&
		    j->disc.g != NULL &&
		    graph_port_by_guid(j->disc.g, e->seen[i].guid) == GRAPH_NONE) {
			return true;
		}
	}
	return false;
}

/* Where an SM is remembered; with 0: where one can be. ELECTION_BESIDE: nowhere. */
static unsigned find_beside(const struct election *e, uint64_t guid)
{
	unsigned i = 0;

	while (i < ELECTION_BESIDE && e->beside[i].guid != guid) {
		i++;
	}
	return i;
}

void election_beside(struct election *e, uint64_t guid, bool announced)
{
	unsigned i = find_beside(e, guid);

	i = i < ELECTION_BESIDE ? i : find_beside(e, 0);
	if (e->state == SM_MASTER && i < ELECTION_BESIDE) {
		e->beside[i].guid = guid;
		e->beside[i].announced = announced;
	}
}

void election_beside_forget(struct election *e, uint64_t guid)
{
	unsigned i = find_beside(e, guid);

	if (i < ELECTION_BESIDE) {
		e->beside[i].guid = 0;
	}
}

void election_beside_ended(struct election *e, uint64_t guid)
{
	unsigned i = find_beside(e, guid);

	if (guid == 0 || i == ELECTION_BESIDE) {
		return;
	}
	e->beside[i].guid = 0;
	election_join_wanted(e, guid, e->beside[i].announced,
	                     "was master, too, and is no master any more");
}

void election_beside_missing(struct election *e)
{
	const struct job *j = e->sm->job;

	for (unsigned i = 0; i < ELECTION_BESIDE; i++) {
		if (e->beside[i].guid != 0 && j != NULL && j->disc.g != NULL &&
		    graph_port_by_guid(j->disc.g, e->beside[i].guid) == GRAPH_NONE) {
			election_beside_ended(e, e->beside[i].guid);
		}
	}
}

void election_done(struct election *e)
{
	arena_free(e->doubt.arena);
	e->doubt.arena = NULL;
}

static void let_write(struct election *e)
{
	e->doubt.holds = false;
	smp_set_writes(e->sm->smp, SMP_WRITES_GO);
}

/* All have answered, or the sweep gave up asking. */
static void take_answers(struct election *e)
{
	const struct other_sm *m = &e->doubt.seen.master, *o = &e->doubt.seen.other;

	arena_free(e->doubt.arena);
	e->doubt.arena = NULL;
	if (e->state != SM_MASTER) {
		let_write(e);
		return;
	}
	e->doubt.lost = election_outranks_us(e, m);
	e->doubt.rank = e->doubt.lost || election_outranks_us(e, o);
	if (e->doubt.lost) {
		log_info(source,
		         "the SM 0x%016" PRIx64
		         " is master and higher: nothing is written any more",
		         m->guid);
		e->doubt.holds = false;
		smp_set_writes(e->sm->smp, SMP_WRITES_REFUSED);
		return;
	}
	let_write(e);
	if (m->guid != 0) {
		election_tell_priority(e, m->lid);
	}
	if (o->guid != 0 && o->state == SM_DISCOVERING) {
		election_doubt_later(
			e); /* it may have found us silent, and be master soon */
	}
}

void election_doubt_run(struct election *e)
{
	uint64_t now = sm_now(e->sm);

	election_join(e);

	if (e->doubt.arena != NULL &&
	    (e->doubt.seen.pending == 0 || smp_pending(e->sm->smp) == 0)) {
		take_answers(e);
	}
	if (e->doubt.holds && now >= e->doubt.until) {
		let_write(e);
	}
	if (e->doubt.wanted && now >= e->doubt.at) {
		election_doubt(e, false, "");
	}
}

uint64_t election_doubt_deadline(const struct election *e)
{
	uint64_t until = e->doubt.holds ? e->doubt.until : UINT64_MAX,
		 at = e->doubt.wanted ? e->doubt.at : UINT64_MAX,
		 join = election_join_at(e);

	until = until < at ? until : at;
	return until < join ? until : join;
}

bool election_doubt_ranks(struct election *e)
{
	if (!e->doubt.rank || e->state != SM_MASTER) {
		return false;
	}
	e->doubt.rank = false;
	election_begin(e);
	e->highest_master = e->doubt.seen.master;
	e->highest_other = e->doubt.seen.other;
	return true;
}

void election_doubt_end(struct election *e)
{
	e->doubt.rank = e->doubt.lost = false;
	let_write(e);
}
