/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/manager/takeover.h"

#include <inttypes.h>
#include <stdio.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "db/state/state.h"
#include "sa/server/server.h"
#include "sa/sm/manager/election.h"
#include "sa/sm/sm.h"
#include "sa/standby/standby.h"

static const char *const source = "sweep";

/* The copy becomes our own state. */
static int use_copy(struct takeover *t, uint64_t from, const char *what)
{
	const struct state_copy_mark ours = { 0 };

	log_info(source, "takes over with the state of the master 0x%016" PRIx64 ": %s",
	         from, what);
	t->election->others_assigned = false;
	return state_apply(t->sm->d.state, NULL, 0, false, &ours);
}

/* Partitions that operators made stay: nobody would make them again. */
static int drop_state(struct takeover *t, const char *why)
{
	const struct state_copy_mark ours = { 0 };
	struct state_write clear[RECORDS_OF_CLIENTS];

	log_message(
		MSG_SM_NO_COPY, source,
		"takes over without the state of the last master: %s; LIDs stay as the ports have them, and clients have to register again",
		why);
	for (unsigned i = 0; i < RECORDS_OF_CLIENTS; i++) {
		clear[i] = (struct state_write){ .table = (uint8_t)(COPIED_RECORDS + i),
			                         .clears = true };
	}
	t->election->others_assigned = true;
	return state_apply(t->sm->d.state, clear, RECORDS_OF_CLIENTS, false, &ours);
}

int takeover_begin(struct takeover *t, uint64_t from)
{
	struct sm *sm = t->sm;
	bool waited = t->election->waited;
	struct state_copy_mark mark = { 0 };
	char text[200] = "there is no link to it (standby_peer)";
	int ret = E_OK;

	if (t->settled && !waited) {
		return E_OK;
	}
	if (sm->d.state != NULL) {
		ret = state_copy_mark(sm->d.state, &mark);
	}
	if (ret == E_OK && (mark.guid != 0 || (waited && sm->d.standby != NULL))) {
		bool usable = sm->d.standby != NULL && waited &&
		              standby_take_over(sm->d.standby, from, text, sizeof(text));

		if (!waited) {
			snprintf(
				text, sizeof(text),
				"the copy is from before this start, of the master 0x%016" PRIx64,
				mark.guid);
		}
		ret = usable ? use_copy(t, from, text) : drop_state(t, text);
	}
	if (ret != E_OK) {
		return sm_fail(sm, ret, true, "the state cannot be taken over: %s",
		               err_text(ret));
	}
	if (waited && sm->d.sa != NULL) {
		sa_server_reload(sm->d.sa);
	}
	t->settled = true;
	election_settled(t->election);
	return E_OK;
}
