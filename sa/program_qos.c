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
 * node, so what was known of them is forgotten first, also while QoS is off: tables may
 * have been read for who asked (sa/sweep_qos.c).
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
#include "sa/qos_slot.h"
#include "sa/qos_table.h"
#include "sa/smp.h"

enum { QOS_IN_FLIGHT = 4 };

/* The ports of a switch, or one port of a CA or router. */
struct qos_job {
	struct program *p;
	struct disc_node *node;
	struct qos_copy *copy;
	uint32_t first_port; /* of the node in the graph */
	uint32_t in_flight;
	uint16_t out, end;          /* egress port at work, one past the last */
	uint16_t step;              /* VL_ARB_BLOCKS, then ports in */
	uint8_t sl2vl[VL_CLASSES][SL2VL_BYTES]; /* what out should have, by class in */
	uint8_t arb[VL_ARB_BLOCKS][VL_ARB_BYTES];
	bool is_switch, stop;
};

/* One table of one port. */
struct item {
	struct qos_job *j;
	struct qos_slot slot;
	uint8_t want[64]; /* zeros behind a table of SL2VL_BYTES */
};

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
	missing = qos_table_arb(&q, qos_arb_cap(dp, 0), qos_arb_cap(dp, 2), j->arb);
	if (missing &&
	    qos_slot_bytes(&(struct qos_slot){ j->node, j->copy, j->out, 0 })) {
		trouble(j, j->out, "has no room in its VL arbitration tables for all");
	}
}

/* --- requests --------------------------------------------------------------------- */

static void on_answer(void *ctx, const struct smp_reply *r);

static void submit(struct item *t, uint8_t method)
{
	struct qos_job *j = t->j;
	struct smp_order o = { .method = method,
		               .data = method == UMAD_METHOD_SET ? t->want : NULL,
		               .retries = 2 * j->p->config->transaction_retries + 1,
		               .done = on_answer,
		               .ctx = t };
	int ret;

	qos_slot_order(&t->slot, &o);
	ret = smp_submit(j->p->smp, &o);
	if (ret != E_OK) {
		j->p->ret = ret;
		return;
	}
	j->in_flight++;
	j->p->n_qos_sets += method == UMAD_METHOD_SET;
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
	bool set = r->method == UMAD_METHOD_SET;

	j->in_flight--;
	if (!program_answered(j->p, j->node, t->slot.out, r->ret, r->status,
	                      what[set][t->slot.step < VL_ARB_BLOCKS])) {
		qos_slot_keep(&t->slot, NULL);
		j->stop |= r->ret == E_TIMEOUT;
		trouble(j, t->slot.out,
		        set ? "does not take its tables" : "does not show its tables");
	} else {
		qos_slot_keep(&t->slot, r->data);
		if (!qos_slot_knows(&t->slot, t->want)) {
			if (set) {
				trouble(j, t->slot.out,
				        "keeps other tables than it is given");
			} else {
				submit(t, UMAD_METHOD_SET);
			}
		}
	}
	go_on(j);
}

/* --- the walk --------------------------------------------------------------------- */

/* Has the port of this step such a table at all, and a use for it? */
static bool exists(const struct qos_job *j, const struct qos_slot *t)
{
	return qos_slot_bytes(t) != 0 &&
	       (t->step < VL_ARB_BLOCKS || !j->is_switch ||
	        takes_part(j, t->step - (unsigned)VL_ARB_BLOCKS, false));
}

static void look_at(struct qos_job *j)
{
	struct item t = { .j = j, .slot = { j->node, j->copy, j->out, j->step } };
	struct item *kept;
	bool known, idle;

	if (!exists(j, &t.slot)) {
		return;
	}
	if (j->step < VL_ARB_BLOCKS) {
		memcpy(t.want, j->arb[j->step], sizeof(t.want));
	} else {
		unsigned in = j->is_switch ? j->step - (unsigned)VL_ARB_BLOCKS : 0;

		memcpy(t.want, j->sl2vl[rule_class(j, in)], SL2VL_BYTES);
	}
	if (qos_slot_knows(&t.slot, t.want)) {
		return;
	}
	kept = arena_alloc(j->p->arena, sizeof(*kept));
	if (kept == NULL) {
		j->p->ret = -ENOMEM;
		return;
	}
	*kept = t;
	known = qos_slot_knows(&t.slot, NULL);
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
		look_at(j);
		j->step++;
	}
}

/* Forgets what ports held that were restarted since. */
static void forget_restarted(const struct graph *g, uint32_t node,
                             const struct disc_node *n, struct qos_copy *c)
{
	const struct port *gp = &g->ports[g->nodes[node].first_port];
	bool all = n->type == NODE_SWITCH;

	for (unsigned i = all ? 0 : 1; i <= n->n_ports; i++) {
		bool cabled = gp[i].peer != GRAPH_NONE;
		bool idle = field_get(n->ports[i].info, PI_PORT_STATE) < PORT_ARMED;

		if (cabled && idle) {
			qos_copy_forget(c, i);
		}
		all &= !cabled || idle;
	}
	if (all) {
		qos_copy_forget(c, 0); /* the whole switch was restarted */
	}
	if (c->incomplete) { /* it may answer by now */
		c->incomplete = c->read = false;
	}
}

static int start(struct program *p, uint32_t node, unsigned first, unsigned end)
{
	struct disc_node *n = p->disc->of[node];
	const struct disc_port *agent = qos_slot_agent(n, first);
	struct qos_job *j;

	if (agent->dest == NULL || !agent->has_info) {
		return E_OK;
	}
	j = arena_alloc(p->arena, sizeof(*j));
	if (j == NULL) {
		return -ENOMEM;
	}
	*j = (struct qos_job){ .p = p,
		               .node = n,
		               .first_port = p->disc->g->nodes[node].first_port,
		               .is_switch = n->type == NODE_SWITCH,
		               .out = (uint16_t)first,
		               .end = (uint16_t)end };
	j->copy = qos_copy_get(p->qos_copies, n->guid, n->n_ports, j->is_switch);
	if (j->copy == NULL) {
		return -ENOMEM;
	}
	go_on(j);
	return p->ret;
}

static int start_node(struct program *p, uint32_t node)
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

int program_qos(struct program *p)
{
	const struct graph *g = p->disc->g;
	int ret = E_OK;

	for (uint32_t i = 0; i < g->n_nodes && ret == E_OK; i++) {
		struct qos_copy *c = qos_copy_find(p->qos_copies, g->nodes[i].guid);

		if (c != NULL && qos_copy_fits(c, g->nodes[i].n_ports,
		                               g->nodes[i].type == NODE_SWITCH)) {
			forget_restarted(g, i, p->disc->of[i], c);
		}
		if (p->qos) {
			ret = start_node(p, i);
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
		    !qos_maps_sls(n, 0)) {
			return false;
		}
	}
	return true;
}
