/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/err.h"
#include "db/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/api/metrics.h"
#include "gateway/view/ready.h"
#include "gateway/view/source.h"

int api_healthz(struct api_call *c)
{
	const char *why = NULL;

	/* This process is alive; the state of the daemon does not matter here. */
	body_json(&c->body, json_pack("{s:s, s:I}", "status", "ok", "epoch",
	                              (json_int_t)api_epoch(c, &why)));
	return E_OK;
}

int api_readyz(struct api_call *c)
{
	struct stats_copy stats;
	const char *why = NULL;

	uint64_t epoch = api_epoch(c, &why);
	bool has_stats =
		source_stats(c->thread->source, c->now_ms, c->arena, &stats) == E_OK;
	const char *reason =
		ready_reason(has_stats ? &stats : NULL, epoch, why, c->now_ms, c->arena);
	if (reason != NULL) {
		problem_member(&c->problem, "ready", json_false());
		problem_member(&c->problem, "epoch", json_integer((json_int_t)epoch));
		return problem_set(&c->problem, c->arena, E_NOTREADY, "%s", reason);
	}
	body_json(&c->body,
	          json_pack("{s:b, s:I}", "ready", 1, "epoch", (json_int_t)epoch));
	return E_OK;
}

int api_index(struct api_call *c)
{
	const struct api_row *rows = c->rows->row;
	const char *why = NULL;
	json_t *list = json_array();

	for (unsigned i = 0; i < c->rows->n; i++) {
		json_t *params = json_array();
		for (const char *const *p = rows[i].params; p != NULL && *p != NULL;
		     p++) {
			json_array_append_new(params, json_string(*p));
		}
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:o}", "method", rows[i].method,
		                        "path", rows[i].path, "summary", rows[i].summary,
		                        "parameters", params));
	}
	body_json(&c->body,
	          json_pack("{s:s, s:I, s:o}", "service", "saguaro-gateway", "epoch",
	                    (json_int_t)api_epoch(c, &why), "resources", list));
	return E_OK;
}

/* The figures of one epoch; they are written again if it is superseded meanwhile. */
static int fabric_metrics(struct api_call *c, uint64_t *ret_epoch, const char **ret_why)
{
	struct snap_reader *snap;
	size_t start = c->body.len;

	for (unsigned i = 0; i < API_TRIES; i++) {
		int err = source_pin(c->thread->source, c->now_ms, ret_why, &snap);
		if (err != E_OK) {
			return E_OK; /* without an epoch there are no figures, which is no failure */
		}
		c->body.len = start;
		err = metrics_fabric(&c->body, snap);
		c->epoch = *ret_epoch = snap_meta(snap)->epoch;
		if (snap_check(snap) == E_OK) {
			return err;
		}
	}
	return E_STALE;
}

int api_metrics(struct api_call *c)
{
	struct stats_copy stats;
	const char *why = NULL;
	uint64_t epoch = 0;

	c->content_type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_http(&c->body, c->thread->stats, c->rows);
	int err = fabric_metrics(c, &epoch, &why);
	if (err != E_OK) {
		return err;
	}
	bool has_stats =
		source_stats(c->thread->source, c->now_ms, c->arena, &stats) == E_OK;
	if (has_stats) {
		metrics_daemon(&c->body, &stats, c->now_ms);
	}
	metrics_ready(&c->body, ready_reason(has_stats ? &stats : NULL, epoch, why,
	                                     c->now_ms, c->arena) == NULL);
	return E_OK;
}
