/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/records and /v1/records/{name}: the records of subnet administration. Components in
 * the query string select records; their order is that of a GetTable. Long tables come in
 * pages. A cursor holds the key at which the walk stopped and the number of matches under
 * it that were sent, so that the next page goes on there.
 *
 * Management keys (M_Key, SM_Key) and ServiceKeys are never shown. All other components of
 * client records (groups and their members, services, subscriptions) are shown as to a
 * trusted requester.
 */
#include <errno.h>
#include <infiniband/umad_sa.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/snapshot/reader.h"
#include "db/stats/stats.h"
#include "gateway/api/api_call.h"
#include "gateway/view/ready.h"
#include "gateway/view/record_json.h"
#include "gateway/view/source.h"
#include "sa/record/attributes.h"

/* The request of a query string. */
struct record_request {
	const struct sa_attr *attr;
	uint8_t record[RECORD_BYTES_MAX];
	uint64_t mask;
	uint32_t limit;
	struct stream_place from;
	bool stream;
	bool trusted;
	uint32_t act_count; /* SMInfo.ActCount of the daemon */
	struct record_form form;
};

static int unknown_record(struct api_call *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n_sa_attrs; i++) {
		if (record_find(sa_attrs[i]->name) == sa_attrs[i]) {
			json_array_append_new(list, json_string(sa_attrs[i]->name));
		}
	}
	problem_member(&c->problem, "known", list);
	return problem_set(&c->problem, c->arena, E_NOTFOUND,
	                   "there are no records named '%.64s'; see 'known'", c->capture[0]);
}

static int unknown_component(struct api_call *c, const struct sa_attr *attr,
                             const char *name)
{
	char key[RECORD_KEY_MAX];
	json_t *list = json_array();

	for (unsigned i = 0; i < attr->n_fields; i++) {
		if (record_component(attr, attr->fields[i].name) == (int)i) {
			record_key(attr->fields[i].name, key);
			json_array_append_new(list, json_string(key));
		}
	}
	problem_member(&c->problem, "known", list);
	return problem_param(&c->problem, c->arena, E_HTTP_PARAMETER, name,
	                     "%s has no component '%s' to ask for; see 'known'",
	                     attr->name, name);
}

/* trusted=false: only what a requester without the SM_Key may see. */
static int read_trusted(struct api_call *c, const char *text, struct record_request *rq)
{
	rq->trusted = strcmp(text, "true") == 0;
	if (rq->trusted || strcmp(text, "false") == 0) {
		return E_OK;
	}
	return problem_param(&c->problem, c->arena, E_SYNTAX, "trusted",
	                     "trusted='%.100s': expected true or false", text);
}

static int read_stream(struct api_call *c, const char *text, struct record_request *rq)
{
	uint64_t v;

	if (text_u64(text, 1, &v) != E_OK) {
		return problem_param(&c->problem, c->arena, E_SYNTAX, "stream",
		                     "stream='%s': expected 0 or 1", text);
	}
	rq->stream = v == 1;
	return E_OK;
}

/* limit and cursor belong to a page, from belongs to a stream. */
static int check_paging(struct api_call *c, const struct record_request *rq)
{
	static const char *const of_page[] = { "limit", "cursor" };

	for (unsigned i = 0; rq->stream && i < 2; i++) {
		if (api_param(c, of_page[i]) != NULL) {
			return problem_param(
				&c->problem, c->arena, E_HTTP_PARAMETER, of_page[i],
				"a stream has no pages: leave out %s", of_page[i]);
		}
	}
	if (!rq->stream && api_param(c, "from") != NULL) {
		return problem_param(&c->problem, c->arena, E_HTTP_PARAMETER, "from",
		                     "from goes with stream=1; pages have a cursor");
	}
	return E_OK;
}

static int read_param(struct api_call *c, const struct uri_param *p,
                      struct record_request *rq)
{
	const char *expected = "";

	if (strcmp(p->name, "limit") == 0) {
		return api_limit(c, &rq->limit);
	}
	if (strcmp(p->name, "cursor") == 0) {
		return api_cursor(c, p->value, &rq->from);
	}
	if (strcmp(p->name, "stream") == 0) {
		return read_stream(c, p->value, rq);
	}
	if (strcmp(p->name, "from") == 0) {
		return api_from(c, &rq->from.key);
	}
	if (rq->attr->client_records && strcmp(p->name, "trusted") == 0) {
		return read_trusted(c, p->value, rq);
	}
	int component = record_component(rq->attr, p->name);
	if (component < 0) {
		return unknown_component(c, rq->attr, p->name);
	}
	int ret = record_ask(rq->attr, component, p->value, rq->record, &expected);
	if (ret != E_OK) {
		return problem_param(&c->problem, c->arena, ret, p->name,
		                     "%s='%.100s': expected %s", p->name, p->value,
		                     expected);
	}
	rq->mask |= UINT64_C(1) << component;
	return E_OK;
}

/* SMPs that the daemon sent, from its last heartbeat. 0: unknown. */
static uint32_t act_count(struct api_call *c)
{
	struct stats_copy stats;
	double sent = 0;

	if (source_stats(c->thread->source, c->now_ms, c->arena, &stats) == E_OK) {
		(void)stats_number(&stats, STATS_SMPS_SENT, &sent);
	}
	return (uint32_t)(uint64_t)sent;
}

static int read_request(struct api_call *c, struct record_request *rq)
{
	*rq = (struct record_request){ .attr = record_find(c->capture[0]),
		                       .limit = API_LIMIT_DEFAULT };
	if (rq->attr == NULL) {
		return unknown_record(c);
	}
	rq->trusted = rq->attr->client_records;
	rq->act_count = rq->attr->moves ? act_count(c) : 0;
	for (unsigned i = 0; i < c->uri.n_params; i++) {
		int ret = read_param(c, &c->uri.param[i], rq);
		if (ret != E_OK) {
			return ret;
		}
	}
	record_form(sa_reply_attr(rq->attr), &rq->form);
	return check_paging(c, rq);
}

/* Errors of a walk that mean here: no records. */
static int error_of(const struct sa_out *out)
{
	switch (out->ret) {
	case E_OK:
	case E_NOTFOUND: /* nobody has the LID, ... */
	case E_NOPATH:
	case E_PARTITION:
	case E_POLICY: return E_OK;
	default: return out->ret;
	}
}

static int explain_refusal(struct api_call *c, int ret, uint16_t status)
{
	if (ret != E_RANGE) {
		return ret;
	}
	return problem_set(
		&c->problem, c->arena, E_RANGE, "%s",
		status == UMAD_SA_STATUS_INVALID_GID ? "no port has this GID"
		: status == UMAD_SA_STATUS_INSUF_COMPS
			? "some components must be used together, and one of them is missing"
			: "a component has an invalid value, or two components contradict each other");
}

/* The place that a walk has reached. */
static struct stream_place place_of(const struct sa_out *out, size_t skip)
{
	struct stream_place at = { .key = out->key, .sub = out->sub, .skip = skip };

	memcpy(at.row, out->row_key, out->row_key_len);
	at.row_len = (uint8_t)out->row_key_len;
	return at;
}

/* Continues a walk at a place. */
static int walk(struct snap_reader *r, const struct record_request *rq,
                const struct stream_place *from, struct sa_out *out)
{
	struct sa_query q = {
		.attr = rq->attr,
		.comp_mask = rq->mask,
		.record = rq->record,
		.table = true,
		.from = from->key,
		.from_sub = from->sub,
		.trusted = rq->trusted,
		.act_count = rq->act_count,
		.now = (int64_t)time(NULL),
	};
	uint8_t key[8];

	if (from->row_len > 0) {
		q.from_key = from->row;
		q.from_key_len = from->row_len;
	} else if (from->key > 0) {
		field_set(key, 0, 64, from->key);
		q.from_key = key;
		q.from_key_len = sizeof(key);
	}
	out->skip = from->skip;
	out->key = from->key;
	out->sub = from->sub;
	memcpy(out->row_key, from->row, from->row_len);
	out->row_key_len = from->row_len;
	out->max_bytes = SIZE_MAX;
	(void)sa_collect(r, &q, out);
	return error_of(out);
}

/*
 * Why some records may be missing; NULL: none is. A node is read as a whole
 * (doc/decisions/0005), so if a LID has records, they are complete. The records of the
 * ports in front of it belong to several nodes.
 */
static const char *warning(const struct api_call *c, const struct record_request *rq,
                           bool some)
{
	const bool of_a_node = (rq->mask & 1) != 0 && rq->attr != &opa_sc_to_vl_nt;

	if (snap_meta(c->snap)->qos || (of_a_node && some) ||
	    !rq->attr->tables_on_request) {
		return NULL;
	}
	return "quality of service is off, so these tables are read from a node when somebody asks saguarod for them, which HTTP cannot: ask over the fabric (saquery SL2VL, saquery VLAR) or over TCP (oob_listen) first, or turn qos on";
}

static void write_records(struct api_call *c, const struct record_request *rq,
                          const struct sa_out *out, json_t *head)
{
	size_t n = out->n < rq->limit ? out->n : rq->limit;
	json_t *tail = NULL;

	body_list_begin(&c->body, head, "records");
	for (size_t i = 0; i < n; i++) {
		body_list_next(&c->body);
		record_write(&c->body, &rq->form, out->data + i * out->stride);
	}
	if (out->n >
	    rq->limit) { /* one more was read: it is the first of the next page */
		const struct stream_place next = place_of(out, out->in_key - 1);
		tail = api_next_place(c, &next);
	}
	body_list_end(&c->body, tail);
}

static int page(struct api_call *c, const struct record_request *rq)
{
	struct sa_out out = { .max = (size_t)rq->limit + 1 };

	int ret = explain_refusal(c, walk(c->snap, rq, &rq->from, &out), out.status);
	if (ret == E_OK) {
		json_t *head = api_head(c);
		json_object_set_new(head, "name",
		                    json_string(sa_reply_attr(rq->attr)->name));
		const char *why = warning(c, rq, out.n > 0);
		if (why != NULL) {
			json_object_set_new(head, "warning", json_string(why));
		}
		write_records(c, rq, &out, head);
	}
	free(out.data);
	return ret;
}

/* State of a stream of records: the request, and room for a slice of them. */
struct record_stream {
	struct record_request rq;
	uint16_t status; /* why the first slice was refused */
	uint8_t *data;
	size_t cap;
};

static void record_stream_done(void *state)
{
	struct record_stream *s = state;

	free(s->data);
	free(s);
}

static int more_records(void *state, struct snap_reader *r, struct stream_place *at,
                        struct body *body, size_t *ret_n)
{
	struct record_stream *s = state;
	struct sa_out out = { .data = s->data,
		              .cap = s->cap,
		              .max = STREAM_RECORDS,
		              .max_steps = STREAM_STEPS };

	int ret = walk(r, &s->rq, at, &out);
	s->data = out.data;
	s->cap = out.cap;
	s->status = out.status;
	if (ret != E_OK) {
		return ret;
	}
	for (size_t i = 0; i < out.n; i++) {
		record_write(body, &s->rq.form, out.data + i * out.stride);
		body_write(body, "\n", 1);
	}
	*at = place_of(&out, out.in_key);
	at->end = out.n < STREAM_RECORDS && !out.paused;
	*ret_n = out.n;
	return E_OK;
}

static int stream(struct api_call *c, const struct record_request *rq)
{
	struct record_stream *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		return -ENOMEM;
	}
	s->rq = *rq;
	struct stream_spec spec = { .more = more_records,
		                    .done = record_stream_done,
		                    .state = s,
		                    .name = sa_reply_attr(rq->attr)->name,
		                    .warning = warning(c, rq, false),
		                    .from = rq->from };
	int ret = api_stream(c, &spec);
	if (ret != E_OK) {
		ret = explain_refusal(c, ret, s->status);
		record_stream_done(s);
	}
	return ret;
}

int api_record(struct api_call *c)
{
	struct record_request rq;

	int ret = read_request(c, &rq);
	if (ret != E_OK) {
		return ret;
	}
	return rq.stream ? stream(c, &rq) : page(c, &rq);
}

int api_record_names(struct api_call *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n_sa_attrs; i++) {
		if (record_find(sa_attrs[i]->name) == sa_attrs[i]) {
			json_array_append_new(list, record_schema(sa_attrs[i]));
		}
	}
	body_json(&c->body, json_pack("{s:o}", "records", list));
	return E_OK;
}

unsigned api_record_tables(const char *name)
{
	const struct sa_attr *attr = record_find(name);

	return attr == NULL    ? 0
	       : attr->client_records ? TABLE_CLIENT_RECORDS
	       : attr->moves   ? TABLE_MOMENT
	                       : 0;
}
