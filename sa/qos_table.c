/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * SL-to-VL mapping and VL arbitration (IBA vol. 1, 7.6.6, 7.6.9, 14.2.5.9, 14.2.5.10).
 */
#include "sa/qos_table.h"

#include <string.h>

enum { PAIRS_OF_A_BLOCK = 32, NOT_THERE = QOS_WEIGHTS_MAX };

static uint8_t fewer(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static uint8_t fold(const struct qos_port *p, uint8_t vl)
{
	return vl % fewer(p->vls, p->setup->max_vls);
}

static uint8_t vl_of(const struct qos_port *p, unsigned sl)
{
	if (p->lanes > 1 && sl < p->lanes) {
		return fold(p, (uint8_t)sl);
	}
	return p->setup->sl2vl[sl] == QOS_VL_DROP ? QOS_VL_DROP
	                                          : fold(p, p->setup->sl2vl[sl]);
}

void qos_table_sl2vl(const struct qos_port *p, uint8_t ret[8])
{
	for (unsigned sl = 0; sl < QOS_SLS; sl += 2) {
		ret[sl / 2] = (uint8_t)(vl_of(p, sl) << 4 | vl_of(p, sl + 1));
	}
}

unsigned qos_table_overruled(const struct qos_setup *q, uint8_t lanes)
{
	for (unsigned sl = 0; lanes > 1 && sl < lanes; sl++) {
		if (q->sl2vl[sl] != sl) {
			return sl;
		}
	}
	return QOS_SLS;
}

/* --- arbitration ------------------------------------------------------------------ */

/* As much of a table as the port holds, on the VLs that it has. */
static struct qos_weights folded(const struct qos_port *p, const struct qos_weights *w,
                                 unsigned cap)
{
	struct qos_weights f = { .n = (uint8_t)(w->n < cap ? w->n : cap) };

	for (unsigned i = 0; i < f.n; i++) {
		f.entry[i].vl = fold(p, w->entry[i].vl);
		f.entry[i].weight = w->entry[i].weight;
	}
	return f;
}

static bool weighs(const struct qos_weights *w, uint8_t vl)
{
	for (unsigned i = 0; i < w->n; i++) {
		if (w->entry[i].vl == vl && w->entry[i].weight) {
			return true;
		}
	}
	return false;
}

/* A pair without effect, of this VL if there is one; else a free place. */
static unsigned spare(const struct qos_weights *w, unsigned cap, uint8_t vl)
{
	unsigned at = w->n < cap ? w->n : NOT_THERE;

	for (unsigned i = 0; i < w->n; i++) {
		if (w->entry[i].weight == 0 && w->entry[i].vl == vl) {
			return i;
		}
		at = w->entry[i].weight == 0 ? i : at;
	}
	return at;
}

static bool add_weight(struct qos_weights *w, unsigned cap, uint8_t vl)
{
	unsigned at = spare(w, cap, vl);

	if (at == NOT_THERE) {
		return false;
	}
	w->n += at == w->n;
	w->entry[at].vl = vl;
	w->entry[at].weight = 1;
	return true;
}

static void put_pairs(const struct qos_weights *w, uint8_t (*ret)[64])
{
	memset(ret, 0, 2 * sizeof(ret[0]));
	for (unsigned i = 0; i < w->n; i++) {
		uint8_t *pair = &ret[i / PAIRS_OF_A_BLOCK][i % PAIRS_OF_A_BLOCK * 2];

		pair[0] = w->entry[i].vl;
		pair[1] = w->entry[i].weight;
	}
}

unsigned qos_table_arb(const struct qos_port *p, unsigned low_cap, unsigned high_cap,
                       uint8_t ret[4][64])
{
	struct qos_weights low = folded(p, &p->setup->low, low_cap);
	struct qos_weights high = folded(p, &p->setup->high, high_cap);
	unsigned missing = 0;

	for (unsigned lane = 0; p->lanes > 1 && lane < p->lanes; lane++) {
		uint8_t vl = fold(p, (uint8_t)lane);

		missing += !weighs(&low, vl) && !weighs(&high, vl) &&
		           !add_weight(&low, low_cap, vl) &&
		           !add_weight(&high, high_cap, vl);
	}
	put_pairs(&low, ret);
	put_pairs(&high, ret + 2);
	return missing;
}
