/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct arena;
struct diags;
struct graph;

/*!
 * Topology text: what ibnetdiscover prints and ibsim reads.
 *
 * Blocks separated by blank lines: optional attribute lines (vendid, devid, sysimgguid,
 * switchguid=0x..(portguid), caguid, rtguid), a node line (Switch|Ca|Hca|Rt PORTS "ID" #
 * "DESCRIPTION" ... lid N lmc M), then one line per cable. A cable may stand on one or
 * both sides; both must agree. Width and speed are taken from the tail ("4xEDR") or from
 * the w= and s= items. Nodes without a *guid line get GUIDs numbered as ibsim does, so
 * that both see the same fabric in the same file (ibsim takes none from ids like
 * "S-<hex>"); nodes without a description are described by their id. The first end port
 * read is sm_port. LIDs, where written, become port.lid and port.lmc. The extras of ibsim
 * (module, include, do, width, speed ...) are refused with a sentence.
 */

/*!
 * \brief Reads a topology file and freezes the graph.
 *
 * Every problem goes to \a d with its line. A cable whose far end does not exist, does
 * not agree or is used twice is an error.
 *
 * \param ret  Graph in \a a.
 * \retval E_SYNTAX  At least one error. \retval -errno  Unreadable; also in \a d.
 * Cost: one pass, O(size) plus freezing.
 */
int topo_read(const char *path, struct arena *a, struct diags *d, struct graph **ret);

/*! \brief As topo_read() from memory; \a name stands for the file in diagnostics. */
int topo_parse(const char *text, size_t len, const char *name, struct arena *a,
               struct diags *d, struct graph **ret);

/*! \brief Writes a graph so that topo_read() gives the same graph and ibsim accepts it.
 * \retval -EIO */
int topo_write(const struct graph *g, FILE *f);
