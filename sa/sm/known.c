/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/known.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/text.h"
#include "conf/base/vector.h"
#include "conf/config.h"
#include "db/state/state.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "sa/mad/fields.h"
#include "sa/sm/sm.h"

enum { PHYSICAL_DISABLED = 3 /* PortPhysicalState */ };

static const char *const source = "sweep";

/* --- the rows as the state has them --------------------------------------------------------- */

static int decode_row(const uint8_t *key, size_t key_len, const void *value, size_t len,
                      void *ret_row)
{
	return known_decode(key, key_len, value, len, ret_row);
}

/* Reads the rows if another daemon changed them, or they were not written. */
static int refresh(struct sm *sm)
{
	struct known *k = &sm->known;
	void *list;

	k->rows.table = RECORDS_KNOWN;
	if (record_list_is_current(sm, &k->rows)) {
		return E_OK;
	}
	int ret = record_list_read(sm, &k->rows, sizeof(*k->list), decode_row, &list, &k->n);
	if (ret == E_OK) {
		free(k->list);
		k->list = list;
	}
	return ret;
}

/* --- the fabric as rows ---------------------------------------------------------------------- */

static void take_name(char to[KNOWN_NAME_BYTES + 1], const struct node *n)
{
	const char *name = node_name(n);
	size_t len = strnlen(name, KNOWN_NAME_BYTES);

	memcpy(to, name, len);
	to[len] = '\0';
}

/* An end port as it is. */
static struct known_node row_of(const struct graph *g, const struct lids *lids, uint32_t port)
{
	const struct port *p = &g->ports[port];
	const struct node *node = &g->nodes[p->node];
	struct known_node row = { .node_guid = node->guid,
		                  .port_guid = p->guid,
		                  .lid = lids->of[port].base,
		                  .port = p->num,
		                  .type = node->type };

	if (p->num != 0 && p->peer != GRAPH_NONE) {
		const struct port *peer = &g->ports[p->peer];

		row.switch_guid = g->nodes[peer->node].guid;
		row.switch_port = peer->num;
		if (!known_is_cable(&row)) {
			take_name(row.switch_name, &g->nodes[peer->node]);
		}
	}
	if (known_is_cable(&row)) { /* tens of thousands of them */
		row.port_guid = 0;
		return row;
	}
	take_name(row.name, node);
	row.system_guid = node->type == NODE_SWITCH ? node->system_image_guid : 0;
	return row;
}

/* Is a port the end with the row of a cable between two switches? */
static bool is_low_end(const struct graph *g, uint32_t port)
{
	const struct port *p = &g->ports[port];

	return p->num != 0 && p->peer != GRAPH_NONE && p->peer > port &&
	       g->nodes[p->node].type == NODE_SWITCH &&
	       g->nodes[g->ports[p->peer].node].type == NODE_SWITCH &&
	       g->ports[p->peer].node != p->node;
}

/* The next port that has a row, from a port on. \param end  Place among the end ports. */
static uint32_t next_port(const struct graph *g, uint32_t from, uint32_t *end)
{
	for (uint32_t p = from; p < g->n_ports; p++) {
		if (*end < g->n_end_ports && g->end_ports[*end] == p) {
			++*end;
			return p;
		}
		if (is_low_end(g, p)) {
			return p;
		}
	}
	return GRAPH_NONE;
}

/* Why a known port is not in the fabric. */
static enum known_cause cause_of(const struct disc *d, const struct known_node *n)
{
	const struct graph *g = d->g;
	uint32_t there = n->switch_guid != 0 ? graph_node_by_guid(g, n->switch_guid) :
	                                       GRAPH_NONE;

	if (n->switch_guid == 0) {
		return KNOWN_GONE;
	}
	if (there == GRAPH_NONE) {
		return KNOWN_SWITCH_GONE;
	}
	if (n->switch_port > g->nodes[there].n_ports) {
		return KNOWN_GONE;
	}
	uint32_t port = graph_port(g, there, n->switch_port);
	const struct disc_port *p = disc_port_of(d, port);
	if (g->ports[port].peer != GRAPH_NONE) {
		return KNOWN_REPLACED;
	}
	if (p->silent) {
		return KNOWN_SILENT;
	}
	return field_get(p->info, PI_PORT_PHYSICAL_STATE) == PHYSICAL_DISABLED
	               ? KNOWN_SWITCHED_OFF
	               : KNOWN_LINK_DOWN;
}

static int compare(const struct known_node *a, const struct known_node *b)
{
	if (a->node_guid != b->node_guid) {
		return a->node_guid < b->node_guid ? -1 : 1;
	}
	return (a->port > b->port) - (a->port < b->port);
}

/* --- what differs ------------------------------------------------------------------------------ */

static int put(const struct sm *sm, struct record_changes *c, const struct known_node *n, bool removes)
{
	uint8_t key[KNOWN_KEY_BYTES], row[KNOWN_ROW_MAX];
	size_t len = removes ? 0 : known_encode(n, row);

	known_key(n->node_guid, n->port, key);
	return record_list_put(&sm->known.rows, c, key, sizeof(key), removes ? NULL : row, len);
}

static bool is_same(const struct known_node *a, const struct known_node *b)
{
	return a->port_guid == b->port_guid && a->switch_guid == b->switch_guid &&
	       a->gone_s == b->gone_s && a->lid == b->lid &&
	       a->switch_port == b->switch_port && a->type == b->type &&
	       a->cause == b->cause && a->system_guid == b->system_guid && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->switch_name, b->switch_name) == 0;
}

/* Gone ports, the longest first. */
static int compare_gone(const void *x, const void *y)
{
	const struct known_node *a = *(const struct known_node *const *)x,
				*b = *(const struct known_node *const *)y;

	if (a->gone_s != b->gone_s) {
		return a->gone_s < b->gone_s ? -1 : 1;
	}
	return compare(a, b);
}

/* Takes the ports that are gone for longest out of a list with more than \a most. */
static int drop_oldest(const struct sm *sm, struct record_changes *c, struct known_node *list, size_t *n, size_t most)
{
	const struct known_node **gone = malloc(*n * sizeof(struct known_node *));
	size_t n_gone = 0, n_left = 0, drop;
	int ret = E_OK;

	if (gone == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < *n; i++) {
		if (list[i].gone_s != 0) {
			gone[n_gone++] = &list[i];
		}
	}
	qsort(gone, n_gone, sizeof(gone[0]), compare_gone);
	drop = *n - most < n_gone ? *n - most : n_gone;
	for (size_t i = 0; i < drop && ret == E_OK; i++) {
		ret = put(sm, c, gone[i], true);
		list[gone[i] - list].type = 0;
	}
	for (size_t i = 0; i < *n && ret == E_OK; i++) {
		if (list[i].type != 0) {
			list[n_left++] = list[i];
		}
	}
	if (ret == E_OK) {
		*n = n_left;
	}
	free(gone);
	return ret;
}

/* A cable that is gone while the switches at both its ends are there explains nothing. */
static bool is_over(const struct graph *g, const struct known_node *n)
{
	return known_is_cable(n) && graph_node_by_guid(g, n->node_guid) != GRAPH_NONE &&
	       graph_node_by_guid(g, n->switch_guid) != GRAPH_NONE;
}

/* Rows that a sweep adds and drops. Most sweeps have none, so the list is moved only for those. */
struct merge {
	struct sm *sm;
	const struct job *j;
	struct record_changes *c;
	struct known_node *fresh; /* [n_fresh] malloc; by NodeGUID and port */
	size_t n_fresh, cap_fresh, n_dropped;
	int64_t now;
};

/* A port that is there. \param was  Its row; NULL: it is new. */
static int merge_there(struct merge *m, uint32_t port, struct known_node *was)
{
	struct known_node is = row_of(m->j->disc.g, m->j->program.lids, port);

	is.first_s = was != NULL ? was->first_s : m->now;
	if (was != NULL && is_same(was, &is)) {
		return E_OK;
	}
	int ret = put(m->sm, m->c, &is, false);
	if (ret == E_OK && was == NULL) {
		ret = VECTOR_RESERVE(m->fresh, m->cap_fresh, m->n_fresh + 1);
	}
	if (ret == E_OK) {
		*(was != NULL ? was : &m->fresh[m->n_fresh++]) = is;
	}
	return ret;
}

/* A row without a port. */
static int merge_gone(struct merge *m, struct known_node *was)
{
	if (is_over(m->j->disc.g, was)) {
		m->n_dropped++;
		was->type = 0;
		return put(m->sm, m->c, was, true);
	}
	if (was->gone_s != 0) {
		return E_OK;
	}
	was->cause = (uint8_t)cause_of(&m->j->disc, was);
	was->gone_s = m->now;
	return put(m->sm, m->c, was, false);
}

/* Takes dropped rows out of the list and new ones in, which keeps its order. */
static int move_rows(struct known *k, const struct merge *m)
{
	size_t left = 0, n_fresh = m->n_fresh;

	for (size_t i = 0; m->n_dropped != 0 && i < k->n; i++) {
		if (k->list[i].type != 0) {
			k->list[left++] = k->list[i];
		}
	}
	left = m->n_dropped != 0 ? left : k->n;
	if (n_fresh != 0) {
		struct known_node *list =
			realloc(k->list, (left + n_fresh) * sizeof(*list));

		if (list == NULL) {
			return -ENOMEM;
		}
		k->list = list;
	}
	k->n = left + n_fresh;
	for (size_t at = k->n; n_fresh != 0;) {
		bool old = left != 0 &&
		           compare(&k->list[left - 1], &m->fresh[n_fresh - 1]) > 0;

		k->list[--at] = old ? k->list[--left] : m->fresh[--n_fresh];
	}
	return E_OK;
}

/* What is known after a sweep: both lists are by NodeGUID and port. */
static int merge(struct merge *m, struct known *k)
{
	const struct graph *g = m->j->disc.g;
	uint32_t end = 0, port = next_port(g, 0, &end);
	size_t i = 0;
	int ret = E_OK;

	while ((port != GRAPH_NONE || i < k->n) && ret == E_OK) {
		int order = port == GRAPH_NONE ? 1 : -1;

		if (port != GRAPH_NONE && i < k->n) {
			const struct known_node key = {
				.node_guid = g->nodes[g->ports[port].node].guid,
				.port = g->ports[port].num
			};

			order = compare(&key, &k->list[i]);
		}
		struct known_node *was = order >= 0 ? &k->list[i++] : NULL;
		if (order > 0) {
			ret = merge_gone(m, was);
		} else {
			ret = merge_there(m, port, was);
			port = next_port(g, port + 1, &end);
		}
	}
	return ret == E_OK ? move_rows(k, m) : ret;
}

void known_note(struct sm *sm, const struct job *j)
{
	struct known *k = &sm->known;
	size_t most = sm->d.config->known_nodes;
	struct record_changes c = { 0 };
	struct merge m = { .sm = sm, .j = j, .c = &c, .now = sm_wall_clock(sm) };

	if (sm->d.state == NULL) {
		return;
	}
	m.now += m.now == 0; /* 0 stands for a port that is there */
	int ret = refresh(sm);
	if (ret == E_OK) {
		ret = merge(&m, k);
	}
	if (ret == E_OK && k->n > most) {
		ret = drop_oldest(sm, &c, k->list, &k->n, most);
	}
	free(m.fresh);
	if (ret != E_OK) {
		k->rows.loaded = false; /* it has changes that were not written */
		state_batch_free(c.batch);
		log_message(MSG_SM_KNOWN_NOT_NOTED, source,
		            "cannot note which nodes are known and gone: %s", err_text(ret));
		return;
	}
	record_list_commit(sm, &k->rows, &c);
}

/* --- forgetting -------------------------------------------------------------------------------- */

/* Does a text name this node: by name, GUID or LID? */
static bool is_named(const struct known_node *n, const char *what)
{
	uint64_t number;

	return strcmp(n->name, what) == 0 ||
	       (text_guid(what, &number) == E_OK &&
	        (number == n->node_guid || number == n->port_guid)) ||
	       (n->lid != 0 && text_u64(what, LID_LIMIT_MAX, &number) == E_OK &&
	        number == n->lid);
}

const struct known_node *known_find(struct sm *sm, const char *what)
{
	const struct known *k = &sm->known;

	if (sm->d.state == NULL || refresh(sm) != E_OK) {
		return NULL;
	}
	for (size_t i = 0; i < k->n; i++) {
		if (is_named(&k->list[i], what)) {
			return &k->list[i];
		}
	}
	return NULL;
}

/* Which ports are to be forgotten: those of one node that is gone, or all that are. */
static int choose(const struct known *k, const char *what, uint64_t *ret_guid, char *why,
                  size_t why_bytes)
{
	const struct known_node *gone = NULL, *there = NULL;

	for (size_t i = 0; i < k->n; i++) {
		const struct known_node *n = &k->list[i];

		if (known_is_cable(n) || !is_named(n, what)) {
			continue;
		}
		if (n->gone_s == 0) {
			there = n;
		} else if (gone != NULL && gone->node_guid != n->node_guid) {
			snprintf(why, why_bytes,
			         "several nodes named '%s' are gone; give a GUID", what);
			return E_AMBIGUOUS;
		} else {
			gone = n;
		}
	}
	if (gone == NULL && there == NULL) {
		snprintf(
			why, why_bytes,
			"no node '%s' is known; 'saguaro nodes --gone' lists those that are gone",
			what);
		return E_NOTFOUND;
	}
	if (gone == NULL) {
		snprintf(why, why_bytes,
		         "%s is in the fabric; only a node that is gone can be forgotten",
		         there->name);
		return E_UNSUITABLE;
	}
	*ret_guid = gone->node_guid;
	return E_OK;
}

/* Is it one of those: all that are gone, or a node with its cables? */
static bool is_forgotten(const struct known_node *n, const char *what, uint64_t guid)
{
	return n->gone_s != 0 && (what == NULL || n->node_guid == guid ||
	                          (known_is_cable(n) && n->switch_guid == guid));
}

static void note_forgotten(struct sm *sm, const struct known_node *n, const char *by)
{
	char detail[EVENT_DETAIL_BYTES + 1];

	snprintf(detail, sizeof(detail), "by %s; LID %u is free", by, n->lid);
	events_note(sm, &(struct fabric_event){ .kind = EVENT_NODE_FORGOTTEN,
	                                        .node_guid = n->node_guid,
	                                        .node = n->name,
	                                        .detail = detail });
}

int known_forget(struct sm *sm, const char *what, const char *by, size_t *ret_n, char *why, size_t why_bytes)
{
	struct known *k = &sm->known;
	struct record_changes c = { 0 };
	uint64_t guid = 0;
	size_t left = 0, n_lids = 0;

	if (!sm->status.up || sm->d.state == NULL) {
		snprintf(why, why_bytes, "only a master whose subnet is up knows what is gone");
		return E_NOTREADY;
	}
	int ret = refresh(sm);
	if (ret == E_OK && what != NULL) {
		ret = choose(k, what, &guid, why, why_bytes);
		if (ret != E_OK) {
			return ret;
		}
	}
	struct lid_memory *lids = calloc(k->n + 1, sizeof(*lids));
	ret = ret == E_OK && lids == NULL ? -ENOMEM : ret;
	for (size_t i = 0; i < k->n && ret == E_OK; i++) {
		const struct known_node *n = &k->list[i];

		if (!is_forgotten(n, what, guid)) {
			continue;
		}
		if (!known_is_cable(n)) {
			lids[n_lids++].guid = n->port_guid;
		}
		ret = put(sm, &c, n, true);
	}
	if (ret == E_OK && n_lids > 0) {
		ret = state_put_lids(sm->d.state, lids, n_lids, false);
		sm->lids_written = false;
	}
	free(lids);
	if (ret != E_OK) {
		state_batch_free(c.batch);
		snprintf(why, why_bytes, "%s", err_text(ret));
		return ret;
	}
	for (size_t i = 0; i < k->n; i++) {
		const struct known_node *n = &k->list[i];

		if (!is_forgotten(n, what, guid)) {
			k->list[left++] = *n;
		} else if (!known_is_cable(n)) {
			note_forgotten(sm, n, by);
		}
	}
	k->n = left;
	record_list_commit(sm, &k->rows, &c);
	*ret_n = n_lids;
	return E_OK;
}

void known_done(struct known *k)
{
	free(k->list);
	*k = (struct known){ .n = 0 };
}
