/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/known: the end ports that were ever up, and which of them are gone; or the cables between switches. */
#include <errno.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/lmdb/known.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"

static int known_json(const struct known_node *n, json_t **ret_json)
{
	json_t *place = n->switch_guid == 0
	                        ? json_null()
	                        : json_pack("{s:o, s:i, s:o}", "guid", guid_json(n->switch_guid),
	                                    "port", n->switch_port, "name",
	                                    text_json(n->switch_name));

	/* clang-format off */
	*ret_json = json_pack("{s:o, s:s, s:o, s:i, s:o, s:i, s:o, s:o, s:o, s:o}",
		"guid", guid_json(n->node_guid),
		"type", node_type_name(n->type),
		"name", text_json(n->name),
		"port", n->port,
		"port_guid", guid_json(n->port_guid),
		"lid", (int)n->lid,
		"place", place,
		"first_seen", time_json(n->first_s),
		"gone_since", n->gone_s != 0 ? time_json(n->gone_s) : json_null(),
		"why", n->gone_s != 0 ? json_string(known_cause_name(n->cause)) : json_null());
	/* clang-format on */
	return *ret_json != NULL ? E_OK : -ENOMEM;
}

int api_known(struct api_call *c)
{
	const char *name = api_param(c, "name");
	struct known_node n;
	struct api_page page;
	int8_t gone = -1, cables = -1;
	json_t *tail = NULL, *o;
	uint64_t total = 0;
	uint32_t written = 0;

	int ret = api_flag(c, "gone", &gone);
	if (ret == E_OK) {
		ret = api_flag(c, "cables", &cables);
	}
	if (ret == E_OK) {
		ret = api_page(c, &page);
	}
	if (ret != E_OK) {
		return ret;
	}
	body_list_begin(&c->body, api_head(c), "known");
	for (ret = snap_known_from(c->snap, 0, 0, &n); ret == E_OK; ret = snap_known_next(c->snap, &n)) {
		bool here = n.node_guid > page.guid ||
		            (n.node_guid == page.guid && n.port >= page.port);

		if (known_is_cable(&n) != (cables == 1) || (gone >= 0 && gone != (n.gone_s != 0)) ||
		    (name != NULL && !text_glob(name, n.name))) {
			continue;
		}
		total++;
		if (!here || tail != NULL) {
			continue;
		}
		if (written == page.limit) {
			tail = api_next(c, n.node_guid, n.port);
			continue;
		}
		ret = known_json(&n, &o);
		if (ret != E_OK) {
			break;
		}
		body_list_add(&c->body, o);
		written++;
	}
	body_list_end(&c->body, api_total(tail, total));
	return ret == E_NOTFOUND ? E_OK : ret;
}
