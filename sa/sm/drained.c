/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Longer than most: a request, its effect, what a routing leaves out and what became of it are steps of one
 * row, which drained.h draws.
 */
#include "sa/sm/drained.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/text.h"
#include "db/state/state.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "sa/partition/runtime.h"
#include "sa/sm/place.h"
#include "sa/sm/sm.h"
#include "sa/sm/table/table.h"
#include "sa/sm/table/table_kind.h"

enum {
	PERCENT = 100,
	MS = 1000,
	BACK_SWEEPS = 2 /* the next one, and the one that balances */
};

static const char *const source = "sweep";

/* Uses of a row by a routing. */
enum drained_use {
	USE_ABSENT, /* the subject is not in the fabric, so no route can use it */
	USE_QUIET,  /* it carries no traffic of others */
	USE_NEEDED, /* without it something would be cut off */
	USE_OLD,    /* left out, and it was before */
	USE_NEW     /* left out for the first time, or again */
};

/* --- the rows as the state has them ------------------------------------------------------- */

static int decode_row(const uint8_t *key, size_t key_len, const void *value, size_t len,
                      void *ret_row)
{
	return drained_decode(key, key_len, value, len, ret_row);
}

/* Reads the rows if another daemon changed them, or they were not written. */
static int refresh(struct sm *sm)
{
	struct drained *d = &sm->drained;
	void *list;

	if (sm->d.state == NULL) {
		return E_OK;
	}
	d->rows.table = RECORDS_DRAINED;
	if (record_list_is_current(sm, &d->rows)) {
		return E_OK;
	}
	int ret = record_list_read(sm, &d->rows, sizeof(*d->list), decode_row, &list, &d->n);
	if (ret == E_OK) {
		free(d->list);
		d->list = list;
	}
	return ret;
}

static bool is_same_subject(const struct drained_row *a, const struct drained_row *b)
{
	return a->node_guid == b->node_guid && a->port == b->port && a->reason == b->reason;
}

static struct drained_row *find_row(const struct sm *sm, const struct drained_row *like)
{
	for (size_t i = 0; i < sm->drained.n; i++) {
		if (is_same_subject(&sm->drained.list[i], like)) {
			return &sm->drained.list[i];
		}
	}
	return NULL;
}

static int put_row(struct state_batch *b, const struct drained_row *r, bool removes)
{
	uint8_t key[DRAINED_KEY_BYTES], row[DRAINED_ROW_MAX];
	size_t len = removes ? 0 : drained_encode(r, row);

	drained_key(r->node_guid, r->port, r->reason, key);
	return state_batch_put(b, RECORDS_DRAINED, key, sizeof(key), removes ? NULL : row, len);
}

/* Makes one row durable, or removes it. */
static int store_row(struct sm *sm, const struct drained_row *r, bool removes)
{
	struct state_batch *b;
	int ret = state_batch_new(&b);

	if (ret != E_OK) {
		return ret;
	}
	ret = put_row(b, r, removes);
	if (ret != E_OK) {
		state_batch_free(b);
		return ret;
	}
	ret = runtime_store(sm->d.state, b);
	return ret == E_OK ? refresh(sm) : ret;
}

/* --- events --------------------------------------------------------------------------------- */

static void note(struct sm *sm, const struct drained_row *r, enum event_kind kind,
                 const char *detail)
{
	events_note(sm, &(struct fabric_event){ .kind = kind,
	                                        .node_guid = r->node_guid,
	                                        .node = r->name,
	                                        .port = r->port,
	                                        .peer_guid = r->peer_guid,
	                                        .peer = r->peer_name,
	                                        .peer_port = r->peer_port,
	                                        .detail = detail });
}

/* "maintenance; by root, ...: replace fan". */
static const char *who_text(const struct drained_row *r, char *text, size_t bytes)
{
	(void)snprintf(text, bytes, "%s%s%s%s%s", drained_reason_name(r->reason),
	               r->by[0] ? "; by " : "", r->by, r->note[0] ? ": " : "", r->note);
	return text;
}

/* --- what a request is about ---------------------------------------------------------------- */

/* A subject in the fabric as it is known. */
struct subject {
	uint32_t node; /* GRAPH_NONE: a cable, or it is not in the fabric */
	uint32_t port; /* either end of the cable; GRAPH_NONE: a node, or it is not there */
};

static void take_name(char to[DRAINED_NAME_BYTES + 1], const char *name)
{
	snprintf(to, DRAINED_NAME_BYTES + 1, "%s", name);
}

static void take_node(const struct graph *g, uint32_t node, struct drained_row *row,
                      struct subject *s)
{
	const struct node *n = &g->nodes[node];

	s->node = node;
	row->node_guid = n->guid;
	row->type = n->type;
	take_name(row->name, node_name(n));
}

/* The end with the lower GUID and port number comes first, so that both ends name one row. */
static int take_cable(const struct graph *g, uint32_t port, struct drained_row *row,
                      struct subject *s, char *why, size_t why_bytes)
{
	const struct port *a = &g->ports[port], *b;

	if (a->peer == GRAPH_NONE) {
		snprintf(why, why_bytes, "%s port %u has no cable",
		         node_name(&g->nodes[a->node]), a->num);
		return E_NOTFOUND;
	}
	s->port = port;
	b = &g->ports[a->peer];
	if (g->nodes[b->node].guid < g->nodes[a->node].guid ||
	    (b->node == a->node && b->num < a->num)) {
		const struct port *swap = a;

		a = b;
		b = swap;
	}
	row->node_guid = g->nodes[a->node].guid;
	row->port = a->num;
	row->peer_guid = g->nodes[b->node].guid;
	row->peer_port = b->num;
	take_name(row->name, node_name(&g->nodes[a->node]));
	take_name(row->peer_name, node_name(&g->nodes[b->node]));
	return E_OK;
}

static int take_numbers(const struct graph *g, const struct drained_request *rq,
                        struct drained_row *row, struct subject *s, char *why,
                        size_t why_bytes)
{
	uint32_t node = graph_node_by_guid(g, rq->node_guid),
		 port = node != GRAPH_NONE && rq->port != 0 ? graph_port(g, node, rq->port)
	                                                    : GRAPH_NONE;

	if (node == GRAPH_NONE || (rq->port != 0 && port == GRAPH_NONE)) {
		snprintf(why, why_bytes, "there is no node 0x%016" PRIx64 " with a port %u",
		         rq->node_guid, rq->port);
		return E_NOTFOUND;
	}
	if (rq->port != 0) {
		return take_cable(g, port, row, s, why, why_bytes);
	}
	take_node(g, node, row, s);
	return E_OK;
}

static int take_place(struct sm *sm, const struct job *j, const char *place,
                      struct drained_row *row, struct subject *s, char *why,
                      size_t why_bytes)
{
	const struct known_node *known;
	uint8_t num = 0;
	uint32_t n, port, node = place_node(j, place, &num, &n);

	if (n == 1) {
		take_node(j->disc.g, node, row, s);
		return E_OK;
	}
	if (n > 1) {
		snprintf(why, why_bytes, "%u nodes have the name '%s'; give a GUID", n, place);
		return E_AMBIGUOUS;
	}
	if (strchr(place, ':') != NULL) {
		int ret = place_port(j, place, &port, why, why_bytes);

		if (ret != E_NOTFOUND) {
			return ret == E_OK ? take_cable(j->disc.g, port, row, s, why,
			                                why_bytes)
			                   : ret;
		}
	}
	known = known_find(sm, place);
	if (known == NULL) {
		snprintf(
			why, why_bytes,
			"there is no '%s'; expected NAME, GUID or LID of a node, or NAME:PORT for the cable of that port",
			place);
		return E_NOTFOUND;
	}
	row->node_guid = known->node_guid;
	row->type = known->type;
	take_name(row->name, known->name);
	return E_OK;
}

static int find_subject(struct sm *sm, const struct job *j, const struct drained_request *rq,
                        struct drained_row *row, struct subject *s, char *why,
                        size_t why_bytes)
{
	*s = (struct subject){ GRAPH_NONE, GRAPH_NONE };
	return rq->place != NULL ? take_place(sm, j, rq->place, row, s, why, why_bytes)
	                         : take_numbers(j->disc.g, rq, row, s, why, why_bytes);
}

/* Does the text of a request name this end, as NAME, NAME:PORT, GUID or GUID:PORT? */
static bool end_is_named(const char *place, const char *name, uint64_t guid, uint8_t port)
{
	char text[DRAINED_NAME_BYTES + 8];
	const char *colon = strrchr(place, ':');
	uint64_t number;

	if (port == 0) {
		return strcmp(place, name) == 0 ||
		       (text_guid(place, &number) == E_OK && number == guid);
	}
	if (colon == NULL || text_u64(colon + 1, UINT8_MAX, &number) != E_OK ||
	    number != port || (size_t)(colon - place) >= sizeof(text)) {
		return false;
	}
	snprintf(text, sizeof(text), "%.*s", (int)(colon - place), place);
	return strcmp(text, name) == 0 || (text_guid(text, &number) == E_OK && number == guid);
}

/* The row that is to end. It is found by its own names first, because its subject may be off. */
static int find_to_end(struct sm *sm, const struct job *j, const struct drained_request *rq,
                       struct drained_row *row, char *why, size_t why_bytes)
{
	const struct drained *d = &sm->drained;
	const struct drained_row *found = NULL;
	struct subject s;
	int ret;

	for (size_t i = 0; i < d->n; i++) {
		const struct drained_row *r = &d->list[i];

		if (r->reason != rq->reason ||
		    (rq->place == NULL
		             ? !drained_concerns(r, rq->node_guid, rq->port) ||
		                       (r->port == 0) != (rq->port == 0)
		             : !end_is_named(rq->place, r->name, r->node_guid, r->port) &&
		                       (r->port == 0 ||
		                        !end_is_named(rq->place, r->peer_name,
		                                      r->peer_guid, r->peer_port)))) {
			continue;
		}
		if (found != NULL) {
			snprintf(why, why_bytes,
			         "several nodes named '%s' are out of service; give a GUID",
			         rq->place != NULL ? rq->place : "");
			return E_AMBIGUOUS;
		}
		found = r;
	}
	if (found == NULL) {
		ret = find_subject(sm, j, rq, row, &s, why, why_bytes);
		if (ret != E_OK) {
			return ret;
		}
		found = find_row(sm, row);
	}
	if (found == NULL) {
		snprintf(why, why_bytes, "%s%s is not out of service for %s", row->name,
		         row->port != 0 ? " with this cable" : "",
		         drained_reason_name(rq->reason));
		return E_NOTFOUND;
	}
	*row = *found;
	return E_OK;
}

/* --- what the switches hold ----------------------------------------------------------------- */

/* Does a switch send packets by this port, by the tables that it confirmed? Only LIDs of hosts on other
 * switches than \a but count, unless it is GRAPH_NONE: then all do. */
static bool has_route(const struct sm *sm, const struct job *j, uint64_t guid, uint8_t port,
                      uint32_t but)
{
	const struct graph *g = j->disc.g;
	const struct lids *lids = j->program.lids;
	const struct table *t = table_find(&sm->tables, TABLE_LFT, guid, 0);

	for (uint32_t lid = 1; t != NULL && lid <= lids->top; lid++) {
		uint32_t owner = lids->owner[lid];

		if (lid / LFT_BLOCK_LIDS < t->cols && owner != GRAPH_NONE &&
		    t->data[lid] == port &&
		    (but == GRAPH_NONE ||
		     (g->ports[owner].num != 0 && graph_switch_of(g, owner) != but))) {
			return true;
		}
	}
	return false;
}

/* Do packets between hosts on other switches come to this one? */
static bool is_passed(const struct sm *sm, const struct job *j, uint32_t sw)
{
	const struct graph *g = j->disc.g;

	for (uint32_t i = g->adj_first[sw]; i < g->adj_first[sw + 1]; i++) {
		if (has_route(sm, j, g->nodes[g->switches[g->adj[i].to]].guid, g->adj[i].to_port,
		              sw)) {
			return true;
		}
	}
	return false;
}

/* Has a switch to be cut off from its neighbours so that nothing passes it? One with hosts, as a leaf of a
 * tree, keeps all its cables as long as nothing does anyway. */
static bool is_to_be_apart(const struct sm *sm, const struct job *j,
                           const struct drained_row *r, uint32_t node)
{
	const struct graph *g = j->disc.g;
	uint32_t sw = g->nodes[node].sw;

	return r->apart || g->host_first[sw] == g->host_first[sw + 1] || is_passed(sm, j, sw);
}

/* --- what is drained at a time --------------------------------------------------------------- */

/* Finds the subject of a row in a fabric. */
static enum drained_use look_up(const struct graph *g, const struct drained_row *r,
                                struct subject *s)
{
	uint32_t node = graph_node_by_guid(g, r->node_guid), port, peer;

	*s = (struct subject){ GRAPH_NONE, GRAPH_NONE };
	if (node == GRAPH_NONE) {
		return r->port == 0 && r->type != NODE_SWITCH ? USE_QUIET : USE_ABSENT;
	}
	if (r->port == 0) {
		s->node = node;
		return g->nodes[node].type == NODE_SWITCH ? USE_NEW : USE_QUIET;
	}
	port = graph_port(g, node, r->port);
	peer = port != GRAPH_NONE ? g->ports[port].peer : GRAPH_NONE;
	if (peer == GRAPH_NONE) {
		return r->state == DRAINED_QUIET ? USE_QUIET : USE_ABSENT;
	}
	s->port = port;
	return g->nodes[node].type == NODE_SWITCH &&
	                       g->nodes[g->ports[peer].node].type == NODE_SWITCH
	               ? USE_NEW
	               : USE_QUIET;
}

static void add_subject(struct drain_set *set, const struct graph *g, const struct subject *s)
{
	if (s->node != GRAPH_NONE) {
		drain_add_node(set, g, s->node);
	} else {
		drain_add_cable(set, g, s->port);
	}
}

static bool cuts(const struct drain_effect *e)
{
	return e->pairs_cut != 0 || e->switches_cut != 0;
}

/* Adds the rows that can be left out together, one after the other: those that were left out
 * before come first, so that no new request takes their place. */
static int choose_rows(const struct sm *sm, const struct job *j, struct drained_row *rows,
                       size_t n, bool old, struct drain_set *set, uint8_t *use)
{
	const struct graph *g = j->disc.g;
	int ret = E_OK;

	for (size_t i = 0; i < n && ret == E_OK; i++) {
		struct subject s;
		enum drained_use how = look_up(g, &rows[i], &s);
		struct drain_effect e = { 0 };

		if ((rows[i].state == DRAINED_DRAINED) != old) {
			continue;
		}
		if (how == USE_NEW && !rows[i].force) {
			ret = drain_effect(g, set, s.node, s.port, &e);
		}
		if (how == USE_NEW && !cuts(&e)) {
			if (s.node != GRAPH_NONE) {
				rows[i].apart = is_to_be_apart(sm, j, &rows[i], s.node);
			}
			if (s.node == GRAPH_NONE || rows[i].apart) {
				add_subject(set, g, &s);
			}
			how = old ? USE_OLD : USE_NEW;
		} else if (how == USE_NEW) {
			how = USE_NEEDED;
		}
		if (use != NULL) {
			use[i] = (uint8_t)how;
		}
	}
	return ret;
}

/* --- requests -------------------------------------------------------------------------------- */

/* Percent of the cables between switches that a switch would be without. */
static unsigned percent_without(const struct graph *g, const struct drain_set *set,
                                uint32_t node, uint32_t port)
{
	uint32_t n = 0, without = 0;

	for (unsigned i = 1; i <= g->nodes[node].n_ports; i++) {
		uint32_t at = graph_port(g, node, i), peer = g->ports[at].peer;

		if (peer != GRAPH_NONE && g->nodes[g->ports[peer].node].type == NODE_SWITCH) {
			n++;
			without += set->port[at] != 0 || at == port || peer == port;
		}
	}
	return n != 0 ? PERCENT * without / n : 0;
}

static int check_limits(const struct sm *sm, const struct graph *g, const struct drain_set *set,
                        const struct drained_request *rq, const struct subject *s, char *why,
                        size_t why_bytes)
{
	const struct drained_limits *l = rq->limits;
	uint32_t n = 1;

	if (l == NULL) {
		return E_OK;
	}
	for (size_t i = 0; i < sm->drained.n; i++) {
		n += sm->drained.list[i].reason == rq->reason;
	}
	if (l->rows != 0 && n > l->rows) {
		snprintf(why, why_bytes, "%u nodes and cables are out of service for %s already",
		         n - 1, drained_reason_name(rq->reason));
		return E_FULL;
	}
	for (unsigned i = 0; i < 2 && l->switch_percent != 0 && s->port != GRAPH_NONE; i++) {
		uint32_t at = i == 0 ? s->port : g->ports[s->port].peer,
			 node = g->ports[at].node;

		if (g->nodes[node].type == NODE_SWITCH &&
		    percent_without(g, set, node, s->port) > l->switch_percent) {
			snprintf(why, why_bytes,
			         "%s would be without more than %u%% of its cables to switches",
			         node_name(&g->nodes[node]), l->switch_percent);
			return E_FULL;
		}
	}
	return E_OK;
}

static int check_effect(const struct graph *g, const struct drained_request *rq,
                        struct drained_outcome *o, char *why, size_t why_bytes)
{
	const struct drain_effect *e = &o->effect;

	if (e->cut_port != GRAPH_NONE) {
		snprintf(o->cut_host, sizeof(o->cut_host), "%s",
		         node_text(g, NULL, g->ports[e->cut_port].node).text);
	}
	if (e->cuts_sm) {
		snprintf(
			why, why_bytes,
			"the subnet manager itself would be cut off; hand the fabric to one elsewhere first, with 'saguaro handover'");
		return E_UNSUITABLE;
	}
	if (cuts(e) && !rq->force) {
		snprintf(why, why_bytes,
		         "%" PRIu64
		         " pairs of other hosts would lose all routes%s%s, and %u other switches would be cut off; --force does it nevertheless",
		         e->pairs_cut, o->cut_host[0] ? ", for instance those of " : "",
		         o->cut_host, e->switches_cut);
		return E_UNSUITABLE;
	}
	return E_OK;
}

/* Rows that are left out already, without the subject of the request. */
static int set_without(const struct sm *sm, const struct job *j,
                       const struct drained_row *subject, struct arena *a,
                       struct drain_set *ret_set)
{
	const struct graph *g = j->disc.g;
	size_t n = sm->drained.n;
	struct drained_row *rows = arena_array(a, n + 1, sizeof(*rows));
	int ret = rows != NULL ? drain_set_init(ret_set, g, a) : -ENOMEM;

	for (size_t i = 0; i < n && ret == E_OK; i++) {
		rows[i] = sm->drained.list[i];
		rows[i].apart = true; /* as if it was off already */
	}
	for (unsigned old = 0; old < 2 && ret == E_OK; old++) {
		ret = choose_rows(sm, j, rows, n, old == 0, ret_set, NULL);
	}
	if (ret == E_OK) {
		struct subject s;

		if (look_up(g, subject, &s) == USE_NEW) {
			if (s.node != GRAPH_NONE) {
				drain_remove_node(ret_set, g, s.node);
			} else {
				drain_remove_cable(ret_set, g, s.port);
			}
		}
	}
	return ret;
}

static int check_start(const struct sm *sm, const struct job *j,
                       const struct drained_request *rq, const struct subject *s,
                       struct drained_outcome *o, char *why, size_t why_bytes)
{
	const struct graph *g = j->disc.g;
	struct arena *a = arena_new();
	struct drain_set set;
	int ret = a != NULL ? set_without(sm, j, &o->row, a, &set) : -ENOMEM;

	if (ret == E_OK) {
		ret = drain_effect(g, &set, s->node, s->port, &o->effect);
	}
	if (ret == E_OK) {
		ret = check_effect(g, rq, o, why, why_bytes);
	} else {
		snprintf(why, why_bytes, "%s", err_text(ret));
	}
	if (ret == E_OK && find_row(sm, &o->row) == NULL) {
		ret = check_limits(sm, g, &set, rq, s, why, why_bytes);
	}
	arena_free(a);
	return ret;
}

/* A request for a row that there is changes what an operator may say of it. */
static void fill_row(struct sm *sm, const struct drained_request *rq, const struct graph *g,
                     struct drained_row *row)
{
	const struct drained_row *was = find_row(sm, row);
	struct subject s;

	row->since_s = row->state_s = sm_wall_clock(sm);
	row->state = look_up(g, row, &s) == USE_QUIET ? DRAINED_QUIET : DRAINED_DRAINING;
	if (was != NULL) {
		*row = *was;
	}
	row->until_s = rq->until_s;
	row->force = rq->force;
	if (rq->by != NULL) {
		snprintf(row->by, sizeof(row->by), "%s", rq->by);
		text_printable(row->by);
	}
	if (rq->note != NULL || was == NULL) {
		snprintf(row->note, sizeof(row->note), "%s", rq->note != NULL ? rq->note : "");
		text_printable(row->note);
	}
}

static void request_sweep(struct sm *sm, const struct drained_row *r, const char *what)
{
	sm_request_local(sm, &r->node_guid, 1, "%s %s: %s", r->name, what,
	                 drained_reason_name(r->reason));
}

static int start(struct sm *sm, const struct job *j, const struct drained_request *rq,
                 struct drained_outcome *o, char *why, size_t why_bytes)
{
	const struct graph *g = j->disc.g;
	char text[EVENT_DETAIL_BYTES];
	struct subject s;
	int ret = find_subject(sm, j, rq, &o->row, &s, why, why_bytes);
	bool is_new;

	o->row.reason = (uint8_t)rq->reason;
	if (ret == E_OK && (s.node != GRAPH_NONE || s.port != GRAPH_NONE)) {
		ret = check_start(sm, j, rq, &s, o, why, why_bytes);
	}
	if (ret != E_OK) {
		return ret;
	}
	is_new = find_row(sm, &o->row) == NULL;
	fill_row(sm, rq, g, &o->row);
	if (rq->dry_run) {
		return E_OK;
	}
	ret = store_row(sm, &o->row, false);
	if (ret != E_OK) {
		snprintf(why, why_bytes, "the state cannot be written: %s", err_text(ret));
		return ret;
	}
	o->changed = true;
	if (is_new) {
		note(sm, &o->row, EVENT_DRAIN_BEGUN, who_text(&o->row, text, sizeof(text)));
		sm->drained.failed = 0;
		if (o->row.state != DRAINED_QUIET) {
			request_sweep(sm, &o->row, "goes out of service");
		}
	}
	return E_OK;
}

/* If there are too many, a LID may be without routes for a moment when these return. */
static void note_back(struct sm *sm, uint64_t guid)
{
	struct drained *d = &sm->drained;

	if (guid != 0 && d->n_back < DRAINED_BACK) {
		d->back[d->n_back++] = guid;
		d->back_sweeps = BACK_SWEEPS;
	}
}

/* Removes a row. Links that are back carry nothing until routing gives them routes. */
static int end_row(struct sm *sm, const struct drained_row *r, const char *detail)
{
	struct drained_row was = *r;
	int ret = store_row(sm, &was, true);

	if (ret == E_OK) {
		note(sm, &was, EVENT_DRAIN_ENDED, detail);
		sm->drained.failed = 0;
		if (was.state != DRAINED_QUIET) {
			sm->drained.returned = true;
			note_back(sm, was.node_guid);
			note_back(sm, was.peer_guid);
			request_sweep(sm, &was, "is in service again");
		}
	}
	return ret;
}

static int end(struct sm *sm, const struct job *j, const struct drained_request *rq,
               struct drained_outcome *o, char *why, size_t why_bytes)
{
	char text[EVENT_DETAIL_BYTES];
	int ret = find_to_end(sm, j, rq, &o->row, why, why_bytes);

	if (ret != E_OK || rq->dry_run) {
		return ret;
	}
	snprintf(text, sizeof(text), "the %s ends%s%s", drained_reason_name(rq->reason),
	         rq->by != NULL ? "; by " : "", rq->by != NULL ? rq->by : "");
	ret = end_row(sm, &o->row, text);
	o->changed = ret == E_OK;
	if (ret != E_OK) {
		snprintf(why, why_bytes, "the state cannot be written: %s", err_text(ret));
	}
	return ret;
}

int drained_request(struct sm *sm, const struct drained_request *rq,
                    struct drained_outcome *ret_outcome, char *why, size_t why_bytes)
{
	const struct job *j = sm_known_job(sm);
	struct drained_outcome o = { .effect = { .cut_port = GRAPH_NONE } };
	int ret;

	o.row.reason = (uint8_t)rq->reason;
	if (j == NULL || !sm->status.master || sm->d.state == NULL) {
		snprintf(why, why_bytes, "%s",
		         sm->d.state == NULL
		                 ? "there is no state folder"
		                 : "this subnet manager is not master, or knows no fabric yet");
		return E_NOTREADY;
	}
	ret = refresh(sm);
	if (ret != E_OK) {
		snprintf(why, why_bytes, "the state cannot be read: %s", err_text(ret));
		return ret;
	}
	ret = rq->end ? end(sm, j, rq, &o, why, why_bytes)
	              : start(sm, j, rq, &o, why, why_bytes);
	*ret_outcome = o;
	return ret;
}

/* --- the end by itself ------------------------------------------------------------------------ */

uint64_t drained_deadline(const struct sm *sm)
{
	int64_t now = sm_wall_clock(sm), first = INT64_MAX;

	for (size_t i = 0; i < sm->drained.n && sm->status.master && sm->status.up; i++) {
		int64_t until = sm->drained.list[i].until_s;

		first = until != 0 && until < first ? until : first;
	}
	return first == INT64_MAX ? UINT64_MAX
	       : first <= now     ? 0
	                          : sm_now(sm) + (uint64_t)(first - now) * MS;
}

void drained_expire(struct sm *sm)
{
	int64_t now = sm_wall_clock(sm);
	size_t i = 0;

	while (i < sm->drained.n) {
		const struct drained_row *r = &sm->drained.list[i];

		if (r->until_s == 0 || r->until_s > now) {
			i++;
		} else if (end_row(sm, r, "its time is over") != E_OK) {
			return; /* a state that cannot be written has its own message */
		}
	}
}

/* --- for the sweep ---------------------------------------------------------------------------- */

/* Links that a fabric is without in 64 bits; 0: none. */
static uint64_t digest_cut(const struct graph *g, const struct graph *routed)
{
	uint64_t h = 0;

	for (uint32_t i = 0; i < g->n_ports && g != routed; i++) {
		if (g->ports[i].peer != routed->ports[i].peer) {
			h = digest_add(digest_add(h | 1, g->nodes[g->ports[i].node].guid),
			               g->ports[i].num);
		}
	}
	return h;
}

/* Marks the switches that may change last when routes return. */
static int mark_others(const struct sm *sm, const struct graph *g, struct arena *a,
                       struct drained_plan *p)
{
	const struct drained *d = &sm->drained;
	uint8_t *others = arena_array(a, g->n_switches + 1u, 1);

	if (others == NULL) {
		return -ENOMEM;
	}
	memset(others, 1, g->n_switches);
	for (unsigned i = 0; i < d->n_back; i++) {
		uint32_t node = graph_node_by_guid(g, d->back[i]);

		if (node != GRAPH_NONE && g->nodes[node].sw != GRAPH_NONE) {
			others[g->nodes[node].sw] = 0;
		}
	}
	p->late[2] = others;
	return E_OK;
}

/* Marks the switches that may change last. The set and the fabric are those of DRAINED_ALL. */
static int mark_late(const struct graph *g, const struct drain_set *set, struct arena *a,
                     struct drained_plan *p)
{
	uint8_t *passed = arena_array(a, g->n_switches + 1u, 1),
		*ends = arena_array(a, g->n_switches + 1u, 1);

	if (passed == NULL || ends == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		uint32_t node = g->ports[i].node, sw = g->nodes[node].sw;

		if (sw != GRAPH_NONE) {
			passed[sw] |= set->node[node] | set->port[i];
			ends[sw] |= g->ports[i].peer != p->g[DRAINED_ALL]->ports[i].peer;
		}
	}
	p->late[0] = passed;
	p->late[1] = ends;
	return E_OK;
}

int drained_plan(struct sm *sm, const struct job *j, struct arena *a,
                 struct drained_plan *ret_plan)
{
	const struct graph *g = j->disc.g;
	struct drained *d = &sm->drained;
	struct drained_plan p = { .g = { g, g, g }, .failed = d->failed };
	struct drain_set set;
	int ret = refresh(sm);

	if (ret == E_OK && d->n_back != 0) {
		ret = mark_others(sm, g, a, &p);
	}
	if (ret != E_OK || d->n == 0) {
		*ret_plan = p;
		return ret;
	}
	p.n = d->n;
	p.rows = arena_array(a, d->n, sizeof(*p.rows));
	p.use = arena_array(a, d->n, sizeof(*p.use));
	ret = p.rows != NULL && p.use != NULL ? drain_set_init(&set, g, a) : -ENOMEM;
	if (ret != E_OK) {
		return ret;
	}
	memcpy(p.rows, d->list, d->n * sizeof(*p.rows));
	for (unsigned k = 0; k < 2 && ret == E_OK; k++) {
		enum drained_try t = k == 0 ? DRAINED_OLD : DRAINED_ALL;

		ret = choose_rows(sm, j, p.rows, p.n, k == 0, &set, p.use);
		if (ret == E_OK) {
			ret = drain_graph(g, &set, a, &p.g[t]);
		}
		p.cut[t] = ret == E_OK ? digest_cut(g, p.g[t]) : 0;
	}
	if (ret == E_OK && p.cut[DRAINED_ALL] != 0) {
		ret = mark_late(g, &set, a, &p);
	}
	*ret_plan = p;
	return ret;
}

bool drained_is_careful(const struct drained_plan *p)
{
	bool is = false;

	for (size_t i = 0; i < p->n; i++) {
		is |= p->use[i] == USE_NEW && !p->rows[i].force;
	}
	return is && p->used == DRAINED_ALL && p->cut[DRAINED_ALL] != p->cut[DRAINED_OLD];
}

static void note_needed(struct sm *sm, const struct drained_row *r, const char *refusal)
{
	char text[EVENT_DETAIL_BYTES];

	snprintf(text, sizeof(text), "routes use it again: %s",
	         refusal[0] ? refusal
	                    : "without it pairs of hosts would have none, or switches be cut off");
	note(sm, r, EVENT_DRAIN_REFUSED, text);
}

/* The next state of a row. */
static enum drained_state next_state(const struct drained_plan *p, size_t i, bool complete)
{
	enum drained_state was = (enum drained_state)p->rows[i].state;

	switch ((enum drained_use)p->use[i]) {
	case USE_QUIET: return DRAINED_QUIET;
	case USE_NEEDED: return DRAINED_NEEDED;
	case USE_ABSENT: return was == DRAINED_QUIET ? was : DRAINED_DRAINED;
	case USE_OLD: return p->used == DRAINED_NONE ? DRAINED_NEEDED : DRAINED_DRAINED;
	case USE_NEW:
		if (p->used != DRAINED_ALL) {
			return DRAINED_NEEDED;
		}
		return complete ? DRAINED_DRAINED : DRAINED_DRAINING;
	}
	return was;
}

/* A switch that kept its cables, because nothing passed it, and is passed by the new routes. */
static bool use_passed(const struct sm *sm, const struct job *j, const struct drained_row *r)
{
	struct subject s;

	return r->port == 0 && !r->apart && look_up(j->disc.g, r, &s) == USE_NEW &&
	       is_passed(sm, j, j->disc.g->nodes[s.node].sw);
}

/* \return A batch of the rows that changed; NULL: none did, or memory is out. */
static struct state_batch *changed_rows(struct sm *sm, const struct job *j,
                                        const struct drained_plan *p, bool complete)
{
	struct state_batch *b = NULL;
	int ret = E_OK;

	for (size_t i = 0; i < p->n && ret == E_OK; i++) {
		const struct drained_row *r = find_row(sm, &p->rows[i]);
		enum drained_state next = next_state(p, i, complete);
		bool removes = p->use[i] == USE_NEW && p->used != DRAINED_ALL &&
		               p->rows[i].state == DRAINED_DRAINING;
		bool passed = next == DRAINED_DRAINED && use_passed(sm, j, &p->rows[i]);
		struct drained_row row;

		next = passed ? DRAINED_DRAINING : next;
		if (passed) {
			request_sweep(sm, &p->rows[i], "still passes traffic of others");
		}
		if (r == NULL ||
		    (r->state == next && r->apart == (p->rows[i].apart || passed))) {
			continue; /* it ended meanwhile, or is as it was */
		}
		row = *r;
		row.apart = p->rows[i].apart || passed;
		if (r->state != next) {
			row.state = (uint8_t)next;
			row.state_s = sm_wall_clock(sm);
		}
		ret = b == NULL ? state_batch_new(&b) : E_OK;
		ret = ret == E_OK ? put_row(b, &row, removes) : ret;
		if (ret != E_OK) {
			break;
		}
		if (removes) {
			note(sm, &row, EVENT_DRAIN_REFUSED, p->refusal);
		} else if (next == DRAINED_NEEDED && r->state != next) {
			note_needed(sm, &row, p->refusal);
		} else if (next == DRAINED_DRAINED && r->state != next) {
			note(sm, &row, EVENT_DRAINED, drained_reason_name(row.reason));
		}
	}
	return b;
}

static bool is_complete(const struct sm *sm, const struct job *j)
{
	const struct graph *g = j->disc.g, *routed = j->request.g;

	for (uint32_t i = 0; i < g->n_ports && routed != g; i++) {
		if (g->ports[i].peer != routed->ports[i].peer &&
		    has_route(sm, j, g->nodes[g->ports[i].node].guid, g->ports[i].num,
		              GRAPH_NONE)) {
			return false;
		}
	}
	return true;
}

void drained_settle(struct sm *sm, const struct job *j)
{
	const struct drained_plan *p = &j->drained;
	struct state_batch *b = p->n != 0 ? changed_rows(sm, j, p, is_complete(sm, j)) : NULL;
	int ret;

	if (sm->drained.back_sweeps == 0 || --sm->drained.back_sweeps == 0) {
		sm->drained.n_back = 0;
	}
	if (b == NULL) {
		return;
	}
	ret = runtime_store(sm->d.state, b);
	if (ret == E_OK) {
		ret = refresh(sm);
	}
	if (ret != E_OK) {
		log_message(MSG_SM_DRAINED_NOT_NOTED, source,
		            "cannot note what is drained: %s", err_text(ret));
	}
}

void drained_done(struct drained *d)
{
	free(d->list);
	*d = (struct drained){ .n = 0 };
}
