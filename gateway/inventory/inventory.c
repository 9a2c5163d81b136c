/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/inventory/inventory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/snapshot/fabric.h"
#include "db/snapshot/reader.h"
#include "gateway/inventory/cable.h"
#include "gateway/view/json_text.h"
#include "routing/graph/node_text.h"
#include "sa/record/link_caps.h"

struct inventory *inventory_ref(struct inventory *v)
{
	__atomic_add_fetch(&v->references, 1, __ATOMIC_RELAXED);
	return v;
}

void inventory_unref(struct inventory *v)
{
	if (v != NULL && __atomic_sub_fetch(&v->references, 1, __ATOMIC_ACQ_REL) == 0) {
		arena_free(v->arena);
		free(v);
	}
}

/* --- building -------------------------------------------------------------------------- */

static int fill_node(struct inventory *v, uint32_t n)
{
	const struct node *node = &v->g->nodes[n];
	struct inventory_node *to = &v->node[n];
	json_t *name = text_json(node_name(node));
	char *text = name != NULL ? json_dumps(name, JSON_ENCODE_ANY | JSON_ENSURE_ASCII)
	                          : NULL;

	json_decref(name);
	if (text != NULL) {
		to->json = arena_strdup(v->arena, text);
		to->json_len = (uint16_t)strlen(text);
	}
	free(text);
	for (unsigned p = 0; p <= node->n_ports && to->lid == 0; p++) {
		to->lid = v->g->ports[node->first_port + p].lid;
	}
	return to->json != NULL ? E_OK : -ENOMEM;
}

/* Rate of a cable: that of its slower end. */
static uint8_t cable_rate(const struct graph *g, const struct port *p)
{
	uint8_t a = link_rate(p->width, p->speed);
	uint8_t b = link_rate(g->ports[p->peer].width, g->ports[p->peer].speed);

	return rate_speed(a) <= rate_speed(b) ? a : b;
}

/* Load and rate of a port. */
static int fill_port(struct inventory *v, struct snap_reader *r, uint32_t p)
{
	const struct port *port = &v->g->ports[p];
	const struct node *node = &v->g->nodes[port->node];
	struct inventory_port *to = &v->port[p];
	int ret = E_NOTFOUND;

	to->routes = to->base_routes = INVENTORY_NO_ROUTES;
	to->rate = port->peer != GRAPH_NONE ? cable_rate(v->g, port) : 0;
	if (node->type == NODE_SWITCH && port->peer != GRAPH_NONE) {
		ret = snap_load(r, node->guid, port->num, &to->routes, &to->base_routes);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* The data of the module in a port. */
static int fill_cable(struct inventory *v, struct snap_reader *r, uint32_t p)
{
	const struct port *port = &v->g->ports[p];
	struct inventory_port *to = &v->port[p];
	struct cable *cable, c;
	int ret = port->peer != GRAPH_NONE
	                  ? cable_read(r, v->g->nodes[port->node].guid, port->num, &c)
	                  : E_NOTFOUND;
	json_t *json;
	char *text;

	if (ret != E_OK) {
		return ret == E_NOTFOUND ? E_OK : ret;
	}
	cable = arena_alloc(v->arena, sizeof(*cable));
	json = cable_json(&c);
	text = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6))
	                    : NULL;
	json_decref(json);
	if (cable == NULL || text == NULL) {
		free(text);
		return -ENOMEM;
	}
	*cable = c;
	to->cable = cable;
	if (strlen(text) < INVENTORY_CABLE_MAX) {
		to->cable_json_len = (uint16_t)strlen(text);
		to->cable_json = arena_strdup(v->arena, text);
	}
	free(text);
	return to->cable_json != NULL || to->cable_json_len == 0 ? E_OK : -ENOMEM;
}

/* What both ends of a cable support. */
static void fill_best(struct inventory *v, const struct link_caps *caps, uint32_t p)
{
	const struct port *port = &v->g->ports[p];
	const struct link_mode now = { port->width, port->speed };
	uint32_t ends[2] = { p, port->peer };
	struct link_mode best;

	if (caps[p].widths == 0 || caps[port->peer].widths == 0) {
		return;
	}
	best = link_best(&caps[p], &caps[port->peer], now);
	for (unsigned i = 0; i < 2; i++) {
		struct inventory_port *to = &v->port[ends[i]];

		to->has_best = true;
		to->best_width = best.width;
		to->best_speed = best.speed;
		to->degraded = link_degraded(now, best);
	}
}

static int fill_ports(struct inventory *v, struct snap_reader *r, struct arena *tmp)
{
	const struct graph *g = v->g;
	struct link_caps *caps = arena_array(tmp, g->n_ports, sizeof(*caps));
	uint32_t n = 0;

	if (caps == NULL) {
		return -ENOMEM;
	}
	for (uint32_t p = 0; p < g->n_ports; p++) {
		int ret = fill_port(v, r, p);
		if (ret == E_OK) {
			ret = fill_cable(v, r, p);
		}
		if (ret == E_OK) {
			ret = link_caps(r, g->nodes[g->ports[p].node].guid,
			                g->ports[p].num, &caps[p]);
		}
		if (ret != E_OK && ret != E_NOTFOUND) {
			return ret;
		}
		v->port[p].physical_state = caps[p].physical_state;
	}
	for (uint32_t p = 0; p < g->n_ports; p++) {
		if (g->ports[p].peer == GRAPH_NONE || g->ports[p].peer < p) {
			continue;
		}
		fill_best(v, caps, p);
		v->link[n++] = p;
	}
	return E_OK;
}

static int build(struct inventory *v, struct snap_reader *r, struct arena *tmp)
{
	struct graph *g;
	int ret = snap_graph(r, v->arena, &g);

	if (ret != E_OK) {
		return ret;
	}
	v->g = g;
	v->node = arena_array(v->arena, g->n_nodes, sizeof(*v->node));
	v->port = arena_array(v->arena, g->n_ports, sizeof(*v->port));
	v->link = arena_array(v->arena, g->n_links, sizeof(*v->link));
	if (v->node == NULL || v->port == NULL || v->link == NULL) {
		return -ENOMEM;
	}
	for (uint32_t n = 0; ret == E_OK && n < g->n_nodes; n++) {
		ret = fill_node(v, n);
	}
	if (ret == E_OK) {
		ret = fill_ports(v, r, tmp);
	}
	int torn = snap_check(r);
	return torn != E_OK ? torn : ret;
}

int inventory_get(struct inventory **cache, struct snap_reader *r)
{
	const struct snap_meta *m = snap_meta(r);
	const uint64_t version =
		snap_version(m, 1U << SNAP_NODES | 1U << SNAP_PORTS | 1U << SNAP_LINKS |
	                                1U << SNAP_LOAD | 1U << SNAP_ATTRS);
	struct inventory *v;

	if (*cache != NULL && (*cache)->epoch == m->epoch &&
	    (*cache)->version == version) {
		return E_OK;
	}
	v = calloc(1, sizeof(*v));
	if (v == NULL) {
		return -ENOMEM;
	}
	v->references = 1;
	v->epoch = m->epoch;
	v->version = version;
	v->arena = arena_new();
	struct arena *tmp = arena_new();
	int ret = v->arena != NULL && tmp != NULL ? build(v, r, tmp) : -ENOMEM;

	arena_free(tmp);
	if (ret != E_OK) {
		inventory_unref(v);
		return ret;
	}
	inventory_unref(*cache);
	*cache = v;
	return E_OK;
}

/* --- selecting ------------------------------------------------------------------------- */

uint8_t inventory_link_state(const struct inventory *v, uint32_t port)
{
	uint8_t a = v->g->ports[port].state,
		b = v->g->ports[v->g->ports[port].peer].state;

	return a < b ? a : b;
}

/* Does a port exist? Slot 0 of a CA or router is none. */
static bool inventory_has_port(const struct inventory *v, uint32_t port)
{
	const struct port *p = &v->g->ports[port];

	return p->num > 0 || v->g->nodes[p->node].type == NODE_SWITCH;
}

static bool name_fits(const struct inventory *v, uint32_t port, const char *glob)
{
	const struct node *n = &v->g->nodes[v->g->ports[port].node];
	char guid[24];

	if (glob == NULL || text_glob(glob, node_name(n))) {
		return true;
	}
	snprintf(guid, sizeof(guid), "0x%016" PRIx64, n->guid);
	return text_glob(glob, guid);
}

static bool guid_fits(const struct inventory *v, uint32_t port, uint64_t guid)
{
	return guid == 0 || v->g->nodes[v->g->ports[port].node].guid == guid;
}

bool inventory_link_fits(const struct inventory *v, uint32_t port,
                         const struct inventory_filter *f)
{
	uint32_t peer = v->g->ports[port].peer;

	return (f->state == 0 || inventory_link_state(v, port) == f->state) &&
	       (f->degraded < 0 || v->port[port].degraded == f->degraded) &&
	       (guid_fits(v, port, f->guid) || guid_fits(v, peer, f->guid)) &&
	       (name_fits(v, port, f->name) || name_fits(v, peer, f->name));
}

bool inventory_port_fits(const struct inventory *v, uint32_t port,
                         const struct inventory_filter *f)
{
	const struct port *p = &v->g->ports[port];

	return inventory_has_port(v, port) && (f->state == 0 || p->state == f->state) &&
	       (f->degraded < 0 || v->port[port].degraded == f->degraded) &&
	       (f->cabled < 0 || (p->peer != GRAPH_NONE) == f->cabled) &&
	       (f->type == 0 || v->g->nodes[p->node].type == f->type) &&
	       guid_fits(v, port, f->guid) && name_fits(v, port, f->name);
}
