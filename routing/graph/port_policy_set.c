/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/port_policy_set.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"

struct policy_ports {
	const struct graph *g;
	const struct port_policy *p;
	struct arena *a;
};

static void add_port(const struct policy_ports *j, struct device_set *s, uint32_t port)
{
	(void)j;
	s->bits[port / 64] |= UINT64_C(1) << port % 64;
}

/* All ports of a node, or those of a mask, with the port 0 of a switch. */
static void add_node(const struct policy_ports *j, struct device_set *s, uint32_t node,
                     const uint64_t ports[4])
{
	const struct node *n = &j->g->nodes[node];
	bool all = !ports || !(ports[0] | ports[1] | ports[2] | ports[3]);

	for (unsigned num = 0; num <= n->n_ports; num++) {
		if (all || num == 0 || (ports[num / 64] >> num % 64 & 1)) {
			add_port(j, s, n->first_port + num);
		}
	}
}

static void add_one(const struct policy_ports *j, struct device_set *s, uint32_t node,
                    uint32_t port)
{
	uint64_t ports[4] = { 0 };

	if (port) {
		ports[port / 64] |= UINT64_C(1) << port % 64;
	}
	add_node(j, s, node, ports);
}

static void add_type(const struct policy_ports *j, struct device_set *s, unsigned type)
{
	for (uint32_t i = 0; i < j->g->n_nodes; i++) {
		if (type == 0 || j->g->nodes[i].type == type) {
			add_node(j, s, i, NULL);
		}
	}
}

static void add_guids(const struct policy_ports *j, struct device_set *s,
                      const struct port_policy_group *group)
{
	for (uint32_t i = 0; i < group->n; i++) {
		const struct port_policy_guid *guid = &group->guids[i];
		uint32_t node = graph_node_by_guid(j->g, guid->guid);
		uint32_t port = graph_port_by_guid(j->g, guid->guid);

		if (node != GRAPH_NONE) {
			add_node(j, s, node, guid->ports);
		} else if (port != GRAPH_NONE) {
			add_port(j, s, port);
		}
	}
}

static bool in_range(const struct port_policy_group *group, uint64_t guid)
{
	return guid >= group->from && guid <= group->to;
}

static void add_range(const struct policy_ports *j, struct device_set *s,
                      const struct port_policy_group *group)
{
	for (uint32_t i = 0; i < j->g->n_nodes; i++) {
		if (in_range(group, j->g->nodes[i].guid)) {
			add_node(j, s, i, NULL);
		}
	}
	for (uint32_t i = 0; i < j->g->n_end_ports; i++) {
		uint32_t port = j->g->end_ports[i];

		if (in_range(group, j->g->ports[port].guid)) {
			if (j->g->ports[port].num == 0) {
				add_node(j, s, j->g->ports[port].node, NULL);
			}
			add_port(j, s, port);
		}
	}
}

/* "n01", or "n01 HCA-2". */
static bool is_host(const struct node *n, const struct port_policy_name *name)
{
	size_t len = strlen(name->host);
	unsigned idx;
	int used = 0;

	if (n->type == NODE_SWITCH || strncmp(n->description, name->host, len) != 0) {
		return false;
	}
	if (n->description[len] == '\0') {
		return name->hca_idx == 0;
	}
	return sscanf(n->description + len, " HCA-%u%n", &idx, &used) == 1 &&
	       n->description[len + (size_t)used] == '\0' &&
	       (name->hca_idx == 0 || name->hca_idx == idx);
}

static void add_names(const struct policy_ports *j, struct device_set *s,
                      const struct port_policy_group *group)
{
	for (uint32_t i = 0; i < j->g->n_nodes; i++) {
		for (uint32_t k = 0; k < group->n; k++) {
			if (is_host(&j->g->nodes[i], &group->names[k])) {
				add_one(j, s, i, group->names[k].port);
			}
		}
	}
}

static int add_regexp(const struct policy_ports *j, struct device_set *s,
                      const struct port_policy_group *group)
{
	regex_t re;

	if (regcomp(&re, group->regexp, REG_EXTENDED | REG_NOSUB) != 0) {
		return -ENOMEM; /* it did compile when it was read */
	}
	for (uint32_t i = 0; i < j->g->n_nodes; i++) {
		if (regexec(&re, j->g->nodes[i].description, 0, NULL, 0) == 0) {
			add_one(j, s, i, group->port);
		}
	}
	regfree(&re);
	return E_OK;
}

static int set_init(const struct policy_ports *j, struct device_set *s)
{
	*s = (struct device_set){ .n_ports = j->g->n_ports };
	s->bits = arena_array(j->a, j->g->n_ports / 64 + 1, sizeof(*s->bits));
	return s->bits ? E_OK : -ENOMEM;
}

static int fill(const struct policy_ports *j, uint32_t group, struct device_set *s);

static int add_two(const struct policy_ports *j, struct device_set *s,
                   const struct port_policy_group *group)
{
	struct device_set b;
	int ret = fill(j, group->a, s);

	if (ret == E_OK) {
		ret = set_init(j, &b);
	}
	if (ret == E_OK) {
		ret = fill(j, group->b, &b);
	}
	for (uint32_t i = 0; ret == E_OK && i < j->g->n_ports / 64 + 1; i++) {
		s->bits[i] = group->kind == PORT_POLICY_UNION ? s->bits[i] | b.bits[i]
		                                              : s->bits[i] & ~b.bits[i];
	}
	return ret;
}

/* As deep as rules name each other, which they do without cycles. */
static int fill(const struct policy_ports *j, uint32_t group, struct device_set *s)
{
	const struct port_policy_group *x = &j->p->groups[group];

	switch (x->kind) {
	case PORT_POLICY_ALL: add_type(j, s, 0); break;
	case PORT_POLICY_ALL_SWITCHES: add_type(j, s, NODE_SWITCH); break;
	case PORT_POLICY_ALL_CAS: add_type(j, s, NODE_CA); break;
	case PORT_POLICY_GUIDS: add_guids(j, s, x); break;
	case PORT_POLICY_RANGE: add_range(j, s, x); break;
	case PORT_POLICY_NAMES: add_names(j, s, x); break;
	case PORT_POLICY_REGEXP: return add_regexp(j, s, x);
	case PORT_POLICY_UNION:
	case PORT_POLICY_SUBTRACT: return add_two(j, s, x);
	}
	return E_OK;
}

int port_policy_set(const struct graph *g, const struct port_policy *p, uint32_t group,
                    struct arena *a, struct device_set *ret_set)
{
	const struct policy_ports j = { g, p, a };
	struct device_set s;
	int ret = set_init(&j, &s);

	if (ret == E_OK) {
		ret = fill(&j, group, &s);
	}
	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		s.n_end_ports += device_set_has(&s, g->end_ports[i]);
	}
	*ret_set = s;
	return E_OK;
}
