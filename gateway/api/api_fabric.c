/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The fabric as a whole and its lists: /v1/fabric, /v1/routing, /v1/nodes, /v1/links,
 * /v1/lids. */
#include <string.h>

#include "conf/base/err.h"
#include "db/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/view/path_json.h"
#include "routing/graph/graph.h"

static int body_of(struct api_call *c, json_t *o)
{
	if (c->stale) {
		json_object_set_new(o, "stale", json_true());
	}
	body_json(&c->body, o);
	return E_OK;
}

int api_fabric(struct api_call *c)
{
	return body_of(c, fabric_json(snap_meta(c->snap)));
}

int api_routing(struct api_call *c)
{
	json_t *o, *rule;
	int err = vl_rule_json(c->snap, &rule);

	if (err != E_OK) {
		return err;
	}
	o = routing_json(snap_meta(c->snap));
	json_object_set_new(o, "sl_to_vl", rule);
	return body_of(c, o);
}

/* --- nodes --- */

struct node_filter {
	uint8_t type; /* 0: all */
	bool ports;
};

static int read_filter(struct api_call *c, struct node_filter *ret)
{
	const char *type = api_param(c, "type"), *ports = api_param(c, "ports");
	struct node_filter f = { .ports = true };

	for (uint8_t t = NODE_CA; type != NULL && t <= NODE_ROUTER; t++) {
		if (strcmp(type, node_type_name(t)) == 0) {
			f.type = t;
		}
	}
	if (type != NULL && f.type == 0) {
		return problem_param(&c->problem, c->arena, E_UNKNOWN, "type",
		                     "type='%s': expected ca, switch or router", type);
	}
	if (ports != NULL && strcmp(ports, "0") != 0 && strcmp(ports, "1") != 0) {
		return problem_param(&c->problem, c->arena, E_UNKNOWN, "ports",
		                     "ports='%s': expected 0 or 1", ports);
	}
	f.ports = ports == NULL || ports[0] == '1';
	*ret = f;
	return E_OK;
}

/* Next node of the wanted type at or after a GUID. */
static int next_node(struct snap_reader *r, const struct node_filter *f, uint64_t from,
                     struct snap_node *ret)
{
	for (;;) {
		int err = snap_node_from(r, from, ret);
		if (err != E_OK || f->type == 0 || ret->type == f->type) {
			return err;
		}
		if (ret->guid == UINT64_MAX) {
			return E_NOTFOUND;
		}
		from = ret->guid + 1;
	}
}

static int add_nodes(struct api_call *c, const struct node_filter *f,
                     const struct api_page *page, json_t **ret_tail)
{
	struct snap_node node;
	uint64_t from = page->guid;
	json_t *o;

	for (uint32_t n = 0;; n++) {
		int err = next_node(c->snap, f, from, &node);
		if (err != E_OK) {
			return err == E_NOTFOUND ? E_OK : err;
		}
		if (n == page->limit) {
			*ret_tail = api_next(c, node.guid, 0);
			return E_OK;
		}
		err = node_json(c->snap, &node, f->ports, &o);
		if (err != E_OK) {
			return err;
		}
		body_list_add(&c->body, o);
		if (node.guid == UINT64_MAX) {
			return E_OK;
		}
		from = node.guid + 1;
	}
}

int api_nodes(struct api_call *c)
{
	struct node_filter f = { .type = 0 };
	struct api_page page;
	json_t *tail = NULL;

	int err = read_filter(c, &f);
	if (err == E_OK) {
		err = api_page(c, &page);
	}
	if (err != E_OK) {
		return err;
	}
	body_list_begin(&c->body, api_head(c), "nodes");
	err = add_nodes(c, &f, &page, &tail);
	body_list_end(&c->body, tail);
	return err;
}

int api_node(struct api_call *c)
{
	struct snap_node node;
	struct snap_end end;
	uint64_t guid;
	json_t *o;

	int err = api_capture_guid(c, &guid);
	if (err != E_OK) {
		return err;
	}
	err = snap_node(c->snap, guid, &node);
	if (err == E_NOTFOUND && snap_port_guid(c->snap, guid, &end) == E_OK) {
		err = snap_node(c->snap, end.node_guid, &node);
	}
	if (err == E_NOTFOUND) {
		return problem_set(&c->problem, c->arena, err,
		                   "no node and no port has the GUID 0x%016llx",
		                   (unsigned long long)guid);
	}
	if (err == E_OK) {
		err = node_json(c->snap, &node, true, &o);
	}
	if (err != E_OK) {
		return err;
	}
	json_t *head = api_head(c);
	json_object_update(head, o);
	json_decref(o);
	body_json(&c->body, head);
	return E_OK;
}

/* --- cables --- */

static int add_links(struct api_call *c, const struct api_page *page, json_t **ret_tail)
{
	struct snap_link link;
	uint64_t guid = page->guid;
	unsigned port = page->port;
	json_t *o;

	for (uint32_t n = 0;; n++) {
		int err = snap_link_from(c->snap, guid, (uint8_t)port, &link);
		if (err != E_OK) {
			return err == E_NOTFOUND ? E_OK : err;
		}
		if (n == page->limit) {
			*ret_tail = api_next(c, link.guid_a, link.port_a);
			return E_OK;
		}
		err = link_json(c->snap, &link, &o);
		if (err != E_OK) {
			return err;
		}
		body_list_add(&c->body, o);
		guid = link.guid_a;
		port = link.port_a + 1U; /* ports end at 254 */
	}
}

int api_links(struct api_call *c)
{
	struct api_page page;
	json_t *tail = NULL;

	int err = api_page(c, &page);
	if (err != E_OK) {
		return err;
	}
	body_list_begin(&c->body, api_head(c), "links");
	err = add_links(c, &page, &tail);
	body_list_end(&c->body, tail);
	return err;
}

/* --- LIDs --- */

/* Lists each LID range once, at its base. The key of a page is a LID. */
static int add_lids(struct api_call *c, const struct api_page *page, json_t **ret_tail)
{
	uint32_t top = snap_meta(c->snap)->top_lid, n = 0;
	struct snap_end end;
	json_t *o;

	for (uint64_t lid = page->guid > 0 ? page->guid : 1; lid <= top; lid++) {
		int err = snap_lid(c->snap, (uint32_t)lid, &end);
		if (err == E_NOTFOUND || (err == E_OK && end.base_lid != lid)) {
			continue;
		}
		if (err != E_OK) {
			return err;
		}
		if (n++ == page->limit) {
			*ret_tail = api_next(c, lid, 0);
			return E_OK;
		}
		err = end_json(c->snap, &end, &o);
		if (err != E_OK) {
			return err;
		}
		body_list_add(&c->body, o);
	}
	return E_OK;
}

int api_lids(struct api_call *c)
{
	struct api_page page;
	json_t *tail = NULL;

	int err = api_page(c, &page);
	if (err != E_OK) {
		return err;
	}
	body_list_begin(&c->body, api_head(c), "lids");
	err = add_lids(c, &page, &tail);
	body_list_end(&c->body, tail);
	return err;
}
