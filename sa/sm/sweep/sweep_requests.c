/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What the owner of the sweep asks of it: to begin, to sweep at once, to take a new
 * configuration, to end. A request only sets a flag or a time; the state machine in sweep.c
 * acts on it when it is idle.
 */
#include "sa/sm/sweep/sweep_int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/search.h"
#include "conf/base/vector.h"
#include "conf/policy/partitions.h"
#include "db/state/state.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "sa/partition/runtime.h"
#include "sa/partition/runtime_change.h"
#include "sa/perf/perf.h"

static const char *const source = "sweep";

/* --- requests ------------------------------------------------------------------------- */

void sweep_request_heavy(struct sweep *s)
{
	sm_request_heavy(&s->sm, "operator request");
}

void sweep_request_audit(struct sweep *s, const char *by)
{
	s->sm.read_tables = true;
	sm_request_heavy(&s->sm, "operator request%s%s", by != NULL ? "; by " : "",
	                 by != NULL ? by : "");
}

void sweep_request_rebalance(struct sweep *s, const char *by)
{
	s->routes.requested = true;
	sm_request_heavy(&s->sm, "operator request: rebalance%s%s",
	                 by != NULL ? "; by " : "", by != NULL ? by : "");
}

int sweep_request_handover(struct sweep *s, char *why, size_t why_bytes)
{
	int ret = election_yield(&s->election, why, why_bytes);

	if (ret == E_OK) {
		s->next_light = 0;
	}
	return ret;
}

void sweep_request_light(struct sweep *s, const char *by)
{
	if (by != NULL) {
		log_info(source, "light sweep: operator request; by %s", by);
	}
	s->next_light = 0;
}

int sweep_request_port(struct sweep *s, const struct port_request *rq,
                       struct port_choice *ret_choice, char *why, size_t why_bytes)
{
	return port_control_request(&s->port_control, rq, ret_choice, why, why_bytes);
}

/* A request of an operator is durable when the command returns, and shown with its events, unless
 * mirroring rests; then the next heartbeat shows it. */
static int store_now(struct sweep *s, struct record_list *l, int ret, char *why,
                     size_t why_bytes)
{
	if (ret != E_OK) {
		return ret;
	}
	state_flush(s->sm.d.state);
	if (l->failed) {
		snprintf(why, why_bytes, "the state cannot be written");
		return -EIO;
	}
	if (sm_now(&s->sm) >= s->mirror.rested_ms) {
		mirror_records_soon(&s->mirror);
		(void)sweep_status(s);
		mirror_figures(&s->sm, &s->election, false);
	}
	return E_OK;
}

int sweep_request_forget(struct sweep *s, const char *what, const char *by, size_t *ret_n,
                         char *why, size_t why_bytes)
{
	int ret = known_forget(&s->sm, what, by, ret_n, why, why_bytes);

	return store_now(s, &s->sm.known.rows, ret, why, why_bytes);
}

int sweep_request_ack(struct sweep *s, const char *id, const char *until, const char *note,
                      const char *by, char *why, size_t why_bytes)
{
	int ret = acks_put(&s->sm, id, until, note, by, sm_wall_clock(&s->sm), why,
	                   why_bytes);

	return store_now(s, &s->sm.acks.rows, ret, why, why_bytes);
}

int sweep_request_unack(struct sweep *s, const char *id, const char *by, char *why,
                        size_t why_bytes)
{
	int ret = acks_drop(&s->sm, id, by, why, why_bytes);

	return store_now(s, &s->sm.acks.rows, ret, why, why_bytes);
}

int sweep_request_drained(struct sweep *s, const struct drained_request *rq,
                          struct drained_outcome *ret_outcome, char *why, size_t why_bytes)
{
	return drained_request(&s->sm, rq, ret_outcome, why, why_bytes);
}

/* --- partitions at run time ------------------------------------------------------------ */

static uint32_t members_in(const struct runtime_partitions *r, uint16_t p_key)
{
	const struct runtime_partition *t = runtime_find(r, p_key);

	return t != NULL ? t->n_members : 0;
}

/* The event of a change, with what the partition had and has. \retval -ENOMEM */
static int hold_event(struct held_changes *h, const struct runtime_change *c,
                      const struct runtime_partitions *before,
                      const struct runtime_partitions *now, bool existed)
{
	const struct runtime_partition *t = runtime_find(now, c->p_key);
	enum event_kind kind = t == NULL && c->action == RUNTIME_DELETE
	                               ? EVENT_PARTITION_DELETED
	                       : existed ? EVENT_PARTITION_CHANGED
	                                 : EVENT_PARTITION_CREATED;
	char from[60] = "";

	h->a = h->a != NULL ? h->a : arena_new();
	if (h->a == NULL ||
	    ARENA_RESERVE(h->a, h->events, h->n, h->cap, h->n + 1) != E_OK) {
		return -ENOMEM;
	}
	if (c->from != 0) {
		snprintf(from, sizeof(from), ", those of partition 0x%04x from %u to %u",
		         c->from, members_in(before, c->from), members_in(now, c->from));
	}
	struct held_event e = {
		.kind = kind,
		.text = arena_printf(
			h->a,
			"0x%04x%s%s is %s: members at run time from %u to %u%s; version %" PRIu64
			"%s%s",
			c->p_key, t != NULL && *t->name ? " " : "",
			t != NULL ? t->name : "",
			kind == EVENT_PARTITION_DELETED   ? "deleted"
			: kind == EVENT_PARTITION_CREATED ? "made"
							  : "changed",
			members_in(before, c->p_key), members_in(now, c->p_key), from,
			now->version, c->by != NULL ? "; by " : "",
			c->by != NULL ? c->by : "")
	};
	if (e.text == NULL) {
		return -ENOMEM;
	}
	h->events[h->n++] = e;
	return E_OK;
}

/* A change in memory. What is durable is kept, for the case that it cannot be stored.
 * \param batch next  Taken on success. */
static int hold_change(struct sweep *s, struct state_batch *batch,
                       struct runtime_partitions *next, const struct runtime_change *c,
                       bool existed)
{
	struct held_changes *h = &s->held;
	struct sm *sm = &s->sm;
	int ret = hold_event(h, c, sm->runtime, next, existed);

	if (ret != E_OK) {
		return ret;
	}
	if (h->batch == NULL) {
		h->batch = batch;
		h->before = sm->runtime;
	} else {
		state_batch_join(h->batch, batch);
		runtime_free(sm->runtime);
	}
	sm->runtime = next;
	return E_OK;
}

void sweep_hold_partitions(struct sweep *s)
{
	s->held.on = true;
}

int sweep_settle_partitions(struct sweep *s, char *why, size_t why_bytes)
{
	struct held_changes h = s->held;
	struct sm *sm = &s->sm;
	int ret = E_OK;

	s->held = (struct held_changes){ .on = false };
	if (h.batch != NULL) {
		ret = runtime_store(sm->d.state, h.batch);
		runtime_free(ret == E_OK ? h.before : sm->runtime);
	}
	if (ret != E_OK) {
		sm->runtime = h.before;
		snprintf(why, why_bytes, "the state cannot be written: %s",
		         err_text(ret));
	} else if (h.batch != NULL) {
		sm->runtime_state = state_version(sm->d.state, RECORDS_PARTITIONS);
		for (size_t i = 0; i < h.n; i++) {
			events_say(sm, h.events[i].kind, "%s", h.events[i].text);
		}
	}
	arena_free(h.a);
	return ret == E_FULL ? -ENOSPC : ret;
}

static int change_partitions(struct sweep *s, struct runtime_change *c, char *why,
                             size_t why_bytes, bool *ret_changed)
{
	struct sm *sm = &s->sm;
	struct arena *a = arena_new();
	struct runtime_partitions *next = NULL;
	struct state_batch *batch = NULL;
	const struct partitions *configured;
	int64_t now_s = sm_wall_clock(sm);
	int ret = a != NULL ? sm_refresh_runtime(sm) : -ENOMEM;

	if (ret == E_OK) {
		ret = sweep_configured_partitions(s, a, &configured);
	}
	if (ret == E_OK) {
		ret = runtime_apply(sm->runtime, configured, c, now_s, why, why_bytes,
		                    &next, &batch);
	}
	if (ret == E_OK && next != NULL && c->action != RUNTIME_REMOVE) {
		ret = p_keys_fit(sm, sm->d.config, next, c, why, why_bytes);
	}
	if (ret == E_OK && next != NULL) {
		bool existed = runtime_find(sm->runtime, c->p_key) != NULL ||
		               partitions_find(configured, c->p_key) != NULL;

		ret = hold_change(s, batch, next, c, existed);
		*ret_changed = ret == E_OK;
	}
	if (!*ret_changed) {
		runtime_free(next);
		state_batch_free(batch);
	}
	arena_free(a);
	return ret;
}

int sweep_change_partitions(struct sweep *s, struct runtime_change *c,
                            struct partition_outcome *ret_outcome, char *why,
                            size_t why_bytes)
{
	struct sm *sm = &s->sm;
	bool changed = false;
	int ret = E_NOTREADY;

	if (s->election.state != SM_MASTER) {
		snprintf(
			why, why_bytes,
			"this subnet manager is not the master; change partitions at the one that is");
	} else if (sm->d.state == NULL) {
		snprintf(why, why_bytes, "there is no state folder");
	} else {
		snprintf(why, why_bytes, "%s", err_text(-ENOMEM));
		ret = change_partitions(s, c, why, why_bytes, &changed);
	}
	if (!s->held.on && changed) {
		ret = sweep_settle_partitions(s, why, why_bytes);
		changed = ret == E_OK;
	}
	*ret_outcome = (struct partition_outcome){ .changed = changed,
		                                   .version = sm->runtime->version,
		                                   .changed_s = sm->runtime->changed_s };
	return ret;
}

const struct runtime_partitions *sweep_runtime_partitions(struct sweep *s)
{
	(void)sm_read_runtime(&s->sm);
	return s->sm.runtime;
}

int sweep_configured_partitions(const struct sweep *s, struct arena *a,
                                const struct partitions **ret_partitions)
{
	const struct job *j = sm_known_job(&s->sm);

	return p_keys_configured(s->sm.d.config, j != NULL ? j->disc.g : NULL, a,
	                         ret_partitions);
}

bool sweep_has_port(const struct sweep *s, uint64_t guid)
{
	const struct job *j = sm_known_job(&s->sm);

	return j != NULL && (graph_port_by_guid(j->disc.g, guid) != GRAPH_NONE ||
	                     vports_has_guid(&s->sm.vports, guid));
}

int sweep_host_ports(const struct sweep *s, const char *const *host, uint32_t n,
                     struct arena *a, struct sweep_host_port **ret_ports, uint32_t *ret_n)
{
	const struct job *j = sm_known_job(&s->sm);
	const struct graph *g = j != NULL ? j->disc.g : NULL;
	struct graph_host_port *found = NULL;
	uint32_t n_found = 0;
	int ret = g != NULL ? graph_host_ports(g, host, n, a, &found, &n_found) : E_OK;
	struct sweep_host_port *ports = arena_array(a, n_found, sizeof(*ports));

	if (ret != E_OK || ports == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_found; i++) {
		ports[i] = (struct sweep_host_port){ g->ports[found[i].port].guid, found[i].host };
	}
	*ret_ports = ports;
	*ret_n = n_found;
	return E_OK;
}

uint64_t sweep_end_port(const struct sweep *s, uint64_t node_guid, uint8_t port)
{
	const struct job *j = sm_known_job(&s->sm);
	const struct graph *g = j != NULL ? j->disc.g : NULL;
	uint32_t node = g != NULL ? graph_node_by_guid(g, node_guid) : GRAPH_NONE;
	uint32_t p = node != GRAPH_NONE ? graph_port(g, node, port) : GRAPH_NONE;

	if (p != GRAPH_NONE && !graph_is_end_port(g, p)) {
		p = g->ports[p].peer;
	}
	return p != GRAPH_NONE && graph_is_end_port(g, p) ? g->ports[p].guid : 0;
}

uint64_t sweep_partitions_settled(const struct sweep *s,
                                  const struct p_keys_port **ret_keys_port,
                                  uint32_t *ret_n)
{
	*ret_keys_port = s->p_keys.missing;
	*ret_n = s->p_keys.n_missing;
	return s->p_keys.settled;
}

const struct job *sweep_job(const struct sweep *s)
{
	return s->sm.job;
}

const struct congestion_counters *sweep_congestion(const struct sweep *s)
{
	return &s->congestion.counters;
}

/* --- life ------------------------------------------------------------------------- */

static struct smp_limits limits_of(const struct config *c)
{
	return (struct smp_limits){
		.window = c->max_wire_smps,
		.timeout_ms = c->transaction_timeout,
		/* Keys of ports say whom they are for; the one that they
		                     * are made of must not leave this host. */
		.m_key = c->m_key_per_port ? 0 : c->m_key
	};
}

/* Takes the M_Key of the configuration. */
static void configure_keys(struct sm *sm)
{
	const struct config *c = sm->d.config;
	int ret = keyring_configure(&sm->keys, c->m_key, c->m_key_old, c->m_key_per_port);

	if (ret != E_OK) {
		log_message(MSG_SM_NO_PORT_KEYS, source,
		            "no M_Key of their own for ports (m_key_per_port): %s",
		            err_text(ret));
		sm->keys.per_port = false;
	}
}

/* Conditions of an unhealthy port, and the action on each. */
static void configure_health(struct sm *sm)
{
	const struct config *c = sm->d.config;
	struct health_policy p = {
		.on = c->hm_unhealthy_ports_checks,
		.sweeps = { c->hm_num_flapping_sweeps, c->hm_num_no_resp_sweeps,
		            c->hm_num_set_err_sweeps, c->hm_num_traps },
		.window = { c->hm_num_flapping_sweeps_window,
		            c->hm_num_no_resp_sweeps_window,
		            c->hm_num_set_err_sweeps_window,
		            c->hm_num_traps_period_secs },
		.release_s = c->hm_isolation_secs,
	};

	for (unsigned i = 0; i < 2; i++) {
		for (unsigned k = 0; k < HEALTH_CONDITIONS; k++) {
			p.action[i][k] = (uint8_t)c->hm_action[i][k];
		}
	}
	if (!p.on) {
		health_done(&sm->health);
	}
	sm->health.policy = p;
}

/* M_Keys that ports had: those that we gave them, and those of another subnet manager. */
static void load_keys(struct sm *sm)
{
	const char *files[] = { sm->d.key_file, sm->d.other_key_file };
	struct arena *a = arena_new();
	struct diags *d = a != NULL ? arena_alloc(a, sizeof(*d)) : NULL;
	char place[DIAG_PLACE_MAX];

	for (unsigned i = 0; d != NULL && i < 2; i++) {
		if (files[i] == NULL) {
			continue;
		}
		diags_init(d, a);
		if (keyring_load(&sm->keys, files[i], d) != E_OK) {
			sm->keys_file_bad |= i == 0;
			log_message(MSG_SM_KEYS_UNUSED, source, "%s is not used",
			            files[i]);
		}
		for (unsigned k = 0; k < d->n; k++) {
			log_message(MSG_SM_KEYS_LINE, source, "%s%s",
			            diag_place(&d->items[k], place, sizeof(place)),
			            d->items[k].text);
		}
	}
	sm->keys.changed = false;
	arena_free(a);
}

/* The performance manager of the present configuration. It reads again what the old one knew. */
static void read_counters(struct sweep *s)
{
	const struct sweep_deps *d = &s->sm.d;

	perf_free(s->perf);
	s->perf = NULL;
	if (d->config->perfmgr &&
	    perf_new(d->transport, d->stats, d->config, d->wall_clock, &s->perf) != E_OK) {
		log_message(MSG_SM_NO_COUNTERS, source,
		            "port counters are not read: out of memory");
	}
	if (s->perf == NULL || d->config->link_health == LINK_HEALTH_OFF) {
		perf_health_forget(d->stats);
	}
	s->link_care.sweeps = 0;
	s->perf_stale = true;
}

/* Congestion control as the present configuration has it. */
static void configure_congestion(struct sweep *s)
{
	if (congestion_configure(&s->congestion) != E_OK) {
		log_message(MSG_SM_NO_CONGESTION, source,
		            "congestion control is not set: out of memory");
	}
}

int sweep_new(const struct sweep_deps *d, struct sweep **ret_sweep)
{
	struct smp_limits limits = limits_of(d->config);
	struct sweep *s = calloc(1, sizeof(*s));
	struct sm *sm = &s->sm;

	if (s == NULL || smp_new(d->transport, &limits, &sm->smp) != E_OK) {
		free(s);
		return -ENOMEM;
	}
	sm->d = *d;
	int ret = sm_read_runtime(sm);
	if (ret != E_OK) {
		smp_free(sm->smp);
		free(s);
		return ret;
	}
	s->election.sm = s->changes.sm = s->routes.sm = s->client_tables.sm = sm;
	s->client_tables.multicast.sm = s->client_tables.alias_guids.sm = sm;
	s->audit = (struct audit){ .sm = sm };
	s->changes.audit = &s->audit;
	s->cables.sm = sm;
	s->takeover = (struct takeover){ .sm = sm, .election = &s->election };
	s->port_control.sm = sm;
	s->link_care.sm = sm;
	s->congestion.sm = s->congestion_opa.sm = sm;
	s->publisher.sm = s->mirror.sm = s->rebalance.sm = sm;
	s->rebalance.routes = &s->routes;
	s->routes.recall = true;
	s->publisher.election = &s->election;
	s->qos_reads = (struct qos_reads){ .sm = sm,
		                           .election = &s->election,
		                           .transport = d->transport };
	s->agent = (struct agent){ .sm = sm,
		                   .election = &s->election,
		                   .changes = &s->changes,
		                   .p_keys = &s->p_keys,
		                   .audit = &s->audit };
	s->retry_at = UINT64_MAX;
	sm->status.epoch = d->snap != NULL ? snap_epoch(d->snap) : 0;
	events_start(sm);
	snprintf(sm->status.not_ready, sizeof(sm->status.not_ready),
	         "the first sweep has not ended yet");
	configure_keys(sm);
	load_keys(sm);
	configure_health(sm);
	election_set_state(&s->election, SM_DISCOVERING, "start");
	sm_request_heavy(sm, "start");
	if (d->transport->ops->set_issm(d->transport, true) != E_OK) {
		log_message(MSG_SM_NO_ISSM, source, "cannot set the IsSM bit of %s",
		            d->transport->local.name);
	}
	qos_reads_serve(&s->qos_reads, true);
	read_counters(s);
	configure_congestion(s);
	*ret_sweep = s;
	return E_OK;
}

void sweep_free(struct sweep *s)
{
	if (s == NULL) {
		return;
	}
	struct sm *sm = &s->sm;
	qos_reads_serve(&s->qos_reads, false);
	routes_done(&s->routes);
	p_keys_done(&s->p_keys);
	sm->d.transport->ops->set_issm(sm->d.transport, false);
	smp_free(sm->smp);
	election_done(&s->election);
	perf_free(s->perf);
	congestion_done(&s->congestion);
	congestion_opa_done(&s->congestion_opa);
	qos_reads_done(&s->qos_reads);
	job_free(sm->job);
	job_free(sm->previous);
	shadow_done(&sm->shadow);
	vports_done(&sm->vports);
	tables_done(&sm->tables);
	hash_done(&s->silent);
	free(sm->suspects);
	client_tables_done(&s->client_tables);
	changes_done(&s->changes);
	audit_done(&s->audit);
	cables_done(&s->cables);
	events_done(&sm->events);
	known_done(&sm->known);
	acks_done(&sm->acks);
	drained_done(&sm->drained);
	runtime_free(sm->runtime);
	keyring_done(&sm->keys);
	senders_done(&sm->senders);
	health_done(&sm->health);
	free(s);
}

int sweep_suits(const struct sweep *s, const struct config *c, char *why, size_t size)
{
	return p_keys_fit(&s->sm, c, s->sm.runtime, NULL, why, size);
}

void sweep_reconfigure(struct sweep *s, const struct sweep_deps *d)
{
	struct smp_limits limits = limits_of(d->config);
	struct sm *sm = &s->sm;

	routes_stop(&s->routes);
	smp_abort(sm->smp);
	changes_give_up(&s->changes);
	smp_set_lid(sm->smp, 0);
	sweep_restore_previous_job(sm);
	sm->d = *d;
	configure_keys(sm);
	configure_health(sm);
	if (d->stats != NULL) {
		stats_event_limit(d->stats, d->config->event_history);
	}
	qos_reads_serve(&s->qos_reads, true);
	routes_forget(&s->routes);
	routes_rebalance_forget(&s->rebalance);
	smp_set_limits(sm->smp, &limits);
	read_counters(s);
	configure_congestion(s);
	s->election.yielded = YIELDED_NOT;
	sm_request_heavy(sm, "the configuration was read again");
	sweep_go_idle(s);
}
