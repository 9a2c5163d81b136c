/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Device groups of the configuration and their members, for records of class version 0x80. The groups are those
 * that a file defines, in its order; those that always exist are not listed unless the file has them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "conf/device_group.h"
#include "routing/graph/device_set.h"
#include "routing/graph/graph.h"
#include "sa/sm/publish/publish.h"
#include "sa/sm/publish/publish_int.h"
#include "sa/sm/sm.h"

enum { NAME_BYTES = SNAP_GROUP_NAME_BYTES };

struct listed {
	const struct device_group *group;
	struct device_set members;
};

static int by_line(const void *x, const void *y)
{
	unsigned a = ((const struct listed *)x)->group->line,
		 b = ((const struct listed *)y)->group->line;

	return a < b ? -1 : a > b;
}

/* The groups that the file defines, by line. */
static int list_groups(const struct device_groups *groups, const struct graph *g,
                       struct arena *a, struct listed **ret_list, uint32_t *ret_n)
{
	struct listed *list = arena_array(a, groups->n + 1, sizeof(*list));
	uint32_t n = 0;
	int ret = list == NULL ? -ENOMEM : E_OK;

	for (uint32_t i = 0; ret == E_OK && i < groups->n; i++) {
		if (groups->groups[i].line != 0) {
			list[n].group = &groups->groups[i];
			ret = device_set_group(g, groups, i, a, &list[n++].members);
		}
	}
	if (ret == E_OK) {
		qsort(list, n, sizeof(*list), by_line);
		*ret_list = list;
		*ret_n = n;
	}
	return ret;
}

/* A row for each port that is in other groups than the one before it. */
static void put_node(struct attr_list *l, const struct node *n, const struct listed *list,
                     uint32_t n_groups)
{
	size_t bytes = (n_groups + 7) / 8;
	const uint8_t *before = NULL;

	for (unsigned num = 0; num <= n->n_ports && l->ret == E_OK; num++) {
		uint8_t *bits = arena_array(l->a, bytes, 1);

		if (bits == NULL) {
			l->ret = -ENOMEM;
			return;
		}
		for (uint32_t i = 0; i < n_groups; i++) {
			bits[i / 8] |= (uint8_t)(device_set_has(&list[i].members,
			                                        n->first_port + num)
			                         << i % 8);
		}
		if (before == NULL || memcmp(before, bits, bytes) != 0) {
			publish_attr(l, n->guid, SNAP_ATTR_DEVICE_GROUPS, num, bits,
			             bytes);
			before = bits;
		}
	}
}

static void put_names(struct attr_list *l, const struct listed *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *name = arena_array(l->a, NAME_BYTES, 1);

		if (name == NULL) {
			l->ret = -ENOMEM;
			return;
		}
		memcpy(name, list[i].group->name,
		       strnlen(list[i].group->name, NAME_BYTES - 1));
		publish_attr(l, 0, SNAP_ATTR_DEVICE_GROUPS, i, name, NAME_BYTES);
	}
}

void publish_groups(struct attr_list *l, const uint32_t *nodes, size_t n_nodes)
{
	const struct device_groups *groups = l->p->sm->d.config->device_groups;
	const struct graph *g = l->job->disc.g;
	struct listed *list;
	uint32_t n;

	if (groups == NULL || l->ret != E_OK) {
		return;
	}
	l->ret = list_groups(groups, g, l->a, &list, &n);
	if (l->ret != E_OK || n == 0) {
		return;
	}
	if (nodes == NULL) {
		put_names(l, list, n);
	}
	n_nodes = nodes != NULL ? n_nodes : g->n_nodes;
	for (size_t i = 0; i < n_nodes && l->ret == E_OK; i++) {
		put_node(l, &g->nodes[nodes != NULL ? nodes[i] : i], list, n);
	}
}
