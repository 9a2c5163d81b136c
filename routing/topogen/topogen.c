/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Topology generators: the table of kinds, and what happens around them. GUIDs are a
 * function of a switch's or host's number alone; removing links or hosts elsewhere never
 * renames anything. Sizes are checked before anything is added.
 */
#include "routing/topogen/topogen.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/topogen/topogen_change.h"
#include "routing/topogen/topogen_maker.h"

/* clang-format off */
const struct topogen_kind topogen_kinds[] = {
	{ "ft2", "LEAVES HOSTS SPINES [CABLES]",
	  "two-level fat tree: HOSTS per leaf, CABLES (1) from each leaf to each spine; oversubscribed when HOSTS exceed SPINES * CABLES", make_ft2 },
	{ "ft3", "K",
	  "three-level fat tree of K-port switches with K*K*K/4 hosts", make_ft3 },
	{ "tree3", "PODS EDGES HOSTS AGGS CORES",
	  "three-level tree: pods of EDGES edge and AGGS aggregation switches, HOSTS per edge switch, CORES uplinks per aggregation switch; oversubscribed when HOSTS exceed AGGS or EDGES exceed CORES", make_tree3 },
	{ "director", "EDGES HOSTS CHASSIS LEAVES SPINES [CABLES] [INNER]",
	  "edge switches with HOSTS each and CABLES (1) to each of CHASSIS directors, each of LEAVES leaf and SPINES spine ASICs under one SystemImageGUID; INNER (0) hosts on each leaf ASIC", make_director },
	{ "mesh", "AxBxC HOSTS",
	  "grid of 1 to 4 dimensions with HOSTS per switch", make_mesh },
	{ "torus", "AxBxC HOSTS",
	  "as mesh, every line closed to a ring", make_torus },
	{ "hypercube", "N HOSTS",
	  "2^N switches, a cable between any two whose numbers differ in one bit, HOSTS per switch", make_hypercube },
	{ "dragonfly", "P A H [G]",
	  "G (A * H + 1) groups of A switches, each with P hosts and H global cables", make_dragonfly },
	{ "jellyfish", "N R HOSTS",
	  "N switches with R cables each to others drawn at random, HOSTS per switch", make_jellyfish },
	{ NULL, NULL, NULL, NULL },
};
/* clang-format on */

static const struct topogen_kind *find_kind(const char *name, struct diags *d)
{
	char known[128] = "";
	size_t len = 0;

	for (const struct topogen_kind *k = topogen_kinds; k->name; k++) {
		if (!strcmp(k->name, name)) {
			return k;
		}
		if (len < sizeof(known)) {
			len += (size_t)snprintf(known + len, sizeof(known) - len, " %s",
			                        k->name);
		}
	}
	diag_add(d, DIAG_ERROR, NULL, 0, "no topology kind '%s', expected one of%s", name,
	         known);
	return NULL;
}

/* Words of the usage text; those in brackets may be left out. */
static int check_count(const struct topogen_kind *k, int argc, struct diags *d)
{
	int min = 0, max = 0;

	for (const char *s = k->args; *s; s += strspn(s, " ")) {
		min += *s != '[';
		max++;
		s += strcspn(s, " ");
	}
	if (argc >= min && argc <= max) {
		return E_OK;
	}
	diag_add(d, DIAG_ERROR, NULL, 0, "%s: %d arguments given, expected %s", k->name,
	         argc, k->args);
	return E_SYNTAX;
}

int topogen(const char *kind, int argc, char **argv, const struct topogen_opts *o,
            struct arena *a, struct diags *d, struct graph **ret_graph)
{
	struct maker m = { .d = d, .argc = argc, .argv = argv, .seed = o ? o->seed : 1 };

	m.kind = find_kind(kind, d);
	if (!m.kind) {
		return E_UNKNOWN;
	}
	int ret = check_count(m.kind, argc, d);
	if (ret != E_OK) {
		return ret;
	}
	m.g = graph_new(a);
	if (!m.g) {
		return -ENOMEM;
	}

	ret = m.kind->make(&m);
	if (ret == E_OK && m.g->sm_port == GRAPH_NONE) {
		m.g->sm_port = graph_port(m.g, 0, 0); /* no hosts: the first switch */
	}
	if (ret == E_OK && o) {
		ret = topogen_fail_cables(m.g, o, d);
	}
	if (ret == E_OK && o && (o->spine_hosts || o->aggregation_nodes)) {
		ret = topogen_add_extras(&m, o);
	}
	if (ret == E_OK) {
		ret = graph_freeze(m.g, d);
	}
	if (ret == E_OK) {
		*ret_graph = m.g;
	}
	return ret;
}
