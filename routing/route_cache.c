/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/route_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

/* A cable's end and the LIDs of the port, as they were. */
struct old_port {
	uint32_t peer; /* index in ports, GRAPH_NONE: none */
	uint32_t node;
	struct lid_range range;
	uint8_t width, speed, vls;
};

struct old_node {
	uint64_t guid;
	uint32_t first_port, sw; /* sw: GRAPH_NONE for CA and router */
	uint8_t type, n_ports;
	bool leaf;
};

struct route_cache {
	struct arena *a; /* of what follows; NULL: nothing is held */
	struct old_node *nodes;
	struct old_port *ports;
	uint32_t n_nodes, n_ports, top;
	uint8_t *owned; /* [top + 1] a port has the LID */
	struct route_cached held;
};

struct route_cache *route_cache_new(void)
{
	return calloc(1, sizeof(struct route_cache));
}

void route_cache_drop(struct route_cache *c)
{
	if (c) {
		arena_free(c->a);
		*c = (struct route_cache){ 0 };
	}
}

void route_cache_free(struct route_cache *c)
{
	route_cache_drop(c);
	free(c);
}

/* --- storing ------------------------------------------------------------------------ */

static int store_graph(struct route_cache *c, const struct graph *g, const struct lids *lids)
{
	c->n_nodes = g->n_nodes;
	c->n_ports = g->n_ports;
	c->top = lids->top;
	c->nodes = arena_array(c->a, g->n_nodes, sizeof(*c->nodes));
	c->ports = arena_array(c->a, g->n_ports, sizeof(*c->ports));
	c->owned = arena_alloc(c->a, lids->top + 1U);
	if (!c->nodes || !c->ports || !c->owned) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];
		bool leaf = n->sw != GRAPH_NONE &&
		            g->host_first[n->sw] < g->host_first[n->sw + 1];

		c->nodes[i] = (struct old_node){ n->guid, n->first_port, n->sw,
			                         n->type, n->n_ports,    leaf };
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];

		c->ports[i] = (struct old_port){ p->peer,  p->node,  lids->of[i],
			                         p->width, p->speed, p->vls };
	}
	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		c->owned[lid] = lids->owner[lid] != GRAPH_NONE;
	}
	return E_OK;
}

static uint8_t *copy_rows(struct arena *a, const uint8_t *rows, size_t bytes)
{
	uint8_t *copy = arena_alloc(a, bytes);

	return copy ? memcpy(copy, rows, bytes) : NULL;
}

static int store_tables(struct route_cache *c, const struct route_cached *from)
{
	struct lft *t = &c->held.out.lft;
	struct lanes *l = &c->held.out.lanes;

	c->held = *from;
	c->held.engine_asked = arena_strdup(c->a, from->engine_asked);
	t->rows = copy_rows(c->a, t->rows, t->n_switches * t->stride);
	if (!t->rows || !c->held.engine_asked) {
		return -ENOMEM;
	}
	if (l->rows) {
		l->rows = copy_rows(c->a, l->rows, t->n_switches * l->stride);
		if (!l->rows) {
			return -ENOMEM;
		}
	}
	if (from->out.may_miss) {
		c->held.out.may_miss = copy_rows(c->a, from->out.may_miss, t->n_lids);
		if (!c->held.out.may_miss) {
			return -ENOMEM;
		}
	}
	if (l->rule) {
		struct vl_rule *rule = arena_alloc(c->a, sizeof(*rule));

		if (!rule) {
			return -ENOMEM;
		}
		*rule = *l->rule;
		rule->port_class = copy_rows(c->a, rule->port_class,
		                             (size_t)t->n_switches * rule->width);
		l->rule = rule;
		return rule->port_class ? E_OK : -ENOMEM;
	}
	return E_OK;
}

int route_cache_store(struct route_cache *c, const struct graph *g, const struct lids *lids,
                      const struct route_cached *from)
{
	int ret;

	route_cache_drop(c);
	c->a = arena_new();
	ret = c->a ? store_graph(c, g, lids) : -ENOMEM;
	if (ret == E_OK) {
		ret = store_tables(c, from);
	}
	if (ret != E_OK) {
		route_cache_drop(c);
	}
	return ret;
}

/* --- comparing ---------------------------------------------------------------------- */

/* The old fabric against the new one; both have their nodes by GUID. */
struct match {
	const struct route_cache *c;
	const struct graph *g;
	const struct lids *lids;
	uint32_t *now; /* [old n_nodes] index of a node in the new graph, GRAPH_NONE: missing */
	struct why *why;
};

static int miss(const struct match *m, uint64_t guid, const char *what)
{
	why_add(m->why, "node 0x%016" PRIx64 " %s", guid, what);
	return E_NOTFOUND;
}

/* Pairs the nodes; a node that was not there is a miss. */
static int match_nodes(struct match *m)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < m->c->n_nodes; i++) {
		const struct old_node *was = &m->c->nodes[i];
		const struct node *is = k < m->g->n_nodes ? &m->g->nodes[k] : NULL;

		if (is && is->guid < was->guid) {
			return miss(m, is->guid, "is new");
		}
		m->now[i] = is && is->guid == was->guid ? k++ : GRAPH_NONE;
		if (m->now[i] != GRAPH_NONE &&
		    (was->type != is->type || was->n_ports != is->n_ports)) {
			return miss(m, was->guid, "is another kind of device now");
		}
	}
	return k < m->g->n_nodes ? miss(m, m->g->nodes[k].guid, "is new") : E_OK;
}

/* Does a cable lead to the same port as in the old fabric? */
static bool leads_on(const struct match *m, uint32_t old_peer, uint32_t new_peer)
{
	const struct port *far = &m->g->ports[new_peer];
	uint32_t node = m->c->ports[old_peer].node;

	return m->now[node] == far->node &&
	       old_peer - m->c->nodes[node].first_port == far->num;
}

static bool is_switch(const struct match *m, uint32_t node)
{
	return m->c->nodes[node].type == NODE_SWITCH;
}

/* May this cable be missing? */
static int match_missing(const struct match *m, uint32_t here, uint32_t old_peer)
{
	uint32_t there = m->c->ports[old_peer].node;

	if (!is_switch(m, here) && !is_switch(m, there)) {
		return miss(m, m->c->nodes[here].guid, "has lost a cable to another CA");
	}
	if (!is_switch(m, here) || !is_switch(m, there)) {
		return E_OK;
	}
	if (m->now[here] != GRAPH_NONE && m->now[there] != GRAPH_NONE) {
		return miss(m, m->c->nodes[here].guid, "has lost a cable to another switch");
	}
	if (m->c->nodes[here].leaf && m->c->nodes[there].leaf) {
		return miss(m, m->c->nodes[here].guid,
		            "was cabled to another leaf switch, and one of them is gone");
	}
	return E_OK;
}

static int match_port(const struct match *m, uint32_t node, unsigned num)
{
	const struct old_node *n = &m->c->nodes[node];
	const struct old_port *was = &m->c->ports[n->first_port + num];
	uint32_t at = m->now[node] == GRAPH_NONE
	                      ? GRAPH_NONE
	                      : m->g->nodes[m->now[node]].first_port + num;
	uint32_t peer = at == GRAPH_NONE ? GRAPH_NONE : m->g->ports[at].peer;

	if (peer == GRAPH_NONE && was->peer != GRAPH_NONE) {
		return match_missing(m, node, was->peer);
	}
	if (peer == GRAPH_NONE) {
		return E_OK;
	}
	if (was->peer == GRAPH_NONE) {
		return miss(m, n->guid, "has a new cable");
	}
	if (!leads_on(m, was->peer, peer)) {
		return miss(m, n->guid, "has a cable that leads elsewhere now");
	}
	if (was->width != m->g->ports[at].width || was->speed != m->g->ports[at].speed ||
	    was->vls != m->g->ports[at].vls) {
		return miss(m, n->guid,
		            "has a cable of another width, speed or number of VLs now");
	}
	return E_OK;
}

/* A port that has LIDs now has those it had. */
static int match_lids(const struct match *m, uint32_t node, unsigned num)
{
	const struct old_node *n = &m->c->nodes[node];
	struct lid_range was = m->c->ports[n->first_port + num].range, is;

	if (m->now[node] == GRAPH_NONE) {
		return E_OK;
	}
	is = m->lids->of[m->g->nodes[m->now[node]].first_port + num];
	return is.base == 0 || (is.base == was.base && is.lmc == was.lmc)
	               ? E_OK
	               : miss(m, n->guid, "has other LIDs now");
}

/* Does a switch send to hosts that are still there through a port that leads to a missing
 * switch? Routes from spine to spine pass leaf switches, too, but carry no traffic. */
static bool sends_through(const struct match *m, uint32_t sw, uint8_t port)
{
	const struct lft *t = &m->c->held.out.lft;
	const uint8_t *row = lft_row(t, sw);

	for (uint32_t lid = 1; lid <= m->lids->top && lid < t->n_lids; lid++) {
		uint32_t owner = m->lids->owner[lid];

		if (row[lid] == port && owner != GRAPH_NONE &&
		    graph_is_host(m->g, owner)) {
			return true;
		}
	}
	return false;
}

/* A missing switch is accepted if it had hosts and carried no routes to other hosts. */
static int match_gone(const struct match *m, uint32_t node)
{
	const struct old_node *n = &m->c->nodes[node];

	if (!n->leaf) {
		return miss(m, n->guid, "is gone, a switch without hosts");
	}
	for (unsigned num = 1; num <= n->n_ports; num++) {
		uint32_t peer = m->c->ports[n->first_port + num].peer;
		uint32_t there = peer == GRAPH_NONE ? GRAPH_NONE : m->c->ports[peer].node;

		if (there == GRAPH_NONE || m->now[there] == GRAPH_NONE ||
		    !is_switch(m, there)) {
			continue;
		}
		if (sends_through(m, m->c->nodes[there].sw,
		                  (uint8_t)(peer - m->c->nodes[there].first_port))) {
			return miss(m, n->guid, "is gone and carried routes of others");
		}
	}
	return E_OK;
}

static int match_node(const struct match *m, uint32_t node)
{
	const struct old_node *n = &m->c->nodes[node];
	int ret = E_OK;

	for (unsigned num = 0; ret == E_OK && num <= n->n_ports; num++) {
		ret = match_lids(m, node, num);
		if (ret == E_OK && num) {
			ret = match_port(m, node, num);
		}
	}
	if (ret == E_OK && n->type == NODE_SWITCH && m->now[node] == GRAPH_NONE) {
		ret = match_gone(m, node);
	}
	return ret;
}

static int match_all(struct match *m, uint8_t max_lanes)
{
	int ret;

	if (!m->c->a) {
		why_add(m->why, "nothing is remembered yet");
		return E_NOTFOUND;
	}
	if (max_lanes != m->c->held.max_lanes) {
		why_add(m->why, "there are %u virtual lanes now and were %u", max_lanes,
		        m->c->held.max_lanes);
		return E_NOTFOUND;
	}
	ret = match_nodes(m);
	for (uint32_t i = 0; ret == E_OK && i < m->c->n_nodes; i++) {
		ret = match_node(m, i);
	}
	return ret;
}

/* --- answering ---------------------------------------------------------------------- */

/* Rows of the old tables in the order of the new switches. */
struct rows_job {
	const struct match *m;
	const uint32_t *old_sw; /* [new n_switches] */
	const uint32_t *gone;
	uint32_t n_gone;
};

static void copy_row(const struct rows_job *j, uint8_t *to, size_t stride, const uint8_t *from,
                     size_t from_stride, uint8_t nothing)
{
	uint32_t n = j->m->lids->top + 1U;

	memcpy(to, from, n < from_stride ? n : from_stride);
	memset(to + n, nothing, stride - n);
	for (uint32_t i = 0; i < j->n_gone; i++) {
		to[j->gone[i]] = nothing;
	}
}

static uint8_t *copy_table(const struct rows_job *j, const uint8_t *rows, size_t from_stride,
                           size_t stride, uint8_t nothing, struct arena *a)
{
	uint32_t n = j->m->g->n_switches;
	uint8_t *to = arena_alloc(a, n * stride);

	if (!to) {
		return NULL;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < n; s++) {
		copy_row(j, to + s * stride, stride, rows + j->old_sw[s] * from_stride,
		         from_stride, nothing);
	}
	return to;
}

/* The rule with its rows in the order of the new switches. */
static int copy_rule(const struct rows_job *j, struct arena *a, struct lanes *l)
{
	const struct vl_rule *from = l->rule;
	const struct graph *g = j->m->g;
	struct vl_rule *to = arena_alloc(a, sizeof(*to));

	if (!to) {
		return -ENOMEM;
	}
	*to = *from;
	to->width = g->max_port + 1U;
	to->port_class = arena_array(a, g->n_switches, to->width);
	if (!to->port_class) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		memcpy(to->port_class + (size_t)s * to->width,
		       from->port_class + (size_t)j->old_sw[s] * from->width,
		       to->width < from->width ? to->width : from->width);
	}
	l->rule = to;
	return E_OK;
}

static int build_answer(const struct match *m, struct arena *a, struct arena *tmp,
                        struct route_cached *ret_cached)
{
	struct rows_job j = { .m = m };
	uint32_t *old_sw = arena_array(tmp, m->g->n_switches, sizeof(*old_sw));
	uint32_t *gone = arena_array(tmp, m->c->top + 1U, sizeof(*gone));
	size_t stride = ((size_t)m->lids->top + 64) & ~(size_t)63;
	struct route_cached x = m->c->held;

	if (!old_sw || !gone) {
		return -ENOMEM;
	}
	for (uint32_t lid = 1; lid <= m->c->top && lid <= m->lids->top; lid++) {
		if (m->c->owned[lid] && m->lids->owner[lid] == GRAPH_NONE) {
			gone[j.n_gone++] = lid;
		}
	}
	j.gone = gone;
	for (uint32_t i = 0; i < m->c->n_nodes; i++) {
		if (is_switch(m, i) && m->now[i] != GRAPH_NONE) {
			old_sw[m->g->nodes[m->now[i]].sw] = m->c->nodes[i].sw;
		}
	}
	j.old_sw = old_sw;
	x.out.lft.n_switches = m->g->n_switches;
	x.out.lft.n_lids = m->lids->top + 1;
	x.out.lft.stride = stride;
	x.out.lft.rows = copy_table(&j, m->c->held.out.lft.rows, m->c->held.out.lft.stride,
	                            stride, LFT_NO_ROUTE, a);
	x.engine_asked = arena_strdup(a, x.engine_asked);
	if (x.out.lanes.rows) {
		x.out.lanes.rows = copy_table(&j, m->c->held.out.lanes.rows,
		                              m->c->held.out.lanes.stride, stride, 0, a);
		x.out.lanes.stride = stride;
	}
	if (!x.out.lft.rows || !x.engine_asked ||
	    (m->c->held.out.lanes.rows && !x.out.lanes.rows)) {
		return -ENOMEM;
	}
	if (x.out.lanes.rule && copy_rule(&j, a, &x.out.lanes) != E_OK) {
		return -ENOMEM;
	}
	if (x.out.may_miss) {
		uint8_t *to = arena_alloc(a, stride);

		if (!to) {
			return -ENOMEM;
		}
		copy_row(&j, to, stride, x.out.may_miss, m->c->held.out.lft.n_lids, 0);
		x.out.may_miss = to;
	}
	*ret_cached = x;
	return E_OK;
}

int route_cache_look(const struct route_cache *c, const struct graph *g,
                     const struct lids *lids, uint8_t max_lanes, struct arena *a,
                     struct route_cached *ret_cached, struct why *why)
{
	struct match m = { .c = c, .g = g, .lids = lids, .why = why };
	struct arena *tmp = arena_new();
	int ret = -ENOMEM;

	m.now = tmp ? arena_array(tmp, c->n_nodes, sizeof(*m.now)) : NULL;
	if (!m.now) {
		goto out;
	}
	ret = match_all(&m, max_lanes);
	if (ret == E_OK) {
		ret = build_answer(&m, a, tmp, ret_cached);
	}
out:
	arena_free(tmp);
	return ret;
}
