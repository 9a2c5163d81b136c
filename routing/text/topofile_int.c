/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/topofile_int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"

enum { TEXT_MAX = 512 };

void topo_problems_init(struct topo_problems *p, struct diags *d, const char *file,
                        bool strict)
{
	*p = (struct topo_problems){ .d = d,
		                     .file = file,
		                     .strict = strict,
		                     .first = d->n,
		                     .first_warnings = d->n_warnings };
}

/* Counts a problem. Returns whether it is to be listed. */
static bool count_problem(struct topo_problems *p)
{
	p->n++;
	return p->strict || p->n <= TOPO_LISTED_MAX;
}

void topo_problem(struct topo_problems *p, unsigned line, const char *instead,
                  const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	if (!count_problem(p)) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (p->strict) {
		diag_add(p->d, DIAG_ERROR, p->file, line, "%s", text);
	} else {
		diag_add(p->d, DIAG_WARNING, p->file, line, "%s; %s", text, instead);
	}
}

void topo_warning(struct topo_problems *p, unsigned line, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	if (!count_problem(p)) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_add(p->d, DIAG_WARNING, p->file, line, "%s", text);
}

void topo_problems_end(struct topo_problems *p)
{
	if (!p->strict && p->n > TOPO_LISTED_MAX) {
		diag_add(
			p->d, DIAG_WARNING, p->file, 0,
			"%u more such problems in this file; a strict reading names them all and refuses the file",
			p->n - TOPO_LISTED_MAX);
	}
}

void topo_problems_no_nodes(struct topo_problems *p)
{
	if (!p->strict) {
		p->d->n = p->first;
		p->d->n_warnings = p->first_warnings;
	}
	diag_add(
		p->d, DIAG_ERROR, p->file, 0,
		"no nodes in this file, so it is no topology: expected what ibnetdiscover prints, or a .topo or .lst file of ibdiagnet");
}

uint8_t topo_width(uint64_t lanes)
{
	switch (lanes) {
	case 1: return WIDTH_1X;
	case 2: return WIDTH_2X;
	case 4: return WIDTH_4X;
	case 8: return WIDTH_8X;
	case 12: return WIDTH_12X;
	}
	return E_OK;
}

/* A NUL-terminated copy in which control characters are blanks. NULL when out of memory.
 */
static char *copy_text(struct arena *a, struct span s)
{
	char *text = arena_alloc(a, s.n + 1);

	for (size_t i = 0; text && i < s.n; i++) {
		text[i] = (unsigned char)s.p[i] < ' ' ? ' ' : s.p[i];
	}
	return text;
}

int topo_add_node(struct graph *g, const struct topo_node *n, unsigned line,
                  uint32_t *ret_node)
{
	char *id = copy_text(g->arena, n->id);
	char *text = n->description.p ? copy_text(g->arena, n->description) : id;
	if (!id || !text) {
		return -ENOMEM;
	}
	int ret = graph_add_node(g, (enum node_type)n->type, n->guid, n->n_ports, text,
	                         id, ret_node);
	if (ret != E_OK) {
		return ret;
	}

	struct node *node = &g->nodes[*ret_node];
	node->line = line;
	node->system_image_guid = n->system_image_guid;
	node->vendor_id = n->vendor_id;
	node->device_id = n->device_id;
	if (n->type == NODE_SWITCH && n->port_guid) {
		for (unsigned num = 0; num <= n->n_ports; num++) {
			g->ports[node->first_port + num].guid = n->port_guid;
		}
	}
	return E_OK;
}
