/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What clients wrote, from the durable state to where the gateway and the command line
 * see it: at most once a second, in one transaction and by what changed. ServiceKeys stay
 * behind.
 *
 * It takes a fifth of the processor time of the thread at most. A pause feeds itself:
 * rows that come in it make the next mirroring longer, and that the next pause. At 4 us a
 * row, pauses of four times what the last one took stay as they are up to 50,000 rows per
 * second. By the clock on the wall that would be fewer where others use the processor.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "db/snapshot.h"
#include "db/state.h"
#include "sa/sm/sweep_int.h"
#include "sa/store/dump.h"
#include "sa/store/service.h"

enum {
	EVERY_MS = 1000,
	PAUSE = 4, /* times what the last one took */
	LINES = 1,
	LINES_MS = 60000
};

static const char *const source = "sweep";

/* The rows to be mirrored, copied. */
struct copy {
	struct arena *a;
	struct client_row *rows;
	size_t n, cap;
	enum record_table table; /* of add_record() */
};

static bool make_room(struct copy *c)
{
	if (c->n < c->cap) {
		return true;
	}
	size_t cap = c->cap ? 2 * c->cap : 256;
	struct client_row *more = arena_array(c->a, cap, sizeof(*more));
	if (more == NULL) {
		return false;
	}
	if (c->n > 0) {
		memcpy(more, c->rows, c->n * sizeof(*more));
	}
	c->rows = more;
	c->cap = cap;
	return true;
}

static int add_row(void *ctx, const struct client_row *row)
{
	struct copy *c = ctx;
	if (row->table >= RECORDS_MIRRORED) {
		return E_OK;
	}
	uint8_t *bytes = arena_alloc(c->a, (size_t)row->key_len + row->len + 1);

	if (bytes == NULL || !make_room(c)) {
		return -ENOMEM;
	}
	struct client_row *to = &c->rows[c->n++];
	*to = *row;
	to->key = memcpy(bytes, row->key, row->key_len);
	if (row->value != NULL) {
		uint8_t *value = bytes + row->key_len;
		memcpy(value, row->value, row->len);
		if (row->table == RECORDS_SERVICES && row->len > sizeof(int64_t)) {
			service_hide(value + sizeof(int64_t), row->len - sizeof(int64_t));
		}
		to->value = value;
	}
	return E_OK;
}

static int add_record(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                      size_t len)
{
	struct copy *c = ctx;
	const struct client_row row = { key, value, c->table, (uint16_t)key_len,
		                        (uint16_t)len };

	return add_row(c, &row);
}

static int copy_all(const struct sweep *s, struct copy *c)
{
	int ret = E_OK;

	c->n = 0;
	for (unsigned k = 0; k < RECORDS_MIRRORED && ret == E_OK; k++) {
		c->table = (enum record_table)k;
		ret = state_records(s->d.state, c->table, add_record, c);
	}
	return ret;
}

static double spent_s(const struct sweep *s)
{
	return s->d.thread_clock != NULL ? s->d.thread_clock() : 0;
}

static int mirror(struct sweep *s, struct arena *a)
{
	struct copy c = { .a = a };
	struct snap_published done;
	int ret = state_changes(s->d.state, add_row, &c);

	s->mirror_all |= ret == E_STALE;
	if (s->mirror_all && (ret == E_OK || ret == E_STALE)) {
		ret = copy_all(s, &c);
	}
	if (ret == E_OK && (c.n > 0 || s->mirror_all)) {
		ret = snap_mirror(s->d.snap, c.rows, c.n, s->mirror_all, sweep_now(s),
		                  &done);
	}
	if (ret == E_OK && c.n > 0) {
		log_debug(source, "records of clients: %u rows, %llu bytes mirrored",
		          done.rows, (unsigned long long)done.bytes);
	}
	return ret;
}

static void mirror_and_tell(struct sweep *s)
{
	unsigned skipped;
	struct arena *a = arena_new();
	int ret = a == NULL ? -ENOMEM : mirror(s, a);

	arena_free(a);
	/* what was taken and not written is not told again */
	s->mirror_all = ret != E_OK;
	if (ret != E_OK &&
	    log_allowed(&s->mirror_lines, sweep_now(s), LINES, LINES_MS, &skipped)) {
		log_warning(source,
		            "the gateway does not see what clients write (groups, "
		            "services, subscriptions) as it is now: %s",
		            err_text(ret));
	}
}

void mirror_written(struct sweep *s)
{
	uint64_t every = sweep_now(s) + EVERY_MS;

	if (sweep_now(s) < s->next_mirror) {
		return;
	}
	s->next_mirror = every;
	if (s->d.snap == NULL || s->d.state == NULL || snap_epoch(s->d.snap) == 0) {
		return;
	}
	double began = spent_s(s);
	mirror_and_tell(s);
	uint64_t rested = sweep_now(s) + (uint64_t)((spent_s(s) - began) * 1000 * PAUSE);
	s->next_mirror = rested > every ? rested : every;
}

/* What is in the dump: not leases, which run by themselves. */
static uint64_t dump_version(const struct sweep *s)
{
	uint64_t sum = 1;

	for (unsigned k = 0; k < RECORD_TABLES; k++) {
		sum += state_version(s->d.state, (enum record_table)k);
	}
	return sum;
}

void dump_written(struct sweep *s)
{
	const char *dir = s->d.config->dump_files_dir;
	struct dump_counts c;
	unsigned skipped;
	uint64_t version;

	if (!s->d.config->sa_db_dump || s->d.state == NULL || s->d.wall_clock == NULL) {
		return;
	}
	version = dump_version(s);
	if (version == s->dumped_version) {
		return;
	}
	int ret = dump_export(s->d.state, dir, s->d.wall_clock(),
	                      s->d.config->subnet_prefix, &c);
	if (ret == E_OK) {
		s->dumped_version = version;
		log_debug(source,
		          "%s/" DUMP_FILE_NAME
		          ": %zu groups, %zu members, %zu services, %zu subscriptions",
		          dir, c.groups, c.members, c.services, c.subscriptions);
	} else if (log_allowed(&s->dump_lines, sweep_now(s), LINES, LINES_MS, &skipped)) {
		log_warning(source,
		            "%s/" DUMP_FILE_NAME " (sa_db_dump) is not written: %s", dir,
		            err_text(ret));
	}
}
