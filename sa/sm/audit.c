/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A round goes over the lists of copies, which live from sweep to sweep, so a heavy sweep
 * in between does not end it. Copies of nodes that are not there are passed over. All
 * switches are asked for their first block, then for the second, and so on: reads in flight
 * go to different nodes.
 *
 * A node that does not answer is left to the light sweep, which looks for that.
 */
#include "sa/sm/audit.h"

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sm/discover/shadow.h"
#include "sa/sm/program/qos_table.h"
#include "sa/sm/sm.h"

enum { STEP_READS = 2, STEP_MS = 2, LINES = 10, LINES_MS = 60000 };

static const char *const source = "audit";

/* The table and block of a read. */
struct place {
	struct disc_node *node;
	unsigned port;
	struct smp_request request; /* attribute, modifier, destination */
	struct qos_table qos;       /* of AUDIT_QOS */
	const char *component;      /* of AUDIT_PORTS: the first that differs */
};

static const struct {
	const char *table;
	const char *then;
} kinds[AUDIT_KIND_COUNT] = {
	[AUDIT_LFT] = { "LinearForwardingTable", "it is sent again" },
	[AUDIT_MFT] = { "MulticastForwardingTable", "it is sent again" },
	[AUDIT_P_KEYS] = { "P_KeyTable", "it is sent again" },
	[AUDIT_GUIDS] = { "GUIDInfo", "alias GUIDs are sent again" },
	[AUDIT_QOS] = { "SL-to-VL and VL arbitration",
	                "it is sent again if qos is on, else published" },
	[AUDIT_PORTS] = { "PortInfo", "it is set again" },
};

/* Copies of one kind. */
struct copies {
	void *const *items;
	uint32_t n;
};

static struct copies copies_of(const struct audit *a, unsigned kind)
{
	const struct shadow *s = &a->sm->shadow;
	const struct disc *d = &a->job->disc;
	const struct shadow_list *l = kind <= AUDIT_MFT   ? &s->switches
	                              : kind == AUDIT_QOS ? &s->qos
	                                                  : &s->ports;

	return kind == AUDIT_PORTS
	               ? (struct copies){ (void *const *)d->of, d->g->n_nodes }
	               : (struct copies){ l->items, l->n };
}

static uint64_t guid_of(unsigned kind, const void *copy)
{
	switch ((enum audit_kind)kind) {
	case AUDIT_LFT:
	case AUDIT_MFT: return ((const struct shadow_switch *)copy)->guid;
	case AUDIT_P_KEYS:
	case AUDIT_GUIDS: return ((const struct shadow_port *)copy)->guid;
	case AUDIT_QOS: return ((const struct shadow_qos *)copy)->guid;
	case AUDIT_PORTS: return ((const struct disc_node *)copy)->guid;
	case AUDIT_KIND_COUNT: break;
	}
	return 0;
}

/* --- where the blocks of a copy are --------------------------------------------------- */

static uint32_t n_blocks(unsigned kind, const void *copy)
{
	const struct shadow_switch *sw = copy;
	const struct shadow_qos *qos = copy;
	const struct shadow_port *port = copy;
	uint32_t n;

	switch ((enum audit_kind)kind) {
	case AUDIT_LFT:
		n = sw->top / LFT_BLOCK_LIDS + 1;
		return n < LFT_BLOCKS ? n : LFT_BLOCKS;
	case AUDIT_MFT: return sw->n_mft;
	case AUDIT_P_KEYS: return port->table[PORT_P_KEYS].n;
	case AUDIT_GUIDS: return port->table[PORT_GUIDS].n;
	case AUDIT_QOS: return qos->n_out * ((uint32_t)VL_ARB_BLOCKS + qos->n_in);
	case AUDIT_PORTS: return ((const struct disc_node *)copy)->n_ports + 1U;
	case AUDIT_KIND_COUNT: break;
	}
	return 0;
}

static bool locate_switch(const struct shadow_switch *c, unsigned kind, uint32_t index,
                          struct place *ret)
{
	if (kind == AUDIT_LFT ? c->block[index] == NULL || c->differs[index]
	                      : index >= c->n_mft) {
		return false;
	}
	ret->request.attr =
		kind == AUDIT_LFT ? UMAD_SM_ATTR_LINEAR_FT : UMAD_SM_ATTR_MCAST_FT;
	ret->request.mod = kind == AUDIT_LFT ? index : c->mft[index].mod;
	ret->request.dest = &ret->node->dest;
	return true;
}

static bool locate_port(const struct shadow_port *c, unsigned kind, uint32_t index,
                        struct place *ret)
{
	bool keys = kind == AUDIT_P_KEYS;
	bool on_switch = ret->node->type == NODE_SWITCH;

	if (c->port > ret->node->n_ports ||
	    !c->table[keys ? PORT_P_KEYS : PORT_GUIDS].block[index].known) {
		return false;
	}
	ret->port = c->port;
	ret->request.attr = keys ? UMAD_SM_ATTR_PKEY_TABLE : UMAD_SM_ATTR_GUID_INFO;
	ret->request.mod = (keys && on_switch ? (uint32_t)c->port << 16 : 0) | index;
	ret->request.dest = ret->node->ports[c->port].dest;
	return true;
}

static bool locate_qos(const struct audit *a, struct shadow_qos *c, uint32_t index,
                       struct place *ret)
{
	const struct disc_node *n = ret->node;
	uint32_t steps = (uint32_t)VL_ARB_BLOCKS + c->n_in;

	if (shadow_qos_find(&a->sm->shadow, n->guid, n->n_ports,
	                    n->type == NODE_SWITCH) != c) {
		return false;
	}
	ret->qos = (struct qos_table){ .node = n,
		                       .copy = c,
		                       .out = (uint16_t)(index / steps),
		                       .step = (uint16_t)(index % steps) };
	ret->port = ret->qos.out;
	if (!n->ports[ret->port].has_info || qos_table_bytes(&ret->qos) == 0 ||
	    !qos_table_holds(&ret->qos, NULL)) {
		return false;
	}
	qos_table_request(&ret->qos, &ret->request);
	return true;
}

static bool locate_port_info(uint32_t index, struct place *ret)
{
	ret->port = index;
	ret->request.attr = UMAD_SM_ATTR_PORT_INFO;
	ret->request.mod = DISC_PORT_MOD | index;
	ret->request.dest = ret->node->ports[index].dest;
	return program_port_is_set(ret->node, index);
}

/* \return false: nothing is known of this block, or its node is not there. */
static bool locate(const struct audit *a, unsigned kind, void *copy, uint32_t index,
                   struct place *ret)
{
	const struct disc *d = &a->job->disc;
	uint32_t node = graph_node_by_guid(d->g, guid_of(kind, copy));

	*ret = (struct place){ .node = node != GRAPH_NONE ? d->of[node] : NULL };
	if (ret->node == NULL || index >= n_blocks(kind, copy)) {
		return false;
	}
	switch ((enum audit_kind)kind) {
	case AUDIT_LFT:
	case AUDIT_MFT: return locate_switch(copy, kind, index, ret);
	case AUDIT_P_KEYS:
	case AUDIT_GUIDS: return locate_port(copy, kind, index, ret);
	case AUDIT_QOS: return locate_qos(a, copy, index, ret);
	case AUDIT_PORTS: return locate_port_info(index, ret);
	case AUDIT_KIND_COUNT: break;
	}
	return false;
}

/* --- what was read ------------------------------------------------------------------- */

/* Compares what was read with the copy, and lets the next sweep repair it. \return true: they
 * differ. */
static bool take_block(const struct audit *a, unsigned kind, void *copy, uint32_t index,
                       struct place *w, const uint8_t *data)
{
	struct shadow_switch *sw = copy;
	uint8_t *known;

	if (kind == AUDIT_PORTS) { /* the sweep reads it anyway */
		w->component =
			program_port_differs(&a->job->program, w->node, w->port, data);
		return w->component != NULL;
	}
	if (kind == AUDIT_QOS) {
		if (qos_table_holds(&w->qos, data)) {
			return false;
		}
		qos_table_keep(&w->qos, data);
		return true;
	}
	if (kind == AUDIT_LFT) {
		known = sw->block[index];
	} else if (kind == AUDIT_MFT) {
		known = sw->mft[index].data;
	} else {
		known = ((struct shadow_port *)copy)
		                ->table[kind == AUDIT_P_KEYS ? PORT_P_KEYS : PORT_GUIDS]
		                .block[index]
		                .data;
	}
	if (memcmp(known, data, LFT_BLOCK_LIDS) == 0) {
		return false;
	}
	if (kind == AUDIT_LFT) {
		sw->differs[index] = true; /* the copy says what the routes are to be */
	} else if (kind == AUDIT_P_KEYS) { /* and here the index of each P_Key */
		((struct shadow_port *)copy)->table[PORT_P_KEYS].block[index].differs = true;
	} else {
		memcpy(known, data, PORT_BLOCK_BYTES);
	}
	return true;
}

_Static_assert((int)LFT_BLOCK_LIDS == (int)PORT_BLOCK_BYTES &&
                       (int)MFT_BLOCK_BYTES == (int)PORT_BLOCK_BYTES,
               "blocks");

static void note_event(struct audit *a, unsigned kind, const struct place *w,
                       const char *why)
{
	char detail[EVENT_DETAIL_BYTES], block[32], skipped[LOG_SKIPPED_BYTES];
	struct fabric_event e = { .kind = EVENT_TABLE_REPAIRED,
		                  .port = w->port,
		                  .detail = detail };

	if (!log_allowed(&a->lines, sm_now(a->sm), LINES, LINES_MS, skipped)) {
		return;
	}
	snprintf(block, sizeof(block), "block 0x%x", (unsigned)w->request.mod);
	snprintf(detail, sizeof(detail), "%s, %s, %s; %s%s", kinds[kind].table,
	         w->component != NULL ? w->component : block, why, kinds[kind].then,
	         skipped);
	events_set_node(&e, a->job->disc.g, w->node->graph_node);
	events_note(a->sm, &e);
}

static void report(struct audit *a, unsigned kind, const struct place *w)
{
	const char *place = disc_place(&a->job->disc, w->node, w->port);
	const char *why = a->cause == AUDIT_LATE
	                          ? "holds what an older Set brought, which came late"
	                          : "was changed by somebody else";

	a->n_differ += a->cause == AUDIT_ROUND;
	a->sm->status.tables_changed++;
	note_event(a, kind, w, why);
	if (!a->running && a->cause == AUDIT_ROUND) {
		return; /* it is part of a heavy sweep */
	}
	if (kind == AUDIT_PORTS) {
		sm_request_local(a->sm, &w->node->guid, 1,
		                 "audit: %s in PortInfo of %s %s", w->component, place,
		                 why);
	} else {
		sm_request_heavy(a->sm, "audit: %s of %s %s", kinds[kind].table, place,
		                 why);
	}
	if (a->cause != AUDIT_LATE) {
		audit_suspect(
			a,
			graph_port(a->job->disc.g, w->node->graph_node, (uint8_t)w->port),
			"a table of it was changed");
	}
}

static void submit_reads(struct audit *a);

static unsigned kind_of(uint16_t attr)
{
	switch (attr) {
	case UMAD_SM_ATTR_LINEAR_FT: return AUDIT_LFT;
	case UMAD_SM_ATTR_MCAST_FT: return AUDIT_MFT;
	case UMAD_SM_ATTR_PKEY_TABLE: return AUDIT_P_KEYS;
	case UMAD_SM_ATTR_GUID_INFO: return AUDIT_GUIDS;
	case UMAD_SM_ATTR_PORT_INFO: return AUDIT_PORTS;
	default: return AUDIT_QOS;
	}
}

static void on_read(void *ctx, const struct smp_reply *r)
{
	struct audit_read *read = ctx;
	struct audit *a = read->a;
	unsigned kind = kind_of(r->attr);
	struct place w;

	read->a = NULL;
	if (r->ret == E_OK) {
		a->n_read += a->cause == AUDIT_ROUND;
		/* still the same block: its copy may have been forgotten meanwhile */
		if (locate(a, kind, read->copy, read->index, &w) &&
		    w.request.mod == r->mod &&
		    take_block(a, kind, read->copy, read->index, &w, r->data)) {
			report(a, kind, &w);
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

/* Moves to the next block of a copy. \return false: the cursor is at its end. */
static bool next_block(const struct audit *a, struct audit_cursor *c, void **ret_copy,
                       uint32_t *ret_index)
{
	while (c->kind < AUDIT_KIND_COUNT) {
		const struct copies l = copies_of(a, c->kind);

		while (c->item < l.n) {
			void *copy = l.items[c->item++];

			if (c->index < n_blocks(c->kind, copy) &&
			    is_among(c, guid_of(c->kind, copy))) {
				c->any = true;
				*ret_copy = copy;
				*ret_index = c->index;
				return true;
			}
		}
		c->item = 0;
		c->index++;
		if (!c->any) {
			c->kind++;
			c->index = 0;
		}
		c->any = false;
	}
	return false;
}

static uint32_t count_blocks(const struct audit *a)
{
	struct audit_cursor c = { 0 };
	struct place w;
	uint32_t index, n = 0;
	void *copy;

	while (next_block(a, &c, &copy, &index)) {
		n += locate(a, c.kind, copy, index, &w);
	}
	return n;
}

/* The next block that a late Set may have undone. \return false: there is none any more. */
static bool next_late(struct audit *a, void **ret_copy, uint32_t *ret_index)
{
	const struct shadow_list *l = &a->sm->shadow.switches;

	for (; a->late.item < l->n; a->late.item++, a->late.block = 0) {
		struct shadow_switch *c = l->items[a->late.item];

		while (a->late.block < LFT_BLOCKS) {
			uint32_t block = a->late.block++;

			if (c->late[block] == LATE_DUE) {
				c->late[block] = LATE_NONE;
				*ret_copy = c;
				*ret_index = block;
				return true;
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
	struct audit_read *read;
	uint32_t index;
	void *copy;

	struct audit_cursor *at = a->cause == AUDIT_LOOK ? &a->look.at : &a->round;

	while (a->left > 0 && (read = free_read(a)) != NULL &&
	       (a->cause == AUDIT_LATE ? next_late(a, &copy, &index)
	                               : next_block(a, at, &copy, &index))) {
		unsigned kind = a->cause == AUDIT_LATE ? AUDIT_LFT : at->kind;
		struct place w;

		if (kind == AUDIT_PORTS && !a->running && a->cause == AUDIT_ROUND) {
			return; /* a heavy sweep has read them */
		}

		if (!locate(a, kind, copy, index, &w) || w.request.dest == NULL ||
		    w.request.dest->dead) {
			continue;
		}
		*read = (struct audit_read){ .a = a, .copy = copy, .index = index };
		w.request.method = UMAD_METHOD_GET;
		w.request.retries = a->sm->d.config->transaction_retries;
		w.request.done = on_read;
		w.request.ctx = read;
		if (smp_submit(a->sm->smp, &w.request) != E_OK) {
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
		log_message(MSG_SM_AUDIT_SLOW, source,
		            "a round of the audit reads %u blocks, which takes %llu s at "
		            "%d packets a second, and not audit_interval, %llu s",
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
		log_message(MSG_SM_TABLES_CHANGED, source,
		            "%u blocks of tables read back in %.1f s, %u were changed by "
		            "somebody else",
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
	if (a->late.due_ms == 0 && shadow_late_due(&a->sm->shadow)) {
		a->late.due_ms = sm_now(a->sm) + AUDIT_LATE_MS;
		a->late.item = a->late.block = 0;
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
