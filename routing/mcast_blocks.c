/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Multicast tables out of trees, without comparing: see sort_bits(). */
#include "routing/multicast.h"

#include <errno.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"

/* A port of a tree: MLID, port, and what it is sorted by: switch and position. */
struct bit {
	uint32_t at;
	uint16_t row; /* MLID_FIRST is 0 */
	uint8_t port;
};

enum { POSITIONS = 256 / MFT_POSITION_PORTS };

static int by_mlid(const void *a, const void *b)
{
	const struct mcast_group *const *x = a, *const *y = b;

	return ((*x)->mlid > (*y)->mlid) - ((*x)->mlid < (*y)->mlid);
}

/* Groups by MLID. NULL: memory is out. */
static const struct mcast_group **in_order(const struct mcast_in *in)
{
	const struct mcast_group **order = malloc((in->n_groups + 1U) * sizeof(*order));

	for (uint32_t i = 0; order && i < in->n_groups; i++) {
		order[i] = &in->groups[i];
	}
	if (order) {
		qsort(order, in->n_groups, sizeof(*order), by_mlid);
	}
	return order;
}

static uint32_t place_of(const struct mcast_port *p)
{
	return p->sw * POSITIONS + p->port / MFT_POSITION_PORTS;
}

/* Where the bits of each switch and position begin. NULL: memory is out. */
static uint32_t *count_bits(const struct mcast_in *in, const struct mcast_tree *trees,
                            uint32_t *ret_n)
{
	uint32_t places = 0, sum = 0;

	for (uint32_t i = 0; i < in->n_groups;
	     i++) { /* the last port has the last switch */
		uint32_t last = trees[i].n ? trees[i].ports[trees[i].n - 1].sw + 1 : 0;
		places = last * POSITIONS > places ? last * POSITIONS : places;
	}
	uint32_t *first = calloc(places + 1U, sizeof(*first));
	for (uint32_t i = 0; first && i < in->n_groups; i++) {
		for (uint32_t k = 0; k < trees[i].n; k++) {
			first[place_of(&trees[i].ports[k])]++;
		}
	}
	for (uint32_t i = 0; first && i < places; i++) {
		uint32_t n = first[i];
		first[i] = sum;
		sum += n;
	}
	*ret_n = sum;
	return first;
}

/* All ports of all trees by switch, position, MLID and port: groups come by MLID, so it
 * is enough to put each bit behind those of its place. NULL: memory is out. */
static struct bit *sort_bits(const struct mcast_in *in, const struct mcast_tree *trees,
                             uint32_t *ret_n)
{
	const struct mcast_group **order = in_order(in);
	uint32_t *next = count_bits(in, trees, ret_n);
	struct bit *bits = next && order ? malloc((*ret_n + 1U) * sizeof(*bits)) : NULL;

	for (uint32_t i = 0; bits && i < in->n_groups; i++) {
		const struct mcast_tree *t = &trees[order[i] - in->groups];
		for (uint32_t k = 0; k < t->n; k++) {
			uint32_t at = place_of(&t->ports[k]);
			bits[next[at]++] =
				(struct bit){ at, (uint16_t)(order[i]->mlid - MLID_FIRST),
				              t->ports[k].port };
		}
	}
	free(order);
	free(next);
	return bits;
}

static bool same_block(const struct bit *a, const struct bit *b)
{
	return a->at == b->at && a->row / MFT_BLOCK_MLIDS == b->row / MFT_BLOCK_MLIDS;
}

int mcast_blocks(const struct mcast_in *in, const struct mcast_tree *trees,
                 struct arena *a, struct mft_block **ret_block, uint32_t *ret_n)
{
	uint32_t n, blocks = 0;
	struct bit *bits = sort_bits(in, trees, &n);

	for (uint32_t i = 0; bits && i < n; i++) {
		blocks += i == 0 || !same_block(&bits[i], &bits[i - 1]);
	}
	struct mft_block *b = bits ? arena_array(a, blocks, sizeof(*b)) : NULL;
	*ret_block = b;
	*ret_n = blocks;
	for (uint32_t i = 0; b && i < n; i++) {
		b += i != 0 && !same_block(&bits[i], &bits[i - 1]);
		b->sw = bits[i].at / POSITIONS;
		b->position = bits[i].at % POSITIONS;
		b->block = bits[i].row / MFT_BLOCK_MLIDS;
		b->mask[bits[i].row % MFT_BLOCK_MLIDS] |=
			(uint16_t)(1U << bits[i].port % MFT_POSITION_PORTS);
	}
	free(bits);
	return b ? E_OK : -ENOMEM;
}
