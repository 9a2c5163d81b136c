/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The end ports of an epoch in the order of their GUIDs, alias GUIDs among them, made
 * once when first asked for: `guids` is in that order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "db/layout.h"
#include "db/reader_int.h"

struct ends_cache {
	struct snap_ends list;
	struct snap_end_name *name;
	size_t cap;
};

static void free_cache(void *data)
{
	struct ends_cache *c = data;
	if (c) {
		free(c->name);
	}
	free(c);
}

static int add(struct ends_cache *c, uint64_t guid, const struct snap_end *end)
{
	if (VECTOR_RESERVE(c->name, c->cap, c->list.n + 1) != E_OK) {
		return -ENOMEM;
	}
	c->name[c->list.n++] = (struct snap_end_name){
		.guid = guid, .lid = end->base_lid, .is_alias = guid != end->port_guid
	};
	return E_OK;
}

/* A switch's NodeGUID is another name of its port 0, which is there by its PortGUID. */
static int add_row(struct snap_reader *r, struct ends_cache *c, const struct db_val *k,
                   const struct db_val *v)
{
	struct row_guid row;
	struct snap_end end;
	if (k->len != 8 || v->len != sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, v->data, sizeof(row));
	uint64_t guid = key_read_u64(k->data);
	int ret = row.base_lid ? snap_lid(r, row.base_lid, &end) : E_NOTFOUND;
	if (ret != E_OK || (guid == row.node_guid && guid != end.port_guid)) {
		return ret == E_NOTFOUND ? E_OK : ret;
	}
	c->list.of_lmc[end.lmc & 7]++;
	return add(c, guid, &end);
}

static int list_ends(struct snap_reader *r, struct ends_cache **ret)
{
	struct view *view = &r->view;
	struct ends_cache *c = calloc(1, sizeof(*c));
	struct db_val k, v;
	int err = c ? view_seek(view, SNAP_GUIDS, NULL, 0, &k, &v) : -ENOMEM;
	while (err == E_OK) {
		err = add_row(r, c, &k, &v);
		if (err == E_OK) {
			err = view_next(view, SNAP_GUIDS, &k, &v);
		}
	}
	if (err != E_NOTFOUND) {
		free_cache(c);
		return err;
	}
	c->list.name = c->name;
	*ret = c;
	return E_OK;
}

int snap_ends(struct snap_reader *r, const struct snap_ends **ret)
{
	struct ends_cache *c = r->epoch.cache[CACHE_ENDS].data;
	if (!c) {
		int err = list_ends(r, &c);
		if (err != E_OK) {
			return err;
		}
		r->epoch.cache[CACHE_ENDS].data = c;
		r->epoch.cache[CACHE_ENDS].free = free_cache;
	}
	*ret = &c->list;
	return E_OK;
}
