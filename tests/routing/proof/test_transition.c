/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Plans of transitions against mixtures of old and new entries, drawn at random, and
 * against a packet-level model of switches with one buffer per channel. Longer than most: both
 * models and the fabrics that they run on serve all cases.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "routing/proof/proof.h"
#include "routing/proof/transition.h"
#include "routing/route.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

enum { SEEDS = 12, MIXTURES = 6 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* ---- tables: up/down routing from a root, by the textbook (Autonet) ---- */

static uint32_t *distances(const struct graph *g, uint32_t root)
{
	uint32_t *d = arena_array(arena, g->n_switches, sizeof(*d));
	uint32_t *queue = arena_array(arena, g->n_switches, sizeof(*queue)), n = 0;

	memset(d, 0xff, g->n_switches * sizeof(*d));
	d[root] = 0;
	queue[n++] = root;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = g->adj_first[queue[i]]; k < g->adj_first[queue[i] + 1];
		     k++) {
			uint32_t to = g->adj[k].to;

			if (d[to] == UINT32_MAX) {
				d[to] = d[queue[i]] + 1;
				queue[n++] = to;
			}
		}
	}
	return d;
}

static bool is_up(const uint32_t *d, uint32_t from, uint32_t to)
{
	return d[to] < d[from] || (d[to] == d[from] && to < from);
}

/* Shortest of the routes that go down only where there is one, else up first. */
static void route_updown(const struct graph *g, const struct lids *lids, uint32_t root,
                         struct lft *ret_lft)
{
	uint32_t *d = distances(g, root), n = g->n_switches;
	uint32_t *down = arena_array(arena, n, sizeof(*down));
	uint32_t *cost = arena_array(arena, n, sizeof(*cost));

	ck_assert_int_eq(lft_init(ret_lft, n, lids->top, arena), E_OK);
	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		uint32_t owner = lids->owner[lid], home;
		bool more = true;

		if (owner == GRAPH_NONE) {
			continue;
		}
		home = graph_switch_of(g, owner);
		memset(down, 0xff, n * sizeof(*down));
		memset(cost, 0xff, n * sizeof(*cost));
		down[home] = cost[home] = 0;
		lft_row(ret_lft, home)[lid] = graph_switch_port_of(g, owner);
		for (unsigned pass = 0; pass < 2; pass++) {
			for (more = true; more;) {
				more = false;
				for (uint32_t s = 0; s < n; s++) {
					for (uint32_t k = g->adj_first[s];
					     k < g->adj_first[s + 1]; k++) {
						uint32_t to = g->adj[k].to;
						bool up = is_up(d, s, to);
						uint32_t by = pass ? cost[to] : down[to];

						if (up != (pass == 1) ||
						    by == UINT32_MAX ||
						    (pass && down[s] != UINT32_MAX) ||
						    by + 1 >=
						            (pass ? cost[s] : down[s])) {
							continue;
						}
						cost[s] = by + 1;
						if (!pass) {
							down[s] = by + 1;
						}
						lft_row(ret_lft, s)[lid] = g->adj[k].port;
						more = true;
					}
				}
			}
		}
	}
}

static void check_proven(const struct graph *g, const struct lids *lids,
                         const struct lft *lft)
{
	struct proof p;

	ck_assert_int_eq(proof_run(g, lids, lft, NULL, arena, &p), E_OK);
	ck_assert_msg(proof_passed(&p, false), "%s", proof_text(&p, g, arena));
}

static void make_lids(const struct graph *g, struct lids *ret_lids)
{
	struct lids_in in = { .g = g };
	struct diags *d = arena_alloc(arena, sizeof(*d));

	diags_init(d, arena);
	ck_assert_int_eq(lids_assign(&in, arena, d, ret_lids, NULL, NULL), E_OK);
}

/* ---- an independent look at mixtures ---- */

/* The entry of one switch for a LID while a stage runs; \a coin decides inside the stage. */
static uint8_t mixed_entry(const struct transition_in *in, const struct transition *t,
                           unsigned stage, uint32_t s, uint32_t lid, bool coin)
{
	unsigned own = t->stage[lid];
	bool is_new = own == 0 || own < stage || (own == stage && coin);

	return lft_row(is_new ? in->to : in->from, s)[lid];
}

/* A mixture that may stand in the switches during a stage. */
static void mix(const struct transition_in *in, const struct transition *t,
                unsigned stage, uint64_t *state, struct lft *ret_lft)
{
	for (uint32_t s = 0; s < ret_lft->n_switches; s++) {
		for (uint32_t lid = 1; lid < ret_lft->n_lids; lid++) {
			lft_row(ret_lft, s)[lid] = mixed_entry(in, t, stage, s, lid,
			                                       random_next(state) >> 63);
		}
	}
}

/* Link behind a port as an index of g->adj, GRAPH_NONE: none. */
static uint32_t link_of(const struct graph *g, uint32_t s, uint8_t port)
{
	for (uint32_t k = g->adj_first[s]; k < g->adj_first[s + 1]; k++) {
		if (g->adj[k].port == port) {
			return k;
		}
	}
	return GRAPH_NONE;
}

/* Which VL a packet takes out of a switch. */
static unsigned vl_out(const struct vl_rule *r, uint32_t s, unsigned port_in,
                       unsigned port, unsigned sl)
{
	return r ? r->vl[vl_class(r, s, port_in)][vl_class(r, s, port)][sl] : sl;
}

/* Follows all routes of a table: no circle. Adds the dependencies of the SLs that either
 * table has, to [channels][channels] of channel = link * VL_SLS + VL; \a channels numbers
 * those that are in use. */
struct dependencies {
	uint32_t number[8192], n;
	uint8_t *bits; /* [cap][cap] */
	uint32_t cap;
};

static uint32_t number_of(struct dependencies *d, uint32_t channel)
{
	ck_assert_uint_lt(channel, sizeof(d->number) / sizeof(*d->number));
	if (d->number[channel] == 0) {
		d->number[channel] = ++d->n;
		ck_assert_uint_le(d->n, d->cap);
	}
	return d->number[channel] - 1;
}

static void follow(const struct graph *g, const struct lft *lft,
                   const struct vl_rule *rule, uint32_t src, uint32_t lid, unsigned sl,
                   struct dependencies *d)
{
	uint32_t s = src, before = GRAPH_NONE, hops = 0, k, channel;
	unsigned port_in = 0;

	while ((k = link_of(g, s, lft_row(lft, s)[lid])) != GRAPH_NONE) {
		ck_assert_msg(hops++ <= g->n_switches, "LID %u circles from switch %u",
		              lid, src);
		if (d) {
			channel = number_of(d, k * VL_SLS + vl_out(rule, s, port_in,
			                                           g->adj[k].port, sl));
			if (before != GRAPH_NONE) {
				d->bits[(size_t)before * d->cap + channel] = 1;
			}
			before = channel;
		}
		port_in = g->adj[k].to_port;
		s = g->adj[k].to;
	}
}

static void follow_all(const struct transition_in *in, const struct transition *t,
                       unsigned stage, const struct lft *lft, struct dependencies *d)
{
	const struct graph *g = in->g;
	const struct lanes *lanes[] = { in->from_lanes, in->to_lanes };
	const struct vl_rule *rule = in->to_lanes ? in->to_lanes->rule : NULL;

	for (uint32_t lid = 1; lid <= in->lids->top; lid++) {
		bool host = in->lids->owner[lid] != GRAPH_NONE &&
		            graph_is_host(g, in->lids->owner[lid]);

		bool later = t->stage[lid] > stage, earlier = t->stage[lid] < stage;

		for (uint32_t src = 0; src < g->n_switches; src++) {
			bool sends = host && g->host_first[src + 1] > g->host_first[src];

			for (unsigned i = later ? 0 : earlier; i < (later ? 1 : 2); i++) {
				unsigned lane =
					lanes[i] ? lane_of(lanes[i], src, lid) : 0;

				follow(g, lft, rule, src, lid,
				       rule ? vl_rule_sl(rule, lane, 0) : lane,
				       sends ? d : NULL);
			}
		}
	}
}

/* Takes away channels that wait for none, until nothing or only cycles are left. */
static bool is_acyclic(const struct dependencies *d)
{
	uint32_t n = d->n, left = n;
	uint8_t *gone = arena_array(arena, n, 1);

	for (bool more = true; more;) {
		more = false;
		for (uint32_t a = 0; a < n; a++) {
			bool waits = false;

			for (uint32_t b = 0; b < n && !gone[a] && !waits; b++) {
				waits = d->bits[(size_t)a * d->cap + b] && !gone[b];
			}
			if (!gone[a] && !waits) {
				gone[a] = 1;
				left--;
				more = true;
			}
		}
	}
	return left == 0;
}

static unsigned check_stages(const struct transition_in *in, const struct transition *t,
                             uint64_t seed)
{
	const struct graph *g = in->g;
	struct lft now;

	ck_assert_int_eq(lft_init(&now, g->n_switches, in->lids->top, arena), E_OK);
	for (unsigned stage = 1; stage <= t->n_stages; stage++) {
		struct dependencies d = { .cap = 1000 };

		d.bits = arena_array(arena, (size_t)d.cap * d.cap, 1);
		for (unsigned i = 0; i < MIXTURES; i++) {
			mix(in, t, stage, &seed, &now);
			follow_all(in, t, stage, &now, &d);
		}
		ck_assert_msg(is_acyclic(&d), "stage %u of %u: %s", stage, t->n_stages,
		              t->why.text);
	}
	return t->n_stages;
}

static const char *const fabrics[] = {
	"torus 6 1",       "torus 4x4 1",      "mesh 4x3 2",    "ft2 4 2 3",
	"dragonfly 2 2 1", "jellyfish 12 3 1", "hypercube 3 1", "tree3 2 2 2 2 2",
};
enum { N_FABRICS = sizeof(fabrics) / sizeof(*fabrics) };

/* The tables that any stage of any plan leaves are free of circles and of cyclic
 * dependencies; some transitions of these fabrics are free and some need stages. */
START_TEST(stages_are_safe)
{
	unsigned free_plans = 0, staged = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct graph *g = fabric_make(fabrics[_i], seed % 3 ? 0 : 0.1,
		                                    (uint32_t)seed, arena);
		uint64_t state = seed * 7919;
		struct transition_in in = { .g = g };
		struct lids lids;
		struct lft from, to;
		struct transition t;

		make_lids(g, &lids);
		route_updown(g, &lids, random_below(&state, g->n_switches), &from);
		route_updown(g, &lids, random_below(&state, g->n_switches), &to);
		check_proven(g, &lids, &from);
		check_proven(g, &lids, &to);
		in.lids = &lids;
		in.from = &from;
		in.to = &to;
		ck_assert_int_eq(transition_plan(&in, arena, &t), E_OK);
		check_stages(&in, &t, seed);
		free_plans += transition_is_free(&t);
		staged += !transition_is_free(&t);
		ck_assert_int_eq(transition_is_free(&t), t.why.text[0] == '\0');
	}
	ck_assert_uint_eq(free_plans + staged, SEEDS);
}
END_TEST

/* Ranks of switches for a LID, by a walk of its own; 0: no route. */
static unsigned rank_of(const struct graph *g, const struct lft *to, uint32_t s, uint32_t lid)
{
	unsigned rank = 1;
	uint32_t k;

	if (lft_row(to, s)[lid] == LFT_NO_ROUTE) {
		return 0;
	}
	while ((k = link_of(g, s, lft_row(to, s)[lid])) != GRAPH_NONE) {
		s = g->adj[k].to;
		rank++;
	}
	return rank;
}

/* A mixture of a stage while the switches of a rank take their entries. */
static void mix_rank(const struct transition_in *in, const struct transition *t,
                     unsigned stage, unsigned rank, uint64_t *state, struct lft *ret_lft)
{
	for (uint32_t s = 0; s < ret_lft->n_switches; s++) {
		for (uint32_t lid = 1; lid < ret_lft->n_lids; lid++) {
			unsigned own = rank_of(in->g, in->to, s, lid);
			bool coin = own == rank ? random_next(state) >> 63 : own < rank;

			lft_row(ret_lft, s)[lid] = mixed_entry(in, t, stage, s, lid, coin);
		}
	}
}

/* What switches hold at each rank leads without circles, and without cycles of dependencies in a stage as a whole. */
static void check_ranks(const struct transition_in *in, const struct transition *t, uint64_t seed)
{
	struct lft now;

	ck_assert_int_eq(lft_init(&now, in->g->n_switches, in->lids->top, arena), E_OK);
	for (unsigned stage = 1; stage <= t->n_stages; stage++) {
		struct dependencies d = { .cap = 1000 };

		if (t->ranks[stage] <= 1) {
			continue;
		}
		d.bits = arena_array(arena, (size_t)d.cap * d.cap, 1);
		for (unsigned rank = 1; rank <= t->ranks[stage]; rank++) {
			for (unsigned i = 0; i < MIXTURES; i++) {
				mix_rank(in, t, stage, rank, &seed, &now);
				follow_all(in, t, stage, &now, &d);
			}
		}
		ck_assert_msg(is_acyclic(&d), "stage %u by rank", stage);
	}
}

/* Steps of a plan: each LID has its new entries in all of a rank after the step of this rank. */
static void check_steps(const struct transition *t)
{
	uint32_t step = 0, rank;

	for (unsigned stage = 1; stage <= t->n_stages; stage++) {
		unsigned n = t->ranks[stage] > 1 ? t->ranks[stage] : 1;

		for (unsigned i = 1; i <= n; i++) {
			ck_assert_uint_eq(transition_stage_at(t, ++step, &rank), stage);
			ck_assert_uint_eq(rank, i == n ? UINT32_MAX : i);
		}
	}
	ck_assert_uint_eq(transition_steps(t), (step ? step : 1) + (t->withdrawn != 0));
	ck_assert_uint_eq(transition_stage_at(t, step + 1, &rank), t->n_stages + 1);
}

/* Many LIDs that would be withdrawn change switch by switch. */
START_TEST(ranks_are_safe)
{
	unsigned plain = 0, ranked = 0, pairs = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct graph *g = fabric_make(fabrics[_i], seed % 3 ? 0 : 0.1,
		                                    (uint32_t)seed, arena);
		uint64_t state = seed * 7919;
		struct transition_in in = { .g = g };
		struct lids lids;
		struct lft from, to;
		struct transition t;

		make_lids(g, &lids);
		route_updown(g, &lids, random_below(&state, g->n_switches), &from);
		route_updown(g, &lids, random_below(&state, g->n_switches), &to);
		in.lids = &lids;
		in.from = &from;
		in.to = &to;
		ck_assert_int_eq(transition_plan(&in, arena, &t), E_OK);
		plain += t.withdrawn;
		ck_assert(transition_hosts_withdrawn(&t, g, &lids) != 0 ||
		          transition_pairs_withdrawn(&t, &in) == 0);
		pairs += transition_pairs_withdrawn(&t, &in) != 0;
		in.by_rank = true;
		ck_assert_int_eq(transition_plan(&in, arena, &t), E_OK);
		ranked += t.withdrawn;
		check_ranks(&in, &t, seed);
		check_steps(&t);
		for (uint32_t lid = 1; lid <= lids.top; lid++) {
			for (uint32_t s = 0; s < g->n_switches; s++) {
				unsigned rank = rank_of(g, &to, s, lid);

				ck_assert_uint_eq(transition_rank(g, &to, s, lid),
				                  rank ? rank : UINT32_MAX);
			}
		}
	}
	ck_assert_uint_le(ranked, plain);
	if (_i < 3) { /* grids */
		ck_assert_uint_lt(ranked, plain);
		ck_assert_uint_gt(pairs, 0);
	}
}
END_TEST

/* A cable is lost: engines with and without lanes and with an SL-to-VL rule. */
static const struct {
	const char *engine, *fabric;
} repairs[] = {
	{ "minhop", "ft2 6 2 3" },       { "updn", "jellyfish 12 4 1" },
	{ "ftree", "ft2 6 2 3" },        { "dmodc", "tree3 2 2 2 2 2" },
	{ "dor", "mesh 4x4 1" },         { "lash", "torus 4x4 1" },
	{ "dfsssp", "torus 4x4 1" },     { "nue", "jellyfish 12 4 1" },
	{ "torus-2QoS", "torus 4x4 1" },
};
enum { N_REPAIRS = sizeof(repairs) / sizeof(*repairs) };

static void route_by(const char *engine, const struct graph *g, const struct lids *lids,
                     const struct lft *prev, struct route_result *ret_result)
{
	struct route_memory memory = { .tables = prev };
	struct route_request r = { .g = g, .lids = lids, .memory = &memory, .no_paths = true };
	struct why why = { "" };

	ck_assert_int_eq(route_list_parse(engine, &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, ret_result), E_OK);
}

START_TEST(cable_lost)
{
	for (uint32_t seed = 1; seed <= 4; seed++) {
		const struct graph *whole =
			fabric_make(repairs[_i].fabric, 0, seed, arena);
		const struct graph *g =
			fabric_make(repairs[_i].fabric, 0.05, seed, arena);
		struct transition_in in = { .g = g };
		struct route_result from, to;
		struct transition t;
		struct lids lids;
		int ret;

		make_lids(whole, &lids);
		route_by(repairs[_i].engine, whole, &lids, NULL, &from);
		make_lids(g, &lids);
		route_by(repairs[_i].engine, g, &lids, &from.out.lft, &to);
		in.lids = &lids;
		in.from = &from.out.lft;
		in.to = &to.out.lft;
		in.from_lanes = &from.out.lanes;
		in.to_lanes = &to.out.lanes;
		ret = transition_plan(&in, arena, &t);
		if (ret == E_UNSUITABLE) {
			ck_assert_msg(strstr(t.why.text, "SL-to-VL") != NULL,
			              "%s; from %s %d lanes to %s %d lanes", t.why.text,
			              from.used->name, from.out.lanes.n, to.used->name,
			              to.out.lanes.n);
			ck_assert(from.used != to.used || from.out.lanes.rule);
			continue;
		}
		ck_assert_int_eq(ret, E_OK);
		check_stages(&in, &t, seed);
	}
}
END_TEST

/* Hosts come: their LIDs had no entries, or not at all switches. Plans are the same with and
 * without the knowledge that the new tables are proven, also where other LIDs change. */
START_TEST(hosts_come)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct graph *g =
			fabric_make(fabrics[_i], 0, (uint32_t)seed, arena);
		uint64_t state = seed * 7919;
		struct transition_in in = { .g = g };
		struct transition t, known;
		struct lft from, to, other;
		struct lids lids;

		make_lids(g, &lids);
		route_updown(g, &lids, 0, &from);
		route_updown(g, &lids, 0, &to);
		route_updown(g, &lids, random_below(&state, g->n_switches), &other);
		for (unsigned n = 1 + random_below(&state, 4); n > 0; n--) {
			uint32_t lid = 1 + random_below(&state, lids.top);
			bool all = random_below(&state, 2);

			for (uint32_t s = 0; s < g->n_switches; s++) {
				if (all || random_below(&state, 2)) {
					lft_row(&from, s)[lid] = LFT_NO_ROUTE;
				} else if (seed % 4 == 0) {
					lft_row(&from, s)[lid] = lft_row(&other, s)[lid];
				}
			}
		}
		in.lids = &lids;
		in.from = &from;
		in.to = &to;
		if (transition_plan(&in, arena, &t) == E_UNSUITABLE && seed % 4 == 0) {
			continue; /* routes of both trees can form a credit loop */
		}
		in.to_is_proven = true;
		ck_assert_int_eq(transition_plan(&in, arena, &known), E_OK);
		ck_assert_uint_eq(known.changed, t.changed);
		ck_assert_uint_eq(known.n_stages, t.n_stages);
		ck_assert_uint_eq(known.credit_loops, t.credit_loops);
		ck_assert_mem_eq(known.stage, t.stage, lids.top + 1);
		check_stages(&in, &known, seed);
	}
}
END_TEST

START_TEST(same_tables_need_nothing)
{
	const struct graph *g = fabric_make("torus 4x4 2", 0, 1, arena);
	struct transition_in in = { .g = g };
	struct lids lids;
	struct lft from;
	struct transition t;

	make_lids(g, &lids);
	route_updown(g, &lids, 3, &from);
	in.lids = &lids;
	in.from = in.to = &from;
	ck_assert_int_eq(transition_plan(&in, arena, &t), E_OK);
	ck_assert_uint_eq(t.changed, 0);
	ck_assert_uint_eq(t.n_stages, 0);
	ck_assert(transition_is_free(&t));
}
END_TEST

/* A LID whose routes stay, but on another lane from one switch with hosts, changes. A switch
 * without hosts sends nothing. */
START_TEST(another_lane_is_a_change)
{
	const struct graph *g = fabric_make("ft2 4 2 2", 0, 1, arena);
	struct transition_in in = { .g = g };
	struct lanes one, other;
	struct transition t;
	struct lids lids;
	struct lft lft;
	uint32_t s = 0;

	make_lids(g, &lids);
	route_updown(g, &lids, 0, &lft);
	while ((g->host_first[s] != g->host_first[s + 1]) != (_i == 0)) {
		s++;
	}
	uint32_t host =
		g->hosts[graph_switch_of(g, g->hosts[0]) == s ? g->n_hosts - 1 : 0];
	uint32_t lid = lids.of[host].base;
	one = other = (struct lanes){ .n = 2, .stride = lft.stride };
	one.rows = arena_array(arena, g->n_switches, lft.stride);
	other.rows = arena_array(arena, g->n_switches, lft.stride);
	other.rows[s * lft.stride + lid] = 1;
	in = (struct transition_in){ .g = g,
		                     .lids = &lids,
		                     .from = &lft,
		                     .to = &lft,
		                     .from_lanes = &one,
		                     .to_lanes = &other };
	ck_assert_int_eq(transition_plan(&in, arena, &t), E_OK);
	ck_assert_uint_eq(t.changed, _i == 0);
	ck_assert_uint_eq(t.stage[lid], _i == 0);
}
END_TEST

/* ---- packets ---- */

enum { PACKETS = 24 };

/* Hosts send packets, each channel holds one. Returns how many never arrive. */
static unsigned stuck_packets(const struct graph *g, const struct lids *lids,
                              const struct lft *lft, uint64_t seed)
{
	uint32_t *held = arena_array(arena, g->n_adj, sizeof(*held)); /* LID, 0: free */
	uint32_t *to_send = arena_array(arena, g->n_hosts, sizeof(*to_send));
	uint32_t *lid = arena_array(arena, g->n_hosts, sizeof(*lid)), in_network = 0;

	for (uint32_t h = 0; h < g->n_hosts; h++) {
		to_send[h] = PACKETS;
	}
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < g->n_hosts; i++) {
			uint32_t s = graph_switch_of(g, g->hosts[i]), k;

			while (to_send[i] &&
			       (lid[i] == 0 || lid[i] == lids->of[g->hosts[i]].base)) {
				lid[i] = lids->of[g->hosts[random_below(&seed,
				                                        g->n_hosts)]]
				                 .base;
			}
			if (to_send[i] == 0) {
				continue;
			}
			k = link_of(g, s, lft_row(lft, s)[lid[i]]);
			if (k == GRAPH_NONE || held[k] == 0) {
				if (k != GRAPH_NONE) {
					held[k] = lid[i];
					in_network++;
				}
				to_send[i]--;
				lid[i] = 0;
				more = true;
			}
		}
		for (uint32_t c = 0; c < g->n_adj; c++) {
			uint32_t s = g->adj[c].to, k;

			if (held[c] == 0) {
				continue;
			}
			k = link_of(g, s, lft_row(lft, s)[held[c]]);
			if (k == GRAPH_NONE) {
				in_network--;
			} else if (held[k] == 0) {
				held[k] = held[c];
			} else {
				continue;
			}
			held[c] = 0;
			more = true;
		}
	}
	return in_network;
}

enum { SIDE = 5 };

/* Dimension-order routing over a mesh of SIDE x SIDE switches. */
static void route_mesh(const struct graph *g, const struct lids *lids, bool x_first,
                       struct lft *ret_lft)
{
	ck_assert_int_eq(lft_init(ret_lft, g->n_switches, lids->top, arena), E_OK);
	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		uint32_t home = graph_switch_of(g, lids->owner[lid]);

		for (uint32_t s = 0; s < g->n_switches; s++) {
			uint32_t x = s / SIDE, y = s % SIDE, to = GRAPH_NONE;
			bool turn_x = x != home / SIDE && (x_first || y == home % SIDE);

			if (s == home) {
				lft_row(ret_lft, s)[lid] =
					graph_switch_port_of(g, lids->owner[lid]);
				continue;
			}
			to = turn_x ? (x < home / SIDE ? s + SIDE : s - SIDE)
			            : (y < home % SIDE ? s + 1 : s - 1);
			for (uint32_t k = g->adj_first[s]; k < g->adj_first[s + 1]; k++) {
				if (g->adj[k].to == to) {
					lft_row(ret_lft, s)[lid] = g->adj[k].port;
				}
			}
			ck_assert_uint_ne(lft_row(ret_lft, s)[lid], LFT_NO_ROUTE);
		}
	}
}

/* Routes by X then Y and routes by Y then X are both free of deadlock, and no mixture of
 * them circles, but mixtures that updates in any order pass through block packets for
 * good. In the stages of the plan none does. */
START_TEST(packets_block_without_stages)
{
	const struct graph *g = fabric_make("mesh 5x5 1", 0, 1, arena);
	struct transition_in in = { .g = g };
	struct transition t, all;
	struct lids lids;
	struct lft from, to, now;
	unsigned blocked = 0;
	uint64_t state = 5;

	make_lids(g, &lids);
	route_mesh(g, &lids, true, &from);
	route_mesh(g, &lids, false, &to);
	check_proven(g, &lids, &from);
	check_proven(g, &lids, &to);
	in.lids = &lids;
	in.from = &from;
	in.to = &to;
	ck_assert_int_eq(transition_plan(&in, arena, &t), E_OK);
	ck_assert(!transition_is_free(&t));
	ck_assert_uint_eq(t.may_loop, 0);
	ck_assert_uint_gt(t.credit_loops, 0);
	ck_assert_int_eq(lft_init(&now, g->n_switches, lids.top, arena), E_OK);

	all = t;
	all.stage = arena_array(arena, lids.top + 1U, 1);
	for (uint32_t lid = 1; lid <= lids.top; lid++) {
		all.stage[lid] = t.stage[lid] != 0;
	}
	for (unsigned i = 0; i < 200; i++) {
		mix(&in, &all, 1, &state, &now);
		blocked += stuck_packets(g, &lids, &now, i + 1) != 0;
	}
	ck_assert_uint_gt(blocked, 0);
	for (unsigned stage = 1; stage <= t.n_stages; stage++) {
		for (unsigned i = 0; i < 200; i++) {
			mix(&in, &t, stage, &state, &now);
			ck_assert_uint_eq(stuck_packets(g, &lids, &now, i + 1), 0);
		}
	}
}
END_TEST

/* Tables that deadlock by themselves have no safe order, and the plan says which ones. */
START_TEST(tables_with_a_credit_loop)
{
	const struct graph *g = fabric_make("torus 5 1", 0, 1, arena);
	struct transition_in in = { .g = g };
	struct lids lids;
	struct lft around, good;
	struct transition t;

	make_lids(g, &lids);
	route_updown(g, &lids, 0, &good);
	ck_assert_int_eq(lft_init(&around, g->n_switches, lids.top, arena), E_OK);
	for (uint32_t lid = 1; lid <= lids.top; lid++) {
		uint32_t home = graph_switch_of(g, lids.owner[lid]);

		for (uint32_t s = 0; s < g->n_switches; s++) {
			uint32_t next = (s + 1) % g->n_switches;

			for (uint32_t k = g->adj_first[s]; k < g->adj_first[s + 1]; k++) {
				if (g->adj[k].to == next) {
					lft_row(&around, s)[lid] = g->adj[k].port;
				}
			}
		}
		lft_row(&around, home)[lid] = graph_switch_port_of(g, lids.owner[lid]);
	}
	in.lids = &lids;
	in.from = &good;
	in.to = &around;
	ck_assert_int_eq(transition_plan(&in, arena, &t), E_UNSUITABLE);
	ck_assert_ptr_nonnull(
		strstr(t.why.text, "the new tables alone have a credit loop"));
	in.from = &around;
	in.to = &good;
	ck_assert_int_eq(transition_plan(&in, arena, &t), E_UNSUITABLE);
	ck_assert_ptr_nonnull(
		strstr(t.why.text, "the old tables alone have a credit loop"));
}
END_TEST

/* Whatever the switches hold, also a route over a cable from a switch to itself: a plan is
 * made or refused. */
START_TEST(any_old_tables)
{
	enum { SWITCHES = 4, PORTS = 5 };
	struct graph *g = graph_new(arena);
	struct diags *d = arena_alloc(arena, sizeof(*d));
	struct transition_in in = { .g = g };
	struct transition t;
	struct lids lids;
	struct lft from, to;
	uint32_t sw[SWITCHES], host, state = 1;

	diags_init(d, arena);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		char *name = arena_printf(arena, "s%u", i);

		ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 0x100 + i, PORTS, name, "",
		                                &sw[i]),
		                 E_OK);
		name = arena_printf(arena, "h%u", i);
		ck_assert_int_eq(graph_add_node(g, NODE_CA, 0x200 + i, 1, name, "", &host),
		                 E_OK);
		ck_assert_int_eq(graph_connect(g, graph_port(g, sw[i], 1),
		                               graph_port(g, host, 1)),
		                 E_OK);
		if (i > 0) {
			ck_assert_int_eq(graph_connect(g, graph_port(g, sw[i - 1], 2),
			                               graph_port(g, sw[i], 3)),
			                 E_OK);
		}
	}
	ck_assert_int_eq(
		graph_connect(g, graph_port(g, sw[1], 4), graph_port(g, sw[1], 5)), E_OK);
	ck_assert_int_eq(graph_freeze(g, d), E_OK);
	make_lids(g, &lids);
	route_updown(g, &lids, 0, &to);
	ck_assert_int_eq(lft_init(&from, SWITCHES, lids.top, arena), E_OK);
	in.lids = &lids;
	in.from = &from;
	in.to = &to;
	for (unsigned i = 0; i < 500; i++) {
		for (uint32_t s = 0; s < SWITCHES; s++) {
			for (uint32_t lid = 1; lid <= lids.top; lid++) {
				state = state * 1664525 + 1013904223;
				lft_row(&from, s)[lid] = (uint8_t)(state >> 24) % (PORTS + 2);
			}
		}
		int ret = transition_plan(&in, arena, &t);

		ck_assert(ret == E_OK || ret == E_UNSUITABLE);
	}
}
END_TEST

TEST_SUITE(transition)
{
	TCase *t = tcase_create("transition");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, stages_are_safe, 0, N_FABRICS);
	tcase_add_loop_test(t, ranks_are_safe, 0, N_FABRICS);
	tcase_add_loop_test(t, cable_lost, 0, N_REPAIRS);
	tcase_add_loop_test(t, hosts_come, 0, N_FABRICS);
	tcase_add_test(t, same_tables_need_nothing);
	tcase_add_loop_test(t, another_lane_is_a_change, 0, 2);
	tcase_add_test(t, packets_block_without_stages);
	tcase_add_test(t, tables_with_a_credit_loop);
	tcase_add_test(t, any_old_tables);
	suite_add_tcase(suite, t);
}
