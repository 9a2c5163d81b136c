/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/partition/fabrics.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/policy/partitions.h"
#include "conf/virtual_fabric.h"
#include "routing/graph/device_set.h"
#include "routing/graph/graph.h"

/* Members of the partition at work. */
struct gathering {
	const struct graph *g;
	struct arena *a;
	uint8_t *membership; /* [graph.n_ports], 0: none */
};

/* Adds the ports of device groups. */
static int add_groups(struct gathering *s, const struct virtual_fabrics *f,
                      const uint32_t *groups, uint32_t n, uint8_t membership)
{
	const struct graph *g = s->g;

	for (uint32_t i = 0; i < n; i++) {
		struct device_set set;
		int ret = device_set_group(g, f->groups, groups[i], s->a, &set);

		if (ret != E_OK) {
			return ret;
		}
		for (uint32_t k = 0; k < g->n_end_ports; k++) {
			uint32_t port = g->end_ports[k];

			if (device_set_has(&set, port) &&
			    s->membership[port] < membership) {
				s->membership[port] = membership;
			}
		}
	}
	return E_OK;
}

/* The members that were gathered: one for all ports if they are alike, else one for each. */
static int list_members(const struct gathering *s, struct partition *t)
{
	const struct graph *g = s->g;
	struct partition_member *m = arena_array(s->a, g->n_end_ports + 1, sizeof(*m));
	bool alike = true;

	if (m == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		const struct port *p = &g->ports[g->end_ports[i]];
		uint8_t is = s->membership[g->end_ports[i]];

		alike &= is == s->membership[g->end_ports[0]];
		if (is != 0) {
			m[t->n_members++] = (struct partition_member){ .first = p->guid,
				                                       .last = p->guid,
				                                       .membership = is };
		}
	}
	if (alike && t->n_members != 0) {
		m[0] = (struct partition_member){ .who = PARTITION_ALL,
			                          .membership = m[0].membership };
		t->n_members = 1;
	}
	t->members = m;
	return E_OK;
}

/* Gathers what the virtual fabrics of a P_Key say. \return false: none has it. */
static bool gather(struct gathering *s, const struct virtual_fabrics *f, uint16_t p_key,
                   struct partition *t, int *ret_n)
{
	bool found = false;

	memset(s->membership, 0, s->g->n_ports);
	for (uint32_t i = 0; i < f->n && *ret_n == E_OK; i++) {
		const struct virtual_fabric *vf = &f->all[i];

		if (!virtual_fabric_is_active(vf) || (vf->pkey & P_KEY_BASE) != p_key) {
			continue;
		}
		*ret_n = add_groups(s, f, vf->limited, vf->n_limited,
		                    vf->security ? PARTITION_LIMITED : PARTITION_FULL);
		if (*ret_n == E_OK) {
			*ret_n = add_groups(s, f, vf->members, vf->n_members,
			                    PARTITION_FULL);
		}
		t->name = found ? t->name : vf->name;
		t->sl = found ? t->sl : vf->sl;
		found = true;
	}
	return found;
}

static int default_partition(struct gathering *s, bool found, struct partition *t)
{
	for (uint32_t i = 0; i < s->g->n_end_ports; i++) {
		uint8_t *is = &s->membership[s->g->end_ports[i]];

		*is = !found ? PARTITION_FULL : *is ? *is : PARTITION_LIMITED;
	}
	if (s->g->sm_port != GRAPH_NONE) {
		s->membership[s->g->sm_port] = PARTITION_FULL;
	}
	t->name = found ? t->name : "Default";
	return list_members(s, t);
}

int partitions_of_fabrics(const struct virtual_fabrics *f, const struct graph *g,
                          struct arena *a, const struct partitions **ret_partitions)
{
	struct gathering s = { .g = g, .a = a };
	struct partitions *list = arena_alloc(a, sizeof(*list));
	struct partition *all = arena_array(a, f->n + 1, sizeof(*all));
	bool *used = arena_array(a, P_KEY_BASE + 1, sizeof(*used));
	uint32_t n = 0;
	int ret = E_OK;

	s.membership = arena_array(a, g->n_ports + 1, sizeof(*s.membership));
	if (list == NULL || all == NULL || used == NULL || s.membership == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		used[f->all[i].pkey & P_KEY_BASE] |= virtual_fabric_is_active(&f->all[i]);
	}
	used[PARTITION_DEFAULT] = true;
	for (uint32_t key = 1; key <= P_KEY_BASE && ret == E_OK; key++) {
		struct partition *t = &all[n];

		if (!used[key]) {
			continue;
		}
		*t = (struct partition){ .p_key = (uint16_t)key };
		bool found = gather(&s, f, (uint16_t)key, t, &ret);
		n++;
		if (ret == E_OK) {
			ret = key == PARTITION_DEFAULT ? default_partition(&s, found, t)
			                               : list_members(&s, t);
		}
	}
	if (ret == E_OK) {
		*list = (struct partitions){
			.path = "", .all = all, .n = n, .is_file = true
		};
		*ret_partitions = list;
	}
	return ret;
}
