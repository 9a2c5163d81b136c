/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Routes between non-compute nodes that climb after they have descended. The operator asks
 * for them with max_reverse_hops. Some exist without being asked for, because a compute node needs
 * the same entry. They get the way back, whatever max_reverse_hops is: a pair with a route in one
 * direction alone cannot talk, and would look as if it could.
 *
 * A hop that climbs after the first descent is a reverse hop. The route by the up/down order
 * is preferred if it has no more reverse hops than allowed, because it has no credit loops.
 * Otherwise a switch without a route takes the path that climbs least. The paths to one host
 * form a tree that ends in existing routes. A path with more reverse hops than allowed is
 * not entered. A path never has more reverse hops from a later switch than from its start,
 * so the entered paths are complete.
 *
 * The manual's picture: upper switches S1, S2, S3 and lower switches A, B; S1 is above A, S2
 * above both, S3 above B. The path from S1 to S2 descends to A and climbs once; the path to
 * S3 climbs twice. Compute nodes on B reach S1 over S2, so the host on S2 does, too, and the one on
 * S1 gets the way back.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/lids.h"

enum { NO_PATH = 0xffff };

/* The path from a switch to one host. */
struct path {
	uint16_t climbs;  /* hops that climb from here to the host, NO_PATH: unknown */
	uint16_t hops;    /* all hops */
	uint16_t reverse; /* hops that climb after the first descent */
	uint8_t port;
};

/* The search for paths to one host. */
struct search {
	const struct ftree *f;
	uint32_t t, h, lid;
	bool back; /* the way back of what there is, else what max_reverse_hops allows */
	struct path *path; /* [n] */
	uint32_t *trail;   /* [n] switches of the path being followed */
};

static struct path path_over(const struct ftree *f, uint32_t s,
                             const struct ftree_link *l, const struct path *on)
{
	bool up = l < &f->link[f->first_down[s]];

	return (struct path){ .climbs = (uint16_t)(on->climbs + up),
		              .hops = (uint16_t)(on->hops + 1),
		              .reverse = up ? on->reverse : on->climbs,
		              .port = l->port };
}

/*
 * Follows the entries from a switch to the first switch with a known path, so that the paths
 * of all switches passed become known. With \a by_order the up/down order stands in for
 * missing entries. \return The number of switches passed, listed in trail.
 */
static uint32_t follow(const struct search *x, uint32_t s, bool by_order)
{
	const struct ftree *f = x->f;
	uint32_t n = 0;

	for (uint32_t k = s; x->path[k].climbs == NO_PATH;) {
		uint8_t port = lft_row(f->lft, k)[x->lid];

		if (port == LFT_NO_ROUTE && by_order) {
			port = ftree_order_port(f, k, x->t, x->h);
		}
		if (port == LFT_NO_ROUTE) {
			return 0;
		}
		x->path[k].port = port;
		x->trail[n++] = k;
		k = ftree_link_of(f, k, port)->to;
	}
	for (uint32_t i = n; i-- > 0;) {
		uint32_t k = x->trail[i];
		const struct ftree_link *l = ftree_link_of(f, k, x->path[k].port);

		x->path[k] = path_over(f, k, l, &x->path[l->to]);
	}
	return n;
}

/* Writes the path of one switch to the tables. \return Entries added. */
static uint64_t enter_path(const struct search *x, uint32_t s)
{
	const struct ftree *f = x->f;
	uint64_t added = 0;

	while (s != x->t && lft_row(f->lft, s)[x->lid] == LFT_NO_ROUTE) {
		lft_row(f->lft, s)[x->lid] = x->path[s].port;
		added++;
		s = ftree_link_of(f, s, x->path[s].port)->to;
	}
	return added;
}

/* Uses the up/down order if its path has few enough reverse hops. */
static uint64_t try_order(const struct search *x, uint32_t s, unsigned most)
{
	uint32_t n = follow(x, s, true);

	if (n && x->path[s].reverse <= most) {
		return enter_path(x, s);
	}
	for (uint32_t i = 0; i < n; i++) {
		x->path[x->trail[i]] =
			(struct path){ .climbs = NO_PATH, .hops = NO_PATH };
	}
	return 0;
}

/* Bellman-Ford step: looks for a better path over each link of a switch without a route. */
static bool relax_switch(const struct search *x, uint32_t s)
{
	const struct ftree *f = x->f;
	bool better = false;

	for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
		const struct path *on = &x->path[f->link[i].to], *old = &x->path[s];
		struct path path = path_over(f, s, &f->link[i], on);

		if (on->climbs != NO_PATH &&
		    (path.climbs < old->climbs ||
		     (path.climbs == old->climbs && path.hops < old->hops))) {
			x->path[s] = path;
			better = true;
		}
	}
	return better;
}

static void relax_all(const struct search *x)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < x->f->n; s++) {
			if (lft_row(x->f->lft, s)[x->lid] == LFT_NO_ROUTE) {
				changed |= relax_switch(x, s);
			}
		}
	}
}

static bool has_io(const struct ftree *f, uint32_t s)
{
	const struct graph *g = f->g;

	for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
		if (f->kind[g->hosts[h]] == FTREE_IO) {
			return true;
		}
	}
	return false;
}

/* Does the host have a route to one on this switch? */
static bool reaches_host_on(const struct search *x, uint32_t s)
{
	const struct ftree *f = x->f;
	const uint8_t *row = lft_row(f->lft, x->t);

	for (uint32_t h = f->g->host_first[s]; h < f->g->host_first[s + 1]; h++) {
		if (f->lid[h] && row[f->lid[h]] != LFT_NO_ROUTE) {
			return true;
		}
	}
	return false;
}

/* The most reverse hops of a route from the switch to the host, NO_PATH: any number.
 * \return -1: it has one, or should have none. */
static int limit_of(const struct search *x, uint32_t s)
{
	const struct ftree *f = x->f;

	if (!ftree_hosts_on(f, s) || f->order.part[s] != f->order.part[x->t] ||
	    lft_row(f->lft, s)[x->lid] != LFT_NO_ROUTE) {
		return -1;
	}
	if (x->back) {
		return reaches_host_on(x, s) ? NO_PATH : -1;
	}
	return f->kind[f->g->hosts[x->h]] == FTREE_IO || has_io(f, s)
	               ? (int)f->opt->max_reverse_hops
	               : -1;
}

static void add_paths(const struct search *x, struct ftree_added *ret_added)
{
	const struct ftree *f = x->f;
	bool started = false, found = false;

	for (uint32_t i = 0; i < f->n_leaves; i++) {
		int most = limit_of(x, f->leaf[i]);

		if (most >= 0) {
			if (!started) {
				/* paths by existing routes */
				for (uint32_t s = 0; s < x->f->n; s++) {
					x->path[s] = (struct path){ .climbs = NO_PATH,
						                    .hops = NO_PATH };
				}
				x->path[x->t] = (struct path){ 0 };
				for (uint32_t s = 0; s < x->f->n; s++) {
					follow(x, s, false);
				}
			}
			started = true;
			uint64_t n = try_order(x, f->leaf[i], (unsigned)most);

			*(x->back ? &ret_added->back : &ret_added->by_order) += n;
		}
	}
	for (uint32_t i = 0; started && i < f->n_leaves; i++) {
		uint32_t s = f->leaf[i];
		int most = limit_of(x, s);

		if (most < 0) {
			continue;
		}
		if (!found) {
			relax_all(x);
		}
		found = true;
		if (x->path[s].climbs != NO_PATH && x->path[s].reverse <= (unsigned)most) {
			ret_added->by_hops += enter_path(x, s);
		}
	}
}

/* Adds the paths to all hosts that are no compute nodes. \return false: there was none. */
static bool add_all(struct search *x, struct ftree_added *ret_added)
{
	const struct ftree *f = x->f;
	uint64_t before = ret_added->by_order + ret_added->by_hops + ret_added->back;

	for (uint32_t t = 0; t < f->n; t++) {
		for (uint32_t h = f->g->host_first[t]; h < f->g->host_first[t + 1]; h++) {
			x->t = t;
			x->h = h;
			x->lid = f->lid[h];
			if (x->lid && f->non_cn[f->g->hosts[h]]) {
				add_paths(x, ret_added);
			}
		}
	}
	return ret_added->by_order + ret_added->by_hops + ret_added->back != before;
}

int ftree_reverse(struct ftree *f, struct arena *a, struct ftree_added *ret_added)
{
	struct search x = { .f = f };

	x.path = arena_array(a, f->n + 1u, sizeof(*x.path));
	x.trail = arena_array(a, f->n + 1u, sizeof(*x.trail));
	if (!x.path || !x.trail) {
		return -ENOMEM;
	}
	if (f->opt->max_reverse_hops != 0) {
		(void)add_all(&x, ret_added);
	}
	x.back = true;
	while (add_all(&x, ret_added)) { /* what was added may have no way back itself */
	}
	return E_OK;
}
