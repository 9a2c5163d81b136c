/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What changed: the list of nodes for the steps of a sweep and for the next publish, and, during a
 * local discovery, what these nodes were before.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/discover/discover.h"

static int copy_bytes(uint8_t **bytes, size_t n, struct arena *a)
{
	const uint8_t *from = *bytes;

	if (from != NULL) {
		*bytes = arena_alloc(a, n);
	}
	if (from != NULL && *bytes != NULL) {
		memcpy(*bytes, from, n);
	}
	return from != NULL && *bytes == NULL ? -ENOMEM : E_OK;
}

static int copy_parts(struct disc_saved *s, struct arena *a)
{
	int ret = copy_bytes(&s->node.opa_switch_info, OPA_BYTES_SWITCH_INFO, a);

	for (unsigned i = 0; i <= s->node.n_ports && ret == E_OK; i++) {
		ret = copy_bytes(&s->ports[i].opa_info, OPA_BYTES_PORT_INFO, a);
		if (ret == E_OK) {
			ret = copy_bytes(&s->ports[i].sm_info, SMP_DATA_BYTES, a);
		}
	}
	return ret;
}

static void save(struct disc_node *n)
{
	struct disc *d = n->disc;
	size_t bytes = (n->n_ports + 1U) * sizeof(*n->ports);
	struct disc_saved *s;

	if (!n->copied || n->saved) {
		return;
	}
	s = arena_alloc(d->arena, sizeof(*s) + bytes);
	if (s == NULL || VECTOR_RESERVE(d->saved, d->cap_saved, d->n_saved + 1) != E_OK) {
		disc_error(d, -ENOMEM);
		return;
	}
	s->at = n;
	s->node = *n;
	memcpy(s->ports, n->ports, bytes);
	s->node.ports = s->ports;
	n->saved = true;
	d->saved[d->n_saved++] = s;
	disc_error(d, copy_parts(s, d->arena));
}

static void put_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
	if (to != NULL && from != NULL) {
		memcpy(to, from, n);
	}
}

/* Bytes that came meanwhile are left in the arena. */
static void restore_node(const struct disc_saved *s)
{
	struct disc_node *n = s->at, now = *n;

	*n = s->node;
	n->ports = now.ports;
	put_bytes(now.opa_switch_info, s->node.opa_switch_info, OPA_BYTES_SWITCH_INFO);
	n->opa_switch_info = s->node.opa_switch_info != NULL ? now.opa_switch_info : NULL;
	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct disc_port *p = &n->ports[i];
		uint8_t *opa_info = p->opa_info;

		put_bytes(opa_info, s->ports[i].opa_info, OPA_BYTES_PORT_INFO);
		*p = s->ports[i];
		p->opa_info = p->opa_info != NULL ? opa_info : NULL;
	}
}

void disc_restore(struct disc *d)
{
	for (uint32_t i = 0; i < d->n_saved; i++) {
		restore_node(d->saved[i]);
	}
}

void disc_note_change(struct disc_node *n)
{
	struct disc *d = n->disc;

	if (d->may_return) {
		save(n);
	}
	if (!(n->changed & DISC_SINCE_PUBLISHED) &&
	    VECTOR_RESERVE(d->changed, d->cap_changed, d->n_changed + 1) == E_OK) {
		d->changed[d->n_changed++] = n;
	} else if (!(n->changed & DISC_SINCE_PUBLISHED)) {
		d->any_changed = true;
	}
	n->changed |= DISC_SINCE_GRAPH | DISC_SINCE_PUBLISHED;
}

void disc_changes_published(struct disc *d)
{
	for (uint32_t i = 0; i < d->n_changed; i++) {
		d->changed[i]->changed &= (uint8_t)~DISC_SINCE_PUBLISHED;
	}
	d->n_changed = 0;
	d->any_changed = false;
}

bool disc_may_lead_on(const struct disc_node *a, const struct disc_node *b)
{
	return (a->type == NODE_SWITCH) == (b->type == NODE_SWITCH);
}
