/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/ports, /v1/links, /v1/load, /v1/topology: every port and every cable with names, state, width, speed, and
 * what they could be; selected by node, name, state. Both come as pages, or with stream=1
 * line by line. Error counters and rates will be further members of the same rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/inventory/inventory.h"
#include "gateway/inventory/topology.h"
#include "gateway/inventory/topology_json.h"
#include "routing/graph/graph.h"

/* A list whose rows are ports of the inventory, in an order of its own. */
struct port_list {
	const char *name;
	uint32_t (*count)(const struct inventory *v);
	uint32_t (*at)(const struct inventory *v, uint32_t i); /* port of a row */
	bool (*fits)(const struct inventory *v, uint32_t port,
	             const struct inventory_filter *f);
	void (*write)(struct body *b, const struct inventory *v, uint32_t port);
};

static uint32_t count_links(const struct inventory *v)
{
	return v->g->n_links;
}

static uint32_t link_at(const struct inventory *v, uint32_t i)
{
	return v->link[i];
}

static uint32_t count_ports(const struct inventory *v)
{
	return v->g->n_ports;
}

static uint32_t port_at(const struct inventory *v, uint32_t i)
{
	(void)v;
	return i;
}

static uint32_t count_loaded(const struct inventory *v)
{
	return v->n_loaded;
}

static uint32_t loaded_at(const struct inventory *v, uint32_t i)
{
	return v->by_load[i];
}

static const struct port_list load = { "links", count_loaded, loaded_at,
	                               inventory_port_fits, inventory_write_load };
static const struct port_list links = { "links", count_links, link_at,
	                                inventory_link_fits, inventory_write_link };
static const struct port_list ports = { "ports", count_ports, port_at,
	                                inventory_port_fits, inventory_write_port };

/* --- the filter ------------------------------------------------------------------------ */

static int read_state(struct api_call *c, uint8_t *ret_state)
{
	const char *text = api_param(c, "state");

	*ret_state = 0;
	if (text == NULL) {
		return E_OK;
	}
	for (uint8_t s = PORT_DOWN; s <= PORT_ACTIVE; s++) {
		if (strcmp(text, port_state_name(s)) == 0) {
			*ret_state = s;
			return E_OK;
		}
	}
	return problem_param(&c->problem, c->arena, E_UNKNOWN, "state",
	                     "state='%.100s': expected down, init, armed or active",
	                     text);
}

static int read_filter(struct api_call *c, struct inventory_filter *ret_filter)
{
	const char *node = api_param(c, "node");
	int ret = read_state(c, &ret_filter->state);

	if (ret == E_OK) {
		ret = api_flag(c, "degraded", &ret_filter->degraded);
	}
	if (ret == E_OK) {
		ret = api_flag(c, "cabled", &ret_filter->cabled);
	}
	if (ret == E_OK) {
		ret = api_node_type(c, &ret_filter->type);
	}
	if (ret == E_OK && node != NULL) {
		ret = api_find_node(c, node, "node", &ret_filter->guid);
	}
	ret_filter->name = api_param(c, "name");
	return ret;
}

/* --- load between tiers ---------------------------------------------------------------- */

static json_t *tier_json(uint16_t tier)
{
	return tier == TOPOLOGY_NO_TIER ? json_null() : json_integer(tier);
}

static json_t *tiers_json(const struct inventory *v)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < v->n_load; i++) {
		const struct load_class *l = &v->load[i];

		if (l->links > 0) {
			json_array_append_new(
				list, json_pack("{s:o, s:o, s:i, s:i, s:f}", "from",
			                        tier_json(l->from), "to",
			                        tier_json(l->to), "links", (int)l->links,
			                        "max_routes", (int)l->max, "mean_routes",
			                        (double)l->sum / l->links));
		}
	}
	return list;
}

/* --- pages ----------------------------------------------------------------------------- */

static void write_page(struct api_call *c, const struct port_list *l,
                       const struct inventory *v, const struct inventory_filter *f,
                       const struct api_page *page)
{
	uint32_t n = l->count(v);
	struct api_rows rows = { .page = page };
	json_t *head = api_head(c);

	if (l == &load) {
		json_object_set_new(head, "tiers", tiers_json(v));
	}
	body_list_begin(&c->body, head, l->name);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t port = l->at(v, i);

		if (l->fits(v, port, f) && api_rows_take(c, &rows, i)) {
			body_list_next(&c->body);
			l->write(&c->body, v, port);
		}
	}
	body_list_end(&c->body, api_total(rows.tail, rows.total));
}

/* --- streams --------------------------------------------------------------------------- */

struct port_stream {
	const struct port_list *list;
	struct inventory *v;
	struct inventory_filter filter;
	char *name; /* of the filter */
};

static void port_stream_done(void *state)
{
	struct port_stream *s = state;

	inventory_unref(s->v);
	free(s->name);
	free(s);
}

/* The rows are copies of one epoch, so nothing is read from the snapshot. */
static int more_ports(void *state, struct snap_reader *r, struct stream_place *at,
                      struct body *out, size_t *ret_n)
{
	struct port_stream *s = state;
	uint32_t n = s->list->count(s->v);

	(void)r;
	for (unsigned steps = 0; steps < STREAM_STEPS && *ret_n < STREAM_RECORDS;
	     steps++) {
		if (at->key >= n) {
			at->end = true;
			return E_OK;
		}
		uint32_t port = s->list->at(s->v, (uint32_t)at->key++);

		if (s->list->fits(s->v, port, &s->filter)) {
			s->list->write(out, s->v, port);
			body_write(out, "\n", 1);
			++*ret_n;
		}
	}
	return E_OK;
}

static int stream_ports(struct api_call *c, const struct port_list *l,
                        const struct inventory_filter *f)
{
	struct port_stream *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		return -ENOMEM;
	}
	struct stream_spec spec = {
		.more = more_ports, .done = port_stream_done, .state = s, .name = l->name
	};
	s->list = l;
	s->v = inventory_ref(c->thread->inventory);
	s->filter = *f;
	s->name = f->name != NULL ? strdup(f->name) : NULL;
	s->filter.name = s->name;
	int ret = f->name != NULL && s->name == NULL ? -ENOMEM
	                                             : api_from(c, &spec.from.key);
	if (ret == E_OK) {
		ret = api_stream(c, &spec);
	}
	if (ret != E_OK) {
		port_stream_done(s);
	}
	return ret;
}

static int answer(struct api_call *c, const struct port_list *l)
{
	struct inventory_filter filter = { .type = 0 };
	struct api_page page;
	int8_t stream;
	int ret = inventory_get(&c->thread->inventory, c->snap);

	if (ret == E_OK && l == &load) {
		ret = inventory_shape(c->thread->inventory);
	}
	if (ret == E_OK) {
		ret = read_filter(c, &filter);
	}
	if (ret == E_OK) {
		ret = api_page(c, &page);
	}
	if (ret == E_OK) {
		ret = api_flag(c, "stream", &stream);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (stream == 1) {
		return stream_ports(c, l, &filter);
	}
	write_page(c, l, c->thread->inventory, &filter, &page);
	return E_OK;
}

int api_links(struct api_call *c)
{
	return answer(c, &links);
}

int api_ports(struct api_call *c)
{
	return answer(c, &ports);
}

int api_load(struct api_call *c)
{
	return answer(c, &load);
}

/* --- the map --------------------------------------------------------------------------- */

static int read_view(struct api_call *c, struct topology_view *ret_view)
{
	const char *group = api_param(c, "group");
	uint32_t n = c->thread->inventory->shape->n_groups;
	uint64_t number = GRAPH_NONE;
	int8_t hosts, switches;
	int ret = api_flag(c, "hosts", &hosts);

	if (ret == E_OK) {
		ret = api_flag(c, "switches", &switches);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (group != NULL && text_u64(group, UINT32_MAX - 1, &number) != E_OK) {
		return problem_param(&c->problem, c->arena, E_SYNTAX, "group",
		                     "group='%.100s': expected the number of a group",
		                     group);
	}
	if (group != NULL && number >= n) {
		return problem_param(
			&c->problem, c->arena, E_NOTFOUND, "group",
			"there is no group %.20s; the fabric has %u, counted from 0",
			group, n);
	}
	*ret_view = (struct topology_view){ .group = (uint32_t)number,
		                            .hosts = hosts == 1,
		                            .switches = switches == 1 };
	return E_OK;
}

int api_topology(struct api_call *c)
{
	struct topology_view view;
	int ret = inventory_get(&c->thread->inventory, c->snap);

	if (ret == E_OK) {
		ret = inventory_shape(c->thread->inventory);
	}
	if (ret == E_OK) {
		ret = read_view(c, &view);
	}
	return ret != E_OK ? ret
	                   : topology_write(&c->body, c->thread->inventory, &view,
	                                    api_head(c), c->arena);
}
