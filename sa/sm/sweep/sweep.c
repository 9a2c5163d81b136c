/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Longer than most: each phase and each idle work is a row here, with its few lines.
 *
 * The sweep's state machine. It only sequences the parts, each of which has its own state:
 *
 *   discover     the graph                      changes      is a heavy sweep needed?
 *   election     are we master?                 agent        MADs from others
 *   assign       LIDs                           multicast    trees and their tables
 *   routes       tables and their proof         p_keys       partitions
 *   program      ports and tables               qos_reads    tables read on request
 *   publish      the snapshot                   mirror       client records, figures
 *   audit        tables read back               rebalance    are links loaded evenly?
 *   table        what the nodes hold            cables       what their modules say
 *   sa/perf      port counters                 congestion   congestion control of InfiniBand
 *
 * Each call of sweep_run_once() lets the SMP engine run its timers, moves the state machine
 * on, and takes one MAD (or a deadline, or a wake-up). A phase queues requests and is over
 * when none is left; then its row in the table below says what follows. Only the receive
 * blocks.
 *
 * Requests for a sweep (a signal, a light sweep or a look at the sender of a trap that saw a
 * change) only set a flag. A local sweep differs from a heavy one in its discovery alone: that
 * begins with a copy of the last one and reads only what may have changed. A doubt about what
 * it finds makes it heavy.
 *
 * The flag is looked at when idle, so a burst of traps makes one more sweep, and the next
 * sweep sees what happens during this one. A sweep that fails is tried again after 1, 2, 4
 * ... 10 seconds when the fabric was the cause, else (tables that were refused, a full
 * database) at the next interval. The published tables stay until then.
 *
 * The phases of a heavy or local sweep are in sweep_heavy.c. Requests of the sweep's owner, from
 * its beginning to its end, are in sweep_requests.c.
 */
#include "sa/sm/sweep/sweep_int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "conf/base/err.h"
#include "sa/perf/perf.h"
#include "sa/server/server.h"
#include "sa/standby/standby.h"

enum { BEAT_MS = 1000 };

void sweep_go_idle(struct sweep *s)
{
	const struct config *c = s->sm.d.config;
	uint64_t interval = (uint64_t)c->sweep_interval * 1000;

	s->phase = PHASE_IDLE;
	s->timed_for = s->election.state;
	if (s->timed_for == SM_STANDBY) {
		interval = c->sminfo_polling_timeout;
	} else if (s->timed_for == SM_NOT_ACTIVE) {
		interval = 0;
	}
	s->next_light = interval ? sm_now(&s->sm) + interval : UINT64_MAX;
}

void sweep_keep_request(struct sm *sm)
{
	if (sm->job != NULL && sm->job->read_tables) {
		sm->job->read_tables = false;
		sm->read_tables = true;
	}
}

void sweep_stand_by(struct sweep *s)
{
	sweep_keep_request(&s->sm);
	s->routes.recall = false; /* what another SM programs is not what we published */
	s->failures = 0;
	s->retry_at = UINT64_MAX;
	events_sweep_end(&s->sm, NULL);
	sweep_go_idle(s);
}

/* --- between heavy sweeps ------------------------------------------------------------ */

static bool client_tables_wanted(const struct sweep *s)
{
	return s->election.swept && s->sm.status.up && client_tables_changed(&s->client_tables);
}

static void after_client_tables(struct sweep *s)
{
	s->phase = PHASE_IDLE;
	if (client_tables_end(&s->client_tables)) {
		(void)sweep_publish(s);
	}
	client_tables_pause(&s->client_tables);
}

static bool partitions_wanted(const struct sweep *s)
{
	return s->election.swept && s->sm.status.up && s->sm.status.master &&
	       p_keys_changed(&s->p_keys, &s->sm);
}

/* Members of partitions decide about groups and who sees what, so the SA looks again. */
static void after_partitions(struct sweep *s)
{
	struct sm *sm = &s->sm;

	s->phase = PHASE_IDLE;
	if (!p_keys_change_end(&s->p_keys, sm) || sweep_publish(s) != E_OK) {
		return;
	}
	p_keys_published(&s->p_keys);
	if (sm->d.sa != NULL) {
		sa_server_swept(sm->d.sa);
	}
}

static void after_read_qos(struct sweep *s)
{
	qos_reads_end(&s->qos_reads);
	s->phase = PHASE_IDLE;
}

static void after_audit(struct sweep *s)
{
	s->phase = PHASE_IDLE;
}

static void after_cables(struct sweep *s)
{
	s->phase = PHASE_IDLE;
	if (cables_end(&s->cables)) {
		(void)sweep_publish(s);
	}
}

static void after_congestion(struct sweep *s)
{
	s->phase = PHASE_IDLE;
	if (congestion_opa_end(&s->congestion_opa)) {
		(void)sweep_publish(s);
	}
}

static void after_light(struct sweep *s)
{
	s->sm.status.light_sweeps++;
	s->sm.status.light_ended_s = sm_wall_clock(&s->sm);
	s->n_light++;
	if (changes_light_end(&s->changes) && s->sm.status.up) {
		(void)sweep_publish(s);
	}
	mirror_dump(&s->mirror);
	sweep_go_idle(s);
	s->phase = PHASE_RANK;
}

static void after_look(struct sweep *s)
{
	smp_abort(s->sm.smp); /* what a heavy sweep will ask anyway */
	s->phase = s->sm.want_heavy || changes_look_found(&s->changes) ? PHASE_IDLE
	                                                               : PHASE_RANK;
	if (changes_look_end(&s->changes) && s->sm.status.up) {
		(void)sweep_publish(s);
	}
}

static void after_rank(struct sweep *s)
{
	enum election_result r = election_end(&s->election);

	if (r == ELECTION_WAITS) {
		return;
	}
	election_doubt_end(&s->election);
	s->phase = PHASE_IDLE;
	if (election_news(&s->election) && s->sm.status.up) {
		(void)sweep_publish(s);
	}
	if (r == ELECTION_STANDBY) {
		sweep_stand_by(s);
	}
}

static void after_port(struct sweep *s)
{
	s->phase = PHASE_IDLE;
	if (port_control_end(&s->port_control)) {
		s->next_light = 0;
	}
}

static void after_rebalance(struct sweep *s)
{
	routes_rebalance_end(&s->rebalance);
	s->phase = PHASE_IDLE;
}

/* The time that a poll waited in vain counts: the next one is due the interval after it began. */
static void after_poll(struct sweep *s)
{
	election_poll_end(&s->election);
	sweep_go_idle(s);
	if (s->election.state == SM_STANDBY) {
		s->next_light = s->polled + election_poll_interval(&s->election);
	}
}

/* Were there as many light sweeps as the options allow in a row? */
static bool heavy_by_count(const struct sweep *s)
{
	const struct config *c = s->sm.d.config;

	return config_heavy_after(c) >= 0 &&
	       s->n_light >= (unsigned)config_heavy_after(c);
}

static void report_copy(struct sm *sm)
{
	char detail[EVENT_DETAIL_BYTES] = "";

	switch (standby_news(sm->d.standby, detail, sizeof(detail))) {
	case STANDBY_NO_NEWS: break;
	case STANDBY_PAUSED: events_say(sm, EVENT_COPY_PAUSED, "%s", detail); break;
	case STANDBY_RESUMED: events_say(sm, EVENT_COPY_RESUMED, "%s", detail); break;
	}
}

/* Times that follow from what others did meanwhile. */
static void before_idle(struct sweep *s)
{
	struct sm *sm = &s->sm;

	if (s->timed_for != s->election.state) {
		sweep_go_idle(s); /* another SM changed it */
	}
	if (standby_lost(sm->d.standby) || standby_arrived(sm->d.standby) ||
	    (sm->status.master && changes_want_light(&s->changes))) {
		s->next_light = sm_now(sm); /* a poll, or a look at who is higher */
	}
	report_copy(sm);
	if (standby_joined(sm->d.standby) && sm->d.sa != NULL) {
		sa_server_reload(sm->d.sa);
	}
}

static uint64_t due_if(bool wanted, uint64_t at)
{
	return wanted ? at : UINT64_MAX;
}

static uint64_t judge_due(const struct sweep *s)
{
	return due_if(s->sm.status.master, health_deadline(&s->sm.health));
}

/* It asks for a sweep if a port is isolated or is to be tried again. */
static bool judge_start(struct sweep *s)
{
	sm_judge_ports(&s->sm);
	return false;
}

static uint64_t drained_due(const struct sweep *s)
{
	return drained_deadline(&s->sm);
}

/* It asks for a sweep where routes can return. */
static bool drained_start(struct sweep *s)
{
	drained_expire(&s->sm);
	return false;
}

static uint64_t rank_due(const struct sweep *s)
{
	return due_if(s->election.doubt.rank && s->election.state == SM_MASTER, 0);
}

static bool rank_start(struct sweep *s)
{
	return election_doubt_ranks(&s->election);
}

static bool sweep_wanted(const struct sweep *s)
{
	return s->sm.want_heavy || s->sm.want_local;
}

static uint64_t look_due(const struct sweep *s)
{
	bool may = !sweep_wanted(s) && sm_now(&s->sm) < s->retry_at && !s->sm.status.standby;

	return due_if(may, changes_deadline(&s->changes));
}

static bool look_start(struct sweep *s)
{
	return changes_look_start(&s->changes, s->sm.job, &s->election);
}

static uint64_t heavy_due(const struct sweep *s)
{
	return s->sm.want_heavy ? 0 : s->retry_at;
}

static bool heavy_start(struct sweep *s)
{
	if (!s->sm.want_heavy) {
		sm_request_heavy(&s->sm, "again after a sweep that was given up or not complete");
	}
	sweep_heavy_start(s);
	return true;
}

static uint64_t local_due(const struct sweep *s)
{
	return due_if(s->sm.want_local, 0);
}

static bool local_start(struct sweep *s)
{
	sweep_heavy_start_local(s);
	return true;
}

static uint64_t port_due(const struct sweep *s)
{
	return due_if(s->port_control.wanted, 0);
}

static bool port_start(struct sweep *s)
{
	return port_control_start(&s->port_control);
}

static uint64_t poll_due(const struct sweep *s)
{
	return due_if(s->election.state == SM_STANDBY, s->next_light);
}

static bool poll_start(struct sweep *s)
{
	s->polled = sm_now(&s->sm);
	election_poll_start(&s->election);
	return true;
}

static uint64_t light_due(const struct sweep *s)
{
	return due_if(s->election.state != SM_STANDBY, s->next_light);
}

static bool light_start(struct sweep *s)
{
	const struct job *j = s->sm.job;

	if (j == NULL || j->disc.g == NULL || heavy_by_count(s)) {
		sm_request_heavy(&s->sm, heavy_by_count(s) ? "the next sweep is to be heavy"
		                                           : "the fabric is not known");
		sweep_heavy_start(s);
		return true;
	}
	s->phase = PHASE_LIGHT;
	s->changes.all_silent |= election_misses_one(&s->election);
	changes_light_start(&s->changes, s->sm.job, &s->election);
	return true;
}

static uint64_t partitions_due(const struct sweep *s)
{
	return due_if(partitions_wanted(s), s->p_keys.next);
}

static bool partitions_start(struct sweep *s)
{
	p_keys_change_start(&s->p_keys, &s->sm);
	return true;
}

static uint64_t client_tables_due(const struct sweep *s)
{
	return due_if(client_tables_wanted(s), s->client_tables.next);
}

static bool client_tables_begin(struct sweep *s)
{
	client_tables_start(&s->client_tables);
	return true;
}

static uint64_t rebalance_due(const struct sweep *s)
{
	return routes_rebalance_deadline(&s->rebalance);
}

static bool rebalance_start(struct sweep *s)
{
	return routes_rebalance_start(&s->rebalance);
}

static uint64_t read_qos_due(const struct sweep *s)
{
	return due_if(s->qos_reads.first != NULL, 0);
}

static bool read_qos_start(struct sweep *s)
{
	if (qos_reads_want_publish(&s->qos_reads, s->sm.job) && sweep_publish(s) != E_OK) {
		return false;
	}
	return qos_reads_start(&s->qos_reads, s->sm.job);
}

static uint64_t audit_due(const struct sweep *s)
{
	return audit_deadline(&s->audit);
}

static bool audit_start(struct sweep *s)
{
	audit_step(&s->audit, s->sm.job);
	return true;
}

static uint64_t cables_due(const struct sweep *s)
{
	return cables_deadline(&s->cables);
}

static bool cables_begin(struct sweep *s)
{
	return cables_start(&s->cables);
}

static uint64_t congestion_due(const struct sweep *s)
{
	return congestion_opa_deadline(&s->congestion_opa);
}

static bool congestion_begin(struct sweep *s)
{
	return congestion_opa_start(&s->congestion_opa);
}

/*
 * What there is to do between sweeps: the first row that is due begins. A start that returns
 * false had nothing to do after all, and the next row is looked at; it is asked again in the
 * next turn, but is no reason for one. A row whose start enters a phase itself has none here.
 */
static const struct idle_work {
	enum phase phase; /* PHASE_IDLE: of the start itself */
	uint64_t (*due)(const struct sweep *s); /* ms; UINT64_MAX: never */
	bool (*start)(struct sweep *s);
} idle_work[] = {
	{ PHASE_IDLE, judge_due, judge_start },
	{ PHASE_IDLE, drained_due, drained_start },
	{ PHASE_RANK, rank_due, rank_start },
	{ PHASE_LOOK, look_due, look_start },
	{ PHASE_IDLE, heavy_due, heavy_start },
	{ PHASE_IDLE, local_due, local_start },
	{ PHASE_PORT, port_due, port_start },
	{ PHASE_POLL, poll_due, poll_start },
	{ PHASE_IDLE, light_due, light_start },
	{ PHASE_PARTITIONS, partitions_due, partitions_start },
	{ PHASE_CLIENT_TABLES, client_tables_due, client_tables_begin },
	{ PHASE_REBALANCE, rebalance_due, rebalance_start },
	{ PHASE_READ_QOS, read_qos_due, read_qos_start },
	{ PHASE_CONGESTION, congestion_due, congestion_begin },
	{ PHASE_CABLES, cables_due, cables_begin },
	{ PHASE_AUDIT, audit_due, audit_start },
};

enum { IDLE_WORK = sizeof(idle_work) / sizeof(*idle_work) };

static void idle(struct sweep *s)
{
	before_idle(s);
	s->idle_refused = 0;
	for (unsigned i = 0; i < IDLE_WORK; i++) {
		const struct idle_work *w = &idle_work[i];

		if (w->due(s) > sm_now(&s->sm)) {
			continue;
		}
		if (!w->start(s)) {
			s->idle_refused |= 1U << i;
			continue;
		}
		if (w->phase != PHASE_IDLE) {
			s->phase = w->phase;
		}
		return;
	}
}

/* When idle() has something to begin. */
static uint64_t idle_deadline(const struct sweep *s)
{
	uint64_t now = sm_now(&s->sm), first = UINT64_MAX;

	for (unsigned i = 0; i < IDLE_WORK; i++) {
		uint64_t at = idle_work[i].due(s);

		if ((at > now || !(s->idle_refused & 1U << i)) && at < first) {
			first = at;
		}
	}
	return first;
}

/* --- the state machine --------------------------------------------------------------- */

/* The step that follows when a phase has nothing left to wait for. */
static const struct {
	const char *name;
	void (*after)(struct sweep *);
} phases[PHASE_COUNT] = {
	[PHASE_IDLE] = { "idle", idle },
	[PHASE_LIGHT] = { "light", after_light },
	[PHASE_LOOK] = { "trap", after_look },
	[PHASE_RANK] = { "other-sms", after_rank },
	[PHASE_POLL] = { "standby", after_poll },
	[PHASE_DISCOVER] = { "discover", sweep_heavy_next },
	[PHASE_ELECTION] = { "other-sms", sweep_heavy_next },
	[PHASE_READ_TABLES] = { "read-tables", sweep_heavy_next },
	[PHASE_ROUTE] = { "route", sweep_heavy_next },
	[PHASE_ADAPTIVE_PAUSE] = { "adaptive-routing", sweep_heavy_next },
	[PHASE_P_KEYS] = { "p-keys", sweep_heavy_next },
	[PHASE_LANES] = { "qos", sweep_heavy_next },
	[PHASE_PORTS] = { "ports", sweep_heavy_next },
	[PHASE_QOS] = { "qos", sweep_heavy_next },
	[PHASE_TABLES] = { "tables", sweep_heavy_next },
	[PHASE_PORT_GROUPS] = { "adaptive-routing", sweep_heavy_next },
	[PHASE_MULTICAST] = { "multicast", sweep_heavy_next },
	[PHASE_ARM] = { "arm", sweep_heavy_next },
	[PHASE_ACTIVATE] = { "activate", sweep_heavy_next },
	[PHASE_ADAPTIVE_RESUME] = { "adaptive-routing", sweep_heavy_next },
	[PHASE_PARTITIONS] = { "partitions", after_partitions },
	[PHASE_CLIENT_TABLES] = { "multicast", after_client_tables },
	[PHASE_AUDIT] = { "audit", after_audit },
	[PHASE_READ_QOS] = { "read-qos", after_read_qos },
	[PHASE_CABLES] = { "cables", after_cables },
	[PHASE_CONGESTION] = { "congestion", after_congestion },
	[PHASE_PORT] = { "port", after_port },
	[PHASE_REBALANCE] = { "rebalance", after_rebalance },
};

static bool waits(const struct sweep *s)
{
	if ((s->phase == PHASE_LOOK && changes_look_found(&s->changes)) ||
	    (s->phase == PHASE_DISCOVER && s->sm.job->disc.doubt != NULL)) {
		return false;
	}
	return smp_pending(s->sm.smp) > 0 ||
	       (s->phase == PHASE_TABLES && sm_now(&s->sm) < s->drain_until &&
	        !s->election.doubt.lost) ||
	       ((s->phase == PHASE_ROUTE || s->phase == PHASE_ADAPTIVE_PAUSE ||
	         s->phase == PHASE_REBALANCE) &&
	        routes_busy(&s->routes));
}

/* Moves on until a phase waits for something; idle only looks once. */
static void advance(struct sweep *s)
{
	while (!waits(s)) {
		bool was_idle = s->phase == PHASE_IDLE;

		phases[s->phase].after(s);
		if (was_idle && s->phase == PHASE_IDLE) {
			return;
		}
	}
}

static void refresh_status(struct sweep *s)
{
	struct sm *sm = &s->sm;
	const struct smp_counters *c = smp_counters(sm->smp);
	struct sweep_status *st = &sm->status;

	st->phase = phases[s->phase].name;
	st->smps_sent = c->sent;
	st->smp_timeouts = c->timeouts;
	st->smp_retries = c->retries;
	st->forged_answers =
		c->forged + s->congestion.counters.forged +
		(s->perf != NULL ? perf_counters(s->perf)->forged : 0);
	st->smps_by_lid = c->by_lid;
	st->smps_mixed = c->mixed;
	st->smps_repeated_directed = c->repeated_directed;
	st->progress[0] = '\0';
	if (s->phase == PHASE_DISCOVER) {
		const struct disc *d = &sm->job->disc;

		snprintf(st->progress, sizeof(st->progress), "discover %u/%u nodes",
		         d->n_described,
		         d->n_nodes > s->last_nodes ? d->n_nodes : s->last_nodes);
	} else if (s->phase > PHASE_DISCOVER) {
		snprintf(st->progress, sizeof(st->progress), "%s, %u requests left",
		         st->phase, smp_pending(sm->smp));
	}
}

const struct sweep_status *sweep_status(const struct sweep *s)
{
	/* The status is a cache inside the sweep; filling it changes nothing else. */
	refresh_status((struct sweep *)s);
	return &s->sm.status;
}

/* --- port counters -------------------------------------------------------------------- */

/* Beside everything that a master does between heavy sweeps, and not while it looks for changes. */
static bool may_ask_agents(const struct sweep *s)
{
	static const bool quiet[PHASE_COUNT] = {
		[PHASE_IDLE] = true,          [PHASE_LIGHT] = true,
		[PHASE_CLIENT_TABLES] = true, [PHASE_AUDIT] = true,
		[PHASE_READ_QOS] = true,      [PHASE_REBALANCE] = true,
		[PHASE_CABLES] = true,        [PHASE_CONGESTION] = true,
	};
	const struct sm *sm = &s->sm;

	return quiet[s->phase] && sm->status.up && !sm->status.standby &&
	       !sm->want_heavy && !sm->want_local && sm->job != NULL && sm->job->program.lids != NULL;
}

static bool may_read_counters(const struct sweep *s)
{
	return s->perf != NULL && may_ask_agents(s);
}

static void report_alarms(struct sweep *s)
{
	const struct graph *g = s->sm.job->disc.g;
	struct perf_alarm a;

	while (perf_next_alarm(s->perf, &a)) {
		struct fabric_event e = { .kind = EVENT_PORT_ERRORS, .port = a.port, .detail = a.what };
		uint32_t node = graph_node_by_guid(g, a.node_guid);
		uint32_t port = node != GRAPH_NONE ? graph_port(g, node, a.port) : GRAPH_NONE;

		if (port == GRAPH_NONE) {
			continue; /* it left meanwhile */
		}
		events_set_node(&e, g, node);
		if (g->ports[port].peer != GRAPH_NONE) {
			events_set_peer(&e, g, g->ports[port].peer);
		}
		events_note(&s->sm, &e);
	}
}

static void read_counters(struct sweep *s)
{
	const struct job *j = s->sm.job;
	bool may = may_read_counters(s);

	if (s->perf == NULL) {
		if (s->phase == PHASE_IDLE && s->sm.status.up && !s->sm.status.standby &&
		    s->sm.job != NULL) {
			link_care_run(&s->link_care, NULL);
		}
		return;
	}
	if (may && s->perf_stale) {
		/* without memory the old ports are read once more */
		s->perf_stale =
			perf_fabric(s->perf, j->disc.g, j->program.lids,
		                    &j->route.out.lanes, smp_is_omni_path(s->sm.smp),
		                    smp_p_key_index(s->sm.smp)) != E_OK;
	}
	perf_run(s->perf, may);
	if (may) {
		report_alarms(s);
		link_care_run(&s->link_care, s->perf);
	}
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void beat(struct sweep *s)
{
	struct sm *sm = &s->sm;
	uint64_t now = sm_now(sm);

	if (events_fresh(&sm->events)) {
		s->has_events = true;
		s->next_beat = earliest(s->next_beat, now + EVENTS_DELAY_MS);
	}
	if (s->has_events && s->next_beat < s->mirror.rested_ms) {
		s->next_beat =
			s->mirror
				.rested_ms; /* no event is shown before what goes with it */
	}
	if (s->election.state != s->shown_state) { /* between two heartbeats */
		s->shown_state = s->election.state;
		refresh_status(s);
		mirror_records_soon(&s->mirror);
		mirror_figures(sm, &s->election, false);
	}
	if (now < s->next_beat) {
		return;
	}
	s->next_beat = now + BEAT_MS;
	if (sm->d.snap != NULL) {
		snap_release_old(sm->d.snap, now);
	}
	refresh_status(s);
	perf_figures(s->perf, sm->d.stats);
	congestion_figures(&s->congestion, sm->d.stats);
	if (s->has_events && sm->known.rows.loaded) {
		/* what is gone may be on its way to the disk */
		(void)record_list_is_current(sm, &sm->known.rows);
	}
	s->has_events = false;
	mirror_records_soon(&s->mirror);
	mirror_figures(sm, &s->election, s->phase <= PHASE_POLL);
}

/* No standby takes over from a master that did not run for this time. */
static uint32_t gap_ms(const struct sweep *s)
{
	return 2 * s->sm.d.config->sminfo_polling_timeout;
}

static uint64_t next_deadline(const struct sweep *s)
{
	uint64_t at = earliest(smp_deadline(s->sm.smp), s->next_beat);

	at = earliest(at, election_doubt_deadline(&s->election));
	if (s->election.highest_other.guid != 0) {
		at = earliest(at, sm_now(&s->sm) + gap_ms(s) / 2);
	}
	at = earliest(at, s->mirror.next_ms);
	if (s->perf != NULL) {
		at = earliest(at, perf_deadline(s->perf, may_read_counters(s)));
	}
	at = earliest(at, congestion_deadline(&s->congestion, may_ask_agents(s)));
	if (s->phase == PHASE_TABLES && sm_now(&s->sm) < s->drain_until) {
		at = earliest(at, s->drain_until); /* later, answers are waited for */
	}
	if (s->phase == PHASE_IDLE && !waits(s)) {
		at = earliest(at, idle_deadline(s));
	}
	return at;
}

/* Were we stopped, or kept from running, so long that others may have taken our place? */
static void notice_gap(struct sweep *s)
{
	uint64_t now = sm_now(&s->sm);
	char why[80];

	if (now > s->awake_by && now - s->awake_by > gap_ms(s) / 2) {
		snprintf(why, sizeof(why), "did not run for %" PRIu64 " ms",
		         now - s->awake_by);
		election_doubt(&s->election, true, why);
	}
}

int sweep_run_once(struct sweep *s)
{
	struct sm *sm = &s->sm;
	struct transport *t = sm->d.transport;
	struct mad_msg m;
	enum mad_kind kind;
	uint64_t until;
	int ret;

	notice_gap(s);
	if (s->election.state == SM_MASTER && standby_lost(sm->d.standby)) {
		election_doubt(&s->election, true, "the link with a standby is lost");
	}
	election_doubt_run(&s->election);
	beat(s);
	mirror_records(&s->mirror);
	if (sm->d.sa != NULL) {
		sa_server_activity(sm->d.sa, smp_counters(sm->smp)->sent);
	}
	qos_reads_take_pushed(&s->qos_reads);
	smp_run(sm->smp);
	if (s->phase == PHASE_REBALANCE &&
	    (sm->want_heavy || sm_now(sm) >= changes_deadline(&s->changes))) {
		routes_cancel(&s->routes);
	}
	advance(s);
	read_counters(s);
	congestion_run(&s->congestion, may_ask_agents(s));
	until = next_deadline(s);
	s->awake_by = until > sm_now(sm) ? until : sm_now(sm);
	ret = t->ops->recv(t, until, &m);
	if (ret == E_OK || ret == -EINTR) { /* before that time */
		s->awake_by = earliest(s->awake_by, sm_now(sm));
	}
	if (ret == E_OK) {
		kind = perf_receive(s->perf, &m);
		if (kind == MAD_OTHER) {
			kind = congestion_receive(&s->congestion, &m);
		}
		if (kind == MAD_OTHER) {
			agent_receive(&s->agent, &m);
		} else if (kind == MAD_FORGED) {
			agent_forged_answer(&s->agent, &m);
		}
	} else if (ret != E_TIMEOUT && ret != -EINTR) {
		snprintf(sm->status.not_ready, sizeof(sm->status.not_ready),
		         "the transport %s is gone: %s", t->local.name, err_text(ret));
		sm->status.up = false;
		return -EIO;
	}
	return E_OK;
}
