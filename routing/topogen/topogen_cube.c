/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Torus and mesh are k-ary n-cubes after Dally and Towles, "Principles and Practices of
 * Interconnection Networks", chapter 5; a hypercube is the binary one, with one port per
 * dimension instead of a pair.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "routing/topogen/topogen_maker.h"

enum { MAX_DIMS = 4, MAX_CUBE = 20 /* 2^20 switches */ };

/* Switches in row-major order: the last coordinate runs fastest. */
struct grid {
	uint32_t dims[MAX_DIMS];
	uint32_t stride[MAX_DIMS]; /* steps of switch number per step in a dimension */
	unsigned n_dims;
	bool wrap;
	uint32_t hosts; /* per switch */
};

/* "4x4x2" -> dims. */
static int read_dims(struct maker *m, struct grid *t)
{
	char part[16];

	for (const char *s = m->argv[0];; s++) {
		size_t len = strcspn(s, "x");
		uint64_t v = 0;

		if (t->n_dims == MAX_DIMS || !len || len >= sizeof(part)) {
			break;
		}
		memcpy(part, s, len);
		part[len] = '\0';
		if (text_u64(part, MAKER_MAX_NODES, &v) != E_OK || v == 0) {
			diag_add(
				m->d, DIAG_ERROR, NULL, 0,
				"%s: a dimension is '%s', expected a number from 1 to %d",
				m->kind->name, part, MAKER_MAX_NODES);
			return E_SYNTAX;
		}
		t->dims[t->n_dims++] = (uint32_t)v;
		s += len;
		if (!*s) {
			return E_OK;
		}
	}
	diag_add(m->d, DIAG_ERROR, NULL, 0,
	         "%s: size is '%s', expected 1 to %d numbers joined by x, like 4x4x4",
	         m->kind->name, m->argv[0], MAX_DIMS);
	return E_SYNTAX;
}

static uint32_t coordinate(const struct grid *t, uint32_t sw, unsigned d)
{
	return sw / t->stride[d] % t->dims[d];
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
	return maker_link(m, sw, 2 * d + 1, next, 2 * d + 2);
}

static int fill_grid(struct maker *m, const struct grid *t, uint32_t n)
{
	int ret = E_OK;

	for (uint32_t sw = 0; sw < n && ret == E_OK; sw++) {
		char name[MAKER_NAME_SIZE] = "t";
		size_t len = 1;

		for (unsigned d = 0; d < t->n_dims; d++) {
			len += (size_t)snprintf(name + len, sizeof(name) - len, "-%03u",
			                        coordinate(t, sw, d));
		}
		ret = maker_switch(m, "%s", name);
	}
	if (ret == E_OK) {
		ret = maker_hosts(m, n, t->hosts, 2 * t->n_dims + 1);
	}
	for (uint32_t i = 0; i < n * t->n_dims && ret == E_OK; i++) {
		ret = add_grid_link(m, t, i % n, i / n);
	}
	return ret;
}

static int make_grid(struct maker *m, bool wrap)
{
	struct grid t = { .wrap = wrap };

	int ret = read_dims(m, &t);
	if (ret == E_OK) {
		ret = maker_number(m, 1, 0, MAKER_MAX_RADIX, &t.hosts);
	}
	if (ret != E_OK) {
		return ret;
	}

	uint64_t n = 1;
	for (unsigned i = t.n_dims; i-- > 0;) {
		t.stride[i] = (uint32_t)n;
		n = n * t.dims[i] > MAKER_MAX_NODES ? MAKER_MAX_NODES + 1ull
		                                    : n * t.dims[i];
	}
	ret = maker_size(m, 2 * t.n_dims + t.hosts, n, n * t.hosts);
	return ret == E_OK ? fill_grid(m, &t, (uint32_t)n) : ret;
}

int make_torus(struct maker *m)
{
	return make_grid(m, true);
}

int make_mesh(struct maker *m)
{
	return make_grid(m, false);
}

/* Port d + 1 of a switch leads to the one whose number differs in bit d. */
int make_hypercube(struct maker *m)
{
	uint32_t dims = 0, hosts = 0;

	int ret = maker_number(m, 0, 1, MAX_CUBE, &dims);
	if (ret == E_OK) {
		ret = maker_number(m, 1, 0, MAKER_MAX_RADIX, &hosts);
	}
	uint32_t n = 1u << dims;
	if (ret == E_OK) {
		ret = maker_size(m, dims + hosts, n, (uint64_t)n * hosts);
	}
	for (uint32_t i = 0; i < n && ret == E_OK; i++) {
		ret = maker_switch(m, "hc-%05u", i);
	}
	if (ret == E_OK) {
		ret = maker_hosts(m, n, hosts, dims + 1);
	}
	for (uint32_t i = 0; i < n * dims && ret == E_OK; i++) {
		uint32_t sw = i / dims, bit = i % dims, far = sw | 1u << bit;
		if (far != sw) {
			ret = maker_link(m, sw, bit + 1, far, bit + 1);
		}
	}
	return ret;
}
