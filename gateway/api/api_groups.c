/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/groups and /v1/groups/{mgid}: multicast groups as they are mirrored, who is in one
 * by name, and the ports of switches that send its packets on, out of the multicast
 * tables.
 */
#include <errno.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/multicast.h"
#include "sa/mad/fields.h"
#include "sa/record/client_records.h"
#include "sa/store/mcast.h"

enum { POSITION_SHIFT = 28, MASK_BITS = 16 };

static const struct sa_query everything; /* no store: the snapshot's */

static uint64_t get(const struct mcast_group_row *g, unsigned component)
{
	return mcast_get(g->record, component);
}

static json_t *gid_of(const uint8_t *gid)
{
	return gid_json(field_get(gid, 0, 64), field_get(gid, 64, 64));
}

/* \param ret  How many members the group has. */
static int count_members(struct snap_reader *r, const uint8_t *mgid, int *ret)
{
	struct written_walk w;
	struct written_record rec;
	int n = 0, err = written_from(r, &everything, RECORDS_MEMBERS, mgid, MGID_BYTES,
	                              &w, &rec);

	while (err == E_OK && written_begins(&rec, mgid, MGID_BYTES)) {
		n++;
		err = written_next(&w, &rec);
	}
	*ret = n;
	return err == E_NOTFOUND ? E_OK : err;
}

static json_t *group_json(const struct mcast_group_row *g, int members)
{
	/* Order of the members: MCMemberRecord's components (IBA vol. 1, 15.2.5.17). */
	/* clang-format off */
	return json_pack("{s:o, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:i, s:i, s:i, s:i, s:i, s:b, s:i}",
		"mgid", gid_of(g->record),
		"q_key", (json_int_t)get(g, MC_Q_KEY),
		"mlid", (int)get(g, MC_MLID),
		"mtu", (int)get(g, MC_MTU),
		"mtu_bytes", mtu_bytes((uint8_t)get(g, MC_MTU)),
		"t_class", (int)get(g, MC_T_CLASS),
		"p_key", (int)get(g, MC_P_KEY),
		"rate", (int)get(g, MC_RATE),
		"rate_gbps", rate_gbps_json((uint8_t)get(g, MC_RATE)),
		"packet_life_time", (int)get(g, MC_LIFE),
		"sl", (int)get(g, MC_SL),
		"flow_label", (int)get(g, MC_FLOW_LABEL),
		"hop_limit", (int)get(g, MC_HOP_LIMIT),
		"scope", (int)get(g, MC_SCOPE),
		"well_known", g->well_known != 0,
		"member_count", members);
	/* clang-format on */
}

/* The page that is asked for: how many rows, and from which on. */
static int read_page(struct api_call *c, uint32_t *ret_limit, struct stream_place *ret)
{
	const char *cursor = api_param(c, "cursor");
	struct api_page page;
	int err = api_page(c, &page);

	if (err == E_OK && cursor != NULL) {
		err = api_cursor(c, cursor, ret);
	}
	*ret_limit = err == E_OK ? page.limit : 0;
	return err;
}

static json_t *next_page(struct api_call *c, const struct written_record *rec)
{
	struct stream_place at = { .row_len = (uint8_t)rec->row.key_len };

	memcpy(at.row, rec->row.key, rec->row.key_len);
	return api_next_place(c, &at);
}

static int add_groups(struct api_call *c, uint32_t limit, const struct stream_place *from,
                      json_t **ret_tail)
{
	struct written_walk w;
	struct written_record rec;
	struct mcast_group_row g;
	uint32_t n = 0;
	int members, err = written_from(c->snap, &everything, RECORDS_GROUPS, from->row,
	                                from->row_len, &w, &rec);

	for (; err == E_OK; err = written_next(&w, &rec)) {
		if (!mcast_group_decode(&rec.row, &g)) {
			continue;
		}
		if (n++ == limit) {
			*ret_tail = next_page(c, &rec);
			return E_OK;
		}
		err = count_members(c->snap, g.record, &members);
		if (err != E_OK) {
			return err;
		}
		body_list_add(&c->body, group_json(&g, members));
	}
	return err == E_NOTFOUND ? E_OK : err;
}

int api_groups(struct api_call *c)
{
	struct stream_place from = { .key = 0 };
	json_t *tail = NULL;
	uint32_t limit;

	int err = read_page(c, &limit, &from);
	if (err != E_OK) {
		return err;
	}
	body_list_begin(&c->body, api_head(c), "groups");
	err = add_groups(c, limit, &from, &tail);
	body_list_end(&c->body, tail);
	return err;
}

/* ---- one group ---- */

static int no_group(struct api_call *c)
{
	return problem_set(&c->problem, c->arena, E_NOTFOUND,
	                   "there is no multicast group '%.64s'; /v1/groups lists them",
	                   c->capture);
}

/* By MGID, or the first one with an MLID. */
static int find_group(struct api_call *c, struct mcast_group_row *ret)
{
	uint64_t prefix, guid, mlid = 0;
	uint8_t mgid[MGID_BYTES];
	struct written_walk w;
	struct written_record rec;
	bool by_mgid = text_gid(c->capture, &prefix, &guid) == E_OK;

	if (!by_mgid && text_u64(c->capture, MLID_LAST, &mlid) != E_OK) {
		return problem_set(
			&c->problem, c->arena, E_SYNTAX,
			"'%.64s' is no MGID in the form of an IPv6 address, and no "
			"MLID",
			c->capture);
	}
	if (by_mgid) {
		field_set(mgid, 0, 64, prefix);
		field_set(mgid, 64, 64, guid);
	}
	int err = written_from(c->snap, &everything, RECORDS_GROUPS, mgid,
	                       by_mgid ? MGID_BYTES : 0, &w, &rec);
	for (; err == E_OK; err = written_next(&w, &rec)) {
		if (by_mgid && !written_begins(&rec, mgid, MGID_BYTES)) {
			break;
		}
		if (mcast_group_decode(&rec.row, ret) &&
		    (by_mgid || get(ret, MC_MLID) == mlid)) {
			return E_OK;
		}
	}
	return err == E_OK || err == E_NOTFOUND ? no_group(c) : err;
}

static int member_json(struct snap_reader *r, const struct client_row *row,
                       const struct mcast_member_row *m, json_t **ret)
{
	struct snap_end end = { .base_lid = 0 };
	struct snap_node node = { .name = "" };
	int err = snap_port_guid(r, m->port_guid, &end);

	if (err == E_OK) {
		err = snap_node(r, end.node_guid, &node);
	}
	if (err != E_OK && err != E_NOTFOUND) { /* it may have gone a moment ago */
		return err;
	}
	*ret = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:b, s:b}", "port_gid",
		gid_of(row->key + MGID_BYTES), "port_guid", guid_json(m->port_guid),
		"node_guid", guid_json(end.node_guid), "name", text_json(node.name),
		"description", text_json(node.description), "port", end.port, "lid",
		(int)end.base_lid, "join_state", m->join_state, "receives",
		(m->join_state & MC_RECEIVES) != 0, "proxy_join", m->proxy_join != 0);
	return *ret != NULL ? E_OK : -ENOMEM;
}

static int add_members(struct api_call *c, const struct mcast_group_row *g,
                       uint32_t limit, const struct stream_place *from, json_t **ret_tail)
{
	bool inside = from->row_len == MC_MEMBER_KEY_BYTES;
	struct written_walk w;
	struct written_record rec;
	struct mcast_member_row m;
	uint32_t n = 0;
	int err = written_from(c->snap, &everything, RECORDS_MEMBERS,
	                       inside ? from->row : g->record,
	                       inside ? MC_MEMBER_KEY_BYTES : MGID_BYTES, &w, &rec);

	for (; err == E_OK; err = written_next(&w, &rec)) {
		json_t *o;
		if (!written_begins(&rec, g->record, MGID_BYTES)) {
			break;
		}
		if (!mcast_member_decode(&rec.row, &m)) {
			continue;
		}
		if (n++ == limit) {
			*ret_tail = next_page(c, &rec);
			return E_OK;
		}
		err = member_json(c->snap, &rec.row, &m, &o);
		if (err != E_OK) {
			return err;
		}
		body_list_add(&c->body, o);
	}
	return err == E_NOTFOUND ? E_OK : err;
}

/* Ports out of which a switch sends packets of an MLID. NULL: out of memory. */
static json_t *egress_ports(struct snap_reader *r, const struct snap_node *sw,
                            uint32_t mlid, int *ret_err)
{
	uint32_t block = (mlid - MLID_FIRST) / MFT_BLOCK_MLIDS,
		 at = (mlid - MLID_FIRST) % MFT_BLOCK_MLIDS;
	json_t *ports = json_array();

	for (uint32_t p = 0; p * MASK_BITS <= sw->n_ports; p++) {
		const uint8_t *data;
		uint16_t len;
		int err = snap_attr(r, UMAD_SM_ATTR_MCAST_FT, sw->guid,
		                    p << POSITION_SHIFT | block, &data, &len);
		if (err != E_OK && err != E_NOTFOUND) {
			*ret_err = err;
			break;
		}
		uint64_t mask = err == E_OK && len == 2 * MFT_BLOCK_MLIDS
		                        ? field_get(data, at * MASK_BITS, MASK_BITS)
		                        : 0;
		for (unsigned bit = 0; bit < MASK_BITS; bit++) {
			if (mask >> bit & 1) {
				json_array_append_new(ports,
				                      json_integer(p * MASK_BITS + bit));
			}
		}
	}
	return ports;
}

/* Switches that send the group's packets on, by NodeGUID. */
static int tree_json(struct snap_reader *r, uint32_t mlid, json_t **ret)
{
	json_t *tree = json_array();
	struct snap_node node;
	uint64_t from = 0;
	int err;

	while ((err = snap_node_from(r, from, &node)) == E_OK) {
		from = node.guid + 1;
		if (node.type != NODE_SWITCH || mlid < MLID_FIRST) {
			continue;
		}
		json_t *ports = egress_ports(r, &node, mlid, &err);
		if (json_array_size(ports) == 0) {
			json_decref(ports);
		} else {
			json_array_append_new(
				tree, json_pack("{s:o, s:o, s:o, s:i, s:o}", "guid",
			                        guid_json(node.guid), "name",
			                        text_json(node.name), "description",
			                        text_json(node.description), "lid",
			                        (int)node.lid, "ports", ports));
		}
		if (err != E_OK) {
			break;
		}
	}
	if (err != E_NOTFOUND) {
		json_decref(tree);
		return err;
	}
	*ret = tree;
	return tree != NULL ? E_OK : -ENOMEM;
}

int api_group(struct api_call *c)
{
	struct stream_place from = { .key = 0 };
	struct mcast_group_row g;
	json_t *tree, *tail = NULL;
	uint32_t limit;
	int members = 0;

	int err = read_page(c, &limit, &from);
	if (err == E_OK) {
		err = find_group(c, &g);
	}
	if (err == E_OK) {
		err = count_members(c->snap, g.record, &members);
	}
	if (err == E_OK) {
		err = tree_json(c->snap, (uint32_t)get(&g, MC_MLID), &tree);
	}
	if (err != E_OK) {
		return err;
	}
	json_t *head = api_head(c), *group = group_json(&g, members);
	json_object_update_missing(head, group);
	json_decref(group);
	json_object_set_new(head, "tree", tree);
	body_list_begin(&c->body, head, "members");
	err = add_members(c, &g, limit, &from, &tail);
	body_list_end(&c->body, tail);
	return err;
}
