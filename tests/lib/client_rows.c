/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/client_rows.h"

static uint8_t *written_row(struct written_rows *rows, enum record_table table,
                            const void *key, size_t key_len, int64_t expires,
                            const void *value, size_t len)
{
	size_t i = rows->n++;

	memcpy(rows->key[i], key, key_len);
	memcpy(rows->value[i], &expires, sizeof(expires));
	memcpy(rows->value[i] + sizeof(expires), value, len);
	rows->row[i] = (struct client_row){ rows->key[i], rows->value[i], table,
		                            (uint16_t)key_len,
		                            (uint16_t)(sizeof(expires) + len) };
	return rows->value[i] + sizeof(expires);
}

static void written_service(struct written_rows *rows, uint64_t id, int64_t expires)
{
	uint8_t value[SERVICE_ROW_BYTES] = { 0 }, *record = value + SERVICE_OWNER_BYTES;

	field_set(value, 0, 64, HOST + 1);
	field_set(record, 0, 64, id);
	field_set(record, 64, 64, FIXTURE_PREFIX);
	field_set(record, 128, 64, HOST + 1);
	field_set(record, 192, 16, 0xffff);
	snprintf((char *)record + 48, 64, "service %u", (unsigned)id);
	record[112] = (uint8_t)id; /* ServiceData8.1 */
	written_row(rows, RECORDS_SERVICES, record, SERVICE_KEY_BYTES, expires, value,
	            sizeof(value));
}

static void written_subscription(struct written_rows *rows, uint64_t guid, unsigned trap)
{
	struct subscription s = { .qpn = 0x77, .number = (uint16_t)(trap - 64) };
	uint8_t key[SUBSCRIPTION_KEY_BYTES] = { 0 };

	field_set(key, 0, 64, guid);
	field_set(key + 8, INF_LID_RANGE_BEGIN, INFORM_ALL_LIDS);
	field_set(key + 8, INF_IS_GENERIC, 1);
	field_set(key + 8, INF_SUBSCRIBE, 1);
	field_set(key + 8, INF_TRAP_NUMBER, trap);
	field_set(key + 8, INF_QPN, 0x77);
	written_row(rows, RECORDS_SUBSCRIPTIONS, key, sizeof(key), STORE_FOR_EVER, &s,
	            sizeof(s));
}

static void written_group(struct written_rows *rows, uint64_t top, uint64_t low,
                          unsigned mlid, bool well_known)
{
	struct mcast_group_row g = { .well_known = well_known };

	field_set(g.record, 0, 64, top);
	field_set(g.record, 64, 64, low);
	mcast_put(g.record, MC_Q_KEY, 0xb1b);
	mcast_put(g.record, MC_MLID, mlid);
	mcast_put(g.record, MC_MTU_SELECTOR, MC_EXACTLY);
	mcast_put(g.record, MC_MTU, 4);
	mcast_put(g.record, MC_P_KEY, 0xffff);
	mcast_put(g.record, MC_RATE_SELECTOR, MC_EXACTLY);
	mcast_put(g.record, MC_RATE, 3);
	mcast_put(g.record, MC_LIFE_SELECTOR, MC_EXACTLY);
	mcast_put(g.record, MC_LIFE, 18);
	written_row(rows, RECORDS_GROUPS, g.record, MGID_BYTES, STORE_FOR_EVER, &g,
	            sizeof(g));
}

static void written_member(struct written_rows *rows, uint64_t low, uint64_t guid,
                           unsigned join_state)
{
	struct mcast_member_row m = { .port_guid = guid,
		                      .join_state = (uint8_t)join_state };
	uint8_t key[MC_MEMBER_KEY_BYTES];

	field_set(key, 0, 64, WRITTEN_MGID_TOP);
	field_set(key, 64, 64, low);
	field_set(key, 128, 64, FIXTURE_PREFIX);
	field_set(key, 192, 64, guid);
	written_row(rows, RECORDS_MEMBERS, key, sizeof(key), STORE_FOR_EVER, &m,
	            sizeof(m));
}

void query_fixture_written(struct query_fixture *w)
{
	static struct written_rows rows;
	struct snap_published done;

	rows.n = 0;
	written_service(&rows, 1, STORE_FOR_EVER);
	written_service(&rows, 2, STORE_FOR_EVER);
	written_service(&rows, 3, 1000); /* long ago */
	written_service(&rows, 4, STORE_FOR_EVER);
	written_subscription(&rows, HOST + 1, 64);
	written_subscription(&rows, HOST + 1, 65);
	written_subscription(&rows, TWIN_2 + 1, 66);
	written_group(&rows, UINT64_C(0xff12401bffff0000), 0xffffffff, 0xc000, true);
	written_group(&rows, WRITTEN_MGID_TOP, 1, 0xc001, false);
	written_member(&rows, 1, HOST + 1, MC_FULL_MEMBER);
	written_member(&rows, 1, TWIN_1 + 1, MC_SEND_ONLY_NON_MEMBER);
	written_member(&rows, 1, TWIN_2 + 1, MC_FULL_MEMBER);
	MUST(snap_mirror(w->w, rows.row, rows.n, true, 1, &done) == E_OK);
	MUST(snap_pin(w->r) == E_OK);
}
