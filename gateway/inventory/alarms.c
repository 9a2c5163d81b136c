/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/inventory/alarms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/vector.h"
#include "db/lmdb/acks.h"
#include "db/lmdb/drained.h"
#include "db/snapshot/reader.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/json_text.h"
#include "gateway/view/ready.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

/* clang-format off */
#define ALARM(id, word, level, text, remedy) { #word, SEVERITY_##level, text, remedy },
/* clang-format on */
const char *const alarm_severity_names[SEVERITIES] = { "info", "warning", "error", "critical" };

const struct alarm_type alarm_types[ALARM_KINDS] = {
#include "gateway/inventory/alarms.def"
};
#undef ALARM

enum {
	TRACES = 3, /* most rows of an event in alarm_events.def */
	OVERLOAD_PERCENT = 105 /* of the busiest link of fresh routes */
};

static struct alarm *add(struct alarms *a, enum alarm_kind kind, const char *id,
                         const char *text)
{
	if (id == NULL || text == NULL || VECTOR_RESERVE(a->list, a->cap, a->n + 1) != E_OK) {
		return NULL;
	}
	a->list[a->n] = (struct alarm){
		.kind = kind, .severity = alarm_types[kind].severity, .id = id, .above = ALARM_NONE, .text = text
	};
	return &a->list[a->n++];
}

struct alarm *alarms_add(struct alarms *a, enum alarm_kind kind, const char *subject,
                         const char *text)
{
	return add(a, kind,
	           arena_printf(a->arena, "%s%s%s", alarm_types[kind].name,
	                        subject != NULL ? "-" : "", subject != NULL ? subject : ""),
	           text);
}

/* The name of an alarm about a node, a port, or a cable, of which it is the lower end. */
static const char *id_of(struct alarms *a, enum alarm_kind kind, uint64_t guid, uint8_t port)
{
	const char *name = alarm_types[kind].name;

	return port != 0 ? arena_printf(a->arena, "%s-0x%016" PRIx64 "-%u", name, guid, port)
	                 : arena_printf(a->arena, "%s-0x%016" PRIx64, name, guid);
}

struct alarm *alarms_add_port(struct alarms *a, enum alarm_kind kind, uint64_t guid, uint8_t port,
                              const char *text)
{
	const char *id = guid != 0 ? id_of(a, kind, guid, port) : alarm_types[kind].name;
	struct alarm *to = add(a, kind, id, text);

	if (to != NULL) {
		to->node_guid = guid;
		to->port = port;
	}
	return to;
}

int alarms_add_cable(struct alarms *a, const struct alarm *of, uint64_t guid, uint64_t peer,
                     double lost)
{
	if (VECTOR_RESERVE(a->cables, a->cap_cables, a->n_cables + 1) != E_OK) {
		return -ENOMEM;
	}
	a->cables[a->n_cables++] = (struct alarm_cable){ .alarm = (uint32_t)(of - a->list),
		                                         .guid = { guid, peer },
		                                         .lost = lost };
	return E_OK;
}

/* --- of the snapshot ------------------------------------------------------------------- */

static int add_text(struct alarms *a, enum alarm_kind kind, const char *text)
{
	return text == NULL || text[0] == '\0' || alarms_add(a, kind, NULL, text) != NULL
	               ? E_OK
	               : -ENOMEM;
}

/* The two kinds of loops are alarms of their own. */
static int add_loops(struct alarms *a, const char *subject, uint64_t n)
{
	return n == 0 || alarms_add(a, ALARM_LOOP, subject,
	                            arena_printf(a->arena, "the tables have %" PRIu64 " %s loops",
	                                         n, subject)) != NULL
	               ? E_OK
	               : -ENOMEM;
}

static int add_routing(struct alarms *a, const struct snap_meta *m)
{
	int ret = E_OK;

	if (m->unreachable_pairs != 0) {
		struct alarm *to = alarms_add(
			a, ALARM_UNREACHABLE, NULL,
			arena_printf(a->arena, "%" PRIu64 " pairs of end ports have no route",
		                     m->unreachable_pairs));

		if (to == NULL) {
			return -ENOMEM;
		}
		to->consequence.pairs_cut = m->unreachable_pairs;
	}
	ret = add_loops(a, "forwarding", m->forwarding_loops);
	if (ret == E_OK) {
		ret = add_loops(a, "credit", m->credit_loops);
	}
	if (ret == E_OK) {
		ret = add_text(a, ALARM_FALLBACK, m->fallback_reason);
	}
	return ret == E_OK ? add_text(a, ALARM_ROUTING, m->warning) : ret;
}

struct alarm *alarms_add_link(struct alarms *a, enum alarm_kind kind, const struct inventory *v,
                              uint32_t p, const char *what)
{
	const struct port *port = &v->g->ports[p], *peer = &v->g->ports[port->peer];
	const struct node *node = &v->g->nodes[port->node],
			  *far = &v->g->nodes[peer->node];
	struct alarm *to =
		what == NULL ? NULL
			     : alarms_add_port(a, kind, node->guid, port->num,
	                                       arena_printf(a->arena, "%s port %u - %s port %u %s",
	                                                    node_name(node), port->num,
	                                                    node_name(far), peer->num, what));

	if (to != NULL) {
		to->node = node_name(node);
		to->peer_guid = far->guid;
		to->peer = node_name(far);
		to->peer_port = peer->num;
	}
	return to;
}

static int add_link(struct alarms *a, enum alarm_kind kind, const struct inventory *v,
                    uint32_t p, const char *what)
{
	return alarms_add_link(a, kind, v, p, what) != NULL ? E_OK : -ENOMEM;
}

static int add_links(struct alarms *a, const struct inventory *v)
{
	int ret = E_OK;

	for (uint32_t i = 0; ret == E_OK && i < v->g->n_links; i++) {
		uint32_t p = v->link[i];
		uint8_t state = inventory_link_state(v, p);

		if (state != PORT_ACTIVE) {
			ret = add_link(a, ALARM_NOT_ACTIVE, v, p,
			               arena_printf(a->arena, "is %s, not active",
			                            port_state_name(state)));
		}
		if (ret == E_OK && v->port[p].degraded) {
			ret = add_link(
				a, ALARM_DEGRADED, v, p,
				arena_printf(a->arena,
			                     "runs at %s %s, both ends allow %s %s",
			                     link_width_name(v->g->ports[p].width),
			                     link_speed_name(v->g->ports[p].speed),
			                     link_width_name(v->port[p].best_width),
			                     link_speed_name(v->port[p].best_speed)));
		}
	}
	return ret;
}

/* Links that are busier than any would be if the engine routed this fabric from nothing. What the engine
 * cannot do better on this fabric is no fault. */
static int add_overloaded(struct alarms *a, const struct inventory *v)
{
	int ret = E_OK;

	for (uint32_t i = 0; ret == E_OK && a->routes_fresh != 0 && i < v->n_loaded; i++) {
		uint32_t p = v->by_load[i], routes = v->port[p].routes;

		if ((uint64_t)routes * 100 <= (uint64_t)a->routes_fresh * OVERLOAD_PERCENT) {
			break; /* the others have fewer */
		}
		ret = add_link(a, ALARM_OVERLOADED, v, p,
		               arena_printf(a->arena,
		                            "has %u routes, with fresh routes no link would have more than %u",
		                            routes, a->routes_fresh));
	}
	return ret;
}

int alarms_of_snapshot(struct alarms *a, const struct snap_meta *m,
                       const struct inventory *v)
{
	int ret = add_routing(a, m);

	if (ret == E_OK) {
		ret = add_links(a, v);
	}
	return ret == E_OK ? add_overloaded(a, v) : ret;
}

/* The sentence begins with the node that it is about, if it is about one. Its digest names it, without
 * the way to the node, which another sweep may find on another one. */
static int add_problem(struct alarms *a, const char *text)
{
	const char *way, *guid = text != NULL ? strstr(text, "0x") : NULL;
	char digits[2 + 16 + 1] = "";

	if (text == NULL || text[0] == '\0') {
		return E_OK;
	}
	way = strstr(text, ", directed route");
	size_t len = way != NULL ? (size_t)(way - text) : strlen(text);
	struct alarm *to = alarms_add(a, ALARM_PROBLEM,
	                              arena_printf(a->arena, "%016" PRIx64,
	                                           digest_bytes(0, text, len)),
	                              text);
	if (to == NULL) {
		return -ENOMEM;
	}
	if (guid != NULL && strncmp(text, "no answer behind", 16) != 0) {
		snprintf(digits, sizeof(digits), "%s", guid);
		(void)text_guid(digits, &to->node_guid);
	}
	return E_OK;
}

int alarms_of_stats(struct alarms *a, const struct stats_copy *stats)
{
	const char *trouble = stats_copy_text(stats, "standby.trouble");
	char name[STATS_NAME_MAX];
	double paused = 0, fresh = 0;
	int ret = E_OK;

	if (stats_number(stats, STATS_ROUTES_FRESH, &fresh) && fresh > 0 && fresh < UINT32_MAX) {
		a->routes_fresh = (uint32_t)fresh;
	}

	if (stats_number(stats, "standby_paused", &paused) && paused != 0) {
		ret = add_text(a, ALARM_COPY_PAUSED,
		               arena_printf(a->arena,
		                            "the copy of the master's state pauses: %s",
		                            trouble != NULL ? trouble : "?"));
	}
	for (unsigned i = 0; ret == E_OK && i < STATS_PROBLEMS; i++) {
		snprintf(name, sizeof(name), "problem.%u", i);
		ret = add_problem(a, stats_copy_text(stats, name));
	}
	return ret;
}

/* --- of events ------------------------------------------------------------------------- */

/* What an event begins or ends, of a node or of one of its ports. */
static const struct cause {
	enum event_kind event;
	enum alarm_kind alarm;
	bool begins, of_port;
} causes[] = {
#define ALARM_EVENT(event, alarm, name, begins, of_port) \
	{ EVENT_##event, ALARM_##alarm, begins, of_port },
#include "db/stats/alarm_events.def"
#undef ALARM_EVENT
};

struct trace {
	enum alarm_kind alarm;
	uint64_t guid, seq;
	uint8_t port;
	bool begins;
	const struct fabric_event *e;
};

static int compare_traces(const void *x, const void *y)
{
	const struct trace *a = x, *b = y;

	if (a->alarm != b->alarm) {
		return a->alarm < b->alarm ? -1 : 1;
	}
	if (a->guid != b->guid) {
		return a->guid < b->guid ? -1 : 1;
	}
	if (a->port != b->port) {
		return a->port < b->port ? -1 : 1;
	}
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* Does the snapshot show that an alarm is over? */
static bool is_over(const struct trace *t, const struct inventory *v)
{
	uint32_t node = graph_node_by_guid(v->g, t->guid),
		 p = node != GRAPH_NONE ? graph_port(v->g, node, t->port) : GRAPH_NONE;

	switch (t->alarm) {
	case ALARM_LINK_DOWN: return p == GRAPH_NONE || v->g->ports[p].peer != GRAPH_NONE;
	/* the event that it was enabled is lost if the daemon was killed a moment later */
	case ALARM_DISABLED: return p != GRAPH_NONE && v->g->ports[p].peer != GRAPH_NONE;
	case ALARM_HOST_GONE:
	case ALARM_SWITCH_GONE:
	case ALARM_SILENT: return node != GRAPH_NONE;
	default: return false;
	}
}

static int add_event(struct alarms *a, const struct trace *t)
{
	const struct fabric_event *e = t->e;
	char text[EVENT_TEXT_BYTES];
	bool of_peer = t->alarm == ALARM_LINK_DOWN && e->peer_guid != 0 &&
	               (e->peer_guid < e->node_guid ||
	                (e->peer_guid == e->node_guid && e->peer_port < e->port));
	struct alarm *to = alarms_add_port(
		a, t->alarm, of_peer ? e->peer_guid : t->guid, of_peer ? e->peer_port : t->port,
		arena_strdup(a->arena, event_text(e, text, sizeof(text))));

	if (to == NULL) {
		return -ENOMEM;
	}
	to->event = e->seq;
	to->since = e->time_s;
	to->node_guid = e->node_guid;
	to->node = e->node;
	to->port = e->port;
	to->peer_guid = e->peer_guid;
	to->peer = e->peer;
	to->peer_port = e->peer_port;
	return E_OK;
}

/* An event is the cause of at most TRACES alarms' beginning or end. */
static size_t find_traces(const struct fabric_event *e, size_t n, struct trace *ret_trace)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof(causes) / sizeof(causes[0]); k++) {
			const struct cause *c = &causes[k];

			if (c->event == e[i].kind) {
				ret_trace[found++] = (struct trace){
					.alarm = c->alarm,
					.guid = e[i].node_guid,
					.seq = e[i].seq,
					.port = c->of_port ? e[i].port : 0,
					.begins = c->begins,
					.e = &e[i],
				};
			}
		}
	}
	return found;
}

int alarms_of_events(struct alarms *a, const struct fabric_event *e, size_t n,
                     const struct inventory *v)
{
	struct trace *list = calloc(TRACES * n + 1, sizeof(*list));
	int ret = list != NULL ? E_OK : -ENOMEM;
	size_t found = ret == E_OK ? find_traces(e, n, list) : 0;

	if (found > 0) {
		qsort(list, found, sizeof(*list), compare_traces);
	}
	for (size_t i = 0; ret == E_OK && i < found; i++) {
		const struct trace *t = &list[i], *next = i + 1 < found ? t + 1 : NULL;
		bool last = next == NULL || next->alarm != t->alarm ||
		            next->guid != t->guid || next->port != t->port;

		if (last && t->begins && !is_over(t, v)) {
			ret = add_event(a, t);
		}
	}
	free(list);
	return ret;
}

/* --- acknowledgements ------------------------------------------------------------------- */

static int compare_ids(const void *id, const void *ack)
{
	return strcmp(id, ((const struct alarm_ack *)ack)->id);
}

int alarms_acknowledge(struct alarms *a, struct snap_reader *r, int64_t now_s)
{
	struct alarm_ack *acks = NULL, next;
	size_t n = 0, cap = 0;
	int ret = snap_ack_first(r, &next);

	for (; ret == E_OK; ret = snap_ack_next(r, &next)) { /* by id */
		if (next.until_s != 0 && next.until_s <= now_s) {
			continue;
		}
		if (VECTOR_RESERVE(acks, cap, n + 1) != E_OK) {
			ret = -ENOMEM;
			break;
		}
		acks[n++] = next;
	}
	struct alarm_ack *kept = arena_array(a->arena, n, sizeof(*kept));
	if (n > 0 && kept != NULL) {
		memcpy(kept, acks, n * sizeof(*kept));
	}
	free(acks);
	if (ret != E_NOTFOUND || kept == NULL) {
		return ret == E_NOTFOUND ? -ENOMEM : ret;
	}
	for (size_t i = 0; n > 0 && i < a->n; i++) {
		a->list[i].ack = bsearch(a->list[i].id, kept, n, sizeof(*kept), compare_ids);
	}
	return E_OK;
}

/* --- the list -------------------------------------------------------------------------- */

int alarms_mark_maintenance(struct alarms *a, struct snap_reader *r)
{
	struct drained_row row;
	int ret;

	for (ret = snap_drained_first(r, &row); ret == E_OK; ret = snap_drained_next(r, &row)) {
		for (size_t i = 0; row.reason == DRAINED_MAINTENANCE && i < a->n; i++) {
			struct alarm *to = &a->list[i];

			to->maintenance |=
				(to->node_guid != 0 &&
				 drained_concerns(&row, to->node_guid, to->port)) ||
				(to->peer_guid != 0 &&
				 drained_concerns(&row, to->peer_guid, to->peer_port));
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int compare_alarms(const void *x, const void *y)
{
	const struct alarm *a = x, *b = y;

	if (a->maintenance != b->maintenance) {
		return a->maintenance ? 1 : -1;
	}
	if (a->severity != b->severity) {
		return a->severity > b->severity ? -1 : 1;
	}
	if (a->kind != b->kind) {
		return a->kind < b->kind ? -1 : 1;
	}
	if (a->since != b->since) {
		return a->since > b->since ? -1 : 1; /* what is new comes first */
	}
	if (a->node_guid != b->node_guid) {
		return a->node_guid < b->node_guid ? -1 : 1;
	}
	if (a->port != b->port) {
		return a->port < b->port ? -1 : 1;
	}
	return strcmp(a->text, b->text);
}

void alarms_sort(struct alarms *a)
{
	if (a->n > 0) {
		qsort(a->list, a->n, sizeof(*a->list), compare_alarms);
	}
}

void alarms_done(struct alarms *a)
{
	free(a->list);
	free(a->cables);
}

static json_t *end_json(uint64_t guid, const char *name, uint8_t port)
{
	json_t *o;

	if (guid == 0) {
		return json_null();
	}
	o = json_pack("{s:o, s:o}", "guid", guid_json(guid), "name", text_json(name));
	if (o != NULL) {
		json_object_set_new(o, "port",
		                    port != 0 ? json_integer(port) : json_null());
	}
	return o;
}

static json_t *consequence_json(const struct consequence *c)
{
	return json_pack("{s:I, s:i, s:f, s:I, s:o}", "pairs_cut", (json_int_t)c->pairs_cut,
	                 "hosts_down", (int)c->hosts_down, "bisection_lost", c->bisection_lost,
	                 "next_fault_cuts", (json_int_t)c->next_fault_cuts, "text",
	                 text_json(c->text != NULL ? c->text : ""));
}

static json_t *ack_json(const struct alarm_ack *a)
{
	return a == NULL ? json_null()
	                 : json_pack("{s:o, s:o, s:o, s:o}", "by", text_json(a->by), "at",
	                             time_json(a->at_s), "until",
	                             a->until_s != 0 ? time_json(a->until_s) : json_null(),
	                             "note", a->note[0] != '\0' ? text_json(a->note) : json_null());
}

json_t *alarms_json(const struct alarm *a)
{
	const struct alarm_type *type = &alarm_types[a->kind];

	/* clang-format off */
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:i, s:s?, s:o, s:b}",
		"id", a->id,
		"kind", type->name,
		"severity", alarm_severity_names[a->severity],
		"consequence", consequence_json(&a->consequence),
		"text", text_json(a->text),
		"advice", type->advice,
		"node", end_json(a->node_guid, a->node, a->port),
		"peer", end_json(a->peer_guid, a->peer, a->peer_port),
		"since", a->since != 0 ? time_json(a->since) : json_null(),
		"event", a->event != 0 ? json_integer((json_int_t)a->event) : json_null(),
		"with", (int)a->with,
		"cause", a->cause,
		"acknowledged", ack_json(a->ack),
		"maintenance", (int)a->maintenance);
	/* clang-format on */
}
