/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Port counters in the stats environment. A row holds the last reading of a port and its
 * history, so a port that is gone takes its history along, and nobody keeps the histories of
 * all ports in memory: a commit reads the old row, adds a sample, and cuts off the oldest.
 *
 * A port is read once per sweep of the performance manager, and a commit follows within a
 * second, so few rows wait at a time.
 */
#include "db/lmdb/counters.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/layout.h"
#include "db/lmdb/txn.h"
#include "db/lmdb/view.h"

#define COUNTER(id, name, series, kind, help)                                            \
	[COUNTER_##id] = { #name, #series, COUNTER_IS_##kind, help },
const struct counter_type counter_types[PORT_COUNTERS] = {
#include "db/lmdb/counters.def"
};
#undef COUNTER

enum port_counter counters_by_name(const char *name, size_t len)
{
	unsigned i = 0;

	while (i < PORT_COUNTERS && (strlen(counter_types[i].name) != len ||
	                             memcmp(counter_types[i].name, name, len) != 0)) {
		i++;
	}
	return (enum port_counter)i;
}

double counters_rate(const struct port_counters *c, enum port_counter which)
{
	return c->interval_ms > 0 ? (double)c->delta[which] * 1000 / c->interval_ms : 0;
}

uint64_t counters_rise(const struct port_counters *c, enum counter_kind kind)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		sum += counter_types[i].kind == kind ? c->delta[i] : 0;
	}
	return sum;
}

/* --- rows that wait ---------------------------------------------------------------------- */

int counters_wait(struct counter_rows *w, uint64_t node_guid, uint8_t port,
                  const struct port_counters *c)
{
	struct row_counters row;

	if (c == NULL) {
		return port_rows_wait(&w->rows, node_guid, port, NULL, sizeof(row));
	}
	memset(&row, 0, sizeof(row));
	row.time_s = c->time_s;
	row.interval_ms = c->interval_ms;
	row.known = c->known;
	row.saturated = c->saturated;
	memcpy(row.value, c->value, sizeof(row.value));
	memcpy(row.delta, c->delta, sizeof(row.delta));
	return port_rows_wait(&w->rows, node_guid, port, &row, sizeof(row));
}

static uint32_t at_most_32_bits(uint64_t v)
{
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static void decode(const struct row_counters *row, struct port_counters *ret_counters)
{
	ret_counters->time_s = row->time_s;
	ret_counters->interval_ms = row->interval_ms;
	ret_counters->known = row->known;
	ret_counters->saturated = row->saturated;
	memcpy(ret_counters->value, row->value, sizeof(ret_counters->value));
	memcpy(ret_counters->delta, row->delta, sizeof(ret_counters->delta));
}

static struct counter_sample sample_of(const struct row_counters *row)
{
	struct port_counters c = { 0 };

	decode(row, &c);
	return (struct counter_sample){
		.time_s = row->time_s,
		.xmit = (float)counters_rate(&c, COUNTER_XMIT_DATA),
		.rcv = (float)counters_rate(&c, COUNTER_RCV_DATA),
		.errors = at_most_32_bits(counters_rise(&c, COUNTER_IS_ERROR)),
		.wait = at_most_32_bits(row->delta[COUNTER_XMIT_WAIT]),
	};
}

void counters_put(const struct counter_rows *w, struct db_txn *t)
{
	size_t most = w->history ? w->history : COUNTER_SAMPLES_DEFAULT;
	size_t n = w->rows.n;
	uint8_t *bytes = n > 0 ? malloc(sizeof(struct row_counters) +
	                                (most + 1) * sizeof(struct counter_sample))
	                       : NULL;

	if (n > 0 && bytes == NULL) {
		t->ret = t->ret ? t->ret : -ENOMEM;
	}
	for (size_t i = 0; i < n && t->ret == E_OK; i++) {
		const size_t head = sizeof(struct row_counters),
			     each = sizeof(struct counter_sample);
		const void *bytes_of_row;
		const uint8_t *key = port_rows_at(&w->rows, i, head, &bytes_of_row);
		const struct row_counters *row = bytes_of_row;
		struct db_val old = { .len = 0 };
		size_t len = head;

		if (row == NULL) {
			db_del(t, STATS_COUNTERS, key, PORT_KEY_BYTES);
			continue;
		}
		memcpy(bytes, row, head);
		if (db_get(t, STATS_COUNTERS, key, PORT_KEY_BYTES, &old) == E_OK &&
		    old.len >= head && (old.len - head) % each == 0) {
			size_t keep = (old.len - head) / each;
			size_t room = row->interval_ms > 0 ? most - 1 : most;

			keep = keep < room ? keep : room;
			memcpy(bytes + head, old.data + old.len - keep * each, keep * each);
			len += keep * each;
		}
		if (row->interval_ms > 0) {
			struct counter_sample s = sample_of(row);

			memcpy(bytes + len, &s, each);
			len += each;
		}
		db_put(t, STATS_COUNTERS, key, PORT_KEY_BYTES, bytes, len);
	}
	free(bytes);
}

/* --- reader --------------------------------------------------------------------------- */

static int copy_row(const struct db_val *k, const struct db_val *v, bool samples,
                    struct arena *a, struct port_counters *ret_counters)
{
	const size_t each = sizeof(struct counter_sample);
	struct row_counters row;
	size_t rest = v->len - sizeof(row);

	if (k->len != PORT_KEY_BYTES || v->len < sizeof(row) || rest % each != 0) {
		return E_MALFORMED;
	}
	memcpy(&row, v->data, sizeof(row));
	*ret_counters = (struct port_counters){ .node_guid = key_read_u64(k->data),
		                                .port = k->data[8] };
	decode(&row, ret_counters);
	if (samples && rest > 0) {
		struct counter_sample *s = arena_array(a, rest / each, each);

		if (s == NULL) {
			return -ENOMEM;
		}
		memcpy(s, v->data + sizeof(row), rest);
		ret_counters->samples = s;
		ret_counters->n_samples = (uint32_t)(rest / each);
	}
	return E_OK;
}

int counters_copy(struct view *v, uint64_t node_guid, uint8_t port, size_t max,
                  bool samples, struct arena *a,
                  struct stats_counter_list *ret_counter_list)
{
	uint8_t key[PORT_KEY_BYTES];
	struct db_val k, val;
	uint64_t n = db_count(&v->t, STATS_COUNTERS);
	int ret = v->t.ret;

	*ret_counter_list = (struct stats_counter_list){ .n = 0 };
	if (ret != E_OK) {
		return ret;
	}
	max = max < n ? max : (size_t)n;
	ret_counter_list->ports =
		arena_array(a, max > 0 ? max : 1, sizeof(*ret_counter_list->ports));
	if (ret_counter_list->ports == NULL) {
		return -ENOMEM;
	}
	port_rows_key(node_guid, port, key);
	ret = view_seek(v, STATS_COUNTERS, key, sizeof(key), &k, &val);
	while (ret == E_OK && ret_counter_list->n < max) {
		ret = copy_row(&k, &val, samples, a,
		               &ret_counter_list->ports[ret_counter_list->n]);
		if (ret == E_OK) {
			ret_counter_list->n++;
			ret = view_next(v, STATS_COUNTERS, &k, &val);
		}
	}
	ret_counter_list->more = ret == E_OK;
	return ret == E_NOTFOUND ? E_OK : ret;
}
