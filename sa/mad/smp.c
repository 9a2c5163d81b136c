/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * SMP engine.
 *
 * A request waits in the queue of its destination. The destinations that have something to
 * send and may send it are served in round robin, one request each, so that a switch with
 * hundreds of table blocks delays no other. A request that was sent holds a slot. The slot's
 * number and a generation are the number of the request (sa/mad/transaction.h), so that a
 * response finds its slot without a search, and a response to an earlier user of the slot is
 * recognized as late.
 *
 * A try without a response in time goes to the tail of one retry queue. Two rules keep silent
 * destinations from filling the window:
 *  - retries get a quarter of the window while fresh requests wait, else three quarters;
 *  - a destination with a late request has one request in flight instead of PER_DEST.
 * When a request fails for good, its destination is dead and all its other requests fail
 * with it, so that a switch that dies under a table download costs one timeout, not hundreds.
 *
 * A try by LID that is not answered goes back to its destination's queue as if it had not been
 * sent, and the destination has only its directed route from then on.
 *
 * Where none of the first PROBES of a probe is answered, the others that share it are directed
 * from the start, so a fabric that carries none costs one timeout in all.
 *
 * All tries have the same timeout, so that slots in the order of sending are in the order of
 * their deadlines. Sends that the transport refuses with -EAGAIN are repeated by the next
 * smp_run().
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
	/* a transport carries up to 256 MADs of all classes; 32 are left for the SA */
	WINDOW_MAX = 224,
	PER_DEST = 4,
	PROBES = 3,   /* unanswered requests of a way, and none answered, that end it */
	AGAIN_MS = 2, /* wait if the local queue is full and nothing is in flight */
	SLOT_BITS = 8
};

struct smp_job {
	TAILQ_ENTRY(smp_job)
	entry; /* in one of the queues: waiting, retry, failed, spare */
	struct smp_request request;
	unsigned tries;
	bool repeated; /* one try got no response */
	uint8_t data[SMP_DATA_BYTES];
};

TAILQ_HEAD(job_queue, smp_job);

struct slot {
	TAILQ_ENTRY(slot) entry; /* flying or free */
	struct smp_job *job;     /* NULL: free */
	enum way { BY_LID, MIXED, DIRECTED } way;
	uint32_t lid; /* BY_LID: where to */
	uint64_t deadline;
	uint32_t generation;
};

TAILQ_HEAD(slot_queue, slot);

struct smp {
	struct transport *t;
	struct smp_limits limits;
	struct smp_counters counters;
	unsigned in_flight;
	unsigned late_in_flight; /* of these, second and later tries */
	unsigned pending;
	uint32_t lid; /* own, 0: no requests by LID */
	bool blocked; /* the transport returned -EAGAIN */
	enum smp_writes writes;
	TAILQ_HEAD(, smp_dest) ready;
	struct job_queue retry;
	struct job_queue failed; /* to be reported by smp_run() */
	struct job_queue spare;
	struct slot_queue flying;
	struct slot_queue idle;
	struct transaction_key tids;
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
	transaction_key_init(&s->tids, t, UMAD_CLASS_SUBN_DIRECTED_ROUTE);
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

void smp_set_lid(struct smp *s, uint32_t lid)
{
	s->lid = lid;
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

void smp_path_enter(struct smp_path *p, uint8_t port)
{
	if (p->hops != 0 && p->n_back + 1 == p->hops) {
		p->back[++p->n_back] = port;
	}
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

void smp_dest_set_key(struct smp_dest *d, uint64_t key, uint64_t next)
{
	d->keyed = true;
	d->m_key = key;
	d->m_key_next = next;
}

void smp_dest_revive(struct smp_dest *d)
{
	d->dead = false;
}

/* Adds a destination to the ready ring or removes it, according to its state. */
static void dest_update(struct smp *s, struct smp_dest *d)
{
	bool ready = !TAILQ_EMPTY(&d->waiting) && d->in_flight < (d->late ? 1 : PER_DEST);

	if (ready && !d->ready) {
		TAILQ_INSERT_TAIL(&s->ready, d, entry);
	} else if (!ready && d->ready) {
		TAILQ_REMOVE(&s->ready, d, entry);
	}
	d->ready = ready;
}

/* --- jobs ------------------------------------------------------------------------ */

int smp_submit(struct smp *s, const struct smp_request *request)
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
	job->request = *request;
	job->tries = 0;
	job->repeated = false;
	if (request->data != NULL) {
		memcpy(job->data, request->data, sizeof(job->data));
	} else {
		memset(job->data, 0, sizeof(job->data));
	}
	s->pending++;
	if (request->dest->dead) {
		TAILQ_INSERT_TAIL(&s->failed, job, entry);
	} else {
		TAILQ_INSERT_TAIL(&request->dest->waiting, job, entry);
		dest_update(s, request->dest);
	}
	return E_OK;
}

/* Ends a job that is in no queue and holds no slot. */
static void finish_job(struct smp *s, struct smp_job *job, int ret, uint16_t status,
                       const uint8_t *data)
{
	struct smp_reply reply = {
		.ret = ret,
		.status = status,
		.method = job->request.method,
		.attr = job->request.attr,
		.mod = job->request.mod,
		.data = data,
		.dest = job->request.dest,
		.repeated = job->repeated,
	};
	smp_done_f *done = job->request.done;
	void *ctx = job->request.ctx;

	TAILQ_INSERT_HEAD(&s->spare, job, entry);
	s->pending--;
	done(ctx, &reply);
}

static void release_slot(struct smp *s, struct slot *slot)
{
	struct smp_job *job = slot->job;

	slot->job = NULL;
	TAILQ_REMOVE(&s->flying, slot, entry);
	/* at the tail: the longer a slot stays idle, the fewer late responses it gets */
	TAILQ_INSERT_TAIL(&s->idle, slot, entry);
	s->in_flight--;
	s->late_in_flight -= job->tries > 1;
	job->request.dest->in_flight--;
}

/* Declares a destination dead and fails its jobs in the waiting and the retry queue. */
static void fail_dest(struct smp *s, struct smp_dest *d)
{
	struct smp_job *job, *next;

	d->dead = true;
	d->late = 0;
	TAILQ_CONCAT(&s->failed, &d->waiting, entry);
	for (job = TAILQ_FIRST(&s->retry); job != NULL; job = next) {
		next = TAILQ_NEXT(job, entry);
		if (job->request.dest == d) {
			TAILQ_REMOVE(&s->retry, job, entry);
			TAILQ_INSERT_TAIL(&s->failed, job, entry);
		}
	}
	dest_update(s, d);
}

/* The try of a slot got no response: the job is tried again, or fails. */
static void handle_timeout(struct smp *s, struct slot *slot)
{
	struct smp_job *job = slot->job;
	struct smp_dest *d = job->request.dest;
	enum way way = slot->way;
	bool first = !job->repeated;

	release_slot(s, slot);
	job->repeated = true;
	if (d->dead) {
		TAILQ_INSERT_TAIL(&s->failed, job, entry);
		return;
	}
	if (way != DIRECTED) {
		if (d->probe != NULL) {
			d->probe->unanswered++;
		}
		d->not_by_lid = true;
		job->tries--;
		s->counters.repeated_directed++;
		TAILQ_INSERT_HEAD(&d->waiting, job, entry);
	} else if (job->tries > job->request.retries) {
		TAILQ_INSERT_TAIL(&s->failed, job, entry);
		fail_dest(s, d);
		return;
	} else {
		d->late += job->tries == 1;
		TAILQ_INSERT_TAIL(&s->retry, job, entry);
	}
	dest_update(s, d);
	if (first && job->request.late != NULL) {
		job->request.late(job->request.ctx);
	}
}

/* --- the wire -------------------------------------------------------------------- */

static enum way way_of(const struct smp *s, const struct smp_job *job)
{
	const struct smp_dest *d = job->request.dest;

	if (s->lid == 0 || d->not_by_lid || job->tries != 0) {
		return DIRECTED;
	}
	enum way way = d->lid != 0 ? BY_LID : d->via_lid != 0 ? MIXED : DIRECTED;

	if (way != DIRECTED && d->probe != NULL && d->probe->answered == 0 &&
	    d->probe->unanswered >= PROBES) {
		return DIRECTED;
	}
	return way;
}

/* The route of an SMP of the directed-route class. */
static void encode_route(const struct smp *s, const struct smp_dest *d, enum way way,
                         uint8_t *mad)
{
	field_set(mad, SMP_DR_SLID, way == MIXED ? s->lid : 0xffff);
	field_set(mad, SMP_DR_DLID, 0xffff);
	if (way == MIXED) {
		field_set(mad, SMP_HOP_COUNT, 1);
		mad[SMP_INITIAL_PATH_AT + 1] = d->via_port;
		return;
	}
	field_set(mad, SMP_HOP_COUNT, d->path.hops);
	memcpy(mad + SMP_INITIAL_PATH_AT + 1, d->path.port + 1, d->path.hops);
}

static uint64_t m_key_of(const struct smp *s, const struct smp_job *job)
{
	const struct smp_dest *d = job->request.dest;

	if (job->request.without_m_key) {
		return 0;
	}
	if (!d->keyed) {
		return s->limits.m_key;
	}
	return job->tries % 2 != 0 ? d->m_key_next : d->m_key;
}

static void encode_smp(const struct smp *s, const struct smp_job *job, enum way way,
                       uint32_t tid, uint8_t *mad)
{
	const struct smp_request *r = &job->request;

	memset(mad, 0, MAD_BYTES);
	field_set(mad, MAD_BASE_VERSION, UMAD_BASE_VERSION);
	field_set(mad, MAD_MGMT_CLASS,
	          way == BY_LID ? UMAD_CLASS_SUBN_LID_ROUTED
	                        : UMAD_CLASS_SUBN_DIRECTED_ROUTE);
	field_set(mad, MAD_CLASS_VERSION, 1);
	field_set(mad, MAD_METHOD, r->method);
	field_set(mad, MAD_TID, tid);
	field_set(mad, MAD_ATTR_ID, r->attr);
	field_set(mad, MAD_ATTR_MOD, r->mod);
	field_set(mad, SMP_M_KEY, m_key_of(s, job));
	memcpy(mad + SMP_DATA_AT, job->data, SMP_DATA_BYTES);
	if (way != BY_LID) {
		encode_route(s, r->dest, way, mad);
	}
}

/* \retval -EAGAIN  Nothing changed. Any other failure of the send counts as a lost try. */
static int send_job(struct smp *s, struct smp_job *job)
{
	struct slot *slot = TAILQ_FIRST(&s->idle);
	uint32_t generation = (slot->generation + 1) & (UINT32_MAX >> SLOT_BITS);
	uint8_t mad[MAD_BYTES];
	enum way way = way_of(s, job);
	const struct smp_dest *d = job->request.dest;
	struct mad_msg m = {
		.mgmt_class = way == BY_LID ? UMAD_CLASS_SUBN_LID_ROUTED
		                            : UMAD_CLASS_SUBN_DIRECTED_ROUTE,
		.addr = { .directed = way != BY_LID,
		          .lid = way == BY_LID  ? d->lid
		                 : way == MIXED ? d->via_lid
		                                : 0xffff },
		.len = sizeof(mad),
		.data = mad,
	};

	encode_smp(s, job, way,
	           transaction_id(&s->tids,
	                          generation << SLOT_BITS | (uint32_t)(slot - s->slots)),
	           mad);
	if (transport_send(s->t, &m) == -EAGAIN) {
		return -EAGAIN;
	}
	slot->generation = generation;
	slot->job = job;
	slot->way = way;
	slot->lid = d->lid;
	slot->deadline = s->t->ops->now_ms(s->t) + s->limits.timeout_ms;
	TAILQ_REMOVE(&s->idle, slot, entry);
	TAILQ_INSERT_TAIL(&s->flying, slot, entry);
	job->tries++;
	s->in_flight++;
	s->late_in_flight += job->tries > 1;
	s->counters.sent++;
	s->counters.by_lid += way == BY_LID;
	s->counters.mixed += way == MIXED;
	s->counters.retries += job->tries > 1;
	job->request.dest->in_flight++;
	return E_OK;
}

void smp_set_writes(struct smp *s, enum smp_writes writes)
{
	s->writes = writes;
}

static bool is_write(const struct smp_job *job)
{
	return job->request.method == UMAD_METHOD_SET &&
	       job->request.attr != UMAD_SM_ATTR_SM_INFO;
}

/* The first retry that may be sent, or is to fail. */
static struct smp_job *next_retry(const struct smp *s)
{
	struct smp_job *job = TAILQ_FIRST(&s->retry);

	while (job != NULL && s->writes == SMP_WRITES_WAIT && is_write(job)) {
		job = TAILQ_NEXT(job, entry);
	}
	return job;
}

/* The first destination whose next request may be sent, or is to fail. */
static struct smp_dest *next_dest(const struct smp *s)
{
	struct smp_dest *d = TAILQ_FIRST(&s->ready);

	while (d != NULL && s->writes == SMP_WRITES_WAIT &&
	       is_write(TAILQ_FIRST(&d->waiting))) {
		d = TAILQ_NEXT(d, entry);
	}
	return d;
}

/* Sends a job, or lets it fail, and says so by \a *ret_sent. \retval -EAGAIN  Nothing changed. */
static int send_or_refuse(struct smp *s, struct smp_job *job, bool *ret_sent)
{
	*ret_sent = s->writes != SMP_WRITES_REFUSED || !is_write(job);
	return *ret_sent ? send_job(s, job) : E_OK;
}

/* Sends retries and fresh requests until the window is full. */
static void fill_window(struct smp *s)
{
	while (!s->blocked && s->in_flight < s->limits.window) {
		unsigned quarter = s->limits.window / 4;
		struct smp_job *job = next_retry(s);
		struct smp_dest *d = next_dest(s);
		unsigned share = d == NULL ? s->limits.window - quarter : quarter;
		bool sent;

		if (job != NULL && s->late_in_flight < (share ? share : 1)) {
			if (send_or_refuse(s, job, &sent) == -EAGAIN) {
				s->blocked = true;
				return;
			}
			TAILQ_REMOVE(&s->retry, job, entry);
		} else if (d != NULL) {
			job = TAILQ_FIRST(&d->waiting);
			if (send_or_refuse(s, job, &sent) == -EAGAIN) {
				s->blocked = true;
				return;
			}
			TAILQ_REMOVE(&d->waiting, job, entry);
			TAILQ_REMOVE(&s->ready, d, entry);
			d->ready = false;
			dest_update(s, d);
		} else {
			return;
		}
		if (!sent) {
			TAILQ_INSERT_TAIL(&s->failed, job, entry);
		}
	}
}

/* Did an answer go and return over the route of its request? */
static bool is_route_of(const struct smp *s, const struct slot *slot, const uint8_t *mad)
{
	const struct smp_path *p = &slot->job->request.dest->path;
	uint8_t asked[MAD_BYTES] = { 0 };

	encode_route(s, slot->job->request.dest, slot->way, asked);
	return field_get(mad, SMP_HOP_COUNT) == field_get(asked, SMP_HOP_COUNT) &&
	       field_get(mad, SMP_DR_SLID) == field_get(asked, SMP_DR_SLID) &&
	       field_get(mad, SMP_DR_DLID) == field_get(asked, SMP_DR_DLID) &&
	       memcmp(mad + SMP_INITIAL_PATH_AT + 1, asked + SMP_INITIAL_PATH_AT + 1,
	              field_get(asked, SMP_HOP_COUNT)) == 0 &&
	       (slot->way != DIRECTED ||
	        memcmp(mad + SMP_RETURN_PATH_AT + 1, p->back + 1, p->n_back) == 0);
}

/* Is a whole response that to the request of this slot? */
static bool is_answer_to(const struct smp *s, const struct slot *slot,
                         const struct mad_msg *m)
{
	const struct asked asked = {
		.mgmt_class = slot->way == BY_LID ? UMAD_CLASS_SUBN_LID_ROUTED
		                                  : UMAD_CLASS_SUBN_DIRECTED_ROUTE,
		.method = UMAD_METHOD_GET_RESP,
		.attr = slot->job->request.attr,
		.mod = slot->job->request.mod,
		.lid = slot->way == BY_LID ? slot->lid : 0,
	};

	return transaction_is_answer(&asked, m) &&
	       (slot->way == BY_LID || is_route_of(s, slot, m->data));
}

/* The slot that a transaction ID names. \return NULL: nobody sent such a request lately.
 * \param ret_late  Its request is over. */
static struct slot *find_slot(struct smp *s, const uint8_t *mad, bool *ret_late)
{
	uint32_t number =
		transaction_number(&s->tids, (uint32_t)field_get(mad, MAD_TID_LOW));
	struct slot *slot = &s->slots[number & ((1u << SLOT_BITS) - 1)];
	uint32_t age =
		(slot->generation - (number >> SLOT_BITS)) & (UINT32_MAX >> SLOT_BITS);

	*ret_late = slot->job == NULL || age != 0;
	return age < TRANSACTION_LATE_MAX ? slot : NULL;
}

static void finish_slot(struct smp *s, struct slot *slot, const uint8_t *mad)
{
	uint16_t status = field_get(mad, MAD_STATUS) & 0x7fff;
	struct smp_job *job = slot->job;
	struct smp_dest *d = job->request.dest;

	d->lid_answered |= slot->way == BY_LID;
	if (slot->way != DIRECTED) {
		if (d->probe != NULL) {
			d->probe->answered++;
		}
	} else if (d->path.n_back < d->path.hops) {
		d->path.n_back = d->path.hops;
		memcpy(d->path.back + 1, mad + SMP_RETURN_PATH_AT + 1, d->path.hops);
	}
	release_slot(s, slot);
	d->late -= job->tries > 1 && d->late;
	dest_update(s, d);
	s->counters.bad_status += status != 0;
	finish_job(s, job, status ? E_MALFORMED : E_OK, status,
	           status ? NULL : mad + SMP_DATA_AT);
}

enum mad_kind smp_receive(struct smp *s, const struct mad_msg *m)
{
	bool smp = m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	           m->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED;
	enum mad_kind kind = MAD_ANSWER;
	struct slot *slot;
	bool late;

	if (!smp || m->len < SMP_DATA_AT ||
	    (!m->status && field_get(m->data, MAD_METHOD) != UMAD_METHOD_GET_RESP)) {
		return MAD_OTHER;
	}
	s->blocked = false;
	slot = find_slot(s, m->data, &late);
	if (slot != NULL && late) {
		s->counters.unexpected++;
	} else if (slot != NULL && m->status) {
		handle_timeout(s, slot);
	} else if (slot != NULL && m->len < MAD_BYTES) {
		s->counters.unexpected++; /* truncated: the try times out */
	} else if (slot != NULL && is_answer_to(s, slot, m)) {
		finish_slot(s, slot, m->data);
	} else {
		s->counters.forged++;
		kind = MAD_FORGED;
	}
	fill_window(s);
	return kind;
}

void smp_run(struct smp *s)
{
	uint64_t now = s->t->ops->now_ms(s->t);
	struct smp_job *job;
	struct slot *slot;

	s->blocked = false;
	while ((slot = TAILQ_FIRST(&s->flying)) != NULL && slot->deadline <= now) {
		handle_timeout(s, slot);
	}
	while ((job = TAILQ_FIRST(&s->failed)) != NULL) {
		TAILQ_REMOVE(&s->failed, job, entry);
		s->counters.timeouts++;
		finish_job(s, job, E_TIMEOUT, 0, NULL);
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
	if (next_retry(s) == NULL && next_dest(s) == NULL) {
		return UINT64_MAX; /* all that is left waits for smp_set_writes() */
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

		release_slot(s, slot);
		dest_update(
			s,
			job->request.dest); /* now in the ring if it has waiting jobs */
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
