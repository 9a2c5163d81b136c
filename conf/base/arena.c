/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/arena.h"

#include <errno.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "conf/base/err.h"

/*
 * Chunks form a list; blocks are cut from the newest small one. A block of LARGE bytes or
 * more is a mapping of its own: the kernel zeroes it page by page when it is first
 * touched, and munmap gives it back at once. For one of HUGE bytes huge pages are asked for,
 * because faults of small pages took a fifth of the time of routing a large fabric.
 *
 * Under AddressSanitizer the unused rest of a chunk and a gap behind each block are
 * poisoned, so running over the end of a block is found as it would be with malloc.
 */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
enum { GAP = 16 };
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { GAP = 0 };
#endif

enum {
	ALIGN_SMALL = 16,
	ALIGN_LINE = 64,
	CHUNK_FIRST = 4096,
	CHUNK_MAX = 256 * 1024,
	LARGE = 128 * 1024,
	HUGE = 4 * 1024 * 1024,
};

struct chunk {
	struct chunk *next;
	size_t bytes; /* whole chunk with this header */
	bool mapped;
	alignas(ALIGN_LINE) char data[];
};

struct arena {
	struct chunk *chunks; /* all of them, newest first */
	char *at, *end;       /* free part of the small chunk in use */
	size_t chunk_bytes;   /* size of the next small chunk */
	size_t used;
};

struct arena *arena_new(void)
{
	struct arena *a = calloc(1, sizeof(*a));
	if (a == NULL) {
		return NULL;
	}
	a->chunk_bytes = CHUNK_FIRST;
	return a;
}

static void chunk_free(struct chunk *c)
{
	UNPOISON(c->data, c->bytes - offsetof(struct chunk, data));
	if (c->mapped) {
		munmap(c, c->bytes);
	} else {
		free(c);
	}
}

void arena_free(struct arena *a)
{
	if (a == NULL) {
		return;
	}
	struct chunk *next;
	for (struct chunk *c = a->chunks; c != NULL; c = next) {
		next = c->next;
		chunk_free(c);
	}
	free(a);
}

void arena_clear(struct arena *a)
{
	struct chunk *kept = NULL, *next;

	if (a == NULL) {
		return;
	}
	for (struct chunk *c = a->chunks; c != NULL; c = next) {
		next = c->next;
		if (kept == NULL && !c->mapped && c->bytes == CHUNK_FIRST) {
			kept = c;
		} else {
			chunk_free(c);
		}
	}
	char *at = a->at;
	*a = (struct arena){ .chunks = kept, .chunk_bytes = CHUNK_FIRST };
	if (kept == NULL) {
		return;
	}
	kept->next = NULL;
	a->chunk_bytes = 2 * CHUNK_FIRST;
	a->at = kept->data;
	a->end = (char *)kept + kept->bytes;
	UNPOISON(a->at, (size_t)(a->end - a->at));
	/* behind the last block of the chunk in use all is zero still */
	bool in_use = at >= a->at && at <= a->end;
	memset(a->at, 0, (size_t)((in_use ? at : a->end) - a->at));
	POISON(a->at, (size_t)(a->end - a->at));
}

void arena_join(struct arena *to, struct arena *from)
{
	struct chunk **end = &to->chunks;

	if (from == NULL) {
		return;
	}
	while (*end != NULL) {
		end = &(*end)->next;
	}
	*end = from->chunks;
	to->used += from->used;
	free(from);
}

static struct chunk *chunk_add(struct arena *a, size_t bytes, bool mapped)
{
	struct chunk *c;
	if (mapped) {
		c = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		         -1, 0);
		if (c == MAP_FAILED) {
			return NULL;
		}
		if (bytes >= HUGE) {
			(void)madvise(c, bytes, MADV_HUGEPAGE); /* a hint */
		}
	} else {
		c = aligned_alloc(ALIGN_LINE, bytes);
		if (c == NULL) {
			return NULL;
		}
		memset(c, 0, bytes);
	}
	c->next = a->chunks;
	c->bytes = bytes;
	c->mapped = mapped;
	a->chunks = c;
	return c;
}

static void *alloc_large(struct arena *a, size_t size)
{
	if (size > SIZE_MAX / 2) {
		return NULL;
	}
	struct chunk *c = chunk_add(a, offsetof(struct chunk, data) + size, true);
	if (c == NULL) {
		return NULL;
	}
	a->used += size;
	return c->data;
}

/* Starts a small chunk with room for a block; chunks double so that few are needed. */
static int chunk_next(struct arena *a, size_t room)
{
	while (a->chunk_bytes < offsetof(struct chunk, data) + room) {
		a->chunk_bytes *= 2;
	}
	struct chunk *c = chunk_add(a, a->chunk_bytes, false);
	if (c == NULL) {
		return -ENOMEM;
	}
	a->at = c->data;
	a->end = (char *)c + c->bytes;
	POISON(a->at, (size_t)(a->end - a->at));
	if (a->chunk_bytes < CHUNK_MAX) {
		a->chunk_bytes *= 2;
	}
	return E_OK;
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (size >= LARGE) {
		return alloc_large(a, size);
	}
	size_t align = size >= ALIGN_LINE ? ALIGN_LINE : ALIGN_SMALL;
	size_t room = (size > 0 ? size : 1) + GAP;
	char *p = a->at;

	if (p != NULL) {
		p += -(uintptr_t)p & (align - 1);
	}
	if (p == NULL || p > a->end || (size_t)(a->end - p) < room) {
		/* The end of the old chunk stays unused: it is smaller than this block. */
		if (chunk_next(a, room) != E_OK) {
			return NULL;
		}
		p = a->at; /* a chunk's data is aligned to a line */
	}
	a->at = p + room;
	a->used += size;
	UNPOISON(p, size);
	return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes)) {
		return NULL;
	}
	return arena_alloc(a, bytes);
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t bytes = strlen(s) + 1;
	char *p = arena_alloc(a, bytes);
	return p != NULL ? memcpy(p, s, bytes) : NULL;
}

__attribute__((format(printf, 2, 0))) static char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0) {
		return NULL;
	}
	char *p = arena_alloc(a, (size_t)len + 1);
	if (p != NULL) {
		vsnprintf(p, (size_t)len + 1, fmt, ap);
	}
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *p = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}
