/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * All changes of one moment make one step, and changes that come meanwhile make the next.
 * Members that send only are in the tree but get nothing.
 */
#include "sa/sm/multicast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/vector.h"
#include "db/state/state.h"
#include "routing/graph/graph.h"
#include "routing/multicast.h"
#include "sa/sm/sm.h"
#include "sa/store/mcast.h"

static const char *const source = "sweep";

/* Groups and members as the state has them, both lists by MGID. */
struct gather {
	struct sm *sm;
	struct job *job;
	struct arena *a;
	struct mcast_group *groups;
	uint8_t (*mgid)[MGID_BYTES]; /* of each group */
	uint32_t n_groups;
	size_t cap_groups, cap_mgid;
	struct mcast_member *members;
	uint32_t n_members;
	size_t cap_members;
	uint32_t at;    /* the group whose members are read */
	uint32_t near;  /* the end port that was found last; members come by PortGID */
	uint32_t *slot; /* [ports of the graph] where it was put last + 1 */
};

/* The store's time of expiry stands in front of each value. */
static const uint8_t *value_of(const uint8_t *value, size_t len, size_t want)
{
	return len == sizeof(int64_t) + want ? value + sizeof(int64_t) : NULL;
}

static int add_group(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                     size_t len)
{
	struct gather *c = ctx;
	struct mcast_group_row row;
	const uint8_t *at = value_of(value, len, sizeof(row));

	if (at == NULL || key_len != MGID_BYTES) {
		return E_MALFORMED;
	}
	if (ARENA_RESERVE(c->a, c->groups, c->n_groups, c->cap_groups,
	                  c->n_groups + 1U) != E_OK ||
	    ARENA_RESERVE(c->a, c->mgid, c->n_groups, c->cap_mgid, c->n_groups + 1U) !=
	            E_OK) {
		return -ENOMEM;
	}
	memcpy(&row, at, sizeof(row));
	memcpy(c->mgid[c->n_groups], key, MGID_BYTES);
	c->groups[c->n_groups++] =
		(struct mcast_group){ .mlid = (uint32_t)mcast_get(row.record, MC_MLID) };
	return E_OK;
}

static int put_member(struct gather *c, uint32_t port, bool sends_only)
{
	struct mcast_group *g = &c->groups[c->at];

	if (ARENA_RESERVE(c->a, c->members, c->n_members, c->cap_members,
	                  c->n_members + 1U) != E_OK) {
		return -ENOMEM;
	}
	c->members[c->n_members++] = (struct mcast_member){ port, sends_only };
	g->n++;
	return E_OK;
}

/* A port may be a member by several GIDs. It is listed once, as a receiver if any of them
 * receives. \return true: it is listed already. */
static bool merge_member(struct gather *c, uint32_t port, bool sends_only)
{
	uint32_t i = c->slot[port];

	if (i == 0 || i <= c->n_members - c->groups[c->at].n) {
		return false;
	}
	c->members[i - 1].sends_only &= sends_only;
	return true;
}

static int add_member(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                      size_t len)
{
	struct gather *c = ctx;
	const struct graph *g = c->job->disc.g;
	struct mcast_member_row row;
	const uint8_t *at = value_of(value, len, sizeof(row));
	uint32_t port;
	bool sends_only;

	if (at == NULL || key_len != MC_MEMBER_KEY_BYTES) {
		return E_MALFORMED;
	}
	memcpy(&row, at, sizeof(row));
	while (c->at < c->n_groups && memcmp(c->mgid[c->at], key, MGID_BYTES) < 0) {
		c->at++;
	}
	port = graph_port_by_guid_near(g, row.port_guid, &c->near);
	if (c->at == c->n_groups || memcmp(c->mgid[c->at], key, MGID_BYTES) != 0 ||
	    port == GRAPH_NONE) {
		return E_OK; /* no such port at the moment */
	}
	sends_only = (row.join_state & MC_RECEIVES) == 0;
	return merge_member(c, port, sends_only) ? E_OK : put_member(c, port, sends_only);
}

static int gather_members(struct gather *c)
{
	uint32_t first = 0;
	int ret;

	c->slot = arena_array(c->a, c->job->disc.g->n_ports, sizeof(*c->slot));
	if (c->slot == NULL) {
		return -ENOMEM;
	}
	ret = state_records(c->sm->d.state, RECORDS_GROUPS, add_group, c);
	if (ret == E_OK) {
		ret = state_records(c->sm->d.state, RECORDS_MEMBERS, add_member, c);
	}
	for (uint32_t i = 0; i < c->n_groups && ret == E_OK; i++) {
		c->groups[i].members = c->members + first;
		first += c->groups[i].n;
	}
	return ret;
}

/* ---- trees and tables ---- */

/* [n_switches] switches without a multicast table. NULL: none, or out of memory
 * (ret_count). */
static const uint8_t *without_mft(const struct disc *d, struct arena *a, int *ret_count)
{
	const struct graph *g = d->g;
	uint8_t *list = arena_array(a, g->n_switches, 1);
	bool any = false;

	*ret_count = list == NULL ? -ENOMEM : E_OK;
	for (uint32_t i = 0; i < g->n_switches && list != NULL; i++) {
		list[i] = field_get(d->of[g->switches[i]]->switch_info,
		                    SI_MULTICAST_FDB_CAP) == 0;
		any |= list[i];
	}
	return any ? list : NULL;
}

static int by_number(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

/* Blocks with the MLID of a group, each once. */
static int used_blocks(const struct mcast_in *in, struct arena *a,
                       struct program_mft *ret_mft)
{
	uint16_t *used = arena_array(a, in->n_groups, sizeof(*used));
	uint32_t n = 0;

	if (used == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < in->n_groups; i++) {
		used[i] = (uint16_t)((in->groups[i].mlid - MLID_FIRST) / MFT_BLOCK_MLIDS);
	}
	qsort(used, in->n_groups, sizeof(*used), by_number);
	for (uint32_t i = 0; i < in->n_groups; i++) {
		if (n == 0 || used[n - 1] != used[i]) {
			used[n++] = used[i];
		}
	}
	ret_mft->used = used;
	ret_mft->n_used = n;
	return E_OK;
}

static int make_tables(const struct job *j, const struct mcast_in *in, struct arena *a,
                       struct program_mft *ret_mft)
{
	struct mcast_tree *trees = arena_array(a, in->n_groups, sizeof(*trees));
	struct mft_block *blocks;
	struct why why = { "" };
	int ret = trees == NULL ? -ENOMEM
	                        : route_multicast(&j->request, j->route.used, in, a,
	                                          trees, &why);

	if (why.text[0]) {
		log_message_lines(MSG_ROUTE_MULTICAST, source,
		                  "multicast trees are those of minhop: ", why.text);
	}
	if (ret == E_OK) {
		ret = mcast_blocks(in, trees, a, &blocks, &ret_mft->n);
	}
	if (ret == E_OK) {
		ret_mft->blocks = blocks;
		ret = used_blocks(in, a, ret_mft);
	}
	return ret;
}

static uint64_t version(const struct multicast *m)
{
	return state_version(m->sm->d.state, RECORDS_GROUPS) +
	       state_version(m->sm->d.state, RECORDS_MEMBERS);
}

bool multicast_changed(const struct multicast *m)
{
	return version(m) != m->version;
}

int multicast_start(struct multicast *m, struct job *j)
{
	struct gather c = { .sm = m->sm, .job = j };
	struct program_mft tables = { .n = 0 };
	struct mcast_in in;
	int mft_ret, ret;

	multicast_end(m); /* one that was given up */
	m->version = version(m);
	if (m->sm->d.config->disable_multicast) {
		return E_OK;
	}
	m->arena = c.a = arena_new();
	ret = c.a == NULL ? -ENOMEM : gather_members(&c);
	if (ret != E_OK) {
		return ret;
	}
	in = (struct mcast_in){ .groups = c.groups,
		                .n_groups = c.n_groups,
		                .barred = without_mft(&j->disc, c.a, &mft_ret) };
	ret = mft_ret == E_OK ? make_tables(j, &in, c.a, &tables) : mft_ret;
	return ret == E_OK ? program_mfts(&j->program, &tables, c.a) : ret;
}

void multicast_end(struct multicast *m)
{
	arena_free(m->arena);
	m->arena = NULL;
}
