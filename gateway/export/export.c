/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The list of forms, and those that routing writes itself: topology text, forwarding tables. */
#include "gateway/export/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/export/export_int.h"
#include "gateway/view/body.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
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
	{ "lfts",        "text/plain",           "forwarding tables as dump_lfts prints them; read by saguaro check --lfts, opensm -U", EXPORT_TABLES, table_parts, write_table },
	{ "dot",         "text/vnd.graphviz",    "a drawing for Graphviz", 0, export_node_parts, export_dot },
	{ "graphml",     "application/graphml+xml", "GraphML, for networkx, Gephi, yEd", 0, export_node_parts, export_graphml },
	{ "slurm-tree",  "text/plain",           "topology.conf of Slurm for topology/tree", 0, NULL, export_slurm_tree },
	{ "slurm-block", "text/plain",           "topology.conf of Slurm for topology/block: a block per leaf switch", 0, NULL, export_slurm_block },
	{ "slurm-yaml",  "application/yaml",     "topology.yaml of Slurm: a tree, and blocks", 0, NULL, export_slurm_yaml },
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
