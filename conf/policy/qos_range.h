/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/*! Lists of numbers as policy files write them: "7-9, 11". */
struct qos_range {
	uint64_t from, to; /*!< inclusive */
};

struct qos_ranges {
	const struct qos_range *range; /*!< [n] ascending, apart from each other */
	uint32_t n;
};

/*!
 * \brief Numbers and ranges with commas between; decimal, or hexadecimal after 0x.
 *
 * \param max   Largest number.
 * \param mask  Bits that count of each number; UINT64_MAX: all.
 * \param ret_ranges   What it held before, and these.
 * \retval E_SYNTAX E_RANGE  Also for a range that ends before it begins. \retval -ENOMEM
 * Cost: O(n log n).
 */
int qos_ranges_add(const char *text, uint64_t max, uint64_t mask, struct arena *a,
                   struct qos_ranges *ret_ranges);

/*! \brief O(log n) */
bool qos_ranges_have(const struct qos_ranges *r, uint64_t number);
