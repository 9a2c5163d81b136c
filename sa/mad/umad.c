/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/mad/umad.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/mad/mad_buf.h"
#include "sa/mad/opa_fields.h"
#include "sa/mad/opa_lid.h"
#include "sa/mad/transport.h"
#include "sa/mad/cc_fields.h"
#include "sa/mad/wakeup.h"
#include "sa/mad/wire.h"

/*
 * The transport over libibumad.
 *
 * One descriptor has nine agents: classes 0x81 and 0x01 (SMPs), 0x03 (SA, the kernel does
 * RMPP) and 0x04 (port counters), each once for InfiniBand's class version and once for
 * Omni-Path's, and 0x21 (congestion control) for InfiniBand's. The kernel delivers by class and version, and a MAD is sent by the agent of its version. Old kernels
 * refuse the agents for Omni-Path; then there are none. A receive thread blocks in
 * umad_recv(), because only that wait works on real devices and under a preload library. It
 * reads what else has come without waiting, and appends everything to a list in one step;
 * recv() takes from that list. MADs of a diverted class go to the receiver instead, as many
 * per call as there are. send() writes to the device itself, from any thread.
 *
 * The kernel delivers a response only while the request is outstanding. So requests are sent
 * with a timeout that is longer than all timers of the layers above (ANSWER_WAIT_MS, no
 * retries). Those timers decide, a later response still arrives, and a request without a
 * response finally comes back with status E_TIMEOUT. The layers above match responses by the
 * low 32 bits of the transaction ID, because the kernel uses the others.
 *
 * At most QUEUE_MAX received MADs wait; more are dropped, as by a full receive queue.
 */

enum {
	ANSWER_WAIT_MS = 2000,
	RMPP_RETRIES = 3, /* of a table whose acknowledgement is missing */
	POLL_MS = 200,    /* so often the receive thread looks whether it has to stop */
	QUEUE_MAX = 16384,
	BATCH = 16,     /* MADs that are read from the device per wake-up */
	BUSY_RUN = 256, /* so many MADs in a row mean that the receiver is pressed */
	RECV_BYTES = 64 * 1024, /* first size of the buffer for longer MADs */
	SM_CLASS_VERSION = 1,
	PERF_CLASS_VERSION = 1,
	N_AGENTS = 9
};

struct agent_row {
	uint8_t mgmt_class, version, rmpp;
	bool optional;
	uint8_t methods[9]; /* methods of requests that we answer, ended by 0 */
};

/* clang-format off */
static const struct agent_row agent_rows[N_AGENTS] = {
	/* before InfiniBand's, because ibsim gives requests of a class to its last agent */
	{ UMAD_CLASS_SUBN_DIRECTED_ROUTE, OPA_CLASS_VERSION, 0, true,
	  { UMAD_METHOD_GET, UMAD_METHOD_SET, UMAD_METHOD_TRAP } },
	{ UMAD_CLASS_SUBN_LID_ROUTED, OPA_CLASS_VERSION, 0, true,
	  { UMAD_METHOD_GET, UMAD_METHOD_SET, UMAD_METHOD_TRAP, UMAD_METHOD_TRAP_REPRESS } },
	{ UMAD_CLASS_SUBN_DIRECTED_ROUTE, SM_CLASS_VERSION, 0, false,
	  { UMAD_METHOD_GET, UMAD_METHOD_SET, UMAD_METHOD_TRAP } },
	{ UMAD_CLASS_SUBN_LID_ROUTED, SM_CLASS_VERSION, 0, false,
	  { UMAD_METHOD_GET, UMAD_METHOD_SET, UMAD_METHOD_TRAP, UMAD_METHOD_TRAP_REPRESS } },
	{ UMAD_CLASS_SUBN_ADM, SA_OPA_VERSION, UMAD_RMPP_VERSION, true,
	  { UMAD_METHOD_GET, UMAD_METHOD_SET, UMAD_SA_METHOD_GET_TABLE,
	    UMAD_SA_METHOD_GET_TRACE_TABLE, UMAD_SA_METHOD_GET_MULTI, UMAD_SA_METHOD_DELETE } },
	{ UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, UMAD_RMPP_VERSION, false,
	  { UMAD_METHOD_GET, UMAD_METHOD_SET, UMAD_SA_METHOD_GET_TABLE,
	    UMAD_SA_METHOD_GET_TRACE_TABLE, UMAD_SA_METHOD_GET_MULTI, UMAD_SA_METHOD_DELETE } },
	/* port counters: we ask, and answer nobody */
	{ UMAD_CLASS_PERF_MGMT, OPA_CLASS_VERSION, 0, true, { 0 } },
	{ UMAD_CLASS_PERF_MGMT, PERF_CLASS_VERSION, 0, true, { 0 } },
	/* congestion control: we ask, and hear of wrong keys */
	{ CC_CLASS, CC_CLASS_VERSION, 0, true, { UMAD_METHOD_TRAP } },
};
/* clang-format on */

/* One MAD as read from the device. */
struct received {
	_Alignas(struct ib_user_mad)
		uint8_t umad[sizeof(struct ib_user_mad) + OPA_MAD_MOST];
	int len;
};

struct umad_transport {
	struct transport transport; /* first: the transport's functions cast back */
	char ca[UMAD_CA_NAME_LEN];
	int port;
	int portid; /* -1: not open */
	int agents[N_AGENTS];
	int issm_fd; /* -1: IsSM is off */
	pthread_t thread;
	bool thread_runs;
	bool nonblocking; /* umad_recv() can tell that the device is empty without waiting */
	atomic_bool stop;
	struct wakeup wakeup;
	pthread_mutex_t diverting; /* held while the receiver runs; guards what follows */
	struct transport_receiver receiver; /* take NULL: all MADs go to the queue */
	pthread_mutex_t lock; /* guards what follows */
	struct mad_pool pool;
	struct mad_list queue;
	struct mad_buf *held; /* borrowed by the caller of the last recv */
	bool gone;            /* the receive thread ended: the device is gone */
};

static int agent_of(const struct umad_transport *u, const struct mad_msg *m)
{
	uint8_t version = (uint8_t)field_get(m->data, MAD_CLASS_VERSION);

	for (int i = 0; i < N_AGENTS; i++) {
		const struct agent_row *r = &agent_rows[i];
		if (r->mgmt_class == m->mgmt_class &&
		    (r->version == version || !r->optional)) {
			return u->agents[i];
		}
	}
	return -1;
}

static int send_error(int ret)
{
	switch (ret) {
	case EAGAIN:
	case ENOMEM:
	case ENOBUFS: return -EAGAIN;
	case ENODEV: return -EIO;
	default: return ret != 0 ? -ret : -EIO;
	}
}

static int umad_op_send(struct transport *t, const struct mad_msg *m)
{
	struct umad_transport *u = (struct umad_transport *)t;
	const struct mad_addr *a = &m->addr;
	/* aligned space for one MAD; longer responses get a block of their own */
	uint64_t small[(sizeof(struct ib_user_mad) + MAD_BYTES) / sizeof(uint64_t) +
	               1] = { 0 };
	struct ib_user_mad *umad = (struct ib_user_mad *)small;
	int agent = m->len < sizeof(struct umad_hdr) ? -1 : agent_of(u, m);

	if (agent < 0) {
		return -EINVAL;
	}
	if (m->len > MAD_BYTES) {
		umad = calloc(1, umad_size() + m->len);
		if (umad == NULL) {
			return -ENOMEM;
		}
	}
	uint8_t *mad = umad_get_mad(umad);
	memcpy(mad, m->data, m->len);
	/* 16 bits; what does not fit is in the GRH */
	umad_set_addr(umad, (int)(a->lid & 0xFFFF), (int)a->qpn, a->sl, (int)a->qkey);
	umad_set_pkey(umad, a->pkey_index);
	ib_mad_addr_t *to = umad_get_mad_addr(umad);
	to->grh_present = a->has_grh;
	if (a->has_grh) {
		memcpy(to->gid, a->gid, sizeof(to->gid));
		to->hop_limit = opa_lid_of_gid(a->gid) != 0 ? 1 : 64;
	}
	uint8_t method = (uint8_t)field_get(mad, MAD_METHOD);
	bool request = (method & UMAD_METHOD_RESP_MASK) == 0 &&
	               method != UMAD_METHOD_SEND && method != UMAD_METHOD_TRAP &&
	               method != UMAD_METHOD_TRAP_REPRESS;
	errno = 0;
	int ret = umad_send(u->portid, agent, umad, (int)m->len,
	                    request ? ANSWER_WAIT_MS : 0, request ? 0 : RMPP_RETRIES);
	ret = ret < 0 ? send_error(errno) : E_OK;
	if (m->len > MAD_BYTES) {
		free(umad);
	}
	return ret;
}

static int umad_op_recv(struct transport *t, uint64_t deadline_ms,
                        struct mad_msg *ret_msg)
{
	struct umad_transport *u = (struct umad_transport *)t;
	uint64_t deadline_us = wakeup_deadline_us(deadline_ms);
	int ret;

	pthread_mutex_lock(&u->lock);
	mad_pool_put(&u->pool, u->held);
	u->held = NULL;
	for (;;) {
		if (wakeup_take_interrupt(&u->wakeup)) {
			ret = -EINTR;
			break;
		}
		u->held = mad_list_pop(&u->queue);
		if (u->held != NULL) {
			*ret_msg = mad_buf_msg(u->held);
			ret = E_OK;
			break;
		}
		if (u->gone) {
			ret = -EIO;
			break;
		}
		if (deadline_us != UINT64_MAX && wakeup_now_us() >= deadline_us) {
			ret = E_TIMEOUT;
			break;
		}
		wakeup_arm(&u->wakeup);
		pthread_mutex_unlock(&u->lock);
		wakeup_sleep(&u->wakeup, deadline_us);
		pthread_mutex_lock(&u->lock);
	}
	pthread_mutex_unlock(&u->lock);
	return ret;
}

static void umad_op_wake(struct transport *t)
{
	wakeup_interrupt(&((struct umad_transport *)t)->wakeup);
}

static uint64_t umad_op_now_ms(struct transport *t)
{
	(void)t;
	return wakeup_now_us() / 1000;
}

/* Opening the issm device sets PortInfo.CapabilityMask.IsSM, closing it clears the bit. */
static int umad_op_set_issm(struct transport *t, bool on)
{
	struct umad_transport *u = (struct umad_transport *)t;
	char path[256];

	if (!on) {
		if (u->issm_fd >= 0) {
			close(u->issm_fd);
		}
		u->issm_fd = -1;
		return E_OK;
	}
	if (u->issm_fd >= 0) {
		return E_OK;
	}
	if (umad_get_issm_path(u->ca, u->port, path, sizeof(path)) < 0) {
		return E_NOTFOUND;
	}
	u->issm_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (u->issm_fd < 0) {
		return errno == EAGAIN || errno == EBUSY ? E_LOCKED : -errno;
	}
	return E_OK;
}

static void umad_op_divert(struct transport *t, const struct transport_receiver *receiver)
{
	struct umad_transport *u = (struct umad_transport *)t;

	pthread_mutex_lock(&u->diverting);
	u->receiver = receiver != NULL ? *receiver
	                               : (struct transport_receiver){ .take = NULL };
	pthread_mutex_unlock(&u->diverting);
}

static void umad_op_close(struct transport *t)
{
	struct umad_transport *u = (struct umad_transport *)t;

	atomic_store(&u->stop, true);
	if (u->thread_runs) {
		pthread_join(u->thread, NULL);
	}
	umad_op_set_issm(&u->transport, false);
	if (u->portid >= 0) {
		umad_close_port(u->portid);
	}
	mad_pool_done(&u->pool);
	wakeup_done(&u->wakeup);
	pthread_mutex_destroy(&u->lock);
	pthread_mutex_destroy(&u->diverting);
	free(u);
}

static const struct transport_ops umad_ops = {
	.name = "umad",
	.send = umad_op_send,
	.recv = umad_op_recv,
	.wake = umad_op_wake,
	.now_ms = umad_op_now_ms,
	.set_issm = umad_op_set_issm,
	.divert = umad_op_divert,
	.close = umad_op_close,
};

/* A received MAD as a message, which borrows the buffer. */
static struct mad_msg message_of(struct ib_user_mad *umad, int len)
{
	const ib_mad_addr_t *from = umad_get_mad_addr(umad);
	uint8_t *mad = umad_get_mad(umad);
	struct mad_msg m = {
		.mgmt_class = (uint8_t)field_get(mad, MAD_MGMT_CLASS),
		.status = umad_status(umad) == 0 ? 0 : E_TIMEOUT,
		.addr = { .sl = from->sl,
		          .pkey_index = from->pkey_index,
		          .lid = (uint32_t)field_get((const uint8_t *)&from->lid, 0, 16),
		          .qpn = (uint32_t)field_get((const uint8_t *)&from->qpn, 0, 32),
		          .has_grh = from->grh_present != 0 },
		.len = (size_t)len,
		.data = mad,
	};

	m.addr.directed = m.mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	m.addr.qkey = m.addr.qpn != 0 ? UMAD_QKEY : 0; /* SMPs have no Q_Key */
	memcpy(m.addr.gid, from->gid, sizeof(m.addr.gid));
	opa_addr_decode(&m.addr);
	return m;
}

/* Appends to the queue; if that is full the MADs are lost. */
static void enqueue(struct umad_transport *u, const struct mad_msg *m, unsigned n)
{
	pthread_mutex_lock(&u->lock);
	for (unsigned i = 0; i < n; i++) {
		struct mad_buf *buf = NULL;
		if (u->queue.n < QUEUE_MAX) {
			buf = mad_pool_get(&u->pool, m[i].data, m[i].len);
		}
		if (buf != NULL) {
			buf->addr = m[i].addr;
			buf->status = m[i].status;
			mad_list_push(&u->queue, buf);
		}
	}
	pthread_mutex_unlock(&u->lock);
	wakeup_notify(&u->wakeup);
}

static bool is_diverted(const struct transport_receiver *t, const struct mad_msg *m)
{
	return t->take != NULL && m->mgmt_class == t->mgmt_class && m->status == 0;
}

/* Passes MADs to the receiver or the queue, in runs of the same destination. */
static void deliver(struct umad_transport *u, const struct mad_msg *m, unsigned n,
                    bool pressed)
{
	unsigned end;

	pthread_mutex_lock(&u->diverting);
	for (unsigned i = 0; i < n; i = end) {
		bool diverted = is_diverted(&u->receiver, &m[i]);
		end = i + 1;
		while (end < n && is_diverted(&u->receiver, &m[end]) == diverted) {
			end++;
		}
		if (diverted) {
			u->receiver.take(u->receiver.ctx, &m[i], end - i, pressed);
		} else {
			enqueue(u, &m[i], end - i);
		}
	}
	pthread_mutex_unlock(&u->diverting);
}

/* State of the receive thread alone. */
struct receiver {
	struct ib_user_mad *large; /* buffer for longer MADs */
	int large_bytes;
	struct received got[BATCH];
	struct mad_msg msg[BATCH];
	unsigned run; /* MADs read since the device was last found empty */
};

/* Reads a MAD longer than those of Omni-Path; if the buffer is too small, grows it for the next call. */
static int read_large(struct umad_transport *u, struct receiver *r)
{
	int len = r->large_bytes;
	int ret = umad_recv(u->portid, r->large, &len, POLL_MS);

	if (ret == -ENOSPC && len > r->large_bytes) {
		struct ib_user_mad *larger = calloc(1, umad_size() + (size_t)len);
		if (larger != NULL) {
			free(r->large);
			r->large = larger;
			r->large_bytes = len;
		}
	} else if (ret >= 0 && len >= (int)sizeof(struct umad_hdr)) {
		struct mad_msg m = message_of(r->large, len);
		deliver(u, &m, 1, true);
	}
	return ret;
}

/* Waits for a MAD, reads at most a batch of what has come, and delivers it. If the last call
 * did not find the device empty, does not wait either, so that this call can find it empty.
 * Returns as umad_recv(). */
static int read_batch(struct umad_transport *u, struct receiver *r)
{
	unsigned n = 0, n_read = 0;
	int ret;

	do {
		struct received *at = &r->got[n_read];
		at->len = OPA_MAD_MOST;
		ret = umad_recv(u->portid, at->umad, &at->len,
		                n_read == 0 && r->run == 0 ? POLL_MS : 0);
		if (ret < 0) {
			break;
		}
		n_read++;
		if (at->len >= (int)sizeof(struct umad_hdr)) {
			r->msg[n++] = message_of((struct ib_user_mad *)at->umad, at->len);
		}
	} while (u->nonblocking && n_read < BATCH);
	bool empty = ret == -EWOULDBLOCK || ret == -ETIMEDOUT;
	r->run = !u->nonblocking || empty ? 0 : r->run + n_read;
	deliver(u, r->msg, n, !u->nonblocking || r->run > BUSY_RUN);
	return ret == -ENOSPC ? read_large(u, r) : ret;
}

static void *receive(void *arg)
{
	struct umad_transport *u = arg;
	struct receiver r = { .large_bytes = RECV_BYTES };

	r.large = calloc(1, umad_size() + RECV_BYTES);
	while (r.large != NULL && !atomic_load(&u->stop)) {
		int ret = read_batch(u, &r);
		if (ret < 0 && ret != -ENOSPC && ret != -ETIMEDOUT &&
		    ret != -EWOULDBLOCK && ret != -EINTR) {
			break;
		}
	}
	free(r.large);
	pthread_mutex_lock(&u->lock);
	u->gone = true;
	pthread_mutex_unlock(&u->lock);
	wakeup_notify(&u->wakeup);
	return NULL;
}

/* --- opening: each failure sets why ----------------------------------------------- */

struct opening {
	const char *ca;
	unsigned port;
	uint64_t guid;
	struct arena *a;
	const char *why; /* message for the caller */
};

static uint64_t port_guid(const umad_port_t *p)
{
	return field_get((const uint8_t *)&p->port_guid, 0, 64);
}

/* Chooses the best port of an adapter: 2 fits, 1 fits but its link is down, 0 does not fit. */
static void choose_port(const struct opening *o, const umad_ca_t *ca,
                        struct umad_transport *u, int *best)
{
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		const umad_port_t *p = ca->ports[i];
		bool infiniband =
			p != NULL && (p->link_layer[0] == '\0' ||
		                      strcmp(p->link_layer, "InfiniBand") == 0 ||
		                      strcmp(p->link_layer, "IB") == 0);
		if (!infiniband || (o->port != 0 && (unsigned)p->portnum != o->port) ||
		    (o->guid != 0 && port_guid(p) != o->guid)) {
			continue;
		}
		int fit = p->state > 1 ? 2 : 1;
		if (fit <= *best) {
			continue;
		}
		*best = fit;
		struct transport_port *l = &u->transport.local;
		snprintf(u->ca, sizeof(u->ca), "%s", ca->ca_name);
		u->port = p->portnum;
		l->port_guid = port_guid(p);
		l->node_guid = field_get((const uint8_t *)&ca->node_guid, 0, 64);
		l->port = (uint8_t)p->portnum;
		snprintf(l->name, sizeof(l->name), "%s/%d", ca->ca_name, p->portnum);
	}
}

static void explain_no_port(struct opening *o, int n_cas)
{
	bool named = o->ca != NULL && o->ca[0] != '\0';
	if (n_cas <= 0) {
		o->why =
			"no InfiniBand channel adapter on this host (is the driver loaded?); to try without hardware use --fabric sim:FILE";
	} else if (o->guid != 0) {
		o->why = arena_printf(
			o->a,
			"no InfiniBand port with port GUID 0x%016llx here; see ibstat -p, or use --fabric sim:FILE",
			(unsigned long long)o->guid);
	} else if (named && o->port != 0) {
		o->why = arena_printf(
			o->a,
			"no InfiniBand port %u on channel adapter '%s'; see ibstat, or use --fabric sim:FILE",
			o->port, o->ca);
	} else if (named) {
		o->why = arena_printf(
			o->a,
			"no channel adapter '%s' with an InfiniBand port; see ibstat -l, or use --fabric sim:FILE",
			o->ca);
	} else {
		o->why =
			"no channel adapter of this host has a suitable InfiniBand port; see ibstat, or use --fabric sim:FILE";
	}
}

static int choose_ca(struct opening *o, struct umad_transport *u)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int n = umad_init() < 0 ? 0 : umad_get_cas_names(names, UMAD_MAX_DEVICES);
	int best = 0;
	int n_cas = 0; /* names may contain a default name that no device has */

	for (int i = 0; i < n; i++) {
		umad_ca_t ca;
		if (umad_get_ca(names[i], &ca) != 0) {
			continue;
		}
		n_cas++;
		if (o->ca == NULL || o->ca[0] == '\0' || strcmp(o->ca, names[i]) == 0) {
			choose_port(o, &ca, u, &best);
		}
		umad_release_ca(&ca);
	}
	if (best == 0) {
		explain_no_port(o, n_cas);
	}
	return best > 0 ? E_OK : E_NOTFOUND;
}

static int open_port(struct opening *o, struct umad_transport *u)
{
	char path[256];
	errno = 0;
	u->portid = umad_open_port(u->ca, u->port);
	if (u->portid >= 0) {
		return E_OK;
	}
	int ret = errno;
	/* the MAD device of the port has the number of its issm device */
	if (umad_get_issm_path(u->ca, u->port, path, sizeof(path)) < 0) {
		snprintf(path, sizeof(path), "/dev/infiniband/umad*");
	}
	char *name = strstr(path, "issm");
	if (name != NULL) {
		memcpy(name, "umad", 4);
	}
	if (access(path, R_OK | W_OK) != 0 && errno == EACCES) {
		o->why = arena_printf(
			o->a,
			"no permission for %s (port %s): run as a user of the group that owns it, or set its group with a udev rule",
			path, u->transport.local.name);
		return -EACCES;
	}
	if (access(path, F_OK) != 0 && errno == ENOENT) {
		o->why = arena_printf(o->a,
		                      "%s is missing (port %s): load the module ib_umad",
		                      path, u->transport.local.name);
		return -ENOENT;
	}
	o->why = arena_printf(o->a, "cannot open %s (port %s): %s", path,
	                      u->transport.local.name,
	                      strerror(ret != 0 ? ret : -u->portid));
	return ret != 0 ? -ret : -EIO;
}

static int register_agents(struct opening *o, struct umad_transport *u)
{
	enum { BITS = 8 * sizeof(long) };
	for (int i = 0; i < N_AGENTS; i++) {
		const struct agent_row *r = &agent_rows[i];
		long mask[16 / sizeof(long)] = { 0 };
		for (const uint8_t *m = r->methods; *m != 0; m++) {
			mask[*m / BITS] |= 1L << *m % BITS;
		}
		u->agents[i] = umad_register(u->portid, r->mgmt_class, r->version,
		                             r->rmpp, mask);
		if (u->agents[i] < 0 && !r->optional) {
			o->why = arena_printf(
				o->a,
				"cannot serve management class 0x%02x on port %s: another subnet manager (opensm?) is bound to it, or the driver does not allow it",
				r->mgmt_class, u->transport.local.name);
			return E_LOCKED;
		}
	}
	return E_OK;
}

static int start(struct opening *o, struct umad_transport *u)
{
	int ret = choose_ca(o, u);
	if (ret == E_OK) {
		ret = open_port(o, u);
	}
	if (ret == E_OK) {
		ret = register_agents(o, u);
	}
	if (ret != E_OK) {
		return ret;
	}
	int flags = fcntl(u->portid,
	                  F_GETFL); /* fails for the descriptors of a preload library */
	u->nonblocking = flags >= 0 && (flags & O_NONBLOCK) != 0;
	ret = -pthread_create(&u->thread, NULL, receive, u);
	if (ret != 0) {
		o->why = "cannot start the receive thread";
		return ret;
	}
	u->thread_runs = true;
	return E_OK;
}

int umad_transport_open(const char *ca, unsigned port, uint64_t guid, struct arena *a,
                        const char **ret_why, struct transport **ret_transport)
{
	struct opening o = { .ca = ca, .port = port, .guid = guid, .a = a };
	struct umad_transport *u = calloc(1, sizeof(*u));
	if (u == NULL) {
		*ret_why = err_text(-ENOMEM);
		return -ENOMEM;
	}
	u->transport.ops = &umad_ops;
	u->portid = -1;
	u->issm_fd = -1;
	pthread_mutex_init(&u->lock, NULL);
	pthread_mutex_init(&u->diverting, NULL);
	int r = wakeup_init(&u->wakeup);
	if (r == E_OK && getrandom(u->transport.secret, sizeof(u->transport.secret), 0) !=
	                         sizeof(u->transport.secret)) {
		r = -errno;
	}
	if (r == E_OK) {
		r = start(&o, u);
	}
	if (r != E_OK) {
		*ret_why = o.why != NULL ? o.why : err_text(r);
		umad_op_close(&u->transport);
		return r;
	}
	*ret_transport = &u->transport;
	return E_OK;
}
