/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;

/*!
 * \brief The key of a file, which is made with a random key if it is not there.
 *
 * The file holds one number. It belongs to root or to this user, and nobody else may read it.
 *
 * \param option   Which names the file: for the sentence.
 * \param ret_why  On failure a sentence, without the key; in \a a.
 * \param ret_new  Was the file made?
 * \retval E_SYNTAX  It holds something else, or 0 or 1, which are known to everybody.
 * \retval -EPERM    Others may read it. \retval -errno
 */
int key_file_read(const char *option, const char *file, struct arena *a,
                  const char **ret_why, uint64_t *ret_key, bool *ret_new);
