/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/virtual/vports.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

static const char *const source = "virtual ports";

void vports_done(struct vports *v)
{
	for (uint32_t i = 0; i < v->n_hosts; i++) {
		free(v->hosts[i]->list);
		free(v->hosts[i]->took);
		free(v->hosts[i]);
	}
	free(v->hosts);
	hash_done(&v->by_port);
	hash_done(&v->by_guid);
	*v = (struct vports){ 0 };
}

void vports_forget(struct vports *v)
{
	for (uint32_t i = 0; i < v->n_hosts; i++) {
		v->hosts[i]->known = false;
	}
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

struct found {
	struct vport *vport;
	uint32_t place; /* value of by_guid */
};

/* The virtual ports that are there, the longest known first. */
static int compare_since(const void *x, const void *y)
{
	uint64_t a = ((const struct found *)x)->vport->since;
	uint64_t b = ((const struct found *)y)->vport->since;

	return (a > b) - (a < b);
}

static int refuse_twins(struct vports *v, const struct graph *g, const struct found *all,
                        uint32_t n)
{
	uint32_t n_refused = 0;
	uint64_t example = 0;
	bool fresh = false;

	for (uint32_t i = 0; i < n; i++) {
		struct vport *one = all[i].vport;
		bool was = one->refused;

		one->refused = graph_port_by_guid(g, one->guid) != GRAPH_NONE ||
		               vports_has_guid(v, one->guid);
		if (!one->refused &&
		    hash_put(&v->by_guid, one->guid, all[i].place) != E_OK) {
			return -ENOMEM;
		}
		n_refused += one->refused;
		if (one->refused && !was) {
			fresh = true;
			example = one->guid;
		}
	}
	if (fresh) {
		log_message(
			MSG_VIRT_GUID_TAKEN, source,
			"%u virtual ports have the GUID of another port, such as 0x%016" PRIx64
			", and are left alone: give them other GUIDs",
			n_refused, example);
	}
	return E_OK;
}

int vports_index(struct vports *v, const struct graph *g)
{
	struct found *all;
	uint32_t n = 0;
	int ret;

	for (uint32_t i = 0; i < v->n_hosts; i++) {
		struct vport_host *h = v->hosts[i];
		uint32_t node = graph_node_by_guid(g, h->node_guid);

		/* an adapter that claims the GUID of a switch may have been there before it */
		h->port = node != GRAPH_NONE && g->nodes[node].type == NODE_CA
		                  ? graph_port(g, node, h->num)
		                  : GRAPH_NONE;
		n += h->port != GRAPH_NONE ? h->n : 0;
	}
	hash_done(&v->by_guid);
	all = malloc((n + 1) * sizeof(*all));
	if (all == NULL) {
		return -ENOMEM;
	}
	n = 0;
	for (uint32_t i = 0; i < v->n_hosts; i++) {
		for (uint32_t k = 0;
		     v->hosts[i]->port != GRAPH_NONE && k < v->hosts[i]->n; k++) {
			all[n++] = (struct found){ &v->hosts[i]->list[k],
				                   i * VPORTS_MAX + k };
		}
	}
	qsort(all, n, sizeof(*all), compare_since);
	ret = refuse_twins(v, g, all, n);
	free(all);
	return ret;
}
