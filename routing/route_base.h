/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "routing/engine.h"
#include "routing/graph/shape.h"
#include "routing/route.h"

struct arena;

/*!
 * What one routing leaves for the next, so that a small change costs little.
 *
 * After a full run the base holds the fabric, the tables and what follows from them, and the
 * channel dependencies in a topological order. The next run compares its fabric with that
 * one. If cables between switches or hosts came or went, it goes on from there:
 *
 *   compare --> engine: entries to change --> proof of the change --> rows and load
 *      |                     |                        |
 *      '------- doubt -------+------------------------'---> full run, and a new base
 *
 * The engine routes what the change touches (engine.repair), or everything, keeping what it can
 * of the earlier tables; then entries are compared. Only these are proven again (proof_change.h
 * has the argument). A doubt is anything else: another set of switches, another engine or other
 * options, tables in the switches that are not those of the base, several lanes, adaptive
 * routing, pairs without a route, a fabric in parts, a change that is too large, or one that the
 * proof cannot show to be good.
 *
 * A change does not ask again whether a fresh start would take the same engine, unless
 * the kind of the engine promises it. route_result.engine_unconfirmed says so, and the subnet
 * manager asks when the fabric is quiet.
 */
struct route_base;

/*! \return NULL: out of memory. */
struct route_base *route_base_new(void);
void route_base_free(struct route_base *b);

/*! \brief The next run is a full one. Results of the last one stay until then. */
void route_base_forget(struct route_base *b);

/*! \brief Frees what the last run left. Its result is gone. */
void route_base_clear(struct route_base *b);

/*!
 * \brief Takes over the result of a full run.
 *
 * \param own    Arena that holds \a result; taken.
 * \param lanes  Lanes that there were.
 * Where memory is out or the result is not fit, the next run is a full one.
 */
void route_base_take(struct route_base *b, const struct route_request *r, uint8_t lanes,
                     struct arena *own, const struct route_result *result);

/*! A run that goes on from a base. */
struct route_step {
	struct route_base *base;
	struct arena *own;          /*!< of what outlives the step; NULL: the base has it */
	struct arena *tmp;
	struct shape shape;         /*!< the fabric as it is now */
	struct shape_change change; /*!< since the base */
	struct route_repair repair; /*!< its lft is that of the base and becomes the new one */
	uint8_t *dirty;             /*!< repair.dirty */
	const struct engine *used;
	bool has_work; /*!< cables changed, or LIDs have new owners */
};

/*!
 * \brief Compares fabric and tables with the base, and marks what has to be routed again.
 *
 * LIDs that nobody has any more have no entries afterwards.
 *
 * \param why  Why it has to be a full run.
 * \retval E_UNSUITABLE -ENOMEM  A full run has to follow.
 */
int route_base_compare(struct route_base *b, const struct route_request *r, uint8_t lanes,
                       struct route_step *ret_step, struct why *why);

/*! \brief Entries in which the tables of a step differ from these become those of these. \retval -ENOMEM */
int route_base_adopt(struct route_step *st, const struct lft *lft);

/*! \brief Proves the step, and makes rows and load. \retval E_UNSUITABLE -ENOMEM  As above. */
int route_base_finish(struct route_step *st, const struct route_request *r,
                      struct route_result *ret_result, struct why *why);

/*! \brief Frees what a step worked with. */
void route_base_end(struct route_step *st);
