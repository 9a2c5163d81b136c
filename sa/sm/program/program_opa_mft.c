/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Multicast tables of Omni-Path: blocks of 8 MLIDs with masks of 64 ports, where InfiniBand has 32 MLIDs with
 * masks of 16. Trees are computed in InfiniBand's blocks (routing/multicast.h), each of which is a quarter
 * of four blocks here. MLIDs are those of 16 bits: MLID 0xC000 is the first of the table.
 *
 * Sent by difference as on InfiniBand (program_tables.c): blocks in use first, then those that were in
 * use and are not. Of a switch that had tables when it was found, a block is read before it is set, so a start
 * sets nothing that stands.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "routing/graph/graph.h"
#include "routing/multicast.h"
#include "sa/mad/fields.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/shadow.h"
#include "sa/sm/program/program.h"
#include "sa/sm/program/program_opa.h"

enum {
	QUARTERS = MFT_BLOCK_MLIDS / OPA_MFT_MLIDS,  /* blocks here of one there */
	ABREAST = OPA_MFT_PORTS / MFT_POSITION_PORTS /* positions there of one here */
};

/* The wanted table of one switch. Places: the blocks in use, by position, then all of the copy. */
struct opa_mft_job {
	struct table_cursor c;
	struct program_mft m;
	const struct mft_block *blocks; /* [n] of this switch, by position and block */
	uint32_t n;
	uint32_t n_places; /* of blocks in use */
	uint32_t n_cols;   /* that the switch has of each position */
};

static const struct mft_block *find(const struct opa_mft_job *j, unsigned position,
                                    uint32_t number)
{
	uint32_t at = (uint32_t)LOWER_BOUND(j->n, k,
	                                    j->blocks[k].position < position ||
	                                            (j->blocks[k].position == position &&
	                                             j->blocks[k].block < number));

	return at < j->n && j->blocks[at].position == position &&
	                       j->blocks[at].block == number
	               ? &j->blocks[at]
	               : NULL;
}

static void fill(const struct opa_mft_job *j, unsigned row, uint32_t number,
                 unsigned quarter, uint8_t *ret_block)
{
	uint64_t mask[OPA_MFT_MLIDS] = { 0 };

	for (unsigned i = 0; i < ABREAST; i++) {
		const struct mft_block *b = find(j, row * ABREAST + i, number);

		for (unsigned k = 0; b != NULL && k < OPA_MFT_MLIDS; k++) {
			mask[k] |= (uint64_t)b->mask[quarter * OPA_MFT_MLIDS + k]
			           << (i * MFT_POSITION_PORTS);
		}
	}
	for (unsigned k = 0; k < OPA_MFT_MLIDS; k++) {
		field_set(ret_block, k * OPA_MFT_PORTS, OPA_MFT_PORTS, mask[k]);
	}
}

static bool is_used(const struct program_mft *m, uint32_t number)
{
	size_t at = LOWER_BOUND(m->n_used, k, m->used[k] < number);

	return at != m->n_used && m->used[at] == number;
}

static bool want(struct table_cursor *c, uint32_t place, uint32_t *ret_block,
                 uint8_t *ret_bytes)
{
	struct opa_mft_job *j = (struct opa_mft_job *)c;
	uint32_t cols = c->q.t->cols;

	memset(ret_bytes, 0, TABLE_BLOCK_BYTES);
	if (place >= j->n_places) {
		*ret_block = place - j->n_places;
		return table_knows(c->q.t, *ret_block) &&
		       !is_used(&j->m, *ret_block % cols / QUARTERS);
	}
	uint32_t in_row = QUARTERS * j->m.n_used, at = place % in_row;
	uint32_t number = j->m.used[at / QUARTERS],
		 col = number * QUARTERS + at % QUARTERS;

	if (col >= j->n_cols) {
		return false;
	}
	*ret_block = table_at(c->q.t, place / in_row, col);
	fill(j, place / in_row, number, at % QUARTERS, ret_bytes);
	return true;
}

static int start(struct opa_mft_job *j, struct program *p, const struct program_mft *m,
                 uint32_t sw)
{
	struct disc_node *n = p->disc->of[p->disc->g->switches[sw]];
	const struct shadow_switch *copy = shadow_switch_get(p->shadow, n->guid);
	unsigned rows = n->n_ports / OPA_MFT_PORTS + 1U;
	uint32_t cols = m->n_used != 0 ? (m->used[m->n_used - 1] + 1U) * QUARTERS : 0;

	j->c = (struct table_cursor){ .q = { .io = &p->tables, .node = n },
		                      .want = want,
		                      .reads = copy != NULL && copy->found,
		                      .ret = &p->ret };
	j->m = *m;
	j->n_places = rows * m->n_used * QUARTERS;
	j->n_cols = table_blocks_of(field_get(n->switch_info, SI_MULTICAST_FDB_CAP),
	                            OPA_MFT_MLIDS);
	j->c.q.t = table_get(p->tables.store, TABLE_OPA_MFT, n->guid, 0, rows,
	                     cols < j->n_cols ? cols : j->n_cols);
	if (j->c.q.t == NULL) {
		return -ENOMEM;
	}
	j->c.end = j->n_places + table_size(j->c.q.t);
	table_cursor_run(&j->c);
	return p->ret;
}

int program_opa_mfts(struct program *p, const struct program_mft *m, struct arena *arena)
{
	const struct graph *g = p->disc->g;
	struct opa_mft_job *jobs = arena_array(arena, g->n_switches, sizeof(*jobs));
	uint32_t at = 0;
	int ret = jobs == NULL ? -ENOMEM : E_OK;

	p->tables.arena = arena;
	for (uint32_t i = 0; i < g->n_switches && ret == E_OK; i++) {
		uint32_t first;

		while (at < m->n && m->blocks[at].sw < i) {
			at++;
		}
		first = at;
		while (at < m->n && m->blocks[at].sw == i) {
			at++;
		}
		jobs[i].blocks = m->blocks + first;
		jobs[i].n = at - first;
		ret = start(&jobs[i], p, m, i);
	}
	return ret;
}

bool program_opa_mft_shape(const struct table *t, unsigned position, uint32_t number,
                           uint8_t ret_block[64])
{
	unsigned row = position / ABREAST,
		 shift = position % ABREAST * MFT_POSITION_PORTS;
	bool any = false;

	memset(ret_block, 0, TABLE_BLOCK_BYTES);
	for (unsigned i = 0; i < MFT_BLOCK_MLIDS && row < t->rows; i++) {
		uint32_t col = number * QUARTERS + i / OPA_MFT_MLIDS;
		uint32_t block = col < t->cols ? table_at(t, row, col) : 0;

		if (col >= t->cols || !table_knows(t, block)) {
			continue;
		}
		uint64_t mask =
			field_get(table_block(t, block),
		                  i % OPA_MFT_MLIDS * OPA_MFT_PORTS, OPA_MFT_PORTS);

		any = true;
		field_set(ret_block, i * MFT_POSITION_PORTS, MFT_POSITION_PORTS,
		          mask >> shift);
	}
	return any;
}
