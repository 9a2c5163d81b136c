/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct body;

/*!
 * Bodies in fewer bytes: gzip and, where libzstd was found, zstd. Both at their fastest level,
 * because an answer is made for one request and the time of the server is what counts.
 */
enum encoding { ENCODING_NONE, ENCODING_GZIP, ENCODING_ZSTD, ENCODING_COUNT };

enum {
	ENCODING_LEAST = 1024 /*!< bytes; shorter bodies are sent as they are */
};

/*! \brief "gzip", "zstd". NULL: ENCODING_NONE. */
const char *encoding_name(enum encoding e);

/*! \brief What an Accept-Encoding header prefers; of equals the one that costs least time.
 *  \param header  NULL: there is none. */
enum encoding encoding_choose(const char *header);

struct encoder;

/*! \brief \return NULL: out of memory. */
struct encoder *encoding_new(enum encoding e);

/*!
 * \brief Adds the bytes of a text to \a out, so that the client can read all of them now.
 * \param end  The text ends with them.
 * \retval E_OK \retval -ENOMEM
 */
int encoding_write(struct encoder *e, const char *data, size_t len, bool end,
                   struct body *out);

/*! \brief NULL is fine. */
void encoding_free(struct encoder *e);

/*! \brief A whole text. \retval E_OK \retval -ENOMEM  \a out may hold a part. */
int encoding_pack(enum encoding e, const char *data, size_t len, struct body *out);
