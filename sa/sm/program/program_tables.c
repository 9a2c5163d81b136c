/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Forwarding tables of switches, unicast and multicast: read back where they are not
 * known, sent by difference.
 *
 * Each switch has a cursor over its blocks and a few requests in flight. An answer moves
 * the cursor on, so all switches advance together and no queue of blocks is ever built.
 * LinearFDBTop follows when the last block of the switch is acknowledged, so a LID is
 * within the table only after its entry is. A shadow copy is trusted while LinearFDBTop is
 * what the copy says, because a switch that restarts comes back with 0.
 *
 * With smp_routing lid a switch starts when the routes to it pass only switches that have all
 * entries of the step (waves.h). It is opened first: the block with the SM's LID and the block
 * with its own LID, up to the parent by LID. A switch that forwards nothing so far, as after
 * its start, gets LinearFDBTop then, too; there is no traffic that its other entries could
 * mislead. The other blocks go by LID, four at a time for each switch in turn, so that they
 * are striped over the switches of a wave. A parent through which an SMP was not answered is
 * not used as one again.
 *
 * A transition with stages is sent in steps: the cursors run over all blocks once for each
 * step, and a step begins when all switches have confirmed the one before. In a step each
 * entry is the old or the new one, by the stage of its LID.
 *
 * Multicast: the cursor runs over the list of blocks of a switch that differ from the
 * copy. Blocks that held a group and hold none any more are cleared. Blocks that no group
 * uses and of which nothing is known stay as they are, because no group has an MLID there.
 * While tables of neighbours change one after another a packet can be lost, or circulate
 * until its switches agree again. Blocks are not ordered to prevent that.
 *
 * Longer than most: unicast and multicast tables share the cursor, the window and the order in which
 * switches get blocks.
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
#include "routing/proof/transition.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/shadow.h"
#include "sa/sm/program/program.h"
#include "sa/sm/program/waves.h"

enum { IN_FLIGHT = 4, POSITION_SHIFT = 28 };

struct lft_job {
	struct program *p;
	struct disc_node *node;
	struct shadow_switch *copy;
	uint32_t sw;   /* switch of the graph */
	uint32_t next; /* block to look at */
	uint32_t end;  /* one past the last */
	uint32_t in_flight;
	bool failed, top_sent;
	enum { JOB_WAITING, JOB_OPENING, JOB_FILLING, JOB_ENDED } state;
	struct shadow_switch *parent; /* through which it is opened; NULL: directed */
	bool by_lid;                  /* when it is open */
};

static void submit(struct lft_job *j, struct smp_request *o)
{
	int ret;

	o->dest = &j->node->dest;
	o->retries = 2 * j->p->config->transaction_retries + 1;
	o->ctx = j;
	ret = smp_submit(j->p->smp, o);
	if (ret != E_OK) {
		j->p->ret = ret;
		return;
	}
	j->in_flight++;
}

static int lft_jobs_new(struct program *p)
{
	const struct graph *g = p->disc->g;

	p->lft_jobs = arena_array(p->arena, g->n_switches, sizeof(*p->lft_jobs));
	if (p->lft_jobs == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_switches; i++) {
		struct disc_node *n = p->disc->of[g->switches[i]];

		p->lft_jobs[i] = (struct lft_job){ .p = p, .node = n, .sw = i };
		p->lft_jobs[i].copy = shadow_switch_get(p->shadow, n->guid);
		if (p->lft_jobs[i].copy == NULL) {
			return -ENOMEM;
		}
	}
	return E_OK;
}

/* --- reading back ----------------------------------------------------------------- */

static void read_blocks(struct lft_job *j);

static void on_lft_read(void *ctx, const struct smp_reply *r)
{
	struct lft_job *j = ctx;

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

static void read_blocks(struct lft_job *j)
{
	while (j->next < j->end && j->in_flight < IN_FLIGHT && j->p->ret == E_OK) {
		uint32_t block = j->next++;

		/* Blocks whose Set was not answered are unknown, too. */
		if (j->copy->block[block] == NULL) {
			submit(j, &(struct smp_request){ .method = UMAD_METHOD_GET,
			                               .attr = UMAD_SM_ATTR_LINEAR_FT,
			                               .mod = block,
			                               .done = on_lft_read });
		}
	}
}

int program_read_lfts(struct program *p)
{
	int ret = lft_jobs_new(p);

	for (uint32_t i = 0; i < p->disc->g->n_switches && ret == E_OK; i++) {
		struct lft_job *j = &p->lft_jobs[i];
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

/* The lanes of the tables that are sent, for the next routing. */
static int keep_lanes(struct program *p)
{
	const struct lanes *l = p->lanes;
	int ret = E_OK;

	p->shadow->n_lanes = l->rule != NULL ? 0 : l->n;
	for (uint32_t i = 0; i < p->disc->g->n_switches && ret == E_OK; i++) {
		const uint8_t *row = l->rows != NULL && l->rule == NULL
		                             ? l->rows + i * l->stride
		                             : NULL;

		ret = shadow_lanes_put(p->lft_jobs[i].copy, row, p->lft->n_lids);
	}
	return ret;
}

/* --- sending ---------------------------------------------------------------------- */

static void send_blocks(struct lft_job *j);
static void go_on(struct lft_job *j);

static void on_top_set(void *ctx, const struct smp_reply *r)
{
	struct lft_job *j = ctx;

	j->in_flight--;
	if (program_answered(j->p, j->node, 0, r->ret, r->status, "Set(SwitchInfo)")) {
		memcpy(j->node->switch_info, r->data, sizeof(j->node->switch_info));
		j->copy->top = (uint32_t)field_get(r->data, SI_LINEAR_FDB_TOP);
	} else {
		j->failed = true;
	}
	go_on(j);
}

static void send_top(struct lft_job *j)
{
	uint8_t want[64];

	j->top_sent = true;
	memcpy(want, j->node->switch_info, sizeof(want));
	field_set(want, SI_LINEAR_FDB_TOP, j->p->lids->top);
	field_set(want, SI_MULTICAST_FDB_TOP, 0); /* the whole table counts */
	field_set(want, SI_LIFE_TIME_VALUE, j->p->config->packet_life_time);
	if (memcmp(want, j->node->switch_info, sizeof(want)) == 0) {
		return;
	}
	field_set(want, SI_PORT_STATE_CHANGE,
	          0); /* 0 keeps the bit; discovery clears it */
	submit(j, &(struct smp_request){ .method = UMAD_METHOD_SET,
	                                 .attr = UMAD_SM_ATTR_SWITCH_INFO,
	                                 .data = want,
	                                 .done = on_top_set });
}

static void on_lft_set(void *ctx, const struct smp_reply *r)
{
	struct lft_job *j = ctx;
	uint8_t *known = j->copy->block[r->mod];

	j->in_flight--;
	if (r->repeated) {
		shadow_lft_note_late(j->p->shadow, j->copy, r->mod);
	}
	if (!program_answered(j->p, j->node, 0, r->ret, r->status,
	                      "Set(LinearForwardingTable)")) {
		j->failed = true;
		j->next = j->end;
		shadow_lft_drop(j->copy, r->mod); /* it may or may not have arrived */
	} else if (known == NULL || j->copy->differs[r->mod] ||
	           memcmp(known, r->data, LFT_BLOCK_LIDS) != 0) {
		j->p->ret = shadow_lft_put(j->copy, r->mod, r->data) != E_OK ? -ENOMEM
		                                                             : j->p->ret;
	}
	go_on(j);
}

/* An entry as it should be after this step, from the old and the new one. */
static uint8_t entry_after_step(const struct program *p, uint32_t lid, uint8_t old,
                                uint8_t want)
{
	unsigned stage = p->transition->stage[lid];

	if (stage == TRANSITION_WITHDRAWN && p->lft_step + 1 == program_lft_steps(p)) {
		return old == want ? old : LFT_NO_ROUTE;
	}
	return stage > p->lft_step ? old : want;
}

/* The block as it should be after this step. Where nothing is known of the old entries,
 * they count as none, as they do in the plan. */
static void fill_block(const struct lft_job *j, uint32_t block, uint8_t *ret)
{
	const struct program *p = j->p;
	const uint8_t *want = lft_row(p->lft, j->sw) + (size_t)block * LFT_BLOCK_LIDS;
	const uint8_t *known = j->copy->block[block];
	uint32_t first = block * LFT_BLOCK_LIDS;

	memcpy(ret, want, LFT_BLOCK_LIDS);
	if (p->lft_step >= program_lft_steps(p)) {
		return;
	}
	for (uint32_t k = 0; k < LFT_BLOCK_LIDS && first + k < p->lft->n_lids; k++) {
		ret[k] = entry_after_step(
			p, first + k, known != NULL ? known[k] : LFT_NO_ROUTE, want[k]);
	}
}

static void send_block(struct lft_job *j, uint32_t block)
{
	const uint8_t *known = j->copy->block[block];
	uint8_t want[LFT_BLOCK_LIDS];

	fill_block(j, block, want);
	if (known == NULL || j->copy->differs[block] ||
	    memcmp(known, want, LFT_BLOCK_LIDS) != 0) {
		j->p->n_lft_sets++;
		submit(j, &(struct smp_request){ .method = UMAD_METHOD_SET,
		                                 .attr = UMAD_SM_ATTR_LINEAR_FT,
		                                 .mod = block,
		                                 .data = want,
		                                 .done = on_lft_set });
	}
}

static void send_blocks(struct lft_job *j)
{
	while (j->next < j->end && j->in_flight < IN_FLIGHT && j->p->ret == E_OK) {
		send_block(j, j->next++);
	}
	if (j->next == j->end && j->in_flight == 0 && !j->failed && !j->top_sent &&
	    j->p->lft_step >= program_lft_steps(j->p)) {
		send_top(j);
	}
}

/* --- waves ------------------------------------------------------------------------- */

static uint32_t top_of(const struct lft_job *j)
{
	return (uint32_t)field_get(j->node->switch_info, SI_LINEAR_FDB_TOP);
}

static uint32_t lid_of(const struct lft_job *j)
{
	const struct graph *g = j->p->disc->g;

	return j->p->lids->of[g->nodes[g->switches[j->sw]].first_port].base;
}

/* wave_entry_f: what a switch has after this step. */
static uint8_t wave_entry(void *ctx, uint32_t sw, uint32_t lid)
{
	const struct program *p = ctx;
	const struct lft_job *j = &p->lft_jobs[sw];
	const uint8_t *known = j->copy->block[lid / LFT_BLOCK_LIDS];
	uint8_t want = lft_row(p->lft, sw)[lid];

	if (p->waves->state[sw] == WAVE_FINISHED && lid > top_of(j)) {
		return LFT_NO_ROUTE;
	}
	if (p->lft_step >= program_lft_steps(p)) {
		return want;
	}
	return entry_after_step(
		p, lid, known != NULL ? known[lid % LFT_BLOCK_LIDS] : LFT_NO_ROUTE, want);
}

static void fill(struct lft_job *j)
{
	j->state = JOB_FILLING;
	send_blocks(j);
	go_on(j);
}

/* Sends what it takes that the switch answers by LID. */
static void open_switch(struct lft_job *j)
{
	uint32_t own = lid_of(j) / LFT_BLOCK_LIDS, of_sm = j->p->sm_lid / LFT_BLOCK_LIDS;

	j->state = JOB_OPENING;
	send_block(j, own);
	if (of_sm != own) {
		send_block(j, of_sm);
	}
	if (top_of(j) == 0) {
		send_top(j);
	}
	go_on(j);
}

/* Starts a switch, if it has to wait for no other. */
static void start_job(struct lft_job *j)
{
	struct program *p = j->p;
	uint32_t top = top_of(j), needed = lid_of(j) > p->sm_lid ? lid_of(j) : p->sm_lid;
	bool opens = top >= needed || (top == 0 && p->lft_step >= program_lft_steps(p));
	struct wave_route r;

	j->parent = NULL;
	j->node->dest.lid = j->node->dest.via_lid = 0;
	j->node->dest.not_by_lid = false;
	if (!waves_find(p->waves, j->sw, &r)) {
		return;
	}
	p->n_active++;
	j->by_lid = r.by_lid && opens;
	if (!j->by_lid) {
		fill(j);
		return;
	}
	if (r.parent != GRAPH_NONE && !p->lft_jobs[r.parent].copy->not_mixed) {
		j->parent = p->lft_jobs[r.parent].copy;
		j->node->dest.via_lid = lid_of(&p->lft_jobs[r.parent]);
		j->node->dest.via_port = r.port;
	}
	open_switch(j);
}

/* The switch is open: from here on by LID. */
static void opened(struct lft_job *j)
{
	struct smp_dest *d = &j->node->dest;

	if (d->not_by_lid && !d->dead && j->parent != NULL) {
		j->parent->not_mixed = true;
	}
	d->via_lid = 0;
	d->not_by_lid = false;
	d->lid = j->failed ? 0 : lid_of(j);
	fill(j);
}

/* Those that wait for each other, or for one that is not finished, are not reached by LID. */
static void start_rest(struct program *p)
{
	for (uint32_t i = 0; i < p->disc->g->n_switches && p->ret == E_OK; i++) {
		struct lft_job *j = &p->lft_jobs[i];

		if (j->state == JOB_WAITING) {
			p->n_active++;
			fill(j);
		}
	}
}

static void end_job(struct lft_job *j)
{
	struct program *p = j->p;
	uint32_t sw;

	j->state = JOB_ENDED;
	waves_end(p->waves, j->sw, !j->failed && p->ret == E_OK);
	while ((sw = waves_take(p->waves, j->sw)) != GRAPH_NONE) {
		if (p->lft_jobs[sw].state == JOB_WAITING) {
			start_job(&p->lft_jobs[sw]);
		}
	}
	p->n_active--;
}

/* After each answer, and when there was nothing to send. */
static void go_on(struct lft_job *j)
{
	struct program *p = j->p;

	if (j->state == JOB_OPENING && j->in_flight == 0) {
		opened(j);
		return;
	}
	if (j->state != JOB_FILLING) {
		return;
	}
	send_blocks(j);
	if (j->in_flight == 0 && p->waves != NULL && j->state == JOB_FILLING) {
		end_job(j);
		if (p->n_active == 0 && p->waves->n_waiting != 0) {
			start_rest(p);
		}
	}
}

static int start_waves(struct program *p)
{
	const struct graph *g = p->disc->g;

	p->n_active = 1; /* until all had their turn */
	p->waves = arena_alloc(p->arena, sizeof(*p->waves));
	if (p->waves == NULL || waves_init(p->waves, g, p->lids, p->arena) != E_OK) {
		return -ENOMEM;
	}
	p->waves->entry = wave_entry;
	p->waves->ctx = p;
	smp_set_lid(p->smp, p->sm_lid);
	for (uint32_t i = 0; i < g->n_switches && p->ret == E_OK; i++) {
		start_job(&p->lft_jobs[i]);
	}
	p->n_active--;
	if (p->n_active == 0 && p->waves->n_waiting != 0) {
		start_rest(p);
	}
	return p->ret;
}

void program_lfts_end(struct program *p)
{
	const struct graph *g = p->disc->g;

	for (uint32_t i = 0; i < g->n_hosts && p->waves != NULL; i++) {
		uint32_t port = g->hosts[i];
		struct disc_node *n = p->disc->of[g->ports[port].node];

		if (g->ports[port].num == n->entry && waves_reach(p->waves, port)) {
			n->dest.lid = p->lids->of[port].base;
		}
	}
}

void program_end(struct program *p)
{
	p->waves = NULL;
	if (p->smp != NULL) {
		smp_set_lid(p->smp, 0);
	}
}

uint32_t program_lft_steps(const struct program *p)
{
	const struct transition *t = p->transition;

	if (t == NULL || t->stage == NULL || transition_is_free(t)) {
		return 1;
	}
	return (t->n_stages ? t->n_stages : 1) + (t->withdrawn != 0);
}

uint32_t program_drain_ms(const struct program *p)
{
	const struct transition *t = p->transition;
	uint32_t unit = p->config->head_of_queue_lifetime;

	if (p->lft_step + 1 != program_lft_steps(p) || !t->withdrawn || !t->credit_loops) {
		return 0;
	}
	/* A packet waits at most HOQLife, 4.096 us << unit; 20 and more mean for ever. */
	return (uint32_t)((4096ULL << (unit < 20 ? unit : 19)) / 1000000) + 1;
}

/* Entries that get another port. One that had none, or gets none, does not count. */
static uint32_t count_moved(const struct lft_job *j)
{
	const uint8_t *row = lft_row(j->p->lft, j->sw);
	uint32_t n_lids = j->p->lids->top + 1, n = 0;

	for (uint32_t lid = 0; lid < n_lids; lid += LFT_BLOCK_LIDS) {
		const uint8_t *known = j->copy->block[lid / LFT_BLOCK_LIDS];
		uint32_t end =
			n_lids - lid < LFT_BLOCK_LIDS ? n_lids - lid : LFT_BLOCK_LIDS;

		if (known == NULL || memcmp(known, row + lid, end) == 0) {
			continue;
		}
		for (uint32_t k = 0; k < end; k++) {
			n += known[k] != row[lid + k] && known[k] != LFT_NO_ROUTE &&
			     row[lid + k] != LFT_NO_ROUTE;
		}
	}
	return n;
}

static int run_step(struct program *p)
{
	int ret = E_OK;

	for (uint32_t i = 0; i < p->disc->g->n_switches; i++) {
		p->lft_jobs[i].next = 0;
		p->lft_jobs[i].end = p->lids->top / LFT_BLOCK_LIDS + 1;
		p->lft_jobs[i].state = JOB_WAITING;
	}
	if (p->config->smp_routing == SMP_ROUTING_LID) {
		return start_waves(p);
	}
	for (uint32_t i = 0; i < p->disc->g->n_switches && ret == E_OK; i++) {
		fill(&p->lft_jobs[i]);
		ret = p->ret;
	}
	return ret;
}

int program_lfts(struct program *p)
{
	int ret = lft_jobs_new(p);

	ret = ret == E_OK ? keep_lanes(p) : ret;
	for (uint32_t i = 0; i < p->disc->g->n_switches && ret == E_OK; i++) {
		p->n_moved += count_moved(&p->lft_jobs[i]);
	}
	p->lft_step = 1;
	return ret == E_OK ? run_step(p) : ret;
}

int program_lfts_next(struct program *p)
{
	p->lft_step++;
	return run_step(p);
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
