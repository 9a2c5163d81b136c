/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The durable state. One thread writes; it takes its jobs from a queue. Callers wait until
 * the commit with their change is on disk, so an acknowledged change survives a power cut.
 * The thread puts all waiting jobs into one transaction. While a commit goes to the disk,
 * the jobs of the next one queue up, so no job waits for others to arrive.
 *
 * If one job fails, the whole transaction fails and with it all of its jobs. The file then
 * holds the state before it, because LMDB never overwrites a page in use.
 *
 * Longer than most: the queue, its jobs, and the copies that other daemons give and take share
 * one writing thread and its order of commits.
 */
#include "db/state/state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/layout.h"
#include "db/lmdb/txn.h"
#include "db/state/change_log.h"

struct state_request {
	struct state_request *next;
	void (*run)(struct db_txn *t, struct state_request *j);
	bool done;
	int ret;
	/* put_lids */
	const struct lid_memory *memory;
	size_t n;
	bool forget;
	/* next_epoch */
	uint64_t epoch, above;
	const char *mark; /* whose number is epoch */
	/* of a batch, which nobody waits for; NULL: of a caller that waits */
	struct state_batch *batch;
	/* of another daemon's state */
	const struct state_write *write; /* [n] */
	const struct state_copy_mark *copied;
	bool replace;
};

/* One row; the key's bytes, then the value's. */
struct change {
	struct change *next;
	enum record_table table;
	bool removes;
	size_t key_len, len;
	uint8_t bytes[];
};

struct state_batch {
	struct state_request job;
	struct change *first, **last;
	struct change *reserved; /* for removals */
	size_t n_reserved;
	void (*done_f)(void *ctx, int ret);
	void *ctx;
};

struct state {
	struct db *db;
	pthread_t thread;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t wake, done;
	struct state_request *head, **tail;
	bool stop;
	struct db_row refused;                   /* by a reader; without a table: none */
	_Atomic uint64_t version[RECORD_TABLES]; /* not under the lock */
	struct change_log *log;
	/* held while a transaction is committed and shown to the follower */
	pthread_mutex_t committing;
	const struct state_follower *follower; /* under committing; NULL: none */
};

static struct row_lid lid_row(const struct lid_memory *m)
{
	return (struct row_lid){ .base = m->range.base,
		                 .lmc = m->range.lmc,
		                 .gone_epoch = m->gone_epoch,
		                 .gone_time = m->gone_time };
}

static void run_put_lids(struct db_txn *t, struct state_request *j)
{
	if (j->forget) {
		db_clear(t, STATE_LIDS);
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct lid_memory *m = &j->memory[i];
		const struct row_lid row = lid_row(m);
		uint8_t key[8];
		key_u64(key, m->guid);
		if (m->range.base) {
			db_put(t, STATE_LIDS, key, sizeof(key), &row, sizeof(row));
		} else {
			db_del(t, STATE_LIDS, key, sizeof(key));
		}
	}
}

static void run_next_epoch(struct db_txn *t, struct state_request *j)
{
	struct db_val v;
	uint64_t last = 0;
	int ret = db_get(t, STATE_EPOCH, DB_KEY_EPOCH, sizeof(DB_KEY_EPOCH), &v);
	if (ret == E_OK) {
		if (v.len != sizeof(last)) {
			t->ret = E_MALFORMED;
			return;
		}
		memcpy(&last, v.data, sizeof(last));
	}
	j->epoch = (last > j->above ? last : j->above) + 1;
	db_put(t, STATE_EPOCH, DB_KEY_EPOCH, sizeof(DB_KEY_EPOCH), &j->epoch,
	       sizeof(j->epoch));
}

static void run_mark(struct db_txn *t, struct state_request *j)
{
	db_put(t, STATE_EPOCH, j->mark, strlen(j->mark), &j->epoch, sizeof(j->epoch));
}

static void run_batch(struct db_txn *t, struct state_request *j)
{
	for (const struct change *c = j->batch->first; c; c = c->next) {
		unsigned table = STATE_RECORD_TABLE(c->table);
		if (c->removes) {
			db_del(t, table, c->bytes, c->key_len);
		} else {
			db_put(t, table, c->bytes, c->key_len, c->bytes + c->key_len,
			       c->len);
		}
	}
}

static void show_lids(const struct state_follower *f, const struct state_request *j)
{
	if (j->forget) {
		f->write(f->ctx,
		         &(struct state_write){ .table = COPIED_LIDS, .clears = true });
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct lid_memory *m = &j->memory[i];
		const struct row_lid row = lid_row(m);
		struct state_write w = { .table = COPIED_LIDS,
			                 .key_len = 8,
			                 .len = m->range.base ? sizeof(row) : 0 };
		uint8_t key[8];

		key_u64(key, m->guid);
		w.key = key;
		w.value = m->range.base ? (const uint8_t *)&row : NULL;
		f->write(f->ctx, &w);
	}
}

static void show_batch(const struct state_follower *f, const struct state_batch *b)
{
	for (const struct change *c = b->first; c != NULL; c = c->next) {
		f->write(f->ctx,
		         &(struct state_write){
				 .table = (uint8_t)(COPIED_RECORDS + (unsigned)c->table),
				 .key = c->bytes,
				 .key_len = (uint16_t)c->key_len,
				 .value = c->removes ? NULL : c->bytes + c->key_len,
				 .len = (uint32_t)c->len });
	}
}

static void show_job(const struct state_follower *f, const struct state_request *j)
{
	if (j->batch != NULL) {
		show_batch(f, j->batch);
	} else if (j->memory != NULL || j->forget) {
		show_lids(f, j);
	}
	for (size_t i = 0; j->write != NULL && i < j->n; i++) {
		f->write(f->ctx, &j->write[i]);
	}
}

static void log_applied(struct state *s, const struct state_request *j)
{
	bool all = j->replace;

	for (size_t i = 0; i < j->n; i++) {
		const struct state_write *w = &j->write[i];

		all |= w->clears;
		if (w->table >= COPIED_RECORDS && !w->clears) {
			enum record_table table =
				(enum record_table)(w->table - COPIED_RECORDS);

			s->version[table]++;
			change_log_add(s->log, table, w->key, w->key_len);
		}
	}
	if (all) {
		change_log_lose(s->log);
		for (unsigned i = 0; i < RECORD_TABLES; i++) {
			s->version[i]++;
		}
	}
}

/* Tells those who do not wait, and takes their jobs off the list: a state_flush() among
 * the others then returns after them. */
static struct state_request *tell_batches(struct state *s, struct state_request *jobs,
                                          int ret)
{
	struct state_request *rest = NULL, **end = &rest;
	while (jobs) {
		struct state_request *j = jobs;
		jobs = j->next;
		if (j->batch) {
			for (const struct change *c = j->batch->first; c; c = c->next) {
				s->version[c->table]++;
				if (ret == E_OK) {
					change_log_add(s->log, c->table, c->bytes,
					               c->key_len);
				}
			}
			j->batch->done_f(j->batch->ctx, ret);
			state_batch_free(j->batch);
		} else {
			if (j->write && ret == E_OK) {
				log_applied(s, j);
			}
			*end = j;
			end = &j->next;
		}
	}
	*end = NULL;
	return rest;
}

static void run_jobs(struct state *s, struct state_request *jobs)
{
	struct db_txn t;
	pthread_mutex_lock(&s->committing);
	int ret = db_begin(&t, s->db, true);
	if (ret == E_OK) {
		for (struct state_request *j = jobs; j; j = j->next) {
			j->run(&t, j);
		}
		ret = db_commit(&t);
	}
	const struct state_follower *f = ret == E_OK ? s->follower : NULL;
	if (f) {
		for (struct state_request *j = jobs; j; j = j->next) {
			show_job(f, j);
		}
		f->committed(f->ctx);
	}
	pthread_mutex_unlock(&s->committing);
	if (f) {
		f->settle(f->ctx);
	}
	jobs = tell_batches(s, jobs, ret);
	pthread_mutex_lock(&s->lock);
	while (jobs) {
		struct state_request *next =
			jobs->next; /* the job is its caller's again once done */
		jobs->ret = ret;
		jobs->done = true;
		jobs = next;
	}
	pthread_cond_broadcast(&s->done);
	pthread_mutex_unlock(&s->lock);
}

static void *writer_main(void *arg)
{
	struct state *s = arg;
	for (;;) {
		pthread_mutex_lock(&s->lock);
		while (!s->head && !s->stop) {
			pthread_cond_wait(&s->wake, &s->lock);
		}
		struct state_request *jobs = s->head;
		s->head = NULL;
		s->tail = &s->head;
		pthread_mutex_unlock(&s->lock);
		if (!jobs) {
			return NULL;
		}
		run_jobs(s, jobs);
	}
}

static void enqueue(struct state *s, struct state_request *j) /* under the lock */
{
	*s->tail = j;
	s->tail = &j->next;
	pthread_cond_signal(&s->wake);
}

static int submit(struct state *s, struct state_request *j)
{
	pthread_mutex_lock(&s->lock);
	enqueue(s, j);
	while (!j->done) {
		pthread_cond_wait(&s->done, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return j->ret;
}

int state_open(const char *dir, struct arena *a, const char **ret_why,
               struct state **ret_state)
{
	struct state *s = calloc(1, sizeof(*s));
	if (!s) {
		return -ENOMEM;
	}
	int ret = db_open_writer(&kind_state, dir, 0, 0, a, ret_why, &s->db);
	if (ret != E_OK) {
		free(s);
		return ret;
	}
	s->log = change_log_new();
	if (!s->log) {
		db_unref(s->db);
		free(s);
		return -ENOMEM;
	}
	s->tail = &s->head;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->committing, NULL);
	pthread_cond_init(&s->wake, NULL);
	pthread_cond_init(&s->done, NULL);
	int errnum = pthread_create(&s->thread, NULL, writer_main, s);
	if (errnum != 0) {
		if (a && ret_why) {
			*ret_why = arena_printf(a, "cannot start a thread: %s",
			                        strerror(errnum));
		}
		change_log_free(s->log);
		db_unref(s->db);
		free(s);
		return -errnum;
	}
	*ret_state = s;
	return E_OK;
}

void state_close(struct state *s)
{
	if (!s) {
		return;
	}
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->done);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->committing);
	change_log_free(s->log);
	db_unref(s->db);
	free(s);
}

const char *state_err_text(struct state *s, int ret, struct arena *a)
{
	if (s == NULL || ret != E_MALFORMED) {
		return err_text(ret);
	}
	pthread_mutex_lock(&s->lock);
	struct db_row row = s->refused;
	pthread_mutex_unlock(&s->lock);
	return damage_text(s->db, &row, ret, a);
}

/* Notes the row that a reader does not take. \return What the reader said. */
static int note_refused(struct state *s, unsigned table, const struct db_val *key,
                        int ret)
{
	if (ret == E_MALFORMED) {
		pthread_mutex_lock(&s->lock);
		damage_note(&s->refused, &kind_state, table, key->data, key->len);
		pthread_mutex_unlock(&s->lock);
	}
	return ret;
}

static int read_lid(const struct db_val *k, const struct db_val *v,
                    struct lid_memory *ret_memory)
{
	struct row_lid row;
	if (k->len != 8 || v->len != sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, v->data, sizeof(row));
	ret_memory->guid = key_read_u64(k->data);
	ret_memory->range.base = row.base;
	ret_memory->range.lmc = row.lmc;
	ret_memory->gone_epoch = row.gone_epoch;
	ret_memory->gone_time = row.gone_time;
	return E_OK;
}

int state_lids(struct state *s, struct arena *a, struct lid_memory **ret_memory,
               size_t *ret_n)
{
	struct db_txn t;
	struct db_val k, v;
	int ret = db_begin(&t, s->db, false);
	if (ret != E_OK) {
		return ret;
	}
	size_t n_rows = (size_t)db_count(&t, STATE_LIDS);
	struct lid_memory *m = NULL;
	size_t n = 0;
	ret = t.ret;
	if (ret == E_OK) {
		m = arena_array(a, n_rows, sizeof(*m));
		ret = m ? db_seek(&t, STATE_LIDS, NULL, 0, &k, &v) : -ENOMEM;
	}
	while (ret == E_OK) {
		/* never more than the count said, unless the tree is damaged */
		ret = n < n_rows
		              ? note_refused(s, STATE_LIDS, &k, read_lid(&k, &v, &m[n]))
		              : E_MALFORMED;
		if (ret == E_OK) {
			n++;
			ret = db_next(&t, STATE_LIDS, &k, &v);
		}
	}
	db_abort(&t);
	if (ret != E_NOTFOUND) {
		return ret;
	}
	*ret_memory = m;
	*ret_n = n;
	return E_OK;
}

int state_put_lids(struct state *s, const struct lid_memory *m, size_t n, bool forget)
{
	struct state_request j = {
		.run = run_put_lids, .memory = m, .n = n, .forget = forget
	};
	return submit(s, &j);
}

int state_next_epoch(struct state *s, uint64_t above, uint64_t *ret_epoch)
{
	struct state_request j = { .run = run_next_epoch, .above = above };
	int ret = submit(s, &j);
	if (ret == E_OK) {
		*ret_epoch = j.epoch;
	}
	return ret;
}

int state_mark_put(struct state *s, const char *name, uint64_t value)
{
	struct state_request j = { .run = run_mark, .mark = name, .epoch = value };
	return submit(s, &j);
}

int state_mark_get(struct state *s, const char *name, uint64_t *ret_number)
{
	struct db_txn t;
	struct db_val v;
	int ret = db_begin(&t, s->db, false);
	if (ret != E_OK) {
		return ret;
	}
	ret = db_get(&t, STATE_EPOCH, name, strlen(name), &v);
	if (ret == E_OK && v.len != sizeof(*ret_number)) {
		ret = E_MALFORMED;
	}
	if (ret == E_OK) {
		memcpy(ret_number, v.data, sizeof(*ret_number));
	}
	db_abort(&t);
	return ret;
}

/* --- records that clients write -------------------------------------------------------
 */

int state_batch_new(struct state_batch **ret_batch)
{
	struct state_batch *b = calloc(1, sizeof(*b));
	if (!b) {
		return -ENOMEM;
	}
	b->job.run = run_batch;
	b->job.batch = b;
	b->last = &b->first;
	*ret_batch = b;
	return E_OK;
}

void state_batch_free(struct state_batch *b)
{
	if (!b) {
		return;
	}
	*b->last = b->reserved;
	while (b->first) {
		struct change *c = b->first;
		b->first = c->next;
		free(c);
	}
	free(b);
}

void state_batch_join(struct state_batch *to, struct state_batch *from)
{
	if (from->first != NULL) {
		*to->last = from->first;
		to->last = from->last;
		from->first = NULL;
		from->last = &from->first;
	}
	state_batch_free(from);
}

int state_batch_reserve(struct state_batch *b, size_t n)
{
	while (b->n_reserved < n) {
		struct change *c = calloc(1, sizeof(*c) + STATE_RESERVED_KEY_BYTES);

		if (c == NULL) {
			return -ENOMEM;
		}
		c->next = b->reserved;
		b->reserved = c;
		b->n_reserved++;
	}
	return E_OK;
}

/* A change with room for its bytes. \return NULL: out of memory. */
static struct change *new_change(struct state_batch *b, size_t key_len, bool removes, size_t len)
{
	struct change *c = b->reserved;

	if (!removes || c == NULL || key_len > STATE_RESERVED_KEY_BYTES) {
		return calloc(1, sizeof(*c) + key_len + (removes ? 0 : len));
	}
	b->reserved = c->next;
	b->n_reserved--;
	c->next = NULL;
	return c;
}

int state_batch_put(struct state_batch *b, enum record_table table, const void *key,
                    size_t key_len, const void *value, size_t len)
{
	struct change *c = new_change(b, key_len, value == NULL, len);
	if (!c) {
		return -ENOMEM;
	}
	c->table = table;
	c->removes = !value;
	c->key_len = key_len;
	memcpy(c->bytes, key, key_len);
	if (value) {
		c->len = len;
		memcpy(c->bytes + key_len, value, len);
	}
	*b->last = c;
	b->last = &c->next;
	return E_OK;
}

void state_batch_commit(struct state *s, struct state_batch *b,
                        void (*done)(void *ctx, int ret), void *ctx)
{
	b->done_f = done;
	b->ctx = ctx;
	pthread_mutex_lock(&s->lock);
	enqueue(s, &b->job);
	pthread_mutex_unlock(&s->lock);
}

static void run_nothing(struct db_txn *t, struct state_request *j)
{
	(void)t;
	(void)j;
}

void state_flush(struct state *s)
{
	struct state_request j = { .run = run_nothing };
	(void)submit(s, &j);
}

uint64_t state_version(const struct state *s, enum record_table table)
{
	return s->version[table];
}

int state_records(struct state *s, enum record_table table,
                  int (*f)(void *ctx, const uint8_t *key, size_t key_len,
                           const uint8_t *value, size_t len),
                  void *ctx)
{
	struct db_txn t;
	struct db_val k, v;
	unsigned at = STATE_RECORD_TABLE(table);
	int ret = db_begin(&t, s->db, false);
	if (ret != E_OK) {
		return ret;
	}
	ret = db_seek(&t, at, NULL, 0, &k, &v);
	while (ret == E_OK) {
		ret = note_refused(s, at, &k, f(ctx, k.data, k.len, v.data, v.len));
		if (ret == E_OK) {
			ret = db_next(&t, at, &k, &v);
		}
	}
	db_abort(&t);
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int log_change(struct db_txn *t, const struct logged_change *c,
                      int (*f)(void *ctx, const struct client_row *row), void *ctx)
{
	struct client_row row = { .key = c->key, .table = c->table, .key_len = c->len };
	struct db_val v;
	int ret = db_find(t, STATE_RECORD_TABLE(c->table), c->key, c->len, &v);
	if (ret == E_OK) {
		row.value = v.data;
		row.len = (uint16_t)v.len;
	}
	return ret == E_OK || ret == E_NOTFOUND ? f(ctx, &row) : ret;
}

int state_changes(struct state *s, int (*f)(void *ctx, const struct client_row *row),
                  void *ctx)
{
	struct change_list list;
	struct db_txn t;
	int ret = change_log_take(s->log, &list);
	if (ret != E_OK) {
		return ret;
	}
	ret = db_begin(&t, s->db, false);
	for (size_t i = 0; i < list.n && ret == E_OK; i++) {
		ret = log_change(&t, &list.change[i], f, ctx);
	}
	db_abort(&t);
	change_list_done(&list);
	if (ret != E_OK) {
		change_log_lose(s->log);
	}
	return ret;
}

/* --- copies for other daemons --------------------------------------------------------- */

_Static_assert((int)STATE_COPY_FORMAT == (int)LAYOUT_STATE,
               "copies have the layout of the state");

static const char mark_guid[] = "copy.guid", mark_prefix[] = "copy.prefix",
		  mark_sequence[] = "copy.sequence", mark_time[] = "copy.time",
		  mark_complete[] = "copy.complete";

static unsigned table_of(unsigned copied)
{
	return copied == COPIED_LIDS ? (unsigned)STATE_LIDS
	                             : STATE_RECORD_TABLE(copied - COPIED_RECORDS);
}

/* --- giving ------------------------------------------------------------------------------ */

struct state_copy {
	struct db_txn t;
	unsigned table; /* enum state_copied */
	bool inside;    /* of that table */
};

int state_copy_begin(struct state *s, const struct state_follower *f,
                     void (*begun)(void *ctx), void *ctx, struct state_copy **ret_copy)
{
	struct state_copy *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		return -ENOMEM;
	}
	pthread_mutex_lock(&s->committing);
	int ret = db_begin(&c->t, s->db, false);
	if (ret == E_OK) {
		s->follower = f != NULL ? f : s->follower;
		if (begun != NULL) {
			begun(ctx);
		}
	}
	pthread_mutex_unlock(&s->committing);
	if (ret != E_OK) {
		free(c);
		return ret;
	}
	*ret_copy = c;
	return E_OK;
}

void state_copy_end(struct state_copy *c)
{
	if (c != NULL) {
		db_abort(&c->t);
		free(c);
	}
}

int state_copy_next(struct state_copy *c, struct state_write *ret_write)
{
	struct db_val k, v;
	int ret = E_NOTFOUND;

	while (ret == E_NOTFOUND && c->table < COPIED_TABLES) {
		unsigned table = table_of(c->table);

		ret = c->inside ? db_next(&c->t, table, &k, &v)
		                : db_seek(&c->t, table, NULL, 0, &k, &v);
		c->inside = ret == E_OK;
		c->table += ret == E_NOTFOUND;
	}
	if (ret == E_OK) {
		*ret_write = (struct state_write){ .table = (uint8_t)c->table,
			                           .key = k.data,
			                           .key_len = (uint16_t)k.len,
			                           .value = v.data,
			                           .len = (uint32_t)v.len };
	}
	return ret;
}

void state_follow_end(struct state *s)
{
	pthread_mutex_lock(&s->committing);
	s->follower = NULL;
	pthread_mutex_unlock(&s->committing);
	state_flush(s); /* a call that waits has returned then */
}

/* --- taking ------------------------------------------------------------------------------ */

bool state_lid_fits(size_t key_len, const void *value, size_t len)
{
	struct row_lid row;

	if (key_len != sizeof(uint64_t) || len != sizeof(row)) {
		return false;
	}
	memcpy(&row, value, sizeof(row));
	return row.base != 0 && row.lmc <= 7 &&
	       row.base + (UINT32_C(1) << row.lmc) - 1 <= LID_LIMIT_MAX &&
	       row.base <= LID_LIMIT_MAX;
}

bool state_partition_fits(const uint8_t *key, size_t key_len, const void *value,
                          size_t len)
{
	struct row_runtime_partition row;

	if (key_len == PARTITION_MEMBER_KEY_BYTES) {
		return value == NULL || len == 1;
	}
	if (key_len != PARTITION_KEY_BYTES || value == NULL) {
		return key_len == PARTITION_KEY_BYTES;
	}
	if (key_read_u16(key) == 0) {
		return len == sizeof(struct row_runtime_head);
	}
	if (len < sizeof(row)) {
		return false;
	}
	memcpy(&row, value, sizeof(row));
	return len == sizeof(row) + row.name_len;
}

static void put_mark(struct db_txn *t, const char *name, uint64_t value)
{
	db_put(t, STATE_EPOCH, name, strlen(name), &value, sizeof(value));
}

static void run_apply(struct db_txn *t, struct state_request *j)
{
	for (unsigned i = 0; j->replace && i < COPIED_TABLES; i++) {
		db_clear(t, table_of(i));
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct state_write *w = &j->write[i];
		unsigned table = table_of(w->table);

		if (w->clears) {
			db_clear(t, table);
		} else if (w->value == NULL) {
			db_del(t, table, w->key, w->key_len);
		} else {
			db_put(t, table, w->key, w->key_len, w->value, w->len);
		}
	}
	put_mark(t, mark_guid, j->copied->guid);
	put_mark(t, mark_prefix, j->copied->prefix);
	put_mark(t, mark_sequence, j->copied->sequence);
	put_mark(t, mark_time, j->copied->time_s);
	put_mark(t, mark_complete, j->copied->complete);
}

int state_apply(struct state *s, const struct state_write *w, size_t n, bool replace,
                const struct state_copy_mark *mark)
{
	static const struct state_write none;
	struct state_request j = { .run = run_apply,
		                   .write = w != NULL ? w : &none,
		                   .n = n,
		                   .replace = replace,
		                   .copied = mark };

	return submit(s, &j);
}

static int get_mark(struct state *s, const char *name, uint64_t *ret_number)
{
	int ret = state_mark_get(s, name, ret_number);

	if (ret == E_NOTFOUND) {
		*ret_number = 0;
		ret = E_OK;
	}
	return ret;
}

int state_copy_mark(struct state *s, struct state_copy_mark *ret_copy_mark)
{
	struct state_copy_mark m = { 0 };
	uint64_t complete = 0;
	int ret = get_mark(s, mark_guid, &m.guid);

	if (ret == E_OK) {
		ret = get_mark(s, mark_prefix, &m.prefix);
	}
	if (ret == E_OK) {
		ret = get_mark(s, mark_sequence, &m.sequence);
	}
	if (ret == E_OK) {
		ret = get_mark(s, mark_time, &m.time_s);
	}
	if (ret == E_OK) {
		ret = get_mark(s, mark_complete, &complete);
	}
	if (ret == E_OK) {
		m.complete = complete != 0;
		*ret_copy_mark = m;
	}
	return ret;
}
