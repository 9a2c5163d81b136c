/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A cable may stand at one end or at both. Each line is a claim "this port leads to that
 * port". Two claims that answer each other make a cable; a claim without an answer makes
 * one if nothing else speaks of the far port; everything else is reported with both
 * lines.
 */
#include "routing/topofile_cables.h"

#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/diag.h"
#include "conf/err.h"
#include "routing/graph.h"

/* The pass over all claims. Indices in by_* are claim number + 1; 0: none. */
struct resolver {
	struct cables *c;
	struct graph *g;
	struct diags *d;
	const char *file;
	uint32_t *by_near; /* [n_ports] claim that starts at the port */
	uint32_t *by_far;  /* [n_ports] unanswered claim that leads to it */
};

/* A port for a message: "id"[num]. */
struct port_name {
	char text[96];
};

int cables_init(struct cables *c, uint32_t max_claims, uint32_t max_nodes,
                struct arena *a)
{
	uint64_t n = 16;

	while (n < 2 * (uint64_t)max_nodes) {
		n *= 2;
	}
	struct claim *claims = arena_array(a, max_claims, sizeof(*claims));
	struct id_slot *slots =
		n <= GRAPH_NONE ? arena_array(a, n, sizeof(*slots)) : NULL;
	if (!claims || !slots) {
		return -ENOMEM;
	}
	*c = (struct cables){ .claims = claims, .slots = slots, .n_slots = (uint32_t)n };
	return E_OK;
}

/* FNV-1a with a last mix, so that the low bits depend on every byte. */
static uint32_t hash(struct span id)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < id.n; i++) {
		h = (h ^ (unsigned char)id.p[i]) * 0x100000001b3ull;
	}
	return (uint32_t)(h ^ (h >> 32));
}

struct id_slot *cables_slot(const struct cables *c, struct span id)
{
	uint32_t mask = c->n_slots - 1, i = hash(id) & mask;

	while (c->slots[i].id.p &&
	       (c->slots[i].id.n != id.n || memcmp(c->slots[i].id.p, id.p, id.n))) {
		i = (i + 1) & mask;
	}
	return &c->slots[i];
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
	const struct id_slot *slot = cables_slot(r->c, c->far_id);

	c->far = GRAPH_NONE;
	if (!slot->id.p) {
		diag_add(r->d, DIAG_ERROR, r->file, c->line,
		         "cable to \"%s\", but no node has this id",
		         span_shown(c->far_id).text);
		return;
	}
	if (slot->node == GRAPH_NONE) {
		return;
	}
	c->far = graph_port(r->g, slot->node, c->far_num);
	if (c->far == GRAPH_NONE) {
		diag_add(r->d, DIAG_ERROR, r->file, c->line,
		         "cable to port %u of \"%s\", which has ports 1 to %u (line %u)",
		         c->far_num, span_shown(c->far_id).text,
		         r->g->nodes[slot->node].n_ports, slot->line);
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
		diag_add(r->d, DIAG_ERROR, r->file, c->line,
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
		diag_add(r->d, DIAG_ERROR, r->file, c->line,
		         "the two ends of this cable name different PortGUIDs for %s",
		         name_of(r, port).text);
		return;
	}
	p->guid = own ? own : other;
}

/* answer: the claim from the other end, or NULL. */
static void connect(struct resolver *r, const struct claim *c, const struct claim *answer)
{
	static const struct claim none = { .speed = SPEED_COUNT };
	const struct claim *o = answer ? answer : &none;
	struct port *a = &r->g->ports[c->port], *b = &r->g->ports[c->far];

	if ((c->width && o->width && c->width != o->width) ||
	    (c->speed != SPEED_COUNT && o->speed != SPEED_COUNT &&
	     c->speed != o->speed)) {
		diag_add(r->d, DIAG_ERROR, r->file, o->line,
		         "%s is %s%s here, but the other end says %s%s in line %u",
		         name_of(r, c->far).text, link_width_name(o->width),
		         link_speed_name(o->speed), link_width_name(c->width),
		         link_speed_name(c->speed), c->line);
		return;
	}
	if (graph_connect(r->g, c->port, c->far) != E_OK) {
		diag_add(r->d, DIAG_ERROR, r->file, c->line, "%s and %s cannot be cabled",
		         name_of(r, c->port).text, name_of(r, c->far).text);
		return;
	}
	uint8_t width = c->width ? c->width : o->width;
	uint8_t speed = c->speed != SPEED_COUNT ? c->speed : o->speed;
	a->width = b->width = width ? width : WIDTH_4X;
	a->speed = b->speed = speed != SPEED_COUNT ? speed : SPEED_SDR;
	set_port_guid(r, c->port, c->near_guid, o->far_guid, c);
	set_port_guid(r, c->far, o->near_guid, c->far_guid, c);
}

static void resolve_one(struct resolver *r, uint32_t i)
{
	const struct claim *claims = r->c->claims, *c = &claims[i];
	uint32_t answer = r->by_near[c->far];

	if (answer) {
		const struct claim *o = &claims[answer - 1];
		if (o->far == c->port) {
			if (answer - 1 >= i) { /* the pair's first line speaks for both */
				connect(r, c, o);
			}
		} else if (o->far != GRAPH_NONE) {
			diag_add(r->d, DIAG_ERROR, r->file, c->line,
			         "%s leads to %s here, but line %u says that %s leads to "
			         "%s",
			         name_of(r, c->port).text, name_of(r, c->far).text,
			         o->line, name_of(r, c->far).text,
			         name_of(r, o->far).text);
		}
		return;
	}
	if (r->by_far[c->far]) {
		const struct claim *o = &claims[r->by_far[c->far] - 1];
		diag_add(r->d, DIAG_ERROR, r->file, c->line,
		         "%s is at the end of this cable and of that in line %u",
		         name_of(r, c->far).text, o->line);
		return;
	}
	r->by_far[c->far] = i + 1;
	connect(r, c, NULL);
}

int cables_resolve(struct cables *c, struct graph *g, const char *file, struct diags *d)
{
	struct resolver r = { .c = c, .g = g, .d = d, .file = file };

	r.by_near = arena_array(g->arena, g->n_ports, sizeof(*r.by_near));
	r.by_far = arena_array(g->arena, g->n_ports, sizeof(*r.by_far));
	if (!r.by_near || !r.by_far) {
		return -ENOMEM;
	}
	index_claims(&r);
	for (uint32_t i = 0; i < c->n_claims; i++) {
		if (c->claims[i].far != GRAPH_NONE) {
			resolve_one(&r, i);
		}
	}
	return E_OK;
}
