/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/api/api_call.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/lmdb/known.h"
#include "db/snapshot/reader.h"
#include "gateway/view/json_text.h"
#include "gateway/view/path_none.h"
#include "gateway/view/source.h"
#include "routing/graph/graph.h"

uint64_t api_epoch(struct api_call *c, const char **ret_why)
{
	struct snap_reader *snap;

	if (source_pin(c->thread->source, c->now_ms, ret_why, &snap) != E_OK) {
		return 0;
	}
	c->epoch = snap_meta(snap)->epoch;
	return c->epoch;
}

json_t *api_head(const struct api_call *c)
{
	json_t *head = json_pack("{s:I}", "epoch", (json_int_t)c->epoch);

	if (c->stale) {
		json_object_set_new(head, "stale", json_true());
	}
	return head;
}

const char *api_param(const struct api_call *c, const char *name)
{
	return uri_param(&c->uri, name);
}

/* By name or description. \retval E_NOTFOUND E_AMBIGUOUS  Problem filled. */
static int find_named(struct api_call *c, const char *text, uint64_t *ret_guid)
{
	enum { SAME_NAME_MAX = 16 };
	uint64_t guids[SAME_NAME_MAX];
	unsigned n = 0;
	int ret = snap_name(c->snap, text, guids, SAME_NAME_MAX, &n);

	if (ret == E_NOTFOUND) {
		return problem_set(
			&c->problem, c->arena, ret,
			"no node has the name, the LID or the GUID '%.100s'; /v1/nodes?ports=0&name=*part* finds names",
			text);
	}
	if (ret == E_OK && n > 1) {
		json_t *list = json_array();

		for (unsigned i = 0; i < n && i < SAME_NAME_MAX; i++) {
			json_array_append_new(list, guid_json(guids[i]));
		}
		problem_member(&c->problem, "candidates", list);
		return problem_set(
			&c->problem, c->arena, E_AMBIGUOUS,
			"%u nodes are called '%.100s'; choose one of the candidates", n,
			text);
	}
	if (ret == E_OK) {
		*ret_guid = guids[0];
	}
	return ret;
}

int api_find_node(struct api_call *c, const char *text, const char *parameter,
                  uint64_t *ret_guid)
{
	struct known_node gone;
	struct snap_node node;
	struct snap_end end;
	uint64_t guid = 0, lid;
	int ret;

	if (text_guid(text, &guid) == E_OK) {
		ret = snap_node(c->snap, guid, &node);
		if (ret == E_NOTFOUND &&
		    (ret = snap_port_guid(c->snap, guid, &end)) == E_OK) {
			guid = end.node_guid;
		}
	} else if (text_u64(text, UINT32_MAX, &lid) == E_OK) {
		ret = snap_lid(c->snap, (uint32_t)lid, &end);
		guid = end.node_guid;
	} else {
		ret = E_NOTFOUND;
	}
	if (ret == E_NOTFOUND) {
		ret = find_named(c, text, &guid);
		c->problem.parameter = parameter;
	}
	if (ret == E_NOTFOUND && snap_known_gone(c->snap, text, &gone) == E_OK) {
		problem_member(&c->problem, "reason", json_string("gone"));
		return problem_set(&c->problem, c->arena, ret, "%s", path_none_gone(&gone, c->arena));
	}
	if (ret == E_NOTFOUND && text_guid(text, &guid) == E_OK) {
		return problem_set(
			&c->problem, c->arena, ret,
			"no node and no port has the GUID 0x%016llx; /v1/nodes?type=switch lists the switches",
			(unsigned long long)guid);
	}
	if (ret == E_OK) {
		*ret_guid = guid;
	}
	return ret;
}

int api_node_type(struct api_call *c, uint8_t *ret_type)
{
	const char *text = api_param(c, "type");

	*ret_type = 0;
	for (uint8_t t = NODE_CA; text != NULL && t <= NODE_ROUTER; t++) {
		if (strcmp(text, node_type_name(t)) == 0) {
			*ret_type = t;
		}
	}
	return text == NULL || *ret_type != 0
	               ? E_OK
	               : problem_param(&c->problem, c->arena, E_UNKNOWN, "type",
	                               "type='%s': expected ca, switch or router", text);
}

int api_capture_switch(struct api_call *c, struct snap_node *ret_node)
{
	struct snap_node node;
	uint64_t guid;

	int ret = api_find_node(c, c->capture[0], NULL, &guid);
	if (ret == E_OK) {
		ret = snap_node(c->snap, guid, &node);
	}
	if (ret == E_OK && node.type != NODE_SWITCH) {
		return problem_set(
			&c->problem, c->arena, E_NOTFOUND,
			"0x%016llx is a %s ('%s'): only a switch has a forwarding table",
			(unsigned long long)guid, node_type_name(node.type), node.name);
	}
	if (ret == E_OK) {
		*ret_node = node;
	}
	return ret;
}

/* "-" and the key of a row in hex, at the end of a cursor. \return false: something else. */
static bool cursor_row(const char *text, struct stream_place *at)
{
	size_t digits = strspn(text + 1, "0123456789abcdef");

	if (text[0] != '-' || text[1 + digits] != '\0' || digits == 0 ||
	    digits % 2 != 0 || digits / 2 > sizeof(at->row)) {
		return false;
	}
	for (size_t i = 0; i < digits / 2; i++) {
		sscanf(text + 1 + 2 * i, "%2hhx", &at->row[i]);
	}
	at->row_len = (uint8_t)(digits / 2);
	return true;
}

int api_cursor(struct api_call *c, const char *text, struct stream_place *ret_place)
{
	struct stream_place at = { .key = 0 };
	uint64_t epoch, rest;
	int end = -1;

	if (sscanf(text, "%16" SCNx64 "-%16" SCNx64 "-%16" SCNx64 "-%16" SCNx64 "%n",
	           &epoch, &at.key, &at.sub, &rest, &end) != 4 ||
	    end < 0 || (text[end] != '\0' && !cursor_row(text + end, &at))) {
		return problem_param(
			&c->problem, c->arena, E_SYNTAX, "cursor",
			"cursor='%s' is no cursor of this server: pass on next_cursor unchanged",
			text);
	}
	if (epoch != c->epoch) {
		return problem_param(&c->problem, c->arena, E_HTTP_GONE, "cursor",
		                     "the cursor is of epoch %" PRIu64
		                     ", the fabric is at epoch %" PRIu64
		                     " now; begin again without a cursor",
		                     epoch, c->epoch);
	}
	at.skip = (size_t)rest;
	*ret_place = at;
	return E_OK;
}

int api_flag(struct api_call *c, const char *name, int8_t *ret_flag)
{
	const char *text = api_param(c, name);

	*ret_flag = -1;
	if (text == NULL) {
		return E_OK;
	}
	if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) {
		return problem_param(&c->problem, c->arena, E_UNKNOWN, name,
		                     "%s='%.100s': expected 0 or 1", name, text);
	}
	*ret_flag = text[0] == '1';
	return E_OK;
}

int api_limit(struct api_call *c, uint32_t *ret_limit)
{
	const char *text = api_param(c, "limit");
	uint64_t v = API_LIMIT_DEFAULT;

	if (text != NULL) {
		int ret = text_u64(text, API_LIMIT_MAX, &v);
		if (ret != E_OK || v == 0) {
			return problem_param(&c->problem, c->arena,
			                     ret != E_OK ? ret : E_RANGE, "limit",
			                     "limit='%s': expected a number, 1-%d", text,
			                     API_LIMIT_MAX);
		}
	}
	*ret_limit = (uint32_t)v;
	return E_OK;
}

int api_page(struct api_call *c, struct api_page *ret_page)
{
	struct stream_place at = { .key = 0 };
	const char *cursor = api_param(c, "cursor");
	uint32_t limit;

	int ret = api_limit(c, &limit);
	if (ret == E_OK && cursor != NULL) {
		ret = api_cursor(c, cursor, &at);
	}
	if (ret == E_OK) {
		*ret_page = (struct api_page){ limit, at.key, (uint8_t)at.skip };
	}
	return ret;
}

json_t *api_next_place(struct api_call *c, const struct stream_place *at)
{
	char text[API_CURSOR_BYTES];
	int n = snprintf(text, sizeof(text), "%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%zx%s",
	                 c->epoch, at->key, at->sub, at->skip, at->row_len ? "-" : "");

	for (unsigned i = 0; i < at->row_len; i++) {
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%02x", at->row[i]);
	}
	snprintf(c->next_cursor, sizeof(c->next_cursor), "%s", text);
	return json_pack("{s:s}", "next_cursor", text);
}

json_t *api_total(json_t *tail, uint64_t total)
{
	json_t *all = json_pack("{s:I}", "total", (json_int_t)total);

	if (tail != NULL) {
		json_object_update(all, tail);
		json_decref(tail);
	}
	return all;
}

json_t *api_next(struct api_call *c, uint64_t guid, uint8_t port)
{
	return api_next_place(c, &(struct stream_place){ .key = guid, .skip = port });
}

bool api_rows_take(struct api_call *c, struct api_rows *r, uint64_t key)
{
	r->total++;
	if (key < r->page->guid || r->tail != NULL) {
		return false;
	}
	if (r->written++ == r->page->limit) {
		r->tail = api_next(c, key, 0);
		return false;
	}
	return true;
}

int api_from(struct api_call *c, uint64_t *ret_from)
{
	const char *text = api_param(c, "from");

	*ret_from = 0;
	if (text == NULL || text_guid(text, ret_from) == E_OK ||
	    text_u64(text, UINT64_MAX, ret_from) == E_OK) {
		return E_OK;
	}
	return problem_param(&c->problem, c->arena, E_SYNTAX, "from",
	                     "from='%s': expected 'from' of the last line of a stream",
	                     text);
}

int api_stream(struct api_call *c, struct stream_spec *spec)
{
	const struct snap_meta *m = snap_meta(c->snap);

	spec->tables = c->tables;
	spec->epoch = m->epoch;
	spec->version = snap_version(m, spec->tables);
	spec->stale = c->stale;
	int ret = stream_begin(c->thread->source, c->thread->stats, spec, &c->stream);
	if (ret == E_FULL) {
		return problem_set(&c->problem, c->arena, ret,
		                   "%d streams are open, no more are served at a time",
		                   STREAMS_MAX);
	}
	c->content_type =
		spec->media_type != NULL ? spec->media_type : "application/x-ndjson";
	return ret;
}

int api_run_job(struct api_call *c, const char *const *words, const char *file)
{
	c->job = words;
	c->job_file = file;
	return E_OK;
}

int api_lid_list(struct api_call *c, const struct api_page *page, api_lid_f *element,
                 const void *ctx, json_t **ret_tail)
{
	uint32_t top = snap_meta(c->snap)->top_lid, total = 0, written = 0;
	json_t *next = NULL;

	for (uint32_t lid = 1; lid <= top; lid++) {
		bool wanted = lid >= page->guid && next == NULL;
		json_t *o = NULL;
		int ret = element(c, ctx, lid,
		                  wanted && written < page->limit ? &o : NULL);

		if (ret == E_NOTFOUND) {
			continue;
		}
		if (ret != E_OK) {
			json_decref(next);
			return ret;
		}
		total++;
		if (wanted && written++ < page->limit) {
			body_list_add(&c->body, o);
		} else if (wanted) {
			next = api_next(c, lid, 0);
		}
	}
	*ret_tail = api_total(next, total);
	return E_OK;
}
