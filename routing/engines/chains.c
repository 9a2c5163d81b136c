/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * chains: parts of a fabric routed by different engines.
 *
 * A chain is a list of steps. Each step runs an engine with its own options on a topology: a
 * set of switches with some of their ports, and a set of CAs and routers. The first step has
 * the whole fabric. A step extracts its topology and routes it as a separate fabric; its
 * entries for the LIDs in it replace the earlier entries of its switches. So each entry is
 * of the last step that routed it. Because the first step covers everything, every LID has
 * an entry even if later steps do not include it.
 *
 * A step with fallback-to runs only if the step named there failed: its engine refused or
 * could not compute. With path-bit a step routes one LID of each range; the first step
 * routes all of them.
 *
 * Virtual lanes: the lane of a route is that of the step which wrote the entry at its source
 * switch. Only one step can have an SL-to-VL rule; then the other steps must use one lane.
 *
 * Not promised: anything about the combination. Steps that are each free of credit loops may
 * have them together, or form a forwarding loop where topologies overlap. The combined
 * tables go through the proof like any others, which other subnet managers do not do.
 *
 * Source: the MLNX_OFED user manual, "Routing Chains".
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/engine.h"
#include "routing/engine_options.h"
#include "routing/graph/graph.h"
#include "routing/graph/port_policy_set.h"
#include "routing/graph/subgraph.h"
#include "routing/text/chain_conf.h"

/* A step with all that it names. */
struct bound_step {
	const struct chain_step *step;
	const struct engine *engine;
	const void *options;     /* of the engine, NULL: it has none */
	uint32_t sw_grp, hca_grp; /* port groups; PORT_POLICY_NONE: the whole fabric */
	uint32_t fallback_of;    /* index of the step that must have failed, own index: none */
};

struct chains_options {
	const struct port_policy *groups;
	const struct chain_topologies *topologies;
	const struct chain_steps *steps;
	const struct bound_step *bound; /* [steps->n], set by bind */
};

#define MEMBER(m) .offset = offsetof(struct chains_options, m)

/* clang-format off */
static const struct option_row chains_rows[] = {
	{ .name = "pgrp_policy_file", .type = OPT_FILE, MEMBER(groups), .read = port_policy_read,
	  .arg = "FILE", .help = "Port groups, for root_guid_file and for the topologies of routing chains" },
	{ .name = "topo_policy_file", .type = OPT_FILE, MEMBER(topologies), .read = chain_topologies_read,
	  .arg = "FILE", .help = "Topologies of routing chains: groups of switches and of CAs" },
	{ .name = "rch_policy_file", .type = OPT_FILE, MEMBER(steps), .read = chain_steps_read,
	  .arg = "FILE", .help = "Steps of a routing chain, each an engine on a topology" },
	{ NULL }
};
/* clang-format on */

extern const struct engine engine_chains;

/* --- binding ------------------------------------------------------------------------ */

struct binder {
	struct chains_options *o;
	const struct port_policy *groups;
	const struct engine_options *all;
	struct arena *a;
	struct diags *d;
};

static int check_group(const struct binder *b, const struct chain_topology *t,
                       const char *name)
{
	if (port_policy_find(b->groups, name) != PORT_POLICY_NONE) {
		return E_OK;
	}
	diag_add(b->d, DIAG_ERROR, b->o->topologies->path, t->line,
	         "topology %" PRIu32 ": no port-group '%s'%s", t->id, name,
	         b->o->groups ? "" : ": there is no pgrp_policy_file");
	return E_UNKNOWN;
}

/* Each once, whether a step names it or not. */
static int check_topologies(const struct binder *b)
{
	const struct chain_topologies *all = b->o->topologies;
	int first = E_OK;

	for (uint32_t i = 0; all && i < all->n; i++) {
		const struct chain_topology *t = &all->topology[i];
		int sw = check_group(b, t, t->sw_grp), hca = check_group(b, t, t->hca_grp);

		first = first != E_OK ? first : sw != E_OK ? sw : hca;
	}
	return first;
}

static int bind_topology(const struct binder *b, struct bound_step *s)
{
	const struct chain_topologies *all = b->o->topologies;

	s->sw_grp = s->hca_grp = PORT_POLICY_NONE;
	if (s->step->topology == 0) {
		return E_OK;
	}
	for (uint32_t i = 0; all && i < all->n; i++) {
		const struct chain_topology *t = &all->topology[i];

		if (t->id == s->step->topology) {
			s->sw_grp = port_policy_find(b->groups, t->sw_grp);
			s->hca_grp = port_policy_find(b->groups, t->hca_grp);
			return E_OK;
		}
	}
	diag_add(b->d, DIAG_ERROR, b->o->steps->path, s->step->line,
	         "step %" PRIu32 ": no topology %" PRIu32 "%s", s->step->id, s->step->topology,
	         all ? "" : ": there is no topo_policy_file");
	return E_UNKNOWN;
}

/* Options of all engines as they are, in memory of their own. */
static int copy_options(const struct binder *b, struct engine_options *ret_options)
{
	int ret = engine_options_init(ret_options, b->a);

	for (unsigned i = 0; ret == E_OK && engines[i]; i++) {
		if (engines[i]->options) {
			memcpy(ret_options->base[i], b->all->base[i],
			       engines[i]->opt_size);
		}
	}
	return ret;
}

static int bind_engine(const struct binder *b, struct bound_step *s)
{
	for (unsigned i = 0; engines[i]; i++) {
		if (!strcmp(engines[i]->name, s->step->engine) && engines[i] != &engine_chains) {
			struct engine_options own;
			struct config *rest;
			int ret;

			s->engine = engines[i];
			/* The file of a step over the options of the main file. Keys
			 * that are not an engine's are the main file's affair. */
			rest = arena_alloc(b->a, sizeof(*rest));
			struct option_trace seen = { .arena = b->a };
			ret = rest ? copy_options(b, &own) : -ENOMEM;
			if (ret == E_OK) {
				ret = option_sets_add(&own.sets, config_rows, rest);
			}
			if (ret == E_OK && s->step->text) {
				own.sets.trace = &seen;
				ret = option_read_text(&own.sets, b->a, s->step->config,
				                       s->step->text, s->step->text_len,
				                       b->d);
			}
			if (ret == E_OK && s->engine->bind) {
				ret = s->engine->bind(own.base[i], b->all, b->a, b->d);
			}
			/* Keys of a step's file that its engine does not read change nothing. */
			for (unsigned k = 0; k < seen.n; k++) {
				const struct option_seen *x = &seen.seen[k];

				if (x->fate == OPTION_TAKEN &&
				    !engine_row(s->engine, x->key)) {
					diag_add(b->d, DIAG_WARNING, s->step->config,
					         x->line,
					         "%s '%.64s': no effect in step %" PRIu32
					         ", because engine %s does not read it",
					         x->key, x->value, s->step->id,
					         s->engine->name);
				}
			}
			s->options = own.base[i];
			return ret;
		}
	}
	diag_add(b->d, DIAG_ERROR, b->o->steps->path, s->step->line,
	         "step %" PRIu32 ": %s '%s'", s->step->id, ("unknown engine"),
	         s->step->engine);
	return E_UNKNOWN;
}

/* A fallback of a fallback, and one of no step, never run. */
static void bind_fallback(const struct binder *b, struct bound_step *all, uint32_t i)
{
	const struct chain_step *s = all[i].step;

	all[i].fallback_of = i;
	for (uint32_t k = 0; s->fallback_to && k < b->o->steps->n; k++) {
		if (b->o->steps->step[k].id == s->fallback_to &&
		    b->o->steps->step[k].fallback_to == 0) {
			all[i].fallback_of = k;
			return;
		}
	}
	if (s->fallback_to) {
		diag_add(b->d, DIAG_WARNING, b->o->steps->path, s->line,
		         "step %" PRIu32 " is left out: step %" PRIu32
		         ", to which it would be a fallback, is not there or is one itself",
		         s->id, s->fallback_to);
		all[i].engine = NULL;
	}
}

static int chains_bind(void *options, const struct engine_options *all, struct arena *a,
                       struct diags *d)
{
	struct chains_options *o = options;
	struct binder b = { o, o->groups ? o->groups : port_policy_builtin(), all, a, d };
	struct bound_step *bound;
	int first = check_topologies(&b);

	o->bound = NULL;
	if (!o->steps) {
		return first;
	}
	bound = arena_array(a, o->steps->n, sizeof(*bound));
	if (!bound) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < o->steps->n; i++) {
		bound[i].step = &o->steps->step[i];
		int ret = bind_engine(&b, &bound[i]);
		int topology = bind_topology(&b, &bound[i]);

		bind_fallback(&b, bound, i);
		first = first != E_OK ? first : ret != E_OK ? ret : topology;
	}
	o->bound = bound;
	return first;
}

/* --- running ------------------------------------------------------------------------ */

struct run {
	const struct route_in *in;
	const struct chains_options *o;
	const struct port_policy *groups;
	struct arena *a; /* of the result */
	struct route_out *out;
	bool *failed; /* [n steps] */
	uint32_t rule_step; /* index of the step whose rule it is, n: none */
};

static int set_of(const struct run *r, uint32_t group, struct arena *tmp,
                  struct device_set *ret_set)
{
	if (group == PORT_POLICY_NONE) {
		group = port_policy_find(port_policy_builtin(), "ALL");
		return port_policy_set(r->in->g, port_policy_builtin(), group, tmp,
		                       ret_set);
	}
	return port_policy_set(r->in->g, r->groups, group, tmp, ret_set);
}

/* Lanes of one row where a step has none: lane 0. */
static int need_lanes(struct run *r)
{
	struct lanes *l = &r->out->lanes;

	if (l->rows) {
		return E_OK;
	}
	l->stride = r->out->lft.stride;
	l->rows = arena_array(r->a, r->out->lft.n_switches, l->stride);
	return l->rows ? E_OK : -ENOMEM;
}

/* Classes of the step's ports; all others are of class 0. */
static int take_rule(struct run *r, uint32_t step, const struct subgraph *x,
                     const struct vl_rule *from)
{
	const struct graph *g = r->in->g;
	struct vl_rule *rule = arena_alloc(r->a, sizeof(*rule));

	if (!rule) {
		return -ENOMEM;
	}
	*rule = *from;
	rule->width = g->max_port + 1U;
	rule->port_class = arena_array(r->a, g->n_switches, rule->width);
	if (!rule->port_class) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < x->g->n_switches; s++) {
		memcpy(rule->port_class + (size_t)x->whole_sw[s] * rule->width,
		       from->port_class + (size_t)s * from->width, from->width);
	}
	r->out->lanes.rule = rule;
	r->rule_step = step;
	return E_OK;
}

/* Lanes that do not fit what other steps have. */
static bool lanes_clash(const struct run *r, uint32_t step, const struct route_out *part)
{
	const struct lanes *have = &r->out->lanes;

	if (part->lanes.rule) {
		return have->n > 1 || (have->rule && r->rule_step != step);
	}
	return have->rule && part->lanes.n > 1;
}

static bool is_written(const struct run *r, const struct bound_step *b,
                       const struct subgraph *x, uint32_t lid)
{
	uint32_t owner = x->lids.owner[lid];

	if (owner == GRAPH_NONE) {
		return false;
	}
	return b->step == r->o->steps->step ||
	       r->in->lids->of[x->whole_port[owner]].base + b->step->path_bit == lid;
}

/* LIDs that a step leaves without routes between each other. */
static int take_may_miss(struct run *r, const uint8_t *from, uint32_t n)
{
	uint8_t *all = arena_alloc(r->a, r->out->lft.n_lids);

	if (!all) {
		return -ENOMEM;
	}
	for (uint32_t lid = 0; lid < r->out->lft.n_lids; lid++) {
		all[lid] = (r->out->may_miss && r->out->may_miss[lid]) ||
		           (lid < n && from[lid]);
	}
	r->out->may_miss = all;
	return E_OK;
}

static int merge(struct run *r, uint32_t step, const struct subgraph *x,
                 const struct route_out *part)
{
	const struct bound_step *b = &r->o->bound[step];
	int ret = E_OK;

	if (lanes_clash(r, step, part)) {
		why_add(&r->out->notes,
		        "chains: step %" PRIu32
		        ": %s needs virtual lanes that do not go with those of an earlier step",
		        b->step->id, b->engine->name);
		return E_UNSUITABLE;
	}
	if (part->lanes.rows || part->lanes.rule) {
		ret = need_lanes(r);
	}
	if (ret == E_OK && part->lanes.rule) {
		ret = take_rule(r, step, x, part->lanes.rule);
	}
	if (ret == E_OK && part->may_miss) {
		ret = take_may_miss(r, part->may_miss, part->lft.n_lids);
	}
	if (ret != E_OK) {
		return ret;
	}
	r->out->lanes.n = part->lanes.n > r->out->lanes.n ? part->lanes.n : r->out->lanes.n;
	r->out->may_deadlock |= part->may_deadlock;
	for (uint32_t s = 0; s < x->g->n_switches; s++) {
		const uint8_t *from = lft_row(&part->lft, s);
		uint32_t whole = x->whole_sw[s];
		uint8_t *to = lft_row(&r->out->lft, whole);
		uint8_t *lane = r->out->lanes.rows ? r->out->lanes.rows +
		                                             whole * r->out->lanes.stride
		                                   : NULL;

		for (uint32_t lid = 1; lid <= x->lids.top && lid < part->lft.n_lids;
		     lid++) {
			if (from[lid] == LFT_NO_ROUTE || !is_written(r, b, x, lid)) {
				continue;
			}
			to[lid] = from[lid];
			if (lane) {
				lane[lid] = lane_of(&part->lanes, s, lid);
			}
		}
	}
	return E_OK;
}

static unsigned widest_lmc(const struct route_in *in)
{
	unsigned lmc = 0;

	for (uint32_t i = 0; i < in->g->n_end_ports; i++) {
		struct lid_range r = in->lids->of[in->g->end_ports[i]];

		lmc = r.base && r.lmc > lmc ? r.lmc : lmc;
	}
	return lmc;
}

static int run_step(struct run *r, uint32_t step, struct arena *tmp)
{
	const struct bound_step *b = &r->o->bound[step];
	struct device_set switches, hosts;
	struct route_out part = { .lanes = { .n = 1 } };
	struct subgraph x;
	int ret = set_of(r, b->sw_grp, tmp, &switches);

	if (ret == E_OK && b->step->path_bit >> widest_lmc(r->in)) {
		why_add(&r->out->notes,
		        "chains: step %" PRIu32 " failed: path-bit %" PRIu32
		        " is beyond the %u LIDs that ports have at most",
		        b->step->id, b->step->path_bit, 1U << widest_lmc(r->in));
		return E_UNSUITABLE;
	}
	if (ret == E_OK) {
		ret = set_of(r, b->hca_grp, tmp, &hosts);
	}
	if (ret == E_OK) {
		ret = subgraph_cut(r->in->g, r->in->lids, &switches, &hosts,
		                   step ? b->step->path_bit : SUBGRAPH_ALL_LIDS, tmp, &x);
	}
	if (ret == E_OK && x.g->n_switches == 0) {
		why_add(&r->out->notes,
		        "chains: step %" PRIu32
		        " failed: no switch is in topology %" PRIu32,
		        b->step->id, b->step->topology);
		return E_UNSUITABLE;
	}
	if (ret == E_OK) {
		const struct route_in in = { .g = x.g,
			                     .lids = &x.lids,
			                     .options = b->options,
			                     .cancel = r->in->cancel,
			                     .max_lanes = r->in->max_lanes };
		struct why why = { "" };

		/* The engine's own way: check, then route. Reasons go to the notes. */
		ret = E_OK;
		if ((b->engine->flags & ENGINE_LMC0_ONLY) &&
		    lids_have_lmc(&x.lids, x.g)) {
			why_add(&why, "%s: works with LMC 0 only", b->engine->name);
			ret = E_UNSUITABLE;
		}
		if (ret == E_OK && b->engine->check) {
			ret = b->engine->check(&in, &why);
		}
		if (ret == E_OK) {
			ret = b->engine->route(&in, tmp, &part);
		}
		if (ret == E_UNSUITABLE || part.notes.text[0]) {
			why_add(&r->out->notes, "chains: step %" PRIu32 "%s: %s",
			        b->step->id, ret == E_OK ? "" : " failed",
			        part.notes.text[0] ? part.notes.text : why.text);
		}
	}
	return ret == E_OK ? merge(r, step, &x, &part) : ret;
}

static bool is_due(const struct run *r, uint32_t step)
{
	const struct bound_step *b = &r->o->bound[step];

	return b->engine && (b->fallback_of == step || r->failed[b->fallback_of]);
}

/* All steps that are due. A fallback may stand before the step it is for, by its id; it
 * runs in its own place then, when that failed in the first pass. */
static int run_steps(struct run *r)
{
	for (uint32_t i = 0; i < r->o->steps->n; i++) {
		struct arena *tmp;
		int ret;

		if (!is_due(r, i)) {
			continue;
		}
		tmp = arena_new();
		ret = tmp ? run_step(r, i, tmp) : -ENOMEM;
		arena_free(tmp);
		if (ret != E_OK && ret != E_UNSUITABLE) {
			return ret;
		}
		r->failed[i] = ret != E_OK;
	}
	return E_OK;
}

/* Did the first step, or its fallback, give the whole fabric routes? */
static bool is_covered(const struct run *r)
{
	if (!r->failed[0]) {
		return true;
	}
	for (uint32_t i = 1; i < r->o->steps->n; i++) {
		const struct bound_step *b = &r->o->bound[i];

		if (b->engine && b->fallback_of == 0 && !r->failed[i] && b->step->topology == 0) {
			return true;
		}
	}
	return false;
}

static int chains_check(const struct route_in *in, struct why *why)
{
	const struct chains_options *o = in->options;

	if (!o->bound) {
		why_add(why,
		        "chains: no steps: give rch_policy_file, and with topologies topo_policy_file and pgrp_policy_file");
		return E_UNSUITABLE;
	}
	return E_OK;
}

static int chains_route(const struct route_in *in, struct arena *a,
                        struct route_out *ret_out)
{
	const struct chains_options *o = in->options;
	struct run r = { .in = in,
		         .o = o,
		         .groups = o->groups ? o->groups : port_policy_builtin(),
		         .a = a,
		         .out = ret_out,
		         .rule_step = o->steps->n };
	int ret = lft_init(&ret_out->lft, in->g->n_switches, in->lids->top, a);

	ret_out->lanes = (struct lanes){ .n = 1 };
	r.failed = arena_array(a, o->steps->n, sizeof(*r.failed));
	if (!r.failed) {
		return -ENOMEM;
	}
	if (ret == E_OK) {
		ret = run_steps(&r);
	}
	if (ret == E_OK && !is_covered(&r)) {
		why_add(&ret_out->notes,
		        "chains: the first step failed, and no fallback of it routes the whole fabric");
		return E_UNSUITABLE;
	}
	return ret;
}

const struct engine engine_chains = {
	.name = "chains",
	.alias = "chain", /* of later MLNX_OFED */
	.flags = ENGINE_RUNS_OTHERS | ENGINE_IGNORES_PREV,
	.summary = "Parts of the fabric by different engines, proven together",
	.options = chains_rows,
	.opt_size = sizeof(struct chains_options),
	.bind = chains_bind,
	.check = chains_check,
	.route = chains_route,
};
