/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/path_json.h"

#include <errno.h>

#include "conf/base/err.h"
#include "gateway/view/json_text.h"

#define NUMBER(p, name, value) json_put_number(JSON_PUT(p, ",\"" name "\":"), value)

char *path_record_put(char *p, const struct path_record *rec)
{
	/* Order of the members: PathRecord's components (IBA vol. 1, 15.2.5.16). */
	p = json_put_guid(JSON_PUT(p, "{\"service_id\":"), rec->service_id);
	p = json_put_gid(JSON_PUT(p, ",\"dgid\":"), rec->dgid_prefix, rec->dgid_guid);
	p = json_put_gid(JSON_PUT(p, ",\"sgid\":"), rec->sgid_prefix, rec->sgid_guid);
	p = NUMBER(p, "dlid", rec->dlid);
	p = NUMBER(p, "slid", rec->slid);
	p = NUMBER(p, "raw_traffic", rec->raw_traffic);
	p = NUMBER(p, "flow_label", rec->flow_label);
	p = NUMBER(p, "hop_limit", rec->hop_limit);
	p = NUMBER(p, "t_class", rec->t_class);
	p = NUMBER(p, "reversible", rec->reversible);
	p = NUMBER(p, "numb_path", rec->numb_path);
	p = NUMBER(p, "p_key", rec->p_key);
	p = NUMBER(p, "qos_class", rec->qos_class);
	p = NUMBER(p, "sl", rec->sl);
	p = NUMBER(p, "mtu_selector", rec->mtu_selector);
	p = NUMBER(p, "mtu", rec->mtu);
	p = NUMBER(p, "mtu_bytes", (uint64_t)mtu_bytes(rec->mtu));
	p = NUMBER(p, "rate_selector", rec->rate_selector);
	p = NUMBER(p, "rate", rec->rate);
	p = json_put_rate_gbps(JSON_PUT(p, ",\"rate_gbps\":"), rec->rate);
	p = NUMBER(p, "packet_life_time_selector", rec->packet_life_time_selector);
	p = NUMBER(p, "packet_life_time", rec->packet_life_time);
	p = NUMBER(p, "preference", rec->preference);
	p = NUMBER(p, "hop_count", rec->hops);
	return JSON_PUT(p, "}");
}

char *path_brief_put(char *p, const struct path_record *rec)
{
	p = json_put_number(JSON_PUT(p, "{\"slid\":"), rec->slid);
	p = NUMBER(p, "dlid", rec->dlid);
	p = NUMBER(p, "sl", rec->sl);
	p = NUMBER(p, "p_key", rec->p_key);
	p = NUMBER(p, "mtu", rec->mtu);
	p = NUMBER(p, "rate", rec->rate);
	p = NUMBER(p, "packet_life_time", rec->packet_life_time);
	p = NUMBER(p, "hop_count", rec->hops);
	p = NUMBER(p, "reversible", rec->reversible);
	return JSON_PUT(p, "}");
}

int path_hops_json(struct snap_reader *r, const struct path_hop *hops, unsigned n,
                   json_t **ret_json)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++) {
		struct snap_node node;
		json_t *hop = NULL;
		if (snap_node(r, hops[i].node_guid, &node) == E_OK) {
			hop = json_pack("{s:o, s:o, s:o, s:i, s:i, s:i}", "guid",
			                guid_json(node.guid), "name",
			                text_json(node.name), "description",
			                text_json(node.description), "lid",
			                (int)hops[i].lid, "in_port", hops[i].in_port,
			                "out_port", hops[i].out_port);
		}
		if (hop == NULL || json_array_append_new(list, hop) != 0) {
			json_decref(list);
			return E_MALFORMED;
		}
	}
	*ret_json = list;
	return E_OK;
}
