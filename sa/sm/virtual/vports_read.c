/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * One reader per port asks for one thing after the other:
 *
 *   GeneralInfo -> VirtualizationInfo -> Set it: enable, clear VPortStateChange -> VPortStates
 *      -> VPortInfo of each that is not DOWN -> its VNodeInfo and description
 *
 * VPortStateChange is cleared before the states are read, so a change is never lost. The source does
 * not say whether 1 or 0 clears it. Writing 1 does so for PortStateChange; where the bit stays set
 * after that, the Set is repeated with 0.
 *
 * A new list replaces the known one when all has been answered. Requests that time out leave the
 * known one, and the next sweep asks again. A port that says so is read a second time while the first
 * reading goes on; what the first one finds counts no more then.
 */
#include <errno.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/vector.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/virtual/vports.h"

enum {
	VIRT_IGNORE,
	VIRT_DISABLE,
	VIRT_ENABLE,  /* values of virt_enabled */
	PATIENCE = 4, /* reads in a row before they become rarer */
	GAP_FIRST_MS = 2000,
	GAP_MAX_MS = 300000
};

static const char *const source = "virtual ports";

/* Reads the virtual ports of one port; in the arena of the round. */
struct vport_reader {
	struct vports_read *round;
	struct disc_node *node;
	struct disc_port *port;
	struct vport_host *host;
	struct vport_reader *next; /* that waits, too */
	struct vport *list;        /* [n] as read; in the arena */
	uint32_t n;
	uint16_t top; /* index of the last one that is looked at */
	unsigned pending;
	uint32_t number; /* of the reading, see struct vport_host */
	bool failed, cleared;
	bool silent; /* a request was not answered */
};

/* The subject of a request for one virtual port. */
struct vport_request {
	struct vport_reader *reader;
	struct vport *vport;
};

static void start_next(struct vports_read *r);
static void finish(struct vport_reader *x);

/* --- requests ------------------------------------------------------------------------- */

static bool ask(struct vport_reader *x, uint8_t method, uint16_t attr, uint32_t mod,
                const uint8_t *data, smp_done_f *done, void *ctx)
{
	const struct config *c = x->round->config;
	bool ok = smp_submit(x->round->smp,
	                     &(struct smp_request){ .dest = x->port->dest,
	                                            .method = method,
	                                            .attr = attr,
	                                            .mod = mod,
	                                            .data = data,
	                                            .retries = c->transaction_retries,
	                                            .done = done,
	                                            .ctx = ctx }) == E_OK;

	x->pending += ok;
	x->failed |= !ok;
	x->silent |= !ok;
	return ok;
}

/* \return true: there is an answer. A port that refuses one attribute has no virtual port there. */
static bool answered(struct vport_reader *x, const struct smp_reply *r)
{
	x->pending--;
	if (r->ret == E_TIMEOUT) {
		x->failed = x->silent = true;
		smp_dest_revive(r->dest);
	}
	return r->ret == E_OK;
}

static void complain(struct vport_reader *x, const char *what)
{
	if (!x->host->reported) {
		x->host->reported = true;
		log_message(MSG_VIRT_UNREAD, source, "%s: %s",
		            disc_place(x->round->disc, x->node, x->port->num), what);
	}
}

/* --- one virtual port ------------------------------------------------------------------- */

static void on_node_info(void *ctx, const struct smp_reply *r)
{
	struct vport_request *q = ctx;

	if (answered(q->reader, r)) {
		q->vport->node_guid = field_get(r->data, VNI_NODE_GUID);
	}
	finish(q->reader);
}

static void on_description(void *ctx, const struct smp_reply *r)
{
	struct vport_request *q = ctx;

	if (answered(q->reader, r)) {
		for (unsigned i = 0; i < VPORT_DESCRIPTION_BYTES && r->data[i] != 0;
		     i++) {
			bool plain = r->data[i] >= ' ' && r->data[i] < 0x7f;

			q->vport->description[i] = plain ? (char)r->data[i] : '?';
		}
	}
	finish(q->reader);
}

static void on_info(void *ctx, const struct smp_reply *r)
{
	struct vport_request *q = ctx;
	struct vport *v = q->vport;

	if (answered(q->reader, r)) {
		v->guid = field_get(r->data, VPI_GUID);
		v->state = (uint8_t)field_get(r->data, VPI_STATE);
		v->own_lid = field_get(r->data, VPI_LID_REQUIRED);
		v->shown_lid = (uint16_t)field_get(r->data, VPI_LID);
		v->lid_by_index = (uint16_t)field_get(r->data, VPI_LID_BY_INDEX);
		/* the port itself stands among them */
		if (v->guid != 0 && v->guid != q->reader->port->guid) {
			ask(q->reader, UMAD_METHOD_GET, VPORT_ATTR_NODE_INFO, v->index,
			    NULL, on_node_info, q);
			ask(q->reader, UMAD_METHOD_GET, VPORT_ATTR_NODE_DESC, v->index,
			    NULL, on_description, q);
		}
	}
	finish(q->reader);
}

static void ask_vport(struct vport_reader *x, uint16_t index)
{
	struct vport_request *q = arena_alloc(x->round->arena, sizeof(*q));
	struct vport *v = &x->list[x->n];

	if (q == NULL) {
		x->failed = true;
		return;
	}
	v->index = index;
	x->n++;
	*q = (struct vport_request){ .reader = x, .vport = v };
	ask(x, UMAD_METHOD_GET, VPORT_ATTR_INFO, index, NULL, on_info, q);
}

static void on_states(void *ctx, const struct smp_reply *r)
{
	struct vport_reader *x = ctx;
	uint32_t first = r->mod * VPORT_STATES_PER_BLOCK;

	if (answered(x, r)) {
		for (uint32_t i = first;
		     i < first + VPORT_STATES_PER_BLOCK && i <= x->top; i++) {
			uint64_t state = field_get(r->data, VPORT_STATE(i));

			if (state >= PORT_INIT && state <= PORT_ACTIVE &&
			    x->n <= x->top) {
				ask_vport(x, (uint16_t)i);
			}
		}
	}
	finish(x);
}

/* --- the port --------------------------------------------------------------------------- */

static void read_states(struct vport_reader *x)
{
	x->list = arena_array(x->round->arena, x->top + 1U, sizeof(*x->list));
	if (x->list == NULL) {
		x->failed = true;
		return;
	}
	for (unsigned b = 0; b <= x->top / VPORT_STATES_PER_BLOCK; b++) {
		ask(x, UMAD_METHOD_GET, VPORT_ATTR_STATES, b, NULL, on_states, x);
	}
}

static void on_enabled(void *ctx, const struct smp_reply *r);

/* The known virtual ports do not count until all are read again: requests may be dropped in
 * between. */
static void set_enable(struct vport_reader *x, bool enable, bool clear)
{
	uint8_t data[SMP_DATA_BYTES] = { 0 };

	x->host->known = false;
	x->number = ++x->host->n_readings;
	field_set(data, VI_ENABLE, enable);
	field_set(data, VI_VPORT_STATE_CHANGE, clear);
	ask(x, UMAD_METHOD_SET, VPORT_ATTR_VIRTUALIZATION_INFO, 0, data, on_enabled, x);
}

static void take_limits(struct vport_reader *x, const uint8_t *info)
{
	uint64_t cap = field_get(info, VI_VPORT_CAP), top = field_get(info, VI_TOP_INDEX);

	x->host->cap = (uint16_t)cap;
	if (top >= VPORTS_MAX || (top > cap && cap != 0)) {
		complain(
			x,
			"it says that it has more virtual ports than its table or 1,024; others are left alone");
		top = top < VPORTS_MAX && top <= cap ? top
		      : cap < VPORTS_MAX             ? cap
		                                     : VPORTS_MAX - 1;
	}
	x->top = (uint16_t)top;
}

static void on_enabled(void *ctx, const struct smp_reply *r)
{
	struct vport_reader *x = ctx;
	bool enable = x->round->config->virt_enabled == VIRT_ENABLE;

	if (answered(x, r)) {
		if (enable && field_get(r->data, VI_VPORT_STATE_CHANGE) && !x->cleared) {
			x->cleared = true;
			set_enable(x, true, false);
		} else if (enable && !field_get(r->data, VI_ENABLE)) {
			complain(x, "it does not enable its virtual ports");
			x->failed = true;
		} else if (enable) {
			take_limits(x, r->data);
			read_states(x);
		}
	} else {
		complain(x, "it refuses to enable or disable virtual ports");
		x->failed = true;
	}
	finish(x);
}

/* Notes that VPortStateChange is set again. \return false: it is too early to read. */
static bool is_time(struct vport_reader *x)
{
	struct vport_host *h = x->host;
	uint64_t gap;

	if (x->round->now_ms < h->next_read_ms) {
		return false;
	}
	h->streak++;
	if (h->streak > PATIENCE) {
		gap = h->streak - PATIENCE < 8
		              ? (uint64_t)GAP_FIRST_MS << (h->streak - PATIENCE)
		              : GAP_MAX_MS;
		h->next_read_ms =
			x->round->now_ms + (gap < GAP_MAX_MS ? gap : GAP_MAX_MS);
		complain(
			x,
			"its virtual ports change without end; they are read ever more rarely");
	}
	return true;
}

static void on_virtualization_info(void *ctx, const struct smp_reply *r)
{
	struct vport_reader *x = ctx;
	struct vport_host *h = x->host;
	bool enable = x->round->config->virt_enabled == VIRT_ENABLE;
	bool enabled, changed;

	if (!answered(x, r)) {
		x->failed = true;
		finish(x);
		return;
	}
	enabled = field_get(r->data, VI_ENABLE);
	changed = field_get(r->data, VI_VPORT_STATE_CHANGE);
	if (!changed) {
		h->streak = 0;
		h->next_read_ms = 0;
	}
	if (!enable && enabled) {
		set_enable(x, false, false);
	} else if (enable && (!enabled || !h->known || x->round->forget ||
	                      (changed && is_time(x)))) {
		set_enable(x, true, changed);
	} else {
		x->failed = enable; /* what is known stays */
	}
	finish(x);
}

static void ask_virtualization_info(struct vport_reader *x)
{
	ask(x, UMAD_METHOD_GET, VPORT_ATTR_VIRTUALIZATION_INFO, 0, NULL,
	    on_virtualization_info, x);
}

static void on_general_info(void *ctx, const struct smp_reply *r)
{
	struct vport_reader *x = ctx;

	if (answered(x, r)) {
		x->host->support =
			field_get(r->data, GI_VIRTUALIZATION) ? VPORTS_YES : VPORTS_NO;
	} else if (r->ret != E_TIMEOUT) {
		x->host->support = VPORTS_NO;
	}
	if (x->host->support == VPORTS_YES) {
		ask_virtualization_info(x);
	} else {
		x->failed = true;
	}
	finish(x);
}

/* --- what was read replaces what was known ------------------------------------------------- */

static bool same_vport(const struct vport *a, const struct vport *b)
{
	return a->index == b->index && a->guid == b->guid &&
	       a->node_guid == b->node_guid && a->own_lid == b->own_lid &&
	       a->lid_by_index == b->lid_by_index &&
	       strcmp(a->description, b->description) == 0;
}

/* Takes over what we know of the same virtual port. \return true: there is something to do. */
static bool take_over(struct vport *now, const struct vport *was)
{
	bool work = now->state != PORT_ACTIVE ||
	            (was->lid != 0 && now->own_lid && now->shown_lid != was->lid);

	now->since = was->since;
	now->lid = was->lid;
	now->refused = was->refused;
	return work && !was->refused;
}

/* Index 0 is mostly the port itself, and unused ones have no GUID. */
static uint32_t drop_unused(struct vport_reader *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		if (x->list[i].guid != 0 && x->list[i].guid != x->port->guid) {
			x->list[n++] = x->list[i];
		}
	}
	return n;
}

static int compare_index(const void *x, const void *y)
{
	const struct vport *a = x, *b = y;

	return (int)a->index - (int)b->index;
}

/* \return true: there is something to do. */
static bool replace_list(struct vport_reader *x)
{
	struct vport_host *h = x->host;
	uint32_t n = drop_unused(x), at = 0;
	struct vport *list = calloc(n + 1, sizeof(*list));
	bool changed = n != h->n;

	if (list == NULL) {
		x->round->n_unread++;
		return false;
	}
	if (n != 0) {
		qsort(x->list, n, sizeof(*list), compare_index);
	}
	for (uint32_t i = 0; i < n; i++) {
		list[i] = x->list[i];
		while (at < h->n && h->list[at].index < list[i].index) {
			at++;
		}
		if (at < h->n && h->list[at].index == list[i].index &&
		    h->list[at].guid == list[i].guid) {
			changed |= !same_vport(&list[i], &h->list[at]);
			changed |= take_over(&list[i], &h->list[at]);
		} else {
			list[i].since = ++x->round->v->counter;
			changed = true;
		}
	}
	free(h->list);
	h->list = list;
	h->n = n;
	h->known = true;
	return changed;
}

static void note_changed(struct vport_reader *x)
{
	struct vports_read *r = x->round;

	if (r->changed == NULL) { /* one port was asked alone */
		r->cap_changed = 64;
		r->changed = arena_array(r->arena, r->cap_changed, sizeof(*r->changed));
	}
	if (r->changed != NULL && r->n_changed < r->cap_changed) {
		r->changed[r->n_changed++] = x->node;
	}
}

/* Ends the reader when nothing of it is pending. */
static void finish(struct vport_reader *x)
{
	struct vports_read *r = x->round;
	bool enable = r->config->virt_enabled == VIRT_ENABLE;

	if (x->pending > 0) {
		return;
	}
	if (!x->failed && x->number == x->host->n_readings &&
	    (x->list != NULL || !enable)) { /* disabled: there are none */
		if (replace_list(x)) {
			note_changed(x);
		}
	}
	r->n_unread += x->silent;
	r->n_active--;
	start_next(r);
}

/* --- which ports ------------------------------------------------------------------------- */

static struct vport_host *host_of(struct vports *v, uint64_t guid, uint8_t num)
{
	struct vport_host *h = vports_find(v, guid, num);

	if (h != NULL) {
		return h;
	}
	h = calloc(1, sizeof(*h));
	if (h == NULL || VECTOR_RESERVE(v->hosts, v->cap_hosts, v->n_hosts + 1) != E_OK ||
	    hash_put(&v->by_port, guid_port_key(guid, num), v->n_hosts) != E_OK) {
		free(h);
		return NULL;
	}
	*h = (struct vport_host){ .node_guid = guid, .num = num, .port = GRAPH_NONE };
	v->hosts[v->n_hosts++] = h;
	return h;
}

static void start(struct vport_reader *x)
{
	x->round->n_active++;
	if (x->host->support == VPORTS_UNKNOWN) {
		ask(x, UMAD_METHOD_GET, ATTR_GENERAL_INFO, GENERAL_INFO_CAPABILITIES,
		    NULL, on_general_info, x);
	} else {
		ask_virtualization_info(x);
	}
	if (x->pending == 0) { /* out of memory */
		x->round->n_active--;
		x->round->n_unread++;
	}
}

static void start_next(struct vports_read *r)
{
	uint32_t most = r->config->virt_max_ports_in_process;

	while (r->waiting != NULL && (most == 0 || r->n_active < most)) {
		struct vport_reader *x = r->waiting;

		r->waiting = x->next;
		start(x);
	}
}

static bool may_have_vports(const struct disc_node *n, const struct disc_port *p)
{
	return n->type == NODE_CA && p->has_info && p->dest != NULL && !n->deaf &&
	       (field_get(p->info, PI_CAPABILITY_MASK2) & CAP2_VIRTUALIZATION) != 0;
}

int vports_read_port(struct vports_read *r, struct disc_node *n, uint8_t num)
{
	struct disc_port *p = &n->ports[num];
	struct vport_host *h;
	struct vport_reader *x;

	if (r->config->virt_enabled == VIRT_IGNORE || !may_have_vports(n, p)) {
		return E_OK;
	}
	h = r->changes ? vports_find(r->v, n->guid, num) : host_of(r->v, n->guid, num);
	if (h == NULL) {
		return r->changes ? E_OK : -ENOMEM;
	}
	if ((h->support == VPORTS_NO && !r->forget) ||
	    (r->changes && h->support != VPORTS_YES) ||
	    (r->disc->local && n->copied && !n->suspect && h->known && !r->changes)) {
		return E_OK;
	}
	x = arena_alloc(r->arena, sizeof(*x));
	if (x == NULL) {
		return -ENOMEM;
	}
	*x = (struct vport_reader){
		.round = r, .node = n, .port = p, .host = h, .next = r->waiting
	};
	r->waiting = x;
	start_next(r);
	return E_OK;
}

int vports_read(struct vports_read *r)
{
	const struct graph *g = r->disc->g;
	int ret = E_OK;

	r->cap_changed = g->n_end_ports;
	r->changed = arena_array(r->arena, g->n_end_ports + 1, sizeof(*r->changed));
	if (r->changed == NULL) {
		return -ENOMEM;
	}
	if (r->config->virt_enabled == VIRT_IGNORE) {
		if (r->v->n_hosts != 0) {
			vports_done(r->v);
		}
		return E_OK;
	}
	for (uint32_t i = 0; i < g->n_end_ports && ret == E_OK; i++) {
		const struct port *p = &g->ports[g->end_ports[i]];

		if (p->num != 0) {
			ret = vports_read_port(r, r->disc->of[p->node], p->num);
		}
	}
	return ret;
}
