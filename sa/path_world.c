/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/path_world.h"

#include "conf/err.h"

static int read_end(struct snap_reader *r, const struct snap_ends *all, uint32_t i,
                    struct snap_end *ret)
{
	int err = snap_lid(r, all->lid[i], ret);
	return err == E_NOTFOUND ? E_MALFORMED : err;
}

/* Position of the first end port whose PortGUID is not below. */
static int position(struct snap_reader *r, const struct snap_ends *all, uint64_t guid,
                    uint32_t *ret)
{
	uint32_t low = 0, high = guid != 0 ? all->n : 0;
	struct snap_end end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int err = read_end(r, all, middle, &end);
		if (err != E_OK) {
			return err;
		}
		if (end.port_guid < guid) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	*ret = low;
	return E_OK;
}

int path_world_begin(struct path_world *w, struct snap_reader *r, bool any_src,
                     bool any_dst, const struct path_place *from)
{
	struct snap_end at;

	*w = (struct path_world){ .any_src = any_src, .any_dst = any_dst };
	int err = snap_ends(r, &w->all);
	if (err == E_OK && (any_src || any_dst)) {
		err = position(r, w->all, from->key, any_src ? &w->src : &w->dst);
	}
	if (err != E_OK || !any_src || !any_dst || w->src == w->all->n) {
		return err;
	}
	err = read_end(r, w->all, w->src, &at);
	if (err == E_OK && at.port_guid == from->key) {
		err = position(r, w->all, from->sub, &w->dst);
	}
	return err;
}

int path_world_next(struct path_world *w, struct snap_reader *r, struct path_query *q,
                    struct path_place *ret)
{
	uint32_t n_src = w->any_src ? w->all->n : 1, n_dst = w->any_dst ? w->all->n : 1;
	int err = E_OK;

	if (w->dst >= n_dst) {
		w->dst = 0;
		w->src++;
		w->src_is_read = false;
	}
	if (w->src >= n_src || n_dst == 0) {
		return E_NOTFOUND;
	}
	if (w->any_src && !w->src_is_read) {
		err = read_end(r, w->all, w->src, &q->src);
	}
	if (err == E_OK && w->any_dst) {
		err = read_end(r, w->all, w->dst, &q->dst);
	}
	if (err != E_OK) {
		return err;
	}
	w->src_is_read = true;
	w->dst++;
	ret->key = w->any_src ? q->src.port_guid : w->any_dst ? q->dst.port_guid : 0;
	ret->sub = w->any_src && w->any_dst ? q->dst.port_guid : 0;
	return E_OK;
}
