/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/mad/opa_fields.h"

/*!
 * SMPs of InfiniBand and of Omni-Path (class version 0x80), translated into each other.
 *
 * The layers above the SMP engine know InfiniBand's attributes, in 64 bytes. What a translation to
 * them loses is not written back: a Set begins with Omni-Path's bytes as last read (the basis), and
 * a field is written over them only if its InfiniBand value differs from what the basis shows.
 *
 *   MTU            the largest of all data VLs; codes 6 (8,192) and 7 (10,240) show as 5 (4,096)
 *   VLs            their number shows as the code of the most that fit: 1, 2, 4, 8, 15
 *   LinkWidth      the active one is the narrower direction after a downgrade; 3x shows as 2x; all
 *                  that are supported show as enabled
 *   LinkSpeed      25, 50 and 100 Gb/s as EDR, HDR and NDR, 12.5 Gb/s as FDR
 *   LID            one above 0xBFFF shows as none; see sa/mad/opa_lid.h and sa/mad/notice.h
 *   multicast      blocks of tables are passed as Omni-Path has them: 8 masks of 64 ports
 *
 * All functions are pure; readers of bytes from the wire check their length.
 */

/*! Added to the AttributeModifier of a Get(PortInfo): only looks at the port. Any other one says that this SM
 *  begins to configure it, which the port keeps until its link goes down. */
#define OPA_PORT_LOOK (UINT32_C(1) << 30)

/*! An SMP as Omni-Path has it: what stands behind the header. */
struct opa_smp {
	uint16_t attr;
	uint32_t mod;
	size_t len; /*!< bytes of data */
	uint8_t data[OPA_DATA_MAX];
};

/*!
 * \brief Encodes a request.
 *
 * \param set    Set; else Get.
 * \param data   64 bytes in InfiniBand's layout; of a Get they are read for SMInfo only.
 * \param basis  Set of PortInfo and SwitchInfo: the attribute as last read, OPA_BYTES_*.
 *
 * \retval E_UNKNOWN  Omni-Path has no such attribute, or basis is NULL where it is needed.
 */
int opa_smp_encode(bool set, uint16_t attr, uint32_t mod, const uint8_t *data,
                   const uint8_t *basis, struct opa_smp *ret_smp);

/*!
 * \brief Decodes the data of an answer, \a len bytes, into 64 of InfiniBand's layout.
 * \retval E_MALFORMED  It is too short. \retval E_UNKNOWN
 */
int opa_smp_decode(uint16_t attr, const uint8_t *data, size_t len, uint8_t ret_data[64]);

/*! How requests to one agent may share a MAD. */
enum opa_joins {
	OPA_JOINS_NOTHING,
	OPA_JOINS_AGGREGATE, /*!< with any others that do */
	OPA_JOINS_RUN        /*!< with the blocks that follow it */
};

/*!
 * \brief May a request share a MAD? One that can change the M_Key of the agent may not.
 * \param ret_bytes  Of the attribute.
 */
enum opa_joins opa_smp_joins(bool set, uint16_t attr, uint32_t mod, size_t *ret_bytes);

/*! \brief Writes what differs from a PortInfo's InfiniBand form over its bytes; states only if \a states. */
void opa_port_info_overlay(uint8_t info[OPA_BYTES_PORT_INFO], const uint8_t want[64],
                           bool states);

/*! \brief InfiniBand's form of a PortInfo. */
void opa_port_info_shape(const uint8_t info[OPA_BYTES_PORT_INFO], uint8_t ret_info[64]);

/*!
 * \brief A Notice (96 bytes) in InfiniBand's layout. A change of link width (trap 0x800) becomes that of
 *        a link's state on a switch, and a local change on an adapter.
 */
void opa_notice_decode(const uint8_t notice[OPA_BYTES_NOTICE], uint8_t ret_notice[64]);

/*! \brief NodeInfo from InfiniBand's. */
void opa_node_info_encode(const uint8_t info[64], uint8_t ret_data[OPA_BYTES_NODE_INFO]);

/*! \brief SMInfo (26 bytes) from InfiniBand's. */
void opa_sm_info_encode(const uint8_t info[64], uint8_t ret_data[OPA_BYTES_SM_INFO]);

/*! \brief Where the data of an SMP begins: by class. */
static inline size_t opa_smp_data_at(const uint8_t *mad)
{
	enum { DIRECTED = 0x81 };

	return mad[1] == DIRECTED ? OPA_DR_DATA : OPA_LR_DATA;
}
