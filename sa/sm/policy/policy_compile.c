/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A qos-policy.conf on a fabric: each port group becomes a bitmap over the ports, each rule
 * a bit in the sets of the ports that its groups hold. A rule without groups is for all.
 *
 * Virtual fabrics on a fabric: a rule and a level each. Members are the ports of its device
 * groups; without Security limited members are full ones. Its service IDs are those of its
 * applications and of the applications that these include.
 */
#include "sa/sm/policy/policy_compile.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/vector.h"
#include "conf/policy/qos_policy.h"
#include "conf/policy/qos_range.h"
#include "conf/virtual_fabric.h"
#include "db/lmdb/layout.h"
#include "routing/graph/device_set.h"
#include "routing/graph/graph.h"

/* Bitmaps of a rule. */
enum { SOURCE, DESTINATION, FULL };

enum { BLOCK_KEYS = 32, PORT_SHIFT = 16, RATE_CODES = 64, RATE_SLOWEST = 2 };

/* --- what is being built ---------------------------------------------------------- */

/* A policy that is being built, in an arena. A failure sticks. */
struct policy_build {
	const struct policy_in *in;
	struct arena *arena;
	struct policy_head head;
	struct policy_level *levels; /* [head.n_levels], rules alike: sized before */
	struct policy_rule *rules;
	struct policy_fabric *fabrics;
	struct policy_range *ranges; /* grow */
	struct policy_id *ids;
	size_t room_ranges, room_ids;
	uint64_t *sets; /* [graph.n_ports][POLICY_SETS][words] */
	int ret;
};

/* Makes a port a member of bitmap \a set of a rule. */
static void build_member(struct policy_build *b, uint32_t port, unsigned set,
                         uint32_t rule)
{
	b->sets[((size_t)port * POLICY_SETS + set) * b->head.words + rule / 64] |=
		UINT64_C(1) << rule % 64;
}

/* Makes room for the rules. \return false: out of memory, or too many. */
static bool build_rules(struct policy_build *b, uint32_t n_rules, uint32_t n_levels)
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

static void build_range(struct policy_build *b, struct policy_list *to,
                        struct policy_range r)
{
	if (b->ret == E_OK) {
		b->ret = ARENA_RESERVE(b->arena, b->ranges, b->head.n_ranges,
		                       b->room_ranges, b->head.n_ranges + 1U);
	}
	if (b->ret == E_OK) {
		if (to->n == 0) {
			to->first = b->head.n_ranges;
		}
		to->n++;
		b->ranges[b->head.n_ranges++] = r;
	}
}

static void build_ranges(struct policy_build *b, struct policy_list *to,
                         const struct qos_ranges *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		build_range(b, to,
		            (struct policy_range){ r->range[i].from, r->range[i].to,
		                                   UINT64_MAX });
	}
}

/* QoS class of an SL. With a rule of the routing the rule says it. If the routing uses
 * several lanes, they take the SLs, so there is one class. Else each SL that no port drops is
 * a class of its own. \return POLICY_NO_QOS: ports drop this SL. */
static uint8_t build_qos_of(const struct policy_in *in, unsigned sl)
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

/* A name of any port of a switch means the switch. */
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

static void warn_empty(const struct groups *s, uint32_t group)
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
	fill_side(s, i, FULL, NULL, 0); /* limited membership is unknown here */
}

static void warn_level(const struct policy_build *b, const struct qos_level *from,
                       const struct policy_level *l)
{
	const struct policy_in *in = b->in;
	const char *name = from->name != NULL ? from->name : "of qos-ulps";

	if (l->sl != POLICY_ANY && l->qos == POLICY_NO_QOS) {
		diag_add(in->d, DIAG_WARNING, in->policy->path, from->line,
		         "qos-level %s has no paths: ports drop SL %u", name, l->sl);
	} else if (l->sl != POLICY_ANY && l->sl != 0 && in->lanes->rule == NULL &&
	           in->lanes->n > 1) {
		diag_add(
			in->d, DIAG_WARNING, in->policy->path, from->line,
			"SL %u of qos-level %s has no effect: the routing takes SLs for its lanes",
			l->sl, name);
	}
	if (from->rate_limit != 0 && l->rate == 0) {
		diag_add(
			in->d, DIAG_WARNING, in->policy->path, from->line,
			"rate-limit %u of qos-level %s has no effect: there is no such rate",
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
	warn_level(b, from, to);
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
		warn_empty(&s, i);
	}
	for (uint32_t i = 0; i < from->n_levels; i++) {
		fill_level(b, &from->levels[i], &b->levels[i]);
	}
	for (uint32_t i = 0; i < from->n_rules; i++) {
		fill_rule(&s, i);
	}
}

/* The fastest rate that is no faster than so many Gb/s. */
static uint8_t rate_of(uint32_t gbps)
{
	uint8_t best = RATE_SLOWEST;

	for (uint8_t code = 1; gbps != 0 && code < RATE_CODES; code++) {
		uint32_t speed = rate_speed(code); /* 0.1 Gb/s */
		if (speed <= 10 * gbps && speed > rate_speed(best)) {
			best = code;
		}
	}
	return gbps != 0 ? best : 0;
}

/* --- members ---------------------------------------------------------------------- */

static void add_group(struct policy_build *b, uint32_t rule, uint32_t group, bool full)
{
	const struct graph *g = b->in->g;
	struct device_set set;
	int ret = device_set_group(g, b->in->fabrics->groups, group, b->arena, &set);

	if (ret != E_OK) {
		b->ret = ret;
		return;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];
		if (device_set_has(&set, port)) {
			build_member(b, port, SOURCE, rule);
			build_member(b, port, DESTINATION, rule);
		}
		if (full && device_set_has(&set, port)) {
			build_member(b, port, FULL, rule);
		}
	}
}

static void add_all_ports(struct policy_build *b, uint32_t rule)
{
	const struct graph *g = b->in->g;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		for (unsigned set = SOURCE; set <= FULL; set++) {
			build_member(b, g->end_ports[i], set, rule);
		}
	}
}

static void add_members(struct policy_build *b, uint32_t rule,
                        const struct virtual_fabric *vf)
{
	if (!b->in->enforce) {
		add_all_ports(b, rule);
		return;
	}
	for (uint32_t i = 0; b->ret == E_OK && i < vf->n_members; i++) {
		add_group(b, rule, vf->members[i], true);
	}
	for (uint32_t i = 0; b->ret == E_OK && i < vf->n_limited; i++) {
		add_group(b, rule, vf->limited[i], !vf->security);
	}
}

/* --- applications ----------------------------------------------------------------- */

/* Adds the rules of the applications of one virtual fabric. */
struct collection {
	struct policy_build *b;
	struct policy_fabric *fabric;
	struct policy_rule *rule;
	bool *seen; /* [applications] */
};

static void add_id(struct policy_build *b, struct policy_list *to,
                   const struct id_rule *from)
{
	if (b->ret == E_OK) {
		b->ret = ARENA_RESERVE(b->arena, b->ids, b->head.n_ids, b->room_ids,
		                       b->head.n_ids + 1U);
	}
	if (b->ret == E_OK) {
		to->first = to->n == 0 ? b->head.n_ids : to->first;
		to->n++;
		b->ids[b->head.n_ids++] =
			(struct policy_id){ from->a.high, from->a.low,  from->b.high,
			                    from->b.low,  from->masked, 0 };
	}
}

static void add_service(struct collection *t, const struct id_rule *from)
{
	struct policy_range r = { from->a.low, from->b.low, UINT64_MAX };

	if (from->masked) {
		r = (struct policy_range){ from->a.low, from->a.low, from->b.low };
	}
	if (t->b->in->enforce) {
		build_range(t->b, &t->rule->services, r);
	}
}

/* Adds the services of an application and of those that it includes, or their MGIDs. Both
 * kinds have to be neighbours in the list of IDs, so each is added by a pass of its own. */
static void add_application(struct collection *t, uint32_t index, bool mgids)
{
	const struct application *app = &t->b->in->fabrics->applications.all[index];

	if (t->seen[index]) {
		return;
	}
	t->seen[index] = true;
	for (uint32_t i = 0; mgids && i < app->n_mgids; i++) {
		add_id(t->b, &t->fabric->mgids, &app->mgids[i]);
	}
	for (uint32_t i = 0; !mgids && i < app->n_services; i++) {
		add_id(t->b, &t->fabric->services, &app->services[i]);
		add_service(t, &app->services[i]);
	}
	t->fabric->flags |= app->unmatched_service ? FABRIC_UNMATCHED_SERVICE : 0;
	t->fabric->flags |= app->unmatched_mgid ? FABRIC_UNMATCHED_MGID : 0;
	t->fabric->flags |= app->sa ? FABRIC_SA : 0;
	t->fabric->flags |= app->pm ? FABRIC_PM : 0;
	for (uint32_t i = 0; i < app->n_includes; i++) {
		add_application(t, app->includes[i], mgids);
	}
}

static void add_applications(struct policy_build *b, uint32_t rule,
                             const struct virtual_fabric *vf)
{
	uint32_t n = b->in->fabrics->applications.n;
	struct collection t = { .b = b,
		                .fabric = &b->fabrics[rule],
		                .rule = &b->rules[rule] };

	for (unsigned pass = 0; pass < 2 && b->ret == E_OK; pass++) {
		t.seen = arena_array(b->arena, n, sizeof(*t.seen));
		if (t.seen == NULL) {
			b->ret = -ENOMEM;
			return;
		}
		for (uint32_t i = 0; i < vf->n_applications; i++) {
			add_application(&t, vf->applications[i], pass == 1);
		}
	}
	t.rule->unmatched =
		!b->in->enforce || (t.fabric->flags & FABRIC_UNMATCHED_SERVICE) != 0;
}

/* --- virtual fabrics -------------------------------------------------------------- */

static void fill_fabric(const struct virtual_fabric *vf, struct policy_fabric *to)
{
	const struct vf_qos *q = &vf->service;
	size_t len = strnlen(vf->name, sizeof(to->name));

	*to = (struct policy_fabric){
		.p_key = (uint16_t)vf->pkey,
		.sl = vf->sl,
		.multicast_sl = vf->multicast_sl,
		.mtu = (uint8_t)vf->max_mtu,
		.rate = rate_of(vf->max_rate),
		.life_time_mult = vf->qos ? (uint8_t)q->life_time_mult : 0,
		.flags = (uint8_t)((vf->security ? FABRIC_SECURITY : 0) |
		                   (vf->qos ? FABRIC_QOS : 0)),
		.hoq_life = 0xff,
	};
	memcpy(to->name, vf->name, len);
	if (vf->qos) {
		to->flags |=
			(uint8_t)((q->flow_control_disable ? FABRIC_FLOW_CONTROL_DISABLE
		                                           : 0) |
		                  (q->high_priority ? FABRIC_HIGH_PRIORITY : 0));
		to->bandwidth = (uint8_t)q->bandwidth;
		to->preempt_rank = (uint8_t)q->preempt_rank;
		to->hoq_life = q->hoq_life < 0 ? 0xff : (uint8_t)q->hoq_life;
	}
}

static void warn_fabric(const struct policy_build *b, const struct virtual_fabric *vf,
                        const struct policy_level *l)
{
	const struct lanes *lanes = b->in->lanes;

	if (l->qos == POLICY_NO_QOS) {
		diag_add(b->in->d, DIAG_WARNING, NULL, 0,
		         "virtual fabric %s has no paths: ports drop SL %u", vf->name,
		         l->sl);
	} else if (vf->sl != 0 && lanes->rule == NULL && (lanes->n > 1 || !b->in->qos)) {
		diag_add(b->in->d, DIAG_WARNING, NULL, 0,
		         "SL %u of virtual fabric %s has no effect: %s", vf->sl, vf->name,
		         b->in->qos ? "the routing takes SLs for its lanes"
		                    : "qos is FALSE");
	}
}

static void add_fabric(struct policy_build *b, uint32_t i,
                       const struct virtual_fabric *vf)
{
	struct policy_fabric *f = &b->fabrics[i];
	struct policy_level *l = &b->levels[i];

	fill_fabric(vf, f);
	*l = (struct policy_level){
		.p_key = f->p_key,
		.sl = b->in->qos ? f->sl : 0,
		.mtu = f->mtu,
		.rate = f->rate,
		.life_time = POLICY_ANY,
		.life_time_mult = f->life_time_mult,
	};
	l->qos = build_qos_of(b->in, l->sl);
	b->rules[i].level = i;
	add_members(b, i, vf);
	add_applications(b, i, vf);
	warn_fabric(b, vf, l);
}

static int by_line(const void *a, const void *b)
{
	unsigned x = (*(const struct virtual_fabric *const *)a)->line;
	unsigned y = (*(const struct virtual_fabric *const *)b)->line;

	return x < y ? -1 : x > y;
}

/* Of the virtual fabrics that are enabled and not on standby, in the order of the file. */
static void build_fabrics(struct policy_build *b)
{
	const struct virtual_fabrics *from = b->in->fabrics;
	const struct virtual_fabric **list =
		arena_array(b->arena, from->n, sizeof(*list));
	uint32_t n = 0;

	b->head.kind = POLICY_EACH;
	b->head.default_level = UINT32_MAX;
	b->head.n_fabrics = virtual_fabrics_active(from);
	b->fabrics = arena_array(b->arena, b->head.n_fabrics, sizeof(*b->fabrics));
	if (list == NULL || b->fabrics == NULL) {
		b->ret = -ENOMEM;
	}
	if (b->ret != E_OK || !build_rules(b, b->head.n_fabrics, b->head.n_fabrics)) {
		return;
	}
	for (uint32_t i = 0; i < from->n; i++) {
		if (virtual_fabric_is_active(&from->all[i])) {
			list[n++] = &from->all[i];
		}
	}
	qsort(list, n, sizeof(*list), by_line);
	for (uint32_t i = 0; b->ret == E_OK && i < n; i++) {
		add_fabric(b, i, list[i]);
	}
}

/* --- the policy -------------------------------------------------------------------- */

static bool has_default(const struct qos_policy *p)
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
	for (uint32_t i = 0; has_default(policy) && i < policy->n_levels; i++) {
		if (policy->levels[i].sl > 0) {
			return true;
		}
	}
	return false;
}

int policy_compile(const struct policy_in *in, struct arena *a,
                   const struct policy **ret_policy)
{
	struct policy_build b = { .in = in, .arena = a };
	bool fabrics = virtual_fabrics_active(in->fabrics) != 0;
	struct policy *p = arena_alloc(a, sizeof(*p));

	if (p == NULL) {
		return -ENOMEM;
	}
	if (!fabrics && !has_default(in->policy)) {
		*ret_policy = NULL;
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
		*ret_policy = p;
	}
	return b.ret;
}
