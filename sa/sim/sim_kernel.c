/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "sa/sim/sim_kernel_int.h"

/*
 * Files, agents and waiting requests of simulated hosts.
 *
 * A request is stored as it was written, by (agent, transaction ID), until its response arrives
 * or its timer has expired retries + 1 times. Timers are events of the fabric, and an old timer
 * is recognized by its number.
 *
 * Differences from a real kernel: there are only QPs 0 and 1, so that a MAD to another one is
 * lost; a GRH is ignored.
 */

static uint64_t tid_of(const uint8_t *mad)
{
	return field_get(mad, MAD_TID);
}

/* --- waiting sends --------------------------------------------------------------- */

static struct kernel_send **bucket_of(struct kernel *k, const struct kernel_agent *a,
                                      uint64_t tid)
{
	uint64_t h = ((uint64_t)a->hi_tid << 32 ^ tid) * 0x9E3779B97F4A7C15u;
	return &k->buckets[h >> 32 & (SEND_BUCKETS - 1)];
}

struct kernel_send *kernel_send_find(struct kernel *k, const struct kernel_agent *a,
                                     const uint8_t *mad, uint32_t lid)
{
	struct kernel_send *w = *bucket_of(k, a, tid_of(mad));
	while (w != NULL &&
	       !(w->agent == a && w->tid == tid_of(mad) && w->m->data[1] == mad[1] &&
	         w->is_response != mad_is_response(mad) &&
	         (!w->is_response || w->m->addr.lid == lid))) {
		w = w->next;
	}
	return w;
}

static struct kernel_send *send_new(struct kernel *k)
{
	struct kernel_send *w = k->free;
	if (w != NULL) {
		k->free = w->next;
		return w;
	}
	if (VECTOR_RESERVE(k->sends, k->cap_sends, k->n_sends + 1) != E_OK) {
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (w != NULL) {
		w->index = k->n_sends;
		k->sends[k->n_sends++] = w;
	}
	return w;
}

static void push(struct kernel_agent *a, struct mad_buf *m)
{
	struct kernel_file *f = a->file;
	if (f->queue.n >= KERNEL_QUEUE_MAX) {
		mad_pool_put(&f->k->s->pool, m);
		return;
	}
	m->agent = a->id;
	mad_list_push(&f->queue, m);
	if (f->queue.n == 1 && f->k->readable != NULL) {
		f->k->readable(f->owner);
	}
}

void kernel_send_end(struct kernel_send *w, bool timed_out)
{
	struct kernel_agent *a = w->agent;
	struct kernel *k = a->file->k;
	struct mad_buf *m = w->m;

	struct kernel_send **at = bucket_of(k, a, w->tid);
	while (*at != w) {
		at = &(*at)->next;
	}
	*at = w->next;
	w->timer = 0;
	w->agent = NULL;
	w->m = NULL;
	w->next = k->free;
	k->free = w;
	if (!timed_out) {
		mad_pool_put(&k->s->pool, m);
		return;
	}
	m->len = sizeof(struct umad_hdr);
	m->status = ETIMEDOUT;
	push(a, m);
}

void kernel_send_arm(struct kernel_send *w, uint32_t ms)
{
	struct kernel *k = w->agent->file->k;
	w->timer = ++k->timer != 0 ? k->timer : ++k->timer;
	struct sim_event e = { .kind = EVENT_TIMER, .id = w->index, .timer = w->timer };
	/* out of memory the request has no timer and waits for its response without limit */
	sim_event_add(k->s, &e, (uint64_t)ms * 1000);
}

void kernel_transmit(struct kernel *k, uint32_t port, const struct mad_addr *to,
                     const uint8_t *mad, size_t len)
{
	struct mad_buf *m = mad_pool_get(&k->s->pool, mad, len);
	if (m == NULL) {
		return; /* lost, like a packet without a buffer */
	}
	m->addr = *to;
	sim_send_mad(k->s, port, m);
}

static void transmit_send(struct kernel_send *w)
{
	struct kernel_file *f = w->agent->file;
	if (w->rmpp.count > 0) {
		rmpp_send_again(w);
		return;
	}
	kernel_transmit(f->k, f->port, &w->m->addr, w->m->data, w->m->len);
	kernel_send_arm(w, w->timeout_ms);
}

/* A timer has expired. */
static void on_timer(void *ctx, uint32_t id, uint32_t timer)
{
	struct kernel *k = ctx;
	struct kernel_send *w = k->sends[id];

	if (w->timer != timer) {
		return;
	}
	/* a long request whose segments were all acknowledged is not repeated */
	bool arrived = w->rmpp.count > 0 && rmpp_send_done(w);
	if (w->retries_left == 0 || arrived) {
		kernel_send_end(w, true);
		return;
	}
	w->retries_left--;
	transmit_send(w);
}

/* --- writing --------------------------------------------------------------------- */

static struct mad_buf *copy_row(struct kernel_file *f, const struct kernel_agent *a,
                                const struct kernel_send_row *row)
{
	struct mad_buf *m = mad_pool_get(&f->k->s->pool, row->mad, row->len);
	if (m == NULL) {
		return NULL;
	}
	if (m->len < MAD_BYTES) {
		memset(m->data + m->len, 0, MAD_BYTES - m->len);
		if (!rmpp_is_for_kernel(a, row->mad)) { /* RMPP pads its last segment */
			m->len = MAD_BYTES;
		}
	}
	m->addr = row->addr;
	if (!mad_is_response(m->data)) {
		field_set(m->data, 64, 32, a->hi_tid); /* upper half of the TID */
	}
	return m;
}

static int send_waiting(struct kernel_agent *a, const struct kernel_send_row *row,
                        struct mad_buf *m)
{
	struct kernel *k = a->file->k;
	struct kernel_send *w = send_new(k);
	if (w == NULL) {
		return -ENOMEM;
	}
	w->agent = a;
	w->m = m;
	w->tid = tid_of(m->data);
	w->timeout_ms = row->timeout_ms;
	w->retries = w->retries_left = row->retries;
	w->is_response = mad_is_response(m->data);
	w->rmpp = (struct rmpp_send){ 0 };
	struct kernel_send **bucket = bucket_of(k, a, w->tid);
	w->next = *bucket;
	*bucket = w;
	if (rmpp_is_for_kernel(a, m->data)) {
		rmpp_send_start(w);
	} else {
		transmit_send(w);
	}
	return E_OK;
}

static bool in_use(const struct kernel_agent *a, const struct mad_buf *m)
{
	struct kernel *k = a->file->k;
	struct kernel_send *w = *bucket_of(k, a, tid_of(m->data));
	for (; w != NULL; w = w->next) {
		if (w->agent == a && w->tid == tid_of(m->data) &&
		    w->m->data[1] == m->data[1] &&
		    w->is_response == mad_is_response(m->data) &&
		    (!w->is_response || w->m->addr.lid == m->addr.lid)) {
			return true;
		}
	}
	return false;
}

/* The kernel refuses a directed route whose part by LID starts at a LID of more than 16 bits. */
static bool is_bad_mixed_route(const struct sim *s, const struct kernel_send_row *row)
{
	if (row->len < OPA_DR_INITIAL_AT ||
	    row->mad[1] != UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	    !sim_is_opa_mad(s, row->mad)) {
		return false;
	}
	const uint64_t lid = field_get(row->mad, OPA_SMP_DR_SLID);
	return lid > 0xFFFF && lid != UINT32_MAX;
}

static int write_locked(struct kernel_file *f, const struct kernel_send_row *row)
{
	struct kernel_agent *a =
		row->agent < KERNEL_AGENTS_MAX ? f->agents[row->agent] : NULL;
	if (a == NULL) {
		return -EIO;
	}
	enum { LEAST = sizeof(struct umad_hdr) + sizeof(struct umad_rmpp_hdr) };
	if (is_bad_mixed_route(f->k->s, row)) {
		return -EINVAL;
	}
	if (row->len < LEAST ||
	    row->len > (rmpp_is_for_kernel(a, row->mad) ? KERNEL_RMPP_AT_MOST
	                                                : mad_bytes_max(row->mad))) {
		return -EINVAL;
	}
	struct mad_buf *m = copy_row(f, a, row);
	if (m == NULL) {
		return -ENOMEM;
	}
	bool waits = (!mad_is_response(m->data) && row->timeout_ms > 0) ||
	             rmpp_is_for_kernel(a, m->data);
	if (!waits) {
		sim_send_mad(f->k->s, f->port, m);
		return E_OK;
	}
	int ret = in_use(a, m) ? -EINVAL : send_waiting(a, row, m);
	if (ret != E_OK) {
		mad_pool_put(&f->k->s->pool, m);
	}
	return ret;
}

int kernel_write(struct kernel_file *f, const struct kernel_send_row *row)
{
	pthread_mutex_lock(&f->k->s->lock);
	int ret = write_locked(f, row);
	pthread_mutex_unlock(&f->k->s->lock);
	return ret;
}

/* --- receiving ------------------------------------------------------------------- */

static bool serves(const struct kernel_agent *a, const uint8_t *mad)
{
	enum { OUI_AT = 37, VENDOR2_FIRST = 0x30, VENDOR2_LAST = 0x4F };
	uint8_t method = mad_method(mad);

	if (a->row.mgmt_class != mad[1] || a->row.mgmt_class_version != mad[2] ||
	    (a->row.method_mask[method >> 6] >> (method & 63) & 1) == 0) {
		return false;
	}
	return mad[1] < VENDOR2_FIRST || mad[1] > VENDOR2_LAST ||
	       field_get(mad, 8 * OUI_AT, 24) == a->row.oui;
}

static struct kernel_agent *agent_for(const struct kernel *k, uint32_t port,
                                      const uint8_t *mad)
{
	uint32_t hi_tid = (uint32_t)(tid_of(mad) >> 32);
	bool response = mad_is_response(mad);
	struct kernel_agent *a = k->agents[port];

	while (a != NULL && !(response ? a->hi_tid == hi_tid : serves(a, mad))) {
		a = a->next;
	}
	return a;
}

/* Answers a Get or Set without an agent. */
static void refuse_mad(struct kernel *k, uint32_t port, const struct mad_buf *m)
{
	uint8_t mad[OPA_MAD_BYTES];
	uint8_t method = mad_method(m->data);
	size_t len = sim_is_opa_mad(k->s, m->data) ? m->len : MAD_BYTES;

	if (m->len < len || len > sizeof(mad) || len < OPA_LR_DATA_AT ||
	    (method != UMAD_METHOD_GET && method != UMAD_METHOD_SET)) {
		return;
	}
	memcpy(mad, m->data, len);
	mad[3] = UMAD_METHOD_GET_RESP;
	field_set(mad, MAD_STATUS, UMAD_STATUS_ATTR_NOT_SUPPORTED);
	if (mad[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE) {
		field_set(mad, SMP_DIRECTION, 1);
	}
	kernel_transmit(k, port, &m->addr, mad, len);
}

void kernel_complete(struct kernel_agent *a, struct mad_buf *m)
{
	struct kernel *k = a->file->k;
	if (mad_is_response(m->data)) {
		struct kernel_send *w = kernel_send_find(k, a, m->data, m->addr.lid);
		/* for a program that does RMPP itself, later segments have no request */
		if (w == NULL && !(a->row.user_rmpp || a->row.rmpp_version == 0)) {
			mad_pool_put(&k->s->pool, m);
			return;
		}
		if (w == NULL) {
			const struct umad_rmpp_hdr *h =
				(const void *)(m->data + sizeof(struct umad_hdr));
			if (!(h->rmpp_rtime_flags & UMAD_RMPP_FLAG_ACTIVE) ||
			    m->data[1] != UMAD_CLASS_SUBN_ADM) {
				mad_pool_put(&k->s->pool, m);
				return;
			}
		} else {
			kernel_send_end(w, false);
		}
	}
	push(a, m);
}

static void take(void *ctx, uint32_t port, struct mad_buf *m)
{
	struct kernel *k = ctx;
	struct kernel_agent *a = agent_for(k, port, m->data);

	m->addr.qpn = m->data[1] != UMAD_CLASS_SUBN_DIRECTED_ROUTE &&
	              m->data[1] != UMAD_CLASS_SUBN_LID_ROUTED;
	if (a == NULL) {
		refuse_mad(k, port, m);
		mad_pool_put(&k->s->pool, m);
	} else if (rmpp_is_for_kernel(a, m->data)) {
		rmpp_take(a, m);
	} else {
		kernel_complete(a, m);
	}
}

/* --- agents and files ------------------------------------------------------------ */

static int check_agent(const struct kernel_file *f, const struct kernel_agent_row *row)
{
	bool smi = row->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	           row->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED;
	if (row->qpn > 1 || row->rmpp_version > 1 ||
	    (row->mgmt_class != 0 && smi != (row->qpn == 0))) {
		return -EINVAL;
	}
	if (row->mgmt_class == 0) {
		return E_OK;
	}
	for (const struct kernel_agent *a = f->k->agents[f->port]; a; a = a->next) {
		if (a->row.mgmt_class == row->mgmt_class &&
		    a->row.mgmt_class_version == row->mgmt_class_version &&
		    a->row.oui == row->oui &&
		    ((a->row.method_mask[0] & row->method_mask[0]) != 0 ||
		     (a->row.method_mask[1] & row->method_mask[1]) != 0)) {
			return -EINVAL;
		}
	}
	return E_OK;
}

static int register_locked(struct kernel_file *f, const struct kernel_agent_row *row,
                           uint32_t *ret_id)
{
	uint32_t id = 0;
	while (id < KERNEL_AGENTS_MAX && f->agents[id] != NULL) {
		id++;
	}
	int ret = check_agent(f, row);
	if (ret != E_OK || id == KERNEL_AGENTS_MAX) {
		return ret != E_OK ? ret : -ENOMEM;
	}
	struct kernel_agent *a = calloc(1, sizeof(*a));
	if (a == NULL) {
		return -ENOMEM;
	}
	a->file = f;
	a->id = id;
	a->row = *row;
	a->hi_tid = ++f->k->hi_tid;
	a->next = f->k->agents[f->port];
	f->k->agents[f->port] = a;
	f->agents[id] = a;
	*ret_id = id;
	return E_OK;
}

int kernel_register(struct kernel_file *f, const struct kernel_agent_row *row,
                    uint32_t *ret_id)
{
	pthread_mutex_lock(&f->k->s->lock);
	int ret = register_locked(f, row, ret_id);
	pthread_mutex_unlock(&f->k->s->lock);
	return ret;
}

static void agent_free(struct kernel_agent *a)
{
	struct kernel *k = a->file->k;
	struct kernel_agent **at = &k->agents[a->file->port];

	for (uint32_t i = 0; i < k->n_sends; i++) {
		if (k->sends[i]->agent == a) {
			kernel_send_end(k->sends[i], false);
		}
	}
	while (*at != a) {
		at = &(*at)->next;
	}
	*at = a->next;
	a->file->agents[a->id] = NULL;
	rmpp_forget(a);
	free(a);
}

int kernel_unregister(struct kernel_file *f, uint32_t id)
{
	pthread_mutex_lock(&f->k->s->lock);
	bool known = id < KERNEL_AGENTS_MAX && f->agents[id] != NULL;
	if (known) {
		agent_free(f->agents[id]);
	}
	pthread_mutex_unlock(&f->k->s->lock);
	return known ? E_OK : -EINVAL;
}

int kernel_open(struct kernel *k, uint32_t port, void *owner,
                struct kernel_file **ret_file)
{
	struct kernel_file *f = calloc(1, sizeof(*f));
	if (f == NULL) {
		return -ENOMEM;
	}
	f->k = k;
	f->port = port;
	f->owner = owner;
	pthread_mutex_lock(&k->s->lock);
	f->next = k->files;
	if (f->next != NULL) {
		f->next->prev = f;
	}
	k->files = f;
	pthread_mutex_unlock(&k->s->lock);
	*ret_file = f;
	return E_OK;
}

void kernel_close(struct kernel_file *f)
{
	if (f == NULL) {
		return;
	}
	struct kernel *k = f->k;
	pthread_mutex_lock(&k->s->lock);
	for (uint32_t id = 0; id < KERNEL_AGENTS_MAX; id++) {
		if (f->agents[id] != NULL) {
			agent_free(f->agents[id]);
		}
	}
	for (struct mad_buf *m; (m = mad_list_pop(&f->queue)) != NULL;) {
		mad_pool_put(&k->s->pool, m);
	}
	*(f->prev != NULL ? &f->prev->next : &k->files) = f->next;
	if (f->next != NULL) {
		f->next->prev = f->prev;
	}
	pthread_mutex_unlock(&k->s->lock);
	free(f);
}

const struct mad_buf *kernel_peek(struct kernel_file *f)
{
	pthread_mutex_lock(&f->k->s->lock);
	const struct mad_buf *m = f->queue.first;
	pthread_mutex_unlock(&f->k->s->lock);
	return m;
}

void kernel_pop(struct kernel_file *f)
{
	pthread_mutex_lock(&f->k->s->lock);
	mad_pool_put(&f->k->s->pool, mad_list_pop(&f->queue));
	pthread_mutex_unlock(&f->k->s->lock);
}

void kernel_issm(struct kernel *k, uint32_t port, bool on)
{
	pthread_mutex_lock(&k->s->lock);
	sim_port_issm(k->s, port, on, true);
	pthread_mutex_unlock(&k->s->lock);
}

static const struct sim_receiver receiver = { .take = take, .timer = on_timer };

int kernel_new(struct sim *s, kernel_readable_f *readable, struct kernel **ret_kernel)
{
	struct kernel *k = calloc(1, sizeof(*k));
	if (k == NULL) {
		return -ENOMEM;
	}
	k->s = s;
	k->readable = readable;
	k->agents = calloc(s->g->n_ports, sizeof(struct kernel_agent *));
	if (k->agents == NULL) {
		free(k);
		return -ENOMEM;
	}
	s->receiver = &receiver;
	s->receiver_ctx = k;
	*ret_kernel = k;
	return E_OK;
}

void kernel_free(struct kernel *k)
{
	if (k == NULL) {
		return;
	}
	while (k->files != NULL) {
		kernel_close(k->files);
	}
	for (uint32_t i = 0; i < k->n_sends; i++) {
		free(k->sends[i]);
	}
	k->s->receiver = NULL;
	free(k->sends);
	free(k->agents);
	free(k);
}

uint64_t kernel_run(struct kernel *k, uint64_t until_us)
{
	pthread_mutex_lock(&k->s->lock);
	while (sim_step(k->s, until_us)) {
	}
	uint64_t next = sim_next_us(k->s);
	pthread_mutex_unlock(&k->s->lock);
	return next;
}
