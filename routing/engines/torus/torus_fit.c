/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The cables and gaps of a torus, and whether its gaps can be routed around.
 *
 * A ring with one gap is a line, and the long way along it reaches everything. A ring with
 * two gaps is in pieces. Adjacent missing switches make one gap. Switches may be missing only
 * in one ring along z: a packet that would turn at one of them continues in the next
 * dimension one hop early, and with others missing elsewhere such turns could form a cycle
 * of dependencies.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/torus/torus.h"
#include "routing/graph/node_text.h"

enum { NAMED_MAX = 4, Z = 2 };

static const char dim_name[] = "xyz";

/* A list of missing parts in the notes, limited in length. */
struct list {
	const struct torus *t;
	struct arena *a;
	struct why *notes;
	uint32_t n, max;
};

static struct list list_new(const struct torus *t, struct arena *a, struct why *notes)
{
	uint32_t max = t->conf->max_changes;

	return (struct list){ t, a, notes, 0, max < NAMED_MAX ? max : NAMED_MAX };
}

static void note_more(const struct list *l, const char *what)
{
	if (l->max && l->n > l->max) {
		why_add(l->notes, "torus-2QoS: and %" PRIu32 " more %s", l->n - l->max,
		        what);
	}
}

/* ---- groups ---- */

/* The open dimension of which two switches are the ends, TORUS_DIMS: none. */
static unsigned dim_between_ends(const struct torus *t, uint32_t from, uint32_t to)
{
	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		uint32_t last = t->radix[d] - 1, at = torus_coordinate(t, from, d);

		if (!t->closed[d] && last > 1 && (at == 0 || at == last) &&
		    torus_moved(t, from, d, last - at) == to) {
			return d;
		}
	}
	return TORUS_DIMS;
}

static void group_cables(struct torus *t, uint32_t s, struct list *strays,
                         uint32_t *n_closing)
{
	const struct dims *d = &t->dims;

	for (uint32_t i = d->first[s]; i < d->first[s + 1]; i++) {
		uint32_t to = d->dim[i].to;
		unsigned dir = 0;

		while (dir < TORUS_DIRS &&
		       torus_next(t, t->cell[s], dir) != t->cell[to]) {
			dir++;
		}
		if (dir < TORUS_DIRS) {
			t->group[s * TORUS_DIRS + dir] =
				(struct torus_group){ .port = &d->port[d->dim[i].ports],
				                      .n = d->dim[i].n };
			continue;
		}
		dir = dim_between_ends(t, t->cell[s], t->cell[to]);
		if (dir < TORUS_DIMS) {
			n_closing[dir] += s < to ? d->dim[i].n : 0;
		} else if (s < to && strays->n++ < strays->max) {
			why_add(strays->notes,
			        "torus-2QoS: no route takes the cables from %s to %s, which are no neighbours on the torus",
			        switch_text(t->g, NULL, s).text,
			        switch_text(t->g, NULL, to).text);
		}
	}
}

static int group_all(struct torus *t, struct arena *a, struct why *notes)
{
	struct list strays = list_new(t, a, notes);
	uint32_t n_closing[TORUS_DIMS] = { 0 };

	t->group =
		arena_array(a, (size_t)t->g->n_switches * TORUS_DIRS, sizeof(*t->group));
	if (!t->group) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < t->g->n_switches; s++) {
		if (t->cell[s] != GRAPH_NONE) {
			group_cables(t, s, &strays, n_closing);
		}
	}
	note_more(&strays, "such pairs");
	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		if (n_closing[d]) {
			why_add(notes,
			        "torus-2QoS: no route takes the %" PRIu32
			        " cables that join the ends of %c, which is open by %s",
			        n_closing[d], dim_name[d], t->conf->path);
		}
	}
	return E_OK;
}

/* Checks portgroup_max_ports if it is set. */
static int check_groups(const struct torus *t, struct why *notes)
{
	const struct graph *g = t->g;
	uint32_t max = t->conf->max_ports;

	for (uint32_t s = 0; max && s < g->n_switches; s++) {
		uint32_t n = g->host_first[s + 1] - g->host_first[s] + 1;

		for (unsigned dir = 0; dir < TORUS_DIRS; dir++) {
			uint32_t cables = t->group[s * TORUS_DIRS + dir].n;

			n = cables > n ? cables : n;
		}
		if (n > max) {
			why_add(notes,
			        "torus-2QoS: switch %s has %" PRIu32
			        " ports in a group, portgroup_max_ports of %s allows %" PRIu32,
			        switch_text(t->g, NULL, s).text, n, t->conf->path, max);
			return E_UNSUITABLE;
		}
	}
	return E_OK;
}

/* ---- gaps ---- */

/* Counts the gaps of the ring through a cell and says where the last one begins. An
 * open dimension always has one at its end, which missing switches there extend. */
static unsigned count_gaps(const struct torus *t, unsigned d, uint32_t cell,
                           uint16_t *ret_at)
{
	unsigned n = 0;

	*ret_at = TORUS_NO_GAP;
	for (uint32_t i = 0; i < t->radix[d]; i++) {
		uint32_t s = t->sw[torus_moved(t, cell, d, i)];

		if (s != GRAPH_NONE && !t->group[s * TORUS_DIRS + 2 * d].n) {
			*ret_at = (uint16_t)i;
			n++;
		}
	}
	return n;
}

/* Lists cables missing between two existing switches. */
static void note_missing_cables(struct list *l)
{
	const struct torus *t = l->t;

	for (uint32_t cell = 0; cell < t->n_cells; cell++) {
		for (unsigned dir = 0; dir < TORUS_DIRS; dir += 2) {
			uint32_t s = t->sw[cell], next = torus_next(t, cell, dir);

			if (s != GRAPH_NONE && next != GRAPH_NONE && next != cell &&
			    t->sw[next] != GRAPH_NONE &&
			    !t->group[s * TORUS_DIRS + dir].n) {
				if (l->n++ < l->max) {
					why_add(l->notes,
					        "torus-2QoS: no cable from %s at %s to %s at %s",
					        switch_text(l->t->g, NULL, s).text,
					        torus_place_text(l->t, l->t->cell[s],
					                         l->a),
					        switch_text(l->t->g, NULL, t->sw[next])
					                .text,
					        torus_place_text(l->t,
					                         l->t->cell[t->sw[next]],
					                         l->a));
				}
			}
		}
	}
	note_more(l, "missing cables");
}

static int find_gaps(struct torus *t, struct arena *a, struct why *notes)
{
	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		t->gap[d] = arena_array(a, t->n_cells, sizeof(*t->gap[d]));
		if (!t->gap[d]) {
			return -ENOMEM;
		}
		for (uint32_t cell = 0; cell < t->n_cells; cell++) {
			uint16_t at;

			if (torus_coordinate(t, cell, d) != 0) {
				t->gap[d][cell] = t->gap[d][torus_moved(t, cell, d, 0)];
			} else if (t->radix[d] == 1) {
				t->gap[d][cell] = TORUS_NO_GAP;
			} else if (count_gaps(t, d, cell, &at) <= 1) {
				t->gap[d][cell] = at;
			} else {
				why_add(notes,
				        "torus-2QoS: %s along %c through %s is in pieces: one gap can be routed around, not more",
				        t->closed[d] ? "the ring" : "the open line",
				        dim_name[d], torus_place_text(t, cell, a));
				return E_UNSUITABLE;
			}
		}
	}
	return E_OK;
}

/* ---- missing switches ---- */

/* At most one missing switch, or adjacent ones in one ring along z? */
static bool missing_in_one_place(const struct torus *t)
{
	uint32_t first = GRAPH_NONE, ends = 0;

	for (uint32_t cell = 0; cell < t->n_cells; cell++) {
		uint32_t next = torus_next(t, cell, 2 * Z);

		if (t->sw[cell] != GRAPH_NONE) {
			continue;
		}
		if (first == GRAPH_NONE) {
			first = cell;
		}
		if (cell / t->radix[Z] != first / t->radix[Z]) {
			return false;
		}
		ends += next == GRAPH_NONE || t->sw[next] != GRAPH_NONE;
	}
	return ends <= 1;
}

static int check_missing(struct torus *t, struct arena *a, struct why *notes)
{
	struct list l = list_new(t, a, notes);

	for (uint32_t cell = 0; cell < t->n_cells; cell++) {
		if (t->sw[cell] == GRAPH_NONE) {
			if (l.n++ < l.max) {
				why_add(l.notes, "torus-2QoS: there is no switch at %s",
				        torus_place_text(l.t, cell, l.a));
			}
		}
	}
	t->n_missing = l.n;
	note_more(&l, "missing switches");
	if (!missing_in_one_place(t)) {
		why_add(notes,
		        "torus-2QoS: switches are missing in more than one place: routes around them could wait for each other");
		return E_UNSUITABLE;
	}
	return E_OK;
}

int torus_fit(struct torus *t, struct arena *a, struct why *notes)
{
	struct list cables = list_new(t, a, notes);
	int ret = group_all(t, a, notes);

	if (ret == E_OK) {
		ret = check_groups(t, notes);
	}
	if (ret == E_OK) {
		ret = check_missing(t, a, notes);
	}
	if (ret == E_OK) {
		note_missing_cables(&cables);
		ret = find_gaps(t, a, notes);
	}
	return ret;
}
