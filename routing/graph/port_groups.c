/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/port_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"

struct entry {
	struct port_set set;
	uint64_t wanted;
	uint32_t number; /* as add() gave it */
};

struct port_collector {
	struct entry *entry; /* [cap] */
	uint32_t *slot;      /* [2 * cap] number + 1 of an entry by its hash, 0: free */
	uint8_t *final;      /* [cap] */
	uint32_t n, cap;
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
		free(c->slot);
		free(c->final);
		free(c);
	}
}

void port_collector_clear(struct port_collector *c)
{
	c->n = 0;
	c->failed = false;
	if (c->cap) {
		memset(c->slot, 0, 2 * (size_t)c->cap * sizeof(*c->slot));
	}
}

static uint32_t hash(const struct port_set *s)
{
	uint64_t h = 1;

	for (unsigned w = 0; w < PORT_SET_WORDS; w++) {
		h = (h ^ s->word[w]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (uint32_t)(h >> 32);
}

/* Where the set stands or would stand. cap is a power of two. */
static uint32_t *find_slot(const struct port_collector *c, const struct port_set *s)
{
	uint32_t mask = 2 * c->cap - 1, i = hash(s) & mask;

	while (c->slot[i] && memcmp(&c->entry[c->slot[i] - 1].set, s, sizeof(*s)) != 0) {
		i = (i + 1) & mask;
	}
	return &c->slot[i];
}

static int grow(struct port_collector *c)
{
	uint32_t cap = c->cap ? 2 * c->cap : 64;
	struct entry *entry = realloc(c->entry, cap * sizeof(*entry));

	if (!entry) {
		return -ENOMEM;
	}
	c->entry = entry;
	uint8_t *final = realloc(c->final, cap);

	if (!final) {
		return -ENOMEM;
	}
	c->final = final;
	uint32_t *slot = calloc(2 * (size_t)cap, sizeof(*slot));

	if (!slot) {
		return -ENOMEM;
	}
	free(c->slot);
	c->slot = slot;
	c->cap = cap;
	for (uint32_t i = 0; i < c->n; i++) {
		*find_slot(c, &c->entry[i].set) = i + 1;
	}
	return E_OK;
}

uint32_t port_collector_add(struct port_collector *c, const struct port_set *s)
{
	if (c->n == c->cap && grow(c) != E_OK) {
		c->failed = true;
		return UINT32_MAX;
	}
	uint32_t *slot = find_slot(c, s);

	if (*slot == 0) {
		c->entry[c->n] = (struct entry){ .set = *s, .number = c->n };
		*slot = ++c->n;
	}
	return *slot - 1;
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
                          struct port_groups *ret, const uint8_t **ret_number)
{
	uint32_t kept = c->n < most ? c->n : most;
	struct port_set *set = arena_array(a, kept, sizeof(*set));

	if (!set) {
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
	*ret = (struct port_groups){ .set = set, .n = kept };
	*ret_number = c->final;
	return E_OK;
}
