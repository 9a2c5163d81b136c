/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Unicast forwarding tables sent to the switches, by difference and in waves.
 *
 * A wave is a set of switches that get their blocks together: block N of all, and when all have
 * confirmed it, block N + 1. So the entries for a LID change on all of them at nearly the same
 * time. LinearFDBTop follows when the last block is confirmed, so a LID is within the table only
 * after its entry is. By directed routes all switches are one wave.
 *
 * By LID a switch joins the first wave that begins when the routes to it and back pass only
 * switches that have all entries of the step (waves.h). It is opened first: the block with the
 * SM's LID and the block with its own LID, up to the parent by LID. A switch that forwards nothing
 * so far, as after its start, gets LinearFDBTop then, too; there is no traffic that its other
 * entries could mislead.
 *
 * A switch that others wait for is asked for something by LID, unless it has answered so already.
 * A switch that does not answer in time leaves its wave and goes on alone, so it delays the
 * others by one timeout. If it did not answer by LID, it has directed routes for the rest of the
 * sweep. If it has never answered by LID in this sweep, the switches behind it have them, too.
 * The shadow copy remembers such a switch, and a parent that passed nothing on. With
 * smp_routing auto they are then not tried for 1, 3, 7 ... 63 sweeps.
 *
 * A transition with stages is sent in steps: the waves run over all blocks once for each
 * step, and a step begins when all switches have confirmed the one before. In a step each
 * entry is the old or the new one, by the stage of its LID and the rank of the switch. Late switches keep their old entries
 * until the others have theirs; then their own steps follow.
 *
 * Longer than most: a switch, its wave and the steps of a transition move each other on.
 *
 * Source: IBA vol. 1, 14.2.5.11 (LinearForwardingTable); Cornelis CN5000 Fabric Manager manual,
 * "Handling Fabric Changes When Using Dispersive Routing".
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/transition.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/shadow.h"
#include "sa/sm/program/program.h"
#include "sa/sm/program/program_opa.h"

enum { IN_FLIGHT = 4 }; /* requests of a switch that goes on alone */

enum job_state {
	JOB_WAITING, /* for another switch */
	JOB_READY,   /* joins the next wave */
	JOB_IN_WAVE,
	JOB_ALONE, /* left its wave */
	JOB_ENDED
};

struct lft_job {
	struct program *p;
	struct disc_node *node;
	struct shadow_switch *copy;
	struct table *t; /* its LFT */
	uint32_t sw;     /* switch of the graph */
	uint32_t next;   /* alone: block to look at */
	uint32_t in_flight;
	enum job_state state;
	bool failed, top_sent;
	bool open;   /* what opens it was sent and confirmed, or is not needed */
	bool by_lid; /* when it is open */
	bool sent;   /* something was */
	bool passed, not_passed; /* mixed SMPs in this sweep */
	bool spared;     /* it could have passed on one, and is remembered not to */
	bool blocked;    /* it is not known to carry SMPs by LID, and passed none on */
	bool not_opened; /* it did not answer a mixed SMP, whose parent passed on others */
	struct lft_job *parent;  /* through which it is opened; NULL: none */
	enum smp_way_reason why; /* it is not asked by LID */
};

/* The switches that get the same blocks at the same time. */
struct lft_wave {
	struct lft_job **jobs,
		**next; /* [n], [n_next]: at work, and ready for the next wave */
	uint32_t n, n_next;
	uint32_t n_alone;    /* switches that left a wave and are at work */
	uint32_t in_flight;  /* requests of those that keep up */
	uint32_t block, end; /* the next one, and one past the last */
	uint32_t stripe_end; /* one past the last of those that are sent now */
	uint8_t *may_differ; /* [end] blocks that some switch may have to get */
	enum { BETWEEN_WAVES, OPENING, FILLING, ENDING, PROVING } at;
};

static void on_late(void *ctx);
static void go_on(struct lft_job *j);

static void submit(struct lft_job *j, struct smp_request *o)
{
	int ret;

	o->dest = &j->node->dest;
	o->retries = 2 * j->p->config->transaction_retries + 1;
	o->ctx = j;
	o->late = on_late;
	ret = smp_submit(j->p->smp, o);
	if (ret != E_OK) {
		j->p->ret = ret;
		return;
	}
	j->sent = true;
	j->in_flight++;
	j->p->wave->in_flight += j->state == JOB_IN_WAVE;
}

static void count_answer(struct lft_job *j)
{
	j->in_flight--;
	j->p->wave->in_flight -= j->state == JOB_IN_WAVE;
}

/* There are all jobs afterwards, or none, because program_end() looks at each of them. */
static int lft_jobs_new(struct program *p)
{
	const struct graph *g = p->disc->g;
	struct lft_wave *w = arena_alloc(p->arena, sizeof(*w));
	struct lft_job *jobs = arena_array(p->arena, g->n_switches, sizeof(*jobs));

	if (w == NULL || jobs == NULL) {
		return -ENOMEM;
	}
	*w = (struct lft_wave){
		.jobs = arena_array(p->arena, g->n_switches, sizeof(struct lft_job *)),
		.next = arena_array(p->arena, g->n_switches, sizeof(struct lft_job *))
	};
	if (w->jobs == NULL || w->next == NULL) {
		return -ENOMEM;
	}
	p->wave = w;
	for (uint32_t i = 0; i < g->n_switches; i++) {
		struct disc_node *n = p->disc->of[g->switches[i]];

		jobs[i] = (struct lft_job){ .p = p, .node = n, .sw = i };
		jobs[i].copy = shadow_switch_get(p->shadow, n->guid);
		jobs[i].t = table_get(p->tables.store, TABLE_LFT, n->guid, 0, 1,
		                      p->lids->top / LFT_BLOCK_LIDS + 1);
		if (jobs[i].copy == NULL || jobs[i].t == NULL) {
			return -ENOMEM;
		}
	}
	p->lft_jobs = jobs;
	return E_OK;
}

/* Some entry of a changed LID may be another one than before. */
static void note_changed_lids(const struct program *p)
{
	for (uint32_t i = 0; i < p->n_changed_lids; i++) {
		p->wave->may_differ[p->changed_lid[i] / LFT_BLOCK_LIDS] = 1;
	}
}

/* Blocks of which nobody knows for sure what the switch has. */
static void note_unsure(const struct lft_job *j)
{
	uint32_t n = table_size(j->t), end = j->p->wave->end;

	for (uint32_t b = 0; b < end; b++) {
		j->p->wave->may_differ[b] |= b >= n || !table_is_sure(j->t, b);
	}
}

/* Finds the blocks to be looked at. The rest of the tables stays where it is in memory. */
static int find_blocks(struct program *p)
{
	struct lft_wave *w = p->wave;

	w->end = p->lids->top / LFT_BLOCK_LIDS + 1;
	w->may_differ = arena_array(p->arena, w->end, sizeof(*w->may_differ));
	if (w->may_differ == NULL) {
		return -ENOMEM;
	}
	if (p->changed_lid == NULL) {
		memset(w->may_differ, 1, w->end);
		return E_OK;
	}
	note_changed_lids(p);
	for (uint32_t i = 0; i < p->n_nodes; i++) {
		uint32_t sw = p->disc->g->nodes[p->nodes[i]].sw;

		if (sw != GRAPH_NONE) {
			note_unsure(&p->lft_jobs[sw]);
		}
	}
	return E_OK;
}

/* The first block from here on that is to be looked at, or end. */
static uint32_t block_from(const struct lft_wave *w, uint32_t block)
{
	while (block < w->end && !w->may_differ[block]) {
		block++;
	}
	return block;
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

/* --- requests ---------------------------------------------------------------------- */

static void on_top_set(void *ctx, const struct smp_reply *r)
{
	struct lft_job *j = ctx;

	count_answer(j);
	if (program_answered(j->p, j->node, 0, r->ret, r->status, "Set(SwitchInfo)")) {
		if (disc_take_switch_info(j->node, j->p->disc->own, r) != E_OK) {
			j->p->ret = -ENOMEM;
		}
		disc_note_change(j->node);
		j->copy->top = disc_lft_top(j->node);
		j->t->live = j->copy->top / LFT_BLOCK_LIDS + 1;
	} else {
		j->failed = true;
	}
	go_on(j);
}

static bool is_last_step(const struct program *p)
{
	return p->lft_step >= program_lft_steps(p);
}

static void send_top(struct lft_job *j)
{
	uint8_t want[64], basis[OPA_BYTES_SWITCH_INFO];
	bool is_opa = j->node->opa_switch_info != NULL,
	     differs = program_opa_plan_switch(j->node, j->p->lids->top, basis);
	uint32_t top = j->p->lids->top;

	if (j->failed || j->top_sent) {
		return;
	}
	j->top_sent = true;
	memcpy(want, j->node->switch_info, sizeof(want));
	/* a higher one is in the basis, which shows like this */
	field_set(want, SI_LINEAR_FDB_TOP, top < OPA_LID_END ? top : OPA_LID_END - 1);
	field_set(want, SI_MULTICAST_FDB_TOP, 0); /* the whole table counts */
	field_set(want, SI_LIFE_TIME_VALUE, j->p->config->packet_life_time);
	if (memcmp(want, j->node->switch_info, sizeof(want)) == 0 && !differs) {
		return;
	}
	field_set(want, SI_PORT_STATE_CHANGE,
	          0); /* 0 keeps the bit; discovery clears it */
	submit(j, &(struct smp_request){ .method = UMAD_METHOD_SET,
	                                 .attr = UMAD_SM_ATTR_SWITCH_INFO,
	                                 .data = want,
	                                 .basis = is_opa ? basis : NULL,
	                                 .done = on_top_set });
}

static void on_lft_set(void *ctx, const struct smp_reply *r)
{
	struct lft_job *j = ctx;

	count_answer(j);
	table_take(j->p->tables.store, j->node, j->t, r->mod, r);
	j->failed |= !program_answered(j->p, j->node, 0, r->ret, r->status,
	                               "Set(LinearForwardingTable)");
	go_on(j);
}

/* An entry as it should be after this step, from the old and the new one. */
static uint8_t entry_after_step(const struct program *p, uint32_t sw, uint32_t lid,
                                uint8_t old, uint8_t want)
{
	const struct transition *t = p->transition;
	uint32_t step = p->lft_step, before = transition_steps(t);

	if (t->late != NULL && t->late[sw] != 0) {
		if (step <= before) {
			return old;
		}
		step -= before;
		t = t->second;
	}
	unsigned stage = t->stage[lid];
	if (step >= transition_steps(t)) {
		return want;
	}
	if (stage == TRANSITION_WITHDRAWN && step + 1 == transition_steps(t)) {
		return old == want ? old : LFT_NO_ROUTE;
	}
	uint32_t rank, at = transition_stage_at(t, step, &rank);
	if (stage != at || rank == UINT32_MAX || old == want) {
		return stage > at ? old : want;
	}
	return transition_rank(p->disc->g, p->lft, sw, lid) > rank ? old : want;
}

/* The block as it should be after this step. Where nothing is known of the old entries,
 * they count as none, as they do in the plan. */
static void fill_block(const struct lft_job *j, uint32_t block, uint8_t *ret_block)
{
	const struct program *p = j->p;
	const uint8_t *want = lft_row(p->lft, j->sw) + (size_t)block * LFT_BLOCK_LIDS;
	const uint8_t *old = table_block(j->t, block);
	uint32_t first = block * LFT_BLOCK_LIDS;

	memcpy(ret_block, want, LFT_BLOCK_LIDS);
	if (is_last_step(p)) {
		return;
	}
	for (uint32_t k = 0; k < LFT_BLOCK_LIDS && first + k < p->lft->n_lids; k++) {
		ret_block[k] = entry_after_step(p, j->sw, first + k, old[k], want[k]);
	}
}

static void send_block(struct lft_job *j, uint32_t block)
{
	uint8_t want[LFT_BLOCK_LIDS];

	fill_block(j, block, want);
	if (!table_holds(j->t, block, want)) {
		table_begin_set(&j->p->tables, j->t, block);
		submit(j, &(struct smp_request){ .method = UMAD_METHOD_SET,
		                                 .attr = UMAD_SM_ATTR_LINEAR_FT,
		                                 .mod = block,
		                                 .data = want,
		                                 .done = on_lft_set });
	}
}

/* --- one switch -------------------------------------------------------------------- */

static uint32_t top_of(const struct lft_job *j)
{
	return disc_lft_top(j->node);
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
	uint8_t want = lft_row(p->lft, sw)[lid];

	if (p->waves->state[sw] == WAVE_FINISHED && lid > top_of(j)) {
		return LFT_NO_ROUTE;
	}
	if (is_last_step(p)) {
		return want;
	}
	return entry_after_step(p, sw, lid, j->t->data[lid], want);
}

/* May the switch be asked by LID as soon as it is open? */
static enum smp_way_reason reason_not_by_lid(const struct lft_job *j,
                                             const struct wave_route *r)
{
	const struct program *p = j->p;
	uint32_t top = top_of(j), needed = lid_of(j) > p->sm_lid ? lid_of(j) : p->sm_lid;
	const struct disc_port *port0 = &j->node->ports[0];

	if (j->node->dest.not_by_lid || j->blocked) { /* in an earlier step */
		return WAY_UNANSWERED;
	}
	if (p->config->smp_routing == SMP_ROUTING_AUTO && j->copy->by_lid.wait != 0) {
		return WAY_REMEMBERED;
	}
	if (!r->by_lid) {
		return r->blocked ? WAY_BEHIND : WAY_NO_ROUTE;
	}
	if (!port0->has_info || disc_lid(port0) != lid_of(j) ||
	    (top < needed && (top != 0 || !is_last_step(p)))) {
		return WAY_NO_ROUTE;
	}
	return WAY_BY_LID;
}

/* Makes a switch ready for the next wave, if it has to wait for no other. */
static void start_job(struct lft_job *j)
{
	struct program *p = j->p;
	struct smp_dest *d = &j->node->dest;
	struct wave_route r;

	j->parent = NULL;
	j->by_lid = false;
	d->lid = d->via_lid = 0;
	if (p->waves == NULL) {
		j->why = WAY_ASKED;
	} else if (!waves_find(p->waves, j->sw, &r)) {
		return;
	} else {
		j->why = reason_not_by_lid(j, &r);
		j->by_lid = j->why == WAY_BY_LID;
	}
	j->open = !j->by_lid;
	if (j->by_lid && r.parent != GRAPH_NONE) {
		struct lft_job *parent = &p->lft_jobs[r.parent];

		j->parent = parent;
		if (p->config->smp_routing != SMP_ROUTING_AUTO ||
		    parent->copy->mixed.wait == 0) {
			d->via_lid = lid_of(parent);
			d->via_port = r.port;
			d->probe = &p->probe_mixed;
		}
	}
	j->state = JOB_READY;
	p->wave->next[p->wave->n_next++] = j;
}

/* Sends what it takes that the switch answers by LID. */
static void open_switch(struct lft_job *j)
{
	uint32_t own = lid_of(j) / LFT_BLOCK_LIDS, of_sm = j->p->sm_lid / LFT_BLOCK_LIDS;

	if (j->open) {
		return;
	}
	send_block(j, own);
	if (of_sm != own) {
		send_block(j, of_sm);
	}
	if (top_of(j) == 0) {
		send_top(j);
	}
	if (j->in_flight == 0) { /* nothing went through the parent */
		j->parent = NULL;
	}
}

/* What the parent made of the SMPs that opened this switch. One that passed on those for other
 * switches is not to blame. */
static void note_parent(struct lft_job *j)
{
	struct lft_job *parent = j->parent;

	if (parent == NULL || j->node->dest.dead) {
		return;
	}
	if (j->node->dest.via_lid == 0) {
		parent->spared = true;
	} else if (!j->node->dest.not_by_lid) {
		parent->passed |= j->p->probe_mixed.answered != 0;
	} else if (parent->passed) {
		j->not_opened = true;
	} else {
		parent->not_passed = true;
	}
}

/* What opens the switch is confirmed: from here on by LID. */
static void opened(struct lft_job *j)
{
	struct smp_dest *d = &j->node->dest;

	if (j->open) {
		return;
	}
	note_parent(j);
	j->open = true;
	d->via_lid = 0;
	d->lid = j->failed || d->not_by_lid ? 0 : lid_of(j);
	d->probe = &j->p->probe_switches;
}

/* Switches that waited for this one are looked at again. */
static void release_waiting(struct lft_job *j)
{
	struct program *p = j->p;
	uint32_t sw;

	while ((sw = waves_take(p->waves, j->sw)) != GRAPH_NONE) {
		if (p->lft_jobs[sw].state == JOB_WAITING) {
			start_job(&p->lft_jobs[sw]);
		}
	}
}

/* SMPs by LID got lost at the switch, and none arrived: no more of them in this step through it. */
static void block(struct lft_job *j)
{
	j->blocked = true;
	waves_end(j->p->waves, j->sw, false);
	release_waiting(j);
}

static void end_job(struct lft_job *j)
{
	struct program *p = j->p;

	p->wave->n_alone -= j->state == JOB_ALONE;
	j->state = JOB_ENDED;
	if (p->waves != NULL) {
		bool lost = j->blocked || j->why == WAY_REMEMBERED;

		waves_end(p->waves, j->sw, !lost && !j->failed && p->ret == E_OK);
		release_waiting(j);
	}
}

/* --- a wave ------------------------------------------------------------------------ */

/* Those that wait for each other, or for one that is not finished, are not reached by LID. */
static void start_rest(struct program *p)
{
	for (uint32_t i = 0; i < p->disc->g->n_switches; i++) {
		struct lft_job *j = &p->lft_jobs[i];

		if (j->state == JOB_WAITING) {
			j->why = WAY_NO_ROUTE;
			j->open = true;
			j->state = JOB_READY;
			p->wave->next[p->wave->n_next++] = j;
		}
	}
}

/* Begins a wave with those that are ready. \return false: there are none. */
static bool begin_wave(struct program *p)
{
	struct lft_wave *w = p->wave;
	struct lft_job **free_list = w->jobs;

	if (w->n_next == 0 && w->n_alone == 0) {
		start_rest(p);
	}
	if (w->n_next == 0) {
		return false;
	}
	w->jobs = w->next;
	w->n = w->n_next;
	w->next = free_list;
	w->n_next = 0;
	w->block = 0;
	w->at = OPENING;
	for (uint32_t i = 0; i < w->n; i++) {
		w->jobs[i]->state = JOB_IN_WAVE;
	}
	for (uint32_t i = 0; i < w->n; i++) {
		open_switch(w->jobs[i]);
	}
	return true;
}

/* Does the same for all that keep up. */
static void for_wave(struct lft_wave *w, void (*f)(struct lft_job *j))
{
	for (uint32_t i = 0; i < w->n; i++) {
		if (w->jobs[i]->state == JOB_IN_WAVE) {
			f(w->jobs[i]);
		}
	}
}

/* Blocks that a switch gets in one go: Omni-Path's have room for several in a MAD. */
static uint32_t stripe_of(const struct program *p)
{
	return smp_is_omni_path(p->smp) ? (uint32_t)OPA_BLOCKS_MOST : 1;
}

static void send_next_blocks(struct lft_job *j)
{
	const struct lft_wave *w = j->p->wave;

	for (uint32_t b = w->block; b < w->stripe_end && !j->failed; b++) {
		send_block(j, b);
	}
}

static void on_proof(void *ctx, const struct smp_reply *r)
{
	struct lft_job *j = ctx;

	(void)r; /* no answer is of no consequence for the tables */
	count_answer(j);
	go_on(j);
}

/* A switch that had new entries and nothing to answer by LID is asked for something, before those
 * behind it rely on it. */
static void prove_by_lid(struct lft_job *j)
{
	const struct smp_dest *d = &j->node->dest;

	if (d->lid != 0 && j->sent && !j->failed && !d->lid_answered && !d->not_by_lid &&
	    j->p->waves->first_waiting[j->sw] != GRAPH_NONE) {
		submit(j, &(struct smp_request){ .method = UMAD_METHOD_GET,
		                                 .attr = UMAD_SM_ATTR_SWITCH_INFO,
		                                 .done = on_proof });
	}
}

/* Blocks from the next one on that follow each other. */
static uint32_t stripe_end(const struct program *p, const struct lft_wave *w)
{
	uint32_t end = w->block + 1;

	while (end < w->end && end - w->block < stripe_of(p) && w->may_differ[end]) {
		end++;
	}
	return end;
}

/* Goes on with the wave while none of it has to answer. */
static void run_wave(struct program *p)
{
	struct lft_wave *w = p->wave;

	while (w->in_flight == 0 && p->ret == E_OK) {
		switch (w->at) {
		case BETWEEN_WAVES:
			if (!begin_wave(p)) {
				return;
			}
			break;
		case OPENING:
			for_wave(w, opened);
			w->at = FILLING;
			break;
		case FILLING:
			w->block = block_from(w, w->block);
			if (w->block < w->end) {
				w->stripe_end = stripe_end(p, w);
				for_wave(w, send_next_blocks);
				w->block = w->stripe_end;
				break;
			}
			w->at = ENDING;
			if (is_last_step(p)) {
				for_wave(w, send_top);
			}
			break;
		case ENDING:
			w->at = PROVING;
			for_wave(w, prove_by_lid);
			break;
		case PROVING:
			for_wave(w, end_job);
			w->at = BETWEEN_WAVES;
			break;
		}
	}
}

/* --- a switch that left its wave ---------------------------------------------------- */

static void run_alone(struct lft_job *j)
{
	struct program *p = j->p;

	if (!j->open && j->in_flight != 0) {
		return;
	}
	opened(j);
	j->next = block_from(p->wave, j->next);
	while (j->next < p->wave->end && j->in_flight < IN_FLIGHT * stripe_of(p) &&
	       !j->failed && p->ret == E_OK) {
		send_block(j, j->next);
		j->next = block_from(p->wave, j->next + 1);
	}
	if (j->in_flight == 0 && is_last_step(p)) {
		send_top(j);
	}
	if (j->in_flight == 0) {
		end_job(j);
	}
}

/* A request was not answered in time. What follows it goes on when it is answered. */
static void on_late(void *ctx)
{
	struct lft_job *j = ctx;
	struct program *p = j->p;
	const struct smp_dest *d = &j->node->dest;
	struct lft_job *parent = j->parent;

	if (d->not_by_lid && d->lid != 0 && !d->lid_answered) {
		block(j);
	} else if (d->not_by_lid && d->via_lid != 0 && p->probe_mixed.answered == 0 &&
	           !parent->node->dest.lid_answered) {
		parent->node->dest.lid = 0;
		block(parent);
	}
	if (j->state == JOB_IN_WAVE) {
		j->state = JOB_ALONE;
		j->next = p->wave->block;
		p->wave->n_alone++;
		p->wave->in_flight -= j->in_flight;
	}
	run_wave(p);
}

/* After each answer. */
static void go_on(struct lft_job *j)
{
	if (j->state == JOB_ALONE) {
		run_alone(j);
	}
	run_wave(j->p);
}

/* --- steps -------------------------------------------------------------------------- */

static int run_step(struct program *p)
{
	const struct graph *g = p->disc->g;
	bool by_lid = p->config->smp_routing != SMP_ROUTING_DIRECTED;

	p->wave->at = BETWEEN_WAVES;
	if (by_lid) {
		p->waves = arena_alloc(p->arena, sizeof(*p->waves));
		if (p->waves == NULL ||
		    waves_init(p->waves, g, p->lids, p->arena) != E_OK) {
			return -ENOMEM;
		}
		p->waves->entry = wave_entry;
		p->waves->ctx = p;
		smp_set_lid(p->smp, p->sm_lid);
	}
	for (uint32_t i = 0; i < g->n_switches; i++) {
		p->lft_jobs[i].state = JOB_WAITING;
	}
	for (uint32_t i = 0; i < g->n_switches; i++) {
		start_job(&p->lft_jobs[i]);
	}
	run_wave(p);
	return p->ret;
}

uint32_t program_lft_steps(const struct program *p)
{
	const struct transition *t = p->transition;

	if (t == NULL || t->stage == NULL || transition_is_free(t)) {
		return 1;
	}
	return transition_steps(t) + (t->second != NULL ? transition_steps(t->second) : 0);
}

uint32_t program_drain_ms(const struct program *p)
{
	const struct transition *t = p->transition;
	uint32_t unit = p->config->head_of_queue_lifetime, step = p->lft_step;

	if (t != NULL && t->second != NULL && step > transition_steps(t)) {
		step -= transition_steps(t);
		t = t->second;
	}
	if (t == NULL || !t->withdrawn || step + 1 != transition_steps(t) ||
	    !t->credit_loops) {
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
		const uint8_t *known = j->t->data + lid;
		uint32_t end =
			n_lids - lid < LFT_BLOCK_LIDS ? n_lids - lid : LFT_BLOCK_LIDS;

		if (!j->p->wave->may_differ[lid / LFT_BLOCK_LIDS] ||
		    memcmp(known, row + lid, end) == 0) {
			continue;
		}
		for (uint32_t k = 0; k < end; k++) {
			n += known[k] != row[lid + k] && known[k] != LFT_NO_ROUTE &&
			     row[lid + k] != LFT_NO_ROUTE;
		}
	}
	return n;
}

int program_lfts(struct program *p)
{
	int ret = lft_jobs_new(p);

	ret = ret == E_OK ? keep_lanes(p) : ret;
	ret = ret == E_OK ? find_blocks(p) : ret;
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

void program_lfts_end(struct program *p)
{
	const struct graph *g = p->disc->g;
	bool avoid = p->config->smp_routing == SMP_ROUTING_AUTO &&
	             p->shadow->hosts_by_lid.wait != 0;

	/* not of a host that is cabled to another one */
	for (uint32_t i = 0;
	     i < g->host_first[g->n_switches] && p->waves != NULL && !avoid; i++) {
		uint32_t port = g->hosts[i], base = p->lids->of[port].base;
		struct disc_node *n = p->disc->of[g->ports[port].node];
		const struct disc_port *dp;

		if (n->copied && n->asked == 0) {
			continue; /* it needs no SMP in a local sweep */
		}
		dp = disc_port_of(p->disc, port);
		if (port != g->sm_port && dp->num == n->entry && dp->has_info &&
		    disc_lid(dp) == base && waves_reach(p->waves, port)) {
			n->dest.lid = base;
			n->dest.probe = &p->probe_hosts;
		}
	}
}

/* What this sweep showed of a way. spared: it had something to carry, and was not tried. */
static void judge_way(struct shadow_way *w, bool answered, bool failed, bool spared)
{
	if (answered) {
		*w = (struct shadow_way){ 0 };
	} else if (failed) {
		shadow_way_failed(w);
	} else if (w->wait != 0 && spared) {
		w->wait--;
	}
}

void program_end(struct program *p)
{
	for (uint32_t i = 0; p->lft_jobs != NULL && i < p->disc->g->n_switches; i++) {
		struct lft_job *j = &p->lft_jobs[i];
		const struct smp_dest *d = &j->node->dest;
		bool failed = d->not_by_lid && !d->lid_answered && !d->dead;

		p->n_way[d->not_by_lid || j->blocked ? WAY_UNANSWERED : j->why] +=
			!j->failed;
		judge_way(&j->copy->mixed, j->passed, j->not_passed, j->spared);
		judge_way(&j->copy->by_lid, d->lid_answered,
		          failed && (d->lid != 0 || j->not_opened),
		          p->tables.n_sets[TABLE_LFT] != 0);
	}
	if (p->waves != NULL) {
		judge_way(&p->shadow->hosts_by_lid, p->probe_hosts.answered != 0,
		          p->probe_hosts.unanswered != 0, p->n_port_sets != 0);
	}
	p->lft_jobs = NULL;
	p->waves = NULL;
	if (p->smp != NULL) {
		smp_set_lid(p->smp, 0);
	}
}
