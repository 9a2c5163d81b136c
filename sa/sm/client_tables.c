/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/client_tables.h"

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "sa/sm/sm.h"

enum { PAUSE_MAX_MS = 1000 };

static const char *const source = "sweep";

bool client_tables_changed(const struct client_tables *c)
{
	return multicast_changed(&c->multicast) || alias_guids_changed(&c->alias_guids);
}

void client_tables_start(struct client_tables *c)
{
	struct job *j = c->sm->job;
	struct program *p = &j->program;

	c->began = sm_now(c->sm);
	p->n_timeouts = p->n_refused = p->n_mft_sets = p->n_guid_sets = 0;
	p->first_trouble = NULL;
	p->ret = multicast_changed(&c->multicast) ? multicast_start(&c->multicast, j)
	                                          : E_OK;
	if (p->ret == E_OK) {
		p->ret = alias_guids_start(&c->alias_guids, j);
	}
}

bool client_tables_end(struct client_tables *c)
{
	struct sm *sm = c->sm;
	const struct program *p = &sm->job->program;

	client_tables_done(c);
	if (p->ret != E_OK) {
		sm_request_heavy(sm, "multicast tables and alias GUIDs: %s",
		                 err_text(p->ret));
		return false;
	}
	if (p->n_timeouts) {
		sm_request_heavy(sm, "%s", p->first_trouble);
	} else if (c->alias_guids.n_silent) {
		sm_request_heavy(sm, "%u virtual ports do not answer Set(VPortGUIDInfo)",
		                 c->alias_guids.n_silent);
	} else if (p->first_trouble != NULL) {
		log_message(MSG_SM_CLIENTS_REFUSED, source, "%s", p->first_trouble);
	}
	sm->status.mft_sets += p->n_mft_sets;
	log_debug(source, "clients wrote: sent %u blocks of multicast tables, %u of GUIDs",
	          p->n_mft_sets, p->n_guid_sets);
	return p->n_mft_sets + p->n_guid_sets != 0;
}

void client_tables_pause(struct client_tables *c)
{
	uint64_t now = sm_now(c->sm), took = now - c->began;

	c->next = now + (took < PAUSE_MAX_MS ? took : PAUSE_MAX_MS);
}

void client_tables_done(struct client_tables *c)
{
	multicast_end(&c->multicast);
	alias_guids_end(&c->alias_guids);
}
