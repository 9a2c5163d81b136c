/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/jobs and /v1/jobs/{job}: jobs of a batch system, known by the partitions that saguaro-admin
 * makes for them; of one its hosts, what the fabric is for it, and what is wrong on its paths.
 *
 * The paths are those between all pairs of its ports, by base LIDs. Ports of one switch send a
 * packet the same way, so a path is followed once for each switch with ports of the job and each
 * destination, with the number of its sources as a weight. A row of forwarding tables is read once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "db/snapshot/policy.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/inventory/alarms.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/graph/tables.h"
#include "routing/graph/walk.h"

enum { BUSIEST = 10, LANES = 16, MEMBER_IS_GUID = 0 /* snap_partition_member.who */ };

/* A job, and its ports. */
struct job {
	struct snap_partition partition;
	char id[128];
	uint32_t *port; /* [n] ports of the graph, by name of the host and GUID */
	uint32_t n;
	uint32_t n_hosts;
	uint64_t *absent; /* [n_absent] members that are not in the fabric */
	uint32_t n_absent;
};

/* --- a job ------------------------------------------------------------------------------ */

static bool is_job(const struct snap_partition *p)
{
	size_t n = strlen(PARTITION_JOB);

	return p->is.name_len > n && memcmp(p->name, PARTITION_JOB, n) == 0;
}

static int compare_hosts(const struct graph *g, uint32_t a, uint32_t b)
{
	return node_compare_hosts(&g->nodes[g->ports[a].node],
	                          &g->nodes[g->ports[b].node]);
}

static int by_host(const void *a, const void *b, void *arg)
{
	const struct graph *g = arg;
	const uint32_t *x = a, *y = b;
	int d = compare_hosts(g, *x, *y);

	return d != 0                                     ? d
	       : g->ports[*x].guid < g->ports[*y].guid ? -1
	                                                  : g->ports[*x].guid > g->ports[*y].guid;
}

/* Ports and hosts of a partition. */
static int read_job(const struct inventory *v, const struct snap_partition *p,
                    struct arena *a, struct job *ret_job)
{
	const struct graph *g = v->g;
	size_t begin = strlen(PARTITION_JOB);
	struct job j = { .partition = *p,
		         .port = arena_array(a, p->is.n_members, sizeof(*j.port)),
		         .absent = arena_array(a, p->is.n_members, sizeof(*j.absent)) };

	if (j.port == NULL || j.absent == NULL) {
		return -ENOMEM;
	}
	snprintf(j.id, sizeof(j.id), "%.*s", (int)(p->is.name_len - begin),
	         (const char *)p->name + begin);
	for (uint32_t i = 0; i < p->is.n_members; i++) {
		struct snap_partition_member m = snap_partition_member(p, i);
		uint32_t port = m.who == MEMBER_IS_GUID && m.first == m.last
		                        ? graph_port_by_guid(g, m.first)
		                        : GRAPH_NONE;

		if (port != GRAPH_NONE) {
			j.port[j.n++] = port;
		} else if (m.who == MEMBER_IS_GUID) {
			j.absent[j.n_absent++] = m.first;
		}
	}
	qsort_r(j.port, j.n, sizeof(*j.port), by_host, (void *)(uintptr_t)g);
	for (uint32_t i = 0; i < j.n; i++) {
		j.n_hosts += i == 0 || compare_hosts(g, j.port[i - 1], j.port[i]) != 0;
	}
	*ret_job = j;
	return E_OK;
}

static json_t *job_json(const struct job *j)
{
	/* clang-format off */
	return json_pack("{s:o, s:i, s:i, s:i, s:i, s:i, s:i}",
		"id", text_json(j->id),
		"p_key", j->partition.p_key,
		"full_members", (int)j->partition.is.n_full,
		"limited_members", (int)j->partition.is.n_limited,
		"host_count", (int)j->n_hosts,
		"port_count", (int)j->n,
		"absent_count", (int)j->n_absent);
	/* clang-format on */
}

int api_jobs(struct api_call *c)
{
	struct snap_partition p;
	struct api_page page;
	struct api_rows rows = { .page = &page };
	int ret = api_page(c, &page);

	if (ret == E_OK) {
		ret = inventory_get(&c->thread->inventory, c->snap);
	}
	if (ret != E_OK) {
		return ret;
	}
	body_list_begin(&c->body, api_head(c), "jobs");
	ret = snap_partition_from(c->snap, 0, &p);
	while (ret == E_OK) {
		struct job j;

		if (is_job(&p) && api_rows_take(c, &rows, p.p_key)) {
			ret = read_job(c->thread->inventory, &p, c->arena, &j);
			if (ret != E_OK) {
				break;
			}
			body_list_add(&c->body, job_json(&j));
		}
		ret = snap_partition_from(c->snap, (uint16_t)(p.p_key + 1), &p);
	}
	body_list_end(&c->body, api_total(rows.tail, rows.total));
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* --- its paths -------------------------------------------------------------------------- */

/* Ports of the job at one switch. */
struct leaf {
	uint32_t sw, n;
	struct snap_end end; /* one of them, for the lane; lid 0: not known */
};

struct routes {
	struct api_call *c;
	const struct inventory *v;
	const struct job *job;
	struct leaf *leaf; /* [n_leaves] */
	uint32_t n_leaves;
	uint32_t *at;   /* [n_switches] place in leaf, or GRAPH_NONE */
	uint8_t **row;  /* [n_switches] egress ports by LID; NULL: not read yet */
	uint32_t *uses; /* [n_ports] paths of the job that leave by a port */
	uint32_t top;   /* highest LID of a port of the job */
	uint64_t pairs, unreachable, hops;
	uint32_t hops_min, hops_max;
	bool lane[LANES];
};

static int find_leaves(struct routes *r)
{
	const struct graph *g = r->v->g;
	uint32_t n = g->n_switches + 1;

	r->leaf = arena_array(r->c->arena, n, sizeof(*r->leaf));
	r->at = arena_array(r->c->arena, n, sizeof(*r->at));
	r->row = arena_array(r->c->arena, n, sizeof(*r->row));
	r->uses = arena_array(r->c->arena, g->n_ports + 1, sizeof(*r->uses));
	if (r->leaf == NULL || r->at == NULL || r->row == NULL || r->uses == NULL) {
		return -ENOMEM;
	}
	memset(r->at, 0xff, n * sizeof(*r->at));
	memset(r->row, 0, n * sizeof(*r->row));
	memset(r->uses, 0, (g->n_ports + 1) * sizeof(*r->uses));
	for (uint32_t i = 0; i < r->job->n; i++) {
		uint32_t port = r->job->port[i], sw = graph_switch_of(g, port);
		struct leaf *leaf;

		r->top = g->ports[port].lid > r->top ? g->ports[port].lid : r->top;
		if (sw == GRAPH_NONE) {
			continue;
		}
		if (r->at[sw] == GRAPH_NONE) {
			r->at[sw] = r->n_leaves;
			r->leaf[r->n_leaves++] = (struct leaf){ .sw = sw };
		}
		leaf = &r->leaf[r->at[sw]];
		leaf->n++;
		if (leaf->end.base_lid == 0 && g->ports[port].lid != 0) {
			int ret = snap_lid(r->c->snap, g->ports[port].lid, &leaf->end);

			if (ret != E_OK && ret != E_NOTFOUND) {
				return ret;
			}
		}
	}
	return E_OK;
}

static int read_row(struct routes *r, uint32_t sw)
{
	const struct graph *g = r->v->g;
	uint8_t *row = arena_array(r->c->arena, (size_t)r->top + 1, 1);
	int ret = row != NULL ? snap_lft_block(r->c->snap,
	                                       g->nodes[g->switches[sw]].guid, 0, row,
	                                       r->top + 1)
	                      : -ENOMEM;

	if (ret == E_NOTFOUND) {
		memset(row, LFT_NO_ROUTE, (size_t)r->top + 1);
		ret = E_OK;
	}
	r->row[sw] = row;
	return ret;
}

/* One path, from a switch to a port of the job. \param ret_hops  0: it does not arrive. */
static int follow(struct routes *r, uint32_t sw, uint32_t dest, uint32_t weight,
                  uint32_t *ret_hops)
{
	const struct graph *g = r->v->g;

	*ret_hops = 0;
	for (uint32_t hops = 1; hops <= WALK_MAX; hops++) {
		int ret = r->row[sw] != NULL ? E_OK : read_row(r, sw);
		uint8_t out = ret == E_OK ? r->row[sw][g->ports[dest].lid] : 0;
		uint32_t port = ret == E_OK && out != LFT_NO_ROUTE
		                        ? graph_port(g, g->switches[sw], out)
		                        : GRAPH_NONE;
		uint32_t peer = port != GRAPH_NONE ? g->ports[port].peer : GRAPH_NONE;

		if (peer == GRAPH_NONE) {
			return ret;
		}
		r->uses[port] += weight;
		if (peer == dest) {
			*ret_hops = hops;
			return E_OK;
		}
		sw = g->nodes[g->ports[peer].node].sw;
		if (sw == GRAPH_NONE) {
			return E_OK;
		}
	}
	return E_OK;
}

static int add_path(struct routes *r, const struct leaf *leaf, uint32_t dest)
{
	const struct graph *g = r->v->g;
	bool here = leaf->sw == graph_switch_of(g, dest);
	uint32_t weight = leaf->n - here, hops = 0;
	struct snap_path path;
	int ret = E_OK;

	if (weight == 0) {
		return E_OK;
	}
	r->pairs += weight;
	if (g->ports[dest].lid != 0) {
		ret = follow(r, leaf->sw, dest, weight, &hops);
	}
	if (ret != E_OK || hops == 0) {
		r->unreachable += weight;
		return ret;
	}
	r->hops += (uint64_t)hops * weight;
	r->hops_min = r->hops_min == 0 || hops < r->hops_min ? hops : r->hops_min;
	r->hops_max = hops > r->hops_max ? hops : r->hops_max;
	ret = leaf->end.base_lid != 0
	              ? snap_path(r->c->snap, &leaf->end, g->ports[dest].lid, &path)
	              : E_NOTFOUND;
	if (ret == E_OK && path.mtu != 0 && path.lane < LANES) {
		r->lane[path.lane] = true;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int find_routes(struct routes *r)
{
	int ret = find_leaves(r);

	for (uint32_t d = 0; ret == E_OK && d < r->job->n; d++) {
		for (uint32_t i = 0; ret == E_OK && i < r->n_leaves; i++) {
			ret = add_path(r, &r->leaf[i], r->job->port[d]);
		}
	}
	return ret;
}

/* Does a port leave towards another switch? */
static bool is_between(const struct inventory *v, uint32_t port)
{
	const struct graph *g = v->g;
	uint32_t peer = g->ports[port].peer;

	return peer != GRAPH_NONE && g->nodes[g->ports[port].node].type == NODE_SWITCH &&
	       g->nodes[g->ports[peer].node].type == NODE_SWITCH;
}

/* Paths of the job on links between switches. */
static json_t *routes_json(const struct routes *r)
{
	uint64_t reached = r->pairs - r->unreachable, sum = 0;
	uint32_t links = 0, max = 0;
	json_t *lanes = json_array();

	for (uint32_t i = 0; i < r->v->g->n_ports; i++) {
		if (r->uses[i] > 0 && is_between(r->v, i)) {
			links++;
			sum += r->uses[i];
			max = r->uses[i] > max ? r->uses[i] : max;
		}
	}
	for (unsigned i = 0; i < LANES; i++) {
		if (r->lane[i]) {
			json_array_append_new(lanes, json_integer(i));
		}
	}
	/* clang-format off */
	return json_pack("{s:I, s:I, s:i, s:i, s:o, s:o, s:i, s:i, s:o}",
		"pairs", (json_int_t)r->pairs,
		"unreachable", (json_int_t)r->unreachable,
		"hops_min", (int)r->hops_min,
		"hops_max", (int)r->hops_max,
		"hops_mean", real_json(reached > 0 ? (double)r->hops / (double)reached : 0),
		"lanes", lanes,
		"links", (int)links,
		"job_routes_max", (int)max,
		"job_routes_mean", real_json(links > 0 ? (double)sum / links : 0));
	/* clang-format on */
}

static json_t *link_json(const struct routes *r, uint32_t port)
{
	const struct inventory *v = r->v;
	const struct port *p = &v->g->ports[port], *peer = &v->g->ports[p->peer];
	const struct node *n = &v->g->nodes[p->node], *m = &v->g->nodes[peer->node];
	uint32_t routes = v->port[port].routes;

	/* clang-format off */
	return json_pack("{s:o, s:o, s:i, s:o, s:o, s:b}",
		"from", named_port_json(n->guid, node_name(n), p->num),
		"to", named_port_json(m->guid, node_name(m), peer->num),
		"job_routes", (int)r->uses[port],
		"routes", routes != INVENTORY_NO_ROUTES ? json_integer(routes) : json_null(),
		"rate_gbps", rate_gbps_json(v->port[port].rate),
		"degraded", v->port[port].degraded);
	/* clang-format on */
}

/* More paths of the job first. */
static int by_uses(const void *a, const void *b, void *arg)
{
	const struct routes *r = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return r->uses[x] != r->uses[y] ? (r->uses[x] < r->uses[y] ? 1 : -1)
	       : x < y                  ? -1
	                                : x > y;
}

/* The links with the most paths, and all that are slower than they could be. */
static int links_json(struct routes *r, json_t **ret_json)
{
	uint32_t n = 0, *port = arena_array(r->c->arena, r->v->g->n_ports, sizeof(*port));
	uint32_t busiest = 0;
	json_t *list;

	if (port == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->v->g->n_ports; i++) {
		if (r->uses[i] > 0) {
			port[n++] = i;
		}
	}
	qsort_r(port, n, sizeof(*port), by_uses, r);
	list = json_array();
	for (uint32_t i = 0; i < n; i++) {
		bool busy = busiest < BUSIEST && is_between(r->v, port[i]);

		busiest += busy;
		if (busy || r->v->port[port[i]].degraded) {
			json_array_append_new(list, link_json(r, port[i]));
		}
	}
	*ret_json = list;
	return E_OK;
}

/* --- what is wrong on them -------------------------------------------------------------- */

/* Is a port on a path of the job: does one leave by it, or come in? */
static bool is_used(const struct routes *r, uint64_t guid, uint8_t num)
{
	const struct graph *g = r->v->g;
	uint32_t node = graph_node_by_guid(g, guid);
	uint32_t port = node != GRAPH_NONE ? graph_port(g, node, num) : GRAPH_NONE;

	return port != GRAPH_NONE &&
	       (r->uses[port] > 0 || (g->ports[port].peer != GRAPH_NONE &&
	                              r->uses[g->ports[port].peer] > 0));
}

static int alarms_of_routes(const struct routes *r, json_t **ret_json)
{
	struct alarms a = { .arena = r->c->arena };
	int ret = api_find_alarms(r->c, &a);
	json_t *list = json_array();

	alarms_sort(&a);
	for (size_t i = 0; ret == E_OK && i < a.n; i++) {
		const struct alarm *x = &a.list[i];

		if ((x->node_guid != 0 && is_used(r, x->node_guid, x->port)) ||
		    (x->peer_guid != 0 && is_used(r, x->peer_guid, x->peer_port))) {
			json_array_append_new(list, alarms_json(x));
		}
	}
	alarms_done(&a);
	*ret_json = list;
	return ret;
}

/* --- one job ---------------------------------------------------------------------------- */

static json_t *port_json(const struct inventory *v, uint32_t port)
{
	const struct port *p = &v->g->ports[port];
	const struct node *n = &v->g->nodes[p->node];
	uint32_t peer = p->peer;
	json_t *sw = json_null();

	if (peer != GRAPH_NONE) {
		const struct node *m = &v->g->nodes[v->g->ports[peer].node];

		sw = named_port_json(m->guid, node_name(m), v->g->ports[peer].num);
	}
	/* clang-format off */
	return json_pack("{s:o, s:o, s:i, s:i, s:o, s:b}",
		"port_guid", guid_json(p->guid),
		"name", text_json(node_name(n)),
		"port", p->num,
		"lid", (int)p->lid,
		"peer", sw,
		"degraded", v->port[port].degraded);
	/* clang-format on */
}

static int add_hosts(struct api_call *c, const struct job *j, const struct api_page *page,
                     json_t **ret_tail)
{
	const struct inventory *v = c->thread->inventory;
	uint32_t at = 0;
	json_t *next = NULL;

	for (uint32_t i = 0, end; i < j->n; i = end, at++) {
		const struct node *n = &v->g->nodes[v->g->ports[j->port[i]].node];
		const char *name;
		json_t *ports;

		for (end = i + 1;
		     end < j->n && compare_hosts(v->g, j->port[i], j->port[end]) == 0;
		     end++) {
		}
		if (at < page->guid || next != NULL) {
			continue;
		}
		if (at - page->guid == page->limit) {
			next = api_next(c, at, 0);
			continue;
		}
		name = arena_printf(c->arena, "%.*s", (int)node_host_length(n),
		                    node_name(n));
		if (name == NULL) {
			json_decref(next);
			return -ENOMEM;
		}
		ports = json_array();
		for (uint32_t k = i; k < end; k++) {
			json_array_append_new(ports, port_json(v, j->port[k]));
		}
		body_list_add(&c->body, json_pack("{s:o, s:o}", "name", text_json(name),
		                                  "ports", ports));
	}
	*ret_tail = api_total(next, at);
	return E_OK;
}

static int find_job(struct api_call *c, struct job *ret_job)
{
	struct snap_partition p;
	size_t begin = strlen(PARTITION_JOB), len = strlen(c->capture[0]);
	int ret = snap_partition_from(c->snap, 0, &p);

	while (ret == E_OK &&
	       (!is_job(&p) || p.is.name_len != begin + len ||
	        memcmp(p.name + begin, c->capture[0], len) != 0)) {
		ret = snap_partition_from(c->snap, (uint16_t)(p.p_key + 1), &p);
	}
	if (ret == E_NOTFOUND) {
		return problem_set(
			&c->problem, c->arena, E_NOTFOUND,
			"job '%.64s' has no partition; /v1/jobs lists those that have one",
			c->capture[0]);
	}
	return ret == E_OK ? read_job(c->thread->inventory, &p, c->arena, ret_job) : ret;
}

int api_job(struct api_call *c)
{
	struct job j;
	struct routes r = { .c = c, .job = &j };
	struct api_page page;
	json_t *links = NULL, *alarms = NULL, *tail = NULL, *absent;
	int ret = api_page(c, &page);

	if (ret == E_OK) {
		ret = inventory_get(&c->thread->inventory, c->snap);
	}
	if (ret == E_OK) {
		ret = find_job(c, &j);
	}
	r.v = c->thread->inventory;
	ret = ret == E_OK ? find_routes(&r) : ret;
	ret = ret == E_OK ? links_json(&r, &links) : ret;
	ret = ret == E_OK ? alarms_of_routes(&r, &alarms) : ret;
	if (ret != E_OK) {
		json_decref(links);
		json_decref(alarms);
		return ret;
	}
	json_t *head = api_head(c), *job = job_json(&j);
	json_object_update_missing(head, job);
	json_decref(job);
	absent = json_array();
	for (uint32_t i = 0; i < j.n_absent; i++) {
		json_array_append_new(absent, guid_json(j.absent[i]));
	}
	json_object_set_new(head, "absent", absent);
	json_object_set_new(head, "paths", routes_json(&r));
	json_object_set_new(head, "links", links);
	json_object_set_new(head, "alarms", alarms);
	body_list_begin(&c->body, head, "hosts");
	ret = add_hosts(c, &j, &page, &tail);
	if (ret == E_OK) {
		body_list_end(&c->body, tail);
	}
	return ret;
}
