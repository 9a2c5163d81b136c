/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/state/change_log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"

enum { HEAD = 4, LOG_BYTES_MAX = 32 << 20 };

struct change_log {
	pthread_mutex_t lock;
	uint8_t *bytes; /* table, 0, u16 length, key; one after another */
	size_t len, cap, n;
	bool lost;
};

struct change_log *change_log_new(void)
{
	struct change_log *log = calloc(1, sizeof(*log));
	if (log) {
		pthread_mutex_init(&log->lock, NULL);
		log->lost = true;
	}
	return log;
}

void change_log_free(struct change_log *log)
{
	if (log) {
		pthread_mutex_destroy(&log->lock);
		free(log->bytes);
		free(log);
	}
}

static void drop_changes(struct change_log *log)
{
	log->lost = true;
	log->len = log->n = 0;
}

void change_log_add(struct change_log *log, enum record_table table, const void *key,
                    size_t len)
{
	pthread_mutex_lock(&log->lock);
	if (!log->lost &&
	    (log->len + HEAD + len > LOG_BYTES_MAX ||
	     VECTOR_RESERVE(log->bytes, log->cap, log->len + HEAD + len) != E_OK)) {
		drop_changes(log);
	}
	if (!log->lost) {
		uint8_t *at = log->bytes + log->len;
		uint16_t short_len = (uint16_t)len;
		at[0] = (uint8_t)table;
		at[1] = 0;
		memcpy(at + 2, &short_len, sizeof(short_len));
		memcpy(at + HEAD, key, len);
		log->len += HEAD + len;
		log->n++;
	}
	pthread_mutex_unlock(&log->lock);
}

void change_log_lose(struct change_log *log)
{
	pthread_mutex_lock(&log->lock);
	drop_changes(log);
	pthread_mutex_unlock(&log->lock);
}

static int compare(const void *x, const void *y)
{
	const struct logged_change *a = x, *b = y;
	if (a->table != b->table) {
		return a->table < b->table ? -1 : 1;
	}
	int c = memcmp(a->key, b->key, a->len < b->len ? a->len : b->len);
	return c != 0 ? c : (a->len > b->len) - (a->len < b->len);
}

static void list_changes(struct change_list *list, size_t n)
{
	const uint8_t *at = list->bytes;
	for (size_t i = 0; i < n; i++) {
		struct logged_change *c = &list->change[i];
		memcpy(&c->len, at + 2, sizeof(c->len));
		c->table = (enum record_table)at[0];
		c->key = at + HEAD;
		at += HEAD + c->len;
	}
	qsort(list->change, n, sizeof(*list->change), compare);
	for (size_t i = 0; i < n; i++) {
		if (list->n == 0 ||
		    compare(&list->change[list->n - 1], &list->change[i]) != 0) {
			list->change[list->n++] = list->change[i];
		}
	}
}

int change_log_take(struct change_log *log, struct change_list *ret_list)
{
	struct change_list list = { .n = 0 };
	size_t n;
	pthread_mutex_lock(&log->lock);
	n = log->n;
	list.change = calloc(n + 1, sizeof(*list.change));
	bool known = !log->lost && list.change;
	log->lost = !list.change;
	list.bytes = log->bytes;
	log->bytes = NULL;
	log->len = log->cap = log->n = 0;
	pthread_mutex_unlock(&log->lock);
	if (!known) {
		change_list_done(&list);
		return E_STALE;
	}
	list_changes(&list, n);
	*ret_list = list;
	return E_OK;
}

void change_list_done(struct change_list *list)
{
	free(list->change);
	free(list->bytes);
	*list = (struct change_list){ .n = 0 };
}
