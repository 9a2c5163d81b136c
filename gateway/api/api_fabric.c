/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The fabric as a whole and its lists: /v1/fabric, /v1/routing, /v1/nodes, /v1/lids. */
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/snapshot/reader.h"
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
	int ret = vl_rule_json(c->snap, &rule);

	if (ret != E_OK) {
		return ret;
	}
	o = routing_json(snap_meta(c->snap));
	json_object_set_new(o, "sl_to_vl", rule);
	return body_of(c, o);
}

/* --- nodes --- */

struct node_filter {
	uint8_t type;     /* 0: all */
	const char *name; /* pattern; NULL: all */
	bool ports;
};

static int read_filter(struct api_call *c, struct node_filter *ret_filter)
{
	const char *ports = api_param(c, "ports");
	struct node_filter f = { .name = api_param(c, "name") };

	if (ports != NULL && strcmp(ports, "0") != 0 && strcmp(ports, "1") != 0) {
		return problem_param(&c->problem, c->arena, E_UNKNOWN, "ports",
		                     "ports='%s': expected 0 or 1", ports);
	}
	f.ports = ports == NULL || ports[0] == '1';
	int ret = api_node_type(c, &f.type);
	if (ret == E_OK) {
		*ret_filter = f;
	}
	return ret;
}

static bool node_fits(const struct node_filter *f, const struct snap_node *n)
{
	return (f->type == 0 || n->type == f->type) &&
	       (f->name == NULL || text_glob(f->name, n->name) ||
	        text_glob(f->name, n->description));
}

/* Writes the nodes of a page, and counts all. */
static int add_nodes(struct api_call *c, const struct node_filter *f,
                     const struct api_page *page, json_t **ret_tail)
{
	struct snap_node node = { .guid = 0 };
	uint32_t written = 0, total = 0;
	json_t *o, *next = NULL;
	int ret = snap_node_from(c->snap, 0, &node);

	while (ret == E_OK) {
		bool fits = node_fits(f, &node), here = node.guid >= page->guid;

		total += fits;
		if (fits && here && written == page->limit && next == NULL) {
			next = api_next(c, node.guid, 0);
		} else if (fits && here && next == NULL) {
			ret = node_json(c->snap, &node, f->ports, &o);
			if (ret != E_OK) {
				break;
			}
			body_list_add(&c->body, o);
			written++;
		}
		ret = node.guid == UINT64_MAX
		              ? E_NOTFOUND
		              : snap_node_from(c->snap, node.guid + 1, &node);
	}
	*ret_tail = api_total(next, total);
	return ret == E_NOTFOUND ? E_OK : ret;
}

int api_nodes(struct api_call *c)
{
	struct node_filter f = { .type = 0 };
	struct api_page page;
	json_t *tail = NULL;

	int ret = read_filter(c, &f);
	if (ret == E_OK) {
		ret = api_page(c, &page);
	}
	if (ret != E_OK) {
		return ret;
	}
	body_list_begin(&c->body, api_head(c), "nodes");
	ret = add_nodes(c, &f, &page, &tail);
	body_list_end(&c->body, tail);
	return ret;
}

int api_node(struct api_call *c)
{
	struct snap_node node;
	uint64_t guid;
	json_t *o;

	int ret = api_find_node(c, c->capture[0], NULL, &guid);
	if (ret == E_OK) {
		ret = snap_node(c->snap, guid, &node);
	}
	if (ret == E_OK) {
		ret = node_json(c->snap, &node, true, &o);
	}
	if (ret != E_OK) {
		return ret;
	}
	json_t *head = api_head(c);
	json_object_update(head, o);
	json_decref(o);
	body_json(&c->body, head);
	return E_OK;
}

/* --- LIDs --- */

/* Each LID range is listed once, at its base. */
static int lid_range(struct api_call *c, const void *ctx, uint32_t lid, json_t **ret_json)
{
	struct snap_end end;
	int ret = snap_lid(c->snap, lid, &end);

	(void)ctx;
	if (ret == E_OK && end.base_lid != lid) {
		return E_NOTFOUND;
	}
	return ret == E_OK && ret_json != NULL ? end_json(c->snap, &end, ret_json) : ret;
}

int api_lids(struct api_call *c)
{
	struct api_page page;
	json_t *tail = NULL;

	int ret = api_page(c, &page);
	if (ret != E_OK) {
		return ret;
	}
	body_list_begin(&c->body, api_head(c), "lids");
	ret = api_lid_list(c, &page, lid_range, NULL, &tail);
	body_list_end(&c->body, tail);
	return ret;
}
