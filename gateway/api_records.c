/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/records and /v1/records/{name}: the records of subnet administration, asked for by
 * components in the query string, in the order in which a GetTable has them. Long tables
 * come in pages, for which a walk begins again where it was: the cursor holds the key of
 * the walk and how many matches under it have been given out.
 *
 * Keys of management (M_Key, SM_Key) are never shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "conf/text.h"
#include "db/reader.h"
#include "gateway/api.h"
#include "gateway/record_json.h"
#include "sa/record.h"
#include "sa/wire.h"

/* The request of a query string. */
struct record_request {
	const struct sa_attr *attr;
	uint8_t record[SA_MAD_BYTES];
	uint64_t mask;
	uint32_t limit;
	uint64_t from;
	size_t skip;
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
	                   "there are no records named '%.64s'; see 'known'", c->capture);
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

static int read_cursor(struct api_call *c, const char *text, struct record_request *rq)
{
	uint64_t key, skip;
	int err = api_cursor(c, text, &key, &skip);

	if (err == E_OK) {
		rq->from = key;
		rq->skip = (size_t)skip;
	}
	return err;
}

static int read_limit(struct api_call *c, const char *text, struct record_request *rq)
{
	uint64_t v = 0;

	int err = text_u64(text, API_LIMIT_MAX, &v);
	if (err != E_OK || v == 0) {
		return problem_param(&c->problem, c->arena, err != E_OK ? err : E_RANGE,
		                     "limit", "limit='%s': expected a number, 1-%d", text,
		                     API_LIMIT_MAX);
	}
	rq->limit = (uint32_t)v;
	return E_OK;
}

static int read_param(struct api_call *c, const struct uri_param *p,
                      struct record_request *rq)
{
	const char *expected = "";

	if (strcmp(p->name, "limit") == 0) {
		return read_limit(c, p->value, rq);
	}
	if (strcmp(p->name, "cursor") == 0) {
		return read_cursor(c, p->value, rq);
	}
	int component = record_component(rq->attr, p->name);
	if (component < 0) {
		return unknown_component(c, rq->attr, p->name);
	}
	int err = record_ask(rq->attr, component, p->value, rq->record, &expected);
	if (err != E_OK) {
		return problem_param(&c->problem, c->arena, err, p->name,
		                     "%s='%.100s': expected %s", p->name, p->value,
		                     expected);
	}
	rq->mask |= UINT64_C(1) << component;
	return E_OK;
}

static int read_request(struct api_call *c, struct record_request *rq)
{
	*rq = (struct record_request){ .attr = record_find(c->capture),
		                       .limit = API_LIMIT_DEFAULT };
	if (rq->attr == NULL) {
		return unknown_record(c);
	}
	for (unsigned i = 0; i < c->uri.n_params; i++) {
		int err = read_param(c, &c->uri.param[i], rq);
		if (err != E_OK) {
			return err;
		}
	}
	return E_OK;
}

/* What a walk that ends early means here. */
static int outcome(struct api_call *c, const struct sa_out *out)
{
	switch (out->ret) {
	case E_OK:
	case E_NOTFOUND: /* a LID of nobody, ...: no records */
	case E_NOPATH:
	case E_PARTITION: return E_OK;
	case E_RANGE:
		return problem_set(
			&c->problem, c->arena, E_RANGE, "%s",
			out->status == UMAD_SA_STATUS_INVALID_GID ? "no port has this GID"
			: out->status == UMAD_SA_STATUS_INSUF_COMPS
				? "components that go together have to be given together"
				: "a component has a value that cannot be, or two "
		                  "contradict "
				  "each other");
	default: return out->ret;
	}
}

static void write_records(struct api_call *c, const struct record_request *rq,
                          const struct sa_out *out, json_t *head)
{
	const struct sa_attr *layout = sa_reply_attr(rq->attr);
	size_t n = out->n < rq->limit ? out->n : rq->limit;
	json_t *tail = NULL;

	body_list_begin(&c->body, head, "records");
	for (size_t i = 0; i < n; i++) {
		body_list_add(&c->body, record_json(layout, out->data + i * out->stride));
	}
	if (out->n >
	    rq->limit) { /* the one more than asked for is the next page's first */
		char text[56];
		snprintf(text, sizeof(text), "%" PRIx64 "-%" PRIx64 "-%zx",
		         snap_meta(c->snap)->epoch, out->key, out->in_key - 1);
		tail = json_pack("{s:s}", "next_cursor", text);
	}
	body_list_end(&c->body, tail);
}

int api_record(struct api_call *c)
{
	struct record_request rq;

	int err = read_request(c, &rq);
	if (err != E_OK) {
		return err;
	}
	struct sa_query q = {
		.attr = rq.attr,
		.comp_mask = rq.mask,
		.record = rq.record,
		.table = true,
		.from = rq.from,
	};
	struct sa_out out = {
		.max = (size_t)rq.limit + 1,
		.max_bytes = SIZE_MAX,
		.skip = rq.skip,
		.key = rq.from,
	};
	(void)sa_collect(c->snap, &q, &out);
	err = outcome(c, &out);
	if (err == E_OK) {
		json_t *head = api_head(c);
		json_object_set_new(head, "name",
		                    json_string(sa_reply_attr(rq.attr)->name));
		write_records(c, &rq, &out, head);
	}
	free(out.data);
	return err;
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
