/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A light sweep asks every switch for its PortStateChange bit, the local port for its
 * state, ports that were silent for a NodeInfo, and ports with an SM for its SMInfo. It is
 * reason for a heavy sweep if a node changed, does not answer any more, or answers at last.
 *
 * The bit says that something may have changed. Only a master clears it, so during the
 * first sweep it stays set from before, on every switch of a fabric that was just powered
 * on, and hides a change. So a light sweep
 *
 *   1. clears the bit: what changes from here on sets it again, for the next light sweep;
 *   2. reads all ports of the switch, and asks over each of its cables who is there;
 *   3. compares with what the last heavy sweep knew.
 *
 * In this order no change is lost, whenever it happened. A link that went down and came
 * back is INIT, and only we arm it, so a link that we armed shows by its state. Before
 * that a port differs from its former self only by the GUID behind it, or because its
 * switch restarted, which has then lost its LID or LinearFDBTop. The same comparison serves
 * where a switch does not clear the bit: its ports are read each time, which costs as many
 * SMPs as it has ports and cables, and does not make a sweep heavy.
 */
#include "sa/sm/changes.h"

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sm/election.h"
#include "sa/sm/sm.h"

enum { PORT_NUM_MASK = 0xff /* of the AttributeModifier */ };

/* What a request is about; in the arena of the light sweep. */
struct inquiry {
	struct changes *c;
	struct disc_node *node;
	uint8_t port;
	struct smp_dest dest; /* of a NodeInfo over a port */
};

static struct inquiry *inquiry_new(struct changes *c, struct disc_node *n, uint8_t port)
{
	struct inquiry *q = arena_alloc(c->arena, sizeof(*q));

	if (q == NULL) {
		sm_request_heavy(c->sm, "out of memory in a light sweep");
		return NULL;
	}
	*q = (struct inquiry){ .c = c, .node = n, .port = port };
	return q;
}

static void submit(struct inquiry *q, const struct smp_request *what)
{
	struct sm *sm = q->c->sm;
	struct smp_request o = *what;

	o.retries = sm->d.config->transaction_retries;
	o.ctx = q;
	if (smp_submit(sm->smp, &o) != E_OK) {
		sm_request_heavy(sm, "out of memory in a light sweep");
	}
}

static void get(struct inquiry *q, struct smp_dest *dest, uint16_t attr, uint32_t mod,
                smp_done_f *done)
{
	smp_dest_revive(dest);
	submit(q, &(struct smp_request){ .dest = dest,
	                                 .method = UMAD_METHOD_GET,
	                                 .attr = attr,
	                                 .mod = mod,
	                                 .done = done });
}

static void note_change(struct changes *c, const char *what, const struct disc_node *n,
                        unsigned port)
{
	c->n_found++;
	if (!c->what[0]) {
		snprintf(c->what, sizeof(c->what), "%s %s", what,
		         disc_place(&c->job->disc, n, port));
	}
}

/* \return true: there is something to compare. */
static bool answered(struct inquiry *q, const struct smp_reply *r, unsigned port)
{
	if (r->ret == E_TIMEOUT) {
		note_change(q->c, "no answer from", q->node, port);
	}
	return r->ret == E_OK;
}

/* --- ports and cables --------------------------------------------------------------- */

static void on_port(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;
	unsigned num = r->mod & PORT_NUM_MASK;
	const struct disc_port *was = &q->node->ports[num];

	if (answered(q, r, num) &&
	    (!was->has_info ||
	     field_get(r->data, PI_PORT_STATE) != field_get(was->info, PI_PORT_STATE) ||
	     field_get(r->data, PI_LID) != field_get(was->info, PI_LID))) {
		note_change(q->c, "port state change on", q->node, num);
	}
}

static void on_neighbor(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;
	const struct disc_port *p = &q->node->ports[q->port];

	if (answered(q, r, q->port) &&
	    (field_get(r->data, NI_NODE_GUID) != p->peer->guid ||
	     field_get(r->data, NI_LOCAL_PORT_NUM) != p->peer_port)) {
		note_change(q->c, "another neighbor of", q->node, q->port);
	}
}

static void on_silent(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;

	if (r->ret == E_OK) {
		note_change(q->c, "a node answers at last behind", q->node, q->port);
	}
}

/* Asks over a port for the NodeInfo of the node behind it. */
static void ask_behind(struct changes *c, struct disc_node *n, uint8_t port,
                       smp_done_f *done)
{
	struct smp_path path;
	struct inquiry *q;

	if (smp_path_extend(&n->dest.path, port, &path) != E_OK) {
		return;
	}
	q = inquiry_new(c, n, port);
	if (q != NULL) {
		smp_dest_init(&q->dest, &path);
		get(q, &q->dest, UMAD_SM_ATTR_NODE_INFO, 0, done);
	}
}

/* Asks over a cable, once in a light sweep, whether its far end is still there. */
static void ask_neighbor(struct changes *c, struct disc_node *n, uint8_t port)
{
	struct disc_port *p = &n->ports[port];

	if (p->peer != NULL && !p->peer->deaf && p->looked != c->number) {
		p->peer->ports[p->peer_port].looked = c->number;
		ask_behind(c, n, port, on_neighbor);
	}
}

/* --- switches ------------------------------------------------------------------------ */

static void on_cleared(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;
	struct disc_node *n = q->node;

	if (r->ret == E_TIMEOUT) {
		note_change(q->c, "no answer from", n, 0);
		return;
	}
	if (r->ret == E_OK) {
		memcpy(n->switch_info, r->data, sizeof(n->switch_info));
		q->c->n_cleared++;
	}
	if (q->c->n_found) {
		return; /* the heavy sweep will look */
	}
	for (unsigned i = 0; i <= n->n_ports; i++) {
		submit(q, &(struct smp_request){ .dest = &n->dest,
		                                 .method = UMAD_METHOD_GET,
		                                 .attr = UMAD_SM_ATTR_PORT_INFO,
		                                 .mod = DISC_PORT_MOD | i,
		                                 .done = on_port });
	}
	/* not over the cable by which this switch is reached: the neighbour there asks */
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->from == NULL || i != n->entry) {
			ask_neighbor(q->c, n, (uint8_t)i);
		}
	}
}

static void on_switch_info(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;

	if (!answered(q, r, 0)) {
		return;
	}
	if (field_get(r->data, SI_LINEAR_FDB_TOP) !=
	    field_get(q->node->switch_info, SI_LINEAR_FDB_TOP)) {
		note_change(q->c, "other SwitchInfo of", q->node, 0);
	} else if (!field_get(r->data, SI_PORT_STATE_CHANGE) || q->c->n_found) {
		return; /* nothing changed, or the heavy sweep will look */
	} else if (!q->c->may_clear) {
		note_change(q->c, "port state change on", q->node, 0);
	} else { /* writing the bit as read, 1, clears it */
		submit(q, &(struct smp_request){ .dest = &q->node->dest,
		                                 .method = UMAD_METHOD_SET,
		                                 .attr = UMAD_SM_ATTR_SWITCH_INFO,
		                                 .data = r->data,
		                                 .done = on_cleared });
	}
}

static void ask_node(struct changes *c, struct disc_node *n)
{
	struct inquiry *q;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->ports[i].silent) {
			ask_behind(c, n, (uint8_t)i, on_silent);
		}
	}
	if (n->type == NODE_SWITCH) {
		q = inquiry_new(c, n, 0);
		if (q != NULL) {
			get(q, &n->dest, UMAD_SM_ATTR_SWITCH_INFO, 0, on_switch_info);
		}
	}
}

/* --- the light sweep ------------------------------------------------------------------ */

static void on_other_master(void *ctx, const struct disc_node *n, uint8_t port)
{
	note_change(ctx, "another SM is master:", n, port);
}

void changes_light_start(struct changes *c, struct job *j, struct election *e)
{
	struct disc *d = &j->disc;
	const struct port *local = &d->g->ports[d->g->sm_port];
	struct disc_node *n = d->of[local->node];
	struct inquiry *q;

	arena_free(c->arena); /* of one that was given up */
	c->arena = arena_new();
	c->job = j;
	c->may_clear = e->state == SM_MASTER;
	c->number++;
	c->n_found = c->n_cleared = 0;
	c->what[0] = '\0';
	if (c->arena == NULL) {
		sm_request_heavy(c->sm, "out of memory in a light sweep");
		return;
	}
	q = inquiry_new(c, n, local->num);
	if (q != NULL) {
		get(q, n->ports[local->num].dest, UMAD_SM_ATTR_PORT_INFO,
		    DISC_PORT_MOD | local->num, on_port);
	}
	if (n->type != NODE_SWITCH) { /* it has no bit */
		ask_neighbor(c, n, local->num);
	}
	for (uint32_t i = 0; i < d->g->n_nodes; i++) {
		ask_node(c, d->of[i]);
	}
	election_watch(e, d, c->arena, on_other_master, c);
}

bool changes_light_end(struct changes *c)
{
	arena_free(c->arena);
	c->arena = NULL;
	if (c->n_found) {
		sm_request_heavy(c->sm, "light sweep: %s (%u in all)", c->what,
		                 c->n_found);
	}
	return c->n_found == 0 && c->n_cleared != 0;
}

/* --- traps ---------------------------------------------------------------------------- */

void changes_trap(struct changes *c, const uint8_t *notice)
{
	unsigned number = (unsigned)field_get(notice, NTC_TRAP_NUMBER);
	uint32_t lid = (uint32_t)field_get(notice, NTC_144_LID);

	if (number == UMAD_SM_LOCAL_CHANGES_TRAP && lid != 0 && c->trap_144.lid == 0 &&
	    !field_get(notice, NTC_144_OTHER_CHANGES)) {
		/* Only when a sweep has ended it is known which port is ours and what it
		 * showed. */
		c->trap_144.lid = lid;
		c->trap_144.mask = (uint32_t)field_get(notice, NTC_144_CAPABILITY_MASK);
	} else if (number == UMAD_SM_LINK_STATE_CHANGED_TRAP ||
	           number == UMAD_SM_LOCAL_CHANGES_TRAP) {
		sm_request_heavy(c->sm, "trap %u from LID %u", number,
		                 (unsigned)field_get(notice, NTC_ISSUER_LID));
	}
}

bool changes_own_capability(struct changes *c, struct job *j)
{
	uint32_t lid = c->trap_144.lid, mask = c->trap_144.mask, known;
	uint8_t *info;

	c->trap_144.lid = 0;
	if (lid == 0) {
		return false;
	}
	if (!c->sm->status.up || lid != j->program.sm_lid) {
		sm_request_heavy(c->sm, "trap 144 from LID %u", lid);
		return false;
	}
	info = disc_port_of(&j->disc, j->disc.g->sm_port)->info;
	known = (uint32_t)field_get(info, PI_CAPABILITY_MASK);
	if ((known ^ mask) & ~(uint32_t)CAP_IS_SM) {
		sm_request_heavy(c->sm, "trap 144 from LID %u: other capabilities", lid);
		return false;
	}
	if (!(mask & ~known)) {
		/* Without the bit the trap was sent before we set the bit, and what the
		 * sweep has read is newer. */
		return false;
	}
	field_set(info, PI_CAPABILITY_MASK, mask);
	return true;
}

void changes_done(struct changes *c)
{
	arena_free(c->arena);
	c->arena = NULL;
}
