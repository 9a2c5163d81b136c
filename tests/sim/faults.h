/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

#include "tests/sim/simulate.h"

/*! The faults of a schedule: each one begins, and where it lasts, the same event ends it. */

/*! \brief Does an event to the fabric or to a subnet manager. \return false: the run failed. */
bool faults_do(struct run *r, const struct event *e);

/*!
 * \brief The faults stop: nodes answer and tell the truth, no MAD is lost. Cables that are cut and
 * nodes that are off stay so, but the subnet manager's port gets its neighbour back.
 *
 * \param all_run  Subnet managers that are away start, too; else only if none runs.
 * \return false: the run failed.
 */
bool faults_end(struct run *r, bool all_run);

/*! \brief Nodes that are refused come back as they should be. \return true: there were some. */
bool faults_end_refusals(struct run *r);

/*! \brief Ends all maintenance, so that the routes of a fresh start can be compared. \return true: there was some. */
bool faults_end_drains(struct run *r);
