/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/ready.h"

#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/view/json_text.h"

enum { AHEAD_MS = 2 * 60 * 60 * 1000 };

bool heartbeat_fresh(uint64_t heartbeat_ms, uint64_t now_ms)
{
	/* A heartbeat ahead of the clock was written between the two readings; one that is far ahead was
	 * written before the machine was started again. */
	if (heartbeat_ms > now_ms) {
		return heartbeat_ms - now_ms <= AHEAD_MS;
	}
	return heartbeat_ms != 0 && now_ms - heartbeat_ms <= STALE_AFTER_MS;
}

bool stats_number(const struct stats_copy *c, const char *name, double *ret_number)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->values[i].text == NULL && strcmp(c->values[i].name, name) == 0) {
			*ret_number = c->values[i].value;
			return true;
		}
	}
	return false;
}

/* Text by name, NULL when it is missing or empty. */
static const char *text_or_null(const struct stats_copy *c, const char *name)
{
	const char *text = stats_copy_text(c, name);
	return text != NULL && text[0] != '\0' ? text : NULL;
}

/* When the figures were written. */
static const char *written_at(const struct stats_copy *c, char buf[TIME_TEXT_BYTES])
{
	return time_text(c->heartbeat_realtime_s, buf);
}

/* It runs, and has no place for what it would report. */
static const char *cannot_report(const struct stats_copy *c, struct arena *a)
{
	const char *folder = c->folder != NULL ? c->folder : "of the snapshot";
	char buf[TIME_TEXT_BYTES];

	if (c->trouble == E_FULL) {
		return arena_printf(
			a,
			"the folder %s is full: saguarod (process %u) runs, but figures and changes are not shown since %s; free space there, or enlarge it",
			folder, (unsigned)c->pid, written_at(c, buf));
	}
	return arena_printf(
		a,
		"saguarod (process %u) runs, but cannot write to the folder %s since %s: %s",
		(unsigned)c->pid, folder, written_at(c, buf), err_text(c->trouble));
}

static const char *gone_since(const struct stats_copy *c, struct arena *a)
{
	char buf[TIME_TEXT_BYTES];
	const char *text = written_at(c, buf);

	if (text_or_null(c, "ended") != NULL) {
		return arena_printf(
			a, "daemon gone since %s: saguarod (process %u) ended: %s", text,
			(unsigned)c->pid, text_or_null(c, "ended"));
	}
	return arena_printf(
		a,
		"daemon gone since %s: saguarod (process %u) gave no sign of life for more than %d ms; start it again",
		text, (unsigned)c->pid, STALE_AFTER_MS);
}

static const char *not_up(const struct stats_copy *c, struct arena *a)
{
	const char *reason = text_or_null(c, "not_ready");
	const char *progress = text_or_null(c, "progress");

	if (progress == NULL) {
		const char *phase = text_or_null(c, "phase");
		progress = phase != NULL && strcmp(phase, "idle") != 0 ? phase : NULL;
	}
	if (reason == NULL) {
		reason = "the subnet is not up yet";
	}
	return progress != NULL ? arena_printf(a, "%s (%s)", reason, progress)
	                        : arena_strdup(a, reason);
}

const char *ready_reason(const struct stats_copy *stats, uint64_t epoch,
                         const char *why_no_epoch, uint64_t now_ms, struct arena *a)
{
	double up;

	if (stats == NULL || stats->heartbeat_ms == 0) {
		return why_no_epoch != NULL ? why_no_epoch
		                            : "no saguarod has reported here yet";
	}
	if (!heartbeat_fresh(stats->heartbeat_ms, now_ms)) {
		return stats->trouble != E_OK && heartbeat_fresh(stats->alive_ms, now_ms)
		               ? cannot_report(stats, a)
		               : gone_since(stats, a);
	}
	if (!stats_number(stats, "subnet_up", &up) || up != 1.0) {
		return not_up(stats, a);
	}
	if (epoch == 0) {
		return why_no_epoch != NULL ? why_no_epoch
		                            : "saguarod has not published a sweep yet";
	}
	return NULL;
}
