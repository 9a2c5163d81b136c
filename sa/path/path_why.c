/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/path/path_why.h"

#include <infiniband/umad_sm.h>

#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/path/path_walk.h"

enum { SL2VL_BYTES = 8 };

/* The cable of a port. \retval E_NOTFOUND  There is none. */
static int cable_of(struct snap_reader *r, uint64_t guid, uint8_t num,
                    struct path_cable *ret_cable)
{
	struct snap_port port, far;

	int ret = snap_port(r, guid, num, &port);
	if (ret == E_OK && port.peer_guid == 0) {
		ret = E_NOTFOUND;
	}
	if (ret == E_OK) {
		ret = snap_port(r, port.peer_guid, port.peer_port, &far);
	}
	if (ret == E_OK) {
		*ret_cable = (struct path_cable){
			.guid = guid,
			.port = num,
			.to_guid = port.peer_guid,
			.to_port = port.peer_port,
			.rate = path_slower(port.rate, far.rate),
			.mtu = port.mtu < far.mtu ? port.mtu : far.mtu,
		};
	}
	return ret;
}

/* VL by the table of this output port, which has one entry per input port. */
static int programmed_vl(struct snap_reader *r, const struct path_hop *hop, uint8_t sl,
                         uint8_t *ret_vl)
{
	const uint8_t *tables;
	uint16_t len;

	int ret = snap_attr(r, UMAD_SM_ATTR_SLVL_TABLE, hop->node_guid, hop->out_port,
	                    &tables, &len);
	if (ret != E_OK) {
		return ret;
	}
	size_t at = len == SL2VL_BYTES ? 0 : SL2VL_BYTES * (size_t)hop->in_port;
	if (at + SL2VL_BYTES > len) {
		return E_NOTFOUND;
	}
	const uint8_t *table = tables + at;
	bool known = false;
	for (unsigned i = 0; i < SL2VL_BYTES; i++) {
		known |= table[i] != 0xff; /* an unknown table is all ones */
	}
	*ret_vl = sl % 2 ? table[sl / 2] & 15 : table[sl / 2] >> 4;
	return known ? E_OK : E_NOTFOUND;
}

static int rule_vl(struct snap_reader *r, const struct path_hop *hop, uint8_t sl,
                   uint8_t *ret_vl)
{
	struct snap_vl_rule rule;
	uint8_t in, out;

	int ret = snap_vl_rule(r, &rule);
	if (ret == E_OK) {
		ret = snap_vl_class(r, hop->node_guid, hop->in_port, &in);
	}
	if (ret == E_OK) {
		ret = snap_vl_class(r, hop->node_guid, hop->out_port, &out);
	}
	if (ret == E_OK && (in >= VL_CLASSES || out >= VL_CLASSES)) {
		ret = E_MALFORMED;
	}
	if (ret == E_OK) {
		*ret_vl = rule.vl[in][out][sl % VL_SLS];
	}
	return ret;
}

static int find_vl(struct snap_reader *r, const struct path_hop *hop, uint8_t sl,
                   struct path_hop_why *ret_why)
{
	ret_why->vl = PATH_VL_UNKNOWN;
	int ret =
		hop->out_port != 0 ? programmed_vl(r, hop, sl, &ret_why->vl) : E_NOTFOUND;

	ret_why->vl_programmed = ret == E_OK;
	if (ret == E_NOTFOUND && hop->out_port != 0) {
		ret_why->vl = PATH_VL_UNKNOWN;
		ret = rule_vl(r, hop, sl, &ret_why->vl);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static uint32_t routes_on(struct snap_reader *r, uint64_t guid, uint8_t port)
{
	uint32_t all, base;

	return snap_load(r, guid, port, &all, &base) == E_OK ? all : PATH_LOAD_UNKNOWN;
}

/* Do the tables behind a cable reach the LID over this many switches? */
static int leads_over(struct snap_reader *r, const struct snap_end *dst, uint32_t dlid,
                      const struct path_cable *cable, unsigned switches,
                      bool *ret_leads_over)
{
	const struct snap_end from = { .sw_guid = cable->to_guid,
		                       .sw_port = cable->to_port };
	struct path_route route;

	int ret = path_walk(r, &from, dst, dlid, NULL, &route);
	*ret_leads_over = ret == E_OK && route.hops == switches;
	return ret == E_NOPATH || ret == E_LOOP ? E_OK : ret;
}

/* The ports that a switch may put into its table by itself. */
static int find_alternates(struct snap_reader *r, uint64_t guid, uint32_t dlid,
                           struct port_set *ret_set)
{
	struct port_set sets[PORT_GROUPS_MAX];
	uint8_t group = PORT_GROUP_NONE;
	unsigned n = 0;
	int ret = snap_is_omni_path(r, guid) ? snap_port_group_of(r, guid, dlid, &group)
	                                     : E_NOTFOUND;

	*ret_set = (struct port_set){ { 0 } };
	if (ret == E_OK && group != PORT_GROUP_NONE) {
		ret = snap_port_groups(r, guid, sets, &n);
	}
	if (ret == E_OK && group < n) {
		*ret_set = sets[group];
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* The candidates, by port number. */
static int find_candidates(struct snap_reader *r, const struct snap_end *dst,
                           uint32_t dlid, const struct path_hop *hop, unsigned rest,
                           struct path_hop_why *ret_why)
{
	struct snap_node node;
	struct path_cable cable;

	int ret = snap_node(r, hop->node_guid, &node);
	if (ret == E_OK) {
		ret = find_alternates(r, hop->node_guid, dlid, &ret_why->alternates);
	}
	for (unsigned num = 1; ret == E_OK && num <= node.n_ports; num++) {
		bool leads = false;

		ret = cable_of(r, hop->node_guid, (uint8_t)num, &cable);
		if (ret == E_OK) {
			ret = leads_over(r, dst, dlid, &cable, rest - 1, &leads);
		}
		if (ret == E_OK && leads && ret_why->n < PATH_CHOICES_MAX) {
			ret_why->port[ret_why->n++] = (struct path_port_choice){
				.cable = cable,
				.routes = routes_on(r, hop->node_guid, (uint8_t)num),
				.taken = num == hop->out_port,
			};
		}
		ret = ret == E_NOTFOUND ? E_OK : ret;
	}
	return ret;
}

/* Compares the load of the port that was taken with that of the others. */
static void judge(struct path_hop_why *ret_why)
{
	unsigned fewer = 0;

	ret_why->least = ret_why->most = ret_why->routes;
	for (unsigned i = 0; i < ret_why->n; i++) {
		const struct path_port_choice *c = &ret_why->port[i];

		if (c->cable.rate != ret_why->cable.rate ||
		    c->routes == PATH_LOAD_UNKNOWN) {
			continue;
		}
		fewer += c->routes < ret_why->routes;
		ret_why->least = c->routes < ret_why->least ? c->routes : ret_why->least;
		ret_why->most = c->routes > ret_why->most ? c->routes : ret_why->most;
	}
	ret_why->choice = ret_why->n <= 1 ? PATH_CHOICE_ONLY
	                  : fewer == 0    ? PATH_CHOICE_LEAST
	                                  : PATH_CHOICE_SPREAD;
}

int path_hop_why(struct snap_reader *r, const struct snap_end *dst, uint32_t dlid,
                 const struct path_hop *hop, unsigned rest, uint8_t sl,
                 struct path_hop_why *ret_why)
{
	ret_why->n = 0;
	ret_why->alternates = (struct port_set){ { 0 } };
	ret_why->choice = PATH_CHOICE_DELIVERS;
	ret_why->cable = (struct path_cable){ .guid = 0 };
	ret_why->routes = ret_why->least = ret_why->most = PATH_LOAD_UNKNOWN;
	int ret = find_vl(r, hop, sl, ret_why);

	if (ret == E_OK && hop->out_port != 0) {
		ret = cable_of(r, hop->node_guid, hop->out_port, &ret_why->cable);
	}
	if (ret != E_OK || rest <= 1) {
		return ret;
	}
	ret_why->routes = routes_on(r, hop->node_guid, hop->out_port);
	ret = find_candidates(r, dst, dlid, hop, rest, ret_why);
	if (ret == E_OK) {
		judge(ret_why);
	}
	return ret;
}

static void keep_least(struct path_bounds *b, const struct path_cable *c)
{
	bool known = c->rate != 0; /* as path_slower() */

	if (known &&
	    (b->rate.guid == 0 || rate_speed(c->rate) < rate_speed(b->rate.rate))) {
		b->rate = *c;
	}
	if (b->mtu.guid == 0 || c->mtu < b->mtu.mtu) {
		b->mtu = *c;
	}
}

int path_bounds(struct snap_reader *r, const struct snap_end *src,
                const struct path_hop *hops, unsigned n, struct path_bounds *ret_bounds)
{
	struct path_cable cable;
	int ret = E_OK;

	*ret_bounds = (struct path_bounds){ .rate = { .guid = 0 } };
	if (src->port != 0) {
		ret = cable_of(r, src->node_guid, src->port, &cable);
		if (ret == E_OK) {
			keep_least(ret_bounds, &cable);
		}
	}
	for (unsigned i = 0; ret == E_OK && i < n; i++) {
		if (hops[i].out_port == 0) {
			continue; /* it ends at this switch */
		}
		ret = cable_of(r, hops[i].node_guid, hops[i].out_port, &cable);
		if (ret == E_OK) {
			keep_least(ret_bounds, &cable);
		}
	}
	return ret;
}
