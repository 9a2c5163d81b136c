/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Queries through libibumad, some at a time on the way; answers come in any order and are
 * written in that of the queries:
 *
 *   NUMBER ATTRIBUTE METHOD TRUSTED MASK ATTRIBUTE-MODIFIER REQUEST STATUS RECORDS
 * RECORD...
 *
 * numbers in hexadecimal but the first and the count, records sorted by their bytes. A
 * Get that is refused for too many records is followed by its GetTable, whose records are
 * written: which they were tells why.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#include "sa/mad/wire.h"

#include "tests/differential/differential.h"

enum {
	WINDOW = 16,
	TIMEOUT_MS = 60000, /* nothing gets lost: a guard */
	ANSWER_BYTES = 16 << 20,
	TOO_MANY = UMAD_SA_STATUS_TOO_MANY_RECORDS << SA_STATUS_SHIFT,
	AGAIN = 1 << 30 /* in a transaction ID: the GetTable after a Get */
};

struct answer {
	uint16_t status;
	bool too_many; /* said so to a Get; the GetTable is on its way */
	size_t n;
	uint8_t *records; /* n of the attribute's size; NULL: not here yet */
};

void diff_port_open(struct diff_port *ret_port)
{
	*ret_port = (struct diff_port){ .tid = 0 };
	host_port_open(UMAD_RMPP_VERSION, NULL, &ret_port->host);
}

void diff_port_close(struct diff_port *p)
{
	umad_close_port(p->host.fd);
}

static void send_query(struct diff_port *p, void *umad, const struct diff_query *q,
                       uint32_t tid)
{
	struct umad_sa_packet *m = umad_get_mad(umad);

	memset(m, 0, SA_MAD_BYTES);
	m->mad_hdr.base_version = UMAD_BASE_VERSION;
	m->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	m->mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	m->mad_hdr.method = q->method;
	m->mad_hdr.tid = htobe64(tid);
	m->mad_hdr.attr_id = htobe16(q->attr->id);
	m->mad_hdr.attr_mod = htobe32(q->attr_mod);
	if (q->method == UMAD_SA_METHOD_GET_MULTI) {
		m->rmpp_hdr.rmpp_version = UMAD_RMPP_VERSION;
		m->rmpp_hdr.rmpp_type = SA_RMPP_TYPE_DATA;
		m->rmpp_hdr.rmpp_rtime_flags = UMAD_RMPP_FLAG_ACTIVE;
	}
	m->sm_key[sizeof(m->sm_key) - 1] = q->trusted ? DIFF_SM_KEY : 0;
	m->comp_mask = htobe64(q->mask);
	memcpy(m->data, q->data, sizeof(m->data));
	umad_set_addr(umad, p->host.sm_lid, 1, 0, UMAD_QKEY);
	if (umad_send(p->host.fd, p->host.agent, umad, SA_MAD_BYTES, TIMEOUT_MS, 0) < 0) {
		diff_die("cannot send", NULL);
	}
}

/* Components that are not compared, for they differ in every record. */
static const struct {
	const struct sa_attr *attr;
	const char *component;
} not_compared[] = {
	{ &rec_sm_info, "ActCount" }, /* what each has done */
	{ &rec_switch_info,
	  "PortStateChange" }, /* OpenSM: as it was before it was cleared */
	/* the port by which the subnet manager came to the switch when it last looked */
	{ &rec_port_info, "LocalPortNum" },
	{ &rec_path, "Preference" }, /* OpenSM: 2 for further LIDs of a port */
};

bool diff_is_compared(const struct sa_attr *attr, unsigned component)
{
	for (size_t i = 0; i < sizeof(not_compared) / sizeof(not_compared[0]); i++) {
		if (not_compared[i].attr == attr &&
		    strcmp(not_compared[i].component, attr->fields[component].name) ==
		            0) {
			return false;
		}
	}
	return true;
}

static void clear_component(const struct sa_attr *attr, const char *name, uint8_t *record)
{
	for (unsigned c = 0; c < attr->n_fields; c++) {
		if (strcmp(attr->fields[c].name, name) == 0) {
			sa_put(attr, record, (int)c, 0);
		}
	}
}

static void leave_out(const struct sa_attr *attr, uint8_t *record)
{
	for (size_t i = 0; i < sizeof(not_compared) / sizeof(not_compared[0]); i++) {
		if (not_compared[i].attr == attr) {
			clear_component(attr, not_compared[i].component, record);
		}
	}
}

static size_t record_size; /* for qsort() */
static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, record_size);
}

static void decode(const struct umad_sa_packet *m, size_t len, const struct sa_attr *attr,
                   struct answer *ret_answer)
{
	size_t size = sa_reply_attr(attr)->size;
	size_t step = 8 * (size_t)be16toh(m->attr_offset), n = 0;
	bool table = (m->rmpp_hdr.rmpp_rtime_flags & UMAD_RMPP_FLAG_ACTIVE) != 0;

	ret_answer->status = be16toh(m->mad_hdr.status);
	if (ret_answer->status == 0 && !table) {
		n = 1;
		step = size;
	} else if (ret_answer->status == 0 && step > 0) {
		n = (len - SA_HDR_BYTES) / step;
	}
	if (n > 0 && step < size) {
		diff_die("records are shorter than they should be", attr->name);
	}
	ret_answer->n = n;
	ret_answer->records = malloc(n * size + 1);
	if (ret_answer->records == NULL) {
		diff_die("out of memory", NULL);
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(ret_answer->records + i * size,
		       (const uint8_t *)m + SA_HDR_BYTES + i * step, size);
	}
	for (size_t i = 0; i < n; i++) {
		leave_out(sa_reply_attr(attr), ret_answer->records + i * size);
	}
	record_size = size;
	qsort(ret_answer->records, n, size, by_bytes);
}

/* Waits for an answer; its transaction ID, the lower half. */
static uint32_t receive(struct diff_port *p, void *umad, size_t *ret_len)
{
	int len = ANSWER_BYTES;

	if (umad_recv(p->host.fd, umad, &len, -1) < 0) {
		diff_die("the device has gone", NULL);
	}
	const struct umad_hdr *h = umad_get_mad(umad);
	if (umad_status(umad) != 0) {
		diff_die("no answer",
		         sa_attr_find(UMAD_SA_CLASS_VERSION, be16toh(h->attr_id), ~0u)
		                 ->name);
	}
	*ret_len = (size_t)len;
	return (uint32_t)(be64toh(h->tid) & UINT32_MAX);
}

static void write_answer(const struct diff_query *q, struct answer *a, FILE *out)
{
	size_t size = sa_reply_attr(q->attr)->size;

	fprintf(out, "%" PRIu64 " %s %x %d %" PRIx64 " %" PRIx32 " ", q->number,
	        q->attr->name, q->method, q->trusted, q->mask, q->attr_mod);
	diff_hex(out, q->data, sizeof(q->data));
	fprintf(out, " %04x %zu", a->status, a->n);
	for (size_t i = 0; i < a->n; i++) {
		putc(' ', out);
		diff_hex(out, a->records + i * size, size);
	}
	putc('\n', out);
	free(a->records);
	a->records = NULL;
}

/* Takes an answer. \return Is a GetTable to be asked after it? */
static bool take(const struct diff_query *q, struct answer *a,
                 const struct umad_sa_packet *m, size_t len)
{
	decode(m, len, q->attr, a);
	if (a->too_many) {
		a->status = TOO_MANY;
		a->too_many = false;
		return false;
	}
	if (a->status != TOO_MANY || (q->attr->methods & SA_GETTABLE) == 0) {
		return false;
	}
	a->too_many = true;
	free(a->records);
	a->records = NULL;
	return true;
}

static void *umad_new(size_t len)
{
	void *umad = calloc(1, umad_size() + len);

	if (umad == NULL) {
		diff_die("out of memory", NULL);
	}
	return umad;
}

void diff_set(struct diff_port *p, const struct diff_query *q)
{
	void *umad = umad_new(ANSWER_BYTES);
	size_t len;

	send_query(p, umad, q, ++p->tid);
	receive(p, umad, &len);
	const struct umad_hdr *h = umad_get_mad(umad);
	if (h->status != 0) {
		fprintf(stderr, "status %04x: ", be16toh(h->status));
		diff_die("this can't be set", q->attr->name);
	}
	free(umad);
}

void diff_ask(struct diff_port *p, const struct diff_values *v, uint64_t seed,
              uint64_t first, uint64_t count, FILE *out)
{
	struct diff_query *queries = calloc(WINDOW, sizeof(*queries));
	struct answer answers[WINDOW] = { 0 };
	void *request = umad_new(SA_MAD_BYTES), *reply = umad_new(ANSWER_BYTES);
	uint64_t sent = 0, written = 0;
	size_t len;

	while (queries != NULL && written < count) {
		for (; sent < count && sent < written + WINDOW; sent++) {
			struct diff_query *q = &queries[sent % WINDOW];
			diff_query_make(v, seed, first + sent, q);
			send_query(p, request, q, (uint32_t)sent + 1);
		}
		uint32_t k = (receive(p, reply, &len) & ~(uint32_t)AGAIN) - 1;
		if (take(&queries[k % WINDOW], &answers[k % WINDOW], umad_get_mad(reply),
		         len)) {
			struct diff_query table = queries[k % WINDOW];
			table.method = UMAD_SA_METHOD_GET_TABLE;
			send_query(p, request, &table, (k + 1) | AGAIN);
		}
		for (; written < sent && answers[written % WINDOW].records != NULL;
		     written++) {
			write_answer(&queries[written % WINDOW],
			             &answers[written % WINDOW], out);
		}
	}
	free(queries);
	free(request);
	free(reply);
}

static void read_attr(struct diff_port *p, const struct sa_attr *attr, void *umad,
                      FILE *out)
{
	struct diff_query q = { .attr = attr, .trusted = true };
	struct answer a;
	size_t len;

	q.method =
		attr->methods & SA_GETTABLE ? UMAD_SA_METHOD_GET_TABLE : UMAD_METHOD_GET;
	send_query(p, umad, &q, ++p->tid);
	receive(p, umad, &len);
	decode(umad_get_mad(umad), len, attr, &a);
	if (a.status != 0) {
		diff_die("the SA has no table of this", attr->name);
	}
	for (size_t i = 0; i < a.n; i++) {
		fprintf(out, "%s ", attr->name);
		diff_hex(out, a.records + i * attr->size, attr->size);
		putc('\n', out);
	}
	free(a.records);
}

void diff_read(struct diff_port *p, FILE *out)
{
	void *umad = umad_new(ANSWER_BYTES);

	for (unsigned i = 0; i < n_diff_attrs; i++) {
		if ((diff_attrs[i].attr->methods & SA_GETMULTI) == 0) {
			read_attr(p, diff_attrs[i].attr, umad, out);
		}
	}
	free(umad);
}
