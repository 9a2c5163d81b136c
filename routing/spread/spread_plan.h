/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/spread/spread_choice.h"

struct arena;

/*!
 * Plans for groups of hosts: which switches the routes to a host come down through. Private
 * to routing/spread*.c.
 */
struct spread_plan;

/*! \brief For the hosts of all groups. \retval -ENOMEM */
int spread_plan_init(struct spread_job *j, struct arena *tmp);

/*! \brief Plans the LIDs of the present pass, one per column of the job. */
void spread_plan_pass(struct spread_job *j);

/*! \brief Are there switches above any leaf, so that there is something to plan? */
bool spread_plan_is_tree(const struct spread_job *j);

/*! \brief From here on only what is planned next is balanced, what was decides between equals. */
void spread_plan_end_round(struct spread_job *j);

/*!
 * \brief Places the hosts of one leaf switch for which the plan leaves one port.
 * \param c  Ports to choose from; NULL: where there is j->towards, all shortest paths.
 * \return Are these all?
 */
bool spread_place_planned(const struct spread_job *j, uint32_t s, uint32_t t,
                          struct spread_choice *c);

/*!
 * \brief The port that leads towards the way that is planned for a column.
 * \return Index in \a c, c->p.n when no port does.
 */
unsigned spread_pick_planned(const struct spread_job *j, uint32_t s, uint32_t h,
                             uint32_t t, const struct spread_choice *c);
