/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/components.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/reader.h"

void parts_done(struct parts *p)
{
	free(p->guids);
	free(p->parent);
	memset(p, 0, sizeof(*p));
}

/* Position of a GUID, or n. */
static uint32_t position(const struct parts *p, uint64_t guid)
{
	uint32_t low = 0, high = p->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (p->guids[middle] < guid) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < p->n && p->guids[low] == guid ? low : p->n;
}

static uint32_t root(const struct parts *p, uint32_t i)
{
	while (p->parent[i] != i) {
		i = p->parent[i];
	}
	return i;
}

/* Joins two parts; every step on the way is halved, so trees stay flat. */
static void join(struct parts *p, uint32_t a, uint32_t b)
{
	uint32_t ends[2] = { a, b };

	for (unsigned k = 0; k < 2; k++) {
		uint32_t i = ends[k];
		while (p->parent[i] != i) {
			p->parent[i] = p->parent[p->parent[i]];
			i = p->parent[i];
		}
		ends[k] = i;
	}
	if (ends[0] < ends[1]) {
		p->parent[ends[1]] = ends[0];
	} else {
		p->parent[ends[0]] = ends[1];
	}
}

static int read_nodes(struct parts *p, struct snap_reader *r)
{
	struct snap_node node;
	uint32_t cap = snap_meta(r)->n_nodes + 1;
	uint64_t from = 0;

	p->guids = calloc(cap, sizeof(*p->guids));
	p->parent = calloc(cap, sizeof(*p->parent));
	if (p->guids == NULL || p->parent == NULL) {
		return -ENOMEM;
	}
	for (;;) {
		int err = snap_node_from(r, from, &node);
		if (err == E_NOTFOUND) {
			return E_OK;
		}
		if (err != E_OK) {
			return err;
		}
		if (p->n == cap) {
			return E_MALFORMED; /* more nodes than the head says */
		}
		p->guids[p->n] = node.guid;
		p->parent[p->n] = p->n;
		p->n++;
		if (node.guid == UINT64_MAX) {
			return E_OK;
		}
		from = node.guid + 1;
	}
}

static int read_links(struct parts *p, struct snap_reader *r)
{
	struct snap_link link = { .guid_a = 0 };
	uint64_t guid = 0;
	unsigned port = 0;

	for (;;) {
		int err = snap_link_from(r, guid, (uint8_t)port, &link);
		if (err != E_OK) {
			return err == E_NOTFOUND ? E_OK : err;
		}
		uint32_t a = position(p, link.guid_a), b = position(p, link.guid_b);
		if (a == p->n || b == p->n) {
			return E_MALFORMED;
		}
		join(p, a, b);
		guid = link.guid_a;
		port = link.port_a + 1U; /* ports end at 254 */
	}
}

int parts_build(struct parts *p, struct snap_reader *r)
{
	const struct snap_meta *m = snap_meta(r);
	uint64_t nodes = m->version[SNAP_NODES], links = m->version[SNAP_LINKS];
	uint64_t version = nodes > links ? nodes : links;

	if (p->epoch == m->epoch && p->version == version) {
		return E_OK;
	}
	parts_done(p);
	int err = read_nodes(p, r);
	if (err == E_OK) {
		err = read_links(p, r);
	}
	if (err != E_OK) {
		parts_done(p);
		return err;
	}
	p->epoch = m->epoch;
	p->version = version;
	return E_OK;
}

bool parts_same(const struct parts *p, uint64_t guid_a, uint64_t guid_b)
{
	uint32_t a = position(p, guid_a), b = position(p, guid_b);
	return a < p->n && b < p->n && root(p, a) == root(p, b);
}
