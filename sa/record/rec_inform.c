/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Event subscriptions: InformInfo (IBA vol. 1, 13.4.8.3), with which a port subscribes and
 * unsubscribes, and InformInfoRecord (15.2.5.12), which lists the subscriptions.
 *
 * A subscription is an InformInfo with its port and QP. Its scope is one port (GID), the ports
 * of a range of LIDs, or everything. The requester must share a P_Key with these ports. GID may
 * also be a multicast group of its partitions, or one that does not exist yet. Traps about keys
 * (256 to 259) need the SM_Key. sa/server/notice_report.h sends the reports.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "sa/record/client_records.h"
#include "sa/store/alias.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"
#include "sa/store/subscription.h"

enum { IIR_GID, IIR_ENUM, IIR_LID_BEGIN = 4, IIR_LID_END };
enum {
	INFORM_RID = 192, /* bits of the RID, which is SubscriberGID and Enum */
	RECORD_BYTES = INFORM_RID / 8 + INFORM_BYTES + 4,
	MULTICAST_GID = 0xff, /* its first byte */
	PER_PORT = 256        /* most subscriptions of one port */
};

/* clang-format off */
#define INFORM_FIELDS(base, how) \
	{ "GID",           (base),       128, how }, \
	{ "LIDRangeBegin", (base) + 128,  16, how }, \
	{ "LIDRangeEnd",   (base) + 144,  16, how }, \
	{ "Reserved",      (base) + 160,  16, SA_RESERVED }, \
	{ "IsGeneric",     (base) + 176,   8, how }, \
	{ "Subscribe",     (base) + 184,   8, how }, \
	{ "Type",          (base) + 192,  16, how }, \
	{ "TrapNumber",    (base) + 208,  16, how }, \
	{ "QPN",           (base) + 224,  24, how }, \
	{ "Reserved",      (base) + 248,   3, SA_RESERVED }, \
	{ "RespTimeValue", (base) + 251,   5, how }, \
	{ "Reserved",      (base) + 256,   8, SA_RESERVED }, \
	{ "ProducerType",  (base) + 264,  24, how }

static const struct sa_field inform_fields[] = {
	INFORM_FIELDS(0, SA_INPUT),
};

static const struct sa_field record_fields[] = {
	{ "SubscriberGID",   0, 128, SA_EQ },
	{ "Enum",          128,  16, SA_EQ },
	{ "Reserved",      144,  48, SA_RESERVED },
	INFORM_FIELDS(INFORM_RID, SA_EQ),
};
/* clang-format on */

/* --- InformInfoRecord --------------------------------------------------------------- */

/* The upper bits of LIDs, which no component of InfiniBand's layout has. */
static bool has_high_bits(const struct sa_query *q, const uint8_t *inform)
{
	const uint8_t *asked = q->record + INFORM_RID / 8;

	return q->shown == NULL || ((!sa_asked(q, IIR_LID_BEGIN) ||
	                             field_get(asked, INF_LID_BEGIN_HIGH) ==
	                                     field_get(inform, INF_LID_BEGIN_HIGH)) &&
	                            (!sa_asked(q, IIR_LID_END) ||
	                             field_get(asked, INF_LID_END_HIGH) ==
	                                     field_get(inform, INF_LID_END_HIGH)));
}

/* LIDs as InfiniBand's layout says them: none where it has no room. */
static void narrow(uint8_t *inform)
{
	uint32_t begin = inform_lid_begin(inform), end = inform_lid_end(inform);

	inform_put_lids(inform, begin > INFORM_ALL_LIDS ? 0 : begin,
	                end > INFORM_ALL_LIDS ? 0 : end);
}

static void offer_row(struct snap_reader *r, const struct sa_query *q,
                      const struct client_row *row, struct sa_out *out)
{
	uint8_t record[RECORD_BYTES] = { 0 };
	struct subscription s;
	struct snap_end end;

	sa_at_row(out, row->key, row->key_len);
	if (row->key_len != SUBSCRIPTION_KEY_BYTES || row->len != sizeof(s) ||
	    !has_high_bits(q, row->key + 8) ||
	    snap_port_guid(r, field_get(row->key, 0, 64), &end) != E_OK ||
	    !sa_sees(r, q, &end)) {
		return;
	}
	memcpy(&s, row->value, sizeof(s));
	field_set(record, 0, 64, snap_meta(r)->subnet_prefix);
	memcpy(record + 8, row->key, 8);
	sa_put(&rec_inform_info_record, record, IIR_ENUM, s.number);
	memcpy(record + INFORM_RID / 8, row->key + 8, INFORM_BYTES);
	field_set(record + INFORM_RID / 8, INF_OMNI_PATH, 0);
	if (q->shown == NULL) {
		narrow(record + INFORM_RID / 8);
	}
	if (q->store == NULL || (q->requester != NULL && !q->trusted)) {
		field_set(record + INFORM_RID / 8, INF_QPN, 0);
	}
	sa_offer(out, record);
}

static int record_walk(struct snap_reader *r, const struct sa_query *q,
                       struct sa_out *out)
{
	const uint8_t *guid = q->record + 8;
	bool by_gid = sa_asked(q, IIR_GID);
	struct client_walk w;
	struct client_record row;
	int ret = client_record_seek_page(r, q, RECORDS_SUBSCRIPTIONS, guid,
	                                  by_gid ? 8 : 0, &w, &row);

	while (ret == E_OK && !sa_full(out)) {
		if (by_gid && !client_record_has_prefix(&row, guid, 8)) {
			break;
		}
		offer_row(r, q, &row.row, out);
		ret = client_record_next(&w, &row);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* --- InformInfo --------------------------------------------------------------------- */

/* Whether there is a port in a range of LIDs, and the requester sees all of them. */
static bool may_see_lids(struct snap_reader *r, const struct sa_query *q, uint32_t begin,
                         uint32_t end)
{
	struct snap_end port;
	uint32_t top = snap_meta(r)->top_lid, lid = begin;

	if (begin == INFORM_ALL_LIDS) {
		return true;
	}
	end = end == 0 ? begin : end;
	end = end > top ? top : end;
	if (begin > end) {
		return false;
	}
	while (sa_end_from(r, &lid, &port) == E_OK && port.base_lid <= end) {
		if (!sa_sees(r, q, &port)) {
			return false;
		}
	}
	return true;
}

static bool may_subscribe(struct snap_reader *r, const struct sa_query *q,
                          const uint8_t *inform)
{
	struct mcast_group_row group;
	struct snap_end port;
	uint64_t guid = field_get(inform, INF_GID_GUID);
	unsigned trap = (unsigned)field_get(inform, INF_TRAP_NUMBER);

	if (field_get(inform, INF_IS_GENERIC) && trap >= UMAD_SM_BAD_MKEY_TRAP &&
	    trap <= UMAD_SM_BAD_SWITCH_PKEY_TRAP && !q->trusted) {
		return false;
	}
	if (inform[0] == MULTICAST_GID) {
		return !mcast_group_find(q->store, inform, &group) ||
		       mcast_has_p_key(r, q->requester,
		                       (uint16_t)mcast_get(group.record, MC_P_KEY));
	}
	if (guid != 0 || field_get(inform, INF_GID_PREFIX) != 0) {
		return alias_port(r, q->store, guid, &port) == E_OK &&
		       sa_sees(r, q, &port);
	}
	return may_see_lids(r, q, inform_lid_begin(inform), inform_lid_end(inform));
}

static uint16_t number_of(const struct store_row *row)
{
	struct subscription s;

	memcpy(&s, store_value(row), sizeof(s));
	return s.number;
}

/* The lowest number that no subscription of the port has; PER_PORT: it has too many. */
static uint16_t free_number(const struct sa_query *q, const uint8_t *key)
{
	bool used[PER_PORT] = { false };
	const struct store_row *row =
		store_first_of_owner(q->store, RECORDS_SUBSCRIPTIONS, key);
	uint16_t number = 0;

	for (; row != NULL;
	     row = store_next_of_owner(q->store, RECORDS_SUBSCRIPTIONS, row)) {
		if (row->len == sizeof(struct subscription) &&
		    number_of(row) < PER_PORT) {
			used[number_of(row)] = true;
		}
	}
	while (number < PER_PORT && used[number]) {
		number++;
	}
	return number;
}

static int subscribe(const struct sa_query *q, const uint8_t *key)
{
	const struct store_row *old =
		store_find(q->store, RECORDS_SUBSCRIPTIONS, key, SUBSCRIPTION_KEY_BYTES);
	struct subscription s = {
		.qpn = q->back->qpn,
		.pkey_index = q->back->pkey_index,
		.number = old != NULL && old->len == sizeof(s) ? number_of(old)
		                                               : free_number(q, key),
		.sl = q->back->sl,
		.trusted = q->trusted,
	};

	return s.number == PER_PORT
	               ? E_FULL
	               : store_put(q->store, RECORDS_SUBSCRIPTIONS, key,
	                           SUBSCRIPTION_KEY_BYTES, STORE_FOR_EVER, &s, sizeof(s));
}

static int inform_set(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	uint8_t key[SUBSCRIPTION_KEY_BYTES], *inform = key + 8;
	uint64_t on = field_get(q->record, INF_SUBSCRIBE);

	memcpy(inform, q->record, INFORM_BYTES);
	if (on > 1 || q->requester->port_guid == 0 || q->back == NULL) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_INVALID);
	}
	field_set(key, 0, 64, q->requester->port_guid);
	field_set(inform, INF_SUBSCRIBE, 1);
	field_set(inform, INF_QPN, q->back->qpn);
	field_set(inform, INF_OMNI_PATH, q->shown != NULL);
	if (q->shown == NULL) { /* reserved there */
		field_set(inform, INF_LID_BEGIN_HIGH, 0);
		field_set(inform, INF_LID_END_HIGH, 0);
	}
	if (on && !may_subscribe(r, q, inform)) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_INVALID);
	}
	int ret = on ? subscribe(q, key)
	             : store_drop(q->store, RECORDS_SUBSCRIPTIONS, key, sizeof(key));
	if (ret == E_NOTFOUND) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_INVALID);
	}
	if (ret == E_OK) {
		sa_offer(out, q->record);
	}
	return ret;
}

const struct sa_attr rec_inform_info = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_ATTR_INFORM_INFO,
	.name = "InformInfo",
	.methods = SA_SET,
	.size = INFORM_BYTES,
	SA_FIELDS(inform_fields),
	.client_records = true,
	.set = inform_set,
};

const struct sa_attr rec_inform_info_record = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_INFORM_INFO_REC,
	.name = "InformInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RECORD_BYTES,
	SA_FIELDS(record_fields),
	.client_records = true,
	.walk = record_walk,
};
