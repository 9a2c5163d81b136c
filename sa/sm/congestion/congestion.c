/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A pass goes over the ports of the graph. Each has parts: a switch one setting, a port of a channel adapter
 * its setting and the blocks of the control table. A part whose table does not hold the image is sent. The
 * job of a request is its table, which stays as long as the sweep; its part is the block.
 *
 * What is known of a port that does not answer is one number: how many passes had no answer, and
 * the last pass that had none, so that several requests of a pass count once.
 */
#include "sa/sm/congestion/congestion.h"

#include <errno.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/config.h"
#include "db/stats/stats.h"
#include "routing/graph/graph.h"
#include "sa/sm/sm.h"

enum {
	ALONE_AFTER = 3, /* passes without an answer */
	REFUSED = 3,     /* in their place */
	CARE_BITS = 8,   /* of that number; above: the pass */
	SLOT_BITS = 9,
	DEFAULT_INTERVAL_MS = 10000,
	REFUSAL = 0x1C, /* of the status: class version, method, attribute or a value is not supported */
	NOTICE_BYTES = 64
};

static const char *const source = "congestion";

static const struct config *config_of(const struct congestion *c)
{
	return c->sm->d.config;
}

/* --- ports that do not answer ----------------------------------------------------------- */

static uint32_t care_of(const struct congestion *c, uint64_t guid)
{
	uint32_t v = hash_get(&c->cares, guid);

	return v != HASH_NONE ? v : 0;
}

static unsigned silences(uint32_t care)
{
	return care & ((1U << CARE_BITS) - 1);
}

/* Is the port to be passed over, in this pass or in all? */
static bool is_alone(const struct congestion *c, uint64_t guid)
{
	uint32_t care = care_of(c, guid);

	return silences(care) >= ALONE_AFTER ||
	       (care != 0 && care >> CARE_BITS == (c->pass & (UINT32_MAX >> CARE_BITS)));
}

static void set_care(struct congestion *c, uint64_t guid, unsigned n)
{
	uint32_t care = n != 0 ? c->pass << CARE_BITS | n : 0;

	if (care != 0 || care_of(c, guid) != 0) {
		(void)hash_put(&c->cares, guid, care); /* without memory it is asked again */
	}
}

/* --- tables ----------------------------------------------------------------------------- */

/* The end port of a table. \return GRAPH_NONE: it is not there now. */
static uint32_t port_of(const struct congestion *c, const struct table *t)
{
	const struct job *j = sm_known_job(c->sm);
	const struct graph *g = j != NULL ? j->disc.g : NULL;
	uint32_t node = g != NULL ? graph_node_by_guid(g, t->guid) : GRAPH_NONE;

	return node != GRAPH_NONE ? graph_port(g, node, (uint8_t)t->unit) : GRAPH_NONE;
}

/* How many parts a port has, if it answers; 0: none that can be set. */
static uint32_t parts_of(const struct congestion *c, uint32_t port)
{
	const struct job *j = c->sm->job;
	const struct graph *g = j->disc.g;
	const struct port *p = &g->ports[port];
	enum node_type type = g->nodes[p->node].type;

	if (j->program.lids->of[port].base == 0) {
		return 0;
	}
	if (type == NODE_SWITCH) {
		return p->num == 0;
	}
	return type == NODE_CA && p->num != 0 && p->peer != GRAPH_NONE ? 1 + c->image.n_blocks : 0;
}

/* Table, block and image of a part. \return NULL: no memory. */
static struct table *table_of(struct congestion *c, uint32_t port, uint32_t part,
                              uint32_t *ret_block, const uint8_t **ret_image)
{
	const struct graph *g = c->sm->job->disc.g;
	const struct port *p = &g->ports[port];
	uint64_t guid = g->nodes[p->node].guid;
	struct table_store *s = &c->sm->tables;

	*ret_block = 0;
	if (p->num == 0) {
		*ret_image = c->image.on_switch;
		return table_get(s, TABLE_CC_SWITCH, guid, 0, 1, 1);
	}
	if (part == 0) {
		*ret_image = c->image.on_ca;
		return table_get(s, TABLE_CC_CA, guid, p->num, 1, 1);
	}
	*ret_block = part - 1;
	*ret_image = c->image.table[part - 1];
	return table_get(s, TABLE_CC_TABLE, guid, p->num, 1, c->image.n_blocks);
}

/* Forgets what a port holds, and that it did not answer. */
static void forget_port(struct congestion *c, const struct graph *g, uint32_t port)
{
	static const enum table_kind_id kinds[] = { TABLE_CC_SWITCH, TABLE_CC_CA, TABLE_CC_TABLE };
	const struct port *p = &g->ports[port];

	for (unsigned k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		table_forget(table_find(&c->sm->tables, kinds[k], g->nodes[p->node].guid, p->num));
	}
	set_care(c, p->guid, 0);
}

void congestion_forget(struct congestion *c, const struct job *j)
{
	const struct graph *g = j->disc.g;

	for (uint32_t i = 0; c->requests != NULL && i < g->n_end_ports; i++) {
		const struct disc_port *p = disc_port_of(&j->disc, g->end_ports[i]);
		bool restarted = g->ports[g->end_ports[i]].num == 0
		                         ? disc_lid(p) == 0
		                         : p->has_info && field_get(p->info, PI_PORT_STATE) <
		                                                  PORT_ARMED;

		if (restarted || j->read_tables) {
			forget_port(c, g, g->end_ports[i]);
		}
	}
}

/* --- requests --------------------------------------------------------------------------- */

static void send_request(struct congestion *c, struct mad_request *r)
{
	c->counters.sent++;
	(void)request_send(c->requests, r, sm_now(c->sm));
}

/* Sets a block. \return false: no room or no memory; the pass goes on later. */
static bool set_block(struct congestion *c, uint32_t port, struct table *t, uint32_t block,
                      const uint8_t *image)
{
	const struct lid_range *lids = &c->sm->job->program.lids->of[port];
	struct mad_request *r = request_begin(c->requests, CC_CLASS, CC_CLASS_VERSION,
	                                      UMAD_METHOD_SET, table_kinds[t->kind].attr,
	                                      block);

	if (r == NULL) {
		return false;
	}
	field_set(r->mad, CC_MAD_KEY, config_of(c)->congestion.key);
	memcpy(r->mad + CC_DATA_AT, image, table_kinds[t->kind].bytes);
	r->job = t;
	r->part = block;
	r->addr = (struct mad_addr){ .lid = lids->base, .qpn = 1, .qkey = UMAD_QKEY };
	r->lmc = lids->lmc;
	table_begin_set(&c->io, t, block);
	c->in_flight++;
	send_request(c, r);
	return true;
}

/* The answer, or that there is none, goes into the copy. \param data  NULL: there is none, or a bad one. */
static void take_outcome(struct congestion *c, struct mad_request *r, const uint8_t *data)
{
	struct table *t = r->job;
	struct smp_reply reply = { .ret = data != NULL ? E_OK : E_TIMEOUT,
		                   .method = UMAD_METHOD_SET,
		                   .data = data,
		                   .repeated = r->tries > 1 };
	uint32_t port = port_of(c, t);

	request_end(c->requests, r);
	c->in_flight--;
	if (port != GRAPH_NONE) {
		const struct disc *d = &sm_known_job(c->sm)->disc;

		table_take(&c->sm->tables, d->of[d->g->ports[port].node], t, r->part, &reply);
	}
}

static void handle_answer(void *ctx, struct mad_request *r, const struct mad_msg *m)
{
	struct congestion *c = ctx;
	unsigned status = (unsigned)field_get(m->data, MAD_STATUS);
	uint32_t port = port_of(c, r->job);

	if (port != GRAPH_NONE) {
		set_care(c, sm_known_job(c->sm)->disc.g->ports[port].guid,
		         (status & REFUSAL) != 0 ? REFUSED : 0);
	}
	take_outcome(c, r, status == 0 ? m->data + CC_DATA_AT : NULL);
}

static void handle_silence(void *ctx, struct mad_request *r)
{
	struct congestion *c = ctx;
	uint32_t port = port_of(c, r->job);

	c->counters.timeouts++;
	if (r->tries <= config_of(c)->transaction_retries) {
		send_request(c, r);
		return;
	}
	if (port != GRAPH_NONE) {
		uint64_t guid = sm_known_job(c->sm)->disc.g->ports[port].guid;

		if (!is_alone(c, guid)) { /* the first request of this pass */
			set_care(c, guid, silences(care_of(c, guid)) + 1);
		}
	}
	take_outcome(c, r, NULL);
}

static const struct request_client client = {
	.mgmt_class = CC_CLASS,
	.slot_bits = SLOT_BITS,
	.mad_bytes = MAD_BYTES,
	.answer_bytes = MAD_BYTES,
	.answered = handle_answer,
	.unanswered = handle_silence,
};

/* A trap says that a port met a wrong key. It repeats until it is answered. */
static void answer_trap(struct congestion *c, const struct mad_msg *m)
{
	uint8_t mad[MAD_BYTES];
	struct mad_msg reply = { .mgmt_class = CC_CLASS,
		                 .addr = m->addr,
		                 .len = sizeof(mad),
		                 .data = mad };

	c->counters.traps++;
	memcpy(mad, m->data, sizeof(mad));
	field_set(mad, MAD_METHOD, UMAD_METHOD_TRAP_REPRESS);
	field_set(mad, MAD_STATUS, 0);
	field_set(mad, CC_MAD_KEY, config_of(c)->congestion.key);
	(void)transport_send(c->sm->d.transport, &reply); /* else the trap comes again */
}

enum mad_kind congestion_receive(struct congestion *c, const struct mad_msg *m)
{
	unsigned method;
	enum mad_kind kind;

	if (m->mgmt_class != CC_CLASS) {
		return MAD_OTHER;
	}
	if (c->requests == NULL || (m->status == 0 && m->len < MAD_BYTES)) {
		return MAD_ANSWER;
	}
	method = m->status == 0 ? (unsigned)field_get(m->data, MAD_METHOD) : UMAD_METHOD_GET_RESP;
	if (method == UMAD_METHOD_TRAP) {
		answer_trap(c, m);
	}
	if (method != UMAD_METHOD_GET_RESP) {
		return MAD_ANSWER;
	}
	kind = requests_receive(c->requests, m);
	c->counters.forged += kind == MAD_FORGED;
	return kind;
}

/* --- passes ----------------------------------------------------------------------------- */

static uint32_t n_swept(const struct congestion *c)
{
	const struct sweep_status *st = &c->sm->status;

	return (uint32_t)(st->heavy_sweeps + st->local_sweeps);
}

static void begin_pass(struct congestion *c)
{
	c->passing = true;
	c->pass++;
	c->swept = n_swept(c);
	c->port = c->part = 0;
	c->next_ms = UINT64_MAX;
}

static void count_port(struct congestion *c, uint32_t port)
{
	struct congestion_counters *n = &c->counters;
	uint32_t block, parts = parts_of(c, port);
	const uint8_t *image;
	bool holds = true;

	for (uint32_t i = 0; i < parts; i++) {
		const struct table *t = table_of(c, port, i, &block, &image);

		holds &= t != NULL && table_holds(t, block, image);
	}
	if (parts != 0 && holds) {
		n->set++;
	} else if (parts != 0) {
		uint32_t care = care_of(c, c->sm->job->disc.g->ports[port].guid);

		n->alone += silences(care) >= ALONE_AFTER;
		n->waiting += silences(care) < ALONE_AFTER;
	}
}

static void end_pass(struct congestion *c)
{
	struct congestion_counters *n = &c->counters;
	uint32_t set = n->set, alone = n->alone, interval = config_of(c)->sweep_interval * 1000;

	n->set = n->waiting = n->alone = 0;
	for (uint32_t i = 0; i < c->sm->job->disc.g->n_ports; i++) {
		count_port(c, i);
	}
	c->passing = false;
	if (n->waiting != 0) {
		c->next_ms = sm_now(c->sm) + (interval != 0 ? interval : DEFAULT_INTERVAL_MS);
	}
	if (n->set != set || n->alone != alone) {
		log_info(source,
		         "congestion control is set at %u ports; %u have no agent that takes it, and %u are asked again",
		         n->set, n->alone, n->waiting);
	}
}

/* Sends the parts that differ until the window is full. */
static void send_due(struct congestion *c)
{
	const struct graph *g = c->sm->job->disc.g;

	while (c->port < g->n_ports && requests_have_room(c->requests)) {
		const uint8_t *image;
		uint32_t block;

		if (c->part >= parts_of(c, c->port) || is_alone(c, g->ports[c->port].guid)) {
			c->port++;
			c->part = 0;
			continue;
		}
		struct table *t = table_of(c, c->port, c->part, &block, &image);

		if (t != NULL && !table_holds(t, block, image) &&
		    !set_block(c, c->port, t, block, image)) {
			return;
		}
		c->part++;
	}
}

void congestion_run(struct congestion *c, bool may_send)
{
	uint64_t now = sm_now(c->sm);

	if (c->requests == NULL) {
		return;
	}
	requests_run(c->requests, now);
	if (!may_send || smp_is_omni_path(c->sm->smp)) {
		return;
	}
	if (c->swept != n_swept(c) || now >= c->next_ms) {
		begin_pass(c);
	}
	if (c->passing) {
		send_due(c);
		if (c->port >= c->sm->job->disc.g->n_ports && c->in_flight == 0) {
			end_pass(c);
		}
	}
}

uint64_t congestion_deadline(const struct congestion *c, bool may_send)
{
	uint64_t at = c->requests != NULL ? requests_deadline(c->requests, sm_now(c->sm))
	                                  : UINT64_MAX;

	return c->requests != NULL && may_send && c->next_ms < at ? c->next_ms : at;
}

/* --- life ------------------------------------------------------------------------------- */

int congestion_configure(struct congestion *c)
{
	const struct config *conf = config_of(c);
	const struct congestion_options *o = &conf->congestion;

	requests_free(c->requests);
	c->requests = NULL;
	c->passing = false;
	c->in_flight = 0;
	c->swept = 0;
	c->io.store = &c->sm->tables;
	c->next_ms = UINT64_MAX;
	hash_clear(&c->cares);
	c->counters.set = c->counters.waiting = c->counters.alone = 0;
	if (!o->on) {
		return E_OK;
	}
	congestion_image(o, &c->image);
	int ret = requests_new(c->sm->d.transport, &client, c, &c->requests);

	if (ret == E_OK) {
		requests_set_limits(c->requests, o->max_outstanding, conf->transaction_timeout);
	}
	return ret;
}

void congestion_figures(const struct congestion *c, struct stats *to)
{
	const struct congestion_counters *n = &c->counters;

	if (to == NULL || c->requests == NULL) {
		return;
	}
	stats_set(to, "mad_sent_total{class=\"congestion\"}", (double)n->sent);
	stats_set(to, "congestion_timeouts_total", (double)n->timeouts);
	stats_set(to, "congestion_traps_total", (double)n->traps);
	stats_set(to, "congestion_ports{state=\"set\"}", n->set);
	stats_set(to, "congestion_ports{state=\"waiting\"}", n->waiting);
	stats_set(to, "congestion_ports{state=\"unsupported\"}", n->alone);
}

void congestion_done(struct congestion *c)
{
	requests_free(c->requests);
	c->requests = NULL;
	hash_done(&c->cares);
}
