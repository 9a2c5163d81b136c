/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * One run over a tree: what is computed before the tables are filled, and the order of
 * filling.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/dmodc/dmodc.h"
#include "routing/engines/dmodc/dmodc_job.h"
#include "routing/graph/column.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"

/* ---- reach ---- */

static void add_row(const struct dmodc_reach *r, uint64_t *to, uint32_t s, unsigned k)
{
	const uint64_t *from = dmodc_row(r, s, k);

	for (uint32_t w = 0; w < r->words; w++) {
		to[w] |= from[w];
	}
}

/* Cost: O(height * E * S / 64). Parallel. */
static int find_reach(struct dmodc_reach *r, const struct dmodc_tree *t, struct arena *a)
{
	struct dmodc_reach x = { .words = (t->n + 63) / 64, .rows = t->height + 1 };

	x.bits = arena_array(a, (size_t)t->n * x.rows * x.words, sizeof(*x.bits));
	if (!x.bits) {
		return -ENOMEM;
	}
	for (unsigned rank = 0; rank <= t->height; rank++) {
#pragma omp parallel for schedule(static)
		for (uint32_t i = t->rank_first[rank]; i < t->rank_first[rank + 1]; i++) {
			uint64_t *row = dmodc_row(&x, t->by_rank[i], 0);

			/* by descending: itself and what the switches below reach */
			row[t->by_rank[i] / 64] |= UINT64_C(1) << t->by_rank[i] % 64;
			for (uint32_t l = t->down.first[t->by_rank[i]];
			     l < t->down.first[t->by_rank[i] + 1]; l++) {
				add_row(&x, row, t->down.group[l].to, 0);
			}
		}
	}
	for (unsigned k = 1; k <= t->height; k++) {
#pragma omp parallel for schedule(static)
		for (uint32_t i = 0; i < t->rank_first[t->height - k + 1]; i++) {
			uint64_t *row = dmodc_row(&x, t->by_rank[i], k);

			/* by climbing k ranks, but not fewer */
			for (uint32_t other = t->up.first[t->by_rank[i]];
			     other < t->up.first[t->by_rank[i] + 1]; other++) {
				add_row(&x, row, t->up.group[other].to, k - 1);
			}
			for (unsigned less = 0; less < k; less++) {
				const uint64_t *known =
					dmodc_row(&x, t->by_rank[i], less);

				for (uint32_t w = 0; w < x.words; w++) {
					row[w] &= ~known[w];
				}
			}
		}
	}
	*r = x;
	return E_OK;
}

/* ---- destinations to which all slots lead ---- */

static int find_above(struct dmodc_job *j, struct arena *tmp)
{
	const struct dmodc_tree *t = &j->t;

	for (uint32_t s = 0; s < t->n; s++) {
		j->width = t->slots[s] > j->width ? t->slots[s] : j->width;
	}
	j->above = arena_array(tmp, (size_t)t->n * j->width, sizeof(*j->above));
	j->intact = arena_array(tmp, (size_t)t->n * j->reach.rows * j->reach.words,
	                        sizeof(*j->intact));
	if (!j->above || !j->intact) {
		return -ENOMEM;
	}
	memset(j->above, 0xff, (size_t)t->n * j->width * sizeof(*j->above));
	for (uint32_t s = 0; s < t->n; s++) {
		for (uint32_t i = t->up.first[s]; i < t->up.first[s + 1]; i++) {
			const struct dmodc_group *group = &t->up.group[i];

			if (group->slot != DMODC_NO_SLOT) {
				j->above[(size_t)s * j->width + group->slot] = group->to;
			}
		}
	}
	for (unsigned k = 0; k < j->reach.rows; k++) {
#pragma omp parallel for schedule(static)
		for (uint32_t s = 0; s < t->n; s++) {
			const uint32_t *above = j->above + (size_t)s * j->width;
			uint64_t *row = dmodc_intact(j, s, k);

			/* destinations k ranks up to which all slots lead, here and at
			 * all switches above */
			memcpy(row, dmodc_row(&j->reach, s, k),
			       j->reach.words * sizeof(*row));
			for (unsigned i = 0; k && i < j->t.slots[s]; i++) {
				const uint64_t *there =
					above[i] == GRAPH_NONE
						? NULL
						: dmodc_intact(j, above[i], k - 1);

				for (uint32_t w = 0; w < j->reach.words; w++) {
					row[w] &= there ? there[w] : 0;
				}
			}
		}
	}
	return E_OK;
}

/* ---- quotients ---- */

/* At least half of all pairs of switches with hosts must have a route by rank. */
static int check_pairs(struct dmodc_job *j, struct why *why)
{
	const struct dmodc_tree *t = &j->t;
	uint64_t joined = 0, pairs = (uint64_t)t->n_leaves * t->n_leaves;

#pragma omp parallel for schedule(static) reduction(+ : joined)
	for (uint32_t a = 0; a < t->n_leaves; a++) {
		for (uint32_t b = 0; b < t->n_leaves; b++) {
			joined += t->part[t->leaf[a]] != t->part[t->leaf[b]] ||
			          dmodc_reaches(&j->reach, t->leaf[a], t->leaf[b]);
		}
	}
	if (joined * 2 < pairs) {
		why_add(why,
		        "%s: not a tree: of %" PRIu64
		        " pairs of switches with hosts only %" PRIu64
		        " have a switch above both",
		        j->rule->engine, pairs - t->n_leaves, joined - t->n_leaves);
		return E_UNSUITABLE;
	}
	j->n_unjoined = pairs - joined;
	return E_OK;
}

static int find_quotients(struct dmodc_job *j, struct arena *tmp)
{
	const struct dmodc_tree *t = &j->t;

	j->quotient = arena_array(tmp, (t->height + 1U) * (size_t)t->n_cols,
	                          sizeof(*j->quotient));
	if (!j->quotient) {
		return -ENOMEM;
	}
	for (unsigned rank = 0; rank <= t->height; rank++) {
		for (uint32_t i = 0; i < t->n_leaves; i++) {
			uint32_t s = t->leaf[i], c = t->col[s], place = t->leaf_index[i],
				 *quotient = j->quotient + (size_t)rank * t->n_cols;
			const uint32_t *host = j->g->hosts + j->g->host_first[s];
			unsigned from = t->rank[s] < rank ? t->rank[s] : rank;
			uint64_t divider = t->divider[rank] / t->divider[from];
			bool converge = j->rule->select_by & DMODC_CONVERGE &&
			                t->tiers == 3 && rank == 1;

			/* quotients of the hosts of one switch at this rank */
			for (uint32_t k = 0; k < dmodc_hosts_on(j->g, s); k++, c++) {
				bool last = j->rule->last && j->rule->last[host[k]];

				quotient[c] = (uint32_t)(t->number[c] / divider);
				if (converge && !last) {
					quotient[c] = place;
				} else if (j->rule->select_by & DMODC_PASS_THROUGH &&
				           !last) {
					quotient[c] = t->nth[c] + rank * place;
				}
			}
		}
	}
	return E_OK;
}

/* ---- hosts of the last set ---- */

/* Hosts whose routes use a cable: all, and those of the last set. */
struct carried {
	uint32_t all, last;
};

/*
 * Load by the hosts placed so far. Switches that lead to the same top switches are a plane;
 * their cables with the same number carry the traffic to the hosts below all of them.
 */
struct placement {
	unsigned cables;       /* maximum to one neighbour above */
	size_t width;          /* cables in a row: slots times cables */
	uint8_t *n;            /* [n][slots] cables of each slot */
	struct carried *link;  /* [n][width] by switch and cable */
	struct carried *plane; /* [height + 1][n][width] by rank, plane and cable */
	/* [n] name of the plane: the switch at the end of the first slots */
	uint32_t *top;
};

static struct carried *plane_of(const struct dmodc_job *j, const struct placement *d,
                                uint32_t s)
{
	return d->plane + ((size_t)j->t.rank[s] * j->t.n + d->top[s]) * d->width;
}

/* Is cable a better than b for a host of the last set? It carries fewer hosts, then fewer of
 * the last set; then the cables of its number in the plane do. */
static bool is_better(const struct carried *link, const struct carried *plane, size_t a,
                      size_t b)
{
	if (link[a].all != link[b].all) {
		return link[a].all < link[b].all;
	}
	if (link[a].last != link[b].last) {
		return link[a].last < link[b].last;
	}
	if (plane[a].last != plane[b].last) {
		return plane[a].last < plane[b].last;
	}
	return plane[a].all < plane[b].all;
}

/* The best quotient of a host at switch s: cable * slots + slot. */
static uint32_t best_quotient(const struct dmodc_job *j, const struct placement *d,
                              uint32_t s, uint32_t start)
{
	const struct carried *link = d->link + (size_t)s * d->width;
	const uint8_t *n = d->n + (size_t)s * j->width;
	unsigned slots = j->t.slots[s];
	size_t best = SIZE_MAX;

	for (unsigned i = 0; i < slots; i++) {
		unsigned slot = (start + i) % slots;

		for (unsigned k = 0; k < n[slot]; k++) {
			size_t cable = slot * d->cables + (start / slots + k) % n[slot];

			if (best == SIZE_MAX ||
			    is_better(link, plane_of(j, d, s), cable, best)) {
				best = cable;
			}
		}
	}
	return best == SIZE_MAX ? start
	                        : (uint32_t)(best % d->cables * slots + best / d->cables);
}

/* Counts the cables of one host from its switch up; chooses them if it is of the last set. */
static void place_host(struct dmodc_job *j, const struct placement *d, uint32_t s,
                       uint32_t c, bool last)
{
	for (unsigned rank = j->t.rank[s]; s != GRAPH_NONE && j->t.slots[s]; rank++) {
		uint32_t *quotient = j->quotient + (size_t)rank * j->t.n_cols + c;
		unsigned slots = j->t.slots[s], slot;
		size_t at = (size_t)s * j->width;

		*quotient = last ? best_quotient(j, d, s, *quotient) : *quotient;
		slot = *quotient % slots;
		if (d->n[at + slot]) {
			size_t cable =
				slot * d->cables + *quotient / slots % d->n[at + slot];
			struct carried *link = d->link + (size_t)s * d->width + cable;
			struct carried *plane = plane_of(j, d, s) + cable;

			link->all++;
			plane->all++;
			link->last += last;
			plane->last += last;
		}
		s = j->above[at + slot];
	}
}

static void place_set(struct dmodc_job *j, const struct placement *d, bool last)
{
	const struct graph *g = j->g;

	for (uint32_t i = 0; i < j->t.n_leaves; i++) {
		uint32_t s = j->t.leaf[i], c = j->t.col[s];

		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++, c++) {
			if (j->rule->last[g->hosts[h]] == last) {
				place_host(j, d, s, c, last);
			}
		}
	}
}

static int placement_init(struct placement *d, const struct dmodc_job *j,
                          struct arena *tmp)
{
	const struct dmodc_groups *up = &j->t.up;
	size_t n = j->t.n;

	*d = (struct placement){ .n = arena_array(tmp, n, j->width),
		                 .top = arena_array(tmp, n, sizeof(*d->top)) };
	if (!d->n || !d->top) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < n; s++) {
		for (uint32_t i = up->first[s]; i < up->first[s + 1]; i++) {
			const struct dmodc_group *group = &up->group[i];

			if (group->slot != DMODC_NO_SLOT) {
				d->n[(size_t)s * j->width + group->slot] = group->n;
				d->cables = group->n > d->cables ? group->n : d->cables;
			}
		}
	}
	d->width = (size_t)j->width * d->cables;
	d->link = arena_array(tmp, n * d->width, sizeof(*d->link));
	d->plane = arena_array(tmp, (j->t.height + 1U) * n * d->width, sizeof(*d->plane));
	if (!d->link || !d->plane) {
		return -ENOMEM;
	}
	for (uint32_t i = j->t.n; i-- > 0;) {
		uint32_t s = j->t.by_rank[i];
		const uint32_t *above = j->above + (size_t)s * j->width;
		unsigned slot = 0;

		while (slot < j->t.slots[s] && above[slot] == GRAPH_NONE) {
			slot++;
		}
		d->top[s] = slot < j->t.slots[s] ? d->top[above[slot]] : s;
	}
	return E_OK;
}

/* Hosts of the last set take the least loaded cables, so that each set and both together are
 * balanced. */
static int place_last_set(struct dmodc_job *j, struct arena *tmp)
{
	struct placement d;
	int ret = placement_init(&d, j, tmp);

	if (ret == E_OK) {
		place_set(j, &d, false);
		place_set(j, &d, true);
	}
	return ret;
}

/* The table of slots for a switch, shared with equal switches. */
static int share_slot_table(struct dmodc_job *j, uint32_t s, struct arena *tmp)
{
	unsigned rank = j->t.rank[s], slots = j->t.slots[s];
	struct dmodc_slot_table *d = j->slot_table;

	while (d < j->slot_table + j->n_slot_tables &&
	       (d->rank != rank || d->slots != slots)) {
		d++;
	}
	if (d == j->slot_table + j->n_slot_tables) {
		*d = (struct dmodc_slot_table){ .rank = rank, .slots = slots };
		d->slot = arena_alloc(tmp, j->t.n_cols);
		if (!d->slot) {
			return -ENOMEM;
		}
		for (uint32_t c = 0; c < j->t.n_cols; c++) {
			d->slot[c] = (uint8_t)(dmodc_quotient(j, rank, c) % slots);
		}
		j->n_slot_tables++;
	}
	j->slot[s] = d->slot;
	return E_OK;
}

static int find_hosts(struct dmodc_job *j, struct arena *tmp)
{
	const struct graph *g = j->g;

	j->base = arena_array(tmp, j->t.n_cols, sizeof(*j->base));
	j->lid = arena_array(tmp, j->t.n_cols, sizeof(*j->lid));
	j->lmc = arena_alloc(tmp, j->t.n_cols);
	if (!j->base || !j->lid || !j->lmc) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < j->t.n_leaves; i++) {
		uint32_t s = j->t.leaf[i], c = j->t.col[s];

		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++, c++) {
			j->base[c] = j->lids->of[g->hosts[h]].base;
			j->lmc[c] = j->lids->of[g->hosts[h]].lmc;
		}
	}
	return E_OK;
}

static int find_own(struct dmodc_job *j, struct arena *tmp)
{
	const struct graph *g = j->g;

	j->own = arena_array(tmp, j->t.n, sizeof(*j->own));
	j->single = arena_array(tmp, j->reach.words, sizeof(*j->single));
	j->has_hosts = arena_array(tmp, j->reach.words, sizeof(*j->has_hosts));
	if (!j->own || !j->single || !j->has_hosts) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < j->t.n; s++) {
		struct lid_range own = j->lids->of[graph_port(g, g->switches[s], 0)];
		uint64_t bit = UINT64_C(1) << s % 64;

		j->own[s] = own.base;
		j->single[s / 64] |= own.base && own.lmc == 0 ? bit : 0;
		j->has_hosts[s / 64] |= dmodc_hosts_on(g, s) ? bit : 0;
	}
	return E_OK;
}

int dmodc_job_init(struct dmodc_job *j, const struct dmodc_rule *rule,
                   const struct route_in *in, struct arena *tmp, struct why *why)
{
	uint32_t n = in->g->n_switches;
	int ret = dmodc_tree_init(&j->t, in->g, rule, tmp, why);

	j->rule = rule;
	j->g = in->g;
	j->lids = in->lids;

	if (ret == E_OK) {
		ret = find_reach(&j->reach, &j->t, tmp);
	}
	if (ret == E_OK) {
		ret = check_pairs(j, why);
	}
	if (ret == E_OK) {
		ret = dmodc_updown_init(&j->order, &j->t, &j->reach, tmp);
	}
	if (ret == E_OK) {
		ret = find_above(j, tmp);
	}
	if (ret == E_OK) {
		ret = find_quotients(j, tmp);
	}
	if (ret == E_OK && rule->last) {
		ret = place_last_set(j, tmp);
	}
	if (ret == E_OK) {
		ret = find_hosts(j, tmp);
	}
	if (ret == E_OK) {
		ret = find_own(j, tmp);
	}
	if (ret != E_OK) {
		return ret;
	}
	j->slot_table = arena_array(tmp, n, sizeof(*j->slot_table));
	j->slot = arena_array(tmp, n, sizeof(*j->slot));
	j->scratch = arena_array(tmp, (size_t)column_threads() * j->reach.words,
	                         sizeof(*j->scratch));
	if (!j->slot_table || !j->slot || !j->scratch) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < n && ret == E_OK; s++) {
		ret = j->t.slots[s] ? share_slot_table(j, s, tmp) : E_OK;
	}
	return ret;
}

/* LIDs of this pass. \return false when no port has that many. */
static bool start_pass(struct dmodc_job *j, unsigned k)
{
	bool some = k == 0;

	j->k = k;
	for (uint32_t c = 0; c < j->t.n_cols; c++) {
		bool in_range = j->base[c] && k >> j->lmc[c] == 0;

		j->lid[c] = in_range ? j->base[c] + k : 0;
		some |= in_range;
	}
	return some;
}

int dmodc_fill(struct dmodc_job *j, const _Atomic bool *cancel, struct arena *tmp)
{
	for (unsigned k = 0; start_pass(j, k); k++) {
		if (cancel && *cancel) {
			return -ECANCELED;
		}
		dmodc_fill_hosts(j);
	}
	/* hosts without a LID were written to LID 0 */
	for (uint32_t s = 0; s < j->t.n; s++) {
		lft_row(j->lft, s)[0] = LFT_NO_ROUTE;
	}
	dmodc_fill_switches(j);
	dmodc_fill_updown(j);
	return j->order.n_left ? dmodc_fill_unreached(j, tmp) : E_OK;
}

void dmodc_note(const struct dmodc_job *j, struct why *notes)
{
	if (j->t.n_missing) {
		why_add(notes,
		        "%s: %" PRIu32
		        " uplinks are missing that like switches have; what they would take is spread over the others",
		        j->rule->engine, j->t.n_missing);
	}
	if (j->t.n_unused) {
		why_add(notes,
		        "%s: %" PRIu32
		        " cables join switches of one rank and are not used",
		        j->rule->engine, j->t.n_unused);
	}
	if (j->n_unjoined) {
		why_add(notes,
		        "%s: %" PRIu64
		        " pairs of switches with hosts have no switch above both and take longer routes",
		        j->rule->engine, j->n_unjoined / 2);
	}
	if (j->order.n_conflicts) {
		why_add(notes,
		        "%s: %" PRIu32
		        " switches, such as %s, join a part of the tree that is joined twice; routes between switches without hosts may deadlock there, which only the proof tells",
		        j->rule->engine, j->order.n_conflicts,
		        switch_text(j->g, j->lids, j->order.conflict).text);
	}
}
