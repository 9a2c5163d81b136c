/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/stats.h"

struct arena;
struct problem;

/*!
 * Events as JSON, and which of them a reader wants.
 */
enum { EVENT_GLOB_BYTES = 128 };

struct event_filter {
	bool some_kinds; /*!< only those of kind[] */
	bool kind[EVENT_KINDS];
	char node[EVENT_GLOB_BYTES]; /*!< name or GUID of an end, with * and ?; "": any */
};

/*!
 * \brief Reads kind= (names, with commas between) and node=; NULL: any.
 * \retval E_UNKNOWN E_RANGE  Problem filled.
 */
int event_filter_read(struct event_filter *f, const char *kinds, const char *node,
                      struct problem *p, struct arena *a);

/*! \brief Cost: the length of the pattern times that of a name. */
bool event_filter_match(const struct event_filter *f, const struct fabric_event *e);

/*! \return NULL: out of memory. */
json_t *event_json(const struct fabric_event *e);
