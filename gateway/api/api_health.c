/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <stdio.h>

#include "conf/base/err.h"
#include "conf/holes.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/api/exposition.h"
#include "gateway/api/metrics.h"
#include "gateway/resource/openapi.h"
#include "gateway/view/json_text.h"
#include "gateway/view/path_json.h"
#include "gateway/view/ready.h"
#include "gateway/view/source.h"
#include "sa/record/attributes.h"

int api_healthz(struct api_call *c)
{
	const char *why = NULL;

	/* This process is alive; the state of the daemon does not matter here. */
	body_json(&c->body, json_pack("{s:s, s:I}", "status", "ok", "epoch",
	                              (json_int_t)api_epoch(c, &why)));
	return E_OK;
}

static json_t *text_or_json_null(const struct stats_copy *c, const char *name)
{
	const char *text = stats_copy_text(c, name);

	return text != NULL && text[0] != '\0' ? json_string(text) : json_null();
}

static json_int_t number_of(const struct stats_copy *c, const char *name)
{
	double v = 0;

	(void)stats_number(c, name, &v);
	return (json_int_t)v;
}

/* How far the copies of the durable state are; null without a link. */
static json_t *copy_json(const struct stats_copy *c)
{
	if (number_of(c, "standby_link") == 0) {
		return json_null();
	}
	return json_pack("{s:b, s:b, s:b, s:I, s:I, s:I, s:I, s:o}", "connected",
	                 (int)number_of(c, "standby_connected"), "in_step",
	                 (int)number_of(c, "standby_in_step"), "paused",
	                 (int)number_of(c, "standby_paused"), "standbys",
	                 number_of(c, "standby_standbys"), "standbys_in_step",
	                 number_of(c, "standby_standbys_in_step"), "rows",
	                 number_of(c, "standby_copied_rows"), "transaction",
	                 number_of(c, "standby_transaction"), "trouble",
	                 text_or_json_null(c, "standby.trouble"));
}

/* How switches were programmed the last time; null before. */
static json_t *programmed_json(const struct stats_copy *c)
{
	static const char *const ways[] = { "by_lid",     "asked",  "unanswered",
		                            "remembered", "behind", "no_route" };
	json_t *o = json_object();
	json_int_t sum = 0;

	for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
		char name[64];

		snprintf(name, sizeof(name), "switches_programmed{way=\"%s\"}", ways[k]);
		sum += number_of(c, name);
		json_object_set_new(o, ways[k], json_integer(number_of(c, name)));
	}
	if (sum != 0) {
		return o;
	}
	json_decref(o);
	return json_null();
}

/* Rows of conf/holes.def, as doctor prints them. */
static json_t *holes_json(const struct stats_copy *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < CONFIG_HOLE_COUNT; i++) {
		char series[64];

		snprintf(series, sizeof(series), "config_hole{hole=\"%s\"}",
		         config_holes[i].name);
		if (number_of(c, series) != 0) {
			json_array_append_new(list,
			                      json_pack("{s:s, s:s, s:s}", "name",
			                                config_holes[i].name, "text",
			                                config_holes[i].what, "advice",
			                                config_holes[i].remedy));
		}
	}
	return list;
}

/* NULL stats: no daemon has reported, or it is gone. */
static json_t *sm_json(const struct stats_copy *c)
{
	json_t *master = json_null();

	if (c == NULL || stats_copy_text(c, "sm.state") == NULL) {
		return json_pack("{s:s, s:n, s:n, s:n, s:n, s:n, s:n}", "state", "unknown",
		                 "guid", "priority", "master", "copy", "programmed", "holes");
	}
	json_t *guid = text_or_json_null(c, "sm.master.guid");
	if (json_is_string(guid)) {
		master = json_pack("{s:O, s:o, s:I, s:I}", "guid", guid, "name",
		                   text_or_json_null(c, "sm.master.name"), "lid",
		                   number_of(c, "sm_master_lid"), "priority",
		                   number_of(c, "sm_master_priority"));
	}
	json_decref(guid);
	return json_pack("{s:o, s:o, s:I, s:o, s:o, s:o, s:o}", "state",
	                 text_or_json_null(c, "sm.state"), "guid",
	                 text_or_json_null(c, "sm.guid"), "priority",
	                 number_of(c, "sm_priority"), "master", master, "copy",
	                 copy_json(c), "programmed", programmed_json(c),
	                 "holes", holes_json(c));
}

/* A subnet manager by its SMInfo, which the daemon read last. */
static int seen_json(struct snap_reader *r, const struct snap_attr_row *row,
                     json_t **ret_json)
{
	uint64_t guid = field_get(row->data, SMI_GUID);
	struct snap_node node;
	struct snap_end end = { .base_lid = 0 };
	int ret = snap_node(r, row->guid, &node);
	int found = snap_port_guid(r, guid, &end);

	if ((ret != E_OK && ret != E_NOTFOUND) ||
	    (found != E_OK && found != E_NOTFOUND)) {
		return ret != E_OK && ret != E_NOTFOUND ? ret : found;
	}
	/* clang-format off */
	*ret_json = json_pack("{s:o, s:o, s:o, s:i, s:o, s:i, s:s}",
		"port_guid", guid_json(guid),
		"node_guid", guid_json(row->guid),
		"name", ret == E_OK ? text_json(node.name) : json_null(),
		"port", (int)row->block,
		"lid", found == E_OK ? json_integer(end.base_lid) : json_null(),
		"priority", (int)field_get(row->data, SMI_PRIORITY),
		"state", fabric_sm_state((uint8_t)field_get(row->data, SMI_SM_STATE)));
	/* clang-format on */
	return *ret_json != NULL ? E_OK : -ENOMEM;
}

static int all_seen_json(struct snap_reader *r, json_t *list)
{
	enum { SM_INFO_BYTES = 21 };
	struct snap_attr_row row;
	json_t *o;
	int ret = snap_attr_from(r, UMAD_SM_ATTR_SM_INFO, 0, 0, &row);

	while (ret == E_OK) {
		if (row.len < SM_INFO_BYTES) {
			return E_MALFORMED;
		}
		ret = seen_json(r, &row, &o);
		if (ret == E_OK) {
			json_array_append_new(list, o);
			ret = snap_attr_from(r, UMAD_SM_ATTR_SM_INFO, row.guid,
			                     row.block + 1, &row);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* All that were seen; none without an epoch. */
static int sms_json(struct api_call *c, json_t **ret_json)
{
	struct snap_reader *snap;
	const char *why;
	int ret = E_STALE;

	for (unsigned i = 0; i < API_TRIES && ret == E_STALE; i++) {
		json_t *list = json_array();

		*ret_json = list;
		if (source_pin(c->thread->source, c->now_ms, &why, &snap) != E_OK) {
			return E_OK;
		}
		ret = all_seen_json(snap, list);
		int torn = snap_check(snap);
		ret = torn != E_OK ? torn : ret;
		if (ret != E_OK) {
			json_decref(list);
		}
	}
	return ret;
}

int api_sm(struct api_call *c)
{
	struct stats_copy stats;
	json_t *sms, *sm;
	int ret = source_stats(c->thread->source, c->now_ms, c->arena, &stats);
	bool fresh = ret == E_OK && heartbeat_fresh(stats.heartbeat_ms, c->now_ms);

	ret = ret == -ENOMEM ? ret : sms_json(c, &sms);
	if (ret != E_OK) {
		return ret;
	}

	sm = sm_json(fresh ? &stats : NULL);
	json_object_set_new(sm, "sms", sms);
	body_json(&c->body, sm);
	return E_OK;
}

int api_readyz(struct api_call *c)
{
	struct stats_copy stats;
	const char *why = NULL;

	uint64_t epoch = api_epoch(c, &why);
	int ret = source_stats(c->thread->source, c->now_ms, c->arena, &stats);
	bool has_stats = ret == E_OK;

	if (ret == -ENOMEM) {
		return ret;
	}
	const char *reason = ret == E_MALFORMED
	                             ? source_damaged(c->thread->source, c->arena)
	                             : ready_reason(has_stats ? &stats : NULL, epoch, why,
	                                            c->now_ms, c->arena);
	if (reason != NULL) {
		problem_member(&c->problem, "ready", json_false());
		problem_member(&c->problem, "epoch", json_integer((json_int_t)epoch));
		problem_member(&c->problem, "sm",
		               sm_json(has_stats && heartbeat_fresh(stats.heartbeat_ms,
		                                                    c->now_ms)
		                               ? &stats
		                               : NULL));
		if (has_stats && stats.heartbeat_ms != 0 &&
		    !heartbeat_fresh(stats.heartbeat_ms, c->now_ms)) {
			problem_member(&c->problem, "since", time_json(stats.heartbeat_realtime_s));
		}
		return problem_set(&c->problem, c->arena, E_NOTREADY, "%s", reason);
	}
	body_json(&c->body,
	          json_pack("{s:b, s:I}", "ready", 1, "epoch", (json_int_t)epoch));
	return E_OK;
}

int api_index(struct api_call *c)
{
	const char *why = NULL;
	json_t *list = json_array();

	for (unsigned i = 0; i < api_resources.n; i++) {
		const struct resource *row = &api_resources.row[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:s, s:o}", "method", row->method, "path",
		                  row->path, "summary", row->summary, "parameters",
		                  resource_words(row->params)));
	}
	body_json(&c->body,
	          json_pack("{s:s, s:I, s:s*, s:o}", "service", "saguaro-gateway", "epoch",
	                    (json_int_t)api_epoch(c, &why), "admin", c->thread->admin_url,
	                    "resources", list));
	return E_OK;
}

int api_openapi(struct api_call *c)
{
	json_t *document = openapi_document(&api_resources);

	if (document == NULL) {
		return -ENOMEM;
	}
	body_json(&c->body, document);
	return E_OK;
}

/* The figures of one epoch; they are written again if it is superseded meanwhile. */
static int fabric_metrics(struct api_call *c, uint64_t *ret_epoch, const char **ret_why)
{
	struct snap_reader *snap;
	size_t start = c->body.len;

	for (unsigned i = 0; i < API_TRIES; i++) {
		int ret = source_pin(c->thread->source, c->now_ms, ret_why, &snap);
		if (ret != E_OK) {
			return E_OK; /* without an epoch there are no figures, which is no failure */
		}
		c->body.len = start;
		ret = metrics_fabric(&c->body, snap);
		if (ret == E_OK) {
			c->snap = snap;
			ret = api_alarm_metrics(c);
			c->snap = NULL;
		}
		c->epoch = *ret_epoch = snap_meta(snap)->epoch;
		if (snap_check(snap) == E_OK) {
			return ret;
		}
	}
	return E_STALE;
}

int api_metrics(struct api_call *c)
{
	struct stats_copy copy, *stats = NULL;
	const char *why = NULL;
	uint64_t epoch = 0;
	int ret = E_OK;

	c->content_type = EXPOSITION_TYPE;
	metrics_http(&c->body, c->thread->stats, &api_resources);
	ret = source_stats(c->thread->source, c->now_ms, c->arena, &copy);
	if (ret == -ENOMEM) {
		return ret;
	}
	stats = ret == E_OK ? &copy : NULL;
	ret = E_OK;
	if (metrics_fresh(stats, c->now_ms)) {
		ret = fabric_metrics(c, &epoch, &why);
	}
	if (ret != E_OK) {
		return ret;
	}
	metrics_daemon(&c->body, stats, c->now_ms);
	metrics_ready(&c->body,
	              ready_reason(stats, epoch, why, c->now_ms, c->arena) == NULL);
	return E_OK;
}
