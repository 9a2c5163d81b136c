/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct body;
struct list_filter;
struct problem;
struct snap_changes;
struct snap_reader;

/*!
 * Changes between two epochs (db/snapshot/history.h) as a list of JSON objects: first routing,
 * then nodes, cables, ports, partitions, and forwarding tables. Each entry of a forwarding
 * table that changed, the last kind, is listed only where it is asked for.
 */
#define DIFF_KINDS(KIND)                                                                 \
	KIND(ROUTING_CHANGED, routing_changed)                                           \
	KIND(NODE_NEW, node_new)                                                         \
	KIND(NODE_GONE, node_gone)                                                       \
	KIND(NODE_CHANGED, node_changed)                                                 \
	KIND(LINK_NEW, link_new)                                                         \
	KIND(LINK_LOST, link_lost)                                                       \
	KIND(PORT_CHANGED, port_changed)                                                 \
	KIND(PARTITION_NEW, partition_new)                                               \
	KIND(PARTITION_GONE, partition_gone)                                             \
	KIND(PARTITION_CHANGED, partition_changed)                                       \
	KIND(LFT_CHANGED, lft_changed)                                                   \
	KIND(ROUTE_CHANGED, route_changed)

#define DIFF_KIND(id, name) DIFF_##id,
enum diff_kind { DIFF_KINDS(DIFF_KIND) DIFF_KIND_COUNT };
#undef DIFF_KIND

extern const char *const diff_kind_names[DIFF_KIND_COUNT];

/*!
 * \brief list_filter_read() with the kinds of changes. Without kind= all are wanted but ROUTE_CHANGED.
 * \retval E_UNKNOWN E_RANGE  Problem filled.
 */
int diff_filter_read(struct list_filter *f, const char *kinds, const char *node,
                     struct problem *p, struct arena *a);

/*!
 * \brief Adds a page to the list of a body.
 *
 * \param r      Of the same epoch; names of nodes that did not change are looked up there.
 * \param first  Number of the first element of the page, from 0. \param n  Most elements.
 * \param ret_total  How many elements there are.
 * \retval E_MALFORMED E_STALE -ENOMEM
 * Cost: O(all changes).
 */
int diff_write(struct body *b, struct snap_reader *r, const struct snap_changes *c,
               const struct list_filter *f, uint64_t first, uint64_t n,
               uint64_t *ret_total);
