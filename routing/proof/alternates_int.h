/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/graph/column.h"

struct arena;

/*! Shared by alternates.c and alternates_proof.c. */
enum { FAR = 0xff }; /*!< no route, or more hops than a byte holds */

/*!
 * Hops that the tables take from each switch to each LID of a CA or router. LIDs on one
 * switch are mostly equally far from everywhere: they share a class, and rows are by class.
 */
struct distances {
	uint8_t *rows; /*!< [n_switches][stride] by class, FAR: none */
	size_t stride;
	uint32_t n_classes;
	uint32_t *class_of; /*!< [top + 1] */
	uint32_t *
		home; /*!< [top + 1] switch on which the LID's port hangs; GRAPH_NONE: no such LID */
	uint32_t *class_home; /*!< [n_classes] */
};

static inline uint8_t distance(const struct distances *d, uint32_t s, uint32_t lid)
{
	return d->rows[s * d->stride + d->class_of[lid]];
}
