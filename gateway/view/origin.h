/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*!
 * Checks of requests that a browser may have sent: names of this server, and foreign pages.
 *
 * A page of somebody else can make a browser ask this server under a name of its own that
 * it lets point here (DNS rebinding); for the browser the answer is then one of that page.
 * So a request has to name this server by an address, as localhost, as the name of this
 * machine, or by a name that the operator gives. An answer is shown to pages of another
 * origin only if the operator names that origin (CORS).
 *
 * Pure: text in, yes or no out. Source: RFC 9110, 7.2 (Host); Fetch standard (CORS).
 */
struct origin_rules {
	const char *hosts; /*!< further names with commas between, "*": any; NULL: none */
	const char *origins; /*!< "https://a.example" likewise; NULL: none */
	const char *machine; /*!< name of this machine, or NULL */
};

/*! \brief May a request have this Host header? \param host  NULL: it has none, as in HTTP/1.0. */
bool origin_host_fits(const struct origin_rules *r, const char *host);

/*!
 * \brief Is a text an origin that no third party on the way can speak for: https://NAME[:PORT], or
 *        http:// with this machine by localhost or a loopback address?
 * \param path  A path may follow, as in a base URL.
 * \param ret_len  Bytes of the origin, without the path; may be NULL.
 */
bool origin_is_safe(const char *text, bool path, size_t *ret_len);

/*! \brief Is each origin of a list with commas safe, as origin_is_safe() says? NULL: yes. */
bool origin_list_is_safe(const char *list);

/*! \brief May pages of this origin read answers? \param origin  Origin header, or NULL. */
bool origin_fits(const struct origin_rules *r, const char *origin);
