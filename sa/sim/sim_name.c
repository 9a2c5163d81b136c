/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_name.h"

#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "routing/graph/graph.h"

enum { NEAR = 6 }; /* names below this edit distance are suggested */

static uint32_t find_by_id(const struct graph *g, const char *name)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (g->nodes[i].id != NULL && strcmp(g->nodes[i].id, name) == 0) {
			return i;
		}
	}
	return GRAPH_NONE;
}

static uint32_t find_by_guid(const struct graph *g, const char *name)
{
	uint64_t guid;
	if (text_guid(name, &guid) != E_OK) {
		return GRAPH_NONE;
	}
	uint32_t node = graph_node_by_guid(g, guid);
	if (node == GRAPH_NONE) {
		uint32_t port = graph_port_by_guid(g, guid);
		node = port != GRAPH_NONE ? g->ports[port].node : GRAPH_NONE;
	}
	return node;
}

static const char *show_id(const struct node *n)
{
	return n->id != NULL ? n->id : n->description;
}

static void explain_not_found(const struct graph *g, const char *name, char *why)
{
	const char *near = NULL;
	unsigned best = NEAR;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const char *words[2] = { g->nodes[i].description, g->nodes[i].id };
		for (unsigned w = 0; w < 2 && words[w] != NULL; w++) {
			unsigned d = text_distance(name, words[w], NEAR);
			if (d < best) {
				best = d;
				near = words[w];
			}
		}
	}
	snprintf(
		why, SIM_NAME_WHY,
		"no node '%.80s' in this fabric%s%.80s%s; 'saguaro-sim ctl list' shows all",
		name, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
		near != NULL ? "'?" : "");
}

int sim_name_node(const struct graph *g, const char *name, uint32_t *ret_node,
                  char *ret_why)
{
	uint32_t found = find_by_id(g, name);

	for (uint32_t i = 0; found == GRAPH_NONE && i < g->n_nodes; i++) {
		if (strcmp(g->nodes[i].description, name) != 0) {
			continue;
		}
		for (uint32_t j = i + 1; j < g->n_nodes; j++) {
			if (strcmp(g->nodes[j].description, name) == 0) {
				snprintf(
					ret_why, SIM_NAME_WHY,
					"several nodes are called '%.80s'; take the id in the topology file, '%.60s' or '%.60s', or a GUID",
					name, show_id(&g->nodes[i]),
					show_id(&g->nodes[j]));
				return E_AMBIGUOUS;
			}
		}
		found = i;
	}
	if (found == GRAPH_NONE) {
		found = find_by_guid(g, name);
	}
	if (found == GRAPH_NONE) {
		explain_not_found(g, name, ret_why);
		return E_NOTFOUND;
	}
	*ret_node = found;
	return E_OK;
}

/* Adds the adapters whose descriptions begin with a word. */
static int by_first_word(const struct graph *g, const char *word, uint32_t *nodes,
                         unsigned *n)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const char *text = g->nodes[i].description;
		size_t len = strlen(word);
		if (g->nodes[i].type == NODE_SWITCH || strncmp(text, word, len) != 0 ||
		    text[len] != ' ') {
			continue;
		}
		if (*n == SIM_HOST_NODES) {
			return E_FULL;
		}
		nodes[(*n)++] = i;
	}
	return E_OK;
}

static int add_component(const struct graph *g, const char *part, uint32_t *nodes,
                         unsigned *n, char *why)
{
	uint32_t node;
	unsigned before = *n;
	int ret = sim_name_node(g, part, &node, why);
	if (ret == E_NOTFOUND) {
		int full = by_first_word(g, part, nodes, n);
		if (full == E_OK && *n > before) {
			return E_OK;
		}
		ret = full != E_OK ? full : ret;
	} else if (ret == E_OK && *n < SIM_HOST_NODES) {
		nodes[(*n)++] = node;
		return E_OK;
	} else if (ret == E_OK) {
		ret = E_FULL;
	}
	if (ret == E_FULL) {
		snprintf(
			why, SIM_NAME_WHY,
			"'%.80s' matches more than %d adapters; name them one by one, with commas",
			part, SIM_HOST_NODES);
	}
	return ret;
}

static int first_host(const struct graph *g, uint32_t *nodes, unsigned *n, char *why)
{
	uint32_t port = g->sm_port;
	for (uint32_t i = 0; port == GRAPH_NONE && i < g->n_end_ports; i++) {
		if (g->nodes[g->ports[g->end_ports[i]].node].type != NODE_SWITCH) {
			port = g->end_ports[i];
		}
	}
	if (port == GRAPH_NONE) {
		snprintf(why, SIM_NAME_WHY,
		         "the fabric has no host; name a switch in SIM_HOST");
		return E_NOTFOUND;
	}
	nodes[0] = g->ports[port].node;
	*n = 1;
	return E_OK;
}

int sim_name_host(const struct graph *g, const char *name, uint32_t *ret_nodes,
                  unsigned *ret_n, char *ret_why)
{
	char part[256];
	uint32_t node;

	*ret_n = 0;
	if (name[0] == '\0') {
		return first_host(g, ret_nodes, ret_n, ret_why);
	}
	if (sim_name_node(g, name, &node, ret_why) == E_OK) {
		ret_nodes[0] = node;
		*ret_n = 1;
		return E_OK;
	}
	for (const char *p = name; *p != '\0';) {
		size_t n = strcspn(p, ",");
		snprintf(part, sizeof(part), "%.*s", (int)n, p);
		int ret =
			n > 0 ? add_component(g, part, ret_nodes, ret_n, ret_why) : E_OK;
		if (ret != E_OK) {
			return ret;
		}
		p += n + (p[n] == ',');
	}
	if (*ret_n == 0) {
		explain_not_found(g, name, ret_why);
		return E_NOTFOUND;
	}
	return E_OK;
}
