/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "db/lmdb/counters.h"

/*!
 * Attributes of class PerfMgt (IBA vol. 1, 16.1): ClassPortInfo, PortCounters,
 * PortCountersExtended and PortExtendedSpeedsCounters, as far as counters are read from them.
 */
enum {
	PERF_PORT_COUNTERS = 0x12,
	PERF_PORT_COUNTERS_EXT = 0x1d,
	PERF_PORT_EXT_SPEEDS = 0x1f,
	PERF_CLASS_VERSION = 1,
	PERF_DATA_AT = 64, /*!< byte of the MAD at which attributes begin */
	PERF_DATA_BYTES = 192,
	PERF_ALL_PORTS = 255 /*!< PortSelect: the sum of all ports */
};

/*! What a port's agent can do, out of ClassPortInfo. */
struct perf_caps {
	bool all_ports;     /*!< PortSelect 255 */
	bool wide;          /*!< PortCountersExtended */
	bool wide_unicast;  /*!< with unicast and multicast packets apart */
	bool wide_errors;   /*!< and with all error counters: one attribute says everything */
	bool wait;          /*!< PortXmitWait */
	bool qp1_dropped;
	bool rs_fec;        /*!< blocks repaired are counted per port, not per lane */
};

/*! \brief Decodes ClassPortInfo. \param data  [PERF_DATA_BYTES] */
struct perf_caps perf_caps(const uint8_t *data);

/*! Counters of a port while its attributes come in, in any order. */
struct counter_reading {
	uint64_t value[PORT_COUNTERS];
	uint32_t known, saturated; /*!< bits by enum port_counter */
	uint32_t wide;             /*!< known, from an attribute with 64 bits */
	uint64_t sum;              /*!< Omni-Path: of all error counters */
	bool moved;                /*!< it did, and the error counters are to be read */
};

/*! \brief Takes the counters out of an attribute. A narrow counter never replaces a wide one. */
void counter_fields_take(const struct perf_caps *caps, uint16_t attr, const uint8_t *data,
                         struct counter_reading *r);

/*!
 * \brief A number that changes when an error counter or PortXmitWait of PortCounters does.
 * \param ret_full  A counter is at its limit, so it says nothing about changes.
 */
uint64_t counter_fields_error_digest(const uint8_t *data, bool *ret_full);
