/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct arena;
struct diags;
struct lid_memory;

/*!
 * OpenSM's file guid2lid, the LIDs of ports for life. A line is a port GUID, the lowest and
 * the highest of its LIDs, "0x<16 digits> 0x<4 digits> 0x<4 digits>", with an empty line
 * behind it. Number and kind of blanks and of empty lines do not matter to the reader.
 *
 * Source: OpenSM 3.3.23, files of its cache folder.
 */

/*!
 * \brief Reads such a file.
 *
 * \param path  Of the text, for messages.
 * \param text  \a len bytes.
 * \param ret_memory   [*ret_n] by GUID, in \a a; gone_epoch and gone_time are 0. Set on
 *        success only.
 * \retval E_SYNTAX  A line is none, its LIDs are no range of an LMC, or its GUID or LIDs were
 *                   in another line before. All such lines are in \a d.
 * \retval -ENOMEM
 * Cost: O(bytes + n log n) for n lines.
 */
int guid2lid_read(const char *path, const char *text, size_t len, struct arena *a,
                  struct diags *d, struct lid_memory **ret_memory, size_t *ret_n);

/*! \brief Writes such a file; \a m is sorted by GUID. A failure shows in ferror(). */
void guid2lid_write(const struct lid_memory *m, size_t n, FILE *f);
