/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What discovery does on Omni-Path alone: it makes the local port ready to manage, and keeps the bytes
 * of PortInfo and SwitchInfo, with which Sets begin.
 *
 * A device answers SMPs over a cable only if they come with P_Key 0xFFFF, and a local agent those of
 * a port that has 0xFFFF or 0x7FFF. After power-on a port may have neither where the fabric
 * manager looks for them, and another manager may have taken them away since, so each discovery reads
 * the table of the local port before it asks for anything else, and writes it
 * if 0xFFFF is missing: 0x7FFF at index 1 and 0xFFFF at index 2, as Omni-Path's fabric manager places them.
 *
 * Source: what opa-fm does before it discovers; the hfi1 driver for what an agent demands.
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/discover/discover.h"

enum { P_KEYS = 32 };

/* --- the local port --------------------------------------------------------------------- */

struct own_port {
	struct disc *disc;
	struct smp_dest dest;
	void (*go_on)(struct disc *d);
};

/* Index of the P_Key that SMPs are sent with. \return P_KEYS: there is none. */
static uint16_t manager_index(const uint8_t *table)
{
	uint16_t i = 0;

	while (i < P_KEYS && field_get(table, 16U * i, 16) != OPA_P_KEY_MANAGER) {
		i++;
	}
	return i;
}

static void on_own_p_keys(void *ctx, const struct smp_reply *r);

static void submit(struct own_port *o, uint8_t method, const uint8_t *table)
{
	struct disc *d = o->disc;

	disc_error(d, smp_submit(d->smp,
	                         &(struct smp_request){ .dest = &o->dest,
	                                                .method = method,
	                                                .attr = UMAD_SM_ATTR_PKEY_TABLE,
	                                                .data = table,
	                                                .retries = d->options.retries,
	                                                .done = on_own_p_keys,
	                                                .ctx = o }));
}

static void on_own_p_keys(void *ctx, const struct smp_reply *r)
{
	struct own_port *o = ctx;
	uint16_t index = r->ret == E_OK ? manager_index(r->data) : P_KEYS;
	uint8_t table[SMP_DATA_BYTES];

	if (index == P_KEYS && r->ret == E_OK && r->method == UMAD_METHOD_GET) {
		memcpy(table, r->data, sizeof(table));
		field_set(table, 16U * OPA_MEMBER_INDEX, 16, OPA_P_KEY_MEMBER);
		field_set(table, 16U * OPA_MANAGER_INDEX, 16, OPA_P_KEY_MANAGER);
		submit(o, UMAD_METHOD_SET, table);
		return;
	}
	if (index == P_KEYS && r->ret != E_TIMEOUT) {
		disc_problem(
			o->disc,
			"the local port has no P_Key 0xFFFF, with which Omni-Path's devices are managed, and does not take it");
	}
	smp_set_omni_path(o->disc->smp,
	                  index != P_KEYS ? index : smp_p_key_index(o->disc->smp));
	o->go_on(o->disc);
}

void disc_opa_begin(struct disc *d, void (*go_on)(struct disc *d))
{
	struct own_port *o = arena_alloc(d->arena, sizeof(*o));

	if (o == NULL) {
		disc_error(d, -ENOMEM);
		return;
	}
	o->disc = d;
	o->go_on = go_on;
	smp_dest_init(&o->dest, &(struct smp_path){ 0 });
	if (!smp_is_omni_path(d->smp)) {
		smp_set_omni_path(d->smp, OPA_MANAGER_INDEX);
	}
	submit(o, UMAD_METHOD_GET, NULL);
}

void disc_opa_take_p_keys(const struct disc *d, const struct disc_node *n,
                          const struct smp_reply *r)
{
	bool own = smp_is_omni_path(d->smp) && n == d->nodes[0] && r->ret == E_OK;
	uint16_t index = own ? manager_index(r->data) : P_KEYS;

	if (index < P_KEYS) { /* one block holds it, and others say nothing of it */
		smp_set_omni_path(d->smp, index);
	}
}

/* --- what is kept ----------------------------------------------------------------------- */

static int keep(uint8_t **to, const uint8_t *data, size_t len, struct arena *a)
{
	if (*to == NULL) {
		*to = arena_alloc(a, len);
	}
	if (*to == NULL) {
		return -ENOMEM;
	}
	memcpy(*to, data, len);
	return E_OK;
}

int disc_keep_port_info(struct disc_port *p, struct arena *a, const struct smp_reply *r)
{
	return r->native == NULL ? E_OK
	                         : keep(&p->opa_info, r->native, OPA_BYTES_PORT_INFO, a);
}

int disc_take_switch_info(struct disc_node *n, struct arena *a, const struct smp_reply *r)
{
	memcpy(n->switch_info, r->data, sizeof(n->switch_info));
	return r->native == NULL
	               ? E_OK
	               : keep(&n->opa_switch_info, r->native, OPA_BYTES_SWITCH_INFO, a);
}
