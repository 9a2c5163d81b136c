/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* route: the route to each LID of an end port, hop by hop, by the tables. */
#include <inttypes.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/cli/client.h"
#include "gateway/cli/report.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/graph/tables.h"
#include "routing/graph/walk.h"

/* End ports that match a text. */
struct search {
	const struct graph *g;
	const char *text;
	uint32_t first; /* GRAPH_NONE: none yet */
	unsigned n;
};

static void add_match(struct search *k, uint32_t port)
{
	if (k->n++ == 0) {
		k->first = port;
	}
}

static bool name_matches(const char *name, const struct port *p, const char *text)
{
	size_t len = strlen(name);
	char port[8];

	if (strncmp(name, text, len) != 0) {
		return false;
	}
	snprintf(port, sizeof(port), ":%u", p->num);
	return text[len] == '\0' || !strcmp(text + len, port);
}

/* A LID, a port GUID, or the NodeGUID of a node, all of whose end ports match. */
static void match_number(struct search *k, const struct lids *lids)
{
	const struct graph *g = k->g;
	char *end;
	uint64_t value = strtoull(k->text, &end, 0);

	if (end == k->text || *end) {
		return;
	}
	uint32_t port = graph_port_by_guid(g, value), node = graph_node_by_guid(g, value);
	if (value && value <= lids->top && lids->owner[value] != GRAPH_NONE) {
		add_match(k, lids->owner[value]);
	} else if (port != GRAPH_NONE) {
		add_match(k, port);
	} else {
		for (uint32_t i = 0; node != GRAPH_NONE && i < g->n_end_ports; i++) {
			if (g->ports[g->end_ports[i]].node == node) {
				add_match(k, g->end_ports[i]);
			}
		}
	}
}

/* The one end port that a text names. \retval E_NOTFOUND  None or several; prints so. */
static int find_end_port(const struct report_in *in, const char *text, const char *flag,
                         uint32_t *ret_port)
{
	struct search k = { .g = in->g, .text = text, .first = GRAPH_NONE };

	if (!text) {
		fprintf(stderr,
		        "saguaro report route: no end port to %s: --src and --dst are required, each a LID, GUID, node description or name:port\n",
		        flag);
		return E_NOTFOUND;
	}
	match_number(&k, in->lids);
	for (uint32_t i = 0, any = k.n; any == 0 && i < in->g->n_end_ports; i++) {
		const struct port *p = &in->g->ports[in->g->end_ports[i]];
		const struct node *n = &in->g->nodes[p->node];
		if (name_matches(node_name(n), p, text) ||
		    name_matches(n->description, p, text)) {
			add_match(&k, in->g->end_ports[i]);
		}
	}
	if (k.n != 1) {
		fprintf(stderr, "saguaro report route: '%s' names %s\n", text,
		        k.n ? "several end ports; use name:port, a LID or a port GUID"
		            : "no end port of this fabric; 'saguaro nodes' or the topology file has the names");
		return E_NOTFOUND;
	}
	*ret_port = k.first;
	return E_OK;
}

static json_t *route_json(const struct report_in *in, uint32_t src, uint32_t lid,
                          bool *ret_good)
{
	struct walk w;
	int ret = walk_route(in->g, in->lids, in->lft, src, lid, &w);
	uint32_t sw = graph_switch_of(in->g, src);
	json_t *hops = json_array();

	for (uint32_t i = 0; i < w.n; i++) {
		json_t *hop = report_node(in->g, w.hop[i].node);

		json_object_set_new(hop, "in_port", json_integer(w.hop[i].in));
		json_object_set_new(hop, "out_port", json_integer(w.hop[i].out));
		json_array_append_new(hops, hop);
	}
	*ret_good = *ret_good && ret == E_OK;
	return json_pack("{s:I, s:i, s:s, s:o}", "dlid", (json_int_t)lid, "lane",
	                 sw == GRAPH_NONE ? 0 : lane_of(in->lanes, sw, lid), "end",
	                 ret == E_OK     ? "arrives"
	                 : ret == E_LOOP ? "forwarding loop"
	                                 : "no route",
	                 "hops", hops);
}

static int build(const struct report_in *in, json_t **ret_json, bool *ret_good)
{
	uint32_t src, dst;
	int ret = find_end_port(in, in->src, "begin at", &src);

	if (ret == E_OK) {
		ret = find_end_port(in, in->dst, "go to", &dst);
	}
	if (ret != E_OK) {
		return ret;
	}
	const struct lid_range *range = &in->lids->of[dst];
	json_t *routes = json_array();

	*ret_good = true;
	for (uint32_t i = 0; range->base && i < 1U << range->lmc; i++) {
		json_array_append_new(routes, route_json(in, src, range->base + i, ret_good));
	}
	*ret_json = json_pack("{s:s, s:I, s:o}", "report", report_route.name, "slid",
	                      (json_int_t)in->lids->of[src].base, "routes", routes);
	return *ret_json ? E_OK : -ENOMEM;
}

static void print(const json_t *r)
{
	size_t i, k;
	json_t *route, *hop;

	json_array_foreach(json_object_get(r, "routes"), i, route)
	{
		printf("Route from LID %lld to LID %lld, lane %lld: %s\n", member_int(r, "slid"),
		       member_int(route, "dlid"), member_int(route, "lane"),
		       member_text(route, "end"));
		json_array_foreach(json_object_get(route, "hops"), k, hop)
		{
			printf("  %2zu  in %3lld  out %3lld  %s %s %s\n", k,
			       member_int(hop, "in_port"), member_int(hop, "out_port"),
			       member_text(hop, "guid"), member_text(hop, "type"),
			       member_text(hop, "name"));
		}
	}
}

const struct report report_route = {
	.name = "route",
	.help = "the route from --src to each LID of --dst, hop by hop",
	.build = build,
	.print = print,
};
