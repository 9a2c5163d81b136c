/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * LIDs and states of virtual ports, by difference. A virtual port that does not answer or refuses holds
 * nobody up: the sweep goes on, and the next one tries again.
 */
#include <errno.h>
#include <infiniband/umad_types.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/config.h"
#include "conf/policy/partitions.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
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

void vports_check_partitions(struct vports *v, const struct partitions *p)
{
	if (has_members(p) && v->n_hosts != 0 && !v->reported_members) {
		v->reported_members = true;
		log_message(
			MSG_VIRT_ALL_VCAS, source,
			"ALL_VCAS has no effect, because P_Key tables of virtual ports are not written");
	}
}
