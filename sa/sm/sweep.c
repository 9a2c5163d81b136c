/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The sweep's state machine.
 *
 * A turn takes one MAD (or a deadline, or a wake-up), lets the SMP engine run its timers,
 * and moves the state machine on: a phase queues requests and is over when none is left,
 * then its row in the table below says what follows. Nothing here blocks but the receive.
 *
 * Requests for a heavy sweep (a trap, a signal, a light sweep that saw a change) only set
 * a flag; it is looked at when idle, so a burst of traps makes one more sweep, and what
 * happens during a sweep is seen by the next. A sweep that fails is tried again after 1,
 * 2, 4 ... 10 seconds when the fabric was the cause, else (tables that were refused, a
 * full database) at the next interval. What was published stays until then.
 *
 * Every order of this file is for the running fabric's sake: LIDs are made durable before
 * any port hears of them; tables are programmed only after their proof; the snapshot is
 * published before ports go ACTIVE, because hosts ask for paths at that moment.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "routing/graph/graph.h"
#include "routing/route_cache.h"
#include "sa/server/answer.h"
#include "sa/sm/sweep_int.h"

enum { BEAT_MS = 1000, RETRY_MS = 1000, RETRY_MAX_MS = 10000, PROBLEM_LINES = 20 };

static const char *const source = "sweep";

uint64_t sweep_now(const struct sweep *s)
{
	return s->d.transport->ops->now_ms(s->d.transport);
}

static double cpu_now(const struct sweep *s)
{
	return s->d.cpu_clock != NULL ? s->d.cpu_clock() : 0;
}

void sweep_set_sm_state(struct sweep *s, enum sm_state state, const char *why)
{
	static const char *const name[] = { "NOT-ACTIVE", "DISCOVERING", "STANDBY",
		                            "MASTER" };

	if (s->sm_state == state) {
		return;
	}
	s->sm_state = state;
	s->status.master = state == SM_MASTER;
	s->was_master &= s->status.master;
	if (state == SM_STANDBY) { /* the master may set what we remember */
		qos_copies_done(&s->qos_copies);
	}
	if (s->d.sa != NULL) {
		sa_server_standby(s->d.sa, state == SM_STANDBY);
	}
	log_info(source, "Entering %s state (%s)", name[state], why);
}

void sweep_want_heavy(struct sweep *s, const char *fmt, ...)
{
	va_list ap;

	if (s->want_heavy) {
		return; /* the first cause stands for all */
	}
	s->want_heavy = true;
	va_start(ap, fmt);
	vsnprintf(s->cause, sizeof(s->cause), fmt, ap);
	va_end(ap);
}

static void plan_light(struct sweep *s)
{
	uint64_t interval = (uint64_t)s->d.config->sweep_interval * 1000;

	s->next_light = interval ? sweep_now(s) + interval : UINT64_MAX;
}

static void go_idle(struct sweep *s)
{
	s->phase = PHASE_IDLE;
	plan_light(s);
}

/* --- the end of a heavy sweep ----------------------------------------------------- */

void sweep_failed(struct sweep *s, bool soon, const char *fmt, ...)
{
	uint64_t wait = RETRY_MS << (s->failures < 4 ? s->failures : 4);
	uint64_t interval = (uint64_t)s->d.config->sweep_interval * 1000;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->status.not_ready, sizeof(s->status.not_ready), fmt, ap);
	va_end(ap);
	log_lines(LOG_LEVEL_ERROR, source, "heavy sweep given up: ", s->status.not_ready);
	s->failures++;
	s->status.failed_sweeps++;
	s->status.heavy_sweeps++;
	s->status.up = false;
	smp_abort(s->smp);
	if (s->old !=
	    NULL) { /* discovery did not end: the last fabric stays the known one */
		job_free(s->job);
		s->job = s->old;
		s->old = NULL;
	}
	wait = wait < RETRY_MAX_MS ? wait : RETRY_MAX_MS;
	if (!soon) {
		wait = interval;
	}
	s->retry_at = wait ? sweep_now(s) + wait : UINT64_MAX;
	go_idle(s);
}

static void log_stages(const struct job *j)
{
	char text[400] = "";
	size_t at = 0;

	for (unsigned i = 0; i < j->n_stages && at < sizeof(text); i++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %s %.3f",
		                       j->stage[i].name, j->stage[i].seconds);
	}
	log_debug(source, "seconds:%s; arena %zu bytes", text, arena_used(j->arena));
}

enum { QOS_SETS_TEXT = 40 };

static const char *qos_sets_text(const struct program *p, char text[QOS_SETS_TEXT])
{
	text[0] = '\0';
	if (p->qos) {
		snprintf(text, QOS_SETS_TEXT, ", %u QoS tables", p->n_qos_sets);
	}
	return text;
}

/* What clients wrote, and were told. */
static void log_clients(const struct sweep *s)
{
	struct sa_counters c;

	if (s->d.sa == NULL) {
		return;
	}
	sa_server_counters(s->d.sa, &c);
	if (c.groups + c.services + c.subscriptions + c.reports_sent > 0) {
		log_info(source,
		         "%" PRIu64 " multicast groups with %" PRIu64 " members, %" PRIu64
		         " services, %" PRIu64 " subscriptions; %" PRIu64
		         " reports sent, %" PRIu64 " given up",
		         c.groups, c.members, c.services, c.subscriptions, c.reports_sent,
		         c.reports_given_up);
	}
}

static void heavy_ended(struct sweep *s)
{
	const struct program *p = &s->job->program;
	char text[QOS_SETS_TEXT];

	job_stage(s, "activate");
	log_stages(s->job);
	s->failures = 0;
	s->was_master = true;
	s->retry_at = UINT64_MAX;
	s->status.heavy_sweeps++;
	s->status.up = true;
	s->status.not_ready[0] = '\0';
	s->status.port_sets += p->n_port_sets;
	s->status.lft_sets += p->n_lft_sets;
	s->status.mft_sets += p->n_mft_sets;
	s->status.bounces += p->n_bounced;
	if (s->d.sa != NULL) {
		sa_server_swept(s->d.sa);
	}
	dump_written(s);
	log_info(source,
	         "SUBNET UP: %u switches, %u hosts, %u LIDs, epoch %llu; sent %u "
	         "PortInfo and "
	         "%u LFT blocks%s in %.3f s",
	         s->status.switches, s->status.hosts, s->job->lids.count,
	         (unsigned long long)s->epoch, p->n_port_sets, p->n_lft_sets,
	         qos_sets_text(p, text), cpu_now(s) - s->job->started);
	log_clients(s);
	if (p->n_bounced) {
		sweep_want_heavy(s, "%u links were restarted for a new MTU or VLs",
		                 p->n_bounced);
	} else if (p->n_timeouts) {
		s->retry_at = sweep_now(s) + RETRY_MAX_MS;
	}
	go_idle(s);
}

/* --- discovery -------------------------------------------------------------------- */

static void start_heavy(struct sweep *s)
{
	struct disc_options o = { .retries = s->d.config->transaction_retries,
		                  .clear_change = s->sm_state == SM_MASTER,
		                  .silent = &s->silent,
		                  .aggregation = s->d.config->aggregation_node_guids,
		                  .names = s->d.config->node_names };
	struct job *j = job_new(s);

	if (j == NULL) {
		sweep_failed(s, true, "%s", err_text(-ENOMEM));
		return;
	}
	log_info(source, "heavy sweep: %s", s->cause[0] ? s->cause : "start");
	s->want_heavy = false;
	s->cause[0] = '\0';
	s->retry_at = UINT64_MAX;
	s->old = s->job;
	s->job = j;
	s->phase = PHASE_DISCOVER;
	if (s->sm_state != SM_MASTER) {
		sweep_set_sm_state(s, SM_DISCOVERING, "looking at the fabric");
	}
	if (disc_start(&j->disc, s->smp, j->arena, &o) != E_OK) {
		sweep_failed(s, true, "%s", err_text(-ENOMEM));
	}
}

static void log_problems(const struct disc *d)
{
	unsigned n =
		d->n_problems < DISC_PROBLEMS_MAX ? d->n_problems : DISC_PROBLEMS_MAX;

	for (unsigned i = 0; i < n && i < PROBLEM_LINES; i++) {
		log_warning(source, "%s", d->problem[i]);
	}
	if (d->n_problems > PROBLEM_LINES) {
		log_warning(source, "%u more problems of this kind",
		            d->n_problems - PROBLEM_LINES);
	}
}

/* How many nodes of a are not in b; both sorted by GUID. */
static uint32_t missing(const struct graph *a, const struct graph *b)
{
	uint32_t n = 0, k = 0;

	for (uint32_t i = 0; i < a->n_nodes; i++) {
		while (k < b->n_nodes && b->nodes[k].guid < a->nodes[i].guid) {
			k++;
		}
		n += k == b->n_nodes || b->nodes[k].guid != a->nodes[i].guid;
	}
	return n;
}

static void log_fabric(struct sweep *s, const struct graph *prev)
{
	const struct disc *d = &s->job->disc;

	s->status.switches = d->g->n_switches;
	s->status.hosts = d->g->n_hosts;
	s->status.unreachable_nodes = d->n_unreachable;
	s->last_nodes = d->g->n_nodes;
	log_problems(d);
	if (prev != NULL && (missing(prev, d->g) || missing(d->g, prev))) {
		log_info(source, "%u nodes gone, %u new: %u switches, %u hosts now",
		         missing(prev, d->g), missing(d->g, prev), d->g->n_switches,
		         d->g->n_hosts);
	}
}

static bool local_port_up(const struct disc *d)
{
	const struct graph *g = d->g;

	return g->ports[g->sm_port].num == 0 || g->ports[g->sm_port].peer != GRAPH_NONE;
}

static void after_other_sms(struct sweep *s);

static void after_discover(struct sweep *s)
{
	struct disc *d = &s->job->disc;
	const struct graph *prev = s->old != NULL ? s->old->disc.g : NULL;
	int ret = disc_finish(d, prev);

	if (ret == E_TIMEOUT) {
		log_problems(d);
		sweep_failed(s, true, "the local port %s does not answer",
		             s->d.transport->local.name);
		return;
	}
	if (ret != E_OK) {
		log_problems(d);
		sweep_failed(s, true, "discovery: %s", err_text(ret));
		return;
	}
	log_fabric(s, prev);
	job_free(s->old);
	s->old = NULL;
	guid_map_done(&s->silent);
	ret = disc_silent(d, &s->silent);
	if (ret != E_OK || !local_port_up(d)) {
		sweep_failed(
			s, true, "%s",
			ret != E_OK
				? err_text(ret)
				: "the SM's port has no working link to another node");
		return;
	}
	job_stage(s, "discover");
	s->phase = PHASE_OTHER_SMS;
	other_sms_start(s);
}

/* --- phases after discovery ------------------------------------------------------- */

static void after_other_sms(struct sweep *s)
{
	struct job *j = s->job;
	int ret;

	if (!other_sms_end(s)) {
		go_idle(s);
		return;
	}
	ret = job_lids(s);
	if (ret != E_OK) {
		return; /* job_lids() gave up itself, with the sentence */
	}
	s->phase = PHASE_READ_TABLES;
	if (program_read_lfts(&j->program) != E_OK || job_read_port_tables(s) != E_OK) {
		sweep_failed(s, true, "%s", err_text(-ENOMEM));
	}
}

static void after_read_tables(struct sweep *s)
{
	job_stage(s, "read-tables");
	s->phase = PHASE_ROUTE;
	if (job_route_start(s) != E_OK) {
		sweep_failed(s, true, "%s", err_text(-ENOMEM));
	}
}

static void begin_step(struct sweep *s, enum phase phase, int ret)
{
	s->phase = phase;
	if (ret != E_OK) {
		sweep_failed(s, true, "%s", err_text(ret));
	}
}

static void after_route(struct sweep *s)
{
	if (!job_route_done(s) || job_keep_lids(s) != E_OK) {
		return; /* given up, with the sentence */
	}
	sweep_set_sm_state(s, SM_MASTER, "no other master on the fabric");
	job_qos(s);
	begin_step(s, PHASE_PORTS, program_ports(&s->job->program));
}

/* A node that stops answering here is left out by the next discovery; one that answers
 * reads but no writes would stop every sweep, so it is tolerated after two failures. */
static bool step_failed(struct sweep *s)
{
	const struct program *p = &s->job->program;

	if (p->ret != E_OK) {
		sweep_failed(s, true, "%s", err_text(p->ret));
		return true;
	}
	if (p->n_timeouts && s->failures < 2) {
		sweep_failed(s, true, "%s", p->first_trouble);
		return true;
	}
	return false;
}

static void after_ports(struct sweep *s)
{
	if (!step_failed(s)) {
		job_stage(s, "ports");
		begin_step(s, PHASE_QOS, program_qos(&s->job->program));
	}
}

/* Tables that need lanes are sent only where the lanes hold. */
static void after_qos(struct sweep *s)
{
	struct program *p = &s->job->program;

	if (step_failed(s)) {
		return;
	}
	if (p->lane_trouble != NULL) {
		/* known from now on, so the next one computes with the VLs there are */
		s->lanes_there = p->lanes_there ? p->lanes_there : s->lanes_there;
		sweep_failed(s, p->lanes_there != 0,
		             "computed tables are not programmed: %s", p->lane_trouble);
		return;
	}
	if (p->qos) {
		job_stage(s, "qos");
	}
	begin_step(s, PHASE_TABLES, program_lfts(p));
}

static void after_tables(struct sweep *s)
{
	const struct program *p = &s->job->program;
	int ret;

	if (step_failed(s)) {
		return;
	}
	job_stage(s, "tables");
	if (p->first_trouble != NULL) {
		log_warning(source, "%s (%u requests refused, %u not answered)",
		            p->first_trouble, p->n_refused, p->n_timeouts);
	} else {
		log_info(source, "%s tables configured on all switches",
		         s->job->route.used != NULL ? s->job->route.used->name : "no");
	}
	ret = mcast_start(s);
	begin_step(s, PHASE_MULTICAST, ret == E_OK ? guids_start(s) : ret);
}

static void after_multicast(struct sweep *s)
{
	mcast_end(s);
	guids_end(s);
	if (step_failed(s)) {
		return;
	}
	job_stage(s, "multicast");
	if (job_publish(s) == E_OK) {
		job_stage(s, "publish");
		begin_step(s, PHASE_ARM, program_states(&s->job->program, PORT_ARMED));
	}
}

static void after_arm(struct sweep *s)
{
	begin_step(s, PHASE_ACTIVATE, program_states(&s->job->program, PORT_ACTIVE));
}

static void after_activate(struct sweep *s)
{
	program_states_to_graph(&s->job->program);
	if (job_publish(s) == E_OK) {
		heavy_ended(s);
	}
}

static void after_regroup(struct sweep *s)
{
	if (regroup_end(s)) {
		(void)job_publish(s);
	}
	regroup_rest(s);
	if (s->phase == PHASE_REGROUP) { /* the publish went well */
		s->phase = PHASE_IDLE;
	}
}

static void after_read_qos(struct sweep *s)
{
	qos_reads_end(s);
	s->phase = PHASE_IDLE;
}

static void after_light(struct sweep *s)
{
	s->status.light_sweeps++;
	light_end(s);
	dump_written(s);
	go_idle(s);
}

static void after_poll(struct sweep *s)
{
	poll_end(s);
	go_idle(s);
}

static void idle(struct sweep *s)
{
	uint64_t now = sweep_now(s);

	agent_look_at_change(s);
	if (!s->want_heavy && now >= s->retry_at) {
		sweep_want_heavy(s,
		                 "again after a sweep that was given up or not complete");
	}
	if (s->want_heavy) {
		start_heavy(s);
	} else if (now >= s->next_light && s->sm_state == SM_STANDBY) {
		s->phase = PHASE_POLL;
		poll_start(s);
	} else if (now >= s->next_light &&
	           (s->job == NULL || s->d.config->force_heavy_sweep)) {
		sweep_want_heavy(s, "every sweep is to be heavy");
		start_heavy(s);
	} else if (now >= s->next_light) {
		s->phase = PHASE_LIGHT;
		light_start(s);
	} else if (now >= s->next_regroup && regroup_wanted(s)) {
		s->phase = PHASE_REGROUP;
		regroup_start(s);
	} else if (qos_reads_start(s)) {
		s->phase = PHASE_READ_QOS;
	}
}

/* What follows when a phase has nothing left to wait for. */
static void (*const after[PHASE_COUNT])(struct sweep *) = {
	[PHASE_IDLE] = idle,
	[PHASE_LIGHT] = after_light,
	[PHASE_POLL] = after_poll,
	[PHASE_DISCOVER] = after_discover,
	[PHASE_OTHER_SMS] = after_other_sms,
	[PHASE_READ_TABLES] = after_read_tables,
	[PHASE_ROUTE] = after_route,
	[PHASE_PORTS] = after_ports,
	[PHASE_QOS] = after_qos,
	[PHASE_TABLES] = after_tables,
	[PHASE_MULTICAST] = after_multicast,
	[PHASE_ARM] = after_arm,
	[PHASE_ACTIVATE] = after_activate,
	[PHASE_REGROUP] = after_regroup,
	[PHASE_READ_QOS] = after_read_qos,
};

static bool waits(const struct sweep *s)
{
	return smp_pending(s->smp) > 0 ||
	       (s->phase == PHASE_ROUTE && s->worker.running && !s->worker.done);
}

/* Moves on until a phase waits for something; idle only looks once. */
static void advance(struct sweep *s)
{
	while (!waits(s)) {
		bool was_idle = s->phase == PHASE_IDLE;

		after[s->phase](s);
		if (was_idle && s->phase == PHASE_IDLE) {
			return;
		}
	}
}

/* --- life ------------------------------------------------------------------------- */

static struct smp_limits limits_of(const struct config *c)
{
	return (struct smp_limits){ .window = c->max_wire_smps,
		                    .timeout_ms = c->transaction_timeout,
		                    .m_key = c->m_key };
}

int sweep_new(const struct sweep_deps *d, struct sweep **ret)
{
	struct smp_limits limits = limits_of(d->config);
	struct sweep *s = calloc(1, sizeof(*s));

	if (s == NULL || smp_new(d->transport, &limits, &s->smp) != E_OK) {
		free(s);
		return -ENOMEM;
	}
	s->d = *d;
	s->qos_wait.transport = d->transport;
	s->retry_at = UINT64_MAX;
	s->status.epoch = d->snap != NULL ? snap_epoch(d->snap) : 0;
	snprintf(s->status.not_ready, sizeof(s->status.not_ready),
	         "the first sweep has not ended yet");
	sweep_set_sm_state(s, SM_DISCOVERING, "start");
	sweep_want_heavy(s, "start");
	if (d->transport->ops->set_issm(d->transport, true) != E_OK) {
		log_warning(source, "cannot set the IsSM bit of %s",
		            d->transport->local.name);
	}
	agent_divert(s, true);
	*ret = s;
	return E_OK;
}

void sweep_free(struct sweep *s)
{
	if (s == NULL) {
		return;
	}
	agent_divert(s, false);
	worker_stop(s);
	s->d.transport->ops->set_issm(s->d.transport, false);
	smp_free(s->smp);
	qos_wait_done(s);
	job_free(s->job);
	job_free(s->old);
	lft_copies_done(&s->copies);
	qos_copies_done(&s->qos_copies);
	port_copies_done(&s->port_copies);
	route_cache_free(s->cache);
	guid_map_done(&s->silent);
	guid_map_done(&s->told);
	arena_free(s->mcast_arena);
	arena_free(s->guids_arena);
	arena_free(s->light_arena);
	free(s);
}

void sweep_reconfigure(struct sweep *s, const struct sweep_deps *d)
{
	struct smp_limits limits = limits_of(d->config);

	worker_stop(s);
	smp_abort(s->smp);
	if (s->old != NULL) {
		job_free(s->job);
		s->job = s->old;
		s->old = NULL;
	}
	s->d = *d;
	route_cache_drop(s->cache); /* it does not know options */
	s->verdict = (struct route_verdict){ 0 }; /* nor does it */
	s->lanes_there = 0;
	smp_set_limits(s->smp, &limits);
	sweep_want_heavy(s, "the configuration was read again");
	go_idle(s);
}

void sweep_request_heavy(struct sweep *s)
{
	sweep_want_heavy(s, "requested");
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_deadline(const struct sweep *s)
{
	uint64_t at = earliest(smp_deadline(s->smp), s->next_beat);

	at = earliest(at, s->next_mirror);
	if (s->phase == PHASE_IDLE) {
		at = earliest(at, earliest(s->next_light, s->retry_at));
		at = regroup_wanted(s) ? earliest(at, s->next_regroup) : at;
		at = s->want_heavy ? 0 : at;
	}
	return at;
}

static void beat(struct sweep *s)
{
	uint64_t now = sweep_now(s);

	if (now < s->next_beat) {
		return;
	}
	s->next_beat = now + BEAT_MS;
	if (s->d.snap != NULL) {
		snap_release_old(s->d.snap, now);
	}
	stats_beat(s);
}

int sweep_turn(struct sweep *s)
{
	struct mad_msg m;
	int ret;

	beat(s);
	mirror_written(s);
	if (s->d.sa != NULL) {
		sa_server_activity(s->d.sa, smp_counters(s->smp)->sent);
	}
	qos_take_others(s);
	smp_run(s->smp);
	advance(s);
	ret = s->d.transport->ops->recv(s->d.transport, next_deadline(s), &m);
	if (ret == E_OK) {
		agent_receive(s, &m);
	} else if (ret != E_TIMEOUT && ret != -EINTR) {
		snprintf(s->status.not_ready, sizeof(s->status.not_ready),
		         "the transport %s is gone: %s", s->d.transport->local.name,
		         err_text(ret));
		s->status.up = false;
		return -EIO;
	}
	return E_OK;
}
