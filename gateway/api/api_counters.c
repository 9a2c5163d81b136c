/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/counters: what the performance manager read of each port last, and before. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/counters.h"
#include "gateway/api/api_call.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/json_text.h"
#include "gateway/view/source.h"
#include "routing/graph/graph.h"

enum { BATCH = 512 }; /* rows that are in memory at a time */

/* --- the counters of a port: the schema PortCounters ----------------------------------- */

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
		body_printf(
			b,
			",\"interval_seconds\":null,\"xmit_bytes_per_second\":null,\"rcv_bytes_per_second\":null,\"utilization\":null");
		return;
	}
	body_printf(
		b,
		",\"interval_seconds\":%.3f,\"xmit_bytes_per_second\":%.0f,\"rcv_bytes_per_second\":%.0f",
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
		body_printf(
			b,
			",\"xmit_bytes_per_second\":%.0f,\"rcv_bytes_per_second\":%.0f,\"errors\":%u,\"xmit_wait\":%u}",
			(double)s->xmit, (double)s->rcv, s->errors, s->wait);
	}
	body_printf(b, "]");
}

static void write_counters(struct body *b, const struct inventory *v, uint32_t port,
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

/* --- the list -------------------------------------------------------------------------- */

/* A request in parsed form. */
struct wanted {
	struct inventory_filter filter;
	int8_t errors, history;
};

static int read_wanted(struct api_call *c, struct wanted *ret_wanted)
{
	const char *node = api_param(c, "node");
	int ret = api_flag(c, "errors", &ret_wanted->errors);

	ret_wanted->filter = (struct inventory_filter){ .name = api_param(c, "name"),
		                                        .degraded = -1,
		                                        .cabled = -1 };
	if (ret == E_OK) {
		ret = api_flag(c, "history", &ret_wanted->history);
	}
	if (ret == E_OK) {
		ret = api_node_type(c, &ret_wanted->filter.type);
	}
	if (ret == E_OK && node != NULL) {
		ret = api_find_node(c, node, "node", &ret_wanted->filter.guid);
	}
	return ret;
}

static bool fits(const struct inventory *v, uint32_t port, const struct port_counters *c,
                 const struct wanted *w)
{
	return (w->errors < 0 || (counters_rise(c, COUNTER_IS_ERROR) > 0) == w->errors) &&
	       inventory_port_fits(v, port, &w->filter);
}

/* The page that is being written. */
struct page {
	struct api_page place;
	uint32_t written;
	uint64_t total;
	json_t *tail;
};

static void write_rows(struct api_call *c, const struct stats_counter_list *list,
                       const struct wanted *w, struct page *page)
{
	const struct inventory *v = c->thread->inventory;

	for (size_t i = 0; i < list->n; i++) {
		const struct port_counters *row = &list->ports[i];
		uint32_t node = graph_node_by_guid(v->g, row->node_guid);
		uint32_t port = node != GRAPH_NONE ? graph_port(v->g, node, row->port)
		                                   : GRAPH_NONE;

		/* a port that is gone from the snapshot has no name any more */
		if (port == GRAPH_NONE || !fits(v, port, row, w)) {
			continue;
		}
		page->total++;
		if (row->node_guid < page->place.guid ||
		    (row->node_guid == page->place.guid && row->port < page->place.port) ||
		    page->tail != NULL) {
			continue;
		}
		if (page->written++ == page->place.limit) {
			page->tail = api_next(c, row->node_guid, row->port);
			continue;
		}
		body_list_next(&c->body);
		write_counters(&c->body, v, port, row);
	}
}

int api_counters(struct api_call *c)
{
	struct wanted w;
	struct page page = { .written = 0 };
	struct stats_counter_list list = { .more = true };
	uint64_t guid = 0;
	uint8_t port = 0;
	int ret = inventory_get(&c->thread->inventory, c->snap);

	if (ret == E_OK) {
		ret = read_wanted(c, &w);
	}
	if (ret == E_OK) {
		ret = api_page(c, &page.place);
	}
	if (ret != E_OK) {
		return ret;
	}
	guid = w.filter.guid;
	body_list_begin(&c->body, api_head(c), "counters");
	while (ret == E_OK && list.more) {
		struct arena *a = arena_new();

		ret = a != NULL ? source_counters(c->thread->source, c->now_ms, guid, port, BATCH,
		                                  w.history == 1, a, &list)
		                : -ENOMEM;
		if (ret == E_OK) {
			write_rows(c, &list, &w, &page);
			if (list.n > 0) {
				guid = list.ports[list.n - 1].node_guid;
				port = list.ports[list.n - 1].port;
				port++; /* to 0 behind 255, which no port has */
				guid += port == 0;
			}
			list.more = list.more &&
			            (w.filter.guid == 0 || guid == w.filter.guid);
		}
		arena_free(a);
	}
	if (ret != E_OK && ret != E_NOTREADY) { /* no stats: nothing was read */
		json_decref(page.tail);
		return ret;
	}
	body_list_end(&c->body, api_total(page.tail, page.total));
	return E_OK;
}
