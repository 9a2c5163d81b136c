/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Longer than most: asking other subnet managers, choosing the master, waiting for it and handing
 * over are one state machine, whose functions change the same few members of struct election.
 */
#include "sa/sm/manager/election.h"

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/config.h"
#include "db/state/state.h"
#include "routing/graph/graph.h"
#include "sa/server/server.h"
#include "sa/sm/discover/trust.h"
#include "sa/sm/sm.h"
#include "sa/standby/standby.h"

enum {
	NOTICE_INFORMATIONAL = 4,
	WARNINGS = 10,
	WARNINGS_MS = 60000,
	PRIORITY_TRAP_MS = 10000,
	IN_STEP_MS = 2000 /* for a standby to store what is on its way */
};

static const char *const source = "sweep";

/* By SMInfo.SMState. */
static const char *const state_names[] = { "NOT-ACTIVE", "DISCOVERING", "STANDBY",
	                                   "MASTER" };
/* Whether clients get answers, and who copies whose state. */
static void tell_state(struct election *e)
{
	const struct sweep_deps *d = &e->sm->d;

	if (d->sa != NULL) {
		sa_server_standby(d->sa, e->sm->status.standby || e->waited || e->quiet);
	}
	switch (e->state) {
	case SM_NOT_ACTIVE: standby_set_role(d->standby, STANDBY_IDLE); break;
	case SM_STANDBY: standby_set_role(d->standby, STANDBY_TAKES); break;
	case SM_DISCOVERING:
	case SM_MASTER: break; /* see election_settled() */
	}
}

void election_settled(struct election *e)
{
	e->waited = false;
	standby_set_role(e->sm->d.standby, STANDBY_GIVES);
	tell_state(e);
}

void election_set_state(struct election *e, enum sm_state state, const char *why)
{
	if (e->state == state) {
		return;
	}
	bool lost = e->state == SM_MASTER;

	e->state = state;
	e->early.guid = 0;
	e->early.stands_by = false;
	e->settled |= state == SM_MASTER;
	e->stays.guid = 0;
	memset(e->beside, 0, sizeof(e->beside));
	e->swept &= state == SM_MASTER;
	e->sm->status.master = state == SM_MASTER;
	e->sm->status.standby = state == SM_STANDBY || state == SM_NOT_ACTIVE;
	e->waited |= e->sm->status.standby;
	if (state == SM_MASTER) {
		e->yielded = YIELDED_NOT;
	}
	if (!e->sm->status.standby) {
		e->sm->status.other.guid = 0;
	}
	tell_state(e);
	events_say(e->sm, EVENT_SM_STATE, "%s state (%s)", state_names[state], why);
	if (lost) {
		events_say(e->sm, EVENT_MASTER_LOST, "%s", why);
	}
}

uint8_t election_priority(const struct election *e)
{
	const struct config *c = e->sm->d.config;
	unsigned p = c->sm_priority;

	if (e->yielded == YIELDED) {
		return 0;
	}
	if (e->state == SM_MASTER && c->master_sm_priority > p) {
		p = c->master_sm_priority;
	}
	return (uint8_t)p;
}

void election_sm_info(const struct election *e, uint8_t info[SMP_DATA_BYTES])
{
	const struct sm *sm = e->sm;

	memset(info, 0, SMP_DATA_BYTES);
	field_set(info, SMI_GUID, sm->d.transport->local.port_guid);
	field_set(info, SMI_SM_KEY, sm->d.config->sm_key);
	field_set(info, SMI_ACT_COUNT, smp_counters(sm->smp)->sent);
	field_set(info, SMI_PRIORITY, election_priority(e));
	field_set(info, SMI_SM_STATE, e->state);
}

static bool may_warn(struct election *e, char ret_skipped[LOG_SKIPPED_BYTES])
{
	return log_allowed(&e->lines, sm_now(e->sm), WARNINGS, WARNINGS_MS, ret_skipped);
}

/* --- SMInfo of others -------------------------------------------------------------- */

/* A question to one port. */
struct sm_request {
	struct election *e;
	struct disc *d;
	struct disc_node *node;
	uint32_t graph_port;
	uint8_t port;
	struct smp_dest *dest;
	struct sm_answers *to; /* NULL: highest_master and highest_other of e */
};

static void submit(struct election *e, const struct smp_request *what)
{
	smp_dest_revive(what->dest);
	if (smp_submit(e->sm->smp, what) != E_OK) {
		sm_request_heavy(e->sm, "out of memory while other SMs are asked");
	}
}

/* Has it shown over the link of standbys that it knows the secret? */
static bool is_linked(const struct election *e, uint64_t guid)
{
	return standby_knows(e->sm->d.standby, guid);
}

/* Is who sent this SMInfo announced? */
static bool is_announced(const struct election *e, const uint8_t *info)
{
	return trust_is_announced(e->sm->d.config, info,
	                          is_linked(e, field_get(info, SMI_GUID)));
}

/* A program reads what is sent to an SM, so it gets no key that is of use at another port, unless
 * somebody named it. */
static bool hides_key(const struct election *e, uint64_t guid)
{
	return !keyring_is_own(&e->sm->keys, guid) &&
	       !trust_names(e->sm->d.config, guid, is_linked(e, guid));
}

static void ask(struct sm_request *q, smp_done_f *done)
{
	submit(q->e,
	       &(struct smp_request){ .dest = q->dest,
	                              .method = UMAD_METHOD_GET,
	                              .attr = UMAD_SM_ATTR_SM_INFO,
	                              .retries = q->to != NULL
	                                                 ? 1 /* a sweep waits for it */
	                                                 : q->e->sm->d.config->transaction_retries,
	                              .without_m_key = hides_key(
					      q->e, q->d->g->ports[q->graph_port].guid),
	                              .done = done,
	                              .ctx = q });
}

static struct sm_request *request_new(struct election *e, struct disc *d, uint32_t port,
                                      struct arena *a)
{
	struct sm_request *q = arena_alloc(a, sizeof(*q));

	if (q == NULL) {
		sm_request_heavy(e->sm, "out of memory while other SMs are asked");
		return NULL;
	}
	*q = (struct sm_request){ .e = e,
		                  .d = d,
		                  .node = d->of[d->g->ports[port].node],
		                  .graph_port = port,
		                  .port = disc_port_of(d, port)->num };
	q->dest = q->node->ports[q->port].dest;
	return q;
}

static bool is_higher(const struct other_sm *a, uint8_t priority, uint64_t guid)
{
	return a->priority != priority ? a->priority > priority : a->guid < guid;
}

bool election_outranks_us(const struct election *e, const struct other_sm *o)
{
	if (o->guid == 0) {
		return false;
	}
	return is_higher(o, election_priority(e), e->sm->d.transport->local.port_guid) ||
	       (!o->announced && o->guid == e->stays.guid &&
	        sm_now(e->sm) >= e->stays.since + STAYS_MS);
}

/* Did we stand by for it since our start? */
static bool was_respected(const struct election *e, uint64_t guid)
{
	for (unsigned i = 0; i < ELECTION_RESPECTED; i++) {
		if (e->respected[i] == guid) {
			return true;
		}
	}
	return false;
}

/* Keeps SMInfo in its port, to be published. \return true: it says something new. */
static bool keep_sm_info(struct sm_request *q, const uint8_t *info)
{
	struct disc_port *p = &q->node->ports[q->port];

	if (p->sm_info != NULL &&
	    field_get(p->sm_info, SMI_GUID) == field_get(info, SMI_GUID) &&
	    field_get(p->sm_info, SMI_PRIORITY) == field_get(info, SMI_PRIORITY) &&
	    field_get(p->sm_info, SMI_SM_STATE) == field_get(info, SMI_SM_STATE)) {
		return false;
	}
	disc_note_change(q->node);
	if (p->sm_info == NULL) { /* a local sweep may have taken the nodes meanwhile */
		p->sm_info = arena_alloc(q->node->disc->own, SMP_DATA_BYTES);
		/* It may have started since the sweep; what is seen is told when it is gone. */
		q->d->g->ports[q->graph_port].capability_mask |= CAP_IS_SM;
	}
	if (p->sm_info != NULL) {
		memcpy(p->sm_info, info, SMP_DATA_BYTES);
		q->e->changed = true;
	}
	return true;
}

static void note_seen(const struct sm_request *q, const struct other_sm *o)
{
	char detail[80];
	struct fabric_event what = { .kind = EVENT_SM_SEEN, .port = q->port, .detail = detail };

	events_set_node(&what, q->d->g, q->node->graph_node);
	snprintf(detail, sizeof(detail), "GUID 0x%016" PRIx64 ", priority %u, state %s",
	         o->guid, o->priority,
	         o->state <= SM_MASTER ? state_names[o->state] : "unknown");
	events_note(q->e->sm, &what);
}

/* An SM that nobody announced changes nothing. It stays an alarm until it is announced or gone. */
static void note_unannounced(const struct sm_request *q, const struct other_sm *o)
{
	char detail[EVENT_DETAIL_BYTES];
	struct fabric_event what = { .kind = EVENT_SM_UNANNOUNCED,
		                     .port = q->port,
		                     .detail = detail };

	events_set_node(&what, q->d->g, q->node->graph_node);
	snprintf(detail, sizeof(detail),
	         "(%s, priority %u); if it is yours, set allowed_sm_guids 0x%016" PRIx64
	         ",0x%016" PRIx64 " on both and run 'saguaro reload'",
	         state_names[o->state], o->priority,
	         q->e->sm->d.transport->local.port_guid, o->guid);
	events_note(q->e->sm, &what);
}

/* Two masters undo each other's work, so this one stays an alarm until it is gone. */
static void note_rival(const struct sm_request *q, const char *wrong)
{
	struct fabric_event what = { .kind = EVENT_SM_RIVAL,
		                     .port = q->port,
		                     .detail = wrong };

	events_set_node(&what, q->d->g, q->node->graph_node);
	events_note(q->e->sm, &what);
}

/* An SM that answered before has ended. A heavy sweep compares the bits of its ports with those
 * of the fabric as known; so the bit goes here, too, where that sweep would tell it again. */
static void note_gone(struct election *e, struct disc *d, uint32_t port)
{
	struct port *p = &d->g->ports[port];
	struct fabric_event what = { .kind = EVENT_SM_GONE, .port = p->num };

	disc_note_change(d->of[p->node]);
	disc_port_of(d, port)->sm_info = NULL;
	e->changed = true;
	if ((p->capability_mask & CAP_IS_SM) == 0) {
		return; /* this sweep has found it */
	}
	p->capability_mask &= ~(uint32_t)CAP_IS_SM;
	events_set_node(&what, d->g, p->node);
	events_note(e->sm, &what);
}

/*
 * Does an SM count that nobody announced? One does as long as we know of no other one to serve the
 * fabric, as at our start: two that start together must not both be master. While we are master,
 * a master does that we stood by for: two halves of a fabric were joined, or we took its place
 * while it did not run.
 */
static bool is_respected(struct election *e, const struct other_sm *o)
{
	if (e->state != SM_MASTER) {
		return !e->settled || was_respected(e, o->guid);
	}
	if (o->state != SM_MASTER) {
		return false;
	}
	if (!was_respected(e, o->guid)) {
		election_tell_priority(e, o->lid); /* perhaps it stood by for us */
		return false;
	}
	if (e->stays.guid != o->guid) {
		e->stays.guid = o->guid;
		e->stays.since = sm_now(e->sm);
	}
	election_doubt_later(e);
	return true;
}

/* In place of the one that answered longest ago. */
static void remember_seen(struct election *e, uint64_t guid)
{
	unsigned at = 0;

	for (unsigned i = 0; i < ELECTION_SEEN; i++) {
		if (e->seen[i].guid == guid) {
			at = i;
			break;
		}
		at = e->seen[i].at_ms < e->seen[at].at_ms ? i : at;
	}
	e->seen[at].guid = guid;
	e->seen[at].at_ms = sm_now(e->sm);
}

static void on_sm_info(void *ctx, const struct smp_reply *r)
{
	struct sm_request *q = ctx;
	struct election *e = q->e;
	const struct disc_port *p = &q->node->ports[q->port];
	struct other_sm o, *best;
	char skipped[LOG_SKIPPED_BYTES];
	const char *wrong;
	bool is_new;

	if (r->ret != E_OK) {
		if (may_warn(e, skipped)) {
			log_info(source,
			         "node 0x%016" PRIx64
			         " port %u has the IsSM bit but no SMInfo%s",
			         q->node->guid, q->port, skipped);
		}
		election_beside_ended(e, q->d->g->ports[q->graph_port].guid);
		if (p->sm_info != NULL) {
			note_gone(e, q->d, q->graph_port);
		}
		return;
	}
	is_new = keep_sm_info(q, r->data);
	o = (struct other_sm){ .guid = field_get(r->data, SMI_GUID),
		               .lid = disc_lid(p),
		               .priority = (uint8_t)field_get(r->data, SMI_PRIORITY),
		               .state = (uint8_t)field_get(r->data, SMI_SM_STATE),
		               .path = r->dest->path };
	if (is_new) {
		note_seen(q, &o);
	}
	wrong = trust_fault(e->sm->d.config, r->data, q->d->g->ports[q->graph_port].guid);
	if (wrong != NULL) {
		if (is_new && o.state == SM_MASTER) {
			note_rival(q, wrong);
		} else if (is_new && may_warn(e, skipped)) {
			log_message(MSG_SM_IGNORED, source,
			            "the SM 0x%016" PRIx64 " at %s is ignored: it %s%s",
			            o.guid, disc_place(q->d, q->node, q->port), wrong,
			            skipped);
		}
		return;
	}
	if (o.state != SM_MASTER) {
		election_beside_ended(e, o.guid);
	}
	if (o.state == SM_NOT_ACTIVE || o.state > SM_MASTER ||
	    o.guid == e->sm->d.transport->local.port_guid) {
		return;
	}
	o.announced = is_announced(e, r->data);
	o.hides_key = field_get(r->data, SMI_SM_KEY) != e->sm->d.config->sm_key;
	if (!o.announced && is_new) {
		note_unannounced(q, &o);
	}
	if (o.state == SM_MASTER) {
		election_beside(e, o.guid, o.announced);
	}
	if (!o.announced && !is_respected(e, &o)) {
		return;
	}
	remember_seen(e, o.guid);
	e->early.stands_by |= o.guid == e->early.guid && o.state == SM_STANDBY;
	if (q->to != NULL) {
		best = o.state == SM_MASTER ? &q->to->master : &q->to->other;
	} else {
		best = o.state == SM_MASTER ? &e->highest_master : &e->highest_other;
	}
	if (!best->guid || is_higher(&o, best->priority, best->guid)) {
		*best = o;
	}
}

/* Clients are served again, or not until the handover is over. */
static void set_quiet(struct election *e, bool quiet)
{
	if (e->quiet != quiet) {
		e->quiet = quiet;
		tell_state(e);
	}
}

void election_begin(struct election *e)
{
	set_quiet(e, false);
	e->highest_master = e->highest_other = (struct other_sm){ 0 };
	e->handover = HANDOVER_NONE;
	e->early.stands_by = false;
}

/* An SM that does not answer says nothing about its adapter, whose tables are read and set all the same. */
static bool use_own_dest(struct sm_request *q, struct arena *a)
{
	struct smp_dest *dest = arena_alloc(a, sizeof(*dest));
	const struct keyring *keys = &q->e->sm->keys;
	uint64_t guid = q->d->g->ports[q->graph_port].guid;

	if (dest == NULL) {
		sm_request_heavy(q->e->sm, "out of memory while other SMs are asked");
		return false;
	}
	smp_dest_init(dest, &q->dest->path);
	smp_dest_set_key(dest, keyring_held(keys, guid), keyring_wanted(keys, guid));
	q->dest = dest;
	return true;
}

void election_ask(struct election *e, struct disc *d, uint32_t port, struct arena *a)
{
	struct disc_port *p = disc_port_of(d, port);
	struct sm_request *q;

	if (port == d->g->sm_port || !p->has_info || p->dest == NULL) {
		return;
	}
	if (!(field_get(p->info, PI_CAPABILITY_MASK) & CAP_IS_SM)) {
		election_beside_ended(e, d->g->ports[port].guid);
		if (p->sm_info != NULL) {
			note_gone(e, d, port);
		}
		return;
	}
	q = request_new(e, d, port, a);
	if (q != NULL && use_own_dest(q, a)) {
		ask(q, on_sm_info);
	}
}

static void on_answer(void *ctx, const struct smp_reply *r)
{
	struct sm_request *q = ctx;

	q->to->pending--;
	on_sm_info(q, r);
}

void election_ask_beside(struct election *e, struct disc *d, uint32_t port,
                         struct arena *a, struct sm_answers *to)
{
	const struct disc_port *p = disc_port_of(d, port);
	struct sm_request *q;

	if (port == d->g->sm_port || !p->has_info || p->dest == NULL ||
	    !(field_get(p->info, PI_CAPABILITY_MASK) & CAP_IS_SM) ||
	    !trust_allows(e->sm->d.config, d->g->ports[port].guid)) {
		return;
	}
	q = request_new(e, d, port, a);
	if (q == NULL || !use_own_dest(q, a)) {
		return;
	}
	q->to = to;
	to->pending++;
	ask(q, on_answer);
}

void election_start(struct election *e, struct disc *d, struct arena *a)
{
	election_begin(e);
	for (uint32_t i = 0; i < d->g->n_end_ports; i++) {
		election_ask(e, d, d->g->end_ports[i], a);
	}
}

bool election_news(struct election *e)
{
	bool changed = e->changed;

	e->changed = false;
	return changed;
}

/* --- who is master? ------------------------------------------------------------------ */

static void say_standby(struct election *e, const char *what)
{
	struct sweep_status *status = &e->sm->status;
	const struct job *j = e->sm->job;
	uint32_t port = j != NULL && j->disc.g != NULL
	                        ? graph_port_by_guid(j->disc.g, e->master.guid)
	                        : GRAPH_NONE;

	status->other.guid = e->master.guid;
	status->other.lid = e->master.lid;
	status->other.priority = e->master.priority;
	snprintf(status->other.name, sizeof(status->other.name), "%s",
	         port != GRAPH_NONE
	                 ? node_name(&j->disc.g->nodes[j->disc.g->ports[port].node])
	                 : "");
	status->up = false;
	snprintf(status->not_ready, sizeof(status->not_ready),
	         "%s: GUID 0x%016" PRIx64 ", LID %u, priority %u", what, e->master.guid,
	         e->master.lid, e->master.priority);
	log_message(MSG_SM_STANDS_BY, source, "%s", status->not_ready);
}

/* Becomes standby and waits for e->master. */
static void stand_by(struct election *e)
{
	e->missed = 0;
	e->master_alive = true;
	e->priority_trap_ms = 0;
	e->others_wrote = e->others_assigned = true;
	say_standby(e, e->master.state == SM_MASTER ? "another SM is master"
	                                            : "another SM is to be master");
	election_set_state(e, SM_STANDBY,
	                   e->handover == HANDOVER_TAKEN
	                           ? "handed over to a higher SM"
	                           : "another SM is master or higher");
}

static void wait_for(struct election *e, const struct other_sm *o)
{
	e->master = *o;
	e->waits_until = sm_now(e->sm) + DISCOVERING_MS;
	e->settled |= o->announced;
	if (!o->announced && !was_respected(e, o->guid)) {
		e->respected[e->n_respected++ % ELECTION_RESPECTED] = o->guid;
	}
	smp_dest_init(&e->master_dest, &o->path);
	smp_dest_set_key(&e->master_dest, keyring_held(&e->sm->keys, o->guid),
	                 keyring_wanted(&e->sm->keys, o->guid));
}

/* Becomes master of what another SM was master of until now. */
static void take_fabric(struct election *e, uint64_t from)
{
	char why[80];

	snprintf(why, sizeof(why), "the SM 0x%016" PRIx64 " hands over to us", from);
	e->swept = false;
	e->others_wrote = e->others_assigned = true;
	election_set_state(e, SM_MASTER, why);
}

static void on_handover(void *ctx, const struct smp_reply *r)
{
	struct election *e = ctx;

	if (e->handover == HANDOVER_SENT) {
		e->handover = r->ret == E_OK ? HANDOVER_TAKEN : HANDOVER_REFUSED;
	}
}

static void on_nothing(void *ctx, const struct smp_reply *r)
{
	(void)ctx;
	(void)r;
}

static void send_control(struct election *e, enum sm_control control, smp_done_f *done)
{
	uint8_t info[SMP_DATA_BYTES];

	election_sm_info(e, info);
	if (!e->master.announced && e->master.hides_key) {
		field_set(info, SMI_SM_KEY, 0); /* it may not have it */
	}
	if (control == SM_HANDOVER) { /* also when it is repeated */
		field_set(info, SMI_SM_STATE, SM_MASTER);
	}
	submit(e, &(struct smp_request){ .dest = &e->master_dest,
	                                 .method = UMAD_METHOD_SET,
	                                 .attr = UMAD_SM_ATTR_SM_INFO,
	                                 .mod = control,
	                                 .data = info,
	                                 .retries = e->sm->d.config->transaction_retries,
	                                 .without_m_key = hides_key(e, e->master.guid),
	                                 .done = done,
	                                 .ctx = e });
}

static void pass_over(struct election *e, bool offered, const char *why)
{
	bool again = e->passed_over.guid == e->master.guid && e->passed_over.was_master;
	uint64_t pause = HANDOVER_PAUSE_MS;

	if (offered && e->master.state == SM_MASTER) {
		pause = again && e->passed_over.pause != 0 ? 2 * e->passed_over.pause
		                                           : REFUSED_PAUSE_MS;
		pause = pause < HANDOVER_PAUSE_MS ? pause : HANDOVER_PAUSE_MS;
	}
	e->passed_over.guid = e->master.guid;
	e->passed_over.offered = offered;
	e->passed_over.was_master = e->master.state == SM_MASTER;
	e->passed_over.pause = pause;
	e->passed_over.until = sm_now(e->sm) + pause;
	if (pause < HANDOVER_PAUSE_MS) {
		e->doubt.wanted = true;
		e->doubt.at = e->passed_over.until;
	}
	events_say(e->sm, EVENT_HANDOVER_FAILED, "0x%016" PRIx64 ": %s", e->master.guid,
	           why);
}

/* The handover was answered, or was not. */
static enum election_result end_handover(struct election *e)
{
	bool taken = e->handover == HANDOVER_TAKEN;

	if (taken) {
		stand_by(e);
	} else {
		pass_over(e, true, "it did not answer HANDOVER, or refused it");
	}
	if (!taken) {
		e->yielded = YIELDED_NOT;
	}
	e->copying.guid = 0;
	set_quiet(e, false);
	e->offered = taken;
	e->handover = HANDOVER_NONE;
	return taken ? ELECTION_STANDBY : ELECTION_MASTER;
}

/* Has a higher SM what our clients registered? Then nothing is added any more. */
static bool has_copy(struct election *e, const struct other_sm *o)
{
	const struct sweep_deps *d = &e->sm->d;

	if (d->standby == NULL) {
		return true;
	}
	if (standby_in_step(d->standby, o->guid, 0)) {
		set_quiet(e, true);
		state_flush(d->state);
		if (standby_in_step(d->standby, o->guid, IN_STEP_MS)) {
			return true;
		}
		set_quiet(e, false);
	}
	if (e->copying.guid != o->guid) {
		e->copying.guid = o->guid;
		e->copying.until = sm_now(e->sm) + HANDOVER_COPY_MS;
		log_info(source,
		         "the SM 0x%016" PRIx64
		         " is higher; it is handed over to when it has copied the state",
		         o->guid);
	}
	if (sm_now(e->sm) < e->copying.until) {
		return false;
	}
	log_message(
		MSG_SM_PEER_NO_COPY, source,
		"the SM 0x%016" PRIx64
		" has no copy of the state (standby_peer, standby_secret), so clients have to register again there",
		o->guid);
	return true;
}

static bool is_passed_over(const struct election *e, const struct other_sm *o, bool offered)
{
	return e->passed_over.guid == o->guid && e->passed_over.offered >= offered &&
	       e->passed_over.was_master >= (o->state == SM_MASTER) &&
	       sm_now(e->sm) < e->passed_over.until;
}

int election_yield(struct election *e, char *why, size_t why_bytes)
{
	const struct other_sm *o = &e->highest_other;

	if (e->state != SM_MASTER) {
		snprintf(why, why_bytes, "this subnet manager is not master, but %s",
		         state_names[e->state]);
	} else if (o->guid == 0) {
		snprintf(
			why, why_bytes,
			"there is no other subnet manager on the fabric that could be master; start one, and see its state with sminfo");
	} else if (!is_higher(o, 0, e->sm->d.transport->local.port_guid)) {
		snprintf(
			why, why_bytes,
			"the subnet manager 0x%016" PRIx64
			" has priority 0 and would hand back at once; give it a higher priority",
			o->guid);
	} else {
		e->yielded = YIELD_ASKED;
		return E_OK;
	}
	return E_NOTREADY;
}

static enum election_result end_as_master(struct election *e)
{
	const struct other_sm *o = &e->highest_master;
	char skipped[LOG_SKIPPED_BYTES];

	election_beside_missing(e);
	if (o->guid != 0 && !election_outranks_us(e, o) && may_warn(e, skipped)) {
		log_message(MSG_SM_TWO_MASTERS, source,
		            "another SM is master, too: GUID 0x%016" PRIx64
		            ", LID %u, priority %u; we are higher and stay%s",
		            o->guid, o->lid, o->priority, skipped);
	}
	if (!election_outranks_us(e, o)) {
		election_tell_priority(e, o->lid); /* it hands over to us */
		o = &e->highest_other;
	}
	if (e->yielded == YIELD_ASKED) {
		e->yielded = YIELDED;
		e->passed_over.guid = 0;
	}
	if (!election_outranks_us(e, o) || is_passed_over(e, o, true)) {
		return ELECTION_MASTER;
	}
	if (o->state == SM_DISCOVERING) {
		election_doubt_later(e); /* it finds us, and is standby then */
		return ELECTION_MASTER;
	}
	if (o->state != SM_MASTER && !has_copy(e, o)) {
		return ELECTION_MASTER;
	}
	events_say(e->sm, EVENT_HANDOVER, "0x%016" PRIx64 ", LID %u, priority %u",
	           o->guid, o->lid, o->priority);
	wait_for(e, o);
	e->handover = HANDOVER_SENT;
	send_control(e, SM_HANDOVER, on_handover);
	return ELECTION_WAITS;
}

enum election_result election_end(struct election *e)
{
	const struct other_sm *o = &e->highest_master;

	if (e->handover != HANDOVER_NONE) {
		return end_handover(e);
	}
	if (e->state == SM_MASTER) {
		return end_as_master(e);
	}
	if (o->guid == 0) {
		o = &e->highest_other;
		if (!election_outranks_us(e, o) || is_passed_over(e, o, false)) {
			if (e->early.stands_by) {
				take_fabric(e, e->early.guid);
			}
			return ELECTION_MASTER;
		}
	}
	wait_for(e, o);
	e->offered = false;
	stand_by(e);
	return ELECTION_STANDBY;
}

/* --- while standby ------------------------------------------------------------------ */

static void on_master_port(void *ctx, const struct smp_reply *r)
{
	struct election *e = ctx;

	e->master_left =
		r->ret == E_OK && !(field_get(r->data, PI_CAPABILITY_MASK) & CAP_IS_SM);
}

/* A poll is not repeated, because polls themselves are counted. */
static void poll_master(struct election *e, uint16_t attr, smp_done_f *done)
{
	submit(e, &(struct smp_request){ .dest = &e->master_dest,
	                                 .method = UMAD_METHOD_GET,
	                                 .attr = attr,
	                                 .without_m_key = hides_key(e, e->master.guid),
	                                 .done = done,
	                                 .ctx = e });
}

void election_tell_priority(struct election *e, uint32_t lid)
{
	struct sm *sm = e->sm;
	const struct disc *d = sm->job != NULL ? &sm->job->disc : NULL;
	uint64_t now = sm_now(sm);
	uint8_t mad[MAD_BYTES] = { 0 }, *notice = mad + SMP_DATA_AT;
	const struct disc_port *own;
	struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_LID_ROUTED,
		             .addr = { .lid = lid },
		             .len = MAD_BYTES,
		             .data = mad };

	if (lid == 0 || d == NULL || d->g == NULL ||
	    (e->priority_trap_ms != 0 && now < e->priority_trap_ms + PRIORITY_TRAP_MS)) {
		return;
	}
	e->priority_trap_ms = now;
	own = disc_port_of(d, d->g->sm_port);
	field_set(mad, MAD_BASE_VERSION, 1);
	field_set(mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_LID_ROUTED);
	field_set(mad, MAD_CLASS_VERSION, 1);
	field_set(mad, MAD_METHOD, UMAD_METHOD_TRAP);
	field_set(mad, MAD_TID, now);
	field_set(mad, MAD_ATTR_ID, UMAD_ATTR_NOTICE);
	field_set(notice, NTC_IS_GENERIC, 1);
	field_set(notice, NTC_TYPE, NOTICE_INFORMATIONAL);
	field_set(notice, NTC_PRODUCER_TYPE,
	          d->g->nodes[d->g->ports[d->g->sm_port].node].type);
	field_set(notice, NTC_TRAP_NUMBER, UMAD_SM_LOCAL_CHANGES_TRAP);
	field_set(notice, NTC_ISSUER_LID, field_get(own->info, PI_LID));
	field_set(notice, NTC_144_LID, field_get(own->info, PI_LID));
	field_set(notice, NTC_144_OTHER_CHANGES, 1);
	field_set(notice, NTC_144_CAPABILITY_MASK,
	          field_get(own->info, PI_CAPABILITY_MASK) | CAP_IS_SM);
	field_set(notice, NTC_144_CHANGE_FLAGS, NTC_144_SM_PRIORITY_CHANGE);
	(void)transport_send(sm->d.transport, &m); /* lost: it is sent again */
}

static void on_poll(void *ctx, const struct smp_reply *r)
{
	struct election *e = ctx;
	unsigned state;

	if (r->ret != E_OK) {
		return;
	}
	state = (unsigned)field_get(r->data, SMI_SM_STATE);
	if (trust_fault(e->sm->d.config, r->data, e->master.guid) != NULL) {
		return;
	}
	if (state == SM_MASTER && !e->heard) {
		standby_outlived(e->sm->d.standby);
	}
	e->master_answers = true;
	e->master_said = (uint8_t)(state <= SM_MASTER ? state : SM_NOT_ACTIVE);
	e->master_alive = state == SM_MASTER ||
	                  (state == SM_DISCOVERING &&
	                   (e->master.announced || sm_now(e->sm) < e->waits_until));
	e->master.priority = (uint8_t)field_get(r->data, SMI_PRIORITY);
	if (state == SM_MASTER && e->master.state != SM_MASTER) {
		e->master.state = SM_MASTER;
		e->passed_over.guid = 0;
		say_standby(e, "another SM is master");
	}
}

void election_poll_start(struct election *e)
{
	e->master_alive = e->master_answers = e->master_left = false;
	e->heard = standby_hears(e->sm->d.standby);
	poll_master(e, UMAD_SM_ATTR_SM_INFO, on_poll);
	poll_master(e, UMAD_SM_ATTR_PORT_INFO, on_master_port);
}

uint32_t election_poll_interval(const struct election *e)
{
	const struct config *c = e->sm->d.config;
	uint64_t interval = c->sminfo_polling_timeout, n = c->polling_retry_number;
	uint64_t answer = c->transaction_timeout;

	if (e->missed != 0 && n > 1) {
		uint64_t all = n * interval, first = interval + answer;

		interval = all > first ? (all - first) / (n - 1) : 0;
	}
	return (uint32_t)(interval > answer || e->missed == 0 ? interval : answer);
}

/* Two ways to the master are silent: the fabric, for more than one poll, and the link by which
 * its state was copied. */
static bool link_silent(struct election *e)
{
	struct standby_status st;

	if (e->missed < 2 || e->sm->d.standby == NULL) {
		return false;
	}
	standby_status(e->sm->d.standby, &st);
	return st.master == e->master.guid && !st.in_step;
}

/* An SM may lose a HANDOVER that it has answered. */
static void repeat_handover(struct election *e)
{
	if (e->offered && e->master_answers && e->master_said == SM_STANDBY &&
	    e->master.state != SM_MASTER) { /* nor was since then */
		log_info(source,
		         "the SM 0x%016" PRIx64
		         " is still standby: HANDOVER is sent again",
		         e->master.guid);
		send_control(e, SM_HANDOVER, on_nothing);
	}
}

void election_poll_end(struct election *e)
{
	char why[100];

	if (e->state != SM_STANDBY) {
		return; /* another SM changed it meanwhile */
	}
	if (e->master_alive) {
		e->missed = 0;
		if (e->master.state == SM_MASTER && !election_outranks_us(e, &e->master)) {
			election_tell_priority(e, e->master.lid);
		}
		return;
	}
	e->missed++;
	if (!e->master_left && !link_silent(e) &&
	    e->missed < e->sm->d.config->polling_retry_number) {
		repeat_handover(e);
		return;
	}
	if (e->master_answers) {
		snprintf(why, sizeof(why), "it answers %u times that it is %s%s",
		         e->missed, state_names[e->master_said],
		         e->offered ? ", also after HANDOVER was repeated" : "");
		e->master.state = e->master_said; /* whatever it was when we began to wait for it */
		pass_over(e, e->offered, why);
	}
	sm_request_heavy(e->sm, "the master 0x%016" PRIx64 " is gone", e->master.guid);
}

/* --- Set(SMInfo) of others ----------------------------------------------------------- */

uint64_t election_join_at(const struct election *e)
{
	return !e->joined.wanted     ? UINT64_MAX
	       : e->joined.announced ? e->joined.announced_ms
	                             : e->joined.next_ms;
}

void election_join(struct election *e)
{
	uint64_t now = sm_now(e->sm);
	bool goes_on = now < e->joined.next_ms + JOIN_GAP_MAX_MS;

	if (now < election_join_at(e)) {
		return;
	}
	e->joined.wanted = false;
	if (e->state != SM_MASTER) {
		return;
	}
	if (!e->joined.announced) {
		e->joined.gap_ms = !goes_on || e->joined.gap_ms == 0 ? JOIN_GAP_MS
		                   : e->joined.gap_ms > JOIN_GAP_MAX_MS / 2
		                           ? JOIN_GAP_MAX_MS
		                           : 2 * e->joined.gap_ms;
		e->joined.next_ms = now + e->joined.gap_ms;
	}
	e->joined.announced_ms = now + JOIN_GAP_MS;
	e->others_wrote = true;
	if (e->joined.announced) { /* else it may be any host, which must not make clients register again */
		e->swept = false;
		e->others_assigned = true;
	}
	sm_request_heavy(e->sm, "the SM 0x%016" PRIx64 " %s", e->joined.guid,
	                 e->joined.what);
}

void election_join_wanted(struct election *e, uint64_t guid, bool announced,
                          const char *what)
{
	e->joined.announced = announced || (e->joined.wanted && e->joined.announced);
	e->joined.wanted = true;
	e->joined.guid = guid;
	e->joined.what = what;
}

static bool take_handover(struct election *e, uint64_t from, bool announced)
{
	if (e->state == SM_NOT_ACTIVE) {
		return false;
	}
	e->passed_over.guid = 0;
	if (e->state == SM_MASTER) { /* two masters meet, and the other one gives us its part */
		election_beside_forget(e, from);
		election_join_wanted(e, from, announced, "hands over to us");
		election_join(e);
		return true;
	}
	if (e->state !=
	    SM_DISCOVERING) { /* else a sweep is at work, or will be tried again */
		sm_request_heavy(e->sm, "the SM 0x%016" PRIx64 " hands over to us", from);
	}
	if (e->state == SM_STANDBY && from == e->master.guid) {
		send_control(e, SM_ACKNOWLEDGE, on_nothing);
	}
	take_fabric(e, from);
	return true;
}

/* Why a Set(SMInfo) of this sender is refused; NULL: it is not, if it is legal now. Any believed master
 * may give its part to a master. */
static const char *fault_of_control(const struct election *e, uint32_t control,
                                    const uint8_t *info, uint64_t at)
{
	const char *wrong = trust_fault(e->sm->d.config, info, at);
	bool joins = control == SM_HANDOVER && e->state == SM_MASTER;

	if (wrong != NULL || joins || is_announced(e, info) ||
	    (at == e->master.guid && e->state != SM_MASTER)) {
		return wrong;
	}
	return "was announced by nobody; see allowed_sm_guids";
}

bool election_control(struct election *e, uint32_t control,
                      const uint8_t info[SMP_DATA_BYTES], uint64_t at)
{
	uint64_t from = field_get(info, SMI_GUID);
	bool from_master = field_get(info, SMI_SM_STATE) == SM_MASTER;
	bool from_ours = from_master && from == e->master.guid;
	const char *wrong = fault_of_control(e, control, info, at);
	char skipped[LOG_SKIPPED_BYTES];

	if (e->state == SM_DISCOVERING && at == 0 && control == SM_HANDOVER &&
	    from_master && is_announced(e, info)) {
		e->early.guid = from;
		if (may_warn(e, skipped)) {
			log_info(source,
			         "the SM 0x%016" PRIx64
			         " sends HANDOVER, which counts when its port is found%s",
			         from, skipped);
		}
		return false;
	}
	if (wrong != NULL) {
		if (may_warn(e, skipped)) {
			log_message(MSG_SM_SET_REFUSED, source,
			            "Set(SMInfo) of the SM 0x%016" PRIx64
			            " is refused: it %s%s",
			            from, wrong, skipped);
		}
		return false;
	}
	switch (control) {
	case SM_HANDOVER: return from_master && take_handover(e, from, is_announced(e, info));
	case SM_ACKNOWLEDGE:
		if (e->handover == HANDOVER_SENT && from == e->master.guid) {
			e->handover = HANDOVER_TAKEN;
			return true;
		}
		return e->state == SM_STANDBY;
	case SM_DISABLE:
		if (e->state != SM_STANDBY || !from_ours) {
			return false;
		}
		say_standby(e, "this SM was disabled by the master");
		election_set_state(e, SM_NOT_ACTIVE, "the master sent DISABLE");
		return true;
	case SM_STAND_BY:
		if (e->state != SM_NOT_ACTIVE || !from_master) {
			return false;
		}
		sm_request_heavy(e->sm, "the SM 0x%016" PRIx64 " sent STANDBY", from);
		election_set_state(e, SM_STANDBY, "the master sent STANDBY");
		return true;
	case SM_DISCOVER:
		if (e->state != SM_STANDBY || !from_ours) {
			return false;
		}
		sm_request_heavy(e->sm, "the master 0x%016" PRIx64 " sent DISCOVER",
		                 from);
		return true;
	default: return false;
	}
}
