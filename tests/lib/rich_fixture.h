/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/stats/stats.h"
#include "tests/lib/query_fixture.h"

/*!
 * The small fabric of query_fixture.h as a gateway sees it that has something of everything to show:
 * partitions, client records, subnet managers, an event of each kind, counters.
 */
void rich_fixture_start(struct query_fixture **ret_fixture, struct stats **ret_stats);

void rich_fixture_stop(struct query_fixture *w, struct stats *stats);
