/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/maintenance: nodes and cables out of service. */
#include <errno.h>

#include "conf/base/err.h"
#include "db/lmdb/drained.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/view/json_text.h"

static json_t *end_json(uint64_t guid, const char *name, uint8_t port)
{
	return json_pack("{s:o, s:o, s:o}", "guid", guid_json(guid), "name",
	                 name[0] != '\0' ? text_json(name) : json_null(), "port",
	                 port != 0 ? json_integer(port) : json_null());
}

static json_t *text_or_null(const char *text)
{
	return text[0] != '\0' ? text_json(text) : json_null();
}

static int drained_json(const struct drained_row *r, json_t **ret_json)
{
	/* clang-format off */
	*ret_json = json_pack("{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:b}",
		"node", end_json(r->node_guid, r->name, r->port),
		"peer", r->port != 0 ? end_json(r->peer_guid, r->peer_name, r->peer_port) : json_null(),
		"reason", drained_reason_name(r->reason),
		"state", drained_state_name(r->state),
		"state_since", time_json(r->state_s),
		"since", time_json(r->since_s),
		"until", r->until_s != 0 ? time_json(r->until_s) : json_null(),
		"by", text_or_null(r->by),
		"note", text_or_null(r->note),
		"force", (int)r->force);
	/* clang-format on */
	return *ret_json != NULL ? E_OK : -ENOMEM;
}

int api_maintenance(struct api_call *c)
{
	struct drained_row r;
	uint64_t total = 0;
	json_t *o;
	int ret;

	body_list_begin(&c->body, api_head(c), "maintenance");
	for (ret = snap_drained_first(c->snap, &r); ret == E_OK;
	     ret = snap_drained_next(c->snap, &r)) {
		ret = drained_json(&r, &o);
		if (ret != E_OK) {
			break;
		}
		body_list_add(&c->body, o);
		total++;
	}
	body_list_end(&c->body, api_total(NULL, total));
	return ret == E_NOTFOUND ? E_OK : ret;
}
