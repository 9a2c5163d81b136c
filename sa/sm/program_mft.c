/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Multicast forwarding tables, sent by difference.
 *
 * What a switch should have is written down per switch as the blocks that differ from the
 * copy of what it has; then a cursor runs over that list with a few requests in flight.
 * Blocks that held a group and hold none any more are cleared; blocks that nobody uses
 * and of which nothing is known stay as they are: no group has an MLID there.
 *
 * While tables of neighbours change one after another a packet can be lost, or go round
 * until its switches agree again. Blocks are not ordered to prevent that.
 *
 * Source: IBA vol. 1, 14.2.5.12 (MulticastForwardingTable).
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "routing/multicast.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover.h"
#include "sa/sm/lft_copy.h"
#include "sa/sm/program.h"

enum { MFT_IN_FLIGHT = 4, POSITION_SHIFT = 28 };

struct mft_job {
	struct program *p;
	struct disc_node *node;
	struct lft_copy *copy;
	struct mft_copy *send; /* [n] blocks that differ */
	uint32_t n, next, in_flight;
};

static void send_on(struct mft_job *j);

static void on_mft_set(void *ctx, const struct smp_reply *r)
{
	struct mft_job *j = ctx;

	j->in_flight--;
	if (!program_answered(j->p, j->node, 0, r->ret, r->status,
	                      "Set(MulticastForwardingTable)")) {
		j->next = j->n;
		mft_copy_drop(j->copy, r->mod); /* it may or may not have arrived */
	} else if (mft_copy_put(j->copy, r->mod, r->data) != E_OK) {
		j->p->ret = -ENOMEM;
	}
	send_on(j);
}

static void send_on(struct mft_job *j)
{
	while (j->next < j->n && j->in_flight < MFT_IN_FLIGHT && j->p->ret == E_OK) {
		const struct mft_copy *block = &j->send[j->next++];
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

static void want(struct mft_job *j, uint32_t mod, const uint8_t *data)
{
	const struct mft_copy *known = mft_copy_find(j->copy, mod);

	if (known == NULL || memcmp(known->data, data, MFT_BLOCK_BYTES) != 0) {
		j->send[j->n].mod = mod;
		memcpy(j->send[j->n++].data, data, MFT_BLOCK_BYTES);
	}
}

static void to_wire(const struct mft_block *b, uint8_t data[MFT_BLOCK_BYTES])
{
	for (unsigned i = 0; i < MFT_BLOCK_MLIDS; i++) {
		field_set(data, i * 16, 16, b->mask[i]);
	}
}

static bool in_use(const struct program_mft *m, uint32_t block)
{
	for (uint32_t i = 0; i < m->n_used; i++) {
		if (m->used[i] == block) {
			return true;
		}
	}
	return false;
}

/* Blocks in use, in the order of the list: from its entry *at on. */
static void want_used(struct mft_job *j, const struct program_mft *m, uint32_t sw,
                      uint32_t blocks, uint32_t *at)
{
	unsigned positions = j->node->n_ports / MFT_POSITION_PORTS + 1U;

	for (unsigned pos = 0; pos < positions; pos++) {
		for (uint32_t i = 0; i < m->n_used; i++) {
			const struct mft_block *b = &m->blocks[*at];
			uint8_t data[MFT_BLOCK_BYTES] = { 0 };

			if (*at < m->n && b->sw == sw && b->position == pos &&
			    b->block == m->used[i]) {
				to_wire(b, data);
				++*at;
			}
			if (m->used[i] < blocks) {
				want(j, pos << POSITION_SHIFT | m->used[i], data);
			}
		}
	}
}

/* Blocks that were in use and are not. */
static void want_cleared(struct mft_job *j, const struct program_mft *m)
{
	static const uint8_t none[MFT_BLOCK_BYTES];

	for (uint32_t i = 0; i < j->copy->n_mft; i++) {
		uint32_t mod = j->copy->mft[i].mod;

		if (!in_use(m, mod & ((1U << POSITION_SHIFT) - 1))) {
			want(j, mod, none);
		}
	}
}

static int job_init(struct mft_job *j, struct program *p, const struct program_mft *m,
                    uint32_t sw, struct arena *arena, uint32_t *at)
{
	struct disc_node *n = p->disc->of[p->disc->g->switches[sw]];
	unsigned positions = n->n_ports / MFT_POSITION_PORTS + 1U;
	uint32_t cap = (uint32_t)field_get(n->switch_info, SI_MULTICAST_FDB_CAP);

	*j = (struct mft_job){ .p = p, .node = n };
	j->copy = lft_copy_get(p->copies, n->guid);
	if (j->copy == NULL) {
		return -ENOMEM;
	}
	j->send = arena_array(arena, positions * (size_t)m->n_used + j->copy->n_mft,
	                      sizeof(*j->send));
	if (j->send == NULL) {
		return -ENOMEM;
	}
	want_used(j, m, sw, (cap + MFT_BLOCK_MLIDS - 1) / MFT_BLOCK_MLIDS, at);
	want_cleared(j, m);
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
		ret = job_init(&p->mft_jobs[i], p, m, i, arena, &at);
		if (ret == E_OK) {
			send_on(&p->mft_jobs[i]);
			ret = p->ret;
		}
	}
	return ret;
}
