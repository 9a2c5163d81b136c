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
	struct vports_program *p;
	struct vport_host *host;
	struct vport *vport;
};

/* The node of an adapter. NULL: nobody answers for its port. */
static struct disc_node *node_of(const struct vports_program *p,
                                 const struct vport_host *h)
{
	const struct port *port = &p->program->disc->g->ports[h->port];
	struct disc_node *n = p->program->disc->of[port->node];

	return n->ports[port->num].dest != NULL ? n : NULL;
}

static struct vport_set *set_new(struct vports_program *p, struct vport_host *h,
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
	} else if (r->ret != E_OK && !s->host->reported) {
		s->host->reported = true;
		log_message(MSG_VIRT_REFUSED, source,
		            "%s: virtual port %u refuses %s with status 0x%04x",
		            disc_place(program->disc, program->disc->of[port->node],
		                       port->num),
		            s->vport->index, what, r->status);
	}
	return r->ret == E_OK;
}

static void table_answered(void *ctx, const struct table_request *q,
                           const struct smp_reply *r)
{
	char what[TABLE_TEXT];

	(void)ctx;
	(void)answered(q->ctx, r, table_request_text(q, r, what));
}

/* Calls a step for each virtual port that is there. */
static int for_each(struct vports_program *p,
                    int (*step)(struct vports_program *, struct vport_host *,
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

static int set_info(struct vports_program *p, struct vport_host *h, struct vport *v,
                    unsigned state)
{
	const struct disc_node *n = node_of(p, h);
	struct vport_set *s = set_new(p, h, v);
	uint8_t data[SMP_DATA_BYTES] = { 0 };

	if (s == NULL || n == NULL) {
		return n == NULL ? E_OK : -ENOMEM;
	}
	field_set(data, VPI_STATE, state);
	field_set(data, VPI_LID, v->own_lid ? v->lid : 0);
	field_set(data, VPI_LID_BY_INDEX, v->lid_by_index);
	field_set(data, VPI_CLIENT_REREGISTER,
	          state == PORT_ACTIVE &&
	                  (p->program->reregister || v->state < PORT_ACTIVE));
	return smp_submit(
		p->program->smp,
		&(struct smp_request){ .dest = n->ports[h->num].dest,
	                               .method = UMAD_METHOD_SET,
	                               .attr = VPORT_ATTR_INFO,
	                               .mod = v->index,
	                               .data = data,
	                               .retries = p->program->config->transaction_retries,
	                               .done = on_set,
	                               .ctx = s });
}

static int set_lid(struct vports_program *p, struct vport_host *h, struct vport *v)
{
	return v->own_lid && v->lid != 0 && v->lid != v->shown_lid ? set_info(p, h, v, 0)
	                                                           : E_OK;
}

static int activate(struct vports_program *p, struct vport_host *h, struct vport *v)
{
	bool ready = v->lid != 0 && (!v->own_lid || v->lid == v->shown_lid);
	bool wanted = v->state == PORT_INIT || v->state == PORT_ARMED ||
	              (v->state == PORT_ACTIVE && p->program->reregister);

	return ready && wanted ? set_info(p, h, v, PORT_ACTIVE) : E_OK;
}

int vports_set_lids(struct vports_program *p)
{
	return for_each(p, set_lid);
}

int vports_activate(struct vports_program *p)
{
	return for_each(p, activate);
}

/* --- P_Keys ------------------------------------------------------------------------------- */

static unsigned n_places(const struct vport *v)
{
	return v->partition_cap < VPORT_KEYS_MAX ? v->partition_cap : VPORT_KEYS_MAX;
}

/* The table that an adapter keeps for a virtual port. NULL: out of memory. */
static struct table *table_of(const struct vport_set *s, enum table_kind_id kind,
                              unsigned n_blocks)
{
	return table_get(s->p->v->tables, kind, s->host->node_guid,
	                 table_vport_unit(s->host->num, s->vport->index), 1, n_blocks);
}

static struct table_request request(struct vport_set *s, struct table *t,
                                    table_done_f *done)
{
	return (struct table_request){ .io = &s->p->io,
		                       .node = node_of(s->p, s->host),
		                       .t = t,
		                       .done = done,
		                       .ctx = s };
}

/* All blocks are known: sends those that differ. */
static int send_keys(struct vport_set *s)
{
	struct vport_keys *keys = s->vport->keys;
	struct table_request q = request(s, keys->t, NULL);
	uint16_t now[VPORT_KEYS_MAX], want[VPORT_KEYS_MAX] = { 0 };
	uint8_t image[sizeof(want)];
	unsigned size = n_places(s->vport);

	for (unsigned i = 0; i < size; i++) {
		now[i] = (uint16_t)field_get(keys->t->data, 16 * i, 16);
	}
	if (!partition_plan_place(keys->want, keys->n, 0,
	                          s->p->program->config->keep_pkey_indexes ? now : NULL,
	                          size, want) &&
	    !s->host->reported) {
		s->host->reported = true;
		log_message(
			MSG_VIRT_TABLE_FULL, source,
			"virtual port %u (0x%016llx): its P_Key table has %u entries, too few for its %u P_Keys; it gets the first ones",
			s->vport->index, (unsigned long long)s->vport->guid, size,
			keys->n);
	}
	for (unsigned i = 0; i < VPORT_KEYS_MAX; i++) {
		field_set(image, 16 * i, 16, want[i]);
	}
	return q.node != NULL ? table_write(&q, image) : E_OK;
}

static void on_keys_read(void *ctx, struct table_request *q, const struct smp_reply *r)
{
	if (r->ret == E_OK && table_is_known(q->t)) {
		(void)send_keys(ctx); /* else the next sweep does */
	}
}

static int set_keys(struct vports_program *p, struct vport_host *h, struct vport *v)
{
	struct vport_set *s = set_new(p, h, v);
	struct table_request q;

	if (v->keys == NULL) {
		v->keys = calloc(1, sizeof(*v->keys));
	}
	if (s == NULL || v->keys == NULL) {
		return -ENOMEM;
	}
	v->keys->t = table_of(s, TABLE_VPORT_P_KEYS,
	                      table_blocks_of(n_places(v), PORT_BLOCK_P_KEYS));
	if (v->keys->t == NULL) {
		vports_drop_keys(v);
		return -ENOMEM;
	}
	v->keys->n = (uint16_t)partition_vport_keys(p->partitions, v->guid,
	                                            p->program->config->allow_both_pkeys,
	                                            v->keys->want, VPORT_KEYS_MAX);
	if (table_is_known(v->keys->t)) {
		return send_keys(s);
	}
	q = request(s, v->keys->t, on_keys_read);
	return q.node != NULL ? table_read(&q) : E_OK;
}

static int forget_keys(struct vports_program *p, struct vport_host *h, struct vport *v)
{
	(void)p;
	(void)h;
	vports_drop_keys(v);
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

int vports_set_p_keys(struct vports_program *p)
{
	p->io = (struct table_io){ .smp = p->program->smp,
		                   .store = p->v->tables,
		                   .arena = p->arena,
		                   .retries = p->program->config->transaction_retries,
		                   .answered = table_answered };
	if (p->program->config->virt_unverified_layouts) {
		p->v->reported_unverified = false;
		return for_each(p, set_keys);
	}
	if (has_members(p->partitions) && p->v->n_hosts != 0 &&
	    !p->v->reported_unverified) {
		p->v->reported_unverified = true;
		log_message(
			MSG_VIRT_ALL_VCAS, source,
			"ALL_VCAS has no effect, because P_Key tables of virtual ports are not written without virt_unverified_layouts");
	}
	return for_each(p, forget_keys);
}

/* --- GUIDs -------------------------------------------------------------------------------- */

unsigned vports_guid_count(const struct vport *v)
{
	return v->guids != NULL && v->guid_cap != 0 && table_is_known(v->guids) &&
	                       field_get(v->guids->data, 0, 64) == v->guid
	               ? v->guid_cap
	               : 0;
}

static void on_guids_read(void *ctx, struct table_request *q, const struct smp_reply *r)
{
	struct vport_set *s = ctx;
	struct vport *v = s->vport;

	if (r->ret == E_OK && q->block == 0 && field_get(q->t->data, 0, 64) != v->guid &&
	    !s->host->reported) {
		s->host->reported = true;
		log_message(
			MSG_VIRT_UNREAD, source,
			"virtual port %u (0x%016llx): VPortGUIDInfo does not begin with its GUID, so the adapter does not expect the layout of virt_unverified_layouts; it keeps the GUIDs that it has",
			v->index, (unsigned long long)v->guid);
	}
}

static int read_guids(struct vports_program *p, struct vport_host *h, struct vport *v)
{
	struct vport_set *s;
	struct table_request q;

	if (!h->has_guids || !v->own_lid) {
		return E_OK;
	}
	s = set_new(p, h, v);
	v->guids = s != NULL ? table_of(s, TABLE_VPORT_GUIDS,
	                                table_blocks_of(v->guid_cap, PORT_BLOCK_GUIDS))
	                     : NULL;
	if (v->guids == NULL) {
		return -ENOMEM;
	}
	q = request(s, v->guids, on_guids_read);
	return q.node != NULL ? table_read(&q) : E_OK;
}

static int forget_guids(struct vports_program *p, struct vport_host *h, struct vport *v)
{
	(void)p;
	(void)h;
	vports_drop_guids(v);
	return E_OK;
}

int vports_read_guids(struct vports_program *p)
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
