/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/path/path_candidates.h"

#include "conf/base/err.h"

/* An end by its position, and the alias GUID by which it is there, 0: by its PortGUID. */
static int read_end(struct snap_reader *r, const struct snap_ends *all, uint32_t i,
                    struct snap_end *ret_end, uint64_t *ret_alias)
{
	const struct snap_end_name *name = &all->name[i];
	int ret = name->is_alias ? snap_port_guid(r, name->guid, ret_end)
	                         : snap_lid(r, name->lid, ret_end);

	*ret_alias = name->is_alias ? name->guid : 0;
	return ret == E_NOTFOUND ? E_MALFORMED : ret;
}

/* Position of the first GUID that is not below. */
static uint32_t position(const struct snap_ends *all, uint64_t guid)
{
	uint32_t low = 0, high = guid != 0 ? all->n : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (all->name[middle].guid < guid) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

int path_candidates_begin(struct path_candidates *w, struct snap_reader *r, bool any_src,
                     bool any_dst, const struct path_place *from)
{
	*w = (struct path_candidates){ .any_src = any_src, .any_dst = any_dst };
	int ret = snap_ends(r, &w->all);
	if (ret != E_OK) {
		return ret;
	}
	if (any_src) {
		w->src = position(w->all, from->key);
	} else if (any_dst) {
		w->dst = position(w->all, from->key);
	}
	if (any_src && any_dst && w->src < w->all->n &&
	    w->all->name[w->src].guid == from->key) {
		w->dst = position(w->all, from->sub);
	}
	return E_OK;
}

int path_candidates_next(struct path_candidates *w, struct snap_reader *r,
                         struct path_query *q, struct path_place *ret_place)
{
	uint32_t n_src = w->any_src ? w->all->n : 1, n_dst = w->any_dst ? w->all->n : 1;
	int ret = E_OK;

	if (w->dst >= n_dst) {
		w->dst = 0;
		w->src++;
		w->src_is_read = false;
	}
	if (w->src >= n_src || n_dst == 0) {
		return E_NOTFOUND;
	}
	if (w->any_src && !w->src_is_read) {
		ret = read_end(r, w->all, w->src, &q->src, &q->src_alias);
	}
	if (ret == E_OK && w->any_dst) {
		ret = read_end(r, w->all, w->dst, &q->dst, &q->dst_alias);
	}
	if (ret != E_OK) {
		return ret;
	}
	uint64_t src = w->any_src ? w->all->name[w->src].guid : 0;
	uint64_t dst = w->any_dst ? w->all->name[w->dst].guid : 0;
	ret_place->key = w->any_src ? src : dst;
	ret_place->sub = w->any_src ? dst : 0;
	w->src_is_read = true;
	w->dst++;
	return E_OK;
}
