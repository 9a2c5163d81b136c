/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* The published fabric back in memory, in the form of the routing room. */
#include "db/snapshot/fabric.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"

static void copy_port(struct graph *g, uint32_t node, const struct snap_port *from)
{
	struct port *to = &g->ports[g->nodes[node].first_port + from->num];

	to->guid = from->guid;
	to->lid = from->lid;
	to->lmc = from->lmc;
	to->state = from->state;
	to->width = from->width;
	to->speed = from->speed;
	to->mtu = from->mtu;
	to->vls = from->vls;
}

static int copy_ports(struct snap_reader *r, struct graph *g, uint32_t node)
{
	uint64_t guid = g->nodes[node].guid;

	for (unsigned num = 0; num <= g->nodes[node].n_ports; num++) {
		struct snap_port port;
		int ret = snap_port(r, guid, (uint8_t)num, &port);

		if (ret == E_OK) {
			copy_port(g, node, &port);
		} else if (ret != E_NOTFOUND) {
			return ret;
		}
	}
	return E_OK;
}

static int copy_node(struct snap_reader *r, struct graph *g, const struct snap_node *from)
{
	uint32_t node;
	int ret = graph_add_node(g, from->type, from->guid, from->n_ports,
	                         from->description, NULL, &node);

	if (ret != E_OK) {
		return ret == -ENOMEM ? ret : E_MALFORMED;
	}
	struct node *to = &g->nodes[node];

	if (strcmp(from->name, from->description) != 0) {
		to->name = arena_strdup(g->arena, from->name);
		if (to->name == NULL) {
			return -ENOMEM;
		}
	}
	to->system_image_guid = from->system_image_guid;
	to->vendor_id = from->vendor_id;
	to->device_id = from->device_id;
	to->revision = from->revision;
	to->partition_cap = from->partition_cap;
	to->esp0 = from->esp0;
	to->aggregation = from->aggregation;
	return copy_ports(r, g, node);
}

static int copy_nodes(struct snap_reader *r, struct graph *g)
{
	struct snap_node node = { .guid = 0 };
	int ret = snap_node_from(r, 0, &node);

	while (ret == E_OK) {
		ret = copy_node(r, g, &node);
		if (ret == E_OK && node.guid == UINT64_MAX) {
			return E_OK;
		}
		if (ret == E_OK) {
			ret = snap_node_from(r, node.guid + 1, &node);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int copy_link(struct graph *g, const struct snap_link *l)
{
	/* The nodes came in the order of their GUIDs, so a search works before the freeze. */
	uint32_t a = graph_node_by_guid(g, l->guid_a);
	uint32_t b = graph_node_by_guid(g, l->guid_b);

	if (a == GRAPH_NONE || b == GRAPH_NONE) {
		return E_MALFORMED;
	}
	uint32_t port_a = graph_port(g, a, l->port_a), port_b = graph_port(g, b, l->port_b);

	return port_a != GRAPH_NONE && port_b != GRAPH_NONE &&
	                       graph_connect(g, port_a, port_b) == E_OK
	               ? E_OK
	               : E_MALFORMED;
}

static int copy_links(struct snap_reader *r, struct graph *g)
{
	struct snap_link l;
	int ret = snap_link_from(r, 0, 0, &l);

	while (ret == E_OK) {
		ret = copy_link(g, &l);
		if (ret == E_OK) {
			ret = snap_link_from(r, l.guid_a, (uint8_t)(l.port_a + 1), &l);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* A chunk at a time, because a chunk without any route is not stored. */
static int copy_lft_row(struct snap_reader *r, uint64_t guid, uint8_t *row,
                        uint32_t n_lids)
{
	int ret = E_OK;

	for (uint32_t lid = 0, n; ret == E_OK && lid < n_lids; lid += n) {
		n = n_lids - lid < LFT_PER_CHUNK ? n_lids - lid : LFT_PER_CHUNK;
		ret = snap_lft_block(r, guid, lid, row + lid, n);
		if (ret == E_NOTFOUND) {
			memset(row + lid, LFT_NO_ROUTE, n);
			ret = E_OK;
		}
	}
	row[0] = LFT_NO_ROUTE;
	return ret;
}

static int copy_lft(struct snap_reader *r, const struct graph *g, struct lft *lft)
{
	int ret = E_OK;

	for (uint32_t s = 0; ret == E_OK && s < g->n_switches; s++) {
		ret = copy_lft_row(r, g->nodes[g->switches[s]].guid, lft_row(lft, s),
		                   lft->n_lids);
	}
	return ret;
}

/* Lanes of the routes from one switch; without a row there is one lane. */
static int copy_lane_row(struct snap_reader *r, const struct snap_fabric *f, uint32_t s)
{
	uint32_t port = f->g->nodes[f->g->switches[s]].first_port;
	struct snap_end src;
	int ret = snap_lid(r, f->lids.of[port].base, &src);

	for (uint32_t lid = 1; ret == E_OK && lid < f->lft.n_lids; lid++) {
		struct snap_path path;

		ret = snap_path(r, &src, lid, &path);
		if (ret == E_OK && path.mtu) {
			f->lanes.rows[(size_t)s * f->lanes.stride + lid] = path.lane;
		}
		ret = ret == E_NOTFOUND ? E_OK : ret;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int copy_classes(struct snap_reader *r, const struct graph *g, struct vl_rule *rule)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];

		for (unsigned port = 0; port <= n->n_ports; port++) {
			uint8_t *class = &rule->port_class[(size_t)s * rule->width + port];
			int ret = snap_vl_class(r, n->guid, (uint8_t)port, class);

			if (ret != E_OK && ret != E_NOTFOUND) {
				return ret;
			}
		}
	}
	return E_OK;
}

/* \retval E_NOTFOUND  There is none: SL n takes VL n. */
static int copy_rule(struct snap_reader *r, struct arena *a, struct snap_fabric *f)
{
	struct snap_vl_rule from;
	struct vl_rule *rule;
	int ret = snap_vl_rule(r, &from);

	if (ret != E_OK) {
		return ret;
	}
	rule = arena_alloc(a, sizeof(*rule));
	if (!rule) {
		return -ENOMEM;
	}
	*rule = (struct vl_rule){ .vls = from.vls,
		                  .levels = from.levels,
		                  .level_shift = from.level_shift,
		                  .width = f->g->max_port + 1U };
	memcpy(rule->vl, from.vl, sizeof(rule->vl));
	rule->port_class = arena_array(a, f->g->n_switches, rule->width);
	if (!rule->port_class) {
		return -ENOMEM;
	}
	f->lanes.rule = rule;
	return copy_classes(r, f->g, rule);
}

/* Lanes that there are, also those that no route has. */
static int count_lanes(struct snap_reader *r, uint8_t *ret_n)
{
	uint8_t n = 0, sl;
	int ret;

	while ((ret = snap_sl(r, 0, n, &sl)) == E_OK) {
		n++;
	}
	if (ret == E_NOTFOUND) {
		*ret_n = n;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int copy_lanes(struct snap_reader *r, struct arena *a, struct snap_fabric *f)
{
	uint8_t n;
	int ret = count_lanes(r, &n);

	if (ret != E_OK) {
		return ret;
	}
	f->lanes = (struct lanes){ .n = n ? n : 1 };
	ret = copy_rule(r, a, f);
	if (ret != E_OK && ret != E_NOTFOUND) {
		return ret;
	}
	if (n <= 1 && !f->lanes.rule) {
		return E_OK;
	}
	f->lanes.stride = f->lft.stride;
	f->lanes.rows = arena_array(a, f->g->n_switches, f->lanes.stride);
	if (!f->lanes.rows) {
		return -ENOMEM;
	}
	ret = E_OK;
	for (uint32_t s = 0; s < f->g->n_switches && ret == E_OK; s++) {
		ret = copy_lane_row(r, f, s);
	}
	return ret;
}

/* Rows of a superseded epoch may look malformed. */
static int unless_stale(struct snap_reader *r, int ret)
{
	int fresh = snap_check(r);

	return fresh != E_OK ? fresh : ret;
}

static int copy_graph(struct snap_reader *r, struct graph *g)
{
	struct diags d;
	int ret = copy_nodes(r, g);

	diags_init(&d, g->arena);
	if (ret == E_OK) {
		ret = copy_links(r, g);
	}
	if (ret == E_OK) {
		ret = graph_freeze(g, &d);
	}
	if (ret == E_OK) {
		g->sm_port = graph_port_by_guid(g, snap_meta(r)->sm_port_guid);
	}
	return ret;
}

int snap_graph(struct snap_reader *r, struct arena *a, struct graph **ret_graph)
{
	struct graph *g = graph_new(a);
	int ret = unless_stale(r, g != NULL ? copy_graph(r, g) : -ENOMEM);

	if (ret == E_OK) {
		*ret_graph = g;
	}
	return ret;
}

static int copy_lids(struct arena *a, struct snap_fabric *f)
{
	struct diags d;

	diags_init(&d, a);
	int ret = lids_as_found(f->g, LID_LIMIT_MAX, a, &d, &f->lids);
	return ret == E_NOTFOUND || ret == E_DUPLICATE ? E_MALFORMED : ret;
}

int snap_fabric(struct snap_reader *r, struct arena *a, struct snap_fabric *ret_fabric)
{
	struct snap_fabric f = { .g = graph_new(a) };
	int ret = f.g ? copy_graph(r, f.g) : -ENOMEM;

	if (ret == E_OK) {
		ret = copy_lids(a, &f);
	}
	if (ret == E_OK) {
		ret = lft_init(&f.lft, f.g->n_switches, f.lids.top, a);
	}
	if (ret == E_OK) {
		ret = copy_lft(r, f.g, &f.lft);
	}
	if (ret == E_OK) {
		ret = copy_lanes(r, a, &f);
	}
	ret = unless_stale(r, ret);
	if (ret == E_OK) {
		*ret_fabric = f;
	}
	return ret;
}
