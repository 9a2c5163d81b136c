/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Multicast: groups and members of the durable state become trees over the present graph,
 * and those become tables.
 *
 * A heavy sweep does it after the unicast tables. When members come or go between sweeps
 * the state's version says so, and an idle fabric thread does this step alone: all
 * changes of one moment make one step, and what comes meanwhile makes the next. Before
 * that the thread rests for as long as the step took: a flood of joins has half of it.
 *
 * Members that send only are in the tree but get nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/state.h"
#include "routing/graph/graph.h"
#include "routing/multicast.h"
#include "sa/sm/sweep_int.h"
#include "sa/store/mcast.h"

static const char *const source = "sweep";

enum { REST_MAX_MS = 1000 };

/* Groups as the state has them, both lists by MGID. */
struct gather {
	struct sweep *s;
	struct arena *a;
	struct mcast_group *groups;
	uint8_t (*mgid)[MGID_BYTES]; /* of each group */
	uint32_t n_groups, cap_groups;
	struct mcast_member *members;
	uint32_t n_members, cap_members;
	uint32_t at;    /* the group whose members are read */
	uint32_t near;  /* the end port that was found last; members come by PortGID */
	uint32_t *slot; /* [ports of the graph] where it was put last + 1 */
};

static void *more(struct arena *a, const void *old, uint32_t n, uint32_t *cap,
                  size_t size)
{
	uint32_t want = *cap ? 2 * *cap : 64;
	void *p = arena_array(a, want, size);

	if (p != NULL) {
		if (n) {
			memcpy(p, old, n * size);
		}
		*cap = want;
	}
	return p;
}

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
	uint32_t cap = c->cap_groups;

	if (at == NULL || key_len != MGID_BYTES) {
		return E_MALFORMED;
	}
	if (c->n_groups == cap) {
		c->groups = more(c->a, c->groups, c->n_groups, &cap, sizeof(*c->groups));
		cap = c->cap_groups;
		c->mgid = more(c->a, c->mgid, c->n_groups, &cap, sizeof(*c->mgid));
		if (c->groups == NULL || c->mgid == NULL) {
			return -ENOMEM;
		}
		c->cap_groups = cap;
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

	if (c->n_members == c->cap_members) {
		c->members = more(c->a, c->members, c->n_members, &c->cap_members,
		                  sizeof(*c->members));
		if (c->members == NULL) {
			return -ENOMEM;
		}
	}
	c->members[c->n_members++] = (struct mcast_member){ port, sends_only };
	g->n++;
	return E_OK;
}

/* A port may be a member by several GIDs: once is enough, as one who receives if it may.
 */
static bool merged(struct gather *c, uint32_t port, bool sends_only)
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
	const struct graph *g = c->s->job->disc.g;
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
	return merged(c, port, sends_only) ? E_OK : put_member(c, port, sends_only);
}

/* Lists that have stopped moving. */
static int gather(struct gather *c)
{
	uint32_t first = 0;
	int ret;

	c->slot = arena_array(c->a, c->s->job->disc.g->n_ports, sizeof(*c->slot));
	if (c->slot == NULL) {
		return -ENOMEM;
	}
	ret = state_records(c->s->d.state, RECORDS_GROUPS, add_group, c);
	if (ret == E_OK) {
		ret = state_records(c->s->d.state, RECORDS_MEMBERS, add_member, c);
	}
	for (uint32_t i = 0; i < c->n_groups && ret == E_OK; i++) {
		c->groups[i].members = c->members + first;
		first += c->groups[i].n;
	}
	return ret;
}

/* ---- trees and tables ---- */

/* Switches without a multicast table. NULL: none, or memory is out (ret). */
static const uint8_t *barred(const struct disc *d, struct arena *a, int *ret)
{
	const struct graph *g = d->g;
	uint8_t *list = arena_array(a, g->n_switches, 1);
	bool any = false;

	*ret = list == NULL ? -ENOMEM : E_OK;
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
                       struct program_mft *ret)
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
	ret->used = used;
	ret->n_used = n;
	return E_OK;
}

static int make_tables(struct sweep *s, const struct mcast_in *in, struct arena *a,
                       struct program_mft *ret)
{
	const struct job *j = s->job;
	struct mcast_tree *trees = arena_array(a, in->n_groups, sizeof(*trees));
	struct mft_block *blocks;
	struct why why = { "" };
	int err = trees == NULL ? -ENOMEM
	                        : route_multicast(&j->request, j->route.used, in, a,
	                                          trees, &why);

	if (why.text[0]) {
		log_lines(LOG_LEVEL_WARNING, source,
		          "multicast trees are those of minhop: ", why.text);
	}
	if (err == E_OK) {
		err = mcast_blocks(in, trees, a, &blocks, &ret->n);
	}
	if (err == E_OK) {
		ret->blocks = blocks;
		err = used_blocks(in, a, ret);
	}
	return err;
}

static int start(struct sweep *s, struct arena *a)
{
	struct gather c = { .s = s, .a = a };
	struct program_mft m = { .n = 0 };
	struct mcast_in in;
	int bars, ret = gather(&c);

	if (ret != E_OK) {
		return ret;
	}
	in = (struct mcast_in){ .groups = c.groups,
		                .n_groups = c.n_groups,
		                .barred = barred(&s->job->disc, a, &bars) };
	ret = bars == E_OK ? make_tables(s, &in, a, &m) : bars;
	return ret == E_OK ? program_mfts(&s->job->program, &m, a) : ret;
}

static uint64_t version(const struct sweep *s)
{
	return state_version(s->d.state, RECORDS_GROUPS) +
	       state_version(s->d.state, RECORDS_MEMBERS);
}

bool mcast_changed(const struct sweep *s)
{
	return version(s) != s->mcast_version;
}

int mcast_start(struct sweep *s)
{
	mcast_end(s); /* one that was given up */
	s->mcast_version = version(s);
	if (s->d.config->disable_multicast) {
		return E_OK;
	}
	s->mcast_arena = arena_new();
	return s->mcast_arena == NULL ? -ENOMEM : start(s, s->mcast_arena);
}

void mcast_end(struct sweep *s)
{
	arena_free(s->mcast_arena);
	s->mcast_arena = NULL;
}

/* ---- between sweeps ---- */

bool regroup_wanted(const struct sweep *s)
{
	return s->was_master && s->status.up && (mcast_changed(s) || guids_changed(s));
}

void regroup_start(struct sweep *s)
{
	struct program *p = &s->job->program;

	s->regroup_began = sweep_now(s);
	p->n_timeouts = p->n_refused = p->n_mft_sets = p->n_guid_sets = 0;
	p->first_trouble = NULL;
	p->ret = mcast_changed(s) ? mcast_start(s) : E_OK;
	if (p->ret == E_OK) {
		p->ret = guids_start(s);
	}
}

void regroup_rest(struct sweep *s)
{
	uint64_t now = sweep_now(s), took = now - s->regroup_began;

	s->next_regroup = now + (took < REST_MAX_MS ? took : REST_MAX_MS);
}

bool regroup_end(struct sweep *s)
{
	const struct program *p = &s->job->program;

	mcast_end(s);
	guids_end(s);
	if (p->ret != E_OK) {
		sweep_want_heavy(s, "multicast tables and alias GUIDs: %s",
		                 err_text(p->ret));
		return false;
	}
	if (p->n_timeouts) {
		sweep_want_heavy(s, "%s", p->first_trouble);
	} else if (p->first_trouble != NULL) {
		log_warning(source, "%s", p->first_trouble);
	}
	s->status.mft_sets += p->n_mft_sets;
	log_debug(source,
	          "clients wrote: sent %u blocks of multicast tables, %u of GUIDs",
	          p->n_mft_sets, p->n_guid_sets);
	return p->n_mft_sets + p->n_guid_sets != 0;
}
