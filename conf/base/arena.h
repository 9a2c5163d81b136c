/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>

/*!
 * Arena: memory of one job (a sweep, a request, a configuration), freed in one call.
 *
 * Blocks are zeroed and aligned to 64 bytes when they are 64 bytes or more, else to 16.
 * Large blocks get their own mapping, so freeing an arena gives memory back.
 * Not thread-safe: one thread fills an arena.
 */
struct arena;

/*! \brief New arena. \return NULL when out of memory. Caller owns; arena_free(). */
struct arena *arena_new(void);

/*! \brief Frees the arena and all blocks in it. NULL is fine. */
void arena_free(struct arena *a);

/*! \brief Frees all blocks, and keeps a little memory for the next ones. NULL is fine. */
void arena_clear(struct arena *a);

/*!
 * \brief Moves all blocks of \a from to \a to, which owns them from now on; they stay where
 *        they are. \a from is freed; NULL is fine.
 */
void arena_join(struct arena *to, struct arena *from);

/*! \brief Zeroed block of \a size bytes, NULL when out of memory. Borrowed until arena_clear() or arena_free(). */
void *arena_alloc(struct arena *a, size_t size);

/*! \brief Zeroed array; NULL when n * size overflows or memory is out. n == 0 gives a valid pointer. */
void *arena_array(struct arena *a, size_t n, size_t size);

/*! \brief Copy of a string. */
char *arena_strdup(struct arena *a, const char *s);

/*! \brief printf into the arena. */
char *arena_printf(struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*! \brief Bytes handed out so far. */
size_t arena_used(const struct arena *a);
