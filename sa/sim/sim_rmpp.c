/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "sa/sim/sim_kernel_int.h"

/*
 * The reliable multi-packet protocol (RMPP) between the kernels of simulated hosts (IBA vol. 1,
 * 13.6). A message longer than a MAD is sent as DATA segments, which have the headers of the
 * message and are numbered from 1. The receiver acknowledges the segments that it has without a
 * gap, and grants a window.
 *
 * The sender starts with a window of one segment and sends until the window is used up. After a
 * timeout it goes back to the first segment without acknowledgement, and after the retries it
 * gives up. The receiver accepts segments only in order. When its window is used up it grants
 * WINDOW more segments. After the last one it passes the message to the program. It remembers
 * finished messages, so that it can repeat a lost last acknowledgement. Both sides end with
 * ABORT if the other violates the protocol.
 *
 * Not implemented: the change of direction in double-sided transfers begins again with a window
 * of one segment; RRespTime is not used.
 */

enum {
	FLAG_FIRST = 2, /* beside UMAD_RMPP_FLAG_ACTIVE */
	FLAG_LAST = 4,
	TYPE_DATA = 1,
	TYPE_ACK = 2,
	TYPE_STOP = 3,
	TYPE_ABORT = 4,
	STATUS_BAD_SEGMENT = 120,
	STATUS_BAD_TYPE = 121,
	STATUS_WINDOW_TOO_SMALL = 122, /* NewWindowLast below the segment number */
	STATUS_SEGMENT_TOO_BIG = 123,
	STATUS_BAD_VERSION = 125,
	RTIME_NONE = 0x1F,
	WINDOW = 64,
	ACK_WAIT_MS =
		2000, /* for acknowledgements, unless the sender has a shorter timeout */
	RECV_LIFE_US = 40000000, /* an unfinished message that gets no segment */
	FINISHED_MAX = 64        /* remembered per agent */
};

/* A message that is being received, or was received. */
struct rmpp_recv {
	struct rmpp_recv *next;
	uint64_t tid, heard_us;
	uint32_t slid;
	uint32_t seg; /* received up to here without a gap */
	uint32_t newwin;
	uint8_t mgmt_class, method;
	bool complete;
	uint8_t *data;
	size_t len, cap;
};

/* Bytes before the data, by class; 0: the class has no RMPP. */
static size_t header_bytes(const uint8_t *mad)
{
	enum { SA_HEADER = 56, VENDOR_HEADER = 40, DEVICE_HEADER = 64 };
	switch (mad[1]) {
	case UMAD_CLASS_SUBN_ADM: return SA_HEADER;
	case UMAD_CLASS_DEVICE_MGMT:
	case UMAD_CLASS_DEVICE_ADM:
	case UMAD_CLASS_BIS: return DEVICE_HEADER;
	default:
		return mad[1] >= UMAD_CLASS_VENDOR_RANGE2_START &&
		                       mad[1] <= UMAD_CLASS_VENDOR_RANGE2_END
		               ? VENDOR_HEADER
		               : 0;
	}
}

static struct umad_rmpp_hdr *rmpp_of(uint8_t *mad)
{
	return (struct umad_rmpp_hdr *)(mad + sizeof(struct umad_hdr));
}

static uint32_t get32(const void *at)
{
	return (uint32_t)field_get(at, 0, 32);
}

static void put32(void *at, uint32_t v)
{
	field_set(at, 0, 32, v);
}

bool rmpp_is_for_kernel(const struct kernel_agent *a, const uint8_t *mad)
{
	const struct umad_rmpp_hdr *h = rmpp_of((uint8_t *)mad);
	return a->row.rmpp_version == UMAD_RMPP_VERSION && !a->row.user_rmpp &&
	       header_bytes(mad) != 0 && (h->rmpp_rtime_flags & UMAD_RMPP_FLAG_ACTIVE);
}

/* --- sending --------------------------------------------------------------------- */

static size_t segment_bytes(const uint8_t *mad)
{
	return mad_bytes_max(mad) - header_bytes(mad);
}

static void send_segment(const struct kernel_send *w, uint32_t seg)
{
	enum { BIGGEST = 2048, RMPP_END = 36 };
	const struct kernel_file *f = w->agent->file;
	size_t hdr = header_bytes(w->m->data);
	size_t data = w->m->len > hdr ? w->m->len - hdr : 0;
	size_t step = segment_bytes(w->m->data);
	size_t at = (size_t)(seg - 1) * step;
	size_t n = data - at < step ? data - at : step;
	uint8_t mad[BIGGEST] = { 0 };

	memcpy(mad, w->m->data, hdr);
	memcpy(mad + hdr, w->m->data + hdr + at, n);
	struct umad_rmpp_hdr *h = rmpp_of(mad);
	bool last = seg == w->rmpp.count;
	h->rmpp_version = UMAD_RMPP_VERSION;
	h->rmpp_type = TYPE_DATA;
	h->rmpp_rtime_flags =
		(uint8_t)(RTIME_NONE << 3 | UMAD_RMPP_FLAG_ACTIVE |
	                  (seg == 1 ? FLAG_FIRST : 0) | (last ? FLAG_LAST : 0));
	h->rmpp_status = 0;
	put32(&h->seg_num, seg);
	/* PayloadLength counts from the end of the RMPP header, so every segment adds its class
	 * header */
	size_t class_hdr = hdr - RMPP_END;
	size_t paylen = seg == 1 ? data + w->rmpp.count * class_hdr : 0;
	if (last) {
		paylen = n + class_hdr;
	}
	put32(&h->paylen_newwin, (uint32_t)paylen);
	kernel_transmit(f->k, f->port, &w->m->addr, mad, mad_bytes_max(mad));
}

static void send_window(struct kernel_send *w)
{
	struct rmpp_send *r = &w->rmpp;
	while (r->next <= r->count && r->next <= r->newwin) {
		send_segment(w, r->next++);
	}
	bool own = w->timeout_ms > 0 && w->timeout_ms < ACK_WAIT_MS;
	kernel_send_arm(w, own ? w->timeout_ms : ACK_WAIT_MS);
}

void rmpp_send_start(struct kernel_send *w)
{
	size_t hdr = header_bytes(w->m->data);
	size_t step = segment_bytes(w->m->data);
	size_t data = w->m->len > hdr ? w->m->len - hdr : 0;
	size_t count = data > 0 ? (data + step - 1) / step : 1;

	w->rmpp = (struct rmpp_send){ .count = (uint32_t)count, .next = 1, .newwin = 1 };
	send_window(w);
}

void rmpp_send_again(struct kernel_send *w)
{
	w->rmpp.next = w->rmpp.last_ack + 1;
	send_window(w);
}

bool rmpp_send_done(const struct kernel_send *w)
{
	return w->rmpp.last_ack == w->rmpp.count;
}

/* Sends a control MAD in response to a MAD, with the same headers. */
static void send_control(struct kernel_agent *a, struct mad_buf *m, uint8_t type,
                         uint8_t status, uint32_t seg, uint32_t newwin)
{
	const struct kernel_file *f = a->file;
	uint8_t mad[MAD_BYTES] = { 0 };

	memcpy(mad, m->data, header_bytes(m->data));
	mad[3] ^= UMAD_METHOD_RESP_MASK;
	struct umad_rmpp_hdr *h = rmpp_of(mad);
	h->rmpp_version = UMAD_RMPP_VERSION;
	h->rmpp_type = type;
	h->rmpp_rtime_flags = RTIME_NONE << 3 | UMAD_RMPP_FLAG_ACTIVE;
	h->rmpp_status = status;
	put32(&h->seg_num, seg);
	put32(&h->paylen_newwin, newwin);
	kernel_transmit(f->k, f->port, &m->addr, mad, sizeof(mad));
}

static void abort_transfer(struct kernel_agent *a, struct mad_buf *m, uint8_t status)
{
	send_control(a, m, TYPE_ABORT, status, 0, 0);
}

static void take_ack(struct kernel_agent *a, struct mad_buf *m)
{
	const struct umad_rmpp_hdr *h = rmpp_of(m->data);
	uint32_t seg = get32(&h->seg_num);
	uint32_t newwin = get32(&h->paylen_newwin);
	struct kernel_send *w = kernel_send_find(a->file->k, a, m->data, m->addr.lid);

	if (w == NULL || w->rmpp.count == 0 || rmpp_send_done(w)) {
		return;
	}
	if (newwin < seg || seg > w->rmpp.count || seg >= w->rmpp.next) {
		abort_transfer(a, m,
		               newwin < seg ? STATUS_WINDOW_TOO_SMALL
		                            : STATUS_SEGMENT_TOO_BIG);
		kernel_send_end(w, false);
		return;
	}
	if (seg < w->rmpp.last_ack || newwin < w->rmpp.newwin) {
		return; /* an old acknowledgement */
	}
	if (seg > w->rmpp.last_ack) {
		w->retries_left = w->retries;
	}
	w->rmpp.last_ack = seg;
	w->rmpp.newwin = newwin;
	if (!rmpp_send_done(w)) {
		send_window(w);
	} else if (w->is_response || w->timeout_ms == 0) {
		kernel_send_end(w, false);
	} else { /* a request, which now waits for its response */
		kernel_send_arm(w, w->timeout_ms);
	}
}

/* --- receiving ------------------------------------------------------------------- */

static struct rmpp_recv *recv_find(struct kernel_agent *a, const struct mad_buf *m)
{
	struct rmpp_recv *r = a->recvs;
	while (r != NULL &&
	       !(r->tid == field_get(m->data, MAD_TID) && r->mgmt_class == m->data[1] &&
	         r->method == mad_method(m->data) && r->slid == m->addr.lid)) {
		r = r->next;
	}
	return r;
}

static void recv_free(struct rmpp_recv *r)
{
	free(r->data);
	free(r);
}

void rmpp_forget(struct kernel_agent *a)
{
	for (struct rmpp_recv *r; (r = a->recvs) != NULL;) {
		a->recvs = r->next;
		recv_free(r);
	}
}

static void recv_remove(struct kernel_agent *a, struct rmpp_recv *gone)
{
	struct rmpp_recv **at = &a->recvs;
	while (*at != gone) {
		at = &(*at)->next;
	}
	*at = gone->next;
	recv_free(gone);
}

/* Forgets old finished messages, and unfinished ones without new segments. */
static void recv_expire(struct kernel_agent *a, uint64_t now_us)
{
	struct rmpp_recv **at = &a->recvs;
	unsigned finished = 0;

	while (*at != NULL) {
		struct rmpp_recv *r = *at;
		bool old = r->complete ? ++finished > FINISHED_MAX
		                       : now_us - r->heard_us > RECV_LIFE_US;
		if (old) {
			*at = r->next;
			recv_free(r);
		} else {
			at = &r->next;
		}
	}
}

static struct rmpp_recv *recv_start(struct kernel_agent *a, const struct mad_buf *m)
{
	struct rmpp_recv *r = calloc(1, sizeof(*r));
	if (r == NULL) {
		return NULL;
	}
	recv_expire(a, sim_now_us(a->file->k->s));
	r->tid = field_get(m->data, MAD_TID);
	r->slid = m->addr.lid;
	r->mgmt_class = m->data[1];
	r->method = mad_method(m->data);
	r->newwin = 1;
	r->next = a->recvs;
	a->recvs = r;
	return r;
}

static int append(struct rmpp_recv *r, const uint8_t *data, size_t n)
{
	if (r->len + n > KERNEL_RMPP_AT_MOST) {
		return E_FULL;
	}
	if (VECTOR_RESERVE(r->data, r->cap, r->len + n) != E_OK) {
		return -ENOMEM;
	}
	memcpy(r->data + r->len, data, n);
	r->len += n;
	return E_OK;
}

/* Bytes of data in a segment: all of it, or by PayloadLength in the last one. */
static size_t data_bytes(const struct mad_buf *m, bool last)
{
	enum { RMPP_END = 36 };
	size_t hdr = header_bytes(m->data);
	size_t room = m->len > hdr ? m->len - hdr : 0;
	size_t paylen = get32(&rmpp_of((uint8_t *)m->data)->paylen_newwin);

	if (!last || paylen < hdr - RMPP_END || paylen - (hdr - RMPP_END) > room) {
		return room;
	}
	return paylen - (hdr - RMPP_END);
}

/* Passes a complete message to the program; the transfer is remembered. */
static void finish_recv(struct kernel_agent *a, struct rmpp_recv *r,
                        const struct mad_buf *m)
{
	struct mad_pool *pool = &a->file->k->s->pool;
	struct mad_buf *whole = mad_pool_get(pool, r->data, r->len);

	r->complete = true;
	free(r->data);
	r->data = NULL;
	r->len = r->cap = 0;
	if (whole != NULL) {
		whole->addr = m->addr;
		kernel_complete(a, whole);
	}
}

static void take_data(struct kernel_agent *a, struct mad_buf *m)
{
	const struct umad_rmpp_hdr *h = rmpp_of(m->data);
	uint32_t seg = get32(&h->seg_num);
	bool first = (h->rmpp_rtime_flags & FLAG_FIRST) != 0;
	bool last = (h->rmpp_rtime_flags & FLAG_LAST) != 0;
	struct rmpp_recv *r = recv_find(a, m);

	if (seg == 0 || first != (seg == 1)) {
		abort_transfer(a, m, STATUS_BAD_SEGMENT);
		return;
	}
	if (r == NULL && (seg != 1 || (r = recv_start(a, m)) == NULL)) {
		return;
	}
	r->heard_us = sim_now_us(a->file->k->s);
	if (seg <= r->seg) { /* a repetition: the acknowledgement was lost */
		send_control(a, m, TYPE_ACK, 0, r->seg, r->newwin);
		return;
	}
	if (r->complete || seg != r->seg + 1 || seg > r->newwin) {
		return;
	}
	size_t hdr = header_bytes(m->data);
	int ret = r->seg == 0 ? append(r, m->data, hdr) : E_OK;
	r->seg++;
	ret = ret == E_OK ? append(r, m->data + hdr, data_bytes(m, last)) : ret;
	if (ret != E_OK) {
		abort_transfer(a, m, 1); /* resources exhausted */
		recv_remove(a, r);
		return;
	}
	if (last || r->seg == r->newwin) {
		r->newwin += last ? 0 : WINDOW;
		send_control(a, m, TYPE_ACK, 0, r->seg, r->newwin);
	}
	if (last) {
		finish_recv(a, r, m);
	}
}

/* Handles STOP or ABORT of the other side. */
static void end_transfer(struct kernel_agent *a, struct mad_buf *m)
{
	struct kernel_send *w = kernel_send_find(a->file->k, a, m->data, m->addr.lid);
	struct rmpp_recv *r = recv_find(a, m);

	if (w != NULL && w->rmpp.count > 0) {
		kernel_send_end(w, false);
	}
	if (r != NULL && !r->complete) {
		recv_remove(a, r);
	}
}

void rmpp_take(struct kernel_agent *a, struct mad_buf *m)
{
	const struct umad_rmpp_hdr *h = rmpp_of(m->data);

	if (h->rmpp_version != UMAD_RMPP_VERSION) {
		abort_transfer(a, m, STATUS_BAD_VERSION);
	} else {
		switch (h->rmpp_type) {
		case TYPE_DATA: take_data(a, m); break;
		case TYPE_ACK: take_ack(a, m); break;
		case TYPE_STOP:
		case TYPE_ABORT: end_transfer(a, m); break;
		default: abort_transfer(a, m, STATUS_BAD_TYPE); break;
		}
	}
	mad_pool_put(&a->file->k->s->pool, m);
}
