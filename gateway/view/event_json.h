/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/stats/stats.h"
#include "gateway/view/list_filter.h"

struct arena;
struct problem;

/*!
 * Events as JSON, and which of them a reader wants.
 */

/*!
 * \brief list_filter_read() with the kinds of events.
 * \retval E_UNKNOWN E_RANGE  Problem filled.
 */
int event_filter_read(struct list_filter *f, const char *kinds, const char *node,
                      struct problem *p, struct arena *a);

/*! \brief Cost: the length of the pattern times that of a name. */
bool event_filter_match(const struct list_filter *f, const struct fabric_event *e);

/*! \return NULL: out of memory. */
json_t *event_json(const struct fabric_event *e);
