/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * torus-2QoS: dimension-order routing of meshes and tori of two or three dimensions.
 *
 * torus_config describes the torus; without it the cables do (torus_guess.c). Every switch
 * gets coordinates (torus_place.c), missing parts are checked (torus_fit.c), and routes
 * follow from coordinates alone (torus_fill.c).
 *
 * A ring closes a cycle of channel dependencies unless packets that cross a certain point of
 * it, the dateline, use a VL of their own. The SL of a path has one bit per dimension that
 * says whether the path crosses its dateline. The SL does not change on the way, so each
 * link uses the bit of its own dimension (the SL-to-VL rule): three bits of SL need one bit
 * of VL. The second bit of the VL is for the hop after a turn against the order of
 * dimensions, which a missing switch makes necessary. The third is the QoS level, bit 3 of
 * the SL. With 2 VLs only the first bit is used, with 4 the first two.
 *
 * Invariants: the SL of a pair follows from the coordinates of its switches, never from what
 * is missing. A ring with a gap is a line, so its dependencies form no cycle.
 *
 * Not supported: more than one gap in a ring; missing switches in several places; adaptive
 * routing.
 *
 * Sources: W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987 (datelines); the section on torus-2QoS of the MLNX_OFED
 * user manual.
 */
#include "routing/engines/torus/torus.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"

enum {
	VLS_DATELINE = 2,
	VLS_TURN = 4,
	VLS_LEVELS = 8,
	VL_TURN = 2, /* bits of a VL */
	VL_LEVEL = 4,
	SL_LEVEL_SHIFT = TORUS_DIMS
};

struct torus_options {
	const struct torus_conf *conf;
};

static unsigned vls_there(const struct route_in *in)
{
	unsigned n = in->max_lanes ? in->max_lanes : VLS_LEVELS;

	return n >= VLS_LEVELS     ? VLS_LEVELS
	       : n >= VLS_TURN     ? VLS_TURN
	       : n >= VLS_DATELINE ? VLS_DATELINE
	                           : 1;
}

static int torus_check(const struct route_in *in, struct why *why)
{
	const struct torus_options *o = in->options;

	if (o && o->conf && o->conf->absent) {
		why_add(why,
		        "torus-2QoS: torus_config %s does not exist; '(null)' leaves it to the cables",
		        o->conf->path);
		return E_UNSUITABLE;
	}
	for (unsigned i = 0; o && o->conf && i < o->conf->n_order; i++) {
		if (o->conf->order[i] > in->g->max_port) {
			why_add(why,
			        "torus-2QoS: %s: port_order %u: no switch of the fabric has more than %u ports",
			        o->conf->path, o->conf->order[i], in->g->max_port);
			return E_UNSUITABLE;
		}
	}
	return E_OK;
}

static int check_vls(const struct torus *t, const struct route_in *in, struct why *notes)
{
	bool closed = t->closed[0] || t->closed[1] || t->closed[2];

	if (closed && vls_there(in) < VLS_DATELINE) {
		why_add(notes,
		        "torus-2QoS: a torus needs 2 data VLs, the links between switches have 1");
		return E_UNSUITABLE;
	}
	return E_OK;
}

/* ---- the SL-to-VL rule ---- */

/* The VL for one hop. Port classes are dimensions from 1 on. */
static unsigned vl_of(unsigned in, unsigned out, unsigned sl, unsigned vls)
{
	unsigned level = vls >= VLS_LEVELS ? sl >> SL_LEVEL_SHIFT & 1 : 0, vl = 0;

	if (out == 0) {
		return level;
	}
	if (vls >= VLS_DATELINE) {
		vl |= sl >> (out - 1) & 1;
	}
	if (vls >= VLS_TURN && in > out) {
		vl |= VL_TURN;
	}
	return level ? vl | VL_LEVEL : vl;
}

static int make_rule(const struct torus *t, unsigned vls, struct arena *a,
                     const struct vl_rule **ret_rule)
{
	const struct graph *g = t->g;
	struct vl_rule *r = arena_alloc(a, sizeof(*r));
	uint32_t width = g->max_port + 1U;
	uint8_t *class = arena_array(a, g->n_switches, width);

	if (!r || !class) {
		return -ENOMEM;
	}
	*r = (struct vl_rule){ .vls = (uint8_t)vls,
		               .levels = vls >= VLS_LEVELS ? 2 : 1,
		               .level_shift = SL_LEVEL_SHIFT,
		               .port_class = class,
		               .width = width };
	for (unsigned i = 0; i < VL_CLASSES * VL_CLASSES * VL_SLS; i++) {
		unsigned in = i / VL_SLS / VL_CLASSES, out = i / VL_SLS % VL_CLASSES;

		r->vl[in][out][i % VL_SLS] = (uint8_t)vl_of(in, out, i % VL_SLS, vls);
	}
	for (uint32_t i = 0; i < g->n_switches * TORUS_DIRS; i++) {
		for (unsigned k = 0; k < t->group[i].n; k++) {
			class[i / TORUS_DIRS * width + t->group[i].port[k]] =
				(uint8_t)(i % TORUS_DIRS / 2 + 1);
		}
	}
	*ret_rule = r;
	return E_OK;
}

/* ---- the engine ---- */

static int find_config(struct torus *t, const struct torus_options *o, struct arena *tmp,
                       struct why *notes)
{
	int ret;

	if (o && o->conf) {
		t->conf = o->conf;
		return E_OK;
	}
	ret = torus_guess(t->g, &t->dims, tmp, notes, &t->conf);
	if (ret == E_OK) {
		why_add(notes,
		        "torus-2QoS: a %" PRIu32 " x %" PRIu32 " x %" PRIu32
		        " torus by its cables: SLs of paths stay the same through failures only with torus_config",
		        t->conf->radix[0], t->conf->radix[1], t->conf->radix[2]);
	}
	return ret;
}

static int locate_once(struct torus *t, const struct route_in *in, struct arena *tmp,
                       struct why *notes)
{
	int ret = torus_place(t, tmp, notes);

	if (ret == E_OK) {
		ret = check_vls(t, in, notes);
	}
	return ret == E_OK ? torus_fit(t, tmp, notes) : ret;
}

/* Bit set of the open dimensions that are long enough to have their ends joined. */
static unsigned open_dims(const struct torus *t)
{
	unsigned set = 0;

	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		set |= (unsigned)(!t->conf->closed[d] && t->conf->radix[d] > 2) << d;
	}
	return set;
}

/* Finds shape, coordinates and gaps of the torus. */
static int find_torus(struct torus *t, const struct route_in *in, struct arena *tmp,
                      struct why *notes)
{
	int ret = dims_init(&t->dims, t->g, NULL, tmp);

	if (ret == E_OK) {
		ret = find_config(t, in->options, tmp, notes);
	}
	if (ret == E_OK) {
		struct why as_said = *notes;
		unsigned open = open_dims(t);

		/* First place switches as the file says. If that fails, assume that
		 * cables join the ends of all or some open dimensions. If nothing
		 * helps, report the errors of the first attempt. */
		ret = locate_once(t, in, tmp, &as_said);
		for (unsigned joined = open; ret == E_UNSUITABLE && joined;
		     joined = (joined - 1) & open) {
			struct why now = *notes;

			for (unsigned d = 0; d < TORUS_DIMS; d++) {
				t->joined[d] = joined >> d & 1;
			}
			ret = locate_once(t, in, tmp, &now);
			if (ret == E_OK) {
				as_said = now;
			}
		}
		*notes = as_said;
	}
	return ret;
}

static int route(struct torus *t, const struct route_in *in, struct arena *a,
                 struct arena *tmp, struct route_out *ret_out)
{
	struct lft lft = { 0 };
	struct lanes lanes = { 0 };
	unsigned vls = vls_there(in);
	int ret = find_torus(t, in, tmp, &ret_out->notes);

	if (ret == E_OK) {
		ret = torus_fill(t, in, a, &lft, &lanes);
	}
	if (ret == E_OK) {
		ret = make_rule(t, vls, a, &lanes.rule);
	}
	if (ret != E_OK) {
		return ret;
	}
	ret_out->lft = lft;
	ret_out->lanes = lanes;
	if (t->n_missing && vls < VLS_TURN) {
		ret_out->beyond_rule = true;
		why_add(&ret_out->notes,
		        "torus-2QoS: routes around a missing switch should have 4 data VLs, the links between switches have %u",
		        vls);
	}
	return E_OK;
}

static int torus_route(const struct route_in *in, struct arena *a,
                       struct route_out *ret_out)
{
	struct arena *tmp = arena_new();
	struct torus t = { .g = in->g };
	int ret = tmp ? route(&t, in, a, tmp, ret_out) : -ENOMEM;

	arena_free(tmp);
	return ret;
}

static int torus_multicast(const struct route_in *in, const struct mcast_in *m,
                           struct arena *a, struct mcast_tree *ret_tree, struct why *why)
{
	struct arena *tmp = arena_new();
	struct torus t = { .g = in->g };
	struct why notes = { "" };
	int ret = tmp ? find_torus(&t, in, tmp, &notes) : -ENOMEM;

	if (ret == E_OK) {
		ret = torus_tree_groups(&t, m, a, ret_tree, why);
	} else if (ret == E_UNSUITABLE) {
		why_add(why, "%s", notes.text);
	}
	arena_free(tmp);
	return ret;
}

/* clang-format off */
static const struct option_row torus_rows[] = {
	{ .name = "torus_config", .type = OPT_FILE, .offset = offsetof(struct torus_options, conf),
	  .flags_long = "torus_config", .arg = "FILE", .read = torus_conf_read,
	  .help = "torus-2QoS: shape of the torus and seeds of its coordinates (torus-2QoS.conf); without it the cables show them" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_torus = {
	.name = "torus-2QoS",
	.adaptive_name = "ar_torus",
	.summary =
		"Dimension order on a mesh or torus of two or three dimensions, with two QoS levels",
	.deadlock_free_order = 30,
	.flags = ENGINE_DEADLOCK_FREE | ENGINE_NEEDS_LANES | ENGINE_IGNORES_PREV,
	.options = torus_rows,
	.opt_size = sizeof(struct torus_options),
	.check = torus_check,
	.route = torus_route,
	.multicast = torus_multicast,
};
