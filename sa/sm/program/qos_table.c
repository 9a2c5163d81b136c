/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * SL-to-VL mapping and VL arbitration (IBA vol. 1, 7.6.6, 7.6.9, 14.2.5.9, 14.2.5.10).
 */
#include "sa/sm/program/qos_table.h"

#include <string.h>

enum {
	PAIRS_OF_A_BLOCK = 32,
	NOT_THERE = QOS_WEIGHTS_MAX,
	EVEN_WEIGHT = 4,
	BETWEEN = 1 /* any class of ports between switches */
};

static uint8_t fewer(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static uint8_t fold(const struct qos_port *p, uint8_t vl)
{
	return vl % fewer(p->vls, p->setup->max_vls);
}

static uint8_t vl_of(const struct qos_port *p, unsigned class_in, unsigned sl)
{
	if (p->rule) {
		return fold(p, p->rule->vl[class_in][p->class_out][sl]);
	}
	if (p->lanes > 1 && sl < p->lanes) {
		return fold(p, (uint8_t)sl);
	}
	return p->setup->sl2vl[sl] == QOS_VL_DROP ? QOS_VL_DROP
	                                          : fold(p, p->setup->sl2vl[sl]);
}

void qos_table_sl2vl(const struct qos_port *p, unsigned class_in, uint8_t ret_sl2vl[8])
{
	for (unsigned sl = 0; sl < QOS_SLS; sl += 2) {
		ret_sl2vl[sl / 2] = (uint8_t)(vl_of(p, class_in, sl) << 4 |
		                              vl_of(p, class_in, sl + 1));
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

/* VL towards a CA or router of packets that have this VL between switches; it is that of
 * their QoS level. QOS_VL_DROP: no lane of a level begins with this VL. */
static uint8_t vl_at_end(const struct vl_rule *r, uint8_t vl)
{
	for (unsigned level = 0; level < r->levels; level++) {
		unsigned sl = vl_rule_sl(r, 0, level);

		if (r->vl[0][BETWEEN][sl] == vl) {
			return r->vl[BETWEEN][0][sl];
		}
	}
	return QOS_VL_DROP;
}

/* As many pairs of a table as the port holds, with VLs folded onto those that it has. */
static struct qos_weights folded(const struct qos_port *p, const struct qos_weights *w,
                                 unsigned cap)
{
	struct qos_weights f = { .n = 0 };

	for (unsigned i = 0; i < w->n && f.n < cap; i++) {
		uint8_t vl = w->entry[i].vl;

		if (p->rule && p->swe && p->class_out == 0) {
			vl = vl_at_end(p->rule, vl);
		}
		if (vl != QOS_VL_DROP) {
			f.entry[f.n].vl = fold(p, vl);
			f.entry[f.n++].weight = w->entry[i].weight;
		}
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

/* Index of a pair without weight, of this VL if there is one, else of a free pair. */
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

/* VLs that routing may use on this port, as bits, before they are folded. */
static unsigned vls_used(const struct qos_port *p)
{
	unsigned bits = 0;

	for (unsigned i = 0; p->rule && i < VL_CLASSES * VL_SLS; i++) {
		bits |= 1U << p->rule->vl[i / VL_SLS][p->class_out][i % VL_SLS];
	}
	if (!p->rule && p->lanes > 1) {
		bits = (1U << p->lanes) - 1;
	}
	return bits;
}

unsigned qos_table_arb(const struct qos_port *p, unsigned low_cap, unsigned high_cap,
                       uint8_t ret_arb[4][64])
{
	struct qos_weights low = folded(p, &p->setup->low, low_cap);
	struct qos_weights high = folded(p, &p->setup->high, high_cap);
	unsigned missing = 0;

	for (unsigned used = vls_used(p), i = 0; used >> i; i++) {
		uint8_t vl = fold(p, (uint8_t)i);

		missing += (used >> i & 1) && !weighs(&low, vl) && !weighs(&high, vl) &&
		           !add_weight(&low, low_cap, vl) &&
		           !add_weight(&high, high_cap, vl);
	}
	put_pairs(&low, ret_arb);
	put_pairs(&high, ret_arb + 2);
	return missing;
}

/* --- weights and a rule ------------------------------------------------------------ */

void qos_table_even(struct qos_setup *q, unsigned vls)
{
	q->high.n = 0;
	q->low.n = (uint8_t)vls;
	for (unsigned vl = 0; vl < vls; vl++) {
		q->low.entry[vl].vl = (uint8_t)vl;
		q->low.entry[vl].weight = EVEN_WEIGHT;
	}
}

static unsigned weight_of(const struct qos_weights *w, uint8_t vl)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < w->n; i++) {
		sum += w->entry[i].vl == vl ? w->entry[i].weight : 0;
	}
	return sum;
}

bool qos_table_uneven(const struct qos_setup *q, const struct vl_rule *r)
{
	for (unsigned i = 0; i < VL_CLASSES * VL_CLASSES * VL_SLS; i++) {
		unsigned sl = i % VL_SLS, out = i / VL_SLS % VL_CLASSES;
		uint8_t vl = r->vl[i / VL_SLS / VL_CLASSES][out][sl];
		unsigned level = (sl >> r->level_shift) % r->levels;
		uint8_t first = r->vl[0][BETWEEN][vl_rule_sl(r, 0, level)];

		if (out && (weight_of(&q->low, vl) != weight_of(&q->low, first) ||
		            weight_of(&q->high, vl) != weight_of(&q->high, first))) {
			return true;
		}
	}
	return false;
}
