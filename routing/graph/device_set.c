/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/device_set.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"

/* Bits of PortInfo.CapabilityMask (IBA vol. 1, PortInfo). */
enum { CAP_IS_SM = 1 << 1, CAP_IS_DEVICE_MANAGEMENT = 1 << 19 };

/* Evaluates groups into one set; a group that two others include is looked at once. */
struct set_builder {
	const struct graph *g;
	const struct device_groups *groups;
	struct device_set *set;
	bool *queued; /* [groups->n] */
	uint32_t *queue;
	uint32_t n;
};

static void add_port(struct set_builder *j, uint32_t port)
{
	j->set->bits[port / 64] |= UINT64_C(1) << port % 64;
}

/* Ports of a node with numbers from \a from to \a to. */
static void add_ports(struct set_builder *j, uint32_t node, unsigned from, unsigned to)
{
	const struct node *n = &j->g->nodes[node];

	for (unsigned num = from; num <= to && num <= n->n_ports; num++) {
		add_port(j, n->first_port + num);
	}
}

static void add_node(struct set_builder *j, uint32_t node)
{
	add_ports(j, node, 0, j->g->nodes[node].n_ports);
}

static void add_nodes_of_type(struct set_builder *j, uint32_t type)
{
	for (uint32_t i = 0; i < j->g->n_nodes; i++) {
		if (j->g->nodes[i].type == type) {
			add_node(j, i);
		}
	}
}

static void add_described(struct set_builder *j, const struct device_pattern *p)
{
	for (uint32_t i = 0; i < j->g->n_nodes; i++) {
		if (!device_pattern_match(p, j->g->nodes[i].description)) {
			continue;
		}
		if (p->some_ports) {
			add_ports(j, i, p->port_from, p->port_to);
		} else {
			add_node(j, i);
		}
	}
}

/* End ports with one of the capabilities. */
static void add_capable(struct set_builder *j, uint32_t mask, bool cas_only)
{
	for (uint32_t i = 0; i < j->g->n_end_ports; i++) {
		uint32_t port = j->g->end_ports[i];
		const struct port *p = &j->g->ports[port];

		if (cas_only && j->g->nodes[p->node].type != NODE_CA) {
			continue;
		}
		if (p->capability_mask & mask) {
			add_port(j, port);
		}
	}
}

/* End ports whose neighbours let them manage an Omni-Path fabric. */
static void add_managers(struct set_builder *j)
{
	for (uint32_t i = 0; i < j->g->n_end_ports; i++) {
		if (j->g->ports[j->g->end_ports[i]].may_manage) {
			add_port(j, j->g->end_ports[i]);
		}
	}
}

static void add_selected(struct set_builder *j, uint32_t what)
{
	uint32_t sm = j->g->sm_port;

	switch (what) {
	case DEVICE_ALL:
		for (uint32_t i = 0; i < j->g->n_nodes; i++) {
			add_node(j, i);
		}
		break;
	case DEVICE_SELF:
		if (sm != GRAPH_NONE) {
			add_node(j, j->g->ports[sm].node);
		}
		break;
	case DEVICE_SWE0:
		for (uint32_t s = 0; s < j->g->n_switches; s++) {
			const struct node *n = &j->g->nodes[j->g->switches[s]];
			if (n->esp0) {
				add_port(j, n->first_port);
			}
		}
		break;
	case DEVICE_MGMT_ALLOWED:
		add_capable(j, CAP_IS_SM, false);
		add_managers(j);
		if (sm != GRAPH_NONE) {
			add_port(j,
			         sm); /* where a subnet manager runs it is allowed to */
		}
		break;
	case DEVICE_DIRECT_CONNECT:
		if (j->g->n_switches == 0) {
			add_nodes_of_type(j, NODE_CA);
		}
		break;
	case DEVICE_TFI: add_capable(j, CAP_IS_DEVICE_MANAGEMENT, true); break;
	default: break;
	}
}

static void add_group(struct set_builder *j, uint32_t group)
{
	if (!j->queued[group]) {
		j->queued[group] = true;
		j->queue[j->n++] = group;
	}
}

static void add_rule(struct set_builder *j, const struct device_rule *r)
{
	uint32_t at;

	switch (r->kind) {
	case DEVICE_NODE_GUID:
		at = graph_node_by_guid(j->g, r->guid);
		if (at != GRAPH_NONE) {
			add_node(j, at);
		}
		break;
	case DEVICE_PORT_GUID:
		at = graph_port_by_guid(j->g, r->guid);
		if (at != GRAPH_NONE) {
			add_port(j, at);
		}
		break;
	case DEVICE_SYSTEM_IMAGE_GUID:
		for (uint32_t i = 0; i < j->g->n_nodes; i++) {
			if (j->g->nodes[i].system_image_guid == r->guid) {
				add_node(j, i);
			}
		}
		break;
	case DEVICE_NODE_DESC: add_described(j, r->pattern); break;
	case DEVICE_NODE_TYPE: add_nodes_of_type(j, r->value); break;
	case DEVICE_INCLUDE_GROUP: add_group(j, r->value); break;
	case DEVICE_SELECT: add_selected(j, r->value); break;
	}
}

/* Members of the groups index[0..n). */
static int evaluate(const struct graph *g, const struct device_groups *groups,
                    const uint32_t *index, uint32_t n, struct arena *a,
                    struct device_set *ret_set)
{
	struct arena *tmp = arena_new();
	struct device_set set = { .n_ports = g->n_ports };
	struct set_builder j = { .g = g, .groups = groups, .set = &set };
	int ret = -ENOMEM;

	set.bits = arena_array(a, g->n_ports / 64 + 1, sizeof(*set.bits));
	if (!tmp || !set.bits) {
		goto out;
	}
	if (n > 0) {
		j.queued = arena_array(tmp, groups->n, sizeof(*j.queued));
		j.queue = arena_array(tmp, groups->n, sizeof(*j.queue));
		if (!j.queued || !j.queue) {
			goto out;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		add_group(&j, index[i]);
	}
	for (uint32_t i = 0; i < j.n; i++) {
		const struct device_group *group = &groups->groups[j.queue[i]];
		for (uint32_t k = 0; k < group->n_rules; k++) {
			add_rule(&j, &group->rules[k]);
		}
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		set.n_end_ports += device_set_has(&set, g->end_ports[i]);
	}
	*ret_set = set;
	ret = E_OK;
out:
	arena_free(tmp);
	return ret;
}

int device_set_group(const struct graph *g, const struct device_groups *groups,
                     uint32_t group, struct arena *a, struct device_set *ret_set)
{
	return evaluate(g, groups, &group, 1, a, ret_set);
}

int device_set_of(const struct graph *g, const struct device_list *list, struct arena *a,
                  struct device_set *ret_set)
{
	if (!list) {
		return evaluate(g, NULL, NULL, 0, a, ret_set);
	}
	return evaluate(g, list->groups, list->index, list->n, a, ret_set);
}

int device_sets_of(const struct graph *g, const struct device_list *list, struct arena *a,
                   struct device_set **ret_set)
{
	struct device_set *sets = arena_array(a, list->n, sizeof(*sets));

	if (!sets) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		int ret = device_set_group(g, list->groups, list->index[i], a, &sets[i]);
		if (ret != E_OK) {
			return ret;
		}
	}
	*ret_set = sets;
	return E_OK;
}

bool device_group_is_all(const struct device_groups *groups, uint32_t group)
{
	const struct device_group *of = &groups->groups[group];

	for (uint32_t k = 0; k < of->n_rules; k++) {
		if (of->rules[k].kind == DEVICE_SELECT &&
		    of->rules[k].value == DEVICE_ALL) {
			return true;
		}
	}
	return false;
}
