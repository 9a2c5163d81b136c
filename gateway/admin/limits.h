/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*!
 * Rates: each key (an address, a user) may do a number of things at once, and so many more
 * per minute. The table has a fixed size; when it is full, the key that has been idle for
 * longest makes room. Thread-safe.
 */
struct limits;

enum { LIMITS_KEYS = 4096, LIMITS_KEY_MAX = 64 };

/*! \param burst  At once, at least 1. \param per_minute  0: no limit at all. */
struct limits *limits_new(unsigned burst, unsigned per_minute);

void limits_free(struct limits *l); /*!< NULL is fine */

/*!
 * \brief Takes one of what a key may do.
 * \param ret_wait_s  If not: after how many seconds there is one more; may be NULL.
 */
bool limits_take(struct limits *l, const char *key, uint64_t now_ms,
                 unsigned *ret_wait_s);

/*! \brief Gives back what limits_take() took, because it does not count. */
void limits_give(struct limits *l, const char *key, uint64_t now_ms);
