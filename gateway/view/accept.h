/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*!
 * Headers that list what a client takes, each element with a quality (RFC 9110, 12.4.2):
 * Accept, Accept-Encoding.
 */
enum { ACCEPT_UNNAMED = -1, ACCEPT_MOST = 1000 };

/*!
 * \brief The quality of a word, in thousandths; 0: it is not to be sent. Case is ignored.
 * \param header  NULL: there is none.
 * \return ACCEPT_UNNAMED: the header does not name the word. A wildcard is a word like others.
 */
int accept_quality(const char *header, const char *word);
