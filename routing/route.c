/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/route.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "routing/engine_options.h"
#include "routing/graph/aggregation.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/multicast.h"
#include "routing/route_base.h"
#include "routing/route_cache.h"

static double now(const struct route_request *r)
{
	return r->now ? r->now() : 0;
}

static struct route_base *base_of(const struct route_request *r)
{
	return r->memory ? r->memory->base : NULL;
}

static struct route_cache *cache_of(const struct route_request *r)
{
	return r->memory ? r->memory->cache : NULL;
}

/* Outcome of a proof as an error code. */
static int verdict(const struct proof *p, bool strict)
{
	if (p->forwarding_loops) {
		return E_LOOP;
	}
	if (!proof_reaches(p)) {
		return E_NOPATH;
	}
	if (strict && p->management_unreachable) {
		return E_NOPATH;
	}
	if (p->credit_loops || (strict && p->management_credit_loops)) {
		return E_CREDITLOOP;
	}
	return E_OK;
}

/* Proves res->out and adds the time. */
static int prove(const struct route_request *r, struct arena *a,
                 struct route_result *result)
{
	double start = now(r);
	int ret = proof_run_keeping(r->g, r->lids, &result->out.lft, &result->out.lanes,
	                            result->out.may_miss, a, &result->proof,
	                            base_of(r) ? &result->deps : NULL);

	result->seconds_prove += now(r) - start;
	return ret != E_OK ? ret : verdict(&result->proof, r->strict);
}

/* Alternates that can deadlock are left out, unless loops are programmed on purpose. */
static int check_alternates(const struct route_request *r,
                            const struct adaptive_options *o, struct arena *a,
                            struct route_result *routes)
{
	const struct route_out *out = &routes->out;
	uint64_t loops;
	int ret = alternates_prove(r->g, r->lids, &out->lft, &out->lanes, &routes->alternates,
	                            &loops);

	if (ret != E_OK || loops == 0) {
		return ret;
	}
	if (r->credit_loops == CREDIT_PROGRAM || routes->proof.credit_loops) {
		why_add(&routes->warning,
		        "alternates of adaptive routing can deadlock: %llu credit loops when all of them are used",
		        (unsigned long long)loops);
		return E_OK;
	}
	ret = alternates_thin(r->g, r->lids, &out->lft, &out->lanes, o, a, &routes->alternates);
	if (ret == E_OK) {
		why_add(&routes->out.notes,
		        "adaptive routing: %llu ports are left out as alternates, with them there could be %llu credit loops",
		        (unsigned long long)routes->alternates.thinned,
		        (unsigned long long)loops);
	}
	return ret;
}

static int find_alternates(const struct route_request *r, struct arena *a,
                           struct route_result *routes)
{
	const struct adaptive_options *o = r->adaptive;
	double start = now(r);
	int ret;

	if (!o || (!o->enable && !route_list_is_adaptive(&r->list, routes->used))) {
		return E_OK;
	}
	if (routes->out.lanes.rule) {
		why_add(&routes->out.notes,
		        "adaptive routing: no alternates, the SL-to-VL rule of %s is for the routes of its tables",
		        routes->used->name);
		return E_OK;
	}
	ret = alternates_build(r->g, r->lids, &routes->out.lft, o, a, &routes->alternates);
	if (ret == E_OK) {
		ret = check_alternates(r, o, a, routes);
	}
	routes->seconds_alternates = now(r) - start;
	return ret;
}

enum { UNEVEN = 4 }; /* times what the busiest link needs */

/* Notes a link that has many times the routes of the others. */
static void note_uneven(const struct route_request *r, struct route_result *ret_result)
{
	const struct load *l = &ret_result->load;
	uint64_t even = load_even(r->g, r->lids);

	even = l->mean > (double)even ? (uint64_t)l->mean : even;
	if (l->max > UNEVEN * even) {
		why_add(&ret_result->out.notes,
		        "%s: the busiest link has %u routes, %.1f times the %llu that routes spread evenly would give; another engine may balance better",
		        ret_result->used != NULL ? ret_result->used->name : "tables",
		        l->max, (double)l->max / (double)(even ? even : 1),
		        (unsigned long long)even);
	}
}

/* Path rows and load of tables that may be used. */
static int finish(const struct route_request *r, struct arena *a,
                  struct route_result *routes)
{
	int ret = find_alternates(r, a, routes);

	if (ret != E_OK) {
		return ret;
	}
	ret = r->no_paths ? load_build(r->g, r->lids, &routes->out.lft, a, &routes->load)
	                   : paths_load_build(r->g, r->lids, &routes->out.lft,
	                                      &routes->out.lanes, a, &routes->paths,
	                                      &routes->load);
	if (ret == E_OK) {
		note_uneven(r, routes);
	}
	return ret;
}

uint8_t route_lanes(const struct graph *g)
{
	uint8_t lanes = link_vls(5);

	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];

		/* each cable is met from both ends */
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint8_t vls =
				link_vls(g->ports[n->first_port + g->adj[i].port].vls);

			lanes = vls < lanes ? vls : lanes;
		}
	}
	return lanes;
}

static uint8_t lanes_to_use(const struct route_request *r)
{
	uint8_t lanes = route_lanes(r->g);

	return r->max_lanes && r->max_lanes < lanes ? r->max_lanes : lanes;
}

static struct route_in input_of(const struct route_request *r, const struct engine *e)
{
	return (struct route_in){ .g = r->g,
		                  .lids = r->lids,
		                  .cancel = r->cancel,
		                  .max_lanes = lanes_to_use(r),
		                  .order = route_list_order(&r->list, e, r->options) };
}

/* The list of a request and what comes after it. */
static struct route_list whole_list(const struct route_request *r)
{
	return route_list_whole(&r->list, r->credit_loops == CREDIT_FALLBACK,
	                        route_list_order(&r->list, NULL, r->options) != NULL);
}

static bool may_program(const struct route_request *r, const struct route_result *routes)
{
	return r->credit_loops == CREDIT_PROGRAM || routes->out.may_deadlock;
}

/* A credit loop that is programmed on purpose stays visible. */
static void warn_credit_loop(const struct route_request *r, struct arena *a,
                             struct route_result *routes)
{
	why_add(&routes->warning, "programmed although it can deadlock: %s",
	        proof_text(&routes->proof, r->g, a));
}

/* Did a run end for a reason that says nothing about the tables? */
static bool is_not_verdict(int ret)
{
	return ret == -ENOMEM || ret == -ECANCELED;
}

/* Do tables of such an engine pass with or without earlier ones? It may still say by
 * beyond_rule that these are not of that kind. */
static bool has_fixed_verdict(const struct engine *e)
{
	return (e->flags & ENGINE_DEADLOCK_FREE) &&
	       !(e->flags & (ENGINE_NEEDS_LANES | ENGINE_MAY_USE_LANES));
}

/* --- recompute: one engine ------------------------------------------------------------ */

/* Routes and proves with one engine. E_UNSUITABLE: the engine refused, reason in why. */
static int run_engine(const struct route_request *r, const struct engine *e,
                      const struct route_in *in, struct arena *a, struct why *why,
                      struct route_result *routes)
{
	double start = now(r);
	int ret;

	routes->out = (struct route_out){ 0 };
	ret = e->route(in, a, &routes->out);
	routes->seconds_route += now(r) - start;
	if (ret != E_OK) {
		why_add(why, "%s",
		        routes->out.notes.text[0] ? routes->out.notes.text : err_text(ret));
		return ret;
	}
	aggregation_fill(r->g, r->lids, &routes->out.lft, &routes->out.lanes);
	if (lanes_vls(&routes->out.lanes) > in->max_lanes) {
		why_add(why, "%s: uses %u lanes, there are %u", e->name,
		        lanes_vls(&routes->out.lanes), in->max_lanes);
		return E_UNSUITABLE;
	}
	routes->used = e;
	return prove(r, a, routes);
}

/* Are there earlier tables at all? */
static bool has_entries(const struct lft *t)
{
	for (uint32_t s = 0; t && s < t->n_switches; s++) {
		const uint8_t *row = lft_row(t, s);

		for (uint32_t lid = 1; lid < t->n_lids; lid++) {
			if (row[lid] != LFT_NO_ROUTE) {
				return true;
			}
		}
	}
	return false;
}

/* Tables with earlier routes pass: would those without? */
static bool passes_always(const struct route_request *r, const struct engine *e,
                          const struct route_out *out)
{
	return (has_fixed_verdict(e) || (out->passes_always && !r->strict)) &&
	       !out->may_deadlock && !out->beyond_rule && !out->may_miss;
}

/* As run_engine(), with what can be kept of the earlier tables. Where routes stay that the engine would
 * not choose from today, and the tables do not pass, with less of them. */
static int run_keeping(const struct route_request *r, const struct engine *e,
                       const struct route_in *in, struct arena *a, struct why *why,
                       struct route_result *routes)
{
	struct route_in keeping = *in;
	int ret;

	keeping.prev = r->memory->tables;
	keeping.prev_lanes = r->memory->lanes;
	ret = run_engine(r, e, &keeping, a, why, routes);
	if (ret == E_OK || is_not_verdict(ret) || !routes->out.keeps_others) {
		return ret;
	}
	keeping.keep_by_rule = true;
	return run_engine(r, e, &keeping, a, why, routes);
}

/* An engine that passes without earlier tables, with them if it can; see route_run().
 * known: it passes without. */
static int run_both(const struct route_request *r, const struct engine *e,
                    const struct route_in *in, bool known, struct arena *a,
                    struct why *why, struct route_result *routes)
{
	const struct engine *last = r->memory->verdict.used;
	/* The engine that made the earlier tables most likely needs one run only. */
	const bool early = known || has_fixed_verdict(e) || !last || last == e;
	struct route_result kept = *routes;
	struct why kept_why = { "" };
	int kept_ret = E_OK, ret;
	struct arena *tmp;

	if (early) {
		kept_ret = run_keeping(r, e, in, a, &kept_why, &kept);
		if (is_not_verdict(kept_ret) ||
		    (kept_ret == E_OK && (known || passes_always(r, e, &kept.out)))) {
			*routes = kept;
			return kept_ret;
		}
		routes->seconds_route = kept.seconds_route;
		routes->seconds_prove = kept.seconds_prove;
	}
	tmp = arena_new();
	ret = tmp ? run_engine(r, e, in, tmp, why, routes) : -ENOMEM;
	if (ret != E_OK && !(ret == E_CREDITLOOP && may_program(r, routes))) {
		arena_join(a, tmp);
		return ret;
	}
	if (!early) {
		kept = *routes;
		kept_ret = run_keeping(r, e, in, a, &kept_why, &kept);
	}
	if (kept_ret == E_OK || kept_ret == ret || is_not_verdict(kept_ret)) {
		arena_free(tmp);
		*routes = kept;
		return kept_ret;
	}
	arena_join(a, tmp);
	why_add(&routes->out.notes,
	        "%s: routes are computed anew, those that there were cannot be kept: %s",
	        e->name,
	        kept_why.text[0] ? kept_why.text : proof_text(&kept.proof, r->g, a));
	return ret;
}

/* Checks, routes and proves with one engine. A reason why it can't be used goes to why. */
static int try_engine(const struct route_request *r, const struct engine *e, bool known,
                      struct arena *a, struct why *why, struct route_result *routes)
{
	struct route_in in = input_of(r, e);
	int ret = engine_options_of(r->options, e, a, &in.options);
	bool forgets = (e->flags & ENGINE_IGNORES_PREV) || !r->memory ||
	               !has_entries(r->memory->tables);

	if (ret == E_OK && (e->flags & ENGINE_LMC0_ONLY) && lids_have_lmc(r->lids, r->g)) {
		why_add(why, "%s: works with LMC 0 only", e->name);
		ret = E_UNSUITABLE;
	}
	if (ret == E_OK && e->check) {
		ret = e->check(&in, why);
	}
	if (ret != E_OK) {
		return ret;
	}
	ret = forgets ? run_engine(r, e, &in, a, why, routes)
	              : run_both(r, e, &in, known, a, why, routes);
	if (ret == E_CREDITLOOP && may_program(r, routes)) {
		warn_credit_loop(r, a, routes);
		ret = E_OK;
	}
	return ret;
}

/* --- recompute: one engine after the other ---------------------------------------------- */

/* May the next engine be tried after this? */
static bool tries_next(const struct route_request *r, int ret)
{
	if (ret == E_CREDITLOOP) {
		return r->credit_loops == CREDIT_FALLBACK;
	}
	return ret == E_UNSUITABLE || ret == E_LOOP || ret == E_NOPATH;
}

/* Notes which deadlock-free engine was chosen, and why none before it. */
static void note_choice(struct route_result *routes, const char *who,
                        const struct why *passed_over)
{
	uint8_t lanes = lanes_vls(&routes->out.lanes);

	if (lanes <= 1) {
		why_add(&routes->out.notes, "%s chose %s, which proves out with 1 lane", who,
		        routes->used->name);
	} else {
		why_add(&routes->out.notes,
		        "%s chose %s, which proves out with %u lanes: of the engines that route well without, none fits",
		        who, routes->used->name, lanes);
	}
	if (passed_over->text[0]) {
		why_add(&routes->out.notes, "%s", passed_over->text);
	}
}

/* "deadlockfree" never accepts tables with a credit loop. */
static struct route_request request_for(const struct route_request *r, unsigned i)
{
	struct route_request own = *r;

	if (route_list_is_chosen(&r->list, i)) {
		own.credit_loops = CREDIT_FALLBACK;
	}
	return own;
}

/* Digest of the inputs of a verdict. Never 0. */
static uint64_t verdict_digest(const struct route_request *r)
{
	uint64_t h = digest_add(graph_digest(r->g), lids_digest(r->lids, r->g));

	for (uint32_t i = 0; i < r->g->n_ports; i++) { /* device groups may go by it */
		h = digest_add(h, r->g->ports[i].capability_mask);
	}
	return digest_add(h, (uint64_t)lanes_to_use(r) << 1 | r->strict) | 1;
}

struct search {
	struct route_list l; /* with what comes after those asked for */
	struct why refused, passed_over;
	struct route_result shown; /* of refused tables the first */
	int shown_ret;
	unsigned at; /* the engine that ended it */
	bool known;  /* that it would */
	uint64_t digest;
};

/* Begins with the engine that the memory knows to serve, if it knows. */
static void search_begin(const struct route_request *r, struct search *x)
{
	const struct route_verdict *v = r->memory ? &r->memory->verdict : NULL;
	unsigned i = 0;

	*x = (struct search){ .l = whole_list(r) };
	if (v == NULL) {
		return;
	}
	x->digest = verdict_digest(r);
	while (v->digest == x->digest && i < x->l.n && x->l.engine[i] != v->used) {
		i++;
	}
	if (v->digest == x->digest && i < x->l.n) {
		x->known = true;
		x->at = i;
		x->refused = v->refused;
		x->passed_over = v->passed_over;
	}
}

/* What the last engine that was tried came to. */
static int search_engines(const struct route_request *r, struct search *x,
                          struct arena *a, struct route_result *routes)
{
	int ret = E_UNSUITABLE;

	for (; x->at < x->l.n; x->at++) {
		const struct route_request own = request_for(r, x->at);
		struct why *why = route_list_is_chosen(&r->list, x->at) ? &x->passed_over
		                                                        : &x->refused;

		ret = try_engine(&own, x->l.engine[x->at], x->known, a, why, routes);
		if (ret == E_OK || !tries_next(&own, ret)) {
			break;
		}
		x->known = false;
		if (ret != E_UNSUITABLE) {
			why_add(why, "%s: %s", x->l.engine[x->at]->name,
			        proof_text(&routes->proof, r->g, a));
			if (!x->shown_ret) {
				x->shown = *routes;
				x->shown_ret = ret;
			}
		}
		routes->used = NULL;
	}
	return ret;
}

static int recompute(const struct route_request *r, struct arena *a,
                     struct route_result *ret_routes)
{
	struct route_result routes = { .engine_asked = route_list_first(&r->list) };
	struct search x;
	int ret;

	search_begin(r, &x);
	ret = search_engines(r, &x, a, &routes);
	if (r->memory) {
		r->memory->verdict =
			(struct route_verdict){ .digest = ret == E_OK ? x.digest : 0,
			                        .used = routes.used,
			                        .refused = x.refused,
			                        .passed_over = x.passed_over };
	}
	routes.fallback_reason = x.refused;
	if (ret == E_OK) {
		routes.fallback_reason =
			route_list_reason(&r->list, routes.used, r->options, &x.refused);
		if (route_list_is_chosen(&r->list, x.at)) {
			note_choice(&routes, route_deadlock_free, &x.passed_over);
		} else if (x.at >= r->list.n && routes.used->deadlock_free_order) {
			note_choice(&routes, "the search for an engine without credit loops",
			            &x.passed_over);
		}
		*ret_routes = routes;
		return finish(r, a, ret_routes);
	}
	if (x.shown_ret && x.at == x.l.n) {
		routes = x.shown;
		routes.fallback_reason = x.refused;
		ret = x.shown_ret;
	}
	if (x.passed_over.text[0]) {
		why_add(&routes.fallback_reason, "%s", x.passed_over.text);
	}
	*ret_routes = routes;
	return ret;
}

/* --- reuse ----------------------------------------------------------------------------- */

/* Tables of the cache that pass as they are. Anything but E_OK: recompute. */
static int reuse(const struct route_request *r, struct arena *a, struct why *why,
                 struct route_result *ret_routes)
{
	double start = now(r);
	struct route_cached c;
	int ret = route_cache_look(cache_of(r), r->g, r->lids, lanes_to_use(r), a, &c, why);

	if (ret != E_OK) {
		return ret;
	}
	struct route_result routes = { .engine_asked = c.engine_asked,
		                       .used = c.used,
		                       .fallback_reason = c.fallback_reason,
		                       .out = c.out,
		                       .cached = true,
		                       .seconds_route = now(r) - start };

	ret = prove(r, a, &routes);
	if (ret == E_CREDITLOOP && may_program(r, &routes)) {
		warn_credit_loop(r, a, &routes);
		ret = E_OK;
	}
	if (ret == E_OK) {
		*ret_routes = routes;
		return finish(r, a, ret_routes);
	}
	why_add(why, "%s", proof_text(&routes.proof, r->g, a));
	return ret;
}

/* Out of the cache, or computed and kept there. Without memory for the cache the next run computes
 * again. */
static int reuse_or_recompute(const struct route_request *r, struct arena *a,
                              struct route_result *ret_routes)
{
	struct why miss = { "" };
	int ret;

	if (!cache_of(r)) {
		return recompute(r, a, ret_routes);
	}
	if (reuse(r, a, &miss, ret_routes) == E_OK) {
		return E_OK;
	}
	ret = recompute(r, a, ret_routes);
	ret_routes->cache_miss = miss;
	if (ret == E_OK) {
		const struct route_cached c = { .used = ret_routes->used,
			                        .engine_asked = ret_routes->engine_asked,
			                        .max_lanes = lanes_to_use(r),
			                        .fallback_reason =
			                                ret_routes->fallback_reason,
			                        .out = ret_routes->out };

		(void)route_cache_store(cache_of(r), r->g, r->lids, &c);
	} else {
		route_cache_drop(cache_of(r));
	}
	return ret;
}

/* --- repair ---------------------------------------------------------------------------- */

/* Routes all, keeping what can stay, and takes over what differs. */
static int reroute_all(const struct route_in *in, struct route_step *st, struct why *why)
{
	struct route_out out = { 0 };
	int ret = st->used->route(in, st->tmp, &out);

	if (ret == E_OK &&
	    (out.lanes.rows || out.lanes.rule || out.may_deadlock || out.may_miss)) {
		why_add(why, "%s: the new tables are of another kind", st->used->name);
		ret = E_UNSUITABLE;
	}
	return ret == E_OK ? route_base_adopt(st, &out.lft) : ret;
}

/* Routes what the change touches with the engine of the base: nothing, where hosts only went. */
static int route_change(const struct route_request *r, struct route_step *st,
                        struct why *why)
{
	const struct engine *e = st->used;
	struct route_in in = input_of(r, e);
	uint32_t marked = st->repair.n;
	struct why unable = { "" };
	int ret = engine_options_of(r->options, e, st->tmp, &in.options);

	in.prev = r->memory->tables;
	if (ret == E_OK && e->check) {
		ret = e->check(&in, why);
	}
	if (ret != E_OK || !st->has_work) {
		return ret;
	}
	if (e->repair) {
		ret = e->repair(&in, &st->repair, st->tmp, &unable);
		if (ret != E_UNSUITABLE || st->repair.n != marked) {
			return ret;
		}
	}
	return reroute_all(&in, st, why);
}

/* Would a fresh start take the engine that goes on? It fits, and comes first. */
static bool is_confirmed(const struct route_request *r, const struct engine *used)
{
	const struct route_list l = whole_list(r);

	return has_fixed_verdict(used) && l.n != 0 && l.engine[0] == used;
}

/* Goes on from the base. \retval E_UNSUITABLE  It has to be a full run. */
static int repair(const struct route_request *r, struct why *why,
                  struct route_result *ret_routes)
{
	struct route_step st;
	struct route_result routes;
	double start = now(r), routed = start;
	int ret = route_base_compare(r->memory->base, r, lanes_to_use(r), &st, why);

	if (ret == E_OK) {
		ret = route_change(r, &st, why);
		routed = now(r);
	}
	if (ret == E_OK) {
		ret = route_base_finish(&st, r, &routes, why);
	}
	if (ret == E_OK) {
		routes.engine_unconfirmed = !is_confirmed(r, routes.used);
		routes.seconds_route = routed - start;
		routes.seconds_prove = now(r) - routed;
		*ret_routes = routes;
		r->memory->verdict.digest = 0;
	}
	route_base_end(&st);
	return ret;
}

/* --- a run ----------------------------------------------------------------------------- */

static int run(const struct route_request *r, struct arena *a,
               struct route_result *ret_routes)
{
	struct why why = { "" };
	struct arena *own;
	int ret;

	if (!base_of(r)) {
		return reuse_or_recompute(r, a, ret_routes);
	}
	if (r->incremental) {
		ret = repair(r, &why, ret_routes);
		if (ret == E_OK || is_not_verdict(ret)) {
			return ret;
		}
	}
	route_base_clear(base_of(r));
	own = arena_new();
	if (!own) {
		return -ENOMEM;
	}
	ret = reuse_or_recompute(r, own, ret_routes);
	if (ret == E_OK) {
		ret_routes->full_reason = why;
		route_base_take(base_of(r), r, lanes_to_use(r), own, ret_routes);
	} else {
		arena_join(a, own);
	}
	return ret;
}

int route_run(const struct route_request *r, struct arena *a,
              struct route_result *ret_routes)
{
	unsigned threads = column_threads();
	int ret;

	column_use_threads(r->threads ? r->threads : threads);
	ret = run(r, a, ret_routes);
	column_use_threads(threads);
	if (ret == E_OK && ret_routes->proof.missed_pairs) {
		why_add(&ret_routes->out.notes, "%s",
		        proof_missed_text(&ret_routes->proof, r->g, r->lids, a));
	}
	return ret;
}

/* --- tables made elsewhere ---------------------------------------------------------------- */

static int no_route(const struct route_in *in, struct arena *a, struct route_out *ret_out)
{
	(void)in;
	(void)a;
	(void)ret_out;
	return E_UNSUITABLE;
}

/* Stands for tables that come from elsewhere. */
static const struct engine engine_foreign = {
	.name = "foreign",
	.summary = "Tables from a file",
	.route = no_route,
};

/* Proves tables of an engine, makes rows and load. */
static int check_tables(const struct route_request *r, const struct engine *made_by,
                        const struct lft *lft, const struct lanes *lanes, struct arena *a,
                        struct route_result *ret_routes)
{
	struct route_result routes = { .engine_asked = made_by->name, .used = made_by };
	int ret;

	routes.out.lft = *lft;
	routes.out.lanes = lanes ? *lanes : (struct lanes){ .n = 1 };
	ret = prove(r, a, &routes);
	if (ret == E_CREDITLOOP && r->credit_loops == CREDIT_PROGRAM) {
		warn_credit_loop(r, a, &routes);
		ret = E_OK;
	}
	*ret_routes = routes;
	return ret == E_OK ? finish(r, a, ret_routes) : ret;
}

int route_check(const struct route_request *r, const struct lft *lft,
                const struct lanes *lanes, struct arena *a, struct route_result *ret_routes)
{
	return check_tables(r, &engine_foreign, lft, lanes, a, ret_routes);
}

int route_resume(const struct route_request *r, const struct engine *made_by,
                 const struct lft *lft, const struct lanes *lanes, struct arena *a,
                 struct route_result *ret_routes)
{
	struct arena *own = arena_new();
	struct lft mine;
	int ret = -ENOMEM;

	route_base_clear(base_of(r));
	if (own && lft_init(&mine, lft->n_switches, lft->n_lids - 1, own) == E_OK) {
		memcpy(mine.rows, lft->rows, lft->n_switches * lft->stride);
		ret = check_tables(r, made_by, &mine, lanes, own, ret_routes);
	}
	if (ret == E_OK) {
		route_base_take(base_of(r), r, lanes_to_use(r), own, ret_routes);
	} else if (own) {
		arena_join(a, own);
	}
	return ret;
}

int route_multicast(const struct route_request *r, const struct engine *used,
                    const struct mcast_in *m, struct arena *a, struct mcast_tree *ret_trees,
                    struct why *why)
{
	struct route_in in;
	struct why own = { "" };
	int ret;

	if (!used || !used->multicast) {
		return mcast_default_trees(r->g, m, a, ret_trees);
	}
	in = input_of(r, used);
	ret = engine_options_of(r->options, used, a, &in.options);
	if (ret == E_OK) {
		ret = used->multicast(&in, m, a, ret_trees, &own);
	}
	if (ret != E_UNSUITABLE) {
		return ret;
	}
	why_add(why, "%s", own.text);
	return mcast_default_trees(r->g, m, a, ret_trees);
}
