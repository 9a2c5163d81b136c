/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sim/congestion.h"

#include <inttypes.h>
#include <string.h>

#include "sa/sm/congestion/congestion_image.h"
#include "sa/sm/sweep/sweep_int.h"
#include "tests/sim/simulate.h"

enum { WAIT_MS = 5000, WAIT_MOST_MS = 600000, ALONE = 3, CARE_MASK = 0xFF };

void congestion_options_draw(struct run *r, uint64_t *state)
{
	struct congestion_options *o = &r->config.congestion;

	o->on = true;
	o->key = run_draw(state, 1000);
	o->max_outstanding = 1 + run_draw(state, 500);
	o->switch_map = run_draw(state, 32);
	o->threshold = run_draw(state, 16);
	o->marking_rate = run_draw(state, 1000);
	o->ca_map = run_draw(state, 0x10000);
	o->timer.of[run_draw(state, CONGESTION_SLS)] = (uint16_t)run_draw(state, 0x10000);
	o->table.n = run_draw(state, CONGESTION_TABLE_MOST + 1);
	for (uint32_t i = 0; i < o->table.n; i++) {
		o->table.entry[i] = (uint16_t)run_draw(state, 0x10000);
	}
}

void congestion_agents_draw(struct run *r, uint64_t *state)
{
	for (uint32_t i = 0; i < r->g->n_nodes; i++) {
		if (run_draw(state, 4) == 0) {
			sim_congestion_set(r->sim, r->g->nodes[i].guid, false);
		}
	}
}

/* Holds a port this block? */
static bool holds(const struct run *r, uint64_t node, uint8_t port, uint16_t attr, uint32_t block,
                  const uint8_t *image, size_t bytes)
{
	const uint8_t *held = sim_congestion_held(r->sim, node, port, attr, block);

	return held != NULL && memcmp(held, image, bytes) == 0;
}

static bool check_port(struct run *r, const struct congestion *c, const struct graph *g,
                       uint32_t port)
{
	const struct port *p = &g->ports[port];
	const struct node *n = &g->nodes[p->node];
	const struct congestion_image *image = &c->image;
	uint32_t care = hash_get(&c->cares, p->guid);
	bool good = true;

	if (care != HASH_NONE && (care & CARE_MASK) >= ALONE) {
		return true;
	}
	if (n->type == NODE_SWITCH && p->num == 0) {
		good = holds(r, n->guid, 0, CC_ATTR_SWITCH_SETTING, 0, image->on_switch,
		             sizeof(image->on_switch));
	} else if (n->type == NODE_CA && p->num != 0 && p->peer != GRAPH_NONE) {
		good = holds(r, n->guid, p->num, CC_ATTR_CA_SETTING, 0, image->on_ca,
		             sizeof(image->on_ca));
		for (uint32_t i = 0; i < image->n_blocks; i++) {
			good &= holds(r, n->guid, p->num, CC_ATTR_TABLE, i, image->table[i],
			              sizeof(image->table[i]));
		}
	}
	return good || run_fail(r, "0x%016" PRIx64 "/%u does not hold its congestion control",
	                        n->guid, p->num);
}

bool congestion_check(struct run *r)
{
	uint64_t end = managers_now(r) + WAIT_MOST_MS;
	const struct congestion *c = &r->judge->sweep->congestion;
	const struct job *j = r->judge->sweep->sm.job;

	if (!r->config.congestion.on || smp_is_omni_path(r->judge->sweep->sm.smp)) {
		return sim_congestion_requests(r->sim) == 0 ||
		       run_fail(r, "congestion control of InfiniBand is sent although it is off");
	}
	while (c->passing || c->counters.waiting != 0) {
		if (managers_now(r) > end) {
			return run_fail(r, "congestion control of %u ports is not set",
			                c->counters.waiting);
		}
		if (!run_until(r, managers_now(r) + WAIT_MS)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < j->disc.g->n_ports; i++) {
		if (j->program.lids->of[i].base != 0 && !check_port(r, c, j->disc.g, i)) {
			return false;
		}
	}
	return true;
}
