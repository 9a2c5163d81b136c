/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/inventory/topology_json.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/view/body.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/json_text.h"
#include "gateway/inventory/topology.h"
#include "routing/graph/node_text.h"

enum { FOLD_ABOVE = 100 }; /* switches; up to here each one is shown */

/* A switch, or a group of them. */
struct vertex {
	uint32_t sw;    /* the lowest one */
	uint32_t group; /* GRAPH_NONE: the switch alone */
	uint16_t tier;
	const char *name;
};

/* Cables, by what they join. */
struct cable {
	uint32_t a, b; /* vertices, a < b */
	uint32_t port; /* at a */
};

struct group_sum {
	uint32_t switches, hosts, links, not_active, degraded, max_routes;
};

struct map {
	const struct inventory *v;
	const struct graph *g;
	const struct topology *t;
	const struct topology_view *view;
	bool folded;
	struct vertex *vertex;
	uint32_t n_vertices;
	uint32_t *vertex_of;   /* [n_switches] GRAPH_NONE: not shown */
	struct group_sum *sum; /* [n_groups] */
	uint32_t *of_tier;     /* [n_groups][n_tiers] switches */
	struct cable *cable;
	uint32_t n_cables;
	struct body *b;
};

/* --- what is shown --------------------------------------------------------------------- */

static const char *name_of(const struct map *m, uint32_t sw)
{
	return node_name(&m->g->nodes[m->g->switches[sw]]);
}

/* Does a name come before another, with numbers in them as numbers? */
static int compare_names(const char *a, const char *b)
{
	while (*a != '\0' && *b != '\0') {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			char *end_a, *end_b;
			unsigned long long x = strtoull(a, &end_a, 10);
			unsigned long long y = strtoull(b, &end_b, 10);

			if (x != y) {
				return x < y ? -1 : 1;
			}
			a = end_a;
			b = end_b;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	return *a != '\0' ? 1 : *b != '\0' ? -1 : 0;
}

static int compare_vertices(const void *x, const void *y)
{
	const struct vertex *a = x, *b = y;

	if ((a->group != GRAPH_NONE) != (b->group != GRAPH_NONE)) {
		return a->group != GRAPH_NONE ? -1 : 1;
	}
	if (a->group != b->group) {
		return a->group < b->group ? -1 : 1;
	}
	if (a->tier != b->tier) {
		return a->tier < b->tier ? -1 : 1;
	}
	int order = compare_names(a->name, b->name);
	return order != 0 ? order : a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* Is a switch shown for itself? */
static bool stands_alone(const struct map *m, uint32_t s)
{
	return !m->folded || m->t->group[s] == GRAPH_NONE ||
	       m->t->group[s] == m->view->group;
}

/* Marks the switches of a view of one group: its own, and those that are cabled to it. */
static void mark_shown(const struct map *m, bool *shown)
{
	const struct graph *g = m->g;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		shown[s] |=
			m->view->group == GRAPH_NONE || m->t->group[s] == m->view->group;
		if (m->view->group == GRAPH_NONE || m->t->group[s] != m->view->group) {
			continue;
		}
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			shown[g->adj[i].to] = true;
		}
	}
}

static int find_vertices(struct map *m, struct arena *tmp)
{
	const uint32_t n = m->g->n_switches;
	bool *shown = arena_array(tmp, n, sizeof(*shown));
	bool *has_vertex = arena_array(tmp, m->t->n_groups, sizeof(*has_vertex));
	uint32_t *of_group = arena_array(tmp, m->t->n_groups, sizeof(*of_group));

	m->vertex = arena_array(tmp, n, sizeof(*m->vertex));
	m->vertex_of = arena_array(tmp, n, sizeof(*m->vertex_of));
	if (shown == NULL || has_vertex == NULL || of_group == NULL ||
	    m->vertex == NULL || m->vertex_of == NULL) {
		return -ENOMEM;
	}
	mark_shown(m, shown);
	for (uint32_t s = 0; s < n; s++) {
		uint32_t group = m->t->group[s];
		bool alone = stands_alone(m, s);

		if (!shown[s] || (!alone && has_vertex[group])) {
			continue;
		}
		if (!alone) {
			has_vertex[group] = true;
		}
		m->vertex[m->n_vertices++] =
			(struct vertex){ s, alone ? GRAPH_NONE : group, m->t->tier[s],
			                 name_of(m, s) };
	}
	qsort(m->vertex, m->n_vertices, sizeof(*m->vertex), compare_vertices);
	for (uint32_t s = 0; s < n; s++) {
		m->vertex_of[s] = GRAPH_NONE;
	}
	for (uint32_t i = 0; i < m->n_vertices; i++) {
		if (m->vertex[i].group == GRAPH_NONE) {
			m->vertex_of[m->vertex[i].sw] = i;
		} else {
			of_group[m->vertex[i].group] = i;
		}
	}
	for (uint32_t s = 0; s < n; s++) {
		if (shown[s] && !stands_alone(m, s)) {
			m->vertex_of[s] = of_group[m->t->group[s]];
		}
	}
	return E_OK;
}

/* --- cables ---------------------------------------------------------------------------- */

static uint32_t routes_on(const struct inventory *v, uint32_t port)
{
	return v->port[port].routes != INVENTORY_NO_ROUTES ? v->port[port].routes : 0;
}

/* A cable inside a group. */
static void count_inside(struct map *m, uint32_t group, uint32_t port)
{
	struct group_sum *sum = &m->sum[group];
	uint32_t there = routes_on(m->v, port);
	uint32_t back = routes_on(m->v, m->g->ports[port].peer);
	uint32_t most = there > back ? there : back;

	sum->links++;
	sum->not_active += inventory_link_state(m->v, port) != PORT_ACTIVE;
	sum->degraded += m->v->port[port].degraded;
	sum->max_routes = most > sum->max_routes ? most : sum->max_routes;
}

static int compare_cables(const void *x, const void *y)
{
	const struct cable *a = x, *b = y;

	if (a->a != b->a) {
		return a->a < b->a ? -1 : 1;
	}
	return a->b != b->b ? (a->b < b->b ? -1 : 1) : a->port < b->port ? -1 : 1;
}

static int find_cables(struct map *m, struct arena *tmp)
{
	const struct graph *g = m->g;

	m->cable = arena_array(tmp, g->n_links, sizeof(*m->cable));
	if (m->cable == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_links; i++) {
		uint32_t p = m->v->link[i], q = g->ports[p].peer;
		uint32_t a = g->nodes[g->ports[p].node].sw;
		uint32_t b = g->nodes[g->ports[q].node].sw;

		if (a == GRAPH_NONE || b == GRAPH_NONE || a == b) {
			continue;
		}
		if (m->t->group[a] == m->t->group[b] && m->t->group[a] != GRAPH_NONE) {
			count_inside(m, m->t->group[a], p);
		}
		a = m->vertex_of[a];
		b = m->vertex_of[b];
		if (a == GRAPH_NONE || b == GRAPH_NONE || a == b) {
			continue;
		}
		m->cable[m->n_cables++] =
			a < b ? (struct cable){ a, b, p } : (struct cable){ b, a, q };
	}
	qsort(m->cable, m->n_cables, sizeof(*m->cable), compare_cables);
	return E_OK;
}

static int count_switches(struct map *m, struct arena *tmp)
{
	m->sum = arena_array(tmp, m->t->n_groups, sizeof(*m->sum));
	m->of_tier = arena_array(tmp, (size_t)m->t->n_groups * m->t->n_tiers,
	                         sizeof(*m->of_tier));
	if (m->sum == NULL || m->of_tier == NULL) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < m->g->n_switches; s++) {
		uint32_t group = m->t->group[s];

		if (group == GRAPH_NONE) {
			continue;
		}
		m->sum[group].switches++;
		m->sum[group].hosts += m->g->host_first[s + 1] - m->g->host_first[s];
		if (m->t->tier[s] < m->t->n_tiers) {
			m->of_tier[(size_t)group * m->t->n_tiers + m->t->tier[s]]++;
		}
	}
	return E_OK;
}

/* --- writing --------------------------------------------------------------------------- */

static void write_tiers(struct map *m)
{
	body_printf(m->b, ",\"tiers\":[");
	for (uint16_t tier = 0; tier < m->t->n_tiers; tier++) {
		uint32_t switches = 0, hosts = 0;

		for (uint32_t s = 0; s < m->g->n_switches; s++) {
			if (m->t->tier[s] == tier || !m->t->tree) {
				switches++;
				hosts += m->g->host_first[s + 1] - m->g->host_first[s];
			}
		}
		body_printf(m->b, "%s{\"tier\":%u,\"switches\":%u,\"hosts\":%u}",
		            tier > 0 ? "," : "", tier, switches, hosts);
	}
	body_printf(m->b, "]");
}

static void write_groups(struct map *m)
{
	body_printf(m->b, ",\"groups\":[");
	for (uint32_t i = 0; i < m->t->n_groups; i++) {
		const struct group_sum *s = &m->sum[i];

		body_printf(m->b,
		            "%s{\"group\":%u,\"switches\":%u,\"hosts\":%u,\"tiers\":[",
		            i > 0 ? "," : "", i, s->switches, s->hosts);
		for (unsigned k = 0; k < m->t->n_tiers; k++) {
			body_printf(m->b, "%s%u", k > 0 ? "," : "",
			            m->of_tier[(size_t)i * m->t->n_tiers + k]);
		}
		body_printf(
			m->b,
			"],\"links\":%u,\"not_active\":%u,\"degraded\":%u,\"max_routes\":%u}",
			s->links, s->not_active, s->degraded, s->max_routes);
	}
	body_printf(m->b, "]");
}

static void write_vertex(struct map *m, const struct vertex *x)
{
	const struct graph *g = m->g;
	const struct inventory_node *more = &m->v->node[g->switches[x->sw]];

	if (x->group != GRAPH_NONE) {
		body_printf(m->b, "{\"type\":\"group\",\"group\":%u,\"hosts\":%u}",
		            x->group, m->sum[x->group].hosts);
		return;
	}
	body_printf(m->b, "{\"type\":\"switch\",\"guid\":\"0x%016llx\",\"name\":%s,",
	            (unsigned long long)g->nodes[g->switches[x->sw]].guid, more->json);
	if (m->t->group[x->sw] == GRAPH_NONE) {
		body_printf(m->b, "\"group\":null,");
	} else {
		body_printf(m->b, "\"group\":%u,", m->t->group[x->sw]);
	}
	if (x->tier == TOPOLOGY_NO_TIER || !m->t->tree) {
		body_printf(m->b, "\"tier\":null,");
	} else {
		body_printf(m->b, "\"tier\":%u,", x->tier);
	}
	body_printf(m->b, "\"hosts\":%u}",
	            g->host_first[x->sw + 1] - g->host_first[x->sw]);
}

static void write_vertices(struct map *m)
{
	body_printf(m->b, ",\"vertices\":[");
	for (uint32_t i = 0; i < m->n_vertices; i++) {
		body_write(m->b, ",", i > 0);
		write_vertex(m, &m->vertex[i]);
	}
	body_printf(m->b, "]");
}

enum { BUNDLE_COLUMNS = 8 };

/* Numbers in brackets. */
static void write_row(struct body *b, const uint64_t *number, unsigned n)
{
	char *p = body_room(b, n * (JSON_NUMBER_BYTES + 1U) + 2);

	if (p == NULL) {
		return;
	}
	*p++ = '[';
	for (unsigned i = 0; i < n; i++) {
		if (i > 0) {
			*p++ = ',';
		}
		p = json_put_number(p, number[i]);
	}
	*p++ = ']';
	b->len = (size_t)(p - b->data);
}

/* The cables between two vertices; returns behind them. */
static uint32_t write_bundle(struct map *m, uint32_t i)
{
	const struct cable *first = &m->cable[i];
	uint64_t row[BUNDLE_COLUMNS] = { first->a, first->b };

	for (; i < m->n_cables && m->cable[i].a == first->a && m->cable[i].b == first->b;
	     i++) {
		uint32_t p = m->cable[i].port;
		uint32_t there = routes_on(m->v, p);
		uint32_t back = routes_on(m->v, m->g->ports[p].peer);

		row[2]++;
		row[3] += inventory_link_state(m->v, p) != PORT_ACTIVE;
		row[4] += m->v->port[p].degraded;
		row[5] = there > row[5] ? there : row[5];
		row[6] = back > row[6] ? back : row[6];
		row[7] += rate_speed(m->v->port[p].rate) / 10;
	}
	write_row(m->b, row, BUNDLE_COLUMNS);
	return i;
}

static void write_bundles(struct map *m)
{
	body_printf(
		m->b,
		",\"bundle_columns\":[\"a\",\"b\",\"cables\",\"not_active\",\"degraded\",\"max_routes_from_a\",\"max_routes_from_b\",\"rate_gbps\"],\"bundles\":[");
	for (uint32_t i = 0; i < m->n_cables;) {
		body_write(m->b, ",", i > 0);
		i = write_bundle(m, i);
	}
	body_printf(m->b, "]");
}

static void write_hosts(struct map *m)
{
	bool some = false;

	body_printf(m->b, ",\"hosts\":[");
	for (uint32_t s = 0; s < m->g->n_switches; s++) {
		uint32_t x = m->vertex_of[s];

		if (x == GRAPH_NONE || m->vertex[x].group != GRAPH_NONE) {
			continue;
		}
		for (uint32_t i = m->g->host_first[s]; i < m->g->host_first[s + 1]; i++) {
			const uint32_t p = m->g->hosts[i];
			const struct port *host = &m->g->ports[p];

			body_printf(
				m->b,
				"%s{\"guid\":\"0x%016llx\",\"name\":%s,\"port\":%u,\"vertex\":%u,\"switch_port\":%u,\"state\":\"%s\",\"degraded\":%s}",
				some ? "," : "",
				(unsigned long long)m->g->nodes[host->node].guid,
				m->v->node[host->node].json, host->num, x,
				m->g->ports[host->peer].num,
				port_state_name(inventory_link_state(m->v, p)),
				m->v->port[p].degraded ? "true" : "false");
			some = true;
		}
	}
	body_printf(m->b, "]");
}

int topology_write(struct body *b, const struct inventory *v,
                   const struct topology_view *view, json_t *head, struct arena *tmp)
{
	struct map m = { .v = v, .g = v->g, .t = v->shape, .view = view, .b = b };

	m.folded = !view->switches && m.t->n_groups > 1 &&
	           (view->group != GRAPH_NONE || m.g->n_switches > FOLD_ABOVE);
	int ret = find_vertices(&m, tmp);
	if (ret == E_OK) {
		ret = count_switches(&m, tmp);
	}
	if (ret == E_OK) {
		ret = find_cables(&m, tmp);
	}
	if (ret != E_OK) {
		json_decref(head);
		return ret;
	}
	body_value(b, head);
	b->len -= !b->failed; /* the closing brace */
	body_printf(
		b,
		",\"kind\":\"%s\",\"folded\":%s,\"counts\":{\"switches\":%u,\"hosts\":%u,\"links\":%u}",
		m.t->tree ? "tree" : "matrix", m.folded ? "true" : "false",
		m.g->n_switches, m.g->n_hosts, m.g->n_links);
	write_tiers(&m);
	write_groups(&m);
	write_vertices(&m);
	write_bundles(&m);
	if (view->hosts) {
		write_hosts(&m);
	}
	body_printf(b, "}\n");
	return E_OK;
}
