/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;
struct guid_file;
struct why;

/*!
 * Lists of GUIDs that speak of ports of switches. A line that does not fit the fabric has
 * no effect and is named in the notes, at most a few of them; the others count.
 */

/*!
 * \brief port_prof_ignore_file: ports whose routes do not count when load is balanced.
 *
 * Lines "<switch GUID> <port>", or a GUID alone. Of a host's port it means that port and
 * the switch port it hangs on; of a switch or of a whole host, all ports there.
 *
 * \param ret_ignored  [graph.n_ports] in \a a; NULL when there is no file. Routes through
 *             such a
 *             switch port do not count, nor do routes to such a host's port on any link.
 * \retval -ENOMEM
 */
int portfile_ignored(const struct graph *g, const struct guid_file *f, struct arena *a,
                     struct why *notes, bool **ret_ignored);

/*!
 * \brief port_search_ordering_file: the order in which a switch's ports are looked at.
 *
 * Lines "<switch GUID> <port>..."; ports that a line leaves out follow by number.
 *
 * \param ret_order  [n_switches][max_port + 1] in \a a: the port at each place from 1 on;
 *             NULL when there is no file.
 * \retval -ENOMEM
 */
int portfile_order(const struct graph *g, const struct guid_file *f, struct arena *a,
                   struct why *notes, uint8_t **ret_order);

/*!
 * \brief hop_weights_file: what a hop through a port costs instead of 1.
 *
 * Lines "<switch GUID> <port> <weight>"; a weight above 255 counts as 255. One direction.
 *
 * \param ret_weights  [n_switches][max_port + 1] in \a a; NULL when there is no file.
 * \retval -ENOMEM
 */
int portfile_weights(const struct graph *g, const struct guid_file *f, struct arena *a,
                     struct why *notes, uint16_t **ret_weights);

/*!
 * \brief guid_routing_order_file: ports of CAs and routers, each once.
 *
 * Ports of switches may be listed; they are left out without a note.
 *
 * \param ret_hosts  [*ret_n] indices in graph.hosts, in \a a.
 * \retval -ENOMEM
 */
int portfile_hosts(const struct graph *g, const struct guid_file *f, struct arena *a,
                   struct why *notes, uint32_t **ret_hosts, uint32_t *ret_n);
