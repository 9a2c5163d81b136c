/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/why.h"
#include "conf/option.h"

struct arena;
struct config;
struct device_list;
struct diags;
struct engine;
struct engine_options;

/*!
 * Which engines a configuration asks for, in the order in which they are tried.
 *
 * The list is that of OpenSM: names separated by commas, blanks or tabs; "no_fallback"
 * anywhere forbids engines that are not listed; empty or NULL means the usual engine. The
 * word "deadlockfree" stands for every engine that has a deadlock_free_order, in that order:
 * the first that proves out is a choice, no fallback. A name that MLNX_OFED has for an
 * engine with adaptive routing, as ar_updn, stands for the engine and for alternates of its
 * routes. An unknown name is an error here, with the known names.
 *
 * After the list come the usual engine and minhop, unless "deadlockfree" was said, and, where
 * a credit loop is to lead to another engine, what "deadlockfree" stands for. Where an engine
 * of the list places hosts in an order of device groups, those that keep the order come first.
 */
enum { ROUTE_LIST_MAX = 32 };

struct route_list {
	const struct engine *engine[ROUTE_LIST_MAX];
	unsigned n;
	bool no_fallback;
	unsigned n_chosen; /*!< of these, at the end: stand there for the word "deadlockfree" */
	uint32_t adaptive; /*!< bit per engine: it gets alternates whatever else is configured */
	const struct engine *usual; /*!< NULL: minhop */
};

/*! The word "deadlockfree". */
extern const char route_deadlock_free[];

/*! \retval E_UNKNOWN  The word is in \a why. */
int route_list_parse(const char *text, struct route_list *ret_list, struct why *why);

/*!
 * \brief The list of a configuration, with all that has to be said about it: engines that
 *        lack lanes or get alternates, and options that have no effect with these engines.
 *
 * \param o  Options of all engines, bound.
 * \param d  Errors at the place of their key, warnings, notes.
 * \retval E_UNKNOWN -ENOMEM
 */
int route_list_read(const struct config *c, const struct engine_options *o,
                    struct arena *a, struct diags *d, struct route_list *ret_list);

/*! \brief Is engine \a i there for the word "deadlockfree"? */
bool route_list_is_chosen(const struct route_list *l, unsigned i);

/*! \brief Do routes of this engine get alternates because of its name in the list? */
bool route_list_is_adaptive(const struct route_list *l, const struct engine *e);

/*! \brief The first word: what was asked for. */
const char *route_list_first(const struct route_list *l);

/*!
 * \brief The list and what comes after it.
 * \param deadlock_free  Also what that word stands for.
 * \param ordered        Engines with ENGINE_KEEPS_ORDER come first of these.
 */
struct route_list route_list_whole(const struct route_list *list, bool deadlock_free,
                                   bool ordered);

/*!
 * \brief The order of device groups that an engine is to keep: that of the first engine of the list
 *        before it that has one (engine.order_option).
 * \param e  NULL: behind the list.
 * \param o  Options of all engines, bound; NULL: defaults.
 * \return NULL if there is none, or the engine keeps none.
 */
const struct device_list *route_list_order(const struct route_list *l,
                                           const struct engine *e,
                                           const struct engine_options *o);

/*!
 * \brief Why an engine was used that is not the first: first that an order of the list does not count
 *        for it, if so, because the rest may be too long for the text; then why others were \a refused.
 */
struct why route_list_reason(const struct route_list *l, const struct engine *used,
                             const struct engine_options *o, const struct why *refused);
