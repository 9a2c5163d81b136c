/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;

/*!
 * Names that an operator gives nodes, as OpenSM and the tools of infiniband-diags read
 * them:
 *
 *   line    := blank? [ guid blank name ] [ '#' comment ]
 *   guid    := NodeGUID, 0x hex or as in conf/policy/guidfile.h
 *   name    := '"' text '"', or text up to a '#'
 *
 * Names serve people only. So a file that is not there and lines that are not understood
 * are warned of, and the nodes keep the names they have.
 */
enum { NODE_NAME_MAX = 64 }; /*!< bytes, as a NodeDescription; a longer name is cut */

struct node_name {
	uint64_t guid;    /*!< NodeGUID */
	const char *name; /*!< 1 to NODE_NAME_MAX bytes */
	unsigned line;
};

struct node_names {
	const char *path;
	const struct node_name *names; /*!< [n] by GUID, each once */
	uint32_t n;
};

/*! \brief Reads a file; what is not understood is a warning. \param ret_value  A struct
 * node_names in \a a. \retval -ENOMEM -errno  It is there but cannot be read; also in \a
 * d.
 */
int node_names_read(const char *path, struct arena *a, struct diags *d,
                    const void **ret_value);

/*! \brief The same of \a len bytes in memory. \retval -ENOMEM */
int node_names_parse(const char *path, const char *text, size_t len, struct arena *a,
                     struct diags *d, const struct node_names **ret_names);

/*! \brief Name of a NodeGUID. O(log n). \return NULL: none, also when \a n is NULL. */
const char *node_names_find(const struct node_names *n, uint64_t guid);
