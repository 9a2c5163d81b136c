/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Joining and leaving multicast groups (IBA vol. 1, 15.2.5.17.2).
 *
 * A Set of a new MGID creates the group. Values that the request does not have are those of the
 * port. A Set of an existing MGID must not contradict the values of the group. A refused request
 * changes nothing.
 *
 * A membership belongs to its port. Others that know the SM_Key may join on its behalf
 * (ProxyJoin); with sa_own_records off, every port of the group's partition may, and may change
 * such a membership.
 *
 * A port that is a member of sa_groups_per_port groups creates no more, and a partition has no
 * more than sa_groups_per_partition, so that one host cannot take all MLIDs.
 *
 * A group with an MGID of IPoIB (RFC 4391) is created only if the broadcast group of its
 * partition exists, and with its values.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/wire.h"
#include "sa/record/mcast_join.h"
#include "sa/record/record.h"
#include "sa/store/alias.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"

enum {
	MTU_MAX = 5,
	OPA_MTU_MAX = 7, /* 10240 */
	CODE_MAX = 63,   /* of six bits */
	LIFE_MAX = 63,
	SCOPE_LINK_LOCAL = 2,
	SIGNATURE_SA = 0xa01b, /* bytes 2 and 3: MGIDs that the SA assigns */
	SIGNATURE_IPV4 = 0x401b,
	SIGNATURE_IPV6 = 0x601b,
	LINK_LOCAL_PREFIX_TOP = 0xfe80
};

struct join {
	struct snap_reader *r;
	const struct sa_query *q;
	struct sa_out *out;
	struct snap_end port;         /* the port of PortGID */
	uint8_t port_gid[MGID_BYTES]; /* with the subnet's prefix */
	bool proxy;                   /* the requester is another port */
	struct mcast_group_row group;
	struct mcast_member_row member; /* join_state 0: none yet */
};

static int refuse_join(const struct join *j)
{
	return sa_refuse(j->out, UMAD_SA_STATUS_REQ_INVALID);
}

/* ---- the request ---- */

static int read_port(struct join *j)
{
	const uint8_t *gid = j->q->record + j->q->attr->fields[MC_PORT_GID].bit / 8;
	uint64_t prefix = field_get(gid, 0, 64), own = snap_meta(j->r)->subnet_prefix;
	int ret;

	if (prefix != own && prefix != (uint64_t)LINK_LOCAL_PREFIX_TOP << 48) {
		return sa_refuse(j->out, UMAD_SA_STATUS_INVALID_GID);
	}
	memcpy(j->port_gid, gid, MGID_BYTES);
	field_set(j->port_gid, 0, 64, own);
	ret = alias_port(j->r, j->q->store, field_get(gid, 64, 64), &j->port);
	if (ret != E_OK) {
		return ret == E_NOTFOUND ? refuse_join(j) : ret;
	}
	j->proxy = j->q->requester->port_guid != j->port.port_guid;
	if (j->port.is_vport) { /* trees lead to ports; the adapter finds the virtual port */
		struct snap_port port;

		ret = snap_port(j->r, j->port.node_guid, j->port.port, &port);
		if (ret != E_OK) {
			return ret == E_NOTFOUND ? refuse_join(j) : ret;
		}
		j->proxy = j->q->requester->node_guid != j->port.node_guid ||
		           j->q->requester->port != j->port.port;
		j->port.port_guid = port.guid;
	}
	return E_OK;
}

/* Codes go further for a port that has more than InfiniBand's. */
static unsigned mtu_most(const struct snap_end *e)
{
	return e != NULL && e->mtu > MTU_MAX ? OPA_MTU_MAX : MTU_MAX;
}

static bool check_values(const struct sa_query *q)
{
	uint64_t mtu = sa_component(q, MC_MTU);

	if (sa_asked(q, MC_MTU) && sa_asked(q, MC_MTU_SELECTOR) &&
	    sa_component(q, MC_MTU_SELECTOR) != MC_LARGEST &&
	    (mtu == 0 || mtu > mtu_most(q->requester))) {
		return false;
	}
	return !sa_asked(q, MC_RATE) || !sa_asked(q, MC_RATE_SELECTOR) ||
	       sa_component(q, MC_RATE_SELECTOR) == MC_LARGEST ||
	       rate_speed((uint8_t)sa_component(q, MC_RATE)) != 0;
}

static bool asked_all(const struct sa_query *q, uint64_t components)
{
	return (q->comp_mask & components) == components;
}

#define BIT(component) (UINT64_C(1) << (component))

static int read_request(struct join *j)
{
	const struct sa_query *q = j->q;

	if (!asked_all(q, BIT(MC_MGID) | BIT(MC_PORT_GID) | BIT(MC_JOIN_STATE))) {
		return sa_refuse(j->out, UMAD_SA_STATUS_INSUF_COMPS);
	}
	if (!check_values(q) || q->requester->port_guid == 0) {
		return refuse_join(j);
	}
	return read_port(j);
}

/* ---- values of a new group ---- */

static unsigned selector_of(const struct join *j, unsigned component)
{
	bool asked = sa_asked(j->q, component - 1) && sa_asked(j->q, component);

	return asked                       ? (unsigned)sa_component(j->q, component - 1)
	       : sa_asked(j->q, component) ? MC_EXACTLY
	                                   : MC_LARGEST;
}

/* The value for a selector, a requested value and the port's own value; 0: none. */
static uint64_t choose_value(unsigned selector, uint64_t asked, uint64_t own)
{
	switch (selector) {
	case MC_GREATER: return asked < own ? own : 0;
	case MC_LESS: return asked > own ? own : asked ? asked - 1 : 0;
	case MC_EXACTLY: return asked;
	default: return own;
	}
}

/* The same for rates, whose codes are not in the order of speed. */
static uint8_t choose_rate(unsigned selector, uint8_t asked, uint8_t own)
{
	uint8_t best = 0;

	if (selector != MC_LESS || rate_speed(asked) > rate_speed(own)) {
		return selector == MC_EXACTLY ? asked
		       : selector == MC_GREATER && rate_speed(asked) >= rate_speed(own)
		               ? 0
		               : own;
	}
	for (unsigned code = 1; code <= CODE_MAX; code++) {
		uint32_t speed = rate_speed((uint8_t)code);

		if (speed < rate_speed(asked) && speed > rate_speed(best)) {
			best = (uint8_t)code;
		}
	}
	return best;
}

static bool choose_values(struct join *j)
{
	uint64_t mtu = choose_value(selector_of(j, MC_MTU), sa_component(j->q, MC_MTU),
	                            j->port.mtu);
	uint8_t rate = choose_rate(selector_of(j, MC_RATE),
	                           (uint8_t)sa_component(j->q, MC_RATE), j->port.rate);
	uint64_t asked = sa_component(j->q, MC_LIFE),
		 own = snap_meta(j->r)->packet_life_time;
	unsigned selector = selector_of(j, MC_LIFE);
	uint64_t life = selector == MC_GREATER && asked >= own
	                        ? asked + 1
	                        : choose_value(selector, asked, own);
	bool below_0 = sa_asked(j->q, MC_LIFE) && selector == MC_LESS && asked == 0;
	uint8_t *record = j->group.record;

	mcast_put(record, MC_MTU_SELECTOR, MC_EXACTLY);
	mcast_put(record, MC_MTU, mtu);
	mcast_put(record, MC_RATE_SELECTOR, MC_EXACTLY);
	mcast_put(record, MC_RATE, rate);
	mcast_put(record, MC_LIFE_SELECTOR, MC_EXACTLY);
	mcast_put(record, MC_LIFE, life);
	return mtu >= 1 && mtu <= mtu_most(&j->port) && rate_speed(rate) != 0 &&
	       life <= LIFE_MAX && !below_0;
}

/* ---- the MGID of a new group ---- */

static bool is_zero(const uint8_t *mgid)
{
	static const uint8_t none[MGID_BYTES];

	return memcmp(mgid, none, MGID_BYTES) == 0;
}

/* The broadcast group is ff1s:401b:<P_Key>::ffff:ffff. */
static void broadcast_of(const uint8_t *mgid, uint8_t ret_mgid[MGID_BYTES])
{
	memset(ret_mgid, 0, MGID_BYTES);
	memcpy(ret_mgid, mgid, 6);
	ret_mgid[2] = SIGNATURE_IPV4 >> 8;
	ret_mgid[3] = SIGNATURE_IPV4 & 0xff;
	memset(ret_mgid + 12, 0xff, 4);
}

static bool is_broadcast(const uint8_t *mgid)
{
	uint8_t broadcast[MGID_BYTES];

	broadcast_of(mgid, broadcast);
	return memcmp(mgid, broadcast, MGID_BYTES) == 0;
}

static bool fits_broadcast_group(const struct join *j)
{
	static const unsigned same[] = { MC_Q_KEY, MC_P_KEY, MC_MTU, MC_RATE, MC_SL };
	const uint8_t *record = j->group.record;
	uint8_t broadcast[MGID_BYTES];
	struct mcast_group_row g;

	broadcast_of(record, broadcast);
	if (is_broadcast(record)) {
		return true;
	}
	if (!mcast_group_find(j->q->store, broadcast, &g)) {
		return false;
	}
	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		if (mcast_get(record, same[i]) != mcast_get(g.record, same[i])) {
			return false;
		}
	}
	return true;
}

static bool check_mgid(const struct join *j)
{
	const uint8_t *mgid = j->group.record;
	unsigned scope = mgid[1] & 0xf;

	if (mgid[0] != 0xff ||
	    (mgid[1] & 0xe0) != 0) { /* of the flags only T is defined */
		return false;
	}
	switch (mgid[2] << 8 | mgid[3]) { /* the signature */
	case SIGNATURE_IPV4:
	case SIGNATURE_IPV6: return fits_broadcast_group(j);
	case SIGNATURE_SA: return scope != SCOPE_LINK_LOCAL;
	default: return true;
	}
}

/* Assigns ff1s:a01b:<subnet prefix>:<number>. The MLID is the first number to try, because it is
 * free. */
static void assign_mgid(struct join *j, uint32_t mlid)
{
	uint8_t *mgid = j->group.record;
	struct mcast_group_row other;

	mgid[0] = 0xff;
	mgid[1] = (uint8_t)(0x10 | mcast_get(mgid, MC_SCOPE));
	mgid[2] = SIGNATURE_SA >> 8;
	mgid[3] = SIGNATURE_SA & 0xff;
	field_set(mgid, 32, 64, snap_meta(j->r)->subnet_prefix);
	do {
		field_set(mgid, 96, 32, mlid++);
	} while (mcast_group_find(j->q->store, mgid, &other));
}

/* ---- create ---- */

static void copy_values(struct join *j)
{
	static const unsigned copied[] = { MC_Q_KEY,      MC_T_CLASS,   MC_P_KEY, MC_SL,
		                           MC_FLOW_LABEL, MC_HOP_LIMIT, MC_SCOPE };
	uint8_t *record = j->group.record;

	memcpy(record, j->q->record, MGID_BYTES);
	mcast_put(record, MC_SCOPE, is_zero(record) ? SCOPE_LINK_LOCAL : record[1] & 0xf);
	for (unsigned i = 0; i < sizeof(copied) / sizeof(copied[0]); i++) {
		if (sa_asked(j->q, copied[i])) {
			mcast_put(record, copied[i], sa_component(j->q, copied[i]));
		}
	}
}

/* Whether the port or the partition has its share of groups. */
static bool has_its_share(const struct join *j)
{
	const struct sa_query *q = j->q;

	if (q->trusted || is_broadcast(j->group.record)) {
		return false;
	}
	return (q->groups_of_port != 0 &&
	        store_owner_has(q->store, RECORDS_MEMBERS, &j->port.port_guid,
	                        q->groups_of_port)) ||
	       (q->groups_of_partition != 0 &&
	        mcast_partition_has(q->store,
	                            (uint16_t)mcast_get(j->group.record, MC_P_KEY),
	                            q->groups_of_partition));
}

static int create_group(struct join *j)
{
	uint32_t mlid;
	int ret;

	if ((sa_component(j->q, MC_JOIN_STATE) & MC_KEEPS_GROUP) == 0) {
		return refuse_join(j);
	}
	if (!asked_all(j->q, BIT(MC_Q_KEY) | BIT(MC_T_CLASS) | BIT(MC_P_KEY) |
	                             BIT(MC_FLOW_LABEL) | BIT(MC_SL))) {
		return sa_refuse(j->out, UMAD_SA_STATUS_INSUF_COMPS);
	}
	copy_values(j);
	if (!choose_values(j)) {
		return refuse_join(j);
	}
	if (has_its_share(j)) {
		return sa_refuse(j->out, UMAD_SA_STATUS_NO_RESOURCES);
	}
	ret = mcast_mlid_new(j->q->store, j->r, is_broadcast(j->group.record), &mlid);
	if (ret != E_OK) {
		return ret == E_FULL ? sa_refuse(j->out, UMAD_SA_STATUS_NO_RESOURCES)
		                     : ret;
	}
	mcast_put(j->group.record, MC_MLID, mlid);
	if (is_zero(j->group.record)) {
		assign_mgid(j, mlid);
	} else if (!check_mgid(j)) {
		return refuse_join(j);
	}
	return E_OK;
}

/* ---- join ---- */

/* Whether the components of the request are those of the group. */
static bool matches_group(const struct join *j)
{
	static const unsigned same[] = { MC_Q_KEY,      MC_T_CLASS,   MC_MLID, MC_SL,
		                         MC_FLOW_LABEL, MC_HOP_LIMIT, MC_SCOPE };
	const uint8_t *record = j->group.record;

	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		if (sa_asked(j->q, same[i]) &&
		    sa_component(j->q, same[i]) != mcast_get(record, same[i])) {
			return false;
		}
	}
	return !sa_asked(j->q, MC_P_KEY) ||
	       ((sa_component(j->q, MC_P_KEY) ^ mcast_get(record, MC_P_KEY)) &
	        P_KEY_BASE) == 0;
}

static bool fits_selectors(const struct join *j)
{
	const uint8_t *record = j->group.record;

	return mcast_fits_value(selector_of(j, MC_MTU), sa_component(j->q, MC_MTU),
	                        mcast_get(record, MC_MTU)) &&
	       mcast_fits_rate(selector_of(j, MC_RATE),
	                       (uint8_t)sa_component(j->q, MC_RATE),
	                       (uint8_t)mcast_get(record, MC_RATE)) &&
	       mcast_fits_value(selector_of(j, MC_LIFE), sa_component(j->q, MC_LIFE),
	                        mcast_get(record, MC_LIFE));
}

/* Whether partition, MTU and rate of the port are sufficient for the group. */
static bool port_fits(const struct join *j)
{
	const uint8_t *record = j->group.record;

	return j->port.mtu >= mcast_get(record, MC_MTU) &&
	       rate_speed(j->port.rate) >=
	               rate_speed((uint8_t)mcast_get(record, MC_RATE)) &&
	       mcast_has_p_key(j->r, &j->port, (uint16_t)mcast_get(record, MC_P_KEY));
}

/* Whether the requester may create or change the membership. */
static bool may_change(const struct join *j)
{
	if (!j->proxy) {
		return true;
	}
	if (j->q->own_records && !j->q->trusted &&
	    j->q->requester->node_guid != j->port.node_guid) {
		return false;
	}
	return (j->member.join_state == 0 || j->member.proxy_join) &&
	       mcast_has_p_key(j->r, j->q->requester,
	                       (uint16_t)mcast_get(j->group.record, MC_P_KEY));
}

static void offer(const struct join *j, unsigned join_state)
{
	uint8_t record[MC_RECORD_BYTES];

	memcpy(record, j->group.record, sizeof(record));
	memcpy(record + j->q->attr->fields[MC_PORT_GID].bit / 8, j->port_gid, MGID_BYTES);
	mcast_put(record, MC_JOIN_STATE, join_state);
	mcast_put(record, MC_PROXY_JOIN, j->member.proxy_join);
	sa_offer(j->out, record);
}

static void find_member(struct join *j)
{
	if (!mcast_member_find(j->q->store, j->group.record, j->port_gid, &j->member)) {
		j->member = (struct mcast_member_row){ .port_guid = j->port.port_guid,
			                               .proxy_join = j->proxy };
	}
}

int mcast_set(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	struct join j = { .r = r, .q = q, .out = out };
	bool found;
	int ret = read_request(&j);

	if (ret != E_OK) {
		return ret;
	}
	found = mcast_group_find(q->store, q->record, &j.group);
	if (!found) {
		ret = create_group(&j);
	} else if (!matches_group(&j) || !fits_selectors(&j)) {
		ret = refuse_join(&j);
	}
	if (ret != E_OK) {
		return ret;
	}
	find_member(&j);
	if (sa_component(q, MC_JOIN_STATE) == 0 || !port_fits(&j) || !may_change(&j)) {
		return refuse_join(&j);
	}
	j.member.join_state |= (uint8_t)sa_component(q, MC_JOIN_STATE);
	if (!found) { /* which is undone if the member cannot be added */
		ret = mcast_reserve_leave(q->store, j.group.record, j.port_gid);
		ret = ret == E_OK ? mcast_group_put(q->store, &j.group) : ret;
	}
	if (ret == E_OK) {
		ret = mcast_member_put(q->store, j.group.record, j.port_gid, &j.member);
	}
	if (ret != E_OK) {
		(void)mcast_group_drop_unused(q->store, j.group.record);
		return ret;
	}
	offer(&j, j.member.join_state);
	return E_OK;
}

/* ---- leave ---- */

int mcast_delete(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	struct join j = { .r = r, .q = q, .out = out };
	uint8_t bits = (uint8_t)sa_component(q, MC_JOIN_STATE);
	int ret = read_request(&j);

	if (ret != E_OK) {
		return ret;
	}
	if (!mcast_group_find(q->store, q->record, &j.group)) {
		return refuse_join(&j);
	}
	find_member(&j);
	if (bits == 0 || (bits & ~j.member.join_state) != 0 || !may_change(&j)) {
		return refuse_join(&j);
	}
	j.member.join_state &= (uint8_t)~bits;
	if (j.member.join_state != 0) {
		ret = mcast_reserve_leave(q->store, j.group.record, j.port_gid);
		ret = ret == E_OK ? mcast_member_put(q->store, j.group.record, j.port_gid,
		                                     &j.member)
		                  : ret;
		ret = ret == E_OK ? mcast_group_drop_unused(q->store, j.group.record)
		                  : ret;
	} else {
		ret = mcast_member_leave(q->store, j.group.record, j.port_gid);
	}
	if (ret == E_OK) {
		offer(&j, j.member.join_state);
	}
	return ret;
}
