/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

/*!
 * LIDs of a Notice in InfiniBand's layout, 64 bytes, with room for LIDs of Omni-Path.
 *
 * InfiniBand has 16 bits for a LID. The upper 8 bits of a LID above 0xFFFF stand in bits that
 * InfiniBand reserves in the details of generic traps. So they never leave this program: notice_narrow()
 * makes what a client of InfiniBand gets, and notice_clear_high() drops what a device put there.
 *
 * Source: IBA vol. 1, 13.4.8.2 and 14.2.5.1, for what is reserved.
 */
enum { NOTICE_SHAPE_BYTES = 64 };

uint32_t notice_issuer(const uint8_t *notice); /*!< IssuerLID */
uint32_t
notice_lid(const uint8_t *notice); /*!< of the details; LIDADDR1 of keys' traps */
uint32_t notice_lid_2(const uint8_t *notice); /*!< LIDADDR2 of traps 257 to 259, else 0 */

/*! \brief Writes the LIDs, for notice_issuer() and the others; the trap number must be there already. */
void notice_put_lids(uint8_t *notice, uint32_t issuer, uint32_t lid, uint32_t lid_2);

/*! \brief Replaces LIDs above 0xBFFF by 0, which is no LID, and clears the reserved bits. */
void notice_narrow(uint8_t *notice);

/*! \brief Clears the reserved bits of a generic trap as it came from InfiniBand. */
void notice_clear_high(uint8_t *notice);
