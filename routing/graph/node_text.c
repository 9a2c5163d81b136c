/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/node_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/policy/node_names.h"
#include "routing/graph/lids.h"

size_t node_host_length(const struct node *n)
{
	return strcspn(node_name(n), " \t");
}

int node_compare_hosts(const struct node *a, const struct node *b)
{
	size_t na = node_host_length(a), nb = node_host_length(b);
	int d = memcmp(node_name(a), node_name(b), na < nb ? na : nb);

	return d != 0 ? d : na < nb ? -1 : na > nb;
}

struct named_host {
	const char *name;
	size_t len;
	uint32_t at; /* place in the list that was given */
};

static int by_host_name(const void *a, const void *b)
{
	const struct named_host *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d != 0 ? d : x->at < y->at ? -1 : x->at > y->at;
}

/* Is a name of the list before the host name of a node? */
static bool is_before(const struct named_host *h, const char *name, size_t len)
{
	int d = memcmp(h->name, name, h->len < len ? h->len : len);

	return d != 0 ? d < 0 : h->len < len;
}

int graph_host_ports(const struct graph *g, const char *const *host, uint32_t n,
                     struct arena *a, struct graph_host_port **ret_ports, uint32_t *ret_n)
{
	struct named_host *list = arena_array(a, n, sizeof(*list));
	struct graph_host_port *ports = arena_array(a, 2 * (size_t)g->n_end_ports, sizeof(*ports));
	uint32_t n_ports = 0;

	if (list == NULL || ports == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		list[i] = (struct named_host){ host[i], strlen(host[i]), i };
	}
	qsort(list, n, sizeof(*list), by_host_name);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		const struct node *node = &g->nodes[g->ports[g->end_ports[i]].node];
		const char *name = node_name(node);
		const size_t len[] = { node_host_length(node), strlen(name) };

		for (unsigned k = 0; k < 2 && node->type == NODE_CA; k++) {
			size_t at = LOWER_BOUND(n, m, is_before(&list[m], name, len[k]));

			if (len[k] > 0 && (k == 0 || len[1] != len[0]) && at < n &&
			    list[at].len == len[k] && memcmp(list[at].name, name, len[k]) == 0) {
				ports[n_ports++] = (struct graph_host_port){ g->end_ports[i],
					                                     list[at].at };
			}
		}
	}
	*ret_ports = ports;
	*ret_n = n_ports;
	return E_OK;
}

int graph_set_names(struct graph *g, const struct node_names *names)
{
	for (uint32_t i = 0; names && i < names->n; i++) {
		uint32_t node = graph_node_by_guid(g, names->names[i].guid);
		if (node == GRAPH_NONE) {
			continue;
		}
		g->nodes[node].name = arena_strdup(g->arena, names->names[i].name);
		if (!g->nodes[node].name) {
			return -ENOMEM;
		}
	}
	return E_OK;
}

bool node_shares_name(const struct graph *g, uint32_t node)
{
	const char *name = node_name(&g->nodes[node]);

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (i != node && !strcmp(node_name(&g->nodes[i]), name)) {
			return true;
		}
	}
	return false;
}

/* LID of a switch, or the first one of a CA or router; 0: none is known. */
static uint32_t lid_of(const struct graph *g, const struct lids *lids, uint32_t node)
{
	const struct node *n = &g->nodes[node];

	for (unsigned num = 0; num <= n->n_ports; num++) {
		uint32_t port = n->first_port + num;
		uint32_t lid = lids ? lids->of[port].base : g->ports[port].lid;
		if (lid) {
			return lid;
		}
	}
	return 0;
}

struct node_text node_text(const struct graph *g, const struct lids *lids, uint32_t node)
{
	const struct node *n = &g->nodes[node];
	const char *name = node_name(n);
	struct node_text t;

	if (*name && !node_shares_name(g, node)) {
		snprintf(t.text, sizeof(t.text), "'%s'", name);
		return t;
	}
	uint32_t lid = lid_of(g, lids, node);
	char quoted[NODE_NAME_MAX + sizeof("'' (")] = "", number[24] = "";
	if (*name) {
		snprintf(quoted, sizeof(quoted), "'%s' (", name);
	}
	if (lid) {
		snprintf(number, sizeof(number), ", LID %" PRIu32, lid);
	}
	snprintf(t.text, sizeof(t.text), "%s0x%016" PRIx64 "%s%s", quoted, n->guid,
	         *name ? number : "", *name ? ")" : "");
	return t;
}

struct node_text switch_text(const struct graph *g, const struct lids *lids, uint32_t sw)
{
	return node_text(g, lids, g->switches[sw]);
}
