/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Links that fail at random. The order of failing is a random order of all
 * switch-to-switch cables. Drawn again while that cuts the fabric; when chance keeps
 * cutting it, cables that the fabric hangs on change places with others, so that as many
 * fail as possible.
 */
#include "routing/topogen/topogen_fail.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/union_find.h"
#include "routing/graph/graph.h"
#include "routing/topogen/topogen.h"
#include "routing/topogen/topogen_maker.h"

/* Drawings that may cut the fabric before a connected one is made to order. */
enum { TRIES = 16 };

/* Switch-to-switch cables and what is drawn from them. */
struct draw {
	uint32_t *cable; /* [n] one port of each cable */
	uint32_t *group; /* [n_nodes] union-find: parent */
	uint32_t n;
	uint32_t want; /* the first want of cable[] fail */
	uint64_t state;
};

static void shuffle(struct draw *w)
{
	for (uint32_t i = w->n; i > 1; i--) {
		uint32_t j = (uint32_t)(topogen_random(&w->state) % i),
			 t = w->cable[i - 1];
		w->cable[i - 1] = w->cable[j];
		w->cable[j] = t;
	}
}

/* \return Whether the cable joined two groups that were apart. */
static bool join(const struct graph *g, struct draw *w, uint32_t port)
{
	return union_join(w->group, g->ports[port].node,
	                  g->ports[g->ports[port].peer].node);
}

/* Number of joins that cables first..n-1 make: nodes minus joins = parts. */
static uint32_t joins(const struct graph *g, struct draw *w, uint32_t first)
{
	uint32_t made = 0;

	union_init(w->group, g->n_nodes);
	for (uint32_t i = first; i < w->n; i++) {
		made += join(g, w, w->cable[i]);
	}
	return made;
}

/*
 * Brings cables that the fabric needs to stay together behind the failing ones: those
 * that join two groups when all others stay. Needed when chance alone keeps cutting it.
 */
static void spare_bridges(const struct graph *g, struct draw *w)
{
	uint32_t *needed = w->cable + w->n; /* the second half is room for this */
	uint32_t n_needed = 0, n = 0;

	/* Cables meant to stay come last in the order and are joined first, so most trees
	   use them; the cables that are still needed are taken out of the failing ones,
	   and others, that close a cycle, move up in their place. */
	union_init(w->group, g->n_nodes);
	for (uint32_t i = w->n; i-- > 0;) {
		if (join(g, w, w->cable[i])) {
			needed[n_needed++] = w->cable[i];
			w->cable[i] = GRAPH_NONE;
		}
	}
	for (uint32_t i = 0; i < w->n; i++) {
		if (w->cable[i] != GRAPH_NONE) {
			w->cable[n++] = w->cable[i];
		}
	}
	memcpy(w->cable + n, needed, n_needed * sizeof(*needed));
	w->want = w->want < n ? w->want : n;
}

static int draw_init(struct draw *w, const struct graph *g, const struct topogen_opts *o)
{
	*w = (struct draw){ .state = o->seed };
	w->cable = arena_array(g->arena, g->n_ports, sizeof(*w->cable));
	w->group = arena_array(g->arena, g->n_nodes, sizeof(*w->group));
	if (!w->cable || !w->group) {
		return -ENOMEM;
	}

	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		if (p->peer == GRAPH_NONE || p->peer < i) {
			continue;
		}
		if (g->nodes[p->node].type == NODE_SWITCH &&
		    g->nodes[g->ports[p->peer].node].type == NODE_SWITCH) {
			w->cable[w->n++] = i;
		}
	}
	w->want = (uint32_t)(o->fail * w->n + 0.5);
	return E_OK;
}

int topogen_fail(struct graph *g, const struct topogen_opts *o, struct diags *d)
{
	if (!(o->fail >= 0 && o->fail <= 1)) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "fail is %g, expected a fraction from 0 to 1", o->fail);
		return E_RANGE;
	}
	struct draw w;
	int ret = draw_init(&w, g, o);
	if (ret != E_OK || !w.want) {
		return ret;
	}

	uint32_t whole = joins(g, &w, 0);
	unsigned try = 0;
	do {
		shuffle(&w);
	} while (joins(g, &w, w.want) != whole && ++try < TRIES);
	if (try == TRIES) {
		uint32_t asked = w.want;
		spare_bridges(g, &w);
		if (w.want < asked) {
			diag_add(d, DIAG_WARNING, NULL, 0,
			         "only %u of %u links removed, the others hold it "
			         "together",
			         w.want, asked);
		}
	}
	for (uint32_t i = 0; i < w.want; i++) {
		graph_disconnect(g, w.cable[i]);
	}
	return E_OK;
}
