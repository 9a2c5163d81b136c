/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/export and /v1/export/{format}: a stream of the parts of a form. All but the forwarding
 * tables are made of the inventory, which is a copy. The tables are read from the snapshot as
 * they are sent, so that ten clients do not make ten copies of them; if the epoch is gone before
 * the end, the connection is broken off.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "db/lmdb/known.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/export/export.h"
#include "gateway/inventory/inventory.h"
#include "gateway/inventory/topology.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/tables.h"

enum { SLICE_BYTES = 64 * 1024 };

struct export_stream {
	const struct export_format *format;
	struct inventory *v;
	struct arena *arena; /* of the LIDs, and of a fabric with hosts that are gone */
	struct lids lids;
	struct snap_reader *snap; /* of the slice that is being made */
	struct export_fabric fabric;
};

static void export_done(void *state)
{
	struct export_stream *s = state;

	inventory_unref(s->v);
	arena_free(s->arena);
	free(s);
}

static int read_row(void *arg, uint32_t sw, uint8_t *ret_row)
{
	struct export_stream *s = arg;
	const struct graph *g = s->v->g;
	uint64_t guid = g->nodes[g->switches[sw]].guid;

	for (uint32_t lid = 0; lid <= s->lids.top; lid++) {
		int ret = lid == 0 ? E_NOTFOUND
		                   : snap_lft(s->snap, guid, lid, &ret_row[lid]);

		if (ret == E_NOTFOUND) {
			ret_row[lid] = LFT_NO_ROUTE;
		} else if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

static int more_parts(void *state, struct snap_reader *r, struct stream_place *at,
                      struct body *out, size_t *ret_n)
{
	struct export_stream *s = state;
	uint32_t n = export_parts(s->format, &s->fabric);
	int ret = E_OK;

	s->snap = r;
	while (ret == E_OK && at->key < n && out->len < SLICE_BYTES) {
		ret = s->format->write(&s->fabric, (uint32_t)at->key++, out);
		++*ret_n;
	}
	at->end = at->key >= n;
	if ((s->format->needs & EXPORT_TABLES) != 0) {
		int torn = snap_check(r);
		ret = torn != E_OK ? torn : ret;
	}
	return ret;
}

/* Hosts that are known and not in the fabric. That they are gone is known a moment after the
 * fabric is published without them, so the rows do not have to say so. */
static int list_gone(struct snap_reader *r, const struct graph *g, struct arena *a,
                     struct export_gone **ret_list, size_t *ret_n)
{
	struct export_gone *list = NULL;
	struct known_node k;
	size_t n = 0, cap = 0;
	int ret;

	for (ret = snap_known_from(r, 0, 0, &k); ret == E_OK; ret = snap_known_next(r, &k)) {
		if (k.type == NODE_SWITCH ||
		    graph_port_by_guid(g, k.port_guid) != GRAPH_NONE) {
			continue;
		}
		const char *name = arena_strdup(a, k.name);

		if (name == NULL || ARENA_RESERVE(a, list, n, cap, n + 1) != E_OK) {
			return -ENOMEM;
		}
		list[n++] = (struct export_gone){ k.node_guid, k.port_guid, k.switch_guid,
			                          k.port,      k.switch_port, k.type,
			                          name };
	}
	*ret_list = list;
	*ret_n = n;
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* The fabric with the hosts that are gone where they were, and its shape. */
static int add_gone(struct api_call *c, struct export_stream *s)
{
	struct topology *shape = arena_alloc(s->arena, sizeof(*shape));
	struct export_gone *list = NULL;
	struct graph *g = NULL;
	size_t n = 0;
	int ret = shape != NULL ? list_gone(c->snap, s->v->g, s->arena, &list, &n) : -ENOMEM;

	if (ret != E_OK || n == 0) {
		return ret;
	}
	ret = export_with_gone(s->v->g, list, n, s->arena, &g);
	if (ret == E_OK) {
		ret = topology_find(g, s->arena, shape);
	}
	if (ret == E_OK) {
		s->fabric.g = g;
		s->fabric.shape = shape;
	}
	return ret;
}

static int prepare(struct api_call *c, struct export_stream *s, bool gone)
{
	struct diags d;
	int ret;

	s->v = inventory_ref(c->thread->inventory);
	s->fabric =
		(struct export_fabric){ .g = s->v->g,
		                        .shape = s->v->shape,
		                        .arg = s,
		                        .time = snap_meta(c->snap)->computed_at };
	s->arena = arena_new();
	if (s->arena == NULL) {
		return -ENOMEM;
	}
	if ((s->format->needs & EXPORT_TABLES) == 0) {
		return gone ? add_gone(c, s) : E_OK;
	}
	diags_init(&d, s->arena);
	ret = lids_as_found(s->v->g, LID_LIMIT_MAX, s->arena, &d, &s->lids);
	s->fabric.lids = &s->lids;
	s->fabric.row = read_row;
	return ret == E_NOTFOUND || ret == E_DUPLICATE ? E_MALFORMED : ret;
}

int api_export(struct api_call *c)
{
	const struct export_format *format = export_find(c->capture[0]);
	struct export_stream *s;
	int8_t known = -1;
	int ret;

	if (format == NULL) {
		return problem_set(&c->problem, c->arena, E_NOTFOUND,
		                   "there is no format '%.100s'; /v1/export lists them",
		                   c->capture[0]);
	}
	ret = api_flag(c, "known", &known);
	if (ret == E_OK && known == 1 && (format->needs & EXPORT_TABLES) != 0) {
		ret = problem_set(&c->problem, c->arena, E_RANGE,
		                  "known=1 is not for the format '%s', because there are no routes to hosts that are gone",
		                  format->name);
	}
	if (ret != E_OK) {
		return ret;
	}
	ret = inventory_get(&c->thread->inventory, c->snap);
	if (ret == E_OK) {
		ret = inventory_shape(c->thread->inventory);
	}
	s = calloc(1, sizeof(*s));
	if (ret != E_OK || s == NULL) {
		free(s);
		return ret != E_OK ? ret : -ENOMEM;
	}
	s->format = format;
	struct stream_spec spec = { .more = more_parts,
		                    .done = export_done,
		                    .state = s,
		                    .name = format->name,
		                    .media_type = format->media_type };
	ret = prepare(c, s, known == 1 || (known < 0 && (format->needs & EXPORT_GONE) != 0));
	if (ret == E_OK) {
		ret = api_stream(c, &spec);
	}
	if (ret != E_OK) {
		export_done(s);
	}
	return ret;
}

int api_export_list(struct api_call *c)
{
	json_t *list = json_array();

	for (const struct export_format *f = export_formats; f->name != NULL; f++) {
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", f->name,
		                                      "media_type", f->media_type,
		                                      "summary", f->summary));
	}
	body_json(&c->body, json_pack("{s:o}", "formats", list));
	return E_OK;
}
