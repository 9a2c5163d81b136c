/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Topology generators. Every kind adds its switches first, so a switch's node index is
 * its number, then hosts and cables. GUIDs are a function of that number alone; removing
 * links or hosts elsewhere never renames anything. Sizes are checked before anything is
 * added.
 *
 * Fat trees after Leiserson, "Fat-Trees" (1985), as k-ary trees of equal switches; torus
 * and mesh are k-ary n-cubes after Dally and Towles, "Principles and Practices of
 * Interconnection Networks", chapter 5.
 */
#include "routing/topogen.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/diag.h"
#include "conf/err.h"
#include "conf/text.h"
#include "routing/graph.h"
#include "routing/topogen_fail.h"

#define SWITCH_GUID_BASE 0x0002c90300000000ull
#define HOST_GUID_BASE 0x0002c90400000000ull

enum {
	MAX_RADIX = 254,
	MAX_NODES = 1 << 20, /* of one type: GUIDs are numbered in steps of 1 << 12 */
	MAX_DIMS = 4,
	NAME_SIZE = 48
};

/* What is being made, and how far it is. */
struct maker {
	struct graph *g;
	unsigned radix;
	uint32_t n_switches; /* added so far */
	uint32_t n_hosts;    /* added so far */
	int digits;          /* of the largest host number */
};

/* ---- arguments ---- */

static int bad_arg(struct diags *d, const char *kind, const char *what, const char *got,
                   uint32_t min, uint32_t max)
{
	diag_add(d, DIAG_ERROR, NULL, 0,
	         "%s: %s is '%s', expected a number from %u to %u", kind, what, got, min,
	         max);
	return E_SYNTAX;
}

static int arg_number(struct diags *d, const char *kind, const char *what,
                      const char *text, uint32_t min, uint32_t max, uint32_t *ret)
{
	uint64_t v = 0;

	if (text_u64(text, max, &v) != E_OK || v < min) {
		return bad_arg(d, kind, what, text, min, max);
	}
	*ret = (uint32_t)v;
	return E_OK;
}

static int arg_count(struct diags *d, const char *kind, const char *usage, int argc,
                     int min, int max)
{
	if (argc >= min && argc <= max) {
		return E_OK;
	}
	diag_add(d, DIAG_ERROR, NULL, 0, "%s: %d arguments given, expected %s", kind,
	         argc, usage);
	return E_SYNTAX;
}

/* "4x4x2" -> dims, count. */
static int arg_dims(struct diags *d, const char *kind, const char *text, uint32_t *dims,
                    unsigned *ret_n)
{
	char part[16];
	unsigned n = 0;

	for (const char *s = text;; s++) {
		size_t len = strcspn(s, "x");
		if (n == MAX_DIMS || !len || len >= sizeof(part)) {
			break;
		}
		memcpy(part, s, len);
		part[len] = '\0';
		int ret =
			arg_number(d, kind, "a dimension", part, 1, MAX_NODES, &dims[n]);
		if (ret != E_OK) {
			return ret;
		}
		n++;
		s += len;
		if (!*s) {
			*ret_n = n;
			return E_OK;
		}
	}
	diag_add(d, DIAG_ERROR, NULL, 0,
	         "%s: size is '%s', expected 1 to %d numbers joined by x, like 4x4x4",
	         kind, text, MAX_DIMS);
	return E_SYNTAX;
}

/* Refuses what does not fit before anything is made. */
static int maker_init(struct maker *m, struct graph *g, struct diags *d, const char *kind,
                      uint64_t radix, uint64_t n_switches, uint64_t n_hosts)
{
	if (radix > MAX_RADIX) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "%s: switches would need %llu ports, at most %d are possible",
		         kind, (unsigned long long)radix, MAX_RADIX);
		return E_RANGE;
	}
	if (n_switches > MAX_NODES || n_hosts > MAX_NODES) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "%s: %llu switches and %llu hosts, at most %d of each are "
		         "possible",
		         kind, (unsigned long long)n_switches,
		         (unsigned long long)n_hosts, MAX_NODES);
		return E_RANGE;
	}

	*m = (struct maker){ .g = g, .radix = (unsigned)radix, .digits = 1 };
	for (uint64_t n = n_hosts; n >= 10; n /= 10) {
		m->digits++;
	}
	return E_OK;
}

/* ---- parts ---- */

static int add_switch(struct maker *m, const char *name)
{
	uint64_t guid = SWITCH_GUID_BASE + ((uint64_t)m->n_switches << 12);
	uint32_t node = 0;

	int ret = graph_add_node(m->g, NODE_SWITCH, guid, m->radix, name, name, &node);
	m->n_switches += ret == E_OK;
	return ret;
}

static int cable(struct maker *m, uint32_t port_a, uint32_t port_b)
{
	int ret = graph_connect(m->g, port_a, port_b);
	if (ret == E_OK) {
		m->g->ports[port_a].speed = m->g->ports[port_b].speed = SPEED_EDR;
	}
	return ret;
}

/* Hosts are known by id as h00000, and by description as people number them: node001. */
static int add_host(struct maker *m, uint32_t sw, unsigned port)
{
	uint64_t guid = HOST_GUID_BASE + ((uint64_t)m->n_hosts << 12);
	char id[NAME_SIZE], description[NAME_SIZE];
	uint32_t node = 0;

	snprintf(id, sizeof(id), "h%05u", m->n_hosts);
	snprintf(description, sizeof(description), "node%0*u", m->digits, m->n_hosts + 1);
	int ret = graph_add_node(m->g, NODE_CA, guid, 1, description, id, &node);
	if (ret != E_OK) {
		return ret;
	}
	if (!m->n_hosts) {
		m->g->sm_port = graph_port(m->g, node, 1);
	}
	m->n_hosts++;
	return cable(m, graph_port(m->g, node, 1), graph_port(m->g, sw, port));
}

static int add_link(struct maker *m, uint32_t a, unsigned port_a, uint32_t b,
                    unsigned port_b)
{
	return cable(m, graph_port(m->g, a, port_a), graph_port(m->g, b, port_b));
}

/* ---- two-level fat tree ---- */

static int ft2_links(struct maker *m, uint32_t leaves, uint32_t hosts, uint32_t spines,
                     uint32_t cables)
{
	int ret = E_OK;

	for (uint32_t i = 0; i < leaves * hosts && ret == E_OK; i++) {
		ret = add_host(m, i / hosts, i % hosts + 1);
	}
	for (uint32_t i = 0; i < leaves * spines * cables && ret == E_OK; i++) {
		uint32_t leaf = i / (spines * cables);
		uint32_t spine = i / cables % spines;
		uint32_t t = i % cables;
		ret = add_link(m, leaf, hosts + spine * cables + t + 1, leaves + spine,
		               leaf * cables + t + 1);
	}
	return ret;
}

static int make_ft2(struct graph *g, int argc, char **argv, struct diags *d)
{
	static const char *const what[] = { "LEAVES", "HOSTS", "SPINES", "CABLES" };
	uint32_t v[4] = { 0, 0, 0, 1 };

	int ret = arg_count(d, "ft2", "LEAVES HOSTS SPINES [CABLES]", argc, 3, 4);
	for (int i = 0; i < argc && ret == E_OK; i++) {
		ret = arg_number(d, "ft2", what[i], argv[i], 1, MAX_RADIX, &v[i]);
	}
	if (ret != E_OK) {
		return ret;
	}

	uint32_t leaves = v[0], hosts = v[1], spines = v[2], cables = v[3];
	uint32_t up = hosts + spines * cables, down = leaves * cables;
	struct maker m;
	ret = maker_init(&m, g, d, "ft2", up > down ? up : down, leaves + spines,
	                 leaves * hosts);
	for (uint32_t i = 0; i < leaves + spines && ret == E_OK; i++) {
		char name[NAME_SIZE];
		bool leaf = i < leaves;
		snprintf(name, sizeof(name), "%s-%04u", leaf ? "leaf" : "spine",
		         leaf ? i : i - leaves);
		ret = add_switch(&m, name);
	}
	return ret == E_OK ? ft2_links(&m, leaves, hosts, spines, cables) : ret;
}

/* ---- three-level fat tree of K-port switches ---- */

static int ft3_switches(struct maker *m, uint32_t k)
{
	uint32_t half = k / 2, pods = k * half;
	int ret = E_OK;

	for (uint32_t i = 0; i < 2 * pods + half * half && ret == E_OK; i++) {
		static const char *const level[] = { "edge", "agg", "core" };
		char name[NAME_SIZE];
		uint32_t l = i / pods < 2 ? i / pods : 2, rest = i - l * pods;
		snprintf(name, sizeof(name), "%s-%03u-%03u", level[l], rest / half,
		         rest % half);
		ret = add_switch(m, name);
	}
	return ret;
}

/* One pod: every edge to every aggregation switch, aggregation switch i to core group i.
 */
static int ft3_pod(struct maker *m, uint32_t k, uint32_t pod)
{
	uint32_t half = k / 2, agg = k * half, core = 2 * agg;
	int ret = E_OK;

	for (uint32_t n = 0; n < half * half && ret == E_OK; n++) {
		uint32_t i = n / half, j = n % half;
		ret = add_link(m, pod * half + i, half + j + 1, agg + pod * half + j,
		               i + 1);
		if (ret == E_OK) {
			ret = add_link(m, agg + pod * half + i, half + j + 1, core + n,
			               pod + 1);
		}
	}
	return ret;
}

static int make_ft3(struct graph *g, int argc, char **argv, struct diags *d)
{
	uint32_t k = 0;

	int ret = arg_count(d, "ft3", "K", argc, 1, 1);
	if (ret == E_OK) {
		ret = arg_number(d, "ft3", "K", argv[0], 2, MAX_RADIX, &k);
	}
	if (ret == E_OK && k % 2) {
		diag_add(d, DIAG_ERROR, NULL, 0, "ft3: K is %u, expected an even number",
		         k);
		ret = E_RANGE;
	}
	if (ret != E_OK) {
		return ret;
	}

	uint32_t half = k / 2;
	uint64_t hosts = (uint64_t)k * half * half;
	struct maker m;
	ret = maker_init(&m, g, d, "ft3", k, 5 * (uint64_t)half * half, hosts);
	if (ret == E_OK) {
		ret = ft3_switches(&m, k);
	}
	for (uint32_t i = 0; i < hosts && ret == E_OK; i++) {
		ret = add_host(&m, i / half, i % half + 1);
	}
	for (uint32_t pod = 0; pod < k && ret == E_OK; pod++) {
		ret = ft3_pod(&m, k, pod);
	}
	return ret;
}

/* ---- torus and mesh ---- */

/* Switches in row-major order: the last coordinate runs fastest. */
struct grid {
	uint32_t dims[MAX_DIMS];
	uint32_t stride[MAX_DIMS]; /* steps of switch number per step in a dimension */
	unsigned n_dims;
	bool wrap;
	uint32_t hosts; /* per switch */
};

static uint32_t coordinate(const struct grid *t, uint32_t sw, unsigned d)
{
	return sw / t->stride[d] % t->dims[d];
}

static int add_grid_switch(struct maker *m, const struct grid *t, uint32_t sw)
{
	char name[NAME_SIZE] = "t";
	size_t len = 1;

	for (unsigned d = 0; d < t->n_dims; d++) {
		len += (size_t)snprintf(name + len, sizeof(name) - len, "-%03u",
		                        coordinate(t, sw, d));
	}
	return add_switch(m, name);
}

/* The cable in direction +d, port 2d + 1 here, 2d + 2 there. A ring of two is one cable.
 */
static int add_grid_link(struct maker *m, const struct grid *t, uint32_t sw, unsigned d)
{
	uint32_t at = coordinate(t, sw, d), next = sw + t->stride[d];

	if (at + 1 == t->dims[d]) {
		if (!t->wrap || t->dims[d] <= 2) {
			return E_OK;
		}
		next = sw - at * t->stride[d];
	}
	return add_link(m, sw, 2 * d + 1, next, 2 * d + 2);
}

static int fill_grid(struct maker *m, const struct grid *t, uint32_t n)
{
	int ret = E_OK;

	for (uint32_t sw = 0; sw < n && ret == E_OK; sw++) {
		ret = add_grid_switch(m, t, sw);
	}
	for (uint32_t i = 0; i < n * t->hosts && ret == E_OK; i++) {
		ret = add_host(m, i / t->hosts, 2 * t->n_dims + i % t->hosts + 1);
	}
	for (uint32_t i = 0; i < n * t->n_dims && ret == E_OK; i++) {
		ret = add_grid_link(m, t, i % n, i / n);
	}
	return ret;
}

static int make_grid(struct graph *g, int argc, char **argv, struct diags *d,
                     const char *kind, bool wrap)
{
	struct grid t = { .wrap = wrap };

	int ret = arg_count(d, kind, "AxBxC HOSTS", argc, 2, 2);
	if (ret == E_OK) {
		ret = arg_dims(d, kind, argv[0], t.dims, &t.n_dims);
	}
	if (ret == E_OK) {
		ret = arg_number(d, kind, "HOSTS", argv[1], 0, MAX_RADIX, &t.hosts);
	}
	if (ret != E_OK) {
		return ret;
	}

	uint64_t n = 1;
	for (unsigned i = t.n_dims; i-- > 0;) {
		t.stride[i] = (uint32_t)n;
		n = n * t.dims[i] > MAX_NODES ? MAX_NODES + 1ull : n * t.dims[i];
	}
	struct maker m;
	ret = maker_init(&m, g, d, kind, 2 * t.n_dims + t.hosts, n, n * t.hosts);
	return ret == E_OK ? fill_grid(&m, &t, (uint32_t)n) : ret;
}

static int make_torus(struct graph *g, int argc, char **argv, struct diags *d)
{
	return make_grid(g, argc, argv, d, "torus", true);
}

static int make_mesh(struct graph *g, int argc, char **argv, struct diags *d)
{
	return make_grid(g, argc, argv, d, "mesh", false);
}

/* clang-format off */
const struct topogen_kind topogen_kinds[] = {
	{ "ft2", "LEAVES HOSTS SPINES [CABLES]",
	  "two-level fat tree: HOSTS per leaf, CABLES (1) from each leaf to each spine", make_ft2 },
	{ "ft3", "K",
	  "three-level fat tree of K-port switches with K*K*K/4 hosts", make_ft3 },
	{ "mesh", "AxBxC HOSTS",
	  "grid of 1 to 4 dimensions with HOSTS per switch", make_mesh },
	{ "torus", "AxBxC HOSTS",
	  "as mesh, every line closed to a ring", make_torus },
	{ NULL, NULL, NULL, NULL },
};
/* clang-format on */

/* ---- the whole ---- */

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

int topogen(const char *kind, int argc, char **argv, const struct topogen_opts *o,
            struct arena *a, struct diags *d, struct graph **ret_graph)
{
	const struct topogen_kind *k = find_kind(kind, d);
	if (!k) {
		return E_UNKNOWN;
	}
	struct graph *g = graph_new(a);
	if (!g) {
		return -ENOMEM;
	}

	int ret = k->make(g, argc, argv, d);
	if (ret == E_OK && g->sm_port == GRAPH_NONE) {
		g->sm_port = graph_port(g, 0, 0); /* no hosts: the first switch */
	}
	if (ret == E_OK && o) {
		ret = topogen_fail(g, o, d);
	}
	if (ret == E_OK) {
		ret = graph_freeze(g, d);
	}
	if (ret == E_OK) {
		*ret_graph = g;
	}
	return ret;
}
