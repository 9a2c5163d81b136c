/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "conf/option.h"
#include "conf/policy/guidfile.h"
#include "conf/policy/port_policy.h"

struct graph;
struct why;

/* clang-format off */
/*!
 * Rows of engines that take the roots of a tree from a file, for struct \a set with members
 * \a roots (struct guid_file *) and \a groups (struct port_policy *). The engine's bind()
 * calls guid_file_bind() for them.
 */
#define ROOT_OPTION_ROWS(set, roots, groups) \
	{ .name = "root_guid_file", .type = OPT_FILE, .offset = offsetof(set, roots), \
	  .read = guid_group_file_read, .letter = 'a', .flags_long = "root_guid_file", .arg = "FILE", \
	  .help = "GUIDs of the root switches of a tree, or of hosts on them, or port groups of pgrp_policy_file; none: they are found" }, \
	{ .name = "pgrp_policy_file", .type = OPT_FILE, .offset = offsetof(set, groups), \
	  .read = port_policy_read, .arg = "FILE", \
	  .help = "Port groups, for root_guid_file and for the topologies of routing chains" }
/* clang-format on */

/*! A record of the list stands for switch \a sw; called once for each such switch. */
typedef void guid_switch_f(void *ctx, uint32_t sw, const struct guid_record *r);

/*!
 * \brief Looks up the switches that the GUIDs of a list stand for
 *        (graph_switches_by_guid()), in the order of the list. A port group stands for
 *        each of its switches and for those of its hosts, a switch perhaps several times.
 *
 * The first few lines that are on no switch are named in \a why by file and line, the
 * others counted.
 *
 * \param ret_n  How many lines stand for a switch.
 * \retval -ENOMEM
 */
int guid_switches(const struct graph *g, const struct guid_file *f, guid_switch_f *found,
                  void *ctx, struct why *why, uint32_t *ret_n);
