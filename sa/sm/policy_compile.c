/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A qos-policy.conf on a fabric. Each port group becomes a bitmap over the ports, each rule
 * a bit in the sets of the ports that its groups hold. A rule without groups is for all.
 */
#include "sa/sm/policy_compile.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/qos_policy.h"
#include "conf/virtual_fabric.h"
#include "db/layout.h"
#include "routing/graph/graph.h"
#include "sa/sm/policy_build.h"

enum { SOURCE, DESTINATION, FULL, P_KEY_BASE = 0x7fff, BLOCK_KEYS = 32, PORT_SHIFT = 16 };

/* --- what is being built ---------------------------------------------------------- */

bool build_rules(struct policy_build *b, uint32_t n_rules, uint32_t n_levels)
{
	size_t n_ports = b->in->g->n_ports;

	if (n_rules > POLICY_RULES_MAX) {
		b->ret = E_FULL;
		return false;
	}
	b->head.n_rules = n_rules;
	b->head.n_levels = n_levels;
	b->head.words = (n_rules + 63) / 64;
	b->rules = arena_array(b->arena, n_rules, sizeof(*b->rules));
	b->levels = arena_array(b->arena, n_levels, sizeof(*b->levels));
	b->sets = arena_array(b->arena, n_ports * b->head.words * POLICY_SETS,
	                      sizeof(*b->sets));
	if (b->rules == NULL || b->levels == NULL || b->sets == NULL) {
		b->ret = -ENOMEM;
	}
	return b->ret == E_OK;
}

void build_range(struct policy_build *b, struct policy_list *to, struct policy_range r)
{
	if (b->ret == E_OK && b->head.n_ranges == b->room_ranges) {
		uint32_t room = b->room_ranges ? 2 * b->room_ranges : 64;
		struct policy_range *more = arena_array(b->arena, room, sizeof(*more));
		if (more == NULL) {
			b->ret = -ENOMEM;
			return;
		}
		if (b->room_ranges) {
			memcpy(more, b->ranges, b->head.n_ranges * sizeof(*more));
		}
		b->ranges = more;
		b->room_ranges = room;
	}
	if (b->ret == E_OK) {
		if (to->n == 0) {
			to->first = b->head.n_ranges;
		}
		to->n++;
		b->ranges[b->head.n_ranges++] = r;
	}
}

void build_ranges(struct policy_build *b, struct policy_list *to,
                  const struct qos_ranges *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		build_range(b, to,
		            (struct policy_range){ r->range[i].from, r->range[i].to,
		                                   UINT64_MAX });
	}
}

/* Without tables there is SL 0 alone; an engine's lanes take the SLs there are, unless it
 * has a rule; where all go one way, SLs that no port drops are levels of their own. */
uint8_t build_qos_of(const struct policy_in *in, unsigned sl)
{
	const struct lanes *l = in->lanes;

	if (l->rule != NULL) {
		return (uint8_t)((sl >> l->rule->level_shift) % l->rule->levels);
	}
	if (sl == 0 || l->n > 1) {
		return 0;
	}
	if (!(in->free_sls >> sl & 1)) {
		return POLICY_NO_QOS;
	}
	uint16_t below = in->free_sls & (uint16_t)((1U << sl) - 1) & 0xfffe;
	return (uint8_t)(1 + __builtin_popcount(below));
}

/* --- port groups ------------------------------------------------------------------ */

struct groups {
	struct policy_build *b;
	const struct qos_policy *policy;
	uint64_t *bits; /* [n_groups][words] by index of graph.ports */
	uint32_t words;
};

static void add_port(struct groups *s, uint32_t group, uint32_t port)
{
	s->bits[(size_t)group * s->words + port / 64] |= UINT64_C(1) << port % 64;
}

static bool has_port(const struct groups *s, uint32_t group, uint32_t port)
{
	return s->bits[(size_t)group * s->words + port / 64] >> port % 64 & 1;
}

/* Any port of a switch stands for the switch. */
static void add_name(struct groups *s, uint32_t group, const struct qos_port_name *name)
{
	const struct graph *g = s->b->in->g;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];
		uint32_t num = n->type == NODE_SWITCH ? 0 : name->port;

		if (name->port <= n->n_ports &&
		    strcmp(n->description, name->description) == 0) {
			add_port(s, group, n->first_port + num);
		}
	}
}

static unsigned type_bit(const struct graph *g, uint32_t port)
{
	switch ((enum node_type)g->nodes[g->ports[port].node].type) {
	case NODE_CA: return QOS_NODE_CA;
	case NODE_SWITCH: return QOS_NODE_SWITCH;
	case NODE_ROUTER: return QOS_NODE_ROUTER;
	}
	return 0;
}

/* Ports with one of the P_Keys in their table; \a known gets those with a table. */
static void add_p_keys(struct groups *s, uint32_t group, const struct qos_ranges *keys,
                       uint64_t *known)
{
	const struct graph *g = s->b->in->g;

	for (size_t i = 0; i < s->b->in->n_attrs; i++) {
		const struct snap_attr *at = &s->b->in->attrs[i];
		uint32_t node = at->attr == UMAD_SM_ATTR_PKEY_TABLE
		                        ? graph_node_by_guid(g, at->guid)
		                        : GRAPH_NONE;
		uint32_t num = at->block >> PORT_SHIFT;

		if (node == GRAPH_NONE || num > g->nodes[node].n_ports) {
			continue;
		}
		uint32_t port = g->nodes[node].first_port + num;
		known[port / 64] |= UINT64_C(1) << port % 64;
		for (unsigned k = 0; k < at->len / 2u && k < BLOCK_KEYS; k++) {
			uint16_t key = key_read_u16(at->data + 2 * k) & P_KEY_BASE;
			if (key != 0 && qos_ranges_have(keys, key)) {
				add_port(s, group, port);
			}
		}
	}
}

/* A port whose table is not known has the default P_Key. */
static void add_partition(struct groups *s, uint32_t group, const struct qos_ranges *keys)
{
	const struct graph *g = s->b->in->g;
	uint64_t *known = arena_array(s->b->arena, s->words, sizeof(*known));

	if (known == NULL) {
		s->b->ret = -ENOMEM;
		return;
	}
	add_p_keys(s, group, keys, known);
	for (uint32_t i = 0; qos_ranges_have(keys, P_KEY_BASE) && i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];
		if (!(known[port / 64] >> port % 64 & 1)) {
			add_port(s, group, port);
		}
	}
}

static void fill_group(struct groups *s, uint32_t group)
{
	const struct qos_port_group *from = &s->policy->groups[group];
	const struct graph *g = s->b->in->g;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];
		if (qos_ranges_have(&from->port_guids, g->ports[port].guid) ||
		    (from->node_types & type_bit(g, port)) ||
		    ((from->node_types & QOS_NODE_SELF) && port == g->sm_port)) {
			add_port(s, group, port);
		}
	}
	for (uint32_t i = 0; i < from->n_names; i++) {
		add_name(s, group, &from->names[i]);
	}
	if (from->p_keys.n != 0) {
		add_partition(s, group, &from->p_keys);
	}
}

static void tell_empty(const struct groups *s, uint32_t group)
{
	const struct qos_port_group *from = &s->policy->groups[group];
	uint64_t any = 0;

	for (uint32_t w = 0; w < s->words; w++) {
		any |= s->bits[(size_t)group * s->words + w];
	}
	if (any == 0 && from->name != NULL) {
		diag_add(s->b->in->d, DIAG_WARNING, s->policy->path, from->line,
		         "port group '%s' has no ports in this fabric", from->name);
	}
}

/* --- rules and levels ------------------------------------------------------------- */

static void fill_side(const struct groups *s, uint32_t rule, unsigned side,
                      const uint32_t *list, uint32_t n)
{
	const struct graph *g = s->b->in->g;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];
		bool in = n == 0;
		for (uint32_t k = 0; !in && k < n; k++) {
			in = has_port(s, list[k], port);
		}
		if (in) {
			build_member(s->b, port, side, rule);
		}
	}
}

static void fill_rule(const struct groups *s, uint32_t i)
{
	const struct qos_match_rule *from = &s->policy->rules[i];
	struct policy_rule *to = &s->b->rules[i];

	to->level = from->level;
	build_ranges(s->b, &to->services, &from->service_ids);
	build_ranges(s->b, &to->qos_classes, &from->qos_classes);
	build_ranges(s->b, &to->p_keys, &from->p_keys);
	fill_side(s, i, SOURCE, from->sources, from->n_sources);
	fill_side(s, i, DESTINATION, from->destinations, from->n_destinations);
	fill_side(s, i, FULL, NULL, 0); /* it has no members of two kinds */
}

static void tell_level(const struct policy_build *b, const struct qos_level *from,
                       const struct policy_level *l)
{
	const struct policy_in *in = b->in;
	const char *name = from->name != NULL ? from->name : "of qos-ulps";

	if (l->sl != POLICY_ANY && l->qos == POLICY_NO_QOS) {
		diag_add(in->d, DIAG_WARNING, in->policy->path, from->line,
		         "qos-level %s has no paths: ports drop SL %u", name, l->sl);
	} else if (l->sl != POLICY_ANY && l->sl != 0 && in->lanes->rule == NULL &&
	           in->lanes->n > 1) {
		diag_add(in->d, DIAG_WARNING, in->policy->path, from->line,
		         "SL %u of qos-level %s has no effect: the routing takes SLs for "
		         "its lanes",
		         l->sl, name);
	}
	if (from->rate_limit != 0 && l->rate == 0) {
		diag_add(in->d, DIAG_WARNING, in->policy->path, from->line,
		         "rate-limit %u of qos-level %s has no effect: there is no such "
		         "rate",
		         from->rate_limit, name);
	}
}

static void fill_level(struct policy_build *b, const struct qos_level *from,
                       struct policy_level *to)
{
	*to = (struct policy_level){
		.sl = from->sl < 0 ? POLICY_ANY : (uint8_t)from->sl,
		.qos = from->sl < 0 ? 0 : build_qos_of(b->in, (unsigned)from->sl),
		.mtu = (uint8_t)from->mtu_limit,
		.rate = rate_speed((uint8_t)from->rate_limit) != 0
		                ? (uint8_t)from->rate_limit
		                : 0,
		.life_time = from->packet_life < 0 ? POLICY_ANY
		                                   : (uint8_t)from->packet_life,
	};
	build_ranges(b, &to->p_keys, &from->p_keys);
	tell_level(b, from, to);
}

static void build_policy(struct policy_build *b)
{
	const struct qos_policy *from = b->in->policy;
	struct groups s = { .b = b,
		            .policy = from,
		            .words = (b->in->g->n_ports + 63) / 64 };

	b->head.kind = POLICY_FIRST;
	b->head.default_level = from->default_level;
	s.bits = arena_array(b->arena, (size_t)from->n_groups * s.words, sizeof(*s.bits));
	if (s.bits == NULL) {
		b->ret = -ENOMEM;
	}
	if (b->ret != E_OK || !build_rules(b, from->n_rules, from->n_levels)) {
		return;
	}
	for (uint32_t i = 0; i < from->n_groups; i++) {
		fill_group(&s, i);
		tell_empty(&s, i);
	}
	for (uint32_t i = 0; i < from->n_levels; i++) {
		fill_level(b, &from->levels[i], &b->levels[i]);
	}
	for (uint32_t i = 0; i < from->n_rules; i++) {
		fill_rule(&s, i);
	}
}

/* --- all -------------------------------------------------------------------------- */

static bool is_there(const struct qos_policy *p)
{
	return p != NULL && p->default_level != QOS_LEVEL_NONE;
}

bool policy_needs_qos(const struct qos_policy *policy,
                      const struct virtual_fabrics *fabrics)
{
	if (virtual_fabrics_active(fabrics) != 0) {
		for (uint32_t i = 0; i < fabrics->n; i++) {
			if (virtual_fabric_is_active(&fabrics->all[i]) &&
			    fabrics->all[i].sl != 0) {
				return true;
			}
		}
		return false;
	}
	for (uint32_t i = 0; is_there(policy) && i < policy->n_levels; i++) {
		if (policy->levels[i].sl > 0) {
			return true;
		}
	}
	return false;
}

int policy_compile(const struct policy_in *in, struct arena *a, const struct policy **ret)
{
	struct policy_build b = { .in = in, .arena = a };
	bool fabrics = virtual_fabrics_active(in->fabrics) != 0;
	struct policy *p = arena_alloc(a, sizeof(*p));

	if (p == NULL) {
		return -ENOMEM;
	}
	if (!fabrics && !is_there(in->policy)) {
		*ret = NULL;
		return E_OK;
	}
	if (fabrics) {
		build_fabrics(&b);
	} else {
		build_policy(&b);
	}
	if (b.ret == E_OK) {
		*p = (struct policy){ .head = b.head,
			              .levels = b.levels,
			              .rules = b.rules,
			              .ranges = b.ranges,
			              .fabrics = b.fabrics,
			              .ids = b.ids,
			              .sets = b.sets,
			              .n_sets = in->g->n_ports };
		*ret = p;
	}
	return b.ret;
}
