/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/admin/limits.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 8, SETS = LIMITS_KEYS / WAYS };

/* A bucket of tokens, in 1/60000: so many per minute come as so many per millisecond. */
enum { TOKEN = 60000 };

struct bucket {
	char key[LIMITS_KEY_MAX]; /* "": free */
	uint64_t level;           /* at used_ms */
	uint64_t used_ms;
};

struct limits {
	pthread_mutex_t lock;
	uint64_t burst, per_minute;
	struct bucket set[SETS][WAYS];
};

struct limits *limits_new(unsigned burst, unsigned per_minute)
{
	struct limits *l = calloc(1, sizeof(*l));

	if (l != NULL) {
		l->burst = (uint64_t)burst * TOKEN;
		l->per_minute = per_minute;
		pthread_mutex_init(&l->lock, NULL);
	}
	return l;
}

void limits_free(struct limits *l)
{
	if (l != NULL) {
		pthread_mutex_destroy(&l->lock);
		free(l);
	}
}

/* FNV-1a; keys of one set only push each other out, so nothing depends on its quality. */
static unsigned set_of(const char *key)
{
	uint32_t h = 2166136261U;

	for (; *key != '\0'; key++) {
		h = (h ^ (uint8_t)*key) * 16777619U;
	}
	return h % SETS;
}

/* The bucket of a key, filled up to now. */
static struct bucket *find(struct limits *l, const char *key, uint64_t now_ms)
{
	struct bucket *set = l->set[set_of(key)], *b = NULL;
	char text[LIMITS_KEY_MAX];

	snprintf(text, sizeof(text), "%s", key);
	for (unsigned i = 0; i < WAYS && b == NULL; i++) {
		if (strcmp(set[i].key, text) == 0) {
			b = &set[i];
		}
	}
	if (b == NULL) {
		b = set;
		for (unsigned i = 1; i < WAYS; i++) {
			if (set[i].used_ms < b->used_ms) {
				b = &set[i];
			}
		}
		*b = (struct bucket){ .level = l->burst, .used_ms = now_ms };
		memcpy(b->key, text, sizeof(text));
	}
	if (now_ms > b->used_ms) {
		uint64_t passed = now_ms - b->used_ms;

		b->level = passed > l->burst / l->per_minute
		                   ? l->burst
		                   : b->level + passed * l->per_minute;
		b->level = b->level < l->burst ? b->level : l->burst;
		b->used_ms = now_ms;
	}
	return b;
}

bool limits_take(struct limits *l, const char *key, uint64_t now_ms, unsigned *ret_wait_s)
{
	bool taken = false;

	if (l->per_minute == 0) {
		return true;
	}
	pthread_mutex_lock(&l->lock);
	struct bucket *b = find(l, key, now_ms);
	if (b->level >= TOKEN) {
		b->level -= TOKEN;
		taken = true;
	} else if (ret_wait_s != NULL) {
		*ret_wait_s = (unsigned)((TOKEN - b->level) / l->per_minute / 1000 + 1);
	}
	pthread_mutex_unlock(&l->lock);
	return taken;
}

void limits_give(struct limits *l, const char *key, uint64_t now_ms)
{
	if (l->per_minute == 0) {
		return;
	}
	pthread_mutex_lock(&l->lock);
	struct bucket *b = find(l, key, now_ms);
	b->level = b->level + TOKEN < l->burst ? b->level + TOKEN : l->burst;
	pthread_mutex_unlock(&l->lock);
}
