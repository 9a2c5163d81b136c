/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Heartbeat: at least once a second the figures of the sweep and the SA go to the stats
 * environment. The clock of the heartbeat is the machine's, as its readers compare it
 * with their own; nothing in the sweep depends on it.
 */
#include <stdio.h>
#include <time.h>

#include "db/stats.h"
#include "routing/graph/graph.h"
#include "sa/server/answer.h"
#include "sa/sm/sweep_int.h"

const char *phase_name(enum phase p)
{
	static const char *const names[PHASE_COUNT] = {
		[PHASE_IDLE] = "idle",
		[PHASE_LIGHT] = "light",
		[PHASE_POLL] = "standby",
		[PHASE_DISCOVER] = "discover",
		[PHASE_OTHER_SMS] = "other-sms",
		[PHASE_READ_TABLES] = "read-tables",
		[PHASE_ROUTE] = "route",
		[PHASE_PORTS] = "ports",
		[PHASE_QOS] = "qos",
		[PHASE_TABLES] = "tables",
		[PHASE_MULTICAST] = "multicast",
		[PHASE_ARM] = "arm",
		[PHASE_ACTIVATE] = "activate",
		[PHASE_REGROUP] = "multicast",
		[PHASE_READ_QOS] = "read-qos",
	};

	return names[p];
}

static void refresh(struct sweep *s)
{
	const struct smp_counters *c = smp_counters(s->smp);
	struct sweep_status *st = &s->status;

	st->phase = phase_name(s->phase);
	st->smps_sent = c->sent;
	st->smp_timeouts = c->timeouts;
	st->smp_retries = c->retries;
	st->progress[0] = '\0';
	if (s->phase == PHASE_DISCOVER) {
		uint32_t found = s->job->disc.n_nodes;

		snprintf(st->progress, sizeof(st->progress), "discover %u/%u nodes",
		         s->job->disc.n_described,
		         found > s->last_nodes ? found : s->last_nodes);
	} else if (s->phase > PHASE_DISCOVER) {
		snprintf(st->progress, sizeof(st->progress), "%s, %u requests left",
		         phase_name(s->phase), smp_pending(s->smp));
	}
}

const struct sweep_status *sweep_status(const struct sweep *s)
{
	/* The status is a cache inside the sweep; filling it changes nothing else. */
	refresh((struct sweep *)s);
	return &s->status;
}

static void sm_states(struct sweep *s)
{
	static const char *const names[] = { "not_active", "discovering", "standby",
		                             "master" };
	char series[STATS_NAME_MAX];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(series, sizeof(series), "sm_state{state=\"%s\"}", names[i]);
		stats_set(s->d.stats, series, s->sm_state == i);
	}
}

static void stages(struct sweep *s)
{
	const struct job *j = s->job;
	char series[STATS_NAME_MAX];

	for (unsigned i = 0; j != NULL && s->phase <= PHASE_POLL && i < j->n_stages;
	     i++) {
		snprintf(series, sizeof(series), "sweep_duration_seconds{phase=\"%s\"}",
		         j->stage[i].name);
		stats_set(s->d.stats, series, j->stage[i].seconds);
	}
}

static void sa_figures(struct sweep *s)
{
	struct sa_counters c;

	if (s->d.sa == NULL) {
		return;
	}
	sa_server_counters(s->d.sa, &c);
	stats_set(s->d.stats, "sa_requests_total", (double)c.requests);
	stats_set(s->d.stats, "sa_answered_total", (double)c.answered);
	stats_set(s->d.stats, "sa_records_total", (double)c.records);
	stats_set(s->d.stats, "sa_no_records_total", (double)c.no_records);
	stats_set(s->d.stats, "sa_dropped_total{reason=\"malformed\"}",
	          (double)c.dropped_malformed);
	stats_set(s->d.stats, "sa_dropped_total{reason=\"key\"}", (double)c.dropped_key);
	stats_set(s->d.stats, "sa_dropped_total{reason=\"overload\"}",
	          (double)c.dropped_overload);
	stats_set(s->d.stats, "sa_dropped_total{reason=\"standby\"}",
	          (double)c.dropped_standby);
	stats_set(s->d.stats, "sa_refused_large_total", (double)c.refused_large);
	stats_set(s->d.stats, "sa_services", (double)c.services);
	stats_set(s->d.stats, "sa_subscriptions", (double)c.subscriptions);
	stats_set(s->d.stats, "sa_groups", (double)c.groups);
	stats_set(s->d.stats, "sa_members", (double)c.members);
	stats_set(s->d.stats, "sa_reports_sent_total", (double)c.reports_sent);
	stats_set(s->d.stats, "sa_reports_answered_total", (double)c.reports_answered);
	stats_set(s->d.stats, "sa_reports_given_up_total", (double)c.reports_given_up);
	stats_set(s->d.stats, "sa_reports_dropped_total", (double)c.reports_dropped);
}

static void sweep_figures(struct sweep *s)
{
	const struct sweep_status *st = &s->status;
	struct stats *to = s->d.stats;

	stats_set(to, "heavy_sweeps_total", st->heavy_sweeps);
	stats_set(to, "light_sweeps_total", st->light_sweeps);
	stats_set(to, "failed_sweeps_total", st->failed_sweeps);
	stats_set(to, "route_cache_hits_total", st->cache_hits);
	stats_set(to, "route_cache_misses_total", st->cache_misses);
	stats_set(to, STATS_SMPS_SENT, (double)st->smps_sent);
	stats_set(to, "mad_timeouts_total", (double)st->smp_timeouts);
	stats_set(to, "mad_retries_total", (double)st->smp_retries);
	stats_set(to, "port_infos_sent_total", (double)st->port_sets);
	stats_set(to, "lft_blocks_sent_total", (double)st->lft_sets);
	stats_set(to, "ports_bounced_total", (double)st->bounces);
	stats_set(to, "subnet_up", st->up);
	stats_set(to, "fabric_switches", st->switches);
	stats_set(to, "fabric_hosts", st->hosts);
	stats_set(to, "unreachable_nodes", st->unreachable_nodes);
	stats_set(to, "epoch", (double)st->epoch);
}

static uint64_t boottime_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void stats_beat(struct sweep *s)
{
	refresh(s);
	if (s->d.stats == NULL) {
		return;
	}
	sweep_figures(s);
	sm_states(s);
	stages(s);
	sa_figures(s);
	stats_text(s->d.stats, "phase", s->status.phase);
	stats_text(s->d.stats, "not_ready", s->status.not_ready);
	stats_text(s->d.stats, "progress", s->status.progress);
	/* A full stats folder must not stop the fabric; readers see an old heartbeat. */
	(void)stats_commit(s->d.stats, boottime_ms());
}
