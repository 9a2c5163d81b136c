/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/standby/join.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/text.h"
#include "conf/base/vector.h"
#include "db/lmdb/layout.h"
#include "sa/standby/frame.h"
#include "sa/store/mcast.h"
#include "sa/store/service.h"

enum {
	EXPIRES_BYTES = 8,
	SERVICE_NAME_AT = 48,
	SERVICE_NAME_BYTES = 64,
	COMPACT_ABOVE = 1 << 20
};

static const char *const source = "standby";

/* --- rows ------------------------------------------------------------------------------------ */

struct rows {
	struct state_write *w;
	size_t n, cap;
};

static enum record_table table_of(const struct state_write *w)
{
	return (enum record_table)(w->table - COPIED_RECORDS);
}

static int compare_keys(const struct state_write *a, const struct state_write *b)
{
	size_t len = a->key_len < b->key_len ? a->key_len : b->key_len;
	int order = (a->table > b->table) - (a->table < b->table);

	order = order != 0 ? order : memcmp(a->key, b->key, len);
	return order != 0 ? order : (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

static int compare_rows(const void *a, const void *b)
{
	return compare_keys(a, b);
}

/* By key, and of one key by the order of the commits, which is that of the bytes. */
static int compare_changes(const void *a, const void *b)
{
	const struct state_write *v = a, *w = b;
	int order = compare_keys(v, w);

	return order != 0 ? order : (v->key > w->key) - (v->key < w->key);
}

static const struct state_write *find(const struct rows *r, const struct state_write *key)
{
	return r->n > 0 ? bsearch(key, r->w, r->n, sizeof(*r->w), compare_rows) : NULL;
}

static bool is_same(const struct state_write *a, const struct state_write *b)
{
	return a->value == NULL || b->value == NULL
	               ? a->value == b->value
	               : a->len == b->len && memcmp(a->value, b->value, a->len) == 0;
}

static int add(struct rows *r, const struct state_write *w)
{
	if (VECTOR_RESERVE(r->w, r->cap, r->n + 1) != E_OK) {
		return -ENOMEM;
	}
	r->w[r->n++] = *w;
	return E_OK;
}

/* Rows of frames; the bytes are borrowed. */
static int read_rows(const uint8_t *bytes, size_t len, struct rows *ret_rows)
{
	const uint8_t *at = bytes, *end = bytes + len;
	struct state_write w;
	int ret = E_OK;

	while (ret == E_OK && (ret = frame_read_row(&at, end, &w)) == E_OK) {
		ret = add(ret_rows, &w);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* --- the log of changes ---------------------------------------------------------------------- */

void join_log_add(struct join_log *l, const struct state_write *w)
{
	size_t len = frame_row_bytes(w);

	if (w->clears || w->table == COPIED_LIDS ||
	    w->table == COPIED_RECORDS + RECORDS_KNOWN) { /* a sweep finds them */
		return;
	}
	if (l->n + len > JOIN_LOG_BYTES ||
	    VECTOR_RESERVE(l->bytes, l->cap, l->n + len) != E_OK) {
		l->missed++;
		return;
	}
	frame_put_row(l->bytes + l->n, w);
	l->n += len;
}

void join_log_committed(struct join_log *l)
{
	l->committed = l->n;
	if (l->n > 2 * l->compacted + COMPACT_ABOVE) {
		(void)join_log_compact(l); /* else it is longer, and as good */
	}
}

void join_log_settled(struct join_log *l)
{
	if (l->committed == 0) {
		return;
	}
	l->n -= l->committed;
	memmove(l->bytes, l->bytes + l->committed, l->n);
	l->committed = l->compacted = l->missed = 0;
	if (l->n == 0) {
		join_log_done(l);
	}
}

void join_log_done(struct join_log *l)
{
	free(l->bytes);
	*l = (struct join_log){ 0 };
}

int join_log_compact(struct join_log *l)
{
	struct rows r = { 0 };
	uint8_t *bytes = l->n > 0 ? malloc(l->n) : NULL;
	size_t n = 0, cap = l->n;
	int ret = bytes != NULL ? read_rows(l->bytes, l->n, &r)
	          : l->n > 0    ? -ENOMEM
	                        : E_OK;

	if (ret == E_OK && r.n > 0) {
		qsort(r.w, r.n, sizeof(*r.w), compare_changes);
	}
	for (size_t i = 0; ret == E_OK && i < r.n; i++) {
		if (i + 1 < r.n && compare_keys(&r.w[i], &r.w[i + 1]) == 0) {
			continue;
		}
		frame_put_row(bytes + n, &r.w[i]);
		n += frame_row_bytes(&r.w[i]);
	}
	free(r.w);
	if (ret != E_OK || bytes == NULL) {
		free(bytes);
		return ret;
	}
	free(l->bytes);
	l->bytes = bytes;
	l->cap = cap;
	l->n = l->committed = l->compacted = n;
	return E_OK;
}

int join_log_copy(const struct join_log *l, struct join_log *ret_log)
{
	struct join_log copy = { 0 };
	int ret = E_OK;

	if (l->n > 0) {
		if (VECTOR_RESERVE(copy.bytes, copy.cap, l->n) != E_OK) {
			return -ENOMEM;
		}
		memcpy(copy.bytes, l->bytes, l->n);
		copy.n = l->n;
		ret = join_log_compact(&copy);
	}
	if (ret != E_OK) {
		join_log_done(&copy);
		return ret;
	}
	*ret_log = copy;
	return E_OK;
}

/* --- names ----------------------------------------------------------------------------------- */

static void name_gid(const uint8_t *gid, char text[INET6_ADDRSTRLEN])
{
	(void)inet_ntop(AF_INET6, gid, text, INET6_ADDRSTRLEN);
}

static void name_service(const struct state_write *w, char name[JOIN_NAME_BYTES])
{
	char gid[INET6_ADDRSTRLEN], text[SERVICE_NAME_BYTES + 1] = "";
	size_t at = EXPIRES_BYTES + SERVICE_OWNER_BYTES + SERVICE_NAME_AT;

	if (w->value != NULL && w->len >= at + SERVICE_NAME_BYTES) {
		memcpy(text, w->value + at, SERVICE_NAME_BYTES);
		text_printable(text);
	}
	name_gid(w->key + 8, gid);
	snprintf(name, JOIN_NAME_BYTES, "service 0x%016" PRIx64 " '%s' at %s",
	         key_read_u64(w->key), text, gid);
}

void join_row_name(const struct state_write *w, char name[JOIN_NAME_BYTES])
{
	char gid[INET6_ADDRSTRLEN], group[INET6_ADDRSTRLEN];

	if (w->table < COPIED_RECORDS) {
		snprintf(name, JOIN_NAME_BYTES, "LID of 0x%016" PRIx64,
		         key_read_u64(w->key));
		return;
	}
	switch (table_of(w)) {
	case RECORDS_SERVICES: name_service(w, name); return;
	case RECORDS_SUBSCRIPTIONS:
		snprintf(name, JOIN_NAME_BYTES, "subscription of port 0x%016" PRIx64,
		         key_read_u64(w->key));
		return;
	case RECORDS_GROUPS:
		name_gid(w->key, group);
		snprintf(name, JOIN_NAME_BYTES, "multicast group %s", group);
		return;
	case RECORDS_MEMBERS:
		name_gid(w->key, group);
		name_gid(w->key + MGID_BYTES, gid);
		snprintf(name, JOIN_NAME_BYTES, "membership of %s in %s", gid, group);
		return;
	case RECORDS_GUIDS:
		snprintf(name, JOIN_NAME_BYTES,
		         "GUIDs of port 0x%016" PRIx64 ", block %u", key_read_u64(w->key),
		         w->key[8]);
		return;
	case RECORDS_ALIASES:
		snprintf(name, JOIN_NAME_BYTES, "alias GUID 0x%016" PRIx64,
		         key_read_u64(w->key));
		return;
	case RECORDS_PARTITIONS:
		if (w->key_len == PARTITION_MEMBER_KEY_BYTES) {
			snprintf(name, JOIN_NAME_BYTES,
			         "member 0x%016" PRIx64 " of partition 0x%04x",
			         key_read_u64(w->key + PARTITION_KEY_BYTES),
			         key_read_u16(w->key));
			return;
		}
		snprintf(name, JOIN_NAME_BYTES, "partition 0x%04x", key_read_u16(w->key));
		return;
	case RECORDS_KNOWN:
		snprintf(name, JOIN_NAME_BYTES, "known node 0x%016" PRIx64,
		         key_read_u64(w->key));
		return;
	case RECORDS_ACKS:
		snprintf(name, JOIN_NAME_BYTES, "acknowledgement of alarm %.*s", (int)w->key_len,
		         (const char *)w->key);
		return;
	case RECORDS_DRAINED:
		snprintf(name, JOIN_NAME_BYTES, "drained 0x%016" PRIx64 " port %u",
		         key_read_u64(w->key), w->key[8]);
		return;
	case RECORD_TABLES: break;
	}
	snprintf(name, JOIN_NAME_BYTES, "row of table %u", w->table);
}

static void log_dropped(const struct state_write *w, const char *why)
{
	char name[JOIN_NAME_BYTES];

	join_row_name(w, name);
	log_message(MSG_STANDBY_NOT_JOINED, source, "dropped %s%s%s",
	            w->value != NULL ? "" : "the removal of ", name, why);
}

void join_log_drop(struct join_log *l, const char *why)
{
	struct rows r = { 0 };

	if (join_log_compact(l) == E_OK && read_rows(l->bytes, l->n, &r) == E_OK) {
		for (size_t i = 0; i < r.n; i++) {
			log_dropped(&r.w[i], why);
		}
	}
	free(r.w);
	join_log_done(l);
}

/* --- joining --------------------------------------------------------------------------------- */

struct join {
	struct rows state, own, theirs;
	struct rows taken; /* by key, because theirs are */
	struct state_batch *batch;
	struct join_counts counts;
};

static uint64_t mlid_of(const struct state_write *group)
{
	return mcast_get(group->value + EXPIRES_BYTES, MC_MLID);
}

static bool mlid_is_taken(const struct rows *r, const struct state_write *group)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct state_write *w = &r->w[i];

		if (w->table == group->table && w->value != NULL &&
		    compare_keys(w, group) != 0 && mlid_of(w) == mlid_of(group)) {
			return true;
		}
	}
	return false;
}

/* Is there a member that the standby has not removed? */
static bool has_members(const struct join *j, const struct state_write *group)
{
	for (size_t i = 0; i < j->state.n; i++) {
		const struct state_write *w = &j->state.w[i], *theirs;

		if (w->table != COPIED_RECORDS + RECORDS_MEMBERS ||
		    memcmp(w->key, group->key, MGID_BYTES) != 0) {
			continue;
		}
		theirs = find(&j->theirs, w);
		if (theirs == NULL || theirs->value != NULL || find(&j->own, w) != NULL) {
			return true;
		}
	}
	return false;
}

static bool has_group(const struct join *j, const struct state_write *member)
{
	const struct state_write key = { .table = COPIED_RECORDS + RECORDS_GROUPS,
		                         .key = member->key,
		                         .key_len = MGID_BYTES };
	const struct state_write *taken = find(&j->taken, &key);

	return taken != NULL ? taken->value != NULL : find(&j->state, &key) != NULL;
}

/* Why a row of the standby is not taken; NULL: it is. */
static const char *conflict(const struct join *j, const struct state_write *w,
                            const struct state_write *here)
{
	enum record_table table = table_of(w);

	if (find(&j->own, w) != NULL) {
		return "this master was told something else about it, too, and stays with that";
	}
	if (table == RECORDS_GROUPS && w->value == NULL && has_members(j, w)) {
		return "the group has members here";
	}
	if (table == RECORDS_GROUPS && w->value != NULL && here != NULL) {
		return "this master has the group with other parameters, which its members use";
	}
	if (table == RECORDS_GROUPS && w->value != NULL &&
	    (mlid_is_taken(&j->state, w) || mlid_is_taken(&j->taken, w))) {
		return "its MLID belongs to another group here";
	}
	if (table == RECORDS_MEMBERS && w->value != NULL && !has_group(j, w)) {
		return "its group is not here";
	}
	return NULL;
}

static int join_row(struct join *j, const struct state_write *w, const char *from)
{
	const struct state_write *here = find(&j->state, w);
	const char *why;
	char line[240];

	if (here == NULL ? w->value == NULL : is_same(here, w)) {
		j->counts.same++;
		return E_OK;
	}
	why = conflict(j, w, here);
	if (why != NULL) {
		snprintf(line, sizeof(line), " of the standby %s: %s", from, why);
		log_dropped(w, line);
		j->counts.dropped++;
		return E_OK;
	}
	j->counts.taken++;
	if (state_batch_put(j->batch, table_of(w), w->key, w->key_len, w->value,
	                    w->len) != E_OK) {
		return -ENOMEM;
	}
	return add(&j->taken, w);
}

/* All rows that the state has now; the bytes are borrowed until the copy ends. */
static int read_state(struct state_copy *c, struct rows *ret_rows)
{
	struct state_write w;
	int ret = E_OK;

	while (ret == E_OK && (ret = state_copy_next(c, &w)) == E_OK) {
		ret = w.table >= COPIED_RECORDS ? add(ret_rows, &w) : E_OK;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

int join_rows(struct state *s, const struct join_log *own, const uint8_t *rows,
              size_t len, const char *from, void (*done)(void *ctx, int ret), void *ctx,
              struct join_counts *ret_counts)
{
	struct join j = { .batch = NULL };
	struct state_copy *c = NULL;
	int ret = state_copy_begin(s, NULL, NULL, NULL, &c);

	if (ret == E_OK) {
		ret = state_batch_new(&j.batch);
	}
	if (ret == E_OK) {
		ret = read_state(c, &j.state);
	}
	if (ret == E_OK) {
		ret = read_rows(own->bytes, own->n, &j.own);
	}
	if (ret == E_OK) {
		ret = read_rows(rows, len, &j.theirs);
	}
	if (ret == E_OK && j.theirs.n > 0) {
		qsort(j.theirs.w, j.theirs.n, sizeof(*j.theirs.w), compare_changes);
	}
	for (size_t i = 0; ret == E_OK && i < j.theirs.n; i++) {
		ret = join_row(&j, &j.theirs.w[i], from);
	}
	state_copy_end(c);
	if (ret == E_OK) {
		*ret_counts = j.counts;
		state_batch_commit(s, j.batch, done, ctx);
	} else {
		state_batch_free(j.batch);
	}
	free(j.state.w);
	free(j.own.w);
	free(j.theirs.w);
	free(j.taken.w);
	return ret;
}
