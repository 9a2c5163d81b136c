/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A round goes over the lists of tables, which live from sweep to sweep, so a heavy sweep
 * in between does not end it. Tables of nodes that are not there are passed over. All
 * switches are asked for their first block, then for the second, and so on: reads in flight
 * go to different nodes.
 *
 * A node that does not answer is left to the light sweep, which looks for that.
 */
#include "sa/sm/sweep/audit.h"

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "sa/sm/sm.h"

enum { STEP_READS = 2, STEP_MS = 2, LINES = 10, LINES_MS = 60000, BLOCK_TEXT = 24 };

static const char *const source = "audit";

/* A block of a table. t NULL: PortInfo of the port with this number. */
struct place {
	struct table *t;
	struct disc_node *node;
	uint32_t block;
};

static unsigned port_of(const struct place *w)
{
	return w->t != NULL ? table_block_port(w->t, w->block) : w->block;
}

static uint32_t mod_of(const struct place *w)
{
	return w->t != NULL ? table_mod(w->node, w->t, w->block)
	                    : DISC_PORT_MOD | w->block;
}

static const char *name_of(const struct place *w)
{
	return w->t != NULL ? table_kinds[w->t->kind].name : "PortInfo";
}

/* \return false: nothing is known of this block, or its node is not there. Sets w->node. */
static bool locate(const struct audit *a, struct place *w)
{
	const struct disc *d = &a->job->disc;
	const struct table *t = w->t;
	uint32_t node = graph_node_by_guid(d->g, t != NULL ? t->guid : w->node->guid);
	bool egress = t != NULL && table_kinds[t->kind].unit == TABLE_UNIT_EGRESS;

	w->node = node != GRAPH_NONE ? d->of[node] : NULL;
	if (w->node == NULL ||
	    (t != NULL && (w->block >= table_live(t) || !table_is_sure(t, w->block)))) {
		return false;
	}
	if (port_of(w) > w->node->n_ports) {
		return false;
	}
	if (t == NULL) {
		return program_port_is_set(w->node, w->block);
	}
	if (egress && (table_find_egress(&a->sm->tables, t->kind, w->node) != t ||
	               !w->node->ports[port_of(w)].has_info)) {
		return false;
	}
	return table_length(w->node, t, w->block) != 0;
}

/* --- what was read ------------------------------------------------------------------- */

/* Compares what was read with the copy, and lets the next sweep repair it. \return NULL: they do not
 * differ; what differs. */
static const char *take_block(struct audit *a, const struct place *w, const uint8_t *data,
                              const uint8_t *native, char block[BLOCK_TEXT])
{
	struct table *t = w->t;
	size_t len;

	if (t == NULL) { /* the sweep reads it anyway */
		return program_port_differs(&a->job->program, w->node, w->block, data,
		                            native);
	}
	len = table_length(w->node, t, w->block);
	if (data == NULL || memcmp(table_block(t, w->block), data, len) == 0 ||
	    program_adaptive_explains(&a->sm->tables, w->node, t, w->block, data)) {
		return NULL;
	}
	if (table_kinds[t->kind].flags & TABLE_OURS) {
		t->state[w->block] |= TABLE_DOUBTFUL;
		table_note_change(t);
		a->sm->settled = false;
	} else {
		table_put(t, w->block, data, len);
	}
	snprintf(block, BLOCK_TEXT, "block 0x%x", (unsigned)mod_of(w));
	return block;
}

static void note_event(struct audit *a, const struct place *w, const char *what,
                       const char *why)
{
	char detail[EVENT_DETAIL_BYTES], skipped[LOG_SKIPPED_BYTES];
	struct fabric_event e = { .kind = EVENT_TABLE_REPAIRED,
		                  .port = port_of(w),
		                  .detail = detail };

	if (!log_allowed(&a->lines, sm_now(a->sm), LINES, LINES_MS, skipped)) {
		return;
	}
	snprintf(detail, sizeof(detail), "%s, %s, %s; %s%s", name_of(w), what, why,
	         w->t != NULL ? table_kinds[w->t->kind].then : "it is set again",
	         skipped);
	events_set_node(&e, a->job->disc.g, w->node->graph_node);
	events_note(a->sm, &e);
}

static void report(struct audit *a, const struct place *w, const char *what)
{
	const char *place = disc_place(&a->job->disc, w->node, port_of(w));
	const char *why = a->cause == AUDIT_LATE
	                          ? "holds what an older Set brought, which came late"
	                          : "was changed by somebody else";

	a->n_differ += a->cause == AUDIT_ROUND;
	a->sm->status.tables_changed++;
	note_event(a, w, what, why);
	if (!a->running && a->cause == AUDIT_ROUND) {
		return; /* it is part of a heavy sweep */
	}
	if (w->t == NULL) {
		sm_request_local(a->sm, &w->node->guid, 1,
		                 "audit: %s in PortInfo of %s %s", what, place, why);
	} else {
		sm_request_heavy(a->sm, "audit: %s of %s %s", name_of(w), place, why);
	}
	if (a->cause != AUDIT_LATE) {
		audit_suspect(a,
		              graph_port(a->job->disc.g, w->node->graph_node,
		                         (uint8_t)port_of(w)),
		              "a table of it was changed");
	}
}

/* NULL: the answer is too short. */
static const uint8_t *data_of(const struct place *w, const struct smp_reply *r)
{
	const struct table_request q = { .t = w->t };

	return w->t != NULL ? table_reply_block(&q, r, 0) : r->data;
}

static void submit_reads(struct audit *a);

static void on_read(void *ctx, const struct smp_reply *r)
{
	struct audit_read *read = ctx;
	struct audit *a = read->a;
	struct place w = { .t = read->t, .node = read->node, .block = read->block };
	char block[BLOCK_TEXT];
	const char *what;

	read->a = NULL;
	if (r->ret == E_OK) {
		a->n_read += a->cause == AUDIT_ROUND;
		/* still the same block: its copy may have been forgotten meanwhile */
		if (locate(a, &w) && mod_of(&w) == r->mod) {
			what = take_block(a, &w, data_of(&w, r), r->native, block);
			if (what != NULL) {
				report(a, &w, what);
			}
		}
	} else if (r->ret == E_TIMEOUT) {
		smp_dest_revive(r->dest);
	}
	submit_reads(a);
}

/* --- the round ----------------------------------------------------------------------- */

static bool is_among(const struct audit_cursor *c, uint64_t guid)
{
	return (c->only[0] == 0 && c->only[1] == 0) || guid == c->only[0] ||
	       guid == c->only[1];
}

/* The item of a kind in the order of its list. \return Blocks that it has; 0: not audited. */
static uint32_t item_of(const struct audit *a, const struct audit_cursor *c,
                        struct place *ret_place)
{
	uint32_t n;

	if (c->kind == AUDIT_PORTS) {
		ret_place->t = NULL;
		ret_place->node = a->job->disc.of[c->item];
		n = ret_place->node->n_ports + 1U;
	} else {
		ret_place->t = a->sm->tables.of[c->kind].items[c->item];
		ret_place->node = NULL;
		n = table_live(ret_place->t);
	}
	return is_among(c,
	                ret_place->t != NULL ? ret_place->t->guid : ret_place->node->guid)
	               ? n
	               : 0;
}

static uint32_t n_items(const struct audit *a, unsigned kind)
{
	if (kind == AUDIT_PORTS) {
		return a->job->disc.g->n_nodes;
	}
	return table_kinds[kind].flags & TABLE_AUDITED ? a->sm->tables.of[kind].n : 0;
}

/* Moves to the next block. \return false: the cursor is at its end. */
static bool next_block(const struct audit *a, struct audit_cursor *c,
                       struct place *ret_place)
{
	while (c->kind < AUDIT_KIND_COUNT) {
		while (c->item < n_items(a, c->kind)) {
			bool has = c->block < item_of(a, c, ret_place);

			c->item++;
			if (has) {
				c->any = true;
				ret_place->block = c->block;
				return true;
			}
		}
		c->item = 0;
		c->block++;
		if (!c->any) {
			c->kind++;
			c->block = 0;
		}
		c->any = false;
	}
	return false;
}

static uint32_t count_blocks(const struct audit *a)
{
	struct audit_cursor c = { 0 };
	struct place w;
	uint32_t n = 0;

	while (next_block(a, &c, &w)) {
		n += locate(a, &w);
	}
	return n;
}

/* The next block that a late Set may have undone. \return false: there is none any more. */
static bool next_late(struct audit *a, struct place *ret_place)
{
	for (; a->late.kind < TABLE_KIND_COUNT; a->late.kind++, a->late.item = 0) {
		const struct table_list *l = &a->sm->tables.of[a->late.kind];
		bool may_be = table_kinds[a->late.kind].flags & TABLE_MAY_BE_LATE;

		for (; may_be && a->late.item < l->n; a->late.item++, a->late.block = 0) {
			struct table *t = l->items[a->late.item];

			while (a->late.block < table_size(t)) {
				uint32_t block = a->late.block++;

				if (t->state[block] & TABLE_LATE_DUE) {
					t->state[block] ^= TABLE_LATE_DUE;
					*ret_place =
						(struct place){ .t = t, .block = block };
					return true;
				}
			}
		}
	}
	return false;
}

static struct audit_read *free_read(struct audit *a)
{
	for (unsigned i = 0; i < AUDIT_WINDOW; i++) {
		if (a->reads[i].a == NULL) {
			return &a->reads[i];
		}
	}
	return NULL;
}

static void submit_reads(struct audit *a)
{
	struct audit_cursor *at = a->cause == AUDIT_LOOK ? &a->look.at : &a->round;
	struct audit_read *read;
	struct place w;

	while (a->left > 0 && (read = free_read(a)) != NULL &&
	       (a->cause == AUDIT_LATE ? next_late(a, &w) : next_block(a, at, &w))) {
		struct smp_request o = { .method = UMAD_METHOD_GET,
			                 .retries = a->sm->d.config->transaction_retries,
			                 .done = on_read,
			                 .ctx = read };

		if (a->cause == AUDIT_ROUND && w.t == NULL && !a->running) {
			return; /* a heavy sweep has read them */
		}
		if (!locate(a, &w)) {
			continue;
		}
		if (w.t != NULL) {
			table_address(w.node, w.t, w.block, &o);
		} else {
			o.attr = UMAD_SM_ATTR_PORT_INFO;
			o.mod = mod_of(&w);
			o.dest = w.node->ports[w.block].dest;
		}
		if (o.dest == NULL || o.dest->dead) {
			continue;
		}
		*read = (struct audit_read){ a, w.t, w.node, w.block };
		if (smp_submit(a->sm->smp, &o) != E_OK) {
			read->a = NULL;
			return; /* out of memory: this block waits for the next round */
		}
		a->left--;
		a->n_begun += a->cause == AUDIT_ROUND;
	}
}

static void start_round(struct audit *a)
{
	memset(&a->round, 0, sizeof(a->round));
	a->n_read = a->n_differ = a->n_begun = 0;
	a->began = true;
	a->last_ms = a->next_step_ms = sm_now(a->sm);
}

static uint64_t interval_ms(const struct audit *a)
{
	return (uint64_t)a->sm->d.config->audit_interval * 1000;
}

/* Says how fast the round goes, and once if it takes longer than it should. */
static void tell_pace(struct audit *a)
{
	uint64_t ms = (uint64_t)a->n_blocks * STEP_MS / STEP_READS, most = interval_ms(a);
	bool slow = ms > most;

	if (slow && !a->slow) {
		log_message(
			MSG_SM_AUDIT_SLOW, source,
			"a round of the audit reads %u blocks, which takes %llu s at %d packets a second, and not audit_interval, %llu s",
			a->n_blocks, (unsigned long long)(ms + 999) / 1000,
			1000 * STEP_READS / STEP_MS, (unsigned long long)most / 1000);
	} else {
		log_info(source, "a round of %u blocks begins, %.1f packets a second",
		         a->n_blocks,
		         slow ? 1000.0 * STEP_READS / STEP_MS
		              : 1000.0 * a->n_blocks / (double)most);
	}
	a->slow = slow;
}

static void end_round(struct audit *a)
{
	double s = (double)(sm_now(a->sm) - a->last_ms) / 1000;

	a->running = false;
	a->sm->status.audits++;
	if (a->n_differ) {
		log_message(
			MSG_SM_TABLES_CHANGED, source,
			"%u blocks of tables read back in %.1f s, %u were changed by somebody else",
			a->n_read, s, a->n_differ);
	} else {
		log_info(source,
		         "%u blocks of tables read back in %.1f s, all are as they were",
		         a->n_read, s);
	}
}

/* --- what is read first ------------------------------------------------------------------ */

/* Was this node read for suspicion lately? If not, it is now. */
static bool looked_lately(struct audit *a, uint64_t guid)
{
	uint32_t now = (uint32_t)(sm_now(a->sm) / 1000);
	uint32_t last = hash_get(&a->look.last, guid);

	return (last != HASH_NONE && now - last < AUDIT_LOOK_GAP_MS / 1000) ||
	       hash_put(&a->look.last, guid, now) != E_OK;
}

void audit_suspect(struct audit *a, uint32_t port, const char *why)
{
	const struct job *j = sm_known_job(a->sm);
	const struct graph *g = j != NULL ? j->disc.g : NULL;
	char skipped[LOG_SKIPPED_BYTES];
	const struct port *p;
	uint64_t *wait;

	if (g == NULL || port >= g->n_ports || interval_ms(a) == 0 || !a->sm->status.up ||
	    !a->sm->status.master || a->look.n_wait == AUDIT_LOOKS) {
		return;
	}
	p = &g->ports[port];
	if (looked_lately(a, g->nodes[p->node].guid)) {
		return;
	}
	wait = a->look.wait[a->look.n_wait++];
	wait[0] = g->nodes[p->node].guid;
	wait[1] = 0;
	if (p->peer != GRAPH_NONE && g->nodes[p->node].type != NODE_SWITCH &&
	    !looked_lately(a, g->nodes[g->ports[p->peer].node].guid)) {
		wait[1] = g->nodes[g->ports[p->peer].node].guid;
	}
	if (log_allowed(&a->look.lines, sm_now(a->sm), LINES, LINES_MS, skipped)) {
		log_info(source, "tables of %s%s are read back at once: %s%s",
		         disc_place(&j->disc, j->disc.of[p->node], p->num),
		         wait[1] != 0 ? " and of its switch" : "", why, skipped);
	}
}

/* The reads of the next one that waits, when the last one has none left. */
static void step_look(struct audit *a)
{
	if (!a->look.running) {
		a->look.at = (struct audit_cursor){ .only = { a->look.wait[0][0],
			                                      a->look.wait[0][1] } };
		a->look.running = true;
		memmove(a->look.wait, a->look.wait + 1,
		        --a->look.n_wait * sizeof(a->look.wait[0]));
	}
	submit_reads(a);
	a->look.running = a->left == 0;
}

/* --- steps ------------------------------------------------------------------------------ */

static uint64_t late_deadline(const struct audit *a)
{
	return a->late.due_ms != 0 ? a->late.due_ms : UINT64_MAX;
}

static uint64_t round_deadline(const struct audit *a)
{
	if (interval_ms(a) == 0) {
		return UINT64_MAX;
	}
	return a->running ? a->next_step_ms : a->began ? a->last_ms + interval_ms(a) : 0;
}

static bool look_is_due(const struct audit *a)
{
	return a->look.running || a->look.n_wait > 0;
}

uint64_t audit_deadline(const struct audit *a)
{
	uint64_t late = late_deadline(a), round = round_deadline(a), at;

	if (!a->sm->status.up) {
		return UINT64_MAX;
	}
	at = look_is_due(a) ? 0 : late < round ? late : round;
	return at > a->free_ms ? at : a->free_ms;
}

void audit_swept(struct audit *a)
{
	if (a->late.due_ms == 0 && tables_late_due(&a->sm->tables)) {
		a->late.due_ms = sm_now(a->sm) + AUDIT_LATE_MS;
		a->late.kind = a->late.item = a->late.block = 0;
	}
}

static void step_late(struct audit *a)
{
	submit_reads(a);
	a->late.due_ms = sm_now(a->sm);
	if (a->left != 0) { /* all are read; others may have been noted meanwhile */
		a->late.due_ms = 0;
		audit_swept(a);
	}
}

static void step_round(struct audit *a)
{
	uint32_t begun;

	if (!a->running) {
		start_round(a);
		a->running = true;
		a->n_blocks = count_blocks(a);
		tell_pace(a);
	}
	begun = a->n_begun;
	submit_reads(a);
	a->next_step_ms = sm_now(a->sm);
	if (a->n_begun < a->n_blocks) {
		uint64_t due = a->last_ms + interval_ms(a) * a->n_begun / a->n_blocks;

		a->next_step_ms = due > a->next_step_ms ? due : a->next_step_ms;
	}
	if (a->round.kind == AUDIT_KIND_COUNT && a->n_begun == begun) {
		end_round(a);
	}
}

void audit_step(struct audit *a, struct job *j)
{
	uint64_t now = sm_now(a->sm);
	bool looked = a->cause == AUDIT_LOOK;

	memset(a->reads, 0, sizeof(a->reads));
	a->job = j;
	a->left = STEP_READS;
	a->free_ms = now + STEP_MS;
	if (now >= late_deadline(a)) {
		a->cause = AUDIT_LATE;
		step_late(a);
	} else if (look_is_due(a) && (!looked || now < round_deadline(a))) {
		a->cause = AUDIT_LOOK;
		step_look(a);
	} else {
		a->cause = AUDIT_ROUND;
		step_round(a);
	}
}

void audit_start_all(struct audit *a, struct job *j)
{
	memset(a->reads, 0, sizeof(a->reads));
	a->job = j;
	a->running = false;
	a->cause = AUDIT_ROUND;
	start_round(a);
	a->left = UINT32_MAX;
	submit_reads(a);
}

void audit_end_all(struct audit *a)
{
	end_round(a);
}

void audit_done(struct audit *a)
{
	hash_done(&a->look.last);
}
