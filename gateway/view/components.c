/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/components.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/union_find.h"
#include "db/snapshot/reader.h"

void components_done(struct components *p)
{
	free(p->guids);
	free(p->parent);
	memset(p, 0, sizeof(*p));
}

/* Position of a GUID, or n. */
static uint32_t position(const struct components *p, uint64_t guid)
{
	size_t at = LOWER_BOUND(p->n, i, p->guids[i] < guid);

	return at < p->n && p->guids[at] == guid ? (uint32_t)at : p->n;
}

static int read_nodes(struct components *p, struct snap_reader *r)
{
	struct snap_node node;
	uint32_t cap = snap_meta(r)->n_nodes + 1;
	uint64_t from = 0;

	p->guids = calloc(cap, sizeof(*p->guids));
	p->parent = calloc(cap, sizeof(*p->parent));
	if (p->guids == NULL || p->parent == NULL) {
		return -ENOMEM;
	}
	union_init(p->parent, cap);
	for (;;) {
		int ret = snap_node_from(r, from, &node);
		if (ret != E_OK) {
			return ret == E_NOTFOUND ? E_OK : ret;
		}
		if (p->n == cap) {
			return E_MALFORMED; /* more nodes than the head says */
		}
		p->guids[p->n] = node.guid;
		p->n++;
		if (node.guid == UINT64_MAX) {
			return E_OK;
		}
		from = node.guid + 1;
	}
}

static int read_links(struct components *p, struct snap_reader *r)
{
	struct snap_link link = { .guid_a = 0 };
	uint64_t guid = 0;
	unsigned port = 0;

	for (;;) {
		int ret = snap_link_from(r, guid, (uint8_t)port, &link);
		if (ret != E_OK) {
			return ret == E_NOTFOUND ? E_OK : ret;
		}
		uint32_t a = position(p, link.guid_a), b = position(p, link.guid_b);
		if (a == p->n || b == p->n) {
			return E_MALFORMED;
		}
		union_join(p->parent, a, b);
		guid = link.guid_a;
		port = link.port_a + 1U; /* ports end at 254 */
	}
}

int components_build(struct components *p, struct snap_reader *r)
{
	const struct snap_meta *m = snap_meta(r);
	uint64_t nodes = m->version[SNAP_NODES], links = m->version[SNAP_LINKS];
	uint64_t version = nodes > links ? nodes : links;

	if (p->epoch == m->epoch && p->version == version) {
		return E_OK;
	}
	components_done(p);
	int ret = read_nodes(p, r);
	if (ret == E_OK) {
		ret = read_links(p, r);
	}
	if (ret != E_OK) {
		components_done(p);
		return ret;
	}
	p->epoch = m->epoch;
	p->version = version;
	return E_OK;
}

bool components_connected(const struct components *p, uint64_t guid_a, uint64_t guid_b)
{
	uint32_t a = position(p, guid_a), b = position(p, guid_b);
	return a < p->n && b < p->n &&
	       union_find(p->parent, a) == union_find(p->parent, b);
}
