/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/alarms, and alarms as metrics: what is wrong at this moment. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/api/exposition.h"
#include "gateway/inventory/alarm_causes.h"
#include "gateway/inventory/alarm_consequence.h"
#include "gateway/inventory/alarms.h"
#include "gateway/inventory/inventory.h"
#include "gateway/inventory/link_list.h"
#include "gateway/view/ready.h"
#include "gateway/view/source.h"

/* The state of the daemon by its own words; problems are those of a sweep of its own. */
static int add_readiness(struct api_call *c, struct alarms *a)
{
	struct stats_copy stats;
	int ret = source_stats(c->thread->source, c->now_ms, c->arena, &stats);
	bool has = ret == E_OK;

	if (ret == -ENOMEM) {
		return ret;
	}
	const char *why =
		ready_reason(has ? &stats : NULL, c->epoch, NULL, c->now_ms, c->arena);

	if (why != NULL && alarms_add(a, ALARM_NOT_READY, NULL, why) == NULL) {
		return -ENOMEM;
	}
	return has && heartbeat_fresh(stats.heartbeat_ms, c->now_ms)
	               ? alarms_of_stats(a, &stats)
	               : E_OK;
}

/* Events are kept in the stats, which may be missing. */
static int add_events(struct api_call *c, struct alarms *a)
{
	struct stats_events ev = { .n = 0 };
	int ret = source_events(c->thread->source, c->now_ms, 0, SIZE_MAX, c->arena, &ev);

	if (ret == E_OK) {
		ret = alarms_of_events(a, ev.events, ev.n, c->thread->inventory);
	}
	if (ret != E_OK && ret != E_NOTREADY) {
		return ret;
	}
	return alarm_causes_join(a, c->snap, c->thread->inventory, ev.events, ev.n);
}

/* The stats keep the counts of links, too. */
static int add_links(struct api_call *c, struct alarms *a)
{
	struct link_health_list rows = { .n = 0 };
	struct link_list list;
	int ret = source_link_health(c->thread->source, c->now_ms, c->arena, &rows);

	if (ret != E_OK) {
		return ret == E_NOTREADY ? E_OK : ret;
	}
	ret = link_list_find(c->thread->inventory, &rows, c->arena, &list);
	return ret == E_OK ? link_list_alarms(a, c->thread->inventory, &list) : ret;
}

/* A standby that never was master has no snapshot, but may be in trouble. */
int api_find_alarms(struct api_call *c, struct alarms *a)
{
	if (c->snap == NULL) {
		return add_readiness(c, a);
	}
	int ret = inventory_get(&c->thread->inventory, c->snap);

	if (ret == E_OK) {
		ret = inventory_shape(c->thread->inventory);
	}
	if (ret == E_OK) {
		ret = add_readiness(c, a);
	}
	if (ret == E_OK) {
		ret = alarms_of_snapshot(a, snap_meta(c->snap), c->thread->inventory);
	}
	if (ret == E_OK) {
		ret = add_links(c, a);
	}
	if (ret == E_OK) {
		ret = add_events(c, a);
	}
	if (ret == E_OK) {
		ret = alarms_mark_maintenance(a, c->snap);
	}
	if (ret == E_OK) {
		ret = alarm_consequences(a, c->thread->inventory);
	}
	return ret == E_OK ? alarms_acknowledge(a, c->snap, source_wall_clock()) : ret;
}

/* --- the tree ---------------------------------------------------------------------------- */

enum { LEVELS = 3 /* of children: a system, its switches, and what went with these */ };

struct tree {
	const struct alarm **all, **top; /* [n_top] without a cause; both in the order of the list */
	const struct alarm **child; /* [n] with one: by its id, then in the order of the list */
	size_t n_top, n;
};

static int compare_children(const void *x, const void *y)
{
	const struct alarm *a = *(const struct alarm *const *)x,
			   *b = *(const struct alarm *const *)y;
	int order = strcmp(a->cause, b->cause);

	return order != 0 ? order : (a > b) - (a < b);
}

/* \param a  Sorted. */
static int find_tree(const struct alarms *a, struct tree *ret_tree)
{
	struct tree t = { .all = arena_array(a->arena, a->n, sizeof(*t.all)),
		          .top = arena_array(a->arena, a->n, sizeof(*t.top)),
		          .child = arena_array(a->arena, a->n, sizeof(*t.child)) };

	if (t.all == NULL || t.top == NULL || t.child == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < a->n; i++) {
		t.all[i] = &a->list[i];
		if (a->list[i].cause != NULL) {
			t.child[t.n++] = &a->list[i];
		} else {
			t.top[t.n_top++] = &a->list[i];
		}
	}
	if (t.n > 0) {
		qsort(t.child, t.n, sizeof(*t.child), compare_children);
	}
	*ret_tree = t;
	return E_OK;
}

static size_t first_child(const struct tree *t, const char *id)
{
	return LOWER_BOUND(t->n, i, strcmp(t->child[i]->cause, id) < 0);
}

/* \param levels  So deep at most. */
static json_t *alarm_with_children(const struct tree *t, const struct alarm *a, unsigned levels)
{
	json_t *o = alarms_json(a), *list = json_array();

	for (size_t i = first_child(t, a->id);
	     levels > 0 && i < t->n && strcmp(t->child[i]->cause, a->id) == 0; i++) {
		json_array_append_new(list, alarm_with_children(t, t->child[i], levels - 1));
	}
	json_object_set_new(o, "children", list);
	return o;
}

/* --- the list ---------------------------------------------------------------------------- */

/* Keeps those that are acknowledged, or the others. \return How many are acknowledged. */
static size_t choose_acknowledged(const struct alarm **list, size_t *n, int8_t wanted)
{
	size_t kept = 0, acknowledged = 0;

	for (size_t i = 0; i < *n; i++) {
		acknowledged += list[i]->ack != NULL;
		if (wanted < 0 || wanted == (list[i]->ack != NULL)) {
			list[kept++] = list[i];
		}
	}
	*n = kept;
	return acknowledged;
}

static json_t *counts_json(const struct alarm *const *list, size_t n_list)
{
	json_int_t n[SEVERITIES] = { 0 };
	json_t *o = json_object();

	for (size_t i = 0; i < n_list; i++) {
		n[list[i]->severity]++;
	}
	for (unsigned s = SEVERITIES; s-- > 0;) {
		json_object_set_new(o, alarm_severity_names[s], json_integer(n[s]));
	}
	return o;
}

int api_alarms(struct api_call *c)
{
	struct alarms a = { .arena = c->arena };
	struct tree tree = { .n = 0 };
	struct api_page page;
	json_t *tail = NULL;
	int8_t all = -1, children = -1, acknowledged = -1;
	int ret = api_page(c, &page);

	if (ret == E_OK) {
		ret = api_flag(c, "all", &all);
	}
	if (ret == E_OK) {
		ret = api_flag(c, "children", &children);
	}
	if (ret == E_OK) {
		ret = api_flag(c, "acknowledged", &acknowledged);
	}
	if (ret == E_OK) {
		ret = api_find_alarms(c, &a);
	}
	if (ret == E_OK) {
		alarms_sort(&a);
		ret = find_tree(&a, &tree);
	}
	if (ret == E_OK) {
		const struct alarm **list = all == 1 ? tree.all : tree.top;
		size_t n = all == 1 ? a.n : tree.n_top;
		size_t known_of = choose_acknowledged(list, &n, acknowledged);
		json_t *head = api_head(c);

		json_object_set_new(head, "acknowledged", json_integer((json_int_t)known_of));
		json_object_set_new(head, "counts", counts_json(list, n));
		body_list_begin(&c->body, head, "alarms");
		for (size_t i = page.guid; i < n; i++) {
			if (i - page.guid == page.limit) {
				tail = api_next(c, i, 0);
				break;
			}
			body_list_add(&c->body, children == 1 ? alarm_with_children(&tree, list[i], LEVELS)
			                                      : alarms_json(list[i]));
		}
		body_list_end(&c->body, api_total(tail, n));
	}
	alarms_done(&a);
	return ret;
}

/* --- for Prometheus ----------------------------------------------------------------------- */

enum { SERIES_MOST = 1000 /* alarms that are shown as metrics, the worst first */ };

/* Is there a series of that id already? */
static bool is_shown(const struct alarm *const *list, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i]->id, id) == 0) {
			return true;
		}
	}
	return false;
}

static void write_series(struct body *b, const struct alarm *a)
{
	body_printf(b, "saguaro_alarm{");
	exposition_label(b, "id", a->id, ",");
	exposition_label(b, "alarm", alarm_types[a->kind].name, ",");
	exposition_label(b, "severity", alarm_severity_names[a->severity], ",");
	exposition_label(b, "node", a->node, ",");
	body_printf(b, "guid=\"0x%016" PRIx64 "\",port=\"%u\",", a->node_guid, a->port);
	exposition_label(b, "peer", a->peer, ",");
	body_printf(b, "peer_port=\"%u\",acknowledged=\"%s\"} 1\n", a->peer_port,
	            a->ack != NULL ? "true" : "false");
}

static void write_counts(struct body *b, const struct tree *t)
{
	size_t n[SEVERITIES][2] = { { 0 } };

	for (size_t i = 0; i < t->n_top; i++) {
		n[t->top[i]->severity][t->top[i]->ack != NULL]++;
	}
	exposition_family(b, "saguaro_", "alarms", "gauge", "Alarms that no other one stands for.");
	for (unsigned s = SEVERITIES; s-- > 0;) {
		for (unsigned k = 0; k < 2; k++) {
			body_printf(b,
			            "saguaro_alarms{severity=\"%s\",acknowledged=\"%s\"} %zu\n",
			            alarm_severity_names[s], k ? "true" : "false", n[s][k]);
		}
	}
}

int api_alarm_metrics(struct api_call *c)
{
	struct alarms a = { .arena = c->arena };
	struct tree tree = { .n = 0 };
	int ret = api_find_alarms(c, &a);

	if (ret == E_OK) {
		alarms_sort(&a);
		ret = find_tree(&a, &tree);
	}
	if (ret == E_OK) {
		write_counts(&c->body, &tree);
		exposition_family(
			&c->body, "saguaro_", "alarm", "gauge",
			"What is wrong at a port, a cable or a node, as in /v1/alarms, at most 1000; always 1.");
	}
	for (size_t i = 0; ret == E_OK && i < tree.n_top && i < SERIES_MOST; i++) {
		if (!is_shown(tree.top, i, tree.top[i]->id)) {
			write_series(&c->body, tree.top[i]);
		}
	}
	alarms_done(&a);
	return ret;
}
