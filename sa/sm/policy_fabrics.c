/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Virtual fabrics on a fabric: a rule and a level each. Members are the ports of its device
 * groups; without Security limited members are full ones. Its service IDs are those of its
 * applications and of what these include.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/virtual_fabric.h"
#include "routing/graph/device_set.h"
#include "sa/sm/policy_build.h"

enum { SOURCE, DESTINATION, FULL, RATE_CODES = 64, SLOWEST = 2 };

/* The fastest rate that is no faster than so many Gb/s. */
static uint8_t rate_of(uint32_t gbps)
{
	uint8_t best = SLOWEST;

	for (uint8_t code = 1; gbps != 0 && code < RATE_CODES; code++) {
		uint32_t speed = rate_speed(code); /* 0.1 Gb/s */
		if (speed <= 10 * gbps && speed > rate_speed(best)) {
			best = code;
		}
	}
	return gbps != 0 ? best : 0;
}

/* --- members ---------------------------------------------------------------------- */

static void add_group(struct policy_build *b, uint32_t rule, uint32_t group, bool full)
{
	const struct graph *g = b->in->g;
	struct device_set set;
	int err = device_set_group(g, b->in->fabrics->groups, group, b->arena, &set);

	if (err != E_OK) {
		b->ret = err;
		return;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];
		if (device_set_has(&set, port)) {
			build_member(b, port, SOURCE, rule);
			build_member(b, port, DESTINATION, rule);
		}
		if (full && device_set_has(&set, port)) {
			build_member(b, port, FULL, rule);
		}
	}
}

static void add_everybody(struct policy_build *b, uint32_t rule)
{
	const struct graph *g = b->in->g;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		for (unsigned set = SOURCE; set <= FULL; set++) {
			build_member(b, g->end_ports[i], set, rule);
		}
	}
}

static void add_members(struct policy_build *b, uint32_t rule,
                        const struct virtual_fabric *vf)
{
	if (!b->in->enforce) {
		add_everybody(b, rule);
		return;
	}
	for (uint32_t i = 0; b->ret == E_OK && i < vf->n_members; i++) {
		add_group(b, rule, vf->members[i], true);
	}
	for (uint32_t i = 0; b->ret == E_OK && i < vf->n_limited; i++) {
		add_group(b, rule, vf->limited[i], !vf->security);
	}
}

/* --- applications ----------------------------------------------------------------- */

/* One fabric's while its applications are gone through. */
struct taking {
	struct policy_build *b;
	struct policy_fabric *fabric;
	struct policy_rule *rule;
	bool *seen; /* [applications] */
};

static void add_id(struct policy_build *b, struct policy_list *to,
                   const struct id_rule *from)
{
	if (b->ret == E_OK && b->head.n_ids == b->room_ids) {
		uint32_t room = b->room_ids ? 2 * b->room_ids : 64;
		struct policy_id *more = arena_array(b->arena, room, sizeof(*more));
		if (more == NULL) {
			b->ret = -ENOMEM;
			return;
		}
		if (b->room_ids) {
			memcpy(more, b->ids, b->head.n_ids * sizeof(*more));
		}
		b->ids = more;
		b->room_ids = room;
	}
	if (b->ret == E_OK) {
		to->first = to->n == 0 ? b->head.n_ids : to->first;
		to->n++;
		b->ids[b->head.n_ids++] = (struct policy_id){
			from->a.high, from->a.low, from->b.high, from->b.low,
			from->masked, 0
		};
	}
}

static void add_service(struct taking *t, const struct id_rule *from)
{
	struct policy_range r = { from->a.low, from->b.low, UINT64_MAX };

	if (from->masked) {
		r = (struct policy_range){ from->a.low, from->a.low, from->b.low };
	}
	if (t->b->in->enforce) {
		build_range(t->b, &t->rule->services, r);
	}
}

/* Services in one turn, MGIDs in another: each are neighbours in the list of IDs. */
static void take_application(struct taking *t, uint32_t index, bool mgids)
{
	const struct application *app = &t->b->in->fabrics->applications.all[index];

	if (t->seen[index]) {
		return;
	}
	t->seen[index] = true;
	for (uint32_t i = 0; mgids && i < app->n_mgids; i++) {
		add_id(t->b, &t->fabric->mgids, &app->mgids[i]);
	}
	for (uint32_t i = 0; !mgids && i < app->n_services; i++) {
		add_id(t->b, &t->fabric->services, &app->services[i]);
		add_service(t, &app->services[i]);
	}
	t->fabric->flags |= app->unmatched_service ? FABRIC_UNMATCHED_SERVICE : 0;
	t->fabric->flags |= app->unmatched_mgid ? FABRIC_UNMATCHED_MGID : 0;
	t->fabric->flags |= app->sa ? FABRIC_SA : 0;
	t->fabric->flags |= app->pm ? FABRIC_PM : 0;
	for (uint32_t i = 0; i < app->n_includes; i++) {
		take_application(t, app->includes[i], mgids);
	}
}

static void add_applications(struct policy_build *b, uint32_t rule,
                             const struct virtual_fabric *vf)
{
	uint32_t n = b->in->fabrics->applications.n;
	struct taking t = { .b = b,
		            .fabric = &b->fabrics[rule],
		            .rule = &b->rules[rule] };

	for (unsigned turn = 0; turn < 2 && b->ret == E_OK; turn++) {
		t.seen = arena_array(b->arena, n, sizeof(*t.seen));
		if (t.seen == NULL) {
			b->ret = -ENOMEM;
			return;
		}
		for (uint32_t i = 0; i < vf->n_applications; i++) {
			take_application(&t, vf->applications[i], turn == 1);
		}
	}
	t.rule->unmatched =
		!b->in->enforce || (t.fabric->flags & FABRIC_UNMATCHED_SERVICE) != 0;
}

/* --- one after the other ---------------------------------------------------------- */

static void fill_fabric(const struct virtual_fabric *vf, struct policy_fabric *to)
{
	const struct vf_qos *q = &vf->service;
	size_t len = strnlen(vf->name, sizeof(to->name));

	*to = (struct policy_fabric){
		.p_key = (uint16_t)vf->pkey,
		.sl = vf->sl,
		.multicast_sl = vf->multicast_sl,
		.mtu = (uint8_t)vf->max_mtu,
		.rate = rate_of(vf->max_rate),
		.life_time_mult = vf->qos ? (uint8_t)q->life_time_mult : 0,
		.flags = (uint8_t)((vf->security ? FABRIC_SECURITY : 0) |
		                   (vf->qos ? FABRIC_QOS : 0)),
		.hoq_life = 0xff,
	};
	memcpy(to->name, vf->name, len);
	if (vf->qos) {
		to->flags |= (uint8_t)((q->flow_control_disable
		                                ? FABRIC_FLOW_CONTROL_DISABLE
		                                : 0) |
		                       (q->high_priority ? FABRIC_HIGH_PRIORITY : 0));
		to->bandwidth = (uint8_t)q->bandwidth;
		to->preempt_rank = (uint8_t)q->preempt_rank;
		to->hoq_life = q->hoq_life < 0 ? 0xff : (uint8_t)q->hoq_life;
	}
}

static void tell_fabric(const struct policy_build *b, const struct virtual_fabric *vf,
                        const struct policy_level *l)
{
	const struct lanes *lanes = b->in->lanes;

	if (l->qos == POLICY_NO_QOS) {
		diag_add(b->in->d, DIAG_WARNING, NULL, 0,
		         "virtual fabric %s has no paths: ports drop SL %u", vf->name,
		         l->sl);
	} else if (vf->sl != 0 && lanes->rule == NULL && (lanes->n > 1 || !b->in->qos)) {
		diag_add(b->in->d, DIAG_WARNING, NULL, 0,
		         "SL %u of virtual fabric %s has no effect: %s", vf->sl, vf->name,
		         b->in->qos ? "the routing takes SLs for its lanes"
		                    : "qos is FALSE");
	}
}

static void add_fabric(struct policy_build *b, uint32_t i, const struct virtual_fabric *vf)
{
	struct policy_fabric *f = &b->fabrics[i];
	struct policy_level *l = &b->levels[i];

	fill_fabric(vf, f);
	*l = (struct policy_level){
		.p_key = f->p_key,
		.sl = b->in->qos ? f->sl : 0,
		.mtu = f->mtu,
		.rate = f->rate,
		.life_time = POLICY_ANY,
		.life_time_mult = f->life_time_mult,
	};
	l->qos = build_qos_of(b->in, l->sl);
	b->rules[i].level = i;
	add_members(b, i, vf);
	add_applications(b, i, vf);
	tell_fabric(b, vf, l);
}

static int by_line(const void *a, const void *b)
{
	unsigned x = (*(const struct virtual_fabric *const *)a)->line;
	unsigned y = (*(const struct virtual_fabric *const *)b)->line;

	return x < y ? -1 : x > y;
}

void build_fabrics(struct policy_build *b)
{
	const struct virtual_fabrics *from = b->in->fabrics;
	const struct virtual_fabric **list =
		arena_array(b->arena, from->n, sizeof(*list));
	uint32_t n = 0;

	b->head.kind = POLICY_EACH;
	b->head.default_level = UINT32_MAX;
	b->head.n_fabrics = virtual_fabrics_active(from);
	b->fabrics = arena_array(b->arena, b->head.n_fabrics, sizeof(*b->fabrics));
	if (list == NULL || b->fabrics == NULL) {
		b->ret = -ENOMEM;
	}
	if (b->ret != E_OK || !build_rules(b, b->head.n_fabrics, b->head.n_fabrics)) {
		return;
	}
	for (uint32_t i = 0; i < from->n; i++) {
		if (virtual_fabric_is_active(&from->all[i])) {
			list[n++] = &from->all[i];
		}
	}
	qsort(list, n, sizeof(*list), by_line);
	for (uint32_t i = 0; b->ret == E_OK && i < n; i++) {
		add_fabric(b, i, list[i]);
	}
}
