/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/body.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"

enum {
	JSON_FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII |
	             JSON_REAL_PRECISION(10)
};

/* A thread builds one answer at a time, so this says which one lacks something. */
static _Thread_local bool json_lost;

static void *allocate_json(size_t size)
{
	void *p = malloc(size);

	json_lost |= p == NULL;
	return p;
}

void body_watch_json(void)
{
	json_set_alloc_funcs(allocate_json, free);
}

void body_clear(struct body *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

static bool reserve(struct body *b, size_t more)
{
	if (b->failed) {
		return false;
	}
	b->failed = VECTOR_RESERVE(b->data, b->cap, b->len + more + 1) != E_OK;
	return !b->failed;
}

char *body_room(struct body *b, size_t bytes)
{
	return reserve(b, bytes) ? b->data + b->len : NULL;
}

void body_write(struct body *b, const char *data, size_t len)
{
	if (reserve(b, len)) {
		memcpy(b->data + b->len, data, len);
		b->len += len;
		b->data[b->len] = '\0';
	}
}

void body_printf(struct body *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0 || !reserve(b, (size_t)len)) {
		b->failed = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
}

static int write_json(const char *buffer, size_t size, void *data)
{
	struct body *b = data;
	body_write(b, buffer, size);
	return b->failed ? -1 : 0;
}

void body_value(struct body *b, json_t *value)
{
	if (value == NULL || json_dump_callback(value, write_json, b, JSON_FLAGS) != 0) {
		b->failed = true;
	}
	json_decref(value);
}

void body_json(struct body *b, json_t *value)
{
	body_value(b, value);
	body_write(b, "\n", 1);
}

void body_list_begin(struct body *b, json_t *head, const char *name)
{
	bool empty = json_object_size(head) == 0;

	body_value(b, head);
	if (!b->failed) {
		b->len--; /* the head's closing brace */
	}
	body_printf(b, "%s\"%s\":[", empty ? "" : ",", name);
	b->has_element = false;
}

void body_list_next(struct body *b)
{
	if (b->has_element) {
		body_write(b, ",", 1);
	}
	b->has_element = true;
}

void body_list_add(struct body *b, json_t *element)
{
	body_list_next(b);
	body_value(b, element);
}

void body_list_end(struct body *b, json_t *tail)
{
	body_write(b, "]", 1);
	if (tail != NULL && json_object_size(tail) > 0) {
		size_t at = b->len;
		body_value(b, tail);
		if (!b->failed) {
			b->data[at] = ','; /* the tail's opening brace */
		}
		body_write(b, "\n", 1);
		return;
	}
	json_decref(tail);
	body_write(b, "}\n", 2);
}

int body_done(const struct body *b)
{
	bool lost = json_lost;

	json_lost = false;
	return b->failed || lost ? -ENOMEM : E_OK;
}
