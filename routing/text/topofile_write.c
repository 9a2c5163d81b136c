/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Writer of topology text: the form that ibnetdiscover prints, both ends of every cable
 * listed, because ibsim insists on both. The SM's node comes first (the reader takes the
 * first end port as the SM's), its cable to the SM's port first of its lines.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/text/topofile.h"

/* Longest node id that ibsim keeps. */
enum { MAX_ID = 63 };

struct writer {
	const struct graph *g;
	FILE *f;
	bool own_ids; /* nodes are written with the ids they have; else with ids made of
	                 GUIDs */
};

static int id_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ibsim reserves '#' and '@' in ids. */
static bool usable_id(const char *id)
{
	if (!id || !*id || strlen(id) > MAX_ID) {
		return false;
	}
	for (const char *s = id; *s; s++) {
		if ((unsigned char)*s < ' ' || strchr("\"#@", *s)) {
			return false;
		}
	}
	return true;
}

/* Does every node have an id that can be written, and one of its own? */
static int check_ids(const struct graph *g, bool *ret_named)
{
	const char **ids = calloc(g->n_nodes + 1u, sizeof(*ids));
	if (!ids) {
		return -ENOMEM;
	}

	bool ok = true;
	for (uint32_t i = 0; i < g->n_nodes && ok; i++) {
		ids[i] = g->nodes[i].id;
		ok = usable_id(ids[i]);
	}
	if (ok) {
		qsort(ids, g->n_nodes, sizeof(*ids), id_cmp);
	}
	for (uint32_t i = 1; i < g->n_nodes && ok; i++) {
		ok = strcmp(ids[i - 1], ids[i]) != 0;
	}
	free(ids);
	*ret_named = ok;
	return E_OK;
}

static void put_id(const struct writer *w, const struct node *n)
{
	if (w->own_ids) {
		fprintf(w->f, "\"%s\"", n->id);
		return;
	}
	char letter = n->type == NODE_SWITCH ? 'S' : n->type == NODE_CA ? 'H' : 'R';
	fprintf(w->f, "\"%c-%016" PRIx64 "\"", letter, n->guid);
}

/* A line must stay a line: control characters become blanks. */
static void put_description(const struct writer *w, const char *s)
{
	fputc('"', w->f);
	for (; *s; s++) {
		fputc((unsigned char)*s < ' ' ? ' ' : *s, w->f);
	}
	fputc('"', w->f);
}

static void put_node_line(const struct writer *w, const struct node *n)
{
	static const char *const types[] = {
		[NODE_CA] = "Ca", [NODE_SWITCH] = "Switch", [NODE_ROUTER] = "Rt"
	};
	static const char *const guids[] = { [NODE_CA] = "caguid",
		                             [NODE_SWITCH] = "switchguid",
		                             [NODE_ROUTER] = "rtguid" };
	const struct port *port0 = &w->g->ports[n->first_port];

	if (n->vendor_id) {
		fprintf(w->f, "vendid=0x%x\n", n->vendor_id);
	}
	if (n->device_id) {
		fprintf(w->f, "devid=0x%x\n", n->device_id);
	}
	if (n->system_image_guid) {
		fprintf(w->f, "sysimgguid=0x%" PRIx64 "\n", n->system_image_guid);
	}
	fprintf(w->f, "%s=0x%" PRIx64, guids[n->type], n->guid);
	if (n->type == NODE_SWITCH) {
		fprintf(w->f, "(%" PRIx64 ")", port0->guid);
	}
	fprintf(w->f, "\n%s\t%u ", types[n->type], n->n_ports);
	put_id(w, n);
	fputs("\t# ", w->f);
	put_description(w, n->description);
	if (n->type == NODE_SWITCH) {
		fprintf(w->f, " %s port 0 lid %u lmc %u", n->esp0 ? "enhanced" : "base",
		        port0->lid, port0->lmc);
	}
	fputc('\n', w->f);
}

/* The base LID at which a port is reached: a switch's is that of its port 0. */
static uint32_t lid_of(const struct graph *g, const struct port *p)
{
	const struct node *n = &g->nodes[p->node];

	return n->type == NODE_SWITCH ? g->ports[n->first_port].lid : p->lid;
}

static void put_port(const struct writer *w, const struct port *p)
{
	fprintf(w->f, "[%u]", p->num);
	if (w->g->nodes[p->node].type != NODE_SWITCH) {
		fprintf(w->f, "(%" PRIx64 ")", p->guid);
	}
}

static void put_cable(const struct writer *w, const struct port *p)
{
	if (p->peer == GRAPH_NONE) {
		return;
	}
	const struct port *far = &w->g->ports[p->peer];
	const struct node *far_node = &w->g->nodes[far->node];

	put_port(w, p);
	fputc('\t', w->f);
	put_id(w, far_node);
	put_port(w, far);
	fputs("\t# ", w->f);
	if (w->g->nodes[p->node].type != NODE_SWITCH) {
		fprintf(w->f, "lid %u lmc %u ", p->lid, p->lmc);
	}
	put_description(w, far_node->description);
	fprintf(w->f, " lid %u %s%s\n", lid_of(w->g, far), link_width_name(p->width),
	        link_speed_name(p->speed));
}

static void put_node(const struct writer *w, uint32_t node)
{
	const struct node *n = &w->g->nodes[node];
	uint32_t sm = w->g->sm_port;
	bool sm_here = sm != GRAPH_NONE && w->g->ports[sm].node == node;

	put_node_line(w, n);
	if (sm_here) {
		put_cable(w, &w->g->ports[sm]);
	}
	for (unsigned num = 1; num <= n->n_ports; num++) {
		if (n->first_port + num != sm) {
			put_cable(w, &w->g->ports[n->first_port + num]);
		}
	}
	fputc('\n', w->f);
}

/* Node at a place of the file: that of the SM comes first. */
static uint32_t node_at(const struct graph *g, uint32_t i)
{
	uint32_t first =
		g->sm_port == GRAPH_NONE ? GRAPH_NONE : g->ports[g->sm_port].node;

	return first == GRAPH_NONE || i > first ? i : i == 0 ? first : i - 1;
}

int topo_write(const struct graph *g, FILE *f)
{
	struct writer w = { .g = g, .f = f };
	int ret = check_ids(g, &w.own_ids);
	if (ret != E_OK) {
		return ret;
	}

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		put_node(&w, node_at(g, i));
	}
	return ferror(f) || fflush(f) ? -EIO : E_OK;
}

int topo_write_node(const struct graph *g, uint32_t i, FILE *f)
{
	struct writer w = { .g = g, .f = f };

	put_node(&w, node_at(g, i));
	return ferror(f) || fflush(f) ? -EIO : E_OK;
}
