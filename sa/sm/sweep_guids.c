/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Alias GUIDs into the GUID tables of ports: what clients wanted, as the durable state
 * has it, over what the port has. Blocks that differ from the copy of what is there are
 * sent.
 *
 * A heavy sweep does it with the multicast tables, and an idle fabric thread in between
 * as soon as the state's version says that clients changed something. Places that no
 * client ever asked for stay as they are.
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "db/state.h"
#include "routing/graph/graph.h"
#include "sa/sm/sweep_int.h"
#include "sa/store/alias.h"

enum { KEY_BYTES = 9 };

/* One request on its way. */
struct guid_set {
	struct sweep *s;
	const struct disc_node *node;
	uint8_t port;
	struct port_block *block;
	uint8_t guids[PORT_BLOCK_BYTES]; /* what was asked for */
};

static void on_set(void *ctx, const struct smp_reply *r)
{
	struct guid_set *g = ctx;

	if (program_answered(&g->s->job->program, g->node, g->port, r->ret, r->status,
	                     "Set(GUIDInfo)")) {
		memcpy(g->block->data, r->data, PORT_BLOCK_BYTES);
		g->block->known = true;
	} else {
		g->block->known = false; /* it may or may not have arrived */
	}
}

static int send_block(struct guid_set *g, struct smp_dest *dest, unsigned block)
{
	struct program *p = &g->s->job->program;

	p->n_guid_sets++;
	return smp_submit(
		g->s->smp,
		&(struct smp_request){ .dest = dest,
	                               .method = UMAD_METHOD_SET,
	                               .attr = UMAD_SM_ATTR_GUID_INFO,
	                               .mod = block,
	                               .data = g->guids,
	                               .retries = 2 * p->config->transaction_retries + 1,
	                               .done = on_set,
	                               .ctx = g });
}

/* The port with this GUID in the fabric as it is. NULL: not there. */
static const struct disc_port *find_port(const struct sweep *s, uint64_t port_guid,
                                         const struct disc_node **ret)
{
	const struct disc *d = &s->job->disc;
	uint32_t port = graph_port_by_guid(d->g, port_guid);

	if (port == GRAPH_NONE) {
		return NULL;
	}
	const struct port *p = &d->g->ports[port];
	*ret = d->of[p->node];
	return &(*ret)->ports[p->num];
}

static int want(struct sweep *s, uint64_t port_guid, unsigned block,
                const struct alias_block *b)
{
	const struct disc_node *node;
	const struct disc_port *p = find_port(s, port_guid, &node);
	struct port_tables *t =
		p != NULL ? port_tables_find(&s->port_copies, node->guid, p->num) : NULL;
	uint8_t guids[PORT_BLOCK_BYTES] = { 0 };

	if (t == NULL || p->dest == NULL || block >= t->table[PORT_GUIDS].n) {
		return E_OK; /* gone, or it has fewer GUIDs than it had */
	}
	struct port_block *copy = &t->table[PORT_GUIDS].block[block];
	if (copy->known) {
		memcpy(guids, copy->data, sizeof(guids));
	} else if (block == 0) {
		field_set(guids, 0, 64, port_guid);
	}
	alias_overlay(b, guids);
	if (copy->known && memcmp(guids, copy->data, sizeof(guids)) == 0) {
		return E_OK;
	}
	struct guid_set *g = arena_alloc(s->guids_arena, sizeof(*g));
	if (g == NULL) {
		return -ENOMEM;
	}
	*g = (struct guid_set){ .s = s, .node = node, .port = p->num, .block = copy };
	memcpy(g->guids, guids, sizeof(guids));
	return send_block(g, p->dest, block);
}

/* The store's time of expiry stands in front of the value. */
static int add_row(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                   size_t len)
{
	struct alias_block b;

	if (key_len != KEY_BYTES || len != sizeof(int64_t) + sizeof(b)) {
		return E_MALFORMED;
	}
	memcpy(&b, value + sizeof(int64_t), sizeof(b));
	return want(ctx, field_get(key, 0, 64), key[KEY_BYTES - 1], &b);
}

bool guids_changed(const struct sweep *s)
{
	return state_version(s->d.state, RECORDS_GUIDS) != s->guids_version;
}

int guids_start(struct sweep *s)
{
	guids_end(s); /* of a step that was given up */
	s->guids_version = state_version(s->d.state, RECORDS_GUIDS);
	s->guids_arena = arena_new();
	return s->guids_arena == NULL
	               ? -ENOMEM
	               : state_records(s->d.state, RECORDS_GUIDS, add_row, s);
}

void guids_end(struct sweep *s)
{
	arena_free(s->guids_arena);
	s->guids_arena = NULL;
}
