/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * fattree: tiers, sets of hosts, LIDs apart, healthy and broken trees. Longer than most: all
 * of them are judged by the same walks over ways up and shares of links.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/xml.h"
#include "conf/option.h"
#include "routing/engine_options.h"
#include "routing/engines/dmodc/fattree.h"
#include "routing/graph/device_set.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
#include "routing/route.h"
#include "routing/spread/leaves.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static const struct fattree_options defaults = { .same_tier = true };

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* ---- helpers ---- */

static int try_check(const struct graph *g, const struct fattree_options *o,
                     struct why *why)
{
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_in in = { .g = g, .lids = &l, .options = o };

	*why = (struct why){ "" };
	return engine_find("fattree")->check(&in, why);
}

/* Tables that pass the strict proof. */
static struct route_out *route(const struct graph *g, const struct lids *l,
                               const struct fattree_options *o)
{
	struct route_in in = { .g = g, .lids = l, .options = o };
	struct route_out *out = arena_alloc(arena, sizeof(*out));
	struct why why;
	struct proof p;

	ck_assert_msg(try_check(g, o, &why) == E_OK, "%s", why.text);
	ck_assert_str_eq(why.text, "");
	ck_assert_msg(engine_find("fattree")->route(&in, arena, out) == E_OK, "%s",
	              out->notes.text);
	ck_assert_int_eq(proof_run(g, l, &out->lft, NULL, arena, &p), E_OK);
	ck_assert_msg(proof_passed(&p, !out->beyond_rule), "%s",
	              proof_text(&p, g, arena));
	ck_assert(!out->may_miss && !out->may_deadlock);
	return out;
}

static uint32_t next_switch(const struct graph *g, const struct lft *lft, uint32_t s,
                            uint32_t lid)
{
	uint32_t out = graph_port(g, g->switches[s], lft_row(lft, s)[lid]);

	return g->nodes[g->ports[g->ports[out].peer].node].sw;
}

static uint32_t hosts_on(const struct graph *g, uint32_t s)
{
	return g->host_first[s + 1] - g->host_first[s];
}

static uint64_t guid_of(const struct graph *g, uint32_t port)
{
	return g->nodes[g->ports[port].node].guid;
}

/* A group with these rules, as an option has it. */
static const struct device_list *group(const char *rules)
{
	const char *text = arena_printf(
		arena,
		"<DeviceGroups><DeviceGroup><Name>x</Name>%s</DeviceGroup></DeviceGroups>",
		rules);
	struct diags *d = arena_alloc(arena, sizeof(*d));
	const struct device_groups *groups = NULL;
	struct device_list *list = NULL;
	struct xml_element *root = NULL;

	diags_init(d, arena);
	ck_assert_int_eq(xml_parse("g", text, strlen(text), arena, d, &root), E_OK);
	ck_assert_int_eq(device_groups_parse("g", &root, 1, arena, d, &groups), E_OK);
	ck_assert_int_eq(device_list_parse("x", 1, arena, &list), E_OK);
	ck_assert_int_eq(device_list_bind(list, "key", groups, arena, d), E_OK);
	return list;
}

static const char *node_rule(const char *rules, uint64_t guid)
{
	return arena_printf(arena, "%s<NodeGUID>0x%" PRIx64 "</NodeGUID>", rules, guid);
}

/* The group of all switches without hosts in whose name this stands. */
static const struct device_list *core_group(const struct graph *g, const char *name)
{
	const char *rules = "";

	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];

		if (strstr(n->description, name)) {
			rules = node_rule(rules, n->guid);
		}
	}
	return group(rules);
}

/* ---- whole trees ---- */

static const struct {
	const char *command;
	double ratio;
	bool shifts;
	uint32_t tiers;
} whole[] = {
	{ "ft2 6 4 4", 1.0, true, 2 },   { "ft2 18 9 9", 1.0, true, 2 },
	{ "ft2 8 8 4 2", 1.0, true, 2 }, { "ft2 6 8 4", 1.0, false, 2 },
	{ "ft3 8", 1.06, true, 3 },      { "ft3 16", 1.03, true, 3 },
};

static void check_shift(const struct graph *g, const struct lids *l,
                        const struct lft *lft, uint32_t shift, uint32_t *used)
{
	for (uint32_t i = 0; i < g->n_hosts; i++) {
		uint32_t to = g->hosts[(i + shift) % g->n_hosts], lid = l->of[to].base;
		uint32_t s = graph_switch_of(g, g->hosts[i]);

		while (s != graph_switch_of(g, to)) {
			uint32_t out =
				graph_port(g, g->switches[s], lft_row(lft, s)[lid]);

			ck_assert_msg(used[out] != shift, "shift %u: two flows at %s/%u",
			              shift, g->nodes[g->switches[s]].description,
			              g->ports[out].num);
			used[out] = shift;
			s = next_switch(g, lft, s, lid);
		}
	}
}

static void check_loads(const struct graph *g, const struct load *load, bool base,
                        double ratio, const char *what)
{
	uint64_t sum = 0;
	uint32_t most = 0;

	for (uint32_t i = 0; i < g->n_adj; i++) {
		uint32_t n = base ? load->base[i] : load->all[i] - load->base[i];

		sum += n;
		most = n > most ? n : most;
	}
	ck_assert_uint_gt(sum, 0);
	ck_assert_msg(most * (double)g->n_adj <= ratio * (double)sum * (1 + 1e-9),
	              "%s, %s LIDs: max %u mean %.2f", what, base ? "base" : "further",
	              most, (double)sum / g->n_adj);
}

/* Base LIDs are balanced by themselves, and so are all others; shifts pass freely. */
START_TEST(balance)
{
	struct graph *g = fabric_make(whole[_i].command, 0, 1, arena);
	uint32_t *used = arena_array(arena, g->n_ports, sizeof(*used));
	struct fattree_options o = { .same_tier = true, .tier_count = whole[_i].tiers };
	uint32_t step = g->n_hosts > 200 ? 31 : 1;

	for (uint32_t lmc = 0; lmc <= 3; lmc++) {
		struct lids l = fabric_lids(g, lmc, 0, arena);
		struct route_out *out = route(g, &l, &o);
		struct load load;

		ck_assert_str_eq(out->notes.text, "");
		ck_assert_int_eq(load_build(g, &l, &out->lft, arena, &load), E_OK);
		check_loads(g, &load, true, whole[_i].ratio, whole[_i].command);
		if (lmc) {
			check_loads(g, &load, false, whole[_i].ratio, whole[_i].command);
			continue;
		}
		for (uint32_t k = 1; whole[_i].shifts && k < g->n_hosts; k += step) {
			check_shift(g, &l, &out->lft, k, used);
		}
	}
}
END_TEST

/* ---- broken trees ---- */

/* With a fifth of the cables gone a switch has 2 of its 8 ways up left: 3.3 at least. */
static const struct {
	double fail, ratio;
} broken_by[] = { { 0.0005, 1.2 }, { 0.01, 1.42 }, { 0.05, 1.7 }, { 0.2, 3.5 } };

enum { N_BROKEN = sizeof(broken_by) / sizeof(*broken_by), SEEDS = 4 };

START_TEST(broken_balance)
{
	double fail = broken_by[_i % N_BROKEN].fail;
	uint32_t seed = (uint32_t)_i / N_BROKEN + 1;
	struct graph *g = fabric_make("ft3 16", fail, seed, arena);
	struct fattree_options o = { .same_tier = true, .tier_count = 3 };
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out = route(g, &l, &o);
	struct load load;

	ck_assert_ptr_nonnull(strstr(out->notes.text, "uplinks are missing"));
	ck_assert_int_eq(load_build(g, &l, &out->lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= broken_by[_i % N_BROKEN].ratio * load.mean,
	              "%g gone, seed %u: max %u mean %.2f", fail, seed, load.max,
	              load.mean);
}
END_TEST

/* Of two cables to a neighbour one is gone: nobody misses a neighbour, but a cable. */
START_TEST(broken_trunk)
{
	struct graph *g = fabric_make("ft2 8 16 4 4", 0.02, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct load load;

	ck_assert_uint_lt(g->n_adj, 8 * 4 * 4 * 2);
	ck_assert_int_eq(load_build(g, &l, &route(g, &l, NULL)->lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= 1.4 * load.mean, "max %u mean %.2f", load.max,
	              load.mean);
}
END_TEST

/* ---- tiers ---- */

static const struct {
	const char *command, *core;
	uint32_t given;
	const char *said;
} tiers[] = {
	{ "ft2 6 4 3", NULL, 2, NULL },
	{ "ft2 6 4 3", NULL, 0, NULL },
	{ "ft2 6 4 3", NULL, 3,
	  "is 3 and is not used, because the fabric has 2 tiers above its hosts" },
	{ "ft2 6 4 3", NULL, 1,
	  "is 1 and is not used, because the fabric has 2 tiers above its hosts" },
	{ "ft3 4", NULL, 3, NULL },
	{ "ft3 4", NULL, 2,
	  "is 2 and is not used, because the fabric has 3 tiers above its hosts" },
	{ "ft3 4", "core", 3, NULL },
	{ "ft3 4", "core", 4,
	  "is 4 and is not used, because the fabric has 3 tiers below its core switches" },
	{ "ft2 6 4 3", "spine", 2, NULL },
	{ "director 6 4 2 3 2", NULL, 3, NULL },
	{ "ft2 1 4 1", NULL, 1,
	  NULL }, /* the switch above joins nothing: in a tier or not */
	{ "ft2 1 4 1", NULL, 2, NULL },
	{ "ft2 1 4 1", NULL, 3, "is 3 and is not used, because the fabric has 1 tiers" },
	{ "torus 4x4 2", NULL, 0, "not a tree" },
	{ "mesh 4x3 2", NULL, 0, "not a tree" },
	{ "dragonfly 2 4 2", NULL, 0, "not a tree" },
	{ "ft3 4", "nobody", 0, "no switch of group 'x' (fattree_core_switches)" },
};

START_TEST(tier_count)
{
	struct graph *g = fabric_make(tiers[_i].command, 0, 1, arena);
	struct fattree_options o = { .same_tier = !tiers[_i].core,
		                     .tier_count = tiers[_i].given };
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct why why;

	o.core = tiers[_i].core ? core_group(g, tiers[_i].core) : NULL;
	if (!tiers[_i].said || tiers[_i].given) { /* a count that does not fit is told */
		struct lft as_found, given = route(g, &l, &o)->lft;
		const char *notes = route(g, &l, &o)->notes.text;

		ck_assert_msg(strstr(notes, tiers[_i].said ? tiers[_i].said : "") != NULL,
		              "%s", notes);
		ck_assert_int_eq(strstr(notes, "tier_count") != NULL,
		                 tiers[_i].said != NULL);
		o.tier_count = 0;
		as_found = route(g, &l, &o)->lft;
		ck_assert_mem_eq(given.rows, as_found.rows,
		                 given.n_switches * given.stride);
		return;
	}
	ck_assert_int_eq(try_check(g, &o, &why), E_UNSUITABLE);
	ck_assert_msg(strstr(why.text, tiers[_i].said) != NULL, "%s", why.text);
}
END_TEST

START_TEST(core_switches_are_needed)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	struct fattree_options o = { .same_tier = false };
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out;
	struct why why;

	ck_assert_int_eq(try_check(g, &o, &why), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(why.text, "needs fattree_core_switches"));
	o.same_tier = true;
	o.core = core_group(g, "spine");
	out = route(g, &l, &o);
	ck_assert_ptr_nonnull(
		strstr(out->notes.text, "fattree_core_switches is not used"));
}
END_TEST

/* Core switches that are named give the same tables as tiers that are found. */
START_TEST(named_core)
{
	struct graph *g = fabric_make("ft3 8", 0, 1, arena);
	struct fattree_options o = { .core = core_group(g, "core") };
	struct lids l = fabric_lids(g, 2, 0, arena);
	struct route_out *named = route(g, &l, &o), *found = route(g, &l, NULL);

	ck_assert_str_eq(named->notes.text, "");
	ck_assert_mem_eq(named->lft.rows, found->lft.rows,
	                 found->lft.n_switches * found->lft.stride);
}
END_TEST

/* A fallback says what asked for it. */
START_TEST(fallback_is_told)
{
	struct graph *g = fabric_make("torus 4x4 2", 0, 1, arena);
	struct route_request r = { .g = g };
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct engine_options o;
	struct diags *d = arena_alloc(arena, sizeof(*d));
	struct route_result result;
	struct why why = { "" };

	diags_init(d, arena);
	ck_assert_int_eq(engine_options_init(&o, arena), E_OK);
	ck_assert_int_eq(option_set_defaults(&o.sets, arena), E_OK);
	ck_assert_int_eq(option_set(&o.sets, arena, "fattree_tier_count", "3", "f", 1, d),
	                 E_OK);
	ck_assert_int_eq(
		option_set(&o.sets, arena, "fattree_tier_count", "11", "f", 2, d),
		E_RANGE);
	ck_assert_int_eq(route_list_parse("fattree", &r.list, &why), E_OK);
	r.lids = &l;
	r.options = &o;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.engine_asked, "fattree");
	ck_assert_str_ne(result.used->name, "fattree");
	ck_assert_ptr_nonnull(strstr(result.fallback_reason.text, "fattree: not a tree"));
}
END_TEST

/* ---- what hangs elsewhere ---- */

/* The same fabric, with a host more on each of the first switches without any. */
static struct graph *with_hosts_above(const struct graph *g, uint32_t n)
{
	uint32_t *now = arena_array(arena, g->n_nodes, sizeof(*now)), ca;
	struct diags *d = arena_alloc(arena, sizeof(*d));
	struct graph *x = graph_new(arena);

	diags_init(d, arena);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *o = &g->nodes[i];

		ck_assert_int_eq(graph_add_node(x, o->type, o->guid, o->n_ports + 1U,
		                                o->description, NULL, &now[i]),
		                 E_OK);
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];

		if (p->peer != GRAPH_NONE && p->peer > i) {
			const struct port *q = &g->ports[p->peer];

			ck_assert_int_eq(
				graph_connect(x, graph_port(x, now[p->node], p->num),
			                      graph_port(x, now[q->node], q->num)),
				E_OK);
		}
	}
	for (uint32_t s = 0; s < g->n_switches && n; s++) {
		const struct node *o = &g->nodes[g->switches[s]];

		if (hosts_on(g, s)) {
			continue;
		}
		ck_assert_int_eq(graph_add_node(x, NODE_CA, 0x77000 + n * 16, 1,
		                                arena_printf(arena, "io-%u", n), NULL,
		                                &ca),
		                 E_OK);
		ck_assert_int_eq(graph_connect(x, graph_port(x, ca, 1),
		                               graph_port(x, now[g->switches[s]],
		                                          o->n_ports + 1U)),
		                 E_OK);
		n--;
	}
	ck_assert_int_eq(graph_freeze(x, d), E_OK);
	return x;
}

static const struct {
	const char *command, *core;
	uint32_t n, pairs;
} high[] = {
	{ "ft2 6 4 4", NULL, 2, 1 },    { "ft2 6 4 4", "spine", 2, 1 },
	{ "ft2 6 4 4", "spine", 1, 0 }, { "ft2 18 9 9", "spine", 4, 6 },
	{ "ft2 18 9 9", NULL, 9, 36 },
};

/* Hosts on core switches: named; pairs without a way up and down are listed, and have
 * routes that pass the strict proof. */
START_TEST(hosts_on_core)
{
	struct graph *tree = fabric_make(high[_i].command, 0, 1, arena);
	struct graph *g = with_hosts_above(tree, high[_i].n);
	struct fattree_options o = { .same_tier = !high[_i].core };
	struct lids l = fabric_lids(g, 0, 0, arena);
	const char *text, *pairs = arena_printf(arena, "%u pairs of hosts have no route",
	                                        high[_i].pairs);
	uint32_t named = 0;

	o.core = high[_i].core ? core_group(g, high[_i].core) : NULL;
	text = route(g, &l, &o)->notes.text;
	ck_assert_msg((strstr(text, "hang above the lowest tier") != NULL) == !o.core,
	              "%s", text);
	ck_assert_msg((strstr(text, pairs) != NULL) == (high[_i].pairs > 0), "%s", text);
	for (const char *p = text; (p = strstr(p, "' and '")); p++) {
		named++;
	}
	ck_assert_msg(high[_i].pairs > 6 ? named > 2 && strstr(text, " more")
	                                 : named == high[_i].pairs,
	              "%s", text);
	ck_assert_msg((strstr(text, "should not talk to each other") != NULL) ==
	                      (high[_i].pairs > 0),
	              "%s", text);
}
END_TEST

/* A leaf that lost its hosts is in no tier, and does not make the tree higher. */
START_TEST(leaf_without_hosts)
{
	struct graph *g = fabric_make("ft2 6 4 4", 0, 1, arena), *x = graph_new(arena);
	struct fattree_options o = { .same_tier = true, .tier_count = 2 };
	uint32_t *now = arena_array(arena, g->n_nodes, sizeof(*now));
	struct diags *d = arena_alloc(arena, sizeof(*d));
	uint32_t empty = graph_switch_of(g, g->hosts[0]);
	struct lids l;

	diags_init(d, arena);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		ck_assert_int_eq(graph_add_node(x, g->nodes[i].type, g->nodes[i].guid,
		                                g->nodes[i].n_ports,
		                                g->nodes[i].description, NULL, &now[i]),
		                 E_OK);
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		const struct port *q = p->peer == GRAPH_NONE ? p : &g->ports[p->peer];
		bool gone = (graph_is_end_port(g, i) && graph_switch_of(g, i) == empty) ||
		            (q != p && g->nodes[q->node].type == NODE_CA &&
		             g->nodes[p->node].sw == empty);

		if (q != p && p->peer > i && !gone) {
			ck_assert_int_eq(
				graph_connect(x, graph_port(x, now[p->node], p->num),
			                      graph_port(x, now[q->node], q->num)),
				E_OK);
		}
	}
	ck_assert_int_eq(graph_freeze(x, d), E_OK);
	ck_assert_uint_eq(x->n_hosts, g->n_hosts - 4);
	l = fabric_lids(x, 0, 0, arena);
	ck_assert_ptr_nonnull(
		strstr(route(x, &l, &o)->notes.text, "1 switches without hosts"));
}
END_TEST

/* ---- sets of hosts ---- */

/* Destinations of a set that pass each port on the way up. */
static uint32_t *count_up(const struct graph *g, const struct lids *l,
                          const struct lft *lft, const bool *in, bool set)
{
	uint32_t *n = arena_array(arena, g->n_ports, sizeof(*n));
	uint32_t *seen = arena_array(arena, g->n_ports, sizeof(*seen));
	uint16_t *height;

	ck_assert_int_eq(leaves_heights(g, arena, &height), E_OK);
	for (uint32_t i = 0; i < g->n_hosts; i++) {
		uint32_t t = graph_switch_of(g, g->hosts[i]),
			 lid = l->of[g->hosts[i]].base;

		for (uint32_t from = 0; in[i] == set && from < g->n_switches; from++) {
			for (uint32_t s = from; hosts_on(g, from) && s != t;) {
				uint32_t to = next_switch(g, lft, s, lid);
				uint32_t out = graph_port(g, g->switches[s],
				                          lft_row(lft, s)[lid]);

				n[out] += height[to] > height[s] && seen[out] != i + 1;
				seen[out] = i + 1;
				s = to;
			}
		}
	}
	return n;
}

/* Largest count at height 0, and above. */
static void most_up(const struct graph *g, const uint32_t *n, uint32_t ret_up[2])
{
	ret_up[0] = ret_up[1] = 0;
	for (uint32_t p = 0; p < g->n_ports; p++) {
		uint32_t s = g->nodes[g->ports[p].node].sw;

		if (s != GRAPH_NONE) {
			uint32_t *most = &ret_up[hosts_on(g, s) == 0];

			*most = n[p] > *most ? n[p] : *most;
		}
	}
}

enum set_kind { FIRST_OF_LEAF, TWO_LEAVES, SCATTERED, N_SETS };

/* Compute and I/O nodes: in the tree of 8 ports, with 4 ways up at each of two tiers, no
 * way carries more of a set than its share, rounded up, and no link more of all than
 * without sets. */
START_TEST(route_last)
{
	struct graph *g = fabric_make("ft3 8", 0, 1, arena);
	bool *io = arena_array(arena, g->n_hosts, sizeof(*io)), swap = _i / N_SETS % 2;
	struct fattree_options o = defaults;
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint32_t n[2] = { 0 }, most[2];
	struct route_out *apart, *mixed;
	uint64_t random = 7 + (uint64_t)_i / N_SETS / 2;
	const char *rules = "";
	struct load load, plain;

	for (uint32_t i = 0; i < g->n_hosts; i++) {
		enum set_kind kind = (enum set_kind)(_i % N_SETS);

		io[i] = kind == FIRST_OF_LEAF ? i % 4 == 0
		        : kind == TWO_LEAVES  ? i < 4 || i >= 124
		                              : random_below(&random, 4) == 0;
		n[io[i]]++;
		if (io[i] != swap) { /* the group is the I/O nodes, or the others */
			rules = node_rule(rules, guid_of(g, g->hosts[i]));
		}
	}
	o.last = group(rules);
	apart = route(g, &l, &o);
	mixed = route(g, &l, NULL);
	ck_assert_str_eq(apart->notes.text, "");
	for (unsigned set = 0; set < 2; set++) {
		most_up(g, count_up(g, &l, &apart->lft, io, set), most);
		ck_assert_msg(most[0] <= (n[set] + 3) / 4 &&
		                      most[1] <= (n[set] + 15) / 16,
		              "set %u of %u hosts: %u and %u on one way", set, n[set],
		              most[0], most[1]);
	}
	ck_assert_int_eq(load_build(g, &l, &apart->lft, arena, &load), E_OK);
	ck_assert_int_eq(load_build(g, &l, &mixed->lft, arena, &plain), E_OK);
	ck_assert_uint_le(load.max, plain.max);
	most_up(g, count_up(g, &l, &mixed->lft, io, true), most);
	if (_i % N_SETS == FIRST_OF_LEAF) { /* all on one of four ways */
		ck_assert_uint_ge(most[0], n[1] - 1);
	}
}
END_TEST

static const char *const set_trees[] = { "ft2 18 9 9 1", "ft2 12 12 3 4", "ft2 12 10 3 2",
	                                 "tree3 4 8 8 4 4", "ft3 8" };

/* The first host of each leaf switch comes last: no link carries more than without sets,
 * also where several cables lead to one switch. */
START_TEST(route_last_in_total)
{
	struct graph *g = fabric_make(set_trees[_i], 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct fattree_options o = defaults;
	struct load apart, plain;
	const char *rules = "";

	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (hosts_on(g, s)) {
			rules = node_rule(rules, guid_of(g, g->hosts[g->host_first[s]]));
		}
	}
	o.last = group(rules);
	ck_assert_int_eq(load_build(g, &l, &route(g, &l, &o)->lft, arena, &apart), E_OK);
	ck_assert_int_eq(load_build(g, &l, &route(g, &l, NULL)->lft, arena, &plain),
	                 E_OK);
	ck_assert_uint_le(apart.max, plain.max);
}
END_TEST

START_TEST(route_last_of_nobody)
{
	struct graph *g = fabric_make("ft2 6 4 4", 0, 1, arena);
	struct fattree_options o = { .same_tier = true,
		                     .last = group("<NodeGUID>0x99</NodeGUID>") };
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out = route(g, &l, &o), *plain = route(g, &l, NULL);

	ck_assert_ptr_nonnull(strstr(out->notes.text, "no host of group 'x'"));
	ck_assert_mem_eq(out->lft.rows, plain->lft.rows,
	                 out->lft.n_switches * out->lft.stride);
}
END_TEST

/* ---- pass-through and converge ---- */

/* With two hosts per switch and three ways up, the first host is always reached by the
 * first way: by its place on its switch, whichever that is. */
START_TEST(pass_through)
{
	struct graph *g = fabric_make("ft2 6 2 3", 0, 1, arena);
	struct fattree_options o = { .same_tier = true, .pass_through = true };
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft *lft = &route(g, &l, &o)->lft;
	uint32_t via[2] = { GRAPH_NONE, GRAPH_NONE };

	for (uint32_t i = 0; i < g->n_hosts; i++) {
		for (uint32_t s = 0; s < g->n_switches; s++) {
			uint32_t to;

			if (!hosts_on(g, s) || graph_switch_of(g, g->hosts[i]) == s) {
				continue;
			}
			to = next_switch(g, lft, s, l.of[g->hosts[i]].base);
			via[i % 2] = via[i % 2] == GRAPH_NONE ? to : via[i % 2];
			ck_assert_uint_eq(to, via[i % 2]);
		}
	}
	ck_assert_uint_ne(via[0], via[1]);
}
END_TEST

/* In three tiers with more hosts per switch than ways up: hosts of a switch that pass one
 * middle switch pass one core switch. Those that come last are dealt as ever. */
START_TEST(converge)
{
	struct graph *g = fabric_make("tree3 4 8 8 4 4", 0, 1, arena);
	struct fattree_options o = { .same_tier = true, .converge = true };
	struct lids l = fabric_lids(g, 0, 0, arena);
	unsigned met[2] = { 0 };

	for (unsigned plain = 0; plain < 2; plain++) {
		struct lft *lft = &route(g, &l, plain ? NULL : &o)->lft;

		for (uint32_t s = 0; s < g->n_switches; s++) {
			uint32_t *core = arena_array(arena, g->n_switches, sizeof(*core));

			memset(core, 0xff, g->n_switches * sizeof(*core));
			for (uint32_t i = 0; hosts_on(g, s) && i < g->n_hosts; i++) {
				uint32_t lid = l.of[g->hosts[i]].base, mid, top;
				uint32_t t = graph_switch_of(g, g->hosts[i]);

				if (i && graph_switch_of(g, g->hosts[i - 1]) != t) {
					memset(core, 0xff, g->n_switches * sizeof(*core));
				}
				mid = s == t ? t : next_switch(g, lft, s, lid);
				top = mid == t ? t : next_switch(g, lft, mid, lid);
				if (top == t) {
					continue;
				}
				met[plain] += core[mid] != GRAPH_NONE && core[mid] != top;
				core[mid] = top;
			}
		}
	}
	ck_assert_uint_eq(met[0], 0);
	ck_assert_uint_gt(met[1], 0);
}
END_TEST

/* ---- several LIDs ---- */

/* Switches between leaf s and a LID. */
static unsigned walk(const struct graph *g, const struct lft *lft, uint32_t s, uint32_t t,
                     uint32_t lid, uint32_t ret_switches[8])
{
	unsigned n = 0;

	while ((s = next_switch(g, lft, s, lid)) != t) {
		ret_switches[n++] = s;
	}
	return n;
}

/* All routes of a port's LIDs between two leaf switches pass different switches where
 * there are as many; with twice as many, different core switches still. */
START_TEST(lids_are_apart)
{
	uint32_t lmc = (uint32_t)_i + 1;
	struct graph *g = fabric_make("ft3 8", 0, 1, arena);
	struct lids l = fabric_lids(g, lmc, 0, arena);
	struct lft *lft = &route(g, &l, NULL)->lft;
	uint32_t way[8][8];

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = 0; hosts_on(g, s) && i < g->n_hosts; i++) {
			uint32_t t = graph_switch_of(g, g->hosts[i]);

			for (uint32_t k = 0; s != t && k < 1U << lmc; k++) {
				unsigned n = walk(g, lft, s, t,
				                  l.of[g->hosts[i]].base + k, way[k]);

				for (uint32_t o = 0; o < k; o++) {
					bool near = n == 1 || o % 4 != k % 4;

					ck_assert(n == 1 || way[o][1] != way[k][1]);
					ck_assert(!near || n == 3 || o % 4 == k % 4 ||
					          way[o][0] != way[k][0]);
					ck_assert(n == 1 || !near ||
					          (way[o][0] != way[k][0] &&
					           way[o][2] != way[k][2]));
				}
			}
		}
	}
}
END_TEST

/* Fine-grained adaptive routing takes the place of LMC: one route per port, whatever the
 * low bits of a LID are, and the same alternates. */
START_TEST(static_dispersion)
{
	struct graph *g = fabric_make("ft3 8", 0.02, 1, arena);
	struct lids l = fabric_lids(g, 2, 0, arena);
	struct fattree_options both = { .same_tier = true, .adaptive = true, .fine_grained = true };
	struct fattree_options coarse = { .same_tier = true, .adaptive = true };
	struct lft *shared = &route(g, &l, &both)->lft, *apart = &route(g, &l, &coarse)->lft;
	uint32_t differ = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = 0; i < g->n_hosts; i++) {
			uint32_t base = l.of[g->hosts[i]].base;

			for (uint32_t k = 1; k < 4; k++) {
				ck_assert_uint_eq(lft_row(shared, s)[base + k],
				                  lft_row(shared, s)[base]);
				differ += lft_row(apart, s)[base + k] !=
				          lft_row(apart, s)[base];
			}
		}
	}
	ck_assert_uint_gt(differ, 0);
}
END_TEST

/* Around directors the second LID leaves for another chassis, the third for another ASIC.
 */
START_TEST(lids_over_chassis)
{
	struct graph *g = fabric_make("director 8 4 2 4 2 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 2, 0, arena);
	struct route_out *out = route(g, &l, NULL);
	struct lft *lft = &out->lft;
	uint32_t far = 0;

	/* two cables to each chassis: no line joins the chassis for management traffic */
	ck_assert(out->beyond_rule && strstr(out->notes.text, "joined twice"));

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = 0; hosts_on(g, s) && i < g->n_hosts; i++) {
			uint32_t t = graph_switch_of(g, g->hosts[i]), to[4];
			uint32_t base = l.of[g->hosts[i]].base, way[8];
			uint64_t system[4];

			for (uint32_t k = 0; s != t && k < 4; k++) {
				to[k] = next_switch(g, lft, s, base + k);
				system[k] =
					g->nodes[g->switches[to[k]]].system_image_guid;
			}
			if (s == t) {
				continue;
			}
			ck_assert_uint_ne(system[0], system[1]);
			ck_assert_uint_ne(system[2], system[3]);
			if (walk(g, lft, s, t, base, way) >
			    1) { /* through spines: all are open */
				far++;
				ck_assert_uint_ne(to[0], to[2]);
				ck_assert_uint_ne(to[1], to[3]);
			}
		}
	}
	ck_assert_uint_gt(far, 0);
}
END_TEST

#define LOOP(test, table)                                                                \
	tcase_add_loop_test(t, test, 0, (int)(sizeof(table) / sizeof(*(table))))

TEST_SUITE(fattree)
{
	TCase *t = tcase_create("fattree");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	LOOP(balance, whole);
	tcase_add_loop_test(t, broken_balance, 0, N_BROKEN * test_seeds(SEEDS));
	tcase_add_test(t, broken_trunk);
	LOOP(tier_count, tiers);
	tcase_add_test(t, core_switches_are_needed);
	tcase_add_test(t, named_core);
	tcase_add_test(t, fallback_is_told);
	LOOP(hosts_on_core, high);
	tcase_add_test(t, leaf_without_hosts);
	tcase_add_loop_test(t, route_last, 0, 8 * N_SETS);
	tcase_add_loop_test(t, route_last_in_total, 0,
	                    sizeof(set_trees) / sizeof(*set_trees));
	tcase_add_test(t, route_last_of_nobody);
	tcase_add_test(t, pass_through);
	tcase_add_test(t, converge);
	tcase_add_loop_test(t, lids_are_apart, 0, 3);
	tcase_add_test(t, static_dispersion);
	tcase_add_test(t, lids_over_chassis);
	suite_add_tcase(suite, t);
}
