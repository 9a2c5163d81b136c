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
struct arena;
struct graph;
struct job;
struct partitions;
struct runtime_change;
struct runtime_partitions;
struct sender;
struct sm;

/*!
 * Programming partitions: the P_Key tables of all end ports, and of the switch ports that are
 * cabled to CAs and routers, by difference. The tables are read before, so
 * that P_Keys keep their indexes.
 *
 * A switch port enforces partitions once it has acknowledged its table: program.enforce says so
 * to program_ports(), which comes after this step. A switch that cannot enforce is named once
 * in the log. Switches enforce also while there is nothing but the default partition: then a
 * host that joins a partition later needs new tables at two ports and nothing else.
 *
 * A change at run time is programmed between sweeps, over the fabric as it is known. All ports
 * are compared with their shadow copies and only those that differ are sent their tables. The local
 * sweep that follows repairs a table that a port does not take.
 *
 * A port with more P_Keys than its table holds gets those that fit, the default partition first,
 * and is named in the log; p_keys_fit() lets a new file of partitions be refused before it
 * comes so far.
 */
enum {
	P_KEYS_MISSING_MAX =
		64 /*!< ports that are named; of others the number is known */
};

struct p_keys_port {
	uint64_t node_guid;
	uint8_t port;
	char place[144]; /*!< as messages name it, and why if the table is full */
};

struct p_keys {
	struct hash_table
		reported; /*!< NodeGUIDs of switches that cannot enforce; zeroed: none */
	struct hash_table
		violations; /*!< who says it, violator's LID and P_Key -> how many */
	uint32_t
		renewed; /*!< periods of SENDER_RENEWED_MS in which they began to be counted */
	/* versions of the partitions made at run time */
	uint64_t at_work; /*!< whose tables were sent last */
	uint64_t settled; /*!< whose tables were sent and are published */
	struct p_keys_port
		missing[P_KEYS_MISSING_MAX]; /*!< [n_missing] ports that do not have
	                                what they are to have, since the last step;
	                                full ones only if they lack a P_Key of a
	                                partition made at run time */
	uint32_t n_missing;
	uint64_t began, next; /*!< ms; of the last change; the next one not before next */
};

/*!
 * \brief Queues reads of the P_Key and GUID tables of which no copy is kept, and of virtual ports.
 *
 * Both are read once and then remembered as long as the port's link stays up and we stay master,
 * because nobody else writes them. End ports have both. An external port of a switch has a P_Key
 * table that matters only while it enforces partitions, or is to do so; only then it is read.
 *
 * \param forget  No sweep ended yet since we became master: copies do not count.
 * \retval -ENOMEM
 */
int p_keys_read(struct sm *sm, struct job *j, bool forget);

/*! \brief Queues the blocks of P_Keys that differ. \retval -ENOMEM */
int p_keys_start(struct p_keys *k, struct sm *sm, struct job *j);

/*! \brief The tables that were sent last are in the snapshot now. */
void p_keys_published(struct p_keys *k);

/*! \brief Were partitions changed at run time since the last step? */
bool p_keys_changed(const struct p_keys *k, const struct sm *sm);

/*! \brief Queues the tables that differ, over sm->job. */
void p_keys_change_start(struct p_keys *k, struct sm *sm);

/*! \brief When they are answered. \return true: the snapshot is to be published. */
bool p_keys_change_end(struct p_keys *k, struct sm *sm);

void p_keys_done(struct p_keys *k);

/*!
 * \brief The partitions of a configuration: those of the file, of virtual fabrics, or the
 *        default one.
 * \param g    For virtual fabrics; NULL: the fabric is not known.
 * \param ret_partitions  In \a a or borrowed. \retval -ENOMEM
 */
int p_keys_configured(const struct config *c, const struct graph *g, struct arena *a,
                      const struct partitions **ret_partitions);

/*!
 * \brief Counts a trap about a wrong P_Key (257, and 259 of a switch) or Q_Key (258),
 *        or of a virtual port (1257, 1258), by who tells it,
 *        the port that sent the packet and its P_Key, and reports it now and then. Others are
 *        ignored. What one sender tells of is limited (sa/sm/discover/senders.h).
 */
void p_keys_violation(struct p_keys *k, struct sm *sm, struct sender *from,
                      const uint8_t *notice);

/*!
 * \brief Would the partitions of a configuration and those made at run time fit on the fabric
 *        as it is known: into the tables of end ports and of the switch ports that enforce?
 * \param only  Look only at the ports of its members; NULL: at all ports.
 * \param why   [size] The port whose table is too small, and how many P_Keys it would get.
 * \retval E_OK  Also while no fabric is known. \retval E_FULL \retval -ENOMEM
 */
int p_keys_fit(const struct sm *sm, const struct config *c,
               const struct runtime_partitions *r, const struct runtime_change *only,
               char *why, size_t size);

/*! \brief Directions in which a port of a switch is to enforce partitions, and is able to, as
 *         bits ENFORCE_*. */
unsigned p_keys_enforced(const struct config *c, const struct disc *d,
                         const struct disc_node *n, const struct disc_port *p);
