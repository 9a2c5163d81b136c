/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Graphviz and GraphML: a head, a part per node with the cables to later nodes, an end. */
#include <inttypes.h>
#include <string.h>

#include "conf/base/err.h"
#include "gateway/export/export_int.h"
#include "gateway/view/body.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

uint32_t export_node_parts(const struct export_fabric *x)
{
	return x->g->n_nodes + 2;
}

/* Ports with a cable whose other end comes later, so that each cable is written once. */
static const struct port *next_cable(const struct graph *g, const struct node *n,
                                     unsigned *num)
{
	while (++*num <= n->n_ports) {
		const struct port *p = &g->ports[n->first_port + *num];

		if (p->peer != GRAPH_NONE && n->first_port + *num < p->peer) {
			return p;
		}
	}
	return NULL;
}

/* --- Graphviz ---------------------------------------------------------------------------- */

/* The inside of a quoted string. What is no printable ASCII becomes '?'. */
static void put_quoted(struct body *out, const char *s)
{
	for (; *s != '\0'; s++) {
		char ch = *s >= ' ' && *s < 0x7f ? *s : '?';

		if (ch == '"' || ch == '\\') {
			body_write(out, "\\", 1);
		}
		body_write(out, &ch, 1);
	}
}

static void dot_node(const struct graph *g, const struct node *n, struct body *out)
{
	unsigned num = 0;

	body_printf(out, "\t\"0x%016" PRIx64 "\" [label=\"", n->guid);
	put_quoted(out, node_name(n));
	body_printf(out, "\", shape=%s];\n", n->type == NODE_SWITCH ? "box" : "ellipse");
	for (const struct port *p; (p = next_cable(g, n, &num)) != NULL;) {
		const struct port *far = &g->ports[p->peer];

		body_printf(
			out,
			"\t\"0x%016" PRIx64 "\" -- \"0x%016" PRIx64
			"\" [taillabel=\"%u\", headlabel=\"%u\", tooltip=\"%s%s\"];\n",
			n->guid, g->nodes[far->node].guid, p->num, far->num,
			link_width_name(p->width), link_speed_name(p->speed));
	}
}

int export_dot(const struct export_fabric *x, uint32_t part, struct body *out)
{
	if (part == 0) {
		body_printf(out, "graph fabric {\n\toverlap=false;\n");
	} else if (part <= x->g->n_nodes) {
		dot_node(x->g, &x->g->nodes[part - 1], out);
	} else {
		body_printf(out, "}\n");
	}
	return body_done(out);
}

/* --- GraphML ----------------------------------------------------------------------------- */

static const char head[] =
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
	"<key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n"
	"<key id=\"type\" for=\"node\" attr.name=\"type\" attr.type=\"string\"/>\n"
	"<key id=\"lid\" for=\"node\" attr.name=\"lid\" attr.type=\"int\"/>\n"
	"<key id=\"source_port\" for=\"edge\" attr.name=\"source_port\" attr.type=\"int\"/>\n"
	"<key id=\"target_port\" for=\"edge\" attr.name=\"target_port\" attr.type=\"int\"/>\n"
	"<key id=\"width\" for=\"edge\" attr.name=\"width\" attr.type=\"string\"/>\n"
	"<key id=\"speed\" for=\"edge\" attr.name=\"speed\" attr.type=\"string\"/>\n"
	"<graph id=\"fabric\" edgedefault=\"undirected\">\n";

static void put_xml(struct body *out, const char *s)
{
	for (; *s != '\0'; s++) {
		switch (*s) {
		case '<': body_printf(out, "&lt;"); break;
		case '>': body_printf(out, "&gt;"); break;
		case '&': body_printf(out, "&amp;"); break;
		default: body_write(out, *s >= ' ' && *s < 0x7f ? s : "?", 1);
		}
	}
}

/* LID of a switch, or of the first port that has one. */
static uint32_t lid_of(const struct graph *g, const struct node *n)
{
	for (unsigned num = 0; num <= n->n_ports; num++) {
		if (g->ports[n->first_port + num].lid != 0) {
			return g->ports[n->first_port + num].lid;
		}
	}
	return 0;
}

static void graphml_node(const struct graph *g, const struct node *n, struct body *out)
{
	unsigned num = 0;

	body_printf(out, "<node id=\"0x%016" PRIx64 "\"><data key=\"name\">", n->guid);
	put_xml(out, node_name(n));
	body_printf(out,
	            "</data><data key=\"type\">%s</data><data key=\"lid\">%" PRIu32
	            "</data></node>\n",
	            n->type == NODE_SWITCH ? "switch"
	            : n->type == NODE_CA   ? "ca"
	                                   : "router",
	            lid_of(g, n));
	for (const struct port *p; (p = next_cable(g, n, &num)) != NULL;) {
		const struct port *far = &g->ports[p->peer];

		body_printf(
			out,
			"<edge source=\"0x%016" PRIx64 "\" target=\"0x%016" PRIx64
			"\"><data key=\"source_port\">%u</data><data key=\"target_port\">%u</data><data key=\"width\">%s</data><data key=\"speed\">%s</data></edge>\n",
			n->guid, g->nodes[far->node].guid, p->num, far->num,
			link_width_name(p->width), link_speed_name(p->speed));
	}
}

int export_graphml(const struct export_fabric *x, uint32_t part, struct body *out)
{
	if (part == 0) {
		body_write(out, head, sizeof(head) - 1);
	} else if (part <= x->g->n_nodes) {
		graphml_node(x->g, &x->g->nodes[part - 1], out);
	} else {
		body_printf(out, "</graph>\n</graphml>\n");
	}
	return body_done(out);
}
