/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Quality of service on the wire: SL-to-VL mapping and VL arbitration tables.
 *
 * A node is walked port by port, a few requests in flight: first the arbitration blocks
 * of all egress ports, so that no VL is used before it has a weight, then for each of
 * them one SL-to-VL table per port by which packets come in. A table of which no copy is
 * kept is read first, unless its port is below ARMED: nothing flows there yet, so it is
 * set right away. A table that differs is set, and the answer is compared again: it shows what
 * the port has. Ports below ARMED were restarted, perhaps with their node, so what was
 * known of them is forgotten first, also while QoS is off: tables may have been read for a
 * client (sa/sm/sweep/qos_reads.c).
 *
 * A switch of 36 ports has more than 1,300 SL-to-VL tables, nearly all of them equal.
 * Where SwitchInfo says that it takes them, wildcards set the tables of all ports in, or
 * of all ports in and out, by one request; tables that are to differ follow. This is done
 * where it saves requests, and where packets flow only if no table is wrong for a moment.
 * The first such request is checked by reading one table back. A switch that shows another
 * table gets its tables one by one.
 *
 * An SL-to-VL rule of the routing says the VLs of each (port in, port out); CAs and
 * routers send as from and to class 0.
 *
 * While routing uses several lanes, tables between switches are what its proof stands on.
 * A switch that does not take them makes the step fail (lane_trouble), before any
 * forwarding table that needs them is sent; elsewhere a refusal is a warning.
 *
 * Source: IBA vol. 1, 14.2.5.4 (OptimizedSLtoVLMappingProgramming), 14.2.5.9
 * (SLtoVLMappingTable), 14.2.5.10 (VLArbitrationTable).
 */
#include <errno.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/program/program.h"
#include "sa/sm/program/qos_table.h"

enum { QOS_IN_FLIGHT = 4, DISTINCT_MAX = 64 };

/* Which tables one request sets: of one ingress port, of all, of all ingress and egress
 * ports. */
enum scope { SCOPE_ONE, SCOPE_ALL_IN, SCOPE_ALL };

/* The ports of a switch, or one port of a CA or router. */
struct qos_job {
	struct program *p;
	struct disc_node *node;
	struct table *arb_table, *sl2vl_table;
	uint32_t first_port; /* of the node in the graph */
	uint32_t in_flight;
	uint16_t first, out, end;   /* egress ports: first, at work, one past the last */
	uint16_t step;              /* VL_ARB_BLOCKS, then ports in */
	bool maps;                  /* the arbitration blocks are done */
	uint8_t sl2vl[VL_CLASSES][SL2VL_BYTES]; /* what out should have, by class in */
	uint8_t arb[VL_ARB_BLOCKS][TABLE_BLOCK_BYTES];
	bool is_switch, stop;
	bool wild;    /* the switch takes wildcards */
	bool checked; /* and keeps what it took */
	bool hold;    /* what follows depends on an answer */
};

/* A request for one table of one port, or for several by a wildcard. */
struct qos_request {
	struct table_request
		q; /* the table; of a wildcard one that is read back to check it */
	struct qos_job *j;
	unsigned out;
	enum scope scope;
	uint8_t want[TABLE_BLOCK_BYTES]; /* zeros behind a table of SL2VL_BYTES */
};

/* Ports by which packets come in. */
static unsigned n_in(const struct qos_job *j)
{
	return j->sl2vl_table->cols;
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

/* Does a port have tables that matter? Cabled ports do; port 0 as an ingress port, and as an
 * egress port if it is enhanced. */
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

static void lanes_fail(struct qos_job *j, unsigned out, const char *what)
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

static struct qos_port port_of(const struct qos_job *j, unsigned out)
{
	const uint8_t *info = j->node->ports[out].info;
	uint64_t code = field_get(info, PI_OPERATIONAL_VLS);
	enum qos_class of = j->node->type == NODE_ROUTER ? QOS_RTR : QOS_CA;

	if (j->is_switch) {
		of = out ? QOS_SWE : QOS_SW0;
	}
	code = code ? code : field_get(info, PI_VL_CAP);
	return (struct qos_port){ .setup = &j->p->qos_setup[of],
		                  .vls = link_vls((uint8_t)code),
		                  .lanes = j->p->lanes->n,
		                  .rule = j->p->lanes->rule,
		                  .class_out = (uint8_t)rule_class(j, out),
		                  .swe = of == QOS_SWE };
}

/* Computes the SL-to-VL tables of egress port out. */
static void compute_maps(struct qos_job *j, unsigned out)
{
	struct qos_port q = port_of(j, out);

	for (unsigned in = 0; in < VL_CLASSES; in++) {
		qos_table_sl2vl(&q, in, j->sl2vl[in]);
	}
}

/* Computes the arbitration tables of egress port out. */
static void compute_arb(struct qos_job *j)
{
	const struct disc_port *dp = &j->node->ports[j->out];
	struct qos_port q = port_of(j, j->out);
	unsigned missing;

	if (faces_switch(j, j->out) && q.vls < lanes_vls(j->p->lanes)) {
		if (j->p->lanes_there == 0 || q.vls < j->p->lanes_there) {
			j->p->lanes_there = q.vls;
		}
		lanes_fail(j, j->out, "has fewer operational VLs");
	}
	missing = qos_table_arb(&q, table_arb_cap(dp, 0), table_arb_cap(dp, 2), j->arb);
	if (missing &&
	    table_length(j->node, j->arb_table, table_at(j->arb_table, j->out, 0))) {
		lanes_fail(j, j->out, "has no room in its VL arbitration tables for all");
	}
}

/* --- tables of many ports ------------------------------------------------------------
 */

/* The different tables of a switch, and how many there are of each. */
struct distinct {
	uint8_t table[DISTINCT_MAX][SL2VL_BYTES];
	unsigned count[DISTINCT_MAX], n;
};

static void count_table(struct distinct *d, const uint8_t *table)
{
	unsigned i = 0;

	while (i < d->n && memcmp(d->table[i], table, SL2VL_BYTES) != 0) {
		i++;
	}
	if (i < DISTINCT_MAX) {
		memcpy(d->table[i], table, SL2VL_BYTES);
		d->count[i]++;
		d->n += i == d->n;
	}
}

/* Index of the most frequent table. */
static unsigned most_frequent(const struct distinct *d)
{
	unsigned best = 0;

	for (unsigned i = 1; i < d->n; i++) {
		best = d->count[i] > d->count[best] ? i : best;
	}
	return best;
}

/* When it was discovered: since then it may have been ARMED, which carries no data. */
static bool is_live(const struct qos_job *j, unsigned out)
{
	return j->p->disc->g->ports[j->first_port + out].state >= PORT_ARMED;
}

static const uint8_t *wanted_map(const struct qos_job *j, unsigned in)
{
	return j->sl2vl[j->is_switch ? rule_class(j, in) : 0];
}

/* Adds the tables that egress port out should have. */
static void count_maps(struct qos_job *j, unsigned out, struct distinct *d)
{
	compute_maps(j, out);
	for (unsigned in = 0; in < n_in(j); in++) {
		if (takes_part(j, in, false)) {
			count_table(d, wanted_map(j, in));
		}
	}
}

/* How the tables of one egress port are sent. */
struct row_plan {
	unsigned cost; /* requests */
	bool wild;     /* the first is a wildcard with this table */
	uint8_t table[SL2VL_BYTES];
};

/* Plan for egress port out. At present all its tables are \a now; NULL: those of the shadow
 * copy. */
static struct row_plan plan_row(struct qos_job *j, unsigned out, const uint8_t *now)
{
	struct distinct d = { .n = 0 };
	struct row_plan plan = { .cost = 0 };
	unsigned n = 0, top, cost;

	count_maps(j, out, &d);
	for (unsigned in = 0; in < n_in(j); in++) {
		const struct table *t = j->sl2vl_table;
		const uint8_t *want = wanted_map(j, in);

		if (takes_part(j, in, false)) {
			plan.cost += now ? memcmp(now, want, SL2VL_BYTES) != 0
			                 : !table_holds(t, table_at(t, out, in), want);
			n++;
		}
	}
	top = most_frequent(&d);
	cost = 1 + n - d.count[top];
	if (cost < plan.cost && (cost == 1 || !is_live(j, out))) {
		plan = (struct row_plan){ .cost = cost, .wild = true };
		memcpy(plan.table, d.table[top], SL2VL_BYTES);
	}
	return plan;
}

/* The table that saves requests when it is sent for all ingress and egress ports at once.
 * \return false: none does. */
static bool table_for_all(struct qos_job *j, uint8_t ret_sl2vl[SL2VL_BYTES])
{
	struct distinct d = { .n = 0 };
	unsigned with = 1, without = 0;
	const uint8_t *top;

	for (unsigned out = 0; out < j->end; out++) {
		if (takes_part(j, out, true)) {
			count_maps(j, out, &d);
		}
	}
	top = d.table[most_frequent(&d)];
	for (unsigned out = 0; out < j->end; out++) {
		unsigned after =
			takes_part(j, out, true) ? plan_row(j, out, top).cost : 0;

		if (after && is_live(j, out)) {
			return false;
		}
		with += after;
		without += takes_part(j, out, true) ? plan_row(j, out, NULL).cost : 0;
	}
	memcpy(ret_sl2vl, top, SL2VL_BYTES);
	return with < without;
}

/* --- requests --------------------------------------------------------------------- */

static void send_next(struct qos_job *j);

static void submit(struct qos_request *t, bool set)
{
	int ret = table_submit(&t->q, set ? t->want : NULL);

	t->j->p->ret = ret != E_OK ? ret : t->j->p->ret;
	t->j->in_flight += ret == E_OK;
}

/* Keeps the table that a wildcard set in the ports that matter; NULL: forgets theirs. The
 * copies of ports without a cable stay as they are, because they are not used. */
static void keep_wildcard(const struct qos_request *t, const uint8_t *map)
{
	const struct qos_job *j = t->j;
	struct table *to = j->sl2vl_table;

	for (unsigned out = 0; out < j->end; out++) {
		bool meant = t->scope == SCOPE_ALL || out == t->out;

		for (unsigned in = 0; meant && in < n_in(j); in++) {
			if (!takes_part(j, out, true) || !takes_part(j, in, false)) {
				continue;
			}
			if (map != NULL) {
				table_put(to, table_at(to, out, in), map, SL2VL_BYTES);
			} else {
				table_drop(to, table_at(to, out, in));
			}
		}
	}
}

/* A wildcard is in force. */
static void take_wildcard(struct qos_request *t)
{
	t->j->checked = true;
	t->j->hold = false;
	keep_wildcard(t, t->j->wild ? t->want : NULL);
}

/* The table that is read back after the first wildcard. */
static void check_wildcard(struct qos_request *t, const uint8_t *shown)
{
	struct qos_job *j = t->j;
	struct program *p = j->p;

	if (memcmp(shown, t->want, SL2VL_BYTES) != 0) {
		j->wild = false;
		if (p->first_trouble == NULL) {
			p->first_trouble = arena_printf(
				p->arena,
				"%s does not keep SL-to-VL tables that it is given by one request; they are sent one by one",
				disc_place(p->disc, j->node, 0));
		}
	}
	take_wildcard(t);
}

/* It is not known which tables a wildcard without an answer set. */
static void drop_wildcard(struct qos_request *t)
{
	struct qos_job *j = t->j;

	j->wild = j->hold = false;
	keep_wildcard(t, NULL);
	for (unsigned out = 0; j->stop && out < j->end; out++) {
		lanes_fail(j, out, "does not take its tables");
	}
}

static void on_wildcard(void *ctx, const struct smp_reply *r)
{
	struct qos_request *t = ctx;
	struct qos_job *j = t->j;

	j->in_flight--;
	j->stop |= r->ret == E_TIMEOUT;
	program_table_answered(j->p, &t->q, r);
	if (r->ret != E_OK) {
		drop_wildcard(t);
	} else if (!j->checked) {
		submit(t, false);
	} else {
		take_wildcard(t);
	}
	send_next(j);
}

/* The answer to one table's request. */
static void on_table(void *ctx, struct table_request *q, const struct smp_reply *r)
{
	struct qos_request *t = ctx;
	struct qos_job *j = t->j;
	bool set = r->method == UMAD_METHOD_SET;

	j->in_flight--;
	j->stop |= r->ret == E_TIMEOUT;
	if (t->scope != SCOPE_ONE && r->ret == E_OK) {
		check_wildcard(t, r->data);
	} else if (t->scope != SCOPE_ONE) {
		drop_wildcard(t);
	} else if (r->ret != E_OK) {
		lanes_fail(j, t->out,
		           set ? "does not take its tables" : "does not show its tables");
	} else if (!table_holds_at(q->node, q->t, q->block, t->want)) {
		if (set) {
			lanes_fail(j, t->out, "keeps other tables than it is given");
		} else {
			submit(t, true);
		}
	}
	send_next(j);
}

/* --- the walk --------------------------------------------------------------------- */

/* A request for a table, in the arena. NULL: out of memory. */
static struct qos_request *request_new(struct qos_job *j, struct table *t, unsigned out,
                                       unsigned col)
{
	struct qos_request *q = arena_alloc(j->p->arena, sizeof(*q));

	if (q == NULL) {
		j->p->ret = -ENOMEM;
		return NULL;
	}
	*q = (struct qos_request){ .q = { .io = &j->p->tables,
		                          .node = j->node,
		                          .t = t,
		                          .block = table_at(t, out, col),
		                          .done = on_table,
		                          .ctx = q },
		                   .j = j,
		                   .out = out };
	return q;
}

static void send_table(struct qos_job *j)
{
	bool arb = j->step < VL_ARB_BLOCKS;
	unsigned col = arb ? j->step : j->step - (unsigned)VL_ARB_BLOCKS;
	struct table *t = arb ? j->arb_table : j->sl2vl_table;
	uint32_t block = table_at(t, j->out, col);
	const uint8_t *want;
	struct qos_request *q;

	if (table_length(j->node, t, block) == 0 ||
	    (!arb && j->is_switch && !takes_part(j, col, false))) {
		return; /* the port has no such table, or the table does not matter */
	}
	want = arb ? j->arb[col] : wanted_map(j, col);
	if (table_holds_at(j->node, t, block, want)) {
		return;
	}
	q = request_new(j, t, j->out, col);
	if (q != NULL) {
		memcpy(q->want, want, table_kinds[t->kind].bytes);
		submit(q, table_knows(t, block) || !is_live(j, j->out));
	}
}

/* Sends a table by a wildcard. */
static void send_wildcard(struct qos_job *j, enum scope scope, unsigned out,
                          const uint8_t table[SL2VL_BYTES])
{
	struct smp_request o = { .method = UMAD_METHOD_SET, .done = on_wildcard };
	unsigned in = n_in(j) - 1;
	struct qos_request *t;
	int ret;

	while (in > 0 && !takes_part(j, in, false)) {
		in--;
	}
	t = request_new(j, j->sl2vl_table, out, in);
	if (t == NULL) {
		return;
	}
	t->scope = scope;
	memcpy(t->want, table, SL2VL_BYTES);
	table_address(j->node, t->q.t, t->q.block, &o);
	o.mod = scope == SCOPE_ALL ? SLVL_ALL_IN | SLVL_ALL_OUT : SLVL_ALL_IN | out;
	o.data = t->want;
	o.retries = j->p->tables.retries;
	o.ctx = t;
	j->hold = true;
	ret = smp_submit(j->p->smp, &o);
	j->p->ret = ret != E_OK ? ret : j->p->ret;
	j->p->tables.n_sets[TABLE_SL2VL] += ret == E_OK;
	j->in_flight += ret == E_OK;
}

/* Goes on from arbitration to SL-to-VL tables. */
static void begin_all_maps(struct qos_job *j)
{
	unsigned out = j->end - 1u;
	uint8_t table[SL2VL_BYTES];

	j->maps = true;
	j->out = j->first;
	j->step = VL_ARB_BLOCKS;
	while (out > j->first && !takes_part(j, out, true)) {
		out--;
	}
	if (j->wild && takes_part(j, out, true) && table_for_all(j, table)) {
		send_wildcard(j, SCOPE_ALL, out, table);
	}
}

static void begin_port(struct qos_job *j)
{
	struct row_plan plan;

	if (!j->maps) {
		compute_arb(j);
		return;
	}
	compute_maps(j, j->out);
	plan = j->wild ? plan_row(j, j->out, NULL) : (struct row_plan){ .cost = 0 };
	if (plan.wild) {
		send_wildcard(j, SCOPE_ALL_IN, j->out, plan.table);
	}
}

static void send_next(struct qos_job *j)
{
	while (j->in_flight < QOS_IN_FLIGHT && !j->hold && !j->stop &&
	       j->p->ret == E_OK) {
		unsigned first = j->maps ? VL_ARB_BLOCKS : 0;
		unsigned end = VL_ARB_BLOCKS + (j->maps ? n_in(j) : 0u);

		if (j->out == j->end && (j->maps || j->in_flight)) {
			return;
		}
		if (j->out == j->end) {
			begin_all_maps(j);
			continue;
		}
		if (j->step == end || !takes_part(j, j->out, true)) {
			j->out++;
			j->step = (uint16_t)first;
			continue;
		}
		if (j->step == first) {
			begin_port(j);
		}
		if (!j->hold) {
			send_table(j);
			j->step++;
		}
	}
}

/* Forgets the tables of ports that were restarted since. */
static void forget_restarted(const struct graph *g, const struct disc_node *n,
                             struct table *t)
{
	const struct port *gp = &g->ports[g->nodes[n->graph_node].first_port];
	bool all = n->type == NODE_SWITCH && disc_seems_restarted(n);

	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (gp[i].peer != GRAPH_NONE &&
		    field_get(n->ports[i].info, PI_PORT_STATE) < PORT_ARMED) {
			table_forget_port(t, i);
		}
	}
	/* the whole switch was restarted, ports without a cable among them */
	for (unsigned i = 0; all && i <= n->n_ports; i++) {
		table_forget_port(t, i);
	}
	if (t->silent) { /* it may answer by now */
		t->silent = t->asked = false;
	}
}

static int start_ports(struct program *p, uint32_t node, unsigned first, unsigned end)
{
	struct disc_node *n = p->disc->of[node];
	const struct disc_port *agent = &n->ports[n->type == NODE_SWITCH ? 0 : first];
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
		               .first = (uint16_t)first,
		               .out = (uint16_t)first,
		               .end = (uint16_t)end };
	j->arb_table = table_get_egress(p->tables.store, TABLE_VL_ARB, n);
	j->sl2vl_table = table_get_egress(p->tables.store, TABLE_SL2VL, n);
	if (j->arb_table == NULL || j->sl2vl_table == NULL) {
		return -ENOMEM;
	}
	j->wild = j->is_switch && p->config->use_optimized_slvl &&
	          field_get(n->switch_info, SI_OPTIMIZED_SLTOVL) == 1 &&
	          table_maps_sls(n, 0);
	send_next(j);
	return p->ret;
}

/* Omni-Path: forgets the maps of an end port below ARMED. */
static void forget_end_port(struct program *p, const struct disc_node *n, unsigned num)
{
	static const enum table_kind_id kinds[] = { TABLE_OPA_SL2SC, TABLE_OPA_SC2SL };

	for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		table_forget(table_find(p->tables.store, kinds[k], n->guid, num));
	}
}

static void forget_end_ports(struct program *p, const struct disc_node *n)
{
	const struct graph *g = p->disc->g;
	bool on_switch = n->type == NODE_SWITCH, idle;

	for (unsigned num = on_switch ? 0 : 1; num <= (on_switch ? 0U : n->n_ports);
	     num++) {
		/* a switch that was restarted has lost its tables, and its LID also where a
		 * Set(SwitchInfo) that came after that has put LinearFDBTop back */
		idle = on_switch ? disc_lft_top(n) == 0 || disc_lid(&n->ports[0]) == 0 ||
		                           disc_seems_restarted(n)
		                 : g->ports[graph_port(g, n->graph_node, num)].state <
		                           PORT_ARMED;
		if (idle) {
			forget_end_port(p, n, num);
		}
	}
}

void program_qos_forget(struct program *p)
{
	const struct disc *d = p->disc;

	for (uint32_t i = 0; smp_is_omni_path(p->smp) && i < p->n_nodes; i++) {
		forget_end_ports(p, d->of[p->nodes[i]]);
	}
	for (unsigned k = 0; k < TABLE_KIND_COUNT; k++) {
		bool any = table_kinds[k].unit == TABLE_UNIT_EGRESS &&
		           p->tables.store->of[k].n != 0;

		for (uint32_t i = 0; any && i < p->n_nodes; i++) {
			struct disc_node *n = d->of[p->nodes[i]];
			struct table *t = table_find_egress(p->tables.store, k, n);

			if (t != NULL) {
				forget_restarted(d->g, n, t);
			}
		}
	}
}

int program_qos(struct program *p)
{
	int ret = E_OK;

	for (uint32_t i = 0; p->qos && p->opa == NULL && i < p->n_nodes && ret == E_OK; i++) {
		ret = program_each_agent(p, p->nodes[i], start_ports);
	}
	return ret;
}

bool program_all_map_sls(const struct disc *d)
{
	const struct graph *g = d->g;

	if (smp_is_omni_path(d->smp)) {
		return true;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct disc_node *n = d->of[g->switches[s]];

		if (g->adj_first[s] < g->adj_first[s + 1] && n->ports[0].has_info &&
		    !table_maps_sls(n, 0)) {
			return false;
		}
	}
	return true;
}
