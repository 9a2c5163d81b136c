/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/policy/qos.h"
#include "routing/graph/tables.h"

/*!
 * SL-to-VL and VL arbitration tables: what one port should have, from what the operator
 * wrote and what routing needs.
 */
struct qos_port {
	const struct qos_setup *setup; /*!< of its kind */
	uint8_t vls;                   /*!< data VLs of the link, 1-15 */
	uint8_t lanes; /*!< of the routing; more than one: SL n takes VL n for each lane n
	                */
	const struct vl_rule *rule; /*!< of the routing, or NULL: it says all VLs */
	uint8_t class_out;          /*!< with a rule: of this port */
	bool swe; /*!< its weights are meant for links between switches, whatever it leads to */
};

/*!
 * \brief SLtoVLMappingTable for packets from ports of a class.
 *
 * VLs beyond those of the port are folded onto them, modulo their number. VL 15, which drops
 * packets, stays.
 *
 * \param class_in  0 for a CA, a router, or without a rule.
 */
void qos_table_sl2vl(const struct qos_port *p, unsigned class_in, uint8_t ret_sl2vl[8]);

/*!
 * \brief Both VL arbitration tables for ports that hold \a low_cap and \a high_cap pairs
 *        (0-64), blocks as the AttributeModifier counts them: low 0-31, low 32-63, high
 *        0-31, high 32-63.
 *
 * With a rule, a switch port that leads to a CA or router has for each QoS level the
 * weights that the level's lane 0 has between switches; entries of other VLs are left out.
 *
 * A VL that routing uses always has a weight: where the setup leaves it without, it gets
 * the least one in place of a pair that weighs nothing. The tables of \a p are not
 * changed.
 *
 * \return Number of VLs that stay without a weight because both tables are full.
 */
unsigned qos_table_arb(const struct qos_port *p, unsigned low_cap, unsigned high_cap,
                       uint8_t ret_arb[4][64]);

/*! \brief Weights that are the same for all VLs below \a vls, in place of those there. */
void qos_table_even(struct qos_setup *q, unsigned vls);

/*! \brief Do VLs that one QoS level has between switches weigh differently? */
bool qos_table_uneven(const struct qos_setup *q, const struct vl_rule *r);

/*! \brief First SL of a lane that the setup would send to another VL than the lane's.
 * \return QOS_SLS: none. */
unsigned qos_table_overruled(const struct qos_setup *q, uint8_t lanes);
