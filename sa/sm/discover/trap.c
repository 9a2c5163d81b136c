/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Source: IBA vol. 1, 13.4.8 (Notice), 14.2.5.1 (traps of the subnet).
 */
#include "sa/sm/discover/trap.h"

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stddef.h>

#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "sa/mad/fields.h"
#include "sa/mad/notice.h"
#include "sa/mad/transport.h"

enum { FORGED_LINES = 5, FORGED_LINES_MS = 60000 };

static const char *const source = "sweep";

uint32_t trap_owner(const struct lids *l, uint32_t lid)
{
	return lid <= l->top ? l->owner[lid] : GRAPH_NONE;
}

/* Does a packet that has this LID as an end come or go over this port of a switch? 0: over any. */
static bool hangs_on(const struct graph *g, uint32_t end, uint32_t sw, uint64_t num)
{
	uint32_t peer = end != GRAPH_NONE ? g->ports[end].peer : GRAPH_NONE;

	return end != GRAPH_NONE && (g->ports[end].node == sw ||
	                             (peer != GRAPH_NONE && g->ports[peer].node == sw &&
	                              (num == 0 || g->ports[peer].num == num)));
}

/* A port reports packets that it got itself (traps 257 and 258). A switch reports those that came
 * or went over one of its ports (trap 259). Either is one end of what it tells of. NULL: it fits. */
static const char *fault_of_violation(const struct graph *g, const struct lids *l,
                                      uint32_t port, unsigned number,
                                      const uint8_t *notice)
{
	uint32_t a = trap_owner(l, notice_lid(notice));
	uint32_t b = trap_owner(l, notice_lid_2(notice));
	uint32_t node = g->ports[port].node;
	uint64_t num = field_get(notice, NTC_259_PORT);
	uint32_t sw_lid = (uint32_t)field_get(notice, NTC_259_SW_LID);

	if (number != UMAD_SM_BAD_SWITCH_PKEY_TRAP) {
		return a == port || b == port
		               ? NULL
		               : "neither end of what it tells of is its issuer";
	}
	if (g->nodes[node].type != NODE_SWITCH) {
		return "its issuer is no switch";
	}
	if ((sw_lid != 0 && trap_owner(l, sw_lid) != port) ||
	    num > g->nodes[node].n_ports) {
		return "it is about another port";
	}
	return hangs_on(g, a, node, num) || hangs_on(g, b, node, num)
	               ? NULL
	               : "neither end of what it tells of is cabled to its issuer";
}

/* Can a node of this kind say this about this port? NULL: yes, else why not. */
static const char *fault_of_kind(const struct graph *g, const struct lids *l,
                                 uint32_t port, uint32_t owner, unsigned number,
                                 const uint8_t *notice)
{
	const struct node *n = &g->nodes[g->ports[port].node];

	switch (number) {
	case UMAD_SM_GID_IN_SERVICE_TRAP:
	case UMAD_SM_GID_OUT_OF_SERVICE_TRAP:
	case UMAD_SM_MGID_CREATED_TRAP:
	case UMAD_SM_MGID_DESTROYED_TRAP:
		return "only subnet administration reports this";
	case UMAD_SM_LINK_STATE_CHANGED_TRAP:
		return n->type != NODE_SWITCH ? "its issuer is no switch"
		       : owner != port        ? "it is about another port"
		                              : NULL;
	case UMAD_SM_LINK_INTEGRITY_THRESHOLD_TRAP:
	case UMAD_SM_BUFFER_OVERRUN_THRESHOLD_TRAP:
	case UMAD_SM_WATCHDOG_TIMER_EXPIRED_TRAP:
		return owner != port ? "it is about another port"
		       : field_get(notice, NTC_129_PORT) > n->n_ports
		               ? "its issuer has no such port"
		               : NULL;
	case VPORT_TRAP_CHANGES:
	case VPORT_TRAP_STATE:
		if (n->type != NODE_CA) {
			return "only channel adapters have virtual ports";
		}
		return owner != port ? "it is about another port" : NULL;
	case UMAD_SM_LOCAL_CHANGES_TRAP:
	case UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP:
		return owner != port ? "it is about another port" : NULL;
	case UMAD_SM_BAD_PKEY_TRAP:
	case UMAD_SM_BAD_QKEY_TRAP:
	case UMAD_SM_BAD_SWITCH_PKEY_TRAP:
	case VPORT_TRAP_P_KEY:
	case VPORT_TRAP_Q_KEY: return fault_of_violation(g, l, port, number, notice);
	default: return NULL;
	}
}

static const char *fault_of(const struct trap_fabric *f, const struct mad_msg *m)
{
	const struct graph *g = f->g;
	const struct lids *l = f->lids;
	const uint8_t *notice = m->data + SMP_DATA_AT;
	unsigned number = (unsigned)field_get(notice, NTC_TRAP_NUMBER);
	uint32_t port, sender;

	if (m->addr.directed) {
		return "it came over a directed route";
	}
	if (g == NULL) { /* before the first sweep */
		return NULL;
	}
	port = trap_owner(l, notice_issuer(notice));
	sender = trap_owner(l, m->addr.lid);
	if (port == GRAPH_NONE) {
		return "no port has the LID of its issuer";
	}
	if (sender == GRAPH_NONE || g->ports[sender].node != g->ports[port].node) {
		return "it came from another node than its issuer";
	}
	if (!field_get(notice, NTC_IS_GENERIC)) {
		return NULL;
	}
	return fault_of_kind(g, l, port, trap_owner(l, notice_lid(notice)), number,
	                     notice);
}

/* Does it come from a LID that no port has now, but one that is away had? */
static bool has_returned(const struct trap_fabric *f, const struct mad_msg *m)
{
	uint32_t lid = notice_issuer(m->data + SMP_DATA_AT);

	if (f->g == NULL || m->addr.directed || m->addr.lid != lid ||
	    trap_owner(f->lids, lid) != GRAPH_NONE) {
		return false;
	}
	for (size_t i = 0; i < f->n_memory; i++) {
		const struct lid_range *r = &f->memory[i].range;

		if (lid >= r->base && lid - r->base < UINT32_C(1) << r->lmc) {
			return true;
		}
	}
	return false;
}

enum trap_verdict trap_believe(const struct trap_fabric *f, const struct mad_msg *m,
                               struct log_limit *lines, uint64_t now_ms)
{
	const uint8_t *notice = m->data + SMP_DATA_AT;
	const char *fault = fault_of(f, m);
	bool returned = fault != NULL && has_returned(f, m);
	char skipped[LOG_SKIPPED_BYTES];

	if (fault == NULL) {
		return TRAP_BELIEVED;
	}
	if (returned) {
		if (log_allowed(lines, now_ms, FORGED_LINES, FORGED_LINES_MS, skipped)) {
			log_info(
				source,
				"trap %u from LID %u, whose port was away: the fabric is looked at%s",
				(unsigned)field_get(notice, NTC_TRAP_NUMBER), m->addr.lid,
				skipped);
		}
		return TRAP_RETURNED;
	}
	if (log_allowed(lines, now_ms, FORGED_LINES, FORGED_LINES_MS, skipped)) {
		log_message(
			MSG_SM_TRAP_FORGED, source,
			"trap %u is not believed: %s (issuer LID %u, sent from LID %u)%s",
			(unsigned)field_get(notice, NTC_TRAP_NUMBER), fault,
			notice_issuer(notice), m->addr.lid, skipped);
	}
	return TRAP_FORGED;
}
