/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Dispersion: the LIDs of one port take ways apart from each other (Cornelis CN5000,
 * LMC, Dispersive Routing, and Fabric Resiliency): by priority another switch, which is
 * a whole chassis, another ASIC of it, another port.
 *
 * A port that no lower LID takes comes before any that one takes, so the routes of a port
 * are as many as there are ports to choose from. Of those left unused, one to another
 * system comes first, then one to another node. Systems and nodes with several ports take
 * LIDs in proportion to these, and load decides the rest.
 *
 * A switch knows its own next hops. Where a tree has spines that several of them lead to,
 * that is not enough: two LIDs that part here may meet at a spine. So among next hops
 * that are equal, one that carries no lower LID of the port on anybody's way comes first.
 * Where hosts hang on every switch there is none, and load decides. Where there are more
 * LIDs than ports, two that come by the same link part here if they can.
 */
#include "routing/spread/spread_choice.h"

#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

/* Does a host's route to the LID pass this switch? */
static bool carries(const struct spread_job *j, uint32_t s, uint32_t lid)
{
	return j->carried[(size_t)s * j->lft->stride / 8 + lid / 8] >> lid % 8 & 1;
}

/*
 * The same for the lower LIDs of a range, eight at a time from \a k on, a multiple of 8.
 * A range of up to 8 LIDs is aligned, so it is in one byte; a longer one is whole bytes.
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

/* The first set bit from start on, around the end. */
static unsigned first_from(uint64_t mask, unsigned start)
{
	uint64_t above = mask >> start << start;

	return (unsigned)__builtin_ctzll(above ? above : mask);
}

/* The least loaded of a set that is not empty. */
static unsigned least_of(const struct spread_choice *c, uint64_t mask, unsigned start)
{
	unsigned best = first_from(mask, start);

	for (uint64_t left = mask; left;) {
		unsigned i = first_from(left, start);

		best = c->load[i] < c->load[best] ? i : best;
		left &= ~(UINT64_C(1) << i);
	}
	return best;
}

/*
 * The common case: each port leads to a system of its own, and some to one that no lower
 * LID goes through. \a free has their bits.
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
	return least_of(c, clear ? clear : free, start);
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

/* Per system, node and port: how many lower LIDs use it, and its ports to choose from. */
struct uses {
	uint8_t system[SPREAD_PORTS_MAX], node[SPREAD_PORTS_MAX], port[SPREAD_PORTS_MAX];
	uint8_t system_ports[SPREAD_PORTS_MAX], node_ports[SPREAD_PORTS_MAX];
	uint32_t meetings[SPREAD_PORTS_MAX]; /* lower LIDs that come the same way */
};

/*
 * Of the lower LIDs that come to the switch by a link that this LID comes by, too, how
 * many leave by each port. They would be one route if this one left there.
 */
static void count_meetings(const struct spread_job *j, uint32_t s, uint32_t base,
                           unsigned offset, struct uses *u)
{
	const struct graph *g = j->g;
	const uint8_t *here = lft_row(j->lft, s) + base;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		const struct sw_link *link = &g->adj[i];
		const uint8_t *row = lft_row(j->lft, link->to) + base;

		for (unsigned k = 0; row[offset] == link->to_port && k < offset; k++) {
			if (row[k] == link->to_port && here[k] != LFT_NO_ROUTE &&
			    carries(j, link->to, base + k)) {
				u->meetings[here[k]]++;
			}
		}
	}
}

static void count_uses(const struct spread_job *j, uint32_t s, uint32_t base,
                       unsigned offset, bool hosts, const struct spread_choice *c,
                       struct uses *u)
{
	const uint8_t *row = lft_row(j->lft, s) + base;
	const uint8_t *system = j->system + (size_t)s * j->width;
	const uint8_t *node = j->node + (size_t)s * j->width;

	for (unsigned k = 0; k < offset; k++) {
		if (row[k] != LFT_NO_ROUTE && (!hosts || carries(j, s, base + k))) {
			u->system[system[row[k]]]++;
			u->node[node[row[k]]]++;
			u->port[row[k]]++;
		}
	}
	for (unsigned i = 0; i < c->p.n; i++) {
		u->system_ports[system[c->p.port[i]]]++;
		u->node_ports[node[c->p.port[i]]]++;
	}
	if (hosts) {
		count_meetings(j, s, base, offset, u);
	}
}

/* Has a system or node its share of the \a n LIDs? The share is by ports, rounded up. */
static bool has_share(unsigned uses, unsigned ports, unsigned all_ports, unsigned n)
{
	return uses * all_ports >= ports * n;
}

/* What is compared of port p, the first things first. */
static uint64_t key_of(const struct spread_job *j, uint32_t s, const struct uses *u,
                       uint8_t p, unsigned n_ports, unsigned n_lids)
{
	uint8_t system = j->system[(size_t)s * j->width + p];
	uint8_t node = j->node[(size_t)s * j->width + p];
	uint64_t key = u->port[p];

	key = key << 1 | (u->system[system] > 0);
	key = key << 1 | (u->node[node] > 0);
	key = key << 1 |
	      has_share(u->system[system], u->system_ports[system], n_ports, n_lids);
	key = key << 1 | has_share(u->node[node], u->node_ports[node], n_ports, n_lids);
	return key << 32 | u->meetings[p];
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
		uint64_t key = key_of(j, s, &u, c->p.port[i], c->p.n, n_lids) << 1;

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
	if (hosts && j->apart[s] && c->p.n <= SPREAD_MASK_BITS) {
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
