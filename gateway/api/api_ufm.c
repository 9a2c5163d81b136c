/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /ufmRest/resources/systems, .../ports and .../links: the fabric in the form of UFM's REST interface,
 * for clients that read it there. What changes the fabric is in saguaro-admin.
 *
 * The members are those that public descriptions of that interface name, as far as the snapshot has
 * them; the others are left out. GUIDs are 16 hex digits, and a port is called GUID_NUMBER. A host is one
 * system with all its adapters, and is called by the first word of their names. The GUID of a system is the
 * lowest NodeGUID of its nodes. Aggregation nodes are parts of their switch and have no rows.
 *
 * Sources: of NVIDIA's UFM Enterprise REST API guide the pages on links, on virtual ports (names of
 * systems and ports) and on systems (their filters, not the answer); the list of members of a port in the manual of
 * the Model2 plug-in; further members of ports by what open clients read (NVIDIA's ncx-infra-controller-core and
 * nv-config-manager, ufmctl). The guide's page on ports was not at hand. What these show by examples only, or not
 * at all, is a guess; saguaro-api(7) says where.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/api/api_call.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "sa/record/link_caps.h"

/* The nodes of one request, as systems. */
struct systems {
	const struct inventory *v;
	const struct graph *g;
	uint32_t *node; /* [n] nodes that have rows, those of a system one after another */
	uint32_t n;
	uint32_t *system; /* [n_nodes] first node of its system; GRAPH_NONE: it has no row */
};

/* --- which nodes are one system ---------------------------------------------------------- */

static bool is_host(const struct node *n)
{
	return n->type == NODE_CA && node_host_length(n) > 0;
}

static bool is_one_system(const struct node *a, const struct node *b)
{
	return is_host(a) && is_host(b) && node_compare_hosts(a, b) == 0;
}

/* Hosts by name; the other nodes behind them, all by GUID. */
static int by_system(const void *a, const void *b, void *arg)
{
	const struct graph *g = arg;
	const struct node *x = &g->nodes[*(const uint32_t *)a];
	const struct node *y = &g->nodes[*(const uint32_t *)b];
	int d = is_host(x) != is_host(y) ? (is_host(x) ? -1 : 1)
	        : is_host(x)             ? node_compare_hosts(x, y)
	                                 : 0;

	return d != 0 ? d : x->guid < y->guid ? -1 : x->guid > y->guid;
}

static int find_systems(struct api_call *c, struct systems *s)
{
	int ret = inventory_get(&c->thread->inventory, c->snap);

	if (ret != E_OK) {
		return ret;
	}
	s->v = c->thread->inventory;
	s->g = s->v->g;
	s->node = arena_array(c->arena, s->g->n_nodes + 1, sizeof(*s->node));
	s->system = arena_array(c->arena, s->g->n_nodes + 1, sizeof(*s->system));
	if (s->node == NULL || s->system == NULL) {
		return -ENOMEM;
	}
	s->n = 0;
	for (uint32_t i = 0; i < s->g->n_nodes; i++) {
		s->system[i] = GRAPH_NONE;
		if (!s->g->nodes[i].aggregation) {
			s->node[s->n++] = i;
		}
	}
	qsort_r(s->node, s->n, sizeof(*s->node), by_system, (void *)(uintptr_t)s->g);
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t node = s->node[i], before = i > 0 ? s->node[i - 1] : GRAPH_NONE;
		bool same = before != GRAPH_NONE &&
		            is_one_system(&s->g->nodes[before], &s->g->nodes[node]);

		s->system[node] = same ? s->system[before] : node;
	}
	return E_OK;
}

/* --- values ------------------------------------------------------------------------------ */

/* Length of the name of a system: a host is called by its first word. */
static size_t system_name_length(const struct node *n)
{
	return is_host(n) ? node_host_length(n) : strlen(node_name(n));
}

/* \param text  Of the arena; NULL: out of memory, which is no null of JSON. */
static json_t *made_text(const char *text)
{
	return text != NULL ? text_json(text) : NULL;
}

static json_t *system_name(const struct systems *s, struct arena *a, uint32_t node)
{
	const struct node *n = &s->g->nodes[node];

	return made_text(
		arena_printf(a, "%.*s", (int)system_name_length(n), node_name(n)));
}

static uint64_t system_guid(const struct systems *s, uint32_t node)
{
	return s->g->nodes[s->system[node]].guid;
}

static json_t *plain_guid(uint64_t guid)
{
	return json_sprintf("%016" PRIx64, guid);
}

static json_t *port_name(const struct port *p)
{
	return json_sprintf("%016" PRIx64 "_%u", p->guid, p->num);
}

/* How people call a port: "HCA-1/2" of a host, "20" of a switch. */
static json_t *port_label(const struct systems *s, struct arena *a, const struct port *p)
{
	const struct node *n = &s->g->nodes[p->node];
	const char *rest = node_name(n) + system_name_length(n);

	rest += strspn(rest, " \t");
	return made_text(*rest != '\0' ? arena_printf(a, "%s/%u", rest, p->num)
	                               : arena_printf(a, "%u", p->num));
}

static const char *logical_state(uint8_t state)
{
	switch (state) {
	case PORT_ACTIVE: return "Active";
	case PORT_ARMED: return "Armed";
	case PORT_INIT: return "Initialize";
	default: return "Down";
	}
}

static json_t *physical_state(uint8_t state)
{
	/* PortPhysicalState of PortInfo, in the words of the specification but for 5. */
	static const char *const names[] = {
		NULL,       "Sleep",   "Polling",        "Disabled",
		"Training", "Link Up", "Error Recovery", "Phy Test"
	};

	/* A device may say anything. */
	return state < sizeof(names) / sizeof(names[0]) && names[state] != NULL
	               ? json_string(names[state])
	               : json_null();
}

/* --- what a client wants ----------------------------------------------------------------- */

/* Is a node of the system that system= names? */
static bool fits_system(const struct systems *s, const char *text, uint32_t node)
{
	const struct node *n = &s->g->nodes[node];
	size_t len = system_name_length(n);
	uint64_t guid;

	if (text == NULL) {
		return true;
	}
	return (text_guid(text, &guid) == E_OK && guid == system_guid(s, node)) ||
	       (strlen(text) == len && strncasecmp(text, node_name(n), len) == 0);
}

static const char *role_of(const struct systems *s, const struct node *n)
{
	if (n->type != NODE_SWITCH) {
		return "endpoint";
	}
	return s->g->host_first[n->sw + 1] > s->g->host_first[n->sw] ? "tor" : "core";
}

/* Reads a parameter that is one of a few words, behind one another with '|'. */
static int read_word(struct api_call *c, const char *name, const char *words,
                     const char **ret_word)
{
	const char *text = api_param(c, name);

	*ret_word = text;
	for (const char *w = words; text != NULL; w += strcspn(w, "|") + 1) {
		size_t n = strcspn(w, "|");

		if (strlen(text) == n && strncmp(w, text, n) == 0) {
			return E_OK;
		}
		if (w[n] == '\0') {
			return problem_param(&c->problem, c->arena, E_UNKNOWN, name,
			                     "%s='%.100s': expected one of %s", name,
			                     text, words);
		}
	}
	return E_OK;
}

/* --- rows -------------------------------------------------------------------------------- */

static void end_list(struct body *b)
{
	body_write(b, "]\n", 2);
}

static const char *system_type(const struct node *n)
{
	return n->type == NODE_CA ? "host" : node_type_name(n->type);
}

static json_t *system_json(const struct systems *s, struct arena *a, uint32_t first)
{
	const struct node *n = &s->g->nodes[s->node[first]];
	json_t *ports = json_array();

	for (uint32_t i = first; i < s->n && s->system[s->node[i]] == s->node[first];
	     i++) {
		const struct node *m = &s->g->nodes[s->node[i]];

		for (unsigned k = 1; k <= m->n_ports; k++) {
			uint32_t port = graph_port(s->g, s->node[i], (uint8_t)k);

			if (port != GRAPH_NONE) {
				json_array_append_new(ports,
				                      port_name(&s->g->ports[port]));
			}
		}
	}
	/* clang-format off */
	return json_pack("{s:o, s:o, s:o, s:s, s:s, s:o}",
		"system_name", system_name(s, a, s->node[first]),
		"guid", plain_guid(n->guid),
		"system_guid", plain_guid(n->guid),
		"type", system_type(n),
		"role", role_of(s, n),
		"ports", ports);
	/* clang-format on */
}

int api_ufm_systems(struct api_call *c)
{
	struct systems s;
	const char *type, *role, *system = api_param(c, "system");
	int ret = find_systems(c, &s);

	if (ret == E_OK) {
		ret = read_word(c, "type", "host|switch|router", &type);
	}
	if (ret == E_OK) {
		ret = read_word(c, "role", "core|tor|endpoint", &role);
	}
	if (ret != E_OK) {
		return ret;
	}
	body_write(&c->body, "[", 1);
	for (uint32_t i = 0; i < s.n; i++) {
		const struct node *n = &s.g->nodes[s.node[i]];

		if (s.system[s.node[i]] == s.node[i] &&
		    (type == NULL || strcmp(type, system_type(n)) == 0) &&
		    (role == NULL || strcmp(role, role_of(&s, n)) == 0) &&
		    fits_system(&s, system, s.node[i])) {
			body_list_add(&c->body, system_json(&s, c->arena, i));
		}
	}
	end_list(&c->body);
	return E_OK;
}

static json_t *port_json(const struct systems *s, struct arena *a, uint32_t i)
{
	const struct port *p = &s->g->ports[i];
	const struct port *q = p->peer != GRAPH_NONE ? &s->g->ports[p->peer] : NULL;
	const struct inventory_port *more = &s->v->port[i];

	/* clang-format off */
	json_t *o = json_pack("{s:o, s:o, s:i, s:o, s:i, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o}",
		"name", port_name(p),
		"guid", plain_guid(p->guid),
		"number", p->num,
		"dname", port_label(s, a, p),
		"lid", (int)p->lid,
		"mtu", mtu_bytes(p->mtu),
		"logical_state", logical_state(p->state),
		"physical_state", physical_state(more->physical_state),
		"active_speed", q != NULL ? json_string(link_speed_name(p->speed)) : json_null(),
		"active_width", q != NULL ? json_string(link_width_name(p->width)) : json_null(),
		"systemID", plain_guid(system_guid(s, p->node)),
		"system_name", system_name(s, a, p->node),
		"node_description", text_json(node_name(&s->g->nodes[p->node])));

	if (o == NULL || q == NULL || s->system[q->node] == GRAPH_NONE) {
		return o;
	}
	json_t *peer = json_pack("{s:o, s:o, s:o, s:o}",
		"peer", port_name(q),
		"peer_node_name", system_name(s, a, q->node),
		"peer_node_description", text_json(node_name(&s->g->nodes[q->node])),
		"peer_port_dname", port_label(s, a, q));
	/* clang-format on */
	if (peer == NULL || json_object_update(o, peer) != 0) {
		json_decref(o);
		o = NULL;
	}
	json_decref(peer);
	return o;
}

int api_ufm_ports(struct api_call *c)
{
	struct systems s;
	const char *type, *active, *system = api_param(c, "system");
	int ret = find_systems(c, &s);

	if (ret == E_OK) {
		ret = read_word(c, "sys_type", "Computer|Switch", &type);
	}
	if (ret == E_OK) {
		ret = read_word(c, "active", "true|false", &active);
	}
	if (ret != E_OK) {
		return ret;
	}
	body_write(&c->body, "[", 1);
	for (uint32_t i = 0; i < s.g->n_ports; i++) {
		const struct port *p = &s.g->ports[i];
		bool computer = s.g->nodes[p->node].type == NODE_CA;
		bool is_switch = s.g->nodes[p->node].type == NODE_SWITCH;

		if (p->num == 0 || s.system[p->node] == GRAPH_NONE ||
		    (type != NULL &&
		     !(strcmp(type, "Switch") == 0 ? is_switch : computer)) ||
		    (active != NULL &&
		     (strcmp(active, "true") == 0) != (p->state == PORT_ACTIVE)) ||
		    !fits_system(&s, system, p->node)) {
			continue;
		}
		body_list_add(&c->body, port_json(&s, c->arena, i));
	}
	end_list(&c->body);
	return E_OK;
}

static json_t *link_json(const struct systems *s, struct arena *a, uint32_t i)
{
	const struct port *p = &s->g->ports[i], *q = &s->g->ports[p->peer];
	bool p_first = p->guid != q->guid ? p->guid < q->guid : p->num < q->num;
	const struct port *low = p_first ? p : q, *high = p_first ? q : p;
	bool good =
		inventory_link_state(s->v, i) == PORT_ACTIVE && !s->v->port[i].degraded;

	/* clang-format off */
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:[]}",
		"source_guid", plain_guid(low->guid),
		"source_port", json_sprintf("%u", low->num),
		"destination_guid", plain_guid(high->guid),
		"destination_port", json_sprintf("%u", high->num),
		"source_port_dname", port_label(s, a, low),
		"destination_port_dname", port_label(s, a, high),
		"width", json_sprintf("IB_%s", link_width_name(low->width)),
		"severity", good ? "Info" : "Warning",
		"name", json_sprintf("%016" PRIx64 "_%u:%016" PRIx64 "_%u", low->guid, low->num, high->guid, high->num),
		"capabilities");
	/* clang-format on */
}

int api_ufm_links(struct api_call *c)
{
	struct systems s;
	const char *system = api_param(c, "system");
	int ret = find_systems(c, &s);

	if (ret != E_OK) {
		return ret;
	}
	body_write(&c->body, "[", 1);
	for (uint32_t i = 0; i < s.g->n_links; i++) {
		const struct port *p = &s.g->ports[s.v->link[i]];
		uint32_t a = p->node, b = s.g->ports[p->peer].node;

		if (s.system[a] != GRAPH_NONE && s.system[b] != GRAPH_NONE &&
		    (fits_system(&s, system, a) || fits_system(&s, system, b))) {
			body_list_add(&c->body, link_json(&s, c->arena, s.v->link[i]));
		}
	}
	end_list(&c->body);
	return E_OK;
}
