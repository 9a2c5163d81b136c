/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * ServiceRecord (IBA vol. 1, 15.2.5.14): services that hosts registered, each with a lease.
 * ServiceID, ServiceGID and ServiceP_Key identify a record. They are its first bytes, so these
 * are the key of its row.
 *
 * A requester sees the services of its partitions. A ServiceGID has the prefix of this subnet, or the
 * link-local one, or is of a multicast group; others are refused as invalid. A service belongs to the node with its
 * ServiceGID: the ports of that node, and requesters with the SM_Key, register, change and
 * delete it, and nobody else, so that no host can take the place of another. The service of a
 * multicast group belongs to the port that set it and to those who know its ServiceKey.
 *
 * With sa_own_records off it is as in OpenSM: a requester may change every service that has
 * no ServiceKey; one with a ServiceKey may be changed by the port that set it and by
 * requesters with that key or the SM_Key.
 *
 * A record is no longer valid in the second in which its lease ends, even if its row still
 * exists.
 */
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "db/snapshot/reader.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "sa/record/client_records.h"
#include "sa/record/rec_int.h"
#include "sa/store/alias.h"
#include "sa/store/service.h"
#include "sa/store/store.h"

enum {
	SR_ID,
	SR_GID,
	SR_P_KEY,
	SR_LEASE = 4,
	SR_KEY,
	ID_BYTES = 8,
	KEY_AT = 32,
	KEY_BYTES = 16,
	GID_PREFIX_BIT = 64, /* the parts of ServiceGID */
	GID_GUID_BIT = 128
};
#define LEASE_FOR_EVER UINT32_MAX
#define P_KEY_DEFAULT 0xffff
#define LINK_LOCAL_PREFIX UINT64_C(0xfe80000000000000)
/* The same from programs that swap the bytes of its 16 bits, as osmtest does. */
#define LINK_LOCAL_SWAPPED UINT64_C(0x00000000000080fe)

/* clang-format off */
static const struct sa_field service_fields[] = {
	{ "ServiceID",          0,  64, SA_EQ },
	{ "ServiceGID",        64, 128, SA_EQ },
	{ "ServiceP_Key",     192,  16, SA_EQ },
	{ "Reserved",         208,  16, SA_RESERVED },
	{ "ServiceLease",     224,  32, SA_EQ },
	SERVICE_FIELDS(256),
};
/* clang-format on */

static uint64_t get(const uint8_t *record, unsigned component)
{
	const struct sa_field *f = &service_fields[component];

	return field_get(record, f->bit, f->width);
}

static void put(uint8_t *record, int component, uint64_t value)
{
	sa_put(&rec_service, record, component, value);
}

/* Whether an end port has a P_Key; all end ports have P_Key 0. */
static bool has_p_key(struct snap_reader *r, const struct snap_end *end, uint64_t p_key)
{
	uint16_t found;

	return (p_key & P_KEY_BASE) == 0 ||
	       (end->port_guid != 0 &&
	        snap_common_p_key(r, end, end, (uint16_t)p_key, &found) == E_OK);
}

static bool sees(struct snap_reader *r, const struct sa_query *q, const uint8_t *record)
{
	return q->requester == NULL || has_p_key(r, q->requester, get(record, SR_P_KEY));
}

static const uint8_t *record_of(const struct store_row *row)
{
	return store_value(row) + SERVICE_OWNER_BYTES;
}

static uint32_t lease_left(int64_t expires, int64_t now)
{
	return expires == STORE_FOR_EVER ? LEASE_FOR_EVER : (uint32_t)(expires - now);
}

static void offer(const struct sa_query *q, const uint8_t *record, struct sa_out *out)
{
	sa_offer_without(out, record, q->trusted ? SA_NONE : SR_KEY);
}

static void offer_row(struct snap_reader *r, const struct sa_query *q,
                      const struct client_record *row, struct sa_out *out)
{
	uint8_t record[SERVICE_RECORD_BYTES];
	int64_t now = client_record_now(q);

	sa_at_row(out, row->row.key, row->row.key_len);
	if (row->row.len != SERVICE_ROW_BYTES || row->expires <= now) {
		return;
	}
	memcpy(record, row->row.value + SERVICE_OWNER_BYTES, sizeof(record));
	if (sees(r, q, record)) {
		put(record, SR_LEASE, lease_left(row->expires, now));
		offer(q, record, out);
	}
}

static int service_walk(struct snap_reader *r, const struct sa_query *q,
                        struct sa_out *out)
{
	bool by_id = sa_asked(q, SR_ID);
	struct client_walk w;
	struct client_record row;
	int ret =
		client_record_seek_page(r, q, RECORDS_SERVICES, by_id ? q->record : NULL,
	                                by_id ? ID_BYTES : 0, &w, &row);

	while (ret == E_OK && !sa_full(out)) {
		if (by_id && !client_record_has_prefix(&row, q->record, ID_BYTES)) {
			break;
		}
		offer_row(r, q, &row, out);
		ret = client_record_next(&w, &row);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

void service_hide(uint8_t *value, size_t len)
{
	if (len == SERVICE_ROW_BYTES) {
		memset(value + SERVICE_OWNER_BYTES + KEY_AT, 0, KEY_BYTES);
	}
}

static const struct store_row *find_row(const struct sa_query *q, const uint8_t *record)
{
	const struct store_row *row =
		store_find(q->store, RECORDS_SERVICES, record, SERVICE_KEY_BYTES);

	return row != NULL && row->len == SERVICE_ROW_BYTES &&
	                       row->expires > store_now(q->store)
	               ? row
	               : NULL;
}

static bool is_of_group(const uint8_t *record)
{
	return record[ID_BYTES] == 0xff;
}

/* Whether the ServiceGID may be of a port here: any other one names a port of another subnet, of which
 * nobody here may speak. OpenSM looks at the GUID alone. */
static bool is_of_subnet(struct snap_reader *r, const uint8_t *record)
{
	uint64_t prefix = field_get(record, GID_PREFIX_BIT, 64);

	return is_of_group(record) || prefix == snap_meta(r)->subnet_prefix ||
	       prefix == LINK_LOCAL_PREFIX || prefix == LINK_LOCAL_SWAPPED;
}

/* Whether the ServiceGID is one of the requester's node. */
static bool is_own(struct snap_reader *r, const struct sa_query *q, const uint8_t *record)
{
	struct snap_end end;

	return alias_port(r, q->store, field_get(record, GID_GUID_BIT, 64), &end) ==
	               E_OK &&
	       end.node_guid == q->requester->node_guid;
}

/* Whether the requester may change a record. */
static bool may_change(struct snap_reader *r, const struct sa_query *q,
                       const struct store_row *row)
{
	static const uint8_t none[KEY_BYTES];
	const uint8_t *key = record_of(row) + KEY_AT;
	bool keyless = memcmp(key, none, KEY_BYTES) == 0;

	if (q->trusted) {
		return true;
	}
	if (q->own_records && !is_of_group(record_of(row))) {
		return is_own(r, q, record_of(row));
	}
	return field_get(store_value(row), 0, 64) == q->requester->port_guid ||
	       (keyless && !q->own_records) ||
	       (!keyless && memcmp(key, q->record + KEY_AT, KEY_BYTES) == 0);
}

/* Whether the requester and the port of the service are in the partition of the service. */
static bool may_register(struct snap_reader *r, const struct sa_query *q,
                         const uint8_t *record)
{
	struct snap_end end;
	uint64_t p_key = get(record, SR_P_KEY);

	if (!has_p_key(r, q->requester, p_key)) {
		return false;
	}
	if (is_of_group(record)) {
		return true;
	}
	return alias_port(r, q->store, field_get(record, GID_GUID_BIT, 64), &end) ==
	               E_OK &&
	       has_p_key(r, &end, p_key);
}

static int service_set(struct snap_reader *r, const struct sa_query *q,
                       struct sa_out *out)
{
	uint8_t value[SERVICE_ROW_BYTES], *record = value + SERVICE_OWNER_BYTES;

	field_set(value, 0, 64, q->requester->port_guid);
	memcpy(record, q->record, SERVICE_RECORD_BYTES);
	if (!sa_asked(q, SR_ID) || !sa_asked(q, SR_GID) || q->requester->port_guid == 0) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_INVALID);
	}
	if (!is_of_subnet(r, record)) {
		return sa_refuse(out, UMAD_SA_STATUS_INVALID_GID);
	}
	if (!sa_asked(q, SR_P_KEY)) {
		put(record, SR_P_KEY, P_KEY_DEFAULT);
	} else if (!may_register(r, q, record)) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_INVALID);
	}
	if (q->own_records && !q->trusted && !is_of_group(record) &&
	    !is_own(r, q, record)) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_DENIED);
	}
	if (!sa_asked(q, SR_LEASE)) {
		put(record, SR_LEASE, LEASE_FOR_EVER);
	}
	const struct store_row *row = find_row(q, record);
	if (row != NULL && !may_change(r, q, row)) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_DENIED);
	}
	uint64_t lease = get(record, SR_LEASE);
	int64_t expires = lease == LEASE_FOR_EVER ? STORE_FOR_EVER
	                                          : store_now(q->store) + (int64_t)lease;
	int ret = store_put(q->store, RECORDS_SERVICES, record, SERVICE_KEY_BYTES,
	                    expires, value, sizeof(value));
	if (ret == E_OK) {
		offer(q, record, out);
	}
	return ret;
}

/* Deletes the record with the RID of the request, also without its bits in the mask. */
static int service_delete(struct snap_reader *r, const struct sa_query *q,
                          struct sa_out *out)
{
	uint8_t record[SERVICE_RECORD_BYTES];

	memcpy(record, q->record, sizeof(record));
	const struct store_row *row = find_row(q, record);
	if (row == NULL && !sa_asked(q, SR_P_KEY)) {
		put(record, SR_P_KEY, P_KEY_DEFAULT);
		row = find_row(q, record);
	}
	if (row == NULL || !sees(r, q, record_of(row))) {
		return E_NOTFOUND;
	}
	if (!may_change(r, q, row)) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_DENIED);
	}
	memcpy(record, record_of(row), sizeof(record));
	put(record, SR_LEASE, lease_left(row->expires, store_now(q->store)));
	int ret = store_drop(q->store, RECORDS_SERVICES, record, SERVICE_KEY_BYTES);
	if (ret == E_OK) {
		offer(q, record, out);
	}
	return ret;
}

const struct sa_attr rec_service = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_SERVICE_REC,
	.name = "ServiceRecord",
	.methods = SA_GET | SA_GETTABLE | SA_SET | SA_DELETE,
	.size = SERVICE_RECORD_BYTES,
	SA_FIELDS(service_fields),
	.client_records = true,
	.walk = service_walk,
	.set = service_set,
	.del = service_delete,
};
