/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Traps about keys, counted by who tells of whom, so that no sender fills the events or hides true reports.
 *
 * Source: IBA vol. 1, 14.2.5.1 (Notice: traps 257, 258 and 259).
 */
#include "sa/sm/sweep/p_keys.h"

#include <stdio.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/notice.h"
#include "sa/sm/discover/trap.h"
#include "sa/sm/events.h"
#include "sa/sm/sm.h"

enum { P_KEY_TRAP = 257, Q_KEY_TRAP = 258, SWITCH_P_KEY_TRAP = 259 };

struct violation {
	unsigned trap;
	uint32_t lid, other; /* who sends, to whom */
	uint16_t p_key;
	uint32_t n; /* so far */
};

static void tell_violation(struct sm *sm, const struct sender *from,
                           const struct violation *v, const char *skipped)
{
	const struct job *j = sm_known_job(sm);
	uint32_t port = j != NULL ? trap_owner(j->program.lids, v->lid) : GRAPH_NONE;
	char detail[EVENT_DETAIL_BYTES];
	struct fabric_event e = { .kind = EVENT_P_KEY_VIOLATION,
		                  .node = "an unknown node",
		                  .detail = detail };

	if (port != GRAPH_NONE) {
		events_set_node(&e, j->disc.g, j->disc.g->ports[port].node);
		e.port = j->disc.g->ports[port].num;
	}
	snprintf(
		detail, sizeof(detail),
		"(LID %u) sends packets with P_Key 0x%04x to LID %u, which are not accepted there: trap %u of LID %u, %u so far%s",
		v->lid, v->p_key, v->other, v->trap, from->lid, v->n, skipped);
	events_note(sm, &e);
}

/* Counts begin again after a day, so that whoever named many has room for others. */
static void renew_violations(struct p_keys *k, struct sender *from, uint64_t now_ms)
{
	uint32_t period = (uint32_t)(now_ms / SENDER_RENEWED_MS);

	if (k->renewed != period) {
		k->renewed = period;
		hash_clear(&k->violations);
	}
	if (from->renewed != period) {
		from->renewed = period;
		from->n_pairs = 0;
	}
}

/* How often this sender has told of this violator and P_Key. 0: it has named too many. */
static uint32_t count_violation(struct p_keys *k, struct sender *from,
                                const struct violation *v)
{
	uint64_t key = (uint64_t)from->lid << 40 | (uint64_t)v->lid << 16 | v->p_key;
	uint32_t n = hash_get(&k->violations, key);

	if (n == HASH_NONE && from->n_pairs >= SENDER_PAIRS_MAX) {
		return 0;
	}
	from->n_pairs += n == HASH_NONE;
	n = n == HASH_NONE ? 1 : n + (n + 1 < HASH_NONE);
	return hash_put(&k->violations, key, n) == E_OK ? n : 0;
}

void p_keys_violation(struct p_keys *k, struct sm *sm, struct sender *from,
                      const uint8_t *notice)
{
	unsigned number = (unsigned)field_get(notice, NTC_TRAP_NUMBER);
	struct violation v = { .trap = number == VPORT_TRAP_P_KEY   ? P_KEY_TRAP
		                       : number == VPORT_TRAP_Q_KEY ? Q_KEY_TRAP
		                                                    : number,
		               .lid = notice_lid(notice),
		               .other = notice_lid_2(notice) };
	char skipped[LOG_SKIPPED_BYTES];

	if (!field_get(notice, NTC_IS_GENERIC) || v.trap < P_KEY_TRAP ||
	    v.trap > SWITCH_P_KEY_TRAP) {
		return;
	}
	if (v.trap == Q_KEY_TRAP) {
		sm->status.q_key_violations++;
		return;
	}
	sm->status.p_key_violations++;
	v.p_key =
		(uint16_t)(v.trap == SWITCH_P_KEY_TRAP ? field_get(notice, NTC_259_P_KEY)
	                                               : field_get(notice, NTC_257_KEY));
	renew_violations(k, from, sm_now(sm));
	v.n = count_violation(k, from, &v);
	if (senders_milestone(v.n) &&
	    log_allowed(&from->rows, sm_now(sm), SENDER_ROWS, SENDER_ROWS_MS, skipped)) {
		tell_violation(sm, from, &v, skipped);
	}
}
