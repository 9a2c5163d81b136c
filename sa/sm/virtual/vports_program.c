/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * P_Keys, LIDs and states of virtual ports, by difference; and their GUIDs are read. A virtual port that does not answer or
 * refuses holds nobody up: the sweep goes on, and the next one tries again.
 */
#include <errno.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/p_key.h"
#include "conf/config.h"
#include "conf/policy/partitions.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/partition/plan.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/program/program.h"
#include "sa/sm/virtual/vports.h"

static const char *const source = "virtual ports";

/* A request for a virtual port; in the arena of the sweep. */
struct vport_set {
	const struct vports_program *p;
	struct vport_host *host;
	struct vport *vport;
	uint32_t block;
	uint8_t data[SMP_DATA_BYTES];
};

static int submit(struct vport_set *s, uint8_t method, uint16_t attr, uint32_t mod,
                  smp_done_f *done)
{
	const struct program *program = s->p->program;
	const struct port *port = &program->disc->g->ports[s->host->port];
	const struct disc_node *n = program->disc->of[port->node];

	if (n->ports[port->num].dest == NULL) {
		return E_OK;
	}
	return smp_submit(
		program->smp,
		&(struct smp_request){ .dest = n->ports[port->num].dest,
	                               .method = method,
	                               .attr = attr,
	                               .mod = mod,
	                               .data = s->data,
	                               .retries = program->config->transaction_retries,
	                               .done = done,
	                               .ctx = s });
}

static struct vport_set *set_new(const struct vports_program *p, struct vport_host *h,
                                 struct vport *v)
{
	struct vport_set *s = arena_alloc(p->arena, sizeof(*s));

	if (s != NULL) {
		*s = (struct vport_set){ .p = p, .host = h, .vport = v };
	}
	return s;
}

/* \return true: it was done. */
static bool answered(const struct vport_set *s, const struct smp_reply *r,
                     const char *what)
{
	const struct program *program = s->p->program;
	const struct port *port = &program->disc->g->ports[s->host->port];

	if (r->ret == E_TIMEOUT) {
		(*s->p->n_unread)++;
		smp_dest_revive(r->dest);
	} else if (r->ret != E_OK && !s->host->told) {
		s->host->told = true;
		log_message(MSG_VIRT_REFUSED, source,
		            "%s: virtual port %u refuses %s with status 0x%04x",
		            disc_place(program->disc, program->disc->of[port->node],
		                       port->num),
		            s->vport->index, what, r->status);
	}
	return r->ret == E_OK;
}

/* Calls a step for each virtual port that is there. */
static int for_each(const struct vports_program *p,
                    int (*step)(const struct vports_program *, struct vport_host *,
                                struct vport *))
{
	int ret = E_OK;

	for (uint32_t i = 0; i < p->v->n_hosts; i++) {
		struct vport_host *h = p->v->hosts[i];

		for (uint32_t k = 0; k < h->n && h->port != GRAPH_NONE && ret == E_OK;
		     k++) {
			if (!h->list[k].refused) {
				ret = step(p, h, &h->list[k]);
			}
		}
	}
	return ret;
}

/* --- LIDs and states -------------------------------------------------------------------- */

static void on_set(void *ctx, const struct smp_reply *r)
{
	struct vport_set *s = ctx;

	if (answered(s, r, "Set(VPortInfo)")) {
		s->vport->shown_lid = (uint16_t)field_get(r->data, VPI_LID);
		s->vport->state = (uint8_t)field_get(r->data, VPI_STATE);
	}
}

static int set_info(const struct vports_program *p, struct vport_host *h, struct vport *v,
                    unsigned state)
{
	struct vport_set *s = set_new(p, h, v);

	if (s == NULL) {
		return -ENOMEM;
	}
	field_set(s->data, VPI_STATE, state);
	field_set(s->data, VPI_LID, v->own_lid ? v->lid : 0);
	field_set(s->data, VPI_LID_BY_INDEX, v->lid_by_index);
	field_set(s->data, VPI_CLIENT_REREGISTER,
	          state == PORT_ACTIVE &&
	                  (p->program->reregister || v->state < PORT_ACTIVE));
	return submit(s, UMAD_METHOD_SET, VPORT_ATTR_INFO, v->index, on_set);
}

static int set_lid(const struct vports_program *p, struct vport_host *h, struct vport *v)
{
	return v->own_lid && v->lid != 0 && v->lid != v->shown_lid ? set_info(p, h, v, 0)
	                                                           : E_OK;
}

static int activate(const struct vports_program *p, struct vport_host *h, struct vport *v)
{
	bool ready = v->lid != 0 && (!v->own_lid || v->lid == v->shown_lid);
	bool wanted = v->state == PORT_INIT || v->state == PORT_ARMED ||
	              (v->state == PORT_ACTIVE && p->program->reregister);

	return ready && wanted ? set_info(p, h, v, PORT_ACTIVE) : E_OK;
}

int vports_set_lids(const struct vports_program *p)
{
	return for_each(p, set_lid);
}

int vports_activate(const struct vports_program *p)
{
	return for_each(p, activate);
}

/* --- P_Keys ------------------------------------------------------------------------------- */

static unsigned table_size(const struct vport *v)
{
	return v->partition_cap < VPORT_KEYS_MAX ? v->partition_cap : VPORT_KEYS_MAX;
}

static unsigned n_blocks(const struct vport *v)
{
	return (table_size(v) + PORT_BLOCK_P_KEYS - 1) / PORT_BLOCK_P_KEYS;
}

static void on_keys_set(void *ctx, const struct smp_reply *r)
{
	struct vport_set *s = ctx;
	struct port_block *b = &s->vport->keys->block[s->block];

	b->known = answered(s, r, "Set(VPort P_Key table)");
	if (b->known) {
		memcpy(b->data, r->data, PORT_BLOCK_BYTES);
	}
}

/* All blocks are known: sends those that differ. */
static int send_keys(const struct vports_program *p, struct vport_host *h,
                     struct vport *v)
{
	uint16_t now[VPORT_KEYS_MAX], want[VPORT_KEYS_MAX] = { 0 };
	unsigned size = table_size(v);
	int ret = E_OK;

	for (unsigned i = 0; i < size; i++) {
		now[i] = (uint16_t)field_get(v->keys->block[i / PORT_BLOCK_P_KEYS].data,
		                             16 * (i % PORT_BLOCK_P_KEYS), 16);
	}
	if (!partition_plan_place(v->keys->want, v->keys->n, 0,
	                          p->program->config->keep_pkey_indexes ? now : NULL,
	                          size, want) &&
	    !h->told) {
		h->told = true;
		log_message(
			MSG_VIRT_TABLE_FULL, source,
			"virtual port %u (0x%016llx): its P_Key table has %u entries, "
			"too "
			"few for its %u P_Keys; it gets the first ones",
			v->index, (unsigned long long)v->guid, size, v->keys->n);
	}
	for (unsigned b = 0; b < n_blocks(v) && ret == E_OK; b++) {
		struct vport_set *s = set_new(p, h, v);

		if (s == NULL) {
			return -ENOMEM;
		}
		s->block = b;
		for (unsigned i = 0; i < PORT_BLOCK_P_KEYS; i++) {
			field_set(s->data, 16 * i, 16, want[b * PORT_BLOCK_P_KEYS + i]);
		}
		if (memcmp(s->data, v->keys->block[b].data, PORT_BLOCK_BYTES) != 0) {
			ret = submit(s, UMAD_METHOD_SET, VPORT_ATTR_P_KEYS,
			             (uint32_t)v->index << 16 | b, on_keys_set);
		}
	}
	return ret;
}

static bool all_known(const struct vport *v)
{
	for (unsigned b = 0; b < n_blocks(v); b++) {
		if (!v->keys->block[b].known) {
			return false;
		}
	}
	return true;
}

static void on_keys_read(void *ctx, const struct smp_reply *r)
{
	struct vport_set *s = ctx;
	struct port_block *b = &s->vport->keys->block[s->block];

	if (!answered(s, r, "Get(VPort P_Key table)")) {
		return;
	}
	memcpy(b->data, r->data, PORT_BLOCK_BYTES);
	b->known = true;
	if (all_known(s->vport)) {
		(void)send_keys(s->p, s->host, s->vport); /* else the next sweep does */
	}
}

static int set_keys(const struct vports_program *p, struct vport_host *h, struct vport *v)
{
	int ret = E_OK;

	if (v->keys == NULL) {
		v->keys = calloc(1, sizeof(*v->keys));
	}
	if (v->keys == NULL) {
		return -ENOMEM;
	}
	v->keys->n = (uint16_t)partition_vport_keys(p->partitions, v->guid,
	                                            p->program->config->allow_both_pkeys,
	                                            v->keys->want, VPORT_KEYS_MAX);
	if (all_known(v)) {
		return send_keys(p, h, v);
	}
	for (unsigned b = 0; b < n_blocks(v) && ret == E_OK; b++) {
		struct vport_set *s = v->keys->block[b].known ? NULL : set_new(p, h, v);

		if (s != NULL) {
			s->block = b;
			ret = submit(s, UMAD_METHOD_GET, VPORT_ATTR_P_KEYS,
			             (uint32_t)v->index << 16 | b, on_keys_read);
		}
	}
	return ret;
}

static int forget_keys(const struct vports_program *p, struct vport_host *h,
                       struct vport *v)
{
	(void)p;
	(void)h;
	free(v->keys);
	v->keys = NULL;
	return E_OK;
}

static bool has_members(const struct partitions *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		for (uint32_t k = 0; k < p->all[i].n_members; k++) {
			if (p->all[i].members[k].who == PARTITION_ALL_VCAS) {
				return true;
			}
		}
	}
	return false;
}

int vports_set_p_keys(const struct vports_program *p)
{
	if (p->program->config->virt_unverified_layouts) {
		p->v->told_unverified = false;
		return for_each(p, set_keys);
	}
	if (has_members(p->partitions) && p->v->n_hosts != 0 && !p->v->told_unverified) {
		p->v->told_unverified = true;
		log_message(MSG_VIRT_ALL_VCAS, source,
		            "ALL_VCAS has no effect, because P_Key tables of virtual "
		            "ports are not written without virt_unverified_layouts");
	}
	return for_each(p, forget_keys);
}

/* --- GUIDs -------------------------------------------------------------------------------- */

static unsigned n_guid_blocks(const struct vport *v)
{
	return (v->guid_cap + PORT_BLOCK_GUIDS - 1) / PORT_BLOCK_GUIDS;
}

unsigned vports_guid_count(const struct vport *v)
{
	for (unsigned b = 0; v->guids != NULL && b < n_guid_blocks(v); b++) {
		if (!v->guids->block[b].known) {
			return 0;
		}
	}
	return v->guids != NULL && v->guid_cap != 0 &&
	                       field_get(v->guids->block[0].data, 0, 64) == v->guid
	               ? v->guid_cap
	               : 0;
}

static void on_guids_read(void *ctx, const struct smp_reply *r)
{
	struct vport_set *s = ctx;
	struct vport *v = s->vport;
	struct port_block *b = &v->guids->block[s->block];

	if (!answered(s, r, "Get(VPortGUIDInfo)")) {
		return;
	}
	memcpy(b->data, r->data, PORT_BLOCK_BYTES);
	b->known = true;
	if (s->block == 0 && field_get(b->data, 0, 64) != v->guid && !s->host->told) {
		s->host->told = true;
		log_message(MSG_VIRT_UNREAD, source,
		            "virtual port %u (0x%016llx): VPortGUIDInfo does not begin "
		            "with its GUID, so the adapter does not expect the layout of "
		            "virt_unverified_layouts; it keeps the GUIDs that it has",
		            v->index, (unsigned long long)v->guid);
	}
}

static int read_guids(const struct vports_program *p, struct vport_host *h,
                      struct vport *v)
{
	int ret = E_OK;

	if (!h->has_guids || !v->own_lid) {
		return E_OK;
	}
	if (v->guids == NULL) {
		v->guids = calloc(1, sizeof(*v->guids));
	}
	if (v->guids == NULL) {
		return -ENOMEM;
	}
	for (unsigned b = 0; b < n_guid_blocks(v) && ret == E_OK; b++) {
		struct vport_set *s = v->guids->block[b].known ? NULL : set_new(p, h, v);

		if (s != NULL) {
			s->block = b;
			ret = submit(s, UMAD_METHOD_GET, VPORT_ATTR_GUID_INFO,
			             (uint32_t)v->index << 16 | b, on_guids_read);
		}
	}
	return ret;
}

static int forget_guids(const struct vports_program *p, struct vport_host *h,
                        struct vport *v)
{
	(void)p;
	(void)h;
	free(v->guids);
	v->guids = NULL;
	return E_OK;
}

int vports_read_guids(const struct vports_program *p)
{
	return for_each(p, p->program->config->virt_unverified_layouts ? read_guids
	                                                               : forget_guids);
}

/* --- P_Keys of switch ports --------------------------------------------------------------- */

static int compare_key(const void *x, const void *y)
{
	uint16_t a = *(const uint16_t *)x, b = *(const uint16_t *)y;

	if (((a ^ b) & P_KEY_BASE) != 0) {
		return (a & P_KEY_BASE) < (b & P_KEY_BASE) ? -1 : 1;
	}
	return (a > b) - (a < b);
}

uint32_t vports_add_keys(const struct vports *v, uint64_t node_guid, uint8_t num,
                         uint16_t *keys, uint32_t n, uint32_t max)
{
	const struct vport_host *h = vports_find(v, node_guid, num);
	uint32_t all = n, kept = 0;

	for (uint32_t i = 0; h != NULL && i < h->n; i++) {
		const struct vport_keys *k = h->list[i].refused ? NULL : h->list[i].keys;

		for (uint32_t j = 0; k != NULL && j < k->n && all < max; j++) {
			keys[all++] = k->want[j];
		}
	}
	if (all == n) {
		return n;
	}
	qsort(keys, all, sizeof(*keys), compare_key);
	for (uint32_t i = 0; i < all; i++) {
		if (kept == 0 || keys[kept - 1] != keys[i]) {
			keys[kept++] = keys[i];
		}
	}
	return kept;
}
