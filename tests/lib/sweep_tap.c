/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/sweep_tap.h"

#include "sa/mad/smp.h"

#include "conf/base/digest.h"
#include "conf/base/vector.h"

static struct tap *tap_of(struct transport *t)
{
	return (struct tap *)t;
}

/* --- the recorder ---------------------------------------------------------------------- */

static bool is_smp(const struct mad_msg *m)
{
	return m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	       m->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED;
}

/* The node whose end port has a LID now. */
static uint32_t node_by_lid(const struct sweep_fixture *r, uint32_t lid)
{
	const struct graph *g = r->g;

	for (uint32_t i = 0; i < g->n_ports; i++) {
		if (graph_is_end_port(g, i) && fixture_peek(r, i, PI_LID) == lid) {
			return g->ports[i].node;
		}
	}
	return GRAPH_NONE;
}

/* The node that a request goes to, or that an answer is from: by LID, by a directed route, or by
 * LID to a switch and directed from there. */
static uint32_t node_of(const struct sweep_fixture *r, const struct mad_msg *m)
{
	const struct graph *g = r->g;
	const uint8_t *mad = m->data;
	bool directed = m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	bool mixed = directed && field_get(mad, SMP_DR_SLID) != 0xffff;
	uint32_t node = directed && !mixed ? g->ports[g->sm_port].node
	                                   : node_by_lid(r, m->addr.lid);
	unsigned hops = directed ? (unsigned)field_get(mad, SMP_HOP_COUNT) : 0;

	if (node == GRAPH_NONE) {
		return GRAPH_NONE;
	}

	for (unsigned i = 1; i <= hops; i++) {
		unsigned out = mad[SMP_INITIAL_PATH_AT + i];
		uint32_t peer = out <= g->nodes[node].n_ports
		                        ? g->ports[graph_port(g, node, out)].peer
		                        : GRAPH_NONE;

		if (peer == GRAPH_NONE) {
			return GRAPH_NONE;
		}
		node = g->ports[peer].node;
	}
	return node;
}

static struct tap_event *add_event(struct tap *tap, enum tap_event_kind kind)
{
	struct tap_event *e;

	ck_assert_int_eq(VECTOR_RESERVE(tap->event, tap->cap_events, tap->n_events + 1),
	                 E_OK);
	e = &tap->event[tap->n_events++];
	*e = (struct tap_event){ .kind = kind, .at_ms = fixture_now(tap->recorded) };
	return e;
}

static void record_smp(struct tap *tap, enum tap_event_kind kind, const struct mad_msg *m)
{
	struct tap_event *e;

	if (tap->recorded == NULL || m->len != MAD_BYTES || !is_smp(m)) {
		return;
	}
	e = add_event(tap, kind);
	e->method = (uint8_t)field_get(m->data, MAD_METHOD);
	e->attr = (uint16_t)field_get(m->data, MAD_ATTR_ID);
	e->mod = (uint32_t)field_get(m->data, MAD_ATTR_MOD);
	e->node = node_of(tap->recorded, m);
	memcpy(e->data, m->data + SMP_DATA_AT, sizeof(e->data));
}

/* Of the durable LIDs. */
static uint64_t durable_digest(const struct sweep_fixture *r)
{
	struct arena *a = arena_new();
	struct lid_memory *lids;
	uint64_t d = 1;
	size_t n;

	ck_assert_int_eq(state_lids(r->state, a, &lids, &n), E_OK);
	for (size_t i = 0; i < n; i++) {
		d = digest_add(
			digest_add(digest_add(d, lids[i].guid), lids[i].range.base),
			lids[i].range.lmc);
	}
	arena_free(a);
	return d;
}

static void record_writes(struct tap *tap)
{
	const struct sweep_fixture *r = tap->recorded;
	uint64_t digest, epoch;

	if (r == NULL) {
		return;
	}
	digest = durable_digest(r);
	epoch = snap_epoch(r->snap);
	if (digest != tap->lids_digest) {
		add_event(tap, TAP_LIDS);
		tap->lids_digest = digest;
	}
	if (epoch != tap->epoch) {
		add_event(tap, TAP_EPOCH);
		tap->epoch = epoch;
	}
}

void tap_record(struct tap *tap, const struct sweep_fixture *r)
{
	tap->recorded = r;
	tap->n_events = 0;
	tap->lids_digest = durable_digest(r);
	tap->epoch = snap_epoch(r->snap);
}

void tap_record_done(struct tap *tap)
{
	free(tap->event);
	tap->event = NULL;
	tap->recorded = NULL;
	tap->n_events = tap->cap_events = 0;
}

size_t tap_find(const struct tap *tap, size_t from, enum tap_event_kind kind,
                uint8_t method, uint16_t attr)
{
	for (; from < tap->n_events; from++) {
		const struct tap_event *e = &tap->event[from];
		bool smp = kind == TAP_SENT || kind == TAP_ANSWERED;

		if (e->kind == kind &&
		    (!smp || (e->attr == attr && (method == 0 || e->method == method)))) {
			break;
		}
	}
	return from;
}

/* --- the transport --------------------------------------------------------------------- */

static int tap_send(struct transport *t, const struct mad_msg *m)
{
	struct tap *tap = tap_of(t);
	uint8_t method = m->data[3];

	if (field_get(m->data, MAD_ATTR_ID) == UMAD_SM_ATTR_SM_INFO &&
	    method == UMAD_METHOD_SET) {
		ck_assert_uint_lt(tap->n_controls, 16);
		tap->control[tap->n_controls++] =
			(uint32_t)field_get(m->data, MAD_ATTR_MOD);
	} else {
		tap->n_sets += method == UMAD_METHOD_SET;
	}
	tap->n_traps += method == UMAD_METHOD_TRAP;
	if (method == UMAD_METHOD_GET_RESP || method == UMAD_METHOD_TRAP_REPRESS) {
		memcpy(tap->out, m->data, MAD_BYTES);
		tap->out_msg = *m;
		tap->n_out++;
		return E_OK;
	}
	record_writes(tap);
	record_smp(tap, TAP_SENT, m);
	if (tap->loses != NULL && m->len == MAD_BYTES && tap->loses(m->data)) {
		return E_OK;
	}
	if (tap->out_filter != NULL && m->len == MAD_BYTES) {
		uint8_t mad[MAD_BYTES];
		struct mad_msg other = *m;

		memcpy(mad, m->data, MAD_BYTES);
		tap->out_filter(mad);
		other.data = mad;
		return tap->inner->ops->send(tap->inner, &other);
	}
	return tap->inner->ops->send(tap->inner, m);
}

/* Makes answers from the chosen host those of a node with an SM. */
static void tap_disguise(struct tap *tap, struct mad_msg *m)
{
	uint8_t *mad = tap->changed;
	uint32_t node = node_of(tap->fixture, m);
	uint16_t attr;

	if (node == GRAPH_NONE) {
		return;
	}
	memcpy(mad, m->data, MAD_BYTES);
	attr = (uint16_t)field_get(mad, MAD_ATTR_ID);
	if (tap->fixture->g->nodes[node].guid != tap->other_guid) {
		return;
	}
	if (attr == UMAD_SM_ATTR_NODE_INFO && tap->other_sm_guid != 0 && !tap->other_lies) {
		field_set(mad + 64, NI_PORT_GUID, tap->other_sm_guid);
	} else if (attr == UMAD_SM_ATTR_PORT_INFO &&
	           (field_get(mad, MAD_STATUS) & 0x7fff) == 0) {
		field_set(mad + 64, PI_CAPABILITY_MASK,
		          field_get(mad + 64, PI_CAPABILITY_MASK) |
		                  (tap->other_left ? 0 : 2));
	} else if (attr == UMAD_SM_ATTR_SM_INFO && !tap->other_silent &&
	           !tap->other_left) {
		bool handover = field_get(mad, MAD_ATTR_MOD) == 1;
		bool refuses = handover && tap->other_handover == TAP_REFUSES;

		memset(mad + 64, 0, 64);
		field_set(mad, MAD_STATUS, refuses ? 0x801c : 0x8000);
		field_set(mad + 64, SMI_SM_KEY, tap->other_key);
		field_set(mad + 64, SMI_GUID,
		          tap->other_sm_guid ? tap->other_sm_guid : tap->other_guid + 1);
		field_set(mad + 64, SMI_PRIORITY, tap->other_priority);
		field_set(mad + 64, SMI_SM_STATE, tap->other_state);
		if (handover && tap->other_handover == TAP_TAKES) {
			tap->other_state = 3;
		}
		if (handover && tap->other_handover == TAP_FORGETS) {
			tap->other_handover = TAP_TAKES;
		}
	}
	m->data = mad;
}

static uint64_t tap_now(struct transport *t)
{
	return tap_of(t)->inner->ops->now_ms(tap_of(t)->inner);
}

static int tap_recv(struct transport *t, uint64_t deadline, struct mad_msg *ret_msg)
{
	struct tap *tap = tap_of(t);
	int ret;

	if (tap->recv_ret != E_OK) {
		return tap->recv_ret;
	}
	if (tap->has_in) {
		tap->has_in = false;
		*ret_msg = tap->in_msg;
		ret_msg->data = tap->in;
		return E_OK;
	}
	if (tap->step_ms != 0 && deadline > tap_now(t) + tap->step_ms) {
		deadline = tap_now(t) + tap->step_ms;
	}
	ret = tap->inner->ops->recv(tap->inner, deadline, ret_msg);
	if (ret == E_OK && ret_msg->status == 0 &&
	    ret_msg->data[3] == UMAD_METHOD_GET_RESP &&
	    (field_get(ret_msg->data, MAD_STATUS) & 0x7fff) == 0) {
		record_smp(tap, TAP_ANSWERED, ret_msg);
	}
	if (ret == E_OK && tap->other_guid && is_smp(ret_msg) &&
	    ret_msg->data[3] == UMAD_METHOD_GET_RESP) {
		tap_disguise(tap, ret_msg);
	}
	if (ret == E_OK && tap->in_filter != NULL && ret_msg->len == MAD_BYTES) {
		memmove(tap->changed, ret_msg->data, MAD_BYTES);
		tap->in_filter(tap->changed);
		ret_msg->data = tap->changed;
	}
	return ret;
}

static void tap_wake(struct transport *t)
{
	tap_of(t)->inner->ops->wake(tap_of(t)->inner);
}

static int tap_set_issm(struct transport *t, bool on)
{
	return tap_of(t)->set_issm_ret != E_OK
	               ? tap_of(t)->set_issm_ret
	               : tap_of(t)->inner->ops->set_issm(tap_of(t)->inner, on);
}

static const struct transport_ops tap_ops = { .name = "tap",
	                                      .send = tap_send,
	                                      .recv = tap_recv,
	                                      .wake = tap_wake,
	                                      .now_ms = tap_now,
	                                      .set_issm = tap_set_issm };

void tap_init(struct tap *tap, struct sweep_fixture *r)
{
	memset(tap, 0, sizeof(*tap));
	tap->fixture = r;
	tap->inner = sim_transport(r->sim);
	tap->other_key = 1;
	tap->t.ops = &tap_ops;
	tap->t.local = tap->inner->local;
	r->transport = &tap->t;
}

static void bring(struct tap *tap, struct sweep_fixture *r, uint32_t from,
                  uint8_t mgmt_class, uint8_t method, uint16_t attr, size_t len)
{
	tap->in_msg = (struct mad_msg){ .mgmt_class = mgmt_class, .len = len };
	tap->in_msg.addr.directed = mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	tap->in_msg.addr.lid = from;
	tap->in[0] = 1;
	tap->in[1] = mgmt_class;
	tap->in[2] = 1;
	tap->in[3] = method;
	field_set(tap->in, MAD_ATTR_ID, attr);
	tap->has_in = true;
	while (tap->has_in) {
		ck_assert_int_eq(sweep_run_once(r->sweep), E_OK);
	}
}

void tap_bring(struct tap *tap, struct sweep_fixture *r, uint8_t mgmt_class,
               uint8_t method, uint16_t attr, size_t len)
{
	bring(tap, r, 77, mgmt_class, method, attr, len);
}

void tap_comes_from(struct tap *tap, const struct sweep_fixture *r, uint32_t node)
{
	const struct graph *g = r->g;
	uint32_t us = g->ports[g->sm_port].node;
	uint8_t *out = arena_array(r->a, g->n_nodes, 1); /* [node] towards node */
	uint32_t *queue = arena_array(r->a, g->n_nodes, sizeof(*queue));
	uint32_t n = 1, way[SMP_HOPS_MAX + 1];
	unsigned hops = 0;

	queue[0] = node;
	for (uint32_t i = 0; i < n && out[us] == 0; i++) {
		const struct node *at = &g->nodes[queue[i]];

		for (unsigned k = 1; k <= at->n_ports; k++) {
			uint32_t peer = g->ports[graph_port(g, queue[i], k)].peer;
			uint32_t to = peer != GRAPH_NONE ? g->ports[peer].node : node;

			if (to == node || out[to] != 0 ||
			    (i > 0 && at->type != NODE_SWITCH)) {
				continue;
			}
			out[to] = g->ports[peer].num;
			queue[n++] = to;
		}
	}
	for (uint32_t at = us; at != node; hops++) {
		uint32_t port = graph_port(g, at, out[at]);

		ck_assert_uint_lt(hops, SMP_HOPS_MAX);
		way[hops] = out[at];
		at = g->ports[g->ports[port].peer].node;
	}
	field_set(tap->in, SMP_HOP_COUNT, hops);
	field_set(tap->in, SMP_DR_SLID, 0xffff);
	field_set(tap->in, SMP_DR_DLID, 0xffff);
	for (unsigned i = 0; i < hops; i++) {
		tap->in[SMP_RETURN_PATH_AT + hops - i] = (uint8_t)way[i];
	}
}

void tap_bring_from(struct tap *tap, struct sweep_fixture *r, uint32_t lid,
                    uint8_t mgmt_class, uint8_t method, uint16_t attr)
{
	bring(tap, r, lid, mgmt_class, method, attr, MAD_BYTES);
}
