/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * SwitchCostRecord: what the way of least cost between two switches costs, by the rates of the links: 12 for one
 * of 100 Gb/s, 48 for one of 25. It is computed from the published fabric when it is asked for.
 *
 * A switch has its whole row, itself included, by LID. Only full members of the default partition, who
 * manage, are answered.
 *
 * Layout, component bit and order are those of opa-fm and opasaquery. Both leave the entries in the order of bytes of
 * their hosts, which are x86, so an entry is little-endian. To a request for all switches opa-fm
 * gives of each pair one direction, to the lower LID, and here both are given, so that a record is the
 * same however it is asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/snapshot/fabric.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "routing/spread/leastcost.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"

enum { ENTRIES = 64, ENTRY_BYTES = 8, ENTRY_BITS = 64, COST_AT = 32, COST_BYTES = 516 };
enum { UNIT = 40, MOST = 0x7fff }; /* of leastcost_of_rate(); opa-fm's sign of no way */
enum { SLID };
/* Dijkstra's search counts as so many places of a walk, for each 256 links. */
enum { LINKS_PER_STEP = 256 };

/* clang-format off */
static const struct sa_field cost_fields[] = {
	{ "SLID",  0,       32,                   SA_INPUT },
	/* for each destination: 4 bytes of its LID, 2 of the cost, 2 are 0 */
	{ "Costs", COST_AT, ENTRIES * ENTRY_BITS, SA_EQ | SA_LIST8 },
};
/* clang-format on */

struct costs {
	const struct graph *g;
	uint64_t *order; /* [n_switches] by LID: that in the upper half, the switch in the lower */
	uint32_t *cost;  /* [n_switches] from the switch at work */
	struct arena *a;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t lid_at(const struct costs *c, uint32_t i)
{
	return (uint32_t)(c->order[i] >> 32);
}

static uint32_t switch_at(const struct costs *c, uint32_t i)
{
	return (uint32_t)c->order[i];
}

static int prepare(struct snap_reader *r, struct costs *ret_costs)
{
	struct arena *a = ret_costs->a;
	struct graph *g;
	int ret = snap_graph(r, a, &g);

	if (ret != E_OK) {
		return ret;
	}
	ret_costs->g = g;
	ret_costs->order = arena_array(a, g->n_switches, sizeof(*ret_costs->order));
	ret_costs->cost = arena_array(a, g->n_switches, sizeof(*ret_costs->cost));
	if (ret_costs->order == NULL || ret_costs->cost == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_switches; i++) {
		uint32_t port0 = g->nodes[g->switches[i]].first_port;

		ret_costs->order[i] = (uint64_t)g->ports[port0].lid << 32 | i;
	}
	qsort(ret_costs->order, g->n_switches, sizeof(*ret_costs->order), compare);
	return E_OK;
}

static void put_entry(uint8_t *entry, uint32_t lid, uint32_t cost)
{
	enum { LID_BYTES = 4 };

	for (unsigned i = 0; i < LID_BYTES; i++) {
		entry[i] = (uint8_t)(lid >> 8 * i);
	}
	entry[LID_BYTES] = (uint8_t)cost;
	entry[LID_BYTES + 1] = (uint8_t)(cost >> 8);
}

/* The row of one switch. */
static int offer_costs(const struct sa_query *q, const struct costs *c, uint32_t at,
                       struct sa_out *out)
{
	uint32_t lid = lid_at(c, at), n = 0;
	uint8_t record[COST_BYTES] = { 0 };
	struct arena *a = arena_new();
	int ret = a != NULL ? leastcost_to(c->g, switch_at(c, at), a, c->cost) : -ENOMEM;

	arena_free(a);
	sa_put(q->attr, record, SLID, lid);
	for (uint32_t i = 0; ret == E_OK && i < c->g->n_switches; i++) {
		uint32_t to = lid_at(c, i), cost = c->cost[switch_at(c, i)];

		if (to == 0) {
			continue;
		}
		cost = cost / UNIT < MOST ? (cost + UNIT / 2) / UNIT : MOST;
		put_entry(record + COST_AT / 8 + (size_t)n * ENTRY_BYTES, to, cost);
		if (++n == ENTRIES) {
			sa_offer(out, record);
			memset(record + COST_AT / 8, 0, sizeof(record) - COST_AT / 8);
			n = 0;
		}
	}
	if (ret == E_OK && n != 0) {
		sa_offer(out, record);
	}
	return ret;
}

static bool manages(struct snap_reader *r, const struct snap_end *me)
{
	enum { FULL_DEFAULT = 0xffff };
	uint16_t found;

	return me == NULL ||
	       (snap_common_p_key(r, me, me, FULL_DEFAULT, &found) == E_OK &&
	        found == FULL_DEFAULT);
}

static int cost_walk(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	struct costs c = { .a = arena_new() };
	int ret = c.a == NULL                  ? -ENOMEM
	          : !manages(r, q->requester) ? E_NOTFOUND
	                                      : prepare(r, &c);

	for (uint32_t i = 0; ret == E_OK && i < c.g->n_switches && !sa_full(out); i++) {
		uint32_t lid = lid_at(&c, i);

		if (lid == 0 ||
		    (sa_asked(q, SLID) ? lid != sa_component(q, SLID) : lid < q->from)) {
			continue;
		}
		sa_at(out, lid, 0);
		out->steps += c.g->n_adj / LINKS_PER_STEP;
		if (!sa_full(out)) {
			ret = offer_costs(q, &c, i, out);
		}
	}
	arena_free(c.a);
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr opa_switch_cost = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_SWITCH_COST,
	.name = "SwitchCostRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = COST_BYTES,
	SA_FIELDS(cost_fields),
	.walk = cost_walk,
};
