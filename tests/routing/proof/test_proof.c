/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The proof against a slow reference that walks every pair on its own and finds cycles by
 * the transitive closure of all dependencies: same counts, and every culprit is real.
 *
 * Longer than most: the reference, with and without an SL-to-VL rule, is as long as what it
 * checks, and all cases are held against it.
 */
#include <check.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/proof.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

enum { VLS = 16 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* State of the reference. */
struct naive {
	const struct graph *g;
	const struct lids *l;
	const struct lft *lft;
	const struct lanes *lanes;
	const struct vl_rule *rule;
	unsigned levels;            /* of the rule that differ by more than numbers */
	unsigned
		vls; /* with a rule: channels per link; its VLs are all below this or none */
	uint32_t n, c;              /* switches, channels */
	bool *same;                 /* [n][n] in one part */
	bool *hole, *loop;          /* [top + 1][n] */
	bool *base[VLS], *all[VLS]; /* [c][c] goes on to, with management in all */
	uint64_t pairs, unreachable, holes, loops, management_unreachable;
	uint32_t management_lid; /* the lowest of these */
};

/* A walk along the entries. */
struct walk {
	uint32_t sw[200]; /* switches in order */
	uint8_t port[200];
	uint32_t n;
	enum { ARRIVES, HOLE, LOOP } end;
};

static void closure(bool *m, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t j = 0; m[i * n + k] && j < n; j++) {
				m[i * n + j] |= m[k * n + j];
			}
		}
	}
}

static struct walk walk(const struct naive *x, uint32_t s, uint32_t lid)
{
	struct walk w = { .n = 0 };

	for (;;) {
		uint8_t p = lft_row(x->lft, s)[lid];
		uint32_t here = graph_port(x->g, x->g->switches[s], p);
		uint32_t owner = x->l->owner[lid];

		for (uint32_t i = 0; i < w.n; i++) {
			if (w.sw[i] == s) {
				w.end = LOOP;
				return w;
			}
		}
		w.sw[w.n] = s;
		w.port[w.n++] = p;
		if (here == owner ||
		    (here != GRAPH_NONE && p && x->g->ports[here].peer == owner &&
		     x->g->ports[owner].num)) {
			w.end = ARRIVES;
			return w;
		}
		w.end = HOLE;
		if (here == GRAPH_NONE || p == 0 ||
		    x->g->ports[here].peer == GRAPH_NONE) {
			return w;
		}
		s = x->g->nodes[x->g->ports[x->g->ports[here].peer].node].sw;
		if (s == GRAPH_NONE) {
			return w;
		}
	}
}

static uint32_t channel_of(const struct graph *g, uint32_t s, uint8_t port)
{
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		if (g->adj[i].port == port) {
			return i;
		}
	}
	return GRAPH_NONE;
}

/* Channel that a walk takes out of its i-th switch on an SL. */
static uint32_t rule_channel(const struct naive *x, const struct walk *w, uint32_t i,
                             unsigned sl)
{
	const struct graph *g = x->g;
	unsigned in = 0, out = vl_class(x->rule, w->sw[i], w->port[i]);
	uint32_t c = channel_of(g, w->sw[i], w->port[i]);

	if (i) {
		uint32_t before = g->switches[w->sw[i - 1]];
		uint32_t peer = g->ports[graph_port(g, before, w->port[i - 1])].peer;

		in = vl_class(x->rule, w->sw[i], g->ports[peer].num);
	}
	return c * x->vls + x->rule->vl[in][out][sl] % x->vls;
}

static bool has_hosts(const struct graph *g, uint32_t s)
{
	return g->host_first[s] != g->host_first[s + 1];
}

static void naive_dependencies(struct naive *x, const struct walk *w, uint32_t lid,
                               bool counts)
{
	unsigned vl = x->lanes ? lane_of(x->lanes, w->sw[0], lid) : 0;

	for (uint32_t i = 0; x->rule && i + 2 < w->n; i++) {
		for (unsigned level = 0; level < x->levels; level++) {
			unsigned sl = vl | level << x->rule->level_shift;
			size_t at = (size_t)rule_channel(x, w, i, sl) * x->c +
			            rule_channel(x, w, i + 1, sl);

			x->all[0][at] = true;
			x->base[0][at] |= counts;
		}
	}
	if (x->rule) {
		return;
	}
	for (uint32_t i = 0; i + 2 < w->n; i++) {
		uint32_t a = channel_of(x->g, w->sw[i], w->port[i]);
		uint32_t b = channel_of(x->g, w->sw[i + 1], w->port[i + 1]);

		x->all[vl][a * x->c + b] = true;
		if (counts) {
			x->base[vl][a * x->c + b] = true;
		}
	}
}

static void naive_pair(struct naive *x, uint32_t s, uint32_t lid)
{
	uint32_t owner = x->l->owner[lid], home = graph_switch_of(x->g, owner);
	bool to_host = x->g->ports[owner].num != 0;
	bool counts = to_host && has_hosts(x->g, s);
	struct walk w;

	if (home == GRAPH_NONE || !x->same[s * x->n + home]) {
		return;
	}
	w = walk(x, s, lid);
	if (w.end == ARRIVES) {
		naive_dependencies(x, &w, lid, counts);
	} else if (w.end == HOLE && counts) {
		x->hole[lid * x->n + w.sw[w.n - 1]] = true;
	} else if (w.end == LOOP) {
		uint32_t lowest = GRAPH_NONE, at = 0;
		uint8_t p = w.port[w.n - 1];
		uint32_t again =
			x->g->ports[graph_port(x->g, x->g->switches[w.sw[w.n - 1]], p)]
				.peer;

		while (w.sw[at] != x->g->nodes[x->g->ports[again].node].sw) {
			at++;
		}
		for (; at < w.n; at++) {
			lowest = w.sw[at] < lowest ? w.sw[at] : lowest;
		}
		x->loop[lid * x->n + lowest] = true;
	}
	if (!counts && w.end != ARRIVES) {
		if (!x->management_unreachable || lid < x->management_lid) {
			x->management_lid = lid;
		}
		x->management_unreachable++;
	}
	for (uint32_t h = x->g->host_first[s]; to_host && h < x->g->host_first[s + 1];
	     h++) {
		x->pairs += x->g->hosts[h] != owner;
		x->unreachable += x->g->hosts[h] != owner && w.end != ARRIVES;
	}
}

static void naive_run(struct naive *x, const struct graph *g, const struct lids *l,
                      const struct lft *lft, const struct lanes *lanes, unsigned levels)
{
	size_t cells = ((size_t)l->top + 1) * g->n_switches;

	*x = (struct naive){ .g = g,
		             .l = l,
		             .lft = lft,
		             .lanes = lanes,
		             .n = g->n_switches,
		             .c = g->n_adj };
	if (lanes && lanes->rule) {
		x->rule = lanes->rule;
		x->levels = levels;
		x->vls = VLS / 2;
		x->c *= x->vls;
	}
	x->same = arena_array(arena, (size_t)x->n * x->n, 1);
	x->hole = arena_array(arena, cells, 1);
	x->loop = arena_array(arena, cells, 1);
	for (unsigned vl = 0; vl < (x->rule ? 1 : VLS); vl++) {
		x->base[vl] = arena_array(arena, (size_t)x->c * x->c, 1);
		x->all[vl] = arena_array(arena, (size_t)x->c * x->c, 1);
	}
	for (uint32_t s = 0; s < x->n; s++) {
		x->same[s * x->n + s] = true;
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			x->same[s * x->n + g->adj[i].to] = true;
		}
	}
	closure(x->same, x->n);
	for (uint32_t lid = 1; lid <= l->top; lid++) {
		for (uint32_t s = 0; l->owner[lid] != GRAPH_NONE && s < x->n; s++) {
			naive_pair(x, s, lid);
		}
	}
	for (size_t i = 0; i < cells; i++) {
		x->holes += x->hole[i];
		x->loops += x->loop[i];
	}
}

/* Components with a cycle; skip: none of their channels is on a cycle of the other
 * matrix. */
static uint64_t naive_components(const bool *deps, const bool *skip, uint32_t c)
{
	bool *m = arena_array(arena, (size_t)c * c, 1),
	     *k = arena_array(arena, (size_t)c * c, 1);
	uint64_t n = 0;

	memcpy(m, deps, (size_t)c * c);
	closure(m, c);
	if (skip) {
		memcpy(k, skip, (size_t)c * c);
		closure(k, c);
	}
	for (uint32_t i = 0; i < c; i++) {
		bool first = m[i * c + i], known = false;

		for (uint32_t j = 0; j < c; j++) {
			bool together = m[i * c + j] && m[j * c + i];

			first = first && !(together && j < i);
			known |= together && k[j * c + j];
		}
		n += first && !known;
	}
	return n;
}

/* Length of the shortest cycle through one channel, UINT32_MAX: none. */
static uint32_t naive_girth_at(const bool *deps, uint32_t c, uint32_t root)
{
	uint32_t *depth = arena_array(arena, c, sizeof(*depth));
	uint32_t *queue = arena_array(arena, c, sizeof(*queue)), head = 0, tail = 0;

	queue[tail++] = root;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (uint32_t j = 0; j < c; j++) {
			if (deps[at * c + j] && j == root) {
				return depth[at] + 1;
			}
			if (deps[at * c + j] && !depth[j]) {
				depth[j] = depth[at] + 1;
				queue[tail++] = j;
			}
		}
	}
	return UINT32_MAX;
}

/* On some level the walk has these VLs out of its k-th switch and the next. */
static bool has_vls(const struct naive *x, const struct walk *w, uint32_t k,
                    const struct proof_channel *a, const struct proof_channel *b)
{
	unsigned lane = x->lanes->rows ? lane_of(x->lanes, a->src_sw, a->lid) : 0;

	for (unsigned level = 0; level < x->levels; level++) {
		unsigned sl = lane | level << x->rule->level_shift;

		if (rule_channel(x, w, k, sl) % x->vls == a->vl % x->vls &&
		    rule_channel(x, w, k + 1, sl) % x->vls == b->vl % x->vls) {
			return true;
		}
	}
	return false;
}

static void check_cycle(const struct naive *x, const struct proof_cycle *cy)
{
	unsigned of = x->rule ? 0 : cy->vl;
	const bool *deps = cy->management ? x->all[of] : x->base[of];
	bool *m = arena_array(arena, (size_t)x->c * x->c, 1);
	uint32_t root = channel_of(x->g, cy->channels[0].sw, cy->channels[0].port);
	uint32_t best = UINT32_MAX, size = 0;

	root = x->rule ? root * x->vls + cy->channels[0].vl % x->vls : root;
	memcpy(m, deps, (size_t)x->c * x->c);
	closure(m, x->c);
	for (uint32_t j = 0; j < x->c; j++) {
		if (m[root * x->c + j] && m[j * x->c + root]) {
			uint32_t girth = naive_girth_at(deps, x->c, j);

			size++;
			best = girth < best ? girth : best;
		}
	}
	ck_assert_uint_eq(cy->n, best);
	ck_assert_uint_eq(cy->component_channels, size);
	for (uint32_t i = 0; i < cy->n; i++) {
		const struct proof_channel *a = &cy->channels[i];
		const struct proof_channel *b = &cy->channels[(i + 1) % cy->n];
		struct walk w = walk(x, a->src_sw, a->lid);
		bool found = false;

		ck_assert_int_eq(w.end, ARRIVES);
		for (uint32_t k = 0; k + 1 < w.n; k++) {
			found |= w.sw[k] == a->sw && w.port[k] == a->port &&
			         w.sw[k + 1] == b->sw && w.port[k + 1] == b->port &&
			         (!x->rule || has_vls(x, &w, k, a, b));
		}
		ck_assert(found);
		ck_assert(x->rule || cy->vl == a->vl);
		ck_assert(x->rule ||
		          a->vl == (x->lanes ? lane_of(x->lanes, a->src_sw, a->lid) : 0));
		ck_assert(cy->management || (x->g->ports[x->l->owner[a->lid]].num &&
		                             has_hosts(x->g, a->src_sw)));
	}
}

static void check_faults(const struct naive *x, const struct proof *p)
{
	for (unsigned i = 0; i < p->n_hole; i++) {
		const struct proof_fault *f = &p->hole[i];

		ck_assert(x->hole[f->lid * x->n + f->sw]);
		ck_assert_uint_eq(f->port, lft_row(x->lft, f->sw)[f->lid]);
		ck_assert_ptr_null(f->loop);
	}
	for (unsigned i = 0; i < p->n_loop; i++) {
		const struct proof_fault *f = &p->loop[i];
		uint32_t lowest = GRAPH_NONE;

		ck_assert_uint_eq(f->sw, f->loop[0]);
		ck_assert_uint_eq(f->port, lft_row(x->lft, f->sw)[f->lid]);
		for (uint32_t k = 0; k < f->n_loop; k++) {
			uint8_t port = lft_row(x->lft, f->loop[k])[f->lid];
			uint32_t c = channel_of(x->g, f->loop[k], port);

			ck_assert_uint_ne(c, GRAPH_NONE);
			ck_assert_uint_eq(x->g->adj[c].to, f->loop[(k + 1) % f->n_loop]);
			lowest = f->loop[k] < lowest ? f->loop[k] : lowest;
		}
		ck_assert(x->loop[f->lid * x->n + lowest]);
	}
}

static unsigned list_size(uint64_t n)
{
	return n < PROOF_LIST_MAX ? (unsigned)n : PROOF_LIST_MAX;
}

/* Proves with both and compares. */
static struct proof prove_levels(const struct graph *g, const struct lids *l,
                                 const struct lft *lft, const struct lanes *lanes,
                                 unsigned levels)
{
	uint64_t cycles = 0, management = 0;
	struct naive *x = arena_alloc(arena, sizeof(*x));
	struct proof p;

	ck_assert_int_eq(proof_run(g, l, lft, lanes, arena, &p), E_OK);
	naive_run(x, g, l, lft, lanes, levels);
	ck_assert_uint_eq(p.pairs, x->pairs);
	ck_assert_uint_eq(p.unreachable_pairs, x->unreachable);
	ck_assert_uint_eq(p.holes, x->holes);
	ck_assert_uint_eq(p.forwarding_loops, x->loops);
	ck_assert_uint_eq(p.management_unreachable, x->management_unreachable);
	if (x->management_unreachable) {
		ck_assert_uint_eq(p.management_hole.lid, x->management_lid);
	}
	for (unsigned vl = 0; vl < (lanes && !x->rule ? VLS : 1); vl++) {
		cycles += naive_components(x->base[vl], NULL, x->c);
		management += naive_components(x->all[vl], x->base[vl], x->c);
	}
	ck_assert_uint_eq(p.credit_loops, cycles);
	ck_assert_uint_eq(p.management_credit_loops, management);
	ck_assert_uint_eq(p.n_hole, list_size(x->holes));
	ck_assert_uint_eq(p.n_loop, list_size(x->loops));
	ck_assert_uint_eq(p.n_cycle, cycles + management);
	check_faults(x, &p);
	for (unsigned i = 0; i < p.n_cycle; i++) {
		check_cycle(x, &p.cycle[i]);
	}
	ck_assert_int_eq(proof_passed(&p, false),
	                 !(x->holes || x->unreachable || x->loops || cycles));
	ck_assert_int_eq(proof_passed(&p, true),
	                 !(x->holes || x->unreachable || x->loops || cycles ||
	                   management || x->management_unreachable));
	return p;
}

static struct proof prove(const struct graph *g, const struct lids *l,
                          const struct lft *lft, const struct lanes *lanes)
{
	return prove_levels(g, l, lft, lanes, 1);
}

static struct lft minhop(const struct graph *g, const struct lids *l)
{
	struct route_in in = { .g = g, .lids = l };
	struct route_out *out = arena_alloc(arena, sizeof(*out));

	ck_assert_int_eq(engine_find("minhop")->route(&in, arena, out), E_OK);
	return out->lft;
}

/* Lanes 0, step, 2 * step and so on. */
static struct lanes random_lanes(const struct lft *lft, unsigned n, unsigned step,
                                 uint64_t *seed)
{
	struct lanes x = { .stride = lft->stride, .n = (uint8_t)((n - 1) * step + 1) };

	x.rows = arena_array(arena, lft->n_switches, lft->stride);
	for (size_t i = 0; i < lft->n_switches * lft->stride; i++) {
		x.rows[i] = (uint8_t)(random_below(seed, n) * step);
	}
	return x;
}

/* Overwrites entries, mostly with ports that exist. */
static void damage(struct lft *lft, const struct graph *g, unsigned n, uint64_t *seed)
{
	while (n--) {
		uint32_t s = random_below(seed, g->n_switches);
		uint32_t lid = random_below(seed, lft->n_lids);
		uint32_t ports = random_below(seed, 5) ? g->max_port + 1U : 256;

		lft_row(lft, s)[lid] = (uint8_t)random_below(seed, ports);
	}
}

static const char *const fabrics[] = {
	"ft2 3 2 2",   "ft2 2 2 1 3", "ft3 4",    "torus 5 1",
	"torus 3x3 1", "mesh 3x3 2",  "mesh 5 0",
};

enum { N_FABRICS = sizeof(fabrics) / sizeof(*fabrics), ROUNDS = 24 };

START_TEST(like_the_reference)
{
	uint64_t seed = (uint64_t)_i * 7919 + 1;
	double fail = (_i / N_FABRICS) % 3 * 0.15;
	struct graph *g = fabric_make(fabrics[_i % N_FABRICS], fail, (uint32_t)_i, arena);
	struct lids l = fabric_lids(g, (uint32_t)_i % 2, 0, arena);
	struct lft lft = minhop(g, &l);
	unsigned n = 1 + random_below(&seed, 4), step = n == 2 && _i % 2 ? 8 : 1;
	struct lanes lanes = random_lanes(&lft, n, step, &seed);
	unsigned hurt = _i / N_FABRICS < 4 ? 0 : 1U << (_i / N_FABRICS % 8);

	damage(&lft, g, hurt, &seed);
	prove(g, &l, &lft, NULL);
	prove(g, &l, &lft, &lanes);
}
END_TEST

/* How the VLs of the second QoS level follow from those of the first. */
enum levels { LEVELS_INDEPENDENT, LEVELS_RENAMED, LEVELS_ROTATED };

/* Random classes of ports between switches, random VLs from \a first on. */
static struct vl_rule random_rule(const struct graph *g, unsigned levels,
                                  enum levels kind, unsigned shift, unsigned first,
                                  uint64_t *seed)
{
	enum { VLS_OF_A_LEVEL = 4 };
	struct vl_rule r = { .vls = (uint8_t)(first + (kind == LEVELS_RENAMED ? 8 : 4)),
		             .levels = (uint8_t)levels,
		             .level_shift = (uint8_t)shift,
		             .width = g->max_port + 1U };

	r.port_class = arena_array(arena, g->n_switches, r.width);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			r.port_class[s * r.width + g->adj[i].port] =
				(uint8_t)(1 + random_below(seed, VL_CLASSES - 1));
		}
	}
	for (unsigned i = 0; i < VL_CLASSES * VL_CLASSES * VL_SLS; i++) {
		unsigned in = i / VL_SLS / VL_CLASSES, out = i / VL_SLS % VL_CLASSES;
		unsigned sl = i % VL_SLS, low = sl % (1U << shift);
		uint8_t *vl = r.vl[in][out];

		vl[sl] = (uint8_t)random_below(seed, VLS_OF_A_LEVEL);
		if (sl >= 1U << shift && kind == LEVELS_RENAMED) {
			vl[sl] = (uint8_t)(VLS_OF_A_LEVEL + vl[low]);
		} else if (sl >= 1U << shift && kind == LEVELS_ROTATED) {
			vl[sl] = (uint8_t)((vl[low] + 1) % VLS_OF_A_LEVEL);
		}
	}
	for (unsigned i = 0; i < VL_CLASSES * VL_CLASSES * VL_SLS; i++) {
		r.vl[i / VL_SLS / VL_CLASSES][i / VL_SLS % VL_CLASSES][i % VL_SLS] +=
			first;
	}
	return r;
}

static const char *const rule_fabrics[] = { "ft2 3 2 2", "torus 5 1", "torus 3x3 1",
	                                    "mesh 3x2 2", "ft2 2 2 1 3" };

enum { N_RULE_FABRICS = sizeof(rule_fabrics) / sizeof(*rule_fabrics), RULE_ROUNDS = 24 };

/* Packets that change VLs on their way. */
START_TEST(rule)
{
	uint64_t seed = (uint64_t)_i * 104729 + 1;
	double fail = (_i / N_RULE_FABRICS) % 2 * 0.15;
	struct graph *g =
		fabric_make(rule_fabrics[_i % N_RULE_FABRICS], fail, (uint32_t)_i, arena);
	struct lids l = fabric_lids(g, (uint32_t)_i % 2, 0, arena);
	struct lft lft = minhop(g, &l);
	unsigned round = (unsigned)_i / N_RULE_FABRICS, levels = 1 + round % 2;
	/* with 8 SLs per level, SLs n and n + 8 are in use */
	unsigned shift = round % 3 ? 2 : 3;
	struct lanes lanes = random_lanes(&lft, 1U << shift, 1, &seed);
	bool alike = levels > 1 && round % 4 == 1;
	enum levels kind = alike           ? LEVELS_RENAMED
	                   : round % 8 < 4 ? LEVELS_ROTATED
	                                   : LEVELS_INDEPENDENT;
	struct vl_rule r = random_rule(g, levels, kind, shift, round % 5 ? 0 : 8, &seed);

	damage(&lft, g, round < 4 ? 0 : round, &seed);
	lanes.rule = &r;
	prove_levels(g, &l, &lft, &lanes, alike ? 1 : levels);
	lanes.rows = NULL;
	lanes.n = 1;
	prove_levels(g, &l, &lft, &lanes, alike ? 1 : levels);
}
END_TEST

/* Same outcome on any number of threads. */
START_TEST(threads)
{
	uint64_t seed = 99;
	struct graph *g = fabric_make("torus 4x4x3 2", 0.1, 5, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct lft lft = minhop(g, &l);
	struct proof one, two;

	damage(&lft, g, 40, &seed);
#ifdef _OPENMP
	omp_set_num_threads(1);
#endif
	ck_assert_int_eq(proof_run(g, &l, &lft, NULL, arena, &one), E_OK);
#ifdef _OPENMP
	omp_set_num_threads(3);
#endif
	ck_assert_int_eq(proof_run(g, &l, &lft, NULL, arena, &two), E_OK);
	ck_assert_uint_eq(one.holes, two.holes);
	ck_assert_uint_eq(one.forwarding_loops, two.forwarding_loops);
	ck_assert_uint_eq(one.unreachable_pairs, two.unreachable_pairs);
	ck_assert_uint_eq(one.credit_loops, two.credit_loops);
	ck_assert_str_eq(proof_text(&one, g, arena), proof_text(&two, g, arena));
	ck_assert_uint_gt(one.n_cycle, 0);
	ck_assert_uint_eq(one.cycle[0].n, two.cycle[0].n);
	ck_assert_mem_eq(one.cycle[0].channels, two.cycle[0].channels,
	                 one.cycle[0].n * sizeof(*one.cycle[0].channels));
}
END_TEST

static bool starts_with(const char *text, const char *head)
{
	return strncmp(text, head, strlen(head)) == 0;
}

/* Routes every LID the same way round a ring, towards the next higher switch. */
static void one_way_round(const struct graph *g, const struct lids *l, struct lft *lft)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			for (uint32_t lid = 1; lid <= l->top; lid++) {
				if (g->adj[i].to == (s + 1) % g->n_switches &&
				    graph_switch_of(g, l->owner[lid]) != s) {
					lft_row(lft, s)[lid] = g->adj[i].port;
				}
			}
		}
	}
}

/* One way round a ring on another VL for one hop: the loop goes over both, and says so.
 * Each level counts, whether routes go on it by default or not. */
START_TEST(loop_over_two_vls)
{
	struct graph *g = fabric_make("torus 5 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	struct lanes lanes = { .n = 1 };
	struct vl_rule r = { .vls = 4, .levels = 2, .level_shift = 3 };
	struct proof p;

	one_way_round(g, &l, &lft);
	r.width = g->max_port + 1U;
	r.port_class = arena_array(arena, g->n_switches, r.width);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint8_t *class = &r.port_class[s * r.width + g->adj[i].port];

			*class = s == 0 || g->adj[i].to == 0 ? 1 : 2;
		}
	}
	lanes.rule = &r;
	p = prove(g, &l, &lft, &lanes);
	ck_assert_uint_eq(p.credit_loops, 1);
	ck_assert_uint_eq(p.vls_used, 1);
	for (unsigned sl = 0; sl < VL_SLS; sl++) {
		for (unsigned in = 0; in < VL_CLASSES; in++) {
			for (unsigned out = 0; out < VL_CLASSES; out++) {
				r.vl[in][out][sl] =
					(uint8_t)((in == 1 && out == 2) + 2 * (sl >= 8));
			}
		}
	}
	p = prove(g, &l, &lft, &lanes);
	ck_assert_uint_eq(p.credit_loops, 1);
	ck_assert_uint_eq(p.vls_used, 4);
	ck_assert_ptr_nonnull(strstr(proof_text(&p, g, arena), " VL 1 (route"));
}
END_TEST

/* Lanes of pairs of hosts count; those that only routes to switches use are told apart. */
START_TEST(lanes_of_management)
{
	struct graph *g = fabric_make("ft2 3 2 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	struct lanes lanes = { .n = 3, .stride = lft.stride };
	struct proof p;

	lanes.rows = arena_array(arena, g->n_switches, lft.stride);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			bool to_switch = g->ports[l.owner[lid]].num == 0;
			bool no_hosts = g->host_first[s] == g->host_first[s + 1];

			lanes.rows[s * lft.stride + lid] = no_hosts ? 2 : to_switch;
		}
	}
	p = prove(g, &l, &lft, &lanes);
	ck_assert_uint_eq(p.vls_used, 1);
	ck_assert_uint_eq(p.management_vls, 1);
}
END_TEST

/* A ring routed one way round: a credit loop of all four channels (Dally & Seitz 1987,
 * figure 1). */
START_TEST(ring_one_way)
{
	struct graph *g = fabric_make("torus 4 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	struct proof p;

	one_way_round(g, &l, &lft);
	p = prove(g, &l, &lft, NULL);
	ck_assert_uint_eq(p.credit_loops, 1);
	ck_assert_uint_eq(p.management_credit_loops, 0);
	ck_assert_uint_eq(p.cycle[0].n, 4);
	ck_assert(!p.cycle[0].management);
	ck_assert_uint_eq(p.vls_used, 1);
	ck_assert(starts_with(proof_text(&p, g, arena),
	                      "credit loop of 4 channels on VL 0: "));
}
END_TEST

/* Dimension order on a torus: a loop for each ring and direction, (5 + 6) * 2. */
START_TEST(many_rings)
{
	struct graph *g = fabric_make("torus 6x5 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct engine *dor = engine_find("dor");
	struct route_in in = { .g = g, .lids = &l };
	struct route_out out = { 0 };
	struct proof p;

	ck_assert_int_eq(dor->route(&in, arena, &out), E_OK);
	p = prove(g, &l, &out.lft, NULL);
	ck_assert_uint_eq(p.credit_loops + p.management_credit_loops, 22);
	ck_assert_uint_eq(p.n_cycle, 22);
	ck_assert_ptr_nonnull(strstr(proof_text(&p, g, arena), "; 21 more apart from it"));
}
END_TEST

/* A ring of four switches of which the first few have a host. Cables lead from the last
 * port of a switch to port 1 of the next. */
static struct graph *ring_with_hosts(uint32_t n_hosts, uint8_t n_ports)
{
	struct graph *g = graph_new(arena);
	struct diags *d = arena_alloc(arena, sizeof(*d));
	uint32_t s[4], h;

	diags_init(d, arena);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(
			graph_add_node(g, NODE_SWITCH, 10 + i, n_ports, "s", NULL, &s[i]),
			E_OK);
	}
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(graph_connect(g, graph_port(g, s[i], n_ports),
		                               graph_port(g, s[(i + 1) % 4], 1)),
		                 E_OK);
	}
	for (unsigned i = 0; i < n_hosts; i++) {
		ck_assert_int_eq(
			graph_add_node(g, NODE_CA, 100 * (i + 1), 1, "h", NULL, &h),
			E_OK);
		ck_assert_int_eq(
			graph_connect(g, graph_port(g, s[i], 2), graph_port(g, h, 1)),
			E_OK);
	}
	ck_assert_int_eq(graph_freeze(g, d), E_OK);
	return g;
}

/* With hosts on two neighbours the channel between them goes on to none and none goes on
 * to it in their routes; a third host closes the ring, until then only management does.
 */
START_TEST(who_closes_the_ring)
{
	struct graph *g = ring_with_hosts((uint32_t)_i, 3);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	bool hosts_do = _i > 2;
	struct proof p;

	one_way_round(g, &l, &lft);
	p = prove(g, &l, &lft, NULL);
	ck_assert_uint_eq(p.credit_loops, hosts_do);
	ck_assert_uint_eq(p.management_credit_loops, !hosts_do);
	ck_assert_uint_eq(p.n_cycle, 1);
	ck_assert_uint_eq(p.cycle[0].n, 4);
	ck_assert_int_eq(p.cycle[0].management, !hosts_do);
	ck_assert_int_eq(proof_passed(&p, false), !hosts_do);
	ck_assert(!proof_passed(&p, true));
	ck_assert(starts_with(proof_text(&p, g, arena),
	                      hosts_do ? "credit loop of 4 channels"
	                               : "management credit loop of 4 channels"));
}
END_TEST

/* A dependency on the last port of a switch counts, whatever the number of ports. */
START_TEST(last_port)
{
	static const uint8_t n_ports[] = { 3, 62, 63, 64, 65, 127, 128, 192, 254 };
	struct graph *g = ring_with_hosts(4, n_ports[_i]);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	struct proof p;

	one_way_round(g, &l, &lft);
	p = prove(g, &l, &lft, NULL);
	ck_assert_uint_eq(p.credit_loops, 1);
	ck_assert_uint_eq(p.cycle[0].n, 4);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(p.cycle[0].channels[i].port, n_ports[_i]);
	}
}
END_TEST

/* Trees that miss cables: hosts' routes stay free of credit loops, those of management
 * turn at the bottom. */
static const struct {
	const char *command;
	double fail;
	bool small; /* enough for the reference */
} degraded[] = {
	{ "ft3 4", 0.01, true }, { "ft3 4", 0.05, true },  { "ft3 6", 0.01, true },
	{ "ft3 6", 0.05, true }, { "ft3 8", 0.01, false }, { "ft3 8", 0.05, false },
};

enum { N_DEGRADED = sizeof(degraded) / sizeof(*degraded), SEEDS = 3 };

START_TEST(degraded_trees)
{
	struct graph *g = fabric_make(degraded[_i % N_DEGRADED].command,
	                              degraded[_i % N_DEGRADED].fail,
	                              (uint32_t)(_i / N_DEGRADED) + 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	struct proof p;

	if (degraded[_i % N_DEGRADED].small) {
		p = prove(g, &l, &lft, NULL);
	} else {
		ck_assert_int_eq(proof_run(g, &l, &lft, NULL, arena, &p), E_OK);
	}
	ck_assert(proof_passed(&p, false));
	ck_assert(!proof_passed(&p, true));
	ck_assert_uint_eq(p.management_credit_loops, 1);
}
END_TEST

/* A spine forgets the LID of a host: a hole where a leaf sends through it, else a matter
 * of its own port 0. */
START_TEST(holes_in_spines)
{
	struct graph *g = fabric_make("ft2 2 2 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	uint32_t lid = l.of[g->hosts[0]].base, near = graph_switch_of(g, g->hosts[0]);
	uint32_t n_used = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint8_t kept = lft_row(&lft, s)[lid];
		bool used = false;
		struct proof p;

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			const struct sw_link *in = &g->adj[i];

			used |= in->to != near &&
			        lft_row(&lft, in->to)[lid] == in->to_port;
		}
		if (has_hosts(g, s)) {
			continue;
		}
		n_used += used;
		lft_row(&lft, s)[lid] = LFT_NO_ROUTE;
		p = prove(g, &l, &lft, NULL);
		ck_assert_uint_eq(p.holes, used);
		ck_assert_uint_eq(p.unreachable_pairs, used ? 2 : 0);
		ck_assert_uint_eq(p.management_unreachable, 1);
		ck_assert_uint_eq(p.management_hole.sw, s);
		ck_assert_uint_eq(p.management_hole.lid, lid);
		ck_assert_int_eq(proof_passed(&p, false), !used);
		ck_assert(!proof_passed(&p, true));
		ck_assert_ptr_nonnull(strstr(
			proof_text(&p, g, arena),
			used ? " has no route to LID"
			     : "management pairs without a route: 1; the first is switch '"));
		lft_row(&lft, s)[lid] = kept;
	}
	ck_assert_uint_eq(n_used, 1);
}
END_TEST

/* No route of a leaf to a switch's LID decides; a loop on the way does. */
START_TEST(lids_of_switches)
{
	struct graph *g = fabric_make("ft2 2 2 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	uint32_t leaf = graph_switch_of(g, g->hosts[0]),
		 spine = g->adj[g->adj_first[leaf]].to;
	uint32_t lid = l.of[graph_port(g, g->switches[spine], 0)].base;
	uint32_t other = g->adj_first[leaf + 1] - 1, far = g->adj[other].to;
	struct proof p;

	ck_assert_uint_ne(far, spine);
	lft_row(&lft, leaf)[lid] = LFT_NO_ROUTE;
	lft_row(&lft, far)[lid] = LFT_NO_ROUTE;
	p = prove(g, &l, &lft, NULL);
	ck_assert_uint_eq(p.management_unreachable, 2);
	ck_assert_uint_eq(p.management_hole.sw, leaf < far ? leaf : far);
	ck_assert(proof_passed(&p, false));

	lft_row(&lft, leaf)[lid] = g->adj[other].port;
	lft_row(&lft, far)[lid] = g->adj[other].to_port;
	p = prove(g, &l, &lft, NULL);
	ck_assert_uint_eq(p.forwarding_loops, 1);
	ck_assert_uint_eq(p.management_unreachable, 2);
	ck_assert(!proof_passed(&p, false));
}
END_TEST

/* Entries that look usable and are not. */
START_TEST(wrong_deliveries)
{
	struct graph *g = fabric_make("ft2 2 2 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint32_t a = g->hosts[0], b = g->hosts[1], leaf = graph_switch_of(g, a);
	uint32_t lid = l.of[a].base;
	uint8_t wrong[] = { g->ports[g->ports[b].peer].num, 0, 200, LFT_NO_ROUTE };

	for (unsigned i = 0; i < sizeof(wrong); i++) {
		struct lft lft = minhop(g, &l);
		struct proof p;

		lft_row(&lft, leaf)[lid] = wrong[i];
		p = prove(g, &l, &lft, NULL);
		ck_assert_uint_eq(p.holes, 1);
		ck_assert_uint_eq(p.unreachable_pairs, 3);
		ck_assert_uint_eq(p.hole[0].sw, leaf);
		ck_assert_uint_eq(p.hole[0].lid, lid);
		ck_assert_ptr_nonnull(strstr(proof_text(&p, g, arena),
		                             g->nodes[g->switches[leaf]].description));
	}
}
END_TEST

START_TEST(two_switches_toss_a_lid)
{
	struct graph *g = fabric_make("ft2 2 2 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	uint32_t leaf = graph_switch_of(g, g->hosts[0]), lid = l.of[g->hosts[0]].base;
	struct proof p;

	lft_row(&lft, leaf)[lid] = g->adj[g->adj_first[leaf]].port;
	p = prove(g, &l, &lft, NULL);
	ck_assert_uint_eq(p.forwarding_loops, 1);
	ck_assert_uint_eq(p.loop[0].n_loop, 2);
	ck_assert_ptr_nonnull(
		strstr(proof_text(&p, g, arena), "forwarding loop for LID"));
}
END_TEST

/* Parts that are not connected do not count; a CA with a port in each joins nothing. */
START_TEST(parts)
{
	struct graph *g = graph_new(arena);
	struct diags *d = arena_alloc(arena, sizeof(*d));
	uint32_t s[2], c[4];
	struct lids l;
	struct lft lft;
	struct proof p;

	diags_init(d, arena);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(
			graph_add_node(g, NODE_SWITCH, 10 + i, 8, "s", NULL, &s[i]),
			E_OK);
	}
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(
			graph_add_node(g, NODE_CA, 100 * (i + 1), 2, "c", NULL, &c[i]),
			E_OK);
	}
	for (unsigned rail = 0; rail < 2; rail++) {
		for (unsigned i = 0; i < 2; i++) {
			ck_assert_int_eq(graph_connect(g, graph_port(g, s[rail], i + 1),
			                               graph_port(g, c[i], rail + 1)),
			                 E_OK);
		}
	}
	ck_assert_int_eq(graph_connect(g, graph_port(g, c[2], 1), graph_port(g, c[3], 1)),
	                 E_OK);
	/* a loopback cable: an entry into it circles */
	ck_assert_int_eq(graph_connect(g, graph_port(g, s[0], 7), graph_port(g, s[0], 8)),
	                 E_OK);
	ck_assert_int_eq(graph_freeze(g, d), E_OK);
	l = fabric_lids(g, 0, 0, arena);
	lft = minhop(g, &l);
	ck_assert_int_eq(proof_run(g, &l, &lft, NULL, arena, &p), E_OK);
	ck_assert_uint_eq(p.pairs, 2 + 2 + 2); /* in each rail, and back to back */
	ck_assert(proof_passed(&p, true));
	lft_row(&lft, 0)[l.of[g->hosts[0]].base] = 7;
	ck_assert_int_eq(proof_run(g, &l, &lft, NULL, arena, &p), E_OK);
	ck_assert_uint_eq(p.forwarding_loops, 1);
	ck_assert_uint_eq(p.loop[0].n_loop, 1);
	ck_assert_uint_eq(p.unreachable_pairs, 1);
}
END_TEST

/* A table without a single LID of the fabric. */
START_TEST(short_table)
{
	struct graph *g = fabric_make("ft2 3 2 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 5, 0, arena);
	struct lft lft;
	struct proof p;

	ck_assert_int_eq(lft_init(&lft, g->n_switches, 0, arena), E_OK);
	ck_assert_int_eq(proof_run(g, &l, &lft, NULL, arena, &p), E_OK);
	ck_assert_uint_eq(p.unreachable_pairs, p.pairs);
	ck_assert_uint_eq(p.pairs, 6 * 5 * 32);
	ck_assert_uint_eq(p.n_hole, PROOF_LIST_MAX);
}
END_TEST

/* Tables of a small tree with entries taken out at random, at leaf switches. */
static struct lft with_gaps(const struct graph *g, const struct lids *l, uint64_t *seed)
{
	const struct route_in in = { .g = g, .lids = l };
	struct route_out out = { 0 };

	ck_assert_int_eq(engine_find("minhop")->route(&in, arena, &out), E_OK);
	for (uint32_t i = random_below(seed, 12); i > 0; i--) {
		uint32_t host = g->hosts[random_below(seed, g->n_hosts)];
		uint32_t s = random_below(seed, g->n_switches);

		if (graph_switch_of(g, host) != s) {
			lft_row(&out.lft, s)[l->of[host].base] = LFT_NO_ROUTE;
		}
	}
	return out.lft;
}

/* Pairs that may be without a route pass where they are; any other fails. */
/* Some entries for a host lead where those for another host on its switch do. */
static void mix_entries(const struct graph *g, const struct lids *l, struct lft *lft,
                        uint64_t seed)
{
	for (uint32_t i = 0; i < g->n_switches * 8; i++) {
		uint32_t h = random_below(&seed, g->n_hosts - 1);
		uint32_t t = graph_switch_of(g, g->hosts[h]);
		uint32_t s = random_below(&seed, g->n_switches);
		uint8_t *row = lft_row(lft, s);

		if (s != t && graph_switch_of(g, g->hosts[h + 1]) == t) {
			row[l->of[g->hosts[h]].base] = row[l->of[g->hosts[h + 1]].base];
		}
	}
}

static void compare_proofs(const struct proof *a, const struct proof *b)
{
	ck_assert_uint_eq(a->pairs, b->pairs);
	ck_assert_uint_eq(a->unreachable_pairs, b->unreachable_pairs);
	ck_assert_uint_eq(a->forwarding_loops, b->forwarding_loops);
	ck_assert_uint_eq(a->credit_loops, b->credit_loops);
	ck_assert_uint_eq(a->management_credit_loops, b->management_credit_loops);
	ck_assert_uint_eq(a->n_cycle, b->n_cycle);
	for (unsigned i = 0; i < a->n_cycle; i++) {
		ck_assert_uint_eq(a->cycle[i].n, b->cycle[i].n);
		ck_assert_uint_eq(a->cycle[i].component_channels,
		                  b->cycle[i].component_channels);
		ck_assert_uint_eq(a->cycle[i].management, b->cycle[i].management);
	}
}

static const char *const block_fabrics[] = { "ft3 8",           "ft2 12 6 3 2",
	                                     "torus 4x4x3 2",   "jellyfish 24 4 3",
	                                     "dragonfly 2 4 2", "director 8 4 2 4 4 2" };

enum {
	N_BLOCK_FABRICS = sizeof(block_fabrics) / sizeof(*block_fabrics),
	BLOCK_SEEDS = 8
};

/* Whole blocks of LIDs are proven as column after column is, which lanes ask for. */
START_TEST(blocks_like_columns)
{
	uint64_t seed = 1 + (uint64_t)_i / N_BLOCK_FABRICS;
	struct graph *g = fabric_make(block_fabrics[_i % N_BLOCK_FABRICS],
	                              seed % 2 ? 0 : 0.03, (uint32_t)seed, arena);
	struct lids l = fabric_lids(g, seed % 3, 0, arena);
	struct route_in in = { .g = g, .lids = &l };
	struct route_out out = { 0 };
	struct lanes lanes = { .n = 1 };
	struct proof blocks, columns;

	ck_assert_int_eq(engine_find("minhop")->route(&in, arena, &out), E_OK);
	if (seed > 2) {
		mix_entries(g, &l, &out.lft, seed);
	}
	lanes.stride = out.lft.stride;
	lanes.rows = arena_array(arena, g->n_switches, lanes.stride);
	ck_assert_int_eq(proof_run(g, &l, &out.lft, NULL, arena, &blocks), E_OK);
	ck_assert_int_eq(proof_run(g, &l, &out.lft, &lanes, arena, &columns), E_OK);
	compare_proofs(&blocks, &columns);
	ck_assert_uint_eq(blocks.forwarding_loops, 0);
}
END_TEST

START_TEST(some_may_be_missed)
{
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint64_t seed = (uint64_t)_i + 1, unreachable = 0, missed = 0;
	struct lft lft = with_gaps(g, &l, &seed);
	struct naive x = { .g = g, .l = &l, .lft = &lft };
	uint8_t *may_miss = arena_alloc(arena, l.top + 1);
	uint32_t most = random_below(&seed, 3); /* none, half, all */
	struct proof p;

	for (uint32_t i = 0; i < g->n_hosts; i++) {
		may_miss[l.of[g->hosts[i]].base] =
			most == 2 || (most == 1 && random_below(&seed, 2));
	}
	for (uint32_t i = 0; i < g->n_hosts * g->n_hosts; i++) {
		uint32_t from = g->hosts[i / g->n_hosts], to = g->hosts[i % g->n_hosts];
		struct walk w = walk(&x, graph_switch_of(g, from), l.of[to].base);

		unreachable += w.end != ARRIVES;
		missed += w.end != ARRIVES && may_miss[l.of[from].base] &&
		          may_miss[l.of[to].base];
	}
	ck_assert_int_eq(proof_run_missing(g, &l, &lft, NULL, may_miss, arena, &p), E_OK);
	ck_assert_uint_eq(p.unreachable_pairs, unreachable);
	ck_assert_uint_eq(p.missed_pairs, missed);
	ck_assert_int_eq(proof_reaches(&p), unreachable == missed);
	ck_assert_int_eq(p.holes > 0, unreachable != missed);
	ck_assert_uint_eq(p.n_missed,
	                  missed < PROOF_MISSED_MAX ? missed : PROOF_MISSED_MAX);
	for (unsigned i = 0; i < p.n_missed; i++) {
		uint32_t s = graph_switch_of(g, p.missed[i].src);

		ck_assert(walk(&x, s, p.missed[i].lid).end != ARRIVES);
		ck_assert(may_miss[l.of[p.missed[i].src].base] &&
		          may_miss[p.missed[i].lid]);
	}
	ck_assert_int_eq(proof_missed_text(&p, g, &l, arena)[0] != 0, missed > 0);
}
END_TEST

TEST_SUITE(proof)
{
	TCase *t = tcase_create("proof");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, like_the_reference, 0, N_FABRICS * ROUNDS);
	tcase_add_loop_test(t, rule, 0, N_RULE_FABRICS * RULE_ROUNDS);
	tcase_add_test(t, loop_over_two_vls);
	tcase_add_test(t, threads);
	tcase_add_test(t, lanes_of_management);
	tcase_add_test(t, ring_one_way);
	tcase_add_test(t, many_rings);
	tcase_add_loop_test(t, who_closes_the_ring, 0, 5);
	tcase_add_loop_test(t, last_port, 0, 9);
	tcase_add_loop_test(t, degraded_trees, 0, N_DEGRADED * test_seeds(SEEDS));
	tcase_add_test(t, holes_in_spines);
	tcase_add_test(t, lids_of_switches);
	tcase_add_test(t, wrong_deliveries);
	tcase_add_test(t, two_switches_toss_a_lid);
	tcase_add_test(t, parts);
	tcase_add_test(t, short_table);
	tcase_add_loop_test(t, blocks_like_columns, 0, N_BLOCK_FABRICS * test_seeds(BLOCK_SEEDS));
	tcase_add_loop_test(t, some_may_be_missed, 0, 60);
	suite_add_tcase(suite, t);
}
