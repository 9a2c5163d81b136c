/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/path_json.h"

#include <errno.h>

#include "conf/base/err.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"

static int add(json_t *o, const char *name, json_t *value)
{
	return json_object_set_new_nocheck(o, name, value);
}

static json_t *port_json(const struct snap_port *port)
{
	json_t *o = json_object();
	int bad = add(o, "num", json_integer(port->num));

	bad |= add(o, "guid", guid_json(port->guid));
	bad |= add(o, "state", json_string(port_state_name(port->state)));
	if (port->lid != 0) {
		bad |= add(o, "lid", json_integer(port->lid));
		bad |= add(o, "lmc", json_integer(port->lmc));
	}
	bad |= add(o, "mtu", json_integer(port->mtu));
	bad |= add(o, "mtu_bytes", json_integer(mtu_bytes(port->mtu)));
	bad |= add(o, "vls", json_integer(port->vls));
	if (port->peer_guid == 0) {
		bad |= add(o, "peer", json_null());
	} else { /* members of a link: only where there is a cable */
		bad |= add(o, "peer",
		           json_pack("{s:o, s:i}", "guid", guid_json(port->peer_guid),
		                     "port", port->peer_port));
		bad |= add(o, "width", json_string(link_width_name(port->width)));
		bad |= add(o, "speed", json_string(link_speed_name(port->speed)));
		bad |= add(o, "rate", json_integer(port->rate));
		bad |= add(o, "rate_gbps", rate_gbps_json(port->rate));
	}
	if (bad != 0) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* With its class in the SL-to-VL rule, where there is one. */
static int add_port(struct snap_reader *r, const struct snap_port *port, json_t *list)
{
	json_t *o = port_json(port);
	uint8_t class;
	int ret = snap_vl_class(r, port->node_guid, port->num, &class), bad = 0;

	if (ret == E_OK) {
		bad = add(o, "vl_class", json_integer(class));
	}
	if (bad != 0 || json_array_append_new(list, o) != 0) {
		return -ENOMEM;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int ports_json(struct snap_reader *r, uint64_t guid, json_t **ret_json)
{
	json_t *list = json_array();
	struct snap_port port;

	for (unsigned num = 0; num <= UINT8_MAX; num = port.num + 1U) {
		int ret = snap_port_from(r, guid, (uint8_t)num, &port);
		if (ret == E_NOTFOUND || (ret == E_OK && port.node_guid != guid)) {
			break;
		}
		if (ret == E_OK) {
			ret = add_port(r, &port, list);
		}
		if (ret != E_OK) {
			json_decref(list);
			return ret;
		}
	}
	*ret_json = list;
	return E_OK;
}

static json_t *vport_json(const struct snap_vport *v)
{
	return json_pack("{s:o, s:i, s:i, s:s, s:o, s:b, s:o, s:o}", "guid",
	                 guid_json(v->guid), "port", v->port, "index", v->index, "state",
	                 port_state_name(v->state), "lid",
	                 v->lid != 0 ? json_integer(v->lid) : json_null(), "own_lid",
	                 v->own_lid, "node_guid", guid_json(v->node_guid), "description",
	                 text_json(v->description));
}

/* Adds the virtual ports of an adapter that has any. */
static int add_vports(struct snap_reader *r, uint64_t guid, json_t *node)
{
	struct snap_vport v;
	json_t *list = NULL;
	int ret;

	for (uint32_t i = 0; (ret = snap_vport(r, guid, i, &v)) == E_OK; i++) {
		if (list == NULL) {
			list = json_array();
		}
		if (json_array_append_new(list, vport_json(&v)) != 0) {
			json_decref(list);
			return -ENOMEM;
		}
	}
	if (ret != E_NOTFOUND) {
		json_decref(list);
		return ret;
	}
	return list != NULL && add(node, "vports", list) != 0 ? -ENOMEM : E_OK;
}

int node_json(struct snap_reader *r, const struct snap_node *node, bool ports,
              json_t **ret_json)
{
	json_t *list = NULL;

	if (ports) {
		int ret = ports_json(r, node->guid, &list);
		if (ret != E_OK) {
			return ret;
		}
	}
	/* clang-format off */
	json_t *o = json_pack("{s:o, s:s, s:o, s:o, s:i, s:o, s:i, s:i, s:i, s:i, s:b, s:b}",
		"guid", guid_json(node->guid),
		"type", node_type_name(node->type),
		"name", text_json(node->name),
		"description", text_json(node->description),
		"lid", (int)node->lid,
		"system_image_guid", guid_json(node->system_image_guid),
		"num_ports", node->n_ports,
		"vendor_id", (int)node->vendor_id,
		"device_id", node->device_id,
		"revision", (int)node->revision,
		"enhanced_port_0", node->esp0,
		"aggregation_node", node->aggregation);
	/* clang-format on */
	if (o == NULL) {
		json_decref(list);
		return -ENOMEM;
	}
	if (ports && add(o, "ports", list) != 0) {
		json_decref(o);
		return -ENOMEM;
	}
	int ret = node->type == NODE_CA ? add_vports(r, node->guid, o) : E_OK;
	if (ret != E_OK) {
		json_decref(o);
		return ret;
	}
	*ret_json = o;
	return E_OK;
}

int end_json(struct snap_reader *r, const struct snap_end *end, json_t **ret_json)
{
	struct snap_node node;

	int ret = snap_node(r, end->node_guid, &node);
	if (ret != E_OK) {
		return ret == E_NOTFOUND ? E_MALFORMED : ret;
	}
	/* clang-format off */
	json_t *o = json_pack("{s:i, s:i, s:o, s:o, s:i, s:s, s:o, s:o}",
		"lid", (int)end->base_lid,
		"lmc", end->lmc,
		"port_guid", guid_json(end->port_guid),
		"node_guid", guid_json(end->node_guid),
		"port", end->port,
		"type", node_type_name(end->type),
		"name", text_json(node.name),
		"description", text_json(node.description));
	/* clang-format on */
	if (o == NULL) {
		return -ENOMEM;
	}
	*ret_json = o;
	return E_OK;
}
