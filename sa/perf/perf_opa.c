/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What a sweep asks of an Omni-Path device. An adapter is asked for PortStatus. A switch is asked for
 * DataPortCounters of as many ports as fit an answer, and then for ErrorPortCounters of those
 * whose sum of all error counters is not that of the reading before. A switch that refuses one
 * of these is asked for PortStatus of each port from then on.
 *
 * Data counters are read in STEP_SUM, error counters in STEP_PORTS. The part of a request is the
 * first of its ports; the others are the bits of its mask.
 */
#include <infiniband/umad_types.h>
#include <string.h>

#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/perf/opa_counters.h"
#include "sa/perf/perf_int.h"

enum {
	HEADER_BYTES = 24,
	REQUEST_BYTES = HEADER_BYTES + OPA_COUNTERS_REQUEST,
	STATUS_BUSY = 1
};

static struct mad_request *begin(struct perf *p, struct work *w, uint16_t attr,
                                 unsigned ports)
{
	struct mad_request *r =
		request_begin(p->requests, UMAD_CLASS_PERF_MGMT, OPA_CLASS_VERSION,
	                      UMAD_METHOD_GET, attr, ports * (uint32_t)OPA_MOD_ONE);

	if (r == NULL) { /* no memory */
		w->failed = true;
		return NULL;
	}
	r->len = REQUEST_BYTES;
	r->least = HEADER_BYTES; /* a refusal has no more */
	return r;
}

static void ask_status(struct perf *p, struct work *w)
{
	const struct agent *a = &p->agents[w->agent];
	struct mad_request *r = begin(p, w, OPA_PORT_STATUS, 1);

	if (r != NULL) {
		r->mad[HEADER_BYTES] = p->ports[a->first + w->port].num;
		perf_ask(p, w, r, w->port);
		w->port++;
	}
}

static bool is_wanted(const struct work *w, uint32_t port)
{
	return w->step == STEP_SUM || w->reading[port].moved;
}

/* Asks for the ports from w->port on that are wanted, as many as fit. */
static void ask_ports(struct perf *p, struct work *w)
{
	const struct agent *a = &p->agents[w->agent];
	bool data = w->step == STEP_SUM;
	unsigned most = data ? OPA_DATA_PORTS_MAX : OPA_ERROR_PORTS_MAX, n = 0;
	uint8_t mask[OPA_PORTS_MASK_BYTES] = { 0 };
	uint32_t first = w->port, next = first;

	for (; next < a->n && n < most; next++) {
		if (is_wanted(w, next)) {
			opa_counters_select(mask, p->ports[a->first + next].num);
			n++;
		}
	}
	struct mad_request *r =
		begin(p, w, data ? OPA_DATA_PORT_COUNTERS : OPA_ERROR_PORT_COUNTERS, n);

	if (r != NULL) {
		memcpy(r->mad + HEADER_BYTES, mask, sizeof(mask));
		perf_ask(p, w, r, first);
		w->port = next;
	}
}

bool perf_opa_step(struct perf *p, struct work *w)
{
	const struct agent *a = &p->agents[w->agent];
	bool groups = a->is_switch && !a->no_groups;

	if (w->step == STEP_CAPS) {
		w->step = STEP_SUM;
	}
	if (w->step == STEP_SUM && w->port < a->n) {
		if (groups) {
			ask_ports(p, w);
		} else {
			ask_status(p, w);
		}
		return true;
	}
	if (w->step == STEP_SUM) {
		if (w->in_flight > 0) {
			return false;
		}
		w->step = STEP_PORTS;
		w->port = groups ? 0 : a->n;
	}
	while (w->port < a->n && !is_wanted(w, w->port)) {
		w->port++;
	}
	if (w->port == a->n) {
		return false;
	}
	ask_ports(p, w);
	return true;
}

/* The records of an answer, in the order of the ports that were asked for. */
static void take_ports(struct perf *p, struct work *w, const struct mad_request *r,
                       const uint8_t *data, size_t len)
{
	const struct agent *a = &p->agents[w->agent];
	uint16_t attr = (uint16_t)field_get(r->mad, MAD_ATTR_ID);
	unsigned n = (unsigned)field_get(r->mad, MAD_ATTR_MOD) / OPA_MOD_ONE;

	if (len < OPA_COUNTERS_REQUEST ||
	    memcmp(data, r->mad + HEADER_BYTES, OPA_PORTS_MASK_BYTES + 4) != 0) {
		return; /* not of the ports and VLs that were asked for */
	}
	for (uint32_t k = r->part, i = 0; k < a->n && i < n; k++) {
		struct counted_port *port = &p->ports[a->first + k];
		struct counter_reading *to = &w->reading[k];
		uint64_t sum = 0;

		if (attr == OPA_ERROR_PORT_COUNTERS && !to->moved) {
			continue;
		}
		if (!opa_counters_record(attr, data, len, i++, port->num, to, &sum)) {
			return;
		}
		if (attr == OPA_DATA_PORT_COUNTERS) {
			to->moved = !port->summed || sum != port->sum;
			to->sum = sum;
		} else {
			to->moved = false;
			port->summed = true;
			port->sum = to->sum;
		}
	}
}

void perf_opa_answer(struct perf *p, struct work *w, const struct mad_request *r,
                     const struct mad_msg *m)
{
	struct agent *a = &p->agents[w->agent];
	uint16_t status = (uint16_t)field_get(m->data, MAD_STATUS);
	bool one_port = field_get(r->mad, MAD_ATTR_ID) == OPA_PORT_STATUS;
	const uint8_t *data = m->data + HEADER_BYTES;
	size_t len = m->len - HEADER_BYTES;

	if (status == 0 && one_port) {
		(void)opa_counters_status(data, len, r->mad[HEADER_BYTES],
		                          &w->reading[r->part]);
	} else if (status == 0) {
		take_ports(p, w, r, data, len);
	} else if (!one_port && !a->no_groups && (status & ~STATUS_BUSY) != 0) {
		a->no_groups = true; /* its ports once more, one by one */
		w->step = STEP_SUM;
		w->port = 0;
	}
}
