/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/option.h"
#include "routing/route_list.h"

struct arena;
struct diags;
struct engine;

/*! Options of all engines as sets for conf, each with a base allocated in an arena. */
struct engine_options {
	void *base[ROUTE_LIST_MAX]; /*!< by position in engines[] */
	struct option_sets sets;
};

/*! \brief Allocates every engine's option struct and lists the sets; defaults are not yet stored. */
int engine_options_init(struct engine_options *o, struct arena *a);

/*!
 * \brief To be called when all values are stored: engines look up what their options name.
 * \retval E_UNKNOWN E_SYNTAX  In \a d. \retval -ENOMEM
 */
int engine_options_bind(struct engine_options *o, struct arena *a, struct diags *d);

/*!
 * \brief The option struct of one engine.
 *
 * \param o    NULL: defaults, in \a a.
 * \param ret_value  Borrowed from \a o or in \a a; NULL if the engine has no options.
 * \retval -ENOMEM E_FULL
 */
int engine_options_of(const struct engine_options *o, const struct engine *e,
                      struct arena *a, const void **ret_value);
