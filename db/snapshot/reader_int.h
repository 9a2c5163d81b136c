/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/lmdb/view.h"
#include "db/snapshot/reader.h"

/*! The inside of a snapshot reader, for the files reader*.c. Private to this room. */

/*! Address of a chunk. \a len 0: it is not stored. \a data NULL: not looked up yet. */
struct chunk {
	const uint8_t *data;
	uint32_t len;
};

enum { SL_LEVELS = 16 }; /*!< QoS levels that are kept; an SL has four bits */

/*! Chunks of one row of `paths`. */
struct path_chunks {
	uint64_t guid; /*!< of the switch, 0: unused */
	struct chunk *chunk;
};

/*! A cache that another file of the family keeps for one epoch. */
enum epoch_cache { CACHE_P_KEYS, CACHE_ENDS, CACHE_GUIDS, CACHE_POLICY, CACHE_COUNT };

/*! Rows that were looked up in one epoch. */
struct epoch_data {
	struct chunk *lids;
	uint32_t n_lid_rows;
	struct path_chunks *paths; /*!< by row */
	uint32_t n_paths, n_path_chunks;
	struct chunk sls[SL_LEVELS];
	struct {
		void *data; /*!< NULL: not made yet */
		void (*free)(void *data);
	} cache[CACHE_COUNT];
};

struct snap_reader {
	struct db *db;
	struct view view;
	struct snap_meta meta;
	char *texts;             /*!< of meta */
	struct epoch_data epoch; /*!< of the pinned epoch */
	struct epoch_data
		parked; /*!< of the epoch that was unpinned, in case it is pinned again */
};

/*! \brief Reader on an open environment, of which a reference is taken. */
int snap_reader_new(struct db *db, bool foreign, struct snap_reader **ret_reader);
