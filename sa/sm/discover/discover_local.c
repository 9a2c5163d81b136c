/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Local discovery: what changed since the last discovery, without asking the rest again.
 *
 * It begins with the nodes and cables as they were, which change in place; those that change are saved
 * first, so that a discovery that fails gives them back. Suspects are read again, which
 * are nodes that reported a change or that a light sweep found changed, and then what hangs on
 * them:
 *
 *   - A port that is down, or whose link came up anew since it was armed, has lost its cable.
 *     So has the port at the other end, and if that is a switch, it becomes a suspect.
 *   - Behind a port that is up and has no cable a NodeInfo asks who is there. A new node is
 *     discovered in the ordinary way; a known one gets the cable and becomes a suspect. So it is
 *     with a node that was refused (admit.h): it stays refused until its port is read again.
 *   - Any other port has the neighbour that it had: a link that was down is not ACTIVE
 *     before this subnet manager arms it again.
 *
 * It goes in waves. Between two of them nothing is pending, and routes are searched again over
 * the cables that are left. A suspect is read when its route passes no other suspect. After it
 * lost a cable, the port of its neighbour on the new route is read first. So nothing is sent
 * over a cable that is known to be gone, and a switch without power costs no timeout: after its
 * second lost cable all its neighbours become suspects, and their ports say that it is gone. A
 * node that no cable reaches any more is left out.
 *
 * An answer that does not fit raises a doubt, and a full discovery follows: no answer, another node
 * than the copy says, ends of a cable that disagree, the subnet manager's own cable, a channel
 * adapter with two ports that loses the one by which it was found.
 *
 * Attributes of nodes that are no suspects are not read. They may be old if a node changed and
 * nothing said so.
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sm/discover/admit.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/shadow.h"

enum { WAVES_MAX = 200 };

/* --- taking over, and giving back ------------------------------------------------- */

/* A destination to which nothing was sent so far. */
static void renew_dest(const struct disc *d, struct smp_dest *dest, uint64_t port_guid)
{
	struct smp_dest was = *dest;

	smp_dest_init(dest, &was.path);
	disc_set_key(d, dest, port_guid, &was);
}

/* Makes a node ready for a discovery that has just begun. */
static void renew_node(struct disc *d, struct disc_node *n)
{
	bool touched = n->saved || !n->copied || n->type != NODE_SWITCH;

	n->disc = d;
	n->copied = true;
	n->saved = n->suspect = false;
	n->asked = 0;
	n->n_lost = 0;
	renew_dest(d, &n->dest, n->ports[n->type == NODE_SWITCH ? 0 : n->entry].guid);
	for (unsigned i = 0; touched && i <= n->n_ports; i++) {
		struct disc_port *p = &n->ports[i];

		p->confirmed = false;
		if (p->dest != NULL && p->dest != &n->dest) {
			renew_dest(d, p->dest, p->guid);
		}
	}
}

/* Leaves out the nodes that the last discovery did not reach. */
static int leave_out(struct disc *d)
{
	uint32_t n = 0;
	int ret = E_OK;

	for (uint32_t i = 0; i < d->n_nodes; i++) {
		if (d->nodes[i]->reached) {
			d->nodes[n++] = d->nodes[i];
		}
	}
	if (n == d->n_nodes) {
		return E_OK;
	}
	d->n_nodes = n;
	hash_clear(&d->by_guid);
	for (uint32_t i = 0; i < n && ret == E_OK; i++) { /* there is room */
		ret = hash_put(&d->by_guid, d->nodes[i]->guid, i);
	}
	n = 0;
	for (uint32_t i = 0; i < d->n_changed; i++) {
		if (d->changed[i]->reached) {
			d->changed[n++] = d->changed[i];
		}
	}
	d->n_changed = n;
	return ret;
}

/* Moves what goes from one discovery to the next. */
static void move_nodes(struct disc *to, struct disc *from)
{
	to->own = from->own;
	to->own_bytes = from->own_bytes;
	to->nodes = from->nodes;
	to->cap_nodes = from->cap_nodes;
	to->n_nodes = from->n_nodes;
	to->by_guid = from->by_guid;
	to->changed = from->changed;
	to->n_changed = from->n_changed;
	to->cap_changed = from->cap_changed;
	to->any_changed = from->any_changed;
	from->own = NULL;
	from->nodes = from->changed = NULL;
	from->n_nodes = from->n_changed = 0;
	from->cap_nodes = from->cap_changed = 0;
	from->by_guid = (struct hash_table){ .n = 0 };
}

int disc_take(struct disc *d, struct disc *from, struct smp *smp, struct arena *a,
              const struct disc_options *o)
{
	int ret = leave_out(from);

	if (ret != E_OK) {
		return ret;
	}
	*d = (struct disc){ .smp = smp,
		            .arena = a,
		            .options = *o,
		            .local = true,
		            .may_return = true,
		            .copied = from->g,
		            .was = from->of };
	ret = admit_take(d, from);
	if (ret != E_OK) {
		return ret;
	}
	move_nodes(d, from);
	d->before.n_nodes = d->n_nodes;
	d->before.n_changed = d->n_changed;
	d->before.any_changed = d->any_changed;
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		renew_node(d, d->nodes[i]);
	}
	return E_OK;
}

void disc_give_back(struct disc *d, struct disc *from)
{
	if (!d->may_return) {
		return;
	}
	disc_restore(d);
	for (uint32_t i = d->before.n_nodes; i < d->n_nodes; i++) {
		d->nodes[i]->reached = false; /* it is new */
	}
	for (uint32_t i = 0; i < d->before.n_nodes; i++) {
		d->nodes[i]->reached = true;
	}
	d->n_changed = d->before.n_changed;
	d->any_changed = d->before.any_changed;
	move_nodes(from, d);
	(void)leave_out(from); /* there is room */
	for (uint32_t i = 0; i < from->g->n_nodes; i++) {
		renew_node(from, from->of[i]);
		from->of[i]->graph_node = i;
	}
	d->may_return = false;
}

void disc_keep(struct disc *d)
{
	d->may_return = false;
	d->n_saved = 0;
	d->copied = NULL;
	d->was = NULL;
}

/* --- suspects --------------------------------------------------------------------- */

bool disc_suspect(struct disc *d, uint64_t guid)
{
	uint32_t i = hash_get(&d->by_guid, guid);

	if (i != HASH_NONE) {
		d->nodes[i]->suspect = true;
	}
	return i != HASH_NONE;
}

static void suspect_neighbors(struct disc_node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct disc_node *peer = n->ports[i].peer;

		if (peer != NULL && peer->type == NODE_SWITCH && peer->copied) {
			peer->suspect = true;
		}
	}
}

/* The port of a channel adapter is as if it had never been found. */
static void forget_port(struct disc_node *n, struct disc_port *p)
{
	for (unsigned i = 1; i <= n->n_ports && p->num == n->entry; i++) {
		if (n->ports[i].peer != NULL) {
			disc_doubt(n->disc, n, p->num, "another port is left of");
		}
	}
	p->has_info = false;
	p->guid = 0;
	p->dest = NULL;
	p->sm_info = NULL;
}

/* A cable went. Routes that do not lead over it stay as they are. A channel adapter
 * passes nothing on, so no other route ends with its own. */
static void lose_route(struct disc_node *n, const struct disc_node *by, uint8_t by_port)
{
	if (n->from != by || n->from_port != by_port) {
		return;
	}
	if (n->type == NODE_SWITCH) {
		n->disc->cables_changed = true;
	} else {
		n->reached = false;
	}
}

/* Takes the cable from a port and from the port at its other end. */
static void lose_cable(struct disc_node *n, struct disc_port *p)
{
	struct disc *d = n->disc;
	struct disc_node *far = p->peer;
	struct disc_port *q;

	if (far == NULL) {
		return;
	}
	disc_note_change(n);
	disc_note_change(far);
	q = &far->ports[p->peer_port];
	lose_route(far, n, p->num);
	lose_route(n, far, p->peer_port);
	p->peer = NULL;
	p->peer_port = 0;
	if (q->peer != n || q->confirmed || !far->copied) {
		disc_doubt(d, far, q->num, "the two ends of a cable do not agree at");
		return;
	}
	q->peer = NULL;
	q->peer_port = 0;
	if (far->type == NODE_SWITCH) {
		field_set(q->info, PI_PORT_STATE, PORT_DOWN);
		far->suspect = true;
		if (++far->n_lost == 2) {
			suspect_neighbors(far);
		}
	} else if (far == d->nodes[0]) {
		disc_doubt(d, n, p->num, "the subnet manager's own cable changed at");
	} else {
		forget_port(far, q);
	}
}

/* --- answers ---------------------------------------------------------------------- */

/* A channel adapter shows another state or speed: so does the switch at its cable. */
static void take_end_port(struct disc_node *n, struct disc_port *p, const uint8_t *info)
{
	bool up = field_get(info, PI_PORT_STATE) > PORT_DOWN;
	bool was_new = !p->has_info, same;

	same = !was_new &&
	       field_get(info, PI_PORT_STATE) == field_get(p->info, PI_PORT_STATE) &&
	       field_get(info, PI_LINK_WIDTH_ACTIVE) ==
	               field_get(p->info, PI_LINK_WIDTH_ACTIVE) &&
	       port_info_speed(info) == port_info_speed(p->info);
	memcpy(p->info, info, sizeof(p->info));
	p->has_info = true;
	if (!up || (n == n->disc->nodes[0] && !same)) {
		disc_doubt(n->disc, n, p->num, "another state of");
	} else if (!same && !was_new && !p->confirmed && p->peer != NULL) {
		p->peer->suspect = true;
	}
}

void disc_local_port(struct disc_node *n, struct disc_port *p, const uint8_t *info)
{
	uint64_t state = field_get(info, PI_PORT_STATE);
	bool same =
		p->has_info && state == field_get(p->info, PI_PORT_STATE) &&
		shadow_port_info_hash(info, NULL) == shadow_port_info_hash(p->info, NULL);

	if (n->type != NODE_SWITCH) {
		take_end_port(n, p, info);
		return;
	}
	memcpy(p->info, info, sizeof(p->info));
	p->has_info = true;
	if (p->num == 0) {
		return;
	}
	if (p->confirmed) {
		if (state <= PORT_DOWN) {
			disc_doubt(n->disc, n, p->num, "a cable came and went at");
		}
		return;
	}
	if (same && p->peer != NULL && state >= PORT_ARMED) {
		p->confirmed = true;
		return;
	}
	lose_cable(n, p);
	admit_again(n->disc, p);
	p->silent = false;
	n->suspect = true;
	if (state > PORT_DOWN && !disc_is_isolated(n, p->num)) {
		disc_ask_behind(n, p->num);
	}
}

/* A known channel adapter behind another port or after a restart. */
static void enter_again(struct disc_node *n, struct disc_port *q, struct disc_node *from,
                        uint8_t from_port, const struct smp_path *path, const uint8_t *ni)
{
	bool only = true;

	if (n->asked) {
		disc_doubt(n->disc, n, q->num, "two changes at once at");
		return;
	}
	for (unsigned i = 1; i <= n->n_ports; i++) {
		only &= i == q->num || n->ports[i].peer == NULL;
	}
	if (only) {
		memcpy(n->node_info, ni, sizeof(n->node_info));
		n->entry = q->num;
		n->from = from;
		n->from_port = from_port;
		smp_dest_init(&n->dest, path);
		disc_set_key(n->disc, &n->dest, field_get(ni, NI_PORT_GUID), NULL);
		q->dest = &n->dest;
	} else {
		q->dest = arena_alloc(n->disc->own, sizeof(*q->dest));
		if (q->dest == NULL) {
			disc_error(n->disc, -ENOMEM);
			return;
		}
		smp_dest_init(q->dest, path);
		disc_set_key(n->disc, q->dest, field_get(ni, NI_PORT_GUID), NULL);
	}
	q->guid = field_get(ni, NI_PORT_GUID);
	n->asked = n->disc->n_waves;
	disc_ask_node(n);
}

void disc_local_found(struct disc_node *n, struct disc_node *from, uint8_t from_port,
                      const struct smp_path *path, const uint8_t *ni)
{
	struct disc *d = n->disc;
	uint8_t num = (uint8_t)field_get(ni, NI_LOCAL_PORT_NUM);
	struct disc_port *p = &from->ports[from_port], *q = &n->ports[num];

	if (!disc_same_node(n->node_info, ni) || n == d->nodes[0] || num == 0 ||
	    (q->confirmed && (q->peer != from || q->peer_port != from_port))) {
		disc_doubt(
			d, from, from_port,
			"a known GUID shows at another place or as another node, behind");
		return;
	}
	disc_note_change(n);
	disc_note_change(from);
	if (q->peer != NULL && (q->peer != from || q->peer_port != from_port)) {
		lose_cable(n, q);
	}
	if (field_get(q->info, PI_PORT_STATE) <= PORT_DOWN) { /* until it is read */
		field_set(q->info, PI_PORT_STATE, PORT_INIT);
	}
	admit_again(d, q);
	p->peer = n;
	p->peer_port = num;
	q->peer = from;
	q->peer_port = from_port;
	p->confirmed = q->confirmed = true;
	d->cables_changed |= disc_may_lead_on(n, from);
	if (n->type != NODE_SWITCH) {
		enter_again(n, q, from, from_port, path, ni);
	} else if (n->asked) {
		disc_ask_port(n, num);
	} else {
		n->suspect = true;
	}
}

/* --- waves ------------------------------------------------------------------------ */

static void on_identity(void *ctx, const struct smp_reply *r)
{
	struct disc_node *n = ctx;

	if (r->ret != E_OK || field_get(r->data, NI_NODE_GUID) != n->guid ||
	    field_get(r->data, NI_LOCAL_PORT_NUM) != n->entry ||
	    !disc_same_node(n->node_info, r->data)) {
		disc_doubt(n->disc, n, n->entry,
		           "no answer, or another node, in the place of");
	}
}

/* Does the route of a node pass no suspect that is not read yet? A node asked in this wave has not
 * answered. */
static bool route_is_known(const struct disc_node *n)
{
	unsigned wave = n->disc->n_waves;

	for (n = n->from; n != NULL; n = n->from) {
		if (n->suspect && (n->asked == 0 || n->asked == wave)) {
			return false;
		}
	}
	return true;
}

static void read_again(struct disc_node *n)
{
	struct disc_node *from = n->from;

	if (n->n_lost > 0 && from != NULL && from->copied && !from->asked &&
	    !from->ports[n->from_port].confirmed) {
		disc_ask_port(from, n->from_port);
		return;
	}
	n->asked = n->disc->n_waves;
	disc_ask(n->disc, &n->dest,
	         &(struct smp_request){
			 .attr = UMAD_SM_ATTR_NODE_INFO, .done = on_identity, .ctx = n });
	disc_ask_node(n);
}

static void search_again(struct disc *d)
{
	struct disc_node **order = calloc(d->n_nodes, sizeof(struct disc_node *));

	if (order == NULL) {
		disc_error(d, -ENOMEM);
		return;
	}
	disc_search(d, order);
	free(order);
}

void disc_local_step(struct disc *d)
{
	if (++d->n_waves > WAVES_MAX) {
		disc_doubt(d, d->nodes[0], 0, "changes do not end, seen from");
	}
	if (d->cables_changed) {
		search_again(d);
	} else {
		disc_reach_hosts(d);
	}
	for (uint32_t i = 0; i < d->n_nodes && d->ret == E_OK && d->doubt == NULL; i++) {
		struct disc_node *n = d->nodes[i];

		if (n->suspect && !n->asked && n->copied && n->reached &&
		    route_is_known(n)) {
			read_again(n);
		}
	}
}

/* --- the check -------------------------------------------------------------------- */

static bool ports_differ(const struct disc_port *a, const struct disc_port *b)
{
	uint64_t x = a->peer != NULL && a->peer->reached ? a->peer->guid : 0,
		 y = b->peer != NULL && b->peer->reached ? b->peer->guid : 0;

	return a->has_info != b->has_info || x != y ||
	       (x != 0 && a->peer_port != b->peer_port) ||
	       (a->has_info &&
	        (field_get(a->info, PI_PORT_STATE) != field_get(b->info, PI_PORT_STATE) ||
	         shadow_port_info_hash(a->info, a->opa_info) !=
	                 shadow_port_info_hash(b->info, b->opa_info)));
}

static uint32_t node_differences(const struct disc_node *a, const struct disc_node *b)
{
	uint8_t x[64], y[64];
	uint32_t n;

	if (a->type != b->type || a->n_ports != b->n_ports) {
		return 1;
	}
	memcpy(x, a->switch_info, sizeof(x));
	memcpy(y, b->switch_info, sizeof(y));
	field_set(x, SI_PORT_STATE_CHANGE, 0);
	field_set(y, SI_PORT_STATE_CHANGE, 0);
	n = (uint32_t)(memcmp(x, y, sizeof(x)) != 0) +
	    (uint32_t)(memcmp(a->description, b->description, 64) != 0);
	for (unsigned i = 0; i <= a->n_ports; i++) {
		n += ports_differ(&a->ports[i], &b->ports[i]);
	}
	return n;
}

uint32_t disc_differences(const struct disc *a, const struct disc *b)
{
	uint32_t n = 0, common = 0;

	for (uint32_t i = 0; i < a->g->n_nodes; i++) {
		uint32_t other = graph_node_by_guid(b->g, a->g->nodes[i].guid);

		if (other != GRAPH_NONE) {
			common++;
			n += node_differences(a->of[i], b->of[other]);
		}
	}
	for (size_t i = 0; i < a->n_refused; i++) {
		n += !admit_lists(b, &a->refused[i], true);
	}
	for (size_t i = 0; i < b->n_refused; i++) {
		n += !admit_lists(a, &b->refused[i], true);
	}
	return n + (a->g->n_nodes - common) + (b->g->n_nodes - common);
}
