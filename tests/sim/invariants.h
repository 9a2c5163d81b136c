/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

struct arena;
struct manager;
struct run;

/*! \brief The nodes that the judge's port reaches over live cables. [g->n_nodes] */
bool *find_reached(const struct run *r, struct arena *a);

/*! \brief Are there subnet managers that the judge reaches over refused nodes alone? They hear each other, so one of them
 *         is no master, though nobody else manages its part. */
bool find_is_parted(const struct run *r);

/*! \brief Does the judge reach this subnet manager? */
bool find_is_reached(const struct run *r, const struct manager *m);

/*!
 * \brief Checks LIDs and the tables that stand in the switches.
 * \param settled  The subnet manager is idle and no fault is left: all has to be there.
 * \return false: violated, see run_fail().
 */
bool check_tables(struct run *r, bool settled);

/*!
 * \brief Two masters that reach each other do not stay so for longer than TWO_MASTERS_MS, unless
 *        MADs get lost or nodes do not answer.
 * \return false: they did.
 */
bool check_masters(struct run *r);

/*! \brief Are all virtual ports up that the judge reaches? Otherwise a read of them is still due. */
bool check_vports_are_up(struct run *r);

/*! \brief Do the tables of all switches have to be free of credit loops at this moment? */
bool check_promises_no_credit_loop(struct run *r, bool settled);

/*!
 * \brief Compares the routes of the judge with those of a fresh start, which knows no earlier ones.
 *
 * The same engine has to serve. An engine that keeps nothing of earlier tables has to make the same ones.
 */
bool check_fresh_routes(struct run *r);
