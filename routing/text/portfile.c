/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/portfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/why.h"
#include "conf/policy/guidfile.h"
#include "routing/graph/graph.h"

enum { NAMED_MAX = 3, PORTS = 256 };

struct complaints {
	const struct guid_file *f;
	struct why *notes;
	uint32_t n;
};

static void complain(struct complaints *c, const struct guid_record *r, const char *what)
{
	if (c->n++ < NAMED_MAX) {
		why_add(c->notes,
		        "%s:%u: %s; the line has no effect: 0x%016" PRIx64 " %s",
		        c->f->path, r->line, what, r->guid, r->rest);
	}
}

static void complain_rest(const struct complaints *c)
{
	if (c->n > NAMED_MAX) {
		why_add(c->notes, "%s: %" PRIu32 " more lines have no effect", c->f->path,
		        c->n - NAMED_MAX);
	}
}

/* Next number of a line. \return false when there is none; *ret_port 0 for what is none.
 * */
static bool next_port(const char **p, unsigned *ret_port)
{
	char *end;
	unsigned long v;

	*p += strspn(*p, " \t\r");
	if (!**p) {
		return false;
	}
	v = strtoul(*p, &end, 0);
	*ret_port = end != *p && strchr(" \t\r", *end) && v < PORTS ? (unsigned)v : 0;
	*p = end + strcspn(end, " \t\r");
	return true;
}

/* Switch of a record, GRAPH_NONE: the GUID is not that of a switch. */
static uint32_t switch_of(const struct graph *g, const struct guid_record *r)
{
	uint32_t node = graph_node_by_guid(g, r->guid);

	return node == GRAPH_NONE ? GRAPH_NONE : g->nodes[node].sw;
}

/* A host's port, and the switch port that it hangs on. */
static bool ignore_host(const struct graph *g, uint32_t port, bool *ignored)
{
	uint32_t peer = g->ports[port].peer;

	if (peer != GRAPH_NONE) {
		ignored[port] = ignored[peer] = true;
	}
	return peer != GRAPH_NONE;
}

/* A GUID alone: of a port, or of a node for all of its ports. */
static bool ignore_guid(const struct graph *g, uint64_t guid, bool *ignored)
{
	uint32_t port = graph_port_by_guid(g, guid);
	uint32_t node =
		port != GRAPH_NONE ? g->ports[port].node : graph_node_by_guid(g, guid);
	bool any = false;

	if (node == GRAPH_NONE) {
		return false;
	}
	const struct node *n = &g->nodes[node];

	if (n->type != NODE_SWITCH && port != GRAPH_NONE) {
		return ignore_host(g, port, ignored);
	}
	for (unsigned num = 1; num <= n->n_ports; num++) {
		if (n->type == NODE_SWITCH) {
			ignored[n->first_port + num] = any = true;
		} else {
			any |= ignore_host(g, n->first_port + num, ignored);
		}
	}
	return any;
}

static void ignore_port(const struct graph *g, const struct guid_record *r,
                        struct complaints *c, bool *ignored)
{
	const char *p = r->rest;
	unsigned num = 0, more;

	if (next_port(&p, &num)) {
		uint32_t s = switch_of(g, r);
		uint32_t port =
			s == GRAPH_NONE ? GRAPH_NONE : graph_port(g, g->switches[s], num);

		if (s == GRAPH_NONE) {
			complain(c, r, "no switch has this GUID");
		} else if (num == 0 || port == GRAPH_NONE || next_port(&p, &more)) {
			complain(c, r, "expected one port of the switch");
		} else {
			ignored[port] = true;
		}
	} else if (!ignore_guid(g, r->guid, ignored)) {
		complain(c, r, "no port that hangs on a switch has this GUID");
	}
}

int portfile_ignored(const struct graph *g, const struct guid_file *f, struct arena *a,
                     struct why *notes, bool **ret_ignored)
{
	struct complaints c = { .f = f, .notes = notes };
	bool *ignored = NULL;

	if (f) {
		ignored = arena_array(a, g->n_ports, sizeof(*ignored));
		if (!ignored) {
			return -ENOMEM;
		}
		for (uint32_t i = 0; i < f->n; i++) {
			ignore_port(g, &f->records[i], &c, ignored);
		}
		complain_rest(&c);
	}
	*ret_ignored = ignored;
	return E_OK;
}

/* Ports of the line, then the others by number. \return false when the line is bad. */
static bool order_line(const char *rest, unsigned n_ports, uint8_t *row)
{
	bool used[PORTS] = { false };
	uint8_t order[PORTS] = { 0 };
	unsigned n = 0, port;

	while (next_port(&rest, &port)) {
		if (port == 0 || port > n_ports || used[port]) {
			return false;
		}
		used[port] = true;
		order[++n] = (uint8_t)port;
	}
	for (port = 1; port <= n_ports; port++) {
		if (!used[port]) {
			order[++n] = (uint8_t)port;
		}
	}
	memcpy(row, order, n_ports + 1u);
	return true;
}

int portfile_order(const struct graph *g, const struct guid_file *f, struct arena *a,
                   struct why *notes, uint8_t **ret_order)
{
	struct complaints c = { .f = f, .notes = notes };
	size_t width = g->max_port + 1u;
	uint8_t *order;

	if (!f) {
		*ret_order = NULL;
		return E_OK;
	}
	order = arena_array(a, g->n_switches, width);
	if (!order) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		order_line("", g->nodes[g->switches[s]].n_ports, order + s * width);
	}
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t s = switch_of(g, &f->records[i]);

		if (s == GRAPH_NONE) {
			complain(&c, &f->records[i], "no switch has this GUID");
		} else if (!order_line(f->records[i].rest,
		                       g->nodes[g->switches[s]].n_ports,
		                       order + s * width)) {
			complain(&c, &f->records[i],
			         "a port that the switch does not have, or twice");
		}
	}
	complain_rest(&c);
	*ret_order = order;
	return E_OK;
}

/* \return false when the line is bad. */
static bool weight_line(const char *rest, unsigned n_ports, uint16_t *row)
{
	unsigned port = 0, more;
	unsigned long long weight;
	char *end;

	if (!next_port(&rest, &port) || port == 0 || port > n_ports) {
		return false;
	}
	rest += strspn(rest, " \t\r");
	if (*rest < '0' || *rest > '9') {
		return false;
	}
	weight = strtoull(rest, &end, 0);
	if (!strchr(" \t\r", *end) || weight == 0) {
		return false;
	}
	rest = end;
	if (next_port(&rest, &more)) {
		return false;
	}
	row[port] = weight < UINT8_MAX ? (uint16_t)weight : UINT8_MAX;
	return true;
}

int portfile_weights(const struct graph *g, const struct guid_file *f, struct arena *a,
                     struct why *notes, uint16_t **ret_weights)
{
	struct complaints c = { .f = f, .notes = notes };
	size_t width = g->max_port + 1u;
	uint16_t *weight;

	if (!f) {
		*ret_weights = NULL;
		return E_OK;
	}
	weight = arena_array(a, g->n_switches, width * sizeof(*weight));
	if (!weight) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < g->n_switches * width; i++) {
		weight[i] = 1;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t s = switch_of(g, &f->records[i]);

		if (s == GRAPH_NONE) {
			complain(&c, &f->records[i], "no switch has this GUID");
		} else if (!weight_line(f->records[i].rest,
		                        g->nodes[g->switches[s]].n_ports,
		                        weight + s * width)) {
			complain(&c, &f->records[i],
			         "expected a port of the switch and a weight from 1");
		}
	}
	complain_rest(&c);
	*ret_weights = weight;
	return E_OK;
}

/* Index in graph.hosts of a port, GRAPH_NONE: it hangs on no switch. */
static uint32_t host_of(const struct graph *g, uint32_t port)
{
	uint32_t s = graph_switch_of(g, port);

	for (uint32_t h = s == GRAPH_NONE ? 0 : g->host_first[s];
	     s != GRAPH_NONE && h < g->host_first[s + 1]; h++) {
		if (g->hosts[h] == port) {
			return h;
		}
	}
	return GRAPH_NONE;
}

int portfile_hosts(const struct graph *g, const struct guid_file *f, struct arena *a,
                   struct why *notes, uint32_t **ret_hosts, uint32_t *ret_n)
{
	struct complaints c = { .f = f, .notes = notes };
	uint32_t *list = arena_array(a, f->n, sizeof(*list)), n = 0;
	bool *listed = arena_array(a, g->host_first[g->n_switches], sizeof(*listed));

	if (!list || !listed) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t port = graph_port_by_guid(g, f->records[i].guid), h;

		if (port != GRAPH_NONE && g->ports[port].num == 0) {
			continue;
		}
		h = port == GRAPH_NONE ? GRAPH_NONE : host_of(g, port);
		if (h == GRAPH_NONE) {
			complain(&c, &f->records[i],
			         "no port that hangs on a switch has this GUID");
		} else if (!listed[h]) {
			listed[h] = true;
			list[n++] = h;
		}
	}
	complain_rest(&c);
	*ret_hosts = list;
	*ret_n = n;
	return E_OK;
}
