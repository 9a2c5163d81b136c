/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The path query: which records answer "from this port to that one?".
 *
 * Everything comes from the pinned snapshot. The order of LID pairs is path_order()'s;
 * each pair costs one row of `paths` (source leaf, destination LID) for the route there
 * and one for the route back, without which a path is not reversible. A source whose switch has
 * no row (a switch without hosts asks from its port 0) walks the forwarding tables
 * instead.
 *
 * Invariants: a record handed out has a route in this epoch; its MTU and rate are never
 * above what every port on the route can do; its life time is never below the fabric's,
 * unless a policy says how long packets live.
 */
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "routing/graph/graph.h"
#include "sa/path/path_policy.h"
#include "sa/path/path_walk.h"

enum {
	MTU_CODE_MAX = 5,     /* 4096 */
	OPA_MTU_CODE_MAX = 7, /* 10240 */
	SIX_BITS_MAX = 63,    /* largest value of Mtu, Rate and PacketLifeTime */
};

static bool legal(const struct path_limit *l, bool known)
{
	return l->selector <= SEL_LARGEST && (known || l->selector == SEL_LARGEST);
}

/* Without a policy the P_Key is one that the ends share. Base 0 is no P_Key. */
static int choose_level(struct path_iter *it)
{
	const struct path_query *q = it->q;

	if (it->policy != NULL) {
		return path_policy_next(it->r, it->policy, q, &it->next_rule, &it->level);
	}
	it->level = (struct path_level){ .sl = POLICY_ANY, .life_time = POLICY_ANY };
	bool wanted = q->has_p_key && !q->raw_traffic;
	if (wanted && (q->p_key & P_KEY_BASE) == 0) {
		return E_PARTITION;
	}
	return snap_common_p_key(it->r, &q->src, &q->dst, wanted ? q->p_key : 0,
	                         &it->level.p_key);
}

/* Only ports of Omni-Path have more than 4096. */
static unsigned mtu_most(const struct path_query *q)
{
	return q->src.mtu > MTU_CODE_MAX ? OPA_MTU_CODE_MAX : MTU_CODE_MAX;
}

/* Do the selectors, values and mode exist? */
static bool exist(const struct path_query *q)
{
	const struct path_limit *life = &q->packet_life_time;

	return q->mode < PATH_SELECTION_COUNT &&
	       (!q->mtu.given ||
	        legal(&q->mtu, q->mtu.value >= 1 && q->mtu.value <= mtu_most(q))) &&
	       (!q->rate.given || legal(&q->rate, rate_speed(q->rate.value) != 0)) &&
	       (!life->given || legal(life, life->value <= SIX_BITS_MAX));
}

/* Next MTU code or rate code (by speed) below; 0: none. */
static uint8_t mtu_below(uint8_t mtu)
{
	return mtu - 1;
}

static uint8_t rate_below(uint8_t rate)
{
	uint32_t bound = rate_speed(rate);
	uint32_t best = 0;
	uint8_t code = 0;

	for (uint8_t c = 1; c <= SIX_BITS_MAX; c++) {
		uint32_t speed = rate_speed(c);
		if (speed < bound && speed > best) {
			best = speed;
			code = c;
		}
	}
	return code;
}

/*
 * What a path that can do \a own answers to a limit, 0: nothing that fits. \a order is
 * negative, zero or positive as own is below, equal to or above the limit's value.
 */
static uint8_t at_most(const struct path_limit *l, uint8_t own, int order,
                       uint8_t (*below)(uint8_t))
{
	switch ((enum path_selector)l->selector) {
	case SEL_GREATER: return order > 0 ? own : 0;
	case SEL_LESS: return order < 0 ? own : below(l->value);
	case SEL_EXACT: return order >= 0 ? l->value : 0;
	case SEL_LARGEST: return own;
	}
	return 0;
}

static bool limit_mtu(const struct path_limit *l, uint8_t *mtu)
{
	*mtu = at_most(l, *mtu, (int)*mtu - l->value, mtu_below);
	return *mtu != 0;
}

static bool limit_rate(const struct path_limit *l, uint8_t *rate)
{
	uint32_t own = rate_speed(*rate), asked = rate_speed(l->value);

	*rate = at_most(l, *rate, own < asked ? -1 : own > asked, rate_below);
	return *rate != 0;
}

/* The life time may be stated longer than it is. */
static bool limit_life(const struct path_limit *l, uint8_t *life)
{
	switch ((enum path_selector)l->selector) {
	case SEL_GREATER:
		if (*life <= l->value) {
			*life = l->value + 1;
		}
		return *life <= SIX_BITS_MAX;
	case SEL_LESS: return *life < l->value;
	case SEL_EXACT:
		if (*life > l->value) {
			return false;
		}
		*life = l->value;
		return true;
	case SEL_LARGEST: return true;
	}
	return false;
}

static int fixed_offset(const struct snap_end *e, uint32_t lid, int *ret_offset)
{
	if (lid == 0) {
		*ret_offset = -1;
		return E_OK;
	}
	if (lid < e->base_lid || lid - e->base_lid >= 1u << e->lmc) {
		return E_RANGE;
	}
	*ret_offset = (int)(lid - e->base_lid);
	return E_OK;
}

int path_iter_init(struct path_iter *it, struct snap_reader *r,
                   const struct path_query *q)
{
	const struct snap_meta *meta = snap_meta(r);
	const struct snap_end *src = &q->src, *dst = &q->dst;
	int fixed_src, fixed_dst;

	/* the rows of both directions lie far apart in memory */
	snap_prefetch_path(r, src, q->dlid ? q->dlid : dst->base_lid);
	snap_prefetch_path(r, dst, q->slid ? q->slid : src->base_lid);
	if (!exist(q)) {
		return E_RANGE;
	}
	if (src->base_lid == 0 || dst->base_lid == 0) {
		return E_NOPATH;
	}
	int ret = fixed_offset(src, q->slid, &fixed_src);
	if (ret == E_OK) {
		ret = fixed_offset(dst, q->dlid, &fixed_dst);
	}
	if (ret != E_OK) {
		return ret;
	}
	*it = (struct path_iter){
		.r = r, .q = q,
		.n = 1u << src->lmc, .m = 1u << dst->lmc,
		.fixed_src = fixed_src, .fixed_dst = fixed_dst,
		.loopback = src->base_lid == dst->base_lid,
		.same = {
			.sgid_prefix = meta->subnet_prefix,
			.sgid_guid = q->src_alias ? q->src_alias : src->port_guid,
			.dgid_prefix = meta->subnet_prefix,
			.dgid_guid = q->dst_alias ? q->dst_alias : dst->port_guid,
			.mtu_selector = SEL_EXACT, .rate_selector = SEL_EXACT,
			.packet_life_time_selector = SEL_EXACT,
			/* with a HopLimit hosts send a global route header, by which an adapter tells
			 * its virtual ports apart */
			.hop_limit = src->is_vport || dst->is_vport ? meta->vport_hop_limit : 0,
		},
	};
	ret = snap_policy(r, &it->policy);
	if (ret == E_OK) {
		ret = choose_level(it);
	}
	it->same.p_key = it->level.p_key;
	return ret;
}

/* Route from one end port to a LID of the other: its row, or where there is none a walk
 * along the forwarding tables. MTU and rate are those after the first cable. */
static int find_route(struct snap_reader *r, const struct snap_end *from,
                      const struct snap_end *to, uint32_t lid, struct path_route *route,
                      uint8_t *ret_lane)
{
	struct snap_path row;

	if (from->sw_guid == 0) {
		*route = (struct path_route){ .mtu = from->mtu, .rate = from->rate };
		*ret_lane = 0;
		return from->peer_port_guid == to->port_guid ? E_OK : E_NOPATH;
	}
	int ret = snap_path(r, from, lid, &row);
	if (ret == E_NOTFOUND) {
		*ret_lane = 0;
		ret = path_walk(r, from, to, lid, NULL, route);
		return ret == E_LOOP ? E_NOPATH : ret;
	}
	if (ret != E_OK) {
		return ret;
	}
	*route = (struct path_route){ .mtu = row.mtu, .rate = row.rate, .hops = row.hops };
	*ret_lane = row.lane;
	return row.mtu != 0 ? E_OK : E_NOPATH;
}

/* SL of the QoS level that has this SL on this lane. \retval E_NOTFOUND  None has. */
static int find_sl(const struct path_iter *it, uint8_t lane, uint8_t want,
                   uint8_t *ret_sl)
{
	uint8_t sl = 0;
	int ret = E_OK;

	for (unsigned level = 1; ret == E_OK && level < VL_SLS; level++) {
		ret = snap_sl(it->r, level, lane, &sl);
		if (ret == E_OK && sl == want) {
			*ret_sl = sl;
			return E_OK;
		}
	}
	return ret == E_OK ? E_NOTFOUND : ret;
}

/* What the SL of the path's partition stands for on this lane.
 * \retval E_NOTFOUND  The partition has none, or it has no effect. */
static int partition_sl(const struct path_iter *it, uint8_t lane, uint8_t *ret_sl)
{
	uint16_t p_key = it->level.p_key & P_KEY_BASE;
	struct snap_partition p;
	struct snap_vl_rule rule;
	int ret;

	if (!snap_meta(it->r)->qos || it->q->raw_traffic || p_key == 0) {
		return E_NOTFOUND;
	}
	ret = snap_partition_from(it->r, p_key, &p);
	if (ret != E_OK || p.p_key != p_key || p.is.sl == 0) {
		return ret != E_OK ? ret : E_NOTFOUND;
	}
	ret = snap_vl_rule(it->r, &rule);
	if (ret == E_OK && rule.levels != 0) {
		return snap_sl(it->r, (p.is.sl >> rule.level_shift) % rule.levels, lane,
		               ret_sl);
	}
	return ret == E_NOTFOUND ? find_sl(it, lane, p.is.sl, ret_sl) : ret;
}

/* SL of a lane: what was asked for or what the partition has, if a QoS level has it, else that
 * of QoS level 0; with a policy the one that its SL stands for on this lane. */
static int choose_sl(const struct path_iter *it, uint8_t lane, uint8_t *ret_sl)
{
	int ret;

	if (it->level.sl != POLICY_ANY) {
		return snap_sl(it->r, it->level.qos, lane, ret_sl);
	}
	ret = it->q->has_sl ? find_sl(it, lane, it->q->sl, ret_sl)
	                    : partition_sl(it, lane, ret_sl);
	return ret == E_NOTFOUND ? snap_sl(it->r, 0, lane, ret_sl) : ret;
}

/* Applies the limits of a policy to what the route can do. */
static void limit_record(const struct path_level *l, struct path_record *rec)
{
	unsigned life = rec->packet_life_time;

	if (l->mtu != 0 && l->mtu < rec->mtu) {
		rec->mtu = l->mtu;
	}
	rec->rate = path_slower(rec->rate, l->rate);
	if (l->life_time != POLICY_ANY) {
		life = l->life_time;
	}
	life += l->life_time_mult;
	rec->packet_life_time = life < SIX_BITS_MAX ? (uint8_t)life : SIX_BITS_MAX;
}

/* Fills what follows from the LIDs of rec: route, SL and Reversible. */
static int route_record(struct path_iter *it, struct path_record *rec)
{
	const struct snap_end *src = &it->q->src, *dst = &it->q->dst;
	const struct snap_meta *m = snap_meta(it->r);
	struct path_route route, back;
	uint8_t lane, unused;

	if (it->loopback) {
		rec->mtu = src->mtu;
		rec->rate = src->rate;
		if (it->policy != NULL) {
			limit_record(&it->level, rec);
		}
		rec->packet_life_time = 0;
		rec->reversible = 1;
		return choose_sl(it, 0, &rec->sl);
	}
	int ret = find_route(it->r, src, dst, rec->dlid, &route, &lane);
	if (ret != E_OK) {
		return ret;
	}
	/* a row knows the cables; a port 0 at either end has limits of its own */
	rec->mtu = src->mtu < dst->mtu ? src->mtu : dst->mtu;
	rec->mtu = route.mtu < rec->mtu ? route.mtu : rec->mtu;
	rec->rate = path_slower(path_slower(route.rate, src->rate), dst->rate);
	rec->hops = route.hops;
	/* the ends of one cable count as one switch */
	unsigned hop = route.hops == 0 ? 0 : route.hops - 1u;
	if (hop >= SNAP_HOPS_MAX) {
		hop = SNAP_HOPS_MAX - 1;
	}
	rec->packet_life_time = m->life_time_by_hops[0] ? m->life_time_by_hops[hop]
	                                                : m->packet_life_time;
	if (it->policy != NULL) {
		limit_record(&it->level, rec);
	}
	ret = find_route(it->r, dst, src, rec->slid, &back, &unused);
	if (ret != E_OK && ret != E_NOPATH) {
		return ret;
	}
	rec->reversible = ret == E_OK;
	return choose_sl(it, lane, &rec->sl);
}

static bool wanted(const struct path_query *q, struct path_record *rec)
{
	return (!q->has_sl || rec->sl == q->sl) && (!q->reversible || rec->reversible) &&
	       rec->mtu != 0 && (!q->mtu.given || limit_mtu(&q->mtu, &rec->mtu)) &&
	       (!q->rate.given || limit_rate(&q->rate, &rec->rate)) &&
	       (!q->packet_life_time.given ||
	        limit_life(&q->packet_life_time, &rec->packet_life_time));
}

/* The pairs once more, as the next level has them. */
static bool next_level(struct path_iter *it)
{
	int ret = it->policy != NULL ? choose_level(it) : E_NOTFOUND;

	if (ret != E_OK) {
		it->ret = ret == E_NOTFOUND ? E_OK : ret;
		return false;
	}
	it->k = 0;
	it->same.p_key = it->level.p_key;
	return true;
}

bool path_iter_next(struct path_iter *it, struct path_record *ret_record)
{
	const struct path_query *q = it->q;
	unsigned s, d;

	while (it->ret == E_OK && (q->numb_path == 0 || it->given < q->numb_path)) {
		if (!path_order(q->mode, it->n, it->m, it->fixed_src, it->fixed_dst,
		                it->k, &s, &d)) {
			if (!next_level(it)) {
				return false;
			}
			continue;
		}
		it->k++;
		*ret_record = it->same;
		ret_record->slid = q->src.base_lid + s;
		ret_record->dlid = q->dst.base_lid + d;
		int ret = route_record(it, ret_record);
		if (ret == E_NOPATH) {
			continue;
		}
		if (ret != E_OK) {
			it->ret = ret == E_NOTFOUND ? E_MALFORMED : ret;
			return false;
		}
		it->routed++;
		if (wanted(q, ret_record)) {
			it->given++;
			return true;
		}
	}
	return false;
}

int path_query_run(struct snap_reader *r, const struct path_query *q,
                   struct path_record *ret_record, size_t max, size_t *ret_n)
{
	struct path_iter it;
	size_t n = 0;

	int ret = path_iter_init(&it, r, q);
	if (ret != E_OK) {
		return ret;
	}
	while (n < max && path_iter_next(&it, &ret_record[n])) {
		n++;
	}
	if (it.ret != E_OK) {
		return it.ret;
	}
	if (it.routed == 0 && max > 0) {
		return E_NOPATH;
	}
	*ret_n = n;
	return E_OK;
}
