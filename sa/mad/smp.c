/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * SMP engine.
 *
 * A request waits in the queue of its destination; destinations with something to send
 * and room for it stand in a ring and are served one request each in turn, so a switch
 * with hundreds of table blocks delays nobody. A request that was sent holds a slot; its
 * number and a generation are the low half of the transaction id, so an answer finds its
 * slot without a search and an answer to an earlier user of the slot is known as late.
 *
 * A try that is not answered in time goes to the tail of one retry queue. Two rules keep
 * those who do not answer from holding the window:
 *  - retries get a quarter of the window while fresh requests wait, three quarters at
 * most;
 *  - a destination with a late request has one request in flight instead of PER_DEST.
 * When a request fails for good, its destination is dead and all its other requests fail
 * with it, so a switch that dies under a table download costs one timeout, not hundreds.
 *
 * All tries have the same timeout, so the slots in order of sending are in order of
 * deadline. Sends that the transport refuses with -EAGAIN wait for the next turn.
 */
#include "sa/mad/smp.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"

enum {
	/* No transport carries more than 256 MADs of all classes; the rest is for the SA.
	 */
	WINDOW_MAX = 224,
	PER_DEST = 4,
	AGAIN_MS =
		2, /* how long to wait when the local queue is full and nothing is out */
	SLOT_BITS = 8
};

struct smp_job {
	TAILQ_ENTRY(smp_job) entry; /* waiting, retry, failed or free queue */
	struct smp_order order;
	unsigned tries;
	uint8_t data[SMP_DATA_BYTES];
};

TAILQ_HEAD(job_queue, smp_job);

struct slot {
	TAILQ_ENTRY(slot) entry; /* flying or free */
	struct smp_job *job;     /* NULL: free */
	uint64_t deadline;
	uint32_t generation;
};

TAILQ_HEAD(slot_queue, slot);

struct smp {
	struct transport *t;
	struct smp_limits limits;
	struct smp_counters counters;
	unsigned in_flight;
	unsigned late_in_flight; /* of these, second and further tries */
	unsigned pending;
	bool blocked; /* the transport said -EAGAIN */
	TAILQ_HEAD(, smp_dest) ready;
	struct job_queue retry;
	struct job_queue failed; /* to be reported by smp_run() */
	struct job_queue spare;
	struct slot_queue flying;
	struct slot_queue idle;
	struct slot slots[1 << SLOT_BITS];
};

void smp_set_limits(struct smp *s, const struct smp_limits *l)
{
	s->limits = *l;
	if (!l->window || l->window > WINDOW_MAX) {
		s->limits.window = WINDOW_MAX;
	}
}

int smp_new(struct transport *t, const struct smp_limits *l, struct smp **ret)
{
	struct smp *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		return -ENOMEM;
	}
	s->t = t;
	smp_set_limits(s, l);
	TAILQ_INIT(&s->ready);
	TAILQ_INIT(&s->retry);
	TAILQ_INIT(&s->failed);
	TAILQ_INIT(&s->spare);
	TAILQ_INIT(&s->flying);
	TAILQ_INIT(&s->idle);
	for (unsigned i = 0; i < sizeof(s->slots) / sizeof(s->slots[0]); i++) {
		TAILQ_INSERT_TAIL(&s->idle, &s->slots[i], entry);
	}
	*ret = s;
	return E_OK;
}

void smp_free(struct smp *s)
{
	struct smp_job *job;

	if (s == NULL) {
		return;
	}
	smp_abort(s);
	while ((job = TAILQ_FIRST(&s->spare)) != NULL) {
		TAILQ_REMOVE(&s->spare, job, entry);
		free(job);
	}
	free(s);
}

const struct smp_counters *smp_counters(const struct smp *s)
{
	return &s->counters;
}

unsigned smp_pending(const struct smp *s)
{
	return s->pending;
}

/* --- paths and destinations ------------------------------------------------------ */

int smp_path_extend(const struct smp_path *from, uint8_t port, struct smp_path *ret)
{
	if (from->hops >= SMP_HOPS_MAX) {
		return E_RANGE;
	}
	*ret = *from;
	ret->port[++ret->hops] = port;
	return E_OK;
}

const char *smp_path_text(const struct smp_path *p, char buf[SMP_PATH_TEXT])
{
	size_t at = 1;

	memcpy(buf, "0", 2);
	for (unsigned i = 1; i <= p->hops; i++) {
		at += (size_t)snprintf(buf + at, SMP_PATH_TEXT - at, ",%u", p->port[i]);
	}
	return buf;
}

void smp_dest_init(struct smp_dest *d, const struct smp_path *path)
{
	memset(d, 0, sizeof(*d));
	d->path = *path;
	TAILQ_INIT(&d->waiting);
}

void smp_dest_revive(struct smp_dest *d)
{
	d->dead = false;
}

static unsigned dest_limit(const struct smp_dest *d)
{
	return d->late ? 1 : PER_DEST;
}

/* Puts a destination into the ring, or takes it out, as its state says. */
static void dest_update(struct smp *s, struct smp_dest *d)
{
	bool ready = !TAILQ_EMPTY(&d->waiting) && d->in_flight < dest_limit(d);

	if (ready && !d->ready) {
		TAILQ_INSERT_TAIL(&s->ready, d, entry);
	} else if (!ready && d->ready) {
		TAILQ_REMOVE(&s->ready, d, entry);
	}
	d->ready = ready;
}

/* --- jobs ------------------------------------------------------------------------ */

int smp_submit(struct smp *s, const struct smp_order *order)
{
	struct smp_job *job = TAILQ_FIRST(&s->spare);

	if (job != NULL) {
		TAILQ_REMOVE(&s->spare, job, entry);
	} else {
		job = malloc(sizeof(*job));
		if (job == NULL) {
			return -ENOMEM;
		}
	}
	job->order = *order;
	job->tries = 0;
	if (order->data != NULL) {
		memcpy(job->data, order->data, sizeof(job->data));
	} else {
		memset(job->data, 0, sizeof(job->data));
	}
	s->pending++;
	if (order->dest->dead) {
		TAILQ_INSERT_TAIL(&s->failed, job, entry);
	} else {
		TAILQ_INSERT_TAIL(&order->dest->waiting, job, entry);
		dest_update(s, order->dest);
	}
	return E_OK;
}

/* Ends a job that is in no queue and holds no slot. */
static void finish(struct smp *s, struct smp_job *job, int ret, uint16_t status,
                   const uint8_t *data)
{
	struct smp_reply reply = {
		.ret = ret,
		.status = status,
		.method = job->order.method,
		.attr = job->order.attr,
		.mod = job->order.mod,
		.data = data,
		.dest = job->order.dest,
	};
	smp_done_f *done = job->order.done;
	void *ctx = job->order.ctx;

	TAILQ_INSERT_HEAD(&s->spare, job, entry);
	s->pending--;
	done(ctx, &reply);
}

static void release(struct smp *s, struct slot *slot)
{
	struct smp_job *job = slot->job;

	slot->job = NULL;
	TAILQ_REMOVE(&s->flying, slot, entry);
	/* At the tail: the longer a slot rests, the fewer late answers meet a new user.
	 */
	TAILQ_INSERT_TAIL(&s->idle, slot, entry);
	s->in_flight--;
	s->late_in_flight -= job->tries > 1;
	job->order.dest->in_flight--;
}

/* Moves a dead destination's jobs of one queue to the failed queue. */
static void fail_jobs(struct smp *s, struct job_queue *q, const struct smp_dest *d)
{
	struct smp_job *job, *next;

	for (job = TAILQ_FIRST(q); job != NULL; job = next) {
		next = TAILQ_NEXT(job, entry);
		if (job->order.dest == d) {
			TAILQ_REMOVE(q, job, entry);
			TAILQ_INSERT_TAIL(&s->failed, job, entry);
		}
	}
}

static void bury(struct smp *s, struct smp_dest *d)
{
	d->dead = true;
	d->late = 0;
	while (!TAILQ_EMPTY(&d->waiting)) {
		struct smp_job *job = TAILQ_FIRST(&d->waiting);

		TAILQ_REMOVE(&d->waiting, job, entry);
		TAILQ_INSERT_TAIL(&s->failed, job, entry);
	}
	fail_jobs(s, &s->retry, d);
	dest_update(s, d);
}

/* A try of this slot was not answered: again, or never. */
static void timed_out(struct smp *s, struct slot *slot)
{
	struct smp_job *job = slot->job;
	struct smp_dest *d = job->order.dest;

	release(s, slot);
	if (d->dead) {
		TAILQ_INSERT_TAIL(&s->failed, job, entry);
		return;
	}
	if (job->tries > job->order.retries) {
		TAILQ_INSERT_TAIL(&s->failed, job, entry);
		bury(s, d);
		return;
	}
	d->late += job->tries == 1;
	TAILQ_INSERT_TAIL(&s->retry, job, entry);
	dest_update(s, d);
}

/* --- the wire -------------------------------------------------------------------- */

static void build(const struct smp *s, const struct smp_job *job, uint32_t tid,
                  uint8_t *mad)
{
	const struct smp_order *o = &job->order;

	memset(mad, 0, MAD_BYTES);
	field_set(mad, MAD_BASE_VERSION, UMAD_BASE_VERSION);
	field_set(mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_DIRECTED_ROUTE);
	field_set(mad, MAD_CLASS_VERSION, 1);
	field_set(mad, MAD_METHOD, o->method);
	field_set(mad, SMP_HOP_COUNT, o->dest->path.hops);
	field_set(mad, MAD_TID, tid);
	field_set(mad, MAD_ATTR_ID, o->attr);
	field_set(mad, MAD_ATTR_MOD, o->mod);
	field_set(mad, SMP_M_KEY, s->limits.m_key);
	field_set(mad, SMP_DR_SLID, 0xffff);
	field_set(mad, SMP_DR_DLID, 0xffff);
	memcpy(mad + SMP_DATA_AT, job->data, SMP_DATA_BYTES);
	memcpy(mad + SMP_INITIAL_PATH_AT, o->dest->path.port,
	       (size_t)o->dest->path.hops + 1);
	mad[SMP_INITIAL_PATH_AT] = 0;
}

/* \retval -EAGAIN  Nothing changed. A send that fails otherwise counts as a lost try. */
static int send_job(struct smp *s, struct smp_job *job)
{
	struct slot *slot = TAILQ_FIRST(&s->idle);
	uint32_t generation = (slot->generation + 1) & (UINT32_MAX >> SLOT_BITS);
	uint8_t mad[MAD_BYTES];
	struct mad_msg m = {
		.mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE,
		.addr = { .directed = true, .lid = 0xffff },
		.len = sizeof(mad),
		.data = mad,
	};

	build(s, job, generation << SLOT_BITS | (uint32_t)(slot - s->slots), mad);
	if (transport_send(s->t, &m) == -EAGAIN) {
		return -EAGAIN;
	}
	slot->generation = generation;
	slot->job = job;
	slot->deadline = s->t->ops->now_ms(s->t) + s->limits.timeout_ms;
	TAILQ_REMOVE(&s->idle, slot, entry);
	TAILQ_INSERT_TAIL(&s->flying, slot, entry);
	job->tries++;
	s->in_flight++;
	s->late_in_flight += job->tries > 1;
	s->counters.sent++;
	s->counters.retries += job->tries > 1;
	job->order.dest->in_flight++;
	return E_OK;
}

static bool send_retry(struct smp *s)
{
	struct smp_job *job = TAILQ_FIRST(&s->retry);
	unsigned quarter = s->limits.window / 4;
	unsigned share = TAILQ_EMPTY(&s->ready) ? s->limits.window - quarter : quarter;

	if (job == NULL || s->late_in_flight >= (share ? share : 1)) {
		return false;
	}
	TAILQ_REMOVE(&s->retry, job, entry);
	if (send_job(s, job) == -EAGAIN) {
		TAILQ_INSERT_HEAD(&s->retry, job, entry);
		s->blocked = true;
	}
	return true;
}

static bool send_fresh(struct smp *s)
{
	struct smp_dest *d = TAILQ_FIRST(&s->ready);
	struct smp_job *job;

	if (d == NULL) {
		return false;
	}
	job = TAILQ_FIRST(&d->waiting);
	if (send_job(s, job) == -EAGAIN) {
		s->blocked = true;
		return true;
	}
	TAILQ_REMOVE(&d->waiting, job, entry);
	TAILQ_REMOVE(&s->ready, d, entry);
	d->ready = false;
	dest_update(s, d);
	return true;
}

static void fill_window(struct smp *s)
{
	while (!s->blocked && s->in_flight < s->limits.window) {
		if (!send_retry(s) && !send_fresh(s)) {
			return;
		}
	}
}

/* Is this the answer to what the slot asked? */
static bool answers(const struct smp_job *job, const uint8_t *mad)
{
	return field_get(mad, MAD_ATTR_ID) == job->order.attr &&
	       field_get(mad, MAD_ATTR_MOD) == job->order.mod;
}

static struct slot *find_slot(struct smp *s, const uint8_t *mad)
{
	uint32_t tid = (uint32_t)field_get(mad, MAD_TID_LOW);
	struct slot *slot = &s->slots[tid & ((1u << SLOT_BITS) - 1)];

	if (slot->job == NULL || slot->generation != tid >> SLOT_BITS ||
	    !answers(slot->job, mad)) {
		return NULL;
	}
	return slot;
}

static void answered(struct smp *s, struct slot *slot, const uint8_t *mad)
{
	uint16_t status = field_get(mad, MAD_STATUS) & 0x7fff;
	struct smp_job *job = slot->job;
	struct smp_dest *d = job->order.dest;

	release(s, slot);
	d->late -= job->tries > 1 && d->late;
	dest_update(s, d);
	s->counters.bad_status += status != 0;
	finish(s, job, status ? E_MALFORMED : E_OK, status,
	       status ? NULL : mad + SMP_DATA_AT);
}

bool smp_receive(struct smp *s, const struct mad_msg *m)
{
	bool smp = m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	           m->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED;
	struct slot *slot;

	if (!smp || m->len < SMP_DATA_AT ||
	    (!m->status && field_get(m->data, MAD_METHOD) != UMAD_METHOD_GET_RESP)) {
		return false;
	}
	s->blocked = false;
	slot = find_slot(s, m->data);
	if (slot == NULL) {
		s->counters.unexpected++;
	} else if (m->status) {
		timed_out(s, slot);
	} else if (m->len < SMP_DATA_AT + SMP_DATA_BYTES) {
		s->counters.unexpected++; /* cut short: the try times out */
	} else {
		answered(s, slot, m->data);
	}
	fill_window(s);
	return true;
}

void smp_run(struct smp *s)
{
	uint64_t now = s->t->ops->now_ms(s->t);
	struct smp_job *job;
	struct slot *slot;

	s->blocked = false;
	while ((slot = TAILQ_FIRST(&s->flying)) != NULL && slot->deadline <= now) {
		timed_out(s, slot);
	}
	while ((job = TAILQ_FIRST(&s->failed)) != NULL) {
		TAILQ_REMOVE(&s->failed, job, entry);
		s->counters.timeouts++;
		finish(s, job, E_TIMEOUT, 0, NULL);
	}
	fill_window(s);
}

uint64_t smp_deadline(const struct smp *s)
{
	const struct slot *slot = TAILQ_FIRST(&s->flying);
	uint64_t now;

	if (!TAILQ_EMPTY(&s->failed)) {
		return 0;
	}
	if (slot != NULL) {
		return slot->deadline;
	}
	if (!s->pending) {
		return UINT64_MAX;
	}
	now = s->t->ops->now_ms(s->t);
	return s->blocked ? now + AGAIN_MS : now;
}

void smp_abort(struct smp *s)
{
	struct smp_dest *d;
	struct slot *slot;

	while ((slot = TAILQ_FIRST(&s->flying)) != NULL) {
		struct smp_job *job = slot->job;

		release(s, slot);
		dest_update(s, job->order.dest); /* with a free slot it is in the ring if
		                                    it waits */
		TAILQ_INSERT_HEAD(&s->spare, job, entry);
	}
	while ((d = TAILQ_FIRST(&s->ready)) != NULL) {
		TAILQ_REMOVE(&s->ready, d, entry);
		d->ready = false;
		TAILQ_CONCAT(&s->spare, &d->waiting, entry);
	}
	TAILQ_CONCAT(&s->spare, &s->retry, entry);
	TAILQ_CONCAT(&s->spare, &s->failed, entry);
	s->pending = 0;
}
