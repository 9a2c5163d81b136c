/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/agent.h"

#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/server/server.h"
#include "sa/sm/changes.h"
#include "sa/sm/election.h"
#include "sa/sm/p_keys.h"
#include "sa/sm/sm.h"

enum { TRAP_LINES = 10, TRAP_LINES_MS = 10000 };

static const char *const source = "sweep";

static void reply(struct agent *a, const struct mad_msg *to, uint8_t *mad)
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
	(void)transport_send(a->sm->d.transport, &m);
}

/* Does who asks for SMInfo know the M_Key, or the SM_Key itself? Others see SM_Key 0 (IBA vol. 1,
 * 14.2.5.13). Without an M_Key nobody can show that he is a manager, so all see it. */
static bool shows_keys(const struct agent *a, const struct mad_msg *m)
{
	const struct config *c = a->sm->d.config;

	return field_get(m->data, SMP_M_KEY) ==
	               keyring_wanted(&a->sm->keys,
	                              a->sm->d.transport->local.port_guid) ||
	       field_get(m->data + SMP_DATA_AT, SMI_SM_KEY) == c->sm_key;
}

static void answer_sm_info(struct agent *a, const struct mad_msg *m, bool get)
{
	uint8_t mad[MAD_BYTES];
	bool directed = m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	uint16_t status = 0;

	memcpy(mad, m->data, MAD_BYTES);
	election_sm_info(a->election, mad + SMP_DATA_AT); /* before it changes */
	if (!shows_keys(a, m)) {
		field_set(mad + SMP_DATA_AT, SMI_SM_KEY, 0);
	}
	field_set(mad, SMP_M_KEY, 0);
	if (!get &&
	    !election_control(a->election, (uint32_t)field_get(m->data, MAD_ATTR_MOD),
	                      m->data + SMP_DATA_AT)) {
		status = UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	field_set(mad, MAD_METHOD, UMAD_METHOD_GET_RESP);
	field_set(mad, MAD_STATUS, status | (directed ? UMAD_SMP_DIRECTION : 0));
	reply(a, m, mad);
}

static void take_trap(struct agent *a, const struct mad_msg *m)
{
	struct sm *sm = a->sm;
	uint8_t mad[MAD_BYTES];
	const uint8_t *notice = m->data + SMP_DATA_AT;
	char skipped[LOG_SKIPPED_BYTES];

	memcpy(mad, m->data, MAD_BYTES);
	field_set(mad, MAD_METHOD, UMAD_METHOD_TRAP_REPRESS);
	field_set(mad, MAD_STATUS, 0);
	reply(a, m, mad);
	if (sm->status.standby || !changes_believe_trap(a->changes, m)) {
		return;
	}
	if (sm->d.sa != NULL && a->election->state == SM_MASTER) {
		sa_server_trap(sm->d.sa, notice);
	}
	if (log_allowed(&a->trap_lines, sm_now(sm), TRAP_LINES, TRAP_LINES_MS, skipped)) {
		log_info(source, "trap %u from LID %u%s",
		         (unsigned)field_get(notice, NTC_TRAP_NUMBER),
		         (unsigned)field_get(notice, NTC_ISSUER_LID), skipped);
	}
	p_keys_violation(a->p_keys, sm, notice);
	if (sm->d.config->sweep_on_trap) {
		changes_trap(a->changes, notice);
	}
}

void agent_receive(struct agent *a, const struct mad_msg *m)
{
	if (smp_receive(a->sm->smp, m) || m->status != 0) {
		return;
	}
	if (m->mgmt_class == UMAD_CLASS_SUBN_ADM) {
		if (a->sm->d.sa != NULL) { /* the transport has no thread for them */
			sa_server_receive(a->sm->d.sa, m, 1, true);
		}
		return;
	}
	if ((m->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE ||
	     m->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED) &&
	    m->len >= MAD_BYTES) {
		unsigned method = (unsigned)field_get(m->data, MAD_METHOD);
		unsigned attr = (unsigned)field_get(m->data, MAD_ATTR_ID);

		if (method == UMAD_METHOD_TRAP && attr == UMAD_ATTR_NOTICE) {
			take_trap(a, m);
		} else if (attr == UMAD_SM_ATTR_SM_INFO &&
		           (method == UMAD_METHOD_GET || method == UMAD_METHOD_SET)) {
			answer_sm_info(a, m, method == UMAD_METHOD_GET);
		}
	}
}
