/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Reading OpenSM's dump. A line is a record; members follow their group. All of it goes
 * into a store of its own first, which also knows what is there twice; so a bad line
 * leaves the durable state as it is, and the others are still looked at.
 */
#include <string.h>

#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/multicast.h"
#include "sa/mad/wire.h"
#include "sa/store/alias.h"
#include "sa/store/dump.h"
#include "sa/store/dump_line.h"
#include "sa/store/mcast.h"
#include "sa/store/service.h"
#include "sa/store/store.h"
#include "sa/store/subscription.h"

enum {
	MULTICAST_GID = 0xff, /* first byte */
	CODE_BITS = 0x3f,     /* behind the selector */
	MTU_MAX = 5,
	LINE_MAX_BYTES = 2048,
	SL_FLOW_HOP_BIT = 352
};

struct reading {
	const char *path;
	unsigned line;
	struct diags *d;
	struct sa_store *st;
	struct dump_counts *counts;
	uint8_t mgid[MGID_BYTES];
	enum { NO_GROUP, IN_GROUP, LEFT_OUT } group; /* that members are of */
	int ret;
};

#define bad(rd, ...) diag_add((rd)->d, DIAG_ERROR, (rd)->path, (rd)->line, __VA_ARGS__)

static void put_pair(uint8_t *record, unsigned bit, const struct dump_value *v)
{
	field_set(record, bit, 64, v->n[0]);
	field_set(record, bit + 64, 64, v->n[1]);
}

/* \return false: a problem was noted, or memory is out. */
static bool keep(struct reading *rd, enum record_table table, const void *key, size_t len,
                 int64_t expires, const void *value, size_t value_len)
{
	if (store_find(rd->st, table, key, len) != NULL) {
		bad(rd, "the same record is in the file twice");
		return false;
	}
	int ret = store_put(rd->st, table, key, len, expires, value, value_len);
	rd->ret = rd->ret == E_OK ? ret : rd->ret;
	return ret == E_OK;
}

/* ---- groups and members ---- */

static bool group_is_good(struct reading *rd, const struct dump_value *v,
                          const struct mcast_group_row *g)
{
	unsigned mtu = (unsigned)(v[DG_MTU].n[0] & CODE_BITS);

	if (g->record[0] != MULTICAST_GID) {
		bad(rd, "an MGID begins with 0xff");
	} else if (v[DG_MLID].n[0] < MLID_FIRST || v[DG_MLID].n[0] > MLID_LAST) {
		bad(rd, "mlid=0x%04x: expected 0x%04x-0x%04x", (unsigned)v[DG_MLID].n[0],
		    MLID_FIRST, MLID_LAST);
	} else if (mtu == 0 || mtu > MTU_MAX) {
		bad(rd, "mtu=0x%02x: its code is to be 1-5", (unsigned)v[DG_MTU].n[0]);
	} else if (rate_speed((uint8_t)(v[DG_RATE].n[0] & CODE_BITS)) == 0) {
		bad(rd, "rate=0x%02x: there is no such rate", (unsigned)v[DG_RATE].n[0]);
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

	rd->group = LEFT_OUT; /* a bad one's members are not looked at */
	fill_group(v, &g);
	if (!group_is_good(rd, v, &g)) {
		return;
	}
	field_set(mlid, 0, 16, v[DG_MLID].n[0]);
	memcpy(rd->mgid, g.record, MGID_BYTES);
	if (store_of(rd->st, RECORDS_GROUPS, mlid) != NULL &&
	    store_find(rd->st, RECORDS_GROUPS, rd->mgid, MGID_BYTES) == NULL) {
		diag_add(rd->d, DIAG_WARNING, rd->path, rd->line,
		         "MLID 0x%04x is another group's, too: this one is left out, its "
		         "members have to join again",
		         (unsigned)v[DG_MLID].n[0]);
		rd->counts->left_out++;
		return;
	}
	if (keep(rd, RECORDS_GROUPS, rd->mgid, MGID_BYTES, STORE_FOR_EVER, &g,
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
		bad(rd, "a member without a group in front of it");
		return;
	}
	if (rd->group == LEFT_OUT) {
		rd->counts->left_out++;
		return;
	}
	if (m.join_state == 0 || m.port_guid == 0) {
		bad(rd, m.port_guid ? "scope_state says a JoinState of 0"
		                    : "port_gid has no GUID");
		return;
	}
	memcpy(key, rd->mgid, MGID_BYTES);
	put_pair(key, 128, &v[DM_PORT_GID]);
	keep(rd, RECORDS_MEMBERS, key, sizeof(key), STORE_FOR_EVER, &m, sizeof(m));
}

/* ---- services and subscriptions ---- */

static void read_service(struct reading *rd, const struct dump_value *v)
{
	uint8_t value[SERVICE_ROW_BYTES] = { 0 }, *record = value + SERVICE_OWNER_BYTES;
	bool for_ever = v[DS_PERIOD].n[0] == UINT32_MAX;
	int64_t expires = for_ever ? STORE_FOR_EVER
	                           : (int64_t)(v[DS_MODIFIED].n[0] + v[DS_PERIOD].n[0]);

	field_set(value, 0, 64, v[DS_GID].n[1]);
	field_set(record, 0, 64, v[DS_ID].n[0]);
	put_pair(record, 64, &v[DS_GID]);
	field_set(record, 192, 16, v[DS_P_KEY].n[0]);
	field_set(record, 224, 32, v[DS_LEASE].n[0]);
	put_pair(record, 256, &v[DS_KEY]);
	memcpy(record + 48, v[DS_NAME].text, strlen(v[DS_NAME].text));
	for (unsigned i = 0; i < 4; i++) {
		put_pair(record, 896 + 128 * i, &v[DS_DATA8 + i]);
	}
	if (expires <= store_now(rd->st)) {
		rd->counts->left_out++;
		return;
	}
	keep(rd, RECORDS_SERVICES, record, SERVICE_KEY_BYTES, expires, value,
	     sizeof(value));
}

static void read_inform(struct reading *rd, const struct dump_value *v)
{
	struct subscription s = { .qpn = (uint32_t)v[DI_QPN].n[0],
		                  .pkey_index = (uint16_t)v[DI_PKEY_INDEX].n[0],
		                  .number = (uint16_t)v[DI_ENUM].n[0],
		                  .sl = (uint8_t)v[DI_SL].n[0] };
	uint8_t key[SUBSCRIPTION_KEY_BYTES] = { 0 }, *inform = key + 8;

	if (v[DI_SUBSCRIBER].n[1] == 0 || v[DI_GENERIC].n[0] > 1 || s.qpn >> 24 != 0) {
		bad(rd, "expected a port's GID, is_generic 0 or 1, remote_qp of 24 bits");
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
	keep(rd, RECORDS_SUBSCRIPTIONS, key, sizeof(key), STORE_FOR_EVER, &s, sizeof(s));
}

/* ---- alias GUIDs ---- */

static void read_guids(struct reading *rd, const struct dump_value *v)
{
	struct alias_block b = { .owned = 0 };
	struct alias_row other;
	uint64_t port = v[DU_BASE].n[0];
	unsigned block = (unsigned)v[DU_BLOCK].n[0];

	if (port == 0 || block >= ALIAS_BLOCKS_MAX) {
		bad(rd, "expected base_guid other than 0, block_num below %d",
		    ALIAS_BLOCKS_MAX);
		return;
	}
	for (unsigned i = block == 0; i < ALIAS_BLOCK_GUIDS; i++) {
		uint64_t guid = v[DU_GUID0 + i].n[0];
		if (guid != 0 && alias_find(rd->st, guid, &other)) {
			bad(rd, "guid%u is in the file twice", i);
			return;
		}
		field_set(b.guid, 64 * i, 64, guid);
		b.owned |= (uint8_t)((guid != 0) << i);
	}
	if (alias_block(rd->st, port, block, &(struct alias_block){ .owned = 0 })) {
		bad(rd, "the same record is in the file twice");
	} else if (b.owned != 0) {
		int ret = alias_block_keep(rd->st, port, block, &b);
		rd->ret = rd->ret == E_OK ? ret : rd->ret;
	}
}

/* ---- the file ---- */

static bool begins(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0;
}

static void read_line(struct reading *rd, const char *line)
{
	static const struct dump_kind *const kinds[] = { &dump_group, &dump_member,
		                                         &dump_service, &dump_inform,
		                                         &dump_guids };
	struct dump_value v[DUMP_PARTS_MAX] = { 0 };
	const struct dump_kind *kind = NULL;
	const char *key;

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		kind = begins(line, kinds[i]->word) ? kinds[i] : kind;
	}
	if (kind == NULL) {
		bad(rd,
		    "expected MC Group, mcm_port, Service Record, InformInfo Record or "
		    "GUIDInfo Record");
		return;
	}
	if (!dump_line_read(kind, line + strlen(kind->word), v, &key)) {
		bad(rd, "%s '%s=' is missing or has a value that cannot be", kind->word,
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

static void take_line(struct reading *rd, const char *text, size_t len)
{
	char line[LINE_MAX_BYTES];

	if (len >= sizeof(line)) {
		bad(rd, "a line of more than %d bytes", LINE_MAX_BYTES - 1);
		return;
	}
	memcpy(line, text, len);
	line[len] = '\0';
	if (strlen(line) != len) {
		bad(rd, "a byte 0: this is no text");
	} else if (len > 0) {
		read_line(rd, line);
	}
}

int dump_read(const char *path, const char *text, size_t len, struct diags *d,
              struct sa_store *st, struct dump_counts *ret)
{
	struct dump_counts counts = { .kept = 0 };
	struct reading rd = { .path = path, .d = d, .st = st, .counts = &counts };
	unsigned errors = d->n_errors;

	store_limit(st, 0);
	for (size_t at = 0; at < len && rd.ret == E_OK;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end != NULL ? (size_t)(end - text) - at : len - at;
		rd.line++;
		take_line(&rd, text + at, n);
		at += n + 1;
	}
	if (rd.ret != E_OK) {
		return rd.ret;
	}
	*ret = counts;
	return d->n_errors == errors ? E_OK : E_SYNTAX;
}
