/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Between heavy sweeps: has anything changed? And who else manages this subnet?
 *
 * A light sweep asks every switch for its PortStateChange bit, the local port for its
 * state, ports that were silent for a NodeInfo, and ports with an SM for its SMInfo. One
 * that changed, does not answer any more, or answers at last, is reason for a heavy
 * sweep.
 *
 * The bit says that something may have changed. Only a master clears it, so during the
 * first sweep it stays set from before, on every switch of a fabric that was just powered
 * on, and a change behind it cannot be told. So a light sweep
 *
 *   1. clears the bit: what changes from here on sets it again, for the next one;
 *   2. reads all ports of the switch, and asks over each of its cables who is there;
 *   3. compares with what the last heavy sweep knew.
 *
 * In this order nothing is lost, whenever it happened. A link that went down and came
 * back is INIT, and only we arm it: one that we armed shows by its state. Before that
 * there is nothing to tell a port from itself, but the GUID behind it, or that its switch
 * restarted, which has then lost its LID or LinearFDBTop. The same serves where a switch
 * does not clear the bit: its ports are looked at each time, which costs as many SMPs as
 * it has ports and cables, and does not make a sweep heavy.
 *
 * Ports with the IsSM bit are asked for SMInfo. There is no election here: before we are
 * master any other master wins; later the higher one does (priority, then lower GUID).
 * Two that start together both become master: the next light sweep sees the other. A
 * standby only asks the master whether it is still there, and starts over when not.
 */
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sm/sweep_int.h"

enum { CAP_IS_SM = 1 << 1, PORT_NUM_MASK = 0xff /* of the AttributeModifier */ };

static const char *const source = "sweep";

static void submit(struct sweep *s, const struct smp_request *what)
{
	struct smp_request o = *what;

	o.retries = s->d.config->transaction_retries;
	if (smp_submit(s->smp, &o) != E_OK) {
		sweep_want_heavy(s, "out of memory in a light sweep");
	}
}

static void ask(struct sweep *s, struct smp_dest *dest, uint16_t attr, uint32_t mod,
                smp_done_f *done, void *ctx)
{
	smp_dest_revive(dest);
	submit(s, &(struct smp_request){ .dest = dest,
	                                 .method = UMAD_METHOD_GET,
	                                 .attr = attr,
	                                 .mod = mod,
	                                 .done = done,
	                                 .ctx = ctx });
}

/* --- what may have changed --------------------------------------------------------- */

/* What some requests are about. */
struct look {
	struct sweep *s;
	struct disc_node *node;
	uint8_t port;
	struct smp_dest dest; /* of a probe */
};

/* From the arena of what asks: a light sweep's own, or that of the job. */
static struct look *look_new(struct sweep *s, struct arena *a, struct disc_node *n,
                             uint8_t port)
{
	struct look *l = arena_alloc(a, sizeof(*l));

	if (l == NULL) {
		sweep_want_heavy(s, "out of memory in a light sweep");
		return NULL;
	}
	*l = (struct look){ .s = s, .node = n, .port = port };
	return l;
}

static void found(struct look *l, const char *what, unsigned port)
{
	struct sweep *s = l->s;

	s->light.n_found++;
	if (!s->light.what[0]) {
		snprintf(s->light.what, sizeof(s->light.what), "%s %s", what,
		         disc_place(&s->job->disc, l->node, port));
	}
}

/* \return true: there is something to compare. */
static bool answered(struct look *l, const struct smp_reply *r, unsigned port)
{
	if (r->ret == E_TIMEOUT) {
		found(l, "no answer from", port);
	}
	return r->ret == E_OK;
}

static void on_port(void *ctx, const struct smp_reply *r)
{
	struct look *l = ctx;
	unsigned num = r->mod & PORT_NUM_MASK;
	const struct disc_port *was = &l->node->ports[num];

	if (answered(l, r, num) &&
	    (!was->has_info ||
	     field_get(r->data, PI_PORT_STATE) != field_get(was->info, PI_PORT_STATE) ||
	     field_get(r->data, PI_LID) != field_get(was->info, PI_LID))) {
		found(l, "port state change on", num);
	}
}

static void on_neighbor(void *ctx, const struct smp_reply *r)
{
	struct look *l = ctx;
	const struct disc_port *p = &l->node->ports[l->port];

	if (answered(l, r, l->port) &&
	    (field_get(r->data, NI_NODE_GUID) != p->peer->guid ||
	     field_get(r->data, NI_LOCAL_PORT_NUM) != p->peer_port)) {
		found(l, "another neighbor of", l->port);
	}
}

static void on_silent(void *ctx, const struct smp_reply *r)
{
	struct look *l = ctx;

	if (r->ret == E_OK) {
		found(l, "a node answers at last behind", l->port);
	}
}

/* Who is behind a port? */
static void look_behind(struct sweep *s, struct disc_node *n, uint8_t port,
                        smp_done_f *done)
{
	struct smp_path path;
	struct look *l;

	if (smp_path_extend(&n->dest.path, port, &path) != E_OK) {
		return;
	}
	l = look_new(s, s->light_arena, n, port);
	if (l != NULL) {
		smp_dest_init(&l->dest, &path);
		ask(s, &l->dest, UMAD_SM_ATTR_NODE_INFO, 0, done, l);
	}
}

/* Is who was behind a cable still there? */
static void look_over(struct sweep *s, struct disc_node *n, uint8_t port)
{
	struct disc_port *p = &n->ports[port];

	if (p->peer != NULL && !p->peer->deaf && p->looked != s->light.number) {
		p->peer->ports[p->peer_port].looked = s->light.number;
		look_behind(s, n, port, on_neighbor);
	}
}

/* Each cable once, and none back the way on which this switch is reached: its neighbor
 * there asks over it. */
static void look_at_neighbors(struct sweep *s, struct disc_node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->from == NULL || i != n->entry) {
			look_over(s, n, (uint8_t)i);
		}
	}
}

static void on_cleared(void *ctx, const struct smp_reply *r)
{
	struct look *l = ctx;
	struct disc_node *n = l->node;

	if (r->ret == E_TIMEOUT) {
		found(l, "no answer from", 0);
		return;
	}
	if (r->ret == E_OK) {
		memcpy(n->switch_info, r->data, sizeof(n->switch_info));
		l->s->light.n_cleared++;
	}
	if (l->s->light.n_found) {
		return; /* the heavy sweep will look */
	}
	for (unsigned i = 0; i <= n->n_ports; i++) {
		submit(l->s, &(struct smp_request){ .dest = &n->dest,
		                                    .method = UMAD_METHOD_GET,
		                                    .attr = UMAD_SM_ATTR_PORT_INFO,
		                                    .mod = DISC_PORT_MOD | i,
		                                    .done = on_port,
		                                    .ctx = l });
	}
	look_at_neighbors(l->s, n);
}

static void on_switch_info(void *ctx, const struct smp_reply *r)
{
	struct look *l = ctx;

	if (!answered(l, r, 0)) {
		return;
	}
	if (field_get(r->data, SI_LINEAR_FDB_TOP) !=
	    field_get(l->node->switch_info, SI_LINEAR_FDB_TOP)) {
		found(l, "other SwitchInfo of", 0);
	} else if (!field_get(r->data, SI_PORT_STATE_CHANGE) || l->s->light.n_found) {
		return; /* nothing, or the heavy sweep will look */
	} else if (l->s->sm_state != SM_MASTER) {
		found(l, "port state change on", 0);
	} else { /* written as read, 1, it is cleared */
		submit(l->s, &(struct smp_request){ .dest = &l->node->dest,
		                                    .method = UMAD_METHOD_SET,
		                                    .attr = UMAD_SM_ATTR_SWITCH_INFO,
		                                    .data = r->data,
		                                    .done = on_cleared,
		                                    .ctx = l });
	}
}

static void look_at_node(struct sweep *s, struct disc_node *n)
{
	struct look *l;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->ports[i].silent) {
			look_behind(s, n, (uint8_t)i, on_silent);
		}
	}
	if (n->type == NODE_SWITCH) {
		l = look_new(s, s->light_arena, n, 0);
		if (l != NULL) {
			ask(s, &n->dest, UMAD_SM_ATTR_SWITCH_INFO, 0, on_switch_info, l);
		}
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
		log_info(source, "%s has the IsSM bit but no SMInfo",
		         disc_place(&s->job->disc, l->node, l->port));
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

/* Between heavy sweeps: a master that the last one did not know. */
static void on_other_sm(void *ctx, const struct smp_reply *r)
{
	struct look *l = ctx;
	const uint8_t *was = l->node->ports[l->port].sm_info;

	if (r->ret == E_OK && field_get(r->data, SMI_SM_STATE) == SM_MASTER &&
	    (was == NULL || field_get(was, SMI_SM_STATE) != SM_MASTER)) {
		found(l, "another SM is master:", l->port);
	}
}

/* \return How many are asked. */
static unsigned ask_sms(struct sweep *s, struct arena *a, smp_done_f *done)
{
	const struct disc *d = &s->job->disc;
	unsigned n = 0;

	for (uint32_t i = 0; i < d->g->n_end_ports; i++) {
		uint32_t port = d->g->end_ports[i];
		struct disc_port *p = disc_port_of(d, port);
		struct look *l;

		if (port == d->g->sm_port || !p->has_info || p->dest == NULL ||
		    !(field_get(p->info, PI_CAPABILITY_MASK) & CAP_IS_SM)) {
			continue;
		}
		l = look_new(s, a, d->of[d->g->ports[port].node], p->num);
		if (l != NULL) {
			ask(s, p->dest, UMAD_SM_ATTR_SM_INFO, 0, done, l);
			n++;
		}
	}
	return n;
}

unsigned other_sms_start(struct sweep *s)
{
	s->best = (struct other_sm){ 0 };
	return ask_sms(s, s->job->arena, on_sm_info);
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

/* --- light sweep ------------------------------------------------------------------ */

void light_start(struct sweep *s)
{
	const struct disc *d = &s->job->disc;
	const struct port *local = &d->g->ports[d->g->sm_port];
	struct disc_node *n = d->of[local->node];
	uint32_t number = s->light.number + 1;
	struct look *l;

	memset(&s->light, 0, sizeof(s->light));
	s->light.number = number;
	arena_free(s->light_arena); /* of one that was given up */
	s->light_arena = arena_new();
	if (s->light_arena == NULL) {
		sweep_want_heavy(s, "out of memory in a light sweep");
		return;
	}
	l = look_new(s, s->light_arena, n, local->num);
	if (l != NULL) {
		ask(s, n->ports[local->num].dest, UMAD_SM_ATTR_PORT_INFO,
		    DISC_PORT_MOD | local->num, on_port, l);
	}
	if (n->type != NODE_SWITCH) { /* it has no bit */
		look_over(s, n, local->num);
	}
	for (uint32_t i = 0; i < d->g->n_nodes; i++) {
		look_at_node(s, d->of[i]);
	}
	(void)ask_sms(s, s->light_arena, on_other_sm);
}

void light_end(struct sweep *s)
{
	arena_free(s->light_arena);
	s->light_arena = NULL;
	if (s->light.n_found) {
		sweep_want_heavy(s, "light sweep: %s (%u in all)", s->light.what,
		                 s->light.n_found);
	} else if (s->light.n_cleared && s->status.up) {
		(void)job_publish(s); /* SwitchInfo as it is now */
	}
}
