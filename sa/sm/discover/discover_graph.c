/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * From the answers of a discovery to a graph.
 *
 * A cable counts when both its ends were read as up and no end tells of another far end.
 * A search in breadth from the local port over such cables takes nodes whose attributes
 * are complete; it gives each its shortest route, and by its order alone the graph is the
 * same whatever order the answers came in. The rest is reported: deaf nodes with the
 * neighbour through which they were seen, duplicate GUIDs with both places, silent ports. On
 * Omni-Path a cable does not count whose far end is refused (admit.h).
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/discover/admit.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/shadow.h"

enum { PROBLEM_LINES = 20 };

static const char *const source = "sweep";

/* --- what counts ----------------------------------------------------------------- */

static bool is_up(const struct disc_port *p)
{
	return p->has_info && field_get(p->info, PI_PORT_STATE) > PORT_DOWN;
}

static bool is_complete(const struct disc_node *n)
{
	if (n->deaf) {
		return false;
	}
	if (n->type == NODE_SWITCH) {
		return n->has_switch_info && n->ports[0].has_info;
	}
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->ports[i].has_info) {
			return true;
		}
	}
	return false;
}

/* The far end of a cable that both ends agree on, or NULL. What was refused over one end is not believed over
 * the other. */
static struct disc_port *cabled(const struct disc_node *n, unsigned num)
{
	const struct disc_port *p = &n->ports[num];
	struct disc_port *far;

	if (num == 0 || p->peer == NULL || p->peer_port == 0 || !is_up(p)) {
		return NULL;
	}
	far = &p->peer->ports[p->peer_port];
	if (!is_up(far) || p->refused || far->refused ||
	    (far->peer != NULL && (far->peer != n || far->peer_port != num))) {
		return NULL;
	}
	return far;
}

/* Is a node as it was in the sweep before, for a local sweep? */
static bool is_old(const struct disc_node *n)
{
	return n->copied && !(n->changed & DISC_SINCE_GRAPH);
}

/* --- duplicate GUIDs -------------------------------------------------------------------- */

/* A cable whose far end says that it is cabled elsewhere, or down, leads to a second node
 * with the same GUID. */
static void report_duplicates(struct disc *d, const struct disc_node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct disc_port *p = &n->ports[i];
		const struct disc_port *far;

		if (p->peer == NULL || p->peer->deaf || !is_up(p) || p->peer_port == 0) {
			continue;
		}
		far = &p->peer->ports[p->peer_port];
		if (!far->has_info || (is_up(far) && far->peer == NULL) ||
		    (far->peer == n && far->peer_port == i)) {
			continue;
		}
		d->clean = false;
		disc_problem(
			d,
			"GUID 0x%016" PRIx64
			" is there twice, or its cables are being moved: %s is cabled to %s, but a node with the same GUID and port is behind %s; the second is left out",
			p->peer->guid, disc_place(d, p->peer, p->peer_port),
			far->peer ? disc_place(d, far->peer, far->peer_port) : "nothing",
			disc_place(d, n, i));
	}
}

/* --- silence ---------------------------------------------------------------------- */

/* The node behind a port in the last sweep. \return GRAPH_NONE: unknown. */
static uint32_t known_peer(const struct graph *prev, uint64_t guid, uint8_t num)
{
	uint32_t node, port;

	if (prev == NULL) {
		return GRAPH_NONE;
	}
	node = graph_node_by_guid(prev, guid);
	port = node == GRAPH_NONE ? GRAPH_NONE : graph_port(prev, node, num);
	if (port == GRAPH_NONE || prev->ports[port].peer == GRAPH_NONE) {
		return GRAPH_NONE;
	}
	return prev->ports[prev->ports[port].peer].node;
}

static void report_silent(struct disc *d, struct disc_node *n, struct disc_port *p,
                          const struct graph *prev, struct hash_table *counted)
{
	uint32_t known = known_peer(prev, n->guid, p->num);
	uint64_t peer = known != GRAPH_NONE ? prev->nodes[known].guid : 0;

	if (peer && hash_get(&d->by_guid, peer) != HASH_NONE &&
	    d->nodes[hash_get(&d->by_guid, peer)]->reached) {
		peer = 0; /* that node is fine; it is the cable, or something new */
	}
	if (!peer || hash_get(counted, peer) == HASH_NONE) {
		d->n_unreachable++;
	}
	if (peer) {
		disc_problem(
			d, "node \"%s\" (0x%016" PRIx64 ") does not answer behind %s",
			node_name(&prev->nodes[known]), peer, disc_place(d, n, p->num));
		if (hash_put(counted, peer, 1) != E_OK) {
			d->ret = -ENOMEM;
		}
		return;
	}
	disc_problem(d, "no answer behind %s, though its link is up",
	             disc_place(d, n, p->num));
}

/* Is a node refused, or was it seen behind one that is? */
static bool is_quarantined(const struct disc_node *n)
{
	while (n != NULL && !n->reached && !n->refused) {
		n = n->from;
	}
	return n != NULL && !n->reached;
}

static void report(struct disc *d, const struct graph *prev)
{
	struct hash_table counted = { 0 };

	for (uint32_t i = 0; i < d->n_nodes; i++) {
		struct disc_node *n = d->nodes[i];

		if (!n->reached && (n->copied || is_quarantined(n))) {
			continue; /* it is gone, or listed */
		}
		if (!n->reached) {
			d->clean &= n->deaf;
			d->n_unreachable++;
			d->n_left_out++;
			disc_problem(d, "%s %s and is left out; seen behind %s",
			             disc_place(d, n, n->entry),
			             n->deaf ? "stopped answering" : "cannot be reached",
			             disc_place(d, n->from, n->from_port));
			continue;
		}
		if (is_old(n) && n->n_silent == 0) {
			continue;
		}
		n->n_silent = 0;
		report_duplicates(d, n);
		for (unsigned k = 1; k <= n->n_ports; k++) {
			struct disc_port *p = &n->ports[k];

			if (p->silent && p->peer == NULL) {
				report_silent(d, n, p, prev, &counted);
			} else {
				/* light sweeps ask behind it again */
				p->silent = p->peer != NULL && p->peer->deaf;
				p->peer = p->silent ? NULL : p->peer;
			}
			n->n_silent += p->silent;
		}
	}
	hash_done(&counted);
}

int disc_silent(const struct disc *d, struct hash_table *ret_table)
{
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		const struct disc_node *n = d->nodes[i];

		for (unsigned k = 1; n->n_silent != 0 && k <= n->n_ports; k++) {
			int ret = E_OK;

			if (n->reached && n->ports[k].silent) {
				ret = hash_put(ret_table,
				               guid_port_key(n->guid, (uint8_t)k), 1);
			}
			if (ret != E_OK) {
				return ret;
			}
		}
	}
	return E_OK;
}

/* --- the search ------------------------------------------------------------------- */

/* A node found over n's port: a switch gets its route with the first, each port of a
 * channel adapter its own. \return Is it new? */
static bool reach(struct disc_node *n, unsigned num, const struct disc_port *far)
{
	struct disc_node *b = n->ports[num].peer;
	bool first = !b->reached && is_complete(b);
	struct smp_path path;

	if (smp_path_extend(&n->dest.path, (uint8_t)num, &path) != E_OK) {
		return false;
	}
	smp_path_enter(&path, far->num);
	b->reached |= first;
	if (b->type != NODE_SWITCH) {
		if (b->from != NULL && b->ports[far->num].dest != NULL) {
			b->ports[far->num].dest->path = path;
		}
	} else if (first) {
		b->dest.path = path;
		b->entry = far->num;
		b->from = n;
		b->from_port = (uint8_t)num;
	}
	return first;
}

uint32_t disc_search(struct disc *d, struct disc_node **order)
{
	uint32_t n_found = 0;

	for (uint32_t i = 0; i < d->n_nodes; i++) {
		d->nodes[i]->reached = false;
	}
	d->cables_changed = false;
	d->nodes[0]->reached = is_complete(d->nodes[0]);
	order[n_found] = d->nodes[0];
	n_found += d->nodes[0]->reached;
	for (uint32_t i = 0; i < n_found; i++) {
		struct disc_node *n = order[i];

		for (unsigned k = 1; k <= n->n_ports; k++) {
			const struct disc_port *far = cabled(n, k);
			bool forwards = n->type == NODE_SWITCH ||
			                (n->from == NULL && k == n->entry);

			if (far != NULL && forwards && admit_reasons(d, n, k) == 0 &&
			    reach(n, k, far)) {
				order[n_found++] = n->ports[k].peer;
			}
		}
	}
	return n_found;
}

void disc_reach_hosts(struct disc *d)
{
	for (uint32_t i = 0; i < d->n_changed; i++) {
		struct disc_node *b = d->changed[i], *n = b->from;
		const struct disc_port *far;

		if (b->type == NODE_SWITCH || b->reached || n == NULL || !n->reached ||
		    n->type != NODE_SWITCH || n->ports[b->from_port].peer != b) {
			continue;
		}
		far = cabled(n, b->from_port);
		if (far != NULL && admit_reasons(d, n, b->from_port) == 0) {
			(void)reach(n, b->from_port, far);
		}
	}
}

/* The nodes that are reached, where no search is needed. */
static uint32_t list_reached(struct disc *d, struct disc_node **order)
{
	uint32_t n = 0;

	disc_reach_hosts(d);
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		if (d->nodes[i]->reached) {
			order[n++] = d->nodes[i];
		}
	}
	return n;
}

/* --- does a local sweep fit together? -------------------------------------------- */

static void check_port(struct disc *d, const struct disc_node *n,
                       const struct disc_port *p)
{
	bool up = p->has_info && field_get(p->info, PI_PORT_STATE) > PORT_DOWN;
	const struct disc_port *q =
		p->peer != NULL ? &p->peer->ports[p->peer_port] : NULL;

	if (p->peer == NULL) {
		if (up && !p->silent && !p->refused) {
			disc_doubt(d, n, p->num, "nothing is known behind");
		}
	} else if (!up ||
	           (!p->peer->reached && (p->peer->copied || n->type != NODE_SWITCH)) ||
	           (p->peer->reached && q->has_info &&
	            (field_get(q->info, PI_PORT_STATE) <= PORT_DOWN ||
	             (q->peer != NULL && (q->peer != n || q->peer_port != p->num))))) {
		disc_doubt(d, n, p->num, "a cable that does not fit at");
	}
}

/* Marks the nodes as changed to which a node that is gone had cables. */
static void note_neighbors(struct disc_node *n)
{
	for (unsigned k = 1; k <= n->n_ports; k++) {
		if (n->ports[k].peer != NULL) {
			disc_note_change(n->ports[k].peer);
		}
	}
}

/* After the last search: raises doubts about what does not fit together. */
static void check_local(struct disc *d)
{
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		if (!d->nodes[i]->reached) {
			note_neighbors(d->nodes[i]);
		}
	}
	for (uint32_t i = 0; i < d->n_nodes && d->doubt == NULL; i++) {
		const struct disc_node *n = d->nodes[i];

		if (!n->reached || is_old(n)) {
			continue;
		}
		if (n->suspect && !n->asked) {
			disc_doubt(d, n, 0, "not read again:");
		}
		for (unsigned k = 1; k <= n->n_ports; k++) {
			if (n->ports[k].has_info) {
				check_port(d, n, &n->ports[k]);
			}
		}
	}
}

/* --- the graph -------------------------------------------------------------------- */

/* MTUCap of Omni-Path: 6 is 8,192 and 7 is 10,240 bytes. A switch's own port has what it was given. */
static uint8_t opa_mtu(const struct disc_port *p)
{
	enum { MTU_LEAST = 4, MTU_MOST = 7 };
	uint64_t code = p->num != 0 ? field_get(p->opa_info, OPA_PI_MTU_CAP)
	                            : field_get(p->opa_info, OPA_PI_NEIGHBOR_MTU(0));

	return (uint8_t)(code < MTU_LEAST  ? MTU_LEAST
	                 : code > MTU_MOST ? MTU_MOST
	                                   : code);
}

static uint8_t code_1_to_5(uint64_t code)
{
	return (uint8_t)(code < 1 ? 1 : code > 5 ? 5 : code);
}

static void fill_port(const struct disc *d, struct port *to, const struct disc_port *from,
                      bool end_port)
{
	if (from->guid) {
		to->guid = from->guid;
	}
	if (!from->has_info) {
		return;
	}
	to->state = (uint8_t)field_get(from->info, PI_PORT_STATE);
	if (from->num == 0 || to->state > PORT_ACTIVE) {
		/* Port 0 of a base switch may leave its state undefined. */
		to->state = PORT_ACTIVE;
	} else if (to->state < PORT_DOWN) {
		to->state = PORT_DOWN;
	}
	switch (field_get(from->info, PI_LINK_WIDTH_ACTIVE)) {
	case WIDTH_2X: to->width = WIDTH_2X; break;
	case WIDTH_4X: to->width = WIDTH_4X; break;
	case WIDTH_8X: to->width = WIDTH_8X; break;
	case WIDTH_12X: to->width = WIDTH_12X; break;
	default: to->width = WIDTH_1X;
	}
	to->speed = port_info_speed(from->info);
	to->mtu = from->opa_info != NULL ? opa_mtu(from)
	                                 : code_1_to_5(field_get(from->info, PI_MTU_CAP));
	if (d->options.mtu_limit != 0 && to->mtu > d->options.mtu_limit) {
		to->mtu = d->options.mtu_limit;
	}
	to->vls = code_1_to_5(field_get(from->info, PI_VL_CAP));
	if (end_port) {
		to->capability_mask = (uint32_t)field_get(from->info, PI_CAPABILITY_MASK);
		to->lid = disc_lid(from);
		to->lmc = (uint8_t)field_get(from->info, PI_LMC);
	}
}

static void fill_node(struct node *to, const struct disc_node *n)
{
	to->system_image_guid = field_get(n->node_info, NI_SYSTEM_IMAGE_GUID);
	to->vendor_id = (uint32_t)field_get(n->node_info, NI_VENDOR_ID);
	to->device_id = (uint16_t)field_get(n->node_info, NI_DEVICE_ID);
	to->revision = (uint32_t)field_get(n->node_info, NI_REVISION);
	to->partition_cap = (uint16_t)field_get(n->node_info, NI_PARTITION_CAP);
	if (n->type == NODE_SWITCH) {
		to->linear_fdb_cap = opa_lid_lft_cap(n->switch_info, n->opa_switch_info);
		to->esp0 = field_get(n->switch_info, SI_ENHANCED_PORT_0);
	}
}

static int add_node(struct disc *d, struct disc_node *n)
{
	char name[65] = "";
	int ret;

	memcpy(name, n->description, 64);
	text_one_line(name);
	ret = graph_add_node(d->g, n->type, n->guid, n->n_ports, name, NULL,
	                     &n->graph_node);
	if (ret != E_OK) {
		return ret;
	}
	fill_node(&d->g->nodes[n->graph_node], n);
	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct port *p = &d->g->ports[graph_port(d->g, n->graph_node, i)];

		fill_port(d, p, &n->ports[i], n->type != NODE_SWITCH || i == 0);
	}
	return E_OK;
}

/* What a port of Omni-Path says of its neighbour. */
static bool lets_manage(const struct disc_port *p)
{
	return p->opa_info != NULL && field_get(p->opa_info, OPA_PI_MGMT_ALLOWED);
}

static int add_cables(struct disc *d, struct disc_node *n)
{
	int ret = E_OK;

	for (unsigned i = 1; i <= n->n_ports && ret == E_OK; i++) {
		const struct disc_port *far = cabled(n, i);
		struct disc_node *b = n->ports[i].peer;
		uint32_t from = graph_port(d->g, n->graph_node, i), to;

		if (far == NULL || !b->reached || b->graph_node == GRAPH_NONE ||
		    admit_reasons(d, n, i) != 0 || admit_reasons(d, b, far->num) != 0) {
			continue;
		}
		to = graph_port(d->g, b->graph_node, far->num);
		if (from != to && d->g->ports[from].peer == GRAPH_NONE) {
			ret = graph_connect(d->g, from, to);
			d->g->ports[to].may_manage = lets_manage(&n->ports[i]);
			d->g->ports[from].may_manage = lets_manage(far);
		}
	}
	return ret;
}

/* Begins the graph of a local sweep with that of the sweep before. */
static int take_graph(struct disc *d, const struct graph *prev)
{
	uint8_t *gone = arena_array(d->arena, prev->n_nodes, 1);
	uint32_t *moved = arena_array(d->arena, prev->n_nodes, sizeof(*moved));
	int ret = gone == NULL || moved == NULL ? -ENOMEM : E_OK;

	d->gone = arena_array(d->arena, d->n_nodes, sizeof(*d->gone));
	ret = d->gone == NULL ? -ENOMEM : ret;
	for (uint32_t i = 0; ret == E_OK && i < prev->n_nodes; i++) {
		gone[i] = !d->was[i]->reached;
		if (gone[i]) {
			d->gone[d->n_gone++] = prev->nodes[i].guid;
		}
	}
	ret = ret == E_OK ? graph_take(d->g, prev, gone, moved) : ret;
	for (uint32_t i = 0; ret == E_OK && i < prev->n_nodes; i++) {
		d->was[i]->graph_node = moved[i];
	}
	return ret;
}

/* A node of that graph as it is now, for the present without its cables. What it answered after the
 * last graph was made is published with this one. */
static int fill_again(struct disc *d, struct disc_node *n)
{
	char name[65] = "";
	int ret;

	disc_note_change(n);
	memcpy(name, n->description, 64);
	text_one_line(name);
	ret = graph_describe(d->g, n->graph_node, name);
	fill_node(&d->g->nodes[n->graph_node], n);
	for (unsigned i = 1; i <= n->n_ports; i++) {
		graph_disconnect(d->g, graph_port(d->g, n->graph_node, i));
	}
	return ret;
}

/* Its ports, when all cables are there; also those at the other ends of these, of which a cable
 * that was taken away said that they are down. A node that lies may have brought a cable of which this
 * port knows nothing, or another end; such a node is filled by itself. */
static void fill_ports_again(struct disc *d, const struct disc_node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		uint32_t port = graph_port(d->g, n->graph_node, i);
		uint32_t peer = d->g->ports[port].peer;
		const struct disc_node *far = n->ports[i].peer;

		graph_reset_port(d->g, port);
		fill_port(d, &d->g->ports[port], &n->ports[i],
		          n->type != NODE_SWITCH || i == 0);
		if (peer != GRAPH_NONE && far != NULL &&
		    d->g->ports[peer].node == far->graph_node && is_old(far)) {
			graph_reset_port(d->g, peer);
			fill_port(d, &d->g->ports[peer],
			          &far->ports[d->g->ports[peer].num],
			          far->type != NODE_SWITCH);
		}
	}
}

/* The graph before it is frozen. Only what changed since the last sweep is made anew. */
static int make_graph(struct disc *d, const struct graph *prev,
                      struct disc_node *const *order, uint32_t n)
{
	bool local = d->local && prev != NULL && prev == d->copied;
	int ret = local ? take_graph(d, prev) : E_OK;

	for (uint32_t i = 0; i < n && ret == E_OK; i++) {
		if (!local || !order[i]->copied) {
			ret = add_node(d, order[i]);
		} else if (!is_old(order[i])) {
			ret = fill_again(d, order[i]);
		}
	}
	for (uint32_t i = 0; i < n && ret == E_OK; i++) {
		if (!local || !is_old(order[i])) {
			ret = add_cables(d, order[i]);
		}
	}
	for (uint32_t i = 0; i < n && ret == E_OK && local; i++) {
		if (order[i]->copied && !is_old(order[i])) {
			fill_ports_again(d, order[i]);
		}
	}
	return ret;
}

static int freeze(struct disc *d, struct disc_node *const *order, uint32_t n)
{
	struct diags *diags = arena_alloc(d->arena, sizeof(*diags));
	uint64_t local_guid = d->nodes[0]->guid;
	int ret;

	if (diags == NULL) {
		return -ENOMEM;
	}
	diags_init(diags, d->arena);
	d->g->sm_port =
		graph_port(d->g, d->nodes[0]->graph_node,
	                   d->nodes[0]->type == NODE_SWITCH ? 0 : d->nodes[0]->entry);
	for (uint32_t i = 0; i < d->g->n_ports; i++) {
		struct port *p = &d->g->ports[i];

		if (p->peer == GRAPH_NONE && p->num != 0) {
			p->state = PORT_DOWN; /* for routing, whatever its link says */
		}
	}
	ret = graph_freeze(d->g, diags);
	if (ret != E_OK) {
		return ret;
	}
	(void)graph_set_aggregation(d->g, d->options.aggregation);
	ret = graph_set_names(d->g, d->options.names);
	if (ret != E_OK) {
		return ret;
	}
	for (unsigned i = 0; i < diags->n; i++) {
		disc_problem(d, "%s", diags->items[i].text);
	}
	d->of = arena_array(d->arena, d->g->n_nodes, sizeof(struct disc_node *));
	if (d->of == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		order[i]->graph_node = GRAPH_NONE;
		order[i]->changed &= (uint8_t)~DISC_SINCE_GRAPH;
	}
	for (uint32_t i = 0; i < d->g->n_nodes; i++) {
		d->of[i] = d->nodes[hash_get(&d->by_guid, d->g->nodes[i].guid)];
		d->of[i]->graph_node = i;
	}
	d->clean &= n == d->g->n_nodes;
	d->any_changed |= n != d->g->n_nodes; /* one was left out, and may be published */
	return graph_node_by_guid(d->g, local_guid) == GRAPH_NONE ? E_DUPLICATE : E_OK;
}

int disc_finish(struct disc *d, const struct graph *prev)
{
	struct disc_node **order;
	uint32_t n;
	int ret = d->ret;

	if (ret != E_OK || d->n_nodes == 0) {
		return ret != E_OK ? ret : E_TIMEOUT;
	}
	order = calloc(d->n_nodes, sizeof(struct disc_node *));
	if (order == NULL) {
		return -ENOMEM;
	}
	n = d->local && !d->cables_changed && !d->any_changed ? list_reached(d, order)
	                                                      : disc_search(d, order);
	if (d->local) {
		check_local(d);
	}
	d->clean = d->n_problems == 0;
	ret = admit_list(d);
	report(d, prev);
	d->g = graph_new(d->arena);
	ret = ret != E_OK ? ret : n == 0 ? E_TIMEOUT : d->g == NULL ? -ENOMEM : d->ret;
	if (ret == E_OK) {
		ret = make_graph(d, prev, order, n);
	}
	if (ret == E_OK) {
		ret = freeze(d, order, n);
	}
	if (ret != E_OK) {
		d->g = NULL; /* nobody may take it for a fabric */
	}
	if (!d->local) {
		d->own_bytes = arena_used(d->own);
	}
	free(order);
	return ret;
}

int disc_graph_anew(const struct disc *d, struct arena *a, struct graph **ret_graph)
{
	struct disc x = *d;
	uint8_t *changed = arena_array(a, d->g->n_nodes, 1);
	int ret;

	x.local = false;
	x.arena = a;
	x.g = graph_new(a);
	ret = changed == NULL || x.g == NULL ? -ENOMEM : E_OK;
	for (uint32_t i = 0; ret == E_OK && i < d->g->n_nodes; i++) {
		changed[i] = d->of[i]->changed;
	}
	if (ret == E_OK) {
		ret = make_graph(&x, NULL, d->of, d->g->n_nodes);
	}
	if (ret == E_OK) {
		ret = freeze(&x, d->of, d->g->n_nodes);
	}
	for (uint32_t i = 0; ret == E_OK && i < d->g->n_nodes; i++) {
		d->of[i]->changed = changed[i];
		d->of[i]->graph_node = i;
	}
	if (ret == E_OK) {
		*ret_graph = x.g;
	}
	return ret;
}

struct disc_port *disc_port_of(const struct disc *d, uint32_t port)
{
	const struct port *p = &d->g->ports[port];

	return &d->of[p->node]->ports[p->num];
}

/* --- the log ------------------------------------------------------------------------ */

void disc_log_problems(const struct disc *d)
{
	unsigned n =
		d->n_problems < DISC_PROBLEMS_MAX ? d->n_problems : DISC_PROBLEMS_MAX;

	for (unsigned i = 0; i < n && i < PROBLEM_LINES; i++) {
		log_message(MSG_SM_PROBLEM, source, "%s", d->problem[i]);
	}
	if (d->n_problems > PROBLEM_LINES) {
		log_message(MSG_SM_PROBLEM, source, "%u more problems of this kind",
		            d->n_problems - PROBLEM_LINES);
	}
}
