/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/mad/opa_fields.h"

struct arena;
struct disc_node;
struct disc_port;
struct opa_lanes;
struct opa_profile;
struct program;
struct program_mft;
struct smp_reply;
struct table;

/*!
 * What ports of Omni-Path need beyond the form that they share with InfiniBand's (sa/mad/opa_smp.h).
 */

/*!
 * \brief PortInfo as a port is to have it, without states.
 * \param want     InfiniBand's form of it.
 * \param restart  The link goes down for it; else an MTU of a link beyond INIT stays.
 */
void program_opa_plan(const struct program *p, uint32_t port, const uint8_t want[64],
                      bool restart, uint8_t ret_info[OPA_BYTES_PORT_INFO]);

/*! \brief As shadow_port_info_hash(). */
uint64_t program_opa_hash(const uint8_t info[OPA_BYTES_PORT_INFO]);

/*!
 * \brief What a port shows as the reason for a link that stays in Init, behind which a node was refused.
 * \param reasons  ADMIT_*.
 */
unsigned program_opa_refusal(uint32_t reasons);

/*! \brief A port that is armed forgets why its link was down. */
void program_opa_clear_reasons(uint8_t info[OPA_BYTES_PORT_INFO]);

/*! \brief Keeps the answer to a Set(PortInfo). \retval -ENOMEM */
int program_opa_answered(struct disc_port *p, struct arena *a, const struct smp_reply *r);

/*! \brief Did a port that was read refuse ACTIVE because its neighbour is not ARMED yet? */
bool program_opa_waits(const struct disc_port *p, unsigned state);

/*! \brief The lanes of a sweep, borrowed until it ends. \retval -ENOMEM */
int program_opa_begin(struct program *p, const struct opa_lanes *l);

/*! \brief What ports like this one have, after program_opa_begin(). Borrowed until the next call. */
const struct opa_profile *program_opa_profile(const struct program *p, uint32_t port);

/*! \brief ARMED ports of switches become ACTIVE, those of one switch by one request. */
int program_opa_activate(struct program *p);

/*! \brief As program_mfts(), in program_opa_mft.c. */
int program_opa_mfts(struct program *p, const struct program_mft *m, struct arena *arena);

/*!
 * \brief A block of a multicast table (TABLE_OPA_MFT) as InfiniBand has it: 32 MLIDs, masks of 16 ports.
 * \return false: nothing is known of it.
 */
bool program_opa_mft_shape(const struct table *t, unsigned position, uint32_t number,
                           uint8_t ret_block[64]);

/*! \brief A port gets a state by itself. In program.c. */
void program_port_state(struct program *p, uint32_t port, unsigned state);

/*! \brief Writes LID, LMC, the LID of the manager and, of an adapter, MaxLID of an end port. */
void program_opa_identity(const struct program *p, uint32_t port,
                          uint8_t info[OPA_BYTES_PORT_INFO]);

/*!
 * \brief What a switch of Omni-Path needs beyond InfiniBand's form of SwitchInfo.
 * \param top       LinearFDBTop.
 * \param ret_info  [OPA_BYTES_SWITCH_INFO] the basis of a Set. \return true: it is not so
 *        yet.
 */
bool program_opa_plan_switch(const struct disc_node *n, uint32_t top, uint8_t *ret_info);
