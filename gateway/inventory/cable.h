/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct snap_reader;

enum { CABLE_LANES = 4, CABLE_LOW_BYTES = 64, CABLE_UPPER_BYTES = 128 };

/*! What the module at one end of a cable says of itself. Texts are without the spaces behind them. */
struct cable {
	char vendor[17], part[17], revision[3], serial[17];
	char date[9]; /*!< of manufacture, YYYYMMDD or as it is; "": none */
	const char *
		technology; /*!< "copper", "active copper", "optical", "active optical" or "other" */
	double length_m; /*!< 0: not known, or a transceiver without a fibre */
	double power_w;  /*!< that it takes at most; 0: not known */
	bool certified;  /*!< made for Omni-Path */
	/* of modules that measure; 0: not indicated, or not read */
	bool measures;
	double temperature_c, supply_v;
	double rx_mw[CABLE_LANES], tx_mw[CABLE_LANES];
};

/*!
 * \brief Decodes the memory of a module: QSFP, QSFP28 or QSFP-DD.
 * \param low    [CABLE_LOW_BYTES] bytes from 0 on; NULL: not read.
 * \param upper  [CABLE_UPPER_BYTES] bytes from 128 on.
 * \return false: it is of another kind.
 */
bool cable_decode(const uint8_t *low, const uint8_t *upper, struct cable *ret_cable);

/*! \brief That of a port. \retval E_NOTFOUND  Not known, or of another kind. \retval E_STALE E_MALFORMED */
int cable_read(struct snap_reader *r, uint64_t node_guid, uint8_t port,
               struct cable *ret_cable);

/*! \brief As the schema Cable describes it. \return NULL: out of memory. */
json_t *cable_json(const struct cable *c);
