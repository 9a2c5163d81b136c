/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/partition/named.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/policy/partitions.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

static uint32_t count_names(const struct partitions *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		for (uint32_t k = 0; k < p->all[i].n_members; k++) {
			n += p->all[i].members[k].who == PARTITION_HOST;
		}
	}
	return n;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each name once, sorted. \return How many. */
static uint32_t collect(const struct partitions *p, const char **name)
{
	uint32_t n = 0, unique = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		for (uint32_t k = 0; k < p->all[i].n_members; k++) {
			if (p->all[i].members[k].who == PARTITION_HOST) {
				name[n++] = p->all[i].members[k].name;
			}
		}
	}
	qsort(name, n, sizeof(*name), by_text);
	for (uint32_t i = 0; i < n; i++) {
		if (unique == 0 || strcmp(name[unique - 1], name[i]) != 0) {
			name[unique++] = name[i];
		}
	}
	return unique;
}

/* The ports of each name. */
struct meaning {
	const char **name; /* [n] sorted */
	uint64_t *guid;    /* [n] of one of the ports */
	uint32_t *n_ports; /* [n] */
	uint32_t n;
};

static void find(const struct meaning *m, struct partition_member *member)
{
	const char *const *at = bsearch(&member->name, m->name, m->n, sizeof(*m->name), by_text);
	size_t i = (size_t)(at - (const char *const *)m->name);

	member->n_ports = m->n_ports[i];
	if (member->n_ports == 1) {
		member->who = PARTITION_GUIDS;
		member->first = member->last = m->guid[i];
		member->name = NULL;
	}
}

int partitions_find_hosts(const struct partitions *p, const struct graph *g, struct arena *a,
                          const struct partitions **ret_partitions)
{
	uint32_t n = count_names(p), n_found;
	struct partitions *copy = arena_alloc(a, sizeof(*copy));
	struct partition *all = arena_array(a, p->n, sizeof(*all));
	struct meaning m = { .name = arena_array(a, n, sizeof(*m.name)),
		             .guid = arena_array(a, n, sizeof(*m.guid)),
		             .n_ports = arena_array(a, n, sizeof(*m.n_ports)) };
	struct graph_host_port *found;

	if (n == 0) {
		*ret_partitions = p;
		return E_OK;
	}
	if (copy == NULL || all == NULL || m.name == NULL || m.guid == NULL || m.n_ports == NULL) {
		return -ENOMEM;
	}
	m.n = collect(p, m.name);
	if (graph_host_ports(g, m.name, m.n, a, &found, &n_found) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_found; i++) {
		m.guid[found[i].host] = g->ports[found[i].port].guid;
		m.n_ports[found[i].host]++;
	}
	*copy = *p;
	copy->all = all;
	for (uint32_t i = 0; i < p->n; i++) {
		struct partition_member *members =
			arena_array(a, p->all[i].n_members, sizeof(*members));

		if (members == NULL) {
			return -ENOMEM;
		}
		all[i] = p->all[i];
		all[i].members = members;
		for (uint32_t k = 0; k < all[i].n_members; k++) {
			members[k] = p->all[i].members[k];
			if (members[k].who == PARTITION_HOST) {
				find(&m, &members[k]);
			}
		}
	}
	*ret_partitions = copy;
	return E_OK;
}
