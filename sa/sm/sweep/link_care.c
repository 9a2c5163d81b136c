/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/sweep/link_care.h"

#include <stdio.h>
#include <stdlib.h>

#include "conf/config.h"
#include "routing/graph/graph.h"
#include "sa/perf/link_verdict.h"
#include "sa/perf/perf.h"
#include "sa/sm/events.h"
#include "sa/sm/sm.h"

enum { CABLES_MAX = 4096 /* that are looked at; more are not well only in a broken fabric */ };

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

static void describe(struct cared *c, struct perf *perf)
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
	}
}

/* The cables with a port that is not well. */
static bool collect(struct cared *c, struct perf *perf)
{
	struct link_health_row *rows = calloc(CABLES_MAX, sizeof(*rows));
	size_t n = 0;

	c->n = 0;
	c->cable = calloc(CABLES_MAX, sizeof(*c->cable));
	c->end = calloc(CABLES_MAX, sizeof(*c->end));
	if (rows != NULL && c->cable != NULL && c->end != NULL) {
		n = perf_health_unwell(perf, rows, CABLES_MAX);
		for (size_t i = 0; i < n; i++) {
			uint32_t end = first_end(c->g, rows[i].node_guid, rows[i].port);

			if (end != GRAPH_NONE) {
				c->end[c->n++] = end;
			}
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
		describe(c, perf);
	}
	return c->n > 0;
}

/* --- what follows ----------------------------------------------------------------------- */

static enum link_decision ask(void *ctx, const struct link_cable *c)
{
	(void)ctx;
	(void)c;
	return LINK_DECISION_UNPROVEN;
}

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
	snprintf(detail, sizeof(detail), "port %u of %s counts %s; %s", cable->port[cable->worse],
	         cable->worse == 0 ? e.node : e.peer,
	         h != NULL ? link_health_text(h, counts, sizeof(counts)) : "errors",
	         link_decision_text(cable->decision));
	events_note(care->sm, &e);
}

static void set_decision(struct perf *perf, const struct link_cable *c)
{
	for (unsigned k = 0; k < 2; k++) {
		if (c->end[k] != NULL && c->end[k]->decision != c->decision) {
			c->end[k]->decision = (uint8_t)c->decision;
			perf_health_write(perf, c->guid[k], c->port[k]);
		}
	}
}

static void act(struct link_care *care, struct perf *perf, const struct cared *c)
{
	for (size_t i = 0; i < c->n; i++) {
		enum link_decision was = known_decision(&c->cable[i]);

		if (c->cable[i].state == LINK_SICK && was == LINK_DECISION_NONE) {
			note(care, c, i, EVENT_LINK_SICK);
		} else if (c->cable[i].state != LINK_SICK && was != LINK_DECISION_NONE) {
			note(care, c, i, EVENT_LINK_WELL);
		}
		set_decision(perf, &c->cable[i]);
	}
}

void link_care_run(struct link_care *care, struct perf *perf)
{
	const struct config *config = care->sm->d.config;
	const struct link_policy policy = { config->link_health, config->link_health_max };
	struct cared c = { .g = care->sm->job->disc.g };
	size_t take;

	if (perf == NULL || config->link_health == LINK_HEALTH_OFF ||
	    perf_counters(perf)->sweeps == care->sweeps) {
		return;
	}
	care->sweeps = perf_counters(perf)->sweeps;
	if (collect(&c, perf)) {
		link_verdict(c.cable, c.n, &policy, ask, care, &take);
		act(care, perf, &c);
	}
	free(c.cable);
	free(c.end);
}
