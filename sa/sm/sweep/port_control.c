/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/sweep/port_control.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "sa/mad/fields.h"
#include "sa/sm/place.h"
#include "sa/sm/sm.h"

enum { PHYS_POLLING = 2, PHYS_DISABLED = 3 };

/* --- which end of its cable --------------------------------------------------------------- */

/* Nodes that the SM reaches without the cable of a port. [n_nodes] malloc; NULL: out of
 * memory. */
static bool *reach_without(const struct graph *g, uint32_t cable, uint32_t *ret_n)
{
	bool *seen = calloc(g->n_nodes, sizeof(*seen));
	uint32_t *queue = calloc(g->n_nodes, sizeof(*queue)), n = 0;
	const struct port *sm = &g->ports[g->sm_port];

	if (seen != NULL && queue != NULL) {
		queue[n++] = sm->node;
		seen[sm->node] = true;
	}
	for (uint32_t k = 0; k < n; k++) {
		const struct node *from = &g->nodes[queue[k]];

		for (unsigned i = 1; i <= from->n_ports; i++) {
			uint32_t port = from->first_port + i, peer = g->ports[port].peer;

			/* A channel adapter forwards nothing; the SM's sends over one port. */
			if (peer == GRAPH_NONE || port == cable || peer == cable ||
			    (from->type != NODE_SWITCH && port != g->sm_port) ||
			    seen[g->ports[peer].node]) {
				continue;
			}
			seen[g->ports[peer].node] = true;
			queue[n++] = g->ports[peer].node;
		}
	}
	free(queue);
	if (queue == NULL) {
		free(seen);
		seen = NULL;
	}
	*ret_n = n;
	return seen;
}

/* Chooses the end that stays in reach, and counts the nodes that do not. */
static int choose_end(const struct graph *g, const struct port_request *rq,
                      uint32_t *port, uint32_t *ret_lost, char *why, size_t why_bytes)
{
	const struct port *p = &g->ports[*port];
	uint32_t n, here = p->node,
		    there = p->peer != GRAPH_NONE ? g->ports[p->peer].node : GRAPH_NONE;
	bool *seen = reach_without(g, *port, &n);
	bool other;

	if (seen == NULL) {
		snprintf(why, why_bytes, "%s", err_text(-ENOMEM));
		return -ENOMEM;
	}
	other = there != GRAPH_NONE && g->nodes[there].type == NODE_SWITCH &&
	        (g->nodes[here].type != NODE_SWITCH || (!seen[here] && seen[there]));
	free(seen);
	if (other) {
		*port = p->peer;
		here = there;
	}
	*ret_lost = g->n_nodes - n;
	if (g->nodes[here].type != NODE_SWITCH) {
		snprintf(
			why, why_bytes,
			"no end of this cable is at a switch, which could be told to switch it on again");
		return E_UNSUITABLE;
	}
	if (rq->disable && n == 1 && g->n_nodes > 1 && !rq->force) {
		snprintf(
			why, why_bytes,
			"this is the last link of the subnet manager's own port, which could not switch it on again; --force does it nevertheless");
		return E_UNSUITABLE;
	}
	return E_OK;
}

int port_control_request(struct port_control *p, const struct port_request *rq,
                         struct port_choice *ret_choice, char *why, size_t why_bytes)
{
	const struct job *j = sm_known_job(p->sm);
	struct port_choice choice = { .peer = "" };
	const struct graph *g;
	uint32_t port, peer;
	int ret;

	if (j == NULL || !p->sm->status.master || p->wanted) {
		snprintf(
			why, why_bytes, "%s",
			p->wanted
				? "another request for a port is being carried out; try again"
				: "this subnet manager is not master, or knows no fabric yet");
		return E_NOTREADY;
	}
	g = j->disc.g;
	ret = place_port(j, rq->place, &port, why, why_bytes);
	if (ret == E_OK) {
		ret = choose_end(g, rq, &port, &choice.cut_off, why, why_bytes);
	}
	if (ret != E_OK) {
		return ret;
	}
	peer = g->ports[port].peer;
	choice.port = g->ports[port].num;
	snprintf(choice.node, sizeof(choice.node), "%s",
	         node_text(g, j->program.lids, g->ports[port].node).text);
	if (peer != GRAPH_NONE) {
		choice.peer_port = g->ports[peer].num;
		snprintf(choice.peer, sizeof(choice.peer), "%s",
		         node_text(g, j->program.lids, g->ports[peer].node).text);
	}
	p->wanted = true;
	p->disable = rq->disable;
	snprintf(p->by, sizeof(p->by), "%s", rq->by != NULL ? rq->by : "");
	p->guid = g->nodes[g->ports[port].node].guid;
	p->port = choice.port;
	*ret_choice = choice;
	return E_OK;
}

/* --- carried out --------------------------------------------------------------------------- */

/* An event that ends with who asked. */
static void note(struct port_control *p, enum event_kind kind, const char *outcome)
{
	const struct job *j = sm_known_job(p->sm);
	char detail[EVENT_DETAIL_BYTES];
	struct fabric_event e = { .kind = kind, .port = p->port, .detail = detail };
	uint32_t node = j != NULL ? graph_node_by_guid(j->disc.g, p->guid) : GRAPH_NONE;

	snprintf(detail, sizeof(detail), "%s%s%s", outcome, p->by[0] ? "; by " : "",
	         p->by);
	e.node_guid = p->guid;
	if (node != GRAPH_NONE) {
		events_set_node(&e, j->disc.g, node);
	}
	events_note(p->sm, &e);
	p->ended = true;
}

static bool is_answered(struct port_control *p, const struct smp_reply *r)
{
	char text[80];

	if (r->ret == E_OK) {
		return true;
	}
	snprintf(text, sizeof(text), r->ret == E_TIMEOUT ? "no answer" : "status 0x%04x",
	         r->status);
	note(p, EVENT_PORT_UNCHANGED, text);
	return false;
}

static void submit(struct port_control *p, uint8_t method, const uint8_t *data,
                   const uint8_t *basis, smp_done_f *done)
{
	const struct smp_request rq = { .dest = &p->dest,
		                        .method = method,
		                        .attr = UMAD_SM_ATTR_PORT_INFO,
		                        .mod = DISC_PORT_MOD | p->port,
		                        .data = data,
		                        .basis = basis,
		                        .retries = p->sm->d.config->transaction_retries,
		                        .done = done,
		                        .ctx = p };

	if (smp_submit(p->sm->smp, &rq) != E_OK) {
		note(p, EVENT_PORT_UNCHANGED, err_text(-ENOMEM));
	}
}

static void on_set(void *ctx, const struct smp_reply *r)
{
	struct port_control *p = ctx;

	if (is_answered(p, r)) {
		note(p, p->disable ? EVENT_PORT_DISABLED : EVENT_PORT_ENABLED,
		     "operator request");
	}
}

static void on_read(void *ctx, const struct smp_reply *r)
{
	struct port_control *p = ctx;
	uint8_t want[SMP_DATA_BYTES];

	if (is_answered(p, r)) {
		memcpy(want, r->data, sizeof(want));
		field_set(want, PI_PORT_STATE, 0); /* no change */
		field_set(want, PI_PORT_PHYSICAL_STATE,
		          p->disable ? PHYS_DISABLED : PHYS_POLLING);
		submit(p, UMAD_METHOD_SET, want, r->native, on_set);
	}
}

bool port_control_start(struct port_control *p)
{
	const struct job *j = sm_known_job(p->sm);
	uint32_t node;

	if (!p->wanted || j == NULL) {
		return false;
	}
	p->ended = false;
	node = graph_node_by_guid(j->disc.g, p->guid);
	if (node == GRAPH_NONE || !p->sm->status.master) {
		note(p, EVENT_PORT_UNCHANGED,
		     node == GRAPH_NONE ? "the switch is gone"
		                        : "this subnet manager is not master any more");
		return true;
	}
	smp_dest_init(&p->dest, &j->disc.of[node]->dest.path);
	smp_dest_set_key(&p->dest, j->disc.of[node]->dest.m_key,
	                 j->disc.of[node]->dest.m_key_next);
	submit(p, UMAD_METHOD_GET, NULL, NULL, on_read);
	return true;
}

bool port_control_end(struct port_control *p)
{
	p->wanted = !p->ended;
	return p->ended;
}
