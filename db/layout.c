/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/layout.h"

/* clang-format off */
static const char *const state_tables[] = {
	[STATE_LAYOUT] = "layout",
	[STATE_LIDS]   = "lids",
	[STATE_EPOCH]  = "epoch",
	[STATE_SERVICES] = "services",
	[STATE_SUBSCRIPTIONS] = "subscriptions",
	[STATE_GROUPS] = "groups",
	[STATE_MEMBERS] = "members",
	[STATE_GUIDS] = "guids",
	[STATE_ALIASES] = "aliases",
	[STATE_TABLE_COUNT] = NULL
};

static const char *const snapshot_tables[] = {
	[SNAP_LAYOUT]     = "layout",
	[SNAP_META]       = "meta",
	[SNAP_OPTIONS]    = "options",
	[SNAP_NODES]      = "nodes",
	[SNAP_PORTS]      = "ports",
	[SNAP_LINKS]      = "links",
	[SNAP_NAMES]      = "names",
	[SNAP_GUIDS]      = "guids",
	[SNAP_LIDS]       = "lids",
	[SNAP_ATTRS]      = "attrs",
	[SNAP_LFT]        = "lft",
	[SNAP_PATHS]      = "paths",
	[SNAP_VLS]        = "vls",
	[SNAP_PARTITIONS] = "partitions",
	[SNAP_LOAD]       = "load",
	[SNAP_P_KEY_SETS] = "p_key_sets",
	[SNAP_PREFIX_ROUTES] = "prefix_routes",
	[SNAP_ALTERNATES] = "alternates",
	[SNAP_PORT_GROUPS] = "port_groups",
	[SNAP_SERVICES]   = "services",
	[SNAP_SUBSCRIPTIONS] = "subscriptions",
	[SNAP_GROUPS]     = "groups",
	[SNAP_MEMBERS]    = "members",
	[SNAP_POLICY]     = "policy",
	[SNAP_TABLE_COUNT] = NULL
};

static const char *const stats_tables[] = {
	[STATS_LAYOUT] = "layout",
	[STATS_META]   = "meta",
	[STATS_VALUES] = "values",
	[STATS_TABLE_COUNT] = NULL
};
/* clang-format on */

const struct db_kind kind_state = {
	.name = "state",
	.option = "--state-dir",
	.layout = 4,
	.oldest = 1,
	.tables = state_tables,
	.map_bytes = UINT64_C(8) << 30,
};

const struct db_kind kind_snapshot = {
	.name = "snapshot",
	.option = "--snapshot-dir",
	.layout = 6,
	.tables = snapshot_tables,
	.flags = MDB_NOSYNC,
	.map_bytes = UINT64_C(64) << 30,
	.shared = true,
};

const struct db_kind kind_stats = {
	.name = "stats",
	.option = "--snapshot-dir",
	.layout = 1,
	.tables = stats_tables,
	.flags = MDB_NOSYNC,
	.map_bytes = UINT64_C(256) << 20,
	.shared = true,
};
