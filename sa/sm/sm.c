/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/sm.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/vector.h"
#include "db/state/state.h"
#include "sa/partition/runtime.h"
#include "sa/server/server.h"

static const char *const source = "sweep";

uint64_t sm_now(const struct sm *sm)
{
	return sm->d.transport->ops->now_ms(sm->d.transport);
}

int64_t sm_wall_clock(const struct sm *sm)
{
	return sm->d.wall_clock != NULL ? sm->d.wall_clock() : 0;
}

double sm_cpu_now(const struct sm *sm)
{
	return sm->d.cpu_clock != NULL ? sm->d.cpu_clock() : 0;
}

int sm_refresh_runtime(struct sm *sm)
{
	struct runtime_partitions *r;
	uint64_t version =
		sm->d.state != NULL ? state_version(sm->d.state, RECORDS_PARTITIONS) : 0;
	int ret;

	if (sm->runtime != NULL && sm->runtime_state == version) {
		return E_OK;
	}
	ret = runtime_load(sm->d.state, &r);
	if (ret == E_OK) {
		runtime_free(sm->runtime);
		sm->runtime = r;
		sm->runtime_state = version;
	}
	return ret;
}

int sm_read_runtime(struct sm *sm)
{
	int ret = sm_refresh_runtime(sm);
	struct arena *a = ret != E_OK ? arena_new() : NULL;

	if (ret != E_OK) {
		log_message(MSG_PKEY_RUNTIME_UNREAD, "partitions",
		            "partitions made at run time cannot be read: %s",
		            a != NULL ? state_err_text(sm->d.state, ret, a)
		                      : err_text(ret));
	}
	arena_free(a);
	return ret;
}

void sm_request_heavy(struct sm *sm, const char *fmt, ...)
{
	va_list ap;

	if (sm->want_heavy) {
		return;
	}
	sm->want_heavy = true;
	va_start(ap, fmt);
	vsnprintf(sm->cause, sizeof(sm->cause), fmt, ap);
	va_end(ap);
}

void sm_request_local(struct sm *sm, const uint64_t *suspects, uint32_t n,
                      const char *fmt, ...)
{
	va_list ap;

	if (VECTOR_RESERVE(sm->suspects, sm->cap_suspects, sm->n_suspects + n) != E_OK) {
		sm_request_heavy(sm, "out of memory for a local sweep");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		sm->suspects[sm->n_suspects++] = suspects[i];
	}
	if (sm->want_heavy || sm->want_local) {
		return;
	}
	sm->want_local = true;
	va_start(ap, fmt);
	vsnprintf(sm->cause, sizeof(sm->cause), fmt, ap);
	va_end(ap);
}

void sm_requests_clear(struct sm *sm)
{
	sm->want_heavy = sm->want_local = false;
	sm->n_suspects = 0;
	sm->cause[0] = '\0';
}

int sm_fail(struct sm *sm, int ret, bool early, const char *fmt, ...)
{
	va_list ap;

	sm->retry_early = early;
	va_start(ap, fmt);
	vsnprintf(sm->status.not_ready, sizeof(sm->status.not_ready), fmt, ap);
	va_end(ap);
	return ret;
}

void sm_log_clients(const struct sm *sm)
{
	struct sa_counters c;

	if (sm->d.sa == NULL) {
		return;
	}
	sa_server_counters(sm->d.sa, &c);
	if (c.groups + c.services + c.subscriptions + c.reports_sent > 0) {
		log_info(source,
		         "%" PRIu64 " multicast groups with %" PRIu64 " members, %" PRIu64
		         " services, %" PRIu64 " subscriptions; %" PRIu64
		         " reports sent, %" PRIu64 " given up",
		         c.groups, c.members, c.services, c.subscriptions, c.reports_sent,
		         c.reports_given_up);
	}
}

const struct job *sm_known_job(const struct sm *sm)
{
	const struct job *j = sm->previous != NULL ? sm->previous : sm->job;

	return j != NULL && j->program.lids != NULL ? j : NULL;
}

struct job *job_new(const struct sm *sm)
{
	struct arena *a = arena_new();
	struct job *j = a != NULL ? arena_alloc(a, sizeof(*j)) : NULL;

	if (j == NULL) {
		arena_free(a);
		return NULL;
	}
	j->arena = a;
	j->started = j->stage_started = sm_cpu_now(sm);
	j->smps_before = smp_counters(sm->smp)->sent;
	return j;
}

void job_free(struct job *j)
{
	if (j != NULL) {
		disc_done(&j->disc);
		arena_free(j->partition_arena);
		arena_free(j->arena);
	}
}

void job_stage(struct job *j, const struct sm *sm, const char *name)
{
	double now = sm_cpu_now(sm);

	if (j->n_stages < SNAP_STAGES_MAX) {
		j->stage[j->n_stages++] =
			(struct snap_stage){ name, now - j->stage_started };
	}
	j->stage_started = now;
}

void job_log_stages(const struct job *j)
{
	char text[400] = "";
	size_t at = 0;

	for (unsigned i = 0; i < j->n_stages && at < sizeof(text); i++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %s %.3f",
		                       j->stage[i].name, j->stage[i].seconds);
	}
	log_debug(source, "seconds:%s; arena %zu bytes", text, arena_used(j->arena));
}

/* --- ports that are not healthy ----------------------------------------------------- */

static void tell_health(void *ctx, const struct health_port *p, enum health_condition why,
                        enum health_news news)
{
	struct sm *sm = ctx;
	const struct graph *g = sm->job != NULL ? sm->job->disc.g : NULL;
	uint32_t node = g != NULL ? graph_node_by_guid(g, p->guid) : GRAPH_NONE;
	char detail[EVENT_DETAIL_BYTES];
	struct fabric_event e = { .kind = news == HEALTH_GOOD      ? EVENT_PORT_HEALTHY
		                          : news == HEALTH_CUT_OFF ? EVENT_PORT_ISOLATED
		                                                   : EVENT_PORT_UNHEALTHY,
		                  .node = "a switch that is gone",
		                  .node_guid = p->guid,
		                  .port = p->port,
		                  .detail = detail };

	if (node != GRAPH_NONE) {
		events_set_node(&e, g, node);
	}
	if (news == HEALTH_CUT_OFF && sm->health.policy.release_s != 0) {
		snprintf(detail, sizeof(detail), "%s; it is tried again in %u s",
		         health_condition_name(why), sm->health.policy.release_s);
	} else if (news == HEALTH_SPARED) {
		snprintf(
			detail, sizeof(detail),
			"%s; it is not isolated, because others could not be reached then",
			health_condition_name(why));
	} else {
		snprintf(detail, sizeof(detail), "%s", health_condition_name(why));
	}
	events_note(sm, &e);
}

void sm_judge_ports(struct sm *sm)
{
	const struct graph *g =
		sm->status.master && sm->job != NULL ? sm->job->disc.g : NULL;

	if (health_judge(&sm->health, g, sm_now(sm), tell_health, sm)) {
		sm_request_heavy(sm, "a port was isolated, or is to be tried again");
	}
	sm->status.isolated_ports = sm->health.n_isolated;
}
