/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/inventory/link_list.h"

#include <errno.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/inventory/alarms.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

enum { TEXT_BYTES = 300 };

/* --- the list --------------------------------------------------------------------------- */

static unsigned state_of(const struct link_entry *l, unsigned end)
{
	return l->end[end] != NULL ? l->end[end]->state : LINK_WELL;
}

static double excess_of(const struct link_health *h)
{
	return h != NULL ? link_excess(h, h->span) : 0;
}

static bool is_switch(const struct inventory *v, const struct link_entry *l, unsigned end)
{
	uint32_t port = end == 0 ? l->port : v->g->ports[l->port].peer;

	return v->g->nodes[v->g->ports[port].node].type == NODE_SWITCH;
}

static void find_worse(const struct inventory *v, struct link_entry *l)
{
	unsigned a = state_of(l, 0), b = state_of(l, 1);

	l->worse = b > a;
	if (a == b) { /* a switch is believed, a host is not */
		bool by_a = is_switch(v, l, 0), by_b = is_switch(v, l, 1);

		l->worse = by_a != by_b ? by_b : excess_of(l->end[1]) > excess_of(l->end[0]);
	}
	if (l->end[l->worse] == NULL) {
		l->worse = !l->worse;
	}
}

static int compare_links(const void *x, const void *y)
{
	const struct link_entry *a = x, *b = y;
	unsigned sa = state_of(a, a->worse), sb = state_of(b, b->worse);
	double ea = excess_of(a->end[a->worse]), eb = excess_of(b->end[b->worse]);

	if (sa != sb) {
		return sa > sb ? -1 : 1;
	}
	if (ea > eb || ea < eb) {
		return ea > eb ? -1 : 1;
	}
	return a->port < b->port ? -1 : a->port > b->port;
}

static int compare_ports(const void *x, const void *y)
{
	const struct link_entry *a = x, *b = y;

	return a->port < b->port ? -1 : a->port > b->port;
}

int link_list_find(const struct inventory *v, const struct link_health_list *rows,
                   struct arena *a, struct link_list *ret_list)
{
	struct link_list list = { .n = 0 };
	size_t n = 0;

	list.links = arena_array(a, rows->n + 1, sizeof(*list.links));
	if (list.links == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < rows->n; i++) {
		uint32_t node = graph_node_by_guid(v->g, rows->rows[i].node_guid);
		uint32_t port = node != GRAPH_NONE ? graph_port(v->g, node, rows->rows[i].port)
		                                   : GRAPH_NONE;
		uint32_t peer = port != GRAPH_NONE ? v->g->ports[port].peer : GRAPH_NONE;

		if (peer != GRAPH_NONE) {
			struct link_entry *l = &list.links[n++];

			*l = (struct link_entry){ .port = port < peer ? port : peer };
			l->end[port > peer] = &rows->rows[i].health;
		}
	}
	qsort(list.links, n, sizeof(*list.links), compare_ports);
	for (size_t i = 0; i < n; i++) { /* both ends of a cable become one entry */
		struct link_entry *last = list.n > 0 ? &list.links[list.n - 1] : NULL;

		if (last != NULL && last->port == list.links[i].port) {
			for (unsigned k = 0; k < 2; k++) {
				if (list.links[i].end[k] != NULL) {
					last->end[k] = list.links[i].end[k];
				}
			}
		} else {
			list.links[list.n++] = list.links[i];
		}
	}
	for (size_t i = 0; i < list.n; i++) {
		find_worse(v, &list.links[i]);
	}
	qsort(list.links, list.n, sizeof(*list.links), compare_links);
	*ret_list = list;
	return E_OK;
}

/* --- JSON ------------------------------------------------------------------------------- */

static json_t *end_json(const struct inventory *v, uint32_t i)
{
	const struct port *p = &v->g->ports[i];
	const struct node *n = &v->g->nodes[p->node];

	return json_pack("{s:o, s:i, s:o, s:s, s:s}", "guid", guid_json(n->guid), "port", p->num,
	                 "name", text_json(node_name(n)), "type", node_type_name(n->type),
	                 "state", port_state_name(p->state));
}

static json_t *span_json(const struct link_health *h, enum link_span span)
{
	struct link_window w = link_window(h, span);
	json_t *rates = json_object();

	for (unsigned m = 0; m < LINK_METRICS; m++) {
		json_object_set_new(rates, link_metric_names[m],
		                    json_real(link_rate_of(h, span, m)));
	}
	return json_pack("{s:f, s:f, s:i, s:o}", "seconds", (double)w.seconds, "allowed_errors",
	                 (double)w.allowed, "bad_minutes", (int)w.dirty, "per_hour", rates);
}

static json_t *side_json(const struct inventory *v, uint32_t i, const struct link_health *h)
{
	char text[TEXT_BYTES];
	json_t *blind = json_array();

	for (unsigned m = 0; m < LINK_METRICS; m++) {
		if ((h->blind >> m & 1) != 0) {
			json_array_append_new(blind, json_string(link_metric_names[m]));
		}
	}
	/* clang-format off */
	return json_pack("{s:o, s:i, s:s, s:s, s:o, s:s, s:b, s:o, s:o, s:o, s:o}",
		"guid", guid_json(v->g->nodes[v->g->ports[i].node].guid),
		"port", v->g->ports[i].num,
		"state", link_state_names[h->state],
		"trend", link_trend_names[link_trend(h)],
		"read_at", time_json(h->time_s),
		"text", link_health_text(h, text, sizeof(text)),
		"fec", (h->flags & LINK_HAS_FEC) != 0,
		"blind", blind,
		"minute", span_json(h, LINK_MINUTE),
		"hour", span_json(h, LINK_HOUR),
		"day", span_json(h, LINK_DAY));
	/* clang-format on */
}

json_t *link_list_json(const struct inventory *v, const struct link_entry *l)
{
	const struct link_health *h = l->end[l->worse];
	const uint32_t ports[2] = { l->port, v->g->ports[l->port].peer };
	char text[TEXT_BYTES];
	json_t *sides = json_array();

	for (unsigned k = 0; k < 2; k++) {
		if (l->end[k] != NULL) {
			json_array_append_new(sides, side_json(v, ports[k], l->end[k]));
		}
	}
	/* clang-format off */
	return json_pack("{s:o, s:o, s:s, s:s, s:o, s:f, s:s, s:s, s:s, s:o, s:i, s:o}",
		"a", end_json(v, ports[0]),
		"b", end_json(v, ports[1]),
		"state", link_state_names[h->state],
		"trend", link_trend_names[link_trend(h)],
		"since", h->since_s != 0 ? time_json(h->since_s) : json_null(),
		"excess", link_excess(h, h->span),
		"text", link_health_text(h, text, sizeof(text)),
		"decision", link_decision_name(h->decision),
		"decision_text", link_decision_text(h->decision),
		"out_since", (h->flags & LINK_OUT) != 0 ? time_json(h->out_s) : json_null(),
		"times", h->times,
		"sides", sides);
	/* clang-format on */
}

/* --- alarms ----------------------------------------------------------------------------- */

static int add_link(struct alarms *a, const struct inventory *v, const struct link_entry *l)
{
	const struct link_health *h = l->end[l->worse];
	const struct port *port = &v->g->ports[l->port], *peer = &v->g->ports[port->peer];
	const struct port *counts = l->worse == 0 ? port : peer;
	char text[TEXT_BYTES];
	struct alarm *to = alarms_add_link(
		a, ALARM_LINK_SICK, v, l->port,
		arena_printf(a->arena, "is sick, %s counts: %s; %s",
	                     node_name(&v->g->nodes[counts->node]),
	                     link_health_text(h, text, sizeof(text)),
	                     link_decision_text(h->decision)));

	if (to == NULL) {
		return -ENOMEM;
	}
	to->since = h->since_s;
	return E_OK;
}

/* A switch is at one end of all those that it is blamed for. */
static uint32_t blamed_of(const struct inventory *v, const struct link_list *list, uint32_t node)
{
	uint32_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct link_entry *l = &list->links[i];

		n += l->end[l->worse]->decision == LINK_DECISION_SWITCH &&
		     (v->g->ports[l->port].node == node ||
		      v->g->ports[v->g->ports[l->port].peer].node == node);
	}
	return n;
}

/* The end of a blamed cable that has more of them. */
static uint32_t cause_of(const struct inventory *v, const struct link_list *list,
                         const struct link_entry *l)
{
	uint32_t a = v->g->ports[l->port].node, b = v->g->ports[v->g->ports[l->port].peer].node;

	return blamed_of(v, list, b) > blamed_of(v, list, a) ? b : a;
}

static int add_switch(struct alarms *a, const struct inventory *v, const struct link_list *list,
                      size_t at)
{
	const struct link_entry *l = &list->links[at];
	uint32_t node = cause_of(v, list, l);

	for (size_t i = 0; i < at; i++) {
		const struct link_entry *other = &list->links[i];

		if (other->end[other->worse]->decision == LINK_DECISION_SWITCH &&
		    cause_of(v, list, other) == node) {
			return E_OK; /* it has its alarm */
		}
	}
	struct alarm *to = alarms_add_port(
		a, ALARM_SWITCH_SICK, v->g->nodes[node].guid, 0,
		arena_printf(a->arena, "%u links of %s are sick, so the switch is the cause",
	                     blamed_of(v, list, node), node_name(&v->g->nodes[node])));

	if (to == NULL) {
		return -ENOMEM;
	}
	to->node = node_name(&v->g->nodes[node]);
	to->since = l->end[l->worse]->since_s;
	return E_OK;
}

int link_list_alarms(struct alarms *a, const struct inventory *v, const struct link_list *list)
{
	int ret = E_OK;

	for (size_t i = 0; ret == E_OK && i < list->n; i++) {
		const struct link_entry *l = &list->links[i];
		const struct link_health *h = l->end[l->worse];

		if (h->state == LINK_SICK || (h->flags & LINK_OUT) != 0) {
			ret = h->decision == LINK_DECISION_SWITCH ? add_switch(a, v, list, i)
			                                          : add_link(a, v, l);
		}
	}
	return ret;
}
