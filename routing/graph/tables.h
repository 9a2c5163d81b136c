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

enum { VL_CLASSES = 4, VL_SLS = 16 };

/*!
 * An SL-to-VL rule: which VL a packet takes out of a port follows from its SL, the class
 * of the port by which it came in and that of the port by which it leaves. Class 0 are
 * ports 0 and ports that lead to CAs or routers; what the others mean is the engine's
 * affair. CAs and routers send on the VL of vl[0][0].
 *
 * A QoS level is the operator's choice, the lane the routing's: SL = lane | level <<
 * level_shift.
 */
struct vl_rule {
	uint8_t vls;    /*!< data VLs that links between switches must have, 1-15 */
	uint8_t levels; /*!< QoS levels, at least 1 */
	uint8_t level_shift;
	uint8_t vl[VL_CLASSES][VL_CLASSES][VL_SLS]; /*!< by class in, class out, SL; below vls */
	uint8_t *port_class; /*!< [n_switches][width] */
	uint32_t width;      /*!< ports of a row: graph.max_port + 1 */
};

/*! \brief Class of a switch port. */
static inline unsigned vl_class(const struct vl_rule *r, uint32_t sw, unsigned port)
{
	return r->port_class[(size_t)sw * r->width + port];
}

/*! \brief SL of a lane on a QoS level. */
static inline unsigned vl_rule_sl(const struct vl_rule *r, unsigned lane, unsigned level)
{
	return (lane | level << r->level_shift) % VL_SLS;
}

/*!
 * Lanes: which virtual lane traffic from a source switch to a LID takes. Engines that use
 * one lane leave rows NULL: lane 0 everywhere. The SL follows from lane and QoS class.
 */
struct lanes {
	uint8_t *rows;  /*!< [n_switches][stride of the lft], NULL: one lane */
	size_t stride;
	uint8_t n;      /*!< lanes used, 1-15 */
	const struct vl_rule *rule; /*!< NULL: SL n is lane n and takes VL n everywhere */
};

/*! \brief Data VLs that links between switches must have. */
static inline uint8_t lanes_vls(const struct lanes *l)
{
	return l->rule ? l->rule->vls : l->n;
}

#define LANE_UNKNOWN 0xff /*!< lane of the last run that is not known */

static inline uint8_t lane_of(const struct lanes *l, uint32_t sw, uint32_t lid)
{
	return l->rows ? l->rows[(size_t)sw * l->stride + lid] : 0;
}
