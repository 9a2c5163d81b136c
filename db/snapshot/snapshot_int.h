/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/lmdb/layout.h"
#include "db/lmdb/pins.h"
#include "db/snapshot/history.h"

/*! The writer of a snapshot, for publish and mirror. Private to this room. */
struct snap_writer {
	struct db *db;
	struct pins pins;
	struct history history;
	struct row_meta last; /*!< head of the newest epoch, without its texts */
};
