/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/snapshot/key_sets.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/hash.h"
#include "conf/base/p_key.h"
#include "conf/base/search.h"
#include "conf/policy/partitions.h"
#include "db/lmdb/diff.h"
#include "db/lmdb/layout.h"
#include "db/snapshot/policy.h"
#include "db/snapshot/snapshot.h"
#include "routing/graph/graph.h"

enum {
	PORT_SHIFT = 16, /* block number: port << 16 | block */
	BLOCK_KEYS = 32,
	SETS_MAX = 65536
};

/* Number of a set; a set that is not known yet is copied. \return HASH_NONE: out of memory. */
static uint32_t intern(struct key_sets *k, struct hash_table *known,
                       const struct key_set *s, struct arena *a)
{
	size_t bytes = s->n * sizeof(*s->key);
	uint64_t digest = digest_bytes(0, s->key, bytes);
	uint32_t number = HASH_FIND(known, digest, i,
	                            k->set[i].n == s->n &&
	                                    memcmp(k->set[i].key, s->key, bytes) == 0);
	if (number != HASH_NONE) {
		return number;
	}
	uint16_t *copy = arena_array(a, s->n + 1, sizeof(*copy));
	if (!copy || hash_add(known, digest, k->n) != E_OK) {
		return HASH_NONE;
	}
	memcpy(copy, s->key, bytes);
	k->set[k->n] = (struct key_set){ copy, s->n };
	return k->n++;
}

/* The P_Keys of n blocks of a port's P_KeyTable, without empty entries. */
static uint32_t list_p_keys(const struct snap_attr *at, size_t n, uint16_t *keys)
{
	uint32_t found = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned in_block =
			at[i].len / 2u < BLOCK_KEYS ? at[i].len / 2u : BLOCK_KEYS;
		for (unsigned k = 0; k < in_block; k++) {
			uint16_t key = key_read_u16(at[i].data + 2 * k);
			if ((key & P_KEY_BASE) != 0) {
				keys[found++] = key;
			}
		}
	}
	return found;
}

/* The sets of the ports whose P_KeyTable was read and which have a LID; of_port is 0
 * where there is none. \param more Sets that there may be besides. */
static int intern_tables(struct key_sets *k, struct hash_table *known,
                         const struct snap_content *c, uint32_t more, struct arena *a)
{
	const struct graph *g = c->g;
	size_t i = LOWER_BOUND(c->n_attrs, r, c->attrs[r].attr < UMAD_SM_ATTR_PKEY_TABLE);
	size_t end =
		LOWER_BOUND(c->n_attrs, r, c->attrs[r].attr <= UMAD_SM_ATTR_PKEY_TABLE);
	struct key_set *set = arena_array(a, end - i + 2 + more, sizeof(*set));

	if (!set) {
		return -ENOMEM;
	}
	memcpy(set, k->set ? k->set : set, k->n * sizeof(*set));
	k->set = set;
	if (k->n == 0 &&
	    intern(k, known, &(struct key_set){ (uint16_t[]){ 0xffff }, 1 }, a) != 0) {
		return -ENOMEM;
	}
	for (size_t n; i < end; i += n) {
		const struct snap_attr *at = &c->attrs[i];
		uint32_t node = graph_node_by_guid(g, at->guid),
			 port = at->block >> PORT_SHIFT;
		for (n = 1; i + n < end && at[n].guid == at->guid &&
		            at[n].block >> PORT_SHIFT == port;
		     n++) {
		}
		if (node == GRAPH_NONE || port > g->nodes[node].n_ports ||
		    c->lids->of[g->nodes[node].first_port + port].base == 0) {
			continue;
		}
		uint16_t *keys = arena_array(a, n * BLOCK_KEYS, sizeof(*keys));
		if (!keys) {
			return -ENOMEM;
		}
		struct key_set s = { keys, list_p_keys(at, n, keys) };
		uint32_t number = intern(k, known, &s, a);
		if (number >= SETS_MAX) {
			return number == HASH_NONE ? -ENOMEM : E_FULL;
		}
		k->of_port[g->nodes[node].first_port + port] = (uint16_t)number;
	}
	return E_OK;
}

/* Sets as a policy needs them: by the P_Keys and by the bitmaps of the port. */
struct refined {
	struct key_sets *k;
	uint32_t width;
	struct hash_table known;
	struct key_set *set; /* [n] */
	uint16_t *old;       /* [n] number of their P_Keys in k->set */
	uint32_t n;
};

/* Number of a pair of P_Keys and bitmaps. \return HASH_NONE: out of memory. */
static uint32_t refine_set(struct refined *f, uint16_t old, const uint64_t *bits)
{
	size_t bytes = f->width * sizeof(*bits);
	uint64_t digest = digest_bytes(old, bits, bytes);
	uint32_t number =
		HASH_FIND(&f->known, digest, i,
	                  f->old[i] == old && memcmp(f->k->bits + (size_t)i * f->width,
	                                             bits, bytes) == 0);
	if (number != HASH_NONE) {
		return number;
	}
	if (hash_add(&f->known, digest, f->n) != E_OK) {
		return HASH_NONE;
	}
	if (bytes) {
		memcpy(f->k->bits + (size_t)f->n * f->width, bits, bytes);
	}
	f->old[f->n] = old;
	f->set[f->n] = f->k->set[old];
	return f->n++;
}

/* Set 0 stays the set of a port of which nothing is known. */
static int refine_sets(struct key_sets *k, const struct snap_content *c, struct arena *a)
{
	const struct graph *g = c->g;
	const size_t max = g->n_end_ports + 2;
	struct refined f = { .k = k,
		             .width = c->policy->head.words * POLICY_SETS,
		             .known = { .arena = a } };
	uint64_t *none = arena_array(a, f.width + 1, sizeof(*none));
	f.set = arena_array(a, max, sizeof(*f.set));
	f.old = arena_array(a, max, sizeof(*f.old));
	k->bits = arena_array(a, max * f.width, sizeof(*k->bits));
	if (!none || !f.set || !f.old || !k->bits || refine_set(&f, 0, none) != 0) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];
		uint32_t number = refine_set(&f, k->of_port[port],
		                             c->policy->sets + (size_t)port * f.width);
		if (number >= SETS_MAX) {
			return number == HASH_NONE ? -ENOMEM : E_FULL;
		}
		k->of_port[port] = (uint16_t)number;
	}
	k->set = f.set;
	k->n = f.n;
	k->width = f.width;
	return E_OK;
}

int key_sets_init(struct key_sets *k, const struct snap_content *c, struct arena *a)
{
	struct hash_table known = { .arena = a };
	*k = (struct key_sets){
		.of_port = arena_array(a, c->g->n_ports + 1, sizeof(*k->of_port))
	};
	int ret = k->of_port ? intern_tables(k, &known, c, 0, a) : -ENOMEM;

	return ret == E_OK && c->policy ? refine_sets(k, c, a) : ret;
}

/* The stored sets, by their numbers. */
static int read_sets(struct key_sets *k, struct hash_table *known, struct db_txn *t,
                     struct arena *a)
{
	struct db_val key, v;
	uint64_t n = db_count(t, SNAP_P_KEY_SETS);
	int ret;

	k->set = arena_array(a, n + 1, sizeof(*k->set));
	if (!k->set) {
		return -ENOMEM;
	}
	for (ret = db_seek(t, SNAP_P_KEY_SETS, NULL, 0, &key, &v);
	     ret == E_OK && k->n < n; ret = db_next(t, SNAP_P_KEY_SETS, &key, &v)) {
		uint32_t n_keys = (uint32_t)(v.len / sizeof(uint16_t));
		uint16_t *keys = arena_array(a, n_keys + 1, sizeof(*keys));

		if (!keys) {
			return -ENOMEM;
		}
		memcpy(keys, v.data, v.len);
		n_keys = n_keys == 1 && keys[0] == 0 ? 0 : n_keys; /* an empty set */
		if (intern(k, known, &(struct key_set){ keys, n_keys }, a) == HASH_NONE) {
			return -ENOMEM;
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* The stored number of the set of each end port that did not change. */
static int read_numbers(struct key_sets *k, const struct snap_content *c,
                        const uint8_t *changed, struct db_txn *t, struct arena *a)
{
	const struct graph *g = c->g;
	uint32_t n_rows = c->lids->top / LIDS_PER_ROW + 1;
	struct db_val *row = arena_array(a, n_rows, sizeof(*row)), key, v;
	int ret = row ? db_seek(t, SNAP_LIDS, NULL, 0, &key, &v) : -ENOMEM;

	for (; ret == E_OK; ret = db_next(t, SNAP_LIDS, &key, &v)) {
		uint32_t at = key.len == 4 ? key_read_u32(key.data) : n_rows;

		if (at < n_rows) {
			row[at] = v;
		}
	}
	for (uint32_t i = 0; ret == E_NOTFOUND && i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i], lid = c->lids->of[port].base;
		size_t at = lid % LIDS_PER_ROW * sizeof(struct snap_end) +
		            offsetof(struct snap_end, p_key_set);

		if (lid != 0 && !changed[g->ports[port].node] &&
		    at + sizeof(uint16_t) <= row[lid / LIDS_PER_ROW].len) {
			memcpy(&k->of_port[port], row[lid / LIDS_PER_ROW].data + at,
			       sizeof(uint16_t));
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* Numbers the sets that are in use as intern_tables() would for all ports. */
static int number_again(struct key_sets *k, const struct snap_content *c, struct arena *a)
{
	const struct graph *g = c->g;
	uint32_t *now = arena_array(a, k->n + 1, sizeof(*now)), n = 1, was = k->n;
	struct key_set *set = arena_array(a, k->n + 1, sizeof(*set));

	if (!now || !set) {
		return -ENOMEM;
	}
	k->same = true;
	set[0] = k->set[0];
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint16_t *number = &k->of_port[g->end_ports[i]];

		if (*number >= was) {
			return E_MALFORMED;
		}
		if (*number != 0 && now[*number] == 0) {
			set[n] = k->set[*number];
			k->same &= n == *number;
			now[*number] = n++;
		}
		*number = (uint16_t)now[*number];
	}
	k->same &= n == was;
	k->set = set;
	k->n = n;
	return E_OK;
}

int key_sets_init_changed(struct key_sets *k, const struct snap_content *c,
                          struct db_txn *t, struct arena *a)
{
	struct hash_table known = { .arena = a };
	uint8_t *changed = arena_alloc(a, c->g->n_nodes + 1);
	uint32_t n_stored;
	int ret;

	*k = (struct key_sets){ .of_port = arena_array(a, c->g->n_ports + 1,
		                                       sizeof(*k->of_port)) };
	if (!k->of_port || !changed) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < c->n_changed; i++) {
		changed[c->changed[i]] = 1;
	}
	ret = read_sets(k, &known, t, a);
	n_stored = k->n;
	ret = ret == E_OK ? read_numbers(k, c, changed, t, a) : ret;
	ret = ret == E_OK ? intern_tables(k, &known, c, n_stored, a) : ret;
	ret = ret == E_OK ? number_again(k, c, a) : ret;
	k->same &= n_stored == k->n;
	return ret;
}

void key_sets_emit(const struct key_sets *k, struct diff *d)
{
	static const uint16_t none[] = { 0 };
	for (uint32_t i = 0; i < k->n; i++) {
		const struct key_set *s = &k->set[i];
		uint8_t key[2];
		key_u16(key, (uint16_t)i);
		diff_row(d, key, sizeof(key), s->n ? s->key : none,
		         (s->n ? s->n : 1) * sizeof(*s->key));
	}
}

/* --- partitions ----------------------------------------------------------------------- */

static uint8_t *put(uint8_t *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return to + n;
}

static void emit_partition(const struct partition *t, const uint32_t ports[2],
                           struct diff *d)
{
	struct row_partition row = { .n_limited = ports[0],
		                     .n_full = ports[1],
		                     .n_groups = t->n_groups,
		                     .n_members = t->n_members,
		                     .name_len = (uint16_t)strlen(t->name),
		                     .indx0 = t->indx0,
		                     .sl = t->sl };
	size_t len = sizeof(row) + t->n_groups * sizeof(struct snap_partition_group) +
	             t->n_members * sizeof(struct snap_partition_member) + row.name_len;
	uint64_t hosts = 0; /* bytes of the names of hosts */

	for (uint32_t i = 0; i < t->n_members; i++) {
		hosts += t->members[i].name != NULL ? strlen(t->members[i].name) : 0;
	}
	len += hosts;
	uint8_t *value = calloc(1, len), *at = value, key[2];

	if (value == NULL) {
		d->ret = d->ret == E_OK ? -ENOMEM : d->ret;
		return;
	}
	at = put(at, &row, sizeof(row));
	hosts = 0;
	for (uint32_t i = 0; i < t->n_groups; i++) {
		const struct partition_group *g = &t->groups[i];

		at = put(at,
		         &(struct snap_partition_group){ .prefix = g->prefix,
		                                         .guid = g->guid,
		                                         .q_key = g->q_key,
		                                         .flow_label = g->flow_label,
		                                         .rate = g->rate,
		                                         .mtu = g->mtu,
		                                         .sl = g->sl,
		                                         .tclass = g->tclass,
		                                         .broadcast = g->broadcast },
		         sizeof(struct snap_partition_group));
	}
	for (uint32_t i = 0; i < t->n_members; i++) {
		const struct partition_member *m = &t->members[i];
		uint64_t name_len = m->name != NULL ? strlen(m->name) : 0;

		at = put(at,
		         &(struct snap_partition_member){
				 .first = m->name != NULL ? hosts : m->first,
				 .last = m->name != NULL ? name_len : m->last,
				 .who = m->who,
				 .membership = m->membership,
				 .runtime = m->runtime,
				 .n_ports = m->n_ports },
		         sizeof(struct snap_partition_member));
		hosts += name_len;
	}
	at = put(at, t->name, row.name_len);
	for (uint32_t i = 0; i < t->n_members; i++) {
		if (t->members[i].name != NULL) {
			at = put(at, t->members[i].name, strlen(t->members[i].name));
		}
	}
	key_u16(key, t->p_key);
	diff_row(d, key, sizeof(key), value, len);
	free(value);
}

void partitions_emit(const struct snap_content *c, struct diff *d)
{
	for (uint32_t i = 0; c->partitions != NULL && i < c->partitions->n; i++) {
		emit_partition(&c->partitions->all[i], c->partition_ports[i], d);
	}
}
