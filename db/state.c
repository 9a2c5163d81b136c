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
 */
#include "db/state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/change_log.h"
#include "db/layout.h"
#include "db/txn.h"

struct job {
	struct job *next;
	void (*run)(struct db_txn *t, struct job *j);
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
	struct job job;
	struct change *first, **last;
	void (*done_f)(void *ctx, int ret);
	void *ctx;
};

struct state {
	struct db *db;
	pthread_t thread;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t wake, done;
	struct job *head, **tail;
	bool stop;
	_Atomic uint64_t version[RECORD_TABLES]; /* not under the lock */
	struct change_log *log;
};

static void run_put_lids(struct db_txn *t, struct job *j)
{
	if (j->forget) {
		db_clear(t, STATE_LIDS);
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct lid_memory *m = &j->memory[i];
		struct row_lid row = { .base = m->range.base,
			               .lmc = m->range.lmc,
			               .gone_epoch = m->gone_epoch,
			               .gone_time = m->gone_time };
		uint8_t key[8];
		key_u64(key, m->guid);
		if (m->range.base) {
			db_put(t, STATE_LIDS, key, sizeof(key), &row, sizeof(row));
		} else {
			db_del(t, STATE_LIDS, key, sizeof(key));
		}
	}
}

static void run_next_epoch(struct db_txn *t, struct job *j)
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

static void run_mark(struct db_txn *t, struct job *j)
{
	db_put(t, STATE_EPOCH, j->mark, strlen(j->mark), &j->epoch, sizeof(j->epoch));
}

static void run_batch(struct db_txn *t, struct job *j)
{
	for (const struct change *c = j->batch->first; c; c = c->next) {
		unsigned table = STATE_SERVICES + (unsigned)c->table;
		if (c->removes) {
			db_del(t, table, c->bytes, c->key_len);
		} else {
			db_put(t, table, c->bytes, c->key_len, c->bytes + c->key_len,
			       c->len);
		}
	}
}

/* Tells those who do not wait, and takes their jobs off the list: a state_flush() among
 * the others then returns after them. */
static struct job *tell_batches(struct state *s, struct job *jobs, int ret)
{
	struct job *rest = NULL, **end = &rest;
	while (jobs) {
		struct job *j = jobs;
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
			*end = j;
			end = &j->next;
		}
	}
	*end = NULL;
	return rest;
}

static void run_jobs(struct state *s, struct job *jobs)
{
	struct db_txn t;
	int ret = db_begin(&t, s->db, true);
	if (ret == E_OK) {
		for (struct job *j = jobs; j; j = j->next) {
			j->run(&t, j);
		}
		ret = db_commit(&t);
	}
	jobs = tell_batches(s, jobs, ret);
	pthread_mutex_lock(&s->lock);
	while (jobs) {
		struct job *next =
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
		struct job *jobs = s->head;
		s->head = NULL;
		s->tail = &s->head;
		pthread_mutex_unlock(&s->lock);
		if (!jobs) {
			return NULL;
		}
		run_jobs(s, jobs);
	}
}

static void enqueue(struct state *s, struct job *j) /* under the lock */
{
	*s->tail = j;
	s->tail = &j->next;
	pthread_cond_signal(&s->wake);
}

static int submit(struct state *s, struct job *j)
{
	pthread_mutex_lock(&s->lock);
	enqueue(s, j);
	while (!j->done) {
		pthread_cond_wait(&s->done, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return j->ret;
}

int state_open(const char *dir, struct arena *a, const char **ret_why, struct state **ret)
{
	struct state *s = calloc(1, sizeof(*s));
	if (!s) {
		return -ENOMEM;
	}
	int res = db_open_writer(&kind_state, dir, 0, 0, a, ret_why, &s->db);
	if (res != E_OK) {
		free(s);
		return res;
	}
	s->log = change_log_new();
	if (!s->log) {
		db_unref(s->db);
		free(s);
		return -ENOMEM;
	}
	s->tail = &s->head;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	pthread_cond_init(&s->done, NULL);
	int rc = pthread_create(&s->thread, NULL, writer_main, s);
	if (rc != 0) {
		if (a && ret_why) {
			*ret_why = arena_printf(a, "cannot start a thread: %s",
			                        strerror(rc));
		}
		change_log_free(s->log);
		db_unref(s->db);
		free(s);
		return -rc;
	}
	*ret = s;
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
	change_log_free(s->log);
	db_unref(s->db);
	free(s);
}

static int read_lid(const struct db_val *k, const struct db_val *v,
                    struct lid_memory *ret)
{
	struct row_lid row;
	if (k->len != 8 || v->len != sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, v->data, sizeof(row));
	ret->guid = key_read_u64(k->data);
	ret->range.base = row.base;
	ret->range.lmc = row.lmc;
	ret->gone_epoch = row.gone_epoch;
	ret->gone_time = row.gone_time;
	return E_OK;
}

int state_lids(struct state *s, struct arena *a, struct lid_memory **ret, size_t *ret_n)
{
	struct db_txn t;
	struct db_val k, v;
	MDB_stat st;
	int res = db_begin(&t, s->db, false);
	if (res != E_OK) {
		return res;
	}
	res = db_err(mdb_stat(t.txn, s->db->dbi[STATE_LIDS], &st));
	struct lid_memory *m = NULL;
	size_t n = 0;
	if (res == E_OK) {
		m = arena_array(a, st.ms_entries, sizeof(*m));
		res = m ? db_seek(&t, STATE_LIDS, NULL, 0, &k, &v) : -ENOMEM;
	}
	while (res == E_OK) {
		/* never more than the count said, unless the tree is damaged */
		res = n < st.ms_entries ? read_lid(&k, &v, &m[n]) : E_MALFORMED;
		if (res == E_OK) {
			n++;
			res = db_next(&t, STATE_LIDS, &k, &v);
		}
	}
	db_abort(&t);
	if (res != E_NOTFOUND) {
		return res;
	}
	*ret = m;
	*ret_n = n;
	return E_OK;
}

int state_put_lids(struct state *s, const struct lid_memory *m, size_t n, bool forget)
{
	struct job j = { .run = run_put_lids, .memory = m, .n = n, .forget = forget };
	return submit(s, &j);
}

int state_next_epoch(struct state *s, uint64_t above, uint64_t *ret_epoch)
{
	struct job j = { .run = run_next_epoch, .above = above };
	int ret = submit(s, &j);
	if (ret == E_OK) {
		*ret_epoch = j.epoch;
	}
	return ret;
}

int state_mark_put(struct state *s, const char *name, uint64_t value)
{
	struct job j = { .run = run_mark, .mark = name, .epoch = value };
	return submit(s, &j);
}

int state_mark_get(struct state *s, const char *name, uint64_t *ret)
{
	struct db_txn t;
	struct db_val v;
	int res = db_begin(&t, s->db, false);
	if (res != E_OK) {
		return res;
	}
	res = db_get(&t, STATE_EPOCH, name, strlen(name), &v);
	if (res == E_OK && v.len != sizeof(*ret)) {
		res = E_MALFORMED;
	}
	if (res == E_OK) {
		memcpy(ret, v.data, sizeof(*ret));
	}
	db_abort(&t);
	return res;
}

/* --- records that clients write -------------------------------------------------------
 */

int state_batch_new(struct state_batch **ret)
{
	struct state_batch *b = calloc(1, sizeof(*b));
	if (!b) {
		return -ENOMEM;
	}
	b->job.run = run_batch;
	b->job.batch = b;
	b->last = &b->first;
	*ret = b;
	return E_OK;
}

void state_batch_free(struct state_batch *b)
{
	if (!b) {
		return;
	}
	while (b->first) {
		struct change *c = b->first;
		b->first = c->next;
		free(c);
	}
	free(b);
}

int state_batch_put(struct state_batch *b, enum record_table table, const void *key,
                    size_t key_len, const void *value, size_t len)
{
	struct change *c = calloc(1, sizeof(*c) + key_len + (value ? len : 0));
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

static void run_nothing(struct db_txn *t, struct job *j)
{
	(void)t;
	(void)j;
}

void state_flush(struct state *s)
{
	struct job j = { .run = run_nothing };
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
	unsigned at = STATE_SERVICES + (unsigned)table;
	int ret = db_begin(&t, s->db, false);
	if (ret != E_OK) {
		return ret;
	}
	ret = db_seek(&t, at, NULL, 0, &k, &v);
	while (ret == E_OK) {
		ret = f(ctx, k.data, k.len, v.data, v.len);
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
	int ret = db_find(t, STATE_SERVICES + (unsigned)c->table, c->key, c->len, &v);
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
