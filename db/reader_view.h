/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

struct db;
struct snap_reader;
struct view;

/*! \brief Reader on an open environment, of which a reference is taken. Private to this
 * room. */
int snap_reader_new(struct db *db, bool foreign, struct snap_reader **ret);

/*! \brief What a reader reads through. Private to this room. */
struct view *snap_view(struct snap_reader *r);
