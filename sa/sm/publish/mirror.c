/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/publish/mirror.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "conf/config.h"
#include "conf/holes.h"
#include "db/snapshot/snapshot.h"
#include "db/state/state.h"
#include "db/stats/stats.h"
#include "sa/server/server.h"
#include "sa/sm/manager/election.h"
#include "sa/sm/sm.h"
#include "sa/standby/standby.h"
#include "sa/store/dump.h"
#include "sa/store/service.h"

enum {
	EVERY_MS = 1000,
	PAUSE = 4, /* times what the last mirroring took */
	LINES = 1,
	LINES_MS = 60000
};

static const char *const source = "sweep";

/* --- client records in the snapshot ------------------------------------------------------ */

/* The rows to be mirrored, copied. */
struct copy {
	struct arena *a;
	struct client_row *rows;
	size_t n, cap;
	enum record_table table; /* of add_record() */
};

static int add_row(void *ctx, const struct client_row *row)
{
	struct copy *c = ctx;
	if (row->table < RECORDS_MIRRORED_FIRST || row->table >= RECORDS_MIRRORED_END) {
		return E_OK;
	}
	uint8_t *bytes = arena_alloc(c->a, (size_t)row->key_len + row->len + 1);

	if (bytes == NULL || ARENA_RESERVE(c->a, c->rows, c->n, c->cap, c->n + 1) != E_OK) {
		return -ENOMEM;
	}
	struct client_row *to = &c->rows[c->n++];
	*to = *row;
	to->key = memcpy(bytes, row->key, row->key_len);
	if (row->value != NULL) {
		uint8_t *value = bytes + row->key_len;
		memcpy(value, row->value, row->len);
		if (row->table == RECORDS_SERVICES && row->len > sizeof(int64_t)) {
			service_hide(value + sizeof(int64_t), row->len - sizeof(int64_t));
		}
		to->value = value;
	}
	return E_OK;
}

static int add_record(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                      size_t len)
{
	struct copy *c = ctx;
	const struct client_row row = { key, value, c->table, (uint16_t)key_len,
		                        (uint16_t)len };

	return add_row(c, &row);
}

/* Copies the rows to be mirrored: those that changed, or all. */
static int copy_rows(struct mirror *m, struct copy *c)
{
	int ret = state_changes(m->sm->d.state, add_row, c);

	m->all |= ret == E_STALE;
	if (!m->all || (ret != E_OK && ret != E_STALE)) {
		return ret;
	}
	ret = E_OK;
	c->n = 0;
	for (unsigned k = RECORDS_MIRRORED_FIRST;
	     k < RECORDS_MIRRORED_END && ret == E_OK; k++) {
		c->table = (enum record_table)k;
		ret = state_records(m->sm->d.state, c->table, add_record, c);
	}
	return ret;
}

static void mirror_rows(struct mirror *m)
{
	struct sm *sm = m->sm;
	struct copy c = { .a = arena_new() };
	struct snap_published done = { 0 };
	char skipped[LOG_SKIPPED_BYTES];
	int ret = c.a == NULL ? -ENOMEM : copy_rows(m, &c);

	if (ret == E_OK && (c.n > 0 || m->all)) {
		ret = snap_mirror(sm->d.snap, c.rows, c.n, m->all, sm_now(sm), &done);
	}
	if (ret == E_OK && c.n > 0) {
		log_debug(source, "records of clients: %u rows, %llu bytes mirrored",
		          done.rows, (unsigned long long)done.bytes);
	}
	arena_free(c.a);
	/* The state does not report again what was taken and not written. */
	m->all = ret != E_OK;
	if (ret != E_OK &&
	    log_allowed(&m->mirror_lines, sm_now(sm), LINES, LINES_MS, skipped)) {
		log_message(
			MSG_SM_NOT_MIRRORED, source,
			"the gateway does not see what clients write (groups, services, subscriptions) as it is now: %s%s",
			err_text(ret), skipped);
	}
}

static double spent_s(const struct sm *sm)
{
	return sm->d.thread_clock != NULL ? sm->d.thread_clock() : 0;
}

static void mirror_now(struct mirror *m)
{
	struct sm *sm = m->sm;

	m->next_ms = sm_now(sm) + EVERY_MS;
	m->rested_ms = sm_now(sm);
	if (sm->d.snap == NULL || sm->d.state == NULL || snap_epoch(sm->d.snap) == 0) {
		return;
	}
	double began = spent_s(sm);
	mirror_rows(m);
	m->rested_ms = sm_now(sm) + (uint64_t)((spent_s(sm) - began) * 1000 * PAUSE);
	m->next_ms = m->rested_ms > m->next_ms ? m->rested_ms : m->next_ms;
}

void mirror_records(struct mirror *m)
{
	if (sm_now(m->sm) >= m->next_ms) {
		mirror_now(m);
	}
}

void mirror_records_soon(struct mirror *m)
{
	if (sm_now(m->sm) >= m->rested_ms) {
		mirror_now(m);
	}
}

/* --- opensm-sa.dump ------------------------------------------------------------------- */

void mirror_dump(struct mirror *m)
{
	const struct sweep_deps *d = &m->sm->d;
	const char *dir = d->config->dump_files_dir;
	struct dump_counts c;
	char skipped[LOG_SKIPPED_BYTES];
	size_t len = strlen(dir);
	const char *slash = len > 0 && dir[len - 1] == '/' ? "" : "/";
	uint64_t version = 1;

	if (!d->config->sa_db_dump || d->state == NULL || d->wall_clock == NULL) {
		return;
	}
	for (unsigned k = 0; k < RECORDS_OF_CLIENTS; k++) { /* leases run by themselves */
		version += state_version(d->state, (enum record_table)k);
	}
	if (version == m->dumped_version) {
		return;
	}
	int ret =
		dump_export(d->state, dir, d->wall_clock(), d->config->subnet_prefix, &c);
	if (ret == E_OK) {
		m->dumped_version = version;
		log_debug(source,
		          "%s%s" DUMP_FILE_NAME
		          ": %zu groups, %zu members, %zu services, %zu subscriptions",
		          dir, slash, c.groups, c.members, c.services, c.subscriptions);
	} else if (log_allowed(&m->dump_lines, sm_now(m->sm), LINES, LINES_MS, skipped)) {
		log_message(MSG_SM_NO_DUMP, source,
		            "%s%s" DUMP_FILE_NAME " (sa_db_dump) is not written: %s%s",
		            dir, slash, err_text(ret), skipped);
	}
}

/* --- figures: each family stands in db/stats/series.def ---------------------------------------------------------------------------- */

static void set_states(struct stats *to, const struct election *e)
{
	static const char *const names[] = { "not_active", "discovering", "standby",
		                             "master" };
	char series[STATS_NAME_MAX];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(series, sizeof(series), "sm_state{state=\"%s\"}", names[i]);
		stats_set(to, series, e->state == i);
	}
}

/* Who we are, who is master, and how far the copies of the state are. */
static void set_sm(struct stats *to, const struct sm *sm, const struct election *e)
{
	static const char *const states[] = { "not-active", "discovering", "standby",
		                              "master" };
	const struct sweep_status *st = &sm->status;
	struct standby_status link;
	char text[200] = "";

	standby_status(sm->d.standby, &link);
	stats_text(to, "sm.state", states[e->state]);
	snprintf(text, sizeof(text), "0x%016" PRIx64, sm->d.transport->local.port_guid);
	stats_text(to, "sm.guid", text);
	text[0] = '\0';
	if (st->other.guid != 0) {
		snprintf(text, sizeof(text), "0x%016" PRIx64, st->other.guid);
	}
	stats_text(to, "sm.master.guid", text);
	stats_text(to, "sm.master.name", st->other.guid ? st->other.name : "");
	stats_set(to, "sm_priority", election_priority(e));
	stats_set(to, "sm_master_priority", st->other.priority);
	stats_set(to, "sm_master_lid", st->other.lid);
	stats_set(to, "standby_link", sm->d.standby != NULL);
	stats_set(to, "standby_connected", link.connected);
	stats_set(to, "standby_in_step", link.in_step);
	stats_set(to, "standby_paused", link.paused);
	stats_set(to, "standby_standbys", link.n_standbys);
	stats_set(to, "standby_standbys_in_step", link.n_in_step);
	stats_set(to, "standby_transaction", (double)link.sequence);
	stats_set(to, "standby_copied_rows", (double)link.rows);
	stats_set(to, "standby_copies_total", (double)link.copies);
	stats_set(to, "standby_dropped_total", (double)link.dropped);
	stats_text(to, "standby.trouble", link.trouble);
}

static void set_holes(struct stats *to, const struct config *c)
{
	char series[STATS_NAME_MAX];

	for (unsigned i = 0; i < CONFIG_HOLE_COUNT; i++) {
		snprintf(series, sizeof(series), "config_hole{hole=\"%s\"}",
		         config_holes[i].name);
		stats_set(to, series, config_has_hole(c, i));
	}
}

static void set_stages(struct stats *to, const struct job *j)
{
	char series[STATS_NAME_MAX];

	for (unsigned i = 0; j != NULL && i < j->n_stages; i++) {
		snprintf(series, sizeof(series), "sweep_duration_seconds{phase=\"%s\"}",
		         j->stage[i].name);
		stats_set(to, series, j->stage[i].seconds);
	}
}

/* Findings of the last heavy sweep that it could not make sense of. */
static void set_problems(struct stats *to, const struct sm *sm)
{
	const struct job *j = sm_known_job(sm);
	char name[STATS_NAME_MAX];

	for (unsigned i = 0; j != NULL && i < STATS_PROBLEMS; i++) {
		snprintf(name, sizeof(name), "problem.%u", i);
		stats_text(to, name,
		           i < j->disc.n_problems && j->disc.problem[i] != NULL
		                   ? j->disc.problem[i]
		                   : "");
	}
}

static void set_sa_figures(struct stats *to, struct sa_server *sa)
{
	struct sa_counters c;

	sa_server_counters(sa, &c);
	stats_set(to, "sa_requests_total", (double)c.requests);
	stats_set(to, "sa_answered_total", (double)c.answered);
	stats_set(to, "sa_records_total", (double)c.records);
	stats_set(to, "sa_no_records_total", (double)c.no_records);
	stats_set(to, "sa_dropped_total{reason=\"malformed\"}",
	          (double)c.dropped_malformed);
	stats_set(to, "sa_dropped_total{reason=\"key\"}", (double)c.dropped_key);
	stats_set(to, "sa_dropped_total{reason=\"overload\"}",
	          (double)c.dropped_overload);
	stats_set(to, "sa_dropped_total{reason=\"standby\"}", (double)c.dropped_standby);
	stats_set(to, "sa_refused_large_total", (double)c.refused_large);
	stats_set(to, "sa_services", (double)c.services);
	stats_set(to, "sa_subscriptions", (double)c.subscriptions);
	stats_set(to, "sa_groups", (double)c.groups);
	stats_set(to, "sa_members", (double)c.members);
	stats_set(to, "sa_reports_sent_total", (double)c.reports_sent);
	stats_set(to, "sa_reports_answered_total", (double)c.reports_answered);
	stats_set(to, "sa_reports_given_up_total", (double)c.reports_given_up);
	stats_set(to, "sa_reports_dropped_total", (double)c.reports_dropped);
	stats_set(to, "sa_reports_forged_total", (double)c.reports_forged);
}

static void set_sweep_figures(struct stats *to, const struct sweep_status *st)
{
	stats_set(to, "heavy_sweeps_total", st->heavy_sweeps);
	stats_set(to, "local_sweeps_total", st->local_sweeps);
	stats_set(to, "local_sweep_fallbacks_total", st->local_fallbacks);
	stats_set(to, "local_sweep_differences_total", st->local_differences);
	stats_set(to, "light_sweeps_total", st->light_sweeps);
	stats_set(to, "last_sweep_timestamp_seconds{kind=\"heavy\"}",
	          (double)st->heavy_ended_s);
	stats_set(to, "last_sweep_timestamp_seconds{kind=\"local\"}",
	          (double)st->local_ended_s);
	stats_set(to, "last_sweep_timestamp_seconds{kind=\"light\"}",
	          (double)st->light_ended_s);
	stats_set(to, "failed_sweeps_total", st->failed_sweeps);
	stats_set(to, "forged_traps_total", (double)st->forged_traps);
	stats_set(to, "forged_answers_total", (double)st->forged_answers);
	stats_set(to, "p_key_violations_total", (double)st->p_key_violations);
	stats_set(to, "q_key_violations_total", (double)st->q_key_violations);
	stats_set(to, STATS_ROUTES_FRESH, (double)st->routes_per_link_fresh);
	stats_set(to, "route_cache_hits_total", st->cache_hits);
	stats_set(to, "route_cache_misses_total", st->cache_misses);
	stats_set(to, STATS_SMPS_SENT, (double)st->smps_sent);
	stats_set(to, "mad_timeouts_total", (double)st->smp_timeouts);
	stats_set(to, "mad_retries_total", (double)st->smp_retries);
	stats_set(to, "smps_by_lid_total", (double)st->smps_by_lid);
	stats_set(to, "smps_mixed_total", (double)st->smps_mixed);
	stats_set(to, "smps_repeated_directed_total", (double)st->smps_repeated_directed);
	for (unsigned k = 0; k < WAY_COUNT; k++) {
		char name[64];

		snprintf(name, sizeof(name), "switches_programmed{way=\"%s\"}",
		         way_names[k]);
		stats_set(to, name, (double)st->switches_way[k]);
	}
	stats_set(to, "port_infos_sent_total", (double)st->port_sets);
	stats_set(to, "lft_blocks_sent_total", (double)st->lft_sets);
	stats_set(to, "ports_bounced_total", (double)st->bounces);
	stats_set(to, "audits_total", st->audits);
	stats_set(to, "tables_changed_total", (double)st->tables_changed);
	stats_set(to, "subnet_up", st->up);
	stats_set(to, "fabric_switches", st->switches);
	stats_set(to, "fabric_hosts", st->hosts);
	stats_set(to, "unreachable_nodes", st->unreachable_nodes);
	stats_set(to, "epoch", (double)st->epoch);
}

void mirror_figures(struct sm *sm, const struct election *e, bool with_stages)
{
	struct stats *to = sm->d.stats;

	if (to == NULL) {
		return;
	}
	set_sweep_figures(to, &sm->status);
	set_states(to, e);
	set_sm(to, sm, e);
	set_problems(to, sm);
	set_holes(to, sm->d.config);
	if (with_stages) {
		set_stages(to, sm->job);
	}
	if (sm->d.sa != NULL) {
		set_sa_figures(to, sm->d.sa);
	}
	stats_text(to, "phase", sm->status.phase);
	stats_text(to, "not_ready", sm->status.not_ready);
	stats_text(to, "progress", sm->status.progress);
	/* A full stats folder must not stop the fabric; readers see an old heartbeat. */
	/* readers compare the heartbeat with the machine's clock; the sweep does not use it */
	(void)stats_commit(to, boottime_ms());
}
