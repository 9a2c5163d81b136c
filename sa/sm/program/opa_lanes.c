/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Arbitration: a share of 5 per cent is a weight of 127 units of 64 bytes, so 100 per cent fill ten pairs
 * and a port holds 16. What is left of a VL's weight is raised to one packet of the largest size, because a VL
 * with less may not send one at a time. Pairs of the VLs take turns. VLs of high priority have one
 * packet each in the other table.
 *
 * Buffers, in the receiver's allocation units of 8 << BufferAlloc bytes: each VL in use has space of its own for
 * one packet and for what is under way on the wire, so that it can send at full speed while others are blocked. VL 15
 * has two packets. The rest is shared. If the space does not suffice, VLs with the smallest share of the
 * bandwidth lose first the part for the wire, then all of it, and live on what is shared.
 *
 * Source: the public headers and the results of opa-fm for Omni-Path; for what is on the wire sa/mad/opa_fields.h.
 */
#include "sa/sm/program/opa_lanes.h"

#include <string.h>

#include "conf/virtual_fabric.h"
#include "sa/mad/fields.h"

enum {
	LOW,
	HIGH,
	PER_CENT_OF_SHARE = 5,
	ALL_SHARES = 100 / PER_CENT_OF_SHARE,
	SHARE_WEIGHT = 127,
	PAIR_MOST = 254,
	WEIGHT_BYTES = 64,
	PACKET_HEAD = 128, /* bytes of a packet beside its payload */
	MANAGEMENT_BYTES = 2 * (2048 + PACKET_HEAD),
	LTP_BYTES = 128,
	WIRE_BYTES = 4224, /* that a receiver needs beside the replay buffer's depth */
	WIRE_BYTES_CRC_14 = 2304,
	CRC_14 = 1
};

static bool has(uint32_t bits, unsigned i)
{
	return bits >> i & 1;
}

static unsigned count(uint32_t bits)
{
	return (unsigned)__builtin_popcount(bits);
}

/* --- SLs and SCs -------------------------------------------------------------------------- */

static void use(struct opa_lanes *l, unsigned sl, unsigned sc)
{
	l->sls |= UINT32_C(1) << sl;
	l->scs |= UINT32_C(1) << sc;
	l->sc_to_sl[sc] = (uint8_t)sl;
}

/* SLs of one priority get the VLs \a first to \a end - 1, several of them one VL if there are not enough. SLs
 * for which no SC is left share that of the first one on their VL. */
static void spread(struct opa_lanes *l, uint32_t sls, unsigned first, unsigned end,
                   bool high)
{
	unsigned vls = end - first, n = count(sls), done = 0;
	uint8_t next[OPA_LANES] = { 0 }; /* by VL */

	for (unsigned sl = 0; sl < OPA_LANES; sl++) {
		if (!has(sls, sl)) {
			continue;
		}
		unsigned vl = first + (n <= vls ? done : done * vls / n);
		unsigned sc = vl + next[vl];

		if (sc == OPA_VL_MANAGEMENT) {
			sc += l->most_vls;
		}
		if (sc < OPA_LANES) {
			use(l, sl, sc);
			next[vl] = (uint8_t)(sc - vl + l->most_vls);
		} else {
			sc = vl;
		}
		l->sls |= UINT32_C(1) << sl;
		l->sl_to_sc[sl] = (uint8_t)sc;
		l->high |= high ? UINT32_C(1) << sc : 0;
		done++;
	}
}

/* One lane: SLs of both priorities. */
static void spread_all(struct opa_lanes *l, uint32_t low, uint32_t high)
{
	unsigned n_low = count(low);

	if (high == 0 || low == 0) {
		spread(l, low | high, 0, l->most_vls, low == 0);
		return;
	}
	n_low = n_low < l->most_vls ? n_low : l->most_vls - 1U;
	spread(l, low, 0, n_low, false);
	spread(l, high & ~low, n_low, l->most_vls, true);
}

/* --- virtual fabrics ---------------------------------------------------------------------- */

/* Has an earlier one the same SL? Then it shares the bandwidth. */
static bool shares_sl(const struct virtual_fabrics *f, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++) {
		if (f->all[k].enable && f->all[k].sl == f->all[i].sl) {
			return true;
		}
	}
	return false;
}

/* Per cent to steps; nobody has none. */
static uint8_t steps(unsigned per_cent)
{
	unsigned n = (per_cent + PER_CENT_OF_SHARE / 2) / PER_CENT_OF_SHARE;

	return (uint8_t)(n != 0 ? n : 1);
}

static void set_shares(struct opa_lanes *l, const struct virtual_fabrics *f)
{
	unsigned given = 0, others = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct virtual_fabric *vf = &f->all[i];
		unsigned bandwidth = vf->qos ? vf->service.bandwidth : 0;

		if (vf->enable && !shares_sl(f, i) &&
		    !has(l->high, l->sl_to_sc[vf->sl])) {
			given += bandwidth;
			others += bandwidth == 0;
		}
	}
	for (uint32_t i = 0; i < f->n; i++) {
		const struct virtual_fabric *vf = &f->all[i];
		unsigned bandwidth = vf->qos ? vf->service.bandwidth : 0;

		if (!vf->enable || shares_sl(f, i) || has(l->high, l->sl_to_sc[vf->sl])) {
			continue;
		}
		bandwidth = bandwidth != 0 ? bandwidth
		                           : (given < 100 ? 100 - given : 0) / others;
		l->share[l->sl_to_sc[vf->sl]] = steps(bandwidth);
	}
}

/* The largest limit of those who share an SC; 0 is none. */
static void set_limits(struct opa_lanes *l, const struct virtual_fabrics *f)
{
	uint32_t seen = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct virtual_fabric *vf = &f->all[i];
		unsigned sc = l->sl_to_sc[vf->sl];

		if (!vf->enable) {
			continue;
		}
		if (!has(seen, sc)) {
			l->mtu[sc] = (uint8_t)vf->max_mtu;
		} else if (vf->max_mtu == 0 ||
		           (l->mtu[sc] != 0 && vf->max_mtu > l->mtu[sc])) {
			l->mtu[sc] = (uint8_t)vf->max_mtu;
		}
		if (vf->qos && vf->service.hoq_life > l->hoq_life[sc]) {
			l->hoq_life[sc] = (int8_t)vf->service.hoq_life;
		}
		seen |= UINT32_C(1) << sc;
	}
}

static void init_fabrics(struct opa_lanes *l, const struct virtual_fabrics *f)
{
	uint32_t low = 0, high = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct virtual_fabric *vf = &f->all[i];
		uint32_t sls = UINT32_C(1) << vf->sl | UINT32_C(1) << vf->multicast_sl;

		if (vf->enable) {
			*(vf->qos && vf->service.high_priority ? &high : &low) |= sls;
		}
	}
	spread_all(l, low, high & ~low);
	set_shares(l, f);
	set_limits(l, f);
}

/* --- a rule ------------------------------------------------------------------------------- */

/* The different VLs that an SL takes out of a class of ports. */
struct choices {
	uint8_t vl[VL_CLASSES];
	unsigned n;
};

static struct choices choices_of(const struct vl_rule *r, unsigned sl, unsigned out)
{
	struct choices c = { .n = 0 };

	for (unsigned in = 0; in < VL_CLASSES; in++) {
		unsigned i = 0;

		while (i < c.n && c.vl[i] != r->vl[in][out][sl]) {
			i++;
		}
		if (i == c.n) {
			c.vl[c.n++] = r->vl[in][out][sl];
		}
	}
	return c;
}

/* A free SC, \a wish if it is free. OPA_LANES: there is none. */
static unsigned free_sc(const struct opa_lanes *l, unsigned wish)
{
	unsigned sc = 0;

	if (wish != OPA_VL_MANAGEMENT && !has(l->scs, wish)) {
		return wish;
	}
	while (sc < OPA_LANES && (has(l->scs, sc) || sc == OPA_VL_MANAGEMENT)) {
		sc++;
	}
	return sc;
}

/* The SCs of an SL: number \a i takes the VL \a choices[out].vl[i]. */
static bool add_scs(struct opa_lanes *l, const struct vl_rule *r, unsigned sl)
{
	struct choices of[VL_CLASSES];
	uint8_t sc[VL_CLASSES];
	unsigned n = 0;

	for (unsigned out = 0; out < VL_CLASSES; out++) {
		of[out] = choices_of(r, sl, out);
		n = of[out].n > n ? of[out].n : n;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned found = free_sc(l, sl + 16 * i);

		if (found == OPA_LANES) {
			return false;
		}
		sc[i] = (uint8_t)found;
		use(l, sl, found);
		for (unsigned out = 0; out < VL_CLASSES; out++) {
			l->vl[out][found] = of[out].vl[i < of[out].n ? i : 0];
		}
	}
	for (unsigned in = 0; in < VL_CLASSES; in++) {
		for (unsigned out = 0; out < VL_CLASSES; out++) {
			unsigned k = 0;

			while (of[out].vl[k] != r->vl[in][out][sl]) {
				k++;
			}
			for (unsigned i = 0; i < n; i++) {
				l->sc_to_sc[in][out][sc[i]] = sc[k];
			}
		}
	}
	l->sl_to_sc[sl] = l->sc_to_sc[0][0][sc[0]];
	return true;
}

/* Levels of which an SL is in use, as bits. */
static uint32_t levels_of(const struct vl_rule *r, uint32_t sls)
{
	uint32_t levels = 1;

	for (unsigned sl = 0; sl < VL_SLS; sl++) {
		levels |= has(sls, sl) ? UINT32_C(1) << (sl >> r->level_shift) % r->levels
		                       : 0;
	}
	return levels;
}

static bool init_rule(struct opa_lanes *l, const struct vl_rule *r, uint32_t sls)
{
	uint32_t levels = levels_of(r, sls);

	l->ruled = true;
	memset(l->vl, OPA_VL_MANAGEMENT, sizeof(l->vl));
	for (unsigned i = 0; i < VL_CLASSES * VL_CLASSES * OPA_LANES; i++) {
		l->sc_to_sc[i / OPA_LANES / VL_CLASSES][i / OPA_LANES % VL_CLASSES]
			   [i % OPA_LANES] = i % OPA_LANES;
	}
	for (unsigned sl = 0; sl < VL_SLS; sl++) {
		unsigned level = sl >> r->level_shift;

		if (level < r->levels && has(levels, level) && !add_scs(l, r, sl)) {
			return false;
		}
	}
	return true;
}

/* --- all ---------------------------------------------------------------------------------- */

static uint32_t sls_of(const struct virtual_fabrics *f)
{
	uint32_t sls = 0;

	for (uint32_t i = 0; f != NULL && i < f->n; i++) {
		sls |= f->all[i].enable ? UINT32_C(1) << f->all[i].sl : 0;
	}
	return sls;
}

bool opa_lanes_init(struct opa_lanes *l, const struct lanes *routing,
                    const struct virtual_fabrics *fabrics, uint32_t sls)
{
	unsigned vls = lanes_vls(routing);

	*l = (struct opa_lanes){ .most_vls = vls > OPA_VLS_USUAL ? (uint8_t)vls
		                                                 : OPA_VLS_USUAL };
	memset(l->sl_to_sc, OPA_MAP_NONE, sizeof(l->sl_to_sc));
	memset(l->sc_to_sl, OPA_MAP_NONE, sizeof(l->sc_to_sl));
	memset(l->hoq_life, -1, sizeof(l->hoq_life));
	if (routing->rule != NULL) {
		return init_rule(l, routing->rule, sls | sls_of(fabrics));
	}
	for (unsigned n = 0; routing->n > 1 && n < routing->n; n++) {
		use(l, n, n);
		l->sl_to_sc[n] = (uint8_t)n;
	}
	if (routing->n <= 1 && virtual_fabrics_active(fabrics) != 0) {
		init_fabrics(l, fabrics);
	} else if (routing->n <= 1) {
		spread_all(l, sls | 1, 0);
	}
	return true;
}

/* --- maps of a port ------------------------------------------------------------------------ */

static uint8_t vl_of(const struct opa_lanes *l, const struct opa_link *k, unsigned sc)
{
	unsigned vls = k->vls < l->most_vls ? k->vls : l->most_vls;

	if (sc == OPA_VL_MANAGEMENT) {
		return OPA_VL_MANAGEMENT;
	}
	if (!l->ruled) {
		return (uint8_t)(sc % vls);
	}
	return l->vl[k->class_out][sc] == OPA_VL_MANAGEMENT
	               ? (uint8_t)OPA_VL_MANAGEMENT
	               : (uint8_t)(l->vl[k->class_out][sc] % vls);
}

/* What the VLs of a link are for. */
static void fill_vls(const struct opa_lanes *l, struct opa_profile *f)
{
	memset(f->hoq_life, -1, sizeof(f->hoq_life));
	for (unsigned sc = 0; sc < OPA_LANES; sc++) {
		unsigned vl = vl_of(l, &f->link, sc), most = f->link.mtu;

		f->sc_to_vl[sc] = (uint8_t)vl;
		f->sc_to_vl_r[sc] =
			has(l->scs, sc) ? (uint8_t)vl : (uint8_t)OPA_VL_MANAGEMENT;
		if (!has(l->scs, sc) || vl == OPA_VL_MANAGEMENT) {
			continue;
		}
		most = l->mtu[sc] != 0 && l->mtu[sc] < most ? l->mtu[sc] : most;
		f->vls |= UINT32_C(1) << vl;
		f->mtu[vl] = (uint8_t)(most > f->mtu[vl] ? most : f->mtu[vl]);
		if (l->hoq_life[sc] > f->hoq_life[vl]) {
			f->hoq_life[vl] = l->hoq_life[sc];
		}
		f->share[vl] = has(l->high, sc) ? (uint8_t)ALL_SHARES
		                                : (uint8_t)(f->share[vl] + l->share[sc]);
	}
}

/* VLs of some SCs. */
static uint32_t vls_of(const struct opa_profile *f, uint32_t scs)
{
	uint32_t vls = 0;

	for (unsigned sc = 0; sc < OPA_LANES; sc++) {
		vls |= has(scs, sc) ? UINT32_C(1) << f->sc_to_vl[sc] : 0;
	}
	return vls & ~(UINT32_C(1) << OPA_VL_MANAGEMENT);
}

/* --- arbitration --------------------------------------------------------------------------- */

static unsigned packet_weight(const struct opa_profile *f, unsigned vl)
{
	unsigned w = opa_mtu_bytes(f->mtu[vl]) / WEIGHT_BYTES;

	return w != 0 ? w : 1;
}

/* Pairs of a VL: full ones, and one with what is left. */
struct weight {
	unsigned full, rest, sent;
};

static unsigned pairs_of(const struct weight *w)
{
	return w->full + (w->rest != 0);
}

/* Weights of the VLs of the low table. \return Pairs of all. */
static unsigned weigh(const struct opa_profile *f, uint32_t vls, unsigned unit,
                      struct weight w[OPA_LANES])
{
	unsigned n = 0;

	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		unsigned least = packet_weight(f, vl);
		unsigned weight = has(vls, vl) ? f->share[vl] * unit : 0;

		w[vl] = (struct weight){ .full = weight / PAIR_MOST,
			                 .rest = weight % PAIR_MOST };
		if (has(vls, vl) && (w[vl].rest != 0 || weight == 0 || count(vls) == 1)) {
			w[vl].full = count(vls) == 1 ? 0 : w[vl].full;
			w[vl].rest =
				w[vl].rest > least && count(vls) > 1 ? w[vl].rest : least;
		}
		n += pairs_of(&w[vl]);
	}
	return n;
}

/* The VL whose pairs are furthest behind their share of the table. */
static unsigned next_turn(const struct weight w[OPA_LANES])
{
	unsigned best = OPA_LANES;

	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		if (w[vl].sent < pairs_of(&w[vl]) &&
		    (best == OPA_LANES ||
		     (2 * w[vl].sent + 1) * pairs_of(&w[best]) <
		             (2 * w[best].sent + 1) * pairs_of(&w[vl]))) {
			best = vl;
		}
	}
	return best;
}

static unsigned put_low(const struct opa_profile *f, uint32_t vls, unsigned cap,
                        uint8_t *ret_bytes)
{
	struct weight w[OPA_LANES];
	unsigned unit = SHARE_WEIGHT, n = weigh(f, vls, unit, w);

	while (n > cap && unit > 1) {
		unit /= 2;
		n = weigh(f, vls, unit, w);
	}
	for (unsigned i = 0; i < n && i < cap; i++) {
		unsigned vl = next_turn(w);

		ret_bytes[2 * i] = (uint8_t)vl;
		ret_bytes[2 * i + 1] =
			(uint8_t)(w[vl].sent < w[vl].full ? PAIR_MOST : w[vl].rest);
		w[vl].sent++;
	}
	return n > cap ? n - cap : 0;
}

static unsigned put_high(const struct opa_profile *f, uint32_t vls, unsigned cap,
                         uint8_t *ret_bytes)
{
	unsigned n = 0;

	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		if (has(vls, vl) && n++ < cap) {
			ret_bytes[2 * (n - 1)] = (uint8_t)vl;
			ret_bytes[2 * (n - 1) + 1] = (uint8_t)packet_weight(f, vl);
		}
	}
	return n > cap ? n - cap : 0;
}

void opa_lanes_profile(const struct opa_lanes *l, const struct opa_link *k,
                       struct opa_profile *ret_profile)
{
	uint32_t low, high;

	*ret_profile = (struct opa_profile){ .link = *k };
	fill_vls(l, ret_profile);
	low = vls_of(ret_profile, l->scs & ~l->high);
	high = vls_of(ret_profile, l->high) & ~low;
	ret_profile->missing =
		(uint8_t)(put_low(ret_profile, low, k->low_cap, ret_profile->arb[LOW]) +
	                  put_high(ret_profile, high, k->high_cap,
	                           ret_profile->arb[HIGH]));
}

/* --- buffers -------------------------------------------------------------------------------- */

static unsigned least_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned in_units(unsigned bytes, unsigned unit)
{
	return (bytes + unit - 1) / unit;
}

/* Bytes that may be under way when a receiver has no room left. */
static unsigned wire_bytes(const uint8_t *own, const uint8_t *far)
{
	unsigned buffer = (unsigned)(field_get(own, OPA_PI_REPLAY_BUFFER_HIGH) << 8 |
	                             field_get(own, OPA_PI_REPLAY_BUFFER));
	unsigned a = (unsigned)(field_get(own, OPA_PI_REPLAY_WIRE_HIGH) << 8 |
	                        field_get(own, OPA_PI_REPLAY_WIRE));
	unsigned b = (unsigned)(field_get(far, OPA_PI_REPLAY_WIRE_HIGH) << 8 |
	                        field_get(far, OPA_PI_REPLAY_WIRE));

	return LTP_BYTES * least_of(a > b ? a : b, buffer) +
	       (field_get(own, OPA_PI_LTP_CRC_ACTIVE) == CRC_14 ? WIRE_BYTES_CRC_14
	                                                        : WIRE_BYTES);
}

/* What a VL has of its own. */
struct room {
	unsigned packet, wire, share;
	bool used;
};

static unsigned sum_of(const struct room r[OPA_LANES])
{
	unsigned sum = 0;

	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		sum += r[vl].used ? r[vl].packet + r[vl].wire : 0;
	}
	return sum;
}

/* Takes space from the VL with the smallest share of those that have some, not from VL 15. \return false: none
 * has any. */
static bool give_up_room(struct room r[OPA_LANES], bool wire)
{
	unsigned least = OPA_LANES;

	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		bool has_some = r[vl].used && (wire ? r[vl].wire : r[vl].packet) != 0;

		if (vl != OPA_VL_MANAGEMENT && has_some &&
		    (least == OPA_LANES || r[vl].share <= r[least].share)) {
			least = vl;
		}
	}
	if (least != OPA_LANES) {
		*(wire ? &r[least].wire : &r[least].packet) = 0;
	}
	return least != OPA_LANES;
}

/* A receiver that shares nothing: what is left goes to all data VLs alike. */
static void divide(struct room r[OPA_LANES], uint32_t vls, unsigned rest)
{
	unsigned n = count(vls), more = n != 0 ? rest / n : 0;

	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		r[vl].packet += has(vls, vl) ? more : 0;
	}
}

void opa_lanes_buffers(const struct opa_profile *f, const uint8_t *own,
                       const uint8_t *far, bool shared,
                       uint8_t ret_bytes[OPA_BYTES_BUFFER_CONTROL])
{
	unsigned unit = 8U << field_get(far, OPA_PI_BUFFER_ALLOC);
	unsigned space = (unsigned)field_get(far, OPA_PI_OVERALL_BUFFER_SPACE), rest;
	unsigned wire = in_units(wire_bytes(own, far), unit);
	struct room r[OPA_LANES] = { { .used = false } };

	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		unsigned bytes = vl == OPA_VL_MANAGEMENT
		                         ? (unsigned)MANAGEMENT_BYTES
		                         : opa_mtu_bytes(f->mtu[vl]) + PACKET_HEAD;

		r[vl] = (struct room){ .packet = in_units(bytes, unit),
			               .wire = wire,
			               .share = f->share[vl],
			               .used = has(f->vls, vl) ||
			                       vl == OPA_VL_MANAGEMENT };
	}
	while (sum_of(r) > space && give_up_room(r, true)) {
	}
	while (sum_of(r) > space && give_up_room(r, false)) {
	}
	rest = sum_of(r) < space ? space - sum_of(r) : 0;
	if (!shared) {
		divide(r, f->vls, rest);
		rest = 0;
	}
	memset(ret_bytes, 0, OPA_BYTES_BUFFER_CONTROL);
	field_set(ret_bytes, OPA_BC_SHARED_LIMIT, rest);
	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		if (r[vl].used) {
			field_set(ret_bytes, OPA_BC_DEDICATED(vl),
			          r[vl].packet + r[vl].wire);
			field_set(ret_bytes, OPA_BC_SHARED(vl), rest);
		}
	}
}
