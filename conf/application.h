/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct diags;
struct xml_element;

/*!
 * Applications of opafm.xml: named sets of service IDs and multicast GIDs, that
 * select the virtual fabric of a path or a group.
 */

/*! 128 bits, upper half first; a service ID has 0 above. */
struct wide {
	uint64_t high, low;
};

/*! Numbers from a to b, or numbers that are equal to a when masked with b. */
struct id_rule {
	bool masked;
	struct wide a, b;
};

struct application {
	const char *name;
	unsigned line;
	const struct id_rule *services, *mgids; /*!< [n_services], [n_mgids] */
	uint32_t n_services, n_mgids;
	bool unmatched_service; /*!< Select: service IDs that no other virtual fabric has
	                         */
	bool unmatched_mgid;
	bool sa, pm; /*!< Select: subnet administration, performance manager */
	const uint32_t *includes; /*!< [n_includes] indices */
	uint32_t n_includes;
};

struct applications {
	const struct application *all; /*!< [n] by name; includes without cycles */
	uint32_t n;
};

/*!
 * \brief Reads Applications sections; a later one replaces what an earlier one defines.
 * \retval E_SYNTAX  In \a d by line and element. \retval -ENOMEM
 */
int applications_parse(const char *path, struct xml_element *const *sections, unsigned n,
                       struct arena *a, struct diags *d,
                       struct applications *ret_applications);
