/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*!
 * What an operator chooses about congestion control: of InfiniBand (IBA vol. 1, annex A10), as opensm.conf
 * writes it, and of Omni-Path.
 */
enum {
	CONGESTION_SLS = 16,
	CONGESTION_MASK_BYTES = 32,
	CONGESTION_TABLE_MOST = 128 /*!< entries */
};

/*! Switch ports. Port p is bit p % 8 of byte 31 - p / 8, as on the wire. */
struct congestion_mask {
	uint8_t byte[CONGESTION_MASK_BYTES];
};

/*! A number for each SL. */
struct congestion_sls {
	uint16_t of[CONGESTION_SLS];
};

/*! Entries of a congestion control table: shift in bits 15:14, multiplier in 13:0. */
struct congestion_table {
	uint32_t n;
	uint16_t entry[CONGESTION_TABLE_MOST];
};

/*! The same for Omni-Path, as opafm.xml has it. */
struct congestion_opa_options {
	bool victims; /*!< ports mark where they are the victim of congestion, too */
	uint32_t threshold, packet_size, marking_rate;
	uint32_t increase, timer, trigger, min, limit;
	uint32_t max_delay_ns; /*!< of the last entry of the control table, for packets of the MTU */
};

struct congestion_options {
	bool on;
	uint64_t key; /*!< CC_Key of requests */
	uint32_t max_outstanding;
	/* SwitchCongestionSetting: */
	uint32_t switch_map;
	struct congestion_mask victims, credits;
	uint32_t threshold, packet_size, credit_threshold, marking_rate;
	struct congestion_table return_delay; /*!< one entry */
	/* CACongestionSetting: */
	uint32_t port_control, ca_map;
	struct congestion_sls timer, increase, trigger, min;
	struct congestion_table table;
	struct congestion_opa_options opa;
};

/*! \brief "0x" and up to 64 hex digits, or digits alone. \retval E_SYNTAX E_RANGE */
int congestion_mask_parse(const char *text, struct congestion_mask *ret_mask);

/*!
 * \brief "SL VALUE", or several such pairs with commas between. SLs that are not named keep
 *        their value.
 * \retval E_SYNTAX E_RANGE  Unchanged.
 */
int congestion_sls_parse(const char *text, uint32_t most, struct congestion_sls *sls);

/*! \brief "SHIFT:MULTIPLIER", at most \a most times, with commas between. \retval E_SYNTAX E_RANGE */
int congestion_table_parse(const char *text, uint32_t most,
                           struct congestion_table *ret_table);
