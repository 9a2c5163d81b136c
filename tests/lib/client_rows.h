/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/store/mcast.h"
#include "sa/store/service.h"
#include "sa/store/store.h"
#include "sa/store/subscription.h"
#include "tests/lib/query_fixture.h"

/*!
 * Records that clients wrote, mirrored into the snapshot of the small fabric: the broadcast
 * group without members, a group that the three hosts of WRITTEN_MEMBERS are in (TWIN_1
 * sends only), four services of which one has run out, three subscriptions.
 */
enum {
	WRITTEN_GROUPS = 2,
	WRITTEN_MEMBERS = 3,
	WRITTEN_SERVICES = 3,
	WRITTEN_SUBSCRIPTIONS = 3
};

#define WRITTEN_MGID_TOP UINT64_C(0xff18a01b00000000)

struct written_rows {
	struct client_row row[32];
	uint8_t key[32][64], value[32][256];
	size_t n;
};

void query_fixture_written(struct query_fixture *w);
