/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "routing/graph/graph.h"
#include "routing/multicast.h"

/*!
 * Packets of a group sent through tables, copy by copy: every member that receives hears
 * every other once, nobody else hears anything, nothing goes round.
 */
#define must(cond, ...)                                                                  \
	do {                                                                             \
		if (!(cond)) {                                                           \
			ck_abort_msg(__VA_ARGS__);                                       \
		}                                                                        \
	} while (0)

enum { MCAST_PORTS = 256 }; /* of a switch, in a row of masks */

/*! \param there  Is there to be a tree at all? */
void check_group(const struct graph *g, const struct mcast_group *group, bool there,
                 const bool *on, struct arena *a);
