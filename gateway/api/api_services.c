/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/services: what hosts registered, with the nodes they registered it for. */
#include <errno.h>
#include <infiniband/umad_sa.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/view/json_text.h"
#include "sa/record/attributes.h"

/* Places in a ServiceRecord (IBA vol. 1, 15.2.5.14). */
#define SERVICE_ID 0, 64
#define SERVICE_GID_PREFIX 64, 64
#define SERVICE_GID_GUID 128, 64
#define SERVICE_P_KEY 192, 16
#define SERVICE_LEASE 224, 32
enum { SERVICE_NAME_AT = 48, SERVICE_NAME_BYTES = 64 };

/* The port that a service is on; null: it is not in the fabric, or the GID is a group. */
static int port_json(struct snap_reader *r, uint64_t guid, json_t **ret_json)
{
	struct snap_node node;
	struct snap_end end;
	int ret = snap_port_guid(r, guid, &end);

	if (ret == E_OK) {
		ret = snap_node(r, end.node_guid, &node);
	}
	*ret_json = ret != E_OK
	                    ? json_null()
	                    : json_pack("{s:o, s:i, s:o}", "guid", guid_json(node.guid),
	                                "port", end.port, "name", text_json(node.name));
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int service_json(struct snap_reader *r, const uint8_t *record, json_t **ret_json)
{
	char name[SERVICE_NAME_BYTES + 1] = "";
	uint32_t lease = (uint32_t)field_get(record, SERVICE_LEASE);
	json_t *port;
	int ret = port_json(r, field_get(record, SERVICE_GID_GUID), &port);

	if (ret != E_OK) {
		return ret;
	}
	memcpy(name, record + SERVICE_NAME_AT, SERVICE_NAME_BYTES);
	/* clang-format off */
	*ret_json = json_pack("{s:o, s:o, s:o, s:i, s:o, s:o}",
		"service_id", guid_json(field_get(record, SERVICE_ID)),
		"service_name", text_json(name),
		"service_gid", gid_json(field_get(record, SERVICE_GID_PREFIX), field_get(record, SERVICE_GID_GUID)),
		"p_key", (int)field_get(record, SERVICE_P_KEY),
		"lease_seconds", lease == UINT32_MAX ? json_null() : json_integer(lease),
		"node", port);
	/* clang-format on */
	return *ret_json != NULL ? E_OK : -ENOMEM;
}

int api_services(struct api_call *c)
{
	static const uint8_t any[256];
	struct sa_query q = { .attr = &rec_service,
		              .record = any,
		              .table = true,
		              .trusted = true,
		              .now = (int64_t)time(NULL) };
	struct sa_out out = { .max = SIZE_MAX, .max_bytes = SIZE_MAX };
	struct api_page page;
	json_t *tail = NULL, *o;
	int ret = api_page(c, &page);

	if (ret == E_OK) {
		(void)sa_collect(c->snap, &q, &out);
		ret = out.ret == E_NOTFOUND ? E_OK : out.ret;
	}
	if (ret == E_OK) {
		body_list_begin(&c->body, api_head(c), "services");
	}
	for (size_t i = page.guid; ret == E_OK && i < out.n; i++) {
		if (i - page.guid == page.limit) {
			tail = api_next(c, i, 0);
			break;
		}
		ret = service_json(c->snap, out.data + i * out.stride, &o);
		if (ret == E_OK) {
			body_list_add(&c->body, o);
		}
	}
	if (ret == E_OK) {
		body_list_end(&c->body, api_total(tail, out.n));
	} else {
		json_decref(tail);
	}
	free(out.data);
	return ret;
}
