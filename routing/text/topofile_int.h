/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/graph.h"
#include "routing/text/span.h"

struct cables;
struct diags;

/*!
 * What the files of the topology reader share. Private to routing/topofile*.c.
 */

/*!
 * Problems of one file. A strict reader makes each an error. Otherwise each is a warning
 * that also says what was done instead; the first TOPO_LISTED_MAX are kept and the others
 * counted.
 */
enum { TOPO_LISTED_MAX = 20 };

struct topo_problems {
	struct diags *d;
	const char *file;
	bool strict;
	unsigned n;                     /*!< all of them */
	unsigned first, first_warnings; /*!< what d had before */
};

/*! \brief No problems yet of this file; diagnostics go to \a d. */
void topo_problems_init(struct topo_problems *p, struct diags *d, const char *file,
                        bool strict);

/*!
 * \brief Adds one problem. \param line  1-based, 0: the whole file. \param instead  What
 * a reader that is not strict does, such as "the line is skipped".
 */
void topo_problem(struct topo_problems *p, unsigned line, const char *instead,
                  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*! \brief The same for what is a warning in any case; \a fmt says what was done. */
void topo_warning(struct topo_problems *p, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*! \brief Says how many problems were not listed. */
void topo_problems_end(struct topo_problems *p);

/*!
 * \brief Refuses a file without a node, in one sentence, which unless strict replaces all
 * problems listed for its lines.
 */
void topo_problems_no_nodes(struct topo_problems *p);

/*! One node in a file. */
struct topo_node {
	struct span id;
	struct span description; /*!< p NULL: none, its id stands for it */
	uint64_t guid;
	uint64_t port_guid;         /*!< switch: of port 0, 0: its NodeGUID */
	uint64_t system_image_guid; /*!< 0: unknown */
	uint32_t vendor_id;
	uint16_t device_id;
	uint8_t type; /*!< enum node_type */
	uint8_t n_ports;
};

/*! \brief Adds it to the graph. \param ret_node  Its index. \retval -ENOMEM */
int topo_add_node(struct graph *g, const struct topo_node *n, unsigned line,
                  uint32_t *ret_node);

/*! \brief Width of so many lanes, 0: there is no such width. */
uint8_t topo_width(uint64_t lanes);

/*! \brief Is it a link in ibdiagnet's list (.lst): "{ CA Ports:01 ..."? */
bool topo_list_is_link(struct span line);

/*!
 * \brief Reads such a line: both nodes, unless they are known, and the cable.
 * \retval -ENOMEM
 */
int topo_list_read(struct span line, unsigned number, struct graph *g, struct cables *c,
                   struct topo_problems *pr);
