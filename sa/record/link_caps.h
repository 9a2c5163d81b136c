/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct snap_reader;

/*! What the PortInfo of a port says about links over it. Source: IBA vol. 1, 14.2.5.6. */
struct link_caps {
	uint16_t speeds;        /*!< supported: bit 1 << enum link_speed */
	uint8_t widths;         /*!< supported: codes of enum link_width, or'ed */
	uint8_t physical_state; /*!< PortInfo.PortPhysicalState */
};

/*! Width and speed of one link. */
struct link_mode {
	uint8_t width; /*!< enum link_width, 0: unknown */
	uint8_t speed; /*!< enum link_speed */
};

/*! \brief Name of a PortPhysicalState, "unknown" where the specification has none. */
const char *link_physical_state(uint8_t state);

/*!
 * \brief Reads the PortInfo of a port as it was last read or programmed.
 * \retval E_NOTFOUND  It is not in the snapshot. \retval E_MALFORMED E_STALE
 */
int link_caps(struct snap_reader *r, uint64_t node_guid, uint8_t port,
              struct link_caps *ret_caps);

/*!
 * \brief The widest width and the highest speed that both ends of a cable support.
 * \param now  What the link has, which counts as supported: PortInfo has no bit for FDR10.
 */
struct link_mode link_best(const struct link_caps *a, const struct link_caps *b,
                           struct link_mode now);

/*! \brief Is the link slower than the best that both ends support? */
bool link_degraded(struct link_mode now, struct link_mode best);
