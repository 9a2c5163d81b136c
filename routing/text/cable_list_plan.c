/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/text/cable_list.h"
#include "routing/text/topofile_int.h"

enum { NEAR_MAX = 3, NAME_BYTES = 128, CA_PORTS = 2 };

struct named {
	const char *name;
	uint32_t node;
};

/* A name that no node of the fabric has. */
struct stranger {
	const char *name;
	uint32_t node; /* of the plan */
	uint8_t ports; /* the highest that a row names */
	unsigned rows;
};

struct planner {
	const struct graph *fabric;
	struct graph *plan;
	struct arena *arena;
	struct topo_problems problems;
	struct named *by_name; /* [fabric->n_nodes] in any case, then by index */
	struct named *by_host; /* [n_hosts] CAs by the first word of their names, then by name */
	uint32_t n_hosts;
	uint32_t *node;        /* [fabric->n_nodes] of the plan; GRAPH_NONE: not in it */
	struct stranger *stranger; /* [n_strangers] by name */
	uint32_t n_strangers;
};

/* An end of a row. */
struct place {
	uint32_t node; /* of the fabric; GRAPH_NONE: a stranger's */
	struct stranger *stranger;
	unsigned port;
	uint32_t same; /* how many nodes have the name, if not one */
};

/* --- names -------------------------------------------------------------------------------- */

static int by_name(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;
	int d = strcasecmp(a->name, b->name);

	return d != 0 ? d : (a->node > b->node) - (a->node < b->node);
}

static int compare_host(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int d = strncasecmp(a, b, a_len < b_len ? a_len : b_len);

	return d != 0 ? d : (a_len > b_len) - (a_len < b_len);
}

static size_t host_length(const char *name)
{
	return strcspn(name, " \t");
}

static int by_host(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;
	int d = compare_host(a->name, host_length(a->name), b->name, host_length(b->name));

	d = d != 0 ? d : strverscmp(a->name, b->name);
	return d != 0 ? d : (a->node > b->node) - (a->node < b->node);
}

static int list_names(struct planner *p)
{
	const struct graph *g = p->fabric;

	p->by_name = arena_array(p->arena, g->n_nodes + 1, sizeof(*p->by_name));
	p->by_host = arena_array(p->arena, g->n_nodes + 1, sizeof(*p->by_host));
	p->node = arena_array(p->arena, g->n_nodes + 1, sizeof(*p->node));
	if (!p->by_name || !p->by_host || !p->node) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		p->by_name[i] = (struct named){ node_name(&g->nodes[i]), i };
		p->node[i] = GRAPH_NONE;
		if (g->nodes[i].type == NODE_CA && !g->nodes[i].aggregation) {
			p->by_host[p->n_hosts++] = p->by_name[i];
		}
	}
	qsort(p->by_name, g->n_nodes, sizeof(*p->by_name), by_name);
	qsort(p->by_host, p->n_hosts, sizeof(*p->by_host), by_host);
	return E_OK;
}

/* First entry that is not below a key. */
static uint32_t lower_bound(const struct named *list, uint32_t n, const char *key,
                            size_t len, bool host)
{
	uint32_t low = 0;

	while (n > 0) {
		uint32_t half = n / 2;
		const char *name = list[low + half].name;
		size_t name_len = host ? host_length(name) : strlen(name);

		if (compare_host(name, name_len, key, len) < 0) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

/* The node with a name in any case, or, of several, the one that is written so. \return How many. */
static uint32_t find_name(const struct planner *p, const char *name, uint32_t *ret_node)
{
	size_t len = strlen(name);
	uint32_t n = 0, exact = 0, node = GRAPH_NONE;

	for (uint32_t i = lower_bound(p->by_name, p->fabric->n_nodes, name, len, false);
	     i < p->fabric->n_nodes && strcasecmp(p->by_name[i].name, name) == 0; i++) {
		bool same = strcmp(p->by_name[i].name, name) == 0;

		exact += same;
		n++;
		node = same || node == GRAPH_NONE ? p->by_name[i].node : node;
	}
	*ret_node = node;
	return exact != 0 ? exact : n;
}

/* The number behind a word, "U2", "HCA-2"; \return 0: it is another word. */
static unsigned number_behind(const char *text, const char *word)
{
	size_t len = strlen(word);
	uint64_t n;

	return strncasecmp(text, word, len) == 0 && isdigit((unsigned char)text[len]) &&
	                       text_u64(text + len, 254, &n) == E_OK
	               ? (unsigned)n
	               : 0;
}

/* Cuts "/P1" and "/U2" or " HCA-2" off a name. \return The adapter, counted from 1; 0: not said. */
static unsigned cut_adapter(char *name, unsigned *ret_port)
{
	char *at = strrchr(name, '/');
	unsigned unit = 0;

	if (at != NULL && (*ret_port = number_behind(at + 1, "P")) != 0) {
		*at = '\0';
		at = strrchr(name, '/');
	}
	if (at != NULL && (unit = number_behind(at + 1, "U")) != 0) {
		*at = '\0';
		return unit;
	}
	at = strpbrk(name, " \t");
	if (at != NULL && (unit = number_behind(at + 1 + strspn(at + 1, " \t"), "HCA-")) != 0) {
		*at = '\0';
	}
	return unit;
}

/* The adapter of a host. \return How many fit. */
static uint32_t find_adapter(const struct planner *p, const char *text, uint32_t *ret_node,
                             unsigned *ret_port)
{
	char name[NAME_BYTES];
	uint32_t first, n = 0;
	unsigned unit;

	if (snprintf(name, sizeof(name), "%s", text) >= (int)sizeof(name)) {
		return 0;
	}
	unit = cut_adapter(name, ret_port);
	if (*name == '\0' || strpbrk(name, " \t") != NULL) {
		return 0;
	}
	first = lower_bound(p->by_host, p->n_hosts, name, strlen(name), true);
	while (first + n < p->n_hosts &&
	       compare_host(p->by_host[first + n].name,
	                    host_length(p->by_host[first + n].name), name,
	                    strlen(name)) == 0) {
		n++;
	}
	if (unit > n) {
		return 0;
	}
	*ret_node = n != 0 ? p->by_host[first + (unit != 0 ? unit - 1 : 0)].node : GRAPH_NONE;
	return unit != 0 ? 1 : n;
}

/* --- what is wrong with a name ------------------------------------------------------------ */

struct near_name {
	const char *name;
	unsigned distance;
};

/* " near are a, b" */
static const char *near_names(const struct planner *p, const char *name)
{
	struct near_name best[NEAR_MAX + 1];
	unsigned n = 0, limit = (unsigned)strlen(name) / 3 + 1;
	const char *text = "";

	for (uint32_t i = 0; i < p->fabric->n_nodes; i++) {
		struct near_name x = { p->by_name[i].name, 0 };
		unsigned at = n;

		x.distance = text_distance(name, x.name, limit);
		if (x.distance > limit || *x.name == '\0') {
			continue;
		}
		while (at > 0 && best[at - 1].distance > x.distance) {
			best[at] = best[at - 1];
			at--;
		}
		best[at] = x;
		n += n < NEAR_MAX;
	}
	for (unsigned i = 0; text != NULL && i < n; i++) {
		text = arena_printf(p->arena, "%s%s'%s'", text, i == 0 ? "; near: " : ", ",
		                    best[i].name);
	}
	return text != NULL ? text : "";
}

/* The far end of the row's other end in the fabric, as "; 'leaf':5 leads to 'x':1". */
static const char *other_end(const struct planner *p, const struct place *other)
{
	const struct graph *g = p->fabric;
	uint32_t port = other->node != GRAPH_NONE ? graph_port(g, other->node, other->port)
	                                          : GRAPH_NONE;
	const char *text;

	if (port == GRAPH_NONE || other->port == 0 || g->ports[port].peer == GRAPH_NONE) {
		return "";
	}
	const struct port *peer = &g->ports[g->ports[port].peer];
	text = arena_printf(p->arena, "; the other end, '%s' port %u, leads to '%s' port %u",
	                    node_name(&g->nodes[other->node]), other->port,
	                    node_name(&g->nodes[peer->node]), peer->num);
	return text != NULL ? text : "";
}

/* --- the ends of a row -------------------------------------------------------------------- */

static int by_stranger(const void *va, const void *vb)
{
	const struct stranger *a = va, *b = vb;

	return strcasecmp(a->name, b->name);
}

/* The port of a host that has one, or one cable. */
static unsigned only_port(const struct graph *g, uint32_t node)
{
	const struct node *n = &g->nodes[node];
	unsigned found = 0, cabled = 0;

	if (n->type == NODE_SWITCH) {
		return 0;
	}
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (g->ports[n->first_port + i].peer != GRAPH_NONE) {
			found = i;
			cabled++;
		}
	}
	return cabled == 1 ? found : n->n_ports == 1 ? 1 : 0;
}

static void find_place(struct planner *p, const struct cable_list_end *end,
                       struct place *ret_place)
{
	struct place x = { .node = GRAPH_NONE };
	unsigned named_port = 0;
	uint64_t guid;
	uint32_t n;

	if (strncasecmp(end->node, "0x", 2) == 0 && text_guid(end->node, &guid) == E_OK) {
		x.node = graph_node_by_guid(p->fabric, guid);
		n = x.node != GRAPH_NONE;
	} else {
		n = find_name(p, end->node, &x.node);
	}
	if (n == 0) {
		n = find_adapter(p, end->node, &x.node, &named_port);
	}
	if (n != 1) {
		x.node = GRAPH_NONE;
		x.same = n;
	}
	x.port = *end->port != '\0' ? cable_list_port(end->port) : named_port;
	if (*end->port == '\0' && x.port == 0 && x.node != GRAPH_NONE) {
		x.port = only_port(p->fabric, x.node);
	}
	*ret_place = x;
}

/* \return Can the end be in the plan? A stranger can. */
static bool check_place(struct planner *p, const struct cable_list_row *row, unsigned end,
                        const struct place *place)
{
	const struct cable_list_end *e = &row->end[end];
	const struct place *x = &place[end];

	if (x->same > 1) {
		topo_warning(&p->problems, row->line,
		             "the row is skipped, because %u nodes fit the name '%s'%s; name the node by its GUID, or the adapter",
		             x->same, e->node, other_end(p, &place[!end]));
		return false;
	}
	if (x->port == 0) {
		topo_warning(&p->problems, row->line,
		             *e->port != '\0'
		                     ? "the row is skipped, because '%s' of '%s' is no port; expected a number, p1, swp1, 1/1 or 1/1/1"
		                     : "the row is skipped, because there is no port%s of '%s'",
		             e->port, e->node);
		return false;
	}
	if (x->node != GRAPH_NONE && x->port > p->fabric->nodes[x->node].n_ports) {
		topo_warning(&p->problems, row->line,
		             "the row is skipped, because '%s' has %u ports, and none %u",
		             e->node, p->fabric->nodes[x->node].n_ports, x->port);
		return false;
	}
	return true;
}

/* --- nodes of the plan -------------------------------------------------------------------- */

static int add_found(struct planner *p, uint32_t node)
{
	const struct node *n = &p->fabric->nodes[node];
	int ret = E_OK;

	if (p->node[node] != GRAPH_NONE) {
		return E_OK;
	}
	ret = graph_add_node(p->plan, n->type, n->guid, n->n_ports, n->description, NULL,
	                     &p->node[node]);
	if (ret != E_OK) {
		return ret;
	}
	struct node *copy = &p->plan->nodes[p->node[node]];

	copy->name = n->name;
	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct port *to = &p->plan->ports[copy->first_port + i];
		const struct port *from = &p->fabric->ports[n->first_port + i];

		to->guid = from->guid;
		to->width = from->width;
		to->speed = from->speed;
	}
	return E_OK;
}

/* A GUID that no node of the fabric has. */
static uint64_t free_guid(const struct planner *p, uint32_t i)
{
	uint64_t guid = UINT64_C(0xfffe000000000000) + UINT64_C(0x100) * i;

	while (graph_node_by_guid(p->fabric, guid) != GRAPH_NONE) {
		guid += UINT64_C(0x1000000000);
	}
	return guid;
}

/* A switch, if it has more ports than adapters have. */
static int add_stranger(struct planner *p, struct stranger *s)
{
	enum node_type type = s->ports > CA_PORTS || s->rows > CA_PORTS ? NODE_SWITCH
	                                                               : NODE_CA;

	return graph_add_node(p->plan, type,
	                      free_guid(p, (uint32_t)(s - p->stranger)), s->ports, s->name,
	                      NULL, &s->node);
}

static int list_strangers(struct planner *p, const struct cable_list *l,
                          struct place (*place)[2])
{
	uint32_t n = 0;

	p->stranger = arena_array(p->arena, 2 * (size_t)l->n + 1, sizeof(*p->stranger));
	if (p->stranger == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < 2 * l->n; i++) {
		if (place[i / 2][i % 2].port != 0 && place[i / 2][i % 2].node == GRAPH_NONE) {
			p->stranger[n++].name = l->row[i / 2].end[i % 2].node;
		}
	}
	qsort(p->stranger, n, sizeof(*p->stranger), by_stranger);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || strcasecmp(p->stranger[i].name,
		                         p->stranger[p->n_strangers - 1].name) != 0) {
			p->stranger[p->n_strangers++] = p->stranger[i];
		}
	}
	return E_OK;
}

static void count_stranger(struct planner *p, const struct cable_list_row *row,
                           unsigned end, struct place *place)
{
	const struct stranger key = { .name = row->end[end].node };
	struct stranger *s = bsearch(&key, p->stranger, p->n_strangers, sizeof(key),
	                             by_stranger);

	place[end].stranger = s;
	if (s->rows++ == 0) {
		topo_warning(&p->problems, row->line, "no node is '%s'%s%s",
		             row->end[end].node, near_names(p, row->end[end].node),
		             other_end(p, &place[!end]));
	}
	s->ports = place[end].port > s->ports ? (uint8_t)place[end].port : s->ports;
}

/* --- cables ------------------------------------------------------------------------------- */

static uint32_t plan_port(const struct planner *p, const struct place *x)
{
	return graph_port(p->plan,
	                  x->stranger != NULL ? x->stranger->node : p->node[x->node],
	                  x->port);
}

static int connect_rows(struct planner *p, const struct cable_list *l,
                        struct place (*place)[2])
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (place[i][0].port == 0) {
			continue;
		}
		uint32_t a = plan_port(p, &place[i][0]), b = plan_port(p, &place[i][1]);
		int ret = a == b || p->plan->ports[a].peer == b
		                  ? E_OK /* a row that is there twice */
		                  : graph_connect(p->plan, a, b);

		if (ret == E_DUPLICATE) {
			topo_warning(&p->problems, l->row[i].line,
			             "the row is skipped, because an earlier one has '%s' port %u or '%s' port %u",
			             l->row[i].end[0].node, place[i][0].port,
			             l->row[i].end[1].node, place[i][1].port);
		} else if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

/* A cable of the fabric, where both ends are in the plan and free. */
static int connect_found(struct planner *p, uint32_t port)
{
	const struct port *from = &p->fabric->ports[port];
	const struct port *to = &p->fabric->ports[from->peer];
	uint32_t x = p->node[from->node], y = p->node[to->node], a, b;

	if (x == GRAPH_NONE || y == GRAPH_NONE) {
		return E_OK;
	}
	a = graph_port(p->plan, x, from->num);
	b = graph_port(p->plan, y, to->num);
	return p->plan->ports[a].peer == GRAPH_NONE && p->plan->ports[b].peer == GRAPH_NONE
	               ? graph_connect(p->plan, a, b)
	               : E_OK;
}

static bool is_cabled(const struct graph *g, const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (g->ports[n->first_port + i].peer != GRAPH_NONE) {
			return true;
		}
	}
	return false;
}

/* Parts that a list cannot know are as found: nodes without a cable, aggregation nodes, and hosts where
 * it names none. */
static int keep_found(struct planner *p, bool names_hosts)
{
	const struct graph *g = p->fabric;
	int ret = E_OK;

	for (uint32_t i = 0; ret == E_OK && i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];
		bool host = n->type != NODE_SWITCH && (n->aggregation || !names_hosts);

		if (p->node[i] != GRAPH_NONE || (!host && is_cabled(g, n))) {
			continue;
		}
		ret = add_found(p, i);
		for (unsigned k = 1; host && ret == E_OK && k <= n->n_ports; k++) {
			if (g->ports[n->first_port + k].peer != GRAPH_NONE) {
				ret = connect_found(p, n->first_port + k);
			}
		}
	}
	return ret;
}

/* --- together ----------------------------------------------------------------------------- */

/* Ends of all rows; port 0 at the first end: the row is not in the plan. */
static int find_places(struct planner *p, const struct cable_list *l,
                       struct place (*place)[2], bool *ret_names_hosts, uint32_t *ret_n)
{
	bool names_hosts = false;
	uint32_t n = 0;
	int ret;

	for (uint32_t i = 0; i < l->n; i++) {
		find_place(p, &l->row[i].end[0], &place[i][0]);
		find_place(p, &l->row[i].end[1], &place[i][1]);
		bool good = check_place(p, &l->row[i], 0, place[i]) &&
		            check_place(p, &l->row[i], 1, place[i]);

		place[i][0].port = good ? place[i][0].port : 0;
		place[i][1].port = good ? place[i][1].port : 0;
		n += good;
	}
	ret = list_strangers(p, l, place);
	for (uint32_t i = 0; ret == E_OK && i < 2 * l->n; i++) {
		struct place *x = &place[i / 2][i % 2];

		if (x->port != 0 && x->node == GRAPH_NONE) {
			count_stranger(p, &l->row[i / 2], i % 2, place[i / 2]);
		} else if (x->port != 0) {
			names_hosts |= p->fabric->nodes[x->node].type != NODE_SWITCH;
			ret = add_found(p, x->node);
		}
	}
	for (uint32_t i = 0; ret == E_OK && i < p->n_strangers; i++) {
		ret = add_stranger(p, &p->stranger[i]);
		names_hosts |= ret == E_OK &&
		               p->plan->nodes[p->stranger[i].node].type != NODE_SWITCH;
	}
	*ret_names_hosts = names_hosts;
	*ret_n = n;
	return ret;
}

int cable_list_plan(const struct cable_list *l, const char *name,
                    const struct graph *fabric, struct arena *a, struct diags *d,
                    struct graph **ret_plan)
{
	struct planner p = { .fabric = fabric, .arena = a, .plan = graph_new(a) };
	struct place(*place)[2] = arena_array(a, (size_t)l->n + 1, sizeof(*place));
	bool names_hosts = false;
	uint32_t n = 0;
	int ret = p.plan != NULL && place != NULL ? list_names(&p) : -ENOMEM;

	topo_problems_init(&p.problems, d, name, false);
	if (ret == E_OK) {
		ret = find_places(&p, l, place, &names_hosts, &n);
	}
	if (ret == E_OK) {
		ret = connect_rows(&p, l, place);
	}
	topo_problems_end(&p.problems);
	if (ret == E_OK && n == 0) {
		diag_add(d, DIAG_ERROR, name, 0, "no row of this list is a cable");
		return E_SYNTAX;
	}
	if (ret == E_OK) {
		ret = keep_found(&p, names_hosts);
	}
	if (ret == E_OK) {
		ret = graph_freeze(p.plan, d);
	}
	if (ret == E_OK) {
		*ret_plan = p.plan;
	}
	return ret;
}
