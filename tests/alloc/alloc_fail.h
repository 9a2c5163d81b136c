/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*!
 * Allocations of the calling thread that fail, for programs that are linked with $(ALLOC_WRAP).
 *
 * All allocations of the rooms count: of arenas, and of malloc() and its like. Those inside of
 * other libraries do not. A test runs its job with the first allocation failing, then with the
 * second, and so on until none fails:
 *
 *	for (size_t n = 1;; n++) {
 *		alloc_fail_at(n);
 *		int ret = job();
 *
 *		if (!alloc_fail_end()) {
 *			ck_assert_int_eq(ret, E_OK);
 *			break;
 *		}
 *		ck_assert_int_eq(ret, -ENOMEM);
 *	}
 */

/*! \brief The n-th allocation from now on fails, the first being 1. Later ones succeed. */
void alloc_fail_at(size_t n);

/*! \brief The n-th allocation from now on fails, and so do all later ones. */
void alloc_fail_from(size_t n);

/*! \brief Allocations neither fail nor count from now on, or they do again: around what is no part of the job. */
void alloc_fail_pause(bool paused);

/*! \brief From now on none fails. \return Whether one has failed. */
bool alloc_fail_end(void);
