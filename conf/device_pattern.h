/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;

/*!
 * Patterns of node descriptions, as device groups use them.
 *
 *   *      any characters, also none
 *   ?      one character or none
 *   [n-m]  a number from n to m. With leading zeros it has exactly that many digits
 *          ([01-16]: 01, not 1); else it is written without any
 *   :p :[n-m]  at the end: these ports only, not the whole node
 *   all else stands for itself, upper and lower case apart
 *
 * The whole description must match. A range takes all digits that stand there, so n[1-2]*
 * does not match n15. Where a digit or another range follows it, it takes as many as its
 * bounds have, which must then be equally long: n[1-2]0.
 */
enum { DEVICE_PATTERN_MAX = 128, DEVICE_RANGE_DIGITS = 5, DEVICE_RANGES_MAX = 10 };

/*! A part of a pattern. */
struct device_piece {
	uint8_t kind;   /*!< enum device_piece_kind */
	char c;         /*!< DEVICE_CHAR */
	uint8_t digits; /*!< DEVICE_RANGE: exactly so many; 0: all that stand there */
	bool zeros;     /*!< DEVICE_RANGE: leading zeros are expected */
	uint32_t from, to;
};

enum device_piece_kind { DEVICE_CHAR, DEVICE_ANY, DEVICE_MAYBE, DEVICE_RANGE };

struct device_pattern {
	const char *text; /*!< as written */
	const struct device_piece *pieces;
	uint32_t n;
	bool some_ports; /*!< only ports port_from to port_to */
	uint16_t port_from, port_to;
};

/*!
 * \brief Reads a pattern.
 * \param ret_why  On E_SYNTAX: what is wrong, one sentence; static.
 * \retval E_SYNTAX \retval -ENOMEM
 */
int device_pattern_parse(const char *text, struct arena *a,
                         struct device_pattern *ret_pattern, const char **ret_why);

/*!
 * \brief Does it match a node description? Ports are not looked at.
 * Cost: O(length of the pattern times that of the description), whatever they hold.
 */
bool device_pattern_match(const struct device_pattern *p, const char *description);
