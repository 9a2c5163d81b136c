/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/port_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/hash.h"
#include "conf/base/vector.h"

struct entry {
	struct port_set set;
	uint64_t wanted;
	uint32_t number; /* as add() gave it */
};

struct port_collector {
	struct entry *entry;      /* [cap] */
	struct hash_table by_set; /* digest of a set -> its number */
	uint8_t *final;           /* [cap_final] */
	size_t cap, cap_final;
	uint32_t n;
	bool failed;
};

struct port_collector *port_collector_new(void)
{
	return calloc(1, sizeof(struct port_collector));
}

void port_collector_free(struct port_collector *c)
{
	if (c) {
		free(c->entry);
		hash_done(&c->by_set);
		free(c->final);
		free(c);
	}
}

void port_collector_clear(struct port_collector *c)
{
	c->n = 0;
	c->failed = false;
	hash_clear(&c->by_set);
}

uint32_t port_collector_add(struct port_collector *c, const struct port_set *s)
{
	uint64_t key = digest_bytes(0, s, sizeof(*s));
	uint32_t number = HASH_FIND(&c->by_set, key, i,
	                            memcmp(&c->entry[i].set, s, sizeof(*s)) == 0);

	if (number != HASH_NONE) {
		return number;
	}
	if (VECTOR_RESERVE(c->entry, c->cap, c->n + 1) != E_OK ||
	    hash_add(&c->by_set, key, c->n) != E_OK) {
		c->failed = true;
		return UINT32_MAX;
	}
	c->entry[c->n] = (struct entry){ .set = *s, .number = c->n };
	return c->n++;
}

bool port_collector_failed(const struct port_collector *c)
{
	return c->failed;
}

void port_collector_want(struct port_collector *c, uint32_t number)
{
	c->entry[number].wanted++;
}

static int by_wanted(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->wanted != b->wanted) {
		return a->wanted > b->wanted ? -1 : 1;
	}
	for (unsigned w = 0; w < PORT_SET_WORDS; w++) {
		if (a->set.word[w] != b->set.word[w]) {
			return a->set.word[w] < b->set.word[w] ? -1 : 1;
		}
	}
	return 0;
}

int port_collector_finish(struct port_collector *c, uint32_t most, struct arena *a,
                          struct port_groups *ret_groups, const uint8_t **ret_number)
{
	uint32_t kept = c->n < most ? c->n : most;
	struct port_set *set = arena_array(a, kept, sizeof(*set));

	if (!set || VECTOR_RESERVE(c->final, c->cap_final, c->n) != E_OK) {
		return -ENOMEM;
	}
	if (c->n) {
		qsort(c->entry, c->n, sizeof(*c->entry), by_wanted);
	}
	for (uint32_t i = 0; i < c->n; i++) {
		c->final[c->entry[i].number] = i < kept ? (uint8_t)i : PORT_GROUP_NONE;
		if (i < kept) {
			set[i] = c->entry[i].set;
		}
	}
	*ret_groups = (struct port_groups){ .set = set, .n = kept };
	*ret_number = c->final;
	return E_OK;
}
