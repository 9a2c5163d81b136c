/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/err.h"
#include "db/reader.h"
#include "gateway/http/api.h"
#include "gateway/view/path_json.h"

static int body_of(struct api_call *c, json_t *o)
{
	if (c->stale) {
		json_object_set_new(o, "stale", json_true());
	}
	body_json(&c->body, o);
	return E_OK;
}

int api_fabric(struct api_call *c)
{
	return body_of(c, fabric_json(snap_meta(c->snap)));
}

int api_routing(struct api_call *c)
{
	json_t *o, *rule;
	int err = vl_rule_json(c->snap, &rule);

	if (err != E_OK) {
		return err;
	}
	o = routing_json(snap_meta(c->snap));
	json_object_set_new(o, "sl_to_vl", rule);
	return body_of(c, o);
}
