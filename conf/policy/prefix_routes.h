/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;

/*!
 * Routes to other subnets: which router port takes packets to GIDs of a prefix.
 *
 *   line    := blank? [ prefix blank router ] blank? [ comment ]
 *   prefix  := 1-16 hex digits, 0x before them or not; or '*', every prefix
 *   router  := PortGUID in the same form; or '*', the first router there is
 *   comment := '#' to the end of the line
 *
 * The first line that fits and whose router is there counts.
 */
struct prefix_route {
	uint64_t prefix, router_port_guid; /*!< host order */
	bool any_prefix, any_router;
};

struct prefix_routes {
	const char *path;
	const struct prefix_route *route; /*!< [n] in the order of the file */
	uint32_t n;
};

/*!
 * \brief Reads a file of routes (see option_read_f). One that does not exist has none: the
 *        usual path stands in every opensm.conf. Another path is warned about.
 * \retval E_SYNTAX  Every bad line is in \a d. \retval -errno
 */
int prefix_routes_read(const char *path, struct arena *a, struct diags *d,
                       const void **ret_value);

/*! \brief prefix_routes_read() over \a len bytes in memory. */
int prefix_routes_parse(const char *path, const char *text, size_t len, struct arena *a,
                        struct diags *d, const struct prefix_routes **ret_routes);
