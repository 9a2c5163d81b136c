/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * MultiPathRecord (IBA vol. 1, 15.2.5.20): paths between any of some source GIDs and any
 * of some destination GIDs, answered with PathRecords.
 *
 * Every pair of ports and of their LIDs, in the order of the path-selection mode, is a
 * candidate. Without NumbPath all of them are the answer. With it, those that share the
 * fewest cables, then the fewest switches, then take the fewest hops: for this the
 * forwarding tables of the epoch are walked for each candidate. Two paths are the best
 * pair there is; each further one is added for how little it shares with those before.
 * With an IndependenceSelector that is not 0, a path that shares a cable with one before
 * it is left out altogether.
 */
#include <errno.h>
#include <stdlib.h>

#include "conf/base/err.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "sa/record/path_request.h"

enum multi_component {
	MP_RAW_TRAFFIC,
	MP_RESERVED,
	MP_FLOW_LABEL,
	MP_HOP_LIMIT,
	MP_T_CLASS,
	MP_REVERSIBLE,
	MP_NUMB_PATH,
	MP_P_KEY,
	MP_QOS_CLASS,
	MP_SL,
	MP_MTU_SELECTOR,
	MP_MTU,
	MP_RATE_SELECTOR,
	MP_RATE,
	MP_PACKET_LIFE_TIME_SELECTOR,
	MP_PACKET_LIFE_TIME,
	MP_SERVICE_ID_MSB,
	MP_INDEPENDENCE_SELECTOR,
	MP_RESERVED_2,
	MP_SGID_COUNT,
	MP_DGID_COUNT,
	MP_SERVICE_ID_LSB,
	MP_COUNT
};

/* clang-format off */
static const struct sa_field multi_fields[MP_COUNT] = {
	[MP_RAW_TRAFFIC] =               { "RawTraffic",               0,  1, SA_INPUT },
	[MP_RESERVED] =                  { "Reserved",                 1,  3, SA_RESERVED },
	[MP_FLOW_LABEL] =                { "FlowLabel",                4, 20, SA_INPUT },
	[MP_HOP_LIMIT] =                 { "HopLimit",                24,  8, SA_INPUT },
	[MP_T_CLASS] =                   { "TClass",                  32,  8, SA_INPUT },
	[MP_REVERSIBLE] =                { "Reversible",              40,  1, SA_INPUT },
	[MP_NUMB_PATH] =                 { "NumbPath",                41,  7, SA_INPUT },
	[MP_P_KEY] =                     { "P_Key",                   48, 16, SA_INPUT },
	[MP_QOS_CLASS] =                 { "QoSClass",                64, 12, SA_INPUT },
	[MP_SL] =                        { "SL",                      76,  4, SA_INPUT },
	[MP_MTU_SELECTOR] =              { "MtuSelector",             80,  2, SA_INPUT },
	[MP_MTU] =                       { "Mtu",                     82,  6, SA_INPUT },
	[MP_RATE_SELECTOR] =             { "RateSelector",            88,  2, SA_INPUT },
	[MP_RATE] =                      { "Rate",                    90,  6, SA_INPUT },
	[MP_PACKET_LIFE_TIME_SELECTOR] = { "PacketLifeTimeSelector",  96,  2, SA_INPUT },
	[MP_PACKET_LIFE_TIME] =          { "PacketLifeTime",          98,  6, SA_INPUT },
	[MP_SERVICE_ID_MSB] =            { "ServiceID8MSB",          104,  8, SA_INPUT },
	[MP_INDEPENDENCE_SELECTOR] =     { "IndependenceSelector",   112,  2, SA_INPUT },
	[MP_RESERVED_2] =                { "Reserved",               114,  6, SA_RESERVED },
	[MP_SGID_COUNT] =                { "SGIDCount",              120,  8, SA_INPUT },
	[MP_DGID_COUNT] =                { "DGIDCount",              128,  8, SA_INPUT },
	[MP_SERVICE_ID_LSB] =            { "ServiceID56LSB",         136, 56, SA_INPUT },
};

static const struct path_components multi_components = {
	.raw_traffic = MP_RAW_TRAFFIC,
	.service_id_msb = MP_SERVICE_ID_MSB,
	.service_id_lsb = MP_SERVICE_ID_LSB,
	.flow_label = MP_FLOW_LABEL,
	.t_class = MP_T_CLASS,
	.reversible = MP_REVERSIBLE,
	.numb_path = MP_NUMB_PATH,
	.p_key = MP_P_KEY,
	.qos_class = MP_QOS_CLASS,
	.sl = MP_SL,
	.mtu_selector = MP_MTU_SELECTOR,
	.rate_selector = MP_RATE_SELECTOR,
	.packet_life_time_selector = MP_PACKET_LIFE_TIME_SELECTOR,
};
/* clang-format on */

enum {
	GIDS_AT = 24,
	GID_BYTES = 16,
	GIDS_MAX = 11, /* what a MAD has room for */
	MULTI_RECORD_BYTES = GIDS_AT + GIDS_MAX * GID_BYTES,
	CANDIDATES_MAX = 256,
	SHARED_CABLE = 1 << 16, /* weights: no number of switches makes up for a cable, */
	SHARED_SWITCH = 1 << 8  /* nor of hops for a switch */
};

struct candidate {
	struct wire_path_record wire;
	uint64_t cable[PATH_HOPS_MAX + 1];
	uint64_t node[PATH_HOPS_MAX];
	unsigned n_cables, n_nodes;
	bool taken;
};

struct multi {
	struct path_request a;
	bool choose;      /* NumbPath or independence asked for: cables count */
	bool independent; /* none may share a cable with another */
	unsigned wanted;  /* paths */
	struct candidate *list;
	unsigned n;
};

/* A cable's end. */
struct plug {
	uint64_t guid;
	uint8_t port; /* 0 of a switch: it has no cable */
};

static uint64_t plug_key(const struct plug *p)
{
	return p->guid * UINT64_C(0x9e3779b97f4a7c15) + p->port;
}

/* The same in both directions: what breaks it, breaks it for both. */
static void add_cable(struct candidate *c, const struct plug *a, const struct plug *b)
{
	if (a->port != 0) {
		c->cable[c->n_cables++] = plug_key(a) + plug_key(b);
	}
}

/* Cables and switches of a candidate; from a port to itself there are none. */
static int walk_candidate(struct snap_reader *r, const struct path_query *q,
                          const struct path_record *p, struct candidate *c)
{
	struct path_hop hop[PATH_HOPS_MAX];
	struct plug at = { q->src.node_guid, q->src.port };
	struct plug end = { q->dst.node_guid, q->dst.port };
	unsigned n;

	c->n_cables = c->n_nodes = 0;
	int ret = path_hops(r, p->slid, p->dlid, hop, &n);
	if (ret != E_OK || (at.guid == end.guid && at.port == end.port)) {
		return ret;
	}
	for (unsigned i = 0; i < n; i++) {
		struct plug in = { hop[i].node_guid, hop[i].in_port };

		c->node[c->n_nodes++] = hop[i].node_guid;
		add_cable(c, &at, &in);
		at = (struct plug){ hop[i].node_guid, hop[i].out_port };
	}
	add_cable(c, &at, &end);
	return E_OK;
}

static int add_pair(struct snap_reader *r, const struct sa_query *q, struct multi *m)
{
	struct path_iter it;
	struct path_record rec;

	if (!sa_sees(r, q, &m->a.q.src) || !sa_sees(r, q, &m->a.q.dst)) {
		return E_OK;
	}
	int ret = path_iter_init(&it, r, &m->a.q);
	if (ret != E_OK) {
		return path_none(ret) ? E_OK : ret;
	}
	while (m->n < CANDIDATES_MAX && path_iter_next(&it, &rec)) {
		struct candidate *c = &m->list[m->n];

		path_request_encode(&rec, &m->a, &c->wire);
		path_request_high_lids(&rec, r, &c->wire);
		c->taken = false;
		ret = m->choose ? walk_candidate(r, &m->a.q, &rec, c) : E_OK;
		if (ret != E_OK) {
			return ret;
		}
		m->n++;
	}
	return it.ret;
}

static unsigned common(const uint64_t *a, unsigned n_a, const uint64_t *b, unsigned n_b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_a; i++) {
		for (unsigned k = 0; k < n_b; k++) {
			n += a[i] == b[k];
		}
	}
	return n;
}

static unsigned shared_cables(const struct candidate *a, const struct candidate *b)
{
	return common(a->cable, a->n_cables, b->cable, b->n_cables);
}

static uint64_t cost(const struct candidate *a, const struct candidate *b)
{
	return (uint64_t)SHARED_CABLE * shared_cables(a, b) +
	       (uint64_t)SHARED_SWITCH * common(a->node, a->n_nodes, b->node, b->n_nodes);
}

static void take(const struct multi *m, unsigned i, struct sa_out *out)
{
	m->list[i].taken = true;
	sa_offer(out, (const uint8_t *)&m->list[i].wire);
}

/* The first of the two that share least, the earlier of equals. */
static unsigned best_start(const struct multi *m)
{
	uint64_t best = UINT64_MAX;
	unsigned start = 0;

	for (unsigned i = 0; i < m->n; i++) {
		for (unsigned k = i + 1; k < m->n && m->wanted > 1; k++) {
			uint64_t now = cost(&m->list[i], &m->list[k]) +
			               m->list[i].n_nodes + m->list[k].n_nodes;
			if (now < best) {
				best = now;
				start = i;
			}
		}
	}
	return start;
}

/* The candidate that shares least with those taken. \return m->n: none may be added. */
static unsigned best_addition(const struct multi *m)
{
	uint64_t best = UINT64_MAX;
	unsigned found = m->n;

	for (unsigned i = 0; i < m->n; i++) {
		uint64_t now = m->list[i].n_nodes;
		unsigned cables = 0;

		for (unsigned k = 0; k < m->n; k++) {
			if (m->list[k].taken) {
				now += cost(&m->list[i], &m->list[k]);
				cables += shared_cables(&m->list[i], &m->list[k]);
			}
		}
		if (!m->list[i].taken && now < best && !(m->independent && cables)) {
			best = now;
			found = i;
		}
	}
	return found;
}

static void offer_best(const struct multi *m, struct sa_out *out)
{
	unsigned next = best_start(m);

	for (unsigned n = 0; n < m->wanted && next < m->n; n++) {
		take(m, next, out);
		next = best_addition(m);
	}
}

static int add_all(struct snap_reader *r, const struct sa_query *q, unsigned n_src,
                   unsigned n_dst, struct sa_out *out, struct multi *m)
{
	const uint8_t *gid = q->record + GIDS_AT;
	struct path_request *a = &m->a;
	bool unused;
	int ret = E_OK;

	for (unsigned s = 0; s < n_src && ret == E_OK; s++) {
		a->src.gid = gid + (size_t)s * GID_BYTES;
		ret = path_request_gid(r, q->store, a->src.gid, false, &a->q.src,
		                       &unused, &a->q.slid);
		for (unsigned d = 0; d < n_dst && ret == E_OK; d++) {
			a->dst.gid = gid + (size_t)(n_src + d) * GID_BYTES;
			ret = path_request_gid(r, q->store, a->dst.gid, false, &a->q.dst,
			                       &unused, &a->q.dlid);
			if (ret == E_OK) {
				ret = add_pair(r, q, m);
			}
		}
	}
	return ret == E_NOTFOUND ? sa_refuse(out, UMAD_SA_STATUS_INVALID_GID) : ret;
}

static int multi_walk(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	struct multi m = { .wanted = CANDIDATES_MAX };
	unsigned n_src = (unsigned)sa_component(q, MP_SGID_COUNT);
	unsigned n_dst = (unsigned)sa_component(q, MP_DGID_COUNT);

	if (!sa_asked(q, MP_SGID_COUNT) || !sa_asked(q, MP_DGID_COUNT)) {
		return sa_refuse(out, UMAD_SA_STATUS_INSUF_COMPS);
	}
	if (n_src == 0 || n_dst == 0 || n_src + n_dst > GIDS_MAX) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_INVALID);
	}
	int ret = path_request_common(r, q, &multi_components, out, &m.a);
	if (ret != E_OK) {
		return ret;
	}
	if (sa_asked(q, MP_NUMB_PATH)) {
		m.wanted = m.a.q.numb_path;
	}
	m.a.q.numb_path = 0;
	m.independent = sa_asked(q, MP_INDEPENDENCE_SELECTOR) &&
	                sa_component(q, MP_INDEPENDENCE_SELECTOR) != 0;
	m.choose = m.independent || sa_asked(q, MP_NUMB_PATH);
	m.list = malloc(CANDIDATES_MAX * sizeof(*m.list));
	if (m.list == NULL) {
		return -ENOMEM;
	}
	ret = add_all(r, q, n_src, n_dst, out, &m);
	if (ret == E_OK && m.choose) {
		offer_best(&m, out);
	}
	for (unsigned i = 0; ret == E_OK && !m.choose && i < m.n; i++) {
		take(&m, i, out);
	}
	free(m.list);
	return ret;
}

const struct sa_attr rec_multi_path = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_MULTI_PATH_REC,
	.name = "MultiPathRecord",
	.methods = SA_GETMULTI,
	.size = MULTI_RECORD_BYTES,
	SA_FIELDS(multi_fields),
	.reply = &rec_path,
	.walk = multi_walk,
};
