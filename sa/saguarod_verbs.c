/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Verbs of the control socket. They run on the fabric thread, so they may use all of the daemon.
 */
#include "sa/saguarod_int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/text.h"
#include "sa/control/partition_verb.h"
#include "sa/sm/drained.h"
#include "sa/sm/sweep.h"

static const char *const source = "saguarod";

static int verb_status(void *ctx, const json_t *request, json_t *reply, char *why,
                       size_t why_bytes)
{
	const struct daemon *d = ctx;
	const struct sweep_status *st = sweep_status(d->sweep);
	json_t *now = json_pack(
		"{s:s, s:b, s:b, s:s, s:s, s:I, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:i}",
		"phase", st->phase, "up", st->up, "master", st->master, "not_ready",
		st->not_ready, "progress", st->progress, "epoch", (json_int_t)st->epoch,
		"heavy_sweeps", (int)st->heavy_sweeps, "light_sweeps",
		(int)st->light_sweeps, "failed_sweeps", (int)st->failed_sweeps,
		"switches", (int)st->switches, "hosts", (int)st->hosts,
		"routes_per_link_max", (json_int_t)st->routes_per_link_max,
		"routes_per_link_fresh", (json_int_t)st->routes_per_link_fresh,
		"isolated_ports", (int)st->isolated_ports);

	(void)request;
	(void)why;
	(void)why_bytes;
	if (now == NULL || json_object_update(reply, now) != 0) {
		json_decref(now);
		return -ENOMEM;
	}
	json_decref(now);
	return E_OK;
}

static int verb_sweep(void *ctx, const json_t *request, json_t *reply, char *why,
                      size_t why_bytes)
{
	struct daemon *d = ctx;
	const json_t *heavy = json_object_get(request, "heavy");
	char by[CONTROL_USER_BYTES];

	if (heavy != NULL && !json_is_boolean(heavy)) {
		snprintf(why, why_bytes, "'heavy' must be true or false");
		return E_SYNTAX;
	}
	control_user(d->control, request, by, sizeof(by));
	if (json_is_true(heavy)) {
		sweep_request_audit(d->sweep, by);
	} else {
		sweep_request_light(d->sweep, by);
	}
	return verb_status(ctx, request, reply, why, why_bytes);
}

static int verb_handover(void *ctx, const json_t *request, json_t *reply, char *why,
                         size_t why_bytes)
{
	const struct daemon *d = ctx;
	int ret = sweep_request_handover(d->sweep, why, why_bytes);

	return ret == E_OK ? verb_status(ctx, request, reply, why, why_bytes) : ret;
}

static int verb_rebalance(void *ctx, const json_t *request, json_t *reply, char *why,
                          size_t why_bytes)
{
	const struct daemon *d = ctx;
	char by[CONTROL_USER_BYTES];

	control_user(d->control, request, by, sizeof(by));
	sweep_request_rebalance(d->sweep, by);
	return verb_status(ctx, request, reply, why, why_bytes);
}

static int verb_port(void *ctx, const json_t *request, json_t *reply, char *why,
                     size_t why_bytes)
{
	const struct daemon *d = ctx;
	const char *action = json_string_value(json_object_get(request, "action"));
	char by[CONTROL_USER_BYTES];
	const struct port_request rq = {
		.by = by,
		.place = json_string_value(json_object_get(request, "port")),
		.disable = action != NULL && strcmp(action, "disable") == 0,
		.force = json_is_true(json_object_get(request, "force"))
	};
	struct port_choice c;
	int ret;

	if (action == NULL || rq.place == NULL ||
	    (!rq.disable && strcmp(action, "enable") != 0)) {
		snprintf(why, why_bytes,
		         "'action' must be disable or enable, and 'port' name a port");
		return E_SYNTAX;
	}
	control_user(d->control, request, by, sizeof(by));
	ret = sweep_request_port(d->sweep, &rq, &c, why, why_bytes);
	if (ret != E_OK) {
		return ret;
	}
	json_object_set_new(reply, "node", json_string(c.node));
	json_object_set_new(reply, "port", json_integer(c.port));
	if (c.peer[0] != '\0') {
		json_object_set_new(reply, "peer", json_string(c.peer));
		json_object_set_new(reply, "peer_port", json_integer(c.peer_port));
	}
	json_object_set_new(reply, "cut_off", json_integer(rq.disable ? c.cut_off : 0));
	return E_OK;
}

static int verb_reload(void *ctx, const json_t *request, json_t *reply, char *why,
                       size_t why_bytes)
{
	int ret = saguarod_reload(ctx);

	(void)request;
	(void)reply;
	if (ret != E_OK) {
		snprintf(
			why, why_bytes,
			"the configuration is refused and the running one stays; the log says why, and so does saguarod --check");
	}
	return ret;
}

static int verb_reopen_log(void *ctx, const json_t *request, json_t *reply, char *why,
                           size_t why_bytes)
{
	const struct daemon *d = ctx;
	int ret = saguarod_reopen_log(ctx);

	(void)request;
	json_object_set_new(reply, "log_file",
	                    d->now->config.log_file ? json_string(d->now->config.log_file)
	                                            : json_null());
	if (ret != E_OK) {
		snprintf(why, why_bytes, "cannot open %s: %s", d->now->config.log_file,
		         err_text(ret));
	}
	return ret;
}

static int verb_loglevel(void *ctx, const json_t *request, json_t *reply, char *why,
                         size_t why_bytes)
{
	static const char *const names[] = { [LOG_LEVEL_ERROR] = "error",
		                             [LOG_LEVEL_WARNING] = "warning",
		                             [LOG_LEVEL_INFO] = "info",
		                             [LOG_LEVEL_DEBUG] = "debug" };
	const char *level = json_string_value(json_object_get(request, "level"));

	(void)ctx;
	for (unsigned i = 0; level != NULL && i <= LOG_LEVEL_DEBUG; i++) {
		if (strcmp(level, names[i]) == 0) {
			log_set_level((enum log_level)i);
			log_info(source, "log level is %s now", level);
			json_object_set_new(reply, "level", json_string(level));
			return E_OK;
		}
	}
	snprintf(why, why_bytes, "'level' must be error, warning, info or debug");
	return E_SYNTAX;
}

static int verb_partition(void *ctx, const json_t *request, json_t *reply, char *why,
                          size_t why_bytes)
{
	const struct daemon *d = ctx;

	return partition_verb(d->sweep, d->control, request, reply, why, why_bytes);
}

static int verb_forget(void *ctx, const json_t *request, json_t *reply, char *why,
                       size_t why_bytes)
{
	const struct daemon *d = ctx;
	const char *node = json_string_value(json_object_get(request, "node"));
	bool all = json_is_true(json_object_get(request, "all"));
	char by[CONTROL_USER_BYTES];
	size_t n = 0;

	if ((node == NULL) != all) {
		snprintf(why, why_bytes, "expected 'node' to name a node, or 'all' to be true");
		return E_SYNTAX;
	}
	control_user(d->control, request, by, sizeof(by));
	int ret = sweep_request_forget(d->sweep, node, by, &n, why, why_bytes);
	if (ret == E_OK) {
		json_object_set_new(reply, "forgotten", json_integer((json_int_t)n));
	}
	return ret;
}

static int verb_alarm(void *ctx, const json_t *request, json_t *reply, char *why, size_t why_bytes)
{
	const struct daemon *d = ctx;
	const char *action = json_string_value(json_object_get(request, "action")),
		   *id = json_string_value(json_object_get(request, "id")),
		   *until = json_string_value(json_object_get(request, "until")),
		   *note = json_string_value(json_object_get(request, "note"));
	bool acks = action != NULL && strcmp(action, "ack") == 0;
	char by[CONTROL_USER_BYTES];

	if (id == NULL || action == NULL || (!acks && strcmp(action, "unack") != 0)) {
		snprintf(why, why_bytes, "expected 'action' to be ack or unack, and 'id' to name an alarm");
		return E_SYNTAX;
	}
	control_user(d->control, request, by, sizeof(by));
	int ret = acks ? sweep_request_ack(d->sweep, id, until, note, by, why, why_bytes)
	               : sweep_request_unack(d->sweep, id, by, why, why_bytes);
	if (ret == E_OK) {
		json_object_set_new(reply, "id", json_string(id));
	} else if (ret == E_NOTFOUND || ret == E_FULL || ret == E_SYNTAX || ret == E_RANGE) {
		json_object_set_new(reply, "code",
		                    json_string(ret == E_NOTFOUND ? "not_found"
		                                : ret == E_FULL   ? "full"
		                                                  : "invalid"));
	}
	return ret;
}

/* Adds the damage that switching it off does to others. */
static void add_effect(const struct drained_outcome *o, json_t *reply)
{
	json_object_set_new(reply, "hosts_behind", json_integer(o->effect.hosts_behind));
	json_object_set_new(reply, "pairs_cut", json_integer((json_int_t)o->effect.pairs_cut));
	json_object_set_new(reply, "switches_cut", json_integer(o->effect.switches_cut));
}

static int verb_maintenance(void *ctx, const json_t *request, json_t *reply, char *why,
                            size_t why_bytes)
{
	const struct daemon *d = ctx;
	const char *action = json_string_value(json_object_get(request, "action")),
		   *until = json_string_value(json_object_get(request, "until"));
	char by[CONTROL_USER_BYTES];
	struct drained_request rq = {
		.reason = DRAINED_MAINTENANCE,
		.end = action != NULL && strcmp(action, "end") == 0,
		.place = json_string_value(json_object_get(request, "node")),
		.note = json_string_value(json_object_get(request, "note")),
		.force = json_is_true(json_object_get(request, "force")),
		.dry_run = json_is_true(json_object_get(request, "dry_run")),
		.by = by
	};
	struct drained_outcome o;

	if (action == NULL || rq.place == NULL || (!rq.end && strcmp(action, "start") != 0)) {
		snprintf(why, why_bytes,
		         "'action' must be start or end, and 'node' name a node or NAME:PORT");
		return E_SYNTAX;
	}
	if (until != NULL && text_until(until, time(NULL), &rq.until_s) != E_OK) {
		snprintf(why, why_bytes,
		         "'%.60s' is no time to come: expected 2027-01-31T12:00:00Z, or 30m, 2h, 7d",
		         until);
		return E_SYNTAX;
	}
	control_user(d->control, request, by, sizeof(by));
	int ret = sweep_request_drained(d->sweep, &rq, &o, why, why_bytes);
	if (ret != E_OK) {
		return ret;
	}
	json_object_set_new(reply, "node", json_string(o.row.name));
	if (o.row.port != 0) {
		json_object_set_new(reply, "port", json_integer(o.row.port));
		json_object_set_new(reply, "peer", json_string(o.row.peer_name));
		json_object_set_new(reply, "peer_port", json_integer(o.row.peer_port));
	}
	json_object_set_new(reply, "state",
	                    json_string(rq.end ? "ended" : drained_state_name(o.row.state)));
	json_object_set_new(reply, "changed", json_boolean(o.changed));
	add_effect(&o, reply);
	return E_OK;
}

void saguarod_begin(void *ctx)
{
	const struct daemon *d = ctx;

	sweep_hold_partitions(d->sweep);
}

int saguarod_settle(void *ctx, json_t *reply, char *why, size_t why_bytes)
{
	const struct daemon *d = ctx;

	return partition_settle(d->sweep, reply, why, why_bytes);
}

const struct control_verb saguarod_verbs[] = {
	{ "status", verb_status },       { "sweep", verb_sweep },
	{ "reload", verb_reload },       { "reopen-log", verb_reopen_log },
	{ "loglevel", verb_loglevel },   { "rebalance", verb_rebalance },
	{ "port", verb_port },           { "handover", verb_handover },
	{ "partition", verb_partition }, { "forget", verb_forget },
	{ "alarm", verb_alarm },
	{ "maintenance", verb_maintenance },
	{ NULL, NULL },
};
