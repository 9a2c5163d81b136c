/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/election.h"

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "routing/graph/graph.h"
#include "sa/server/server.h"
#include "sa/sm/sm.h"

static const char *const source = "sweep";

void election_set_state(struct election *e, enum sm_state state, const char *why)
{
	static const char *const name[] = { "NOT-ACTIVE", "DISCOVERING", "STANDBY",
		                            "MASTER" };

	if (e->state == state) {
		return;
	}
	e->state = state;
	e->swept &= state == SM_MASTER;
	e->sm->status.master = state == SM_MASTER;
	if (e->sm->d.sa != NULL) {
		sa_server_standby(e->sm->d.sa, state == SM_STANDBY);
	}
	log_info(source, "Entering %s state (%s)", name[state], why);
}

void election_sm_info(const struct election *e, uint8_t info[SMP_DATA_BYTES])
{
	const struct sm *sm = e->sm;

	memset(info, 0, SMP_DATA_BYTES);
	field_set(info, SMI_GUID, sm->d.transport->local.port_guid);
	field_set(info, SMI_SM_KEY, sm->d.config->sm_key);
	field_set(info, SMI_ACT_COUNT, smp_counters(sm->smp)->sent);
	field_set(info, SMI_PRIORITY, sm->d.config->sm_priority);
	field_set(info, SMI_SM_STATE, e->state);
}

/* --- SMInfo of others -------------------------------------------------------------- */

/* A Get(SMInfo) of one port. */
struct sm_request {
	struct election *e;
	struct disc *d;
	struct disc_node *node;
	uint8_t port;
	struct arena *arena;     /* of the job: keeps what is published */
	election_found_f *found; /* of election_watch() */
	void *ctx;
};

static void get_sm_info(struct election *e, struct smp_dest *dest, smp_done_f *done,
                        void *ctx)
{
	smp_dest_revive(dest);
	if (smp_submit(e->sm->smp,
	               &(struct smp_request){
			       .dest = dest,
			       .method = UMAD_METHOD_GET,
			       .attr = UMAD_SM_ATTR_SM_INFO,
			       .retries = e->sm->d.config->transaction_retries,
			       .done = done,
			       .ctx = ctx }) != E_OK) {
		sm_request_heavy(e->sm, "out of memory while other SMs are asked");
	}
}

/* Asks every end port with the IsSM bit but our own. */
static void ask_other_sms(const struct sm_request *what, smp_done_f *done)
{
	const struct disc *d = what->d;

	for (uint32_t i = 0; i < d->g->n_end_ports; i++) {
		uint32_t port = d->g->end_ports[i];
		struct disc_port *p = disc_port_of(d, port);
		struct sm_request *r;

		if (port == d->g->sm_port || !p->has_info || p->dest == NULL ||
		    !(field_get(p->info, PI_CAPABILITY_MASK) & CAP_IS_SM)) {
			continue;
		}
		r = arena_alloc(what->arena, sizeof(*r));
		if (r == NULL) {
			sm_request_heavy(what->e->sm,
			                 "out of memory while other SMs are asked");
			return;
		}
		*r = *what;
		r->node = d->of[d->g->ports[port].node];
		r->port = p->num;
		get_sm_info(what->e, p->dest, done, r);
	}
}

static bool is_higher(const struct other_sm *a, uint8_t priority, uint64_t guid)
{
	return a->priority != priority ? a->priority > priority : a->guid < guid;
}

static void on_sm_info(void *ctx, const struct smp_reply *r)
{
	struct sm_request *q = ctx;
	struct disc_port *p = &q->node->ports[q->port];
	struct other_sm *highest = &q->e->highest;
	struct other_sm o;

	if (r->ret != E_OK) {
		log_info(source, "%s has the IsSM bit but no SMInfo",
		         disc_place(q->d, q->node, q->port));
		return;
	}
	p->sm_info = arena_alloc(q->arena, SMP_DATA_BYTES);
	if (p->sm_info != NULL) { /* to be published */
		memcpy(p->sm_info, r->data, SMP_DATA_BYTES);
	}
	o = (struct other_sm){ .guid = field_get(r->data, SMI_GUID),
		               .lid = (uint32_t)field_get(p->info, PI_LID),
		               .priority = (uint8_t)field_get(r->data, SMI_PRIORITY),
		               .state = (uint8_t)field_get(r->data, SMI_SM_STATE),
		               .path = r->dest->path };
	log_info(source, "another SM: GUID 0x%016" PRIx64 ", priority %u, state %u",
	         o.guid, o.priority, o.state);
	if (o.state == SM_MASTER &&
	    (!highest->guid || is_higher(&o, highest->priority, highest->guid))) {
		*highest = o;
	}
}

void election_start(struct election *e, struct disc *d, struct arena *a)
{
	e->highest = (struct other_sm){ 0 };
	ask_other_sms(&(struct sm_request){ .e = e, .d = d, .arena = a }, on_sm_info);
}

bool election_end(struct election *e)
{
	const struct other_sm *o = &e->highest;
	struct sweep_status *status = &e->sm->status;

	if (!o->guid) {
		return true;
	}
	if (e->state == SM_MASTER && !is_higher(o, (uint8_t)e->sm->d.config->sm_priority,
	                                        e->sm->d.transport->local.port_guid)) {
		log_warning(source,
		            "another SM is master, too: GUID 0x%016" PRIx64
		            ", LID %u, priority %u; we are higher and stay",
		            o->guid, o->lid, o->priority);
		return true;
	}
	e->master = *o;
	smp_dest_init(&e->master_dest, &o->path);
	status->up = false;
	snprintf(status->not_ready, sizeof(status->not_ready),
	         "another SM is master: GUID 0x%016" PRIx64 ", LID %u, priority %u",
	         o->guid, o->lid, o->priority);
	log_warning(source, "%s", status->not_ready);
	election_set_state(e, SM_STANDBY, "another SM is master");
	return false;
}

static void on_watched(void *ctx, const struct smp_reply *r)
{
	struct sm_request *q = ctx;
	const uint8_t *was = q->node->ports[q->port].sm_info;

	if (r->ret == E_OK && field_get(r->data, SMI_SM_STATE) == SM_MASTER &&
	    (was == NULL || field_get(was, SMI_SM_STATE) != SM_MASTER)) {
		q->found(q->ctx, q->node, q->port);
	}
}

void election_watch(struct election *e, struct disc *d, struct arena *a,
                    election_found_f *found, void *ctx)
{
	ask_other_sms(
		&(struct sm_request){
			.e = e, .d = d, .arena = a, .found = found, .ctx = ctx },
		on_watched);
}

/* --- while standby ------------------------------------------------------------------ */

static void on_poll(void *ctx, const struct smp_reply *r)
{
	struct election *e = ctx;

	e->master_alive = r->ret == E_OK &&
	                  field_get(r->data, SMI_SM_STATE) == SM_MASTER &&
	                  field_get(r->data, SMI_GUID) == e->master.guid;
}

void election_poll_start(struct election *e)
{
	e->master_alive = false;
	get_sm_info(e, &e->master_dest, on_poll, e);
}

void election_poll_end(struct election *e)
{
	if (!e->master_alive) {
		sm_request_heavy(e->sm, "the master 0x%016" PRIx64 " is gone",
		                 e->master.guid);
	}
}
