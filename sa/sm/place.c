/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/place.h"

#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "sa/sm/sm.h"

enum { PORT_NUM_MAX = 254 };

uint32_t place_node(const struct job *j, const char *text, uint8_t *ret_port,
                          uint32_t *ret_n)
{
	const struct graph *g = j->disc.g;
	const struct lids *lids = j->program.lids;
	uint32_t node = GRAPH_NONE, n = 0;
	uint64_t number;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (strcmp(node_name(&g->nodes[i]), text) == 0 ||
		    strcmp(g->nodes[i].description, text) == 0) {
			node = i;
			n++;
		}
	}
	if (n == 0 && text_guid(text, &number) == E_OK) {
		node = graph_node_by_guid(g, number);
		for (uint32_t i = 0; node == GRAPH_NONE && i < g->n_end_ports; i++) {
			const struct port *p = &g->ports[g->end_ports[i]];

			if (p->guid == number) {
				node = p->node;
				*ret_port = p->num;
			}
		}
		n = node != GRAPH_NONE;
	}
	if (n == 0 && text_u64(text, lids->top, &number) == E_OK &&
	    lids->owner[number] != GRAPH_NONE) {
		node = g->ports[lids->owner[number]].node;
		*ret_port = g->ports[lids->owner[number]].num;
		n = 1;
	}
	*ret_n = n;
	return n == 1 ? node : GRAPH_NONE;
}

/* The only port of a node with a cable; 0: there are more, or none. */
static uint8_t only_cable(const struct graph *g, uint32_t node)
{
	uint8_t found = 0;

	for (unsigned i = 1; i <= g->nodes[node].n_ports; i++) {
		if (g->ports[graph_port(g, node, (uint8_t)i)].peer != GRAPH_NONE) {
			if (found != 0) {
				return 0;
			}
			found = (uint8_t)i;
		}
	}
	return found;
}

int place_port(const struct job *j, const char *place, uint32_t *ret_port,
                     char *why, size_t why_bytes)
{
	const struct graph *g = j->disc.g;
	const char *colon = strrchr(place, ':');
	char name[128];
	uint64_t number = 0;
	uint8_t port = 0;
	uint32_t n, node = place_node(j, place, &port, &n);

	if (n == 0 && colon != NULL && (size_t)(colon - place) < sizeof(name) &&
	    text_u64(colon + 1, PORT_NUM_MAX, &number) == E_OK) {
		snprintf(name, sizeof(name), "%.*s", (int)(colon - place), place);
		node = place_node(j, name, &port, &n);
		port = (uint8_t)number;
	} else if (n == 1 && port == 0) {
		port = only_cable(g, node);
	}
	if (n == 0) {
		snprintf(
			why, why_bytes,
			"there is no '%s' in the fabric; expected NAME:PORT, GUID:PORT or LID:PORT. A host whose port is disabled is not there: name the port of its switch",
			place);
		return E_NOTFOUND;
	}
	if (n > 1) {
		snprintf(why, why_bytes, "%u nodes have the name in '%s'; give a GUID", n,
		         place);
		return E_AMBIGUOUS;
	}
	if (port == 0 || port > g->nodes[node].n_ports) {
		snprintf(why, why_bytes, "'%s': expected :PORT, from 1 to %u", place,
		         g->nodes[node].n_ports);
		return E_RANGE;
	}
	*ret_port = graph_port(g, node, port);
	return E_OK;
}
