/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The pass over all LID columns that the proof makes: counts routes that do not arrive
 * and collects dependencies between channels. Columns are independent, so they are walked
 * in parallel. Counts are sums and dependencies are a set, so the outcome does not depend
 * on threads.
 *
 * With one lane, whole blocks of LIDs are walked together where everything arrives, switch
 * by switch, and equal switches are done together (column.h). LIDs to which something does
 * not arrive are left to single columns.
 *
 * With one lane, a column is walked against its order. Every switch comes after all
 * switches that send through it, so it is known there whether routes of hosts or only
 * those of management pass. With several lanes each source is followed on its lane up to a
 * switch that was passed on this lane before.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/proof_int.h"

/* Follows the route of one source up to a switch that was passed on this lane before. */
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

void proof_follow_sources(const struct prover *pv, struct workspace *b)
{
	const struct column *c = b->col;
	uint32_t n;
	const uint32_t *member = proof_members(pv, c, &n);

	memset(b->passed, 0, pv->map.n * sizeof(*b->passed));
	memset(b->managed, 0, pv->map.n * sizeof(*b->managed));
	if (pv->rule) {
		memset(b->state[0], 0, pv->map.n * sizeof(*b->state[0]));
		memset(b->state[1], 0, pv->map.n * sizeof(*b->state[1]));
	}
	unsigned data = 0, managed = 0; /* VLs of sources with hosts */
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
			data |= 1U << vl;
			follow(c, s, vl, pv->base, b->passed);
		} else {
			managed |= pv->map.n_hosts[s] ? 1U << vl : 0;
			follow(c, s, vl, pv->management, b->managed);
		}
	}
	b->tally.vls |= data;
	b->tally.management_vls |= managed;
}

/* Adds the dependencies of a column on one lane when every switch has a route. */
static void depend_all(const struct prover *pv, struct workspace *b)
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
static uint8_t count_faults(const struct prover *pv, struct workspace *b)
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

static void prove_column(struct prover *pv, struct workspace *b, uint32_t lid)
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

/* Adds the dependencies at one switch: to the graphs, or by egress port to here. */
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
		/* each LID leaves the next switch as its row says */
		while (lids) {
			unsigned first = (unsigned)__builtin_ctzll(lids);
			bool decides = passed >> first & 1;
			uint64_t same = lids & (decides ? passed : ~passed);
			unsigned n = column_run_length(row, first, same);

			deps_add(decides ? base : management, channel, row[first]);
			lids &= ~((UINT64_MAX >> (COLUMN_BLOCK - n)) << first & same);
		}
	}
}

/* Lists the ports of a group's runs, each once, and clears their dependencies. Returns how
 * many. */
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

/* Adds the dependencies at all switches that are equal to one: mostly these are equal, too. */
static void depend_alike(const struct prover *pv, const struct workspace *bench,
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

/* Walks a block of LIDs that arrive from everywhere. */
static void prove_block(const struct prover *pv, struct workspace *bench)
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

static struct workspace *workspaces_new(const struct prover *pv, unsigned n,
                                        struct arena *a)
{
	struct workspace *b = arena_array(a, n, sizeof(*b));
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
			b[i].state[k] = arena_array(a, pv->map.n, sizeof(*b->state[k]));
			if (!b[i].state[k]) {
				return NULL;
			}
		}
	}
	return col && !block == !alike ? b : NULL;
}

int proof_walk_columns(struct prover *pv, unsigned n, struct arena *tmp,
                       struct workspace **ret_workspace)
{
	struct workspace *work = workspaces_new(pv, n, tmp);
	uint32_t top = pv->map.lids->top;

	if (!work) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i <= top / COLUMN_BLOCK; i++) {
		struct workspace *b = &work[column_thread()];
		uint32_t lid = i * COLUMN_BLOCK;

		if (b->block && column_block_resolve(&pv->map, b->block, lid)) {
			prove_block(pv, b);
			continue;
		}
		column_load_block(&pv->map, b->col, lid);
		for (uint32_t k = 0; k < COLUMN_BLOCK && lid + k <= top; k++) {
			prove_column(pv, b, lid + k);
		}
	}
	*ret_workspace = work;
	return E_OK;
}

/* The highest lane of any pair. */
static unsigned highest_lane(const struct prover *pv)
{
	const struct lids *lids = pv->map.lids;
	unsigned top = 0;

#pragma omp parallel for schedule(static) reduction(max : top)
	for (uint32_t s = 0; s < pv->map.n; s++) {
		for (uint32_t lid = 1; lid <= lids->top; lid++) {
			unsigned vl = proof_lane(pv, s, lid);

			top = vl > top ? vl : top;
		}
	}
	return top;
}

int proof_prover_init(struct prover *pv, const struct graph *g, const struct lids *lids,
                      const struct lft *lft, const struct lanes *lanes, struct arena *tmp)
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
	pv->n_graphs = pv->lanes && !pv->rule ? highest_lane(pv) + 1 : 1;
	pv->faulty = arena_array(tmp, (size_t)lids->top + 1, sizeof(*pv->faulty));
	pv->n_may_miss = arena_array(tmp, pv->map.n, sizeof(*pv->n_may_miss));
	if (!pv->faulty || !pv->n_may_miss) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; pv->may_miss && s < pv->map.n; s++) {
		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
			pv->n_may_miss[s] += pv->may_miss[lids->of[g->hosts[h]].base];
		}
	}
	for (unsigned vl = 0; ret == E_OK && vl < pv->n_graphs; vl++) {
		ret = deps_init(&pv->base[vl], &pv->map, shift, tmp);
		if (ret == E_OK) {
			ret = deps_init(&pv->management[vl], &pv->map, shift, tmp);
		}
	}
	return ret;
}
