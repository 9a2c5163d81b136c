/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The end port of a GUID. Clients ask for the same GUIDs again and again, and a search of
 * the table costs as much as all else that an answer takes. So what a search found is
 * kept for the epoch: in a hash table with one place per hash value and twice as many
 * places as there are end ports. A GUID that falls on a used place replaces the GUID there.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/layout.h"
#include "db/reader_int.h"

struct place {
	uint64_t guid;
	uint32_t lid; /* 0: unused */
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

static int search(struct snap_reader *r, uint64_t guid, uint32_t *ret_lid)
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
	*ret_lid = row.base_lid;
	return row.base_lid ? E_OK : E_NOTFOUND;
}

int snap_port_guid(struct snap_reader *r, uint64_t guid, struct snap_end *ret)
{
	struct place *p = place_of(r, guid);

	if (p == NULL || p->lid == 0 || p->guid != guid) {
		struct place found = { .guid = guid };
		int res = search(r, guid, &found.lid);
		if (res != E_OK) {
			return res;
		}
		if (p != NULL) {
			*p = found;
		}
		return snap_lid(r, found.lid, ret);
	}
	return snap_lid(r, p->lid, ret);
}
