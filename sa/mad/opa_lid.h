/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mad_addr;

/*!
 * LIDs of Omni-Path above 0xBFFF: at the border of the kernel, and in attributes.
 *
 * A MAD passes that border with 16 bits of LID, where 0xC000 and on are multicast. A LID above 0xBFFF
 * stands in a GRH instead: as the interface ID of the GID of the far end, 0x00066A in the upper 24 bits
 * and the LID in the lower 32. A MAD that is sent from such a LID has a GRH as well, also to a lower one.
 *
 * All functions are pure.
 *
 * Source: the kernel's user_mad.c and the hfi1 driver; opamgt of opa-fm for what a program sends.
 */

/*! \brief Does a LID need the GRH? Not the permissive one, which has 16 bits at this border. */
static inline bool opa_lid_is_high(uint32_t lid)
{
	enum { FIRST = 0xC000, PERMISSIVE = 0xFFFF };

	return lid >= FIRST && lid != PERMISSIVE;
}

/*! \brief The LID in a GID. \return 0: it is another kind of GID. */
uint32_t opa_lid_of_gid(const uint8_t gid[16]);

/*! \brief The GID of a LID. */
void opa_gid_of_lid(uint64_t prefix, uint32_t lid, uint8_t ret_gid[16]);

/*!
 * \brief Puts the GRH into the address of a MAD that needs one and has none.
 * \param own  LID that it is sent from; 0: not known. \param prefix  Of the subnet.
 * \return true: the address has a GRH because of its LIDs.
 */
bool opa_addr_encode(uint32_t own, uint64_t prefix, struct mad_addr *addr);

/*! \brief Takes the LID of the far end from the GRH, if the GRH says one. */
void opa_addr_decode(struct mad_addr *addr);

/*!
 * LIDs of an attribute that was read, which are whole: \a native is Omni-Path's form, NULL on InfiniBand,
 * and \a info InfiniBand's (sa/mad/opa_smp.h).
 */
uint32_t opa_lid_of_port(const uint8_t *info, const uint8_t *native);
uint32_t opa_lid_of_sm(const uint8_t *info, const uint8_t *native);
uint32_t opa_lid_lft_top(const uint8_t *info, const uint8_t *native);
uint32_t opa_lid_lft_cap(const uint8_t *info, const uint8_t *native);

/*! \brief A LID as InfiniBand's form of an attribute shows it: 0 if it is above 0xBFFF. */
uint32_t opa_lid_shape(uint32_t lid);
