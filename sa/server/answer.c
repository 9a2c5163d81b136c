/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The generic part of every SA answer: is it a request, may it be asked, which attribute;
 * then the attribute's walk collects records right behind the header, and status,
 * AttributeOffset and RMPP are set.
 *
 * A reply to Get, and any error, is one MAD of 256 bytes without RMPP. A reply to
 * GetTable is the header and n padded records (56 + n * 8 * AttributeOffset bytes, 56
 * when there are none) with the RMPP flag Active, version 1 and type DATA also when it
 * fits one packet: who sends it (the kernel) cuts it into segments and fills in segment
 * numbers and lengths. Omni-Path's MADs (base version 0x80) have room for 2,048 bytes and
 * are as long as what is in them.
 */
#include "sa/server/answer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "conf/base/err.h"
#include "db/reader.h"
#include "sa/mad/transport.h"
#include "sa/mad/wire.h"
#include "sa/record/record.h"
#include "sa/store/store.h"

uint16_t sa_status(int ret)
{
	switch (ret) {
	case E_OK: return UMAD_STATUS_SUCCESS;
	case E_NOTFOUND:
	case E_NOPATH:
	case E_PARTITION:
	case E_POLICY: return UMAD_SA_STATUS_NO_RECORDS << SA_STATUS_SHIFT;
	case E_SYNTAX:
	case E_RANGE:
	case E_DUPLICATE:
	case E_AMBIGUOUS: return UMAD_SA_STATUS_REQ_INVALID << SA_STATUS_SHIFT;
	case E_UNKNOWN: return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	case E_NOTREADY:
	case E_STALE:
	case E_LOCKED:
	case E_TIMEOUT:
	case -EAGAIN:
	case -EBUSY: return UMAD_STATUS_BUSY;
	case -EPERM:
	case -EACCES: return UMAD_SA_STATUS_REQ_DENIED << SA_STATUS_SHIFT;
	default: break;
	}
	/* Out of memory or room, or a snapshot that makes no sense. */
	return UMAD_SA_STATUS_NO_RESOURCES << SA_STATUS_SHIFT;
}

static unsigned method_bit(uint8_t method)
{
	switch (method) {
	case UMAD_METHOD_GET: return SA_GET;
	case UMAD_METHOD_SET: return SA_SET;
	case UMAD_SA_METHOD_GET_TABLE: return SA_GETTABLE;
	case UMAD_SA_METHOD_DELETE: return SA_DELETE;
	case UMAD_SA_METHOD_GET_MULTI: return SA_GETMULTI;
	case UMAD_SA_METHOD_GET_TRACE_TABLE: return SA_GETTRACETABLE;
	default: return 0;
	}
}

/* Something that expects no response: a response itself, a Send, a Trap, a Report ... */
static bool wants_no_response(uint8_t method)
{
	return method == 0 || (method & UMAD_METHOD_RESP_MASK) != 0 ||
	       method == UMAD_METHOD_SEND || method == UMAD_METHOD_TRAP ||
	       method == UMAD_METHOD_REPORT || method == UMAD_METHOD_TRAP_REPRESS;
}

static bool is_request(const struct umad_sa_packet *in, size_t len)
{
	const struct umad_rmpp_hdr *rmpp = &in->rmpp_hdr;
	bool segment = (rmpp->rmpp_rtime_flags & UMAD_RMPP_FLAG_ACTIVE) != 0;

	return len >= SA_HDR_BYTES &&
	       (in->mad_hdr.base_version == UMAD_BASE_VERSION ||
	        in->mad_hdr.base_version == SA_OPA_VERSION) &&
	       in->mad_hdr.mgmt_class == UMAD_CLASS_SUBN_ADM &&
	       !wants_no_response(in->mad_hdr.method) &&
	       (!segment || rmpp->rmpp_type == SA_RMPP_TYPE_DATA);
}

static uint64_t key_of(const struct umad_sa_packet *in)
{
	__be64 key;

	memcpy(&key, in->sm_key, sizeof(key));
	return be64toh(key);
}

static int reserve(struct sa_reply *reply, size_t bytes)
{
	if (reply->cap >= bytes) {
		return E_OK;
	}
	uint8_t *data = realloc(reply->data, bytes);
	if (data == NULL) {
		return -ENOMEM;
	}
	reply->data = data;
	reply->cap = bytes;
	return E_OK;
}

static uint8_t response_method(uint8_t method)
{
	return method == UMAD_METHOD_SET ? UMAD_METHOD_GET_RESP
	                                 : method | UMAD_METHOD_RESP_MASK;
}

/* Header of the reply in front of n records of stride bytes. \a id: of the records, 0: as
 * asked. */
static void put_header(const struct umad_sa_packet *in, uint16_t status, uint16_t id,
                       size_t n, size_t stride, bool table, struct sa_reply *reply)
{
	struct umad_sa_packet head = *in;

	head.mad_hdr.method = response_method(in->mad_hdr.method);
	if (id != 0) {
		head.mad_hdr.attr_id = htobe16(id);
	}
	head.mad_hdr.status = htobe16(status);
	head.rmpp_hdr = (struct umad_rmpp_hdr){ 0 };
	if (table) {
		head.rmpp_hdr.rmpp_version = UMAD_RMPP_VERSION;
		head.rmpp_hdr.rmpp_type = SA_RMPP_TYPE_DATA;
		head.rmpp_hdr.rmpp_rtime_flags = UMAD_RMPP_FLAG_ACTIVE;
	}
	memset(head.sm_key, 0, sizeof(head.sm_key));
	head.attr_offset = htobe16(n ? (uint16_t)(stride / 8) : 0);
	head.reserved = 0;
	memcpy(reply->data, &head, SA_HDR_BYTES);
	reply->len = SA_HDR_BYTES + n * stride;
	if (!table && in->mad_hdr.base_version != SA_OPA_VERSION) {
		memset(reply->data + reply->len, 0, SA_MAD_BYTES - reply->len);
		reply->len = SA_MAD_BYTES;
	}
}

/* Is the answer a list, however short? */
static bool is_table(uint8_t method)
{
	return method == UMAD_SA_METHOD_GET_TABLE || method == UMAD_SA_METHOD_GET_MULTI ||
	       method == UMAD_SA_METHOD_GET_TRACE_TABLE;
}

/* What the one who asks may do. Who only reads, by a door, reads all. */
struct rights {
	bool trusted, store, read_only;
};

static uint16_t supported(const struct umad_sa_packet *in, const struct rights *rights,
                          const struct sa_attr **ret)
{
	unsigned method = method_bit(in->mad_hdr.method);

	bool opa = in->mad_hdr.base_version == SA_OPA_VERSION;

	if (in->mad_hdr.class_version != (opa ? SA_OPA_VERSION : UMAD_SA_CLASS_VERSION)) {
		return UMAD_STATUS_BAD_VERSION;
	}
	*ret = sa_attr_find(in->mad_hdr.class_version, be16toh(in->mad_hdr.attr_id),
	                    method);
	if (*ret == NULL || ((*ret)->written && !rights->store)) {
		return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
	if (rights->read_only && (method & (SA_SET | SA_DELETE)) != 0) {
		return UMAD_SA_STATUS_REQ_DENIED << SA_STATUS_SHIFT;
	}
	return (*ret)->trusted && !rights->trusted && !rights->read_only
	               ? UMAD_SA_STATUS_REQ_INVALID << SA_STATUS_SHIFT
	               : UMAD_STATUS_SUCCESS;
}

static uint16_t outcome(const struct sa_query *q, const struct sa_out *out)
{
	if (out->ret == E_OK || out->ret == E_NOTFOUND || out->ret == E_NOPATH ||
	    out->ret == E_PARTITION || out->ret == E_POLICY) {
		if (q->table || out->n == 1) {
			return UMAD_STATUS_SUCCESS;
		}
		return (out->n ? UMAD_SA_STATUS_TOO_MANY_RECORDS
		               : UMAD_SA_STATUS_NO_RECORDS)
		       << SA_STATUS_SHIFT;
	}
	return out->status ? (uint16_t)(out->status << SA_STATUS_SHIFT)
	                   : sa_status(out->ret);
}

/* An answer in the making: the request as the walk sees it, and how far the walk is. */
struct sa_work {
	union {
		uint8_t bytes[SA_REQUEST_BYTES];
		struct umad_sa_packet mad;
	} request;
	struct snap_end end; /* who asks */
	struct sa_back back;
	struct sa_query q;
	struct sa_out out;
};

int sa_work_new(struct sa_work **ret)
{
	struct sa_work *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		return -ENOMEM;
	}
	*ret = w;
	return E_OK;
}

void sa_work_free(struct sa_work *w)
{
	free(w);
}

/* All records are there. */
static void complete(const struct sa_work *w, struct sa_reply *reply)
{
	const struct sa_query *q = &w->q;
	const struct sa_out *out = &w->out;
	uint16_t status = outcome(q, out);
	bool ok = status == UMAD_STATUS_SUCCESS;

	reply->large =
		out->ret == E_FULL && q->table ? sa_reply_attr(q->attr)->name : NULL;
	put_header(&w->request.mad, status, ok && q->attr->reply ? q->attr->reply->id : 0,
	           ok ? out->n : 0, out->stride, q->table && ok, reply);
}

int sa_work_part(struct sa_work *w, struct snap_reader *r, size_t steps,
                 struct sa_reply *reply)
{
	struct sa_out *out = &w->out;

	out->data = reply->data;
	out->cap = reply->cap;
	out->max_steps = w->q.attr->written ? 0 : steps; /* rows may change between */
	out->steps = 0;
	out->paused = false;
	(void)sa_collect(r, &w->q, out);
	reply->data = out->data;
	reply->cap = out->cap;
	if (out->ret == E_OK && out->paused) {
		w->q.from = out->key;
		w->q.from_sub = out->sub;
		return -EINPROGRESS;
	}
	complete(w, reply);
	return E_OK;
}

/* One of each set of components names all that has to be looked at. */
static bool names_all(const struct sa_attr *attr, uint64_t mask)
{
	return (mask & attr->brief[0]) != 0 && (mask & attr->brief[1]) != 0;
}

const struct sa_attr *sa_brief(const uint8_t *mad, size_t len)
{
	struct umad_sa_packet in;

	if (len != SA_MAD_BYTES) {
		return NULL;
	}
	memcpy(&in, mad, SA_HDR_BYTES);
	if (!is_request(&in, len)) {
		return NULL;
	}
	unsigned method = method_bit(in.mad_hdr.method) & (SA_GET | SA_GETTABLE);
	const struct sa_attr *attr = sa_attr_find(in.mad_hdr.class_version,
	                                          be16toh(in.mad_hdr.attr_id), method);
	return attr != NULL && names_all(attr, be64toh(in.comp_mask)) ? attr : NULL;
}

void sa_soon(const struct sa_attr *attr, struct snap_reader *r, const uint8_t *mad,
             unsigned step)
{
	if (attr->soon != NULL) {
		attr->soon(r, attr, mad + SA_HDR_BYTES, field_get(mad, SA_COMP_MASK),
		           step);
	}
}

void sa_reply_refuse(struct sa_reply *reply, int why)
{
	struct umad_sa_packet in;

	memcpy(&in, reply->data, SA_HDR_BYTES);
	put_header(&in, sa_status(why), 0, 0, 0, false, reply);
}

int sa_answer(struct snap_reader *r, const struct sa_limits *l, const uint8_t *mad,
              size_t len, uint32_t src_lid, struct sa_reply *ret)
{
	const struct mad_addr from = { .lid = src_lid, .qpn = 1 };

	return sa_serve(r, NULL, l, mad, len, &from, ret);
}

int sa_serve(struct snap_reader *r, struct sa_store *st, const struct sa_limits *l,
             const uint8_t *mad, size_t len, const struct mad_addr *from,
             struct sa_reply *ret)
{
	struct sa_work w;
	int err = sa_work_begin(&w, r, st, l, mad, len, from, ret);

	return err == -EINPROGRESS ? sa_work_part(&w, r, 0, ret) : err;
}

/* Who asks for what, and where the records go. */
static void begin_walk(struct sa_work *w, struct snap_reader *r, struct sa_store *st,
                       const struct sa_limits *l, const struct mad_addr *from,
                       const struct sa_attr *attr, const struct rights *rights)
{
	const struct umad_sa_packet *in = &w->request.mad;
	bool by_fabric = from->door == NULL;

	if (snap_lid(r, from->lid, &w->end) != E_OK) {
		w->end = (struct snap_end){ .base_lid = from->lid }; /* not swept yet */
	}
	w->back = (struct sa_back){ from->qpn, from->pkey_index, from->sl };
	w->q = (struct sa_query){
		.attr = attr,
		.comp_mask = be64toh(in->comp_mask),
		.record = w->request.bytes + SA_HDR_BYTES,
		.attr_mod = be32toh(in->mad_hdr.attr_mod),
		.requester = by_fabric ? &w->end : NULL,
		.trusted = rights->trusted,
		.table = is_table(in->mad_hdr.method),
		.method = method_bit(in->mad_hdr.method),
		.store = st,
		.act_count = l->act_count,
		.sm_assigned_guid = l->sm_assigned_guid,
		.back = by_fabric ? &w->back : NULL,
	};
	w->out = (struct sa_out){
		.head = SA_HDR_BYTES,
		.max = w->q.table        ? SIZE_MAX
		       : attr->get_first ? 1
		                         : 2,
		.max_bytes = l->max_response ? l->max_response : SA_RESPONSE_BYTES,
	};
}

int sa_work_begin(struct sa_work *w, struct snap_reader *r, struct sa_store *st,
                  const struct sa_limits *l, const uint8_t *mad, size_t len,
                  const struct mad_addr *from, struct sa_reply *ret)
{
	const struct umad_sa_packet *in = &w->request.mad;
	const struct sa_attr *attr = NULL;
	size_t counts = len < SA_REQUEST_BYTES ? len : SA_REQUEST_BYTES;

	memcpy(w->request.bytes, mad, counts);
	if (counts < SA_MAD_BYTES) {
		memset(w->request.bytes + counts, 0, SA_MAD_BYTES - counts);
	}
	if (!is_request(in, len)) {
		return E_MALFORMED;
	}
	uint64_t key = key_of(in);
	if (key != 0 && key != l->sa_key) {
		return -EPERM;
	}
	int err = reserve(ret, SA_MAD_BYTES);
	if (err != E_OK) {
		return err;
	}
	ret->large = NULL;
	const struct rights rights = { .trusted = key != 0,
		                       .store = st != NULL,
		                       .read_only = from->door != NULL };
	uint16_t status = r == NULL ? UMAD_STATUS_BUSY : supported(in, &rights, &attr);
	if (status != UMAD_STATUS_SUCCESS) {
		put_header(in, status, 0, 0, 0, false, ret);
		return E_OK;
	}
	if (counts < SA_HDR_BYTES + (size_t)attr->size) { /* none but the widest */
		memset(w->request.bytes + counts, 0, SA_HDR_BYTES + attr->size - counts);
	}
	begin_walk(w, r, st, l, from, attr, &rights);
	return -EINPROGRESS;
}

void sa_reply_done(struct sa_reply *r)
{
	if (r != NULL) {
		free(r->data);
		*r = (struct sa_reply){ 0 };
	}
}
