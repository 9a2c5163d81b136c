/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Between heavy sweeps: has anything changed? And who else manages this subnet?
 *
 * A light sweep asks every switch for its PortStateChange bit, the local port for its
 * state, and ports that were silent for a NodeInfo. One that changed, does not answer any
 * more, or answers at last, is reason for a heavy sweep.
 *
 * Ports with the IsSM bit are asked for SMInfo. There is no election here: before we are
 * master any other master wins; later the higher one does (priority, then lower GUID). A
 * standby only asks the master whether it is still there, and starts over when not.
 */
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "conf/log.h"
#include "routing/graph.h"
#include "sa/fields.h"
#include "sa/sweep_int.h"

enum { CAP_IS_SM = 1 << 1 };

static const char *const source = "sweep";

static void ask(struct sweep *s, struct smp_dest *dest, uint16_t attr, uint32_t mod,
                smp_done_f *done, void *ctx)
{
	struct smp_order o = { .dest = dest,
		               .method = UMAD_METHOD_GET,
		               .attr = attr,
		               .mod = mod,
		               .retries = s->d.config->transaction_retries,
		               .done = done,
		               .ctx = ctx };

	smp_dest_revive(dest);
	if (smp_submit(s->smp, &o) != E_OK) {
		sweep_want_heavy(s, "out of memory in a light sweep");
	}
}

/* --- light sweep ------------------------------------------------------------------ */

/* One request of a light sweep; from the arena of the job it looks at. */
struct look {
	struct sweep *s;
	struct disc_node *node;
	uint8_t port;
	struct smp_dest dest; /* of a probe */
};

static void remember(struct sweep *s, const char *what, const struct look *l)
{
	if (!s->light.what[0]) {
		snprintf(s->light.what, sizeof(s->light.what),
		         "%s 0x%016" PRIx64 " port %u", what, l->node->guid, l->port);
	}
}

static void on_switch_info(void *ctx, const struct smp_reply *r)
{
	struct look *l = ctx;

	if (r->ret == E_TIMEOUT) {
		l->s->light.n_lost++;
		remember(l->s, "no answer from", l);
	} else if (r->ret == E_OK && field_get(r->data, SI_PORT_STATE_CHANGE)) {
		l->s->light.n_changed++;
		remember(l->s, "port state change on", l);
	}
}

static void on_local_port(void *ctx, const struct smp_reply *r)
{
	struct look *l = ctx;
	const uint8_t *was = l->node->ports[l->port].info;

	if (r->ret == E_OK &&
	    field_get(r->data, PI_PORT_STATE) != field_get(was, PI_PORT_STATE)) {
		l->s->light.n_changed++;
		remember(l->s, "state of the SM's port changed,", l);
	}
}

static void on_silent(void *ctx, const struct smp_reply *r)
{
	struct look *l = ctx;

	if (r->ret == E_OK) {
		l->s->light.n_new++;
		remember(l->s, "a node answers at last behind", l);
	}
}

static struct look *look_new(struct sweep *s, struct disc_node *n, uint8_t port)
{
	struct look *l = arena_alloc(s->job->arena, sizeof(*l));

	if (l == NULL) {
		sweep_want_heavy(s, "out of memory in a light sweep");
		return NULL;
	}
	*l = (struct look){ .s = s, .node = n, .port = port };
	return l;
}

static void look_at_silent(struct sweep *s, struct disc_node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct smp_path path;
		struct look *l;

		if (!n->ports[i].silent ||
		    smp_path_extend(&n->dest.path, (uint8_t)i, &path) != E_OK) {
			continue;
		}
		l = look_new(s, n, (uint8_t)i);
		if (l != NULL) {
			smp_dest_init(&l->dest, &path);
			ask(s, &l->dest, UMAD_SM_ATTR_NODE_INFO, 0, on_silent, l);
		}
	}
}

void light_start(struct sweep *s)
{
	const struct disc *d = &s->job->disc;
	const struct port *local = &d->g->ports[d->g->sm_port];
	struct disc_node *n = d->of[local->node];
	struct look *l = look_new(s, n, local->num);

	memset(&s->light, 0, sizeof(s->light));
	if (l != NULL) {
		ask(s, n->ports[local->num].dest, UMAD_SM_ATTR_PORT_INFO,
		    DISC_PORT_MOD | local->num, on_local_port, l);
	}
	for (uint32_t i = 0; i < d->g->n_nodes; i++) {
		n = d->of[i];
		if (n->type == NODE_SWITCH) {
			l = look_new(s, n, 0);
			if (l != NULL) {
				ask(s, &n->dest, UMAD_SM_ATTR_SWITCH_INFO, 0,
				    on_switch_info, l);
			}
		}
		look_at_silent(s, n);
	}
}

void light_end(struct sweep *s)
{
	uint32_t n = s->light.n_changed + s->light.n_lost + s->light.n_new;

	if (n) {
		sweep_want_heavy(s, "light sweep: %s (%u in all)", s->light.what, n);
	}
}

/* --- other subnet managers -------------------------------------------------------- */

static void read_sm(struct other_sm *o, const uint8_t *info, const struct smp_dest *dest)
{
	o->guid = field_get(info, SMI_GUID);
	o->priority = (uint8_t)field_get(info, SMI_PRIORITY);
	o->state = (uint8_t)field_get(info, SMI_SM_STATE);
	o->path = dest->path;
}

static bool higher(const struct other_sm *a, uint8_t priority, uint64_t guid)
{
	return a->priority != priority ? a->priority > priority : a->guid < guid;
}

/* SMInfo of another subnet manager, to be published. */
static void keep_sm(const struct look *l, const uint8_t *info)
{
	uint8_t *copy = arena_alloc(l->s->job->arena, SMP_DATA_BYTES);

	if (copy != NULL) {
		memcpy(copy, info, SMP_DATA_BYTES);
		l->node->ports[l->port].sm_info = copy;
	}
}

static void on_sm_info(void *ctx, const struct smp_reply *r)
{
	struct look *l = ctx;
	struct sweep *s = l->s;
	struct other_sm o = { 0 };

	if (r->ret != E_OK) {
		log_info(source,
		         "0x%016" PRIx64 " port %u has the IsSM bit but no SMInfo",
		         l->node->guid, l->port);
		return;
	}
	keep_sm(l, r->data);
	read_sm(&o, r->data, r->dest);
	o.lid = (uint32_t)field_get(l->node->ports[l->port].info, PI_LID);
	log_info(source, "another SM: GUID 0x%016" PRIx64 ", priority %u, state %u",
	         o.guid, o.priority, o.state);
	if (o.state == SM_MASTER &&
	    (!s->best.guid || higher(&o, s->best.priority, s->best.guid))) {
		s->best = o;
	}
}

unsigned other_sms_start(struct sweep *s)
{
	const struct disc *d = &s->job->disc;
	unsigned n = 0;

	s->best = (struct other_sm){ 0 };
	for (uint32_t i = 0; i < d->g->n_end_ports; i++) {
		uint32_t port = d->g->end_ports[i];
		struct disc_port *p = disc_port_of(d, port);
		struct look *l;

		if (port == d->g->sm_port || !p->has_info || p->dest == NULL ||
		    !(field_get(p->info, PI_CAPABILITY_MASK) & CAP_IS_SM)) {
			continue;
		}
		l = look_new(s, d->of[d->g->ports[port].node], p->num);
		if (l != NULL) {
			ask(s, p->dest, UMAD_SM_ATTR_SM_INFO, 0, on_sm_info, l);
			n++;
		}
	}
	return n;
}

static void stand_by(struct sweep *s)
{
	s->master = s->best;
	smp_dest_init(&s->master_dest, &s->master.path);
	s->status.up = false;
	snprintf(s->status.not_ready, sizeof(s->status.not_ready),
	         "another SM is master: GUID 0x%016" PRIx64 ", LID %u, priority %u",
	         s->master.guid, s->master.lid, s->master.priority);
	log_warning(source, "%s", s->status.not_ready);
	sweep_set_sm_state(s, SM_STANDBY, "another SM is master");
	s->status.heavy_sweeps++;
}

bool other_sms_end(struct sweep *s)
{
	if (!s->best.guid) {
		return true;
	}
	if (s->sm_state == SM_MASTER &&
	    !higher(&s->best, (uint8_t)s->d.config->sm_priority,
	            s->d.transport->local.port_guid)) {
		log_warning(source,
		            "another SM is master, too: GUID 0x%016" PRIx64
		            ", LID %u, priority %u; we are higher and stay",
		            s->best.guid, s->best.lid, s->best.priority);
		return true;
	}
	stand_by(s);
	return false;
}

static void on_poll(void *ctx, const struct smp_reply *r)
{
	struct sweep *s = ctx;

	s->master_alive = r->ret == E_OK &&
	                  field_get(r->data, SMI_SM_STATE) == SM_MASTER &&
	                  field_get(r->data, SMI_GUID) == s->master.guid;
}

void poll_start(struct sweep *s)
{
	s->master_alive = false;
	ask(s, &s->master_dest, UMAD_SM_ATTR_SM_INFO, 0, on_poll, s);
}

void poll_end(struct sweep *s)
{
	if (!s->master_alive) {
		sweep_want_heavy(s, "the master 0x%016" PRIx64 " is gone",
		                 s->master.guid);
	}
}
