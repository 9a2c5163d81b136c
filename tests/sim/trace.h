/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

/*!
 * The log of a traced run, with the virtual time and the number of the subnet manager before each
 * line. The log module writes to standard error, which is a file in memory meanwhile.
 */

/*! \brief Takes standard error. Without memory for that, lines have no time. */
void trace_begin(void);

/*! \brief Prints what manager number \a who has written since the last call; nothing unless traced. */
void trace_print(uint64_t now_ms, unsigned who);
