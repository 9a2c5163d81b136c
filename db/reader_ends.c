/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The end ports of an epoch in the order of PortGUIDs, made once when first asked for. */
#include <errno.h>
#include <stdlib.h>

#include "conf/err.h"
#include "db/reader.h"
#include "db/reader_view.h"

struct key {
	uint64_t guid;
	uint32_t lid;
};

struct ends_cache {
	struct snap_ends list;
	uint32_t lid[];
};

void ends_cache_free(struct ends_cache *c)
{
	free(c);
}

static int by_guid(const void *a, const void *b)
{
	uint64_t x = ((const struct key *)a)->guid, y = ((const struct key *)b)->guid;

	return x < y ? -1 : x > y;
}

/* At most cap end ports, by LID; those of each LMC are counted. */
static int read_ends(struct snap_reader *r, uint32_t cap, struct key *key,
                     struct snap_ends *list)
{
	uint32_t top = snap_meta(r)->top_lid;
	struct snap_end end;
	for (uint32_t lid = 1; lid <= top && list->n < cap; lid++) {
		int ret = snap_lid(r, lid, &end);
		if (ret == E_NOTFOUND) {
			continue;
		}
		if (ret != E_OK) {
			return ret;
		}
		key[list->n++] = (struct key){ end.port_guid, end.base_lid };
		list->of_lmc[end.lmc & 7]++;
		lid = end.base_lid + (1u << (end.lmc & 7)) - 1;
	}
	return E_OK;
}

static int make(struct snap_reader *r, struct ends_cache **ret)
{
	uint32_t cap = snap_meta(r)->n_end_ports;
	struct ends_cache *c = calloc(1, sizeof(*c) + (cap + 1) * sizeof(c->lid[0]));
	struct key *key = malloc((cap + 1) * sizeof(*key));
	int err = c && key ? read_ends(r, cap, key, &c->list) : -ENOMEM;
	if (err == E_OK) {
		qsort(key, c->list.n, sizeof(*key), by_guid);
		for (uint32_t i = 0; i < c->list.n; i++) {
			c->lid[i] = key[i].lid;
		}
		c->list.lid = c->lid;
		*ret = c;
	} else {
		free(c);
	}
	free(key);
	return err;
}

int snap_ends(struct snap_reader *r, const struct snap_ends **ret)
{
	struct ends_cache **c = snap_ends_cache(r);
	int err = *c ? E_OK : make(r, c);
	if (err == E_OK) {
		*ret = &(*c)->list;
	}
	return err;
}
