/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/counters: what the performance manager read of each port last, and before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/counters.h"
#include "gateway/api/api_call.h"
#include "gateway/view/inventory.h"
#include "gateway/view/port_counters_json.h"
#include "gateway/view/source.h"
#include "routing/graph/graph.h"

enum { BATCH = 512 }; /* rows that are in memory at a time */

/* What a request wants. */
struct wanted {
	struct inventory_filter filter;
	int8_t errors, history;
};

static int read_wanted(struct api_call *c, struct wanted *ret)
{
	const char *node = api_param(c, "node");
	int err = api_flag(c, "errors", &ret->errors);

	ret->filter = (struct inventory_filter){ .name = api_param(c, "name"),
		                                 .degraded = -1,
		                                 .cabled = -1 };
	if (err == E_OK) {
		err = api_flag(c, "history", &ret->history);
	}
	if (err == E_OK) {
		err = api_node_type(c, &ret->filter.type);
	}
	if (err == E_OK && node != NULL) {
		err = api_find_node(c, node, "node", &ret->filter.guid);
	}
	return err;
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
		port_counters_json_write(&c->body, v, port, row);
	}
}

int api_counters(struct api_call *c)
{
	struct wanted w;
	struct page page = { .written = 0 };
	struct stats_counter_list list = { .more = true };
	uint64_t guid = 0;
	uint8_t port = 0;
	int err = inventory_get(&c->thread->inventory, c->snap);

	if (err == E_OK) {
		err = read_wanted(c, &w);
	}
	if (err == E_OK) {
		err = api_page(c, &page.place);
	}
	if (err != E_OK) {
		return err;
	}
	guid = w.filter.guid;
	body_list_begin(&c->body, api_head(c), "counters");
	while (err == E_OK && list.more) {
		struct arena *a = arena_new();

		err = a != NULL ? source_counters(c->thread->source, c->now_ms, guid, port, BATCH,
		                                  w.history == 1, a, &list)
		                : -ENOMEM;
		if (err == E_OK) {
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
	if (err != E_OK && err != E_NOTREADY) { /* no stats: nothing was read */
		json_decref(page.tail);
		return err;
	}
	body_list_end(&c->body, api_total(page.tail, page.total));
	return E_OK;
}
