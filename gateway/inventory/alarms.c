/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/inventory/alarms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "db/lmdb/drained.h"
#include "db/snapshot/reader.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/json_text.h"
#include "gateway/view/ready.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

/* clang-format off */
#define ALARM(id, word, level, text, remedy) { #word, EVENT_##level, text, remedy },
/* clang-format on */
const struct alarm_type alarm_types[ALARM_KINDS] = {
#include "gateway/inventory/alarms.def"
};
#undef ALARM

enum {
	TRACES = 3,
	OVERLOAD = 2, /* times the mean of the links between the same tiers */
	OVERLOAD_LINKS =
		4 /* of which there must be so many, for the mean to say something */
};

struct alarm *alarms_add(struct alarms *a, enum alarm_kind kind, const char *text)
{
	if (text == NULL || VECTOR_RESERVE(a->list, a->cap, a->n + 1) != E_OK) {
		return NULL;
	}
	a->list[a->n] = (struct alarm){ .kind = kind, .text = text };
	return &a->list[a->n++];
}

/* --- of the snapshot ------------------------------------------------------------------- */

static int add_text(struct alarms *a, enum alarm_kind kind, const char *text)
{
	return text == NULL || text[0] == '\0' || alarms_add(a, kind, text) != NULL
	               ? E_OK
	               : -ENOMEM;
}

static int add_count(struct alarms *a, enum alarm_kind kind, const char *what, uint64_t n,
                     const char *of)
{
	return n == 0 ? E_OK
	              : add_text(a, kind,
	                         arena_printf(a->arena, "%s%llu %s", what,
	                                      (unsigned long long)n, of));
}

static int add_routing(struct alarms *a, const struct snap_meta *m)
{
	int ret = add_count(a, ALARM_UNREACHABLE, "", m->unreachable_pairs,
	                    "pairs of end ports have no route");

	if (ret == E_OK) {
		ret = add_count(a, ALARM_LOOP, "the tables have ", m->forwarding_loops,
		                "forwarding loops");
	}
	if (ret == E_OK) {
		ret = add_count(a, ALARM_LOOP, "the tables have ", m->credit_loops,
		                "credit loops");
	}
	if (ret == E_OK) {
		ret = add_text(a, ALARM_FALLBACK, m->fallback_reason);
	}
	return ret == E_OK ? add_text(a, ALARM_ROUTING, m->warning) : ret;
}

/* An alarm about the cable that leaves by a port. */
static int add_link(struct alarms *a, enum alarm_kind kind, const struct inventory *v,
                    uint32_t p, const char *what)
{
	const struct port *port = &v->g->ports[p], *peer = &v->g->ports[port->peer];
	const struct node *node = &v->g->nodes[port->node],
			  *far = &v->g->nodes[peer->node];
	struct alarm *to = alarms_add(a, kind,
	                              arena_printf(a->arena, "%s port %u - %s port %u %s",
	                                           node_name(node), port->num,
	                                           node_name(far), peer->num, what));

	if (what == NULL || to == NULL) {
		return -ENOMEM;
	}
	to->node_guid = node->guid;
	to->node = node_name(node);
	to->port = port->num;
	to->peer_guid = far->guid;
	to->peer = node_name(far);
	to->peer_port = peer->num;
	return E_OK;
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

static int add_overloaded(struct alarms *a, const struct inventory *v)
{
	int ret = E_OK;

	for (uint32_t i = 0; ret == E_OK && i < v->n_loaded; i++) {
		uint32_t p = v->by_load[i], routes = v->port[p].routes;
		const struct load_class *of = inventory_load_class(v, p);

		if (of->links >= OVERLOAD_LINKS &&
		    (uint64_t)routes * of->links > OVERLOAD * of->sum) {
			ret = add_link(
				a, ALARM_OVERLOADED, v, p,
				arena_printf(
					a->arena,
					"has %u routes, the links between these tiers %.0f on average",
					routes, (double)of->sum / of->links));
		}
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

int alarms_of_stats(struct alarms *a, const struct stats_copy *stats)
{
	const char *trouble = stats_copy_text(stats, "standby.trouble");
	char name[STATS_NAME_MAX];
	double paused = 0;
	int ret = E_OK;

	if (stats_number(stats, "standby_paused", &paused) && paused != 0) {
		ret = add_text(a, ALARM_COPY_PAUSED,
		               arena_printf(a->arena,
		                            "the copy of the master's state pauses: %s",
		                            trouble != NULL ? trouble : "?"));
	}
	for (unsigned i = 0; ret == E_OK && i < STATS_PROBLEMS; i++) {
		snprintf(name, sizeof(name), "problem.%u", i);
		ret = add_text(a, ALARM_PROBLEM, stats_copy_text(stats, name));
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
	{ EVENT_CABLE_LOST, ALARM_LINK_DOWN, true, true },
	{ EVENT_CABLE_BACK, ALARM_LINK_DOWN, false, true },
	{ EVENT_HOST_GONE, ALARM_HOST_GONE, true, false },
	{ EVENT_HOST_NEW, ALARM_HOST_GONE, false, false },
	{ EVENT_NODE_FORGOTTEN, ALARM_HOST_GONE, false, false },
	{ EVENT_NODE_FORGOTTEN, ALARM_SWITCH_GONE, false, false },
	{ EVENT_NODE_FORGOTTEN, ALARM_SILENT, false, false },
	{ EVENT_SWITCH_GONE, ALARM_SWITCH_GONE, true, false },
	{ EVENT_SWITCH_NEW, ALARM_SWITCH_GONE, false, false },
	{ EVENT_ROUTER_GONE, ALARM_SWITCH_GONE, true, false },
	{ EVENT_ROUTER_NEW, ALARM_SWITCH_GONE, false, false },
	{ EVENT_NODE_SILENT, ALARM_SILENT, true, false },
	{ EVENT_PORT_FLAPPING, ALARM_FLAPPING, true, false },
	{ EVENT_PORT_QUIET, ALARM_FLAPPING, false, false },
	{ EVENT_HANDOVER_FAILED, ALARM_SM_CONFLICT, true, false },
	{ EVENT_SM_RIVAL, ALARM_SM_CONFLICT, true, false },
	{ EVENT_SM_SEEN, ALARM_SM_CONFLICT, false, false }, /* in another state now */
	{ EVENT_SM_GONE, ALARM_SM_CONFLICT, false, false },
	{ EVENT_SM_UNANNOUNCED, ALARM_SM_UNANNOUNCED, true, false },
	{ EVENT_SM_SEEN, ALARM_SM_UNANNOUNCED, false,
	  false }, /* in another state now, or announced */
	{ EVENT_SM_GONE, ALARM_SM_UNANNOUNCED, false, false },
	{ EVENT_PORT_DISABLED, ALARM_DISABLED, true, true },
	{ EVENT_PORT_ENABLED, ALARM_DISABLED, false, true },
	{ EVENT_PORT_UNHEALTHY, ALARM_UNHEALTHY, true, true },
	{ EVENT_PORT_HEALTHY, ALARM_UNHEALTHY, false, true },
	{ EVENT_PORT_ISOLATED, ALARM_ISOLATED, true, true },
	{ EVENT_PORT_HEALTHY, ALARM_ISOLATED, false, true },
	{ EVENT_NODE_QUARANTINED, ALARM_QUARANTINED, true, true },
	{ EVENT_NODE_ADMITTED, ALARM_QUARANTINED, false, true },
	{ EVENT_SWEEP_FAILED, ALARM_SWEEP_FAILED, true, false },
	{ EVENT_SUBNET_UP, ALARM_SWEEP_FAILED, false, false },
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
	uint32_t node = graph_node_by_guid(v->g, t->guid);

	switch (t->alarm) {
	case ALARM_LINK_DOWN: {
		uint32_t p =
			node != GRAPH_NONE ? graph_port(v->g, node, t->port) : GRAPH_NONE;

		return p == GRAPH_NONE || v->g->ports[p].peer != GRAPH_NONE;
	}
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
	struct alarm *to = alarms_add(
		a, t->alarm, arena_strdup(a->arena, event_text(e, text, sizeof(text))));

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

/* --- the list -------------------------------------------------------------------------- */

enum event_severity alarms_severity(const struct alarm *a)
{
	return a->maintenance ? EVENT_INFO : alarm_types[a->kind].severity;
}

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

json_t *alarms_json(const struct alarm *a)
{
	/* clang-format off */
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:b}",
		"kind", alarm_types[a->kind].name,
		"severity", event_severity_names[alarms_severity(a)],
		"text", text_json(a->text),
		"node", end_json(a->node_guid, a->node, a->port),
		"peer", end_json(a->peer_guid, a->peer, a->peer_port),
		"since", a->event != 0 ? time_json(a->since) : json_null(),
		"event", a->event != 0 ? json_integer((json_int_t)a->event) : json_null(),
		"with", (int)a->with,
		"maintenance", (int)a->maintenance);
	/* clang-format on */
}
