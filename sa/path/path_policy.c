/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Which levels of the policy a query gets.
 *
 * Rules of a qos-policy.conf: the first that fits decides, the default level when none
 * does; what a rule names has to be asked for.
 *
 * Virtual fabrics: all that fit. With a ServiceID those that have it; when no virtual
 * fabric at all has it, those that take what no fabric has. The P_Key of a virtual fabric is
 * the one it is said to have where the tables of both ports hold it, else one that they
 * share: nothing programs these tables. Fabrics that come to one P_Key and one SL are one
 * level with the stricter of their limits.
 */
#include "sa/path/path_policy.h"

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "sa/path/path_walk.h"

enum { LAST = UINT32_MAX };

/* The request that the rules are compared with. */
struct asked {
	struct snap_reader *r;
	const struct policy *p;
	const struct path_query *q;
	const uint64_t *src, *dst; /* sets of the two ports */
	bool loopback;             /* a port may always talk to itself */
	bool service_is_known;     /* some virtual fabric has the ServiceID */
};

static int prepare(struct snap_reader *r, const struct policy *p,
                   const struct path_query *q, struct asked *ret_asked)
{
	*ret_asked = (struct asked){ .r = r, .p = p, .q = q };
	ret_asked->src = policy_set(p, q->src.p_key_set);
	ret_asked->dst = policy_set(p, q->dst.p_key_set);
	ret_asked->loopback = q->src.base_lid == q->dst.base_lid;
	if (p->head.words != 0 && (ret_asked->src == NULL || ret_asked->dst == NULL)) {
		return E_MALFORMED;
	}
	for (uint32_t i = 0; p->head.kind == POLICY_EACH && q->has_service_id &&
	                     !ret_asked->service_is_known && i < p->head.n_rules;
	     i++) {
		ret_asked->service_is_known =
			policy_has(p, &p->rules[i].services, q->service_id);
	}
	return E_OK;
}

static uint64_t fits(const struct asked *a, uint32_t word)
{
	return a->loopback ? a->src[word] & a->dst[a->p->head.words + word]
	                   : policy_fits(a->p, a->src, a->dst, word);
}

/* --- qos-policy.conf -------------------------------------------------------------- */

/* Is what the query asks for in the list? An empty list fits every query. */
static bool in_list(const struct policy *p, const struct policy_list *l, bool has,
                  uint64_t number)
{
	return l->n == 0 || (has && policy_has(p, l, number));
}

static bool keys_fit(const struct asked *a, const struct policy_rule *rule)
{
	const struct path_query *q = a->q;

	return in_list(a->p, &rule->services, q->has_service_id, q->service_id) &&
	       in_list(a->p, &rule->qos_classes, q->has_qos_class, q->qos_class) &&
	       in_list(a->p, &rule->p_keys, q->has_p_key, q->p_key & P_KEY_BASE);
}

static uint32_t first_level(const struct asked *a)
{
	for (uint32_t w = 0; w < a->p->head.words; w++) {
		for (uint64_t m = fits(a, w); m != 0; m &= m - 1) {
			const struct policy_rule *rule =
				&a->p->rules[w * 64 + (unsigned)__builtin_ctzll(m)];
			if (keys_fit(a, rule)) {
				return rule->level;
			}
		}
	}
	return a->p->head.default_level;
}

/* The P_Key that is asked for has to be one of the level's. Raw packets have none. */
static int listed_p_key(const struct asked *a, const struct policy_level *l,
                        uint16_t *ret_p_key)
{
	const struct path_query *q = a->q;
	bool has = q->has_p_key && !q->raw_traffic;
	uint16_t want = has ? q->p_key & P_KEY_BASE : 0;

	if (has && (want == 0 || (l->p_keys.n != 0 &&
	                                   !policy_has(a->p, &l->p_keys, want)))) {
		return E_PARTITION;
	}
	if (has || q->raw_traffic || l->p_keys.n == 0) {
		return snap_common_p_key(a->r, &q->src, &q->dst, want, ret_p_key);
	}
	return snap_listed_p_key(a->r, &q->src, &q->dst, a->p, &l->p_keys, ret_p_key);
}

static struct path_level level_of(const struct policy_level *l)
{
	return (struct path_level){
		.sl = l->sl,
		.qos = l->qos,
		.mtu = l->mtu,
		.rate = l->rate,
		.life_time = l->life_time,
		.life_time_mult = l->life_time_mult,
	};
}

static int only_level(const struct asked *a, struct path_level *ret_level)
{
	const struct policy_level *l = &a->p->levels[first_level(a)];
	uint16_t p_key;

	if (l->sl != POLICY_ANY && l->qos == POLICY_NO_QOS) {
		return E_POLICY;
	}
	int ret = listed_p_key(a, l, &p_key);
	if (ret == E_OK) {
		*ret_level = level_of(l);
		ret_level->p_key = p_key;
	}
	return ret;
}

/* --- virtual fabrics -------------------------------------------------------------- */

/* Its P_Key for this pair. */
static int fabric_p_key(const struct asked *a, const struct policy_level *l,
                        uint16_t *ret_p_key)
{
	int ret = snap_common_p_key(a->r, &a->q->src, &a->q->dst, l->p_key, ret_p_key);

	return ret == E_PARTITION
	               ? snap_common_p_key(a->r, &a->q->src, &a->q->dst, 0, ret_p_key)
	               : ret;
}

static bool service_fits(const struct asked *a, const struct policy_rule *rule)
{
	if (!a->q->has_service_id) {
		return true;
	}
	return a->service_is_known
	               ? policy_has(a->p, &rule->services, a->q->service_id)
	               : rule->unmatched != 0;
}

/* \retval E_NOTFOUND  It is not for this query. */
static int fabric_level(const struct asked *a, uint32_t i, struct path_level *ret_level)
{
	const struct policy_rule *rule = &a->p->rules[i];
	const struct policy_level *l = &a->p->levels[rule->level];
	uint16_t p_key;

	if (!(fits(a, i / 64) >> i % 64 & 1) || l->qos == POLICY_NO_QOS ||
	    !service_fits(a, rule)) {
		return E_NOTFOUND;
	}
	int ret = fabric_p_key(a, l, &p_key);
	if (ret != E_OK) {
		return ret == E_PARTITION ? E_NOTFOUND : ret;
	}
	if (a->q->has_p_key && !a->q->raw_traffic && ((p_key ^ a->q->p_key) & P_KEY_BASE) != 0) {
		return E_NOTFOUND;
	}
	*ret_level = level_of(l);
	ret_level->p_key = p_key;
	return E_OK;
}

static bool is_same(const struct path_level *a, const struct path_level *b)
{
	return a->p_key == b->p_key && a->qos == b->qos;
}

/* Is the level of rule i that of an earlier one? */
static bool is_repeated(const struct asked *a, uint32_t i, const struct path_level *level)
{
	struct path_level before;

	for (uint32_t k = 0; k < i; k++) {
		if (fabric_level(a, k, &before) == E_OK && is_same(&before, level)) {
			return true;
		}
	}
	return false;
}

static void tighten_level(struct path_level *to, const struct path_level *from)
{
	if (to->mtu == 0 || (from->mtu != 0 && from->mtu < to->mtu)) {
		to->mtu = from->mtu;
	}
	to->rate = path_slower(to->rate, from->rate);
	if (from->life_time_mult > to->life_time_mult) {
		to->life_time_mult = from->life_time_mult;
	}
}

static int each_level(const struct asked *a, uint32_t *at, struct path_level *ret_level)
{
	struct path_level level, more;
	int ret = E_NOTFOUND;

	for (; ret == E_NOTFOUND && *at < a->p->head.n_rules; ++*at) {
		ret = fabric_level(a, *at, &level);
		if (ret == E_OK && is_repeated(a, *at, &level)) {
			ret = E_NOTFOUND;
		}
	}
	for (uint32_t i = *at; ret == E_OK && i < a->p->head.n_rules; i++) {
		if (fabric_level(a, i, &more) == E_OK && is_same(&more, &level)) {
			tighten_level(&level, &more);
		}
	}
	if (ret == E_OK) {
		*ret_level = level;
	}
	return ret;
}

int path_policy_next(struct snap_reader *r, const struct policy *p,
                     const struct path_query *q, uint32_t *at,
                     struct path_level *ret_level)
{
	bool is_first = *at == 0;
	struct asked a;
	int ret = *at == LAST ? E_NOTFOUND : prepare(r, p, q, &a);

	if (ret != E_OK) {
		return ret;
	}
	if (p->head.kind == POLICY_FIRST) {
		ret = only_level(&a, ret_level);
		*at = LAST;
		return ret;
	}
	ret = each_level(&a, at, ret_level);
	return ret == E_NOTFOUND && is_first ? E_POLICY : ret;
}
