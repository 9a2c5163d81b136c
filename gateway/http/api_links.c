/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/err.h"
#include "db/reader.h"
#include "gateway/http/api.h"
#include "gateway/view/path_json.h"

static int add_links(struct api_call *c, const struct api_page *page, json_t **ret_tail)
{
	struct snap_link link;
	uint64_t guid = page->guid;
	unsigned port = page->port;
	json_t *o;

	for (uint32_t n = 0;; n++) {
		int err = snap_link_from(c->snap, guid, (uint8_t)port, &link);
		if (err != E_OK) {
			return err == E_NOTFOUND ? E_OK : err;
		}
		if (n == page->limit) {
			*ret_tail = api_next(c, link.guid_a, link.port_a);
			return E_OK;
		}
		err = link_json(c->snap, &link, &o);
		if (err != E_OK) {
			return err;
		}
		body_list_add(&c->body, o);
		guid = link.guid_a;
		port = link.port_a + 1U; /* ports end at 254 */
	}
}

int api_links(struct api_call *c)
{
	struct api_page page;
	json_t *tail = NULL;

	int err = api_page(c, &page);
	if (err != E_OK) {
		return err;
	}
	body_list_begin(&c->body, api_head(c), "links");
	err = add_links(c, &page, &tail);
	body_list_end(&c->body, tail);
	return err;
}
