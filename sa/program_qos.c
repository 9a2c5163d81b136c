/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Quality of service on the wire: SL-to-VL mapping and VL arbitration tables.
 *
 * A node is walked port by port, a few requests in flight: for each egress port its
 * arbitration blocks, then one SL-to-VL table per port by which packets come in. A table
 * of which no copy is kept is read first, unless its port is below ARMED: nothing flows
 * there yet, so it is set right away. What differs is set, and the answer is compared
 * again: it shows what the port has. Ports below ARMED were restarted, perhaps with their
 * node, so what was known of them is forgotten first.
 *
 * An SL-to-VL rule of the routing says the VLs of each (port in, port out); CAs and
 * routers send as from and to class 0.
 *
 * While routing uses several lanes, tables between switches are what its proof stands on.
 * A switch that does not take them makes the step fail (lane_trouble), before any
 * forwarding table that needs them is sent; elsewhere a refusal is a warning.
 *
 * Source: IBA vol. 1, 14.2.5.9 (SLtoVLMappingTable), 14.2.5.10 (VLArbitrationTable).
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/config.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "sa/discover.h"
#include "sa/fields.h"
#include "sa/program.h"
#include "sa/qos_copy.h"
#include "sa/qos_table.h"
#include "sa/smp.h"

enum { QOS_IN_FLIGHT = 4, PAIRS_OF_A_BLOCK = 32, CAP_SL_MAPPING = 1 << 6 };

/* The ports of a switch, or one port of a CA or router. */
struct qos_job {
	struct program *p;
	struct disc_node *node;
	struct smp_dest *dest;
	struct qos_copy *copy;
	uint32_t first_port; /* of the node in the graph */
	uint32_t in_flight;
	uint16_t out, end;          /* egress port at work, one past the last */
	uint16_t step;              /* VL_ARB_BLOCKS, then ports in */
	uint8_t sl2vl[VL_CLASSES][SL2VL_BYTES]; /* what out should have, by class in */
	uint8_t arb[VL_ARB_BLOCKS][VL_ARB_BYTES];
	bool is_switch, maps, stop;
};

/* One table of one port. */
struct item {
	struct qos_job *j;
	unsigned out, step;
	uint8_t want[64]; /* zeros behind a table of SL2VL_BYTES */
};

static unsigned arb_cap(const struct disc_port *dp, unsigned block)
{
	unsigned cap = (unsigned)(block < 2 ? field_get(dp->info, PI_VL_ARB_LOW_CAP)
	                                    : field_get(dp->info, PI_VL_ARB_HIGH_CAP));

	return cap < QOS_WEIGHTS_MAX ? cap : QOS_WEIGHTS_MAX;
}

/* Bytes of a block that the port has; the rest means nothing. */
static size_t arb_bytes(const struct disc_port *dp, unsigned block)
{
	unsigned first = block % 2 * PAIRS_OF_A_BLOCK, cap = arb_cap(dp, block);

	if (cap <= first || field_get(dp->info, PI_VL_CAP) <= 1) {
		return 0;
	}
	cap -= first;
	return 2 * (size_t)(cap < PAIRS_OF_A_BLOCK ? cap : PAIRS_OF_A_BLOCK);
}

static const struct port *graph_port_of(const struct qos_job *j, unsigned num)
{
	return &j->p->disc->g->ports[j->first_port + num];
}

static bool faces_switch(const struct qos_job *j, unsigned num)
{
	const struct graph *g = j->p->disc->g;
	uint32_t peer = graph_port_of(j, num)->peer;

	return j->is_switch && num && peer != GRAPH_NONE &&
	       g->nodes[g->ports[peer].node].type == NODE_SWITCH;
}

/* Cabled ports; port 0 takes part as the way in, and as a way out when it is enhanced. */
static bool takes_part(const struct qos_job *j, unsigned num, bool out)
{
	const struct port *gp = graph_port_of(j, num);

	if (!j->node->ports[num].has_info) {
		return false;
	}
	if (j->is_switch && num == 0) {
		return !out || j->p->disc->g->nodes[gp->node].esp0;
	}
	return gp->peer != GRAPH_NONE;
}

static enum qos_class class_of(const struct qos_job *j, unsigned num)
{
	if (j->is_switch) {
		return num ? QOS_SWE : QOS_SW0;
	}
	return j->node->type == NODE_ROUTER ? QOS_RTR : QOS_CA;
}

static uint8_t vls_of(const struct disc_port *dp)
{
	uint64_t code = field_get(dp->info, PI_OPERATIONAL_VLS);

	return link_vls((uint8_t)(code ? code : field_get(dp->info, PI_VL_CAP)));
}

static void trouble(struct qos_job *j, unsigned out, const char *what)
{
	struct program *p = j->p;

	if (lanes_vls(p->lanes) > 1 && faces_switch(j, out) && p->lane_trouble == NULL) {
		p->lane_trouble = arena_printf(
			p->arena, "the routing uses %u lanes, but %s %s",
			lanes_vls(p->lanes), disc_place(p->disc, j->node, out), what);
		p->ret = p->lane_trouble == NULL ? -ENOMEM : p->ret;
	}
}

/* Class of a port in the rule of the routing. */
static unsigned rule_class(const struct qos_job *j, unsigned num)
{
	const struct vl_rule *r = j->p->lanes->rule;
	uint32_t sw = j->p->disc->g->nodes[graph_port_of(j, num)->node].sw;

	return r != NULL && j->is_switch ? vl_class(r, sw, num) : 0;
}

/* Works out the tables of egress port out. */
static void begin_port(struct qos_job *j)
{
	const struct disc_port *dp = &j->node->ports[j->out];
	enum qos_class of = class_of(j, j->out);
	struct qos_port q = { .setup = &j->p->qos_setup[of],
		              .vls = vls_of(dp),
		              .lanes = j->p->lanes->n,
		              .rule = j->p->lanes->rule,
		              .class_out = (uint8_t)rule_class(j, j->out),
		              .swe = of == QOS_SWE };
	unsigned missing;

	if (faces_switch(j, j->out) && q.vls < lanes_vls(j->p->lanes)) {
		if (j->p->lanes_there == 0 || q.vls < j->p->lanes_there) {
			j->p->lanes_there = q.vls;
		}
		trouble(j, j->out, "has fewer operational VLs");
	}
	for (unsigned in = 0; in < VL_CLASSES; in++) {
		qos_table_sl2vl(&q, in, j->sl2vl[in]);
	}
	missing = qos_table_arb(&q, arb_cap(dp, 0), arb_cap(dp, 2), j->arb);
	if (missing && arb_bytes(dp, 0)) {
		trouble(j, j->out, "has no room in its VL arbitration tables for all");
	}
}

/* --- requests --------------------------------------------------------------------- */

static uint32_t modifier(const struct item *t)
{
	bool arb = t->step < VL_ARB_BLOCKS;
	unsigned out = t->j->is_switch ? t->out : 0;

	return arb ? (t->step + 1) << 16 | out : (t->step - VL_ARB_BLOCKS) << 8 | out;
}

static void on_answer(void *ctx, const struct smp_reply *r);

static void submit(struct item *t, uint8_t method)
{
	struct qos_job *j = t->j;
	bool arb = t->step < VL_ARB_BLOCKS;
	int ret = smp_submit(
		j->p->smp,
		&(struct smp_order){ .dest = j->dest,
	                             .method = method,
	                             .attr = arb ? UMAD_SM_ATTR_VL_ARB_TABLE
	                                         : UMAD_SM_ATTR_SLVL_TABLE,
	                             .mod = modifier(t),
	                             .data = method == UMAD_METHOD_SET ? t->want : NULL,
	                             .retries = 2 * j->p->config->transaction_retries + 1,
	                             .done = on_answer,
	                             .ctx = t });

	if (ret != E_OK) {
		j->p->ret = ret;
		return;
	}
	j->in_flight++;
	j->p->n_qos_sets += method == UMAD_METHOD_SET;
}

/* Is the table known to be what it should be? */
static bool right(const struct item *t, bool *ret_known)
{
	const struct qos_copy *c = t->j->copy;

	if (t->step < VL_ARB_BLOCKS) {
		const struct arb_copy *arb = &c->arb[t->out];

		*ret_known = arb->known[t->step];
		return *ret_known &&
		       memcmp(arb->block[t->step], t->want,
		              arb_bytes(&t->j->node->ports[t->out], t->step)) == 0;
	}
	const uint8_t *map = qos_copy_sl2vl(c, t->out, t->step - VL_ARB_BLOCKS);

	*ret_known = qos_copy_knows(map);
	return memcmp(map, t->want, SL2VL_BYTES) == 0;
}

static void keep(const struct item *t, const uint8_t *data)
{
	const struct qos_copy *c = t->j->copy;

	if (t->step < VL_ARB_BLOCKS) {
		struct arb_copy *arb = &c->arb[t->out];
		size_t len = arb_bytes(&t->j->node->ports[t->out], t->step);

		memset(arb->block[t->step], 0, VL_ARB_BYTES);
		memcpy(arb->block[t->step], data, len);
		arb->known[t->step] = true;
	} else {
		memcpy(qos_copy_sl2vl(c, t->out, t->step - VL_ARB_BLOCKS), data,
		       SL2VL_BYTES);
	}
}

static void forget(const struct item *t)
{
	const struct qos_copy *c = t->j->copy;

	if (t->step < VL_ARB_BLOCKS) {
		c->arb[t->out].known[t->step] = false;
	} else {
		memset(qos_copy_sl2vl(c, t->out, t->step - VL_ARB_BLOCKS), 0xff,
		       SL2VL_BYTES);
	}
}

static void go_on(struct qos_job *j);

static void on_answer(void *ctx, const struct smp_reply *r)
{
	static const char *const what[2][2] = {
		{ "Get(SLtoVLMappingTable)", "Get(VLArbitrationTable)" },
		{ "Set(SLtoVLMappingTable)", "Set(VLArbitrationTable)" }
	};
	struct item *t = ctx;
	struct qos_job *j = t->j;
	bool set = r->method == UMAD_METHOD_SET, known;

	j->in_flight--;
	if (!program_answered(j->p, j->node, t->out, r->ret, r->status,
	                      what[set][t->step < VL_ARB_BLOCKS])) {
		forget(t);
		j->stop |= r->ret == E_TIMEOUT;
		trouble(j, t->out,
		        set ? "does not take its tables" : "does not show its tables");
	} else {
		keep(t, r->data);
		if (!right(t, &known) && !set) {
			submit(t, UMAD_METHOD_SET);
		} else if (!right(t, &known)) {
			trouble(j, t->out, "keeps other tables than it is given");
		}
	}
	go_on(j);
}

/* --- the walk --------------------------------------------------------------------- */

/* Has the port of this step such a table at all? */
static bool exists(const struct qos_job *j)
{
	if (j->step < VL_ARB_BLOCKS) {
		return arb_bytes(&j->node->ports[j->out], j->step) != 0;
	}
	return j->maps &&
	       (!j->is_switch || takes_part(j, j->step - (unsigned)VL_ARB_BLOCKS, false));
}

static void look_at(struct qos_job *j)
{
	struct item t = { .j = j, .out = j->out, .step = j->step };
	struct item *kept;
	bool known, idle;

	if (j->step < VL_ARB_BLOCKS) {
		memcpy(t.want, j->arb[j->step], sizeof(t.want));
	} else {
		unsigned in = j->is_switch ? j->step - (unsigned)VL_ARB_BLOCKS : 0;

		memcpy(t.want, j->sl2vl[rule_class(j, in)], SL2VL_BYTES);
	}
	if (right(&t, &known)) {
		return;
	}
	kept = arena_alloc(j->p->arena, sizeof(*kept));
	if (kept == NULL) {
		j->p->ret = -ENOMEM;
		return;
	}
	*kept = t;
	idle = field_get(j->node->ports[j->out].info, PI_PORT_STATE) < PORT_ARMED;
	submit(kept, known || idle ? UMAD_METHOD_SET : UMAD_METHOD_GET);
}

static void go_on(struct qos_job *j)
{
	while (j->out < j->end && j->in_flight < QOS_IN_FLIGHT && !j->stop &&
	       j->p->ret == E_OK) {
		if (j->step == VL_ARB_BLOCKS + j->copy->n_in ||
		    !takes_part(j, j->out, true)) {
			j->out++;
			j->step = 0;
			continue;
		}
		if (j->step == 0) {
			begin_port(j);
		}
		if (exists(j)) {
			look_at(j);
		}
		j->step++;
	}
}

static void forget_restarted(struct qos_job *j)
{
	bool all = j->is_switch;

	for (unsigned i = j->out; i < j->end; i++) {
		bool cabled = graph_port_of(j, i)->peer != GRAPH_NONE;
		bool idle = field_get(j->node->ports[i].info, PI_PORT_STATE) < PORT_ARMED;

		if (cabled && idle) {
			qos_copy_forget(j->copy, i);
		}
		all &= !cabled || idle;
	}
	if (all) {
		qos_copy_forget(j->copy, 0); /* the whole switch was restarted */
	}
}

static bool maps_sls(const struct disc_port *dp)
{
	return field_get(dp->info, PI_CAPABILITY_MASK) & CAP_SL_MAPPING;
}

static int start(struct program *p, uint32_t node, unsigned first, unsigned end)
{
	struct disc_node *n = p->disc->of[node];
	struct qos_job *j;
	unsigned own =
		n->type == NODE_SWITCH ? 0 : first; /* where the node's own bits are */

	if (n->ports[own].dest == NULL || !n->ports[own].has_info) {
		return E_OK;
	}
	j = arena_alloc(p->arena, sizeof(*j));
	if (j == NULL) {
		return -ENOMEM;
	}
	*j = (struct qos_job){ .p = p,
		               .node = n,
		               .dest = n->ports[own].dest,
		               .first_port = p->disc->g->nodes[node].first_port,
		               .is_switch = n->type == NODE_SWITCH,
		               .maps = maps_sls(&n->ports[own]),
		               .out = (uint16_t)first,
		               .end = (uint16_t)end };
	j->copy = qos_copy_get(p->qos_copies, n->guid, n->n_ports, j->is_switch);
	if (j->copy == NULL) {
		return -ENOMEM;
	}
	forget_restarted(j);
	go_on(j);
	return p->ret;
}

int program_qos(struct program *p)
{
	const struct graph *g = p->disc->g;
	int ret = E_OK;

	for (uint32_t i = 0; p->qos && i < g->n_nodes && ret == E_OK; i++) {
		unsigned n_ports = g->nodes[i].n_ports;

		if (g->nodes[i].type == NODE_SWITCH) {
			ret = start(p, i, 0, n_ports + 1);
			continue;
		}
		for (unsigned k = 1; k <= n_ports && ret == E_OK; k++) {
			ret = start(p, i, k, k + 1);
		}
	}
	return ret;
}

bool program_all_map_sls(const struct disc *d)
{
	const struct graph *g = d->g;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct disc_node *n = d->of[g->switches[s]];

		if (g->adj_first[s] < g->adj_first[s + 1] && n->ports[0].has_info &&
		    !maps_sls(&n->ports[0])) {
			return false;
		}
	}
	return true;
}
