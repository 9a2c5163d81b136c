/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/discover/health.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/shadow.h"

enum { PHYSICAL_DISABLED = 3 /* PortPhysicalState: an operator switched it off */ };

const char *health_condition_name(enum health_condition c)
{
	static const char *const names[HEALTH_CONDITIONS] = { "flapping", "unresponsive",
		                                              "seterr", "noisy" };

	return names[c];
}

/* --- ports -------------------------------------------------------------------------- */

static struct health_port *find(const struct health *h, uint64_t guid, uint8_t port)
{
	uint32_t i = hash_get(&h->by_port, guid_port_key(guid, port));

	return i != HASH_NONE && h->ports[i].guid == guid && h->ports[i].port == port
	               ? &h->ports[i]
	               : NULL;
}

/* NULL: out of memory, or the port of another switch has the same key. */
static struct health_port *find_or_add(struct health *h, uint64_t guid, uint8_t port)
{
	struct health_port *p = find(h, guid, port);

	if (p != NULL || hash_get(&h->by_port, guid_port_key(guid, port)) != HASH_NONE) {
		return p;
	}
	if (VECTOR_RESERVE(h->ports, h->cap, h->n + 1) != E_OK ||
	    hash_put(&h->by_port, guid_port_key(guid, port), h->n) != E_OK) {
		return NULL;
	}
	p = &h->ports[h->n++];
	*p = (struct health_port){ .guid = guid, .port = port };
	return p;
}

bool health_is_isolated(const struct health *h, uint64_t guid, uint8_t port)
{
	const struct health_port *p = h->n_isolated != 0 ? find(h, guid, port) : NULL;

	return p != NULL && p->isolated;
}

static bool is_forgotten(const struct health_port *p)
{
	uint64_t any = p->traps;

	for (unsigned c = 0; c < HEALTH_CONDITIONS; c++) {
		any |= p->reported[c] || (c < HEALTH_NOISY && p->seen[c] != 0);
	}
	return any == 0 && !p->isolated;
}

/* A new sweep: all histories are one older, and ports without one are forgotten. */
static void age(struct health *h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n; i++) {
		struct health_port p = h->ports[i];

		for (unsigned c = 0; c < HEALTH_NOISY; c++) {
			p.seen[c] <<= 1;
		}
		if (!is_forgotten(&p)) {
			h->ports[n++] = p;
		}
	}
	h->n = n;
	hash_clear(&h->by_port);
	for (uint32_t i = 0; i < n; i++) { /* there is room */
		(void)hash_put(&h->by_port,
		               guid_port_key(h->ports[i].guid, h->ports[i].port), i);
	}
}

/* --- what is seen ------------------------------------------------------------------- */

static void note(struct health *h, uint64_t guid, uint8_t port, bool to_switch,
                 enum health_condition c)
{
	struct health_port *p;

	if (!h->policy.on || h->policy.action[to_switch][c] == HEALTH_IGNORE) {
		return;
	}
	p = find_or_add(h, guid, port);
	if (p != NULL && !p->isolated) {
		p->to_switch = to_switch;
		p->seen[c] |= 1;
	}
}

void health_note_node(struct health *h, const struct disc_node *n, unsigned port,
                      enum health_condition c)
{
	const struct disc_port *p = &n->ports[port <= n->n_ports ? port : 0];

	if (n->type == NODE_SWITCH && p->num != 0) {
		note(h, n->guid, p->num, p->peer != NULL && p->peer->type == NODE_SWITCH,
		     c);
	} else if (n->type != NODE_SWITCH && p->peer != NULL &&
	           p->peer->type == NODE_SWITCH) {
		note(h, p->peer->guid, p->peer_port, false, c);
	}
}

/* The link of a port that was active went down meanwhile: it is down, or waits to be activated. */
static bool went_down(const struct disc_port *was, const struct disc_port *now)
{
	return was->has_info && now->has_info && was->peer != NULL &&
	       field_get(was->info, PI_PORT_STATE) == PORT_ACTIVE &&
	       field_get(now->info, PI_PORT_STATE) <= PORT_INIT &&
	       field_get(now->info, PI_PORT_PHYSICAL_STATE) != PHYSICAL_DISABLED;
}

static void observe_switch(struct health *h, const struct disc_node *was,
                           const struct disc_node *now, bool bounced)
{
	for (unsigned i = 1; i <= now->n_ports; i++) {
		const struct disc_port *p = &now->ports[i];
		const struct disc_port *before =
			was != NULL && i <= was->n_ports ? &was->ports[i] : NULL;

		if (!bounced && before != NULL && went_down(before, p)) {
			note(h, now->guid, p->num, before->peer->type == NODE_SWITCH,
			     HEALTH_FLAPPING);
		}
		if (p->silent) {
			note(h, now->guid, p->num,
			     before != NULL && before->peer != NULL &&
			             before->peer->type == NODE_SWITCH,
			     HEALTH_UNRESPONSIVE);
		}
	}
}

void health_observe(struct health *h, const struct disc *was, const struct disc *now,
                    bool bounced)
{
	if (!h->policy.on) {
		return;
	}
	age(h);
	for (uint32_t i = 0; i < now->g->n_nodes; i++) {
		const struct disc_node *n = now->of[i];
		uint32_t at;

		/* Of a local discovery only what was read again tells something new. */
		if (n->type != NODE_SWITCH || (n->copied && n->asked == 0)) {
			continue;
		}
		if (now->local) {
			observe_switch(h, n->copied ? disc_before(now, n) : NULL, n,
			               bounced);
			continue;
		}
		at = was != NULL ? hash_get(&was->by_guid, n->guid) : HASH_NONE;
		observe_switch(h, at != HASH_NONE ? was->nodes[at] : NULL, n, bounced);
	}
}

void health_trap(struct health *h, const struct graph *g, uint32_t end_port,
                 uint64_t now_ms)
{
	const struct port *host = &g->ports[end_port];
	struct health_port *p;

	/* The traps of a switch are about any of its ports, so they say nothing about one. */
	if (!h->policy.on || host->peer == GRAPH_NONE ||
	    g->nodes[host->node].type == NODE_SWITCH ||
	    g->nodes[g->ports[host->peer].node].type != NODE_SWITCH ||
	    h->policy.action[false][HEALTH_NOISY] == HEALTH_IGNORE) {
		return;
	}
	p = find_or_add(h, g->nodes[g->ports[host->peer].node].guid,
	                g->ports[host->peer].num);
	if (p == NULL || p->isolated) {
		return;
	}
	if (p->traps == 0 || now_ms - p->traps_since_ms >
	                             (uint64_t)h->policy.window[HEALTH_NOISY] * 1000) {
		p->traps = 0;
		p->traps_since_ms = now_ms;
		p->reported[HEALTH_NOISY] = false;
	}
	p->to_switch = false;
	p->traps++;
}

/* --- what follows ------------------------------------------------------------------- */

static bool is_met(const struct health *h, const struct health_port *p,
                   enum health_condition c)
{
	uint32_t window = h->policy.window[c], least = h->policy.sweeps[c];
	uint64_t mask = window < 64 ? (UINT64_C(1) << window) - 1 : UINT64_MAX;

	if (h->policy.action[p->to_switch][c] == HEALTH_IGNORE) {
		return false;
	}
	if (c == HEALTH_NOISY) {
		return p->traps >= least;
	}
	return (uint32_t)__builtin_popcountll(p->seen[c] & mask) >= least;
}

/* Marks what is reached from a node without a cable; by depth, with a stack on the heap. */
static uint32_t reached_without(const struct graph *g, uint32_t from, uint32_t port,
                                const struct health *h, bool *seen, uint32_t *stack)
{
	uint32_t n = 0, top = 0;

	memset(seen, 0, g->n_nodes * sizeof(*seen));
	stack[top++] = from;
	seen[from] = true;
	while (top > 0) {
		uint32_t at = stack[--top];
		const struct node *node = &g->nodes[at];

		n += node->type == NODE_SWITCH;
		for (unsigned i = 1; i <= node->n_ports; i++) {
			uint32_t p = node->first_port + i;
			uint32_t peer = g->ports[p].peer;

			if (peer != GRAPH_NONE && p != port && peer != port &&
			    !health_is_isolated(h, node->guid, g->ports[p].num) &&
			    !seen[g->ports[peer].node]) {
				seen[g->ports[peer].node] = true;
				stack[top++] = g->ports[peer].node;
			}
		}
	}
	return n;
}

/* Do others depend on the cable of a port: the subnet manager itself, or switches behind it? */
static bool is_needed(const struct health *h, const struct graph *g, uint64_t guid,
                      uint8_t num)
{
	uint32_t node = graph_node_by_guid(g, guid), port, sm = g->ports[g->sm_port].node;
	bool *seen;
	uint32_t *stack;
	bool needed = true;

	port = node != GRAPH_NONE ? graph_port(g, node, num) : GRAPH_NONE;
	if (port == GRAPH_NONE || g->ports[port].peer == GRAPH_NONE) {
		return false; /* nothing is behind it any more */
	}
	if (g->ports[g->ports[port].peer].node == sm) {
		return true;
	}
	if (g->nodes[g->ports[g->ports[port].peer].node].type != NODE_SWITCH) {
		return false;
	}
	seen = calloc(g->n_nodes, sizeof(*seen));
	stack = calloc(g->n_nodes, sizeof(*stack));
	if (seen != NULL && stack != NULL) {
		needed = reached_without(g, sm, port, h, seen, stack) !=
		         reached_without(g, sm, GRAPH_NONE, h, seen, stack);
	}
	free(seen);
	free(stack);
	return needed;
}

/* Of a cable between switches the other end is isolated, too. health_judge() made room. */
static void isolate_far_end(struct health *h, const struct health_port *p,
                            const struct graph *g)
{
	uint32_t node = graph_node_by_guid(g, p->guid);
	uint32_t port = node != GRAPH_NONE ? graph_port(g, node, p->port) : GRAPH_NONE;
	const struct port *far = port != GRAPH_NONE && g->ports[port].peer != GRAPH_NONE
	                                 ? &g->ports[g->ports[port].peer]
	                                 : NULL;
	struct health_port *q;

	if (far == NULL || g->nodes[far->node].type != NODE_SWITCH) {
		return;
	}
	q = find_or_add(h, g->nodes[far->node].guid, far->num);
	if (q != NULL && !q->isolated) {
		q->isolated = q->far_end = true;
		q->since_ms = p->since_ms;
		h->n_isolated++;
	}
}

static bool isolate(struct health *h, struct health_port *p, const struct graph *g,
                    enum health_condition c, uint64_t now_ms, health_news_f *tell,
                    void *ctx)
{
	if (p->isolated || g == NULL) {
		return false;
	}
	if (is_needed(h, g, p->guid, p->port)) {
		if (!p->spared) {
			tell(ctx, p, c, HEALTH_SPARED);
		}
		p->spared = true;
		return false;
	}
	p->isolated = true;
	p->since_ms = now_ms;
	h->n_isolated++;
	isolate_far_end(h, p, g);
	tell(ctx, p, c, HEALTH_CUT_OFF);
	return true;
}

/* The time of an isolated port is over: it starts anew. */
static bool release(struct health *h, struct health_port *p, uint64_t now_ms)
{
	uint64_t guid = p->guid;
	uint8_t port = p->port;

	if (!p->isolated || h->policy.release_s == 0 ||
	    now_ms < p->since_ms + (uint64_t)h->policy.release_s * 1000) {
		return false;
	}
	*p = (struct health_port){ .guid = guid, .port = port };
	h->n_isolated--;
	return true;
}

static bool judge_port(struct health *h, struct health_port *p, const struct graph *g,
                       uint64_t now_ms, health_news_f *tell, void *ctx)
{
	bool due = false, bad = false, was_bad = false;
	enum health_condition last = HEALTH_FLAPPING;

	bool far_end = p->far_end;

	if (release(h, p, now_ms)) {
		if (!far_end) {
			tell(ctx, p, last, HEALTH_GOOD);
		}
		return true;
	}
	for (enum health_condition c = 0; c < HEALTH_CONDITIONS && !p->isolated; c++) {
		bool met = is_met(h, p, c);

		was_bad |= p->reported[c];
		last = p->reported[c] ? c : last;
		if (met && !p->reported[c]) {
			tell(ctx, p, c, HEALTH_BAD);
		}
		p->reported[c] = met;
		bad |= met;
		if (met && h->policy.action[p->to_switch][c] >= HEALTH_ISOLATE) {
			due |= isolate(h, p, g, c, now_ms, tell, ctx);
		}
	}
	if (was_bad && !bad && !p->isolated) {
		p->spared = false;
		tell(ctx, p, last, HEALTH_GOOD);
	}
	return due;
}

bool health_judge(struct health *h, const struct graph *g, uint64_t now_ms,
                  health_news_f *tell, void *ctx)
{
	uint32_t n = h->n;
	bool due = false;

	if (VECTOR_RESERVE(h->ports, h->cap, 2 * (size_t)n) != E_OK) {
		return false; /* the next sweep decides */
	}
	for (uint32_t i = 0; i < n; i++) {
		due |= judge_port(h, &h->ports[i], g, now_ms, tell, ctx);
	}
	return due;
}

uint64_t health_deadline(const struct health *h)
{
	uint64_t at = UINT64_MAX;

	if (h->n_isolated == 0 || h->policy.release_s == 0) {
		return at;
	}
	for (uint32_t i = 0; i < h->n; i++) {
		uint64_t end =
			h->ports[i].since_ms + (uint64_t)h->policy.release_s * 1000;

		if (h->ports[i].isolated && end < at) {
			at = end;
		}
	}
	return at;
}

void health_done(struct health *h)
{
	free(h->ports);
	hash_done(&h->by_port);
	*h = (struct health){ .n = 0 };
}
