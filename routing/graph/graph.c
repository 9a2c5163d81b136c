/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The fabric while it is built, and look-ups afterwards. graph_freeze() has a file of its
 * own, because it is a pass over everything. Arrays grow by doubling inside the arena:
 * the outgrown halves stay until the job ends, which costs less than the final size once
 * more.
 */
#include "routing/graph/graph.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/vector.h"

enum {
	MAX_PORTS = 254,
	MAX_DESCRIPTION = 64,
	DEFAULT_MTU = 5, /* 4096 bytes */
	DEFAULT_VLS = 4, /* 8 data VLs */
};

struct graph *graph_new(struct arena *a)
{
	struct graph *g = arena_alloc(a, sizeof(*g));
	if (!g) {
		return NULL;
	}
	g->arena = a;
	g->sm_port = GRAPH_NONE;
	return g;
}

/* Port p->num of a node, of which nothing else is known. */
static void init_port(struct port *p, const struct node *n)
{
	p->guid = n->type == NODE_SWITCH ? n->guid : n->guid + p->num;
	p->peer = GRAPH_NONE;
	p->state = n->type == NODE_SWITCH && !p->num ? PORT_INIT : PORT_DOWN;
	p->width = WIDTH_4X;
	p->speed = SPEED_SDR;
	p->mtu = DEFAULT_MTU;
	p->vls = DEFAULT_VLS;
}

static void init_ports(struct graph *g, uint32_t node)
{
	const struct node *n = &g->nodes[node];

	for (unsigned num = 0; num <= n->n_ports; num++) {
		struct port *p = &g->ports[n->first_port + num];
		p->node = node;
		p->num = (uint8_t)num;
		init_port(p, n);
	}
}

/* NodeDescription holds 64 bytes: a longer one is cut. */
static const char *copy_description(struct arena *a, const char *s)
{
	char text[MAX_DESCRIPTION + 1] = "";

	if (!s || !*s) {
		return "";
	}
	strncpy(text, s, MAX_DESCRIPTION);
	return arena_strdup(a, text);
}

int graph_add_node(struct graph *g, enum node_type type, uint64_t guid, unsigned n_ports,
                   const char *description, const char *id, uint32_t *ret_node)
{
	bool known = type == NODE_CA || type == NODE_SWITCH || type == NODE_ROUTER;
	if (!known || !n_ports || n_ports > MAX_PORTS) {
		return E_RANGE;
	}

	if (n_ports + 1 > GRAPH_NONE - 1 - g->n_ports ||
	    ARENA_RESERVE(g->arena, g->nodes, g->n_nodes, g->cap_nodes,
	                  g->n_nodes + 1U) != E_OK ||
	    ARENA_RESERVE(g->arena, g->ports, g->n_ports, g->cap_ports,
	                  g->n_ports + n_ports + 1U) != E_OK) {
		return -ENOMEM;
	}
	const char *desc = copy_description(g->arena, description);
	const char *own_id = id ? arena_strdup(g->arena, id) : NULL;
	if (!desc || (id && !own_id)) {
		return -ENOMEM;
	}

	uint32_t index = g->n_nodes++;
	g->nodes[index] = (struct node){
		.guid = guid,
		.description = desc,
		.id = own_id,
		.first_port = g->n_ports,
		.sw = GRAPH_NONE,
		.type = (uint8_t)type,
		.n_ports = (uint8_t)n_ports,
	};
	g->n_ports += n_ports + 1;
	init_ports(g, index);
	*ret_node = index;
	return E_OK;
}

/* One block for all descriptions: they are many, and short. */
static int copy_descriptions(struct graph *g)
{
	size_t bytes = 1;
	char *to;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		bytes += strlen(g->nodes[i].description) + 1;
	}
	to = arena_alloc(g->arena, bytes);
	for (uint32_t i = 0; to && i < g->n_nodes; i++) {
		size_t len = strlen(g->nodes[i].description) + 1;

		g->nodes[i].description = memcpy(to, g->nodes[i].description, len);
		to += len;
	}
	return to ? E_OK : -ENOMEM;
}

/* Copies the nodes that are left, with their ports. */
static void take_nodes(struct graph *g, const struct graph *from, const uint8_t *gone,
                       uint32_t *ret_node)
{
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		const struct node *was = &from->nodes[i];
		struct node *n = &g->nodes[g->n_nodes];
		struct port *p = &g->ports[g->n_ports];

		if (gone[i]) {
			ret_node[i] = GRAPH_NONE;
			continue;
		}
		*n = *was;
		n->name = NULL;
		n->aggregation = false;
		n->first_port = g->n_ports;
		memcpy(p, &from->ports[was->first_port], (n->n_ports + 1U) * sizeof(*p));
		for (unsigned num = 0; num <= n->n_ports; num++) {
			p[num].node = g->n_nodes;
		}
		g->n_ports += n->n_ports + 1U;
		ret_node[i] = g->n_nodes++;
	}
}

/* Cables to nodes that are gone go, the others lead to the new indices. */
static void take_cables(struct graph *g, const struct graph *from,
                        const uint32_t *moved)
{
	if (g->n_nodes == from->n_nodes) {
		return;
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		struct port *p = &g->ports[i];
		uint32_t node = p->peer != GRAPH_NONE ? from->ports[p->peer].node
		                                      : GRAPH_NONE;

		if (node != GRAPH_NONE && moved[node] != GRAPH_NONE) {
			p->peer += g->nodes[moved[node]].first_port -
			           from->nodes[node].first_port;
		} else if (node != GRAPH_NONE) {
			p->peer = GRAPH_NONE;
			p->state = PORT_DOWN;
		}
	}
}

int graph_take(struct graph *g, const struct graph *from, const uint8_t *gone,
               uint32_t *ret_node)
{
	enum { MORE_NODES = 16, MORE_PORTS = 1024 };
	size_t nodes = (size_t)from->n_nodes + MORE_NODES,
	       ports = (size_t)from->n_ports + MORE_PORTS;

	if (ARENA_RESERVE(g->arena, g->nodes, g->n_nodes, g->cap_nodes, nodes) != E_OK ||
	    ARENA_RESERVE(g->arena, g->ports, g->n_ports, g->cap_ports, ports) != E_OK) {
		return -ENOMEM;
	}
	take_nodes(g, from, gone, ret_node);
	take_cables(g, from, ret_node);
	return copy_descriptions(g);
}

int graph_describe(struct graph *g, uint32_t node, const char *description)
{
	const char *copy = copy_description(g->arena, description);

	g->nodes[node].description = copy ? copy : "";
	return copy ? E_OK : -ENOMEM;
}

void graph_reset_port(struct graph *g, uint32_t port)
{
	struct port *p = &g->ports[port], was = *p;

	*p = (struct port){ .node = was.node, .num = was.num };
	init_port(p, &g->nodes[p->node]);
	p->peer = was.peer;
}

uint32_t graph_port(const struct graph *g, uint32_t node, unsigned num)
{
	if (node >= g->n_nodes || num > g->nodes[node].n_ports) {
		return GRAPH_NONE;
	}
	return g->nodes[node].first_port + num;
}

int graph_connect(struct graph *g, uint32_t port_a, uint32_t port_b)
{
	if (port_a >= g->n_ports || port_b >= g->n_ports) {
		return E_RANGE;
	}

	struct port *a = &g->ports[port_a], *b = &g->ports[port_b];
	if (!a->num || !b->num) {
		return E_RANGE;
	}
	if ((a->peer != GRAPH_NONE && a->peer != port_b) ||
	    (b->peer != GRAPH_NONE && b->peer != port_a)) {
		return E_DUPLICATE;
	}
	a->peer = port_b;
	b->peer = port_a;
	a->state = a->state == PORT_DOWN ? PORT_INIT : a->state;
	b->state = b->state == PORT_DOWN ? PORT_INIT : b->state;
	return E_OK;
}

void graph_disconnect(struct graph *g, uint32_t port)
{
	if (port >= g->n_ports || g->ports[port].peer == GRAPH_NONE) {
		return;
	}

	struct port *a = &g->ports[port], *b = &g->ports[a->peer];
	a->peer = b->peer = GRAPH_NONE;
	a->state = b->state = PORT_DOWN;
}

uint32_t graph_node_by_guid(const struct graph *g, uint64_t guid)
{
	uint32_t at = LOWER_BOUND(g->n_nodes, i, g->nodes[i].guid < guid);

	return at < g->n_nodes && g->nodes[at].guid == guid ? at : GRAPH_NONE;
}

/* The first end port, by PortGUID, that is not below a GUID. */
static uint32_t end_port_from(const struct graph *g, uint64_t guid)
{
	return LOWER_BOUND(g->n_end_ports, i, g->ports[g->by_guid[i]].guid < guid);
}

static bool is_end_port(const struct graph *g, uint32_t i, uint64_t guid)
{
	return i < g->n_end_ports && g->ports[g->by_guid[i]].guid == guid;
}

static uint32_t switch_port(const struct graph *g, uint64_t guid)
{
	uint32_t node = graph_node_by_guid(g, guid);

	if (node == GRAPH_NONE || g->nodes[node].type != NODE_SWITCH) {
		return GRAPH_NONE;
	}
	return g->nodes[node].first_port;
}

uint32_t graph_port_by_guid(const struct graph *g, uint64_t guid)
{
	uint32_t i = end_port_from(g, guid);

	return is_end_port(g, i, guid) ? g->by_guid[i] : switch_port(g, guid);
}

uint32_t graph_port_by_guid_near(const struct graph *g, uint64_t guid, uint32_t *at)
{
	enum { STEPS = 8 };
	uint32_t i = *at, end = g->n_end_ports - i < STEPS ? g->n_end_ports : i + STEPS;

	while (i < end && g->ports[g->by_guid[i]].guid < guid) {
		i++;
	}
	*at = is_end_port(g, i, guid) ? i : end_port_from(g, guid);
	return is_end_port(g, *at, guid) ? g->by_guid[*at] : switch_port(g, guid);
}

bool graph_is_end_port(const struct graph *g, uint32_t port)
{
	if (port >= g->n_ports) {
		return false;
	}

	const struct port *p = &g->ports[port];
	bool is_switch = g->nodes[p->node].type == NODE_SWITCH;
	return is_switch ? !p->num : p->num > 0;
}

bool graph_is_host(const struct graph *g, uint32_t port)
{
	const struct node *n;

	if (port >= g->n_ports) {
		return false;
	}
	n = &g->nodes[g->ports[port].node];
	return n->type != NODE_SWITCH && !n->aggregation;
}

uint8_t graph_switch_port_of(const struct graph *g, uint32_t port)
{
	const struct port *p = &g->ports[port];

	return p->num ? g->ports[p->peer].num : 0;
}

uint32_t graph_switch_of(const struct graph *g, uint32_t port)
{
	if (port >= g->n_ports) {
		return GRAPH_NONE;
	}

	const struct port *p = &g->ports[port];
	if (g->nodes[p->node].type == NODE_SWITCH) {
		return g->nodes[p->node].sw;
	}
	if (p->peer == GRAPH_NONE) {
		return GRAPH_NONE;
	}
	return g->nodes[g->ports[p->peer].node].sw;
}

static unsigned add_switch(const struct graph *g, uint32_t port, uint32_t *ret_switch,
                           unsigned n)
{
	uint32_t s = graph_is_end_port(g, port) ? graph_switch_of(g, port) : GRAPH_NONE;
	unsigned i = 0;

	while (i < n && ret_switch[i] != s) {
		i++;
	}
	if (s == GRAPH_NONE || i < n) {
		return n;
	}
	ret_switch[n] = s;
	return n + 1;
}

unsigned graph_switches_by_guid(const struct graph *g, uint64_t guid,
                                uint32_t *ret_switches)
{
	uint32_t node = graph_node_by_guid(g, guid);
	unsigned n = 0;

	if (node == GRAPH_NONE) {
		return add_switch(g, graph_port_by_guid(g, guid), ret_switches, 0);
	}
	for (unsigned num = 0; num <= g->nodes[node].n_ports; num++) {
		n = add_switch(g, g->nodes[node].first_port + num, ret_switches, n);
	}
	return n;
}

uint64_t graph_digest(const struct graph *g)
{
	uint64_t h = digest_add(1, g->sm_port);

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];

		h = digest_add(digest_add(h, n->guid), n->system_image_guid);
		h = digest_add(h, (uint64_t)n->linear_fdb_cap << 32 |
		                          (uint64_t)n->type << 16 |
		                          (uint64_t)n->n_ports << 8 |
		                          (uint64_t)n->aggregation << 1 | n->esp0);
		h = digest_add(h, (uint64_t)n->vendor_id << 16 | n->device_id);
		h = digest_bytes(h, n->description, strlen(n->description));
		h = n->name ? digest_bytes(h, n->name, strlen(n->name)) : h;
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];

		h = digest_add(h, p->guid);
		h = digest_add(h, (uint64_t)p->peer << 32 | (uint64_t)p->width << 24 |
		                          (uint64_t)p->speed << 16 |
		                          (uint64_t)p->mtu << 8 | p->vls);
	}
	return h;
}
