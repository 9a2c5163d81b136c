/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What others send to the subnet manager: answers to our SMPs go to the engine, SMInfo
 * requests and traps are answered here, SA requests go to the SA's own thread, where the
 * transport can do so without a detour.
 *
 * A trap is always repressed (IBA vol. 1, 13.4.9), whoever we are; 128 and 144 ask for a
 * heavy sweep when sweep_on_trap says so; all are reported to who subscribed to them. A
 * trap 144 that tells nothing but that an SM runs on our own port does not: that SM is
 * we. A Set(SMInfo) is refused: this SM takes no part in elections.
 */
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/server/answer.h"
#include "sa/sm/sweep_int.h"

enum { TRAP_LINES = 10, TRAP_LINES_MS = 10000, CAP_IS_SM = 1 << 1 };

static const char *const source = "sweep";

static void reply(struct sweep *s, const struct mad_msg *to, uint8_t *mad)
{
	struct mad_msg m = { .mgmt_class = to->mgmt_class,
		             .addr = to->addr,
		             .len = MAD_BYTES,
		             .data = mad };

	m.addr.directed = to->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	if (m.addr.directed) {
		m.addr.lid = 0xffff;
	}
	/* When the queue is full the other side asks again. */
	(void)transport_send(s->d.transport, &m);
}

void agent_sm_info(const struct sweep *s, uint8_t info[SMP_DATA_BYTES])
{
	memset(info, 0, SMP_DATA_BYTES);
	field_set(info, SMI_GUID, s->d.transport->local.port_guid);
	field_set(info, SMI_SM_KEY, s->d.config->sm_key);
	field_set(info, SMI_ACT_COUNT, smp_counters(s->smp)->sent);
	field_set(info, SMI_PRIORITY, s->d.config->sm_priority);
	field_set(info, SMI_SM_STATE, s->sm_state);
}

static void sm_info(struct sweep *s, const struct mad_msg *m, bool get)
{
	uint8_t mad[MAD_BYTES];
	bool directed = m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	uint16_t status = get ? 0 : UMAD_STATUS_INVALID_ATTR_VALUE;

	memcpy(mad, m->data, MAD_BYTES);
	field_set(mad, MAD_METHOD, UMAD_METHOD_GET_RESP);
	field_set(mad, MAD_STATUS, status | (directed ? UMAD_SMP_DIRECTION : 0));
	agent_sm_info(s, mad + SMP_DATA_AT);
	reply(s, m, mad);
}

/* Keeps a trap 144 that may be about our own IsSM bit until a sweep has ended and it is
 * known which port is ours and what it showed. */
static bool keep_change(struct sweep *s, const uint8_t *notice)
{
	struct cap_change now = {
		.lid = (uint32_t)field_get(notice, NTC_144_LID),
		.mask = (uint32_t)field_get(notice, NTC_144_CAPABILITY_MASK),
	};

	if (now.lid == 0 || s->cap_change.lid != 0 ||
	    field_get(notice, NTC_144_OTHER_CHANGES)) {
		return false;
	}
	s->cap_change = now;
	return true;
}

void agent_look_at_change(struct sweep *s)
{
	struct cap_change c = s->cap_change;
	uint32_t known;
	uint8_t *info;

	s->cap_change = (struct cap_change){ 0 };
	if (c.lid == 0) {
		return;
	}
	if (!s->status.up || c.lid != s->job->program.sm_lid) {
		sweep_want_heavy(s, "trap 144 from LID %u", c.lid);
		return;
	}
	info = disc_port_of(&s->job->disc, s->job->disc.g->sm_port)->info;
	known = (uint32_t)field_get(info, PI_CAPABILITY_MASK);
	if ((known ^ c.mask) & ~(uint32_t)CAP_IS_SM) {
		sweep_want_heavy(s, "trap 144 from LID %u: other capabilities", c.lid);
	} else if (c.mask & ~known) {
		/* Without the bit it was sent before we set it, and what the sweep has
		 * read is newer. */
		field_set(info, PI_CAPABILITY_MASK, c.mask);
		(void)job_publish(s);
	}
}

static void trap(struct sweep *s, const struct mad_msg *m)
{
	uint8_t mad[MAD_BYTES];
	const uint8_t *notice = m->data + SMP_DATA_AT;
	unsigned number = (unsigned)field_get(notice, NTC_TRAP_NUMBER);
	unsigned issuer = (unsigned)field_get(notice, NTC_ISSUER_LID);

	memcpy(mad, m->data, MAD_BYTES);
	field_set(mad, MAD_METHOD, UMAD_METHOD_TRAP_REPRESS);
	field_set(mad, MAD_STATUS, 0);
	reply(s, m, mad);
	if (s->d.sa != NULL && s->sm_state == SM_MASTER) {
		sa_server_trap(s->d.sa, notice);
	}
	if (!field_get(notice, NTC_IS_GENERIC)) {
		return;
	}
	if (log_allowed(&s->trap_lines, sweep_now(s), TRAP_LINES, TRAP_LINES_MS, NULL)) {
		log_info(source, "trap %u from LID %u", number, issuer);
	}
	if (!s->d.config->sweep_on_trap || s->sm_state == SM_STANDBY) {
		return;
	}
	if (number == UMAD_SM_LINK_STATE_CHANGED_TRAP ||
	    (number == UMAD_SM_LOCAL_CHANGES_TRAP && !keep_change(s, notice))) {
		sweep_want_heavy(s, "trap %u from LID %u", number, issuer);
	}
}

static void smp_request(struct sweep *s, const struct mad_msg *m)
{
	unsigned method = (unsigned)field_get(m->data, MAD_METHOD);
	unsigned attr = (unsigned)field_get(m->data, MAD_ATTR_ID);

	if (method == UMAD_METHOD_TRAP && attr == UMAD_ATTR_NOTICE) {
		trap(s, m);
	} else if (attr == UMAD_SM_ATTR_SM_INFO &&
	           (method == UMAD_METHOD_GET || method == UMAD_METHOD_SET)) {
		sm_info(s, m, method == UMAD_METHOD_GET);
	}
}

void agent_receive(struct sweep *s, const struct mad_msg *m)
{
	if (smp_receive(s->smp, m) || m->status != 0) {
		return;
	}
	if (m->mgmt_class == UMAD_CLASS_SUBN_ADM) {
		if (s->d.sa != NULL && !qos_request_waits(s, m)) {
			sa_server_push(s->d.sa, m);
		}
		return;
	}
	if ((m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	     m->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED) &&
	    m->len >= MAD_BYTES) {
		smp_request(s, m);
	}
}

/* Not those that may have to wait until the sweep has read what they ask for. */
static bool is_for_the_server(const struct mad_msg *m)
{
	return !qos_is_about(m);
}

static void to_the_server(void *ctx, const struct mad_msg *m, unsigned n, bool pressed)
{
	if (pressed) {
		sa_server_push_all(ctx, m, n);
	} else {
		sa_server_take(ctx, m, n);
	}
}

void agent_divert(struct sweep *s, bool on)
{
	const struct transport_receiver taker = {
		.mgmt_class = UMAD_CLASS_SUBN_ADM,
		.wants = is_for_the_server,
		.take = to_the_server,
		.ctx = s->d.sa,
	};

	if (s->d.sa != NULL) {
		transport_divert(s->d.transport, on ? &taker : NULL);
	}
}
