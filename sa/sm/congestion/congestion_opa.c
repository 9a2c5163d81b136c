/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A turn queues the requests of some nodes. A pass over all nodes follows each sweep, and one more where CongestionInfo
 * was read for the first time. A node that refuses a setting is asked again after the next sweep. The first two passes
 * of a subnet manager read what it does not know, so that one that was restarted sets nothing again; the third
 * sets what differs, and what did not answer.
 */
#include "sa/sm/congestion/congestion_opa.h"

#include <errno.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/sm.h"

enum {
	SLICE = 512, /* requests of a turn */
	READ_PASSES = 2, /* CongestionInfo says how many blocks there are to be read */
	MARKS_ALL = 0x15, /* of a switch count: victim mask, threshold and packet size, marking rate */
	MARKING_RATE_MOST = 255,
	HEAD_BYTES = 40, /* of a packet beside its MTU */
	MULTIPLIER_BITS = 14,
	SHIFT_MOST = 3,
	PORT_0 = 31 /* byte of a mask */
};

_Static_assert((int)CONGESTION_OPA_BLOCK == (int)OPA_BYTES_CONTROL_TABLE, "a block");

static const struct congestion_opa_options *options_of(const struct congestion_opa *c)
{
	return &c->sm->d.config->congestion.opa;
}

static bool serves(const struct congestion_opa *c)
{
	const struct sm *sm = c->sm;

	return sm->d.config->congestion.on && smp_is_omni_path(sm->smp) && sm->status.up &&
	       sm->status.master && sm->job != NULL && sm->job->program.lids != NULL &&
	       !sm->want_heavy && !sm->want_local;
}

/* --- what nodes are to hold -------------------------------------------------------------- */

static void encode_switch(const struct congestion_opa_options *o, const struct disc_node *n,
                          uint8_t *data)
{
	memset(data, 0, OPA_BYTES_SWITCH_CONGESTION);
	field_set(data, OPA_SCS_CONTROL_MAP, MARKS_ALL);
	for (unsigned p = 1; o->victims && p <= n->n_ports; p++) {
		data[OPA_SCS_VICTIM_MASK_AT + PORT_0 - p / 8] |= (uint8_t)(1U << p % 8);
	}
	field_set(data, OPA_SCS_THRESHOLD, o->threshold);
	field_set(data, OPA_SCS_PACKET_SIZE, o->packet_size);
	field_set(data, OPA_SCS_MARKING_RATE,
	          o->marking_rate < MARKING_RATE_MOST ? o->marking_rate : MARKING_RATE_MOST);
}

static void encode_hfi(const struct congestion_opa_options *o, uint8_t *data)
{
	memset(data, 0, OPA_BYTES_HFI_CONGESTION);
	field_set(data, OPA_HCS_CONTROL_MAP, UINT32_MAX);
	for (unsigned sl = 0; sl < OPA_LANES; sl++) {
		uint8_t *entry = data + OPA_HCS_ENTRIES_AT + (size_t)sl * OPA_HCS_ENTRY_BYTES;

		field_set(entry, OPA_HCE_INCREASE, o->increase);
		field_set(entry, OPA_HCE_TIMER, o->timer);
		field_set(entry, OPA_HCE_TRIGGER, o->trigger);
		field_set(entry, OPA_HCE_MIN, o->min);
	}
}

static uint32_t limit_of(const struct congestion_opa_options *o,
                         const struct congestion_opa_link *link)
{
	uint32_t most = link->cap * OPA_CCT_ENTRIES - 1;

	return o->limit < most ? o->limit : most;
}

uint32_t congestion_opa_blocks(const struct congestion_opa_options *o,
                               const struct congestion_opa_link *link)
{
	return link->cap != 0 ? limit_of(o, link) / OPA_CCT_ENTRIES + 1 : 0;
}

void congestion_opa_table(const struct congestion_opa_options *o,
                          const struct congestion_opa_link *link, uint32_t block,
                          uint8_t ret_data[CONGESTION_OPA_BLOCK])
{
	enum { MULTIPLIER_MOST = (1 << MULTIPLIER_BITS) - 1 };
	double packet_s = (double)(link->mtu_bytes + HEAD_BYTES) / (double)link->bytes_per_s;
	uint64_t most = (uint64_t)((double)((uint64_t)o->max_delay_ns << SHIFT_MOST) * 1e-9 /
	                           packet_s);
	uint32_t limit = limit_of(o, link), first = block * OPA_CCT_ENTRIES;
	unsigned shift = SHIFT_MOST;

	while (most > MULTIPLIER_MOST && shift > 0) {
		most >>= 1;
		shift--;
	}
	most = most < MULTIPLIER_MOST ? most : MULTIPLIER_MOST;
	memset(ret_data, 0, OPA_BYTES_CONTROL_TABLE);
	field_set(ret_data, OPA_CCT_LIMIT, limit);
	for (uint32_t i = first; i <= limit && i < first + OPA_CCT_ENTRIES; i++) {
		unsigned multiplier = (unsigned)(i * ((double)most / (double)limit));

		if (i > 0) {
			field_set(ret_data + OPA_CCT_ENTRIES_AT + (size_t)2 * (i - first),
			          OPA_CCT_ENTRY, shift << MULTIPLIER_BITS | multiplier);
		}
	}
}

/* \return false: the port says nothing of its link. */
static bool link_of(const uint8_t *info, const uint8_t *congestion_info,
                    struct congestion_opa_link *ret_link)
{
	enum { SPEED_12_5 = 1, LANE_25_BYTES = 3125000 /* per ms */, WIDTHS = 4, MS = 1000 };
	unsigned width = (unsigned)field_get(info, OPA_PI_LINK_WIDTH_ACTIVE), lanes = 0, mtu = 0;
	uint64_t rate = LANE_25_BYTES;

	for (unsigned i = 0; i < WIDTHS; i++) { /* a bit for each number of lanes */
		lanes = width & 1U << i ? i + 1 : lanes;
	}
	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		unsigned code = (unsigned)field_get(info, OPA_PI_NEIGHBOR_MTU(vl));

		mtu = opa_mtu_bytes(code) > mtu ? opa_mtu_bytes(code) : mtu;
	}
	if (field_get(info, OPA_PI_LINK_SPEED_ACTIVE) == SPEED_12_5) {
		rate /= 2;
	}
	*ret_link = (struct congestion_opa_link){
		.mtu_bytes = mtu,
		.bytes_per_s = lanes * rate * MS,
		.cap = (uint32_t)field_get(congestion_info, OPA_CI_CONTROL_TABLE_CAP)
	};
	return mtu != 0 && lanes != 0;
}

/* --- requests ---------------------------------------------------------------------------- */

/* Reads the settings of all ports of a switch, if one is unknown. \return 1, 0 if it is not needed, or -ENOMEM. */
static int read_ports(struct congestion_opa *c, struct disc_node *n)
{
	struct table *t = table_get_egress(&c->sm->tables, TABLE_OPA_CC_PORTS, n);
	const struct table_request q = {
		.io = &c->io, .node = n, .t = t, .n = n->n_ports + 1U
	};
	uint32_t known = 0;

	if (t == NULL) {
		return -ENOMEM;
	}
	while (known < table_size(t) && table_knows(t, known)) {
		known++;
	}
	if (known == table_size(t)) {
		return 0;
	}
	return table_ask(&q, NULL) == E_OK ? 1 : -ENOMEM;
}

/* A switch was set, and its ports may follow. Without memory they are read after the next sweep. */
static void reread_ports(struct congestion_opa *c, struct disc_node *n, bool is_set)
{
	table_forget(table_find(&c->sm->tables, TABLE_OPA_CC_PORTS, n->guid, 0));
	if (is_set) {
		(void)read_ports(c, n);
	}
}

static void on_answer(void *ctx, const struct table_request *q, const struct smp_reply *r)
{
	struct congestion_opa *c = ctx;

	c->changed |= r->ret == E_OK;
	c->read |= r->ret == E_OK && q->t->kind == TABLE_OPA_CC_INFO;
	if (q->t->kind == TABLE_OPA_CC_SWITCH && r->method == UMAD_METHOD_SET) {
		reread_ports(c, q->node, r->ret == E_OK);
	}
	if (r->ret == E_TIMEOUT) {
		smp_dest_revive(r->dest);
	}
}

/* Queues a Set of a block that does not hold \a image, or without one, and in the first passes, a Get of an unknown
 * block. \return 1, 0 if it
 * is not needed, or -ENOMEM. */
static int ask(struct congestion_opa *c, struct disc_node *n, struct table *t, uint32_t block,
               const uint8_t *image)
{
	struct table_request q = { .io = &c->io, .node = n, .t = t, .block = block };

	if (t == NULL) {
		return -ENOMEM;
	}
	if (image != NULL ? table_holds(t, block, image) : table_knows(t, block)) {
		return 0;
	}
	if (c->passes <= READ_PASSES && !table_knows(t, block)) {
		image = NULL;
	}
	return table_ask(&q, image) == E_OK ? 1 : -ENOMEM;
}

/* Ports are read when the switch holds its own setting. */
static int ask_switch(struct congestion_opa *c, struct disc_node *n)
{
	struct table_store *s = &c->sm->tables;
	struct table *info = table_get(s, TABLE_OPA_CC_INFO, n->guid, 0, 1, 1);
	struct table *setting = table_get(s, TABLE_OPA_CC_SWITCH, n->guid, 0, 1, 1);
	uint8_t image[OPA_BYTES_SWITCH_CONGESTION];
	int sum = ask(c, n, info, 0, NULL), ret;

	encode_switch(options_of(c), n, image);
	ret = sum >= 0 ? ask(c, n, setting, 0, image) : sum;
	ret = ret == 0 ? read_ports(c, n) : ret;
	return ret < 0 ? ret : sum + ret;
}

/* The tables of a port whose CongestionInfo is known. */
static int set_hfi(struct congestion_opa *c, struct disc_node *n, unsigned port,
                   const uint8_t *congestion_info)
{
	const struct congestion_opa_options *o = options_of(c);
	uint8_t image[OPA_BYTES_HFI_CONGESTION], block[OPA_BYTES_CONTROL_TABLE];
	struct congestion_opa_link link;
	struct table *t;
	int sum, ret;

	if (!link_of(n->ports[port].opa_info, congestion_info, &link) || link.cap == 0) {
		return 0;
	}
	encode_hfi(o, image);
	t = table_get(&c->sm->tables, TABLE_OPA_CC_HFI, n->guid, port, 1, 1);
	sum = ret = ask(c, n, t, 0, image);
	t = table_get(&c->sm->tables, TABLE_OPA_CC_TABLE, n->guid, port, 1,
	              congestion_opa_blocks(o, &link));
	for (uint32_t i = 0; ret >= 0 && i < congestion_opa_blocks(o, &link); i++) {
		congestion_opa_table(o, &link, i, block);
		ret = ask(c, n, t, i, block);
		sum += ret;
	}
	return ret < 0 ? ret : sum;
}

static int ask_hfi(struct congestion_opa *c, struct disc_node *n, unsigned port)
{
	const struct disc_port *p = &n->ports[port];
	struct table *info = table_get(&c->sm->tables, TABLE_OPA_CC_INFO, n->guid, port, 1, 1);

	if (!p->has_info || p->opa_info == NULL || p->dest == NULL) {
		return 0;
	}
	if (info == NULL) {
		return -ENOMEM;
	}
	return table_knows(info, 0) ? set_hfi(c, n, port, table_block(info, 0))
	                            : ask(c, n, info, 0, NULL);
}

static int ask_node(struct congestion_opa *c, struct disc_node *n)
{
	int sum = 0, ret = 0;

	if (n->type == NODE_SWITCH) {
		return ask_switch(c, n);
	}
	for (unsigned p = 1; n->type == NODE_CA && p <= n->n_ports && ret >= 0; p++) {
		ret = ask_hfi(c, n, p);
		sum += ret;
	}
	return ret < 0 ? ret : sum;
}

void congestion_opa_forget(struct sm *sm, const struct job *j)
{
	static const enum table_kind_id kinds[] = { TABLE_OPA_CC_INFO, TABLE_OPA_CC_HFI,
		                                    TABLE_OPA_CC_TABLE };
	const struct graph *g = j->disc.g;

	for (uint32_t i = 0; smp_is_omni_path(sm->smp) && i < g->n_end_ports; i++) {
		const struct port *p = &g->ports[g->end_ports[i]];
		const struct disc_port *dp = disc_port_of(&j->disc, g->end_ports[i]);

		if (p->num == 0 || !dp->has_info ||
		    field_get(dp->info, PI_PORT_STATE) >= PORT_ARMED) {
			continue;
		}
		for (unsigned k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			table_forget(table_find(&sm->tables, kinds[k], g->nodes[p->node].guid,
			                        p->num));
		}
	}
}

/* --- turns ------------------------------------------------------------------------------- */

static uint32_t n_swept(const struct congestion_opa *c)
{
	const struct sweep_status *st = &c->sm->status;

	return (uint32_t)(st->heavy_sweeps + st->local_sweeps);
}

/* A pass over all nodes is not over. */
static bool at_work(const struct congestion_opa *c)
{
	return c->swept == n_swept(c) && c->node < c->sm->job->disc.g->n_nodes;
}

/* The pass is over, and another one follows without a sweep. */
static bool is_another_due(const struct congestion_opa *c)
{
	return !at_work(c) && (c->read || c->passes <= READ_PASSES);
}

uint64_t congestion_opa_deadline(const struct congestion_opa *c)
{
	return serves(c) && (c->swept != n_swept(c) || at_work(c) || is_another_due(c) || c->changed)
	               ? 0
	               : UINT64_MAX;
}

bool congestion_opa_start(struct congestion_opa *c)
{
	int sum = 0, ret = 0;

	if (c->swept != n_swept(c) || is_another_due(c)) {
		c->swept = n_swept(c);
		c->node = 0;
		c->read = false;
		c->passes += c->passes <= READ_PASSES;
	}
	arena_free(c->arena);
	c->arena = arena_new();
	if (c->arena == NULL) {
		return false;
	}
	c->io = (struct table_io){ .smp = c->sm->smp,
		                   .store = &c->sm->tables,
		                   .arena = c->arena,
		                   .retries = c->sm->d.config->transaction_retries,
		                   .answered = on_answer,
		                   .ctx = c };
	while (at_work(c) && sum < SLICE && ret >= 0) {
		ret = ask_node(c, c->sm->job->disc.of[c->node++]);
		sum += ret;
	}
	if (ret < 0) {
		smp_abort(c->sm->smp);
		c->node = UINT32_MAX;
	}
	return sum > 0 || is_another_due(c) || (c->changed && !at_work(c));
}

bool congestion_opa_end(struct congestion_opa *c)
{
	bool publish = c->changed && !is_another_due(c) && !at_work(c);

	c->changed = c->changed && !publish;
	return publish;
}

void congestion_opa_done(struct congestion_opa *c)
{
	arena_free(c->arena);
	c->arena = NULL;
}
