/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/program/waves.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/tables.h"
#include "routing/graph/walk.h"

const char *const way_texts[WAY_COUNT] = {
	[WAY_BY_LID] = "by LID",
	[WAY_ASKED] = "because of smp_routing",
	[WAY_UNANSWERED] = "that did not answer by LID",
	[WAY_REMEMBERED] = "that had not answered by LID before",
	[WAY_BEHIND] = "behind one that did not answer by LID",
	[WAY_NO_ROUTE] = "without a route by LID at the time",
};

const char *const way_names[WAY_COUNT] = {
	[WAY_BY_LID] = "by_lid",         [WAY_ASKED] = "asked",
	[WAY_UNANSWERED] = "unanswered", [WAY_REMEMBERED] = "remembered",
	[WAY_BEHIND] = "behind",         [WAY_NO_ROUTE] = "no_route",
};

enum found { ARRIVES, WAITS, BLOCKED, NO_WAY };

/* The end of a walk: the last switch before the destination, or the one that it waits for. */
struct walk_end {
	uint32_t sw; /* GRAPH_NONE: none */
	uint8_t out;
};

int waves_init(struct waves *w, const struct graph *g, const struct lids *lids,
               struct arena *a)
{
	const struct port *sm = &g->ports[g->sm_port];

	*w = (struct waves){ .g = g,
		             .lids = lids,
		             .sm_lid = lids->of[g->sm_port].base,
		             .start = g->nodes[sm->node].sw };
	if (g->nodes[sm->node].type != NODE_SWITCH) {
		uint32_t peer = sm->peer;

		w->start = peer == GRAPH_NONE ? GRAPH_NONE
		                              : g->nodes[g->ports[peer].node].sw;
	}
	w->state = arena_array(a, g->n_switches, sizeof(*w->state));
	w->first_waiting = arena_array(a, g->n_switches, sizeof(*w->first_waiting));
	w->next_waiting = arena_array(a, g->n_switches, sizeof(*w->next_waiting));
	if (w->state == NULL || w->first_waiting == NULL || w->next_waiting == NULL) {
		return -ENOMEM;
	}
	memset(w->first_waiting, 0xff, g->n_switches * sizeof(*w->first_waiting));
	return E_OK;
}

/* Follows the entries from a switch to the owner of a LID. The state of the switch itself,
 * and of one that is the owner, does not matter. */
static enum found walk(const struct waves *w, uint32_t from, uint32_t lid,
                       struct walk_end *end)
{
	const struct graph *g = w->g;
	uint32_t owner = lid <= w->lids->top ? w->lids->owner[lid] : GRAPH_NONE;
	uint32_t sw = from;

	end->sw = GRAPH_NONE;
	for (unsigned hops = 0; owner != GRAPH_NONE && hops < WALK_MAX; hops++) {
		const struct node *n = &g->nodes[g->switches[sw]];
		uint32_t peer;

		if (g->ports[owner].node == g->switches[sw]) {
			return ARRIVES;
		}
		if (sw != from && w->state[sw] != WAVE_FINISHED) {
			end->sw = sw;
			return w->state[sw] == WAVE_FAILED ? BLOCKED : WAITS;
		}
		end->sw = sw;
		end->out = w->entry(w->ctx, sw, lid);
		if (end->out == 0 || end->out > n->n_ports) {
			return NO_WAY;
		}
		peer = g->ports[n->first_port + end->out].peer;
		if (peer == owner) {
			return ARRIVES;
		}
		if (peer == GRAPH_NONE ||
		    g->nodes[g->ports[peer].node].type != NODE_SWITCH) {
			return NO_WAY;
		}
		sw = g->nodes[g->ports[peer].node].sw;
	}
	return NO_WAY;
}

static uint32_t lid_of(const struct waves *w, uint32_t sw)
{
	return w->lids->of[w->g->nodes[w->g->switches[sw]].first_port].base;
}

/* The route from the SM to a switch, whose start is a switch that has to be finished, too. */
static enum found walk_from_sm(const struct waves *w, uint32_t sw, struct walk_end *end)
{
	if (w->start == sw) {
		end->sw = GRAPH_NONE;
		return ARRIVES;
	}
	if (w->start == GRAPH_NONE) {
		return NO_WAY;
	}
	if (w->state[w->start] == WAVE_FAILED) {
		return BLOCKED;
	}
	if (w->state[w->start] != WAVE_FINISHED) {
		end->sw = w->start;
		return WAITS;
	}
	return walk(w, w->start, lid_of(w, sw), end);
}

static bool wait_for(struct waves *w, uint32_t sw, uint32_t other)
{
	w->next_waiting[sw] = w->first_waiting[other];
	w->first_waiting[other] = sw;
	w->n_waiting++;
	return false;
}

bool waves_find(struct waves *w, uint32_t sw, struct wave_route *ret_route)
{
	struct walk_end to, back, to_parent, from_parent;
	enum found there = walk_from_sm(w, sw, &to);
	enum found home = walk(w, sw, w->sm_lid, &back);

	*ret_route = (struct wave_route){ .parent = GRAPH_NONE };
	if (there == WAITS || home == WAITS) {
		return wait_for(w, sw, there == WAITS ? to.sw : back.sw);
	}
	ret_route->by_lid = there == ARRIVES && home == ARRIVES;
	ret_route->blocked = there == BLOCKED || home == BLOCKED;
	if (there != ARRIVES || to.sw == GRAPH_NONE) {
		return true;
	}
	there = walk_from_sm(w, to.sw, &to_parent);
	home = walk(w, to.sw, w->sm_lid, &from_parent);
	if (there == WAITS || home == WAITS) {
		return wait_for(w, sw, there == WAITS ? to_parent.sw : from_parent.sw);
	}
	if (there == ARRIVES && home == ARRIVES) {
		ret_route->parent = to.sw;
		ret_route->port = to.out;
	}
	return true;
}

bool waves_reach(struct waves *w, uint32_t port)
{
	uint32_t lid = w->lids->of[port].base, peer = w->g->ports[port].peer;
	struct walk_end end;

	if (peer == GRAPH_NONE ||
	    w->g->nodes[w->g->ports[peer].node].type != NODE_SWITCH ||
	    w->start == GRAPH_NONE || w->state[w->start] != WAVE_FINISHED) {
		return false;
	}
	uint32_t leaf = w->g->nodes[w->g->ports[peer].node].sw;

	return w->state[leaf] == WAVE_FINISHED &&
	       walk(w, w->start, lid, &end) == ARRIVES &&
	       walk(w, leaf, w->sm_lid, &end) == ARRIVES;
}

void waves_end(struct waves *w, uint32_t sw, bool finished)
{
	w->state[sw] = finished ? WAVE_FINISHED : WAVE_FAILED;
}

uint32_t waves_take(struct waves *w, uint32_t sw)
{
	uint32_t first = w->first_waiting[sw];

	if (first != GRAPH_NONE) {
		w->first_waiting[sw] = w->next_waiting[first];
		w->n_waiting--;
	}
	return first;
}
