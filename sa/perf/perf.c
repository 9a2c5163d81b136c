/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The state of a sweep is the number of the next agent, and a few agents at work, each with
 * its own place in its list of requests. An agent has at most PER_AGENT requests in flight,
 * because a switch's processor is slow. When the last of its ports is read the readings
 * become rows. An agent that does not answer is left for this sweep after its first request
 * that failed for good, so a dead node costs one request and its repetitions.
 *
 * Requests in flight are those of sa/mad/request.h. The job of one is the work that it is part
 * of; its part is the port.
 */
#include "sa/perf/perf.h"

#include <errno.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/config.h"
#include "db/lmdb/counters.h"
#include "db/stats/stats.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/tables.h"
#include "sa/mad/fields.h"
#include "sa/mad/transport.h"
#include "sa/perf/counter_fields.h"
#include "sa/perf/perf_int.h"

/* clang-format off */
#define PC_PORT_SELECT       8,  8 /* of all attributes of counters */
#define CPI_REDIRECT_SL    200,  4
#define CPI_REDIRECT_LID   224, 16
#define CPI_REDIRECT_P_KEY 240, 16
#define CPI_REDIRECT_QP    264, 24
#define CPI_REDIRECT_Q_KEY 288, 32
/* clang-format on */

enum {
	TICK_MS = 10, /* requests that are due in this time go out together */
	STATUS_REDIRECT = 1 << 1,
	ANSWER_BYTES_OPA = 24 /* of a refusal */
};

static uint64_t now_ms(const struct perf *p)
{
	return p->transport->ops->now_ms(p->transport);
}

/* --- readings become rows --------------------------------------------------------------- */

uint32_t perf_rise(struct counted_port *port, const struct counter_reading *r,
                   struct port_counters *ret_counters)
{
	uint32_t cleared = 0;

	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		uint32_t bit = UINT32_C(1) << i;

		if ((r->known & bit) == 0) { /* as before, or not there at all */
			continue;
		}
		if ((port->known & bit) && counter_types[i].kind != COUNTER_IS_LEVEL) {
			bool less = r->value[i] < port->value[i];

			ret_counters->delta[i] =
				less ? r->value[i] : r->value[i] - port->value[i];
			cleared |= less ? bit : 0;
		}
		port->value[i] = r->value[i];
		port->saturated = (port->saturated & ~bit) | (r->saturated & bit);
		port->known |= bit;
	}
	memcpy(ret_counters->value, port->value, sizeof(ret_counters->value));
	ret_counters->known = port->known;
	ret_counters->saturated = port->saturated;
	return cleared;
}

static void keep_reading(struct perf *p, struct counted_port *port, const struct counter_reading *r,
                         uint64_t now)
{
	struct port_counters c = { .node_guid = port->guid, .port = port->num };

	if (r->known == 0) {
		return;
	}
	c.time_s = p->wall_clock != NULL ? p->wall_clock() : 0;
	c.interval_ms = port->at_ms != 0 ? (uint32_t)(now - port->at_ms) : 0;
	uint32_t cleared = perf_rise(port, r, &c);

	port->at_ms = now;
	p->n_read++;
	if (p->stats != NULL) {
		(void)stats_counters(p->stats, &c); /* without memory there is no row */
	}
	if (c.interval_ms > 0) {
		perf_alarms_watch(&p->alarms, &c, &port->alarm);
		perf_health_take(p, port, &c, cleared);
	}
}

static void end_work(struct perf *p, uint32_t i)
{
	struct work *w = &p->work[i];
	struct agent *a = &p->agents[w->agent];
	uint64_t now = now_ms(p);

	a->summed = w->summed && !w->failed;
	a->digest = w->digest;
	for (uint32_t k = 0; k < a->n; k++) {
		keep_reading(p, &p->ports[a->first + k], &w->reading[k], now);
	}
	free(w->reading);
	*w = (struct work){ .agent = UINT32_MAX };
	p->n_work--;
}

/* --- requests ----------------------------------------------------------------------------- */

static void send_request(struct perf *p, struct mad_request *r)
{
	const struct work *w = r->job;
	const struct agent *a = &p->agents[w->agent];

	r->addr = (struct mad_addr){ .sl = a->sl,
		                     .pkey_index = p->pkey_index,
		                     .lid = a->lid,
		                     .qpn = a->qpn,
		                     .qkey = a->qkey };
	r->lmc = a->lmc;
	p->counters.sent++;
	(void)request_send(p->requests, r, now_ms(p));
}

void perf_ask(struct perf *p, struct work *w, struct mad_request *r, uint32_t part)
{
	r->job = w;
	r->part = part;
	w->in_flight++;
	p->budget -= 1;
	send_request(p, r);
}

/* \param port  Of the agent; 0 where it is asked for something else. */
static void request(struct perf *p, struct work *w, uint16_t attr, uint8_t select,
                    uint32_t port)
{
	struct mad_request *r =
		request_begin(p->requests, UMAD_CLASS_PERF_MGMT, PERF_CLASS_VERSION,
	                      UMAD_METHOD_GET, attr, 0);

	if (r == NULL) { /* no memory */
		w->failed = true;
		return;
	}
	if (attr != UMAD_ATTR_CLASS_PORT_INFO) {
		field_set(r->mad + PERF_DATA_AT, PC_PORT_SELECT, select);
	}
	perf_ask(p, w, r, port);
}

static void end_request(struct perf *p, struct mad_request *r)
{
	struct work *w = r->job;

	request_end(p->requests, r);
	w->in_flight--;
}

/* The attributes to read of a port, one after the other. \return 0: no further one. */
static uint16_t next_part(const struct perf *p, struct work *w)
{
	const struct agent *a = &p->agents[w->agent];
	const struct counted_port *port = &p->ports[a->first + w->port];
	bool wide = a->caps.wide && !a->no_wide;

	switch (w->part++) {
	case 0:
		if (wide) {
			return PERF_PORT_COUNTERS_EXT;
		}
		w->part++;
		return PERF_PORT_COUNTERS;
	case 1:
		if (!a->caps.wide_errors && (w->errors || port->at_ms == 0)) {
			return PERF_PORT_COUNTERS;
		}
		w->part++; /* fall through */
	case 2:
		if (port->fast && !a->no_speeds) {
			return PERF_PORT_EXT_SPEEDS;
		}
		break;
	default: break;
	}
	return 0;
}

/* Sends the next request of an agent. \return false: it waits for answers, or is done. */
static bool step(struct perf *p, uint32_t i)
{
	struct work *w = &p->work[i];
	struct agent *a = &p->agents[w->agent];

	if (w->failed || w->in_flight >= PER_AGENT) {
		return false;
	}
	if (p->omni_path) {
		return perf_opa_step(p, w);
	}
	if (w->step == STEP_CAPS) {
		if (!a->asked && !w->asked && p->ask_caps) {
			w->asked = true;
			request(p, w, UMAD_ATTR_CLASS_PORT_INFO, 0, 0);
			return true;
		}
		if (w->in_flight > 0) {
			return false;
		}
		w->step = STEP_SUM;
		w->asked = false;
	}
	if (w->step == STEP_SUM) {
		if (a->is_switch && a->caps.all_ports && !a->caps.wide_errors && !w->asked) {
			w->asked = true;
			request(p, w, PERF_PORT_COUNTERS, PERF_ALL_PORTS, 0);
			return true;
		}
		if (w->in_flight > 0) {
			return false;
		}
		w->step = STEP_PORTS;
	}
	while (w->port < a->n) {
		uint32_t port = w->port;
		uint16_t attr = next_part(p, w);

		if (attr != 0) {
			request(p, w, attr, p->ports[a->first + port].num, port);
			return true;
		}
		w->port++;
		w->part = 0;
	}
	return false;
}

static bool is_done(const struct perf *p, const struct work *w)
{
	return w->in_flight == 0 &&
	       (w->failed ||
	        (w->step == STEP_PORTS && w->port == p->agents[w->agent].n));
}

/* --- the sweep ---------------------------------------------------------------------------- */

static void begin_sweep(struct perf *p, uint64_t now)
{
	p->sweeping = true;
	p->next_agent = 0;
	p->n_read = 0;
	p->began_ms = p->paced_ms = now;
	p->next_ms = now + p->interval_ms;
	p->budget = 0;
	/* three attributes of each port at most, in half of the interval */
	p->per_ms = (3.0 * p->n_ports + 2.0 * p->n_agents) / (p->interval_ms / 2.0);
}

static void end_sweep(struct perf *p, uint64_t now)
{
	memset(p->in_state, 0, sizeof(p->in_state));
	for (uint32_t i = 0; i < p->n_ports; i++) {
		p->in_state[p->ports[i].health.state]++;
	}
	p->sweeping = false;
	p->counters.sweeps++;
	p->counters.read = p->n_read;
	p->counters.duration_ms = (uint32_t)(now - p->began_ms);
}

/* Takes the next agent to work. \return false: all places are taken, or there is none left. */
static bool begin_work(struct perf *p)
{
	uint32_t i = 0;

	if (p->n_work == AGENTS_AT_WORK || p->next_agent == p->n_agents) {
		return false;
	}
	while (p->work[i].agent != UINT32_MAX) {
		i++;
	}
	struct agent *a = &p->agents[p->next_agent];
	struct counter_reading *r = calloc(a->n, sizeof(*r));

	if (r == NULL) {
		p->next_agent++; /* read in the next sweep */
		return true;
	}
	p->work[i] = (struct work){ .agent = p->next_agent++, .errors = true, .reading = r };
	p->n_work++;
	return true;
}

/* Works on all agents in turn until nothing more can be sent. */
static void send_due(struct perf *p)
{
	bool sent = true;

	while (sent) {
		sent = false;
		while (begin_work(p)) {
		}
		for (uint32_t i = 0; i < AGENTS_AT_WORK; i++) {
			if (p->work[i].agent == UINT32_MAX) {
				continue;
			}
			if (p->budget >= 1 && requests_have_room(p->requests)) {
				sent |= step(p, i);
			}
			if (is_done(p, &p->work[i])) {
				end_work(p, i);
				sent = true; /* there is a place for another */
			}
		}
	}
}

static void repeat(void *ctx, struct mad_request *r)
{
	struct perf *p = ctx;
	struct work *w = r->job;

	p->counters.timeouts++;
	if (r->tries <= p->retries) {
		send_request(p, r);
	} else {
		w->failed = true;
		end_request(p, r);
	}
}

void perf_run(struct perf *p, bool may_send)
{
	uint64_t now = now_ms(p);

	if (requests_first(p->requests) != NULL && now >= p->check_ms) {
		p->check_ms = now + TICK_MS;
		requests_run(p->requests, now);
	}
	if (!may_send) {
		p->paced_ms = now;
		return;
	}
	if (!p->sweeping && p->n_agents > 0 && now >= p->next_ms) {
		begin_sweep(p, now);
	}
	if (!p->sweeping) {
		return;
	}
	/* what was not sent in time is not made up for in a burst */
	double most = p->per_ms * TICK_MS * 2 > 1 ? p->per_ms * TICK_MS * 2 : 1;

	p->budget += p->per_ms * (double)(now - p->paced_ms);
	p->budget = p->budget < most ? p->budget : most;
	p->paced_ms = now;
	send_due(p);
	if (p->n_work == 0 && p->next_agent == p->n_agents) {
		end_sweep(p, now);
	}
}

uint64_t perf_deadline(const struct perf *p, bool may_send)
{
	uint64_t at = requests_first(p->requests) != NULL ? p->check_ms : UINT64_MAX;

	if (may_send && !p->sweeping && p->n_agents > 0 && p->next_ms < at) {
		at = p->next_ms;
	}
	if (may_send && p->sweeping && requests_have_room(p->requests)) {
		uint64_t wait = p->per_ms * TICK_MS >= 1 ? TICK_MS : (uint64_t)(1 / p->per_ms) + 1;

		at = p->paced_ms + wait < at ? p->paced_ms + wait : at;
	}
	return at;
}

/* --- answers ------------------------------------------------------------------------------ */

/* The agent sends us elsewhere, once. \return Is it to be asked there? */
static bool follow(const struct perf *p, struct agent *a, const uint8_t *data)
{
	uint32_t lid = (uint32_t)field_get(data, CPI_REDIRECT_LID);

	if (!p->redirect || a->redirected || lid == 0) {
		return false;
	}
	a->redirected = true;
	a->lid = lid;
	a->lmc = 0;
	a->sl = (uint8_t)field_get(data, CPI_REDIRECT_SL);
	a->qpn = (uint32_t)field_get(data, CPI_REDIRECT_QP);
	a->qkey = (uint32_t)field_get(data, CPI_REDIRECT_Q_KEY);
	return true;
}

static void take_sum(const struct agent *a, struct work *w, const uint8_t *data)
{
	bool full;
	uint64_t digest = counter_fields_error_digest(data, &full);

	w->summed = !full;
	w->digest = digest;
	w->errors = !a->summed || full || digest != a->digest;
}

static void take_answer(void *ctx, struct mad_request *r, const struct mad_msg *m)
{
	struct perf *p = ctx;
	struct work *w = r->job;
	struct agent *a = &p->agents[w->agent];
	const uint8_t *data = m->data + PERF_DATA_AT;
	uint16_t status = (uint16_t)field_get(m->data, MAD_STATUS);
	uint16_t attr = (uint16_t)field_get(r->mad, MAD_ATTR_ID);
	uint8_t select = (uint8_t)field_get(r->mad + PERF_DATA_AT, PC_PORT_SELECT);

	end_request(p, r);
	if (p->omni_path) {
		perf_opa_answer(p, w, r, m);
	} else if ((status & STATUS_REDIRECT) != 0 && follow(p, a, data)) {
		request(p, w, attr, select, r->part);
	} else if (attr == UMAD_ATTR_CLASS_PORT_INFO) {
		a->asked = true;
		a->caps = status == 0 ? perf_caps(data) : a->caps;
	} else if (status != 0) {
		a->no_wide |= attr == PERF_PORT_COUNTERS_EXT;
		a->no_speeds |= attr == PERF_PORT_EXT_SPEEDS;
	} else if (select == PERF_ALL_PORTS) {
		take_sum(a, w, data);
	} else if (field_get(data, PC_PORT_SELECT) == select) {
		counter_fields_take(&a->caps, attr, data, &w->reading[r->part]);
	}
}

static const struct request_client client = {
	.mgmt_class = UMAD_CLASS_PERF_MGMT,
	.slot_bits = 9,
	.mad_bytes = MAD_BYTES,
	.answer_bytes = MAD_BYTES,
	.answered = take_answer,
	.unanswered = repeat,
};

enum mad_kind perf_receive(struct perf *p, const struct mad_msg *m)
{
	size_t least = p != NULL && p->omni_path ? ANSWER_BYTES_OPA : MAD_BYTES;

	if (m->mgmt_class != UMAD_CLASS_PERF_MGMT) {
		return MAD_OTHER;
	}
	if (p == NULL ||
	    (m->status == 0 && (m->len < least || field_get(m->data, MAD_METHOD) !=
	                                                  UMAD_METHOD_GET_RESP))) {
		return MAD_ANSWER;
	}
	enum mad_kind kind = requests_receive(p->requests, m);

	p->counters.forged += kind == MAD_FORGED;
	return kind;
}

bool perf_next_alarm(struct perf *p, struct perf_alarm *ret_alarm)
{
	return p != NULL && perf_alarms_next(&p->alarms, ret_alarm);
}

const struct perf_counters *perf_counters(const struct perf *p)
{
	return &p->counters;
}

void perf_figures(const struct perf *p, struct stats *to)
{
	if (p == NULL || to == NULL) {
		return;
	}
	stats_set(to, "mad_sent_total{class=\"perf\"}", (double)p->counters.sent);
	stats_set(to, "perf_timeouts_total", (double)p->counters.timeouts);
	stats_set(to, "perf_sweeps_total", (double)p->counters.sweeps);
	stats_set(to, "perf_ports", p->counters.ports);
	stats_set(to, "perf_ports_read", p->counters.read);
	stats_set(to, "perf_sweep_duration_seconds", p->counters.duration_ms / 1000.0);
	stats_set(to, "perf_lost_alarms_total", (double)p->alarms.lost);
	for (unsigned i = LINK_SUSPECT; p->judges && i < LINK_STATES; i++) {
		char name[STATS_NAME_MAX];

		snprintf(name, sizeof(name), "link_health_ports{state=\"%s\"}",
		         link_state_names[i]);
		stats_set(to, name, p->in_state[i]);
	}
}

/* --- the fabric ------------------------------------------------------------------------- */

static void drop_work(struct perf *p)
{
	for (uint32_t i = 0; i < AGENTS_AT_WORK; i++) {
		if (p->work[i].agent != UINT32_MAX) {
			free(p->work[i].reading);
		}
		p->work[i] = (struct work){ .agent = UINT32_MAX };
	}
	struct mad_request *r;

	while ((r = requests_first(p->requests)) != NULL) {
		request_end(p->requests, r);
	}
	p->n_work = 0;
}

/* Is the port to be read? Those of a switch by its LID, another by its own. */
static bool is_read(const struct perf *p, const struct graph *g, const struct lids *l,
                    uint32_t port)
{
	const struct node *n = &g->nodes[g->ports[port].node];
	bool is_switch = n->type == NODE_SWITCH;

	return g->ports[port].num != 0 && g->ports[port].peer != GRAPH_NONE &&
	       (is_switch || !p->ignore_cas) &&
	       l->of[is_switch ? n->first_port : port].base != 0;
}

/* The SL of the path from the SM's port. */
static uint8_t sl_to(const struct graph *g, const struct lanes *lanes, uint32_t lid)
{
	uint32_t near = g->sm_port;

	if (lanes->rows == NULL || near == GRAPH_NONE) {
		return 0;
	}
	if (g->nodes[g->ports[near].node].sw == GRAPH_NONE) {
		near = g->ports[near].peer;
	}
	uint32_t sw = near != GRAPH_NONE ? g->nodes[g->ports[near].node].sw : GRAPH_NONE;
	uint8_t lane = sw != GRAPH_NONE ? lane_of(lanes, sw, lid) : 0;

	return lane < 16 ? lane : 0;
}

static int compare_ports(const struct counted_port *a, const struct counted_port *b)
{
	return a->guid != b->guid ? (a->guid < b->guid ? -1 : 1) : a->num - b->num;
}

/* Moves what was known of each port and agent to the new arrays, both in the order of GUIDs. */
static void take_over(struct perf *p, struct counted_port *ports, uint32_t n_ports, struct agent *agents,
                      uint32_t n_agents)
{
	int64_t now_s = p->wall_clock != NULL ? p->wall_clock() : 0;
	uint32_t k = 0;

	for (uint32_t i = 0; i < p->n_ports; i++) {
		const struct counted_port *old = &p->ports[i];

		while (k < n_ports && compare_ports(&ports[k], old) < 0) {
			perf_health_return(p, &ports[k++], now_s);
		}
		if (k < n_ports && compare_ports(&ports[k], old) == 0) {
			const struct counted_port now = ports[k];

			ports[k] = *old;
			ports[k].fast = now.fast;
			ports[k].health = now.health;
			perf_health_go_on(&ports[k], old, now_s);
			k++;
			continue;
		}
		perf_health_leave(p, old);
		if (p->forget && p->stats != NULL) {
			(void)stats_counters_gone(p->stats, old->guid, old->num);
		}
	}
	while (k < n_ports) {
		perf_health_return(p, &ports[k++], now_s);
	}
	k = 0;
	for (uint32_t i = 0; i < n_agents; i++) {
		struct agent *a = &agents[i];

		while (k < p->n_agents && (p->agents[k].guid < a->guid ||
		                           (p->agents[k].guid == a->guid &&
		                            p->agents[k].lid < a->lid))) {
			k++;
		}
		if (k < p->n_agents && p->agents[k].guid == a->guid && p->agents[k].lid == a->lid) {
			a->caps = p->agents[k].caps;
			a->asked = p->agents[k].asked;
			a->no_wide = p->agents[k].no_wide;
			a->no_speeds = p->agents[k].no_speeds;
			a->no_groups = p->agents[k].no_groups;
		}
	}
}

/* Where a sweep goes on: behind the agents that it has finished with. */
static uint64_t place_of_sweep(const struct perf *p)
{
	uint64_t guid = p->next_agent < p->n_agents ? p->agents[p->next_agent].guid : UINT64_MAX;

	for (uint32_t i = 0; i < AGENTS_AT_WORK; i++) {
		if (p->work[i].agent != UINT32_MAX && p->agents[p->work[i].agent].guid < guid) {
			guid = p->agents[p->work[i].agent].guid;
		}
	}
	return guid;
}

/* The link at a port by the fabric. */
static struct link_health health_of(const struct graph *g, uint32_t i, bool omni_path)
{
	const struct port *port = &g->ports[i], *peer = &g->ports[port->peer];
	bool fec = omni_path || port->speed >= SPEED_HDR;

	return (struct link_health){
		.peer_guid = g->nodes[peer->node].guid,
		.peer_port = peer->num,
		.gbps = (float)rate_speed(link_rate(port->width, port->speed)) / 10,
		.flags = (uint8_t)((fec ? LINK_HAS_FEC : 0) |
		                   (g->nodes[port->node].type == NODE_SWITCH ? LINK_OF_SWITCH : 0)),
	};
}

int perf_fabric(struct perf *p, const struct graph *g, const struct lids *l,
                const struct lanes *lanes, bool omni_path, uint16_t pkey_index)
{
	struct counted_port *ports = calloc(g->n_ports + 1, sizeof(*ports));
	struct agent *agents = calloc(g->n_ports + 1, sizeof(*agents));
	uint32_t n_ports = 0, n_agents = 0;

	if (ports == NULL || agents == NULL) {
		free(ports);
		free(agents);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct node *n = &g->nodes[g->ports[i].node];
		bool is_switch = n->type == NODE_SWITCH;
		struct agent *a = n_agents > 0 ? &agents[n_agents - 1] : NULL;

		if (!is_read(p, g, l, i)) {
			continue;
		}
		if (a == NULL || a->guid != n->guid || !is_switch) {
			a = &agents[n_agents++];
			a->guid = n->guid;
			a->first = n_ports;
			a->lid = l->of[is_switch ? n->first_port : i].base;
			a->lmc = l->of[is_switch ? n->first_port : i].lmc;
			a->qpn = 1;
			a->qkey = UMAD_QKEY;
			a->sl = sl_to(g, lanes, a->lid);
			a->is_switch = is_switch;
			/* until its ClassPortInfo is known: what every agent has */
			a->caps = (struct perf_caps){ .wide = !p->ask_caps, .wait = true };
		}
		a->n++;
		ports[n_ports++] = (struct counted_port){
			.guid = n->guid,
			.num = g->ports[i].num,
			.fast = g->ports[i].speed >= SPEED_FDR,
			.health = health_of(g, i, omni_path),
		};
	}
	uint64_t place = place_of_sweep(p);

	drop_work(p);
	take_over(p, ports, n_ports, agents, n_agents);
	free(p->ports);
	free(p->agents);
	p->ports = ports;
	p->agents = agents;
	p->n_ports = p->counters.ports = n_ports;
	p->n_agents = n_agents;
	p->omni_path = omni_path;
	p->pkey_index = pkey_index;
	p->next_agent = 0;
	while (p->next_agent < n_agents && agents[p->next_agent].guid < place) {
		p->next_agent++;
	}
	return E_OK;
}

/* --- life --------------------------------------------------------------------------------- */

int perf_new(struct transport *t, struct stats *stats, const struct config *config,
             int64_t (*wall_clock)(void), struct perf **ret_perf)
{
	struct perf *p = calloc(1, sizeof(*p));

	if (p == NULL || requests_new(t, &client, p, &p->requests) != E_OK) {
		free(p);
		return -ENOMEM;
	}
	p->transport = t;
	p->stats = stats;
	p->wall_clock = wall_clock;
	p->interval_ms = config->perfmgr_sweep_time_s * 1000;
	p->retries = config->transaction_retries;
	requests_set_limits(p->requests, config->perfmgr_max_outstanding_queries,
	                    config->transaction_timeout);
	p->ignore_cas = config->perfmgr_ignore_cas;
	p->forget = config->perfmgr_rm_nodes;
	p->redirect = config->perfmgr_redir;
	p->ask_caps = config->perfmgr_query_cpi;
	p->judges = config->link_health != LINK_HEALTH_OFF;
	p->rules = (struct link_rules){ .incident_s = config->link_health_incident,
		                        .calm_s = config->link_health_calm };
	p->alarms.wait_limit =
		config->perfmgr_xmit_wait_log ? config->perfmgr_xmit_wait_threshold : UINT64_MAX;
	p->alarms.quality_limit =
		config->perfmgr_log_errors ? config->perfmgr_link_quality : 0;
	p->alarms.error_limit =
		config->perfmgr_log_errors ? config->perfmgr_alarm_errors : UINT64_MAX;
	drop_work(p);
	if (stats != NULL) {
		stats_counters_history(stats, config->perfmgr_history);
	}
	if (p->judges) {
		perf_health_load(p);
	}
	*ret_perf = p;
	return E_OK;
}

void perf_free(struct perf *p)
{
	if (p == NULL) {
		return;
	}
	drop_work(p);
	free(p->ports);
	free(p->agents);
	free(p->kept.rows);
	free(p->series);
	requests_free(p->requests);
	free(p);
}
