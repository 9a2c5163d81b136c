/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct MHD_Connection;

/*!
 * Heads of requests that a proxy in front and libmicrohttpd could read in two ways. Whoever
 * sends one may hide a second request in it, so it is refused and its connection is closed.
 *
 * MHD_OPTION_STRICT_FOR_CLIENT is STRICT_LEVEL. With it libmicrohttpd 1 reads lines, folded
 * headers and NUL as RFC 9112 demands. Version 0.9 takes a bare LF for the end of a line, appends a
 * folded line to the name of its header, and ends a value at a NUL, and does not tell (0.9.75). But
 * it leaves names and values where they came in, so what stands between them shows by where they are.
 */
enum { STRICT_LEVEL = 1 };

/*!
 * \brief Looks at the head of a request, in the first call of the access handler.
 * \param method, version  As libmicrohttpd passes them to the handler.
 * \param target_end  Where the target ended that it passed to the URI callback.
 * \return What is wrong, a sentence that is borrowed for ever; NULL: nothing.
 *
 * Source: RFC 9112, sections 2.2, 3.2, 5, 6.1 and 6.3.
 */
const char *strict_fault(struct MHD_Connection *conn, const char *method,
                         uintptr_t target_end, const char *version);
