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
#include <string.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "sa/mad/transport.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
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

/* A request, or the first segment of one; not what expects no response. */
static bool is_request(const struct umad_sa_packet *in)
{
	const struct umad_hdr *h = &in->mad_hdr;
	bool segment = (in->rmpp_hdr.rmpp_rtime_flags & UMAD_RMPP_FLAG_ACTIVE) != 0;

	return (h->base_version == UMAD_BASE_VERSION ||
	        h->base_version == SA_OPA_VERSION) &&
	       h->mgmt_class == UMAD_CLASS_SUBN_ADM && h->method != 0 &&
	       (h->method & UMAD_METHOD_RESP_MASK) == 0 &&
	       h->method != UMAD_METHOD_SEND && h->method != UMAD_METHOD_TRAP &&
	       h->method != UMAD_METHOD_REPORT &&
	       h->method != UMAD_METHOD_TRAP_REPRESS &&
	       (!segment || in->rmpp_hdr.rmpp_type == SA_RMPP_TYPE_DATA);
}

int sa_request_read(const struct mad_msg *m, const struct sa_limits *l,
                    struct sa_request *ret_request)
{
	struct umad_sa_packet in;
	bool read_only = m->addr.origin != NULL; /* and sees all */
	const struct sa_attr *attr;
	uint16_t status = UMAD_STATUS_SUCCESS;
	__be64 key;

	if (m->len < SA_HDR_BYTES) {
		return E_MALFORMED;
	}
	memcpy(&in, m->data, SA_HDR_BYTES);
	memcpy(&key, in.sm_key, sizeof(key));
	if (!is_request(&in)) {
		return E_MALFORMED;
	}
	if (key != 0 && be64toh(key) != l->sa_key) {
		return -EPERM;
	}
	bool opa = in.mad_hdr.base_version == SA_OPA_VERSION;
	unsigned method = method_bit(in.mad_hdr.method);
	attr = sa_attr_find(in.mad_hdr.class_version, be16toh(in.mad_hdr.attr_id),
	                    method);
	if (in.mad_hdr.class_version != (opa ? SA_OPA_VERSION : UMAD_SA_CLASS_VERSION)) {
		status = UMAD_STATUS_BAD_VERSION;
	} else if (attr == NULL) {
		status = UMAD_STATUS_ATTR_NOT_SUPPORTED;
	} else if (read_only && (method & (SA_SET | SA_DELETE)) != 0) {
		status = UMAD_SA_STATUS_REQ_DENIED << SA_STATUS_SHIFT;
	} else if (attr->trusted && key == 0 && !read_only) {
		status = UMAD_SA_STATUS_REQ_INVALID << SA_STATUS_SHIFT;
	}
	uint64_t mask = be64toh(in.comp_mask);
	*ret_request = (struct sa_request){
		.attr = status == UMAD_STATUS_SUCCESS ? attr : NULL,
		.comp_mask = mask,
		.attr_mod = be32toh(in.mad_hdr.attr_mod),
		.method = method,
		.status = status,
		.trusted = key != 0,
		.is_short = status == UMAD_STATUS_SUCCESS &&
		            (mask & attr->inline_answer[0]) != 0 &&
		            (mask & attr->inline_answer[1]) != 0 &&
		            m->len == SA_MAD_BYTES,
	};
	return E_OK;
}

/* Room for a reply of so many bytes. */
static int reserve_reply(struct sa_reply *reply, size_t bytes)
{
	size_t cap = bytes > SA_MAD_BYTES ? bytes : SA_MAD_BYTES;
	uint8_t *data;

	if (reply->cap >= cap) {
		return E_OK;
	}
	data = realloc(reply->data, cap);
	if (data == NULL) {
		return -ENOMEM;
	}
	reply->data = data;
	reply->cap = cap;
	return E_OK;
}

/* Header of the reply in front of its records of stride bytes. \a id: of the records, 0:
 * as asked. */
static int encode_header(const uint8_t *request, uint16_t id, size_t stride, bool table,
                         struct sa_reply *reply)
{
	struct umad_sa_packet head;
	uint8_t *method = &head.mad_hdr.method;

	if (reserve_reply(reply, SA_MAD_BYTES) != E_OK) {
		return -ENOMEM;
	}
	memcpy(&head, request, SA_HDR_BYTES);
	*method = *method == UMAD_METHOD_SET ? UMAD_METHOD_GET_RESP
	                                     : *method | UMAD_METHOD_RESP_MASK;
	if (id != 0) {
		head.mad_hdr.attr_id = htobe16(id);
	}
	head.mad_hdr.status = htobe16(reply->status);
	head.rmpp_hdr = (struct umad_rmpp_hdr){ 0 };
	if (table) {
		head.rmpp_hdr.rmpp_version = UMAD_RMPP_VERSION;
		head.rmpp_hdr.rmpp_type = SA_RMPP_TYPE_DATA;
		head.rmpp_hdr.rmpp_rtime_flags = UMAD_RMPP_FLAG_ACTIVE;
	}
	memset(head.sm_key, 0, sizeof(head.sm_key));
	head.attr_offset = htobe16(reply->n_records ? (uint16_t)(stride / 8) : 0);
	head.reserved = 0;
	memcpy(reply->data, &head, SA_HDR_BYTES);
	reply->len = SA_HDR_BYTES + reply->n_records * stride;
	if (!table && head.mad_hdr.base_version != SA_OPA_VERSION) {
		memset(reply->data + reply->len, 0, SA_MAD_BYTES - reply->len);
		reply->len = SA_MAD_BYTES;
	}
	return E_OK;
}

/* MAD status of what the walk collected. */
static uint16_t walk_status(const struct sa_query *q, const struct sa_out *out)
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
	uint8_t mad[SA_REQUEST_BYTES];
	struct snap_end end; /* who asks */
	struct sa_back back;
	struct sa_query q;
	struct sa_out out;
};

int sa_work_new(struct sa_work **ret_work)
{
	struct sa_work *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		return -ENOMEM;
	}
	*ret_work = w;
	return E_OK;
}

void sa_work_free(struct sa_work *w)
{
	free(w);
}

/* The reply to a request for which there is nothing to walk. */
static int encode_refusal(const uint8_t *mad, uint16_t status, struct sa_reply *reply)
{
	reply->status = status;
	reply->n_records = 0;
	return encode_header(mad, 0, 0, false, reply);
}

int sa_reply_refuse(const uint8_t *mad, int why, struct sa_reply *reply)
{
	return encode_refusal(mad, sa_status(why), reply);
}

/* A virtual port that shares the LID of its port is known by its GID alone. The adapter lets
 * it send no other. */
static void take_vport(struct snap_reader *r, uint64_t guid, struct snap_end *end)
{
	struct snap_end vport;

	if (snap_port_guid(r, guid, &vport) == E_OK && vport.is_vport &&
	    vport.node_guid == end->node_guid && vport.base_lid == end->base_lid) {
		*end = vport;
	}
}

int sa_work_begin(struct sa_work *w, struct snap_reader *r, struct sa_store *st,
                  const struct sa_limits *l, const struct sa_request *request,
                  const struct mad_msg *m, struct sa_reply *ret_reply)
{
	const struct sa_attr *attr = request->attr;
	bool from_fabric = m->addr.origin == NULL;

	ret_reply->too_large = NULL;
	if (r == NULL) {
		return encode_refusal(m->data, UMAD_STATUS_BUSY, ret_reply);
	}
	if (attr == NULL || (attr->client_records && st == NULL)) {
		return encode_refusal(m->data,
		                      attr == NULL ? request->status
		                                   : UMAD_STATUS_ATTR_NOT_SUPPORTED,
		                      ret_reply);
	}
	size_t needed = SA_HDR_BYTES + (size_t)attr->size;
	/* A change is not undone, so nothing may fail after it. 8: AttributeOffset counts eights. */
	if (reserve_reply(ret_reply, needed + 8) != E_OK) {
		return -ENOMEM;
	}
	size_t came = m->len < needed ? m->len : needed;
	memcpy(w->mad, m->data, came);
	memset(w->mad + came, 0, needed - came);
	if (snap_lid(r, m->addr.lid, &w->end) != E_OK) {
		w->end = (struct snap_end){ .base_lid = m->addr.lid }; /* not swept yet */
	}
	if (m->addr.has_grh) {
		take_vport(r, field_get(m->addr.gid, 64, 64), &w->end);
	}
	w->back = (struct sa_back){ m->addr.qpn, m->addr.pkey_index, m->addr.sl };
	w->q = (struct sa_query){
		.attr = attr,
		.comp_mask = request->comp_mask,
		.record = w->mad + SA_HDR_BYTES,
		.attr_mod = request->attr_mod,
		.requester = from_fabric ? &w->end : NULL,
		.trusted = request->trusted,
		.table = (request->method &
		          (SA_GETTABLE | SA_GETMULTI | SA_GETTRACETABLE)) != 0,
		.method = request->method,
		.store = st,
		.act_count = l->act_count,
		.sm_assigned_guid = l->sm_assigned_guid,
		.own_records = l->own_records,
		.groups_of_port = l->groups_of_port,
		.groups_of_partition = l->groups_of_partition,
		.back = from_fabric ? &w->back : NULL,
	};
	w->out = (struct sa_out){
		.head = SA_HDR_BYTES,
		.max = w->q.table        ? SIZE_MAX
		       : attr->get_first ? 1
		                         : 2,
		.max_bytes = l->max_response ? l->max_response : SA_RESPONSE_BYTES,
	};
	return -EINPROGRESS;
}

int sa_work_continue(struct sa_work *w, struct snap_reader *r, size_t steps,
                     struct sa_reply *reply)
{
	const struct sa_attr *attr = w->q.attr;
	struct sa_out *out = &w->out;

	out->data = reply->data;
	out->cap = reply->cap;
	out->max_steps = attr->client_records ? 0 : steps; /* rows may change between */
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
	reply->status = walk_status(&w->q, out);
	bool ok = reply->status == UMAD_STATUS_SUCCESS;
	reply->n_records = ok ? out->n : 0;
	reply->too_large =
		out->ret == E_FULL && w->q.table ? sa_reply_attr(attr)->name : NULL;
	return encode_header(w->mad, ok && attr->reply ? attr->reply->id : 0, out->stride,
	                     ok && w->q.table, reply);
}

int sa_serve(struct snap_reader *r, struct sa_store *st, const struct sa_limits *l,
             const uint8_t *mad, size_t len, const struct mad_addr *from,
             struct sa_reply *ret_reply)
{
	const struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_ADM,
		                   .addr = *from,
		                   .len = len,
		                   .data = (uint8_t *)mad };
	struct sa_request request;
	struct sa_work w;
	int ret = sa_request_read(&m, l, &request);

	if (ret == E_OK) {
		ret = sa_work_begin(&w, r, st, l, &request, &m, ret_reply);
	}
	return ret == -EINPROGRESS ? sa_work_continue(&w, r, 0, ret_reply) : ret;
}

int sa_answer(struct snap_reader *r, const struct sa_limits *l, const uint8_t *mad,
              size_t len, uint32_t src_lid, struct sa_reply *ret_reply)
{
	const struct mad_addr from = { .lid = src_lid, .qpn = 1 };

	return sa_serve(r, NULL, l, mad, len, &from, ret_reply);
}

void sa_reply_done(struct sa_reply *r)
{
	if (r != NULL) {
		free(r->data);
		*r = (struct sa_reply){ 0 };
	}
}
