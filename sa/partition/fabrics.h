/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct arena;
struct graph;
struct partitions;
struct virtual_fabrics;

/*!
 * \brief Virtual fabrics of opafm.xml as partitions of a fabric.
 *
 * Members of a virtual fabric are full members of its partition. Limited members are limited ones
 * with Security and full ones without. Virtual fabrics with one P_Key are one partition. Every
 * port is at least a limited member of the default partition, which subnet management needs, and
 * so is the subnet manager's port a full one. While no virtual fabric has the P_Key of the
 * default partition, all ports are full members of it.
 *
 * \param f    With at least one that is in effect.
 * \param ret_partitions  In \a a; the members are PortGUIDs, or all ports.
 * \retval -ENOMEM
 * Cost: O(virtual fabrics * (their groups + end ports)).
 */
int partitions_of_fabrics(const struct virtual_fabrics *f, const struct graph *g,
                          struct arena *a, const struct partitions **ret_partitions);
