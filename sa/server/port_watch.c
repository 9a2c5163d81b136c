/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/server/port_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "db/snapshot/reader.h"
#include "sa/record/record.h"

enum { SETS = 65536 };

static int compare_ports(const void *a, const void *b)
{
	uint64_t x = ((const struct listed_port *)a)->guid,
		 y = ((const struct listed_port *)b)->guid;

	return x < y ? -1 : x > y;
}

/* Copies a set's keys behind the others, once. */
static int add_keys(struct snap_reader *r, struct port_list *l, uint16_t set,
                    struct listed_port *ret_port)
{
	const void *keys;
	size_t n;
	int ret = snap_p_keys(r, set, &keys, &n);

	if (ret != E_OK) {
		return ret;
	}
	if (VECTOR_RESERVE(l->keys, l->cap_keys, l->n_keys + n) != E_OK) {
		return -ENOMEM;
	}
	memcpy(l->keys + l->n_keys, keys, n * sizeof(*l->keys));
	ret_port->first = (uint32_t)l->n_keys;
	ret_port->n_keys = (uint32_t)n;
	l->n_keys += n;
	return E_OK;
}

/* \a sets: where the keys of each set lie, n_keys 0: not copied yet. */
static int read_ports(struct snap_reader *r, struct port_list *l, size_t cap,
                      struct listed_port *sets)
{
	struct snap_end end;
	uint32_t lid = 0;
	int ret = E_OK;

	while (l->n < cap && (ret = sa_end_from(r, &lid, &end)) == E_OK) {
		struct listed_port *set = &sets[end.p_key_set];
		if (set->n_keys == 0) {
			ret = add_keys(r, l, end.p_key_set, set);
		}
		if (ret != E_OK) {
			return ret;
		}
		l->ports[l->n] = *set;
		l->ports[l->n++].guid = end.port_guid;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

int port_watch_read(struct snap_reader *r, struct port_list *ret_list)
{
	size_t cap = snap_meta(r)->n_end_ports;
	struct port_list l = { .ports = calloc(cap + 1, sizeof(*l.ports)) };
	struct listed_port *sets = calloc(SETS, sizeof(*sets));
	int ret =
		l.ports != NULL && sets != NULL ? read_ports(r, &l, cap, sets) : -ENOMEM;

	free(sets);
	if (ret != E_OK) {
		port_watch_done(&l);
		return ret;
	}
	qsort(l.ports, l.n, sizeof(*l.ports), compare_ports);
	*ret_list = l;
	return E_OK;
}

void port_watch_done(struct port_list *l)
{
	free(l->ports);
	free(l->keys);
	*l = (struct port_list){ .n = 0 };
}

bool port_watch_has(const struct port_list *l, uint64_t guid)
{
	const struct listed_port key = { .guid = guid };

	return bsearch(&key, l->ports, l->n, sizeof(key), compare_ports) != NULL;
}

static void report_change(const struct port_list *l, size_t i, bool came, port_change_f *f,
                 void *ctx)
{
	const struct listed_port *p = &l->ports[i];

	f(ctx, came, p->guid, l->keys + p->first, p->n_keys);
}

void port_watch_compare(const struct port_list *before, const struct port_list *now,
                       port_change_f *f, void *ctx)
{
	size_t i = 0, k = 0;

	while (i < before->n || k < now->n) {
		if (k == now->n ||
		    (i < before->n && before->ports[i].guid < now->ports[k].guid)) {
			report_change(before, i++, false, f, ctx);
		} else if (i == before->n || now->ports[k].guid < before->ports[i].guid) {
			report_change(now, k++, true, f, ctx);
		} else {
			i++;
			k++;
		}
	}
}
