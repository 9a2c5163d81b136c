/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The steps of a heavy or local sweep, from the discovery to ports that are ACTIVE. A step queues
 * requests (begin), and takes their outcome when all are answered (end). What it found is part of
 * struct job, and the steps behind it read it there:
 *
 *   discover -> graph; election -> are we master?, LIDs; read-tables -> copies of tables;
 *   route -> tables and their proof; p-keys, ports, qos, tables, multicast -> what the nodes
 *   hold; the snapshot; arm, activate -> ports that carry traffic.
 *
 * A sweep that fails in one of them is given up: what was published stays, and the fabric that
 * was known before is the known one again.
 *
 * The order protects the running fabric: LIDs are durable before any port has them; tables
 * are programmed only after their proof; the snapshot is published before ports go ACTIVE,
 * because hosts ask for paths at that moment. Ports may be ARMED before the tables stand, so
 * what a sweep learns from ports below ARMED, that they were restarted, is noted before then.
 *
 * Longer than most, so that the steps stand in one file in this order.
 */
#include "sa/sm/sweep/sweep_int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/policy/partitions.h"
#include "db/state/state.h"
#include "routing/graph/graph.h"
#include "sa/server/server.h"
#include "sa/sm/discover/admit.h"

enum { RETRY_MS = 1000, RETRY_MAX_MS = 10000, OWN_SLACK = 1 << 20 };

static const char *const source = "sweep";

/* What a step came to. */
enum step_end {
	STEP_DONE,    /* the next one follows */
	STEP_GOES_ON, /* requests are left, or another phase began */
	STEP_FAILED   /* the sweep is given up; sm_fail() noted why */
};

void sweep_restore_previous_job(struct sm *sm)
{
	sweep_keep_request(sm);
	if (sm->previous != NULL) {
		disc_give_back(&sm->job->disc, &sm->previous->disc);
		job_free(sm->job);
		sm->job = sm->previous;
		sm->previous = NULL;
	}
}

/* Gives up the heavy sweep at work; sm_fail() noted why. */
static void give_up(struct sweep *s)
{
	struct sm *sm = &s->sm;
	uint64_t wait = RETRY_MS << (s->failures < 4 ? s->failures : 4);

	events_sweep_failed(sm, sm->status.not_ready);
	events_sweep_end(sm, sm->job);
	s->failures++;
	sm->status.failed_sweeps++;
	sm->status.heavy_sweeps++;
	sm->status.up = false;
	smp_abort(sm->smp);
	if (sm->job != NULL) {
		program_end(&sm->job->program);
	}
	sweep_restore_previous_job(sm);
	wait = !sm->retry_early      ? (uint64_t)sm->d.config->sweep_interval * 1000
	       : wait < RETRY_MAX_MS ? wait
	                             : RETRY_MAX_MS;
	s->retry_at = wait ? sm_now(sm) + wait : UINT64_MAX;
	sweep_go_idle(s);
}

/* Begins a phase whose requests were queued, or gives up. */
static void begin_phase(struct sweep *s, enum phase phase, int ret)
{
	s->phase = phase;
	if (ret != E_OK) { /* what a phase reads that is malformed is the state */
		const struct job *j = s->sm.job;
		bool of_state = ret == E_MALFORMED && j != NULL;

		(void)sm_fail(&s->sm, ret, !of_state, "%s",
		              of_state ? state_err_text(s->sm.d.state, ret, j->arena)
		                       : err_text(ret));
		give_up(s);
	}
}

static int publish(struct sweep *s)
{
	int ret = publish_fabric(&s->publisher, s->sm.job);

	if (ret == E_OK) {
		s->qos_reads.unpublished = false;
		s->perf_stale = true;
	}
	return ret;
}

int sweep_publish(struct sweep *s)
{
	int ret = publish(s);

	if (ret != E_OK) {
		give_up(s);
	}
	return ret;
}

/* Tables that another SM may have written are read again. */
static void forget_written(struct sm *sm)
{
	shadow_forget_programmed(&sm->shadow);
	tables_forget_all(&sm->tables);
	vports_forget(&sm->vports);
}

/* --- discovery -------------------------------------------------------------------- */

/* Of the sweep before: no switch may join that cannot forward to all LIDs. */
static uint32_t known_top_lid(const struct sm *sm)
{
	const struct job *j = sm_known_job(sm);

	return j != NULL ? j->lids.lids.top : 0;
}

static struct disc_options disc_options_of(const struct sweep *s)
{
	const struct config *c = s->sm.d.config;

	return (struct disc_options){ .retries = c->transaction_retries,
		                      .clear_change = s->election.state == SM_MASTER,
		                      .silent = &s->silent,
		                      .aggregation = c->aggregation_node_guids,
		                      .names = c->node_names,
		                      .keys = (struct keyring *)&s->sm.keys,
		                      .health = &s->sm.health,
		                      .mtu_limit = (uint8_t)c->max_neighbor_mtu,
		                      .least_vls = 1,
		                      .top_lid = known_top_lid(&s->sm) };
}

void sweep_heavy_start(struct sweep *s)
{
	struct sm *sm = &s->sm;
	struct disc_options o = disc_options_of(s);
	struct job *j = job_new(sm);

	if (j == NULL) {
		begin_phase(s, PHASE_DISCOVER, -ENOMEM);
		return;
	}
	log_info(source, "heavy sweep: %s", sm->cause[0] ? sm->cause : "start");
	events_sweep_begin(sm);
	sm_requests_clear(sm);
	s->n_local = 0;
	s->n_light = 0;
	s->retry_at = UINT64_MAX;
	if (s->election.others_wrote) { /* as master: what we remember may be wrong */
		forget_written(sm);
	}
	s->election.others_wrote = false;
	j->read_tables = sm->read_tables; /* what is asked for from here on waits for the next sweep */
	sm->read_tables = false;
	sm->previous = sm->job;
	sm->job = j;
	if (s->election.state != SM_MASTER) {
		election_set_state(&s->election, SM_DISCOVERING, "looking at the fabric");
	}
	begin_phase(s, PHASE_DISCOVER, disc_start(&j->disc, sm->smp, j->arena, &o));
}

/* Why a local sweep cannot do; NULL: it can. */
static const char *local_refusal(const struct sweep *s, const struct disc_options *o)
{
	const struct sm *sm = &s->sm;
	const struct config *c = sm->d.config;

	return !c->local_sweeps ? "local_sweeps is FALSE"
	       : s->election.state != SM_MASTER || !s->election.swept ||
	                       s->election.others_wrote
	               ? "this subnet manager has not swept as master yet"
	       : sm->job == NULL || !sm->status.up ? "the last sweep did not end well"
	       : !sm->job->disc.clean              ? "the last discovery left nodes out"
	       : !admit_judges_alike(&sm->job->disc, o)
	               ? "LIDs or lanes decide anew which nodes can take part"
	       : arena_used(sm->job->disc.own) > 2 * sm->job->disc.own_bytes + OWN_SLACK
	               ? "the memory of nodes that are gone is due to be freed"
	       : c->local_sweeps_check && s->n_local >= c->local_sweeps_check
	               ? "it is time to check local sweeps against a heavy one"
	               : NULL;
}

void sweep_heavy_start_local(struct sweep *s)
{
	struct sm *sm = &s->sm;
	struct disc_options o = disc_options_of(s);
	const char *refusal = local_refusal(s, &o);
	struct job *j = refusal == NULL ? job_new(sm) : NULL;

	if (j == NULL ||
	    disc_take(&j->disc, &sm->job->disc, sm->smp, j->arena, &o) != E_OK) {
		job_free(j);
		if (sm->d.config->local_sweeps) {
			log_info(source, "no local sweep: %s",
			         refusal != NULL ? refusal : err_text(-ENOMEM));
		}
		sweep_heavy_start(s);
		return;
	}
	log_info(source, "local sweep: %s", sm->cause);
	events_sweep_begin(sm);
	for (uint32_t i = 0; i < sm->n_suspects; i++) {
		(void)disc_suspect(&j->disc, sm->suspects[i]);
	}
	sm_requests_clear(sm);
	s->n_local++;
	sm->previous = sm->job;
	sm->job = j;
	s->phase = PHASE_DISCOVER;
	disc_local_step(&j->disc);
}

/* A local sweep does not suffice. */
static void fall_back(struct sweep *s)
{
	struct sm *sm = &s->sm;

	log_info(source, "the local sweep is given up for a heavy one: %s",
	         sm->job->disc.doubt);
	sm->status.local_fallbacks++;
	smp_abort(sm->smp);
	sweep_restore_previous_job(sm);
	sm_request_heavy(sm, "%s", sm->events.cause);
	sweep_heavy_start(s);
}

/* \return true: it goes on, or a heavy sweep began in its place. */
static bool local_goes_on(struct sweep *s)
{
	struct disc *d = &s->sm.job->disc;

	if (d->doubt == NULL) {
		disc_local_step(d);
	}
	if (d->doubt != NULL) {
		fall_back(s);
		return true;
	}
	return smp_pending(s->sm.smp) > 0;
}

/* A heavy sweep that was due to check local ones says what they had missed. */
static void check_local(struct sweep *s, struct job *j)
{
	uint32_t n;

	if (j->disc.local || s->sm.previous == NULL || !s->sm.previous->disc.local) {
		return;
	}
	n = disc_differences(&s->sm.previous->disc, &j->disc);
	s->sm.status.local_differences += n;
	if (n) {
		log_info(
			source,
			"%u attributes differ from what local sweeps had left: changes since then, or missed by them",
			n);
	}
}

/* Does a switch name another master than us, although we have swept as master? While parts of the
 * fabric were apart, each may have had a master of its own. The other one is perhaps gone, but any table
 * may be its work. */
static bool finds_another_master(const struct sweep *s, const struct disc *d)
{
	const struct disc_port *own = disc_port_of(d, d->g->sm_port);

	for (uint32_t i = 0; s->election.swept && i < d->g->n_switches; i++) {
		const struct disc_port *p = &d->of[d->g->switches[i]]->ports[0];
		uint32_t lid = p->has_info ? disc_sm_lid(p) : 0;

		if (lid != 0 && lid != disc_lid(own)) {
			log_info(source, "%s was set up by another SM: all tables are read",
			         disc_place(d, d->of[d->g->switches[i]], 0));
			return true;
		}
	}
	return false;
}

static enum step_end end_discover(struct sweep *s, struct job *j)
{
	struct sm *sm = &s->sm;
	struct disc *d = &j->disc;
	const struct graph *prev = sm->previous != NULL ? sm->previous->disc.g : NULL;
	int ret;

	if (d->local && local_goes_on(s)) {
		return STEP_GOES_ON;
	}
	ret = disc_finish(d, prev);
	if (d->doubt != NULL) {
		fall_back(s);
		return STEP_GOES_ON;
	}
	if (ret != E_OK) {
		disc_log_problems(d);
		if (ret == E_TIMEOUT) {
			/* this loads nobody, and another master may be at work meanwhile */
			s->failures = s->failures < 1 ? s->failures : 1;
			(void)sm_fail(sm, ret, true, "the local port %s does not answer",
			              sm->d.transport->local.name);
		} else {
			(void)sm_fail(sm, ret, true, "discovery: %s", err_text(ret));
		}
		return STEP_FAILED;
	}
	sm->status.switches = d->g->n_switches;
	sm->status.hosts = d->g->n_hosts;
	sm->status.unreachable_nodes = d->n_unreachable;
	s->last_nodes = d->g->n_nodes;
	j->n_unread = d->n_left_out;
	disc_log_problems(d);
	j->n_changes = events_compare(sm, d, prev);
	events_quarantine(sm, d, sm->previous != NULL ? &sm->previous->disc : NULL);
	check_local(s, j);
	health_observe(&sm->health, sm->previous != NULL ? &sm->previous->disc : NULL, d,
	               sm->previous != NULL && sm->previous->program.n_bounced != 0);
	disc_keep(d);
	job_free(sm->previous);
	sm->previous = NULL;
	hash_done(&s->silent);
	ret = disc_silent(d, &s->silent);
	if (ret != E_OK) {
		(void)sm_fail(sm, ret, true, "%s", err_text(ret));
		return STEP_FAILED;
	}
	const struct port *local = &d->g->ports[d->g->sm_port];
	if (local->num != 0 && local->peer == GRAPH_NONE) {
		(void)sm_fail(sm, E_NOTREADY, true,
		              "the SM's port has no working link to another node");
		return STEP_FAILED;
	}
	if (finds_another_master(s, d)) {
		forget_written(sm);
	}
	return STEP_DONE;
}

static int begin_election(struct sweep *s, struct job *j)
{
	election_start(&s->election, &j->disc, j->arena);
	return E_OK;
}

/* --- LIDs and routing ---------------------------------------------------------------- */

/* Whose LIDs count, of enum assign_how. A file is read each time that we become master. */
static unsigned how_to_assign(const struct sweep *s)
{
	const struct config *c = s->sm.d.config;
	unsigned how = 0;

	if (c->reassign_lids && !s->reassigned) {
		return ASSIGN_REASSIGN;
	}
	if (c->honor_guid2lid_file) {
		how = s->election.swept ? 0 : ASSIGN_READ_FILE;
	} else if (s->election.others_assigned) {
		how = ASSIGN_KEEP_FOUND;
	}
	return how;
}

/* The list of nodes for all steps from here on. */
static enum step_end find_nodes(struct sm *sm, struct job *j)
{
	int ret = program_find_nodes(&j->program);

	if (ret != E_OK) {
		(void)sm_fail(sm, ret, true, "%s", err_text(ret));
	}
	return ret == E_OK ? STEP_DONE : STEP_FAILED;
}

/* If the fabric is ours: gives LIDs. */
static enum step_end end_election(struct sweep *s, struct job *j)
{
	struct sm *sm = &s->sm;
	const struct graph *g = j->disc.g;

	switch (election_end(&s->election)) {
	case ELECTION_WAITS: return STEP_GOES_ON;
	case ELECTION_STANDBY:
		election_doubt_end(&s->election);
		sm->status.heavy_sweeps++;
		sweep_stand_by(s);
		return STEP_GOES_ON;
	case ELECTION_MASTER: break;
	}
	election_doubt_end(&s->election);
	if (takeover_begin(&s->takeover, s->election.master.guid) != E_OK ||
	    assign_lids(sm, &j->disc, j->arena, how_to_assign(s), &j->lids) != E_OK) {
		return STEP_FAILED; /* they said why */
	}
	j->program = (struct program){
		.smp = sm->smp,
		.disc = &j->disc,
		.shadow = &sm->shadow,
		.tables = { .smp = sm->smp,
		            .store = &sm->tables,
		            .arena = j->arena,
		            .retries = 2 * sm->d.config->transaction_retries + 1,
		            .answered = program_table_answered,
		            .ctx = &j->program },
		.config = sm->d.config,
		.keys = &sm->keys,
		.health = &sm->health,
		.arena = j->arena,
		.lids = &j->lids.lids,
		.sm_lid = j->lids.lids.of[g->sm_port].base,
		.reregister = !s->election.swept
	};
	j->program.only_changed =
		j->disc.local && sm->settled && sm->settled_sm_lid == j->program.sm_lid;
	sm->settled = false; /* until this sweep ends well */
	sm->d.transport->prefix = sm->d.config->subnet_prefix;
	sm->d.transport->lid = j->program.sm_lid;
	return find_nodes(sm, j);
}

static int begin_read_tables(struct sweep *s, struct job *j)
{
	int ret;

	program_qos_forget(&j->program);
	cables_forget(&s->sm, j);
	congestion_forget(&s->congestion, j);
	congestion_opa_forget(&s->sm, j);
	ret = program_read_lfts(&j->program);
	if (ret == E_OK) {
		ret = program_read_port_groups(&j->program);
	}
	if (ret == E_OK) {
		ret = p_keys_read(&s->sm, j, !s->election.swept);
	}
	if (ret == E_OK && j->read_tables) {
		audit_start_all(&s->audit, j);
	}
	return ret;
}

static enum step_end end_read_tables(struct sweep *s, struct job *j)
{
	if (j->read_tables) {
		j->read_tables = false;
		s->routes.lane_limit = 0; /* a port may have told a lie about its VLs */
		audit_end_all(&s->audit);
	}
	return STEP_DONE;
}

static int begin_route(struct sweep *s, struct job *j)
{
	int ret = assign_vports(&s->sm, j);

	return ret == E_OK ? routes_start(&s->routes, j, !s->election.swept) : ret;
}

/* LIDs are durable from here on, and we are master. */
static enum step_end end_route(struct sweep *s, struct job *j)
{
	struct sm *sm = &s->sm;
	int ret = routes_end(&s->routes);

	job_stage(j, sm, "route");
	if (ret == E_OK) {
		ret = assign_keep(sm, j->disc.g, j->arena, &j->lids);
	}
	if (ret == E_OK) {
		ret = assign_keep_vports(sm, j);
	}
	if (ret != E_OK) {
		return STEP_FAILED; /* they said why */
	}
	s->reassigned = true;
	s->election.others_assigned = false;
	if (s->election.state != SM_MASTER) {
		election_set_state(&s->election, SM_MASTER,
		                   "no other master on the fabric");
		/* one that was silent in the election may answer again */
		election_doubt(&s->election, true, "takes the fabric");
	}
	j->program.lft = &j->route.out.lft;
	j->program.lanes = &j->route.out.lanes;
	j->program.transition = &j->transition;
	if (j->route.incremental && s->sm.vports.n_hosts == 0) {
		j->program.changed_lid = j->route.changed_lid;
		j->program.n_changed_lids = j->route.n_changed;
	}
	routes_qos(&s->routes, j, &j->program);
	if (!j->program.only_changed) {
		return STEP_DONE;
	}
	/* With several lanes ports depend on what is far away. */
	j->program.only_changed =
		j->program.lanes->n == 1 && j->program.lanes->rule == NULL;
	return find_nodes(sm, j);
}

/* --- programming ------------------------------------------------------------------- */

/* Gives up if a step of programming failed. A switch that stops answering here is left out by
 * the next discovery, and no route may lead over it. One that answers reads but no writes would
 * stop every sweep, so it is tolerated after two failures. A host is tolerated at once, because
 * nobody else depends on it; the next sweep comes soon. */
static bool step_failed(struct sweep *s)
{
	const struct program *p = &s->sm.job->program;

	if (p->ret != E_OK) {
		(void)sm_fail(&s->sm, p->ret, true, "%s", err_text(p->ret));
	} else if (p->n_switch_timeouts && s->failures < 2) {
		(void)sm_fail(&s->sm, E_TIMEOUT, true, "%s", p->first_trouble);
	} else {
		return false;
	}
	return true;
}

/* Keeps the M_Keys that ports hold for the next start, before somebody chooses another one. */
static void save_keys(struct sm *sm)
{
	int ret;

	if (!sm->keys.changed || sm->d.key_file == NULL || sm->keys_file_bad) {
		return;
	}
	ret = keyring_save(&sm->keys, sm->d.key_file);
	if (ret != E_OK) {
		log_message(
			MSG_SM_KEYS_NOT_WRITTEN, source,
			"cannot write %s, by which ports can be set up after m_key was changed: %s",
			sm->d.key_file, err_text(ret));
	}
}

/* Switches that adapt their routes stop doing so before these change. */
static int begin_adaptive_pause(struct sweep *s, struct job *j)
{
	(void)s;
	return program_adaptive_begin(&j->program, &j->route.alternates, &j->prev);
}

/* Where switches had moved routes, the way to the new tables is planned from there. */
static enum step_end end_adaptive_pause(struct sweep *s, struct job *j)
{
	struct program *p = &j->program;
	uint32_t moved = p->n_adapted;
	int ret;

	if (moved == 0) {
		ret = routes_replanned(&s->routes);
	} else {
		p->n_adapted = 0;
		p->changed_lid = NULL;
		log_info(source, "switches had moved %u routes by themselves", moved);
		ret = routes_replan(&s->routes, j);
	}
	if (ret != E_OK) {
		(void)sm_fail(&s->sm, ret, true, "%s", err_text(ret));
		return STEP_FAILED;
	}
	return moved == 0 ? STEP_DONE : STEP_GOES_ON;
}

static int begin_p_keys(struct sweep *s, struct job *j)
{
	return p_keys_start(&s->p_keys, &s->sm, j);
}

/* SLs that partitions have, as bits. */
static uint32_t partition_sls(const struct job *j)
{
	uint32_t sls = 0;

	for (uint32_t i = 0; j->partitions != NULL && i < j->partitions->n; i++) {
		sls |= UINT32_C(1) << j->partitions->all[i].sl;
	}
	return sls;
}

static int begin_lanes(struct sweep *s, struct job *j)
{
	return program_opa_qos(&j->program,
	                       partition_sls(j) | UINT32_C(1) << s->sm.d.config->sm_sl);
}

/* Tables that need lanes are sent only where the lanes hold. */
static enum step_end end_lanes(struct sweep *s, struct job *j)
{
	const struct program *p = &j->program;

	if (p->lane_trouble != NULL) {
		/* the next sweep computes with the VLs that there are */
		if (p->lanes_there) {
			s->routes.lane_limit = p->lanes_there;
		}
		(void)sm_fail(&s->sm, E_UNSUITABLE, p->lanes_there != 0,
		              "computed tables are not programmed: %s", p->lane_trouble);
		return STEP_FAILED;
	}
	return STEP_DONE;
}

/* Switch ports enforce partitions by PortInfo, once they have their P_Keys. */
static int begin_ports(struct sweep *s, struct job *j)
{
	(void)s;
	return program_ports(&j->program);
}

static enum step_end end_ports(struct sweep *s, struct job *j)
{
	(void)j;
	save_keys(&s->sm);
	return STEP_DONE;
}

static int begin_qos(struct sweep *s, struct job *j)
{
	(void)s;
	return program_qos(&j->program);
}

static enum step_end end_qos(struct sweep *s, struct job *j)
{
	if (end_lanes(s, j) == STEP_FAILED) {
		return STEP_FAILED;
	}
	if (j->program.qos) {
		job_stage(j, &s->sm, "qos");
	}
	return STEP_DONE;
}

static int begin_tables(struct sweep *s, struct job *j)
{
	s->drain_until = 0;
	return program_lfts(&j->program);
}

static enum step_end end_tables(struct sweep *s, struct job *j)
{
	struct program *p = &j->program;

	if (p->lft_step < program_lft_steps(p)) {
		uint32_t drain_ms = program_drain_ms(p);
		int ret;

		if (drain_ms != 0 && s->drain_until == 0) {
			s->drain_until = sm_now(&s->sm) + drain_ms;
			return STEP_GOES_ON;
		}
		s->drain_until = 0;
		ret = program_lfts_next(p);
		if (ret == E_OK) {
			return STEP_GOES_ON;
		}
		(void)sm_fail(&s->sm, ret, true, "%s", err_text(ret));
		return STEP_FAILED;
	}
	program_lfts_end(p);
	if (p->first_trouble != NULL) {
		log_message(MSG_SM_TABLES_REFUSED, source,
		            "%s (%u requests refused, %u not answered)", p->first_trouble,
		            p->n_refused, p->n_timeouts);
	} else {
		log_info(source, "%s tables configured on all switches",
		         j->route.used != NULL ? j->route.used->name : "no");
	}
	return STEP_DONE;
}

static int begin_port_groups(struct sweep *s, struct job *j)
{
	(void)s;
	return program_adaptive_tables(&j->program);
}

static enum step_end end_port_groups(struct sweep *s, struct job *j)
{
	(void)s;
	program_adaptive_check(&j->program);
	return STEP_DONE;
}

static int begin_multicast(struct sweep *s, struct job *j)
{
	int ret = multicast_start(&s->client_tables.multicast, j);

	return ret == E_OK ? alias_guids_start(&s->client_tables.alias_guids, j) : ret;
}

/* The snapshot is published when all tables stand. */
static enum step_end end_multicast(struct sweep *s, struct job *j)
{
	client_tables_done(&s->client_tables);
	if (step_failed(s)) {
		return STEP_FAILED;
	}
	job_stage(j, &s->sm, "multicast");
	if (publish(s) != E_OK) {
		return STEP_FAILED;
	}
	p_keys_published(&s->p_keys);
	return STEP_DONE;
}

static int begin_arm(struct sweep *s, struct job *j)
{
	int ret = vports_set_lids(&j->vports_program);

	(void)s;
	return ret == E_OK ? program_states(&j->program, PORT_ARMED) : ret;
}

static int begin_activate(struct sweep *s, struct job *j)
{
	int ret = vports_activate(&j->vports_program);

	(void)s;
	return ret == E_OK ? program_states(&j->program, PORT_ACTIVE) : ret;
}

/* --- the end of a heavy sweep ----------------------------------------------------- */

/* How switches got their tables, said only when that is not as it was the last time. */
static void note_ways(struct sweep *s, const struct program *p)
{
	uint32_t *last = s->sm.status.switches_way;
	char text[200] = "";
	size_t at = 0;

	if (memcmp(last, p->n_way, sizeof(p->n_way)) == 0 ||
	    (p->tables.n_sets[TABLE_LFT] == 0 &&
	     s->sm.status.heavy_sweeps + s->sm.status.local_sweeps != 0)) {
		return;
	}
	memcpy(last, p->n_way, sizeof(p->n_way));
	for (unsigned k = WAY_BY_LID + 1; k < WAY_COUNT; k++) {
		if (last[k] != 0) {
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u %s",
			                       at == 0 ? "; by directed routes " : ", ",
			                       last[k], way_texts[k]);
		}
	}
	log_info(source, "tables were sent by LID to %u of %u switches%s",
	         last[WAY_BY_LID], s->sm.status.switches, text);
}

/* The subnet is up, said only when it was not or when something changed. */
static void log_up(struct sweep *s, const struct job *j)
{
	const struct program *p = &j->program;
	const struct sweep_status *st = &s->sm.status;
	const char *kind = j->disc.local ? "local" : "heavy";
	uint64_t smps = smp_counters(s->sm.smp)->sent - j->smps_before;
	char qos_text[40] = "";

	if (st->up && j->n_changes == 0 &&
	    p->n_port_sets + p->tables.n_sets[TABLE_LFT] + program_qos_sets(p) +
	                    program_mft_sets(p) +
	                    alias_guids_sets(&s->client_tables.alias_guids) +
	                    p->tables.n_sets[TABLE_P_KEYS] + program_group_sets(p) +
	                    p->n_adaptive_sets ==
	            0) {
		log_info(source,
		         "nothing changed: %u switches, %u hosts, epoch %" PRIu64
		         "; %s sweep, %" PRIu64 " SMPs",
		         st->switches, st->hosts, s->publisher.epoch, kind, smps);
		return;
	}
	if (p->qos) {
		snprintf(qos_text, sizeof(qos_text), ", %u QoS tables",
		         program_qos_sets(p));
	}
	events_say(&s->sm, EVENT_SUBNET_UP,
	           "%u switches, %u hosts, %u LIDs, epoch %" PRIu64
	           "; sent %u PortInfo and %u LFT blocks%s in %.3f s; %s sweep, %" PRIu64
	           " SMPs",
	           st->switches, st->hosts, j->lids.lids.count, s->publisher.epoch,
	           p->n_port_sets, p->tables.n_sets[TABLE_LFT], qos_text,
	           sm_cpu_now(&s->sm) - j->started, kind, smps);
}

/* A switch takes a port that is not ACTIVE for lost, so it adapts again when they are. */
static int begin_adaptive_resume(struct sweep *s, struct job *j)
{
	(void)s;
	return program_adaptive_resume(&j->program);
}

static enum step_end end_adaptive_resume(struct sweep *s, struct job *j)
{
	struct program *p = &j->program;
	int ret = E_OK;

	program_end(&j->program);
	note_ways(s, p);
	program_states_to_graph(p);
	if (p->n_port_sets + p->n_adaptive_sets != 0) {
		ret = s->sm.vports.n_hosts != 0 ? publish(s) /* they have states, too */
		                                : publish_ports(&s->publisher, j);
	}
	if (ret != E_OK) {
		return STEP_FAILED; /* else the states are those published before ports went ACTIVE */
	}
	return STEP_DONE;
}

/* When another sweep is due after one that ended well, because not all is as it should be. */
static void time_retry(struct sweep *s, const struct job *j)
{
	const struct program *p = &j->program;
	struct sm *sm = &s->sm;

	if (s->election.others_wrote) {
		sm_request_heavy(sm, "another SM was master while this sweep was at work");
	} else if (p->n_bounced) {
		sm_request_heavy(sm, "%u links were restarted for a new MTU or VLs",
		                 p->n_bounced);
	} else if (p->n_timeouts || p->n_waiting) {
		/* perhaps it never takes what it is given: ever more rarely */
		s->retry_at = sm_now(sm) +
		              ((uint64_t)RETRY_MS << (s->unset < 7 ? s->unset : 7));
	} else if (j->n_unread) {
		/* perhaps a node that never answers: ever more rarely */
		s->retry_at = sm_now(sm) + (RETRY_MAX_MS << (s->unread < 4 ? s->unread : 4));
	}
	s->unread = j->n_unread ? s->unread + 1 : 0;
	s->unset = p->n_timeouts || p->n_waiting ? s->unset + 1 : 0;
}

/* All steps are done. */
static void succeed(struct sweep *s, struct job *j)
{
	struct sm *sm = &s->sm;
	const struct program *p = &j->program;
	struct sweep_status *st = &sm->status;

	job_log_stages(j);
	s->failures = 0;
	s->election.swept = true;
	routes_rebalance_heavy_ended(&s->rebalance);
	s->retry_at = UINT64_MAX;
	st->heavy_sweeps += !j->disc.local;
	st->local_sweeps += j->disc.local;
	*(j->disc.local ? &st->local_ended_s : &st->heavy_ended_s) = sm_wall_clock(sm);
	st->port_sets += p->n_port_sets;
	st->lft_sets += p->tables.n_sets[TABLE_LFT];
	st->mft_sets += program_mft_sets(p);
	st->bounces += p->n_bounced;
	if (sm->d.sa != NULL) {
		sa_server_swept(sm->d.sa);
	}
	changes_swept(&s->changes, sm->events.started_ms);
	audit_swept(&s->audit);
	mirror_dump(&s->mirror);
	assign_note_presence(sm, j->disc.g, j->arena, &j->lids);
	known_note(sm, j);
	acks_note_sweep(sm, j->disc.g, sm_wall_clock(sm));
	drained_settle(sm, j);
	save_keys(sm);
	log_up(s, j);
	st->up = true;
	st->not_ready[0] = '\0';
	sm->events.failure[0] = '\0';
	events_sweep_end(sm, j);
	sm_log_clients(sm);
	time_retry(s, j);
	sm->settled = p->first_trouble == NULL && p->n_bounced == 0 &&
	              p->n_waiting == 0 && j->n_unread == 0 && s->p_keys.n_missing == 0 &&
	              p->lanes->n == 1 && p->lanes->rule == NULL;
	sm->settled_sm_lid = p->sm_lid;
	sm_judge_ports(sm);
	sweep_go_idle(s);
}

/* By phase. */
/* clang-format off */
static const struct {
	const char *name; /* of its time in the status; NULL: end() notes it */
	bool sets;        /* its requests program nodes: see step_failed() */
	int (*begin)(struct sweep *s, struct job *j); /* queues requests */
	enum step_end (*end)(struct sweep *s, struct job *j); /* NULL: nothing is left to do */
} steps[PHASE_COUNT] = {
	[PHASE_DISCOVER]    = { "discover",    false, NULL,              end_discover }, /* see sweep_heavy_start() */
	[PHASE_ELECTION]    = { "lids",        false, begin_election,    end_election },
	[PHASE_READ_TABLES] = { "read-tables", false, begin_read_tables, end_read_tables },
	[PHASE_ROUTE]       = { "keep-lids",   false, begin_route,       end_route },
	[PHASE_ADAPTIVE_PAUSE] = { NULL,       true,  begin_adaptive_pause, end_adaptive_pause },
	[PHASE_P_KEYS]      = { "p-keys",      true,  begin_p_keys,      NULL },
	[PHASE_LANES]       = { NULL,          true,  begin_lanes,       end_lanes },
	[PHASE_PORTS]       = { "ports",       true,  begin_ports,       end_ports },
	[PHASE_QOS]         = { NULL,          true,  begin_qos,         end_qos },
	[PHASE_TABLES]      = { "tables",      true,  begin_tables,      end_tables },
	[PHASE_PORT_GROUPS] = { NULL,          true,  begin_port_groups, end_port_groups },
	[PHASE_MULTICAST]   = { "publish",     false, begin_multicast,   end_multicast },
	[PHASE_ARM]         = { NULL,          false, begin_arm,         NULL },
	[PHASE_ACTIVATE]    = { NULL,          false, begin_activate,    NULL },
	[PHASE_ADAPTIVE_RESUME] = { "activate", false, begin_adaptive_resume, end_adaptive_resume },
};
/* clang-format on */

/* Takes the outcome of the step at work. */
static enum step_end end_step(struct sweep *s, struct job *j)
{
	enum step_end end = STEP_DONE;

	if (s->election.doubt.lost && s->phase > PHASE_ELECTION) {
		(void)sm_fail(&s->sm, E_NOTREADY, true, "another SM is master");
		return STEP_FAILED;
	}
	if (steps[s->phase].sets && step_failed(s)) {
		return STEP_FAILED;
	}
	if (steps[s->phase].end != NULL) {
		end = steps[s->phase].end(s, j);
	}
	if (end == STEP_DONE && steps[s->phase].name != NULL) {
		job_stage(j, &s->sm, steps[s->phase].name);
	}
	return end;
}

void sweep_heavy_next(struct sweep *s)
{
	struct job *j = s->sm.job;

	switch (end_step(s, j)) {
	case STEP_GOES_ON: break;
	case STEP_FAILED: give_up(s); break;
	case STEP_DONE:
		if (s->phase == PHASE_ADAPTIVE_RESUME) {
			succeed(s, j);
		} else {
			s->phase++;
			begin_phase(s, s->phase, steps[s->phase].begin(s, j));
		}
		break;
	}
}
