/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct arena;
struct graph;
struct partitions;

/*!
 * \brief The partitions with the ports that the names of their members mean on this fabric.
 *
 * A name that means one port becomes the GUID of this port. One that means none or several stays, with how many they
 * are: nobody is a member by it, because a host says its own name, and two that say the same cannot be told apart.
 *
 * \param ret_partitions  In \a a; \a p itself where no member has a name.
 * \retval -ENOMEM
 * Cost: O(members + end ports * log names).
 */
int partitions_find_hosts(const struct partitions *p, const struct graph *g, struct arena *a,
                          const struct partitions **ret_partitions);
