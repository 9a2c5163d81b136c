/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/lmdb/layout.h"

#include <string.h>

#include "conf/base/err.h"
#include "db/lmdb/txn.h"

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

enum { ROW_LID_UNTIL_4 = 8, LID_MOST = 0xffffff, LMC_MOST = 7 };

/* LIDs get the fields that they lacked: no port is known to be gone. */
static void convert_state(struct db_txn *t)
{
	struct db_val k, v;
	int ret = db_seek(t, STATE_LIDS, NULL, 0, &k, &v);

	while (ret == E_OK) {
		uint8_t key[8];
		struct row_lid row = { 0 };

		if (k.len == sizeof(key) && v.len == ROW_LID_UNTIL_4) {
			memcpy(key, k.data, sizeof(key));
			memcpy(&row, v.data, v.len);
			db_put(t, STATE_LIDS, key, sizeof(key), &row, sizeof(row));
		}
		ret = db_next(t, STATE_LIDS, &k, &v);
	}
}

/* LIDs and numbers. Client records and partitions are read by others, who refuse them at the start. */
static bool state_is_sound(unsigned table, const struct db_val *key,
                           const struct db_val *val)
{
	struct row_lid row = { 0 };

	if (table == STATE_EPOCH) {
		return val->len == sizeof(uint64_t);
	}
	if (table != STATE_LIDS) {
		return true;
	}
	if (key->len != sizeof(uint64_t) ||
	    (val->len != sizeof(row) && val->len != ROW_LID_UNTIL_4)) {
		return false;
	}
	memcpy(&row, val->data, val->len);
	return row.base != 0 && row.base <= LID_MOST && row.lmc <= LMC_MOST &&
	       row.base % (1u << row.lmc) == 0;
}

const struct db_kind kind_state = {
	.name = "state",
	.option = "--state-dir",
	.layout = LAYOUT_STATE,
	.oldest = LAYOUT_STATE_OLDEST,
	.convert = convert_state,
	.is_sound = state_is_sound,
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
	/* 80,000 ports with the longest history of counters, twice while a row is replaced */
	.map_bytes = UINT64_C(4) << 30,
	.shared = true,
	.rebuilt = true,
};
