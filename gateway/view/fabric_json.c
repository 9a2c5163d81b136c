/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/path_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "conf/base/err.h"
#include "gateway/view/json_text.h"

/* "" means none. */
static json_t *note_json(const char *text)
{
	return text_json(text != NULL && text[0] != '\0' ? text : NULL);
}

const char *fabric_sm_state(uint8_t state)
{
	static const char *const names[] = { "not-active", "discovering", "standby",
		                             "master" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

json_t *fabric_json(const struct snap_meta *m)
{
	const char *mode = m->path_selection < PATH_SELECTION_COUNT
	                           ? path_selection_names[m->path_selection]
	                           : "unknown";
	json_t *stages = json_object();
	char prefix[24];

	for (unsigned i = 0; i < m->n_stages; i++) {
		json_object_set_new(stages, m->stage[i].name,
		                    real_json(m->stage[i].seconds));
	}
	snprintf(prefix, sizeof(prefix), "0x%016" PRIx64, m->subnet_prefix);
	/* clang-format off */
	return json_pack("{s:I, s:o, s:s, s:{s:o, s:i, s:i, s:s}, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:i, s:o, s:o, s:o}",
		"epoch", (json_int_t)m->epoch,
		"computed_at", time_json(m->computed_at),
		"subnet_prefix", prefix,
		"sm", "port_guid", guid_json(m->sm_port_guid), "lid", (int)m->sm_lid,
			"priority", m->sm_priority, "state", fabric_sm_state(m->sm_state),
		"nodes", (int)m->n_nodes,
		"switches", (int)m->n_switches,
		"end_ports", (int)m->n_end_ports,
		"hosts", (int)m->n_hosts,
		"aggregation_nodes", (int)(m->n_end_ports - m->n_switches - m->n_hosts),
		"links", (int)m->n_links,
		"lids", (int)m->n_lids,
		"top_lid", (int)m->top_lid,
		"lmc", m->lmc,
		"path_selection", mode,
		"packet_life_time", m->packet_life_time,
		"engine_used", note_json(m->engine_used),
		"warning", note_json(m->warning),
		"stages_seconds", stages);
	/* clang-format on */
}

/* null: there was none. */
static json_t *transition_json(const struct snap_transition *t)
{
	if (t->epoch == 0) {
		return json_null();
	}
	/* clang-format off */
	return json_pack("{s:I, s:b, s:i, s:i, s:i, s:{s:i, s:i}, s:o, s:i, s:{s:o, s:o}}",
		"epoch", (json_int_t)t->epoch,
		"safe", t->safe,
		"lids_changed", (int)t->changed,
		"stages", (int)t->stages,
		"lids_withdrawn", (int)t->withdrawn,
		"in_any_order", "credit_loops", (int)t->credit_loops, "looping_lids", (int)t->may_loop,
		"reason", note_json(t->reason),
		"lft_blocks", (int)t->blocks,
		"seconds", "plan", real_json(t->seconds_plan), "send", real_json(t->seconds_send));
	/* clang-format on */
}

json_t *routing_json(const struct snap_meta *m)
{
	/* clang-format off */
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:i}, s:i, s:{s:i, s:o, s:i}, s:{s:o, s:o}, s:o}",
		"epoch", (json_int_t)m->epoch,
		"engine_asked", note_json(m->engine_asked),
		"engine_used", note_json(m->engine_used),
		"fallback_reason", note_json(m->fallback_reason),
		"notes", note_json(m->notes),
		"warning", note_json(m->warning),
		"pairs", (json_int_t)m->pairs,
		"unreachable_pairs", (json_int_t)m->unreachable_pairs,
		"forwarding_loops", (json_int_t)m->forwarding_loops,
		"credit_loops", (json_int_t)m->credit_loops,
		"management_pairs", "unreachable", (json_int_t)m->management_unreachable,
			"credit_loops", (json_int_t)m->management_credit_loops,
			"vls", (int)m->management_vls,
		"vls_used", m->vls_used,
		"load", "max", (int)m->load_max, "mean", real_json(m->load_mean), "p99", (int)m->load_p99,
		"seconds", "route", real_json(m->seconds_route),
			"prove", real_json(m->seconds_prove),
		"transition", transition_json(&m->transition));
	/* clang-format on */
}

/* One element per pair of classes: the VL of each SL. */
static json_t *vl_map_json(const struct snap_vl_rule *rule)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < VL_CLASSES * VL_CLASSES; i++) {
		unsigned in = i / VL_CLASSES, out = i % VL_CLASSES;
		json_t *vls = json_array();

		for (unsigned sl = 0; sl < VL_SLS; sl++) {
			json_array_append_new(vls, json_integer(rule->vl[in][out][sl]));
		}
		json_array_append_new(list, json_pack("{s:i, s:i, s:o}", "class_in", in,
		                                      "class_out", out, "vl", vls));
	}
	return list;
}

int vl_rule_json(struct snap_reader *r, json_t **ret_json)
{
	struct snap_vl_rule rule;
	int ret = snap_vl_rule(r, &rule);
	json_t *o = json_null();

	if (ret != E_OK && ret != E_NOTFOUND) {
		return ret;
	}
	if (ret == E_OK) {
		o = json_pack("{s:i, s:i, s:i, s:o}", "vls", rule.vls, "qos_levels",
		              rule.levels, "level_shift", rule.level_shift, "map",
		              vl_map_json(&rule));
	}
	if (o == NULL) {
		return -ENOMEM;
	}
	*ret_json = o;
	return E_OK;
}
