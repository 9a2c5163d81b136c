/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Answers at once: while the answer thread sleeps because nobody waits, who receives a
 * request that costs next to nothing stands in for it.
 *
 * A path between two ports is found in less time than it takes to copy the question into
 * the queue, to wake the answer thread and to bring the question from one processor's
 * cache to the other's. So the receiving thread answers it, with all that is the answer
 * thread's (reader, store, reply), which sleeps on meanwhile: there is one that answers
 * at any time, and what it does is the same.
 *
 * Fair it stays because only a few are answered so: as long as the device was found empty
 * not long before (struct transport_receiver), and those in front of the first that may take
 * longer. Whatever comes when others wait goes to the queue. What else was
 * thought of: doc/decisions/0010.
 */
#include <errno.h>
#include <pthread.h>

#include "conf/base/err.h"
#include "db/reader.h"
#include "sa/record/record.h"
#include "sa/server/server_int.h"

enum {
	STEPS = 1,  /* places to look at: such an answer has one */
	LMC_MAX = 2 /* beyond, two ports have many paths */
};

/* \return false: somebody has work for the thread, or it has itself. */
static bool stand_in(struct sa_server *s)
{
	pthread_mutex_lock(&s->lock);
	bool may = s->asleep && !s->stood_in && !s->wants_back && !s->reload &&
	           server_is_idle(s);
	s->stood_in = s->stood_in || may;
	pthread_mutex_unlock(&s->lock);
	return may;
}

static void step_back(struct sa_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->stood_in = false;
	if (s->wants_back || !server_is_idle(s)) {
		pthread_cond_signal(&s->more);
	}
	pthread_mutex_unlock(&s->lock);
}

/* \return false: it is for the queue after all. */
static bool make(struct sa_server *s, const struct mad_msg *m, struct once *o)
{
	o->reply.len = 0;
	o->ret = sa_work_begin(s->work, s->reader, s->store, &s->limits, m->data, m->len,
	                       &m->addr, &o->reply);
	if (o->ret == -EINPROGRESS) {
		o->ret = sa_work_part(s->work, s->reader, STEPS, &o->reply);
	}
	return o->ret != -EINPROGRESS && (o->ret != E_OK || o->reply.large == NULL);
}

/* What the answers read lies far apart in memory: it is called for before. */
static void call_for(struct sa_server *s, const struct mad_msg *m,
                     const struct sa_attr *const *attr, unsigned n)
{
	for (unsigned step = 0; n > 1 && step < SA_SOON_STEPS; step++) {
		for (unsigned i = 0; i < n; i++) {
			sa_soon(attr[i], s->reader, m[i].data, step);
		}
	}
}

/* \return how many, from the first on. */
static unsigned make_all(struct sa_server *s, const struct mad_msg *m,
                         const struct sa_attr *const *attr, unsigned n)
{
	unsigned made = 0;

	if (snap_pin(s->reader) == E_OK && snap_meta(s->reader)->lmc <= LMC_MAX) {
		call_for(s, m, attr, n);
		while (made < n && make(s, &m[made], &s->once[made])) {
			made++;
		}
	}
	snap_unpin(s->reader);
	return made;
}

/* All are made before the first is sent: the way through the kernel and back leaves
 * little of ours in the processor's caches. \return how many, from the first on. */
static unsigned answer(struct sa_server *s, const struct mad_msg *m,
                       const struct sa_attr *const *attr, unsigned n)
{
	unsigned made = make_all(s, m, attr, n), sent = 0;

	while (sent < made && server_try(s, &m[sent].addr, s->once[sent].ret,
	                                 &s->once[sent].reply) == E_OK) {
		sent++;
	}
	return sent;
}

/* \return how many, from the first on, are answered in no time. */
static unsigned count_brief(const struct mad_msg *m, unsigned n,
                            const struct sa_attr **attr)
{
	unsigned i = 0;

	while (i < n && i < ONCE && (attr[i] = sa_brief(m[i].data, m[i].len)) != NULL) {
		i++;
	}
	return i;
}

void sa_server_take(struct sa_server *s, const struct mad_msg *m, unsigned n)
{
	const struct sa_attr *attr[ONCE];
	unsigned brief = count_brief(m, n, attr), answered = 0;

	if (!server_admit(s, m, n)) {
		return;
	}
	if (brief > 0 && stand_in(s)) {
		answered = answer(s, m, attr, brief);
		step_back(s);
	}
	if (answered < n) {
		server_enqueue(s, m + answered, n - answered);
	}
}
