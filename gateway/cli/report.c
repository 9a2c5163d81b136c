/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/report.h"

#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

const char *report_node_type(uint8_t type)
{
	return type == NODE_SWITCH ? "SW" : type == NODE_ROUTER ? "RT" : "FI";
}

json_t *report_node(const struct graph *g, uint32_t node)
{
	const struct node *n = &g->nodes[node];

	return json_pack("{s:o, s:s, s:o, s:o}", "guid", guid_json(n->guid), "type",
	                 report_node_type(n->type), "name", text_json(node_name(n)),
	                 "description", text_json(n->description));
}
