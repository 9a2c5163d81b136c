/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/groups and /v1/groups/{mgid}: the multicast groups that the snapshot mirrors, the
 * members of one group by name, and the switch ports that forward its packets, from the
 * multicast tables.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "sa/record/groups.h"

/* \param ret_count  How many members the group has. */
static int count_members(struct snap_reader *r, const struct group *g, int *ret_count)
{
	struct group_member m;
	int n = 0, ret = group_member_from(r, g, NULL, &m);

	while (ret == E_OK) {
		n++;
		ret = group_member_next(r, g, &m);
	}
	*ret_count = n;
	return ret == E_NOTFOUND ? E_OK : ret;
}

static json_t *group_json(const struct group *g, int members)
{
	/* Order of the members: MCMemberRecord's components (IBA vol. 1, 15.2.5.17). */
	/* clang-format off */
	return json_pack("{s:o, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:i, s:i, s:i, s:i, s:i, s:b, s:i}",
		"mgid", gid_json(g->mgid_prefix, g->mgid_suffix),
		"q_key", (json_int_t)g->q_key,
		"mlid", (int)g->mlid,
		"mtu", g->mtu,
		"mtu_bytes", mtu_bytes(g->mtu),
		"t_class", g->t_class,
		"p_key", g->p_key,
		"rate", g->rate,
		"rate_gbps", rate_gbps_json(g->rate),
		"packet_life_time", g->packet_life_time,
		"sl", g->sl,
		"flow_label", (int)g->flow_label,
		"hop_limit", g->hop_limit,
		"scope", g->scope,
		"well_known", g->well_known,
		"member_count", members);
	/* clang-format on */
}

/* The page that the request selects: how many rows, and the key of the first one. */
static int read_page(struct api_call *c, uint32_t *ret_limit,
                     struct stream_place *ret_place)
{
	const char *cursor = api_param(c, "cursor");
	int ret = api_limit(c, ret_limit);

	return ret == E_OK && cursor != NULL ? api_cursor(c, cursor, ret_place) : ret;
}

static json_t *next_page(struct api_call *c, const uint8_t *key, uint8_t len)
{
	struct stream_place at = { .row_len = len };

	memcpy(at.row, key, len);
	return api_next_place(c, &at);
}

/* Is a key in front of the first one of a page? */
static bool before_page(const uint8_t *key, size_t len, const struct stream_place *from)
{
	size_t n = len < from->row_len ? len : from->row_len;
	int order = memcmp(key, from->row, n);

	return order < 0 || (order == 0 && len < from->row_len);
}

static int add_groups(struct api_call *c, uint32_t limit, const struct stream_place *from,
                      json_t **ret_tail)
{
	struct group g;
	uint32_t total = 0, written = 0;
	json_t *next = NULL;
	int members, ret = group_from(c->snap, NULL, 0, &g);

	for (; ret == E_OK; ret = group_next(c->snap, &g)) {
		total++;
		if (next != NULL || before_page(g.key, sizeof(g.key), from)) {
			continue;
		}
		if (written++ == limit) {
			next = next_page(c, g.key, sizeof(g.key));
			continue;
		}
		ret = count_members(c->snap, &g, &members);
		if (ret != E_OK) {
			return ret;
		}
		body_list_add(&c->body, group_json(&g, members));
	}
	*ret_tail = api_total(next, total);
	return ret == E_NOTFOUND ? E_OK : ret;
}

int api_groups(struct api_call *c)
{
	struct stream_place from = { .key = 0 };
	json_t *tail = NULL;
	uint32_t limit;

	int ret = read_page(c, &limit, &from);
	if (ret != E_OK) {
		return ret;
	}
	body_list_begin(&c->body, api_head(c), "groups");
	ret = add_groups(c, limit, &from, &tail);
	body_list_end(&c->body, tail);
	return ret;
}

/* ---- one group ---- */

/* By MGID, or the first one with an MLID. */
static int find_group(struct api_call *c, struct group *ret_group)
{
	uint64_t prefix, suffix, mlid = 0;
	bool by_mgid = text_gid(c->capture[0], &prefix, &suffix) == E_OK;

	if (!by_mgid && text_u64(c->capture[0], UINT16_MAX - 1, &mlid) != E_OK) {
		return problem_set(
			&c->problem, c->arena, E_SYNTAX,
			"'%.64s' is neither an MGID in the form of an IPv6 address nor an MLID",
			c->capture[0]);
	}
	int ret = by_mgid ? group_find(c->snap, prefix, suffix, ret_group)
	                  : group_from(c->snap, NULL, 0, ret_group);
	while (!by_mgid && ret == E_OK && ret_group->mlid != mlid) {
		ret = group_next(c->snap, ret_group);
	}
	if (ret == E_NOTFOUND) {
		return problem_set(
			&c->problem, c->arena, E_NOTFOUND,
			"there is no multicast group '%.64s'; /v1/groups lists them",
			c->capture[0]);
	}
	return ret;
}

static int member_json(struct snap_reader *r, const struct group_member *m,
                       json_t **ret_json)
{
	struct snap_end end = { .base_lid = 0 };
	struct snap_node node = { .name = "" };
	int ret = snap_port_guid(r, m->port_guid, &end);

	if (ret == E_OK) {
		ret = snap_node(r, end.node_guid, &node);
	}
	if (ret != E_OK &&
	    ret != E_NOTFOUND) { /* the port may have gone since it joined */
		return ret;
	}
	/* clang-format off */
	*ret_json = json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:b, s:b}",
		"port_gid", gid_json(m->port_gid_prefix, m->port_gid_suffix),
		"port_guid", guid_json(m->port_guid),
		"node_guid", guid_json(end.node_guid),
		"name", text_json(node.name),
		"description", text_json(node.description),
		"port", end.port,
		"lid", (int)end.base_lid,
		"join_state", m->join_state,
		"receives", m->receives,
		"proxy_join", m->proxy_join);
	/* clang-format on */
	return *ret_json != NULL ? E_OK : -ENOMEM;
}

static int add_members(struct api_call *c, const struct group *g, uint32_t limit,
                       const struct stream_place *from, json_t **ret_tail)
{
	struct group_member m;
	uint32_t total = 0, written = 0;
	json_t *next = NULL;
	int ret = group_member_from(c->snap, g, NULL, &m);

	for (; ret == E_OK; ret = group_member_next(c->snap, g, &m)) {
		json_t *o;
		total++;
		if (next != NULL || before_page(m.key, sizeof(m.key), from)) {
			continue;
		}
		if (written++ == limit) {
			next = next_page(c, m.key, sizeof(m.key));
			continue;
		}
		ret = member_json(c->snap, &m, &o);
		if (ret != E_OK) {
			return ret;
		}
		body_list_add(&c->body, o);
	}
	*ret_tail = api_total(next, total);
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* A switch with its ports that send the group's packets on. NULL: it has none. */
static json_t *switch_json(const struct snap_node *sw,
                           const uint64_t egress[GROUP_PORT_WORDS])
{
	json_t *ports = json_array();

	for (unsigned p = 0; p < GROUP_PORT_WORDS * 64; p++) {
		if (egress[p / 64] >> p % 64 & 1) {
			json_array_append_new(ports, json_integer(p));
		}
	}
	if (json_array_size(ports) == 0) {
		json_decref(ports);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:o, s:i, s:o}", "guid", guid_json(sw->guid), "name",
	                 text_json(sw->name), "description", text_json(sw->description),
	                 "lid", (int)sw->lid, "ports", ports);
}

/* Switches that send the group's packets on, by NodeGUID. */
static int tree_json(struct snap_reader *r, uint32_t mlid, json_t **ret_json)
{
	json_t *tree = json_array();
	struct snap_node node;
	uint64_t from = 0, egress[GROUP_PORT_WORDS];
	int ret;

	while ((ret = snap_node_from(r, from, &node)) == E_OK) {
		from = node.guid + 1;
		if (node.type != NODE_SWITCH) {
			continue;
		}
		ret = group_egress_ports(r, node.guid, node.n_ports, mlid, egress);
		if (ret != E_OK) {
			break;
		}
		json_t *sw = switch_json(&node, egress);
		if (sw != NULL) {
			json_array_append_new(tree, sw);
		}
	}
	if (ret != E_NOTFOUND) {
		json_decref(tree);
		return ret;
	}
	*ret_json = tree;
	return tree != NULL ? E_OK : -ENOMEM;
}

int api_group(struct api_call *c)
{
	struct stream_place from = { .key = 0 };
	struct group g;
	json_t *tree, *tail = NULL;
	uint32_t limit;
	int members = 0;

	int ret = read_page(c, &limit, &from);
	if (ret == E_OK) {
		ret = find_group(c, &g);
	}
	if (ret == E_OK) {
		ret = count_members(c->snap, &g, &members);
	}
	if (ret == E_OK) {
		ret = tree_json(c->snap, g.mlid, &tree);
	}
	if (ret != E_OK) {
		return ret;
	}
	json_t *head = api_head(c), *group = group_json(&g, members);
	json_object_update_missing(head, group);
	json_decref(group);
	json_object_set_new(head, "tree", tree);
	body_list_begin(&c->body, head, "members");
	ret = add_members(c, &g, limit, &from, &tail);
	body_list_end(&c->body, tail);
	return ret;
}
