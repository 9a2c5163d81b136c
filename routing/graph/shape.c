/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/shape.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

static uint32_t link_code(const struct port *p)
{
	return p->width | (uint32_t)p->speed << 8 | (uint32_t)p->mtu << 16 |
	       (uint32_t)p->vls << 24;
}

static void fill_ports(struct shape *s, const struct graph *g)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct node *node = &g->nodes[g->switches[i]];
		struct shape_port *row = s->port + (size_t)i * s->width;

		s->guid[i] = node->guid;
		s->n_hosts[i] = g->host_first[i + 1] - g->host_first[i];
		for (unsigned k = 0; k < s->width; k++) {
			row[k].to = GRAPH_NONE;
		}
		for (unsigned k = 1; k <= node->n_ports; k++) {
			const struct port *p = &g->ports[node->first_port + k];
			const struct port *peer =
				p->peer != GRAPH_NONE ? &g->ports[p->peer] : NULL;

			if (peer == NULL) {
				continue;
			}
			row[k].here = link_code(p);
			row[k].there = link_code(peer);
			row[k].to = g->nodes[peer->node].sw;
			row[k].to_port = row[k].to != GRAPH_NONE ? peer->num : 0;
			row[k].host = row[k].to == GRAPH_NONE;
		}
	}
}

int shape_init(struct shape *s, const struct graph *g, const struct lids *lids,
               struct arena *a)
{
	struct shape x = { .n = g->n_switches,
		           .width = (uint32_t)g->max_port + 1,
		           .top = lids->top };

	x.guid = arena_array(a, x.n, sizeof(*x.guid));
	x.port = arena_array(a, (size_t)x.n * x.width, sizeof(*x.port));
	x.n_hosts = arena_array(a, x.n, sizeof(*x.n_hosts));
	x.lid = arena_array(a, (size_t)x.top + 1, sizeof(*x.lid));
	if (!x.guid || !x.port || !x.n_hosts || !x.lid) {
		return -ENOMEM;
	}
	fill_ports(&x, g);
	for (uint32_t lid = 0; lid <= x.top; lid++) {
		uint32_t owner = lids->owner[lid];
		struct shape_lid *l = &x.lid[lid];

		l->sw = owner != GRAPH_NONE ? graph_switch_of(g, owner) : GRAPH_NONE;
		if (l->sw == GRAPH_NONE) {
			x.off_switch |= owner != GRAPH_NONE;
			continue;
		}
		l->port = graph_switch_port_of(g, owner);
		l->to_host = graph_is_host(g, owner);
		l->is_base = lids->of[owner].base == lid;
	}
	*s = x;
	return E_OK;
}

/* ---- comparing ---- */

/* Notes what differs between two ports. \return false: the same cable has other limits. */
static bool compare_port(const struct shape_port *a, const struct shape_port *b,
                         struct shape_link at, struct shape_change *c)
{
	bool same = a->to == b->to && (a->to == GRAPH_NONE || a->to_port == b->to_port);

	if (same) {
		return a->to == GRAPH_NONE ||
		       (a->here == b->here && a->there == b->there);
	}
	if (a->to != GRAPH_NONE) {
		at.to = a->to;
		c->lost[c->n_lost++] = at;
	}
	if (b->to != GRAPH_NONE) {
		at.to = b->to;
		c->gained[c->n_gained++] = at;
	}
	return true;
}

static bool same_lid(const struct shape *was, const struct shape *now, uint32_t lid)
{
	const struct shape_lid *a = &was->lid[lid], *b = &now->lid[lid];
	const struct shape_port *p, *q;

	if (a->sw != b->sw || a->sw == GRAPH_NONE) {
		return a->sw == b->sw;
	}
	if (a->port != b->port || a->to_host != b->to_host || a->is_base != b->is_base) {
		return false;
	}
	p = shape_at(was, a->sw, a->port);
	q = shape_at(now, b->sw, b->port);
	return p->here == q->here && p->there == q->there;
}

int shape_compare(const struct shape *was, const struct shape *now, struct arena *a,
                  struct shape_change *ret_change)
{
	size_t ports = (size_t)now->n * now->width;
	struct shape_change c = { 0 };

	if (was->n != now->n || was->width != now->width ||
	    memcmp(was->guid, now->guid, now->n * sizeof(*now->guid)) != 0) {
		c.doubt = "a switch came or went";
	} else if (was->top != now->top) {
		c.doubt = "the highest LID is another one";
	} else if (was->off_switch || now->off_switch) {
		c.doubt = "a host is cabled to another host";
	}
	if (c.doubt != NULL) {
		*ret_change = c;
		return E_OK;
	}
	c.lost = arena_array(a, ports, sizeof(*c.lost));
	c.gained = arena_array(a, ports, sizeof(*c.gained));
	c.lid = arena_array(a, (size_t)now->top + 1, sizeof(*c.lid));
	c.sw = arena_array(a, now->n, sizeof(*c.sw));
	if (!c.lost || !c.gained || !c.lid || !c.sw) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < now->n; s++) {
		const struct shape_port *x = shape_at(was, s, 0),
					*y = shape_at(now, s, 0);

		if (was->n_hosts[s] != now->n_hosts[s]) {
			c.sw[c.n_sw++] = s;
		}
		for (unsigned k = 1; k < now->width; k++) {
			struct shape_link at = { .sw = s, .port = (uint8_t)k };

			if (!compare_port(&x[k], &y[k], at, &c)) {
				c.doubt =
					"a cable has another width, speed, MTU or number of VLs";
			}
		}
	}
	for (uint32_t lid = 1; lid <= now->top; lid++) {
		if (!same_lid(was, now, lid)) {
			c.lid[c.n_lids++] = lid;
		}
	}
	*ret_change = c;
	return E_OK;
}
