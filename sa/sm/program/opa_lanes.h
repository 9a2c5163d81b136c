/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/tables.h"
#include "sa/mad/opa_fields.h"

struct virtual_fabrics;

/*!
 * Service channels (SC) and VLs of an Omni-Path fabric: what the maps, arbitration and buffer control of
 * its ports are made of. Pure functions.
 *
 * A sender turns the SL of a packet into an SC, each switch the SC of a packet that comes in by one port and
 * goes out by another into the next SC, and each port the SC into a VL. SC 15 and VL 15 carry management, and an
 * SL or SC that nobody uses maps to 15.
 *
 *   one lane         each SL of a virtual fabric has an SC; those of high priority have VLs of their own
 *   several lanes    SL n has SC n
 *   an SL-to-VL rule an SL has as many SCs as there are VLs that it takes out of one class of ports; a switch
 *                    chooses among them by the classes of both ports
 *
 * Without a rule SC n takes VL n modulo the VLs of the link, whatever is used, as Omni-Path's fabric manager
 * has it. So the map of a link is the same for all of them, and need not change while packets flow.
 */
enum {
	OPA_MAP_NONE = 15, /*!< what an unused SL or SC maps to */
	OPA_VLS_USUAL = 8  /*!< that ports of the first generation have */
};

struct opa_lanes {
	uint32_t sls;  /*!< SLs that packets may have, as bits */
	uint32_t scs;  /*!< SCs of these */
	uint32_t high; /*!< SCs that are served first */
	bool ruled;
	uint8_t most_vls; /*!< data VLs that maps use on a link that has so many */
	uint8_t sl_to_sc[OPA_LANES], sc_to_sl[OPA_LANES];
	uint8_t vl[VL_CLASSES][OPA_LANES]; /*!< with a rule: by class of the port out */
	uint8_t sc_to_sc[VL_CLASSES][VL_CLASSES]
			[OPA_LANES]; /*!< with a rule: by class in and class out */
	uint8_t share
		[OPA_LANES]; /*!< by SC: of the bandwidth in steps of 5 per cent; all 0: even */
	uint8_t mtu[OPA_LANES];     /*!< by SC: most, as a code; 0: no limit */
	int8_t hoq_life[OPA_LANES]; /*!< by SC: as a code; -1: that of the fabric */
};

/*!
 * \brief The lanes of a fabric.
 * \param fabrics  NULL: none.
 * \param sls      Without virtual fabrics: SLs in use beside 0, as bits.
 * \return false: the rule needs more than the 31 SCs that there are.
 */
bool opa_lanes_init(struct opa_lanes *l, const struct lanes *routing,
                    const struct virtual_fabrics *fabrics, uint32_t sls);

/*! One end of a link, or port 0 of a switch. Ports that are alike here have the same tables. */
struct opa_link {
	uint8_t vls;       /*!< data VLs of both ends, at least 1 */
	uint8_t class_out; /*!< with a rule */
	uint8_t mtu;       /*!< of both ends, as a code */
	uint8_t low_cap,
		high_cap; /*!< pairs that its arbitration tables hold, at most 128 */
};

/*! What such a port has. */
struct opa_profile {
	struct opa_link link;
	uint8_t sc_to_vl[OPA_BYTES_MAP]; /*!< SCtoVLt, and SCtoVLnt of the neighbour */
	uint8_t sc_to_vl_r
		[OPA_BYTES_MAP]; /*!< SCtoVLr: VL 15 for SCs that are not used */
	uint32_t vls;            /*!< that packets take, as bits, without VL 15 */
	uint8_t mtu[OPA_LANES];  /*!< by VL, as a code; 0: packets do not take it */
	uint8_t share
		[OPA_LANES]; /*!< by VL, as in struct opa_lanes; all of it for high priority */
	int8_t hoq_life[OPA_LANES];       /*!< by VL; -1: that of the fabric */
	uint8_t arb[2][OPA_BYTES_VL_ARB]; /*!< low, high */
	uint8_t missing; /*!< VLs that got no weight because these tables are too small */
};

/*! \brief Computes what ports have. */
void opa_lanes_profile(const struct opa_lanes *l, const struct opa_link *k,
                       struct opa_profile *ret_profile);

/*!
 * \brief BufferControl of a transmitter.
 * \param own, far   PortInfo of both ends.
 * \param shared     The receiver shares space between VLs.
 */
void opa_lanes_buffers(const struct opa_profile *f, const uint8_t *own,
                       const uint8_t *far, bool shared,
                       uint8_t ret_bytes[OPA_BYTES_BUFFER_CONTROL]);
