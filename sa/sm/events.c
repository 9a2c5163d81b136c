/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/events.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/text.h"
#include "conf/base/vector.h"
#include "conf/config.h"
#include "db/state/state.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sm/discover/admit.h"
#include "sa/sm/sm.h"

enum {
	CHANGE_LINES = 20,
	RESERVE = 10000 /* numbers at a time: each reservation waits for the disk */
};

static const char *const source = "sweep";
static const char mark[] = "next event";

/* --- rows ------------------------------------------------------------------------------ */

/* Numbers go on where they were although the stats are lost, as at a reboot. The state keeps
 * a number that is above all that were given. */
static void reserve_numbers(struct sm *sm)
{
	uint64_t next = stats_event_next(sm->d.stats);

	if (sm->d.state == NULL || next + RESERVE / 2 <= sm->events.reserved) {
		return;
	}
	/* Where this fails, a client may miss that its last number is of an earlier life. */
	if (state_mark_put(sm->d.state, mark, next + RESERVE) == E_OK) {
		sm->events.reserved = next + RESERVE;
	}
}

void events_start(struct sm *sm)
{
	uint64_t reserved = 0;

	if (sm->d.stats == NULL) {
		return;
	}
	if (sm->d.state != NULL && state_mark_get(sm->d.state, mark, &reserved) == E_OK &&
	    stats_event_next(sm->d.stats) == 1) {
		stats_event_raise(sm->d.stats, reserved);
	}
	sm->events.reserved = reserved;
	stats_event_limit(sm->d.stats, sm->d.config->event_history);
	events_say(sm, EVENT_STARTED, "%s", "");
}

static void keep_row(struct sm *sm, const struct fabric_event *e)
{
	if (sm->d.stats != NULL) {
		reserve_numbers(sm);
		(void)stats_event(sm->d.stats, e); /* the next heartbeat fails, too */
		sm->events.fresh = true;
	}
}

static const char *copy(struct arena *a, const char *text)
{
	return text != NULL && *text != '\0' ? arena_strdup(a, text) : NULL;
}

/* Lets a row wait for the end of the sweep. \return false: out of memory. */
static bool let_wait(struct events *ev, const struct fabric_event *e)
{
	struct fabric_event *to;

	if (ev->arena == NULL) {
		ev->arena = arena_new();
	}
	if (ev->arena == NULL ||
	    VECTOR_RESERVE(ev->waiting, ev->cap, ev->n + 1) != E_OK) {
		return false;
	}
	to = &ev->waiting[ev->n++];
	*to = *e;
	to->node = copy(ev->arena, e->node);
	to->peer = copy(ev->arena, e->peer);
	to->detail = copy(ev->arena, e->detail);
	return true;
}

static void add_row(struct sm *sm, const struct fabric_event *e)
{
	struct fabric_event row = *e;

	row.time_s = sm_wall_clock(sm);
	acks_note_event(sm, e, row.time_s);
	row.clock_ms = sm_now(sm);
	if (sm->d.stats != NULL &&
	    (!sm->events.sweeping || !let_wait(&sm->events, &row))) {
		row.epoch = sm->status.epoch;
		keep_row(sm, &row);
	}
}

/* A value for the log; NULL: there is none. */
static const char *guid_text(uint64_t guid, char *buf, size_t size)
{
	snprintf(buf, size, "0x%016" PRIx64, guid);
	return guid != 0 ? buf : NULL;
}

static const char *number_text(uint64_t number, char *buf, size_t size)
{
	snprintf(buf, size, "%" PRIu64, number);
	return number != 0 ? buf : NULL;
}

/* Warnings and errors have a row in messages.def. */
#define MESSAGE_INFO(id) MSG_NONE
#define MESSAGE_WARNING(id) MSG_EVENT_##id
#define MESSAGE_ERROR(id) MSG_EVENT_##id
static const enum message messages[] = {
#define EVENT(id, name, severity, sentence, help) [EVENT_##id] = MESSAGE_##severity(id),
#include "db/stats/events.def"
#undef EVENT
};

static void log_line(const struct sm *sm, const struct fabric_event *e)
{
	char text[EVENT_TEXT_BYTES], guid[24], peer_guid[24], port[24], peer_port[24],
		epoch[24];
	const struct log_field fields[] = {
		{ "event", event_types[e->kind].name },
		{ "epoch", number_text(sm->status.epoch, epoch, sizeof(epoch)) },
		{ "node_guid", guid_text(e->node_guid, guid, sizeof(guid)) },
		{ "node", e->node },
		{ "port", number_text(e->port, port, sizeof(port)) },
		{ "peer_guid", guid_text(e->peer_guid, peer_guid, sizeof(peer_guid)) },
		{ "peer", e->peer },
		{ "peer_port", number_text(e->peer_port, peer_port, sizeof(peer_port)) },
		{ NULL, NULL }
	};

	log_fields(messages[e->kind], source, fields, event_text(e, text, sizeof(text)));
}

void events_note(struct sm *sm, const struct fabric_event *e)
{
	log_line(sm, e);
	add_row(sm, e);
}

void events_say(struct sm *sm, enum event_kind kind, const char *fmt, ...)
{
	char detail[EVENT_DETAIL_BYTES + 1];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	events_note(sm, &(struct fabric_event){ .kind = kind, .detail = detail });
}

bool events_fresh(struct events *e)
{
	bool fresh = e->fresh;

	e->fresh = false;
	return fresh;
}

void events_done(struct events *e)
{
	arena_free(e->arena);
	free(e->waiting);
	*e = (struct events){ .n = 0 };
}

/* --- heavy sweeps ---------------------------------------------------------------------- */

void events_sweep_begin(struct sm *sm)
{
	struct events *ev = &sm->events;

	if (ev->sweeping) { /* one that was given up in silence */
		events_sweep_end(sm, NULL);
	}
	ev->sweeping = true;
	ev->started_ms = sm_now(sm);
	snprintf(ev->cause, sizeof(ev->cause), "%s", sm->cause);
}

void events_sweep_end(struct sm *sm, const struct job *j)
{
	struct events *ev = &sm->events;

	for (size_t i = 0; i < ev->n; i++) {
		struct fabric_event *e = &ev->waiting[i];

		e->epoch = sm->status.epoch;
		e->duration_ms = (uint32_t)(sm_now(sm) - ev->started_ms);
		e->paths_moved = j != NULL ? j->program.n_moved : 0;
		e->lft_blocks = j != NULL ? j->program.tables.n_sets[TABLE_LFT] : 0;
		e->cause = ev->cause;
		keep_row(sm, e);
	}
	ev->n = 0;
	ev->sweeping = false;
	arena_free(ev->arena);
	ev->arena = NULL;
}

void events_sweep_failed(struct sm *sm, const char *why)
{
	struct events *ev = &sm->events;
	const struct fabric_event e = { .kind = EVENT_SWEEP_FAILED, .detail = why };

	log_line(sm, &e);
	if (strncmp(ev->failure, why, sizeof(ev->failure) - 1) != 0) {
		snprintf(ev->failure, sizeof(ev->failure), "%s", why);
		add_row(sm, &e);
	}
}

void events_routing(struct sm *sm, const char *asked, const char *fallback)
{
	struct events *ev = &sm->events;
	struct fabric_event e = { .kind = EVENT_FALLBACK, .detail = fallback };

	if (fallback == NULL && ev->fallback[0] != '\0') {
		ev->fallback[0] = '\0';
		e.kind = EVENT_FALLBACK_OVER;
		e.detail = asked;
		events_note(sm, &e);
	} else if (fallback != NULL) {
		log_line(sm, &e);
		if (strncmp(ev->fallback, fallback, sizeof(ev->fallback) - 1) != 0) {
			snprintf(ev->fallback, sizeof(ev->fallback), "%s", fallback);
			add_row(sm, &e);
		}
	}
}

/* --- what differs between two sweeps ----------------------------------------------------- */

struct comparison {
	struct sm *sm;
	const struct disc *d;
	const struct graph *prev;
	uint32_t *
		now; /* [prev->n_nodes] a node of the last sweep in this one, GRAPH_NONE: gone */
	uint32_t *then; /* [d->g->n_nodes] and the other way round */
	uint32_t n;     /* changes so far */
};

/* The nodes of both sweeps are in the order of their GUIDs. \return false: out of memory. */
static bool match_nodes(struct comparison *c)
{
	const struct graph *a = c->prev, *b = c->d->g;
	uint32_t i = 0, k = 0;

	c->now = malloc((a->n_nodes + 1) * sizeof(*c->now));
	c->then = malloc((b->n_nodes + 1) * sizeof(*c->then));
	while (c->now != NULL && c->then != NULL && (i < a->n_nodes || k < b->n_nodes)) {
		bool has_a = i < a->n_nodes, has_b = k < b->n_nodes;
		uint64_t x = has_a ? a->nodes[i].guid : 0,
			 y = has_b ? b->nodes[k].guid : 0;
		bool take_a = has_a && (!has_b || x <= y);
		bool take_b = has_b && (!has_a || y <= x);

		if (take_a) {
			c->now[i] = take_b ? k : GRAPH_NONE;
		}
		if (take_b) {
			c->then[k] = take_a ? i : GRAPH_NONE;
		}
		i += take_a;
		k += take_b;
	}
	return c->now != NULL && c->then != NULL;
}

static void set_end(const struct graph *g, uint32_t node, bool search, uint64_t *guid,
                    const char **name, uint8_t *flags, uint8_t flag)
{
	*guid = g->nodes[node].guid;
	*name = node_name(&g->nodes[node]);
	/* To search for others of this name takes long for many nodes. */
	if (!search || node_shares_name(g, node)) {
		*flags |= flag;
	}
}

void events_set_node(struct fabric_event *e, const struct graph *g, uint32_t node)
{
	set_end(g, node, true, &e->node_guid, &e->node, &e->flags,
	        EVENT_NODE_SHARES_NAME);
}

void events_set_peer(struct fabric_event *e, const struct graph *g, uint32_t port)
{
	set_end(g, g->ports[port].node, true, &e->peer_guid, &e->peer, &e->flags,
	        EVENT_PEER_SHARES_NAME);
	e->peer_port = g->ports[port].num;
}

/* Notes a change at a port of a graph, with its peer if \a peer is a port. */
static void note_change(struct comparison *c, enum event_kind kind, const struct graph *g,
                        uint32_t node, uint8_t num, uint32_t peer)
{
	struct fabric_event e = { .kind = kind, .port = num };
	bool logged = c->n++ < CHANGE_LINES;

	set_end(g, node, logged, &e.node_guid, &e.node, &e.flags, EVENT_NODE_SHARES_NAME);
	if (peer != GRAPH_NONE) {
		set_end(g, g->ports[peer].node, logged, &e.peer_guid, &e.peer, &e.flags,
		        EVENT_PEER_SHARES_NAME);
		e.peer_port = g->ports[peer].num;
	}
	if (logged) {
		log_line(c->sm, &e);
	}
	add_row(c->sm, &e);
}

/* A port of a in b, which are the graphs of both sweeps. GRAPH_NONE: there is none. */
static uint32_t port_in(const struct comparison *c, const struct graph *a, uint32_t port,
                        const struct graph *b)
{
	const struct port *p = &a->ports[port];
	uint32_t node = (a == c->prev ? c->now : c->then)[p->node];

	return node != GRAPH_NONE && p->num <= b->nodes[node].n_ports
	               ? graph_port(b, node, p->num)
	               : GRAPH_NONE;
}

/* Is a cable still up that led to a node of the last sweep, which does not answer? */
static bool is_silent(const struct comparison *c, uint32_t node)
{
	const struct disc *d = c->d;
	const struct graph *prev = c->prev;
	const struct node *n = &prev->nodes[node];
	uint32_t found = hash_get(&d->by_guid, n->guid);

	if (found != HASH_NONE && d->nodes[found]->deaf) {
		return true;
	}
	for (unsigned num = 1; num <= n->n_ports; num++) {
		uint32_t peer = prev->ports[graph_port(prev, node, (uint8_t)num)].peer;
		uint32_t there =
			peer != GRAPH_NONE ? port_in(c, prev, peer, d->g) : GRAPH_NONE;

		if (there != GRAPH_NONE && disc_port_of(d, there)->silent) {
			return true;
		}
	}
	return false;
}

static enum event_kind kind_of(uint8_t type, bool is_new)
{
	switch ((enum node_type)type) {
	case NODE_CA: break;
	case NODE_SWITCH: return is_new ? EVENT_SWITCH_NEW : EVENT_SWITCH_GONE;
	case NODE_ROUTER: return is_new ? EVENT_ROUTER_NEW : EVENT_ROUTER_GONE;
	}
	return is_new ? EVENT_HOST_NEW : EVENT_HOST_GONE;
}

/* The port of a switch that a node is cabled to; GRAPH_NONE: none is, or it is a switch itself. */
static uint32_t place_of(const struct graph *g, uint32_t node)
{
	const struct node *n = &g->nodes[node];

	for (unsigned num = 1; n->type != NODE_SWITCH && num <= n->n_ports; num++) {
		uint32_t peer = g->ports[graph_port(g, node, (uint8_t)num)].peer;

		if (peer != GRAPH_NONE) {
			return peer;
		}
	}
	return GRAPH_NONE;
}

/* Nodes of a that are not in b. */
static void note_missing_nodes(struct comparison *c, const struct graph *a)
{
	bool is_new = a == c->d->g;

	for (uint32_t i = 0; i < a->n_nodes; i++) {
		if ((is_new ? c->then : c->now)[i] == GRAPH_NONE) {
			note_change(c,
			            !is_new && is_silent(c, i)
			                    ? EVENT_NODE_SILENT
			                    : kind_of(a->nodes[i].type, is_new),
			            a, i, 0, place_of(a, i));
		}
	}
}

/* Cables of a that are not in b, though the nodes at their ends are. */
static void note_missing_cables(struct comparison *c, enum event_kind kind,
                                const struct graph *a, const struct graph *b)
{
	for (uint32_t i = 0; i < a->n_ports; i++) {
		uint32_t peer = a->ports[i].peer, here, there;

		if (peer == GRAPH_NONE || peer < i) {
			continue;
		}
		here = port_in(c, a, i, b);
		there = port_in(c, a, peer, b);
		if (here != GRAPH_NONE && there != GRAPH_NONE &&
		    b->ports[here].peer != there) {
			note_change(c, kind, a, a->ports[i].node, a->ports[i].num, peer);
		}
	}
}

/* Ports of a with a subnet manager that had or have none in b, though they are there. */
static void note_missing_sms(struct comparison *c, enum event_kind kind,
                             const struct graph *a, const struct graph *b)
{
	for (uint32_t i = 0; i < a->n_end_ports; i++) {
		uint32_t port = a->end_ports[i], other;

		if (port == a->sm_port || !(a->ports[port].capability_mask & CAP_IS_SM)) {
			continue;
		}
		other = port_in(c, a, port, b);
		if (other != GRAPH_NONE &&
		    !(b->ports[other].capability_mask & CAP_IS_SM)) {
			note_change(c, kind, a, a->ports[port].node, a->ports[port].num,
			            GRAPH_NONE);
		}
	}
}

uint32_t events_compare(struct sm *sm, const struct disc *d, const struct graph *prev)
{
	struct comparison c = { .sm = sm, .d = d, .prev = prev };

	if (prev == NULL) {
		return 0;
	}
	if (match_nodes(&c)) { /* else nobody hears of the changes */
		note_missing_nodes(&c, prev);
		note_missing_nodes(&c, d->g);
		note_missing_cables(&c, EVENT_CABLE_LOST, prev, d->g);
		note_missing_cables(&c, EVENT_CABLE_BACK, d->g, prev);
		note_missing_sms(&c, EVENT_SM_GONE, prev, d->g);
		note_missing_sms(&c, EVENT_SM_NEW, d->g, prev);
	}
	free(c.now);
	free(c.then);
	if (c.n > CHANGE_LINES) {
		log_info(source, "and %u more changes: %u switches, %u hosts now",
		         c.n - CHANGE_LINES, d->g->n_switches, d->g->n_hosts);
	}
	return c.n;
}

/* --- quarantine ------------------------------------------------------------------------ */

/* The place of a refused node is a port of a node of this graph, or it is gone with that. */
static void note_place(struct sm *sm, enum event_kind kind, const struct disc_refused *r,
                       const char *detail)
{
	const struct graph *g = sm->job->disc.g;
	uint32_t node = graph_node_by_guid(g, r->by->guid);
	struct fabric_event e = { .kind = kind, .port = r->by_port, .detail = detail };

	if (node != GRAPH_NONE) {
		events_set_node(&e, g, node);
		events_note(sm, &e);
	}
}

void events_quarantine(struct sm *sm, const struct disc *now, const struct disc *was)
{
	char detail[EVENT_DETAIL_BYTES], reasons[ADMIT_TEXT], name[65] = "";

	for (size_t i = 0; i < now->n_refused; i++) {
		const struct disc_refused *r = &now->refused[i];

		if (admit_lists(was, r, true)) {
			continue;
		}
		memcpy(name, r->description, 64);
		text_one_line(name);
		snprintf(detail, sizeof(detail), "\"%s\" (0x%016" PRIx64 "), %s", name,
		         r->guid, admit_text(r, reasons));
		note_place(sm, EVENT_NODE_QUARANTINED, r, detail);
	}
	for (size_t i = 0; was != NULL && i < was->n_refused; i++) {
		if (!admit_lists(now, &was->refused[i], false)) {
			note_place(sm, EVENT_NODE_ADMITTED, &was->refused[i], "");
		}
	}
}
