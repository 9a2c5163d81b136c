/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;

/*!
 * Switches and cables that are drained: they work, but no path between others uses them, so that
 * they can be switched off without a lost packet.
 *
 * Routing gets a fabric without the drained cables. A drained switch stays in that fabric with the
 * cables to a single neighbour. No path can pass through a switch that has one neighbour, while its
 * own LID and its own hosts stay within reach, and every engine can route it. The neighbour is the
 * one nearest to the subnet manager, because up/down engines then have a way between the two. Where
 * all neighbours of a drained switch are drained, it stays behind one of these.
 *
 * Only peers and the list of links differ from the whole fabric. Indices of nodes, ports and
 * switches are the same, so tables of the one fit the other.
 */
struct drain_set {
	uint8_t *node; /*!< [n_nodes] 1: a switch that is drained */
	uint8_t *port; /*!< [n_ports] 1, at both ends: a cable between switches that is drained */
	uint32_t n;    /*!< how many of both */
};

/*! The damage of switching something off. */
struct drain_effect {
	uint32_t hosts_behind; /*!< ports of hosts that hang on the switch itself */
	uint64_t pairs_cut;    /*!< of other hosts that lose every route */
	uint32_t switches_cut; /*!< other switches that the subnet manager loses */
	bool cuts_sm; /*!< the subnet manager loses its own port, or more than half of the switches */
	uint32_t cut_port;     /*!< port of a host of such a pair; GRAPH_NONE: there is none */
};

/*! \brief An empty set for a frozen graph, in \a a. \retval -ENOMEM */
int drain_set_init(struct drain_set *s, const struct graph *g, struct arena *a);

/*! \brief Adds a switch. Other nodes carry no traffic of others, so nothing is added for them. */
void drain_add_node(struct drain_set *s, const struct graph *g, uint32_t node);

/*! \brief Adds the cable of a port, if it connects two switches. */
void drain_add_cable(struct drain_set *s, const struct graph *g, uint32_t port);

/*! \brief Takes them out again. */
void drain_remove_node(struct drain_set *s, const struct graph *g, uint32_t node);
void drain_remove_cable(struct drain_set *s, const struct graph *g, uint32_t port);

/*!
 * \brief What it does to the rest to switch off a node, or the cable of a port, while those of a set
 *        are off already.
 *
 * Hosts on drained switches do not count among the others.
 *
 * \param node  Index of a node, or GRAPH_NONE: \a port is meant. \param port  Any port with a cable.
 * \retval -ENOMEM
 * Cost: O(P) for P ports.
 */
int drain_effect(const struct graph *g, const struct drain_set *s, uint32_t node,
                 uint32_t port, struct drain_effect *ret_effect);

/*!
 * \brief The fabric that routing gets.
 *
 * \param ret_graph  In \a a, frozen; it shares nodes, switches, hosts and end ports with \a g. It is
 *                   \a g itself when the set is empty.
 * \retval -ENOMEM
 * Cost: O(P).
 */
int drain_graph(const struct graph *g, const struct drain_set *s, struct arena *a,
                const struct graph **ret_graph);
