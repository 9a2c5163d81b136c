/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>

/*!
 * Growable array. It is three members of any struct: a pointer to the elements, their
 * number, and the capacity, which is a size_t. Zeroed is an empty array; free() frees it.
 *
 *     if (VECTOR_RESERVE(d->nodes, d->cap_nodes, d->n_nodes + 1) != E_OK) {
 *             return -ENOMEM;
 *     }
 *     d->nodes[d->n_nodes++] = node;
 */

/*!
 * \brief Makes room for at least \a want elements. New elements are not set.
 *
 * \param items  Pointer to the elements; they may move.
 * \param cap    Elements that fit; a size_t.
 *
 * \retval E_OK
 * \retval -ENOMEM  Array and capacity are as before.
 *
 * Cost: amortised O(1) for each element, because the capacity at least doubles.
 */
#define VECTOR_RESERVE(items, cap, want)                                                 \
	((want) <= (cap) ? 0 : vector_grow(&(items), &(cap), (want), sizeof(*(items))))

/*!
 * \brief VECTOR_RESERVE() where the room does not suffice.
 *
 * \param items  Address of the pointer to the elements.
 * \param size   Bytes of an element.
 */
int vector_grow(void *items, size_t *cap, size_t want, size_t size);

struct arena;

/*!
 * \brief The same for an array in an arena, whose earlier place stays with the arena.
 *
 * \param used  Elements that are set; these are copied. Others are zeroed.
 *
 * Memory: at most as much again as the array takes in the end.
 */
#define ARENA_RESERVE(a, items, used, cap, want)                                         \
	((want) <= (cap) ? 0                                                             \
	                 : vector_grow_in((a), &(items), (used), &(cap), (want),         \
	                                  sizeof(*(items))))

/*! \brief ARENA_RESERVE() where the room does not suffice. */
int vector_grow_in(struct arena *a, void *items, size_t used, size_t *cap, size_t want,
                   size_t size);
