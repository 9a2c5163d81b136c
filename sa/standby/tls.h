/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*!
 * TLS 1.3 or 1.2 over a socket that does not block, by GnuTLS. Both ends prove that they know
 * one secret (pre-shared key), and each connection has keys of its own (elliptic-curve
 * Diffie-Hellman). There are no certificates.
 */
struct tls_keys;
struct tls;

/*!
 * \brief Prepares the secret for both roles.
 * \retval -ENOTSUP  Built without GnuTLS. \retval -ENOMEM
 */
int tls_keys_new(const uint8_t *secret, size_t len, struct tls_keys **ret_keys);
void tls_keys_free(struct tls_keys *k); /*!< NULL is fine */

/*! \brief A session over \a fd, which stays the caller's. \retval -ENOMEM */
int tls_new(const struct tls_keys *k, int fd, bool server, struct tls **ret_tls);
void tls_free(struct tls *t); /*!< NULL is fine */

/*!
 * \brief Goes on with the handshake.
 * \param ret_why  Why it failed, a static text.
 * \retval E_OK  Both ends know the secret. \retval -EAGAIN \retval -EPROTO
 */
int tls_handshake(struct tls *t, const char **ret_why);

/*! \brief \return Bytes, 0: the peer closed, -EAGAIN, -EPROTO. */
ssize_t tls_read(struct tls *t, void *to, size_t len);
/*! \brief Takes as much as the socket does. The bytes that it did not take have to be given again, and more
 *  may follow them. \param len  At least 1. \return Bytes, -EAGAIN, -EPROTO. */
ssize_t tls_write(struct tls *t, const void *from, size_t len);

/*! \brief Does it wait until the socket takes bytes? */
bool tls_wants_write(const struct tls *t);
