/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "routing/graph/graph.h"

struct lids;
struct node_names;

/*!
 * Names of nodes for people: the name that the operator's map gives, else the
 * NodeDescription. Records of subnet administration and look-ups by a device's own
 * description use node.description.
 */

/*! \brief Never NULL, "" when there is neither. */
static inline const char *node_name(const struct node *n)
{
	return n->name ? n->name : n->description;
}

/*!
 * \brief Length of the first word of a node's name, which hosts set to their host name:
 *        job schedulers know a host by it. 0: there is none.
 */
size_t node_host_length(const struct node *n);

/*! \brief Orders nodes by that word, as strcmp() does; 0: they are of one host. */
int node_compare_hosts(const struct node *a, const struct node *b);

/*! An end port of a host that was asked for by name. */
struct graph_host_port {
	uint32_t port; /*!< index in graph.ports */
	uint32_t host; /*!< place in the list of names */
};

/*!
 * \brief End ports of channel adapters by the names of their hosts: the first word of the node's name, or all of it,
 *        which tells several adapters of a host apart.
 * \param host       [n] Names; of one that stands there twice the first place is found.
 * \param ret_ports  [*ret_n] In \a a, by the order of the fabric.
 * \retval -ENOMEM
 * Cost: O(n * log n + end ports * log n).
 */
int graph_host_ports(const struct graph *g, const char *const *host, uint32_t n,
                     struct arena *a, struct graph_host_port **ret_ports, uint32_t *ret_n);

/*! \brief Gives the nodes of a frozen graph the names of a map, which may be NULL. Names
 * are copied. \retval -ENOMEM  Some have none. */
int graph_set_names(struct graph *g, const struct node_names *names);

/*! \brief Does another node have the name of this one? Cost: O(nodes). */
bool node_shares_name(const struct graph *g, uint32_t node);

/*! A node in a sentence. */
struct node_text {
	char text[128];
};

/*!
 * \brief Names a node so that a reader can find it: 'name'; where other nodes have this
 * name 'name' (0xguid, LID n); without a name 0xguid.
 *
 * \param lids  For the LID; NULL: the one as found. Left out where there is none.
 * Cost: O(nodes): for messages only.
 */
struct node_text node_text(const struct graph *g, const struct lids *lids, uint32_t node);

/*! \brief The same for a switch by its switch index. */
struct node_text switch_text(const struct graph *g, const struct lids *lids, uint32_t sw);
