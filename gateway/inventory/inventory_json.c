/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Rows of ports and cables, written in place: a fabric of 11,664 hosts has 35,000 cables. */
#include <string.h>

#include "gateway/view/body.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/json_text.h"
#include "gateway/inventory/topology.h"
#include "sa/record/link_caps.h"

enum {
	NAME_BYTES = 64 * 6 + 2, /* every byte escaped */
	ROW_BYTES = 2 * NAME_BYTES + 1024 + INVENTORY_CABLE_MAX
};

/* A word without characters that JSON escapes. */
static char *put_word(char *p, const char *word)
{
	*p++ = '"';
	p = json_put_bytes(p, word, strlen(word));
	*p++ = '"';
	return p;
}

static char *put_name(char *p, const struct inventory *v, uint32_t node)
{
	return json_put_bytes(p, v->node[node].json, v->node[node].json_len);
}

static char *put_routes(char *p, const struct inventory_port *port)
{
	if (port->routes == INVENTORY_NO_ROUTES) {
		return JSON_PUT(p, "null");
	}
	p = json_put_number(JSON_PUT(p, "{\"all\":"), port->routes);
	p = json_put_number(JSON_PUT(p, ",\"base\":"), port->base_routes);
	return JSON_PUT(p, "}");
}

static char *put_bool(char *p, bool value)
{
	return value ? JSON_PUT(p, "true") : JSON_PUT(p, "false");
}

/* Members that ports and cables share: what the cable is, and what it could be. */
static char *put_mode(char *p, const struct inventory *v, uint32_t i)
{
	const struct port *port = &v->g->ports[i];
	const struct inventory_port *more = &v->port[i];

	p = put_word(JSON_PUT(p, "\"width\":"), link_width_name(port->width));
	p = put_word(JSON_PUT(p, ",\"speed\":"), link_speed_name(port->speed));
	p = json_put_number(JSON_PUT(p, ",\"rate\":"), more->rate);
	p = json_put_rate_gbps(JSON_PUT(p, ",\"rate_gbps\":"), more->rate);
	if (!more->has_best) {
		return JSON_PUT(
			p,
			",\"best_width\":null,\"best_speed\":null,\"best_rate_gbps\":null,\"degraded\":null");
	}
	p = put_word(JSON_PUT(p, ",\"best_width\":"), link_width_name(more->best_width));
	p = put_word(JSON_PUT(p, ",\"best_speed\":"), link_speed_name(more->best_speed));
	p = json_put_rate_gbps(JSON_PUT(p, ",\"best_rate_gbps\":"),
	                       link_rate(more->best_width, more->best_speed));
	return put_bool(JSON_PUT(p, ",\"degraded\":"), more->degraded);
}

static char *put_cable(char *p, const struct inventory_port *port)
{
	if (port->cable_json == NULL) {
		return JSON_PUT(p, ",\"cable\":null");
	}
	return json_put_bytes(JSON_PUT(p, ",\"cable\":"), port->cable_json,
	                      port->cable_json_len);
}

static char *put_end(char *p, const struct inventory *v, uint32_t i)
{
	const struct port *port = &v->g->ports[i];
	const struct node *node = &v->g->nodes[port->node];

	p = json_put_guid(JSON_PUT(p, "{\"guid\":"), node->guid);
	p = json_put_number(JSON_PUT(p, ",\"port\":"), port->num);
	p = put_name(JSON_PUT(p, ",\"name\":"), v, port->node);
	p = put_word(JSON_PUT(p, ",\"type\":"), node_type_name(node->type));
	p = put_word(JSON_PUT(p, ",\"state\":"), port_state_name(port->state));
	return JSON_PUT(p, "}");
}

void inventory_write_link(struct body *b, const struct inventory *v, uint32_t port)
{
	const struct port *a = &v->g->ports[port], *z = &v->g->ports[a->peer];
	uint8_t mtu = a->mtu < z->mtu ? a->mtu : z->mtu;
	char *p = body_room(b, ROW_BYTES);

	if (p == NULL) {
		return;
	}
	p = put_end(JSON_PUT(p, "{\"a\":"), v, port);
	p = put_end(JSON_PUT(p, ",\"b\":"), v, a->peer);
	p = put_word(JSON_PUT(p, ",\"state\":"),
	             port_state_name(inventory_link_state(v, port)));
	p = put_mode(JSON_PUT(p, ","), v, port);
	p = json_put_number(JSON_PUT(p, ",\"mtu\":"), mtu);
	p = json_put_number(JSON_PUT(p, ",\"mtu_bytes\":"), (uint64_t)mtu_bytes(mtu));
	p = put_routes(JSON_PUT(p, ",\"routes_from_a\":"), &v->port[port]);
	p = put_routes(JSON_PUT(p, ",\"routes_from_b\":"), &v->port[a->peer]);
	p = put_cable(p, v->port[port].cable_json != NULL ? &v->port[port]
	                                                  : &v->port[a->peer]);
	p = JSON_PUT(p, "}");
	b->len = (size_t)(p - b->data);
}

static char *put_peer(char *p, const struct inventory *v, uint32_t peer)
{
	const struct port *port = &v->g->ports[peer];

	p = json_put_guid(JSON_PUT(p, "{\"guid\":"), v->g->nodes[port->node].guid);
	p = json_put_number(JSON_PUT(p, ",\"port\":"), port->num);
	p = put_name(JSON_PUT(p, ",\"name\":"), v, port->node);
	return JSON_PUT(p, "}");
}

void inventory_write_port(struct body *b, const struct inventory *v, uint32_t i)
{
	const struct port *port = &v->g->ports[i];
	const struct node *node = &v->g->nodes[port->node];
	const struct inventory_port *more = &v->port[i];
	char *p = body_room(b, ROW_BYTES);

	if (p == NULL) {
		return;
	}
	p = json_put_guid(JSON_PUT(p, "{\"node_guid\":"), node->guid);
	p = put_name(JSON_PUT(p, ",\"name\":"), v, port->node);
	p = put_word(JSON_PUT(p, ",\"type\":"), node_type_name(node->type));
	p = json_put_number(JSON_PUT(p, ",\"port\":"), port->num);
	p = json_put_guid(JSON_PUT(p, ",\"port_guid\":"), port->guid);
	p = put_word(JSON_PUT(p, ",\"state\":"), port_state_name(port->state));
	p = more->physical_state != 0
	            ? put_word(JSON_PUT(p, ",\"physical_state\":"),
	                       link_physical_state(more->physical_state))
	            : JSON_PUT(p, ",\"physical_state\":null");
	p = json_put_number(JSON_PUT(p, ",\"lid\":"), port->lid);
	p = json_put_number(JSON_PUT(p, ",\"lmc\":"), port->lmc);
	p = json_put_number(JSON_PUT(p, ",\"mtu\":"), port->mtu);
	p = json_put_number(JSON_PUT(p, ",\"mtu_bytes\":"),
	                    (uint64_t)mtu_bytes(port->mtu));
	p = json_put_number(JSON_PUT(p, ",\"vls\":"), port->vls);
	p = JSON_PUT(p, ",");
	if (port->peer != GRAPH_NONE) {
		p = put_mode(p, v, i);
		p = put_peer(JSON_PUT(p, ",\"peer\":"), v, port->peer);
	} else {
		p = JSON_PUT(
			p,
			"\"width\":null,\"speed\":null,\"rate\":null,\"rate_gbps\":null,\"best_width\":null,\"best_speed\":null,\"best_rate_gbps\":null,\"degraded\":null,\"peer\":null");
	}
	p = put_routes(JSON_PUT(p, ",\"routes\":"), more);
	p = put_cable(p, more);
	p = JSON_PUT(p, "}");
	b->len = (size_t)(p - b->data);
}

static char *put_tier(char *p, const struct inventory *v, uint32_t port)
{
	uint16_t tier = inventory_tier(v, port);

	return tier == TOPOLOGY_NO_TIER ? JSON_PUT(p, "null") : json_put_number(p, tier);
}

static char *put_load_end(char *p, const struct inventory *v, uint32_t port)
{
	p = put_peer(p, v, port) - 1;
	p = put_tier(JSON_PUT(p, ",\"tier\":"), v, port);
	return JSON_PUT(p, "}");
}

void inventory_write_load(struct body *b, const struct inventory *v, uint32_t port)
{
	const struct inventory_port *more = &v->port[port];
	const struct load_class *class = inventory_load_class(v, port);
	/* in hundredths of the mean of the class */
	uint64_t share =
		class->sum == 0
			? 0
			: (100 * (uint64_t)more->routes * class->links + class->sum / 2) /
				  class->sum;
	char *p = body_room(b, ROW_BYTES);

	if (p == NULL) {
		return;
	}
	p = put_load_end(JSON_PUT(p, "{\"from\":"), v, port);
	p = put_load_end(JSON_PUT(p, ",\"to\":"), v, v->g->ports[port].peer);
	p = json_put_number(JSON_PUT(p, ",\"routes\":"), more->routes);
	p = json_put_number(JSON_PUT(p, ",\"base_routes\":"), more->base_routes);
	p = json_put_number(JSON_PUT(p, ",\"relative\":"), share / 100);
	*p++ = '.';
	*p++ = (char)('0' + share / 10 % 10);
	*p++ = (char)('0' + share % 10);
	p = json_put_rate_gbps(JSON_PUT(p, ",\"rate_gbps\":"), more->rate);
	p = JSON_PUT(p, "}");
	b->len = (size_t)(p - b->data);
}
