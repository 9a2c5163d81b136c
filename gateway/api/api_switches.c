/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Tables of one switch: /v1/switches/{node}/lft and /v1/switches/{node}/alternates. */
#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"

/* A byte of a switch for each LID; 0xff: nothing there. */
struct lid_bytes {
	uint64_t guid; /* of the switch */
	int (*get)(struct snap_reader *r, uint64_t sw_guid, uint32_t lid,
	           uint8_t *ret_lft);
	const char *name; /* of its member */
};

static int lid_byte(struct api_call *c, const void *ctx, uint32_t lid, json_t **ret_json)
{
	const struct lid_bytes *b = ctx;
	uint8_t byte;
	int ret = b->get(c->snap, b->guid, lid, &byte);

	if (ret == E_OK && byte == 0xff) {
		return E_NOTFOUND;
	}
	if (ret == E_OK && ret_json != NULL) {
		*ret_json = json_pack("{s:i, s:i}", "lid", (int)lid, b->name, byte);
	}
	return ret;
}

static json_t *ports_json(const struct port_set *s)
{
	json_t *ports = json_array();

	for (unsigned port = 1; port < PORT_SET_WORDS * 64; port++) {
		if (port_set_has(s, port)) {
			json_array_append_new(ports, json_integer(port));
		}
	}
	return ports;
}

static int add_top_lid(struct api_call *c, const struct snap_node *sw, json_t *head)
{
	(void)sw;
	json_object_set_new(head, "top_lid", json_integer(snap_meta(c->snap)->top_lid));
	return E_OK;
}

/* No groups: no adaptive routing, or no route of this switch has a choice. */
static int add_groups(struct api_call *c, const struct snap_node *sw, json_t *head)
{
	struct port_set set[PORT_GROUPS_MAX];
	unsigned n = 0;
	json_t *groups;
	int ret = snap_port_groups(c->snap, sw->guid, set, &n);

	if (ret != E_OK && ret != E_NOTFOUND) {
		return ret;
	}
	json_object_set_new(head, "in_force",
	                    json_boolean(n != 0 && snap_is_omni_path(c->snap, sw->guid)));
	groups = json_array();
	for (unsigned i = 0; i < n; i++) {
		if (port_set_count(&set[i]) == 0) {
			continue; /* a number that is not used */
		}
		json_array_append_new(groups, json_pack("{s:i, s:o}", "group", (int)i,
		                                        "ports", ports_json(&set[i])));
	}
	json_object_set_new(head, "port_groups", groups);
	return E_OK;
}

/* The bytes of the switch that was asked for, a page of them. \param add  Adds to the head of the answer. */
static int list_bytes(struct api_call *c, struct lid_bytes bytes, const char *name,
                      int (*add)(struct api_call *c, const struct snap_node *sw,
                                 json_t *head))
{
	struct snap_node node;
	struct api_page page;
	json_t *head, *tail = NULL;
	int ret = api_capture_switch(c, &node);

	if (ret == E_OK) {
		ret = api_page(c, &page);
	}
	if (ret != E_OK) {
		return ret;
	}
	head = api_head(c);
	json_object_set_new(head, "guid", guid_json(node.guid));
	json_object_set_new(head, "name", text_json(node.name));
	json_object_set_new(head, "description", text_json(node.description));
	json_object_set_new(head, "lid", json_integer(node.lid));
	ret = add(c, &node, head);
	if (ret != E_OK) {
		json_decref(head);
		return ret;
	}
	body_list_begin(&c->body, head, name);
	bytes.guid = node.guid;
	ret = api_lid_list(c, &page, lid_byte, &bytes, &tail);
	body_list_end(&c->body, tail);
	return ret;
}

int api_lft(struct api_call *c)
{
	return list_bytes(c, (struct lid_bytes){ .get = snap_lft, .name = "port" },
	                  "routes", add_top_lid);
}

int api_alternates(struct api_call *c)
{
	return list_bytes(
		c, (struct lid_bytes){ .get = snap_port_group_of, .name = "group" },
		"alternates", add_groups);
}
