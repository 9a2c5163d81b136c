/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The unicast routing cache on a fat tree of 11,664 hosts: what a hit costs after a host is
 * gone, comparison and tables, and what remembering costs. JSON on standard output.
 */
#include <time.h>

#include "routing/route_cache.h"
#include "tests/lib/db_util.h"

enum { RUNS = 5 };

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print(const char *name, double *v, const char *end)
{
	qsort(v, RUNS, sizeof(*v), compare_double);
	printf("  \"%s\": {\"median\": %.3f, \"least\": %.3f, \"most\": %.3f}%s\n", name,
	       v[RUNS / 2] * 1e3, v[0] * 1e3, v[RUNS - 1] * 1e3, end);
}

/* A host's cable is out: no cable, no LIDs. */
static void unplug(struct fabric *f, uint32_t port)
{
	struct lid_range *r = &f->lids.of[port];

	for (uint32_t lid = r->base; lid < r->base + (1U << r->lmc); lid++) {
		f->lids.owner[lid] = GRAPH_NONE;
	}
	*r = (struct lid_range){ 0 };
	graph_disconnect(f->g, port);
}

int main(void)
{
	static struct fabric whole, part;
	struct route_cache *cache = route_cache_new();
	double store[RUNS], hit[RUNS];

	fabric_init(&whole, "ft3 36", 0);
	fabric_init(&part, "ft3 36", 0);
	unplug(&part, part.g->hosts[part.g->n_hosts / 2]);
	struct route_cached c = { .used = whole.route.used,
		                  .engine_asked = "minhop",
		                  .out = whole.route.out };

	for (unsigned i = 0; i < RUNS; i++) {
		struct arena *a = arena_new();
		struct route_cached got;
		struct why why = { "" };
		double t = now();

		if (route_cache_store(cache, whole.g, &whole.lids, &c) != E_OK) {
			return 1;
		}
		store[i] = now() - t;
		t = now();
		if (route_cache_look(cache, part.g, &part.lids, 0, a, &got, &why) != E_OK) {
			fprintf(stderr, "a miss: %s\n", why.text);
			return 1;
		}
		hit[i] = now() - t;
		arena_free(a);
	}
	printf("{\n  \"bench\": \"route_cache\", \"unit\": \"ms\", \"switches\": %u, \"hosts\": %u,\n",
	       whole.g->n_switches, whole.g->n_hosts);
	print("store", store, ",");
	print("hit", hit, "\n}");
	route_cache_free(cache);
	fabric_done(&whole);
	fabric_done(&part);
	return 0;
}
