/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The list of forms, and those that routing writes itself: topology text, forwarding tables; and the cables. */
#include "gateway/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/export/export_int.h"
#include "gateway/view/body.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/text/lftfile.h"
#include "routing/text/topofile.h"

/* A file in memory, whose text is then added to a body. */
struct text {
	FILE *f;
	char *data;
	size_t len;
};

static int text_open(struct text *t)
{
	*t = (struct text){ .f = NULL };
	t->f = open_memstream(&t->data, &t->len);
	return t->f != NULL ? E_OK : -ENOMEM;
}

static int text_close(struct text *t, int ret, struct body *out)
{
	if (fclose(t->f) != 0 && ret == E_OK) {
		ret = -ENOMEM;
	}
	if (ret == E_OK) {
		text_printable_lines(t->data);
		body_write(out, t->data, strlen(t->data));
	}
	free(t->data);
	return ret;
}

static uint32_t topology_parts(const struct export_fabric *x)
{
	return x->g->n_nodes;
}

static int write_topology(const struct export_fabric *x, uint32_t part, struct body *out)
{
	struct text t;
	int ret = text_open(&t);

	return ret != E_OK ? ret : text_close(&t, topo_write_node(x->g, part, t.f), out);
}

/* A field of RFC 4180; one that begins as a comment, or with a blank, is quoted, too. */
static void put_field(FILE *f, const char *text)
{
	size_t len = strlen(text);
	bool plain = strpbrk(text, ",;\t\"\r\n") == NULL && text[0] != '#' &&
	             text[0] != ' ' && (len == 0 || text[len - 1] != ' ');

	if (plain) {
		fputs(text, f);
		return;
	}
	putc('"', f);
	for (; *text != '\0'; text++) {
		fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
	}
	putc('"', f);
}

static int by_name(const void *a, const void *b)
{
	return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of all nodes in order. malloc; NULL: out of memory. */
static const char **sorted_names(const struct graph *g)
{
	const char **names = calloc((size_t)g->n_nodes + 1, sizeof(*names));

	for (uint32_t i = 0; names != NULL && i < g->n_nodes; i++) {
		names[i] = node_name(&g->nodes[i]);
	}
	if (names != NULL) {
		qsort(names, g->n_nodes, sizeof(*names), by_name);
	}
	return names;
}

/* Is it the name of one node, in any case, and nothing that could be read as a GUID? */
static bool is_own_name(const struct graph *g, const char **names, const char *name)
{
	const char **at = bsearch(&name, names, g->n_nodes, sizeof(*names), by_name);

	return *name != '\0' && strncasecmp(name, "0x", 2) != 0 &&
	       (at == names || by_name(at - 1, at) != 0) &&
	       (at + 1 == names + g->n_nodes || by_name(at, at + 1) != 0);
}

static void put_cable_end(const struct graph *g, const char **names, uint32_t port, FILE *f)
{
	const struct node *n = &g->nodes[g->ports[port].node];

	if (is_own_name(g, names, node_name(n))) {
		put_field(f, node_name(n));
	} else {
		fprintf(f, "0x%016" PRIx64, n->guid);
	}
	fprintf(f, ",%u", g->ports[port].num);
}

static int write_cables(const struct export_fabric *x, uint32_t part, struct body *out)
{
	const struct graph *g = x->g;
	const char **names = sorted_names(g);
	struct text t;
	int ret = names != NULL ? text_open(&t) : -ENOMEM;

	(void)part;
	if (ret != E_OK) {
		free(names);
		return ret;
	}
	fputs("source,source port,destination,destination port\n", t.f);
	for (uint32_t port = 0; port < g->n_ports; port++) {
		uint32_t peer = g->ports[port].peer;

		if (peer != GRAPH_NONE && port < peer) {
			put_cable_end(g, names, port, t.f);
			putc(',', t.f);
			put_cable_end(g, names, peer, t.f);
			putc('\n', t.f);
		}
	}
	free(names);
	return text_close(&t, E_OK, out);
}

static uint32_t table_parts(const struct export_fabric *x)
{
	return x->g->n_switches;
}

static int write_table(const struct export_fabric *x, uint32_t part, struct body *out)
{
	uint8_t *row = malloc((size_t)x->lids->top + 1);
	struct text t;
	int ret = row != NULL ? x->row(x->arg, part, row) : -ENOMEM;

	if (ret == E_OK && (ret = text_open(&t)) == E_OK) {
		ret = text_close(&t, lftfile_write_switch(x->g, x->lids, part, row, t.f),
		                 out);
	}
	free(row);
	return ret;
}

/* clang-format off */
const struct export_format export_formats[] = {
	{ "topology",    "text/plain",           "nodes and cables as ibnetdiscover prints them; read by saguaro, ibsim, topograph", 0, topology_parts, write_topology },
	{ "cables",      "text/csv",             "a row for each cable: node, port, node, port; read by saguaro plan, spreadsheets", 0, NULL, write_cables },
	{ "lfts",        "text/plain",           "forwarding tables as dump_lfts prints them; read by saguaro check --lfts, opensm -U", EXPORT_TABLES, table_parts, write_table },
	{ "dot",         "text/vnd.graphviz",    "a drawing for Graphviz", 0, export_node_parts, export_dot },
	{ "graphml",     "application/graphml+xml", "GraphML, for networkx, Gephi, yEd", 0, export_node_parts, export_graphml },
	{ "slurm-tree",  "text/plain",           "topology.conf of Slurm for topology/tree", EXPORT_GONE, NULL, export_slurm_tree },
	{ "slurm-block", "text/plain",           "topology.conf of Slurm for topology/block: a block per leaf switch", EXPORT_GONE, NULL, export_slurm_block },
	{ "slurm-yaml",  "application/yaml",     "topology.yaml of Slurm: a tree, and blocks", EXPORT_GONE, NULL, export_slurm_yaml },
	{ "opareport",   "application/xml",      "a snapshot for opareport -X of Omni-Path's FastFabric: links, validateroutes, pathusage, ...", EXPORT_TABLES, export_opareport_parts, export_opareport },
	{ NULL, NULL, NULL, 0, NULL, NULL },
};
/* clang-format on */

const struct export_format *export_find(const char *name)
{
	for (const struct export_format *f = export_formats; f->name != NULL; f++) {
		if (strcmp(f->name, name) == 0) {
			return f;
		}
	}
	return NULL;
}

uint32_t export_parts(const struct export_format *f, const struct export_fabric *x)
{
	return f->parts != NULL ? f->parts(x) : 1;
}
