/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Forwarding tables of switches: unicast read back where they are not known (program_lfts.c sends
 * them), multicast sent by difference.
 *
 * Each switch has a cursor over its blocks (sa/sm/table/table_io.h), so all advance together. A shadow
 * copy is trusted while LinearFDBTop is what the copy says, because a switch that restarts comes
 * back with 0.
 *
 * Multicast: blocks that held a group and hold none any more are cleared. Blocks that no group
 * uses and of which nothing is known stay as they are, because no group has an MLID there.
 * While tables of neighbours change one after another a packet can be lost, or circulate
 * until its switches agree again. Blocks are not ordered to prevent that.
 *
 * Source: IBA vol. 1, 14.2.5.11 (LinearForwardingTable), 14.2.5.12
 * (MulticastForwardingTable).
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/multicast.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/shadow.h"
#include "sa/sm/program/program.h"
#include "sa/sm/program/program_opa.h"

/* --- reading back ----------------------------------------------------------------- */

/* Blocks that are read of a switch, whatever LinearFDBTop it says: nobody has a LID above them. */
static uint32_t lft_blocks(const struct program *p)
{
	uint32_t blocks = p->lids->top / LFT_BLOCK_LIDS + 1;

	return blocks > LFT_BLOCKS ? blocks : LFT_BLOCKS;
}

/* Looks at a switch. Its table has to be read where a block is unknown, also because a Set was not
 * answered. */
static int start_reading(struct program *p, struct disc_node *n, struct table_cursor *c)
{
	struct table_store *store = p->tables.store;
	struct shadow_switch *copy = shadow_switch_get(p->shadow, n->guid);
	const struct table *known = table_find(store, TABLE_LFT, n->guid, 0);
	uint32_t top = disc_lft_top(n), most = lft_blocks(p);
	uint32_t end = top != 0 ? top / LFT_BLOCK_LIDS + 1 : 0;

	/* A switch that restarted has lost its LID, too. A Set(SwitchInfo) that was
	 * repeated across the restart has put LinearFDBTop back, but no entries. */
	bool restarted = disc_lid(&n->ports[0]) == 0;

	if (copy == NULL) {
		return -ENOMEM;
	}
	if (top != copy->top || known == NULL || known->cols == 0 ||
	    !table_knows(known, 0) || restarted) {
		shadow_switch_forget(copy);
		tables_forget(store, TABLE_GOES_WITH_SWITCH, n->guid, 0);
		copy->top = top;
		copy->found = top != 0;
	}
	*c = (struct table_cursor){ .q = { .io = &p->tables, .node = n },
		                    .end = end < most ? end : most,
		                    .ret = &p->ret };
	c->q.t = table_get(store, TABLE_LFT, n->guid, 0, 1, c->end);
	if (c->q.t == NULL) {
		return -ENOMEM;
	}
	c->q.t->live = end < most ? top / LFT_BLOCK_LIDS + 1 : most;
	table_cursor_run(c);
	return p->ret;
}

int program_read_lfts(struct program *p)
{
	const struct graph *g = p->disc->g;
	struct table_cursor *c = arena_array(p->arena, g->n_switches, sizeof(*c));
	int ret = c == NULL ? -ENOMEM : E_OK;

	for (uint32_t i = 0; i < p->n_nodes && ret == E_OK; i++) {
		struct disc_node *n = p->disc->of[p->nodes[i]];

		if (n->type == NODE_SWITCH) {
			ret = start_reading(p, n, &c[g->nodes[p->nodes[i]].sw]);
		}
	}
	return ret;
}

void program_known_tables(const struct program *p, const uint32_t *lid, uint32_t n,
                          struct lft *ret_lft)
{
	const struct graph *g = p->disc->g;

	for (uint32_t i = 0; i < g->n_switches; i++) {
		const struct table *t = table_find(p->tables.store, TABLE_LFT,
		                                   g->nodes[g->switches[i]].guid, 0);
		bool all = lid == NULL || p->look == NULL || p->look[g->switches[i]];
		uint32_t known = t != NULL ? t->cols * LFT_BLOCK_LIDS : 0;
		uint8_t *row = lft_row(ret_lft, i);

		known = known < ret_lft->n_lids ? known : ret_lft->n_lids;
		if (all && known != 0) {
			memcpy(row, t->data, known);
		}
		if (all) {
			memset(row + known, LFT_NO_ROUTE, ret_lft->n_lids - known);
		}
		for (uint32_t k = 0; k < n && !all; k++) {
			uint32_t at = lid[k] / LFT_BLOCK_LIDS * LFT_BLOCK_LIDS;

			if (at < known) {
				memcpy(row + at, t->data + at,
				       known - at < LFT_BLOCK_LIDS ? known - at
				                                   : LFT_BLOCK_LIDS);
			}
		}
	}
}

/* Has a switch of the fabric lanes of a routing that had several? \retval -ENOMEM */
static int find_lanes(const struct program *p, bool *ret_any)
{
	const struct graph *g = p->disc->g;

	*ret_any = p->shadow->n_lanes > 1;
	for (uint32_t i = 0; i < g->n_switches && !*ret_any; i++) {
		struct shadow_switch *c =
			shadow_switch_get(p->shadow, g->nodes[g->switches[i]].guid);

		if (c == NULL) {
			return -ENOMEM;
		}
		*ret_any = c->lanes != NULL;
	}
	return E_OK;
}

int program_known_lanes(const struct program *p, const struct lft *t,
                        struct lanes *ret_lanes)
{
	const struct graph *g = p->disc->g;
	bool several = false;
	int ret = p->shadow->n_lanes != 0 ? find_lanes(p, &several) : E_OK;

	*ret_lanes = (struct lanes){ .n = p->shadow->n_lanes, .stride = t->stride };
	if (ret != E_OK || !several) {
		return ret;
	}
	ret_lanes->rows = arena_alloc(p->arena, t->n_switches * t->stride);
	if (ret_lanes->rows == NULL) {
		return -ENOMEM;
	}
	/* A switch that was away has the lanes of its time, which may have been more. */
	for (uint32_t i = 0; i < t->n_switches; i++) {
		struct shadow_switch *c =
			shadow_switch_get(p->shadow, g->nodes[g->switches[i]].guid);
		uint8_t *row = ret_lanes->rows + i * t->stride;

		if (c == NULL) {
			return -ENOMEM;
		}
		memset(row, c->lanes == NULL && p->shadow->n_lanes == 1 ? 0 : LANE_UNKNOWN,
		       t->stride);
		for (uint32_t lid = 0;
		     c->lanes != NULL && lid < c->n_lanes && lid < t->n_lids; lid++) {
			uint8_t lane = c->lanes[lid];

			row[lid] = lane;
			if (lane != LANE_UNKNOWN && lane >= ret_lanes->n) {
				ret_lanes->n = (uint8_t)(lane + 1);
			}
		}
	}
	return E_OK;
}

/* --- multicast --------------------------------------------------------------------- */

/* What one switch is to have. Its places are the blocks in use, by position, and then all blocks of
 * the copy, of which those that were in use and are not are cleared. */
struct mft_job {
	struct table_cursor c;
	struct program_mft m;
	uint32_t sw, at;   /* in m.blocks: the next one of this switch */
	uint32_t n_places; /* of blocks in use */
	uint32_t n_blocks; /* that the switch has of each position */
};

static bool want_used(struct mft_job *j, uint32_t place, uint32_t *ret_block,
                      uint8_t *ret_bytes)
{
	uint32_t pos = place / j->m.n_used, number = j->m.used[place % j->m.n_used];
	const struct mft_block *b = &j->m.blocks[j->at];

	if (j->at < j->m.n && b->sw == j->sw && b->position == pos &&
	    b->block == number) {
		for (unsigned k = 0; k < MFT_BLOCK_MLIDS; k++) {
			field_set(ret_bytes, k * 16, 16, b->mask[k]);
		}
		j->at++;
	}
	*ret_block = table_at(j->c.q.t, pos, number);
	return number < j->n_blocks;
}

static bool is_used(const struct program_mft *m, uint32_t number)
{
	size_t at = LOWER_BOUND(m->n_used, k, m->used[k] < number);

	return at != m->n_used && m->used[at] == number;
}

static bool want_mft(struct table_cursor *c, uint32_t place, uint32_t *ret_block,
                     uint8_t *ret_bytes)
{
	struct mft_job *j = (struct mft_job *)c;

	memset(ret_bytes, 0, TABLE_BLOCK_BYTES);
	if (place < j->n_places) {
		return want_used(j, place, ret_block, ret_bytes);
	}
	*ret_block = place - j->n_places;
	return table_knows(c->q.t, *ret_block) &&
	       !is_used(&j->m, *ret_block % c->q.t->cols);
}

static int start_mft(struct mft_job *j, struct program *p, const struct program_mft *m,
                     uint32_t sw, uint32_t at)
{
	struct disc_node *n = p->disc->of[p->disc->g->switches[sw]];
	unsigned positions = n->n_ports / MFT_POSITION_PORTS + 1U;
	uint32_t n_blocks = table_blocks_of(
		field_get(n->switch_info, SI_MULTICAST_FDB_CAP), MFT_BLOCK_MLIDS);
	uint32_t cols = m->n_used != 0 ? m->used[m->n_used - 1] + 1U : 0;

	*j = (struct mft_job){ .c = { .q = { .io = &p->tables, .node = n },
		                      .want = want_mft,
		                      .ret = &p->ret },
		               .m = *m,
		               .sw = sw,
		               .at = at,
		               .n_places = positions * m->n_used,
		               .n_blocks = n_blocks };
	j->c.q.t = table_get(p->tables.store, TABLE_MFT, n->guid, 0, positions,
	                     cols < n_blocks ? cols : n_blocks);
	if (j->c.q.t == NULL) {
		return -ENOMEM;
	}
	j->c.end = j->n_places + table_size(j->c.q.t);
	table_cursor_run(&j->c);
	return p->ret;
}

int program_mfts(struct program *p, const struct program_mft *m, struct arena *arena)
{
	const struct graph *g = p->disc->g;
	struct mft_job *jobs = arena_array(arena, g->n_switches, sizeof(*jobs));
	uint32_t at = 0;
	int ret = jobs == NULL ? -ENOMEM : E_OK;

	if (smp_is_omni_path(p->smp)) {
		return program_opa_mfts(p, m, arena);
	}
	p->tables.arena = arena;
	for (uint32_t i = 0; i < g->n_switches && ret == E_OK; i++) {
		while (at < m->n && m->blocks[at].sw < i) {
			at++;
		}
		ret = start_mft(&jobs[i], p, m, i, at);
	}
	return ret;
}
