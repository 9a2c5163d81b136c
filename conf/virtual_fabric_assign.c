/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Assigns SLs and P_Keys to the virtual fabrics that have none in the file, in the order of
 * the file, the lowest number first. Virtual fabrics without quality of service share an SL,
 * and so do those of a QOSGroup.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/virtual_fabric.h"

enum { SLS = 16, NO_SL = -1, P_KEYS = 0x8000, FIRST_P_KEY = 2, ADMIN_P_KEY = 0x7fff };

struct assigning {
	struct virtual_fabric **list; /* [n] enabled ones by line */
	uint32_t n;
	unsigned used; /* SLs, as bits */
	int plain;     /* SL of those without quality of service */
	const char *path;
	struct diags *d;
	int ret;
};

static int by_line(const void *a, const void *b)
{
	unsigned x = (*(struct virtual_fabric *const *)a)->line;
	unsigned y = (*(struct virtual_fabric *const *)b)->line;

	return x < y ? -1 : x > y;
}

static int take_sl(struct assigning *s)
{
	for (int sl = 0; sl < SLS; sl++) {
		if (!(s->used >> sl & 1)) {
			s->used |= 1U << sl;
			return sl;
		}
	}
	return NO_SL;
}

/* SLs that are written down are nobody else's. */
static void find_used(struct assigning *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct vf_qos *q = &s->list[i]->service;
		if (s->list[i]->qos && q->base_sl >= 0) {
			s->used |= 1U << q->base_sl;
		}
		if (s->list[i]->qos && q->multicast_sl >= 0) {
			s->used |= 1U << q->multicast_sl;
		}
	}
}

/* That of an earlier fabric of the same QOSGroup. */
static int group_sl(const struct assigning *s, uint32_t i)
{
	const char *group = s->list[i]->qos_group;

	for (uint32_t k = 0; group != NULL && k < i; k++) {
		if (s->list[k]->qos_group != NULL &&
		    strcmp(s->list[k]->qos_group, group) == 0) {
			return s->list[k]->sl;
		}
	}
	return NO_SL;
}

static int choose_sl(struct assigning *s, uint32_t i)
{
	const struct virtual_fabric *vf = s->list[i];
	int sl = vf->qos ? vf->service.base_sl : s->plain;

	if (vf->qos && sl < 0) {
		sl = group_sl(s, i);
	}
	if (sl < 0) {
		sl = take_sl(s);
	}
	if (!vf->qos) {
		s->plain = sl;
	}
	return sl;
}

static void assign_sls(struct assigning *s)
{
	find_used(s);
	for (uint32_t i = 0; i < s->n; i++) {
		struct virtual_fabric *vf = s->list[i];
		int sl = choose_sl(s, i);

		if (sl < 0) {
			diag_add(
				s->d, DIAG_ERROR, s->path, vf->line,
				"VirtualFabric '%.64s': no SL is left for it; a BaseSL or QOSGroup lets it share one",
				vf->name);
			s->ret = E_SYNTAX;
			return;
		}
		vf->sl = (uint8_t)sl;
		vf->multicast_sl = vf->qos && vf->service.multicast_sl >= 0
		                           ? (uint8_t)vf->service.multicast_sl
		                           : vf->sl;
	}
}

static void assign_p_keys(struct assigning *s, bool *used)
{
	uint32_t next = FIRST_P_KEY;

	for (uint32_t i = 0; i < s->n; i++) {
		used[s->list[i]->pkey] = true;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		while (next < ADMIN_P_KEY && used[next]) {
			next++;
		}
		if (s->list[i]->pkey == 0) {
			s->list[i]->pkey = next++;
		}
	}
}

int virtual_fabrics_assign(struct virtual_fabric *all, uint32_t n, const char *path,
                           struct arena *a, struct diags *d)
{
	struct assigning s = { .plain = NO_SL, .path = path, .d = d };
	bool *used = arena_array(a, P_KEYS, sizeof(*used));

	s.list = arena_array(a, n, sizeof(*s.list));
	if (s.list == NULL || used == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (all[i].enable) {
			s.list[s.n++] = &all[i];
		}
	}
	qsort(s.list, s.n, sizeof(*s.list), by_line);
	assign_sls(&s);
	assign_p_keys(&s, used);
	return s.ret;
}

uint32_t virtual_fabrics_active(const struct virtual_fabrics *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; f != NULL && i < f->n; i++) {
		n += virtual_fabric_is_active(&f->all[i]);
	}
	return n;
}
