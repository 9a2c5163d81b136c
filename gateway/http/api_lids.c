/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/err.h"
#include "db/reader.h"
#include "gateway/http/api.h"
#include "gateway/view/path_json.h"

/* Walks LIDs upwards; each range stands once, at its base. The key of a page is a LID. */
static int add_lids(struct api_call *c, const struct api_page *page, json_t **ret_tail)
{
	uint32_t top = snap_meta(c->snap)->top_lid, n = 0;
	struct snap_end end;
	json_t *o;

	for (uint64_t lid = page->guid > 0 ? page->guid : 1; lid <= top; lid++) {
		int err = snap_lid(c->snap, (uint32_t)lid, &end);
		if (err == E_NOTFOUND || (err == E_OK && end.base_lid != lid)) {
			continue;
		}
		if (err != E_OK) {
			return err;
		}
		if (n++ == page->limit) {
			*ret_tail = api_next(c, lid, 0);
			return E_OK;
		}
		err = end_json(c->snap, &end, &o);
		if (err != E_OK) {
			return err;
		}
		body_list_add(&c->body, o);
	}
	return E_OK;
}

int api_lids(struct api_call *c)
{
	struct api_page page;
	json_t *tail = NULL;

	int err = api_page(c, &page);
	if (err != E_OK) {
		return err;
	}
	body_list_begin(&c->body, api_head(c), "lids");
	err = add_lids(c, &page, &tail);
	body_list_end(&c->body, tail);
	return err;
}
