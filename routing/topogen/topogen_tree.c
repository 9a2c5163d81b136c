/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Fat trees after Leiserson, "Fat-Trees" (1985), as trees of equal switches with two or
 * three levels; a tree whose switches have more ports down than up is oversubscribed. In
 * a director the upper levels are the ASICs of one chassis.
 */
#include <stdbool.h>

#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/topogen/topogen_maker.h"

/* ---- two levels ---- */

static int ft2_links(struct maker *m, uint32_t leaves, uint32_t hosts, uint32_t spines,
                     uint32_t cables)
{
	int ret = maker_hosts(m, leaves, hosts, 1);

	for (uint32_t i = 0; i < leaves * spines * cables && ret == E_OK; i++) {
		uint32_t leaf = i / (spines * cables);
		uint32_t spine = i / cables % spines;
		uint32_t t = i % cables;
		ret = maker_link(m, leaf, hosts + spine * cables + t + 1, leaves + spine,
		                 leaf * cables + t + 1);
	}
	return ret;
}

int make_ft2(struct maker *m)
{
	uint32_t v[4] = { 0, 0, 0, 1 };
	int ret = E_OK;

	for (int i = 0; i < 4 && ret == E_OK; i++) {
		ret = maker_number(m, i, 1, MAKER_MAX_RADIX, &v[i]);
	}
	if (ret != E_OK) {
		return ret;
	}

	uint32_t leaves = v[0], hosts = v[1], spines = v[2], cables = v[3];
	uint32_t up = hosts + spines * cables, down = leaves * cables;
	ret = maker_size(m, up > down ? up : down, leaves + spines, leaves * hosts);
	for (uint32_t i = 0; i < leaves && ret == E_OK; i++) {
		ret = maker_switch(m, "leaf-%04u", i);
	}
	for (uint32_t i = 0; i < spines && ret == E_OK; i++) {
		ret = maker_switch(m, "spine-%04u", i);
	}
	return ret == E_OK ? ft2_links(m, leaves, hosts, spines, cables) : ret;
}

/* ---- three levels ---- */

/*
 * Every edge switch of a pod has a cable to every aggregation switch of it; aggregation
 * switch i of every pod has one to every core switch of group i.
 */
struct tree3 {
	uint32_t pods;
	uint32_t edges; /* per pod */
	uint32_t hosts; /* per edge switch */
	uint32_t aggs;  /* per pod */
	uint32_t cores; /* per group */
};

static int tree3_switches(struct maker *m, const struct tree3 *t)
{
	int ret = E_OK;

	for (uint32_t i = 0; i < t->pods * t->edges && ret == E_OK; i++) {
		ret = maker_switch(m, "edge-%03u-%03u", i / t->edges, i % t->edges);
	}
	for (uint32_t i = 0; i < t->pods * t->aggs && ret == E_OK; i++) {
		ret = maker_switch(m, "agg-%03u-%03u", i / t->aggs, i % t->aggs);
	}
	for (uint32_t i = 0; i < t->aggs * t->cores && ret == E_OK; i++) {
		ret = maker_switch(m, "core-%03u-%03u", i / t->cores, i % t->cores);
	}
	return ret;
}

static int tree3_pod(struct maker *m, const struct tree3 *t, uint32_t pod)
{
	uint32_t edge = pod * t->edges, agg = t->pods * t->edges + pod * t->aggs;
	uint32_t core = t->pods * (t->edges + t->aggs);
	int ret = E_OK;

	for (uint32_t n = 0; n < t->edges * t->aggs && ret == E_OK; n++) {
		uint32_t i = n / t->aggs, j = n % t->aggs;
		ret = maker_link(m, edge + i, t->hosts + j + 1, agg + j, i + 1);
	}
	for (uint32_t n = 0; n < t->aggs * t->cores && ret == E_OK; n++) {
		uint32_t i = n / t->cores, j = n % t->cores;
		ret = maker_link(m, agg + i, t->edges + j + 1, core + n, pod + 1);
	}
	return ret;
}

static int make_levels(struct maker *m, const struct tree3 *t)
{
	uint64_t radix = t->pods, edges = (uint64_t)t->pods * t->edges;

	radix = t->hosts + t->aggs > radix ? t->hosts + t->aggs : radix;
	radix = t->edges + t->cores > radix ? t->edges + t->cores : radix;
	int ret = maker_size(m, radix,
	                     edges + (uint64_t)t->aggs * t->pods + t->aggs * t->cores,
	                     edges * t->hosts);
	if (ret == E_OK) {
		ret = tree3_switches(m, t);
	}
	if (ret == E_OK) {
		ret = maker_hosts(m, t->pods * t->edges, t->hosts, 1);
	}
	for (uint32_t pod = 0; pod < t->pods && ret == E_OK; pod++) {
		ret = tree3_pod(m, t, pod);
	}
	return ret;
}

int make_ft3(struct maker *m)
{
	uint32_t k = 0;
	int ret = maker_number(m, 0, 2, MAKER_MAX_RADIX, &k);

	if (ret == E_OK && k % 2) {
		diag_add(m->d, DIAG_ERROR, NULL, 0,
		         "ft3: K is %u, expected an even number", k);
		ret = E_RANGE;
	}
	return ret == E_OK
	               ? make_levels(m, &(struct tree3){ k, k / 2, k / 2, k / 2, k / 2 })
	               : ret;
}

int make_tree3(struct maker *m)
{
	struct tree3 t = { 0 };
	uint32_t *v[] = { &t.pods, &t.edges, &t.hosts, &t.aggs, &t.cores };
	int ret = E_OK;

	for (int i = 0; i < 5 && ret == E_OK; i++) {
		ret = maker_number(m, i, 1, MAKER_MAX_RADIX, v[i]);
	}
	return ret == E_OK ? make_levels(m, &t) : ret;
}

/* ---- edge switches around directors ---- */

/*
 * A director is a two-level tree in one chassis: every leaf ASIC has a cable to every
 * spine ASIC. Its outer ports are assigned to the leaf ASICs round robin, so that cables of
 * one edge switch come in through different ones. All ASICs of a chassis carry the
 * SystemImageGUID of its first.
 */
struct directors {
	uint32_t edges;
	uint32_t hosts; /* per edge switch */
	uint32_t chassis;
	uint32_t leaves; /* ASICs per chassis */
	uint32_t spines; /* ASICs per chassis */
	uint32_t cables; /* from each edge switch to each chassis */
	uint32_t inner;  /* hosts on each leaf ASIC */
	uint32_t outer;  /* ports of a leaf ASIC to edge switches */
};

static int chassis_switches(struct maker *m, const struct directors *t, uint32_t c)
{
	uint64_t system = 0;
	int ret = E_OK;

	for (uint32_t i = 0; i < t->leaves + t->spines && ret == E_OK; i++) {
		bool leaf = i < t->leaves;
		ret = maker_switch(m, "director-%03u-%s-%03u", c, leaf ? "leaf" : "spine",
		                   leaf ? i : i - t->leaves);
		if (ret == E_OK) {
			struct node *n = &m->g->nodes[m->n_switches - 1];
			system = i ? system : n->guid;
			n->system_image_guid = system;
		}
	}
	return ret;
}

static int chassis_links(struct maker *m, const struct directors *t, uint32_t c)
{
	uint32_t first = t->edges + c * (t->leaves + t->spines);
	int ret = E_OK;

	for (uint32_t i = 0; i < t->edges * t->cables && ret == E_OK; i++) {
		uint32_t edge = i / t->cables, cable = i % t->cables;
		ret = maker_link(m, edge, t->hosts + c * t->cables + cable + 1,
		                 first + i % t->leaves, i / t->leaves + 1);
	}
	for (uint32_t i = 0; i < t->leaves * t->spines && ret == E_OK; i++) {
		uint32_t leaf = i / t->spines, spine = i % t->spines;
		ret = maker_link(m, first + leaf, t->outer + spine + 1,
		                 first + t->leaves + spine, leaf + 1);
	}
	return ret;
}

/* Behind the ports to edge switches and spines. */
static int chassis_hosts(struct maker *m, const struct directors *t, uint32_t c)
{
	uint32_t first = t->edges + c * (t->leaves + t->spines);
	int ret = E_OK;

	for (uint32_t i = 0; i < t->leaves * t->inner && ret == E_OK; i++) {
		ret = maker_host(m, first + i / t->inner,
		                 t->outer + t->spines + i % t->inner + 1);
	}
	return ret;
}

int make_director(struct maker *m)
{
	struct directors t = { .cables = 1 };
	uint32_t *v[] = { &t.edges,  &t.hosts,  &t.chassis, &t.leaves,
		          &t.spines, &t.cables, &t.inner };
	int ret = E_OK;

	for (int i = 0; i < 7 && ret == E_OK; i++) {
		uint32_t max = i ? MAKER_MAX_RADIX : MAKER_MAX_NODES;
		ret = maker_number(m, i, i < 6, max, v[i]);
	}
	if (ret != E_OK) {
		return ret;
	}

	uint64_t n_outer = (uint64_t)t.edges * t.cables;
	uint64_t edge = t.hosts + t.chassis * t.cables;
	uint64_t leaf = (n_outer + t.leaves - 1) / t.leaves + t.spines + t.inner;
	uint64_t radix = edge > leaf ? edge : leaf;
	ret = maker_size(m, radix > t.leaves ? radix : t.leaves,
	                 t.edges + t.chassis * (t.leaves + t.spines),
	                 (uint64_t)t.edges * t.hosts +
	                         (uint64_t)t.chassis * t.leaves * t.inner);
	t.outer = (uint32_t)(leaf - t.spines - t.inner);
	for (uint32_t i = 0; i < t.edges && ret == E_OK; i++) {
		ret = maker_switch(m, "edge-%04u", i);
	}
	for (uint32_t c = 0; c < t.chassis && ret == E_OK; c++) {
		ret = chassis_switches(m, &t, c);
	}
	if (ret == E_OK) {
		ret = maker_hosts(m, t.edges, t.hosts, 1);
	}
	for (uint32_t c = 0; c < t.chassis && ret == E_OK; c++) {
		ret = chassis_links(m, &t, c);
		ret = ret == E_OK ? chassis_hosts(m, &t, c) : ret;
	}
	return ret;
}
