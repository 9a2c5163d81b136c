/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/link_health.h"

struct alarms;
struct arena;
struct inventory;

/*! Cables whose ports have a row about their health (db/lmdb/link_health.h), the worst first. */
struct link_entry {
	uint32_t port; /*!< end a, as in the list of cables */
	const struct link_health *end[2]; /*!< of a and b; NULL: it has no row, so it is well */
	uint8_t worse; /*!< the end that says more: 0 or 1 */
};

struct link_list {
	struct link_entry *links; /*!< [n] in the arena */
	size_t n;
};

/*! \brief Joins rows and cables; a row whose cable is gone is left out. \param rows  Borrowed. \retval -ENOMEM */
int link_list_find(const struct inventory *v, const struct link_health_list *rows,
                   struct arena *a, struct link_list *ret_list);

/*! \return The schema LinkHealth; NULL: out of memory. */
json_t *link_list_json(const struct inventory *v, const struct link_entry *l);

/*! \brief Adds an alarm for each sick cable, or one for a switch that is the cause of its cables'. \retval -ENOMEM */
int link_list_alarms(struct alarms *a, const struct inventory *v, const struct link_list *list);
