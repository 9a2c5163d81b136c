/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * SMP engine.
 *
 * A request waits in the queue of its destination. The destinations that have something to
 * send and may send it are served in round robin, one request each, so that a switch with
 * hundreds of table blocks delays no other. A try in flight is a request of sa/mad/request.h,
 * which knows its answer; each try is a new one, so that it waits for its turn without a slot.
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
 * Sends that the transport refuses with -EAGAIN are repeated by the next smp_run().
 *
 * On Omni-Path several fresh jobs of a destination may be chained to one MAD (smp_job.joined). The chain is made
 * when it is sent, and is over with its answer or time-out, so a job that is repeated is by itself.
 *
 * The file is longer than most, because all its parts move jobs from queue to queue.
 *
 * On Omni-Path a request is encoded when it is submitted, into memory that stays with its job. An
 * attribute that Omni-Path does not have is refused as a device would refuse it.
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
#include "sa/mad/opa_smp.h"

enum {
	SM_CLASS_VERSION = 1,
	/* a transport carries up to 256 MADs of all classes; 32 are left for the SA */
	WINDOW_MAX = 224,
	PER_DEST = 4,
	PROBES = 3,  /* unanswered requests of a way, and none answered, that end it */
	AGAIN_MS = 2 /* wait if the local queue is full and nothing is in flight */
};

struct smp_job {
	TAILQ_ENTRY(smp_job)
	entry; /* in one of the queues: waiting, retry, failed, spare */
	struct smp_request request;
	unsigned tries;
	bool repeated; /* one try got no response */
	enum way { BY_LID, MIXED, DIRECTED } way; /* of the try in flight */
	uint8_t data[SMP_DATA_BYTES];
	bool refused;         /* there is no such attribute */
	struct opa_smp *wide; /* Omni-Path: what is sent; kept for the next request */
	struct smp_job *joined; /* the next one in the same MAD; NULL: it is the last */
	bool alone;             /* is sent by itself */
};

TAILQ_HEAD(job_queue, smp_job);

struct smp {
	struct transport *t;
	struct smp_limits limits;
	struct smp_counters counters;
	unsigned late_in_flight; /* second and later tries */
	unsigned pending;
	uint32_t lid; /* own, 0: no requests by LID */
	bool blocked; /* the transport returned -EAGAIN */
	bool omni_path;
	uint16_t p_key_index;
	enum smp_writes writes;
	TAILQ_HEAD(, smp_dest) ready;
	struct job_queue retry;
	struct job_queue failed; /* to be reported by smp_run() */
	struct job_queue spare;
	struct requests *requests;
};

static const struct request_client client;

void smp_set_limits(struct smp *s, const struct smp_limits *l)
{
	s->limits = *l;
	if (!l->window || l->window > WINDOW_MAX) {
		s->limits.window = WINDOW_MAX;
	}
	requests_set_limits(s->requests, s->limits.window, l->timeout_ms);
}

int smp_new(struct transport *t, const struct smp_limits *l, struct smp **ret_smp)
{
	struct smp *s = calloc(1, sizeof(*s));

	if (s == NULL || requests_new(t, &client, s, &s->requests) != E_OK) {
		free(s);
		return -ENOMEM;
	}
	s->t = t;
	smp_set_limits(s, l);
	TAILQ_INIT(&s->ready);
	TAILQ_INIT(&s->retry);
	TAILQ_INIT(&s->failed);
	TAILQ_INIT(&s->spare);
	*ret_smp = s;
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
		free(job->wide);
		free(job);
	}
	requests_free(s->requests);
	free(s);
}

void smp_set_lid(struct smp *s, uint32_t lid)
{
	s->lid = lid;
}

void smp_set_omni_path(struct smp *s, uint16_t p_key_index)
{
	s->omni_path = true;
	s->p_key_index = p_key_index;
}

bool smp_is_omni_path(const struct smp *s)
{
	return s->omni_path;
}

uint16_t smp_p_key_index(const struct smp *s)
{
	return s->p_key_index;
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

int smp_path_extend(const struct smp_path *from, uint8_t port, struct smp_path *ret_path)
{
	if (from->hops >= SMP_HOPS_MAX) {
		return E_RANGE;
	}
	*ret_path = *from;
	ret_path->port[++ret_path->hops] = port;
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

/* Encodes a job's request in Omni-Path's form. \retval -ENOMEM */
static int encode_wide(struct smp_job *job, const struct smp_request *request)
{
	bool set = request->method == UMAD_METHOD_SET;

	if (job->wide == NULL) {
		job->wide = malloc(sizeof(*job->wide));
	}
	if (job->wide == NULL) {
		return -ENOMEM;
	}
	if (request->native_len == 0) {
		job->refused = opa_smp_encode(set, request->attr, request->mod, job->data,
		                              request->basis, job->wide) != E_OK;
		return E_OK;
	}
	job->wide->attr = request->attr;
	job->wide->mod = request->mod;
	job->wide->len = set ? request->native_len : 0;
	if (set) {
		memcpy(job->wide->data, request->data, job->wide->len);
	}
	return E_OK;
}

int smp_submit(struct smp *s, const struct smp_request *request)
{
	struct smp_job *job = TAILQ_FIRST(&s->spare);

	if (job != NULL) {
		TAILQ_REMOVE(&s->spare, job, entry);
	} else {
		job = calloc(1, sizeof(*job));
		if (job == NULL) {
			return -ENOMEM;
		}
	}
	job->request = *request;
	job->tries = 0;
	job->repeated = job->refused = job->alone = false;
	job->joined = NULL;
	if (request->data != NULL && request->native_len == 0) {
		memcpy(job->data, request->data, sizeof(job->data));
	} else {
		memset(job->data, 0, sizeof(job->data));
	}
	if (s->omni_path && encode_wide(job, request) != E_OK) {
		TAILQ_INSERT_HEAD(&s->spare, job, entry);
		return -ENOMEM;
	}
	s->pending++;
	if (request->dest->dead || job->refused) {
		TAILQ_INSERT_TAIL(&s->failed, job, entry);
	} else {
		TAILQ_INSERT_TAIL(&request->dest->waiting, job, entry);
		dest_update(s, request->dest);
	}
	return E_OK;
}

/* Ends a job that is in no queue and holds no slot. */
static void finish_job(struct smp *s, struct smp_job *job, int ret, uint16_t status,
                       const uint8_t *data, size_t native_len)
{
	uint8_t shape[SMP_DATA_BYTES] = { 0 };
	const uint8_t *native = s->omni_path ? data : NULL;

	if (native != NULL) {
		data = shape;
		if (job->request.native_len == 0) {
			ret = opa_smp_decode(job->request.attr, native, native_len,
			                     shape);
		}
		if (ret != E_OK) {
			ret = E_MALFORMED;
			data = native = NULL;
		}
	}
	struct smp_reply reply = {
		.ret = ret,
		.status = status,
		.method = job->request.method,
		.attr = job->request.attr,
		.mod = job->request.mod,
		.data = data,
		.native = native,
		.native_len = native != NULL ? native_len : 0,
		.dest = job->request.dest,
		.repeated = job->repeated,
	};
	smp_done_f *done = job->request.done;
	void *ctx = job->request.ctx;

	TAILQ_INSERT_HEAD(&s->spare, job, entry);
	s->pending--;
	done(ctx, &reply);
}

/* Ends the try of a job. */
static void end_try(struct smp *s, struct mad_request *r)
{
	struct smp_job *job = r->job;

	request_end(s->requests, r);
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

/* After a try without a response. */
static void try_again(struct smp *s, struct smp_job *job)
{
	struct smp_dest *d = job->request.dest;
	bool first = !job->repeated;

	job->repeated = true;
	if (d->dead) {
		TAILQ_INSERT_TAIL(&s->failed, job, entry);
		return;
	}
	if (job->way != DIRECTED) {
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

/* A try got no response: its jobs are tried again, or fail. */
static void handle_timeout(void *ctx, struct mad_request *r)
{
	struct smp *s = ctx;
	struct smp_job *job = r->job, *next;
	struct smp_dest *d = job->request.dest;

	end_try(s, r);
	if (!d->dead && job->way != DIRECTED && d->probe != NULL) {
		d->probe->unanswered++;
	}
	for (; job != NULL; job = next) {
		next = job->joined;
		job->joined = NULL;
		try_again(s, job);
	}
}

/* --- the wire -------------------------------------------------------------------- */

static enum way way_of(const struct smp *s, const struct smp_job *job)
{
	const struct smp_dest *d = job->request.dest;

	if (s->lid == 0 || d->not_by_lid || job->tries != 0) {
		return DIRECTED;
	}
	/* the kernel takes no LID of more than 16 bits as the start of a mixed route */
	bool mixes = d->via_lid != 0 && s->lid <= UINT16_MAX;
	enum way way = d->lid != 0 ? BY_LID : mixes ? MIXED : DIRECTED;

	if (way != DIRECTED && d->probe != NULL && d->probe->answered == 0 &&
	    d->probe->unanswered >= PROBES) {
		return DIRECTED;
	}
	return way;
}

static size_t initial_path_at(const struct smp *s)
{
	return s->omni_path ? (size_t)OPA_DR_INITIAL_PATH : (size_t)SMP_INITIAL_PATH_AT;
}

static size_t return_path_at(const struct smp *s)
{
	return s->omni_path ? (size_t)OPA_DR_RETURN_PATH : (size_t)SMP_RETURN_PATH_AT;
}

/* The route of an SMP of the directed-route class. */
static void encode_route(const struct smp *s, const struct smp_dest *d, enum way way,
                         uint8_t *mad)
{
	uint8_t *path = mad + initial_path_at(s);

	if (s->omni_path) {
		field_set(mad, OPA_DR_SLID, way == MIXED ? s->lid : UINT32_MAX);
		field_set(mad, OPA_DR_DLID, UINT32_MAX);
	} else {
		field_set(mad, SMP_DR_SLID, way == MIXED ? s->lid : 0xffff);
		field_set(mad, SMP_DR_DLID, 0xffff);
	}
	if (way == MIXED) {
		field_set(mad, SMP_HOP_COUNT, 1);
		path[1] = d->via_port;
		return;
	}
	field_set(mad, SMP_HOP_COUNT, d->path.hops);
	memcpy(path + 1, d->path.port + 1, d->path.hops);
}

/* --- several requests in one MAD --------------------------------------------------- */

static size_t padded(size_t bytes)
{
	return (bytes + OPA_AG_UNIT - 1) / OPA_AG_UNIT * OPA_AG_UNIT;
}

static enum opa_joins joins(const struct smp_job *job, size_t *ret_bytes)
{
	const struct smp_request *q = &job->request;

	if (job->alone || job->tries != 0 || (q->native_len != 0 && !q->shares)) {
		return OPA_JOINS_NOTHING;
	}
	if (q->native_len != 0) {
		*ret_bytes = q->native_len;
		return OPA_JOINS_AGGREGATE;
	}
	return opa_smp_joins(q->method == UMAD_METHOD_SET, q->attr, q->mod, ret_bytes);
}

/* May a job follow another one in a MAD? */
static bool follows(const struct smp_job *before, const struct smp_job *job,
                    enum opa_joins how)
{
	const struct smp_request *a = &before->request, *b = &job->request;

	return a->method == b->method && a->without_m_key == b->without_m_key &&
	       (how != OPA_JOINS_RUN || (a->attr == b->attr && b->mod == a->mod + 1));
}

/* Chains the jobs that wait behind a fresh one and fit into its MAD. */
static void join(const struct smp *s, struct smp_job *job)
{
	size_t bytes = 0, sum = 0;
	enum opa_joins how = joins(job, &bytes);
	struct smp_job *last = job, *next = job;
	unsigned n = 0,
		 most = how == OPA_JOINS_RUN ? OPA_BLOCKS_MOST : (unsigned)OPA_AG_MOST;

	job->joined = NULL;
	if (!s->omni_path || job->request.dest->not_joined || how == OPA_JOINS_NOTHING) {
		return;
	}
	while (next != NULL && n < most && joins(next, &bytes) == how &&
	       (next == job || follows(last, next, how))) {
		sum += how == OPA_JOINS_RUN ? bytes : OPA_AG_HEADER + padded(bytes);
		if (sum > OPA_DATA_MAX) {
			return;
		}
		if (next != job) {
			last->joined = next;
			next->joined = NULL;
		}
		last = next;
		next = TAILQ_NEXT(next, entry);
		n++;
	}
}

static bool is_run(const struct smp_job *job)
{
	size_t bytes;

	return joins(job, &bytes) == OPA_JOINS_RUN;
}

/* Attribute and modifier of a MAD with several requests. */
static void joined_address(const struct smp_job *job, uint16_t *ret_attr,
                           uint32_t *ret_mod)
{
	enum { COUNT_SHIFT = 24 };
	uint32_t n = 0;
	bool run = is_run(job);

	*ret_attr = run ? job->wide->attr : (uint16_t)OPA_ATTR_AGGREGATE;
	*ret_mod = job->wide->mod & (OPA_MOD_ONE - 1);
	for (; job != NULL; job = job->joined) {
		n++;
	}
	*ret_mod = run ? n << COUNT_SHIFT | *ret_mod : n;
}

/* Its data. \return bytes to send */
static size_t encode_joined(const struct smp_job *job, uint8_t *data)
{
	size_t at = 0, end = 0, bytes = 0;
	bool run = is_run(job), set = job->request.method == UMAD_METHOD_SET;

	for (; job != NULL; job = job->joined) {
		(void)joins(job, &bytes);
		if (!run) {
			field_set(data + at, OPA_AG_ATTRIBUTE, job->wide->attr);
			field_set(data + at, OPA_AG_LENGTH, padded(bytes) / OPA_AG_UNIT);
			field_set(data + at, OPA_AG_MODIFIER, job->wide->mod);
			at += OPA_AG_HEADER;
		}
		memcpy(data + at, job->wide->data, job->wide->len);
		end = at + job->wide->len; /* a Get ends behind the last header */
		at += run ? bytes : padded(bytes);
	}
	return set ? at : run ? 0 : end;
}

/* Sends a job again by itself, as if it had not been sent. */
static void send_alone(struct smp *s, struct smp_job *job)
{
	struct smp_dest *d = job->request.dest;

	job->alone = true;
	job->tries = 0;
	job->joined = NULL;
	if (d->dead) {
		TAILQ_INSERT_TAIL(&s->failed, job, entry);
		return;
	}
	TAILQ_INSERT_TAIL(&d->waiting, job, entry);
	dest_update(s, d);
}

/* The part of an answer that belongs to a job, at *at. \return false: it is not as it was asked. */
static bool take_part(const struct smp_job *job, bool run, const uint8_t *data,
                      size_t len, size_t *at, const uint8_t **ret_header)
{
	size_t bytes = run ? (size_t)OPA_BYTES_BLOCK : 0;

	*ret_header = NULL;
	if (!run) {
		if (len < *at + OPA_AG_HEADER ||
		    field_get(data + *at, OPA_AG_ATTRIBUTE) != job->wide->attr ||
		    field_get(data + *at, OPA_AG_MODIFIER) != job->wide->mod) {
			return false;
		}
		*ret_header = data + *at;
		bytes = OPA_AG_UNIT * (size_t)field_get(data + *at, OPA_AG_LENGTH);
		*at += OPA_AG_HEADER;
	}
	*at += bytes;
	return len >= *at;
}

/*
 * The answer to a MAD with several requests. Those before the one with the error bit were carried out, and so
 * were all where there is no status. Of the others nothing is known. An agent may refuse a field without
 * setting an error bit; then all are sent again, each by itself.
 */
static void split_answer(struct smp *s, struct smp_job *job, bool run, uint16_t status,
                         const uint8_t *data, size_t len)
{
	enum { NO_FIELD = 0x1c };
	struct smp_dest *d = job->request.dest;
	struct smp_job *next;
	bool good = status == 0, any_error = false;
	const uint8_t *header;
	size_t at = 0;

	for (const struct smp_job *j = job; j != NULL && !good && !any_error && !run;
	     j = j->joined) {
		any_error = take_part(j, run, data, len, &at, &header) &&
		            field_get(header, OPA_AG_ERROR);
	}
	d->not_joined |= !good && !any_error && (status & NO_FIELD) != NO_FIELD;
	good |= any_error; /* up to that one */
	at = 0;
	for (; job != NULL; job = next) {
		size_t from = at + (run ? 0 : OPA_AG_HEADER);

		next = job->joined;
		job->joined = NULL;
		good = good && take_part(job, run, data, len, &at, &header);
		if (!good) {
			send_alone(s, job);
		} else if (header != NULL && field_get(header, OPA_AG_ERROR)) {
			good = false;
			finish_job(s, job, E_MALFORMED, status, NULL, 0);
		} else {
			finish_job(s, job, E_OK, 0, data + from, at - from);
		}
	}
}

/* The data of a request, and how long it and its answer are. */
static void encode_data(const struct smp *s, const struct smp_job *job,
                        struct mad_request *r)
{
	if (!s->omni_path) {
		memcpy(r->mad + SMP_DATA_AT, job->data, SMP_DATA_BYTES);
		r->len = r->least = MAD_BYTES;
		return;
	}
	size_t at = opa_smp_data_at(r->mad), len = job->wide->len;

	if (job->joined != NULL) {
		len = encode_joined(job, r->mad + at);
	} else {
		memcpy(r->mad + at, job->wide->data, len);
	}
	len = padded(at + len);
	r->len = len < OPA_SENT_LEAST ? OPA_SENT_LEAST + 4 : len;
	r->least = at;
	r->addr.pkey_index = s->p_key_index;
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

/* \retval -EAGAIN  Nothing changed. Any other failure of the send counts as a lost try. */
static int send_job(struct smp *s, struct smp_job *job)
{
	const struct smp_request *asked = &job->request;
	struct smp_dest *d = asked->dest;
	enum way way = way_of(s, job);
	uint16_t attr = asked->attr;
	uint32_t mod = s->omni_path ? job->wide->mod : asked->mod;

	if (job->joined != NULL) {
		joined_address(job, &attr, &mod);
	}
	struct mad_request *r =
		request_begin(s->requests,
	                      way == BY_LID ? UMAD_CLASS_SUBN_LID_ROUTED
	                                    : UMAD_CLASS_SUBN_DIRECTED_ROUTE,
	                      s->omni_path ? OPA_CLASS_VERSION : SM_CLASS_VERSION,
	                      asked->method, attr, mod);

	if (r == NULL) {
		return -EAGAIN;
	}
	field_set(r->mad, SMP_M_KEY, m_key_of(s, job));
	r->addr.pkey_index = 0;
	encode_data(s, job, r);
	if (way != BY_LID) {
		encode_route(s, d, way, r->mad);
	}
	r->addr.directed = way != BY_LID;
	r->addr.lid = way == BY_LID ? d->lid : way == MIXED ? d->via_lid : 0xffff;
	r->job = job;
	if (request_send(s->requests, r, s->t->ops->now_ms(s->t)) == -EAGAIN) {
		request_end(s->requests, r);
		return -EAGAIN;
	}
	for (struct smp_job *j = job; j != NULL; j = j->joined) {
		j->way = way;
		j->tries++;
	}
	s->late_in_flight += job->tries > 1;
	s->counters.sent++;
	s->counters.by_lid += way == BY_LID;
	s->counters.mixed += way == MIXED;
	s->counters.retries += job->tries > 1;
	d->in_flight++;
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

/* Sends retries and fresh requests until the window is full. */
static void fill_window(struct smp *s)
{
	while (!s->blocked && requests_have_room(s->requests)) {
		unsigned quarter = s->limits.window / 4;
		struct smp_job *job = next_retry(s);
		struct smp_dest *d = next_dest(s);
		unsigned share = d == NULL ? s->limits.window - quarter : quarter;
		bool again = job != NULL && s->late_in_flight < (share ? share : 1);

		if (!again && d == NULL) {
			return;
		}
		job = again ? job : TAILQ_FIRST(&d->waiting);
		bool refused = s->writes == SMP_WRITES_REFUSED && is_write(job);

		if (!again && !refused) {
			join(s, job);
		}
		s->blocked = !refused && send_job(s, job) == -EAGAIN;
		if (s->blocked) {
			return;
		}
		if (again) {
			TAILQ_REMOVE(&s->retry, job, entry);
		} else {
			for (struct smp_job *j = job; j != NULL; j = j->joined) {
				TAILQ_REMOVE(&d->waiting, j, entry);
			}
			TAILQ_REMOVE(&s->ready, d, entry);
			d->ready = false;
			dest_update(s, d);
		}
		if (refused) {
			TAILQ_INSERT_TAIL(&s->failed, job, entry);
		}
	}
}

/* Did an answer go and return over the route of its request? */
static bool is_route_of(void *ctx, const struct mad_request *r, const struct mad_msg *m)
{
	const struct smp *s = ctx;
	const struct smp_job *job = r->job;
	const struct smp_path *p = &job->request.dest->path;
	const uint8_t *asked = r->mad, *mad = m->data;
	size_t initial = initial_path_at(s), back = return_path_at(s);
	uint64_t hops = field_get(asked, SMP_HOP_COUNT);
	bool same_lids =
		s->omni_path
			? field_get(mad, OPA_DR_SLID) == field_get(asked, OPA_DR_SLID) &&
				  field_get(mad, OPA_DR_DLID) ==
					  field_get(asked, OPA_DR_DLID)
			: field_get(mad, SMP_DR_LIDS) == field_get(asked, SMP_DR_LIDS);

	if (s->omni_path && field_get(mad, MAD_BASE_VERSION) != OPA_CLASS_VERSION) {
		return false;
	}
	return job->way == BY_LID ||
	       (field_get(mad, SMP_HOP_COUNT) == hops && same_lids &&
	        memcmp(mad + initial + 1, asked + initial + 1, hops) == 0 &&
	        (job->way != DIRECTED ||
	         memcmp(mad + back + 1, p->back + 1, p->n_back) == 0));
}

static void handle_answer(void *ctx, struct mad_request *r, const struct mad_msg *m)
{
	struct smp *s = ctx;
	uint16_t status = field_get(m->data, MAD_STATUS) & 0x7fff;
	struct smp_job *job = r->job;
	struct smp_dest *d = job->request.dest;

	d->lid_answered |= job->way == BY_LID;
	if (job->way != DIRECTED) {
		if (d->probe != NULL) {
			d->probe->answered++;
		}
	} else if (d->path.n_back < d->path.hops) {
		d->path.n_back = d->path.hops;
		memcpy(d->path.back + 1, m->data + return_path_at(s) + 1, d->path.hops);
	}
	size_t at = s->omni_path ? opa_smp_data_at(m->data) : SMP_DATA_AT;

	end_try(s, r);
	d->late -= job->tries > 1 && d->late;
	dest_update(s, d);
	s->counters.bad_status += status != 0;
	if (job->joined != NULL) {
		split_answer(s, job, field_get(r->mad, MAD_ATTR_ID) != OPA_ATTR_AGGREGATE,
		             status, m->data + at, m->len - at);
		return;
	}
	finish_job(s, job, status ? E_MALFORMED : E_OK, status,
	           status ? NULL : m->data + at, m->len - at);
}

static const struct request_client client = {
	.mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE,
	.slot_bits = 8,
	.mad_bytes = OPA_MAD_MOST,
	.answer_bytes = MAD_BYTES,
	.is_answer = is_route_of,
	.answered = handle_answer,
	.unanswered = handle_timeout,
};

enum mad_kind smp_receive(struct smp *s, const struct mad_msg *m)
{
	bool smp = m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	           m->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED;

	if (!smp ||
	    (!m->status &&
	     (m->len < (s->omni_path ? (size_t)OPA_LR_DATA : (size_t)SMP_DATA_AT) ||
	      field_get(m->data, MAD_METHOD) != UMAD_METHOD_GET_RESP))) {
		return MAD_OTHER;
	}
	enum mad_kind kind = requests_receive(s->requests, m);

	s->blocked = false;
	s->counters.unexpected += kind == MAD_LATE;
	s->counters.forged += kind == MAD_FORGED;
	fill_window(s);
	return kind;
}

void smp_run(struct smp *s)
{
	struct smp_job *job;

	s->blocked = false;
	requests_run(s->requests, s->t->ops->now_ms(s->t));
	while ((job = TAILQ_FIRST(&s->failed)) != NULL) {
		TAILQ_REMOVE(&s->failed, job, entry);
		if (job->refused) {
			finish_job(s, job, E_MALFORMED, UMAD_STATUS_ATTR_NOT_SUPPORTED,
			           NULL, 0);
			continue;
		}
		s->counters.timeouts++;
		finish_job(s, job, E_TIMEOUT, 0, NULL, 0);
	}
	fill_window(s);
}

uint64_t smp_deadline(const struct smp *s)
{
	const struct mad_request *r = requests_first(s->requests);

	if (!TAILQ_EMPTY(&s->failed)) {
		return 0;
	}
	if (r != NULL) {
		return r->deadline;
	}
	if (next_retry(s) == NULL && next_dest(s) == NULL) {
		return UINT64_MAX; /* all that is left waits for smp_set_writes() */
	}
	return s->t->ops->now_ms(s->t) + (s->blocked ? AGAIN_MS : 0);
}

void smp_abort(struct smp *s)
{
	struct smp_dest *d;
	struct mad_request *r;

	while ((r = requests_first(s->requests)) != NULL) {
		struct smp_job *job = r->job, *next;

		end_try(s, r);
		/* now in the ring if it has waiting jobs */
		dest_update(s, job->request.dest);
		for (; job != NULL; job = next) {
			next = job->joined;
			TAILQ_INSERT_HEAD(&s->spare, job, entry);
		}
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
