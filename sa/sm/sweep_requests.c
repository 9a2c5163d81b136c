/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What the owner of the sweep asks of it: to begin, to sweep at once, to take a new
 * configuration, to end. A request only sets a flag or a time; the state machine in sweep.c
 * acts on it when it is idle.
 */
#include "sa/sm/sweep_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "conf/base/err.h"
#include "conf/base/log.h"

static const char *const source = "sweep";

/* --- requests ------------------------------------------------------------------------- */

void sweep_request_heavy(struct sweep *s)
{
	sm_request_heavy(&s->sm, "operator request");
}

void sweep_request_audit(struct sweep *s)
{
	s->sm.read_tables = true;
	sm_request_heavy(&s->sm, "operator request");
}

void sweep_request_rebalance(struct sweep *s)
{
	s->routes.requested = true;
	sm_request_heavy(&s->sm, "operator request: rebalance");
}

int sweep_request_handover(struct sweep *s, char *why, size_t why_bytes)
{
	int ret = election_yield(&s->election, why, why_bytes);

	if (ret == E_OK) {
		s->next_light = 0;
	}
	return ret;
}

void sweep_request_light(struct sweep *s)
{
	s->next_light = 0;
}

int sweep_request_port(struct sweep *s, const struct port_request *rq,
                       struct port_choice *ret, char *why, size_t why_bytes)
{
	return port_control_request(&s->port_control, rq, ret, why, why_bytes);
}

const struct job *sweep_job(const struct sweep *s)
{
	return s->sm.job;
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
	struct sm *sm = &s->sm;

	if (s == NULL || smp_new(d->transport, &limits, &sm->smp) != E_OK) {
		free(s);
		return -ENOMEM;
	}
	sm->d = *d;
	s->election.sm = s->changes.sm = s->routes.sm = s->client_tables.sm = sm;
	s->client_tables.multicast.sm = s->client_tables.alias_guids.sm = sm;
	s->audit = (struct audit){ .sm = sm, .last_ms = sm_now(sm) };
	s->takeover = (struct takeover){ .sm = sm, .election = &s->election };
	s->port_control.sm = sm;
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
		                   .p_keys = &s->p_keys };
	s->retry_at = UINT64_MAX;
	sm->status.epoch = d->snap != NULL ? snap_epoch(d->snap) : 0;
	events_start(sm);
	snprintf(sm->status.not_ready, sizeof(sm->status.not_ready),
	         "the first sweep has not ended yet");
	election_set_state(&s->election, SM_DISCOVERING, "start");
	sm_request_heavy(sm, "start");
	if (d->transport->ops->set_issm(d->transport, true) != E_OK) {
		log_warning(source, "cannot set the IsSM bit of %s",
		            d->transport->local.name);
	}
	qos_reads_serve(&s->qos_reads, true);
	*ret = s;
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
	qos_reads_done(&s->qos_reads);
	job_free(sm->job);
	job_free(sm->previous);
	shadow_done(&sm->shadow);
	hash_done(&s->silent);
	free(sm->suspects);
	client_tables_done(&s->client_tables);
	changes_done(&s->changes);
	events_done(&sm->events);
	free(s);
}

int sweep_suits(const struct sweep *s, const struct config *c, char *why, size_t size)
{
	return p_keys_fit(&s->sm, c, why, size);
}

void sweep_reconfigure(struct sweep *s, const struct sweep_deps *d)
{
	struct smp_limits limits = limits_of(d->config);
	struct sm *sm = &s->sm;

	routes_stop(&s->routes);
	smp_abort(sm->smp);
	smp_set_lid(sm->smp, 0);
	sweep_restore_previous_job(sm);
	sm->d = *d;
	if (d->stats != NULL) {
		stats_event_limit(d->stats, d->config->event_history);
	}
	qos_reads_serve(&s->qos_reads, true);
	routes_forget(&s->routes);
	routes_rebalance_forget(&s->rebalance);
	smp_set_limits(sm->smp, &limits);
	s->election.yielded = YIELDED_NOT;
	sm_request_heavy(sm, "the configuration was read again");
	sweep_go_idle(s);
}
