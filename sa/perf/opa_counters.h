/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/perf/counter_fields.h"

/*!
 * Attributes of class PerfMgt of Omni-Path (class version 0x80), as far as counters are read from
 * them, without those of single VLs. The counters have 64 bits, but for a few.
 *
 * DataPortCounters and ErrorPortCounters hold one record per port of a mask of 256 bits, in the
 * order of the ports. The first one has a sum of all error counters, too. PortStatus holds all
 * counters of one port; it is the only one that adapters and switches surely have in common.
 *
 * All functions are pure. Data is the attribute: what stands behind the header of 24 bytes.
 *
 * Source: the public headers of opa-fm (stl_pm.h).
 */
enum {
	OPA_PORT_STATUS = 0x40,
	OPA_DATA_PORT_COUNTERS = 0x42,
	OPA_ERROR_PORT_COUNTERS = 0x43,
	OPA_COUNTERS_REQUEST = 40, /*!< bytes of data of the longest request */
	OPA_DATA_PORTS_MAX = 14,   /*!< that fit an answer */
	OPA_ERROR_PORTS_MAX = 20,
	OPA_PORTS_MASK_BYTES = 32
};

/*! \brief Adds a port to the mask that a request for several ports begins with. */
void opa_counters_select(uint8_t mask[OPA_PORTS_MASK_BYTES], uint8_t port);

/*!
 * \brief Takes the counters of PortStatus.
 * \retval false  It is too short, or of another port.
 */
bool opa_counters_status(const uint8_t *data, size_t len, uint8_t port,
                         struct counter_reading *r);

/*!
 * \brief Takes the counters of the \a n th record, from 0 on, of an attribute for several ports.
 * \param ret_sum  DataPortCounters: sum of all error counters; else unchanged.
 * \retval false   It is too short, or that record is of another port.
 */
bool opa_counters_record(uint16_t attr, const uint8_t *data, size_t len, unsigned n,
                         uint8_t port, struct counter_reading *r, uint64_t *ret_sum);
