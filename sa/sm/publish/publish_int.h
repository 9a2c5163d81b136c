/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "db/snapshot/snapshot.h"

struct arena;
struct disc;
struct job;
struct publisher;

/*! Payloads of a publish, in the order of the snapshot. */
struct attr_list {
	const struct publisher *p;
	const struct job *job;
	struct arena *a;
	struct snap_attr *items;
	size_t n, cap;
	int ret; /*!< the first error, then nothing more is added */
};

/*! \brief Adds a payload. \param data  [len] borrowed until it is published. */
void publish_attr(struct attr_list *l, uint64_t guid, uint16_t attr, uint32_t block,
                  const uint8_t *data, size_t len);

/*!
 * \brief Adds PortInfo and SwitchInfo as Omni-Path's nodes have them.
 * \param nodes  [n] of the graph, ascending; NULL: all. None has any on InfiniBand.
 */
void publish_opa_nodes(struct attr_list *l, const uint32_t *nodes, size_t n);

/*!
 * \brief The same, and their known blocks of every kind of tables that has no other place in the
 *        snapshot.
 */
void publish_opa_tables(struct attr_list *l, const uint32_t *nodes, size_t n);

/*! \brief Adds the nodes that were refused. */
void publish_opa_refused(struct attr_list *l);

/*!
 * \brief Adds the device groups of the configuration's file and, for each node, which of its ports are in which.
 * \param nodes  [n] of the graph, ascending; NULL: all, and the names of the groups.
 *
 * Cost: that of device_set_group() for each group, then O(ports of the nodes times groups).
 */
void publish_opa_groups(struct attr_list *l, const uint32_t *nodes, size_t n);

/*! \brief What the rows of refused nodes are made of, in 64 bits; 1: none was refused. */
uint64_t publish_opa_refused_digest(const struct disc *d);
