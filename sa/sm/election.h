/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/mad/fields.h"
#include "sa/mad/smp.h"

struct arena;
struct disc;
struct disc_node;
struct sm;

/*!
 * Election: who is master of this subnet?
 *
 *   DISCOVERING --no other master--> MASTER
 *     |    ^                           |
 *     |    '---the master is gone--.   | another master that is higher
 *     '------any other master----> STANDBY
 *
 * Ports with the IsSM bit are asked for SMInfo. Before we are master any other master wins.
 * Two masters compare priority, then GUID: the higher priority stays, at equal priority the
 * lower GUID. Two that start together both become master, and the next light sweep of each
 * finds the other. A standby only asks the master whether it is still there.
 *
 * Source: IBA vol. 1, 14.4.1 (SM states), 14.2.5.13 (SMInfo).
 */

/*! SMInfo.SMState. */
enum sm_state { SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY, SM_MASTER };

/*! CapabilityMask of a port with a subnet manager. */
enum { CAP_IS_SM = 1 << 1 };

/*! Another subnet manager. */
struct other_sm {
	uint64_t guid; /*!< 0: none */
	uint32_t lid;
	uint8_t priority, state;
	struct smp_path path;
};

struct election {
	struct sm *sm;
	enum sm_state state;
	bool swept; /*!< a heavy sweep ended well since we became master */
	struct other_sm highest; /*!< master that was found by election_start() */
	struct other_sm master;  /*!< while standby */
	struct smp_dest master_dest;
	bool master_alive;
};

/*! Called for a port where an SM became master since the last heavy sweep. */
typedef void election_found_f(void *ctx, const struct disc_node *n, uint8_t port);

void election_set_state(struct election *e, enum sm_state state, const char *why);

/*! \brief Asks all other SMs of the fabric for SMInfo and keeps it in their ports. \param a
 *  Of the job. */
void election_start(struct election *e, struct disc *d, struct arena *a);

/*! \brief When they answered. \return false: another master stays, we are standby now. */
bool election_end(struct election *e);

/*! \brief Between heavy sweeps: asks all other SMs, and reports who is master and was not.
 *  \param a  Must outlive the requests. */
void election_watch(struct election *e, struct disc *d, struct arena *a,
                    election_found_f *found, void *ctx);

/*! \brief While standby: asks the master whether it still is. */
void election_poll_start(struct election *e);

/*! \brief Asks for a heavy sweep when the master is gone. */
void election_poll_end(struct election *e);

/*! \brief SMInfo of this SM as it is now, SM_Key included. */
void election_sm_info(const struct election *e, uint8_t info[SMP_DATA_BYTES]);
