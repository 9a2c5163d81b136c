/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * GUIDInfoRecord (IBA vol. 1, 15.2.5.18): the GUIDs of an end port in blocks of eight. The first
 * one is its PortGUID. Clients Set and Delete the others, its alias GUIDs, by the bits of the
 * component mask; so a virtual machine keeps its GUID when it moves to another host.
 *
 * A Set has a GUID, or 0 to let the SM assign one to an empty place. Two cases leave a place
 * unchanged: the GUID is in use elsewhere, or the port is a member of a multicast group by the
 * old one. As with OpenSM the status is good, and the response has the block as it is then. A
 * Delete of a GUID by which the port is a member is refused as a whole.
 *
 * A GUID that the SM assigns is OpenFabrics' company ID, the option sm_assigned_guid, a byte of
 * zero and a number of 24 bits. The number is a hash of port and place, or the next free one, so
 * that a port gets the same GUID again.
 *
 * A block may be changed by its own port and by requesters with the SM_Key. Virtual ports have no
 * such records, because the layout of their table is not published.
 */
#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "sa/mad/wire.h"
#include "sa/record/rec_int.h"
#include "sa/record/record.h"
#include "sa/store/alias.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"

enum { SHIFT = 8, NUMBERS = 1 << 24 };
enum { GIR_LID, GIR_BLOCK, GIR_GUID = 4 };

#define OPENFABRICS_GUIDS (UINT64_C(0x001405) << 40)

/* clang-format off */
static const struct sa_field guid_fields[] = {
	{ "LID",           0, 16, SA_INPUT },
	{ "BlockNum",     16,  8, SA_EQ },
	{ "Reserved",     24,  8, SA_RESERVED },
	{ "Reserved",     32, 32, SA_RESERVED },
	{ "GUID0",    RID,       64, SA_EQ },
	{ "GUID1",    RID +  64, 64, SA_EQ },
	{ "GUID2",    RID + 128, 64, SA_EQ },
	{ "GUID3",    RID + 192, 64, SA_EQ },
	{ "GUID4",    RID + 256, 64, SA_EQ },
	{ "GUID5",    RID + 320, 64, SA_EQ },
	{ "GUID6",    RID + 384, 64, SA_EQ },
	{ "GUID7",    RID + 448, 64, SA_EQ },
};
/* clang-format on */

/* Adds what clients have set since the snapshot was published. */
static bool fit_guid_info(struct snap_reader *r, const struct sa_query *q,
                          uint8_t *record)
{
	struct snap_end end;
	struct alias_block b;

	if (q->store != NULL && store_count(q->store, RECORDS_GUIDS) != 0 &&
	    snap_lid(r, (uint32_t)field_get(record, 0, 16), &end) == E_OK &&
	    alias_block(q->store, end.port_guid, record[2], &b)) {
		alias_overlay(&b, record + RID_BYTES);
	}
	return true;
}

/* --- Set and Delete --------------------------------------------------------------- */

struct change {
	struct snap_reader *r;
	const struct sa_query *q;
	struct sa_out *out;
	struct snap_end end;
	unsigned block;
	unsigned n;                       /* number of places in the block */
	struct alias_block wanted;        /* what clients set */
	uint8_t guids[ALIAS_BLOCK_BYTES]; /* the GUIDs in the port, wire order */
};

static uint64_t at(const struct change *c, unsigned i)
{
	return field_get(c->guids, 64 * i, 64);
}

static bool is_asked(const struct change *c, unsigned i)
{
	return i < c->n && sa_asked(c->q, GIR_GUID + i);
}

static int read_block(struct change *c)
{
	const uint8_t *data;
	int ret = alias_published(c->r, &c->end, c->block, &data);

	if (ret == E_OK) {
		memcpy(c->guids, data, sizeof(c->guids));
	} else if (ret != E_NOTFOUND) {
		return ret;
	}
	if (c->block == 0) {
		field_set(c->guids, 0, 64, c->end.port_guid);
	}
	(void)alias_block(c->q->store, c->end.port_guid, c->block, &c->wanted);
	alias_overlay(&c->wanted, c->guids);
	return E_OK;
}

static int read_port(struct change *c, unsigned *ret_cap)
{
	const uint8_t *info;
	uint16_t len;
	int ret = snap_attr(c->r, UMAD_SM_ATTR_PORT_INFO, c->end.node_guid, c->end.port,
	                    &info, &len);

	*ret_cap = ret == E_OK && len >= 64 ? (unsigned)field_get(info, PI_GUID_CAP) : 0;
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int read_request(struct change *c)
{
	const struct sa_query *q = c->q;
	unsigned cap;

	if (!sa_asked(q, GIR_LID) || !sa_asked(q, GIR_BLOCK)) {
		return sa_refuse(c->out, UMAD_SA_STATUS_INSUF_COMPS);
	}
	int ret = snap_lid(c->r, (uint32_t)sa_component(q, GIR_LID), &c->end);
	if (ret != E_OK) {
		return ret;
	}
	c->block = (unsigned)sa_component(q, GIR_BLOCK);
	if (!sa_sees(c->r, q, &c->end) || !sa_has_records(c->r, q, &c->end)) {
		return E_NOTFOUND;
	}
	ret = read_port(c, &cap);
	if (ret != E_OK || c->block * ALIAS_BLOCK_GUIDS >= cap) {
		return ret != E_OK ? ret : E_NOTFOUND;
	}
	c->n = cap - c->block * ALIAS_BLOCK_GUIDS;
	c->n = c->n < ALIAS_BLOCK_GUIDS ? c->n : ALIAS_BLOCK_GUIDS;
	if (c->block == 0 && sa_asked(q, GIR_GUID)) {
		return sa_refuse(c->out, UMAD_SA_STATUS_REQ_INVALID);
	}
	if (!q->trusted && q->requester->port_guid != c->end.port_guid) {
		return sa_refuse(c->out, UMAD_SA_STATUS_REQ_DENIED);
	}
	return read_block(c);
}

/* Whether the port is a member of a multicast group by the GUID in place i. */
static bool is_member_by(const struct change *c, unsigned i)
{
	return at(c, i) != 0 && mcast_is_member_by(c->q->store, c->end.port_guid, at(c, i));
}

/* \retval E_NOTFOUND  The GUID is free. */
static int find_guid(const struct change *c, uint64_t guid)
{
	struct snap_end end;

	for (unsigned i = 0; i < ALIAS_BLOCK_GUIDS; i++) {
		if (at(c, i) == guid) {
			return E_OK;
		}
	}
	return alias_port(c->r, c->q->store, guid, &end);
}

/* \retval E_FULL  All numbers are taken. */
static int choose_guid(const struct change *c, unsigned i, uint64_t *ret_guid)
{
	uint64_t first = OPENFABRICS_GUIDS | (uint64_t)c->q->sm_assigned_guid << 32;
	uint64_t place = c->block * ALIAS_BLOCK_GUIDS + i;
	uint64_t hash = (c->end.port_guid ^ place) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
	uint32_t number = (uint32_t)(hash >> 40);

	for (uint32_t k = 0; k < NUMBERS; k++) {
		uint64_t guid = first | ((number + k) & (NUMBERS - 1));
		struct alias_row row;

		if (guid == first || alias_find(c->q->store, guid, &row)) {
			continue;
		}
		int ret = find_guid(c, guid);
		if (ret == E_NOTFOUND) {
			*ret_guid = guid;
			return E_OK;
		}
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_FULL;
}

static void put_guid(struct change *c, unsigned i, uint64_t guid)
{
	field_set(c->guids, 64 * i, 64, guid);
	field_set(c->wanted.guid, 64 * i, 64, guid);
	c->wanted.owned |= (uint8_t)(1u << i);
}

/* Sets place i as requested, if that is possible. */
static int set_place(struct change *c, unsigned i)
{
	uint64_t guid = sa_component(c->q, GIR_GUID + i);
	int ret = E_NOTFOUND;

	if (guid == 0 && at(c, i) == 0) {
		ret = choose_guid(c, i, &guid);
		if (ret != E_OK) {
			return ret;
		}
	} else if (guid == 0 || guid == at(c, i)) {
		guid = at(c, i);
	} else {
		ret = find_guid(c, guid);
		if (ret != E_NOTFOUND) {
			return ret;
		}
		if (is_member_by(c, i)) {
			return E_OK;
		}
	}
	put_guid(c, i, guid);
	return E_OK;
}

/* Stores the changes, and offers the block as it is now. */
static int store_change(struct change *c, const struct alias_block *was)
{
	uint8_t record[SA_ROW_BYTES] = { 0 };
	int ret = E_OK;

	if (memcmp(was, &c->wanted, sizeof(*was)) != 0) {
		ret = alias_block_put(c->q->store, c->end.port_guid, c->block,
		                      &c->wanted);
	}
	if (ret == E_OK) {
		memcpy(record, c->q->record, RID_BYTES);
		memcpy(record + RID_BYTES, c->guids, sizeof(c->guids));
		sa_offer(c->out, record);
	}
	return ret;
}

static int guid_set(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	struct change c = { .r = r, .q = q, .out = out };

	if (q->store == NULL) {
		return E_UNKNOWN;
	}
	int ret = read_request(&c);
	struct alias_block was = c.wanted;
	if (ret == E_OK && (store_room(q->store, RECORDS_GUIDS) == 0 ||
	                    store_room(q->store, RECORDS_ALIASES) < ALIAS_BLOCK_GUIDS)) {
		return sa_refuse(out, UMAD_SA_STATUS_NO_RESOURCES);
	}
	for (unsigned i = 0; i < ALIAS_BLOCK_GUIDS && ret == E_OK; i++) {
		if (is_asked(&c, i)) {
			ret = set_place(&c, i);
		}
	}
	return ret == E_OK ? store_change(&c, &was) : ret;
}

static int guid_delete(struct snap_reader *r, const struct sa_query *q,
                       struct sa_out *out)
{
	struct change c = { .r = r, .q = q, .out = out };

	if (q->store == NULL) {
		return E_UNKNOWN;
	}
	int ret = read_request(&c);
	struct alias_block was = c.wanted;
	for (unsigned i = 0; i < ALIAS_BLOCK_GUIDS && ret == E_OK; i++) {
		if (!is_asked(&c, i) || at(&c, i) == 0) {
			continue;
		}
		if (is_member_by(&c, i)) {
			return sa_refuse(out, UMAD_SA_STATUS_REQ_DENIED);
		}
		put_guid(&c, i, 0);
	}
	return ret == E_OK ? store_change(&c, &was) : ret;
}

const struct sa_attr rec_guid_info = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_GUID_INFO_REC,
	.name = "GUIDInfoRecord",
	.methods = SA_GET | SA_GETTABLE | SA_SET | SA_DELETE,
	.size = RID_BYTES + ALIAS_BLOCK_BYTES,
	SA_FIELDS(guid_fields),
	.rows = { .attr = UMAD_SM_ATTR_GUID_INFO,
	          .shift = SHIFT,
	          .port = SA_NONE,
	          .block = GIR_BLOCK,
	          .at = RID_BYTES,
	          .bytes = ALIAS_BLOCK_BYTES,
	          .fit = fit_guid_info },
	.set = guid_set,
	.del = guid_delete,
};
