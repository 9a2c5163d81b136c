/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/sweeps: what the subnet manager does at the moment, and its last heavy sweeps. */
#include <errno.h>

#include "conf/base/err.h"
#include "gateway/api/api_call.h"
#include "gateway/view/event_json.h"
#include "gateway/view/json_text.h"
#include "gateway/view/ready.h"
#include "gateway/view/source.h"

static json_t *text_or_null(const struct stats_copy *c, const char *name)
{
	const char *text = c != NULL ? stats_copy_text(c, name) : NULL;

	return text_json(text != NULL && text[0] != '\0' ? text : NULL);
}

static json_t *count_or_null(const struct stats_copy *c, const char *name)
{
	double v;

	return c != NULL && stats_number(c, name, &v) ? json_integer((json_int_t)v)
	                                              : json_null();
}

/* \param stats  NULL: the daemon is gone, so nothing is known of this moment. */
static json_t *head_json(const struct stats_copy *stats)
{
	/* clang-format off */
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"phase", text_or_null(stats, "phase"),
		"progress", text_or_null(stats, "progress"),
		"not_ready", text_or_null(stats, "not_ready"),
		"heavy_sweeps", count_or_null(stats, "heavy_sweeps_total"),
		"local_sweeps", count_or_null(stats, "local_sweeps_total"),
		"light_sweeps", count_or_null(stats, "light_sweeps_total"),
		"failed_sweeps", count_or_null(stats, "failed_sweeps_total"));
	/* clang-format on */
}

static json_t *sweep_json(const struct fabric_event *e)
{
	char text[EVENT_TEXT_BYTES];

	event_text(e, text, sizeof(text));
	/* clang-format off */
	return json_pack("{s:I, s:o, s:b, s:I, s:I, s:I, s:I, s:o, s:o}",
		"event", (json_int_t)e->seq,
		"time", time_json(e->time_s),
		"failed", e->kind == EVENT_SWEEP_FAILED,
		"epoch", (json_int_t)e->epoch,
		"duration_ms", (json_int_t)e->duration_ms,
		"paths_moved", (json_int_t)e->paths_moved,
		"lft_blocks", (json_int_t)e->lft_blocks,
		"cause", text_json(e->cause != NULL && e->cause[0] != '\0' ? e->cause : NULL),
		"text", text_json(text));
	/* clang-format on */
}

int api_sweeps(struct api_call *c)
{
	struct stats_events ev = { .n = 0 };
	struct stats_copy stats;
	uint32_t limit, total = 0;
	int ret = api_limit(c, &limit);

	if (ret == E_OK) {
		ret = source_events(c->thread->source, c->now_ms, 0, SIZE_MAX, c->arena,
		                    &ev);
	}
	if (ret == E_NOTREADY) {
		return problem_set(&c->problem, c->arena, ret,
		                   "no saguarod has reported here yet");
	}
	if (ret != E_OK) {
		return ret;
	}
	ret = source_stats(c->thread->source, c->now_ms, c->arena, &stats);
	if (ret == -ENOMEM) {
		return ret;
	}
	bool fresh = ret == E_OK && heartbeat_fresh(stats.heartbeat_ms, c->now_ms);
	json_t *head = head_json(fresh ? &stats : NULL);
	if (!fresh) {
		json_object_set_new(head, "stale", json_true());
	}
	body_list_begin(&c->body, head, "sweeps");
	for (size_t i = ev.n; i > 0; i--) {
		const struct fabric_event *e = &ev.events[i - 1];

		if (e->kind != EVENT_SUBNET_UP && e->kind != EVENT_SWEEP_FAILED) {
			continue;
		}
		if (total++ < limit) {
			body_list_add(&c->body, sweep_json(e));
		}
	}
	body_list_end(&c->body, api_total(NULL, total));
	return E_OK;
}
