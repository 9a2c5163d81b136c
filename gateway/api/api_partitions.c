/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/partitions and /v1/partitions/{p_key}: the partitions in effect; of one its members as the
 * operator wrote them, and the end ports that have its P_Key in their tables.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"
#include "db/snapshot/policy.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/view/json_text.h"

enum { WHO_GUIDS = 0, WHO_HOST = 7 }; /* of enum partition_who */

/* Is a port or virtual port with this GUID in the fabric? */
static int is_present(struct api_call *c, uint64_t guid, bool *ret_present)
{
	struct snap_end end;
	int ret = snap_port_guid(c->snap, guid, &end);

	*ret_present = ret == E_OK;
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* Members of the configuration that name one port or host, and no port of the fabric. */
static int count_absent(struct api_call *c, const struct snap_partition *p, uint32_t *ret_n)
{
	uint32_t n = 0;
	int ret = E_OK;

	for (uint32_t i = 0; ret == E_OK && i < p->is.n_members; i++) {
		struct snap_partition_member m = snap_partition_member(p, i);
		bool present = m.who != WHO_HOST;

		if (m.who == WHO_GUIDS && m.first == m.last && !m.runtime) {
			ret = is_present(c, m.first, &present);
		}
		n += !present;
	}
	*ret_n = n;
	return ret;
}

static json_t *partition_json(const struct snap_partition *p, uint32_t n_absent)
{
	char name[128];

	snprintf(name, sizeof(name), "%.*s", (int)p->is.name_len, (const char *)p->name);
	/* clang-format off */
	return json_pack("{s:i, s:o, s:b, s:i, s:i, s:i, s:i, s:i}",
		"p_key", p->p_key,
		"name", text_json(name),
		"indx0", p->is.indx0 != 0,
		"sl", p->is.sl,
		"full_members", (int)p->is.n_full,
		"limited_members", (int)p->is.n_limited,
		"group_count", (int)p->is.n_groups,
		"absent_count", (int)n_absent);
	/* clang-format on */
}

int api_partitions(struct api_call *c)
{
	struct snap_partition p;
	struct api_page page;
	struct api_rows rows = { .page = &page };
	int ret = api_page(c, &page);

	if (ret != E_OK) {
		return ret;
	}
	body_list_begin(&c->body, api_head(c), "partitions");
	ret = snap_partition_from(c->snap, 0, &p);
	while (ret == E_OK) {
		if (api_rows_take(c, &rows, p.p_key)) {
			uint32_t n_absent = 0;

			ret = count_absent(c, &p, &n_absent);
			body_list_add(&c->body, partition_json(&p, n_absent));
		}
		ret = ret != E_OK ? ret : snap_partition_from(c->snap, (uint16_t)(p.p_key + 1), &p);
	}
	body_list_end(&c->body, api_total(rows.tail, rows.total));
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* ---- one partition ---- */

static json_t *groups_json(const struct snap_partition *p)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < p->is.n_groups; i++) {
		struct snap_partition_group g = snap_partition_group(p, i);

		/* clang-format off */
		json_array_append_new(list, json_pack("{s:o, s:b, s:I, s:i, s:o, s:i, s:i, s:i}",
			"mgid", gid_json(g.prefix, g.guid),
			"broadcast", g.broadcast != 0,
			"q_key", (json_int_t)g.q_key,
			"mtu_bytes", mtu_bytes(g.mtu),
			"rate_gbps", rate_gbps_json(g.rate),
			"sl", g.sl,
			"t_class", g.tclass,
			"flow_label", (int)g.flow_label));
		/* clang-format on */
	}
	return list;
}

static json_t *member_json(const struct snap_partition *p, const struct snap_partition_member *m)
{
	static const char *const who[] = { "guid",         "ALL",         "ALL_CAS",
		                           "ALL_SWITCHES", "ALL_ROUTERS", "ALL_VCAS",
		                           "SELF",         "host" };
	static const char *const as[] = { "", "limited", "full", "both" };
	json_t *o = json_pack("{s:s, s:s, s:s}", "who", m->who <= WHO_HOST ? who[m->who] : "",
	                      "membership", as[m->membership & 3], "source",
	                      m->runtime ? "runtime" : "file");

	if (m->who == WHO_GUIDS) {
		json_object_set_new(o, "first", guid_json(m->first));
		json_object_set_new(o, "last", guid_json(m->last));
	} else if (m->who == WHO_HOST) {
		size_t len;
		const char *name = snap_partition_host(p, m, &len);

		json_object_set_new(o, "host", json_stringn(name, len));
		json_object_set_new(o, "port_count", json_integer(m->n_ports));
	}
	return o;
}

static int members_json(struct api_call *c, const struct snap_partition *p, json_t **ret_list)
{
	json_t *list = json_array();
	int ret = E_OK;

	for (uint32_t i = 0; ret == E_OK && i < p->is.n_members; i++) {
		struct snap_partition_member m = snap_partition_member(p, i);
		json_t *o = member_json(p, &m);
		bool present;

		if (m.who == WHO_GUIDS && m.first == m.last) {
			ret = is_present(c, m.first, &present);
			if (ret == E_OK) {
				json_object_set_new(o, "present", json_boolean(present));
			}
		}
		json_array_append_new(list, o);
	}
	*ret_list = list;
	return ret;
}

/* Membership of a port by its table: 1 limited, 2 full, 3 both, 0 none. */
static int membership(struct snap_reader *r, const struct snap_end *end, uint16_t p_key,
                      unsigned *ret_membership)
{
	const void *data;
	size_t n;
	int ret = snap_p_keys(r, end->p_key_set, &data, &n);

	*ret_membership = 0;
	for (size_t i = 0; ret == E_OK && i < n; i++) {
		uint16_t key;

		memcpy(&key, (const uint8_t *)data + i * sizeof(key), sizeof(key));
		if ((key & P_KEY_BASE) == p_key) {
			*ret_membership |= key & P_KEY_FULL ? 2 : 1;
		}
	}
	return ret;
}

static int port_json(struct snap_reader *r, const struct snap_end *end, unsigned is,
                     json_t **ret_json)
{
	static const char *const as[] = { "", "limited", "full", "both" };
	struct snap_node node = { .name = "" };
	int ret = snap_node(r, end->node_guid, &node);

	if (ret != E_OK) {
		return ret;
	}
	/* clang-format off */
	*ret_json = json_pack("{s:o, s:o, s:o, s:i, s:i, s:s}",
		"port_guid", guid_json(end->port_guid),
		"name", text_json(node.name),
		"description", text_json(node.description),
		"port", end->port,
		"lid", (int)end->base_lid,
		"membership", as[is]);
	/* clang-format on */
	return *ret_json != NULL ? E_OK : -ENOMEM;
}

/* The end ports whose tables have the P_Key, by PortGUID. */
static int add_ports(struct api_call *c, uint16_t p_key, const struct api_page *page,
                     json_t **ret_tail)
{
	const struct snap_ends *ends;
	struct api_rows rows = { .page = page };
	int ret = snap_ends(c->snap, &ends);

	for (uint32_t i = 0; ret == E_OK && i < ends->n; i++) {
		struct snap_end end;
		unsigned is;
		json_t *o;

		if (ends->name[i].is_alias) {
			continue;
		}
		ret = snap_lid(c->snap, ends->name[i].lid, &end);
		if (ret == E_OK) {
			ret = membership(c->snap, &end, p_key, &is);
		}
		if (ret != E_OK || is == 0) {
			continue;
		}
		if (!api_rows_take(c, &rows, ends->name[i].guid)) {
			continue;
		}
		ret = port_json(c->snap, &end, is, &o);
		if (ret == E_OK) {
			body_list_add(&c->body, o);
		}
	}
	*ret_tail = api_total(rows.tail, rows.total);
	return ret;
}

/* By P_Key, or the first one with a name. */
static int find_partition(struct api_call *c, struct snap_partition *ret_partition)
{
	uint64_t key = 0;
	bool by_key = text_u64(c->capture[0], UINT16_MAX, &key) == E_OK;
	int ret = snap_partition_from(c->snap, by_key ? (uint16_t)(key & P_KEY_BASE) : 0,
	                              ret_partition);

	if (by_key && ret == E_OK && ret_partition->p_key != (key & P_KEY_BASE)) {
		ret = E_NOTFOUND;
	}
	while (!by_key && ret == E_OK &&
	       (ret_partition->is.name_len != strlen(c->capture[0]) ||
	        memcmp(ret_partition->name, c->capture[0], ret_partition->is.name_len) !=
	                0)) {
		ret = snap_partition_from(c->snap, (uint16_t)(ret_partition->p_key + 1),
		                          ret_partition);
	}
	return ret != E_NOTFOUND
	               ? ret
	               : problem_set(
				 &c->problem, c->arena, E_NOTFOUND,
				 "there is no partition '%.64s'; /v1/partitions lists them by P_Key and name",
				 c->capture[0]);
}

int api_partition(struct api_call *c)
{
	struct snap_partition p;
	struct api_page page;
	json_t *tail = NULL, *members = NULL;
	uint32_t n_absent = 0;
	int ret = api_page(c, &page);

	if (ret == E_OK) {
		ret = find_partition(c, &p);
	}
	if (ret == E_OK) {
		ret = count_absent(c, &p, &n_absent);
	}
	if (ret == E_OK) {
		ret = members_json(c, &p, &members);
	}
	if (ret != E_OK) {
		json_decref(members);
		return ret;
	}
	json_t *head = api_head(c), *partition = partition_json(&p, n_absent);
	json_object_update_missing(head, partition);
	json_decref(partition);
	json_object_set_new(head, "members", members);
	json_object_set_new(head, "groups", groups_json(&p));
	body_list_begin(&c->body, head, "ports");
	ret = add_ports(c, p.p_key, &page, &tail);
	body_list_end(&c->body, tail);
	return ret;
}
