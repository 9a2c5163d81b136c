/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>

/*!
 * The client's end of saguarod's control socket: sa/control/control.h has the protocol. The
 * command line and the write door ask through it.
 */

/*!
 * \brief Sends one request on a connection of its own and waits for the reply.
 *
 * \param path        Of the socket.
 * \param request     Object with a member "verb"; borrowed.
 * \param timeout_ms  For all of it; 0: no limit. The request may have been carried out even
 *                    if the reply came too late.
 * \param ret_reply   Object with a member "ok", which is false for a refusal; caller owns.
 * \retval E_OK         A reply came.
 * \retval -errno       The socket cannot be reached, or the connection broke.
 * \retval E_TIMEOUT    No reply in time.
 * \retval E_MALFORMED  The connection was closed without a reply, or it is no JSON object.
 * \retval E_FULL       The reply is longer than 64 MiB.
 */
int control_ask(const char *path, const json_t *request, unsigned timeout_ms,
                json_t **ret_reply);
