/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Discovery.
 *
 * NodeInfo is asked for over every port whose link is up. The first answer with a new
 * NodeGUID makes a node, whose own attributes are then read: description, SwitchInfo, and
 * PortInfo of all ports of a switch or of the entered port of a channel adapter. Each
 * PortInfo that says "up" sends the next NodeInfo. All run at once; the SMP engine keeps
 * the window and a fair share per node. The order of answers decides only the route over
 * which a node is first reached; disc_finish() takes the shortest ones.
 *
 * Both ends of a cable between switches ask over it. That costs one SMP per cable and
 * reveals duplicate GUIDs: a second node with the GUID of another shows as a cable whose far
 * end does not lead back, or by a different NodeInfo.
 *
 * PortStateChange of a switch is cleared (by the master only) before its ports are read,
 * so a change that comes later raises it again and the next light sweep sees it. In a
 * first sweep, while it is not known who is master, it stays; see sa/sm/sweep/changes.c.
 *
 * Source: IBA vol. 1, 14.2 (SMPs, directed routes), 14.2.5 (attributes).
 */
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/admit.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/discover/health.h"
#include "sa/sm/discover/keyring.h"
#include "sa/sm/discover/shadow.h"

/* A Get(NodeInfo) over one port that waits for its answer. */
struct probe {
	struct smp_dest dest;
	struct disc *disc;
	struct disc_node *from; /* NULL: the local port itself */
	struct probe *next;     /* spare list */
	uint8_t port;
	unsigned keys_tried; /* see keyring_next() */
};

/* --- requests -------------------------------------------------------------------- */

/* A node that answered once has probably lost a packet, so it is asked more often. */
static unsigned retries_of(const struct disc *d)
{
	return 2 * d->options.retries + 1;
}

void disc_ask(struct disc *d, struct smp_dest *dest, const struct smp_request *what)
{
	struct smp_request o = *what;

	o.dest = dest;
	o.retries = retries_of(d);
	if (o.method == 0) {
		o.method = UMAD_METHOD_GET;
	}
	disc_error(d, smp_submit(d->smp, &o));
}

static smp_done_f on_port_info, on_node_info;

void disc_ask_port(struct disc_node *n, unsigned port)
{
	disc_note_change(n);
	disc_ask(n->disc, n->ports[port].dest,
	         &(struct smp_request){ .attr = UMAD_SM_ATTR_PORT_INFO,
	                                .mod = DISC_PORT_MOD | port,
	                                .done = on_port_info,
	                                .ctx = n });
}

static void probe_send(struct disc *d, struct disc_node *from, uint8_t port,
                       const struct smp_path *path)
{
	struct probe *p = d->spare;
	bool was_silent =
		from != NULL && d->options.silent != NULL &&
		hash_get(d->options.silent, guid_port_key(from->guid, port)) != HASH_NONE;

	if (p != NULL) {
		d->spare = p->next;
	} else {
		p = arena_alloc(d->arena, sizeof(*p));
	}
	if (p == NULL) {
		disc_error(d, -ENOMEM);
		return;
	}
	smp_dest_init(&p->dest, path);
	p->disc = d;
	p->from = from;
	p->port = port;
	p->keys_tried = 0;
	disc_error(d,
	           smp_submit(d->smp, &(struct smp_request){
					      .dest = &p->dest,
					      .method = UMAD_METHOD_GET,
					      .attr = UMAD_SM_ATTR_NODE_INFO,
					      .retries = was_silent ? 0 : retries_of(d),
					      .done = on_node_info,
					      .ctx = p }));
}

/* Nobody answers behind a port. A node that protects all it knows does so, too, as long as it is
 * not asked with its M_Key. \return true: it is asked with the next key that it may have. */
static bool probe_with_next_key(struct probe *p)
{
	struct disc *d = p->disc;
	uint64_t key;

	if (d->options.keys == NULL ||
	    !keyring_next(d->options.keys, &p->keys_tried, &key)) {
		return false;
	}
	smp_dest_revive(&p->dest);
	smp_dest_set_key(&p->dest, key, key);
	disc_error(d, smp_submit(d->smp,
	                         &(struct smp_request){ .dest = &p->dest,
	                                                .method = UMAD_METHOD_GET,
	                                                .attr = UMAD_SM_ATTR_NODE_INFO,
	                                                .retries = 1,
	                                                .done = on_node_info,
	                                                .ctx = p }));
	return true;
}

void disc_ask_behind(struct disc_node *n, uint8_t port)
{
	struct smp_path path;

	if (smp_path_extend(&n->dest.path, port, &path) != E_OK) {
		disc_problem(n->disc,
		             "no node further than %d hops can be reached: over %s",
		             SMP_HOPS_MAX, disc_place(n->disc, n, port));
		return;
	}
	probe_send(n->disc, n, port, &path);
}

/* --- attributes of a node -------------------------------------------------------- */

/* A node that answered NodeInfo and times out now is deaf. */
static bool answered(struct disc_node *n, const struct smp_reply *r)
{
	if (n->copied && r->ret != E_OK) {
		disc_doubt(n->disc, n, 0, "no good answer from");
	} else if (r->ret == E_TIMEOUT) {
		n->deaf = true;
	}
	return r->ret == E_OK;
}

static void on_description(void *ctx, const struct smp_reply *r)
{
	struct disc_node *n = ctx;

	if (answered(n, r)) {
		memcpy(n->description, r->data, sizeof(n->description));
		n->has_description = true;
	}
	n->disc->n_described++;
}

bool disc_seems_restarted(const struct disc_node *n)
{
	unsigned i = 1;

	while (i <= n->n_ports && (!n->ports[i].has_info ||
	                           field_get(n->ports[i].info, PI_PORT_STATE) < PORT_ARMED)) {
		i++;
	}
	return i > n->n_ports;
}

bool disc_is_isolated(const struct disc_node *n, unsigned port)
{
	const struct health *h = n->disc->options.health;

	return h != NULL && health_is_isolated(h, n->guid, (uint8_t)port);
}

static bool is_probed(const struct disc_node *n, const struct disc_port *p)
{
	if (p->num == 0 || field_get(p->info, PI_PORT_STATE) <= PORT_DOWN ||
	    disc_is_isolated(n, p->num)) {
		return false;
	}
	if (n->from ==
	    NULL) { /* the local node: a channel adapter sends over the SM's port only */
		return n->type == NODE_SWITCH || p->num == n->entry;
	}
	return n->type == NODE_SWITCH &&
	       p->num != n->entry; /* not back where we came in */
}

/* --- M_Keys ---------------------------------------------------------------------- */

void disc_set_key(const struct disc *d, struct smp_dest *dest, uint64_t port_guid,
                  const struct smp_dest *by)
{
	struct keyring *k = d->options.keys;

	if (k != NULL) {
		smp_dest_set_key(dest,
		                 by != NULL && by->keyed ? by->m_key
		                                         : keyring_held(k, port_guid),
		                 keyring_wanted(k, port_guid));
	}
}

static void on_key_info(void *ctx, const struct smp_reply *r);

/* A port hides its M_Key from those who do not know it, so asking with a key tells whether it is
 * the right one, which is no violation. \return true: it is asked with another one. */
static bool ask_with_next_key(struct disc_node *n, struct disc_port *p,
                              const uint8_t *info)
{
	struct disc *d = n->disc;
	uint64_t keys[KEYRING_TRIES];
	unsigned count =
		keyring_candidates(d->options.keys, p->guid, n->from == NULL, keys);

	if (p->keys_tried >= count) {
		disc_set_key(d, p->dest, p->guid, NULL);
		if (!p->foreign) {
			disc_problem(
				d,
				"%s seems to hold an M_Key that is not known here (its protection is set and it shows none): it cannot be set up until its key is in a guid2mkey file or its lease of %u s ends",
				disc_place(d, n, p->num),
				(unsigned)field_get(info, PI_M_KEY_LEASE_PERIOD));
		}
		p->foreign = true;
		return false;
	}
	smp_dest_set_key(p->dest, keys[p->keys_tried], keys[p->keys_tried]);
	p->keys_tried++;
	disc_ask(d, p->dest,
	         &(struct smp_request){ .attr = UMAD_SM_ATTR_PORT_INFO,
	                                .mod = DISC_PORT_MOD | p->num,
	                                .done = on_key_info,
	                                .ctx = n });
	return true;
}

/* Notes the M_Key that the PortInfo of an end port shows. \return true: it is hidden, and the port
 * is asked again. */
static bool take_key(struct disc_node *n, struct disc_port *p, const uint8_t *info)
{
	struct keyring *k = n->disc->options.keys;
	bool end_port = n->type != NODE_SWITCH || p->num == 0;
	uint64_t key = field_get(info, PI_M_KEY);

	if (k == NULL || !end_port) {
		return false;
	}
	if (keyring_is_hidden(info)) {
		return ask_with_next_key(n, p, info);
	}
	p->foreign = false;
	p->keys_tried = 0;
	k->shared |= n->from == NULL && k->per_port && key != 0 && key == k->m_key;
	if (k->shared && n->from == NULL) {
		disc_problem(
			n->disc,
			"every host may know the m_key, because ports held it itself before each got an M_Key of its own: make another one with 'saguaro keys init', and name this one in m_key_old");
	}
	disc_error(n->disc, keyring_note(k, p->guid, key));
	/* A port without a key takes any, so it is not asked without one while it gets its own. */
	smp_dest_set_key(p->dest, key != 0 ? key : keyring_wanted(k, p->guid),
	                 keyring_wanted(k, p->guid));
	return false;
}

static void on_change_cleared(void *ctx, const struct smp_reply *r);

/* Writing the bit as read, 1, clears it. */
static void clear_change(struct disc_node *n)
{
	n->clears = false;
	disc_ask(n->disc, &n->dest,
	         &(struct smp_request){ .method = UMAD_METHOD_SET,
	                                .attr = UMAD_SM_ATTR_SWITCH_INFO,
	                                .data = n->switch_info,
	                                .basis = n->opa_switch_info,
	                                .done = on_change_cleared,
	                                .ctx = n });
}

static void ask_ports(struct disc_node *n, unsigned first)
{
	for (unsigned i = first; i <= n->n_ports; i++) {
		disc_ask_port(n, i);
	}
}

/* PortInfo of a port, and the M_Key, if it has one, is known or will not be. */
static void take_port(struct disc_node *n, struct disc_port *p, const uint8_t *info)
{
	if (n->copied) {
		disc_local_port(n, p, info);
	} else {
		memcpy(p->info, info, sizeof(p->info));
		p->has_info = true;
		if (is_probed(n, p)) {
			disc_ask_behind(n, p->num);
		}
	}
	if (n->clears && p->num == 0 && p->foreign) {
		n->clears = false;
		ask_ports(n, 1);
	} else if (n->clears && p->num == 0) {
		clear_change(n);
	}
}

static void on_port_info(void *ctx, const struct smp_reply *r)
{
	struct disc_node *n = ctx;
	struct disc_port *p = &n->ports[r->mod & 0xff];

	if (n->copied && r->ret == E_MALFORMED && !p->has_info) {
		return; /* as before */
	}
	if (answered(n, r) && !take_key(n, p, r->data)) {
		n->disc->cables_changed |= admit_port_differs(p->opa_info, r->native);
		disc_error(n->disc, disc_keep_port_info(p, n->disc->own, r));
		take_port(n, p, r->data);
	}
}

static void on_key_info(void *ctx, const struct smp_reply *r)
{
	struct disc_node *n = ctx;

	on_port_info(n, r);
}

static void on_change_cleared(void *ctx, const struct smp_reply *r)
{
	struct disc_node *n = ctx;

	if (answered(n, r)) {
		disc_error(n->disc, disc_take_switch_info(n, n->disc->own, r));
	}
	if (!n->deaf) {
		ask_ports(n, 1);
	}
}

static void on_switch_info(void *ctx, const struct smp_reply *r)
{
	struct disc_node *n = ctx;

	if (!answered(n, r)) {
		return;
	}
	n->disc->cables_changed |= admit_switch_differs(n->opa_switch_info, r->native);
	disc_error(n->disc, disc_take_switch_info(n, n->disc->own, r));
	n->has_switch_info = true;
	n->clears =
		n->disc->options.clear_change && field_get(r->data, SI_PORT_STATE_CHANGE);
	if (n->clears) {
		disc_ask_port(n, 0); /* for its M_Key, without which it takes no Set */
	} else {
		ask_ports(n, 0);
	}
}

void disc_ask_node(struct disc_node *n)
{
	struct smp_request o = { .attr = UMAD_SM_ATTR_NODE_DESC,
		                 .done = on_description,
		                 .ctx = n };

	disc_note_change(n);
	disc_ask(n->disc, &n->dest, &o);
	if (n->type == NODE_SWITCH) {
		o.attr = UMAD_SM_ATTR_SWITCH_INFO;
		o.done = on_switch_info;
		disc_ask(n->disc, &n->dest, &o);
		return;
	}
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->ports[i].dest != NULL) {
			disc_ask_port(n, i);
		}
	}
}

/* --- nodes ----------------------------------------------------------------------- */

static bool node_info_sane(const uint8_t *ni)
{
	unsigned type = (unsigned)field_get(ni, NI_NODE_TYPE);
	unsigned n_ports = (unsigned)field_get(ni, NI_NUM_PORTS);
	unsigned local = (unsigned)field_get(ni, NI_LOCAL_PORT_NUM);

	return type >= NODE_CA && type <= NODE_ROUTER && n_ports >= 1 && n_ports <= 254 &&
	       local <= n_ports && (local > 0 || type == NODE_SWITCH) &&
	       field_get(ni, NI_NODE_GUID) != 0;
}

static struct disc_node *node_new(struct probe *p, const uint8_t *ni)
{
	struct disc *d = p->disc;
	struct disc_node *n = arena_alloc(d->own, sizeof(*n));

	if (n == NULL) {
		return NULL;
	}
	n->disc = d;
	smp_dest_init(&n->dest, &p->dest.path);
	n->guid = field_get(ni, NI_NODE_GUID);
	n->type = (uint8_t)field_get(ni, NI_NODE_TYPE);
	n->n_ports = (uint8_t)field_get(ni, NI_NUM_PORTS);
	n->entry = (uint8_t)field_get(ni, NI_LOCAL_PORT_NUM);
	n->from = p->from;
	n->from_port = p->port;
	n->graph_node = GRAPH_NONE;
	memcpy(n->node_info, ni, sizeof(n->node_info));
	n->ports = arena_array(d->own, (size_t)n->n_ports + 1, sizeof(*n->ports));
	if (n->ports == NULL ||
	    VECTOR_RESERVE(d->nodes, d->cap_nodes, d->n_nodes + 1) != E_OK ||
	    hash_put(&d->by_guid, n->guid, d->n_nodes) != E_OK) {
		return NULL;
	}
	d->nodes[d->n_nodes++] = n;
	for (unsigned i = 0; i <= n->n_ports; i++) {
		n->ports[i].num = (uint8_t)i;
		if (n->type == NODE_SWITCH) {
			n->ports[i].dest = &n->dest;
			n->ports[i].guid = field_get(ni, NI_PORT_GUID);
		}
	}
	disc_set_key(d, &n->dest, field_get(ni, NI_PORT_GUID), &p->dest);
	return n;
}

static void cable(struct disc_node *a, uint8_t pa, struct disc_node *b, uint8_t pb)
{
	disc_note_change(a);
	a->disc->cables_changed |= disc_may_lead_on(a, b);
	a->ports[pa].peer = b;
	a->ports[pa].peer_port = pb;
}

/* A port of a channel adapter or router seen for the first time: it answers for itself.
 */
static int enter_port(struct disc_node *n, uint8_t num, struct probe *p,
                      const uint8_t *ni)
{
	struct disc_port *port = &n->ports[num];

	port->dest = &n->dest;
	if (num != n->entry) {
		port->dest = arena_alloc(n->disc->own, sizeof(*port->dest));
		if (port->dest == NULL) {
			return -ENOMEM;
		}
		smp_dest_init(port->dest, &p->dest.path);
		disc_set_key(n->disc, port->dest, field_get(ni, NI_PORT_GUID), &p->dest);
	}
	port->guid = field_get(ni, NI_PORT_GUID);
	return E_OK;
}

/* Could both NodeInfos be of one node? */
bool disc_same_node(const uint8_t *a, const uint8_t *b)
{
	return field_get(a, NI_NODE_TYPE) == field_get(b, NI_NODE_TYPE) &&
	       field_get(a, NI_NUM_PORTS) == field_get(b, NI_NUM_PORTS) &&
	       field_get(a, NI_SYSTEM_IMAGE_GUID) == field_get(b, NI_SYSTEM_IMAGE_GUID) &&
	       field_get(a, NI_DEVICE_ID) == field_get(b, NI_DEVICE_ID) &&
	       field_get(a, NI_VENDOR_ID) == field_get(b, NI_VENDOR_ID) &&
	       (field_get(a, NI_NODE_TYPE) != NODE_SWITCH ||
	        field_get(a, NI_PORT_GUID) == field_get(b, NI_PORT_GUID));
}

static void add_node(struct probe *p, const uint8_t *ni)
{
	struct disc_node *n = node_new(p, ni);

	if (n == NULL ||
	    (n->type != NODE_SWITCH && enter_port(n, n->entry, p, ni) != E_OK)) {
		disc_error(p->disc, -ENOMEM);
		return;
	}
	if (p->from != NULL) {
		cable(p->from, p->port, n, n->entry);
		p->from->ports[p->port].confirmed = true;
		cable(n, n->entry, p->from, p->port);
	}
	disc_ask_node(n);
}

static void add_known_node(struct disc_node *n, struct probe *p, const uint8_t *ni)
{
	uint8_t num = (uint8_t)field_get(ni, NI_LOCAL_PORT_NUM);

	if (n->copied) {
		disc_local_found(n, p->from, p->port, &p->dest.path, ni);
		return;
	}
	if (!disc_same_node(n->node_info, ni)) {
		disc_problem(
			p->disc,
			"GUID 0x%016" PRIx64
			" is there twice, on different nodes: behind %s and behind %s; the second is left out",
			n->guid, disc_place(p->disc, n->from, n->from_port),
			disc_place(p->disc, p->from, p->port));
		return;
	}
	cable(p->from, p->port, n, num);
	p->from->ports[p->port].confirmed = true;
	if (n->type == NODE_SWITCH || n->ports[num].peer != NULL) {
		return;
	}
	cable(n, num, p->from, p->port);
	if (n->ports[num].dest == NULL) {
		if (enter_port(n, num, p, ni) != E_OK) {
			disc_error(p->disc, -ENOMEM);
			return;
		}
		disc_ask_port(n, num);
	}
}

static void begin(struct disc *d)
{
	probe_send(d, NULL, 0, &(struct smp_path){ 0 });
}

/* Does the local node, asked in InfiniBand's format, say that it has the other one? */
static bool is_other_format(const struct probe *p, const struct smp_reply *r)
{
	return p->from == NULL && r->ret == E_OK && !smp_is_omni_path(p->disc->smp) &&
	       field_get(r->data, NI_BASE_VERSION) == OPA_CLASS_VERSION;
}

static void on_node_info(void *ctx, const struct smp_reply *r)
{
	struct probe *p = ctx;
	struct disc *d = p->disc;
	uint32_t i;

	if (r->ret == E_TIMEOUT && probe_with_next_key(p)) {
		return;
	}
	if (is_other_format(p, r)) {
		disc_opa_begin(d, begin);
	} else if (r->ret != E_OK) {
		if (p->from != NULL) {
			disc_note_change(p->from);
			p->from->ports[p->port].silent = true;
		}
	} else if (!admit_node_info(d, p->from, p->port, r->data)) {
		/* it is listed */
	} else if (!node_info_sane(r->data)) {
		disc_problem(
			d,
			"a node answers NodeInfo with values that cannot be: behind %s",
			disc_place(d, p->from, p->port));
	} else {
		i = hash_get(&d->by_guid, field_get(r->data, NI_NODE_GUID));
		if (i == HASH_NONE) {
			add_node(p, r->data);
		} else {
			add_known_node(d->nodes[i], p, r->data);
		}
	}
	p->next = d->spare;
	d->spare = p;
}

int disc_start(struct disc *d, struct smp *smp, struct arena *a,
               const struct disc_options *o)
{
	memset(d, 0, sizeof(*d));
	d->smp = smp;
	d->arena = a;
	d->options = *o;
	d->own = arena_new();
	if (d->own == NULL) {
		return -ENOMEM;
	}
	if (smp_is_omni_path(smp)) { /* another manager may have changed the P_Keys of our port */
		disc_opa_begin(d, begin);
	} else {
		begin(d);
	}
	return d->ret;
}

void disc_done(struct disc *d)
{
	free(d->nodes);
	free(d->changed);
	free(d->saved);
	arena_free(d->own);
	d->nodes = d->changed = NULL;
	d->saved = NULL;
	d->own = NULL;
	hash_done(&d->by_guid);
}
