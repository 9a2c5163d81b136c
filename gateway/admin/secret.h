/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*!
 * Secrets of users: made, hashed for the file, checked. The hash is that of crypt(3), by
 * default yescrypt, so the entries of other programs that use crypt(3) fit, too.
 */
enum {
	SECRET_BYTES = 48,       /*!< room for a secret that secret_make() makes */
	SECRET_HASH_BYTES = 384, /*!< room for a hash */
	SECRET_MAX = 256,        /*!< longest secret that is looked at */
	SECRET_MIN = 12,         /*!< shortest password that may be set */
	SECRET_MAC_BYTES = 32
};

/*! \brief 257 random bits as text of letters, digits, '-' and '_'. \retval -EIO */
int secret_make(char ret_secret[SECRET_BYTES]);

/*! \brief Hash of a secret with a random salt. \retval -ENOSYS  crypt(3) has no yescrypt. */
int secret_hash(const char *secret, char ret_hash[SECRET_HASH_BYTES]);

/*! \brief Is the text a hash of a method that withstands guessing? */
bool secret_is_hash(const char *hash);

/*!
 * \brief Is this the secret of the hash? The comparison takes the same time for all secrets.
 *
 * Cost: some 10 ms and 16 MiB with yescrypt, on purpose.
 */
bool secret_matches(const char *secret, const char *hash);

/*! \brief Takes as long as secret_matches() and says no: for a name that does not exist. */
bool secret_mismatch(const char *secret);

/*! \brief A keyed digest of a secret, to recognise one that was checked before. */
int secret_mac(const uint8_t key[SECRET_MAC_BYTES], const char *secret,
               uint8_t ret_mac[SECRET_MAC_BYTES]);

/*! \brief Compares in constant time. */
bool secret_same(const void *a, const void *b, size_t len);
