/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The way in: whoever receives pushes requests, the answer thread takes them out in
 * batches, together with the news, and sleeps when there are none.
 */
#include <pthread.h>
#include <string.h>

#include "db/reader.h"
#include "sa/server/server_int.h"
#include "sa/store/store.h"

bool server_is_idle(const struct sa_server *s)
{
	return fair_queue_length(s->queue) == 0 && s->news->n_traps == 0 &&
	       s->news->n_groups == 0 && !s->news->swept && !s->stop;
}

/* Sleeps until there is work, or something is due. Under the lock. */
static void wait_for_work(struct sa_server *s)
{
	uint64_t due = s->reports_due;
	int64_t lease = store_next_expiry(s->store);

	if (lease != STORE_FOR_EVER && due > server_ms() + 1000) {
		due = server_ms() + 1000; /* leases count in seconds of another clock */
	}
	struct timespec until = { .tv_sec = (time_t)(due / 1000),
		                  .tv_nsec = (long)(due % 1000) * 1000000 };
	s->asleep = true;
	while (s->stood_in || (server_is_idle(s) && !s->wants_back)) {
		int ret = due == UINT64_MAX || s->wants_back
		                  ? pthread_cond_wait(&s->more, &s->lock)
		                  : pthread_cond_timedwait(&s->more, &s->lock, &until);
		s->wants_back = s->wants_back || ret != 0;
	}
	s->asleep = s->wants_back = false;
}

/* Gives the last batch back: those that were served, and those that were not. Under the
 * lock. */
static void put_back(struct sa_server *s)
{
	while (s->n_batch > s->n_served) {
		fair_queue_return(s->queue, s->batch[--s->n_batch]);
	}
	for (unsigned i = 0; i < s->n_served; i++) {
		if (s->batch[i] == NULL) { /* put aside */
			continue;
		}
		fair_queue_charge(s->queue, s->batch[i]->line, s->cost[i]);
		fair_queue_release(s->queue, s->batch[i]);
	}
	s->n_batch = s->n_served = 0;
}

void server_take(struct sa_server *s)
{
	pthread_mutex_lock(&s->lock);
	put_back(s);
	if (!slow_tables_busy(s->tables) && server_is_idle(s)) {
		snap_unpin(s->reader);
		wait_for_work(s);
	}
	struct news *news = s->news;
	s->news = s->telling;
	s->telling = news;
	while (!s->stop && s->n_batch < BATCH &&
	       (s->batch[s->n_batch] = fair_queue_pop(s->queue)) != NULL) {
		s->n_batch++;
	}
	pthread_mutex_unlock(&s->lock);
}

/* Queues one; what has to give way is for the caller to refuse. Under the lock. */
static bool push_one(struct sa_server *s, const struct mad_msg *m,
                     struct fair_request *ret_victim)
{
	switch (fair_queue_push(s->queue, m, ret_victim)) {
	case FAIR_TAKEN: return true;
	case FAIR_EVICTED: return false;
	case FAIR_REFUSED: break;
	}
	size_t room = sizeof(ret_victim->mad);
	ret_victim->addr = m->addr;
	ret_victim->len = (uint32_t)(m->len < room ? m->len : room);
	memcpy(ret_victim->mad, m->data, ret_victim->len);
	return false;
}

bool server_admit(struct sa_server *s, const struct mad_msg *m, unsigned n)
{
	server_count(&s->requests, n);
	if (!s->standby) {
		return true;
	}
	server_count(&s->dropped_standby, n); /* the master answers */
	for (unsigned i = 0; i < n; i++) {
		server_drop(&m[i].addr);
	}
	return false;
}

/* The lock is not held while somebody is refused: that sends. */
void server_enqueue(struct sa_server *s, const struct mad_msg *m, unsigned n)
{
	struct fair_request victim;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < n; i++) {
		if (!push_one(s, &m[i], &victim)) {
			pthread_mutex_unlock(&s->lock);
			server_refuse(s, &victim);
			pthread_mutex_lock(&s->lock);
		}
	}
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
}

void sa_server_push_all(struct sa_server *s, const struct mad_msg *m, unsigned n)
{
	if (server_admit(s, m, n)) {
		server_enqueue(s, m, n);
	}
}

void sa_server_push(struct sa_server *s, const struct mad_msg *m)
{
	sa_server_push_all(s, m, 1);
}

void sa_server_standby(struct sa_server *s, bool on)
{
	s->standby = on;
}
