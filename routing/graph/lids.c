/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * LID assignment.
 *
 * Every LID up to the limit has one claim: nobody, a port of the graph, or an entry of
 * memory whose port is away. The claims are made in rounds, so that a port without history
 * never takes the LID that another port could keep: what memory says of present ports, then
 * of absent ones, what the ports have now, and for the rest the first free aligned range.
 * Claims of present ports are never taken back, so the search for a free range only moves
 * up: one pass over the LIDs per LMC in all.
 *
 * Claims of absent ports are taken back only when there is no free range. Then all aligned
 * ranges without a present port are sorted by how long the youngest of their owners has
 * been gone. The free rest of an owner's range has the same age and follows next.
 *
 * A change of LMC changes the size of a port's range, never its base: a base that is
 * aligned and whose new range is unclaimed stays. Bases that are no longer aligned claim
 * nothing, which is what makes room for those that stay.
 */
#include "routing/graph/lids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

enum { LMC_MAX = 7, LARGE_FABRIC = 4000 };

/* A claim is a port index, CLAIM_NONE, or CLAIM_AWAY plus an index of memory. */
#define CLAIM_NONE GRAPH_NONE
#define CLAIM_AWAY UINT32_C(0x80000000)

/* A range whose owners are all absent. */
struct candidate {
	uint64_t gone_epoch; /* of the owner that was there last; 0: it has none */
	uint32_t base;
};

struct claims {
	const struct graph *g;
	uint32_t *claim;      /* [limit + 1] */
	uint32_t limit;       /* highest LID */
	const uint32_t *limit_of; /* as in struct lids_in */
	struct lid_range *of; /* [n_ports] */
	uint32_t cursor[LMC_MAX + 1]; /* no free range of this LMC below */
	const struct lid_memory *memory; /* [n_memory] */
	size_t n_memory;
	bool *lost; /* [n_memory] an absent port whose range others got */
	struct candidate *old[LMC_MAX + 1]; /* [n_old] sorted; NULL: not listed yet */
	uint32_t n_old[LMC_MAX + 1], next_old[LMC_MAX + 1];
	struct arena *tmp;
};

static bool is_away(uint32_t claim)
{
	return claim >= CLAIM_AWAY && claim != CLAIM_NONE;
}

static uint32_t range_size(struct lid_range r)
{
	return UINT32_C(1) << r.lmc;
}

/* No port has the permissive LID of packets with 16 bits. */
static bool range_legal(struct lid_range r, uint32_t limit)
{
	enum { PERMISSIVE = 0xffff };

	return r.base && r.lmc <= LMC_MAX && (r.base & (range_size(r) - 1)) == 0 &&
	       r.base <= limit && limit - r.base >= range_size(r) - 1 &&
	       (r.base > PERMISSIVE || PERMISSIVE - r.base >= range_size(r));
}

static bool has_own_limit(const struct claims *c, uint32_t port)
{
	return c->limit_of != NULL && c->limit_of[port] != 0 &&
	       c->limit_of[port] < c->limit;
}

static uint32_t limit_of(const struct claims *c, uint32_t who)
{
	return !is_away(who) && has_own_limit(c, who) ? c->limit_of[who] : c->limit;
}

/* Claims a range for a port or an entry of memory, if it is legal and free. */
static bool claim_range(struct claims *c, struct lid_range r, uint32_t who)
{
	if (!range_legal(r, limit_of(c, who))) {
		return false;
	}
	for (uint32_t i = 0; i < range_size(r); i++) {
		if (c->claim[r.base + i] != CLAIM_NONE) {
			return false;
		}
	}
	for (uint32_t i = 0; i < range_size(r); i++) {
		c->claim[r.base + i] = who;
	}
	if (!is_away(who)) {
		c->of[who] = r;
	}
	return true;
}

uint32_t lids_limit(const struct graph *g, uint32_t max_lid)
{
	uint32_t limit = max_lid ? max_lid : LID_LIMIT_DEFAULT;

	limit = limit < LID_LIMIT_MAX ? limit : LID_LIMIT_MAX;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t cap = g->nodes[g->switches[s]].linear_fdb_cap;

		if (cap && cap - 1 < limit) {
			limit = cap - 1;
		}
	}
	return limit;
}

static uint32_t higher(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The limit, or less where no claim can be that high: each port takes at most one aligned
 * range behind what is claimed already. */
static uint32_t highest_claim(const struct lids_in *in)
{
	uint32_t lmc = higher(in->lmc, in->lmc_esp0),
		 limit = lids_limit(in->g, in->max_lid), top = 0;
	uint64_t reach;

	for (size_t i = 0; i < in->n_memory; i++) {
		top = higher(top, in->memory[i].range.base);
	}
	for (uint32_t i = 0; i < in->g->n_end_ports; i++) {
		top = higher(top, in->g->ports[in->g->end_ports[i]].lid);
	}
	reach = (uint64_t)top + (1U << LMC_MAX) +
	        ((in->g->n_end_ports + UINT64_C(1)) << lmc);
	return reach < limit ? (uint32_t)reach : limit;
}

static uint8_t wanted_lmc(const struct lids_in *in, uint32_t port)
{
	const struct node *n = &in->g->nodes[in->g->ports[port].node];

	if (n->type != NODE_SWITCH) {
		return (uint8_t)in->lmc;
	}
	return n->esp0 ? (uint8_t)in->lmc_esp0 : 0;
}

/* End ports breadth first from the SM's node, each node over its ports by number. \retval -ENOMEM */
static int order_by_distance(const struct graph *g, struct arena *a, uint32_t *order,
                             uint32_t *ret_n)
{
	uint32_t *nodes = arena_array(a, g->n_nodes, sizeof(*nodes)), n_nodes = 0;
	uint8_t *seen = arena_array(a, g->n_nodes, sizeof(*seen));
	uint8_t *listed = arena_array(a, g->n_ports, sizeof(*listed));

	if (nodes == NULL || seen == NULL || listed == NULL) {
		return -ENOMEM;
	}
	nodes[n_nodes++] = g->ports[g->sm_port].node;
	seen[nodes[0]] = 1;
	order[(*ret_n)++] = g->sm_port;
	listed[g->sm_port] = 1;
	for (uint32_t i = 0; i < n_nodes; i++) {
		const struct node *node = &g->nodes[nodes[i]];

		for (unsigned num = 0; num <= node->n_ports; num++) {
			uint32_t port = graph_port(g, nodes[i], num);
			uint32_t peer =
				port != GRAPH_NONE ? g->ports[port].peer : GRAPH_NONE;

			if (peer == GRAPH_NONE) {
				continue;
			}
			if (!seen[g->ports[peer].node]) {
				seen[g->ports[peer].node] = 1;
				nodes[n_nodes++] = g->ports[peer].node;
			}
			if (g->nodes[g->ports[peer].node].type == NODE_SWITCH) {
				peer = graph_port(g, g->ports[peer].node, 0);
			}
			if (peer != GRAPH_NONE && !listed[peer]) {
				listed[peer] = 1;
				order[(*ret_n)++] = peer;
			}
		}
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) { /* those that no link leads to */
		if (!listed[g->by_guid[i]]) {
			order[(*ret_n)++] = g->by_guid[i];
		}
	}
	return E_OK;
}

/* End ports in the order in which they are served: the SM's, then by distance or port GUID. */
static uint32_t *serving_order(const struct lids_in *in, struct arena *a)
{
	const struct graph *g = in->g;
	uint32_t *order = arena_array(a, g->n_end_ports, sizeof(*order));
	uint32_t n = 0;

	if (!order) {
		return NULL;
	}
	if (in->nearest_first && g->sm_port != GRAPH_NONE) {
		return order_by_distance(g, a, order, &n) == E_OK ? order : NULL;
	}
	if (g->sm_port != GRAPH_NONE) {
		order[n++] = g->sm_port;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		if (g->by_guid[i] != g->sm_port) {
			order[n++] = g->by_guid[i];
		}
	}
	return order;
}

/* End port of an entry of memory, GRAPH_NONE: it is absent. */
static uint32_t port_of_memory(const struct graph *g, const struct lid_memory *m)
{
	uint32_t port = graph_port_by_guid(g, m->guid);

	return port != GRAPH_NONE && graph_is_end_port(g, port) ? port : GRAPH_NONE;
}

/*
 * Memory is sorted by GUID, so of entries that overlap the lower GUID keeps; of several
 * entries of one GUID the first counts. remembered[port] is the base to keep.
 * agreed: only where the port has that LID.
 */
static void claim_memory(struct claims *c, const struct lids_in *in, bool agreed,
                         uint32_t *remembered)
{
	for (size_t i = 0; i < in->n_memory; i++) {
		uint32_t port = port_of_memory(in->g, &in->memory[i]);
		struct lid_range r = in->memory[i].range;

		if (port == GRAPH_NONE ||
		    (i && in->memory[i - 1].guid == in->memory[i].guid)) {
			continue;
		}
		remembered[port] = r.base;
		r.lmc = wanted_lmc(in, port);
		if (!in->reassign && !c->of[port].base &&
		    (!agreed || in->g->ports[port].lid == r.base)) {
			claim_range(c, r, port);
		}
	}
}

static bool overlaps_present(const struct claims *c, struct lid_range r)
{
	for (uint32_t i = 0; i < range_size(r); i++) {
		if (c->claim[r.base + i] < CLAIM_AWAY) {
			return true;
		}
	}
	return false;
}

/* Absent ports keep what they had, unless a present port has it now. */
static void claim_absent(struct claims *c, const struct lids_in *in)
{
	for (size_t i = 0; i < in->n_memory; i++) {
		struct lid_range r = in->memory[i].range;

		if (in->reassign || (i && in->memory[i - 1].guid == in->memory[i].guid) ||
		    port_of_memory(in->g, &in->memory[i]) != GRAPH_NONE) {
			continue;
		}
		c->lost[i] = !claim_range(c, r, CLAIM_AWAY + (uint32_t)i) &&
		             range_legal(r, c->limit) && overlaps_present(c, r);
	}
}

/* What ports without a claim have now. */
static void claim_found(struct claims *c, const struct lids_in *in, const uint32_t *order)
{
	for (uint32_t i = 0; i < in->g->n_end_ports; i++) {
		uint32_t p = order[i];

		if (!c->of[p].base) {
			struct lid_range r = { .base = in->g->ports[p].lid,
				               .lmc = wanted_lmc(in, p) };

			claim_range(c, r, p);
		}
	}
}

/* A port that was there when last looked is younger than all that are known to be gone. */
static uint64_t age_key(const struct lid_memory *m)
{
	return m->gone_epoch ? m->gone_epoch : UINT64_MAX;
}

static int compare_candidates(const void *va, const void *vb)
{
	const struct candidate *a = va, *b = vb;

	if (a->gone_epoch != b->gone_epoch) {
		return a->gone_epoch < b->gone_epoch ? -1 : 1;
	}
	return (a->base > b->base) - (a->base < b->base);
}

/* Lists the aligned ranges without a present port, the longest gone first. */
static int list_candidates(struct claims *c, uint8_t lmc)
{
	uint32_t size = UINT32_C(1) << lmc, n = 0;
	struct candidate *old =
		arena_array(c->tmp, (size_t)c->limit / size + 1, sizeof(*old));

	if (!old) {
		return -ENOMEM;
	}
	for (uint32_t base = size; base <= c->limit && c->limit - base >= size - 1;
	     base += size) {
		struct candidate x = { .base = base };

		if (!range_legal((struct lid_range){ base, lmc }, c->limit) ||
		    overlaps_present(c, (struct lid_range){ base, lmc })) {
			continue;
		}
		for (uint32_t k = 0; k < size; k++) {
			uint32_t who = c->claim[base + k];
			uint64_t key =
				is_away(who) ? age_key(&c->memory[who - CLAIM_AWAY]) : 0;

			x.gone_epoch = key > x.gone_epoch ? key : x.gone_epoch;
		}
		old[n++] = x;
	}
	qsort(old, n, sizeof(*old), compare_candidates);
	c->old[lmc] = old;
	c->n_old[lmc] = n;
	return E_OK;
}

/* Takes back the claim of an absent port. */
static void unclaim(struct claims *c, uint32_t who)
{
	struct lid_range r = c->memory[who - CLAIM_AWAY].range;

	c->lost[who - CLAIM_AWAY] = true;
	for (uint32_t k = 0; k < range_size(r); k++) {
		c->claim[r.base + k] = CLAIM_NONE;
	}
}

/* Gives a port the range whose owners have been gone longest. */
static int claim_recycled(struct claims *c, uint32_t port, uint8_t lmc)
{
	int ret = c->old[lmc] ? E_OK : list_candidates(c, lmc);
	bool own = has_own_limit(c, port);

	for (uint32_t i = c->next_old[lmc]; ret == E_OK && i < c->n_old[lmc]; i++) {
		struct lid_range r = { c->old[lmc][i].base, lmc };

		if (!own) { /* others may still take what such a port cannot */
			c->next_old[lmc] = i + 1;
		}
		if (!range_legal(r, limit_of(c, port)) ||
		    overlaps_present(c, r)) { /* given away since it was listed */
			continue;
		}
		for (uint32_t k = 0; k < range_size(r); k++) {
			if (is_away(c->claim[r.base + k])) {
				unclaim(c, c->claim[r.base + k]);
			}
		}
		claim_range(c, r, port);
		return E_OK;
	}
	return ret == E_OK ? E_FULL : ret;
}

static int claim_free(struct claims *c, const struct lids_in *in, uint32_t p,
                      struct diags *d)
{
	uint8_t lmc = wanted_lmc(in, p);
	struct lid_range r = { .base = c->cursor[lmc], .lmc = lmc };
	uint32_t limit = limit_of(c, p);
	int ret = E_OK;

	while (r.base <= limit && !claim_range(c, r, p)) {
		r.base += range_size(r);
	}
	c->cursor[lmc] = r.base;
	if (r.base > limit) {
		ret = claim_recycled(c, p, lmc);
	}
	if (ret == E_FULL) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"no free range of %u LIDs up to %" PRIu32
			" for port %u (GUID 0x%016" PRIx64
			") of %s, also none of ports that are gone: lower the LMC or raise the LID limit%s",
			1U << lmc, limit, in->g->ports[p].num, in->g->ports[p].guid,
			node_text(in->g, NULL, in->g->ports[p].node).text,
			has_own_limit(c, p) ? "; this port takes no higher one" : "");
	}
	return ret;
}

/* For every other port the first free range, or one of ports that are gone. Those that take no high one come first. */
static int claim_rest(struct claims *c, const struct lids_in *in, const uint32_t *order,
                      struct diags *d)
{
	int ret = E_OK;

	for (int own = in->limit_of != NULL; own >= 0; own--) {
		for (uint32_t i = 0; ret == E_OK && i < in->g->n_end_ports; i++) {
			if (c->of[order[i]].base == 0 &&
			    has_own_limit(c, order[i]) == (own != 0)) {
				ret = claim_free(c, in, order[i], d);
			}
		}
	}
	return ret;
}

/* The absent ports that lost their ranges, in a. */
static int list_recycled(const struct claims *c, struct arena *a, struct lids *l)
{
	struct lid_memory *m = arena_array(a, c->n_memory, sizeof(*m));

	if (!m) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < c->n_memory; i++) {
		if (c->lost[i]) {
			m[l->n_recycled++] = c->memory[i];
		}
	}
	l->recycled = m;
	return E_OK;
}

/* Turns claimed ranges into the table of owners. */
static int lids_finish(const struct graph *g, struct lid_range *of, struct arena *a,
                       struct lids *ret_lids)
{
	struct lids l = { .of = of };

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		struct lid_range r = of[g->end_ports[i]];

		if (r.base) {
			uint32_t last = r.base + range_size(r) - 1;

			l.top = last > l.top ? last : l.top;
			l.count += range_size(r);
		}
	}
	l.owner = arena_array(a, (size_t)l.top + 1, sizeof(*l.owner));
	if (!l.owner) {
		return -ENOMEM;
	}
	memset(l.owner, 0xff, ((size_t)l.top + 1) * sizeof(*l.owner));
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		struct lid_range r = of[g->end_ports[i]];

		for (uint32_t k = 0; r.base && k < range_size(r); k++) {
			l.owner[r.base + k] = g->end_ports[i];
		}
	}
	*ret_lids = l;
	return E_OK;
}

static int list_moved(const struct graph *g, const struct lids *l,
                      const uint32_t *remembered, struct arena *a, uint32_t **ret_moved,
                      size_t *ret_n)
{
	uint32_t *moved = arena_array(a, g->n_end_ports, sizeof(*moved));
	size_t n = 0;

	if (!moved) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t p = g->end_ports[i];

		if (remembered[p] && remembered[p] != l->of[p].base) {
			moved[n++] = p;
		}
	}
	*ret_moved = moved;
	*ret_n = n;
	return E_OK;
}

/* top: highest LID that is looked at, limit at most. */
static int claims_init(struct claims *c, const struct graph *g, uint32_t limit,
                       uint32_t top, struct arena *keep, struct arena *tmp)
{
	*c = (struct claims){ .g = g, .limit = limit, .tmp = tmp };
	c->claim = arena_array(tmp, (size_t)top + 1, sizeof(*c->claim));
	c->of = arena_array(keep, g->n_ports, sizeof(*c->of));
	if (!c->claim || !c->of) {
		return -ENOMEM;
	}
	memset(c->claim, 0xff, ((size_t)top + 1) * sizeof(*c->claim));
	for (unsigned i = 0; i <= LMC_MAX; i++) {
		c->cursor[i] = 1U << i;
	}
	return E_OK;
}

/* The manual's advice, where dispersive routing is wanted at all. */
static void advise_lmc(const struct lids_in *in, struct diags *d)
{
	bool large = in->g->n_hosts >= LARGE_FABRIC;
	unsigned advice = large ? 2 : 3;

	if (in->lmc && in->lmc != advice && d) {
		diag_add(d, DIAG_NOTE, NULL, 0,
		         "LMC %" PRIu32 " for %" PRIu32
		         " hosts: recommended is %u %s %u hosts",
		         in->lmc, in->g->n_hosts, advice, large ? "from" : "below",
		         LARGE_FABRIC);
	}
}

int lids_assign(const struct lids_in *in, struct arena *a, struct diags *d,
                struct lids *ret_lids, uint32_t **ret_moved, size_t *ret_n_moved)
{
	struct arena *tmp;
	uint32_t top;
	struct claims c;
	struct lids l;
	uint32_t *order, *remembered;
	int ret = -ENOMEM;

	if (in->lmc > LMC_MAX || in->lmc_esp0 > LMC_MAX) {
		diag_add(d, DIAG_ERROR, NULL, 0, "LMC %" PRIu32 " is above 7",
		         in->lmc > LMC_MAX ? in->lmc : in->lmc_esp0);
		return E_RANGE;
	}
	top = highest_claim(in);
	tmp = arena_new();
	if (!tmp || claims_init(&c, in->g, top, top, a, tmp) != E_OK) {
		goto out;
	}
	c.limit_of = in->limit_of;
	c.memory = in->memory;
	c.n_memory = in->n_memory;
	c.lost = arena_array(tmp, in->n_memory, sizeof(*c.lost));
	order = serving_order(in, tmp);
	remembered = arena_array(tmp, in->g->n_ports, sizeof(*remembered));
	if (!c.lost || !order || !remembered) {
		goto out;
	}
	if (in->keep_found && !in->reassign) {
		claim_memory(&c, in, true, remembered);
		claim_found(&c, in, order);
	}
	claim_memory(&c, in, false, remembered);
	claim_absent(&c, in);
	if (!in->reassign) {
		claim_found(&c, in, order);
	}
	ret = claim_rest(&c, in, order, d);
	if (ret == E_OK) {
		ret = lids_finish(in->g, c.of, a, &l);
	}
	if (ret == E_OK) {
		ret = list_recycled(&c, a, &l);
	}
	if (ret == E_OK && ret_moved) {
		ret = list_moved(in->g, &l, remembered, a, ret_moved, ret_n_moved);
	}
	if (ret == E_OK) {
		*ret_lids = l;
		advise_lmc(in, d);
	}
out:
	arena_free(tmp);
	return ret;
}

/* Checks the LID found at one end port and claims it. */
static int claim_as_found(struct claims *c, uint32_t p, struct diags *d)
{
	const struct port *port = &c->g->ports[p];
	struct lid_range r = { .base = port->lid, .lmc = port->lmc };

	if (!r.base) {
		diag_add(d, DIAG_ERROR, NULL, 0, "port %u of %s has no LID", port->num,
		         node_text(c->g, NULL, port->node).text);
		return E_NOTFOUND;
	}
	if (!range_legal(r, c->limit)) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"LID %" PRIu32
			" with LMC %u of port %u of %s is no aligned range in 1..%" PRIu32,
			r.base, r.lmc, port->num, node_text(c->g, NULL, port->node).text,
			c->limit);
		return E_RANGE;
	}
	for (uint32_t k = 0; k < range_size(r); k++) {
		uint32_t other = c->claim[r.base + k];

		if (other != CLAIM_NONE) {
			diag_add(d, DIAG_ERROR, NULL, 0,
			         "LID %" PRIu32
			         " belongs to port %u of %s and to port %u of %s",
			         r.base + k, c->g->ports[other].num,
			         node_text(c->g, NULL, c->g->ports[other].node).text,
			         port->num, node_text(c->g, NULL, port->node).text);
			return E_DUPLICATE;
		}
	}
	claim_range(c, r, p);
	return E_OK;
}

/* Highest LID that a port has, max_lid at most. */
static uint32_t top_found(const struct graph *g, uint32_t max_lid)
{
	uint64_t top = 0;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		const struct port *p = &g->ports[g->end_ports[i]];
		uint64_t last =
			(uint64_t)p->lid + (UINT32_C(1) << (p->lmc & LMC_MAX)) - 1;

		top = last > top ? last : top;
	}
	return top < max_lid ? (uint32_t)top : max_lid;
}

int lids_as_found(const struct graph *g, uint32_t max_lid, struct arena *a,
                  struct diags *d, struct lids *ret_lids)
{
	struct arena *tmp = arena_new();
	struct claims c;
	uint32_t limit = max_lid != 0 ? max_lid : LID_LIMIT_DEFAULT;
	int ret = -ENOMEM;

	if (!tmp || claims_init(&c, g, limit, top_found(g, limit), a, tmp) != E_OK) {
		goto out;
	}
	ret = E_OK;
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		int one = claim_as_found(&c, g->end_ports[i], d);

		ret = ret ? ret : one;
	}
	if (ret == E_OK) {
		ret = lids_finish(g, c.of, a, ret_lids);
	}
out:
	arena_free(tmp);
	return ret;
}

bool lids_have_lmc(const struct lids *l, const struct graph *g)
{
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		if (l->of[g->end_ports[i]].lmc) {
			return true;
		}
	}
	return false;
}

uint64_t lids_digest(const struct lids *l, const struct graph *g)
{
	uint64_t h = digest_add(1, l->top);

	for (uint32_t i = 0; i < g->n_ports; i++) {
		h = digest_add(h, (uint64_t)l->of[i].base << 8 | l->of[i].lmc);
	}
	return h;
}
