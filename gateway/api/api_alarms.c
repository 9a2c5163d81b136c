/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/alarms: what is wrong at this moment. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/api/exposition.h"
#include "gateway/inventory/alarm_causes.h"
#include "gateway/inventory/alarms.h"
#include "gateway/inventory/inventory.h"
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

	if (why != NULL && alarms_add(a, ALARM_NOT_READY, why) == NULL) {
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

	if (ret != E_OK) {
		return ret == E_NOTREADY ? E_OK : ret;
	}
	ret = alarms_of_events(a, ev.events, ev.n, c->thread->inventory);
	return ret == E_OK ? alarm_causes_join(a, c->snap, ev.events, ev.n) : ret;
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
		ret = add_events(c, a);
	}
	return ret;
}

/* Leaves out what another alarm stands for. */
static void drop_joined(struct alarms *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		if (!a->list[i].joined) {
			a->list[n++] = a->list[i];
		}
	}
	a->n = n;
}

enum { SERIES_MAX = 1000 /* alarms that are shown as metrics */ };

/* Is there a series of the same kind at the same place already? */
static bool is_shown(const struct alarm *const *shown, size_t n, const struct alarm *x)
{
	for (size_t i = 0; i < n; i++) {
		const struct alarm *y = shown[i];

		if (x->kind == y->kind && x->node_guid == y->node_guid &&
		    x->port == y->port && x->peer_guid == y->peer_guid &&
		    x->peer_port == y->peer_port) {
			return true;
		}
	}
	return false;
}

static void write_series(struct body *b, const struct alarm *x)
{
	body_printf(b, "saguaro_alarm{alarm=\"%s\",severity=\"%s\",",
	            alarm_types[x->kind].name,
	            event_severity_names[alarm_types[x->kind].severity]);
	exposition_label(b, "node", x->node, ",");
	body_printf(b, "guid=\"0x%016" PRIx64 "\",port=\"%u\",", x->node_guid, x->port);
	exposition_label(b, "peer", x->peer, ",");
	body_printf(b, "peer_port=\"%u\"} 1\n", x->peer_port);
}

int api_alarm_metrics(struct api_call *c)
{
	struct alarms a = { .arena = c->arena };
	const struct alarm **shown = arena_array(c->arena, SERIES_MAX, sizeof(*shown));
	size_t n = 0;
	int ret = shown != NULL ? api_find_alarms(c, &a) : -ENOMEM;

	if (ret == E_OK) {
		alarms_sort(&a);
		exposition_family(
			&c->body, "saguaro_", "alarm", "gauge",
			"What is wrong at a port, a cable or a node, as in /v1/alarms, at most 1000; always 1.");
	}
	for (size_t i = 0; ret == E_OK && i < a.n && n < SERIES_MAX; i++) {
		const struct alarm *x = &a.list[i];

		if (x->node_guid != 0 && !x->joined && !is_shown(shown, n, x)) {
			shown[n++] = x;
			write_series(&c->body, x);
		}
	}
	free(a.list);
	return ret;
}

static json_t *counts_json(const struct alarms *a)
{
	json_int_t n[EVENT_SEVERITIES] = { 0 };
	json_t *o = json_object();

	for (size_t i = 0; i < a->n; i++) {
		n[alarm_types[a->list[i].kind].severity]++;
	}
	for (unsigned s = EVENT_SEVERITIES; s-- > 0;) {
		json_object_set_new(o, event_severity_names[s], json_integer(n[s]));
	}
	return o;
}

int api_alarms(struct api_call *c)
{
	struct alarms a = { .arena = c->arena };
	struct api_page page;
	json_t *tail = NULL;
	int8_t all = -1;
	int ret = api_page(c, &page);

	if (ret == E_OK) {
		ret = api_flag(c, "all", &all);
	}

	if (ret == E_OK) {
		ret = api_find_alarms(c, &a);
	}
	if (ret == E_OK) {
		json_t *head = api_head(c);

		if (all != 1) {
			drop_joined(&a);
		}
		alarms_sort(&a);
		json_object_set_new(head, "counts", counts_json(&a));
		body_list_begin(&c->body, head, "alarms");
		for (size_t i = page.guid; i < a.n; i++) {
			if (i - page.guid == page.limit) {
				tail = api_next(c, i, 0);
				break;
			}
			body_list_add(&c->body, alarms_json(&a.list[i]));
		}
		body_list_end(&c->body, api_total(tail, a.n));
	}
	free(a.list);
	return ret;
}
