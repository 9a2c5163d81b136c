/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/port_counters_json.h"

#include <inttypes.h>

#include "db/counters.h"
#include "gateway/view/body.h"
#include "gateway/view/inventory.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"

/* Octets per second that a link carries after its encoding; 0: not known. */
static double capacity(uint8_t rate)
{
	return rate_speed(rate) * 1e8 / 8;
}

/* All counters that the port has, or those in \a which of them. */
static void write_values(struct body *b, const char *name, const uint64_t *value,
                         uint32_t which)
{
	const char *comma = "";

	body_printf(b, ",\"%s\":{", name);
	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		if (which >> i & 1) {
			body_printf(b, "%s\"%s\":%" PRIu64, comma, counter_types[i].name,
			            value[i]);
			comma = ",";
		}
	}
	body_printf(b, "}");
}

static void write_rates(struct body *b, const struct port_counters *c, uint8_t rate)
{
	double out = counters_rate(c, COUNTER_XMIT_DATA), in = counters_rate(c, COUNTER_RCV_DATA);
	double most = out > in ? out : in;

	if (c->interval_ms == 0) {
		body_printf(b, ",\"interval_seconds\":null,\"xmit_bytes_per_second\":null,"
		               "\"rcv_bytes_per_second\":null,\"utilization\":null");
		return;
	}
	body_printf(b, ",\"interval_seconds\":%.3f,\"xmit_bytes_per_second\":%.0f,"
	               "\"rcv_bytes_per_second\":%.0f",
	            c->interval_ms / 1000.0, out, in);
	if (capacity(rate) > 0) {
		body_printf(b, ",\"utilization\":%.4f", most / capacity(rate));
	} else {
		body_printf(b, ",\"utilization\":null");
	}
}

static void write_history(struct body *b, const struct port_counters *c)
{
	body_printf(b, ",\"history\":[");
	for (uint32_t i = 0; i < c->n_samples; i++) {
		const struct counter_sample *s = &c->samples[i];

		body_printf(b, "%s{\"time\":", i > 0 ? "," : "");
		body_value(b, time_json(s->time_s));
		body_printf(b,
		            ",\"xmit_bytes_per_second\":%.0f,\"rcv_bytes_per_second\":%.0f,"
		            "\"errors\":%u,\"xmit_wait\":%u}",
		            (double)s->xmit, (double)s->rcv, s->errors, s->wait);
	}
	body_printf(b, "]");
}

void port_counters_json_write(struct body *b, const struct inventory *v, uint32_t port,
                              const struct port_counters *c)
{
	const struct port *p = &v->g->ports[port];
	uint32_t risen = 0;
	const char *comma = "";

	body_printf(b, "{\"node_guid\":\"0x%016" PRIx64 "\",\"name\":", c->node_guid);
	body_write(b, v->node[p->node].json, v->node[p->node].json_len);
	body_printf(b, ",\"type\":\"%s\",\"port\":%u,\"peer\":",
	            node_type_name(v->g->nodes[p->node].type), p->num);
	if (p->peer != GRAPH_NONE) {
		const struct port *peer = &v->g->ports[p->peer];

		body_printf(b, "{\"guid\":\"0x%016" PRIx64 "\",\"port\":%u,\"name\":",
		            v->g->nodes[peer->node].guid, peer->num);
		body_write(b, v->node[peer->node].json, v->node[peer->node].json_len);
		body_printf(b, "}");
	} else {
		body_printf(b, "null");
	}
	body_printf(b, ",\"read_at\":");
	body_value(b, time_json(c->time_s));
	write_rates(b, c, v->port[port].rate);
	body_printf(b, ",\"errors\":%" PRIu64, counters_rise(c, COUNTER_IS_ERROR));
	write_values(b, "value", c->value, c->known);
	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		risen |= c->delta[i] > 0 ? UINT32_C(1) << i : 0;
	}
	write_values(b, "rise", c->delta, risen);
	body_printf(b, ",\"saturated\":[");
	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		if (c->saturated >> i & 1) {
			body_printf(b, "%s\"%s\"", comma, counter_types[i].name);
			comma = ",";
		}
	}
	body_printf(b, "]");
	if (c->n_samples > 0) {
		write_history(b, c);
	}
	body_printf(b, "}");
}
