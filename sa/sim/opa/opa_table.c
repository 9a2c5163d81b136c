/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_int.h"

/*
 * P_Key tables, the maps between SLs, SCs and VLs, VL arbitration and buffer control.
 *
 * An adapter refuses a P_Key table without 0x7FFF, which its agent needs to be reached at all. The maps to VLs
 * of a port that is ARMED or ACTIVE are refused, because packets flow by them, and so are sections 2 and 3 of the
 * arbitration table on adapters. SC 15 stays on VL 15.
 */

unsigned opa_p_key_cap(const struct opa_port *p)
{
	return p->device->is_switch ? OPA_PORT_P_KEYS : OPA_HFI_P_KEYS;
}

uint16_t opa_p_key(const struct opa_port *p, unsigned index)
{
	return index < opa_p_key_cap(p) ? (uint16_t)field_get(p->p_keys, 16 * index, 16)
	                                : 0;
}

bool opa_has_p_key(const struct opa_port *p, uint16_t key)
{
	for (unsigned i = 0; i < opa_p_key_cap(p); i++) {
		if (opa_p_key(p, i) == key) {
			return true;
		}
	}
	return false;
}

static bool has_member_key(const uint8_t *block)
{
	for (unsigned i = 0; i < OPA_HFI_P_KEYS; i++) {
		if (field_get(block, 16 * i, 16) == OPA_P_KEY_MEMBER) {
			return true;
		}
	}
	return false;
}

/* N | port 23:16 | block 10:0. There is one block. */
uint16_t opa_sma_p_key_table(struct opa_access *a)
{
	const unsigned n = opa_count(a), block = a->mod & 0x7FF;
	unsigned port = a->mod >> 16 & 0xFF;

	if (!a->d->is_switch) {
		port = port == 0 ? a->in_port : port;
	}
	if (n != 1 || block != 0 || port > a->d->n_ports || a->room < OPA_BLOCK_BYTES ||
	    (!a->d->is_switch && port == 0)) {
		return OPA_BAD_FIELD;
	}
	struct opa_port *p = &a->d->ports[port];
	if (a->set) {
		if (!a->d->is_switch && !has_member_key(a->data)) {
			return OPA_BAD_FIELD;
		}
		memset(p->p_keys, 0, sizeof(p->p_keys));
		memcpy(p->p_keys, a->data, 2u * opa_p_key_cap(p));
		a->d->ops->port(a->d->ctx, port);
	}
	memset(a->data, 0, OPA_BLOCK_BYTES);
	memcpy(a->data, p->p_keys, 2u * opa_p_key_cap(p));
	a->len = OPA_BLOCK_BYTES;
	return OPA_GOOD;
}

/* SL to SC and SC to SL: of adapters and port 0. */
uint16_t opa_sma_end_map(struct opa_access *a, bool sl_to_sc)
{
	struct opa_port *p = opa_end_port(a);
	uint8_t *map = sl_to_sc ? p->sl_to_sc : p->sc_to_sl;

	if (a->mod != 0 || a->room < OPA_MAP_BYTES) {
		return OPA_BAD_FIELD;
	}
	if (a->set) {
		for (unsigned i = 0; i < OPA_MAP_BYTES; i++) {
			map[i] = a->data[i] & 0x1F;
		}
	}
	memcpy(a->data, map, OPA_MAP_BYTES);
	a->len = OPA_MAP_BYTES;
	return OPA_GOOD;
}

/* kind: 0 r, 1 t, 2 nt. */
uint16_t opa_sma_sc_to_vl(struct opa_access *a, unsigned kind)
{
	struct opa_ports ports;

	if (kind == 0 && !a->d->is_switch) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (!opa_named_ports(a, (unsigned)(a->room / OPA_MAP_BYTES), &ports) ||
	    (a->mod & OPA_MOD_ASYNC && (kind != 1 || a->set))) {
		return OPA_BAD_FIELD;
	}
	for (unsigned n = ports.first; a->set && n < ports.end; n++) {
		const unsigned i =
			n - ports.first < ports.n ? n - ports.first : ports.n - 1;
		const uint8_t *in = a->data + (size_t)i * OPA_MAP_BYTES;
		struct opa_port *p = &a->d->ports[n];
		const uint64_t state = field_get(p->info, OPI_STATE);

		if ((in[OPA_VL15] & 0x1F) != OPA_VL15 ||
		    (kind != 0 && p->num != 0 && state >= OPA_ARMED)) {
			return OPA_BAD_FIELD;
		}
		for (unsigned sc = 0; sc < OPA_MAP_BYTES; sc++) {
			p->sc_to_vl[kind][sc] = in[sc] & 0x1F;
		}
	}
	for (unsigned i = 0; i < ports.n; i++) {
		memcpy(a->data + (size_t)i * OPA_MAP_BYTES,
		       a->d->ports[ports.first + i].sc_to_vl[kind], OPA_MAP_BYTES);
	}
	a->len = (size_t)ports.n * OPA_MAP_BYTES;
	return OPA_GOOD;
}

uint16_t opa_sma_vl_arb(struct opa_access *a)
{
	const unsigned section =
		a->mod >> 16 & 0xFF; /* 0 low, 1 high, 2 preemption, 3 its matrix */
	struct opa_ports ports;

	if (section > 3 ||
	    !opa_named_ports(a, (unsigned)(a->room / OPA_VL_ARB_BYTES), &ports)) {
		return OPA_BAD_FIELD;
	}
	if (a->set && section >= 2 && !a->d->is_switch) {
		return OPA_BAD_ATTRIBUTE;
	}
	for (unsigned n = ports.first; a->set && n < ports.end; n++) {
		const unsigned i =
			n - ports.first < ports.n ? n - ports.first : ports.n - 1;

		memcpy(a->d->ports[n].vl_arb[section],
		       a->data + (size_t)i * OPA_VL_ARB_BYTES, OPA_VL_ARB_BYTES);
	}
	for (unsigned i = 0; i < ports.n; i++) {
		memcpy(a->data + (size_t)i * OPA_VL_ARB_BYTES,
		       a->d->ports[ports.first + i].vl_arb[section], OPA_VL_ARB_BYTES);
	}
	a->len = (size_t)ports.n * OPA_VL_ARB_BYTES;
	return OPA_GOOD;
}

/* All dedicated space and the shared limit must fit into what the neighbour's receiver has. */
static bool buffers_fit(const struct opa_port *p, const uint8_t *in)
{
	unsigned sum = (unsigned)field_get(in, OB(2), 16);

	if (p->peer == NULL) {
		return true;
	}
	for (unsigned vl = 0; vl < OPA_VLS; vl++) {
		sum += (unsigned)field_get(in, OB(4 + 4 * vl), 16);
	}
	return sum <= field_get(p->peer->info, OPI_BUFFER_SPACE);
}

uint16_t opa_sma_buffer_control(struct opa_access *a)
{
	struct opa_ports ports;

	if (!opa_named_ports(a,
	                     (unsigned)((a->room + OPA_BUFFER_STRIDE - OPA_BUFFER_BYTES) /
	                                OPA_BUFFER_STRIDE),
	                     &ports)) {
		return OPA_BAD_FIELD;
	}
	for (unsigned n = ports.first; a->set && n < ports.end; n++) {
		const unsigned i =
			n - ports.first < ports.n ? n - ports.first : ports.n - 1;
		const uint8_t *in = a->data + (size_t)i * OPA_BUFFER_STRIDE;

		if (!buffers_fit(&a->d->ports[n], in)) {
			return OPA_BAD_FIELD;
		}
		memcpy(a->d->ports[n].buffers, in, OPA_BUFFER_BYTES);
	}
	for (unsigned i = 0; i < ports.n; i++) {
		memcpy(a->data + (size_t)i * OPA_BUFFER_STRIDE,
		       a->d->ports[ports.first + i].buffers, OPA_BUFFER_BYTES);
		a->len = (size_t)i * OPA_BUFFER_STRIDE + OPA_BUFFER_BYTES;
	}
	return OPA_GOOD;
}

/* --- SC to SC: [in][out] ------------------------------------------------------------------------ */

static uint8_t *sc_map(struct opa_device *d, unsigned table, unsigned in, unsigned out)
{
	return d->sc_to_sc[table] +
	       ((size_t)in * (d->n_ports + 1u) + out) * OPA_MAP_BYTES;
}

static int reserve_sc_maps(struct opa_device *d, unsigned table)
{
	const size_t n = (d->n_ports + 1u) * (d->n_ports + 1u);

	if (d->sc_to_sc[table] != NULL) {
		return E_OK;
	}
	d->sc_to_sc[table] = malloc(n * OPA_MAP_BYTES);
	if (d->sc_to_sc[table] == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n * OPA_MAP_BYTES; i++) {
		d->sc_to_sc[table][i] = (uint8_t)(i % OPA_MAP_BYTES);
	}
	return E_OK;
}

static void put_map(struct opa_device *d, unsigned table, unsigned in, unsigned out,
                    const uint8_t *map)
{
	uint8_t *to = sc_map(d, table, in, out);

	for (unsigned sc = 0; sc < OPA_MAP_BYTES; sc++) {
		to[sc] = map[sc] & 0x1F;
	}
}

/* N | A bit 17, for all ingress ports | B bit 16, for all egress ports | ingress | egress. N counts egress ports
 * from this one on. */
uint16_t opa_sma_sc_to_sc(struct opa_access *a)
{
	const unsigned in = a->mod >> 8 & 0xFF, out = a->mod & 0xFF, n = opa_count(a),
		       ports = a->d->n_ports;
	const bool all_in = a->mod >> 17 & 1, all_out = a->mod >> 16 & 1;

	if (!a->d->is_switch) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (n < 1 || n * OPA_MAP_BYTES > a->room || in > ports || out > ports ||
	    (all_out ? in + n > ports + 1 : out + n > ports + 1) ||
	    (!a->set && (all_in || all_out))) {
		return OPA_BAD_FIELD;
	}
	if (reserve_sc_maps(a->d, 0) != E_OK) {
		return OPA_BAD_FIELD;
	}
	for (unsigned i = all_in ? 0 : in; a->set && i <= (all_in    ? ports
	                                                   : all_out ? in + n - 1
	                                                             : in);
	     i++) {
		for (unsigned o = all_out ? 0 : out; o <= (all_out ? ports : out + n - 1);
		     o++) {
			const unsigned block = all_out && !all_in ? i - in
			                       : all_out          ? 0
			                                          : o - out;

			put_map(a->d, 0, i, o, a->data + (size_t)block * OPA_MAP_BYTES);
		}
	}
	for (unsigned i = 0; i < n; i++) {
		memcpy(a->data + (size_t)i * OPA_MAP_BYTES,
		       all_out ? sc_map(a->d, 0, in + i, out)
		               : sc_map(a->d, 0, in, out + i),
		       OPA_MAP_BYTES);
	}
	a->len = (size_t)n * OPA_MAP_BYTES;
	return OPA_GOOD;
}

static bool in_mask(const uint8_t *mask, unsigned port)
{
	return field_get(mask, 64 * (3 - port / 64) + 63 - port % 64, 1);
}

/* Ingress mask 32 bytes, egress mask 32, map 32: the map holds for all pairs of both. Set only. */
uint16_t opa_sma_sc_to_sc_set(struct opa_access *a)
{
	enum { BYTES = 96, EGRESS_AT = 32, MAP_AT = 64 };
	const unsigned n = opa_count(a), table = a->mod >> 20 & 15;

	if (!a->d->is_switch || !a->set) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (n < 1 || (size_t)n * BYTES > a->room || table > 1 ||
	    reserve_sc_maps(a->d, table) != E_OK) {
		return OPA_BAD_FIELD;
	}
	for (unsigned b = 0; b < n; b++) {
		const uint8_t *block = a->data + (size_t)b * BYTES;

		for (unsigned in = 0; in <= a->d->n_ports; in++) {
			for (unsigned out = 0; in_mask(block, in) && out <= a->d->n_ports;
			     out++) {
				if (in_mask(block + EGRESS_AT, out)) {
					put_map(a->d, table, in, out, block + MAP_AT);
				}
			}
		}
	}
	a->len = (size_t)n * BYTES;
	return OPA_GOOD;
}
