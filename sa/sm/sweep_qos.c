/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * SL-to-VL and VL arbitration tables that somebody asks for.
 *
 * Quality of service programs, and so knows, the tables of ports with cables. While it is
 * off nobody needs any, and a switch of 36 ports has 1,500 of them, more than all else a
 * bring-up reads of it. So they are read for the first who asks: the request waits here
 * while the fabric thread, when idle, reads what it is about, publishes, and hands it on
 * to the SA. They are kept until their port restarts, so this happens once.
 *
 * Reads are cut into slices, so that traps and light sweeps need not wait long; what a
 * slice has room for behind the nodes asked for is read ahead, because who asks for one
 * node after another should not wait, and publish, once for each.
 *
 * Without a subnet that is up nothing waits here: what the snapshot has is the answer.
 *
 * A request of another door than the fabric (sa_door) comes in on that door's thread; it
 * is left in a list for the fabric thread.
 */
#include <errno.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/mad/wire.h"
#include "sa/record/record.h"
#include "sa/server/answer.h"
#include "sa/sm/qos_slot.h"
#include "sa/sm/sweep_int.h"

enum { WAITING_MAX = 256, SLICE_TABLES = 4096, LID_ASKED = 1 };

struct qos_request {
	struct qos_request *next;
	uint32_t lid; /* see lid_asked() */
	struct mad_msg msg;
	uint8_t data[SA_REQUEST_BYTES];
};

/* --- requests that wait ----------------------------------------------------------- */

static bool is_opa(const struct mad_msg *m)
{
	return field_get(m->data, MAD_CLASS_VERSION) == SA_OPA_VERSION;
}

bool qos_is_about(const struct mad_msg *m)
{
	enum { LONGEST_LID = 4 };

	if (m->len < SA_HDR_BYTES + LONGEST_LID || m->len > SA_REQUEST_BYTES) {
		return false;
	}
	const uint64_t method = field_get(m->data, MAD_METHOD);
	return (method == UMAD_METHOD_GET || method == UMAD_SA_METHOD_GET_TABLE) &&
	       sa_read_when_asked((uint8_t)field_get(m->data, MAD_CLASS_VERSION),
	                          (uint16_t)field_get(m->data, MAD_ATTR_ID));
}

/* The LID that such a request asks for, 0: every node's tables count. */
static uint32_t lid_asked(const struct mad_msg *m)
{
	enum { LID_BITS = 16, OPA_LID_BITS = 32 };
	const bool opa = is_opa(m);

	/* the neighbours of a port are of other nodes than its LID says */
	if (!(field_get(m->data, SA_COMP_MASK) & LID_ASKED) ||
	    (opa && field_get(m->data, MAD_ATTR_ID) == SA_OPA_ATTR_SC_TO_VL_NT)) {
		return 0;
	}
	return (uint32_t)field_get(m->data, 8 * SA_HDR_BYTES,
	                           opa ? OPA_LID_BITS : LID_BITS);
}

static bool is_up(const struct sweep *s)
{
	return s->was_master && s->status.up;
}

/* The fabric as last known whole. */
static const struct job *known_job(const struct sweep *s)
{
	const struct job *j = s->old != NULL ? s->old : s->job;

	return j != NULL && j->program.lids != NULL ? j : NULL;
}

static bool is_unread(const struct sweep *s, const struct job *j, uint32_t node)
{
	const struct disc_node *n = j->disc.of[node];
	const struct qos_copy *c = qos_copy_find(&s->qos_copies, n->guid);

	return c == NULL || !c->read ||
	       !qos_copy_fits(c, n->n_ports, n->type == NODE_SWITCH);
}

static uint32_t node_of_lid(const struct job *j, uint32_t lid)
{
	uint32_t port = lid <= j->lids.top ? j->lids.owner[lid] : GRAPH_NONE;

	return port != GRAPH_NONE ? j->disc.g->ports[port].node : GRAPH_NONE;
}

/* First node from \a node on that is to be read, GRAPH_NONE: none. */
static uint32_t unread_from(const struct sweep *s, const struct job *j, uint32_t node)
{
	while (node < j->disc.g->n_nodes && !is_unread(s, j, node)) {
		node++;
	}
	return node < j->disc.g->n_nodes ? node : GRAPH_NONE;
}

/* A node that is to be read for who asks, GRAPH_NONE: all is there. */
static uint32_t missing_for(const struct sweep *s, const struct job *j, uint32_t lid)
{
	uint32_t node;

	if (lid == 0) {
		return unread_from(s, j, 0);
	}
	node = node_of_lid(j, lid);
	return node != GRAPH_NONE && is_unread(s, j, node) ? node : GRAPH_NONE;
}

/* Are tables to be read for it first? */
static bool has_to_wait(const struct sweep *s, const struct mad_msg *m)
{
	const struct qos_wait *w = &s->qos_wait;
	const struct job *j = known_job(s);

	return qos_is_about(m) && is_up(s) && w->n < WAITING_MAX &&
	       (j == NULL || w->unpublished ||
	        missing_for(s, j, lid_asked(m)) != GRAPH_NONE);
}

/* A copy. NULL: out of memory. */
static struct qos_request *request_of(const struct mad_msg *m)
{
	struct qos_request *q = calloc(1, sizeof(*q));

	if (q != NULL) {
		q->lid = lid_asked(m);
		q->msg = *m;
		q->msg.data = q->data;
		memcpy(q->data, m->data, m->len);
	}
	return q;
}

static void append(struct qos_wait *w, struct qos_request *q)
{
	if (w->first == NULL) {
		w->end = &w->first;
	}
	q->next = NULL;
	*w->end = q;
	w->end = &q->next;
	w->n++;
}

bool qos_request_waits(struct sweep *s, const struct mad_msg *m)
{
	struct qos_request *q = has_to_wait(s, m) ? request_of(m) : NULL;

	if (q != NULL) {
		append(&s->qos_wait, q);
	}
	return q != NULL;
}

/* --- requests of other doors ------------------------------------------------------- */

bool sweep_takes(struct sweep *s, const struct mad_msg *m)
{
	struct qos_wait *w = &s->qos_wait;
	struct qos_request *q = qos_is_about(m) ? request_of(m) : NULL;

	if (q == NULL) {
		return false;
	}
	q->next = atomic_load_explicit(&w->came, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&w->came, &q->next, q)) {
	}
	w->transport->ops->wake(w->transport);
	return true;
}

/* All that came, in the order in which it did. */
static struct qos_request *take_came(struct qos_wait *w)
{
	struct qos_request *last = atomic_exchange(&w->came, NULL), *first = NULL;

	while (last != NULL) {
		struct qos_request *before = last->next;
		last->next = first;
		first = last;
		last = before;
	}
	return first;
}

void qos_take_others(struct sweep *s)
{
	struct qos_request *q, *next;

	if (atomic_load_explicit(&s->qos_wait.came, memory_order_relaxed) == NULL) {
		return;
	}
	for (q = take_came(&s->qos_wait); q != NULL; q = next) {
		next = q->next;
		if (has_to_wait(s, &q->msg)) {
			append(&s->qos_wait, q);
		} else {
			sa_server_push(s->d.sa, &q->msg);
			free(q);
		}
	}
}

/* --- their end --------------------------------------------------------------------- */

/* Takes the request at *at out of the list and hands it on. */
static void hand_on(struct sweep *s, struct qos_request **at)
{
	struct qos_wait *w = &s->qos_wait;
	struct qos_request *q = *at;

	*at = q->next;
	if (w->end == &q->next) {
		w->end = at;
	}
	w->n--;
	sa_server_push(s->d.sa, &q->msg);
	free(q);
}

static void hand_on_all(struct sweep *s)
{
	while (s->qos_wait.first != NULL) {
		hand_on(s, &s->qos_wait.first);
	}
}

/* --- reads ------------------------------------------------------------------------ */

static void on_table(void *ctx, const struct smp_reply *r)
{
	struct qos_slot *t = ctx;

	if (r->ret == E_OK) {
		qos_slot_keep(t, r->data);
	} else if (r->ret == E_TIMEOUT) {
		t->copy->incomplete = true;
		smp_dest_revive(r->dest);
	}
}

/* \return 1: it is asked for, 0: there is nothing to ask, or -ENOMEM */
static int read_table(struct sweep *s, const struct qos_slot *t)
{
	struct smp_request o = { .method = UMAD_METHOD_GET,
		                 .retries = s->d.config->transaction_retries,
		                 .done = on_table };
	struct qos_slot *kept;

	if (qos_slot_knows(t, NULL) || qos_slot_bytes(t) == 0) {
		return 0;
	}
	kept = arena_alloc(s->qos_wait.arena, sizeof(*kept));
	if (kept == NULL) {
		return -ENOMEM;
	}
	*kept = *t;
	o.ctx = kept;
	qos_slot_order(kept, &o);
	return smp_submit(s->smp, &o) == E_OK ? 1 : -ENOMEM;
}

/* Only enhanced ports 0 have tables; the ports of a CA or router are those that answer.
 */
static bool sends(const struct disc_node *n, unsigned out)
{
	const struct disc_port *agent = qos_slot_agent(n, out);

	if (n->type == NODE_SWITCH && out == 0) {
		return field_get(n->switch_info, SI_ENHANCED_PORT_0) &&
		       n->ports[0].has_info;
	}
	return out != 0 && agent->dest != NULL && agent->has_info &&
	       n->ports[out].has_info;
}

/* \return Number of requests, or -ENOMEM. */
static int read_node(struct sweep *s, const struct disc_node *n, struct qos_copy *c)
{
	unsigned n_steps = (unsigned)VL_ARB_BLOCKS + c->n_in;
	int n_reads = 0;

	for (unsigned out = 0; out <= n->n_ports; out++) {
		for (unsigned step = 0; sends(n, out) && step < n_steps; step++) {
			struct qos_slot t = { n, c, (uint16_t)out, (uint16_t)step };
			int ret = read_table(s, &t);

			if (ret < 0) {
				return ret;
			}
			n_reads += ret;
		}
	}
	return n_reads;
}

/* Begins with a node. \return Number of requests, or -ENOMEM. */
static int add_node(struct sweep *s, uint32_t node)
{
	struct qos_wait *w = &s->qos_wait;
	const struct disc_node *n = s->job->disc.of[node];
	struct qos_copy *c =
		qos_copy_get(&s->qos_copies, n->guid, n->n_ports, n->type == NODE_SWITCH);

	for (uint32_t i = 0; i < w->n_at_work; i++) {
		if (w->at_work[i] == c) {
			return 0;
		}
	}
	if (c == NULL) {
		return -ENOMEM;
	}
	w->at_work[w->n_at_work++] = c;
	return read_node(s, n, c);
}

/* One slice: the nodes asked for, in turn, then those behind the last of them. */
static int add_slice(struct sweep *s)
{
	struct qos_wait *w = &s->qos_wait;
	uint32_t behind = 0;
	int sum = 0, ret = 0;

	for (const struct qos_request *q = w->first; q != NULL && sum < SLICE_TABLES;
	     q = q->next) {
		uint32_t node = missing_for(s, s->job, q->lid);

		if (node != GRAPH_NONE) {
			ret = add_node(s, node);
			behind = node + 1;
		}
		if (ret < 0) {
			return ret;
		}
		sum += ret;
	}
	while (sum < SLICE_TABLES && w->n_at_work < SLICE_TABLES) {
		behind = unread_from(s, s->job, behind);
		if (behind == GRAPH_NONE) {
			break;
		}
		ret = add_node(s, behind++);
		if (ret < 0) {
			return ret;
		}
		sum += ret;
	}
	return E_OK;
}

static int begin_slice(struct sweep *s)
{
	struct qos_wait *w = &s->qos_wait;

	arena_free(w->arena);
	w->arena = arena_new();
	w->n_at_work = 0;
	w->at_work = w->arena != NULL ? arena_array(w->arena, SLICE_TABLES + WAITING_MAX,
	                                            sizeof(struct qos_copy *))
	                              : NULL;
	return w->at_work != NULL ? add_slice(s) : -ENOMEM;
}

bool qos_reads_start(struct sweep *s)
{
	struct qos_wait *w = &s->qos_wait;
	bool some = false;

	if (w->first == NULL) {
		return false;
	}
	if (!is_up(s)) {
		hand_on_all(s);
		return false;
	}
	for (const struct qos_request *q = w->first; q != NULL && !some; q = q->next) {
		some = missing_for(s, s->job, q->lid) == GRAPH_NONE;
	}
	if (some && w->unpublished && job_publish(s) != E_OK) {
		return false;
	}
	for (struct qos_request **at = &w->first; some && *at != NULL;) {
		if (missing_for(s, s->job, (*at)->lid) == GRAPH_NONE) {
			hand_on(s, at);
		} else {
			at = &(*at)->next;
		}
	}
	if (w->first != NULL && begin_slice(s) != E_OK) {
		smp_abort(s->smp);
		hand_on_all(s);
	}
	return w->first != NULL;
}

void qos_reads_end(struct sweep *s)
{
	struct qos_wait *w = &s->qos_wait;

	for (uint32_t i = 0; i < w->n_at_work; i++) {
		w->at_work[i]->read = true;
	}
	w->unpublished |= w->n_at_work != 0;
	w->n_at_work = 0;
}

static void free_all(struct qos_request *q)
{
	while (q != NULL) {
		struct qos_request *next = q->next;
		free(q);
		q = next;
	}
}

void qos_wait_done(struct sweep *s)
{
	free_all(s->qos_wait.first);
	free_all(take_came(&s->qos_wait));
	arena_free(s->qos_wait.arena);
	s->qos_wait = (struct qos_wait){ 0 };
}
