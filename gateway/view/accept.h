/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

/*!
 * Headers that list what a client takes, each element with a quality (RFC 9110, 12.4.2):
 * Accept, Accept-Encoding. And what it has already: If-None-Match.
 */
enum { ACCEPT_UNNAMED = -1, ACCEPT_MOST = 1000 };

/*!
 * \brief The quality of a word, in thousandths; 0: it is not to be sent. Case is ignored.
 * \param header  NULL: there is none.
 * \return ACCEPT_UNNAMED: the header does not name the word. A wildcard is a word like others.
 */
int accept_quality(const char *header, const char *word);

/*!
 * \brief Does an If-None-Match header name this ETag? Weak comparison (RFC 9110, 13.1.2).
 * \param header  NULL: there is none. \param etag  "": the answer has none.
 */
bool accept_knows(const char *header, const char *etag);
