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
                    struct path_cable *ret)
{
	struct snap_port port, far;

	int err = snap_port(r, guid, num, &port);
	if (err == E_OK && port.peer_guid == 0) {
		err = E_NOTFOUND;
	}
	if (err == E_OK) {
		err = snap_port(r, port.peer_guid, port.peer_port, &far);
	}
	if (err == E_OK) {
		*ret = (struct path_cable){
			.guid = guid,
			.port = num,
			.to_guid = port.peer_guid,
			.to_port = port.peer_port,
			.rate = path_slower(port.rate, far.rate),
			.mtu = port.mtu < far.mtu ? port.mtu : far.mtu,
		};
	}
	return err;
}

/* VL by the table of this output port, which has one entry per input port. */
static int programmed_vl(struct snap_reader *r, const struct path_hop *hop, uint8_t sl,
                         uint8_t *ret)
{
	const uint8_t *tables;
	uint16_t len;

	int err = snap_attr(r, UMAD_SM_ATTR_SLVL_TABLE, hop->node_guid, hop->out_port,
	                    &tables, &len);
	if (err != E_OK) {
		return err;
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
	*ret = sl % 2 ? table[sl / 2] & 15 : table[sl / 2] >> 4;
	return known ? E_OK : E_NOTFOUND;
}

static int rule_vl(struct snap_reader *r, const struct path_hop *hop, uint8_t sl,
                   uint8_t *ret)
{
	struct snap_vl_rule rule;
	uint8_t in, out;

	int err = snap_vl_rule(r, &rule);
	if (err == E_OK) {
		err = snap_vl_class(r, hop->node_guid, hop->in_port, &in);
	}
	if (err == E_OK) {
		err = snap_vl_class(r, hop->node_guid, hop->out_port, &out);
	}
	if (err == E_OK && (in >= VL_CLASSES || out >= VL_CLASSES)) {
		err = E_MALFORMED;
	}
	if (err == E_OK) {
		*ret = rule.vl[in][out][sl % VL_SLS];
	}
	return err;
}

static int find_vl(struct snap_reader *r, const struct path_hop *hop, uint8_t sl,
                   struct path_hop_why *ret)
{
	ret->vl = PATH_VL_UNKNOWN;
	int err = hop->out_port != 0 ? programmed_vl(r, hop, sl, &ret->vl) : E_NOTFOUND;

	ret->vl_programmed = err == E_OK;
	if (err == E_NOTFOUND && hop->out_port != 0) {
		ret->vl = PATH_VL_UNKNOWN;
		err = rule_vl(r, hop, sl, &ret->vl);
	}
	return err == E_NOTFOUND ? E_OK : err;
}

static uint32_t routes_on(struct snap_reader *r, uint64_t guid, uint8_t port)
{
	uint32_t all, base;

	return snap_load(r, guid, port, &all, &base) == E_OK ? all : PATH_LOAD_UNKNOWN;
}

/* Do the tables behind a cable reach the LID over this many switches? */
static int leads_over(struct snap_reader *r, const struct snap_end *dst, uint32_t dlid,
                      const struct path_cable *cable, unsigned switches, bool *ret)
{
	const struct snap_end from = { .sw_guid = cable->to_guid,
		                       .sw_port = cable->to_port };
	struct path_route route;

	int err = path_walk(r, &from, dst, dlid, NULL, &route);
	*ret = err == E_OK && route.hops == switches;
	return err == E_NOPATH || err == E_LOOP ? E_OK : err;
}

/* The ports that a switch may put into its table by itself. */
static int find_alternates(struct snap_reader *r, uint64_t guid, uint32_t dlid,
                           struct port_set *ret)
{
	struct port_set sets[PORT_GROUPS_MAX];
	uint8_t group = PORT_GROUP_NONE;
	unsigned n = 0;
	int err = snap_is_omni_path(r, guid) ? snap_port_group_of(r, guid, dlid, &group)
	                                     : E_NOTFOUND;

	*ret = (struct port_set){ { 0 } };
	if (err == E_OK && group != PORT_GROUP_NONE) {
		err = snap_port_groups(r, guid, sets, &n);
	}
	if (err == E_OK && group < n) {
		*ret = sets[group];
	}
	return err == E_NOTFOUND ? E_OK : err;
}

/* The candidates, by port number. */
static int find_candidates(struct snap_reader *r, const struct snap_end *dst,
                           uint32_t dlid, const struct path_hop *hop, unsigned rest,
                           struct path_hop_why *ret)
{
	struct snap_node node;
	struct path_cable cable;

	int err = snap_node(r, hop->node_guid, &node);
	if (err == E_OK) {
		err = find_alternates(r, hop->node_guid, dlid, &ret->alternates);
	}
	for (unsigned num = 1; err == E_OK && num <= node.n_ports; num++) {
		bool leads = false;

		err = cable_of(r, hop->node_guid, (uint8_t)num, &cable);
		if (err == E_OK) {
			err = leads_over(r, dst, dlid, &cable, rest - 1, &leads);
		}
		if (err == E_OK && leads && ret->n < PATH_CHOICES_MAX) {
			ret->port[ret->n++] = (struct path_port_choice){
				.cable = cable,
				.routes = routes_on(r, hop->node_guid, (uint8_t)num),
				.taken = num == hop->out_port,
			};
		}
		err = err == E_NOTFOUND ? E_OK : err;
	}
	return err;
}

/* Compares the load of the port that was taken with that of the others. */
static void judge(struct path_hop_why *ret)
{
	unsigned fewer = 0;

	ret->least = ret->most = ret->routes;
	for (unsigned i = 0; i < ret->n; i++) {
		const struct path_port_choice *c = &ret->port[i];

		if (c->cable.rate != ret->cable.rate || c->routes == PATH_LOAD_UNKNOWN) {
			continue;
		}
		fewer += c->routes < ret->routes;
		ret->least = c->routes < ret->least ? c->routes : ret->least;
		ret->most = c->routes > ret->most ? c->routes : ret->most;
	}
	ret->choice = ret->n <= 1  ? PATH_CHOICE_ONLY
	              : fewer == 0 ? PATH_CHOICE_LEAST
	                           : PATH_CHOICE_SPREAD;
}

int path_hop_why(struct snap_reader *r, const struct snap_end *dst, uint32_t dlid,
                 const struct path_hop *hop, unsigned rest, uint8_t sl,
                 struct path_hop_why *ret)
{
	ret->n = 0;
	ret->alternates = (struct port_set){ { 0 } };
	ret->choice = PATH_CHOICE_DELIVERS;
	ret->cable = (struct path_cable){ .guid = 0 };
	ret->routes = ret->least = ret->most = PATH_LOAD_UNKNOWN;
	int err = find_vl(r, hop, sl, ret);

	if (err == E_OK && hop->out_port != 0) {
		err = cable_of(r, hop->node_guid, hop->out_port, &ret->cable);
	}
	if (err != E_OK || rest <= 1) {
		return err;
	}
	ret->routes = routes_on(r, hop->node_guid, hop->out_port);
	err = find_candidates(r, dst, dlid, hop, rest, ret);
	if (err == E_OK) {
		judge(ret);
	}
	return err;
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
                const struct path_hop *hops, unsigned n, struct path_bounds *ret)
{
	struct path_cable cable;
	int err = E_OK;

	*ret = (struct path_bounds){ .rate = { .guid = 0 } };
	if (src->port != 0) {
		err = cable_of(r, src->node_guid, src->port, &cable);
		if (err == E_OK) {
			keep_least(ret, &cable);
		}
	}
	for (unsigned i = 0; err == E_OK && i < n; i++) {
		if (hops[i].out_port == 0) {
			continue; /* it ends at this switch */
		}
		err = cable_of(r, hops[i].node_guid, hops[i].out_port, &cable);
		if (err == E_OK) {
			keep_least(ret, &cable);
		}
	}
	return err;
}
