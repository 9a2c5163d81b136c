/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <string.h>

#include "sa/mad/wire.h"
#include "sa/store/alias.h"
#include "sa/store/dump.h"
#include "sa/store/dump_line.h"
#include "sa/store/mcast.h"
#include "sa/store/service.h"
#include "sa/store/store.h"
#include "sa/store/subscription.h"

enum { SL_FLOW_HOP_BIT = 352, SELECTOR_EXACTLY = 0x80, NAME_AT = 48, NAME_BYTES = 64 };

static void get_pair(const uint8_t *record, unsigned bit, struct dump_value *ret)
{
	ret->n[0] = field_get(record, bit, 64);
	ret->n[1] = field_get(record, bit + 64, 64);
}

static void write_members(FILE *f, const struct sa_store *st, const uint8_t *mgid,
                          struct dump_counts *counts)
{
	struct dump_value v[DUMP_PARTS_MAX] = { 0 };
	struct mcast_member_row m;
	const struct store_row *at = NULL;
	const uint8_t *port_gid;

	while ((port_gid = mcast_member_next(st, mgid, &at, &m)) != NULL) {
		get_pair(port_gid, 0, &v[DM_PORT_GID]);
		v[DM_SCOPE_STATE].n[0] = (unsigned)(mgid[1] & 0xf) << 4 | m.join_state;
		v[DM_PROXY].n[0] = m.proxy_join != 0;
		fputs(dump_member.word, f);
		dump_line_write(f, &dump_member, v);
		fputs("\n\n", f);
		counts->members++;
	}
}

static void write_group(FILE *f, const struct mcast_group_row *g)
{
	struct dump_value v[DUMP_PARTS_MAX] = { 0 };

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

static void write_groups(FILE *f, const struct sa_store *st, struct dump_counts *counts)
{
	const struct store_row *row = store_from(st, RECORDS_GROUPS, NULL, 0);
	struct mcast_group_row g;

	for (; row != NULL; row = store_next(st, RECORDS_GROUPS, row)) {
		if (mcast_group_of(row, &g)) {
			write_group(f, &g);
			write_members(f, st, g.record, counts);
			counts->groups++;
		}
	}
}

/* A name that would end the line, or itself, cannot be read again. */
static bool name_fits(const char *name)
{
	return strpbrk(name, "\r\n") == NULL && strstr(name, "' data8=") == NULL;
}

static bool write_service(FILE *f, const struct store_row *row, int64_t now)
{
	struct dump_value v[DUMP_PARTS_MAX] = { 0 };
	const uint8_t *record = store_value(row) + SERVICE_OWNER_BYTES;
	bool for_ever = row->expires == STORE_FOR_EVER;

	if (row->len != SERVICE_ROW_BYTES || row->expires <= now) {
		return false;
	}
	memcpy(v[DS_NAME].text, record + NAME_AT, NAME_BYTES);
	if (!name_fits(v[DS_NAME].text)) {
		return false;
	}
	v[DS_ID].n[0] = field_get(record, 0, 64);
	get_pair(record, 64, &v[DS_GID]);
	v[DS_P_KEY].n[0] = field_get(record, 192, 16);
	v[DS_LEASE].n[0] = for_ever ? UINT32_MAX : field_get(record, 224, 32);
	get_pair(record, 256, &v[DS_KEY]);
	for (unsigned i = 0; i < 4; i++) {
		get_pair(record, 896 + 128 * i, &v[DS_DATA8 + i]);
	}
	v[DS_MODIFIED].n[0] = (uint32_t)now;
	v[DS_PERIOD].n[0] = for_ever ? UINT32_MAX : (uint32_t)(row->expires - now);
	fputs(dump_service.word, f);
	dump_line_write(f, &dump_service, v);
	fputs("\n\n", f);
	return true;
}

static bool write_inform(FILE *f, const struct store_row *row, uint64_t prefix)
{
	struct dump_value v[DUMP_PARTS_MAX] = { 0 };
	const uint8_t *inform = row->bytes + 8;
	struct subscription s;

	if (row->key_len != SUBSCRIPTION_KEY_BYTES || row->len != sizeof(s)) {
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
	fputs(dump_inform.word, f);
	dump_line_write(f, &dump_inform, v);
	fputs("\n\n", f);
	return true;
}

static bool write_guids(FILE *f, const struct store_row *row)
{
	struct dump_value v[DUMP_PARTS_MAX] = { 0 };
	struct alias_block b;

	if (row->key_len != 9 || row->len != sizeof(b)) {
		return false;
	}
	memcpy(&b, store_value(row), sizeof(b));
	v[DU_BASE].n[0] = field_get(row->bytes, 0, 64);
	v[DU_BLOCK].n[0] = row->bytes[8];
	for (unsigned i = 0; i < ALIAS_BLOCK_GUIDS; i++) {
		v[DU_GUID0 + i].n[0] = alias_owned(&b, i) ? alias_at(&b, i) : 0;
	}
	if (row->bytes[8] == 0) { /* as OpenSM has it: the first is the port's own */
		v[DU_GUID0].n[0] = v[DU_BASE].n[0];
	}
	fputs(dump_guids.word, f);
	dump_line_write(f, &dump_guids, v);
	fputs("\n\n", f);
	return true;
}

void dump_write(FILE *f, const struct sa_store *st, uint64_t subnet_prefix,
                struct dump_counts *ret)
{
	struct dump_counts counts = { .kept = 0 };
	int64_t now = store_now(st);
	const struct store_row *row;

	write_groups(f, st, &counts);
	row = store_from(st, RECORDS_SUBSCRIPTIONS, NULL, 0);
	for (; row != NULL; row = store_next(st, RECORDS_SUBSCRIPTIONS, row)) {
		bool written = write_inform(f, row, subnet_prefix);
		counts.subscriptions += written;
		counts.left_out += !written;
	}
	row = store_from(st, RECORDS_SERVICES, NULL, 0);
	for (; row != NULL; row = store_next(st, RECORDS_SERVICES, row)) {
		bool written = write_service(f, row, now);
		counts.services += written;
		counts.left_out += !written;
	}
	row = store_from(st, RECORDS_GUIDS, NULL, 0);
	for (; row != NULL; row = store_next(st, RECORDS_GUIDS, row)) {
		counts.guids += write_guids(f, row);
	}
	*ret = counts;
}
