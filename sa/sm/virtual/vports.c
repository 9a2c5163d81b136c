/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/virtual/vports.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

static const char *const source = "virtual ports";

void vports_done(struct vports *v)
{
	for (uint32_t i = 0; i < v->n_hosts; i++) {
		for (uint32_t k = 0; k < v->hosts[i]->n; k++) {
			free(v->hosts[i]->list[k].keys);
		}
		free(v->hosts[i]->list);
		free(v->hosts[i]);
	}
	free(v->hosts);
	hash_done(&v->by_port);
	hash_done(&v->by_guid);
	*v = (struct vports){ 0 };
}

struct vport_host *vports_find(const struct vports *v, uint64_t node_guid, uint8_t num)
{
	uint32_t i = hash_get(&v->by_port, guid_port_key(node_guid, num));

	return i != HASH_NONE && v->hosts[i]->node_guid == node_guid &&
	                       v->hosts[i]->num == num
	               ? v->hosts[i]
	               : NULL;
}

bool vports_has_guid(const struct vports *v, uint64_t guid)
{
	return hash_get(&v->by_guid, guid) != HASH_NONE;
}

/* The virtual ports that are there, the longest known first. */
static int compare_since(const void *x, const void *y)
{
	const struct vport *a = *(struct vport *const *)x, *b = *(struct vport *const *)y;

	return (a->since > b->since) - (a->since < b->since);
}

static int refuse_twins(struct vports *v, const struct graph *g, struct vport **all,
                        uint32_t n)
{
	uint32_t n_refused = 0;
	uint64_t example = 0;
	bool fresh = false;

	for (uint32_t i = 0; i < n; i++) {
		bool was = all[i]->refused;

		all[i]->refused = graph_port_by_guid(g, all[i]->guid) != GRAPH_NONE ||
		                  vports_has_guid(v, all[i]->guid);
		if (!all[i]->refused && hash_put(&v->by_guid, all[i]->guid, i) != E_OK) {
			return -ENOMEM;
		}
		n_refused += all[i]->refused;
		if (all[i]->refused && !was) {
			fresh = true;
			example = all[i]->guid;
		}
	}
	if (fresh) {
		log_warning(source,
		            "%u virtual ports have the GUID of another port, such as "
		            "0x%016" PRIx64 ", and are left alone: give them other GUIDs",
		            n_refused, example);
	}
	return E_OK;
}

int vports_index(struct vports *v, const struct graph *g)
{
	struct vport **all;
	uint32_t n = 0;
	int ret;

	for (uint32_t i = 0; i < v->n_hosts; i++) {
		struct vport_host *h = v->hosts[i];
		uint32_t node = graph_node_by_guid(g, h->node_guid);

		h->port = node != GRAPH_NONE ? graph_port(g, node, h->num) : GRAPH_NONE;
		n += h->port != GRAPH_NONE ? h->n : 0;
	}
	hash_done(&v->by_guid);
	all = malloc((n + 1) * sizeof(struct vport *));
	if (all == NULL) {
		return -ENOMEM;
	}
	n = 0;
	for (uint32_t i = 0; i < v->n_hosts; i++) {
		for (uint32_t k = 0;
		     v->hosts[i]->port != GRAPH_NONE && k < v->hosts[i]->n; k++) {
			all[n++] = &v->hosts[i]->list[k];
		}
	}
	qsort(all, n, sizeof(struct vport *), compare_since);
	ret = refuse_twins(v, g, all, n);
	free(all);
	return ret;
}
