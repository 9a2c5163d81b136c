/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A column of the tables before and the column of the same end port after are resolved side
 * by side. A route is the same when its first switch sends it to the same port and the rest
 * of it is the same, so one pass from the destination outwards decides for all switches.
 */
#include "routing/proof/compare.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

enum { NOT_THERE = UINT32_MAX, BLOCK_LIDS = 64 };

/* What does not depend on the LID. */
struct comparing {
	const struct compared_tables *before, *after;
	struct column_map old_map, new_map;
	uint32_t *sw;     /* [switches before] the same one after, GRAPH_NONE */
	uint32_t *port;   /* [ports before] host port after, GRAPH_NONE: gone */
	uint32_t *common; /* [switches before] hosts that stay on it */
	/* Where all switches and hosts stay, most columns are the same bytes: */
	bool all_stay;
	uint64_t n_common; /* hosts that stay */
	struct changed_port {
		uint32_t sw;
		uint8_t port;
	} * changed; /* [n_changed] ports that lead to another switch than before */
	uint32_t n_changed;
};

/* Working set of a thread. */
struct worker {
	struct column *old, *new;
	uint32_t new_block; /* block that new has loaded, NOT_THERE: none */
	uint32_t *hops[2];  /* [switches] before, after; 0: does not arrive */
	bool *same;         /* [switches before] */
	struct comparison sum;
};

/* --- nodes and ports of both fabrics -------------------------------------------------- */

static void match_switches(struct comparing *x)
{
	const struct graph *a = x->before->g, *b = x->after->g;

	for (uint32_t s = 0; s < a->n_switches; s++) {
		uint32_t node = graph_node_by_guid(b, a->nodes[a->switches[s]].guid);
		x->sw[s] = node == GRAPH_NONE ? GRAPH_NONE : b->nodes[node].sw;
	}
}

static uint32_t match_host(const struct comparing *x, uint32_t port)
{
	const struct graph *a = x->before->g, *b = x->after->g;
	uint32_t to = graph_port_by_guid(b, a->ports[port].guid);
	uint32_t sw = graph_switch_of(a, port);

	if (to == GRAPH_NONE || !graph_is_host(b, to) || sw == GRAPH_NONE ||
	    x->sw[sw] == GRAPH_NONE || graph_switch_of(b, to) != x->sw[sw]) {
		return GRAPH_NONE;
	}
	return to;
}

/* A host that is cabled to another one: it has no routes that tables could change. */
static bool is_apart(const struct graph *g, uint32_t port)
{
	return port != GRAPH_NONE && graph_is_host(g, port) &&
	       graph_switch_of(g, port) == GRAPH_NONE;
}

static void match_hosts(struct comparing *x, struct comparison *ret_comparison)
{
	const struct graph *a = x->before->g, *b = x->after->g;
	uint32_t kept = 0, apart = 0;

	for (uint32_t i = 0; i < a->n_ports; i++) {
		x->port[i] = GRAPH_NONE;
	}
	for (uint32_t i = 0; i < a->n_end_ports; i++) {
		uint32_t port = a->end_ports[i];

		if (!graph_is_host(a, port)) {
			continue;
		}
		if (is_apart(a, port) &&
		    is_apart(b, graph_port_by_guid(b, a->ports[port].guid))) {
			apart++;
			continue;
		}
		x->port[port] = match_host(x, port);
		if (x->port[port] == GRAPH_NONE) {
			ret_comparison->hosts_gone++;
			continue;
		}
		kept++;
		x->common[graph_switch_of(a, port)]++;
		ret_comparison->lids_moved += x->before->lids->of[port].base !=
		                              x->after->lids->of[x->port[port]].base;
	}
	ret_comparison->hosts_new = b->n_hosts - kept - apart;
	x->n_common = kept;
}

/* --- routes to one LID ---------------------------------------------------------------- */

static void count_hops(const struct column *c, uint32_t *hops, uint32_t n)
{
	for (uint32_t s = 0; s < n; s++) {
		hops[s] = 0;
	}
	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];
		hops[s] = i == 0 ? 1 : hops[c->next[s]] + 1;
	}
}

/* Which switches send the same way as before. \a c: after, NULL: the LID is not there. */
static void mark_same(const struct comparing *x, struct worker *w, const struct column *c)
{
	const struct column *o = w->old;

	for (uint32_t i = 0; i < o->n_order; i++) {
		uint32_t s = o->order[i], t = x->sw[s];
		bool same = c != NULL && t != GRAPH_NONE && w->hops[1][t] != 0;

		if (same && i == 0) {
			same = t == c->home && o->home_port == c->home_port;
		} else if (same) {
			same = w->same[o->next[s]] && t != c->home &&
			       o->port[s] == c->port[t] &&
			       x->sw[o->next[s]] == c->next[t];
		}
		w->same[s] = same;
	}
}

static void keep_lost(const struct comparing *x, struct worker *w, uint32_t s)
{
	const struct graph *g = x->before->g;

	for (uint32_t i = g->host_first[s];
	     i < g->host_first[s + 1] && w->sum.n_lost < COMPARE_LOST_MAX; i++) {
		uint32_t port = g->hosts[i];
		if (x->port[port] != GRAPH_NONE && port != w->old->owner &&
		    graph_is_host(g, port)) {
			w->sum.lost_pair[w->sum.n_lost++] =
				(struct compare_lost){ .src = port, .lid = w->old->lid };
		}
	}
}

/* Adds the pairs from the hosts of a switch. \a c: as for mark_same(). */
static void count_pairs(const struct comparing *x, struct worker *w, uint32_t s,
                        const struct column *c)
{
	bool own = s == w->old->home, stays = x->port[w->old->owner] != GRAPH_NONE;
	uint32_t before = w->hops[0][s], t = x->sw[s];
	uint32_t after = c != NULL && t != GRAPH_NONE ? w->hops[1][t] : 0;
	uint64_t all = x->old_map.n_hosts[s] - own;
	uint64_t n = stays ? x->common[s] - own : 0;

	w->sum.pairs += n;
	w->sum.gone += before ? all - n : 0;
	if (before && after && !w->same[s]) {
		w->sum.moved += n;
		w->sum.longer += after > before ? n : 0;
		w->sum.shorter += after < before ? n : 0;
	} else if (before && !after) {
		w->sum.lost += n;
		if (n > 0) {
			keep_lost(x, w, s);
		}
	} else if (!before && after) {
		w->sum.gained += n;
	}
}

/* The LID after that is \a lid of this owner before. \return 0: there is none. */
static uint32_t lid_after(const struct comparing *x, uint32_t owner, uint32_t lid)
{
	uint32_t port = x->port[owner], offset = lid - x->before->lids->of[owner].base;

	if (port == GRAPH_NONE) {
		return 0;
	}
	const struct lid_range *range = &x->after->lids->of[port];
	return range->base != 0 && offset < 1U << range->lmc ? range->base + offset : 0;
}

/* Entries of all switches for a LID of the block that a column has loaded. */
static const uint8_t *entries_of(const struct column_map *m, const struct column *c,
                                 uint32_t lid)
{
	return c->block + (size_t)(lid - c->block_lid) * m->n;
}

/* Have all switches the same entries as before, to the same switches? */
static bool is_unchanged(const struct comparing *x, const struct worker *w,
                         uint32_t owner, uint32_t lid, uint32_t after)
{
	if (!x->all_stay || graph_switch_port_of(x->before->g, owner) !=
	                            graph_switch_port_of(x->after->g, x->port[owner])) {
		return false;
	}
	const uint8_t *a = entries_of(&x->old_map, w->old, lid);
	const uint8_t *b = entries_of(&x->new_map, w->new, after);

	if (memcmp(a, b, x->old_map.n) != 0) {
		return false;
	}
	for (uint32_t i = 0; i < x->n_changed; i++) {
		if (a[x->changed[i].sw] == x->changed[i].port) {
			return false;
		}
	}
	return true;
}

static void compare_lid(const struct comparing *x, struct worker *w, uint32_t lid)
{
	uint32_t n = x->before->g->n_switches, owner = x->before->lids->owner[lid];
	struct column *c = NULL;

	if (owner == GRAPH_NONE || !graph_is_host(x->before->g, owner) ||
	    graph_switch_of(x->before->g, owner) == GRAPH_NONE) {
		return;
	}
	uint32_t after = lid_after(x, owner, lid), block = after - after % COLUMN_BLOCK;
	if (after != 0 && w->new_block != block) {
		column_load_block(&x->new_map, w->new, block);
		w->new_block = block;
	}
	if (after != 0 && is_unchanged(x, w, owner, lid, after)) {
		w->sum.pairs += x->n_common - 1;
		return;
	}
	(void)column_resolve(&x->old_map, w->old, lid);
	if (after != 0 && column_resolve(&x->new_map, w->new, after)) {
		c = w->new;
		count_hops(c, w->hops[1], x->after->g->n_switches);
	}
	count_hops(w->old, w->hops[0], n);
	mark_same(x, w, c);
	for (uint32_t s = 0; s < n; s++) {
		if (x->old_map.n_hosts[s] != 0) {
			count_pairs(x, w, s, c);
		}
	}
}

static void compare_block(const struct comparing *x, struct worker *w, uint32_t first)
{
	column_load_block(&x->old_map, w->old, first);
	for (uint32_t lid = first ? first : 1;
	     lid < first + COLUMN_BLOCK && lid <= x->before->lids->top; lid++) {
		compare_lid(x, w, lid);
	}
}

/* --- entries -------------------------------------------------------------------------- */

/* Has the LID the same owner before and after? */
static bool same_owner(const struct comparing *x, uint32_t lid)
{
	const struct lids *a = x->before->lids, *b = x->after->lids;

	return lid <= a->top && lid <= b->top && a->owner[lid] != GRAPH_NONE &&
	       b->owner[lid] != GRAPH_NONE &&
	       x->before->g->ports[a->owner[lid]].guid ==
	               x->after->g->ports[b->owner[lid]].guid;
}

static void count_entries(const struct comparing *x, const uint8_t *same, uint32_t s,
                          struct comparison *sum)
{
	const uint8_t *a = lft_row(x->before->lft, s),
		      *b = lft_row(x->after->lft, x->sw[s]);
	uint32_t top = x->before->lids->top < x->after->lids->top ? x->before->lids->top
	                                                          : x->after->lids->top;
	uint32_t last = NOT_THERE;
	uint64_t entries = 0;

	for (uint32_t lid = 1; lid <= top; lid++) {
		if (a[lid] != b[lid] && same[lid]) {
			entries++;
			sum->blocks += last != lid / BLOCK_LIDS;
			last = lid / BLOCK_LIDS;
		}
	}
	sum->entries += entries;
	sum->switches += entries != 0;
}

static int compare_entries(const struct comparing *x, struct arena *a,
                           struct comparison *sum)
{
	uint8_t *same = arena_array(a, x->before->lids->top + 1, 1);

	if (same == NULL) {
		return -ENOMEM;
	}
	for (uint32_t lid = 1; lid <= x->before->lids->top; lid++) {
		same[lid] = same_owner(x, lid);
	}
	for (uint32_t s = 0; s < x->before->g->n_switches; s++) {
		if (x->sw[s] != GRAPH_NONE) {
			count_entries(x, same, s, sum);
		}
	}
	return E_OK;
}

/* --- together ------------------------------------------------------------------------- */

/* Lists the ports that lead elsewhere, where switches and hosts are the same. */
static int list_changed_ports(struct comparing *x, struct arena *a)
{
	const struct column_map *o = &x->old_map, *c = &x->new_map;
	bool same = o->n == c->n && o->width == c->width;

	for (uint32_t s = 0; same && s < o->n; s++) {
		same = x->sw[s] == s;
	}
	for (uint32_t i = 0; same && i < o->n * o->width; i++) {
		x->n_changed += o->hop[i].next != c->hop[i].next;
	}
	x->changed = arena_array(a, x->n_changed + 1, sizeof(*x->changed));
	for (uint32_t i = 0, n = 0; same && x->changed && i < o->n * o->width; i++) {
		if (o->hop[i].next != c->hop[i].next) {
			x->changed[n++] =
				(struct changed_port){ i / o->width,
				                       (uint8_t)(i % o->width) };
		}
	}
	x->all_stay = same;
	return x->changed != NULL ? E_OK : -ENOMEM;
}

static int begin(struct comparing *x, struct arena *a, struct comparison *ret_comparison)
{
	const struct graph *g = x->before->g;

	x->sw = arena_array(a, g->n_switches + 1, sizeof(*x->sw));
	x->common = arena_array(a, g->n_switches + 1, sizeof(*x->common));
	x->port = arena_array(a, g->n_ports + 1, sizeof(*x->port));
	if (!x->sw || !x->common || !x->port) {
		return -ENOMEM;
	}
	match_switches(x);
	match_hosts(x, ret_comparison);
	int ret = column_map_init(&x->old_map, g, x->before->lids, x->before->lft, a);

	if (ret == E_OK) {
		ret = column_map_init(&x->new_map, x->after->g, x->after->lids,
		                      x->after->lft, a);
	}
	if (ret == E_OK) {
		ret = list_changed_ports(x, a);
	}
	x->all_stay = x->all_stay && ret_comparison->hosts_gone == 0;
	return ret;
}

static struct worker *workers_new(const struct comparing *x, unsigned n, struct arena *a)
{
	struct worker *w = arena_array(a, n, sizeof(*w));
	struct column *old = column_new(&x->old_map, n, a);
	struct column *new = column_new(&x->new_map, n, a);

	for (unsigned i = 0; w && old && new &&i < n; i++) {
		w[i] = (struct worker){ .old = &old[i],
			                .new = &new[i],
			                .new_block = NOT_THERE };
		w[i].hops[0] = arena_array(a, x->old_map.n + 1, sizeof(uint32_t));
		w[i].hops[1] = arena_array(a, x->new_map.n + 1, sizeof(uint32_t));
		w[i].same = arena_array(a, x->old_map.n + 1, sizeof(bool));
		if (!w[i].hops[0] || !w[i].hops[1] || !w[i].same) {
			return NULL;
		}
	}
	return old && new ? w : NULL;
}

/* Lost pairs of all threads: the first by LID. A thread has its own in this order. */
static void merge_lost(struct comparison *sum, const struct comparison *part)
{
	struct compare_lost all[2 * COMPARE_LOST_MAX];
	unsigned i = 0, k = 0, n = 0;

	while (i < sum->n_lost || k < part->n_lost) {
		bool first = k == part->n_lost ||
		             (i < sum->n_lost &&
		              sum->lost_pair[i].lid <= part->lost_pair[k].lid);
		all[n++] = first ? sum->lost_pair[i++] : part->lost_pair[k++];
	}
	sum->n_lost = n < COMPARE_LOST_MAX ? n : COMPARE_LOST_MAX;
	for (i = 0; i < sum->n_lost; i++) {
		sum->lost_pair[i] = all[i];
	}
}

static void add_counts(struct comparison *sum, const struct comparison *part)
{
	sum->pairs += part->pairs;
	sum->moved += part->moved;
	sum->longer += part->longer;
	sum->shorter += part->shorter;
	sum->lost += part->lost;
	sum->gained += part->gained;
	sum->gone += part->gone;
	merge_lost(sum, part);
}

int compare_tables(const struct compared_tables *before,
                   const struct compared_tables *after, struct arena *a,
                   struct comparison *ret_comparison)
{
	struct comparing x = { .before = before, .after = after };
	struct comparison sum = { .pairs = 0 };
	unsigned threads = column_threads();
	int ret = begin(&x, a, &sum);
	struct worker *w = ret == E_OK ? workers_new(&x, threads, a) : NULL;

	if (w == NULL) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t block = 0; block <= before->lids->top / COLUMN_BLOCK; block++) {
		compare_block(&x, &w[column_thread()], block * COLUMN_BLOCK);
	}
	for (unsigned i = 0; i < threads; i++) {
		add_counts(&sum, &w[i].sum);
	}
	ret = compare_entries(&x, a, &sum);
	if (ret == E_OK) {
		*ret_comparison = sum;
	}
	return ret;
}
