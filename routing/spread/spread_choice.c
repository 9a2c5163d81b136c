/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Choosing among the ports of a switch that lead closer to a destination: the one with
 * the least load, and for further LIDs of a port one that keeps its LIDs apart.
 *
 * Dispersion: the LIDs of one port take separate routes (Cornelis CN5000, LMC, Dispersive
 * Routing, and Fabric Resiliency). The order of preference is another switch, which means
 * a whole chassis, then another ASIC of it, then another port.
 *
 * A port that no lower LID takes comes before any port that one takes, so a port has as
 * many routes as there are ports to choose from. Among the unused ports, one to another
 * system comes first, then one to another node. Systems and nodes with several ports take
 * LIDs in proportion to their ports, and load decides what is left.
 *
 * A switch knows its own next hops only. That is not enough where several next hops lead
 * to the same spine of a tree: two LIDs that part here may meet at the spine. So of equal
 * next hops, one that carries no lower LID of the port on any route comes first. Where
 * hosts hang on every switch there is no such next hop, and load decides. Where there are
 * more LIDs than ports, two LIDs that arrive by the same link part here if they can.
 */
#include "routing/spread/spread_int.h"

#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/spread/spread_options.h"

void spread_find_least(struct spread_choice *c)
{
	if (c->n_least) {
		return;
	}
	c->least = UINT64_MAX;
	c->least_mask = 0;
	for (unsigned i = 0; i < c->p.n; i++) {
		if (c->load[i] < c->least) {
			c->least = c->load[i];
			c->n_least = 0;
			c->least_mask = 0;
		}
		if (c->load[i] == c->least) {
			c->n_least++;
			c->least_mask |= i < SPREAD_MASK_BITS ? UINT64_C(1) << i : 0;
		}
	}
}

/* Sorts ports by the search order that the operator asked for. */
static void sort_by_place(const uint8_t *place, struct spread_ports *p)
{
	for (unsigned i = 1; i < p->n; i++) {
		uint8_t port = p->port[i];
		uint32_t to = p->to[i];
		unsigned k = i;

		for (; k && place[p->port[k - 1]] > place[port]; k--) {
			p->port[k] = p->port[k - 1];
			p->to[k] = p->to[k - 1];
		}
		p->port[k] = port;
		p->to[k] = to;
	}
}

void spread_find_choice(const struct spread_job *j, uint32_t s, uint32_t t,
                        struct spread_choice *c)
{
	const struct spread_tune *tune = j->in->tune;
	const uint32_t *load = j->load + (size_t)s * j->width;
	const uint32_t *earlier = j->earlier + (size_t)s * j->width;

	c->p.n = 0;
	spread_find_ports(j, s, t, &c->p);
	c->ignored = NULL;
	if (tune && tune->ignored) {
		c->ignored = tune->ignored + j->g->nodes[j->g->switches[s]].first_port;
	}
	if (tune && tune->place) {
		sort_by_place(tune->place + (size_t)s * j->width, &c->p);
	}
	for (unsigned i = 0; i < c->p.n; i++) {
		c->load[i] = (uint64_t)load[c->p.port[i]] << 32 | earlier[c->p.port[i]];
		c->at[c->p.port[i]] = (uint8_t)i;
	}
	c->n_least = 0;
}

void spread_copy_port(struct spread_choice *c, const struct spread_choice *from, unsigned i)
{
	uint8_t port = from->p.port[i];

	c->p.port[c->p.n] = port;
	c->p.to[c->p.n] = from->p.to[i];
	c->load[c->p.n] = from->load[i];
	c->at[port] = (uint8_t)c->p.n++;
}

void spread_store_loads(const struct spread_job *j, uint32_t s,
                        const struct spread_choice *c)
{
	uint32_t *load = j->load + (size_t)s * j->width;

	for (unsigned i = 0; i < c->p.n; i++) {
		load[c->p.port[i]] = (uint32_t)(c->load[i] >> 32);
	}
}

void spread_add_load(struct spread_choice *c, unsigned i, uint32_t flow)
{
	bool was_least = c->n_least && c->load[i] == c->least;

	if (!flow || (c->ignored && c->ignored[c->p.port[i]])) {
		return;
	}
	c->load[i] += (uint64_t)flow << 32;
	if (was_least && --c->n_least && i < SPREAD_MASK_BITS) {
		c->least_mask &= ~(UINT64_C(1) << i);
	}
}

unsigned spread_pick_least(struct spread_choice *c, unsigned start)
{
	unsigned i = start;

	spread_find_least(c);
	while (c->load[i] != c->least) {
		i = i + 1 == c->p.n ? 0 : i + 1;
	}
	return i;
}

unsigned spread_pick_lowest_peer(const struct spread_choice *c)
{
	unsigned best = 0;

	for (unsigned i = 1; i < c->p.n; i++) {
		best = c->p.to[i] < c->p.to[best] ? i : best;
	}
	return best;
}

/* ---- further LIDs of a port ---- */

/* Does a route of a host to the LID pass this switch? */
static bool carries(const struct spread_job *j, uint32_t s, uint32_t lid)
{
	return j->carried[(size_t)s * j->lft->stride / 8 + lid / 8] >> lid % 8 & 1;
}

/*
 * The same for the lower LIDs of a range as bits, eight LIDs at a time from k on, a
 * multiple of 8. A range of up to 8 LIDs is aligned, so it lies within one byte. A longer
 * range is whole bytes.
 */
static unsigned carries_bits(const struct spread_job *j, uint32_t s, uint32_t base,
                             unsigned offset, unsigned k)
{
	const uint8_t *row = j->carried + (size_t)s * j->lft->stride / 8;
	unsigned left = offset - k;

	return row[(base + k) / 8] >> base % 8 & ((1U << (left < 8 ? left : 8)) - 1);
}

static bool carries_lower(const struct spread_job *j, uint32_t s, uint32_t base,
                          unsigned offset)
{
	for (unsigned k = 0; k < offset; k += 8) {
		if (carries_bits(j, s, base, offset, k)) {
			return true;
		}
	}
	return false;
}

/* The first set bit from start on, cyclically. */
static unsigned first_from(uint64_t mask, unsigned start)
{
	uint64_t above = mask >> start << start;

	return (unsigned)__builtin_ctzll(above ? above : mask);
}

/*
 * The common case: each port leads to a system of its own, and some ports lead to a
 * system that no lower LID goes through. free has the bits of these ports.
 */
static unsigned pick_free(const struct spread_job *j, uint32_t base, unsigned offset,
                          const struct spread_choice *c, unsigned start, uint64_t free)
{
	uint64_t clear = free;

	for (uint64_t left = free & c->least_mask; left;) {
		unsigned i = first_from(left, start);

		if (!carries_lower(j, c->p.to[i], base, offset)) {
			return i;
		}
		left &= ~(UINT64_C(1) << i);
		clear &= ~(UINT64_C(1) << i);
	}
	for (uint64_t left = clear; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		if (carries_lower(j, c->p.to[i], base, offset)) {
			clear &= ~(UINT64_C(1) << i);
		}
	}
	clear = clear ? clear : free;

	unsigned best = first_from(clear, start);

	for (uint64_t left = clear; left;) {
		unsigned i = first_from(left, start);

		best = c->load[i] < c->load[best] ? i : best;
		left &= ~(UINT64_C(1) << i);
	}
	return best;
}

bool spread_is_free(const struct spread_job *j, uint32_t s, uint32_t base,
                    unsigned offset, const struct spread_choice *c, unsigned i)
{
	const uint8_t *row = lft_row(j->lft, s) + base;

	for (unsigned k = 0; k < offset; k++) {
		if (row[k] == c->p.port[i] && carries(j, s, base + k)) {
			return false;
		}
	}
	return true;
}

/* Bits of the ports that no lower LID takes. */
static uint64_t free_ports(const struct spread_job *j, uint32_t s, uint32_t base,
                           unsigned offset, const struct spread_choice *c)
{
	const uint8_t *row = lft_row(j->lft, s) + base;
	uint64_t free = UINT64_MAX >> (SPREAD_MASK_BITS - c->p.n);

	for (unsigned k = 0; k < offset; k += 8) {
		unsigned bits = carries_bits(j, s, base, offset, k);

		for (; bits; bits &= bits - 1) {
			uint8_t port = row[k + (unsigned)__builtin_ctz(bits)];

			free &= ~(UINT64_C(1) << c->at[port] % SPREAD_MASK_BITS);
		}
	}
	return free;
}

/* Per system, node and port: how many lower LIDs use it, and how many candidate ports
 * lead to it. */
struct uses {
	uint8_t system[SPREAD_PORTS_MAX], node[SPREAD_PORTS_MAX], port[SPREAD_PORTS_MAX];
	uint8_t system_ports[SPREAD_PORTS_MAX], node_ports[SPREAD_PORTS_MAX];
	uint32_t shared[SPREAD_PORTS_MAX]; /* lower LIDs that arrive by the same link */
};

static void count_uses(const struct spread_job *j, uint32_t s, uint32_t base,
                       unsigned offset, bool hosts, const struct spread_choice *c,
                       struct uses *u)
{
	const struct graph *g = j->g;
	const uint8_t *here = lft_row(j->lft, s) + base;
	const uint8_t *system = j->system + (size_t)s * j->width;
	const uint8_t *node = j->node + (size_t)s * j->width;

	for (unsigned k = 0; k < offset; k++) {
		if (here[k] != LFT_NO_ROUTE && (!hosts || carries(j, s, base + k))) {
			u->system[system[here[k]]]++;
			u->node[node[here[k]]]++;
			u->port[here[k]]++;
		}
	}
	for (unsigned i = 0; i < c->p.n; i++) {
		u->system_ports[system[c->p.port[i]]]++;
		u->node_ports[node[c->p.port[i]]]++;
	}
	/* A lower LID that arrives by a link that this LID arrives by, too, becomes the
	 * same route if this LID leaves by the same port. */
	for (uint32_t i = g->adj_first[s]; hosts && i < g->adj_first[s + 1]; i++) {
		const struct sw_link *link = &g->adj[i];
		const uint8_t *row = lft_row(j->lft, link->to) + base;

		for (unsigned k = 0; row[offset] == link->to_port && k < offset; k++) {
			if (row[k] == link->to_port && here[k] != LFT_NO_ROUTE &&
			    carries(j, link->to, base + k)) {
				u->shared[here[k]]++;
			}
		}
	}
}

/* Sort key of port p: what matters most is in the highest bits. */
static uint64_t port_key(const struct spread_job *j, uint32_t s, const struct uses *u,
                         uint8_t p, unsigned n_ports, unsigned n_lids)
{
	uint8_t system = j->system[(size_t)s * j->width + p];
	uint8_t node = j->node[(size_t)s * j->width + p];
	uint64_t key = u->port[p];

	key = key << 1 | (u->system[system] > 0);
	key = key << 1 | (u->node[node] > 0);
	/* has its share of the LIDs, by ports and rounded up? */
	key = key << 1 |
	      (u->system[system] * n_ports >= u->system_ports[system] * n_lids);
	key = key << 1 | (u->node[node] * n_ports >= u->node_ports[node] * n_lids);
	return key << 32 | u->shared[p];
}

static unsigned pick_any(const struct spread_job *j, uint32_t s, uint32_t base,
                         unsigned offset, const struct spread_choice *c, unsigned start,
                         bool hosts)
{
	unsigned n_lids = 1U << j->lids->of[j->lids->owner[base]].lmc, best = 0;
	uint64_t best_key = UINT64_MAX, best_load = 0;
	struct uses u = { .port = { 0 } };

	count_uses(j, s, base, offset, hosts, c, &u);
	for (unsigned k = 0; k < c->p.n; k++) {
		unsigned i = start + k < c->p.n ? start + k : start + k - c->p.n;
		uint64_t load = hosts ? c->load[i] : 0;
		uint64_t key = port_key(j, s, &u, c->p.port[i], c->p.n, n_lids) << 1;

		if (hosts && key <= best_key) {
			key |= carries_lower(j, c->p.to[i], base, offset);
		}
		if (key < best_key || (key == best_key && load < best_load)) {
			best_key = key;
			best_load = load;
			best = i;
		}
	}
	return best;
}

unsigned spread_pick_apart(const struct spread_job *j, uint32_t s, uint32_t base,
                           unsigned offset, struct spread_choice *c, unsigned start,
                           bool hosts)
{
	if (hosts && j->distinct[s] && c->p.n <= SPREAD_MASK_BITS) {
		uint64_t free = free_ports(j, s, base, offset, c);

		if (free) {
			spread_find_least(c);
			return pick_free(j, base, offset, c, start, free);
		}
	}
	return pick_any(j, s, base, offset, c, start, hosts);
}

void spread_note_carried(const struct spread_job *j)
{
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < j->n; s++) {
		const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
		uint8_t *carried = j->carried + (size_t)s * j->lft->stride / 8;

		for (uint32_t h = 0; h < j->n_cols; h++) {
			uint32_t lid = j->lid[h];

			if (lid && flow[h]) {
				carried[lid / 8] |= (uint8_t)(1U << lid % 8);
			}
		}
	}
}
