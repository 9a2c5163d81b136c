/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A cable may stand at one end or at both. Each line is a claim "this port leads to that
 * port". Two claims that answer each other make a cable; a claim without an answer makes
 * one if nothing else speaks of either port; everything else is reported with both lines.
 * A cable that is in doubt is not made: a route over it might lead nowhere.
 */
#include "routing/text/topofile_cables.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/text/topofile_int.h"

/* The passes over all claims. Indices in by_* are claim number + 1; 0: none. */
struct resolver {
	struct cables *c;
	struct graph *g;
	struct topo_problems *pr;
	uint32_t *by_near; /* [n_ports] claim that starts at the port */
	uint32_t *by_far;  /* [n_ports] first claim that leads to it */
	bool *doubtful;    /* [n_claims] makes no cable */
};

/* Ways to resolve cables that contradict each other. */
static const char neither[] = "neither is used";

/* A port for a message: "id"[num]. */
struct port_name {
	char text[96];
};

int cables_init(struct cables *c, uint32_t max_claims, uint32_t max_nodes,
                struct arena *a)
{
	struct claim *claims = arena_array(a, max_claims, sizeof(*claims));
	struct topo_id *ids = arena_array(a, max_nodes, sizeof(*ids));
	struct hash_table by_id = { .arena = a };

	if (!claims || !ids || hash_reserve(&by_id, max_nodes) != E_OK) {
		return -ENOMEM;
	}
	*c = (struct cables){ .claims = claims, .ids = ids, .by_id = by_id };
	return E_OK;
}

struct topo_id *cables_find_id(const struct cables *c, struct span id)
{
	uint32_t at = HASH_FIND(&c->by_id, digest_bytes(0, id.p, id.n), i,
	                        c->ids[i].id.n == id.n &&
	                                memcmp(c->ids[i].id.p, id.p, id.n) == 0);

	return at != HASH_NONE ? &c->ids[at] : NULL;
}

struct topo_id *cables_add_id(struct cables *c, struct span id, uint32_t node,
                              unsigned line)
{
	/* cables_init() made the room. */
	(void)hash_add(&c->by_id, digest_bytes(0, id.p, id.n), c->n_ids);
	c->ids[c->n_ids] = (struct topo_id){ id, node, line };
	return &c->ids[c->n_ids++];
}

static struct port_name name_of(const struct resolver *r, uint32_t port)
{
	const struct port *p = &r->g->ports[port];
	const char *id = r->g->nodes[p->node].id;
	struct port_name n;

	struct shown s = span_shown((struct span){ id, strlen(id) });
	snprintf(n.text, sizeof(n.text), "\"%s\"[%u]", s.text, p->num);
	return n;
}

/* Sets the claim's far port, or reports why there is none. */
static void find_far(struct resolver *r, struct claim *c)
{
	static const char left_out[] = "the cable is left out";
	const struct topo_id *id = cables_find_id(r->c, c->far_id);

	c->far = GRAPH_NONE;
	if (id == NULL) {
		topo_problem(r->pr, c->line, left_out,
		             "cable to \"%s\", but no node has this id",
		             span_shown(c->far_id).text);
		return;
	}
	if (id->node == GRAPH_NONE) {
		return;
	}
	c->far = graph_port(r->g, id->node, c->far_num);
	if (c->far == GRAPH_NONE) {
		topo_problem(
			r->pr, c->line, left_out,
			"cable to port %u of \"%s\", which has ports 1 to %u (line %u)",
			c->far_num, span_shown(c->far_id).text,
			r->g->nodes[id->node].n_ports, id->line);
	}
}

/* Looks up far ends and keeps the first claim of each port; later ones are reported. */
static void index_claims(struct resolver *r)
{
	for (uint32_t i = 0; i < r->c->n_claims; i++) {
		struct claim *c = &r->c->claims[i];
		uint32_t first = r->by_near[c->port];
		find_far(r, c);
		if (!first) {
			r->by_near[c->port] = i + 1;
			continue;
		}
		topo_problem(r->pr, c->line, "the first one holds",
		             "%s is cabled already in line %u", name_of(r, c->port).text,
		             r->c->claims[first - 1].line);
		c->far = GRAPH_NONE;
	}
}

static void set_port_guid(struct resolver *r, uint32_t port, uint64_t own, uint64_t other,
                          const struct claim *c)
{
	struct port *p = &r->g->ports[port];

	if (r->g->nodes[p->node].type == NODE_SWITCH || (!own && !other)) {
		return;
	}
	if (own && other && own != other) {
		topo_problem(r->pr, c->line, "what the port itself says holds",
		             "the two ends of this cable name different PortGUIDs for %s",
		             name_of(r, port).text);
	}
	p->guid = own ? own : other;
}

/* Lanes in ascending order; a width that is not known goes last. */
static unsigned lanes_of(uint8_t width)
{
	switch (width) {
	case WIDTH_1X: return 1;
	case WIDTH_2X: return 2;
	case WIDTH_4X: return 4;
	case WIDTH_8X: return 8;
	case WIDTH_12X: return 12;
	}
	return UINT_MAX;
}

/* Properties of the link; the slower one if its ends differ. */
static void set_link(struct resolver *r, const struct claim *c, const struct claim *o)
{
	struct port *a = &r->g->ports[c->port], *b = &r->g->ports[c->far];
	uint8_t width = lanes_of(c->width) < lanes_of(o->width) ? c->width : o->width;
	uint8_t speed = c->speed < o->speed ? c->speed : o->speed;

	width = width ? width : WIDTH_4X;
	speed = speed != SPEED_COUNT ? speed : SPEED_SDR;
	if ((c->width && o->width && c->width != o->width) ||
	    (c->speed != SPEED_COUNT && o->speed != SPEED_COUNT &&
	     c->speed != o->speed)) {
		topo_problem(r->pr, o->line, "taken as the slower of both",
		             "%s is %s%s here, but the other end says %s%s in line %u",
		             name_of(r, c->far).text, link_width_name(o->width),
		             link_speed_name(o->speed), link_width_name(c->width),
		             link_speed_name(c->speed), c->line);
	}
	a->width = b->width = width;
	a->speed = b->speed = speed;
}

/* answer: the claim from the other end, or NULL. */
static void connect(struct resolver *r, const struct claim *c, const struct claim *answer)
{
	static const struct claim none = { .speed = SPEED_COUNT };
	const struct claim *o = answer ? answer : &none;

	if (graph_connect(r->g, c->port, c->far) != E_OK) {
		topo_problem(r->pr, c->line, neither, "%s and %s cannot be cabled",
		             name_of(r, c->port).text, name_of(r, c->far).text);
		return;
	}
	set_link(r, c, o);
	set_port_guid(r, c->port, c->near_guid, o->far_guid, c);
	set_port_guid(r, c->far, o->near_guid, c->far_guid, c);
}

/* The claim that starts where this one leads to, or NULL. */
static struct claim *answer_to(const struct resolver *r, const struct claim *c)
{
	uint32_t answer = r->by_near[c->far];

	return answer ? &r->c->claims[answer - 1] : NULL;
}

static bool agree(const struct claim *c, const struct claim *answer)
{
	return answer && answer->far == c->port;
}

/* Reports a claim that another one speaks against; both are in doubt unless the other one
 * has an answer. */
static void doubt(struct resolver *r, uint32_t i)
{
	const struct claim *c = &r->c->claims[i];
	const struct claim *o = answer_to(r, c);

	if (agree(c, o) || (o && o->far == GRAPH_NONE)) {
		r->doubtful[i] = o->far == GRAPH_NONE;
		return;
	}
	if (o) {
		bool holds = agree(o, answer_to(r, o));
		r->doubtful[i] = true;
		r->doubtful[o - r->c->claims] |= !holds;
		topo_problem(r->pr, c->line, holds ? "the other line holds" : neither,
		             "%s leads to %s here, but line %u says that %s leads to %s",
		             name_of(r, c->port).text, name_of(r, c->far).text, o->line,
		             name_of(r, c->far).text, name_of(r, o->far).text);
		return;
	}
	if (!r->by_far[c->far]) {
		r->by_far[c->far] = i + 1;
		return;
	}
	uint32_t first = r->by_far[c->far] - 1;
	r->doubtful[i] = r->doubtful[first] = true;
	topo_problem(r->pr, c->line, neither,
	             "%s is at the end of this cable and of that in line %u",
	             name_of(r, c->far).text, r->c->claims[first].line);
}

int cables_resolve(struct cables *c, struct graph *g, struct topo_problems *pr)
{
	struct resolver r = { .c = c, .g = g, .pr = pr };

	r.by_near = arena_array(g->arena, g->n_ports, sizeof(*r.by_near));
	r.by_far = arena_array(g->arena, g->n_ports, sizeof(*r.by_far));
	r.doubtful = arena_array(g->arena, c->n_claims, sizeof(*r.doubtful));
	if (!r.by_near || !r.by_far || !r.doubtful) {
		return -ENOMEM;
	}
	index_claims(&r);
	for (uint32_t i = 0; i < c->n_claims; i++) {
		if (c->claims[i].far != GRAPH_NONE) {
			doubt(&r, i);
		}
	}
	for (uint32_t i = 0; i < c->n_claims; i++) {
		const struct claim *near = &c->claims[i];
		if (near->far == GRAPH_NONE || r.doubtful[i]) {
			continue;
		}
		const struct claim *far = answer_to(&r, near);
		if (!far || far >= near) { /* a pair's first line speaks for both */
			connect(&r, near, far);
		}
	}
	return E_OK;
}
