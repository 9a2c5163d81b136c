/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * validatecreditloops: the proof, in the terms of opareport. Other than there, all LIDs of
 * an LMC range count, every virtual lane has a graph of its own, and a loop names the
 * routes that cause it.
 */
#include <errno.h>
#include <stdio.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/cli/client.h"
#include "gateway/cli/report.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/proof/validate.h"

/* Directed switch-to-switch link by its egress port. */
static uint32_t channel_of(const struct graph *g, uint32_t sw, uint8_t port)
{
	uint32_t i = g->adj_first[sw];

	while (i < g->adj_first[sw + 1] && g->adj[i].port != port) {
		i++;
	}
	return i;
}

static json_t *link_json(const struct graph *g, const struct proof_channel *c, unsigned vl)
{
	const struct node *from = &g->nodes[g->switches[c->sw]];
	const struct node *source = &g->nodes[g->switches[c->src_sw]];
	uint32_t channel = channel_of(g, c->sw, c->port);

	if (channel == g->adj_first[c->sw + 1]) {
		return json_null();
	}
	const struct sw_link *l = &g->adj[channel];
	const struct node *to = &g->nodes[g->switches[l->to]];

	return json_pack("{s:I, s:o, s:o, s:i, s:o, s:o, s:i, s:i, s:{s:o, s:o, s:I}}",
	                 "link", (json_int_t)channel, "from", text_json(node_name(from)),
	                 "from_guid", guid_json(from->guid), "from_port", l->port, "to",
	                 text_json(node_name(to)), "to_guid", guid_json(to->guid),
	                 "to_port", l->to_port, "vl", (int)vl, "route", "source_switch",
	                 text_json(node_name(source)), "source_guid",
	                 guid_json(source->guid), "lid", (json_int_t)c->lid);
}

static json_t *cycles_json(const struct graph *g, const struct proof *p)
{
	json_t *cycles = json_array();

	for (unsigned i = 0; i < p->n_cycle; i++) {
		const struct proof_cycle *c = &p->cycle[i];
		json_t *links = json_array();

		for (uint32_t k = 0; k < c->n; k++) {
			json_array_append_new(links, link_json(g, &c->channels[k], c->vl));
		}
		json_array_append_new(cycles, json_pack("{s:i, s:b, s:I, s:o}", "vl",
		                                        (int)c->vl, "management",
		                                        (int)c->management,
		                                        "component_channels",
		                                        (json_int_t)c->component_channels,
		                                        "links", links));
	}
	return cycles;
}

static int build(const struct report_in *in, json_t **ret_json, bool *ret_good)
{
	const struct graph *g = in->g;
	struct proof proof;
	struct validation v;
	int ret = validate_routes(g, in->lids, in->lft, 0, in->arena, &v);

	if (ret != E_OK) {
		return ret;
	}
	ret = proof_run(g, in->lids, in->lft, in->lanes, in->arena, &proof);
	if (ret != E_OK) {
		return ret;
	}
	const struct proof *p = &proof;
	uint32_t n_cas = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		n_cas += g->nodes[i].type != NODE_SWITCH;
	}
	*ret_good = p->credit_loops == 0 && p->forwarding_loops == 0 &&
	            (!in->strict || p->management_credit_loops == 0);
	*ret_json = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:o}",
		"report", report_credit_loops.name, "devices", (json_int_t)g->n_nodes,
		"fis", (json_int_t)n_cas, "switches", (json_int_t)g->n_switches,
		"connections", (json_int_t)2 * g->n_links, "routing_decisions",
		(json_int_t)v.decisions, "analyzed_routes", (json_int_t)v.host_analyzed,
		"incomplete_routes", (json_int_t)v.host_incomplete, "vls",
		(json_int_t)p->vls_used, "deadlock_free", (int)*ret_good, "credit_loops",
		(json_int_t)p->credit_loops, "management_credit_loops",
		(json_int_t)p->management_credit_loops, "not_listed",
		(json_int_t)(p->credit_loops + p->management_credit_loops) - p->n_cycle,
		"cycles", cycles_json(g, p));
	return *ret_json ? E_OK : -ENOMEM;
}

static void print_link(const json_t *l)
{
	printf("LINK %lld (%s %s:%lld to %s %s:%lld VL:%lld)", member_int(l, "link"),
	       member_text(l, "from_guid"), member_text(l, "from"),
	       member_int(l, "from_port"), member_text(l, "to_guid"),
	       member_text(l, "to"), member_int(l, "to_port"), member_int(l, "vl"));
}

static void print_cycle(const json_t *cycle)
{
	const json_t *links = json_object_get(cycle, "links");
	size_t i;
	json_t *l;

	print_link(json_array_get(links, 0));
	printf(" is in a CYCLE of %zu%s:\n", json_array_size(links),
	       json_is_true(json_object_get(cycle, "management"))
	               ? " that only management traffic closes"
	               : "");
	json_array_foreach(links, i, l)
	{
		const json_t *route = json_object_get(l, "route");

		printf("    %zu: ", i);
		print_link(l);
		printf("\n         route from %s %s to LID %lld\n",
		       member_text(route, "source_guid"),
		       member_text(route, "source_switch"), member_int(route, "lid"));
	}
	printf("-------------------------------------------------------------------------------\n");
}

static void print(const json_t *r)
{
	size_t i;
	json_t *cycle;

	printf("Validate Credit Loop Routes\n");
	printf("Fabric summary: %lld devices, %lld HFIs, %lld switches,\n"
	       "\t%lld connections, %lld routing decisions,\n"
	       "\t%lld analyzed routes, %lld incomplete routes\n",
	       member_int(r, "devices"), member_int(r, "fis"), member_int(r, "switches"),
	       member_int(r, "connections"), member_int(r, "routing_decisions"),
	       member_int(r, "analyzed_routes"), member_int(r, "incomplete_routes"));
	printf("%s\n", json_is_true(json_object_get(r, "deadlock_free"))
	                       ? "Routes are deadlock free (No credit loops detected)"
	                       : "Deadlock detected in routes (Credit loops detected)");
	json_array_foreach(json_object_get(r, "cycles"), i, cycle)
	{
		print_cycle(cycle);
	}
	if (member_int(r, "not_listed")) {
		printf("%lld more loops, apart from these, are not listed\n",
		       member_int(r, "not_listed"));
	}
}

const struct report report_credit_loops = {
	.name = "validatecreditloops",
	.alias = "validatecreditloop",
	.help = "can the routes deadlock? one shortest loop for each knot of them",
	.build = build,
	.print = print,
};
