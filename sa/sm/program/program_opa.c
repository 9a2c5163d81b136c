/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Ports of Omni-Path.
 *
 *   NeighborMTU     one per VL in use: the smaller MTUCap of the two ends, and no more than its virtual fabrics may
 *                   have; 0 for others. VL 15 has 2,048 since the link came up
 *   XmitQ           of a switch: how long packets of the VLs in use and of VL 15 may wait
 *   LID, LMC        of a switch port: those of the adapter behind it, by which the switch drops packets with a
 *                   false source; 0 towards another switch
 *   PacketFormats   what both ends support, without 8B and 10B, which need P_Keys of their own
 *   VL15CreditRate  towards an adapter that may not manage 18, else 0
 *   WidthDowngrade  which widths the link may come down to while it is up: those that it is to drop no more lanes for
 *   PortErrorAction errors for which the port restarts its link
 *   reasons         why a link was down is cleared when it is armed; why one stays in Init is said at the port of
 *                   a switch behind which a node was refused
 *   MulticastFDBTop of a switch: the last MLID that it has room for and that we give, since groups come and go
 *                   between sweeps. 0 after power-on, and then a switch may forward none
 *
 * A switch activates all its ports by one Set(PortStateInfo); 0 leaves a port as it is. If it refuses,
 * each port gets its state by itself, which tells which of them it is. ACTIVE needs a neighbour that
 * is ARMED (NeighborNormal). A port whose neighbour is late is no fault, and another sweep
 * follows.
 *
 * Source: what opa-fm writes; the hfi1 driver for what an agent accepts.
 */
#include "sa/sm/program/program_opa.h"

#include <errno.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_smp.h"
#include "sa/sm/discover/admit.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/program/opa_lanes.h"
#include "sa/sm/program/program.h"

enum {
	LINK_UP = 1,                      /* LinkInitReason */
	QUARANTINED = 9,                  /* the node is not what the port says */
	INSUFFICIENT = 10,                /* it lacks what it needs */
	FORMATS_WITHOUT_P_KEY = ~(1 | 4), /* all but 8B and 10B */
	HOST_CREDIT_RATE = 18
};

/* --- lanes ------------------------------------------------------------------------------ */

enum { PROFILES = 32 };

/* Ports that are alike are computed once in a sweep. */
struct opa_profiles {
	unsigned n;
	struct opa_profile of[PROFILES];
};

int program_opa_begin(struct program *p, const struct opa_lanes *l)
{
	p->opa_profiles = arena_alloc(p->arena, sizeof(*p->opa_profiles));
	if (p->opa_profiles == NULL) {
		return -ENOMEM;
	}
	p->opa_profiles->n = 0;
	p->opa = l;
	return E_OK;
}

static uint8_t code_of(const struct program *p, const struct port *gp)
{
	bool on_switch = p->disc->g->nodes[gp->node].type == NODE_SWITCH;
	uint32_t most = config_max_op_vls(p->config, on_switch ? QOS_SWE : QOS_CA);

	return most < gp->vls ? (uint8_t)most : gp->vls;
}

static uint8_t at_most(uint64_t value, unsigned most)
{
	return (uint8_t)(value < most ? value : most);
}

const struct opa_profile *program_opa_profile(const struct program *p, uint32_t port)
{
	const struct graph *g = p->disc->g;
	const struct port *near = &g->ports[port];
	const struct port *far = near->peer != GRAPH_NONE ? &g->ports[near->peer] : near;
	const struct vl_rule *r = p->lanes->rule;
	const uint8_t *info = disc_port_of(p->disc, port)->opa_info;
	uint8_t a = code_of(p, near), b = code_of(p, far);
	bool on_switch = g->nodes[near->node].type == NODE_SWITCH;
	struct opa_link k = { .vls = link_vls(a < b ? a : b),
		              .mtu = near->mtu < far->mtu ? near->mtu : far->mtu };
	struct opa_profiles *list = p->opa_profiles;
	unsigned i = 0;

	if (r != NULL && on_switch) {
		k.class_out = (uint8_t)vl_class(r, g->nodes[near->node].sw, near->num);
	}
	if (info != NULL) {
		k.low_cap = at_most(field_get(info, OPA_PI_VL_ARB_LOW_CAP),
		                    OPA_BYTES_VL_ARB / 2);
		k.high_cap = at_most(field_get(info, OPA_PI_VL_ARB_HIGH_CAP),
		                     OPA_BYTES_VL_ARB / 2);
	}
	while (i < list->n && memcmp(&list->of[i].link, &k, sizeof(k)) != 0) {
		i++;
	}
	if (i == list->n) { /* the last one makes room */
		i = list->n < PROFILES ? list->n++ : PROFILES - 1;
		opa_lanes_profile(p->opa, &k, &list->of[i]);
	}
	return &list->of[i];
}

/* --- one port --------------------------------------------------------------------------- */

static bool is_switch(const struct graph *g, uint32_t port)
{
	return g->nodes[g->ports[port].node].type == NODE_SWITCH;
}

/* New MTUs count when a link comes up, but for VLs that nobody used before. */
static void plan_mtu(const struct opa_profile *f, bool fresh, uint8_t *info)
{
	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		if (vl != OPA_VL_MANAGEMENT &&
		    (fresh || (f->mtu[vl] != 0 &&
		               field_get(info, OPA_PI_NEIGHBOR_MTU(vl)) == 0))) {
			field_set(info, OPA_PI_NEIGHBOR_MTU(vl), f->mtu[vl]);
		}
	}
}

/* How long packets of a VL may wait. VLs that nobody uses stay as they were. */
static void plan_waits(const struct program *p, const struct opa_profile *f, bool leaf,
                       const uint8_t *was, uint8_t *info)
{
	const struct config *c = p->config;
	uint64_t life = leaf ? c->leaf_head_of_queue_lifetime : c->head_of_queue_lifetime,
		 stall = leaf ? c->leaf_vl_stall_count : c->vl_stall_count;

	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		if ((f->vls >> vl & 1) || vl == OPA_VL_MANAGEMENT) {
			field_set(info, OPA_PI_VL_STALL_COUNT(vl), stall);
			field_set(info, OPA_PI_HOQ_LIFE(vl),
			          f->hoq_life[vl] >= 0 ? (uint64_t)f->hoq_life[vl]
			                               : life);
		} else {
			field_set(info, OPA_PI_VL_STALL_COUNT(vl),
			          field_get(was, OPA_PI_VL_STALL_COUNT(vl)));
			field_set(info, OPA_PI_HOQ_LIFE(vl),
			          field_get(was, OPA_PI_HOQ_LIFE(vl)));
		}
	}
}

/* Host links let one packet of low priority pass now and then, if there are VLs of high priority. */
static void plan_lanes(const struct program *p, uint32_t port, bool restart,
                       uint8_t *info)
{
	const struct graph *g = p->disc->g;
	const struct opa_profile *f = program_opa_profile(p, port);
	bool leaf = !is_switch(g, port) || !is_switch(g, g->ports[port].peer);

	plan_mtu(f, restart || g->ports[port].state <= PORT_INIT, info);
	field_set(info, OPA_PI_VL_HIGH_LIMIT, p->opa->high != 0 && leaf);
	if (is_switch(g, port)) {
		plan_waits(p, f, leaf, disc_port_of(p->disc, port)->opa_info, info);
	}
}

/* The check of source LIDs by a switch. */
static void plan_source(const struct program *p, uint32_t peer, uint8_t *info)
{
	const struct graph *g = p->disc->g;
	struct lid_range none = { 0 }, r = is_switch(g, peer) ? none : p->lids->of[peer];

	field_set(info, OPA_PI_LID, r.base);
	field_set(info, OPA_PI_LMC, r.base != 0 ? r.lmc : 0);
	field_set(info, OPA_PI_VL15_CREDIT_RATE,
	          is_switch(g, peer) || field_get(info, OPA_PI_MGMT_ALLOWED)
	                  ? 0
	                  : HOST_CREDIT_RATE);
}

/* The widths down to that with the most dropped lanes. A width is a bit, and the lowest one is 1x. */
static void plan_downgrade(const struct program *p, uint32_t port, uint32_t peer,
                           uint8_t *info)
{
	const struct graph *g = p->disc->g;
	uint64_t active = field_get(info, OPA_PI_LINK_WIDTH_ACTIVE), widths = active;
	uint32_t most = is_switch(g, port) && is_switch(g, peer)
	                        ? p->config->switch_dropped_lanes
	                        : p->config->host_dropped_lanes;

	for (uint32_t i = 1; i <= most; i++) {
		widths |= active >> i;
	}
	if (active != 0) {
		field_set(info, OPA_PI_WIDTH_DOWNGRADE_ENABLED,
		          widths & field_get(info, OPA_PI_WIDTH_DOWNGRADE_SUPPORTED));
	}
}

static void plan_link(const struct program *p, uint32_t port, bool restart, uint8_t *info)
{
	const struct graph *g = p->disc->g;
	uint32_t peer = g->ports[port].peer;
	const uint8_t *far = disc_port_of(p->disc, peer)->opa_info;

	field_set(info, OPA_PI_LINK_INIT_REASON, LINK_UP);
	field_set(info, OPA_PI_PORT_ERROR_ACTION, p->config->port_error_action);
	plan_downgrade(p, port, peer, info);
	if (far != NULL && p->opa != NULL) {
		plan_lanes(p, port, restart, info);
	}
	if (far != NULL) {
		field_set(info, OPA_PI_PACKET_FORMATS_ENABLED,
		          field_get(info, OPA_PI_PACKET_FORMATS_SUPPORTED) &
		                  field_get(far, OPA_PI_PACKET_FORMATS_SUPPORTED) &
		                  FORMATS_WITHOUT_P_KEY);
	}
	if (is_switch(g, port)) {
		plan_source(p, peer, info);
	}
}

unsigned program_opa_refusal(uint32_t reasons)
{
	enum {
		IDENTITY = ADMIT_NODE_GUID | ADMIT_PORT_NUM | ADMIT_NODE_TYPE |
		           ADMIT_FIRMWARE
	};

	return reasons & IDENTITY ? QUARANTINED : INSUFFICIENT;
}

void program_opa_clear_reasons(uint8_t info[OPA_BYTES_PORT_INFO])
{
	field_set(info, OPA_PI_LINK_DOWN_REASON, 0);
	field_set(info, OPA_PI_NEIGHBOR_LINK_DOWN_REASON, 0);
}

/* An adapter takes packets to LIDs up to MaxLID, which is 0xBFFF after power-on. */
void program_opa_identity(const struct program *p, uint32_t port,
                          uint8_t info[OPA_BYTES_PORT_INFO])
{
	enum { ROUND = 0x3ff };
	struct lid_range r = p->lids->of[port];
	uint32_t most = p->lids->top | ROUND;

	field_set(info, OPA_PI_LID, r.base);
	field_set(info, OPA_PI_LMC, r.lmc);
	field_set(info, OPA_PI_MASTER_SM_LID, p->sm_lid);
	if (!is_switch(p->disc->g, port) && field_get(info, OPA_PI_HAS_MAX_LID) &&
	    field_get(info, OPA_PI_MAX_LID) < most) {
		field_set(info, OPA_PI_MAX_LID, most);
	}
}

void program_opa_plan(const struct program *p, uint32_t port, const uint8_t want[64],
                      bool restart, uint8_t ret_info[OPA_BYTES_PORT_INFO])
{
	const struct port *gp = &p->disc->g->ports[port];

	memcpy(ret_info, disc_port_of(p->disc, port)->opa_info, OPA_BYTES_PORT_INFO);
	opa_port_info_overlay(ret_info, want, false);
	if (graph_is_end_port(p->disc->g, port)) {
		program_opa_identity(p, port, ret_info);
	}
	if (gp->peer == GRAPH_NONE) {
		return;
	}
	plan_link(p, port, restart, ret_info);
	if (gp->state <= PORT_INIT) {
		program_opa_clear_reasons(ret_info);
	}
}

bool program_opa_plan_switch(const struct disc_node *n, uint32_t top, uint8_t *ret_info)
{
	uint64_t cap, most = OPA_MLID_MOST;

	if (n->opa_switch_info == NULL) {
		return false;
	}
	memcpy(ret_info, n->opa_switch_info, OPA_BYTES_SWITCH_INFO);
	field_set(ret_info, OPA_SI_LINEAR_FDB_TOP, top);
	cap = field_get(ret_info, OPA_SI_MULTICAST_FDB_CAP);
	cap = cap < most ? cap : most;
	if (cap != 0) {
		field_set(ret_info, OPA_SI_MULTICAST_FDB_TOP, OPA_MLID_FIRST + cap - 1);
	}
	return memcmp(ret_info, n->opa_switch_info, OPA_BYTES_SWITCH_INFO) != 0;
}

uint64_t program_opa_hash(const uint8_t info[OPA_BYTES_PORT_INFO])
{
	uint8_t copy[OPA_BYTES_PORT_INFO + 6] = { 0 };
	uint64_t h = 1;

	memcpy(copy, info, OPA_BYTES_PORT_INFO);
	field_set(copy, OPA_PI_PORT_STATES, 0);
	field_set(copy, OPA_PI_LOCAL_PORT_NUM, 0);
	field_set(copy, OPA_PI_CLIENT_REREGISTER, 0);
	field_set(copy, OPA_PI_M_KEY_VIOLATIONS, 0);
	field_set(copy, OPA_PI_P_KEY_VIOLATIONS, 0);
	field_set(copy, OPA_PI_Q_KEY_VIOLATIONS, 0);
	for (unsigned i = 0; i < sizeof(copy); i += 8) {
		h = digest_add(h, field_get(copy, 8 * i, 64));
	}
	return h;
}

int program_opa_answered(struct disc_port *p, struct arena *a, const struct smp_reply *r)
{
	int ret = disc_keep_port_info(p, a, r);

	if (ret == E_OK && r->native != NULL) {
		field_set(p->opa_info, OPA_PI_CLIENT_REREGISTER,
		          0); /* asks, and is not kept */
	}
	return ret;
}

bool program_opa_waits(const struct disc_port *p, unsigned state)
{
	return state == PORT_ACTIVE && p->opa_info != NULL &&
	       field_get(p->opa_info, OPA_PI_PORT_STATE) == PORT_ARMED &&
	       !field_get(p->opa_info, OPA_PI_NEIGHBOR_NORMAL);
}

/* --- ACTIVE ----------------------------------------------------------------------------- */

/* A Set(PortStateInfo) that waits for its answer. */
struct activation {
	struct program *p;
	struct disc_node *node;
};

static bool is_armed(const struct program *p, const struct disc_node *n, unsigned num)
{
	const struct disc_port *dp = &n->ports[num];
	uint32_t port = graph_port(p->disc->g, n->graph_node, num);

	return dp->has_info && dp->opa_info != NULL &&
	       p->disc->g->ports[port].peer != GRAPH_NONE &&
	       field_get(dp->info, PI_PORT_STATE) == PORT_ARMED;
}

static void take_states(struct disc_port *dp, const uint8_t *states)
{
	if (dp->opa_info != NULL) {
		field_set(dp->opa_info, OPA_PI_PORT_STATES,
		          field_get(states, OPA_PS_PORT_STATES));
		field_set(dp->info, PI_PORT_STATE, field_get(states, OPA_PS_PORT_STATE));
		field_set(dp->info, PI_PORT_PHYSICAL_STATE,
		          field_get(states, OPA_PS_PORT_PHYSICAL_STATE));
	}
}

static void on_states_set(void *ctx, const struct smp_reply *r)
{
	enum { COUNT_SHIFT = 24, PORT = 0xff };
	struct activation *c = ctx;
	struct program *p = c->p;
	unsigned first = r->mod & PORT, end = first + (r->mod >> COUNT_SHIFT);
	bool complete = r->ret == E_OK &&
	                r->native_len >= (end - first) * (size_t)OPA_PORT_STATES_BYTES;

	if (r->ret == E_TIMEOUT) {
		(void)program_answered(p, c->node, 0, r->ret, 0, "Set(PortStateInfo)");
		return;
	}
	for (unsigned i = first; i < end; i++) {
		if (complete) {
			take_states(&c->node->ports[i],
			            r->native +
			                    (size_t)(i - first) * OPA_PORT_STATES_BYTES);
		} else if (is_armed(p, c->node, i)) {
			program_port_state(p,
			                   graph_port(p->disc->g, c->node->graph_node, i),
			                   PORT_ACTIVE);
		}
	}
}

/* Ports \a first to \a end - 1 of a switch. */
static int activate(struct program *p, struct disc_node *n, unsigned first, unsigned end)
{
	enum { COUNT_SHIFT = 24 };
	struct activation *c = arena_alloc(p->arena, sizeof(*c));
	uint8_t states[OPA_PORT_STATES_MAX * OPA_PORT_STATES_BYTES] = { 0 };

	if (c == NULL) {
		return -ENOMEM;
	}
	*c = (struct activation){ .p = p, .node = n };
	for (unsigned i = first; i < end; i++) {
		if (is_armed(p, n, i)) {
			field_set(states + (size_t)(i - first) * OPA_PORT_STATES_BYTES,
			          OPA_PS_PORT_STATE, PORT_ACTIVE);
		}
	}
	p->n_port_sets++;
	return smp_submit(
		p->smp,
		&(struct smp_request){ .dest = &n->dest,
	                               .method = UMAD_METHOD_SET,
	                               .attr = OPA_ATTR_PORT_STATE_INFO,
	                               .mod = (end - first) << COUNT_SHIFT | first,
	                               .data = states,
	                               .native_len = (end - first) *
	                                             (size_t)OPA_PORT_STATES_BYTES,
	                               .retries = 2 * p->config->transaction_retries + 1,
	                               .done = on_states_set,
	                               .ctx = c });
}

int program_opa_activate(struct program *p)
{
	for (uint32_t i = 0; i < p->n_nodes && p->ret == E_OK; i++) {
		struct disc_node *n = p->disc->of[p->nodes[i]];
		unsigned first = 1, end = n->n_ports;

		if (n->type != NODE_SWITCH) {
			continue;
		}
		while (first <= end && !is_armed(p, n, first)) {
			first++;
		}
		while (end >= first && !is_armed(p, n, end)) {
			end--;
		}
		for (unsigned at = first; at <= end && p->ret == E_OK;
		     at += OPA_PORT_STATES_MAX) {
			unsigned most = at + OPA_PORT_STATES_MAX;

			p->ret = activate(p, n, at, most <= end ? most : end + 1);
		}
	}
	return p->ret;
}
