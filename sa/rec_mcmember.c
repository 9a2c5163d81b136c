/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * MCMemberRecord (IBA vol. 1, 15.2.5.17): who is a member of which multicast group. Set
 * and Delete are in mcast_join.c.
 *
 * A requester sees the groups of its partitions. Who is a member is told to those alone
 * who know the SM_Key, one record per member; others get one record per group, without
 * PortGID, JoinState and ProxyJoin, also when they asked for a certain member.
 */
#include <string.h>

#include "conf/err.h"
#include "db/reader.h"
#include "sa/mcast.h"
#include "sa/store.h"
#include "sa/wire.h"

/* clang-format off */
static const struct sa_field mcmember_fields[MC_COUNT] = {
	[MC_MGID] =          { "MGID",                     0, 128, SA_EQ },
	[MC_PORT_GID] =      { "PortGID",                128, 128, SA_INPUT },
	[MC_Q_KEY] =         { "Q_Key",                  256,  32, SA_EQ },
	[MC_MLID] =          { "MLID",                   288,  16, SA_EQ },
	[MC_MTU_SELECTOR] =  { "MTUSelector",            304,   2, SA_INPUT },
	[MC_MTU] =           { "MTU",                    306,   6, SA_INPUT },
	[MC_T_CLASS] =       { "TClass",                 312,   8, SA_EQ },
	[MC_P_KEY] =         { "P_Key",                  320,  16, SA_INPUT },
	[MC_RATE_SELECTOR] = { "RateSelector",           336,   2, SA_INPUT },
	[MC_RATE] =          { "Rate",                   338,   6, SA_INPUT },
	[MC_LIFE_SELECTOR] = { "PacketLifeTimeSelector", 344,   2, SA_INPUT },
	[MC_LIFE] =          { "PacketLifeTime",         346,   6, SA_INPUT },
	[MC_SL] =            { "SL",                     352,   4, SA_EQ },
	[MC_FLOW_LABEL] =    { "FlowLabel",              356,  20, SA_EQ },
	[MC_HOP_LIMIT] =     { "HopLimit",               376,   8, SA_EQ },
	[MC_SCOPE] =         { "Scope",                  384,   4, SA_EQ },
	[MC_JOIN_STATE] =    { "JoinState",              388,   4, SA_INPUT },
	[MC_PROXY_JOIN] =    { "ProxyJoin",              392,   1, SA_INPUT },
	[MC_RESERVED] =      { "Reserved",               393,  23, SA_RESERVED },
};
/* clang-format on */

static unsigned selector_of(const struct sa_query *q, unsigned component)
{
	return sa_asked(q, component) ? (unsigned)sa_given(q, component) : MC_EXACTLY;
}

static bool fits_selectors(const struct sa_query *q, const uint8_t *record)
{
	if (sa_asked(q, MC_MTU) &&
	    !mcast_fits_value(selector_of(q, MC_MTU_SELECTOR), sa_given(q, MC_MTU),
	                      mcast_get(record, MC_MTU))) {
		return false;
	}
	if (sa_asked(q, MC_LIFE) &&
	    !mcast_fits_value(selector_of(q, MC_LIFE_SELECTOR), sa_given(q, MC_LIFE),
	                      mcast_get(record, MC_LIFE))) {
		return false;
	}
	return !sa_asked(q, MC_RATE) ||
	       mcast_fits_rate(selector_of(q, MC_RATE_SELECTOR),
	                       (uint8_t)sa_given(q, MC_RATE),
	                       (uint8_t)mcast_get(record, MC_RATE));
}

static bool fits_group(struct snap_reader *r, const struct sa_query *q,
                       const uint8_t *record)
{
	uint16_t p_key = (uint16_t)mcast_get(record, MC_P_KEY);

	if (sa_asked(q, MC_P_KEY) && ((sa_given(q, MC_P_KEY) ^ p_key) & 0x7fff) != 0) {
		return false;
	}
	return fits_selectors(q, record) &&
	       (q->requester == NULL || mcast_has_p_key(r, q->requester, p_key));
}

static bool fits_member(const struct sa_query *q, const uint8_t *port_gid,
                        const struct mcast_member_row *m)
{
	const uint8_t *asked = q->record + mcmember_fields[MC_PORT_GID].bit / 8;
	uint64_t bits = sa_given(q, MC_JOIN_STATE);

	return (!sa_asked(q, MC_PORT_GID) || memcmp(asked, port_gid, MGID_BYTES) == 0) &&
	       (!sa_asked(q, MC_JOIN_STATE) || (m->join_state & bits) == bits) &&
	       (!sa_asked(q, MC_PROXY_JOIN) ||
	        m->proxy_join == sa_given(q, MC_PROXY_JOIN));
}

/* Is nothing asked about members? */
static bool any_member(const struct sa_query *q)
{
	return !sa_asked(q, MC_PORT_GID) && !sa_asked(q, MC_JOIN_STATE) &&
	       !sa_asked(q, MC_PROXY_JOIN);
}

static void offer_member(const uint8_t *group, const uint8_t *port_gid,
                         const struct mcast_member_row *m, struct sa_out *out)
{
	uint8_t record[MC_RECORD_BYTES];

	memcpy(record, group, sizeof(record));
	memcpy(record + mcmember_fields[MC_PORT_GID].bit / 8, port_gid, MGID_BYTES);
	mcast_put(record, MC_JOIN_STATE, m->join_state);
	mcast_put(record, MC_PROXY_JOIN, m->proxy_join);
	sa_offer(out, record);
}

static void offer_group(struct snap_reader *r, const struct sa_query *q,
                        const struct mcast_group_row *g, struct sa_out *out)
{
	struct mcast_member_row m;
	const struct store_row *at = NULL;
	const uint8_t *port_gid;
	bool found = false;

	if (!fits_group(r, q, g->record)) {
		return;
	}
	while ((port_gid = mcast_member_next(q->store, g->record, &at, &m)) != NULL) {
		if (fits_member(q, port_gid, &m)) {
			found = true;
			if (!q->trusted) {
				break;
			}
			offer_member(g->record, port_gid, &m, out);
		}
	}
	if (q->trusted ? !found && any_member(q) : found || any_member(q)) {
		sa_offer(out, g->record);
	}
}

static int mcmember_walk(struct snap_reader *r, const struct sa_query *q,
                         struct sa_out *out)
{
	const struct store_row *row = store_from(q->store, RECORDS_GROUPS, NULL, 0);
	struct mcast_group_row g;

	if (sa_asked(q, MC_MGID)) {
		if (mcast_group_find(q->store, q->record, &g)) {
			offer_group(r, q, &g, out);
		}
		return E_OK;
	}
	for (; row != NULL && !sa_full(out);
	     row = store_next(q->store, RECORDS_GROUPS, row)) {
		if (mcast_group_of(row, &g)) {
			offer_group(r, q, &g, out);
		}
	}
	return E_OK;
}

const struct sa_attr rec_mcmember = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_MCMEMBER_REC,
	.name = "MCMemberRecord",
	.methods = SA_GET | SA_GETTABLE | SA_SET | SA_DELETE,
	.size = MC_RECORD_BYTES,
	SA_FIELDS(mcmember_fields),
	.written = true,
	.walk = mcmember_walk,
	.set = mcast_set,
	.del = mcast_delete,
};
