/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "db/snapshot/snapshot.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/route.h"
#include "routing/topogen/topogen.h"

/*! Shared by tests and benches of the database: a temporary folder, a routed fabric. */

/*! \brief Removes a folder with all that is in it. */
void remove_tree(const char *path);

/*! \brief New folder under $TMPDIR or /tmp, in \a buf. Aborts on failure. */
const char *make_tmp(char buf[256]);

struct db_val;
struct port_counters;
struct stats_reader;

struct fabric {
	struct arena *a;
	struct diags d;
	struct graph *g;
	struct lids lids;
	struct route_result route;
};

/*!
 * \brief A generated fabric with LIDs and routes: "ft2 4 4 2".
 */
void fabric_init(struct fabric *f, const char *spec, uint32_t lmc);

/*! \brief The same fabric without its first \a cut switch-to-switch cables, routed with
 * its tables as the previous ones. */
void fabric_cut(struct fabric *f, const struct fabric *from, unsigned cut, uint32_t lmc);

/*! \brief Attribute rows of the size a sweep reads: sorted, made up, stamped with \a
 * stamp. */
struct snap_attr *fabric_attrs(const struct fabric *f, uint8_t stamp, size_t *ret_n);

/*! \brief What a daemon would publish of \a f. */
struct snap_content fabric_content(const struct fabric *f, uint64_t epoch);

void fabric_done(struct fabric *f);

/*! \brief Calls \a take for each row of a table of the snapshot, by key. Aborts on failure. */
void each_row(struct snap_writer *w, unsigned table,
              void (*take)(void *ctx, const struct db_val *k, const struct db_val *v),
              void *ctx);

/*! \brief Counters of one port. \retval E_NOTFOUND  It has none yet. \retval E_NOTREADY */
int read_port_counters(struct stats_reader *r, uint64_t node_guid, uint8_t port,
                       struct arena *a, struct port_counters *ret_counters);
