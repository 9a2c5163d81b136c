/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdio.h>

#include "routing/graph/tables.h"

struct arena;
struct diags;
struct graph;
struct lids;

/*!
 * Forwarding tables as text, in the form that OpenSM dumps and its -U reads:
 * per switch a header "Unicast lids [0-<top>] of switch Lid <lid> guid 0x<guid> ('<desc>'):",
 * lines "0x<lid> <port> # <type> portguid 0x<guid>: '<desc>'", "<n> lids dumped".
 * The reader takes the output of dump_lfts and ibroute as well: "0x<lid> <port> : (<type>
 * portguid 0x<guid>: '<desc>')". An SL dump has the same headers, then "0x<lid> <SL>" lines.
 */

/*! \brief Writes every switch's table. \retval -EIO */
int lftfile_write(const struct graph *g, const struct lids *lids, const struct lft *lft, FILE *f);

/*! \brief Writes the table of one switch. \param row  By LID. \retval -EIO */
int lftfile_write_switch(const struct graph *g, const struct lids *lids, uint32_t sw,
                         const uint8_t *row, FILE *f);

/*! \brief Writes lanes as SLs (lane n = SL n). \retval -EIO */
int lftfile_write_sl(const struct graph *g, const struct lids *lids, const struct lanes *lanes, FILE *f);

/*!
 * \brief Reads tables and, when \a ret_lids is wanted, the LID of each end port from the
 *        portguid remarks (a foreign dump has its own LIDs).
 *
 * \param max_lid  The unicast LID limit: LIDs of the file above it are errors. 0: LID_LIMIT_DEFAULT.
 *
 * Unknown switches, ports out of range and unparsable lines are errors with their line. A
 * switch of the graph that the file leaves out is a warning and stays without routes.
 *
 * \retval E_SYNTAX
 */
int lftfile_read(const char *path, const struct graph *g, uint32_t max_lid,
                 struct arena *a, struct diags *d, struct lft *ret_lft,
                 struct lids *ret_lids);

/*! \brief Reads an SL dump into lanes with the shape of \a lft. */
int lftfile_read_sl(const char *path, const struct graph *g, const struct lft *lft,
                    struct arena *a, struct diags *d, struct lanes *ret_lanes);
