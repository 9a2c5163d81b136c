/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Path rows and load after a change. A route differs if it meets a switch whose entry differs.
 * These switches are found by going back from the entries that differ, against the routes.
 * For each of them that has hosts, the old route is taken out of the load and the new one is
 * added. A host more or less on a switch changes the weight of all routes that begin there.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths_int.h"
#include "routing/proof/proof_change.h"

struct change_pass {
	const struct paths_change *in;
	const struct proof_change *change;
	const struct shape *was, *now;
	struct rows *rows;
	uint32_t *all, *base; /* [switch][port] routes */
	uint32_t *affected;   /* [n_affected] switches whose route to the LID differs */
	uint32_t n_affected;
	uint8_t *marked; /* [n] in affected */
};

/* Adds routes, or takes them away, along the route of a switch. */
static void count_route(struct change_pass *p, const struct shape *shape,
                        const struct lft *t, uint32_t sw, uint32_t lid, uint32_t routes)
{
	const struct shape_lid *home = &shape->lid[lid];

	for (uint32_t hops = 0; sw != home->sw && hops < shape->n; hops++) {
		uint8_t port = lft_row(t, sw)[lid];
		size_t at = (size_t)sw * shape->width + port;

		if (port >= shape->width || shape->port[at].to == GRAPH_NONE) {
			return;
		}
		p->all[at] += routes;
		if (home->is_base) {
			p->base[at] += routes;
		}
		sw = shape->port[at].to;
	}
}

static bool is_host_lid(const struct shape *s, uint32_t lid)
{
	return s->lid[lid].sw != GRAPH_NONE && s->lid[lid].to_host;
}

/* Hosts that came or went: all routes of the old tables from their switch weigh as now. */
static void weigh_sources(struct change_pass *p)
{
	const struct shape_change *f = p->in->fabric;

	for (uint32_t i = 0; i < f->n_sw; i++) {
		uint32_t sw = f->sw[i];
		uint32_t more = p->now->n_hosts[sw] - p->was->n_hosts[sw];

		for (uint32_t lid = 1; lid <= p->was->top; lid++) {
			if (is_host_lid(p->was, lid)) {
				count_route(p, p->was, p->change->from, sw, lid, more);
			}
		}
	}
}

static void mark(struct change_pass *p, uint32_t sw)
{
	if (!p->marked[sw]) {
		p->marked[sw] = 1;
		p->affected[p->n_affected++] = sw;
	}
}

/* Switches whose routes to the LID come by those marked so far. */
static void mark_upstream(struct change_pass *p, uint32_t lid)
{
	for (uint32_t i = 0; i < p->n_affected; i++) {
		for (unsigned k = 1; k < p->now->width; k++) {
			const struct shape_port *port =
				shape_at(p->now, p->affected[i], k);

			if (port->to != GRAPH_NONE &&
			    lft_row(p->change->to, port->to)[lid] == port->to_port) {
				mark(p, port->to);
			}
		}
	}
}

static void update_lid(struct change_pass *p, uint32_t lid)
{
	bool was = is_host_lid(p->was, lid), is = is_host_lid(p->now, lid);

	for (uint32_t i = 0; i < p->n_affected; i++) {
		uint32_t sw = p->affected[i], hosts = p->now->n_hosts[sw];

		if (was && hosts) {
			count_route(p, p->was, p->change->from, sw, lid, 0U - hosts);
		}
		if (is && hosts) {
			count_route(p, p->now, p->change->to, sw, lid, hosts);
		}
		rows_path(p->rows, sw, lid);
		p->marked[sw] = 0;
	}
	p->n_affected = 0;
}

static void update_lids(struct change_pass *p)
{
	const struct proof_change *c = p->change;
	uint32_t entry = 0, whole = 0;

	while (entry < c->n || whole < c->n_whole) {
		uint32_t a = entry < c->n ? c->entry[entry].lid : UINT32_MAX;
		uint32_t b = whole < c->n_whole ? c->whole[whole] : UINT32_MAX;
		uint32_t lid = a < b ? a : b;

		for (; entry < c->n && c->entry[entry].lid == lid; entry++) {
			mark(p, c->entry[entry].sw);
		}
		for (uint32_t s = 0; b == lid && s < p->now->n; s++) {
			mark(p, s);
		}
		whole += b == lid;
		mark_upstream(p, lid);
		update_lid(p, lid);
	}
}

bool paths_fit(const struct paths *p, const struct graph *g, const struct lids *lids)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (g->host_first[s] == g->host_first[s + 1]) {
			continue;
		}
		if (n == p->n_sources || p->source[n] != s) {
			return false;
		}
		n++;
	}
	return n == p->n_sources && p->n_lids == lids->top + 1;
}

int paths_change(const struct paths_change *in, struct paths *paths, uint32_t *all,
                 uint32_t *base, struct arena *a, struct load *ret_load)
{
	struct arena *tmp = arena_new();
	struct change_pass p = { .in = in,
		                 .change = in->change,
		                 .was = in->was,
		                 .now = in->change->shape,
		                 .all = all,
		                 .base = base };
	struct column_map map = { 0 };
	int ret = tmp ? column_map_init(&map, in->g, in->lids, in->change->to, tmp)
	              : -ENOMEM;

	if (ret == E_OK) {
		p.rows = rows_of_paths(&map, paths, tmp);
		p.affected = arena_array(tmp, map.n, sizeof(*p.affected));
		p.marked = arena_array(tmp, map.n, 1);
		ret = p.rows && p.affected && p.marked ? E_OK : -ENOMEM;
	}
	if (ret == E_OK) {
		weigh_sources(&p);
		update_lids(&p);
		ret = load_of_ports(in->g, all, base, p.now->width, a, tmp, ret_load);
	}
	arena_free(tmp);
	return ret;
}
