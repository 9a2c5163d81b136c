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
 * With one lane whole blocks of LIDs are walked at once where everything arrives, switch
 * by switch, and switches that are alike are done together (column.h). What does not
 * arrive is left to columns. With one lane a column is walked against its order: every
 * switch has heard from all that send through it before it is its turn, so the routes of
 * hosts and of management part there. Otherwise each source is followed on its lane until
 * a switch that was passed on this lane before.
 *
 * Sources: W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987; R. Tarjan, "Depth-first search and linear graph
 * algorithms", 1972.
 */
#include "routing/proof/proof.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/proof_work.h"

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
	if (pv->skip && pv->skip[lid / COLUMN_BLOCK] >> lid % COLUMN_BLOCK & 1) {
		return;
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

/* The dependencies of LIDs that come by a channel and leave the next switch as its row
 * says.
 */
static void depend_row(const struct deps *d, uint32_t channel, const uint8_t *row,
                       uint64_t lids)
{
	while (lids) {
		unsigned k = (unsigned)__builtin_ctzll(lids);
		unsigned n = column_run_length(row, k, lids);

		deps_add(d, channel, row[k]);
		lids &= ~((UINT64_MAX >> (COLUMN_BLOCK - n)) << k);
	}
}

/* The dependencies at one switch: of its channels, or by port into \a here. */
static void depend_switch(const struct prover *pv, const struct column_block *b,
                          const struct column_group *group, const struct deps *here)
{
	const struct column_hop *hop = pv->map.hop + (size_t)group->sw * pv->map.width;
	const struct deps *base = here ? &here[0] : &pv->base[0];
	const struct deps *management = here ? &here[1] : &pv->management[0];
	uint64_t passed = b->passed[group->sw];

	for (uint32_t k = 0; k < group->n; k++) {
		const struct column_run *r = &b->run[group->first + k];
		struct column_hop to = hop[r->port];
		uint32_t channel = here ? r->port : to.channel;
		const uint8_t *row = column_block_row(b, to.next);
		uint64_t lids = column_run_lids(r) & ~b->homes[to.next];

		if (lids && r->n == 1) {
			deps_add(lids & passed ? base : management, channel,
			         row[r->first]);
			continue;
		}
		depend_row(base, channel, row, lids & passed);
		depend_row(management, channel, row, lids & ~passed);
	}
}

/* The ports of a group's runs, each once, with no dependencies. Returns how many. */
static unsigned clear_ports(const struct column_block *b,
                            const struct column_group *group, const struct deps *here,
                            uint8_t *port)
{
	bool listed[UINT8_MAX + 1] = { false };
	unsigned n = 0;

	for (uint32_t k = 0; k < group->n; k++) {
		uint8_t p = b->run[group->first + k].port;
		size_t bytes = here->words * sizeof(*here->bits);

		if (!listed[p]) {
			listed[p] = true;
			port[n++] = p;
			memset(here[0].bits + (size_t)p * here->words, 0, bytes);
			memset(here[1].bits + (size_t)p * here->words, 0, bytes);
		}
	}
	return n;
}

/* The same at all switches that are like one: mostly they bring the same. */
static void depend_alike(const struct prover *pv, const struct bench *bench,
                         const struct column_group *first)
{
	const struct column_block *b = bench->block;
	const struct deps *here = bench->here;
	unsigned words = here->words, n;
	uint8_t port[UINT8_MAX + 1];
	const struct column_group *group = first;

	n = clear_ports(b, first, here, port);
	depend_switch(pv, b, first, here);
	for (;; group = &b->group[group->more]) {
		const struct column_hop *hop =
			pv->map.hop + (size_t)group->sw * pv->map.width;

		if (b->passed[group->sw] != b->passed[first->sw]) {
			depend_switch(pv, b, group, NULL);
		}
		for (unsigned k = 0;
		     b->passed[group->sw] == b->passed[first->sw] && k < n; k++) {
			size_t row = (size_t)port[k] * words;

			deps_merge(&pv->base[0], hop[port[k]].channel,
			           here[0].bits + row);
			deps_merge(&pv->management[0], hop[port[k]].channel,
			           here[1].bits + row);
		}
		if (!group->more) {
			return;
		}
	}
}

/* As all columns of a block that arrive from everywhere. */
static void prove_block(const struct prover *pv, struct bench *bench)
{
	struct column_block *b = bench->block;
	const struct column_map *m = &pv->map;

	column_block_pass(m, b,
	                  b->to_host & ~(pv->skip ? pv->skip[b->lid / COLUMN_BLOCK] : 0));
	for (uint32_t i = 0; i < b->n_groups; i++) {
		const struct column_group *group = &b->group[i];

		if (group->like == i && group->more) {
			depend_alike(pv, bench, group);
		} else if (group->like == i) {
			depend_switch(pv, b, group, NULL);
		}
	}
	for (uint32_t k = 0; k < COLUMN_BLOCK && b->lid + k <= m->lids->top; k++) {
		if (b->to_host >> k & 1) {
			bench->tally.pairs += m->part_hosts[m->part[b->home[k]]] - 1;
		} else if (!(b->owned >> k & 1)) {
			bench->tally.pairs += is_back_to_back(pv, b->lid + k);
		}
	}
}

static struct bench *benches_new(const struct prover *pv, unsigned n, struct arena *a)
{
	struct bench *b = arena_array(a, n, sizeof(*b));
	struct column *col = column_new(&pv->map, n, a);
	bool alike = !pv->lanes && !pv->rule;
	struct column_block *block = alike ? column_blocks_new(&pv->map, n, a) : NULL;

	for (unsigned i = 0; b && col && i < n; i++) {
		b[i].col = &col[i];
		b[i].block = block ? &block[i] : NULL;
		b[i].tally.management_lid = UINT32_MAX;
		for (unsigned k = 0; block && k < 2; k++) {
			b[i].here[k] = (struct deps){ .words = pv->base[0].words };
			b[i].here[k].bits = arena_array(
				a, pv->map.width, pv->base[0].words * sizeof(uint64_t));
			if (!b[i].here[k].bits) {
				return NULL;
			}
		}
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
	return col && !block == !alike ? b : NULL;
}

static void prove_columns(struct prover *pv, struct bench *bench)
{
	uint32_t n_blocks = pv->map.lids->top / COLUMN_BLOCK + 1;

#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct bench *b = &bench[column_thread()];
		uint32_t lid = i * COLUMN_BLOCK;

		if (b->block && column_block_resolve(&pv->map, b->block, lid)) {
			prove_block(pv, b);
			continue;
		}
		column_load_block(&pv->map, b->col, lid);
		for (uint32_t k = 0; k < COLUMN_BLOCK && lid + k <= pv->map.lids->top;
		     k++) {
			prove_column(pv, b, lid + k);
		}
	}
}

int proof_prover_run(struct prover *pv, unsigned n, struct arena *tmp,
                     struct bench **ret)
{
	struct bench *bench = benches_new(pv, n, tmp);

	if (!bench) {
		return -ENOMEM;
	}
	prove_columns(pv, bench);
	*ret = bench;
	return E_OK;
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

int proof_prover_init(struct prover *pv, const struct graph *g, const struct lids *lids,
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
	ret_code = proof_prover_init(&pv, g, lids, lft, lanes, tmp);
	if (ret_code == E_OK) {
		ret_code = find_may_miss(&pv, may_miss, tmp);
	}
	if (ret_code != E_OK) {
		goto out;
	}
	ret_code = proof_prover_run(&pv, threads, tmp, &bench);
	if (ret_code != E_OK) {
		goto out;
	}
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
