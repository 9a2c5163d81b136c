/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The proof where an SL-to-VL rule says which VL a packet has on each link.
 *
 * All packets to one LID leave a switch by the same port. So the VLs that a packet gets
 * from there on follow from its SL and the class of the port by which it arrived. These
 * are 64 states per switch, and each is followed once. QoS levels that differ only by the
 * numbers of their VLs, and share no VL, are checked as one.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/proof/proof_int.h"

_Static_assert(VL_CLASSES *VL_SLS <= 64, "states of a switch in 64 bits");

enum { NO_VL = 0xff };

/* Does a level differ from level 0 only by the numbers of its VLs, and shares none with it? */
static bool is_renamed(const struct vl_rule *r, unsigned level)
{
	uint8_t to[VLS_MAX], from[VLS_MAX];
	unsigned n = (unsigned)(VL_CLASSES * VL_CLASSES) << r->level_shift;

	for (unsigned vl = 0; vl < VLS_MAX; vl++) {
		to[vl] = from[vl] = NO_VL;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned lane = i & ((1U << r->level_shift) - 1), k = i >> r->level_shift;
		const uint8_t *vl = r->vl[k / VL_CLASSES][k % VL_CLASSES];
		uint8_t low = vl[vl_rule_sl(r, lane, 0)] % VLS_MAX;
		uint8_t high = vl[vl_rule_sl(r, lane, level)] % VLS_MAX;

		if (k % VL_CLASSES == 0) {
			continue; /* no link between switches */
		}
		if ((to[low] != NO_VL && to[low] != high) ||
		    (from[high] != NO_VL && from[high] != low)) {
			return false;
		}
		to[low] = high;
		from[high] = low;
	}
	for (unsigned vl = 0; vl < VLS_MAX; vl++) {
		if (to[vl] != NO_VL && from[vl] != NO_VL) {
			return false; /* shared */
		}
	}
	return true;
}

int proof_rule_init(struct prover *pv, struct arena *tmp)
{
	const struct graph *g = pv->map.g;

	pv->class_out = arena_array(tmp, g->n_adj + 1, sizeof(*pv->class_out));
	pv->class_in = arena_array(tmp, g->n_adj + 1, sizeof(*pv->class_in));
	if (!pv->class_out || !pv->class_in) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			const struct sw_link *l = &g->adj[i];

			pv->class_out[i] = (uint8_t)vl_class(pv->rule, s, l->port);
			pv->class_in[i] = (uint8_t)vl_class(pv->rule, l->to, l->to_port);
		}
	}
	pv->levels = 1;
	for (unsigned level = 1; level < pv->rule->levels; level++) {
		if (!is_renamed(pv->rule, level)) {
			pv->levels = pv->rule->levels;
		}
	}
	return E_OK;
}

unsigned proof_rule_shift(const struct prover *pv)
{
	unsigned top = 0, shift = 0;

	for (unsigned in = 0; in < VL_CLASSES; in++) {
		for (unsigned out = 0; out < VL_CLASSES; out++) {
			for (unsigned sl = 0; sl < VL_SLS; sl++) {
				unsigned vl = pv->rule->vl[in][out][sl] % VLS_MAX;

				top = vl > top ? vl : top;
			}
		}
	}
	while (top >> shift) {
		shift++;
	}
	return shift;
}

unsigned proof_rule_vls(const struct prover *pv, unsigned vls)
{
	const struct vl_rule *r = pv->rule;
	unsigned all = vls;

	for (unsigned i = 0; i < VL_CLASSES * VL_CLASSES * VL_SLS; i++) {
		unsigned sl = i % VL_SLS, in = i / VL_SLS / VL_CLASSES;
		const uint8_t *vl = r->vl[in][i / VL_SLS % VL_CLASSES];

		if (i / VL_SLS % VL_CLASSES && sl >> r->level_shift == 0 &&
		    vls >> vl[sl] & 1) {
			for (unsigned level = pv->levels; level < r->levels; level++) {
				all |= 1U << vl[vl_rule_sl(r, sl, level)];
			}
		}
	}
	return all;
}

/* Follows a route on one SL up to a state that was followed before. Returns its VLs. */
static unsigned follow(const struct prover *pv, const struct column *c, uint32_t s,
                       unsigned sl, const struct deps *deps, uint64_t *followed,
                       uint16_t *passed)
{
	unsigned in = 0, shift = deps->shift, vls = 0;
	uint32_t from = GRAPH_NONE;

	for (; passed[s] = 1, s != c->home; s = c->next[s]) {
		uint32_t channel = c->channel[s];
		uint64_t state = UINT64_C(1) << (in * VL_SLS + sl);
		unsigned vl = pv->rule->vl[in][pv->class_out[channel]][sl] % VLS_MAX;

		if (from != GRAPH_NONE) {
			deps_add(deps, from, (unsigned)c->port[s] << shift | vl);
		}
		if (followed[s] & state) {
			break;
		}
		followed[s] |= state;
		vls |= 1U << vl;
		from = channel << shift | vl;
		in = pv->class_in[channel];
	}
	return vls;
}

void proof_rule_follow(const struct prover *pv, struct workspace *b, uint32_t s)
{
	const struct column *c = b->col;
	bool decides = proof_decides(pv, c, s);
	uint16_t *passed = decides ? b->passed : b->managed;

	if (c->state[s] != COLUMN_ARRIVES) {
		/* a route that does not arrive makes no dependencies */
		for (; s != GRAPH_NONE && !passed[s]; s = c->next[s]) {
			passed[s] = 1;
		}
		return;
	}
	for (unsigned level = 0; level < pv->levels; level++) {
		unsigned sl = vl_rule_sl(pv->rule, proof_lane(pv, s, c->lid), level);
		unsigned vls = follow(pv, c, s, sl, decides ? pv->base : pv->management,
		                      b->state[decides], passed);

		proof_note_vls(pv, b, s, vls);
	}
}

bool proof_rule_takes(const struct prover *pv, const struct column *c, uint32_t s,
                      uint32_t via, const struct step *step)
{
	const struct vl_rule *r = pv->rule;
	unsigned lane = proof_lane(pv, s, c->lid), in = 0;
	unsigned out = pv->class_out[step->channel];
	unsigned next_in = pv->class_in[step->channel];
	unsigned next_out = pv->class_out[step->next];

	for (; s != via; s = c->next[s]) {
		if (s == c->home) {
			return false;
		}
		in = pv->class_in[c->channel[s]];
	}
	for (unsigned level = 0; level < pv->levels; level++) {
		unsigned sl = vl_rule_sl(r, lane, level);

		if (r->vl[in][out][sl] % VLS_MAX == step->vl &&
		    r->vl[next_in][next_out][sl] % VLS_MAX == step->next_vl) {
			return true;
		}
	}
	return false;
}
