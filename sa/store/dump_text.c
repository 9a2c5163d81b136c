/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The text of OpenSM's dump, read and written. A line is a record, and members follow
 * their group. The reader puts all records into a store of its own, which finds
 * duplicates. So a bad line leaves the durable state unchanged, and the remaining lines
 * are still checked.
 */
#include <string.h>

#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "routing/graph/graph.h"
#include "routing/multicast.h"
#include "sa/mad/wire.h"
#include "sa/store/alias.h"
#include "sa/store/dump.h"
#include "sa/store/dump_int.h"
#include "sa/store/mcast.h"
#include "sa/store/service.h"
#include "sa/store/store.h"
#include "sa/store/subscription.h"

enum {
	MULTICAST_GID = 0xff, /* first byte */
	CODE_BITS = 0x3f,     /* MTU, rate or life time without its selector */
	SELECTOR_EXACTLY = 0x80,
	MTU_MAX = 7, /* Omni-Path's 10240 */
	LINE_MAX_BYTES = 2048,
	GUID_BYTES = 8,
	SL_FLOW_HOP_BIT = 352, /* of MCMemberRecord: SL, FlowLabel, HopLimit */
	SERVICE_NAME_AT = 48,  /* byte of ServiceRecord */
	SERVICE_NAME_BYTES = 64
};

/* Bits of ServiceRecord. */
enum {
	SERVICE_ID_BIT = 0,
	SERVICE_GID_BIT = 64,
	SERVICE_P_KEY_BIT = 192,
	SERVICE_LEASE_BIT = 224,
	SERVICE_KEY_BIT = 256,
	SERVICE_DATA_BIT = 896 /* four fields of 128 bits */
};

struct reading {
	const char *path;
	unsigned line;
	struct diags *d;
	struct sa_store *st;
	struct dump_counts *counts;
	uint8_t mgid[MGID_BYTES];
	enum { NO_GROUP, IN_GROUP, LEFT_OUT } group; /* the group of the next members */
	int ret;
};

#define report(rd, ...) diag_add((rd)->d, DIAG_ERROR, (rd)->path, (rd)->line, __VA_ARGS__)

static void put_pair(uint8_t *record, unsigned bit, const struct dump_value *v)
{
	field_set(record, bit, 64, v->n[0]);
	field_set(record, bit + 64, 64, v->n[1]);
}

/* \return false: the record is a duplicate, which is reported, or out of memory. */
static bool put_row(struct reading *rd, enum record_table table, const void *key,
                    size_t len, int64_t expires, const void *value, size_t value_len)
{
	if (store_find(rd->st, table, key, len) != NULL) {
		report(rd, "the same record is in the file twice");
		return false;
	}
	int ret = store_put(rd->st, table, key, len, expires, value, value_len);
	rd->ret = rd->ret == E_OK ? ret : rd->ret;
	return ret == E_OK;
}

/* ---- groups and members ---- */

static bool check_group(struct reading *rd, const struct dump_value *v,
                        const struct mcast_group_row *g)
{
	unsigned mtu = (unsigned)(v[DG_MTU].n[0] & CODE_BITS);

	if (g->record[0] != MULTICAST_GID) {
		report(rd, "an MGID must begin with 0xff");
	} else if (v[DG_MLID].n[0] < MLID_FIRST || v[DG_MLID].n[0] > MLID_LAST) {
		report(rd, "mlid=0x%04x: expected 0x%04x-0x%04x",
		       (unsigned)v[DG_MLID].n[0], MLID_FIRST, MLID_LAST);
	} else if (mtu == 0 || mtu > MTU_MAX) {
		report(rd, "mtu=0x%02x: the MTU code must be 1-7",
		       (unsigned)v[DG_MTU].n[0]);
	} else if (rate_speed((uint8_t)(v[DG_RATE].n[0] & CODE_BITS)) == 0) {
		report(rd, "rate=0x%02x: there is no such rate",
		       (unsigned)v[DG_RATE].n[0]);
	} else {
		return true;
	}
	return false;
}

static void fill_group(const struct dump_value *v, struct mcast_group_row *g)
{
	put_pair(g->record, 0, &v[DG_MGID]);
	mcast_put(g->record, MC_Q_KEY, v[DG_Q_KEY].n[0]);
	mcast_put(g->record, MC_MLID, v[DG_MLID].n[0]);
	mcast_put(g->record, MC_MTU_SELECTOR, MC_EXACTLY);
	mcast_put(g->record, MC_MTU, v[DG_MTU].n[0] & CODE_BITS);
	mcast_put(g->record, MC_T_CLASS, v[DG_T_CLASS].n[0]);
	mcast_put(g->record, MC_P_KEY, v[DG_P_KEY].n[0]);
	mcast_put(g->record, MC_RATE_SELECTOR, MC_EXACTLY);
	mcast_put(g->record, MC_RATE, v[DG_RATE].n[0] & CODE_BITS);
	mcast_put(g->record, MC_LIFE_SELECTOR, MC_EXACTLY);
	mcast_put(g->record, MC_LIFE, v[DG_LIFE].n[0] & CODE_BITS);
	field_set(g->record, SL_FLOW_HOP_BIT, 32, v[DG_SL_FLOW_HOP].n[0]);
	mcast_put(g->record, MC_SCOPE, v[DG_SCOPE_STATE].n[0] >> 4);
}

static void read_group(struct reading *rd, const char *line, const struct dump_value *v)
{
	struct mcast_group_row g = { .well_known =
		                             strstr(line, " (well known):") != NULL };
	uint8_t mlid[2];

	rd->group = LEFT_OUT; /* members of a bad group are skipped */
	fill_group(v, &g);
	if (!check_group(rd, v, &g)) {
		return;
	}
	field_set(mlid, 0, 16, v[DG_MLID].n[0]);
	memcpy(rd->mgid, g.record, MGID_BYTES);
	if (store_first_of_owner(rd->st, RECORDS_GROUPS, mlid) != NULL &&
	    store_find(rd->st, RECORDS_GROUPS, rd->mgid, MGID_BYTES) == NULL) {
		diag_add(
			rd->d, DIAG_WARNING, rd->path, rd->line,
			"MLID 0x%04x belongs to another group, so this group is left out; its members have to join again",
			(unsigned)v[DG_MLID].n[0]);
		rd->counts->left_out++;
		return;
	}
	if (put_row(rd, RECORDS_GROUPS, rd->mgid, MGID_BYTES, STORE_FOR_EVER, &g,
	            sizeof(g))) {
		rd->group = IN_GROUP;
	}
}

static void read_member(struct reading *rd, const struct dump_value *v)
{
	struct mcast_member_row m = { .port_guid = v[DM_PORT_GID].n[1],
		                      .join_state = v[DM_SCOPE_STATE].n[0] & 0xf,
		                      .proxy_join = (uint8_t)v[DM_PROXY].n[0] };
	uint8_t key[MC_MEMBER_KEY_BYTES];

	if (rd->group == NO_GROUP) {
		report(rd, "this member follows no group");
		return;
	}
	if (rd->group == LEFT_OUT) {
		rd->counts->left_out++;
		return;
	}
	if (m.join_state == 0 || m.port_guid == 0) {
		report(rd, m.port_guid ? "scope_state has a JoinState of 0"
		                       : "port_gid has no GUID");
		return;
	}
	memcpy(key, rd->mgid, MGID_BYTES);
	put_pair(key, 128, &v[DM_PORT_GID]);
	put_row(rd, RECORDS_MEMBERS, key, sizeof(key), STORE_FOR_EVER, &m, sizeof(m));
}

/* ---- services and subscriptions ---- */

static void read_service(struct reading *rd, const struct dump_value *v)
{
	uint8_t value[SERVICE_ROW_BYTES] = { 0 }, *record = value + SERVICE_OWNER_BYTES;
	bool for_ever = v[DS_PERIOD].n[0] == UINT32_MAX;
	int64_t expires = for_ever ? STORE_FOR_EVER
	                           : (int64_t)(v[DS_MODIFIED].n[0] + v[DS_PERIOD].n[0]);

	field_set(value, 0, 64, v[DS_GID].n[1]);
	field_set(record, SERVICE_ID_BIT, 64, v[DS_ID].n[0]);
	put_pair(record, SERVICE_GID_BIT, &v[DS_GID]);
	field_set(record, SERVICE_P_KEY_BIT, 16, v[DS_P_KEY].n[0]);
	field_set(record, SERVICE_LEASE_BIT, 32, v[DS_LEASE].n[0]);
	put_pair(record, SERVICE_KEY_BIT, &v[DS_KEY]);
	memcpy(record + SERVICE_NAME_AT, v[DS_NAME].text, strlen(v[DS_NAME].text));
	for (unsigned i = 0; i < 4; i++) {
		put_pair(record, SERVICE_DATA_BIT + 128 * i, &v[DS_DATA8 + i]);
	}
	if (expires <= store_now(rd->st)) {
		rd->counts->left_out++;
		return;
	}
	put_row(rd, RECORDS_SERVICES, record, SERVICE_KEY_BYTES, expires, value,
	        sizeof(value));
}

static void read_inform(struct reading *rd, const struct dump_value *v)
{
	struct subscription s = { .qpn = (uint32_t)v[DI_QPN].n[0],
		                  .pkey_index = (uint16_t)v[DI_PKEY_INDEX].n[0],
		                  .number = (uint16_t)v[DI_ENUM].n[0],
		                  .sl = (uint8_t)v[DI_SL].n[0] };
	uint8_t key[SUBSCRIPTION_KEY_BYTES] = { 0 }, *inform = key + GUID_BYTES;

	if (v[DI_SUBSCRIBER].n[1] == 0 || v[DI_GENERIC].n[0] > 1 || s.qpn >> 24 != 0) {
		report(rd,
		       "expected a port's GID, is_generic 0 or 1, remote_qp of 24 bits");
		return;
	}
	field_set(key, 0, 64, v[DI_SUBSCRIBER].n[1]);
	put_pair(inform, 0, &v[DI_GID]);
	field_set(inform, INF_LID_RANGE_BEGIN, v[DI_LID_BEGIN].n[0]);
	field_set(inform, INF_LID_RANGE_END, v[DI_LID_END].n[0]);
	field_set(inform, INF_IS_GENERIC, v[DI_GENERIC].n[0]);
	field_set(inform, INF_SUBSCRIBE, 1);
	field_set(inform, INF_TYPE, v[DI_TYPE].n[0]);
	field_set(inform, INF_TRAP_NUMBER, v[DI_TRAP].n[0]);
	field_set(inform, INF_RESP_TIME_VALUE, v[DI_QPN_RESP].n[0] & 0x1f);
	field_set(inform, INF_QPN, s.qpn);
	field_set(inform, INF_PRODUCER_TYPE, v[DI_PRODUCER].n[0]);
	put_row(rd, RECORDS_SUBSCRIPTIONS, key, sizeof(key), STORE_FOR_EVER, &s,
	        sizeof(s));
}

/* ---- alias GUIDs ---- */

static void read_guids(struct reading *rd, const struct dump_value *v)
{
	struct alias_block b = { .owned = 0 };
	struct alias_row other;
	uint64_t port = v[DU_BASE].n[0];
	unsigned block = (unsigned)v[DU_BLOCK].n[0];

	if (port == 0 || block >= ALIAS_BLOCKS_MAX) {
		report(rd, "expected base_guid other than 0, block_num below %d",
		       ALIAS_BLOCKS_MAX);
		return;
	}
	for (unsigned i = block == 0; i < ALIAS_BLOCK_GUIDS; i++) {
		uint64_t guid = v[DU_GUID0 + i].n[0];
		if (guid != 0 && alias_find(rd->st, guid, &other)) {
			report(rd, "guid%u is in the file twice", i);
			return;
		}
		field_set(b.guid, 64 * i, 64, guid);
		b.owned |= (uint8_t)((guid != 0) << i);
	}
	if (alias_block(rd->st, port, block, &(struct alias_block){ .owned = 0 })) {
		report(rd, "the same record is in the file twice");
	} else if (b.owned != 0) {
		int ret = alias_block_put(rd->st, port, block, &b);
		rd->ret = rd->ret == E_OK ? ret : rd->ret;
	}
}

/* ---- the whole text ---- */

/* Reads one line, which is not empty. */
static void read_line(struct reading *rd, const char *line)
{
	static const struct dump_kind *const kinds[] = { &dump_group, &dump_member,
		                                         &dump_service, &dump_inform,
		                                         &dump_guids };
	struct dump_value v[DUMP_FIELDS_MAX] = { 0 };
	const struct dump_kind *kind = NULL;
	const char *key;

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(line, kinds[i]->word, strlen(kinds[i]->word)) == 0) {
			kind = kinds[i];
		}
	}
	if (kind == NULL) {
		report(rd,
		       "expected MC Group, mcm_port, Service Record, InformInfo Record or GUIDInfo Record");
		return;
	}
	if (!dump_line_read(kind, line + strlen(kind->word), v, &key)) {
		report(rd, "%s '%s=' is missing or has an invalid value", kind->word,
		       key);
		rd->group = kind == &dump_group ? LEFT_OUT : rd->group;
		return;
	}
	if (kind == &dump_group) {
		read_group(rd, line, v);
	} else if (kind == &dump_member) {
		read_member(rd, v);
	} else if (kind == &dump_service) {
		read_service(rd, v);
	} else if (kind == &dump_inform) {
		read_inform(rd, v);
	} else {
		read_guids(rd, v);
	}
}

int dump_read(const char *path, const char *text, size_t len, struct diags *d,
              struct sa_store *st, struct dump_counts *ret_counts)
{
	struct dump_counts counts = { .kept = 0 };
	struct reading rd = { .path = path, .d = d, .st = st, .counts = &counts };
	unsigned errors = d->n_errors;

	store_set_owner_limit(st, 0);
	for (size_t at = 0; at < len && rd.ret == E_OK;) {
		const char *from = text + at;
		size_t n = text_line(text, len, &at);
		char line[LINE_MAX_BYTES];

		rd.line++;
		if (n >= sizeof(line)) {
			report(&rd, "the line is longer than %d bytes",
			       LINE_MAX_BYTES - 1);
		} else if (memchr(from, '\0', n) != NULL) {
			report(&rd, "the line has a byte 0, so this is not a text file");
		} else if (n > 0) {
			memcpy(line, from, n);
			line[n] = '\0';
			read_line(&rd, line);
		}
	}
	if (rd.ret != E_OK) {
		return rd.ret;
	}
	*ret_counts = counts;
	return d->n_errors == errors ? E_OK : E_SYNTAX;
}

/* ---- writing ---- */

static void get_pair(const uint8_t *record, unsigned bit, struct dump_value *ret_value)
{
	ret_value->n[0] = field_get(record, bit, 64);
	ret_value->n[1] = field_get(record, bit + 64, 64);
}

/* Writes a whole line. */
static void write_line(FILE *f, const struct dump_kind *kind, const struct dump_value *v)
{
	fputs(kind->word, f);
	dump_line_write(f, kind, v);
	fputs("\n\n", f);
}

static void write_members(FILE *f, const struct sa_store *st, const uint8_t *mgid,
                          struct dump_counts *counts)
{
	struct dump_value v[DUMP_FIELDS_MAX] = { 0 };
	struct mcast_member_row m;
	const struct store_row *at = NULL;
	const uint8_t *port_gid;

	while ((port_gid = mcast_member_next(st, mgid, &at, &m)) != NULL) {
		get_pair(port_gid, 0, &v[DM_PORT_GID]);
		v[DM_SCOPE_STATE].n[0] = (unsigned)(mgid[1] & 0xf) << 4 | m.join_state;
		v[DM_PROXY].n[0] = m.proxy_join != 0;
		write_line(f, &dump_member, v);
		counts->members++;
	}
}

static void write_group(FILE *f, const struct mcast_group_row *g)
{
	struct dump_value v[DUMP_FIELDS_MAX] = { 0 };

	get_pair(g->record, 0, &v[DG_MGID]);
	v[DG_Q_KEY].n[0] = mcast_get(g->record, MC_Q_KEY);
	v[DG_MLID].n[0] = mcast_get(g->record, MC_MLID);
	v[DG_MTU].n[0] = SELECTOR_EXACTLY | mcast_get(g->record, MC_MTU);
	v[DG_T_CLASS].n[0] = mcast_get(g->record, MC_T_CLASS);
	v[DG_P_KEY].n[0] = mcast_get(g->record, MC_P_KEY);
	v[DG_RATE].n[0] = SELECTOR_EXACTLY | mcast_get(g->record, MC_RATE);
	v[DG_LIFE].n[0] = SELECTOR_EXACTLY | mcast_get(g->record, MC_LIFE);
	v[DG_SL_FLOW_HOP].n[0] = field_get(g->record, SL_FLOW_HOP_BIT, 32);
	v[DG_SCOPE_STATE].n[0] = mcast_get(g->record, MC_SCOPE) << 4 | MC_FULL_MEMBER;
	fprintf(f, "%s 0x%04x %s:", dump_group.word, (unsigned)v[DG_MLID].n[0],
	        g->well_known ? " (well known)" : "");
	dump_line_write(f, &dump_group, v);
	fputs("\n\n", f);
}

static bool write_service(FILE *f, const struct store_row *row, int64_t now)
{
	struct dump_value v[DUMP_FIELDS_MAX] = { 0 };
	const uint8_t *record = store_value(row) + SERVICE_OWNER_BYTES;
	bool for_ever = row->expires == STORE_FOR_EVER;

	if (row->len != SERVICE_ROW_BYTES || row->expires <= now) {
		return false;
	}
	memcpy(v[DS_NAME].text, record + SERVICE_NAME_AT, SERVICE_NAME_BYTES);
	if (strpbrk(v[DS_NAME].text, "\r\n") != NULL ||
	    strstr(v[DS_NAME].text, "' data8=") != NULL) {
		return false; /* such a name would end the line or its own text */
	}
	v[DS_ID].n[0] = field_get(record, SERVICE_ID_BIT, 64);
	get_pair(record, SERVICE_GID_BIT, &v[DS_GID]);
	v[DS_P_KEY].n[0] = field_get(record, SERVICE_P_KEY_BIT, 16);
	v[DS_LEASE].n[0] =
		for_ever ? UINT32_MAX : field_get(record, SERVICE_LEASE_BIT, 32);
	get_pair(record, SERVICE_KEY_BIT, &v[DS_KEY]);
	for (unsigned i = 0; i < 4; i++) {
		get_pair(record, SERVICE_DATA_BIT + 128 * i, &v[DS_DATA8 + i]);
	}
	v[DS_MODIFIED].n[0] = (uint32_t)now;
	v[DS_PERIOD].n[0] = for_ever ? UINT32_MAX : (uint32_t)(row->expires - now);
	write_line(f, &dump_service, v);
	return true;
}

static bool write_inform(FILE *f, const struct store_row *row, uint64_t prefix)
{
	struct dump_value v[DUMP_FIELDS_MAX] = { 0 };
	const uint8_t *inform = row->bytes + GUID_BYTES;
	struct subscription s;

	/* the form has no room for higher LIDs */
	if (row->key_len != SUBSCRIPTION_KEY_BYTES || row->len != sizeof(s) ||
	    (inform_lid_begin(inform) | inform_lid_end(inform)) >> 16 != 0) {
		return false;
	}
	memcpy(&s, store_value(row), sizeof(s));
	v[DI_SUBSCRIBER].n[0] = prefix;
	v[DI_SUBSCRIBER].n[1] = field_get(row->bytes, 0, 64);
	v[DI_ENUM].n[0] = s.number;
	get_pair(inform, 0, &v[DI_GID]);
	v[DI_LID_BEGIN].n[0] = field_get(inform, INF_LID_RANGE_BEGIN);
	v[DI_LID_END].n[0] = field_get(inform, INF_LID_RANGE_END);
	v[DI_GENERIC].n[0] = field_get(inform, INF_IS_GENERIC);
	v[DI_SUBSCRIBE].n[0] = 1;
	v[DI_TYPE].n[0] = field_get(inform, INF_TYPE);
	v[DI_TRAP].n[0] = field_get(inform, INF_TRAP_NUMBER);
	v[DI_QPN_RESP].n[0] =
		(uint64_t)s.qpn << 8 | field_get(inform, INF_RESP_TIME_VALUE);
	v[DI_PRODUCER].n[0] = field_get(inform, INF_PRODUCER_TYPE);
	v[DI_QPN].n[0] = s.qpn;
	v[DI_Q_KEY].n[0] = UMAD_QKEY;
	v[DI_PKEY_INDEX].n[0] = s.pkey_index;
	v[DI_SL].n[0] = s.sl;
	write_line(f, &dump_inform, v);
	return true;
}

static bool write_guids(FILE *f, const struct store_row *row)
{
	struct dump_value v[DUMP_FIELDS_MAX] = { 0 };
	struct alias_block b;

	if (row->key_len != GUID_BYTES + 1 || row->len != sizeof(b)) {
		return false;
	}
	memcpy(&b, store_value(row), sizeof(b));
	v[DU_BASE].n[0] = field_get(row->bytes, 0, 64);
	v[DU_BLOCK].n[0] = row->bytes[GUID_BYTES];
	for (unsigned i = 0; i < ALIAS_BLOCK_GUIDS; i++) {
		v[DU_GUID0 + i].n[0] = alias_owned(&b, i) ? alias_at(&b, i) : 0;
	}
	if (row->bytes[GUID_BYTES] ==
	    0) { /* OpenSM writes the PortGUID as the first one */
		v[DU_GUID0].n[0] = v[DU_BASE].n[0];
	}
	write_line(f, &dump_guids, v);
	return true;
}

void dump_write(FILE *f, const struct sa_store *st, uint64_t subnet_prefix,
                struct dump_counts *ret_counts)
{
	struct dump_counts counts = { .kept = 0 };
	int64_t now = store_now(st);
	const struct store_row *row;

	row = store_seek(st, RECORDS_GROUPS, NULL, 0);
	for (; row != NULL; row = store_next(st, RECORDS_GROUPS, row)) {
		struct mcast_group_row g;
		if (mcast_group_of(row, &g)) {
			write_group(f, &g);
			write_members(f, st, g.record, &counts);
			counts.groups++;
		}
	}
	row = store_seek(st, RECORDS_SUBSCRIPTIONS, NULL, 0);
	for (; row != NULL; row = store_next(st, RECORDS_SUBSCRIPTIONS, row)) {
		bool written = write_inform(f, row, subnet_prefix);
		counts.subscriptions += written;
		counts.left_out += !written;
	}
	row = store_seek(st, RECORDS_SERVICES, NULL, 0);
	for (; row != NULL; row = store_next(st, RECORDS_SERVICES, row)) {
		bool written = write_service(f, row, now);
		counts.services += written;
		counts.left_out += !written;
	}
	row = store_seek(st, RECORDS_GUIDS, NULL, 0);
	for (; row != NULL; row = store_next(st, RECORDS_GUIDS, row)) {
		counts.guids += write_guids(f, row);
	}
	*ret_counts = counts;
}
