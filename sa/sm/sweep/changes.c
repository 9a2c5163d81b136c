/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A light sweep asks every switch for its PortStateChange bit, the local port for its state,
 * ports that were silent for a NodeInfo, and ports with an SM for its SMInfo. It is reason for a
 * sweep if a node changed, does not answer any more, or answers at last.
 *
 * The bit says that something may have changed. Only a master clears it, so during the first
 * sweep it stays set from before, on every switch of a fabric that was just powered on, and hides
 * a change. So a light sweep
 *
 *   1. clears the bit: what changes from here on sets it again, for the next light sweep;
 *   2. reads all ports of the switch, and asks over each of its cables who is there;
 *   3. compares with what the last heavy sweep knew.
 *
 * In this order no change is lost, whenever it happened. A link that went down and came back is
 * INIT, and only we arm it, so a link that we armed shows by its state. Before that a port
 * differs from its former self only by the GUID or the description behind it, or because its
 * switch restarted, which has then lost its LID or LinearFDBTop. A sweep that armed ports may
 * have missed such a change, and another sweep or a look that found something else may have
 * cleared the bit since. So the switches of these ports are compared once, with or without the
 * bit. The same comparison serves where a switch does not clear the bit: its ports are read each
 * time, which costs as many SMPs as it has ports and cables, and does not make a sweep heavy.
 *
 * A trap 128 asks its switch alone the same questions, and a trap 144 asks its port for what
 * may have changed. Traps 1144 and 1146, and each light sweep, have ports with virtual ports asked
 * whether these changed. So a trap about what a sweep has seen already costs an SMP or two: both
 * ends of a cable report it, and traps are repeated. A look ends as soon as it has found
 * one change, because the cable that is gone may be part of the route to the next switch.
 *
 * Longer than most, because a light sweep and a look after a trap ask the same questions of a switch.
 *
 * Source: IBA vol. 1, 13.4.8 (Notice), 14.2.5.1 (traps), 14.2.5.4 (PortStateChange).
 */
#include "sa/sm/sweep/changes.h"

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "sa/mad/fields.h"
#include "sa/mad/notice.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/discover/trap.h"
#include "sa/sm/manager/election.h"
#include "sa/sm/sm.h"
#include "sa/sm/sweep/audit.h"

enum {
	PORT_NUM_MASK = 0xff, /* of the AttributeModifier */
	SWEEP_GAP_FIRST_MS = 50,
	SWEEP_GAP_MAX_MS = 2000,
	EARLY_MAX = 64     /* senders before anything is known that could refute them */
};

/* The subject of a request; in the arena of the light sweep. */
struct inquiry {
	struct changes *c;
	struct disc_node *node;
	uint8_t port;
	uint16_t left; /* ports of a switch that have not answered */
	struct smp_dest dest; /* of a NodeInfo over a port */
	unsigned keys_tried;  /* behind a silent port, see keyring_next() */
	bool compares_ports;  /* also if the switch does not show PortStateChange */
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
	struct smp_request o = *what;
	struct sm *sm = q->c->sm;

	/* A look is in a hurry: what does not answer it leads to a heavy sweep. */
	o.retries = q->c->looking ? 0 : sm->d.config->transaction_retries;
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

/* A local sweep, if there is one, reads this node again, unless suspect_no_more() follows. */
static void suspect_until_asked(struct changes *c, const struct disc_node *n)
{
	for (uint32_t i = 0; i < c->n_suspects; i++) {
		if (c->suspects[i] == n->guid) {
			return;
		}
	}
	if (VECTOR_RESERVE(c->suspects, c->cap_suspects, c->n_suspects + 1) != E_OK) {
		c->everywhere = true;
		return;
	}
	c->suspects[c->n_suspects++] = n->guid;
}

/* A local sweep, if there is one, reads this node again, whatever it says of itself. */
static void suspect(struct changes *c, const struct disc_node *n)
{
	suspect_until_asked(c, n);
	for (uint32_t i = c->n_sure; i < c->n_suspects; i++) {
		if (c->suspects[i] == n->guid) {
			c->suspects[i] = c->suspects[c->n_sure];
			c->suspects[c->n_sure++] = n->guid;
			return;
		}
	}
}

/* It has said that nothing changed. What others said of it counts all the same,
 * such as a node behind one of its ports that answers at last. */
static void suspect_no_more(struct changes *c, const struct disc_node *n)
{
	uint32_t left = c->n_sure;

	for (uint32_t i = c->n_sure; i < c->n_suspects; i++) {
		if (c->suspects[i] != n->guid) {
			c->suspects[left++] = c->suspects[i];
		}
	}
	c->n_suspects = left;
}

static void note(struct changes *c, const char *what, const struct disc_node *n, unsigned port)
{
	if (c->n_found++ == 0) {
		snprintf(c->what, sizeof(c->what), "%s %s", what,
		         disc_place(&c->job->disc, n, port));
	}
}

/* A change that can be found by reading this node again. */
static void note_change(struct changes *c, const char *what, const struct disc_node *n,
                        unsigned port)
{
	suspect(c, n);
	note(c, what, n, port);
}

/* A change that is none of ours: the audit looks, too. */
static void note_foreign(struct changes *c, const char *what, const struct disc_node *n,
                         unsigned port)
{
	note_change(c, what, n, port);
	audit_suspect(c->audit, graph_port(c->job->disc.g, n->graph_node, port), what);
}

/* This node tells nothing of it. */
static void note_elsewhere(struct changes *c, const char *what, const struct disc_node *n,
                           unsigned port)
{
	c->everywhere = true;
	note(c, what, n, port);
}

/* A look asks once, and over a route that may have just ended somewhere: all on it are
 * suspects. */
static void note_silence(struct changes *c, const struct disc_node *n, unsigned port)
{
	(c->looking ? note_change : note_elsewhere)(c, "no answer from", n, port);
	for (n = c->looking ? n->from : NULL; n != NULL; n = n->from) {
		suspect(c, n);
	}
}

/* \return true: there is something to compare. */
static bool answered(struct inquiry *q, const struct smp_reply *r, unsigned port)
{
	if (r->ret == E_TIMEOUT) {
		note_silence(q->c, q->node, port);
	}
	return r->ret == E_OK;
}

/* --- ports and cables --------------------------------------------------------------- */

/* The link to a node that was refused is in Init all the time. It came up anew if the reason that the subnet
 * manager gave for that is gone, and perhaps there is another node behind it. */
static bool came_anew(const struct disc_port *was, const struct smp_reply *r)
{
	return was->refused && was->opa_info != NULL && r->native != NULL &&
	       field_get(r->native, OPA_PI_LINK_INIT_REASON) !=
	               field_get(was->opa_info, OPA_PI_LINK_INIT_REASON);
}

static void on_port(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;
	unsigned num = r->mod & PORT_NUM_MASK;
	const struct disc_port *was = &q->node->ports[num];

	if (!answered(q, r, num)) {
		return;
	}
	if (!was->has_info || came_anew(was, r) ||
	    field_get(r->data, PI_PORT_STATE) != field_get(was->info, PI_PORT_STATE)) {
		note_change(q->c, "port state change on", q->node, num);
	} else if (opa_lid_of_port(r->data, r->native) != disc_lid(was)) {
		note_foreign(q->c, "another LID on", q->node, num);
	}
}

/* Our own port as a light sweep of a master finds it. Another master writes its LID there: one
 * that has been joined to our fabric cleared all other signs of that before we saw them. */
static void on_own_port(void *ctx, const struct smp_reply *r)
{
	const struct inquiry *q = ctx;
	uint32_t sm_lid = q->c->job->program.sm_lid;

	on_port(ctx, r);
	if (r->ret == E_OK && q->c->may_clear && sm_lid != 0 &&
	    opa_lid_of_sm(r->data, r->native) != sm_lid) {
		q->c->election->others_wrote = true;
		note_elsewhere(q->c, "another SM is master of", q->node, q->port);
	}
}

static void on_neighbor(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;
	const struct disc_port *p = &q->node->ports[q->port];

	if (r->ret == E_TIMEOUT) {
		note_elsewhere(q->c, "no answer behind", q->node, q->port);
	} else if (r->ret == E_OK &&
	    (field_get(r->data, NI_NODE_GUID) != p->peer->guid ||
	     field_get(r->data, NI_LOCAL_PORT_NUM) != p->peer_port)) {
		note_elsewhere(q->c, "another neighbor of", q->node, q->port);
	}
}

/* Asked of the sender of a trap 144, and of a switch and all behind it where any may have restarted. */
static void on_described(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;

	if (answered(q, r, q->port) &&
	    memcmp(r->data, q->node->description, sizeof(q->node->description)) != 0) {
		note_change(q->c, "another description of", q->node, q->port);
	}
}

/* Asks once: nobody waits for the answer. */
static void ask_silent_once(struct inquiry *q);

static void on_silent(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;
	uint64_t key;

	if (r->ret == E_OK) {
		note_change(q->c, "a node answers at last behind", q->node, q->port);
	} else if (r->ret == E_TIMEOUT &&
	           keyring_next(&q->c->sm->keys, &q->keys_tried, &key)) {
		smp_dest_set_key(&q->dest, key, key);
		ask_silent_once(q);
	}
}

static void ask_silent_once(struct inquiry *q)
{
	struct sm *sm = q->c->sm;

	smp_dest_revive(&q->dest);
	if (smp_submit(sm->smp, &(struct smp_request){ .dest = &q->dest,
	                                               .method = UMAD_METHOD_GET,
	                                               .attr = UMAD_SM_ATTR_NODE_INFO,
	                                               .done = on_silent,
	                                               .ctx = q }) != E_OK) {
		sm_request_heavy(sm, "out of memory in a light sweep");
	}
}

/* A question about the node behind a port. */
static struct inquiry *inquiry_behind(struct changes *c, struct disc_node *n,
                                      uint8_t port)
{
	struct smp_path path;
	struct inquiry *q;

	if (smp_path_extend(&n->dest.path, port, &path) != E_OK) {
		return NULL;
	}
	q = inquiry_new(c, n, port);
	if (q != NULL) {
		smp_dest_init(&q->dest, &path);
	}
	return q;
}

/* Asks over a port for the NodeInfo of the node behind it. */
static void ask_behind(struct changes *c, struct disc_node *n, uint8_t port,
                       smp_done_f *done)
{
	struct inquiry *q = inquiry_behind(c, n, port);

	if (q != NULL) {
		get(q, &q->dest, UMAD_SM_ATTR_NODE_INFO, 0, done);
	}
}

/* Asks behind the silent ports of a node that are due. */
static void ask_silent(struct changes *c, struct disc_node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct inquiry *q = NULL;

		if (n->ports[i].silent &&
		    silent_is_due(&c->silent, guid_port_key(n->guid, (uint8_t)i))) {
			q = inquiry_behind(c, n, (uint8_t)i);
		}
		if (q != NULL) {
			ask_silent_once(q);
		}
	}
}

static void ask_description(struct changes *c, struct disc_node *n, uint8_t port,
                            struct smp_dest *dest)
{
	struct inquiry *q = n->has_description ? inquiry_new(c, n, port) : NULL;

	if (q != NULL) {
		get(q, dest, UMAD_SM_ATTR_NODE_DESC, 0, on_described);
	}
}

/* Asks over a cable, once in a light sweep, whether its far end is still there. A channel adapter
 * that restarted before its port was armed shows that by its description alone. */
static void ask_neighbor(struct changes *c, struct disc_node *n, uint8_t port)
{
	struct disc_port *p = &n->ports[port];

	if (p->peer == NULL || p->peer->deaf || p->looked == c->number) {
		return;
	}
	p->peer->ports[p->peer_port].looked = c->number;
	ask_behind(c, n, port, on_neighbor);
	if (p->peer->type != NODE_SWITCH && p->peer->ports[p->peer_port].dest != NULL) {
		ask_description(c, p->peer, p->peer_port,
		                p->peer->ports[p->peer_port].dest);
	}
}

/* --- switches ------------------------------------------------------------------------ */

/* Not over the cable by which this switch is reached: the neighbor there asks. */
static void ask_neighbors(struct changes *c, struct disc_node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->from == NULL || i != n->entry) {
			ask_neighbor(c, n, (uint8_t)i);
		}
	}
}

/* Neighbors are asked when all ports are as they were: a switch that restarted while a sweep set its
 * ports shows no more of it than its description. Before that, questions over cables that
 * are gone could fill the window, and nothing else would be heard until they time out. */
static void on_switch_port(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;

	on_port(ctx, r);
	if (--q->left == 0 && q->c->n_found == 0) {
		ask_description(q->c, q->node, 0, &q->node->dest);
		ask_neighbors(q->c, q->node);
		q->node->armed &= q->c->looking; /* a look may end before they answer */
	}
}

/* Compares all ports of a switch. */
static void ask_ports(struct inquiry *q)
{
	struct disc_node *n = q->node;

	q->left = (uint16_t)(n->n_ports + 1U);
	for (unsigned i = 0; i <= n->n_ports; i++) {
		submit(q, &(struct smp_request){ .dest = &n->dest,
		                                 .method = UMAD_METHOD_GET,
		                                 .attr = UMAD_SM_ATTR_PORT_INFO,
		                                 .mod = DISC_PORT_MOD | i,
		                                 .done = on_switch_port });
	}
}

static void on_cleared(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;
	struct disc_node *n = q->node;

	if (r->ret == E_TIMEOUT) {
		note_silence(q->c, n, 0);
		return;
	}
	if (r->ret == E_OK) {
		disc_note_change(n);
		(void)disc_take_switch_info(n, n->disc->own, r); /* it has room */
		q->c->n_updated++;
	}
	if (q->c->n_found) {
		suspect(q->c, n); /* the sweep will look */
		return;
	}
	ask_ports(q);
}

static void on_switch_info(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;

	if (!answered(q, r, 0)) {
		return;
	}
	if (opa_lid_lft_top(r->data, r->native) != disc_lft_top(q->node)) {
		note_foreign(q->c, "other SwitchInfo of", q->node, 0);
	} else if (!field_get(r->data, SI_PORT_STATE_CHANGE) &&
	           (q->compares_ports || (q->node->armed && !q->c->looking)) &&
	           !q->c->n_found) {
		ask_ports(q); /* its trap said otherwise, or the bit was cleared without this */
	} else if (!field_get(r->data, SI_PORT_STATE_CHANGE)) {
		suspect_no_more(q->c, q->node);
	} else if (q->c->n_found) {
		suspect(q->c, q->node); /* the sweep will look */
	} else if (!q->c->may_clear) {
		note_change(q->c, "port state change on", q->node, 0);
	} else { /* writing the bit as read, 1, clears it */
		submit(q, &(struct smp_request){ .dest = &q->node->dest,
		                                 .method = UMAD_METHOD_SET,
		                                 .attr = UMAD_SM_ATTR_SWITCH_INFO,
		                                 .data = r->data,
		                                 .basis = r->native,
		                                 .done = on_cleared });
	}
}

static void ask_node(struct changes *c, struct disc_node *n)
{
	struct inquiry *q;

	if (n->type == NODE_SWITCH) {
		q = inquiry_new(c, n, 0);
		if (q != NULL) {
			get(q, &n->dest, UMAD_SM_ATTR_SWITCH_INFO, 0, on_switch_info);
		}
	}
}

/* --- the light sweep ------------------------------------------------------------------ */

/* \retval false: out of memory. */
static bool begin_asking(struct changes *c, struct job *j, struct election *e)
{
	arena_free(c->arena); /* of one that was given up */
	c->arena = arena_new();
	c->job = j;
	c->election = e;
	c->may_clear = e->state == SM_MASTER;
	c->number++;
	c->n_found = c->n_updated = c->n_suspects = c->n_sure = 0;
	c->everywhere = false;
	c->what[0] = '\0';
	c->vports = (struct vports_read){ .v = &c->sm->vports,
		                          .smp = c->sm->smp,
		                          .disc = &j->disc,
		                          .config = c->sm->d.config,
		                          .arena = c->arena,
		                          .now_ms = sm_now(c->sm),
		                          .changes = true };
	if (c->arena == NULL) {
		sm_request_heavy(c->sm, "out of memory in a light sweep");
	}
	return c->arena != NULL;
}

void changes_light_start(struct changes *c, struct job *j, struct election *e)
{
	struct disc *d = &j->disc;
	const struct port *local = &d->g->ports[d->g->sm_port];
	struct disc_node *n = d->of[local->node];
	struct inquiry *q = begin_asking(c, j, e) ? inquiry_new(c, n, local->num) : NULL;

	if (c->arena == NULL) {
		return;
	}
	if (q != NULL) {
		get(q, n->ports[local->num].dest, UMAD_SM_ATTR_PORT_INFO,
		    DISC_PORT_MOD | local->num, on_own_port);
	}
	if (n->type != NODE_SWITCH) { /* it has no bit */
		const struct disc_node *peer = n->ports[local->num].peer;

		ask_neighbor(c, n, local->num);
		if (peer != NULL &&
		    peer->armed) { /* the switch does not ask over this cable again */
			ask_description(c, n, local->num, n->ports[local->num].dest);
		}
	}
	silent_begin(&c->silent, c->all_silent);
	c->all_silent = false;
	for (uint32_t i = 0; i < d->g->n_nodes; i++) {
		ask_node(c, d->of[i]);
		ask_silent(c, d->of[i]);
	}
	silent_end(&c->silent);
	if (c->may_clear && vports_read(&c->vports) != E_OK) {
		sm_request_heavy(c->sm, "out of memory in a light sweep");
	}
	election_start(e, d, c->arena);
}

static void request_sweep(struct changes *c, const char *how)
{
	for (uint32_t i = 0; i < c->vports.n_changed; i++) {
		note_change(c, "other virtual ports on", c->vports.changed[i], 0);
	}
	c->vports.n_changed = 0;
	if (c->n_found && c->everywhere) {
		sm_request_heavy(c->sm, "%s: %s (%u in all)", how, c->what, c->n_found);
	} else if (c->n_found) {
		sm_request_local(c->sm, c->suspects, c->n_suspects, "%s: %s (%u in all)",
		                 how, c->what, c->n_found);
	}
}

bool changes_light_end(struct changes *c)
{
	request_sweep(c, "light sweep");
	arena_free(c->arena);
	c->arena = NULL;
	return c->n_found == 0 && c->n_updated != 0;
}

/* --- senders of traps ----------------------------------------------------------------------- */

bool changes_want_light(struct changes *c)
{
	uint64_t now = sm_now(c->sm);

	if (!c->want_light || now < c->light_ms) {
		return false;
	}
	c->want_light = false;
	c->all_silent = true;
	c->light_ms = now + TRAP_GAP_MAX_MS;
	return true;
}

static void look_at_due(struct changes *c);

void changes_trap(struct changes *c, const uint8_t *notice)
{
	unsigned number = (unsigned)field_get(notice, NTC_TRAP_NUMBER);
	uint32_t lid = notice_issuer(notice);
	/* A port that met a wrong M_Key is asked, because what it is asked with the right one
	 * keeps its lease from running out (IBA vol. 1, 14.2.4.2). */
	bool lease = number == UMAD_SM_BAD_MKEY_TRAP && c->sm->d.config->m_key != 0 &&
	             c->sm->d.config->m_key_lease_period != 0;
	bool vports = number == VPORT_TRAP_CHANGES || number == VPORT_TRAP_STATE;
	const struct job *known = sm_known_job(c->sm);
	uint32_t sender = known != NULL ? trap_owner(known->program.lids, lid) : GRAPH_NONE;
	struct trap_source *s;

	if (sender != GRAPH_NONE) {
		health_trap(&c->sm->health, known->disc.g, sender, sm_now(c->sm));
	}
	if (!field_get(notice, NTC_IS_GENERIC) ||
	    (!vports && number != UMAD_SM_LINK_STATE_CHANGED_TRAP &&
	     number != UMAD_SM_LOCAL_CHANGES_TRAP && !lease)) {
		return;
	}
	s = trap_source_of(&c->sources,
	                   known != NULL || c->sources.n < EARLY_MAX ? lid : 0);
	if (s == NULL) {
		sm_request_heavy(c->sm, "trap %u from LID %u", number, lid);
		return;
	}
	s->links |= number == UMAD_SM_LINK_STATE_CHANGED_TRAP;
	s->attributes |= number == UMAD_SM_LOCAL_CHANGES_TRAP || lease || vports;
	s->n_traps++;
	if (c->looking) { /* for example the other end of the cable */
		look_at_due(c);
	}
}

static void note_source(void *ctx, const struct trap_source *s)
{
	const struct changes *c = ctx;
	const struct job *j = sm_known_job(c->sm);
	uint32_t port = j != NULL ? trap_owner(j->program.lids, s->lid) : GRAPH_NONE;
	char detail[EVENT_DETAIL_BYTES];
	struct fabric_event e = { .kind = s->held ? EVENT_PORT_FLAPPING : EVENT_PORT_QUIET,
		           .node = "a node that is gone",
		           .detail = detail };

	if (port != GRAPH_NONE) {
		events_set_node(&e, j->disc.g, j->disc.g->ports[port].node);
	}
	if (s->held) {
		snprintf(detail, sizeof(detail),
		         "(LID %u) reports changes again and again, %u traps so far: it is asked every %.1f s at most until it is quiet",
		         s->lid, s->n_traps, (double)TRAP_GAP_MAX_MS / 1000);
	} else {
		snprintf(detail, sizeof(detail), "(LID %u) is quiet again after %u traps",
		         s->lid, s->n_traps);
	}
	events_note(c->sm, &e);
}

static void hold(struct changes *c, struct trap_source *s, uint64_t now)
{
	if (trap_source_hold(s, now)) {
		note_source(c, s);
	}
}

uint64_t changes_deadline(const struct changes *c)
{
	uint64_t at = trap_source_deadline(&c->sources, c->next_ms);

	return c->want_light && c->light_ms < at ? c->light_ms : at;
}

/* --- a look at them -------------------------------------------------------------------------- */

/* Changes that a trap 144 may report, as far as anything depends on them. No table depends on an SM. */
static void on_end_port(void *ctx, const struct smp_reply *r)
{
	struct inquiry *q = ctx;
	struct disc_port *was = &q->node->ports[q->port];
	const struct graph *g = q->c->job->disc.g;
	uint32_t mask, known;

	if (!answered(q, r, q->port)) {
		return;
	}
	mask = (uint32_t)field_get(r->data, PI_CAPABILITY_MASK);
	known = (uint32_t)field_get(was->info, PI_CAPABILITY_MASK);
	if ((mask ^ known) & ~(uint32_t)CAP_IS_SM) {
		note_change(q->c, "other capabilities of", q->node, q->port);
	} else if (mask != known) {
		disc_note_change(q->node);
		field_set(was->info, PI_CAPABILITY_MASK, mask);
		q->c->n_updated++;
	}
	if (was != disc_port_of(&q->c->job->disc, g->sm_port)) {
		election_ask(q->c->election, &q->c->job->disc,
		             graph_port(g, q->node->graph_node, q->port), q->c->arena);
	}
	if (field_get(r->data, PI_PORT_STATE) != field_get(was->info, PI_PORT_STATE) ||
	    opa_lid_of_port(r->data, r->native) != disc_lid(was) ||
	    field_get(r->data, PI_LINK_WIDTH_ACTIVE) !=
	            field_get(was->info, PI_LINK_WIDTH_ACTIVE) ||
	    port_info_speed(r->data) != port_info_speed(was->info)) {
		note_change(q->c, "port state change on", q->node, q->port);
	}
}

static void look_at(struct changes *c, const struct trap_source *s)
{
	const struct graph *g = c->job->disc.g;
	uint32_t port = trap_owner(c->job->program.lids, s->lid);
	struct disc_node *n;
	struct inquiry *q;

	if (s->lid == 0) {
		note_elsewhere(c, "many traps came early, behind", NULL, 0);
	}
	if (port == GRAPH_NONE) { /* gone meanwhile, or never there */
		return;
	}
	n = c->job->disc.of[g->ports[port].node];
	q = inquiry_new(c, n, g->ports[port].num);
	if (q == NULL) {
		return;
	}
	suspect_until_asked(c, n); /* a look may end before it answers */
	if (s->links && n->type == NODE_SWITCH) {
		q->compares_ports = s->gap_ms == 0; /* not of one that goes on and on */
		get(q, &n->dest, UMAD_SM_ATTR_SWITCH_INFO, 0, on_switch_info);
	}
	if (s->attributes && n->ports[q->port].dest != NULL) {
		struct smp_dest *dest = n->ports[q->port].dest;

		get(q, dest, UMAD_SM_ATTR_PORT_INFO, DISC_PORT_MOD | q->port,
		    on_end_port);
		get(q, dest, UMAD_SM_ATTR_NODE_DESC, 0, on_described);
		if (c->may_clear && vports_read_port(&c->vports, n, q->port) != E_OK) {
			note_elsewhere(c, "out of memory for virtual ports of", n,
			               q->port);
		}
	}
}

static void look_at_due(struct changes *c)
{
	uint64_t now = sm_now(c->sm);

	for (uint32_t i = 0; i < c->sources.n; i++) {
		struct trap_source *s = &c->sources.source[i];

		if (trap_source_is_due(s, now)) {
			look_at(c, s);
			hold(c, s, now);
		}
	}
}

/* The sweeps so far failed, so nobody can be asked. All senders count as one then, that
 * of no LID. */
static void take_unknown(struct changes *c)
{
	uint64_t now = sm_now(c->sm);
	struct trap_source *s = trap_source_of(&c->sources, 0);

	for (uint32_t i = 0; i < c->sources.n; i++) {
		c->sources.source[i].links = c->sources.source[i].attributes = false;
	}
	if (s != NULL && now < s->next_ms) {
		return;
	}
	sm_request_heavy(c->sm, "a trap, while the fabric is not known");
	if (s != NULL) {
		hold(c, s, now);
	}
}

bool changes_look_start(struct changes *c, struct job *j, struct election *e)
{
	uint64_t now = sm_now(c->sm);

	if (now < c->next_ms) {
		return false;
	}
	trap_source_forget_quiet(&c->sources, now, note_source, c);
	if (!trap_source_any_due(&c->sources, now)) {
		return false;
	}
	if (sm_known_job(c->sm) == NULL) {
		take_unknown(c);
		return false;
	}
	if (begin_asking(c, j, e)) {
		c->looking = true;
		election_begin(e);
		look_at_due(c);
	}
	return true;
}

void changes_swept(struct changes *c, uint64_t started_ms)
{
	uint64_t now = sm_now(c->sm), took = now - started_ms;

	if (now >= c->quiet_ms) {
		c->gap_ms = SWEEP_GAP_FIRST_MS;
	} else {
		c->gap_ms = 2 * c->gap_ms < SWEEP_GAP_MAX_MS ? 2 * c->gap_ms
		                                             : SWEEP_GAP_MAX_MS;
	}
	c->next_ms = now + (took > c->gap_ms ? took : c->gap_ms);
	c->quiet_ms = c->next_ms + c->gap_ms + TRAP_QUIET_MS;
}

bool changes_look_found(const struct changes *c)
{
	return c->looking && c->n_found != 0;
}

bool changes_look_end(struct changes *c)
{
	request_sweep(c, "trap");
	arena_free(c->arena);
	c->arena = NULL;
	c->looking = false;
	return c->n_found == 0 && c->n_updated != 0;
}

void changes_give_up(struct changes *c)
{
	arena_free(c->arena);
	c->arena = NULL;
	c->looking = false;
}

void changes_done(struct changes *c)
{
	changes_give_up(c);
	trap_source_done(&c->sources);
	silent_done(&c->silent);
	free(c->suspects);
}
