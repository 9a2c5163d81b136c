/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Forwarding tables of switches: unicast read back where they are not known (program_lfts.c sends
 * them), multicast sent by difference.
 *
 * Each switch has a cursor over its blocks and a few requests in flight. An answer moves
 * the cursor on, so all switches advance together and no queue of blocks is ever built.
 * A shadow copy is trusted while LinearFDBTop is what the copy says, because a switch that
 * restarts comes back with 0.
 *
 * Multicast: the cursor runs over the list of blocks of a switch that differ from the
 * copy. Blocks that held a group and hold none any more are cleared. Blocks that no group
 * uses and of which nothing is known stay as they are, because no group has an MLID there.
 * While tables of neighbours change one after another a packet can be lost, or circulate
 * until its switches agree again. Blocks are not ordered to prevent that.
 *
 * Source: IBA vol. 1, 14.2.5.11 (LinearForwardingTable), 14.2.5.12
 * (MulticastForwardingTable).
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
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

enum { IN_FLIGHT = 4, POSITION_SHIFT = 28 };

struct read_job {
	struct program *p;
	struct disc_node *node;
	struct shadow_switch *copy;
	uint32_t next; /* block to look at */
	uint32_t end;  /* one past the last */
	uint32_t in_flight;
};

/* --- reading back ----------------------------------------------------------------- */

static void read_blocks(struct read_job *j);

static void on_lft_read(void *ctx, const struct smp_reply *r)
{
	struct read_job *j = ctx;

	j->in_flight--;
	/* A block that cannot be read stays unknown and will be sent. */
	if (r->ret == E_OK && shadow_lft_put(j->copy, r->mod, r->data) != E_OK) {
		j->p->ret = -ENOMEM;
	}
	if (r->ret == E_TIMEOUT) {
		j->next = j->end;
		program_answered(j->p, j->node, 0, r->ret, r->status,
		                 "Get(LinearForwardingTable)");
	}
	read_blocks(j);
}

static void read_blocks(struct read_job *j)
{
	while (j->next < j->end && j->in_flight < IN_FLIGHT && j->p->ret == E_OK) {
		uint32_t block = j->next++;

		/* Blocks whose Set was not answered are unknown, too. */
		if (j->copy->block[block] == NULL) {
			int ret = smp_submit(
				j->p->smp,
				&(struct smp_request){
					.dest = &j->node->dest,
					.method = UMAD_METHOD_GET,
					.attr = UMAD_SM_ATTR_LINEAR_FT,
					.mod = block,
					.retries =
						2 * j->p->config->transaction_retries + 1,
					.done = on_lft_read,
					.ctx = j });

			if (ret != E_OK) {
				j->p->ret = ret;
				return;
			}
			j->in_flight++;
		}
	}
}

int program_read_lfts(struct program *p)
{
	const struct graph *g = p->disc->g;
	struct read_job *jobs = arena_array(p->arena, g->n_switches, sizeof(*jobs));
	int ret = jobs == NULL ? -ENOMEM : E_OK;

	for (uint32_t i = 0; i < g->n_switches && ret == E_OK; i++) {
		struct read_job *j = &jobs[i];

		*j = (struct read_job){ .p = p, .node = p->disc->of[g->switches[i]] };
		j->copy = shadow_switch_get(p->shadow, j->node->guid);
		if (j->copy == NULL) {
			return -ENOMEM;
		}
		uint32_t top =
			(uint32_t)field_get(j->node->switch_info, SI_LINEAR_FDB_TOP);

		/* A switch that restarted has lost its LID, too. A Set(SwitchInfo) that was
		 * repeated across the restart has put LinearFDBTop back, but no entries. */
		bool restarted = field_get(j->node->ports[0].info, PI_LID) == 0;

		if (top != j->copy->top || j->copy->block[0] == NULL || restarted) {
			shadow_switch_forget(j->copy);
			j->copy->top = top;
		}
		j->end = top ? top / LFT_BLOCK_LIDS + 1 : 0;
		j->end = j->end > LFT_BLOCKS ? LFT_BLOCKS : j->end;
		read_blocks(j);
		ret = p->ret;
	}
	return ret;
}

int program_known_tables(const struct program *p, struct lft *ret)
{
	const struct graph *g = p->disc->g;

	for (uint32_t i = 0; i < g->n_switches; i++) {
		struct shadow_switch *c =
			shadow_switch_get(p->shadow, g->nodes[g->switches[i]].guid);
		uint8_t *row = lft_row(ret, i);

		if (c == NULL) {
			return -ENOMEM;
		}
		for (uint32_t at = 0; at < ret->n_lids; at += LFT_BLOCK_LIDS) {
			const uint8_t *block = c->block[at / LFT_BLOCK_LIDS];
			uint32_t n = ret->n_lids - at;

			n = n < LFT_BLOCK_LIDS ? n : LFT_BLOCK_LIDS;
			if (block != NULL) {
				memcpy(row + at, block, n);
			} else {
				memset(row + at, LFT_NO_ROUTE, n);
			}
		}
	}
	return E_OK;
}

/* Has a switch of the fabric lanes of a routing that had several? \retval -ENOMEM */
static int find_lanes(const struct program *p, bool *ret)
{
	const struct graph *g = p->disc->g;

	*ret = p->shadow->n_lanes > 1;
	for (uint32_t i = 0; i < g->n_switches && !*ret; i++) {
		struct shadow_switch *c =
			shadow_switch_get(p->shadow, g->nodes[g->switches[i]].guid);

		if (c == NULL) {
			return -ENOMEM;
		}
		*ret = c->lanes != NULL;
	}
	return E_OK;
}

int program_known_lanes(const struct program *p, const struct lft *t, struct lanes *ret)
{
	const struct graph *g = p->disc->g;
	bool several = false;
	int err = p->shadow->n_lanes != 0 ? find_lanes(p, &several) : E_OK;

	*ret = (struct lanes){ .n = p->shadow->n_lanes, .stride = t->stride };
	if (err != E_OK || !several) {
		return err;
	}
	ret->rows = arena_alloc(p->arena, t->n_switches * t->stride);
	if (ret->rows == NULL) {
		return -ENOMEM;
	}
	/* A switch that was away has the lanes of its time, which may have been more. */
	for (uint32_t i = 0; i < t->n_switches; i++) {
		struct shadow_switch *c =
			shadow_switch_get(p->shadow, g->nodes[g->switches[i]].guid);
		uint8_t *row = ret->rows + i * t->stride;

		if (c == NULL) {
			return -ENOMEM;
		}
		memset(row, c->lanes == NULL && p->shadow->n_lanes == 1 ? 0 : LANE_UNKNOWN,
		       t->stride);
		for (uint32_t lid = 0;
		     c->lanes != NULL && lid < c->n_lanes && lid < t->n_lids; lid++) {
			uint8_t lane = c->lanes[lid];

			row[lid] = lane;
			if (lane != LANE_UNKNOWN && lane >= ret->n) {
				ret->n = (uint8_t)(lane + 1);
			}
		}
	}
	return E_OK;
}

/* --- multicast --------------------------------------------------------------------- */

struct mft_job {
	struct program *p;
	struct disc_node *node;
	struct shadow_switch *copy;
	struct shadow_mft *send; /* [n] blocks that differ */
	uint32_t n, next, in_flight;
};

static void send_mft_blocks(struct mft_job *j);

static void on_mft_set(void *ctx, const struct smp_reply *r)
{
	struct mft_job *j = ctx;

	j->in_flight--;
	if (!program_answered(j->p, j->node, 0, r->ret, r->status,
	                      "Set(MulticastForwardingTable)")) {
		j->next = j->n;
		shadow_mft_drop(j->copy, r->mod); /* it may or may not have arrived */
	} else if (shadow_mft_put(j->copy, r->mod, r->data) != E_OK) {
		j->p->ret = -ENOMEM;
	}
	send_mft_blocks(j);
}

static void send_mft_blocks(struct mft_job *j)
{
	while (j->next < j->n && j->in_flight < IN_FLIGHT && j->p->ret == E_OK) {
		const struct shadow_mft *block = &j->send[j->next++];
		int ret = smp_submit(
			j->p->smp,
			&(struct smp_request){
				.dest = &j->node->dest,
				.method = UMAD_METHOD_SET,
				.attr = UMAD_SM_ATTR_MCAST_FT,
				.mod = block->mod,
				.data = block->data,
				.retries = 2 * j->p->config->transaction_retries + 1,
				.done = on_mft_set,
				.ctx = j });

		if (ret != E_OK) {
			j->p->ret = ret;
			return;
		}
		j->p->n_mft_sets++;
		j->in_flight++;
	}
}

/* --- what differs ----------------------------------------------------------------- */

static void want_block(struct mft_job *j, uint32_t mod, const uint8_t *data)
{
	const struct shadow_mft *known = shadow_mft_find(j->copy, mod);

	if (known == NULL || memcmp(known->data, data, MFT_BLOCK_BYTES) != 0) {
		j->send[j->n].mod = mod;
		memcpy(j->send[j->n++].data, data, MFT_BLOCK_BYTES);
	}
}

/* Blocks in use, in the order of the list: from its entry *at on. */
static void want_used_blocks(struct mft_job *j, const struct program_mft *m, uint32_t sw,
                             uint32_t blocks, uint32_t *at)
{
	unsigned positions = j->node->n_ports / MFT_POSITION_PORTS + 1U;

	for (unsigned pos = 0; pos < positions; pos++) {
		for (uint32_t i = 0; i < m->n_used; i++) {
			const struct mft_block *b = &m->blocks[*at];
			uint8_t data[MFT_BLOCK_BYTES] = { 0 };

			if (*at < m->n && b->sw == sw && b->position == pos &&
			    b->block == m->used[i]) {
				for (unsigned k = 0; k < MFT_BLOCK_MLIDS; k++) {
					field_set(data, k * 16, 16, b->mask[k]);
				}
				++*at;
			}
			if (m->used[i] < blocks) {
				want_block(j, pos << POSITION_SHIFT | m->used[i], data);
			}
		}
	}
}

/* Blocks that were in use and are not. */
static void want_cleared_blocks(struct mft_job *j, const struct program_mft *m)
{
	static const uint8_t none[MFT_BLOCK_BYTES];

	for (uint32_t i = 0; i < j->copy->n_mft; i++) {
		uint32_t mod = j->copy->mft[i].mod;
		uint32_t block = mod & ((1U << POSITION_SHIFT) - 1);
		size_t at = LOWER_BOUND(m->n_used, k, m->used[k] < block);

		if (at == m->n_used || m->used[at] != block) {
			want_block(j, mod, none);
		}
	}
}

static int mft_job_init(struct mft_job *j, struct program *p, const struct program_mft *m,
                        uint32_t sw, struct arena *arena, uint32_t *at)
{
	struct disc_node *n = p->disc->of[p->disc->g->switches[sw]];
	unsigned positions = n->n_ports / MFT_POSITION_PORTS + 1U;
	uint32_t cap = (uint32_t)field_get(n->switch_info, SI_MULTICAST_FDB_CAP);

	*j = (struct mft_job){ .p = p, .node = n };
	j->copy = shadow_switch_get(p->shadow, n->guid);
	if (j->copy == NULL) {
		return -ENOMEM;
	}
	j->send = arena_array(arena, positions * (size_t)m->n_used + j->copy->n_mft,
	                      sizeof(*j->send));
	if (j->send == NULL) {
		return -ENOMEM;
	}
	want_used_blocks(j, m, sw, (cap + MFT_BLOCK_MLIDS - 1) / MFT_BLOCK_MLIDS, at);
	want_cleared_blocks(j, m);
	return E_OK;
}

int program_mfts(struct program *p, const struct program_mft *m, struct arena *arena)
{
	const struct graph *g = p->disc->g;
	uint32_t at = 0;
	int ret = E_OK;

	p->mft_jobs = arena_array(arena, g->n_switches, sizeof(*p->mft_jobs));
	if (p->mft_jobs == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_switches && ret == E_OK; i++) {
		ret = mft_job_init(&p->mft_jobs[i], p, m, i, arena, &at);
		if (ret == E_OK) {
			send_mft_blocks(&p->mft_jobs[i]);
			ret = p->ret;
		}
	}
	return ret;
}
