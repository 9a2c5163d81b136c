/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A port that has no such table is left alone. One that does not answer keeps nobody from
 * coming up, but no path leads to it without its P_Keys, so the sweep reads such tables
 * again. Places in a GUID table that no client ever asked for stay as they are.
 *
 * A heavy sweep sets alias GUIDs with the multicast tables. An idle fabric thread does so
 * between sweeps, as soon as the state's version says that clients changed something.
 */
#include "sa/sm/port_tables.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/config.h"
#include "db/state.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sm/p_keys.h"
#include "sa/sm/sm.h"
#include "sa/store/alias.h"

enum { KEY_BYTES = 9 };

static const char *const source = "sweep";

/* --- reading -------------------------------------------------------------------------- */

/* A Get that waits for its answer; in the arena of the job. */
struct table_read {
	struct job *job;
	struct port_block *block;
};

static void on_block(void *ctx, const struct smp_reply *r)
{
	struct table_read *t = ctx;

	if (r->ret == E_OK) {
		memcpy(t->block->data, r->data, PORT_BLOCK_BYTES);
		t->block->known = true;
		t->block->differs = false;
	} else if (r->ret == E_TIMEOUT) {
		t->job->n_unread++;
		smp_dest_revive(r->dest);
	}
}

static int read_table(struct sm *sm, struct job *j, struct shadow_port *t,
                      enum port_table_kind kind, struct smp_dest *dest, uint32_t mod)
{
	int ret = E_OK;

	for (unsigned b = 0; b < t->table[kind].n && ret == E_OK; b++) {
		struct table_read *one;

		if (t->table[kind].block[b].known) {
			continue;
		}
		one = arena_alloc(j->arena, sizeof(*one));
		if (one == NULL) {
			return -ENOMEM;
		}
		*one = (struct table_read){ .job = j, .block = &t->table[kind].block[b] };
		ret = smp_submit(sm->smp,
		                 &(struct smp_request){
					 .dest = dest,
					 .method = UMAD_METHOD_GET,
					 .attr = kind == PORT_GUIDS
		                                         ? UMAD_SM_ATTR_GUID_INFO
		                                         : UMAD_SM_ATTR_PKEY_TABLE,
					 .mod = mod | b,
					 .retries = sm->d.config->transaction_retries,
					 .done = on_block,
					 .ctx = one });
	}
	return ret;
}

static unsigned blocks(uint64_t entries, unsigned of_a_block)
{
	return (unsigned)((entries + of_a_block - 1) / of_a_block);
}

/* How many blocks of P_Keys a port has that are worth reading. */
static unsigned p_key_blocks(const struct config *c, const struct disc *d,
                             const struct disc_node *n, const struct disc_port *p)
{
	uint64_t cap = field_get(n->node_info, NI_PARTITION_CAP);

	if (n->type == NODE_SWITCH && p->num != 0) {
		bool enforces = p_keys_enforced(c, d, n, p) != 0 ||
		                field_get(p->info, PI_PARTITION_ENFORCEMENT_INBOUND) ||
		                field_get(p->info, PI_PARTITION_ENFORCEMENT_OUTBOUND);

		cap = enforces ? field_get(n->switch_info, SI_PARTITION_ENFORCEMENT_CAP)
		               : 0;
	}
	return blocks(cap, PORT_BLOCK_P_KEYS);
}

/* Has the port been restarted since its tables were read? Port 0 has no link that would show
 * it, so it counts as restarted when all other ports are down or training. */
static bool restarted(const struct disc_node *n, const struct disc_port *p)
{
	if (p->num != 0) {
		return field_get(p->info, PI_PORT_STATE) < PORT_ARMED;
	}
	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (n->ports[i].has_info &&
		    field_get(n->ports[i].info, PI_PORT_STATE) >= PORT_ARMED) {
			return false;
		}
	}
	return true;
}

static int read_port(struct sm *sm, struct job *j, const struct disc_node *n,
                     const struct disc_port *p, bool forget)
{
	bool end_port = n->type != NODE_SWITCH || p->num == 0;
	uint32_t mod = n->type == NODE_SWITCH ? (uint32_t)p->num << 16 : 0;
	unsigned n_guids =
		end_port ? blocks(field_get(p->info, PI_GUID_CAP), PORT_BLOCK_GUIDS) : 0;
	unsigned n_p_keys = p_key_blocks(sm->d.config, &j->disc, n, p);
	struct shadow_port *t;
	int ret;

	if (n_guids + n_p_keys == 0 &&
	    shadow_port_find(&sm->shadow, n->guid, p->num) == NULL) {
		return E_OK;
	}
	t = shadow_port_get(&sm->shadow, n->guid, p->num);
	ret = t != NULL ? shadow_port_resize(t, PORT_P_KEYS, n_p_keys) : -ENOMEM;
	if (ret == E_OK) {
		ret = shadow_port_resize(t, PORT_GUIDS, n_guids);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (forget || restarted(n, p)) {
		shadow_port_forget(t);
	}
	ret = read_table(sm, j, t, PORT_P_KEYS, p->dest, mod);
	return ret == E_OK ? read_table(sm, j, t, PORT_GUIDS, p->dest, 0) : ret;
}

static int read_vports(struct sm *sm, struct job *j, bool forget)
{
	j->vports_read = (struct vports_read){ .v = &sm->vports,
		                               .smp = sm->smp,
		                               .disc = &j->disc,
		                               .config = sm->d.config,
		                               .arena = j->arena,
		                               .now_ms = sm_now(sm),
		                               .forget = forget || j->read_tables };
	return vports_read(&j->vports_read);
}

int port_tables_read(struct sm *sm, struct job *j, bool forget)
{
	const struct disc *d = &j->disc;
	int ret = read_vports(sm, j, forget);

	for (uint32_t i = 0; i < d->g->n_nodes && ret == E_OK; i++) {
		const struct disc_node *n = d->of[i];

		for (unsigned num = 0; num <= n->n_ports && ret == E_OK; num++) {
			const struct disc_port *p = &n->ports[num];

			if (p->has_info && p->dest != NULL) {
				ret = read_port(sm, j, n, p, forget);
			}
		}
	}
	return ret;
}

/* --- alias GUIDs ----------------------------------------------------------------------- */

/* A block of the GUIDs of a port or virtual port: our copy, and where Sets go. */
struct guid_block {
	struct port_block *copy;
	const struct disc_node *node;
	const struct disc_port *port;
	struct vport_host *host; /* of a virtual port, else NULL */
	bool managed;            /* it may be written */
	uint16_t attr;
	uint32_t mod;
};

/* A Set(GUIDInfo) or Set(VPortGUIDInfo) that waits for its answer. */
struct guid_set {
	struct alias_guids *a;
	uint64_t guid; /* of the port */
	unsigned block;
	uint8_t guids[PORT_BLOCK_BYTES]; /* as sent */
};

static bool port_guid_block(const struct alias_guids *a, uint32_t port, unsigned block,
                            struct guid_block *ret)
{
	const struct graph *g = a->job->disc.g;
	const struct disc_node *node = a->job->disc.of[g->ports[port].node];
	const struct disc_port *p = &node->ports[g->ports[port].num];
	struct shadow_port *t = shadow_port_find(&a->sm->shadow, node->guid, p->num);

	if (t == NULL || p->dest == NULL || block >= t->table[PORT_GUIDS].n) {
		return false; /* it has fewer GUIDs than it had */
	}
	*ret = (struct guid_block){ .copy = &t->table[PORT_GUIDS].block[block],
		                    .node = node,
		                    .port = p,
		                    .managed = true,
		                    .attr = UMAD_SM_ATTR_GUID_INFO,
		                    .mod = block };
	return true;
}

/* Written only if the whole table was read and found where it is expected. */
static bool vport_guid_block(const struct alias_guids *a, uint64_t guid, unsigned block,
                             struct guid_block *ret)
{
	const struct graph *g = a->job->disc.g;
	struct vport_host *h;
	struct vport *v = vports_by_guid(&a->sm->vports, guid, &h);

	if (v == NULL || v->guids == NULL || h->port >= g->n_ports ||
	    block * PORT_BLOCK_GUIDS >= v->guid_cap) {
		return false;
	}
	const struct disc_node *node = a->job->disc.of[g->ports[h->port].node];
	const struct disc_port *p = &node->ports[h->num];
	*ret = (struct guid_block){ .copy = &v->guids->block[block],
		                    .node = node,
		                    .port = p,
		                    .host = h,
		                    .managed = vports_guid_count(v) != 0,
		                    .attr = VPORT_ATTR_GUID_INFO,
		                    .mod = (uint32_t)v->index << 16 | block };
	return node->guid == h->node_guid && p->dest != NULL;
}

/* \return false: the port is not there at present, or has no such block. */
static bool find_block(const struct alias_guids *a, uint64_t guid, unsigned block,
                       struct guid_block *ret)
{
	uint32_t port = graph_port_by_guid(a->job->disc.g, guid);

	return port != GRAPH_NONE ? port_guid_block(a, port, block, ret)
	                          : vport_guid_block(a, guid, block, ret);
}

/* A virtual port that refuses is asked again by the next sweep, as vports_program.c does it: it says
 * nothing about its port. */
static bool vport_answered(struct alias_guids *a, const struct guid_block *b,
                           const struct smp_reply *r)
{
	if (r->ret == E_TIMEOUT) {
		a->n_silent++;
		smp_dest_revive(r->dest);
	} else if (r->ret != E_OK && !b->host->told) {
		b->host->told = true;
		log_message(MSG_VIRT_REFUSED, source,
		            "%s: virtual port %u refuses Set(VPortGUIDInfo) with status "
		            "0x%04x",
		            disc_place(&a->job->disc, b->node, b->port->num),
		            b->mod >> 16, r->status);
	}
	return r->ret == E_OK;
}

static void on_guids_set(void *ctx, const struct smp_reply *r)
{
	struct guid_set *g = ctx;
	struct guid_block b;

	if (!find_block(g->a, g->guid, g->block, &b)) {
		return; /* a virtual port that has gone meanwhile */
	}
	b.copy->known = b.host != NULL ? vport_answered(g->a, &b, r)
	                               : program_answered(&g->a->job->program, b.node,
	                                                  b.port->num, r->ret, r->status,
	                                                  "Set(GUIDInfo)");
	if (b.copy->known) { /* else it may or may not have arrived */
		memcpy(b.copy->data, r->data, PORT_BLOCK_BYTES);
	}
}

/* Sends one block of a port's GUIDs if it differs from what the port has. */
static int set_block(struct alias_guids *a, uint64_t port_guid, unsigned block,
                     const struct alias_block *b)
{
	uint8_t guids[PORT_BLOCK_BYTES] = { 0 };
	struct guid_block at;
	struct guid_set *g;

	if (!find_block(a, port_guid, block, &at) || !at.managed) {
		return E_OK;
	}
	if (at.copy->known) {
		memcpy(guids, at.copy->data, sizeof(guids));
	} else if (block == 0) {
		field_set(guids, 0, 64, port_guid);
	}
	alias_overlay(b, guids);
	if (at.copy->known && memcmp(guids, at.copy->data, sizeof(guids)) == 0) {
		return E_OK;
	}
	g = arena_alloc(a->arena, sizeof(*g));
	if (g == NULL) {
		return -ENOMEM;
	}
	*g = (struct guid_set){ .a = a, .guid = port_guid, .block = block };
	memcpy(g->guids, guids, sizeof(guids));
	a->job->program.n_guid_sets++;
	return smp_submit(a->sm->smp,
	                  &(struct smp_request){
				  .dest = at.port->dest,
				  .method = UMAD_METHOD_SET,
				  .attr = at.attr,
				  .mod = at.mod,
				  .data = g->guids,
				  .retries = 2 * a->sm->d.config->transaction_retries + 1,
				  .done = on_guids_set,
				  .ctx = g });
}

/* A row of the store: the time of expiry stands in front of the value. */
static int set_row(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                   size_t len)
{
	struct alias_block b;

	if (key_len != KEY_BYTES || len != sizeof(int64_t) + sizeof(b)) {
		return E_MALFORMED;
	}
	memcpy(&b, value + sizeof(int64_t), sizeof(b));
	return set_block(ctx, field_get(key, 0, 64), key[KEY_BYTES - 1], &b);
}

bool alias_guids_changed(const struct alias_guids *a)
{
	return state_version(a->sm->d.state, RECORDS_GUIDS) != a->version;
}

int alias_guids_start(struct alias_guids *a, struct job *j)
{
	alias_guids_end(a); /* of a step that was given up */
	a->job = j;
	a->n_silent = 0;
	a->version = state_version(a->sm->d.state, RECORDS_GUIDS);
	a->arena = arena_new();
	return a->arena == NULL
	               ? -ENOMEM
	               : state_records(a->sm->d.state, RECORDS_GUIDS, set_row, a);
}

void alias_guids_end(struct alias_guids *a)
{
	arena_free(a->arena);
	a->arena = NULL;
}
