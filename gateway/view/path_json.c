/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/path_json.h"

#include <errno.h>

#include "conf/base/err.h"
#include "gateway/view/json_text.h"

json_t *path_record_json(const struct path_record *rec)
{
	/* Order of the members: PathRecord's components (IBA vol. 1, 15.2.5.16). */
	/* clang-format off */
	return json_pack("{s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, "
	                 "s:i, s:i, s:i, s:i, s:i, s:o, s:i, s:i, s:i, s:i}",
		"service_id", guid_json(rec->service_id),
		"dgid", gid_json(rec->dgid_prefix, rec->dgid_guid),
		"sgid", gid_json(rec->sgid_prefix, rec->sgid_guid),
		"dlid", (int)rec->dlid,
		"slid", (int)rec->slid,
		"raw_traffic", rec->raw_traffic,
		"flow_label", (int)rec->flow_label,
		"hop_limit", rec->hop_limit,
		"t_class", rec->t_class,
		"reversible", rec->reversible,
		"numb_path", rec->numb_path,
		"p_key", rec->p_key,
		"qos_class", rec->qos_class,
		"sl", rec->sl,
		"mtu_selector", rec->mtu_selector,
		"mtu", rec->mtu,
		"mtu_bytes", mtu_bytes(rec->mtu),
		"rate_selector", rec->rate_selector,
		"rate", rec->rate,
		"rate_gbps", rate_gbps_json(rec->rate),
		"packet_life_time_selector", rec->packet_life_time_selector,
		"packet_life_time", rec->packet_life_time,
		"preference", rec->preference,
		"hop_count", rec->hops);
	/* clang-format on */
}

int path_hops_json(struct snap_reader *r, const struct path_hop *hops, unsigned n,
                   json_t **ret)
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
	*ret = list;
	return E_OK;
}
