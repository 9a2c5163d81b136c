/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The proof.
 *
 * One pass over the LID columns counts what does not arrive and collects, per lane, which
 * channel goes on to which. Columns are independent, so they are proven in parallel; the
 * tallies are sums and the dependencies a set, so the outcome does not depend on threads.
 * Culprits are found afterwards, one column after the other, and only where a count says
 * that there are any.
 *
 * Which routes make dependencies: those that arrive. A route that ends in a hole or
 * circles is counted as such; adding its dependencies would report every
 * forwarding loop a second time as a credit loop.
 *
 * There are two tables of dependencies per lane: of the pairs that decide, and of
 * management pairs. Cycles of the first are credit loops. Where management has
 * dependencies that the first lacks, the union is searched once more for components that
 * hold none of these cycles.
 *
 * With an SL-to-VL rule packets change VLs on their way, and there is one table for all:
 * proof_rule.c.
 *
 * With one lane a column is walked against its order: every switch has heard from all
 * that send through it before it is its turn, so the routes of hosts and of management
 * part there. Otherwise each source is followed on its lane until a switch that was
 * passed on this lane before.
 *
 * Sources: W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987; R. Tarjan, "Depth-first search and linear graph
 * algorithms", 1972.
 */
#include "routing/proof.h"

#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/column.h"
#include "routing/graph.h"
#include "routing/lids.h"
#include "routing/proof_work.h"

/* Follows the route of one source as far as nobody went before on this lane. */
static void follow(const struct column *c, uint32_t s, unsigned vl,
                   const struct deps *deps, uint16_t *marks)
{
	uint16_t bit = (uint16_t)(1U << vl);

	while (!(marks[s] & bit)) {
		uint32_t next = c->next[s];

		marks[s] |= bit;
		if (next == GRAPH_NONE) {
			return;
		}
		if (c->state[s] == COLUMN_ARRIVES && next != c->home) {
			deps_add(&deps[vl], c->channel[s], c->port[next]);
		}
		s = next;
	}
}

void proof_follow_sources(const struct prover *pv, struct bench *b)
{
	const struct column *c = b->col;
	uint32_t n;
	const uint32_t *member = proof_members(pv, c, &n);

	memset(b->passed, 0, pv->map.n * sizeof(*b->passed));
	memset(b->managed, 0, pv->map.n * sizeof(*b->managed));
	if (pv->rule) {
		memset(b->came[0], 0, pv->map.n * sizeof(*b->came[0]));
		memset(b->came[1], 0, pv->map.n * sizeof(*b->came[1]));
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = member[i];
		unsigned vl = proof_lane(pv, s, c->lid);

		if (proof_is_missed(pv, c, s)) {
			continue;
		}
		if (pv->rule) {
			proof_rule_follow(pv, b, s);
			continue;
		}
		if (proof_decides(pv, c, s)) {
			follow(c, s, vl, pv->base, b->passed);
		} else {
			follow(c, s, vl, pv->management, b->managed);
		}
		if (pv->map.n_hosts[s]) {
			b->tally.vls |= 1U << vl;
		}
	}
}

/* Dependencies on one lane when every switch has a route. */
static void depend_all(const struct prover *pv, struct bench *b)
{
	const struct column *c = b->col;
	uint16_t *passed = b->passed;

	for (uint32_t i = 0; i < c->n_order; i++) {
		passed[c->order[i]] = proof_decides(pv, c, c->order[i]);
	}
	for (uint32_t i = c->n_order; i-- > 1;) {
		uint32_t s = c->order[i], next = c->next[s];

		passed[next] |= passed[s];
		if (next != c->home) {
			deps_add(passed[s] ? &pv->base[0] : &pv->management[0],
			         c->channel[s], c->port[next]);
		}
	}
}

/* Counts sources without a route. Returns what the column has to list: enum fault. */
static uint8_t count_faults(const struct prover *pv, struct bench *b)
{
	const struct column *c = b->col;
	struct tally *t = &b->tally;
	uint64_t before = t->holes + t->loops, managed = t->management_unreachable;
	uint64_t missed = t->missed;
	uint32_t n;
	const uint32_t *member = proof_members(pv, c, &n);

	t->loops += c->n_loops;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = member[i];

		if (c->state[s] == COLUMN_ARRIVES) {
			continue;
		}
		t->holes += proof_is_hole(b, s);
		if (proof_decides(pv, c, s)) {
			t->unreachable += pv->map.n_hosts[s] - (s == c->home);
			t->missed += proof_may_miss(pv, c, s);
		} else {
			t->management_unreachable++;
		}
	}
	if (t->management_unreachable != managed && c->lid < t->management_lid) {
		t->management_lid = c->lid;
	}
	return (t->holes + t->loops != before ? FAULT_CULPRIT : 0) |
	       (t->missed != missed ? FAULT_MISSED : 0);
}

/* Two CA ports cabled to each other need no switch. */
static bool is_back_to_back(const struct prover *pv, uint32_t lid)
{
	const struct graph *g = pv->map.g;
	uint32_t owner = pv->map.lids->owner[lid], peer;

	if (owner == GRAPH_NONE || g->nodes[g->ports[owner].node].sw != GRAPH_NONE) {
		return false;
	}
	peer = g->ports[owner].peer;
	return peer != GRAPH_NONE && g->nodes[g->ports[peer].node].sw == GRAPH_NONE;
}

static void prove_column(struct prover *pv, struct bench *b, uint32_t lid)
{
	uint32_t n;

	if (!column_resolve(&pv->map, b->col, lid)) {
		b->tally.pairs += is_back_to_back(pv, lid);
		return;
	}
	if (b->col->to_host) {
		b->tally.pairs += pv->map.part_hosts[pv->map.part[b->col->home]] - 1;
	}
	proof_members(pv, b->col, &n);
	if (b->col->n_order == n && !pv->lanes && !pv->rule) {
		depend_all(pv, b);
		return;
	}
	proof_follow_sources(pv, b);
	if (b->col->n_order != n) {
		pv->faulty[lid] = count_faults(pv, b);
	}
}

static struct bench *benches_new(const struct prover *pv, unsigned n, struct arena *a)
{
	struct bench *b = arena_array(a, n, sizeof(*b));
	struct column *col = column_new(&pv->map, n, a);

	for (unsigned i = 0; b && col && i < n; i++) {
		b[i].col = &col[i];
		b[i].tally.management_lid = UINT32_MAX;
		b[i].passed = arena_array(a, pv->map.n, sizeof(*b->passed));
		b[i].managed = arena_array(a, pv->map.n, sizeof(*b->managed));
		if (!b[i].passed || !b[i].managed) {
			return NULL;
		}
		for (unsigned k = 0; pv->rule && k < 2; k++) {
			b[i].came[k] = arena_array(a, pv->map.n, sizeof(*b->came[k]));
			if (!b[i].came[k]) {
				return NULL;
			}
		}
	}
	return col ? b : NULL;
}

static void prove_columns(struct prover *pv, struct bench *bench)
{
	uint32_t n_blocks = pv->map.lids->top / COLUMN_BLOCK + 1;

#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct bench *b = &bench[column_thread()];
		uint32_t lid = i * COLUMN_BLOCK;

		column_load_block(&pv->map, b->col, lid);
		for (uint32_t k = 0; k < COLUMN_BLOCK && lid + k <= pv->map.lids->top;
		     k++) {
			prove_column(pv, b, lid + k);
		}
	}
}

static void add_tally(struct proof *p, unsigned *vls, const struct tally *t)
{
	p->pairs += t->pairs;
	p->unreachable_pairs += t->unreachable;
	p->missed_pairs += t->missed;
	p->holes += t->holes;
	p->forwarding_loops += t->loops;
	p->management_unreachable += t->management_unreachable;
	if (t->management_lid < p->management_hole.lid) {
		p->management_hole.lid = t->management_lid;
	}
	*vls |= t->vls;
}

/* Adds the proof set's dependencies to management's. Returns whether management has
 * others. */
static bool merge_management(struct prover *pv, unsigned vl)
{
	size_t n = (size_t)deps_channels(&pv->base[vl]) * pv->base[vl].words;
	uint64_t other = 0;

	for (size_t i = 0; i < n; i++) {
		other |= pv->management[vl].bits[i] & ~pv->base[vl].bits[i];
		pv->management[vl].bits[i] |= pv->base[vl].bits[i];
	}
	return other != 0;
}

/* Components that appear only when management pairs are counted in. */
static int prove_management(const struct prover *pv, struct column *col, unsigned vl,
                            const struct components *base, struct arena *a,
                            struct arena *tmp, struct proof *p)
{
	struct components all;
	struct proof_cycle like = { .vl = (uint8_t)vl, .management = true };
	uint8_t *known;
	int ret = deps_components(&pv->management[vl], tmp, &all);

	if (ret != E_OK) {
		return ret;
	}
	known = arena_array(tmp, all.n, sizeof(*known));
	if (!known) {
		return -ENOMEM;
	}
	for (uint32_t c = 0; c < deps_channels(&pv->base[vl]); c++) {
		if (base->of[c] != GRAPH_NONE) {
			known[all.of[c]] = 1;
		}
	}
	for (uint32_t i = 0; i < all.n; i++) {
		p->management_credit_loops += !known[i];
	}
	return proof_list_cycles(pv, col, &pv->management[vl], &all, known, like, a, p);
}

static int prove_lanes(struct prover *pv, struct column *col, struct arena *a,
                       struct arena *tmp, struct proof *p)
{
	struct components base[VLS_MAX];
	int ret;

	for (unsigned vl = 0; vl < pv->n_graphs; vl++) {
		struct proof_cycle like = { .vl = (uint8_t)vl };

		ret = deps_components(&pv->base[vl], tmp, &base[vl]);
		if (ret != E_OK) {
			return ret;
		}
		p->credit_loops += base[vl].n;
		ret = proof_list_cycles(pv, col, &pv->base[vl], &base[vl], NULL, like, a,
		                        p);
		if (ret != E_OK) {
			return ret;
		}
	}
	for (unsigned vl = 0; vl < pv->n_graphs; vl++) {
		if (!merge_management(pv, vl)) {
			continue;
		}
		ret = prove_management(pv, col, vl, &base[vl], a, tmp, p);
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

static unsigned count_graphs(const struct prover *pv)
{
	const struct lids *lids = pv->map.lids;
	unsigned top = 0;

	if (!pv->lanes || pv->rule) {
		return 1;
	}
#pragma omp parallel for schedule(static) reduction(max : top)
	for (uint32_t s = 0; s < pv->map.n; s++) {
		for (uint32_t lid = 1; lid <= lids->top; lid++) {
			unsigned vl = proof_lane(pv, s, lid);

			top = vl > top ? vl : top;
		}
	}
	return top + 1;
}

static int find_may_miss(struct prover *pv, const uint8_t *may_miss, struct arena *tmp)
{
	const struct graph *g = pv->map.g;

	if (!may_miss) {
		return E_OK;
	}
	pv->may_miss = may_miss;
	pv->n_may_miss = arena_array(tmp, pv->map.n, sizeof(*pv->n_may_miss));
	if (!pv->n_may_miss) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < pv->map.n; s++) {
		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
			pv->n_may_miss[s] += may_miss[pv->map.lids->of[g->hosts[h]].base];
		}
	}
	return E_OK;
}

static int prover_init(struct prover *pv, const struct graph *g, const struct lids *lids,
                       const struct lft *lft, const struct lanes *lanes,
                       struct arena *tmp)
{
	int ret = column_map_init(&pv->map, g, lids, lft, tmp);
	unsigned shift;

	pv->lanes = lanes && lanes->rows ? lanes : NULL;
	pv->rule = lanes ? lanes->rule : NULL;
	if (ret == E_OK && pv->rule) {
		ret = proof_rule_init(pv, tmp);
	}
	if (ret != E_OK) {
		return ret;
	}
	shift = pv->rule ? proof_rule_shift(pv) : 0;
	pv->n_graphs = count_graphs(pv);
	pv->faulty = arena_array(tmp, (size_t)lids->top + 1, sizeof(*pv->faulty));
	for (unsigned vl = 0; pv->faulty && ret == E_OK && vl < pv->n_graphs; vl++) {
		ret = deps_init(&pv->base[vl], &pv->map, shift, tmp);
		if (ret == E_OK) {
			ret = deps_init(&pv->management[vl], &pv->map, shift, tmp);
		}
	}
	return pv->faulty ? ret : -ENOMEM;
}

int proof_run(const struct graph *g, const struct lids *lids, const struct lft *lft,
              const struct lanes *lanes, struct arena *a, struct proof *ret)
{
	return proof_run_missing(g, lids, lft, lanes, NULL, a, ret);
}

int proof_run_missing(const struct graph *g, const struct lids *lids,
                      const struct lft *lft, const struct lanes *lanes,
                      const uint8_t *may_miss, struct arena *a, struct proof *ret)
{
	unsigned threads = column_threads(), vls = 0;
	struct arena *tmp = arena_new();
	struct prover pv = { 0 };
	struct proof p = { .lids = *lids, .management_hole.lid = UINT32_MAX };
	struct bench *bench;
	int ret_code = -ENOMEM;

	if (!tmp) {
		goto out;
	}
	ret_code = prover_init(&pv, g, lids, lft, lanes, tmp);
	if (ret_code == E_OK) {
		ret_code = find_may_miss(&pv, may_miss, tmp);
	}
	if (ret_code != E_OK) {
		goto out;
	}
	bench = benches_new(&pv, threads, tmp);
	if (!bench) {
		ret_code = -ENOMEM;
		goto out;
	}
	prove_columns(&pv, bench);
	for (unsigned i = 0; i < threads; i++) {
		add_tally(&p, &vls, &bench[i].tally);
	}
	if (pv.rule) {
		vls = proof_rule_vls(&pv, vls);
	}
	p.vls_used = pv.lanes || pv.rule ? (uint32_t)__builtin_popcount(vls) : 1;
	column_load_block(&pv.map, bench[0].col, 0);
	ret_code = proof_list_faults(&pv, &bench[0], a, &p);
	if (ret_code == E_OK) {
		ret_code = prove_lanes(&pv, bench[0].col, a, tmp, &p);
	}
	if (ret_code == E_OK) {
		*ret = p;
	}
out:
	arena_free(tmp);
	return ret_code;
}

bool proof_passed(const struct proof *p, bool strict)
{
	if (!proof_reaches(p) || p->forwarding_loops || p->credit_loops) {
		return false;
	}
	return !strict || (!p->management_unreachable && !p->management_credit_loops);
}
