/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/alarms: what is wrong at this moment. */
#include <errno.h>
#include <stdlib.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
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
static int find_alarms(struct api_call *c, struct alarms *a)
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
	return ret == E_OK ? alarms_mark_maintenance(a, c->snap) : ret;
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

static json_t *counts_json(const struct alarms *a)
{
	json_int_t n[EVENT_SEVERITIES] = { 0 };
	json_t *o = json_object();

	for (size_t i = 0; i < a->n; i++) {
		n[alarms_severity(&a->list[i])]++;
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
		ret = find_alarms(c, &a);
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
