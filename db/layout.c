/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/layout.h"

#include "db/env.h"

#define NAME(id, name, ...) #name,
static const char *const state_tables[] = { STATE_TABLES(NAME) NULL };
static const char *const stats_tables[] = { STATS_TABLES(NAME) NULL };
static const char *const snapshot_tables[] = { SNAP_TABLES(NAME, NAME, NAME, NAME) NULL };
#undef NAME

_Static_assert((int)SNAP_TABLE_COUNT < (int)DB_TABLES_MAX, "tables of an environment");
_Static_assert(SNAP_CLIENT_TABLE(RECORDS_SUBSCRIPTIONS) == SNAP_SUBSCRIPTIONS &&
                       SNAP_CLIENT_TABLE(RECORDS_GROUPS) == SNAP_GROUPS &&
                       SNAP_CLIENT_TABLE(RECORDS_MEMBERS) == SNAP_MEMBERS,
               "client records are in the order of enum record_table");

const struct db_kind kind_state = {
	.name = "state",
	.option = "--state-dir",
	.layout = LAYOUT_STATE,
	.oldest = LAYOUT_STATE_OLDEST,
	.tables = state_tables,
	.map_bytes = UINT64_C(8) << 30,
};

const struct db_kind kind_snapshot = {
	.name = "snapshot",
	.option = "--snapshot-dir",
	.layout = LAYOUT_SNAPSHOT,
	.tables = snapshot_tables,
	.flags = MDB_NOSYNC,
	.map_bytes = UINT64_C(64) << 30,
	.shared = true,
	.rebuilt = true,
};

const struct db_kind kind_stats = {
	.name = "stats",
	.option = "--snapshot-dir",
	.layout = LAYOUT_STATS,
	.tables = stats_tables,
	.flags = MDB_NOSYNC,
	.map_bytes = UINT64_C(256) << 20,
	.shared = true,
	.rebuilt = true,
};
