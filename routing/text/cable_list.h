/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;
struct graph;

/*!
 * A list of cables as people keep it in a spreadsheet: a row per cable, with a node and a port at
 * each end.
 *
 * Fields are separated by commas, semicolons or tabs, whichever the first row has most of, and may be
 * quoted as RFC 4180 says. A byte order mark, CRLF, blank rows and rows that begin with '#' are
 * skipped. The first row may name the columns: words such as device, switch, host or name say a
 * node, port or interface a port; from, source or A one end, to, destination or B the other.
 * Without such words the first node and port are one end, the next the other one. Other columns
 * are ignored. A list without names has four columns: node, port, node, port. Where there is no column
 * of ports, the port stands behind the node: "leaf01:5", "leaf01/p5", "leaf01 port 5".
 */
struct cable_list_end {
	const char *node, *port; /*!< as written, without blanks around; port "": none */
};

struct cable_list {
	struct cable_list_row {
		unsigned line; /*!< 1-based */
		struct cable_list_end end[2];
	} *row; /*!< [n] */
	uint32_t n;
};

/*! \brief Is a text such a list, and not a topology? By its first row; O(length of it). */
bool cable_list_is(const char *text, size_t len);

/*!
 * \brief Reads a list. A row that has no two ends is skipped with a warning.
 *
 * \param name  Stands for the file in diagnostics. At most 20 warnings are given, the others counted.
 * \param ret_list  Strings in \a a.
 * \retval E_SYNTAX  No cable in it; in \a d. \retval -ENOMEM
 * Cost: one pass.
 */
int cable_list_parse(const char *text, size_t len, const char *name, struct arena *a,
                     struct diags *d, struct cable_list *ret_list);

/*!
 * \brief Number of a port as people write it.
 *
 *   12, p12, P12, port 12, swp12, eth12   12
 *   1/12                                  12: the port of the only slot
 *   1/12/2                                port 2 of cage 12, two ports a cage: 24
 *   swp12s0, p12s1                        the first and second port of cage 12: 23, 24
 *
 * \return 0: none of these.
 */
unsigned cable_list_port(const char *text);

/*!
 * \brief Makes a list a plan for cabling_compare(), with the nodes of a fabric that it names.
 *
 * A node is named by its GUID, by its name in any case, or as a host and its adapter: "node001" where
 * the host has one, "node001 HCA-2", "node001/U2/P1" (port 1 of its second adapter, in the order
 * of their names). Ports of hosts with one port need no number. A name that no node has gets a
 * warning with the nearest names and becomes a node of its own.
 *
 * Nodes that the list cannot know stay as found: those without a cable, and, where no row names
 * a host, all hosts with their cables.
 *
 * \param fabric    That the plan is for, frozen.
 * \param ret_plan  Frozen, in \a a. Ports are as fast as those of \a fabric.
 * \retval E_SYNTAX  No row has two ends with a port; in \a d. \retval -ENOMEM
 * Cost: O(P + N log N), and O(N) for each name that no node has.
 */
int cable_list_plan(const struct cable_list *l, const char *name,
                    const struct graph *fabric, struct arena *a, struct diags *d,
                    struct graph **ret_plan);
