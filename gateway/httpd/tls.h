/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

/*! TLS of the HTTP server, by GnuTLS: versions 1.3 and 1.2. PEM files. */
struct tls_files {
	const char *certificate, *key;
	const char *client_ca; /*!< NULL: no client is asked for a certificate */
};

enum { TLS_OPTIONS = 5 };

/*!
 * \brief What struct httpd_options wants of the files. A key that others can read is refused.
 * \param a        Keeps the texts, as long as the server runs.
 * \param ret_why  On failure a sentence; in \a a.
 * \retval E_SYNTAX \retval -errno
 */
int tls_options(const struct tls_files *f, struct arena *a, const char **ret_why,
                struct MHD_OptionItem ret_options[TLS_OPTIONS]);

/*! \brief Common name of a certificate of the client that a trusted one signed for clients.
 *  \return false: it has none, or a longer name. */
bool tls_client_name(struct MHD_Connection *conn, char *ret_text, size_t room);

/*!
 * \brief Names of a certificate and further ones, for the check of Host.
 * \param certificate  NULL: none. \param further  Names separated by commas, or NULL.
 * \param ret_text          All of them with commas between, in \a a.
 * \retval E_SYNTAX \retval -errno  \a ret_why as above.
 */
int tls_names(const char *certificate, const char *further, struct arena *a,
              const char **ret_why, const char **ret_text);
