/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The proof of a change against the full proof, over many random changes of tables: what it
 * accepts must pass the full proof, and so must mixtures of old and new entries.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "routing/proof/dep_order.h"
#include "routing/proof/proof.h"
#include "routing/proof/proof_change.h"
#include "routing/route.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

enum { SEEDS = 8, TREE_SEEDS = 32, CHANGES = 60, ENTRIES = 12 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* Tables that passed, with what the proof of a change goes by. */
struct proven {
	struct graph *g;
	struct lids lids;
	struct lft lft;
	struct shape shape;
	struct dep_order order;
};

static void copy_tables(struct lft *to, const struct lft *from)
{
	memcpy(to->rows, from->rows, from->n_switches * from->stride);
}

/* \a management: the order has the dependencies of management pairs, too, if they have none that is a loop. */
static void start_without(struct proven *p, const char *fabric, double fail, uint32_t seed,
                          bool management)
{
	struct route_request r = { .no_paths = true };
	struct route_result result;
	struct proof_deps deps;
	struct why why = { "" };
	struct proof proof;
	int ret;

	p->g = fabric_make(fabric, fail, seed, arena);
	p->lids = fabric_lids(p->g, 0, 0, arena);
	r.g = p->g;
	r.lids = &p->lids;
	ck_assert_int_eq(route_list_parse("dnup", &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	p->lft = result.out.lft;
	ck_assert_int_eq(proof_run_keeping(p->g, &p->lids, &p->lft, NULL, NULL, arena,
	                                   &proof, &deps),
	                 E_OK);
	ck_assert(proof_passed(&proof, false));
	ck_assert_int_eq(shape_init(&p->shape, p->g, &p->lids, arena), E_OK);
	ret = E_CREDITLOOP;
	if (management) {
		ret = dep_order_init(&p->order, &p->shape, deps.base, deps.management,
		                     arena);
		ck_assert_int_eq(ret,
		                 proof.management_credit_loops ? E_CREDITLOOP : E_OK);
	}
	if (ret == E_CREDITLOOP) {
		ret = dep_order_init(&p->order, &p->shape, deps.base, NULL, arena);
	}
	ck_assert_int_eq(ret, E_OK);
}

static void start(struct proven *p, const char *fabric, double fail, uint32_t seed)
{
	start_without(p, fabric, fail, seed, true);
}

static bool passes(const struct proven *p, const struct lft *t, bool all_arrive)
{
	struct arena *a = arena_new();
	struct proof proof;
	bool good;

	ck_assert_int_eq(proof_run(p->g, &p->lids, t, NULL, a, &proof), E_OK);
	good = proof.forwarding_loops == 0 && proof.credit_loops == 0 &&
	       (!all_arrive ||
	        (proof_reaches(&proof) && proof.management_unreachable == 0)) &&
	       (!p->order.management || proof.management_credit_loops == 0);
	arena_free(a);
	return good;
}

/* Every dependency leads from a lower to a higher number. */
static void check_order(const struct dep_order *o)
{
	for (uint32_t c = 0; c < o->n; c++) {
		for (unsigned e = 0; e < o->shape->width; e++) {
			if (o->after[(size_t)c * o->words + e / 64] >> e % 64 & 1) {
				uint32_t next =
					o->shape->port[c].to * o->shape->width + e;

				ck_assert_uint_lt(o->place[c], o->place[next]);
			}
		}
	}
}

static int cmp_entry(const void *a, const void *b)
{
	const struct route_entry *x = a, *y = b;

	return x->lid != y->lid ? (x->lid > y->lid) - (x->lid < y->lid)
	                        : (x->sw > y->sw) - (x->sw < y->sw);
}

/* Sends some LIDs to other neighbours, some of them along a whole detour. */
static uint32_t change_entries(const struct proven *p, struct lft *t, uint64_t *state,
                               struct route_entry *entry)
{
	const struct graph *g = p->g;
	uint32_t n = 1 + random_below(state, 1 + random_below(state, ENTRIES)), lid = 1;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = random_below(state, g->n_switches);
		uint32_t links = g->adj_first[s + 1] - g->adj_first[s];

		if (i == 0 || random_below(state, 3) == 0) {
			lid = 1 + random_below(state, p->lids.top);
		}
		entry[i] = (struct route_entry){ lid, s };
		lft_row(t, s)[lid] =
			g->adj[g->adj_first[s] + random_below(state, links)].port;
		if (random_below(state, 10) == 0) { /* to nobody, or to a host */
			lft_row(t, s)[lid] =
				random_below(state, 2)
					? LFT_NO_ROUTE
					: (uint8_t)random_below(state, p->shape.width);
		}
	}
	qsort(entry, n, sizeof(*entry), cmp_entry);
	return n;
}

/* Old or new entries by the toss of a coin; LIDs that may circle have either at all switches. */
static void mix(const struct proven *p, const struct lft *to, const uint32_t *circling,
                uint32_t n_circling, uint64_t *state, struct lft *ret_lft)
{
	copy_tables(ret_lft, to);
	for (uint32_t lid = 1; lid <= p->lids.top; lid++) {
		bool whole = false, coin = random_next(state) >> 63;

		for (uint32_t i = 0; i < n_circling; i++) {
			whole |= circling[i] == lid;
		}
		for (uint32_t s = 0; s < ret_lft->n_switches; s++) {
			if (whole ? coin : random_next(state) >> 63) {
				lft_row(ret_lft, s)[lid] = lft_row(&p->lft, s)[lid];
			}
		}
	}
}

static const char *const fabrics[] = {
	"torus 6 1",       "torus 4x4 1",      "mesh 4x3 2",    "ft2 4 2 3",
	"dragonfly 2 2 1", "jellyfish 12 3 1", "hypercube 3 1", "tree3 2 2 2 2 2",
};
enum { N_FABRICS = sizeof(fabrics) / sizeof(*fabrics) };

/* Most of these changes make loops, holes or credit loops. Those that are accepted pile up. */
static void check_changes(const char *fabric, unsigned number, uint32_t seeds,
                          bool management)
{
	unsigned n_accepted = 0, n_refused_loops = 0;

	for (uint32_t seed = 1; seed <= seeds; seed++) {
		uint64_t state = seed * 7919 + number;
		struct proven p;
		struct lft to, mixed;

		start_without(&p, fabric, seed % 3 ? 0 : 0.1, seed, management);
		ck_assert_int_eq(lft_init(&to, p.g->n_switches, p.lids.top, arena), E_OK);
		ck_assert_int_eq(lft_init(&mixed, p.g->n_switches, p.lids.top, arena),
		                 E_OK);
		for (unsigned i = 0; i < CHANGES; i++) {
			struct route_entry entry[ENTRIES];
			uint32_t circling[ENTRIES], n = 0;
			struct proof_change c = { .shape = &p.shape,
				                  .from = &p.lft,
				                  .to = &to,
				                  .entry = entry,
				                  .order = &p.order };
			bool mixtures = i % 2;
			struct why why = { "" };
			int ret;

			copy_tables(&to, &p.lft);
			c.n = change_entries(&p, &to, &state, entry);
			ret = proof_change_run(&c, mixtures ? circling : NULL, &n, &why);
			ck_assert(ret == E_OK || ret == E_UNSUITABLE);
			ck_assert_int_eq(ret == E_OK, why.text[0] == '\0');
			check_order(&p.order);
			if (ret != E_OK) {
				n_refused_loops += !passes(&p, &to, true);
				continue;
			}
			ck_assert_msg(passes(&p, &to, true), "seed %u, change %u", seed,
			              i);
			for (unsigned k = 0; mixtures && k < 4; k++) {
				mix(&p, &to, circling, n, &state, &mixed);
				ck_assert_msg(passes(&p, &mixed, false),
				              "seed %u, change %u, mixture", seed, i);
			}
			n_accepted++;
			copy_tables(&p.lft, &to);
		}
		dep_order_done(&p.order);
	}
	ck_assert_uint_gt(n_accepted, 0);
	ck_assert_uint_gt(n_refused_loops, 0);
}

START_TEST(never_weaker)
{
	check_changes(fabrics[_i], (unsigned)_i, SEEDS, true);
}
END_TEST

/* The management routes had a credit loop, so the order has those of hosts alone. Then a change may lead
 * these to switches without hosts where none of them was. */
START_TEST(never_weaker_without_management)
{
	check_changes(_i ? "tree3 2 2 2 2 2" : "ft2 4 2 3", _i ? 7 : 3, TREE_SEEDS, false);
}
END_TEST

/* Routes around a ring, one LID after the other: the one that closes the ring is refused. */
START_TEST(ring_is_closed)
{
	struct proven p;
	struct lft to;
	unsigned n_refused = 0;

	start(&p, "torus 6 1", 0, 1);
	ck_assert_int_eq(lft_init(&to, p.g->n_switches, p.lids.top, arena), E_OK);
	copy_tables(&to, &p.lft);
	for (uint32_t lid = 1; lid <= p.lids.top; lid++) {
		struct route_entry entry[6];
		struct proof_change c = {
			.shape = &p.shape, .from = &p.lft, .to = &to, .order = &p.order
		};
		uint32_t home = graph_switch_of(p.g, p.lids.owner[lid]), s = home;
		uint32_t before = GRAPH_NONE;
		struct why why = { "" };

		for (unsigned i = 0; i < 5; i++) { /* all switches send it one way */
			const struct sw_link *l = &p.g->adj[p.g->adj_first[s]];

			if (before == GRAPH_NONE ? l->to < l[1].to : l->to == before) {
				l++;
			}
			before = s;
			s = l->to;
			lft_row(&to, s)[lid] = l->to_port;
			entry[c.n++] = (struct route_entry){ lid, s };
		}
		c.entry = entry;
		qsort(entry, c.n, sizeof(*entry), cmp_entry);
		if (proof_change_run(&c, NULL, NULL, &why) == E_OK) {
			ck_assert(passes(&p, &to, true));
			copy_tables(&p.lft, &to);
		} else {
			ck_assert_ptr_nonnull(strstr(why.text, "credit loop"));
			n_refused++;
			copy_tables(&to, &p.lft);
		}
	}
	ck_assert_uint_gt(n_refused, 0);
	dep_order_done(&p.order);
}
END_TEST

/* Port of a switch that leads to another one. */
static uint8_t port_to(const struct proven *p, uint32_t from, uint32_t to)
{
	for (uint32_t i = p->g->adj_first[from]; i < p->g->adj_first[from + 1]; i++) {
		if (p->g->adj[i].to == to) {
			return p->g->adj[i].port;
		}
	}
	ck_abort_msg("no cable");
	return 0;
}

/* Two leaves, two spines: a spine reaches the other one by the other leaf, while the first
 * leaf begins to go by that spine. Before and after is fine, between the two it may circle. */
START_TEST(circle_is_found)
{
	uint32_t leaf[2], spine[2], n_leaves = 0, n_spines = 0, circling[2], n = 0, lid;
	struct route_entry entry[2];
	struct proof_change c = { .n = 2, .entry = entry };
	struct why why = { "" };
	struct proven p;
	struct lft to;

	start(&p, "ft2 2 1 2", 0, 1);
	for (uint32_t s = 0; s < p.g->n_switches; s++) {
		if (p.shape.n_hosts[s]) {
			leaf[n_leaves++] = s;
		} else {
			spine[n_spines++] = s;
		}
	}
	lid = p.lids.of[graph_port(p.g, p.g->switches[spine[1]], 0)].base;
	if (lft_row(&p.lft, spine[0])[lid] == port_to(&p, spine[0], leaf[1])) {
		uint32_t s = leaf[0];

		leaf[0] = leaf[1];
		leaf[1] = s;
	}
	ck_assert_uint_eq(lft_row(&p.lft, leaf[0])[lid], port_to(&p, leaf[0], spine[1]));
	ck_assert_int_eq(lft_init(&to, p.g->n_switches, p.lids.top, arena), E_OK);
	copy_tables(&to, &p.lft);
	entry[0] = (struct route_entry){ lid, spine[0] };
	entry[1] = (struct route_entry){ lid, leaf[0] };
	lft_row(&to, spine[0])[lid] = port_to(&p, spine[0], leaf[1]);
	lft_row(&to, leaf[0])[lid] = port_to(&p, leaf[0], spine[0]);
	c.shape = &p.shape;
	c.from = &p.lft;
	c.to = &to;
	c.order = &p.order;
	ck_assert_int_eq(proof_change_run(&c, circling, &n, &why), E_OK);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(circling[0], lid);
	dep_order_done(&p.order);
}
END_TEST

TEST_SUITE(proof_change)
{
	TCase *t = tcase_create("proof_change");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, never_weaker, 0, N_FABRICS);
	tcase_add_loop_test(t, never_weaker_without_management, 0, 2);
	tcase_add_test(t, ring_is_closed);
	tcase_add_test(t, circle_is_found);
	suite_add_tcase(suite, t);
}
