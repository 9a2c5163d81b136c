/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Reads are cut into slices, so that traps and light sweeps need not wait long. Nodes behind those
 * asked for are read ahead while a slice has room, because a client that asks
 * for one node after another should not wait, and make the sweep publish, once for each.
 *
 * The SA server's thread leaves requests in a list for the fabric thread.
 */
#include "sa/sm/sweep/qos_reads.h"

#include <errno.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/mad/wire.h"
#include "sa/server/server.h"
#include "sa/sm/manager/election.h"
#include "sa/sm/sm.h"

enum { WAITING_MAX = 256, SLICE_TABLES = 4096, LID_ASKED = 1 };

struct qos_request {
	struct qos_request *next;
	uint32_t lid; /* see lid_asked() */
	struct mad_msg msg;
	uint8_t data[SA_REQUEST_BYTES];
};

/* --- requests that wait ----------------------------------------------------------- */

/* The LID that such a request asks for, 0: every node's tables count. */
static uint32_t lid_asked(const struct mad_msg *m)
{
	enum { LID_BITS = 16, OPA_LID_BITS = 32 };
	const bool opa = field_get(m->data, MAD_CLASS_VERSION) == SA_OPA_VERSION;

	/* a port's neighbours are ports of other nodes */
	if (!(field_get(m->data, SA_COMP_MASK) & LID_ASKED) ||
	    (opa && field_get(m->data, MAD_ATTR_ID) == SA_OPA_ATTR_SC_TO_VL_NT)) {
		return 0;
	}
	return (uint32_t)field_get(m->data, 8 * SA_HDR_BYTES,
	                           opa ? OPA_LID_BITS : LID_BITS);
}

static bool is_up(const struct qos_reads *w)
{
	return w->election->swept && w->sm->status.up;
}

static bool is_unread(const struct qos_reads *w, const struct job *j, uint32_t node)
{
	const struct disc_node *n = j->disc.of[node];
	const struct table *arb = table_find_egress(&w->sm->tables, TABLE_VL_ARB, n);
	const struct table *map = table_find_egress(&w->sm->tables, TABLE_SL2VL, n);

	return arb == NULL || map == NULL || !arb->asked || !map->asked;
}

/* First node from \a node on that has to be read. GRAPH_NONE: none. */
static uint32_t unread_from(const struct qos_reads *w, const struct job *j, uint32_t node)
{
	while (node < j->disc.g->n_nodes && !is_unread(w, j, node)) {
		node++;
	}
	return node < j->disc.g->n_nodes ? node : GRAPH_NONE;
}

/* A node that has to be read for a request about this LID. GRAPH_NONE: none. */
static uint32_t missing_for(const struct qos_reads *w, const struct job *j, uint32_t lid)
{
	const struct lids *lids = &j->lids.lids;
	uint32_t port, node;

	if (lid == 0) {
		return unread_from(w, j, 0);
	}
	port = lid <= lids->top ? lids->owner[lid] : GRAPH_NONE;
	if (port == GRAPH_NONE) {
		return GRAPH_NONE;
	}
	node = j->disc.g->ports[port].node;
	return is_unread(w, j, node) ? node : GRAPH_NONE;
}

static bool has_to_wait(const struct qos_reads *w, const struct mad_msg *m)
{
	const struct job *j = sm_known_job(w->sm);

	return is_up(w) && w->n < WAITING_MAX &&
	       (j == NULL || w->unpublished ||
	        missing_for(w, j, lid_asked(m)) != GRAPH_NONE);
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

static void append(struct qos_reads *w, struct qos_request *q)
{
	if (w->first == NULL) {
		w->end = &w->first;
	}
	q->next = NULL;
	*w->end = q;
	w->end = &q->next;
	w->n++;
}

/* Takes the request at *at out of the list and hands it to the SA. */
static void hand_to_sa(struct qos_reads *w, struct qos_request **at)
{
	struct qos_request *q = *at;

	*at = q->next;
	if (w->end == &q->next) {
		w->end = at;
	}
	w->n--;
	sa_server_resume(w->sm->d.sa, &q->msg);
	free(q);
}

static void hand_all_to_sa(struct qos_reads *w)
{
	while (w->first != NULL) {
		hand_to_sa(w, &w->first);
	}
}

/* --- requests from the SA server ----------------------------------------------------- */

/* On the SA server's thread. */
static bool push(void *ctx, const struct mad_msg *m)
{
	struct qos_reads *w = ctx;
	struct qos_request *q = request_of(m);

	if (q == NULL) {
		return false;
	}
	q->next = atomic_load_explicit(&w->arrived, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&w->arrived, &q->next, q)) {
	}
	w->transport->ops->wake(w->transport);
	return true;
}

void qos_reads_serve(struct qos_reads *w, bool on)
{
	if (w->sm->d.sa != NULL) {
		sa_server_on_tables(w->sm->d.sa, on ? push : NULL, w);
	}
}

/* All that arrived, in that order. */
static struct qos_request *take_arrived(struct qos_reads *w)
{
	struct qos_request *last = atomic_exchange(&w->arrived, NULL), *first = NULL;

	while (last != NULL) {
		struct qos_request *before = last->next;
		last->next = first;
		first = last;
		last = before;
	}
	return first;
}

void qos_reads_take_pushed(struct qos_reads *w)
{
	struct qos_request *q, *next;

	if (atomic_load_explicit(&w->arrived, memory_order_relaxed) == NULL) {
		return;
	}
	for (q = take_arrived(w); q != NULL; q = next) {
		next = q->next;
		if (has_to_wait(w, &q->msg)) {
			append(w, q);
		} else {
			sa_server_resume(w->sm->d.sa, &q->msg);
			free(q);
		}
	}
}

/* --- reads ------------------------------------------------------------------------ */

static void on_read(void *ctx, const struct table_request *q, const struct smp_reply *r)
{
	(void)ctx;
	if (r->ret == E_TIMEOUT) {
		q->t->silent = true;
		smp_dest_revive(r->dest);
	}
}

/* Does this egress port have tables that can be read? Of the ports 0 only enhanced ones
 * have; of a CA or router only the ports that answer. */
static bool has_tables(const struct disc_node *n, unsigned out)
{
	const struct disc_port *agent = &n->ports[n->type == NODE_SWITCH ? 0 : out];

	if (n->type == NODE_SWITCH && out == 0) {
		return field_get(n->switch_info, SI_ENHANCED_PORT_0) &&
		       n->ports[0].has_info;
	}
	return out != 0 && agent->dest != NULL && agent->has_info &&
	       n->ports[out].has_info;
}

/* Reads what is unknown of the tables of an egress port. \return Number of requests, or -ENOMEM. */
static int read_row(struct qos_reads *w, struct disc_node *n, struct table *t,
                    unsigned out)
{
	struct table_request q = { .io = &w->io, .node = n, .t = t };
	int n_reads = 0;

	for (uint32_t col = 0; col < t->cols; col++) {
		q.block = table_at(t, out, col);
		if (table_knows(t, q.block) || table_length(n, t, q.block) == 0) {
			continue;
		}
		if (table_ask(&q, NULL) != E_OK) {
			return -ENOMEM;
		}
		n_reads++;
	}
	return n_reads;
}

/* Reads the tables of a node. \return Number of requests, or -ENOMEM. */
static int read_node(struct qos_reads *w, struct disc_node *n)
{
	struct table *const t[] = { table_get_egress(&w->sm->tables, TABLE_VL_ARB, n),
		                    table_get_egress(&w->sm->tables, TABLE_SL2VL, n) };
	int n_reads = 0;

	for (uint32_t i = 0; i < w->n_at_work; i++) {
		if (w->at_work[i] == t[0]) {
			return 0;
		}
	}
	if (t[0] == NULL || t[1] == NULL) {
		return -ENOMEM;
	}
	w->at_work[w->n_at_work++] = t[0];
	w->at_work[w->n_at_work++] = t[1];
	for (unsigned out = 0; out <= n->n_ports; out++) {
		for (unsigned k = 0; has_tables(n, out) && k < 2; k++) {
			int ret = read_row(w, n, t[k], out);

			if (ret < 0) {
				return ret;
			}
			n_reads += ret;
		}
	}
	return n_reads;
}

/* Reads one slice: the nodes asked for, in turn, then those behind the last of them. */
static int read_slice(struct qos_reads *w, const struct job *j)
{
	uint32_t behind = 0;
	int sum = 0, ret = 0;

	arena_free(w->arena);
	w->arena = arena_new();
	w->n_at_work = 0;
	w->io = (struct table_io){ .smp = w->sm->smp,
		                   .store = &w->sm->tables,
		                   .arena = w->arena,
		                   .retries = w->sm->d.config->transaction_retries,
		                   .answered = on_read };
	w->at_work = w->arena != NULL
	                     ? arena_array(w->arena, 2 * (SLICE_TABLES + WAITING_MAX),
	                                   sizeof(struct table *))
	                     : NULL;
	if (w->at_work == NULL) {
		return -ENOMEM;
	}
	for (const struct qos_request *q = w->first; q != NULL && sum < SLICE_TABLES;
	     q = q->next) {
		uint32_t node = missing_for(w, j, q->lid);

		if (node == GRAPH_NONE) {
			continue;
		}
		ret = read_node(w, j->disc.of[node]);
		if (ret < 0) {
			return ret;
		}
		sum += ret;
		behind = node + 1;
	}
	while (sum < SLICE_TABLES && w->n_at_work < 2 * SLICE_TABLES) {
		behind = unread_from(w, j, behind);
		if (behind == GRAPH_NONE) {
			break;
		}
		ret = read_node(w, j->disc.of[behind++]);
		if (ret < 0) {
			return ret;
		}
		sum += ret;
	}
	return E_OK;
}

bool qos_reads_want_publish(const struct qos_reads *w, const struct job *j)
{
	const struct qos_request *q = w->first;

	if (q == NULL || !w->unpublished || !is_up(w)) {
		return false;
	}
	while (q != NULL && missing_for(w, j, q->lid) != GRAPH_NONE) {
		q = q->next;
	}
	return q != NULL;
}

bool qos_reads_start(struct qos_reads *w, struct job *j)
{
	if (w->first == NULL) {
		return false;
	}
	if (!is_up(w)) {
		hand_all_to_sa(w);
		return false;
	}
	for (struct qos_request **at = &w->first; *at != NULL;) {
		if (missing_for(w, j, (*at)->lid) == GRAPH_NONE) {
			hand_to_sa(w, at);
		} else {
			at = &(*at)->next;
		}
	}
	if (w->first != NULL && read_slice(w, j) != E_OK) {
		smp_abort(w->sm->smp);
		hand_all_to_sa(w);
	}
	return w->first != NULL;
}

void qos_reads_end(struct qos_reads *w)
{
	for (uint32_t i = 0; i < w->n_at_work; i++) {
		w->at_work[i]->asked = true;
	}
	w->unpublished |= w->n_at_work != 0;
	w->n_at_work = 0;
}

static void free_requests(struct qos_request *q)
{
	while (q != NULL) {
		struct qos_request *next = q->next;
		free(q);
		q = next;
	}
}

void qos_reads_done(struct qos_reads *w)
{
	free_requests(w->first);
	free_requests(take_arrived(w));
	arena_free(w->arena);
	w->first = NULL;
	w->arena = NULL;
}
