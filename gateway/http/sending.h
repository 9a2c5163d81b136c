/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "gateway/httpd/encoding.h"

struct MHD_Response;
struct api_reply;
struct connection;

/*!
 * \brief What a reply carries, as libmicrohttpd sends it: a body, or a stream that is pulled.
 *
 * A stream is encoded piece by piece, and the client can read each piece when it comes.
 *
 * \param reply  Its body or stream is taken on success.
 * \param e      In: what the client prefers. Out: how the bytes are encoded; a short body is
 *               sent as it is.
 * \param place  Enters CONNECTION_STREAM with each piece; outlives the response.
 * \return NULL: out of memory.
 */
struct MHD_Response *sending_new(struct api_reply *reply, enum encoding *e,
                                 struct connection *place);
