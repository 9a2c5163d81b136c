/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/route_base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/dep_order.h"
#include "routing/proof/proof_change.h"

/* A change of more than one entry in so many is not small. */
enum { SMALL_SHARE = 8 };

struct route_base {
	struct arena *arena; /* tables, path rows and dependencies; NULL: none */
	struct arena *step;  /* of the last run: shape and load */
	bool valid;
	uint8_t lanes; /* that there were */
	struct shape shape;
	struct dep_order order;
	uint32_t *all, *base; /* [switch][port] routes, of all LIDs and of base LIDs */
	uint64_t *distances;  /* see struct route_repair */
	struct route_result result;
};

/* ---- life ---- */

struct route_base *route_base_new(void)
{
	return calloc(1, sizeof(struct route_base));
}

void route_base_clear(struct route_base *b)
{
	if (b != NULL) {
		dep_order_done(&b->order);
		arena_free(b->arena);
		arena_free(b->step);
		memset(b, 0, sizeof(*b));
	}
}

void route_base_free(struct route_base *b)
{
	route_base_clear(b);
	free(b);
}

void route_base_forget(struct route_base *b)
{
	if (b != NULL) {
		b->valid = false;
	}
}

/* ---- after a full run ---- */

/* Tables about which a proof of what changes says as much as a proof of all. */
static bool is_fit(const struct route_request *r, const struct route_result *result)
{
	const struct proof *p = &result->proof;

	return result->deps.base != NULL && result->deps.n_parts == 1 &&
	       p->credit_loops == 0 && p->forwarding_loops == 0 &&
	       p->unreachable_pairs == 0 && p->holes == 0 &&
	       p->management_unreachable == 0 && !r->strict && !r->no_paths &&
	       r->g->n_aggregation == 0 && result->alternates.rows == NULL &&
	       result->out.may_miss == NULL && !result->cached;
}

static int take_load(struct route_base *b, const struct graph *g)
{
	const struct shape *s = &b->shape;
	size_t n = (size_t)s->n * s->width;

	b->all = arena_array(b->arena, n, sizeof(*b->all));
	b->base = arena_array(b->arena, n, sizeof(*b->base));
	if (!b->all || !b->base) {
		return -ENOMEM;
	}
	for (uint32_t sw = 0; sw < s->n; sw++) {
		for (uint32_t i = g->adj_first[sw]; i < g->adj_first[sw + 1]; i++) {
			size_t at = (size_t)sw * s->width + g->adj[i].port;

			b->all[at] = b->result.load.all[i];
			b->base[at] = b->result.load.base[i];
		}
	}
	return E_OK;
}

void route_base_take(struct route_base *b, const struct route_request *r, uint8_t lanes,
                     struct arena *own, const struct route_result *result)
{
	const struct deps *management =
		result->proof.management_credit_loops ? NULL : result->deps.management;

	route_base_clear(b);
	b->arena = own;
	b->step = arena_new();
	b->result = *result;
	b->result.deps = (struct proof_deps){ 0 };
	b->lanes = lanes;
	b->distances = arena_array(own, 2 * (size_t)r->g->n_switches + 1, sizeof(*b->distances));
	b->valid = b->step != NULL && b->distances != NULL && is_fit(r, result) &&
	           shape_init(&b->shape, r->g, r->lids, b->step) == E_OK &&
	           !b->shape.off_switch && take_load(b, r->g) == E_OK &&
	           dep_order_init(&b->order, &b->shape, result->deps.base, management,
	                          own) == E_OK;
}

/* ---- what changed ---- */

static int doubt(struct why *why, const char *text)
{
	why_add(why, "%s", text);
	return E_UNSUITABLE;
}

enum { BLOCK = 64 }; /* rows are a multiple of it */

static bool same_block(const struct lft *a, const struct lft *b, uint32_t lid)
{
	size_t at = lid / BLOCK * BLOCK;
	bool same = true;

	for (uint32_t sw = 0; sw < a->n_switches && same; sw++) {
		same = memcmp(lft_row(a, sw) + at, lft_row(b, sw) + at, BLOCK) == 0;
	}
	return same;
}

/* Are these the tables that the switches have? */
static bool same_tables(const struct route_memory *m, const struct lft *b)
{
	const struct lft *a = m->tables;
	bool same = a != NULL && a->n_switches == b->n_switches && a->n_lids == b->n_lids;

	if (same && !m->few_differ) {
		return memcmp(a->rows, b->rows, a->n_switches * a->stride) == 0;
	}
	for (uint32_t i = 0; i < m->n_sw && same; i++) {
		same = memcmp(lft_row(a, m->sw[i]), lft_row(b, m->sw[i]), a->stride) == 0;
	}
	for (uint32_t i = 0; i < m->n_lid && same; i++) {
		if (i == 0 || m->lid[i - 1] / BLOCK != m->lid[i] / BLOCK) {
			same = same_block(a, b, m->lid[i]);
		}
	}
	return same;
}

/* Clears the entries of LIDs that nobody has; the others that changed have to be routed. */
static int mark_lids(struct route_step *st)
{
	int ret = E_OK;

	for (uint32_t i = 0; i < st->change.n_lids; i++) {
		uint32_t lid = st->change.lid[i];

		if (st->shape.lid[lid].sw != GRAPH_NONE) {
			st->dirty[lid] = REPAIR_OWNER;
			st->has_work = true;
			continue;
		}
		for (uint32_t sw = 0; sw < st->shape.n && ret == E_OK; sw++) {
			if (lft_row(st->repair.lft, sw)[lid] != LFT_NO_ROUTE) {
				ret = engine_set_entry(&st->repair, sw, lid,
				                       LFT_NO_ROUTE);
			}
		}
	}
	return ret;
}

/* LIDs that a switch sends over a lost link. */
static int mark_link(struct route_step *st, struct shape_link link)
{
	const uint8_t *row = lft_row(st->repair.lft, link.sw);
	int ret = E_OK;

	for (uint32_t lid = 1; lid <= st->shape.top && ret == E_OK; lid++) {
		if (row[lid] == link.port && st->shape.lid[lid].sw != GRAPH_NONE) {
			if (st->dirty[lid] == REPAIR_NONE) {
				st->dirty[lid] = REPAIR_LINK;
			}
			ret = engine_set_entry(&st->repair, link.sw, lid, link.port);
		}
	}
	return ret;
}

static int mark(struct route_step *st)
{
	const struct shape_change *c = &st->change;
	int ret = mark_lids(st);

	for (uint32_t i = 0; i < c->n_lost && ret == E_OK; i++) {
		ret = mark_link(st, c->lost[i]);
	}
	st->has_work |= c->n_lost != 0 || c->n_gained != 0;
	return ret;
}

static int compare(struct route_step *st, const struct route_request *r, struct why *why)
{
	struct route_base *b = st->base;
	int ret = shape_init(&st->shape, r->g, r->lids, st->own);

	if (ret == E_OK) {
		ret = shape_compare(&b->shape, &st->shape, st->tmp, &st->change);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (st->change.doubt != NULL) {
		return doubt(why, st->change.doubt);
	}
	if (!same_tables(r->memory, &b->result.out.lft)) {
		return doubt(why, "the switches have other tables than were computed");
	}
	if (!paths_fit(&b->result.paths, r->g, r->lids)) {
		return doubt(why, "a switch has its first host, or lost its last one");
	}
	st->dirty = arena_alloc(st->tmp, b->result.out.lft.n_lids);
	if (st->dirty == NULL) {
		return -ENOMEM;
	}
	st->repair.lft = &b->result.out.lft;
	st->repair.load = b->all;
	st->repair.distances = b->distances;
	st->repair.width = st->shape.width;
	st->repair.dirty = st->dirty;
	st->repair.lost = st->change.lost;
	st->repair.n_lost = st->change.n_lost;
	st->repair.gained = st->change.gained;
	st->repair.n_gained = st->change.n_gained;
	return mark(st);
}

int route_base_compare(struct route_base *b, const struct route_request *r, uint8_t lanes,
                       struct route_step *ret_step, struct why *why)
{
	*ret_step = (struct route_step){ .base = b };
	if (!b->valid || b->lanes != lanes || r->strict || r->no_paths ||
	    r->g->n_aggregation) {
		return doubt(why, "there is nothing to go on from");
	}
	b->valid = false; /* until the step has ended well */
	ret_step->used = b->result.used;
	ret_step->own = arena_new();
	ret_step->tmp = arena_new();
	return ret_step->own && ret_step->tmp ? compare(ret_step, r, why) : -ENOMEM;
}

int route_base_adopt(struct route_step *st, const struct lft *lft)
{
	struct lft *mine = st->repair.lft;
	int ret = E_OK;

	for (uint32_t sw = 0; sw < mine->n_switches && ret == E_OK; sw++) {
		const uint8_t *row = lft_row(lft, sw);
		uint8_t *old = lft_row(mine, sw);

		for (size_t at = 0; at < mine->stride && ret == E_OK; at += 64) {
			if (memcmp(row + at, old + at, 64) == 0) {
				continue;
			}
			for (size_t k = at; k < at + 64 && ret == E_OK; k++) {
				if (row[k] != old[k]) {
					ret = engine_set_entry(&st->repair, sw,
					                       (uint32_t)k, row[k]);
				}
			}
		}
	}
	return ret;
}

/* ---- the proof, and what follows ---- */

/* Entries by LID. */
static struct route_entry *sort_entries(const struct route_step *st)
{
	const struct route_repair *r = &st->repair;
	uint32_t *first = arena_array(st->tmp, st->shape.top + 2U, sizeof(*first));
	struct route_entry *sorted = arena_array(st->tmp, r->n, sizeof(*sorted));

	if (!first || !sorted) {
		return NULL;
	}
	for (uint32_t i = 0; i < r->n; i++) {
		first[r->entry[i].lid + 1]++;
	}
	for (uint32_t lid = 0; lid <= st->shape.top; lid++) {
		first[lid + 1] += first[lid];
	}
	for (uint32_t i = 0; i < r->n; i++) {
		sorted[first[r->entry[i].lid]++] = r->entry[i];
	}
	return sorted;
}

/* The proof of tables that passed, for the fabric as it is now. */
static void update_proof(struct proof *p, const struct route_request *r,
                         const struct shape *s)
{
	uint64_t lids = 0, hosts = 0;

	for (uint32_t lid = 1; lid <= s->top; lid++) {
		lids += s->lid[lid].sw != GRAPH_NONE && s->lid[lid].to_host;
	}
	for (uint32_t sw = 0; sw < s->n; sw++) {
		hosts += s->n_hosts[sw];
	}
	p->lids = *r->lids;
	p->pairs = hosts ? lids * (hosts - 1) : 0;
	p->management_kept = p->management_credit_loops != 0;
}

static int make_paths(struct route_step *st, const struct route_request *r,
                      const struct proof_change *change)
{
	struct route_base *b = st->base;
	struct route_result *result = &b->result;
	const struct paths_change in = { .g = r->g,
		                         .lids = r->lids,
		                         .change = change,
		                         .was = &b->shape,
		                         .fabric = &st->change };

	return paths_change(&in, &result->paths, b->all, b->base, st->own, &result->load);
}

/* Lists the LIDs that changed, for the plan of the transition. */
static int list_lids(struct route_step *st, const struct proof_change *c)
{
	uint32_t *lid = arena_array(st->own, c->n, sizeof(*lid));
	uint32_t *all = arena_array(st->own, (size_t)c->n + c->n_whole, sizeof(*all));
	struct route_result *result = &st->base->result;
	uint32_t n = 0, n_all = 0;

	if (!lid || !all) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		if (n == 0 || lid[n - 1] != c->entry[i].lid) {
			lid[n++] = c->entry[i].lid;
		}
	}
	for (uint32_t i = 0, k = 0; i < n || k < c->n_whole;) {
		bool take = k == c->n_whole || (i < n && lid[i] <= c->whole[k]);
		uint32_t next = take ? lid[i] : c->whole[k];

		k += k < c->n_whole && c->whole[k] == next;
		i += take;
		all[n_all++] = next;
	}
	result->touched_lid = all;
	result->n_touched = n_all;
	result->changed_lid = lid;
	result->n_changed = n;
	return E_OK;
}

static int finish(struct route_step *st, const struct route_request *r, struct why *why)
{
	struct route_base *b = st->base;
	struct proof_change c = { .shape = &st->shape,
		                  .from = r->memory->tables,
		                  .to = st->repair.lft,
		                  .n = st->repair.n,
		                  .whole = st->change.lid,
		                  .n_whole = st->change.n_lids,
		                  .order = &b->order };
	struct route_result *result = &b->result;
	struct why mixed = { "" };
	uint32_t *circling;
	int ret;

	if ((uint64_t)c.n * SMALL_SHARE > (uint64_t)st->shape.n * st->shape.top) {
		return doubt(why, "too much changes");
	}
	c.entry = sort_entries(st);
	circling = arena_array(st->own, (size_t)c.n + c.n_whole, sizeof(*circling));
	if (c.entry == NULL || circling == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < st->change.n_lost; i++) {
		dep_order_cut(&b->order, st->change.lost[i]);
	}
	b->order.shape = &st->shape;
	result->n_circling = 0;
	result->circling = circling;
	ret = proof_change_run(&c, circling, &result->n_circling, &mixed);
	result->mixtures_proven = ret == E_OK;
	if (ret == E_UNSUITABLE) {
		ret = proof_change_run(&c, NULL, NULL, why);
	}
	if (ret == E_OK) {
		ret = make_paths(st, r, &c);
	}
	if (ret == E_OK) {
		ret = list_lids(st, &c);
	}
	return ret;
}

int route_base_finish(struct route_step *st, const struct route_request *r,
                      struct route_result *ret_result, struct why *why)
{
	struct route_base *b = st->base;
	int ret = finish(st, r, why);

	if (ret != E_OK) {
		return ret;
	}
	update_proof(&b->result.proof, r, &st->shape);
	arena_free(b->step);
	b->step = st->own;
	st->own = NULL;
	b->shape = st->shape;
	b->order.shape = &b->shape;
	b->result.incremental = true;
	b->valid = true;
	*ret_result = b->result;
	return E_OK;
}

void route_base_end(struct route_step *st)
{
	free(st->repair.entry);
	arena_free(st->own);
	arena_free(st->tmp);
}
