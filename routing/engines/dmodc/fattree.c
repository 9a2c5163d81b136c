/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * fattree: the fat trees of the Omni-Path manual. Switches are in tiers, routes climb and
 * then descend, and sets of hosts are balanced separately.
 *
 * The tree, the closed form that selects uplinks, the choice where cables are missing, and
 * the reason why no credit loop can arise are those of dmodc.c. This engine adds:
 *
 * Tiers. Switches with hosts are tier 1; every other switch is one tier above its lowest
 * neighbour. If some hosts hang higher, the switches with many hosts are tier 1. If core
 * switches are named, tiers are distances from these. The number of tiers is found; a
 * configured number has to agree.
 *
 * Sets. Hosts of route_last are placed after all others. Each takes the uplink that carries
 * the fewest hosts so far and, among equals, the fewest of its set. So each set, compute and
 * I/O nodes, and both together are balanced. The manual's sentence lists the compute nodes
 * and says that they come first; its parameter says that they come last. For balance both
 * are the same.
 *
 * Pairs without a route by rank, for instance two hosts on different core switches, are
 * noted and routed by the up/down order of dmodc.c, which has no credit loops either.
 *
 * Differences from opa-fm 10.14: climbing before descending is a rule, not a preference
 * among shortest paths. A tier count that contradicts the fabric is not used. Switches
 * without a tier are noted and used as far as possible.
 *
 * Source: Cornelis CN5000 Omni-Path software manual, "Fabric Unicast Routing", "Fat
 * Tree".
 */
#include "routing/engines/dmodc/fattree.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/device_group.h"
#include "conf/option.h"
#include "routing/graph/device_set.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/spread/keep.h"
#include "routing/spread/spread.h"

static const struct fattree_options no_options = { .same_tier = true };

/* ---- options ---- */

/* Core switches by device group. E_UNSUITABLE: none is in the fabric. */
static int find_core(struct fattree *f, struct arena *a, struct why *why)
{
	const struct graph *g = f->in->g;
	struct device_set set;
	uint32_t n = 0;
	bool *core;

	if (!f->opt->core) {
		why_add(why,
		        "fattree: fattree_on_same_tier FALSE needs fattree_core_switches, the group of switches at the top");
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
		        "fattree: no switch of group '%s' (fattree_core_switches) is in the fabric",
		        f->opt->core->text);
		return E_UNSUITABLE;
	}
	f->rule.core = core;
	return E_OK;
}

/* Hosts of the last set: all ports of a node that has a port in the group. */
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
	f->rule.select_by = (o->pass_through ? DMODC_PASS_THROUGH : 0U) |
	                    (o->converge ? DMODC_CONVERGE : 0U);
	if (!o->same_tier) {
		ret = find_core(f, a, why);
	}
	if (ret == E_OK && o->last) {
		ret = find_last(f, a);
	}
	return ret;
}

/* Refuses options that contradict each other or the fabric. */
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

enum { LISTED_MAX = 480 };

/* ---- notes ---- */

/* A configured tier count that differs from the tiers found has no effect. */
static void note_tiers(const struct fattree *f, const struct dmodc_tree *t,
                       struct why *notes)
{
	uint32_t given = f->opt->tier_count;

	/* stubs are in a tier above or in none */
	if (!given || (given >= t->tiers && given <= t->height + 1)) {
		return;
	}
	why_add(notes,
	        "fattree: fattree_tier_count is %" PRIu32
	        " and is not used, because the fabric has %u tiers%s",
	        given, t->tiers,
	        f->opt->same_tier ? " above its hosts" : " below its core switches");
}

static void note_high_hosts(const struct fattree *f, const struct dmodc_job *j,
                            struct why *notes)
{
	uint32_t n = 0, first = 0;

	for (uint32_t s = 0; f->opt->same_tier && s < j->t.n; s++) {
		if (j->t.rank[s] && dmodc_hosts_on(j->g, s)) {
			first = n ? first : s;
			n += dmodc_hosts_on(j->g, s);
		}
	}
	if (n) {
		why_add(notes,
		        "fattree: %" PRIu32
		        " hosts hang above the lowest tier, such as those of %s on tier %u; fattree_core_switches with fattree_on_same_tier FALSE says where the top is",
		        n, switch_text(j->g, j->lids, first).text, j->t.rank[first] + 1U);
	}
}

/* ---- pairs without a route by rank ---- */

struct unjoined {
	uint64_t switches, hosts; /* pairs */
	uint64_t high;            /* of switches: both above the lowest tier */
	char list[LISTED_MAX];    /* pairs of switches */
	uint64_t n_listed;
};

static void note_unjoined(const struct dmodc_job *j, struct why *notes)
{
	const struct dmodc_tree *t = &j->t;
	struct unjoined u = { .switches = 0 };
	char more[64] = "";

	for (uint32_t i = 0; j->n_unjoined && i < t->n_leaves; i++) {
		for (uint32_t k = 0; k < i; k++) {
			uint32_t a = t->leaf[k], b = t->leaf[i];

			if (t->part[a] == t->part[b] && !dmodc_reaches(&j->reach, a, b)) {
				size_t at = strlen(u.list);
				int n;

				u.switches++;
				u.hosts += (uint64_t)dmodc_hosts_on(j->g, a) *
				           dmodc_hosts_on(j->g, b);
				u.high += j->t.rank[a] && j->t.rank[b];
				if (u.n_listed + 1 != u.switches) {
					continue; /* the list is full */
				}
				n = snprintf(u.list + at, sizeof(u.list) - at,
				             "%s%s and %s", at ? ", " : "",
				             switch_text(j->g, j->lids, a).text,
				             switch_text(j->g, j->lids, b).text);
				if ((size_t)n >= sizeof(u.list) - at) {
					u.list[at] = '\0';
				} else {
					u.n_listed++;
				}
			}
		}
	}
	if (u.switches == 0) {
		return;
	}
	if (u.n_listed < u.switches) {
		snprintf(more, sizeof(more), " and %" PRIu64 " more",
		         u.switches - u.n_listed);
	}
	why_add(notes,
	        "fattree: %" PRIu64
	        " pairs of hosts have no route that climbs, then descends; they are routed by an up/down order of switches, which has no credit loops but uses few links%s. Between these switches: %s%s",
	        u.hosts,
	        u.high ? "; hosts on core switches should not talk to each other" : "",
	        u.list, more);
}

static void fattree_note(const struct fattree *f, const struct dmodc_job *j,
                         struct why *notes)
{
	const struct fattree_options *o = f->opt;
	uint32_t n, first;

	if (o->core && o->same_tier) {
		why_add(notes,
		        "fattree: fattree_core_switches is not used, because fattree_on_same_tier is TRUE");
	}
	if (o->last && f->n_last == 0) {
		why_add(notes,
		        "fattree: no host of group '%s' (fattree_route_last) is in the fabric",
		        o->last->text);
	}
	note_tiers(f, &j->t, notes);
	n = 0;
	first = 0;
	for (uint32_t s = 0; s < j->t.n; s++) {
		if (j->t.is_stub[s]) {
			first = n++ ? first : s;
		}
	}
	if (n) {
		why_add(notes,
		        "fattree: %" PRIu32
		        " switches without hosts connect nothing and are in no tier, such as %s; traffic passes them only where there is no other route",
		        n, switch_text(j->g, j->lids, first).text);
	}
	note_high_hosts(f, j, notes);
	dmodc_note(j, notes);
	note_unjoined(j, notes);
}

/* ---- the whole ---- */

/*
 * A leaf switch that comes or goes renumbers the hosts of others, so earlier routes are kept
 * if they are as even. If leaves do not reserve numbers (routing/spread/leaves.h), or routes
 * were moved for balance, one host more or less would move the routes of others, too. Then
 * earlier routes are kept as far as possible. With pass_through or converge loads are not comparable, so routes
 * are not kept.
 */
static int keep_earlier(const struct fattree *f, const struct dmodc_job *j,
                        struct arena *tmp)
{
	struct keep_measure m = { .g = j->g, .lids = j->lids, .n_sets = 2 };
	enum keep_which which = f->rule.select_by ? KEEP_SWITCHES : dmodc_keeps(&j->t);
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
	return keep_tables(&m, f->in->prev, which, j->lft);
}

static int fill_tables(struct fattree *f, struct dmodc_job *j, struct arena *tmp,
                       struct why *notes)
{
	int ret = dmodc_job_init(j, &f->rule, f->in, tmp, notes);

	if (ret == E_OK) {
		ret = dmodc_fill(j, f->in->cancel, tmp);
	}
	if (ret == E_OK) {
		ret = dmodc_rebalance(j, f->in->cancel, tmp);
	}
	return ret == E_OK ? keep_earlier(f, j, tmp) : ret;
}

static int fattree_route(const struct route_in *in, struct arena *a,
                         struct route_out *ret_out)
{
	struct arena *tmp = arena_new();
	struct lft lft;
	struct dmodc_job j = { .lft = &lft };
	struct fattree f;
	int ret = tmp ? fattree_init(&f, in, tmp, &ret_out->notes) : -ENOMEM;

	if (ret == E_OK) {
		ret = lft_init(&lft, in->g->n_switches, in->lids->top, a);
	}
	if (ret == E_OK) {
		ret = fill_tables(&f, &j, tmp, &ret_out->notes);
	}
	if (ret == E_OK && f.opt->adaptive && f.opt->fine_grained) {
		const struct graph *g = f.in->g;
		const struct lids *lids = f.in->lids;
		uint32_t further = 0;

		/* Static dispersion: with alternates for each LID, switches choose
		 * among all uplinks themselves, and the LIDs of a range need no
		 * routes of their own. All get the route of the base LID. */
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
			why_add(&ret_out->notes,
			        "fattree: fine-grained adaptive routing takes the place of LMC: all LIDs of a port share its route and its alternates");
		}
	}
	if (ret == E_OK) {
		fattree_note(&f, &j, &ret_out->notes);
		ret_out->lft = lft;
		ret_out->lanes = (struct lanes){ .n = 1 };
		ret_out->beyond_rule = j.order.n_conflicts != 0;
	}
	arena_free(tmp);
	return ret;
}

#define MEMBER(m) .offset = offsetof(struct fattree_options, m)
#define XML(key) .xml = "Sm/FatTreeTopology/" key

/* clang-format off */
static const struct option_row fattree_rows[] = {
	{ .name = "fattree_tier_count", .type = OPT_UINT, MEMBER(tier_count), .def = "0", .max = 10,
	  XML("TierCount"),
	  .help = "Tiers of switches that the fat tree should have; they are found, and a different number is noted; 0: any" },
	{ .name = "fattree_on_same_tier", .type = OPT_BOOL, MEMBER(same_tier), .def = "TRUE",
	  XML("FIsOnSameTier"),
	  .help = "All hosts hang on switches of the lowest tier; FALSE: tiers are counted from fattree_core_switches" },
	{ .name = "fattree_core_switches", .type = OPT_DEVICE_GROUP, MEMBER(core),
	  XML("CoreSwitches"), .arg = "GROUP",
	  .help = "Device group of the switches at the top of the tree" },
	{ .name = "fattree_route_last", .type = OPT_DEVICE_GROUP, MEMBER(last),
	  XML("RouteLast"), .arg = "GROUP",
	  .help = "Device group of hosts that are routed after all others, each set balanced by itself" },
	{ .name = "fattree_pass_through", .type = OPT_BOOL, MEMBER(pass_through), .def = "FALSE",
	  XML("PassThrough"),
	  .help = "Choose uplinks by the place of a host on its switch, the same at every switch" },
	{ .name = "fattree_converge", .type = OPT_BOOL, MEMBER(converge), .def = "FALSE",
	  XML("Converge"),
	  .help = "In a tree of three tiers, route all hosts of a switch through the same core switches" },
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
	.summary =
		"Fat trees of Omni-Path: tiers, core switches, sets of hosts balanced apart",
	.flags = ENGINE_DEADLOCK_FREE,
	.deadlock_free_order = 15,
	.options = fattree_rows,
	.opt_size = sizeof(struct fattree_options),
	.check = fattree_check,
	.route = fattree_route,
};
