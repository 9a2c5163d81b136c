/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Programming ports: PortInfo by difference.
 *
 * Longer than most: one Set carries all values of a port, so their reasons stand together.
 *
 * The wanted values are put over what was read from a port. A Set is sent only if the two
 * differ, and what its answer shows is kept as the new state. PortState and
 * PortPhysicalState of a Set stay 0, "no change", with three exceptions: the activation
 * itself, a link beyond INIT whose MTU or VLs must change, and a port in INIT that can be
 * ARMED by the Set that configures it. New MTU and VLs take effect only when a link comes up,
 * so a link beyond INIT, and no other, is restarted for them.
 *
 * An ARMED port sends no data packets, and it goes ACTIVE by itself only when one arrives, for
 * which its peer must be ACTIVE. Therefore tables may be programmed while ports are ARMED, and
 * no port is made ACTIVE before all of them stand. Both ends of an ARMED link expect flow
 * control on the operational VLs, so a port is ARMED with its configuration only if its peer
 * has this number of VLs already. All others, and a port that refuses both in one Set, are
 * ARMED after the tables.
 *
 * NeighborMTU is the smaller MTUCap of the two ends, OperationalVLs the smaller VLCap,
 * at most max_op_vls. Ports without a cable in the graph are left alone.
 *
 * Source: IBA vol. 1, 7.2.7 (states of a link: what ARMED sends and receives), 7.9 (flow
 * control), 14.2.5.6 (PortInfo), 14.4.4 (initialization by the master SM).
 */
#include "sa/sm/program/program.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_smp.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover/admit.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/health.h"
#include "sa/sm/discover/keyring.h"
#include "sa/sm/discover/shadow.h"
#include "sa/sm/program/program_opa.h"

enum {
	POLLING = 2,                         /* LinkDownDefaultState */
	MTU_4096 = 5,                        /* the most that InfiniBand's form shows */
	CAP_CLIENT_REREGISTRATION = 1 << 25, /* CapabilityMask */
	ALL_WIDTHS = 255,
	ALL_SPEEDS = 15,
	ALL_EXT_SPEEDS = 31,
	NO_EXT_SPEEDS = 30,
	ALL_EXT2_SPEEDS = 7,
	PORT_NUM_MASK = 0xff /* of the AttributeModifier */
};

bool program_answered(struct program *p, const struct disc_node *n, unsigned port,
                      int ret, unsigned status, const char *what)
{
	if (ret == E_OK) {
		return true;
	}
	if (ret == E_TIMEOUT && n->ports[n->type == NODE_SWITCH ? 0 : port].foreign) {
		/* No reason to give the sweep up; the next one will not do better. */
		p->n_refused++;
		if (p->first_trouble == NULL) {
			p->first_trouble = arena_printf(
				p->arena, "%s has an M_Key that is not known here",
				disc_place(p->disc, n, port));
		}
		return false;
	}
	p->n_timeouts += ret == E_TIMEOUT;
	p->n_switch_timeouts += ret == E_TIMEOUT && n->type == NODE_SWITCH;
	p->n_refused += ret != E_TIMEOUT;
	if (ret != E_TIMEOUT && p->health != NULL) {
		health_note_node(p->health, n, port, HEALTH_SETERR);
	}
	if (p->first_trouble == NULL && ret == E_TIMEOUT) {
		p->first_trouble = arena_printf(p->arena, "%s does not answer %s",
		                                disc_place(p->disc, n, port), what);
	} else if (p->first_trouble == NULL) {
		p->first_trouble =
			arena_printf(p->arena, "%s refuses %s with status 0x%04x",
		                     disc_place(p->disc, n, port), what, status);
	}
	return false;
}

void program_table_answered(void *ctx, const struct table_request *q,
                            const struct smp_reply *r)
{
	char what[TABLE_TEXT];

	/* a block of an LFT that cannot be read stays unknown and is sent */
	if (r->ret != E_OK && (r->ret == E_TIMEOUT || q->t->kind != TABLE_LFT)) {
		(void)program_answered(ctx, q->node, table_block_port(q->t, q->block),
		                       r->ret, r->status, table_request_text(q, r, what));
	}
}

int program_each_agent(struct program *p, uint32_t node,
                       int (*start)(struct program *p, uint32_t node, unsigned first,
                                    unsigned end))
{
	const struct node *n = &p->disc->g->nodes[node];
	int ret = E_OK;

	if (n->type == NODE_SWITCH) {
		return start(p, node, 0, n->n_ports + 1u);
	}
	for (unsigned k = 1; k <= n->n_ports && ret == E_OK; k++) {
		ret = start(p, node, k, k + 1);
	}
	return ret;
}

/* --- what a port should have ------------------------------------------------------ */

/* The wanted state of one port. */
struct port_plan {
	struct program *p;
	const struct graph *g;
	uint32_t port;      /* in the graph */
	const uint8_t *now; /* as read */
	uint8_t want[64];
	bool restart; /* the link must go down for the change to count */
	bool again;   /* the port refused this state once */
	bool is_opa;
	uint8_t opa
		[OPA_BYTES_PORT_INFO]; /* the wanted state as Omni-Path has it, without states */
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool on_switch(const struct port_plan *a)
{
	return a->g->nodes[a->g->ports[a->port].node].type == NODE_SWITCH;
}

/* SL of the route from a port to the SM: that of its lane if there are several lanes, and of
 * the QoS level of sm_sl if the routing has levels. */
static uint64_t sm_sl(const struct port_plan *a)
{
	const struct lanes *lanes = a->p->lanes;
	uint32_t sw = graph_switch_of(a->g, a->port);
	unsigned own = a->p->config->sm_sl;

	if (sw == GRAPH_NONE || (lanes->n == 1 && lanes->rule == NULL)) {
		return own;
	}
	if (lanes->rule != NULL) {
		return vl_rule_sl(lanes->rule, lane_of(lanes, sw, a->p->sm_lid),
		                  (own >> lanes->rule->level_shift) %
		                          lanes->rule->levels);
	}
	return lane_of(lanes, sw, a->p->sm_lid);
}

/* The identity of a port and of its manager. It is never taken from an answer: one that lies would
 * end in a port that hears nobody any more, because it has a M_Key that nobody knows. */
static void plan_identity(const struct program *p, uint32_t port, uint8_t *want)
{
	const struct config *c = p->config;
	struct lid_range range = p->lids->of[port];
	/* whole LIDs are in Omni-Path's form: program_opa_identity() */
	bool opa = disc_port_of(p->disc, port)->opa_info != NULL;

	field_set(want, PI_M_KEY, keyring_wanted(p->keys, p->disc->g->ports[port].guid));
	field_set(want, PI_M_KEY_PROTECT_BITS, config_m_key_level(c));
	field_set(want, PI_M_KEY_LEASE_PERIOD, c->m_key != 0 ? c->m_key_lease_period : 0);
	field_set(want, PI_GID_PREFIX, c->subnet_prefix);
	field_set(want, PI_LID, opa ? opa_lid_shape(range.base) : range.base);
	field_set(want, PI_LMC, range.lmc);
	field_set(want, PI_MASTER_SM_LID, opa ? opa_lid_shape(p->sm_lid) : p->sm_lid);
}

static void plan_end_port(struct port_plan *a)
{
	const struct config *c = a->p->config;
	bool ask = !c->no_clients_rereg && c->client_rereg_mode != 0;
	bool new_sm = disc_sm_lid(disc_port_of(a->p->disc, a->port)) != a->p->sm_lid;

	plan_identity(a->p, a->port, a->want);
	field_set(a->want, PI_MASTER_SM_SL, sm_sl(a));
	field_set(a->want, PI_SUBNET_TIMEOUT, c->subnet_timeout);
	if (ask && (new_sm || a->p->reregister) && !on_switch(a) &&
	    field_get(a->now, PI_CAPABILITY_MASK) & CAP_CLIENT_REREGISTRATION) {
		field_set(a->want, PI_CLIENT_REREGISTER, 1);
	}
}

/* Value of LinkWidthEnabled, LinkSpeedEnabled or LinkSpeedExtEnabled. The options 0 and "all"
 * leave a link as it trained by itself, because some ports train anew after any Set, even
 * one that only allows more. */
static uint64_t enabled(uint64_t now, uint64_t supported, uint64_t option, uint64_t all)
{
	return option == all || !(option & supported) ? now : option & supported;
}

static void plan_training(struct port_plan *a)
{
	const struct config *c = a->p->config;
	const uint8_t *now = a->now;

	field_set(a->want, PI_LINK_WIDTH_ENABLED,
	          enabled(field_get(now, PI_LINK_WIDTH_ENABLED),
	                  field_get(now, PI_LINK_WIDTH_SUPPORTED), c->force_link_width,
	                  ALL_WIDTHS));
	field_set(a->want, PI_LINK_SPEED_ENABLED,
	          enabled(field_get(now, PI_LINK_SPEED_ENABLED),
	                  field_get(now, PI_LINK_SPEED_SUPPORTED), c->force_link_speed,
	                  ALL_SPEEDS));
	if (c->force_link_speed_ext != NO_EXT_SPEEDS) {
		field_set(a->want, PI_LINK_SPEED_EXT_ENABLED,
		          enabled(field_get(now, PI_LINK_SPEED_EXT_ENABLED),
		                  field_get(now, PI_LINK_SPEED_EXT_SUPPORTED),
		                  c->force_link_speed_ext, ALL_EXT_SPEEDS));
	} else if (field_get(now, PI_LINK_SPEED_EXT_ENABLED) != 0) {
		field_set(a->want, PI_LINK_SPEED_EXT_ENABLED, NO_EXT_SPEEDS);
	}
	field_set(a->want, PI_LINK_SPEED_EXT_ENABLED_2,
	          enabled(field_get(now, PI_LINK_SPEED_EXT_ENABLED_2),
	                  field_get(now, PI_LINK_SPEED_EXT_SUPPORTED_2),
	                  c->force_link_speed_ext2, ALL_EXT2_SPEEDS));
}

static enum qos_class class_of(const struct port_plan *a, const struct port *p)
{
	uint8_t type = a->g->nodes[p->node].type;

	return type == NODE_SWITCH ? QOS_SWE : type == NODE_ROUTER ? QOS_RTR : QOS_CA;
}

static uint64_t max_op_vls(const struct port_plan *a, const struct port *p)
{
	return config_max_op_vls(a->p->config, class_of(a, p));
}

static void plan_link(struct port_plan *a)
{
	const struct config *c = a->p->config;
	const struct port *near = &a->g->ports[a->port];
	const struct port *far = &a->g->ports[near->peer];
	uint64_t mtu = smaller(smaller(near->mtu, far->mtu), MTU_4096);
	uint64_t vls = smaller(smaller(near->vls, far->vls),
	                       smaller(max_op_vls(a, near), max_op_vls(a, far)));

	a->restart = near->state > PORT_INIT &&
	             (field_get(a->now, PI_NEIGHBOR_MTU) != mtu ||
	              field_get(a->now, PI_OPERATIONAL_VLS) != vls ||
	              (a->p->opa_restart != NULL && a->p->opa_restart[a->port]));
	field_set(a->want, PI_NEIGHBOR_MTU, mtu);
	field_set(a->want, PI_OPERATIONAL_VLS, vls);
	if (a->p->qos && a->p->opa == NULL) {
		field_set(a->want, PI_VL_HIGH_LIMIT,
		          a->p->qos_setup[class_of(a, near)].high_limit);
	}
	field_set(a->want, PI_LINK_DOWN_DEFAULT_STATE, POLLING);
	field_set(a->want, PI_LOCAL_PHY_ERRORS, c->local_phy_errors_threshold);
	field_set(a->want, PI_OVERRUN_ERRORS, c->overrun_errors_threshold);
	if (on_switch(a) && a->p->enforce != NULL &&
	    a->p->enforce[a->port] != ENFORCE_AS_IT_IS) {
		field_set(a->want, PI_PARTITION_ENFORCEMENT_INBOUND,
		          (a->p->enforce[a->port] & ENFORCE_IN) != 0);
		field_set(a->want, PI_PARTITION_ENFORCEMENT_OUTBOUND,
		          (a->p->enforce[a->port] & ENFORCE_OUT) != 0);
	}
	if (on_switch(a)) {
		bool leaf = a->g->nodes[far->node].type != NODE_SWITCH;

		field_set(a->want, PI_VL_STALL_COUNT,
		          leaf ? c->leaf_vl_stall_count : c->vl_stall_count);
		field_set(a->want, PI_HOQ_LIFE,
		          leaf ? c->leaf_head_of_queue_lifetime
		               : c->head_of_queue_lifetime);
	}
	plan_training(a);
}

/* Fills want. \return false: nothing is set on this port. */
static bool plan_port(struct port_plan *a)
{
	const struct port *gp = &a->g->ports[a->port];
	bool port0 = on_switch(a) && gp->num == 0;
	bool end_port = port0 || !on_switch(a);
	bool cabled = gp->peer != GRAPH_NONE;

	memcpy(a->want, a->now, sizeof(a->want));
	field_set(a->want, PI_CLIENT_REREGISTER, 0);
	if (end_port && (port0 || cabled || a->port == a->g->sm_port)) {
		plan_end_port(a);
	} else if (!cabled) {
		return false;
	}
	if (cabled) {
		plan_link(a);
	} else if (port0 && a->g->nodes[gp->node].esp0) {
		field_set(a->want, PI_NEIGHBOR_MTU, smaller(gp->mtu, MTU_4096));
	}
	return true;
}

/* Is the port to have anything else than it has? */
static bool differs(struct port_plan *a)
{
	const uint8_t *now = disc_port_of(a->p->disc, a->port)->opa_info;

	a->is_opa = now != NULL;
	if (!a->is_opa) {
		return memcmp(a->want, a->now, sizeof(a->want)) != 0;
	}
	program_opa_plan(a->p, a->port, a->want, a->restart, a->opa);
	opa_port_info_shape(a->opa,
	                    a->want); /* what Omni-Path does not have is not asked for */
	return memcmp(a->opa, now, sizeof(a->opa)) != 0;
}

/* May the Set that configures the port make it ARMED, too? */
static bool may_arm(const struct port_plan *a)
{
	uint32_t peer = a->g->ports[a->port].peer;
	const struct disc_port *far;

	if (peer == GRAPH_NONE || field_get(a->now, PI_PORT_STATE) != PORT_INIT) {
		return false;
	}
	far = disc_port_of(a->p->disc, peer);
	return far->has_info && field_get(far->info, PI_PORT_STATE) == PORT_INIT &&
	       field_get(far->info, PI_OPERATIONAL_VLS) ==
	               field_get(a->want, PI_OPERATIONAL_VLS);
}

/* --- sending ---------------------------------------------------------------------- */

struct port_ctx {
	struct program *p;
	struct disc_node *node;
	uint64_t set_hash; /* of_plan(); 0: part of the activation */
	uint32_t port;     /* in the graph */
	bool end_port;
	uint8_t state;  /* PortState asked for */
	uint8_t status; /* of the Set that was refused */
	bool again;     /* it was asked for before and refused */
};

/* A Set of what a port is to have: a->want, and on Omni-Path a->opa. configures: it is all that it
 * should have, beside the state. */
static void send_port(struct port_plan *a, unsigned state, bool configures);

/* A port may refuse to be configured and ARMED at once, or it is ARMED because it got this Set
 * twice. \return true: it is configured alone. */
static bool configure_alone(const struct port_ctx *c, const struct smp_reply *r)
{
	struct port_plan a = { .p = c->p, .g = c->p->disc->g, .port = c->port };

	if (r->ret != E_MALFORMED || c->state != PORT_ARMED || !c->set_hash) {
		return false;
	}
	a.now = disc_port_of(c->p->disc, c->port)->info;
	if (plan_port(&a)) {
		(void)differs(&a);
		send_port(&a, 0, true);
	}
	return true;
}

/* Hash of what a port shows. */
static uint64_t shown(const struct disc_port *p)
{
	return shadow_port_info_hash(p->info, p->opa_info);
}

/* Hash of what a Set brings. */
static uint64_t of_plan(const struct port_plan *a)
{
	return a->is_opa ? program_opa_hash(a->opa)
	                 : shadow_port_info_hash(a->want, NULL);
}

/* Would this Set only repeat one that changed nothing? A link of Omni-Path that came up anew may show the
 * same and have lost what InfiniBand's form does not show. */
static bool repeats(const struct port_plan *a)
{
	const struct port *gp = &a->g->ports[a->port];

	return !field_get(a->want, PI_CLIENT_REREGISTER) &&
	       (!a->is_opa || gp->num == 0 || gp->state > PORT_INIT) &&
	       shadow_port_info_is_same(a->p->shadow, a->g->nodes[gp->node].guid, gp->num,
	                                of_plan(a),
	                                shown(disc_port_of(a->p->disc, a->port)));
}

static bool needs_maps(const struct port_plan *a)
{
	return a->p->opa_restart != NULL && a->p->opa_restart[a->port];
}

/* Is the port to be set? A link that restarts for its maps shows nothing of them in PortInfo. */
static bool is_due(struct port_plan *a)
{
	bool any = differs(a);

	return (a->restart && needs_maps(a)) || (any && !repeats(a));
}

static void send_state(struct program *p, uint32_t port, unsigned state, bool again);

/* Did a link of Omni-Path restart after this SM had begun to configure its port? It has lost what it was given, so it
 * is not ARMED before another sweep has looked at all of it. */
static bool begins_anew(const struct disc_port *p, unsigned state)
{
	return state == PORT_ARMED && p->opa_info != NULL &&
	       !field_get(p->opa_info, OPA_PI_IS_SM_CONFIGURATION_STARTED);
}

/* The state of a port that refused one. */
static void on_state_read(void *ctx, const struct smp_reply *r)
{
	struct port_ctx *c = ctx;
	struct disc_port *port = &c->node->ports[r->mod & PORT_NUM_MASK];
	uint64_t state = r->ret == E_OK ? field_get(r->data, PI_PORT_STATE) : 0;

	if (r->ret == E_OK && disc_keep_port_info(port, c->p->disc->own, r) != E_OK) {
		c->p->ret = -ENOMEM;
	}
	if (state >= c->state) {
		memcpy(port->info, r->data, sizeof(port->info));
		return;
	}
	if (r->ret == E_OK && program_opa_waits(port, c->state)) {
		c->p->n_waiting++;
		return;
	}
	/* A link that went down or restarted meanwhile is not ready for the state, which is no refusal.
	 * The port counts as ARMED, by which the next look at it finds that it is not. */
	if (r->ret == E_OK && (state + 1 < c->state || begins_anew(port, c->state))) {
		field_set(port->info, PI_PORT_STATE, PORT_ARMED);
		return;
	}
	if (r->ret == E_OK && !c->again) { /* perhaps its link was down for a moment */
		send_state(c->p, c->port, c->state, true);
		return;
	}
	(void)program_answered(c->p, c->node, port->num,
	                       r->ret == E_OK ? E_MALFORMED : r->ret, c->status,
	                       "Set(PortInfo)");
}

/* A port may refuse a state because it is in it already: the answer to the first Set was
 * lost and the Set was sent again. So its state is read. \return true: it is being read. */
static bool read_refused_state(struct port_ctx *c, const struct smp_reply *r)
{
	uint32_t look;
	int ret;

	if (r->ret != E_MALFORMED || c->state <= PORT_DOWN) {
		return false;
	}
	c->status = (uint8_t)r->status;
	look = smp_is_omni_path(c->p->smp) ? OPA_PORT_LOOK : 0;
	ret = smp_submit(c->p->smp, &(struct smp_request){
					    .dest = r->dest,
					    .method = UMAD_METHOD_GET,
					    .attr = UMAD_SM_ATTR_PORT_INFO,
					    .mod = r->mod | look,
					    .retries = c->p->config->transaction_retries,
					    .done = on_state_read,
					    .ctx = c });
	c->p->ret = ret != E_OK ? ret : c->p->ret;
	return true;
}

/* From here on the port holds the M_Key that the Set gave it. */
static void take_key(struct port_ctx *c, struct disc_port *port)
{
	uint64_t key = keyring_wanted(c->p->keys, port->guid);

	port->foreign = false;
	smp_dest_set_key(port->dest, key, key);
	if (keyring_note(c->p->keys, port->guid, key) != E_OK) {
		c->p->ret = -ENOMEM;
	}
}

static void on_port_set(void *ctx, const struct smp_reply *r)
{
	struct port_ctx *c = ctx;
	struct disc_port *port = &c->node->ports[r->mod & PORT_NUM_MASK];
	unsigned local_port, state;

	if (configure_alone(c, r) || read_refused_state(c, r) ||
	    !program_answered(c->p, c->node, port->num, r->ret, r->status,
	                      "Set(PortInfo)")) {
		return;
	}
	/* the port over which discovery came in stays: a Set by LID came over none of them */
	local_port = (unsigned)field_get(port->info, PI_LOCAL_PORT_NUM);
	state = (unsigned)field_get(port->info, PI_PORT_STATE);
	if (program_opa_answered(port, c->p->disc->own, r) != E_OK) {
		c->p->ret = -ENOMEM;
	}
	memcpy(port->info, r->data, sizeof(port->info));
	field_set(port->info, PI_LOCAL_PORT_NUM, local_port);
	if (c->state != PORT_DOWN && field_get(port->info, PI_PORT_STATE) < state) {
		/* its link went down meanwhile, which the next look is to find */
		field_set(port->info, PI_PORT_STATE, state);
	}
	field_set(port->info, PI_CLIENT_REREGISTER, 0);
	if (c->end_port) {
		take_key(c, port);
	}
	if (c->set_hash && c->set_hash != shown(port) &&
	    shadow_port_info_note(c->p->shadow, c->node->guid, port->num, c->set_hash,
	                          shown(port)) != E_OK) {
		c->p->ret = -ENOMEM;
	}
}

static void send_port(struct port_plan *a, unsigned state, bool configures)
{
	struct program *p = a->p;
	uint32_t port = a->port;
	struct disc_port *dp = disc_port_of(p->disc, port);
	struct port_ctx *c = arena_alloc(p->arena, sizeof(*c));
	uint8_t basis[OPA_BYTES_PORT_INFO];
	int ret;

	if (c == NULL) {
		p->ret = -ENOMEM;
		return;
	}
	*c = (struct port_ctx){ .p = p,
		                .port = port,
		                .state = (uint8_t)state,
		                .again = a->again,
		                .end_port = graph_is_end_port(p->disc->g, port),
		                .node = p->disc->of[p->disc->g->ports[port].node] };
	disc_note_change(c->node);
	field_set(a->want, PI_PORT_STATE, state);
	field_set(a->want, PI_PORT_PHYSICAL_STATE, 0);
	if (configures) {
		c->set_hash = of_plan(a);
	}
	if (a->is_opa) { /* 0 VLs mean no change, so the translation has to see what they were */
		memcpy(basis, a->opa, sizeof(basis));
		field_set(basis, OPA_PI_OPERATIONAL_VLS,
		          field_get(dp->opa_info, OPA_PI_OPERATIONAL_VLS));
	}
	ret = smp_submit(
		p->smp,
		&(struct smp_request){ .dest = dp->dest,
	                               .method = UMAD_METHOD_SET,
	                               .attr = UMAD_SM_ATTR_PORT_INFO,
	                               .mod = DISC_PORT_MOD | dp->num,
	                               .data = a->want,
	                               .basis = a->is_opa ? basis : NULL,
	                               .retries = 2 * p->config->transaction_retries + 1,
	                               .done = on_port_set,
	                               .ctx = c });
	p->ret = ret != E_OK ? ret : p->ret;
	p->n_port_sets++;
}

/* A port whose attributes were read and may be set. */
static bool settable(const struct program *p, uint32_t port)
{
	const struct disc_port *dp = disc_port_of(p->disc, port);

	return dp->has_info && dp->dest != NULL;
}

/* A link that is isolated and still active: it is restarted, and nobody activates it again. */
static bool carries_isolated(const struct program *p, uint32_t port)
{
	const struct disc_node *n = p->disc->of[p->disc->g->ports[port].node];
	const struct disc_port *dp = disc_port_of(p->disc, port);

	return dp->num != 0 && field_get(dp->info, PI_PORT_STATE) > PORT_INIT &&
	       disc_is_isolated(n, dp->num);
}

static void look_at(struct program *p, uint32_t node)
{
	if (!p->look[node]) {
		p->look[node] = 1;
		p->nodes[p->n_nodes++] = node;
	}
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Nodes that changed, with their neighbors, whose MTU and VLs a node has in its plan. */
static void find_changed(struct program *p)
{
	const struct disc *d = p->disc;
	const struct graph *g = d->g;
	const struct table_store *s = p->tables.store;
	uint32_t n;

	for (uint32_t i = 0; i < d->n_changed; i++) {
		if (d->changed[i]->graph_node != GRAPH_NONE) {
			look_at(p, d->changed[i]->graph_node);
		}
	}
	n = p->n_nodes;
	for (uint32_t i = 0; i < n; i++) {
		const struct node *node = &g->nodes[p->nodes[i]];

		for (unsigned num = 1; num <= node->n_ports; num++) {
			uint32_t peer = g->ports[node->first_port + num].peer;

			if (peer != GRAPH_NONE) {
				look_at(p, g->ports[peer].node);
			}
		}
	}
	for (uint32_t i = 0; i < s->n_changed; i++) {
		uint32_t node = graph_node_by_guid(g, s->changed[i]->guid);

		if (node != GRAPH_NONE) {
			look_at(p, node);
		}
	}
	qsort(p->nodes, p->n_nodes, sizeof(*p->nodes), by_index);
}

int program_find_nodes(struct program *p)
{
	const struct graph *g = p->disc->g;

	p->nodes = arena_array(p->arena, g->n_nodes, sizeof(*p->nodes));
	p->look = arena_array(p->arena, g->n_nodes, sizeof(*p->look));
	p->n_nodes = 0;
	if (p->nodes == NULL || p->look == NULL) {
		return -ENOMEM;
	}
	if (p->only_changed && !p->disc->any_changed && !p->tables.store->any_changed) {
		find_changed(p);
		return E_OK;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		p->nodes[p->n_nodes++] = i;
	}
	p->look = NULL;
	return E_OK;
}

static void set_port(struct program *p, uint32_t port)
{
	const struct graph *g = p->disc->g;
	struct port_plan a = { .p = p, .g = g, .port = port };

	if (!settable(p, port)) {
		return;
	}
	a.now = disc_port_of(p->disc, port)->info;
	if (g->ports[port].peer == GRAPH_NONE && carries_isolated(p, port)) {
		memcpy(a.want, a.now, sizeof(a.want));
		(void)differs(&a);
		send_port(&a, PORT_DOWN, true);
	} else if (plan_port(&a) && is_due(&a)) {
		bool arm = !a.restart && may_arm(&a);

		p->n_bounced += a.restart;
		p->disc->of[g->ports[port].node]->armed |= arm;
		send_port(&a, a.restart ? PORT_DOWN : arm ? PORT_ARMED : 0, true);
	}
}

/* Does something with all ports of the nodes that are looked at. */
static void for_ports(struct program *p, void (*f)(struct program *p, uint32_t port))
{
	const struct graph *g = p->disc->g;

	for (uint32_t i = 0; i < p->n_nodes; i++) {
		const struct node *n = &g->nodes[p->nodes[i]];

		for (unsigned num = 0; num <= n->n_ports; num++) {
			f(p, n->first_port + num);
		}
	}
}

/* The port of a switch behind which a node was refused says why its link stays in Init. */
static void set_refused(struct program *p, const struct disc_refused *refused)
{
	const struct disc_node *n = refused->by;
	const struct disc_port *dp = &n->ports[refused->by_port];
	struct port_plan a = { .p = p, .g = p->disc->g, .now = dp->info, .is_opa = true };
	unsigned reason = program_opa_refusal(refused->reasons);

	if (n->type != NODE_SWITCH || n->graph_node == GRAPH_NONE ||
	    dp->opa_info == NULL || field_get(dp->info, PI_PORT_STATE) != PORT_INIT ||
	    field_get(dp->opa_info, OPA_PI_LINK_INIT_REASON) == reason) {
		return;
	}
	a.port = graph_port(p->disc->g, n->graph_node, refused->by_port);
	if (settable(p, a.port)) {
		memcpy(a.want, a.now, sizeof(a.want));
		memcpy(a.opa, dp->opa_info, sizeof(a.opa));
		field_set(a.opa, OPA_PI_LINK_INIT_REASON, reason);
		send_port(&a, 0, false);
	}
}

/* The first of those that were refused at one place; the others were found there later. */
static bool is_first(const struct disc *d, uint32_t i)
{
	uint32_t k = 0;

	while (d->refused[k].by != d->refused[i].by ||
	       d->refused[k].by_port != d->refused[i].by_port) {
		k++;
	}
	return k == i;
}

int program_ports(struct program *p)
{
	for_ports(p, set_port);
	for (uint32_t i = 0; i < p->disc->n_refused; i++) {
		if (is_first(p->disc, i)) {
			set_refused(p, &p->disc->refused[i]);
		}
	}
	return p->ret;
}

static void send_state(struct program *p, uint32_t port, unsigned state, bool again)
{
	const struct graph *g = p->disc->g;
	const struct disc_port *dp = disc_port_of(p->disc, port);
	struct port_plan a = { .p = p, .g = g, .port = port, .now = dp->info, .again = again };

	memcpy(a.want, dp->info, sizeof(a.want));
	if (graph_is_end_port(g, port)) {
		plan_identity(p, port, a.want);
	}
	a.is_opa = dp->opa_info != NULL;
	if (a.is_opa) {
		memcpy(a.opa, dp->opa_info, sizeof(a.opa));
		program_opa_clear_reasons(a.opa);
	}
	if (a.is_opa && graph_is_end_port(g, port)) {
		program_opa_identity(p, port, a.opa);
	}
	p->disc->of[g->ports[port].node]->armed |= state == PORT_ARMED;
	send_port(&a, state, false);
}

void program_port_state(struct program *p, uint32_t port, unsigned state)
{
	send_state(p, port, state, false);
}

/* A link that was restarted for other maps gets them in the next sweep. */
static bool waits_for_maps(const struct program *p, uint32_t port)
{
	return p->opa_restart != NULL &&
	       (p->opa_restart[port] || p->opa_restart[p->disc->g->ports[port].peer]);
}

static void raise_state(struct program *p, uint32_t port, unsigned state)
{
	const struct graph *g = p->disc->g;
	const struct disc_port *dp = disc_port_of(p->disc, port);

	if (g->ports[port].peer == GRAPH_NONE || !settable(p, port) ||
	    waits_for_maps(p, port) ||
	    field_get(dp->info, PI_PORT_STATE) != state - 1) {
		return;
	}
	if (state != PORT_ACTIVE || dp->opa_info == NULL || graph_is_end_port(g, port)) {
		program_port_state(p, port, state);
	}
}

static void arm(struct program *p, uint32_t port)
{
	raise_state(p, port, PORT_ARMED);
}

static void activate(struct program *p, uint32_t port)
{
	raise_state(p, port, PORT_ACTIVE);
}

int program_states(struct program *p, unsigned state)
{
	for_ports(p, state == PORT_ACTIVE ? activate : arm);
	return p->ret == E_OK && state == PORT_ACTIVE ? program_opa_activate(p) : p->ret;
}

static void state_to_graph(struct program *p, uint32_t port)
{
	struct port *to = &p->disc->g->ports[port];
	uint64_t state = field_get(disc_port_of(p->disc, port)->info, PI_PORT_STATE);

	if (to->peer != GRAPH_NONE && state >= PORT_INIT && state <= PORT_ACTIVE &&
	    to->state != state) {
		to->state = (uint8_t)state;
		disc_note_change(p->disc->of[to->node]);
	}
}

void program_states_to_graph(struct program *p)
{
	for_ports(p, state_to_graph);
}
