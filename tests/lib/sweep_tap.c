/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/sweep_tap.h"

static struct tap *tap_of(struct transport *t)
{
	return (struct tap *)t;
}

static int tap_send(struct transport *t, const struct mad_msg *m)
{
	struct tap *tap = tap_of(t);
	uint8_t method = m->data[3];

	tap->n_sets += method == UMAD_METHOD_SET;
	if (method == UMAD_METHOD_GET_RESP || method == UMAD_METHOD_TRAP_REPRESS) {
		memcpy(tap->out, m->data, MAD_BYTES);
		tap->out_msg = *m;
		tap->n_out++;
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
	uint16_t attr;

	memcpy(mad, m->data, MAD_BYTES);
	attr = (uint16_t)field_get(mad, MAD_ATTR_ID);
	if (attr == UMAD_SM_ATTR_NODE_INFO &&
	    field_get(mad + 64, NI_NODE_GUID) == tap->other_guid) {
		tap->hops = (uint8_t)field_get(mad, SMP_HOP_COUNT);
		memcpy(tap->path, mad + SMP_INITIAL_PATH_AT, sizeof(tap->path));
	}
	if (!tap->hops || field_get(mad, SMP_HOP_COUNT) != tap->hops ||
	    memcmp(mad + SMP_INITIAL_PATH_AT, tap->path, tap->hops + 1u) != 0) {
		return;
	}
	if (attr == UMAD_SM_ATTR_PORT_INFO && field_get(mad, MAD_STATUS) == 0x8000) {
		field_set(mad + 64, PI_CAPABILITY_MASK,
		          field_get(mad + 64, PI_CAPABILITY_MASK) | 2);
	} else if (attr == UMAD_SM_ATTR_SM_INFO && !tap->other_silent) {
		memset(mad + 64, 0, 64);
		field_set(mad, MAD_STATUS, 0x8000);
		field_set(mad + 64, SMI_GUID, tap->other_guid + 1);
		field_set(mad + 64, SMI_PRIORITY, tap->other_priority);
		field_set(mad + 64, SMI_SM_STATE, tap->other_state);
	}
	m->data = mad;
}

static int tap_recv(struct transport *t, uint64_t deadline, struct mad_msg *ret)
{
	struct tap *tap = tap_of(t);
	int err;

	if (tap->has_in) {
		tap->has_in = false;
		*ret = tap->in_msg;
		ret->data = tap->in;
		return E_OK;
	}
	err = tap->inner->ops->recv(tap->inner, deadline, ret);
	if (err == E_OK && tap->other_guid && ret->data[3] == UMAD_METHOD_GET_RESP) {
		tap_disguise(tap, ret);
	}
	if (err == E_OK && tap->in_filter != NULL && ret->len == MAD_BYTES) {
		memmove(tap->changed, ret->data, MAD_BYTES);
		tap->in_filter(tap->changed);
		ret->data = tap->changed;
	}
	return err;
}

static uint64_t tap_now(struct transport *t)
{
	return tap_of(t)->inner->ops->now_ms(tap_of(t)->inner);
}

static void tap_wake(struct transport *t)
{
	tap_of(t)->inner->ops->wake(tap_of(t)->inner);
}

static int tap_set_issm(struct transport *t, bool on)
{
	return tap_of(t)->inner->ops->set_issm(tap_of(t)->inner, on);
}

static const struct transport_ops tap_ops = { .name = "tap",
	                                      .send = tap_send,
	                                      .recv = tap_recv,
	                                      .wake = tap_wake,
	                                      .now_ms = tap_now,
	                                      .set_issm = tap_set_issm };

void tap_init(struct tap *tap, struct rig *r)
{
	memset(tap, 0, sizeof(*tap));
	tap->inner = sim_transport(r->sim);
	tap->t.ops = &tap_ops;
	tap->t.local = tap->inner->local;
	r->transport = &tap->t;
}

void tap_bring(struct tap *tap, struct rig *r, uint8_t mgmt_class, uint8_t method,
               uint16_t attr, size_t len)
{
	tap->in_msg = (struct mad_msg){ .mgmt_class = mgmt_class, .len = len };
	tap->in_msg.addr.directed = mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	tap->in_msg.addr.lid = 77;
	tap->in[0] = 1;
	tap->in[1] = mgmt_class;
	tap->in[2] = 1;
	tap->in[3] = method;
	field_set(tap->in, MAD_ATTR_ID, attr);
	tap->has_in = true;
	while (tap->has_in) {
		ck_assert_int_eq(sweep_turn(r->sweep), E_OK);
	}
}
