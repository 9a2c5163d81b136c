/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/spread/repair.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/graph/shape.h"
#include "routing/proof/proof_change.h"
#include "routing/spread/spread.h"

enum { LENGTH_NONE = UINT32_MAX };
enum { DIGESTS = 1024 }; /* that fit into the cache nearest to the processor */

struct repair_job {
	const struct graph *g;
	const struct spread *in;
	struct route_repair *r;
	uint32_t *load;  /* [n][width] routes through a port */
	uint32_t *link;  /* [n][width] index in graph.adj, GRAPH_NONE */
	uint32_t *lost;  /* [n][width] 1 + index in r->lost, 0: it is not lost */
	uint32_t *moves; /* [r->n_lost] LIDs that have to leave the link */
	uint8_t *all;    /* [lids->top + 1] all switches look at the LID */
	uint32_t *order; /* [n] switches by distance to the LID at hand */
	uint8_t *stays;  /* [n] the whole route from a switch stays */
};

/* A LID with the paths that are allowed to it. */
struct repair_lid {
	uint32_t lid, home;
	uint8_t home_port;
	struct lid_range range;
	bool to_host;
	const struct hops *hops;
	spread_closer_f *closer;
	const void *ctx;
};

static bool find_lid(const struct repair_job *j, uint32_t lid, struct repair_lid *ret_lid)
{
	const struct spread *in = j->in;
	uint32_t owner = in->lids->owner[lid];
	bool own_paths = in->hops_to_switches != NULL;

	if (owner == GRAPH_NONE) {
		return false;
	}
	*ret_lid = (struct repair_lid){ .lid = lid,
		                        .home = graph_switch_of(j->g, owner),
		                        .range = in->lids->of[owner],
		                        .to_host = graph_is_host(j->g, owner) };
	own_paths &= !ret_lid->to_host;
	ret_lid->hops = own_paths ? in->hops_to_switches : in->hops;
	ret_lid->closer = own_paths ? in->closer_to_switches : in->closer;
	ret_lid->ctx = own_paths ? in->ctx_to_switches : in->ctx;
	if (ret_lid->home != GRAPH_NONE) {
		ret_lid->home_port = graph_switch_port_of(j->g, owner);
	}
	return ret_lid->home != GRAPH_NONE;
}

static int job_init(struct repair_job *j, struct arena *tmp)
{
	const struct graph *g = j->g;
	struct route_repair *r = j->r;
	size_t cells = (size_t)g->n_switches * r->width;

	j->load = arena_array(tmp, cells, sizeof(*j->load));
	j->link = arena_array(tmp, cells, sizeof(*j->link));
	j->lost = arena_array(tmp, cells, sizeof(*j->lost));
	j->moves = arena_array(tmp, r->n_lost, sizeof(*j->moves));
	j->all = arena_alloc(tmp, r->lft->n_lids);
	j->order = arena_array(tmp, g->n_switches, sizeof(*j->order));
	j->stays = arena_alloc(tmp, g->n_switches);
	if (!j->load || !j->link || !j->lost || !j->moves || !j->all || !j->order ||
	    !j->stays) {
		return -ENOMEM;
	}
	memcpy(j->load, r->load, cells * sizeof(*j->load));
	memset(j->link, 0xff, cells * sizeof(*j->link));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			j->link[(size_t)s * r->width + g->adj[i].port] = i;
		}
	}
	for (uint32_t i = 0; i < r->n_lost; i++) {
		j->lost[(size_t)r->lost[i].sw * r->width + r->lost[i].port] = i + 1;
	}
	return E_OK;
}

/* \return 1 + index of the lost link into which an entry leads, 0: none. */
static uint32_t lost_of(const struct repair_job *j, struct route_entry e)
{
	uint8_t port = lft_row(j->r->lft, e.sw)[e.lid];

	return port < j->r->width ? j->lost[(size_t)e.sw * j->r->width + port] : 0;
}

/* Hops of the route before the change; LENGTH_NONE where it does not arrive any more. */
static uint32_t old_length(const struct repair_job *j, uint32_t s,
                           const struct repair_lid *l)
{
	uint32_t hops = 0;

	for (; s != l->home && hops <= j->g->n_switches; hops++) {
		uint8_t port = lft_row(j->in->prev, s)[l->lid];
		size_t at = (size_t)s * j->r->width + port;

		if (port >= j->r->width || j->link[at] == GRAPH_NONE || j->lost[at]) {
			return LENGTH_NONE;
		}
		s = j->g->adj[j->link[at]].to;
	}
	return s == l->home ? hops : LENGTH_NONE;
}

/* How many lower or higher LIDs of the same port leave a switch by a port. */
static unsigned count_range(const struct repair_job *j, uint32_t s,
                            const struct repair_lid *l, uint8_t port)
{
	const uint8_t *row = lft_row(j->r->lft, s);
	unsigned n = 0;

	for (uint32_t k = 0; k < 1U << l->range.lmc; k++) {
		n += l->range.base + k != l->lid && row[l->range.base + k] == port;
	}
	return n;
}

/* A step of a route by the entries as they stand, over a lost link if need be. */
struct repair_hop {
	size_t port; /* index in load */
	uint32_t to;
};

/* \return false: the entry leads into no link between switches. */
static bool next_hop(const struct repair_job *j, uint32_t s, uint32_t lid,
                     struct repair_hop *ret_hop)
{
	uint8_t port = lft_row(j->r->lft, s)[lid];
	size_t at = (size_t)s * j->r->width + port;

	if (port >= j->r->width || (!j->lost[at] && j->link[at] == GRAPH_NONE)) {
		return false;
	}
	ret_hop->port = at;
	ret_hop->to =
		j->lost[at] ? j->r->lost[j->lost[at] - 1].to : j->g->adj[j->link[at]].to;
	return true;
}

/* Adds routes from a switch to a LID to the load of each link on their way, or takes them off. */
static void add_routes(struct repair_job *j, uint32_t s, uint32_t lid, int64_t routes)
{
	struct repair_hop h;

	if (routes == 0) {
		return; /* of a switch without hosts */
	}
	for (uint32_t n = 0; n < j->g->n_switches && next_hop(j, s, lid, &h); n++) {
		int64_t load = (int64_t)j->load[h.port] + routes;

		j->load[h.port] = load > 0 ? (uint32_t)load : 0;
		s = h.to;
	}
}

/* Load of the busiest link between a switch and a LID. */
static uint32_t find_busiest(const struct repair_job *j, uint32_t s, uint32_t lid)
{
	struct repair_hop h;
	uint32_t busiest = 0;

	for (uint32_t n = 0; n < j->g->n_switches && next_hop(j, s, lid, &h); n++) {
		busiest = j->load[h.port] > busiest ? j->load[h.port] : busiest;
		s = h.to;
	}
	return busiest;
}

/* Price of a port, the first number that differs decides. */
struct repair_cost {
	unsigned range; /* other LIDs of the same owner that leave by the port */
	uint32_t
		busiest; /* load of the busiest link on the whole way; LIDs of switches: 0 */
	uint32_t own;    /* load of the port; LIDs of switches: the switch behind it */
};

static bool is_cheaper(const struct repair_cost *a, const struct repair_cost *b)
{
	if (a->range != b->range) {
		return a->range < b->range;
	}
	return a->busiest != b->busiest ? a->busiest < b->busiest : a->own < b->own;
}

/* Takes the cheapest of the ports that lead closer; the ways behind them are settled. */
static int choose(struct repair_job *j, uint32_t s, const struct repair_lid *l)
{
	const struct sw_link *link = j->g->adj + j->g->adj_first[s];
	const uint32_t *load = j->load + (size_t)s * j->r->width;
	struct spread_ports p = { .n = 0 };
	struct repair_cost least = { 0 };
	unsigned best = 0;

	l->closer(l->ctx, s, l->home, link, j->g->adj_first[s + 1] - j->g->adj_first[s],
	          SPREAD_PORTS_MAX, &p);
	if (p.n == 0) {
		return E_OK; /* the proof will say so */
	}
	for (unsigned i = 0; i < p.n; i++) {
		unsigned k = l->to_host ? (i + l->lid) % p.n : i;
		struct repair_cost cost = { count_range(j, s, l, p.port[k]), 0, p.to[k] };

		if (l->to_host) {
			cost.own = load[p.port[k]];
			cost.busiest = find_busiest(j, p.to[k], l->lid);
			cost.busiest = cost.own > cost.busiest ? cost.own : cost.busiest;
		}
		if (i == 0 || is_cheaper(&cost, &least)) {
			best = k;
			least = cost;
		}
	}
	return engine_set_entry(j->r, s, l->lid, p.port[best]);
}

/* ---- LIDs that all switches look at ---- */

/* Does the entry stay, as in spread_run() with keeps_others? */
static bool stays(const struct repair_job *j, uint32_t s, const struct repair_lid *l)
{
	uint8_t port = lft_row(j->r->lft, s)[l->lid];
	size_t at = (size_t)s * j->r->width + port;

	return port < j->r->width && j->link[at] != GRAPH_NONE && !j->lost[at] &&
	       hops_between(l->hops, j->g->adj[j->link[at]].to, l->home) <
	               hops_between(l->hops, s, l->home);
}

/* Routes to a LID that begin on a switch. */
static uint32_t routes_of(const struct repair_job *j, uint32_t s,
                          const struct repair_lid *l)
{
	return l->to_host ? j->g->host_first[s + 1] - j->g->host_first[s] : 0;
}

/* Other switches that reach the home of a LID into j->order, the nearest first. \return How many. */
static uint32_t sort_switches(struct repair_job *j, const struct repair_lid *l)
{
	uint32_t at[HOPS_NONE + 1] = { 0 }, n = 0;

	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		at[hops_between(l->hops, s, l->home)]++;
	}
	for (unsigned d = 1; d < HOPS_NONE; d++) {
		uint32_t here = at[d];

		at[d] = n;
		n += here;
	}
	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		unsigned d = hops_between(l->hops, s, l->home);

		if (d != HOPS_NONE && s != l->home) {
			j->order[at[d]++] = s;
		}
	}
	return n;
}

/*
 * Entries that lead to a smaller distance stay, the others are chosen again. Routes that stay as a whole are
 * load before the first choice; each of the others is load once its way is settled.
 */
static int repair_column(struct repair_job *j, const struct repair_lid *l)
{
	uint32_t n = sort_switches(j, l);
	int ret = E_OK;

	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		add_routes(j, s, l->lid, -(int64_t)routes_of(j, s, l));
	}
	if (lft_row(j->r->lft, l->home)[l->lid] != l->home_port) {
		ret = engine_set_entry(j->r, l->home, l->lid, l->home_port);
	}
	memset(j->stays, 0, j->g->n_switches);
	j->stays[l->home] = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = j->order[i];
		struct repair_hop h;

		j->stays[s] = stays(j, s, l) && next_hop(j, s, l->lid, &h) &&
		              j->stays[h.to];
		if (j->stays[s]) {
			add_routes(j, s, l->lid, routes_of(j, s, l));
		}
	}
	for (uint32_t i = 0; i < n && ret == E_OK; i++) {
		uint32_t s = j->order[i];

		if (j->stays[s]) {
			continue;
		}
		if (!stays(j, s, l)) {
			ret = choose(j, s, l);
		}
		add_routes(j, s, l->lid, routes_of(j, s, l));
	}
	return ret;
}

/* Distances from the switch behind each port, to all others. */
static void list_ways(const struct repair_job *j, const struct hops *hops, uint32_t s,
                      const uint8_t *none, const uint8_t *all, const uint8_t **ret_via)
{
	for (unsigned k = 0; k <= UINT8_MAX; k++) {
		size_t at = (size_t)s * j->r->width + k;

		if (k >= j->r->width || (!j->lost[at] && j->link[at] == GRAPH_NONE)) {
			ret_via[k] = all;
		} else {
			/* LIDs of a lost link are looked at anyway */
			ret_via[k] = j->lost[at] ? none
			                         : hops->dist + j->g->adj[j->link[at]].to *
			                                                hops->stride;
		}
	}
}

/* Notes the distances to each switch for the next change. \param ret_changed  [n] Are
 * they other ones than before? */
static void compare_distances(const struct hops *hops, uint64_t *known, bool *ret_changed)
{
	for (uint32_t t = 0; t < hops->n; t++) {
		ret_changed[t] = known[t] == 0;
	}
	for (uint32_t first = 0; first < hops->n; first += DIGESTS) {
		uint32_t n = hops->n - first < DIGESTS ? hops->n - first : DIGESTS;
		uint64_t digest[DIGESTS] = { 0 };

		for (uint32_t s = 0; s < hops->n; s++) {
			const uint8_t *row = hops->dist + s * hops->stride + first;

			for (uint32_t k = 0; k < n; k++) {
				digest[k] = digest_add(digest[k], row[k]);
			}
		}
		for (uint32_t k = 0; k < n; k++) {
			ret_changed[first + k] |= known[first + k] != (digest[k] | 1);
			known[first + k] = digest[k] | 1;
		}
	}
}

/*
 * Where paths follow an order of all switches, or have just ceased to, distances may change far from the
 * links that did. A switch whose entry leads to no smaller distance now would have it moved by the next
 * full run. Only LIDs of switches are looked at to which a distance changed since the last repair.
 *
 * \param kinds  Of LIDs, by bits: 1 << to_host.
 */
static int mark_moved(struct repair_job *j, const struct hops *hops, unsigned kinds,
                      uint64_t *known, struct arena *tmp)
{
	uint32_t top = j->in->lids->top, n = 0;
	struct moved_lid {
		uint32_t lid, home;
	} *list = arena_array(tmp, (size_t)top + 1, sizeof(*list));
	uint8_t *none = arena_array(tmp, 2, hops->stride), *all = none + hops->stride;
	bool *changed = arena_array(tmp, hops->n + 1u, sizeof(*changed));

	if (list == NULL || none == NULL || changed == NULL) {
		return -ENOMEM;
	}
	memset(all, HOPS_NONE, hops->stride);
	compare_distances(hops, known, changed);
	for (uint32_t lid = 1; lid <= top; lid++) {
		struct repair_lid l;

		if (find_lid(j, lid, &l) && (kinds & 1U << l.to_host) != 0 && changed[l.home]) {
			list[n++] = (struct moved_lid){ lid, l.home };
		}
	}
	for (uint32_t s = 0; n != 0 && s < j->g->n_switches; s++) {
		const uint8_t *row = lft_row(j->r->lft, s);
		const uint8_t *here = hops->dist + s * hops->stride;
		const uint8_t *via[UINT8_MAX + 1];

		list_ways(j, hops, s, none, all, via);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t t = list[i].home;

			if (t != s && via[row[list[i].lid]][t] >= here[t] &&
			    here[t] != HOPS_NONE) {
				j->all[list[i].lid] = 1;
			}
		}
	}
	return E_OK;
}

static int mark_all_moved(struct repair_job *j, struct arena *tmp)
{
	enum { TO_SWITCH = 1, TO_HOST = 2 };
	const struct spread *in = j->in;
	uint64_t *known = j->r->distances;
	int ret;

	if (in->hops_to_switches == NULL) {
		return mark_moved(j, in->hops, TO_HOST | TO_SWITCH, known, tmp);
	}
	ret = mark_moved(j, in->hops, TO_HOST, known, tmp);
	return ret == E_OK ? mark_moved(j, in->hops_to_switches, TO_SWITCH,
	                                known + j->g->n_switches, tmp)
	                   : ret;
}

/* The entry that a switch lost: it chooses another, or all switches look at the LID. */
static int replace_entry(struct repair_job *j, struct route_entry e)
{
	size_t row = (size_t)e.sw * j->r->width;
	uint32_t i = j->lost[row + lft_row(j->r->lft, e.sw)[e.lid]], length;
	uint32_t routes; /* that come by, on average */
	const struct shape_link *link = &j->r->lost[i - 1];
	struct repair_lid l;
	int ret;

	if (!find_lid(j, e.lid, &l)) {
		return E_OK;
	}
	length = old_length(j, link->to, &l);
	if (length == LENGTH_NONE || hops_between(l.hops, e.sw, l.home) > length + 1) {
		j->all[e.lid] = 1;
		return E_OK;
	}
	routes = l.to_host ? j->r->load[row + link->port] / j->moves[i - 1] : 0;
	add_routes(j, e.sw, e.lid, -(int64_t)routes);
	ret = choose(j, e.sw, &l);
	add_routes(j, e.sw, e.lid, routes);
	return ret;
}

int spread_repair(const struct spread *in, struct route_repair *r, struct arena *tmp)
{
	struct repair_job j = { .g = in->g, .in = in, .r = r };
	uint32_t n = r->n; /* entries that were marked before */
	int ret = job_init(&j, tmp);

	for (uint32_t i = 0; i < n && ret == E_OK; i++) {
		uint32_t lost = lost_of(&j, r->entry[i]);

		if (lost) {
			j.moves[lost - 1]++;
		}
	}
	for (uint32_t lid = 1; lid <= in->lids->top && ret == E_OK; lid++) {
		j.all[lid] = r->dirty[lid] == REPAIR_OWNER;
	}
	if (ret == E_OK) {
		ret = mark_all_moved(&j, tmp);
	}
	for (uint32_t i = 0; i < n && ret == E_OK; i++) {
		if (lost_of(&j, r->entry[i]) && !j.all[r->entry[i].lid]) {
			ret = replace_entry(&j, r->entry[i]);
		}
	}
	for (uint32_t lid = 1; lid <= in->lids->top && ret == E_OK; lid++) {
		struct repair_lid l;

		if (j.all[lid] && find_lid(&j, lid, &l)) {
			ret = repair_column(&j, &l);
		}
	}
	return ret;
}
