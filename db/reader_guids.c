/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Reading a snapshot: end ports by GUID, one of them and all of them.
 *
 * The end port of a GUID: clients ask for the same GUIDs again and again, and a search of
 * the table costs as much as all else that an answer takes. So what a search found is
 * kept for the epoch: in a hash table with one place per hash value and twice as many
 * places as there are end ports. A GUID that falls on a used place replaces the GUID there.
 *
 * All end ports in the order of their GUIDs, alias GUIDs among them: a list that is made
 * when it is first asked for. `guids` is in that order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "db/layout.h"
#include "db/reader_int.h"

struct place {
	uint64_t guid;
	uint32_t lid; /* 0: unused */
	bool is_vport;
	uint16_t p_key_set; /* of a virtual port */
};

struct guid_cache {
	unsigned shift; /* 64 - bits of a place's number */
	struct place place[];
};

/* Where the GUID has its place; NULL: out of memory, so nothing is kept. */
static struct place *place_of(struct snap_reader *r, uint64_t guid)
{
	struct guid_cache *c = r->epoch.cache[CACHE_GUIDS].data;

	if (c == NULL) {
		unsigned bits = 4;
		while (bits < 24 &&
		       UINT32_C(1) << bits < 2 * (uint64_t)r->meta.n_end_ports) {
			bits++;
		}
		c = calloc(1, sizeof(*c) + (sizeof(struct place) << bits));
		if (c == NULL) {
			return NULL;
		}
		c->shift = 64 - bits;
		r->epoch.cache[CACHE_GUIDS].data = c;
		r->epoch.cache[CACHE_GUIDS].free = free;
	}
	/* 2^64 by the golden ratio: GUIDs that follow each other spread well */
	return &c->place[guid * UINT64_C(0x9e3779b97f4a7c15) >> c->shift];
}

void snap_prefetch_guid(struct snap_reader *r, uint64_t guid)
{
	const struct place *p = place_of(r, guid);

	if (p != NULL) {
		__builtin_prefetch(p);
	}
}

uint32_t snap_guid_known(struct snap_reader *r, uint64_t guid)
{
	const struct place *p = place_of(r, guid);

	return p != NULL && p->guid == guid ? p->lid : 0;
}

static int search(struct snap_reader *r, uint64_t guid, struct place *ret)
{
	uint8_t key[8];
	struct db_val v;
	struct row_guid row;

	key_u64(key, guid);
	int res = view_get(&r->view, SNAP_GUIDS, key, sizeof(key), &v);
	if (res != E_OK) {
		return res;
	}
	if (v.len != sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, v.data, sizeof(row));
	*ret = (struct place){ guid, row.base_lid, row.is_vport, row.p_key_set };
	return row.base_lid ? E_OK : E_NOTFOUND;
}

/* The end of a virtual port that uses the LID of another port is that of the port, but for its
 * P_Keys. */
static int end_of(struct snap_reader *r, const struct place *p, struct snap_end *ret)
{
	int res = snap_lid(r, p->lid, ret);

	if (res == E_OK && p->is_vport) {
		ret->is_vport = 1;
		ret->p_key_set = p->p_key_set;
	}
	return res;
}

int snap_port_guid(struct snap_reader *r, uint64_t guid, struct snap_end *ret)
{
	struct place *p = place_of(r, guid);

	if (p == NULL || p->lid == 0 || p->guid != guid) {
		struct place found;
		int res = search(r, guid, &found);
		if (res != E_OK) {
			return res;
		}
		if (p != NULL) {
			*p = found;
		}
		return end_of(r, &found, ret);
	}
	return end_of(r, p, ret);
}

/* --- all end ports -------------------------------------------------------------------- */

struct ends_cache {
	struct snap_ends list;
	struct snap_end_name *name;
	size_t cap;
};

static void free_ends(void *data)
{
	struct ends_cache *c = data;
	if (c) {
		free(c->name);
	}
	free(c);
}

static int add_end(struct ends_cache *c, uint64_t guid, const struct snap_end *end)
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
static int add_end_row(struct snap_reader *r, struct ends_cache *c, const struct db_val *k,
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
	return add_end(c, guid, &end);
}

static int list_ends(struct snap_reader *r, struct ends_cache **ret)
{
	struct view *view = &r->view;
	struct ends_cache *c = calloc(1, sizeof(*c));
	struct db_val k, v;
	int err = c ? view_seek(view, SNAP_GUIDS, NULL, 0, &k, &v) : -ENOMEM;
	while (err == E_OK) {
		err = add_end_row(r, c, &k, &v);
		if (err == E_OK) {
			err = view_next(view, SNAP_GUIDS, &k, &v);
		}
	}
	if (err != E_NOTFOUND) {
		free_ends(c);
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
		r->epoch.cache[CACHE_ENDS].free = free_ends;
	}
	*ret = &c->list;
	return E_OK;
}
