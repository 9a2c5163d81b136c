/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/alloc/alloc_fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"

/*
 * The linker turns each call of NAME into one of __wrap_NAME, and __real_NAME into the function
 * itself. A call inside of arena.c stays as it is, so a block of an arena counts once, and the chunk
 * that it may need once more.
 */
#define WRAPPED(type, name, ...)                                                         \
	type __real_##name(__VA_ARGS__);                                                 \
	type __wrap_##name(__VA_ARGS__);                                                 \
	type __wrap_##name(__VA_ARGS__)

static _Thread_local size_t left; /* until the one that fails; 0: none will */
static _Thread_local bool with_later, has_failed, is_paused;

void alloc_fail_at(size_t n)
{
	left = n;
	with_later = has_failed = false;
}

void alloc_fail_from(size_t n)
{
	alloc_fail_at(n);
	with_later = true;
}

void alloc_fail_pause(bool paused)
{
	is_paused = paused;
}

bool alloc_fail_end(void)
{
	bool any = has_failed;

	alloc_fail_at(0);
	return any;
}

static bool fails(void)
{
	if (is_paused || (left == 0 ? !(has_failed && with_later) : --left > 0)) {
		return false;
	}
	has_failed = true;
	errno = ENOMEM;
	return true;
}

WRAPPED(void *, malloc, size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

WRAPPED(void *, calloc, size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

WRAPPED(void *, realloc, void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

WRAPPED(void *, aligned_alloc, size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

WRAPPED(char *, strdup, const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

WRAPPED(char *, strndup, const char *s, size_t n)
{
	return fails() ? NULL : __real_strndup(s, n);
}

WRAPPED(FILE *, open_memstream, char **ret_text, size_t *ret_bytes)
{
	return fails() ? NULL : __real_open_memstream(ret_text, ret_bytes);
}

WRAPPED(struct arena *, arena_new, void)
{
	return fails() ? NULL : __real_arena_new();
}

WRAPPED(void *, arena_alloc, struct arena *a, size_t size)
{
	return fails() ? NULL : __real_arena_alloc(a, size);
}

WRAPPED(void *, arena_array, struct arena *a, size_t n, size_t size)
{
	return fails() ? NULL : __real_arena_array(a, n, size);
}

WRAPPED(char *, arena_strdup, struct arena *a, const char *s)
{
	return fails() ? NULL : __real_arena_strdup(a, s);
}

char *__wrap_arena_printf(struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

char *__wrap_arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list args;
	char *text;

	if (fails()) {
		return NULL;
	}
	va_start(args, fmt);
	int len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	text = __real_arena_alloc(a, (size_t)len + 1);
	if (text == NULL) {
		return NULL;
	}
	va_start(args, fmt);
	vsnprintf(text, (size_t)len + 1, fmt, args);
	va_end(args);
	return text;
}
