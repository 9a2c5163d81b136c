/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The tables of Omni-Path devices as text, a line per table, for people and for tests that compare two
 * fabrics:
 *
 *   PLACE NAME VALUES    of a port; PLACE is the node's description, or DESCRIPTION[PORT]
 *
 * Bytes of maps are in hexadecimal, one behind the other. Ports without a link are left out, and so are
 * entries that nobody set: LIDs without a route, SC-to-SC maps that change nothing, pairs without weight.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_int.h"

struct place {
	FILE *out;
	const struct opa_port *port; /* NULL: of the whole device */
	const struct opa_device *device;
};

static void begin(const struct place *w, const char *name)
{
	if (w->port != NULL) {
		fprintf(w->out, "%s[%u] %s", w->device->description, w->port->num, name);
	} else {
		fprintf(w->out, "%s %s", w->device->description, name);
	}
}

static void put_bytes(const struct place *w, const char *name, const uint8_t *data,
                      size_t n)
{
	begin(w, name);
	fputc(' ', w->out);
	for (size_t i = 0; i < n; i++) {
		fprintf(w->out, "%02x", data[i]);
	}
	fputc('\n', w->out);
}

static void put_number(const struct place *w, const char *name, uint64_t value)
{
	begin(w, name);
	fprintf(w->out, " %" PRIu64 "\n", value);
}

static void put_weights(const struct place *w, const char *name, const uint8_t *table)
{
	begin(w, name);
	for (unsigned i = 0; i < OPA_VL_ARB_BYTES; i += 2) {
		if (table[i + 1] != 0) {
			fprintf(w->out, " %u:%u", table[i] & 0x1F, table[i + 1]);
		}
	}
	fputc('\n', w->out);
}

static void put_buffers(const struct place *w, const uint8_t *table)
{
	begin(w, "buffers");
	fprintf(w->out, " shared:%u", (unsigned)field_get(table, OB(2), 16));
	for (unsigned vl = 0; vl < OPA_VLS; vl++) {
		unsigned own = (unsigned)field_get(table, OB(4 + 4 * vl), 16),
			 most = (unsigned)field_get(table, OB(6 + 4 * vl), 16);

		if (own != 0 || most != 0) {
			fprintf(w->out, " %u:%u+%u", vl, own, most);
		}
	}
	fputc('\n', w->out);
}

static void put_p_keys(const struct place *w)
{
	unsigned n = opa_p_key_cap(w->port);

	while (n > 0 && opa_p_key(w->port, n - 1) == 0) {
		n--;
	}
	begin(w, "p_keys");
	for (unsigned i = 0; i < n; i++) {
		fprintf(w->out, " 0x%04x", opa_p_key(w->port, i));
	}
	fputc('\n', w->out);
}

/* Congestion control as somebody has set it. */
static void put_congestion(const struct place *w)
{
	const struct opa_port *p = w->port;
	static const uint8_t nothing[sizeof(p->hfi_congestion)];

	if (memcmp(p->hfi_congestion, nothing, sizeof(nothing)) != 0) {
		put_bytes(w, "hfi_congestion", p->hfi_congestion, OPA_HFI_CONGESTION_BYTES);
	}
	if (p->cct != NULL) {
		size_t n = OPA_CCT_BYTES; /* without the blocks at the end that are zeros */

		while (n > OPA_CCT_BLOCK_BYTES && p->cct[n - 1] == 0) {
			n--;
		}
		put_bytes(w, "cct", p->cct, n);
	}
}

static void put_port(const struct place *w)
{
	const struct opa_port *p = w->port;
	const uint8_t *i = p->info;

	put_number(w, "lid", field_get(i, OPI_LID));
	put_number(w, "lmc", field_get(i, OPI_LMC));
	put_number(w, "vls", field_get(i, OPI_OPERATIONAL_VL));
	put_number(w, "high_limit", field_get(i, OPI_VL_HIGH_LIMIT));
	put_number(w, "formats", field_get(i, OPI_FORMATS_ENABLED));
	put_number(w, "enforce",
	           field_get(i, OPI_ENFORCE_IN) << 1 | field_get(i, OPI_ENFORCE_OUT));
	put_number(w, "credit_rate", field_get(i, OPI_VL15_CREDIT_RATE));
	put_number(w, "flow_control_off", field_get(i, OPI_FLOW_CONTROL_MASK));
	put_number(w, "downgrade", field_get(i, OPI_DOWNGRADE_ENABLED));
	put_number(w, "error_action", field_get(i, OPI_ERROR_ACTION));
	put_number(w, "subnet_timeout", field_get(i, OPI_SUBNET_TIMEOUT));
	put_bytes(w, "mtu", i + 128, OPA_VLS / 2);
	put_bytes(w, "xmit_q", i + 144, OPA_VLS);
	put_p_keys(w);
	if (opa_is_end_port(p)) {
		put_bytes(w, "sl_to_sc", p->sl_to_sc, OPA_MAP_BYTES);
		put_bytes(w, "sc_to_sl", p->sc_to_sl, OPA_MAP_BYTES);
	}
	if (w->device->is_switch) {
		put_bytes(w, "sc_to_vl_r", p->sc_to_vl[0], OPA_MAP_BYTES);
	}
	put_bytes(w, "sc_to_vl_t", p->sc_to_vl[1], OPA_MAP_BYTES);
	put_bytes(w, "sc_to_vl_nt", p->sc_to_vl[2], OPA_MAP_BYTES);
	put_weights(w, "arb_low", p->vl_arb[0]);
	put_weights(w, "arb_high", p->vl_arb[1]);
	if (p->num != 0) {
		put_buffers(w, p->buffers);
	}
	put_congestion(w);
}

static void put_switch_congestion(const struct place *w)
{
	const uint8_t *s = w->device->congestion_setting;
	static const uint8_t nothing[sizeof(w->device->congestion_setting)];

	if (memcmp(s, nothing, sizeof(nothing)) != 0) {
		put_bytes(w, "congestion", s, OPA_SWITCH_CONGESTION_BYTES);
	}
}

static void put_sc_maps(const struct place *w)
{
	const struct opa_device *d = w->device;
	const size_t n = d->n_ports + 1u;

	for (size_t k = 0; d->sc_to_sc[0] != NULL && k < n * n; k++) {
		const uint8_t *map = d->sc_to_sc[0] + k * OPA_MAP_BYTES;
		bool same = true;
		char name[32];

		for (unsigned sc = 0; sc < OPA_MAP_BYTES; sc++) {
			same &= map[sc] == sc;
		}
		snprintf(name, sizeof(name), "sc_to_sc %zu %zu", k / n, k % n);
		if (!same) {
			put_bytes(w, name, map, OPA_MAP_BYTES);
		}
	}
}

void opa_print(const struct opa_device *d, FILE *out)
{
	struct place w = { .out = out, .device = d };

	for (unsigned num = d->is_switch ? 0 : 1; num <= d->n_ports; num++) {
		w.port = &d->ports[num];
		if (num == 0 || w.port->peer != NULL) {
			put_port(&w);
		}
	}
	w.port = NULL;
	for (uint32_t lid = 0; lid < d->lft_len; lid++) {
		if (d->lft[lid] != OPA_NO_PORT) {
			begin(&w, "lft");
			fprintf(out, " %" PRIu32 " %u\n", lid, d->lft[lid]);
		}
	}
	put_switch_congestion(&w);
	put_sc_maps(&w);
}
