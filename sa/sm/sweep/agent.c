/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/sweep/agent.h"

#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/mad/notice.h"
#include "sa/mad/opa_smp.h"
#include "sa/server/server.h"
#include "sa/sm/discover/trap.h"
#include "sa/sm/discover/trust.h"
#include "sa/sm/manager/election.h"
#include "sa/sm/sm.h"
#include "sa/sm/sweep/audit.h"
#include "sa/sm/sweep/changes.h"
#include "sa/sm/sweep/p_keys.h"
#include "sa/standby/standby.h"

enum {
	TRAP_LINES = 10, /* of one sender */
	TRAP_LINES_ALL = 50,
	TRAP_LINES_MS = 10000,
	ANSWER_LINES = 5, /* of one sender */
	ANSWER_LINES_ALL = 20,
	ANSWER_LINES_MS = 60000,
	M_KEY_END = 32 /* bytes of an SMP up to its M_Key, in both formats */
};

static const char *const source = "sweep";

/* An SMP as it came, and in InfiniBand's form, which is the same where the fabric is InfiniBand's. */
struct received {
	const struct mad_msg *wire;
	struct mad_msg shape;
	uint8_t mad[MAD_BYTES];
};

static bool is_opa(const struct mad_msg *m)
{
	return field_get(m->data, MAD_BASE_VERSION) == OPA_CLASS_VERSION;
}

/* The way of a request over a directed route, which tells who sent it. */
static void shape_route(const uint8_t *wide, uint8_t *mad)
{
	enum { PATH_BYTES = SMP_HOPS_MAX + 1, NOWHERE = 0xffff };
	bool whole = field_get(wide, OPA_DR_SLID) == UINT32_MAX &&
	             field_get(wide, OPA_DR_DLID) == UINT32_MAX;

	field_set(mad, SMP_DR_SLID, whole ? NOWHERE : 0);
	field_set(mad, SMP_DR_DLID, whole ? NOWHERE : 0);
	memcpy(mad + SMP_INITIAL_PATH_AT, wide + OPA_DR_INITIAL_PATH, PATH_BYTES);
	memcpy(mad + SMP_RETURN_PATH_AT, wide + OPA_DR_RETURN_PATH, PATH_BYTES);
}

/* What InfiniBand reserves in a Notice is not read. */
static bool shape_notice(struct received *r, unsigned attr)
{
	if (attr == UMAD_ATTR_NOTICE) {
		memcpy(r->mad, r->wire->data, sizeof(r->mad));
		notice_clear_high(r->mad + SMP_DATA_AT);
		r->shape.data = r->mad;
		r->shape.len = sizeof(r->mad);
	}
	return true;
}

/* \return false: nobody here knows what to make of it. */
static bool receive_shape(struct received *r, const struct mad_msg *m)
{
	size_t at = is_opa(m) ? opa_smp_data_at(m->data) : 0;
	unsigned attr = (unsigned)field_get(m->data, MAD_ATTR_ID);

	r->wire = m;
	r->shape = *m;
	if (!is_opa(m)) {
		return m->len >= MAD_BYTES && shape_notice(r, attr);
	}
	memset(r->mad, 0, sizeof(r->mad));
	r->shape.data = r->mad;
	r->shape.len = sizeof(r->mad);
	if (m->len < at) {
		return false;
	}
	memcpy(r->mad, m->data, M_KEY_END);
	if (m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE) {
		shape_route(m->data, r->mad);
	}
	if (attr == UMAD_ATTR_NOTICE && m->len - at >= OPA_BYTES_NOTICE) {
		opa_notice_decode(m->data + at, r->mad + SMP_DATA_AT);
		return true;
	}
	return attr == UMAD_SM_ATTR_SM_INFO &&
	       opa_smp_decode((uint16_t)attr, m->data + at, m->len - at,
	                      r->mad + SMP_DATA_AT) == E_OK;
}

/* Answers with header and data of an SMP in InfiniBand's form. On Omni-Path the rest is as it came. */
static void reply(struct agent *a, const struct received *to, uint8_t *mad)
{
	struct mad_msg m = { .mgmt_class = to->wire->mgmt_class,
		             .addr = to->wire->addr,
		             .len = MAD_BYTES,
		             .data = mad };
	uint8_t wide[OPA_MAD_MOST];

	if (is_opa(to->wire)) {
		m.len = to->wire->len < sizeof(wide) ? to->wire->len : sizeof(wide);
		m.data = wide;
		m.addr.pkey_index = smp_p_key_index(a->sm->smp);
		memcpy(wide, to->wire->data, m.len);
		memcpy(wide, mad, M_KEY_END);
		if (field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SM_INFO) {
			opa_sm_info_encode(mad + SMP_DATA_AT,
			                   wide + opa_smp_data_at(wide));
		}
	}
	m.addr.directed = m.mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	if (m.addr.directed) {
		m.addr.lid = 0xffff;
	}
	/* When the queue is full the other side asks again. */
	(void)transport_send(a->sm->d.transport, &m);
}

/* PortGUID of the port that a MAD came from; 0: not known. */
static uint64_t guid_of_sender(const struct sm *sm, const struct mad_msg *m)
{
	const struct job *known = sm_known_job(sm);
	uint32_t port;

	if (known == NULL && sm->job != NULL && sm->job->disc.g != NULL) {
		known = sm->job; /* a standby assigned no LIDs */
	}
	port = known != NULL ? trust_sender(&known->disc, known->program.lids, m)
	                     : GRAPH_NONE;
	return port != GRAPH_NONE ? known->disc.g->ports[port].guid : 0;
}

/* Who asks for SMInfo sees the SM_Key if somebody named its port, or if it shows that it knows a
 * key: the SM_Key, or that of our port, which follows from the m_key. Others see SM_Key 0 (IBA vol. 1,
 * 14.2.5.13). A key that all know, and sm_trust any, hide nothing. */
static bool shows_keys(const struct agent *a, const struct mad_msg *m)
{
	const struct sm *sm = a->sm;
	const struct config *c = sm->d.config;
	uint64_t own = keyring_wanted(&sm->keys, sm->d.transport->local.port_guid);
	uint64_t guid = guid_of_sender(sm, m);

	if (c->sm_key <= KEY_OF_ALL ||
	    field_get(m->data + SMP_DATA_AT, SMI_SM_KEY) == c->sm_key) {
		return true;
	}
	if (own != 0 ? field_get(m->data, SMP_M_KEY) == own : c->sm_trust == SM_TRUST_ANY) {
		return true;
	}
	return trust_names(c, guid, standby_knows(sm->d.standby, guid));
}

static void answer_sm_info(struct agent *a, const struct received *asked, bool get)
{
	const struct mad_msg *m = &asked->shape;
	uint8_t mad[MAD_BYTES];
	bool directed = m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	uint64_t from = guid_of_sender(a->sm, m);
	uint16_t status = 0;

	memcpy(mad, m->data, MAD_BYTES);
	election_sm_info(a->election, mad + SMP_DATA_AT); /* before it changes */
	if (!shows_keys(a, m)) {
		field_set(mad + SMP_DATA_AT, SMI_SM_KEY, 0);
	}
	field_set(mad, SMP_M_KEY, 0);
	if (!get &&
	    !election_control(a->election, (uint32_t)field_get(m->data, MAD_ATTR_MOD),
	                      m->data + SMP_DATA_AT, from)) {
		status = UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	if (!get && from == 0) { /* perhaps a part of the fabric that is joined to ours */
		a->changes->want_light = true;
	}
	field_set(mad, MAD_METHOD, UMAD_METHOD_GET_RESP);
	field_set(mad, MAD_STATUS, status | (directed ? UMAD_SMP_DIRECTION : 0));
	reply(a, asked, mad);
}

static struct sender *sender_of_mad(struct sm *sm, const struct mad_msg *m)
{
	const struct job *j = sm_known_job(sm);

	return senders_get(&sm->senders, j != NULL ? j->program.lids : NULL, m->addr.lid);
}

/* A sender that has said enough leaves room for the others. */
static void log_trap(struct agent *a, struct sender *from, const uint8_t *notice)
{
	uint64_t now = sm_now(a->sm);
	char skipped[LOG_SKIPPED_BYTES], skipped_all[LOG_SKIPPED_BYTES];

	if (log_allowed(&from->trap_lines, now, TRAP_LINES, TRAP_LINES_MS, skipped) &&
	    log_allowed(&a->trap_lines, now, TRAP_LINES_ALL, TRAP_LINES_MS,
	                skipped_all)) {
		log_info(source, "trap %u from LID %u%s",
		         (unsigned)field_get(notice, NTC_TRAP_NUMBER),
		         notice_issuer(notice), skipped);
	}
}

/* Notes a MAD that is not believed: an event at the 10th, 100th ... one of a sender, whose tables
 * are then read back. */
static void note_forged(struct agent *a, struct sender *from, const char *what)
{
	struct sm *sm = a->sm;
	const struct job *j = sm_known_job(sm);
	uint32_t port = j != NULL ? trap_owner(j->program.lids, from->lid) : GRAPH_NONE;
	char detail[EVENT_DETAIL_BYTES];
	struct fabric_event e = { .kind = EVENT_FORGED_MADS,
		                  .node = "an unknown node",
		                  .detail = detail };

	if (!senders_forged(from)) {
		return;
	}
	if (port != GRAPH_NONE) {
		events_set_node(&e, j->disc.g, j->disc.g->ports[port].node);
		e.port = j->disc.g->ports[port].num;
		audit_suspect(a->audit, port, "MADs from there are not believed");
	}
	snprintf(detail, sizeof(detail),
	         "(LID %u) has sent %u MADs that are not believed, the last of them %s",
	         from->lid, from->n_forged, what);
	events_note(sm, &e);
}

static bool believe_trap(struct agent *a, const struct mad_msg *m, struct sender *from)
{
	struct sm *sm = a->sm;
	const struct job *j = sm_known_job(sm);
	const struct trap_fabric f = { .g = j != NULL ? j->disc.g : NULL,
		                       .lids = j != NULL ? j->program.lids : NULL,
		                       .memory = j != NULL ? j->lids.memory : NULL,
		                       .n_memory = j != NULL ? j->lids.n_memory : 0 };

	switch (trap_believe(&f, m, &from->forged_lines, sm_now(sm))) {
	case TRAP_BELIEVED: return true;
	case TRAP_RETURNED: a->changes->want_light = true; return false;
	case TRAP_FORGED: break;
	}
	sm->status.forged_traps++;
	note_forged(a, from, "a trap");
	return false;
}

void agent_forged_answer(struct agent *a, const struct mad_msg *m)
{
	struct sender *from = sender_of_mad(a->sm, m);
	uint64_t now = sm_now(a->sm);
	char skipped[LOG_SKIPPED_BYTES], skipped_all[LOG_SKIPPED_BYTES],
		text[SMP_PATH_TEXT];
	struct smp_path back = { 0 };

	note_forged(a, from, "an answer");
	if (!log_allowed(&from->forged_lines, now, ANSWER_LINES, ANSWER_LINES_MS,
	                 skipped) ||
	    !log_allowed(&a->answer_lines, now, ANSWER_LINES_ALL, ANSWER_LINES_MS,
	                 skipped_all)) {
		return;
	}
	if (m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE) {
		back.hops = (uint8_t)field_get(m->data, SMP_HOP_COUNT) & SMP_HOPS_MAX;
		memcpy(back.port, m->data + SMP_RETURN_PATH_AT, sizeof(back.port));
	}
	log_message(
		MSG_SM_ANSWER_FORGED, source,
		"an answer of class 0x%02x about attribute 0x%04x is ignored, because nobody asked for it there: sent from LID %u%s%s%s",
		m->mgmt_class, (unsigned)field_get(m->data, MAD_ATTR_ID), m->addr.lid,
		back.hops != 0 ? ", back over ports " : "",
		back.hops != 0 ? smp_path_text(&back, text) : "", skipped);
}

/* Somebody tried to change a port with a wrong M_Key, and may have had the right one elsewhere. */
static void suspect_target(struct agent *a, const uint8_t *notice)
{
	const struct job *j = sm_known_job(a->sm);

	if (j != NULL && field_get(notice, NTC_IS_GENERIC) &&
	    field_get(notice, NTC_TRAP_NUMBER) == UMAD_SM_BAD_MKEY_TRAP) {
		audit_suspect(a->audit,
		              trap_owner(j->program.lids, notice_issuer(notice)),
		              "it met a wrong M_Key");
	}
}

static void take_trap(struct agent *a, const struct received *sent)
{
	const struct mad_msg *m = &sent->shape;
	struct sm *sm = a->sm;
	uint8_t mad[MAD_BYTES];
	const uint8_t *notice = m->data + SMP_DATA_AT;
	struct sender *from = sender_of_mad(sm, m);

	if (sm->status.standby) { /* its sender does not know the master yet, and says it again */
		return;
	}
	memcpy(mad, is_opa(sent->wire) ? m->data : sent->wire->data, MAD_BYTES);
	field_set(mad, MAD_METHOD, UMAD_METHOD_TRAP_REPRESS);
	field_set(mad, MAD_STATUS, 0);
	reply(a, sent, mad);
	if (!believe_trap(a, m, from)) {
		return;
	}
	if (sm->d.sa != NULL && a->election->state == SM_MASTER) {
		bool wide = is_opa(sent->wire);

		/* what InfiniBand reserves goes on to subscribers as it came */
		sa_server_trap(sm->d.sa,
		               wide ? notice : sent->wire->data + SMP_DATA_AT, wide);
	}
	log_trap(a, from, notice);
	suspect_target(a, notice);
	p_keys_violation(a->p_keys, sm, from, notice);
	election_heard_trap(a->election, notice);
	if (sm->d.config->sweep_on_trap) {
		changes_trap(a->changes, notice);
	}
}

void agent_receive(struct agent *a, const struct mad_msg *m)
{
	enum mad_kind kind = smp_receive(a->sm->smp, m);

	if (kind == MAD_FORGED) {
		agent_forged_answer(a, m);
	}
	if (kind != MAD_OTHER || m->status != 0) {
		return;
	}
	if (m->mgmt_class == UMAD_CLASS_SUBN_ADM) {
		if (a->sm->d.sa != NULL) { /* the transport has no thread for them */
			sa_server_receive(a->sm->d.sa, m, 1, true);
		}
		return;
	}
	struct received r;

	if ((m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	     m->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED) &&
	    receive_shape(&r, m)) {
		unsigned method = (unsigned)field_get(m->data, MAD_METHOD);
		unsigned attr = (unsigned)field_get(m->data, MAD_ATTR_ID);

		if (method == UMAD_METHOD_TRAP && attr == UMAD_ATTR_NOTICE) {
			take_trap(a, &r);
		} else if (attr == UMAD_SM_ATTR_SM_INFO &&
		           (method == UMAD_METHOD_GET || method == UMAD_METHOD_SET)) {
			answer_sm_info(a, &r, method == UMAD_METHOD_GET);
		}
	}
}
