/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Stats: named numbers and texts, gathered in memory and written by difference. Every
 * commit writes the heartbeat; a value is written when it differs from what was last
 * committed. The first commit removes what an earlier process left in the file, except its events:
 * they stay, and their numbers go on.
 *
 * Events wait in memory for the next commit. A commit that fails keeps them; where it fails
 * for long, the oldest go, as they would in the table.
 *
 * Longer than most: values, events, counters and the health of links share the commit.
 */
#include "db/stats/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/vector.h"
#include "db/lmdb/counters.h"
#include "db/lmdb/layout.h"
#include "db/lmdb/link_health.h"
#include "db/lmdb/pins.h"
#include "db/lmdb/txn.h"
#include "db/lmdb/view.h"

enum {
	STATS_GRACE_MS = 2000,
	STATS_VALUE_MAX = 1 + STATS_TEXT_MAX,
	READ_TRIES = 100,
	EVENT_LIMIT = 10000,
	EVENT_KEY = 8
};
enum { KIND_NUMBER, KIND_TEXT };

struct item {
	char *name;
	uint8_t value[STATS_VALUE_MAX]; /* as stored */
	uint16_t len;                   /* 0: removed */
	bool dirty;
};

/* An event that is not committed. */
struct event_row {
	uint64_t seq;
	size_t len;
	uint8_t bytes[]; /* struct row_event, then its texts */
};

struct stats {
	struct db *db;
	struct pins pins;
	struct item **items; /* by name */
	size_t n, cap;
	bool fresh; /* nothing committed by this process yet */
	int ret; /* first failure to keep a value in memory; the next commit returns it */
	struct event_row **events; /* by number */
	size_t n_events, cap_events;
	uint64_t first_event; /* as struct row_heartbeat, after the last commit */
	uint64_t next_event;
	uint32_t event_limit;
	struct counter_rows counters;
	struct port_rows health;
};

/* --- events, writer ------------------------------------------------------------------- */

const char *const event_severity_names[EVENT_SEVERITIES] = { "info", "warning", "error" };

#define EVENT(id, name, severity, sentence, help)                                        \
	[EVENT_##id] = { #name, EVENT_##severity, sentence, help },
const struct event_type event_types[EVENT_KINDS] = {
#include "db/stats/events.def"
};
#undef EVENT

/* A text that is being made; what does not fit is cut off. */
struct sentence {
	char *buf;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void add_text(struct sentence *s,
                                                           const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(s->buf + s->len, s->size - s->len, fmt, ap);
	va_end(ap);
	s->len += n < 0 ? 0 : (size_t)n;
	s->len = s->len < s->size ? s->len : s->size - 1;
}

static void add_node(struct sentence *s, const char *name, uint64_t guid, bool shares)
{
	bool named = name != NULL && *name != '\0';

	if (named) {
		add_text(s, "'%s'", name);
	}
	if (!named || shares) {
		add_text(s, named ? " (0x%016" PRIx64 ")" : "0x%016" PRIx64, guid);
	}
}

static void add_member(struct sentence *s, const struct fabric_event *e, const char *word,
                       size_t len)
{
	if (strncmp(word, "node", len) == 0) {
		add_node(s, e->node, e->node_guid, e->flags & EVENT_NODE_SHARES_NAME);
	} else if (strncmp(word, "peer", len) == 0) {
		add_node(s, e->peer, e->peer_guid, e->flags & EVENT_PEER_SHARES_NAME);
	} else if (strncmp(word, "port", len) == 0) {
		add_text(s, "%u", e->port);
	} else if (strncmp(word, "peer_port", len) == 0) {
		add_text(s, "%u", e->peer_port);
	} else {
		add_text(s, "%s", e->detail != NULL ? e->detail : "");
	}
}

char *event_text(const struct fabric_event *e, char *buf, size_t size)
{
	struct sentence s = { .buf = buf, .size = size };
	const char *p = e->kind < EVENT_KINDS
	                        ? event_types[e->kind].sentence
	                        : "an event of a kind that is not known here";

	buf[0] = '\0';
	while (*p != '\0') {
		size_t len = strcspn(p, "{[]");

		add_text(&s, "%.*s", (int)len, p);
		p += len;
		if (*p == '[' && e->peer_guid == 0) {
			p += strcspn(p, "]");
		} else if (*p == '{') {
			len = strcspn(p, "}");
			add_member(&s, e, p + 1, len - 1);
			p += len;
		}
		p += *p != '\0';
	}
	return buf;
}

static size_t text_len(const char *text, size_t most)
{
	return text != NULL ? strnlen(text, most) : 0;
}

static struct event_row *encode_event(const struct fabric_event *e, uint64_t seq)
{
	const char *text[] = { e->node, e->peer, e->cause, e->detail };
	const size_t len[] = { text_len(e->node, EVENT_NAME_BYTES),
		               text_len(e->peer, EVENT_NAME_BYTES),
		               text_len(e->cause, EVENT_CAUSE_BYTES),
		               text_len(e->detail, EVENT_DETAIL_BYTES) };
	struct row_event row = { .time_s = e->time_s,
		                 .clock_ms = e->clock_ms,
		                 .node_guid = e->node_guid,
		                 .peer_guid = e->peer_guid,
		                 .epoch = e->epoch,
		                 .duration_ms = e->duration_ms,
		                 .paths_moved = e->paths_moved,
		                 .lft_blocks = e->lft_blocks,
		                 .kind = (uint16_t)e->kind,
		                 .flags = e->flags,
		                 .port = e->port,
		                 .peer_port = e->peer_port,
		                 .node_len = (uint8_t)len[0],
		                 .peer_len = (uint8_t)len[1],
		                 .cause_len = (uint8_t)len[2],
		                 .detail_len = (uint16_t)len[3] };
	size_t at = sizeof(row);
	struct event_row *r =
		malloc(sizeof(*r) + sizeof(row) + len[0] + len[1] + len[2] + len[3]);

	if (r == NULL) {
		return NULL;
	}
	r->seq = seq;
	memcpy(r->bytes, &row, sizeof(row));
	for (unsigned i = 0; i < 4; i++) {
		if (len[i] > 0) {
			memcpy(r->bytes + at, text[i], len[i]);
		}
		at += len[i];
	}
	r->len = at;
	return r;
}

/* Drops the first \a n events that wait. */
static void drop_events(struct stats *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(s->events[i]);
	}
	s->n_events -= n;
	if (s->n_events > 0) {
		memmove(s->events, s->events + n, s->n_events * sizeof(*s->events));
	}
}

uint64_t stats_event(struct stats *s, const struct fabric_event *e)
{
	struct event_row *row;

	if (s->n_events >= 2 * (size_t)s->event_limit) {
		drop_events(s, s->n_events - s->event_limit);
	}
	row = VECTOR_RESERVE(s->events, s->cap_events, s->n_events + 1) == E_OK
	              ? encode_event(e, s->next_event)
	              : NULL;
	if (row == NULL) {
		s->ret = s->ret ? s->ret : -ENOMEM;
		return 0;
	}
	s->events[s->n_events++] = row;
	return s->next_event++;
}

void stats_event_limit(struct stats *s, uint32_t rows)
{
	s->event_limit = rows > 0 ? rows : 1;
}

uint64_t stats_event_next(const struct stats *s)
{
	return s->next_event;
}

void stats_event_raise(struct stats *s, uint64_t next)
{
	s->next_event = next > s->next_event ? next : s->next_event;
}

/* Removes the oldest rows above the limit. \return The number of the oldest that is left. */
static uint64_t trim_events(const struct stats *s, struct db_txn *t)
{
	struct db_val k, v;
	uint8_t key[EVENT_KEY];

	for (uint64_t n = db_count(t, STATS_EVENTS);
	     db_seek(t, STATS_EVENTS, NULL, 0, &k, &v) == E_OK && k.len == EVENT_KEY;
	     n--) {
		if (n <= s->event_limit) {
			return key_read_u64(k.data);
		}
		memcpy(key, k.data, EVENT_KEY);
		db_del(t, STATS_EVENTS, key, EVENT_KEY);
	}
	return s->next_event;
}

/* Writes the events that wait, of which more than the limit would go at once. */
static void put_events(struct stats *s, struct db_txn *t,
                       struct row_heartbeat *ret_heartbeat)
{
	size_t n = s->n_events;
	uint8_t key[EVENT_KEY];

	for (size_t i = n > s->event_limit ? n - s->event_limit : 0; i < n; i++) {
		key_u64(key, s->events[i]->seq);
		db_put(t, STATS_EVENTS, key, EVENT_KEY, s->events[i]->bytes,
		       s->events[i]->len);
	}
	ret_heartbeat->next_event = s->next_event;
	ret_heartbeat->first_event =
		n > 0 || s->fresh ? trim_events(s, t) : s->first_event;
}

/* The numbers of the events that an earlier process left. */
static int find_numbers(struct stats *s)
{
	struct row_heartbeat row;
	struct db_txn t;
	struct db_val v;
	int ret = db_begin(&t, s->db, false);

	if (ret != E_OK) {
		return ret;
	}
	ret = db_get(&t, STATS_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &v);
	s->first_event = s->next_event = 1;
	if (ret == E_OK && v.len == sizeof(row)) {
		memcpy(&row, v.data, sizeof(row));
		s->first_event = row.first_event;
		s->next_event = row.next_event;
	}
	db_abort(&t);
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* --- writer ---------------------------------------------------------------------------- */

static int stats_path(const char *dir, char *buf, size_t size)
{
	return (size_t)snprintf(buf, size, "%s/stats", dir) < size ? E_OK : -ENAMETOOLONG;
}

int stats_open(const char *snapshot_dir, struct arena *a, const char **ret_why,
               struct stats **ret_stats)
{
	char path[4096];
	struct stats *s = calloc(1, sizeof(*s));
	if (!s) {
		return -ENOMEM;
	}
	int ret = stats_path(snapshot_dir, path, sizeof(path));
	if (ret == E_OK) {
		ret = db_open_writer(&kind_stats, path, 0, 0, a, ret_why, &s->db);
	}
	if (ret == E_OK) {
		ret = pins_init(&s->pins, s->db, STATS_GRACE_MS);
	}
	if (ret != E_OK) {
		stats_close(s);
		return ret;
	}
	s->fresh = true;
	s->event_limit = EVENT_LIMIT;
	ret = find_numbers(s);
	if (ret != E_OK) {
		stats_close(s);
		return ret;
	}
	*ret_stats = s;
	return E_OK;
}

void stats_close(struct stats *s)
{
	if (!s) {
		return;
	}
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i]->name);
		free(s->items[i]);
	}
	free(s->items);
	drop_events(s, s->n_events);
	free(s->events);
	port_rows_done(&s->counters.rows);
	port_rows_done(&s->health);
	pins_done(&s->pins);
	db_unref(s->db);
	free(s);
}

/* Position of a name, or of the first one after it. */
static size_t position(const struct stats *s, const char *name, bool *ret_found)
{
	size_t at = LOWER_BOUND(s->n, i, strcmp(s->items[i]->name, name) < 0);

	*ret_found = at < s->n && strcmp(s->items[at]->name, name) == 0;
	return at;
}

static struct item *add_item(struct stats *s, size_t at, const char *name)
{
	if (VECTOR_RESERVE(s->items, s->cap, s->n + 1) != E_OK) {
		return NULL;
	}
	struct item *it = calloc(1, sizeof(*it));
	char *copy = strdup(name);
	if (!it || !copy) {
		free(it);
		free(copy);
		return NULL;
	}
	it->name = copy;
	memmove(s->items + at + 1, s->items + at, (s->n - at) * sizeof(struct item *));
	s->items[at] = it;
	s->n++;
	return it;
}

static void keep(struct stats *s, const char *name, const uint8_t *value, uint16_t len)
{
	bool found;
	size_t n = strlen(name);
	if (n == 0 || n > STATS_NAME_MAX) {
		s->ret = s->ret ? s->ret : E_RANGE;
		return;
	}
	size_t at = position(s, name, &found);
	struct item *it = found ? s->items[at] : add_item(s, at, name);
	if (!it) {
		s->ret = s->ret ? s->ret : -ENOMEM;
		return;
	}
	if (it->len != len || memcmp(it->value, value, len) != 0) {
		memcpy(it->value, value, len);
		it->len = len;
		it->dirty = true;
	}
}

void stats_set(struct stats *s, const char *series, double value)
{
	uint8_t v[1 + sizeof(double)] = { KIND_NUMBER };
	memcpy(v + 1, &value, sizeof(value));
	keep(s, series, v, sizeof(v));
}

void stats_text(struct stats *s, const char *name, const char *text)
{
	uint8_t v[STATS_VALUE_MAX] = { KIND_TEXT };
	size_t len = strnlen(text, STATS_TEXT_MAX);
	memcpy(v + 1, text, len);
	keep(s, name, v, (uint16_t)(1 + len));
}

void stats_remove(struct stats *s, const char *name)
{
	bool found;
	size_t at = position(s, name, &found);

	if (found) {
		s->items[at]->len = 0;
		s->items[at]->dirty = true;
	}
}

static void put_values(struct stats *s, struct db_txn *t)
{
	if (s->fresh) {
		db_clear(t, STATS_VALUES);
	}
	for (size_t i = 0; i < s->n; i++) {
		const struct item *it = s->items[i];
		if (it->len == 0 && it->dirty) {
			db_del(t, STATS_VALUES, it->name, strlen(it->name));
		} else if (it->len > 0 && (it->dirty || s->fresh)) {
			db_put(t, STATS_VALUES, it->name, strlen(it->name), it->value,
			       it->len);
		}
	}
}

int stats_counters(struct stats *s, const struct port_counters *c)
{
	return counters_wait(&s->counters, c->node_guid, c->port, c);
}

int stats_counters_gone(struct stats *s, uint64_t node_guid, uint8_t port)
{
	return counters_wait(&s->counters, node_guid, port, NULL);
}

void stats_counters_history(struct stats *s, uint32_t samples)
{
	s->counters.history = samples < COUNTER_SAMPLES_MAX ? samples : COUNTER_SAMPLES_MAX;
}

int stats_link_health(struct stats *s, uint64_t node_guid, uint8_t port,
                      const struct link_health *h)
{
	return link_health_wait(&s->health, node_guid, port, h);
}

int stats_link_health_load(struct stats *s, struct arena *a, struct link_health_list *ret_list)
{
	struct db_txn t;
	int ret = db_begin(&t, s->db, false);

	if (ret == E_OK) {
		ret = link_health_load(&t, a, ret_list);
		db_abort(&t);
	}
	return ret;
}

static int commit(struct stats *s, uint64_t boottime_ms)
{
	struct db_txn t;

	pins_release(&s->pins, boottime_ms);
	int ret = pins_prepare(&s->pins);
	if (ret == E_OK) {
		ret = db_begin(&t, s->db, true);
	}
	if (ret != E_OK) {
		return ret;
	}
	struct row_heartbeat row = {
		.head = { .txn = db_txn_id(&t), .grace_ms = STATS_GRACE_MS },
		.heartbeat_ms = boottime_ms,
		.realtime_s = (int64_t)time(NULL),
		.pid = (uint32_t)getpid(),
	};
	put_values(s, &t);
	put_events(s, &t, &row);
	if (s->fresh) {
		db_clear(&t, STATS_COUNTERS);
	}
	counters_put(&s->counters, &t);
	link_health_put(&s->health, &t);
	db_put(&t, STATS_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &row, sizeof(row));
	ret = db_commit(&t);
	if (ret != E_OK) {
		return ret;
	}
	pins_supersede(&s->pins, boottime_ms);
	s->fresh = false;
	s->first_event = row.first_event;
	drop_events(s, s->n_events);
	port_rows_clear(&s->counters.rows);
	port_rows_clear(&s->health);
	for (size_t i = 0; i < s->n; i++) {
		s->items[i]->dirty = false;
	}
	return E_OK;
}

int stats_commit(struct stats *s, uint64_t boottime_ms)
{
	int ret = s->ret;

	s->ret = E_OK;
	if (ret != E_OK) {
		return ret;
	}
	ret = commit(s, boottime_ms);
	if (ret != E_OK && s->counters.rows.n + s->health.n > 0) { /* the heartbeat is worth more */
		port_rows_clear(&s->counters.rows);
		port_rows_clear(&s->health);
		(void)commit(s, boottime_ms);
	}
	db_put_beat(s->db, boottime_ms, ret);
	return ret;
}

/* --- reader ---------------------------------------------------------------------------- */

struct stats_reader {
	struct db *db;
	struct view v;
};

int stats_reader_open(const char *snapshot_dir, struct stats_reader **ret_reader)
{
	char path[4096];
	struct stats_reader *r = calloc(1, sizeof(*r));
	if (!r) {
		return -ENOMEM;
	}
	int ret = stats_path(snapshot_dir, path, sizeof(path));
	if (ret == E_OK) {
		ret = db_open_reader(&kind_stats, path, NULL, NULL, &r->db);
	}
	if (ret != E_OK) {
		free(r);
		return ret;
	}
	view_init(&r->v, r->db, true);
	*ret_reader = r;
	return E_OK;
}

void stats_reader_close(struct stats_reader *r)
{
	if (r) {
		view_done(&r->v);
		db_unref(r->db);
		free(r);
	}
}

static int read_value(const struct db_val *k, const struct db_val *v, struct arena *a,
                      struct stats_value *ret_value)
{
	memset(ret_value, 0, sizeof(*ret_value));
	if (k->len == 0 || k->len > STATS_NAME_MAX || v->len == 0 ||
	    v->len > STATS_VALUE_MAX) {
		return E_MALFORMED;
	}
	bool number = v->data[0] == KIND_NUMBER;
	if (number ? v->len != 1 + sizeof(double) : v->data[0] != KIND_TEXT) {
		return E_MALFORMED;
	}
	char *name = arena_alloc(a, k->len + 1);
	if (!name) {
		return -ENOMEM;
	}
	memcpy(name, k->data, k->len);
	ret_value->name = name;
	if (number) {
		memcpy(&ret_value->value, v->data + 1, sizeof(double));
		return E_OK;
	}
	char *text = arena_alloc(a, v->len);
	if (!text) {
		return -ENOMEM;
	}
	memcpy(text, v->data + 1, v->len - 1);
	ret_value->text = text;
	return E_OK;
}

static int read_heartbeat(struct stats_reader *r, struct row_heartbeat *ret_heartbeat)
{
	struct db_val v;
	int ret = view_get(&r->v, STATS_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &v);

	if (ret != E_OK) {
		return ret;
	}
	if (v.len != sizeof(*ret_heartbeat)) {
		/* the head alone: tables were made, nothing was committed */
		return v.len == sizeof(struct row_head) ? E_NOTREADY : E_MALFORMED;
	}
	memcpy(ret_heartbeat, v.data, sizeof(*ret_heartbeat));
	return E_OK;
}

/* Everything of the pinned epoch; the caller checks that it still stood at the end. */
static int copy_all(struct stats_reader *r, struct arena *a, struct stats_copy *ret_copy)
{
	struct db_val k, v;
	struct row_heartbeat row;
	int ret = read_heartbeat(r, &row);

	if (ret != E_OK) {
		return ret;
	}
	size_t n_rows = (size_t)db_count(&r->v.t, STATS_VALUES);
	if (r->v.t.ret != E_OK) {
		return r->v.t.ret;
	}
	struct stats_value *values = arena_array(a, n_rows, sizeof(*values));
	if (!values) {
		return -ENOMEM;
	}
	size_t n = 0;
	ret = view_seek(&r->v, STATS_VALUES, NULL, 0, &k, &v);
	while (ret == E_OK) {
		ret = n < n_rows ? read_value(&k, &v, a, &values[n]) : E_MALFORMED;
		if (ret == E_OK) {
			n++;
			ret = view_next(&r->v, STATS_VALUES, &k, &v);
		}
	}
	const struct db_beat beat = db_last_beat(r->db);
	*ret_copy =
		(struct stats_copy){ row.heartbeat_ms, row.realtime_s, row.pid, values, n,
		                     beat.at_ms,       (int)beat.met,  NULL };
	return ret == E_NOTFOUND ? E_OK : ret;
}

int stats_read(struct stats_reader *r, struct arena *a, struct stats_copy *ret_copy)
{
	int ret = E_STALE;
	for (unsigned i = 0; i < READ_TRIES && ret == E_STALE; i++) {
		struct stats_copy copy = { 0 };
		ret = view_pin(&r->v, NULL);
		if (ret != E_OK) {
			continue;
		}
		ret = copy_all(r, a, &copy);
		int stands = view_check(&r->v);
		if (stands != E_OK) {
			ret = stands;
		} else if (ret == E_OK) {
			*ret_copy = copy;
		}
	}
	return ret;
}

const char *stats_copy_text(const struct stats_copy *c, const char *name)
{
	size_t at = LOWER_BOUND(c->n, i, strcmp(c->values[i].name, name) < 0);

	return at < c->n && strcmp(c->values[at].name, name) == 0 ? c->values[at].text
	                                                          : NULL;
}

static const char *take_text(const uint8_t **at, size_t len, struct arena *a)
{
	char *text = arena_alloc(a, len + 1);

	if (text != NULL) {
		memcpy(text, *at, len);
	}
	*at += len;
	return text;
}

static int decode_event(const struct db_val *k, const struct db_val *v, struct arena *a,
                        struct fabric_event *ret_event)
{
	struct row_event row;
	const uint8_t *at = v->data + sizeof(row);

	if (k->len != EVENT_KEY || v->len < sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, v->data, sizeof(row));
	if (v->len !=
	    sizeof(row) + row.node_len + row.peer_len + row.cause_len + row.detail_len) {
		return E_MALFORMED;
	}
	*ret_event = (struct fabric_event){ .seq = key_read_u64(k->data),
		                            .time_s = row.time_s,
		                            .clock_ms = row.clock_ms,
		                            .kind = row.kind,
		                            .flags = row.flags,
		                            .port = row.port,
		                            .peer_port = row.peer_port,
		                            .node_guid = row.node_guid,
		                            .peer_guid = row.peer_guid,
		                            .epoch = row.epoch,
		                            .duration_ms = row.duration_ms,
		                            .paths_moved = row.paths_moved,
		                            .lft_blocks = row.lft_blocks };
	ret_event->node = take_text(&at, row.node_len, a);
	ret_event->peer = take_text(&at, row.peer_len, a);
	ret_event->cause = take_text(&at, row.cause_len, a);
	ret_event->detail = take_text(&at, row.detail_len, a);
	return ret_event->node && ret_event->peer && ret_event->cause && ret_event->detail
	               ? E_OK
	               : -ENOMEM;
}

/* The events of the pinned epoch, as copy_all(). */
static int copy_events(struct stats_reader *r, uint64_t from, size_t max, struct arena *a,
                       struct stats_events *ret_events)
{
	struct row_heartbeat row;
	struct db_val k, v;
	uint8_t key[EVENT_KEY];
	int ret = read_heartbeat(r, &row);

	if (ret != E_OK) {
		return ret;
	}
	*ret_events =
		(struct stats_events){ .first = row.first_event, .next = row.next_event };
	from = from > row.first_event ? from : row.first_event;
	if (from >= row.next_event || max == 0) {
		return E_OK;
	}
	max = max < row.next_event - from ? max : (size_t)(row.next_event - from);
	ret_events->events = arena_array(a, max, sizeof(*ret_events->events));
	if (ret_events->events == NULL) {
		return -ENOMEM;
	}
	key_u64(key, from);
	ret = view_seek(&r->v, STATS_EVENTS, key, EVENT_KEY, &k, &v);
	while (ret == E_OK && ret_events->n < max) {
		ret = decode_event(&k, &v, a, &ret_events->events[ret_events->n]);
		if (ret == E_OK) {
			ret_events->n++;
			ret = view_next(&r->v, STATS_EVENTS, &k, &v);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

int stats_read_events(struct stats_reader *r, uint64_t from, size_t max, struct arena *a,
                      struct stats_events *ret_events)
{
	int ret = E_STALE;

	for (unsigned i = 0; i < READ_TRIES && ret == E_STALE; i++) {
		struct stats_events found = { 0 };

		ret = view_pin(&r->v, NULL);
		if (ret != E_OK) {
			continue;
		}
		ret = copy_events(r, from, max, a, &found);
		int stands = view_check(&r->v);
		if (stands != E_OK) {
			ret = stands;
		} else if (ret == E_OK) {
			*ret_events = found;
		}
	}
	return ret;
}

/* Pins the last commit of a daemon that reports. */
static int begin_read(struct stats_reader *r)
{
	struct row_heartbeat row;
	int ret = view_pin(&r->v, NULL);

	return ret == E_OK ? read_heartbeat(r, &row) : ret;
}

/* \param ret  Of what was read; it counts only if that commit stands. */
static int end_read(struct stats_reader *r, int ret)
{
	int stands = view_check(&r->v);

	return stands != E_OK ? stands : ret;
}

int stats_read_counters(struct stats_reader *r, uint64_t node_guid, uint8_t port,
                        size_t max, bool samples, struct arena *a,
                        struct stats_counter_list *ret_counter_list)
{
	int ret = E_STALE;

	for (unsigned i = 0; i < READ_TRIES && ret == E_STALE; i++) {
		ret = begin_read(r);
		if (ret == E_OK) {
			ret = end_read(r, counters_copy(&r->v, node_guid, port, max, samples,
			                                a, ret_counter_list));
		}
	}
	return ret;
}

int stats_read_link_health(struct stats_reader *r, struct arena *a,
                           struct link_health_list *ret_list)
{
	int ret = E_STALE;

	for (unsigned i = 0; i < READ_TRIES && ret == E_STALE; i++) {
		ret = begin_read(r);
		if (ret == E_OK) {
			ret = end_read(r, link_health_copy(&r->v, a, ret_list));
		}
	}
	return ret;
}
