/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;

/*!
 * Tables an engine returns. One row per switch (graph order), one column per LID.
 */
#define LFT_NO_ROUTE 0xff /*!< LFT entry of a LID without a route */

/*! Linear forwarding tables: egress port per (switch, LID). */
struct lft {
	uint8_t *rows;     /*!< [n_switches][stride] */
	uint32_t n_switches;
	uint32_t n_lids;   /*!< top LID + 1 */
	size_t stride;     /*!< bytes per row: n_lids rounded up to 64; the rest is LFT_NO_ROUTE */
};

static inline uint8_t *lft_row(const struct lft *t, uint32_t sw)
{
	return t->rows + (size_t)sw * t->stride;
}

/*! \brief Table filled with LFT_NO_ROUTE, in \a a. \retval -ENOMEM */
int lft_init(struct lft *t, uint32_t n_switches, uint32_t top_lid, struct arena *a);

/*!
 * Lanes: which virtual lane traffic from a source switch to a LID takes. Engines that use
 * one lane leave rows NULL: lane 0 everywhere. The SL follows from lane and QoS class.
 */
struct lanes {
	uint8_t *rows;  /*!< [n_switches][stride of the lft], NULL: one lane */
	size_t stride;
	uint8_t n;      /*!< lanes used, 1-15 */
};

static inline uint8_t lane_of(const struct lanes *l, uint32_t sw, uint32_t lid)
{
	return l->rows ? l->rows[(size_t)sw * l->stride + lid] : 0;
}
