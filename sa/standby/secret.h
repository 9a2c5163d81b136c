/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;

enum { SECRET_BYTES_MIN = 16, SECRET_BYTES_MAX = 1024 };

/*!
 * \brief Reads the secret that both ends of a link know. White space around it does not count.
 *
 * The file has to belong to root or to the user of this process, and nobody else may read or
 * write it (mode 0600 or 0400).
 *
 * \param ret_secret  In \a a.
 * \param ret_why     On failure a sentence with the file and the remedy, in \a a.
 * \retval -EPERM  Others may read the file. \retval E_RANGE  Too short or too long.
 * \retval -errno
 */
int secret_read(const char *file, struct arena *a, const char **ret_why,
                const uint8_t **ret_secret, size_t *ret_len);
