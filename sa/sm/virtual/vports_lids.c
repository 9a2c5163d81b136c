/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * LIDs of virtual ports come after those of ports, out of what is left. lids_assign() sees the rows of
 * virtual ports in the memory as those of absent ports, so it gives their LIDs to others only when
 * there is no other LID; such a virtual port gets another one here.
 *
 * An adapter has LIDs for a limited number of GUIDs. Beyond it the GUID that took its LID first, and is
 * known to be gone, loses it to the new one.
 *
 * Those in the memory come first, then those that show a LID, then the new ones: so none takes a LID
 * that another one uses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/search.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "routing/route.h"
#include "sa/sm/virtual/vports.h"

static const char *const source = "virtual ports";

enum { FREE, AWAY, TAKEN }; /* claims of a LID */

struct claims {
	const struct vports_lids_in *in;
	const struct vports *v;
	uint8_t *claim; /* [limit + 1] */
	uint32_t limit, cursor;
	struct lid_memory *changed; /* [n_changed] */
	size_t n_changed;
	struct vport_lid *own; /* [n_own] */
	uint32_t n_own;
	uint32_t n_full; /* virtual ports without a LID */
};

/* A virtual port that needs a LID, and its port. */
struct applicant {
	struct vport *vport;
	struct vport_host *host;
};

static const struct lid_memory *remembered(const struct vports_lids_in *in, uint64_t guid)
{
	size_t at = LOWER_BOUND(in->n_memory, i, in->memory[i].guid < guid);

	return !in->forget && at < in->n_memory && in->memory[at].guid == guid
	               ? &in->memory[at]
	               : NULL;
}

static int init_claims(struct claims *c, const struct vports *v, struct arena *a)
{
	const struct vports_lids_in *in = c->in;
	const struct lids *l = in->lids;

	c->limit = lids_limit(in->g, in->max_lid);
	c->claim = arena_array(a, (size_t)c->limit + 1, 1);
	c->cursor = 1;
	if (c->claim == NULL) {
		return -ENOMEM;
	}
	for (uint32_t lid = 1; lid <= l->top && lid <= c->limit; lid++) {
		c->claim[lid] = l->owner[lid] != GRAPH_NONE ? TAKEN : FREE;
	}
	for (size_t i = 0; i < in->n_memory && !in->forget; i++) {
		struct lid_range r = in->memory[i].range;

		for (uint32_t k = 0;
		     k < UINT32_C(1) << (r.lmc & 7) && r.base + k <= c->limit &&
		     r.base != 0 && !vports_has_guid(v, in->memory[i].guid);
		     k++) {
			c->claim[r.base + k] |= AWAY;
		}
	}
	return E_OK;
}

static bool claim(struct claims *c, struct applicant *x, uint32_t lid, bool is_known)
{
	uint32_t port = x->host->port;

	if (lid == 0 || lid > c->limit || c->claim[lid] != FREE) {
		return false;
	}
	c->claim[lid] = TAKEN;
	x->vport->lid = lid;
	c->own[c->n_own++] =
		(struct vport_lid){ .lid = lid, .base = c->in->lids->of[port].base };
	if (!is_known) {
		c->changed[c->n_changed++] =
			(struct lid_memory){ .guid = x->vport->guid,
			                     .range = { .base = lid } };
	}
	return true;
}

static bool claim_remembered(struct claims *c, struct applicant *x)
{
	const struct lid_memory *m = remembered(c->in, x->vport->guid);

	return m != NULL &&
	       claim(c, x, m->range.base, m->range.lmc == 0 && m->gone_epoch == 0);
}

/* The LID of a GUID that is gone may be given to others. */
static void release(struct claims *c, const struct lid_memory *m)
{
	uint32_t lid = m->range.base;

	c->changed[c->n_changed++] = (struct lid_memory){ .guid = m->guid };
	if (m->range.lmc == 0 && lid <= c->limit && c->claim[lid] == AWAY) {
		c->claim[lid] = FREE;
		c->cursor = lid < c->cursor ? lid : c->cursor;
	}
}

/* May one more GUID of this adapter take a LID? Perhaps after another one that is gone has lost its own. A
 * GUID that went after the last sweep is not noted as gone yet. */
static bool has_room(struct claims *c, struct vport_host *h)
{
	for (uint32_t i = 0; h->n_lids >= VPORTS_LIDS_MAX && i < h->n_lids; i++) {
		const struct lid_memory *m = remembered(c->in, h->took[i]);

		if (vports_has_guid(c->v, h->took[i]) ||
		    graph_port_by_guid(c->in->g, h->took[i]) != GRAPH_NONE ||
		    (m != NULL && m->gone_epoch == 0)) {
			continue;
		}
		if (m != NULL) {
			release(c, m);
		}
		memmove(h->took + i, h->took + i + 1,
		        (--h->n_lids - i) * sizeof(*h->took));
	}
	return h->n_lids < VPORTS_LIDS_MAX &&
	       VECTOR_RESERVE(h->took, h->cap_took, h->n_lids + 1) == E_OK;
}

/* Notes that a GUID took a LID, once. */
static void note_taken(struct applicant *x)
{
	struct vport_host *h = x->host;

	for (uint32_t i = 0; i < h->n_lids; i++) {
		if (h->took[i] == x->vport->guid) {
			return;
		}
	}
	h->took[h->n_lids++] = x->vport->guid;
}

/* The LID that it has on the fabric, as another subnet manager may have given it. */
static void claim_shown(struct claims *c, struct applicant *x)
{
	if (has_room(c, x->host) && claim(c, x, x->vport->shown_lid, false)) {
		note_taken(x);
	}
}

static void claim_any(struct claims *c, struct applicant *x)
{
	if (!has_room(c, x->host)) {
		return;
	}
	while (c->cursor <= c->limit && !claim(c, x, c->cursor, false)) {
		c->cursor++;
	}
	if (x->vport->lid != 0) {
		note_taken(x);
	}
}

static int compare_guid(const void *x, const void *y)
{
	uint64_t a = ((const struct applicant *)x)->vport->guid;
	uint64_t b = ((const struct applicant *)y)->vport->guid;

	return (a > b) - (a < b);
}

static int compare_lid(const void *x, const void *y)
{
	const struct vport_lid *a = x, *b = y;

	return (a->lid > b->lid) - (a->lid < b->lid);
}

/* Those that need a LID, by GUID. */
static uint32_t list_applicants(struct vports *v, struct arena *a,
                                struct applicant **ret_applicant)
{
	uint32_t n = 0, max = 1;

	for (uint32_t i = 0; i < v->n_hosts; i++) {
		max += v->hosts[i]->n;
	}
	*ret_applicant = arena_array(a, max, sizeof(**ret_applicant));
	for (uint32_t i = 0; i < v->n_hosts && *ret_applicant != NULL; i++) {
		struct vport_host *h = v->hosts[i];

		for (uint32_t k = 0; k < h->n; k++) {
			struct vport *p = &h->list[k];

			p->lid = 0;
			if (h->port != GRAPH_NONE && !p->refused && p->own_lid) {
				(*ret_applicant)[n++] = (struct applicant){ p, h };
			}
		}
	}
	if (n != 0) {
		qsort(*ret_applicant, n, sizeof(**ret_applicant), compare_guid);
	}
	return n;
}

/* The others use the LID of another virtual port of their port, or that of the port. */
static void share_lids(struct vports *v, const struct lids *l)
{
	for (uint32_t i = 0; i < v->n_hosts; i++) {
		struct vport_host *h = v->hosts[i];

		for (uint32_t k = 0; k < h->n && h->port != GRAPH_NONE; k++) {
			struct vport *p = &h->list[k];
			size_t at =
				LOWER_BOUND(h->n, j, h->list[j].index < p->lid_by_index);
			bool by_index = p->lid_by_index != 0 && at < h->n &&
			                h->list[at].index == p->lid_by_index &&
			                h->list[at].own_lid && h->list[at].lid != 0;

			if (!p->own_lid && !p->refused) {
				p->lid = by_index ? h->list[at].lid : l->of[h->port].base;
			}
		}
	}
}

/* The table of owners with the LIDs of virtual ports. */
static int extend_lids(const struct claims *c, const struct applicant *x, uint32_t n,
                       struct arena *a, struct lids *ret_lids)
{
	const struct lids *l = c->in->lids;

	*ret_lids = *l;
	if (c->n_own == 0) {
		return E_OK;
	}
	if (c->own[c->n_own - 1].lid > ret_lids->top) {
		ret_lids->top = c->own[c->n_own - 1].lid;
	}
	ret_lids->owner =
		arena_array(a, (size_t)ret_lids->top + 1, sizeof(*ret_lids->owner));
	if (ret_lids->owner == NULL) {
		return -ENOMEM;
	}
	memset(ret_lids->owner, 0xff,
	       ((size_t)ret_lids->top + 1) * sizeof(*ret_lids->owner));
	memcpy(ret_lids->owner, l->owner,
	       ((size_t)l->top + 1) * sizeof(*ret_lids->owner));
	for (uint32_t i = 0; i < n; i++) {
		if (x[i].vport->lid != 0) {
			ret_lids->owner[x[i].vport->lid] = x[i].host->port;
		}
	}
	ret_lids->count += c->n_own;
	return E_OK;
}

int vports_assign_lids(struct vports *v, const struct vports_lids_in *in, struct arena *a,
                       struct vports_lids *ret_lids)
{
	struct claims c = { .in = in, .v = v };
	struct applicant *x;
	uint32_t n = list_applicants(v, a, &x);

	c.changed = arena_array(a, 2 * (size_t)n + 1, sizeof(*c.changed));
	c.own = arena_array(a, n + 1, sizeof(*c.own));
	if (x == NULL || c.changed == NULL || c.own == NULL ||
	    (n != 0 && init_claims(&c, v, a) != E_OK)) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		(void)claim_remembered(&c, &x[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (x[i].vport->lid == 0) {
			claim_shown(&c, &x[i]);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		if (x[i].vport->lid == 0) {
			claim_any(&c, &x[i]);
			c.n_full += x[i].vport->lid == 0;
		}
	}
	if (c.n_full != 0) {
		log_message(
			MSG_VIRT_NO_LID, source,
			"%u virtual ports get no LID, because none is left or their host has %u already: raise unicast_lid_limit, lower the LMC, or let them share the LID of their port",
			c.n_full, VPORTS_LIDS_MAX);
	}
	if (c.n_own != 0) {
		qsort(c.own, c.n_own, sizeof(*c.own), compare_lid);
	}
	share_lids(v, in->lids);
	*ret_lids = (struct vports_lids){ .own = c.own,
		                          .n_own = c.n_own,
		                          .changed = c.changed,
		                          .n_changed = c.n_changed };
	return extend_lids(&c, x, n, a, &ret_lids->all);
}

/* --- routes ------------------------------------------------------------------------------- */

/* Rows of one byte or more per LID, with the columns of the base LIDs copied. NULL rows stay. */
static int extend_rows(const struct vports_lids *l, struct arena *a, uint8_t **rows,
                       uint32_t n_rows, size_t old_stride, size_t old_bytes,
                       size_t new_stride, size_t unit, uint8_t none)
{
	uint8_t *more;

	if (*rows == NULL || n_rows == 0) {
		return E_OK;
	}
	more = arena_array(a, n_rows, new_stride);
	if (more == NULL) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < n_rows; s++) {
		uint8_t *row = more + s * new_stride;

		memset(row, none, new_stride);
		memcpy(row, *rows + s * old_stride, old_bytes);
		for (uint32_t i = 0; i < l->n_own; i++) {
			memcpy(row + l->own[i].lid * unit, row + l->own[i].base * unit,
			       unit);
		}
	}
	*rows = more;
	return E_OK;
}

int vports_extend_routes(const struct vports_lids *l, struct arena *a,
                         struct route_result *r)
{
	struct lft *t = &r->out.lft, old = *t;
	uint32_t n_lids = l->all.top + 1;
	uint8_t *paths = (uint8_t *)r->paths.rows;
	int ret;

	if (l->n_own == 0 || t->rows == NULL) {
		return E_OK;
	}
	n_lids = n_lids > old.n_lids ? n_lids : old.n_lids;
	t->n_lids = n_lids;
	t->stride = ((size_t)n_lids + 63) / 64 * 64;
	ret = extend_rows(l, a, &t->rows, t->n_switches, old.stride, old.n_lids,
	                  t->stride, 1, LFT_NO_ROUTE);
	if (ret == E_OK) {
		ret = extend_rows(l, a, &r->out.lanes.rows, t->n_switches,
		                  r->out.lanes.stride, old.n_lids, t->stride, 1, 0);
		r->out.lanes.stride =
			r->out.lanes.rows != NULL ? t->stride : r->out.lanes.stride;
	}
	if (ret == E_OK) {
		ret = extend_rows(l, a, &r->alternates.rows, t->n_switches,
		                  r->alternates.stride, old.n_lids, t->stride, 1,
		                  PORT_GROUP_NONE);
		r->alternates.stride =
			r->alternates.rows != NULL ? t->stride : r->alternates.stride;
	}
	if (ret == E_OK) {
		size_t unit = sizeof(struct path_row), old_bytes = r->paths.n_lids * unit;

		ret = extend_rows(l, a, &paths, r->paths.n_sources, old_bytes, old_bytes,
		                  n_lids * unit, unit, 0);
		r->paths.rows = (struct path_row *)paths;
		r->paths.n_lids = paths != NULL ? n_lids : r->paths.n_lids;
	}
	return ret;
}

int vports_strip_routes(const struct vports_lids *l, const struct lids *ports,
                        struct arena *a, const struct lft *t, struct lft *ret_lft)
{
	struct lft less;
	int ret = l->n_own != 0 ? lft_init(&less, t->n_switches, ports->top, a) : E_OK;

	if (l->n_own == 0 || ret != E_OK) {
		*ret_lft = *t;
		return ret;
	}
	for (uint32_t s = 0; s < t->n_switches; s++) {
		uint8_t *row = lft_row(&less, s);

		memcpy(row, lft_row(t, s),
		       less.n_lids < t->n_lids ? less.n_lids : t->n_lids);
		for (uint32_t i = 0; i < l->n_own && l->own[i].lid < less.n_lids; i++) {
			row[l->own[i].lid] = LFT_NO_ROUTE;
		}
	}
	*ret_lft = less;
	return E_OK;
}

static int compare_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

int vports_extend_changes(const struct vports_lids *l, struct arena *a,
                          const uint32_t **lid, uint32_t *n)
{
	uint32_t *more, n_more = *n;

	if (l->n_own == 0 || *n == 0) {
		return E_OK;
	}
	more = arena_array(a, *n + l->n_own, sizeof(*more));
	if (more == NULL) {
		return -ENOMEM;
	}
	memcpy(more, *lid, *n * sizeof(*more));
	for (uint32_t i = 0; i < l->n_own; i++) {
		size_t at = LOWER_BOUND(*n, k, (*lid)[k] < l->own[i].base);

		if (at < *n && (*lid)[at] == l->own[i].base) {
			more[n_more++] = l->own[i].lid;
		}
	}
	qsort(more, n_more, sizeof(*more), compare_number);
	*lid = more;
	*n = n_more;
	return E_OK;
}
