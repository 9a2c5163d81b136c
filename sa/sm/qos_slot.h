/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/sm/qos_copy.h"

struct disc_node;
struct disc_port;
struct smp_request;

/*!
 * One table of one port, as a request names it and as the copy keeps it: a block of VL
 * arbitration (steps 0 to VL_ARB_BLOCKS - 1), then the SL-to-VL table of each port in.
 */
struct qos_slot {
	const struct disc_node *node;
	struct qos_copy *copy; /*!< of the node */
	uint16_t out;          /*!< port out; of a CA or router: its port */
	uint16_t step;
};

/*! \brief Where the node's management agent for this port is: port 0 of a switch. */
const struct disc_port *qos_slot_agent(const struct disc_node *n, unsigned out);

/*! \brief Does the port's node map SLs to VLs? */
bool qos_maps_sls(const struct disc_node *n, unsigned out);

/*! \brief Pairs that the port's arbitration table of this block holds, 0-64. */
unsigned qos_arb_cap(const struct disc_port *p, unsigned block);

/*! \brief Bytes of the table that the port has; 0: it has no such table. */
size_t qos_slot_bytes(const struct qos_slot *t);

/*! \brief Is the table known? \param want  Does it hold this? NULL: anything. */
bool qos_slot_knows(const struct qos_slot *t, const uint8_t *want);

/*! \brief Keeps what an answer showed (64 bytes), or, NULL: nothing is known. */
void qos_slot_keep(const struct qos_slot *t, const uint8_t *data);

/*! \brief Attribute, modifier and destination of a request for the table. */
void qos_slot_order(const struct qos_slot *t, struct smp_request *ret);
