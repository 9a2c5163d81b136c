/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/hash.h"

struct config;
struct disc;
struct disc_node;
struct disc_port;
struct job;
struct sm;

/*!
 * Programming partitions: the P_Key tables of all end ports, and of the switch ports that are
 * cabled to CAs and routers, by difference. The tables are read before (port_tables.h), so
 * that P_Keys keep their indexes.
 *
 * A switch port enforces partitions once it has acknowledged its table: program.enforce says so
 * to program_ports(), which comes after this step. A switch that cannot enforce is named once
 * in the log. While there is no file of partitions, no switch enforces.
 *
 * A port with more P_Keys than its table holds gets those that fit, the default partition first,
 * and is named in the log; p_keys_fit() lets a new file of partitions be refused before it
 * comes so far.
 */
struct p_keys {
	struct hash_table
		told; /*!< NodeGUIDs of switches that cannot enforce; zeroed: none */
	struct hash_table violations; /*!< sender's LID << 16 | P_Key -> how many */
};

/*! \brief Queues the blocks of P_Keys that differ. \retval -ENOMEM */
int p_keys_start(struct p_keys *k, struct sm *sm, struct job *j);

void p_keys_done(struct p_keys *k);

/*!
 * \brief Counts a trap about a wrong P_Key (257, and 259 of a switch) or Q_Key (258) by the port
 *        that sent the packet and its P_Key, and reports it now and then. Others are ignored.
 */
void p_keys_violation(struct p_keys *k, struct sm *sm, const uint8_t *notice);

/*!
 * \brief Would the partitions of a configuration fit on the fabric as it is known?
 * \param why  [size] The port whose table is too small, and how many P_Keys it would get.
 * \retval E_OK  Also while no fabric is known. \retval E_FULL \retval -ENOMEM
 */
int p_keys_fit(const struct sm *sm, const struct config *c, char *why, size_t size);

/*! \brief Directions in which a port of a switch is to enforce partitions, and is able to, as
 *         bits ENFORCE_*. */
unsigned p_keys_enforced(const struct config *c, const struct disc *d,
                         const struct disc_node *n, const struct disc_port *p);
