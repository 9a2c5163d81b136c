/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/sweep/link_care.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "sa/perf/link_verdict.h"
#include "sa/perf/perf.h"
#include "sa/sm/drained.h"
#include "sa/sm/events.h"
#include "sa/sm/sm.h"

enum {
	CABLES_MAX = 4096, /* that are looked at; more are not well only in a broken fabric */
	SWITCH_PERCENT = 50, /* of the cables of a switch to others that may be out */
	NO_LEVEL = UINT8_MAX,
	REFUSED_MS = 3600000 /* a cable whose transition could not be proven is not tried again for so long */
};

/* A cable beside what is decided about it. */
struct cared {
	struct link_cable *cable; /* [n] malloc */
	uint32_t *end;            /* [n] its first port in the graph; malloc */
	size_t n;
	const struct graph *g;
};

/* --- the cables ------------------------------------------------------------------------- */

static uint32_t cables_of(const struct graph *g, uint32_t node)
{
	const struct node *n = &g->nodes[node];
	uint32_t cables = 0;

	for (uint32_t i = 1; i <= n->n_ports; i++) {
		cables += g->ports[n->first_port + i].peer != GRAPH_NONE;
	}
	return cables;
}

static int compare_ends(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return a < b ? -1 : a > b;
}

/* The first port of the cable; GRAPH_NONE: the port or its cable is gone. */
static uint32_t first_end(const struct graph *g, uint64_t guid, uint8_t num)
{
	uint32_t node = graph_node_by_guid(g, guid);
	uint32_t port = node != GRAPH_NONE ? graph_port(g, node, num) : GRAPH_NONE;

	if (port == GRAPH_NONE || g->ports[port].peer == GRAPH_NONE) {
		return GRAPH_NONE;
	}
	return g->ports[port].peer < port ? g->ports[port].peer : port;
}

/* The row that takes a cable out of service for a reason; NULL: there is none. */
static const struct drained_row *row_of(const struct sm *sm, const struct link_cable *c,
                                        enum drained_reason reason)
{
	for (size_t i = 0; i < sm->drained.n; i++) {
		const struct drained_row *r = &sm->drained.list[i];

		if (r->reason == reason && (drained_concerns(r, c->guid[0], c->port[0]) ||
		                            drained_concerns(r, c->guid[1], c->port[1]))) {
			return r;
		}
	}
	return NULL;
}

static bool is_marked_out(const struct link_cable *c)
{
	return (c->end[0] != NULL && (c->end[0]->flags & LINK_OUT) != 0) ||
	       (c->end[1] != NULL && (c->end[1]->flags & LINK_OUT) != 0);
}

static void mark_out(struct link_cable *c, bool out, int64_t out_s)
{
	for (unsigned k = 0; k < 2; k++) {
		struct link_health *h = c->end[k];

		if (h != NULL) {
			h->flags = (uint8_t)(out ? h->flags | LINK_OUT : h->flags & ~LINK_OUT);
			h->out_s = out_s;
		}
	}
}

/* Is the cable one that somebody else put into service again, or that could not be taken out? */
static bool was_refused(struct link_care *care, const struct link_cable *c)
{
	for (unsigned i = 0; i < LINK_REFUSALS; i++) {
		const struct link_refusal *r = &care->refused[i];

		if (r->guid == c->guid[0] && r->port == c->port[0] && sm_now(care->sm) < r->until_ms) {
			return true;
		}
	}
	return false;
}

static void refuse_cable(struct link_care *care, const struct link_cable *c)
{
	care->refused[care->n_refused++ % LINK_REFUSALS] = (struct link_refusal){
		.guid = c->guid[0], .port = c->port[0], .until_ms = sm_now(care->sm) + REFUSED_MS
	};
}

/* Compares the rows of the state with the marks at the ends of a cable. */
static void compare_out(struct link_care *care, struct link_cable *c)
{
	const struct drained_row *r = row_of(care->sm, c, DRAINED_HEALTH);

	c->out = r != NULL;
	c->out_by_operator = row_of(care->sm, c, DRAINED_MAINTENANCE) != NULL;
	if (c->out && !is_marked_out(c)) {
		/* nothing is known of it after a loss of the stats: it has to be calm first */
		for (unsigned k = 0; k < 2; k++) {
			if (c->end[k] != NULL && c->is_switch[k]) {
				c->end[k]->state = LINK_SICK;
				c->end[k]->times += c->end[k]->times == 0;
			}
		}
		mark_out(c, true, r->since_s);
	} else if (!c->out && is_marked_out(c)) {
		refuse_cable(care, c);
		mark_out(c, false, 0);
	}
}

static void describe(struct link_care *care, struct cared *c, struct perf *perf)
{
	for (size_t i = 0; i < c->n; i++) {
		struct link_cable *cable = &c->cable[i];
		const uint32_t ends[2] = { c->end[i], c->g->ports[c->end[i]].peer };

		*cable = (struct link_cable){ .out = false };
		for (unsigned k = 0; k < 2; k++) {
			const struct port *p = &c->g->ports[ends[k]];
			const struct node *n = &c->g->nodes[p->node];

			cable->guid[k] = n->guid;
			cable->port[k] = p->num;
			cable->is_switch[k] = n->type == NODE_SWITCH;
			cable->end[k] = perf_health(perf, n->guid, p->num);
			cable->cables[k] = cables_of(c->g, p->node);
		}
		compare_out(care, cable);
	}
}

static void add_end(struct cared *c, uint64_t guid, uint8_t port)
{
	uint32_t end = c->n < CABLES_MAX ? first_end(c->g, guid, port) : GRAPH_NONE;

	if (end != GRAPH_NONE) {
		c->end[c->n++] = end;
	}
}

/* The cables with a port that is not well, and those that are out of service for their health. */
static bool collect(struct link_care *care, struct cared *c, struct perf *perf)
{
	const struct drained *d = &care->sm->drained;

	struct link_health_row *rows = calloc(CABLES_MAX, sizeof(*rows));
	size_t n = 0;

	c->n = 0;
	c->cable = calloc(CABLES_MAX, sizeof(*c->cable));
	c->end = calloc(CABLES_MAX, sizeof(*c->end));
	if (rows != NULL && c->cable != NULL && c->end != NULL) {
		n = perf_health_unwell(perf, rows, CABLES_MAX);
		for (size_t i = 0; i < d->n; i++) {
			if (d->list[i].reason == DRAINED_HEALTH) {
				add_end(c, d->list[i].node_guid, d->list[i].port);
			}
		}
		for (size_t i = 0; i < n; i++) {
			add_end(c, rows[i].node_guid, rows[i].port);
		}
	}
	free(rows);
	if (c->n > 0) {
		size_t kept = 0;

		qsort(c->end, c->n, sizeof(c->end[0]), compare_ends);
		for (size_t i = 0; i < c->n; i++) {
			if (i == 0 || c->end[i] != c->end[i - 1]) {
				c->end[kept++] = c->end[i];
			}
		}
		c->n = kept;
		describe(care, c, perf);
	}
	return c->n > 0;
}

/* --- may it be taken out? --------------------------------------------------------------- */

/* Cables from each switch to the nearest host: the tiers of a tree. \return [n_nodes] malloc, or NULL. */
static uint8_t *find_levels(const struct graph *g)
{
	uint8_t *level = malloc(g->n_nodes);
	uint32_t *queue = calloc(g->n_nodes, sizeof(*queue)), n = 0;

	if (level == NULL || queue == NULL) {
		free(level);
		free(queue);
		return NULL;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		bool host = g->nodes[i].type != NODE_SWITCH;

		level[i] = host ? 0 : NO_LEVEL;
		if (host) {
			queue[n++] = i;
		}
	}
	for (uint32_t at = 0; at < n; at++) {
		const struct node *from = &g->nodes[queue[at]];

		for (uint32_t k = 1; k <= from->n_ports; k++) {
			uint32_t peer = g->ports[from->first_port + k].peer;
			uint32_t to = peer != GRAPH_NONE ? g->ports[peer].node : GRAPH_NONE;

			if (to != GRAPH_NONE && level[to] == NO_LEVEL) {
				level[to] = (uint8_t)(level[queue[at]] < NO_LEVEL - 2 ?
				                              level[queue[at]] + 1 :
				                              NO_LEVEL - 1);
				queue[n++] = to;
			}
		}
	}
	free(queue);
	return level;
}

/* Is a cable between the same two levels as another? */
static bool is_like(const struct graph *g, const uint8_t *level, uint32_t a, uint32_t b)
{
	uint8_t x = level[g->ports[a].node], y = level[g->ports[g->ports[a].peer].node];
	uint8_t u = level[g->ports[b].node], v = level[g->ports[g->ports[b].peer].node];

	return (x == u && y == v) || (x == v && y == u);
}

static uint32_t port_of(const struct graph *g, const struct link_cable *c)
{
	uint32_t node = graph_node_by_guid(g, c->guid[0]);

	return node != GRAPH_NONE ? graph_port(g, node, c->port[0]) : GRAPH_NONE;
}

static double bandwidth(const struct graph *g, uint32_t port)
{
	return rate_speed(link_rate(g->ports[port].width, g->ports[port].speed));
}

/* Percent of the bandwidth between two tiers that is lost with a cable and all that is out between them. */
static double bisection_lost(const struct sm *sm, const struct graph *g, const struct link_cable *c)
{
	uint8_t *level = find_levels(g);
	uint32_t port = port_of(g, c);
	double all = 0, lost = 0;

	if (level == NULL || port == GRAPH_NONE) {
		free(level);
		return 100; /* out of memory: nothing is taken out */
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		uint32_t peer = g->ports[i].peer;

		if (peer == GRAPH_NONE || peer < i ||
		    g->nodes[g->ports[i].node].type != NODE_SWITCH ||
		    g->nodes[g->ports[peer].node].type != NODE_SWITCH ||
		    !is_like(g, level, i, port)) {
			continue;
		}
		const struct link_cable at = {
			.guid = { g->nodes[g->ports[i].node].guid, g->nodes[g->ports[peer].node].guid },
			.port = { g->ports[i].num, g->ports[peer].num }
		};
		bool out = i == port || peer == port ||
		           row_of(sm, &at, DRAINED_HEALTH) != NULL ||
		           row_of(sm, &at, DRAINED_MAINTENANCE) != NULL;

		all += bandwidth(g, i);
		lost += out ? bandwidth(g, i) : 0;
	}
	free(level);
	return all > 0 ? 100 * lost / all : 100;
}

static int request_out(struct link_care *care, const struct link_cable *c, bool dry_run,
                       struct drained_outcome *ret_outcome)
{
	const struct drained_limits limits = { .switch_percent = SWITCH_PERCENT };
	const struct link_health *h = c->end[c->worse];
	char note[DRAINED_NOTE_BYTES], why[400];
	const struct drained_request rq = { .reason = DRAINED_HEALTH,
		                            .dry_run = dry_run,
		                            .node_guid = c->guid[0],
		                            .port = c->port[0],
		                            .by = "link_health",
		                            .note = link_health_text(h, note, sizeof(note)),
		                            .limits = &limits };

	*ret_outcome = (struct drained_outcome){ .changed = false };
	return drained_request(care->sm, &rq, ret_outcome, why, sizeof(why));
}

static enum link_decision ask(void *ctx, const struct link_cable *c)
{
	struct link_care *care = ctx;
	const struct config *config = care->sm->d.config;
	struct drained_outcome o;

	if (was_refused(care, c)) {
		return LINK_DECISION_UNPROVEN;
	}
	int ret = request_out(care, c, true, &o);

	if (ret == E_UNSUITABLE) {
		return o.effect.cuts_sm             ? LINK_DECISION_SM
		       : o.effect.switches_cut != 0 ? LINK_DECISION_LAST
		                                    : LINK_DECISION_PAIRS;
	}
	if (ret != E_OK) {
		return ret == E_FULL ? LINK_DECISION_LAST : LINK_DECISION_UNPROVEN;
	}
	return bisection_lost(care->sm, care->sm->job->disc.g, c) >= config->link_health_bisection
	               ? LINK_DECISION_BISECTION
	               : LINK_DECISION_DUE;
}

/* --- what follows ----------------------------------------------------------------------- */

static enum link_decision known_decision(const struct link_cable *c)
{
	for (unsigned k = 0; k < 2; k++) {
		if (c->end[k] != NULL && c->end[k]->decision != LINK_DECISION_NONE) {
			return c->end[k]->decision;
		}
	}
	return LINK_DECISION_NONE;
}

static void note(struct link_care *care, const struct cared *c, size_t i, enum event_kind kind)
{
	const struct link_cable *cable = &c->cable[i];
	uint32_t end = c->end[i], peer = c->g->ports[end].peer;
	const struct link_health *h = cable->end[cable->worse];
	char counts[200], detail[EVENT_DETAIL_BYTES];
	struct fabric_event e = { .kind = kind, .port = c->g->ports[end].num, .detail = detail };

	events_set_node(&e, c->g, c->g->ports[end].node);
	events_set_peer(&e, c->g, peer);
	snprintf(detail, sizeof(detail), "port %u of %s counts %s%s%s",
	         cable->port[cable->worse], cable->worse == 0 ? e.node : e.peer,
	         h != NULL ? link_health_text(h, counts, sizeof(counts)) : "errors",
	         kind == EVENT_LINK_SICK ? "; " : "",
	         kind == EVENT_LINK_SICK ? link_decision_text(cable->decision) : "");
	events_note(care->sm, &e);
}

static void end_row(struct sm *sm, uint64_t guid, uint8_t port)
{
	const struct drained_request rq = { .reason = DRAINED_HEALTH,
		                            .end = true,
		                            .node_guid = guid,
		                            .port = port,
		                            .by = "link_health" };
	struct drained_outcome o = { .changed = false };
	char why[400];

	(void)drained_request(sm, &rq, &o, why, sizeof(why)); /* the next call tries again */
}

static void take_out(struct link_care *care, struct link_cable *c)
{
	struct drained_outcome o;

	if (request_out(care, c, false, &o) == E_OK) {
		c->out = true;
		c->decision = LINK_DECISION_TAKEN_OUT;
		mark_out(c, true, sm_wall_clock(care->sm));
	} else {
		refuse_cable(care, c);
		c->decision = LINK_DECISION_UNPROVEN;
	}
}

static void act(struct link_care *care, struct perf *perf, const struct cared *c, size_t take)
{
	for (size_t i = 0; i < c->n; i++) {
		struct link_cable *cable = &c->cable[i];
		enum link_decision was = known_decision(cable);

		if (i == take) {
			take_out(care, cable);
		} else if (cable->returns) {
			mark_out(cable, false, 0);
			end_row(care->sm, cable->guid[0], cable->port[0]);
			cable->decision = LINK_DECISION_NONE;
		}
		if (cable->state == LINK_SICK && was == LINK_DECISION_NONE) {
			note(care, c, i, EVENT_LINK_SICK);
		} else if (cable->state != LINK_SICK && was != LINK_DECISION_NONE) {
			note(care, c, i, EVENT_LINK_WELL);
		}
		for (unsigned k = 0; k < 2; k++) {
			if (cable->end[k] != NULL) {
				cable->end[k]->decision = (uint8_t)cable->decision;
				perf_health_write(perf, cable->guid[k], cable->port[k]);
			}
		}
	}
}

/* Nobody judges any more: what is out for its health returns. */
static void return_all(struct sm *sm)
{
	for (size_t i = 0; i < sm->drained.n; i++) {
		if (sm->drained.list[i].reason == DRAINED_HEALTH) {
			end_row(sm, sm->drained.list[i].node_guid, sm->drained.list[i].port);
			return; /* the list is another one now; the next turn goes on */
		}
	}
}

void link_care_run(struct link_care *care, struct perf *perf)
{
	struct sm *sm = care->sm;
	const struct config *config = sm->d.config;
	const struct link_policy policy = { config->link_health, config->link_health_max };
	struct cared c = { .g = sm->job->disc.g };
	size_t take;

	if (perf == NULL || config->link_health == LINK_HEALTH_OFF) {
		return_all(sm);
		return;
	}
	if (perf_counters(perf)->sweeps == care->sweeps) {
		return;
	}
	care->sweeps = perf_counters(perf)->sweeps;
	if (collect(care, &c, perf)) {
		link_verdict(c.cable, c.n, &policy, ask, care, &take);
		act(care, perf, &c, take);
	}
	free(c.cable);
	free(c.end);
}
