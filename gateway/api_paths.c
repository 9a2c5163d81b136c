/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/err.h"
#include "gateway/api.h"
#include "gateway/path_ask.h"

int api_paths(struct api_call *c)
{
	struct path_ask ask = {
		.src = api_param(c, "src"),
		.dst = api_param(c, "dst"),
		.mode = api_param(c, "mode"),
		.numb_path = api_param(c, "numb_path"),
		.hops = api_param(c, "hops"),
		.mtu = api_param(c, "mtu"),
		.mtu_selector = api_param(c, "mtu_selector"),
		.rate = api_param(c, "rate"),
		.rate_selector = api_param(c, "rate_selector"),
		.packet_life_time = api_param(c, "packet_life_time"),
		.packet_life_time_selector = api_param(c, "packet_life_time_selector"),
		.sl = api_param(c, "sl"),
		.p_key = api_param(c, "p_key"),
	};
	struct path_answer answer;
	json_t *body;

	int err = path_ask_run(c->snap, &ask, &c->thread->parts, c->arena, &answer,
	                       &c->problem);
	if (err == E_OK) {
		err = path_answer_json(c->snap, &answer, c->stale, c->arena, &body,
		                       &c->problem);
	}
	if (err == E_OK) {
		body_json(&c->body, body);
	}
	return err;
}
