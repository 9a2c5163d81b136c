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
};

static const struct shadow_list *list_of(const struct audit *a, unsigned kind)
{
	const struct shadow *s = &a->sm->shadow;

	return kind <= AUDIT_MFT ? &s->switches : kind == AUDIT_QOS ? &s->qos : &s->ports;
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

/* \return false: nothing is known of this block, or its node is not there. */
static bool locate(const struct audit *a, unsigned kind, void *copy, uint32_t index,
                   struct place *ret)
{
	const struct disc *d = &a->job->disc;
	const struct shadow_switch *sw = copy;
	const struct shadow_port *port = copy;
	struct shadow_qos *qos = copy;
	uint64_t guid = kind <= AUDIT_MFT   ? sw->guid
	                : kind == AUDIT_QOS ? qos->guid
	                                    : port->guid;
	uint32_t node = graph_node_by_guid(d->g, guid);

	*ret = (struct place){ .node = node != GRAPH_NONE ? d->of[node] : NULL };
	if (ret->node == NULL || index >= n_blocks(kind, copy)) {
		return false;
	}
	if (kind <= AUDIT_MFT) {
		return locate_switch(sw, kind, index, ret);
	}
	return kind == AUDIT_QOS ? locate_qos(a, qos, index, ret)
	                         : locate_port(port, kind, index, ret);
}

/* --- what was read ------------------------------------------------------------------- */

/* Compares what was read with the copy, and lets the next sweep repair it. \return true: they
 * differ. */
static bool take_block(unsigned kind, void *copy, uint32_t index, const struct place *w,
                       const uint8_t *data)
{
	struct shadow_switch *sw = copy;
	uint8_t *known;

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

static void report(struct audit *a, unsigned kind, const struct place *w)
{
	const char *place = disc_place(&a->job->disc, w->node, w->port);
	char detail[EVENT_DETAIL_BYTES];
	const char *why = a->late.at_work
	                          ? "holds what an older Set brought, which came late"
	                          : "was changed by somebody else";
	struct fabric_event e = { .kind = EVENT_TABLE_REPAIRED,
		           .port = w->port,
		           .detail = detail };
	char skipped[LOG_SKIPPED_BYTES];

	a->n_differ += !a->late.at_work;
	a->sm->status.tables_changed += a->late.at_work;
	if (log_allowed(&a->lines, sm_now(a->sm), LINES, LINES_MS, skipped)) {
		snprintf(detail, sizeof(detail), "%s, block 0x%x, %s; %s%s",
		         kinds[kind].table, (unsigned)w->request.mod, why,
		         kinds[kind].then, skipped);
		events_set_node(&e, a->job->disc.g, w->node->graph_node);
		events_note(a->sm, &e);
	}
	if (a->running || a->late.at_work) {
		sm_request_heavy(a->sm, "audit: %s of %s %s", kinds[kind].table, place,
		                 why);
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
		a->n_read++;
		/* still the same block: its copy may have been forgotten meanwhile */
		if (locate(a, kind, read->copy, read->index, &w) &&
		    w.request.mod == r->mod &&
		    take_block(kind, read->copy, read->index, &w, r->data)) {
			report(a, kind, &w);
		}
	} else if (r->ret == E_TIMEOUT) {
		smp_dest_revive(r->dest);
	}
	submit_reads(a);
}

/* --- the round ----------------------------------------------------------------------- */

/* Moves to the next block of a copy. \return false: the round is at its end. */
static bool next_block(struct audit *a, void **ret_copy, uint32_t *ret_index)
{
	while (a->at.kind < AUDIT_KIND_COUNT) {
		const struct shadow_list *l = list_of(a, a->at.kind);

		while (a->at.item < l->n) {
			void *copy = l->items[a->at.item++];

			if (a->at.index < n_blocks(a->at.kind, copy)) {
				a->at.any = true;
				*ret_copy = copy;
				*ret_index = a->at.index;
				return true;
			}
		}
		a->at.item = 0;
		a->at.index++;
		if (!a->at.any) {
			a->at.kind++;
			a->at.index = 0;
		}
		a->at.any = false;
	}
	return false;
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

	while (a->left > 0 && (read = free_read(a)) != NULL &&
	       (a->late.at_work ? next_late(a, &copy, &index)
	                        : next_block(a, &copy, &index))) {
		unsigned kind = a->late.at_work ? AUDIT_LFT : a->at.kind;
		struct place w;

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
	}
}

static void start_round(struct audit *a)
{
	memset(&a->at, 0, sizeof(a->at));
	a->n_read = a->n_differ = 0;
	a->last_ms = a->next_step_ms = sm_now(a->sm);
}

static void end_round(struct audit *a)
{
	struct sweep_status *st = &a->sm->status;

	a->running = false;
	st->audits++;
	st->tables_changed += a->n_differ;
	if (a->n_differ) {
		log_message(MSG_SM_TABLES_CHANGED, source,
		            "%u blocks of tables read back, %u were changed by "
		            "somebody else",
		            a->n_read, a->n_differ);
	} else {
		log_info(source, "%u blocks of tables read back, all are as they were",
		         a->n_read);
	}
}

static uint64_t late_deadline(const struct audit *a)
{
	return a->late.due_ms != 0 ? a->late.due_ms : UINT64_MAX;
}

uint64_t audit_deadline(const struct audit *a)
{
	uint64_t interval = (uint64_t)a->sm->d.config->audit_interval * 1000;
	uint64_t late = late_deadline(a), round = UINT64_MAX;

	if (!a->sm->status.up) {
		return UINT64_MAX;
	}
	if (interval != 0) {
		round = a->running ? a->next_step_ms : a->last_ms + interval;
	}
	return late < round ? late : round;
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
	a->left = STEP_READS;
	submit_reads(a);
	a->late.due_ms = sm_now(a->sm) + STEP_MS;
	if (a->left != 0) { /* all are read; others may have been noted meanwhile */
		a->late.due_ms = 0;
		audit_swept(a);
	}
}

void audit_step(struct audit *a, struct job *j)
{
	memset(a->reads, 0, sizeof(a->reads));
	a->job = j;
	a->late.at_work = sm_now(a->sm) >= late_deadline(a);
	if (a->late.at_work) {
		step_late(a);
		return;
	}
	if (!a->running) {
		start_round(a);
		a->running = true;
	}
	a->left = STEP_READS;
	submit_reads(a);
	a->next_step_ms = sm_now(a->sm) + STEP_MS;
	if (a->at.kind == AUDIT_KIND_COUNT && a->left == STEP_READS) {
		end_round(a);
	}
}

void audit_start_all(struct audit *a, struct job *j)
{
	memset(a->reads, 0, sizeof(a->reads));
	a->job = j;
	a->running = a->late.at_work = false;
	start_round(a);
	a->left = UINT32_MAX;
	submit_reads(a);
}

void audit_end_all(struct audit *a)
{
	end_round(a);
}
