/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/diff: what changed between two epochs. */
#include <inttypes.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/snapshot/history.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/view/diff_json.h"
#include "gateway/view/json_text.h"
#include "gateway/view/list_filter.h"

struct range {
	uint64_t from, to, oldest, newest;
};

/* \param ret_epoch  Stays what it is where the parameter is not given. */
static int read_epoch(struct api_call *c, const char *name, uint64_t newest,
                      uint64_t *ret_epoch)
{
	const char *text = api_param(c, name);

	if (text == NULL) {
		return E_OK;
	}
	if (text_u64(text, UINT64_MAX, ret_epoch) != E_OK) {
		return problem_param(&c->problem, c->arena, E_SYNTAX, name,
		                     "%s='%.40s': expected the number of an epoch", name,
		                     text);
	}
	if (*ret_epoch > newest) {
		return problem_param(&c->problem, c->arena, E_NOTFOUND, name,
		                     "epoch %" PRIu64
		                     " is not published yet; the newest is %" PRIu64,
		                     *ret_epoch, newest);
	}
	return E_OK;
}

static int is_gone(struct api_call *c, const struct range *r)
{
	problem_member(&c->problem, "oldest", json_integer((json_int_t)r->oldest));
	return problem_param(
		&c->problem, c->arena, E_HTTP_GONE, "from",
		"what changed after epoch %" PRIu64
		" is not kept any more; the oldest epoch to compare with is %" PRIu64
		" (option epoch_history)",
		r->from, r->oldest);
}

/* E_NOTFOUND of a record is no failure: then nothing is kept. */
static int kept_or_not(int ret)
{
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* By default from the epoch before to the newest one. */
static int read_range(struct api_call *c, struct range *ret_range)
{
	uint64_t newest = snap_meta(c->snap)->epoch;
	struct range r = { .to = newest, .oldest = newest, .newest = newest };
	int ret = kept_or_not(snap_changes_oldest(c->snap, &r.oldest));

	if (ret == E_OK) {
		ret = read_epoch(c, "to", newest, &r.to);
	}
	if (ret == E_OK) {
		r.from = r.to;
		ret = kept_or_not(snap_changes_before(c->snap, r.to, &r.from));
	}
	if (ret == E_OK) {
		ret = read_epoch(c, "from", newest, &r.from);
	}
	if (ret == E_OK && r.from > r.to) {
		ret = problem_param(&c->problem, c->arena, E_RANGE, "from",
		                    "from=%" PRIu64 " is after to=%" PRIu64 "; swap them",
		                    r.from, r.to);
	}
	if (ret == E_OK && r.from < r.oldest) {
		ret = is_gone(c, &r);
	}
	*ret_range = r;
	return ret;
}

static json_t *time_or_null(int64_t seconds)
{
	return seconds != 0 ? time_json(seconds) : json_null();
}

static json_t *head_json(struct api_call *c, const struct range *r,
                         const struct snap_changes *changes)
{
	json_t *head = api_head(c);
	json_t *own = json_pack("{s:I, s:I, s:I, s:o, s:o}", "from", (json_int_t)r->from,
	                        "to", (json_int_t)r->to, "oldest", (json_int_t)r->oldest,
	                        "from_time", time_or_null(changes->from_time), "to_time",
	                        time_or_null(changes->to_time));

	json_object_update(head, own);
	json_decref(own);
	return head;
}

int api_diff(struct api_call *c)
{
	struct list_filter filter;
	struct snap_changes changes;
	struct range range;
	struct api_page page;
	uint64_t total;
	int ret = api_page(c, &page);

	if (ret == E_OK) {
		ret = diff_filter_read(&filter, api_param(c, "kind"),
		                       api_param(c, "node"), &c->problem, c->arena);
	}
	if (ret == E_OK) {
		ret = read_range(c, &range);
	}
	if (ret == E_OK) {
		ret = snap_changes(c->snap, range.from, range.to, c->arena, &changes);
	}
	if (ret != E_OK) {
		return ret;
	}
	body_list_begin(&c->body, head_json(c, &range, &changes), "changes");
	ret = diff_write(&c->body, c->snap, &changes, &filter, page.guid, page.limit,
	                 &total);
	if (ret == E_OK) {
		uint64_t end = page.guid + page.limit;
		json_t *next = total > end ? api_next(c, end, 0) : NULL;

		body_list_end(&c->body, api_total(next, total));
	}
	return ret;
}
