/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Longer than most: a run for a sweep, a run that is only compared with it, and the decision to move routes
 * share the thread, the memory of routes and the graph that was handed over.
 */
#include "sa/sm/routes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/vector.h"
#include "conf/config.h"
#include "db/snapshot/fabric.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "routing/route_base.h"
#include "routing/route_cache.h"
#include "sa/mad/fields.h"
#include "sa/sm/policy/policy_compile.h"
#include "sa/sm/sm.h"

enum { CONFIRM_QUIET_MS = 20000, GAIN_BYTES = 160 };

static const char *const source = "sweep";

/* Does any switch have a route? A fabric that comes up has none, so nothing can mix. */
static bool has_routes(const struct lft *t)
{
	size_t n = t->n_switches * t->stride;

	for (size_t i = 0; i < n; i++) {
		if (t->rows[i] != LFT_NO_ROUTE) {
			return true;
		}
	}
	return false;
}

static double cpu_now(const struct routes *r)
{
	return sm_cpu_now(r->sm);
}

static uint32_t hosts_withdrawn(const struct routes *r, const struct transition *t)
{
	return transition_hosts_withdrawn(t, r->job->disc.g, &r->job->vport_lids.all);
}

/* A cut of what still works may need no LID to be without routes: if the switches that nothing passes any
 * more, or both ends of all links that are cut, change last. */
static int plan_late(const struct routes *r, const struct transition_in *in, struct arena *a,
                     struct transition *t)
{
	const struct drained_plan *d = &r->job->drained;

	for (unsigned i = 0; i < DRAINED_LATE && hosts_withdrawn(r, t) != 0; i++) {
		struct transition late;
		int ret = d->late[i] != NULL ? transition_plan_late(in, d->late[i], a, &late)
		                             : E_UNSUITABLE;

		if (ret == E_OK && hosts_withdrawn(r, &late) == 0) {
			*t = late;
		} else if (ret != E_OK && ret != E_UNSUITABLE) {
			return ret;
		}
	}
	return E_OK;
}

/* LIDs that would be without routes may change switch by switch, which takes more steps. \param was  What the plan
 * without that came to. */
static int plan_by_rank(const struct routes *r, struct transition_in *in, int was,
                        struct arena *a, struct transition *t)
{
	struct transition ranked;

	in->by_rank = true;
	int ret = transition_plan(in, a, &ranked);
	if (ret != E_OK && ret != E_UNSUITABLE) {
		return ret;
	}
	if (hosts_withdrawn(r, &ranked) >= hosts_withdrawn(r, t)) {
		return was;
	}
	*t = ranked;
	return ret;
}

static struct transition_in change_of(const struct routes *r, const struct lft *from,
                                      const struct lanes *from_lanes,
                                      const struct route_result *to)
{
	return (struct transition_in){ .g = r->job->disc.g,
		                       .lids = &r->job->vport_lids.all,
		                       .from = from,
		                       .to = &to->out.lft,
		                       .from_lanes = from_lanes,
		                       .to_lanes = &to->out.lanes,
		                       .to_is_proven = to->proof.credit_loops == 0 };
}

/* Plans how the switches get from tables that they have to others. \param by_choice  The old routes work, so more steps
 * are no loss. */
static int plan(const struct routes *r, const struct lft *from,
                const struct lanes *from_lanes, const struct route_result *to, bool by_choice,
                struct arena *a, struct transition *ret_transition, double *ret_seconds)
{
	double start = cpu_now(r);
	struct transition_in in = change_of(r, from, from_lanes, to);

	if (r->sm->d.config->transition != TRANSITION_SAFE || !has_routes(from)) {
		return E_OK;
	}
	int ret = transition_plan(&in, a, ret_transition);
	if (ret == E_OK) {
		ret = plan_late(r, &in, a, ret_transition);
	}
	if (by_choice && (ret == E_OK || ret == E_UNSUITABLE) &&
	    hosts_withdrawn(r, ret_transition) != 0) {
		ret = plan_by_rank(r, &in, ret, a, ret_transition);
	}
	*ret_seconds = cpu_now(r) - start;
	return ret;
}

/* \param text  NULL: there was no memory for it. */
static int refuse_routes(struct fresh_routes *f, const char *text)
{
	f->refusal = text;
	return text != NULL ? E_OK : -ENOMEM;
}

/* Routes without earlier tables, and judges whether the switches should get those tables in
 * place of \a kept. They have \a from now. */
static int route_fresh(struct routes *r, const struct route_result *kept,
                       const struct lft *from, const struct lanes *from_lanes,
                       bool requested, struct arena *a)
{
	struct route_request fresh = r->job->request;
	struct fresh_routes f = { .now = kept->load };
	struct route_memory engine_alone = { .verdict = r->memory.verdict };
	int ret;

	fresh.memory = &engine_alone;
	ret = route_run(&fresh, a, &f.route);
	r->memory.verdict = engine_alone.verdict;
	if (ret == E_OK) {
		ret = vports_extend_routes(&r->job->vport_lids, a, &f.route);
	}
	if (ret != E_OK) {
		return ret;
	}
	f.gain = load_gain(&kept->load, &f.route.load);
	f.now.all = f.now.base = NULL;
	f.pays = f.gain.filled != 0 ||
	         f.gain.percent >= (requested ? 1 : r->sm->d.config->rebalance_gain);
	if (f.pays) {
		ret = plan(r, from, from_lanes, &f.route, requested, a, &f.transition,
		           &f.seconds_transition);
		if (ret == E_UNSUITABLE) {
			ret = refuse_routes(
				&f, arena_printf(a, "no order of updates is safe: %s",
			                         f.transition.why.text));
		} else if (ret == E_OK && !requested &&
		           hosts_withdrawn(r, &f.transition) != 0) {
			ret = refuse_routes(
				&f, arena_printf(a,
			                         "%u LIDs of hosts had to be without routes meanwhile",
			                         hosts_withdrawn(r, &f.transition)));
		}
	} else {
		ret = refuse_routes(
			&f,
			"the routes are balanced, and no link is idle that fresh ones would use");
	}
	if (ret == E_OK) {
		r->fresh = f;
	}
	return ret;
}

/* The plan where a proof of the change has shown what it has to. */
static int plan_change(const struct routes *r, struct job *j)
{
	const uint32_t *changed = j->route.changed_lid, *circling = j->route.circling;
	uint32_t n = j->route.n_changed, n_circling = j->route.n_circling;
	int ret = vports_extend_changes(&j->vport_lids, j->arena, &changed, &n);

	if (ret == E_OK) {
		ret = vports_extend_changes(&j->vport_lids, j->arena, &circling,
		                            &n_circling);
	}
	return ret != E_OK || r->sm->d.config->transition != TRANSITION_SAFE
	               ? ret
	               : transition_of_change(changed, n, circling, n_circling,
	                                      j->vport_lids.all.top, j->arena,
	                                      &j->transition);
}

static const char *refusal_text(const struct job *j, int ret)
{
	const struct route_result *r = &j->route;
	const char *text = NULL;

	switch (ret) {
	case E_CREDITLOOP:
	case E_LOOP:
	case E_NOPATH: text = proof_text(&r->proof, j->disc.g, j->arena); break;
	case E_UNSUITABLE: text = r->fallback_reason.text; break;
	}
	return text != NULL && text[0] ? text : err_text(ret);
}

/* Is that a reason to route another fabric? */
static bool is_refused(const struct routes *r, int ret)
{
	switch (ret) {
	case E_OK: return r->served != NULL && r->job->route.used != r->served;
	case E_UNSUITABLE:
	case E_CREDITLOOP:
	case E_LOOP:
	case E_NOPATH: return true;
	}
	return false;
}

/* Routes the fabric without what is out of service. If only another engine than the one that serves
 * can, or none, less is left out. \param first  The first fabric to try. */
static int route_drained(struct routes *r, enum drained_try first)
{
	struct job *j = r->job;
	struct drained_plan *p = &j->drained;

	for (unsigned t = first; t < DRAINED_TRIES; t++) {
		uint64_t id = 0;
		int ret;

		if (t > (unsigned)first && p->cut[t] == p->cut[t - 1]) {
			continue; /* the same fabric again */
		}
		p->used = (enum drained_try)t;
		j->request.g = p->g[t];
		if (p->cut[t] != 0) {
			id = graph_digest(p->g[t]);
		}
		if (id != 0 && id == p->failed) {
			snprintf(p->refusal, sizeof(p->refusal),
			         "no routing was found that avoids it");
			continue;
		}
		ret = route_run(&j->request, j->arena, &j->route);
		if (id == 0 || !is_refused(r, ret)) {
			return ret;
		}
		p->failed = id;
		if (ret == E_OK) {
			snprintf(p->refusal, sizeof(p->refusal),
			         "%s serves, and only %s can route without it",
			         r->served->name, j->route.used->name);
		} else {
			snprintf(p->refusal, sizeof(p->refusal),
			         "the routes without it are refused: %s",
			         refusal_text(j, ret));
		}
	}
	return E_UNSUITABLE; /* not reached: the last fabric is the whole one */
}

/* Do routes move because something goes out of service, or returns? */
static bool is_by_choice(const struct routes *r)
{
	const struct drained_plan *p = &r->job->drained;

	return p->cut[p->used] != r->sm->drained.cut || r->sm->drained.n_back != 0;
}

/* Routes, and plans how the switches get from the tables that they have to the new ones. */
static int compute_from(struct routes *r, enum drained_try first)
{
	struct job *j = r->job;
	int ret = route_drained(r, first);

	if (ret == E_OK) {
		ret = vports_extend_routes(&j->vport_lids, j->arena, &j->route);
	}
	r->kept = has_routes(&j->prev);
	if (ret != E_OK) {
		return ret;
	}
	if (r->wish != REBALANCE_NOT_WANTED) {
		ret = route_fresh(r, &j->route, &j->prev, &j->prev_lanes,
		                  r->wish == REBALANCE_REQUESTED, j->arena);
		if (ret == -ECANCELED || ret == -ENOMEM) {
			return ret;
		}
		if (ret == E_OK && r->fresh.refusal == NULL) {
			route_cache_drop(r->memory.cache);
			route_base_forget(r->memory.base);
			j->route = r->fresh.route;
			j->transition = r->fresh.transition;
			j->seconds_transition = r->fresh.seconds_transition;
			return E_OK;
		}
		if (ret != E_OK) {
			r->fresh.refusal = err_text(ret);
		}
	}
	/* The proof of a change takes links that are left out for lost, while old entries may still send
	 * packets over them. */
	if (j->route.mixtures_proven && j->drained.cut[j->drained.used] == r->sm->drained.cut) {
		return plan_change(r, j);
	}
	ret = plan(r, &j->prev, &j->prev_lanes, &j->route, is_by_choice(r), j->arena,
	           &j->transition, &j->seconds_transition);
	j->unsafe = ret == E_UNSUITABLE; /* the reason is in transition.why */
	return j->unsafe ? E_OK : ret;
}

/* The same. What works is not left out if that takes routes from hosts, even for a moment. */
static int compute(struct routes *r)
{
	struct job *j = r->job;
	struct drained_plan *p = &j->drained;
	int ret = compute_from(r, DRAINED_ALL);

	if (ret != E_OK || j->transition.stage == NULL || !drained_is_careful(p)) {
		return ret;
	}
	const struct transition_in in = change_of(r, &j->prev, &j->prev_lanes, &j->route);
	uint64_t pairs = transition_pairs_withdrawn(&j->transition, &in);
	if (pairs == 0) {
		return ret;
	}
	snprintf(
		p->refusal, sizeof(p->refusal),
		"%u LIDs of hosts, in %" PRIu64
		" pairs with a port of a host, would be without routes for a moment, because no order of updates is safe for them; --force accepts that",
		hosts_withdrawn(r, &j->transition), pairs);
	p->failed = graph_digest(p->g[DRAINED_ALL]);
	j->transition = (struct transition){ .stage = NULL };
	return compute_from(r, DRAINED_OLD);
}

/* The tables stay, the way to them is another one. */
static int plan_again(struct routes *r)
{
	struct job *j = r->job;
	int ret;

	j->transition = (struct transition){ .stage = NULL };
	ret = plan(r, &j->prev, &j->prev_lanes, &j->route, is_by_choice(r), j->arena,
	           &j->transition, &j->seconds_transition);
	j->unsafe = ret == E_UNSUITABLE;
	return j->unsafe ? E_OK : ret;
}

static int compare(struct routes *r)
{
	const struct route_out *out = &r->job->route.out;

	return route_fresh(r, &r->job->route, &out->lft, &out->lanes, false, r->arena);
}

/* The job's arena belongs to this thread until done is set. The fabric thread only answers
 * MADs meanwhile. */
static void *route_thread(void *arg)
{
	struct routes *r = arg;
	struct transport *t = r->sm->d.transport;

	r->ret = r->work(r);
	atomic_store(&r->done, true);
	t->ops->wake(t);
	return NULL;
}

/* Does a link between switches still show no more VLs than the limit? Ports that have others
 * since, or are gone, limit nothing, as a start anew would find. */
static bool limit_stands(const struct routes *r, const struct disc *d)
{
	for (uint32_t i = 0; r->lane_limit != 0 && i < d->g->n_ports; i++) {
		uint32_t peer = d->g->ports[i].peer;

		if (peer != GRAPH_NONE && d->g->ports[i].num != 0 &&
		    d->g->nodes[d->g->ports[i].node].type == NODE_SWITCH &&
		    d->g->nodes[d->g->ports[peer].node].type == NODE_SWITCH) {
			uint64_t code = field_get(disc_port_of(d, i)->info, PI_OPERATIONAL_VLS);

			if (code != 0 && link_vls((uint8_t)code) <= r->lane_limit) {
				return true;
			}
		}
	}
	return false;
}

static uint8_t max_lanes(struct routes *r, const struct disc *d)
{
	uint8_t lanes = config_lanes(r->sm->d.config);

	if (!program_all_map_sls(d)) {
		return 1;
	}
	if (r->sm->status.up && !limit_stands(r, d)) { /* not after a sweep that failed for it */
		r->lane_limit = 0;
	}
	return r->lane_limit && r->lane_limit < lanes ? r->lane_limit : lanes;
}

static void start_work(struct routes *r, struct job *j, int (*work)(struct routes *))
{
	r->job = j;
	r->work = work;
	r->fresh = (struct fresh_routes){ .pays = false };
	atomic_store(&r->cancel, false);
	atomic_store(&r->done, false);
	r->running = !r->sm->d.single_thread &&
	             pthread_create(&r->thread, NULL, route_thread, r) == 0;
	if (!r->running) {
		r->ret = r->work(r);
	}
}

static bool has_hosts(const struct graph *g, const struct node *n)
{
	for (unsigned k = 1; k <= n->n_ports; k++) {
		uint32_t peer = g->ports[n->first_port + k].peer;

		if (peer != GRAPH_NONE && graph_is_host(g, peer)) {
			return true;
		}
	}
	return false;
}

/* Only switches with hosts have lanes in the snapshot. Any other one gets the lane of a route that
 * passes it: all dependencies of the rest of that route are on that lane anyway. */
static void fill_lanes(const struct snap_fabric *f)
{
	const struct graph *g = f->g;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (!has_hosts(g, &g->nodes[g->switches[s]])) {
			memset(f->lanes.rows + s * f->lanes.stride, LANE_UNKNOWN,
			       f->lanes.stride);
		}
	}
	for (uint32_t from = 0; from < g->n_switches; from++) {
		if (!has_hosts(g, &g->nodes[g->switches[from]])) {
			continue;
		}
		for (uint32_t lid = 1; lid < f->lft.n_lids; lid++) {
			uint8_t lane = lane_of(&f->lanes, from, lid);
			uint32_t at = from;

			for (uint32_t hops = 0; hops < g->n_switches; hops++) {
				uint8_t port = lft_row((struct lft *)&f->lft, at)[lid];
				uint32_t out = graph_port(g, g->switches[at], port);
				uint32_t peer = port != 0 && out != GRAPH_NONE
				                        ? g->ports[out].peer
				                        : GRAPH_NONE;
				uint8_t *row;

				if (peer == GRAPH_NONE || graph_is_host(g, peer)) {
					break;
				}
				at = g->nodes[g->ports[peer].node].sw;
				row = f->lanes.rows + at * f->lanes.stride;
				row[lid] = row[lid] == LANE_UNKNOWN ? lane : row[lid];
			}
		}
	}
}

/* The switch of the published fabric that is one of today's. GRAPH_NONE: it was not there. */
static uint32_t published_switch(const struct snap_fabric *f, const struct job *j,
                                 uint32_t sw)
{
	const struct graph *g = j->disc.g;
	uint32_t node = graph_node_by_guid(f->g, g->nodes[g->switches[sw]].guid);

	return node != GRAPH_NONE ? f->g->nodes[node].sw : GRAPH_NONE;
}

static uint32_t common_lids(const struct snap_fabric *f, const struct job *j)
{
	return j->prev.n_lids < f->lft.n_lids ? j->prev.n_lids : f->lft.n_lids;
}

/* Routes that switches moved since the publish count as they were. */
static int recall_tables(const struct snap_fabric *f, struct job *j)
{
	int ret = E_OK;

	for (uint32_t s = 0; s < j->disc.g->n_switches && ret == E_OK; s++) {
		uint32_t at = published_switch(f, j, s);

		if (at != GRAPH_NONE) {
			ret = program_adaptive_recall(
				&j->program, s, lft_row((struct lft *)&f->lft, at),
				common_lids(f, j), lft_row(&j->prev, s));
		}
	}
	return ret;
}

/* Notes the lanes of the published tables for each switch that still has such a table. */
static int recall_rows(struct routes *r, const struct job *j, const struct snap_fabric *f)
{
	const struct graph *g = j->disc.g;
	uint32_t n_lids = common_lids(f, j);
	uint8_t *row = arena_alloc(f->g->arena, n_lids);
	int ret = row != NULL ? E_OK : -ENOMEM;

	fill_lanes(f);
	for (uint32_t s = 0; s < g->n_switches && ret == E_OK; s++) {
		uint64_t guid = g->nodes[g->switches[s]].guid;
		struct shadow_switch *c = shadow_switch_get(&r->sm->shadow, guid);
		uint32_t at = published_switch(f, j, s);

		if (c == NULL) {
			return -ENOMEM;
		}
		if (at == GRAPH_NONE) {
			continue;
		}
		for (uint32_t lid = 0; lid < n_lids; lid++) {
			bool same = lft_row((struct lft *)&f->lft, at)[lid] ==
			            lft_row((struct lft *)&j->prev, s)[lid];

			row[lid] = same ? lane_of(&f->lanes, at, lid) : LANE_UNKNOWN;
		}
		ret = shadow_lanes_put(c, row, n_lids);
	}
	return ret;
}

/*
 * After a restart: the switches have tables, but not the lanes that belong to them. Without them
 * an engine with several lanes would compute all routes anew. And switches that adapt may have moved
 * routes, from which an engine would go on elsewhere. The snapshot of the process
 * before has both. One that is damaged or from another layout is no help, and no fault either.
 */
static int recall_published(struct routes *r, struct job *j)
{
	struct shadow *shadow = &r->sm->shadow;
	struct snap_reader *reader = NULL;
	struct arena *a = arena_new();
	struct snap_fabric f;
	int ret = E_OK;

	if (a == NULL) {
		return -ENOMEM;
	}
	if (r->sm->d.snap != NULL && shadow->n_lanes == 0 && has_routes(&j->prev) &&
	    snap_reader_local(r->sm->d.snap, &reader) == E_OK &&
	    snap_pin(reader) == E_OK && snap_fabric(reader, a, &f) == E_OK) {
		ret = recall_tables(&f, j);
		if (ret == E_OK && f.lanes.rule == NULL && f.lanes.n != 0) {
			shadow->n_lanes = f.lanes.n;
			ret = f.lanes.n > 1 ? recall_rows(r, j, &f) : E_OK;
		}
	}
	snap_reader_close(reader);
	arena_free(a);
	return ret;
}

static uint64_t digest_switches(const struct graph *g)
{
	uint64_t h = 1;

	for (uint32_t i = 0; i < g->n_switches; i++) {
		h = digest_add(h, g->nodes[g->switches[i]].guid);
	}
	return h;
}

/* Notes where the switches may get other entries. */
static void note_sent(struct routes *r, const struct route_result *result)
{
	r->any_sent = !result->incremental || r->job->vport_lids.n_own != 0 ||
	              VECTOR_RESERVE(r->sent, r->cap_sent, result->n_changed + 1) != E_OK;
	r->n_sent = 0;
	for (uint32_t i = 0; !r->any_sent && i < result->n_changed; i++) {
		r->sent[r->n_sent++] = result->changed_lid[i];
	}
}

/* Tells where known tables may differ from those of the last routing. */
static int note_few(struct routes *r, const struct job *j)
{
	const struct graph *g = j->disc.g;
	struct route_memory *m = &r->memory;
	uint32_t *sw = arena_array(j->arena, j->program.n_nodes, sizeof(*sw)), n = 0;

	if (sw == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < j->program.n_nodes; i++) {
		uint32_t at = g->nodes[j->program.nodes[i]].sw;

		if (at != GRAPH_NONE) {
			sw[n++] = at;
		}
	}
	m->sw = sw;
	m->n_sw = n;
	m->lid = r->sent;
	m->n_lid = r->n_sent;
	m->few_differ = true;
	return E_OK;
}

/* Tables that the switches have, with the LIDs of virtual ports. Their memory serves
 * again, because new memory of this size costs more than to fill it. After a sweep that
 * ended as planned only what it sent is new. */
static int find_known_tables(struct routes *r, struct job *j)
{
	uint32_t n = j->disc.g->n_switches, top = j->vport_lids.all.top;
	uint64_t of = digest_switches(j->disc.g);
	bool few = j->program.look != NULL && !r->any_sent && r->known_of == of &&
	           j->vport_lids.n_own == 0 && r->known.n_lids == top + 1;
	int ret = E_OK;

	r->memory.few_differ = false;
	if (r->known.rows == NULL || r->known.n_switches != n ||
	    r->known.n_lids != top + 1) {
		arena_free(r->known_arena);
		r->known = (struct lft){ .rows = NULL };
		r->known_of = 0;
		r->known_arena = arena_new();
		ret = r->known_arena != NULL ? lft_init(&r->known, n, top, r->known_arena)
		                             : -ENOMEM;
	}
	few &= r->known_of == of;
	if (ret == E_OK) {
		program_known_tables(&j->program, few ? r->sent : NULL, r->n_sent,
		                     &r->known);
		ret = few ? note_few(r, j) : E_OK;
	}
	r->known_of = of;
	r->any_sent = true; /* until it is known what this sweep sends */
	j->prev = r->known;
	return ret;
}

/* Without memory for either, all routes are computed. */
static void prepare_memory(struct route_memory *m, bool use_cache)
{
	if (use_cache) {
		route_base_free(m->base);
		m->base = NULL;
		m->cache = m->cache != NULL ? m->cache : route_cache_new();
	} else {
		route_cache_free(m->cache);
		m->cache = NULL;
		m->base = m->base != NULL ? m->base : route_base_new();
	}
}

/* Fabric and LIDs of a job in 64 bits, never 0. Cost: O(ports). */
static uint64_t fabric_id(const struct job *j)
{
	return digest_add(graph_digest(j->request.g),
	                  lids_digest(&j->lids.lids, j->disc.g)) |
	       1;
}

int routes_start(struct routes *r, struct job *j, bool first)
{
	const struct config *c = r->sm->d.config;
	int ret = find_known_tables(r, j);

	if (ret == E_OK && r->recall) {
		ret = recall_published(r, j);
	}
	r->recall = false;
	if (ret == E_OK) {
		ret = program_known_lanes(&j->program, &j->prev, &j->prev_lanes);
	}
	if (ret == E_OK) {
		ret = vports_strip_routes(&j->vport_lids, &j->lids.lids, j->arena,
		                          &j->prev, &j->port_prev);
	}
	if (ret == E_OK) {
		ret = drained_plan(r->sm, j, j->arena, &j->drained);
	}
	if (ret != E_OK) {
		return ret;
	}
	prepare_memory(&r->memory, c->use_ucast_cache);
	if (first) {
		route_cache_drop(r->memory.cache);
		route_base_forget(r->memory.base);
	}
	r->memory.tables = &j->port_prev;
	r->memory.lanes = j->prev_lanes.n ? &j->prev_lanes : NULL;
	j->request = (struct route_request){
		.g = j->drained.g[DRAINED_ALL],
		.lids = &j->lids.lids,
		.list = r->sm->d.list,
		.options = r->sm->d.engines,
		.credit_loops = c->credit_loops,
		.memory = &r->memory,
		.cancel = &r->cancel,
		.adaptive = &c->adaptive,
		.max_lanes = max_lanes(r, &j->disc),
		.threads = c->routing_threads_num,
		.now = r->sm->d.cpu_clock,
	};
	r->wish = r->requested ? REBALANCE_REQUESTED
	          : r->wanted_fabric != 0 && r->wanted_fabric == fabric_id(j)
	                  ? REBALANCE_WHEN_QUIET
	                  : REBALANCE_NOT_WANTED;
	r->requested = false;
	r->wanted_fabric = 0;
	/* A heavy sweep computes all, so that it checks what local ones left. */
	j->request.incremental = j->disc.local && r->wish == REBALANCE_NOT_WANTED;
	start_work(r, j, compute);
	return E_OK;
}

/* Frees what a comparison holds. */
static void compare_done(struct routes *r)
{
	arena_free(r->arena);
	r->arena = NULL;
}

/* Starts to compute what r->fresh holds, to compare it with the tables of a job whose sweep has ended. Nothing
 * of the job changes. */
static int compare_start(struct routes *r, struct job *j)
{
	compare_done(r);
	r->arena = arena_new();
	if (r->arena == NULL) {
		return -ENOMEM;
	}
	start_work(r, j, compare);
	return E_OK;
}

bool routes_busy(const struct routes *r)
{
	return r->running && !r->done;
}

static void join_thread(struct routes *r)
{
	if (r->running) {
		pthread_join(r->thread, NULL);
		r->running = false;
	}
}

/* Joins the thread. r->fresh holds figures until compare_done(). */
static int compare_end(struct routes *r)
{
	join_thread(r);
	return r->ret;
}

void routes_cancel(struct routes *r)
{
	atomic_store(&r->cancel, true);
}

void routes_stop(struct routes *r)
{
	routes_cancel(r);
	join_thread(r);
	compare_done(r);
}

static void log_cache(struct routes *r, const struct route_result *result)
{
	if (r->memory.cache == NULL) {
		return;
	}
	if (result->cached) {
		r->sm->status.cache_hits++;
		log_info(source, "routing: the routes of the last computation serve on");
		return;
	}
	r->sm->status.cache_misses++;
	log_lines(LOG_LEVEL_INFO, source,
	          "routing: computed anew: ", result->cache_miss.text);
}

static void log_incremental(const struct route_result *result)
{
	if (result->incremental) {
		log_info(source, "routing: %u LIDs changed, the other routes serve on",
		         result->n_changed);
	} else if (result->full_reason.text[0]) {
		log_lines(LOG_LEVEL_INFO, source,
		          "routing: all routes are computed: ", result->full_reason.text);
	}
}

static void log_transition(const struct job *j)
{
	const struct transition *t = &j->transition;

	if (t->stage == NULL || t->changed == 0) {
		return;
	}
	if (j->unsafe) {
		log_message_lines(
			MSG_ROUTE_NO_SAFE_ORDER, source,
			"transition: no order of updates is safe: ", t->why.text);
		return;
	}
	log_info(
		source,
		"transition: %u LIDs change in %u stages, %u of them are withdrawn first; planned in %.3f s",
		t->changed, t->n_stages, t->withdrawn, j->seconds_transition);
	if (t->why.text[0]) {
		log_lines(LOG_LEVEL_DEBUG, source, "transition: ", t->why.text);
	}
}

/* "routes on the busiest link 1260 -> 630, on 99 of 100 at most 1240 -> 630, links without routes
 * 4 -> 0": what the fresh routes change. */
static const char *gain_text(const struct fresh_routes *f, char *text, size_t bytes)
{
	const struct load *now = &f->now, *fresh = &f->route.load;
	(void)snprintf(
		text, bytes,
		"routes on the busiest link %u -> %u, on 99 of 100 links at most %u -> %u, links without routes %u -> %u",
		now->max, fresh->max, now->p99, fresh->p99, now->idle, fresh->idle);
	return text;
}

/* " of N LIDs"; "" where the transition is not planned. */
static const char *moved_text(const struct fresh_routes *f, char *text, size_t bytes)
{
	text[0] = '\0';
	if (f->transition.changed != 0) {
		snprintf(text, bytes, " of %u LIDs", f->transition.changed);
	}
	return text;
}

static void log_rebalance(const struct routes *r)
{
	char gain[GAIN_BYTES];

	const struct fresh_routes *f = &r->fresh;

	if (r->wish == REBALANCE_NOT_WANTED) {
		return;
	}
	if (f->refusal != NULL) {
		events_say(r->sm, EVENT_REBALANCE, "the routes stay: %s", f->refusal);
	} else if (f->transition.stage != NULL) {
		events_say(r->sm, EVENT_REBALANCE, "%s; %u LIDs change",
		           gain_text(f, gain, sizeof(gain)), f->transition.changed);
	} else {
		events_say(r->sm, EVENT_REBALANCE, "%s",
		           gain_text(f, gain, sizeof(gain)));
	}
}

int routes_end(struct routes *r)
{
	struct job *j = r->job;
	const struct route_result *result = &j->route;

	join_thread(r);
	if (r->ret != E_OK) {
		return sm_fail(r->sm, r->ret, false,
		               "computed tables were refused, the running ones stay: %s",
		               refusal_text(j, r->ret));
	}
	r->served = result->used;
	r->sm->drained.cut = j->drained.cut[j->drained.used];
	r->sm->drained.failed = j->drained.failed;
	note_sent(r, result);
	log_cache(r, result);
	log_incremental(result);
	if (result->fallback_reason.text[0]) {
		const char *text =
			arena_printf(j->arena, "%s was asked for, %s is used: %s",
		                     result->engine_asked, result->used->name,
		                     result->fallback_reason.text);

		events_routing(r->sm, result->engine_asked,
		               text != NULL ? text : result->fallback_reason.text);
	} else {
		events_routing(r->sm, result->engine_asked, NULL);
	}
	if (result->warning.text[0]) {
		log_message_lines(MSG_ROUTE_WARNING, source,
		                  "routing: ", result->warning.text);
	}
	if (result->out.notes.text[0]) {
		log_message_lines(MSG_ROUTE_NOTE, source,
		                  "routing: ", result->out.notes.text);
	}
	log_rebalance(r);
	log_transition(j);
	return E_OK;
}

int routes_replan(struct routes *r, struct job *j)
{
	start_work(r, j, plan_again);
	return E_OK;
}

int routes_replanned(struct routes *r)
{
	if (r->work == plan_again) {
		join_thread(r);
		r->work = NULL;
		if (r->ret == E_OK) {
			log_transition(r->job);
		}
		return r->ret;
	}
	return E_OK;
}

/* --- quality of service ----------------------------------------------------------- */

void routes_qos(struct routes *r, const struct job *j, struct program *p)
{
	const struct config *c = r->sm->d.config;
	const struct engine *used = j->route.used;
	uint8_t n_lanes = lanes_vls(p->lanes);

	p->qos = c->qos == QOS_ON || n_lanes > 1 ||
	         (c->qos == QOS_AUTO &&
	          (smp_is_omni_path(p->smp) ||
	           policy_needs_qos(c->qos_policy, c->virtual_fabrics)));
	if (!p->qos) {
		r->logged_lanes = 1;
		return;
	}
	if (!smp_is_omni_path(p->smp)) {
		program_setup_qos(p);
	}
	if (r->logged_engine == used && r->logged_lanes == n_lanes) {
		return;
	}
	r->logged_engine = used;
	r->logged_lanes = n_lanes;
	if (n_lanes > 1) {
		log_info(source, "%s uses %u virtual lanes%s", used->name, n_lanes,
		         c->qos == QOS_AUTO ? ": quality of service is on" : "");
	}
	if (!smp_is_omni_path(p->smp)) {
		program_warn_qos(p, used->name);
	}
}

/* --- life ------------------------------------------------------------------------- */

void routes_forget(struct routes *r)
{
	route_cache_drop(r->memory.cache);
	route_base_forget(r->memory.base);
	r->wanted_fabric = 0;
	r->memory.verdict = (struct route_verdict){ 0 };
	r->served = NULL;
	r->sm->drained.failed = 0;
	r->lane_limit = 0;
}

void routes_done(struct routes *r)
{
	routes_stop(r);
	route_cache_free(r->memory.cache);
	route_base_free(r->memory.base);
	r->memory = (struct route_memory){ .tables = NULL };
	arena_free(r->known_arena);
	r->known_arena = NULL;
	r->known = (struct lft){ .rows = NULL };
	r->known_of = 0;
	free(r->sent);
	r->sent = NULL;
	r->n_sent = 0;
	r->cap_sent = 0;
}

/* --- rebalancing ------------------------------------------------------------------ */

/* Switches that are back in service have their own entries now, so the others can send packets over it. */
static void give_routes(struct rebalance *b, uint64_t fabric)
{
	if (b->sm->drained.returned) {
		b->sm->drained.returned = false;
		b->routes->wanted_fabric = fabric;
		sm_request_local(b->sm, NULL, 0, "routes return to what is in service again");
	}
}

void routes_rebalance_heavy_ended(struct rebalance *b)
{
	const struct job *j = b->sm->job;
	uint64_t fabric = fabric_id(j);

	if (fabric != b->fabric || j->program.tables.n_sets[TABLE_LFT] != 0) {
		b->settled = !b->routes->kept;
		b->changed_ms = sm_now(b->sm);
	} else if (config_heavy_after(b->sm->d.config) != 0) {
		/* Any other heavy sweep has a cause, so the fabric is not quiet. */
		b->changed_ms = sm_now(b->sm);
	}
	b->fabric = fabric;
	b->unconfirmed = j->route.engine_unconfirmed;
	b->settled |= b->routes->wish != REBALANCE_NOT_WANTED;
	give_routes(b, fabric);
	b->sm->status.routes_per_link_max = j->route.load.max;
	b->sm->status.routes_per_link_fresh = b->settled ? j->route.load.max : 0;
}

static bool wants_balance(const struct rebalance *b)
{
	return b->sm->d.config->rebalance != REBALANCE_NEVER && !b->settled;
}

static uint64_t balance_due(const struct rebalance *b)
{
	return b->changed_ms + b->sm->d.config->rebalance_quiet * UINT64_C(1000);
}

uint64_t routes_rebalance_deadline(const struct rebalance *b)
{
	uint64_t at = UINT64_MAX;

	if (b->fabric == 0 || !b->sm->status.up || !b->sm->status.master) {
		return at;
	}
	if (wants_balance(b)) {
		at = balance_due(b);
	}
	if (b->unconfirmed && b->changed_ms + CONFIRM_QUIET_MS < at) {
		at = b->changed_ms + CONFIRM_QUIET_MS;
	}
	return at;
}

static bool is_due(struct rebalance *b)
{
	uint64_t now = sm_now(b->sm);

	b->confirms = !wants_balance(b) || now < balance_due(b);
	return now >= routes_rebalance_deadline(b);
}

bool routes_rebalance_start(struct rebalance *b)
{
	int ret;

	if (!is_due(b)) {
		return false;
	}
	ret = compare_start(b->routes, b->sm->job);
	if (ret != E_OK) {
		b->routes->ret = ret;
	}
	return true;
}

void routes_rebalance_end(struct rebalance *b)
{
	const struct fresh_routes *f = &b->routes->fresh;
	int ret = compare_end(b->routes);
	char gain[GAIN_BYTES], moved[40];

	if (ret == -ECANCELED) { /* something happens in the fabric */
		b->changed_ms = sm_now(b->sm);
		compare_done(b->routes);
		return;
	}
	b->settled |= !b->confirms;
	b->unconfirmed = false;
	if (ret == E_OK && f->route.used != b->sm->job->route.used) {
		sm_request_heavy(b->sm, "routing: %s serves, a fresh start takes %s",
		                 b->sm->job->route.used->name, f->route.used->name);
		compare_done(b->routes);
		return;
	}
	if (b->confirms) {
		log_debug(source, "routing: %s",
		          ret == E_OK ? "a fresh start takes the same engine"
		                      : err_text(ret));
	} else if (ret != E_OK) {
		log_message(MSG_ROUTE_NOT_COMPARED, source,
		            "rebalance: the routes cannot be compared: %s",
		            err_text(ret));
	} else {
		b->sm->status.routes_per_link_fresh = f->route.load.max;
		if (!f->pays) {
			log_debug(source, "rebalance: %s", f->refusal);
		} else if (f->refusal == NULL &&
		           b->sm->d.config->rebalance == REBALANCE_AUTO) {
			b->routes->wanted_fabric = b->fabric;
			if (!b->told) {
				log_info(source,
				         "rebalance: routes%s move now, because the option rebalance is auto; with ask they wait for 'saguaro rebalance'",
				         moved_text(f, moved, sizeof(moved)));
			}
			b->told = true;
			sm_request_heavy(b->sm, "rebalance: %s",
			                 gain_text(f, gain, sizeof(gain)));
		} else {
			events_say(
				b->sm, EVENT_REBALANCE_ADVISED,
				"routes%s would move: %s%s%s; 'saguaro rebalance' moves them, rebalance auto by itself",
				moved_text(f, moved, sizeof(moved)),
				gain_text(f, gain, sizeof(gain)),
				f->refusal ? ", but " : "", f->refusal ? f->refusal : "");
		}
	}
	compare_done(b->routes);
}

void routes_rebalance_forget(struct rebalance *b)
{
	b->fabric = 0;
	b->changed_ms = sm_now(b->sm);
}
