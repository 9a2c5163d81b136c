/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/discover/trust.h"

#include <infiniband/umad_types.h>

#include "conf/config.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/trap.h"

static bool is_listed(const struct config *c, uint64_t guid)
{
	for (uint32_t i = 0; i < c->allowed_sm_guids.n; i++) {
		if (c->allowed_sm_guids.guid[i] == guid) {
			return true;
		}
	}
	return false;
}

bool trust_allows(const struct config *c, uint64_t guid)
{
	return c->allowed_sm_guids.n == 0 || is_listed(c, guid) || is_listed(c, 0);
}

bool trust_names(const struct config *c, uint64_t guid, bool linked)
{
	return linked || (guid != 0 && is_listed(c, guid));
}

/* Does it keep its SM_Key to itself, if it has one? */
static bool hides_sm_key(const struct config *c, const uint8_t *info)
{
	return c->sm_key != 0 && field_get(info, SMI_SM_KEY) == 0;
}

bool trust_is_announced(const struct config *c, const uint8_t *info, bool linked)
{
	return c->sm_trust == SM_TRUST_ANY ||
	       trust_names(c, field_get(info, SMI_GUID), linked) ||
	       (c->sm_key > KEY_OF_ALL && c->m_key != 0 && !hides_sm_key(c, info));
}

/* Could it have seen that it is one of ours who asks? The M_Key of its own port tells it, or that
 * somebody named ours; then it has no reason to hide the SM_Key. One that all know says nothing: opa-fm
 * shows SM_Key 0 unless it was given one. */
static bool may_hide_sm_key(const struct config *c, uint64_t guid)
{
	return c->sm_key == KEY_OF_ALL ||
	       (!(c->m_key != 0 && c->m_key_per_port) && !is_listed(c, guid));
}

const char *trust_fault(const struct config *c, const uint8_t *info, uint64_t at)
{
	uint64_t guid = field_get(info, SMI_GUID);

	if (at == 0) {
		return "comes from a port that is not known here";
	}
	if (guid != at) {
		return "says the GUID of another port than its own";
	}
	if (!trust_allows(c, guid)) {
		return "is not in allowed_sm_guids";
	}
	if (hides_sm_key(c, info) && may_hide_sm_key(c, guid)) {
		return NULL;
	}
	if (c->sm_key != 0 && field_get(info, SMI_SM_KEY) != c->sm_key) {
		return "has another SM_Key; set sm_key to the same value on all subnet managers of a subnet";
	}
	return NULL;
}

/* The end port that a LID belongs to. */
static uint32_t port_of_lid(const struct disc *d, const struct lids *l, uint32_t lid)
{
	if (l != NULL) {
		return trap_owner(l, lid);
	}
	for (uint32_t i = 0; lid != 0 && i < d->g->n_end_ports; i++) {
		const struct disc_port *p = disc_port_of(d, d->g->end_ports[i]);
		uint32_t base = disc_lid(p);

		if (p->has_info && lid >= base &&
		    lid - base < UINT32_C(1) << field_get(p->info, PI_LMC)) {
			return d->g->end_ports[i];
		}
	}
	return GRAPH_NONE;
}

/* The end of the way that an answer would take. Only switches pass packets on. */
static uint32_t port_of_route(const struct graph *g, const uint8_t *mad)
{
	unsigned hops = (unsigned)field_get(mad, SMP_HOP_COUNT);
	uint32_t at = g->sm_port;

	if (field_get(mad, SMP_DR_SLID) != 0xffff ||
	    field_get(mad, SMP_DR_DLID) != 0xffff || hops > SMP_HOPS_MAX) {
		return GRAPH_NONE;
	}
	for (unsigned i = hops; i > 0; i--) {
		const struct node *n = &g->nodes[g->ports[at].node];
		unsigned out = mad[SMP_RETURN_PATH_AT + i];

		if (n->type != NODE_SWITCH) {
			if (at != g->sm_port || i != hops) {
				return GRAPH_NONE;
			}
		} else if (out == 0 || out > n->n_ports) {
			return GRAPH_NONE;
		} else {
			at = graph_port(g, g->ports[at].node, out);
		}
		at = g->ports[at].peer;
		if (at == GRAPH_NONE) {
			return GRAPH_NONE;
		}
	}
	return g->nodes[g->ports[at].node].type == NODE_SWITCH
	               ? g->nodes[g->ports[at].node].first_port
	               : at;
}

uint32_t trust_sender(const struct disc *d, const struct lids *l, const struct mad_msg *m)
{
	if (d->g == NULL) {
		return GRAPH_NONE;
	}
	return m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE
	               ? port_of_route(d->g, m->data)
	               : port_of_lid(d, l, m->addr.lid);
}
