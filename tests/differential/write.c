/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Records that clients write: services, multicast groups and subscriptions of the local
 * port, the same ones in each run, so that there is something to read. Each group has one
 * member: no switch has to forward its packets.
 */
#include <string.h>

#include <infiniband/umad_sa.h>

#include "sa/store/mcast.h"
#include "tests/differential/differential.h"

enum { SERVICES = 12, GROUPS = 8, SUBSCRIPTIONS = 6, P_KEY = 0xffff };

static void put(struct diff_query *q, const char *name, uint64_t value)
{
	for (unsigned c = 0; c < q->attr->n_fields; c++) {
		const struct sa_field *f = &q->attr->fields[c];
		if (strcmp(f->name, name) == 0) {
			field_set(q->data, f->bit, f->width, value);
			q->mask |= UINT64_C(1) << c;
		}
	}
}

static void put_gid(struct diff_query *q, const char *name, uint64_t prefix,
                    uint64_t guid)
{
	for (unsigned c = 0; c < q->attr->n_fields; c++) {
		const struct sa_field *f = &q->attr->fields[c];
		if (strcmp(f->name, name) == 0) {
			field_set(q->data, f->bit, 64, prefix);
			field_set(q->data, f->bit + 64, 64, guid);
			q->mask |= UINT64_C(1) << c;
		}
	}
}

static struct diff_query request(const struct sa_attr *attr)
{
	return (struct diff_query){ .attr = attr,
		                    .method = UMAD_METHOD_SET,
		                    .trusted = true };
}

static void write_service(struct diff_port *p, unsigned i)
{
	struct diff_query q = request(&rec_service);
	char name[64] = { 0 };

	snprintf(name, sizeof(name), "service %u", i / 2);
	put(&q, "ServiceID", 0x1000 + i);
	put_gid(&q, "ServiceGID", p->host.gid_prefix, p->host.guid);
	put(&q, "ServiceP_Key", P_KEY);
	put(&q, "ServiceLease", UINT32_MAX);
	put(&q, "ServiceData8.1", i % 4);
	put(&q, "ServiceData16.3", i % 2);
	put(&q, "ServiceData32.4", i);
	put(&q, "ServiceData64.2", UINT64_C(0x100000000) * (i % 5));
	memcpy(q.data + 48, name, sizeof(name));
	q.mask |= UINT64_C(1) << 5 | UINT64_C(1) << 6; /* ServiceKey, ServiceName */
	diff_set(p, &q);
}

static void write_group(struct diff_port *p, unsigned i)
{
	struct diff_query q = request(&rec_mcmember);

	put_gid(&q, "MGID", UINT64_C(0xff12111100000000), 0x100 + i);
	put_gid(&q, "PortGID", p->host.gid_prefix, p->host.guid);
	put(&q, "Q_Key", 0x80000000 + i % 3);
	put(&q, "MTUSelector", MC_EXACTLY);
	put(&q, "MTU", 1 + i % 4);
	put(&q, "TClass", i % 2);
	put(&q, "P_Key", P_KEY);
	put(&q, "RateSelector", MC_EXACTLY);
	put(&q, "Rate", i % 2 ? 3 : 2);
	put(&q, "PacketLifeTimeSelector", MC_EXACTLY);
	put(&q, "PacketLifeTime", 14 + i % 5);
	put(&q, "SL", 0);
	put(&q, "FlowLabel", i % 3);
	put(&q, "HopLimit", 0);
	put(&q, "Scope", 2);
	put(&q, "JoinState", MC_FULL_MEMBER);
	diff_set(p, &q);
}

static void write_subscription(struct diff_port *p, unsigned i)
{
	struct diff_query q = request(&rec_inform_info);

	put(&q, "LIDRangeBegin", i % 2 ? 0xffff : 1 + i);
	put(&q, "LIDRangeEnd", i % 2 ? 0 : 8);
	put(&q, "IsGeneric", 1);
	put(&q, "Subscribe", 1);
	put(&q, "Type", i < 3 ? 3 : 4);
	put(&q, "TrapNumber", 64 + i);
	put(&q, "RespTimeValue", 18);
	put(&q, "ProducerType", 4);
	diff_set(p, &q);
}

void diff_write(struct diff_port *p)
{
	for (unsigned i = 0; i < SERVICES; i++) {
		write_service(p, i);
	}
	for (unsigned i = 0; i < GROUPS; i++) {
		write_group(p, i);
	}
	for (unsigned i = 0; i < SUBSCRIPTIONS; i++) {
		write_subscription(p, i);
	}
}
