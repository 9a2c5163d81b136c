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

/* Proves ret->out and adds the time. */
static int prove(const struct route_request *r, struct arena *a, struct route_result *ret)
{
	double start = now(r);
	int ret_code = proof_run_keeping(r->g, r->lids, &ret->out.lft, &ret->out.lanes,
	                                 ret->out.may_miss, a, &ret->proof,
	                                 r->base ? &ret->deps : NULL);

	ret->seconds_prove += now(r) - start;
	return ret_code != E_OK ? ret_code : verdict(&ret->proof, r->strict);
}

/* Alternates that can deadlock are left out, unless loops are programmed on purpose. */
static int check_alternates(const struct route_request *r,
                            const struct adaptive_options *o, struct arena *a,
                            struct route_result *ret)
{
	const struct route_out *out = &ret->out;
	uint64_t loops;
	int code = alternates_prove(r->g, r->lids, &out->lft, &out->lanes, &ret->alternates,
	                            &loops);

	if (code != E_OK || loops == 0) {
		return code;
	}
	if (r->credit_loops == CREDIT_PROGRAM || ret->proof.credit_loops) {
		why_add(&ret->warning, "alternates of adaptive routing can deadlock: %llu "
		                       "credit loops when all of them are used",
		        (unsigned long long)loops);
		return E_OK;
	}
	code = alternates_thin(r->g, r->lids, &out->lft, &out->lanes, o, a, &ret->alternates);
	if (code == E_OK) {
		why_add(&ret->out.notes,
		        "adaptive routing: %llu ports are left out as alternates, with them "
		        "there could be %llu credit loops",
		        (unsigned long long)ret->alternates.thinned, (unsigned long long)loops);
	}
	return code;
}

static int find_alternates(const struct route_request *r, struct arena *a,
                           struct route_result *ret)
{
	const struct adaptive_options *o = r->adaptive;
	double start = now(r);
	int code;

	if (!o || (!o->enable && !route_list_is_adaptive(&r->list, ret->used))) {
		return E_OK;
	}
	if (ret->out.lanes.rule) {
		why_add(&ret->out.notes,
		        "adaptive routing: no alternates, the SL-to-VL rule "
		        "of %s is for the routes of its tables",
		        ret->used->name);
		return E_OK;
	}
	code = alternates_build(r->g, r->lids, &ret->out.lft, o, a, &ret->alternates);
	if (code == E_OK) {
		code = check_alternates(r, o, a, ret);
	}
	ret->seconds_alternates = now(r) - start;
	return code;
}

/* Path rows and load of tables that may be used. */
static int finish(const struct route_request *r, struct arena *a,
                  struct route_result *ret)
{
	int code = find_alternates(r, a, ret);

	if (code != E_OK) {
		return code;
	}
	if (r->no_paths) {
		return load_build(r->g, r->lids, &ret->out.lft, a, &ret->load);
	}
	return paths_load_build(r->g, r->lids, &ret->out.lft, &ret->out.lanes, a,
	                        &ret->paths, &ret->load);
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

static struct route_in input_of(const struct route_request *r)
{
	return (struct route_in){ .g = r->g,
		                  .lids = r->lids,
		                  .cancel = r->cancel,
		                  .max_lanes = lanes_to_use(r) };
}

/* Routes and proves with one engine. E_UNSUITABLE: the engine refused, reason in why. */
static int run_engine(const struct route_request *r, const struct engine *e,
                      const struct route_in *in, struct arena *a, struct why *why,
                      struct route_result *ret)
{
	double start = now(r);
	int ret_code;

	ret->out = (struct route_out){ 0 };
	ret_code = e->route(in, a, &ret->out);
	ret->seconds_route += now(r) - start;
	if (ret_code != E_OK) {
		why_add(why, "%s",
		        ret->out.notes.text[0] ? ret->out.notes.text
		                               : err_text(ret_code));
		return ret_code;
	}
	aggregation_fill(r->g, r->lids, &ret->out.lft, &ret->out.lanes);
	if (lanes_vls(&ret->out.lanes) > in->max_lanes) {
		why_add(why, "%s: uses %u lanes, there are %u", e->name,
		        lanes_vls(&ret->out.lanes), in->max_lanes);
		return E_UNSUITABLE;
	}
	ret->used = e;
	return prove(r, a, ret);
}

static bool may_program(const struct route_request *r, const struct route_result *res)
{
	return r->credit_loops == CREDIT_PROGRAM || res->out.may_deadlock;
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

/* Do tables of such an engine pass with or without earlier ones? It may still say by
 * beyond_rule that these are not of that kind. */
static bool has_fixed_verdict(const struct engine *e)
{
	return (e->flags & ENGINE_DEADLOCK_FREE) &&
	       !(e->flags & (ENGINE_NEEDS_LANES | ENGINE_MAY_USE_LANES));
}

/* Tables with earlier routes pass: would those without? */
static bool passes_always(const struct route_request *r, const struct engine *e,
                          const struct route_out *out)
{
	return (has_fixed_verdict(e) || (out->passes_always && !r->strict)) &&
	       !out->may_deadlock && !out->beyond_rule && !out->may_miss;
}

/* Did the run end for a reason that says nothing about the tables? */
static bool is_not_verdict(int outcome)
{
	return outcome == -ENOMEM || outcome == -ECANCELED;
}

/* As run_engine(), with what can be kept of the earlier tables. Where routes stay that the engine would
 * not choose from today, and the tables do not pass, with less of them. */
static int run_keeping(const struct route_request *r, const struct engine *e,
                       const struct route_in *in, struct arena *a, struct why *why,
                       struct route_result *ret)
{
	struct route_in with_prev = *in;
	int outcome;

	with_prev.prev = r->prev;
	with_prev.prev_lanes = r->prev_lanes;
	outcome = run_engine(r, e, &with_prev, a, why, ret);
	if (outcome == E_OK || is_not_verdict(outcome) || !ret->out.keeps_others) {
		return outcome;
	}
	with_prev.keep_by_rule = true;
	return run_engine(r, e, &with_prev, a, why, ret);
}

/* An engine that passes without earlier tables, with them if it can; see route_run().
 * known: it passes without. */
static int run_both(const struct route_request *r, const struct engine *e,
                    const struct route_in *in, bool known, struct arena *a,
                    struct why *why, struct route_result *ret)
{
	const struct route_verdict *v = r->verdict;
	/* The engine that made the earlier tables most likely needs one run only. */
	const bool early =
		known || has_fixed_verdict(e) || !v || !v->used || v->used == e;
	struct route_result kept = *ret;
	struct why kept_why = { "" };
	int kept_outcome = E_OK, outcome;
	struct arena *tmp;

	if (early) {
		kept_outcome = run_keeping(r, e, in, a, &kept_why, &kept);
		if (is_not_verdict(kept_outcome) ||
		    (kept_outcome == E_OK && (known || passes_always(r, e, &kept.out)))) {
			*ret = kept;
			return kept_outcome;
		}
		ret->seconds_route = kept.seconds_route;
		ret->seconds_prove = kept.seconds_prove;
	}
	tmp = arena_new();
	outcome = tmp ? run_engine(r, e, in, tmp, why, ret) : -ENOMEM;
	if (outcome != E_OK && !(outcome == E_CREDITLOOP && may_program(r, ret))) {
		arena_join(a, tmp);
		return outcome;
	}
	if (!early) {
		kept = *ret;
		kept_outcome = run_keeping(r, e, in, a, &kept_why, &kept);
	}
	if (kept_outcome == E_OK || kept_outcome == outcome ||
	    is_not_verdict(kept_outcome)) {
		arena_free(tmp);
		*ret = kept;
		return kept_outcome;
	}
	arena_join(a, tmp);
	why_add(&ret->out.notes,
	        "%s: routes are computed anew, those that there were cannot be "
	        "kept: %s",
	        e->name,
	        kept_why.text[0] ? kept_why.text : proof_text(&kept.proof, r->g, a));
	return outcome;
}

/* Check, route and prove with one engine. E_UNSUITABLE: the engine refused, reason in
 * why. */
static int check_and_run(const struct route_request *r, const struct engine *e,
                         bool known, struct arena *a, struct why *why,
                         struct route_result *ret)
{
	struct route_in in = input_of(r);
	int ret_code = engine_options_of(r->options, e, a, &in.options);

	if (ret_code != E_OK) {
		return ret_code;
	}
	if ((e->flags & ENGINE_LMC0_ONLY) && lids_have_lmc(r->lids, r->g)) {
		why_add(why, "%s: works with LMC 0 only", e->name);
		return E_UNSUITABLE;
	}
	ret_code = e->check ? e->check(&in, why) : E_OK;
	if (ret_code != E_OK) {
		return ret_code;
	}
	return (e->flags & ENGINE_IGNORES_PREV) || !has_entries(r->prev)
	               ? run_engine(r, e, &in, a, why, ret)
	               : run_both(r, e, &in, known, a, why, ret);
}

/* May the next engine be tried after this outcome? */
static bool tries_next(const struct route_request *r, int outcome)
{
	if (outcome == E_CREDITLOOP) {
		return r->credit_loops == CREDIT_FALLBACK;
	}
	return outcome == E_UNSUITABLE || outcome == E_LOOP || outcome == E_NOPATH;
}

/* A credit loop that is programmed on purpose stays visible. */
static void warn_credit_loop(const struct route_request *r, struct arena *a,
                             struct route_result *ret)
{
	why_add(&ret->warning, "programmed although it can deadlock: %s",
	        proof_text(&ret->proof, r->g, a));
}

/* Outcome of one engine of the list; a reason why it can't be used goes to why. */
static int try_engine(const struct route_request *r, const struct engine *e, bool known,
                      struct arena *a, struct why *why, struct route_result *res)
{
	int outcome = check_and_run(r, e, known, a, why, res);

	if (outcome == E_CREDITLOOP && may_program(r, res)) {
		warn_credit_loop(r, a, res);
		return E_OK;
	}
	if (outcome != E_OK && outcome != E_UNSUITABLE && tries_next(r, outcome)) {
		why_add(why, "%s: %s", e->name, proof_text(&res->proof, r->g, a));
	}
	return outcome;
}

/* Notes which deadlock-free engine was chosen, and why none before it. */
static void note_choice(struct route_result *res, const char *who,
                        const struct why *passed_over)
{
	uint8_t lanes = lanes_vls(&res->out.lanes);

	if (lanes <= 1) {
		why_add(&res->out.notes, "%s chose %s, which proves out with 1 lane", who,
		        res->used->name);
	} else {
		why_add(&res->out.notes,
		        "%s chose %s, which proves out with %u lanes: of the engines "
		        "that "
		        "route well without, none fits",
		        who, res->used->name, lanes);
	}
	if (passed_over->text[0]) {
		why_add(&res->out.notes, "%s", passed_over->text);
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

/* --- what is remembered of the engines -----------------------------------------------
 */

/* Digest of the inputs of a verdict. Never 0. */
static uint64_t verdict_digest(const struct route_request *r)
{
	uint64_t h = digest_add(graph_digest(r->g), lids_digest(r->lids, r->g));

	for (uint32_t i = 0; i < r->g->n_ports; i++) { /* device groups may go by it */
		h = digest_add(h, r->g->ports[i].capability_mask);
	}
	return digest_add(h, (uint64_t)lanes_to_use(r) << 1 | r->strict) | 1;
}

/* Place in the list of the engine that serves, with the reasons against those before it;
 * 0: not known. */
static unsigned known_place(const struct route_verdict *v, uint64_t digest,
                            const struct route_list *l, bool *ret_known)
{
	unsigned i = 0;

	*ret_known = v && v->digest == digest;
	while (*ret_known && i < l->n && l->engine[i] != v->used) {
		i++;
	}
	*ret_known &= i < l->n;
	return *ret_known ? i : 0;
}

/* --- one engine after the other -------------------------------------------------------
 */

struct search {
	struct route_list l; /* with what comes after those asked for */
	struct why refused, passed_over;
	struct route_result shown; /* of refused tables the first */
	int shown_outcome;
	unsigned at; /* the engine that ended it */
	bool known;  /* that it would */
};

/* \return The last outcome. */
static int search_engines(const struct route_request *r, struct search *x,
                          struct arena *a, struct route_result *res)
{
	int outcome = E_UNSUITABLE;

	for (; x->at < x->l.n; x->at++) {
		const struct route_request own = request_for(r, x->at);

		outcome =
			try_engine(&own, x->l.engine[x->at], x->known, a,
		                   route_list_is_chosen(&r->list, x->at) ? &x->passed_over
		                                                         : &x->refused,
		                   res);
		if (outcome == E_OK || !tries_next(&own, outcome)) {
			break;
		}
		x->known = false;
		if (outcome != E_UNSUITABLE && !x->shown_outcome) {
			x->shown = *res;
			x->shown_outcome = outcome;
		}
		res->used = NULL;
	}
	return outcome;
}

/* Tries the engines one after the other. */
static int compute(const struct route_request *r, struct arena *a,
                   struct route_result *ret)
{
	struct route_result res = { .engine_asked = route_list_first(&r->list) };
	struct search x = { .l = route_list_whole(
				    &r->list, r->credit_loops == CREDIT_FALLBACK) };
	uint64_t digest = r->verdict ? verdict_digest(r) : 0;
	int outcome;

	x.at = known_place(r->verdict, digest, &x.l, &x.known);
	if (x.known) {
		x.refused = r->verdict->refused;
		x.passed_over = r->verdict->passed_over;
	}
	outcome = search_engines(r, &x, a, &res);
	if (r->verdict) {
		*r->verdict =
			(struct route_verdict){ .digest = outcome == E_OK ? digest : 0,
			                        .used = res.used,
			                        .refused = x.refused,
			                        .passed_over = x.passed_over };
	}
	res.fallback_reason = x.refused;
	if (outcome == E_OK) {
		if (route_list_is_chosen(&r->list, x.at)) {
			note_choice(&res, route_deadlock_free, &x.passed_over);
		} else if (x.at >= r->list.n && res.used->deadlock_free_order) {
			note_choice(&res, "the search for an engine without credit loops",
			            &x.passed_over);
		}
		*ret = res;
		return finish(r, a, ret);
	}
	if (x.shown_outcome && x.at == x.l.n) {
		res = x.shown;
		res.fallback_reason = x.refused;
		outcome = x.shown_outcome;
	}
	if (x.passed_over.text[0]) {
		why_add(&res.fallback_reason, "%s", x.passed_over.text);
	}
	*ret = res;
	return outcome;
}

/* --- the unicast routing cache ------------------------------------------------------ */

/* Tables of the cache that pass as they are. Anything but E_OK: compute. */
static int run_cached(const struct route_request *r, struct arena *a, struct why *why,
                      struct route_result *ret)
{
	double start = now(r);
	struct route_cached c;
	int outcome = route_cache_look(r->cache, r->g, r->lids, lanes_to_use(r), a, &c, why);

	if (outcome != E_OK) {
		return outcome;
	}
	struct route_result res = { .engine_asked = c.engine_asked,
		                    .used = c.used,
		                    .fallback_reason = c.fallback_reason,
		                    .out = c.out,
		                    .cached = true,
		                    .seconds_route = now(r) - start };

	outcome = prove(r, a, &res);
	if (outcome == E_CREDITLOOP && may_program(r, &res)) {
		warn_credit_loop(r, a, &res);
		outcome = E_OK;
	}
	if (outcome == E_OK) {
		*ret = res;
		return finish(r, a, ret);
	}
	why_add(why, "%s", proof_text(&res.proof, r->g, a));
	return outcome;
}

/* Stores the result in the cache, or clears the cache after a failure. Without memory for
 * the cache the next run computes again. */
static void remember(const struct route_request *r, int outcome, const struct route_result *res)
{
	const struct route_cached c = { .used = res->used,
		                        .engine_asked = res->engine_asked,
		                        .max_lanes = lanes_to_use(r),
		                        .fallback_reason = res->fallback_reason,
		                        .out = res->out };

	if (outcome == E_OK) {
		(void)route_cache_store(r->cache, r->g, r->lids, &c);
	} else {
		route_cache_drop(r->cache);
	}
}

static int run_full(const struct route_request *r, struct arena *a,
                    struct route_result *ret)
{
	struct why miss = { "" };
	int outcome;

	if (!r->cache) {
		return compute(r, a, ret);
	}
	if (run_cached(r, a, &miss, ret) == E_OK) {
		return E_OK;
	}
	outcome = compute(r, a, ret);
	ret->cache_miss = miss;
	remember(r, outcome, ret);
	return outcome;
}

/* --- what a change touches ------------------------------------------------------------ */

/* Routes all, keeping what can stay, and takes over what differs. */
static int reroute_all(const struct route_in *in, struct route_step *st, struct why *why)
{
	struct route_out out = { 0 };
	int code = st->used->route(in, st->tmp, &out);

	if (code == E_OK &&
	    (out.lanes.rows || out.lanes.rule || out.may_deadlock || out.may_miss)) {
		why_add(why, "%s: the new tables are of another kind", st->used->name);
		code = E_UNSUITABLE;
	}
	return code == E_OK ? route_base_adopt(st, &out.lft) : code;
}

/* Routes what the change touches with the engine of the base. */
static int route_change(const struct route_request *r, struct route_step *st,
                        struct why *why)
{
	const struct engine *e = st->used;
	struct route_in in = input_of(r);
	uint32_t marked = st->repair.n;
	struct why unable = { "" };
	int code = engine_options_of(r->options, e, st->tmp, &in.options);

	in.prev = r->prev;
	if (code == E_OK && e->check) {
		code = e->check(&in, why);
	}
	if (code != E_OK || (!st->has_work && e->repair)) {
		return code;
	}
	if (e->repair) {
		code = e->repair(&in, &st->repair, st->tmp, &unable);
		if (code != E_UNSUITABLE || st->repair.n != marked) {
			return code;
		}
	}
	return reroute_all(&in, st, why);
}

/* Would a fresh start take the engine that goes on? It fits, and comes first. */
static bool is_confirmed(const struct route_request *r, const struct engine *used)
{
	const struct route_list l = route_list_whole(
		&r->list, r->credit_loops == CREDIT_FALLBACK);

	return has_fixed_verdict(used) && l.n != 0 && l.engine[0] == used;
}

/* Goes on from the base. \retval E_UNSUITABLE  It has to be a full run. */
static int run_change(const struct route_request *r, struct why *why,
                      struct route_result *ret)
{
	struct route_step st;
	struct route_result res;
	double start = now(r), routed = start;
	int code = route_base_compare(r->base, r, lanes_to_use(r), &st, why);

	if (code == E_OK) {
		code = route_change(r, &st, why);
		routed = now(r);
	}
	if (code == E_OK) {
		code = route_base_finish(&st, r, &res, why);
	}
	if (code == E_OK) {
		res.engine_unconfirmed = !is_confirmed(r, res.used);
		res.seconds_route = routed - start;
		res.seconds_prove = now(r) - routed;
		*ret = res;
	}
	if (code == E_OK && r->verdict) {
		r->verdict->digest = 0;
	}
	route_base_end(&st);
	return code;
}

static int run(const struct route_request *r, struct arena *a, struct route_result *ret)
{
	struct why why = { "" };
	struct arena *own;
	int outcome;

	if (!r->base) {
		return run_full(r, a, ret);
	}
	if (r->incremental) {
		outcome = run_change(r, &why, ret);
		if (outcome == E_OK || is_not_verdict(outcome)) {
			return outcome;
		}
	}
	route_base_clear(r->base);
	own = arena_new();
	if (!own) {
		return -ENOMEM;
	}
	outcome = run_full(r, own, ret);
	if (outcome == E_OK) {
		ret->full_reason = why;
		route_base_take(r->base, r, lanes_to_use(r), own, ret);
	} else {
		arena_join(a, own);
	}
	return outcome;
}

int route_run(const struct route_request *r, struct arena *a, struct route_result *ret)
{
	unsigned threads = column_threads();
	int outcome;

	column_use_threads(r->threads ? r->threads : threads);
	outcome = run(r, a, ret);
	column_use_threads(threads);
	if (outcome == E_OK && ret->proof.missed_pairs) {
		why_add(&ret->out.notes, "%s",
		        proof_missed_text(&ret->proof, r->g, r->lids, a));
	}
	return outcome;
}

static int no_route(const struct route_in *in, struct arena *a, struct route_out *ret)
{
	(void)in;
	(void)a;
	(void)ret;
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
                        struct route_result *ret)
{
	struct route_result res = { .engine_asked = made_by->name, .used = made_by };
	int outcome;

	res.out.lft = *lft;
	res.out.lanes = lanes ? *lanes : (struct lanes){ .n = 1 };
	outcome = prove(r, a, &res);
	if (outcome == E_CREDITLOOP && r->credit_loops == CREDIT_PROGRAM) {
		warn_credit_loop(r, a, &res);
		outcome = E_OK;
	}
	*ret = res;
	return outcome == E_OK ? finish(r, a, ret) : outcome;
}

int route_check(const struct route_request *r, const struct lft *lft,
                const struct lanes *lanes, struct arena *a, struct route_result *ret)
{
	return check_tables(r, &engine_foreign, lft, lanes, a, ret);
}

int route_resume(const struct route_request *r, const struct engine *made_by,
                 const struct lft *lft, const struct lanes *lanes, struct arena *a,
                 struct route_result *ret)
{
	struct arena *own = arena_new();
	struct lft mine;
	int outcome = -ENOMEM;

	route_base_clear(r->base);
	if (own && lft_init(&mine, lft->n_switches, lft->n_lids - 1, own) == E_OK) {
		memcpy(mine.rows, lft->rows, lft->n_switches * lft->stride);
		outcome = check_tables(r, made_by, &mine, lanes, own, ret);
	}
	if (outcome == E_OK) {
		route_base_take(r->base, r, lanes_to_use(r), own, ret);
	} else if (own) {
		arena_join(a, own);
	}
	return outcome;
}

int route_multicast(const struct route_request *r, const struct engine *used,
                    const struct mcast_in *m, struct arena *a, struct mcast_tree *ret,
                    struct why *why)
{
	struct route_in in = input_of(r);
	struct why own = { "" };
	int err;

	if (!used || !used->multicast) {
		return mcast_default_trees(r->g, m, a, ret);
	}
	err = engine_options_of(r->options, used, a, &in.options);
	if (err == E_OK) {
		err = used->multicast(&in, m, a, ret, &own);
	}
	if (err != E_UNSUITABLE) {
		return err;
	}
	why_add(why, "%s", own.text);
	return mcast_default_trees(r->g, m, a, ret);
}
