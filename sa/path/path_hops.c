/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/path/path_walk.h"

#include <string.h>

#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/tables.h"

static uint8_t smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static bool seen(const struct path_hop *hops, unsigned n, uint64_t guid)
{
	for (unsigned i = 0; i < n; i++) {
		if (hops[i].node_guid == guid) {
			return true;
		}
	}
	return false;
}

/* Takes one cable: counts the link's values, moves *port to the far end. */
static int cross(struct snap_reader *r, struct snap_port *port, struct path_route *route)
{
	struct snap_port far;

	if (port->peer_guid == 0) {
		return E_NOPATH;
	}
	int ret = snap_port(r, port->peer_guid, port->peer_port, &far);
	if (ret != E_OK) {
		return ret == E_NOTFOUND ? E_NOPATH : ret;
	}
	route->mtu = smaller(route->mtu, smaller(port->mtu, far.mtu));
	route->rate = path_slower(route->rate, path_slower(port->rate, far.rate));
	*port = far;
	return E_OK;
}

/* The switch's step for the LID: its egress port, and its own LID for the report. */
static int look_up(struct snap_reader *r, uint64_t sw, uint32_t dlid,
                   struct path_hop *hop)
{
	struct snap_node node;

	int ret = snap_node(r, sw, &node);
	if (ret == E_OK && node.type != NODE_SWITCH) {
		ret = E_NOPATH;
	}
	if (ret == E_OK) {
		hop->node_guid = sw;
		hop->lid = node.lid;
		ret = snap_lft(r, sw, dlid, &hop->out_port);
	}
	return ret == E_NOTFOUND ? E_NOPATH : ret;
}

/* One switch: hop->in_port is given. Says where the packet is then: in *at (far end of
 * the cable taken) or, with *ret_there, at the destination. */
static int step(struct snap_reader *r, const struct snap_end *dst, struct path_hop *hop,
                struct snap_port *at, struct path_route *route, bool *ret_there)
{
	if (hop->out_port == LFT_NO_ROUTE) {
		return E_NOPATH;
	}
	if (hop->out_port == 0) {
		bool mine = hop->node_guid == dst->node_guid;
		*ret_there = mine;
		route->mtu = mine ? smaller(route->mtu, dst->mtu) : route->mtu;
		route->rate = mine ? path_slower(route->rate, dst->rate) : route->rate;
		return mine ? E_OK : E_NOPATH;
	}
	int ret = snap_port(r, hop->node_guid, hop->out_port, at);
	if (ret == E_OK) {
		ret = cross(r, at, route);
	}
	if (ret != E_OK) {
		return ret == E_NOTFOUND ? E_NOPATH : ret;
	}
	*ret_there = dst->type != NODE_SWITCH && at->node_guid == dst->node_guid &&
	             at->num == dst->port;
	return E_OK;
}

int path_walk(struct snap_reader *r, const struct snap_end *src,
              const struct snap_end *dst, uint32_t dlid, struct path_hop *hops,
              struct path_route *route)
{
	struct snap_port at = { .node_guid = src->sw_guid, .num = src->sw_port };
	struct path_hop own[PATH_HOPS_MAX];
	struct path_hop *h = hops ? hops : own;
	bool there = false;

	*route = (struct path_route){ .mtu = UINT8_MAX };
	while (!there) {
		if (seen(h, route->hops, at.node_guid) || route->hops == PATH_HOPS_MAX) {
			return E_LOOP;
		}
		struct path_hop *hop = &h[route->hops];
		*hop = (struct path_hop){ .in_port = at.num, .out_port = LFT_NO_ROUTE };
		int ret = look_up(r, at.node_guid, dlid, hop);
		if (hop->node_guid != 0) {
			route->hops++;
		}
		if (ret == E_OK) {
			ret = step(r, dst, hop, &at, route, &there);
		}
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

int path_hops(struct snap_reader *r, uint32_t slid, uint32_t dlid,
              struct path_hop *ret_hop, unsigned *ret_n)
{
	struct snap_end src, dst;
	struct path_route route;

	int ret = snap_lid(r, slid, &src);
	if (ret == E_OK) {
		ret = snap_lid(r, dlid, &dst);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (src.base_lid == dst.base_lid) {
		*ret_n = 0;
		return E_OK;
	}
	if (src.sw_guid == 0) {
		*ret_n = 0;
		return src.peer_port_guid == dst.port_guid ? E_OK : E_NOPATH;
	}
	ret = path_walk(r, &src, &dst, dlid, ret_hop, &route);
	if (ret == E_OK || ret == E_NOPATH || ret == E_LOOP) {
		*ret_n = route.hops;
	}
	return ret;
}
