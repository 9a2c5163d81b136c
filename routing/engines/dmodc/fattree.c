/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * fattree: the fat trees of the Omni-Path manual. Tiers, routes that climb and then
 * descend, and sets of hosts that are balanced each by itself.
 *
 * The tree, the closed form that deals hosts over its ways up, what takes the place of
 * what is missing, and why no circle of waiting links can arise are those of dmodc.c;
 * what is the engine's own:
 *
 * Tiers. Tier 1 are the switches with hosts, each other is one above its lowest
 * neighbour; where some hosts hang higher, the switches with many are tier 1. Or tiers
 * are distances from the core switches, if these are named. How many there are is found;
 * a number that is given has to agree.
 *
 * Sets. Hosts of route_last are dealt after all others, and each takes the way that
 * carries the fewest hosts so far, of equals the one with the fewest of its set. So both
 * sets and all hosts together are even: compute and I/O nodes. The manual's sentence
 * lists the compute nodes and says that they come first, its parameter says that they
 * come last; for balance that is the same.
 *
 * What has no such route at all, for instance two hosts on different core switches, is
 * named and led over the line of dmodc.c, which has no credit loops either.
 *
 * What differs from opa-fm 10.14: up/down is a rule, not a preference among the shortest
 * paths; a tier count that contradicts the fabric is refused; whatever has no tier is
 * named and takes part as far as it can.
 *
 * Source: Cornelis CN5000 Omni-Path software manual, "Fabric Unicast Routing", "Fat
 * Tree".
 */
#include "routing/engines/dmodc/fattree.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/graph/device_set.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"
#include "routing/spread/spread.h"

static const struct fattree_options no_options = { .same_tier = true };

/* ---- what is asked for ---- */

/* Core switches by group. E_UNSUITABLE: none is here. */
static int find_core(struct fattree *f, struct arena *a, struct why *why)
{
	const struct graph *g = f->in->g;
	struct device_set set;
	uint32_t n = 0;
	bool *core;

	if (!f->opt->core) {
		why_add(why, "fattree: fattree_on_same_tier FALSE needs "
		             "fattree_core_switches, "
		             "the group of switches at the top");
		return E_UNSUITABLE;
	}
	core = arena_array(a, g->n_switches, sizeof(*core));
	if (!core || device_set_of(g, f->opt->core, a, &set) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		core[s] = device_set_has_switch(&set, g, s);
		n += core[s];
	}
	if (n == 0 && g->n_switches) {
		why_add(why,
		        "fattree: no switch of group '%s' (fattree_core_switches) is in "
		        "the fabric",
		        f->opt->core->text);
		return E_UNSUITABLE;
	}
	f->rule.core = core;
	return E_OK;
}

/* Hosts that come last: all ports of a node of which one is in the group. */
static int find_last(struct fattree *f, struct arena *a)
{
	const struct graph *g = f->in->g;
	bool *last = arena_array(a, g->n_ports, sizeof(*last));
	struct device_set set;

	if (!last || device_set_of(g, f->opt->last, a, &set) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->host_first[g->n_switches]; i++) {
		const struct node *n = &g->nodes[g->ports[g->hosts[i]].node];

		for (uint32_t p = 1; p <= n->n_ports && !last[g->hosts[i]]; p++) {
			last[g->hosts[i]] = device_set_has(&set, n->first_port + p);
		}
		f->n_last += last[g->hosts[i]];
	}
	f->rule.last = last;
	return E_OK;
}

static int fattree_init(struct fattree *f, const struct route_in *in, struct arena *a,
                        struct why *why)
{
	const struct fattree_options *o = in->options ? in->options : &no_options;
	int ret = E_OK;

	*f = (struct fattree){ .in = in, .opt = o, .rule = { .engine = "fattree" } };
	f->rule.deal_by = (o->pass_through ? DMODC_PASS_THROUGH : 0U) |
	                  (o->converge ? DMODC_CONVERGE : 0U);
	if (!o->same_tier) {
		ret = find_core(f, a, why);
	}
	if (ret == E_OK && o->last) {
		ret = find_last(f, a);
	}
	return ret;
}

/* Options that contradict each other or the fabric. */
static int fattree_check(const struct route_in *in, struct why *why)
{
	struct arena *tmp = arena_new();
	struct why notes = { "" };
	struct dmodc_tree t;
	struct fattree f;
	int ret = tmp ? fattree_init(&f, in, tmp, &notes) : -ENOMEM;

	if (ret == E_OK) {
		ret = dmodc_tree_init(&t, in->g, &f.rule, tmp, &notes);
	}
	if (ret == E_UNSUITABLE) {
		why_add(why, "%s", notes.text);
	}
	arena_free(tmp);
	return ret;
}

/* ---- the whole ---- */

/*
 * Where hosts have no places of their own (leaves.h), or routes were moved to even out,
 * one host more or less would move others': there earlier routes stay as far as they can.
 * Rules of dealing are looked at by no comparison of loads, so with these no host stays.
 */
static int stay(const struct fattree *f, const struct dmodc_job *j, struct arena *tmp)
{
	struct keep_measure m = { .g = j->g, .lids = j->lids, .n_sets = 2 };
	bool hosts = !f->rule.deal_by && (!j->t.full || dmodc_is_broken(&j->t));
	uint8_t *set;

	if (f->rule.last) {
		set = arena_alloc(tmp, j->g->n_ports);
		if (!set) {
			return -ENOMEM;
		}
		for (uint32_t p = 0; p < j->g->n_ports; p++) {
			set[p] = f->rule.last[p];
		}
		m.set = set;
	}
	return keep_tables(&m, f->in->prev, hosts, j->lft);
}

static int compute(struct fattree *f, struct dmodc_job *j, struct arena *tmp,
                   struct why *notes)
{
	int ret = dmodc_job_init(j, &f->rule, f->in, tmp, notes);

	if (ret == E_OK) {
		ret = dmodc_fill(j, f->in->cancel, tmp);
	}
	if (ret == E_OK) {
		ret = dmodc_even(j, f->in->cancel, tmp);
	}
	return ret == E_OK ? stay(f, j, tmp) : ret;
}

static int fattree_route(const struct route_in *in, struct arena *a,
                         struct route_out *ret)
{
	struct arena *tmp = arena_new();
	struct lft lft;
	struct dmodc_job j = { .lft = &lft };
	struct fattree f;
	int ret_code = tmp ? fattree_init(&f, in, tmp, &ret->notes) : -ENOMEM;

	if (ret_code == E_OK) {
		ret_code = lft_init(&lft, in->g->n_switches, in->lids->top, a);
	}
	if (ret_code == E_OK) {
		ret_code = compute(&f, &j, tmp, &ret->notes);
	}
	if (ret_code == E_OK && f.opt->adaptive && f.opt->fine_grained) {
		const struct graph *g = f.in->g;
		const struct lids *lids = f.in->lids;
		uint32_t further = 0;

		/* Static dispersion: with alternates for each LID, switches choose
		 * among all ways up themselves, and the LIDs of a range need no ways
		 * of their own. All of them get the route of the base LID, so the
		 * low bits of a LID do not matter. */
		for (uint32_t i = 0; i < g->host_first[g->n_switches]; i++) {
			struct lid_range r = lids->of[g->hosts[i]];

			for (uint32_t k = 1; r.base && k < 1U << r.lmc; k++, further++) {
				for (uint32_t s = 0; s < g->n_switches; s++) {
					uint8_t *row = lft_row(&lft, s);

					row[r.base + k] = row[r.base];
				}
			}
		}
		if (further) {
			why_add(&ret->notes,
			        "fattree: fine-grained adaptive routing takes the place "
			        "of LMC: all "
			        "LIDs of a port share its route and its alternates");
		}
	}
	if (ret_code == E_OK) {
		fattree_note(&f, &j, &ret->notes);
		ret->lft = lft;
		ret->lanes = (struct lanes){ .n = 1 };
		ret->beyond_rule = j.line.n_conflicts != 0;
	}
	arena_free(tmp);
	return ret_code;
}

#define MEMBER(m) .offset = offsetof(struct fattree_options, m)
#define XML(key) .xml = "Sm/FatTreeTopology/" key

/* clang-format off */
static const struct option_row fattree_rows[] = {
	{ .name = "fattree_tier_count", .type = OPT_UINT, MEMBER(tier_count), .def = "0", .max = 10,
	  XML("TierCount"),
	  .help = "Tiers of switches that the fat tree should have; they are found, and another number is told; 0: any" },
	{ .name = "fattree_on_same_tier", .type = OPT_BOOL, MEMBER(same_tier), .def = "TRUE",
	  XML("FIsOnSameTier"),
	  .help = "All hosts hang on switches of the lowest tier; FALSE: tiers are counted from "
	          "fattree_core_switches" },
	{ .name = "fattree_core_switches", .type = OPT_DEVICE_GROUP, MEMBER(core),
	  XML("CoreSwitches"), .arg = "GROUP",
	  .help = "Device group of the switches at the top of the tree" },
	{ .name = "fattree_route_last", .type = OPT_DEVICE_GROUP, MEMBER(last),
	  XML("RouteLast"), .arg = "GROUP",
	  .help = "Device group of hosts that are routed after all others, each set balanced by itself" },
	{ .name = "fattree_pass_through", .type = OPT_BOOL, MEMBER(pass_through), .def = "FALSE",
	  XML("PassThrough"),
	  .help = "Choose ways up by the place of a host on its switch, the same at every switch" },
	{ .name = "fattree_converge", .type = OPT_BOOL, MEMBER(converge), .def = "FALSE",
	  XML("Converge"),
	  .help = "In a tree of three tiers, lead all hosts of a switch through the same core switches" },
	{ .name = "adaptive_routing", .type = OPT_BOOL, MEMBER(adaptive), .def = "FALSE",
	  .xml = "Sm/AdaptiveRouting/Enable",
	  .help = "With adaptive_fine_grained: all LIDs of a port share one route" },
	{ .name = "adaptive_fine_grained", .type = OPT_BOOL, MEMBER(fine_grained), .def = "FALSE",
	  .xml = "Sm/AdaptiveRouting/FineGrained",
	  .help = "With adaptive_routing: all LIDs of a port share one route" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_fattree = {
	.name = "fattree",
	.summary = "Fat trees of Omni-Path: tiers, core switches, sets of hosts balanced "
		   "apart",
	.flags = ENGINE_DEADLOCK_FREE,
	.deadlock_free_order = 15,
	.options = fattree_rows,
	.opt_size = sizeof(struct fattree_options),
	.check = fattree_check,
	.route = fattree_route,
};
