/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct diags;
struct graph;

/*!
 * Topology text: what ibnetdiscover (with -g, too) and ibdiagnet print and ibsim reads.
 *
 * Blocks separated by blank lines: optional attribute lines (vendid, devid, sysimgguid,
 * switchguid=0x..(portguid), caguid, rtguid), a node line (Switch|Ca|Hca|Rt PORTS "ID" #
 * "DESCRIPTION" ... lid N lmc M), then one line per cable. A cable may stand on one or
 * both sides; both must agree. Width and speed are taken from the tail ("4xEDR") or from
 * the w= and s= items. Nodes without a *guid line get GUIDs numbered as ibsim does, so
 * that both see the same fabric in the same file (ibsim takes none from ids like
 * "S-<hex>"); nodes without a description are described by their id. The first end port
 * read is sm_port. LIDs, where written, become port.lid and port.lmc. The extras of ibsim
 * (module, include, do, width, speed ...) are not supported. Names of sockets behind a
 * port number, as in [14][ext 2] and [41](1/21/1), are skipped. Where a director's
 * switches are written switchguid=SYSTEM(NODE), the id tells which is the NodeGUID.
 *
 * ibdiagnet's list of links (.lst): a line { NODE } { NODE } PHY=4x LOG=ACT SPD=100 per
 * cable, all numbers but the last three hexadecimal. Ids are made of the NodeGUIDs.
 *
 * A file as it comes has more in it than that: shell prompts, log lines, cables to nodes
 * that did not answer. Lines that are not understood are skipped with a warning. Of two
 * statements that contradict each other the safer one holds, also with a warning: the
 * slower link, no cable in place of either, the first node of two with one GUID. At most
 * 20 such warnings are given and the others counted. A strict reader refuses the file and
 * names every line. A file without any node is refused by both.
 */

/*!
 * \brief Reads a topology file and freezes the graph.
 *
 * Every problem goes to \a d with its line.
 *
 * \param strict  A line that is not understood or contradicts another is an error, not a
 *                warning.
 * \param ret_graph  Graph in \a a.
 * \retval E_SYNTAX  At least one error. \retval -errno  Unreadable; also in \a d.
 * Cost: one pass, O(size) plus freezing.
 */
int topo_read(const char *path, bool strict, struct arena *a, struct diags *d,
              struct graph **ret_graph);

/*! \brief As topo_read() from memory; \a name stands for the file in diagnostics. */
int topo_parse(const char *text, size_t len, const char *name, bool strict,
               struct arena *a, struct diags *d, struct graph **ret_graph);

/*! \brief Writes a graph so that topo_read() gives the same graph and ibsim accepts it.
 * \retval -EIO */
int topo_write(const struct graph *g, FILE *f);

/*!
 * \brief Writes one node and its cables, with ids made of GUIDs.
 * \param i  In the order of the file: the SM's node first. All of 0 ... n_nodes - 1 are the
 *           file. \retval -EIO
 */
int topo_write_node(const struct graph *g, uint32_t i, FILE *f);
